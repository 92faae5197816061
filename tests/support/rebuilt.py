"""From what a certificate says back to its problem, and the truth about that by trying everything.

Nothing here is shared with `fabkit.certify` or `fabkit.solve`, but for `posed`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from fabkit.model.lattice import LATTICES, Cell
from fabkit.model.piece import Form, Piece
from fabkit.model.polygon import cells_of_rings, rings_of_cells
from fabkit.model.puzzle import Challenge, Given, PuzzleSet
from fabkit.solve.engines.engine import Effort
from fabkit.solve.posing import PosedChallenge, pose
from fabkit.solve.transcript import certificate
from tests.support.oracle import Oracle
from tests.support.transcripts import Sketch, Solution, carried, solutions

Document = dict[str, Any]
Cells = frozenset[Cell]


class Truth(NamedTuple):
    """How many solutions there are: as they lie, with copies told apart, up to symmetry."""

    count: int
    labelled: int | None
    orbits: int


def written(posed: PosedChallenge, claim: str) -> Document:
    """A certificate as it stands in its file."""
    return json.loads(json.dumps({"schema": 1, **certificate(posed, claim)}))


def posed(sketch: Sketch) -> PosedChallenge:
    """A sketch as a challenge for the engines."""
    pieces = sketch.pieces
    puzzle = PuzzleSet("mine", "Mine", sketch.lattice, sketch.flips, pieces, (), (), "", "")
    ids = tuple(piece.id for piece in pieces)
    challenge = Challenge(
        "one", sketch.region, ids, sketch.given, sketch.flips, pieces_count=sketch.pieces_count
    )
    return pose(puzzle, challenge, sketch.leftover)


def is_small(one: PosedChallenge) -> bool:
    """Whether all solutions are soon listed."""
    return Oracle().enumerate(one.problem, Effort(), limit=2000).complete


def sketch_of(problem: Document) -> Sketch:
    """The problem that a certificate draws."""
    lattice = LATTICES[problem["lattice"]]

    def cells(rings: list[list[list[int]]]) -> Cells:
        drawn = [tuple((x, y) for x, y in ring) for ring in rings]
        return cells_of_rings(lattice, drawn, may_touch=True)

    def piece(said: Document) -> Piece:
        shapes = [cells(form) for form in said["forms"]]
        forms = tuple(Form("", shape, rings_of_cells(lattice, shape)) for shape in shapes)
        return Piece(said["id"], "P", "#e69f00", forms)

    return Sketch(
        lattice,
        cells(problem["region"]),
        tuple(map(piece, problem["pieces"])),
        problem["flips"],
        problem["leftover"],
        tuple(Given(one["piece"], cells(one["outline"])) for one in problem["given"]),
        problem.get("pieces_count"),
    )


def drawn(lattice: str, cells: Cells) -> list[list[list[int]]]:
    """Cells as a certificate draws them."""
    return [[list(point) for point in ring] for ring in rings_of_cells(LATTICES[lattice], cells)]


def truth(problem: Document) -> Truth:
    """What is true of a problem as a certificate states it."""
    return _truth(json.dumps(problem))


@cache
def _truth(text: str) -> Truth:
    sketch = sketch_of(json.loads(text))
    found = set(solutions(sketch) if sketch.leftover else _by_cells(sketch))
    labelled = len(found)
    for pieces in sketch.kinds:
        for copies in range(1, len(pieces) + 1):
            labelled *= copies
    classes, left = 0, set(found)
    while left:
        classes += 1
        one = left.pop()
        for permutation in sketch.group:
            left.discard(carried(sketch, one, permutation))
    if sketch.pieces_count is not None and any(len(pieces) > 1 for pieces in sketch.kinds):
        return Truth(len(found), None if found else 0, classes)
    return Truth(len(found), labelled, classes)


def _by_cells(sketch: Sketch) -> Iterator[Solution]:
    """Every solution, by covering the first bare cell in every way."""
    covering: dict[Cell, list[tuple[int, Cells]]] = {cell: [] for cell in sketch.remaining}
    for kind, pieces in enumerate(sketch.kinds):
        for cells in set(sketch.placed(pieces[0])):
            for cell in cells:
                covering[cell].append((kind, cells))

    def search(bare: list[Cell], left: tuple[int, ...]) -> Iterator[Solution]:
        if not bare:
            if start - sum(left) == sketch.pieces_used:
                yield frozenset()
            return
        free = set(bare)
        for kind, cells in covering[bare[0]]:
            if left[kind] and cells <= free:
                rest = [cell for cell in bare if cell not in cells]
                fewer = (*left[:kind], left[kind] - 1, *left[kind + 1 :])
                for solution in search(rest, fewer):
                    yield solution | {(kind, cells)}

    start = sum(map(len, sketch.kinds))
    yield from search(sketch.remaining, tuple(map(len, sketch.kinds)))


def is_true(document: Document) -> bool:
    """Whether a certificate's claim is true of the problem that it carries."""
    claim, found = document["claim"], truth(document["problem"])
    if claim["answer"] != "count":
        return found.count == {"impossible": 0, "unique": 1}[claim["answer"]]
    return claim["count_up_to_symmetry"] in (None, found.orbits) and (
        claim["count"],
        claim["count_labelled"],
    ) == (found.count, found.labelled)
