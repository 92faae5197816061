"""How drawings look: the shipped letters inside them, light and dark, and as PNG pictures."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont
from PIL import Image

from fabkit.core.errors import ExternalError, InputError
from fabkit.output import theme as theme_module
from fabkit.output.challenge import challenge_sheet, steps_sheet
from fabkit.output.pieces import piece_sheet
from fabkit.output.png import svg_to_png
from fabkit.output.svg import Drawing
from fabkit.output.theme import DARK, LIGHT, ROLES, font_path
from fabkit.profiles.profile_file import load_profile
from fabkit.sets.library import load_set
from tests.support import browser
from tests.support.drawings import SVG, case, page_mm, root_of
from tests.support.entries import altered


def pieces(theme: str) -> str:
    puzzle = load_set("fridgeiq")
    return piece_sheet(puzzle, puzzle.pieces, load_profile(), theme)


def starting(theme: str) -> str:
    return challenge_sheet(*case("iqstars"), 20.0, theme=theme)


def silhouette(theme: str) -> str:
    puzzle, entry = case("mixed")
    return challenge_sheet(puzzle, altered(entry, solution=None), 20.0, theme=theme)


def steps(theme: str) -> str:
    return steps_sheet(*case("iqfit"), 15.0, theme)


def fonts_in(source: str) -> dict[int, TTFont]:
    """The fonts inside a drawing by their weights."""
    found = re.findall(
        r"@font-face \{ font-family: 'Open Sans'; font-weight: (\d+); "
        r"src: url\(data:font/ttf;base64,([^)]+)\) \}",
        source,
    )
    return {int(weight): TTFont(io.BytesIO(base64.b64decode(data))) for weight, data in found}


@pytest.mark.parametrize("draw", [pieces, starting, silhouette, steps])
def test_a_drawing_brings_its_letters_and_follows_its_reader(draw: Callable[[str], str]) -> None:
    auto, light, dark = map(draw, ("auto", "light", "dark"))
    root, fonts = root_of(auto), fonts_in(auto)
    used: dict[int, set[str]] = {400: set(), 700: set()}
    for text in root.iter(f"{SVG}text"):
        used[int(text.get("font-weight", "400"))] |= set(text.text or "")
    assert root.get("font-family", "").startswith("'Open Sans',")
    for weight, letters in used.items():
        mine, whole = fonts[weight], TTFont(font_path(weight == 700))
        assert set(map(chr, mine.getBestCmap())) == letters
        for code in map(ord, letters):
            advances = [one["hmtx"][one.getBestCmap()[code]][0] for one in (mine, whole)]
            assert advances[0] == advances[1]
    assert len(root.findtext(f"{SVG}style", "")) < 20_000

    # With what its style says of dark pages it is the dark drawing.
    assert auto.count("@media (prefers-color-scheme: dark)") == 1
    assert "@media" not in dark + light
    rules = dict(re.findall(r"\.fabkit \.([\w-]+) \{ ((?:fill|stroke): #\w{6}) \}", auto))
    for one, other in zip(root.iter(), root_of(dark).iter(), strict=True):
        for name in set(one.get("class", "").split()) & rules.keys():
            key, colour = rules[name].split(": ")
            one.set(key, colour)
        assert one.tag == f"{SVG}style" or one.attrib == other.attrib

    all_pieces = [one for name in ("fridgeiq", "iqstars", "iqfit") for one in load_set(name).pieces]
    own = {colour for one in all_pieces for colour in (one.colour, one.tone)}
    for theme, source in ((LIGHT, light), (DARK, dark)):
        root = root_of(source)
        used_colours = {one.get(key) for one in root.iter() for key in ("fill", "stroke")}
        allowed = own | {getattr(theme, role) for role in ROLES}
        assert used_colours <= allowed | {"#000000", "#ffffff", "none", None}
        paper = root.find(f"{SVG}rect")
        assert paper is not None
        assert paper.get("fill") == theme.paper
        assert (float(paper.get("width", "")), float(paper.get("height", ""))) == page_mm(root)


def test_letters_that_the_font_lacks_are_left_to_the_reader() -> None:
    drawing = Drawing(100, 20, "letters")
    drawing.text(5, 5, "Aש☃", 5)
    (font,) = fonts_in(drawing.source()).values()
    assert set(font.getBestCmap()) == {ord("A")}
    assert "Aש☃" in drawing.source()


# --- pictures
# ---------------------------------------------------------------------------------------


def picture_of(source: str, width: int | None = None) -> Image.Image:
    return Image.open(io.BytesIO(svg_to_png(source, width)))


def test_a_picture_has_the_width_that_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    source = starting("light")
    wide, high = page_mm(root_of(source))
    for width in (64, 501):
        picture = picture_of(source, width)
        assert picture.width == width
        assert picture.height == pytest.approx(width * high / wide, abs=1)
    assert picture_of(source).width == round(wide * 10)
    with pytest.raises(InputError, match=r"8000 x 160000 pixels are too many .* at most 2236 wide"):
        svg_to_png(Drawing(10, 200, "long").source(), 8000)
    # Of no width in particular it is never too high; held against a limit that is soon reached.
    monkeypatch.setattr("fabkit.output.png._MAX_PIXELS", 1_000_000)
    assert picture_of(Drawing(30, 340, "high").source()).size == (297, 3366)
    assert picture_of(Drawing(30, 300, "low").source()).width == 300


def test_pictures_hold_the_shipped_letters_and_no_others() -> None:
    """A letter that the fonts lack becomes a box, regardless of the machine's fonts."""

    def picture(text: str) -> bytes:
        drawing = Drawing(20, 20, "letters", theme="light")
        drawing.text(5, 5, text, 10)
        return svg_to_png(drawing.source(), 200)

    assert picture("A") != picture("B")
    assert picture("ש") == picture("☃") != picture("")


@browser.needed
@pytest.mark.integration
def test_chromium_shows_the_shipped_letters_and_the_reader_s_theme(tmp_path: Path) -> None:
    path = tmp_path / "drawing.svg"
    path.write_text(starting("auto"), encoding="utf-8")
    papers = []
    with browser.started() as chromium:
        for scheme in ("light", "dark"):
            with browser.opened(chromium, path.as_uri(), color_scheme=scheme) as page:
                faces = "document.fonts.ready.then(() => [...document.fonts].map((f) => f.status))"
                assert page.evaluate(faces) == ["loaded", "loaded"]
                paper = "getComputedStyle(document.querySelector('rect')).fill"
                papers.append(page.evaluate(paper))
                width = "(texts) => texts.map((text) => text.getComputedTextLength())"
                widths = page.locator("text").evaluate_all(width)
    assert papers == ["rgb(255, 255, 255)", "rgb(22, 24, 29)"]
    # As wide as with the whole font.
    for text, width in zip(root_of(starting("auto")).iter(f"{SVG}text"), widths, strict=True):
        font = TTFont(font_path(text.get("font-weight") is not None))
        advances = [font["hmtx"][font.getBestCmap()[ord(c)]][0] for c in text.text or ""]
        size = float(text.get("font-size", ""))
        assert width == pytest.approx(sum(advances) / 2048 * size, abs=0.02 * size)


def test_a_missing_font_is_reported_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theme_module.subset_font.cache_clear()
    monkeypatch.setattr(theme_module, "__file__", str(tmp_path / "theme.py"))
    drawing = Drawing(100, 20, "letters")
    drawing.text(5, 5, "A", 5)
    with pytest.raises(ExternalError, match=r"no .*OpenSans-Regular.ttf.*reinstall it$"):
        drawing.source()
