"""Cheap reasons why a challenge cannot be solved, each with a witness that people can follow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fabkit.core.errors import many
from fabkit.model.lattice import Cell, Lattice
from fabkit.solve.posing import PosedChallenge
from fabkit.solve.problem import ExactCoverProblem

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MOST_NAMED = 8


@dataclass(frozen=True)
class Obstacle:
    """Why there is no solution: the witness as a sentence.

    `rule` is ``area``, ``piece``, ``cell`` or ``colouring``; for the last, `weights` are one number
    per cell of the problem.
    """

    rule: str
    reason: str
    weights: tuple[int, ...] = ()


def obstacle(posed: PosedChallenge) -> Obstacle | None:
    """The first reason found why a challenge is impossible; None when there is no cheap one."""
    return _area(posed) or _without_placement(posed) or _colouring(posed)


def _area(posed: PosedChallenge) -> Obstacle | None:
    """The pieces' cells are not as many as the region's."""
    problem = posed.problem
    sums = _bits(_attained(problem, posed.sizes))
    free = problem.cell_count
    if free in sums or (problem.leftover and sums[0] <= free):
        return None
    if problem.leftover:
        reason = f"the region has {many(free, 'cell')}, the pieces cover {sums[0]} at least"
    else:
        given = " that are free" if posed.challenge.given else ""
        some = "" if problem.pieces_count is None else f"{problem.pieces_count} of "
        pieces = f"{some}the pieces cover {_named(sums)}"
        reason = f"the region has {many(free, 'cell')}{given}, {pieces}"
    return Obstacle("area", reason)


def _without_placement(posed: PosedChallenge) -> Obstacle | None:
    """A piece that fits nowhere, or a cell that nothing covers."""
    problem = posed.problem
    if problem.pieces_count is None and not all(problem.by_kind):
        name = posed.kinds[problem.by_kind.index(())][0]
        return Obstacle("piece", f"piece {name} fits nowhere into the region")
    if not problem.leftover and not all(problem.by_cell):
        row, col = posed.row_col(posed.cells[problem.by_cell.index(())])
        return Obstacle("cell", f"no piece can cover the cell in row {row}, column {col}")
    return None


def _colouring(posed: PosedChallenge) -> Obstacle | None:
    """Some colouring gives the region a number of coloured cells that the pieces cannot have."""
    problem = posed.problem
    if problem.leftover or not problem.options:
        return None
    import numpy as np

    cells = np.array([cell for option in problem.options for cell in option.cells])
    starts = np.cumsum([0, *(len(option.cells) for option in problem.options[:-1])])
    kinds = [np.array(kind, dtype=np.int64) for kind in problem.by_kind]
    for name, coloured in _colourings(posed.puzzle.lattice, posed.cells):
        values = np.add.reduceat(coloured[cells].astype(np.int64), starts)
        total = _attained(problem, [set(values[kind].tolist()) for kind in kinds])
        weights = tuple(coloured.astype(int).tolist())
        if not total >> sum(weights) & 1:
            reason = (
                f"colour {name}: the region has {sum(weights)} coloured cells, the pieces can "
                f"cover {_named(_bits(total))}"
            )
            return Obstacle("colouring", reason, weights)
    return None


def _colourings(lattice: Lattice, cells: Sequence[Cell]) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Colourings with a period: chequers, stripes, every third diagonal, and the quarters."""
    import numpy as np

    row, col = np.array([lattice.row_col(cell) for cell in cells]).T
    if lattice.name == "triangular":  # straight lines down, where columns zigzag
        col = col - (row >> 1)
    row, col = row - row.min(), col - col.min()
    residues = [lattice.residue(cell) for cell in cells]
    rules = [
        ("every second row", 2, 1, 0),
        ("every second column", 2, 0, 1),
        ("the cells like a chessboard", 2, 1, 1),
        ("every third row", 3, 1, 0),
        ("every third column", 3, 0, 1),
        ("every third diagonal", 3, 1, 1),
        ("every third falling diagonal", 3, 1, 2),
        ("every fourth diagonal", 4, 1, 1),
        ("every fourth falling diagonal", 4, 1, 3),
    ]
    kinds = sorted(set(residues))
    groups = [("", set(kinds))]
    if len(kinds) > 1:  # the quarters of a square: the lattice's own colours
        groups += [(f"of these the {_QUARTERS[kind]} quarters", {kind}) for kind in kinds]
        upright = {kind for kind in kinds if _QUARTERS[kind] in ("upper", "lower")}
        groups += [("of these the upper and lower quarters", upright)]
    for note, group in groups:
        counts = np.array([one in group for one in residues])
        for name, modulus, down, across in [("all cells", 1, 0, 0), *rules] if note else rules:
            phase = (down * row + across * col) % modulus
            for part in range(modulus if modulus > 2 else 1):
                yield ", ".join(filter(None, (name, note))), counts & (phase == part)


#: The quarter squares by their centroid within the unit square.
_QUARTERS = {(3, 1): "lower", (5, 3): "right", (3, 5): "upper", (1, 3): "left"}


def _attained(problem: ExactCoverProblem, values: Sequence[Iterable[int]]) -> int:
    """What the pieces used can add up to when each has one of its kind's values, as a bit set."""
    if problem.pieces_count is None:  # all pieces
        total = 1
        for kind, copies in enumerate(problem.copies):
            for _ in range(copies):
                before, total = total, 0
                for value in values[kind]:
                    total |= before << value
        return total
    sums = [1] + [0] * problem.pieces_used  # for each number of pieces
    for kind, copies in enumerate(problem.copies):
        for _ in range(copies):
            for used in range(problem.pieces_used, -1, -1):
                # Left out, it leaves the sum as it is.
                for value in values[kind] if used else ():
                    sums[used] |= sums[used - 1] << value
    return sums[-1]


def _bits(total: int) -> list[int]:
    return [number for number in range(total.bit_length()) if total >> number & 1]


def _named(numbers: Sequence[int]) -> str:
    """Numbers as a person lists them."""
    if not numbers:
        return "nothing"
    if len(numbers) > _MOST_NAMED:
        return f"{numbers[0]} to {numbers[-1]}, but not every number between"
    return " or ".join(filter(None, (", ".join(map(str, numbers[:-1])), str(numbers[-1]))))
