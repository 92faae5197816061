"""What is no certificate at all is refused with the place, what was found, what was expected."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from fabkit.cli import main
from tests.support.flakes import filed, square_flake
from tests.support.sketches import TWICE, TWO, by_items, squares
from tests.support.transcripts import certificate, checksum, stated

Document = dict[str, Any]
Capture = pytest.CaptureFixture[str]

CERTIFICATE = stated(TWO, TWICE, by_items(0, 2, 1))
CROSS = square_flake(
    "odd", [0, 2], squares("b", (0, 0), (0, 1), (0, 2)), squares("c", (0, 0), (1, 0))
)
SHAPES = filed(CROSS, CROSS.proof(random.Random(1), reduced=False))
SHAPE = SHAPES["shapes"][0]

COUNTED = certificate(TWO, up_to=True)["claim"]
LARGE = [[0, 0], [2000, 0], [2000, 2000], [0, 2000]]
MONOMINO = [[0, 0], [2, 0], [2, 2], [0, 2]]
HALF = [[0, 0], [1, 0], [1, 2], [0, 2]]
LONG = [[0, 0], [10000, 0], [10000, 2], [0, 2]]
OFF = "does not lie on the lattice: an area of"
KIND = 'is not a certificate; expected an object with "kind": "fabkit certificate"'
NEWER = "was written by a newer fabkit (schema 2, this one knows 1); update fabkit"
UNPRINTABLE = "holds characters that cannot be printed"
CENTRES = "centres: expected [[0, 0]], [[1, 1]] or [[0, 0], [1, 1]], found"
#: The tip of a quarter square is cut off and laid where no centroid is.
CUT = [[[0, 0], [6, 0], [4, 2], [2, 2]], [[20, 20], [21, 20], [21, 21], [20, 21]]]

#: The place that is changed, the value put there, and the message.
CERTIFICATES: list[tuple[str, object, str]] = [
    ("kind", "x", KIND),
    ("schema", 2, NEWER),
    ("schema", 0, "schema: is 0; expected at least 1"),
    ("problme", 1, 'problme: unknown key; did you mean "problem"?'),
    ("problem", [], "problem: expected an object, found []"),
    ("set", 1, "set: expected a text, found 1"),
    ("set", "\x1b[31m", rf'set: "\x1b[31m" {UNPRINTABLE}'),
    ("set", "x" * 201, "set: has 201 characters; expected at most 200"),
    ("challenge", "", "challenge: has 0 characters; expected at least 1"),
    ("problem_sha256", None, "problem_sha256: expected a text, found null"),
    (
        "problem.lattice",
        "cube",
        'problem.lattice: expected "square", "quarter-square" or "triangular", found "cube"',
    ),
    ("problem.flips", 1, "problem.flips: expected true or false, found 1"),
    ("problem.pieces_count", 3, "problem.pieces_count: is 3; expected 0 to 2"),
    ("problem.region", [], "problem.region: has 0 entries; expected at least 1"),
    ("problem.region", [MONOMINO[:2]], "problem.region[0]: has 2 entries; expected at least 3"),
    (
        "problem.region",
        [[[0, 0], [2, 0], [4, 0], [2, 0]]],
        "problem.region: from [4, 0] to [2, 0] runs along an edge a second time",
    ),
    (
        "problem.region",
        [[[0, 0], [4, 2], [0, 2]]],
        "problem.region: from [0, 0] to [4, 2] does not run along edges of cells",
    ),
    ("problem.region", [HALF], f"problem.region: {OFF} 0.5 cells around 0 centroids"),
    (
        "problem.region",
        [[[0, 0], [2, 0], [2, 0], [0, 2]]],
        "problem.region: the corner [2, 0] stands twice in a row",
    ),
    (
        "problem.region",
        [[[0, 0, 0], [2, 0], [2, 2]]],
        "problem.region[0][0]: has 3 entries; expected at most 2",
    ),
    (
        "problem.region",
        [[[0.5, 0], [2, 0], [2, 2]]],
        "problem.region[0][0][0]: expected a whole number, found 0.5",
    ),
    (
        "problem.region",
        [[[0, 0], [10**9, 0], [0, 2]]],
        "problem.region[0][1][0]: is 1000000000; expected at most 100000",
    ),
    ("problem.region", [LARGE], "problem.region: encloses more than 10000 cells"),
    (
        "problem.region",
        [[[40 * x, 40 * y] for x, y in LARGE]],
        "problem.region: is too large, or far too thin, to be looked through",
    ),
    (
        "problem.region",
        [MONOMINO] * 2001,
        "problem.region: has 2001 entries; expected at most 2000",
    ),
    ("problem.pieces", [], "problem.pieces: has 0 entries; expected at least 1"),
    (
        "problem.pieces",
        [{"id": f"p{i}", "forms": [[MONOMINO]]} for i in range(1001)],
        "problem.pieces: has 1001 entries; expected at most 1000",
    ),
    (
        "problem.pieces",
        [{"id": "a", "forms": [[MONOMINO]]}] * 2,
        'problem.pieces[1].id: "a" is the id of pieces[0] already',
    ),
    (
        "problem.pieces",
        [{"id": f"p{i}", "forms": [[[[x // 10, y // 10] for x, y in LARGE]]]} for i in range(30)],
        "problem.pieces[19].forms[0]: with those before, encloses more than 200000 cells",
    ),
    (
        "problem.pieces",
        [{"id": f"p{i}", "forms": [[MONOMINO]] * 201} for i in range(10)],
        "problem.pieces: have 2010 forms; expected at most 2000",
    ),
    (
        "problem.pieces",
        [{"id": "a", "form": []}],
        'problem.pieces[0].form: unknown key; did you mean "forms"?',
    ),
    (
        "problem.given",
        [{"piece": "z", "outline": [MONOMINO]}],
        'problem.given[0].piece: there is no piece "z"',
    ),
    (
        "claim",
        {"answer": "maybe"},
        'claim: expected "impossible", "unique" or "count", found "maybe"',
    ),
    ("claim.count", -1, "claim.count: is -1; expected at least 0"),
    ("claim", COUNTED, "argument.fixed: must be given, since a count up to symmetry is claimed"),
    (
        "argument.fixed",
        [[]],
        "argument.fixed: must be null, since no count up to symmetry is claimed",
    ),
    (
        "argument.by",
        "trust",
        'argument: expected "area", "colouring" or "transcript", found "trust"',
    ),
    ("argument", {}, "argument: lacks 'by'"),
    (
        "argument",
        {"by": "area"},
        'argument: "area" can only show that a challenge is impossible, not "count"',
    ),
    ("argument.items", "0 2 1", 'argument.items: expected a list, found "0 2 1"'),
    ("argument.items", [0, -2, -1], "argument.items[1]: is -2; expected at least 0"),
    ("argument.items", [0, True, 1], "argument.items[1]: expected a whole number, found true"),
]

FILES_OF_SHAPES: list[tuple[str, object, str]] = [
    ("shape", [], 'shape: unknown key; did you mean "shapes"?'),
    ("set", None, "set: expected a text, found null"),
    (
        "lattice",
        "triangular",
        'lattice: expected "square" or "quarter-square", found "triangular"',
    ),
    ("centres", 1, "centres: expected a list, found 1"),
    ("centres", [], f"{CENTRES} []"),
    ("centres", [[1, 1], [0, 0]], f"{CENTRES} [[1, 1], [0, 0]]"),
    (
        "centres",
        [[0, 0], [1, 1]],
        "shapes[0].cells: has 1 lists of cells; expected 2, one for each centre",
    ),
    ("pieces", [], "pieces: has 0 entries; expected at least 1"),
    ("pieces.1.id", "b", 'pieces[1].id: "b" is the id of pieces[0] already'),
    (
        "pieces.0.forms.0",
        [LONG, [[0, 4], [20002, 4], [20002, 6], [0, 6]]],
        "pieces[0].forms[0]: encloses more than 10000 cells",
    ),
    ("shapes.0", [], "shapes[0]: expected an object, found []"),
    ("shapes.0.cells", 1, "shapes[0].cells: expected a list, found 1"),
    (
        "shapes.0.cells",
        [[[1, 1]], []],
        "shapes[0].cells: has 2 lists of cells; expected 1, one for each centre",
    ),
    ("shapes.0.cells", [[]], "shapes[0].cells: are none; a shape has at least one"),
    ("shapes.0.cells", [[[1, 100001]]], "shapes[0].cells[0][0][1]: is 100001; expected at most 100000"),
    (
        "shapes.0.cells",
        [[[1, 1], [2, 1]]],
        "shapes[0].cells[0][1]: [2, 1] is not the centroid of a cell",
    ),
    (
        "shapes.0.cells",
        [[[1, 3], [1, 1], [3, 1]]],
        "shapes[0].cells[0][2]: [3, 1] is in the orbit of cells[0][0] already",
    ),
    (
        "shapes",
        [SHAPE, SHAPE | {"cells": [[[1, 1], [-1, 1]]]}],
        "shapes[1]: is shapes[0] again",
    ),
    ("shapes.0.branch_first", "5", 'shapes[0].branch_first: expected a whole number, found "5"'),
    ("shapes.0.items", None, "shapes[0].items: expected a list, found null"),
    (
        "shapes.0.cells",
        [[[1, 2 * x] for x in range(10_001)]],
        "shapes: hold more than 10000 cells about one centre",
    ),
]  # fmt: skip


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
    """Runs the command; returns what it said, without the file's name."""
    Path("c.json").write_bytes(content if isinstance(content, bytes) else content.encode())
    assert main(["certify", "c.json"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("fabkit: c.json: ")
    return said.err.removeprefix("fabkit: c.json: ").rstrip("\n")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_malformed_files_get_their_messages(capsys: Capture) -> None:
    for document, table in ((CERTIFICATE, CERTIFICATES), (SHAPES, FILES_OF_SHAPES)):
        for place, value, expected in table:
            assert refused(json.dumps(changed(document, place, value)), capsys) == expected, place
    lattice = changed(CERTIFICATE, "problem.lattice", "quarter-square")
    cut = changed(lattice, "problem.region", CUT)
    expected = "problem.region: does not lie on the lattice: it cuts cells"
    assert refused(json.dumps(cut), capsys) == expected


def test_all_faults_are_told_at_once(capsys: Capture) -> None:
    lacking = changed(CERTIFICATE, "problem", {"lattice": "cube", "flip": True})
    assert refused(json.dumps(changed(lacking, "set", 1)), capsys).splitlines() == [
        "7 faults",
        "  set: expected a text, found 1",
        '  problem.lattice: expected "square", "quarter-square" or "triangular", found "cube"',
        *(f"  problem.{key}: is missing" for key in ("leftover", "region", "pieces", "given")),
        '  problem.flip: unknown key; did you mean "flips"?',
    ]


PLAIN = json.dumps(CERTIFICATE)
NOT_JSON: list[tuple[str | bytes, str]] = [
    ("", "is not JSON: Expecting value (at line 1, column 1)"),
    (PLAIN[:-30], "is not JSON: "),
    ("[]", KIND),
    ('"x"', KIND),
    (PLAIN.replace('"schema": 1', '"schema": NaN'), "is not JSON: NaN is not a number"),
    (PLAIN.replace("[0, 2, 1]", "[-Infinity]"), "-Infinity is not a number"),
    ('{"kind": 1, "kind": 2}', 'the key "kind" stands twice'),
    ("[" * 100_000 + "]" * 100_000, "is nested too deeply"),
    (PLAIN.replace("[0, 2, 1]", f"[{'9' * 5000}]"), "is not JSON: a number has too many digits"),
    ("[" + "[]," * 2_000_001 + "[]]", "holds more than 2000000 lists"),
    (PLAIN.replace("mine", "M\xfcnze").encode("latin-1"), "is not UTF-8 text (byte "),
    (b"\0" * 1000, "is not JSON: "),
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


def any_value_exchanged(times: int, capsys: Capture) -> None:
    rng = random.Random(times)
    choose: Callable[[Any], Any] = rng.choice
    for _ in range(times):
        said = deepcopy(rng.choice([CERTIFICATE, SHAPES]))
        inside, key = said, choose(list(said))
        while isinstance(inside[key], (dict, list)) and inside[key] and rng.random() < 0.8:
            inside = inside[key]
            key = choose(list(inside) if isinstance(inside, dict) else range(len(inside)))
        inside[key] = deepcopy(choose(VALUES))
        Path("c.json").write_text(json.dumps(said))
        assert main(["certify", "-q", "c.json"]) in (0, 1, 2)
        assert "Traceback" not in capsys.readouterr().err


def test_any_value_exchanged_is_refused(capsys: Capture) -> None:
    any_value_exchanged(40, capsys)


@pytest.mark.long
def test_many_values_exchanged_are_refused(capsys: Capture) -> None:
    any_value_exchanged(400, capsys)
