"""The page that `fabkit check` writes: what is wrong with the pieces of a set, and where.

A piece with faults is drawn with a red mark and a number at the place of each.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import indent, tostring

import shapely
from shapely import affinity, box
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


@dataclass(frozen=True, eq=False)
class RuleRow:
    """What one rule says.

    Attributes:
        rule: its id.
        ok: whether it is kept.
        sentence: what was found.
        value: what was measured, with its unit; empty when nothing was.
        limit: what is asked for; empty when there is no number for it.
        where: the place on the piece, in mm in the same frame as its outline; None for the whole.
    """

    rule: str
    ok: bool
    sentence: str
    value: str = ""
    limit: str = ""
    where: BaseGeometry | None = None

    @property
    def cells(self) -> tuple[str, ...]:
        """As a line of a table; see `SectionRow`."""
        return self.rule, self.sentence, self.value, self.limit

    @property
    def measured(self) -> str:
        """The rule and its numbers, in one line."""
        named = {"rule": self.rule, "value": self.value, "limit": self.limit}
        return " · ".join(
            f"{name} {said}" for name, said in named.items() if said or name == "rule"
        )


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
    rows: tuple[RuleRow, ...]

    @property
    def faults(self) -> list[RuleRow]:
        """The rules that it does not keep, in the order in which they are numbered."""
        return [row for row in self.rows if not row.ok]

    @property
    def size_mm(self) -> tuple[float, float] | None:
        """Width and height of its outline, if there is one."""
        if self.seen.is_empty:
            return None
        left, bottom, right, top = self.seen.bounds
        return right - left, top - bottom


@dataclass(frozen=True)
class SectionRow:
    """A line of a table: a text for each column, and whether it is as it should be.

    `ok` is None when that is not judged.
    """

    cells: tuple[str, ...]
    ok: bool | None = None


@dataclass(frozen=True)
class Section:
    """A table with a heading and a sentence on what it shows. Lines that fail are shown first.

    `noun` is what a line is, such as ``challenge``; judged lines are counted at the page's top.
    """

    title: str
    intro: str
    head: tuple[str, ...]
    rows: tuple[SectionRow, ...]
    noun: str = "line"


@dataclass(frozen=True, eq=False)
class CheckSheet:
    """All that the page shows: the set's title, the print profile's name, and what was found.

    `findings` are on the set as a whole; pieces with faults are shown before the others.
    """

    title: str
    profile: str
    findings: tuple[RuleRow, ...]
    pieces: tuple[PieceSheet, ...]
    sections: tuple[Section, ...] = ()


def check_page(sheet: CheckSheet, extra: Sequence[Section] = ()) -> str:
    """Writes the page.

    Args:
        sheet: what it shows.
        extra: more tables, below the sheet's own; they count for the verdict as these do.

    Returns:
        An HTML document that needs no other file. The same sheet gives the same page.

    Example:
        >>> from shapely import box
        >>> sharp = RuleRow("tip", False, "the tip is sharp", "0.4 mm", "1.2 mm", box(0, 0, 1, 1))
        >>> piece = PieceSheet("K", "", "K.stl", box(0, 0, 20, 40), None, (), (), (sharp,))
        >>> page = check_page(CheckSheet("Mine", "default", (), (piece,)))
        >>> "Failed" in page, "the tip is sharp" in page
        (True, True)
    """
    from markupsafe import Markup

    def drawn(piece: PieceSheet, scale: float) -> tuple[PieceSheet, Markup]:
        drawing = Picture(piece, scale).drawn().element
        indent(drawing, space="")
        return piece, Markup(tostring(drawing, encoding="unicode"))  # noqa: S704 (texts are escaped)

    sections = [*sheet.sections, *extra]
    sound = [piece for piece in sheet.pieces if not piece.faults]
    largest_mm = max(map(_extent_mm, sound), default=1.0)
    tallies = _tallies(sheet, sections)
    told = [f"{failing} of {many(count, noun)}" for noun, count, failing in tallies if failing]
    return render_html(
        "check.html",
        sheet=sheet,
        sections=sections,
        ok=not told,
        verdict="Failed" if told else "Passed",
        summary=f"At fault: {', '.join(told)}." if told else "Everything keeps the rules.",
        faulty=[drawn(one, _extent_mm(one) / FAULTY_MM) for one in sheet.pieces if one.faults],
        sound=[drawn(piece, largest_mm / SOUND_MM) for piece in sound],
        tallies=tallies,
        rules_head=("Rule", "What was found", "Value", "Limit"),
        signs={True: ("✓", "holds"), False: ("✗", "fails"), None: ("–", "unjudged")},
        many=many,
    )


def _tallies(sheet: CheckSheet, sections: Iterable[Section]) -> list[tuple[str, int, int]]:
    """What is counted, how many there are, and how many fail."""
    rows = [row for piece in sheet.pieces for row in piece.rows]
    broken = {row.rule for row in rows if not row.ok}
    tallies = [
        ("piece", len(sheet.pieces), sum(bool(piece.faults) for piece in sheet.pieces)),
        ("rule", len({row.rule for row in rows}), len(broken)),
        ("set finding", len(sheet.findings), sum(not row.ok for row in sheet.findings)),
    ]
    for section in sections:
        judged = [row.ok for row in section.rows if row.ok is not None]
        tallies.append((section.noun, len(judged), judged.count(False)))
    return [tally for tally in tallies if tally[1]]


# --- drawings -----------------------------------------------------------------------------------


def _shapes(piece: PieceSheet) -> list[BaseGeometry]:
    """All that decides how large a drawing is; something when there is nothing."""
    found = [piece.seen, piece.canonical, *(row.where for row in piece.faults)]
    return [one for one in found if one is not None and not one.is_empty] or [box(0, 0, 1, 1)]


def _extent_mm(piece: PieceSheet) -> float:
    """The longer side of the box around a piece."""
    left, bottom, right, top = shapely.total_bounds(_shapes(piece))
    return float(max(right - left, top - bottom, 1.0))


class Picture:
    """A drawing of a piece, with a number at each of its faults; one to `scale`."""

    def __init__(self, piece: PieceSheet, scale: float) -> None:
        self._piece, self._scale = piece, scale
        faults = list(enumerate(piece.faults, start=1))
        self._nowhere = [n for n, row in faults if row.where is None or row.where.is_empty]
        left, bottom, right, top = shapely.total_bounds(_shapes(piece)).tolist()
        margin = scale * (_NUMBERED_MM if faults else _BARE_MM)
        self._wide = scale * FAULTY_MM if faults else right - left
        self._wide += 2 * margin
        lines = math.ceil(len(self._nowhere) / _IN_ROW) + 1 if faults else 0
        self._foot = scale * _LINE_MM * lines
        self._by = (self._wide - right - left) / 2, self._foot + margin - bottom
        self._places = {n: self._moved(row.where) for n, row in faults if n not in self._nowhere}
        self._box = self._moved(box(left, bottom, right, top))
        self._drawing = Drawing(
            self._wide,
            self._foot + top - bottom + 2 * margin,
            f"Piece {piece.key}, seen from its lettered face",
            "; ".join(f"{n}: {row.sentence}" for n, row in faults) or "It has no faults.",
            theme=None,
            scale=1 / scale,
        )

    def drawn(self) -> Drawing:
        """Draws everything."""
        piece = self._piece
        canonical = [] if piece.canonical is None else [piece.canonical]
        for class_, shapes in (
            ("seen", [piece.seen]),
            ("recess", piece.recesses),
            ("letter", piece.letters),
            ("canonical", canonical),
        ):
            for shape in shapes:
                self._trace(self._moved(shape), class_)
        for number, place in self._places.items():
            self._trace(place, "place", data_fault=str(number))
        if piece.faults:
            self._callouts()
            self._whole_piece()
            self._ruler()
        return self._drawing

    def _moved(self, shape: BaseGeometry) -> BaseGeometry:
        return affinity.translate(shape, *self._by)

    def _trace(self, shape: BaseGeometry, class_: str, **data: str) -> None:
        """Draws areas as areas, lines as lines and points as dots."""
        for part in shapely.get_parts(shapely.get_parts(shape)):
            if part.geom_type == "Polygon" and not part.is_empty:
                self._drawing.polygon(rings_mm(part), class_=class_, **data)
            elif part.geom_type == "Point":
                self._drawing.circle(part.x, part.y, self._scale * _DOT_MM, class_=class_, **data)
            elif not part.is_empty:
                self._drawing.line(part.coords, class_=f"{class_}-line", **data)

    def _callouts(self) -> None:
        """Numbers outside the piece, each with a line to its place, as near to it as is free."""
        ring = self._box.buffer(self._scale * _OUTSIDE_MM).exterior
        count = max(int(ring.length / (self._scale * _APART_MM)), len(self._places))
        free = [ring.interpolate(i / count, normalized=True) for i in range(count)]
        spots = {}
        for number, place in self._places.items():
            # Rounded, so that of two spots as near the choice is the same on every machine.
            spots[number] = min(free, key=lambda spot: round(float(spot.distance(place)), 3))
            free.remove(spots[number])
            end, spot = nearest_points(place, spots[number])
            self._drawing.line([(spot.x, spot.y), (end.x, end.y)], class_="leader")
            dot_mm = self._scale * _DOT_MM
            self._drawing.circle(end.x, end.y, dot_mm, class_="dot", data_fault=str(number))
        for number, spot in spots.items():
            self._number((spot.x, spot.y), number)

    def _whole_piece(self) -> None:
        """Below the piece the numbers of what has no one place."""
        if self._nowhere:
            y = self._foot - self._scale * _LINE_MM / 2
            self._words((self._scale, y), "whole piece", text_anchor="start")
        for i, number in enumerate(self._nowhere):
            line, column = divmod(i, _IN_ROW)
            x = self._scale * (_WORDS_MM + (column + 0.5) * _APART_MM)
            self._number((x, self._foot - self._scale * _LINE_MM * (line + 0.5)), number)

    def _number(self, at: PointMm, number: int) -> None:
        radius = self._scale * _RADIUS_MM
        self._drawing.circle(*at, radius, class_="balloon", data_fault=str(number))
        self._words(at, str(number), text_anchor="middle", class_="digits")

    def _words(self, at: PointMm, text: str, **style: str) -> None:
        """Text whose capitals have their middle at a height."""
        size = self._scale * _TEXT_MM
        self._drawing.text(at[0], at[1] - 0.36 * size, text, size, **style)

    def _ruler(self) -> None:
        """A length to compare with, at the lower right."""
        length = max(mm for mm in _RULERS_MM if mm in (_RULERS_MM[0], min(mm, self._wide / 3.5)))
        right, y = self._wide - self._scale, 1.5 * self._scale
        up = y + 0.8 * self._scale
        ends = [(right - length, up), (right - length, y), (right, y), (right, up)]
        self._drawing.line(ends, class_="ruler")
        middle = (right - length / 2, y + 2.2 * self._scale)
        self._words(middle, format_mm(length), text_anchor="middle")
