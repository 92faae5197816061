"""The search for all snowflakes of a set, as waves of tasks.

sets of orbits (closure) -> candidates -> a try for each -> the hard candidates decided -> solutions
counted. Each wave starts when the previous one is done; tasks in the checkpoint are skipped.

A task is a function of plain arguments that can be called anywhere, in any order. It returns packed
JSON, with the same bytes every time unless a budget was spent.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from fabkit.core.hashes import json_sha256
from fabkit.core.progress import Progress
from fabkit.jobs.checkpoint import Checkpoint
from fabkit.jobs.run import Pool, Task, run_tasks
from fabkit.puzzles.snowflakes.closure import Closure
from fabkit.puzzles.snowflakes.field import EVEN, MIXED, ODD, Field, HalfWidth, format_half_width
from fabkit.puzzles.snowflakes.query import SnowflakeQuery
from fabkit.puzzles.snowflakes.tiler import IMPOSSIBLE, OPEN, SOLVED, Attempt, Tiler
from fabkit.solve.answer import count_solutions
from fabkit.solve.difficulty import difficulty
from fabkit.solve.engines.engine import Budget, BudgetSpentError, Solution, get_engine
from fabkit.solve.engines.mrv import MrvSearch
from fabkit.solve.engines.sat import refutation, to_cnf
from fabkit.solve.engines.search import symmetry_breaking_kind
from fabkit.solve.engines.tree_search import run_in_slices
from fabkit.solve.exact_cover import ExactCoverProblem, WordArray

#: Node limit of the first try: a tenth of a second.
FIRST_NODES = 20_000
#: Node limit of the long search, so that its proof is not too long to check.
MOST_NODES = 25_000_000
#: The verdict on a candidate that was not decided within the time limit.
UNKNOWN = "unknown"


def pack_result(value: Any) -> bytes:
    """Compress a value as JSON for a task's result; equal values give equal bytes."""
    return zlib.compress(json.dumps(value, separators=(",", ":")).encode(), 6)


def unpack_result(result: bytes) -> Any:
    """Return the value in a task's result.

    Example:
        >>> unpack_result(pack_result([1, {"a": 2}]))
        [1, {'a': 2}]
    """
    return json.loads(zlib.decompress(result))


def search_candidates(
    query: SnowflakeQuery, parity: str, half_width: HalfWidth, part: int, parts: int
) -> bytes:
    """Find the candidates for one part of the first piece's placements.

    Returns:
        ``unions``, ``of_full_area``, and ``candidates``: the orbits of each.
    """
    field = query.field(parity, half_width)
    pieces = sorted(query.selected_pieces, key=lambda piece: -len(piece.forms[0].cells))
    closure = Closure(field, tuple(pieces), query.flips, query.rigid)
    unions = closure.candidates(slice(part, None, parts))
    candidates = [set_bits(row[:-1]) for row in unions.rows]
    counts = {"unions": unions.unions, "of_full_area": unions.of_full_area}
    return pack_result({**counts, "candidates": candidates})


def set_bits(row: WordArray) -> list[int]:
    """Return the numbers of the set bits in a row of words.

    Example:
        >>> set_bits(np.array([5, 1], dtype=np.uint64))
        [0, 2, 64]
    """
    bits = np.unpackbits(np.ascontiguousarray(row).view(np.uint8), bitorder="little")
    return [int(bit) for bit in np.flatnonzero(bits)]


def try_candidates(
    query: SnowflakeQuery, parity: str, half_width: HalfWidth, candidates: Sequence[Sequence[int]]
) -> bytes:
    """Try each candidate with a short search; return an `_outcome` for each."""
    tiler = query.tiler(parity, half_width)
    return pack_result(
        [_outcome(tiler, orbits, tiler.attempt(orbits, FIRST_NODES)) for orbits in candidates]
    )


def _outcome(tiler: Tiler, orbits: Sequence[int], attempt: Attempt) -> dict[str, Any]:
    """Return a candidate's verdict with a tiling, or with the engine, the proof and its hash.

    A proof consists of one cell of each orbit, by board in frame steps, which identifies the
    candidate; the item branched on first, of which one placement of each orbit was tried; and all
    items branched on, in preorder: the cells in the field's order, then the kinds. See
    `fabkit.certify`.
    """
    if attempt.verdict == SOLVED:
        return {"verdict": SOLVED, "nodes": attempt.nodes, "tiling": attempt.tiling}
    if attempt.verdict == OPEN:
        return {"verdict": OPEN, "nodes": attempt.nodes}
    field = tiler.field
    cells: list[list[list[int]]] = [[] for _ in field.boards]
    for orbit in orbits:
        board_number, cell = field.cells[field.orbits[orbit][0]]
        cells[board_number].append(list(cell))
    size = sum(field.orbit_sizes[orbit] for orbit in orbits)
    first = None if attempt.first is None else size + attempt.first
    proof = {"cells": cells, "branch_first": first, "items": list(attempt.items)}
    return _impossible("search", attempt.nodes, proof)


def _impossible(engine: str, nodes: int, proof: dict[str, Any]) -> dict[str, Any]:
    evidence = {"engine": engine, "sha256": json_sha256(proof), "proof": proof}
    return {"verdict": IMPOSSIBLE, "nodes": nodes, **evidence}


def combined_sha256(hashes: Iterable[str]) -> str:
    """Return one hash for many proofs, independent of their order."""
    return hashlib.sha256("\n".join(sorted(hashes)).encode()).hexdigest()


def decide_candidate(
    query: SnowflakeQuery, parity: str, half_width: HalfWidth, orbits: Sequence[int]
) -> bytes:
    """Decide a hard candidate by a long search, then by SAT; unknown if the time is up."""
    tiler, budget = query.tiler(parity, half_width), Budget(query.decide_s)
    try:
        outcome = _outcome(tiler, orbits, _long_search(tiler, orbits, budget))
        if outcome["verdict"] == OPEN:
            outcome = _by_sat(tiler, orbits, budget)
    except BudgetSpentError:
        outcome = {"verdict": UNKNOWN}
    return pack_result(outcome)


def _long_search(tiler: Tiler, orbits: Sequence[int], budget: Budget) -> Attempt:
    """Run the same search as the first try, in slices, so that it can be stopped at any time."""
    problem, cells = tiler.problem(orbits)
    first, weights = symmetry_breaking_kind(problem)
    at_root = None if first is None else weights
    search = MrvSearch(problem, first, at_root, keep_solutions=True, record_items=True)
    for over in run_in_slices(search, 1, MOST_NODES):
        budget.report(0.0)
        if search.count:
            return Attempt(SOLVED, search.nodes, _tiling(problem, cells, search.solutions[0]))
        if over:
            return Attempt(IMPOSSIBLE, search.nodes, (), first, tuple(search.items))
    return Attempt(OPEN, search.nodes)


def _tiling(
    problem: ExactCoverProblem, cells: Sequence[int], solution: Solution
) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """Convert a solution to a tiling: kind and field cell numbers of each option."""
    options = (problem.options[position] for position in solution)
    return tuple((option.kind, tuple(cells[cell] for cell in option.cells)) for option in options)


def _by_sat(tiler: Tiler, orbits: Sequence[int], budget: Budget) -> dict[str, Any]:
    """Return CaDiCaL's verdict, with a DRAT proof."""
    problem, cells = tiler.problem(orbits)
    answer = get_engine("sat").first(problem, budget)
    if answer.count:
        tiling = _tiling(problem, cells, answer.solutions[0])
        return {"verdict": SOLVED, "nodes": answer.nodes, "tiling": tiling}
    if not answer.complete:
        return {"verdict": UNKNOWN}
    cnf = to_cnf(problem)
    proof = {"cnf": cnf.dimacs(), "drat": refutation(cnf, budget)}
    return _impossible("sat", answer.nodes, proof)


def count_and_rate(
    query: SnowflakeQuery, parity: str, half_width: HalfWidth, orbits: Sequence[int]
) -> bytes:
    """Count the solutions of a snowflake within the budget, and rate its difficulty."""
    problem, _ = query.tiler(parity, half_width).problem(orbits, swept=True)
    budget_s = query.count_s
    count, complete = count_solutions(problem, Budget(budget_s)) if budget_s else (1, False)
    rated = difficulty(problem, count if complete else None, patient=True)
    assert rated is not None  # it only gives up with a time limit
    rating = {"score": round(rated.score, 2)}
    return pack_result({"count": max(count, 1), "complete": complete, "difficulty": rating})


#: Number of tasks per parity; mixed parity has several times as many sets of orbits.
_SEARCH_PARTS = {EVEN: 1, ODD: 2, MIXED: 8}
#: Number of candidates that a task tries.
_TRIED_AT_ONCE = 1000


@dataclass(frozen=True)
class CandidateResult:
    """A candidate and its result.

    Attributes:
        field: the smallest boards that hold it.
        orbits: numbers of its orbits in the field.
        outcome: from `_outcome`.
        solutions: if solved, ``count``, ``complete`` and ``difficulty``.
    """

    field: Field
    orbits: tuple[int, ...]
    outcome: dict[str, Any]
    solutions: dict[str, Any] | None = None

    @property
    def verdict(self) -> str:
        """``solved``, ``impossible`` or ``unknown``."""
        return str(self.outcome["verdict"])


@dataclass(frozen=True)
class ParityResult:
    """The result of searching one parity.

    Attributes:
        half_width: of the boards searched.
        unions: number of sets of orbits in all steps.
        of_full_area: number of sets with the pieces' area.
        shapes: the candidates, those near the centre first.
    """

    parity: str
    half_width: HalfWidth
    unions: int
    of_full_area: int
    shapes: tuple[CandidateResult, ...]

    def of(self, verdict: str) -> list[CandidateResult]:
        """Return the shapes with a verdict."""
        return [shape for shape in self.shapes if shape.verdict == verdict]

    @property
    def funnel(self) -> dict[str, Any]:
        """The numbers left after each step, and the hashes of the proofs."""
        hashes: dict[str, list[str]] = {}
        for shape in self.of(IMPOSSIBLE):
            hashes.setdefault(shape.outcome["engine"], []).append(shape.outcome["sha256"])
        # A search's proofs are in one file, whose hash `fabkit certify` prints.
        refuted = {"refutations_sha256": combined_sha256(hashes["sat"])} if "sat" in hashes else {}
        return {
            "unions": self.unions,
            "full_area": self.of_full_area,
            "candidates": len(self.shapes),
            "solved": len(self.of(SOLVED)),
            "unknown": len(self.of(UNKNOWN)),
            "impossible": {engine: len(hashes[engine]) for engine in sorted(hashes)},
            "certificates_sha256": combined_sha256(hashes.get("search", [])),
            **refuted,
        }


def find_snowflakes(
    query: SnowflakeQuery,
    checkpoint: Checkpoint,
    pool: Pool,
    progress: Progress,
) -> list[ParityResult]:
    """Search for all snowflakes.

    Args:
        checkpoint: stores the results of tasks.
        pool: runs the tasks.
        progress: called with the share of a stage that is done, and the stage.

    Returns:
        One result for each parity that can have the pieces' area.
    """

    def run_wave(stage: str, tasks: Sequence[Task]) -> list[Any]:
        def wave_progress(share: float, _: str) -> None:
            progress(share, f"{share:.1%} {stage}")

        results = run_tasks(tasks, checkpoint, pool, wave_progress) if tasks else []
        return [unpack_result(result) for result in results]

    parities = [parity for parity in query.parities if query.can_have_area(parity)]
    # The largest searches first, to keep all workers busy to the end.
    tasks = list[Task]()
    for parity in sorted(parities, key=_SEARCH_PARTS.__getitem__, reverse=True):
        parts = _SEARCH_PARTS[parity]
        for part in range(parts):
            arguments: tuple[Any, ...] = (query, parity, query.half_width(parity), part, parts)
            key = f"{parity}/search/{part + 1}-of-{parts}"
            tasks.append(Task(key, search_candidates, arguments))
    by_parity: dict[str, list[dict[str, Any]]] = {parity: [] for parity in parities}
    results = run_wave("of the search for symmetric shapes", tasks)
    for task, result in zip(tasks, results, strict=True):
        by_parity[task.arguments[1]].append(result)
    candidates = list[tuple[Field, tuple[int, ...]]]()
    tasks = []
    for parity in parities:
        for field, orbit_sets in _grouped(query, parity, by_parity[parity]):
            candidates += [(field, orbits) for orbits in orbit_sets]
            for start in range(0, len(orbit_sets), _TRIED_AT_ONCE):
                chunk = orbit_sets[start : start + _TRIED_AT_ONCE]
                key = f"{_place(field)}/try/{start // _TRIED_AT_ONCE}"
                arguments = (query, field.parity, field.half_width, chunk)
                tasks.append(Task(key, try_candidates, arguments, len(chunk) + 100))
    outcomes = chain.from_iterable(run_wave("of the candidates tried", tasks))
    shapes = [
        CandidateResult(field, orbits, outcome)
        for (field, orbits), outcome in zip(candidates, outcomes, strict=True)
    ]
    for stage, verdict, step, function, attribute in (
        ("of the hard candidates decided", OPEN, "decide", decide_candidate, "outcome"),
        ("of the solutions counted", SOLVED, "count", count_and_rate, "solutions"),
    ):
        chosen = [index for index, shape in enumerate(shapes) if shape.verdict == verdict]
        tasks = []
        for shape in (shapes[index] for index in chosen):
            key = f"{_place(shape.field)}/{step}/{'-'.join(map(str, shape.orbits))}"
            arguments = (query, shape.field.parity, shape.field.half_width, shape.orbits)
            tasks.append(Task(key, function, arguments))
        for index, result in zip(chosen, run_wave(stage, tasks), strict=True):
            shapes[index] = replace(shapes[index], **{attribute: result})
    return [
        ParityResult(
            parity,
            query.half_width(parity),
            sum(part["unions"] for part in by_parity[parity]),
            sum(part["of_full_area"] for part in by_parity[parity]),
            tuple(shape for shape in shapes if shape.field.parity == parity),
        )
        for parity in parities
    ]


def _grouped(
    query: SnowflakeQuery, parity: str, parts: Sequence[dict[str, Any]]
) -> Iterator[tuple[Field, list[tuple[int, ...]]]]:
    """Yield the distinct candidates by their smallest boards, as orbit numbers of these."""
    whole = query.field(parity, query.half_width(parity))
    by_widths: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
    for part in parts:
        for orbits in part["candidates"]:
            by_widths.setdefault(whole.half_widths(orbits), set()).add(tuple(orbits))
    for widths, shapes in sorted(by_widths.items()):
        field = query.field(parity, (widths[0], widths[1]) if parity == MIXED else widths[0])
        renumbered = dict[int, int]()
        for orbit, cells in enumerate(whole.orbits):
            cell = whole.cells[cells[0]]
            if cell in field.number_of:
                renumbered[orbit] = field.orbit_of[field.number_of[cell]]
        yield field, sorted(tuple(sorted(map(renumbered.__getitem__, shape))) for shape in shapes)


def _place(field: Field) -> str:
    """Return the prefix of the keys of a field's tasks."""
    return f"{field.parity}/{format_half_width(field.half_width)}"
