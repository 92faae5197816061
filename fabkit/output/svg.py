"""A small SVG drawing in millimetres, y up, with names kept out of the markup."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from xml.etree import ElementTree

from fabkit.output.canvas import Points
from fabkit.output.theme import DARK, FAMILY, LIGHT, ROLES, THEMES, Theme, font_faces

#: How a drawing may look: as the page on which it is read, light, or dark.
LOOKS = ("auto", *THEMES)
#: What stands in for letters that the shipped font lacks.
_FAMILIES = f"'{FAMILY}', system-ui, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"
#: The class of every drawing, so that its style does not touch the page around it.
_CLASS = "fabkit"
_ROUNDED_MM = 3.0

#: In which drawing programs look for the names of layers.
_INKSCAPE = "http://www.inkscape.org/namespaces/inkscape"


class Drawing:
    """Shapes on a page. Coordinates are mm, x to the right and y up from the page's lower left.

    Attributes:
        element: the drawing, to be put into a page.
        theme: the colours to draw in. Those given a class by it change on a dark page, if the
            drawing follows its reader.

    Args:
        title: what it shows, for screen readers.
        description: the same at more length.
        theme: one of `LOOKS`; None for a drawing without paper, letters and style of its own.
        scale: how many times as large as it is it is shown.

    Example:
        >>> drawing = Drawing(10, 10, "a circle", theme="dark")
        >>> drawing.circle(5, 5, 2, **drawing.theme.filled("seat"))
        >>> '<circle cx="5" cy="5" r="2" fill="#3a3e48" class="seat" />' in drawing.source()
        True
    """

    def __init__(
        self,
        width_mm: float,
        height_mm: float,
        title: str,
        description: str = "",
        theme: str | None = "auto",
        scale: float = 1.0,
    ) -> None:
        self._height_mm = height_mm
        self._look = theme
        self.theme: Theme = THEMES.get(theme or "", LIGHT)
        size = {
            "width": f"{number(width_mm * scale)}mm",
            "height": f"{number(height_mm * scale)}mm",
            "viewBox": f"0 0 {number(width_mm)} {number(height_mm)}",
        }
        self.element = ElementTree.Element(
            "svg", {"xmlns": "http://www.w3.org/2000/svg", **size, "role": "img"}
        )
        for tag, text in (("title", title), ("desc", description)):
            if text:
                child(self.element, tag).text = _legal(text)
        self._into = self.element
        if theme is not None:
            self.element.set("class", _CLASS)
            self.element.set("font-family", _FAMILIES)
            self._style = child(self.element, "style")
            page = {"width": number(width_mm), "height": number(height_mm)}
            paper = self.theme.filled("paper")
            child(self.element, "rect", **page, rx=number(_ROUNDED_MM), **paper)

    @contextmanager
    def layer(self, name: str) -> Iterator[None]:
        """What is drawn meanwhile comes into a group, which drawing programs show as a layer.

        Example:
            >>> drawing = Drawing(10, 10, "a circle", theme=None)
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
        child(self._into, "path", d="".join(parts), fill_rule="evenodd", **style)

    def line(self, points: Points, **style: str) -> None:
        """A line from point to point, which is not closed."""
        d = "M" + "L".join(self._at(x, y) for x, y in points)
        child(self._into, "path", d=d, fill="none", **style)

    def circle(self, x: float, y: float, radius: float, **style: str) -> None:
        """A circle around a point."""
        cx, cy = self._at(x, y).split(" ")
        child(self._into, "circle", cx=cx, cy=cy, r=number(radius), **style)

    def text(self, x: float, y: float, text: str, size_mm: float, **style: str) -> None:
        """A line of text, beginning at a point on its base line."""
        left, base = self._at(x, y).split(" ")
        if self._look is not None:
            style = self._dressed(style)
        size = number(size_mm)
        child(self._into, "text", x=left, y=base, font_size=size, **style).text = _legal(text)

    def source(self) -> str:
        """The drawing as an SVG document."""
        if self._look is not None:
            self._style.text = self._style_sheet()
        ElementTree.indent(self.element)
        return ElementTree.tostring(self.element, encoding="unicode") + "\n"

    def _at(self, x: float, y: float) -> str:
        return f"{number(x)} {number(self._height_mm - y)}"

    def _dressed(self, style: dict[str, str]) -> dict[str, str]:
        """The style of a text with its colour and weight."""
        names = style.get("class_", "").split()
        role = "quiet" if "quiet" in names else "ink"
        colour = self.theme.filled(role, *(name for name in names if name != role))
        bold = {"font_weight": "700"} if "title" in names else {}
        return style | bold | ({} if "fill" in style else colour)

    def _style_sheet(self) -> str:
        """The letters that are used, and what changes on a dark page."""
        letters: dict[bool, set[str]] = {False: set(), True: set()}
        for text in self.element.iter("text"):
            letters[text.get("font-weight") is not None].update(text.text or "")
        rules = font_faces(*("".join(sorted(letters[bold])) for bold in (False, True)))
        if self._look == "auto":
            used = {name for one in self.element.iter() for name in one.get("class", "").split()}
            dark = [
                f".{_CLASS} .{name} {{ {key}: {getattr(DARK, role)} }}"
                for role in ROLES
                for name, key in ((role, "fill"), (f"{role}-line", "stroke"))
                if name in used
            ]
            rules.append(f"@media (prefers-color-scheme: dark) {{ {' '.join(dark)} }}")
        return "\n" + "\n".join(rules) + "\n"


def child(parent: ElementTree.Element, tag: str, **attributes: str) -> ElementTree.Element:
    """Adds an element to another one.

    Attributes are named as Python can: ``class_`` for class, ``stroke_width`` for stroke-width.

    Example:
        >>> ElementTree.tostring(child(ElementTree.Element("p"), "b", class_="quiet"))
        b'<b class="quiet" />'
    """
    named = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
    return ElementTree.SubElement(parent, tag, named)


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
