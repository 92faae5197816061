"""Challenges of clues: what covers a few cells of a board, and exactly one solution agrees.

A filling of the board is drawn at random. Cells of it get clues in random order until no other
filling agrees; then those that are not needed are left out.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace

from fabkit.core.errors import InputError
from fabkit.model.clues import ClueFilter
from fabkit.model.lattice import Cell
from fabkit.model.piece import PLAIN, marked_at
from fabkit.model.puzzle import Challenge, Clue
from fabkit.puzzles.graded.grading import Candidate, CandidateSource
from fabkit.solve.encoding import EncodedChallenge, Layout, to_exact_cover
from fabkit.solve.engines.engine import Budget, Solution
from fabkit.solve.engines.search import Search, estimate_nodes, search_shuffled

#: Numbers of clued cells more than needed, for easier challenges.
_SPARE_CELLS = (0, 1, 2, 4)
#: Limit for drawing one random filling, in nodes of the search.
_DRAWING_NODES = 50_000
#: About how long checking uniqueness may take.
_UNIQUE_S = 0.5


class CluePositions:
    """The challenges of clues on one board, encoded with no piece given. The kind of clues is one
    of `fabkit.puzzles.graded.CLUE_KINDS`; the budget is that of drawing fillings.

    Raises:
        InputError: if the set has no marks to tell.
    """

    def __init__(self, encoded: EncodedChallenge, kind: str, budget: Budget) -> None:
        self._puzzle = encoded.puzzle
        self._encoded = encoded
        self._kind = kind
        self._budget = budget
        self._seen: set[frozenset[Clue]] = set()
        if kind == "marks" and not self._puzzle.marks:
            message = f"{self._puzzle.name} has no marks; choose cells or colours"
            raise InputError.of("--clues", message)

    def sources(
        self, given: int | str | None, seed: int
    ) -> dict[tuple[int, bool], CandidateSource]:
        """Return sources of candidates; equal seeds give equal candidates. `given` is the number of
        cells with a clue, a word for as few as possible, or None for a mix."""
        modes: dict[tuple[int, bool], tuple[int | None, int]]
        if isinstance(given, int):
            modes = {(given, False): (given, 0)}
        else:
            spares = _SPARE_CELLS if given is None else (0,)
            modes = {(spare, not spare): (None, spare) for spare in spares}
        return {
            name: self._at_random(size, spare, random.Random(f"{seed} {name}"))  # noqa: S311
            for name, (size, spare) in modes.items()
        }

    def _at_random(self, size: int | None, spare: int, rng: random.Random) -> CandidateSource:
        """Draw fillings and choose cells, endlessly: it is not known when all are found."""
        problem = self._encoded.problem
        while True:
            _, filling = search_shuffled(problem, rng, _DRAWING_NODES, self._budget)
            yield None if filling is None else self._candidate(filling, size, spare, rng)

    def _candidate(
        self, filling: Solution, size: int | None, spare: int, rng: random.Random
    ) -> Candidate | None:
        """Return a challenge with this solution; None if none of the size is new."""
        layout = self._encoded.decode(filling)
        facts = self._facts(layout)
        order = rng.sample(sorted(facts), len(facts))
        cells: list[Cell] = []
        while order and not self._is_unique(facts, cells):
            cells.append(order.pop())
        for cell in list(cells):
            others = [other for other in cells if other != cell]
            if self._is_unique(facts, others):
                cells = others
                order.append(cell)
        spare = spare if size is None else size - len(cells)
        if spare < 0 or spare > len(order) or not self._is_unique(facts, cells):
            return None
        cells += rng.sample(order, spare)
        challenge = self._challenge(facts, cells)
        key = frozenset(challenge.clues)
        if key in self._seen or not cells:
            return None
        self._seen.add(key)
        return Candidate(replace(challenge, id=""), layout, minimal=not spare)

    def _facts(self, layout: Layout) -> dict[Cell, Clue]:
        """Return what a clue would say of each cell of a filling, with no cells."""
        facts: dict[Cell, Clue] = {}
        challenge = self._encoded.challenge
        for piece_id, cells in layout.items():
            piece = self._puzzle.piece(piece_id)
            if self._kind == "marks":
                clues = ClueFilter(self._puzzle.lattice, piece, challenge.clues, challenge.flips)
                moves = marked_at(self._puzzle.lattice, piece, cells, challenge.flips, clues.marks)
                marks = dict(next(moves)[2])
                facts |= {cell: Clue(frozenset(), mark=marks.get(cell, PLAIN)) for cell in cells}
            elif self._kind == "colours":
                facts |= dict.fromkeys(cells, Clue(frozenset(), colour=piece.colour))
            else:
                facts |= dict.fromkeys(cells, Clue(frozenset(), piece=piece_id))
        return facts

    def _challenge(self, facts: dict[Cell, Clue], cells: Iterable[Cell]) -> Challenge:
        """Return the challenge with the clues of some cells: one clue for all with equal facts."""
        by_fact: dict[Clue, set[Cell]] = {}
        for cell in cells:
            by_fact.setdefault(facts[cell], set()).add(cell)
        clues = (replace(clue, cells=frozenset(group)) for clue, group in by_fact.items())
        whole = self._encoded.challenge
        return replace(whole, clues=(*whole.clues, *clues), answer="", title="")

    def _is_unique(self, facts: dict[Cell, Clue], cells: Iterable[Cell]) -> bool:
        """Return whether exactly one solution agrees; False if that is not known."""
        problem = to_exact_cover(self._puzzle, self._challenge(facts, cells)).problem
        outcome = Search(estimate_nodes(problem, _UNIQUE_S)).unique(problem, Budget())
        return outcome.complete and outcome.count == 1
