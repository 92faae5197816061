"""SVG drawings in mm, y up; text is escaped and names cannot become markup."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from xml.etree import ElementTree

from fabkit.core.units import format_number
from fabkit.output.canvas import Points
from fabkit.output.theme import DARK, FAMILY, LIGHT, ROLES, THEMES, Theme, font_faces

#: Font families, with fallbacks for characters that the shipped font lacks.
_FAMILIES = f"'{FAMILY}', system-ui, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"
#: The class of every drawing, so that its style does not affect the page around it.
_CLASS = "fabkit"
#: The namespace of layer names in drawing programs.
_INKSCAPE = "http://www.inkscape.org/namespaces/inkscape"
#: Formats a length in mm or a coordinate, with at most three decimals.
number = partial(format_number, digits=3)


class Drawing:
    """An SVG page. Coordinates are mm, x to the right and y up from the lower left.

    Title and description are for screen readers. The theme is ``auto``, ``light`` or ``dark``; with
    None the drawing has no paper, fonts or style, and its `element` goes into a page. With
    ``auto``, colours with a class change on a dark page. The drawing is displayed at `scale`.

    Example:
        >>> drawing = Drawing(10, 10, "a circle", theme="dark")
        >>> drawing.circle(5, 5, 2, **drawing.theme.filled("socket"))
        >>> '<circle cx="5" cy="5" r="2" fill="#3a3e48" class="socket" />' in drawing.source()
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
        self._theme_name = theme
        self.theme: Theme = THEMES.get(theme or "", LIGHT)
        sides = {"width": width_mm, "height": height_mm}
        size = {name: f"{number(side * scale)}mm" for name, side in sides.items()}
        size["viewBox"] = f"0 0 {number(width_mm)} {number(height_mm)}"
        named = {"xmlns": "http://www.w3.org/2000/svg", **size, "role": "img"}
        self._parent = self.element = ElementTree.Element("svg", named)
        for tag, text in (("title", title), ("desc", description)):
            if text:
                add_element(self.element, tag).text = xml_text(text)
        if theme is not None:
            self.element.set("class", _CLASS)
            self.element.set("font-family", _FAMILIES)
            self._style = add_element(self.element, "style")
            page = {name: number(mm) for name, mm in sides.items()}
            add_element(self.element, "rect", **page, rx="3", **self.theme.filled("paper"))

    @contextmanager
    def layer(self, name: str) -> Iterator[None]:
        """Draw into a group that drawing programs show as a layer, inside the context."""
        self.element.set("xmlns:inkscape", _INKSCAPE)
        names = {"inkscape:groupmode": "layer", "inkscape:label": name}
        outside = self._parent
        self._parent = add_element(outside, "g", id=name, **names)
        yield
        self._parent = outside

    def polygon(self, rings: Sequence[Points], **style: str) -> None:
        """Draw a filled area with the even-odd rule: holes and further parts are rings, too."""
        parts = ("M" + "L".join(self._at(x, y) for x, y in ring) + "Z" for ring in rings)
        add_element(self._parent, "path", d="".join(parts), fill_rule="evenodd", **style)

    def line(self, points: Points, **style: str) -> None:
        """Draw an open polyline."""
        d = "M" + "L".join(self._at(x, y) for x, y in points)
        add_element(self._parent, "path", d=d, fill="none", **style)

    def circle(self, x: float, y: float, radius: float, **style: str) -> None:
        """Draw a circle around a point."""
        cx, cy = self._at(x, y).split(" ")
        add_element(self._parent, "circle", cx=cx, cy=cy, r=number(radius), **style)

    def text(self, x: float, y: float, text: str, size_mm: float, **style: str) -> None:
        """Draw a line of text that begins at a point on its baseline."""
        left, base = self._at(x, y).split(" ")
        style = self._text_style(style) if self._theme_name else style
        style = {"font_size": number(size_mm)} | style
        add_element(self._parent, "text", x=left, y=base, **style).text = xml_text(text)

    def source(self) -> str:
        """Return the drawing as an SVG document."""
        if self._theme_name is not None:
            self._style.text = self._style_sheet()
        ElementTree.indent(self.element)
        return ElementTree.tostring(self.element, encoding="unicode") + "\n"

    def _at(self, x: float, y: float) -> str:
        return f"{number(x)} {number(self._height_mm - y)}"

    def _text_style(self, style: dict[str, str]) -> dict[str, str]:
        names = style.get("class_", "").split()
        role = "quiet" if "quiet" in names else "ink"
        colour = self.theme.filled(role, *(name for name in names if name != role))
        bold = {"font_weight": "700"} if "title" in names else {}
        return style | bold | ({} if "fill" in style else colour)

    def _style_sheet(self) -> str:
        """Return the style sheet: the used glyphs, and the colours on a dark page."""
        letters: dict[bool, set[str]] = {False: set(), True: set()}
        for text in self.element.iter("text"):
            letters[text.get("font-weight") is not None].update(text.text or "")
        rules = font_faces(*("".join(sorted(letters[bold])) for bold in (False, True)))
        if self._theme_name == "auto":
            classes = " ".join(element.get("class", "") for element in self.element.iter())
            names = set(classes.split())
            dark = [
                f".{_CLASS} .{name} {{ {attribute}: {getattr(DARK, role)} }}"
                for role in ROLES
                for name, attribute in ((role, "fill"), (f"{role}-line", "stroke"))
                if name in names
            ]
            rules.append(f"@media (prefers-color-scheme: dark) {{ {' '.join(dark)} }}")
        return "\n" + "\n".join(rules) + "\n"


def add_element(parent: ElementTree.Element, tag: str, **attributes: str) -> ElementTree.Element:
    """Add an element; attributes are spelled as in Python: ``class_``, ``stroke_width``."""
    named = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
    return ElementTree.SubElement(parent, tag, named)


def xml_text(text: str) -> str:
    """Remove the characters that XML forbids."""
    return "".join(c for c in text if c.isprintable())
