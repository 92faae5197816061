"""The engine ``mip``: HiGHS, which solves integer programs."""

from __future__ import annotations

from collections.abc import Callable

from fabkit.core.errors import ExternalError, install_hint, require_library
from fabkit.solve.engines.engine import Solution
from fabkit.solve.engines.subprocess_engine import SubprocessEngine
from fabkit.solve.exact_cover import ExactCoverProblem

_SEED = 1


class Mip(SubprocessEngine):
    """A slow engine, independent of the others: linear relaxations and cuts.

    It computes with floating-point numbers, so its "no" is confirmed by another engine.
    """

    name = "mip"
    counts = trusted = False

    @staticmethod
    def run_library(
        problem: ExactCoverProblem, limit: int | None, report: Callable[[Solution], None]
    ) -> int:
        """See `SubprocessEngine.run_library`: each solution found is cut off. One thread and a
        fixed seed make runs repeatable.

        Raises:
            ExternalError: when HiGHS is missing or gives up.
        """
        with require_library("the engine mip", "HiGHS", install_hint("engines")):
            import highspy

        solver = highspy.Highs()
        for option, value in {"output_flag": False, "threads": 1, "random_seed": _SEED}.items():
            solver.setOptionValue(option, value)
        for position in range(len(problem.options)):
            solver.addVar(0, 1)
            solver.changeColIntegrality(position, highspy.HighsVarType.kInteger)
        solver.addVar(0, 0)  # HiGHS calls a model without columns "empty", feasible or not

        def add_row(minimum: float, maximum: float, weights: dict[int, int]) -> None:
            solver.addRow(minimum, maximum, len(weights), list(weights), list(weights.values()))

        for row in problem.constraints():
            add_row(*row)
        nodes = count = 0
        while count != limit:
            for presolve in ("choose", "off"):
                solver.setOptionValue("presolve", presolve)
                solver.run()
                status = solver.getModelStatus()
                nodes += max(0, int(solver.getInfo().mip_node_count))
                # Rarely, presolve takes an infeasible problem for solved, and HiGHS notices.
                if status != highspy.HighsModelStatus.kSolveError:
                    break
            if status == highspy.HighsModelStatus.kInfeasible:
                break
            if status != highspy.HighsModelStatus.kOptimal:
                raise ExternalError(f"the engine mip gave up: {solver.modelStatusToString(status)}")
            values = solver.getSolution().col_value[: len(problem.options)]
            solution = tuple(position for position, value in enumerate(values) if value > 0.5)
            report(solution)
            count += 1
            add_row(-highspy.kHighsInf, len(solution) - 1, dict.fromkeys(solution, 1))
        return nodes
