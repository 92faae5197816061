"""Faults of the marks of south poles: missing, at the wrong magnet, of another size, too near."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from fabkit.drawing.magnets import PoleMark, Recess, assign_poles
from tests.support.faults.kits import LONG, MARKED, MARKED_INSIDE, MARKED_ROOMY
from tests.support.faults.planting import Case, Fault, Planted, beyond, limit


def with_marks(case: Case, poles: str) -> Planted:
    """The piece as if its magnets had these poles, from left to right."""
    marking = replace(case.profile, polarity="alternating")
    drawing = case.drawing
    return case.rebuilt(recesses=assign_poles(drawing.recesses, poles, drawing.foot, marking))


def needless(case: Case, _: float) -> Planted:
    """Marks where poles do not alternate."""
    return with_marks(case, case.random.choice(("SN", "NS", "SS")))


def at_wrong_magnet(case: Case, _: float) -> Planted:
    poles = [recess.pole for recess in case.drawing.recesses]
    return with_marks(case, "SN" if poles == ["N", "S"] else "NS")


def marked(case: Case) -> tuple[int, Recess, PoleMark]:
    """The piece's recess that is marked, its position, and the mark."""
    for which, recess in enumerate(case.drawing.recesses):
        if recess.mark:
            return which, recess, recess.mark
    raise AssertionError(f"no mark on {case.piece}")


def changed(case: Case, **changes: Any) -> Planted:
    which, _, mark = marked(case)
    return case.with_recess(which, mark=replace(mark, **changes))


def depth_off(case: Case, size: float) -> Planted:
    return changed(case, high_mm=marked(case)[2].high_mm + 0.05 * size * case.sign())


def shallow_inside(case: Case, size: float) -> Planted:
    """In a closed cavity: its bottom is the lower end."""
    return changed(case, low_mm=marked(case)[2].low_mm + 0.05 * size)


def too_wide(case: Case, size: float) -> Planted:
    """It comes too near to the lead-in as well."""
    return changed(case, diameter_mm=marked(case)[2].diameter_mm + 0.05 * size)


def near_lead_in(case: Case, size: float) -> Planted:
    """Moved towards its recess, or away from it, until that much wall is left."""
    _, recess, mark = marked(case)
    out = np.subtract(mark.centre_mm, recess.centre_mm)
    wall_mm = beyond(case.profile.bed_wall_mm, size)
    reach_mm = recess.diameters.widest_mm / 2 + recess.lead_in_mm + wall_mm + mark.diameter_mm / 2
    there = np.asarray(recess.centre_mm) + out / np.linalg.norm(out) * reach_mm
    return changed(case, centre_mm=tuple(there.round(4).tolist()))


def astray(case: Case, _: float) -> Planted:
    """In the ceiling of a closed cavity, where nobody sees it when the magnet goes in."""
    _, recess, mark = marked(case)
    return changed(case, low_mm=recess.high_mm, high_mm=recess.high_mm + mark.high_mm - mark.low_mm)


def thin_floor(case: Case, size: float) -> Planted:
    """So deep that little is left below: it is too deep as well."""
    return changed(case, low_mm=beyond(0.4, size))


#: All of them. Of a long piece's two magnets one is marked.
FAULTS = [
    Fault("mark missing", "pole-mark", lambda case, _: with_marks(case, "NN"), LONG, MARKED),
    Fault(
        "mark missing inside",
        "pole-mark",
        lambda case, _: with_marks(case, "NN"),
        LONG,
        MARKED_INSIDE,
    ),
    Fault("mark at the wrong magnet", "pole-mark", at_wrong_magnet, LONG, MARKED),
    Fault("mark where poles do not alternate", "pole-mark", needless, LONG),
    Fault("mark in the ceiling", "pole-mark", astray, LONG, MARKED_INSIDE),
    Fault("mark of another depth", "mark-depth", depth_off, LONG, MARKED, (1.5, 5), limited=True),
    limit("mark inside too shallow", "mark-depth", shallow_inside, 1.5, 5, LONG, MARKED_INSIDE),
    Fault("mark too wide", "mark-diameter", too_wide, LONG, MARKED, (1.5, 9)),
    # That of L lies in a corner.
    limit(
        "mark too near", "mark-wall", near_lead_in, 1.2, 1.9, LONG, MARKED_ROOMY, at_limit="TSNU"
    ),
    Fault("mark too deep inside", "mark-floor", thin_floor, LONG, MARKED_INSIDE, (1.3, 1.9)),
]
