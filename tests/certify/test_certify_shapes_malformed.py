"""`fabkit certify` on files of impossible shapes: what it prints, and what it says of bad files."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from fabkit.certify import board, orbits
from fabkit.cli import main
from fabkit.model.lattice import LATTICES
from fabkit.puzzles.snowflakes.field import Field
from tests.certify.test_certify_malformed import at
from tests.support.flakes import Document, filed, flake_of, square_flake
from tests.support.sketches import squares

Capture = pytest.CaptureFixture[str]

BAR = squares("b", (0, 0), (0, 1), (0, 2))
CROSS = square_flake("odd", [0, 2], BAR, squares("c", (0, 0), (1, 0)))
MIXED = flake_of(Field.of(LATTICES["square"], "mixed", 2), [0, 1], (BAR,), False)
CROSS_FILE = filed(CROSS, CROSS.proof(random.Random(1), reduced=False))
SHAPE = CROSS_FILE["shapes"][0]
CELL = "expected a cell [x, y] of whole numbers from -100000 to 100000, found"
CENTRES = "centres: expected [[0, 0]], [[1, 1]] or [[0, 0], [1, 1]], found"
WHOLE = "expected a whole number of at least 0"
CELLS = at("shapes", 0, "cells")
LONG = [[0, 0], [10000, 0], [10000, 2], [0, 2]]

MALFORMED: dict[str, tuple[Callable[[Document], None], str]] = {
    "kind-unknown": (
        at("kind")("fabkit shapes"),
        'is not a certificate; expected an object with "kind": "fabkit certificate"',
    ),
    "schema-newer": (
        at("schema")(2),
        "was written by a newer fabkit (schema 2, this one knows 1); update fabkit",
    ),
    "schema-true": (at("schema")(True), "schema: expected a whole number from 1 to 1, found true"),
    "key-unknown": (at("shape")([]), 'unknown key "shape"; did you mean "shapes"?'),
    "set-null": (at("set")(None), "set: expected a text, found null"),
    "lattice-triangular": (
        at("lattice")("triangular"),
        'lattice: expected "square" or "quarter-square", found "triangular"',
    ),
    "flips-number": (at("flips")(0), "flips: expected true or false, found 0"),
    "centres-number": (at("centres")(1), f"{CENTRES} 1"),
    "centres-none": (at("centres")([]), f"{CENTRES} []"),
    "centres-elsewhere": (at("centres")([[1, 0]]), f"{CENTRES} [[1, 0]]"),
    "centres-order": (at("centres")([[1, 1], [0, 0]]), f"{CENTRES} [[1, 1], [0, 0]]"),
    "centres-true": (at("centres")([[True, True]]), f"{CENTRES} [[true, true]]"),
    "centres-real": (at("centres")([[1.0, 1]]), f"{CENTRES} [[1.0, 1]]"),
    "centres-another": (
        at("centres")([[0, 0], [1, 1]]),
        "shapes[0].cells: has 1 lists of cells, one for each centre; expected at least 2",
    ),
    "pieces-none": (at("pieces")([]), "pieces: has 0 pieces; expected at least 1"),
    "piece-twice": (
        at("pieces", 1, "id")("b"),
        'pieces[1].id: "b" is the id of pieces[0] already',
    ),
    "piece-beside-the-lattice": (
        at("pieces", 0, "forms", 0)([[[0, 0], [1, 0], [1, 2], [0, 2]]]),
        "pieces[0].forms[0]: does not lie on the lattice: an area of 0.5 cells around 0 centroids",
    ),
    "piece-key": (at("pieces", 0, "colour")("red"), 'pieces[0]: unknown key "colour"; known are id, forms'),
    "shapes-null": (at("shapes")(None), "shapes: expected a list of shapes, found null"),
    "shapes-number": (at("shapes")(7), "shapes: expected a list of shapes, found 7"),
    "shape-list": (at("shapes", 0)([]), "shapes[0]: expected an object, found []"),
    "shape-key": (
        at("shapes", 0, "item")(1),
        'shapes[0]: unknown key "item"; did you mean "items"?',
    ),
    "shape-lacks": (at("shapes", 0)({"cells": []}), "shapes[0]: lacks branch_first, items"),
    "cells-number": (CELLS(1), "shapes[0].cells: expected a list of lists of cells, one for each centre, found 1"),
    "cells-of-two": (
        CELLS([[], []]),
        "shapes[0].cells: has 2 lists of cells, one for each centre; expected at most 1",
    ),
    "cells-none": (CELLS([[]]), "shapes[0].cells: are none; a shape has at least one"),
    "cells-flat": (CELLS([5]), "shapes[0].cells[0]: expected a list of cells, found 5"),
    "cell-number": (CELLS([[5]]), f"shapes[0].cells[0][0]: {CELL} 5"),
    "cell-of-three": (CELLS([[[1, 1], [1, 1, 1]]]), f"shapes[0].cells[0][1]: {CELL} [1, 1, 1]"),
    "cell-real": (CELLS([[[1.0, 1]]]), f"shapes[0].cells[0][0]: {CELL} [1.0, 1]"),
    "cell-true": (CELLS([[[True, 1]]]), f"shapes[0].cells[0][0]: {CELL} [true, 1]"),
    "cell-far-away": (CELLS([[[100001, 1]]]), f"shapes[0].cells[0][0]: {CELL} [100001, 1]"),
    "cell-beside-the-lattice": (
        CELLS([[[1, 1], [2, 1]]]),
        "shapes[0].cells[0][1]: [2, 1] is not the centroid of a cell",
    ),
    "cell-twice": (
        CELLS([[[1, 1], [1, 1]]]),
        "shapes[0].cells[0][1]: [1, 1] is in the orbit of cells[0][0] already",
    ),
    "orbit-twice": (
        CELLS([[[1, 3], [1, 1], [3, 1]]]),
        "shapes[0].cells[0][2]: [3, 1] is in the orbit of cells[0][0] already",
    ),
    "shape-twice": (
        at("shapes")([SHAPE, SHAPE | {"cells": [[[1, 1], [-1, 1]]]}]),
        "shapes[1]: is shapes[0] again",
    ),
    "branch-first-text": (
        at("shapes", 0, "branch_first")("5"),
        f'shapes[0].branch_first: {WHOLE}, found "5"',
    ),
    "branch-first-below-0": (
        at("shapes", 0, "branch_first")(-1),
        f"shapes[0].branch_first: {WHOLE}, found -1",
    ),
    "items-null": (
        at("shapes", 0, "items")(None),
        "shapes[0].items: expected a list of whole numbers, found null",
    ),
    "item-true": (at("shapes", 0, "items")([0, True]), f"shapes[0].items[1]: {WHOLE}, found true"),
    "too-many-cells": (
        CELLS([[[2 * x + 1, 1] for x in range(1, 2600)]]),
        "shapes: hold more than 10000 cells about one centre",
    ),
    "too-many-points": (
        CELLS([[[1, 2 * x] for x in range(10_001)]]),
        "shapes: hold more than 10000 cells about one centre",
    ),
    "far-too-large-a-piece": (
        at("pieces", 0, "forms", 0)([LONG, [[0, 4], [20002, 4], [20002, 6], [0, 6]]]),
        "pieces[0].forms[0]: encloses more than 10000 cells",
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def certified(said: Document, *options: str) -> int:
    Path("s.json").write_text(json.dumps(said))
    return main(["certify", *options, "s.json"])


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_file_gets_its_message(name: str, capsys: Capture) -> None:
    change, expected = MALFORMED[name]
    said = deepcopy(CROSS_FILE)
    change(said)
    assert certified(said) == 2
    assert capsys.readouterr() == ("", f"fabkit: s.json: {expected}\n")


@pytest.mark.parametrize(
    ("module", "bound"), [(board, "MAX_IN_A_TABLE"), (board, "MAX_COVERED"), (orbits, "MAX_CELLS")]
)
def test_what_is_too_large_is_not_tried(
    module: object, bound: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr(module, bound, 1)
    assert certified(CROSS_FILE) == 2
    assert "fabkit: s.json: shapes" in capsys.readouterr().err


def test_a_single_shape_that_is_too_large_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    problem = board.Board.problem

    def late(self: board.Board, *arguments: Any) -> Any:
        monkeypatch.setattr(board, "MAX_IN_A_TABLE", 1)
        return problem(self, *arguments)

    monkeypatch.setattr(board.Board, "problem", late)
    assert certified(CROSS_FILE) == 2
    assert capsys.readouterr().err == "fabkit: s.json: shapes[0]: is too large to be checked\n"


@pytest.mark.long
def test_any_value_exchanged_is_told_or_refused(capsys: Capture) -> None:
    rng = random.Random(1)
    values = [None, True, -1, 0, 1.5, 10**30, "", "x", [], {}, [[]], [[0, 0]], {"id": 1}]
    for _ in range(200):
        said = deepcopy(CROSS_FILE)
        inside, key = said, rng.choice(list(said))
        while isinstance(inside[key], (dict, list)) and inside[key] and rng.random() < 0.8:
            inside = inside[key]
            key = rng.choice(list(inside) if isinstance(inside, dict) else range(len(inside)))
        inside[key] = deepcopy(rng.choice(values))
        assert certified(said, "-q") in (0, 1, 2)
        assert len(capsys.readouterr().err.splitlines()) <= 1


def test_what_holds_is_said_in_plain_words(capsys: Capture) -> None:
    assert certified(CROSS_FILE, "-v") == 0
    said = capsys.readouterr()
    nodes = len(SHAPE["items"])
    assert said.out.startswith(
        "holds: mine has no solution on any of 1 shape of odd parity "
        f"(pieces b c; {nodes} branch nodes replayed)\n"
        "pieces may not be turned over; all proofs together: sha256 "
    )
    assert said.err == (
        'note: there is no shipped set "mine", so only what the file itself draws is proved, not '
        "that it is about the pieces of mine\n"
    )


def test_a_file_without_shapes_says_nothing_and_holds(capsys: Capture) -> None:
    assert certified(CROSS_FILE | {"shapes": []}) == 0
    assert "on any of 0 shapes of odd parity" in capsys.readouterr().out


def test_a_part_of_a_mixed_shape_may_be_empty(capsys: Capture) -> None:
    shape = MIXED.proof(random.Random(1), reduced=True)
    assert [bool(part) for part in shape["cells"]] == [True, False]
    assert certified(filed(MIXED, shape)) == 0
    assert "of mixed parity" in capsys.readouterr().out


def test_scripts_are_told_the_number_and_the_hash(capsys: Capture) -> None:
    assert certified(CROSS_FILE, "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert 0 <= said.pop("seconds") < 60
    shortest = json.dumps(SHAPE, sort_keys=True, separators=(",", ":"))
    one = hashlib.sha256(shortest.encode()).hexdigest()
    assert said == {
        "schema": 1,
        "file": "s.json",
        "set": "mine",
        "holds": True,
        "parity": "odd",
        "pieces": ["b", "c"],
        "flips": False,
        "shapes": 1,
        "proved": 1,
        "certificates_sha256": hashlib.sha256(one.encode()).hexdigest(),
        "reason": None,
        "nodes": len(SHAPE["items"]),
        "compared": False,
    }


def test_the_first_shape_that_is_not_proved_is_named(capsys: Capture) -> None:
    other = {"cells": [[[1, 1]]], "branch_first": None, "items": []}
    assert certified(CROSS_FILE | {"shapes": [SHAPE, other, SHAPE | {"cells": [[[1, 3]]]}]}) == 1
    reason = "shapes[1] (with the cell [1, 1]): items: the transcript ends while a branch is open"
    assert capsys.readouterr().out == f"refused: mine: {reason}\n"
    assert certified(CROSS_FILE | {"shapes": [SHAPE, other]}, "--json") == 1
    said = json.loads(capsys.readouterr().out)
    assert (said["holds"], said["shapes"], said["proved"]) == (False, 2, 1)
    assert (said["certificates_sha256"], said["reason"]) == (None, reason)
