"""Subset challenges: some of the pieces, and a rectangle, square or triangle that they make.

They are for sets without a board on a lattice with such shapes: rectangles on `square`, and on
`quarter-square` also right isosceles triangles, with a leg or the hypotenuse at the bottom.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from math import isqrt

from fabkit.core.errors import InputError
from fabkit.model.lattice import Cell, Lattice, Ring
from fabkit.model.piece import normalize_cells
from fabkit.model.polygon import cells_of_rings
from fabkit.model.puzzle import Board, PuzzleSet
from fabkit.puzzles.graded.grading import Candidate, CandidateSource
from fabkit.solve.encoding import EncodedChallenge, to_exact_cover
from fabkit.solve.engines.engine import Budget
from fabkit.solve.engines.search import Search, estimate_nodes
from fabkit.solve.exact_cover import ExactCoverProblem, Option

#: Fewer pieces are too easy.
_MIN_PIECES = 3
#: About how long a search may take to prove that some pieces make a shape in one way.
_SEARCH_S = 0.1
#: Limit on the cells of a shape; larger ones would have hundreds of thousands of placements.
_MAX_CELLS = 400


def basic_shapes(lattice: Lattice, max_area: float) -> dict[str, Ring]:
    """Return the corners, in grid units, of the rectangles, squares and triangles up to an area in
    square units, by name.

    Example:
        >>> from fabkit.model.lattice import LATTICES
        >>> list(basic_shapes(LATTICES["quarter-square"], 2))
        ['square of 1 x 1', 'rectangle of 2 x 1', 'triangle with legs of 1', 'triangle with legs of 2', \
'triangle with a base of 2']
    """  # noqa: E501
    shapes: dict[str, Ring] = {}
    for side in range(1, int(max_area) + 1):
        for width in range(side, int(max_area // side) + 1):
            name = f"{'square' if width == side else 'rectangle'} of {width} x {side}"
            shapes[name] = ((0, 0), (width, 0), (width, side), (0, side))
    if lattice.walk((0, 0), (lattice.per_unit, lattice.per_unit)):  # along a diagonal
        for n in range(1, isqrt(int(2 * max_area)) + 1):
            shapes[f"triangle with legs of {n}"] = ((0, 0), (n, 0), (n, n))
        for n in range(1, isqrt(int(max_area)) + 1):
            shapes[f"triangle with a base of {2 * n}"] = ((0, 0), (2 * n, 0), (n, n))
    return shapes


def shape_cells(lattice: Lattice, corners: Ring) -> frozenset[Cell]:
    """Return the cells of a shape whose corners are in grid units."""
    unit = lattice.per_unit
    return cells_of_rings(lattice, (tuple((x * unit, y * unit) for x, y in corners),))


def refuse_unsuitable(puzzle: PuzzleSet) -> None:
    """Raise an `InputError` for a set whose pieces cannot make such shapes."""
    if puzzle.made_of_balls or not puzzle.lattice.has_outlines:
        shapes = "balls" if puzzle.made_of_balls else puzzle.lattice.noun
        raise InputError.of(
            puzzle.name,
            f"has no board, and its pieces are {shapes}, which make no rectangles or triangles; "
            "add a [[board]] for starting positions",
        )


class SubsetChallenges:
    """The subset challenges of a set that is not unsuitable, except its own challenges."""

    def __init__(self, puzzle: PuzzleSet) -> None:
        self._puzzle = puzzle
        #: The ids of identical pieces, kind by kind.
        self._kinds = self._posed(frozenset()).kinds
        self._areas = [len(puzzle.piece(kind[0]).forms[0].cells) for kind in self._kinds]

    def _posed(self, region: frozenset[Cell]) -> EncodedChallenge:
        return to_exact_cover(self._puzzle, self._puzzle.whole_board(Board("", region)))

    def sources(self, seed: int) -> dict[str, CandidateSource]:
        """Return sources of candidates by shape; equal seeds give equal candidates."""
        lattice = self._puzzle.lattice
        max_area = min(self._puzzle.area, _MAX_CELLS / lattice.cells_per_unit)
        sources: dict[str, CandidateSource] = {}
        for name, corners in basic_shapes(lattice, max_area).items():
            region = shape_cells(lattice, corners)
            if self._combinations[0].get(len(region)):
                rng = random.Random(f"{seed} {name}")  # noqa: S311
                sources[name] = self._candidates(name, region, rng)
        return sources

    def _candidates(
        self, name: str, region: frozenset[Cell], rng: random.Random
    ) -> CandidateSource:
        """Draw pieces of the right area, each selection once; yield those that make the shape."""
        shipped = self._shipped(region)
        seen = set[tuple[int, ...]]()
        whole: EncodedChallenge | None = None
        while len(seen) < self._combinations[0][len(region)]:
            copies = self._draw_copies(len(region), rng)
            if copies in seen:
                continue  # slows down as selections run out, but terminates
            seen.add(copies)
            if copies not in shipped and sum(copies) >= _MIN_PIECES:
                whole = whole or self._posed(region)
                yield self._try_copies(name, whole, copies)

    def _try_copies(
        self, name: str, whole: EncodedChallenge, copies: tuple[int, ...]
    ) -> Candidate | None:
        """Return the challenge of some pieces if it has one solution up to symmetry."""
        options = whole.problem.options
        chosen = [position for position, option in enumerate(options) if copies[option.kind]]
        problem = _restrict(whole.problem, copies, chosen)
        search = Search(estimate_nodes(problem, _SEARCH_S))
        answer = search.enumerate(problem, Budget(), len(problem.symmetries) + 1)
        if not answer.complete or not answer.count:
            return None
        first = answer.solutions[0]
        if not all(problem.are_images(first, other) for other in answer.solutions[1:]):
            return None
        solution = whole.decode(chosen[option] for option in first)
        challenge = replace(whole.challenge, pieces=tuple(solution))
        return Candidate(challenge, solution, answer.count, None, name)

    def _shipped(self, region: frozenset[Cell]) -> set[tuple[int, ...]]:
        """Return the pieces of the set's own challenges for this region, as copies of each kind."""
        lattice = self._puzzle.lattice
        images = {normalize_cells(lattice, map(move, region)) for move in lattice.symmetries}
        return {
            tuple(len(set(challenge.pieces).intersection(kind)) for kind in self._kinds)
            for challenge in self._puzzle.challenges
            if normalize_cells(lattice, challenge.region) in images
        }

    @cached_property
    def _combinations(self) -> list[dict[int, int]]:
        """The number of selections from each kind onwards that have each area."""
        sums_by_kind = [{0: 1}]
        for kind, area in zip(reversed(self._kinds), reversed(self._areas), strict=True):
            sums: dict[int, int] = {}
            for used in range(len(kind) + 1):
                for others, count in sums_by_kind[0].items():
                    sums[others + used * area] = sums.get(others + used * area, 0) + count
            sums_by_kind.insert(0, sums)
        return sums_by_kind

    def _draw_copies(self, area: int, rng: random.Random) -> tuple[int, ...]:
        """Draw copies of each kind with a total area; all selections are equally likely."""
        copies = list[int]()
        for kind, piece_area, later_counts in zip(
            self._kinds, self._areas, self._combinations[1:], strict=True
        ):
            numbers = range(len(kind) + 1)
            weights = [later_counts.get(area - number * piece_area, 0) for number in numbers]
            drawn = rng.randrange(sum(weights))
            number = next(n for n in numbers if drawn < sum(weights[: n + 1]))
            copies.append(number)
            area -= number * piece_area
        return tuple(copies)


def _restrict(
    problem: ExactCoverProblem, copies: tuple[int, ...], chosen: Sequence[int]
) -> ExactCoverProblem:
    """Restrict a problem to some copies of each kind and the chosen options."""
    used_kinds = [kind for kind, count in enumerate(copies) if count]
    number = {kind: index for index, kind in enumerate(used_kinds)}
    chosen_options = [problem.options[position] for position in chosen]
    options = tuple(Option(number[option.kind], option.cells) for option in chosen_options)
    size = problem.cell_count
    unmoved_kinds = problem.symmetries[0][size:]  # reflections may map one kind to another
    symmetries = tuple(
        symmetry[:size] for symmetry in problem.symmetries if symmetry[size:] == unmoved_kinds
    )
    return ExactCoverProblem(size, tuple(filter(None, copies)), options, symmetries=symmetries)
