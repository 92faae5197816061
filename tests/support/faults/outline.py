"""Faults of the outline: thickness, chamfers, tips, and sides that lie elsewhere."""

from __future__ import annotations

import math

import numpy as np
from shapely import Polygon

from fabkit.drawing.outline import chamfer_outline, offset_outline
from tests.support.faults.planting import Case, Planted
from tests.support.prints import Order


def thicker(case: Case, size: float) -> Planted:
    return case.rebuilt(thickness_mm=case.profile.thickness_mm + 0.05 * size * case.sign())


def top_chamfered(case: Case, size: float) -> Planted:
    chamfer = case.profile.top_chamfer_mm + 0.05 * size * case.sign()
    return case.rebuilt(face=chamfer_outline(case.drawing.outline, chamfer), top_chamfer_mm=chamfer)


def foot_chamfered(case: Case, size: float) -> Planted:
    chamfer = case.profile.foot_chamfer_mm + 0.05 * size * case.sign()
    return case.rebuilt(
        foot=chamfer_outline(case.drawing.outline, chamfer), foot_chamfer_mm=chamfer
    )


def no_chamfer(case: Case, _: float) -> Planted:
    return case.rebuilt(face=case.drawing.outline, top_chamfer_mm=0.0)


def steep_foot(case: Case, size: float) -> Planted:
    """The foot chamfer's width as asked for, its height less: it leans out more."""
    lean = min(85.0, 46 * size)
    return case.rebuilt(foot_chamfer_mm=case.profile.foot_chamfer_mm / math.tan(math.radians(lean)))


def steep_top(case: Case, size: float) -> Planted:
    """The same at the face, which leans out where that is on the bed."""
    lean = min(85.0, 46 * size)
    return case.rebuilt(top_chamfer_mm=case.profile.top_chamfer_mm / math.tan(math.radians(lean)))


def sharp_tip(case: Case, size: float) -> Planted:
    return case.drafted(tip_flat_mm=max(0.1, case.profile.tip_flat_mm - 0.05 * size))


def blunt_tip(case: Case, size: float) -> Planted:
    """Tips cut 0.05 mm more than they should be."""
    more_mm = 2 * math.tan(math.radians(22.5)) * 0.05 * size
    return case.drafted(tip_flat_mm=case.profile.tip_flat_mm + more_mm)


def tips_cut_off(case: Case, size: float) -> Planted:
    """Tips cut so far that the outline is no more the piece's: 0.2 units are the limit."""
    # So far a tip lies inside the drawn one for the clearance alone.
    inset_mm = case.profile.inset_mm / math.sin(math.radians(22.5))
    return case.drafted(tip_flat_mm=2 * math.tan(math.radians(22.5)) * (4.0 * size - inset_mm))


def grown(case: Case, size: float) -> Planted:
    """All sides moved out; a tenth of a millimetre is left of the gap at the limit."""
    return case.drafted(inset_mm=case.profile.inset_mm - 0.1 * size)


def shrunk(case: Case, size: float) -> Planted:
    return case.drafted(inset_mm=case.profile.inset_mm + 0.3 * size)


def side_moved(case: Case, area: Polygon, out_mm: float) -> Polygon:
    """An area with one of its long sides moved out."""
    ring = [np.array(point) for point in area.exterior.coords[:-1]]
    count = len(ring)
    lengths = [float(np.linalg.norm(ring[i] - ring[i - 1])) for i in range(count)]
    which = case.random.choice([i for i in range(count) if lengths[i] > 0.45 * max(lengths)])
    (dx, dy), moved = ring[which] - ring[which - 1], list(ring)
    normal = np.array([dy, -dx]) / lengths[which]
    # Each end of the side slides along the neighbouring side.
    for end, behind in ((which - 1, which - 2), (which, (which + 1) % count)):
        along = ring[end] - ring[behind]
        moved[end] = ring[end] + along * (out_mm / float(along @ normal))
    return Polygon([tuple(point) for point in moved])


def edge_moved(case: Case, out_mm: float) -> Planted:
    """One long side of the drawing moved, before clearance and tips."""
    drawn = side_moved(case, case.drawing.canonical, out_mm)
    return case.outlined(offset_outline(drawn, case.profile))


def chamfer_wide_at_side(case: Case, size: float) -> Planted:
    return case.rebuilt(face=side_moved(case, case.drawing.face, -0.05 * size))


def edge_moved_in(case: Case, size: float) -> Planted:
    return edge_moved(case, -size)


def little_rest(size: float) -> Order:
    """Magnets so large that little is left of a triangle's back: 45 % of its outline, or 55 %."""
    magnet_mm = 8.48 if size < 1 else 10.77
    return Order(
        (),
        (
            f"magnet.diameter={magnet_mm} mm",
            "tip_flat=2 mm",
            "foot_chamfer=1.2 mm",
            "recess.wall=0.5 mm",
            "recess.bed_wall=0.3 mm",
        ),
    )
