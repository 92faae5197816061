"""Blueprints against independent geometry: insets, outlines."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st
from shapely import Polygon

from fabkit.drawing.draft import draft_flat_piece
from fabkit.drawing.outline import inset_ring, offset_outline, rings_mm
from fabkit.model.lattice import Cell, Lattice
from fabkit.model.puzzle import to_units
from fabkit.profiles.profile_file import load_profile
from fabkit.sets.library import load_set
from tests.support import analytic, cuts
from tests.support.strategies import cell_sets, outline_of

#: Insets that swallow no edge: between two 45-degree tips half a diagonal loses 4.8 of them.
SMALL_INSETS = st.floats(0.01, 0.13)


def share_kept(lattice: Lattice) -> float:
    """How much of such an inset swallows no edge of these cells: kites and drafters have shorter
    ones.
    """
    cell = next(iter(lattice.corners))
    ring = to_units(lattice, lattice.ring(cell))
    edges = [math.dist(here, there) for here, there in zip(ring, (*ring[1:], ring[0]), strict=True)]
    return 1.0 if min(edges) > 0.5 else 0.25


@given(cell_sets(most=16), SMALL_INSETS)
def test_inset_rings_are_a_mitred_buffer(
    shape: tuple[Lattice, frozenset[Cell]], inset: float
) -> None:
    outline = outline_of(shape, unit_mm=1.0)
    inset *= share_kept(shape[0])
    rings = [inset_ring(ring, inset) for ring in rings_mm(outline)]
    moved = Polygon(rings[0], rings[1:])
    assert [len(ring) for ring in rings] == [len(ring) for ring in rings_mm(outline)]
    assert moved.is_valid
    expected = analytic.inset_outline(outline, inset)
    # On a grid: GEOS may find the union of two polygons whose corners differ by 1e-17 to be both.
    assert moved.symmetric_difference(expected, grid_size=1e-9).area < 1e-6


@given(cell_sets(most=16), st.floats(0.05, 0.3), st.floats(0.3, 1.5))
def test_the_area_of_a_printed_outline(
    shape: tuple[Lattice, frozenset[Cell]], inset_mm: float, flat_mm: float
) -> None:
    """A flat of width w cuts w^2 / 4 times cot(angle / 2) off an acute tip."""
    outline = outline_of(shape, unit_mm=20.0)
    profile = replace(load_profile(), inset_mm=inset_mm, tip_flat_mm=flat_mm)
    tips = [1 / math.tan(angle / 2) for angle in cuts.angles(outline) if angle < 1.57]
    area = cuts.area_inside(outline, inset_mm) - flat_mm**2 / 4 * sum(tips)
    inset = offset_outline(outline, profile)
    assert inset.exterior.is_ccw
    assert inset.area == pytest.approx(area, rel=1e-9)
    corners = [one for ring in shapely.get_rings(inset) for one in analytic.corners(ring)]
    edges_mm = [math.dist(before, here) for before, here, _, _ in corners]
    assert sum(edge == pytest.approx(flat_mm) for edge in edges_mm) >= len(tips)


@pytest.mark.every(4)
@pytest.mark.parametrize("set_name", cuts.FLAT_SETS)
@pytest.mark.parametrize("preset", cuts.PRESETS)
def test_outlines_are_those_of_the_drawing(set_name: str, preset: str) -> None:
    puzzle, profile = load_set(set_name), load_profile([preset], ["label.faces=none"])
    for drawing, piece in zip(analytic.drawings(set_name), puzzle.pieces, strict=True):
        blueprint = draft_flat_piece(puzzle, piece, profile)
        assert (piece.id, piece.label) == (drawing.id, drawing.label)
        assert drawing.colour in (None, blueprint.colour)
        outline = analytic.printed_outline(drawing.outline, profile)
        for found, inset_mm in (
            (blueprint.outline, 0.0),
            (blueprint.face, profile.top_chamfer_mm),
            (blueprint.foot, profile.foot_chamfer_mm),
        ):
            expected = analytic.inset_outline(outline, inset_mm)
            assert found.symmetric_difference(expected, grid_size=1e-9).area < 1e-6


def test_letters_keep_their_margin_on_both_faces() -> None:
    settings = ["top_chamfer=0 mm", "foot_chamfer=0.8 mm", "label.cap_height=14 mm"]
    profile, puzzle = load_profile(["flippable"], settings), load_set("fridgeiq")
    for piece in puzzle.pieces[::3]:
        blueprint = draft_flat_piece(puzzle, piece, profile)
        label, margin_mm = blueprint.label, profile.label_margin_mm - 0.01
        assert label
        assert label.back
        for letter, face in ((label.front, blueprint.face), (label.back, blueprint.foot)):
            assert face.buffer(-margin_mm).contains(letter.polygon())
