"""Fitting flat pieces to the lattice: which side is up, unit, rotation, and which piece it is.

No single feature decides, since a fillet, a taper or noise could mimic it. Each mesh gets
hypotheses: a few directions that may be up, with rotations that suit its edges. Each is scored by the
overlap of the mesh's silhouette with the outlines of the set's pieces, both scaled to one area. The
grid unit is the one that fits all meshes together best, and with it the best hypothesis of each mesh
wins. A mesh that is not a piece of the set is fitted by the cells of the lattice that it fills. Only
then is anything measured: along each edge of the outline, by least squares (`_refined`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import median

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import LineString, Polygon, affinity, union_all
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.outline import canonical_outline
from fabkit.mesh.mesh import Mesh, Orientation, Points
from fabkit.mesh.part import LENGTH_UNITS_MM, Outline, Part, length_unit_mm
from fabkit.mesh.section import holes_in
from fabkit.model.lattice import Cell, Lattice, Point
from fabkit.model.piece import canonical_turn, orientations
from fabkit.model.polygon import parts_of_cells, rings_of_cells
from fabkit.model.puzzle import PuzzleSet, to_units

#: How many directions may be up: first try, and second try for tall parts.
_DIRECTIONS = 3, 12
#: A mesh this close (degrees) to upright or upside down in its file is so on purpose.
_UPRIGHT_DEGREES = 3.0
#: An outline is that of a piece if the overlap is at least this (cut tips, discs).
_ALIKE = 0.86
#: The minimum overlap of an outline that is placed with the set's unit.
_THERE = 0.88
#: From this overlap on, an outline is certainly that of a piece, whatever its unit.
_SURE = 0.95
#: Units that differ by less than this part may be equal: clearances and fillets account for it.
_ONE_UNIT = 0.06
#: Edges are measured at these parts of their lengths, away from tips and fillets.
_ALONG = np.array([0.3, 0.4, 0.5, 0.6, 0.7])


# --- target shapes ---------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _TargetShape:
    """An outline of the set in one orientation of its lattice, in grid units."""

    cells: frozenset[Cell]  # moved to the lattice's anchor
    outline: Polygon
    normal: BaseGeometry
    mirrored: bool  # whether it exists only with the piece turned over
    kind: int  # shared by pieces with this outline, but not by mirror images


def _target_shapes(puzzle: PuzzleSet) -> list[_TargetShape]:
    """All orientations of all outlines, each once."""
    shapes: dict[frozenset[Cell], _TargetShape] = {}
    for flips, piece in itertools.product((False, True), puzzle.pieces):
        kind = len(shapes)
        for image in orientations(puzzle.lattice, piece, flips):
            if image.cells not in shapes:
                outline = canonical_outline(puzzle.lattice, image.rings, 1.0)
                shapes[image.cells] = _TargetShape(
                    image.cells, outline, normalized(outline), flips, kind
                )
    return list(shapes.values())


def normalized(area: BaseGeometry, turn: float = 0.0) -> BaseGeometry:
    """Normalize an area: rotated back by an angle (radians), scaled to 1, centred on the origin."""
    matrix = _rotation(turn) / math.sqrt(area.area)
    x, y = matrix @ area.centroid.coords[0]
    return affinity.affine_transform(area, [*matrix.ravel(), -x, -y])


def similarities(area: BaseGeometry, others: NDArray[np.object_]) -> list[float]:
    """The intersection over union of a normalized area with each of several others.

    It is 0 for those with bounding boxes of another size.
    """
    shapely.prepare(area)
    near = np.abs(shapely.bounds(others) - area.bounds).max(axis=1) < 0.3
    common = np.zeros(len(others))
    common[near] = shapely.area(shapely.intersection(area, others[near]))
    return [float(share) for share in common / (2 - common)]


def _rotation(angle: float) -> Points:
    """The matrix that rotates points back by an angle."""
    cos, sin = math.cos(angle), math.sin(angle)
    return np.array([[cos, sin], [-sin, cos]])


def _back_is_below(part: Part) -> bool | None:
    """Whether the back, the side with recesses, is down; None if nothing shows it.

    Without a magnet's pocket, the back is the side without a letter. Pockets that open at one of
    the first three heights and extend over one or two of the next are shallow, like letters;
    scratches have no room for a disc.
    """
    height = part.sections.high
    room = 0.04 * min(height, np.ptp(part.vertices[:, :2], axis=0).max())
    shares = (0.02, 0.05, 0.1, 0.25, 0.4, 0.6, 0.75, 0.9, 0.95, 0.98)
    cuts = [union_all(holes_in(part.sections.at(share * height))) for share in shares]
    through = shapely.intersection_all(cuts)

    def depth(cuts: Sequence[BaseGeometry]) -> int:
        """The number of heights with pockets open on the first side; 0 without any."""
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
    """Candidate rotations (radians) of a silhouette from the lattice, up to the lattice's own."""
    edges = (to_units(lattice, edge) for cell in lattice.first for edge in lattice.cell_edges(cell))
    angles = {round(math.atan2(y1 - y0, x1 - x0) % math.pi, 9) for (x0, y0), (x1, y1) in edges}
    step = math.pi / len(angles)  # between neighbouring directions of its edges
    rough = silhouette.simplify(2e-4 * max(np.ptp(np.reshape(silhouette.bounds, (2, 2)), axis=0)))
    box = rough.minimum_rotated_rectangle.exterior
    turns: list[float] = []
    for rings in ((rough.exterior, *rough.interiors), (LineString(box.coords[:2]),)):
        edge_vectors = np.concatenate([np.diff(np.asarray(ring.coords), axis=0) for ring in rings])
        phases = np.arctan2(edge_vectors[:, 1], edge_vectors[:, 0]) * 2 * math.pi / step
        # Squared lengths: the many short edges of a fillet have no weight.
        total = ((edge_vectors**2).sum(axis=1) * np.exp(1j * phases)).sum()
        turn = (float(np.angle(total)) / (2 * math.pi) * step - min(angles)) % step
        if all(abs((turn - other + step / 2) % step - step / 2) > 0.01 for other in turns):
            turns.append(turn)
    # A rotation that is not the lattice's own gives another orientation: along the diagonals.
    count = round(2 * math.pi / len(lattice.moves(False)) / step)
    return [turn + k * step for turn in turns for k in range(count)]


# --- hypotheses -------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Fit:
    """A hypothesis: a mesh placed on the lattice, in the file's unit of length."""

    part: Part  # as oriented
    turn: float  # rotation of the lattice, in radians
    origin: Points  # of the lattice, in the rotated frame
    unit: float  # the grid unit: first from the areas, then as measured
    cells: frozenset[Cell]
    score: float = 0.0  # intersection over union of both outlines at equal area
    shape: _TargetShape | None = None  # None if it is not a piece of the set
    runner_up: float = 0.0  # the score of the next best outline
    own_unit: float | None = None  # from its edges alone; None if its shape does not determine it
    inset: float = 0.0  # mean inset of its edges from the outline
    edge_insets: tuple[float, float] = (0.0, 0.0)  # smallest and largest

    @property
    def aligned(self) -> Polygon:
        """The mesh's silhouette on the lattice's frame."""
        return affinity.affine_transform(
            self.part.sides, [*_rotation(self.turn).ravel(), *-self.origin]
        )


class _Stand:
    """A mesh in one of its orientations, and what it shows there, whatever its size."""

    def __init__(self, part: Part, lattice: Lattice, shapes: Sequence[_TargetShape]) -> None:
        self.part = part
        self._lattice = lattice
        self._shapes = shapes

    @cached_property
    def turns(self) -> list[float]:
        """The candidate rotations (radians) from the lattice."""
        return _turns(self.part.sides, self._lattice)

    @cached_property
    def turned(self) -> list[Polygon]:
        """The silhouette in each of these rotations."""
        return [
            affinity.rotate(self.part.sides, -turn, origin=(0, 0), use_radians=True)
            for turn in self.turns
        ]

    @cached_property
    def hypotheses(self) -> list[_Fit]:
        """All likely hypotheses on which piece it is."""
        sides = self.part.sides
        if sides.is_empty:
            return []
        # Recesses and letters may be cut through; then they are holes, but not part of the outline.
        areas = [sides, Polygon(sides.exterior)][: 1 + len(sides.interiors)]
        normals = np.array([shape.normal for shape in self._shapes])
        fits = []
        for turn, area in itertools.product(self.turns, areas):
            middle = _rotation(turn) @ area.centroid.coords[0]
            alike = similarities(normalized(area, turn), normals)
            for shape, score in zip(self._shapes, alike, strict=True):
                if score > 0.8:
                    unit = math.sqrt(area.area / shape.outline.area)
                    origin = middle - unit * np.array(shape.outline.centroid.coords[0])
                    weighted = score * self.part.score
                    fits.append(_Fit(self.part, turn, origin, unit, shape.cells, weighted, shape))
        return fits


class _Candidate:
    """A mesh that may be a piece: what it shows, whatever the grid unit and the unit of length.

    Attributes:
        stands: its likely orientations.
        hypotheses: on which piece it is.
    """

    def __init__(
        self,
        mesh: Mesh,
        grid: _CellGrid,
        shapes: Sequence[_TargetShape],
        twin: _Candidate | None = None,
    ) -> None:
        self.mesh = mesh
        self._grid = grid
        self._twin = twin  # congruent, and like no piece: what it does not fit, this does not
        self._by_cells: dict[float, _Fit | None] = {}
        stands: dict[Orientation, _Stand] = {}
        for count in _DIRECTIONS:
            ways = mesh.orientations.likely(count)
            for way in (way for way in ways if way not in stands):
                part = Part(mesh, way.vertices, tilt_degrees=way.tilt_degrees, score=way.weight)
                stands[way] = _Stand(part, grid.lattice, shapes)
            self.stands = [stands[way] for way in ways]
            fits = [] if twin else [stand.hypotheses for stand in self.stands]
            self.hypotheses = list(itertools.chain.from_iterable(fits))
            self.is_like_a_piece = any(fit.score > _ALIKE for fit in self.hypotheses)
            if self.is_like_a_piece:
                break

    def fit_by_cells(self, unit: float) -> _Fit | None:
        """The fit as a shape that is not in the set, with a grid unit; None if it fills no cells."""
        if self._twin and self._twin.fit_by_cells(unit) is None:
            return None
        if unit not in self._by_cells:
            fits = (_fit_unknown(stand, self._grid, unit) for stand in self.stands)
            self._by_cells[unit] = next(filter(None, fits), None)
        return self._by_cells[unit]

    @cached_property
    def unfitted(self) -> Part:
        """The part of an unknown mesh: as in its file if it is upright, else on its largest face."""
        parts = [stand.part for stand in self.stands]
        upright = [part for part in parts if part.tilt_degrees < _UPRIGHT_DEGREES]
        part = (upright or parts)[0]
        return replace(part.turned_over() if _back_is_below(part) is False else part, score=0.0)


def _common_unit(fits: Sequence[Sequence[_Fit]], expected: Sequence[float]) -> float | None:
    """The unit that fits all meshes together best; None if none fits any.

    Among units that explain as many meshes as pieces of the set, the expected one comes first, then
    the better overlaps, then the larger unit. (A piece on the quarter-square lattice may also be,
    rotated by 45 degrees, on one 1.41 times as wide.)
    """
    likely = [[fit for fit in mesh_fits if fit.score > _ALIKE] for mesh_fits in fits]
    ranks = []
    tried = 0.0
    for unit in sorted(fit.unit for mesh_fits in likely for fit in mesh_fits):
        if unit > tried * (1 + _ONE_UNIT / 6):
            tried = unit
            near = [[fit for fit in mesh_fits if _is_near(fit.unit, unit)] for mesh_fits in likely]
            best = [max(mesh_fits, key=lambda fit: fit.score) for mesh_fits in near if mesh_fits]
            fitted = median(fit.unit for fit in best)
            total = round(sum(fit.score for fit in best), 2)
            ranks.append((len(best), _is_near(fitted, *expected), total, fitted))
    return max(ranks)[-1] if ranks else None


def _is_near(unit: float, *others: float) -> bool:
    return any(abs(unit / other - 1) < _ONE_UNIT for other in others)


def _best_fit(
    fits: Sequence[_Fit], lattice: Lattice, shapes: Sequence[_TargetShape], unit: float
) -> _Fit | None:
    """The best fit of a mesh with the set's unit; None if it is not a piece."""

    def near_unit(fits: Iterable[_Fit]) -> list[_Fit]:
        # A clearance takes most from small pieces, which therefore suggest a smaller unit.
        return [fit for fit in fits if 0.9 < fit.unit / unit < 1 + _ONE_UNIT]

    near = near_unit(fits)
    best = max(near, key=lambda fit: fit.score, default=None)
    if best is None or best.shape is None or best.score < _ALIKE:
        return None
    is_back = _back_is_below(best.part)
    if is_back is None and best.part.tilt_degrees > _UPRIGHT_DEGREES:
        is_back = not best.shape.mirrored  # not oriented on purpose: orient it as drawn
    if is_back is False:
        over = replace(best.part.turned_over(), score=1.0)
        again = near_unit(_Stand(over, lattice, shapes).hypotheses)
        near = [fit for fit in near if fit.part is not best.part] + again
        best = max(again, key=lambda fit: fit.score, default=best)
    kind = best.shape and best.shape.kind
    others = [fit.score for fit in near if fit.shape and fit.shape.kind != kind]
    fit = _refined(best, lattice, unit)
    fit = replace(fit, runner_up=max(others, default=0.0))
    return fit if _overlap_ratio(fit, lattice) > _THERE else None


# --- measuring --------------------------------------------------------------------------------


def _refined(fit: _Fit, lattice: Lattice, unit: float | None = None) -> _Fit:
    """The fit, measured along the edges of its cells' outline by least squares.

    The distance of an edge outwards from its line on the lattice is n . shift - inset + more * k,
    with the outward normal n, the line's exact position k in grid units, and the excess `more` of a
    grid unit. Each edge counts by the median of several points along it, so that a bump does not
    matter. Without the set's grid unit, the edges of this mesh determine it.
    """
    rings = [np.array(to_units(lattice, ring)) for ring in rings_of_cells(lattice, fit.cells)]
    starts = np.concatenate(rings)
    vectors = np.concatenate([np.roll(ring, -1, axis=0) for ring in rings]) - starts
    lengths = np.linalg.norm(vectors, axis=1)
    outwards = np.column_stack([vectors[:, 1], -vectors[:, 0]]) / lengths[:, None]
    columns = np.column_stack([outwards, -np.ones(len(starts)), (starts * outwards).sum(axis=1)])
    for _ in range(4):
        scale = unit or fit.unit
        points = scale * (starts[:, None] + _ALONG[:, None] * vectors[:, None])
        off = _edge_offsets(fit.aligned, points, outwards, 0.2 * scale)
        kept = np.isfinite(off).sum(axis=1) > len(_ALONG) / 2
        matrix, middle = columns[kept], np.median(np.nan_to_num(off[kept]), axis=1)
        weights = np.sqrt(lengths[kept])
        own = _least_squares(matrix, middle, weights)
        rest = _least_squares(matrix[:, :3], middle, weights)
        if rest is None:  # the edges do not even determine its position
            return fit
        own_unit = None if own is None else scale + float(own[3])
        if unit is None and own is not None and own_unit is not None:
            rest, scale, middle = own[:3], own_unit, middle - own[3] * matrix[:, 3]
        insets = matrix[:, :2] @ rest[:2] - middle
        turn = _skew(off[kept], lengths[kept] * scale)
        fit = replace(
            fit,
            turn=fit.turn + turn,
            origin=_rotation(turn) @ (fit.origin + rest[:2]),
            unit=scale,
            own_unit=own_unit,
            inset=float(rest[2]),
            edge_insets=(float(insets.min()), float(insets.max())),
        )
        if np.abs(rest[:2]).max() < 1e-7 * scale and abs(turn) < 1e-8:
            break
    return fit


def _edge_offsets(
    area: Polygon, points: Points, outwards: Points, reach: float
) -> NDArray[np.float64]:
    """How far an area extends beyond points on edges; NaN where it does not end nearby."""
    flat = points.reshape(-1, 2)
    along = np.repeat(outwards, points.shape[1], axis=0)
    rays = shapely.linestrings(np.stack([flat - reach * along, flat + reach * along], axis=1))
    met, which = shapely.get_coordinates(shapely.intersection(rays, area), return_index=True)
    off = np.full(len(flat), np.nan)
    np.fmax.at(off, which, ((met - flat[which]) * along[which]).sum(axis=1))
    off[np.abs(off) > 0.99 * reach] = np.nan
    return off.reshape(points.shape[:2])


def _skew(off: NDArray[np.float64], lengths: NDArray[np.float64]) -> float:
    """The rotation (radians) of edges: the median, weighted by length.

    A ridge on one side does not affect a median.
    """
    rise = (off[:, :2] - off[:, :-3:-1]).ravel()
    run = np.outer(lengths, _ALONG[::-1][:2] - _ALONG[:2]).ravel()
    known = np.isfinite(rise)
    if not known.any():
        return 0.0
    slopes, weights = rise[known] / run[known], run[known] ** 2
    return float(np.quantile(slopes, 0.5, weights=weights, method="inverted_cdf"))


def _least_squares(
    matrix: NDArray[np.float64], right: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """The least-squares solution; None if it is ill-conditioned.

    The condition number is about 50 for pieces, and far larger for shapes that do not distinguish
    unit and inset (squares).
    """
    matrix = matrix * weights[:, None]
    if len(right) < matrix.shape[1] or np.linalg.cond(matrix) > 500:
        return None
    return np.asarray(np.linalg.lstsq(matrix, right * weights, rcond=None)[0])


def _overlap_ratio(fit: _Fit, lattice: Lattice) -> float:
    """The intersection over union of a mesh and its outline with the same inset."""
    outline = canonical_outline(lattice, rings_of_cells(lattice, fit.cells), fit.unit)
    outline = outline.buffer(-max(0.0, fit.inset), join_style="mitre")
    areas = fit.aligned, Polygon(fit.aligned.exterior)
    return max(float((outline & area).area / (outline | area).area) for area in areas)


def _exact_unit(fits: Sequence[_Fit], lattice: Lattice, expected: Sequence[float]) -> float | None:
    """The grid unit of meshes: by their own edges, else the one that gives all the same inset.

    If all have one size, it is the nearest expected one.
    """
    if not fits:
        return None
    # A mesh that fits far worse than the others may not be a piece, and is ignored.
    minimum_score = max(fit.score for fit in fits) - 0.08
    own_units = [fit.own_unit for fit in fits if fit.own_unit and fit.score > minimum_score]
    if own_units:
        return float(np.median(own_units))
    unit = fits[0].unit
    insets = np.array([_refined(fit, lattice, unit).inset for fit in fits])
    larger_insets = np.array([_refined(fit, lattice, 1.02 * unit).inset for fit in fits])
    slopes = (larger_insets - insets) / (0.02 * unit)
    if np.ptp(slopes) > 0.1:  # so pieces of several sizes determine the unit together
        return float(unit - np.polyfit(slopes, insets, 1)[0])
    nearest = min(expected, key=lambda unit_mm: abs(unit_mm / unit - 1))
    return nearest if _is_near(unit, nearest) else unit


# --- meshes that are not in the set ----------------------------------------------------------------


class _CellGrid:
    """The cells of a lattice as polygons, in grid units.

    Attributes:
        places: where lines along edges of cells intersect, modulo the lattice's translations.
        cell_area: of any cell.
    """

    def __init__(self, lattice: Lattice) -> None:
        self.lattice = lattice
        self.places = np.array(to_units(lattice, _intersections(lattice)))
        self._first = np.array(lattice.first)
        self._rings = np.array([to_units(lattice, lattice.ring(cell)) for cell in self._first])
        self.cell_area = Polygon(self._rings[0]).area
        (self._step,) = np.array(to_units(lattice, [(1, 1)]))
        self._blocks: dict[tuple[range, range], tuple[list[Cell], NDArray[np.object_]]] = {}

    def around(self, bounds: Sequence[float]) -> tuple[list[Cell], NDArray[np.object_]]:
        """The cells that may meet a box, and their polygons."""
        left, low, right, high = bounds
        (ux, _), (vx, vy) = self.lattice.basis
        tall = vy * self._step[1]
        rows = range(math.floor(-high / tall) - 1, math.ceil(-low / tall) + 2)
        columns = range(math.floor(left) - 1, math.ceil(right) + 2)
        if (rows, columns) not in self._blocks:
            away = np.array(
                [(ux * col + vx * (row & 1), -vy * row) for row in rows for col in columns]
            )
            cells = [(x, y) for x, y in (away[:, None] + self._first).reshape(-1, 2).tolist()]
            rings = self._rings + (away * self._step)[:, None, None]
            shapes = shapely.polygons(rings.reshape(-1, *self._rings.shape[1:]))
            self._blocks[rows, columns] = cells, shapes
        return self._blocks[rows, columns]


def _intersections(lattice: Lattice) -> list[Point]:
    """The points, modulo translations, where lines along edges of cells intersect."""
    (ux, uy), (vx, vy) = lattice.basis
    edges = [edge for cell in lattice.first for edge in lattice.cell_edges(cell)]
    step = int(np.gcd.reduce(np.ravel(edges)))
    places = []
    for x, y in itertools.product(range(0, ux, step), range(0, vy, step)):
        directions = set()
        for (from_x, from_y), (to_x, to_y) in edges:
            dx, dy = to_x - from_x, to_y - from_y
            # Images of the line under translations are so far apart, measured in the same way.
            period = math.gcd(dx * uy - dy * ux, dx * vy - dy * vx)
            if (dx * (y - from_y) - dy * (x - from_x)) % period == 0:
                length = math.gcd(dx, dy)
                directions.add(max((dx // length, dy // length), (-dx // length, -dy // length)))
        if len(directions) > 1:
            places.append((x, y))
    return places


def _covered_cells(
    fit: _Fit, grid: _CellGrid, minimum: float
) -> tuple[frozenset[Cell], float] | None:
    """The cells that a mesh fills by more than half, and the smallest share that is full or empty.

    None as soon as a cell has a share that is at most `minimum`.
    """
    outline = affinity.scale(fit.aligned, 1 / fit.unit, 1 / fit.unit, origin=(0, 0))
    cells, shapes = grid.around(outline.bounds)
    shapely.prepare(outline)
    is_full = shapely.contains_properly(outline, shapes)
    smallest = 1.0
    for index in np.flatnonzero(shapely.intersects(outline, shapes) & ~is_full).tolist():
        share = shapes[index].intersection(outline).area / grid.cell_area
        is_full[index] = share > 0.5
        smallest = min(smallest, max(share, 1 - share))
        if smallest <= minimum:
            return None
    return frozenset(itertools.compress(cells, is_full.tolist())), smallest


def _fit_unknown(stand: _Stand, grid: _CellGrid, unit: float) -> _Fit | None:
    """Fit a mesh that is not a piece of the set, so that it fills its cells best.

    The lines of its two longest edges intersect where lines of the lattice do, so there are few
    candidates.
    """
    sides = stand.part.sides
    left, low, right, high = sides.bounds
    # It fills more than half a cell, and no piece extends that far.
    is_large = sides.area > grid.cell_area * unit**2 / 2
    if not is_large or math.hypot(right - left, high - low) > 16 * unit:
        return None
    best: _Fit | None = None
    best_share = 0.6  # the share from which a cell counts as full, or empty
    for turn, turned in zip(stand.turns, stand.turned, strict=True):
        ring = np.asarray(turned.simplify(0.01 * unit).exterior.coords)
        edges = np.diff(ring, axis=0)
        lengths = np.linalg.norm(edges, axis=1)
        normals = np.column_stack([edges[:, 1], -edges[:, 0]]) / lengths[:, None]
        first = lengths.argmax()
        leans = np.abs(normals @ edges[first]) > lengths[first] / 2
        both = [first, (lengths * leans).argmax()]
        offsets = (ring[both] * normals[both]).sum(axis=1)
        corner = np.linalg.lstsq(normals[both], offsets, rcond=None)[0]
        for place in grid.places:
            fit = _Fit(stand.part, turn, corner - unit * place, unit, frozenset())
            covered = _covered_cells(fit, grid, best_share + 1e-3)
            if covered and covered[0] and len(parts_of_cells(grid.lattice, covered[0])) == 1:
                best, best_share = replace(fit, cells=covered[0]), covered[1]
    if best is None:
        return None
    fit = _refined(best, grid.lattice)
    outline = canonical_outline(grid.lattice, rings_of_cells(grid.lattice, fit.cells), fit.unit)
    fit = replace(fit, score=_overlap_ratio(fit, grid.lattice))
    is_near = fit.aligned.hausdorff_distance(outline) < 0.2 * fit.unit
    return fit if is_near and fit.score > _ALIKE else None


# --- all meshes ----------------------------------------------------------------------


class FlatFitter:
    """Fits flat meshes to the lattice of a set: orientation, cells, grid unit and unit of length.

    What a mesh shows is found once, and compared with every grid unit that is tried.
    """

    def __init__(self, puzzle: PuzzleSet) -> None:
        self._grid = _CellGrid(puzzle.lattice)
        self._shapes = _target_shapes(puzzle)
        self._candidates: dict[Mesh, _Candidate] = {}

    def _candidate(self, mesh: Mesh) -> _Candidate:
        if mesh not in self._candidates:
            unlike = [other for other in self._candidates.values() if not other.is_like_a_piece]
            twin = next((other for other in unlike if _are_congruent(other.mesh, mesh)), None)
            self._candidates[mesh] = _Candidate(mesh, self._grid, self._shapes, twin)
        return self._candidates[mesh]

    def fit(self, meshes: Sequence[Mesh], *units_mm: float) -> tuple[list[Part], float]:
        """Fit each mesh, with the candidates `units_mm` for the set's grid unit.

        They determine the files' unit of length, and the grid unit of shapes that do not distinguish
        it from the clearance.

        Returns:
            A part for each mesh, and the files' unit of length in mm.
        """
        lattice, shapes = self._grid.lattice, self._shapes
        expected = [unit_mm / length for length in LENGTH_UNITS_MM.values() for unit_mm in units_mm]
        candidates = list(map(self._candidate, meshes))
        explained = [candidate.hypotheses for candidate in candidates]
        unit = _common_unit(explained, expected)
        fits: list[_Fit | None] = [None] * len(meshes)
        if unit is not None:
            fits = [_best_fit(hypotheses, lattice, shapes, unit) for hypotheses in explained]
        # A mesh that is not a piece of the set may still be on its lattice, with a candidate unit.
        read = [fit for fit in fits if fit]
        units = [median(fit.unit for fit in read)] if read else expected
        if read and median(fit.score for fit in read) < _SURE and not _is_near(units[0], *expected):
            fits, units = [None] * len(meshes), expected
        for other in units:
            again = [
                fit or candidate.fit_by_cells(other)
                for fit, candidate in zip(fits, candidates, strict=True)
            ]
            if sum(fit is not None for fit in again) > len(read) / 2:
                fits = again
                break
        exact = _exact_unit([fit for fit in fits if fit], lattice, expected)
        length_mm = length_unit_mm(exact, units_mm) if exact else 1.0
        parts = [
            (fit and _part(fit, lattice, exact, length_mm)) or _in_mm(candidate.unfitted, length_mm)
            for fit, candidate in zip(fits, candidates, strict=True)
        ]
        return parts, length_mm


def _part(fit: _Fit, lattice: Lattice, unit: float | None, length_mm: float) -> Part | None:
    """The part of a fit, measured with the set's grid unit; None if its edges do not match that.

    It is rotated by the lattice so that it does not depend on the rotation in its file.
    """
    move = canonical_turn(lattice, fit.cells)
    angle = 2 * math.pi * move.turns / len(lattice.moves(False))
    origin, cells = _rotation(-angle) @ fit.origin, frozenset(map(move, fit.cells))
    fit = replace(fit, turn=fit.turn - angle, origin=origin, cells=cells)
    fit = _refined(fit, lattice, unit)
    if not -0.04 < fit.inset / fit.unit < 0.12:
        return None
    vertices = fit.part.vertices * length_mm
    vertices[:, :2] = vertices[:, :2] @ _rotation(fit.turn).T - fit.origin * length_mm
    rings = rings_of_cells(lattice, fit.cells)
    smallest, largest = fit.edge_insets
    outline = Outline(
        cells=fit.cells,
        rings=rings,
        unit_mm=fit.unit * length_mm,
        own_unit_mm=fit.own_unit * length_mm if fit.own_unit else None,
        inset_mm=fit.inset * length_mm,
        edge_insets_mm=(smallest * length_mm, largest * length_mm),
        canonical=canonical_outline(lattice, rings, fit.unit * length_mm),
    )
    second = ("another piece", fit.runner_up)
    return replace(fit.part, vertices=vertices, outline=outline, score=fit.score, runner_up=second)


def _are_congruent(mesh: Mesh, other: Mesh) -> bool:
    """Whether two meshes have the same faces, and one is a rotated or mirrored copy of the other."""
    from scipy.linalg import orthogonal_procrustes

    if not (mesh.vertices.size and np.array_equal(mesh.faces, other.faces)):
        return False
    centred = mesh.vertices - mesh.vertices.mean(axis=0)
    other_centred = other.vertices - other.vertices.mean(axis=0)
    turn, _ = orthogonal_procrustes(centred, other_centred)
    # STL files have single precision.
    return bool(np.abs(centred @ turn - other_centred).max() < 1e-5 * np.ptp(other_centred))


def _in_mm(part: Part, length_mm: float) -> Part:
    """A part in mm, itself if it is already."""
    return part if length_mm == 1.0 else replace(part, vertices=part.vertices * length_mm)
