"""From nothing to a file for the slicer: a tray puzzle is drawn, tuned and printed."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest

from fabkit.cli import main
from tests.studio.test_draw import (
    TABLET,
    Drawing,
    draw_by_keyboard,
    draw_by_pointer,
    drawing,
    reach,
)
from tests.studio.test_tune import HEIGHTS, SETTLED
from tests.support import browser
from tests.support.studios import RunningStudio

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Download

pytestmark = [browser.needed, pytest.mark.needs("prusa-slicer")]

#: The heights of the five pieces in the 3D view, rounded.
PIECES_MM = f"""() => Object.entries(({HEIGHTS})()).filter(([id]) => id.length === 1)
  .map(([id, height]) => [id, Math.round(height * 100) / 100])"""


def wait_for_pieces(sheet: Drawing, height_mm: float) -> None:
    sheet.page.wait_for_function(
        "() => fabkitStudio.views.get('tune')?.stage.scene", timeout=90_000
    )
    sheet.page.wait_for_function(
        f"""(height) => {{ const pieces = ({PIECES_MM})();
          return pieces.length === 5 && pieces.every(([, is]) => is === height); }}""",
        arg=height_mm,
        timeout=90_000,
    )


def passes(sheet: Drawing, download: Download, folder: Path) -> None:
    """A project file opens in PrusaSlicer, and passes the check of its set and profile."""
    file = folder / "my-puzzle.3mf"
    download.save_as(file)
    manifolds, code, code_of_another = judged(file.read_bytes(), sheet.text)
    assert manifolds >= 6  # five pieces and their tray
    assert code == 0
    assert code_of_another == 1


@cache
def judged(content: bytes, text: str) -> tuple[int, int, int]:
    """How many solids PrusaSlicer finds in a project file, and the exit codes of a check with its
    profile and with another one; equal files, however they were drawn, are judged once."""
    with TemporaryDirectory() as folder:
        file, set_file = Path(folder, "my-puzzle.3mf"), Path(folder, "my-puzzle.toml")
        file.write_bytes(content)
        set_file.write_text(text)
        slicer = subprocess.run(
            ["prusa-slicer", "--info", str(file)], capture_output=True, text=True, check=True
        )
        check = ["check", "--set", str(set_file), str(file), "-q", "-s"]
        codes = [main([*check, f"thickness={thickness_mm} mm"]) for thickness_mm in (4, 7)]
        return slicer.stdout.count("manifold = yes"), codes[0], codes[1]


@pytest.mark.parametrize("window", [browser.DESKTOP, TABLET], ids=["desktop", "tablet"])
def test_by_pointer(
    chromium: Browser, studio: RunningStudio, tmp_path: Path, window: dict[str, Any]
) -> None:
    with drawing(chromium, studio, viewport=window) as sheet:
        page = sheet.page
        draw_by_pointer(sheet)
        page.locator("#tab-tune").click()
        wait_for_pieces(sheet, 7)
        page.locator('[id="tune-thickness"]').fill("4")
        wait_for_pieces(sheet, 4)
        with page.expect_download(timeout=90_000) as download:
            page.get_by_role("button", name="3MF project").click()
        page.locator("#tab-draw").click()
        passes(sheet, download.value, tmp_path)


def test_by_keyboard(chromium: Browser, studio: RunningStudio, tmp_path: Path) -> None:
    with drawing(chromium, studio) as sheet:
        page, keyboard = sheet.page, sheet.page.keyboard
        draw_by_keyboard(sheet)
        reach(sheet, "[role=tab]")
        keyboard.press("ArrowRight")
        wait_for_pieces(sheet, 7)
        reach(sheet, '[id="tune-thickness"]')
        keyboard.press("Control+a")
        keyboard.type("4")
        keyboard.press("Enter")
        wait_for_pieces(sheet, 4)
        page.wait_for_function(SETTLED, timeout=90_000)
        with page.expect_download(timeout=90_000) as download:
            reach(sheet, "#print-3mf")
            keyboard.press("Enter")
        passes(sheet, download.value, tmp_path)
