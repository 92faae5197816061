"""`fabkit challenges` as people and scripts meet it; what it makes is checked without its code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fabkit.cli import main
from fabkit.core.errors import ExternalError
from fabkit.model.entry import LEVELS
from fabkit.model.puzzle import Challenge, PuzzleSet
from fabkit.puzzles.graded import generate
from fabkit.puzzles.graded.grading import Candidate, GradedChallenge
from fabkit.sets.challenges import challenge_in_file
from fabkit.sets.library import load_set, shipped_folder
from fabkit.solve.difficulty import Difficulty, difficulty
from fabkit.solve.encoding import to_exact_cover
from fabkit.solve.engines.engine import Budget
from fabkit.solve.engines.frontier import Count

Capture = pytest.CaptureFixture[str]
PENTOMINOES = (shipped_folder() / "pentominoes.toml").read_text(encoding="utf-8")
ROWS = {"iqfit": [10] * 5, "iqstars": [7, 6, 7, 6]}


class Run:
    """Challenges of a set, in a folder."""

    def __init__(self, name: str, count: int, folder: Path) -> None:
        self.folder, self.count = folder, count
        self.puzzle = load_set(name)
        assert main(["challenges", name, "--count", str(count), "-o", str(folder), "-q"]) == 0
        self.document: dict[str, Any] = json.loads((folder / "challenges.json").read_text())
        self.entries: list[dict[str, Any]] = self.document["challenges"]

    def challenge(self, entry: dict[str, Any]) -> Challenge:
        return challenge_in_file(self.folder / entry["file"], self.puzzle).challenge


@pytest.fixture(
    scope="module",
    params=[
        ("iqstars", 8),
        pytest.param(("iqstars", 120), marks=pytest.mark.integration),
        pytest.param(("iqfit", 120), marks=pytest.mark.integration),
    ],
    ids=lambda one: f"{one[0]}-{one[1]}",
)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    name, count = request.param
    return Run(name, count, tmp_path_factory.mktemp(name))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


# --- of IQ Fit and of IQ Stars -----------------------------------------------------------------


def count_solutions(puzzle: PuzzleSet, challenge: Challenge) -> int:
    return Count().count(to_exact_cover(puzzle, challenge).problem, Budget()).count


def test_there_are_as_many_as_asked_and_no_two_are_alike(run: Run) -> None:
    """Also not by half a turn of the board of IQ Fit; that of IQ Stars has no turn but the whole."""
    expected = [f"start-{n:03}" for n in range(1, run.count + 1)]
    assert [entry["id"] for entry in run.entries] == expected
    assert {file.name for file in (run.folder / "challenges").iterdir()} == {
        Path(entry["file"]).name for entry in run.entries
    }
    assert run.document["made"]["command"] == (
        f"fabkit challenges {run.puzzle.name} --count {run.count} --seed 1"
    )
    seen = set()
    for entry in run.entries:
        given = [(g["piece"], cell) for g in entry["given"] for cell in g["cells"]]
        images = [frozenset((piece, row, col) for piece, (row, col) in given)]
        if run.puzzle.name == "iqfit":
            images.append(frozenset((piece, 4 - row, 9 - col) for piece, (row, col) in given))
        seen.add(frozenset(images))
    assert len(seen) == run.count


def test_each_is_unique_and_as_minimal_as_it_says(run: Run, capsys: Capture) -> None:
    """Found by the search and proved by SAT, here each is counted along the frontier."""
    board = [[row, col] for row, n in enumerate(ROWS[run.puzzle.name]) for col in range(n)]
    for entry in run.entries:
        assert (entry["result"]["count"], entry["result"]["unique_by"]) == (1, ["search", "sat"])
        challenge, solution = run.challenge(entry), entry["result"]["solution"]
        assert count_solutions(run.puzzle, challenge) == 1
        spared = [
            count_solutions(run.puzzle, Challenge("", challenge.region, challenge.pieces, rest))
            for one in challenge.given
            for rest in [tuple(other for other in challenge.given if other != one)]
        ]
        assert entry["result"]["minimal"] == all(count > 1 for count in spared)
        assert sorted(cell for cells in solution.values() for cell in cells) == board
        given = {given["piece"]: given["cells"] for given in entry["given"]}
        assert given.items() <= solution.items()
        assert solution.keys() == {piece.id for piece in run.puzzle.pieces}
    assert 3 * sum(entry["result"]["minimal"] for entry in run.entries) >= run.count
    for entry in run.entries[:: run.count // 4]:  # as a user solves it
        file = str(run.folder / entry["file"])
        assert main(["solve", run.puzzle.name, "--file", file, "--unique", "--json", "-q"]) == 0
        assert json.loads(capsys.readouterr().out)["solutions"] == [entry["result"]["solution"]]


def test_they_are_graded_and_spread(run: Run) -> None:
    scores = [entry["result"]["difficulty"]["score"] for entry in run.entries]
    assert scores == sorted(scores)
    counts = dict.fromkeys(LEVELS, 0) | Counter(entry["result"]["level"] for entry in run.entries)
    assert counts == run.document["levels"]
    # The hardest are rare, in the small set most of all; what lacks there is spread over the
    # others.
    assert min(counts[level] for level in LEVELS[:3]) >= run.count // 5
    assert max(counts.values()) <= 2 * -(-run.count // 5)
    solutions = {str(sorted(entry["result"]["solution"].items())) for entry in run.entries}
    assert run.document["distinct"]["challenges"] > 0.8 * run.count
    assert run.document["distinct"]["solutions"] <= len(solutions)
    places = [LEVELS.index(entry["result"]["level"]) for entry in run.entries]
    assert places == sorted(places)
    for entry in run.entries[::15]:
        rating = difficulty(to_exact_cover(run.puzzle, run.challenge(entry)).problem, 1)
        assert rating is not None
        assert round(rating.score, 3) == entry["result"]["difficulty"]["score"]


# --- the command
# -----------------------------------------------------------------------------------


def texts(folder: Path) -> dict[str, bytes]:
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and not file.name.endswith(".lock")
    }


@pytest.mark.integration
def test_the_same_seed_gives_the_same_bytes(here: Path, capsys: Capture) -> None:
    """In another process, with other hashes, printed as JSON."""
    for name in ("iqstars", "fridgeiq"):
        levels = ["--difficulty", "starter,junior,expert"]
        arguments = ["challenges", name, "--count", "6", *levels, "--seed", "5"]
        assert main([*arguments, "-o", f"one-{name}", "--json", "-q"]) == 0
        output = capsys.readouterr().out
        assert output.encode() == (here / f"one-{name}/challenges.json").read_bytes()
        command = [sys.executable, "-m", "fabkit", *arguments, "-o", f"two-{name}", "-q"]
        subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": "77"}, check=True)
        assert texts(here / f"one-{name}") == texts(here / f"two-{name}")
        assert main([*arguments[:-1], "6", "-o", f"three-{name}", "-q"]) == 0
        other = json.loads((here / f"three-{name}/challenges.json").read_text())
        assert other["challenges"] != json.loads(output)["challenges"]


@pytest.mark.integration
def test_what_was_made_before_is_replaced(here: Path) -> None:
    arguments = ["challenges", "iqstars", "-q", "--difficulty", "junior"]
    assert main([*arguments, "--count", "3"]) == 0
    folder = here / "output/iqstars"
    mine = folder / "challenges/mine.toml"
    mine.write_text('board = "board"\n')
    assert main([*arguments, "--count", "2"]) == 0
    names = sorted(file.name for file in (folder / "challenges").iterdir())
    assert names == ["mine.toml", "start-001.toml", "start-002.toml"]
    document = json.loads((folder / "challenges.json").read_text())
    for other in ({"schema": 999}, {**document, "set": "cubimagici"}):
        (folder / "challenges.json").write_text(json.dumps(other))
        before = texts(folder)
        assert main([*arguments, "--count", "3"]) == 2
        assert texts(folder) == before


@pytest.mark.integration
def test_fridgeiq_says_shape_and_letters(here: Path, capsys: Capture) -> None:
    assert main(["challenges", "fridgeiq", "--count", "3", "-v"]) == 0
    output = capsys.readouterr().out
    document = json.loads((here / "output/fridgeiq/challenges.json").read_text())
    assert len(document["challenges"]) == 3
    for entry in document["challenges"]:
        assert f"{entry['result']['shape']} from {', '.join(entry['pieces'])}" in output
        file = str(here / "output/fridgeiq" / entry["file"])
        assert main(["solve", "fridgeiq", "--file", file, "--count", "--json", "-q"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert (found["count"], found["count_up_to_symmetry"]) == (entry["result"]["count"], 1)


@pytest.mark.integration
def test_a_user_set_and_its_boards(here: Path, capsys: Capture) -> None:
    name = "pentominoes.toml"
    Path(name).write_text(PENTOMINOES)
    arguments = ["challenges", name, "--count", "3", "--given", "minimal", "--board", "8x8"]
    assert main([*arguments, "--difficulty", "master,wizard", "--json", "-q"]) == 0
    document = json.loads(capsys.readouterr().out)
    puzzle = load_set(name)
    assert document["made"]["command"] == (
        "fabkit challenges pentominoes --count 3 --given minimal --difficulty master,wizard "
        "--board 8x8 --seed 1"
    )
    for entry in document["challenges"]:
        assert (entry["board"], entry["result"]["minimal"]) == ("8x8", True)
        assert entry["result"]["level"] in ("master", "wizard")
        challenge = challenge_in_file(here / "output/pentominoes" / entry["file"], puzzle).challenge
        assert count_solutions(puzzle, challenge) == 1


SIX_OF_TEN = """
[[challenge]]
id = "oblong"
outline = [[0, 0], [5, 0], [5, 6], [0, 6]]
pieces = "FILNPTUVWY"
pieces_count = 6
"""


def test_starts_of_a_challenge_that_uses_some_of_its_pieces(here: Path, capsys: Capture) -> None:
    """As many of one size as there are, each with one choice of the pieces that are not given."""
    Path("mine.toml").write_text(PENTOMINOES + SIX_OF_TEN)
    arguments = ["challenges", "mine.toml", "--of", "oblong", "--count", "3", "-o", "made"]
    assert main([*arguments, "--given", "2", "-v"]) == 0
    assert "2 pieces of oblong given, all needed" in capsys.readouterr().out
    puzzle = load_set("mine.toml")
    found = [
        challenge_in_file(file, puzzle).challenge for file in Path("made/challenges").iterdir()
    ]
    assert [(len(one.given), one.pieces_count) for one in found] == [(2, 6)] * 3
    assert [count_solutions(puzzle, one) for one in found] == [1] * 3
    assert main([*arguments, "--given", "4"]) == 1
    expected = "Found 0 of 3 challenges: a start leaves 3 to 10 pieces to place\n"
    assert capsys.readouterr().out == expected


def test_the_published_question_is_answered(here: Path, capsys: Capture) -> None:
    """No single star determines IQ Stars; 32 single pieces do."""
    assert main(["solve", "iqstars", "--starts"]) == 0
    output = capsys.readouterr().out
    assert "with exactly one solution: 32" in output
    assert "with the fewest, 2 solutions: 1" in output
    assert main(["challenges", "iqstars", "--given", "1", "--count", "40"]) == 1
    assert capsys.readouterr().out.endswith("32 of 40 challenges: there are no others\n")


MINE = '[set]\nname = "mine"\nlattice = "{lattice}"\nmoves = "rotations"\n'
SQUARE = '[[piece]]\nid = "{id}"\ncells = [[0, 0], [0, 1], [1, 0], [1, 1]]\n'
CORNER = '[[piece]]\nid = "{id}"\ncells = [[0, 0], [1, 0], [1, 1]]\n'


def test_a_board_without_solution_or_none(here: Path, capsys: Capture) -> None:
    for drawn, ids, reason in (
        (SQUARE, "AB", "the region has 9 cells, but the pieces cover 8"),
        # Three corners do not make a square, though nothing plain stands against it.
        (CORNER, "ABC", "search exhausted"),
    ):
        head = MINE.format(lattice="square") + '[[board]]\nid = "tray"\nsize = [3, 3]\n'
        Path("mine.toml").write_text(head + "".join(drawn.format(id=one) for one in ids))
        assert main(["challenges", "mine.toml"]) == 1
        output = capsys.readouterr().out
        assert output == f"Found 0 of 20 challenges: tray has no solution: {reason}\n"
    Path("mine.toml").write_text(MINE.format(lattice="hexagon") + SQUARE.format(id="A"))
    assert main(["challenges", "mine.toml"]) == 2
    assert "mine: has no board, and its pieces are hexagons" in capsys.readouterr().err
    assert not (here / "output").exists()


def test_a_spent_budget_is_reported(here: Path, capsys: Capture) -> None:
    for name in ("iqfit", "fridgeiq"):
        assert main(["challenges", name, "--budget", "0"]) == 1
        assert capsys.readouterr().out == "Found 0 of 20 challenges: time limit reached\n"
    assert main(["challenges", "iqfit", "--budget", "0", "--json", "-q"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["missing"], document["challenges"]) == ("time limit reached", [])
    assert not (here / "output").exists()


def test_engines_that_contradict_each_other_write_nothing(
    here: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generate, "run_in_subprocess", lambda *_: (count for count in (1, 2)))
    assert main(["challenges", "iqstars", "--count", "2"]) == 3
    assert "the engines disagree: one finds 1, sat 2" in capsys.readouterr().err
    assert not (here / "output").exists()


def test_the_second_engine_counts_for_itself() -> None:
    """It finds one solution too many where there are 381."""
    stars = load_set("iqstars")
    whole = Challenge("", stars.boards[0].cells, tuple(piece.id for piece in stars.pieces))
    rating = Difficulty(1.0, 1.0, 381)
    one = GradedChallenge(Candidate(whole, {}, count=1), to_exact_cover(stars, whole), rating)
    with pytest.raises(ExternalError, match="one finds 1, sat 2 solutions"):
        generate.confirm_by_sat([one], Budget())


@pytest.mark.integration
def test_clues_on_quarters_are_read_as_they_were_written(tmp_path: Path) -> None:
    """An outline names no cells: they are written as row, column and index."""
    folder = str(tmp_path / "clues")
    assert main(["challenges", "tangram", "--clues", "cells", "--count", "2", "-o", folder]) == 0
    for file in sorted(tmp_path.glob("clues/challenges/*.toml")):
        assert main(["solve", "tangram", "--file", str(file), "--unique"]) == 0
    assert main(["cards", "tangram", "--no-templates", "-o", folder]) == 0
