"""The sheet of pieces, measured: in its picture they have the size that is stated."""

from __future__ import annotations

import numpy as np
from shapely import Point

from fabkit.drawing.draft import draft_all, draft_flat_piece
from fabkit.output.pieces import piece_sheet
from fabkit.profiles.profile_file import load_profile
from fabkit.sets.library import load_set
from tests.support.drawings import of_class, pixels, rings, root_of, shapes, texts


def test_pieces_are_as_large_as_their_dimension_lines_say() -> None:
    for name in ("fridgeiq", "iqstars"):
        puzzle = load_set(name)
        profile, some = load_profile((), (), puzzle.profile_values), puzzle.pieces[:3]
        source = piece_sheet(puzzle, some, profile, "light")
        found, per_mm = pixels(source, 5)
        root = root_of(source)
        dimensions = [text.removesuffix(" mm") for text in texts(root) if text.endswith(" mm")]
        lines = [rings(path)[0] for path in of_class(root, "measure")]
        spans = [line for line in lines if max(np.ptp(line, axis=0)) > 5]
        for index, blueprint in enumerate(draft_all(puzzle, some, profile, draft_flat_piece)):
            wanted = [int(blueprint.colour[i : i + 2], 16) for i in (1, 3, 5)]
            ys, xs = np.nonzero(np.abs(found.astype(int) - wanted).max(axis=2) <= 3)
            left, bottom, right, top = blueprint.outline.bounds
            for axis, (shown, wanted) in enumerate(((xs, right - left), (ys, top - bottom))):
                assert abs((np.ptp(shown) + 1) / per_mm - wanted) < 0.6  # less its edge
                assert abs(np.ptp(spans[2 * index + axis], axis=0)[axis] - wanted) < 2e-3
                assert abs(float(dimensions[2 * index + axis]) - wanted) < 0.0521


def test_a_sheet_has_a_bar_and_measures_recess_and_ball_once() -> None:
    for name, wanted in (("fridgeiq", "Ø 10.1 mm, for a 10 x 3 mm magnet"), ("iqfit", "Ø 12 mm")):
        puzzle = load_set(name)
        profile = load_profile((), (), puzzle.profile_values)
        root = root_of(piece_sheet(puzzle, puzzle.pieces, profile, "light"))
        assert texts(root).count(wanted) == 1
        (bar,) = of_class(root, "scale")
        assert np.ptp(rings(bar)[0], axis=0)[0] == 50.0
        assert "50 mm" in texts(root)
    circles = [float(one.get("r", "")) for one in of_class(root, "ink-line") if one.get("r")]
    assert circles == [6.0, 6.0]
    measures = [max(np.ptp(rings(one)[0], axis=0)) for one in of_class(root, "measure")]
    # The last are the pitch and the diameter, each with two strokes.
    assert np.allclose(measures[-6::3], [15.0, 12.0])


def test_balls_are_as_large_as_their_dimension_lines_say() -> None:
    """By their balls, 12 mm at a pitch of 15 mm, and not by the squares of the grid."""
    puzzle = load_set("iqfit")
    blue = puzzle.piece("blue")
    root = root_of(
        piece_sheet(puzzle, [blue], load_profile((), (), puzzle.profile_values), "light")
    )
    assert [text for text in texts(root) if text.endswith(" mm")][1:3] == ["57 mm", "27 mm"]
    balls = [one for one in root.iter() if one.get("fill") == blue.colour and one.get("r")]
    single = balls[: len(blue.forms[0].cells)]
    for axis, wanted in (("cx", 57.0), ("cy", 27.0)):
        middles = [float(one.get(axis, "")) for one in single]
        assert abs(np.ptp(middles) + 2 * float(single[0].get("r", "")) - wanted) < 1e-6
    letters = shapes(root, "label")
    assert len(letters) == len(blue.forms)
    drawn = [Point(float(b.get("cx", "")), float(b.get("cy", ""))).buffer(6) for b in balls]
    assert all(any(ball.contains(letter) for ball in drawn) for letter in letters)
