"""The view in 3D in a real browser: what is seen, where pieces lie, and what it costs."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image

from fabkit.cli import main
from tests.support import browser
from tests.support.pairset import PAIR

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [browser.needed, pytest.mark.integration]

#: A title that would run something, or turn the text after it around.
HOSTILE = '<img src=x onerror=alert(1)>"& שלום'
#: So long, in ms, something is waited for on a busy machine.
LONG_MS = 120_000
SETS = {
    "fridgeiq": "triangle_01",
    "iqfit": "board",
    "iqblock": "square",
    "iqstars": "board",
    "cubimagici": "tray",
}


@pytest.fixture(scope="module")
def pair_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a page of two pieces, in a set with a hostile title."""
    home = tmp_path_factory.mktemp("pair")
    text = PAIR.replace("Two & <more>", HOSTILE.replace('"', '\\"'))
    (home / "pair.toml").write_text(text)
    folder = home / "page"
    assert main(["page", str(home / "pair.toml"), "-o", str(folder), "-q"]) == 0
    return folder


def state(page: Page) -> Any:
    return page.evaluate("window.fabkitViewer.state")


def rested(page: Page) -> Any:
    """The state once all is loaded and nothing moves any more."""
    for _ in range(LONG_MS // 100):
        found = state(page)
        if found["ready"] and found["resting"]:
            return found
        page.wait_for_timeout(100)
    raise AssertionError(f"never rests: {found}")


def seen(page: Page) -> Any:
    """The view brought into sight and at rest."""
    page.locator("#viewer").scroll_into_view_if_needed()
    return rested(page)


def pixels(page: Page) -> np.ndarray:
    shot = page.locator("#view").screenshot()
    with Image.open(io.BytesIO(shot)) as image:
        return np.asarray(image.convert("RGB"), dtype=int)


def covered(picture: np.ndarray) -> float:
    """The part of a picture that is not background, which is in its corners."""
    background = picture[2, 2]
    return float((np.abs(picture - background).max(axis=2) > 24).mean())


def pulled_apart(page: Page, percent: int) -> Any:
    slider = page.locator("#apart")
    slider.evaluate(
        "(one, value) => { one.value = value; one.dispatchEvent(new Event('input')) }", percent
    )
    return rested(page)


def solved_in_3d(page: Page) -> Any:
    page.locator("[data-do=solution]").click()
    return rested(page)


def wanted_matrices(folder: Path, entry: str) -> dict[str, Sequence[float]]:
    """The matrices of a solution's pieces, as the page's data tells them."""
    text = (folder / "models.js").read_text().removeprefix("window.FABKIT_MODELS = ")
    solution = json.loads(text.removesuffix(";\n"))["solutions"][entry]
    return {piece: numbers for piece, (numbers, _) in solution["pieces"].items()}


def test_nothing_is_loaded_before_it_is_seen(chromium: Browser, pair_page: Path) -> None:
    small = {"width": 800, "height": 300}
    with browser.opened(chromium, (pair_page / "index.html").as_uri(), viewport=small) as page:
        page.wait_for_timeout(300)
        assert not state(page)["ready"]
        assert page.evaluate("typeof window.FABKIT_MODELS") == "undefined"
        assert seen(page)["ready"]


@pytest.mark.every(2)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pieces_are_seen_and_come_apart(chromium: Browser, pair_page: Path, scheme: str) -> None:
    url = (pair_page / "index.html").as_uri()
    with browser.opened(chromium, url, color_scheme=scheme) as page:
        assert seen(page)["shown"] == {"kind": "entry", "entry": "bar"}
        laid_out = pixels(page)
        assert 0.05 < covered(laid_out) < 0.9
        # Orange and blue, lit from above: each is there.
        red, _, blue = (laid_out[:, :, channel] for channel in range(3))
        assert (red - blue > 90).mean() > 0.01
        assert (blue - red > 90).mean() > 0.01
        found = solved_in_3d(page)
        assert found["shown"] == {"kind": "solution", "entry": "bar"}
        for piece, numbers in wanted_matrices(pair_page, "bar").items():
            assert found["matrices"][piece] == pytest.approx(numbers, abs=1e-9)
        together = pixels(page)
        assert np.abs(together - laid_out).max() > 60
        found = pulled_apart(page, 100)
        heights = [found["matrices"][piece][14] for piece in "PQ"]
        assert min(heights) > 5
        apart = pixels(page)
        assert (np.abs(apart - together).max(axis=2) > 24).mean() > 0.02
        browser.pictured(page, f"viewer-pair-{scheme}")


@pytest.mark.long
def test_it_draws_only_when_something_moves(chromium: Browser, pair_page: Path) -> None:
    url = (pair_page / "index.html").as_uri()
    with browser.opened(chromium, url, reduced_motion="no-preference") as page:
        seen(page)
        page.wait_for_timeout(1500)
        before = state(page)["frames"]
        page.wait_for_timeout(1500)
        assert state(page)["frames"] == before
        page.locator("#view").press("ArrowRight")
        page.wait_for_timeout(300)
        assert state(page)["frames"] > before


@pytest.mark.long
def test_pieces_travel_unless_motion_is_reduced(chromium: Browser, pair_page: Path) -> None:
    url = (pair_page / "index.html").as_uri()
    frames = {}
    for motion in ("reduce", "no-preference"):
        with browser.opened(chromium, url, reduced_motion=motion) as page:
            begin = seen(page)["frames"]
            frames[motion] = solved_in_3d(page)["frames"] - begin
    assert frames["reduce"] <= 2
    assert frames["no-preference"] > frames["reduce"]


@pytest.mark.long
def test_keys_turn_near_and_shift_the_view(chromium: Browser, pair_page: Path) -> None:
    with browser.opened(chromium, (pair_page / "index.html").as_uri()) as page:
        seen(page)
        view = page.locator("#view")
        view.focus()
        first = pixels(page)
        for keys in (["ArrowLeft"] * 3, ["+"] * 3, ["Shift+ArrowUp"] * 3, ["-"] * 2):
            before = pixels(page)
            for key in keys:
                view.press(key)
            rested(page)
            assert np.abs(pixels(page) - before).max() > 60, keys
        view.press("Home")
        rested(page)
        assert np.abs(pixels(page) - first).max() < 60


def test_a_pointer_turns_and_the_wheel_only_after_it(chromium: Browser, pair_page: Path) -> None:
    small = {"width": 900, "height": 500}
    with browser.opened(chromium, (pair_page / "index.html").as_uri(), viewport=small) as page:
        seen(page)
        box = page.locator("#view").bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + min(box["height"] / 2, 150)
        before, scrolled = pixels(page), page.evaluate("scrollY")
        page.mouse.move(x, y)
        page.mouse.wheel(0, -120)
        page.wait_for_timeout(300)
        assert page.evaluate("scrollY") < scrolled
        page.locator("#viewer").scroll_into_view_if_needed()
        box = page.locator("#view").bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + min(box["height"] / 2, 150)
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 120, y + 20, steps=4)
        page.mouse.up()
        rested(page)
        turned = pixels(page)
        assert np.abs(turned - before).max() > 60
        scrolled = page.evaluate("scrollY")
        page.mouse.wheel(0, -240)
        page.wait_for_timeout(300)
        rested(page)
        assert page.evaluate("scrollY") == scrolled
        assert covered(pixels(page)) > covered(turned)


def test_it_has_a_name_and_says_what_is_shown(chromium: Browser, pair_page: Path) -> None:
    with browser.opened(chromium, (pair_page / "index.html").as_uri()) as page:
        seen(page)
        view = page.get_by_role("img", name="The pieces of").and_(page.locator("#view"))
        assert view.count() == 1
        assert page.locator("#apart").is_disabled()
        assert "\u2068Bar\u2069" in page.locator("#view-note").inner_text()
        page.locator("[data-do=pieces]").click()
        rested(page)
        # The title is hostile: it is text, and cannot turn the text around it.
        said = page.locator("#view-note").inner_text()
        assert "\u2068<img src=x onerror=alert(1)>" in said
        assert page.locator("#viewer img").count() == 0
        solved_in_3d(page)
        assert page.locator("#apart").is_enabled()
        assert view.count() == 0
        assert page.get_by_role("img", name="The solution of").count() == 1


def test_a_phone_held_upright(chromium: Browser, pair_page: Path) -> None:
    url = (pair_page / "index.html").as_uri()
    phone = {"viewport": browser.PHONE, "has_touch": True, "device_scale_factor": 3}
    with browser.opened(chromium, url, **phone) as page:
        seen(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= browser.PHONE["width"]
        assert page.locator("#view").evaluate("one => one.width / one.clientWidth") == 2
        assert page.locator("#view").evaluate("one => getComputedStyle(one).touchAction") == "pan-y"
        assert 0.05 < covered(pixels(page)) < 0.9
        page.set_viewport_size({"width": 740, "height": 360})
        page.wait_for_timeout(200)
        seen(page)
        assert 0.05 < covered(pixels(page)) < 0.9
        browser.pictured(page, "viewer-phone")


def test_without_webgl_there_is_a_picture(chromium: Browser, pair_page: Path) -> None:
    context = chromium.new_context()
    page = context.new_page()
    page.add_init_script("HTMLCanvasElement.prototype.getContext = function () { return null };")
    complaints = browser.watched(page)
    page.goto((pair_page / "index.html").as_uri())
    page.locator("#viewer").scroll_into_view_if_needed()
    still = page.locator("#view-still")
    still.wait_for()
    assert still.evaluate("async one => { await one.decode(); return one.naturalWidth }") > 500
    assert "cannot show the pieces in 3D" in page.locator("#view-note").inner_text()
    assert page.locator("#view").count() == 0
    assert not page.locator("#apart").is_visible()
    assert not page.locator("#viewer button").first.is_visible()
    assert not state(page)["ready"]
    page.wait_for_timeout(100)
    assert complaints == []
    context.close()


def test_from_a_web_server(chromium: Browser, pair_page: Path) -> None:
    with (
        browser.served(pair_page) as url,
        browser.opened(chromium, url, server=url) as page,
    ):
        assert set(seen(page)["matrices"]) == {"P", "Q"}


def test_broken_models_give_the_picture(chromium: Browser, pair_page: Path, tmp_path: Path) -> None:
    shutil.copytree(pair_page, tmp_path / "page")
    text = (tmp_path / "page/models.js").read_text()
    (tmp_path / "page/models.js").write_text(text.replace('"P":"', '"P":"AAAA', 1))
    with browser.opened(chromium, (tmp_path / "page/index.html").as_uri()) as page:
        page.locator("#viewer").scroll_into_view_if_needed()
        page.locator("#view-still").wait_for()


@pytest.mark.long
@pytest.mark.parametrize("name", SETS)
def test_every_set_is_seen(chromium: Browser, name: str, tmp_path: Path) -> None:
    folder, entry = tmp_path / "page", SETS[name]
    assert main(["page", name, "--only", entry, "-o", str(folder), "-q"]) == 0
    with browser.opened(chromium, (folder / "index.html").as_uri()) as page:
        seen(page)
        page.locator("[data-do=pieces]").click()
        everything = rested(page)["matrices"]
        models = {path.stem for path in (folder / "models").iterdir()}
        assert set(everything) == models
        assert covered(pixels(page)) > 0.05
        browser.pictured(page, f"viewer-{name}-pieces")
        found = solved_in_3d(page)["matrices"]
        wanted = wanted_matrices(folder, entry)
        for piece, numbers in wanted.items():
            assert found[piece] == pytest.approx(numbers, abs=1e-9)
        together = pixels(page)
        assert covered(together) > 0.1
        browser.pictured(page, f"viewer-{name}-solution")
        pulled_apart(page, 100)
        assert (np.abs(pixels(page) - together).max(axis=2) > 24).mean() > 0.02
        browser.pictured(page, f"viewer-{name}-apart")
