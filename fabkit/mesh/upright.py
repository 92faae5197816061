"""Upright cross-sections of a printed part, and what can be measured on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely
from shapely import LineString
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.part import PartDrawing
from fabkit.mesh.mesh import Mesh
from fabkit.mesh.section import Sections, polygons_by_size

#: Corners this close to a line are on it.
_ON_LINE_MM = 1e-3
#: The shortest upright side: that of balls is a point.
_SIDE_MM = 0.3
#: Where the height of a recess is measured, as a fraction of its diameter from the middle: beside a
#: push-out hole, inside of ribs.
_BESIDE = 0.35
#: Places across a recess at which its roof is measured.
_PLACES = 29
#: The height above the open end of a recess at which its mouth is measured.
_AT_MOUTH_MM = 0.01
#: Decimals of lengths in mm.
_DIGITS = 3


@dataclass(frozen=True)
class Measure:
    """A length between two points of a section, in mm, along x or along z: ``thickness``,
    ``top-chamfer``, ``foot-chamfer``, ``recess-depth``, ``recess-diameter``, ``lead-in``, ``floor``
    or ``roof``."""

    name: str
    start: tuple[float, float]
    end: tuple[float, float]

    @property
    def length_mm(self) -> float:
        """Its length."""
        return round(abs(self.end[0] - self.start[0]) + abs(self.end[1] - self.start[1]), _DIGITS)


def section_document(mesh: Mesh, drawing: PartDrawing) -> dict[str, Any]:
    """Cut a part through its first recess, or else through its middle: ``rings`` of points in mm, x
    to the right and z up, and ``measures``, each with ``name``, ``mm`` and two ``points``."""
    recess = None
    y_mm = drawing.outline.representative_point().y
    if drawing.recesses:
        x_mm, y_mm = drawing.recesses[0].centre_mm
        recess = x_mm, drawing.recesses[0].diameters.widest_mm
    section = upright_section(mesh, y_mm)
    areas = polygons_by_size(section)
    rings = [ring for area in areas for ring in (area.exterior, *area.interiors)]
    return {
        "rings": [shapely.get_coordinates(ring).round(_DIGITS).tolist() for ring in rings],
        "measures": [
            {
                "name": measure.name,
                "mm": measure.length_mm,
                "points": np.round([measure.start, measure.end], _DIGITS).tolist(),
            }
            for measure in measure_section(section, recess)
        ],
    }


def upright_section(mesh: Mesh, y_mm: float) -> BaseGeometry:
    """Return the material in the plane parallel to the front at ``y_mm``; x to the right, z up.

    Example:
        >>> corners = np.array([[0, 0, 0], [4, 0, 0], [0, 4, 0], [0, 0, 4]], float)
        >>> faces = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
        >>> upright_section(Mesh("pyramid", corners, faces), 2.0).bounds
        (0.0, 0.0, 2.0, 2.0)
    """
    x, y, z = mesh.vertices.T
    return Sections(Mesh(mesh.name, np.column_stack([x, z, y_mm - y]), mesh.faces)).at(0.0)


def measure_section(
    section: BaseGeometry, recess: tuple[float, float] | None = None
) -> list[Measure]:
    """Measure a section: its thickness and chamfers at the right end, and a recess, given by the x
    of its middle and its diameter as drawn."""
    if section.is_empty:
        return []
    _, low, right, high = section.bounds
    measures = [Measure("thickness", (right, low), (right, high))]
    corners = shapely.get_coordinates(section)
    side = corners[corners[:, 0] > right - _ON_LINE_MM, 1]
    bottom, top = float(side.min()), float(side.max())
    if top - bottom > _SIDE_MM:
        measures += [Measure("top-chamfer", (right, top), (right, high))]
        measures += [Measure("foot-chamfer", (right, low), (right, bottom))]
    if recess is not None:
        measures += _measure_recess(section, *recess)
    return [measure for measure in measures if measure.length_mm > _ON_LINE_MM]


def _measure_recess(section: BaseGeometry, middle: float, diameter: float) -> list[Measure]:
    left, low, right, high = section.bounds

    def spans(start: tuple[float, float], end: tuple[float, float]) -> list[tuple[float, float]]:
        """Return the material along a line: from where to where."""
        axis = int(start[0] == end[0])
        lines = shapely.get_parts(section.intersection(LineString([start, end])))
        pairs = [sorted(shapely.get_coordinates(line)[:, axis]) for line in lines]
        return sorted((float(pair[0]), float(pair[-1])) for pair in pairs if len(pair) > 1)

    def upright(x: float) -> list[tuple[float, float]]:
        return spans((x, low - 1), (x, high + 1))

    def void(z: float) -> tuple[float, float]:
        """Return the gap around the middle at a height."""
        material = spans((left - 1, z), (right + 1, z))
        ends = [left, *(x for span in material for x in span), right]
        before = max((x for x in ends if x <= middle), default=left)
        return before, min((x for x in ends if x > middle), default=right)

    off_middle = middle + _BESIDE * diameter
    material = upright(off_middle)
    is_open = bool(material) and material[0][0] > low + _ON_LINE_MM
    if len(material) < 1 + (not is_open):
        return []
    start, end = (low, material[0][0]) if is_open else (material[0][1], material[1][0])
    from_x, to_x = void((start + end) / 2)
    measures = [
        Measure("recess-depth", (off_middle, start), (off_middle, end)),
        Measure("recess-diameter", (from_x, (start + end) / 2), (to_x, (start + end) / 2)),
    ]
    if is_open:
        mouth = void(start + _AT_MOUTH_MM)
        wider_mm = (mouth[1] - mouth[0] - to_x + from_x) / 2 + _AT_MOUTH_MM
        if wider_mm > 2 * _AT_MOUTH_MM:
            measures.append(Measure("lead-in", (to_x, start), (to_x + wider_mm, start)))
    else:
        measures.append(Measure("floor", (off_middle, low), (off_middle, start)))
    roofs = []
    for x in np.linspace(-_BESIDE, _BESIDE, _PLACES) * diameter + middle:
        above = [span for span in upright(float(x)) if abs(span[0] - end) < _ON_LINE_MM]
        roofs += [(span[1] - span[0], float(x), span) for span in above]
    if roofs:
        _, x, (lower, upper) = min(roofs)
        measures.append(Measure("roof", (x, lower), (x, upper)))
    return measures
