"""Which board, tray or lid of a set a mesh is, and how it lies: each explanation is tried.

A mesh may stand on any of its largest flat faces, either way up. For each way three explanations
are scored, as parts of 1: its round holes as those over a board's cells; its floor, within walls,
as a board's region; and last its plate as a lid's over a region. The best wins.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Polygon, affinity
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.outline import region_mm
from fabkit.mesh.body import Body, Points
from fabkit.mesh.features import Circle, circle_of
from fabkit.mesh.part import Part
from fabkit.mesh.recognise import ways_to_stand
from fabkit.mesh.section import DOWN, UP, Sections, hollows
from fabkit.model.accessory import HOLES, LID, SEATS, TRAY
from fabkit.model.lattice import Lattice
from fabkit.model.puzzle import Board, PuzzleSet, in_units, rings_in_units

#: Level faces count from this area (mm2), and heights between two of them from this (mm).
_LEAST_FLAT_MM2, _LEAST_SLAB_MM = 2.0, 0.15
#: A hole is round when it fills this part of the circle around it.
_ROUND = 0.93
#: A hole belongs to a cell when its middle is within this part of a grid unit; the lattice is not
#: laid by those that are off by more than so many mm, and so many times as much as usual.
NEAR_UNITS, _OFF_MM, _UNUSUAL = 0.3, 0.02, 4.0
#: An explanation counts from this score: holes that belong to cells, floor in common with region.
_KNOWN, _ALIKE = 0.6, 0.85
#: A tray has walls along this part of its region's outline, or more, no farther (mm) from it.
_WALLED, REACH_MM = 0.5, 3.2
#: Gaps that are off by more than this (mm) from the others are not used to lay the region.
_UNEVEN_MM = 0.15
#: Near a corner an edge is not measured: so many mm, or this part of it; else every so many mm.
_END_MM, _END_SHARE, _EVERY_MM = 3.0, 0.3, 1.0
#: A lid is a plate: its section covers this part of the hull around it. It may be smaller than
#: its region by this (mm), as one that is printed small is.
_PLATE, _SMALLER_MM = 0.7, 2.0
#: The hull of a board or lid covers this part of its region, less what it may be smaller.
_COVERED = 0.97
#: A board is larger than its region by a wall on both sides, 1 mm each at the least.
_LARGER_MM = 2.0
#: A piece is no larger than its cells by this (mm), and no smaller by this part of a grid unit:
#: balls and discs do not fill theirs.
_OVERSIZE_MM, _UNDERSIZE = 0.5, 0.3
#: Of two ways to lie the one is chosen whose surface lies farther back, by more than this (mm).
_FARTHER_MM = 2e-4
#: From this score an explanation is not doubted: other kinds and ways up are not tried.
_SURE = 0.9
#: A tray lies as well another way when its floor is alike but for so little: its notch.
_AS_GOOD = 0.03
#: Scores that differ less than this are those of boards of one shape.
_EQUAL = 1e-6
#: Lines are moved by this (mm) along x and y, so that they seldom meet an edge of the mesh.
_ASIDE = np.array([1.7e-5, 0.9e-5])
#: Posts are probed this far out from the middles of cells, neither in a hole nor in a channel.
_TO_CORNER = 0.9


def read_boards(
    bodies: Sequence[Body], puzzle: PuzzleSet, *units_mm: float, length_mm: float = 1.0
) -> list[Part]:
    """Finds out which board each body is, and how it lies.

    Args:
        bodies: boards and lids of the set, lying in any way; whatever else one is, it is told.
        puzzle: the set.
        units_mm: what its grid unit may be, at least one, the likeliest first. Boards with round
            holes tell it by themselves.
        length_mm: the unit of length of the bodies' files.

    Returns:
        A part for each body, in their order. Where a board has symmetries, it lies so that more
        of it is at the back (y up), then to the right; so it lies alike, however its file has it.
        Boards of one shape cannot be told apart: of several bodies each is another one, as long as
        there are any.
    """
    found: list[Part] = []
    for body in bodies:
        taken = {(one.board.id, one.kind == LID) for one in found if one.board}
        found.append(_read(body, puzzle, units_mm, length_mm, taken))
    return found


@dataclass(frozen=True, eq=False)
class _Explanation:
    """One way to see a standing body: as which board, of what kind, and where its corners lie."""

    score: float
    kind: str
    board: Board
    unit_mm: float
    laid: Points
    rest_mm: float = 0.0


def _read(
    body: Body,
    puzzle: PuzzleSet,
    units_mm: Sequence[float],
    length_mm: float,
    taken: Collection[tuple[str, bool]],
) -> Part:
    in_mm = body.vertices * length_mm
    ways = ways_up(Body(body.name, in_mm, body.faces)) if len(body.faces) else []
    units_mm = list(dict.fromkeys(units_mm))
    found: list[_Explanation] = []
    for vertices in ways:
        if like_a_region(vertices, puzzle) and not _is_sure(found):
            standing = Part(body, vertices)
            found += _by_circles(standing, puzzle)
            if not _is_sure(found):
                found += _by_floor(standing, puzzle, units_mm)
    found = found or (_as_lid(body, ways[:2], puzzle, units_mm) if ways else [])
    if found:
        return _best(body, found, taken)
    why = (
        "it has no lattice of round holes, no floor within walls, and is no plate for a lid, that "
        f"would suit a board of {puzzle.name} ({', '.join(board.id for board in puzzle.boards)}) "
        f"with a unit of {' or '.join(f'{unit_mm:g} mm' for unit_mm in units_mm)}"
    )
    return Part(body, in_mm, "", why=why)


def _is_sure(found: Sequence[_Explanation]) -> bool:
    return any(one.score > _SURE for one in found)


def _best(body: Body, found: Sequence[_Explanation], taken: Collection[tuple[str, bool]]) -> Part:
    """The best explanation, of boards alike one that no other body is.

    Of those as good, of one board, it is that which lies farthest back.
    """
    most = max(one.score for one in found) - _EQUAL
    best = min(
        (one for one in found if one.score >= most),
        key=lambda one: (one.board.id, one.kind == LID) in taken,
    )
    # One cell more or less is another way to lie.
    less = min(_AS_GOOD, 1 / len(best.board.cells)) if best.kind == TRAY else _EQUAL
    alike = [
        one
        for one in found
        if (one.kind, one.board) == (best.kind, best.board)
        and abs(one.unit_mm - best.unit_mm) < 1e-6
        and one.score > best.score - less
    ]
    chosen = alike[_farthest_back(body, [one.laid for one in alike])]
    others = [one for one in found if one.board is not best.board]
    second = max(others, key=lambda one: one.score, default=None)
    return Part(
        body,
        chosen.laid,
        chosen.kind,
        board=chosen.board,
        unit_mm=chosen.unit_mm,
        rest_mm=chosen.rest_mm,
        score=best.score,
        second=(second.board.id, second.score) if second else None,
    )


def _farthest_back(body: Body, ways: Sequence[Points]) -> int:
    """Which of some ways to lie is chosen: that with its surface's middle farthest back."""
    middles = []
    for vertices in ways:
        corners = vertices[body.faces]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        areas = np.linalg.norm(normals, axis=1)
        middles.append(((corners.mean(axis=1) * areas[:, None]).sum(axis=0) / areas.sum())[:2])
    far = max(y for _, y in middles) - _FARTHER_MM
    back = [number for number, (_, y) in enumerate(middles) if y > far]
    right = max(middles[number][0] for number in back) - _FARTHER_MM
    return next(number for number in back if middles[number][0] > right)


# --- ways to stand ---------------------------------------------------------------------------


def ways_up(body: Body) -> list[Points]:
    """The ways in which a board may have been meant to stand, the likeliest first.

    Args:
        body: of at least one triangle.

    Returns:
        Its corners for each way, shape (n, 3), as `straightened` lays them. Each direction of
        large faces comes both ways up, that of the file first. The body is never mirrored.

    Example:
        >>> corners = np.array([[x, y, z] for x in (0, 3) for y in (0, 1) for z in (0, 2)], float)
        >>> quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        >>> box = np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])
        >>> [np.ptp(way, axis=0).round(9).tolist() for way in ways_up(Body("box", corners, box))][::2]
        [[3.0, 2.0, 1.0], [3.0, 1.0, 2.0], [2.0, 1.0, 3.0]]
    """
    up_and_over = [np.array([1.0, way, way]) for way in (1.0, -1.0)]
    faces = (one.vertices for one in ways_to_stand(body) if one.has_face)
    ways = (vertices * way for vertices in faces for way in up_and_over)
    return [straightened(way) for way in ways]


def straightened(vertices: Points) -> Points:
    """Upright corners, the rectangle around them along x and y, its longer side along x.

    Its middle is at the origin, the lowest corner at height 0.
    """
    hull = shapely.multipoints(vertices[:, :2]).convex_hull
    ring = shapely.get_coordinates(shapely.minimum_rotated_rectangle(hull))
    if len(ring) > 3:
        one, other = ring[1] - ring[0], ring[2] - ring[1]
        x, y = one if np.hypot(*one) >= np.hypot(*other) else other
        # Of two opposite ways the one that turns less, so that what lies straight stays as it is.
        x, y = (x, y) if (x, y) >= (0, 0) else (-x, -y)
        vertices = turned(vertices, -math.atan2(y, x))
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    return np.asarray(vertices - [*((low + high) / 2)[:2], low[2]])


def turned(vertices: Points, radians: float) -> Points:
    """Corners turned about the vertical through the origin, counter-clockwise."""
    cos, sin = math.cos(radians), math.sin(radians)
    matrix = np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
    return np.asarray(vertices @ matrix.T)


# --- levels and lines ---------------------------------------------------------------------


class Slab(NamedTuple):
    """A height between two neighbouring levels at which a body has level faces."""

    low_mm: float
    high_mm: float

    @property
    def middle_mm(self) -> float:
        """Halfway up."""
        return (self.low_mm + self.high_mm) / 2


def slabs(sections: Sections) -> list[Slab]:
    """The slabs of a body, from low to high; its highest and lowest corners end them, too."""
    levels = {height for (height, _), area in sections.flats().items() if area > _LEAST_FLAT_MM2}
    pairs = itertools.pairwise(sorted(levels | {sections.low, sections.high}))
    return [Slab(low, high) for low, high in pairs if high - low > _LEAST_SLAB_MM]


def surfaces_at(body: Body, points: Points) -> list[list[float]]:
    """At what heights upright lines pass through the surface of a body, be it closed or open.

    Args:
        body: whose heights are asked for.
        points: x and y of each line, shape (n, 2).

    Returns:
        For each line its heights from low to high; of a closed mesh an even number, where the
        line enters and leaves in turn.

    Example:
        >>> corners = np.array([[0.0, 0, 0], [4, 0, 0], [0, 4, 0], [0, 0, 4]])
        >>> pyramid = Body("pyramid", corners, np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]))
        >>> [[round(height, 3) for height in heights]
        ...  for heights in surfaces_at(pyramid, np.array([[1.0, 1.0], [3.0, 3.0]]))]
        [[0.0, 2.0], []]
    """
    corners, found = body.vertices[body.faces], []
    low, high = corners[:, :, :2].min(axis=1), corners[:, :, :2].max(axis=1)
    for point in np.asarray(points, dtype=float).reshape(-1, 2) + _ASIDE:
        a, b, c = corners[((low <= point) & (point <= high)).all(axis=1)].transpose(1, 0, 2)
        (ux, uy), (vx, vy), (px, py) = ((b - a)[:, :2].T, (c - a)[:, :2].T, (point - a[:, :2]).T)
        area = ux * vy - uy * vx
        scale = np.where(area == 0, 1.0, area)
        s, t = (px * vy - py * vx) / scale, (ux * py - uy * px) / scale
        inside = (area != 0) & (s >= 0) & (t >= 0) & (s + t <= 1)
        heights = a[:, 2] + s * (b - a)[:, 2] + t * (c - a)[:, 2]
        found.append(np.sort(heights[inside]).tolist())
    return found


def tops_at(body: Body, points: Points) -> Points:
    """The highest point of a body over each of some points; 0, the bed, where there is none."""
    return np.array([heights[-1] if heights else 0.0 for heights in surfaces_at(body, points)])


def material_along(
    section: BaseGeometry, starts: Points, ways: Points, reach_mm: float
) -> list[list[tuple[float, float]]]:
    """Where level lines run through material.

    Args:
        section: a cut.
        starts: of the lines, shape (n, 2).
        ways: unit vectors along them, shape (n, 2).
        reach_mm: their length.

    Returns:
        For each line from where to where it is in material, in mm from its start, in order.

    Example:
        >>> material_along(shapely.box(1, -1, 3, 1), np.array([[0.0, 0]]), np.array([[1.0, 0]]), 9.0)
        [[(1.0, 3.0)]]
    """
    lines = shapely.linestrings(np.stack([starts, starts + reach_mm * ways], axis=1))
    found = []
    for cut, start, way in zip(shapely.intersection(lines, section), starts, ways, strict=True):
        places = [
            (shapely.get_coordinates(one) - start) @ way
            for one in shapely.get_parts(cut)
            if one.length > 0
        ]
        found.append(sorted((float(some.min()), float(some.max())) for some in places))
    return found


class Stops(NamedTuple):
    """Points about every millimetre along the edges of an area, and the ways out there.

    Both have shape (n, 2); the ways are unit vectors.
    """

    points: Points
    outwards: Points


def stops(region: BaseGeometry) -> Stops:
    """The stops along a region, but for the ends of its edges."""
    points, outwards = [], []
    for part in shapely.get_parts(shapely.orient_polygons(region)):
        for ring in (part.exterior, *part.interiors):
            for start, end in itertools.pairwise(shapely.get_coordinates(ring)):
                length = float(np.linalg.norm(end - start))
                zone = min(_END_MM, _END_SHARE * length)
                count = max(2, round((length - 2 * zone) / _EVERY_MM) + 1)
                along = (end - start) / length
                points.append(start + np.linspace(zone, length - zone, count)[:, None] * along)
                # Material of the region lies to the left of its rings.
                outwards.append(np.tile([along[1], -along[0]], (count, 1)))
    return Stops(np.concatenate(points), np.concatenate(outwards))


def gaps(section: BaseGeometry, along: Stops) -> Points:
    """How far it is from each stop of a region to a wall of a section, straight out.

    Returns:
        Shape (n,); negative where a wall stands inside the region, infinite where none is near:
        what is farther than `REACH_MM` is a notch.
    """
    starts = along.points - REACH_MM * along.outwards
    spans = material_along(section, starts, along.outwards, 2 * REACH_MM)
    return np.array([some[0][0] - REACH_MM if some else np.inf for some in spans])


# --- boards with round holes --------------------------------------------------------------


def round_holes(section: BaseGeometry) -> list[Circle]:
    """The holes of a section that are round; ``inner_mm`` is what the largest cylinder that goes in has.

    Example:
        >>> plate = shapely.box(0, 0, 40, 20) - shapely.Point(9, 9).buffer(5) - shapely.box(20, 5, 25, 9)
        >>> [(round(hole.x_mm, 6), round(hole.diameter_mm, 6)) for hole in round_holes(plate)]
        [(9.0, 10.0)]
    """
    found = []
    for hole in hollows(section):
        if isinstance(hole, Polygon) and not hole.interiors and hole.area > _LEAST_FLAT_MM2:
            circle = circle_of(hole)
            if hole.area > _ROUND * math.pi / 4 * circle.outer_mm**2:
                middle = shapely.Point(circle.x_mm, circle.y_mm)
                found.append(replace(circle, inner_mm=2 * middle.distance(hole.exterior)))
    return found


def cells_of(board: Board) -> list[tuple[int, int]]:
    """A board's cells in a fixed order."""
    return sorted(board.cells)


def middles_mm(lattice: Lattice, board: Board, unit_mm: float) -> Points:
    """The middles of a board's cells, shape (n, 2), in the order of `cells_of`."""
    return np.array(in_units(lattice, cells_of(board))) * unit_mm


def hole_at(circles: Sequence[Circle], middle: Points, unit_mm: float) -> Circle | None:
    """The round hole of the cell whose middle is at a place, shape (2,); None without one."""
    x, y = middle.tolist()
    nearest = min(circles, key=lambda one: math.hypot(one.x_mm - x, one.y_mm - y), default=None)
    far = nearest is None or math.hypot(nearest.x_mm - x, nearest.y_mm - y) > NEAR_UNITS * unit_mm
    return None if far else nearest


def posts_mm(part: Part, lattice: Lattice) -> Points:
    """The heights of what stands between the holes of a board, at the corners of its cells."""
    assert part.board is not None
    points = []
    for cell in cells_of(part.board):
        middle = np.array(in_units(lattice, [cell]))
        points.append(middle + _TO_CORNER * (in_units(lattice, lattice.ring(cell)) - middle))
    return tops_at(part.straight, np.concatenate(points) * part.unit_mm)


def _by_circles(standing: Part, puzzle: PuzzleSet) -> Iterator[_Explanation]:
    """As a board of holes or seats, if it stands the right way up."""
    body, lattice, levels = standing.body, puzzle.lattice, slabs(standing.sections)
    for slab in levels:
        circles = round_holes(standing.sections.at(slab.middle_mm))
        matches = [
            (board, *match)
            for board in puzzle.boards
            for quarter_turns in range(4)
            for match in _match(circles, lattice, board, quarter_turns)
        ]
        if not matches:
            continue
        middles = np.array([(one.x_mm, one.y_mm) for one in circles])
        found = surfaces_at(standing.straight, middles)
        if np.median([len(heights) for heights in found]) == 0:
            kind = HOLES if slab is levels[0] else ""
        else:  # blind, and open above
            tops = [heights[-1] if heights else 0.0 for heights in found]
            kind = SEATS if np.median(tops) < slab.middle_mm else ""
        for board, score, scale, shift in matches if kind else ():
            plane = (_complex(standing.vertices) - shift) / scale * abs(scale)
            laid = np.column_stack([plane.real, plane.imag, standing.vertices[:, 2]])
            part = Part(body, laid, kind, board=board, unit_mm=abs(scale))
            rest_mm = float(np.median(posts_mm(part, lattice)))
            yield _Explanation(score, kind, board, abs(scale), laid, rest_mm)
        return


def _match(
    circles: Sequence[Circle], lattice: Lattice, board: Board, quarter_turns: int
) -> Iterator[tuple[float, complex, complex]]:
    """How well round holes are those over a board's cells, and what carries cells to them.

    Returns:
        The part of holes and cells that belong together, the factor (turn and unit) and the shift
        from cells in grid units to the holes.
    """
    if len(circles) < 2 or not _KNOWN <= len(circles) / len(board.cells) <= 1 / _KNOWN:
        return
    holes = np.array([complex(one.x_mm, one.y_mm) for one in circles])
    unit = float(np.median(np.sort(np.abs(holes[:, None] - holes), axis=1)[:, 1]))
    cells = _complex(middles_mm(lattice, board, 1.0))
    scale = unit * 1j**-quarter_turns
    shift = _box_middle(holes) - _box_middle(scale * cells)
    for _ in range(3):
        away = np.abs(holes[:, None] - (scale * cells + shift))
        nearest, off = away.argmin(axis=1), away.min(axis=1)
        near = off < NEAR_UNITS * unit
        if near.sum() < _KNOWN * len(cells) or np.ptp(np.abs(cells - cells[0])) == 0:
            return
        usual = near & (off <= max(_OFF_MM, _UNUSUAL * float(np.median(off[near]))))
        columns = np.column_stack([cells[nearest[usual]], np.ones(usual.sum())])
        scale, shift = np.linalg.lstsq(columns, holes[usual], rcond=None)[0]
    seen = len(set(nearest[near].tolist()))
    if abs(scale) > unit / 2:
        yield seen / (len(cells) + len(holes) - seen), complex(scale), complex(shift)


#: Points of the plane as complex numbers.
_Plane = NDArray[np.complex128]


def _box_middle(points: _Plane) -> complex:
    return complex(*((some.min() + some.max()) / 2 for some in (points.real, points.imag)))


def _complex(points: Points) -> _Plane:
    return np.asarray(points[:, 0] + 1j * points[:, 1])


# --- trays --------------------------------------------------------------------------------


def _by_floor(standing: Part, puzzle: PuzzleSet, units_mm: Sequence[float]) -> list[_Explanation]:
    """As a tray, if it stands the right way up: by its largest floor that is one."""
    sections = standing.sections
    levels = {slab.low_mm: slab for slab in slabs(sections)[1:]}
    for (height, facing), _ in sorted(sections.flats().items(), key=lambda one: -one[1]):
        if facing != UP or height not in levels:
            continue
        parts = shapely.get_parts(sections.flat(height, UP))
        # A title's letters are small ones.
        most = max((one.area for one in parts), default=0.0)
        floor = shapely.union_all([one for one in parts if one.area > most / 10])
        ways = itertools.product(puzzle.boards, units_mm, range(4))
        tried = (_tray(standing, puzzle.lattice, levels[height], floor, *way) for way in ways)
        found = [one for one in tried if one is not None]
        if found:
            return found
    return []


def _tray(
    standing: Part,
    lattice: Lattice,
    above: Slab,
    floor: BaseGeometry,
    board: Board,
    unit_mm: float,
    quarter_turns: int,
) -> _Explanation | None:
    """A tray where its region is; None where the floor is not it, or no walls are around it."""
    region = region_mm(lattice, board.cells, unit_mm)
    here = affinity.rotate(floor, 90 * quarter_turns, origin=(0, 0))
    unlike, start = _best_shift(here, region)
    if 1 - unlike < _ALIKE:
        return None
    # Just above the floor: higher up walls may lean.
    cut = standing.sections.at(above.low_mm + 0.3 * (above.high_mm - above.low_mm))
    cut = affinity.translate(affinity.rotate(cut, 90 * quarter_turns, origin=(0, 0)), *start)
    along = stops(region)
    shift = _settled(cut, along)
    if np.isfinite(gaps(affinity.translate(cut, *shift), along)).mean() < _WALLED:
        return None
    laid = turned(standing.vertices, quarter_turns * math.pi / 2)
    laid += np.array([*np.add(start, shift), 0.0])
    return _Explanation(1 - unlike, TRAY, board, unit_mm, laid, above.low_mm)


def _best_shift(floor: BaseGeometry, region: Polygon) -> tuple[float, tuple[float, float]]:
    """In which part a floor and a region differ, and the shift with which that is least.

    A notch may reach to the floor on one side, so one of two opposite sides is laid on the
    region's, or the middle between them.
    """
    (x0, y0, x1, y1), (u0, v0, u1, v1) = region.bounds, floor.bounds
    if max(abs((u1 - u0) - (x1 - x0)), abs((v1 - v0) - (y1 - y0))) > 0.5 * max(x1 - x0, y1 - y0):
        return math.inf, (0.0, 0.0)
    dxs, dys = (
        ((low + high - start - end) / 2, low - start, high - end)
        for low, high, start, end in ((x0, x1, u0, u1), (y0, y1, v0, v1))
    )

    def unlike(shift: tuple[float, float]) -> float:
        moved = affinity.translate(floor, *shift)
        return round(float(moved.symmetric_difference(region).area / region.area), 9)

    shift = min(itertools.product(dxs, dys), key=unlike)
    return unlike(shift), shift


def _settled(section: BaseGeometry, along: Stops) -> tuple[float, float]:
    """The shift of a section with which its walls are evenly away from a region, at its stops."""
    total = np.zeros(2)
    for _ in range(3):
        away = gaps(affinity.translate(section, *total), along)
        near = np.isfinite(away)
        if near.sum() < 3:
            break
        for _ in range(4):
            columns = np.column_stack([np.ones(near.sum()), along.outwards[near]])
            gap, *shift = np.linalg.lstsq(columns, away[near], rcond=None)[0]
            off = np.abs(away - gap - along.outwards @ np.array(shift))
            if (off[near] <= _UNEVEN_MM).all() or (off <= _UNEVEN_MM).sum() < len(off) / 4:
                break
            near = off <= _UNEVEN_MM
        total -= np.array(shift)
        if np.abs(shift).max() < 1e-7:
            break
    return float(total[0]), float(total[1])


# --- lids ---------------------------------------------------------------------------------


def _as_lid(
    body: Body, ways: Sequence[Points], puzzle: PuzzleSet, units_mm: Sequence[float]
) -> list[_Explanation]:
    """As a plate that covers a region, its larger face down; scored by the part that it covers."""
    standing = max(
        (Part(body, vertices) for vertices in ways),
        key=lambda one: one.sections.flat(0.0, DOWN).area,
    )
    lowest = slabs(standing.sections)[:1]
    plate = standing.sections.at(lowest[0].middle_mm) if lowest else Polygon()
    if plate.area == 0 or plate.area < _PLATE * plate.convex_hull.area:
        return []
    size, found = _sides(standing.vertices), []
    for unit_mm, board in itertools.product(units_mm, puzzle.boards):
        region = region_mm(puzzle.lattice, board.cells, unit_mm)
        x0, y0, x1, y1 = region.bounds
        wide, deep = x1 - x0, y1 - y0
        if not _covers(standing.vertices, region):
            continue
        # A lid of a region that is wider than deep is wider than deep itself.
        turns = (0, 2) if wide > deep + 1e-6 else (1, 3) if deep > wide + 1e-6 else range(4)
        score = min(1.0, wide * deep / float(size.prod()))
        for turn in turns:
            laid = turned(standing.vertices, turn * math.pi / 2)
            laid += np.array([(x0 + x1) / 2, (y0 + y1) / 2, 0.0])
            found.append(_Explanation(score, LID, board, unit_mm, laid))
    return found


# --- what may be a board, and what is a piece ---------------------------------------------


def is_accessory(body: Body, puzzle: PuzzleSet, *units_mm: float, length_mm: float = 1.0) -> bool:
    """Whether a body is so large that it can only be a board or lid.

    Seen as a plate it covers a board's region (the hull around it does, not only the box: a
    triangle covers half of a square), and the box around every piece is smaller. A board that is
    no larger than a piece of its set (one for a single piece) cannot be told by its size; then
    whatever is larger than the region by a wall, 1 mm all around, is the board or its lid. Where
    the unit may be one of several, a piece can be as large as a board with a smaller unit: what
    has the box of a piece is no board.

    Args:
        body: of any name, lying in any way.
        puzzle: the set.
        units_mm: what the grid unit may be, at least one.
        length_mm: the unit of length of the body's file.

    Example:
        >>> from fabkit.model.library import load_set
        >>> corners = np.array([[x, y, z] for x in (0, 165) for y in (0, 3) for z in (0, 166)], float)
        >>> quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        >>> lid = Body("A.stl", corners, np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]))
        >>> is_accessory(lid, load_set("iqblock"), 20.0), is_accessory(lid, load_set("iqblock"), 25.0)
        (True, False)
    """
    if not len(body.faces):
        return False
    regions = [region_mm(puzzle.lattice, board.cells, 1.0) for board in puzzle.boards]
    rings = [form.rings[:1] for piece in puzzle.pieces for form in piece.forms]
    outlines = [Polygon(rings_in_units(puzzle.lattice, outer)[0]) for outer in rings]
    pieces = [_sides(straightened(_corners(outline))) for outline in outlines]
    # A small board with deep holes has its largest face on a side.
    for way in ways_up(body)[::2]:
        standing, large = way * length_mm, set()
        size = _sides(standing)
        for unit_mm, region in itertools.product(units_mm, regions):
            there = _sides(_corners(region))
            can_be_piece = any((piece >= there - 1e-9).all() for piece in pieces)
            wall_mm = _LARGER_MM if can_be_piece else -_SMALLER_MM
            scaled = affinity.scale(region, unit_mm, unit_mm, origin=(0, 0))
            if (size >= there * unit_mm + wall_mm).all() and _covers(standing, scaled):
                large.add(unit_mm)
        others = itertools.product(pieces, {*units_mm} - large)
        spare = [(piece * unit_mm - size, unit_mm) for piece, unit_mm in others]
        if large and not any(
            (one > -_OVERSIZE_MM).all() and (one < _UNDERSIZE * unit_mm).all()
            for one, unit_mm in spare
        ):
            return True
    return False


def _covers(standing: Points, region: BaseGeometry) -> bool:
    """Whether the hull around something covers a region, middle on middle, in a quarter turn."""
    if not (_sides(standing) >= _sides(_corners(region)) - _SMALLER_MM).all():
        return False
    hull = shapely.multipoints(standing[:, :2]).convex_hull.buffer(_SMALLER_MM / 2)
    there = Polygon(straightened(_corners(region.convex_hull))[:, :2])
    return any(
        affinity.rotate(hull, 90 * turns, origin=(0, 0)).intersection(there).area
        > _COVERED * there.area
        for turns in range(4)
    )


def like_a_region(vertices: Points, puzzle: PuzzleSet) -> bool:
    """Whether a standing body is not far narrower than the boards of the set, as one on edge is."""
    long, short = _sides(vertices)
    sides = [_sides(_corners(region_mm(puzzle.lattice, one.cells, 1.0))) for one in puzzle.boards]
    return long > 0 and any(short / long > width / length / 2 for length, width in sides)


def _sides(points: Points) -> Points:
    """The longer and the shorter side of the rectangle around points, seen from above."""
    return np.sort(np.ptp(points[:, :2], axis=0))[::-1]


def _corners(area: BaseGeometry) -> Points:
    """The corners of an area, at height 0, shape (n, 3)."""
    return np.asarray(shapely.get_coordinates(shapely.force_3d(area), include_z=True))
