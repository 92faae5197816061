"""What an inspection found, as plain shapes and texts: what the page of `fabkit check` shows."""

from __future__ import annotations

from dataclasses import dataclass

from shapely.geometry.base import BaseGeometry


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


@dataclass(frozen=True)
class SectionRow:
    """A line of a table.

    Attributes:
        cells: one text for each column.
        ok: whether it is as it should be; None when that is not judged.
    """

    cells: tuple[str, ...]
    ok: bool | None = None


@dataclass(frozen=True)
class Section:
    """A table with a heading.

    Attributes:
        title: the heading.
        intro: a sentence on what the table shows.
        head: the names of the columns.
        rows: the lines; those that fail are shown first.
        noun: what a line is, such as ``challenge``; judged lines are counted at the page's top.
    """

    title: str
    intro: str
    head: tuple[str, ...]
    rows: tuple[SectionRow, ...]
    noun: str = "line"


@dataclass(frozen=True, eq=False)
class CheckSheet:
    """All that the page shows.

    Attributes:
        title: of the set.
        profile: the name of the print profile.
        findings: on the set as a whole.
        pieces: in the set's order; those with faults are shown first.
        sections: tables, in their order.
    """

    title: str
    profile: str
    findings: tuple[RuleRow, ...]
    pieces: tuple[PieceSheet, ...]
    sections: tuple[Section, ...] = ()
