"""The small picture in a 3MF file: what lies on the plate, seen from above."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shapely import Polygon, union_all

from fabkit.drawing.outline import RingMm, rings_mm
from fabkit.output.look import ink_on

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

#: Where points in mm are in the picture.
_Pixels = Callable[[RingMm], list[tuple[float, float]]]

_SIZE = 256
_MARGIN = 12
#: Drawn this many times as large, then made smaller, so that edges are smooth.
_FINER = 4
_GROUND = (0, 0, 0, 0)


@dataclass(frozen=True)
class Patch:
    """An area of one colour.

    Attributes:
        area: in mm, where it lies.
        colour: ``#rrggbb``.
        marks: what shows on it, such as its letter, in black or white.
    """

    area: Polygon
    colour: str
    marks: tuple[Polygon, ...] = ()


def thumbnail(patches: Sequence[Patch]) -> bytes:
    """A square PNG picture of some areas, as large as it holds.

    Args:
        patches: at least one, the lower ones first.

    Example:
        >>> thumbnail([Patch(Polygon([(0, 0), (20, 0), (0, 20)]), "#e69f00")])[1:4]
        b'PNG'
    """
    from PIL import Image, ImageDraw

    side = _SIZE * _FINER
    left, bottom, right, top = union_all([patch.area for patch in patches]).bounds
    scale = (side - 2 * _MARGIN * _FINER) / max(right - left, top - bottom)
    middle = (left + right) / 2, (bottom + top) / 2

    def pixels(ring: RingMm) -> list[tuple[float, float]]:
        return [
            (side / 2 + (x - middle[0]) * scale, side / 2 - (y - middle[1]) * scale)
            for x, y in ring
        ]

    picture = Image.new("RGBA", (side, side), _GROUND)
    for patch in patches:
        mask = Image.new("L", (side, side), 0)
        _fill(ImageDraw.Draw(mask), patch.area, pixels)
        picture.paste(patch.colour, mask=mask)
        marks = Image.new("L", (side, side), 0)
        for mark in patch.marks:
            _fill(ImageDraw.Draw(marks), mark, pixels)
        picture.paste(ink_on(patch.colour), mask=marks)
    written = io.BytesIO()
    small = picture.resize((_SIZE, _SIZE), Image.Resampling.BOX)
    small.save(written, "PNG", optimize=True)
    return written.getvalue()


def _fill(draw: ImageDraw, area: Polygon, pixels: _Pixels) -> None:
    """An area in white, its holes in black."""
    for index, ring in enumerate(rings_mm(area)):
        draw.polygon(pixels(ring), fill=0 if index else 255)
