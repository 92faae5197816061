"""Drawings, measured: in their pixels, what is shown has the size that is stated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from shapely import Point

from fabkit.drawing.draft import draft_all
from fabkit.model.library import load_set
from fabkit.model.profilefile import load_profile
from fabkit.output.challenge import challenge_sheet
from fabkit.output.pieces import piece_sheet
from fabkit.output.theme import LIGHT
from tests.support.drawings import (
    Case,
    case,
    near,
    of_class,
    pixels,
    rings,
    root_of,
    scale_of,
    shape_of,
    shapes,
    texts,
)

PER_MM, UNIT_MM = 12.0, 10.0
#: A snowflake of one lattice with a hole, one of two, a box, hexagons, balls.
CASES = ("even4-03", "mixed", "fridgeiq square_02", "iqstars board", "iqfit")


def silhouette_mm(source: str) -> tuple[float, float, float]:
    """Width, height and area of what is to be covered, between the middles of its rim.

    Looked for only near the place where the drawing has it, since letters are grey, too.
    """
    found, per_mm = pixels(source, PER_MM)
    (region,) = of_class(root_of(source), "region")
    corners = np.concatenate([np.array(ring) for ring in rings(region)])
    left, top = ((corners.min(axis=0) - 1.5) * per_mm).round().astype(int)
    right, bottom = ((corners.max(axis=0) + 1.5) * per_mm).round().astype(int)
    window = found[top:bottom, left:right]
    rim, paper = near(window, LIGHT.ink, 102), near(window, LIGHT.paper, 2)
    ys, xs = np.nonzero(rim)
    at_left = rim[ys[xs == xs.min()]]  # the rows in which the rim begins at the very left
    thick = np.median(np.argmin(at_left[:, xs.min() :], axis=1))
    wide, high = np.ptp(xs) + 1 - thick, np.ptp(ys) + 1 - thick
    area = np.count_nonzero(~paper) - np.count_nonzero(rim) / 2
    return float(wide / per_mm), float(high / per_mm), float(area / per_mm**2)


def is_true_to_size(source: str, drawn: Case, unit_mm: float) -> bool:
    """Within 0.2 mm of the outline, and 0.5 % of its area."""
    puzzle, entry = drawn
    wanted = shape_of(puzzle, entry, entry.region, unit_mm)
    left, bottom, right, top = wanted.bounds
    wide, high, area = silhouette_mm(source)
    near_enough = abs(wide - (right - left)) < 0.2 and abs(high - (top - bottom)) < 0.2
    return near_enough and abs(area / wanted.area - 1) < 0.005


@pytest.mark.every(2)
@pytest.mark.parametrize("name", CASES)
def test_a_challenge_has_the_size_that_is_stated(name: str) -> None:
    puzzle, entry = case(name)
    alone = replace(entry, solution=None, given=())
    source = challenge_sheet(puzzle, alone, UNIT_MM, theme="light")
    assert scale_of(root_of(source)) == 1
    assert is_true_to_size(source, (puzzle, alone), UNIT_MM)


def test_holes_of_a_silhouette_show_the_paper() -> None:
    puzzle, entry = case("mixed")
    source = challenge_sheet(puzzle, replace(entry, solution=None), 5.0, theme="light")
    found, per_mm = pixels(source, 5.0)
    (region,) = of_class(root_of(source), "region")
    # Around, the hole, and what stands in it.
    outer, hole, within = sorted(
        rings(region), key=lambda ring: -float(np.ptp(np.array(ring), axis=0).max())
    )
    middle = np.mean(within, axis=0)
    lefts = [np.min(ring, axis=0)[0] for ring in (outer, hole, within)]
    for x, colour in (
        (middle[0], LIGHT.silhouette),
        ((lefts[1] + lefts[2]) / 2, LIGHT.paper),
        ((lefts[0] + lefts[1]) / 2, LIGHT.silhouette),
    ):
        at = round(middle[1] * per_mm), round(x * per_mm)
        assert near(found, colour)[at]


@pytest.mark.parametrize("solved", [False, True])
def test_the_unit_is_shown_as_long_as_it_is_drawn(solved: bool) -> None:
    puzzle, entry = case("even")
    sheet = challenge_sheet(puzzle, entry if solved else replace(entry, solution=None), 20.0)
    root = root_of(sheet)
    (bar,) = of_class(root, "unit")
    xs = [x for x, _ in rings(bar)[0]]
    scale = scale_of(root)
    assert scale == (1.5 if solved else 1.0)
    assert max(xs) - min(xs) == pytest.approx(20.0 / scale, abs=1e-3)
    assert any(text.startswith("unit 20 mm") for text in texts(root))


@pytest.mark.parametrize("name", ["fridgeiq", "iqstars"])
def test_pieces_are_as_large_as_their_dimension_lines_say(name: str) -> None:
    puzzle = load_set(name)
    profile = load_profile((), (), puzzle.unit_mm)
    some = puzzle.pieces[:3]
    source = piece_sheet(puzzle, some, profile, "light")
    found, per_mm = pixels(source, 8)
    root = root_of(source)
    said = [text for text in texts(root) if text.endswith(" mm")]
    lines = [rings(path)[0] for path in of_class(root, "measure")]
    spans = [line for line in lines if max(np.ptp(line, axis=0)) > 5]
    for index, (piece, blueprint) in enumerate(
        zip(some, draft_all(puzzle, some, profile), strict=True)
    ):
        ys, xs = np.nonzero(near(found, piece.colour, 3))
        shown = [np.ptp(xs) + 1, np.ptp(ys) + 1]
        left, bottom, right, top = blueprint.outline.bounds
        wanted = [right - left, top - bottom]
        for axis in (0, 1):
            assert shown[axis] / per_mm == pytest.approx(wanted[axis], abs=0.6)  # less its edge
            span = np.ptp(spans[2 * index + axis], axis=0)[axis]
            assert span == pytest.approx(wanted[axis], abs=2e-3)
            assert float(said[2 * index + axis].removesuffix(" mm")) == pytest.approx(
                span, abs=0.0501
            )


def test_a_sheet_of_pieces_has_a_bar_and_measures_recess_and_ball_once() -> None:
    for name, wanted in (
        ("fridgeiq", "Ø 10.1 mm, for a magnet of 10 x 3 mm"),
        ("iqfit", "Ø 12 mm"),
    ):
        puzzle = load_set(name)
        root = root_of(
            piece_sheet(puzzle, puzzle.pieces, load_profile((), (), puzzle.unit_mm), "light")
        )
        assert texts(root).count(wanted) == 1
        (bar,) = of_class(root, "scale")
        assert np.ptp(rings(bar)[0], axis=0)[0] == 50.0
        assert "50 mm" in texts(root)
    circles = [float(one.get("r", "")) for one in of_class(root, "ink-line") if one.get("r")]
    assert circles == [6.0, 6.0]


def test_balls_are_as_large_as_their_dimension_lines_say() -> None:
    """By their balls, 12 mm at a pitch of 15 mm, and not by the squares of the grid."""
    puzzle = load_set("iqfit")
    profile = load_profile((), (), puzzle.unit_mm)
    blue = puzzle.piece("blue")
    root = root_of(piece_sheet(puzzle, [blue], profile, "light"))
    assert [text for text in texts(root) if text.endswith(" mm")][1:3] == ["57 mm", "27 mm"]
    balls = [one for one in root.iter() if one.get("fill") == blue.colour and one.get("r")]
    single = balls[: len(blue.forms[0].cells)]
    for axis, wanted in (("cx", 57.0), ("cy", 27.0)):
        middles = [float(one.get(axis, "")) for one in single]
        assert np.ptp(middles) + 2 * float(single[0].get("r", "")) == pytest.approx(wanted)
    letters = shapes(root, "label")
    assert len(letters) == len(blue.forms)
    drawn = [Point(float(b.get("cx", "")), float(b.get("cy", ""))).buffer(6) for b in balls]
    assert all(any(ball.contains(letter) for ball in drawn) for letter in letters)
