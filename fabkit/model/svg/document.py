"""Reading an SVG file that may be anything, and choosing the shape that is meant in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Never
from xml.parsers import expat

from fabkit.core.errors import cut, did_you_mean, printable, shown
from fabkit.core.reading import name_some
from fabkit.model.svg.fault import SvgError

MAX_ELEMENTS = 20_000
MAX_DEPTH = 100
#: What can be the outline of a piece.
SHAPES = ("path", "polygon", "rect")

_SVG = "http://www.w3.org/2000/svg"
#: What holds shapes and draws them where they stand.
_GROUPS = ("svg", "g", "a")
#: What is drawn, and is no outline of straight lines.
_OTHERS = (
    "circle", "ellipse", "foreignObject", "image", "line", "polyline", "svg", "switch", "text", "use",
)  # fmt: skip
#: What a shape may hold without being changed by it.
_WORDS = ("title", "desc", "metadata")
#: What a style may not do, since it would move what is drawn.
_MOVING = re.compile(
    r"(?<![\w-])(transform|translate|rotate|scale|clip-path|mask|d|x|y|rx|ry|width|height)\s*:"
)


@dataclass(frozen=True)
class Element:
    """An element of the drawing.

    Attributes:
        tag: its name; with its namespace before it if that is not SVG's.
        attributes: those without a namespace.
        line: where it begins in the file.
        children: what it holds.
        text: the text in it.
    """

    tag: str
    attributes: Mapping[str, str]
    line: int
    children: list[Element] = field(default_factory=list)
    text: list[str] = field(default_factory=list)

    @property
    def id(self) -> str:
        """Its id, or nothing."""
        return self.attributes.get("id", "")

    @property
    def place(self) -> str:
        """Where it is and what it is called, for messages."""
        name = f"{self.tag} {shown(self.id)}" if self.id else self.tag
        return f"line {self.line}: {printable(name)}"

    def refuse(self, reason: str) -> Never:
        """Raises an `SvgError` that names this element."""
        raise SvgError(f"{self.place} {reason}")


def parse_svg(content: bytes) -> Element:
    """Reads the elements of an SVG file.

    Args:
        content: the whole file.

    Returns:
        Its outermost element.

    Raises:
        SvgError: when it is not XML or no SVG, has a document type, or breaks a bound.

    Example:
        >>> parse_svg(b'<svg xmlns="http://www.w3.org/2000/svg"><path id="A"/></svg>').children[0].id
        'A'
    """
    # Any other encoding would only be a way to say something else than it seems.
    encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8"
    parser = expat.ParserCreate(encoding, " ")
    tree = _Tree(parser)
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        if isinstance(error, SvgError):
            raise
        raise SvgError(f"is not well-formed XML: {cut(printable(str(error)[:200]))}") from None
    if tree.top.tag != "svg":
        raise SvgError(f"is no SVG drawing; it begins with {shown(tree.top.tag)}")
    return tree.top


class _Tree:
    """Builds the elements along with the parser that it sets up."""

    def __init__(self, parser: expat.XMLParserType) -> None:
        self.top = Element("", {}, 0)
        self._open: list[Element] = []
        self._parser = parser
        self._count = 0
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.StartDoctypeDeclHandler = self._doctype

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if self._count > MAX_ELEMENTS:
            raise SvgError(f"holds more than {MAX_ELEMENTS} elements")
        if len(self._open) >= MAX_DEPTH:
            raise SvgError(f"nests elements deeper than {MAX_DEPTH}")
        plain = {key: value for key, value in attributes.items() if " " not in key}
        element = Element(name.removeprefix(f"{_SVG} "), plain, self._parser.CurrentLineNumber)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.top = element
        self._open.append(element)

    def _end(self, _: str) -> None:
        self._open.pop()

    def _characters(self, text: str) -> None:
        if self._open[-1].tag == "style":
            self._open[-1].text.append(text)

    def _doctype(self, *_: object) -> None:
        line = self._parser.CurrentLineNumber
        raise SvgError(
            f"line {line}: has a document type (DOCTYPE), which is not read since it can hold "
            "entities; delete it"
        )


def chosen_shape(top: Element, wanted: str) -> list[Element]:
    """The shape of an id, or the only one of the drawing.

    Args:
        top: the outermost element.
        wanted: the id of a shape, or of a group with one shape; empty for the only one.

    Returns:
        The outermost element, the groups, and the shape in them.

    Raises:
        SvgError: when there is none or are several, or it is none of `SHAPES`, or something
            about it or around it changes what is drawn.

    Example:
        >>> top = parse_svg(b'<svg><g id="K"><path d="M0 0"/></g><path id="L"/></svg>')
        >>> [element.tag for element in chosen_shape(top, "K")]
        ['svg', 'g', 'path']
    """
    way = _way_to(top, wanted) if wanted else [top]
    if way[-1].tag in ("svg", "g", "a"):
        inside = list(_shapes(way[-1], way))
        if len(inside) != 1:
            _refuse_choice(way[-1], [found[-1] for found in inside], wanted)
        way = inside[0]
    _refuse_what_changes(top, way)
    return way


def _refuse_choice(group: Element, shapes: Sequence[Element], wanted: str) -> Never:
    holds = f"{len(shapes)} shapes" if shapes else "no shape"
    if wanted:
        group.refuse(f"holds {holds}; expected one path, polygon or rect")
    ids = [shape.id for shape in shapes if shape.id]
    named = f" (its shapes are {printable(name_some(ids))})" if ids else ""
    what = "name one by its id, as in FILE.svg#ID" if shapes else "draw one path, polygon or rect"
    raise SvgError(f"holds {holds}; {what}{named}")


def _way_to(top: Element, wanted: str) -> list[Element]:
    """The element of an id, behind all that it lies in."""
    found, known = [], []
    waiting = [[top]]
    while waiting:
        way = waiting.pop()
        known.append(way[-1].id)
        if way[-1].id == wanted:
            found.append(way)
        waiting += [[*way, child] for child in way[-1].children]
    if not found:
        hint = did_you_mean(wanted, [one for one in known if one])
        raise SvgError(f"holds no element with the id {shown(wanted)}{hint}")
    if len(found) > 1:
        raise SvgError(f"holds {len(found)} elements with the id {shown(wanted)}; ids are unique")
    for around in found[0][:-1]:
        if around.tag not in _GROUPS:
            found[0][-1].refuse(f"lies in {printable(around.tag)}, which is not drawn as it stands")
    return found[0]


def _shapes(group: Element, way: list[Element]) -> Iterator[list[Element]]:
    """Every shape that a group draws, each behind what it lies in."""
    for child in group.children:
        if child.tag in ("g", "a"):
            yield from _shapes(child, [*way, child])
        elif child.tag in SHAPES or child.tag in _OTHERS:
            yield [*way, child]


def _refuse_what_changes(top: Element, way: Sequence[Element]) -> None:
    """Refuses a shape that is drawn in another way than its attributes say."""
    shape = way[-1]
    if shape.tag not in SHAPES:
        shape.refuse("is no outline of straight lines; expected a path, polygon or rect")
    for inner in shape.children:
        if inner.tag not in _WORDS and " " not in inner.tag:
            inner.refuse(f"changes the {shape.tag} that it stands in; expected the bare shape")
    if top.attributes.get("transform"):
        top.refuse("has a transform; move it to a group inside")
    for element in way:
        for key in ("clip-path", "mask"):
            if element.attributes.get(key, "none") != "none":
                element.refuse(f"has a {key}, which cuts what is drawn; cut the outline itself")
        if moving := _MOVING.search(element.attributes.get("style", "")):
            element.refuse(f"has a style with {moving[1]}; write it as an attribute of its own")
    for sheet in _every(top):
        if sheet.tag == "style" and (moving := _MOVING.search("".join(sheet.text))):
            sheet.refuse(f"sets {moving[1]}, which changes what is drawn; expected colours only")


def _every(top: Element) -> Iterator[Element]:
    waiting = [top]
    while waiting:
        yield (element := waiting.pop())
        waiting += element.children
