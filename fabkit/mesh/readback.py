"""Reading back: from the outlines of bodies to cells of a lattice, with nothing else to go by."""

from __future__ import annotations

import itertools
import math
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from statistics import median_low

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Polygon, affinity

from fabkit.mesh.body import Points
from fabkit.mesh.edges import (
    Corners,
    LongEdges,
    direction_step,
    largest,
    long_edges,
    silhouette,
    turn_of,
)
from fabkit.mesh.upright import Upright
from fabkit.model.lattice import Cell, Lattice, Point, Ring
from fabkit.model.piece import at_anchor, orientations
from fabkit.model.polygon import pieces_apart, rings_of_cells
from fabkit.model.puzzle import PuzzleSet, in_units

#: How far, in grid units, an edge may lie from where the lattice and the inset have it, in a body
#: that is read: what a wrong scale and an imprecise print come to.
_EDGE_OFF = 0.08
#: … and in one from which the unit is found: there are many wrong units that are nearly right.
_EDGE_EXACT = 0.02
#: An inset is between these parts of a grid unit. (Pieces with a large clearance would also lie on
#: a finer lattice, reaching out of it.)
_INSETS = (-0.04, 0.12)
#: Before the inset is known a corner is looked for within this part of a grid unit.
_CORNER_NEAR = 0.34
#: A cell of a piece is at least so full, and one beside it at most as full as is left to 1.
_FULL = 0.6
#: A unit is tried in full when it fits this part of what the best one fits.
_MANY_FIT = 0.5
#: Units are sought on so many of the bodies, in case some are no pieces.
_STRANGE = 0.25
#: The snapping to the lattice and the inset are found in turns, at most so many.
_ROUNDS = 4
#: A piece is at most so many grid units long.
_LONGEST_UNITS = 12
#: Edges tell what is sought when an error in where they lie grows by no more than this: pieces come
#: to 50, shapes that do not tell (squares) to what their noise is divided by.
_TELLS = 500
#: Ways to lie are as good when edges are this near (grid units) as far off: what lies along the
#: diagonals of squares may have its corners on whole points as well as on middles of squares.
_AS_GOOD = 0.005
#: Bodies of different sizes tell a unit together: by how much their insets grow with it, in grid
#: units, differs by more than this.
_SIZES_DIFFER = 0.05
#: Units closer than this part are one (roughly, before they are made exact), and so many are tried
#: in full.
_UNITS_ALIKE, _ROUGHLY, _UNITS_TRIED = 0.01, 0.005, 6
#: A unit that shapes do not tell is taken for the one expected from this nearness on.
_NEAR_UNIT = 0.05


@dataclass(frozen=True, eq=False)
class Lie:
    """How a body lies on the lattice.

    Attributes:
        unit: the length of a grid unit, in the file's lengths.
        turn: radians, by which the lattice is turned.
        origin: where the lattice's origin is in the turned frame, in the file's lengths.
    """

    unit: float
    turn: float
    origin: tuple[float, float]


@dataclass(frozen=True, eq=False)
class Reading:
    """What was read back from one body. Lengths are those of the file.

    Attributes:
        upright: the body.
        lie: how it lies on the lattice.
        cells: the cells that it fills.
        rings: their outline, in frame points.
        own_unit: the grid unit that this body shows on its own; None where its shape does not
            tell (a square's width may come from the unit or from the clearance).
        inset: by how much its edges lie inside the outline, on average.
        edge_insets: the same for each edge, least and greatest.
        outline: what was seen, on the lattice's frame.
        canonical: the outline as read, at the same place.
    """

    upright: Upright
    lie: Lie
    cells: frozenset[Cell]
    rings: tuple[Ring, ...]
    own_unit: float | None
    inset: float
    edge_insets: tuple[float, float]
    outline: Polygon
    canonical: Polygon

    @property
    def hausdorff(self) -> float:
        """The greatest distance between the outline as seen and as read."""
        return float(self.outline.hausdorff_distance(self.canonical))

    @property
    def area_off(self) -> float:
        """By which part the area as seen differs from the area as read."""
        return float(self.outline.area / self.canonical.area - 1)


@dataclass(frozen=True, eq=False)
class _Seen:
    """One body's outline, straight on the lattice, in each way in which that can be."""

    upright: Upright
    ways: tuple[tuple[float, Polygon, LongEdges], ...]


def read_back(
    bodies: Sequence[Upright], puzzle: PuzzleSet, units: Sequence[float] = ()
) -> list[Reading | None]:
    """Recovers the cells that bodies fill.

    The grid unit is found first, from all bodies together: one with which many of them have
    their edges on the lattice. Of several the one is taken with which most bodies are pieces
    of the set, or else have their corners on whole points, or else the expected, or else the
    largest. (What lies on the quarter-square lattice may also lie, turned by 45 degrees, on one
    1.41 times as wide.)
    Then each body is laid on the lattice; its cells are those that it fills, whatever the set's
    pieces are.

    Args:
        bodies: the parts of one set, or some of them.
        puzzle: the set, whose lattice it is.
        units: what the grid unit may be, for shapes that do not tell; only used for those.

    Returns:
        For each body what was read; None for one whose outline does not lie on the lattice.
    """
    lattice = puzzle.lattice
    seen = [_see(body, lattice) for body in bodies]
    known = {o.cells for p in puzzle.pieces for o in orientations(lattice, p, flips=True)}
    best: tuple[tuple[int, int, bool, float], list[Reading | None]] | None = None
    common_units = _common_units(seen, lattice)
    # Few bodies may not suggest the right unit although they fit it.
    common_units += [
        unit
        for unit in units
        if not _is_one_of(unit, common_units) and any(_fits(one, lattice, unit) for one in seen)
    ]
    for common in common_units:
        readings = _lay_all(seen, lattice, common, known)
        read = [reading for reading in readings if reading is not None]
        pieces = sum(at_anchor(lattice, reading.cells) in known for reading in read)
        whole = sum(_corners_are_alike(lattice, reading.rings) for reading in read)
        rank = (pieces, whole, _is_one_of(common, units), common)
        if best is None or rank > best[0]:
            best = rank, readings
    if best is None:
        return [None for _ in bodies]
    (*_, common), readings = best
    shown = [reading.own_unit for reading in readings if reading and reading.own_unit]
    exact = float(np.median(shown)) if shown else common
    if not shown:
        alike = _unit_of_equal_insets([one for one in readings if one], lattice)
        exact = alike or next((unit for unit in units if _is_one_of(common, [unit])), common)
    refined = [_refined(one, lattice, exact) if one else None for one in readings]
    return [one if one and _INSETS[0] < one.inset / exact < _INSETS[1] else None for one in refined]


def _is_one_of(unit: float, units: Sequence[float], near: float = _NEAR_UNIT) -> bool:
    """Whether a grid unit is near to one of several."""
    return any(abs(unit / one - 1) < near for one in units)


def _unit_of_equal_insets(readings: Sequence[Reading], lattice: Lattice) -> float | None:
    """The unit with which bodies that do not tell it on their own have one inset.

    Returns:
        It; None when there is none, as for bodies of one size.
    """
    if not readings:
        return None
    unit = readings[0].lie.unit
    here, there = (
        np.array([_refined(one, lattice, size).inset for one in readings])
        for size in (unit, 2 * unit)
    )
    slopes = (there - here) / unit
    spread = slopes - slopes.mean()
    if np.abs(spread).max() < _SIZES_DIFFER:
        return None
    return float(unit - (spread @ (here - here.mean())) / (spread @ spread))


def _corners_are_alike(lattice: Lattice, rings: Sequence[Ring]) -> bool:
    """Whether all corners of an outline are of one kind, as whole points of the grid are."""
    return len({lattice.residue(corner) for ring in rings for corner in ring}) == 1


def _see(body: Upright, lattice: Lattice) -> _Seen:
    outline = largest(silhouette(body))
    if outline.is_empty:
        return _Seen(body, ())
    turn, step = turn_of(outline, lattice), direction_step(lattice)
    # A turn that the lattice itself does not have gives another way to lie: along the diagonals.
    count = round(2 * math.pi / len(lattice.moves(False)) / step)
    ways = []
    for k in range(count):
        straight = affinity.rotate(outline, -(turn + k * step), origin=(0, 0), use_radians=True)
        ways.append((turn + k * step, straight, long_edges(straight, lattice)))
    return _Seen(body, tuple(ways))


# --- the unit -------------------------------------------------------------------------------


def _common_units(seen: Sequence[_Seen], lattice: Lattice) -> list[float]:
    """The units that fit many bodies, those that fit most and are large first."""
    able = [one for one in seen if one.ways]
    tried: list[float] = []
    fits: dict[float, int] = {}
    # Small bodies have few corners, so few units to try; more serve if the first is no piece.
    small = sorted(able, key=lambda one: one.ways[0][1].area)
    for tells in (True, False):
        asked = 0
        for one in small:
            units = _units_of(one, lattice, tells)
            for unit in units:
                if not _is_one_of(unit, tried, _UNITS_ALIKE):
                    tried.append(unit)
                    agreed = _agreed(unit, able, lattice)
                    if not _is_one_of(agreed, [*fits], _UNITS_ALIKE):
                        fits[agreed] = sum(_fits(other, lattice, agreed) for other in able)
            asked += bool(units)
            if asked > _STRANGE * len(able) or max(fits.values(), default=0) == len(able):
                break
        if fits:
            break
    most = max(fits.values(), default=0)
    good = [unit for unit, count in fits.items() if count >= _MANY_FIT * most > 0]
    return sorted(good, key=lambda unit: (-fits[unit], -unit))[:_UNITS_TRIED]


def _units_of(one: _Seen, lattice: Lattice, tells: bool) -> list[float]:
    """The units that a body's own corners suggest, the largest first.

    Args:
        one: the body.
        lattice: the lattice.
        tells: takes only those that its shape tells apart from its inset.
    """
    step_x = math.sqrt(lattice.step_squared[0])
    corner_steps = {
        abs(a - b) for (a, _), (b, _) in itertools.permutations(_corner_kinds(lattice), 2)
    }
    step = min([step * step_x for step in corner_steps if step] + [1.0])
    least = max(_extent(outline) for _, outline, _ in one.ways) / _LONGEST_UNITS
    found: list[float] = []
    for _, _, edges in one.ways:
        corners = edges.corners.points
        rough: set[float] = set()
        for axis in (0, 1) if lattice.step_squared[0] == lattice.step_squared[1] else (0,):
            apart = np.abs(corners[:, None, axis] - corners[None, :, axis]).ravel()
            for length in apart[apart > 0.05 * max(apart.max(initial=0), 1e-12)]:
                rough |= {float(length / (k * step)) for k in range(1, _LONGEST_UNITS + 1)}
        tried: list[float] = []
        for unit in sorted((unit for unit in rough if unit > 0.9 * least), reverse=True):
            if tried and tried[-1] / unit < 1 + _ROUGHLY:
                continue
            tried.append(unit)
            fits = _fitted(edges.corners, lattice, unit, True, _EDGE_EXACT)
            found += [fit.unit for fit in fits[:1] if fit.tells >= tells]
    return sorted((unit for unit in found if unit >= least), reverse=True)


def _agreed(unit: float, seen: Sequence[_Seen], lattice: Lattice) -> float:
    """What all bodies make of a unit that one of them suggests."""
    shown = []
    for one in seen:
        fits = [
            fit.unit
            for _, _, edges in one.ways
            for fit in _fitted(edges.corners, lattice, unit, True, _EDGE_EXACT)[:1]
            if fit.tells and _is_one_of(fit.unit, [unit])
        ]
        shown += [min(fits, key=lambda found: abs(found - unit))] if fits else []
    return median_low(shown) if shown else unit


def _fits(one: _Seen, lattice: Lattice, unit: float) -> bool:
    """Whether a body's edges lie on a lattice of that unit, in one of the ways it can lie."""
    return any(
        _extent(outline) <= _LONGEST_UNITS * unit
        and _fitted(edges.corners, lattice, unit, False, _EDGE_EXACT)
        for _, outline, edges in one.ways
    )


def _corner_kinds(lattice: Lattice) -> list[Point]:
    """The corners of cells, translations divided out."""
    return sorted(
        {lattice.residue(corner) for cell in lattice.first for corner in lattice.ring(cell)}
    )


@dataclass(frozen=True)
class _Fit:
    """How the corners of an outline lie on the lattice.

    Attributes:
        unit: the grid unit.
        origin: where the lattice's origin is.
        inset: by how much, in grid units, edges lie inside the lattice's.
        off: the greatest distance of an edge, in grid units, from where the lattice and the
            inset have it.
        tells: whether the unit was found on the corners.
    """

    unit: float
    origin: tuple[float, float]
    inset: float
    off: float
    tells: bool


def _fitted(
    corners: Corners, lattice: Lattice, unit: float, free: bool, most_off: float
) -> list[_Fit]:
    """Lays the corners of an outline on the lattice.

    Args:
        corners: of an outline that lies straight on it.
        lattice: the lattice.
        unit: the grid unit, roughly.
        free: finds the unit that is best for these corners, if they tell.
        most_off: how far an edge may be off, in grid units.

    Returns:
        The ways in which they lie on the lattice, so that edges between them run along cells,
        the best first; of those as good the one with the first kind of corner.
    """
    if len(corners.points) < 3:
        return []
    found = [_fitted_at(kind, corners, lattice, unit, free) for kind in _corner_kinds(lattice)]
    good = [fit for fit in found if fit is not None and fit.off < most_off]
    return sorted(good, key=lambda fit: round(fit.off, 3))


def _fitted_at(
    kind: Point, corners: Corners, lattice: Lattice, unit: float, free: bool
) -> _Fit | None:
    """The same, with the first corner on one kind of corner of the lattice."""
    steps = np.array([math.sqrt(squared) for squared in lattice.step_squared])
    kinds = _corner_kinds(lattice)
    frame = (corners.points - corners.points[0]) / (unit * steps) + kind
    for _ in range(2):  # the second time about the middle, not about one corner
        nearest = _nearest_corners(frame, lattice, kinds)
        frame = frame + (nearest - frame).mean(axis=0)
    if np.linalg.norm((frame - nearest) * steps, axis=1).max() > _CORNER_NEAR:
        return None
    normals, offsets = corners.normals.reshape(-1, 2), corners.offsets.ravel()
    weights = np.ones(len(offsets))
    columns = [normals[:, 0], normals[:, 1], -weights]
    for _ in range(_ROUNDS):
        places = (corners.normals @ (nearest * steps)[:, :, None]).ravel()
        solved = _solved([*columns, places], offsets, weights) if free else None
        tells = solved is not None
        if solved is None:
            rest = _solved(columns, offsets - unit * places, weights)
            if rest is None:
                return None
            solved = np.append(rest, unit)
        x, y, inset, unit = (float(value) for value in solved)
        if unit <= 0 or not _INSETS[0] < inset / unit < _INSETS[1]:
            return None
        before = nearest
        moved = corners.points + inset * corners.outwards - (x, y)
        nearest = _nearest_corners(moved / (unit * steps), lattice, kinds)
        if (nearest == before).all():
            break
    if not all(_runs_along(lattice, ring) for ring in corners.by_ring(nearest)):
        return None
    off = np.abs(normals @ (x, y) + unit * places - inset - offsets).max() / unit
    return _Fit(unit, (x, y), inset / unit, float(off), tells)


def _runs_along(lattice: Lattice, ring: Points) -> bool:
    """Whether a ring of corners, in frame steps, runs along edges of cells."""
    points = [(round(x), round(y)) for x, y in ring.tolist()]
    return all(
        lattice.walk(start, end) for start, end in zip(points, points[1:] + points[:1], strict=True)
    )


def _nearest_corners(frame: Points, lattice: Lattice, kinds: Sequence[Point]) -> Points:
    """The lattice corner nearest to each point, in frame steps."""
    steps = np.array([math.sqrt(squared) for squared in lattice.step_squared])
    (ux, _), (vx, vy) = lattice.basis
    candidates = []
    for x, y in kinds:
        rows = np.round((frame[:, 1] - y) / vy)
        # On a slanting basis the nearest row is not always nearest.
        for more in (-1, 0, 1) if vx else (0,):
            columns = np.round((frame[:, 0] - x - (rows + more) * vx) / ux)
            candidates.append(
                np.column_stack([x + columns * ux + (rows + more) * vx, y + (rows + more) * vy])
            )
    stack = np.array(candidates)
    distance = np.linalg.norm((stack - frame) * steps, axis=2)
    return np.asarray(stack[distance.argmin(axis=0), np.arange(len(frame))])


# --- laying a body on the lattice -------------------------------------------------------------


#: A way to lie: how it fits, by how much it is turned, and the outline when it is.
_Way = tuple[_Fit, float, Polygon]


def _lay_all(
    seen: Sequence[_Seen], lattice: Lattice, unit: float, known: Container[frozenset[Cell]]
) -> list[Reading | None]:
    """The cells of all bodies.

    Three edges fit the lattice in any size, with an inset that makes up for it. So of several
    ways to lie the one is taken whose inset is that of the other bodies.
    """
    ways = [_ways_to_lie(one, lattice, unit) for one in seen]
    insets = [
        min((fit.off + abs(fit.inset), fit.inset) for fit, _, _ in some) for some in ways if some
    ]
    usual = float(np.median([inset for _, inset in insets])) if insets else 0.0
    return [_lay(one, some, lattice, usual, known) for one, some in zip(seen, ways, strict=True)]


def _ways_to_lie(one: _Seen, lattice: Lattice, unit: float) -> list[_Way]:
    """The ways in which a body lies on a lattice of that unit; none if it is far too large."""
    return [
        (fit, turn, outline)
        for turn, outline, edges in one.ways
        if _extent(outline) <= _LONGEST_UNITS * unit
        for fit in _fitted(edges.corners, lattice, unit, False, _EDGE_OFF)
    ]


def _lay(
    one: _Seen,
    ways: Sequence[_Way],
    lattice: Lattice,
    inset: float,
    known: Container[frozenset[Cell]],
) -> Reading | None:
    """A body's cells, in the way in which it lies best; of two as good the one that is known."""
    best: Reading | None = None
    off = math.inf
    ranked = [(round(fit.off + abs(fit.inset - inset), 3), fit, turn, at) for fit, turn, at in ways]
    for so_far_off, fit, turn, straight in sorted(ranked, key=lambda way: way[0]):
        if so_far_off > off + _AS_GOOD:
            break
        found = _full_cells(straight, lattice, fit.unit, fit.origin)
        if not found or pieces_apart(lattice, found) > 1:
            continue
        lie = Lie(fit.unit, turn, fit.origin)
        lie, outline, cells = _always_alike(lie, straight, found, lattice)
        is_known = at_anchor(lattice, cells) in known
        if best is None or is_known:
            rings = rings_of_cells(lattice, cells)
            best = Reading(one.upright, lie, cells, rings, None, 0.0, (0.0, 0.0), outline, outline)
            off = min(off, so_far_off)
        if is_known:
            break
    return _refined(best, lattice, None) if best else None


def _always_alike(
    lie: Lie, outline: Polygon, cells: frozenset[Cell], lattice: Lattice
) -> tuple[Lie, Polygon, frozenset[Cell]]:
    """The same, turned so that a body lies alike however it was turned in its file."""
    moves = lattice.moves(False)
    move = min(moves, key=lambda one: sorted(at_anchor(lattice, map(one, cells))))
    angle = 2 * math.pi * move.turns / len(moves)
    cos, sin = math.cos(angle), math.sin(angle)
    x, y = lie.origin
    return (
        Lie(lie.unit, lie.turn - angle, (cos * x - sin * y, sin * x + cos * y)),
        affinity.rotate(outline, angle, origin=(0, 0), use_radians=True),
        frozenset(map(move, cells)),
    )


def _full_cells(
    outline: Polygon, lattice: Lattice, unit: float, origin: tuple[float, float]
) -> frozenset[Cell]:
    """The cells that an outline fills; none when a cell is neither full nor empty."""
    steps = np.array([math.sqrt(squared) for squared in lattice.step_squared])
    left, bottom, right, top = outline.bounds
    low = (np.array([left, bottom]) - origin) / (unit * steps)
    high = (np.array([right, top]) - origin) / (unit * steps)
    cells = list(_cells_between(lattice, low, high))
    shapes = shapely.polygons(
        [[np.asarray(lattice.ring(cell)) * steps * unit + origin for cell in cells]][0]
    )
    shapely.prepare(outline)
    share = shapely.area(shapely.intersection(shapes, outline)) / shapely.area(shapes)
    if ((share < _FULL) & (share > 1 - _FULL)).any():
        return frozenset()
    return frozenset(cell for cell, part in zip(cells, share, strict=True) if part >= _FULL)


def _cells_between(lattice: Lattice, low: Points, high: Points) -> Iterator[Cell]:
    """The cells whose period meets a box, in frame steps."""
    (ux, _), (vx, vy) = lattice.basis
    for row in range(math.floor(low[1] / vy) - 1, math.ceil(high[1] / vy) + 2):
        shift = row * vx
        for col in range(
            math.floor((low[0] - shift) / ux) - 1, math.ceil((high[0] - shift) / ux) + 2
        ):
            for x, y in sorted(lattice.corners):
                yield x + col * ux + shift, y + row * vy


def _refined(reading: Reading, lattice: Lattice, unit: float | None) -> Reading:
    """The reading with its lie and insets measured on its edges, by least squares.

    Each long edge lies its inset inside a line of the outline: n . (origin + unit * k) - inset,
    with the outward normal n and the line's exact place k in grid units.

    Args:
        reading: with the right cells.
        lattice: the lattice.
        unit: the set's grid unit; None leaves it to this body's edges.
    """
    edges = long_edges(reading.outline, lattice)
    match = _matched(edges, reading, lattice)
    normals, places, offsets = match.normals, match.places, match.offsets
    weights = np.sqrt(match.lengths)
    columns = [normals[:, 0], normals[:, 1], -np.ones(len(offsets))]
    own = _solved([*columns, places], offsets, weights)
    scale = unit or (float(own[3]) if own is not None else reading.lie.unit)
    rest = _solved(columns, offsets - scale * places, weights)
    if rest is None:  # the edges do not even tell where it lies
        return reading
    origin = float(rest[0]), float(rest[1])
    insets = normals @ rest[:2] + scale * places - offsets
    rings = [
        [(scale * x + origin[0], scale * y + origin[1]) for x, y in in_units(lattice, ring)]
        for ring in reading.rings
    ]
    outer = max(rings, key=lambda ring: Polygon(ring).area)
    return Reading(
        reading.upright,
        Lie(scale, reading.lie.turn, origin),
        reading.cells,
        reading.rings,
        float(own[3]) if own is not None else None,
        float(rest[2]),
        (float(insets.min()), float(insets.max())),
        reading.outline,
        Polygon(outer, [ring for ring in rings if ring is not outer]),
    )


@dataclass(frozen=True)
class _Matched:
    """Long edges, each with the line of the outline that it belongs to."""

    normals: Points
    places: NDArray[np.float64]
    offsets: NDArray[np.float64]
    lengths: NDArray[np.float64]


def _matched(edges: LongEdges, reading: Reading, lattice: Lattice) -> _Matched:
    lie = reading.lie
    lines = []
    for ring in reading.rings:
        points = np.array(in_units(lattice, ring))
        along = np.roll(points, -1, axis=0) - points
        normal = (
            np.column_stack([along[:, 1], -along[:, 0]]) / np.linalg.norm(along, axis=1)[:, None]
        )
        middle = (points + np.roll(points, -1, axis=0)) / 2
        half = np.linalg.norm(along, axis=1) / 2
        lines += list(zip(normal, (points * normal).sum(axis=1), middle, half, strict=True))
    normals, offsets, lengths = edges.normals, edges.offsets, edges.lengths
    middles = (edges.starts + edges.ends) / 2
    kept, places = [], []
    for i in range(len(offsets)):
        near = []
        for normal, place, middle, half in lines:
            if normal @ normals[i] < math.cos(math.radians(3)):
                continue
            away = middles[i] - (middle * lie.unit + np.array(lie.origin))
            if abs(away @ (-normal[1], normal[0])) < half * lie.unit:
                near.append((abs(away @ normal) / lie.unit, place))
        if near and min(near)[0] < _CORNER_NEAR:
            kept.append(i)
            places.append(min(near)[1])
    return _Matched(normals[kept], np.array(places), offsets[kept], lengths[kept])


def _solved(
    columns: Sequence[NDArray[np.float64]], right: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """The least squares solution; None when the columns do not tell."""
    matrix = np.column_stack(columns) * weights[:, None]
    if len(right) < len(columns) or np.linalg.cond(matrix) > _TELLS:
        return None
    return np.asarray(np.linalg.lstsq(matrix, right * weights, rcond=None)[0])


def _extent(outline: Polygon) -> float:
    left, bottom, right, top = outline.bounds
    return float(max(right - left, top - bottom))
