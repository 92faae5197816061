"""The engine ``cp-sat``: Google's OR-Tools."""

from __future__ import annotations

from collections.abc import Callable

from fabkit.core.errors import OutsideError, to_install
from fabkit.solve.engines.apart import OutsideEngine, library
from fabkit.solve.engines.engine import Solution
from fabkit.solve.problem import ExactCoverProblem

_SEED = 1


class CpSat(OutsideEngine):
    """Quick at listing, and at single solutions of large problems.

    It has called solvable problems unsolvable before (OR-Tools issue 5295), so its "no" needs
    a second opinion.
    """

    name = "cp-sat"
    trusted = False

    @staticmethod
    def seek(
        problem: ExactCoverProblem, limit: int | None, found: Callable[[Solution], None]
    ) -> int:
        """See `OutsideEngine.seek`; one worker and a fixed seed make runs repeat.

        Raises:
            OutsideError: when OR-Tools is missing or gives up.
        """
        with library("cp-sat", "OR-Tools", to_install("engines")):
            from ortools.sat.python import cp_model

        model = cp_model.CpModel()
        chosen = [model.new_bool_var(f"option {number}") for number in range(len(problem.options))]
        for least, most, weights in problem.rows():
            variables = [chosen[position] for position in weights]
            if most == 1 and max(weights.values(), default=1) == 1:
                add = model.add_exactly_one if least else model.add_at_most_one
                add(variables)
            else:
                total = cp_model.LinearExpr.weighted_sum(variables, list(weights.values()))
                model.add_linear_constraint(total, least, most)

        class Listener(cp_model.CpSolverSolutionCallback):
            """Called in the middle of the search."""

            count = 0

            def on_solution_callback(self) -> None:
                """Passes a solution on."""
                self.count += 1
                found(tuple(p for p, one in enumerate(chosen) if self.boolean_value(one)))
                if self.count == limit:
                    self.stop_search()

        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = _SEED
        solver.parameters.enumerate_all_solutions = limit != 1  # one alone is found faster without
        listener = Listener()
        status = solver.solve(model, listener)
        if listener.count != limit and status not in (cp_model.OPTIMAL, cp_model.INFEASIBLE):
            raise OutsideError(f"the engine cp-sat gave up: {solver.status_name(status)}")
        return int(solver.num_branches)
