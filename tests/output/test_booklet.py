"""Booklets read back: what stands on their pages, how large it is, and in which words."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import shapely

from fabkit.core.errors import InputError
from fabkit.model.entry import Entry
from fabkit.model.library import load_set
from fabkit.model.profile import Profile
from fabkit.model.profilefile import load_profile
from fabkit.model.puzzle import Given, PuzzleSet
from fabkit.output.booklet.book import booklet
from fabkit.output.booklet.items import items_of
from fabkit.output.booklet.namedpieces import form_said
from fabkit.output.i18n import LANGUAGES, load_words
from fabkit.output.typeset import few_lines, lines_of, text_width_mm
from tests.conftest import ROOT
from tests.support.booklets import Read, longest_line_mm, silhouette, some
from tests.support.pictures import file_of

UNIT_MM = 20.0
#: Sharp tips, holes, parts of their own, and pieces on two lattices.
FEW = ("square_02", "rectangle_01", "triangle_01", "even4-02febfb20e", "mixed1-3-2910d98921")
#: 11 cells wide: on A4 it needs a larger page.
WIDE = "odd5-1690ad596e"
#: Within the 100 characters that a title may have.
LONG = "Ein langer Titel für eine einfache Aufgabe, der ganz bestimmt nicht in eine Zeile passt"
OF_40 = "a-board-with-a-very-very-long-name-of-40"
#: What belongs to the word before it, or after it, in one of the languages.
LOOSE = re.compile(r"^([:;!?%»×]|mm\b)|«$")
HOSTILE = (
    "<script>alert('1')</script>",
    'say "hello" \u202eesrever\u202c & <b>bold</b>',
    ") Tj ET\n/JS (x)",
    "שלום 中文 🧩",
    "long " * 900,
    "\x00\x1b]0;x\x07 \u2066",
)


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    return some("fridgeiq", *FEW)


@pytest.fixture(scope="module")
def read(entries: list[Entry], tmp_path_factory: pytest.TempPathFactory) -> Read:
    return read_of(tmp_path_factory.mktemp("booklet"), load_set("fridgeiq"), entries)


@pytest.fixture(scope="module")
def board() -> Entry:
    return some("iqfit", "board")[0]


def read_of(folder: Path, puzzle: PuzzleSet, entries: Sequence[Entry], *more: Any) -> Read:
    """A booklet, whose words are all on their pages."""
    read = Read.of(booklet(puzzle, entries, load_profile(), *more).pdf, folder)
    assert read.faults_of_words() == []
    return read


def said(text: str) -> str:
    """A text without its line ends."""
    return " ".join(text.split())


def colours_on(pixels: Any, puzzle: PuzzleSet) -> set[str]:
    """The pieces whose colours are on a page."""
    wanted = {one.id: [int(one.colour[i : i + 2], 16) for i in (1, 3, 5)] for one in puzzle.pieces}
    return {one for one, rgb in wanted.items() if (pixels == rgb).all(axis=2).sum() > 100}


# --- challenges and solutions -------------------------------------------------------------------


def test_links_index_and_outline_lead_everywhere(read: Read) -> None:
    for name in FEW:
        (page,) = [n for n, text in enumerate(read.texts, 1) if name in text.split()]
        there = {to for says, to in read.links(page) if says.startswith("Solution")}
        back = {to for one in there for says, to in read.links(one) if says.startswith("Chall")}
        assert there, name
        assert page in back, name
    last = len(read.texts)
    assert len(read.links(last)) == 2 * len(FEW)
    for title, target in read.links(last):
        assert title in read.texts[target - 1]
    outline: Any = read.reader.outline
    assert [one.title for one in outline if not isinstance(one, list)] == [
        "FridgeIQ", "How to use this booklet", "The pieces", "Challenges", "Solutions", "Index",
    ]  # fmt: skip
    levels = next(one for one in outline if isinstance(one, list))
    assert [one.title for one in levels if not isinstance(one, list)] == [
        "Starter", "Junior", "Expert", "Wizard",
    ]  # fmt: skip
    challenges = [one for level in levels if isinstance(level, list) for one in level]
    assert len(challenges) == len(FEW)
    for one in challenges:
        page_of = read.reader.get_destination_page_number(one)
        assert one.title.split(" · ")[1] in read.texts[page_of or 0]


def test_challenges_come_in_order_of_difficulty_with_titles_for_people(read: Read) -> None:
    lines = "\n".join(read.texts[:-2]).splitlines()
    titles = ("Triangle 1", "Rectangle 1", "Square 2", "Snowflake 1 (mixed, 7 × 7)")
    assert [lines.index(title) for title in titles] == sorted(map(lines.index, titles))
    assert "Snowflake 2 (even, 8 × 8)" in lines
    assert [lines[lines.index(title) - 1] for title in titles] == ["1", "2", "3", "4"]
    fridgeiq = load_set("fridgeiq")
    pixels = read.pixels(read.page_with("Solutions", "Snowflake 1"), 100)
    assert colours_on(pixels, fridgeiq) == {piece.id for piece in fridgeiq.pieces}
    assert read.fonts()
    assert all(embedded and "OpenSans" in name for name, embedded in read.fonts())


@pytest.mark.integration
def test_what_is_given_is_drawn_and_what_is_not_known_is_not_claimed(
    entries: list[Entry], board: Entry, tmp_path: Path
) -> None:
    solution = board.solution or {}
    given = tuple(Given(one, solution[one]) for one in ("red", "navy"))
    read = read_of(tmp_path, load_set("iqfit"), [replace(board, given=given)])
    page = read.page_with("All 10 pieces · 2 of them lie there already")
    assert colours_on(read.pixels(page, 100), load_set("iqfit")) == {"red", "navy"}
    assert "given" in read.texts[1]
    plain = replace(entries[0], level="", score=None, count=None, flips=True)
    least = replace(entries[1], count=1, count_complete=False, level="odd", score=1.0)
    read = read_of(tmp_path, load_set("fridgeiq"), [plain, least])
    pages = [read.page_with("Challenges · Not rated", one.id) for one in (least, plain)]
    assert pages == sorted(pages)
    assert "1 solution or more" in read.texts[pages[0] - 1]
    assert "may be turned over" in read.texts[pages[1] - 1]
    words, guide = load_words("booklet", "en"), said(read.texts[1])
    assert words["how_solutions_text"] in guide
    assert words["how_solutions_more"] not in guide
    assert "stars" not in guide


# --- sizes --------------------------------------------------------------------------------------


def outlines_of(challenge: str) -> Any:
    """A challenge of FridgeIQ as its files draw it, in grid units: read here a second time."""
    catalog = json.loads((ROOT / "pieces/catalogs/fridgeiq.json").read_text())
    for entry in catalog["challenges"]:
        if entry["id"] == challenge:
            return shapely.union_all([shapely.Polygon(o[0], o[1:]) for o in entry["outlines"]])
    found = {one["id"]: one["outline"] for one in file_of("fridgeiq")["challenge"]}
    return shapely.Polygon(found[challenge])


def faults(read: Read, ids: Sequence[str], unit_mm: float = UNIT_MM, dpi: int = 300) -> list[str]:
    """What is wrong with the silhouettes of a booklet of FridgeIQ."""
    told, seen = [], set()
    for page, text in enumerate(read.texts, start=1):
        here = [word for word in re.findall(r"[a-z]+[a-z0-9_-]*", text) if word in ids]
        if "Solution: page" not in text or not here:
            continue
        parts = read.parts(page, read.pixels(page, dpi))
        for name, part in zip(here, parts, strict=True):
            seen.add(name)
            wrong = silhouette(part, dpi).differs(outlines_of(name), unit_mm)
            told += [f"{name}: {one}" for one in wrong]
    return told + [f"{name}: not shown" for name in ids if name not in seen]


def test_silhouettes_bar_and_pieces_are_as_large_as_they_should(read: Read) -> None:
    """Piece A is an L of 2 x 2 units, 0.1 mm smaller on each side, and its tip a flat of 1 mm."""
    assert faults(read, ["even4-02febfb20e"], dpi=200) == []
    pixels = read.pixels(read.page_with("This bar is 100 mm long"))
    assert longest_line_mm(pixels, 300) - 0.25 == pytest.approx(100, abs=0.1)
    measured = silhouette(pixels, 300, load_set("fridgeiq").piece("A").colour)
    # Its line is 0.2 mm wide.
    assert measured.outer_mm[1] - 0.2 == pytest.approx(39.8, abs=0.15)
    assert 38.0 < measured.outer_mm[0] - 0.2 < 39.8


@pytest.mark.integration
def test_a_large_shape_gets_a_page_to_fold_in_and_small_ones_share_one(tmp_path: Path) -> None:
    small = [*FEW, "square_03", "triangle_04"]
    assert faults(read_of(tmp_path, load_set("fridgeiq"), some("fridgeiq", *small)), small) == []
    one = booklet(load_set("fridgeiq"), some("fridgeiq", WIDE), load_profile())
    read = Read.of(one.pdf, tmp_path)
    assert (one.paper, one.notes) == ("a4", ("1 challenge has a larger page to fold in: A3",))
    page = read.page_with("Solution: page", "Fold-out page, A3: 297 × 420 mm")
    assert read.size_mm(page) == pytest.approx((297, 420), abs=0.01)
    assert faults(read, [WIDE]) == []
    assert {read.size_mm(n) for n in range(1, one.pages + 1) if n != page} == {read.size_mm(1)}
    assert "of A3" in read.texts[1]


@pytest.mark.integration
def test_what_is_beyond_all_pages_is_drawn_smaller_and_says_so(tmp_path: Path) -> None:
    profile, two = (
        replace(load_profile(), unit_mm=100.0),
        some("fridgeiq", "square_05", "square_01"),
    )
    one = booklet(load_set("fridgeiq"), two, profile)
    read = Read.of(one.pdf, tmp_path)
    assert one.notes == (
        "1 challenge has a larger page to fold in: A2",
        "11 pieces have larger pages to fold in: A3",
        "square_05 is too large for full size and drawn smaller",
    )
    for name, unit_mm, text in (
        ("square_05", 100 / 2.5, "Scale 1 : 2.5. Too large for full size"),
        ("square_01", 100, "Fold-out page, A2"),
    ):
        page = read.page_with(name, text)
        assert silhouette(read.pixels(page), 300).differs(outlines_of(name), unit_mm) == []
        assert ("Scale" in read.texts[page - 1]) == (unit_mm != 100)
    block = load_set("iqblock")
    one = booklet(block, some("iqblock", "square"), replace(load_profile(), unit_mm=250.0))
    assert re.fullmatch("square, piece 0.*drawn smaller", *one.notes)
    read = Read.of(one.pdf, tmp_path)
    pieces = [text for text in read.texts if "Too large for full size" in text]
    assert len(pieces) == len(block.pieces) + 1
    assert sum("do not fit on this drawing" in text for text in pieces) == 1
    assert load_words("booklet", "en")["how_scaled"] in said(read.texts[1])


@pytest.mark.long
def test_every_silhouette_of_fridgeiq_is_at_full_size(tmp_path: Path) -> None:
    every = [one for one in some("fridgeiq") if one.solution]
    assert len(every) == 39 + 146
    one = booklet(load_set("fridgeiq"), every, load_profile())
    assert faults(Read.of(one.pdf, tmp_path), [entry.id for entry in every]) == []


def in_block(columns: int, rows: int) -> tuple[PuzzleSet, Entry, Profile]:
    """IQ Block, and a challenge of some columns and rows that one piece is said to cover."""
    block = load_set("iqblock")
    places = [(row, column) for row in range(rows) for column in range(columns)]
    cells = frozenset(cell for place in places for cell in block.lattice.cells_at(*place))
    entry = Entry("one", "One", "challenge", cells, ("0",), solution={"0": cells})
    return block, entry, replace(load_profile(), fit="none")


def test_a_page_is_chosen_with_the_lines_of_a_title(tmp_path: Path) -> None:
    """With one line it is just high enough."""
    block, entry, profile = in_block(2, 8)
    made = [
        booklet(block, [replace(entry, title=one)], replace(profile, unit_mm=19.0))
        for one in ("One", LONG)
    ]
    assert [one.paper for one in made] == ["a5", "a4"]
    # Without magnets there is no warning of them.
    assert "agnet" not in "".join(Read.of(made[0].pdf, tmp_path).texts)


# --- words --------------------------------------------------------------------------------------


@pytest.mark.every(4)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_fits_on_the_smallest_paper(
    language: str, entries: list[Entry], tmp_path: Path
) -> None:
    read = read_of(tmp_path, load_set("fridgeiq"), entries[:3], language, "a5")
    words = load_words("booklet", language)
    assert "…" not in "".join(read.texts)
    for key in ("how", "warning", "pieces_heading", "index"):
        assert any(words[key] in text for text in read.texts), key
    guide = said(read.texts[1])
    for key in ("warning_text", "how_solutions_text", "how_solutions_more"):
        assert words[key] in guide, key
    # Above every page of solutions stands what it is about.
    back = words["see_challenge"].partition("{")[0]
    (solutions,) = [text.splitlines() for text in read.texts if back in text]
    assert solutions.count(words["solutions_heading"]) == 2
    page = read.texts[read.page_with(words["bar"]) - 1]
    assert set(re.findall(r"\d+([.,])\d mm", page)) == {words["decimal"]}
    catalog: Any = read.reader.trailer["/Root"]
    assert catalog["/Lang"] == language


@pytest.mark.integration
@pytest.mark.parametrize("language", LANGUAGES)
def test_boards_and_balls_in_every_language(language: str, board: Entry, tmp_path: Path) -> None:
    """The guide is one page, the flat forms have names, and the licence is told only if there is one."""
    words = load_words("booklet", language)
    for name, where in (("iqblock", "square"), ("iqstars", "board"), ("cubimagici", "tray")):
        read = read_of(tmp_path, load_set(name), some(name, where), language)
        assert (words["warning"] in read.texts[1]) == (name != "iqstars")
    fit = load_set("iqfit")
    read = read_of(tmp_path, fit, [board], language)
    assert "SmartGames" in read.texts[0]
    assert "not stated" not in read.texts[0]
    assert words["pieces_heading"] in read.texts[2]
    # Pieces of balls may lie on another side, which is no turning over as of flat ones.
    assert words["how_rolled"] in said(read.texts[1])
    assert words["how_turned"] not in said(read.texts[1])
    lines = Counter(line for text in read.texts for line in text.splitlines())
    for piece in fit.pieces:
        for form in ("single", "double"):
            assert lines[f"{piece.id} ({piece.label}) · {form_said(words, form)}"] == 1
    licensed = replace(fit, credit=PuzzleSet.credit, licence="CC0")
    cover = read_of(tmp_path, licensed, [board], language).texts[0]
    assert words["shapes"].partition("{")[0] not in cover
    assert words["licence"].format(licence="CC0") in cover


def test_lines_do_not_part_what_belongs_together_and_break_long_words() -> None:
    for language in LANGUAGES:
        for key, text in load_words("booklet", language).items():
            for width_mm in (40.0, 93.0, 186.0):
                lines = lines_of(text, 3.6, width_mm)
                assert [line for line in lines if LOOSE.search(line)] == [], key
                assert " ".join(lines) == said(text)
    long = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerk"
    lines = lines_of(f"Die {long}", 4, 40)
    assert (lines[0], "".join(lines[1:])) == ("Die", long)
    assert max(text_width_mm(line, 4) for line in lines) <= 40
    assert lines_of(OF_40, 4, 40)[0].endswith("-")
    assert few_lines(long, 4, 40, 2)[1].endswith("…")
    assert few_lines("", 4, 40, 2) == []


def test_every_form_and_every_snowflake_has_a_name(entries: list[Entry]) -> None:
    for words in (load_words("booklet", language) for language in LANGUAGES):
        others = [form_said(words, other) for other in ("spine-9", "double", "triple-2")]
        for name in ("spine", "single", "double-2", "triple", "4-prong", "7-prong-3"):
            told = form_said(words, name)
            assert set(filter(str.isdigit, told)) == set(filter(str.isdigit, name))
            assert told not in others
    fridgeiq, words = load_set("fridgeiq"), load_words("booklet", "en")
    even = next(one for one in entries if one.parity == "even")
    (item,) = items_of(fridgeiq, [replace(even, id="mine", title="mine")], words)
    assert item.title == "Snowflake 1 (even, 8 × 8)"


# --- titles and names ---------------------------------------------------------------------------


@pytest.mark.integration
def test_long_titles_stand_whole_with_their_challenge_and_in_the_index(
    entries: list[Entry], tmp_path: Path
) -> None:
    two = some("fridgeiq", "square_02", "square_03")
    titled = [replace(two[0], title=LONG), replace(two[1], id=OF_40, title=OF_40)]
    read = read_of(tmp_path, load_set("fridgeiq"), titled, "en", "a5")
    for title in (LONG, "A board with a very very long name of 40"):
        pages = [page for page, text in enumerate(read.texts, 1) if title in said(text)]
        assert {min(pages), len(read.texts)} <= set(pages)
        assert "Solution: page" in read.texts[min(pages) - 1]
    # Both links of a title reach over all of its lines.
    assert len(read.links(len(read.texts))) == 4
    page = read.page_with("Ein langer Titel", "Solution: page")
    part = read.parts(page, read.pixels(page, 150))[0]
    assert silhouette(part, 150).differs(outlines_of("square_02"), UNIT_MM) == []
    many = [replace(entries[0], id=f"id-{n}", title=f"{n} {LONG}") for n in range(1, 61)]
    read = read_of(tmp_path, load_set("fridgeiq"), many, "en", "a4")
    listed = said(" ".join(text for text in read.texts if "Index" in text))
    assert [one.title for one in many if one.title not in listed] == []


@pytest.mark.integration
def test_long_names_stand_whole_and_do_not_run_into_each_other(tmp_path: Path) -> None:
    block, entry, profile = in_block(2, 4)
    name = "piece-with-a-very-long-name-of-forty-c"
    pieces = tuple(replace(piece, id=f"{piece.id}-{name}"[:40]) for piece in block.pieces)
    one = replace(entry, pieces=(pieces[0].id,), solution={pieces[0].id: entry.region})
    long = replace(block, pieces=pieces, boards=(), challenges=())
    read = Read.of(booklet(long, [one], replace(profile, unit_mm=12.0)).pdf, tmp_path)
    assert read.faults_of_words() == []
    text = "".join("".join(read.texts).split())
    assert [piece.id for piece in pieces if piece.id not in text] == []
    boxes = [(page, shapely.box(*box)) for page, word, box in read.words() if "very-long" in word]
    for (page, first), (other, second) in combinations(boxes, 2):
        assert page != other or not first.overlaps(second)


@pytest.mark.every(2)
@pytest.mark.parametrize("paper", ["a5", "letter"])
def test_hostile_titles_are_text_and_nothing_else(
    paper: str, entries: list[Entry], tmp_path: Path
) -> None:
    few = [replace(entries[0], id=f"id-{n}", title=title) for n, title in enumerate(HOSTILE)]
    puzzle = replace(load_set("fridgeiq"), title=" ".join(HOSTILE[:4]), credit=HOSTILE[4])
    one = booklet(puzzle, few, load_profile(), "en", paper)
    read = Read.of(one.pdf, tmp_path)
    assert read.faults_of_words() == []
    text = said(" ".join(read.texts))
    for shown in ("<script>alert('1')</script>", "& <b>bold</b>", ") Tj ET /JS (x)", "���� ��"):
        assert shown in text
    assert [note for note in one.notes if "U+05D9" in note or "U+4E2D" in note]
    assert not {"\u202e", "\x1b", "\u2066", "\x00"} & set(text)
    for mark in (b"/JavaScript", b"/OpenAction", b"/Launch", b"/URI", b"/EmbeddedFile"):
        assert mark not in one.pdf


REFUSED: list[tuple[int, dict[str, Any], str | None, str, str]] = [
    (20, {"drop": True}, None, "en", "fridgeiq: there are no challenges for a booklet"),
    (20, {"solution": None}, None, "en", "fridgeiq: no solution is known of square_02"),
    (20, {}, "a3", "en", '--paper: there is no paper "a3"; there are a5, a4, letter'),
    (20, {}, None, "es", '--language: there are no texts in "es"'),
    (40, {}, "a5", "en", "170 x 215.7 mm; the least paper that would do is a4"),
    (70, {}, "a4", "en", "290 x 335.7 mm; leave --paper out, and there will be a page to"),
    (150, {}, "a4", "en", "leave --paper out, and it will be drawn smaller"),
]


def test_what_cannot_be_made_is_refused(entries: list[Entry]) -> None:
    (square,) = [one for one in entries if one.id == "square_02"]
    for unit_mm, changes, paper, language, message in REFUSED:
        few = [replace(square, **changes)] if "drop" not in changes else []
        profile = replace(load_profile(), unit_mm=unit_mm)
        with pytest.raises(InputError) as caught:
            booklet(load_set("fridgeiq"), few, profile, language, paper)
        told = str(caught.value)
        assert message in told
        assert "\n" not in told
        assert unit_mm == 20 or told.startswith(
            f"--paper: {paper} is too small: the challenge does"
        )
