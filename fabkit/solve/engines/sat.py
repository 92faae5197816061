"""The engine ``sat``: CaDiCaL, by way of PySAT."""

from __future__ import annotations

from collections.abc import Callable

from fabkit.solve.engines.apart import OutsideEngine, library
from fabkit.solve.engines.engine import Solution
from fabkit.solve.engines.formula import CADICAL, blocking_clause, formula
from fabkit.solve.problem import ExactCoverProblem


class Sat(OutsideEngine):
    """Finds one solution, or proves that there is none, even where counting has no end.

    It counts by listing, which is slow when there are many.

    Example:
        >>> from fabkit.solve.engines.engine import Effort
        >>> Sat().count(ExactCoverProblem(1, (1,), ()), Effort())
        Outcome(count=0, complete=True, solutions=(), nodes=0)
    """

    name = "sat"

    @staticmethod
    def seek(
        problem: ExactCoverProblem, limit: int | None, found: Callable[[Solution], None]
    ) -> int:
        """Finds solutions one after the other, each ruled out by a clause once it is found.

        Args:
            problem: what to solve.
            limit: find at most so many; None for all.
            found: called with each solution.

        Returns:
            The number of decisions.

        Raises:
            OutsideError: when PySAT is missing.
        """
        with library("sat", "PySAT", "python-sat"):
            from pysat.solvers import Solver
        clauses = [list(clause) for clause in formula(problem).clauses]
        if [] in clauses:  # which PySAT overlooks
            return 0
        count = 0
        with Solver(CADICAL, bootstrap_with=clauses) as solver:
            while count != limit and solver.solve():
                options = solver.get_model()[: len(problem.options)]
                solution = tuple(literal - 1 for literal in options if literal > 0)
                found(solution)
                count += 1
                if not solution:  # the only one there is
                    break
                solver.add_clause(list(blocking_clause(solution)))
            return int(solver.accum_stats()["decisions"])
