"""Tuning and printing in the studio, as a person does it in a browser."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image

from fabkit.cli import main
from fabkit.profiles.profile_file import load_profile
from tests.support import browser
from tests.support.pairset import PAIR
from tests.support.studios import RunningStudio, running

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

pytestmark = browser.needed

TABLET = {"width": 1024, "height": 768}
NARROW = {"width": 390, "height": 844}
#: A message in German and in English.
SEARCHES = {"en": "Search settings", "de": "Einstellungen suchen"}

#: The heights of the models in mm, by id.
HEIGHTS = """() => Object.fromEntries([...fabkitStudio.views.get("tune").stage.scene.parts].map(
  ([id, { box }]) => [id, box.max.z - box.min.z]))"""
#: Whether everything is made and shown.
SETTLED = """() => {
  const view = fabkitStudio.views.get("tune");
  return view && !view.isMaking && view.stage.isComplete && !view.stage.outdated.size && !view.lacksPlates; }"""
#: Drops a file on the view.
DROP = """([name, bytes]) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([Uint8Array.from(bytes)], name));
  const event = new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true });
  document.querySelector(".tune-stage").dispatchEvent(event);
}"""
#: Chooses a language in the menu.
CHOOSE_LANGUAGE = """(language) => {
  const choice = document.getElementById("play-language");
  choice.value = language;
  choice.dispatchEvent(new Event("change")); }"""


class Tuning:
    """The view to tune and print, as a person sees it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        page.locator("#studio-open").select_option("pair.toml")
        page.wait_for_function("() => fabkitStudio.project.name === 'pair.toml'")
        page.locator("#tab-tune").click()
        self.settle()

    def settle(self) -> None:
        """Wait until everything is made."""
        self.page.wait_for_function(SETTLED)

    def field(self, key: str) -> Locator:
        return self.page.locator(f'[id="tune-{key}"]')

    def row(self, key: str) -> Locator:
        return self.page.locator(f'[data-key="{key}"]')

    def heights_mm(self) -> Any:
        return self.page.evaluate(HEIGHTS)

    def wait_for_height(self, height_mm: float) -> None:
        self.page.wait_for_function(
            f"(height) => Object.values(({HEIGHTS})()).every((is) => Math.abs(is - height) < 0.02)",
            arg=height_mm,
        )

    def show(self, name: str) -> None:
        self.page.locator(".tune-bar select").select_option(name)

    def picture(self) -> Any:
        """The pixels of the stage."""
        self.page.wait_for_function("() => fabkitStudio.views.get('tune').stage.scene.resting")
        shot = self.page.locator(".tune-view").screenshot()
        return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB"), dtype=int)

    @property
    def bill(self) -> dict[str, str]:
        rows = self.page.locator(".tune-bill > div")
        pairs = (row.inner_text().split("\n") for row in rows.all())
        return {words[0]: words[-1] for words in pairs}

    @property
    def settings(self) -> Any:
        return self.page.evaluate("() => fabkitStudio.project.state.settings")


@contextmanager
def tuning(chromium: Browser, studio: RunningStudio, **settings: Any) -> Iterator[Tuning]:
    """The view with a set of two pieces; nothing may be written to the console."""
    (studio.folder / "pair.toml").write_text(PAIR)
    with browser.opened(
        chromium, studio.url, server=studio.url, first_visit=True, locale="en", **settings
    ) as page:
        yield Tuning(page)


def test_from_a_slider_to_a_file_that_passes_the_check(
    chromium: Browser, studio: RunningStudio, tmp_path: Path
) -> None:
    with tuning(chromium, studio) as view:
        page = view.page
        assert view.heights_mm() == {"P": 7, "Q": 7}
        before, grams = view.picture(), view.bill["Filament"]
        view.field("thickness").fill("10")
        view.wait_for_height(10)
        view.settle()
        changed = np.abs(view.picture() - before).max(axis=2) > 40
        assert changed.mean() > 0.005
        assert float(view.bill["Filament"][:-2]) > float(grams[:-2])
        assert view.settings == {"thickness": "10 mm"}
        assert view.row("thickness").get_attribute("class") == "setting changed"
        assert page.locator(".tune-changes output").inner_text() == "1 change"

        with page.expect_download() as download:
            page.get_by_role("button", name="3MF project").click()
        path = tmp_path / download.value.suggested_filename
        download.value.save_as(path)
        assert path.name == "pair.3mf"
        page.get_by_role("button", name="Save profile").click()
        page.get_by_text("Saved pair-profile.toml").wait_for()
        # The project file is what the saved profile says.
        profile = studio.folder / "pair-profile.toml"
        assert load_profile([str(profile)]).thickness_mm == 10
        check = ["check", "--set", str(studio.folder / "pair.toml"), str(path), "-q", "-p"]
        assert main([*check, str(profile)]) == 0
        assert main([*check, "default"]) == 1

        view.row("thickness").locator("button").click()
        view.wait_for_height(7)
        assert view.settings == {}
        assert view.field("thickness").input_value() == "7"
        assert page.evaluate("document.activeElement.id") == "tune-thickness"
        profile.unlink()


def test_a_refusal_is_at_the_field_that_causes_it(chromium: Browser, studio: RunningStudio) -> None:
    with tuning(chromium, studio) as view:
        field, fault = view.field("thickness"), view.row("thickness").locator(".fault")
        field.fill("3")
        fault.get_by_text("leaves nothing below the letter").wait_for()
        assert field.get_attribute("aria-invalid") == "true"
        described_by = field.get_attribute("aria-describedby")
        assert "recess.roof" in view.page.locator(f'[id="{described_by}"]').inner_text()
        assert view.heights_mm() == {"P": 7, "Q": 7}  # the old ones, faint
        faint = view.page.evaluate("() => fabkitStudio.views.get('tune').stage.outdated.size")
        assert faint == 2
        field.fill("8")
        view.wait_for_height(8)
        assert fault.inner_text() == ""
        assert field.get_attribute("aria-invalid") is None

        view.field("magnet.diameter").fill("16")  # too wide for P
        view.row("magnet.diameter").locator(".fault").get_by_text("P: ").wait_for()
        view.page.locator(".tune-note").click()
        assert view.page.evaluate("document.activeElement.id") == "tune-magnet.diameter"
        view.page.locator("[data-do=undo]").click()
        view.settle()
        assert view.row("magnet.diameter").locator(".fault").inner_text() == ""
        assert view.settings == {"thickness": "8 mm"}


def test_everything_can_be_looked_at(chromium: Browser, studio: RunningStudio) -> None:
    with tuning(chromium, studio) as view:
        page = view.page
        matrices = "() => fabkitStudio.views.get('tune').stage.scene.matrices()"
        for shown, ids in (("P", ["P"]), ("plate-1", ["P", "Q"]), ("assembled", ["P", "Q"])):
            view.show(shown)
            page.wait_for_function(
                f"(count) => Object.keys(({matrices})()).length === count", arg=len(ids)
            )
            assert sorted(page.evaluate(matrices)) == ids
        together = page.evaluate(matrices)
        page.locator(".tune-apart input").fill("100")
        page.wait_for_function(f"(z) => ({matrices})().P[14] > z + 1", arg=together["P"][14])
        page.get_by_role("button", name="Section").click()
        drawing = page.locator(".tune-cut svg")
        drawing.wait_for()
        words = page.locator(".tune-cut dl").inner_text().split("\n")
        assert words[words.index("a thickness") + 1] == "7 mm"
        assert any("depth of the recess" in word for word in words)
        view.field("thickness").fill("9")
        page.locator(".tune-cut").get_by_text("9 mm").wait_for()
        page.get_by_role("button", name="Section").click()
        assert page.locator(".tune-view canvas").is_visible()


def test_presets_printers_and_search(chromium: Browser, studio: RunningStudio) -> None:
    with tuning(chromium, studio) as view:
        page = view.page
        page.locator("[data-group=printers]").select_option("mini")
        page.locator("[data-group=profile]").select_option("compact")
        page.wait_for_function("() => fabkitStudio.project.state.layers.length === 2")
        view.settle()
        expected = load_profile(["compact", "mini"])
        assert page.evaluate("() => fabkitStudio.project.state.layers") == ["compact", "mini"]
        assert float(view.field("unit").input_value()) == expected.unit_mm
        assert float(view.field("printer.bed_width").input_value()) == expected.bed_width_mm
        page.locator("[type=search]").fill("bed wall")
        assert page.locator(".setting:visible").count() == 1
        assert view.row("recess.bed_wall").is_visible()
        page.locator("[type=search]").fill("")
        page.get_by_role("button", name="Reset all").wait_for(state="hidden")


def test_every_set_begins_with_the_profile_of_the_start(chromium: Browser, tmp_path: Path) -> None:
    with (
        running(tmp_path, "tangram", "-s", "thickness=8 mm") as studio,
        browser.opened(chromium, studio.url, server=studio.url, first_visit=True) as page,
    ):
        settings = "() => fabkitStudio.project.state.settings"
        is_saved = "() => fabkitStudio.project.isSaved"
        page.locator(".sheet-cell").first.wait_for()
        page.locator("#tab-tune").click()
        thickness = page.locator("#tune-thickness")
        thickness.wait_for()
        assert page.evaluate(settings) == {"thickness": "8 mm"}
        assert page.evaluate(is_saved)
        thickness.fill("9")
        page.wait_for_function("() => fabkitStudio.project.state.settings.thickness === '9 mm'")
        assert not page.evaluate(is_saved)
        assert page.title().startswith("• ")
        page.locator("#studio-open").select_option("pentominoes")
        page.locator("dialog.ask button").first.click()  # stay
        page.locator("dialog.ask").wait_for(state="hidden")
        assert page.evaluate(settings) == {"thickness": "9 mm"}
        page.locator("#studio-open").select_option("pentominoes")
        page.locator("dialog.ask button").last.click()
        page.wait_for_function("() => document.getElementById('tune-thickness').value === '8'")
        assert page.evaluate("() => fabkitStudio.project.name") == "pentominoes.toml"
        assert page.evaluate(settings) == {"thickness": "8 mm"}
        assert page.evaluate(is_saved)


def test_saving_saves_the_profile(chromium: Browser, studio: RunningStudio) -> None:
    with tuning(chromium, studio) as view:
        page = view.page
        before = (studio.folder / "pair.toml").stat().st_mtime_ns
        for thickness in (9, 10):
            view.field("thickness").fill(str(thickness))
            view.wait_for_height(thickness)
            page.keyboard.press("Control+s")
            page.locator("#studio-say", has_text="Saved pair-profile.toml").wait_for()
            page.wait_for_function("() => fabkitStudio.project.isSaved")
            profile = studio.folder / "pair-profile.toml"
            assert load_profile([str(profile)]).thickness_mm == thickness
            assert not page.locator("dialog.ask").count()  # it is its own file
        assert (studio.folder / "pair.toml").stat().st_mtime_ns == before
        # From now on it can be chosen, and says all that was changed.
        page.locator("select[data-group=profile]").select_option(str(profile))
        page.locator(".tune-changes button", has_text="Reset all").click()
        view.wait_for_height(10)
        assert view.field("thickness").input_value() == "10"
        view.settle()
    profile.unlink()


def test_meshes_that_are_dropped_are_checked(chromium: Browser, studio: RunningStudio) -> None:
    import trimesh

    box = trimesh.creation.box((20, 20, 7))
    box.update_faces(np.arange(len(box.faces)) > 0)
    with tuning(chromium, studio) as view:
        page = view.page
        page.evaluate(DROP, ["torn box.stl", [*box.export(file_type="stl")]])
        page.locator(".tune-verdict .alarm").wait_for()
        causes = page.locator(".tune-verdict li").all_inner_texts()
        assert any("torn box.stl: watertight" in cause for cause in causes)
        report = page.frame_locator(".tune-verdict iframe")
        report.locator("svg").first.wait_for()
        assert "Failed" in report.locator("body").inner_text()


@pytest.mark.parametrize("viewport", [TABLET, NARROW], ids=["tablet", "narrow"])
def test_it_fits_small_screens(
    chromium: Browser, studio: RunningStudio, viewport: Mapping[str, int]
) -> None:
    with tuning(chromium, studio, viewport=viewport) as view:
        page = view.page
        assert page.evaluate("document.documentElement.scrollWidth") == viewport["width"]
        overflowing = """(width) => [...document.querySelectorAll("#view-tune *")].filter((element) =>
          element.checkVisibility() && element.getBoundingClientRect().right > width + 1).length"""
        assert page.evaluate(overflowing, viewport["width"]) == 0
        small = """() => [...document.querySelectorAll("#view-tune :is(button, select, input, summary)")]
          .filter((element) => element.checkVisibility() && element.getBoundingClientRect().height < 39)
          .map((element) => element.outerHTML)"""
        assert page.evaluate(small) == []


def test_it_works_by_keyboard_and_in_another_language(
    chromium: Browser, studio: RunningStudio
) -> None:
    with tuning(chromium, studio) as view:
        page = view.page
        view.field("thickness").focus()
        page.keyboard.press("ArrowUp")
        view.wait_for_height(8)
        view.settle()
        page.keyboard.press("Tab")
        label = page.evaluate("document.activeElement.ariaLabel")
        assert label == "Reset thickness to 7 mm"
        page.keyboard.press("Enter")
        view.wait_for_height(7)
        page.evaluate("() => document.querySelector('.tune-view canvas').focus()")
        before = view.picture()
        page.keyboard.press("ArrowLeft")
        assert (view.picture() != before).any()
        search = page.locator("[type=search]")
        assert search.get_attribute("placeholder") == SEARCHES["en"]
        unnamed = """() => [...document.querySelectorAll("#view-tune :is(button, select, input)")]
          .filter((element) => !(element.ariaLabel || element.textContent || element.labels?.length
            || element.hidden)).map((element) => element.outerHTML)"""
        assert page.evaluate(unnamed) == []
        page.evaluate(CHOOSE_LANGUAGE, "de")
        page.wait_for_function(
            "(text) => document.querySelector('[type=search]').placeholder === text",
            arg=SEARCHES["de"],
        )
        assert page.locator(".tune-changes output").inner_text() == "0 Änderungen"
        label = page.locator("label", has=page.locator("code", has_text="unit")).first
        assert label.inner_text() == "Länge einer Rastereinheit unit"
