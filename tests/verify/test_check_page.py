"""The page of `fabkit check`: every failure is listed and marked at its place, and nothing is run."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, pairwise, product
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import shapely
from shapely import LineString, MultiPoint, Point, Polygon, affinity, box

from fabkit.core.errors import escape
from fabkit.drawing.draft import draft_flat_piece
from fabkit.mesh.files.readers import read_meshes
from fabkit.output.report import TEMPLATES, CheckSheet, PieceSheet, Row, Section, check_page
from fabkit.profiles.profile_file import load_profile
from fabkit.sets.library import load_set
from fabkit.verify.check_sheet import check_sheet
from fabkit.verify.reports import check
from fabkit.verify.scan import Scanner
from tests.support.colours import contrast_ratio, linear
from tests.support.trioset import trio_folder

Element = ElementTree.Element
Shape = Any  # shapely has no types
#: How far off a mark may be.
NEAR_MM = 0.05
SIGNS = {True: "✓ passed", False: "✗ failed"}

# --- what is shown ----------------------------------------------------------------------------

OUTLINE = Polygon([(0.1, 0.1), (39.9, 0.1), (39.9, 19.9), (19.9, 39.9), (0.1, 39.9)])
HOLED = Polygon(box(100, 50, 160, 70).exterior, [box(110, 55, 115, 60).exterior])
SPOT = Point(9, 12).buffer(5)


def row(name: str, where: Shape = None, ok: bool = False) -> Row:
    return Row((name, f"the {name} is what it is", f"1.5 {name}", f"2 {name}"), ok, where)


PIECES = (
    PieceSheet(
        "first", "", "first.stl", box(0, 0, 20, 60), box(0, 0, 20, 60), (), (),
        (row("wall", Point(10, 10), ok=True), row("tip", ok=True)),
    ),
    PieceSheet(
        "second", "same shape as a and b", "second.stl", OUTLINE, box(0, 0, 40, 40),
        (SPOT,), (box(20, 5, 24, 9), box(25, 5, 26, 9)),
        (
            row("wall", SPOT), row("floor", ok=True), row("bed-wall", SPOT.buffer(0.5)),
            row("outline", OUTLINE.boundary), row("letter"),
            row("tips", MultiPoint([(39.9, 0.1), (0.1, 39.9)])),
            row("edges", LineString([(5, 5), (30, 8), (12, 20)])),
            row("faces", HOLED.difference(box(0, 0, 112, 56))), row("nothing", Polygon()),
        ),
    ),
    PieceSheet("third", "", "third.stl", HOLED, None, (), (), (row("wall", HOLED.boundary),)),
    PieceSheet("fourth", "", "fourth.stl", Polygon(), None, (), (), (row("outline"),)),
)  # fmt: skip
GAPS = tuple(Row((one, "0.2 mm"), ok=one != "star") for one in ("square", "star", "bar"))
ASSEMBLIES = Section("Put together", "The solutions.", ("Challenge", "Gap"), GAPS, "challenge")
ROWS = Section("Rows", "Do they close?", ("Row", "Sum"), (Row(("A B", "0.4 mm")),), "row")
FINDINGS = (row("missing", ok=True), row("duplicate"))
SHEET = CheckSheet("A set", "default", FINDINGS, PIECES, (ASSEMBLIES,))
SOUND = replace(SHEET, findings=(), pieces=PIECES[:1], sections=(ROWS,))


def with_rows(*rows: Row) -> CheckSheet:
    return replace(SHEET, pieces=(replace(PIECES[1], seen=box(0, 0, 60, 60), rows=rows),))


# --- read back --------------------------------------------------------------------------------


def read(page: str) -> Element:
    """The page, which is so well-formed that it is XML but for its head."""
    assert page.startswith("<!DOCTYPE html>\n<html")
    return ElementTree.fromstring(re.sub(r'<meta [^>]*>| xmlns="[^"]*"', "", page))


def text_of(element: Element | None) -> str:
    assert element is not None
    return " ".join("".join(element.itertext()).split())


def having(root: Element, class_: str) -> list[Element]:
    return [one for one in root.iter() if class_ in one.get("class", "").split()]


def point(element: Element, x: str, y: str) -> Point:
    return Point(float(element.get(x, "")), -float(element.get(y, "")))


def drawn(element: Element) -> Shape:
    """What one element of a drawing shows, y up from its upper edge."""
    if element.tag == "circle":
        return point(element, "cx", "cy")
    path = element.get("d", "")
    runs = [
        np.reshape([float(one) for one in re.findall(r"-?[0-9.]+", run)], (-1, 2)) * [1, -1]
        for run in path.split("M")[1:]
    ]
    return Polygon(runs[0], runs[1:]) if "Z" in path else shapely.MultiLineString(runs)


def moved(shape: Shape, x: float, y: float) -> Shape:
    return affinity.translate(shape, x, y)


def lines_of(element: Element) -> list[list[str]]:
    """The rows of tables."""
    return [[text_of(cell) for cell in line] for line in element.iter("tr")]


def complaints(sheet: CheckSheet, page: str) -> list[str]:
    """What fails and is not listed, or not marked at its place."""
    root = read(page)
    cards = {text_of(card.find("h3")): card for card in having(root, "piece")}
    found = [] if cards.keys() == {one.key for one in sheet.pieces} else ["pieces are missing"]
    for piece in sheet.pieces:
        found += [f"{piece.key}: {fault}" for fault in faults_of(piece, cards[piece.key])]
    rows = [*sheet.findings, *(one for section in sheet.sections for one in section.rows)]
    lines = lines_of(root)
    for one in rows:
        if [*([SIGNS[one.ok]] if one.ok is not None else []), *one.cells] not in lines:
            found.append(f"{one.cells} is missing")
    rows += [one for piece in sheet.pieces for one in piece.rows]
    verdict = "✗ Failed" if any(one.ok is False for one in rows) else "✓ Passed"
    if text_of(having(root, "verdict")[0].find("h2")) != verdict:
        found.append("the verdict is wrong")
    return found


def faults_of(piece: PieceSheet, card: Element) -> Iterator[str]:
    """What is wrong with the card of a piece."""
    lines = lines_of(card)
    if any([SIGNS[bool(one.ok)], *one.cells] not in lines for one in piece.rows):
        yield "a finding is not in the table"
    (svg,) = card.iter("svg")
    wide, high = map(float, svg.get("viewBox", "").split()[2:])
    failing = [one for one in piece.rows if not one.ok]
    if failing and abs(float(svg.get("width", "")[:-2]) - 92) > 0.01:
        yield "the drawing is not as large as a piece with faults and its numbers are"
    left, top = 0.0, 0.0
    if seen := [drawn(one) for one in having(svg, "seen")]:
        # The outline says where on the drawing the piece's own frame lies.
        left, top = np.subtract(seen[0].bounds, piece.seen.bounds)[[0, 3]]
        if seen[0].symmetric_difference(moved(piece.seen, left, top)).area > NEAR_MM:
            yield "the outline is wrong"
    radius = max((float(one.get("r", "")) for one in having(svg, "balloon")), default=0)
    items = [item for group in having(card, "faults") for item in group]
    if len(items) != len(failing):
        yield f"{len(failing)} rules fail, {len(items)} are listed"
    for number, (one, item) in enumerate(zip(failing, items, strict=False), start=1):
        if text_of(item.find("b")) != str(number) or not all(s in text_of(item) for s in one.cells):
            yield f"{one.cells} is not listed as number {number}"
        marks: dict[str, list[Shape]] = defaultdict(list)
        for mark in svg.iter():
            if mark.get("data-fault") == str(number):
                marks[mark.get("class", "").removesuffix("-line")].append(drawn(mark))
        digits = [point(one, "x", "y") for one in svg.iter("text") if text_of(one) == str(number)]
        around = marks["balloon"][0].buffer(radius)
        if len(marks["balloon"]) != 1 or not any(map(around.contains, digits)):
            yield f"{number} does not stand in its circle"
        if not box(0, -high, wide, 0).contains(around):
            yield f"{number} lies outside the drawing"
        if one.where is None or one.where.is_empty:
            continue
        where, shown = moved(one.where, left, top), shapely.union_all(marks["place"])
        if shown.is_empty or shown.hausdorff_distance(where) > NEAR_MM:
            yield f"the place of {number} is not marked"
        (end,) = marks["dot"]
        if end.distance(where) > NEAR_MM:
            yield f"{number} does not lead to its place"


# --- the tests --------------------------------------------------------------------------------


def test_all_failures_are_reported_and_marked() -> None:
    crowd = (row(f"r{i}", None if i % 3 else Point(10, 10).buffer(1)) for i in range(200))
    for sheet in (SHEET, SOUND, with_rows(*crowd)):
        assert complaints(sheet, check_page(sheet)) == []
    page = check_page(SHEET)
    assert check_page(SHEET) == page
    assert complaints(SHEET, re.sub("(<li><b>)1(</b>)", r"\g<1>2\2", page)) != []
    root = read(page)
    # What fails comes first, then the order of the set.
    names = [text_of(card.find("h3")) for card in having(root, "piece")]
    names += [text_of(line.find("th")) for line in list(root.iter("tr"))[-3:]]
    assert names == ["second", "third", "fourth", "first", "star", "square", "bar"]
    assert "Failures: 3 of 4 pieces, 8 of 10 rules, 1 of 2 set findings, 1 of 3 challenges." in page
    assert "1 row" not in check_page(SOUND)  # what is not judged is not counted


def test_numbers_do_not_cover_each_other_or_the_piece() -> None:
    placed = [row(f"r{i}", Point(10, 10).buffer(1)) for i in range(24)]
    root = read(check_page(with_rows(*placed, *(row(f"s{i}") for i in range(36)))))
    balloons = [drawn(one) for one in having(root, "balloon")]
    assert len(balloons) == 60
    radius = float(having(root, "balloon")[0].get("r", ""))
    outline, ruler = (drawn(one) for name in ("seen", "ruler") for one in having(root, name))
    assert min(a.distance(b) for a, b in combinations(balloons, 2)) > 2 * radius
    assert min(one.distance(shape) for one in balloons for shape in (outline, ruler)) > radius
    # What has no place stands below the piece.
    assert sum(one.y < outline.bounds[1] - radius for one in balloons) >= 36
    for side, at in enumerate([(3, 30), (30, 3), (57, 30), (30, 57)]):
        root = read(check_page(with_rows(row("wall", Point(at).buffer(1)))))
        number, outline = (drawn(having(root, name)[0]) for name in ("balloon", "seen"))
        out = np.subtract(outline.bounds, (number.x, number.y) * 2) * [1, 1, -1, -1]
        assert int(np.argmax(out)) == side


HOSTILE = (
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>',
    "</title></style></svg></table><b>", "<!-- ]]> &lt; &#60; &",
    "\x00\x1b[31m\r\n\x85\u2028", "\u202etxt.lts\u2066", "\ud800", "",
)  # fmt: skip


def filled(text: str) -> CheckSheet:
    """The sheet with a text in place of every text."""
    failing = Row((text,) * 4, False, SPOT)
    piece = replace(PIECES[1], key=text, title=text or "t", source=text, rows=(failing, failing))
    section = Section(text, text, (text, text), (Row((text, text), ok=False),), text)
    return CheckSheet(text, text, (failing,), (piece, piece), (section,))


def structure(root: Element) -> list[tuple[str, list[str]]]:
    return [(one.tag, sorted(set(one.keys()) - {"d", "class"})) for one in root.iter()]


def test_no_text_becomes_markup() -> None:
    harmless = structure(read(check_page(filled("harmless"))))
    for text in HOSTILE:
        page = check_page(filled(text))
        page.encode("utf-8")
        root = read(page)
        assert structure(root) == harmless, text
        assert not [c for c in page if c != "\n" and not c.isprintable()]
        shown = " ".join(escape(text).split())
        for place in (root.find(".//h1"), having(root, "sentence")[0]):
            assert text_of(place) == shown


def test_nothing_is_run_or_loaded_and_all_can_be_read_aloud() -> None:
    page = check_page(SHEET)
    root = read(page)
    assert "content=\"default-src 'none'; style-src 'unsafe-inline'\"" in page
    assert set(re.findall(r"\w+://[^\"]*|url\(|@import", page)) == {"http://www.w3.org/2000/svg"}
    tags = {one.tag for one in root.iter()}
    assert not tags & {"script", "link", "img", "iframe", "object", "use"}
    assert not any(name.startswith("on") for one in root.iter() for name in one.attrib)
    ids = [one.get("id") for one in root.iter() if one.get("id")]
    assert len(ids) == len(set(ids))
    assert {one.get("href", "")[1:] for one in root.iter("a")} <= set(ids)
    assert root.get("lang") == "en"
    assert text_of(root.find("head/title")) == "Failed: A set (profile default)"
    levels = [int(one.tag[1]) for one in root.iter() if re.fullmatch("h[1-6]", one.tag)]
    assert (levels[0], levels.count(1)) == (1, 1)
    assert all(lower - upper <= 1 for upper, lower in pairwise(levels))
    assert all(one.get("scope") for one in root.iter("th"))
    for line in root.iter("tr"):  # colour is never the only sign
        assert ("✗ fails" in text_of(line)) == (line.get("class") == "fails")
    for svg in root.iter("svg"):
        assert [one.tag for one in svg[:2]] == ["title", "desc"]
        assert svg.get("role") == "img"
        assert all(text_of(one) for one in svg[:2])


def test_colours_stand_out_in_light_and_dark() -> None:
    blocks = re.findall(r":root \{([^}]*--[^}]*)\}", (TEMPLATES / "check.css").read_text())
    light, dark = (dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", block)) for block in blocks)
    assert light.keys() == dark.keys()
    # Text, and lines of the drawings, on the grounds that they stand on.
    text = "ink/ground ink/paper ink/fail-tint ink/piece quiet/ground quiet/paper fail/paper"
    text += " fail/fail-tint pass/paper on-fail/fail on-pass/pass"
    lines = "fail/piece edge/paper edge/piece guide/paper guide/piece"
    for colours, (least, pairs) in product((light, dark), ((4.5, text), (3.0, lines))):
        for pair in pairs.split():
            one, ground = (linear(colours[name]) for name in pair.split("/"))
            assert contrast_ratio(one, ground) >= least, pair


# --- real meshes ------------------------------------------------------------------------------


@pytest.mark.parametrize("quarter_turns", [1, pytest.param(2, marks=pytest.mark.integration)])
def test_a_report_is_complete(quarter_turns: int) -> None:
    """A thin wall is marked where it is. However a piece is turned in its file, it is shown with
    its letter upright."""
    folder = trio_folder()
    puzzle = replace(load_set(str(folder / "trio.toml")), title="Mine & <yours>")
    bodies = [body for one in "JLQ" for body in read_meshes(folder / f"output/trio/stl/{one}.stl")]
    turn = np.linalg.matrix_power([[0, 1, 0], [-1, 0, 0], [0, 0, 1]], quarter_turns)
    bodies = [replace(one, name=f"<i>{one.name}", vertices=one.vertices @ turn) for one in bodies]
    strict = load_profile((), ("recess.wall=6 mm",), puzzle.profile_values)
    report = check(Scanner(bodies, puzzle).scan(strict.unit_mm), strict)
    sheet = check_sheet(report)
    page = check_page(sheet)
    assert complaints(sheet, page) == []
    document, root = report.document(), read(page)
    found = [one for piece in document["pieces"].values() for one in piece["findings"]]
    shown = [row for piece in sheet.pieces for row in piece.rows]
    assert [(f["rule"], f["message"], f["ok"]) for f in [*document["findings"], *found]] == [
        (*row.cells[:2], row.ok) for row in [*sheet.findings, *shown]
    ]
    for assembly, line in zip(document["assemblies"], sheet.sections[0].rows, strict=True):
        assert (line.ok, line.cells[0]) == (assembly["ok"], assembly["challenge"])
    assert text_of(root.find(".//h1")) == "Mine & <yours>"
    assert "&lt;i&gt;" in page
    drawing = draft_flat_piece(
        puzzle, puzzle.piece("L"), load_profile((), (), puzzle.profile_values)
    )
    (card,) = (one for one in having(root, "piece") if text_of(one.find("h3")) == "L")
    left, bottom = np.subtract(drawn(having(card, "seen")[0]).bounds, drawing.outline.bounds)[:2]
    letter = shapely.union_all([drawn(one) for one in having(card, "letter")])
    right_way_up = moved(drawing.label.front.polygon(), left, bottom)
    assert letter.symmetric_difference(right_way_up).area < 0.1 * letter.area
    circles = [Point(at).buffer(mm / 2) for one in drawing.recesses for at, mm in one.circles]
    (mark, *_) = [drawn(one) for one in having(card, "place")]
    assert min(mark.hausdorff_distance(moved(one, left, bottom)) for one in circles) < NEAR_MM
    kept = (replace(p, findings=tuple(f for f in p.findings if f.ok)) for p in report.all_parts)
    sound = replace(report, findings=(), all_parts=tuple(kept))
    assert "✓ Passed" in check_page(check_sheet(sound))
