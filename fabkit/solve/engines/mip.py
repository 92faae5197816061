"""The engine ``mip``: HiGHS, which solves integer programs."""

from __future__ import annotations

from collections.abc import Callable

from fabkit.core.errors import OutsideError, to_install
from fabkit.solve.engines.apart import OutsideEngine, library
from fabkit.solve.engines.engine import Solution
from fabkit.solve.problem import ExactCoverProblem

_SEED = 1


class Mip(OutsideEngine):
    """Slow, but of another family than all the others: linear relaxations and cuts.

    It computes with rounded numbers, so its "no" needs a second opinion.
    """

    name = "mip"
    counts = trusted = False

    @staticmethod
    def seek(
        problem: ExactCoverProblem, limit: int | None, found: Callable[[Solution], None]
    ) -> int:
        """See `OutsideEngine.seek`: each solution is cut off once it is found.

        One thread and a fixed seed make runs repeat.

        Raises:
            OutsideError: when HiGHS is missing or gives up.
        """
        with library("mip", "HiGHS", to_install("engines")):
            import highspy

        solver = highspy.Highs()
        for option, value in {"output_flag": False, "threads": 1, "random_seed": _SEED}.items():
            solver.setOptionValue(option, value)
        for position in range(len(problem.options)):
            solver.addVar(0, 1)
            solver.changeColIntegrality(position, highspy.HighsVarType.kInteger)
        solver.addVar(0, 0)  # a model without columns would be "empty", solvable or not

        def add_row(least: float, most: float, weights: dict[int, int]) -> None:
            solver.addRow(least, most, len(weights), list(weights), list(weights.values()))

        for row in problem.rows():
            add_row(*row)
        nodes = count = 0
        while count != limit:
            solver.run()
            status = solver.getModelStatus()
            nodes += max(0, int(solver.getInfo().mip_node_count))
            if status == highspy.HighsModelStatus.kInfeasible:
                break
            if status != highspy.HighsModelStatus.kOptimal:
                raise OutsideError(f"the engine mip gave up: {solver.modelStatusToString(status)}")
            values = solver.getSolution().col_value[: len(problem.options)]
            solution = tuple(position for position, value in enumerate(values) if value > 0.5)
            found(solution)
            count += 1
            add_row(-highspy.kHighsInf, len(solution) - 1, dict.fromkeys(solution, 1))
        return nodes
