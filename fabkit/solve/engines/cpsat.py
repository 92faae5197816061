"""The engine ``cp-sat``: Google's OR-Tools."""

from __future__ import annotations

from collections.abc import Callable

from fabkit.core.errors import ExternalError, install_hint, require_library
from fabkit.solve.engines.engine import Solution
from fabkit.solve.engines.subprocess_engine import SubprocessEngine
from fabkit.solve.exact_cover import ExactCoverProblem

_SEED = 1


class CpSat(SubprocessEngine):
    """An engine that is fast at listing, and at single solutions of large problems.

    It has reported solvable problems as infeasible before (OR-Tools issue 5295), so its "no" is
    confirmed by another engine.
    """

    name = "cp-sat"
    trusted = False

    @staticmethod
    def run_library(
        problem: ExactCoverProblem, limit: int | None, report: Callable[[Solution], None]
    ) -> int:
        """See `SubprocessEngine.run_library`; one worker and a fixed seed make runs repeatable.

        Raises:
            ExternalError: when OR-Tools is missing or gives up.
        """
        with require_library("the engine cp-sat", "OR-Tools", install_hint("engines")):
            from ortools.sat.python import cp_model

        model = cp_model.CpModel()
        chosen = [model.new_bool_var(f"option {number}") for number in range(len(problem.options))]
        for minimum, maximum, weights in problem.constraints():
            variables = [chosen[position] for position in weights]
            if maximum == 1 and max(weights.values(), default=1) == 1:
                add = model.add_exactly_one if minimum else model.add_at_most_one
                add(variables)
            else:
                total = cp_model.LinearExpr.weighted_sum(variables, list(weights.values()))
                model.add_linear_constraint(total, minimum, maximum)

        class Listener(cp_model.CpSolverSolutionCallback):
            """A listener for solutions during the search."""

            count = 0

            def on_solution_callback(self) -> None:
                """Pass a solution on."""
                self.count += 1
                report(tuple(p for p, each in enumerate(chosen) if self.boolean_value(each)))
                if self.count == limit:
                    self.stop_search()

        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = _SEED
        solver.parameters.enumerate_all_solutions = limit != 1  # one alone is found faster without
        listener = Listener()
        status = solver.solve(model, listener)
        if listener.count != limit and status not in (cp_model.OPTIMAL, cp_model.INFEASIBLE):
            raise ExternalError(f"the engine cp-sat gave up: {solver.status_name(status)}")
        return int(solver.num_branches)
