"""The search for all snowflakes of a set: waves of tasks, and what they add up to.

sets of orbits (closure) -> candidates -> a try for each -> the hard ones decided -> solutions
counted. Every wave begins when the one before is done; what the checkpoint holds is not done again.

A task is a function of plain arguments that can be called anywhere, in any order. It returns bytes:
packed JSON. Doing it again gives the same bytes, unless a budget was spent.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from fabkit.core.files import json_sha256
from fabkit.jobs.checkpoint import Checkpoint
from fabkit.jobs.run import Pool, Task, run_tasks
from fabkit.puzzles.snowflakes.closure import Closure
from fabkit.puzzles.snowflakes.field import EVEN, MIXED, ODD, Field, HalfWidth, spelt
from fabkit.puzzles.snowflakes.query import SnowflakeQuery
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


def packed(value: Any) -> bytes:
    """A value as a task's result: compressed JSON, the same bytes for the same value."""
    return zlib.compress(json.dumps(value, separators=(",", ":")).encode(), 6)


def unpacked(result: bytes) -> Any:
    """What a task's result holds.

    Example:
        >>> unpacked(packed([1, {"a": 2}]))
        [1, {'a': 2}]
    """
    return json.loads(zlib.decompress(result))


def search(
    query: SnowflakeQuery, parity: str, half_width: HalfWidth, part: int, parts: int
) -> bytes:
    """The candidates among one part of the first piece's placements.

    Returns:
        ``unions``, ``of_full_area``, and ``candidates``: the orbits of each.
    """
    field = query.field(parity, half_width)
    pieces = sorted(query.chosen, key=lambda piece: -len(piece.forms[0].cells))
    closure = Closure(field, tuple(pieces), query.flips, query.rigid)
    found = closure.candidates(slice(part, None, parts))
    candidates = [orbits_in(row[:-1]) for row in found.rows]
    counts = {"unions": found.unions, "of_full_area": found.of_full_area}
    return packed({**counts, "candidates": candidates})


def orbits_in(row: Words) -> list[int]:
    """The numbers of the bits that are set in a row of words.

    Example:
        >>> orbits_in(np.array([5, 1], dtype=np.uint64))
        [0, 2, 64]
    """
    bits = np.unpackbits(np.ascontiguousarray(row).view(np.uint8), bitorder="little")
    return [int(bit) for bit in np.flatnonzero(bits)]


def try_all(
    query: SnowflakeQuery, parity: str, half_width: HalfWidth, candidates: Sequence[Sequence[int]]
) -> bytes:
    """Tries each candidate with a search that gives up soon: an `_outcome` for each."""
    tiler = query.tiler(parity, half_width)
    return packed(
        [_outcome(tiler, orbits, tiler.attempt(orbits, FIRST_NODES)) for orbits in candidates]
    )


def _outcome(tiler: Tiler, orbits: Sequence[int], found: Attempt) -> dict[str, Any]:
    """A candidate's verdict: with a tiling, or with the engine, the proof and its hash.

    A proof is one cell of each orbit, part by part in frame steps, to say which candidate it is;
    the item branched on first, of which one placement of each orbit was tried; and in preorder
    all items branched on: the cells in the field's order, then the kinds. See `fabkit.certify`.
    """
    if found.verdict == SOLVED:
        return {"verdict": SOLVED, "nodes": found.nodes, "tiling": found.tiling}
    if found.verdict == OPEN:
        return {"verdict": OPEN, "nodes": found.nodes}
    field = tiler.field
    cells: list[list[list[int]]] = [[] for _ in field.parts]
    for orbit in orbits:
        at, cell = field.cells[field.orbits[orbit][0]]
        cells[at].append(list(cell))
    size = sum(field.weights[orbit] for orbit in orbits)
    first = None if found.first is None else size + found.first
    proof = {"cells": cells, "branch_first": first, "items": list(found.items)}
    return _impossible("search", found.nodes, proof)


def _impossible(engine: str, nodes: int, proof: dict[str, Any]) -> dict[str, Any]:
    made = {"nodes": nodes, "engine": engine, "sha256": json_sha256(proof), "proof": proof}
    return {"verdict": IMPOSSIBLE, **made}


def combined_sha256(hashes: Iterable[str]) -> str:
    """One hash for many proofs, whatever their order."""
    return hashlib.sha256("\n".join(sorted(hashes)).encode()).hexdigest()


def decide(
    query: SnowflakeQuery, parity: str, half_width: HalfWidth, orbits: Sequence[int]
) -> bytes:
    """Decides a hard candidate: by a long search, then by SAT; unknown after the budget."""
    tiler, effort = query.tiler(parity, half_width), Effort(query.decide_s)
    try:
        outcome = _outcome(tiler, orbits, _long_search(tiler, orbits, effort))
        if outcome["verdict"] == OPEN:
            outcome = _by_sat(tiler, orbits, effort)
    except BudgetSpentError:
        outcome = {"verdict": UNKNOWN}
    return packed(outcome)


def _long_search(tiler: Tiler, orbits: Sequence[int], effort: Effort) -> Attempt:
    """The same search as the first try, in slices, so that it can be stopped at any time."""
    problem, cells = tiler.problem(orbits)
    first, weights = symmetric_start(problem)
    at_root = None if first is None else weights
    walk = FewestWalk(problem, first, at_root, listing=True, noting=True)
    for over in in_slices(walk, 1, MOST_NODES):
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
    """CaDiCaL's verdict; its proof is in the form of DRAT."""
    problem, cells = tiler.problem(orbits)
    found = engine_named("sat").first(problem, effort)
    if found.count:
        tiling = _tiling(problem, cells, found.solutions[0])
        return {"verdict": SOLVED, "nodes": found.nodes, "tiling": tiling}
    if not found.complete:
        return {"verdict": UNKNOWN}
    said = formula(problem)
    both = {"cnf": said.dimacs(), "drat": refutation(said, effort)}
    return _impossible("sat", found.nodes, both)


def count(
    query: SnowflakeQuery, parity: str, half_width: HalfWidth, orbits: Sequence[int]
) -> bytes:
    """How many solutions a snowflake has, as far as the budget reaches, and how hard it is."""
    problem, _ = query.tiler(parity, half_width).problem(orbits, swept=True)
    budget_s = query.count_s
    found, complete = count_of(problem, Effort(budget_s)) if budget_s else (1, False)
    rated = difficulty(problem, found if complete else None, patient=True)
    assert rated is not None  # without a budget it does not give up
    hard = {"score": round(rated.score, 2), "level": rated.level}
    return packed({"count": max(found, 1), "complete": complete, "difficulty": hard})


#: Of mixed parity there are several times as many sets of orbits: a search in so many parts.
_SEARCH_PARTS = {EVEN: 1, ODD: 2, MIXED: 8}
_TRIED_AT_ONCE = 1000


@dataclass(frozen=True)
class Shape:
    """A candidate and what became of it.

    Attributes:
        field: the boards it lies on, no larger than it.
        orbits: of the field.
        outcome: as `_outcome` has it.
        solutions: of a solved one ``count``, ``complete`` and ``difficulty``.
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
class Searched:
    """What the search of one parity found.

    Attributes:
        parity: which.
        half_width: on which boards.
        unions: how many sets of orbits there were on the way.
        of_full_area: how many of them had the pieces' area.
        shapes: the candidates, those near the centre first.
    """

    parity: str
    half_width: HalfWidth
    unions: int
    of_full_area: int
    shapes: tuple[Shape, ...]

    def of(self, verdict: str) -> list[Shape]:
        """The shapes of one verdict."""
        return [shape for shape in self.shapes if shape.verdict == verdict]

    @property
    def funnel(self) -> dict[str, Any]:
        """How many were left at each step, and the proofs of those that fell out at the last."""
        hashes: dict[str, list[str]] = {}
        for shape in self.of(IMPOSSIBLE):
            hashes.setdefault(shape.outcome["engine"], []).append(shape.outcome["sha256"])
        # A search's proofs are in one file, of which `fabkit certify` tells the hash.
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


def find(
    query: SnowflakeQuery, checkpoint: Checkpoint, pool: Pool, told: Callable[[str, float], None]
) -> list[Searched]:
    """Searches for all snowflakes.

    Args:
        query: what is searched for.
        checkpoint: keeps what is done.
        pool: where the work is done.
        told: called with what is being done, and the share of it that is done.

    Returns:
        One for each parity that can have the pieces' area.
    """

    def wave(what: str, tasks: Sequence[Task]) -> list[Any]:
        on_progress = partial(told, what)
        results = run_tasks(tasks, checkpoint, pool, on_progress) if tasks else []
        return [unpacked(result) for result in results]

    parities = [parity for parity in query.parities if query.can_have_area(parity)]
    # The largest search first, so that all workers are busy to the end.
    parts = [
        (query, parity, query.half_width(parity), part, _SEARCH_PARTS[parity])
        for parity in sorted(parities, key=_SEARCH_PARTS.__getitem__, reverse=True)
        for part in range(_SEARCH_PARTS[parity])
    ]
    tasks = [
        Task(f"{parity}/search/{part + 1}-of-{count}", search, (query, parity, width, part, count))
        for query, parity, width, part, count in parts
    ]
    found: dict[str, list[dict[str, Any]]] = {parity: [] for parity in parities}
    for one, result in zip(parts, wave("of the search for symmetric shapes", tasks), strict=True):
        found[one[1]].append(result)
    tries, tasks = [], []
    for field, each in (
        one for parity in parities for one in _grouped(query, parity, found[parity])
    ):
        for number, some in enumerate(
            each[start : start + _TRIED_AT_ONCE] for start in range(0, len(each), _TRIED_AT_ONCE)
        ):
            arguments = (query, field.parity, field.half_width, some)
            tasks.append(Task(f"{_place(field)}/try/{number}", try_all, arguments, len(some) + 100))
            tries += [(field, orbits) for orbits in some]
    outcomes = chain.from_iterable(wave("of the candidates tried", tasks))
    shapes = [Shape(*one, outcome) for one, outcome in zip(tries, outcomes, strict=True)]
    for what, verdict, call, attribute in (
        ("of the hard ones decided", OPEN, decide, "outcome"),
        ("of the solutions counted", SOLVED, count, "solutions"),
    ):
        chosen = [at for at, shape in enumerate(shapes) if shape.verdict == verdict]
        tasks = []
        for field, orbits in ((shapes[at].field, shapes[at].orbits) for at in chosen):
            key = f"{_place(field)}/{call.__name__}/{'-'.join(map(str, orbits))}"
            tasks.append(Task(key, call, (query, field.parity, field.half_width, orbits)))
        for at, result in zip(chosen, wave(what, tasks), strict=True):
            shapes[at] = replace(shapes[at], **{attribute: result})
    return [
        Searched(
            parity,
            query.half_width(parity),
            sum(part["unions"] for part in found[parity]),
            sum(part["of_full_area"] for part in found[parity]),
            tuple(shape for shape in shapes if shape.field.parity == parity),
        )
        for parity in parities
    ]


def _grouped(
    query: SnowflakeQuery, parity: str, parts: Sequence[dict[str, Any]]
) -> Iterator[tuple[Field, list[tuple[int, ...]]]]:
    """The candidates, each once, by the boards that just hold them, in the numbers of these."""
    whole = query.field(parity, query.half_width(parity))
    found: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
    for part in parts:
        for orbits in part["candidates"]:
            found.setdefault(whole.half_widths(orbits), set()).add(tuple(orbits))
    for widths, each in sorted(found.items()):
        field = query.field(parity, (widths[0], widths[1]) if parity == MIXED else widths[0])
        number = {
            orbit: field.orbit[field.number[whole.cells[cells[0]]]]
            for orbit, cells in enumerate(whole.orbits)
            if whole.cells[cells[0]] in field.number
        }
        yield field, sorted(tuple(sorted(number[orbit] for orbit in one)) for one in each)


def _place(field: Field) -> str:
    """How the keys of a field's tasks begin."""
    return f"{field.parity}/{spelt(field.half_width)}"
