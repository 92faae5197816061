"""The view in 3D in a real browser: what is seen, where pieces lie, and what it costs."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image

from fabkit.cli import main
from fabkit.profiles.accessory import printables
from fabkit.profiles.profile_file import load_profile
from fabkit.sets.library import load_set
from tests.support import browser
from tests.support.pairset import PAIR

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = browser.needed

#: A title that would run something, or turn the text after it around.
HOSTILE = '<img src=x onerror=alert(1)>"& שלום'
SETS = {
    "fridgeiq": "triangle_01", "iqfit": "board", "iqblock": "square", "iqstars": "board",
    "cubimagici": "tray",
}  # fmt: skip

#: For each piece of the open challenge the matrix of its way, and how far it is moved in mm.
PLACES = """() => {
  const { entries, lattice, unitMm, pieces } = window.FABKIT;
  const { halves, solution } = entries.find((one) => one.id === window.fabkitViewer.state.shown.entry);
  const [across, up] = lattice.step.map((one) => (one * unitMm) / halves);
  return Object.fromEntries(solution.map(([place, way, x, y]) => {
    const { id } = pieces[place];
    return [id, [window.FABKIT_MODELS.pieces[id].orientations[way], x * across, y * up]];
  }));
}"""


@pytest.fixture(scope="module")
def pair_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a page of two pieces, in a set with a hostile title."""
    home = tmp_path_factory.mktemp("pair")
    (home / "pair.toml").write_text(PAIR.replace("Two & <more>", HOSTILE.replace('"', '\\"')))
    assert main(["page", str(home / "pair.toml"), "-o", str(home / "page"), "-q"]) == 0
    return home / "page"


#: What loads the models.
MODELS = "script[src='models.js']"


class Viewer:
    """The view of a page, brought into sight."""

    def __init__(self, page: Page) -> None:
        self.page, self.view = page, page.locator("#view")
        page.locator("#viewer").scroll_into_view_if_needed()

    @property
    def note(self) -> str:
        return self.page.locator("#view-note").inner_text()

    def rested(self) -> Any:
        """The state once all is loaded and nothing moves any more."""
        # Also on a busy machine.
        return self.page.wait_for_function(RESTED, timeout=120_000).json_value()

    def shows(self, what: str) -> Any:
        self.page.locator(f"[data-do={what}]").click()
        if what == "solution" and self.page.locator("dialog.ask").is_visible():
            self.page.locator("dialog.ask [value=show]").click()
            self.page.wait_for_function("() => fabkitViewer.state.shown.kind === 'solution'")
        return self.rested()

    def pixels(self) -> np.ndarray:
        self.rested()
        with Image.open(io.BytesIO(self.view.screenshot())) as image:
            return np.asarray(image.convert("RGB"), dtype=int)

    def changed_by(self, before: np.ndarray, least: int = 60) -> float:
        """The part of the picture that is another one than before."""
        return float((np.abs(self.pixels() - before).max(axis=2) > least).mean())

    def pulled_apart(self) -> Any:
        script = "one => { one.value = 100; one.dispatchEvent(new Event('input')) }"
        self.page.locator("#apart").evaluate(script)
        return self.rested()

    def solved(self, entry: str) -> Any:
        """The state once the solution is shown, where each piece lies as the data says."""
        found = self.shows("solution")
        assert found["shown"] == {"kind": "solution", "entry": entry}
        places = self.page.evaluate(PLACES)
        assert set(places) <= set(found["matrices"])
        for piece, (matrix, x, y) in places.items():
            numbers = found["matrices"][piece]
            assert [*numbers[:12], numbers[15]] == pytest.approx([*matrix[:12], 1], abs=1e-9)
            assert numbers[12] - matrix[12] == pytest.approx(x, abs=1e-6)
            assert numbers[13] - matrix[13] == pytest.approx(y, abs=1e-6)
        return found


#: The state, once it is ready and nothing moves.
RESTED = "() => [fabkitViewer.state].find(({ ready, resting }) => ready && resting)"


def state(page: Page) -> Any:
    return page.evaluate("window.fabkitViewer.state")


def covered(picture: np.ndarray) -> float:
    """The part of a picture that is not background, as it is in its corner."""
    return float((np.abs(picture - picture[20, 20]).max(axis=2) > 24).mean())


@contextmanager
def seen(chromium: Browser, folder: Path, **settings: Any) -> Iterator[Viewer]:
    with browser.opened(chromium, (folder / "index.html").as_uri(), **settings) as page:
        viewer = Viewer(page)
        viewer.rested()
        yield viewer


def test_nothing_is_loaded_before_it_is_seen(chromium: Browser, pair_page: Path) -> None:
    url = (pair_page / "index.html").as_uri()
    with browser.opened(chromium, url, viewport={"width": 800, "height": 300}) as page:
        browser.drawn(page)
        assert page.locator(MODELS).count() == 0  # nor is it on its way
        assert not state(page)["ready"]
        assert page.evaluate("typeof window.FABKIT_MODELS") == "undefined"
        assert Viewer(page).rested()["ready"]
        assert page.locator(MODELS).count() == 1
    handler = partial(SimpleHTTPRequestHandler, directory=str(pair_page))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}/"
        with browser.opened(chromium, address, server=address) as page:
            assert set(Viewer(page).rested()["matrices"]) == {"P", "Q"}
        server.shutdown()


@pytest.mark.every(2)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pieces_are_seen_and_come_apart(chromium: Browser, pair_page: Path, scheme: str) -> None:
    with seen(chromium, pair_page, color_scheme=scheme) as viewer:
        page = viewer.page
        assert viewer.rested()["shown"] == {"kind": "entry", "entry": "bar"}
        assert "\u2068Bar\u2069" in viewer.note
        assert page.locator("#apart").is_disabled()
        laid_out = viewer.pixels()
        assert 0.05 < covered(laid_out) < 0.9
        # Orange and blue, lit from above: each is there.
        red, _, blue = (laid_out[:, :, channel] for channel in range(3))
        assert (red - blue > 90).mean() > 0.01
        assert (blue - red > 90).mean() > 0.01
        pieces = page.get_by_role("img", name="The pieces of").and_(viewer.view)
        assert pieces.count() == 1
        viewer.shows("pieces")
        # The title is hostile: it is text, and cannot turn the text around it.
        assert "\u2068<img src=x onerror=alert(1)>" in viewer.note
        assert page.locator("#viewer img").count() == 0
        viewer.solved("bar")
        assert page.locator("#apart").is_enabled()
        assert pieces.count() == 0
        assert page.get_by_role("img", name="The solution to").count() == 1
        assert viewer.changed_by(laid_out) > 0
        together = viewer.pixels()
        found = viewer.pulled_apart()
        assert min(found["matrices"][piece][14] for piece in "PQ") > 5
        assert viewer.changed_by(together, 24) > 0.02


@pytest.mark.long
def test_it_draws_only_when_something_moves(chromium: Browser, pair_page: Path) -> None:
    frames = {}
    for preference in ("reduce", "no-preference"):
        with seen(chromium, pair_page, reduced_motion=preference) as viewer:
            begin = viewer.rested()["frames"]
            viewer.page.clock.install()
            viewer.page.clock.run_for(60_000)
            assert state(viewer.page)["frames"] == begin
            frames[preference] = viewer.shows("solution")["frames"] - begin
    assert 0 < frames["reduce"] <= 2 < frames["no-preference"]  # pieces travel


@pytest.mark.long
def test_keys_turn_near_and_shift_the_view(chromium: Browser, pair_page: Path) -> None:
    with seen(chromium, pair_page) as viewer:
        viewer.view.focus()
        first = viewer.pixels()
        for keys in (["ArrowLeft"] * 3, ["+"] * 3, ["Shift+ArrowUp"] * 3, ["-"] * 2):
            before = viewer.pixels()
            for key in keys:
                viewer.view.press(key)
            assert viewer.changed_by(before) > 0, keys
        viewer.view.press("Home")
        assert viewer.changed_by(first) == 0


def test_a_pointer_turns_and_the_wheel_only_after_it(chromium: Browser, pair_page: Path) -> None:
    with seen(chromium, pair_page, viewport={"width": 900, "height": 500}) as viewer:
        page, mouse, first = viewer.page, viewer.page.mouse, viewer.pixels()
        for turned in (False, True):
            Viewer(page)
            box = viewer.view.bounding_box()
            x, y = box["x"] + box["width"] / 2, box["y"] + min(box["height"] / 2, 150)
            mouse.move(x, y)
            if turned:
                mouse.down()
                mouse.move(x + 120, y + 20, steps=4)
                mouse.up()
                assert viewer.changed_by(first) > 0
            before, scrolled = viewer.pixels(), page.evaluate("scrollY")
            assert browser.turn_wheel(page, -180) == turned
            if turned:
                assert covered(viewer.pixels()) > covered(before)
                assert page.evaluate("scrollY") == scrolled
            else:
                page.wait_for_function("(scrolled) => scrollY < scrolled", arg=scrolled)


def test_a_phone_upright_and_across(chromium: Browser, pair_page: Path) -> None:
    phone = {"viewport": browser.PHONE, "has_touch": True, "is_mobile": True}
    with seen(chromium, pair_page, device_scale_factor=3, **phone) as viewer:
        page = viewer.page
        assert viewer.view.evaluate("one => one.width / one.clientWidth") == 2
        assert viewer.view.evaluate("one => getComputedStyle(one).touchAction") == "pan-y"
        assert "one finger to rotate" in page.locator("#view-keys").inner_text()
        assert page.get_by_label("Exploded view").count() == 1
        for wide, tall in ((390, 844), (844, 390), (360, 740)):
            page.set_viewport_size({"width": wide, "height": tall})
            browser.drawn(page)
            assert page.evaluate("document.documentElement.scrollWidth") <= wide
            assert 0.05 < covered(Viewer(page).pixels()) < 0.9
            assert viewer.view.bounding_box()["height"] < 0.75 * tall
            for part in page.locator("#viewer .under > *").all():
                box = part.bounding_box()
                assert box["x"] >= 0
                assert box["x"] + box["width"] <= wide
                assert box["height"] >= 44


NO_WEBGL = "HTMLCanvasElement.prototype.getContext = function () { return null };"


def test_without_webgl_or_models_there_is_a_picture(
    chromium: Browser, pair_page: Path, tmp_path: Path
) -> None:
    shutil.copytree(pair_page, tmp_path / "page")
    text = (tmp_path / "page/models.js").read_text()
    (tmp_path / "page/models.js").write_text(text.replace('"mesh":"', '"mesh":"AAAA', 1))
    for folder, script in ((pair_page, NO_WEBGL), (tmp_path / "page", "")):
        with browser.opened(chromium, "about:blank") as page:
            page.add_init_script(script)
            page.goto((folder / "index.html").as_uri())
            viewer = Viewer(page)
            still = page.locator("#view-still")
            still.wait_for()
            width = "async one => { await one.decode(); return one.naturalWidth }"
            assert still.evaluate(width) > 200
            assert "can’t show the pieces in 3D" in viewer.note
            assert viewer.view.count() == 0
            assert not page.locator("#apart").is_visible()
            assert not page.locator("#viewer button").first.is_visible()
            assert not state(page)["ready"]


@pytest.mark.long
@pytest.mark.parametrize("name", SETS)
def test_every_set_is_seen(chromium: Browser, name: str, tmp_path: Path) -> None:
    folder, puzzle = tmp_path / "page", load_set(name)
    assert main(["page", name, "--only", SETS[name], "-o", str(folder), "-q"]) == 0
    assert sum(one.stat().st_size for one in folder.rglob("*") if one.is_file()) < 7.9e6
    with seen(chromium, folder) as viewer:
        everything = viewer.shows("pieces")["matrices"]
        expected = printables(puzzle, load_profile((), (), puzzle.profile_values))
        assert set(everything) == {one.id for one in expected}
        assert covered(viewer.pixels()) > 0.05
        viewer.solved(SETS[name])
        together = viewer.pixels()
        assert covered(together) > 0.1
        viewer.pulled_apart()
        assert viewer.changed_by(together, 24) > 0.02


@pytest.mark.integration
def test_a_roll_is_seen_with_its_blockers(chromium: Browser, tmp_path: Path) -> None:
    page_of_one = ["dicesquare", "--only", "start-001", "-o", str(tmp_path / "page")]
    assert main(["page", *page_of_one, "-q"]) == 0
    url = (tmp_path / "page" / "index.html").as_uri() + "#roll-A1-A2-C3-E1-A4-E4-F1"
    with browser.opened(chromium, url) as page:
        viewer = Viewer(page)
        viewer.rested()
        page.locator("[data-do=solution]").click()
        page.locator("dialog.ask button", has_text="Show solution").click()
        page.wait_for_function("() => fabkitViewer.state.shown.kind === 'solution'")
        found = viewer.rested()
        blockers = [name for name in found["matrices"] if name.startswith("blocker-")]
        assert sorted(blockers) == [f"blocker-{number}" for number in range(1, 8)]
        places = {tuple(found["matrices"][name][12:14]) for name in blockers}
        assert len(places) == 7
