"""What solving costs, beside the packages exact-cover and xcover from the package index.

Every solver runs in a process of its own, on one thread, and gets the same problems: cells and
pieces as items, placements as options. Import and compilation are shown apart. A problem's
seconds are CPU seconds of the call that counts (the median of several, if it is a short one), so
that other work on the machine disturbs little.

The packages know neither symmetries nor identical pieces: they count all solutions as they lie,
with identical pieces told apart. That count must be the same from every solver. Where a line says
"up to symmetry", our seconds include the proof by Burnside's lemma of how many differ.
"""

from __future__ import annotations

import argparse
import json
import os
import selectors
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from _contender import CASES, EXACT_COVER, OURS, ROOT, SOLVERS, XCOVER, Case

CONTENDER = str(Path(__file__).with_name("_contender.py"))
THREADS = ("OMP", "OPENBLAS", "MKL", "NUMBA")
WARM_LIMIT_S, FIRST_LIMIT_S = 0.8, 10.0


def one_thread(**more: str) -> dict[str, str]:
    return os.environ | {f"{name}_NUM_THREADS": "1" for name in THREADS} | more


def lines_of(solver: str, cap_s: float) -> Iterator[dict[str, Any]]:
    """What a solver's process says, until it says nothing for too long."""
    command = [sys.executable, CONTENDER, solver]
    with (
        subprocess.Popen(command, env=one_thread(), stdout=subprocess.PIPE, text=True) as process,
        selectors.DefaultSelector() as selector,
    ):
        assert process.stdout is not None
        selector.register(process.stdout, selectors.EVENT_READ)
        while selector.select(cap_s):
            line = process.stdout.readline()
            if not line:
                if process.wait():
                    raise SystemExit(f"bench: {solver} failed")
                return
            yield json.loads(line)
        process.kill()


def cold_start(solver: str) -> dict[str, float]:
    """The start of a solver where nothing has been compiled before."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, CONTENDER, solver, "--start-only"]
        said = subprocess.run(
            command, env=one_thread(NUMBA_CACHE_DIR=folder), check=True, capture_output=True
        )
    return dict(json.loads(said.stdout))


@dataclass
class Line:
    """One case, measured: ours by its quicker engine, then each package's seconds and count."""

    case: Case
    ours: dict[str, Any]
    theirs: dict[str, dict[str, Any] | None]

    def cells(self, cap_s: float) -> list[str]:
        """The line of the table."""
        limit = "" if self.case.limit is None else f"{self.case.limit:.3f}"
        ours = [f"{self.ours['kernel']:.5f}", f"{self.ours['seconds']:.5f}", self.ours["engine"]]
        others = []
        for solver in SOLVERS[1:]:
            found = self.theirs[solver]
            least = cap_s if found is None else found["seconds"]
            wrong = "!" if found and found["count"] != self.case.count else ""
            ratio = least / self.ours["seconds"]
            more = ">" if found is None else ""
            others.append(f"{wrong}{more}{least:.4f} ({more}{ratio:.1f})")
        count = f"{self.case.orbits or self.case.count}"
        return [self.case.title, count, *ours, *others, limit, self.verdict(cap_s)]

    def verdict(self, cap_s: float) -> str:
        """What is wrong with the line, or "ok". The memory of xcover is shown, and not judged."""
        judged = [self.theirs[EXACT_COVER], self.theirs[XCOVER]]
        counts = {self.case.count, self.ours["count"], *(one["count"] for one in judged if one)}
        if len(counts) > 1 or self.ours["orbits"] != self.case.orbits:
            return "COUNTS DIFFER"
        if self.case.limit is not None and self.ours["kernel"] > self.case.limit:
            return "TOO SLOW"
        least = min(cap_s if one is None else one["seconds"] for one in judged)
        return "ok" if self.ours["seconds"] < least else "BEHIND"


def print_table(rows: list[list[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        first, *rest = (f"{row[0]:{widths[0]}}", *map(str.rjust, row[1:], widths[1:]))
        print("  ".join((first, *rest)).rstrip())


def compare(cap_s: float) -> bool:
    """Prints the starts and the table; whether every line is in order."""
    starts: dict[str, dict[str, float]] = {}
    found: dict[str, dict[int, list[dict[str, Any]]]] = {solver: {} for solver in SOLVERS}
    for solver in SOLVERS:
        for said in lines_of(solver, cap_s):
            if "case" in said:
                found[solver].setdefault(said["case"], []).append(said)
            else:
                starts[solver] = said
    print("seconds to start: import, first call; and where nothing was compiled before")
    for solver in SOLVERS:
        cold = cold_start(solver)
        numbers = (*starts[solver].values(), *cold.values())
        print(f"  {solver:12}" + "".join(f"{number:9.2f}" for number in numbers))
    print("\nCPU seconds, and in brackets how many times ours (the whole call)\n")
    lines = [
        Line(
            case,
            min(found[OURS][index], key=lambda one: float(one["seconds"])),
            {solver: found[solver].get(index, [None])[0] for solver in SOLVERS[1:]},
        )
        for index, case in enumerate(CASES)
    ]
    heading = ["", "count", "kernel", "call", "engine", *SOLVERS[1:], "kernel limit", ""]
    print_table([heading, *(line.cells(cap_s) for line in lines)])
    print(
        "\n!: a wrong count. xcover's memory takes states with equal hashes of 32 bits for equal."
    )
    print("The packages know no symmetries, and tell identical pieces apart (as in square_05 and")
    print("triangle_08, where our count is multiplied by the ways to name them).")
    return all(line.verdict(cap_s) == "ok" for line in lines)


def dominoes(rows: int, columns: int) -> Any:
    """A rectangle to be filled with dominoes, in lines along its rows."""
    from fabkit.solve.problem import ExactCoverProblem, Option

    cells = [(column, row) for column in range(columns) for row in range(rows)]
    number = {cell: index for index, cell in enumerate(cells)}
    covers = sorted(
        (number[cell], number[beside])
        for cell in cells
        for beside in ((cell[0] + 1, cell[1]), (cell[0], cell[1] + 1))
        if beside in number
    )
    return ExactCoverProblem(
        len(cells), (len(cells) // 2,), tuple(Option(0, cover) for cover in covers)
    )


def growth() -> None:
    """Dominoes: the search grows with the solutions, the count with the frontier."""
    from fabkit.solve.engines import engine_named
    from fabkit.solve.engines.engine import Effort

    print("\nhow it grows: dominoes on rectangles, nodes or states, CPU seconds")
    for name in ("count", "search"):
        engine_named(name).count(dominoes(2, 2), Effort())  # loads the kernels
    boards = [(rows, columns) for rows in (4, 6, 8) for columns in (4, 8, 12, 16, 20)]
    for rows, columns in boards:
        text = f"  {rows} x {columns:2}"
        outcome = None
        for name in ("count", "search"):
            if name == "search" and rows * columns > 64:
                continue
            if name == "search" and outcome is not None and outcome.count > 20_000_000:
                continue
            problem = dominoes(rows, columns)
            begin = time.process_time()
            outcome = engine_named(name).count(problem, Effort())
            took = time.process_time() - begin
            if name == "count":
                text += f"{outcome.count:27,}"
            text += f"   {name} {outcome.nodes:12,} {took:8.4f}"
        print(text)


def whole_commands() -> bool:
    """The command line, as whole processes; whether it is quick enough."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        warm = statistics.median(
            command_seconds(folder, dict(os.environ), "iqblock") for _ in range(5)
        )
        for part in ("fabkit", "pieces"):
            shutil.copytree(
                ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__")
            )
        fresh = os.environ | {"HOME": name, "XDG_CACHE_HOME": f"{name}/cache"}
        first = command_seconds(folder, fresh, "fridgeiq", "square_05", "--count")
        assert list((folder / "fabkit").rglob("*.nbi")), "the copy is not what ran"
    print("\nwhole commands, seconds")
    print(
        f"  fabkit solve iqblock, median of 5                     {warm:6.2f}  limit {WARM_LIMIT_S}"
    )
    print(
        f"  the first of an installation, with all compilation    {first:6.2f}  limit {FIRST_LIMIT_S}"
    )
    return warm <= WARM_LIMIT_S and first <= FIRST_LIMIT_S


def command_seconds(folder: Path, environment: dict[str, str], *arguments: str) -> float:
    command = [sys.executable, "-m", "fabkit", "solve", *arguments]
    begin = time.perf_counter()
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    return time.perf_counter() - begin


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cap", type=float, default=120.0, help="seconds for one problem")
    in_order = compare(parser.parse_args().cap)
    growth()
    return 0 if whole_commands() and in_order else 1


if __name__ == "__main__":
    sys.exit(main())
