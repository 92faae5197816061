"""A small SVG drawing in millimetres, y up, with names kept out of the markup."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.etree import ElementTree

Points = Iterable[tuple[float, float]]

#: Captions follow the reader's light or dark page; pieces keep their colours.
_STYLE = """
text { font-family: system-ui, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif; fill: #333; }
.quiet { fill: #777; }
.title { font-weight: 700; }
@media (prefers-color-scheme: dark) { text { fill: #ddd; } .quiet { fill: #999; } }
"""


class Drawing:
    """Shapes on a page. Coordinates are mm, x to the right and y up from the page's lower left.

    Args:
        width_mm: of the page.
        height_mm: of the page.
        title: what it shows, for screen readers.
    """

    def __init__(self, width_mm: float, height_mm: float, title: str) -> None:
        self._height_mm = height_mm
        self._root = ElementTree.Element(
            "svg",
            {
                "xmlns": "http://www.w3.org/2000/svg",
                "width": f"{_text(width_mm)}mm",
                "height": f"{_text(height_mm)}mm",
                "viewBox": f"0 0 {_text(width_mm)} {_text(height_mm)}",
                "role": "img",
            },
        )
        ElementTree.SubElement(self._root, "title").text = _legal(title)
        ElementTree.SubElement(self._root, "style").text = _STYLE

    def polygon(self, rings: Sequence[Points], **style: str) -> None:
        """A filled area; every ring after the first is a hole or a part of its own."""
        parts = ("M" + "L".join(self._at(x, y) for x, y in ring) + "Z" for ring in rings)
        self._add("path", d="".join(parts), fill_rule="evenodd", **style)

    def circle(self, x: float, y: float, radius: float, **style: str) -> None:
        """A circle around a point."""
        cx, cy = self._at(x, y).split(" ")
        self._add("circle", cx=cx, cy=cy, r=_text(radius), **style)

    def text(self, x: float, y: float, text: str, size_mm: float, **style: str) -> None:
        """A line of text, beginning at a point on its base line."""
        left, base = self._at(x, y).split(" ")
        element = self._add("text", x=left, y=base, font_size=_text(size_mm), **style)
        element.text = _legal(text)

    def source(self) -> str:
        """The drawing as an SVG document."""
        ElementTree.indent(self._root)
        return ElementTree.tostring(self._root, encoding="unicode") + "\n"

    def _add(self, tag: str, **attributes: str) -> ElementTree.Element:
        named = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
        return ElementTree.SubElement(self._root, tag, named)

    def _at(self, x: float, y: float) -> str:
        return f"{_text(x)} {_text(self._height_mm - y)}"


def ink_on(colour: str) -> str:
    """Black or white, whichever stands out more (relative luminance of sRGB, WCAG 2).

    Example:
        >>> ink_on("#f0e442"), ink_on("#0072b2")
        ('#000000', '#ffffff')
    """
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000000" if luminance > 0.179 else "#ffffff"


def _text(value: float) -> str:
    """A number with at most three decimals, the same on every machine."""
    text = f"{value:.3f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _legal(text: str) -> str:
    """Text without the characters that XML cannot hold."""
    return "".join(c for c in text if c.isprintable())
