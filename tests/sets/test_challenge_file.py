"""Challenge files: every way to say a region and given pieces, and who is meant by a name."""

from __future__ import annotations

import json
import random
import tomllib
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import tomli_w
from hypothesis import given, settings
from hypothesis import strategies as st

from fabkit.core.errors import InputError
from fabkit.model.entry import entry_of, solution_error
from fabkit.model.lattice import Cell
from fabkit.model.puzzle import Challenge, Entry, Given, PuzzleSet
from fabkit.puzzles.snowflakes.catalog import text
from fabkit.sets.catalog import shipped_entries
from fabkit.sets.challenge_file import read_challenges
from fabkit.sets.challenge_writer import challenge_record, frame_cells, solution_record
from fabkit.sets.challenges import challenge_in_file, find_challenge
from fabkit.sets.library import load_set, shipped_names
from fabkit.sets.set_file import read_set
from fabkit.solve.encoding import to_exact_cover
from tests.conftest import ROOT
from tests.support.mutations import mutated, surprises
from tests.support.published import Sample, iqfit_samples, iqstars_samples

DOMINOES = """
set = { name = "dominoes", lattice = "square", moves = "rotations" }
piece = [{ id = "A", cells = [[0, 0], [0, 1]] }, { id = "B-2", cells = [[0, 0], [0, 1]] }]
"""
STRIP = '\n[[board]]\nid = "strip"\nsize = [1, 4]\n'
HOUSE = '\n[[board]]\nid = "house"\noutline = [[3, 5], [5, 5], [5, 7], [3, 7]]\n'


def load(puzzle: PuzzleSet, folder: Path, content: Any, name: str = "mine.toml") -> Challenge:
    """What a file means; a dictionary is written as JSON."""
    text = json.dumps(content) if isinstance(content, dict) else content
    path = folder / ("mine.json" if isinstance(content, dict) else name)
    path.write_text(text, encoding="utf-8")
    return challenge_in_file(path, puzzle).challenge


def made(folder: Path, more: str) -> PuzzleSet:
    path = folder / "dominoes.toml"
    path.write_text(DOMINOES + more, encoding="utf-8")
    return read_set(path)


@pytest.fixture
def dominoes(tmp_path: Path) -> PuzzleSet:
    return made(tmp_path, STRIP + HOUSE)


def squares(puzzle: PuzzleSet, *places: tuple[int, int]) -> frozenset[Cell]:
    return frozenset(cell for place in places for cell in puzzle.lattice.cells_at(*place))


def test_a_file_that_says_little_means_all_pieces_on_the_first_board(
    dominoes: PuzzleSet, tmp_path: Path
) -> None:
    expected = Challenge("mine", dominoes.boards[0].cells, ("A", "B-2"))
    for content in ("# all of it", {}, 'board = "strip"'):
        assert load(dominoes, tmp_path, content) == expected
    assert find_challenge(dominoes, None) == replace(expected, id="strip")


def test_everything_can_be_written_in_toml_and_in_json(tmp_path: Path) -> None:
    fridgeiq = load_set("fridgeiq")
    document = {
        "id": "mirrored",
        "pieces": "IJMR",
        "outline": [[0, 0], [3, 0], [3, 3], [0, 3]],
        "given": [{"piece": "M", "outline": [[0, 0], [1, 0], [1, 2], [0, 1]]}],
        "flips": True,
        "answer": "impossible",
    }
    found = load(fridgeiq, tmp_path, document)
    assert found == load(fridgeiq, tmp_path, tomli_w.dumps(document))
    assert (found.id, found.pieces, len(found.region)) == ("mirrored", ("I", "J", "M", "R"), 36)
    assert [(one.piece, len(one.cells)) for one in found.given] == [("M", 6)]
    assert (found.flips, found.answer) == (True, "impossible")


CALLED = {
    "wednesday.toml": "wednesday",
    "my puzzle (2).toml": "my-puzzle-2",
    "Übung.txt": "bung",
    "…toml": "toml",
    "COM1.toml": "challenge-COM1",
    f"{'x' * 90}.toml": "x" * 40,
    "--": "challenge",
    "mine.JSON": "mine",
}


def test_a_challenge_is_called_like_its_file(dominoes: PuzzleSet, tmp_path: Path) -> None:
    """With an unknown ending, the content decides what it is."""
    for name, expected in CALLED.items():
        if not name.endswith("JSON"):
            assert load(dominoes, tmp_path, 'pieces = ["A"]', name).id == expected
        if not name.endswith("toml") or name == "…toml":
            found = load(dominoes, tmp_path, '\n {"pieces": ["A"]}', name)
            assert (found.id, found.pieces) == (expected, ("A",))


def given_of(sample: Sample, numbers: bool) -> dict[str, Any]:
    """The given pieces of a published challenge, their cells by place or by number."""
    row_col = sample.puzzle.lattice.row_col
    places = sorted(map(row_col, sample.challenge.region))
    return {
        "given": [
            {
                "piece": one.piece,
                "cells": [
                    places.index(place) if numbers else list(place)
                    for place in sorted(map(row_col, one.cells))
                ],
            }
            for one in sample.challenge.given
        ]
    }


@pytest.mark.parametrize("numbers", [False, True])
def test_published_challenges_can_be_written_down(numbers: bool, tmp_path: Path) -> None:
    for sample in (*iqfit_samples(), *iqstars_samples()):
        asked = sample.challenge
        assert load(sample.puzzle, tmp_path, given_of(sample, numbers)) == replace(asked, id="mine")
        assert asked.region == frozenset().union(*sample.expected.values())
        assert all(sample.expected[one.piece] == one.cells for one in asked.given)
        assert sample.follows_hints(sample.expected)


def test_rows_and_numbers_begin_at_the_top_left(dominoes: PuzzleSet, tmp_path: Path) -> None:
    """Of a board, also one that is drawn by its outline, or of the outline drawn instead."""
    stars = load_set("iqstars")
    region = load(stars, tmp_path, "cells = [0, 6, 7, 13, 25]").region
    assert region == squares(stars, (0, 0), (0, 6), (1, 0), (2, 0), (3, 5))
    mixed = load(dominoes, tmp_path, "cells = [0, [0, 1], 3]")
    assert mixed.region == squares(dominoes, (0, 0), (0, 1), (0, 3))
    house, upper = 'board = "house"\n', frozenset({(7, 13), (9, 13)})
    square = "outline = [[0, 0], [2, 0], [2, 2], [0, 2]]\n"
    for where, drawn, cells in (
        (house, "cells = [0, 1]", upper),
        (house, "cells = [[0, 0], [0, 1]]", upper),
        (house, "outline = [[3, 6], [5, 6], [5, 7], [3, 7]]", upper),
        (square, "cells = [[0, 0], [1, 0]]", frozenset({(1, 3), (1, 1)})),
    ):
        content = f'{where}given = [{{ piece = "A", {drawn} }}]'
        assert load(dominoes, tmp_path, content).given == (Given("A", cells),)


def test_a_set_file_says_its_challenges_in_the_same_way(tmp_path: Path) -> None:
    one = '\n[[challenge]]\nid = "one"\ngiven = [{ piece = "A", cells = [2, 3] }]\n'
    puzzle = made(
        tmp_path, STRIP + one + '\n[[challenge]]\nid = "two"\ncells = [0, 1, [0, 2], 3]\n'
    )
    assert puzzle.challenges[0].given == (Given("A", squares(puzzle, (0, 2), (0, 3))),)
    assert puzzle.challenges[1].region == puzzle.boards[0].cells
    with pytest.raises(InputError) as refused:  # which is not repeated in the challenge
        made(tmp_path, STRIP.replace("[1, 4]", "[1, 0]") + one)
    assert [error.key for error in refused.value.errors] == ["board[0].size"]


def test_several_outlines_with_holes_make_one_region(tmp_path: Path) -> None:
    fridgeiq = load_set("fridgeiq")
    ring, hole = [[0, 0], [3, 0], [3, 3], [0, 3]], [[1, 1], [2, 1], [2, 2], [1, 2]]
    away, touching = [[5, 0], [7, 0], [6, 1]], [[3, 3], [4, 3], [4, 4], [3, 4]]
    nested = load(fridgeiq, tmp_path, {"outline": [[ring, hole], [away]]}).region
    assert nested == load(fridgeiq, tmp_path, {"outline": [ring, hole, away]}).region
    assert len(nested) == 4 * (9 - 1 + 1)
    assert len(load(fridgeiq, tmp_path, {"outline": [ring, touching]}).region) == 40


def test_ids_that_are_numbers_and_flips_against_the_rules(tmp_path: Path) -> None:
    document = {"pieces": "03", "given": [{"piece": "0", "cells": [0, 1, 2, 3, 8, 9, 10, 11]}]}
    challenge = load(load_set("iqblock"), tmp_path, document)
    assert (challenge.pieces, challenge.given[0].piece) == (("0", "3"), "0")
    assert challenge.flips
    fit = load_set("iqfit")
    assert not load(fit, tmp_path, 'board = "board"').flips
    assert load(fit, tmp_path, "flips = true").flips


def test_files_that_are_no_text_or_too_much(dominoes: PuzzleSet, tmp_path: Path) -> None:
    for name, content, message in (
        ("latin.toml", "# Stück".encode("latin-1"), "is not UTF-8 text (byte 4)"),
        ("large.json", b" " * (8 * 1024**2 + 1), "is larger than 8 MiB; expected a challenge file"),
        ("deep.json", b'{"outline": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "is nested too deeply"),
        ("a.json", b'{"board": ' + b"[" * 400 + b"]" * 400 + b"}", 'board: expected "strip" or "house", found [[[[[…]]]]]'),
    ):  # fmt: skip
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError) as refused:
            challenge_in_file(tmp_path / name, dominoes)
        assert str(refused.value) == f"{tmp_path}/{name}: {message}"


@pytest.mark.parametrize("kind", ["toml", "json"])
@pytest.mark.parametrize("keys", ["placed pieces", "clues and open cells"])
def test_no_mutation_of_a_challenge_gets_past_the_reader_unseen(
    keys: str, kind: str, tmp_path: Path
) -> None:
    if keys == "placed pieces":
        sample = iqstars_samples()[0]
        puzzle = sample.puzzle
        document = {"id": "x", "pieces": [*sample.expected], "flips": False, "board": "board"}
        document |= given_of(sample, numbers=True)
    else:
        set_file = ROOT / "tests" / "sets" / "keys.toml"
        puzzle = load_set(str(set_file))
        document = tomllib.loads(set_file.read_text(encoding="utf-8"))["challenge"][0]
    content = tomli_w.dumps(document).encode()

    def changed(seed: int) -> bytes:
        found = mutated(content, random.Random(f"{kind} {seed}"))
        try:
            return found if kind == "toml" else json.dumps(tomllib.loads(found.decode())).encode()
        except (ValueError, TypeError, RecursionError):
            return found

    path = tmp_path / f"mutated.{kind}"
    assert (
        surprises(path, map(changed, range(100)), lambda: challenge_in_file(path, puzzle).challenge)
        == []
    )


def test_challenges_and_boards_are_found_by_name(tmp_path: Path) -> None:
    for name in shipped_names():
        puzzle = load_set(name)
        assert all(find_challenge(puzzle, one.id) is one for one in puzzle.challenges)
        for board in puzzle.boards:
            pieces = tuple(piece.id for piece in puzzle.pieces)
            whole = Challenge(
                board.id, board.cells, pieces, flips=puzzle.flips, open_count=board.open_count
            )
            assert replace(find_challenge(puzzle, board.id), answer="", title="") == whole
    one = '\n[[challenge]]\nid = "one"\ncells = [[0, 0], [0, 1], [1, 0], [1, 1]]\n'
    puzzle = made(tmp_path, one)
    assert find_challenge(puzzle, None) is puzzle.challenges[0]
    for wanted in (None, "x"):
        with pytest.raises(InputError, match="has no challenge and no board; describe a challenge"):
            find_challenge(made(tmp_path, ""), wanted)


def test_some_of_the_pieces_are_asked_for(tmp_path: Path) -> None:
    block = load_set("iqblock")
    for stated, expected in ((5, 5), (8, None)):
        challenge = load(block, tmp_path, {"pieces_count": stated, "board": "square"})
        assert (len(challenge.pieces), challenge.pieces_count) == (8, expected)
        assert challenge_record(block, challenge).get("pieces_count") == expected
    cells = block.piece("0").forms[0].cells

    def error(**changes: Any) -> str:
        stated = replace(Challenge("one", cells, ("0", "1")), **changes)
        return solution_error(entry_of(stated).with_result(solution={"0": cells}), block)

    assert error(pieces_count=1) == ""
    for region in (cells - {min(cells)}, cells | {(-1, -1)}):
        assert error(pieces=("0",), region=region) == "it does not cover the region exactly"
    elsewhere = error(pieces=("0",), given=(Given("0", frozenset()),))
    assert elsewhere == "piece 0 is not where it is given"
    assert "each once" in error()
    assert "each once" in error(pieces_count=2)


# --- one document, in four places
# ---------------------------------------------------------------------


@cache
def solved_samples() -> list[tuple[PuzzleSet, Entry]]:
    """Challenges of all kinds with their results, of sets on every lattice."""
    samples = []
    for name in shipped_names():
        puzzle = load_set(name)
        entries = shipped_entries(puzzle)
        samples += [(puzzle, entry) for entry in (*entries[::7], *entries[-2:])]
        samples += [(puzzle, entry_of(challenge)) for challenge in puzzle.challenges]
    return samples


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_any_challenge_is_written_and_read_back_in_all_four_places(data: st.DataObject) -> None:
    """In a file, a set, a list and a catalog; by cells of the frame, and as people write them."""
    puzzle, entry = data.draw(st.sampled_from(solved_samples()))
    title = data.draw(st.sampled_from(["", "Mine", "Ünïcode “quoted”"]))
    answer = data.draw(st.sampled_from(["", "solved"]))
    challenge = replace(entry.challenge, title=title, answer=answer)
    if entry.halves == 1 and entry.solution and not challenge.given:
        pieces = data.draw(st.lists(st.sampled_from([*entry.solution]), unique=True))
        challenge = replace(
            challenge, given=tuple(Given(piece, entry.solution[piece]) for piece in pieces)
        )
    plain = entry.halves == 1 and data.draw(st.booleans())
    describe = to_exact_cover(puzzle, challenge).cells_or_outline if plain else frame_cells
    record = challenge_record(puzzle, challenge, describe)
    record |= {"of": entry.of} if entry.of else {}
    record |= {"parity": entry.parity} if entry.parity else {}
    result: dict[str, Any] = {"count": data.draw(st.integers(1, 10**9)), "count_complete": True}
    if entry.solution:
        result["solution"] = solution_record(entry.solution, describe)
    record["result"] = {"status": "solved", **result, "level": "expert"}
    expected = replace(entry, challenge=challenge, score=None, level="expert").with_result(
        status="solved", count=result["count"], count_complete=True
    )
    expected = replace(expected, kind="snowflake" if entry.parity else puzzle.kind_of(challenge))
    record = json.loads(json.dumps(record))
    with TemporaryDirectory() as folder:
        file = Path(folder, "mine.json")
        file.write_text(json.dumps(record), encoding="utf-8")
        assert read_challenges(file, puzzle) == [expected]
        toml = Path(folder, "mine.toml")
        toml.write_text(tomli_w.dumps(record), encoding="utf-8")
        assert read_challenges(toml, puzzle) == [expected]
        toml.write_text(tomli_w.dumps({"challenge": [record]}), encoding="utf-8")
        assert read_challenges(toml, puzzle) == [expected]
        listed = {"schema": 1, "set": puzzle.name, "challenges": [record]}
        file.write_text(text({**listed, "complete": [], "unknown": []}), encoding="utf-8")
        assert read_challenges(file, puzzle) == [expected]
        if entry.halves == 1:
            whole = Path(ROOT / "pieces" / f"{puzzle.name}.toml").read_text(encoding="utf-8")
            own = tomllib.loads(whole) | {"challenge": [record]}
            toml.write_text(tomli_w.dumps(own), encoding="utf-8")
            as_set = read_set(toml)
            assert as_set.challenges == (challenge,)
            assert as_set.entries == (expected,)
