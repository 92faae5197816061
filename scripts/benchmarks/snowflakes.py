"""What the search for FridgeIQ's snowflakes costs, by half-width, and how it grows.

Every line is a process of its own, so that its memory is its own, too. "Growth" is the ratio of
seconds to the line before. The second search, by SAT, is shown where it is quick enough for a benchmark.
The whole command comes last: all parities up to the bound, solutions not counted.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

#: What the project promises: seconds on two cores, and GB.
LIMIT_S, LIMIT_GB = 180.0, 2.0
CLOSURE = {
    "even": [4, 6, 8, 10, 12, 15],
    "odd": [3, 5, 8, 11, 14],
    "mixed": [(4, 4), (6, 6), (8, 8), (12, 11), (15, 14)],
}
SAT = {"even": [3, 4], "odd": [2, 3]}


def main() -> int:
    if len(sys.argv) > 1:
        print(json.dumps(measured(*sys.argv[1:])))
        return 0
    print("orbit-set closure     seconds  growth       unions  candidates  memory")
    lines("closure", CLOSURE, {"unions": 13, "candidates": 12})
    print("SAT on placements     seconds  growth    variables     clauses  shapes  memory")
    lines("sat", SAT, {"variables": 13, "clauses": 12, "shapes": 8})
    return whole()


def lines(what: str, boards: dict[str, list[Any]], columns: dict[str, int]) -> None:
    """One search on boards of growing size; the columns with their widths."""
    for parity, widths in boards.items():
        before = None
        for width in widths:
            found = apart(what, parity, width)
            growth = f"{found['seconds'] / before:8.2f}" if before else "       -"
            before = found["seconds"]
            counts = "".join(f"{found[name]:{size},}" for name, size in columns.items())
            print(
                f"  {parity:6} {spelt(width):9}{found['seconds']:11.2f}{growth}{counts}"
                f"{found['memory_gb']:6.2f} GB",
                flush=True,
            )


def spelt(width: Any) -> str:
    return "+".join(map(str, width)) if isinstance(width, tuple | list) else str(width)


def apart(what: str, parity: str, width: Any) -> dict[str, Any]:
    """Measures in a new process."""
    command = [sys.executable, __file__, what, parity, spelt(width)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def measured(what: str, parity: str, width: str) -> dict[str, Any]:
    from fabkit.model.library import load_set
    from fabkit.puzzles.snowflakes.bysat import BySat
    from fabkit.puzzles.snowflakes.closure import Closure
    from fabkit.puzzles.snowflakes.field import Field

    puzzle = load_set("fridgeiq")
    widths = tuple(map(int, width.split("+")))
    field = Field.of(puzzle.lattice, parity, widths if len(widths) > 1 else widths[0])
    pieces = tuple(sorted(puzzle.pieces, key=lambda piece: -len(piece.forms[0].cells)))
    small = Field.of(puzzle.lattice, parity, (1, 1) if len(widths) > 1 else 1)
    Closure(small, pieces).candidates()  # so that the kernels are compiled
    begin = time.perf_counter()
    result: dict[str, Any]
    if what == "closure":
        rows = Closure(field, pieces).candidates()
        result = {"unions": rows.unions, "candidates": len(rows.rows)}
    else:
        found = BySat(field, pieces).search()
        result = {
            "variables": found.variables,
            "clauses": found.clauses,
            "shapes": len(found.shapes),
        }
    result["seconds"] = time.perf_counter() - begin
    kilobytes = max(
        resource.getrusage(who).ru_maxrss
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    result["memory_gb"] = kilobytes / 1e6
    return result


def whole() -> int:
    """The complete catalog without counts; fails when it takes too long or too much."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "fabkit", "snowflakes", "fridgeiq", "--count-budget", "0"]
        begin = time.perf_counter()
        subprocess.run([*command, "--workers", "2", "-q"], cwd=folder, check=True)
        took_s = time.perf_counter() - begin
        path = Path(folder) / "output" / "fridgeiq" / "snowflakes.json"
        count = len(json.loads(path.read_text(encoding="utf-8"))["challenges"])
    # The greatest process; of three at most at the same time.
    most_gb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6
    print(
        f"the whole command, two workers: {count} snowflakes in {took_s:.1f} s (limit {LIMIT_S:g}), "
        f"{most_gb:.2f} GB at most in a process (limit {LIMIT_GB:g} for all)"
    )
    return int(took_s > LIMIT_S or 3 * most_gb > LIMIT_GB)


if __name__ == "__main__":
    sys.exit(main())
