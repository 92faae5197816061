"""The sizes of a set, measured on most of its pieces, and the profile that gives these sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import median
from typing import Any

import numpy as np
from shapely import Polygon
from shapely.geometry.base import BaseGeometry

from fabkit.core.units import format_mm
from fabkit.mesh.features import Features, fit_circle
from fabkit.mesh.part import Part
from fabkit.mesh.rules.outline import CommonSizes, edge_midpoints, tip_flats
from fabkit.mesh.section import DOWN, UP, filled
from fabkit.profiles.layers import LEAST_RELEASE_MM, MAX_AIR_MM
from fabkit.profiles.profile import Profile

#: Less than this (mm) is no chamfer.
_NONE_MM = 0.02


@dataclass(frozen=True)
class MeasuredSizes:
    """The sizes of most pieces of a set.

    Attributes:
        common: their grid unit, thickness and inset.
        top_mm: the size of the chamfer or fillet around the face; `foot_mm` that around the back.
        rounded: whether these are fillets rather than chamfers.
        tip_mm: the width of the flat of acute tips; None without any.
        recess_mm: the diameter of a magnet's recess; None without any.
        lead_in_mm: the width of its lead-in, on each side; `embedded` if it is closed.
        release_mm: the diameter of the push-out hole; 0 without.
        faces: the sides with letters: ``none``, ``front`` or ``both``; `label_mm` deep.
    """

    common: CommonSizes
    top_mm: float
    foot_mm: float
    rounded: bool
    tip_mm: float | None
    recess_mm: float | None
    depth_mm: float
    lead_in_mm: float
    release_mm: float
    embedded: bool
    faces: str
    label_mm: float

    def rows(self) -> list[tuple[str, str]]:
        """Rows for a table: name and size."""
        mm_text = partial(format_mm, digits=2)
        how = "rounded" if self.rounded else "chamfered"
        edges = [
            f"{how} by {mm_text(mm)}" if mm > _NONE_MM else "sharp"
            for mm in (self.top_mm, self.foot_mm)
        ]
        recess, letter = "none", "none"
        if self.recess_mm is not None:
            recess = f"{mm_text(self.recess_mm)} x {mm_text(self.depth_mm)}"
            if self.embedded:
                recess += ", closed"
            elif self.lead_in_mm > _NONE_MM:
                recess += f", {mm_text(self.recess_mm + 2 * self.lead_in_mm)} at its lead-in"
            if self.release_mm:
                recess += f", {mm_text(self.release_mm)} through to the face"
        if self.faces != "none":
            where = "on the face" if self.faces == "front" else "on both sides"
            letter = f"{where}, {mm_text(self.label_mm)} deep"
        return [
            ("unit", format_mm(self.common.unit_mm)),
            ("thickness", mm_text(self.common.thickness_mm)),
            ("clearance", mm_text(max(0.0, 2 * self.common.inset_mm))),
            ("edges of the face", edges[0]),
            ("edges of the back", edges[1]),
            *([] if self.tip_mm is None else [("flat of tips", mm_text(self.tip_mm))]),
            ("recess", recess),
            ("letter", letter),
        ]

    def profile(self, usual: Profile) -> Profile:
        """The profile that gives these sizes; values that pieces do not show (layers, printer,
        boards, prices) are those of `usual`."""
        gap_mm = 2 * self.common.inset_mm
        sizes: dict[str, Any] = {
            "unit_mm": round(self.common.unit_mm, 3),
            "thickness_mm": round(self.common.thickness_mm, 3),
            "inset_mm": max(0.0, round(self.common.inset_mm, 3)),
            "top_chamfer_mm": round(self.top_mm, 2) if self.top_mm > _NONE_MM else 0.0,
            "foot_chamfer_mm": round(self.foot_mm, 2) if self.foot_mm > _NONE_MM else 0.0,
            "gap_min_mm": min(usual.gap_min_mm, max(0.0, round(gap_mm - 0.05, 3))),
            "gap_max_mm": max(usual.gap_max_mm, round(gap_mm + 0.05, 3)),
        }
        if self.tip_mm is not None:
            sizes["tip_flat_mm"] = max(0.1, round(self.tip_mm, 2))
        if self.faces != "none":
            sizes["label_depth_mm"] = round(self.label_mm, 2)
        fit = "none"
        if self.recess_mm is not None:
            magnet_mm = usual.magnet_diameter_mm
            if not -0.2 < self.recess_mm - magnet_mm < 1.0:  # magnets come in half millimetres
                magnet_mm = math.floor(2 * self.recess_mm + 1e-6) / 2
            more_mm = round(self.recess_mm - magnet_mm, 2)
            height_mm = self.depth_mm - (usual.air_mm + MAX_AIR_MM) / 2
            fit = "embedded" if self.embedded else "glue" if more_mm >= 0.3 else "press"
            sizes[f"{fit}_mm"] = more_mm
            sizes["magnet_diameter_mm"] = round(magnet_mm, 2)
            sizes["magnet_height_mm"] = round(height_mm, 1)
            if not self.embedded:
                sizes["lead_in_mm"] = max(0.0, round(self.lead_in_mm, 2))
                most_mm = sizes["magnet_diameter_mm"] / 2
                release_mm = min(max(LEAST_RELEASE_MM, round(self.release_mm, 2)), most_mm)
                sizes["release_mm"] = release_mm if self.release_mm else 0.0
        title = "As measured on meshes"
        return replace(usual, name="measured", title=title, faces=self.faces, fit=fit, **sizes)


def measure_sizes(
    common: CommonSizes, parts: Sequence[Part], features: Sequence[Features]
) -> MeasuredSizes:
    """Measure the sizes of most flat pieces, given their features; at least one must be fitted."""
    pairs = zip(parts, features, strict=True)
    read = [(part, part_features) for part, part_features in pairs if part.outline]
    recesses = [recess for _, part_features in read for recess in part_features.recesses]
    recesses_mm = [fit_circle(recess.middle).diameter_mm for recess in recesses]
    lead_ins_mm = [max(0.0, recess.lead_in_mm) if recess.below else 0.0 for recess in recesses]
    releases = [release for _, part_features in read for release in part_features.releases]
    widths = [fit_circle(release.cuts[-1][1]).diameter_mm for release in releases]
    labels = [label for _, part_features in read for label in part_features.labels]
    tops = [_inside_mm(part, part.sections.flat(part.thickness_mm, UP)) for part, _ in read]
    feet = [_inside_mm(part, part.sections.flat(0.0, DOWN)) for part, _ in read]
    tips = [width for part, _ in read for width, _ in tip_flats(part)]
    edge_mm = max(median(tops), median(feet))
    widest = read[int(np.argmax(np.maximum(tops, feet)))][0]
    # Halfway up, a chamfer is inset by half of its width, a fillet by 0.13 of it.
    halfway = [widest.sections.at(z) for z in (edge_mm / 2, widest.thickness_mm - edge_mm / 2)]
    on_face = [any(label.above for label in part_features.labels) for _, part_features in read]
    on_back = [any(label.below for label in part_features.labels) for _, part_features in read]
    fronts, backs = 2 * sum(on_face) > len(read), 2 * sum(on_back) > len(read)
    closed = [recess for recess in recesses if not recess.below and not recess.above]
    return MeasuredSizes(
        common,
        top_mm=median(tops),
        foot_mm=median(feet),
        rounded=edge_mm > _NONE_MM
        and max(_inside_mm(widest, cut) for cut in halfway) < 0.3 * edge_mm,
        tip_mm=median(tips) if tips else None,
        recess_mm=median(recesses_mm) if 2 * len(recesses_mm) > len(read) else None,
        depth_mm=median([recess.depth_mm for recess in recesses] or [0.0]),
        lead_in_mm=median(lead_ins_mm or [0.0]),
        release_mm=median(widths) if 2 * len(widths) > len(recesses) else 0.0,
        embedded=2 * len(closed) > len(recesses),
        faces=("both" if backs else "front") if fronts else "none",
        label_mm=median([label.depth_mm for label in labels] or [0.0]),
    )


def _inside_mm(part: Part, area: BaseGeometry) -> float:
    """The typical inset of an area from the part's outline, at the middles of long sides."""
    rim = filled(area)
    middles = edge_midpoints(Polygon(part.silhouette.exterior))
    return 0.0 if rim.is_empty else median(middle.distance(rim) for middle in middles)
