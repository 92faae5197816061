"""PNG images: of drawings, with the shipped fonts only, and thumbnails of plates in 3MF files."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from shapely import Polygon, union_all

from fabkit.core.errors import InputError
from fabkit.drawing.outline import rings_mm
from fabkit.output.theme import FAMILY, font_path, ink_on
from fabkit.output.typeset import font_characters

#: The width of an image in pixels, and its maximum number of pixels: more take gigabytes.
LEAST_WIDTH, MOST_WIDTH, _MOST_PIXELS = 64, 8000, 100_000_000
#: Side and margin of a thumbnail in pixels, and its supersampling.
_SIDE, _MARGIN, _FINER = 256, 12, 4


def svg_to_png(svg: str, width_px: int | None = None) -> bytes:
    """Render an SVG drawing of fabkit as PNG; the theme ``auto`` becomes light. The width is from
    `LEAST_WIDTH` to `MOST_WIDTH`; the default is 10 pixels per mm, less for very large drawings.

    Raises:
        InputError: when the image would be too high.
        ExternalError: when the fonts are missing.

    Example:
        >>> from fabkit.output.svg import Drawing
        >>> picture = svg_to_png(Drawing(20, 10, "nothing").source(), 100)
        >>> picture[1:4], int.from_bytes(picture[16:20]), int.from_bytes(picture[20:24])
        (b'PNG', 100, 50)
    """
    from resvg_py import svg_to_bytes

    ((wide, high),) = re.findall(r'^<svg[^>]* viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    wide_mm, high_mm = float(wide), float(high)
    max_width = int((_MOST_PIXELS * wide_mm / high_mm) ** 0.5)
    default = min(round(wide_mm * 10), MOST_WIDTH, max_width)
    width = width_px or max(default, LEAST_WIDTH)
    height = max(round(width * high_mm / wide_mm), 1)
    if width > max_width:
        message = (
            f"{width} x {height} pixels are too many for this drawing; at most {max_width} wide"
        )
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
    """Return the characters of a drawing that its fonts lack.

    Raises:
        ExternalError: when the fonts are missing.
    """
    root, missing = ElementTree.fromstring(svg), set[str]()  # noqa: S314 (fabkit drew it)
    for element in root.iter("{http://www.w3.org/2000/svg}text"):
        missing |= set(element.text or "") - font_characters(element.get("font-weight") is not None)
    return missing


@dataclass(frozen=True)
class Patch:
    """An area of one colour, in mm, with black or white marks on it."""

    area: Polygon
    colour: str
    marks: tuple[Polygon, ...] = ()


def thumbnail(patches: Sequence[Patch]) -> bytes:
    """Render areas from above as a square PNG image, one at least; lower ones first."""
    from PIL import Image, ImageDraw

    side = _SIDE * _FINER
    left, bottom, right, top = union_all([patch.area for patch in patches]).bounds
    scale = (side - 2 * _MARGIN * _FINER) / max(right - left, top - bottom)
    middle = (left + right) / 2, (bottom + top) / 2

    def mask(areas: Sequence[Polygon]) -> Image.Image:
        """Areas in white, their holes in black."""
        mask, (x, y) = Image.new("L", (side, side), 0), middle
        for index, ring in (
            numbered_ring for area in areas for numbered_ring in enumerate(rings_mm(area))
        ):
            pixels = [(side / 2 + (a - x) * scale, side / 2 - (b - y) * scale) for a, b in ring]
            ImageDraw.Draw(mask).polygon(pixels, fill=0 if index else 255)
        return mask

    picture = Image.new("RGBA", (side, side), (0, 0, 0, 0))
    for patch in patches:
        picture.paste(patch.colour, mask=mask([patch.area]))
        picture.paste(ink_on(patch.colour), mask=mask(patch.marks))
    written = io.BytesIO()
    picture.resize((_SIDE, _SIDE), Image.Resampling.BOX).save(written, "PNG", optimize=True)
    return written.getvalue()
