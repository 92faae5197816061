"""The published challenges of IQ Fit and IQ Stars with their solutions, and the known counts."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fabkit.model.lattice import Cell
from fabkit.model.puzzle import Challenge, Given, PuzzleSet
from fabkit.sets.library import load_set
from fabkit.solve.encoding import to_exact_cover
from fabkit.solve.exact_cover import ExactCoverProblem

FACTS = Path(__file__).resolve().parents[1] / "facts"


@dataclass(frozen=True)
class Sample:
    """A published challenge.

    Attributes:
        puzzle: the set.
        challenge: with the pieces that the booklet has placed.
        expected: the published solution: each piece's cells; empty where only the order is known.
        solutions: how many solutions there are, the hints counted in.
        hints: cells of which the booklet gives only the piece that covers them.
    """

    puzzle: PuzzleSet
    challenge: Challenge
    expected: dict[str, frozenset[Cell]]
    solutions: int
    hints: tuple[tuple[str, Cell], ...] = ()

    @property
    def problem(self) -> ExactCoverProblem:
        """What the booklet asks, without the placements that its hints exclude."""
        encoded = to_exact_cover(self.puzzle, self.challenge)
        kind = {ids[0]: at for at, ids in enumerate(encoded.kinds)}
        hints = [(encoded.cells.index(cell), kind[piece]) for piece, cell in self.hints]
        options = [
            option
            for option in encoded.problem.options
            if all((cell in option.cells) == (option.kind == of) for cell, of in hints)
        ]
        return replace(encoded.problem, options=tuple(options), symmetries=())

    def follows_hints(self, layout: dict[str, frozenset[Cell]]) -> bool:
        """Whether each hinted cell is covered by its piece."""
        return all(cell in layout[piece] for piece, cell in self.hints)


def facts(name: str) -> dict[str, Any]:
    """The content of ``tests/facts/NAME.json``."""
    return json.loads((FACTS / f"{name}.json").read_text(encoding="utf-8"))


def known_counts(name: str) -> dict[str, Any]:
    """The known numbers of solutions of a shipped set."""
    return facts("known-counts")[name]["counts"]


def iqfit_samples(file: str = "iqfit-challenges") -> list[Sample]:
    """Ten challenges from the booklet of IQ Fit, two of each level; or those of another file."""
    puzzle = load_set("iqfit")

    def cells(places: list[list[int]]) -> frozenset[Cell]:
        return frozenset(c for row, col in places for c in puzzle.lattice.cells_at(row, col))

    return [
        Sample(
            puzzle,
            _challenge(puzzle, one, {piece: cells(places) for piece, _, places in one["given"]}),
            {piece: cells(places) for piece, (_, places) in one.get("solution", {}).items()},
            one["n_solutions"],
        )
        for one in facts(file)["all"]
    ]


def iqstars_samples(file: str = "iqstars-challenges") -> list[Sample]:
    """Ten challenges from the booklet of IQ Stars, two of each level; or those of another file.

    The hardest have hints in place of given pieces.
    """
    puzzle = load_set("iqstars")
    sockets = [
        puzzle.lattice.cells_at(row, col)[0]
        for row, length in enumerate((7, 6, 7, 6))
        for col in range(length)
    ]

    def cells(numbers: list[int]) -> frozenset[Cell]:
        return frozenset(sockets[number] for number in numbers)

    return [
        Sample(
            puzzle,
            _challenge(puzzle, one, {piece: cells(numbers) for piece, numbers in one["placed"]}),
            {piece: cells(numbers) for piece, numbers in one.get("solution", {}).items()},
            one["n_solutions"],
            tuple((piece, sockets[number]) for piece, number in one["single_stars"]),
        )
        for one in facts(file)["all"]
    ]


def _challenge(
    puzzle: PuzzleSet, one: dict[str, Any], given: dict[str, frozenset[Cell]]
) -> Challenge:
    return Challenge(
        f"{one['level']}-{one['number']}",
        puzzle.boards[0].cells,
        tuple(piece.id for piece in puzzle.pieces),
        tuple(Given(piece, cells) for piece, cells in given.items()),
        puzzle.flips,
    )
