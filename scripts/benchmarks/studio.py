"""Benchmark what the studio's user waits for: solids, counts that end, strokes, and the 3D view.

The limits are those of a machine with nothing else to do; the reference shows how busy it is.
"""

from __future__ import annotations

import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from solvers import ROOT

from fabkit.sets.library import shipped_folder
from fabkit.studio.server import SOLIDS, SOLVING, start_worker
from fabkit.studio.workers import Worker

if TYPE_CHECKING:
    from playwright.sync_api import Page

#: Changes after which the memory is measured, and in a small run.
CHANGES, SMALL = 200, 1
#: Limits: in seconds for the first solid after a change, at the median of each piece, and for all
#: of them; in MB for the process.
FIRST_S, ALL_S, MEMORY_MB = 0.5, 4.0, 1500.0
#: Thicknesses differ by this much from change to change, in mm.
STEP_MM = 0.01
#: Counts that are stopped, and in a small run; the limit for each, in seconds.
STOPS, SMALL_STOPS, STOP_S = 20, 1, 0.2
#: How long a count runs before it is stopped, in seconds.
COUNTING_S = 0.5, 3.0
#: Strokes with the pointer, and in a small run; the limit from input to paint, in seconds.
STROKES, SMALL_STROKES, PAINT_S = 40, 3, 0.05
#: Strokes before those: the browser compiles what draws a page when it is first drawn.
FIRST_STROKES = 3
#: Changes that are waited for in the 3D view, and in a small run; the limit in seconds.
VIEWS, SMALL_VIEWS, VIEW_S = 12, 1, 1.0
#: The rows of what is measured in the browser: the limit, and whether `SHARE` must be within it,
#: else the median.
STROKES_SHORT = "strokes while pentominoes are counted"
STROKES_LONG = "strokes while a count takes minutes"
IMAGE = "from the thickness to its image in 3D"
PAGE_ROWS = {
    STROKES_SHORT: (PAINT_S, True),
    STROKES_LONG: (PAINT_S, True),
    IMAGE: (VIEW_S, False),
}
#: The share of strokes and stops that must be within their limits: others may take what they want.
SHARE = 0.95

#: Notes how long after each event of the pointer on the sheet the next frame is painted, in
#: seconds.
WATCH_STROKES = """() => {
  const note = (event) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => window.painted.push((performance.now() - event.timeStamp) / 1000);
    port2.postMessage(null);
  });
  for (const name of ["pointerdown", "pointermove"]) document.querySelector(".sheet").addEventListener(name, note, true);
}"""  # noqa: E501
#: The middles of the cells on the screen.
MIDDLES = """() => [...document.querySelectorAll(".sheet-cell")].map((cell) => {
  const { x, y, width, height } = cell.getBoundingClientRect();
  return [x + width / 2, y + height / 2];
})"""
#: Whether the view to tune is at rest.
RESTS = """() => {
  const view = fabkitStudio.views.get("tune");
  return view && !view.isMaking && !view.lacksPlates && view.stage.isComplete && view.stage.scene.resting;
}"""  # noqa: E501
#: Changes the thickness in the form; the seconds until a first part is rendered that has it.
CHANGE_VIEW = """(mm) => new Promise((done) => {
  const { scene, part } = fabkitStudio.views.get("tune").stage;
  const whenRendered = scene._whenRendered.bind(scene);
  let start = 0;
  scene._whenRendered = (action) => {
    const { min, max } = scene.parts.get(part).box;
    const isChanged = Math.abs(max.z - min.z - mm) < 0.02;
    whenRendered(() => {
      if (isChanged) {
        delete scene._whenRendered;
        done((performance.now() - start) / 1000);
      }
      action();
    });
  };
  const field = document.getElementById("tune-thickness");
  field.value = mm;
  start = performance.now();
  field.dispatchEvent(new Event("input"));
})"""


@dataclass
class Times:
    """Seconds until the first solid by piece, and until all; and the largest memory in MB."""

    first_s: dict[str, list[float]] = field(default_factory=dict)
    all_s: list[float] = field(default_factory=list)
    memory_mb: float = 0.0


def shipped_text(name: str) -> str:
    """The text of a shipped set."""
    return (shipped_folder() / f"{name}.toml").read_text(encoding="utf-8")


def long_text() -> str:
    """A set whose count takes minutes: two of each pentomino, on one board of 10 x 12."""
    text = shipped_text("pentominoes").partition("[[challenge]]")[0]
    head, _, rest = text.replace("\narea = 60\n", "\n").partition("[[board]]")
    pieces = rest[rest.index("[[piece]]") :].replace("[[piece]]", "[[piece]]\ncount = 2")
    return f'{head}[[board]]\nid = "10x12"\nsize = [10, 12]\n\n{pieces}'


def project(thickness_mm: float) -> dict[str, Any]:
    """FridgeIQ with pieces of a thickness."""
    settings = {"thickness": f"{thickness_mm:.2f} mm"}
    text = shipped_text("fridgeiq")
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


async def measure_solids(changes: int) -> Times:
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


async def measure_stops(stops: int) -> tuple[list[float], list[float]]:
    """Replace a count that takes minutes by another so many times.

    Returns:
        Seconds until each is over, and until the first event of the next.
    """
    worker, dice = start_worker(SOLVING), random.Random(0)
    over_s, next_s = list[float](), list[float]()
    arguments = {"project": {"name": "long.toml", "text": long_text(), "folder": Path()}}

    async def count(begun: anyio.Event, over: anyio.Event) -> None:
        async def receive(_: dict[str, Any]) -> None:
            begun.set()

        await worker.call(receive, "fabkit.studio.drawing:solve", arguments)
        over.set()

    try:
        async with anyio.create_task_group() as group:
            begun, over = anyio.Event(), anyio.Event()
            group.start_soon(count, begun, over)
            for _ in range(stops):
                await begun.wait()
                await anyio.sleep(dice.uniform(*COUNTING_S))
                before, begun = over, anyio.Event()
                over = anyio.Event()
                begin = time.perf_counter()
                worker.stop()
                group.start_soon(count, begun, over)
                await before.wait()
                over_s.append(time.perf_counter() - begin)
                await begun.wait()
                next_s.append(time.perf_counter() - begin)
            group.cancel_scope.cancel()
    finally:
        worker.close()
    return over_s, next_s


def measure_strokes(page: Page, name: str, strokes: int) -> list[float]:
    """Draw over a set's board while its solutions are counted; return the seconds from input to
    paint.
    """
    page.locator("#tab-draw").click()
    page.evaluate("window.before = fabkitStudio.project.past")
    page.locator("#studio-open").select_option(name)
    if page.locator("dialog.ask").is_visible():
        page.locator("dialog.ask button").last.click()
    page.wait_for_function("() => fabkitStudio.project.past !== window.before")
    page.wait_for_function("() => fabkitStudio.project.isRead")
    page.locator(".sheet-cell").first.wait_for()
    middles, dice, mouse = page.evaluate(MIDDLES), random.Random(name), page.mouse
    for number in range(FIRST_STROKES + strokes):
        if number == FIRST_STROKES:
            page.evaluate("window.painted = []")
        begin, end = dice.sample(middles, 2)
        mouse.move(*begin)
        mouse.down()
        mouse.move(*end, steps=8)
        mouse.up()
        page.wait_for_timeout(
            dice.uniform(0, 400)
        )  # a count begins when nothing changes for a while
    times: list[float] = page.evaluate("window.painted")
    return times


def measure_views(page: Page, changes: int) -> list[float]:
    """Change FridgeIQ's thickness so many times; return the seconds until it is seen in 3D."""
    page.locator("#studio-open").select_option("fridgeiq")
    if page.locator("dialog.ask").is_visible():
        page.locator("dialog.ask button").last.click()
    page.wait_for_function("() => fabkitStudio.project.name === 'fridgeiq.toml'")
    page.locator("#tab-tune").click()
    times = []
    for number in range(changes):
        page.wait_for_function(RESTS, timeout=120_000)
        times.append(page.evaluate(CHANGE_VIEW, 6.9 - 0.1 * (number % 10)))
    return times


def measure_page(small: bool) -> dict[str, list[float]]:
    """Return the seconds of the rows of `PAGE_ROWS`."""
    from tests.support import browser
    from tests.support.studios import running

    strokes = SMALL_STROKES if small else STROKES
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder)) as studio,
        browser.started() as chromium,
    ):
        (studio.folder / "two-of-each.toml").write_text(long_text(), encoding="utf-8")
        page = chromium.new_page(reduced_motion="reduce")
        page.goto(studio.url)
        page.wait_for_function("() => window.fabkitStudio?.view === 'draw'")
        page.locator(".sheet").wait_for()
        page.evaluate(WATCH_STROKES)
        return {
            STROKES_SHORT: measure_strokes(page, "pentominoes", strokes),
            STROKES_LONG: measure_strokes(page, "two-of-each.toml", strokes),
            IMAGE: measure_views(page, SMALL_VIEWS if small else VIEWS),
        }


def _reference_s() -> float:
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import cadquery"], check=True, cwd=ROOT)
    return time.perf_counter() - begin


def _within(seconds: list[float]) -> float:
    """The time within which `SHARE` of them are."""
    return sorted(seconds)[min(int(SHARE * len(seconds)), len(seconds) - 1)]


def time_studio(small: bool) -> bool:
    """Print a table; return whether all is within its limits.

    Args:
        small: make few changes.
    """
    sys.path.insert(0, str(ROOT))  # for what the tests know of browsers
    references_s = [_reference_s()]
    times = anyio.run(measure_solids, SMALL if small else CHANGES)
    over_s, next_s = anyio.run(measure_stops, SMALL_STOPS if small else STOPS)
    seen_s = dict[str, list[float]]()
    if not find_spec("playwright"):
        print("The studio's page: left out, since there is no Playwright")
    else:
        from tests.support import browser

        if any(map(shutil.which, browser.NAMES)):
            seen_s = measure_page(small)
        else:
            print("The studio's page: left out, since there is no Chromium")
    references_s.append(_reference_s())  # the machine may have become slower meanwhile
    reference_s = statistics.mean(references_s)
    medians = {piece: statistics.median(seconds) for piece, seconds in times.first_s.items()}
    slowest = max(medians, key=lambda piece: medians[piece])
    rows: list[tuple[str, list[float], float | None, bool]] = [
        (f"first solid (slowest piece: {slowest})", times.first_s[slowest], FIRST_S, False),
        ("all solids and the bill", times.all_s, ALL_S, False),
        ("a count of minutes is over", over_s, STOP_S, True),
        ("the next one reports", next_s, None, False),
    ]
    for name, (limit_s, is_share) in PAGE_ROWS.items():
        if name in seen_s:
            rows.append((name, seen_s[name], limit_s, is_share))
    print(
        f"The studio. Reference: `import cadquery`, {reference_s:.2f} s. Limits are for what has a "
        "*."
    )
    print(f"{'seconds':36} {'median':>8} {SHARE:>7.0%} {'maximum':>8} {'x reference':>12}  limit")
    is_kept = times.memory_mb < MEMORY_MB
    for name, seconds, limit, needs_share in rows:
        is_share = needs_share and not small  # few times have no such share
        values = [statistics.median(seconds), _within(seconds), max(seconds)]
        judged_s = values[is_share]
        marks = [" *"[bool(limit) and place == is_share] for place in range(len(values))]
        cells = [f"{value:7.3f}{mark}" for value, mark in zip(values, marks, strict=True)]
        limit_text = f"{limit:g} s" if limit else ""
        print(f"{name:36} {' '.join(cells)} {judged_s / reference_s:11.2f}  {limit_text}")
        is_kept &= small or limit is None or judged_s < limit
    memory = f"{times.memory_mb:.0f} MB after {len(times.all_s)} changes"
    print(f"{'memory':36} {memory}, limit {MEMORY_MB:.0f} MB")
    return is_kept
