"""The drawing of magnet jigs: cross-sections of each in use on a piece, with the poles of both magnets."""

from __future__ import annotations

from collections.abc import Sequence

from shapely import Polygon, box

from fabkit.core.colours import ink_on
from fabkit.core.units import format_mm
from fabkit.drawing.jig import OPPOSITE_POLE, Jig
from fabkit.drawing.magnets import recess_diameters
from fabkit.output.canvas import draw_area
from fabkit.output.svg import Drawing
from fabkit.profiles.layers import recess_span
from fabkit.profiles.profile import Profile

_SCALE = 2.0  # the scale of the drawing
_MARGIN_MM = 6.0  # the margin around the jigs
_BESIDE_MM = 30.0  # the room beside a jig, for its caption
_TEXT_MM = 2.2  # the height of texts
#: The customary colours of poles; grey for an unmarked half of a magnet.
_POLES = {"N": "#c8372d", "S": "#2f6db5", "": "#8a8f98"}


def jig_sheet(jigs: Sequence[Jig], profile: Profile) -> str:
    """Draw jigs as an SVG document, at twice their size."""
    wide_mm = jigs[0].collar_mm + _BESIDE_MM
    high_mm = profile.thickness_mm + jigs[0].drawing.thickness_mm
    size = 2 * _MARGIN_MM + len(jigs) * wide_mm, high_mm + 2 * _MARGIN_MM
    description = "Cross-section of each jig on a piece, with a magnet in the recess."
    drawing = Drawing(*size, "Magnet jig", description, scale=_SCALE)
    for number, jig in enumerate(jigs):
        _draw(drawing, jig, profile, _MARGIN_MM + number * wide_mm + jig.collar_mm / 2)
    return drawing.source()


def _draw(drawing: Drawing, jig: Jig, profile: Profile, middle_mm: float) -> None:
    """Draw a jig upside down on a partly printed piece, whose recess opens upwards."""
    span = recess_span(profile)
    by_mm = (middle_mm, _MARGIN_MM)
    from_back = profile.embedded and profile.facing == "up"
    back_mm = span.depth_mm + (span.low_mm if from_back else profile.thickness_mm - span.high_mm)
    half_mm, recess_mm = jig.collar_mm / 2, recess_diameters(profile).widest_mm / 2
    edge = {"stroke_width": "0.15", "stroke_linejoin": "round", "stroke": drawing.theme.edge}
    piece = box(-half_mm - 3, 0, half_mm + 3, back_mm)
    piece -= box(-recess_mm, back_mm - span.depth_mm, recess_mm, back_mm)
    draw_area(drawing, piece, by_mm, **drawing.theme.filled("socket"), **edge)
    stem_mm = jig.drawing.thickness_mm - jig.post_height_mm
    shaft_mm = jig.shaft_mm / 2
    post_mm = jig.post_mm / 2
    tip_mm = back_mm - jig.post_height_mm
    top_mm = back_mm + stem_mm
    end_mm = top_mm - jig.shaft_depth_mm
    half = [(0, tip_mm), (post_mm, tip_mm), (post_mm, back_mm), (half_mm, back_mm)]
    half += [(half_mm, top_mm), (shaft_mm, top_mm), (shaft_mm, end_mm), (0, end_mm)]
    stem = Polygon([*half, *((-x, y) for x, y in reversed(half))])
    draw_area(drawing, stem, by_mm, fill=jig.drawing.colour, **edge)
    radius_mm, height_mm = profile.magnet_diameter_mm / 2, profile.magnet_height_mm
    # Both magnets have the same orientation and so attract each other: the tip's pole is the lower one.
    for low_mm in (end_mm, tip_mm - height_mm):
        for pole, up_mm in ((jig.tip, 0.0), (OPPOSITE_POLE[jig.tip], height_mm / 2)):
            y_mm = low_mm + up_mm
            area = box(-radius_mm, y_mm, radius_mm, y_mm + height_mm / 2)
            draw_area(drawing, area, by_mm, fill=_POLES[pole], **edge)
            base_mm = by_mm[1] + y_mm + 0.1 * height_mm
            letter = {"text_anchor": "middle", "fill": ink_on(_POLES[pole])}
            drawing.text(middle_mm, base_mm, pole, 0.4 * height_mm, **letter)
    beside_mm = middle_mm + half_mm + 4
    post = f"post {jig.post_mm:g} x {format_mm(jig.post_height_mm)}" if jig.post_mm else "no post"
    captions = [jig.drawing.piece, "glued-in magnet,", f"collar {format_mm(jig.collar_mm)},", post]
    for line, text in enumerate(captions):
        base_mm = by_mm[1] + top_mm - (1 + 1.6 * line) * _TEXT_MM
        drawing.text(beside_mm, base_mm, text, _TEXT_MM, class_="quiet" if line else "title")
