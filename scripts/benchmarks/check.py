"""What checking and verifying meshes costs: for each mesh, for each assembly, and as commands.

The commands are whole processes. Growth is measured in this process, with ever more challenges
put together on one table: how two pieces lie beside each other is measured once.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from fabkit.mesh.files.reading import read_bodies
from fabkit.mesh.fitting.assembly import Table
from fabkit.mesh.inspect import inspect
from fabkit.model.library import load_set
from fabkit.model.profilefile import load_profile
from fabkit.verify.answers import answer_catalog, read_set
from fabkit.verify.taking import take

#: What the project promises, in seconds on two cores.
LIMITS_S = {"check": 20.0, "verify": 60.0}
ROUNDS = 3


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


def commands(folder: Path) -> bool:
    print(f"fabkit on the STL files of fridgeiq, whole processes, median of {ROUNDS}")
    print("                  seconds   limit")
    kept = True
    for name, limit_s in LIMITS_S.items():
        command = [sys.executable, "-m", "fabkit", name, "fridgeiq", "-o", str(folder), "-q"]
        run = partial(subprocess.run, command, check=True)
        took = statistics.median(timed(run)[0] for _ in range(ROUNDS))
        kept &= took <= limit_s
        print(f"  {name:14s} {took:9.2f} {limit_s:7.0f}")
    return kept


def stages(folder: Path) -> None:
    puzzle, profile = load_set("fridgeiq"), load_profile()
    files = sorted((folder / "stl").glob("*.stl"))
    read_s, bodies = timed(lambda: [body for file in files for body in read_bodies(file)])
    take_s, taken = timed(lambda: take(bodies, puzzle, profile.unit_mm))
    triangles = sum(len(body.faces) for body in bodies)
    inspect_s, _ = timed(
        lambda: [
            inspect(part, anatomy, identity, taken.common, puzzle, profile)
            for part, anatomy, identity in zip(
                taken.parts, taken.anatomies, taken.identities, strict=True
            )
        ]
    )
    pieces = taken.pieces()
    solve_s, answers = timed(lambda: answer_catalog(read_set(puzzle, pieces), None))
    print(f"\nfor each of {len(bodies)} meshes ({triangles} triangles in all), milliseconds")
    for name, took in (
        ("read the file", read_s),
        ("read back", take_s),
        ("inspect", inspect_s),
    ):
        print(f"  {name:14s} {1000 * took / len(bodies):9.1f}")
    print(f"\nsolve {len(answers)} challenges: {solve_s:.2f} seconds, with all compilation")
    growth(pieces, answers, puzzle.lattice, profile)


def growth(pieces: Any, answers: Any, lattice: Any, profile: Any) -> None:
    solved = [answered for answered in answers if answered.layout]
    print("\nput together    seconds  each, ms  pair poses")
    for count in (5, 10, 20, len(solved)):
        table = Table(pieces, lattice, profile)

        def together(table: Table = table, count: int = count) -> None:
            for one in solved[:count]:
                table.assemble(one.challenge.id, one.challenge.region, one.layout)

        took, _ = timed(together)
        each = 1000 * took / count
        print(f"  {count:3d} challenges {took:8.2f} {each:9.1f} {table.poses_measured:11d}")


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "fridgeiq"
        export = [sys.executable, "-m", "fabkit", "export-stl", "fridgeiq", "-q", "-o", str(folder)]
        subprocess.run(export, check=True)
        kept = commands(folder)
        stages(folder)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
