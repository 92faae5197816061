"""What `fabkit make` costs, as whole processes: from nothing, and with nothing changed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from fabkit.model.accessory import things
from fabkit.model.library import load_set
from fabkit.model.profilefile import load_profile

#: Sets by how much there is to make.
SETS = ("iqblock", "iqstars", "cubimagici", "iqfit", "fridgeiq")
#: What the project promises for FridgeIQ, in seconds on two cores.
COLD_S, UNCHANGED_S = 90.0, 3.0


def cost(command: Sequence[str], folder: Path) -> tuple[float, float]:
    """Seconds, and the largest memory of the process in MB."""
    begin = time.perf_counter()
    child = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, used = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - begin
    if status != 0:
        raise SystemExit(f"bench: {' '.join(command)} failed")
    return seconds, used.ru_maxrss / 1000


def main() -> int:
    kept = True
    print("fabkit make, whole processes")
    print("  set          things  from nothing       MB  nothing changed   ratio")
    with tempfile.TemporaryDirectory() as name:
        for set_name in SETS:
            command = [sys.executable, "-m", "fabkit", "make", set_name]
            count = len(things(load_set(set_name), load_profile()))
            (cold, memory), (again, _) = (cost(command, Path(name)) for _ in range(2))
            print(
                f"  {set_name:12s} {count:6d} {cold:11.2f} s {memory:8.0f} {again:14.2f} s "
                f"{cold / again:7.1f}",
                flush=True,
            )
            if set_name == "fridgeiq":
                kept = cold <= COLD_S and again <= UNCHANGED_S
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
