"""Pieces on pegs: what their cells look like, and where their pegs are, drawn and on the mesh."""

from __future__ import annotations

import itertools
import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from shapely import LineString, Point, Polygon, affinity, union_all
from shapely.geometry.base import BaseGeometry

from fabkit.core.errors import InputError
from fabkit.drawing.cells import cell_shape_outline
from fabkit.drawing.draft import FlatDrawing, draft_all, draft_flat_piece
from fabkit.drawing.outline import chamfer_outline
from fabkit.model.lattice import LATTICES, Cell
from fabkit.model.piece import Form
from fabkit.model.polygon import rings_of_cells
from fabkit.profiles.profile import CELL_SHAPES, Profile
from fabkit.profiles.profile_file import load_profile
from fabkit.sets.library import load_set
from fabkit.solve.answer import solve
from fabkit.solve.encoding import to_exact_cover
from tests.support import analytic, measure
from tests.support.prints import print_one

STARS = load_set("iqstars")
Place = tuple[float, float]
#: A ring of six cells around a hole, which stays one.
RING = [(0, 0), (0, 1), (1, -1), (1, 1), (2, 0), (2, 1)]


def profile_of(shape: str) -> Profile:
    return load_profile((), [f"cell.shape={shape}"])


@cache
def drafts(shape: str) -> list[FlatDrawing]:
    return draft_all(STARS, STARS.pieces, profile_of(shape), draft_flat_piece)


def middles(piece_id: str, unit_mm: float) -> set[Place]:
    """The cells' middles: rows lie half the root of three apart, odd ones half a unit aside."""
    found = {STARS.lattice.row_col(cell) for cell in STARS.piece(piece_id).forms[0].cells}
    return {
        (round((col + (row % 2) / 2) * unit_mm, 6), round(-row * math.sqrt(0.75) * unit_mm, 6))
        for row, col in found
    }


def joined(places: set[Place], count: int, unit_mm: float) -> list[tuple[Place, ...]]:
    """The pairs or trios of cells that are all neighbours of each other."""
    return [
        some
        for some in itertools.combinations(sorted(places), count)
        if all(math.dist(*pair) < 1.01 * unit_mm for pair in itertools.combinations(some, 2))
    ]


def outline_at(cells: frozenset[Cell], profile: Profile) -> Polygon:
    form = Form("", cells, rings_of_cells(STARS.lattice, cells))
    return cell_shape_outline(STARS.lattice, form, profile)


# --- outlines -------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", CELL_SHAPES)
def test_cells_lie_within_their_hexagons_and_above_their_pegs(shape: str) -> None:
    profile = profile_of(shape)
    for drawing, blueprint in zip(analytic.drawings("iqstars"), drafts(shape), strict=True):
        hexagons = analytic.printed_outline(drawing.outline, profile)
        assert blueprint.outline.difference(hexagons).area < 1e-6
        drawn = affinity.scale(drawing.outline, profile.unit_mm, profile.unit_mm, origin=(0, 0))
        assert blueprint.canonical.symmetric_difference(drawn).area < 1e-6
        share = blueprint.outline.area / hexagons.area
        assert share == pytest.approx(1) if shape == "hexagon" else 0.6 < share < 0.97
        assert blueprint.outline.is_valid
        assert blueprint.outline.exterior.is_ccw
        assert not blueprint.outline.interiors
        places = {(round(x, 6), round(y, 6)) for x, y in (s.centre_mm for s in blueprint.pegs)}
        assert places == middles(blueprint.piece, profile.unit_mm)
        assert {peg.diameter_mm for peg in blueprint.pegs} == {profile.peg_mm}
        assert blueprint.back_mm == profile.peg_height_mm
        assert blueprint.thickness_mm == profile.thickness_mm + profile.peg_height_mm
        assert (blueprint.facing, blueprint.recesses) == ("down", ())
        assert blueprint.pause_height_mm is None


def test_discs_are_as_wide_as_the_unit_less_twice_the_inset() -> None:
    profile = profile_of("disc")
    for blueprint in drafts("disc"):
        places = middles(blueprint.piece, profile.unit_mm)
        radius_mm = profile.unit_mm / 2 - profile.inset_mm
        shapes: list[BaseGeometry] = [Point(one).buffer(radius_mm, quad_segs=200) for one in places]
        for pair in joined(places, 2, profile.unit_mm):
            shapes.append(LineString(pair).buffer(profile.cell_link_mm / 2, cap_style="flat"))
        # What three bars close in is filled.
        shapes += [Polygon(trio) for trio in joined(places, 3, profile.unit_mm)]
        expected = union_all(shapes)
        assert blueprint.outline.hausdorff_distance(expected) < 0.0105
        assert blueprint.outline.difference(expected).area < 1e-3


def test_points_of_stars_are_cut_to_a_flat() -> None:
    profile = profile_of("star")
    for blueprint in drafts("star"):
        found = [*analytic.corners(blueprint.outline.exterior)]
        corners = np.degrees([angle for *_, angle in found])
        assert corners.min() > 89.9
        flat = (corners < 150) & (np.roll(corners, -1) < 150)
        edges_mm = np.array([math.dist(here, after) for _, here, after, _ in found])
        assert edges_mm[flat] == pytest.approx(profile.tip_flat_mm)
        # Every cell has six points, and of each three that meet within a piece none is left.
        places = middles(blueprint.piece, profile.unit_mm)
        assert flat.sum() == 6 * len(places) - 3 * len(joined(places, 3, profile.unit_mm))


@pytest.mark.parametrize("shape", CELL_SHAPES)
def test_a_hole_of_the_piece_stays_and_what_bars_close_in_is_filled(shape: str) -> None:
    lattice = LATTICES["hexagon"]
    ring = frozenset(cell for row, col in RING for cell in lattice.cells_at(row, col))
    around = outline_at(ring, profile_of(shape))
    assert len(around.interiors) == 1
    middle = frozenset(lattice.cells_at(1, 0))
    assert not outline_at(ring | middle, profile_of(shape)).interiors


@pytest.mark.parametrize("shape", CELL_SHAPES)
def test_solved_pieces_keep_their_clearance(shape: str) -> None:
    profile = profile_of(shape)
    (challenge,) = STARS.challenges
    encoded = to_exact_cover(STARS, challenge)
    layout = encoded.decode(solve(encoded, "first").solutions[0])
    outlines = [outline_at(cells, profile) for cells in layout.values()]
    gaps = [a.distance(b) for a, b in itertools.combinations(outlines, 2)]
    assert min(gaps) >= 2 * profile.inset_mm - 1e-9
    # Stars meet with the flats of their points, all others side by side.
    assert shape == "star" or min(gaps) == pytest.approx(2 * profile.inset_mm, abs=1e-9)


# --- meshes ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "step"),
    [("star", 7), *(pytest.param(one, 3, marks=pytest.mark.integration) for one in CELL_SHAPES)],
)
def test_meshes_of_pieces_on_pegs(shape: str, step: int, tmp_path: Path) -> None:
    profile = profile_of(shape)
    for blueprint in drafts(shape)[::step]:
        mesh = print_one(blueprint, tmp_path / f"{blueprint.piece}.stl")
        assert measure.is_closed(mesh)
        assert len(measure.shells(mesh)) == 1
        assert mesh.bounds[:, 2] == pytest.approx([0, blueprint.thickness_mm], abs=1e-5)
        assert mesh.volume == pytest.approx(volume_mm3(blueprint), rel=3e-4)
        pegs = measure.section(mesh, 0.51 * blueprint.back_mm)
        places = middles(blueprint.piece, profile.unit_mm)
        discs = union_all([Point(one).buffer(profile.peg_mm / 2, quad_segs=64) for one in places])
        assert pegs.hausdorff_distance(discs) < 0.01
        middle_mm = blueprint.back_mm + 0.51 * profile.thickness_mm
        cut = measure.section(mesh, middle_mm)
        assert measure.difference_mm2(cut, blueprint.outline) < 0.005
        for height_mm, inside_mm in (
            (blueprint.back_mm + 0.013, profile.foot_chamfer_mm - 0.013),
            (blueprint.thickness_mm - profile.top_chamfer_mm + 0.013, 0.013),
        ):
            expected = chamfer_outline(blueprint.outline, inside_mm)
            found = measure.filled(measure.section(mesh, height_mm))
            assert found.hausdorff_distance(expected) < 0.01


def volume_mm3(blueprint: FlatDrawing) -> float:
    """The plate between its chamfers, by Simpson's rule, with its pegs and without its letter."""
    outline = blueprint.outline
    found = outline.area * (blueprint.thickness_mm - blueprint.back_mm)
    for width_mm in (blueprint.top_chamfer_mm, blueprint.foot_chamfer_mm):
        middle, inner = chamfer_outline(outline, width_mm / 2), chamfer_outline(outline, width_mm)
        found -= width_mm * (5 * outline.area - 4 * middle.area - inner.area) / 6
    for peg in blueprint.pegs:  # a cylinder and a truncated cone
        radius_mm, end_mm = peg.diameter_mm / 2, peg.diameter_mm / 2 - peg.lead_in_mm
        found += math.pi * radius_mm**2 * (peg.height_mm - peg.lead_in_mm)
        found += math.pi * (radius_mm**3 - end_mm**3) / 3
    label = blueprint.label
    return found - (label.front.polygon().area * label.depth_mm if label else 0.0)


# --- refusals -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            ["peg.diameter=19.1 mm"],
            "pieces red, orange, yellow, green, blue, indigo, pink: peg.diameter 19.1 mm is too "
            "large: the back of a cell has room for 19 mm; choose a smaller peg.diameter, a larger "
            "unit or another cell.shape",
        ),
        (["cell.shape=star", "peg.diameter=14 mm"], "the back of a cell has room for 12."),
        (
            ["peg.height=0.3 mm"],
            "peg.height is 0.3 mm; expected 0.4 mm (2 layers) to 10 mm (the peg's "
            "diameter), or 0 mm for pieces without pegs",
        ),
        (["peg.height=10.1 mm"], "peg.height is 10.1 mm; expected 0.4 mm"),
        (
            ["cell.shape=disc", "cell.link=11.4 mm"],
            "cell.link is 11.4 mm; expected 0.8 mm to 11.316 mm, the "
            "edge of a hexagon; choose another cell.link or a larger unit",
        ),
        (["cell.shape=star", "cell.link=0.7 mm"], "cell.link is 0.7 mm"),
        (["cell.shape=star", "tip_flat=4 mm"], "a tip flat of 4 mm cuts 4 mm off an edge of 6.6"),
        (["cell.shape=disc", "cell.link=1 mm"], "a chamfer of 0.6 mm removes a neck of the piece"),
    ],
)
def test_pegs_that_cannot_be(settings: list[str], message: str) -> None:
    with pytest.raises(InputError) as refusal:
        draft_all(STARS, STARS.pieces, load_profile((), settings), draft_flat_piece)
    assert message in str(refusal.value)


@pytest.mark.parametrize(
    "settings",
    [
        ["cell.shape=star", "cell.link=2 mm", "tip_flat=1.5 mm"],
        pytest.param(["peg.diameter=18.99 mm", "peg.height=0.4 mm"], marks=pytest.mark.long),
        pytest.param(["cell.shape=disc", "cell.link=11.31 mm"], marks=pytest.mark.long),
    ],
)
def test_pegs_at_the_limit_build(settings: list[str]) -> None:
    from fabkit.solid.builder import build_solid

    blueprint = draft_flat_piece(STARS, STARS.piece("red"), load_profile((), settings))
    solid = build_solid(blueprint)
    assert solid.isValid()
    assert solid.Volume() == pytest.approx(volume_mm3(blueprint), rel=1e-5)
