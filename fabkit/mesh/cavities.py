"""Cavities: recesses, letters and holes, found by following what sections leave open."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Polygon, get_coordinates, union_all
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.part import Part
from fabkit.mesh.section import filled, hollows, parts

#: Sections are taken this near (mm) above and below each height at which corners lie …
_NEAR_MM = 0.01
#: … those of level faces, and so many others: those with most corners. (An engraving has corners
#: at many heights, where triangles were cut in two; sides that are curved have them, too.)
_MOST_OTHERS = 12
#: What is left open counts from this area (mm2); what is less is noise of single precision.
_LEAST_MM2 = 0.02
#: A notch in the side counts when a disc of this diameter (mm) finds room beside the outline.
_NOTCH_MM = 0.8


@dataclass(frozen=True, eq=False)
class Slice:
    """A cut at one height.

    Attributes:
        height_mm: above the back.
        low_mm: the height below it at which the next corners lie.
        high_mm: the height above it at which the next corners lie.
        material: what is cut.
        outer: the same with its holes filled.
    """

    height_mm: float
    low_mm: float
    high_mm: float
    material: BaseGeometry
    outer: BaseGeometry


@dataclass(frozen=True, eq=False)
class Cavity:
    """Something that is open inside a part's outline.

    Attributes:
        low_mm: where it begins.
        high_mm: where it ends.
        below: whether it is open at the back.
        above: whether it is open at the face.
        cuts: the slices it appears in and its area there, from low to high.
        beside: whether it breaks through the side of the part.
    """

    low_mm: float
    high_mm: float
    below: bool
    above: bool
    cuts: tuple[tuple[Slice, BaseGeometry], ...]
    beside: bool

    @property
    def depth_mm(self) -> float:
        """From its lower to its upper end."""
        return self.high_mm - self.low_mm

    @property
    def middle(self) -> BaseGeometry:
        """Its area halfway up."""
        height = (self.low_mm + self.high_mm) / 2
        return min(self.cuts, key=lambda cut: abs(cut[0].height_mm - height))[1]


@dataclass(frozen=True)
class Circle:
    """A circle laid through points.

    Attributes:
        x_mm: of its middle.
        y_mm: of its middle.
        diameter_mm: the least squares fit.
        inner_mm: twice the least distance of a point from the middle.
        outer_mm: twice the greatest distance.
    """

    x_mm: float
    y_mm: float
    diameter_mm: float
    inner_mm: float
    outer_mm: float


def slices(part: Part) -> list[Slice]:
    """Cuts just above and below every height at which corners lie, from low to high.

    Between two such heights every side is straight, so walls are thinnest at these cuts.
    """
    levels = _main_levels(part)
    found = []
    for low, high in itertools.pairwise(levels):
        near = min(_NEAR_MM, (high - low) / 4)
        for height in (low + near, high - near):
            material = part.sections.at(height)
            found.append(Slice(height, low, high, material, filled(material)))
    return found


def _main_levels(part: Part) -> list[float]:
    levels = part.sections.levels()
    of_faces = {height for height, _ in part.sections.flats()} | {levels[0], levels[-1]}
    below = np.searchsorted(np.array(levels), part.vertices[:, 2], side="right") - 1
    corners = np.bincount(np.maximum(below, 0), minlength=len(levels))
    others = [i for i, level in enumerate(levels) if level not in of_faces]
    others.sort(key=lambda i: -int(corners[i]))
    return sorted(of_faces | {levels[i] for i in others[:_MOST_OTHERS]})


def cavities(part: Part, cuts: list[Slice]) -> list[Cavity]:
    """The cavities of a part, from low to high.

    Args:
        part: the part.
        cuts: its slices.

    Returns:
        One for each connected open space; holes that are part of its outline among them.
    """
    open_at = [_open_areas(part, cut) for cut in cuts]
    group: dict[tuple[int, int], int] = {}
    names = itertools.count()
    for level, areas in enumerate(open_at):
        for position, area in enumerate(areas):
            below = {
                group[level - 1, other]
                for other, under in enumerate(open_at[level - 1] if level else [])
                if area.intersects(under) and area.intersection(under).area > _LEAST_MM2
            }
            name = min(below, default=None)
            name = next(names) if name is None else name
            group[level, position] = name
            for key, other in group.items():
                if other in below:
                    group[key] = name
    found = []
    for name in sorted(set(group.values())):
        members = sorted(key for key, other in group.items() if other == name)
        found.append(_cavity(cuts, open_at, members))
    return sorted(found, key=lambda one: (one.low_mm, one.high_mm, one.middle.bounds))


def circle_of(area: BaseGeometry) -> Circle:
    """The circle through the corners of an area's outline.

    Of a bore with crush ribs the fit is through the roots: the corners in the outer half.

    Example:
        >>> from shapely import Point
        >>> round(circle_of(Point(3, 4).buffer(5, quad_segs=16)).diameter_mm, 6)
        10.0
    """
    outline = max((Polygon(one.exterior) for one in parts(area)), key=lambda one: one.area)
    points = get_coordinates(outline)[:-1]
    centre = np.array(outline.centroid.coords[0])
    radii = np.hypot(*(points - centre).T)
    outer = points[radii >= (radii.min() + radii.max()) / 2] if np.ptp(radii) > 0.1 else points
    centre, radius = _fit(outer if len(outer) >= 3 else points)
    radii = np.hypot(*(points - centre).T)
    x, y = centre.tolist()
    return Circle(x, y, 2 * radius, 2 * float(radii.min()), 2 * float(radii.max()))


def cylinders_mm(areas: Sequence[BaseGeometry]) -> tuple[float, float]:
    """The diameters of the largest upright cylinder inside a bore, and of the smallest around it.

    They are measured on the mesh as it is, chords and all: what goes in has to pass every cut,
    and between two corners a polygon's side lies inside the circle that was drawn. A bore of 16
    sides with its corners on a circle of 10.1 mm takes 9.91 mm.

    Args:
        areas: the bore's cuts, from where it begins to where it ends; what stands free in them
            is looked past.

    Example:
        >>> from shapely import Point, affinity
        >>> bore = Point(3, 4).buffer(5, quad_segs=64)
        >>> [round(mm, 2) for mm in cylinders_mm([bore, affinity.translate(bore, 0.2, 0)])]
        [9.8, 10.2]
    """
    cuts = [filled(area) for area in areas]
    room = parts(shapely.intersection_all(cuts))
    inside_mm = 2 * shapely.maximum_inscribed_circle(room[0], 1e-3).length if room else 0.0
    return inside_mm, 2 * float(shapely.minimum_bounding_radius(union_all(cuts)))


def _fit(points: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """The least squares circle through points."""
    middle = points.mean(axis=0)
    u, v = (points - middle).T
    columns = np.column_stack([2 * u, 2 * v, np.ones_like(u)])
    a, b, c = np.linalg.lstsq(columns, u * u + v * v, rcond=None)[0]
    return middle + np.array([a, b]), math.sqrt(max(0.0, float(c + a * a + b * b)))


def _open_areas(part: Part, cut: Slice) -> list[BaseGeometry]:
    """What is open at a slice: holes, and notches where something breaks through the side."""
    holes = [hole for hole in hollows(cut.material) if hole.area > _LEAST_MM2]
    beside = part.shadow.difference(cut.outer)
    # Chamfers leave a ring open all around, which is no notch.
    reach = _NOTCH_MM / 2 + _ring_mm(part, cut)
    notches = [one.buffer(reach) & part.shadow for one in parts(beside.buffer(-reach))]
    return [*holes, *notches]


def _ring_mm(part: Part, cut: Slice) -> float:
    """How far inside the part's outline a slice's outline lies, at most of its sides."""
    if cut.outer.is_empty or part.shadow.is_empty:
        return 0.0
    ring = get_coordinates(part.shadow.exterior)
    middles = shapely.points((ring[1:] + ring[:-1]) / 2)
    return float(np.median(shapely.distance(middles, cut.outer)))


def _cavity(
    cuts: list[Slice], open_at: list[list[BaseGeometry]], members: list[tuple[int, int]]
) -> Cavity:
    by_level: dict[int, list[BaseGeometry]] = {}
    for level, position in members:
        by_level.setdefault(level, []).append(open_at[level][position])
    found = tuple((cuts[level], union_all(areas)) for level, areas in sorted(by_level.items()))
    beside = any(not cut.outer.buffer(1e-6).contains(area) for cut, area in found)
    return Cavity(
        low_mm=found[0][0].low_mm,
        high_mm=found[-1][0].high_mm,
        below=min(by_level) == 0,
        above=max(by_level) == len(cuts) - 1,
        cuts=found,
        beside=beside,
    )
