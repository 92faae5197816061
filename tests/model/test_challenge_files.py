"""Challenge files: every way to say a region and given pieces, and who is meant by a name."""

from __future__ import annotations

import json
import random
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from fabkit.core.errors import InputError
from fabkit.model.challengeload import find_challenge, load_challenge
from fabkit.model.entry import Entry, Images, challenge_of, entry_of, wrong_with
from fabkit.model.lattice import Cell
from fabkit.model.library import load_set, shipped_names
from fabkit.model.puzzle import Challenge, Given, PuzzleSet
from fabkit.model.setfile import read_set
from tests.support.mutations import mutated
from tests.support.published import Sample, iqfit_samples, iqstars_samples

DOMINOES = """
[set]
name = "dominoes"
lattice = "square"
moves = "rotations"

[[piece]]
id = "A"
cells = [[0, 0], [0, 1]]

[[piece]]
id = "B-2"
cells = [[0, 0], [0, 1]]
"""
STRIP = '\n[[board]]\nid = "strip"\nsize = [1, 4]\n'
HOUSE = '\n[[board]]\nid = "house"\noutline = [[3, 5], [5, 5], [5, 7], [3, 7]]\n'


def load(puzzle: PuzzleSet, folder: Path, content: str, name: str = "mine.toml") -> Challenge:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return load_challenge(path, puzzle)


def refusal(puzzle: PuzzleSet, folder: Path, content: str | bytes, name: str) -> str:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError) as refused:
        load_challenge(path, puzzle)
    return str(refused.value).removeprefix(f"{folder}/")


@pytest.fixture
def dominoes(tmp_path: Path) -> PuzzleSet:
    return made(tmp_path, STRIP + HOUSE)


def made(folder: Path, more: str) -> PuzzleSet:
    path = folder / "dominoes.toml"
    path.write_text(DOMINOES + more, encoding="utf-8")
    return read_set(path)


def squares(puzzle: PuzzleSet, *places: tuple[int, int]) -> frozenset[Cell]:
    return frozenset(cell for place in places for cell in puzzle.lattice.cells_at(*place))


def test_a_file_that_says_little_means_all_pieces_on_the_first_board(
    dominoes: PuzzleSet, tmp_path: Path
) -> None:
    expected = Challenge("mine", dominoes.boards[0].cells, ("A", "B-2"))
    assert load(dominoes, tmp_path, "# all of it") == expected
    assert load(dominoes, tmp_path, "{}", "mine.json") == expected
    assert load(dominoes, tmp_path, 'board = "strip"') == expected
    assert find_challenge(dominoes, None) == Challenge(
        "strip", dominoes.boards[0].cells, ("A", "B-2")
    )


def test_everything_can_be_said_in_toml_and_in_json(tmp_path: Path) -> None:
    fridgeiq = load_set("fridgeiq")
    said = {
        "id": "mirrored",
        "pieces": "IJMR",
        "outline": [[0, 0], [3, 0], [3, 3], [0, 3]],
        "given": [{"piece": "M", "outline": [[0, 0], [1, 0], [1, 2], [0, 1]]}],
        "flips": True,
        "answer": "impossible",
    }
    from_json = load(fridgeiq, tmp_path, json.dumps(said), "one.json")
    assert from_json == load(fridgeiq, tmp_path, tomli_w.dumps(said), "two.toml")
    assert from_json.id == "mirrored"
    assert from_json.pieces == ("I", "J", "M", "R")
    assert len(from_json.region) == 36
    assert [(one.piece, len(one.cells)) for one in from_json.given] == [("M", 6)]
    assert (from_json.flips, from_json.answer) == (True, "impossible")


@pytest.mark.parametrize("name", ["mine", "mine.txt", "mine.challenge", "mine.JSON"])
def test_with_another_ending_the_content_tells(
    name: str, dominoes: PuzzleSet, tmp_path: Path
) -> None:
    assert load(dominoes, tmp_path, '\n {"pieces": ["A"]}', name).pieces == ("A",)
    if name != "mine.JSON":
        assert load(dominoes, tmp_path, 'pieces = ["A"]', name).pieces == ("A",)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("wednesday.toml", "wednesday"),
        ("my puzzle (2).toml", "my-puzzle-2"),
        ("Übung.toml", "bung"),
        ("…toml", "toml"),
        ("COM1.toml", "challenge-COM1"),
        (f"{'x' * 90}.toml", "x" * 40),
        ("--", "challenge"),
    ],
)
def test_a_challenge_is_called_like_its_file(
    name: str, expected: str, dominoes: PuzzleSet, tmp_path: Path
) -> None:
    assert load(dominoes, tmp_path, "flips = false", name).id == expected


def said_by_place(sample: Sample) -> dict[str, Any]:
    row_col = sample.puzzle.lattice.row_col
    return {
        "given": [
            {"piece": one.piece, "cells": sorted(list(row_col(cell)) for cell in one.cells)}
            for one in sample.challenge.given
        ]
    }


def said_by_number(sample: Sample) -> dict[str, Any]:
    places = sorted(map(sample.puzzle.lattice.row_col, sample.challenge.region))
    said = said_by_place(sample)
    for one in said["given"]:
        one["cells"] = [places.index((row, col)) for row, col in one["cells"]]
    return said


@pytest.mark.parametrize(
    "sample", [*iqfit_samples(), *iqstars_samples()], ids=lambda one: one.challenge.id
)
@pytest.mark.parametrize("say", [said_by_place, said_by_number])
def test_published_challenges_can_be_written_down(sample: Sample, say: Any, tmp_path: Path) -> None:
    challenge = load(sample.puzzle, tmp_path, json.dumps(say(sample)), "sample.json")
    asked = sample.challenge
    assert challenge.region == asked.region
    assert challenge.given == asked.given
    assert challenge.pieces == asked.pieces
    assert challenge.flips is False
    assert asked.region == frozenset().union(*sample.expected.values())
    assert all(sample.expected[one.piece] == one.cells for one in asked.given)
    assert sample.follows_hints(sample.expected)


def test_a_number_is_the_cell_row_by_row(dominoes: PuzzleSet, tmp_path: Path) -> None:
    stars = load_set("iqstars")
    region = load(stars, tmp_path, "cells = [0, 6, 7, 13, 25]").region
    assert region == squares(stars, (0, 0), (0, 6), (1, 0), (2, 0), (3, 5))
    mixed = load(dominoes, tmp_path, "cells = [0, [0, 1], 3]")
    assert mixed.region == squares(dominoes, (0, 0), (0, 1), (0, 3))


def test_rows_and_numbers_begin_at_the_top_left_of_a_board_drawn_by_its_outline(
    dominoes: PuzzleSet, tmp_path: Path
) -> None:
    upper = frozenset({(7, 13), (9, 13)})
    for cells in ("[0, 1]", "[[0, 0], [0, 1]]"):
        said = f'board = "house"\ngiven = [{{ piece = "A", cells = {cells} }}]'
        assert load(dominoes, tmp_path, said).given == (Given("A", upper),)
    drawn = 'given = [{ piece = "A", outline = [[3, 6], [5, 6], [5, 7], [3, 7]] }]'
    assert load(dominoes, tmp_path, f'board = "house"\n{drawn}').given == (Given("A", upper),)


def test_rows_begin_at_the_top_left_of_an_outline(dominoes: PuzzleSet, tmp_path: Path) -> None:
    region = "outline = [[0, 0], [2, 0], [2, 2], [0, 2]]"
    challenge = load(
        dominoes, tmp_path, f'{region}\ngiven = [{{ piece = "A", cells = [[0, 0], [1, 0]] }}]'
    )
    assert challenge.given == (Given("A", frozenset({(1, 3), (1, 1)})),)


def test_a_set_file_says_its_challenges_in_the_same_way(tmp_path: Path) -> None:
    more = '\n[[challenge]]\nid = "one"\ngiven = [{ piece = "A", cells = [2, 3] }]\n'
    more += '\n[[challenge]]\nid = "two"\ncells = [0, 1, [0, 2], 3]\n'
    puzzle = made(tmp_path, STRIP + more)
    one, two = puzzle.challenges
    assert one.given == (Given("A", squares(puzzle, (0, 2), (0, 3))),)
    assert two.region == puzzle.boards[0].cells


def test_a_fault_of_the_board_is_not_told_again_in_its_challenges(tmp_path: Path) -> None:
    more = STRIP.replace("[1, 4]", "[1, 0]")
    more += '\n[[challenge]]\nid = "one"\ngiven = [{ piece = "A", cells = [2, 3] }]\n'
    with pytest.raises(InputError) as refused:
        made(tmp_path, more)
    assert [fault.key for fault in refused.value.faults] == ["board[0].size"]


def test_several_outlines_with_holes_make_one_region(tmp_path: Path) -> None:
    fridgeiq = load_set("fridgeiq")
    ring, hole = [[0, 0], [3, 0], [3, 3], [0, 3]], [[1, 1], [2, 1], [2, 2], [1, 2]]
    away = [[5, 0], [7, 0], [6, 1]]
    nested = load(fridgeiq, tmp_path, json.dumps({"outline": [[ring, hole], [away]]}), "a.json")
    flat = load(fridgeiq, tmp_path, json.dumps({"outline": [ring, hole, away]}), "b.json")
    assert len(flat.region) == 4 * (9 - 1 + 1)
    assert nested.region == flat.region
    touching = [[3, 3], [4, 3], [4, 4], [3, 4]]
    corner = load(fridgeiq, tmp_path, json.dumps({"outline": [ring, touching]}), "c.json")
    assert len(corner.region) == 40


def test_ids_that_are_numbers_as_text(tmp_path: Path) -> None:
    block = load_set("iqblock")
    said = {"pieces": "03", "given": [{"piece": "0", "cells": [0, 1, 2, 3, 8, 9, 10, 11]}]}
    challenge = load(block, tmp_path, json.dumps(said), "0.json")
    assert challenge.pieces == ("0", "3")
    assert challenge.given[0].piece == "0"
    assert challenge.id == "0"
    assert challenge.flips


def test_flips_may_be_allowed_where_the_rules_do_not(tmp_path: Path) -> None:
    fit = load_set("iqfit")
    assert not load(fit, tmp_path, 'board = "board"').flips
    assert load(fit, tmp_path, "flips = true").flips


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("latin.toml", "# Stück".encode("latin-1"), "is not UTF-8 text (byte 4)"),
        (
            "large.json",
            " " * (8 * 1024**2 + 1),
            "is larger than 8 MiB; expected a challenge file",
        ),
        ("deep.json", '{"outline": ' + "[" * 100_000 + "]" * 100_000 + "}", "is nested too deeply"),
        (
            "quite-deep.json",
            '{"board": ' + "[" * 400 + "]" * 400 + "}",
            'board: expected "strip" or "house", found [[[[[…]]]]]',
        ),
    ],
)
def test_files_that_are_no_text_or_too_much(
    name: str, content: str | bytes, message: str, dominoes: PuzzleSet, tmp_path: Path
) -> None:
    assert refusal(dominoes, tmp_path, content, name) == f"{name}: {message}"


def as_json(content: bytes) -> bytes:
    """A TOML document as JSON, if it still is one."""
    try:
        return json.dumps(tomllib.loads(content.decode()), default=str).encode()
    except (ValueError, RecursionError):
        return content


@pytest.mark.parametrize("kind", ["toml", "json"])
def test_no_mutation_of_a_challenge_gets_past_the_reader_unseen(kind: str, tmp_path: Path) -> None:
    sample = iqstars_samples()[0]
    said = {"id": "x", "pieces": [*sample.expected], "flips": False, "board": "board"}
    content = tomli_w.dumps(said | said_by_number(sample)).encode()
    path = tmp_path / f"mutated.{kind}"
    surprises = []
    for seed in range(300):
        changed = mutated(content, random.Random(f"{kind} {seed}"))
        path.write_bytes(as_json(changed) if kind == "json" else changed)
        try:
            load_challenge(path, sample.puzzle)
        except InputError:
            pass
        except Exception as error:
            surprises.append(f"seed {seed}: {type(error).__name__}: {error}")
    assert surprises == []


def test_find_challenge_by_name() -> None:
    fridgeiq, block = load_set("fridgeiq"), load_set("iqblock")
    assert find_challenge(fridgeiq, "triangle_05").id == "triangle_05"
    whole = find_challenge(block, "square")
    assert whole.region == block.boards[0].cells
    assert whole.pieces == tuple("01234567")
    assert whole.flips
    assert whole.id == "square"


@pytest.mark.parametrize("name", shipped_names())
def test_every_challenge_and_board_is_found(name: str) -> None:
    puzzle = load_set(name)
    for challenge in puzzle.challenges:
        assert find_challenge(puzzle, challenge.id) is challenge
    for board in puzzle.boards:
        assert find_challenge(puzzle, board.id).region == board.cells


def test_a_set_of_one_challenge_or_of_none(tmp_path: Path) -> None:
    one = '\n[[challenge]]\nid = "one"\ncells = [[0, 0], [0, 1], [1, 0], [1, 1]]\n'
    puzzle = made(tmp_path, one)
    assert find_challenge(puzzle, None) is puzzle.challenges[0]
    for name in (None, "x"):
        with pytest.raises(InputError, match="has no challenge and no board; describe a challenge"):
            find_challenge(made(tmp_path, ""), name)


def test_some_of_the_pieces_are_asked_for(tmp_path: Path) -> None:
    block = load_set("iqblock")
    for stated, expected in (("5", 5), ("8", None)):
        path = tmp_path / "some.toml"
        path.write_text(f'pieces_count = {stated}\nboard = "square"')
        challenge = load_challenge(path, block)
        assert (len(challenge.pieces), challenge.pieces_count) == (8, expected)
        assert challenge_of(entry_of(challenge)).pieces_count == expected


def test_a_solution_with_some_of_the_pieces_is_held_against_their_number() -> None:
    block = load_set("iqblock")
    cells = block.piece("0").forms[0].cells
    entry = Entry("one", "One", "challenge", cells, ("0", "1"), solution={"0": cells})
    assert wrong_with(replace(entry, pieces_count=1), Images(block)) == ""
    assert "each once" in wrong_with(entry, Images(block))
    assert "each once" in wrong_with(replace(entry, pieces_count=2), Images(block))
