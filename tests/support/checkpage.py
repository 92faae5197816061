"""Reading the page of `fabkit check` back, and judging whether it tells and marks every fault."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import numpy as np
import shapely
from shapely import LineString, MultiPoint, Point, Polygon, box

from fabkit.core.errors import printable
from fabkit.output.checkpage import CheckSheet, PieceSheet, RuleRow, Section, SectionRow

Element = ElementTree.Element
Shape = Any  # shapely has no types
VOID = {"meta", "br", "hr", "img", "link", "input"}
#: How far off a mark may be.
NEAR_MM = 0.05

# --- what is shown ----------------------------------------------------------------------------

OUTLINE = Polygon([(0.1, 0.1), (39.9, 0.1), (39.9, 19.9), (19.9, 39.9), (0.1, 39.9)])
HOLED = Polygon(box(100, 50, 160, 70).exterior, [box(110, 55, 115, 60).exterior])


def row(name: str, where: Shape = None, ok: bool = False) -> RuleRow:
    return RuleRow(name, ok, f"the {name} is what it is", f"1.5 {name}", f"2 {name}", where)


PIECES = (
    PieceSheet(
        "first", "", "first.stl", box(0, 0, 20, 60), box(0, 0, 20, 60), (), (),
        (row("wall", Point(10, 10), ok=True), row("tip", ok=True)),
    ),
    PieceSheet(
        "second", "same shape as a and b", "second.stl", OUTLINE, box(0, 0, 40, 40),
        (Point(9, 12).buffer(5),), (box(20, 5, 24, 9), box(25, 5, 26, 9)),
        (
            row("wall", Point(9, 12).buffer(5)),
            row("floor", ok=True),
            row("bed-wall", Point(9, 12).buffer(5.5)),
            row("outline", OUTLINE.boundary),
            row("letter"),
            row("tips", MultiPoint([(39.9, 0.1), (0.1, 39.9)])),
            row("edges", LineString([(5, 5), (30, 8), (12, 20)])),
            row("faces", HOLED.buffer(0).difference(box(0, 0, 1, 1)).intersection(HOLED)),
            row("nothing", Polygon()),
        ),
    ),
    PieceSheet("third", "", "third.stl", HOLED, None, (), (), (row("wall", HOLED.boundary),)),
    PieceSheet("fourth", "", "fourth.stl", Polygon(), None, (), (), (row("outline"),)),
)  # fmt: skip
ASSEMBLIES = Section(
    "Put together",
    "The solutions.",
    ("Challenge", "Gap"),
    (
        SectionRow(("square", "0.2 mm"), ok=True),
        SectionRow(("star", "0.01 mm"), ok=False),
        SectionRow(("bar", "0.2 mm"), ok=True),
    ),
    "challenge",
)
SHEET = CheckSheet(
    "A set", "default", (row("missing", ok=True), row("twice")), PIECES, (ASSEMBLIES,)
)
SOUND = replace(SHEET, findings=(), pieces=PIECES[:1], sections=())


# --- reading the page -------------------------------------------------------------------------


class Reader(HTMLParser):
    """Reads HTML of which every tag is closed, and nothing else."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.builder = ElementTree.TreeBuilder()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names))
        self.builder.start(tag, {name: value or "" for name, value in attrs})
        if tag in VOID:
            self.builder.end(tag)
        else:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag
        self.builder.end(tag)

    def handle_data(self, data: str) -> None:
        assert self.open or not data.strip(), data
        if self.open:
            self.builder.data(data)


def read(page: str) -> Element:
    assert page.startswith("<!DOCTYPE html>\n<html")
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert not reader.open
    return reader.builder.close()


def text_of(element: Element | None) -> str:
    assert element is not None
    return " ".join("".join(element.itertext()).split())


def having(root: Element, class_: str) -> Iterator[Element]:
    return (one for one in root.iter() if class_ in one.get("class", "").split())


def numbers(text: str) -> list[float]:
    return [float(found) for found in re.findall(r"-?[0-9.]+", text)]


def drawn(element: Element) -> Shape:
    """What one element of a drawing shows, y up from its upper edge."""
    if element.tag == "circle":
        return Point(float(element.get("cx", "")), -float(element.get("cy", "")))
    runs = [
        np.reshape(numbers(run), (-1, 2)) * [1, -1] for run in element.get("d", "").split("M")[1:]
    ]
    if "Z" not in element.get("d", ""):
        return shapely.union_all([LineString(run) for run in runs])
    return Polygon(runs[0], runs[1:])


# --- judging ----------------------------------------------------------------------------------


def complaints(sheet: CheckSheet, page: str) -> list[str]:
    """What fails and is not told, or not marked at its place."""
    root = read(page)
    cards = {text_of(card.find("h3")): card for card in having(root, "piece")}
    found = [
        f"{piece.key} is not shown" for piece in sheet.pieces if printable(piece.key) not in cards
    ]
    for piece in sheet.pieces:
        if printable(piece.key) in cards:
            card = cards[printable(piece.key)]
            found += [f"{piece.key}: {fault}" for fault in _untold(piece, card)]
            found += [f"{piece.key}: {fault}" for fault in _unmarked(piece, card)]
    cells = [[text_of(cell) for cell in line] for line in root.iter("tr")]
    for section in sheet.sections:
        for line in section.rows:
            words = {True: "✓ holds", False: "✗ fails"}
            if [words[bool(line.ok)], *line.cells] not in cells:
                found.append(f"{line.cells} is missing")
    failed = any(not one.ok for one in sheet.findings) or any(
        not one.ok for piece in sheet.pieces for one in piece.rows
    )
    failed |= any(line.ok is False for section in sheet.sections for line in section.rows)
    verdict = text_of(next(having(root, "verdict")).find("h2"))
    if verdict != ("✗ Failed" if failed else "✓ Passed"):
        found.append(f"the verdict is {verdict}")
    return found


def _untold(piece: PieceSheet, card: Element) -> Iterator[str]:
    failing = [one for one in piece.rows if not one.ok]
    items = [item for told in having(card, "faults") for item in told]
    if len(items) != len(failing):
        yield f"{len(failing)} rules fail, {len(items)} are told"
    for number, (one, item) in enumerate(zip(failing, items, strict=False), start=1):
        told = text_of(item)
        if text_of(item.find("b")) != str(number):
            yield f"{one.rule} is not number {number}"
        if not all(part in told for part in (one.rule, one.sentence, one.value, one.limit)):
            yield f"{one.rule} is not told"
    table = [[text_of(cell) for cell in line] for line in card.iter("tr")]
    for one in piece.rows:
        line = ["✓ holds" if one.ok else "✗ fails", one.rule, one.sentence, one.value, one.limit]
        if line not in table:
            yield f"{one.rule} is not in the table"


def _unmarked(piece: PieceSheet, card: Element) -> Iterator[str]:
    svg = next(card.iter("svg"))
    _, _, wide, high = numbers(svg.get("viewbox", ""))
    seen = [drawn(one) for one in having(svg, "seen")]
    left, top = 0.0, 0.0
    if seen:  # the outline says where on the drawing the piece's own frame lies
        left = seen[0].bounds[0] - piece.seen.bounds[0]
        top = seen[0].bounds[3] - piece.seen.bounds[3]
        if seen[0].symmetric_difference(moved(piece.seen, left, top)).area > NEAR_MM:
            yield "the outline is wrong"
    failing = [one for one in piece.rows if not one.ok]
    for number, one in enumerate(failing, start=1):
        marks = [mark for mark in svg.iter() if mark.get("data-fault") == str(number)]
        balloons = [mark for mark in marks if mark.get("class") == "balloon"]
        if len(balloons) != 1:
            yield f"{one.rule} has {len(balloons)} numbers"
            continue
        around = drawn(balloons[0]).buffer(float(balloons[0].get("r", "")))
        if not box(0, -high, wide, 0).contains(around):
            yield f"the number of {one.rule} lies outside the drawing"
        digits = [text for text in svg.iter("text") if text_of(text) == str(number)]
        if not any(
            around.contains(Point(float(d.get("x", "")), -float(d.get("y", "")))) for d in digits
        ):
            yield f"the number of {one.rule} is not in its circle"
        if one.where is None or one.where.is_empty:
            continue
        where = moved(one.where, left, top)
        places = [drawn(mark) for mark in marks if mark.get("class", "").startswith("place")]
        shown = shapely.union_all(places)
        if shown.is_empty or shown.hausdorff_distance(where) > NEAR_MM:
            yield f"the place of {one.rule} is not marked"
        ends = [drawn(mark) for mark in marks if mark.get("class") == "dot"]
        if len(ends) != 1 or ends[0].distance(where) > NEAR_MM:
            yield f"the number of {one.rule} does not lead to its place"


def moved(shape: Shape, x: float, y: float) -> Shape:
    return shapely.transform(shape, lambda points: points + np.array([x, y]))
