"""All box challenges of FridgeIQ: a first solution, and the exact count, in one process.

Minutes: the largest square alone takes half of one. Seconds are CPU seconds on one thread.
"""

from __future__ import annotations

import resource
import sys
import time

from fabkit.model.challengeload import find_challenge
from fabkit.model.library import load_set
from fabkit.solve.answer import solve
from fabkit.solve.engines.engine import Effort
from fabkit.solve.engines.frontier import Frontier
from fabkit.solve.posing import pose

LIMIT_S, LIMIT_BYTES = 60.0, 2e9


def main() -> int:
    puzzle = load_set("fridgeiq")
    heading = ("challenge", "cells", "solutions", "first", "count", "states", "MB")
    print("{:16}{:>6}{:>12}{:>9}{:>9}{:>13}{:>7}".format(*heading))
    firsts: dict[str, float] = {}
    counts: dict[str, float] = {}
    peak = 0
    for challenge in puzzle.challenges:
        posed = pose(puzzle, find_challenge(puzzle, challenge.id))
        begin = time.process_time()
        solved = solve(posed, "first", "search").status == "solved"
        firsts[challenge.id] = time.process_time() - begin
        begin = time.process_time()
        frontier = Frontier(posed.problem)
        count = frontier.run(Effort())
        counts[challenge.id] = time.process_time() - begin
        peak = max(peak, frontier.peak_bytes)
        print(
            f"{challenge.id:16}{posed.problem.cell_count:6}{count:12,}{firsts[challenge.id]:9.4f}"
            f"{counts[challenge.id]:9.3f}{frontier.states:13,}{frontier.peak_bytes / 1e6:7.0f}",
            flush=True,
        )
        if solved != (count > 0):
            raise SystemExit(f"bench: the engines contradict each other on {challenge.id}")
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    for what, seconds in (("first solution", firsts), ("count", counts)):
        slowest = max(seconds, key=seconds.__getitem__)
        print(f"slowest {what}: {slowest}, {seconds[slowest]:.2f} s (limit {LIMIT_S:.0f})")
    print(f"most memory: tables {peak / 1e6:,.0f} MB, process {resident / 1e6:,.0f} MB", end=" ")
    print(f"(limit {LIMIT_BYTES / 1e6:,.0f})")
    slow = max((*firsts.values(), *counts.values())) > LIMIT_S
    return 1 if slow or resident > LIMIT_BYTES else 0


if __name__ == "__main__":
    sys.exit(main())
