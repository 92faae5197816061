"""Drafting trays, boards with holes for balls, boards with sockets for pegs, lids, and the templates of
starting positions: thin plates that show the places of the given pieces."""

from __future__ import annotations

import math

import shapely
from shapely import LineString, Point, Polygon
from shapely.geometry.base import BaseGeometry

from fabkit.core.units import format_mm
from fabkit.drawing.boards.csg import BoardDrawing, Cylinder, Prism, Step, board_drawing
from fabkit.drawing.boards.frame import Block, build_block, levels
from fabkit.drawing.boards.lids import SlidingLid
from fabkit.drawing.boards.text import place_texts
from fabkit.drawing.cells import MIN_WALL_MM, cell_centres, neighbours
from fabkit.drawing.label import place_title
from fabkit.drawing.marks import mark_places
from fabkit.drawing.outline import DrawingError, PointMm, mitre_offset, polygons, region_mm
from fabkit.model.lattice import Cell
from fabkit.model.puzzle import Board, Challenge, Given, PuzzleSet, to_units
from fabkit.profiles.accessory import HOLES, LID, SOCKETS, TRAY, Accessory, board_kind, has_texts
from fabkit.profiles.layers import layer_top_mm
from fabkit.profiles.profile import Profile

#: Minimum thickness of a floor or a lid below a title.
_BEYOND_TITLE_MM = 0.6
#: Chords in a quarter of a ring.
_RING_CHORDS = 16
#: Between the thumb's recess and the title.
_BESIDE_THUMB_MM = 2.0


def _framed(puzzle: PuzzleSet, board: Board, profile: Profile) -> Block:
    """Build the block of a board. Only trays hold pieces with sharp corners."""
    heights = levels(puzzle, profile)
    relieved = board_kind(puzzle, profile) == TRAY
    region = region_mm(puzzle.lattice, board.cells, profile.unit_mm)
    return build_block(region, heights.rest_mm, heights.top_mm, profile, relieved)


def size_mm(puzzle: PuzzleSet, accessory: Accessory, profile: Profile) -> tuple[float, float]:
    """Return the width and depth of a board or lid, without drafting it.

    Raises:
        DrawingError: when it is impossible with the profile.

    Example:
        >>> from fabkit.profiles.accessory import accessories
        >>> from fabkit.sets.library import load_set
        >>> from fabkit.profiles.profile_file import load_profile
        >>> iqblock = load_set("iqblock")
        >>> profile = load_profile((), (), iqblock.profile_values)
        >>> [size_mm(iqblock, part, profile) for part in accessories(iqblock, profile)]
        [(173.9, 174.2), (165.5, 170.0)]
    """
    block = _framed(puzzle, accessory.board, profile)
    shape = block.steps[0].shapes[0]
    assert isinstance(shape, Prism)
    area: BaseGeometry = shape.area
    if accessory.kind == LID and block.lid:
        across, along = block.lid.outer_across_mm, block.lid.along_mm
        area = block.placement.to_board(shapely.box(-across, -along, across, along))
    left, front, right, back = area.bounds
    return round(right - left, 6), round(back - front, 6)


def draft_board(puzzle: PuzzleSet, accessory: Accessory, profile: Profile) -> BoardDrawing:
    """Draft a tray, or a board with holes or sockets: a block with further cuts.

    The title of a tray is on its lid. Without lids it is in the floor, if that is thick enough and
    has no texts on its cells.

    On a board with holes the centres of a piece's balls are at the height of the tops of the posts.
    The links rest on the floors of channels, which keep the piece from sliding and turning; a ball
    one pitch further down hangs in its hole, which is open below. Walls between the holes admit only
    pieces whose hanging balls are not joined to each other.

    On a board with sockets a piece the right way up rests on the plate with its pegs in the sockets
    and a little air below them. Upside down it is higher by the pegs, and no lid closes over it.

    Raises:
        DrawingError: when it is impossible with the profile: balls would not fit the holes or could
            leave them along a channel, or a wall or post would be too thin.

    Example:
        >>> from fabkit.profiles.accessory import accessories
        >>> from fabkit.sets.library import load_set
        >>> from fabkit.profiles.profile_file import load_profile
        >>> stars, profile = load_set("iqstars"), load_profile()
        >>> board = draft_board(stars, accessories(stars, profile)[0], profile)
        >>> sockets = board.steps[-1].shapes
        >>> len(sockets), sockets[0].diameter_mm, sockets[0].low_mm, sockets[0].high_mm
        (26, 10.4, 2.0, 4.2)
    """
    kind = accessory.kind
    heights = levels(puzzle, profile)
    channel_mm = round(profile.link_mm + 2 * profile.channel_mm, 6)
    socket_mm = round(profile.peg_mm + 2 * profile.socket_mm, 6)
    if kind == HOLES:
        _refuse_bad_holes(channel_mm, profile)
    elif kind == SOCKETS:
        _refuse_bad_sockets(socket_mm, profile)
    block = _framed(puzzle, accessory.board, profile)
    rest_mm = heights.rest_mm
    if kind == TRAY:
        label = None
        low_mm = round(rest_mm - profile.title_depth_mm, 6)
        if has_texts(kind, accessory.board, profile):
            low_mm = round(rest_mm - profile.text_depth_mm, 6)
            _refuse_thin_floor(low_mm, rest_mm, profile)
            label = place_texts(puzzle.lattice, accessory.board, profile)
        elif block.lid is None and low_mm >= _BEYOND_TITLE_MM:
            room = region_mm(puzzle.lattice, accessory.board.cells, profile.unit_mm)
            label = place_title(puzzle, room, profile)
        return board_drawing(accessory, block.steps, rest_mm, label, low_mm if label else 0.0)
    centres = cell_centres(puzzle.lattice, accessory.board.cells, profile.unit_mm)
    diameter_mm = socket_mm if kind == SOCKETS else profile.hole_mm
    low_mm = heights.floor_mm if kind == SOCKETS else 0.0
    cuts: list[Prism | Cylinder] = [
        Cylinder(centre, diameter_mm, low_mm, rest_mm) for centre in centres
    ]
    if kind == HOLES:
        floor_mm = round(rest_mm - profile.link_mm / 2, 6)
        for pair in neighbours(centres, profile.unit_mm):
            # From centre to centre: the ends are within the holes.
            channel = LineString(pair).buffer(channel_mm / 2, cap_style="flat")
            cuts.append(Prism(channel, floor_mm, rest_mm))
    return board_drawing(accessory, (*block.steps, Step(True, tuple(cuts))), rest_mm)


def _refuse_thin_floor(low_mm: float, rest_mm: float, profile: Profile) -> None:
    if low_mm < _BEYOND_TITLE_MM:
        raise DrawingError(
            f"texts of board.text_depth {format_mm(profile.text_depth_mm)} leave less than "
            f"{format_mm(_BEYOND_TITLE_MM)} of a floor of {format_mm(rest_mm)}; choose a smaller "
            "board.text_depth, a thicker board.floor or board.text none"
        )


def _refuse_bad_holes(channel_mm: float, profile: Profile) -> None:
    """Refuse holes that are not larger than balls or have no walls between them, and channels that let
    balls through or have no posts between them."""
    hole_mm = profile.hole_mm
    max_mm = round(profile.unit_mm - MIN_WALL_MM, 6)
    if not profile.ball_mm < hole_mm <= max_mm:
        raise DrawingError(
            f"board.hole is {format_mm(hole_mm)}; expected more than the ball's "
            f"{format_mm(profile.ball_mm)}, and at most {format_mm(max_mm)}, which leaves "
            f"{format_mm(MIN_WALL_MM)} between two holes; choose another board.hole, a smaller "
            "ball.diameter or a larger unit"
        )
    # A ball that is sunk to its centre is widest at the channel's upper edge.
    if profile.ball_mm <= channel_mm:
        problem = "holds no ball back"
    elif max_mm < channel_mm:
        problem = f"leaves less than {format_mm(MIN_WALL_MM)} of the posts between channels"
    else:
        return
    raise DrawingError(
        f"a channel for links of {format_mm(profile.link_mm)} with board.channel "
        f"{format_mm(profile.channel_mm)} on either side is {format_mm(channel_mm)} wide, which "
        f"{problem}; choose a smaller board.channel or a ball.link below "
        f"{format_mm(min(profile.ball_mm, max_mm) - 2 * profile.channel_mm)}"
    )


def _refuse_bad_sockets(wide_mm: float, profile: Profile) -> None:
    max_mm = round(profile.unit_mm - MIN_WALL_MM, 6)
    if wide_mm > max_mm:
        peg_mm = math.floor((max_mm - 2 * profile.socket_mm) * 100 + 1e-6) / 100
        raise DrawingError(
            f"a socket for pegs of {format_mm(profile.peg_mm)} with board.socket "
            f"{format_mm(profile.socket_mm)} around is {format_mm(wide_mm)} wide, which leaves less than "
            f"{format_mm(MIN_WALL_MM)} between two sockets; choose a smaller board.socket or a "
            f"peg.diameter of {format_mm(peg_mm)} or less"
        )


def draft_lid(puzzle: PuzzleSet, accessory: Accessory, profile: Profile) -> BoardDrawing:
    """Draft the lid of a board.

    A sliding lid is printed in its orientation in the frame, its title on top. A snapping lid is
    printed upside down, its title mirrored in the plate's bottom.

    Raises:
        DrawingError: when it is impossible with the profile.

    Example:
        >>> from fabkit.profiles.accessory import accessories
        >>> from fabkit.sets.library import load_set
        >>> from fabkit.profiles.profile_file import load_profile
        >>> iqblock, profile = load_set("iqblock"), load_profile()
        >>> lid = draft_lid(iqblock, accessories(iqblock, profile)[1], profile)
        >>> lid.thickness_mm, lid.label.text, lid.label.cap_height_mm
        (2.0, 'IQ Block', 6.0)
    """
    block = _framed(puzzle, accessory.board, profile)
    lid = block.lid
    assert lid  # sets without lids have no such accessory
    if profile.title_mm > 0 and lid.thick_mm - profile.title_depth_mm < _BEYOND_TITLE_MM:
        raise DrawingError(
            f"a title {format_mm(profile.title_depth_mm)} deep leaves less than "
            f"{format_mm(_BEYOND_TITLE_MM)} of a lid of {format_mm(lid.thick_mm)}; choose a smaller "
            "board.title_depth, a thicker lid.thickness or board.title 0 mm"
        )
    across = lid.across_mm
    front = -lid.along_mm
    back = lid.along_mm
    low_mm = 0.0
    if isinstance(lid, SlidingLid):
        back -= across - lid.top_across_mm
        across = lid.top_across_mm
        front = lid.thumb_area().bounds[3] + _BESIDE_THUMB_MM
        low_mm = round(lid.thick_mm - profile.title_depth_mm, 6)
    room = block.placement.to_board(shapely.box(-across, front, across, back))
    label = place_title(puzzle, room, profile, mirrored=not isinstance(lid, SlidingLid))
    steps = block.placement.place_steps(lid.lid_steps())
    return board_drawing(accessory, steps, 0.0, label, low_mm if label else 0.0)


#: The kind of a template, as `Accessory.kind`.
CARD = "card"
#: Thickness of the plate, before rounding up to whole layers.
PLATE_MM = 1.0
#: Clearance of the plate in a tray's opening, per side.
CLEAR_MM = 0.3
#: Height of lines and dots above the plate: three layers of 0.2 mm.
RAISED_MM = 0.6
#: Width of a line: two lines of a 0.4 mm nozzle.
LINE_MM = 0.8
#: Distance of a line inside the piece's outline.
INSIDE_MM = 0.2
#: Diameter of the dots in the middle of free cells.
DOT_MM = 1.6
#: Outer diameter of the rings in the middle of cells with a clue; their lines are `LINE_MM` wide.
RING_MM = 4.0
#: Distance of the area on a blocked cell inside the cell's outline.
BLOCKED_INSIDE_MM = 1.0


def draft_card(
    puzzle: PuzzleSet, board: Board, challenge: Challenge, profile: Profile
) -> BoardDrawing:
    """Draft the template of a starting position.

    It is a plate with the outlines of the given pieces, a dot for each free cell, a ring for each place
    with a clue of the challenge, and an area for each blocked place; nothing is on cells that stay
    open. It fits a tray's opening with a clearance of `CLEAR_MM` per side; for other boards it has the
    size of the region and is used beside them. Its id is the challenge's.

    Raises:
        DrawingError: when the unit is so small that lines, marks or the plate vanish.

    Example:
        >>> from fabkit.sets.library import load_set
        >>> from fabkit.profiles.profile_file import load_profile
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
    # Raised parts begin inside the plate, so that they are one body.
    middle_mm = plate_mm / 2
    raised: list[Prism | Cylinder] = []
    for given in challenge.given:
        lines = _line(puzzle, given, profile)
        raised += [Prism(line, middle_mm, top_mm) for line in polygons(lines.intersection(plate))]
    given_cells = frozenset(cell for given in challenge.given for cell in given.cells)
    free = board.cells - given_cells - challenge.minus
    rings: dict[PointMm, Polygon] = {}
    for clue in board.other_clues(challenge.clues):
        for centre, cells in mark_places(
            puzzle.lattice, free & clue.cells, profile.unit_mm
        ).items():
            if ring := _ring(puzzle, centre, cells, profile):
                rings[centre] = ring
                free -= cells
    for x, y in to_units(puzzle.lattice, sorted(free)):
        centre = (x * profile.unit_mm, y * profile.unit_mm)
        raised.append(Cylinder(centre, DOT_MM, middle_mm, top_mm))
    raised += [Prism(ring, middle_mm, top_mm) for ring in rings.values()]
    for cells in puzzle.lattice.places(challenge.minus if challenge.blocked else ()):
        raised.append(Prism(_blocked_area(puzzle, cells, profile), middle_mm, top_mm))
    steps = [Step(False, (Prism(plate, 0.0, plate_mm),))]
    steps += [Step(False, tuple(raised))] if raised else []
    accessory = Accessory(challenge.id, CARD, board, profile.board_colour)
    return board_drawing(accessory, tuple(steps), plate_mm)


def _ring(
    puzzle: PuzzleSet, centre: PointMm, cells: frozenset[Cell], profile: Profile
) -> Polygon | None:
    """Return the ring on a place with a clue; None where it does not fit, so that dots remain."""
    point = Point(centre)
    reach_mm = region_mm(puzzle.lattice, cells, profile.unit_mm).boundary.distance(point)
    if reach_mm < RING_MM / 2 + INSIDE_MM:
        return None
    outer, inner = (
        point.buffer(diameter_mm / 2, quad_segs=_RING_CHORDS)
        for diameter_mm in (RING_MM, RING_MM - 2 * LINE_MM)
    )
    return polygons(shapely.difference(outer, inner))[0]


def _blocked_area(puzzle: PuzzleSet, cells: frozenset[Cell], profile: Profile) -> Polygon:
    """Return the area on a blocked place: its outline, made smaller."""
    region = region_mm(puzzle.lattice, cells, profile.unit_mm)
    parts = polygons(mitre_offset(region, -BLOCKED_INSIDE_MM))
    if len(parts) != 1 or mitre_offset(parts[0], -LINE_MM / 2).is_empty:
        raise DrawingError(
            f"a blocked cell less {format_mm(BLOCKED_INSIDE_MM)} on each side is thinner than "
            f"{format_mm(LINE_MM)}; choose a larger unit"
        )
    return parts[0]


def _plate(puzzle: PuzzleSet, board: Board, profile: Profile) -> Polygon:
    """Return the plate's outline: a tray's opening less the clearance, or another board's region."""
    grown_mm = profile.board_clearance_mm - CLEAR_MM
    region = region_mm(puzzle.lattice, board.cells, profile.unit_mm)
    if board_kind(puzzle, profile) == TRAY:
        region = mitre_offset(region, grown_mm)
    parts = polygons(region)
    if len(parts) != 1:
        raise DrawingError(
            f"the region has {len(parts)} parts that meet in points at most, so that no single plate "
            "fits it"
        )
    return parts[0]


def _line(puzzle: PuzzleSet, given: Given, profile: Profile) -> BaseGeometry:
    """Return the line along the inside of a given piece's outline."""
    area = region_mm(puzzle.lattice, given.cells, profile.unit_mm)
    outer, inner = mitre_offset(area, -INSIDE_MM), mitre_offset(area, -INSIDE_MM - LINE_MM)
    if inner.is_empty or len(polygons(inner)) != len(polygons(area)):
        raise DrawingError(
            f"a line of {format_mm(LINE_MM)} along the outline of piece {given.piece} fills it; "
            "choose a larger unit"
        )
    return shapely.difference(outer, inner)
