"""Read outlines from SVG files: one straight-line shape at 1:1, aligned with a lattice.

svgelements evaluates paths and transforms. It silently skips what it cannot read, so its input is
validated against a grammar first.
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

from fabkit.core.errors import InputError, did_you_mean, escape, join_names, quote, truncate
from fabkit.core.parsing import read_bytes
from fabkit.core.units import format_mm
from fabkit.model.lattice import Cell, Lattice
from fabkit.model.polygon import LARGEST_COORDINATE, MAX_SIZE, OutlineError, cells_of_rings

#: Limits for files.
MAX_BYTES = 4 * 1024 * 1024
MAX_ELEMENTS = 20_000
MAX_DEPTH = 100
#: How far, in grid units, a corner may be off the lattice.
TOLERANCE = 0.02
#: A path whose ends are this close, in mm, needs no Z.
_CLOSED_MM = 1e-3
#: Limit for numbers.
_LARGEST = 1e7
#: Relative tolerance for matrices, which editors write with six digits.
_ROUNDING = 1e-4
#: Millimetres per absolute CSS unit; a plain number is in pixels.
_MM_PER_UNIT = {
    "": 25.4 / 96, "px": 25.4 / 96, "mm": 1.0, "cm": 10.0, "q": 0.25, "in": 25.4,
    "pt": 25.4 / 72, "pc": 25.4 / 6,
}  # fmt: skip

#: Elements that can be the outline of a piece, and other drawn elements.
SHAPES = ("path", "polygon", "rect")
_OTHERS = (
    "circle", "ellipse", "foreignObject", "image", "line", "polyline", "svg", "switch", "text",
    "use",
)  # fmt: skip
#: Style properties that would change the geometry.
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
    """A drawing that is not the outline of a piece; the message says where and why."""


@dataclass(frozen=True, eq=False)
class Element:
    """An element of a drawing.

    Attributes:
        tag: its name, with its namespace if that is not SVG's.
        attributes: those without a namespace.
        line: where it begins in the file.
        ancestors: outermost first.
        text: of a style sheet.
    """

    tag: str
    attributes: Mapping[str, str]
    line: int
    ancestors: tuple[Element, ...]
    text: list[str] = field(default_factory=list)

    @property
    def id(self) -> str:
        """Its id; empty if it has none."""
        return self.attributes.get("id", "")

    def refuse(self, reason: str, colon: str = "") -> Never:
        """Raise an `SvgError` that names this element and its line."""
        name = f"{self.tag} {quote(self.id)}" if self.id else self.tag
        raise SvgError(f"line {self.line}: {escape(name)}{colon} {reason}")


class SvgFolder:
    """Reads shapes from SVG files in or below the folder of a set file, each file once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._contents: dict[str, bytes] = {}
        self._drawings: dict[str, list[Element]] = {}

    @property
    def digests(self) -> list[str]:
        """Name and SHA-256 of each file read, in alphabetical order."""
        return [
            f"{name} {hashlib.sha256(content).hexdigest()}"
            for name, content in sorted(self._contents.items())
        ]

    def cells(
        self, wanted: str, lattice: Lattice, unit_mm: float, may_touch: bool
    ) -> frozenset[Cell]:
        """Return the cells inside a shape drawn at 1:1.

        Args:
            wanted: ``FILE.svg`` for the file's only shape, or ``FILE.svg#ID``.
            lattice: square or quarter-square.
            may_touch: whether the outline may touch itself in single points.

        Raises:
            SvgError: when there is no such file or shape, or it is not an outline on the lattice.
        """
        name, _, shape_id = wanted.partition("#")
        try:
            if name not in self._drawings:
                self._contents[name] = self._read(name)
                self._drawings[name] = parse_svg(self._contents[name])
            shape = select_shape(self._drawings[name], shape_id)
            rings = _rings_mm(shape)
            try:
                return cells_on_lattice(lattice, rings, unit_mm, may_touch)
            except SvgError as error:
                hint = "; without a viewBox it is drawn in 1/96 inches"
                hint = "" if "viewBox" in shape.ancestors[0].attributes else hint
                shape.refuse(f"{error}{hint}", ":")
        except SvgError as error:
            raise SvgError(f"{name or quote(wanted)}: {error}") from None

    def _read(self, name: str) -> bytes:
        """Read a file in the folder or below it."""
        here = "SVG files must be beside the set file or in a subfolder"
        parts = PurePosixPath(name)
        if not name.lower().endswith(".svg"):
            raise SvgError("expected the name of an SVG file, such as shapes.svg or shapes.svg#A")
        if parts.is_absolute() or ".." in parts.parts or "\\" in name or ":" in name:
            raise SvgError(f"is outside the folder; {here}, with / between folders")
        try:
            real = (self._folder / name).resolve()
            if not real.is_relative_to(self._folder.resolve()):
                raise SvgError(f"is a link to outside the folder; {here}")
            if not real.exists():
                raise SvgError(f"there is no such file; {here}")
            if not real.is_file():
                raise SvgError("is not a file; expected an SVG file")
        except (OSError, RuntimeError) as error:  # a name too long, links in a circle
            raise SvgError(f"cannot be read: {quote(str(error))}") from None
        try:
            content = read_bytes(self._folder / name, name, "an SVG file", MAX_BYTES)
        except InputError as error:
            raise SvgError(error.errors[0].message) from None
        if len(content) > MAX_BYTES:
            raise SvgError(f"is larger than {MAX_BYTES // 1024**2} MiB")
        return content


def parse_svg(content: bytes) -> list[Element]:
    """Parse the elements of an SVG file, in document order.

    Raises:
        SvgError: when it is not XML or SVG, has a DOCTYPE, or exceeds a limit.
    """
    # Other encodings could disguise content.
    encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8"
    parser = expat.ParserCreate(encoding, " ")
    elements: list[Element] = []
    ancestors: list[Element] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        if len(elements) >= MAX_ELEMENTS:
            raise SvgError(f"contains more than {MAX_ELEMENTS} elements")
        if len(ancestors) >= MAX_DEPTH:
            raise SvgError(f"nests elements deeper than {MAX_DEPTH}")
        plain = {key: value for key, value in attributes.items() if " " not in key}
        tag = name.removeprefix("http://www.w3.org/2000/svg ")
        elements.append(Element(tag, plain, parser.CurrentLineNumber, tuple(ancestors)))
        ancestors.append(elements[-1])

    def characters(text: str) -> None:
        if ancestors[-1].tag == "style":
            ancestors[-1].text.append(text)

    def doctype(*_: object) -> None:
        raise SvgError(
            f"line {parser.CurrentLineNumber}: has a DOCTYPE, which may define entities; delete it"
        )

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _: ancestors.pop()
    parser.CharacterDataHandler = characters
    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(content, True)
    except SvgError:
        raise
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise SvgError(f"is not well-formed XML: {truncate(escape(str(error)[:200]))}") from None
    if elements[0].tag != "svg":
        raise SvgError(f"is not an SVG drawing; its root element is {quote(elements[0].tag)}")
    return elements


def select_shape(elements: Sequence[Element], wanted: str) -> Element:
    """Return the shape with an id, the only one in a group with that id, or of the drawing.

    Raises:
        SvgError: when there are none or several, when it is not one of `SHAPES`, or when its
            attributes or ancestors change what is drawn.
    """
    shape = _named(elements, wanted) if wanted else elements[0]
    depth = len(shape.ancestors) + 1
    if depth == 1 or shape.tag in ("g", "a"):
        inside = [
            element
            for element in elements
            if element.tag in (*SHAPES, *_OTHERS)
            and element.ancestors[depth - 1 : depth] == (shape,)
            and all(around.tag in ("g", "a") for around in element.ancestors[depth:])
        ]
        if len(inside) != 1:
            holds = f"contains {len(inside)} shapes" if inside else "contains no shape"
            if wanted:
                shape.refuse(f"{holds}; expected one path, polygon or rect")
            ids = [element.id for element in inside if element.id]
            named = f" (ids: {escape(join_names(ids))})" if ids else ""
            select = "select one by id, as in FILE.svg#ID"
            advice = select if inside else "draw one path, polygon or rect"
            raise SvgError(f"{holds}; {advice}{named}")
        (shape,) = inside
    _refuse_modifiers(shape, elements)
    return shape


def _named(elements: Sequence[Element], shape_id: str) -> Element:
    named = [element for element in elements if element.id == shape_id]
    if not named:
        hint = did_you_mean(shape_id, [element.id for element in elements if element.id])
        raise SvgError(f"contains no element with the id {quote(shape_id)}{hint}")
    if len(named) > 1:
        message = f"contains {len(named)} elements with the id {quote(shape_id)}"
        raise SvgError(f"{message}; ids are unique")
    for around in named[0].ancestors[1:]:
        if around.tag not in ("g", "a"):
            named[0].refuse(f"is inside {escape(around.tag)}, which is not drawn directly")
    return named[0]


def _refuse_modifiers(shape: Element, elements: Sequence[Element]) -> None:
    """Refuse a shape that is modified by anything but its own attributes and transforms."""
    if shape.tag not in SHAPES:
        shape.refuse("is not a straight-line outline; expected a path, polygon or rect")
    if elements[0].attributes.get("transform"):
        elements[0].refuse("has a transform; move it to a group inside")
    for element in (*shape.ancestors, shape):
        for key in ("clip-path", "mask"):
            if element.attributes.get(key, "none") != "none":
                element.refuse(f"has a {key}, which clips the shape; clip the outline itself")
        if moving := _MOVING.search(element.attributes.get("style", "")):
            element.refuse(f"has a style with {moving[1]}; use an attribute instead")
    for element in elements:
        harmless = element.tag in ("title", "desc", "metadata") or " " in element.tag
        if element.ancestors[-1:] == (shape,) and not harmless:
            element.refuse(f"changes the {shape.tag} that contains it; remove it")
        if element.tag == "style" and (moving := _MOVING.search("".join(element.text))):
            element.refuse(f"sets {moving[1]}, which changes what is drawn; expected colours only")


def _rings_mm(shape: Element) -> list[list[CornerMm]]:
    """Return the rings of a shape in mm, from the page's top left, y up."""
    scale, left, upper = _page(shape.ancestors[0])
    matrix = _transform((*shape.ancestors[1:], shape))
    rings = []
    for corners, is_closed in _lines(shape):
        moved = [matrix.point_in_matrix_space(corner) for corner in corners]
        ring = [((point.x - left) * scale, (upper - point.y) * scale + 0.0) for point in moved]
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
    """Return millimetres per user unit, and the user coordinates of the page's top left."""
    sizes = [_length_mm(top, key) for key in ("width", "height")]
    if "viewBox" not in top.attributes:
        return _MM_PER_UNIT[""], 0.0, 0.0
    stated = top.attributes["viewBox"]
    box = [_number(top, side) for side in re.findall(_NUMBER, stated)]
    if not re.fullmatch(rf"(?:{_NEXT}){{4}}\s*", stated) or min(box[2:]) <= 0:
        top.refuse(f"has the viewBox {quote(stated)}; expected left, top, width and height")
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
    """Return an absolute length in mm; None when it is missing or relative, such as 100%."""
    stated = element.attributes.get(key)
    if stated is None:
        return None
    match = _LENGTH.fullmatch(stated)
    if match is None:
        element.refuse(f"contains {quote(stated)} where a length such as 60mm is expected")
    per_unit = _MM_PER_UNIT.get(match[2].lower())
    return None if per_unit is None else _number(element, match[1]) * per_unit


def _number(element: Element, text: str) -> float:
    value = float(text)
    if not abs(value) <= _LARGEST:
        element.refuse(f"contains the number {quote(text)}, which is too large")
    return value


def _transform(inside: Sequence[Element]) -> Any:
    """Combine the transforms of a shape and its groups into an ``svgelements.Matrix``."""
    from svgelements import Matrix

    matrix = Matrix()
    texts = []
    for element in inside:
        text = element.attributes.get("transform", "")
        if rest := text[_CALLS.match(text).end() :]:  # type: ignore[union-attr]
            element.refuse(
                f"has a transform that cannot be read at {quote(rest[:20])}; expected translate, "
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
    """Replace numbers such as ``1.``, at which svgelements stops, by ``1``."""
    return re.sub(r"(?<=[0-9])\.(?![0-9])", "", text)


def _lines(shape: Element) -> Iterator[tuple[list[CornerMm], bool]]:
    """Yield corners in user units, y down, and whether the path is closed."""
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
    """Return a shape as path data with straight lines only."""
    if shape.tag == "rect":
        for key in ("rx", "ry"):
            if shape.attributes.get(key, "0") not in ("0", "auto"):
                shape.refuse(f"has rounded corners ({key}); expected sharp ones")
        x, y, width, height = (
            (_length_mm(shape, key) or 0.0) / _MM_PER_UNIT[""]
            for key in ("x", "y", "width", "height")
        )
        if min(width, height) <= 0:
            shape.refuse("has no width or no height")
        return f"M{x!r} {y!r}h{width!r}v{height!r}h{-width!r}z"
    if shape.tag == "polygon":
        points = shape.attributes.get("points", "")
        if rest := points[_POINTS.match(points).end() :]:  # type: ignore[union-attr]
            shape.refuse(f"has points that end in {quote(rest[:20])}; expected pairs of x and y")
        return f"M{points}z" if points.strip() else ""
    data = shape.attributes.get("d", "")
    end = _LINES.match(data).end()  # type: ignore[union-attr]
    first = data.lstrip()[:1]
    if end < len(data):
        command = data[end]
        place = f"({command}, at character {end + 1} of d)"
        if bent := _BENT.get(command.upper()):
            shape.refuse(f"contains {bent} {place}; expected straight lines: M, L, H, V and Z")
        if command in "MmLlHhVv":
            shape.refuse(f"lacks a number behind a command {place}")
        if command.isalpha():
            shape.refuse(f"contains an unknown command {place}; expected M, L, H, V and Z")
        shape.refuse(f"cannot be read at character {end + 1} of d: {quote(data[end : end + 20])}")
    if first not in "Mm":
        shape.refuse(f"does not begin with M ({first}, at the beginning of d)")
    return data


def cells_on_lattice(
    lattice: Lattice, rings_mm: Sequence[Sequence[CornerMm]], unit_mm: float, may_touch: bool
) -> frozenset[Cell]:
    """Return the cells inside an outline in mm, y up, drawn anywhere on a page.

    It is moved as little as possible: not at all when its corners are on the lattice that begins at
    the page's corner. (An outline of diagonals only fits the quarter-square lattice in two
    different ways, so its position matters.)

    Raises:
        SvgError: when it cannot be moved onto the lattice; it names a corner or an edge.
    """
    steps = lattice.corners_per_unit
    corners_mm = [corner for ring in rings_mm for corner in ring]
    places, off = zip(
        *(_places([corner[axis] / unit_mm * steps for corner in corners_mm]) for axis in (0, 1)),
        strict=True,
    )
    worst = max(range(len(corners_mm)), key=lambda i: max(off[0][i], off[1][i]))
    off_units = max(off[0][worst], off[1][worst]) / steps
    if off_units > TOLERANCE:
        x, y = corners_mm[worst]
        xs, ys = zip(*corners_mm, strict=True)
        raise SvgError(
            f"corner {worst + 1} at ({x:.5g}, {0 - y:.5g}) mm is {off_units:.2g} units off the "
            f"lattice; corners are whole {'units' if steps == 1 else 'or half units'} apart, a "
            f"unit is {format_mm(unit_mm)}, and the drawing is {max(xs) - min(xs):.4g} x "
            f"{max(ys) - min(ys):.4g} mm large"
        )
    if max(map(abs, (*places[0], *places[1]))) > LARGEST_COORDINATE:
        raise SvgError(f"reaches farther than {LARGEST_COORDINATE} units of {format_mm(unit_mm)}")
    corners = zip(*places, strict=True)
    rings = [[next(corners) for _ in ring] for ring in rings_mm]
    # Drop edges of zero length, which are invisible.
    rings = [[b for a, b in zip((ring[-1], *ring), ring, strict=False) if a != b] for ring in rings]
    errors = []
    frame = lattice.per_unit // steps
    # Shifts by half a unit; the square lattice needs none.
    for dx, dy in ((0, 0), (1, 1), (1, 0), (0, 1))[: steps**2]:
        moved = [tuple(((x + dx) * frame, (y + dy) * frame) for x, y in ring) for ring in rings]
        try:
            return cells_of_rings(lattice, moved, may_touch)
        except OutlineError as error:
            errors.append(str(error))
    raise SvgError(f"{errors[0]} (in units of {format_mm(unit_mm)} from the top left, y up)")


def _places(values: Sequence[float]) -> tuple[list[int], list[float]]:
    """Return the nearest integer of each value after a common shift, and its distance.

    The shift is the median residue, so that outliers do not affect it.
    """
    from statistics import median_low  # slow to import

    first = values[0]
    move = first + median_low([_residue(value - first) for value in values])
    moved = [value - _residue(move) for value in values]
    return [round(value) for value in moved], [abs(_residue(value)) for value in moved]


def _residue(value: float) -> float:
    """Return the difference from the nearest integer."""
    return value - round(value)
