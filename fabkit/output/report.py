"""The page that `fabkit check` writes: what is wrong with the pieces of a set, and where.

A piece with faults is drawn with a red mark and a number at the place of each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from xml.etree.ElementTree import indent, tostring

import shapely
from shapely import LinearRing, affinity, box
from shapely.geometry.base import BaseGeometry
from shapely.ops import nearest_points

from fabkit.core.errors import many
from fabkit.core.units import format_mm
from fabkit.drawing.outline import PointMm, rings_mm
from fabkit.output.html import render_html
from fabkit.output.svg import Drawing

#: On paper and screen: the longer side of a piece with faults, and of the largest one without …
FAULTY_MM, SOUND_MM = 74.0, 30.0
#: … the room around a piece with and without numbers, and the height of a line at its foot …
_NUMBERED_MM, _BARE_MM, _LINE_MM = 9.0, 0.5, 6.0
#: … a number's circle, how far apart two of them are, and how far outside the piece …
_RADIUS_MM, _APART_MM, _OUTSIDE_MM = 2.5, 5.6, 6.0
#: … the dot at its place, the height of letters, and the room for words before a row of numbers.
_DOT_MM, _TEXT_MM, _WORDS_MM = 0.6, 3.0, 23.0
#: Numbers beside these words.
_IN_ROW = 12
#: Lengths that a ruler may have.
_RULERS_MM = (1, 2, 5, 10, 20, 50)
#: The columns of a table of findings.
RULES_HEAD = ("Rule", "What was found", "Value", "Limit")


@dataclass(frozen=True, eq=False)
class Row:
    """A line of a table; often what one rule says.

    Attributes:
        cells: a text for each column, such as `RULES_HEAD`; where nothing is to be said, an empty one.
        ok: whether it is as it should be; None when that is not judged.
        where: the place on the piece, in mm in the same frame as its outline; None for the whole.
        hint: what the rule is called and asks for.
    """

    cells: tuple[str, ...]
    ok: bool | None = None
    where: BaseGeometry | None = None
    hint: str = ""

    @property
    def measured(self) -> str:
        """The rule and its numbers, in one line."""
        named = zip(("rule", "value", "limit"), (self.cells[0], *self.cells[2:]), strict=True)
        return " · ".join(f"{name} {said}" for name, said in named if said)


@dataclass(frozen=True, eq=False)
class PieceSheet:
    """A piece as it is shown. All shapes are in mm, in one frame, seen from the lettered face.

    Attributes:
        key: its name, different from all others'.
        title: what else it is called; empty when that is nothing new.
        source: the file that it was in.
        seen: its outline as it is.
        canonical: its outline as drawn, without clearance; None when it could not be read.
        recesses: the recesses for magnets.
        letters: the letter.
        rows: what each rule says.
    """

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
        """The rules that it does not keep, in the order in which they are numbered."""
        return [row for row in self.rows if not row.ok]


@dataclass(frozen=True)
class Section:
    """A table with a heading and a sentence on what it shows. Lines that fail are shown first.

    `noun` is what a line is, such as ``challenge``; judged lines are counted at the page's top.
    """

    title: str
    intro: str
    head: tuple[str, ...]
    rows: tuple[Row, ...]
    noun: str


@dataclass(frozen=True, eq=False)
class CheckSheet:
    """All that the page shows: the set's title, the print profile's name, and what was found.

    `findings` are on the set as a whole; pieces with faults are shown before the others.
    """

    title: str
    profile: str
    findings: tuple[Row, ...]
    pieces: tuple[PieceSheet, ...]
    sections: tuple[Section, ...] = ()


def check_page(sheet: CheckSheet) -> str:
    """An HTML document that needs no other file. The same sheet gives the same page.

    Example:
        >>> sharp = Row(("tip", "the tip is sharp", "0.4 mm", "1.2 mm"), False, box(0, 0, 1, 1))
        >>> piece = PieceSheet("K", "", "K.stl", box(0, 0, 20, 40), None, (), (), (sharp,))
        >>> page = check_page(CheckSheet("Mine", "default", (), (piece,)))
        >>> "Failed" in page, "the tip is sharp" in page
        (True, True)
    """
    from markupsafe import Markup

    def drawn(piece: PieceSheet, scale: float) -> tuple[PieceSheet, Markup]:
        drawing = _Picture(piece, scale).drawing.element
        indent(drawing, space="")
        return piece, Markup(tostring(drawing, encoding="unicode"))  # noqa: S704 (texts are escaped)

    sound = [piece for piece in sheet.pieces if not piece.faults]
    largest_mm = max(map(_extent_mm, sound), default=1.0)
    tallies = _tallies(sheet)
    told = [f"{failing} of {many(count, noun)}" for noun, count, failing in tallies if failing]
    return render_html(
        "check.html",
        sheet=sheet,
        ok=not told,
        verdict="Failed" if told else "Passed",
        summary=f"At fault: {', '.join(told)}." if told else "Everything keeps the rules.",
        faulty=[drawn(one, _extent_mm(one) / FAULTY_MM) for one in sheet.pieces if one.faults],
        sound=[drawn(piece, largest_mm / SOUND_MM) for piece in sound],
        tallies=tallies,
        rules_head=RULES_HEAD,
        signs={True: ("✓", "holds"), False: ("✗", "fails"), None: ("–", "unjudged")},
        many=many,
    )


def _tallies(sheet: CheckSheet) -> list[tuple[str, int, int]]:
    """What is counted, how many there are, and how many fail."""
    kept: dict[str, bool] = {}
    for row in (row for piece in sheet.pieces for row in piece.rows):
        kept[row.cells[0]] = kept.get(row.cells[0], True) and bool(row.ok)
    judged = [
        ("piece", [not piece.faults for piece in sheet.pieces]),
        ("rule", list(kept.values())),
        ("set finding", [bool(row.ok) for row in sheet.findings]),
    ]
    judged += [
        (one.noun, [row.ok for row in one.rows if row.ok is not None]) for one in sheet.sections
    ]
    return [(noun, len(oks), oks.count(False)) for noun, oks in judged if oks]


# --- drawings -----------------------------------------------------------------------------------


def _bounds(piece: PieceSheet) -> tuple[float, float, float, float]:
    """The box around all that is drawn of a piece; some box when that is nothing."""
    found = [piece.seen, piece.canonical, *(row.where for row in piece.faults)]
    shapes = [one for one in found if one is not None and not one.is_empty] or [box(0, 0, 1, 1)]
    left, bottom, right, top = shapely.total_bounds(shapes).tolist()
    return left, bottom, right, top


def _extent_mm(piece: PieceSheet) -> float:
    """The longer side of that box."""
    left, bottom, right, top = _bounds(piece)
    return max(right - left, top - bottom, 1.0)


class _Picture:
    """A drawing of a piece, one to `scale`, with a number at each of its faults."""

    def __init__(self, piece: PieceSheet, scale: float) -> None:
        self._scale = scale
        faults = dict(enumerate(piece.faults, start=1))
        nowhere = [n for n, row in faults.items() if row.where is None or row.where.is_empty]
        left, bottom, right, top = _bounds(piece)
        margin = scale * (_NUMBERED_MM if faults else _BARE_MM)
        wide = (scale * FAULTY_MM if faults else right - left) + 2 * margin
        lines = math.ceil(len(nowhere) / _IN_ROW) + 1 if faults else 0
        foot = scale * _LINE_MM * lines
        self._by = (wide - right - left) / 2, foot + margin - bottom
        self.drawing = Drawing(
            wide,
            foot + top - bottom + 2 * margin,
            f"Piece {piece.key}, seen from its lettered face",
            "; ".join(f"{n}: {row.cells[1]}" for n, row in faults.items()) or "It has no faults.",
            theme=None,
            scale=1 / scale,
        )
        self._trace(piece.seen, "seen")
        for recess in piece.recesses:
            self._trace(recess, "recess")
        for letter in piece.letters:
            self._trace(letter, "letter")
        if piece.canonical is not None:
            self._trace(piece.canonical, "canonical")
        places = {n: row.where for n, row in faults.items() if row.where and n not in nowhere}
        for number, place in places.items():
            self._trace(place, "place", data_fault=str(number))
        if faults:
            ring = self._moved(box(left, bottom, right, top)).buffer(scale * _OUTSIDE_MM).exterior
            self._callouts({n: self._moved(place) for n, place in places.items()}, ring)
            self._whole_piece(nowhere, foot)
            self._ruler(wide)

    def _moved(self, shape: BaseGeometry) -> BaseGeometry:
        return affinity.translate(shape, *self._by)

    def _trace(self, shape: BaseGeometry, class_: str, **data: str) -> None:
        """Draws areas as areas, lines as lines and points as dots."""
        for part in shapely.get_parts(shapely.get_parts(self._moved(shape))):
            if part.geom_type == "Polygon" and not part.is_empty:
                self.drawing.polygon(rings_mm(part), class_=class_, **data)
            elif part.geom_type == "Point":
                self.drawing.circle(part.x, part.y, self._scale * _DOT_MM, class_=class_, **data)
            elif not part.is_empty:
                self.drawing.line(part.coords, class_=f"{class_}-line", **data)

    def _callouts(self, places: dict[int, BaseGeometry], ring: LinearRing) -> None:
        """Numbers on a ring, each with a line to its place, as near to it as is free."""
        count = max(int(ring.length / (self._scale * _APART_MM)), len(places))
        free = [ring.interpolate(i / count, normalized=True) for i in range(count)]
        spots = {}
        for number, place in places.items():
            # Rounded, so that of two spots as near the choice is the same on every machine.
            spots[number] = min(free, key=lambda spot: round(float(spot.distance(place)), 3))
            free.remove(spots[number])
            end, spot = nearest_points(place, spots[number])
            self.drawing.line([(spot.x, spot.y), (end.x, end.y)], class_="leader")
            dot_mm = self._scale * _DOT_MM
            self.drawing.circle(end.x, end.y, dot_mm, class_="dot", data_fault=str(number))
        for number, spot in spots.items():
            self._number((spot.x, spot.y), number)

    def _whole_piece(self, numbers: list[int], foot: float) -> None:
        """Below the piece the numbers of what has no one place."""
        line_mm = self._scale * _LINE_MM
        if numbers:
            self._words((self._scale, foot - line_mm / 2), "whole piece", text_anchor="start")
        for i, number in enumerate(numbers):
            line, column = divmod(i, _IN_ROW)
            x = self._scale * (_WORDS_MM + (column + 0.5) * _APART_MM)
            self._number((x, foot - line_mm * (line + 0.5)), number)

    def _number(self, at: PointMm, number: int) -> None:
        radius = self._scale * _RADIUS_MM
        self.drawing.circle(*at, radius, class_="balloon", data_fault=str(number))
        self._words(at, str(number), text_anchor="middle", class_="digits")

    def _words(self, at: PointMm, text: str, **style: str) -> None:
        """Text whose capitals have their middle at a height."""
        size = self._scale * _TEXT_MM
        self.drawing.text(at[0], at[1] - 0.36 * size, text, size, **style)

    def _ruler(self, wide: float) -> None:
        """A length to compare with, at the lower right."""
        length = max(mm for mm in _RULERS_MM if mm in (_RULERS_MM[0], min(mm, wide / 3.5)))
        right, y = wide - self._scale, 1.5 * self._scale
        up = y + 0.8 * self._scale
        ends = [(right - length, up), (right - length, y), (right, y), (right, up)]
        self.drawing.line(ends, class_="ruler")
        middle = (right - length / 2, y + 2.2 * self._scale)
        self._words(middle, format_mm(length), text_anchor="middle")
