"""The small signs of the booklet: stars for how hard a challenge is, and a warning sign."""

from __future__ import annotations

import math

from fabkit.output.canvas import Canvas
from fabkit.output.theme import LIGHT

#: How many stars there are for the hardest challenges.
MOST_STARS = 5
#: From star to star, in radii of a star; and how deep the notches between its points are.
_STAR_STEP, _NOTCH = 2.3, 0.45
_STAR = "#b8860b"
_WARNING = "#f0c000"


def stars_width_mm(radius_mm: float) -> float:
    """How wide a row of stars is."""
    return _STAR_STEP * radius_mm * (MOST_STARS - 1) + 2 * radius_mm


def draw_stars(page: Canvas, x: float, y: float, radius_mm: float, count: int) -> None:
    """A row of stars from its left end, the first `count` filled; none for what is not rated."""
    reaches = [radius_mm, radius_mm * _NOTCH] * 5
    star = [
        (reach * math.cos(angle), reach * math.sin(angle))
        for corner, reach in enumerate(reaches)
        for angle in [math.pi * (0.5 + corner / 5)]
    ]
    style = {"stroke": _STAR, "stroke_width": f"{radius_mm / 10:.3f}", "stroke_linejoin": "round"}
    for place in range(MOST_STARS if count else 0):
        middle = x + radius_mm * (1 + _STAR_STEP * place)
        fill = _STAR if place < count else "none"
        page.polygon([[(middle + dx, y + dy) for dx, dy in star]], fill=fill, **style)


def draw_warning(page: Canvas, x: float, y: float, height_mm: float) -> None:
    """The sign for danger: a triangle with an exclamation mark, from its lower left corner."""
    width = height_mm * 2 / math.sqrt(3)
    edge = {"stroke": LIGHT.edge, "stroke_width": f"{height_mm / 12:.3f}"}
    corners = [(x, y), (x + width, y), (x + width / 2, y + height_mm)]
    page.polygon([corners], fill=_WARNING, **edge, stroke_linejoin="round")
    middle, stem = x + width / 2, height_mm * 0.06
    low, high = y + height_mm * 0.3, y + height_mm * 0.68
    mark = [(-stem, high), (-stem / 2, low), (stem / 2, low), (stem, high)]
    page.polygon([[(middle + dx, at) for dx, at in mark]], fill=LIGHT.edge)
    page.circle(middle, y + height_mm * 0.16, stem, fill=LIGHT.edge)
