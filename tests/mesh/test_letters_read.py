"""Letters in meshes that others made are read, however they are turned, and told from other engravings."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import shapely
from shapely import affinity
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.features import features
from fabkit.mesh.letters import Letter, read_letter
from fabkit.mesh.part import Part
from fabkit.model.library import load_set
from tests.support import foreign
from tests.support.foreign import Make, read

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
DIGITS = "0123456789"


def lettered(label: str, turn: int, mirrored: bool = False, font: str = "shipped") -> Part:
    """A square with a letter on its face, lying on a lattice of squares."""
    fonts: dict[str, Callable[[str], BaseGeometry]] = {
        "shipped": foreign.shipped_font,
        "blocks": lambda text: shapely.box(-0.3, -0.5, 0.3, 0.5).difference(
            shapely.box(-0.1, -0.5, 0.1, 0.1 * (ord(text) % 5))
        ),
        "disc": lambda text: shapely.Point(0, 0).buffer(0.4),
        "ring": lambda text: (
            shapely.Point(0, 0).buffer(0.5).difference(shapely.Point(0, 0).buffer(0.4))
        ),
        "thin": lambda text: foreign.shipped_font(text).buffer(-0.055),
    }

    def draw(text: str) -> BaseGeometry:
        glyph = affinity.rotate(fonts[font](text), 90 * turn, origin=(0, 0))
        return affinity.scale(glyph, -1, 1, origin=(0, 0)) if mirrored else glyph

    make = Make(letter=9.0, letter_font=draw, magnet=8.0)
    mesh = foreign.build(shapely.box(0, 0, 2, 1), make, label)
    (part,) = read([foreign.shell(mesh)], load_set("cubimagici"))
    return part


def letter_on(part: Part, texts: str) -> Letter | None:
    found = features(part)
    assert len(found.recesses) == 1
    return read_letter(found.labels, list(texts), 4)


@pytest.mark.parametrize(
    ("texts", "more"),
    [
        (ALPHABET[1::4], 0),
        pytest.param(DIGITS, 0, marks=pytest.mark.integration),
        *(pytest.param(ALPHABET, turn, marks=pytest.mark.long) for turn in range(4)),
    ],
)
def test_every_letter_is_read_however_it_is_turned(texts: str, more: int) -> None:
    for number, text in enumerate(texts):
        letter = letter_on(lettered(text, (number + more) % 4), texts)
        assert letter is not None, text
        assert letter.text == text
        assert not letter.mirrored
        assert letter.likeness > 0.97


def test_letters_in_a_mirror_are_told() -> None:
    for text in "BGNZ":
        letter = letter_on(lettered(text, 0, mirrored=True), text)
        assert letter is not None, text
        assert letter.mirrored, text


@pytest.mark.every(2)
@pytest.mark.parametrize("font", ["blocks", "disc", "ring"])
def test_other_engravings_are_no_letter(font: str) -> None:
    for text in "A5":
        assert letter_on(lettered(text, 1, font=font), ALPHABET) is None, text


@pytest.mark.integration
def test_letters_of_another_weight_are_never_another_letter() -> None:
    for text in ALPHABET[::3]:
        letter = letter_on(lettered(text, 0, font="thin"), ALPHABET)
        assert letter is None or letter.text == text, text


def test_without_a_letter_there_is_none() -> None:
    (part,) = read(
        [foreign.shell(foreign.build(shapely.box(0, 0, 2, 1), Make(magnet=8)))],
        load_set("cubimagici"),
    )
    assert letter_on(part, ALPHABET) is None
