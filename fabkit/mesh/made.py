"""What a set is made to: its measures, as most of its pieces show them, and the profile they make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

import numpy as np
from shapely import Polygon
from shapely.geometry.base import BaseGeometry

from fabkit.core.units import format_mm
from fabkit.mesh.features import Cavity, Features, circle_of
from fabkit.mesh.part import Part
from fabkit.mesh.rules.outline import flats_of_tips, middles_of_sides
from fabkit.mesh.section import DOWN, UP, filled
from fabkit.model.layers import MAX_AIR_MM
from fabkit.model.profile import Profile

#: Less than this (mm) is no chamfer, and no clearance.
_NONE_MM = 0.02
#: Halfway up a chamfer a side stands in by half of its width, a rounding by 0.13 of it.
_ROUND_SHARE = 0.3
#: A bore that is so much wider than the magnet, in mm, is for glue.
_GLUE_MM = 0.3
#: Magnets come in diameters of so many mm, and heights are told to so many.
_DIAMETERS_MM, _HEIGHTS_MM = 0.5, 0.1


@dataclass(frozen=True)
class Made:
    """What most pieces of a set show.

    Attributes:
        unit_mm: the grid unit.
        thickness_mm: from back to face.
        inset_mm: how far each side stays inside the outline: half the clearance of two pieces.
        top_mm: how far the edge around the face is cut back or rounded.
        foot_mm: the same around the back.
        rounded: whether these edges are rounded rather than chamfered.
        tip_mm: the width of the flat to which acute tips are cut; None without any.
        bore_mm: the diameter of a magnet's recess; None without any.
        depth_mm: of it.
        mouth_mm: by how much its rim is wider, on each side.
        embedded: whether it is closed.
        faces: on which sides letters are: ``none``, ``front`` or ``both``.
        label_mm: how deep they are.
    """

    unit_mm: float
    thickness_mm: float
    inset_mm: float
    top_mm: float
    foot_mm: float
    rounded: bool
    tip_mm: float | None
    bore_mm: float | None
    depth_mm: float
    mouth_mm: float
    embedded: bool
    faces: str
    label_mm: float

    def rows(self) -> list[tuple[str, str]]:
        """What is told of it, line by line: a name and a length."""
        edges = "rounded" if self.rounded else "chamfered"
        rows = [
            ("unit", format_mm(round(self.unit_mm, 3))),
            ("thickness", format_mm(round(self.thickness_mm, 2))),
            ("clearance", format_mm(round(max(0.0, 2 * self.inset_mm), 2))),
        ]
        for where, width_mm in (("face", self.top_mm), ("back", self.foot_mm)):
            how = f"{edges} by {format_mm(round(width_mm, 2))}"
            rows.append((f"edges of the {where}", how if width_mm > _NONE_MM else "sharp"))
        if self.tip_mm is not None:
            rows.append(("flat of tips", format_mm(round(self.tip_mm, 2))))
        if self.bore_mm is None:
            rows.append(("recess", "none"))
        else:
            size = f"{format_mm(round(self.bore_mm, 2))} x {format_mm(round(self.depth_mm, 2))}"
            wide = format_mm(round(self.bore_mm + 2 * self.mouth_mm, 2))
            mouth = f", {wide} at its mouth" if self.mouth_mm > _NONE_MM else ""
            rows.append(("recess", size + (", closed" if self.embedded else mouth)))
        depth = f", {format_mm(round(self.label_mm, 2))} deep" if self.faces != "none" else ""
        sides = {"none": "none", "front": "on the face", "both": "on both sides"}
        rows.append(("letter", sides[self.faces] + depth))
        return rows

    def profile(self, usual: Profile) -> Profile:
        """The profile that would make these pieces.

        Args:
            usual: for what pieces do not show: layers, the printer, boards, prices.
        """
        found = replace(
            usual,
            name="measured",
            title="As measured on meshes",
            unit_mm=round(self.unit_mm, 3),
            thickness_mm=round(self.thickness_mm, 3),
            inset_mm=max(0.0, round(self.inset_mm, 3)),
            top_chamfer_mm=round(self.top_mm, 2) if self.top_mm > _NONE_MM else 0.0,
            foot_chamfer_mm=round(self.foot_mm, 2) if self.foot_mm > _NONE_MM else 0.0,
            tip_flat_mm=usual.tip_flat_mm
            if self.tip_mm is None
            else max(0.1, round(self.tip_mm, 2)),
            gap_min_mm=min(usual.gap_min_mm, max(0.0, round(2 * self.inset_mm - 0.05, 3))),
            gap_max_mm=max(usual.gap_max_mm, round(2 * self.inset_mm + 0.05, 3)),
            faces=self.faces,
            label_depth_mm=round(self.label_mm, 2)
            if self.faces != "none"
            else usual.label_depth_mm,
            fit="none",
        )
        return found if self.bore_mm is None else self._with_recess(found, usual)

    def _with_recess(self, found: Profile, usual: Profile) -> Profile:
        """The profile with recesses, for a magnet that goes into them."""
        assert self.bore_mm is not None
        magnet_mm = usual.magnet_diameter_mm
        if not -0.2 < self.bore_mm - magnet_mm < 1.0:
            magnet_mm = _DIAMETERS_MM * np.floor(self.bore_mm / _DIAMETERS_MM + 1e-6).item()
        more_mm = round(self.bore_mm - magnet_mm, 2)
        height_mm = self.depth_mm - (usual.air_mm + MAX_AIR_MM) / 2
        fit = "embedded" if self.embedded else "glue" if more_mm >= _GLUE_MM else "press"
        return replace(
            found,
            fit=fit,
            magnet_diameter_mm=round(magnet_mm, 2),
            magnet_height_mm=round(_HEIGHTS_MM * round(height_mm / _HEIGHTS_MM), 2),
            press_mm=more_mm if fit == "press" else usual.press_mm,
            glue_mm=more_mm if fit == "glue" else usual.glue_mm,
            embedded_mm=more_mm if fit == "embedded" else usual.embedded_mm,
            mouth_mm=max(0.0, round(self.mouth_mm, 2)) if fit != "embedded" else usual.mouth_mm,
        )


def made_to(parts: Sequence[Part], found: Sequence[Features]) -> Made | None:
    """What most of some pieces show; None when no outline was read.

    Args:
        parts: flat pieces, and what is none.
        found: the features of each.
    """
    read = [(part, one) for part, one in zip(parts, found, strict=True) if part.outline]
    if not read:
        return None
    outlines = [part.outline for part, _ in read if part.outline]
    recesses = [one for _, some in read for one in some.recesses]
    labels = [one for _, some in read for one in some.labels]
    tops = [_edge_mm(part, UP) for part, _ in read]
    feet = [_edge_mm(part, DOWN) for part, _ in read]
    tips = [width for part, _ in read for width, _ in flats_of_tips(part)]
    widest = max(zip(tops, feet, read, strict=True), key=lambda one: max(one[:2]))
    fronts = sum(any(label.above for label in some.labels) for _, some in read)
    backs = sum(any(label.below for label in some.labels) for _, some in read)
    both = 2 * backs > len(read)
    return Made(
        unit_mm=median(outline.unit_mm for outline in outlines),
        thickness_mm=median(part.thickness_mm for part, _ in read),
        inset_mm=median(outline.inset_mm for outline in outlines),
        top_mm=median(tops),
        foot_mm=median(feet),
        rounded=_is_rounded(widest[2][0], max(median(tops), median(feet))),
        tip_mm=median(tips) if tips else None,
        bore_mm=median(map(_bore_mm, recesses)) if 2 * len(recesses) > len(read) else None,
        depth_mm=median(one.depth_mm for one in recesses) if recesses else 0.0,
        mouth_mm=median(map(_mouth_mm, recesses)) if recesses else 0.0,
        embedded=2 * sum(not one.below and not one.above for one in recesses) > len(recesses),
        faces=("both" if both else "front") if 2 * fronts > len(read) else "none",
        label_mm=median(one.depth_mm for one in labels) if labels else 0.0,
    )


def _edge_mm(part: Part, facing: int) -> float:
    """How far the flat face stays inside the outline, beside the middles of most sides."""
    height_mm = part.thickness_mm if facing == UP else 0.0
    return _inside_mm(part, part.sections.flat(height_mm, facing))


def _inside_mm(part: Part, area: BaseGeometry) -> float:
    """How far an area stays inside the part's outline, beside the middles of most long sides."""
    rim = filled(area)
    middles = middles_of_sides(Polygon(part.shadow.exterior))
    return 0.0 if rim.is_empty else median(middle.distance(rim) for middle in middles)


def _is_rounded(part: Part, width_mm: float) -> bool:
    """Whether the edge around a face is round: halfway down, it stands in by little."""
    if width_mm <= _NONE_MM:
        return False
    up = part.sections.at(part.thickness_mm - width_mm / 2)
    down = part.sections.at(width_mm / 2)
    return max(_inside_mm(part, up), _inside_mm(part, down)) < _ROUND_SHARE * width_mm


def _bore_mm(recess: Cavity) -> float:
    return circle_of(recess.middle).diameter_mm


def _mouth_mm(recess: Cavity) -> float:
    """By how much a recess is wider at the back than in its middle, on each side."""
    if not recess.below:
        return 0.0
    cut, area = recess.cuts[0]
    return max(0.0, (circle_of(area).diameter_mm - _bore_mm(recess)) / 2 + cut.height_mm)
