"""Counting up to the symmetries of the board, by Burnside's lemma."""

from __future__ import annotations

from itertools import pairwise

from fabkit.solve.problem import ExactCoverProblem, Option


def fixed_problem(problem: ExactCoverProblem, symmetry: int) -> ExactCoverProblem:
    """The problem whose solutions are those of another that a symmetry carries to themselves.

    Such a solution holds whole orbits of options under the symmetry's powers. An orbit whose
    options are apart from each other becomes one option that uses as many copies.

    Args:
        problem: the whole problem.
        symmetry: position in its symmetries.

    Returns:
        The problem of orbits, without symmetries of its own.

    Example:
        >>> square = ExactCoverProblem(
        ...     2, (2,), (Option(0, (0,)), Option(0, (1,))), symmetries=((0, 1), (1, 0)))
        >>> fixed_problem(square, 1).options
        (Option(kind=0, cells=(0, 1), copies=2),)
    """
    image = problem.images[symmetry]
    options, seen = [], set()
    for start in range(len(problem.options)):
        if start in seen:
            continue
        orbit = [start]
        while image[orbit[-1]] != start:
            orbit.append(image[orbit[-1]])
        seen.update(orbit)
        kind = problem.options[start].kind
        copies = sum(problem.options[one].copies for one in orbit)
        if copies > problem.copies[kind]:
            continue
        cells = sorted(cell for one in orbit for cell in problem.options[one].cells)
        if all(a != b for a, b in pairwise(cells)):
            options.append(Option(kind, tuple(cells), copies))
    return ExactCoverProblem(
        problem.cell_count, problem.copies, tuple(sorted(options)), problem.leftover
    )


def up_to_symmetry(count: int, fixed: list[int]) -> int:
    """The number of orbits of solutions.

    Args:
        count: all solutions.
        fixed: for each symmetry but the identity, the solutions it carries to themselves.

    Returns:
        Burnside: the mean number of solutions fixed, over all symmetries.

    Raises:
        ValueError: when the numbers contradict each other.

    Example:
        >>> up_to_symmetry(4, [0, 2, 0])
        ... # doctest: +IGNORE_EXCEPTION_DETAIL
        Traceback (most recent call last):
        ValueError: ...
        >>> up_to_symmetry(4, [0, 0, 0])
        1
    """
    orbits, rest = divmod(count + sum(fixed), len(fixed) + 1)
    if rest:
        raise ValueError(f"{count} solutions, {fixed} of them fixed: not whole orbits")
    return orbits
