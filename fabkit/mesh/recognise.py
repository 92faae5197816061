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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import median
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Polygon, affinity, maximum_inscribed_circle
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.outline import canonical_outline
from fabkit.mesh.body import Body, Points
from fabkit.mesh.manifold import between, is_solid, shadow_of
from fabkit.mesh.part import LENGTHS_MM, Outline, Part, largest, length_mm_of
from fabkit.mesh.section import DOWN, UP, Sections, filled, hollows
from fabkit.model.lattice import Cell, Lattice
from fabkit.model.piece import at_anchor, orientations
from fabkit.model.polygon import parts_of_cells, rings_of_cells
from fabkit.model.puzzle import PuzzleSet, in_units

#: Faces whose normals are this near (radians) look in one direction, …
_ONE_DIRECTION = 0.03
#: … and so many directions are tried, the largest first, and the one across the whole body.
_DIRECTIONS = 3
#: The last one counts so much less, as do those with more than this part of the level faces
#: farther from both ends than this part of the height.
_NO_FACE, _ON_SIDE, _AT_END = 0.95, 0.3, 0.04
#: Level faces whose heights are this near, as a part of their extent, are of one floor; a floor is
#: flat when its corners stand out of it by less than this part of its breadth, in squares.
_ONE_FLOOR, _FLAT = 0.004, 1e-4
#: Most of an exact flat face looks the same way but for this part.
_EXACT = 1e-9
#: What stands this nearly (radians) upright in its file, or upside down, was laid so on purpose.
_LAID = math.radians(3)
#: Feet and chamfers are looked past: what is seen between these parts of the height.
_LOW, _HIGH = 0.12, 0.88
#: Where open bodies are cut, as parts of their height, to see their outline.
_CUTS = (0.12, 0.3, 0.42, 0.5, 0.62, 0.75, 0.88)
#: Silhouettes are compared when the boxes around them differ by less than this part.
_BOXES = 0.3
#: A hypothesis counts from this overlay on: the common part of both areas.
_LIKELY = 0.8
#: An outline is that of a piece when the overlay is at least this (tips that are cut, discs), …
_ALIKE = 0.86
#: … and surely, whatever its unit, from this on.
_SURE = 0.95
#: A shape that is none of the set's is nowhere farther off its cells than this, in grid units.
_NO_FARTHER = 0.2
#: Pieces of one set are explained about as well as each other.
_NEARLY = 0.08
#: Units that differ by less than this part may be one: clearances and roundings take that much.
_ONE_UNIT = 0.06
#: An inset of more than this part of a grid unit makes small pieces notably smaller.
_MUCH = 0.02
#: A cell is full from this share on, and empty up to what is left to 1.
_FULL = 0.6
#: No piece reaches over more grid units than so many, from corner to corner.
_LONGEST = 64
#: Edges are measured at these parts of their lengths: away from tips and roundings.
_ALONG = np.array([0.3, 0.4, 0.5, 0.6, 0.7])
#: … and so far out of and into the outline, in grid units.
_REACH = 0.2
#: An inset is between these parts of a grid unit.
_INSETS = (-0.04, 0.12)
#: Edges tell what is sought when an error in where they lie grows by no more than this: pieces come
#: to 50, shapes that do not tell the unit from the inset (squares) to what their noise is divided by.
_TELLS = 500
#: Bodies of several sizes tell the unit together when their insets grow with it by amounts that
#: differ by more than this.
_SIZES_DIFFER = 0.05
#: A pocket is told from scratches by its room: a disc of this part of the body's height,
#: or of its breadth if that is less; a magnet's is deeper than a quarter of the height.
_POCKET_ROOM, _DEEP = 0.04, 0.25
#: Pockets are followed down from this part of the height, in such steps, …
_JUST_BELOW, _STEP = 0.02, 0.05
#: … or from where a face begins: this part of what is there halfway up.
_FACE = 0.4


# --- what a body may be laid on ---------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Shape:
    """An outline of the set, in one of the ways its lattice has to turn it, in grid units.

    Attributes:
        cells: moved to the lattice's anchor.
        area: in square grid units.
        length: of all its edges, in grid units.
        centre: its centroid.
        normal: the outline at area 1 about its centroid.
        mirrored: whether it is only there when a piece is turned over.
        kind: pieces of one outline share it, mirror images apart.
    """

    cells: frozenset[Cell]
    area: float
    length: float
    centre: Points
    normal: Polygon
    mirrored: bool
    kind: int


def _shapes(puzzle: PuzzleSet) -> list[_Shape]:
    """Every image of every piece's outline, each once."""
    found: dict[frozenset[Cell], _Shape] = {}
    lattice = puzzle.lattice
    for flips in (False, True):
        for piece in puzzle.pieces:
            images = orientations(lattice, piece, flips)
            kind = len(found)
            for one in images:
                if one.cells not in found:
                    area = canonical_outline(lattice, one.rings, 1.0)
                    centre = np.array(area.centroid.coords[0])
                    found[one.cells] = _Shape(
                        one.cells, area.area, area.length, centre, _normal(area), flips, kind
                    )
    return list(found.values())


def _normal(area: Polygon) -> Polygon:
    """An area brought to size 1, its centroid to the origin."""
    scale = 1 / math.sqrt(area.area)
    x, y = area.centroid.x, area.centroid.y
    return affinity.affine_transform(area, [scale, 0, 0, scale, -scale * x, -scale * y])


# --- how a body may stand and lie -------------------------------------------------------------


class Standing:
    """A body with one of its directions up.

    Args:
        body: as its file has it.
        up: a unit vector of the file.
        trust: how much it counts, up to 1.
        has_face: whether faces look in that direction.
    """

    def __init__(self, body: Body, up: Points, trust: float = 1.0, has_face: bool = True) -> None:
        self.body = body
        self.up = up
        self.trust = trust
        self.has_face = has_face
        self.turn = _turn_to_vertical(up)
        vertices = body.vertices @ self.turn.T
        self.low = float(vertices[:, 2].min()) if len(vertices) else 0.0
        self.vertices = vertices - np.array([0.0, 0.0, self.low])

    @cached_property
    def sections(self) -> Sections:
        """To cut it."""
        return Sections(self.vertices, self.body.faces)

    @property
    def thickness(self) -> float:
        """From the lowest to the highest corner."""
        return float(self.vertices[:, 2].max())

    @cached_property
    def _solid(self) -> Any:
        """For boolean operations; None when the mesh bounds no volume."""
        motion = np.column_stack([self.turn, [0.0, 0.0, -self.low]])
        solid = self.body.manifold
        return solid.transform(motion) if is_solid(solid) else None

    @cached_property
    def sides(self) -> Polygon:
        """Its largest part, seen from above, without what is near its back and its face."""
        if self._solid is None:
            cuts = [self.sections.at(share * self.thickness) for share in _CUTS]
            return largest(shapely.union_all(cuts))
        layer = between(self._solid, _LOW * self.thickness, _HIGH * self.thickness)
        return largest(shadow_of(layer))

    @cached_property
    def back_is_below(self) -> bool | None:
        """Whether the back, into which a magnet goes, is down; None when nothing tells.

        Without a magnet's pocket the back is the side without a letter.
        """
        height = self.thickness
        below, above = (_deepest_pocket(self.sections, way, height) for way in (DOWN, UP))
        if max(below, above) > _DEEP * height:
            return below >= above
        if (below > 0) != (above > 0):
            return above > 0
        return None


def ways_to_stand(body: Body, most: int = _DIRECTIONS) -> list[Standing]:
    """The ways in which a body may stand, upwards in its file, the likeliest first.

    Those in which most of its surface looks, and the one in which it is thinnest as a whole.

    Args:
        body: in any state.
        most: how many of the first kind.
    """
    corners = body.vertices[body.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = np.linalg.norm(normals, axis=1)
    solid = areas > 0
    if not solid.any():
        return [Standing(body, np.array([0.0, 0.0, 1.0]))]
    normals, areas, corners = normals[solid] / areas[solid, None], areas[solid], corners[solid]
    found: list[tuple[Points, float]] = []
    left = np.ones(len(areas), dtype=bool)
    while left.any() and len(found) < most:
        # Neighbours in a coarse grid of directions, opposite ones made one, are summed up first.
        _, cell = np.unique(_coarse(normals[left]), axis=0, return_inverse=True)
        sums = np.bincount(cell.ravel(), areas[left])
        likeliest = [
            normals[left][(cell.ravel() == one).nonzero()[0][0]]
            for one in np.argsort(-sums)[: 2 * most]
        ]
        near = max(
            (left & (np.abs(normals @ one) > math.cos(_ONE_DIRECTION)) for one in likeliest),
            key=lambda some: float(areas[some].sum()),
        )
        left &= ~near
        first = normals[near][areas[near].argmax()]
        # Most of a flat face looks exactly that way; the rest is the beginning of a rounding.
        along = normals @ first
        level = near & (np.abs(along) > math.cos(_ONE_DIRECTION / 10))
        level = level if areas[level].sum() > areas[near].sum() / 2 else near
        up = _across(corners[level], normals[level] * np.sign(along[level])[:, None], areas[level])
        # A piece is level at its ends; on its side it is so at many heights. (Pockets are small.)
        heights = corners[near] @ up
        low, high = float((corners @ up).min()), float((corners @ up).max())
        inner = np.minimum(heights - low, high - heights).min(axis=1) > _AT_END * (high - low)
        is_on_side = areas[near][inner].sum() > _ON_SIDE * areas[near].sum()
        found.append((up, _NO_FACE if is_on_side else 1.0))
    middles = corners.mean(axis=1)
    spread = (middles - np.average(middles, axis=0, weights=areas)) * np.sqrt(areas)[:, None]
    thin = np.linalg.eigh(spread.T @ spread)[1][:, 0]
    if all(abs(thin @ up) < 1 - _ONE_DIRECTION**2 for up, _ in found):
        found.append((thin, _NO_FACE))
    return [
        Standing(body, up if up[2] >= -1e-9 else -up, trust, up is not thin) for up, trust in found
    ]


def _across(corners: Points, normals: Points, areas: NDArray[np.float64]) -> Points:
    """The unit vector across faces that are level: so that each of their heights is one.

    The mean of their normals is as good while corners are exact; noise turns small faces, and
    moves heights by no more than itself.

    Args:
        corners: shape (n, 3, 3).
        normals: all to one side, shape (n, 3).
        areas: shape (n,).
    """
    same = normals @ normals[areas.argmax()] > 1 - _EXACT
    exact = bool(areas[same].sum() > areas.sum() / 2)
    mean = (normals * areas[:, None])[same if exact else slice(None)].sum(axis=0)
    mean /= np.linalg.norm(mean)
    if exact:
        return np.asarray(mean)
    heights = (corners @ mean).mean(axis=1)
    _, floor = np.unique(np.rint(heights / (_ONE_FLOOR * np.ptp(corners))), return_inverse=True)
    points, weights = corners.reshape(-1, 3), np.repeat(areas, 3)
    floors = np.repeat(floor.ravel(), 3)
    sums = np.bincount(floors, weights)
    middles = [np.bincount(floors, weights * points[:, axis]) / sums for axis in range(3)]
    off = (points - np.column_stack(middles)[floors]) * np.sqrt(weights)[:, None]
    sizes, axes = np.linalg.eigh(off.T @ off)
    if sizes[0] > _FLAT * sizes[1] or abs(axes[:, 0] @ mean) < math.cos(_ONE_DIRECTION):
        return np.asarray(mean)
    return np.asarray(axes[:, 0] * np.sign(axes[:, 0] @ mean))


def _coarse(normals: Points) -> NDArray[np.int64]:
    """Directions on a coarse grid, shape (n, 3), opposite ones made one."""
    rough = np.rint(normals / _ONE_DIRECTION).astype(np.int64)
    first = rough[np.arange(len(rough)), (rough != 0).argmax(axis=1)]
    return np.asarray(rough * np.sign(first)[:, None])


def _turn_to_vertical(up: Points) -> Points:
    """The rotation that carries a direction to the vertical by the shortest way, shape (3, 3)."""
    x, y, z = (float(value) for value in up)
    if z < -1 + 1e-12:
        return np.diag([1.0, -1.0, -1.0])
    factor = 1 / (1 + z)
    return np.array(
        [
            [1 - factor * x * x, -factor * x * y, -x],
            [-factor * x * y, 1 - factor * y * y, -y],
            [x, y, z],
        ]
    )


def _deepest_pocket(sections: Sections, facing: int, height: float) -> float:
    """How deep the pockets go that are open on a side; 0 without any.

    Holes that go all the way through are no pockets.
    """

    def section(part: float) -> BaseGeometry:
        depth = part * height
        return sections.at(sections.high - depth if facing == UP else sections.low + depth)

    def at(part: float) -> list[BaseGeometry]:
        return hollows(section(part))

    breadth = float(np.ptp(sections.vertices[:, :2], axis=0).max())
    room = _POCKET_ROOM * min(height, breadth)
    # What stands out of a face is no part of it.
    middle = filled(sections.at((sections.low + sections.high) / 2)).area
    depth, deepest = _JUST_BELOW, 0.0
    while depth < _DEEP / 2 and filled(section(depth)).area < _FACE * middle:
        depth += _JUST_BELOW
    holes = [hole for hole in at(depth) if maximum_inscribed_circle(hole).length > room]
    while holes and depth < 1 - _STEP:
        below = at(depth + _STEP)
        going_on = [hole for hole in holes if _goes_on(hole, below)]
        if len(going_on) < len(holes):
            deepest = depth
        holes = going_on
        depth += _STEP
    return deepest * height


def _goes_on(hole: BaseGeometry, below: Sequence[BaseGeometry]) -> bool:
    """Whether a hole is there at another height, too."""
    return any(hole.intersection(other).area > 0.5 * hole.area for other in below)


def _turns(silhouette: Polygon, lattice: Lattice) -> list[float]:
    """By how much (radians) a silhouette may be turned against a lattice; its own turns left out."""
    step = _direction_step(lattice)
    rough = silhouette.simplify(2e-4 * max(np.ptp(np.reshape(silhouette.bounds, (2, 2)), axis=0)))
    total = 0j
    for ring in (rough.exterior, *rough.interiors):
        along = np.diff(np.asarray(ring.coords)[:, :2], axis=0)
        angles = np.arctan2(along[:, 1], along[:, 0])
        # Squares of lengths: many short edges of a rounding weigh nothing.
        total += ((along**2).sum(axis=1) * np.exp(2j * math.pi / step * angles)).sum()
    box = np.diff(np.asarray(rough.minimum_rotated_rectangle.exterior.coords)[:2, :2], axis=0)[0]
    first = _first_direction(lattice)
    found: list[float] = []
    for angle in (np.angle(total) / (2 * math.pi) * step, math.atan2(box[1], box[0])):
        turn = (float(angle) - first) % step
        if all(abs((turn - other + step / 2) % step - step / 2) > 0.01 for other in found):
            found.append(turn)
    # A turn that the lattice itself does not have gives another way to lie: along the diagonals.
    count = round(2 * math.pi / len(lattice.moves(False)) / step)
    return [turn + k * step for turn in found for k in range(count)]


def _direction_step(lattice: Lattice) -> float:
    """The angle (radians) between neighbouring directions of a lattice's edges: 90, 45 or 60."""
    return math.pi / len(_angles(lattice))


def _first_direction(lattice: Lattice) -> float:
    """The least angle (radians) of a lattice's edges, from the x axis."""
    step = _direction_step(lattice)
    return min(angle % step for angle in _angles(lattice))


def _angles(lattice: Lattice) -> set[float]:
    """The directions of the edges of cells, in 0 to pi."""
    found = set()
    for cell in lattice.first:
        for edge in lattice.cell_edges(cell):
            (x0, y0), (x1, y1) = in_units(lattice, edge)
            found.add(round(math.atan2(y1 - y0, x1 - x0) % math.pi, 9) % round(math.pi, 9))
    return found


# --- hypotheses -------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Guess:
    """One explanation of one body.

    Attributes:
        standing: which way is up.
        turn: by how much (radians) the lattice is turned.
        shape: which outline of the set it is.
        score: the common part of both outlines at one area: 1 when they are the same.
        unit: the grid unit with which their areas agree, in the file's lengths.
    """

    standing: Standing
    turn: float
    shape: _Shape
    score: float
    unit: float


def _guesses(standing: Standing, lattice: Lattice, shapes: Sequence[_Shape]) -> Iterator[_Guess]:
    """All likely explanations of a standing body, whatever its size."""
    silhouette = standing.sides
    if silhouette.area <= 0:
        return
    # Recesses and letters may be cut through; then they are holes, and no part of the outline.
    whole = Polygon(silhouette.exterior)
    areas = [silhouette, whole] if silhouette.interiors else [silhouette]
    normals = np.array([shape.normal for shape in shapes])
    sizes = _sizes(normals)
    for turn, area in itertools.product(_turns(silhouette, lattice), areas):
        turned = affinity.rotate(_normal(area), -turn, origin=(0, 0), use_radians=True)
        shapely.prepare(turned)
        size = _sizes(np.array([turned]))[0]
        near = np.flatnonzero((np.abs(sizes / size - 1) < _BOXES).all(axis=1))
        common = shapely.area(shapely.intersection(turned, normals[near]))
        for which, score in zip(near.tolist(), (common / (2 - common)).tolist(), strict=True):
            if score > _LIKELY:
                shape = shapes[which]
                unit = math.sqrt(area.area / shape.area)
                yield _Guess(standing, turn, shape, score * standing.trust, unit)


def _guesses_of(
    ways: Sequence[Standing], lattice: Lattice, shapes: Sequence[_Shape]
) -> list[_Guess]:
    return [guess for one in ways for guess in _guesses(one, lattice, shapes)]


def _sizes(areas: NDArray[np.object_]) -> Points:
    bounds = shapely.bounds(areas)
    return np.asarray(bounds[:, 2:] - bounds[:, :2])


def _common_unit(guesses: Sequence[Sequence[_Guess]], expected: Sequence[float]) -> float | None:
    """The unit with which all bodies together are explained best; None when none is.

    Of units that explain as many bodies as pieces of the set, the expected goes first, then the
    better overlays, then the larger unit. (What lies on the quarter-square lattice may also lie,
    turned by 45 degrees, on one 1.41 times as wide.)
    """
    units = sorted(one.unit for some in guesses for one in some if one.score > _ALIKE)
    best: tuple[tuple[int, bool, float, float], float] | None = None
    tried = 0.0
    for unit in units:
        if unit < tried * (1 + _ONE_UNIT / 6):
            continue
        tried = unit
        near = [[one for one in some if _is_near(one.unit, unit)] for some in guesses]
        explained = [max(some, key=lambda one: one.score) for some in near if some]
        explained = [one for one in explained if one.score > _ALIKE]
        if not explained:
            continue
        shown = float(np.median([one.unit for one in explained]))
        is_expected = any(_is_near(shown, one) for one in expected)
        total = round(sum(one.score for one in explained), 2)
        rank = len(explained), is_expected, total, shown
        if best is None or rank > best[0]:
            best = rank, shown
    return best[1] if best else None


def _is_near(one: float, other: float) -> bool:
    return abs(one / other - 1) < _ONE_UNIT


# --- laying a body on the lattice -------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Lie:
    """How a standing body lies on the lattice, in the file's lengths.

    Attributes:
        standing: which way is up.
        turn: radians, by which the lattice is turned.
        origin: where the lattice's origin is in the turned frame.
        unit: the grid unit.
        cells: those that it fills.
        own_unit: the unit that its edges show on their own; None where its shape does not tell.
        inset: by how much its edges lie inside the outline, on average.
        edge_insets: the same for each edge, least and greatest.
        score: how well it is explained.
        margin: by how much better than by any other outline.
        clear: the least share by which one of its cells is full, or one beside them empty.
    """

    standing: Standing
    turn: float
    origin: Points
    unit: float
    cells: frozenset[Cell]
    own_unit: float | None = None
    inset: float = 0.0
    edge_insets: tuple[float, float] = (0.0, 0.0)
    score: float = 0.0
    margin: float = 1.0
    clear: float = 1.0


def _straight(lie: _Lie) -> Polygon:
    """The body's silhouette on the lattice's frame, in the file's lengths."""
    cos, sin = math.cos(lie.turn), math.sin(lie.turn)
    x, y = lie.origin
    return affinity.affine_transform(lie.standing.sides, [cos, sin, -sin, cos, -x, -y])


def _fitted(lie: _Lie, lattice: Lattice, unit: float | None) -> _Lie:
    """The lie, measured along the edges of its cells' outline by least squares.

    An edge lies so far out of its line on the lattice: n . shift + more * k - inset, with the
    outward normal n, the line's exact place k in grid units, and more of a grid unit. Each edge
    counts by the middle one of some points along it, so that a bump does not.

    Args:
        lie: nearly right.
        lattice: the lattice.
        unit: the set's grid unit; None leaves it to this body's edges.
    """
    rings = [np.array(in_units(lattice, ring)) for ring in rings_of_cells(lattice, lie.cells)]
    starts = np.concatenate(rings)
    vectors = np.concatenate([np.roll(ring, -1, axis=0) for ring in rings]) - starts
    lengths = np.linalg.norm(vectors, axis=1)
    outwards = np.column_stack([vectors[:, 1], -vectors[:, 0]]) / lengths[:, None]
    places = (starts * outwards).sum(axis=1)
    for _ in range(4):
        scale = unit or lie.unit
        points = scale * (starts[:, None] + _ALONG[:, None] * vectors[:, None])
        off = _reaching_out(_straight(lie), points, outwards, _REACH * scale)
        kept = np.isfinite(off).sum(axis=1) > len(_ALONG) / 2
        if kept.sum() < 3:
            return lie
        n, middle = outwards[kept], np.nanmedian(off[kept], axis=1)
        weights = np.sqrt(lengths[kept])
        columns = [n[:, 0], n[:, 1], -np.ones(len(n))]
        own = _least_squares([*columns, places[kept]], middle, weights)
        rest = _least_squares(columns, middle, weights)
        if rest is None:  # the edges do not even tell where it lies
            return lie
        if unit is None and own is not None:
            rest = own
            scale += float(own[3])
            middle = middle - own[3] * places[kept]
        insets = n @ rest[:2] - middle
        turn = _lean(off[kept], lengths[kept] * scale)
        lie = replace(
            lie,
            turn=lie.turn + turn,
            origin=_rotation(turn) @ (lie.origin + rest[:2]),
            unit=scale,
            own_unit=None if own is None else scale if unit is None else unit + float(own[3]),
            inset=float(rest[2]),
            edge_insets=(float(insets.min()), float(insets.max())),
        )
        if np.abs(rest[:2]).max() < 1e-7 * scale and abs(turn) < 1e-8:
            break
    return lie


def _reaching_out(
    area: Polygon, points: Points, outwards: Points, reach: float
) -> NDArray[np.float64]:
    """How far an area reaches out of points, straight out; not a number where it does not end.

    Args:
        area: the area.
        points: on edges, shape (edges, points, 2).
        outwards: unit vectors, shape (edges, 2).
        reach: up to which it is looked at, to both sides.
    """
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
    order = np.argsort(slopes)
    heaped = np.cumsum(weights[order])
    return float(slopes[order][np.searchsorted(heaped, heaped[-1] / 2)])


def _rotation(angle: float) -> Points:
    """The matrix that turns points back by an angle."""
    cos, sin = math.cos(angle), math.sin(angle)
    return np.array([[cos, sin], [-sin, cos]])


def _least_squares(
    columns: Sequence[NDArray[np.float64]], right: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """The least squares solution; None when the columns do not tell."""
    matrix = np.column_stack(columns) * weights[:, None]
    if len(right) < len(columns) or np.linalg.cond(matrix) > _TELLS:
        return None
    return np.asarray(np.linalg.lstsq(matrix, right * weights, rcond=None)[0])


def _full_cells(outline: Polygon, lattice: Lattice, unit: float) -> tuple[frozenset[Cell], float]:
    """The cells that an outline fills for more than half, and how full and empty cells are.

    Returns:
        The cells, and the least share by which a cell is full or empty: at least a half.
    """
    steps = np.sqrt([float(squared) for squared in lattice.step_squared])
    bounds = np.reshape(outline.bounds, (2, 2)) / (unit * steps)
    cells = list(_cells_between(lattice, *bounds))
    shapes = shapely.polygons([np.array(lattice.ring(cell)) * steps * unit for cell in cells])
    shapely.prepare(outline)
    share = shapely.area(shapely.intersection(shapes, outline)) / shapely.area(shapes)
    full = frozenset(cell for cell, part in zip(cells, share, strict=True) if part > 0.5)
    return full, float(np.maximum(share, 1 - share).min())


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


def _laid(guess: _Guess, lattice: Lattice) -> _Lie:
    """A guess as it lies on the lattice, measured; its cells are those that it fills."""
    outline = affinity.rotate(guess.standing.sides, -guess.turn, origin=(0, 0), use_radians=True)
    middle = np.array(outline.centroid.coords[0])
    origin = middle - guess.unit * guess.shape.centre
    lie = _Lie(guess.standing, guess.turn, origin, guess.unit, guess.shape.cells)
    lie = _fitted(replace(lie, score=guess.score), lattice, None)
    cells, clear = _full_cells(_straight(lie), lattice, lie.unit)
    if cells != lie.cells and clear >= _FULL and len(parts_of_cells(lattice, cells)) == 1:
        lie = _fitted(replace(lie, cells=cells), lattice, None)
    return replace(lie, clear=clear)


def _by_lattice(standing: Standing, lattice: Lattice, unit: float) -> _Lie | None:
    """How a body lies that is no piece of the set: so that it fills its cells best, by any of them.

    Two long edges, laid on lines of the lattice, tell where it lies.
    """
    best: tuple[float, _Lie] | None = None
    sides = np.ptp(np.reshape(standing.sides.bounds, (2, 2)), axis=0)
    if not standing.sides.area or np.hypot(*sides) > _LONGEST * unit:
        return None
    for turn in _turns(standing.sides, lattice):
        turned = affinity.rotate(standing.sides, -turn, origin=(0, 0), use_radians=True)
        for origin in _origins(turned, lattice, unit):
            lie = _Lie(standing, turn, origin, unit, frozenset())
            cells, clear = _full_cells(_straight(lie), lattice, unit)
            is_better = clear >= _FULL and (best is None or clear > best[0] + 1e-3)
            if cells and is_better and len(parts_of_cells(lattice, cells)) == 1:
                best = clear, replace(lie, cells=cells)
    if best is None:
        return None
    return _if_filled(_fitted(best[1], lattice, None), lattice)


def _if_filled(lie: _Lie, lattice: Lattice) -> _Lie | None:
    """The lie of a body that is no piece of the set, with its score; None if it is not its cells."""
    outline = canonical_outline(lattice, rings_of_cells(lattice, lie.cells), lie.unit)
    body = _straight(lie)
    score = float(outline.intersection(body).area / outline.union(body).area)
    is_it = score > _ALIKE and body.hausdorff_distance(outline) < _NO_FARTHER * lie.unit
    return replace(lie, score=score) if is_it else None


def _origins(outline: Polygon, lattice: Lattice, unit: float) -> Iterator[Points]:
    """Where the lattice's origin may be for two of an outline's edges to lie on its lines."""
    ring = np.asarray(outline.simplify(0.01 * unit).exterior.coords)[:, :2]
    vectors = np.diff(ring, axis=0)
    lengths = np.linalg.norm(vectors, axis=1)
    order = np.argsort(-lengths)
    ways = vectors / lengths[:, None]
    one = order[0]
    other = next((i for i in order if abs(ways[one] @ (ways[i] * [1, -1])[::-1]) > 0.5), None)
    if other is None:
        return
    normals = np.column_stack([ways[:, 1], -ways[:, 0]])[[one, other]]
    offsets = (ring[[one, other]] * normals).sum(axis=1)
    lines = [_lines(lattice, normal) for normal in normals]
    steps = np.sqrt([float(squared) for squared in lattice.step_squared])
    seen = set()
    for both in itertools.product(*lines):
        origin = np.linalg.solve(normals, offsets - unit * np.array(both))
        key = _modulo(lattice, np.round(origin / (unit * steps), 2))
        if key not in seen:
            seen.add(key)
            yield origin


def _modulo(lattice: Lattice, point: Points) -> tuple[float, float]:
    """A place of the frame modulo the lattice's translations."""
    (ux, _), (vx, vy) = lattice.basis
    rows = math.floor(round(point[1] / vy, 3))
    x, y = point[0] - rows * vx, point[1] - rows * vy
    return round(x - ux * math.floor(round(x / ux, 3)), 1), round(y, 1)


def _lines(lattice: Lattice, normal: Points) -> list[float]:
    """How far out the lattice's lines with some normal lie, over two grid units."""
    found = set()
    for cell in _cells_between(lattice, np.array([0.0, 0.0]), np.array([12.0, 12.0])):
        for edge in lattice.cell_edges(cell):
            (x0, y0), (x1, y1) = in_units(lattice, edge)
            way = np.array([y1 - y0, x0 - x1]) / math.hypot(x1 - x0, y1 - y0)
            if way @ normal > 0.99:
                found.add(round(float(way @ (x0, y0)), 6))
    least = min(found, default=0.0)
    return sorted(one for one in found if one < least + 2.01)


# --- all bodies together ----------------------------------------------------------------------


def take_in(
    bodies: Sequence[Body], puzzle: PuzzleSet, *units_mm: float
) -> tuple[list[Part], float]:
    """Finds out how bodies stand and lie, which cells they fill and in which unit of length.

    Args:
        bodies: the parts of a set, or some of them.
        puzzle: the set.
        units_mm: what its grid unit may be, at least one. They decide in which unit of length the
            files are, and what is assumed of shapes that do not tell the unit from the clearance.

    Returns:
        A part for each body, and the files' unit of length in mm.
    """
    lattice, shapes = puzzle.lattice, _shapes(puzzle)
    standing = [ways_to_stand(body) for body in bodies]
    guesses = [_guesses_of(some, lattice, shapes) for some in standing]
    for at, body in enumerate(bodies):
        if not any(guess.score > _ALIKE for guess in guesses[at]):  # as of a tower
            standing[at] = ways_to_stand(body, 4 * _DIRECTIONS)
            guesses[at] = _guesses_of(standing[at], lattice, shapes)
    expected = [unit_mm / length for length in LENGTHS_MM.values() for unit_mm in units_mm]
    unit = _common_unit(guesses, expected)
    lies: list[_Lie | None] = [None] * len(bodies)
    if unit is not None:
        lies = [_best(some, lattice, shapes, unit) for some in guesses]
        shown = _exact_unit([lie for lie in lies if lie], lattice, expected) or unit
        inset = median([lie.inset for lie in lies if lie] or [0.0])
        if inset > _MUCH * shown:  # then small pieces look smaller than large ones
            lies = [_best(some, lattice, shapes, shown, inset) for some in guesses]
    scores = [lie.score for lie in lies if lie]
    is_expected = unit is not None and any(_is_near(unit, one) for one in expected)
    if not scores or (median(scores) < _SURE and not is_expected):
        # Bodies that are no pieces of the set may still lie on its lattice, with a unit it may have.
        for other in expected:
            found = _all_by_lattice([None] * len(bodies), standing, lattice, other)
            if sum(one is not None for one in found) > len(scores) / 2:
                lies = found
                break
    elif len(scores) < len(bodies):
        usual = median(lie.unit for lie in lies if lie)
        lies = _all_by_lattice(lies, standing, lattice, usual)
    exact = _exact_unit([lie for lie in lies if lie], lattice, expected)
    length_mm = length_mm_of(exact, units_mm) if exact else 1.0
    read = [
        _part(
            body,
            ways,
            lie and _fitted(_always_alike(lie, lattice), lattice, exact),
            lattice,
            length_mm,
        )
        for body, ways, lie in zip(bodies, standing, lies, strict=True)
    ]
    return read, length_mm


def _all_by_lattice(
    lies: Sequence[_Lie | None],
    standing: Sequence[Sequence[Standing]],
    lattice: Lattice,
    unit: float,
) -> list[_Lie | None]:
    """The lies, those that are missing found by the lattice alone."""
    return [
        lie or next(filter(None, (_by_lattice(way, lattice, unit) for way in ways)), None)
        for lie, ways in zip(lies, standing, strict=True)
    ]


def _best(
    guesses: Sequence[_Guess],
    lattice: Lattice,
    shapes: Sequence[_Shape],
    unit: float,
    inset: float = 0.0,
) -> _Lie | None:
    """The best explanation of one body with the set's unit; None when it is no piece of the set.

    Args:
        guesses: all of the body.
        lattice: the lattice.
        shapes: the set's.
        unit: the grid unit.
        inset: by how much its edges lie inside the outlines, as far as that is known.
    """

    def has_size(one: _Guess) -> bool:
        shape = one.shape
        less = shape.length * inset / (shape.area * unit)
        return _is_near(one.unit, unit * math.sqrt(max(0.1, 1 - less)))

    near = [one for one in guesses if has_size(one)]
    best = max(near, key=lambda one: one.score, default=None)
    if best is None:
        return None
    if _is_upside_down(best):
        turned = Standing(best.standing.body, -best.standing.up)
        again = [one for one in _guesses(turned, lattice, shapes) if has_size(one)]
        near = [one for one in near if one.standing is not best.standing] + again
        best = max(again, key=lambda one: one.score, default=best)
    others = [one.score for one in near if one.shape.kind != best.shape.kind]
    as_good = [
        one
        for one in near
        if one.shape.kind == best.shape.kind
        and one.score > best.score - 0.02
        and one.standing is best.standing
    ]
    lies = [_laid(one, lattice) for one in as_good[:4]]
    lie = min(lies, key=_unlike)
    if lie.clear < _FULL and lie.score < _SURE:
        return None
    if at_anchor(lattice, lie.cells) not in {shape.cells for shape in shapes}:
        return _if_filled(lie, lattice)
    return replace(lie, margin=best.score - max(others, default=0.0))


def _unlike(lie: _Lie) -> float:
    """How much of a body, or of the cells that it fills, is not the other."""
    return lie.edge_insets[1] - lie.edge_insets[0]


def _is_upside_down(guess: _Guess) -> bool:
    """Whether a body is to be turned over before it is looked at.

    Pockets tell. Where there are none, it lies as in its file if it was laid flat there; else as
    its piece is drawn.
    """
    standing = guess.standing
    if standing.back_is_below is not None:
        return not standing.back_is_below
    return guess.shape.mirrored and standing.up[2] < math.cos(_LAID)


def _exact_unit(lies: Sequence[_Lie], lattice: Lattice, expected: Sequence[float]) -> float | None:
    """The grid unit that bodies show: by their own edges; else that with which they have one inset.

    Where they are all of one size, it is the expected one that is nearest.
    """
    if not lies:
        return None
    best = max(lie.score for lie in lies) - _NEARLY
    # What is explained far worse than the others may be no piece, and tells nothing.
    shown = [lie.own_unit for lie in lies if lie.own_unit and lie.score > best]
    if shown:
        return float(np.median(shown))
    unit = lies[0].unit
    here, there = (
        np.array([_fitted(lie, lattice, size).inset for lie in lies])
        for size in (unit, 1.02 * unit)
    )
    slopes = (there - here) / (0.02 * unit)
    spread = slopes - slopes.mean()
    if np.abs(spread).max() >= _SIZES_DIFFER:
        return float(unit - (spread @ (here - here.mean())) / (spread @ spread))
    return (
        min(expected, key=lambda one: abs(one / unit - 1))
        if any(_is_near(unit, one) for one in expected)
        else unit
    )


def _always_alike(lie: _Lie, lattice: Lattice) -> _Lie:
    """The lie, turned by the lattice so that a body lies alike however it was turned in its file."""
    moves = lattice.moves(False)
    move = min(moves, key=lambda one: sorted(at_anchor(lattice, map(one, lie.cells))))
    angle = 2 * math.pi * move.turns / len(moves)
    return replace(
        lie,
        turn=lie.turn - angle,
        origin=_rotation(-angle) @ lie.origin,
        cells=frozenset(map(move, lie.cells)),
    )


def _part(
    body: Body, ways: Sequence[Standing], lie: _Lie | None, lattice: Lattice, length_mm: float
) -> Part:
    standing = lie.standing if lie else _as_it_stands(ways)
    tilt = math.degrees(math.acos(min(1.0, max(-1.0, float(standing.up[2])))))
    if lie is None or not _INSETS[0] < lie.inset / lie.unit < _INSETS[1]:
        return Part(body, standing.vertices * length_mm, tilt_degrees=tilt)
    straight = standing.vertices.copy()
    straight[:, :2] = standing.vertices[:, :2] @ _rotation(lie.turn).T - lie.origin
    rings = rings_of_cells(lattice, lie.cells)
    canonical = canonical_outline(lattice, rings, lie.unit * length_mm)
    part = Part(body, straight * length_mm, tilt_degrees=tilt)
    outline = Outline(
        cells=lie.cells,
        rings=rings,
        unit_mm=lie.unit * length_mm,
        own_unit_mm=lie.own_unit * length_mm if lie.own_unit else None,
        inset_mm=lie.inset * length_mm,
        edge_insets_mm=(lie.edge_insets[0] * length_mm, lie.edge_insets[1] * length_mm),
        canonical=canonical,
        hausdorff_mm=float(part.shadow.hausdorff_distance(canonical)),
        area_off=part.shadow.area / canonical.area - 1,
    )
    second = "another piece", lie.score - lie.margin
    return replace(part, outline=outline, score=lie.score, second=second)


def _as_it_stands(ways: Sequence[Standing]) -> Standing:
    """How a body stands that is no piece: as in its file if it can, else on its largest face."""
    laid = [one for one in ways if one.up[2] > math.cos(_LAID)]
    standing = (laid or ways)[0]
    over = standing.back_is_below is False
    return Standing(standing.body, -standing.up) if over else standing
