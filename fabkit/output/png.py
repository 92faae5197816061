"""Drawings as PNG pictures, with the shipped fonts and no others, so that they look alike anywhere."""

from __future__ import annotations

import re

from fabkit.core.errors import InputError
from fabkit.output.look import FAMILY, font_file

#: How wide a picture may be, in pixels.
LEAST_WIDTH, MOST_WIDTH = 64, 8000
#: Of a picture that is higher than wide, the height may be as much. More takes gigabytes.
_MOST_PIXELS = 100_000_000
#: A drawing's width in pixels when none is asked for: about 250 for an inch on paper.
_PIXELS_PER_MM = 10.0
#: Pixels to the inch by which the library knows millimetres before it scales, rounded to whole ones.
_DPI = 2540


def png_of(svg: str, width_px: int | None = None) -> bytes:
    """A drawing as a picture.

    Args:
        svg: an SVG document that fabkit drew. One that follows its reader becomes light.
        width_px: from `LEAST_WIDTH` to `MOST_WIDTH`; None for 10 pixels to the mm, or less where
            the drawing is very large. The height follows from it.

    Returns:
        A PNG file.

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

    wide_mm, high_mm = _size_mm(svg)
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


def _size_mm(svg: str) -> tuple[float, float]:
    """Width and height of a drawing's page."""
    page = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    assert page
    return float(page[1]), float(page[2])
