"""Booklets read back: what stands on their pages, how large it is, and in which words."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from fabkit.build.cover_image import cover_picture
from fabkit.core.errors import InputError
from fabkit.model.catalog import shipped_snowflakes
from fabkit.model.entry import Entry
from fabkit.model.lattice import Cell
from fabkit.model.library import load_set
from fabkit.model.profilefile import load_profile
from fabkit.model.puzzle import Given, PuzzleSet
from fabkit.output.booklet.book import booklet
from fabkit.output.booklet.items import items_of
from fabkit.output.booklet.namedpieces import form_said
from fabkit.output.i18n import LANGUAGES, load_words
from fabkit.output.typeset import few_lines, lines_of, text_width_mm
from tests.support.booklets import (
    Read,
    bar_mm,
    differs,
    drawn_outlines,
    faults_of_words,
    made,
    silhouette,
    some,
)

DPI, UNIT_MM = 300, 20.0
BOARDS = {"iqfit": "board", "iqblock": "square", "iqstars": "board", "cubimagici": "tray"}
#: Sharp tips, holes, parts of their own, and pieces on two lattices.
FEW = ("square_02", "rectangle_01", "triangle_01", "even4-02febfb20e", "mixed1-3-2910d98921")
#: 11 cells wide: on A4 it needs a larger page.
WIDE = "odd5-1690ad596e"
#: Within the 100 characters that a title may have.
LONG = "Ein langer Titel für eine einfache Aufgabe, der ganz bestimmt nicht in eine Zeile passt"
OF_40 = "a-board-with-a-very-very-long-name-of-40"
#: What belongs to the word before it, or after it, in one of the languages.
LOOSE = re.compile(r"^([:;!?%»×]|mm\b)|«$")

in_every_language = pytest.mark.parametrize("language", LANGUAGES)


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    return some("fridgeiq", *FEW)


@pytest.fixture(scope="module")
def read(entries: list[Entry], tmp_path_factory: pytest.TempPathFactory) -> Read:
    pdf = booklet(load_set("fridgeiq"), entries, load_profile()).pdf
    return Read.of(pdf, tmp_path_factory.mktemp("booklet"))


@pytest.fixture(scope="module")
def board() -> Entry:
    return some("iqfit", "board")[0]


def read_of(folder: Path, puzzle: PuzzleSet, entries: Sequence[Entry], *more: Any) -> Read:
    return Read.of(booklet(puzzle, entries, load_profile(), *more).pdf, folder)


def said(text: str) -> str:
    """A text without its line ends."""
    return " ".join(text.split())


def colours_on(pixels: Any, puzzle: PuzzleSet) -> set[str]:
    """The pieces whose colours are on a page."""
    wanted = {one.id: [int(one.colour[i : i + 2], 16) for i in (1, 3, 5)] for one in puzzle.pieces}
    return {one for one, rgb in wanted.items() if (pixels == rgb).all(axis=2).sum() > 100}


# --- challenges and solutions -------------------------------------------------------------------


def test_every_challenge_has_a_page_that_leads_to_its_solution_and_back(read: Read) -> None:
    for name in FEW:
        (page,) = [n for n, text in enumerate(read.texts, 1) if name in text.split()]
        there = {to for says, to in read.links(page) if says.startswith("Solution")}
        back = {to for one in there for says, to in read.links(one) if says.startswith("Chall")}
        assert there, name
        assert page in back, name


def test_solutions_show_every_piece_in_its_colour(read: Read) -> None:
    fridgeiq = load_set("fridgeiq")
    pixels = read.pixels(read.page_with("Solutions", "Snowflake 1"), 100)
    assert colours_on(pixels, fridgeiq) == {piece.id for piece in fridgeiq.pieces}


def test_challenges_come_in_order_of_difficulty_with_titles_for_people(read: Read) -> None:
    lines = "\n".join(read.texts[:-2]).splitlines()
    titles = ("Triangle 1", "Rectangle 1", "Square 2", "Snowflake 1 (mixed, 7 × 7)")
    assert [lines.index(title) for title in titles] == sorted(map(lines.index, titles))
    assert "Snowflake 2 (even, 8 × 8)" in lines
    assert [lines[lines.index(title) - 1] for title in titles] == ["1", "2", "3", "4"]


def test_the_index_leads_to_challenges_and_solutions(read: Read) -> None:
    last = len(read.texts)
    for title, target in read.links(last):
        assert title in read.texts[target - 1]
    assert len(read.links(last)) == 2 * len(FEW)


def test_the_outline_leads_everywhere(read: Read) -> None:
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
        page = read.reader.get_destination_page_number(one)
        assert one.title.split(" · ")[1] in read.texts[page or 0]


def test_fonts_are_embedded_and_texts_stay_on_their_pages(read: Read) -> None:
    assert read.fonts()
    assert all(embedded and "OpenSans" in name for name, embedded in read.fonts())
    assert faults_of_words(read) == []


@pytest.mark.integration
def test_given_pieces_are_drawn_and_not_named(board: Entry, tmp_path: Path) -> None:
    solution = board.solution or {}
    given = tuple(Given(one, solution[one]) for one in ("red", "navy"))
    read = read_of(tmp_path, load_set("iqfit"), [replace(board, given=given)])
    page = read.page_with("All 10 pieces · 2 of them lie there already")
    assert colours_on(read.pixels(page, 100), load_set("iqfit")) == {"red", "navy"}
    assert "given" in read.texts[1]


@pytest.mark.integration
def test_what_is_not_known_is_not_claimed(entries: list[Entry], tmp_path: Path) -> None:
    plain = replace(entries[0], level="", score=None, count=None, flips=True)
    least = replace(entries[1], count=1, count_complete=False, level="odd", score=1.0)
    read = read_of(tmp_path, load_set("fridgeiq"), [plain, least])
    pages = [read.page_with("Challenges · Not rated", one.id) for one in (least, plain)]
    assert pages == sorted(pages)
    assert "1 solution or more" in read.texts[pages[0] - 1]
    assert "may be turned over" in read.texts[pages[1] - 1]
    assert "stars" not in read.texts[1]


@pytest.mark.integration
def test_flat_solutions_share_a_page(board: Entry, tmp_path: Path) -> None:
    """There were three on a page of which the lower half was empty."""
    seven = [replace(board, id=f"board-{number}", title=f"Board {number}") for number in range(7)]
    read = read_of(tmp_path, load_set("iqfit"), seven)
    solutions = [page for page, text in enumerate(read.texts, 1) if "Challenge: page" in text]
    assert len(solutions) == 2
    pixels = read.pixels(solutions[0], 60)
    lower = pixels[pixels.shape[0] * 6 // 10 : pixels.shape[0] * 9 // 10]
    assert (lower.min(axis=2) < 200).mean() > 0.1


@pytest.mark.long
def test_the_cover_shows_a_challenge_on_two_lattices() -> None:
    """It was left out, and the page drew a picture of its own."""
    (entry,) = some("fridgeiq", "mixed1-3-2910d98921")
    profile = replace(load_profile(), fit="none")
    with Image.open(io.BytesIO(cover_picture(load_set("fridgeiq"), [entry], profile))) as image:
        pixels = np.asarray(image.convert("HSV")).reshape(-1, 3)
    hues = np.bincount(pixels[pixels[:, 1] > 80][:, 0] // 16, minlength=16)
    assert (hues > 500).sum() >= 6, "the pieces have many colours"


# --- sizes --------------------------------------------------------------------------------------


def faults(read: Read, ids: Sequence[str], unit_mm: float = UNIT_MM, dpi: int = DPI) -> list[str]:
    """What is wrong with the silhouettes of a booklet of FridgeIQ."""
    told, seen = [], set()
    for page, text in enumerate(read.texts, start=1):
        here = [word for word in re.findall(r"[a-z]+[a-z0-9_-]*", text) if word in ids]
        if "Solution: page" not in text or not here:
            continue
        parts = read.parts(page, read.pixels(page, dpi))
        for name, part in zip(here, parts, strict=True):
            seen.add(name)
            wrong = differs(silhouette(part, dpi), drawn_outlines(name), unit_mm)
            told += [f"{name}: {one}" for one in wrong]
    return told + [f"{name}: not shown" for name in ids if name not in seen]


def test_a_silhouette_is_as_large_as_what_it_is_drawn_after(read: Read) -> None:
    assert faults(read, ["even4-02febfb20e"], dpi=200) == []


@pytest.mark.integration
def test_all_silhouettes_are(tmp_path: Path) -> None:
    """Also of small challenges, which share a page."""
    ids = (*FEW, "square_03", "triangle_04")
    assert faults(Read.of(made("fridgeiq", *ids).pdf, tmp_path), ids) == []


def test_the_bar_is_100_mm_and_pieces_are_as_large_as_they_are_printed(read: Read) -> None:
    """Piece A is an L of 2 x 2 units, 0.1 mm smaller on each side, and its tip a flat of 1 mm."""
    pixels = read.pixels(read.page_with("This bar is 100 mm long"), DPI)
    assert bar_mm(pixels, DPI) == pytest.approx(100, abs=0.1)
    measured = silhouette(pixels, DPI, load_set("fridgeiq").piece("A").colour)
    # Its line is 0.2 mm wide.
    assert measured.outer_mm[1] - 0.2 == pytest.approx(39.8, abs=0.15)
    assert 38.0 < measured.outer_mm[0] - 0.2 < 39.8


@pytest.mark.integration
def test_a_large_shape_gets_a_page_to_fold_in_at_full_size(tmp_path: Path) -> None:
    one = made("fridgeiq", WIDE)
    read = Read.of(one.pdf, tmp_path)
    assert (one.paper, one.notes) == ("a4", ("1 challenge has a larger page to fold in: A3",))
    page = read.page_with("Solution: page", "Fold-out page, A3: 297 × 420 mm")
    assert read.size_mm(page) == pytest.approx((297, 420), abs=0.01)
    assert faults(read, [WIDE]) == []
    assert {read.size_mm(n) for n in range(1, one.pages + 1) if n != page} == {read.size_mm(1)}
    assert "of A3" in read.texts[1]


@pytest.mark.long
def test_a_shape_beyond_all_pages_is_drawn_smaller_and_says_so(tmp_path: Path) -> None:
    profile = replace(load_profile(), unit_mm=100)
    one = made("fridgeiq", "square_05", "square_01", profile=profile)
    read = Read.of(one.pdf, tmp_path)
    assert one.notes == (
        "1 challenge has a larger page to fold in: A2",
        "11 pieces have larger pages to fold in: A3",
        "square_05 is too large for full size and drawn smaller",
    )
    page = read.page_with("square_05", "Scale 1 : 2.5. Too large for full size")
    shape = drawn_outlines("square_05")
    assert differs(silhouette(read.pixels(page, DPI), DPI), shape, 100 / 2.5) == []
    full = read.page_with("square_01", "Fold-out page, A2")
    assert differs(silhouette(read.pixels(full, DPI), DPI), drawn_outlines("square_01"), 100) == []
    assert "Scale" not in read.texts[full - 1]


@pytest.mark.long
def test_every_silhouette_of_fridgeiq_is_at_full_size(tmp_path: Path) -> None:
    every = [one for one in some("fridgeiq") if one.solution]
    assert len(every) == 39 + 146
    one = booklet(load_set("fridgeiq"), every, load_profile())
    assert faults(Read.of(one.pdf, tmp_path), [entry.id for entry in every]) == []


@pytest.mark.integration
def test_what_is_too_large_for_any_paper_says_so_of_pieces_too(tmp_path: Path) -> None:
    block = load_set("iqblock")
    one = booklet(block, some("iqblock", "square"), replace(load_profile(), unit_mm=250.0))
    (note,) = one.notes
    assert note.startswith("square, piece 0")
    assert note.endswith("drawn smaller")
    read = Read.of(one.pdf, tmp_path)
    pieces = [text for text in read.texts if "Too large for full size" in text]
    assert len(pieces) == len(block.pieces) + 1
    assert sum("do not fit on this drawing" in text for text in pieces) == 1
    assert load_words("booklet", "en")["how_scaled"] in said(read.texts[1])
    larger = booklet(block, some("iqblock", "square"), replace(load_profile(), unit_mm=70.0))
    assert any("pieces have larger pages to fold in: A3" in note for note in larger.notes)


def test_a_page_is_chosen_with_the_lines_of_a_title() -> None:
    """With one line it is just high enough."""
    profile = replace(load_profile(), unit_mm=19.0, fit="none")
    block, entry = in_block(2, 8)
    papers = [booklet(block, [replace(entry, title=one)], profile).paper for one in ("One", LONG)]
    assert papers == ["a5", "a4"]


# --- words --------------------------------------------------------------------------------------


@pytest.mark.every(4)
@in_every_language
def test_every_language_fits_on_the_smallest_paper(
    language: str, entries: list[Entry], tmp_path: Path
) -> None:
    few = [one for one in entries if one.id in FEW[:3]]
    read, words = (
        read_of(tmp_path, load_set("fridgeiq"), few, language, "a5"),
        load_words("booklet", language),
    )
    assert faults_of_words(read) == []
    assert "…" not in "".join(read.texts)
    for key in ("how", "warning", "pieces_heading", "index"):
        assert any(words[key] in text for text in read.texts), key
    assert words["warning_text"] in said(read.texts[1])
    # Above every page of solutions stands what it is about.
    back = words["see_challenge"].partition("{")[0]
    assert [t.splitlines().count(words["solutions_heading"]) for t in read.texts if back in t] == [
        2
    ]
    page = read.texts[read.page_with(words["bar"]) - 1]
    assert set(re.findall(r"\d+([.,])\d mm", page)) == {words["decimal"]}
    catalog: Any = read.reader.trailer["/Root"]
    assert catalog["/Lang"] == language


@pytest.mark.integration
@pytest.mark.parametrize(("name", "language"), zip(BOARDS, LANGUAGES, strict=True))
def test_every_set_gets_a_booklet(name: str, language: str, tmp_path: Path) -> None:
    puzzle = load_set(name)
    (entry,) = some(name, BOARDS[name])
    one = booklet(puzzle, [entry], load_profile(unit_mm=puzzle.unit_mm), language)
    read = Read.of(one.pdf, tmp_path)
    assert entry.region == puzzle.boards[0].cells
    assert faults_of_words(read) == []
    warned = load_words("booklet", language)["warning"] in read.texts[1]
    assert warned == (name in ("iqblock", "cubimagici"))


@pytest.mark.integration
@in_every_language
def test_balls_in_every_language(language: str, board: Entry, tmp_path: Path) -> None:
    """The guide is one page, the flat forms have names, and the licence is told only if there is one."""
    fit, words = load_set("iqfit"), load_words("booklet", language)
    read = read_of(tmp_path, fit, [board], language)
    assert faults_of_words(read) == []
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


@pytest.mark.integration
def test_sets_without_magnets_do_not_warn_of_them(entries: list[Entry], tmp_path: Path) -> None:
    profile = replace(load_profile(), fit="none")
    read = Read.of(booklet(load_set("fridgeiq"), entries[:1], profile).pdf, tmp_path)
    assert "agnet" not in "".join(read.texts)


@pytest.mark.integration
@pytest.mark.parametrize(
    ("count", "complete", "others", "language"),
    [(1, True, False, "en"), (None, False, False, "de"), (2, True, True, "it")],
)
def test_other_solutions_are_told_where_some_are_known(
    count: int | None,
    complete: bool,
    others: bool,
    language: str,
    entries: list[Entry],
    tmp_path: Path,
) -> None:
    few = [replace(entries[0], count=1, count_complete=True)]
    few.append(replace(entries[1], count=count, count_complete=complete))
    read = read_of(tmp_path, load_set("fridgeiq"), few, language)
    words, guide = load_words("booklet", language), said(read.texts[1])
    assert words["how_solutions_text"] in guide
    assert (words["how_solutions_more"] in guide) == others


@in_every_language
def test_lines_do_not_part_what_belongs_together(language: str) -> None:
    for key, text in load_words("booklet", language).items():
        for width_mm in (40.0, 66.0, 93.0, 124.0, 186.0):
            lines = lines_of(text, 3.6, width_mm)
            assert [line for line in lines if LOOSE.search(line)] == [], key
            assert " ".join(lines) == said(text)


def test_words_are_broken_rather_than_cut() -> None:
    long = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerk"
    lines = lines_of(f"Die {long}", 4, 40)
    assert (lines[0], "".join(lines[1:])) == ("Die", long)
    assert max(text_width_mm(line, 4) for line in lines) <= 40
    assert lines_of(OF_40, 4, 40)[0].endswith("-")
    assert few_lines(long, 4, 40, 2)[1].endswith("…")
    assert few_lines("", 4, 40, 2) == []


@in_every_language
def test_every_form_has_a_name(language: str) -> None:
    words = load_words("booklet", language)
    others = [form_said(words, other) for other in ("spine-9", "double", "triple-2")]
    for name in ("spine", "single", "double-2", "triple", "4-prong", "7-prong-3"):
        told = form_said(words, name)
        assert set(filter(str.isdigit, told)) == set(filter(str.isdigit, name))
        assert told not in others
    with pytest.raises(ValueError, match="there is no form"):
        form_said(words, "<b>")


def test_a_snowflake_is_called_by_what_it_is_and_not_by_its_id() -> None:
    fridgeiq = load_set("fridgeiq")
    even = next(one for one in shipped_snowflakes(fridgeiq) if one.id == "even4-0057708264")
    for name in ("odd-one", "mine"):
        named = [replace(even, id=name, title=name)]
        (item,) = items_of(fridgeiq, named, load_words("booklet", "en"))
        assert item.title == "Snowflake 1 (even, 8 × 8)"


# --- titles and names ---------------------------------------------------------------------------


@pytest.mark.integration
@in_every_language
def test_no_title_of_a_shipped_challenge_is_cut(language: str, tmp_path: Path) -> None:
    """On the pages with solutions the part by which they differ was cut, of 146 in German."""
    fridgeiq, words = load_set("fridgeiq"), load_words("booklet", language)
    items = items_of(fridgeiq, list(shipped_snowflakes(fridgeiq)), words)
    items = sorted(items, key=lambda item: -len(item.title))
    longest = [replace(item.entry, title=item.title) for item in items[:13]]
    read = read_of(tmp_path, fridgeiq, longest, language)
    assert "…" not in "".join(read.texts)
    assert faults_of_words(read) == []
    back = words["see_challenge"].partition("{")[0]
    solutions = said(" ".join(text for text in read.texts if back in text))
    assert [one.title for one in longest if one.title not in solutions] == []


@pytest.mark.integration
@pytest.mark.parametrize("paper", ["a5", "a4"])
def test_long_titles_stand_whole_with_their_challenge_and_in_the_index(
    paper: str, tmp_path: Path
) -> None:
    two = some("fridgeiq", "square_02", "square_03")
    entries = [replace(two[0], title=LONG), replace(two[1], id=OF_40, title=OF_40)]
    read = read_of(tmp_path, load_set("fridgeiq"), entries, "en", paper)
    assert faults_of_words(read) == []
    for title in (LONG, "A board with a very very long name of 40"):
        pages = [page for page, text in enumerate(read.texts, 1) if title in said(text)]
        assert {min(pages), len(read.texts)} <= set(pages)
        assert "Solution: page" in read.texts[min(pages) - 1]
    # Both links of a title reach over all of its lines.
    assert len(read.links(len(read.texts))) == 4
    page = read.page_with("Ein langer Titel", "Solution: page")
    part = read.parts(page, read.pixels(page, 150))[0]
    assert differs(silhouette(part, 150), drawn_outlines("square_02"), UNIT_MM) == []


@pytest.mark.integration
def test_index_columns_hold_wrapped_titles(entries: list[Entry], tmp_path: Path) -> None:
    many = [replace(entries[0], id=f"id-{n}", title=f"{n} {LONG}") for n in range(1, 61)]
    read = read_of(tmp_path, load_set("fridgeiq"), many, "en", "a4")
    assert faults_of_words(read) == []
    listed = said(" ".join(text for text in read.texts if "Index" in text))
    assert [one.title for one in many if one.title not in listed] == []


def in_block(columns: int, rows: int) -> tuple[PuzzleSet, Entry]:
    """IQ Block, and a challenge of some columns and rows that one piece is said to cover."""
    block = load_set("iqblock")
    cells: frozenset[Cell] = frozenset(
        cell
        for row in range(rows)
        for column in range(columns)
        for cell in block.lattice.cells_at(row, column)
    )
    return block, Entry("one", "One", "challenge", cells, ("0",), solution={"0": cells})


@pytest.mark.integration
def test_long_names_take_no_more_pages_than_short_ones_nor_run_into_each_other(
    tmp_path: Path,
) -> None:
    block, entry = in_block(2, 4)
    profile = replace(load_profile(), unit_mm=12.0, fit="none")
    pages = []
    for name in ("", "piece-with-a-very-long-name-of-forty-c"):
        pieces = tuple(replace(p, id=f"{p.id}-{name}"[:40].strip("-")) for p in block.pieces)
        solution = {pieces[0].id: frozenset(entry.region)}
        one = replace(entry, pieces=(pieces[0].id,), solution=solution)
        long = replace(block, pieces=pieces, boards=(), challenges=())
        read = Read.of(booklet(long, [one], profile).pdf, tmp_path)
        assert faults_of_words(read) == []
        pages.append(sum("The pieces" in text for text in read.texts))
        for piece in pieces:
            assert piece.id in "".join("".join(read.texts).split())
    assert pages[0] == pages[1]
    boxes = [(page, box) for page, word, box, _ in read.words() if "very-long" in word]
    for place, (page, (left, top, right, bottom)) in enumerate(boxes):
        for other, (left_2, top_2, right_2, bottom_2) in boxes[place + 1 :]:
            apart = right <= left_2 or right_2 <= left or bottom <= top_2 or bottom_2 <= top
            assert apart or page != other


@pytest.mark.integration
def test_one_piece_is_not_all_one_pieces(tmp_path: Path) -> None:
    block = load_set("iqblock")
    one = replace(block, pieces=block.pieces[:1], boards=(), challenges=())
    cells = one.pieces[0].forms[0].cells
    entry = Entry("one", "One", "challenge", cells, ("0",), solution={"0": cells})
    for language in LANGUAGES:
        assert "All 1" not in "".join(read_of(tmp_path, one, [entry], language).texts)


HOSTILE = (
    "<script>alert('1')</script>",
    'say "hello" \u202eesrever\u202c & <b>bold</b>',
    ") Tj ET\n/JS (x)",
    "שלום 中文 🧩",
    "long " * 900,
    "\x00\x1b]0;x\x07 \u2066",
)


@pytest.mark.every(2)
@pytest.mark.parametrize("paper", ["a5", "letter"])
def test_hostile_titles_are_text_and_nothing_else(
    paper: str, entries: list[Entry], tmp_path: Path
) -> None:
    few = [
        replace(entries[0], id=f"id-{number}", title=title) for number, title in enumerate(HOSTILE)
    ]
    puzzle = replace(load_set("fridgeiq"), title=" ".join(HOSTILE[:4]), credit=HOSTILE[4])
    one = booklet(puzzle, few, load_profile(), "en", paper)
    read = Read.of(one.pdf, tmp_path)
    assert faults_of_words(read) == []
    text = said(" ".join(read.texts))
    for shown in ("<script>alert('1')</script>", "& <b>bold</b>", ") Tj ET /JS (x)", "���� ��"):
        assert shown in text
    assert [note for note in one.notes if "U+05D9" in note or "U+4E2D" in note]
    assert not {"\u202e", "\x1b", "\u2066", "\x00"} & set(text)
    for mark in (b"/JavaScript", b"/OpenAction", b"/Launch", b"/URI", b"/EmbeddedFile"):
        assert mark not in one.pdf


# --- refused ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "paper", "language", "message"),
    [
        ({"drop": True}, None, "en", "fridgeiq: there are no challenges for a booklet"),
        ({"solution": None}, None, "en", "fridgeiq: no solution is known of square_02"),
        ({}, "a3", "en", '--paper: there is no paper "a3"; there are a5, a4, letter'),
        ({}, None, "es", '--language: there are no texts in "es"'),
    ],
)
def test_what_cannot_be_made_is_refused(
    changes: dict[str, Any], paper: str, language: str, message: str, entries: list[Entry]
) -> None:
    few = [replace(entries[0], **changes)] if "drop" not in changes else []
    with pytest.raises(InputError) as caught:
        booklet(load_set("fridgeiq"), few, load_profile(), language, paper)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("unit_mm", "paper", "do"),
    [
        (40.0, "a5", "170 x 215.7 mm; the least paper that would do is a4"),
        (70.0, "a4", "and it needs 290 x 335.7 mm; leave --paper out, and there will be a page to"),
        (150.0, "a4", "leave --paper out, and it will be drawn smaller"),
    ],
)
def test_paper_on_which_nothing_fits_is_refused(
    unit_mm: float, paper: str, do: str, entries: list[Entry]
) -> None:
    few = [one for one in entries if one.id == "square_02"]
    profile = replace(load_profile(), unit_mm=unit_mm)
    with pytest.raises(InputError) as caught:
        booklet(load_set("fridgeiq"), few, profile, "en", paper)
    assert str(caught.value).startswith(
        f"--paper: {paper} is too small: the challenge does not fit"
    )
    assert do in str(caught.value)
