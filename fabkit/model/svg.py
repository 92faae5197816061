"""Outlines from SVG files: one shape of straight lines, drawn at 1:1, put onto a lattice.

svgelements works out paths and transforms. It passes over whatever it cannot read, so what it is
given is held against a grammar first.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Never
from xml.parsers import expat

from fabkit.core.errors import InputError, cut, did_you_mean, name_some, printable, shown
from fabkit.core.files import read_bytes
from fabkit.core.units import format_mm
from fabkit.model.lattice import LATTICES, Cell, Lattice
from fabkit.model.polygon import LARGEST_COORDINATE, MAX_SIZE, OutlineError, cells_of_rings

#: A larger file is no drawing of a piece.
MAX_BYTES = 4 * 1024 * 1024
MAX_ELEMENTS = 20_000
MAX_DEPTH = 100
#: How far, in grid units, a corner may lie from its place on the lattice.
TOLERANCE = 0.02
#: A path that ends this near to its beginning, in mm, needs no Z.
_CLOSED_MM = 1e-3
#: No sane drawing has larger numbers.
_LARGEST = 1e7
#: Editors write matrices with six digits.
_ROUNDING = 1e-4
#: Millimetres in one of each absolute unit of CSS; a plain number is in pixels.
_MM_PER_UNIT = {
    "": 25.4 / 96, "px": 25.4 / 96, "mm": 1.0, "cm": 10.0, "q": 0.25, "in": 25.4,
    "pt": 25.4 / 72, "pc": 25.4 / 6,
}  # fmt: skip

#: What can be the outline of a piece, and what else is drawn.
SHAPES = ("path", "polygon", "rect")
_OTHERS = (
    "circle", "ellipse", "foreignObject", "image", "line", "polyline", "svg", "switch", "text", "use",
)  # fmt: skip
#: What a style may not do, since it would move what is drawn.
_MOVING = re.compile(
    r"(?<![\w-])(transform|translate|rotate|scale|clip-path|mask|d|x|y|rx|ry|width|height)\s*:"
)
# Groups are not repeated possessively: Python before 3.11.5 gets that wrong.
_NUMBER = r"[+-]?+(?:[0-9]++\.?+[0-9]*+|\.[0-9]++)(?:[eE][+-]?+[0-9]++)?"
_NEXT = rf"\s*+,?\s*+{_NUMBER}"
_LENGTH = re.compile(rf"\s*({_NUMBER})\s*([A-Za-z%]*)\s*")
_LINES = re.compile(rf"(?:\s*+(?:[MmLl](?:{_NEXT}{_NEXT})+|[HhVv](?:{_NEXT})+|[Zz]))*\s*+")
_POINTS = re.compile(rf"(?:{_NEXT}{_NEXT})*\s*+")
_BENT = {"C": "a curve", "S": "a curve", "Q": "a curve", "T": "a curve", "A": "an arc"}
_CALLS = re.compile(
    rf"(?:\s*+,?\s*+(?:(?:translate|scale)\s*+\({_NEXT}(?:{_NEXT})?|skew[XY]\s*+\({_NEXT}"
    rf"|rotate\s*+\({_NEXT}(?:{_NEXT}{_NEXT})?|matrix\s*+\((?:{_NEXT}){{6}})\s*+\))*\s*+"
)

CornerMm = tuple[float, float]


class SvgError(ValueError):
    """A drawing that is no outline of a piece; the sentence says where and why."""


@dataclass(frozen=True, eq=False)
class Element:
    """An element of a drawing.

    Attributes:
        tag: its name, preceded by its namespace if that is not SVG's.
        attributes: those without a namespace.
        line: where it begins in the file.
        above: the elements that it lies in, outermost first.
        text: the text of a style sheet.
    """

    tag: str
    attributes: Mapping[str, str]
    line: int
    above: tuple[Element, ...]
    text: list[str] = field(default_factory=list)

    @property
    def id(self) -> str:
        """Its id, or nothing."""
        return self.attributes.get("id", "")

    def refuse(self, reason: str, colon: str = "") -> Never:
        """Raises an `SvgError` that says where this element is and what it is called."""
        name = f"{self.tag} {shown(self.id)}" if self.id else self.tag
        raise SvgError(f"line {self.line}: {printable(name)}{colon} {reason}")


class SvgFolder:
    """Reads shapes from SVG files in the folder of a set file or below it, each file once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._contents: dict[str, bytes] = {}
        self._drawings: dict[str, list[Element]] = {}

    @property
    def digests(self) -> list[str]:
        """Name and SHA-256 of each file that was read, in alphabetical order."""
        return [
            f"{name} {hashlib.sha256(content).hexdigest()}"
            for name, content in sorted(self._contents.items())
        ]

    def cells(
        self, wanted: str, lattice: Lattice, unit_mm: float, may_touch: bool
    ) -> frozenset[Cell]:
        """The cells inside a shape, which is drawn at 1:1.

        Args:
            wanted: ``FILE.svg`` for the file's only shape, or ``FILE.svg#ID``.
            lattice: square or quarter-square.
            unit_mm: length of a grid unit.
            may_touch: whether the outline may meet itself in single points.

        Raises:
            SvgError: when there is no such file or shape, or it is no outline on the lattice.
        """
        name, _, shape_id = wanted.partition("#")
        try:
            if name not in self._drawings:
                self._contents[name] = self._read(name)
                self._drawings[name] = parse_svg(self._contents[name])
            shape = chosen_shape(self._drawings[name], shape_id)
            rings = _rings_mm(shape)
            try:
                return cells_on_lattice(lattice, rings, unit_mm, may_touch)
            except SvgError as fault:
                hint = "; without a viewBox it is drawn in 1/96 inches"
                hint = "" if "viewBox" in shape.above[0].attributes else hint
                shape.refuse(f"{fault}{hint}", ":")
        except SvgError as fault:
            raise SvgError(f"{name or shown(wanted)}: {fault}") from None

    def _read(self, name: str) -> bytes:
        """A file that lies in the folder or below it."""
        here = "SVG files lie beside the set file, or in a folder below"
        parts = PurePosixPath(name)
        if not name.lower().endswith(".svg"):
            raise SvgError("expected the name of an SVG file, such as shapes.svg or shapes.svg#A")
        if parts.is_absolute() or ".." in parts.parts or "\\" in name or ":" in name:
            raise SvgError(f"leads elsewhere; {here}, and are named with / between folders")
        try:
            real = (self._folder / name).resolve()
            if not real.is_relative_to(self._folder.resolve()):
                raise SvgError(f"is a link that leads elsewhere; {here}")
            if not real.exists():
                raise SvgError(f"there is no such file; {here}")
            if not real.is_file():
                raise SvgError("is no file; expected an SVG file")
        except (OSError, RuntimeError) as error:  # a name too long, links in a circle
            raise SvgError(f"cannot be read: {shown(str(error))}") from None
        try:
            content = read_bytes(self._folder / name, name, "an SVG file", MAX_BYTES)
        except InputError as error:
            raise SvgError(error.faults[0].message) from None
        if len(content) > MAX_BYTES:
            raise SvgError(f"is larger than {MAX_BYTES // 1024**2} MiB")
        return content


def parse_svg(content: bytes) -> list[Element]:
    """The elements of an SVG file, as they begin in it.

    Raises:
        SvgError: when it is not XML or no SVG, has a document type, or breaks a bound.
    """
    # Any other encoding would only be a way to say something else than it seems.
    encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8"
    parser = expat.ParserCreate(encoding, " ")
    found: list[Element] = []
    above: list[Element] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        if len(found) >= MAX_ELEMENTS:
            raise SvgError(f"holds more than {MAX_ELEMENTS} elements")
        if len(above) >= MAX_DEPTH:
            raise SvgError(f"nests elements deeper than {MAX_DEPTH}")
        plain = {key: value for key, value in attributes.items() if " " not in key}
        tag = name.removeprefix("http://www.w3.org/2000/svg ")
        found.append(Element(tag, plain, parser.CurrentLineNumber, tuple(above)))
        above.append(found[-1])

    def characters(text: str) -> None:
        if above[-1].tag == "style":
            above[-1].text.append(text)

    def doctype(*_: object) -> None:
        raise SvgError(
            f"line {parser.CurrentLineNumber}: has a document type (DOCTYPE), which is not read "
            "since it can hold entities; delete it"
        )

    parser.StartElementHandler, parser.EndElementHandler = start, lambda _: above.pop()
    parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = characters, doctype
    try:
        parser.Parse(content, True)
    except SvgError:
        raise
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise SvgError(f"is not well-formed XML: {cut(printable(str(error)[:200]))}") from None
    if found[0].tag != "svg":
        raise SvgError(f"is no SVG drawing; it begins with {shown(found[0].tag)}")
    return found


def chosen_shape(elements: Sequence[Element], wanted: str) -> Element:
    """The shape of an id, or of a group's id with one shape, or the only one of the drawing.

    Raises:
        SvgError: when there is none or are several, or it is none of `SHAPES`, or something
            about it or around it changes what is drawn.
    """
    shape = _named(elements, wanted) if wanted else elements[0]
    depth = len(shape.above) + 1
    if depth == 1 or shape.tag in ("g", "a"):
        inside = [
            one
            for one in elements
            if one.tag in (*SHAPES, *_OTHERS)
            and one.above[depth - 1 : depth] == (shape,)
            and all(around.tag in ("g", "a") for around in one.above[depth:])
        ]
        if len(inside) != 1:
            holds = f"holds {len(inside)} shapes" if inside else "holds no shape"
            if wanted:
                shape.refuse(f"{holds}; expected one path, polygon or rect")
            ids = [one.id for one in inside if one.id]
            named = f" (its shapes are {printable(name_some(ids))})" if ids else ""
            draw = "draw one path, polygon or rect"
            what = "name one by its id, as in FILE.svg#ID" if inside else draw
            raise SvgError(f"{holds}; {what}{named}")
        (shape,) = inside
    _refuse_what_changes(shape, elements)
    return shape


def _named(elements: Sequence[Element], wanted: str) -> Element:
    """The element of an id."""
    found = [one for one in elements if one.id == wanted]
    if not found:
        hint = did_you_mean(wanted, [one.id for one in elements if one.id])
        raise SvgError(f"holds no element with the id {shown(wanted)}{hint}")
    if len(found) > 1:
        raise SvgError(f"holds {len(found)} elements with the id {shown(wanted)}; ids are unique")
    for around in found[0].above[1:]:
        if around.tag not in ("g", "a"):
            found[0].refuse(f"lies in {printable(around.tag)}, which is not drawn as it stands")
    return found[0]


def _refuse_what_changes(shape: Element, elements: Sequence[Element]) -> None:
    """Refuses a shape that is drawn in another way than its attributes say."""
    if shape.tag not in SHAPES:
        shape.refuse("is no outline of straight lines; expected a path, polygon or rect")
    if elements[0].attributes.get("transform"):
        elements[0].refuse("has a transform; move it to a group inside")
    for element in (*shape.above, shape):
        for key in ("clip-path", "mask"):
            if element.attributes.get(key, "none") != "none":
                element.refuse(f"has a {key}, which cuts what is drawn; cut the outline itself")
        if moving := _MOVING.search(element.attributes.get("style", "")):
            element.refuse(f"has a style with {moving[1]}; write it as an attribute of its own")
    for one in elements:
        harmless = one.tag in ("title", "desc", "metadata") or " " in one.tag
        if one.above[-1:] == (shape,) and not harmless:
            one.refuse(f"changes the {shape.tag} that it stands in; expected the bare shape")
        if one.tag == "style" and (moving := _MOVING.search("".join(one.text))):
            one.refuse(f"sets {moving[1]}, which changes what is drawn; expected colours only")


def _rings_mm(shape: Element) -> list[list[CornerMm]]:
    """The rings of a shape in mm, from the page's top left, y up."""
    scale, left, upper = _page(shape.above[0])
    matrix = _transform((*shape.above[1:], shape))
    rings = []
    for corners, is_closed in _lines(shape):
        moved = [matrix.point_in_matrix_space(corner) for corner in corners]
        ring = [((one.x - left) * scale, (upper - one.y) * scale + 0.0) for one in moved]
        returns = len(ring) > 1 and math.dist(ring[0], ring[-1]) <= _CLOSED_MM
        if not is_closed and not returns:
            shape.refuse("is open: its last corner is not its first; close it with Z")
        rings.append(ring[:-1] if returns else ring)
    if not rings:
        shape.refuse("draws nothing")
    if sum(map(len, rings)) > MAX_SIZE:
        shape.refuse(f"has more than {MAX_SIZE} corners")
    return rings


def _page(top: Element) -> tuple[float, float, float]:
    """Millimetres on paper in a user unit, and the user coordinates of the page's top left."""
    sizes = [_length_mm(top, key) for key in ("width", "height")]
    if "viewBox" not in top.attributes:
        return _MM_PER_UNIT[""], 0.0, 0.0
    said = top.attributes["viewBox"]
    box = [_number(top, one) for one in re.findall(_NUMBER, said)]
    if not re.fullmatch(rf"(?:{_NEXT}){{4}}\s*", said) or min(box[2:]) <= 0:
        top.refuse(f"has the viewBox {shown(said)}; expected left, top, width and height")
    scales = [size / side for size, side in zip(sizes, box[2:], strict=True) if size is not None]
    if not scales or min(scales) <= 0:
        top.refuse(
            "has a viewBox, but no width and height that say how large it is on paper; write "
            f'them in mm, such as width="{box[2]:g}mm" height="{box[3]:g}mm"'
        )
    if max(scales) > min(scales) * (1 + _ROUNDING * 10):
        sides = "{:.4g} mm across and {:.4g} mm down".format(*scales)
        top.refuse(f"is stretched: a unit of its viewBox is {sides}")
    return scales[0], box[0], box[1]


def _length_mm(element: Element, key: str) -> float | None:
    """A length on paper; None when it is not there or depends on something else, as 100% does."""
    said = element.attributes.get(key)
    if said is None:
        return None
    match = _LENGTH.fullmatch(said)
    if match is None:
        element.refuse(f"holds {shown(said)} where a length such as 60mm is expected")
    per_unit = _MM_PER_UNIT.get(match[2].lower())
    return None if per_unit is None else _number(element, match[1]) * per_unit


def _number(element: Element, text: str) -> float:
    value = float(text)
    if not abs(value) <= _LARGEST:
        element.refuse(f"holds the number {shown(text)}, which is too large")
    return value


def _transform(inside: Sequence[Element]) -> Any:
    """The transforms of a shape and the groups around it, as an ``svgelements.Matrix``."""
    from svgelements import Matrix

    matrix, texts = Matrix(), []
    for element in inside:
        text = element.attributes.get("transform", "")
        if rest := text[_CALLS.match(text).end() :]:  # type: ignore[union-attr]
            element.refuse(
                f"has a transform that cannot be read at {shown(rest[:20])}; expected translate, "
                "scale, rotate or matrix, with plain numbers"
            )
        texts.append(_without_last_dots(text))
        matrix = Matrix(" ".join(texts))
        across, down = math.hypot(matrix.a, matrix.b), math.hypot(matrix.c, matrix.d)
        if not max(across, down, abs(matrix.e), abs(matrix.f)) <= _LARGEST:
            element.refuse("has a transform that moves the shape too far away")
        if min(across, down) < 1e-9:
            element.refuse("has a transform that shrinks the shape to nothing")
        if abs(matrix.a * matrix.c + matrix.b * matrix.d) > _ROUNDING * across * down:
            element.refuse("has a transform that skews; a piece keeps its angles")
        if abs(across - down) > _ROUNDING * max(across, down):
            element.refuse(
                f"has a transform that scales unequally ({across:.4g} across, {down:.4g} down); "
                "a piece keeps its proportions"
            )
    return matrix


def _without_last_dots(text: str) -> str:
    """Numbers such as ``1.``, at which svgelements ends, as ``1``."""
    return re.sub(r"(?<=[0-9])\.(?![0-9])", "", text)


def _lines(shape: Element) -> Iterator[tuple[list[CornerMm], bool]]:
    """Corners in user units, y down, and whether the last one is joined to the first."""
    from svgelements import Close, Move
    from svgelements import Path as SvgPath

    data = _path_data(shape)
    for text in re.findall(_NUMBER, data):
        _number(shape, text)
    corners: list[CornerMm] = []
    for step in SvgPath(_without_last_dots(data)):
        if isinstance(step, Move | Close):
            if corners:
                yield corners, isinstance(step, Close)
            corners = []
        else:
            corners = corners or [(step.start.x, step.start.y)]
            corners.append((step.end.x, step.end.y))
    if corners:
        yield corners, False


def _path_data(shape: Element) -> str:
    """What a shape draws as the data of a path that holds straight lines alone."""
    if shape.tag == "rect":
        for key in ("rx", "ry"):
            if shape.attributes.get(key, "0") not in ("0", "auto"):
                shape.refuse(f"has rounded corners ({key}); expected sharp ones")
        keys, pixel_mm = ("x", "y", "width", "height"), _MM_PER_UNIT[""]
        x, y, width, height = ((_length_mm(shape, key) or 0.0) / pixel_mm for key in keys)
        if min(width, height) <= 0:
            shape.refuse("has no width or no height")
        return f"M{x!r} {y!r}h{width!r}v{height!r}h{-width!r}z"
    if shape.tag == "polygon":
        points = shape.attributes.get("points", "")
        if rest := points[_POINTS.match(points).end() :]:  # type: ignore[union-attr]
            shape.refuse(f"has points that end in {shown(rest[:20])}; expected pairs of x and y")
        return f"M{points}z" if points.strip() else ""
    data = shape.attributes.get("d", "")
    at = _LINES.match(data).end()  # type: ignore[union-attr]
    first = data.lstrip()[:1]
    if at < len(data):
        command, place = data[at], f"({data[at]}, at character {at + 1} of d)"
        if bent := _BENT.get(command.upper()):
            shape.refuse(f"holds {bent} {place}; expected straight lines: M, L, H, V and Z")
        if command in "MmLlHhVv":
            shape.refuse(f"lacks a number behind a command {place}")
        if command.isalpha():
            shape.refuse(f"holds an unknown command {place}; expected M, L, H, V and Z")
        shape.refuse(f"cannot be read at character {at + 1} of d: {shown(data[at : at + 20])}")
    if first not in "Mm":
        shape.refuse(f"does not begin with M ({first}, at the beginning of d)")
    return data


def cells_on_lattice(
    lattice: Lattice, rings_mm: Sequence[Sequence[CornerMm]], unit_mm: float, may_touch: bool
) -> frozenset[Cell]:
    """The cells inside an outline in mm, y up, that was drawn somewhere on a page.

    It is moved as little as is needed: not at all when its corners lie on the lattice that
    begins at the page's corner. (An outline of nothing but diagonals can lie on the quarter-square
    lattice in two ways that differ; so that counts.)

    Raises:
        SvgError: when it cannot be moved onto the lattice; it names a corner or an edge.
    """
    steps = 1 if lattice is LATTICES["square"] else 2  # places for a corner in one unit
    corners_mm = [corner for ring in rings_mm for corner in ring]
    places, off = zip(
        *(_places([corner[axis] / unit_mm * steps for corner in corners_mm]) for axis in (0, 1)),
        strict=True,
    )
    worst = max(range(len(corners_mm)), key=lambda i: max(off[0][i], off[1][i]))
    off_units = max(off[0][worst], off[1][worst]) / steps
    if off_units > TOLERANCE:
        (x, y), (xs, ys) = corners_mm[worst], zip(*corners_mm, strict=True)
        raise SvgError(
            f"corner {worst + 1} at ({x:.5g}, {0 - y:.5g}) mm lies {off_units:.2g} units off the "
            f"lattice; corners lie whole {'units' if steps == 1 else 'or half units'} apart, a unit "
            f"is {format_mm(unit_mm)}, and the drawing is {max(xs) - min(xs):.4g} x "
            f"{max(ys) - min(ys):.4g} mm large"
        )
    if max(map(abs, (*places[0], *places[1]))) > LARGEST_COORDINATE:
        raise SvgError(f"reaches farther than {LARGEST_COORDINATE} units of {format_mm(unit_mm)}")
    corners = zip(*places, strict=True)
    rings = [[next(corners) for _ in ring] for ring in rings_mm]
    # Edges of no length are nothing that anybody sees.
    rings = [[b for a, b in zip((ring[-1], *ring), ring, strict=False) if a != b] for ring in rings]
    faults, frame = [], lattice.per_unit // steps
    # Moves by half a unit, of which none is always enough where corners have whole places.
    for dx, dy in ((0, 0), (1, 1), (1, 0), (0, 1))[: steps**2]:
        moved = [tuple(((x + dx) * frame, (y + dy) * frame) for x, y in ring) for ring in rings]
        try:
            return cells_of_rings(lattice, moved, may_touch)
        except OutlineError as fault:
            faults.append(str(fault))
    raise SvgError(f"{faults[0]} (in units of {format_mm(unit_mm)} from the top left, y up)")


def _places(values: Sequence[float]) -> tuple[list[int], list[float]]:
    """The whole number near each value once all are moved a little, and how far it is away.

    They are moved by what is best for most of them, so that it is the odd one that is off.
    """
    from statistics import median_low  # which loads slowly

    first = values[0]
    move = first + median_low([_residue(value - first) for value in values])
    moved = [value - _residue(move) for value in values]
    return [round(value) for value in moved], [abs(_residue(value)) for value in moved]


def _residue(value: float) -> float:
    """What is left beside the nearest whole number."""
    return value - round(value)
