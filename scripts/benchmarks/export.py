"""What an export costs, as whole processes, beside what importing CadQuery alone costs.

Runs take turns, so that a machine that slows down slows all of them; medians are compared.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROUNDS = 5
IMPORT = [sys.executable, "-c", "import cadquery"]
#: What the project promises, as multiples of the import.
LIMITS = {"first export": 2.2, "first export, crush ribs": 2.2, "unchanged": 0.25}


def fabkit(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "fabkit", *arguments]


def seconds(command: Sequence[str], folder: Path) -> float:
    begin = time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return time.perf_counter() - begin


def one_round(folder: Path, number: int) -> dict[str, float]:
    plain, ribs = f"plain{number}", f"ribs{number}"
    ribbed = ("-s", "recess.fit=ribs")
    return {
        "import cadquery": seconds(IMPORT, folder),
        "first export": seconds(fabkit("export-stl", "fridgeiq", "-o", plain), folder),
        "first export, crush ribs": seconds(
            fabkit("export-stl", "fridgeiq", "-o", ribs, *ribbed), folder
        ),
        "unchanged": seconds(fabkit("export-stl", "fridgeiq", "-o", plain), folder),
        "fabkit --help": seconds(fabkit("--help"), folder),
    }


def growth(folder: Path) -> None:
    print("\nhow it grows (median of 3, seconds less the import)")
    base = statistics.median(seconds(IMPORT, folder) for _ in range(3))
    for count in (1, 4, 16):
        pieces = [part for piece in "ARELOMTSQDJBNYIU"[:count] for part in ("--piece", piece)]
        command = fabkit("export-stl", "fridgeiq", "--force", "-o", f"grow{count}", *pieces)
        took = statistics.median(seconds(command, folder) for _ in range(3)) - base
        print(f"  {count:2d} pieces  {took:6.2f}")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        one_round(folder, 0)  # fills the disk cache
        rounds = [one_round(folder, number) for number in range(1, ROUNDS + 1)]
        medians = {what: statistics.median(r[what] for r in rounds) for what in rounds[0]}
        base = medians["import cadquery"]
        print(f"export-stl fridgeiq, whole processes, median of {ROUNDS}")
        print(f"  {'':26s} seconds   x import   limit")
        for what, took in medians.items():
            limit = f"{LIMITS[what]:7.2f}" if what in LIMITS else ""
            print(f"  {what:26s} {took:7.2f} {took / base:10.2f} {limit}")
        growth(folder)


if __name__ == "__main__":
    main()
