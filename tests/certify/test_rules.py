"""A certificate of a challenge with every rule holds, and none in which a rule is changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fabkit.certify.replay import OptionTable, Replay
from fabkit.cli import main
from tests.certify.test_document import changed

Capture = pytest.CaptureFixture[str]

SET = """
[set]
name = "rules"
lattice = "square"
moves = "rotations and flips"
marks = { o = "cross", x = "dot" }

[[piece]]
id = "a"
colour = "#e69f00"
rows = ["XX"]

[[piece]]
id = "b"
colour = "#e69f00"
rows = ["XX"]

[[piece]]
id = "c"
colour = "#0072b2"
rows = ["oX", "X."]
back = ["XX", ".x"]

[[piece]]
id = "d"
colour = "#0072b2"
rows = ["XX", "x."]

[[board]]
id = "tray"
size = [3, 4]

[[challenge]]
id = "all"
board = "tray"
open = 2
clue = [
    { cells = [[0, 0]], mark = "x" },
    { cells = [[2, 3]], colour = "a" },
    { cells = [[0, 1]], piece = "d" },
]
"""
#: Numbers of solutions, with the two dominoes alike.
COUNT = 24
#: Outlines of cells: in row 0, column 0 and 1; in row 1, column 0; in the last row and column.
FIRST = [[[0, -2], [2, -2], [2, 0], [0, 0]]]
NEXT = [[[2, -2], [4, -2], [4, 0], [2, 0]]]
BELOW = [[[0, -4], [2, -4], [2, -2], [0, -2]]]
LAST = [[[6, -6], [8, -6], [8, -4], [6, -4]]]
DOMINO = [[[0, -2], [4, -2], [4, 0], [0, 0]]]
#: The place that is changed, the value put there, and how the refusal begins.
FAULTS: dict[str, tuple[str, Any, str]] = {
    "fewer open cells": ("problem.open", 1, "items["),
    "more open cells": ("problem.open", 3, "items["),
    "no open cell": ("problem.open", 0, "items["),
    "no clue": ("problem.clues", [], "argument.fixed: has 0 transcripts; expected 3"),
    "the cell of a mark": ("problem.clues.0.outline", NEXT, "items["),
    "the cell of a colour": ("problem.clues.1.outline", NEXT, "items["),
    "the cell of a piece": ("problem.clues.2.outline", BELOW, "items["),
    "a cell outside": (
        "problem.clues.2.outline",
        [[[0, 0], [2, 0], [2, 2], [0, 2]]],
        "clues[2] lies partly outside the region",
    ),
    "another mark": ("problem.clues.0.mark", "o", "items["),
    "no mark": ("problem.clues.0.mark", "plain", "items["),
    "any mark": ("problem.clues.0.mark", "", "problem.clues[0].mark: is empty"),
    "another colour": ("problem.clues.1.colour", "#0072b2", "items["),
    "a colour of no piece": ("problem.clues.1.colour", "#000000", "items["),
    "any colour": ("problem.clues.1.colour", "", "problem.clues[1].colour: is empty"),
    "another piece": ("problem.clues.2.piece", "c", "items["),
    "no such piece": ("problem.clues.2.piece", "z", "items["),
    "any piece": ("problem.clues.2.piece", "", "problem.clues[2].piece: is empty"),
    "the colour of a piece": ("problem.pieces.0.colour", "#0072b2", "items["),
    "the place of a piece's mark": ("problem.pieces.3.marks.x", FIRST, "items["),
    "a mark outside its piece": (
        "problem.pieces.3.marks.x",
        LAST,
        "problem.pieces[3]: a mark is outside the piece",
    ),
    "another mark on a piece": ("problem.pieces.3.marks", {"o": BELOW}, "items["),
    "no marks on a piece": ("problem.pieces.3.marks", {}, "items["),
    "another mark on the back": ("problem.pieces.2.back", {"o": BELOW}, "items["),
    "the place of a mark on the back": ("problem.pieces.2.back.x", NEXT, "items["),
    "no mark on the back": ("problem.pieces.2.back", {}, "items["),
    "a copy that differs": ("problem.pieces.1.forms", [NEXT], "items["),
    "a copy with a mark": (
        "problem.pieces.1",
        {"id": "b", "forms": [DOMINO], "marks": {"x": NEXT}, "colour": "#e69f00"},
        "items[",
    ),
    "a copy of another colour": (
        "problem.pieces.1",
        {"id": "b", "forms": [DOMINO], "colour": "#009e73"},
        "items[",
    ),
    "copies that count as one": ("claim.count_labelled", COUNT, "claim.count_labelled: claims "),
    "some of the pieces": ("problem.pieces_count", 4, "problem.open: must be 0 where"),
    "no flips": ("problem.flips", False, "items["),
    "one solution more": (
        "claim.count",
        COUNT + 1,
        f"claim.count: claims {COUNT + 1}, but the proof gives {COUNT}",
    ),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """The set's file, and the certificate of its challenge."""
    folder = tmp_path_factory.mktemp("rules")
    path = folder / "rules.toml"
    path.write_text(SET)
    certificate = folder / "all.json"
    arguments = [str(path), "all", "--count", "--certificate", str(certificate), "-q"]
    assert main(["solve", *arguments]) == 0
    return path, json.loads(certificate.read_text())


def certified(document: Any, folder: Path, capsys: Capture, *options: str) -> tuple[int, str]:
    """The exit code of the command, and what it says."""
    file = folder / "c.json"
    file.write_text(json.dumps(document))
    capsys.readouterr()
    code = main(["certify", str(file), *options])
    output = capsys.readouterr()
    return code, output.out + output.err


@pytest.mark.parametrize("fault", FAULTS)
def test_no_rule_can_be_changed(
    fault: str, files: tuple[Path, Any], tmp_path: Path, capsys: Capture
) -> None:
    path, document = files
    assert certified(document, tmp_path, capsys, "--set", str(path))[0] == 0
    place, value, expected = FAULTS[fault]
    forged = changed(document, place, value)
    assert forged != document
    code, text = certified(forged, tmp_path, capsys)
    assert code != 0
    assert expected in text
    if code == 2 or not place.startswith("problem."):
        return
    code, text = certified(forged, tmp_path, capsys, "--set", str(path))
    assert (code, "differs from the challenge all of rules that is in" in text) == (1, True)
    if place.startswith("problem.pieces."):
        other = forged | {"challenge": "other"}
        code, text = certified(other, tmp_path, capsys, "--set", str(path))
        assert (code, "differs from the piece" in text) == (1, True)
    forged["problem_sha256"] = document["problem_sha256"]
    code, text = certified(forged, tmp_path, capsys)
    assert (code, "but the problem's hash is" in text) == (1, True)


@pytest.mark.parametrize("clue", [line for line in SET.splitlines() if line.startswith("    {")])
def test_a_clue_without_others_limits_the_pieces(
    clue: str, tmp_path: Path, capsys: Capture
) -> None:
    path, certificate = tmp_path / "rules.toml", tmp_path / "all.json"
    path.write_text(f"{SET.partition('clue =')[0]}clue = [{clue}]\n")
    arguments = [str(path), "all", "--count", "--certificate", str(certificate), "-q"]
    assert main(["solve", *arguments]) == 0
    document = json.loads(certificate.read_text())
    assert certified(document, tmp_path, capsys, "--set", str(path))[0] == 0


def test_an_option_may_use_no_more_copies_than_are_left() -> None:
    """One option covers both cells with two copies of a piece, of which there is one."""
    one_copy = Replay(2, (1,), OptionTable([0b11], [0], [2], lambda item: [0]), pieces_count=2)
    assert one_copy.count([0], "items") == 0


@pytest.mark.parametrize("open_count", [0, 1, 3])
def test_other_numbers_of_open_cells_are_no_proof_about_the_challenge(
    open_count: int, files: tuple[Path, Any], tmp_path: Path, capsys: Capture
) -> None:
    """By their area the pieces leave two cells open, no more and no less."""
    path, document = files
    forged = changed(document, "problem.open", open_count)
    forged |= {"claim": {"answer": "impossible"}, "argument": {"by": "area"}}
    assert certified(forged, tmp_path, capsys)[0] == 0
    code, text = certified(forged, tmp_path, capsys, "--set", str(path))
    assert (code, "differs from the challenge all of rules that is in" in text) == (1, True)


#: A piece of balls that covers five or six cells, so that three or two of eight stay open.
BALLS = """
[set]
name = "balls"
lattice = "square"
moves = "rotations and flips"

[[piece]]
id = "g"
balls = [[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0], [1, 1, 0], [1, 0, 1]]
bonds = [[0, 1], [1, 2], [0, 3], [1, 4], [1, 5]]

[[board]]
id = "board"
size = [4, 2]

[[challenge]]
id = "c"
board = "board"
open = 3
"""


def test_no_open_cell_is_no_proof_where_pieces_may_leave_some(
    tmp_path: Path, capsys: Capture
) -> None:
    """How many cells stay open depends on how the piece lies, so the set's number must be proved."""
    path = tmp_path / "balls.toml"
    path.write_text(BALLS)
    asked = tmp_path / "asked.toml"
    asked.write_text(BALLS.replace("open = 3", "open = 0"))
    file = tmp_path / "asked.json"
    assert main(["solve", str(asked), "c", "--certificate", str(file), "-q"]) == 1
    document = json.loads(file.read_text())
    assert certified(document, tmp_path, capsys, "--set", str(asked))[0] == 0
    code, text = certified(document, tmp_path, capsys, "--set", str(path))
    assert (code, "differs from the challenge c of balls that is in" in text) == (1, True)
