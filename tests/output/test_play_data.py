"""The data of the page, held against the model: ways to lie, cells, solutions, safe text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from shapely import Point, Polygon

from fabkit.core.errors import InputError
from fabkit.model.entry import subdivide
from fabkit.model.lattice import Cell
from fabkit.model.piece import marked_images, normalize_cells, orientations
from fabkit.model.puzzle import Given, PuzzleSet
from fabkit.output.i18n import LANGUAGES, load_messages
from fabkit.output.web.document import POLICY, Download, page_files, style_sheet
from fabkit.output.web.linker import link
from fabkit.output.web.playdata import data_script, play_data
from fabkit.sets.library import load_set
from fabkit.solve.difficulty import solving_order
from tests.conftest import ROOT
from tests.support.drawings import snowflakes
from tests.support.entries import altered
from tests.support.playpages import entries_of

SHIPPED = ("fridgeiq", "iqfit", "balls12", "iqblock", "iqstars", "cubimagici")


def pairs(flat: list[int]) -> Iterable[Cell]:
    return zip(flat[::2], flat[1::2], strict=True)


@pytest.mark.in_turn
@pytest.mark.parametrize("name", SHIPPED)
def test_turns_and_flips_are_those_of_the_plane(name: str) -> None:
    """One step turns counter-clockwise; turned over, a flat piece is mirrored from left to right,
    and one of balls shows another form. So every way to lie is reached."""
    puzzle = load_set(name)
    lattice, anchored = puzzle.lattice, normalize_cells
    sx, sy = (float(step) ** 0.5 for step in lattice.step_squared)
    turn, mirror = lattice.symmetries[1], lattice.symmetries[len(lattice.moves(False))]
    for flips in (False, True):
        pieces = play_data(replace(puzzle, flips=flips), [], 20.0)["pieces"]
        for piece, data in zip(puzzle.pieces, pieces, strict=True):
            oriented, plain = data["orientations"], data["plain"]
            cells = [frozenset(pairs(orientation["cells"])) for orientation in oriented]
            assert set(cells) == {one.cells for one in orientations(lattice, piece, flips)}
            assert set(cells[:plain]) == {one.cells for one in orientations(lattice, piece, False)}
            over, reached, waiting = "flip" if flips else "over", set[int](), [0]
            while waiting:
                number = waiting.pop()
                if number not in reached:
                    reached.add(number)
                    waiting += [oriented[number][key] for key in ("left", "right", over)]
            assert reached == set(range(len(oriented)))
            for number, orientation in enumerate(oriented):
                assert cells[orientation["left"]] == anchored(lattice, map(turn, cells[number]))
                assert oriented[orientation["left"]]["right"] == number
                assert ("flip" in orientation, "over" in orientation) == (flips, number < plain)
                if flips and not piece.body:
                    mirrored = anchored(lattice, map(mirror, cells[number]))
                    assert cells[orientation["flip"]] == mirrored
                if "over" in orientation:
                    assert (orientation["over"] == number) == (len(piece.forms) == 1)
                    assert oriented[orientation["over"]]["over"] == number
                rings = map(pairs, orientation["rings"])
                outer, *holes = ([(x * sx, y * sy) for x, y in ring] for ring in rings)
                x, y, size = orientation["label"]
                assert Polygon(outer, holes).contains(Point(x * sx, y * sy).buffer(size / 4))


def test_orientations_show_the_marks_of_their_side() -> None:
    puzzle = load_set(str(ROOT / "tests" / "sets" / "pegs.toml"))
    data = play_data(puzzle, [], 20.0)
    for piece, document in zip(puzzle.pieces, data["pieces"], strict=True):
        oriented = document["orientations"]
        shown = []
        for one in oriented:
            marks = [(cell, mark) for mark, flat in one["marks"].items() for cell in pairs(flat)]
            shown.append((frozenset(pairs(one["cells"])), tuple(sorted(marks))))
        assert len(set(shown)) == len(shown)
        assert set(shown) == marked_images(puzzle.lattice, piece, flips=True)
        for number, one in enumerate(oriented):
            assert oriented[one["flip"]]["flip"] == number
            looks = {look for look, *_ in one["looks"]}
            assert looks == {puzzle.marks[mark] for mark in one["marks"]}


@pytest.mark.parametrize(
    "only", [pytest.param("triangle_01", marks=pytest.mark.integration), "mixed1-4-eaa5febe52"]
)
def test_the_data_is_that_of_the_entry(only: str) -> None:
    puzzle, (entry,) = entries_of("fridgeiq", only)
    script = data_script(play_data(puzzle, [entry], 20.0))
    data = json.loads(script.removeprefix("window.FABKIT = ").removesuffix(";\n"))
    (challenge,) = data["entries"]
    layout = {}
    for place, orientation, dx, dy in challenge["solution"]:
        piece = data["pieces"][place]
        cells = frozenset(pairs(piece["orientations"][orientation]["cells"]))
        fine = cells if entry.halves == 1 else subdivide(puzzle.lattice, cells)
        layout[piece["id"]] = frozenset((x + dx, y + dy) for x, y in fine)
    assert layout == entry.solution
    assert "cells" not in challenge  # the solution covers them
    assert frozenset().union(*layout.values()) == entry.challenge.region
    found = [data["pieces"][place]["id"] for place in challenge["order"]]
    assert found == [step.piece for step in solving_order(puzzle, entry)]
    texts = {language: texts["next"] for language, texts in data["translations"].items()}
    assert texts == {name: load_messages("page", name)["next"] for name in LANGUAGES}
    assert len({data["titles"][language][0] for language in LANGUAGES}) > 1
    for kind in data["lattice"]["kinds"]:
        (x, y), parts = kind["at"], kind["parts"]
        assert parts["1"] == [0, 0]
        if entry.halves == 2:
            fine = subdivide(puzzle.lattice, [(x, y)])
            assert {(2 * x + dx, 2 * y + dy) for dx, dy in pairs(parts["2"])} == fine
    unsolved = altered(entry, solution=None, status="unknown")
    (bare,) = play_data(puzzle, [unsolved], 20.0)["entries"]
    assert "solution" not in bare
    assert set(pairs(bare["cells"])) == entry.challenge.region
    # What is kept of it is kept of no other of its name.
    first, cells = next(iter((entry.solution or {}).items()))
    twins = (
        unsolved,
        altered(unsolved, given=(Given(first, cells),)),
        altered(unsolved, flips=not entry.challenge.flips),
        altered(unsolved, pieces=entry.challenge.pieces[1:]),
        altered(unsolved, region=entry.challenge.region - cells),
    )
    marks = {play_data(puzzle, [one], 20.0)["entries"][0]["mark"] for one in twins}
    assert len(marks) == len(twins)
    wrong = altered(entry, solution=dict.fromkeys(entry.challenge.pieces, entry.challenge.region))
    with pytest.raises(ValueError, match="does not cover its cells"):
        play_data(puzzle, [wrong], 20.0)


def index_html(puzzle: PuzzleSet, language: str = "", **options: Any) -> str:
    return page_files(puzzle, [], 20.0, language, **options)["index.html"].decode()


def test_the_label_of_a_straight_piece_stands_in_its_middle(tmp_path: Path) -> None:
    text = 'set = { name = "bar", lattice = "square", moves = "rotations" }\n'
    (tmp_path / "bar.toml").write_text(text + 'piece = [{ id = "I", rows = ["xxxx"] }]\n')
    puzzle = load_set(str(tmp_path / "bar.toml"))
    for orientation in play_data(puzzle, [], 20.0)["pieces"][0]["orientations"]:
        xs, ys = orientation["cells"][::2], orientation["cells"][1::2]
        assert orientation["label"][:2] == [sum(xs) / 4, sum(ys) / 4]


@pytest.mark.integration
def test_a_set_with_all_its_snowflakes_stays_small() -> None:
    entries = snowflakes()
    assert len(entries) == 146
    files = page_files(load_set("fridgeiq"), entries, 20.0)
    assert len(files["data.js"]) < 500_000
    assert sum(len(content) for content in files.values()) < 1_500_000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('import { b } from "./b.js";\r\nexport const a = () => b + 1;\r\n', ""),
        (
            'import b from "./b.js";',
            "a.js: cannot be linked: 'import b from \"./b.js\";'; expected only",
        ),
        ("export let a = 1;", "a.js: cannot be linked: 'export let a = 1;'"),
        ('import { c } from "./b.js";', "a.js: b.js does not export c"),
        ('import { b } from "./b.js";\nexport class b {}', "a.js: exports b, as b.js does"),
        ('import { a } from "./a.js";', "a.js: imports itself: a.js -> a.js"),
    ],
)
def test_modules_are_linked_or_refused(tmp_path: Path, text: str, message: str) -> None:
    import quickjs

    (tmp_path / "a.js").write_text(text, newline="")
    (tmp_path / "b.js").write_text("const hidden = 1;\nexport const b = hidden;\n")
    if message:
        with pytest.raises(ValueError, match=re.escape(message)):
            link(tmp_path, "a.js")
    else:
        script = link(tmp_path, "a.js") + "[fabkitPlay.a(), typeof hidden].join()"
        assert quickjs.Context().eval(script) == "2,undefined"


HOSTILE = "</script><script>x()</script>\u2028\u202e\u2067\x00 \u05d0\"'`${x}&amp;"


def test_no_text_ends_the_script_or_the_markup() -> None:
    puzzle, (entry,) = entries_of("fridgeiq", "triangle_01")
    puzzle = replace(puzzle, title=HOSTILE, credit=HOSTILE, licence=HOSTILE)
    data = play_data(puzzle, [altered(entry, title=HOSTILE)], 20.0)
    for title in (data["title"], data["titles"]["de"][0]):
        assert title.startswith("</script><script>x()</script>")
        assert "\u202e" not in title
    script = data_script(data)
    assert script.isascii()
    assert script.count("\n") == 1
    assert "<" not in script
    page = index_html(puzzle, downloads=[Download("files/a b.stl", HOSTILE, HOSTILE)])
    assert page.count("<script") == page.count("<script defer src=") == 2
    assert "\u202e" not in page
    assert 'href="files/a%20b.stl"' in page


def test_the_page_has_no_script_or_style_inside_and_asks_for_nothing_else() -> None:
    page = index_html(load_set("fridgeiq"), "de")
    assert '<html lang="de">' in page
    assert f'content="{POLICY}"' in page
    kinds = dict(one.split(" ", 1) for one in POLICY.split("; "))
    assert kinds["default-src"] == kinds["base-uri"] == "'none'"
    assert set(kinds.values()) == {"'none'", "'self' file:"}
    for part in ("<style", " style=", "$", "http:", "https:"):
        assert part not in page
    assert "http" not in style_sheet()
    parts = ('<section id="viewer"', '<canvas id="view"', 'id="apart"', 'id="view-note"')
    assert all(part in page for part in parts)
    assert "viewer" not in index_html(load_set("fridgeiq"), viewer=False)
    with pytest.raises(InputError, match="choose from en, de, it, fr"):
        index_html(load_set("fridgeiq"), "es")


def test_what_a_set_does_not_tell_is_left_out() -> None:
    puzzle = replace(load_set("iqstars"), credit=PuzzleSet.credit, licence=PuzzleSet.licence)
    for language in LANGUAGES:
        messages = load_messages("page", language)
        before = {key: messages[key].split("{")[0] for key in ("credit", "licence")}
        for key, words_before in before.items():
            page = index_html(replace(puzzle, **{key: "told"}), language, viewer=False)
            assert [one for one, text in before.items() if f">{text}<bdi>" in page] == [key]
            assert f'<p data-around="{key}">{words_before}<bdi>told</bdi></p>' in page
