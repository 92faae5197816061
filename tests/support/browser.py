"""A real browser for tests: the Chromium that the machine has, and a guard over what it does.

Every page is watched: an error or a warning on its console, an error in a script, and any request
that does not go to the page's own files fail the test. Without Chromium, tests are skipped.

Screenshots go to ``tests/artefacts``, or to the folder that ``FABKIT_ARTEFACTS`` names. They are for
people to look at; no test reads them, and the folder keeps itself out of git.
"""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
#: Marks tests, or a whole file as ``pytestmark``, that need it.
needed = pytest.mark.skipif(not CHROMIUM, reason="needs Chromium (apt install chromium)")

ARTEFACTS = Path(os.environ.get("FABKIT_ARTEFACTS") or Path(__file__).parents[1] / "artefacts")
#: No sandbox, since tests may run as root; 3D without a graphics card; nothing of its own on the net.
_ARGUMENTS = (
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
_OWN = ("file:", "data:", "blob:")
#: What becomes of a request whose page was left or loaded again in the meantime.
_LEFT = "net::ERR_ABORTED"
#: Usual windows: a small phone, a tablet, a desktop.
PHONE, TABLET, DESKTOP = (
    {"width": 360, "height": 740},
    {"width": 768, "height": 1024},
    {"width": 1280, "height": 900},
)


@contextmanager
def started() -> Iterator[Browser]:
    """Chromium, without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(_ARGUMENTS))
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(browser: Browser, url: str, server: str = "", **settings: Any) -> Iterator[Page]:
    """A page in a profile of its own, which has nothing to complain about in the end.

    Args:
        browser: from `started`.
        url: what to open.
        server: the beginning of addresses that may be asked for besides files.
        settings: of the context: ``viewport``, ``color_scheme``, ``has_touch``, …
    """
    context = browser.new_context(**{"viewport": DESKTOP, "reduced_motion": "reduce", **settings})
    page = context.new_page()
    complaints = watched(page, server)
    try:
        page.goto(url)
        yield page
        page.wait_for_timeout(50)  # for what comes late
    finally:
        context.close()
    assert complaints == [], complaints


def watched(page: Page, server: str = "") -> list[str]:
    """What a page does that it should not, as it comes."""
    complaints: list[str] = []

    def asked(url: str) -> None:
        if not url.startswith((*_OWN, *((server,) if server else ()))):
            complaints.append(f"asks for {url}")

    def failed(url: str, why: str | None) -> None:
        if why != _LEFT:
            complaints.append(f"does not get {url}: {why}")

    def told(message: Any) -> None:
        if message.type in ("error", "warning"):
            complaints.append(f"{message.type}: {message.text}")

    def answered(dialog: Any) -> None:
        complaints.append(f"asks: {dialog.message}")
        dialog.dismiss()

    page.on("console", told)
    page.on("pageerror", lambda error: complaints.append(f"fails: {error}"))
    page.on("request", lambda request: asked(request.url))
    page.on("requestfailed", lambda request: failed(request.url, request.failure))
    page.on("websocket", lambda socket: complaints.append(f"opens {socket.url}"))
    page.on("dialog", answered)
    return complaints


def pictured(page: Page, name: str, whole: bool = False) -> Path:
    """Takes a picture of a page for people to look at."""
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    (ARTEFACTS / ".gitignore").write_text("*\n")
    path = ARTEFACTS / f"{name}.png"
    page.screenshot(path=path, full_page=whole)
    return path


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a web server for a folder."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()
            thread.join()
