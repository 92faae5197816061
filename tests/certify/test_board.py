"""Files of impossible shapes: real proofs hold, and nothing that is not true does."""

from __future__ import annotations

import hashlib
import json
import random
from copy import deepcopy
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from fabkit.certify import board, verify
from fabkit.certify.document import parse
from fabkit.certify.verdict import Verdict
from fabkit.cli import main
from fabkit.model.lattice import LATTICES
from fabkit.model.piece import Piece
from fabkit.model.puzzle import PuzzleSet
from fabkit.puzzles.snowflakes.catalog import impossible_shapes_document
from fabkit.puzzles.snowflakes.field import Field
from fabkit.puzzles.snowflakes.query import SnowflakeQuery
from fabkit.puzzles.snowflakes.search import (
    combined_sha256,
    search_candidates,
    try_candidates,
    unpack_result,
)
from fabkit.sets.library import load_set
from tests.solve.test_certificate import change_items
from tests.support.flakes import Document, Flake, filed, flake_of, reason, square_flake, verdict_on
from tests.support.sketches import corner, domino, flat, squares

Capture = pytest.CaptureFixture[str]

# --- real proofs ----------------------------------------------------------------------------------


@cache
def searched(
    set_name: str, ids: str, parity: str, half_width: Any, flips: bool, most: int | None = 300
) -> tuple[Document, tuple[str, ...], tuple[Any, ...]]:
    """A file as a search writes it; the hashes of its proofs; and the shapes that have tilings."""
    puzzle = mine() if set_name == "mine" else load_set(set_name)
    chosen = tuple(ids) or tuple(piece.id for piece in puzzle.pieces)
    query = SnowflakeQuery(puzzle, chosen, (parity,), flips)
    candidates = unpack_result(search_candidates(query, parity, half_width, 0, 1))["candidates"][
        :most
    ]
    tried = unpack_result(try_candidates(query, parity, half_width, candidates))
    proved = [one for one in tried if one.get("engine") == "search"]
    field = query.field(parity, half_width)
    document = impossible_shapes_document(
        set_name, field, query.selected_pieces, flips, [one["proof"] for one in proved]
    )
    solved = tuple(
        flake_of(field, orbits, query.selected_pieces, flips)
        for orbits, one in zip(candidates, tried, strict=True)
        if one["verdict"] == "solved"
    )
    return {"schema": 1, **document}, tuple(one["sha256"] for one in proved), solved


def mine() -> PuzzleSet:
    """A set with copies: four trominoes, and other ones."""
    pieces = (*map(corner, "abcd"), *(squares(name, (0, 0), (0, 1), (0, 2)) for name in "xyz"))
    return PuzzleSet("mine", "Mine", LATTICES["square"], True, pieces, (), (), "", "mine")


REAL = {
    "even": ("fridgeiq", "", "even", 4, False),
    "mixed": ("fridgeiq", "", "mixed", (3, 3), False),
    "flips": ("fridgeiq", "", "odd", 3, True),
    "few": ("fridgeiq", "RMJIT", "odd", 2, False),
    "squares": ("iqblock", "", "even", 5, True),
    "copies": ("mine", "abcdxyz", "odd", 3, True),
}


@pytest.mark.integration
@pytest.mark.parametrize("name", REAL)
def test_real_proofs_hold_and_changed_ones_are_refused(name: str) -> None:
    document, hashes, solved = searched(*REAL[name])
    shares: list[float] = []
    file = parse(document, "s.json")
    verdict = verify(file, None, lambda share, _: shares.append(share))
    nodes = sum(len(shape["items"]) for shape in document["shapes"])
    assert verdict.reason is None
    assert (verdict.holds, verdict.shapes, verdict.nodes) == (True, len(hashes), nodes)
    assert verdict.compared == (name != "copies")
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert len(hashes) > 1
    assert file.sha256 == combined_sha256(hashes)
    rng = random.Random(name)
    shape = rng.choice(document["shapes"])
    items, cell = shape["items"], next(cell for part in shape["cells"] for cell in part)
    for change, expected in (
        ({"items": items[:-1]}, "items: the transcript ends while a branch is open"),
        ({"items": [*items, 0]}, f"items[{len(items)}]: extra items after the complete tree"),
        ({"branch_first": 0}, "branch_first: 0 is not the number of a kind"),
    ):
        found = reason(document | {"shapes": [shape | change]})
        assert found == f"shapes[0] (with the cell {cell}): {expected}"
    for flake in solved[:2]:  # what has a tiling is refused with any proof of another shape
        for shape in rng.sample(document["shapes"], min(10, len(document["shapes"]))):
            cells: list[list[list[int]]] = [[] for _ in flake.centres]
            for orbit in {flake.orbit(cell) for cell in flake.cells}:
                part, cell = min(orbit)
                cells[part].append(list(cell))
            verdict = verdict_on(document | {"shapes": [shape | {"cells": cells}]})
            assert isinstance(verdict, Verdict)
            assert not verdict.holds
    if name == "few":
        assert reason(document | {"centres": [[0, 0]]}) != "None"


# --- planted faults
# --------------------------------------------------------------------------------

#: Eight squares around one, which these pieces fill.
BENT, STRAIGHT = corner("x"), squares("i", (0, 0), (0, 1), (0, 2))
FRAME = square_flake("odd", [1, 2], domino("a"), BENT, STRAIGHT)


def test_a_shape_with_tilings_is_refused_with_a_whole_search() -> None:
    assert FRAME.tilable
    shape = FRAME.proof(random.Random(1), reduced=True)
    assert reason(filed(FRAME, shape)).endswith("the transcript leads to a solution")


def test_a_piece_drawn_smaller_is_not_the_set_s() -> None:
    document = deepcopy(searched(*REAL["squares"])[0])
    document["pieces"][1]["forms"] = document["pieces"][0]["forms"]
    verdict = verify(parse(document, "s.json"))
    expected = 'differs from the piece "1" of iqblock that is shipped'
    assert verdict == Verdict(False, expected, compared=True)
    document["pieces"][1]["id"] = "9"
    assert verify(parse(document, "s.json")).reason == 'iqblock has no piece "9"'
    document["set"] = "fridgeiq"
    other = verify(parse(document, "s.json")).reason
    assert other == "the lattice of fridgeiq is quarter-square, not square"


def test_parts_that_overlap_are_no_shape() -> None:
    field = Field.for_parity(LATTICES["square"], "mixed", 2)
    for one, others in enumerate(field.conflicts):
        for other in range(len(field.orbits)):
            if field.board_of(one) == field.board_of(other):
                continue
            flake = flake_of(
                field, [one, other], (squares("b", *((0, x) for x in range(20))),), False
            )
            shape = flake.proof(random.Random(1), reduced=False)
            found = reason(filed(flake, shape))
            overlap = found.endswith("): cells of the two lattices overlap")
            assert overlap == (other in others), (one, other)
            assert overlap or found == "None"


# --- random shapes
# ---------------------------------------------------------------------------------


def random_flake(rng: random.Random) -> Flake:
    """A tiny shape; the pieces are cut from it, and one is exchanged now and then."""
    lattice = LATTICES[rng.choice(["square", "quarter-square"])]
    parity = rng.choice(["even", "odd", "mixed", "mixed"])
    field = Field.for_parity(lattice, parity, 2 if parity == "mixed" else rng.choice([1, 2]))
    chosen: list[int] = []
    size, wanted = 0, rng.choice([1, 2, 3])
    for orbit in rng.sample(range(len(field.orbits)), len(field.orbits)):
        clear = field.conflicts[orbit].isdisjoint(chosen)
        parts = {field.board_of(one) for one in chosen}
        new = len(chosen) < wanted or field.board_of(orbit) not in parts
        if clear and new and size + field.orbit_sizes[orbit] <= 16:
            chosen.append(orbit)
            size += field.orbit_sizes[orbit]
    pieces: list[Piece] = []
    whole = flake_of(field, chosen, (), False)
    for part in range(len(whole.centres)):
        cells = sorted(cell for at, cell in whole.cells if at == part)
        if rng.random() < 0.3:
            rng.shuffle(cells)
        while cells:
            used = rng.randint(1, 4)
            pieces.append(flat(lattice.name, f"p{len(pieces)}", frozenset(cells[:used])))
            cells = cells[used:]
    for at in rng.sample(range(len(pieces)), min(len(pieces), rng.choice([0, 1, 2]))):
        others = rng.sample(sorted(field.boards[0].cells), len(pieces[at].forms[0].cells))
        pieces[at] = flat(lattice.name, f"p{at}", frozenset(others))
    return replace(whole, pieces=tuple(pieces), flips=rng.random() < 0.5)


def changed(flake: Flake, shape: Document, rng: random.Random) -> tuple[Flake, Document]:
    """A file's rules or a proof, changed in one way."""
    kind = rng.randrange(7)
    if kind == 0:
        items = shape["items"][:]
        change_items(items, rng)
        return flake, shape | {"items": items}
    if kind == 1:
        n = len(flake.cells)
        first = rng.choice([None, *range(n - 1, n + len(flake.kinds) + 1)])
        items = [first, *shape["items"][1:]] if first and rng.random() < 0.5 else shape["items"]
        return flake, shape | {"branch_first": first, "items": items}
    if kind == 2:
        return replace(flake, flips=not flake.flips), shape
    if kind == 3:
        at = rng.randrange(len(flake.pieces))
        cells = flake.pieces[at].forms[0].cells
        fewer = flat(
            flake.lattice.name, flake.pieces[at].id, frozenset(sorted(cells)[:-1] or cells)
        )
        return replace(flake, pieces=(*flake.pieces[:at], fewer, *flake.pieces[at + 1 :])), shape
    if kind == 4 and len(flake.centres) == 1:
        half = flake.lattice.per_unit // 2
        there = half - flake.centres[0][0]
        return replace(flake, centres=((there, there),)), shape
    if kind == 5:
        return replace(flake, pieces=flake.pieces[::-1]), shape
    parts = deepcopy(shape["cells"])
    part = rng.choice([part for part in parts if part])
    x, y = rng.choice(part)
    cell = [x + rng.choice([-6, -2, 0, 2, 6]), y + rng.choice([-6, -2, 0, 2, 6])]
    if rng.random() < 0.5:
        part[rng.randrange(len(part))] = cell
    else:
        part.append(cell)
    return flake, shape | {"cells": parts}


def believed(flake: Flake, shape: Document) -> bool:
    """Whether a proof is accepted; then there must be no tiling of what it speaks of."""
    verdict = verdict_on(filed(flake, shape))
    if isinstance(verdict, str) or not verdict.holds:
        return False
    seeds = [(at, (x, y)) for at, part in enumerate(shape["cells"]) for x, y in part]
    meant = replace(flake, cells=frozenset().union(*map(flake.orbit, seeds)))
    assert not meant.tilable, (filed(flake, shape), meant)
    return True


@pytest.mark.parametrize(
    "seeds", [range(24), pytest.param(range(1000, 2200), marks=pytest.mark.long)], ids=len
)
def test_random_proofs_hold_as_long_as_there_is_no_tiling(seeds: range) -> None:
    held = tilable = refused = on_both = 0
    for seed in seeds:
        rng = random.Random(seed)
        flake = random_flake(rng)
        shape = flake.proof(rng, reduced=rng.random() < 0.7)
        assert believed(flake, shape) == (not flake.tilable), seed
        tilable += flake.tilable
        on_both += all(shape["cells"]) and len(shape["cells"]) == 2
        for _ in range(4):
            believed_still = believed(*changed(flake, shape, rng))
            held, refused = held + believed_still, refused + (not believed_still)
    assert min(tilable, held, refused, on_both) > len(seeds) // 10, (held, tilable, on_both)


# --- the command
# ------------------------------------------------------------------------------------

CROSS = square_flake(
    "odd", [0, 2], squares("b", (0, 0), (0, 1), (0, 2)), squares("c", (0, 0), (1, 0))
)
BOTH = flake_of(Field.for_parity(LATTICES["square"], "mixed", 2), [0, 1], (CROSS.pieces[0],), False)
CROSS_FILE = filed(CROSS, CROSS.proof(random.Random(1), reduced=False))
SHAPE = CROSS_FILE["shapes"][0]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def certified(document: Document, *options: str) -> int:
    Path("s.json").write_text(json.dumps(document))
    return main(["certify", *options, "s.json"])


def test_what_is_too_large_is_not_tried(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    for bound in ("MAX_TABLE_SIZE", "MAX_COVERED", "MAX_CELLS"):
        with monkeypatch.context() as patch:
            patch.setattr(board, bound, 1)
            assert certified(CROSS_FILE) == 2
        assert "fabkit: s.json: shapes" in capsys.readouterr().err


def test_what_holds_is_stated_in_plain_words(capsys: Capture) -> None:
    assert certified(CROSS_FILE, "-v") == 0
    output = capsys.readouterr()
    nodes = len(SHAPE["items"])
    assert output.out.startswith(
        "Certified: mine has no solution on any of 1 shape of odd parity "
        f"(pieces b c; {nodes} branch nodes replayed)\n"
        "pieces may not be turned over; all proofs together: sha256 "
    )
    assert output.err == (
        'warning: there is no shipped set "mine", so only what the file itself draws is proved, not '
        "that it is about the pieces of mine\n"
    )
    assert certified(CROSS_FILE, "--json") == 0
    verdict = json.loads(capsys.readouterr().out)
    shortest = json.dumps(SHAPE, sort_keys=True, separators=(",", ":"))
    one = hashlib.sha256(shortest.encode()).hexdigest()
    assert list(verdict)[:5] == ["schema", "file", "set", "holds", "parity"]
    assert (verdict["pieces"], verdict["flips"], verdict["compared"]) == (["b", "c"], False, False)
    assert (verdict["shapes"], verdict["proved"], verdict["nodes"]) == (1, 1, nodes)
    assert verdict["certificates_sha256"] == hashlib.sha256(one.encode()).hexdigest()
    assert certified(CROSS_FILE | {"shapes": []}) == 0
    assert "on any of 0 shapes of odd parity" in capsys.readouterr().out
    shape = BOTH.proof(random.Random(1), reduced=True)
    assert [bool(part) for part in shape["cells"]] == [True, False]  # a part may be empty
    assert certified(filed(BOTH, shape)) == 0
    assert "of mixed parity" in capsys.readouterr().out


def test_the_first_shape_that_is_not_proved_is_named(capsys: Capture) -> None:
    other = {"cells": [[[1, 1]]], "branch_first": None, "items": []}
    assert certified(CROSS_FILE | {"shapes": [SHAPE, other, SHAPE | {"cells": [[[1, 3]]]}]}) == 1
    reason = "shapes[1] (with the cell [1, 1]): items: the transcript ends while a branch is open"
    assert capsys.readouterr().out == f"REJECTED: mine: {reason}\n"
    assert certified(CROSS_FILE | {"shapes": [SHAPE, other]}, "--json") == 1
    verdict = json.loads(capsys.readouterr().out)
    assert (verdict["holds"], verdict["shapes"], verdict["proved"]) == (False, 2, 1)
    assert (verdict["certificates_sha256"], verdict["reason"]) == (None, reason)
