"""A small SVG drawing in millimetres, y up, with names kept out of the markup."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from xml.etree import ElementTree

Points = Iterable[tuple[float, float]]

#: Captions follow the reader's light or dark page; pieces keep their colours.
_STYLE = """
text { font-family: system-ui, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif; fill: #333; }
.quiet { fill: #777; }
.title { font-weight: 700; }
@media (prefers-color-scheme: dark) { text { fill: #ddd; } .quiet { fill: #999; } }
"""

#: In which drawing programs look for the names of layers.
_INKSCAPE = "http://www.inkscape.org/namespaces/inkscape"


class Drawing:
    """Shapes on a page. Coordinates are mm, x to the right and y up from the page's lower left.

    Attributes:
        element: the drawing, to be put into a page.

    Args:
        width_mm: of the page.
        height_mm: of the page.
        title: what it shows, for screen readers.
        description: the same at more length, for screen readers.
        style: its CSS; none in a page that has its own.
        scale: how many times as large as it is it shall be shown.
    """

    def __init__(
        self,
        width_mm: float,
        height_mm: float,
        title: str,
        description: str = "",
        style: str = _STYLE,
        scale: float = 1.0,
    ) -> None:
        self._height_mm = height_mm
        self.element = ElementTree.Element(
            "svg",
            {
                "xmlns": "http://www.w3.org/2000/svg",
                "width": f"{number(width_mm * scale)}mm",
                "height": f"{number(height_mm * scale)}mm",
                "viewBox": f"0 0 {number(width_mm)} {number(height_mm)}",
                "role": "img",
            },
        )
        for tag, text in (("title", title), ("desc", description)):
            if text:
                child(self.element, tag).text = _legal(text)
        if style:
            child(self.element, "style").text = style
        self._into = self.element

    @contextmanager
    def layer(self, name: str) -> Iterator[None]:
        """What is drawn meanwhile comes into a group, which drawing programs show as a layer.

        Example:
            >>> drawing = Drawing(10, 10, "a circle", style="")
            >>> with drawing.layer("CUT"):
            ...     drawing.circle(5, 5, 2)
            >>> '<g id="CUT"' in drawing.source()
            True
        """
        self.element.set("xmlns:inkscape", _INKSCAPE)
        outside, self._into = self._into, child(self._into, "g", id=name)
        self._into.set("inkscape:groupmode", "layer")
        self._into.set("inkscape:label", name)
        yield
        self._into = outside

    def polygon(self, rings: Sequence[Points], **style: str) -> None:
        """A filled area; every ring after the first is a hole or a part of its own."""
        parts = ("M" + "L".join(self._at(x, y) for x, y in ring) + "Z" for ring in rings)
        self._add("path", d="".join(parts), fill_rule="evenodd", **style)

    def line(self, points: Points, **style: str) -> None:
        """A line from point to point, which is not closed."""
        self._add("path", d="M" + "L".join(self._at(x, y) for x, y in points), fill="none", **style)

    def circle(self, x: float, y: float, radius: float, **style: str) -> None:
        """A circle around a point."""
        cx, cy = self._at(x, y).split(" ")
        self._add("circle", cx=cx, cy=cy, r=number(radius), **style)

    def text(self, x: float, y: float, text: str, size_mm: float, **style: str) -> None:
        """A line of text, beginning at a point on its base line."""
        left, base = self._at(x, y).split(" ")
        element = self._add("text", x=left, y=base, font_size=number(size_mm), **style)
        element.text = _legal(text)

    def source(self) -> str:
        """The drawing as an SVG document."""
        ElementTree.indent(self.element)
        return ElementTree.tostring(self.element, encoding="unicode") + "\n"

    def _add(self, tag: str, **attributes: str) -> ElementTree.Element:
        return child(self._into, tag, **attributes)

    def _at(self, x: float, y: float) -> str:
        return f"{number(x)} {number(self._height_mm - y)}"


def child(parent: ElementTree.Element, tag: str, **attributes: str) -> ElementTree.Element:
    """Adds an element to another one.

    Args:
        parent: the other one.
        tag: what it is.
        attributes: as Python can name them: ``class_`` for class, ``stroke_width`` for
            stroke-width.

    Example:
        >>> ElementTree.tostring(child(ElementTree.Element("p"), "b", class_="quiet"))
        b'<b class="quiet" />'
    """
    named = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
    return ElementTree.SubElement(parent, tag, named)


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


def number(value: float) -> str:
    """A number with at most three decimals, the same on every machine.

    Example:
        >>> number(1.25), number(100.0), number(-0.0001)
        ('1.25', '100', '0')
    """
    text = f"{value:.3f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _legal(text: str) -> str:
    """Text without the characters that XML cannot hold."""
    return "".join(c for c in text if c.isprintable())
