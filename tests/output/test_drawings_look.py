"""How drawings look: the shipped letters inside them, light and dark, and as PNG pictures."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from fontTools.ttLib import TTFont
from PIL import Image

from fabkit.core.errors import InputError, OutsideError
from fabkit.model.library import load_set
from fabkit.model.profilefile import load_profile
from fabkit.output import theme as theme_module
from fabkit.output.challenge import challenge_sheet, steps_sheet
from fabkit.output.pieces import piece_sheet
from fabkit.output.png import png_of
from fabkit.output.svg import Drawing
from fabkit.output.theme import DARK, LIGHT, ROLES, font_file
from tests.support import browser
from tests.support.drawings import SVG, case, page_mm, root_of

#: A drawing may bring so many bytes of letters.
MOST_LETTERS = 20_000


def pieces(theme: str) -> str:
    puzzle = load_set("fridgeiq")
    return piece_sheet(puzzle, puzzle.pieces, load_profile(), theme)


def starting(theme: str) -> str:
    return challenge_sheet(*case("iqstars"), 20.0, theme=theme)


def chequered(theme: str) -> str:
    return challenge_sheet(*case("cubimagici tray"), 20.0, theme=theme)


def silhouette(theme: str) -> str:
    puzzle, entry = case("mixed")
    return challenge_sheet(puzzle, replace(entry, solution=None), 20.0, theme=theme)


def steps(theme: str) -> str:
    return steps_sheet(*case("iqfit"), 15.0, theme)


DRAWN = (pieces, starting, chequered, silhouette, steps)
drawn = pytest.mark.parametrize("draw", DRAWN, ids=lambda draw: draw.__name__)
Draw = Callable[[str], str]


# --- letters --------------------------------------------------------------------------------------


def fonts_in(source: str) -> dict[int, TTFont]:
    """The fonts inside a drawing by their weights."""
    found = re.findall(
        r"@font-face \{ font-family: 'Open Sans'; font-weight: (\d+); "
        r"src: url\(data:font/ttf;base64,([^)]+)\) \}",
        source,
    )
    return {int(weight): TTFont(io.BytesIO(base64.b64decode(data))) for weight, data in found}


@drawn
def test_a_drawing_brings_just_the_letters_that_it_uses(draw: Draw) -> None:
    source = draw("auto")
    root, fonts = root_of(source), fonts_in(source)
    used: dict[int, set[str]] = {400: set(), 700: set()}
    for text in root.iter(f"{SVG}text"):
        used[int(text.get("font-weight", "400"))] |= set(text.text or "")
    assert root.get("font-family", "").startswith("'Open Sans',")
    for weight, letters in used.items():
        assert set(map(chr, fonts[weight].getBestCmap())) == letters
        whole = TTFont(font_file(weight == 700))
        for letter in letters:
            glyph = whole.getBestCmap()[ord(letter)]
            mine = fonts[weight].getBestCmap()[ord(letter)]
            assert fonts[weight]["hmtx"][mine][0] == whole["hmtx"][glyph][0]
    style = root.find(f"{SVG}style")
    assert style is not None
    assert len(style.text or "") < MOST_LETTERS


def test_letters_that_the_font_lacks_are_left_to_the_reader() -> None:
    drawing = Drawing(100, 20, "letters")
    drawing.text(5, 5, "Aש☃", 5)
    (font,) = fonts_in(drawing.source()).values()
    assert set(font.getBestCmap()) == {ord("A")}
    assert "Aש☃" in drawing.source()


def test_a_missing_or_damaged_font_is_told_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theme_module.subset.cache_clear()
    monkeypatch.setattr(theme_module, "__file__", str(tmp_path / "theme.py"))
    drawing = Drawing(100, 20, "letters")
    drawing.text(5, 5, "A", 5)
    with pytest.raises(
        OutsideError, match=r"there is no .*OpenSans-Regular.ttf.*install it again$"
    ):
        drawing.source()
    (tmp_path / "fonts").mkdir()
    (tmp_path / "fonts/OpenSans-Regular.ttf").write_bytes(b"no font")
    with pytest.raises(OutsideError, match=r"cannot read .*OpenSans-Regular.ttf: .*install fabkit"):
        drawing.source()
    with pytest.raises(OutsideError, match=r"OpenSans-Bold\.ttf"):
        png_of('<svg viewBox="0 0 10 10"/>')
    theme_module.subset.cache_clear()


# --- light and dark ---------------------------------------------------------------------------------


def as_dark_reader_sees(source: str) -> list[ElementTree.Element]:
    """The elements of a drawing that follows its reader, with what its style says of dark pages."""
    root = root_of(source)
    rules = dict(re.findall(r"\.fabkit \.([\w-]+) \{ ((?:fill|stroke): #\w{6}) \}", source))
    for element in root.iter():
        for name in element.get("class", "").split():
            if name in rules:
                key, colour = rules[name].split(": ")
                element.set(key, colour)
    return list(root.iter())


@drawn
def test_a_drawing_that_follows_its_reader_is_the_dark_one_on_dark_pages(draw: Draw) -> None:
    auto, dark = draw("auto"), draw("dark")
    assert auto.count("@media (prefers-color-scheme: dark)") == 1
    assert "@media" not in dark
    found = as_dark_reader_sees(auto)
    wanted = list(root_of(dark).iter())
    for one, other in zip(found, wanted, strict=True):
        if one.tag != f"{SVG}style":
            assert one.attrib == other.attrib


@drawn
def test_every_colour_is_of_the_theme_or_of_a_piece(draw: Draw) -> None:
    sets = ("fridgeiq", "iqstars", "iqfit", "cubimagici")
    every = [piece for name in sets for piece in load_set(name).pieces]
    own = {piece.colour for piece in every} | {piece.tone for piece in every}
    for theme in (LIGHT, DARK):
        allowed = own | {getattr(theme, role) for role in ROLES}
        allowed |= {"#000000", "#ffffff", "none"}
        root = root_of(draw(theme.name))
        used = {one.get(key) for one in root.iter() for key in ("fill", "stroke")} - {None}
        assert used <= allowed
        paper = root.find(f"{SVG}rect")
        assert paper is not None
        assert paper.get("fill") == theme.paper
        assert (float(paper.get("width", "")), float(paper.get("height", ""))) == page_mm(root)


# --- pictures ---------------------------------------------------------------------------------------


def test_a_picture_has_the_width_that_was_asked_for() -> None:
    source = starting("light")
    wide, high = page_mm(root_of(source))
    for width in (64, 701, 1600):
        picture = Image.open(io.BytesIO(png_of(source, width)))
        assert picture.width == width
        assert picture.height == pytest.approx(width * high / wide, abs=1)
    assert Image.open(io.BytesIO(png_of(source))).width == round(wide * 10)


def test_a_picture_that_would_be_too_high_is_refused() -> None:
    with pytest.raises(InputError, match=r"8000 x 160000 pixels are too many .* at most 2236 wide"):
        png_of(Drawing(10, 200, "long").source(), 8000)


def test_a_picture_of_no_width_in_particular_is_never_too_high(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Held against a limit that takes less time to reach."""
    monkeypatch.setattr("fabkit.output.png._MOST_PIXELS", 1_000_000)
    picture = Image.open(io.BytesIO(png_of(Drawing(30, 340, "high").source())))
    assert picture.size == (297, 3366)
    assert Image.open(io.BytesIO(png_of(Drawing(30, 300, "low").source()))).width == 300


def test_pictures_hold_the_shipped_letters_and_no_others() -> None:
    """A letter that the fonts lack becomes a box, whatever fonts the machine has."""

    def picture(text: str) -> bytes:
        drawing = Drawing(20, 20, "letters", theme="light")
        drawing.text(5, 5, text, 10)
        return png_of(drawing.source(), 200)

    assert picture("A") != picture("B")
    assert picture("ש") == picture("☃") != picture("")


# --- in a browser -----------------------------------------------------------------------------------


@browser.needed
@pytest.mark.integration
def test_chromium_shows_the_shipped_letters_and_the_reader_s_theme(tmp_path: Path) -> None:
    path = tmp_path / "drawing.svg"
    path.write_text(starting("auto"), encoding="utf-8")
    papers = {}
    with browser.started() as chromium:
        for scheme in ("light", "dark"):
            with browser.opened(chromium, path.as_uri(), color_scheme=scheme) as page:
                faces = page.evaluate(
                    "document.fonts.ready.then(() => [...document.fonts].map((f) => f.status))"
                )
                assert faces == ["loaded", "loaded"]
                papers[scheme] = page.evaluate(
                    "getComputedStyle(document.querySelector('rect')).fill"
                )
                # As wide as with the whole font, to a thousandth of the text's size.
                widths = page.evaluate(
                    "[...document.querySelectorAll('text')].map((t) => t.getComputedTextLength())"
                )
    assert papers == {"light": "rgb(255, 255, 255)", "dark": "rgb(22, 24, 29)"}
    font = {bold: TTFont(font_file(bold)) for bold in (False, True)}
    for text, width in zip(root_of(starting("auto")).iter(f"{SVG}text"), widths, strict=True):
        face = font[text.get("font-weight") is not None]
        advances = [face["hmtx"][face.getBestCmap()[ord(c)]][0] for c in text.text or ""]
        size = float(text.get("font-size", ""))
        assert width == pytest.approx(sum(advances) / 2048 * size, abs=0.02 * size)
