"""The engine ``sat``, by way of PySAT; formulas, and proofs that one has no model.

A formula's text is DIMACS and its proof DRAT, so that checkers from outside can be used.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from fabkit.solve.engines.apart import OutsideEngine, answers, library
from fabkit.solve.engines.engine import Effort, Solution
from fabkit.solve.problem import ExactCoverProblem

#: Literals: a variable's number, negative when it is to be false.
Clause = tuple[int, ...]

#: Sets up to this size get one clause for each pair, larger ones a ladder of new variables.
_PAIRWISE = 6

#: CaDiCaL 1.9.5, as PySAT calls it.
_CADICAL = "cadical195"


@dataclass(frozen=True)
class Formula:
    """Clauses, all of which are to hold.

    Attributes:
        variables: they are numbered from 1.
        clauses: each holds when one of its literals does; an empty one never.
        comments: what the first variables stand for, one line each.
    """

    variables: int
    clauses: tuple[Clause, ...]
    comments: tuple[str, ...] = ()

    def dimacs(self) -> str:
        """The formula as a DIMACS file's text; the same for the same formula."""
        lines = [f"c {variable}: {text}" for variable, text in enumerate(self.comments, 1)]
        lines.append(f"p cnf {self.variables} {len(self.clauses)}")
        lines += [" ".join(map(str, (*clause, 0))) for clause in self.clauses]
        return "\n".join(lines) + "\n"


def formula(problem: ExactCoverProblem, blocked: Sequence[Solution] = ()) -> Formula:
    """The formula whose models are a problem's solutions, the same for the same problem.

    Args:
        problem: option ``p`` becomes variable ``p + 1``; more variables follow that only count.
        blocked: solutions that are to be no models.

    Example:
        >>> from fabkit.solve.problem import Option
        >>> bar = ExactCoverProblem(2, (1,), (Option(0, (0,)), Option(0, (0, 1))))
        >>> print(formula(bar).dimacs(), end="")
        c 1: kind 0 on cells 0
        c 2: kind 0 on cells 0 1
        p cnf 2 3
        1 2 0
        -1 -2 0
        2 0
    """
    writer = Writer(len(problem.options))
    for least, most, weights in problem.rows():
        own = {position + 1: weight for position, weight in weights.items()}
        writer.at_most(most, own, exactly=least == most)
    for solution in blocked:
        writer.add(blocking_clause(solution))
    comments = [
        f"kind {one.kind} on cells {' '.join(map(str, one.cells))}"
        + (f", {one.copies} copies" if one.copies > 1 else "")
        for one in problem.options
    ]
    return Formula(writer.variables, tuple(writer.clauses), tuple(comments))


def blocking_clause(solution: Solution) -> Clause:
    """The clause that rules out one solution of a problem, and no other.

    As every solution uses as many pieces, none contains another: it names no option left out.
    """
    return tuple(-(position + 1) for position in solution)


class Writer:
    """Collects clauses, each once, in the order in which they come, and hands out new variables."""

    def __init__(self, variables: int) -> None:
        self.clauses: dict[Clause, None] = {}
        self.variables = variables

    def add(self, clause: Clause) -> None:
        """Takes a clause."""
        self.clauses[clause] = None

    def new(self) -> int:
        """A new variable."""
        self.variables += 1
        return self.variables

    def at_most_one(self, variables: Sequence[int]) -> None:
        """Pair by pair if they are few; else by groups, each with a variable for all of it."""
        rest = list(variables)
        while rest:
            size = len(rest) if len(rest) <= _PAIRWISE else _PAIRWISE - 1
            group, rest = rest[:size], rest[size:]
            if rest:
                rest.append(self.new())
                for variable in group:
                    self.add((-variable, rest[-1]))
            for one, other in combinations(group, 2):
                self.add((-one, -other))

    def at_most(self, total: int, weights: dict[int, int], exactly: bool = False) -> None:
        """The true variables weigh at most, or exactly, so much together."""
        for variable, weight in weights.items():
            if weight > total:
                self.add((-variable,))
        fitting = {variable: weight for variable, weight in weights.items() if weight <= total}
        if total == 1:
            if exactly:
                self.add(tuple(fitting))
            self.at_most_one(list(fitting))
            return
        reached = self._counter(total, fitting)
        if exactly:
            self.add((reached[total],))

    def _counter(self, total: int, weights: dict[int, int]) -> list[int]:
        """Variables that say whether the true ones weigh 0, 1 … up to `total`, at least.

        More is ruled out. It is Sinz's sequential counter, with weights.
        """
        always = self.new()
        self.add((always,))
        reached = [always] + [-always] * total
        for variable, weight in weights.items():
            before = reached
            reached = [always] + [self.new() for _ in range(total)]
            self.add((-variable, -before[total - weight + 1]))
            for amount in range(1, total + 1):
                lighter = before[max(0, amount - weight)]
                self.add((-before[amount], reached[amount]))
                self.add((-variable, -lighter, reached[amount]))
                self.add((-reached[amount], before[amount], variable))
                self.add((-reached[amount], lighter))
        return reached


def refutation(formula: Formula, effort: Effort) -> str | None:
    """A proof that a formula has no model, which any DRAT checker can follow.

    CaDiCaL writes it, in a process of its own.

    Returns:
        The proof's text, or None when the formula has a model.

    Raises:
        BudgetSpentError: when the time is over.
        OutsideError: when PySAT is missing or breaks down.
    """
    if () in formula.clauses:  # which solvers take badly
        return "0\n"
    with contextlib.closing(answers(_refute, formula.clauses, effort)) as replies:
        proof: str | None = next(replies)
    return proof


def _refute(clauses: Any, answer: Callable[[Any], None]) -> None:
    with library("sat", "PySAT", "with: pip install python-sat"):
        from pysat.solvers import Solver
    with Solver(_CADICAL, bootstrap_with=clauses, with_proof=True) as solver:
        answer(None if solver.solve() else "\n".join(solver.get_proof()) + "\n")


class Sat(OutsideEngine):
    """Finds one solution, or proves that there is none, even where counting has no end.

    It counts by listing, which is slow when there are many.
    """

    name = "sat"

    @staticmethod
    def seek(
        problem: ExactCoverProblem, limit: int | None, found: Callable[[Solution], None]
    ) -> int:
        """See `OutsideEngine.seek`: each solution is ruled out by a clause once it is found.

        Raises:
            OutsideError: when PySAT is missing.
        """
        with library("sat", "PySAT", "with: pip install python-sat"):
            from pysat.solvers import Solver
        clauses = [list(clause) for clause in formula(problem).clauses]
        if [] in clauses:  # which PySAT overlooks
            return 0
        count = 0
        with Solver(_CADICAL, bootstrap_with=clauses) as solver:
            while count != limit and solver.solve():
                options = solver.get_model()[: len(problem.options)]
                solution = tuple(literal - 1 for literal in options if literal > 0)
                found(solution)
                count += 1
                if not solution:  # the only one there is
                    break
                solver.add_clause(list(blocking_clause(solution)))
            return int(solver.accum_stats()["decisions"])
