"""Pieces are told apart by every eye: by their colours, and by joints and letters besides."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
import shapely

from fabkit.model.library import load_set, shipped_names
from fabkit.model.setfile import PALETTE
from fabkit.output.challenge import challenge_sheet
from fabkit.output.theme import THEMES, Theme, ink_on
from fabkit.output.web.document import style_sheet
from tests.support.colours import VISIONS, contrast, difference, lab, linear, seen
from tests.support.drawings import Case, case, of_class, pixels, root_of, shapes

#: Two colours that differ by less, by CIEDE2000, are alike; about four times what is just seen.
ALIKE = 10.0
#: For letters and for lines (WCAG 2.2, 1.4.3 and 1.4.11).
READABLE, VISIBLE = 4.5, 3.0
#: For letters as large as those of pieces, which is asked of colours as others see them.
LARGE = 3.0
GREYS = ["#000000", "#777777", "#ffffff"]
SOME_COLOURS = [f"#{r:02x}{g:02x}{b:02x}" for r, g, b in product(range(0, 256, 51), repeat=3)]


def shipped_colours() -> list[str]:
    pieces = [piece for name in shipped_names() for piece in load_set(name).pieces]
    return sorted({piece.colour for piece in pieces} | {piece.tone for piece in pieces} - {""})


@pytest.mark.parametrize("vision", VISIONS)
def test_letters_can_be_read_on_every_colour(vision: str) -> None:
    for colour in shipped_colours():
        assert contrast(seen(ink_on(colour), vision), seen(colour, vision)) >= LARGE, colour
    for colour in [*shipped_colours(), *SOME_COLOURS]:
        assert contrast(linear(ink_on(colour)), linear(colour)) >= READABLE


@pytest.mark.parametrize("theme", THEMES.values(), ids=lambda theme: theme.name)
def test_text_can_be_read_on_the_paper(theme: Theme) -> None:
    for ink, below in (
        (theme.ink, theme.paper),
        (theme.quiet, theme.paper),
        (theme.quiet, theme.ground),
    ):
        assert contrast(linear(ink), linear(below)) >= READABLE
    for line in (theme.ink, theme.quiet):
        assert contrast(linear(line), linear(theme.paper)) >= VISIBLE


def shows_joints(theme: Theme, colours: Iterable[str], vision: str) -> bool:
    """Whether one of a joint's two lines stands out from each of the colours."""
    lines = [seen(line, vision) for line in (theme.edge, theme.joint)]
    return all(
        max(contrast(line, seen(colour, vision)) for line in lines) >= VISIBLE for colour in colours
    )


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("theme", THEMES.values(), ids=lambda theme: theme.name)
def test_joints_stand_out_from_every_colour(theme: Theme, vision: str) -> None:
    assert shows_joints(theme, [*shipped_colours(), *SOME_COLOURS], vision)
    # A dark line alone does not, nor a light one.
    assert not shows_joints(replace(theme, joint=theme.edge), ["#24408e"], vision)
    assert not shows_joints(replace(theme, edge=theme.joint), ["#f5d547"], vision)


#: What lies below a piece on the page to play on: the page, the board, the seats of balls.
GROUNDS = ("paper", "seat", "silhouette")


def faint_edges(style: str, vision: str) -> list[str]:
    """From what the line around a piece does not stand out on the page, light and dark."""
    named = r"--([a-z-]+): ([^;]+);"
    is_dark = re.compile(r"^@media screen and \(prefers-color-scheme: dark\)(.*\n?.*)\} \}$", re.M)
    dark = dict(re.findall(named, " ".join(is_dark.findall(style))))
    light = dict(re.findall(named, is_dark.sub("", style)))
    (line,) = re.findall(r"^\.piece \.body \{ stroke: var\(--([a-z]+)\);", style, re.M)
    found = []
    for name, theme in (("light", light), ("dark", light | dark)):
        edge = theme[theme[line].removeprefix("var(--").removesuffix(")")]
        found += [
            f"{name}: {ground}"
            for ground in GROUNDS
            if contrast(seen(edge, vision), seen(theme[ground], vision)) < VISIBLE
        ]
    return found


@pytest.mark.parametrize("vision", VISIONS)
def test_on_a_page_a_lone_piece_has_an_edge_that_is_seen(vision: str) -> None:
    style = style_sheet()
    assert faint_edges(style, vision) == []
    # A dark line on a dark page is none.
    plain = style.replace("--outline: var(--joint)", "--outline: var(--edge)")
    assert faint_edges(plain, vision) == ["dark: paper", "dark: seat"]


def neighbours(drawn: Case) -> set[tuple[str, str]]:
    """Pairs of pieces of a solution that share an edge."""
    puzzle, entry = drawn
    of_edge = {
        edge: one
        for one, cells in (entry.solution or {}).items()
        for cell in cells
        for edge in puzzle.lattice.cell_edges(cell)
    }
    pairs = ((one, of_edge.get((end, start), one)) for (start, end), one in of_edge.items())
    return {(min(pair), max(pair)) for pair in pairs if len(set(pair)) == 2}


def least_difference(colours: Iterable[str]) -> float:
    """That of the two which some eye tells apart least."""
    return min(
        difference(lab(seen(one, vision)), lab(seen(other, vision)))
        for one, other in combinations(colours, 2)
        for vision in VISIONS
    )


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


def joints_seen(drawn: Case, theme: str) -> list[bool]:
    """For each two neighbours: whether a line is seen between them.

    Across the middle of their longest common edge, a pixel stands out from each of them.
    """
    puzzle, entry = drawn
    source = challenge_sheet(puzzle, replace(entry, given=()), 20.0, theme=theme)
    found, per_mm = pixels(source, 16.0)
    areas = dict(
        zip(
            [piece.id for piece in puzzle.pieces if piece.id in (entry.solution or {})],
            shapes(root_of(source), "piece"),
            strict=True,
        )
    )
    seen_ones = []
    for pair in sorted(neighbours(drawn)):
        common = areas[pair[0]].boundary.intersection(areas[pair[1]].buffer(2e-3))
        edges = [
            ends
            for line in shapely.get_parts(common)
            for ends in zip(line.coords, line.coords[1:], strict=False)
        ]
        (x0, y0), (x1, y1) = max(edges, key=lambda ends: np.hypot(*np.subtract(*ends)))
        across = np.array([y0 - y1, x1 - x0]) / np.hypot(x1 - x0, y1 - y0)
        middle = np.array([x0 + x1, y0 + y1]) / 2
        spots = [middle + t * across for t in np.linspace(-0.6, 0.6, 60)]
        colours = [
            "#{:02x}{:02x}{:02x}".format(*found[round(y * per_mm), round(x * per_mm)])
            for x, y in spots
        ]
        seen_ones.append(
            all(
                max(
                    contrast(seen(one, vision), seen(puzzle.piece(side).colour, vision))
                    for one in colours
                )
                >= VISIBLE
                for side in pair
                for vision in VISIONS
            )
        )
    return seen_ones


@pytest.mark.every(12)
@pytest.mark.parametrize("colour", ["", *GREYS])
@pytest.mark.parametrize(
    ("name", "theme"),
    [("iqstars", "dark"), ("even4-02", "light"), ("mixed1-3-e119", "dark")],
)
def test_between_neighbours_a_joint_is_seen(name: str, theme: str, colour: str) -> None:
    puzzle, entry = case(name)
    if colour:  # a set of one's own may have pieces of one colour
        pieces = tuple(replace(piece, colour=colour) for piece in puzzle.pieces)
        puzzle = replace(puzzle, pieces=pieces)
    found = joints_seen((puzzle, entry), theme)
    assert found
    assert all(found)


@pytest.mark.parametrize("name", ["even4-02", "iqfit"])
def test_every_piece_of_a_solution_has_its_letter(name: str) -> None:
    puzzle, entry = case(name)
    root = root_of(challenge_sheet(puzzle, replace(entry, given=()), 20.0))
    pieces = list(of_class(root, "piece"))
    assert len(list(of_class(root, "label"))) == len(pieces) == len(entry.solution or {})
