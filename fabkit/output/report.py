"""HTML reports: the page of `fabkit check` and fact sheets for notebooks."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import indent, tostring

import shapely
from shapely import LinearRing, affinity, box
from shapely.geometry.base import BaseGeometry
from shapely.ops import nearest_points

from fabkit.core.errors import escape, pluralize
from fabkit.core.parsing import shipped_file
from fabkit.core.units import format_mm
from fabkit.drawing.outline import PointMm, rings_mm
from fabkit.output.svg import Drawing

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).parent / "templates"
FAULTY_MM = 74.0  # the longer side of a piece with failures, on paper and screen
SOUND_MM = 30.0  # the longer side of the largest piece without
_NUMBERED_MM = 9.0  # the margin around a piece with numbers
_BARE_MM = 0.5  # the margin around a piece without
_LINE_MM = 6.0  # the line height at the foot of a piece
_RADIUS_MM = 2.5  # the radius of a number's circle
_APART_MM = 5.6  # the minimum distance of these circles from each other
_OUTSIDE_MM = 6.0  # their distance from the piece's bounding box
_DOT_MM = 0.6  # the radius of the dot at the place of a failure
_TEXT_MM = 3.0  # the height of texts
_WORDS_MM = 23.0  # the room for text before the numbers at the foot
_IN_ROW = 12  # numbers in a row at the foot
_RULERS_MM = (1, 2, 5, 10, 20, 50)  # the lengths of rulers
RULES_HEAD = ("Rule", "Finding", "Value", "Limit")  # the columns of a table of findings


def render_html(template: str, **values: Any) -> str:
    """Render a template. Text is escaped, ``markupsafe.Markup`` is not."""
    return _environment().get_template(shipped_file(TEMPLATES / template).name).render(values)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["printable"] = escape
    return environment


def fact_sheet(title: str, facts: Mapping[str, str], svg: str) -> str:
    """Return a title, facts and a drawing as HTML for a notebook; the drawing is an image, so that
    nothing in it can run."""
    image = base64.b64encode(svg.encode()).decode("ascii")
    return render_html("facts.html", title=title, facts=facts, image=image)


@dataclass(frozen=True, eq=False)
class Row:
    """A row of a table, with a text for each column; often the finding of a rule, whose requirement is
    the `hint`. `ok` is None for information. `where` is a place on the piece, in mm in the frame of
    its outline; None for the whole piece."""

    cells: tuple[str, ...]
    ok: bool | None = None
    where: BaseGeometry | None = None
    hint: str = ""

    @property
    def measured(self) -> str:
        """Return the rule and its numbers, in one line."""
        named = zip(("rule", "value", "limit"), (self.cells[0], *self.cells[2:]), strict=True)
        return " · ".join(f"{name} {text}" for name, text in named if text)


@dataclass(frozen=True, eq=False)
class PieceSheet:
    """A piece on the page. All shapes are in mm, in one frame, seen from the lettered face. `key` is
    unique; `source` is its file. `seen` is the outline as measured, `canonical` the nominal one,
    without clearance; None when it could not be read."""

    key: str
    title: str
    source: str
    seen: BaseGeometry
    canonical: BaseGeometry | None
    recesses: tuple[BaseGeometry, ...]
    letters: tuple[BaseGeometry, ...]
    rows: tuple[Row, ...]

    @property
    def faults(self) -> list[Row]:
        """Return the failed rules, in the order of their numbers."""
        return [row for row in self.rows if not row.ok]


@dataclass(frozen=True)
class Section:
    """A table with a heading and an introduction. Failed rows come first. `noun` is what a row is, such
    as ``challenge``; rows that pass or fail are counted at the top of the page."""

    title: str
    intro: str
    head: tuple[str, ...]
    rows: tuple[Row, ...]
    noun: str


@dataclass(frozen=True, eq=False)
class CheckSheet:
    """The content of the page: the set's title, the print profile's name, the `findings` on the set as a
    whole, and the pieces; those with failures come first."""

    title: str
    profile: str
    findings: tuple[Row, ...]
    pieces: tuple[PieceSheet, ...]
    sections: tuple[Section, ...] = ()


def check_page(sheet: CheckSheet) -> str:
    """Return a self-contained HTML document. Equal sheets give equal bytes."""
    from markupsafe import Markup

    def figure(piece: PieceSheet, scale: float) -> tuple[PieceSheet, Markup]:
        drawing = _Picture(piece, scale).drawing.element
        indent(drawing, space="")
        return piece, Markup(tostring(drawing, encoding="unicode"))  # noqa: S704 (texts are escaped)

    sound = [piece for piece in sheet.pieces if not piece.faults]
    largest_mm = max(map(_extent_mm, sound), default=1.0)
    tallies = _tallies(sheet)
    failures = [
        f"{failing} of {pluralize(count, noun)}" for noun, count, failing in tallies if failing
    ]
    return render_html(
        "check.html",
        sheet=sheet,
        ok=not failures,
        verdict="Failed" if failures else "Passed",
        summary=f"Failures: {', '.join(failures)}." if failures else "All checks passed.",
        faulty=[
            figure(piece, _extent_mm(piece) / FAULTY_MM) for piece in sheet.pieces if piece.faults
        ],
        sound=[figure(piece, largest_mm / SOUND_MM) for piece in sound],
        tallies=tallies,
        rules_head=RULES_HEAD,
        signs={True: ("✓", "passed"), False: ("✗", "failed"), None: ("–", "info")},
        pluralize=pluralize,
    )


def _tallies(sheet: CheckSheet) -> list[tuple[str, int, int]]:
    """Return what is counted, its number, and the number of failures."""
    rows = [row for piece in sheet.pieces for row in piece.rows]
    failing = {row.cells[0] for row in rows if not row.ok}
    kept = {row.cells[0]: row.cells[0] not in failing for row in rows}
    judged = [
        ("piece", [not piece.faults for piece in sheet.pieces]),
        ("rule", list(kept.values())),
        ("set finding", [bool(row.ok) for row in sheet.findings]),
    ]
    for section in sheet.sections:
        judged.append((section.noun, [row.ok for row in section.rows if row.ok is not None]))
    return [(noun, len(oks), oks.count(False)) for noun, oks in judged if oks]


def _bounds(piece: PieceSheet) -> list[float]:
    """Return the bounding box of a drawn piece; a unit box when there is nothing."""
    shapes_shown = [piece.seen, piece.canonical, *(row.where for row in piece.faults)]
    shapes = [shape for shape in shapes_shown if shape is not None and not shape.is_empty]
    return shapely.total_bounds(shapes or [box(0, 0, 1, 1)]).tolist()  # type: ignore[no-any-return]


def _extent_mm(piece: PieceSheet) -> float:
    """Return the longer side of that box."""
    left, bottom, right, top = _bounds(piece)
    return max(right - left, top - bottom, 1.0)


class _Picture:
    """A drawing of a piece, 1 to `scale`, with a number at each failure."""

    def __init__(self, piece: PieceSheet, scale: float) -> None:
        self._scale = scale
        faults = dict(enumerate(piece.faults, start=1))
        places = {
            number: fault.where
            for number, fault in faults.items()
            if fault.where and not fault.where.is_empty
        }
        whole_piece = [number for number in faults if number not in places]
        left, bottom, right, top = _bounds(piece)
        margin = scale * (_NUMBERED_MM if faults else _BARE_MM)
        wide = (scale * FAULTY_MM if faults else right - left) + 2 * margin
        lines = math.ceil(len(whole_piece) / _IN_ROW) + 1 if faults else 0
        foot = scale * _LINE_MM * lines
        self._by = (wide - right - left) / 2, foot + margin - bottom
        size = wide, foot + top - bottom + 2 * margin
        title = f"Piece {piece.key}, seen from the lettered face"
        findings = [f"{number}: {row.cells[1]}" for number, row in faults.items()]
        description = "; ".join(findings) or "No failures."
        self.drawing = Drawing(*size, title, description, theme=None, scale=1 / scale)
        outline = () if piece.canonical is None else (piece.canonical,)
        layers = {"seen": (piece.seen,), "recess": piece.recesses, "letter": piece.letters}
        for name, shapes in (layers | {"canonical": outline}).items():
            for shape in shapes:
                self._trace(shape, name)
        for number, place in places.items():
            self._trace(place, "place", data_fault=str(number))
        if faults:
            ring = self._moved(box(left, bottom, right, top)).buffer(scale * _OUTSIDE_MM).exterior
            moved = {number: self._moved(place) for number, place in places.items()}
            self._callouts(moved, ring)
            self._whole_piece(whole_piece, foot)
            # A ruler at the lower right.
            length = max(mm for mm in _RULERS_MM if mm in (_RULERS_MM[0], min(mm, wide / 3.5)))
            right, low, up = wide - scale, 1.5 * scale, 2.3 * scale
            ends = [(right - length, up), (right - length, low), (right, low), (right, up)]
            self.drawing.line(ends, class_="ruler")
            corner = right - length / 2, 3.7 * scale
            self._text(corner, format_mm(length), text_anchor="middle")

    def _moved(self, shape: BaseGeometry) -> BaseGeometry:
        return affinity.translate(shape, *self._by)

    def _trace(self, shape: BaseGeometry, class_: str, **data: str) -> None:
        """Draw areas, lines, and points as dots."""
        for part in shapely.get_parts(shapely.get_parts(self._moved(shape))):
            if part.geom_type == "Polygon" and not part.is_empty:
                self.drawing.polygon(rings_mm(part), class_=class_, **data)
            elif part.geom_type == "Point":
                self.drawing.circle(part.x, part.y, self._scale * _DOT_MM, class_=class_, **data)
            elif not part.is_empty:
                self.drawing.line(part.coords, class_=f"{class_}-line", **data)

    def _callouts(self, places: dict[int, BaseGeometry], ring: LinearRing) -> None:
        """Draw numbers on a ring, each at the nearest free position, with a line to its place."""
        count = max(int(ring.length / (self._scale * _APART_MM)), len(places))
        free = [ring.interpolate(i / count, normalized=True) for i in range(count)]
        positions = {}
        for number, place in places.items():
            # Rounded, so that the choice between equally near positions is the same on every machine.
            nearest = min(free, key=lambda position: round(float(position.distance(place)), 3))
            free.remove(nearest)
            positions[number] = nearest
            end, _ = nearest_points(place, nearest)
            self.drawing.line([(nearest.x, nearest.y), (end.x, end.y)], class_="leader")
            dot_mm = self._scale * _DOT_MM
            self.drawing.circle(end.x, end.y, dot_mm, class_="dot", data_fault=str(number))
        for number, position in positions.items():
            self._number((position.x, position.y), number)

    def _whole_piece(self, numbers: list[int], foot: float) -> None:
        """Draw below the piece the numbers of failures without a place."""
        line_mm = self._scale * _LINE_MM
        if numbers:
            self._text((self._scale, foot - line_mm / 2), "whole piece", text_anchor="start")
        for i, number in enumerate(numbers):
            line, column = divmod(i, _IN_ROW)
            x = self._scale * (_WORDS_MM + (column + 0.5) * _APART_MM)
            self._number((x, foot - line_mm * (line + 0.5)), number)

    def _number(self, corner: PointMm, number: int) -> None:
        radius = self._scale * _RADIUS_MM
        self.drawing.circle(*corner, radius, class_="balloon", data_fault=str(number))
        self._text(corner, str(number), text_anchor="middle", class_="digits")

    def _text(self, corner: PointMm, text: str, **style: str) -> None:
        """Draw text whose capitals are centred at a height."""
        size = self._scale * _TEXT_MM
        self.drawing.text(corner[0], corner[1] - 0.36 * size, text, size, **style)
