"""Print plates: which pieces lie where on which bed.

The frame of a plate is the bed's: x to the right, y to the back, z up, in mm, the origin at the
bed's front left corner. A piece's own frame is its drawing's: of a flat piece seen from the lettered
face, its back at height 0.

Pieces that are printed face up lie as they are. For face down a piece is turned by 180 degrees
about its y axis and lifted by its thickness: (x, y, z) becomes (-x, y, thickness - z), and its
outline, seen from above, its mirror image. Then both are turned by the spot's degrees
counter-clockwise about z, and moved by its x and y. `mesh_rows` gives all that as one matrix.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from shapely import Polygon, affinity

from fabkit.core.errors import Fault, InputError
from fabkit.core.units import format_mm
from fabkit.drawing.ball import BallBlueprint
from fabkit.drawing.boards.steps import BoardBlueprint
from fabkit.drawing.part import PartDrawing
from fabkit.model.accessory import HOLES
from fabkit.model.layers import layer_top_mm
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet
from fabkit.output.plate import PlateView, plate_sheet
from fabkit.printing.nesting.bin import Bin, Placement
from fabkit.printing.nesting.nest import nest

Row = tuple[float, float, float]

#: To which pieces are moved to the middle.
_STEP_MM = 0.001
_SAME_MM = 1e-6


@dataclass(frozen=True)
class Plate:
    """One bed full of pieces.

    Attributes:
        number: from 1.
        spots: where each piece's outline lies, as `outline_from_above` gives it before it is
            turned and moved.
        pause_height_mm: where the print pauses for the magnets of all pieces on it; None for no
            pause.
        used: the part of the bed, without edge strip and reserved corner, that pieces cover, 0 to
            1.
    """

    number: int
    spots: tuple[Placement, ...]
    pause_height_mm: float | None
    used: float


def lay_out(
    blueprints: Sequence[PartDrawing], profile: Profile, engine: str = "auto"
) -> list[Plate]:
    """Lays pieces on as few plates as can be found.

    Pieces whose magnets go in at different heights are never on one plate; pieces without a pause
    go with any. The corner for a prime tower, at the back right, is kept free only for two
    colours. Without it, what lies on a plate is moved to its middle.

    Args:
        blueprints: of the pieces, each once.
        profile: gives bed, gap, edge, tower and facing.
        engine: see `nest`.

    Raises:
        InputError: when pieces do not fit an empty bed, or are higher than the printer prints.
    """
    _refuse_too_high(blueprints, profile)
    room = room_of(profile)
    shapes = {one.piece: outline_from_above(one) for one in blueprints}
    laid: list[tuple[float | None, list[Placement]]] = []
    try:
        for pause_mm, group in _by_pause(blueprints):
            some = {one.piece: shapes[one.piece] for one in group}
            laid += [(pause_mm, spots) for spots in nest(some, room, engine)]
    except InputError as error:
        others = {one.piece: _or_without(one) for one in blueprints}
        faults = [Fault(f.key, f.message + others.get(f.key, "")) for f in error.faults]
        raise InputError(f"profile {profile.name}", faults) from None
    width_mm, depth_mm = room.usable_mm
    usable_mm2 = width_mm * depth_mm - room.corner_mm**2
    plates = []
    for number, (pause_mm, spots) in enumerate(laid, 1):
        outlines = [spot.place(shapes[spot.name]) for spot in spots]
        used = sum(outline.area for outline in outlines) / usable_mm2
        middle = spots if room.corner_mm else _centred(spots, outlines, room)
        plates.append(Plate(number, tuple(middle), pause_mm, used))
    return plates


def room_of(profile: Profile) -> Bin:
    """The bed as a room for nesting."""
    return Bin(
        width_mm=profile.bed_width_mm,
        depth_mm=profile.bed_depth_mm,
        gap_mm=profile.plate_gap_mm,
        edge_mm=profile.plate_edge_mm,
        corner_mm=profile.tower_mm if is_coloured(profile) else 0.0,
        advice="choose a larger printer.bed_width or printer.bed_depth, a smaller plate.edge or unit",
    )


def is_coloured(profile: Profile) -> bool:
    """Whether pieces are printed in more than one colour each."""
    return profile.inlay != "none" or profile.tones != "plain"


def layer_before_pause(pause_height_mm: float, profile: Profile) -> int:
    """The number, from 1, of the last layer before a pause.

    Raises:
        ValueError: when no layer ends at the pause height.

    Example:
        >>> from fabkit.model.profilefile import load_profile
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


def outline_from_above(blueprint: PartDrawing) -> Polygon:
    """A piece's outline from above, as it lies on the bed before it is turned and moved."""
    if blueprint.facing == "up":
        return blueprint.outline
    return affinity.scale(blueprint.outline, xfact=-1.0, origin=(0, 0))


def mesh_rows(spot: Placement, blueprint: PartDrawing) -> tuple[Row, Row, Row, Row]:
    """How to bring a piece's mesh, in its drawing's frame, to its spot on the bed.

    Returns:
        Where the x, y and z axes point, and where the origin goes: a vertex v becomes
        v[0] rows[0] + v[1] rows[1] + v[2] rows[2] + rows[3]. In this order 3MF writes its
        transforms, too.

    Example:
        >>> from fabkit.drawing.draft import draft
        >>> from fabkit.model.library import load_set
        >>> from fabkit.model.profilefile import load_profile
        >>> fridgeiq, down = load_set("fridgeiq"), load_profile((), ["plate.face=down"])
        >>> drawing = draft(fridgeiq, fridgeiq.piece("B"), down)
        >>> for row in mesh_rows(Placement("B", 90.0, 30.0, 50.0), drawing): print(row)
        (0.0, -1.0, 0.0)
        (-1.0, 0.0, 0.0)
        (0.0, 0.0, -1.0)
        (30.0, 50.0, 7.0)
    """
    turn = math.radians(spot.degrees)
    # Exact for quarter turns.
    cosine = math.cos(turn) if spot.degrees % 180 != 90 else 0.0
    sine = math.sin(turn) if spot.degrees % 180 else 0.0
    x_axis, y_axis = (cosine, sine, 0.0), (0.0 - sine, cosine, 0.0)
    if blueprint.facing == "up":
        return x_axis, y_axis, (0.0, 0.0, 1.0), (spot.x_mm, spot.y_mm, 0.0)
    turned_over = (0.0 - cosine, 0.0 - sine, 0.0)
    return turned_over, y_axis, (0.0, 0.0, -1.0), (spot.x_mm, spot.y_mm, blueprint.thickness_mm)


def plate_document(
    puzzle: PuzzleSet,
    plates: Sequence[Plate],
    blueprints: Mapping[str, PartDrawing],
    profile: Profile,
) -> dict[str, Any]:
    """The plates for a JSON file, in mm and degrees, in the frame that is described above."""
    room = room_of(profile)
    return {
        "set": puzzle.name,
        "profile": profile.name,
        "bed_mm": [room.width_mm, room.depth_mm],
        "edge_mm": room.edge_mm,
        "gap_mm": room.gap_mm,
        "tower_mm": room.corner_mm,
        "plates": [
            {
                "number": plate.number,
                "file": f"plates/plate-{plate.number}.3mf",
                "pause_height_mm": plate.pause_height_mm,
                "used": round(plate.used, 4),
                "pieces": [
                    {
                        "piece": spot.name,
                        "colour": blueprints[spot.name].colour,
                        "facing": blueprints[spot.name].facing,
                        "x_mm": spot.x_mm,
                        "y_mm": spot.y_mm,
                        "degrees": spot.degrees,
                    }
                    for spot in plate.spots
                ],
            }
            for plate in plates
        ],
    }


def plate_drawing(
    puzzle: PuzzleSet,
    plates: Sequence[Plate],
    plate: Plate,
    blueprints: Mapping[str, PartDrawing],
    profile: Profile,
) -> str:
    """Draws a plate from above."""
    room = room_of(profile)
    pieces = []
    for spot in plate.spots:
        x_axis, y_axis, _, origin = mesh_rows(spot, blueprints[spot.name])
        matrix = (x_axis[0], y_axis[0], x_axis[1], y_axis[1], origin[0], origin[1])
        pieces.append((blueprints[spot.name], matrix))
    view = PlateView(
        title=puzzle.title,
        number=plate.number,
        count=len(plates),
        bed_mm=(room.width_mm, room.depth_mm),
        edge_mm=room.edge_mm,
        corner_mm=room.corner_mm,
        pieces=tuple(pieces),
        used=plate.used,
        pause_height_mm=plate.pause_height_mm,
    )
    return plate_sheet(view)


def _refuse_too_high(blueprints: Sequence[PartDrawing], profile: Profile) -> None:
    highest = max(blueprints, key=lambda one: one.thickness_mm, default=None)
    if highest is not None and highest.thickness_mm > profile.bed_height_mm:
        of_balls = isinstance(highest, BallBlueprint) or getattr(highest, "kind", "") == HOLES
        smaller = "unit" if of_balls else "thickness"
        raise InputError.of(
            f"profile {profile.name}",
            f"is {format_mm(highest.thickness_mm)} high, and the printer prints up to "
            f"{format_mm(profile.bed_height_mm)}; choose a larger printer.bed_height or a smaller "
            f"{smaller}{_or_without(highest)}",
            highest.piece,
        )


def _or_without(drawing: PartDrawing) -> str:
    """What else can be done about a thing that is too large: pieces are printed without boards."""
    boarded = isinstance(drawing, BoardBlueprint)
    return ", or leave boards out (board.make none)" if boarded else ""


def _by_pause(blueprints: Sequence[PartDrawing]) -> list[tuple[float | None, list[PartDrawing]]]:
    """The pieces by pause height, the lowest first; those without a pause go with the fewest."""
    groups: dict[float, list[PartDrawing]] = defaultdict(list)
    for one in blueprints:
        if one.pause_height_mm is not None:
            groups[one.pause_height_mm].append(one)
    free = [one for one in blueprints if one.pause_height_mm is None]
    if not groups:
        return [(None, free)]
    host = min(groups, key=lambda height: (len(groups[height]), height))
    groups[host] += free
    return sorted(groups.items())


def _centred(spots: Sequence[Placement], outlines: Sequence[Polygon], room: Bin) -> list[Placement]:
    """The same spots, all moved together to the middle of the bed."""
    bounds = [outline.bounds for outline in outlines]
    left, bottom = (min(bound[i] for bound in bounds) for i in (0, 1))
    right, top = (max(bound[i] for bound in bounds) for i in (2, 3))
    # Cut off, not rounded: where there is no room to spare, nothing may go over the edge.
    dx = math.trunc((room.width_mm - left - right) / 2 / _STEP_MM) * _STEP_MM
    dy = math.trunc((room.depth_mm - bottom - top) / 2 / _STEP_MM) * _STEP_MM
    return [
        replace(spot, x_mm=round(spot.x_mm + dx, 7), y_mm=round(spot.y_mm + dy, 7))
        for spot in spots
    ]
