"""Benchmark the studio's solids: what a change of the profile takes in its warm process."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from solvers import ROOT

from fabkit.model.library import shipped_folder
from fabkit.studio.server import SOLIDS, start_worker
from fabkit.studio.workers import Worker

#: Changes after which the memory is measured, and in a small run.
CHANGES, SMALL = 200, 6
#: Limits: in seconds for the first solid after a change, at the median of each piece, and for all of
#: them; in MB for the process.
FIRST_S, ALL_S, MEMORY_MB = 0.5, 4.0, 1500.0
#: Thicknesses differ by this much from change to change, in mm.
STEP_MM = 0.01


@dataclass
class Times:
    """Seconds until the first solid by piece, and until all; and the largest memory in MB."""

    first_s: dict[str, list[float]] = field(default_factory=dict)
    all_s: list[float] = field(default_factory=list)
    memory_mb: float = 0.0


def project(thickness_mm: float) -> dict[str, Any]:
    """FridgeIQ with pieces of a thickness."""
    text = (shipped_folder() / "fridgeiq.toml").read_text(encoding="utf-8")
    settings = {"thickness": f"{thickness_mm:.2f} mm"}
    return {"name": "fridgeiq.toml", "text": text, "folder": Path(), "settings": settings}


async def change(worker: Worker, thickness_mm: float, piece: str, times: Times) -> list[str]:
    """Make all solids anew, that of a piece first; return the ids of all."""
    ids: list[str] = []
    begin = time.perf_counter()

    async def receive(event: dict[str, Any]) -> None:
        ids.extend(event.get("ids", ()))
        if event.get("id") == piece:
            times.first_s.setdefault(piece, []).append(time.perf_counter() - begin)

    arguments = {"project": project(thickness_mm), "first": piece}
    last = await worker.call(receive, "fabkit.studio.printing:solids", arguments)
    if "result" not in last:
        raise SystemExit(f"bench: {last}")
    times.all_s.append(time.perf_counter() - begin)
    statistics_file = Path(f"/proc/{worker.pid}/statm")
    if statistics_file.is_file():
        pages = int(statistics_file.read_text().split()[1])
        times.memory_mb = max(times.memory_mb, pages * os.sysconf("SC_PAGE_SIZE") / 1e6)
    return ids


async def measure(changes: int) -> Times:
    """Change the thickness so many times, another piece first each time."""
    worker = start_worker(SOLIDS)
    try:
        ids = await change(worker, 7.0, "", Times())
        times = Times()
        for number in range(1, changes + 1):
            await change(worker, 7.0 + STEP_MM * number, ids[number % len(ids)], times)
    finally:
        worker.close()
    return times


def _reference_s() -> float:
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import cadquery"], check=True, cwd=ROOT)
    return time.perf_counter() - begin


def time_studio(small: bool) -> bool:
    """Print a table; return whether all is within its limits.

    Args:
        small: make few changes.
    """
    references_s = [_reference_s()]
    times = anyio.run(measure, SMALL if small else CHANGES)
    references_s.append(_reference_s())  # the machine may have become slower meanwhile
    reference_s = statistics.mean(references_s)
    medians = {piece: statistics.median(seconds) for piece, seconds in times.first_s.items()}
    slowest = max(medians, key=lambda piece: medians[piece])
    first_s, all_s = medians[slowest], statistics.median(times.all_s)
    print(
        f"The studio after a change of fridgeiq. Reference: `import cadquery`, {reference_s:.2f} s."
    )
    for name, seconds, limit_s in (
        (f"first solid (slowest piece: {slowest})", first_s, FIRST_S),
        ("all solids and the bill", all_s, ALL_S),
    ):
        print(f"{name:36} {seconds:6.2f} s  {seconds / reference_s:5.2f} x  limit {limit_s} s")
    print(f"{'memory':36} {times.memory_mb:6.0f} MB after {len(times.all_s)} changes", end="")
    print(f"  limit {MEMORY_MB:.0f} MB")
    return first_s < FIRST_S and all_s < ALL_S and times.memory_mb < MEMORY_MB
