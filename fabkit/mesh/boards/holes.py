"""Rules on boards with round holes: those for balls with their channels, and seats for stubs."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.boards.circles import cells_of, hole_at, middles_mm, round_holes, slabs, spot
from fabkit.mesh.boards.part import BoardPart
from fabkit.mesh.boards.probing import open_across, surfaces_at, tops_at, worst
from fabkit.mesh.boards.reading import posts_mm
from fabkit.mesh.body import Points
from fabkit.mesh.cavities import Circle
from fabkit.mesh.finding import Finding, at_least, at_most, between, counted
from fabkit.model.lattice import Lattice
from fabkit.model.profile import Profile

#: Diameters, widths and depths are held to this, in mm …
TOLERANCE_MM = 0.02
#: … and places of holes to this.
PLACE_MM = 0.05
#: A hole belongs to a cell when its middle is within this part of a grid unit.
_NEAR_UNITS = 0.3
#: Chords of a circle may lie this far inside on both sides together, in mm.
_CHORDS_MM = 0.03
#: Holes are cut this near (mm) to the ends of their slabs.
_NEAR_END_MM = 0.03
#: A seat must be deeper than its stub by this, in mm.
_BELOW_STUB_MM = 0.1


def hole_findings(part: BoardPart, lattice: Lattice, profile: Profile) -> Iterator[Finding]:
    """All findings on the bores and channels of a board for balls.

    Args:
        part: a board of kind ``holes``.
        lattice: the set's.
        profile: what is asked for.
    """
    floor_mm = part.rest_mm - profile.link_mm / 2
    heights = [
        height
        for slab in slabs(part.sections)
        for height in (slab.low_mm + _NEAR_END_MM, slab.high_mm - _NEAR_END_MM)
        if height < floor_mm - TOLERANCE_MM
    ]
    heights.append(floor_mm - _NEAR_END_MM)
    yield from _circles(part, lattice, heights, "hole", profile.hole_mm)
    off = [height - part.rest_mm for height in posts_mm(part, lattice)]
    what = "how far the highest or lowest post is from the others"
    yield at_most("board-posts", abs(worst(off, 0.0)), TOLERANCE_MM, "mm", what)
    yield from _channels(part, lattice, profile)
    yield _depth(part, lattice, profile)


def seat_findings(part: BoardPart, lattice: Lattice, profile: Profile) -> Iterator[Finding]:
    """All findings on the seats of a board for stubs.

    Args:
        part: a board of kind ``seats``.
        lattice: the set's.
        profile: what is asked for.
    """
    assert part.board is not None
    middles = middles_mm(lattice, part.board, part.unit_mm)
    bottoms = tops_at(part.straight, middles)
    depths = part.rest_mm - np.array(bottoms)
    # A cell without a seat is counted below; the shallowest of the others tells the depth.
    there = depths > TOLERANCE_MM
    low_mm = float(np.median(depths[there])) if there.any() else 0.0
    heights = [part.rest_mm - low_mm + _NEAR_END_MM, part.rest_mm - _NEAR_END_MM]
    yield from _circles(part, lattice, heights, "seat", profile.stub_mm + 2 * profile.seat_mm)
    depth = float(depths[there].min()) if there.any() else math.inf
    where = spot(middles[int(np.where(there, depths, np.inf).argmin())])
    least = profile.stub_height_mm + _BELOW_STUB_MM
    yield at_least("board-seat-depth", depth, least, "mm", "the shallowest seat", where)


def _circles(
    part: BoardPart, lattice: Lattice, heights: list[float], name: str, asked_mm: float
) -> Iterator[Finding]:
    """Number, places and diameters of round holes, at every height at which they are cut."""
    assert part.board is not None
    middles = middles_mm(lattice, part.board, part.unit_mm)
    cuts = [round_holes(part.sections.at(height)) for height in heights]
    found: list[list[Circle | None]] = [
        [hole_at(cut, middle, _NEAR_UNITS * part.unit_mm) for middle in middles] for cut in cuts
    ]
    right = [all(cut[cell] for cut in found) for cell in range(len(middles))]
    missing = [middle for middle, ok in zip(middles, right, strict=True) if not ok]
    count = len(middles) - len(missing)
    extra = max((len(cut) for cut in cuts), default=0) - len(middles)
    where = shapely.union_all([spot(middle) for middle in missing]) if missing else None
    what = f"{name}s that are round all the way, one for each cell"
    yield counted(f"board-{name}s", count + max(0, extra), len(middles), what, where)
    holes = [
        (one, middle)
        for cut in found
        for one, middle in zip(cut, middles, strict=True)
        if one is not None
    ]
    limit = (asked_mm - TOLERANCE_MM, asked_mm + TOLERANCE_MM)
    diameter = worst((_farthest(one, asked_mm) for one, _ in holes), asked_mm)
    where = _place([abs(_farthest(one, asked_mm) - asked_mm) for one, _ in holes], holes)
    what = f"the diameter of the {name} that is farthest off"
    yield between(f"board-{name}-diameter", diameter, limit, "mm", what, where)
    off = [math.hypot(one.x_mm - x, one.y_mm - y) for one, (x, y) in holes]
    what = f"how far the worst {name} is from the middle of its cell"
    yield at_most(
        f"board-{name}-place", max(off, default=math.inf), PLACE_MM, "mm", what, _place(off, holes)
    )


def _farthest(circle: Circle, asked_mm: float) -> float:
    """A hole's diameter; where it is not round, the narrowest or widest."""
    if circle.outer_mm - circle.inner_mm < _CHORDS_MM:
        return circle.diameter_mm
    return worst((circle.diameter_mm, circle.inner_mm, circle.outer_mm), asked_mm)


def _place(off: list[float], holes: list[tuple[Circle, Points]]) -> BaseGeometry | None:
    if not off:
        return None
    worst_one = holes[int(np.argmax(off))][0]
    return shapely.Point(worst_one.x_mm, worst_one.y_mm).buffer(worst_one.outer_mm / 2)


def neighbours_mm(part: BoardPart, lattice: Lattice) -> list[tuple[Points, Points]]:
    """The middles of each two cells that share an edge, each pair once."""
    assert part.board is not None
    cells = cells_of(part.board)
    middles = middles_mm(lattice, part.board, part.unit_mm)
    owners = {
        edge: number for number, cell in enumerate(cells) for edge in lattice.cell_edges(cell)
    }
    pairs = [
        (number, owners[end, start])
        for (start, end), number in owners.items()
        if number < owners.get((end, start), -1)
    ]
    return [(middles[one], middles[other]) for one, other in sorted(pairs)]


def channel_widths_mm(part: BoardPart, lattice: Lattice) -> list[float]:
    """How wide channels are halfway between each two neighbouring cells; 0 where there is none.

    Args:
        part: a board of kind ``holes``.
        lattice: the set's.
    """
    cut, widths = _channel_cut(part, lattice), []
    for start, end in neighbours_mm(part, lattice):
        along = (end - start) / np.linalg.norm(end - start)
        across = np.array([-along[1], along[0]])
        widths.append(open_across(cut, (start + end) / 2, across, part.unit_mm))
    return widths


def _channel_cut(part: BoardPart, lattice: Lattice) -> BaseGeometry:
    """A board, cut halfway down its channels."""
    pairs = neighbours_mm(part, lattice)
    floors = tops_at(part.straight, np.array([(start + end) / 2 for start, end in pairs]))
    return part.sections.at((part.rest_mm + float(np.median(floors))) / 2)


def _channels(part: BoardPart, lattice: Lattice, profile: Profile) -> Iterator[Finding]:
    """Channels are as wide and as deep as links need, from hole to hole."""
    asked_mm = profile.link_mm + 2 * profile.channel_mm
    deep_mm = profile.link_mm / 2
    pairs = neighbours_mm(part, lattice)
    if not pairs:
        return
    between_cells = np.array([(start + end) / 2 for start, end in pairs])
    widths = np.array(channel_widths_mm(part, lattice))
    where = spot(between_cells[int(np.argmax(np.abs(widths - asked_mm)))])
    limit = (asked_mm - TOLERANCE_MM, asked_mm + TOLERANCE_MM)
    what = "the width of the channel that is farthest off"
    yield between("board-channels", worst(widths.tolist(), asked_mm), limit, "mm", what, where)
    depths = part.rest_mm - np.array(tops_at(part.straight, between_cells))
    where = spot(between_cells[int(np.argmax(np.abs(depths - deep_mm)))])
    limit = (deep_mm - TOLERANCE_MM, deep_mm + TOLERANCE_MM)
    what = "the depth below the posts of the channel that is farthest off"
    yield between("board-channel-depth", worst(depths.tolist(), deep_mm), limit, "mm", what, where)
    lanes = shapely.union_all(
        [
            shapely.LineString(pair).buffer(asked_mm / 2 - TOLERANCE_MM, cap_style="flat")
            for pair in pairs
        ]
    )
    cuts = (part.rest_mm - deep_mm + TOLERANCE_MM, part.rest_mm - deep_mm / 2)
    inside = [part.sections.at(height) & lanes for height in cuts]
    inside = [one for one in inside if one.area > TOLERANCE_MM**2]
    what = "heights at which something stands in a channel"
    yield counted("board-channel-free", len(inside), 0, what, inside[0] if inside else None)


def _depth(part: BoardPart, lattice: Lattice, profile: Profile) -> Finding:
    """A ball one pitch below a seated one hangs free: above the table, and above any floor."""
    assert part.board is not None
    middles = middles_mm(lattice, part.board, part.unit_mm)
    floors = [heights[-1] if heights else 0.0 for heights in surfaces_at(part.straight, middles)]
    room = part.rest_mm - max(floors)
    least = part.unit_mm + profile.ball_mm / 2
    where = spot(middles[int(np.argmax(floors))])
    what = "from the middle of a seated ball down to what is below it"
    return at_least("board-depth", room, least, "mm", what, where)
