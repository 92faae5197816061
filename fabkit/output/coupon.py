"""The sheets of a calibration: where to measure a coupon, and the residuals of the fit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from shapely import affinity

from fabkit.drawing.coupon import CouponPart, CouponPlace, places_in_order
from fabkit.drawing.outline import PointMm
from fabkit.drawing.part import PartDrawing
from fabkit.output.canvas import Canvas, draw_area, draw_scale_bar
from fabkit.output.pdf import PdfPage, draw_pdf
from fabkit.output.svg import Drawing
from fabkit.output.theme import LIGHT

_PAGE = (210.0, 297.0)  # A4 portrait
_LARGE_PAGE = (210.0, 148.0)  # A5 landscape, for the enlarged parts
_LEFT = 12.0  # the left margin of both
_TOP = 285.0  # the upper end of the text
_PARTS_Y = 186.0  # the lower end of the parts
_TABLE_MM = 12.0  # the distance from the parts to the table
_ROW_MM = 7.2  # height of a row of the table
_COLUMN_MM = 96.0  # width of one of its two columns
_BLANK_MM = 27.0  # width of the blank for a reading
_LARGER = 2.5  # scale of the enlarged parts
_WRONG = "#d55e00"  # the colour of measuring lines and outliers
#: The style of parts and pieces.
_AREA = {"fill": LIGHT.socket, "stroke": LIGHT.ink, "stroke_width": "0.18"}
#: The style of measuring lines.
_LINE = {"stroke": _WRONG, "stroke_width": "0.25"}
_CHART_ROW_MM = 5.0  # height of a row of the chart
_CHART_HEAD_MM = 22.0  # height above the chart, for its title
_CHART_LEFT_MM = 52.0  # width for the names of values
_CHART_WIDTH_MM = 110.0  # width of the chart between greatest residuals
_CHART_MARGIN_MM = 8.0  # the margin around it
#: How to measure a printed coupon.
_PRINTED = (
    "Print at 100%: the bar below must be 100 mm long. Let the coupon cool down and remove any "
    "burrs.",
    "At each number, measure along its line (enlarged on page 2) and write down the reading in mm.",
    "Skip what you cannot reach; write down repeated readings, too. Line 10 runs along X, line 20 "
    "along Y.",
    "Outside: hold the jaws at half height. At the bed: rest them on the table, so that they touch "
    "the",
    "lowest layer. Inside and holes: turn and tilt a little; for a hole, the largest reading "
    "counts.",
    "80: press a magnet into the recesses from below, A (narrow) first. Stop at the first that "
    "lets it fall",
    "when you knock the strip on the table, and write down the letter before it.",
)
#: How to measure a coupon that was cut.
_CUT = (
    "Print at 100%: the bar below must be 100 mm long. Cut with the settings you will use for the "
    "set,",
    "without kerf compensation. Measure tabs with the outside jaws and slots with the inside jaws, "
    "and",
    "write down the readings in mm. Skip what you cannot reach.",
)


def coupon_sheet(
    parts: Sequence[CouponPart], pieces: Sequence[PartDrawing], title: str, laser: bool
) -> bytes:
    """Draw the coupon at 1:1 on an A4 page, as PDF: parts with the places to measure, a table to
    fill in, and two pieces that fit side by side. The title names what the coupon is for. A second
    page shows the parts enlarged."""

    def draw(page: PdfPage) -> None:
        page.text(_LEFT, _TOP - 4, f"Coupon · {title[:60]}", 5.5, class_="title")
        for row, line in enumerate(_CUT if laser else _PRINTED):
            page.text(_LEFT, _TOP - 11.5 - 4.3 * row, line, 3.3)
        draw_scale_bar(page, (_LEFT, _TOP - 41), 100.0, LIGHT)
        for part in parts:
            _part(page, part, (_LEFT + 6 + part.origin_mm[0], _PARTS_Y + part.origin_mm[1]))
        low_mm = min(part.origin_mm[1] for part in parts)
        left = 140.0
        for piece in pieces:
            x, y, right, _ = piece.outline.bounds
            moved = affinity.scale(piece.outline, 0.5, 0.5, origin=(x, y))
            draw_area(page, moved, (left - x, _PARTS_Y + 12 - y), **_AREA)
            left += (right - x) / 2 + 3
        if pieces:
            names = " and ".join(piece.piece for piece in pieces)
            page.text(140.0, _PARTS_Y + 4, f"{names} (drawn 1 : 2), side by side: do they", 2.8)
            page.text(140.0, _PARTS_Y, "fit together once the profile is calibrated?", 2.8)
        gauges = places_in_order(parts)
        half = math.ceil(len(gauges) / 2)
        for column, column_gauges in enumerate((gauges[:half], gauges[half:])):
            _rows(page, column_gauges, _LEFT + column * _COLUMN_MM, _PARTS_Y + low_mm - _TABLE_MM)

    def draw_large(page: PdfPage) -> None:
        heading = f"Enlarged {_LARGER:g} : 1"
        page.text(_LEFT, _LARGE_PAGE[1] - 9, heading, 5.5, class_="title")
        with page.scaled((_LEFT + 20, 6.0), 1 / _LARGER):
            for part in parts:
                if not part.recesses:  # on others nothing is measured
                    _part(page, part, part.origin_mm)
                    _numbers(page, part, part.origin_mm)

    subject = "places to measure and a table to fill in"
    return draw_pdf(f"Coupon: {title}", subject, [(*_PAGE, draw), (*_LARGE_PAGE, draw_large)])


def _part(canvas: Canvas, part: CouponPart, by_mm: PointMm) -> None:
    """Draw a part, its engraved numbers, and its measuring lines between two ticks."""
    draw_area(canvas, part.outline, by_mm, **_AREA)
    for recess in part.recesses:
        (x, y), width_mm = recess.centre_mm, recess.diameters.widest_mm
        canvas.circle(x + by_mm[0], y + by_mm[1], width_mm / 2, fill="none", **_LINE)
    for letters in part.letterings:
        draw_area(canvas, letters.polygon(), by_mm, fill=LIGHT.ink)
    for gauge in part.places:
        if gauge.line_mm:
            ends = [(x + by_mm[0], y + by_mm[1]) for x, y in gauge.line_mm]
            canvas.line(ends, **_LINE)
            tick = (0.0, 0.8) if gauge.axis == "x" else (0.8, 0.0)
            for x, y in ends:
                canvas.line([(x - tick[0], y - tick[1]), (x + tick[0], y + tick[1])], **_LINE)


def _numbers(canvas: Canvas, part: CouponPart, by_mm: PointMm) -> None:
    """Repeat the numbers of places at the ends of their lines; inside a slot, beside its line."""
    for gauge in part.places:
        if gauge.line_mm:
            ends = [(x + by_mm[0], y + by_mm[1]) for x, y in gauge.line_mm]
            (ax, ay), (x, y) = ends
            is_open = gauge.kind in ("slot", "gap")
            if gauge.axis == "x":
                corner = ((ax + x) / 2, y + 0.5) if is_open else (x + 1.4, y - 0.6)
            else:
                corner = (x + 1.2, (ay + y) / 2 - 0.6) if is_open else (x, y + 1.0)
            canvas.text(*corner, str(gauge.number), 1.6, text_anchor="middle", fill=_LINE["stroke"])


def _rows(canvas: Canvas, gauges: Sequence[CouponPlace], x: float, top: float) -> None:
    """Draw a table with room to write in."""
    for offset, heading in ((0, "No."), (11, "feature"), (48, "nominal"), (63, "measured, mm")):
        canvas.text(x + offset, top, heading, 3.0, class_="quiet")
    for row, gauge in enumerate(gauges, start=1):
        y = top - _ROW_MM * row
        canvas.text(x, y, str(gauge.number), 4.0, class_="title")
        canvas.text(x + 11, y, gauge.what, 3.4)
        canvas.text(x + 48, y, f"{gauge.nominal_mm:.2f}", 3.4)
        canvas.line([(x + 63, y - 1), (x + 63 + _BLANK_MM, y - 1)], **_LINE | {"stroke": LIGHT.ink})


@dataclass(frozen=True)
class Residual:
    """The residual of a value: measured minus expected, in mm, with half its 95% interval. An
    outlier is `left_out` of the fit."""

    name: str
    off_mm: float
    half_mm: float
    left_out: bool


def residual_chart(residuals: Sequence[Residual], title: str) -> str:
    """Draw a row for each value: its residual as a dot, its 95% interval as a bar. Outliers are
    red, at the edge if they lie beyond it. Returns an SVG document in mm."""
    largest = max(
        abs(residual.off_mm) + residual.half_mm for residual in residuals if not residual.left_out
    )
    step = next(length for length in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1) if 4 * length >= largest)
    span = max(step, -(-largest // step) * step)
    height = _CHART_HEAD_MM + _CHART_ROW_MM * (len(residuals) + 1) + _CHART_MARGIN_MM
    drawing = Drawing(_CHART_LEFT_MM + _CHART_WIDTH_MM + 2 * _CHART_MARGIN_MM, height, title)

    def x_of(off_mm: float) -> float:
        return _CHART_LEFT_MM + _CHART_WIDTH_MM / 2 * (1 + min(1.04, max(-1.04, off_mm / span)))

    drawing.text(_CHART_MARGIN_MM, height - 10, title, 4.6, class_="title")
    subtitle = "measured minus expected, in mm, with 95% intervals"
    drawing.text(_CHART_MARGIN_MM, height - 16, subtitle, 3.2, class_="quiet")
    theme = drawing.theme
    bottom, top = _CHART_MARGIN_MM + _CHART_ROW_MM, height - _CHART_HEAD_MM
    for number in range(-round(span / step), round(span / step) + 1):
        mark = round(step * number, 3)
        line = theme.lined("faint" if number else "quiet")
        drawing.line([(x_of(mark), bottom), (x_of(mark), top)], stroke_width="0.25", **line)
        drawing.text(x_of(mark), bottom - 4, f"{mark:g}", 3.0, text_anchor="middle")
    for row, residual in enumerate(residuals):
        y = top - _CHART_ROW_MM * (row + 0.5)
        off_mm, half_mm = residual.off_mm, residual.half_mm
        low, middle, high = map(x_of, (off_mm - half_mm, off_mm, off_mm + half_mm))
        text, line, dot = {}, theme.lined("ink"), theme.filled("ink")
        if residual.left_out:
            text, line, dot = {"fill": _WRONG}, {"stroke": _WRONG}, {"fill": _WRONG}
        drawing.text(_CHART_MARGIN_MM, y - 1.1, residual.name, 3.2, **text)
        drawing.line([(low, y), (high, y)], stroke_width="0.4", **line)
        drawing.circle(middle, y, 0.9, **dot)
        if residual.left_out:
            by_mm, anchor = (-2, "end") if off_mm > 0 else (2, "start")
            label = f"{off_mm:+.2f}, excluded"
            drawing.text(middle + by_mm, y + 1, label, 3.0, text_anchor=anchor, **text)
    return drawing.source()
