"""PNG images: of drawings, with the shipped fonts only, and thumbnails of plates in 3MF files."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from shapely import Polygon, union_all

from fabkit.core.colours import ink_on
from fabkit.core.errors import InputError
from fabkit.drawing.outline import rings_mm
from fabkit.output.theme import FAMILY, font_path
from fabkit.output.typeset import font_characters

MIN_WIDTH = 64  # the minimum width of an image, in pixels
MAX_WIDTH = 8000  # its maximum width, in pixels
_MAX_PIXELS = 100_000_000  # its maximum number of pixels: more take gigabytes
_SIDE = 256  # the side of a thumbnail, in pixels
_MARGIN = 12  # its margin, in pixels
_FINER = 4  # samples of a pixel in each direction


def svg_to_png(svg: str, width_px: int | None = None) -> bytes:
    """Render an SVG drawing of fabkit as PNG; the theme ``auto`` becomes light. The width is from
    `MIN_WIDTH` to `MAX_WIDTH`; the default is 10 pixels per mm, less for very large drawings.

    Raises:
        InputError: when the image would be too high.

    Example:
        >>> from fabkit.output.svg import Drawing
        >>> picture = svg_to_png(Drawing(20, 10, "nothing").source(), 100)
        >>> picture[1:4], int.from_bytes(picture[16:20]), int.from_bytes(picture[20:24])
        (b'PNG', 100, 50)
    """
    from resvg_py import svg_to_bytes

    ((wide, high),) = re.findall(r'^<svg[^>]* viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    wide_mm, high_mm = float(wide), float(high)
    max_width = int((_MAX_PIXELS * wide_mm / high_mm) ** 0.5)
    default = min(round(wide_mm * 10), MAX_WIDTH, max_width)
    width = width_px or max(default, MIN_WIDTH)
    height = max(round(width * high_mm / wide_mm), 1)
    if width > max_width:
        size = f"{width} x {height} pixels"
        message = f"{size} are too many for this drawing; at most {max_width} wide"
        raise InputError.of("the picture", message)
    return bytes(
        svg_to_bytes(
            svg_string=svg,
            width=width,
            height=height,
            dpi=2540,  # resvg rounds mm to pixels before scaling: a mm becomes 100 of them
            skip_system_fonts=True,
            font_files=[str(font_path(bold)) for bold in (False, True)],
            font_family=FAMILY,
            sans_serif_family=FAMILY,
        )
    )


def missing_glyphs(svg: str) -> set[str]:
    """Return the characters of a drawing that its fonts lack."""
    root = ElementTree.fromstring(svg)  # noqa: S314 (fabkit drew it)
    missing = set[str]()
    for text in root.iter("{http://www.w3.org/2000/svg}text"):
        missing |= set(text.text or "") - font_characters(text.get("font-weight") is not None)
    return missing


@dataclass(frozen=True)
class Patch:
    """An area of one colour, in mm, with marks of another on it: by default, black or white."""

    area: Polygon
    colour: str
    marks: tuple[Polygon, ...] = ()
    ink: str = ""


def thumbnail(patches: Sequence[Patch]) -> bytes:
    """Render areas from above as a square PNG image, one at least; lower ones first."""
    from PIL import Image, ImageDraw

    side = _SIDE * _FINER
    left, bottom, right, top = union_all([patch.area for patch in patches]).bounds
    scale = (side - 2 * _MARGIN * _FINER) / max(right - left, top - bottom)
    middle_x, middle_y = (left + right) / 2, (bottom + top) / 2

    def mask(areas: Sequence[Polygon]) -> Image.Image:
        """Return an image with the areas in white, their holes in black."""
        image = Image.new("L", (side, side), 0)
        for area in areas:
            for number, ring in enumerate(rings_mm(area)):
                pixels = [
                    (side / 2 + (x - middle_x) * scale, side / 2 - (y - middle_y) * scale)
                    for x, y in ring
                ]
                ImageDraw.Draw(image).polygon(pixels, fill=0 if number else 255)
        return image

    picture = Image.new("RGBA", (side, side), (0, 0, 0, 0))
    for patch in patches:
        picture.paste(patch.colour, mask=mask([patch.area]))
        picture.paste(patch.ink or ink_on(patch.colour), mask=mask(patch.marks))
    written = io.BytesIO()
    picture.resize((_SIDE, _SIDE), Image.Resampling.BOX).save(written, "PNG", optimize=True)
    return written.getvalue()
