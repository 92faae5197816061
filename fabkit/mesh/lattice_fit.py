"""Recognising flat pieces: which way is up, in which unit, turned how, and which piece it is.

Nothing of this is read off a single feature, which a rounding, a taper or noise could feign. Each
body gets hypotheses: a few directions in which it may stand, with the turns that suit its edges,
and each is scored by laying the body's silhouette over the outlines of the set's pieces, both
brought to one area. The grid unit is the one with which all bodies together are explained best;
with that unit each body's best hypothesis wins. Where a body is no piece of the set, the lattice
alone tells which cells it fills. Only then is anything measured: along each edge of the outline,
by least squares (`_fitted`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import LineString, Polygon, affinity, union_all
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.outline import canonical_outline
from fabkit.mesh.body import Body, Points, area_vectors
from fabkit.mesh.part import LENGTHS_MM, Outline, Part, length_mm_of
from fabkit.mesh.section import hollows
from fabkit.model.lattice import Cell, Lattice
from fabkit.model.piece import least_turn, orientations
from fabkit.model.polygon import parts_of_cells, rings_of_cells
from fabkit.model.puzzle import PuzzleSet, in_units

#: Faces whose normals are this near (radians) look in one direction, …
_ONE_DIRECTION = 0.03
#: … and so many directions are tried, the largest first, and the one across the whole body.
_DIRECTIONS = 3
#: The last one counts so much less, as do those whose level faces are at many heights.
_NO_FACE = 0.95
#: What stands this nearly (degrees) upright in its file, or upside down, was laid so on purpose.
_LAID = 3.0
#: An outline is that of a piece when the overlay is at least this (tips that are cut, discs), …
_ALIKE = 0.86
#: … that where it lies with the set's unit at least this, …
_THERE = 0.88
#: … and surely, whatever its unit, from this on.
_SURE = 0.95
#: Units that differ by less than this part may be one: clearances and roundings take that much.
_ONE_UNIT = 0.06
#: Edges are measured at these parts of their lengths: away from tips and roundings.
_ALONG = np.array([0.3, 0.4, 0.5, 0.6, 0.7])


# --- what a body may be laid on ---------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Shape:
    """An outline of the set, in one of the ways its lattice has to turn it, in grid units."""

    cells: frozenset[Cell]  # moved to the lattice's anchor
    outline: Polygon
    normal: BaseGeometry
    mirrored: bool  # whether it is only there when a piece is turned over
    kind: int  # pieces of one outline share it, mirror images apart


def _shapes(puzzle: PuzzleSet) -> list[_Shape]:
    """Every image of every piece's outline, each once."""
    found: dict[frozenset[Cell], _Shape] = {}
    for flips, piece in itertools.product((False, True), puzzle.pieces):
        kind = len(found)
        for image in orientations(puzzle.lattice, piece, flips):
            if image.cells not in found:
                outline = canonical_outline(puzzle.lattice, image.rings, 1.0)
                found[image.cells] = _Shape(image.cells, outline, normal(outline), flips, kind)
    return list(found.values())


def normal(area: BaseGeometry, turn: float = 0.0) -> BaseGeometry:
    """An area turned back by an angle (radians), brought to size 1, its centroid to the origin."""
    matrix = _rotation(turn) / math.sqrt(area.area)
    x, y = matrix @ area.centroid.coords[0]
    return affinity.affine_transform(area, [*matrix.ravel(), -x, -y])


def overlays(area: BaseGeometry, others: NDArray[np.object_]) -> list[float]:
    """How alike an area is to each of some others, as `normal` has them: what is common to both.

    A part of what they cover together; 0 for those with boxes of another size.
    """
    shapely.prepare(area)
    near = np.abs(shapely.bounds(others) - area.bounds).max(axis=1) < 0.3
    common = np.zeros(len(others))
    common[near] = shapely.area(shapely.intersection(area, others[near]))
    return [float(one) for one in common / (2 - common)]


def _rotation(angle: float) -> Points:
    """The matrix that turns points back by an angle."""
    cos, sin = math.cos(angle), math.sin(angle)
    return np.array([[cos, sin], [-sin, cos]])


# --- how a body may stand and lie -------------------------------------------------------------


def ways_to_stand(body: Body, most: int = _DIRECTIONS) -> list[Part]:
    """The ways in which a body may stand, upwards in its file, the likeliest first.

    Those, so many, in which most of its surface looks, and the one in which it is thinnest; with
    the score by which they count.
    """
    corners, normals = body.vertices[body.faces], area_vectors(body.vertices, body.faces)
    areas = np.linalg.norm(normals, axis=1)
    solid = areas > 0
    if not solid.any():
        return [Part(body, body.vertices, score=1.0)]
    normals, areas, corners = normals[solid] / areas[solid, None], areas[solid], corners[solid]
    # A coarse grid of directions, opposite ones made one.
    cells = np.rint(normals / _ONE_DIRECTION) @ [1, 100, 10_000]
    normals *= np.sign(cells)[:, None]
    cells = np.abs(cells).astype(np.int64)
    found: list[tuple[Points, float]] = []
    left = np.ones(len(areas), dtype=bool)
    while left.any() and len(found) < most:
        fullest = left & (cells == np.bincount(cells, areas * left).argmax())
        first = areas[fullest] @ normals[fullest]
        reach = np.abs(normals @ first)
        near = fullest | (left & (reach > math.cos(_ONE_DIRECTION) * np.linalg.norm(first)))
        left &= ~near
        # Most of a flat face looks exactly one way; the rest is the beginning of a rounding.
        along = normals @ normals[near][areas[near].argmax()]
        level = near & (np.abs(along) > math.cos(_ONE_DIRECTION / 10))
        level = level if areas[level].sum() > areas[near].sum() / 2 else near
        up = _across(corners[level], normals[level] * np.sign(along[level])[:, None], areas[level])
        # A piece is level at its ends; on its side it is so at many heights. (Pockets are small.)
        heights, all_heights = corners[near] @ up, corners @ up
        low, high = float(all_heights.min()), float(all_heights.max())
        inner = np.minimum(heights - low, high - heights).min(axis=1) > 0.04 * (high - low)
        is_on_side = areas[near][inner].sum() > 0.3 * areas[near].sum()
        found.append((up, _NO_FACE if is_on_side else 1.0))
    middles = corners.mean(axis=1)
    spread = (middles - np.average(middles, axis=0, weights=areas)) * np.sqrt(areas)[:, None]
    thin = np.linalg.eigh(spread.T @ spread)[1][:, 0]
    if all(abs(thin @ up) < 1 - _ONE_DIRECTION**2 for up, _ in found):
        found.append((thin, _NO_FACE))
    return [_standing(body, up if up[2] >= -1e-9 else -up, score) for up, score in found]


def _across(corners: Points, normals: Points, areas: NDArray[np.float64]) -> Points:
    """The unit vector across faces that are level: so that each of their heights is one.

    The mean of their normals is as good while corners are exact; noise turns small faces, and
    moves heights by no more than itself.
    """
    same = normals @ normals[areas.argmax()] > 1 - 1e-9
    is_exact = areas[same].sum() > areas.sum() / 2
    mean = areas[same] @ normals[same] if is_exact else areas @ normals
    mean /= np.linalg.norm(mean)
    if is_exact:
        return np.asarray(mean)
    # Those of nearly one height are of one floor.
    heights = (corners @ mean).mean(axis=1) / np.ptp(corners, axis=(0, 1)).max()
    _, floor = np.unique(np.rint(heights / 0.004), return_inverse=True)
    points, weights, floors = corners.reshape(-1, 3), np.repeat(areas, 3), np.repeat(floor, 3)
    sums = np.column_stack([np.bincount(floors, weights * axis) for axis in points.T])
    middles = sums / np.bincount(floors, weights)[:, None]
    off = (points - middles[floors]) * np.sqrt(weights)[:, None]
    _, sizes, axes = np.linalg.svd(off, full_matrices=False)
    up = axes[2] * np.sign(axes[2] @ mean)
    is_flat = sizes[2] < 0.01 * sizes[1] and up @ mean > math.cos(_ONE_DIRECTION)
    return np.asarray(up if is_flat else mean)


def _standing(body: Body, up: Points, score: float) -> Part:
    """A body turned the shortest way so that a unit vector is up, its lowest corner at height 0."""
    vertical = np.array([0.0, 0.0, 1.0])
    middle = up + vertical
    turn = np.eye(3) + 2 * np.outer(vertical, up) - np.outer(middle, middle) / middle[2]
    vertices = body.vertices @ turn.T
    vertices[:, 2] -= vertices[:, 2].min()
    tilt = math.degrees(math.acos(min(1.0, max(-1.0, float(up[2])))))
    return Part(body, vertices, tilt_degrees=tilt, score=score)


def _back_is_below(way: Part) -> bool | None:
    """Whether the back, into which a magnet goes, is down; None when nothing tells.

    Without a magnet's pocket the back is the side without a letter. Pockets that open at one of the
    first three heights and are at one or two of the next are shallow, as letters are; scratches
    have no room for a disc.
    """
    height = way.sections.high
    room = 0.04 * min(height, np.ptp(way.vertices[:, :2], axis=0).max())
    parts = (0.02, 0.05, 0.1, 0.25, 0.4, 0.6, 0.75, 0.9, 0.95, 0.98)
    cuts = [union_all(hollows(way.sections.at(part * height))) for part in parts]
    through = shapely.intersection_all(cuts)

    def depth(cuts: Sequence[BaseGeometry]) -> int:
        """At how many heights pockets are that are open on the first side; 0 without any."""
        pockets, deep = union_all(cuts[:3]) - through, 0
        for cut in cuts[2:]:
            if pockets.buffer(-room).is_empty:
                break
            pockets, deep = pockets & cut, deep + 1
        return deep

    below, above = depth(cuts), depth(cuts[::-1])
    if max(below, above) > 2:
        return below >= above
    return None if below == above else above > 0


def _turns(silhouette: Polygon, lattice: Lattice) -> list[float]:
    """By how much (radians) a silhouette may be turned against a lattice; its own turns left out."""
    edges = (in_units(lattice, edge) for cell in lattice.first for edge in lattice.cell_edges(cell))
    angles = {round(math.atan2(y1 - y0, x1 - x0) % math.pi, 9) for (x0, y0), (x1, y1) in edges}
    step = math.pi / len(angles)  # between neighbouring directions of its edges
    rough = silhouette.simplify(2e-4 * max(np.ptp(np.reshape(silhouette.bounds, (2, 2)), axis=0)))
    box = rough.minimum_rotated_rectangle.exterior
    found: list[float] = []
    for rings in ((rough.exterior, *rough.interiors), (LineString(box.coords[:2]),)):
        ways = np.concatenate([np.diff(np.asarray(ring.coords), axis=0) for ring in rings])
        phases = np.arctan2(ways[:, 1], ways[:, 0]) * 2 * math.pi / step
        # Squares of lengths: many short edges of a rounding weigh nothing.
        total = ((ways**2).sum(axis=1) * np.exp(1j * phases)).sum()
        turn = (float(np.angle(total)) / (2 * math.pi) * step - min(angles)) % step
        if all(abs((turn - other + step / 2) % step - step / 2) > 0.01 for other in found):
            found.append(turn)
    # A turn that the lattice itself does not have gives another way to lie: along the diagonals.
    count = round(2 * math.pi / len(lattice.moves(False)) / step)
    return [turn + k * step for turn in found for k in range(count)]


# --- hypotheses -------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Lie:
    """One explanation of a body: how it lies on the lattice, in the file's lengths."""

    way: Part  # as it stands
    turn: float  # radians, by which the lattice is turned
    origin: Points  # the lattice's, in the turned frame
    unit: float  # the grid unit: that with which areas agree, then as measured
    cells: frozenset[Cell]
    score: float = 0.0  # the common part of both outlines at one area: 1 when they are the same
    shape: _Shape | None = None  # None of what is no piece of the set
    second: float = 0.0  # the score of the next best outline
    own_unit: float | None = None  # as its edges alone show it; None where its shape does not tell
    inset: float = 0.0  # by how much its edges lie inside the outline, on average
    edge_insets: tuple[float, float] = (0.0, 0.0)  # least and greatest

    @property
    def straight(self) -> Polygon:
        """The body's silhouette on the lattice's frame."""
        return affinity.affine_transform(
            self.way.sides, [*_rotation(self.turn).ravel(), *-self.origin]
        )


def _explained(way: Part, lattice: Lattice, shapes: Sequence[_Shape]) -> Iterator[_Lie]:
    """All likely explanations of a body that stands, whatever its size."""
    if way.sides.is_empty:
        return
    # Recesses and letters may be cut through; then they are holes, and no part of the outline.
    areas = [way.sides, Polygon(way.sides.exterior)][: 1 + len(way.sides.interiors)]
    normals = np.array([shape.normal for shape in shapes])
    for turn, area in itertools.product(_turns(way.sides, lattice), areas):
        middle = _rotation(turn) @ area.centroid.coords[0]
        for shape, score in zip(shapes, overlays(normal(area, turn), normals), strict=True):
            if score > 0.8:
                unit = math.sqrt(area.area / shape.outline.area)
                origin = middle - unit * np.array(shape.outline.centroid.coords[0])
                yield _Lie(way, turn, origin, unit, shape.cells, score * way.score, shape)


def _common_unit(lies: Sequence[Sequence[_Lie]], expected: Sequence[float]) -> float | None:
    """The unit with which all bodies together are explained best; None when none is.

    Of units that explain as many bodies as pieces of the set, the expected goes first, then the
    better overlays, then the larger unit. (What lies on the quarter-square lattice may also lie,
    turned by 45 degrees, on one 1.41 times as wide.)
    """
    likely = [[one for one in some if one.score > _ALIKE] for some in lies]
    ranks = []
    tried = 0.0
    for unit in sorted(one.unit for some in likely for one in some):
        if unit > tried * (1 + _ONE_UNIT / 6):
            tried = unit
            near = [[one for one in some if _is_near(one.unit, unit)] for some in likely]
            best = [max(some, key=lambda one: one.score) for some in near if some]
            shown, total = median(one.unit for one in best), sum(one.score for one in best)
            ranks.append((len(best), _is_near(shown, *expected), round(total, 2), shown))
    return max(ranks)[-1] if ranks else None


def _is_near(unit: float, *others: float) -> bool:
    return any(abs(unit / other - 1) < _ONE_UNIT for other in others)


def _lie_of(
    lies: Sequence[_Lie], lattice: Lattice, shapes: Sequence[_Shape], unit: float
) -> _Lie | None:
    """How a body lies as its best explanation with the set's unit says; None if it is no piece."""

    def near_unit(lies: Iterable[_Lie]) -> list[_Lie]:
        # A clearance takes most of small pieces, which so show a smaller unit.
        return [one for one in lies if 0.9 < one.unit / unit < 1 + _ONE_UNIT]

    near = near_unit(lies)
    best = max(near, key=lambda one: one.score, default=None)
    if best is None or best.shape is None or best.score < _ALIKE:
        return None
    is_back = _back_is_below(best.way)
    if is_back is None and best.way.tilt_degrees > _LAID:
        is_back = not best.shape.mirrored  # not laid flat on purpose: it lies as its piece is drawn
    if is_back is False:
        over = replace(best.way.turned_over(), score=1.0)
        again = near_unit(_explained(over, lattice, shapes))
        near = [one for one in near if one.way is not best.way] + again
        best = max(again, key=lambda one: one.score, default=best)
    kind = best.shape and best.shape.kind
    others = [one.score for one in near if one.shape and one.shape.kind != kind]
    lie = _fitted(best, lattice, unit)
    lie = replace(lie, second=max(others, default=0.0))
    return lie if _likeness(lie, lattice) > _THERE else None


# --- measuring --------------------------------------------------------------------------------


def _fitted(lie: _Lie, lattice: Lattice, unit: float | None = None) -> _Lie:
    """The lie, measured along the edges of its cells' outline by least squares.

    An edge lies so far out of its line on the lattice: n . shift - inset + more * k, with the
    outward normal n, the line's exact place k in grid units, and more of a grid unit. Each edge
    counts by the middle one of some points along it, so that a bump does not. Without the set's
    grid unit, this body's edges tell it.
    """
    rings = [np.array(in_units(lattice, ring)) for ring in rings_of_cells(lattice, lie.cells)]
    starts = np.concatenate(rings)
    vectors = np.concatenate([np.roll(ring, -1, axis=0) for ring in rings]) - starts
    lengths = np.linalg.norm(vectors, axis=1)
    outwards = np.column_stack([vectors[:, 1], -vectors[:, 0]]) / lengths[:, None]
    columns = np.column_stack([outwards, -np.ones(len(starts)), (starts * outwards).sum(axis=1)])
    for _ in range(4):
        scale = unit or lie.unit
        points = scale * (starts[:, None] + _ALONG[:, None] * vectors[:, None])
        off = _reaching_out(lie.straight, points, outwards, 0.2 * scale)
        kept = np.isfinite(off).sum(axis=1) > len(_ALONG) / 2
        matrix, middle = columns[kept], np.median(np.nan_to_num(off[kept]), axis=1)
        weights = np.sqrt(lengths[kept])
        own = _least_squares(matrix, middle, weights)
        rest = _least_squares(matrix[:, :3], middle, weights)
        if rest is None:  # the edges do not even tell where it lies
            return lie
        own_unit = None if own is None else scale + float(own[3])
        if unit is None and own is not None and own_unit is not None:
            rest, scale, middle = own[:3], own_unit, middle - own[3] * matrix[:, 3]
        insets = matrix[:, :2] @ rest[:2] - middle
        turn = _lean(off[kept], lengths[kept] * scale)
        lie = replace(
            lie,
            turn=lie.turn + turn,
            origin=_rotation(turn) @ (lie.origin + rest[:2]),
            unit=scale,
            own_unit=own_unit,
            inset=float(rest[2]),
            edge_insets=(float(insets.min()), float(insets.max())),
        )
        if np.abs(rest[:2]).max() < 1e-7 * scale and abs(turn) < 1e-8:
            break
    return lie


def _reaching_out(
    area: Polygon, points: Points, outwards: Points, reach: float
) -> NDArray[np.float64]:
    """How far an area reaches out of points on edges; not a number where it does not end near."""
    flat = points.reshape(-1, 2)
    along = np.repeat(outwards, points.shape[1], axis=0)
    rays = shapely.linestrings(np.stack([flat - reach * along, flat + reach * along], axis=1))
    met, which = shapely.get_coordinates(shapely.intersection(rays, area), return_index=True)
    off = np.full(len(flat), np.nan)
    np.fmax.at(off, which, ((met - flat[which]) * along[which]).sum(axis=1))
    off[np.abs(off) > 0.99 * reach] = np.nan
    return off.reshape(points.shape[:2])


def _lean(off: NDArray[np.float64], lengths: NDArray[np.float64]) -> float:
    """By how much (radians) edges are turned, as most of them say, the long ones first.

    The middle one counts, so that a ridge on one side turns nothing.
    """
    rise = (off[:, :2] - off[:, :-3:-1]).ravel()
    run = np.outer(lengths, _ALONG[::-1][:2] - _ALONG[:2]).ravel()
    told = np.isfinite(rise)
    if not told.any():
        return 0.0
    slopes, weights = rise[told] / run[told], run[told] ** 2
    return float(np.quantile(slopes, 0.5, weights=weights, method="inverted_cdf"))


def _least_squares(
    matrix: NDArray[np.float64], right: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """The least squares solution; None when the columns do not tell: when errors grow too far.

    By 50 for pieces; for shapes that do not tell unit from inset (squares) it is by far more.
    """
    matrix = matrix * weights[:, None]
    if len(right) < matrix.shape[1] or np.linalg.cond(matrix) > 500:
        return None
    return np.asarray(np.linalg.lstsq(matrix, right * weights, rcond=None)[0])


def _likeness(lie: _Lie, lattice: Lattice) -> float:
    """What a body and its outline, with the same inset, have in common where they lie."""
    outline = canonical_outline(lattice, rings_of_cells(lattice, lie.cells), lie.unit)
    outline = outline.buffer(-max(0.0, lie.inset), join_style="mitre")
    areas = lie.straight, Polygon(lie.straight.exterior)
    return max(float((outline & one).area / (outline | one).area) for one in areas)


def _exact_unit(lies: Sequence[_Lie], lattice: Lattice, expected: Sequence[float]) -> float | None:
    """The grid unit that bodies show: by their own edges; else that with which they have one inset.

    Where they are all of one size, it is the expected one that is nearest.
    """
    if not lies:
        return None
    # What is explained far worse than the others may be no piece, and tells nothing.
    least = max(lie.score for lie in lies) - 0.08
    shown = [lie.own_unit for lie in lies if lie.own_unit and lie.score > least]
    if shown:
        return float(np.median(shown))
    unit = lies[0].unit
    here, there = (
        np.array([_fitted(lie, lattice, size).inset for lie in lies])
        for size in (unit, 1.02 * unit)
    )
    slopes = (there - here) / (0.02 * unit)
    if np.ptp(slopes) > 0.1:  # so pieces of several sizes tell the unit together
        return float(unit - np.polyfit(slopes, here, 1)[0])
    nearest = min(expected, key=lambda one: abs(one / unit - 1))
    return nearest if _is_near(unit, nearest) else unit


# --- what is no piece of the set ----------------------------------------------------------------


def _full_cells(lie: _Lie, lattice: Lattice) -> tuple[frozenset[Cell], float]:
    """The cells that a body fills for more than half, and the least share that is full or empty."""
    outline = affinity.scale(lie.straight, 1 / lie.unit, 1 / lie.unit, origin=(0, 0))
    (step,) = np.array(in_units(lattice, [(1, 1)]))
    tall = lattice.basis[1][1] * step[1]
    left, low, right, high = outline.bounds
    rows = range(math.floor(-high / tall) - 1, math.ceil(-low / tall) + 2)
    columns = range(math.floor(left) - 1, math.ceil(right) + 2)
    cells = [cell for at in itertools.product(rows, columns) for cell in lattice.cells_at(*at)]
    first = list(lattice.cells_at(0, 0))
    rings = np.array([in_units(lattice, lattice.ring(cell)) for cell in first])
    away = np.reshape(cells, (-1, len(first), 2)) - np.array(first)
    shapes = shapely.polygons((rings + (away * step)[:, :, None]).reshape(-1, *rings.shape[1:]))
    shapely.prepare(outline)
    share = shapely.area(shapely.intersection(shapes, outline)) / shapely.area(shapes)
    full = frozenset(cell for cell, part in zip(cells, share, strict=True) if part > 0.5)
    return full, float(np.maximum(share, 1 - share).min())


def _by_lattice(way: Part, lattice: Lattice, unit: float) -> _Lie | None:
    """How a body lies that is no piece of the set: so that it fills its cells best, by any of them.

    The lines of its two longest edges cross where lines of the lattice do: in a few places.
    """
    extent = np.ptp(np.reshape(way.sides.bounds, (2, 2)), axis=0)
    if not way.sides.area or np.hypot(*extent) > 16 * unit:  # no piece reaches so far
        return None
    (ux, _), (_, vy) = lattice.basis
    corners = [point for cell in lattice.first for point in lattice.ring(cell)]
    step = int(np.gcd.reduce(np.ravel(corners)))
    places = in_units(lattice, itertools.product(range(0, ux, step), range(0, vy, step)))
    best: _Lie | None = None
    most = 0.6  # the share from which on a cell is full, or empty
    for turn in _turns(way.sides, lattice):
        turned = affinity.rotate(way.sides, -turn, origin=(0, 0), use_radians=True)
        ring = np.asarray(turned.simplify(0.01 * unit).exterior.coords)
        edges = np.diff(ring, axis=0)
        lengths = np.linalg.norm(edges, axis=1)
        normals = np.column_stack([edges[:, 1], -edges[:, 0]]) / lengths[:, None]
        first = lengths.argmax()
        leans = np.abs(normals @ edges[first]) > lengths[first] / 2
        both = [first, (lengths * leans).argmax()]
        offsets = (ring[both] * normals[both]).sum(axis=1)
        crossing = np.linalg.lstsq(normals[both], offsets, rcond=None)[0]
        for place in places:
            lie = _Lie(way, turn, crossing - unit * np.array(place), unit, frozenset())
            cells, clear = _full_cells(lie, lattice)
            if cells and clear > most + 1e-3 and len(parts_of_cells(lattice, cells)) == 1:
                best, most = replace(lie, cells=cells), clear
    if best is None:
        return None
    lie = _fitted(best, lattice)
    outline = canonical_outline(lattice, rings_of_cells(lattice, lie.cells), lie.unit)
    lie = replace(lie, score=_likeness(lie, lattice))
    is_near = lie.straight.hausdorff_distance(outline) < 0.2 * lie.unit
    return lie if is_near and lie.score > _ALIKE else None


# --- all bodies together ----------------------------------------------------------------------


def take_in(
    bodies: Sequence[Body], puzzle: PuzzleSet, *units_mm: float
) -> tuple[list[Part], float]:
    """Finds out how bodies stand and lie, which cells they fill and in which unit of length.

    What the set's grid unit may be, one or several, decides in which unit of length the files are,
    and what is assumed of shapes that do not tell the unit from the clearance.

    Returns:
        A part for each body, and the files' unit of length in mm.
    """
    lattice, shapes = puzzle.lattice, _shapes(puzzle)
    ways, explained = list[list[Part]](), list[list[_Lie]]()
    for body in bodies:
        for most in (_DIRECTIONS, 4 * _DIRECTIONS):  # the second as of a tower
            some = ways_to_stand(body, most)
            found = [lie for way in some for lie in _explained(way, lattice, shapes)]
            if any(lie.score > _ALIKE for lie in found):
                break
        ways.append(some)
        explained.append(found)
    expected = [unit_mm / length for length in LENGTHS_MM.values() for unit_mm in units_mm]
    unit = _common_unit(explained, expected)
    lies = [None if unit is None else _lie_of(some, lattice, shapes, unit) for some in explained]
    # What is no piece of the set may still lie on its lattice, with a unit that it may have.
    read = [lie for lie in lies if lie]
    units = [median(lie.unit for lie in read)] if read else expected
    if read and median(lie.score for lie in read) < _SURE and not _is_near(units[0], *expected):
        lies, units = [None] * len(bodies), expected
    for other in units:
        again = [
            lie or next(filter(None, (_by_lattice(way, lattice, other) for way in some)), None)
            for lie, some in zip(lies, ways, strict=True)
        ]
        if sum(lie is not None for lie in again) > len(read) / 2:
            lies = again
            break
    exact = _exact_unit([lie for lie in lies if lie], lattice, expected)
    length_mm = length_mm_of(exact, units_mm) if exact else 1.0
    parts = [
        (lie and _part(lie, lattice, exact, length_mm)) or _unread(some, length_mm)
        for lie, some in zip(lies, ways, strict=True)
    ]
    return parts, length_mm


def _part(lie: _Lie, lattice: Lattice, unit: float | None, length_mm: float) -> Part | None:
    """A body as it lies, measured with the set's grid unit; None when its edges do not suit that.

    It is turned by the lattice so that it lies alike however it was turned in its file.
    """
    move = least_turn(lattice, lie.cells)
    angle = 2 * math.pi * move.turns / len(lattice.moves(False))
    origin, cells = _rotation(-angle) @ lie.origin, frozenset(map(move, lie.cells))
    lie = replace(lie, turn=lie.turn - angle, origin=origin, cells=cells)
    lie = _fitted(lie, lattice, unit)
    if not -0.04 < lie.inset / lie.unit < 0.12:
        return None
    vertices = lie.way.vertices * length_mm
    vertices[:, :2] = vertices[:, :2] @ _rotation(lie.turn).T - lie.origin * length_mm
    rings = rings_of_cells(lattice, lie.cells)
    least, most = lie.edge_insets
    outline = Outline(
        cells=lie.cells,
        rings=rings,
        unit_mm=lie.unit * length_mm,
        own_unit_mm=lie.own_unit * length_mm if lie.own_unit else None,
        inset_mm=lie.inset * length_mm,
        edge_insets_mm=(least * length_mm, most * length_mm),
        canonical=canonical_outline(lattice, rings, lie.unit * length_mm),
    )
    second = ("another piece", lie.second)
    return replace(lie.way, vertices=vertices, outline=outline, score=lie.score, second=second)


def _unread(ways: Sequence[Part], length_mm: float) -> Part:
    """A body that is no piece: as it stands in its file if it can, else on its largest face."""
    way = next((one for one in ways if one.tilt_degrees < _LAID), ways[0])
    way = way.turned_over() if _back_is_below(way) is False else way
    return replace(way, vertices=way.vertices * length_mm, score=0.0)
