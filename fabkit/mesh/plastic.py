"""The plastic in a printed part, estimated from its mesh.

The mesh is cut into layers, and each layer is filled as PrusaSlicer fills it: perimeters, solid
infill near surfaces that face up or down, and sparse infill elsewhere (``PerimeterGenerator.cpp``,
and ``process_external_surfaces``, ``discover_vertical_shells`` and ``bridge_over_infill``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from fabkit.mesh.mesh import Mesh
from fabkit.mesh.topology import signed_volume

#: Line width as a multiple of the nozzle diameter (PrusaSlicer's default).
_LINE_OF_NOZZLE = 1.125
#: The sides of a line are half circles: this much of the layer height is missing between two lines.
_ROUNDING = 1 - math.pi / 4
#: Solid infill reaches beyond a surface by this much (``EXTERNAL_INFILL_MARGIN``).
_MARGIN_MM = 3.0
#: The gap between two threads of a bridge (``BRIDGE_EXTRA_SPACING``).
_BRIDGE_GAP_MM = 0.05
#: Sparse infill has its density times this, on an area that is wider by `_ANCHOR_MM` on all sides,
#: since its threads continue along the walls. Both are fitted to G-code of the shipped sets.
_GYROID = 0.94
_ANCHOR_MM = 0.6
#: Outlines are simplified by this much.
_SIMPLER_MM = 0.05
#: Sections with the same area (mm2) and bounds (mm) to this many digits are the same.
_DIGITS = 1


@dataclass(frozen=True)
class Filling:
    """How a slicer fills parts.

    Attributes:
        first_layer_mm, layer_mm: heights of the layers.
        nozzle_mm: diameter of the nozzle, and of the threads of bridges.
        walls: number of perimeters.
        top, bottom: number of solid layers below and above a surface.
        share: density of sparse infill, from 0 to 1.
        overlap: how far infill reaches into the perimeters, as a part of the distance of two lines.
        least_mm2: smaller areas get no sparse infill.
    """

    first_layer_mm: float
    layer_mm: float
    nozzle_mm: float
    walls: int
    top: int
    bottom: int
    share: float
    overlap: float
    least_mm2: float

    @property
    def gap_mm(self) -> float:
        """What is missing between a line and the outline beside it, since its sides are round."""
        return _ROUNDING * self.layer_mm / 2

    @property
    def spacing_mm(self) -> float:
        """The distance between the middles of two lines."""
        return _LINE_OF_NOZZLE * self.nozzle_mm - 2 * self.gap_mm


def printed_mm3(mesh: Mesh, filling: Filling, facing: str = "up") -> float:
    """Return the plastic in a part in mm3, printed with its top facing ``up`` or ``down``; a mesh
    that is not closed counts as solid."""
    from manifold3d import CrossSection, JoinType, OpType

    if not mesh.is_solid:
        return signed_volume(mesh)
    solid = mesh.manifold if facing == "up" else mesh.manifold.rotate((180.0, 0.0, 0.0))
    sections = list(_sections(solid, filling))
    empty = _Section(CrossSection(), filling)
    around = [empty] * filling.bottom + sections + [empty] * filling.top

    @cache
    def surface(section: _Section, beside: _Section) -> Any:
        """Return the area without material in the layer above or below, and its margin."""
        bare = section.infill - beside.area
        return bare.offset(_MARGIN_MM, JoinType.Square) if bare.area() else bare

    @cache
    def sparse_in(window: tuple[_Section, ...]) -> Any:
        """Return the sparse infill in the middle one of the layers that have a bearing on it."""
        steps = list(pairwise(window))
        surfaces = [surface(high, low) for low, high in steps[: filling.bottom]]
        surfaces += [surface(low, high) for low, high in steps[filling.bottom :]]
        infill = [section.infill for section in dict.fromkeys(window[1:-1])]
        inside = CrossSection.batch_boolean(infill, OpType.Intersect)
        areas = [inside, *surfaces, window[filling.bottom].small]
        return CrossSection.batch_boolean(areas, OpType.Subtract)

    bridge_mm = math.pi / 4 * filling.nozzle_mm**2 / (filling.nozzle_mm + _BRIDGE_GAP_MM)
    # A bridge needs as many layers of sparse infill below it as its threads are high.
    below = max(1, math.floor(round(filling.nozzle_mm / filling.layer_mm, 6)))
    layers: list[Any] = []
    total_mm3 = 0.0
    for index, section in enumerate(sections):
        height_mm = filling.layer_mm if index else filling.first_layer_mm
        sparse = sparse_in(tuple(around[index : index + filling.bottom + filling.top + 1]))
        gyroid_mm2 = _GYROID * filling.share * _wider(sparse, _ANCHOR_MM).area()
        plastic_mm2 = section.walls_mm2 + section.infill.area() - sparse.area() + gyroid_mm2
        total_mm3 += plastic_mm2 * height_mm
        if index and sparse is not layers[-1]:
            dense = section.infill - sparse
            hollow = CrossSection.batch_boolean(layers[-below:], OpType.Intersect)
            bridged_mm2 = (dense - sections[index - 1].area).area() + (dense ^ hollow).area()
            total_mm3 += bridged_mm2 * (bridge_mm - height_mm)
        layers.append(sparse)
    return float(total_mm3)


class _Section:
    """A section of a part in the middle of a layer.

    Attributes:
        area: the material; `infill` what is inside the perimeters, and `small` those parts of it
            that are too small for sparse infill.
        walls_mm2: what the perimeters cover.
    """

    def __init__(self, area: Any, filling: Filling) -> None:
        import manifold3d

        gap_mm, spacing_mm = filling.gap_mm, filling.spacing_mm
        walls_mm = gap_mm + filling.walls * spacing_mm
        inside = _wider(area, -walls_mm)
        self.area = area
        self.walls_mm2 = _wider(area, -gap_mm).area() - inside.area()
        # Where no line fits there is no infill.
        fitting = _wider(inside, -spacing_mm / 2)
        self.infill = _wider(fitting, (0.5 + filling.overlap) * spacing_mm)
        parts = [part for part in self.infill.decompose() if part.area() <= filling.least_mm2]
        self.small = manifold3d.CrossSection.compose(parts)


def _sections(solid: Any, filling: Filling) -> Iterator[_Section]:
    """Yield the section of each layer, from the bed upwards; equal neighbours are one object."""
    *_, low_mm, _, _, high_mm = solid.bounding_box()
    last: tuple[Any, _Section] | None = None
    second_mm = low_mm + filling.first_layer_mm + filling.layer_mm / 2
    middles_mm = np.arange(second_mm, high_mm, filling.layer_mm).tolist()
    for middle_mm in [low_mm + filling.first_layer_mm / 2, *middles_mm]:
        area = solid.slice(middle_mm)
        key = np.round([area.area(), *area.bounds()], _DIGITS).tolist()
        if last is None or key != last[0]:
            last = key, _Section(area.simplify(_SIMPLER_MM), filling)
        yield last[1]


def _wider(area: Any, by_mm: float) -> Any:
    """Move the outline of an area outwards, or inwards by a negative amount, with sharp corners."""
    import manifold3d

    return area.offset(by_mm, manifold3d.JoinType.Miter, 3.0)
