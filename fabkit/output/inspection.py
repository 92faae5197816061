"""The page that `fabkit check` writes: what is wrong with the pieces of a set, and where."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from xml.etree.ElementTree import Element, indent, tostring

from fabkit.core.errors import many, printable
from fabkit.output.faultview import FAULTY_MM, SOUND_MM, Picture, extent_mm
from fabkit.output.inspected import CheckSheet, PieceSheet, RuleRow, Section, SectionRow
from fabkit.output.svg import child

_SIGNS = {True: ("✓", "holds"), False: ("✗", "fails"), None: ("–", "unjudged")}
#: Texts in tables up to this length are not broken.
_SHORT = 20
_RULES_HEAD = ("Rule", "What was found", "Value", "Limit")

#: Nothing is loaded or run, whatever a name may hold.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


@cache
def style() -> str:
    """The page's style sheet."""
    return Path(__file__).with_suffix(".css").read_text(encoding="utf-8")


def check_page(sheet: CheckSheet, extra: Sequence[Section] = ()) -> str:
    """Writes the page.

    Args:
        sheet: what it shows.
        extra: more tables, below the sheet's own; they count for the verdict as these do.

    Returns:
        An HTML document that needs no other file. All text is escaped. The same sheet gives the
        same page.

    Example:
        >>> from shapely import box
        >>> sharp = RuleRow("tip", False, "the tip is sharp", "0.4 mm", "1.2 mm", box(0, 0, 1, 1))
        >>> piece = PieceSheet("K", "", "K.stl", box(0, 0, 20, 40), None, (), (), (sharp,))
        >>> page = check_page(CheckSheet("Mine", "default", (), (piece,)))
        >>> "Failed" in page, "the tip is sharp" in page
        (True, True)
    """
    sections = [*sheet.sections, *extra]
    faulty = [piece for piece in sheet.pieces if piece.faults]
    sound = [piece for piece in sheet.pieces if not piece.faults]
    tallies = _tallies(sheet, sections)
    ok = not any(failing for *_, failing in tallies)
    page = Element("html", lang="en")
    _head(page, f"{'Passed' if ok else 'Failed'}: {sheet.title} (profile {sheet.profile})")
    main = child(child(page, "body"), "main")
    header = child(main, "header")
    _say(header, "p", "fabkit check", class_="quiet")
    _say(header, "h1", sheet.title)
    _say(header, "p", f"Held against the print profile {sheet.profile}")
    _verdict(main, ok, faulty, tallies)
    if sheet.findings:
        _say(main, "h2", "The set as a whole")
        _rules(main, sheet.findings)
    if faulty:
        _say(main, "h2", "Pieces with faults", class_="overleaf")
        _legend(main)
        for number, piece in enumerate(faulty, start=1):
            _faulty_piece(main, piece, number)
    if sound:
        _say(main, "h2", "Pieces without faults")
        grid = child(main, "div", class_="sound")
        largest_mm = max(extent_mm(piece) for piece in sound)
        for piece in sound:
            _sound_piece(grid, piece, largest_mm / SOUND_MM)
    for section in sections:
        _section(main, section)
    indent(page, space="")
    return f"<!DOCTYPE html>\n{tostring(page, encoding='unicode', method='html')}\n"


# --- the page ---------------------------------------------------------------------------------

#: What is counted, how many there are, and how many fail.
_Tally = tuple[str, int, int]


def _tallies(sheet: CheckSheet, sections: Iterable[Section]) -> list[_Tally]:
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


def _head(page: Element, title: str) -> None:
    head = child(page, "head")
    child(head, "meta", charset="utf-8")
    child(head, "meta", name="viewport", content="width=device-width, initial-scale=1")
    child(head, "meta", http_equiv="Content-Security-Policy", content=_POLICY)
    _say(head, "title", title)
    child(head, "style").text = style()


def _verdict(
    main: Element, ok: bool, faulty: Sequence[PieceSheet], tallies: Sequence[_Tally]
) -> None:
    sign, word = _SIGNS[ok]
    verdict = child(main, "section", class_=f"verdict {word}")
    _say(verdict, "h2", f"{sign} {'Passed' if ok else 'Failed'}")
    told = [f"{failing} of {many(count, noun)}" for noun, count, failing in tallies if failing]
    _say(verdict, "p", f"At fault: {', '.join(told)}." if told else "Everything keeps the rules.")
    if faulty:
        links = child(verdict, "ul")
        for number, piece in enumerate(faulty, start=1):
            text = f"{piece.key}: {many(len(piece.faults), 'fault')}"
            _say(child(links, "li"), "a", text, href=f"#piece-{number}")
    tally = child(main, "ul", class_="tally")
    for noun, count, failing in tallies:
        item = child(tally, "li")
        _say(item, "strong", many(count, noun))
        sign, word = _SIGNS[not failing]
        _say(item, "span", f"{sign} {failing or 'none'} at fault", class_=f"{word}-text")


def _legend(main: Element) -> None:
    legend = child(main, "ul", class_="legend quiet")
    for name, text in (
        ("seen", "the piece, seen from its lettered face"),
        ("canonical", "its outline as drawn, without clearance"),
        ("recess", "recess for a magnet"),
        ("place", "where a rule fails"),
    ):
        item = child(legend, "li")
        swatch = child(item, "span", class_=f"is-{name}", aria_hidden="true")
        swatch.tail = text


def _faulty_piece(main: Element, piece: PieceSheet, number: int) -> None:
    card = child(main, "article", class_="piece fails", id=f"piece-{number}")
    _name(card, piece)
    view = child(card, "div", class_="view")
    view.append(Picture(piece, extent_mm(piece) / FAULTY_MM).drawn())
    faults = child(view, "ol", class_="faults")
    for place, row in enumerate(piece.faults, start=1):
        item = child(faults, "li")
        _say(item, "b", str(place))
        words = child(item, "div")
        _say(words, "p", row.sentence, class_="sentence")
        measured = [f"value {row.value}"] if row.value else []
        measured += [f"limit {row.limit}"] if row.limit else []
        _say(words, "p", " · ".join([f"rule {row.rule}", *measured]), class_="quiet")
    _all_rules(card, piece)


def _sound_piece(grid: Element, piece: PieceSheet, scale: float) -> None:
    card = child(grid, "article", class_="piece")
    _name(card, piece)
    card.append(Picture(piece, scale).drawn())
    _all_rules(card, piece)


def _name(card: Element, piece: PieceSheet) -> None:
    _say(card, "h3", piece.key)
    if piece.title:
        _say(card, "p", piece.title, class_="quiet")
    # A name written from right to left turns no other words around.
    _say(child(card, "p", class_="quiet"), "bdi", piece.source)
    if not piece.seen.is_empty:
        left, bottom, right, top = piece.seen.bounds
        _say(card, "p", f"{right - left:.1f} x {top - bottom:.1f} mm", class_="quiet")


def _all_rules(card: Element, piece: PieceSheet) -> None:
    details = child(card, "details")
    _say(details, "summary", f"All {many(len(piece.rows), 'finding')}")
    _rules(details, piece.rows)


def _rules(parent: Element, rows: Sequence[RuleRow]) -> None:
    cells = [SectionRow((row.rule, row.sentence, row.value, row.limit), row.ok) for row in rows]
    _table(parent, _RULES_HEAD, cells)


def _section(main: Element, section: Section) -> None:
    _say(main, "h2", section.title)
    _say(main, "p", section.intro)
    if section.rows:
        _table(main, section.head, section.rows)
    else:
        _say(main, "p", "There is nothing to show.", class_="quiet")


def _table(parent: Element, head: Sequence[str], rows: Sequence[SectionRow]) -> None:
    """A table with the rows that fail first, and what is to be thought of each in words."""
    judged = any(row.ok is not None for row in rows)
    table = child(child(parent, "div", class_="table"), "table")
    line = child(child(table, "thead"), "tr")
    for name in ("Result", *head) if judged else head:
        _say(line, "th", name, scope="col")
    body = child(table, "tbody")
    for row in sorted(rows, key=lambda row: row.ok is not False):
        sign, word = _SIGNS[row.ok]
        line = child(body, "tr", class_=word)
        if judged:
            _say(line, "td", f"{sign} {word}", class_=f"short {word}-text")
        for place, cell in enumerate(row.cells):
            kept = {"class_": "short"} if len(cell) <= _SHORT else {}
            _say(line, "td", cell, **kept) if place else _say(line, "th", cell, scope="row", **kept)


def _say(parent: Element, tag: str, text: str, **attributes: str) -> Element:
    element = child(parent, tag, **attributes)
    element.text = printable(text)
    return element
