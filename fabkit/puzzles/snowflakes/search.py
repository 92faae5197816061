"""The search for all snowflakes of a set: waves of shards, and what they add up to.

sets of orbits (closure) -> candidates -> a try for each -> the hard ones decided -> solutions
counted. Every wave begins when the one before is done; what the checkpoint holds is not done again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fabkit.jobs.checkpoint import Checkpoint
from fabkit.jobs.run import Pool, Task, run_tasks
from fabkit.puzzles.snowflakes import shards
from fabkit.puzzles.snowflakes.field import EVEN, MIXED, ODD, Field, HalfWidth, spelt
from fabkit.puzzles.snowflakes.proof import combined_sha256
from fabkit.puzzles.snowflakes.tiling import IMPOSSIBLE, OPEN, SOLVED
from fabkit.puzzles.snowflakes.wish import Wish

#: Of mixed parity there are several times as many sets of orbits: a search in so many parts.
_SEARCH_PARTS = {EVEN: 1, ODD: 2, MIXED: 8}
_TRIED_AT_ONCE = 1000


@dataclass(frozen=True)
class Shape:
    """A candidate and what became of it.

    Attributes:
        field: the boards it lies on, no larger than it.
        orbits: of the field.
        outcome: as `fabkit.puzzles.snowflakes.shards` tells it.
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
        impossible = self.of(IMPOSSIBLE)
        hashes: dict[str, list[str]] = {}
        for shape in impossible:
            hashes.setdefault(shape.outcome["engine"], []).append(shape.outcome["sha256"])
        # A search's proofs are in one file, of which `fabkit certify` tells the hash.
        refuted = {"refutations_sha256": combined_sha256(hashes["sat"])} if "sat" in hashes else {}
        return {
            "unions": self.unions,
            "full_area": self.of_full_area,
            "candidates": len(self.shapes),
            "solved": len(self.of(SOLVED)),
            "unknown": len(self.of(shards.UNKNOWN)),
            "impossible": {engine: len(hashes[engine]) for engine in sorted(hashes)},
            "certificates_sha256": combined_sha256(hashes.get("search", [])),
            **refuted,
        }


#: Is told what is being done, and the share of it that is done.
Told = Callable[[str, float], None]


def find(wish: Wish, checkpoint: Checkpoint, pool: Pool, told: Told) -> list[Searched]:
    """Searches for all snowflakes.

    Args:
        wish: what is searched for.
        checkpoint: keeps what is done.
        pool: where the work is done.
        told: progress.

    Returns:
        One for each parity that can have the pieces' area.
    """
    run = _Run(wish, checkpoint, pool, told)
    parities = [parity for parity in wish.parities if wish.can_have_area(parity)]
    # The largest search first, so that all workers are busy to the end.
    found = dict(run.search(sorted(parities, key=_SEARCH_PARTS.__getitem__, reverse=True)))
    groups = [
        group
        for parity in parities
        for group in _grouped(wish, parity, found[parity]["candidates"])
    ]
    tried = run.try_all(groups)
    decided = run.decide(tried)
    counted = run.count(decided)
    return [
        Searched(
            parity,
            wish.half_width(parity),
            found[parity]["unions"],
            found[parity]["of_full_area"],
            tuple(shape for shape in counted if shape.field.parity == parity),
        )
        for parity in parities
    ]


#: Fields, each with its candidates.
_Groups = list[tuple[Field, list[tuple[int, ...]]]]


def _grouped(wish: Wish, parity: str, candidates: Sequence[Sequence[int]]) -> _Groups:
    """The candidates by the boards that just hold them, in the numbers of these."""
    kind = wish.kind(parity)
    whole = kind.field(wish.half_width(parity))
    found: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for orbits in candidates:
        found.setdefault(whole.half_widths(orbits), []).append(tuple(orbits))
    groups: _Groups = []
    for widths, each in sorted(found.items()):
        field = kind.field((widths[0], widths[1]) if parity == MIXED else widths[0])
        number = {
            orbit: field.orbit[field.number[whole.cells[cells[0]]]]
            for orbit, cells in enumerate(whole.orbits)
            if whole.cells[cells[0]] in field.number
        }
        own = sorted(tuple(sorted(number[orbit] for orbit in one)) for one in each)
        groups.append((field, own))
    return groups


class _Run:
    """The waves of one search."""

    def __init__(self, wish: Wish, checkpoint: Checkpoint, pool: Pool, told: Told) -> None:
        self._wish, self._checkpoint, self._pool, self._told = wish, checkpoint, pool, told

    def _wave(self, what: str, wave: Sequence[Task]) -> list[Any]:
        if not wave:
            return []
        results = run_tasks(
            wave, self._checkpoint, self._pool, lambda share: self._told(what, share)
        )
        return [shards.unpacked(result) for result in results]

    def search(self, parities: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        """For each parity the candidates of all parts of its search, each once."""
        wave = [
            Task(
                f"{parity}/search/{part + 1}-of-{_SEARCH_PARTS[parity]}",
                shards.search,
                (
                    self._wish.kind(parity),
                    self._wish.half_width(parity),
                    part,
                    _SEARCH_PARTS[parity],
                ),
            )
            for parity in parities
            for part in range(_SEARCH_PARTS[parity])
        ]
        results = iter(self._wave("of the search for symmetric shapes", wave))
        for parity in parities:
            parts = [next(results) for _ in range(_SEARCH_PARTS[parity])]
            yield (
                parity,
                {
                    "unions": sum(part["unions"] for part in parts),
                    "of_full_area": sum(part["of_full_area"] for part in parts),
                    "candidates": sorted(
                        {tuple(one) for part in parts for one in part["candidates"]}
                    ),
                },
            )

    def try_all(self, groups: _Groups) -> list[Shape]:
        """Every candidate with the outcome of a short search."""
        wave, tried = [], []
        for field, each in groups:
            for start in range(0, len(each), _TRIED_AT_ONCE):
                some = each[start : start + _TRIED_AT_ONCE]
                key = f"{_place(field)}/try/{start // _TRIED_AT_ONCE}"
                arguments = (self._wish.kind(field.parity), field.half_width, some)
                wave.append(Task(key, shards.try_all, arguments, len(some) + 100))
                tried.append((field, some))
        outcomes = self._wave("of the candidates tried", wave)
        return [
            Shape(field, orbits, outcome)
            for (field, some), found in zip(tried, outcomes, strict=True)
            for orbits, outcome in zip(some, found, strict=True)
        ]

    def decide(self, tried: Sequence[Shape]) -> list[Shape]:
        """The same with the hard ones decided."""
        what, found = "of the hard ones decided", list(tried)
        for at, outcome in self._each(
            tried, OPEN, "decide", what, shards.decide, self._wish.decide_s
        ):
            found[at] = replace(tried[at], outcome=outcome)
        return found

    def count(self, decided: Sequence[Shape]) -> list[Shape]:
        """The same with the solutions of the solved ones counted."""
        what, found = "of the solutions counted", list(decided)
        for at, solutions in self._each(
            decided, SOLVED, "count", what, shards.count, self._wish.count_s
        ):
            found[at] = replace(decided[at], solutions=solutions)
        return found

    def _each(
        self,
        shapes: Sequence[Shape],
        verdict: str,
        name: str,
        what: str,
        call: Callable[..., bytes],
        budget_s: float,
    ) -> Iterator[tuple[int, Any]]:
        """A wave with a shard for each shape of a verdict: its place, and what came of it."""
        chosen = [at for at, shape in enumerate(shapes) if shape.verdict == verdict]
        wave = []
        for field, orbits in ((shapes[at].field, shapes[at].orbits) for at in chosen):
            key = f"{_place(field)}/{name}/{'-'.join(map(str, orbits))}"
            arguments = (self._wish.kind(field.parity), field.half_width, orbits, budget_s)
            wave.append(Task(key, call, arguments))
        return zip(chosen, self._wave(what, wave), strict=True)


def _place(field: Field) -> str:
    """How the keys of a field's shards begin."""
    return f"{field.parity}/{spelt(field.half_width)}"
