"""The parts into which the search for snowflakes is cut; each can be done anywhere, in any order.

A part is a function of plain arguments that returns bytes: packed JSON. Doing it again gives the
same bytes, unless a budget was spent.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from fabkit.core.files import json_sha256
from fabkit.model.piece import Piece
from fabkit.model.puzzle import PuzzleSet
from fabkit.puzzles.snowflakes.closure import Closure
from fabkit.puzzles.snowflakes.field import Field, HalfWidth
from fabkit.puzzles.snowflakes.proof import proof
from fabkit.puzzles.snowflakes.tiling import IMPOSSIBLE, OPEN, SOLVED, Attempt, Tiler
from fabkit.solve.answer import count_of
from fabkit.solve.difficulty import difficulty
from fabkit.solve.engines.engine import BudgetSpentError, Effort, Solution, engine_named
from fabkit.solve.engines.sat import formula, refutation
from fabkit.solve.engines.search import FewestWalk, in_slices, symmetric_start
from fabkit.solve.problem import ExactCoverProblem, Words

#: A first try takes at most so many nodes: a tenth of a second.
FIRST_NODES = 20_000
#: What is still open then is searched for up to so many: a proof that is not too long to check.
MOST_NODES = 25_000_000
UNKNOWN = "unknown"


@dataclass(frozen=True)
class Kind:
    """Which snowflakes are meant.

    Attributes:
        puzzle: the set.
        pieces: the ids of the pieces, each of which is used once.
        parity: of the centre.
        flips: whether pieces may be turned over.
        rigid: whether only shapes are meant that do not fall apart.
    """

    puzzle: PuzzleSet
    pieces: tuple[str, ...]
    parity: str
    flips: bool
    rigid: bool

    @property
    def chosen(self) -> tuple[Piece, ...]:
        """The pieces, in the set's order."""
        return self.puzzle.select(self.pieces)

    def field(self, half_width: HalfWidth) -> Field:
        """The boards of this parity."""
        return Field.of(self.puzzle.lattice, self.parity, half_width)

    def tiler(self, half_width: HalfWidth) -> Tiler:
        """What tries candidates there; it is kept for the next one."""
        return _tiler(self.parity, half_width, self.pieces, self.flips, _Same(self.puzzle))


@dataclass(frozen=True)
class _Same:
    """A set, compared by what its file says, which is quick."""

    puzzle: PuzzleSet

    def __hash__(self) -> int:
        return hash(self.puzzle.digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.puzzle.digest == other.puzzle.digest


@lru_cache(maxsize=8)
def _tiler(
    parity: str,
    half_width: HalfWidth,
    pieces: tuple[str, ...],
    flips: bool,
    same: _Same,
) -> Tiler:
    field = Field.of(same.puzzle.lattice, parity, half_width)
    return Tiler(field, same.puzzle.select(pieces), flips)


def packed(value: Any) -> bytes:
    """A value as a part's result: compressed JSON, the same bytes for the same value."""
    return zlib.compress(json.dumps(value, separators=(",", ":")).encode(), 6)


def unpacked(result: bytes) -> Any:
    """What a part's result holds.

    Example:
        >>> unpacked(packed([1, {"a": 2}]))
        [1, {'a': 2}]
    """
    return json.loads(zlib.decompress(result))


def search(kind: Kind, half_width: HalfWidth, part: int, parts: int) -> bytes:
    """The candidates among one part of the first piece's placements.

    Returns:
        ``unions``, ``of_full_area``, and ``candidates``: the orbits of each.
    """
    field = kind.field(half_width)
    pieces = sorted(kind.chosen, key=lambda piece: -len(piece.forms[0].cells))
    closure = Closure(field, tuple(pieces), kind.flips, kind.rigid)
    found = closure.candidates(slice(part, None, parts))
    return packed(
        {
            "unions": found.unions,
            "of_full_area": found.of_full_area,
            "candidates": [orbits_in(row[:-1]) for row in found.rows],
        }
    )


def orbits_in(row: Words) -> list[int]:
    """The numbers of the bits that are set in a row of words.

    Example:
        >>> orbits_in(np.array([5, 1], dtype=np.uint64))
        [0, 2, 64]
    """
    bits = np.unpackbits(np.ascontiguousarray(row).view(np.uint8), bitorder="little")
    return [int(bit) for bit in np.flatnonzero(bits)]


def row_of(field: Field, orbits: Sequence[int]) -> Words:
    """The inverse: the row of words with these bits set."""
    row = np.zeros(max(1, -(-len(field.orbits) // 64)), dtype=np.uint64)
    for orbit in orbits:
        row[orbit // 64] |= np.uint64(1 << orbit % 64)
    return row


def try_all(kind: Kind, half_width: HalfWidth, candidates: Sequence[Sequence[int]]) -> bytes:
    """Tries each candidate with a search that gives up soon.

    Returns:
        For each what `_outcome` makes of it.
    """
    tiler = kind.tiler(half_width)
    return packed(
        [
            _outcome(tiler, orbits, tiler.attempt(row_of(tiler.field, orbits), FIRST_NODES))
            for orbits in candidates
        ]
    )


def _outcome(tiler: Tiler, orbits: Sequence[int], found: Attempt) -> dict[str, Any]:
    """A candidate's verdict: with a tiling, or with the engine, the proof and its hash."""
    if found.verdict == SOLVED:
        return {"verdict": SOLVED, "nodes": found.nodes, "tiling": found.tiling}
    if found.verdict == OPEN:
        return {"verdict": OPEN, "nodes": found.nodes}
    said = proof(tiler, orbits, found.first, found.items)
    return {
        "verdict": IMPOSSIBLE,
        "nodes": found.nodes,
        "engine": "search",
        "sha256": json_sha256(said),
        "proof": said,
    }


def decide(
    kind: Kind,
    half_width: HalfWidth,
    orbits: Sequence[int],
    budget_s: float,
    most_nodes: int = MOST_NODES,
) -> bytes:
    """Decides a hard candidate: by a long search, then by SAT; unknown after the budget."""
    tiler, effort = kind.tiler(half_width), Effort(budget_s)
    try:
        found = _long_search(tiler, orbits, effort, most_nodes)
        outcome = _outcome(tiler, orbits, found)
        if found.verdict == OPEN:
            outcome = _by_sat(tiler, orbits, effort)
    except BudgetSpentError:
        outcome = {"verdict": UNKNOWN}
    return packed(outcome)


def _long_search(tiler: Tiler, orbits: Sequence[int], effort: Effort, most_nodes: int) -> Attempt:
    """The same search as the first try, in slices, so that it can be stopped at any time.

    Raises:
        BudgetSpentError: when the time is over.
    """
    problem, cells = tiler.problem(orbits)
    first, weights = symmetric_start(problem)
    at_root = None if first is None else weights
    walk = FewestWalk(problem, first, at_root, listing=True, noting=True)
    for over in in_slices(walk, 1, most_nodes):
        effort.tell(0.0)
        if walk.count:
            return Attempt(SOLVED, walk.nodes, _tiling(problem, cells, walk.solutions[0]))
        if over:
            return Attempt(IMPOSSIBLE, walk.nodes, (), first, tuple(walk.items))
    return Attempt(OPEN, walk.nodes)


def _tiling(
    problem: ExactCoverProblem, cells: Sequence[int], solution: Solution
) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """A solution as a tiling: each option's kind, and its cells as the field numbers them."""
    options = (problem.options[position] for position in solution)
    return tuple((one.kind, tuple(cells[cell] for cell in one.cells)) for one in options)


def _by_sat(tiler: Tiler, orbits: Sequence[int], effort: Effort) -> dict[str, Any]:
    """CaDiCaL's verdict; its proof is in the form of DRAT.

    Raises:
        BudgetSpentError: when the time is over.
    """
    problem, cells = tiler.problem(orbits)
    found = engine_named("sat").first(problem, effort)
    if found.count:
        tiling = _tiling(problem, cells, found.solutions[0])
        return {"verdict": SOLVED, "nodes": found.nodes, "tiling": tiling}
    if not found.complete:
        return {"verdict": UNKNOWN}
    said = formula(problem)
    drat = refutation(said, effort)
    both = {"cnf": said.dimacs(), "drat": drat}
    return {
        "verdict": IMPOSSIBLE,
        "nodes": found.nodes,
        "engine": "sat",
        "sha256": json_sha256(both),
        "proof": both,
    }


def count(kind: Kind, half_width: HalfWidth, orbits: Sequence[int], budget_s: float) -> bytes:
    """How many solutions a snowflake has, as far as the budget reaches, and how hard it is.

    Returns:
        ``count``, ``complete``, and ``difficulty``: ``score`` and ``level``.
    """
    problem, _ = kind.tiler(half_width).problem(orbits, swept=True)
    found, complete = count_of(problem, Effort(budget_s)) if budget_s else (1, False)
    rated = difficulty(problem, found if complete else None, patient=True)
    assert rated is not None  # without a budget it does not give up
    return packed(
        {
            "count": max(found, 1),
            "complete": complete,
            "difficulty": {"score": round(rated.score, 2), "level": rated.level},
        }
    )
