"""Subset challenges: some of the pieces, and a rectangle, square or triangle that they make.

They are for sets without a board whose lattice knows such shapes: `square` knows rectangles,
`quarter-square` also right isosceles triangles, that lie on a short side or on the long one.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import cached_property

from fabkit.core.errors import InputError
from fabkit.model.lattice import Cell, Lattice, Ring
from fabkit.model.piece import at_anchor
from fabkit.model.polygon import cells_of_rings
from fabkit.model.puzzle import Challenge, PuzzleSet
from fabkit.puzzles.graded.grading import Candidate, Source
from fabkit.solve.engines.engine import Effort
from fabkit.solve.engines.search import Search, nodes_in
from fabkit.solve.posing import PosedChallenge, pose
from fabkit.solve.problem import ExactCoverProblem, Option

#: Fewer pieces are no riddle.
_FEWEST_PIECES = 3
#: About how long the search looks whether some pieces make a shape in one way.
_LOOKING_S = 0.1
#: Shapes of more cells than this are left out: their placements would be hundreds of thousands.
_MOST_CELLS = 400


def shapes(lattice: Lattice, most_area: float) -> dict[str, Ring]:
    """The rectangles, squares and triangles up to an area in square units, by name.

    Returns:
        Their corners, in grid units.

    Example:
        >>> from fabkit.model.lattice import LATTICES
        >>> list(shapes(LATTICES["quarter-square"], 2))
        ['square of 1 x 1', 'rectangle of 2 x 1', 'triangle with legs of 1', 'triangle with legs of 2', \
'triangle with a base of 2']
    """
    found: dict[str, Ring] = {}
    side = 1
    while side <= most_area:
        for width in range(side, int(most_area // side) + 1):
            name = f"{'square' if width == side else 'rectangle'} of {width} x {side}"
            found[name] = ((0, 0), (width, 0), (width, side), (0, side))
        side += 1
    if lattice.cells_per_unit > 1:
        legs = [leg for leg in range(1, side + side) if leg * leg <= 2 * most_area]
        found |= {f"triangle with legs of {n}": ((0, 0), (n, 0), (n, n)) for n in legs}
        for n in (leg for leg in legs if leg * leg <= most_area):
            found[f"triangle with a base of {2 * n}"] = ((0, 0), (2 * n, 0), (n, n))
    return found


def cells_within(lattice: Lattice, corners: Ring) -> frozenset[Cell]:
    """The cells of a shape whose corners are in grid units."""
    unit = lattice.per_unit
    return cells_of_rings(lattice, (tuple((x * unit, y * unit) for x, y in corners),))


def refuse_unsuited(puzzle: PuzzleSet) -> None:
    """Refuses sets that can make no such shapes.

    Raises:
        InputError: then.
    """
    if puzzle.lattice.name == "triangular" or puzzle.made_of_balls:
        what = "balls" if puzzle.made_of_balls else "hexagons"
        message = (
            f"has no board, and its pieces are {what}, which make no rectangles or triangles; "
            "add a [[board]] for starting positions"
        )
        raise InputError.of(puzzle.name, message)


class Subsets:
    """The subset challenges of one set. Those that the set comes with are not made again.

    Args:
        puzzle: a set that `refuse_unsuited` does not refuse.
    """

    def __init__(self, puzzle: PuzzleSet) -> None:
        self._puzzle = puzzle
        #: The ids of identical pieces, kind by kind.
        self._kinds = self._posed(frozenset()).kinds
        self._areas = [len(puzzle.piece(kind[0]).forms[0].cells) for kind in self._kinds]

    def _posed(self, region: frozenset[Cell]) -> PosedChallenge:
        """All pieces for a region."""
        pieces = tuple(piece.id for piece in self._puzzle.pieces)
        return pose(self._puzzle, Challenge("", region, pieces, flips=self._puzzle.flips))

    def sources(self, seed: int) -> dict[Hashable, Source]:
        """Where candidates come from, by the shape; the same seed gives the same candidates."""
        lattice = self._puzzle.lattice
        most_area = min(self._puzzle.area, _MOST_CELLS / lattice.cells_per_unit)
        return {
            name: self._each(name, region, random.Random(f"{seed} {name}"))  # noqa: S311
            for name, corners in shapes(lattice, most_area).items()
            if self._ways[0].get(len(region := cells_within(lattice, corners)))
        }

    def _each(self, name: str, region: frozenset[Cell], rng: random.Random) -> Source:
        """Draws pieces of the right area, each choice once, and tries whether they make it."""
        shipped, seen = self._shipped(region), set[tuple[int, ...]]()
        whole: PosedChallenge | None = None
        while len(seen) < self._ways[0][len(region)]:
            copies = self._drawn(len(region), rng)
            if copies in seen:
                continue  # the more are seen the longer this goes on, but it comes to an end
            seen.add(copies)
            if copies in shipped or sum(copies) < _FEWEST_PIECES:
                continue
            if whole is None:
                whole = self._posed(region)
            yield self._tried(name, whole, copies)

    def _tried(self, name: str, whole: PosedChallenge, copies: tuple[int, ...]) -> Candidate | None:
        """The challenge to make a shape of some pieces, if there is one way up to symmetry."""
        options = whole.problem.options
        chosen = [position for position, option in enumerate(options) if copies[option.kind]]
        problem = _only(whole.problem, copies, chosen)
        search = Search(nodes_in(problem, _LOOKING_S))
        found = search.enumerate(problem, Effort(), len(problem.symmetries) + 1)
        if not found.complete or not found.count:
            return None
        first = found.solutions[0]
        if not all(problem.are_images(first, other) for other in found.solutions[1:]):
            return None
        solution = whole.layout(chosen[option] for option in first)
        challenge = replace(whole.challenge, pieces=tuple(solution))
        return Candidate(challenge, solution, found.count, None, name)

    def _shipped(self, region: frozenset[Cell]) -> set[tuple[int, ...]]:
        """What the set's own challenges choose to make this region, as copies of each kind."""
        lattice = self._puzzle.lattice
        images = {at_anchor(lattice, map(move, region)) for move in lattice.symmetries}
        return {
            tuple(len(set(challenge.pieces).intersection(kind)) for kind in self._kinds)
            for challenge in self._puzzle.challenges
            if at_anchor(lattice, challenge.region) in images
        }

    @cached_property
    def _ways(self) -> list[dict[int, int]]:
        """From each kind on, in how many ways copies of the kinds add up to each area."""
        ways = [{0: 1}]
        for kind, area in zip(reversed(self._kinds), reversed(self._areas), strict=True):
            sums: dict[int, int] = {}
            for used in range(len(kind) + 1):
                for rest, count in ways[0].items():
                    sums[rest + used * area] = sums.get(rest + used * area, 0) + count
            ways.insert(0, sums)
        return ways

    def _drawn(self, area: int, rng: random.Random) -> tuple[int, ...]:
        """Copies of each kind that add up to an area: every choice is as likely as any other."""
        copies, left = [], area
        for place, kind in enumerate(self._kinds):
            below, each = self._ways[place + 1], self._areas[place]
            numbers = range(len(kind) + 1)
            weights = [below.get(left - number * each, 0) for number in numbers]
            at = rng.randrange(sum(weights))
            number = next(n for n in numbers if at < sum(weights[: n + 1]))
            copies.append(number)
            left -= number * each
        return tuple(copies)


def _only(
    problem: ExactCoverProblem, copies: tuple[int, ...], chosen: Sequence[int]
) -> ExactCoverProblem:
    """The same region with so many copies of each kind, and the options chosen of what stays."""
    number = {kind: place for place, kind in enumerate(k for k, n in enumerate(copies) if n)}
    options = (problem.options[position] for position in chosen)
    mine, size = tuple(Option(number[o.kind], o.cells) for o in options), problem.cell_count
    same = problem.symmetries[0][size:]  # mirrors may make one kind of another
    symmetries = tuple(one[:size] for one in problem.symmetries if one[size:] == same)
    return ExactCoverProblem(size, tuple(filter(None, copies)), mine, symmetries=symmetries)
