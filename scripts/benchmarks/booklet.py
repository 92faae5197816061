"""What booklets cost, as whole processes: how it grows with the challenges, and FridgeIQ's whole."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from make import cost

from fabkit.build.entries import gather
from fabkit.model.library import load_set

#: What the project promises for all challenges and snowflakes of FridgeIQ, in seconds.
WHOLE_S = 60.0
COUNTS = (10, 20, 40, 80)


def main() -> int:
    names = [entry.id for entry in gather(load_set("fridgeiq")) if entry.solution]
    # From both ends, so that boxes and snowflakes come in equal parts.
    mixed = [name for pair in zip(names, reversed(names), strict=True) for name in pair]
    print("fabkit booklet fridgeiq, whole processes; without the cover's picture but for the last")
    print("  challenges   seconds       MB   per challenge beyond 10")
    least = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for count in COUNTS:
            wish = [word for name in mixed[:count] for word in ("--only", name)]
            seconds, memory = run([*wish, "--no-picture"], folder)
            least = least or seconds
            each = f"{(seconds - least) / (count - COUNTS[0]):8.3f} s" if count > COUNTS[0] else ""
            print(f"  {count:10d} {seconds:7.2f} s {memory:8.0f} {each}", flush=True)
        seconds, memory = run([], folder)
        print(
            f"  {len(names):10d} {seconds:7.2f} s {memory:8.0f}   with picture, limit {WHOLE_S:g} s"
        )
    return 0 if seconds <= WHOLE_S else 1


def run(wish: list[str], folder: str) -> tuple[float, float]:
    """Seconds and MB of one booklet."""
    command = [sys.executable, "-m", "fabkit", "booklet", "fridgeiq", "-q", "-o", "b.pdf", *wish]
    return cost(command, Path(folder))


if __name__ == "__main__":
    sys.exit(main())
