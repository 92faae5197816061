"""Features of a flat part, found by following open areas through its sections: recesses for magnets,
letters, pole marks, holes and hollows; and protrusions from its back and face."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Point, Polygon, get_coordinates, union_all
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.manifold import trim_mesh
from fabkit.mesh.mesh import Points, welded
from fabkit.mesh.part import Part
from fabkit.mesh.section import DOWN, UP, filled, holes_in, polygons_by_size
from fabkit.mesh.topology import component_labels
from fabkit.profiles.layers import MARK_DIAMETER_MM

#: Kinds of cavities; see `Features`.
_KINDS = "recesses", "releases", "labels", "through", "marks", "hollows", "slits"
#: Indices into a list.
_Positions = NDArray[np.int64]

#: Smaller open areas (mm2) are noise of single precision.
_LEAST_MM2 = 0.02
#: Sections with corners this close are equal.
_SAME_MM = 1e-6
#: A notch in the side is at least as wide as a disc of this diameter (mm).
_NOTCH_MM = 0.8
#: Smaller protrusions (mm) are unevenness of the mesh, not protrusions.
_NUB_MM = 0.02


class Slice(NamedTuple):
    """A cross-section, the heights of the next vertices below and above it, and the typical inset
    of its outline from the part's, due to chamfer, fillet or taper."""

    height_mm: float
    low_mm: float
    high_mm: float
    material: BaseGeometry
    inside_mm: float


@dataclass(frozen=True, eq=False)
class Cavity:
    """An open space inside a part's outline, from one height to another.

    Attributes:
        below, above: whether it is open at the back and at the face.
        cuts: its slices and areas, from low to high.
        beside, in_side: whether it breaks through the side, and whether it is only a notch there.
    """

    low_mm: float
    high_mm: float
    below: bool
    above: bool
    cuts: tuple[tuple[Slice, BaseGeometry], ...]
    beside: bool
    in_side: bool

    @property
    def depth_mm(self) -> float:
        """Its height."""
        return self.high_mm - self.low_mm

    @cached_property
    def middle(self) -> BaseGeometry:
        """Its area halfway up."""
        height = (self.low_mm + self.high_mm) / 2
        return min(self.cuts, key=lambda cut: abs(cut[0].height_mm - height))[1]

    @property
    def lead_in_mm(self) -> float:
        """The width of its lead-in: how much wider the lower rim is, on each side, at 45 degrees."""
        cut, rim = self.cuts[0]
        wider_mm = fit_circle(rim).diameter_mm - fit_circle(self.middle).diameter_mm
        return wider_mm / 2 + cut.height_mm


@dataclass(frozen=True, eq=False)
class Features:
    """The cavities of a part, and its protrusions.

    Attributes:
        cuts: its slices, from low to high.
        recesses: for magnets.
        releases: push-out holes from the ends of recesses to the face.
        labels: letters or parts of them, also raised ones in a pocket.
        through: holes from face to back that are not in the outline.
        marks: dimples that mark south poles, in the back or in the ends of closed recesses.
        hollows: other wide cavities.
        slits: narrow spaces that open neither at the back nor at the face, but may at a chamfer.
        protrusions_mm: the height of protrusions from the back and from the face.
        level: the part without these, its back at height 0; all heights here refer to it.
    """

    cuts: Sequence[Slice]
    recesses: Sequence[Cavity]
    releases: Sequence[Cavity]
    labels: Sequence[Cavity]
    through: Sequence[Cavity]
    marks: Sequence[Cavity]
    hollows: Sequence[Cavity]
    slits: Sequence[Cavity]
    protrusions_mm: tuple[float, float]
    level: Part


def find_features(part: Part) -> Features:
    """Find and classify a part's recesses, letters, marks and holes.

    Fillets, chamfers, slanted sides and holes of the outline are not features.
    """
    part, protrusions_mm = _without_protrusions(without_inlays(part))
    open_ = _Open(part)
    cavities: dict[str, list[Cavity]] = defaultdict(list)
    for space in open_.groups(np.arange(len(open_.areas))):
        for kind, cavity in _classified(part, open_, space):
            cavities[kind].append(cavity)
    # Openings inside raised letters in a pocket are the gaps that they leave.
    pockets = union_all([filled(pocket.middle) for pocket in cavities["pockets"]])
    labels = [label for label in cavities["labels"] if not pockets.contains(label.middle)]
    if any(recess.below for recess in cavities["recesses"]):
        # Only then do magnets go in at the back; otherwise a round pocket may be a full stop.
        cavities["marks"] += [label for label in labels if label.below and _is_mark(label)]
        labels = [label for label in labels if label not in cavities["marks"]]
    cavities["labels"] = [*labels, *cavities["letters"]]
    kinds = {kind: cavities[kind] for kind in _KINDS}
    return Features(cuts=open_.cuts, protrusions_mm=protrusions_mm, level=part, **kinds)


def _classified(part: Part, open_: _Open, space: _Positions) -> Iterator[tuple[str, Cavity]]:
    """Classify the parts of an open space by the names of `Features`.

    Raised letters in a pocket yield ``pockets`` and ``letters``.
    """
    whole = open_.cavity(space)
    if whole.below and whole.above:
        yield from (released := _released(open_, space, part.thickness_mm))
        # The outline's own holes are a tenth of a square unit or more.
        line = part.outline
        in_hole = whole.middle.difference(line.canonical).area / line.unit_mm**2 if line else 0.0
        if not (released or whole.beside or in_hole > 0.1):
            yield "through", whole
        return
    is_closed = not whole.below and not whole.above
    # Steps separate marks and hollows from the rest, which keeps its own steps.
    steps = open_.groups(space, at_steps=True)
    hollows: list[Cavity] = []
    rest = space[:0]
    for step in steps:
        cavity = open_.cavity(step)
        if is_closed and len(steps) > 1 and _is_mark(cavity):
            yield "marks", cavity
        elif _is_hollow(part, cavity):
            hollows.append(cavity)
        else:
            rest = np.union1d(rest, step)
    for positions in open_.groups(rest):
        # If it opens into a hollow, its depth counts from the part's own face.
        cavity = replace(open_.cavity(positions), below=whole.below, above=whole.above)
        cavity = replace(cavity, low_mm=whole.low_mm) if whole.below else cavity
        cavity = replace(cavity, high_mm=whole.high_mm) if whole.above else cavity
        if _is_recess(cavity, part.thickness_mm):
            yield "recesses", cavity
        elif not cavity.in_side:
            is_deep = cavity.depth_mm > part.thickness_mm / 2  # unlike a letter
            # Wide closed ones are not among the features; a rule on the mesh reports them.
            closed = "slits" if _disc_mm(cavity.middle) < _NOTCH_MM else "cavities"
            yield closed if is_closed else "hollows" if is_deep else "labels", cavity
    for hollow in hollows:
        if _is_pocket(hollow) and (letter := _raised_letter(hollow)):
            yield from (("pockets", hollow), ("letters", letter))
        elif not _is_pocket(hollow) or not len(rest):
            yield "hollows", hollow


def _released(open_: _Open, space: _Positions, thickness_mm: float) -> list[tuple[str, Cavity]]:
    """A recess and the narrow push-out hole from its end, round at the face; otherwise nothing."""
    below, *rest = open_.groups(space, at_steps=True)
    if not rest:
        return []
    recess, hole = open_.cavity(below), open_.cavity(np.concatenate(rest))
    end = hole.cuts[-1][1]
    is_narrow = _fills(end) > 0.85 and end.area < recess.middle.area / 2
    is_released = is_narrow and not recess.beside and _is_recess(recess, thickness_mm)
    return [("recesses", recess), ("releases", hole)] if is_released else []


def _slices(part: Part) -> Iterator[Slice]:
    """Sections just above and below the main heights with vertices, ascending.

    Between two such heights every side is straight, so walls are thinnest at these sections. The
    heights are those of level faces, and the dozen others with the most corners: an engraving has
    corners at many heights, where triangles were split, and so do curved sides.
    """
    levels = part.sections.levels()
    main = {height for height, _ in part.sections.flats()} | {levels[0], levels[-1]}
    below = np.searchsorted(levels, part.vertices[:, 2], side="right") - 1
    corners = np.bincount(np.maximum(below, 0), minlength=len(levels))
    others = [i for i in np.argsort(-corners, kind="stable") if levels[i] not in main]
    main |= {levels[i] for i in others[:12]}
    ring = get_coordinates(part.silhouette.exterior)
    sides = shapely.points((ring[1:] + ring[:-1]) / 2)
    for low, high in itertools.pairwise(sorted(main)):
        if high - low < 2 * part.sections.noise_mm:
            continue  # one height, with noise
        near = min(0.01, (high - low) / 4)
        for height in (low + near, high - near):
            material = part.sections.at(height)
            inside = 0.0 if material.is_empty else shapely.distance(sides, filled(material))
            yield Slice(height, low, high, material, float(np.median(inside)))


def _without_protrusions(part: Part) -> tuple[Part, tuple[float, float]]:
    """Remove protrusions from back and face, if the part is solid; and their heights.

    Back and face are where a quarter of the outline is filled.
    """

    low_mm, high_mm = _nub_mm(part, part.sections.low, 1), _nub_mm(part, part.sections.high, -1)
    if low_mm + high_mm and part.aligned.is_solid:
        mesh = trim_mesh(part.aligned, low_mm, part.thickness_mm - high_mm)
        if len(mesh.faces):  # it may be thinner than its protrusions
            part = replace(part, mesh=mesh, vertices=mesh.vertices)
    return part, (low_mm, high_mm)


def _nub_mm(part: Part, end: float, inwards: int) -> float:
    """The height of the protrusion from one end; 0 if there is none."""
    most_mm = part.thickness_mm / 2
    place = part, end, inwards
    if not _more_mm2(_NUB_MM, *place) < 0 <= _more_mm2(most_mm, *place):
        return 0.0
    from scipy.optimize import bisect

    # SciPy's wrapper of the function refers to itself, so a closure would keep the part, and its
    # manifold, which nanobind reports as leaked when Python ends.
    return float(bisect(_more_mm2, _NUB_MM, most_mm, args=place, xtol=1e-4)) + 1e-4


def _more_mm2(away: float, part: Part, end: float, inwards: int) -> float:
    """How much larger a part is, at a distance from one end, than a quarter of its silhouette."""
    section = filled(part.sections.at(end + inwards * away))
    return float(section.area - part.silhouette.area / 4)


def without_inlays(part: Part) -> Part:
    """Remove smaller separate bodies, such as letters inlaid in an engraving."""
    inner = part.shells[1:] if part.aligned.is_solid else ()
    others = [shell.faces for shell in inner if shell.volume_mm3 > 0]
    if not others:
        return part
    kept = np.delete(part.mesh.faces, np.concatenate(others), axis=0)
    mesh = welded(part.name, part.vertices, kept)
    return replace(part, mesh=mesh, vertices=mesh.vertices)


class _Open:
    """The open areas of a part's slices, and their connections."""

    def __init__(self, part: Part) -> None:
        self.cuts = list(_slices(part))
        levels: list[int] = []
        areas: list[BaseGeometry] = []
        is_notch: list[bool] = []
        for level, cut in enumerate(self.cuts):
            for area, breaks_side in _open_areas(part, cut):
                levels.append(level)
                areas.append(area)
                is_notch.append(breaks_side)
        self.levels = np.array(levels, dtype=int)
        self.areas = np.array(areas, dtype=object)
        self.is_notch = np.array(is_notch, dtype=bool)
        pairs = shapely.STRtree(self.areas).query(self.areas).T
        pairs = pairs[np.diff(self.levels[pairs])[:, 0] == 1]
        lower, upper = self.areas[pairs].T
        # Most sides are vertical, and an intersection takes far longer than a comparison.
        differ = ~shapely.equals_exact(lower, upper, _SAME_MM)
        common = shapely.area(lower)
        common[differ] = shapely.area(shapely.intersection(lower[differ], upper[differ]))
        self.pairs = pairs[common > _LEAST_MM2]
        # A step, as from a dimple to a recess, doubles an area; but between slices of one layer
        # sides are straight.
        layers = np.array([cut.low_mm for cut in self.cuts])[self.levels[self.pairs]]
        small, large = np.sort(shapely.area(self.areas[self.pairs]), axis=1).T
        self.is_step = (layers[:, 0] != layers[:, 1]) & (large > 2 * small)

    def groups(self, positions: _Positions, at_steps: bool = False) -> list[_Positions]:
        """Group connected areas, given in order; split at steps or not."""
        pairs = self.pairs[~self.is_step] if at_steps else self.pairs
        pairs = np.searchsorted(positions, pairs[np.isin(pairs, positions).all(axis=1)])
        labels = component_labels(len(positions), pairs)
        return [positions[labels == label] for label in np.unique(labels)]

    def cavity(self, positions: _Positions) -> Cavity:
        """One cavity from connected areas."""
        levels_of = self.levels[positions]
        levels = np.unique(levels_of).tolist()
        areas = [union_all(self.areas[positions[levels_of == level]]) for level in levels]
        cuts = [self.cuts[level] for level in levels]
        notches = self.is_notch[positions]
        return Cavity(
            low_mm=cuts[0].low_mm,
            high_mm=cuts[-1].high_mm,
            below=levels[0] == 0,
            above=levels[-1] == len(self.cuts) - 1,
            cuts=tuple(zip(cuts, areas, strict=True)),
            beside=bool(notches.any()),
            in_side=bool(notches.all()),
        )


def _open_areas(part: Part, cut: Slice) -> Iterator[tuple[BaseGeometry, bool]]:
    """The holes of a slice, and the notches where a cavity breaks through the side; and whether
    each is a notch."""
    yield from ((hole, False) for hole in holes_in(cut.material) if hole.area > _LEAST_MM2)
    # Chamfers, fillets and inclined sides leave a ring open all around, which is not a notch.
    inset = part.silhouette.buffer(-cut.inside_mm, join_style="mitre", mitre_limit=10)
    beside = inset.difference(filled(cut.material)).buffer(-_NOTCH_MM / 2)
    for notch in polygons_by_size(beside):
        yield notch.buffer(_NOTCH_MM / 2 + cut.inside_mm) & part.silhouette, True


def _is_hollow(part: Part, cavity: Cavity) -> bool:
    """Whether a cavity is wider (by a fifth of a unit) than the strokes of letters, and for a
    recess too shallow or not round."""
    unit_mm = part.outline.unit_mm if part.outline else math.sqrt(part.silhouette.area) / 2
    area = filled(cavity.middle) if _is_pocket(cavity) else cavity.middle
    return _disc_mm(area) > 0.2 * unit_mm and not _is_recess(cavity, part.thickness_mm)


def _is_pocket(cavity: Cavity) -> bool:
    """Whether a cavity is a round, mostly open pocket for a raised or engraved letter."""
    disc = filled(cavity.middle)
    return cavity.middle.area > 0.6 * disc.area and _fills(disc) > 0.97


def _raised_letter(pocket: Cavity) -> Cavity | None:
    """The raised letter in a round pocket, as if it were engraved; None if there is none."""
    cuts = []
    for cut, area in pocket.cuts:
        stands = polygons_by_size(filled(area).intersection(cut.material))
        if stands := [stand for stand in stands if stand.area > _LEAST_MM2]:
            cuts.append((cut, union_all(stands)))
    if not cuts:
        return None
    return replace(pocket, low_mm=cuts[0][0].low_mm, high_mm=cuts[-1][0].high_mm, cuts=tuple(cuts))


def _is_mark(cavity: Cavity) -> bool:
    """Whether a cavity is round and small, at most three times as wide as a mark of a pole."""
    width_mm = 2 * shapely.minimum_bounding_radius(cavity.middle)
    is_small = width_mm <= 3 * MARK_DIAMETER_MM and not cavity.beside
    return bool(is_small and _fills(cavity.middle) > 0.85)


def _is_recess(cavity: Cavity, thickness_mm: float) -> bool:
    """Whether a cavity is for a magnet rather than a letter: round, and closed in or deep.

    One that is open at the side has room for a magnet of 2 mm; rounded corners leave less.
    """
    if (cavity.below or cavity.above) and cavity.depth_mm < thickness_mm / 4:
        return False
    if cavity.beside:
        return _disc_mm(cavity.middle) > 2
    return _fills(cavity.cuts[len(cavity.cuts) // 4][1]) > 0.75  # it may have ribs


def _fills(area: BaseGeometry) -> float:
    """The share of its bounding circle that an area fills, a square 0.64; 0 for several polygons."""
    if not isinstance(area, Polygon):
        return 0.0
    return float(area.area / (math.pi * shapely.minimum_bounding_radius(area) ** 2))


def _disc_mm(area: BaseGeometry) -> float:
    """The diameter of the largest disc in an area."""
    radii = map(shapely.length, map(shapely.maximum_inscribed_circle, polygons_by_size(area)))
    return 2 * max(radii, default=0)


def can_be_turned_over(part: Part, features: Features) -> bool:
    """Whether a part can be played on either face: no recess is open, and both faces look alike."""
    front = any(label.above for label in features.labels)
    back = any(label.below for label in features.labels)
    foot_mm, top_mm = (
        part.silhouette.exterior.distance(filled(part.sections.flat(height, facing)).boundary)
        for height, facing in ((0.0, DOWN), (part.thickness_mm, UP))
    )
    is_open = any(recess.below or recess.above for recess in features.recesses)
    return not is_open and front == back and abs(foot_mm - top_mm) <= 0.05


@dataclass(frozen=True)
class FittedCircle:
    """A circle fitted to an outline's vertices by least squares: its centre, its diameter, and twice
    the smallest and the largest distance of the outline from the centre."""

    x_mm: float
    y_mm: float
    diameter_mm: float
    inner_mm: float
    outer_mm: float


def fit_circle(area: BaseGeometry) -> FittedCircle:
    """Fit a circle to the vertices of an area's outline.

    For a recess with crush ribs, only the vertices in the outer half count.

    Example:
        >>> from shapely import Point
        >>> round(fit_circle(Point(3, 4).buffer(5, quad_segs=16)).diameter_mm, 6)
        10.0
    """
    outline = polygons_by_size(filled(area))[0]
    points = get_coordinates(outline)[:-1]
    centre = get_coordinates(outline.centroid)[0]
    radii = np.hypot(*(points - centre).T)
    outer = points[radii >= (radii.min() + radii.max()) / 2] if np.ptp(radii) > 0.1 else points
    middle, radius, _ = fit_sphere((outer if len(outer) >= 3 else points) - centre)
    x, y = (centre + middle).tolist()
    inner, outer = outline.exterior.distance(Point(x, y)), np.hypot(*(points - (x, y)).T).max()
    return FittedCircle(x, y, 2 * radius, 2 * inner, 2 * float(outer))


def fit_sphere(points: Points) -> tuple[Points, float, bool]:
    """Fit a circle or sphere to points near the origin, shape (n, 2 or 3).

    By least squares for |p|^2 = 2 c p + d, with the centre c. Returns centre, radius, and whether the
    points determine them.
    """
    columns = np.column_stack([2 * points, np.ones(len(points))])
    squares = (points**2).sum(axis=1)
    (*middle, rest), _, rank, _ = np.linalg.lstsq(columns, squares, rcond=None)
    squared = float(rest + np.dot(middle, middle))
    is_determined = bool(rank > points.shape[1] and squared > 0)
    return np.array(middle), math.sqrt(max(0.0, squared)), is_determined


def cylinders_mm(areas: Sequence[BaseGeometry]) -> tuple[float, float]:
    """The diameters of the largest vertical cylinder inside a hole, and of the smallest around it.

    They are measured on its polygonal sections, without islands: a hole of 16 sides with its corners
    on a circle of 10.1 mm has room for 9.91 mm.

    Example:
        >>> from shapely import Point, affinity
        >>> recess = Point(3, 4).buffer(5, quad_segs=64)
        >>> [round(mm, 2) for mm in cylinders_mm([recess, affinity.translate(recess, 0.2, 0)])]
        [9.8, 10.2]
    """
    cuts = [filled(area) for area in areas]
    room = polygons_by_size(shapely.intersection_all(cuts))
    inside_mm = 2 * shapely.maximum_inscribed_circle(room[0], 1e-3).length if room else 0.0
    return inside_mm, 2 * float(shapely.minimum_bounding_radius(union_all(cuts)))
