"""Stubs: the round feet below a piece that may not be turned over.

Each cell's stub enters a seat of the board; upside down the piece stands on the board's plate
with nothing to hold it. Such a piece is printed lettered face down, with its stubs on top, and
holds no magnets: where those would be there are stubs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from shapely import Point, Polygon

from fabkit.core.units import format_mm
from fabkit.drawing.cellshape import cell_centres
from fabkit.drawing.printed import BlueprintError, PointMm
from fabkit.model.lattice import Lattice
from fabkit.model.piece import Form
from fabkit.model.profile import Profile

#: A stub is so many layers high at least, or nobody sees which way up a piece lies.
LEAST_LAYERS = 2


@dataclass(frozen=True)
class Stub:
    """One stub, from the bottom of a drawing at height 0 up to the back of the piece.

    Attributes:
        centre_mm: of its circle, in the frame of the outline.
        diameter_mm: of its circle.
        height_mm: from its end to the back.
        lead_in_mm: 45-degree chamfer around its end.
    """

    centre_mm: PointMm
    diameter_mm: float
    height_mm: float
    lead_in_mm: float

    @property
    def volume_mm3(self) -> float:
        """Its volume: a cylinder, and the end of a cone."""
        radius_mm, lead_in_mm = self.diameter_mm / 2, self.lead_in_mm
        end_mm = radius_mm - lead_in_mm
        cone = lead_in_mm * (radius_mm**2 + radius_mm * end_mm + end_mm**2) / 3
        return math.pi * (radius_mm**2 * (self.height_mm - lead_in_mm) + cone)


def place_stubs(lattice: Lattice, form: Form, foot: Polygon, profile: Profile) -> tuple[Stub, ...]:
    """A stub below the middle of each cell.

    Args:
        lattice: of the piece.
        form: of the piece.
        foot: the outline of its back, inside the foot chamfer, in mm.
        profile: gives unit, ``stub.diameter`` and ``stub.height``.

    Returns:
        As many stubs as the piece has cells, by row from below and then from the left. Around
        their ends is the foot chamfer, at most a quarter of the stub's height or width.

    Raises:
        BlueprintError: when a stub does not stand on the back of its cell, or is too low to
            tell up from down, or higher than it is wide.
    """
    diameter_mm, height_mm = profile.stub_mm, profile.stub_height_mm
    least_mm = LEAST_LAYERS * profile.layer_mm
    if not least_mm <= height_mm <= diameter_mm:
        raise BlueprintError(
            f"stub.height is {format_mm(height_mm)}; expected {format_mm(least_mm)}, which are "
            f"{LEAST_LAYERS} layers, to {format_mm(diameter_mm)}, the stub's diameter, or 0 mm for "
            "pieces without stubs"
        )
    centres = cell_centres(lattice, form.cells, profile.unit_mm)
    bears_mm = 2 * min(foot.boundary.distance(Point(centre)) for centre in centres)
    most_mm = math.floor(bears_mm * 1000 + 1e-6) / 1000
    if diameter_mm > most_mm:
        raise BlueprintError(
            f"stub.diameter {format_mm(diameter_mm)} is too large: the back of a cell bears "
            f"{format_mm(most_mm)}; choose a smaller stub.diameter, a larger unit or another cell.shape"
        )
    lead_in_mm = min(profile.foot_chamfer_mm, diameter_mm / 4, height_mm / 4)
    return tuple(Stub(centre, diameter_mm, height_mm, lead_in_mm) for centre in centres)
