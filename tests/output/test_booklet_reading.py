"""Booklets as their readers see them: right words in every language, and pages that are used."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from fabkit.build.showpiece import cover_picture
from fabkit.core.errors import OutsideError
from fabkit.model.catalogfile import shipped_snowflakes
from fabkit.model.entry import Entry
from fabkit.model.library import load_set
from fabkit.model.profilefile import load_profile
from fabkit.model.puzzle import PuzzleSet
from fabkit.output import words as words_module
from fabkit.output.booklet.book import booklet
from fabkit.output.booklet.items import items_of
from fabkit.output.booklet.typeset import lines_of
from fabkit.output.words import LANGUAGES, load_words
from tests.support.booklets import Read, faults_of_words, some

#: What belongs to the word before it, or after it, in one of the languages.
LOOSE = re.compile(r"^([:;!?%»×]|mm\b)|«$")


@pytest.fixture(scope="module")
def board() -> Entry:
    return some("iqfit", "board")[0]


def read_of(folder: Path, puzzle: PuzzleSet, entries: list[Entry], *more: str | None) -> Read:
    return Read.of(booklet(puzzle, entries, load_profile(), *more).pdf, folder)  # type: ignore[arg-type]


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_a_set_does_not_tell_of_itself_is_not_told(
    language: str, board: Entry, tmp_path: Path
) -> None:
    fit = load_set("iqfit")
    words = load_words("booklet", language)
    cover = read_of(tmp_path, fit, [board], language).texts[0]
    assert "SmartGames" in cover
    assert "not stated" not in cover
    nothing = replace(fit, credit=PuzzleSet.credit)
    cover = read_of(tmp_path, nothing, [board], language).texts[0]
    assert words["shapes"].partition("{")[0] not in cover
    licensed = replace(nothing, licence="CC0")
    cover = read_of(tmp_path, licensed, [board], language).texts[0]
    assert words["licence"].format(licence="CC0") in cover


@pytest.mark.parametrize("language", LANGUAGES)
def test_sizes_of_pieces_are_written_as_in_the_language(language: str, tmp_path: Path) -> None:
    block = load_set("iqblock")
    read = read_of(tmp_path, block, some("iqblock", "square"), language)
    page = read.texts[read.page_with(load_words("booklet", language)["bar"]) - 1]
    sizes = set(re.findall(r"\d+([.,])\d mm", page))
    assert sizes == {load_words("booklet", language)["decimal"]}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_guide_of_a_small_booklet_is_one_page(
    language: str, board: Entry, tmp_path: Path
) -> None:
    """It was two, of which the second held two lines."""
    read = read_of(tmp_path, load_set("iqfit"), [board], language)
    words = load_words("booklet", language)
    assert words["pieces_heading"] in read.texts[2]
    said = " ".join(read.texts[1].split())
    # Pieces of balls may lie on another side, which is no turning over as of flat ones.
    assert words["how_rolled"] in said
    assert words["how_turned"] not in said
    assert faults_of_words(read) == []


def test_balls_are_known_by_the_letters_of_challenges_and_solutions(
    board: Entry, tmp_path: Path
) -> None:
    fit = load_set("iqfit")
    read = read_of(tmp_path, fit, [board])
    for piece in fit.pieces:
        assert read.page_with(f"{piece.id} ({piece.label})")


def test_flat_solutions_share_a_page(board: Entry, tmp_path: Path) -> None:
    """There were three on a page of which the lower half was empty."""
    seven = [replace(board, id=f"board-{number}", title=f"Board {number}") for number in range(7)]
    read = read_of(tmp_path, load_set("iqfit"), seven)
    solutions = [page for page, text in enumerate(read.texts, 1) if "Challenge: page" in text]
    assert len(solutions) == 2
    pixels = read.pixels(solutions[0], 60)
    lower = pixels[pixels.shape[0] * 6 // 10 : pixels.shape[0] * 9 // 10]
    assert (lower.min(axis=2) < 200).mean() > 0.1


def test_what_is_too_large_for_any_paper_says_so_of_pieces_too(tmp_path: Path) -> None:
    block = load_set("iqblock")
    profile = replace(load_profile(), unit_mm=250.0)
    made = booklet(block, some("iqblock", "square"), profile)
    (note,) = made.notes
    assert note.startswith("square, piece 0")
    assert note.endswith("drawn smaller")
    read = Read.of(made.pdf, tmp_path)
    pieces = [text for text in read.texts if "Too large for full size" in text]
    assert len(pieces) == len(block.pieces) + 1
    assert sum("do not fit on this drawing" in text for text in pieces) == 1
    assert load_words("booklet", "en")["how_scaled"] in " ".join(read.texts[1].split())


def test_larger_pages_for_pieces_are_told() -> None:
    block = load_set("iqblock")
    profile = replace(load_profile(), unit_mm=70.0)
    notes = booklet(block, some("iqblock", "square"), profile).notes
    assert any("pieces have larger pages to fold in: A3" in note for note in notes)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("width_mm", [40.0, 66.0, 93.0, 124.0, 186.0])
def test_lines_do_not_part_what_belongs_together(language: str, width_mm: float) -> None:
    for key, text in load_words("booklet", language).items():
        lines = lines_of(text, 3.6, width_mm)
        assert [line for line in lines if LOOSE.search(line)] == [], key
        assert " ".join(lines) == " ".join(text.split())


@pytest.mark.parametrize("name", ["odd-one", "mine"])
def test_a_snowflake_is_called_by_what_it_is_and_not_by_its_id(name: str) -> None:
    fridgeiq = load_set("fridgeiq")
    even = next(one for one in shipped_snowflakes(fridgeiq) if one.id == "even4-0057708264")
    (item,) = items_of(fridgeiq, [replace(even, id=name, title=name)], load_words("booklet", "en"))
    assert item.title == "Snowflake 1 (even, 8 × 8)"


def test_one_piece_is_not_all_one_pieces(tmp_path: Path) -> None:
    block = load_set("iqblock")
    one = replace(block, pieces=block.pieces[:1], boards=(), challenges=())
    cells = one.pieces[0].forms[0].cells
    entry = Entry("one", "One", "challenge", cells, ("0",), solution={"0": cells})
    for language in LANGUAGES:
        read = read_of(tmp_path, one, [entry], language)
        assert "All 1" not in "".join(read.texts)


@pytest.mark.parametrize("content", [b"= no TOML", b"how = '\xff'"])
def test_damaged_texts_are_told(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "words").mkdir()
    (tmp_path / "words" / "booklet.de.toml").write_bytes(content)
    monkeypatch.setattr(words_module, "__file__", str(tmp_path / "words.py"))
    words_module._read.cache_clear()
    with pytest.raises(OutsideError, match=r"^booklet\.de\.toml, .* damaged; install fabkit again"):
        load_words("booklet", "de")


def test_long_names_of_pieces_do_not_run_into_each_other(tmp_path: Path) -> None:
    block = load_set("iqblock")
    named = [
        replace(piece, id=f"{piece.id}-{'a-very-long-name-' * 2}") for piece in block.pieces[:4]
    ]
    cells = named[0].forms[0].cells
    short = replace(block, pieces=tuple(named), boards=(), challenges=())
    solution = {named[0].id: cells}
    entry = Entry("one", "One", "challenge", cells, (named[0].id,), solution=solution)
    read = read_of(tmp_path, short, [entry])
    found = [(page, word, box) for page, word, box, _ in read.words() if "very-long" in word]
    boxes = [(page, box) for page, word, box in found if word in solution or word[0] in "123"]
    assert len({word for _, word, _ in found}) == 4
    for place, (page, (left, top, right, bottom)) in enumerate(boxes):
        for other, (left_2, top_2, right_2, bottom_2) in boxes[place + 1 :]:
            apart = right <= left_2 or right_2 <= left or bottom <= top_2 or bottom_2 <= top
            assert apart or page != other


@pytest.mark.long
def test_the_cover_shows_a_challenge_on_two_lattices() -> None:
    """It was left out, and the page drew a picture of its own."""
    fridgeiq = load_set("fridgeiq")
    (entry,) = some("fridgeiq", "mixed1-3-2910d98921")
    picture = cover_picture(fridgeiq, [entry], replace(load_profile(), fit="none"))
    with Image.open(io.BytesIO(picture)) as image:
        pixels = np.asarray(image.convert("HSV")).reshape(-1, 3)
    hues = np.bincount(pixels[pixels[:, 1] > 80][:, 0] // 16, minlength=16)
    assert (hues > 500).sum() >= 6, "the pieces have many colours"
