"""Benchmark counting against the packages exact-cover and xcover.

Every count runs in its own process, on one thread, with the same problem: cells and pieces as
items, placements as options. Times are CPU seconds of the counting call, the median of several if
it is short, without import and compilation. The packages use neither symmetries nor identical
pieces, so all solvers must agree on the count with identical pieces distinguished.
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
#: Environment that limits libraries to one thread.
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}

PENTOMINOES = "pentominoes"
TWELVE = "balls12"
#: Set, challenge, and number of solutions with identical pieces distinguished.
CASES = (
    ("iqblock", "", 48),
    ("cubimagici", "", 816),
    ("iqstars", "", 381),
    ("fridgeiq", "square_05", 6040),
    ("fridgeiq", "square_08", 55_288),
    ("fridgeiq", "rectangle_07_b", 2534),
    ("fridgeiq", "rectangle_09_a", 4080),
    ("fridgeiq", "triangle_08", 780),
    (PENTOMINOES, "8x8", 520),
    (PENTOMINOES, "6x10", 9356),
    (TWELVE, "", 371_020),
    ("iqfit", "", 301_350),
)
#: Our engines.
ENGINES = ("search", "count")
#: Without `--engine`, with the checks that come before an engine.
AUTOMATIC = "automatic"
SOLVERS = (*ENGINES, AUTOMATIC, "exact-cover", "xcover")
#: Time limit per case in seconds; short calls are repeated this often, or for this many seconds.
CAP_S, ROUNDS, ROUNDS_S = 120.0, 5, 3.0


def compare(small: bool) -> bool:
    """Print a table; other times are multiples of our faster engine's.

    Args:
        small: run only the smallest case, once.

    Returns:
        Whether all counts are correct.
    """
    print(f"CPU seconds of a count, or times the faster engine's (over {CAP_S:g} s: timed out)")
    print(f"  {'':28}" + "".join(f"{name:>14}" for name in SOLVERS))
    right = True
    for puzzle, challenge, count in CASES[: 1 if small else None]:
        rounds_s = 0.0 if small else ROUNDS_S
        found = {
            solver: _count_in_subprocess(solver, puzzle, challenge, rounds_s) for solver in SOLVERS
        }
        best = min(found[engine][1] for engine in ENGINES)
        name = f"{Path(puzzle).stem} {challenge}"
        cells = []
        for solver, (counted, seconds) in found.items():
            right &= counted in (count, None)
            text = f"{seconds:.4f}" if solver in ENGINES else f"{seconds / best:.2f} x"
            cells.append(text if counted == count else f"{counted}!" if counted else ">")
        print(f"  {name:28}" + "".join(f"{cell:>14}" for cell in cells), flush=True)
    print()
    return right


def _count_in_subprocess(
    solver: str, puzzle: str, challenge: str, rounds_s: float
) -> tuple[int | None, float]:
    """Count in a new process; None if it takes too long."""
    command = [sys.executable, __file__, solver, puzzle, challenge, str(rounds_s)]
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
    """Return a function that counts; it copies the problem, so that no cached data helps."""
    from dataclasses import replace

    from fabkit.sets.challenges import find_challenge
    from fabkit.sets.library import load_set
    from fabkit.solve.answer import solve
    from fabkit.solve.encoding import to_exact_cover

    chosen = load_set(puzzle)
    encoded = to_exact_cover(chosen, find_challenge(chosen, challenge or None))
    if solver in (*ENGINES, AUTOMATIC):

        def ours() -> int:
            engine = None if solver == AUTOMATIC else solver
            answer = solve(replace(encoded, problem=replace(encoded.problem)), "count", engine)
            return answer.count_labelled or 0

        return ours
    matrix = _matrix(encoded.problem)
    if solver == "exact-cover":
        import exact_cover

        return lambda: int(exact_cover.get_solution_count(matrix))
    import xcover

    return lambda: sum(1 for _ in xcover.covers_bool(matrix))


def _matrix(problem: Any) -> Any:
    """Return a matrix with a column for each cell and piece, and a row for each placement."""
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


def _measure(solver: str, puzzle: str, challenge: str, rounds_s: str) -> None:
    """Measure in the new process: one call to load and compile, then the median of several."""
    count = _counter(solver, puzzle, challenge)
    took: list[float] = []
    begin = time.process_time()
    found = count()
    if time.process_time() - begin > float(rounds_s):
        took.append(time.process_time() - begin)
    while not took or (len(took) < ROUNDS and sum(took) < float(rounds_s)):
        begin = time.process_time()
        found = count()
        took.append(time.process_time() - begin)
    print(json.dumps([found, statistics.median(took)]))


if __name__ == "__main__":
    _measure(*sys.argv[1:])
