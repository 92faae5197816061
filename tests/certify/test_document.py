"""What is no certificate at all is refused with the place, what was found, what was expected."""

from __future__ import annotations

import json
import random
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from fabkit.cli import main
from tests.support.flakes import filed, square_flake
from tests.support.sketches import TWICE, TWO, Document, by_items, checksum, squares, stated

Capture = pytest.CaptureFixture[str]

CERTIFICATE = stated(TWO, TWICE, by_items(0, 2, 1))
CROSS = square_flake(
    "odd", [0, 2], squares("b", (0, 0), (0, 1), (0, 2)), squares("c", (0, 0), (1, 0))
)
SHAPES = filed(CROSS, CROSS.proof(random.Random(1), reduced=False))
SHAPE = SHAPES["shapes"][0]

MONOMINO = [[0, 0], [2, 0], [2, 2], [0, 2]]
KIND = 'is not a certificate; expected an object with "kind": "fabkit certificate"'
BORDER = "is not on the border of the cells inside"
REGION = "problem.region"

#: The place that is changed, the value put there, and what the message says.
CERTIFICATES: list[tuple[str, object, str]] = [
    ("kind", "x", KIND),
    ("schema", 2, "was written by a newer fabkit (schema 2, this one knows 1); update fabkit"),
    ("schema", 0, "schema: should be greater than or equal to 1, found 0"),
    ("problme", 1, 'problme: unknown key; did you mean "problem"?'),
    ("set", 1, "set: expected a string, found 1"),
    ("set", "\x1b[31m", r'set: "\x1b[31m" contains unprintable characters'),
    ("problem_sha256", None, "problem_sha256: expected a string, found null"),
    (
        "problem.lattice",
        "cube",
        'problem.lattice: expected "square", "quarter-square", "hexagon", "triangle", "kite", ',
    ),
    ("problem.flips", 1, "problem.flips: expected true or false, found 1"),
    ("problem.pieces_count", 3, "problem.pieces_count: is 3; expected 0 to 2"),
    (REGION, [], "problem.region: tuple should have at least 1 item"),
    (REGION, [[[0, 0, 0], [2, 0], [2, 2]]], "problem.region[0][0]: tuple should have at most 2"),
    (REGION, [[[0.5, 0], [2, 0], [2, 2]]], "problem.region[0][0][0]: expected a whole number"),
    (REGION, [[[0, 0], [10**9, 0], [0, 2]]], "problem.region[0][1][0]: should be less than"),
    (REGION, [[[0, 0], [4, 2], [0, 2]]], f"problem.region: from [0, 0] to [2, 1] {BORDER}"),
    (REGION, [MONOMINO, MONOMINO], f"problem.region: from [0, 0] to [1, 0] {BORDER}"),
    (REGION, [[[0, 0], [1, 0], [1, 2], [0, 2]]], f"problem.region: from [0, 0] to [1, 0] {BORDER}"),
    (REGION, [[[0, 0], [1000, 0], [1000, 1000], [0, 1000]]], "problem.region: is too large or"),
    (REGION, [[[0, 0], [2, 0], [400, 400], [0, 400]]], "problem.region: encloses more than 10000"),
    ("problem.pieces", [], "problem.pieces: tuple should have at least 1 item"),
    (
        "problem.pieces",
        [{"id": "a", "forms": [[MONOMINO]]}] * 2,
        'problem.pieces[1].id: "a" is already the id of pieces[0]',
    ),
    ("problem.pieces.0.form", [], 'problem.pieces[0].form: unknown key; did you mean "forms"?'),
    (
        "problem.given",
        [{"piece": "z", "outline": [MONOMINO]}],
        'problem.given[0].piece: there is no piece "z"',
    ),
    ("claim", {"answer": "maybe"}, "claim: input tag 'maybe' found using 'answer' does not match"),
    ("claim.count", -1, "claim.count: should be greater than or equal to 0, found -1"),
    (
        "claim",
        {"answer": "count", **TWO.truth},
        "argument.fixed: must be given, since a count up to symmetry is claimed",
    ),
    (
        "argument.fixed",
        [[]],
        "argument.fixed: must be null, since no count up to symmetry is claimed",
    ),
    (
        "argument",
        {"by": "area"},
        'argument: "area" can only show that a challenge is impossible, not "count"',
    ),
    ("argument.items", "0 2 1", 'argument.items: expected a list, found "0 2 1"'),
    ("argument.items", [0, True, 1], "argument.items[1]: expected a whole number, found true"),
]

FILES_OF_SHAPES: list[tuple[str, object, str]] = [
    ("shape", [], 'shape: unknown key; did you mean "shapes"?'),
    ("centres", [], "centres: expected [[0, 0]], [[1, 1]] or [[0, 0], [1, 1]], found []"),
    (
        "centres",
        [[0, 0], [1, 1]],
        "shapes[0].cells: has 1 lists of cells; expected 2, one for each centre",
    ),
    ("pieces.1.id", "b", 'pieces[1].id: "b" is already the id of pieces[0]'),
    ("shapes.0.cells", [[]], "shapes[0].cells: is empty; a shape needs at least one cell"),
    (
        "shapes.0.cells",
        [[[1, 1], [2, 1]]],
        "shapes[0].cells[0][1]: [2, 1] is not the centroid of a cell",
    ),
    (
        "shapes.0.cells",
        [[[1, 3], [1, 1], [3, 1]]],
        "shapes[0].cells[0][2]: [3, 1] is already in the orbit of cells[0][0]",
    ),
    ("shapes", [SHAPE, SHAPE | {"cells": [[[1, 1], [-1, 1]]]}], "shapes[1]: repeats shapes[0]"),
    (
        "shapes.0.cells",
        [[[1, 2 * x] for x in range(10_001)]],
        "shapes: hold more than 10000 cells about one centre",
    ),
]


def changed(document: Document, place: str, value: object) -> Document:
    """A document with a value put at a place such as ``problem.pieces.0``."""
    found = deepcopy(document)
    *path, last = (int(step) if step.isdigit() else step for step in place.split("."))
    inside: Any = found
    for step in path:
        inside = inside[step]
    inside[last] = value
    if "problem_sha256" in found and place.startswith("problem."):
        found["problem_sha256"] = checksum(found["problem"])
    return found


def refused(content: str | bytes, capsys: Capture) -> str:
    """Runs the command; returns its message, without the file's name."""
    Path("c.json").write_bytes(content if isinstance(content, bytes) else content.encode())
    assert main(["certify", "c.json"]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("fabkit: c.json: ")
    return output.err.removeprefix("fabkit: c.json: ").rstrip("\n")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_malformed_files_get_their_messages(capsys: Capture) -> None:
    for document, table in ((CERTIFICATE, CERTIFICATES), (SHAPES, FILES_OF_SHAPES)):
        for place, value, expected in table:
            message = refused(json.dumps(changed(document, place, value)), capsys)
            assert message.startswith(expected), place


def test_all_faults_are_reported_at_once(capsys: Capture) -> None:
    lacking = changed(CERTIFICATE, "problem", {"lattice": "cube", "flip": True})
    lines = refused(json.dumps(changed(lacking, "set", 1)), capsys).splitlines()
    assert [line.partition(":")[0].strip() for line in lines] == [
        "6 errors",
        "set",
        *(f"problem.{key}" for key in ("lattice", "region", "pieces", "given", "flip")),
    ]
    assert lines[-1] == '  problem.flip: unknown key; did you mean "flips"?'


PLAIN = json.dumps(CERTIFICATE)
NOT_JSON: list[tuple[str | bytes, str]] = [
    (PLAIN[:-30], "is not JSON: "),
    ("[]", KIND),
    (PLAIN.replace('"schema": 1', '"schema": NaN'), "is not JSON: NaN is not a number"),
    ('{"kind": 1, "kind": 2}', 'the key "kind" is duplicated'),
    ("[" * 100_000 + "]" * 100_000, "is nested too deeply"),
    (PLAIN.replace("mine", "M\xfcnze").encode("latin-1"), "is not UTF-8 text (byte "),
]


def test_a_file_that_is_no_json_gets_its_message(capsys: Capture) -> None:
    for content, expected in NOT_JSON:
        assert expected in refused(content, capsys), content[:40]
    Path("folder").mkdir()
    assert [main(["certify", one]) for one in ("none.json", "folder")] == [2, 2]
    assert capsys.readouterr().err == (
        "fabkit: none.json: there is no such file\n"
        "fabkit: folder: is a folder; expected a certificate\n"
    )


VALUES = [None, True, -1, 0, 1.5, 10**30, "", "x", [], {}, [[]], [[0, 0]], {"id": 1}]


@pytest.mark.parametrize("times", [40, pytest.param(400, marks=pytest.mark.long)])
def test_any_value_exchanged_is_refused(times: int, capsys: Capture) -> None:
    rng = random.Random(times)
    for _ in range(times):
        document: Any = deepcopy(rng.choice([CERTIFICATE, SHAPES]))
        inside, key = document, rng.choice(list(document))
        while isinstance(inside[key], (dict, list)) and inside[key] and rng.random() < 0.8:
            inside = inside[key]
            key = rng.choice(list(inside) if isinstance(inside, dict) else range(len(inside)))
        inside[key] = deepcopy(rng.choice(VALUES))
        Path("c.json").write_text(json.dumps(document))
        assert main(["certify", "-q", "c.json"]) in (0, 1, 2)
        assert "Traceback" not in capsys.readouterr().err
