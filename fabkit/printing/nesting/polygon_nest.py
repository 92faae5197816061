"""Nesting by polygons with spyrrow (sparrow, in Rust): shapes are placed in each other's notches.

Properties of spyrrow 0.9, and their consequences:

- With a seed and one worker its search is deterministic, and it reports every layout in order; only
  its time limits depend on the speed of the machine. So the limits are set out of reach, and the
  search ends at a place in that order: at the first layout that fits the bin, or when the first
  attempt to narrow the strip has failed (its own early termination, after ten such attempts, takes
  ten times as long for a strip that is 3 % narrower).
- It cannot be stopped from Python, and it panics on odd input: it runs in a subprocess,
  like engines.
- It computes with 32-bit floats. Distances are therefore requested with a margin (`_SPARE_MM`).
- It applies the distance between items to the strip's edges as well; the strip is enlarged by it.
- It supports strips, not bins with a reserved corner. A corner is represented by one more item: a
  wall as high as the strip, with the corner's square at its upper left. Items to the right of the
  wall are moved to the left end of the bin, and the others with the wall to the right.

Machines whose floats differ in the last bit may give different layouts, all of them valid.
"""

from __future__ import annotations

import contextlib
import math
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from shapely import Polygon

from fabkit.core.progress import Progress, no_progress
from fabkit.printing.nesting.bin import ROTATIONS_DEGREES, Bin, Placement
from fabkit.solve.engines.engine import Budget, BudgetSpentError
from fabkit.solve.engines.subprocess_engine import ProcessKilledError, run_in_subprocess

#: Added to each distance, for 32-bit floats, omitted vertices and rounding.
_SPARE_MM = 0.01
#: Tolerance for omitting vertices.
_DETAIL_MM = 0.002
#: Step of the rotations, in degrees.
_TURN = 45.0
#: Tolerance of sums of 64-bit floats.
_NOISE_MM = 1e-9
#: Thickness of the wall, which takes no space in the bin.
_WALL_MM = 0.5
_WALL = "the wall"
#: Placements are rounded to micrometres, the precision of 32 bits.
_DIGITS = 3
#: Time limit for a search that hangs; the slowest one measured took 33 s.
_LONGEST_S = 1800
#: Far beyond that, so that spyrrow's own limits never decide.
_NEVER_S = 100 * _LONGEST_S
_POLL_S = 0.005

#: Degrees, x and y.
_Pose = tuple[float, float, float]


def is_available() -> bool:
    """Return whether spyrrow 0.9 or later, which reports its layouts, is installed."""
    try:
        import spyrrow
    except ImportError:
        return False
    return hasattr(spyrrow, "ProgressQueue")


def nest_by_polygon(
    shapes: Mapping[str, Polygon], bin_: Bin, seed: int, progress: Progress = no_progress
) -> list[Placement] | None:
    """Search for a layout of all shapes in one bin: return their placements, in order, or None if
    none was found, although there might be one. What `progress` raises ends the search.

    Raises:
        ExternalError: when the process fails.
    """
    outlines = [outline.simplify(_DETAIL_MM) for outline in shapes.values()]
    origins = [outline.bounds[:2] for outline in outlines]
    task = {
        "rings": [
            [(x - left, y - bottom) for x, y in outline.exterior.coords[:-1]]
            for outline, (left, bottom) in zip(outlines, origins, strict=True)
        ],
        "size": bin_.usable_mm,
        "gap": bin_.gap_mm + _SPARE_MM,
        "corner": bin_.corner_mm,
        "seed": seed,
    }
    try:
        replies = run_in_subprocess(_search_task, task, Budget(_LONGEST_S, progress))
        with contextlib.closing(replies):
            poses: list[_Pose] | None = next(replies)
    except (BudgetSpentError, ProcessKilledError):
        return None
    if poses is None:
        return None
    placements = []
    for name, origin, (degrees, x, y) in zip(shapes, origins, poses, strict=True):
        [(turned_x, turned_y)] = _rotated([origin], degrees)
        x_mm = round(bin_.edge_mm + x - turned_x, _DIGITS)
        y_mm = round(bin_.edge_mm + y - turned_y, _DIGITS)
        placements.append(Placement(name, degrees % 360, x_mm, y_mm))
    return placements


def _search_task(task: dict[str, Any], answer: Callable[[Any], None]) -> None:
    """Answer with degrees, x and y of every shape, or None; runs in a subprocess."""
    answer(_search(task))


def _search(task: dict[str, Any]) -> list[_Pose] | None:
    """Return the first layout that fits, in the order of the search."""
    import spyrrow

    gap, height, corner = task["gap"], task["size"][1], task["corner"]
    items = [
        spyrrow.Item(str(i), [(x, y) for x, y in ring], 1, ROTATIONS_DEGREES)
        for i, ring in enumerate(task["rings"])
    ]
    if corner:
        # The corner's square with a wall to its right, from the top to the bottom of the strip.
        high, right = height - 2 * _SPARE_MM, corner + _WALL_MM
        foot = high - corner
        square = [(corner, 0), (right, 0), (right, high), (0, high)]
        wall = [*square, (0, foot), (corner, foot)]
        items.append(spyrrow.Item(_WALL, wall, 1, [0.0]))
    config = spyrrow.StripPackingConfig(
        early_termination=True,
        min_items_separation=gap,
        total_computation_time=None,
        exploration_time=_NEVER_S,
        compression_time=_NEVER_S,
        num_workers=1,
        seed=task["seed"],
    )
    strip = spyrrow.StripPackingInstance("", height + 2 * gap - _SPARE_MM, items)
    queue = spyrrow.ProgressQueue()
    # A panic ends the thread, and with it the search.
    thread = threading.Thread(target=strip.solve, args=(config, queue), daemon=True)
    thread.start()
    ended = False
    while not ended:
        thread.join(_POLL_S)
        ended = not thread.is_alive()
        for kind, solution in queue.drain():
            if kind == spyrrow.ReportType.ExplInfeas:
                return None
            if kind != spyrrow.ReportType.ExplImproving:
                strip_poses = {
                    # 32 bits make 314.99999 of 315.
                    item.id: (_TURN * round(item.rotation / _TURN), *item.translation)
                    for item in solution.placed_items
                }
                if poses := _strip_to_bin(task, strip_poses):
                    return poses
    return None


def _strip_to_bin(task: dict[str, Any], strip_poses: dict[str, _Pose]) -> list[_Pose] | None:
    """Convert a layout of the strip to one of the bin; None if it is too wide."""
    width, gap, corner = task["size"][0], task["gap"], task["corner"]
    poses = [strip_poses[str(i)] for i in range(len(task["rings"]))]
    spans = []
    for ring, (degrees, x, _) in zip(task["rings"], poses, strict=True):
        xs = [x + point[0] for point in _rotated(ring, degrees)]
        spans.append((min(xs), max(xs)))
    # Where the wall begins and the reserved square ends.
    wall = strip_poses[_WALL][1] + corner if corner else math.inf
    left_end, right_end = _SPARE_MM / 2, width - _SPARE_MM / 2
    before = [span for span in spans if span[0] < wall]
    beyond = [span for span in spans if span[0] >= wall]
    first, first_move = left_end, 0.0
    if beyond:  # comes first in the bin
        first_move = left_end - min(left for left, _ in beyond)
        first = max(right for _, right in beyond) + first_move + gap
    if corner:
        before.append((wall - corner, wall - gap))
    move = width - wall if corner else left_end - min(left for left, _ in before)
    begin, end = (bound(span[i] for span in before) + move for i, bound in enumerate((min, max)))
    if begin < first - _NOISE_MM or end > right_end + _NOISE_MM:
        return None
    return [
        (degrees, x + (move if left < wall else first_move), y - (gap - _SPARE_MM / 2))
        for (degrees, x, y), (left, _) in zip(poses, spans, strict=True)
    ]


def _rotated(points: Iterable[tuple[float, float]], degrees: float) -> list[tuple[float, float]]:
    cosine, sine = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return [(x * cosine - y * sine, x * sine + y * cosine) for x, y in points]
