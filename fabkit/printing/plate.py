"""Print plates: the placement of pieces on beds.

The frame of a plate is the bed's: x to the right, y to the back, z up, in mm, the origin at the
bed's front left corner. A piece's own frame is its drawing's: of a flat piece seen from the
lettered face, its back at height 0.

Pieces printed face up keep their orientation. For face down a piece is rotated by 180 degrees about
its y axis and lifted by its thickness: (x, y, z) becomes (-x, y, thickness - z), and its
outline, seen from above, its mirror image. Then both are turned by the placement's degrees
counter-clockwise about z, and moved by its x and y. `mesh_transform` gives all that as one matrix.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from shapely import Polygon, affinity, total_bounds

from fabkit.core.errors import ErrorDetail, InputError
from fabkit.core.progress import Progress, no_progress
from fabkit.core.units import format_mm
from fabkit.drawing.ball import BallDrawing
from fabkit.drawing.boards.csg import BoardDrawing
from fabkit.drawing.boards.parts import MIN_ROOM_MM
from fabkit.drawing.part import PartDrawing
from fabkit.drawing.placement import Matrix
from fabkit.model.puzzle import PuzzleSet
from fabkit.output.plate import plate_sheet
from fabkit.printing.nesting.bin import (
    Bin,
    Placement,
    layout_faults,
    with_copies,
    without_copy_number,
)
from fabkit.printing.nesting.nest import nest, nest_compactly
from fabkit.profiles.accessory import HOLES
from fabkit.profiles.filaments import is_coloured, tower_side_mm
from fabkit.profiles.layers import layer_top_mm
from fabkit.profiles.profile import Profile

#: Step of the shift to the middle of the bed.
_STEP_MM = 0.001
_SAME_MM = 1e-6


@dataclass(frozen=True)
class Plate:
    """One bed full of pieces.

    Attributes:
        number: from 1.
        placements: of each piece's `outline_from_above`.
        pause_height_mm: where the print pauses for the magnets of all pieces on it, or None.
        used: the part of the free bed, without strip and corner, that pieces cover, 0 to 1.
    """

    number: int
    placements: tuple[Placement, ...]
    pause_height_mm: float | None
    used: float


def arrange_plates(
    drawings: Sequence[PartDrawing], profile: Profile, progress: Progress = no_progress
) -> list[Plate]:
    """Arrange pieces on as few plates as possible.

    Pieces whose prints pause at different heights are never on one plate, nor are those of
    different colours where the profile wants plates of a single one; pieces without a pause fit
    any. The corner for a prime tower, at the back right, is reserved only for two colours. The
    pieces on a plate are close together, in its middle or as near to it as the corner allows.

    Raises:
        InputError: when pieces do not fit an empty bed, or are higher than the printer prints.
    """
    _refuse_too_high(drawings, profile)
    bed = bed_bin(profile)
    copies = {drawing.piece: drawing.copies for drawing in drawings}
    outlines = {drawing.piece: outline_from_above(drawing) for drawing in drawings}
    shapes = with_copies(outlines, copies)
    nested: list[tuple[float | None, list[Placement]]] = []
    try:
        for pause_mm, group in _groups(drawings, profile):
            group_outlines = {drawing.piece: outlines[drawing.piece] for drawing in group}
            bins = nest(with_copies(group_outlines, copies), bed, progress)
            nested += [(pause_mm, placements) for placements in bins]
    except InputError as error:
        least_mm = format_mm(MIN_ROOM_MM + 2 * profile.plate_edge_mm)
        in_parts = f"; on beds of at least {least_mm} it is printed in parts that join"
        others = {
            drawing.piece: advice + in_parts
            for drawing in drawings
            if (advice := _or_without(drawing)) and min(bed.usable_mm) < MIN_ROOM_MM
        }
        faults = [ErrorDetail(f.key, f.message + others.get(f.key, "")) for f in error.errors]
        raise InputError(f"profile {profile.name}", faults) from None
    width_mm, depth_mm = bed.usable_mm
    usable_mm2 = width_mm * depth_mm - bed.corner_mm**2
    plates = []
    for number, (pause_mm, placements) in enumerate(nested, 1):
        used = sum(shapes[placement.name].area for placement in placements) / usable_mm2
        middle = [
            replace(placement, name=without_copy_number(placement.name))
            for placement in _centred(placements, shapes, bed, progress)
        ]
        plates.append(Plate(number, tuple(middle), pause_mm, used))
    return plates


def bed_bin(profile: Profile) -> Bin:
    """Return the bed as a bin for nesting."""
    return Bin(
        width_mm=profile.bed_width_mm,
        depth_mm=profile.bed_depth_mm,
        gap_mm=profile.plate_gap_mm,
        edge_mm=profile.plate_edge_mm,
        corner_mm=tower_side_mm(profile) if is_coloured(profile) else 0.0,
        advice="choose a larger printer.bed_width or printer.bed_depth, a smaller plate.edge or "
        "unit",
    )


def layer_before_pause(pause_height_mm: float, profile: Profile) -> int:
    """Return the number, from 1, of the last layer before a pause.

    Raises:
        ValueError: when no layer ends at the pause height.

    Example:
        >>> from fabkit.profiles.profile_file import load_profile
        >>> layer_before_pause(4.2, load_profile(["flippable"]))
        21
    """
    top_mm = layer_top_mm(profile, pause_height_mm)
    if pause_height_mm <= 0 or abs(top_mm - pause_height_mm) > _SAME_MM:
        raise ValueError(
            f"no layer ends at {format_mm(pause_height_mm)}; the next one that does ends at "
            f"{format_mm(top_mm)}"
        )
    return 1 + round((top_mm - profile.first_layer_mm) / profile.layer_mm)


def outline_from_above(drawing: PartDrawing) -> Polygon:
    """Return a piece's outline from above, in its printed orientation, before placing it."""
    if drawing.facing == "up":
        return drawing.outline
    return affinity.scale(drawing.outline, xfact=-1.0, origin=(0, 0))


def mesh_transform(placement: Placement, drawing: PartDrawing) -> Matrix:
    """Return the matrix that moves a piece's drawing to its placement on the bed.

    Example:
        >>> from fabkit.drawing.draft import draft_flat_piece
        >>> from fabkit.sets.library import load_set
        >>> from fabkit.profiles.profile_file import load_profile
        >>> fridgeiq, down = load_set("fridgeiq"), load_profile((), ["plate.face=down"])
        >>> drawing = draft_flat_piece(fridgeiq, fridgeiq.piece("B"), down)
        >>> for row in mesh_transform(Placement("B", 90.0, 30.0, 50.0), drawing): print(row.tolist())
        [0.0, -1.0, 0.0, 30.0]
        [-1.0, 0.0, 0.0, 50.0]
        [0.0, 0.0, -1.0, 7.0]
    """  # noqa: E501
    turn = math.radians(placement.degrees)
    # Exact for quarter turns.
    cosine = math.cos(turn) if placement.degrees % 180 != 90 else 0.0
    sine = math.sin(turn) if placement.degrees % 180 else 0.0
    up, high_mm = (1.0, 0.0) if drawing.facing == "up" else (-1.0, drawing.thickness_mm)
    rows = [
        (up * cosine, -sine, 0.0, placement.x_mm),
        (up * sine, cosine, 0.0, placement.y_mm),
        (0.0, 0.0, up, high_mm),
    ]
    return np.array(rows) + 0.0  # no negative zeros


def plate_document(
    puzzle: PuzzleSet,
    plates: Sequence[Plate],
    drawings: Mapping[str, PartDrawing],
    profile: Profile,
) -> dict[str, Any]:
    """Return the plates for a JSON file, in mm and degrees, in the frame described above."""
    bed = bed_bin(profile)
    return {
        "set": puzzle.name,
        "profile": profile.name,
        "bed_mm": [bed.width_mm, bed.depth_mm],
        "edge_mm": bed.edge_mm,
        "gap_mm": bed.gap_mm,
        "tower_mm": bed.corner_mm,
        "plates": [
            {
                "number": plate.number,
                "file": f"plates/plate-{plate.number}.3mf",
                "pause_height_mm": plate.pause_height_mm,
                "used": round(plate.used, 4),
                "pieces": [
                    {
                        "piece": placement.name,
                        "colour": drawings[placement.name].colour,
                        "facing": drawings[placement.name].facing,
                        "x_mm": placement.x_mm,
                        "y_mm": placement.y_mm,
                        "degrees": placement.degrees,
                    }
                    for placement in plate.placements
                ],
            }
            for plate in plates
        ],
    }


def plate_drawing(
    title: str,
    plates: Sequence[Plate],
    plate: Plate,
    drawings: Mapping[str, PartDrawing],
    profile: Profile,
) -> str:
    """Draw a plate from above, under the title of what is printed."""
    bed = bed_bin(profile)
    parts = [(drawings[each.name], each) for each in plate.placements]
    return plate_sheet(
        f"{title}, plate {plate.number} of {len(plates)}",
        [(part, mesh_transform(placement, part)) for part, placement in parts],
        (bed.width_mm, bed.depth_mm),
        bed.edge_mm,
        bed.corner_mm,
        plate.used,
        plate.pause_height_mm,
    )


def _refuse_too_high(drawings: Sequence[PartDrawing], profile: Profile) -> None:
    highest = max(drawings, key=lambda drawing: drawing.thickness_mm, default=None)
    if highest is not None and highest.thickness_mm > profile.bed_height_mm:
        of_balls = isinstance(highest, BallDrawing) or getattr(highest, "kind", "") == HOLES
        smaller = "unit" if of_balls else "thickness"
        raise InputError.of(
            f"profile {profile.name}",
            f"is {format_mm(highest.thickness_mm)} high, and the printer prints up to "
            f"{format_mm(profile.bed_height_mm)}; choose a larger printer.bed_height or a smaller "
            f"{smaller}{_or_without(highest)}",
            highest.piece,
        )


def _or_without(drawing: PartDrawing) -> str:
    """Return further advice on a board that is too large: pieces can be printed without boards."""
    return ", or omit boards (board.make none)" if isinstance(drawing, BoardDrawing) else ""


def _groups(
    drawings: Sequence[PartDrawing], profile: Profile
) -> Iterator[tuple[float | None, list[PartDrawing]]]:
    """Yield the parts that may share a plate, with their pause height, by colour and the lowest
    pause first; those without a pause join the smallest group."""
    by_colour: dict[str, dict[float | None, list[PartDrawing]]] = {}
    for drawing in drawings:
        colour = drawing.colour if profile.plate_colours == "single" else ""
        groups = by_colour.setdefault(colour, {})
        groups.setdefault(drawing.pause_height_mm, []).append(drawing)
    for groups in by_colour.values():
        if len(groups) > 1 and (free := groups.pop(None, None)):
            groups[min(groups, key=lambda height_mm: (len(groups[height_mm]), height_mm))] += free
        yield from sorted(groups.items())


def _centred(
    placements: Sequence[Placement], shapes: Mapping[str, Polygon], bed: Bin, progress: Progress
) -> list[Placement]:
    """Place a bed's shapes close together, as near to its middle as its reserved corner allows."""
    close = nest_compactly(shapes, bed, placements, progress)
    layouts = [shifted for layout in (close, placements) for shifted in _moved(layout, shapes, bed)]
    shapes = {placement.name: shapes[placement.name] for placement in placements}
    sound = (layout for layout in layouts if not layout_faults(shapes, bed, [layout]))
    return next(sound, list(placements))


def _moved(
    placements: Sequence[Placement], shapes: Mapping[str, Polygon], bed: Bin
) -> list[list[Placement]]:
    """Move placements together to the middle of the bed, or from there off the corner."""
    left, bottom, right, top = total_bounds(
        [placement.place(shapes[placement.name]) for placement in placements]
    )
    # Truncated, not rounded: in a tight layout, nothing may cross the edge.
    dx, dy = (
        math.trunc((side - low - high) / 2 / _STEP_MM) * _STEP_MM
        for side, low, high in ((bed.width_mm, left, right), (bed.depth_mm, bottom, top))
    )
    moves = [(dx, dy)]
    if bed.corner:
        free_x, free_y = (side - bed.gap_mm for side in bed.corner.bounds[:2])
        alternatives = [(min(dx, free_x - right), dy), (dx, min(dy, free_y - top))]
        moves += sorted(alternatives, key=lambda move: round(math.dist(move, (dx, dy)), 3))
    return [
        [
            replace(placement, x_mm=round(placement.x_mm + x, 7), y_mm=round(placement.y_mm + y, 7))
            for placement in placements
        ]
        for x, y in moves
    ]
