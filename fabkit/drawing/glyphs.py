"""Letters as outlines from the shipped font: curves for solids, polygons for checks.

The font file is read directly: a CAD kernel's own text silently falls back to another font, and its
size depends on the font.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from shapely import Polygon, get_parts, union_all
from shapely.geometry.base import BaseGeometry

from fabkit.core.errors import quote
from fabkit.drawing.outline import DrawingError, PointMm

#: The shipped font of all letters on pieces and boards.
FONT = Path(__file__).resolve().parent / "fonts" / "OpenSans-ExtraBold.ttf"

#: A line (two points) or a quadratic Bézier curve (start, control, end).
Segment = tuple[PointMm, ...]
Contour = tuple[Segment, ...]

#: Chords of a curve in polygons for checks.
_STEPS_PER_CURVE = 12
#: What an opening may cut off a corner, in squared stroke widths (a right angle loses 0.05,
#: the sharpest corner of the font 0.3; a stroke that is too thin loses its whole length).
_CORNER_AREA = 0.4


@dataclass(frozen=True)
class Lettering:
    """A short text as closed contours, outer ones and counters; curves are kept as curves."""

    contours: tuple[Contour, ...]

    def parts(self) -> list[tuple[Contour, list[Contour]]]:
        """Return the separate parts of the text, each an outer contour with its counters."""
        shapes = [(Polygon(flatten_contour(contour)), contour) for contour in self.contours]
        shapes.sort(key=lambda shape: -shape[0].area)
        # Contours nest: an even number of others around it makes an outer one (the bar of a
        # theta lies in its counter), an odd number a counter of the innermost of them.
        counters = dict[int, list[Contour]]()
        for number, (shape, contour) in enumerate(shapes):
            around = [i for i in range(number) if shapes[i][0].contains(shape)]
            if len(around) % 2:
                counters[around[-1]].append(contour)
            else:
                counters[number] = []
        return [(shapes[number][1], inner) for number, inner in counters.items()]

    def polygon(self) -> BaseGeometry:
        """Return the text's area, with curves as short chords."""
        parts = [(flatten_contour(outer), inner) for outer, inner in self.parts()]
        return union_all([Polygon(outer, [*map(flatten_contour, inner)]) for outer, inner in parts])

    def moved(
        self, x_mm: float, y_mm: float, scale: float = 1.0, mirrored: bool = False
    ) -> Lettering:
        """Return the text scaled about the origin (and mirrored left to right), then moved."""
        across = -scale if mirrored else scale
        return self._mapped(lambda point: (x_mm + across * point[0], y_mm + scale * point[1]))

    def turned(self) -> Lettering:
        """Return the text rotated about the origin by a quarter turn, counter-clockwise."""
        return self._mapped(lambda point: (-point[1], point[0]))

    def _mapped(self, move: Callable[[PointMm], PointMm]) -> Lettering:
        contours = (tuple(tuple(map(move, each)) for each in contour) for contour in self.contours)
        return Lettering(tuple(contours))


@lru_cache(maxsize=256)
def lettering(text: str) -> Lettering:
    """Set a text with capitals 1 mm high.

    Raises:
        DrawingError: when the font has no outline for a character.

    Example:
        >>> width, height = lettering("H").polygon().bounds[2:]
        >>> round(2 * height, 6)
        1.0
    """
    contours: list[Contour] = []
    pen_x = 0.0
    for character in text:
        glyph, advance = _glyph(character)
        if not glyph:
            raise DrawingError(f"the font has no letter {quote(character)}; choose another label")
        contours += Lettering(glyph).moved(pen_x, 0.0).contours
        pen_x += advance
    points = [point for contour in contours for segment in contour for point in segment]
    left, bottom = map(min, zip(*points, strict=True))
    right, top = map(max, zip(*points, strict=True))
    return Lettering(tuple(contours)).moved(-(left + right) / 2, -(bottom + top) / 2)


def strokes_are_at_least(area: BaseGeometry, width_mm: float) -> bool:
    """Return whether no stroke of a text is thinner than a width.

    A disc of that diameter must reach everything except the corners (a morphological opening; the
    unreachable part of a thin stroke is larger than a corner) without leaving the text: if it
    cannot pass a waist, as that of a 3, the area of its centres falls into parts, or opens around
    a counter.

    Example:
        >>> bar = Polygon([(0, 0), (5, 0), (5, 1), (0, 1)])
        >>> strokes_are_at_least(bar, 0.9), strokes_are_at_least(bar, 1.1)
        (True, False)
    """
    centres = area.buffer(-width_mm / 2)
    if _parts_and_counters(centres) != _parts_and_counters(area):
        return False
    corners = area.difference(centres.buffer(width_mm / 2 * 1.001))
    return all(part.area <= _CORNER_AREA * width_mm**2 for part in get_parts(corners))


def _parts_and_counters(area: BaseGeometry) -> tuple[int, int]:
    parts = [part for part in get_parts(area) if not part.is_empty]
    return len(parts), sum(len(part.interiors) for part in parts)


@lru_cache(maxsize=1)
def _font() -> tuple[Any, dict[int, str], float]:
    """Return the font's glyphs, their names by character, and the height of a capital H."""
    from fontTools.ttLib import TTFont

    font = TTFont(io.BytesIO(FONT.read_bytes()), lazy=True)
    return font.getGlyphSet(), font.getBestCmap(), float(font["glyf"]["H"].yMax)


@lru_cache(maxsize=256)
def _glyph(character: str) -> tuple[tuple[Contour, ...], float]:
    """Return a character's contours and advance, scaled so that a capital H is 1 mm high."""
    from fontTools.pens.basePen import decomposeQuadraticSegment
    from fontTools.pens.recordingPen import DecomposingRecordingPen

    glyphs, names, cap_height = _font()
    if ord(character) not in names:
        return (), 0.0
    pen = DecomposingRecordingPen(glyphs)
    glyphs[names[ord(character)]].draw(pen)
    contours: list[list[Segment]] = []
    for operation, points in pen.value:
        if operation == "moveTo":
            contours.append([])
            start = here = points[0]
            continue
        to = points or (start,)  # a closed contour goes back there
        for curve in decomposeQuadraticSegment(to) if operation == "qCurveTo" else [to]:
            segment = tuple((x / cap_height, y / cap_height) for x, y in (here, *curve))
            here = curve[-1]
            contours[-1] += [segment] if segment[0] != segment[-1] else []
    return tuple(map(tuple, contours)), glyphs[names[ord(character)]].width / cap_height


def flatten_contour(contour: Contour, off_mm: float | None = None) -> list[PointMm]:
    """Flatten a contour: a fixed number of chords on each curve, or as a tolerance requires."""
    corners = []
    for segment in contour:
        (ax, ay), (bx, by), (cx, cy) = segment[0], segment[-2], segment[-1]
        steps = _STEPS_PER_CURVE if len(segment) == 3 else 1
        if len(segment) == 3 and off_mm is not None:
            # Chords of a parabola, n of them, lie at most a quarter of its bend by n squared off
            # it.
            bend_mm = math.hypot(ax - 2 * bx + cx, ay - 2 * by + cy)
            steps = max(1, math.ceil(math.sqrt(bend_mm / (4 * off_mm))))
        for step in range(steps):
            t = step / steps
            a, b, c = (1 - t) ** 2, 2 * t * (1 - t), t * t  # the Bernstein polynomials
            corners.append((a * ax + b * bx + c * cx, a * ay + b * by + c * cy))
    return corners
