"""Every eye can distinguish the pieces: by their colours, and by joints and letters besides."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations, product

import pytest

from fabkit.core.colours import ink_on
from fabkit.output.theme import THEMES, Theme
from fabkit.sets.library import load_set, shipped_names
from fabkit.sets.piece_reader import PALETTE
from tests.support.colours import VISIONS, contrast_ratio, difference, lab, linear, seen

#: Two colours that differ by less, by CIEDE2000, are alike; about four times what is just seen.
ALIKE = 10.0
#: For letters and for lines (WCAG 2.2, 1.4.3 and 1.4.11).
READABLE, VISIBLE = 4.5, 3.0
#: For letters as large as those of pieces, which is asked of colours as others see them.
LARGE = 3.0
SOME_COLOURS = [f"#{r:02x}{g:02x}{b:02x}" for r, g, b in product(range(0, 256, 51), repeat=3)]


def shipped_colours() -> list[str]:
    pieces = [piece for name in shipped_names() for piece in load_set(name).pieces]
    return sorted({piece.colour for piece in pieces} | {piece.tone for piece in pieces} - {""})


def test_letters_can_be_read_on_every_colour_and_text_on_the_paper() -> None:
    for colour in shipped_colours():
        for vision in VISIONS:
            assert contrast_ratio(seen(ink_on(colour), vision), seen(colour, vision)) >= LARGE, (
                colour
            )
    for colour in [*shipped_colours(), *SOME_COLOURS]:
        assert contrast_ratio(linear(ink_on(colour)), linear(colour)) >= READABLE
    for theme in THEMES.values():
        for ink, below in (("ink", "paper"), ("quiet", "paper"), ("quiet", "ground")):
            lights = [linear(getattr(theme, role)) for role in (ink, below)]
            assert contrast_ratio(*lights) >= READABLE, (theme.name, ink, below)


def shows_joints(theme: Theme, colours: Iterable[str], vision: str) -> bool:
    """Whether one of a joint's two lines stands out from each of the colours."""
    lines = [seen(line, vision) for line in (theme.edge, theme.joint)]
    return all(
        max(contrast_ratio(line, seen(colour, vision)) for line in lines) >= VISIBLE
        for colour in colours
    )


@pytest.mark.parametrize(("theme", "vision"), product(THEMES.values(), VISIONS))
def test_joints_stand_out_from_every_colour(theme: Theme, vision: str) -> None:
    assert shows_joints(theme, [*shipped_colours(), *SOME_COLOURS], vision)
    # A dark line alone does not, nor a light one.
    assert not shows_joints(replace(theme, joint=theme.edge), ["#24408e"], vision)
    assert not shows_joints(replace(theme, edge=theme.joint), ["#f5d547"], vision)


def least_difference(colours: Iterable[str]) -> float:
    """That of the two which some eye distinguishes least."""
    return min(
        difference(lab(seen(one, vision)), lab(seen(other, vision)))
        for one, other in combinations(colours, 2)
        for vision in VISIONS
    )


@pytest.mark.in_turn
@pytest.mark.parametrize("name", shipped_names())
def test_no_two_pieces_of_a_set_look_alike(name: str) -> None:
    pieces = load_set(name).pieces
    assert least_difference(piece.colour for piece in pieces) >= ALIKE
    for piece in pieces:
        assert not piece.tone or least_difference([piece.colour, piece.tone]) >= ALIKE


def test_no_two_colours_of_the_palette_look_alike() -> None:
    assert len(set(PALETTE)) == 16
    assert least_difference(PALETTE) >= 12
    for one, other in combinations(PALETTE, 2):
        assert difference(lab(linear(one)), lab(linear(other))) >= 19
    # Lime and yellow, and green and red, as the toys have them.
    assert least_difference(["#9bd24a", "#f5d547"]) < ALIKE
    assert least_difference(["#3fa34d", "#d7263d"]) < ALIKE
