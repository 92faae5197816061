"""One solver in a process of its own, for the benchmark `solve`: a line of JSON per measurement.

_contender.py SOLVER [--start-only]
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PENTOMINOES = str(ROOT / "tests" / "sets" / "pentominoes.toml")
OURS, EXACT_COVER, XCOVER, XCOVER_ZDD = "fabkit", "exact-cover", "xcover", "xcover zdd"
SOLVERS = (OURS, EXACT_COVER, XCOVER, XCOVER_ZDD)
#: A short call is measured so often, or until so many seconds have gone by.
ROUNDS, ROUNDS_S = 5, 3.0
AS_THEY_LIE, UP_TO_SYMMETRY, WITHOUT_SYMMETRIES = "", "up to symmetry", "without symmetries"


@dataclass(frozen=True)
class Case:
    """A line of the table; `count` tells identical pieces apart, `orbits` is up to symmetry."""

    name: str
    puzzle: str
    challenge: str | None
    count: int
    way: str = AS_THEY_LIE
    orbits: int | None = None
    limit: float | None = None

    @property
    def title(self) -> str:
        return f"{self.name} {self.way}".strip()


CASES = (
    Case("pentominoes 6x10", PENTOMINOES, "6x10", 9356, UP_TO_SYMMETRY, 2339, 0.15),
    Case("pentominoes 6x10", PENTOMINOES, "6x10", 9356, WITHOUT_SYMMETRIES),
    Case("pentominoes 8x8", PENTOMINOES, "8x8", 520, UP_TO_SYMMETRY, 65, 0.05),
    Case("IQ Block", "iqblock", None, 48, UP_TO_SYMMETRY, 6, 0.005),
    Case("Cubi magici", "cubimagici", None, 816, UP_TO_SYMMETRY, 102, 0.02),
    Case("IQ Stars", "iqstars", None, 381),
    Case("square_05", "fridgeiq", "square_05", 6040),
    Case("rectangle_07_b", "fridgeiq", "rectangle_07_b", 2534),
    Case("rectangle_09_a", "fridgeiq", "rectangle_09_a", 4080),
    Case("triangle_08", "fridgeiq", "triangle_08", 780),
    Case("IQ Fit", "iqfit", None, 301_350, limit=2.0),
)


def median_s(call: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of a call, and what it returned."""
    took: list[float] = []
    while len(took) < ROUNDS and sum(took) < ROUNDS_S:
        begin = time.process_time()
        answer = call()
        took.append(time.process_time() - begin)
    return statistics.median(took), answer


def pose_case(case: Case) -> Any:
    from fabkit.model.challengeload import find_challenge
    from fabkit.model.library import load_set
    from fabkit.solve.posing import pose

    puzzle = load_set(case.puzzle)
    posed = pose(puzzle, find_challenge(puzzle, case.challenge))
    if case.way == WITHOUT_SYMMETRIES:
        posed = replace(posed, problem=replace(posed.problem, symmetries=()))
    return posed


def kernel_seconds(name: str, problem: Any) -> float:
    """What an engine needs once its arrays are ready."""
    from fabkit.solve.engines.engine import Effort
    from fabkit.solve.engines.frontier import Frontier
    from fabkit.solve.engines.search import start_walk

    if name == "count":
        frontier = Frontier(problem)
        begin = time.process_time()
        frontier.run(Effort())
    else:
        walk = start_walk(problem, reduced=True, listing=False)
        begin = time.process_time()
        while not walk.step(1 << 40, None):
            pass
    return time.process_time() - begin


def by_fabkit(case: Case) -> Iterator[dict[str, Any]]:
    """Both engines; a copy of the problem each time, so that nothing is known of it before."""
    from fabkit.solve.answer import solve
    from fabkit.solve.engines import engine_named
    from fabkit.solve.engines.engine import Effort
    from fabkit.solve.symmetry import fixed_problem

    posed = pose_case(case)
    problem = posed.problem
    for name in ("search", "count"):
        parts, orbits = [problem], None
        if case.way == UP_TO_SYMMETRY:
            parts += [fixed_problem(problem, one) for one in range(1, len(problem.symmetries))]
            call, answer = median_s(
                lambda: solve(replace(posed, problem=replace(problem)), "count", name)  # noqa: B023
            )
            orbits = answer.count_up_to_symmetry
        else:
            call, answer = median_s(
                lambda: engine_named(name).count(replace(problem), Effort())  # noqa: B023
            )
        kernels = [sum(kernel_seconds(name, part) for part in parts) for _ in range(3)]
        yield {
            "engine": name,
            "count": answer.count * problem.labellings,
            "orbits": orbits,
            "seconds": call,
            "kernel": statistics.median(kernels),
        }


def matrix_of(problem: Any) -> Any:
    """One column for each cell and each piece, one row for each placement of each piece."""
    import numpy as np

    first = [sum(problem.copies[:kind]) for kind in range(problem.kind_count)]
    rows = [
        [*option.cells, problem.cell_count + first[option.kind] + copy]
        for option in problem.options
        for copy in range(problem.copies[option.kind])
    ]
    matrix = np.zeros((len(rows), problem.cell_count + sum(problem.copies)), dtype=np.int32)
    for row, columns in enumerate(rows):
        matrix[row, columns] = 1
    return matrix


def count_exact_cover(matrix: Any) -> int:
    import exact_cover

    return int(exact_cover.get_solution_count(matrix))


def count_xcover(matrix: Any) -> int:
    import xcover

    return sum(1 for _ in xcover.covers_bool(matrix))


def count_xcover_zdd(matrix: Any) -> int:
    """Its decision diagram with a memory: the last node is the root; 0 is false, 1 is true."""
    import xcover

    ways, root = {0: 0, 1: 1}, 0
    for node, _, low, high in xcover.covers_bool_zdd(matrix, use_memo_cache=True):
        ways[node] = ways[low] + ways[high]
        root = node
    return ways[root]


COUNTERS = {
    EXACT_COVER: count_exact_cover,
    XCOVER: count_xcover,
    XCOVER_ZDD: count_xcover_zdd,
}


def by_package(solver: str, case: Case) -> Iterator[dict[str, Any]]:
    matrix = matrix_of(pose_case(case).problem)
    seconds, count = median_s(lambda: COUNTERS[solver](matrix))
    yield {"count": count, "seconds": seconds}


def first_call(solver: str) -> None:
    """Loads (or compiles) what the solver needs, with one domino on two cells."""
    import numpy as np

    if solver != OURS:
        assert COUNTERS[solver](np.array([[1, 1, 1], [0, 0, 1]], dtype=np.int32)) == 1
        return
    from fabkit.solve.engines import engine_named
    from fabkit.solve.engines.engine import Effort
    from fabkit.solve.problem import ExactCoverProblem, Option

    domino = ExactCoverProblem(2, (1,), (Option(0, (0, 1)),))
    for name in ("search", "count"):
        assert engine_named(name).count(domino, Effort()).count == 1


def be(solver: str, with_cases: bool) -> None:
    """Says how long its start took, and then what each case did."""
    begin = time.perf_counter()
    if solver == OURS:
        import fabkit.solve.engines.count
        import fabkit.solve.engines.search  # noqa: F401
    else:
        __import__(solver.split(maxsplit=1)[0].replace("-", "_"))
    loaded = time.perf_counter()
    first_call(solver)
    called = time.perf_counter()
    print(json.dumps({"import": loaded - begin, "first call": called - loaded}), flush=True)
    for index, case in enumerate(CASES if with_cases else ()):
        for found in by_fabkit(case) if solver == OURS else by_package(solver, case):
            print(json.dumps({"case": index, **found}), flush=True)


if __name__ == "__main__":
    be(sys.argv[1], "--start-only" not in sys.argv)
