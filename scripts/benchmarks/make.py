"""What `fabkit make` costs, as whole processes: from nothing, and with nothing changed."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

#: Sets by how many pieces they have.
SETS = ("iqstars", "iqblock", "cubimagici", "fridgeiq")
#: What the project promises for FridgeIQ, in seconds on two cores.
COLD_S, UNCHANGED_S = 90.0, 3.0


def seconds(command: Sequence[str], folder: Path) -> float:
    begin = time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return time.perf_counter() - begin


def main() -> int:
    kept = True
    print("fabkit make, whole processes, seconds")
    print("  set          from nothing  nothing changed   ratio")
    with tempfile.TemporaryDirectory() as name:
        for set_name in SETS:
            command = [sys.executable, "-m", "fabkit", "make", set_name]
            cold, again = (seconds(command, Path(name)) for _ in range(2))
            print(f"  {set_name:12s} {cold:12.2f} {again:16.2f} {cold / again:7.1f}", flush=True)
            if set_name == "fridgeiq":
                kept = cold <= COLD_S and again <= UNCHANGED_S
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
