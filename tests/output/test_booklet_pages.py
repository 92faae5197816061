"""What stands in booklets: every challenge and its solution, in every set and language."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fabkit.core.errors import InputError
from fabkit.model.entry import Entry
from fabkit.model.library import load_set
from fabkit.model.profilefile import load_profile
from fabkit.model.puzzle import Given
from fabkit.output.booklet.book import booklet
from fabkit.output.words import LANGUAGES, load_words
from tests.conftest import ROOT
from tests.support.booklets import Read, faults_of_words, made, some

BOARDS = {"iqfit": "board", "iqblock": "square", "iqstars": "board", "cubimagici": "tray"}
FEW = ("square_02", "rectangle_01", "triangle_01", "even4-02febfb20e", "mixed1-3-2910d98921")
#: Makes a booklet of which the hash is told.
HASHED = """
import hashlib
from tests.support.booklets import made
print(hashlib.sha256(made("fridgeiq", "square_01", "even4-02febfb20e").pdf).hexdigest())
"""


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    return some("fridgeiq", *FEW)


@pytest.fixture(scope="module")
def read(entries: list[Entry], tmp_path_factory: pytest.TempPathFactory) -> Read:
    pdf = booklet(load_set("fridgeiq"), entries, load_profile()).pdf
    return Read.of(pdf, tmp_path_factory.mktemp("booklet"))


def unsolved(read: Read, ids: Sequence[str]) -> list[str]:
    """Challenges that have no page, or whose page does not lead to their solution and back."""
    told = []
    for name in ids:
        pages = [n for n, text in enumerate(read.texts, 1) if name in text.split()]
        links = {
            to for page in pages for says, to in read.links(page) if says.startswith("Solution")
        }
        back = {
            to for page in links for says, to in read.links(page) if says.startswith("Challenge")
        }
        if len(pages) != 1 or not links or pages[0] not in back:
            told.append(name)
    return told


def test_every_challenge_has_a_page_and_a_solution(read: Read) -> None:
    assert unsolved(read, FEW) == []
    assert unsolved(read, ["square_01"]) == ["square_01"]


def test_solutions_show_every_piece_in_its_colour(read: Read, entries: list[Entry]) -> None:
    fridgeiq = load_set("fridgeiq")
    page = read.pixels(read.page_with("Solutions", "Snowflake 1"), 100)
    for piece in fridgeiq.pieces:
        wanted = [int(piece.colour[i : i + 2], 16) for i in (1, 3, 5)]
        assert (page == wanted).all(axis=2).sum() > 100, piece.id


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


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_fits_on_the_smallest_paper(
    language: str, entries: list[Entry], tmp_path: Path
) -> None:
    few = [one for one in entries if one.id in FEW[:3]]
    one = booklet(load_set("fridgeiq"), few, load_profile(), language, "a5")
    read, words = Read.of(one.pdf, tmp_path), load_words("booklet", language)
    assert faults_of_words(read) == []
    assert "…" not in "".join(read.texts)
    for key in ("how", "warning", "pieces_heading", "index"):
        assert any(words[key] in text for text in read.texts), key
    said = " ".join(read.texts[1].split())
    assert words["warning_text"] in said
    catalog: Any = read.reader.trailer["/Root"]
    assert catalog["/Lang"] == language


@pytest.mark.parametrize(("name", "language"), zip(BOARDS, LANGUAGES, strict=True))
def test_every_set_gets_a_booklet(name: str, language: str, tmp_path: Path) -> None:
    from fabkit.model.profilefile import load_profile

    puzzle = load_set(name)
    board = puzzle.boards[0].cells
    profile = load_profile(unit_mm=puzzle.unit_mm)
    (entry,) = some(name, BOARDS[name])
    one = booklet(puzzle, [entry], profile, language)
    read = Read.of(one.pdf, tmp_path)
    assert entry.region == board
    assert faults_of_words(read) == []
    warned = load_words("booklet", language)["warning"] in read.texts[1]
    assert warned == (name in ("iqblock", "cubimagici"))


def test_sets_without_magnets_do_not_warn_of_them(entries: list[Entry], tmp_path: Path) -> None:
    profile = replace(load_profile(), fit="none")
    read = Read.of(booklet(load_set("fridgeiq"), entries[:1], profile).pdf, tmp_path)
    assert "agnet" not in "".join(read.texts)


def test_given_pieces_are_drawn_and_not_named(tmp_path: Path) -> None:
    fit = load_set("iqfit")
    (entry,) = some("iqfit", "board")
    assert entry.solution
    given = tuple(Given(one, entry.solution[one]) for one in ("red", "navy"))
    read = Read.of(booklet(fit, [replace(entry, given=given)], load_profile()).pdf, tmp_path)
    page = read.page_with("All 10 pieces · 2 of them lie there already")
    pixels = read.pixels(page, 100)
    for piece in fit.pieces:
        wanted = [int(piece.colour[i : i + 2], 16) for i in (1, 3, 5)]
        assert ((pixels == wanted).all(axis=2).sum() > 100) == (piece.id in ("red", "navy"))
    assert "given" in read.texts[1]


def test_what_is_not_known_is_not_claimed(entries: list[Entry], tmp_path: Path) -> None:
    plain = replace(entries[0], level="", score=None, count=None, flips=True)
    least = replace(entries[1], count=1, count_complete=False, level="odd", score=1.0)
    one = booklet(load_set("fridgeiq"), [plain, least], load_profile())
    read = Read.of(one.pdf, tmp_path)
    pages = [read.page_with("Challenges · Not rated", one.id) for one in (least, plain)]
    assert pages == sorted(pages)
    assert "1 solution or more" in read.texts[pages[0] - 1]
    assert "may be turned over" in read.texts[pages[1] - 1]
    assert "stars" not in read.texts[1]


HOSTILE = (
    "<script>alert('1')</script>",
    'say "hello" \u202eesrever\u202c & <b>bold</b>',
    ") Tj ET\n/JS (x)",
    "שלום 中文 🧩",
    "long " * 900,
    "\x00\x1b]0;x\x07 \u2066",
)


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
    text = " ".join(" ".join(read.texts).split())
    for shown in ("<script>alert('1')</script>", "& <b>bold</b>", ") Tj ET /JS (x)", "���� ��"):
        assert shown in text
    assert [note for note in one.notes if "U+05D9" in note or "U+4E2D" in note]
    assert not {"\u202e", "\x1b", "\u2066", "\x00"} & set(text)
    for mark in (b"/JavaScript", b"/OpenAction", b"/Launch", b"/URI", b"/EmbeddedFile"):
        assert mark not in one.pdf


@pytest.mark.long  # a small booklet is held against itself in test_booklet_command
def test_two_processes_make_the_same_bytes() -> None:
    hashes = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        hashes.add(
            subprocess.run(
                [sys.executable, "-c", HASHED],
                check=True, capture_output=True, text=True, cwd=ROOT, env=environment,
            ).stdout.strip()
        )  # fmt: skip
    here = hashlib.sha256(made("fridgeiq", "square_01", "even4-02febfb20e").pdf).hexdigest()
    assert hashes == {here}


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
