"""The page of `fabkit check`: all that fails is told, marked at its place, and nothing is run."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from dataclasses import replace
from itertools import combinations, pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from shapely import Point, box

from fabkit.core.errors import printable
from fabkit.output.checkpage import CheckSheet, RuleRow, Section, SectionRow, check_page
from fabkit.output.html import TEMPLATES
from tests.conftest import ROOT
from tests.support.checkpage import (
    PIECES,
    SHEET,
    SOUND,
    Element,
    complaints,
    drawn,
    having,
    read,
    row,
    text_of,
)

# --- the tests --------------------------------------------------------------------------------


@pytest.mark.parametrize("sheet", [SHEET, SOUND], ids=["faults", "none"])
def test_all_that_fails_is_told_and_marked(sheet: CheckSheet) -> None:
    assert complaints(sheet, check_page(sheet)) == []


def test_each_drawing_is_well_formed_and_described() -> None:
    page = check_page(SHEET)
    drawings = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(drawings) == len(PIECES)
    for drawing in drawings:
        root = ElementTree.fromstring(drawing)
        assert root.get("role") == "img"
        assert [one.tag.rpartition("}")[2] for one in root[:2]] == ["title", "desc"]
        assert all((one.text or "").strip() for one in root[:2])


def test_numbers_do_not_cover_each_other_or_the_piece() -> None:
    piece = replace(PIECES[1], rows=tuple(row(f"r{i}", Point(10, 10).buffer(1)) for i in range(24)))
    root = read(check_page(replace(SHEET, pieces=(piece,))))
    balloons = [drawn(one) for one in having(root, "balloon")]
    radius = float(next(having(root, "balloon")).get("r", ""))
    outline = drawn(next(having(root, "seen")))
    assert min(a.distance(b) for a, b in combinations(balloons, 2)) > 2 * radius
    assert min(one.distance(outline) for one in balloons) > radius


@pytest.mark.parametrize(("side", "at"), [(0, (3, 30)), (1, (30, 3)), (2, (57, 30)), (3, (30, 57))])
def test_a_number_stands_on_the_side_of_its_place(side: int, at: tuple[float, float]) -> None:
    piece = replace(PIECES[1], seen=box(0, 0, 60, 60), rows=(row("wall", Point(at).buffer(1)),))
    root = read(check_page(replace(SHEET, pieces=(piece,))))
    number, outline = (drawn(next(having(root, name))) for name in ("balloon", "seen"))
    out = np.subtract(outline.bounds, (number.x, number.y) * 2) * [1, 1, -1, -1]
    assert int(np.argmax(out)) == side


def test_what_has_no_place_stands_below_the_piece() -> None:
    piece = replace(PIECES[1], rows=tuple(row(f"r{i}") for i in range(36)))
    root = read(check_page(replace(SHEET, pieces=(piece,))))
    lowest = drawn(next(having(root, "seen"))).bounds[1]
    balloons = [drawn(one) for one in having(root, "balloon")]
    radius = float(next(having(root, "balloon")).get("r", ""))
    ruler = drawn(next(having(root, "ruler")))
    assert max(one.y for one in balloons) < lowest - radius
    assert min(a.distance(b) for a, b in combinations(balloons, 2)) > 2 * radius
    assert min(one.distance(ruler) for one in balloons) > radius


def test_more_faults_than_there_is_room_for_are_all_marked() -> None:
    rows = tuple(row(f"r{i}", None if i % 3 else Point(10, 10).buffer(1)) for i in range(200))
    sheet = replace(SHEET, pieces=(replace(PIECES[1], rows=rows),))
    assert complaints(sheet, check_page(sheet)) == []


def test_what_fails_comes_first_then_the_order_of_the_set() -> None:
    root = read(check_page(SHEET))
    assert [text_of(card.find("h3")) for card in having(root, "piece")] == [
        "second", "third", "fourth", "first",
    ]  # fmt: skip
    first_cells = [text_of(line.find("th")) for line in list(root.iter("tr"))[-3:]]
    assert first_cells == ["star", "square", "bar"]


def test_further_sections_are_shown_and_judged() -> None:
    stack = Section("Rows", "Do they close?", ("Row", "Sum"), (SectionRow(("A B", "0.4 mm")),))
    page = check_page(SOUND, [stack])
    assert "✓ Passed" in page
    lines = [[text_of(cell) for cell in line] for line in read(page).iter("tr")]
    assert lines[-2:] == [["Row", "Sum"], ["A B", "0.4 mm"]]
    assert "1 line" not in page
    failing = replace(stack, rows=(SectionRow(("A B", "0.4 mm"), ok=False),), noun="row")
    assert "At fault: 1 of 1 row." in check_page(SOUND, [failing])


HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onload='alert(1)",
    "</title></style></svg></table><b>",
    "<!-- ]]> &lt; &#60; &",
    "\x00\x1b[31m\r\n\x85\u2028",
    "\u202etxt.lts\u2066",
    "\ud800",
    "שלום",
    "",
    "x" * 3000,
)


def filled(text: str) -> CheckSheet:
    """The sheet with a text in place of every text."""
    failing = RuleRow(text, False, text, text, text, Point(9, 12).buffer(5))
    piece = replace(PIECES[1], key=text, title=text or "t", source=text, rows=(failing, failing))
    section = Section(text, text, (text, text), (SectionRow((text, text), ok=False),), text)
    return CheckSheet(text, text, (failing,), (piece, piece), (section,))


def structure(root: Element) -> list[tuple[str, list[str]]]:
    return [(one.tag, sorted(set(one.keys()) - {"d", "class"})) for one in root.iter()]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_no_text_becomes_markup(text: str) -> None:
    page = check_page(filled(text))
    page.encode("utf-8")
    root = read(page)
    assert structure(root) == structure(read(check_page(filled("harmless"))))
    assert not [c for c in page if c != "\n" and not c.isprintable()]
    shown = " ".join(printable(text).split())
    assert text_of(root.find(".//h1")) == shown
    assert text_of(next(having(root, "sentence"))) == shown
    for drawing in re.findall(r"<svg.*?</svg>", page, re.DOTALL):
        ElementTree.fromstring(drawing)


def test_nothing_is_run_or_loaded() -> None:
    page = check_page(SHEET)
    root = read(page)
    assert not {one.tag for one in root.iter()} & {
        "script",
        "link",
        "img",
        "iframe",
        "object",
        "use",
    }
    links = [(name, value) for one in root.iter() for name, value in one.items() if ":" in value]
    assert {value for name, value in links if name not in ("content",)} == {
        "http://www.w3.org/2000/svg"
    }
    targets = {one.get("id") for one in root.iter()}
    assert {one.get("href", "")[1:] for one in root.iter("a")} <= targets
    assert not any(name.startswith("on") for one in root.iter() for name, _ in one.items())
    assert not re.search(r"url\(|@import|expression", page)


def test_the_page_can_be_read_aloud() -> None:
    root = read(check_page(SHEET))
    assert root.get("lang") == "en"
    assert text_of(root.find("head/title")) == "Failed: A set (profile default)"
    levels = [int(one.tag[1]) for one in root.iter() if re.fullmatch("h[1-6]", one.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(lower - upper <= 1 for upper, lower in pairwise(levels))
    ids = [one.get("id") for one in root.iter() if one.get("id")]
    assert len(ids) == len(set(ids))
    assert all(one.get("scope") for one in root.iter("th"))
    for line in root.iter("tr"):  # colour is never the only sign
        assert ("✗ fails" in text_of(line)) == (line.get("class") == "fails")


def test_the_style_is_used() -> None:
    stack = Section("Rows", "Close?", ("Row",), (SectionRow(("A",)), SectionRow(("B",), ok=True)))
    page = check_page(SHEET, [stack])
    used = {name for one in read(page).iter() for name in one.get("class", "").split()}
    style = page.partition("<style>")[2].partition("</style>")[0]
    named = set(re.findall(r"\.([a-z][a-z-]*)", re.sub(r"\{[^{}]*\}", "{}", style)))
    assert named <= used


# --- colours ----------------------------------------------------------------------------------

#: Text, and the grounds that it stands on; these want 4.5 to 1.
TEXTS = {
    "ink": ("ground", "paper", "fail-tint", "piece"),
    "quiet": ("ground", "paper"),
    "fail": ("paper", "fail-tint"),
    "pass": ("paper",),
    "on-fail": ("fail",),
    "on-pass": ("pass",),
}
#: Lines of the drawings; these want 3 to 1.
LINES = {"fail": ("paper", "piece"), "edge": ("paper", "piece"), "guide": ("paper", "piece")}


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def faint(style: str) -> list[str]:
    """What is too faint, in light and dark."""
    palettes = [dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", block))
                for block in re.findall(r":root \{([^}]*--[^}]*)\}", style)]  # fmt: skip
    assert len(palettes) == 2
    assert palettes[0].keys() == palettes[1].keys()
    found = []
    for palette in palettes:
        for pairs, least in ((TEXTS, 4.5), (LINES, 3.0)):
            for colour, grounds in pairs.items():
                for ground in grounds:
                    low, high = sorted((luminance(palette[colour]), luminance(palette[ground])))
                    if (high + 0.05) / (low + 0.05) < least:
                        found.append(f"{colour} on {ground}")
    return found


def test_colours_stand_out_in_light_and_dark() -> None:
    style = (TEMPLATES / "check.css").read_text()
    assert faint(style) == []
    assert faint(style.replace("--quiet: #5b5852", "--quiet: #8b8882")) != []
    assert faint(style.replace("--fail: #ff8f86", "--fail: #802020")) != []


def test_colours_are_named_in_one_place() -> None:
    rules = re.sub(r":root \{[^}]*\}", "", (TEMPLATES / "check.css").read_text())
    assert not re.search(r"#[0-9a-f]{3}|rgb|hsl", rules)
    assert set(re.findall(r"[{; ]color: var\(--([a-z-]+)\)", rules)) <= set(TEXTS)
    assert not re.search(r'(fill|stroke)="(?!none)', check_page(SHEET))


# --- the same page every time -----------------------------------------------------------------


def test_the_same_sheet_gives_the_same_bytes() -> None:
    page = check_page(SHEET)
    assert check_page(SHEET) == page
    code = (
        "import hashlib; from tests.verify.test_check_page import SHEET, check_page; "
        "print(hashlib.sha256(check_page(SHEET).encode()).hexdigest())"
    )
    fresh = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONHASHSEED": "7"},
    )  # fmt: skip
    assert fresh.stdout.strip() == hashlib.sha256(page.encode()).hexdigest()
