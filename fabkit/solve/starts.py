"""Starting positions: how many solutions remain once one piece, or one cell of it, is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from fabkit.solve.engines.engine import BudgetSpentError, Effort
from fabkit.solve.engines.search import each_solution
from fabkit.solve.posing import PosedChallenge


@dataclass(frozen=True)
class Starts:
    """Solutions by what is known of them.

    Attributes:
        solutions: all of them.
        placements: for each option's position the solutions that hold it, 0 included.
        clues: for each kind and cell number the solutions in which that kind covers the cell.
    """

    solutions: int
    placements: Mapping[int, int]
    clues: Mapping[tuple[int, int], int]


def starts(posed: PosedChallenge, effort: Effort | None = None) -> Starts | None:
    """Counts the completions of every single placement and of every single-cell clue.

    Args:
        posed: the challenge.
        effort: budget and progress.

    Returns:
        The counts; None when the budget was spent first.

    Example:
        >>> from fabkit.model.library import load_set
        >>> from fabkit.solve.posing import pose
        >>> fridgeiq = load_set("fridgeiq")
        >>> triangle = next(c for c in fridgeiq.challenges if c.id == "triangle_01")
        >>> found = starts(pose(fridgeiq, triangle))
        >>> found.solutions, sum(found.placements.values())
        (1, 3)
    """
    problem = posed.problem
    placements: Counter[int] = Counter(dict.fromkeys(range(len(problem.options)), 0))
    total = 0
    try:
        for solution in each_solution(problem, effort or Effort()):
            placements.update(solution)
            total += 1
    except BudgetSpentError:
        return None
    clues = Counter(
        {
            (kind, cell): 0
            for kind in range(problem.kind_count)
            for cell in range(problem.cell_count)
        }
    )
    for position, count in placements.items():
        option = problem.options[position]
        for cell in option.cells:
            clues[option.kind, cell] += count
    return Starts(total, placements, clues)
