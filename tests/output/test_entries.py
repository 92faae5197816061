"""Entries: what booklet and page show is what the sets and files say, held against shapely."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely

from fabkit.build.entries import NothingToShowError, Selection, gather, solved_ones
from fabkit.core.errors import InputError
from fabkit.model.catalog import shipped_snowflakes
from fabkit.model.entry import Entry, Images, wrong_with
from fabkit.model.lattice import Cell
from fabkit.model.library import load_set
from fabkit.model.puzzle import PuzzleSet
from tests.conftest import ROOT
from tests.support.drawings import snowflakes

FRIDGEIQ = load_set("fridgeiq")
CATALOG: dict[str, Any] = json.loads((ROOT / "pieces/catalogs/fridgeiq.json").read_text())
SAID: dict[str, dict[str, Any]] = {entry["id"]: entry for entry in CATALOG["challenges"]}
#: One of each parity, the last of which needs flips.
FEW = ("even4-0057708264", "odd3-050283cb59", "mixed1-3-2910d98921")


# --- the shipped catalog, by shapely ----------------------------------------------------------------


def drawn(entry: Entry, cells: Iterable[Cell]) -> Any:
    """Cells of the quarter-square lattice as shapely has them, in grid units."""
    steps = 6 * entry.halves
    rings = [np.array(FRIDGEIQ.lattice.ring(cell)) / steps for cell in sorted(cells)]
    return shapely.union_all(shapely.polygons(rings), grid_size=1 / 12)


def stated(outline: Any, parity: str) -> Any:
    """An outline of the catalog (a ring, or rings with holes), where the lattice has its cells."""
    rings = outline if isinstance(outline[0][0], list) else [outline]
    shift = 0.5 if parity == "odd" else 0.0
    moved = [np.array(ring) + shift for ring in rings]
    found = shapely.polygons(moved[0])
    for hole in moved[1:]:
        # A hole that touches itself is none in shapely's eyes: taken away, it is.
        found = found.difference(shapely.make_valid(shapely.polygons(hole)), grid_size=1 / 12)
    return found


def differs(one: Any, other: Any) -> float:
    return float(one.symmetric_difference(other, grid_size=1 / 12).area)


def test_every_snowflake_lies_as_the_catalog_draws_it() -> None:
    entries = snowflakes()
    assert [entry.id for entry in entries] == list(SAID)
    assert len(entries) == 146
    assert Counter(entry.halves for entry in entries) == {1: 134, 2: 12}
    for place, entry in enumerate(entries):
        said = SAID[entry.id]
        if place % 6 == 0:
            outlines = [stated(one, said["parity"]) for one in said["outlines"]]
            region = drawn(entry, entry.region)
            assert region.area == pytest.approx(40, abs=1e-9)
            assert sum(one.area for one in outlines) == pytest.approx(40, abs=1e-9)
            assert differs(region, shapely.union_all(outlines, grid_size=1 / 12)) < 1e-9
        assert entry.solution is not None
        # The cells of the pieces are as many as the region's, and the same: they cover it exactly.
        assert Counter(c for cells in entry.solution.values() for c in cells) == Counter(
            entry.region
        )
        assert (entry.status, entry.flips, entry.given) == ("solved", said["flips"], ())
        assert entry.parity == said["parity"]
        assert (entry.count, entry.count_complete) == (said["count"], said["count_complete"])
        assert {"level": entry.level, "score": entry.score} == said["difficulty"]


def test_every_piece_lies_as_the_catalog_draws_it() -> None:
    for entry in snowflakes()[::-30]:
        said = SAID[entry.id]
        assert entry.solution is not None
        assert set(entry.solution) == set(said["solution"])
        for piece, outline in said["solution"].items():
            assert (
                differs(drawn(entry, entry.solution[piece]), stated(outline, said["parity"])) < 1e-9
            )


def test_a_set_of_other_pieces_has_no_catalog(tmp_path: Path) -> None:
    path, text = tmp_path / "fridgeiq.toml", (ROOT / "pieces/fridgeiq.toml").read_text()
    path.write_text(text + "\n# mine\n")
    assert len(shipped_snowflakes(load_set(str(path)))) == len(SAID)
    right_angled = text.replace("[[0, 0], [2, 0], [1, 1]]", "[[0, 0], [2, 0], [0, 2]]")
    path.write_text(right_angled.replace("area = 40\n", ""))
    assert shipped_snowflakes(load_set(str(path))) == []


# --- what is there ----------------------------------------------------------------------------------


@pytest.mark.long
def test_everything_of_fridgeiq() -> None:
    told: list[tuple[int, int, str]] = []
    entries = gather(FRIDGEIQ, progress=lambda *step: told.append(step))
    assert told[0] == (0, 187, "square_01")
    assert told[-1] == (187, 187, "")
    kinds = Counter((entry.kind, entry.status) for entry in entries)
    assert kinds == {
        ("challenge", "solved"): 39,
        ("challenge", "impossible"): 2,
        ("snowflake", "solved"): 146,
    }
    images = Images(FRIDGEIQ)
    assert [one.id for one in entries if one.solution and wrong_with(one, images)] == []
    assert all(entry.level and entry.score and entry.count for entry in entries if entry.solution)
    found, notes = solved_ones(FRIDGEIQ, entries, Selection())
    assert len(found) == 185
    assert notes == [
        "rectangle_02_b has no solution; it is left out",
        "rectangle_08_c has no solution; it is left out",
    ]


@pytest.mark.parametrize(
    ("name", "challenge"),
    [
        ("iqstars", "board"),
        pytest.param("iqfit", "board", marks=pytest.mark.integration),
        ("fridgeiq", "square_01"),
        pytest.param("fridgeiq", "square_06", marks=pytest.mark.integration),
    ],
)
def test_the_rating_is_that_of_solve(name: str, challenge: str, said: Callable[..., Any]) -> None:
    (entry,) = gather(load_set(name), Selection(only=(challenge,)))
    document = said("solve", name, challenge, "--difficulty")
    rating = document["difficulty"]
    assert (entry.level, entry.score) == (rating["level"], rating["score"])
    assert entry.count == rating["solutions"]
    if entry.count_complete:
        assert said("solve", name, challenge, "--count")["count"] == entry.count


@pytest.mark.parametrize(("name", "kind"), [("iqblock", "board"), ("iqstars", "board")])
def test_a_board_is_there_once(name: str, kind: str) -> None:
    """Also where the set states it as a challenge of its own."""
    puzzle = load_set(name)
    (entry,) = gather(puzzle)
    assert (entry.kind, entry.region) == (kind, puzzle.boards[0].cells)
    assert entry.pieces == tuple(piece.id for piece in puzzle.pieces)


def test_an_optional_board_comes_when_it_is_named() -> None:
    wish = Selection(only=("tray", "square_01"))
    entries = gather(FRIDGEIQ, wish)
    assert [(one.id, one.kind, one.status) for one in entries] == [
        ("tray", "board", "impossible"),
        ("square_01", "challenge", "solved"),
    ]
    with pytest.raises(InputError, match="tray has no solution; leave it out"):
        solved_ones(FRIDGEIQ, entries, wish)


def test_ids_that_are_unknown_are_refused_with_what_was_meant() -> None:
    wish = Selection(only=("square_01", "sqare_02"))
    with pytest.raises(InputError, match=r'no challenge "sqare_02".*did you mean "square_02"'):
        gather(FRIDGEIQ, wish)


def test_what_is_not_solved_in_time_is_told() -> None:
    puzzle, wish = load_set("iqfit"), Selection(only=("board",))
    entries = gather(puzzle, wish, budget_s=0)
    assert [entry.status for entry in entries] == ["unknown"]
    with pytest.raises(InputError, match="was not solved in the time given; leave it out, or give"):
        solved_ones(puzzle, entries, wish)
    with pytest.raises(NothingToShowError, match="none of its challenges has a solution"):
        solved_ones(puzzle, entries, Selection())


def test_a_set_without_anything_to_do_says_so(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        '[set]\nname = "mine"\nlattice = "square"\nmoves = "rotations"\n\n'
        '[[piece]]\nid = "A"\ncells = [[0, 0], [0, 1]]\n'
    )
    with pytest.raises(NothingToShowError, match="has no challenge and no board; give a challenge"):
        gather(load_set(str(path)))


# --- titles -----------------------------------------------------------------------------------------


def with_title(tmp_path: Path, title: str) -> PuzzleSet:
    text = (ROOT / "pieces/iqstars.toml").read_text(encoding="utf-8")
    path = tmp_path / "mine.toml"
    said = f'\n[[challenge]]\nid = "mine"\ntitle = {json.dumps(title)}\npieces = ["red"]\n'
    path.write_text(text + said + "cells = [0, 1, 7, 8]\n", encoding="utf-8")
    return load_set(str(path))


@pytest.mark.parametrize(
    "title", ["<script>alert(1)</script>", "\"'&amp; %s {x}", "שלום עולם", "日本語", "é" * 100]
)
def test_any_text_that_can_be_printed_is_a_title(title: str, tmp_path: Path) -> None:
    (entry,) = gather(with_title(tmp_path, title), Selection(only=("mine",)))
    assert entry.title == title


@pytest.mark.parametrize(
    ("title", "message"),
    [
        ("a\x1b[31mb", "cannot be printed"),
        ("a\u202eb", "cannot be printed"),
        ("a\u200fb", "cannot be printed"),
        ("two\nlines", "cannot be printed"),
        (" ", "is empty"),
        ("x" * 101, "101 characters long; at most 100"),
    ],
)
def test_other_titles_are_refused(title: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=rf"challenge\[1\]\.title: .*{message}"):
        with_title(tmp_path, title)
