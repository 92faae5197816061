"""The drawing of a coupon, to be printed beside it: where to measure, and a table to fill in."""

from __future__ import annotations

import math
from collections.abc import Sequence

from shapely import affinity

from fabkit.drawing.coupon import CouponPart, Place, in_order
from fabkit.drawing.outline import PointMm
from fabkit.drawing.part import PartDrawing
from fabkit.output.booklet.pdf import PdfBook
from fabkit.output.canvas import Canvas, draw_area, scale_bar
from fabkit.output.theme import LIGHT

#: A5 on its side, for a second page on which the parts are drawn larger.
_LARGE_PAGE = (210.0, 148.0)
#: A4, upright: of the page, its margin, and where parts are drawn.
_PAGE, _LEFT, _TOP, _PARTS_Y = (210.0, 297.0), 12.0, 285.0, 186.0
_ROW_MM, _COLUMN_MM, _BLANK_MM, _LARGER = 7.2, 96.0, 27.0, 2.5
_PRINTED = (
    "Print at 100 %: the bar below is 100 mm long. Let the coupon cool down, and take off burrs.",
    "Measure at each number along its line (page 2 shows them larger), and write down what you read,",
    "in mm. Leave out what you cannot reach; of several readings write all. X is as 10 lies, Y as 20.",
    "Outside: hold the jaws at half the height. At the bed: let them rest on the table, so that the",
    "lowest layer counts. Inside and holes: turn and tilt a little; of a hole the most counts.",
)
_CUT = (
    "Print at 100 %: the bar below is 100 mm long. Cut with the settings that you will cut with, and",
    "no kerf compensation. Measure tabs with the outside jaws and slots with the inside jaws, and",
    "write down what you read, in mm. Leave out what you cannot reach.",
)


def coupon_sheet(
    parts: Sequence[CouponPart], pieces: Sequence[PartDrawing], title: str, laser: bool
) -> bytes:
    """An A4 page at 1:1, as PDF.

    Args:
        parts: with the places to measure.
        pieces: two that belong side by side; they are drawn beside the parts.
        title: what it is made for.
    """
    book = PdfBook(f"Coupon: {title}", "places to measure, and a table to fill in", "en")
    page = book.add_page(*_PAGE, "coupon")
    page.text(_LEFT, _TOP - 4, f"Coupon · {title[:60]}", 5.5, class_="title")
    for row, line in enumerate(_CUT if laser else _PRINTED):
        page.text(_LEFT, _TOP - 12 - 4.6 * row, line, 3.3)
    scale_bar(page, (_LEFT, _TOP - 41), 100.0, LIGHT)
    for part in parts:
        _part(page, part, (_LEFT + 6 + part.lies_mm[0], _PARTS_Y + part.lies_mm[1]))
    left = 140.0
    for piece in pieces:
        x, y, right, _ = piece.outline.bounds
        moved = affinity.scale(piece.outline, 0.5, 0.5, origin=(x, y))
        draw_area(page, moved, (left - x, _PARTS_Y + 12 - y), **_AREA)
        left += (right - x) / 2 + 3
    if pieces:
        names = " and ".join(one.piece for one in pieces)
        page.text(140.0, _PARTS_Y + 4, f"{names} (drawn 1 : 2), side by side: do they", 2.8)
        page.text(140.0, _PARTS_Y, "go together once the profile is calibrated?", 2.8)
    places = in_order(parts)
    half = math.ceil(len(places) / 2)
    for column, some in enumerate((places[:half], places[half:])):
        _rows(page, some, _LEFT + column * _COLUMN_MM, _PARTS_Y - 22)
    large = book.add_page(*_LARGE_PAGE, "large")
    large.text(_LEFT, _LARGE_PAGE[1] - 9, f"The same, drawn {_LARGER:g} : 1", 5.5, class_="title")
    with large.shrunk((_LEFT + 20, 6.0), 1 / _LARGER):
        for part in parts:
            _part(large, part, part.lies_mm)
            _numbers(large, part, part.lies_mm)
    return book.finish()


_AREA = {"fill": LIGHT.seat, "stroke": LIGHT.ink, "stroke_width": "0.18"}
_LINE = {"stroke": "#d55e00", "stroke_width": "0.25"}


def _part(canvas: Canvas, part: CouponPart, by_mm: PointMm) -> None:
    """A part, its numbers where they are engraved, and its lines between two ticks."""
    dx, dy = by_mm
    draw_area(canvas, part.outline, by_mm, **_AREA)
    for one in part.places:
        draw_area(canvas, one.lettering().polygon(), by_mm, fill=LIGHT.ink)
    for one in part.places:
        if one.line_mm:
            ends = [(x + dx, y + dy) for x, y in one.line_mm]
            canvas.line(ends, **_LINE)
            tick = (0.0, 0.8) if one.axis == "x" else (0.8, 0.0)
            for x, y in ends:
                canvas.line([(x - tick[0], y - tick[1]), (x + tick[0], y + tick[1])], **_LINE)


def _numbers(canvas: Canvas, part: CouponPart, by_mm: PointMm) -> None:
    """The numbers of places once more, where their lines end; of a slot in it, beside its line."""
    for one in part.places:
        if one.line_mm:
            (ax, ay), (x, y) = ((x + by_mm[0], y + by_mm[1]) for x, y in one.line_mm)
            is_open = one.kind in ("slot", "gap")
            if one.axis == "x":
                at = ((ax + x) / 2, y + 0.5) if is_open else (x + 1.4, y - 0.6)
            else:
                at = (x + 1.2, (ay + y) / 2 - 0.6) if is_open else (x, y + 1.0)
            canvas.text(*at, str(one.number), 1.6, text_anchor="middle", fill=_LINE["stroke"])


def _rows(canvas: Canvas, places: Sequence[Place], x: float, top: float) -> None:
    """A table with room to write into."""
    for at, words in ((0, "No."), (11, "what"), (48, "nominal"), (63, "measured, mm")):
        canvas.text(x + at, top, words, 3.0, class_="quiet")
    for row, one in enumerate(places, start=1):
        y = top - _ROW_MM * row
        canvas.text(x, y, str(one.number), 4.0, class_="title")
        canvas.text(x + 11, y, one.what, 3.4)
        canvas.text(x + 48, y, f"{one.nominal_mm:.2f}", 3.4)
        canvas.line([(x + 63, y - 1), (x + 63 + _BLANK_MM, y - 1)], **_LINE | {"stroke": LIGHT.ink})
