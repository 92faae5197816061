"""Blueprints against independent geometry: insets, outlines."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shapely import Polygon

from fabkit.drawing.draft import draft
from fabkit.drawing.outline import RingMm, inset_ring, printed_outline, rings_mm
from fabkit.model.lattice import Cell, Lattice
from fabkit.model.library import load_set
from fabkit.model.profilefile import load_profile
from tests.support import analytic
from tests.support.strategies import cell_sets, outline_of

#: Insets that swallow no edge: between two 45-degree tips half a diagonal loses 4.8 of them.
SMALL_INSETS = st.floats(0.01, 0.13)
PLANAR_SETS = ("fridgeiq", "cubimagici", "iqblock", "iqstars")


# --- insets and outlines --------------------------------------------------------------------


@given(cell_sets(most=16), SMALL_INSETS)
def test_inset_rings_are_a_mitred_buffer(
    shape: tuple[Lattice, frozenset[Cell]], inset: float
) -> None:
    outline = outline_of(shape, unit_mm=1.0)
    rings = [inset_ring(ring, inset) for ring in rings_mm(outline)]
    moved = Polygon(rings[0], rings[1:])
    assert [len(ring) for ring in rings] == [len(ring) for ring in rings_mm(outline)]
    assert moved.is_valid
    assert moved.symmetric_difference(analytic.moved_in(outline, inset)).area < 1e-9


def angles(ring: RingMm) -> list[float]:
    """The angles on the material's side, by the directions of the edges."""
    found = []
    for before, here, after in zip((ring[-1], *ring[:-1]), ring, (*ring[1:], ring[0]), strict=True):
        back = math.atan2(before[1] - here[1], before[0] - here[0])
        on = math.atan2(after[1] - here[1], after[0] - here[0])
        found.append((back - on) % (2 * math.pi))
    return found


@given(cell_sets(most=16), st.floats(0.05, 0.3), st.floats(0.3, 1.5))
def test_the_area_of_a_printed_outline(
    shape: tuple[Lattice, frozenset[Cell]], inset_mm: float, flat_mm: float
) -> None:
    """Moving all edges in by c leaves A - P c + c^2 times the sum of cot(angle / 2); a flat of
    width w cuts w^2 / 4 times cot(angle / 2) off an acute tip."""
    outline = outline_of(shape, unit_mm=20.0)
    profile = replace(load_profile(), inset_mm=inset_mm, tip_flat_mm=flat_mm)
    all_angles = [angle for ring in rings_mm(outline) for angle in angles(ring)]
    cotangents = [1 / math.tan(angle / 2) for angle in all_angles]
    area = outline.area - outline.length * inset_mm + inset_mm**2 * sum(cotangents)
    tips = [cot for angle, cot in zip(all_angles, cotangents, strict=True) if angle < 1.57]
    area -= sum(flat_mm**2 / 4 * cot for cot in tips)
    printed = printed_outline(outline, profile)
    assert printed.exterior.is_ccw
    assert printed.area == pytest.approx(area, rel=1e-9)
    flats = [edge for edge in edges_mm(printed) if edge == pytest.approx(flat_mm)]
    assert len(flats) >= len(tips)


def edges_mm(polygon: Polygon) -> list[float]:
    return [
        math.dist(start, end)
        for ring in rings_mm(polygon)
        for start, end in zip(ring, (*ring[1:], ring[0]), strict=True)
    ]


@pytest.mark.every(4)
@pytest.mark.parametrize("set_name", PLANAR_SETS)
@pytest.mark.parametrize("preset", ["default", "compact", "petg", "flippable"])
def test_outlines_are_those_of_the_drawing(set_name: str, preset: str) -> None:
    puzzle, profile = load_set(set_name), load_profile([preset], ["label.faces=none"])
    for drawing, piece in zip(analytic.drawings(set_name), puzzle.pieces, strict=True):
        blueprint = draft(puzzle, piece, profile)
        assert (piece.id, piece.label) == (drawing.id, drawing.label)
        assert drawing.colour in (None, blueprint.colour)
        outline = analytic.printed(drawing.outline, profile)
        for found, inset_mm in (
            (blueprint.outline, 0.0),
            (blueprint.face, profile.top_chamfer_mm),
            (blueprint.foot, profile.foot_chamfer_mm),
        ):
            expected = analytic.moved_in(outline, inset_mm)
            assert found.symmetric_difference(expected).area < 1e-6


def test_letters_keep_their_margin_on_both_faces() -> None:
    settings = ["top_chamfer=0 mm", "foot_chamfer=0.8 mm", "label.cap_height=14 mm"]
    profile, puzzle = load_profile(["flippable"], settings), load_set("fridgeiq")
    for piece in puzzle.pieces[::3]:
        blueprint = draft(puzzle, piece, profile)
        label, margin_mm = blueprint.label, profile.label_margin_mm - 0.01
        assert label
        assert label.back
        for letter, face in ((label.front, blueprint.face), (label.back, blueprint.foot)):
            assert face.buffer(-margin_mm).contains(letter.polygon())
