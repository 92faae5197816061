"""PNG pictures: drawings, with the shipped fonts and no others; and plates in 3MF files."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from shapely import Polygon, union_all

from fabkit.core.errors import InputError
from fabkit.drawing.outline import rings_mm
from fabkit.output.theme import FAMILY, font_file, ink_on
from fabkit.output.typeset import characters_of

#: How wide a picture may be, in pixels.
LEAST_WIDTH, MOST_WIDTH = 64, 8000
#: Of a picture that is higher than wide, the height may be as much. More takes gigabytes.
_MOST_PIXELS = 100_000_000
#: A drawing's width in pixels when none is asked for: about 250 for an inch on paper.
_PIXELS_PER_MM = 10.0
#: Pixels to the inch by which the library knows millimetres before it scales, rounded to whole ones.
_DPI = 2540
#: The side of a thumbnail and the margin in it, in pixels. It is drawn this many times as large,
#: then made smaller, so that edges are smooth.
_SIDE, _MARGIN, _FINER = 256, 12, 4


def png_of(svg: str, width_px: int | None = None) -> bytes:
    """A PNG file of a drawing. One that follows its reader becomes light.

    Args:
        svg: as fabkit drew it.
        width_px: from `LEAST_WIDTH` to `MOST_WIDTH`; None for 10 pixels to the mm, or less where
            the drawing is very large. The height follows from it.

    Raises:
        InputError: when the picture would be too high.
        OutsideError: when the fonts are missing.

    Example:
        >>> from fabkit.output.svg import Drawing
        >>> picture = png_of(Drawing(20, 10, "nothing").source(), 100)
        >>> picture[1:4], int.from_bytes(picture[16:20]), int.from_bytes(picture[20:24])
        (b'PNG', 100, 50)
    """
    from resvg_py import svg_to_bytes

    page = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    assert page
    wide_mm, high_mm = float(page[1]), float(page[2])
    most = int((_MOST_PIXELS * wide_mm / high_mm) ** 0.5)
    usual = min(round(wide_mm * _PIXELS_PER_MM), MOST_WIDTH, most)
    width = width_px or max(usual, LEAST_WIDTH)
    height = max(round(width * high_mm / wide_mm), 1)
    if width > most:
        message = f"{width} x {height} pixels are too many for this drawing; at most {most} wide"
        raise InputError.of("the picture", message)
    return bytes(
        svg_to_bytes(
            svg_string=svg,
            width=width,
            height=height,
            dpi=_DPI,
            skip_system_fonts=True,
            font_files=[str(font_file(bold)) for bold in (False, True)],
            font_family=FAMILY,
            sans_serif_family=FAMILY,
        )
    )


def missing_glyphs(svg: str) -> set[str]:
    """The characters of a drawing's texts that are not in their font.

    Raises:
        OutsideError: when the fonts are missing.

    Example:
        >>> from fabkit.output.svg import Drawing
        >>> drawing = Drawing(100, 20, "letters")
        >>> drawing.text(5, 5, "A☃", 5)
        >>> missing_glyphs(drawing.source())
        {'☃'}
    """
    found: set[str] = set()
    root = ElementTree.fromstring(svg)  # noqa: S314 (fabkit drew it)
    for one in root.iter("{http://www.w3.org/2000/svg}text"):
        found |= set(one.text or "") - characters_of(one.get("font-weight") is not None)
    return found


@dataclass(frozen=True)
class Patch:
    """An area of one colour, in mm, where it lies; the marks on it are black or white."""

    area: Polygon
    colour: str
    marks: tuple[Polygon, ...] = ()


def thumbnail(patches: Sequence[Patch]) -> bytes:
    """A square PNG picture of some areas seen from above, as large as it holds.

    There is at least one patch, and the lower ones come first.

    Example:
        >>> thumbnail([Patch(Polygon([(0, 0), (20, 0), (0, 20)]), "#e69f00")])[1:4]
        b'PNG'
    """
    from PIL import Image, ImageDraw

    side = _SIDE * _FINER
    left, bottom, right, top = union_all([patch.area for patch in patches]).bounds
    scale = (side - 2 * _MARGIN * _FINER) / max(right - left, top - bottom)
    middle = (left + right) / 2, (bottom + top) / 2

    def mask(areas: Sequence[Polygon]) -> Image.Image:
        """Areas in white, their holes in black."""
        found = Image.new("L", (side, side), 0)
        for index, ring in (one for area in areas for one in enumerate(rings_mm(area))):
            pixels = [
                (side / 2 + (x - middle[0]) * scale, side / 2 - (y - middle[1]) * scale)
                for x, y in ring
            ]
            ImageDraw.Draw(found).polygon(pixels, fill=0 if index else 255)
        return found

    picture = Image.new("RGBA", (side, side), (0, 0, 0, 0))
    for patch in patches:
        picture.paste(patch.colour, mask=mask([patch.area]))
        picture.paste(ink_on(patch.colour), mask=mask(patch.marks))
    written = io.BytesIO()
    small = picture.resize((_SIDE, _SIDE), Image.Resampling.BOX)
    small.save(written, "PNG", optimize=True)
    return written.getvalue()
