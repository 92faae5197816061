"""Titles and names in booklets: whole, however long, and clear of what stands around them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from fabkit.model.catalogfile import shipped_snowflakes
from fabkit.model.entry import Entry
from fabkit.model.lattice import Cell
from fabkit.model.library import load_set
from fabkit.model.piece import Piece
from fabkit.model.profilefile import load_profile
from fabkit.model.puzzle import PuzzleSet
from fabkit.output.booklet.book import booklet
from fabkit.output.booklet.items import items_of
from fabkit.output.booklet.namedpieces import form_said
from fabkit.output.booklet.typeset import few_lines, lines_of
from fabkit.output.pdf import text_width_mm
from fabkit.output.words import LANGUAGES, load_words
from tests.support.booklets import Read, differs, drawn_outlines, faults_of_words, silhouette, some

DPI = 150
#: Within the 100 characters that a title may have.
LONG = "Ein langer Titel für eine einfache Aufgabe, der ganz bestimmt nicht in eine Zeile passt"
OF_40 = "a-board-with-a-very-very-long-name-of-40"
#: The flat forms of IQ Fit's pieces, in every language.
FORMS = {
    "en": ("single", "double"),
    "de": ("einfach", "doppelt"),
    "it": ("singolo", "doppio"),
    "fr": ("simple", "double"),
}


def said(text: str) -> str:
    """A text without its line ends."""
    return " ".join(text.split())


@pytest.fixture(scope="module")
def snowflakes() -> list[Entry]:
    """The shipped challenges with the longest titles."""
    return list(shipped_snowflakes(load_set("fridgeiq")))


@pytest.fixture(scope="module")
def squares() -> list[Entry]:
    return some("fridgeiq", "square_02", "square_03")


def read_of(folder: Path, puzzle: PuzzleSet, entries: list[Entry], *more: str) -> Read:
    return Read.of(booklet(puzzle, entries, load_profile(), *more).pdf, folder)


def in_block(columns: int, rows: int, **changes: str | int | bool) -> tuple[PuzzleSet, Entry]:
    """IQ Block, and a challenge of some columns and rows that one piece is said to cover."""
    block = load_set("iqblock")
    cells: frozenset[Cell] = frozenset(
        cell
        for row in range(rows)
        for column in range(columns)
        for cell in block.lattice.cells_at(row, column)
    )
    entry = Entry("one", "One", "challenge", cells, ("0",), solution={"0": cells})
    return block, replace(entry, **changes)  # type: ignore[arg-type]


# --- challenges ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_title_of_a_shipped_challenge_is_cut(
    language: str, snowflakes: list[Entry], tmp_path: Path
) -> None:
    """On the pages with solutions the part by which they differ was cut, of 146 in German."""
    fridgeiq, words = load_set("fridgeiq"), load_words("booklet", language)
    items = sorted(items_of(fridgeiq, snowflakes, words), key=lambda item: -len(item.title))
    longest = [replace(item.entry, title=item.title) for item in items[:13]]
    read = read_of(tmp_path, fridgeiq, longest, language)
    assert "…" not in "".join(read.texts)
    assert faults_of_words(read) == []
    back = words["see_challenge"].partition("{")[0]
    solutions = said(" ".join(text for text in read.texts if back in text))
    assert [one.title for one in longest if one.title not in solutions] == []


@pytest.mark.parametrize("paper", ["a5", "a4"])
def test_long_titles_stand_whole_with_their_challenge_and_in_the_index(
    paper: str, squares: list[Entry], tmp_path: Path
) -> None:
    entries = [replace(squares[0], title=LONG), replace(squares[1], id=OF_40, title=OF_40)]
    read = read_of(tmp_path, load_set("fridgeiq"), entries, "en", paper)
    assert faults_of_words(read) == []
    for title in (LONG, "A board with a very very long name of 40"):
        pages = [page for page, text in enumerate(read.texts, 1) if title in said(text)]
        assert {min(pages), len(read.texts)} <= set(pages)
        assert "Solution: page" in read.texts[min(pages) - 1]
    # Both links of a title reach over all of its lines.
    assert len(read.links(len(read.texts))) == 4


def test_long_titles_keep_clear_of_shapes(squares: list[Entry], tmp_path: Path) -> None:
    read = read_of(tmp_path, load_set("fridgeiq"), [replace(squares[0], title=LONG)])
    page = read.page_with("Solution: page")
    (part,) = read.parts(page, read.pixels(page, DPI))
    assert differs(silhouette(part, DPI), drawn_outlines("square_02"), 20.0) == []


def test_a_page_is_chosen_with_the_lines_of_a_title() -> None:
    """With one line it is just high enough."""
    profile = replace(load_profile(), unit_mm=19.0, fit="none")
    papers = []
    for title in ("One", LONG):
        block, entry = in_block(2, 8, title=title)
        papers.append(booklet(block, [entry], profile).paper)
    assert papers == ["a5", "a4"]


def test_index_columns_hold_wrapped_titles(squares: list[Entry], tmp_path: Path) -> None:
    many = [replace(squares[0], id=f"id-{n}", title=f"{n} {LONG}") for n in range(1, 61)]
    read = read_of(tmp_path, load_set("fridgeiq"), many, "en", "a4")
    assert faults_of_words(read) == []
    listed = said(" ".join(text for text in read.texts if "Index" in text))
    assert [one.title for one in many if one.title not in listed] == []


def test_words_are_broken_rather_than_cut() -> None:
    long = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerk"
    lines = lines_of(f"Die {long}", 4, 40)
    assert (lines[0], "".join(lines[1:])) == ("Die", long)
    assert max(text_width_mm(line, 4) for line in lines) <= 40
    assert lines_of(OF_40, 4, 40)[0].endswith("-")
    assert few_lines(long, 4, 40, 2)[1].endswith("…")
    assert few_lines("", 4, 40, 2) == []


# --- solutions ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", LANGUAGES)
def test_solutions_have_a_heading(language: str, squares: list[Entry], tmp_path: Path) -> None:
    many = [replace(squares[0], id=f"id-{n}") for n in range(8)]
    read = read_of(tmp_path, load_set("fridgeiq"), many, language, "a5")
    words = load_words("booklet", language)
    back = words["see_challenge"].partition("{")[0]
    pages = [text.splitlines() for text in read.texts if back in text]
    # Above every page stands what it is about.
    assert [lines.count(words["solutions_heading"]) for lines in pages] == [2, 1]


@pytest.mark.parametrize(
    ("count", "complete", "others", "language"),
    [
        (1, True, False, "en"),
        (None, False, False, "de"),
        (2, True, True, "it"),
        (3, False, True, "fr"),
    ],
)
def test_other_solutions_are_told_where_some_are_known(
    count: int | None,
    complete: bool,
    others: bool,
    language: str,
    squares: list[Entry],
    tmp_path: Path,
) -> None:
    few = [replace(squares[0], count=1, count_complete=True)]
    few.append(replace(squares[1], count=count, count_complete=complete))
    read = read_of(tmp_path, load_set("fridgeiq"), few, language)
    words, guide = load_words("booklet", language), said(read.texts[1])
    assert words["how_solutions_text"] in guide
    assert (words["how_solutions_more"] in guide) == others


# --- pieces -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", LANGUAGES)
def test_flat_forms_of_a_piece_have_names_of_their_own(language: str, tmp_path: Path) -> None:
    fit = load_set("iqfit")
    read = read_of(tmp_path, fit, some("iqfit", "board"), language)
    lines = Counter(line for text in read.texts for line in text.splitlines())
    for piece in fit.pieces:
        for form in FORMS[language]:
            assert lines[f"{piece.id} ({piece.label}) · {form}"] == 1


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["spine", "single", "double-2", "triple", "4-prong", "7-prong-3"])
def test_every_form_has_a_name(name: str, language: str) -> None:
    words = load_words("booklet", language)
    told = form_said(words, name)
    assert set(filter(str.isdigit, told)) == set(filter(str.isdigit, name))
    assert told not in [form_said(words, other) for other in ("spine-9", "double", "triple-2")]


def test_what_is_no_form_has_no_name() -> None:
    with pytest.raises(ValueError, match="there is no form"):
        form_said(load_words("booklet", "en"), "<b>")


def renamed(pieces: tuple[Piece, ...], name: str) -> tuple[Piece, ...]:
    return tuple(replace(piece, id=f"{piece.id}-{name}"[:40].strip("-")) for piece in pieces)


def test_long_names_take_no_more_pages_than_short_ones(tmp_path: Path) -> None:
    """Each piece had a row of its own."""
    block, entry = in_block(2, 4)
    profile = replace(load_profile(), unit_mm=12.0, fit="none")
    pages = []
    for name in ("", "piece-with-a-very-long-name-of-forty-c"):
        pieces = renamed(block.pieces, name)
        one = replace(
            entry, pieces=(pieces[0].id,), solution={pieces[0].id: frozenset(entry.region)}
        )
        long = replace(block, pieces=pieces, boards=(), challenges=())
        read = Read.of(booklet(long, [one], profile).pdf, tmp_path)
        assert faults_of_words(read) == []
        pages.append(sum("The pieces" in text for text in read.texts))
        for piece in pieces:
            assert piece.id in "".join("".join(read.texts).split())
    assert pages[0] == pages[1]
