"""What is no certificate at all is told so, with the place, what was found, what was expected."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from fabkit.cli import main
from tests.support.sketches import TWICE, TWO, by_items
from tests.support.transcripts import certificate, checksum, stated

Document = dict[str, Any]
Capture = pytest.CaptureFixture[str]


def at(*path: str | int) -> Callable[[object], Callable[[Document], None]]:
    """Puts a value at a place of a document."""

    def put(value: object) -> Callable[[Document], None]:
        def change(document: Document) -> None:
            inside: Any = document
            for step in path[:-1]:
                inside = inside[step]
            inside[path[-1]] = value

        return change

    return put


def cut_quarter(document: Document) -> None:
    """The tip of a quarter square is cut off and laid where no centroid is."""
    document["problem"]["lattice"] = "quarter-square"
    tip = [[20, 20], [21, 20], [21, 21], [20, 21]]
    document["problem"]["region"] = [[[0, 0], [6, 0], [4, 2], [2, 2]], tip]


ITEMS, WHOLE = at("argument", "items"), "expected a whole number of at least 0"
REGION, PIECES = at("problem", "region"), at("problem", "pieces")
FORM = at("problem", "pieces", 0, "forms", 0)
COUNTED = certificate(TWO, up_to=True)["claim"]
LARGE = [[0, 0], [2000, 0], [2000, 2000], [0, 2000]]
MONOMINO = [[0, 0], [2, 0], [2, 2], [0, 2]]
BELOW_0 = "problem.region: expected a list of rings, found"
CORNER = "expected a corner [x, y] of whole numbers from -100000 to 100000, found"

MALFORMED = {
    "kind-other": (
        at("kind")("x"),
        'is not a certificate; expected an object with "kind": "fabkit certificate"',
    ),
    "schema-newer": (
        at("schema")(2),
        "was written by a newer fabkit (schema 2, this one knows 1); update fabkit",
    ),
    "schema-true": (at("schema")(True), "schema: expected a whole number from 1 to 1, found true"),
    "key-unknown": (at("problme")(1), 'unknown key "problme"; did you mean "problem"?'),
    "problem-is-a-list": (at("problem")([]), "problem: expected an object, found []"),
    "problem-lacks": (
        at("problem")({"lattice": "square"}),
        "problem: lacks flips, leftover, region, pieces, given",
    ),
    "set-number": (at("set")(1), "set: expected a text, found 1"),
    "set-escape": (
        at("set")("\x1b[31m"),
        r'set: "\x1b[31m" holds characters that cannot be printed',
    ),
    "set-half-a-character": (
        at("set")("\ud800"),
        r'set: "\ud800" holds characters that cannot be printed',
    ),
    "challenge-empty": (
        at("challenge")(""),
        "challenge: is 0 characters long; expected 1 to 200",
    ),
    "checksum-null": (at("problem_sha256")(None), "problem_sha256: expected a text, found null"),
    "lattice-unknown": (
        at("problem", "lattice")("cube"),
        'problem.lattice: expected "square" or "quarter-square" or "triangular", found "cube"',
    ),
    "lattice-list": (
        at("problem", "lattice")([]),
        'problem.lattice: expected "square" or "quarter-square" or "triangular", found []',
    ),
    "flips-number": (at("problem", "flips")(1), "problem.flips: expected true or false, found 1"),
    "leftover-null": (
        at("problem", "leftover")(None),
        "problem.leftover: expected true or false, found null",
    ),
    "region-empty": (REGION([]), "problem.region: has 0 rings; expected at least 1"),
    "region-number": (REGION(5), f"{BELOW_0} 5"),
    "ring-of-two": (
        REGION([[[0, 0], [2, 0]]]),
        "problem.region[0]: has 2 corners; expected at least 3",
    ),
    "ring-flat": (
        REGION([[[0, 0], [2, 0], [4, 0], [2, 0]]]),
        "problem.region: from [4, 0] to [2, 0] runs along an edge a second time",
    ),
    "ring-slanting": (
        REGION([[[0, 0], [4, 2], [0, 2]]]),
        "problem.region: from [0, 0] to [4, 2] does not run along edges of cells",
    ),
    "ring-half-a-cell": (
        REGION([[[0, 0], [1, 0], [1, 2], [0, 2]]]),
        "problem.region: does not lie on the lattice: an area of 0.5 cells around 0 centroids",
    ),
    "ring-beside-the-lattice": (
        REGION([[[1, 0], [3, 0], [3, 2], [1, 2]]]),
        "problem.region: does not lie on the lattice: an area of 1 cells around 0 centroids",
    ),
    "ring-across-cells": (
        REGION([[[-1, -1], [3, -1], [3, 1], [-1, 1]]]),
        "problem.region: does not lie on the lattice: an area of 2 cells around 0 centroids",
    ),
    "ring-cuts-cells": (
        cut_quarter,
        "problem.region: does not lie on the lattice: it cuts cells",
    ),
    "corner-twice": (
        REGION([[[0, 0], [2, 0], [2, 0], [0, 2]]]),
        "problem.region: the corner [2, 0] stands twice in a row",
    ),
    "corner-of-three": (
        REGION([[[0, 0, 0], [2, 0], [2, 2]]]),
        f"problem.region[0][0]: {CORNER} [0, 0, 0]",
    ),
    "corner-half": (
        REGION([[[0.5, 0], [2, 0], [2, 2]]]),
        f"problem.region[0][0]: {CORNER} [0.5, 0]",
    ),
    "corner-true": (
        REGION([[[True, 0], [2, 0], [2, 2]]]),
        f"problem.region[0][0]: {CORNER} [true, 0]",
    ),
    "corner-far-away": (
        REGION([[[0, 0], [10**9, 0], [0, 2]]]),
        f"problem.region[0][1]: {CORNER} [1000000000, 0]",
    ),
    "region-of-a-million-cells": (
        REGION([LARGE]),
        "problem.region: encloses more than 10000 cells",
    ),
    "region-of-a-billion-cells": (
        REGION([[[40 * x, 40 * y] for x, y in LARGE]]),
        "problem.region: is too large, or far too thin, to be looked through",
    ),
    "region-endless": (
        REGION([[[-100000, -100000 + i], [100000, i - 100000], [0, 0]] for i in range(3)]),
        "problem.region: from [100000, -100000] to [0, 0] does not run along edges of cells",
    ),
    "rings-too-many": (
        REGION([MONOMINO] * 2001),
        "problem.region: has 2001 rings; expected at most 2000",
    ),
    "rings-the-same": (
        REGION([MONOMINO] * 2),
        "problem.region: from [0, 0] to [2, 0] runs along an edge a second time",
    ),
    "pieces-none": (PIECES([]), "problem.pieces: has 0 pieces; expected at least 1"),
    "pieces-too-many": (
        PIECES([{"id": f"p{i}", "forms": [[MONOMINO]]} for i in range(1001)]),
        "problem.pieces: has 1001 pieces; expected at most 1000",
    ),
    "pieces-the-same-id": (
        PIECES([{"id": "a", "forms": [[MONOMINO]]}] * 2),
        'problem.pieces[1].id: "a" is the id of pieces[0] already',
    ),
    "pieces-of-too-many-cells": (
        PIECES(
            [
                {"id": f"p{i}", "forms": [[[[x // 10, y // 10] for x, y in LARGE]]]}
                for i in range(30)
            ]
        ),
        "problem.pieces[19].forms[0]: with those before, encloses more than 200000 cells",
    ),
    "piece-unknown-key": (
        PIECES([{"id": "a", "form": []}]),
        'problem.pieces[0]: unknown key "form"; did you mean "forms"?',
    ),
    "piece-of-half-a-cell": (
        FORM([[[0, 0], [2, 0], [2, 1], [0, 1]]]),
        "problem.pieces[0].forms[0]: does not lie on the lattice: "
        "an area of 0.5 cells around 0 centroids",
    ),
    "given-unknown": (
        at("problem", "given")([{"piece": "z", "outline": [MONOMINO]}]),
        'problem.given[0].piece: there is no piece "z"',
    ),
    "claim-unknown": (
        at("claim")({"answer": "maybe"}),
        'claim.answer: expected "impossible" or "unique" or "count", found "maybe"',
    ),
    "claim-negative": (
        at("claim")(TWICE | {"count": -1}),
        f"claim.count: {WHOLE}, found -1",
    ),
    "claim-half": (at("claim")(TWICE | {"count": 2.0}), f"claim.count: {WHOLE}, found 2.0"),
    "claim-up-to-symmetry-unproved": (
        at("claim")(COUNTED),
        "argument.fixed: must be given, since a count up to symmetry is claimed",
    ),
    "claim-unique-with-count": (
        at("claim")({"answer": "unique", "count": 1}),
        'claim: unknown key "count"; known are answer',
    ),
    "argument-unknown": (
        at("argument")(by_items() | {"by": "trust"}),
        'argument.by: expected "area" or "colouring" or "transcript", found "trust"',
    ),
    "argument-text": (at("argument")("trust me"), 'argument: expected an object, found "trust me"'),
    "argument-by-area-for-a-count": (
        at("argument")({"by": "area"}),
        'argument: "area" can only show that a challenge is impossible, not "count"',
    ),
    "items-text": (ITEMS("0 2 1"), 'argument.items: expected a list of whole numbers, found "0 2 1"'),
    "item-negative": (ITEMS([0, -2, 1]), f"argument.items[1]: {WHOLE}, found -2"),
    "item-true": (ITEMS([0, True, 1]), f"argument.items[1]: {WHOLE}, found true"),
    "item-list": (ITEMS([0, [2], 1]), f"argument.items[1]: {WHOLE}, found [2]"),
    "item-float": (ITEMS([0, 2.0, 1]), f"argument.items[1]: {WHOLE}, found 2.0"),
    "branch-first-true": (
        at("argument", "branch_first")(True),
        f"argument.branch_first: {WHOLE}, found true",
    ),
    "fixed-without-claim": (
        at("argument", "fixed")([[]]),
        "argument.fixed: must be null, since no count up to symmetry is claimed",
    ),
}  # fmt: skip

PLAIN = json.dumps(stated(TWO, TWICE, by_items(0, 2, 1)))
NOT_JSON = {
    "empty": ("", "is not JSON: Expecting value (at line 1, column 1)"),
    "truncated": (PLAIN[:-30], "is not JSON: "),
    "not-an-object": ("[]", "is not a certificate; expected an object"),
    "a-text": ('"x"', "is not a certificate; expected an object"),
    "nan": (PLAIN.replace('"schema": 1', '"schema": NaN'), "is not JSON: NaN is not a number"),
    "infinity": (PLAIN.replace("[0, 2, 1]", "[-Infinity]"), "-Infinity is not a number"),
    "key-twice": ('{"kind": 1, "kind": 2}', 'the key "kind" stands twice'),
    "nested": ("[" * 100_000 + "]" * 100_000, "is nested too deeply"),
    "digits": (
        PLAIN.replace("[0, 2, 1]", f"[{'9' * 5000}]"),
        "is not JSON: a number has too many digits",
    ),
    "lists": ("[" + "[]," * 2_000_001 + "[]]", "holds more than 2000000 lists"),
    "latin-1": (PLAIN.replace("mine", "M\xfcnze").encode("latin-1"), "is not UTF-8 text (byte "),
    "zeros": (b"\0" * 1000, "is not JSON: "),
}


def refused_as_input(content: str | bytes, folder: Path, capsys: Capture) -> str:
    """Runs the command; returns what it said, without the file's name."""
    content = content if isinstance(content, bytes) else content.encode()
    (folder / "c.json").write_bytes(content)
    start = time.monotonic()
    assert main(["certify", "c.json"]) == 2
    assert time.monotonic() - start < 10
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("fabkit: c.json: ")
    return said.err.removeprefix("fabkit: c.json: ").rstrip("\n")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_certificate_gets_its_message(name: str, home: Path, capsys: Capture) -> None:
    change, expected = MALFORMED[name]
    document = deepcopy(stated(TWO, TWICE, by_items(0, 2, 1)))
    change(document)
    if isinstance(document["problem"], dict):
        document["problem_sha256"] = document["problem_sha256"] and checksum(document["problem"])
    assert refused_as_input(json.dumps(document), home, capsys) == expected


@pytest.mark.parametrize("name", NOT_JSON)
def test_a_file_that_is_no_json_gets_its_message(name: str, home: Path, capsys: Capture) -> None:
    content, expected = NOT_JSON[name]
    assert expected in refused_as_input(content, home, capsys)


def test_a_file_that_is_not_there_or_a_folder_is_told(home: Path, capsys: Capture) -> None:
    (home / "folder").mkdir()
    assert [main(["certify", one]) for one in ("none.json", "folder")] == [2, 2]
    assert capsys.readouterr().err == (
        "fabkit: none.json: there is no such file\n"
        "fabkit: folder: is a folder; expected a certificate\n"
    )
