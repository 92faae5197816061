"""Booklets read back: what stands on their pages, how large it is, and in which words."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from importlib.metadata import version
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely
from shapely import affinity

from fabkit.cli import main
from fabkit.core.errors import InputError
from fabkit.model.entry import entry_of
from fabkit.model.puzzle import Challenge, Entry, Given, PuzzleSet
from fabkit.output.booklet.book import EDITIONS, render_booklet
from fabkit.output.booklet.piecepages import form_name
from fabkit.output.i18n import LANGUAGES, load_messages
from fabkit.output.numbering import NumberedChallenge, number_challenges
from fabkit.profiles.profile import Profile
from fabkit.profiles.profile_file import load_profile
from fabkit.sets.library import load_set
from tests.conftest import ROOT
from tests.support.booklets import TINT, Read, longest_line_mm, silhouette, some
from tests.support.built import built
from tests.support.entries import altered
from tests.support.pictures import cell_drawn, file_of, together

UNIT_MM = 20.0
#: Sharp tips, holes, parts of their own, and pieces on two lattices.
FEW = ("square_02", "rectangle_01", "triangle_01", "even4-02febfb20e", "mixed1-3-2910d98921")
#: 11 cells wide: on A4 it needs a larger page.
WIDE = "odd5-1690ad596e"
#: Within the 100 characters that a title may have.
LONG = "Ein langer Titel für eine einfache Aufgabe, der ganz bestimmt nicht in eine Zeile passt"
OF_40 = "a-board-with-a-very-very-long-name-of-40"
#: What belongs to the word before it, or after it, in one of the languages.
LOOSE = re.compile(r"^([:;!?%»×·]|mm\b)|«$")
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
def full(entries: list[Entry], tmp_path_factory: pytest.TempPathFactory) -> Read:
    folder = tmp_path_factory.mktemp("full")
    return read_of(folder, load_set("fridgeiq"), entries, edition="full-size")


@pytest.fixture(scope="module")
def play(entries: list[Entry], tmp_path_factory: pytest.TempPathFactory) -> Read:
    return read_of(tmp_path_factory.mktemp("play"), load_set("fridgeiq"), entries)


@pytest.fixture(scope="module")
def board() -> Entry:
    return some("iqfit", "board")[0]


def read_of(
    folder: Path, puzzle: PuzzleSet, entries: Sequence[Entry], *more: Any, **options: Any
) -> Read:
    """A booklet, whose words are all on their pages."""
    read = Read.of(render_booklet(puzzle, entries, load_profile(), *more, **options).pdf, folder)
    assert read.faults_of_words() == []
    return read


def levels_of(items: Sequence[NumberedChallenge]) -> list[str]:
    """The names of their levels, in order."""
    return list(dict.fromkeys(one.level.capitalize() for one in items))


def compact(text: str) -> str:
    """A text without its line ends."""
    return " ".join(text.split())


def colours_on(pixels: Any, puzzle: PuzzleSet) -> set[str]:
    """The pieces whose colours are on a page."""
    wanted = {one.id: [int(one.colour[i : i + 2], 16) for i in (1, 3, 5)] for one in puzzle.pieces}
    return {one for one, rgb in wanted.items() if (pixels == rgb).all(axis=2).sum() > 100}


# --- challenges and solutions -------------------------------------------------------------------


@pytest.mark.parametrize("edition", EDITIONS)
def test_links_contents_and_outline_lead_everywhere(
    edition: str, request: pytest.FixtureRequest, entries: list[Entry]
) -> None:
    read: Read = request.getfixturevalue("play" if edition == "play" else "full")
    items = number_challenges(load_set("fridgeiq"), entries, load_messages("booklet", "en"))
    links = {page: read.links(page) for page in range(1, len(read.texts) + 1)}
    for item in items:
        there = f"{item.number} {item.title}"
        pages = [page for page, text in enumerate(read.texts, 1) if there in compact(text)]
        assert len(pages) == 2, there  # the challenge, and its solution
        assert [
            to for says, to in links[pages[1]] if compact(says) == f"Challenge {item.title}"
        ] == [pages[0]]
        if edition == "play":
            assert (f"Solution to {item.title}", pages[1]) in links[pages[0]]
        else:
            assert (f"Solution: page {pages[1]}", pages[1]) in links[pages[0]]
    contents = [re.fullmatch(r"(.+): page (\d+)", says) for says, _ in links[2]]
    assert [(one[1], int(one[2])) for one in contents if one] == [
        (says.split(":")[0], to) for says, to in links[2]
    ]
    assert [one[1] for one in contents if one] == [*levels_of(items), "Solutions"]
    for says, to in links[2]:
        assert says.split(":")[0] in read.texts[to - 1]
    outline: Any = read.reader.outline
    assert [one.title for one in outline if not isinstance(one, list)] == [
        "FridgeIQ", "How to play", "The pieces", "Challenges", "Solutions",
    ]  # fmt: skip
    levels = next(one for one in outline if isinstance(one, list))
    assert [one.title for one in levels if not isinstance(one, list)] == levels_of(items)
    challenges = [one for level in levels if isinstance(level, list) for one in level]
    assert [one.title for one in challenges] == [f"{one.number} · {one.title}" for one in items]
    for one in challenges:
        page_of = read.reader.get_destination_page_number(one)
        assert one.title.split(" · ")[1] in compact(read.texts[page_of or 0])


def test_nothing_is_called_by_its_hash(play: Read, full: Read, entries: list[Entry]) -> None:
    for entry in entries:
        assert entry.challenge.id not in "".join(play.texts + full.texts)


def test_challenges_come_in_order_of_difficulty_with_titles_for_people(
    play: Read, full: Read
) -> None:
    for read in (play, full):
        text = compact(" ".join(read.texts[3:]))
        places = [text.index(one) for one in ("1 Triangle 1", "2 Rectangle 1", "3 Square 2")]
        assert places == sorted(places)
        fridgeiq = load_set("fridgeiq")
        pixels = read.pixels(read.page_with("Solutions", "Snowflake"), 100)
        assert colours_on(pixels, fridgeiq) == {piece.id for piece in fridgeiq.pieces}
        assert read.fonts()
        assert all(embedded and "OpenSans" in name for name, embedded in read.fonts())


@pytest.mark.integration
def test_what_is_given_is_drawn_and_what_is_not_known_is_not_claimed(
    entries: list[Entry], board: Entry, tmp_path: Path
) -> None:
    solution = board.solution or {}
    given = tuple(Given(one, solution[one]) for one in ("red", "navy"))
    read = read_of(tmp_path, load_set("iqfit"), [altered(board, given=given)])
    page = read.page_with("8 of 10 pieces to place · 10 × 5")
    pixels = read.pixels(page, 100)
    assert colours_on(pixels, load_set("iqfit")) == {"red", "navy"}
    # What is left to cover is tinted, unlike the paper, and its sockets are not.
    tinted = (pixels == [int(TINT[i : i + 2], 16) for i in (1, 3, 5)]).all(axis=2)
    rows, columns = (np.flatnonzero(tinted.any(axis=axis)) for axis in (1, 0))
    region = np.s_[rows[0] : rows[-1], columns[0] : columns[-1]]
    assert 0.1 < tinted[region].mean() < 0.4
    assert 0.3 < (pixels[region] == 255).all(axis=2).mean() < 0.7
    assert "already drawn in colour" in compact(read.texts[1])
    plain = altered(entries[0], level="", score=None, count=None, flips=True)
    least = altered(entries[1], count=1, count_complete=False, level="odd", score=1.0)
    for edition in EDITIONS:
        read = read_of(tmp_path, load_set("fridgeiq"), [plain, least], edition=edition)
        first = read.page_with("Not rated", "1 ")
        assert "may be turned over" in compact(" ".join(read.texts[first - 1 :]))
        assert "at least 1 solution" in compact(" ".join(read.texts[first - 1 :]))
        messages, guide = load_messages("booklet", "en"), compact(read.texts[1])
        assert messages["how_solutions_text"] in guide
        assert messages["how_solutions_more"] not in guide
        assert not colours_on(read.pixels(2, 60), load_set("fridgeiq"))


def test_counts_are_those_of_the_solver(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    cases = (("iqblock", "square"), ("iqfit", "board"))
    for (name, challenge), edition in zip(cases, EDITIONS, strict=True):
        assert main(["solve", name, challenge, "--count", "--json"]) == 0
        count = json.loads(capsys.readouterr().out)["count"]
        read = read_of(tmp_path, load_set(name), some(name, challenge), edition=edition)
        text = compact(" ".join(read.texts[2:]))
        (printed_count,) = set(re.findall(r"(at least )?(\d[\d,]*) solution", text))
        known = int(printed_count[1].replace(",", ""))
        assert known < count if printed_count[0] else known == count


# --- sizes --------------------------------------------------------------------------------------


def outlines_of(challenge: str) -> Any:
    """A challenge of FridgeIQ as its files draw it, in grid units: read here a second time."""
    catalog = json.loads((ROOT / "pieces/catalogs/fridgeiq.json").read_text())
    for entry in catalog["challenges"]:
        if entry["id"] == challenge:
            shape = together(cell_drawn("quarter-square", cell) for cell in entry["frame"])
            # Pieces on two lattices: units half as long.
            factor = 0.5 if entry.get("parity") == "mixed" else 1.0
            return affinity.scale(shape, factor, factor, origin=(0, 0))
    found = {one["id"]: one["outline"] for one in file_of("fridgeiq")["challenge"]}
    return shapely.Polygon(found[challenge])


def scales_on(text: str) -> list[tuple[int, int, float]]:
    """The headings of a page: the first and last number below each, and the scale."""
    heads = re.findall(r"^ ?(\d+)(?:–(\d+))? · 1 : ([\d.]+)$", text, re.MULTILINE)
    return [(int(first), int(last or first), float(scale)) for first, last, scale in heads]


def faults(read: Read, entries: Sequence[Entry], only: Collection[str] | None = None) -> list[str]:
    """What is wrong with a booklet's silhouettes of FridgeIQ: with those at their level's scale.

    The edition to play states it beside the level; at full size it is 1 : 1.
    """
    items = number_challenges(load_set("fridgeiq"), entries, load_messages("booklet", "en"))
    messages, seen = [], set()
    for page, stated in enumerate(read.texts, start=1):
        text, links = compact(stated), read.links(page)
        heads = scales_on(stated)
        here = [one for one in items if f"{one.number} {one.title}" in text]
        here = here if only is None or any(one.entry.challenge.id in only for one in here) else []
        if not here or not any(says.startswith("Solution") for says, _ in links):
            continue
        dpi = 400 if heads else 300
        parts = read.parts(page, read.pixels(page, dpi))
        for item, part in zip(here, parts, strict=True):
            seen.add(item.number)
            if item.entry.challenge.given:
                continue
            scale = next((head[2] for head in heads if head[0] <= item.number <= head[1]), 1.0)
            unit = UNIT_MM / scale
            most_mm = 0.1 if heads else 0.2
            wrong = silhouette(part, dpi, TINT).differs(
                outlines_of(item.entry.challenge.id), unit, most_mm
            )
            messages += [f"{item.title}: {one}" for one in wrong]
    return messages + [f"{one.title}: not shown" for one in items
                   if one.number not in seen and (only is None or one.entry.challenge.id in only)]  # fmt: skip


@pytest.mark.integration
def test_silhouettes_bar_and_pieces_are_as_large_as_they_should(
    play: Read, full: Read, entries: list[Entry]
) -> None:
    """Piece A is an L of 2 x 2 units, 0.1 mm smaller on each side, and its tip a flat of 1 mm."""
    assert faults(play, entries) == []
    assert faults(full, entries, [FEW[3]]) == []
    for page in (full.page_with("The pieces", "50 mm"), full.page_with("Solution: page")):
        pixels = full.pixels(page, 300)
        bar = pixels[-round(12 / 25.4 * 300) :, : round(80 / 25.4 * 300)]
        assert longest_line_mm(bar, 300) - 0.25 == pytest.approx(50, abs=0.1)
    pixels = full.pixels(full.page_with("The pieces", "50 mm"))
    measured = silhouette(pixels, 300, load_set("fridgeiq").piece("A").colour)
    # Its line is 0.2 mm wide.
    assert measured.outer_mm[1] - 0.2 == pytest.approx(39.8, abs=0.15)
    assert 38.0 < measured.outer_mm[0] - 0.2 < 39.8


@pytest.mark.integration
def test_a_large_shape_gets_a_page_to_fold_in_and_small_ones_share_one(tmp_path: Path) -> None:
    small = some("fridgeiq", *FEW, "square_03", "triangle_04")
    small = [replace(one, level="junior") for one in small]
    read = read_of(tmp_path, load_set("fridgeiq"), small, "en", "a4", edition="full-size")
    assert faults(read, small) == []
    assert len([text for text in read.texts if text.count("Solution: page") > 1]) >= 1
    wide = some("fridgeiq", WIDE)
    one = render_booklet(load_set("fridgeiq"), wide, load_profile(), edition="full-size")
    read = Read.of(one.pdf, tmp_path)
    assert (one.paper, one.notes) == ("a4", ("1 challenge has a larger page to fold in: A3",))
    page = read.page_with("Solution: page", "Fold-out page, A3: 297 × 420 mm")
    assert read.size_mm(page) == pytest.approx((297, 420), abs=0.01)
    assert faults(read, wide) == []
    bar = read.pixels(page)[-round(12 / 25.4 * 300) :, : round(80 / 25.4 * 300)]
    assert longest_line_mm(bar, 300) - 0.25 == pytest.approx(50, abs=0.1)
    assert {read.size_mm(n) for n in range(1, one.pages + 1) if n != page} == {read.size_mm(1)}
    assert "(A3)" in compact(read.texts[1])


@pytest.mark.integration
def test_what_is_beyond_all_pages_is_drawn_smaller_and_says_so(tmp_path: Path) -> None:
    profile, two = (
        replace(load_profile(), unit_mm=100.0),
        some("fridgeiq", "square_05", "square_01"),
    )
    one = render_booklet(load_set("fridgeiq"), two, profile, edition="full-size")
    read = Read.of(one.pdf, tmp_path)
    assert one.notes == (
        "1 challenge has a larger page to fold in: A2",
        "11 pieces have larger pages to fold in: A3",
        "square_05 is too large for full size and drawn smaller",
    )
    for name, title, unit_mm, text in (
        ("square_05", "Square 5", 100 / 2.5, "Scale 1 : 2.5. Too large for full size"),
        ("square_01", "Square 1", 100, "Fold-out page, A2"),
    ):
        page = read.page_with(title, text)
        assert silhouette(read.pixels(page), 300, TINT).differs(outlines_of(name), unit_mm) == []
        assert ("Scale" in read.texts[page - 1]) == (unit_mm != 100)
    block = load_set("iqblock")
    one = render_booklet(block, some("iqblock", "square"), replace(load_profile(), unit_mm=250.0),
                  edition="full-size")  # fmt: skip
    assert re.fullmatch("square, piece 0.*drawn smaller", *one.notes)
    read = Read.of(one.pdf, tmp_path)
    pieces = [text for text in read.texts if "Too large for full size" in text]
    assert len(pieces) == len(block.pieces) + 1
    assert sum("do not match this drawing" in text for text in pieces) == 1
    assert load_messages("booklet", "en")["how_scaled"] in compact(read.texts[1])


@pytest.mark.long
@pytest.mark.parametrize("edition", EDITIONS)
def test_every_silhouette_of_fridgeiq_is_at_its_scale(edition: str, tmp_path: Path) -> None:
    """But for those in the edition to play that tell a scale of their own."""
    solved = [one for one in some("fridgeiq") if one.solution]
    assert len(solved) >= 39 + 146
    if edition == "play":
        read = shipped_booklet("fridgeiq")
    else:
        read = read_of(tmp_path, load_set("fridgeiq"), solved, edition=edition)
    own = len(re.findall(r" · 1 : \d", compact(" ".join(read.texts)))) if edition == "play" else 0
    assert len(faults(read, solved)) <= 3 * own


def shipped_booklet(name: str) -> Read:
    """The booklet of a shipped set's challenges that have a solution, made once for all tests."""

    def make(folder: Path) -> None:
        solved = [entry for entry in some(name) if entry.solution]
        Read.of(render_booklet(load_set(name), solved, load_profile()).pdf, folder)

    libraries = [version(library) for library in ("reportlab", "fonttools", "pillow")]
    return Read(built(f"booklet-{name}", make, libraries) / "booklet.pdf")


@pytest.mark.integration
@pytest.mark.parametrize("name", ["fridgeiq", "iqfit", "iqstars", "iqblock", "cubimagici"])
def test_a_set_makes_a_pocket_booklet(name: str) -> None:
    entries = [one for one in some(name) if one.solution]
    read = shipped_booklet(name)
    assert len(read.texts) <= 60
    assert read.faults_of_words() == []
    items = number_challenges(load_set(name), entries, load_messages("booklet", "en"))
    text = compact(" ".join(read.texts[2:]))
    assert [one.title for one in items if text.count(f"{one.number} {one.title}") < 2] == []
    heads = [head for text in read.texts for head in scales_on(text)]
    numbers = [number for first, last, _ in heads for number in range(first, last + 1)]
    assert numbers == [item.number for item in items]


@pytest.mark.integration
@pytest.mark.parametrize(
    "name",
    [
        *("fridgeiq", "iqfit", "iqstars", "iqblock", "tangram"),
        pytest.param("calendar", marks=pytest.mark.long),
    ],
)
def test_no_third_of_a_page_is_blank(name: str) -> None:
    """But for the last page of the challenges, and that of their solutions."""
    read = shipped_booklet(name)
    ahead = sum(not text.startswith("Solutions") for text in read.texts)
    pages = set(range(1, len(read.texts))) - {ahead}
    blank = {page: read.blank_share(page) for page in sorted(pages)}
    assert {page: share for page, share in blank.items() if share > 1 / 3} == {}
    assert name != "iqfit" or len(read.texts) <= 22


@pytest.mark.integration
def test_the_end_of_a_title_is_not_alone_in_a_line(entries: list[Entry], tmp_path: Path) -> None:
    titled = [
        altered(entries[0], id=f"{n}", title=f"{'A' * n} Snowflake {end}", flips=n % 2 == 0)
        for n, end in product(range(4, 20), ("78", "4 a"))
    ]
    read = read_of(tmp_path, load_set("fridgeiq"), titled)
    lines = [line.strip() for text in read.texts[3:] for line in text.splitlines()]
    assert {f"Snowflake {end}" for end in ("78", "4 a")} < set(lines)
    assert [line for line in lines if line in ("78", "a", "4 a") or LOOSE.search(line)] == []


# --- to fold ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("paper", "size_mm"), [(None, (297.0, 210.0)), ("letter", (279.4, 215.9))])
def test_folded_sheets_read_in_order(
    paper: str | None, size_mm: tuple[float, float], entries: list[Entry], tmp_path: Path
) -> None:
    """Sheets lie in a pile, are folded in the middle, and turned page by page."""
    one = render_booklet(load_set("fridgeiq"), entries, load_profile(), paper=paper, fold=True)
    read = Read.of(one.pdf, tmp_path)
    assert one.sheets == -(-one.pages // 4)
    assert len(read.texts) == 2 * one.sheets
    for side in range(1, len(read.texts) + 1):
        assert read.size_mm(side) == pytest.approx(size_mm, abs=0.01)
    assert read.faults_of_words() == []
    assert all(embedded for _, embedded in read.fonts())
    halves: dict[tuple[int, bool], str] = {}
    for side, word, (left, top, *_) in read.words():
        if word.isdecimal() and top > size_mm[1] - 12:
            halves[side, left > size_mm[0] / 2] = word
    # From outside in: each sheet has two leaves, and each of these a front and a back.
    right = [[(2 * n + 1, True), (2 * n + 2, False)] for n in range(one.sheets)]
    left = [[(2 * n + 2, True), (2 * n + 1, False)] for n in reversed(range(one.sheets))]
    order = [halves.get(half, "") for leaf in [*right, *left] for half in leaf]
    numbers = ["", *map(str, range(2, one.pages + 1))]
    assert order == numbers + [""] * (4 * one.sheets - one.pages)
    # The cover is the right half of the first side.
    assert any(word == "FridgeIQ" and box[0] > size_mm[0] / 2
               for side, word, box in read.words() if side == 1)  # fmt: skip


def in_block(columns: int, rows: int) -> tuple[PuzzleSet, Entry, Profile]:
    """IQ Block, and a challenge of some columns and rows that one piece is claimed to cover."""
    block = load_set("iqblock")
    places = [(row, column) for row in range(rows) for column in range(columns)]
    cells = frozenset(cell for place in places for cell in block.lattice.cells_at(*place))
    challenge = Challenge("one", cells, ("0",), title="One")
    entry = entry_of(challenge).with_result(solution={"0": cells})
    return block, entry, replace(load_profile(), fit="none")


def test_a_page_is_chosen_with_the_lines_of_a_title(tmp_path: Path) -> None:
    """With one line it is just high enough."""
    block, entry, profile = in_block(2, 8)
    profile = replace(profile, unit_mm=20.5)
    titled = ([altered(entry, title=title)] for title in ("One", LONG))
    made = [render_booklet(block, one, profile, edition="full-size") for one in titled]
    assert [one.paper for one in made] == ["a5", "a4"]
    # Without magnets there is no warning of them.
    assert "agnet" not in "".join(Read.of(made[0].pdf, tmp_path).texts)


# --- words --------------------------------------------------------------------------------------


@pytest.mark.every(5)
@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_fits_on_the_smallest_paper(
    language: str, edition: str, entries: list[Entry], tmp_path: Path
) -> None:
    fridgeiq = load_set("fridgeiq")
    read = read_of(tmp_path, fridgeiq, entries[:3], language, "a5", edition=edition)
    messages = load_messages("booklet", language)
    assert "…" not in "".join(read.texts)
    for key in ("how", "warning", "pieces_heading", "solutions_heading"):
        assert any(compact(messages[key]) in compact(text) for text in read.texts), key
    guide = compact(read.texts[1])
    for key in ("warning_text", "how_solutions_text", "how_solutions_more"):
        assert compact(messages[key]) in guide, key
    if edition != "play":
        page = read.texts[read.page_with(messages["pieces_heading"], "50 mm") - 1]
        assert set(re.findall(r"\d+([.,])\d mm", page)) == set(messages["decimal"])
    catalog: Any = read.reader.trailer["/Root"]
    assert catalog["/Lang"] == language


@pytest.mark.integration
@pytest.mark.parametrize("language", LANGUAGES)
def test_boards_and_balls_in_every_language(language: str, board: Entry, tmp_path: Path) -> None:
    """The guide is one page, flat forms have names, and a licence is given if there is one."""
    messages = load_messages("booklet", language)
    for name, where in (("iqblock", "square"), ("iqstars", "board"), ("cubimagici", "tray")):
        one = some(name, where)
        read = read_of(tmp_path, load_set(name), one, language, edition="full-size")
        assert (compact(messages["warning"]) in compact(read.texts[1])) == (name != "iqstars")
    fit = load_set("iqfit")
    read = read_of(tmp_path, fit, [board], language, edition="full-size")
    assert "SmartGames" in read.texts[0]
    assert "not stated" not in read.texts[0]
    assert messages["pieces_heading"] in read.texts[2]
    # Pieces of balls may lie on another side, which is no turning over as of flat ones.
    assert messages["how_rolled"] in compact(read.texts[1])
    assert messages["how_turned"] not in compact(read.texts[1])
    lines = Counter(line for text in read.texts for line in text.splitlines())
    for piece in fit.pieces:
        for form in ("single", "double"):
            assert lines[f"{piece.id} ({piece.label}) · {form_name(messages, form)}"] == 1
    small = read_of(tmp_path, fit, [board], language)
    named = [f"{piece.label} · {piece.id}" for piece in fit.pieces]
    overview = small.texts[small.page_with(*named) - 1]
    assert [overview.count(name) for name in named] == [1] * len(named)
    licensed = replace(fit, credit=PuzzleSet.credit, licence="CC0")
    cover = read_of(tmp_path, licensed, [board], language).texts[0]
    assert messages["shapes"].partition("{")[0] not in cover
    assert compact(messages["licence"].format(licence="CC0")) in compact(cover)


@pytest.mark.every(4)
@pytest.mark.parametrize("language", LANGUAGES)
def test_lines_do_not_part_what_belongs_together(
    language: str, entries: list[Entry], tmp_path: Path
) -> None:
    for paper in ("a5", "a4"):
        for edition in EDITIONS:
            one = entries[:1]
            read = read_of(tmp_path, load_set("fridgeiq"), one, language, paper, edition=edition)
            lines = [line.strip() for text in read.texts for line in text.splitlines()]
            assert [line for line in lines if LOOSE.search(line)] == []


def test_every_form_and_every_snowflake_has_a_name(entries: list[Entry]) -> None:
    for messages in (load_messages("booklet", language) for language in LANGUAGES):
        others = [form_name(messages, other) for other in ("spine-9", "double", "triple-2")]
        names = "front", "back", "spine", "single", "double-2", "triple", "4-prong", "7-prong-3"
        for name in names:
            translated = form_name(messages, name)
            assert set(filter(str.isdigit, translated)) == set(filter(str.isdigit, name))
            assert translated not in others
    fridgeiq, messages = load_set("fridgeiq"), load_messages("booklet", "en")
    even = next(one for one in entries if one.parity == "even")
    (item,) = number_challenges(fridgeiq, [altered(even, id="mine", title="mine")], messages)
    assert item.title == "Snowflake 147"


# --- titles and names ---------------------------------------------------------------------------


@pytest.mark.integration
@pytest.mark.parametrize("edition", EDITIONS)
def test_long_titles_stand_whole_with_challenge_and_solution(edition: str, tmp_path: Path) -> None:
    two = some("fridgeiq", "square_02", "square_03")
    titled = [altered(two[0], title=LONG), altered(two[1], id=OF_40, title=OF_40)]
    read = read_of(tmp_path, load_set("fridgeiq"), titled, "en", "a5", edition=edition)
    text = " ".join(read.texts)
    assert compact(text).count(LONG) == 2
    assert compact(text).count("A board with a very very long name of 40") == 2
    if edition == "full-size":
        part = read.parts(page := read.page_with("Solution: page"), read.pixels(page, 300))[0]
        assert silhouette(part, 300, TINT).differs(outlines_of("square_02"), UNIT_MM) == []


@pytest.mark.integration
def test_long_names_stand_whole_and_do_not_run_into_each_other(tmp_path: Path) -> None:
    block, entry, profile = in_block(2, 4)
    name = "piece-with-a-very-long-name-of-forty-c"
    pieces = tuple(replace(piece, id=f"{piece.id}-{name}"[:40]) for piece in block.pieces)
    one = altered(entry, pieces=(pieces[0].id,), solution={pieces[0].id: entry.challenge.region})
    long = replace(block, pieces=pieces, boards=(), challenges=())
    profile = replace(profile, unit_mm=12.0)
    read = Read.of(render_booklet(long, [one], profile, edition=EDITIONS[1]).pdf, tmp_path)
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
    few = [altered(entries[0], id=f"id-{n}", title=title) for n, title in enumerate(HOSTILE)]
    puzzle = replace(load_set("fridgeiq"), title=" ".join(HOSTILE[:4]), credit=HOSTILE[4])
    one = render_booklet(puzzle, few, load_profile(), "en", paper)
    read = Read.of(one.pdf, tmp_path)
    assert read.faults_of_words() == []
    text = compact(" ".join(read.texts))
    for shown in ("<script>alert('1')</script>", "& <b>bold</b>", ") Tj ET /JS (x)", "���� ��"):
        assert shown in text
    assert [note for note in one.notes if "U+05D9" in note or "U+4E2D" in note]
    assert not {"\u202e", "\x1b", "\u2066", "\x00"} & set(text)
    for mark in (b"/JavaScript", b"/OpenAction", b"/Launch", b"/URI", b"/EmbeddedFile"):
        assert mark not in one.pdf


#: With tests/bad, which has unknown papers and languages, and a paper that is too small.
REFUSED: list[tuple[int, dict[str, Any], str | None, str]] = [
    (20, {"drop": True}, None, "fridgeiq: there are no challenges for a booklet"),
    (20, {"solution": None}, None, "fridgeiq: no solution is known of square_02"),
    (40, {}, "a5", "170 x 202.8 mm; the smallest paper that fits is a4"),
    (150, {}, "a4", "omit --paper to draw it smaller"),
]


def test_what_cannot_be_made_is_refused(entries: list[Entry]) -> None:
    (square,) = [one for one in entries if one.challenge.id == "square_02"]
    for unit_mm, changes, paper, message in REFUSED:
        few = [altered(square, **changes)] if "drop" not in changes else []
        profile = replace(load_profile(), unit_mm=unit_mm)
        with pytest.raises(InputError) as caught:
            render_booklet(load_set("fridgeiq"), few, profile, "en", paper, edition="full-size")
        error = str(caught.value)
        assert message in error
        assert "\n" not in error
        start = f"--paper: {paper} is too small: the challenge does"
        assert unit_mm == 20 or error.startswith(start)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"edition": "full"}, '--edition: there is no edition "full"; choose from play, full-size'),
        ({"edition": "full-size", "fold": True}, "--fold: pages at full size are not folded"),
        ({"paper": "a5", "fold": True}, "--paper: there is no booklet to fold of a5; there is one"),
        ({"paper": "a3", "fold": True}, '--paper: there is no paper "a3"'),
    ],
)
def test_what_cannot_be_folded_is_refused(
    options: dict[str, Any], message: str, entries: list[Entry]
) -> None:
    with pytest.raises(InputError) as caught:
        render_booklet(load_set("fridgeiq"), entries, load_profile(), **options)
    assert message in str(caught.value)
