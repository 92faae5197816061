"""Solve many challenges in one run: all members of a family, or all challenges of a set.

Members of a family differ in the cells that stay open, so they share one set of placements: of the
whole board, of which each member begins with other cells covered.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

import numpy as np

from fabkit.core.progress import Progress, no_progress
from fabkit.jobs.checkpoint import Checkpoint
from fabkit.jobs.run import Pool, Task, run_tasks
from fabkit.model.puzzle import Challenge, Family, PuzzleSet
from fabkit.sets.catalog import catalog_records
from fabkit.sets.challenges import challenge_names, find_challenge
from fabkit.solve.answer import IMPOSSIBLE, SOLVED, UNKNOWN, solve
from fabkit.solve.encoding import to_exact_cover
from fabkit.solve.engines.bitmask import BitmaskSearch
from fabkit.solve.engines.engine import Budget
from fabkit.solve.exact_cover import IntArray

#: The questions that can be asked of many challenges, and how many solutions answer them.
QUESTIONS = {"first": 1, "unique": 2, "count": np.iinfo(np.int64).max}
#: Number of tasks of a family, so that workers finish together and little is lost by a kill.
_TASKS = 32
#: Members of a family in a task at least, since each task costs some time.
_FEWEST_IN_TASK = 16


@dataclass(frozen=True)
class ChallengeAnswer:
    """What is known of one of many challenges.

    Attributes:
        count: number of solutions; None unless they were counted.
        unique: whether there is exactly one; None unless that was asked.
    """

    challenge: str
    status: str
    count: int | None = None
    unique: bool | None = None


@dataclass(frozen=True)
class EachQuery:
    """A question about all members of a family, or about all challenges of a set.

    Attributes:
        family: id of the family; empty for the challenges of the set.
        question: one of `QUESTIONS`.
        budget_s: time limit for each challenge of a set; None for none.
    """

    puzzle: PuzzleSet
    family: str
    question: str
    budget_s: float | None = None

    @property
    def fingerprint(self) -> dict[str, Any]:
        """All that the answers depend on."""
        return {
            "set": self.puzzle.name,
            "digest": self.puzzle.digest,
            "pieces": self.puzzle.pieces_sha256,
            "each": self.family,
            "question": self.question,
            "budget_s": self.budget_s,
        }

    def names(self) -> list[str]:
        """Return the names of the challenges in order."""
        family = self._family
        if family is not None:
            return list(map(family.name, family.choices()))
        records = catalog_records(self.puzzle)
        ids = [record["id"] for record in records if record.get("parity") != "mixed"]
        return list(dict.fromkeys([*challenge_names(self.puzzle), *ids]))

    @property
    def _family(self) -> Family | None:
        families = {family.id: family for family in self.puzzle.families}
        return families[self.family] if self.family else None

    def challenges(self, first: int, last: int) -> Iterator[Challenge]:
        """Yield the challenges with these numbers, the last excluded."""
        family = self._family
        if family is not None:
            yield from map(family.member, islice(family.choices(), first, last))
        else:
            for name in self.names()[first:last]:
                yield find_challenge(self.puzzle, name)


def solve_each(
    query: EachQuery,
    pool: Pool,
    checkpoint: Checkpoint | None = None,
    progress: Progress = no_progress,
) -> list[ChallengeAnswer]:
    """Answer a question about each challenge; a checkpoint lets a run go on after a kill.

    Raises:
        InputError: when a challenge cannot be solved with the question's engines.
    """
    names = query.names()
    size = max(_FEWEST_IN_TASK, -(-len(names) // _TASKS)) if query.family else 1
    tasks = [
        Task(str(first), answer_part, (query, first, min(first + size, len(names))))
        for first in range(0, len(names), size)
    ]
    counts: list[int] = []
    for result in run_tasks(tasks, checkpoint, pool, progress):
        counts += json.loads(result)
    return [_answer(name, count, query.question) for name, count in zip(names, counts, strict=True)]


def _answer(name: str, count: int, question: str) -> ChallengeAnswer:
    """Convert a number of solutions, -1 where it is unknown, to an answer."""
    if count < 0:
        return ChallengeAnswer(name, UNKNOWN)
    counted = count if question == "count" else None
    unique = count == 1 if question == "unique" else None
    return ChallengeAnswer(name, SOLVED if count else IMPOSSIBLE, counted, unique)


def answer_part(query: EachQuery, first: int, last: int) -> bytes:
    """Return how many solutions each of some challenges has, as a JSON list.

    No more are counted than the question needs; -1 stands for a challenge that was not decided.
    """
    key = json.dumps(query.fingerprint)
    if key not in _counters:
        _counters[key] = _batch(query)
    if count_members := _counters[key]:
        counts = count_members(first, last).tolist()
    else:
        counts = [_count(query, challenge) for challenge in query.challenges(first, last)]
    return json.dumps(counts).encode()


def _count(query: EachQuery, challenge: Challenge) -> int:
    """Return how many solutions a challenge has, as far as the question needs; -1 if unknown."""
    encoded = to_exact_cover(query.puzzle, challenge)
    answer = solve(encoded, query.question, budget=Budget(query.budget_s))
    if answer.status != SOLVED:
        return 0 if answer.status == IMPOSSIBLE else -1
    if query.question == "count":
        return -1 if answer.count is None else answer.count
    if query.question == "unique" and answer.unique is None:
        return -1
    return 2 if answer.unique is False else 1


#: Counts the solutions of the members of a family with some numbers, the last excluded.
CountBatch = Callable[[int, int], IntArray]
#: The counters of the families that this process works on, by what they depend on.
_counters: dict[str, CountBatch | None] = {}


def _share_placements(family: Family) -> bool:
    """Return whether members differ in nothing but the cells that they do not cover."""
    board = family.board
    # Where choices have different sizes, other numbers of cells stay open.
    sizes = [{len(label.cells) for label in group} for group in family.groups]
    if board.open_count and any(len(group_sizes) > 1 for group_sizes in sizes):
        return False
    # A clue that names a piece wants all its cells covered, open ones too; pieces of other colours
    # are identical for members without the cells of clues that name colours.
    chosen = {cell for group in family.groups for label in group for cell in label.cells}
    return not any(clue.piece or (clue.colour and clue.cells <= chosen) for clue in board.clues)


def _batch(query: EachQuery) -> CountBatch | None:
    """Return what counts members of the query's family together; None where that cannot be."""
    family = query._family
    member = None if family is None else next(query.challenges(0, 1), None)
    if family is None or member is None or not _share_placements(family):
        return None
    whole = replace(member, region=family.board.cells, clues=family.board.clues, minus=frozenset())
    encoded = to_exact_cover(query.puzzle, whole)
    if not BitmaskSearch.fits(encoded.problem):
        return None
    search = BitmaskSearch(encoded.problem, [(None, 1)], keep_solutions=False)
    bits = {cell: 1 << index for index, cell in enumerate(encoded.cells)}
    # The cells of the whole board that each member does not cover.
    choices = (chain(*(label.cells for label in labels)) for labels in family.choices())
    masks = np.array([sum(map(bits.__getitem__, cells)) for cells in choices], dtype=np.uint64)
    limit = QUESTIONS[query.question]
    return lambda first, last: search.count_from(masks[first:last], limit)
