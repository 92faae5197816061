"""A folder with the pages of several sets: made once, served by any static host, and played."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from PIL import Image

from fabkit.cli import main
from tests.support import browser
from tests.support.built import built
from tests.support.pairset import PAIR
from tests.support.playpages import Player, entries_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser

#: Another set with a challenge of the same name.
OTHER = PAIR.replace('name = "pair"', 'name = "other"').replace("Two & <more>", "Two others")
HOME = {"de": "Knobelspiele zum Spielen und Drucken", "en": "Puzzles to play and to print"}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a site of two sets, whose files lie where the test stands."""
    for name, text in (("pair.toml", PAIR), ("other.toml", OTHER)):
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)

    def make(folder: Path) -> None:
        assert main(["page", "pair.toml", "other.toml", "-o", str(folder / "site"), "-q"]) == 0

    return built("site", make, PAIR, OTHER) / "site"


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Its address while Python's own server serves it, at a port that is free."""
    command = [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1"]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().split("(")[1].split(")")[0]
        finally:
            server.terminate()


@browser.needed
@pytest.mark.integration
@pytest.mark.parametrize("over", ["http", "file"])
def test_it_is_played(chromium: Browser, site: Path, over: str) -> None:
    puzzle, (entry,) = entries_of("pair.toml", "bar")
    with served(site) as server:
        url = server if over == "http" else (site / "index.html").as_uri()
        with browser.opened(chromium, url, server, locale="de-CH") as page:
            assert page.title() == page.locator("h1").inner_text() == HOME["de"]
            card = page.locator("[data-set=pair]")
            assert "1 Aufgabe · 2 Teile" in card.inner_text()
            loaded = "one => one.decode().then(() => one.naturalWidth)"
            assert card.locator("img").evaluate(loaded) == 240
            page.locator("#play-language").select_option("en")
            assert "1 challenge · 2 pieces" in card.inner_text()
            card.click()
            page.locator("#play-board .ground").wait_for()
            if page.locator("#play-how").is_visible():
                page.keyboard.press("Escape")
            player = Player(page, puzzle, entry)
            player.lay_all()
            page.locator("#viewer").scroll_into_view_if_needed()
            # The pieces are seen in 3D, also on a busy machine.
            page.wait_for_function("() => fabkitViewer.state.ready", timeout=120_000)
            page.locator(".top a").click()
            assert page.title() == HOME["en"]
            # What is kept of one set is not another's, though their challenges have one name.
            page.locator("[data-set=pair]", has_text="1 of 1 solved · 2 pieces").wait_for()
            assert "1 challenge · 2 pieces" in page.locator("[data-set=other]").inner_text()


@pytest.mark.integration
def test_it_is_made_once(site: Path, run_json: Callable[..., Any]) -> None:
    document = run_json("page", "pair.toml", "other.toml", "-o", str(site))
    assert document["written"] == 0
    assert document["page"] == str(site / "index.html")
    challenges = {name: one["challenges"] for name, one in document["sets"].items()}
    assert challenges == {"pair": ["bar"], "other": ["bar"]}
    files = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}
    files = {name for name in files if not name.endswith((".fabkit.lock", "manifest.json"))}
    assert set(document["files"]) == files
    assert [name for name in files if name.endswith("three.js")] == ["vendor/three.js"]
    assert [name for name in files if name.endswith("Bold.woff")] == ["fonts/OpenSans-Bold.woff"]
    # The picture of a set has no ground of its own, so that it suits light and dark.
    with Image.open(site / "pair" / "still.webp") as still:
        assert still.convert("RGBA").getpixel((0, 0))[3] == 0
        assert still.convert("RGBA").getextrema()[3][1] == 255
    # Without a script, too, a card says how much there is to play.
    front = (site / "index.html").read_text()
    assert front.count("<p>1 challenge · 2 pieces</p>") == 2
    for name in ("pair", "other"):
        page = (site / name / "index.html").read_text()
        linked = {part.split('"')[0] for key in ('src="', 'href="') for part in page.split(key)[1:]}
        for one in linked:
            assert one.startswith("#") or (site / name / one).is_file()


REFUSED = {
    "pair.toml --all": "SET and --all are mutually exclusive; choose one",
    "": "missing argument 'SET', or --all; see `fabkit page --help`",
    "--all --only bar": "--only: requires a single set; several were given",
    "pair.toml pair.toml": 'two sets are called "pair"; expected different names',
    "pair.toml none.toml": "none.toml: there is no such file",
    "pair.toml other.toml --language nl": 'there is no language "nl"; choose from',
    "pair.toml other.toml -o page": 'holds the set "pair", not "all sets"',
    "pair.toml -o SITE": 'holds the set "all sets", not "pair"',
}


@pytest.mark.usefixtures("pair")
def test_bad_input(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("page").mkdir()
    entry = {"sha256": "", "recipe": "", "profile": ""}
    kept = json.dumps({"schema": 1, "set": "pair", "files": {"index.html": entry}})
    Path("page/manifest.json").write_text(kept)
    for options, message in REFUSED.items():
        assert main(["page", *options.replace("SITE", str(site)).split()]) == 2
        assert message in capsys.readouterr().err.splitlines()[-1]
    assert not Path("output").exists()
