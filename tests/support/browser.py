"""A real browser for tests: the Chromium that the machine has, and a guard over what it does.

Every page is watched: an error or a warning on its console, an error in a script, and any request
that does not go to the page's own files fail the test. Without Chromium, tests are skipped.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

#: The commands of it.
NAMES = ("chromium", "chromium-browser", "google-chrome")
#: Marks tests, or a whole file as ``pytestmark``, that need it.
needed = pytest.mark.needs(*NAMES)

#: No sandbox, since tests may run as root; 3D without a graphics card, which is not imitated for all
#: else, since that takes three times as long; nothing of its own on the net.
_ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader", "--disable-quic"),
    *("--no-first-run", "--disable-background-networking", "--disable-component-update"),
    "--disable-sync",
]
_OWN = ("file:", "data:", "blob:")
#: What becomes of a request whose page was left or loaded again in the meantime.
_LEFT = "net::ERR_ABORTED"
#: How to play is put away, and nothing has the focus.
SEEN = "document.getElementById('play-how')?.close(); document.activeElement?.blur()"
PHONE, DESKTOP = {"width": 360, "height": 740}, {"width": 1280, "height": 900}


@contextmanager
def started() -> Iterator[Browser]:
    """Chromium, without a window."""
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, NAMES)))
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=path, args=_ARGUMENTS) as browser,
    ):
        yield browser


@contextmanager
def opened(
    browser: Browser, url: str, server: str = "", first_visit: bool = False, **settings: Any
) -> Iterator[Page]:
    """A page in a profile of its own, which has nothing to complain about in the end.

    It may ask for files, and for addresses that begin with `server`; the settings are those of
    the context: ``viewport``, ``color_scheme``, ``has_touch``, …
    """
    context = browser.new_context(**{"viewport": DESKTOP, "reduced_motion": "reduce", **settings})
    page = context.new_page()
    complaints = watched(page, server)
    try:
        page.goto(url)
        if not first_visit:
            page.evaluate(SEEN)
        yield page
        page.wait_for_timeout(50)  # for what comes late
    finally:
        context.close()
    assert complaints == [], complaints


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

    heard("console", lambda m: f"{m.type}: {m.text}" if m.type in ("error", "warning") else "")
    heard("pageerror", lambda error: f"fails: {error}")
    heard("request", lambda one: "" if one.url.startswith(own) else f"asks for {one.url}")
    heard("requestfailed", lambda one: "" if one.failure == _LEFT else f"misses {one.url}")
    heard("websocket", lambda socket: f"opens {socket.url}")
    page.on("dialog", answered)
    return complaints
