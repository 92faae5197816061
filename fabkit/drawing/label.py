"""Where a piece's letter goes, and how large it can be."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left
from dataclasses import dataclass

from shapely import LineString, Point, Polygon, affinity, union_all
from shapely.geometry.base import BaseGeometry
from shapely.ops import nearest_points

from fabkit.core.units import format_mm
from fabkit.drawing.glyphs import Lettering, lettering, strokes_are_at_least
from fabkit.drawing.printed import BlueprintError, PointMm
from fabkit.model.profile import Profile

_SIZE_STEP_MM = 0.1
_ROOMIER = (4, 2)


@dataclass(frozen=True)
class Label:
    """The letter of one piece, placed.

    Attributes:
        text: what is engraved.
        cap_height_mm: height of its capitals.
        depth_mm: of the engraving.
        faces: ``front`` or ``both``.
        centre_mm: middle of the text's bounding box, in the frame of the outline.
        front: the contours as seen from the lettered face, in the frame of the outline.
        back: the same for the back (mirrored, so that it reads from there), or None.
    """

    text: str
    cap_height_mm: float
    depth_mm: float
    faces: str
    centre_mm: PointMm
    front: Lettering
    back: Lettering | None


def place_label(text: str, face: Polygon, balance: Point, profile: Profile) -> Label | None:
    """Places a letter on a face, as near to the balance as it can lie.

    It has the profile's cap height, or up to half as much more if its strokes need that to be
    wide enough, or the largest that fits.

    Args:
        text: what to engrave.
        face: the flat part of the face, inside the chamfer, in mm.
        balance: where the letter would best be.
        profile: gives size, margin, depth and faces.

    Returns:
        The label; None when the profile asks for none.

    Raises:
        BlueprintError: when only a letter with strokes thinner than the profile's would fit.
    """
    if profile.faces == "none":
        return None
    unscaled = lettering(text)
    shape = unscaled.polygon()
    if profile.faces == "both":
        shape = shape.union(affinity.scale(shape, xfact=-1, origin=(0, 0)))
    wanted_mm = _wanted_height_mm(unscaled.polygon(), profile)
    cap_height_mm, places = _largest_place(shape, face, wanted_mm, profile.label_margin_mm)
    if cap_height_mm == 0:
        raise BlueprintError(
            f"label.margin {format_mm(profile.label_margin_mm)} leaves no room for a letter; choose a "
            "smaller margin, a larger unit or label.faces none"
        )
    if not strokes_are_at_least(_scaled(unscaled.polygon(), cap_height_mm), profile.stroke_mm):
        raise BlueprintError(_too_thin(cap_height_mm, wanted_mm, profile))
    nearest, _ = nearest_points(places, balance)
    x_mm, y_mm = round(nearest.x, 3), round(nearest.y, 3)
    both = profile.faces == "both"
    return Label(
        text,
        cap_height_mm,
        profile.label_depth_mm,
        profile.faces,
        (x_mm, y_mm),
        unscaled.moved(x_mm, y_mm, cap_height_mm),
        unscaled.moved(x_mm, y_mm, cap_height_mm, mirrored=True) if both else None,
    )


def _too_thin(cap_height_mm: float, wanted_mm: float, profile: Profile) -> str:
    """Why a letter of that height cannot be engraved; a larger one helps only where there is room."""
    stroke = f"thinner than label.stroke {format_mm(profile.stroke_mm)}"
    if cap_height_mm < wanted_mm:
        return (
            f"the largest letter that fits is {format_mm(cap_height_mm)} high, and its strokes are "
            f"{stroke}; choose a shorter label, a larger unit, a smaller label.stroke or "
            "label.faces none"
        )
    return (
        f"the strokes of a letter of label.cap_height {format_mm(wanted_mm)} are {stroke}, and of one "
        f"half as high again, too; choose a larger label.cap_height, a smaller label.stroke or "
        "label.faces none"
    )


def _wanted_height_mm(unscaled: BaseGeometry, profile: Profile) -> float:
    """The profile's cap height; up to half as much more if the strokes were too thin at that."""

    def wide_enough(cap_height_mm: float) -> bool:
        return strokes_are_at_least(_scaled(unscaled, cap_height_mm), profile.stroke_mm)

    steps = math.ceil(profile.cap_height_mm / _SIZE_STEP_MM)
    larger = [round(step * _SIZE_STEP_MM, 6) for step in range(steps, steps * 3 // 2 + 1)]
    if wide_enough(profile.cap_height_mm) or not wide_enough(larger[-1]):
        return profile.cap_height_mm
    return larger[bisect_left(larger, True, key=wide_enough)]


def _largest_place(
    shape: BaseGeometry, face: Polygon, wanted_mm: float, margin_mm: float
) -> tuple[float, BaseGeometry]:
    """The largest cap height that fits, and where the letter may then lie (0 if nowhere).

    At full size the letter takes more room than the margin if the face has it; the margin
    itself is for pieces that are tight.
    """

    def places(cap_height_mm: float, margin_mm: float) -> BaseGeometry:
        return _places(_scaled(shape, cap_height_mm), face.buffer(-margin_mm))

    for times in (*_ROOMIER, 1):
        found = places(wanted_mm, margin_mm * times)
        if not found.is_empty:
            return wanted_mm, found
    # A smaller letter lies inside a larger one, so the sizes that fit are all below one limit.
    bottom, top = face.bounds[1], face.bounds[3]
    low, high = 0, math.ceil(min(wanted_mm, top - bottom) / _SIZE_STEP_MM)
    while high - low > 1:
        middle = (low + high) // 2
        fits = not places(middle * _SIZE_STEP_MM, margin_mm).is_empty
        low, high = (middle, high) if fits else (low, middle)
    cap_height_mm = round(low * _SIZE_STEP_MM, 6)
    return cap_height_mm, places(cap_height_mm, margin_mm) if low else Polygon()


def _scaled(shape: BaseGeometry, factor: float) -> BaseGeometry:
    return affinity.scale(shape, factor, factor, origin=(0, 0))


def _places(shape: BaseGeometry, room: BaseGeometry) -> BaseGeometry:
    """Where the origin of a shape may lie so that its convex hull stays inside the room.

    The hull meets an edge of the room exactly when the origin lies in the sweep of the
    mirrored hull along that edge (a Minkowski sum), so all sweeps are cut away.
    """
    mirrored = [(-x, -y) for x, y in shape.convex_hull.exterior.coords]
    sweeps = []
    for polygon in getattr(room, "geoms", [room]):
        for ring in (polygon.exterior, *polygon.interiors):
            corners = list(ring.coords)
            for start, end in itertools.pairwise(corners):
                both = [(x + px, y + py) for px, py in (start, end) for x, y in mirrored]
                sweeps.append(LineString(both).convex_hull)
    return room.difference(union_all(sweeps)) if sweeps else room
