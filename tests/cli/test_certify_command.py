"""`fabkit certify`: what it prints, what scripts get, and the exit codes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fabkit.cli import main
from fabkit.model.puzzle import Challenge, problem_document
from fabkit.sets.library import load_set
from tests.support.sketches import (
    IMPOSSIBLE,
    SKETCHES,
    Sketch,
    board,
    certificate,
    checksum,
    domino,
    length,
    stated,
)

Capture = pytest.CaptureFixture[str]
pytestmark = pytest.mark.usefixtures("empty_folder")


def written(document: dict[str, Any], **changes: object) -> str:
    Path("c.json").write_text(json.dumps(document | changes))
    return "c.json"


def shipped(set_name: str, challenge: str, argument: dict[str, Any]) -> dict[str, Any]:
    """A certificate for a shipped challenge; whether it holds is another question."""
    puzzle = load_set(set_name)
    ids = tuple(piece.id for piece in puzzle.pieces)
    boards = [Challenge(b.id, b.cells, ids, flips=puzzle.flips) for b in puzzle.boards]
    meant = next(one for one in (*puzzle.challenges, *boards) if one.id == challenge)
    problem = problem_document(puzzle, meant)
    return stated(SKETCHES["copies"], IMPOSSIBLE, argument) | {
        "set": set_name,
        "challenge": challenge,
        "problem": problem,
        "problem_sha256": checksum(problem),
    }


EMPTY = {"by": "transcript", "branch_first": None, "items": [], "fixed": None}


def test_a_certificate_that_holds(capsys: Capture) -> None:
    assert main(["certify", written(certificate(SKETCHES["copies"]))]) == 0
    output = capsys.readouterr()
    assert output.out.startswith(
        "Certified: mine one has 5 solutions, 120 with identical pieces distinguished, 4 up to "
        "symmetry (pieces a b c d; "
    )
    assert output.out.endswith(" branch nodes replayed)\n")
    assert 'warning: there is no shipped set "mine"' in output.err


def test_every_sort_of_claim_in_plain_words(capsys: Capture) -> None:
    dominoes = tuple(map(domino, "ab"))
    sketch = SKETCHES["does not fit"]
    expected = {
        "has no solution (pieces a b; 1 branch node replayed)": certificate(sketch),
        "has no solution (pieces a b; a colouring does not add up)": stated(
            sketch, IMPOSSIBLE, {"by": "colouring", "weights": [0] * 6}
        ),
        "has no solution (pieces a b; the areas do not add up)": stated(
            replace(SKETCHES["copies"], pieces=dominoes), IMPOSSIBLE, {"by": "area"}
        ),
        "has exactly one solution (pieces a; 0 branch nodes replayed)": certificate(
            SKETCHES["all given"]
        ),
        "has 29 solutions, with cells left over, 58 with identical pieces distinguished": certificate(
            replace(SKETCHES["copies"], pieces=dominoes, open_count=4)
        ),
    }
    for text, document in expected.items():
        assert main(["certify", written(document)]) == 0
        assert text in capsys.readouterr().out


def test_a_certificate_for_scripts(capsys: Capture) -> None:
    good = certificate(SKETCHES["copies"])
    assert main(["certify", "--json", written(good)]) == 0
    document = json.loads(capsys.readouterr().out)
    assert 0 <= document.pop("seconds") < 60
    assert document == {
        "schema": 1,
        "file": "c.json",
        "set": "mine",
        "challenge": "one",
        "holds": True,
        "claim": good["claim"],
        "pieces": [piece["id"] for piece in good["problem"]["pieces"]],
        "given": 0,
        "flips": False,
        "open": 0,
        "reason": None,
        "nodes": length(good),
        "compared": False,
    }
    assert main(["certify", "--json", written(good, problem_sha256="0" * 64)]) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["holds"], document["nodes"]) == (False, 0)
    assert document["reason"].startswith(
        f"problem_sha256 is {'0' * 64}, but the problem's hash is "
    )


# --- labels ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("set_name", "challenge"),
    [("fridgeiq", "square_01"), ("cubimagici", "tray"), ("iqfit", "board")],
)
def test_a_shipped_challenge_is_compared_with_what_is_shipped(
    set_name: str, challenge: str, capsys: Capture
) -> None:
    """The argument does not hold, but the labels do: that is what is looked at here."""
    assert main(["certify", "--json", written(shipped(set_name, challenge, EMPTY))]) == 1
    verdict = json.loads(capsys.readouterr().out)
    assert verdict["compared"]
    assert verdict["reason"] == "items: the transcript ends while a branch is open"


def test_a_shipped_challenge_may_not_lose_a_piece(capsys: Capture) -> None:
    document = shipped("fridgeiq", "square_01", {"by": "area"})
    document["problem"]["pieces"].pop()
    document["problem_sha256"] = checksum(document["problem"])
    assert main(["certify", written(document, challenge="mine")]) == 0
    assert 'warning: fridgeiq has no challenge "mine"' in capsys.readouterr().err
    assert main(["certify", written(document)]) == 1
    assert capsys.readouterr().out == (
        "REJECTED: fridgeiq square_01: differs from the challenge square_01 of fridgeiq that is "
        "shipped\n"
    )


@pytest.mark.parametrize(("set_name", "start"), [("iqfit", "start-012"), ("fridgeiq", "start-050")])
def test_a_shipped_start_is_compared_with_what_is_shipped(
    set_name: str, start: str, capsys: Capture
) -> None:
    """One of a list of one's own may have its name, which is reported."""
    assert main(["solve", set_name, start, "--unique", "--certificate", "c.json", "-q"]) == 0
    capsys.readouterr()
    assert main(["certify", "c.json"]) == 0
    output = capsys.readouterr()
    assert f"Certified: {set_name} {start} has exactly one solution" in output.out
    assert output.err == ""
    document = json.loads(Path("c.json").read_text())
    assert main(["certify", written(document, challenge="start-051")]) == 0
    assert f"warning: the shipped start-051 of {set_name} is a different challenge, so" in (
        capsys.readouterr().err
    )


MINE = """
[set]
name = "mine"
lattice = "square"
moves = "rotations"
[[piece]]
id = "a"
cells = [[0, 0], [0, 1]]
[[piece]]
id = "b"
cells = [[0, 0], [0, 1]]
[[board]]
id = "one"
size = [2, 2]
"""


def test_a_set_file_is_compared_when_it_is_named(capsys: Capture) -> None:
    Path("mine.toml").write_text(MINE)
    right = Sketch(SKETCHES["copies"].lattice, board("square", 2, 2), tuple(map(domino, "ab")))
    assert main(["certify", "--set", "mine.toml", written(certificate(right))]) == 0
    output = capsys.readouterr()
    assert output.out.startswith("Certified: mine one has 2 solutions")
    assert output.err == ""
    wrong = certificate(SKETCHES["copies"])
    assert main(["certify", "--set", "mine.toml", written(wrong)]) == 1
    expected = "REJECTED: mine one: differs from the challenge one of mine that is in mine.toml\n"
    assert capsys.readouterr().out == expected
    assert main(["certify", "--set", "fridgeiq", written(wrong)]) == 1
    expected = 'REJECTED: mine one: is about the set "mine", not about fridgeiq\n'
    assert capsys.readouterr().out == expected
    assert main(["certify", "--set", "frigdeiq", written(wrong)]) == 2
    assert 'there is no set "frigdeiq"' in capsys.readouterr().err


def test_a_certificate_of_a_renamed_set_is_refused(capsys: Capture) -> None:
    """Not only where the set has a challenge of that name: its pieces are others, too."""
    Path("mine.toml").write_text(MINE.replace("cells = [[0, 0], [0, 1]]", "cells = [[0, 0]]"))
    right = Sketch(SKETCHES["copies"].lattice, board("square", 2, 2), tuple(map(domino, "ab")))
    document = certificate(right) | {"challenge": "other"}
    assert main(["certify", "--set", "mine.toml", written(document)]) == 1
    expected = 'differs from the piece "a" of mine that is in mine.toml\n'
    assert capsys.readouterr().out == f"REJECTED: mine other: {expected}"
    other = shipped("iqblock", "square", {"by": "area"}) | {"challenge": "mine"}
    for name, reason in (
        ("cubimagici", "cubimagici has no piece"),
        ("fridgeiq", "the lattice of fridgeiq is quarter-square, not square"),
    ):
        assert main(["certify", written(other, set=name)]) == 1
        assert f"REJECTED: {name} mine: {reason}" in capsys.readouterr().out
