"""Nesting by polygons (spyrrow, which is sparrow in Rust): shapes lie in each other's notches.

What was found of spyrrow 0.9, and what follows from it:

- With a seed and one worker its search is the same on every run, and it reports every layout that
  it passes, in order; only its time limits depend on how fast the machine is. So those are out of
  reach, and the search ends at a place in that order: at the first layout that fits the room, or
  when the first attempt to make the strip narrower has failed (its own early end, after ten of
  those, takes ten times as long for a strip that is 3 % narrower).
- It cannot be stopped from Python, and on odd input it panics. So it runs in a process of its own.
- It reckons with 32-bit floats. Distances are therefore asked for with a little more (`_SPARE_MM`).
- It keeps the distance between items from the strip's edges as well; the strip is made larger by
  that.
- It knows strips, not rooms with a reserved corner. For a corner there is one more item: a wall as
  high as the strip, with the corner's square at its upper left. Whatever comes to lie to the right
  of the wall is moved to the left end of the room, and the rest with the wall to the right.

Machines whose floats differ in the last bit might see different layouts, each of them good.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from shapely import Polygon

import fabkit
from fabkit.core.errors import OutsideError, printable
from fabkit.core.process import die_with
from fabkit.printing.nesting.bin import TURNS, Bin, Placement

#: Added to each distance: for 32-bit floats, for the vertices that are left out, and for rounding.
_SPARE_MM = 0.01
#: Vertices that lie so near to a line between others are left out.
_DETAIL_MM = 0.002
#: Between two of the turns.
_TURN = 45.0
#: What sums of 64-bit floats may be off by.
_NOISE_MM = 1e-9
#: How thick the wall is. It is not there in the room.
_WALL_MM = 0.5
_WALL = "the wall"
#: Spots are rounded to micrometres; 32 bits hold no more.
_DIGITS = 3
#: A limit that only a search that hangs will meet; the slowest that was measured took 33 s.
_LONGEST_S = 1800
#: Far beyond that, so that spyrrow's own limits never decide.
_NEVER_S = 100 * _LONGEST_S
_POLL_S = 0.005
_COMMAND = f"import sys; sys.path.append(sys.argv[1]); from {__name__} import serve; serve()"

#: Degrees, x and y.
_Pose = tuple[float, float, float]


def is_available() -> bool:
    """Whether spyrrow is there and reports what it passes, as it does from 0.9 on."""
    try:
        import spyrrow
    except ImportError:
        return False
    return hasattr(spyrrow, "ProgressQueue")


def nest_by_polygon(shapes: Mapping[str, Polygon], room: Bin, seed: int) -> list[Placement] | None:
    """Looks for a layout of all shapes in one room.

    Returns:
        Where they lie, in their order; None when none was found, which does not say that there is
        none.

    Raises:
        OutsideError: when the process cannot work.
    """
    outlines = [outline.simplify(_DETAIL_MM) for outline in shapes.values()]
    origins = [outline.bounds[:2] for outline in outlines]
    task = {
        "rings": [
            [(x - left, y - bottom) for x, y in outline.exterior.coords[:-1]]
            for outline, (left, bottom) in zip(outlines, origins, strict=True)
        ],
        "size": room.usable_mm,
        "gap": room.gap_mm + _SPARE_MM,
        "corner": room.corner_mm,
        "seed": seed,
    }
    spots = []
    found: list[_Pose] | None = _in_own_process(task)
    for name, origin, (degrees, x, y) in zip(shapes, origins, found or (), strict=bool(found)):
        turned_x, turned_y = _turned([origin], degrees)[0]
        x_mm, y_mm = room.edge_mm + x - turned_x, room.edge_mm + y - turned_y
        spots.append(Placement(name, degrees % 360, round(x_mm, _DIGITS), round(y_mm, _DIGITS)))
    return spots or None


def _in_own_process(task: dict[str, Any]) -> Any:
    """What `serve` answers; None also when it crashes or hangs."""
    command = [sys.executable, "-P", "-c", _COMMAND, str(Path(fabkit.__file__).parents[1])]
    try:
        done = subprocess.run(  # noqa: S603 (this interpreter)
            command,
            input=json.dumps(task).encode(),
            capture_output=True,
            timeout=_LONGEST_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    if done.returncode > 0:  # Python's doing, not spyrrow's
        reason = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise OutsideError(f"the process in which spyrrow runs failed: {printable(reason)}")
    return json.loads(done.stdout) if done.stdout else None


def serve() -> None:
    """What the process does: reads the task, writes degrees, x and y of every shape, or null."""
    die_with(os.getppid())
    found = _search(json.loads(sys.stdin.buffer.read()))
    sys.stdout.write(json.dumps(found))
    sys.stdout.flush()
    os._exit(0)  # the search goes on in its thread and cannot be stopped


def _search(task: dict[str, Any]) -> list[_Pose] | None:
    """The first layout that fits, in the order of the search."""
    import spyrrow

    gap, height, corner = task["gap"], task["size"][1], task["corner"]
    items = [
        spyrrow.Item(str(i), [(x, y) for x, y in ring], 1, TURNS)
        for i, ring in enumerate(task["rings"])
    ]
    if corner:
        # The corner's square with a wall to its right, from the top to the bottom of the strip.
        high, right = height - 2 * _SPARE_MM, corner + _WALL_MM
        foot, square = high - corner, [(corner, 0), (right, 0), (right, high), (0, high)]
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
                placed = {
                    # 32 bits make 314.99999 of 315.
                    item.id: (_TURN * round(item.rotation / _TURN), *item.translation)
                    for item in solution.placed_items
                }
                laid = _settled(task, placed)
                if laid is not None:
                    return laid
    return None


def _settled(task: dict[str, Any], placed: dict[str, _Pose]) -> list[_Pose] | None:
    """A layout of the strip as one of the room; None when it is too wide for that."""
    width, gap, corner = task["size"][0], task["gap"], task["corner"]
    poses = [placed[str(i)] for i in range(len(task["rings"]))]
    spans = []
    for ring, (degrees, x, _) in zip(task["rings"], poses, strict=True):
        across = [x + point[0] for point in _turned(ring, degrees)]
        spans.append((min(across), max(across)))
    # Where the wall begins and the reserved square ends.
    wall = placed[_WALL][1] + corner if corner else math.inf
    left_end, right_end = _SPARE_MM / 2, width - _SPARE_MM / 2
    before = [span for span in spans if span[0] < wall]
    beyond = [span for span in spans if span[0] >= wall]
    first, first_move = left_end, 0.0
    if beyond:  # comes first in the room
        first_move = left_end - min(left for left, _ in beyond)
        first = max(right for _, right in beyond) + first_move + gap
    if corner:
        before.append((wall - corner, wall - gap))
        move = width - wall
    else:
        move = left_end - min(left for left, _ in before)
    begin, end = (bound(span[i] for span in before) + move for i, bound in enumerate((min, max)))
    if begin < first - _NOISE_MM or end > right_end + _NOISE_MM:
        return None
    return [
        (degrees, x + (move if left < wall else first_move), y - (gap - _SPARE_MM / 2))
        for (degrees, x, y), (left, _) in zip(poses, spans, strict=True)
    ]


def _turned(points: Iterable[tuple[float, float]], degrees: float) -> list[tuple[float, float]]:
    cosine, sine = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return [(x * cosine - y * sine, x * sine + y * cosine) for x, y in points]
