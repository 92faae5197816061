"""What counting costs, beside the packages exact-cover and xcover from the package index.

Every count runs in a process of its own, on one thread, and gets the same problem: cells and
pieces as items, placements as options. Its seconds are CPU seconds of the call that counts, the
median of several if it is a short one; import and compilation are not in them. The packages know
neither symmetries nor identical pieces: they count all solutions as they lie, with identical
pieces told apart. That count must be the same from every solver.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
#: What a command prints where it is not wanted, and what else one thread needs.
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}

PENTOMINOES = str(ROOT / "tests" / "sets" / "pentominoes.toml")
#: Set, challenge, and how many solutions it has, with identical pieces told apart.
CASES = (
    ("iqblock", "", 48),
    ("cubimagici", "", 816),
    ("iqstars", "", 381),
    ("fridgeiq", "square_05", 6040),
    ("fridgeiq", "rectangle_07_b", 2534),
    ("fridgeiq", "rectangle_09_a", 4080),
    ("fridgeiq", "triangle_08", 780),
    (PENTOMINOES, "8x8", 520),
    (PENTOMINOES, "6x10", 9356),
    ("iqfit", "", 301_350),
)
SOLVERS = ("search", "count", "exact-cover", "xcover")
#: So long a solver may take for one case; a short call is measured so often, or so long.
CAP_S, ROUNDS, ROUNDS_S = 120.0, 5, 3.0


def compare(small: bool) -> bool:
    """Prints a table; the packages' seconds as multiples of our quicker engine's.

    Args:
        small: only the smallest case.

    Returns:
        Whether all counts are right.
    """
    print(f"CPU seconds of a count; the packages' times ours (over {CAP_S:g} s: given up)")
    print(f"  {'':28}" + "".join(f"{name:>14}" for name in SOLVERS))
    right = True
    for puzzle, challenge, count in CASES[: 1 if small else None]:
        found = {solver: _apart(solver, puzzle, challenge) for solver in SOLVERS}
        best = min(found[ours][1] for ours in ("search", "count"))
        name = f"{Path(puzzle).stem} {challenge}"
        cells = []
        for solver, (counted, seconds) in found.items():
            right &= counted in (count, None)
            ours = solver in ("search", "count")
            text = f"{seconds:.4f}" if ours else f"{seconds / best:.1f} x"
            cells.append(text if counted == count else f"{counted}!" if counted else ">")
        print(f"  {name:28}" + "".join(f"{cell:>14}" for cell in cells), flush=True)
    print()
    return right


def _apart(solver: str, puzzle: str, challenge: str) -> tuple[int | None, float]:
    """A count in a new process; None for one that takes too long."""
    command = [sys.executable, __file__, solver, puzzle, challenge]
    try:
        done = subprocess.run(
            command,
            env=os.environ | ONE_THREAD | {"PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
            timeout=CAP_S,
        )
    except subprocess.TimeoutExpired:
        return None, CAP_S
    count, seconds = json.loads(done.stdout)
    return count, seconds


def _counter(solver: str, puzzle: str, challenge: str) -> Callable[[], int]:
    """What counts: a copy of the problem each time, so that nothing is known of it before."""
    from dataclasses import replace

    from fabkit.model.challengeload import find_challenge
    from fabkit.model.library import load_set
    from fabkit.solve.answer import solve
    from fabkit.solve.posing import pose

    chosen = load_set(puzzle)
    posed = pose(chosen, find_challenge(chosen, challenge or None))
    if solver in ("search", "count"):

        def ours() -> int:
            answer = solve(replace(posed, problem=replace(posed.problem)), "count", solver)
            return answer.count_labelled or 0

        return ours
    matrix = _matrix(posed.problem)
    if solver == "exact-cover":
        import exact_cover

        return lambda: int(exact_cover.get_solution_count(matrix))
    import xcover

    return lambda: sum(1 for _ in xcover.covers_bool(matrix))


def _matrix(problem: Any) -> Any:
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


def _measure(solver: str, puzzle: str, challenge: str) -> None:
    """In the new process: one call to load and compile, then the median of several."""
    count = _counter(solver, puzzle, challenge)
    took: list[float] = []
    begin = time.process_time()
    found = count()
    if time.process_time() - begin > ROUNDS_S:
        took.append(time.process_time() - begin)
    while not took or (len(took) < ROUNDS and sum(took) < ROUNDS_S):
        begin = time.process_time()
        found = count()
        took.append(time.process_time() - begin)
    print(json.dumps([found, statistics.median(took)]))


if __name__ == "__main__":
    _measure(*sys.argv[1:])
