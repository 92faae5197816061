"""The files that `fabkit solve` writes: certificates, formulas with refutations, drawings."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from fabkit.cli import main
from fabkit.solve.engines import ENGINES
from tests.support.drat import refutes

Capture = pytest.CaptureFixture[str]

STRIP = '{"pieces": ["0"], "cells": [0, 1, 2, 3, 4, 8, 9, 10, 11, 12]}'
pytestmark = pytest.mark.usefixtures("empty_folder")


def files() -> list[str]:
    return sorted(path.name for path in Path().iterdir())


# --- certificates
# ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "holds"),
    [
        (["fridgeiq", "rectangle_02_b"], 1, "fridgeiq rectangle_02_b has no solution"),
        (["fridgeiq", "rectangle_02_b", "--count"], 1, "fridgeiq rectangle_02_b has no solution"),
        (["fridgeiq", "triangle_01", "--unique"], 0, "triangle_01 has exactly one solution"),
        (["fridgeiq", "square_02", "--count"], 0,
         "has 84 solutions, 168 with identical pieces distinguished, 21 up to symmetry"),
        (["fridgeiq", "square_01", "--all"], 0, "square_01 has 4 solutions, 1 up to symmetry"),
        (["iqstars", "--count"], 0, "iqstars board has 381 solutions"),
        (["iqblock", "--count"], 0, "iqblock square has 48 solutions, 6 up to symmetry"),
        (["iqblock", "--file", "strip.json"], 1, "iqblock strip has no solution (pieces 0; "),
        (["iqblock", "--file", "strip.json", "--leftover", "--count"], 0, "with cells left over"),
    ],
    ids=lambda value: " ".join(value[:4]) if isinstance(value, list) else "",
)  # fmt: skip
def test_certificates_hold(arguments: list[str], code: int, holds: str, capsys: Capture) -> None:
    Path("strip.json").write_text(STRIP)
    assert main(["solve", *arguments, "--certificate", "new/proof.json"]) == code
    output = capsys.readouterr()
    assert output.out.endswith("\nWrote new/proof.json\n")
    assert output.err == ""
    assert main(["certify", "new/proof.json"]) == 0
    verdict = capsys.readouterr().out
    assert verdict.startswith("Certified: ")
    assert holds in verdict


def test_certificates_do_not_depend_on_the_engine() -> None:
    arguments = ["fridgeiq", "triangle_01", "--unique", "-q"]
    assert main(["solve", *arguments, "--certificate", "plain.json"]) == 0
    for engine in set(ENGINES) - {"mip"}:
        assert main(["solve", *arguments, "--certificate", "e.json", "--engine", engine]) == 0
        assert Path("plain.json").read_bytes() == Path("e.json").read_bytes(), engine


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["square_01"], 0),
        (["square_01", "--unique"], 1),
        (["square_02", "--all", "--limit", "3"], 0),
        (["square_10", "--count", "--engine", "sat", "--budget", "0"], 1),
    ],
    ids=["a solution", "not unique", "some of all", "unknown"],
)
def test_an_answer_that_needs_no_proof_gets_no_certificate(
    arguments: list[str], code: int, capsys: Capture
) -> None:
    assert main(["solve", "fridgeiq", *arguments, "--certificate", "new/c.json"]) == code
    output = capsys.readouterr()
    assert output.err == (
        "warning: new/c.json was not written: a certificate proves that a challenge is impossible, "
        "that its solution is unique (--unique), or its count (--count)\n"
    )
    assert "Wrote" not in output.out
    assert files() == []


@pytest.mark.integration
def test_a_count_that_is_too_large_to_be_certified_is_refused_with_its_size(
    capsys: Capture,
) -> None:
    """The count itself is printed all the same."""
    assert main(["solve", "iqfit", "--count", "--certificate", "c.json", "--json"]) == 2
    output = capsys.readouterr()
    assert json.loads(output.out)["count"] == 301_350
    assert re.fullmatch(
        r"fabkit: iqfit board: the transcript of its count would have about \d00,000,000 "
        r"nodes; a certificate takes at most 1,000,000, so certify impossibility or uniqueness "
        r"instead",
        output.err.splitlines()[-1],
    )
    assert files() == []


def test_a_budget_that_ends_before_the_proof(capsys: Capture) -> None:
    arguments = ["fridgeiq", "rectangle_02_b", "--budget", "0", "--certificate", "c.json"]
    assert main(["solve", *arguments, "--cnf", "c.cnf"]) == 1
    output = capsys.readouterr()
    assert output.out.startswith("rectangle_02_b: no solution (")
    assert "warning: time limit reached before the proof was complete" in output.err
    assert files() == []


def test_a_challenge_is_not_overwritten_by_its_certificate(capsys: Capture) -> None:
    Path("strip.json").write_text(STRIP)
    Path("same.json").symlink_to("strip.json")
    for name in ("strip.json", "./strip.json", "same.json"):
        assert main(["solve", "iqblock", "--file", "strip.json", "--certificate", name]) == 2
        expected = "fabkit: --certificate: is the challenge's own file; choose another one\n"
        assert capsys.readouterr().err == expected
    assert Path("strip.json").read_text() == STRIP


# --- formulas
# --------------------------------------------------------------------------------------


def clauses(path: str) -> list[tuple[int, ...]]:
    """A DIMACS file's clauses; its head must fit them."""
    lines = [line.split() for line in Path(path).read_text().splitlines() if line[0] != "c"]
    found = [tuple(map(int, line[:-1])) for line in lines[1:]]
    assert lines[0] == ["p", "cnf", lines[0][2], str(len(found))]
    assert all(line[-1] == "0" for line in lines[1:])
    assert max(abs(literal) for clause in found for literal in clause) <= int(lines[0][2])
    return found


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["fridgeiq", "rectangle_02_b"], 1),
        (["fridgeiq", "rectangle_02_b", "--unique"], 1),
        (["fridgeiq", "triangle_01", "--unique"], 0),
        (["fridgeiq", "triangle_01", "--unique", "--engine", "count"], 0),
        (["iqblock", "--file", "strip.json"], 1),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_impossible_gets_a_refutation(
    arguments: list[str], code: int, capsys: Capture
) -> None:
    """Of a unique solution, the refutation says that there is no other."""
    Path("strip.json").write_text(STRIP)
    assert main(["solve", *arguments, "--cnf", "f.cnf"]) == code
    assert capsys.readouterr().out.endswith("\nWrote f.cnf\nWrote f.drat\n")
    assert refutes(Path("f.drat").read_text(), clauses("f.cnf"))


@pytest.mark.parametrize("question", ["--first", "--count", "--unique"])
def test_what_can_be_solved_gets_its_formula_alone(question: str) -> None:
    from pysat.solvers import Solver

    assert main(["solve", "fridgeiq", "square_01", question, "--cnf", "f.cnf", "-q"]) in (0, 1)
    assert files() == ["f.cnf"]
    with Solver("cadical195", bootstrap_with=clauses("f.cnf")) as solver:
        assert solver.solve()


# --- drawings and other files
# ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["fridgeiq", "square_02", "--count"], "84 solutions, 21 up to symmetry"),
        (["fridgeiq", "square_01", "--count"], "one solution"),
        (["iqstars"], "board"),
        (["iqfit", "--unique"], "at least 2 solutions"),
        (["fridgeiq", "rectangle_02_b"], "0 solutions"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_the_challenge_is_drawn(arguments: list[str], expected: str, capsys: Capture) -> None:
    assert main(["solve", *arguments, "--svg", "new/s.svg"]) in (0, 1)
    assert capsys.readouterr().out.endswith("\nWrote new/s.svg\n")
    assert expected in "".join(ET.parse("new/s.svg").getroot().itertext())
