"""A real browser for tests: the Chromium that the machine has, and a guard over what it does.

Every page is watched: an error or a warning on its console, an error in a script, and any request
that does not go to the page's own files fail the test. Without Chromium, tests are skipped.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

#: The commands of it.
NAMES = ("chromium", "chromium-browser", "google-chrome")
#: Marks tests, or a whole file as ``pytestmark``, that need it.
needed = pytest.mark.needs(*NAMES)

#: No sandbox, since tests may run as root; 3D without a graphics card, but only for what is 3D,
#: since all else is drawn faster without; nothing of its own on the net.
_ARGUMENTS = [
    *("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-quic"),
    *("--disable-gpu-compositing", "--disable-gpu-rasterization"),
    *("--no-first-run", "--disable-background-networking", "--disable-component-update"),
    "--disable-sync",
]
_OWN = ("file:", "data:", "blob:")
#: What Chromium says of itself, where it draws what is 3D without a graphics card.
_SLOW_3D = "GPU stall due to ReadPixels"
#: What becomes of a request whose page was left or loaded again in the meantime.
_LEFT = "net::ERR_ABORTED"
#: How to play is put away, and nothing has the focus.
SEEN = "document.getElementById('play-how')?.close(); document.activeElement?.blur()"
PHONE, DESKTOP = {"width": 360, "height": 740}, {"width": 1280, "height": 900}
#: A time at which a page's clock may stand.
NOON = "2026-03-14T12:00:00+00:00"
#: Settles when the page has been drawn twice: sizes, and what is in sight, are observed in between.
_DRAWN = """async () => {
  for (const _ of [1, 2]) {
    const { promise, resolve } = Promise.withResolvers();
    const observer = new IntersectionObserver(resolve);
    observer.observe(document.documentElement);
    await promise;
    observer.disconnect();
  } }"""
#: Notes the next turn of the wheel.
_NOTE_WHEEL = """() => {
  window.turned = undefined;
  const options = { capture: true, once: true, passive: true };
  addEventListener("wheel", (event) => (window.turned = event), options); }"""
#: The Chromium of this process, while it has one.
_running: list[Browser] = []


@contextmanager
def started() -> Iterator[Browser]:
    """Chromium, without a window: the one that this process has started already, if it has.

    Playwright runs once in a thread, and starting a browser takes a second.
    """
    if _running:
        yield _running[0]
        return
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, NAMES)))
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=path, args=_ARGUMENTS) as browser,
    ):
        _running.append(browser)
        try:
            yield browser
        finally:
            _running.clear()


@contextmanager
def opened(
    browser: Browser,
    url: str,
    server: str = "",
    first_visit: bool = False,
    moment: str = "",
    **settings: Any,
) -> Iterator[Page]:
    """A page in a profile of its own, which has nothing to complain about in the end.

    It may ask for files, and for addresses that begin with `server`; the settings are those of the
    context: ``viewport``, ``color_scheme``, ``has_touch``, … With a `moment` such as `NOON`, the
    page's clock stands there; see `stop_clock`.
    """
    context = browser.new_context(**{"viewport": DESKTOP, "reduced_motion": "reduce", **settings})
    page = context.new_page()
    complaints = watched(page, server)
    try:
        if moment:
            stop_clock(page, moment)
        page.goto(url)
        if not first_visit:
            page.evaluate(SEEN)
        yield page
        drawn(page)  # for what comes late
    finally:
        context.close()
    assert complaints == [], complaints


def stop_clock(page: Page, moment: str) -> None:
    """Lets time pass on the pages of a profile only with ``page.clock.run_for``, from a moment on.

    It is the time of dates, timers, frames of scripts and events, but not of animations.
    """
    stop = datetime.fromisoformat(moment)
    page.clock.install(time=stop - timedelta(hours=1))
    page.clock.pause_at(stop)


def drawn(page: Page) -> None:
    """Waits until the browser has drawn the page, in its new size if that has changed, and the page
    has heard of what it observes: sizes, and what is in sight."""
    page.evaluate(_DRAWN)


def turn_wheel(page: Page, distance: float) -> bool:
    """Turns the wheel; returns whether the page keeps that for itself, so that nothing is scrolled."""
    page.evaluate(_NOTE_WHEEL)
    page.mouse.wheel(0, distance)
    heard = page.wait_for_function("() => window.turned && [window.turned.defaultPrevented]")
    return bool(heard.json_value()[0])


def visit(page: Page, url: str) -> None:
    """Opens a page for playing anew and waits for the challenge of its link, which it unpacks."""
    page.goto("about:blank")
    page.goto(url)
    page.evaluate("fabkitPlay.page.opened")


def watched(page: Page, server: str = "") -> list[str]:
    """Unwanted actions of a page, as they happen."""
    complaints: list[str] = []
    own = (*_OWN, server) if server else _OWN

    def answered(dialog: Any) -> None:
        complaints.append(f"asks: {dialog.message}")
        dialog.dismiss()

    def heard(event: str, fault: Callable[[Any], str]) -> None:
        """Notes what an event has to complain about, if it has."""
        page.on(event, lambda one: complaints.extend(filter(None, [fault(one)])))  # type: ignore[call-overload]

    def logged(message: Any) -> str:
        is_fault = message.type in ("error", "warning") and _SLOW_3D not in message.text
        return f"{message.type}: {message.text}" if is_fault else ""

    heard("console", logged)
    heard("pageerror", lambda error: f"fails: {error}")
    heard("request", lambda one: "" if one.url.startswith(own) else f"asks for {one.url}")
    heard("requestfailed", lambda one: "" if one.failure == _LEFT else f"misses {one.url}")
    heard("websocket", lambda socket: f"opens {socket.url}")
    page.on("dialog", answered)
    return complaints
