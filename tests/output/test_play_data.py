"""What the page is played with, held against the model: ways to lie, cells, solutions, safe text."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fabkit.core.errors import InputError
from fabkit.model.entry import Entry, in_halves
from fabkit.model.lattice import Cell
from fabkit.model.library import load_set
from fabkit.model.piece import at_anchor, orientations
from fabkit.model.puzzle import PuzzleSet
from fabkit.output.i18n import LANGUAGES, load_words
from fabkit.output.web.document import POLICY, Download, index_html, page_files, style_sheet
from fabkit.output.web.playdata import Ways, data_script, play_data
from tests.support.drawings import snowflakes
from tests.support.playpages import entries_of

SHIPPED = ("fridgeiq", "iqfit", "iqblock", "iqstars", "cubimagici")
MIXED = "mixed1-4-eaa5febe52"


def pairs(flat: list[int]) -> Iterable[Cell]:
    return zip(flat[::2], flat[1::2], strict=True)


def read(script: str) -> Any:
    return json.loads(script.removeprefix("window.FABKIT = ").removesuffix(";\n"))


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("flips", [False, True])
def test_every_way_to_lie_is_reached_by_turns_and_flips(name: str, flips: bool) -> None:
    puzzle = load_set(name)
    for piece in puzzle.pieces:
        ways = Ways(puzzle.lattice, piece, flips)
        wanted = {one.cells for one in orientations(puzzle.lattice, piece, flips)}
        assert {one.cells for one in ways.all} == wanted
        reached, waiting = set[int](), [0]
        while waiting:
            way = waiting.pop()
            if way not in reached:
                reached.add(way)
                waiting += [ways.turned(way, 1), ways.turned(way, -1), ways.turned_over(way, flips)]
        assert reached == set(range(len(ways.all)))


@pytest.mark.parametrize("name", SHIPPED)
def test_turns_and_flips_are_those_of_the_plane(name: str) -> None:
    """One step turns counter-clockwise; turned over, a flat piece is mirrored from left to right."""
    puzzle = load_set(name)
    lattice = puzzle.lattice
    turn, mirror = lattice.symmetries[1], lattice.symmetries[len(lattice.moves(False))]
    for piece in puzzle.pieces:
        ways = Ways(lattice, piece, flips=True)
        for number, way in enumerate(ways.all):
            turned = ways.turned(number, 1)
            assert ways.all[turned].cells == at_anchor(lattice, map(turn, way.cells))
            assert ways.turned(turned, -1) == number
            if not piece.body:
                over = ways.all[ways.turned_over(number, flips=True)].cells
                assert over == at_anchor(lattice, map(mirror, way.cells))
                assert ways.turned_over(number, flips=False) == number


@pytest.mark.parametrize("name", SHIPPED)
def test_the_data_tells_what_follows_when_a_piece_is_turned(name: str) -> None:
    puzzle = load_set(name)
    turn = puzzle.lattice.symmetries[1]
    for piece in play_data(puzzle, [], 20.0)["pieces"]:
        for number, way in enumerate(piece["ways"]):
            left = piece["ways"][way["left"]]
            assert left["right"] == number
            turned = at_anchor(puzzle.lattice, map(turn, pairs(way["cells"])))
            assert set(pairs(left["cells"])) == turned
            assert ("flip" in way) == puzzle.flips
            assert ("over" in way) == (number < piece["plain"])
            if "over" in way:
                assert piece["ways"][way["over"]]["over"] == number


def test_a_ball_piece_turned_over_shows_its_other_form() -> None:
    puzzle = load_set("iqfit")
    for piece in puzzle.pieces:
        ways = Ways(puzzle.lattice, piece, flips=False)
        for number, way in enumerate(ways.all):
            over = ways.turned_over(number, flips=False)
            assert ways.all[over].form != way.form
            assert ways.turned_over(over, flips=False) == number


@pytest.mark.parametrize("only", ["triangle_01", MIXED])
def test_cells_of_the_data_are_those_of_the_entry(only: str) -> None:
    puzzle, entries = entries_of("fridgeiq", only)
    (entry,) = entries
    data = read(data_script(play_data(puzzle, entries, 20.0)))
    (told,) = data["entries"]
    assert set(pairs(told["cells"])) == entry.region
    lying = {}
    for place, way, dx, dy in told["solution"]:
        piece = data["pieces"][place]
        cells = frozenset(pairs(piece["ways"][way]["cells"]))
        fine = cells if entry.halves == 1 else in_halves(puzzle.lattice, cells)
        lying[piece["id"]] = frozenset((x + dx, y + dy) for x, y in fine)
    assert lying == entry.solution


def test_parts_of_cells_are_told_for_both_lattices() -> None:
    puzzle, entries = entries_of("fridgeiq", MIXED)
    told = play_data(puzzle, entries, 20.0)["lattice"]
    for kind in told["kinds"]:
        x, y = kind["at"]
        whole = in_halves(puzzle.lattice, [(x, y)])
        assert {(2 * x + dx, 2 * y + dy) for dx, dy in pairs(kind["parts"]["2"])} == whole
        assert kind["parts"]["1"] == [0, 0]


def test_labels_stand_in_their_pieces() -> None:
    from shapely import Point, Polygon

    for name in SHIPPED:
        puzzle = load_set(name)
        sx, sy = (float(step) ** 0.5 for step in puzzle.lattice.step_squared)
        for piece in play_data(puzzle, [], 20.0)["pieces"]:
            for way in piece["ways"]:
                outer, *holes = ([(x * sx, y * sy) for x, y in pairs(r)] for r in way["rings"])
                x, y, size = way["label"]
                assert Polygon(outer, holes).contains(Point(x * sx, y * sy).buffer(size / 4))


BAR = """
[set]
name = "bar"
lattice = "square"
moves = "rotations"
[[piece]]
id = "I"
rows = ["xxxx"]
"""


def test_the_label_of_a_straight_piece_stands_in_its_middle(tmp_path: Path) -> None:
    (tmp_path / "bar.toml").write_text(BAR)
    puzzle = load_set(str(tmp_path / "bar.toml"))
    ways = Ways(puzzle.lattice, puzzle.piece("I"), flips=False)
    assert len(ways.all) == 2
    for number, way in enumerate(ways.all):
        xs, ys = zip(*way.cells, strict=True)
        assert ways.label_spot(number)[:2] == (sum(xs) / 4, sum(ys) / 4)


def test_what_a_set_does_not_tell_is_left_out() -> None:
    puzzle = replace(load_set("iqstars"), credit="drawn by hand", licence=PuzzleSet.licence)
    for language in LANGUAGES:
        words = load_words("page", language)
        before = {key: words[key].split("{")[0] for key in ("credit", "licence")}
        page = index_html(puzzle, 20.0, language, viewer=False)
        assert f"<p>{before['credit']}<bdi>drawn by hand</bdi></p>" in page
        assert f"<p>{before['licence']}" not in page
        silent = replace(puzzle, credit=PuzzleSet.credit, licence="CC0")
        page = index_html(silent, 20.0, language, viewer=False)
        assert f"<p>{before['credit']}" not in page
        assert f"<p>{before['licence']}<bdi>CC0</bdi></p>" in page


def test_a_set_with_all_its_snowflakes_stays_small() -> None:
    puzzle = load_set("fridgeiq")
    entries = snowflakes()
    assert len(entries) == 146
    files = page_files(puzzle, entries, 20.0)
    assert len(files["data.js"]) < 500_000
    assert sum(len(content) for content in files.values()) < 1_500_000


def test_a_solution_that_is_none_is_refused() -> None:
    puzzle, (entry,) = entries_of("fridgeiq", "triangle_01")
    wrong = replace(entry, solution=dict.fromkeys(entry.pieces, entry.region))
    with pytest.raises(ValueError, match="cannot lie where it is said to"):
        play_data(puzzle, [wrong], 20.0)


HOSTILE = "</script><script>x()</script>\u2028\u202e\u2067\x00 \u05d0\"'`${x}&amp;"


def test_no_text_ends_the_script_or_the_markup() -> None:
    puzzle, (entry,) = entries_of("fridgeiq", "triangle_01")
    puzzle = replace(puzzle, title=HOSTILE, credit=HOSTILE, licence=HOSTILE)
    entry = replace(entry, title=HOSTILE)
    script = data_script(play_data(puzzle, [entry], 20.0))
    assert script.isascii()
    assert script.count("\n") == 1
    assert "<" not in script
    told = read(script)
    assert told["title"].startswith("</script><script>x()</script>")
    assert "\u202e" not in told["title"] + told["entries"][0]["title"]
    page = index_html(puzzle, 20.0, downloads=[Download("files/a b.stl", HOSTILE, HOSTILE)])
    assert page.count("<script") == page.count("<script defer src=") > 5
    assert "\u202e" not in page
    assert 'href="files/a%20b.stl"' in page


def test_the_page_has_no_script_or_style_inside_and_asks_for_nothing_else() -> None:
    page = index_html(load_set("fridgeiq"), 20.0, "de")
    assert '<html lang="de">' in page
    assert f'content="{POLICY}"' in page
    assert "default-src 'none'" in POLICY
    assert "unsafe" not in POLICY
    assert "<style" not in page
    assert " style=" not in page
    assert "http:" not in page + style_sheet()
    assert "https:" not in page + style_sheet()
    assert "$" not in page


def test_without_a_view_in_3d_nothing_of_it_is_asked_for() -> None:
    page = index_html(load_set("fridgeiq"), 20.0, viewer=False)
    assert "viewer" not in page
    for part in ('<section id="viewer"', '<canvas id="view"', 'id="apart"', 'id="view-note"'):
        assert part in index_html(load_set("fridgeiq"), 20.0)


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(InputError, match="the languages are en, de, it, fr"):
        index_html(load_set("fridgeiq"), 20.0, "es")


def test_an_entry_without_solution_has_none() -> None:
    puzzle = load_set("fridgeiq")
    entry = Entry("none", "None", "challenge", puzzle.boards[0].cells, ("A",), status="unknown")
    (told,) = play_data(puzzle, [entry], 20.0)["entries"]
    assert "solution" not in told
