"""The template of a starting position: a thin plate that shows where the given pieces lie."""

from __future__ import annotations

import shapely
from shapely import Polygon
from shapely.geometry.base import BaseGeometry

from fabkit.core.units import format_mm
from fabkit.drawing.boards.drawing import BoardBlueprint, Bore, Prism, Step
from fabkit.drawing.boards.levels import region_of
from fabkit.drawing.boards.slabs import board_blueprint, polygons
from fabkit.drawing.printed import BlueprintError
from fabkit.model.accessory import TRAY, Accessory, board_kind
from fabkit.model.layers import layer_top_mm
from fabkit.model.profile import Profile
from fabkit.model.puzzle import Board, Challenge, Given, PuzzleSet, in_units

#: What a template is, among the kinds of `Accessory`.
CARD = "card"
#: The plate is so thick, before rounding up to whole layers …
PLATE_MM = 1.0
#: … and so much smaller than a tray's opening, per side.
CLEAR_MM = 0.3
#: Lines and dots stand so high above the plate: three layers of 0.2 mm.
RAISED_MM = 0.6
#: A line is as wide as two of a 0.4 mm nozzle, and lies so far inside the piece's outline.
LINE_MM, INSIDE_MM = 0.8, 0.2
#: Diameter of the dots in the middle of free cells.
DOT_MM = 1.6
#: Sharp corners of pieces keep theirs: at 45 degrees a mitre reaches 2.6 widths out.
_MITRE_LIMIT = 10


def draft_card(
    puzzle: PuzzleSet, board: Board, challenge: Challenge, profile: Profile
) -> BoardBlueprint:
    """Drafts the template of a starting position.

    It goes into the tray, and the given pieces onto their outlines; with other boards it lies
    beside them.

    Args:
        puzzle: the set.
        board: which the challenge is to fill.
        challenge: with its given pieces. Its id becomes the template's.
        profile: gives unit, clearance and layers.

    Returns:
        The drawing: a plate, and on it the outlines of the given pieces and a dot for each free
        cell. It fits a tray's opening with `CLEAR_MM` to spare on each side, and is as large as the
        region of other boards.

    Raises:
        BlueprintError: when the unit is so small that lines or the plate vanish.

    Example:
        >>> from fabkit.model.library import load_set
        >>> from fabkit.model.profilefile import load_profile
        >>> block, profile = load_set("iqblock"), load_profile()
        >>> board = block.boards[0]
        >>> given = Given("0", frozenset((x, y) for x in (1, 3, 5, 7) for y in (-1, -3)))
        >>> start = Challenge("start", board.cells, ("0",), (given,))
        >>> card = draft_card(block, board, start, profile)
        >>> [round(value, 6) for value in card.outline.bounds], card.thickness_mm
        ([0.05, -159.95, 159.95, -0.05], 1.6)
    """
    plate = _plate(puzzle, board, profile)
    plate_mm = layer_top_mm(profile, PLATE_MM)
    top_mm = layer_top_mm(profile, plate_mm + RAISED_MM)
    # What stands on the plate begins inside it, so that they are one body.
    middle_mm = plate_mm / 2
    raised: list[Prism | Bore] = []
    for given in challenge.given:
        lines = _line(puzzle, board, given, profile)
        raised += [Prism(one, middle_mm, top_mm) for one in polygons(lines.intersection(plate))]
    given_cells = frozenset(cell for given in challenge.given for cell in given.cells)
    for x, y in in_units(puzzle.lattice, sorted(board.cells - given_cells)):
        centre = (x * profile.unit_mm, y * profile.unit_mm)
        raised.append(Bore(centre, DOT_MM, middle_mm, top_mm))
    steps = [Step(False, (Prism(plate, 0.0, plate_mm),))]
    steps += [Step(False, tuple(raised))] if raised else []
    accessory = Accessory(challenge.id, CARD, board, profile.board_colour)
    return board_blueprint(accessory, tuple(steps), plate_mm)


def _plate(puzzle: PuzzleSet, board: Board, profile: Profile) -> Polygon:
    """The plate's outline: a tray's opening less its play, or the region of another board."""
    grown_mm = profile.board_clearance_mm - CLEAR_MM
    region = region_of(puzzle, board, profile)
    if board_kind(puzzle, profile) == TRAY:
        region = region.buffer(grown_mm, join_style="mitre", mitre_limit=_MITRE_LIMIT)
    parts = polygons(region)
    if len(parts) != 1:
        raise BlueprintError(
            f"board {board.id} falls into {len(parts)} parts that meet in points at most, so that "
            "no single plate fits it; leave the templates out"
        )
    return parts[0]


def _line(puzzle: PuzzleSet, board: Board, given: Given, profile: Profile) -> BaseGeometry:
    """The line along the inside of a given piece's outline."""
    area = region_of(puzzle, Board(given.piece, given.cells), profile)
    outer, inner = (
        area.buffer(-inside_mm, join_style="mitre", mitre_limit=_MITRE_LIMIT)
        for inside_mm in (INSIDE_MM, INSIDE_MM + LINE_MM)
    )
    if inner.is_empty or len(polygons(inner)) != len(polygons(area)):
        raise BlueprintError(
            f"a line of {format_mm(LINE_MM)} along the outline of piece {given.piece} fills it; "
            "choose a larger unit, or leave the templates out"
        )
    return shapely.difference(outer, inner)
