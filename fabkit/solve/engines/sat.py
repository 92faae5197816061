"""The engine ``sat``, using PySAT; CNF formulas, and proofs that one is unsatisfiable.

Formulas are written as DIMACS and proofs as DRAT, so that external checkers can verify them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from fabkit.core.errors import require_library
from fabkit.solve.engines.engine import Budget, Solution
from fabkit.solve.engines.subprocess_engine import SubprocessEngine, run_in_subprocess
from fabkit.solve.exact_cover import ExactCoverProblem

#: Literals: the number of a variable, negative if negated.
Clause = tuple[int, ...]

#: At-most-one constraints up to this size get one clause per pair, larger ones new variables.
_PAIRWISE = 6

#: PySAT's name of CaDiCaL 1.9.5.
_CADICAL = "cadical195"


@dataclass(frozen=True)
class Formula:
    """A formula in conjunctive normal form: the number of variables, counted from 1, the clauses,
    and comments on the first variables, one line each."""

    variables: int
    clauses: tuple[Clause, ...]
    comments: tuple[str, ...] = ()

    def dimacs(self) -> str:
        """Return the formula in DIMACS format; the same formula gives the same text."""
        lines = [f"c {variable}: {text}" for variable, text in enumerate(self.comments, 1)]
        lines.append(f"p cnf {self.variables} {len(self.clauses)}")
        lines += [" ".join(map(str, (*clause, 0))) for clause in self.clauses]
        return "\n".join(lines) + "\n"


def to_cnf(problem: ExactCoverProblem, blocked: Sequence[Solution] = ()) -> Formula:
    """Encode a problem as a formula whose models are its solutions except the blocked ones. Option
    ``p`` becomes variable ``p + 1``; auxiliary variables follow.

    Example:
        >>> from fabkit.solve.exact_cover import Option
        >>> bar = ExactCoverProblem(2, (1,), (Option(0, (0,)), Option(0, (0, 1))))
        >>> print(to_cnf(bar).dimacs(), end="")
        c 1: kind 0 on cells 0
        c 2: kind 0 on cells 0 1
        p cnf 2 3
        1 2 0
        -1 -2 0
        2 0
    """
    writer = CnfBuilder(len(problem.options))
    for minimum, maximum, weights in problem.constraints():
        literals = {position + 1: weight for position, weight in weights.items()}
        writer.at_most(maximum, literals, exactly=minimum == maximum)
    for solution in blocked:
        writer.add(blocking_clause(solution))
    comments = [
        f"kind {option.kind} on cells {' '.join(map(str, option.cells))}"
        + (f", {option.copies} copies" if option.copies > 1 else "")
        for option in problem.options
    ]
    return Formula(writer.variables, tuple(writer.clauses), tuple(comments))


def blocking_clause(solution: Solution) -> Clause:
    """Return the clause that rules out one solution of a problem, and no other.

    All solutions use equally many pieces, so none contains another, and the clause needs no
    literals of unused options.
    """
    return tuple(-(position + 1) for position in solution)


class CnfBuilder:
    """A collection of distinct clauses, in order, which also creates variables."""

    def __init__(self, variables: int) -> None:
        self.clauses: dict[Clause, None] = {}
        self.variables = variables

    def add(self, clause: Clause) -> None:
        """Add a clause."""
        self.clauses[clause] = None

    def new(self) -> int:
        """Create a variable."""
        self.variables += 1
        return self.variables

    def at_most_one(self, variables: Sequence[int]) -> None:
        """Allow at most one true variable: pairwise, or if many, in groups with a variable each."""
        waiting = list(variables)
        while waiting:
            size = len(waiting) if len(waiting) <= _PAIRWISE else _PAIRWISE - 1
            group, waiting = waiting[:size], waiting[size:]
            if waiting:
                waiting.append(self.new())
                for variable in group:
                    self.add((-variable, waiting[-1]))
            for variable, other in combinations(group, 2):
                self.add((-variable, -other))

    def at_most(self, total: int, weights: dict[int, int], exactly: bool = False) -> None:
        """Limit the total weight of the true variables to at most, or exactly, `total`."""
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
        """Create variables for "the true ones weigh at least 0, 1 … `total`", and rule out more:
        Sinz's sequential counter, with weights."""
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


def refutation(formula: Formula, budget: Budget) -> str | None:
    """Prove with CaDiCaL, in a subprocess, that a formula is unsatisfiable; return the proof in
    DRAT format, None if the formula is satisfiable.

    Raises:
        BudgetSpentError: if the time is up.
        ExternalError: if PySAT is missing or fails.
    """
    if () in formula.clauses:  # which some solvers mishandle
        return "0\n"
    with contextlib.closing(run_in_subprocess(_refute, formula.clauses, budget)) as replies:
        proof: str | None = next(replies)
    return proof


def _refute(clauses: Any, answer: Callable[[Any], None]) -> None:
    with require_library("the engine sat", "PySAT", "with: pip install python-sat"):
        from pysat.solvers import Solver
    with Solver(_CADICAL, bootstrap_with=clauses, with_proof=True) as solver:
        answer(None if solver.solve() else "\n".join(solver.get_proof()) + "\n")


class Sat(SubprocessEngine):
    """An engine that finds or refutes a solution even where counting is hopeless.

    It counts by listing, which is slow if there are many solutions.
    """

    name = "sat"

    @staticmethod
    def run_library(
        problem: ExactCoverProblem, limit: int | None, report: Callable[[Solution], None]
    ) -> int:
        """See `SubprocessEngine.run_library`: a clause rules out each solution found.

        Raises:
            ExternalError: when PySAT is missing.
        """
        with require_library("the engine sat", "PySAT", "with: pip install python-sat"):
            from pysat.solvers import Solver
        clauses = [list(clause) for clause in to_cnf(problem).clauses]
        if [] in clauses:  # which PySAT ignores
            return 0
        count = 0
        with Solver(_CADICAL, bootstrap_with=clauses) as solver:
            while count != limit and solver.solve():
                options = solver.get_model()[: len(problem.options)]
                solution = tuple(literal - 1 for literal in options if literal > 0)
                report(solution)
                count += 1
                if not solution:  # the only one there is
                    break
                solver.add_clause(list(blocking_clause(solution)))
            return int(solver.accum_stats()["decisions"])
