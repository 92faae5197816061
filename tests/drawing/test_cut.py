"""What is cut, against independent geometry: outlines, kerf, letters, magnets, refusals."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import replace
from functools import reduce

import pytest
import shapely
from hypothesis import assume, given
from hypothesis import strategies as st
from shapely import Point, Polygon, affinity

from fabkit.core.errors import InputError
from fabkit.drawing.laser import CHORD_TOLERANCE_MM, CutPiece, draft_cut_piece, draft_cut_pieces
from fabkit.drawing.outline import DrawingError
from fabkit.model.lattice import LATTICES, Cell, Lattice
from fabkit.model.piece import Piece
from fabkit.model.puzzle import PuzzleSet
from fabkit.profiles.profile import Profile
from fabkit.profiles.profile_file import load_profile
from fabkit.sets.library import load_set
from tests.support import analytic, cuts
from tests.support.cuts import FLAT_SETS, MACHINES, PRESETS
from tests.support.sketches import cells
from tests.support.strategies import cell_sets, outline_of, piece_of

PLAIN = ("recess.fit=none", "label.faces=none")
EVERY_CUT = [
    pytest.param(*one, marks=[] if i % 7 == 0 else pytest.mark.long)
    for i, one in enumerate(itertools.product(FLAT_SETS, PRESETS, MACHINES))
]


def set_of(*pieces: Piece, lattice: str = "square") -> PuzzleSet:
    return PuzzleSet("mine", "Mine", LATTICES[lattice], False, pieces, (), (), "", "")


def covers(one: shapely.Geometry, other: shapely.Geometry) -> bool:
    """Whether one area covers another, to a hundredth of a micrometre.

    GEOS takes the difference of two areas for the whole of the first, at times, when edges of
    both are 1e-15 apart; so they are not subtracted.
    """
    return bool(one.buffer(1e-5).contains(other))


def same(one: shapely.Geometry, other: shapely.Geometry) -> bool:
    return covers(one, other) and covers(other, one)


# --- outlines and kerf ----------------------------------------------------------------------


@pytest.mark.parametrize(("set_name", "preset", "machine"), EVERY_CUT)
def test_outlines_letters_and_magnets_are_those_of_the_drawing(
    set_name: str, preset: str, machine: tuple[str, ...]
) -> None:
    profile = cuts.profile_of(preset, machine)
    pieces = cuts.cut_set(set_name, preset, machine)
    for drawing, piece in zip(analytic.drawings(set_name), pieces, strict=True):
        assert piece.piece == drawing.id
        drawn = cuts.canonical(drawing, profile)
        inset, half = profile.laser_inset_mm, profile.kerf_mm / 2
        assert same(piece.outline, cuts.finished(drawing, profile))
        assert same(piece.path, cuts.path(drawing, profile))
        assert piece.outline.area == pytest.approx(cuts.area_inside(drawn, inset), rel=1e-9)
        assert piece.path.area == pytest.approx(cuts.area_inside(drawn, inset - half), rel=1e-9)
        # No tip is cut, no corner bevelled.
        count = len(drawn.exterior.coords)
        assert [len(one.exterior.coords) for one in (piece.outline, piece.path)] == [count] * 2
        assert leaves_the_outline(piece, profile.kerf_mm)
        assert (piece.engraving == ()) == (profile.faces == "none")
        if piece.engraving:
            check_letter(piece, drawing.label, profile)
        assert len(piece.magnets) == (drawing.magnets if profile.has_recesses else 0)
        pockets = [
            Point(one.centre_mm).buffer(analytic.recess_mm(profile) / 2) for one in piece.magnets
        ]
        for circle, recess in zip(piece.magnets, pockets, strict=True):
            assert circle.diameter_mm + profile.kerf_mm == pytest.approx(
                analytic.recess_mm(profile)
            )
            assert piece.outline.exterior.distance(recess) >= profile.wall_mm
        for one, other in itertools.combinations(pockets, 2):
            assert one.distance(other) >= profile.wall_mm


def check_letter(piece: CutPiece, label: str, profile: Profile) -> None:
    engraved = reduce(shapely.symmetric_difference, map(Polygon, piece.engraving))
    assert piece.outline.buffer(-profile.label_margin_mm + 0.01).contains(engraved)
    if len(label) == 1:
        left, bottom, right, top = engraved.bounds
        cap_mm = round((top - bottom) / analytic.glyph(label, 1.0).height_mm, 2)
        assert cap_mm <= 1.5 * profile.cap_height_mm + 0.01
        glyph = analytic.glyph(label, cap_mm)
        there = affinity.translate(glyph.polygon, (left + right) / 2, (bottom + top) / 2)
        # Chords of both lie within a hundredth of the curve.
        assert engraved.boundary.hausdorff_distance(there.boundary) < 0.025
        assert engraved.area == pytest.approx(glyph.area_mm2, rel=0.01)


def leaves_the_outline(piece: CutPiece, kerf_mm: float) -> bool:
    """Whether cutting leaves exactly the finished outline, but for fillets in inner corners."""
    if not same(analytic.inset_outline(piece.path, kerf_mm / 2), piece.outline):
        return False
    burnt = piece.path.boundary.buffer(kerf_mm / 2, quad_segs=64)  # by a round beam
    left = piece.path.difference(burnt) if kerf_mm else piece.path
    # Nothing of the piece is burnt.
    if not covers(left, piece.outline):
        return False
    more = left.difference(piece.outline.buffer(1e-5))
    corners = [one for ring in shapely.get_rings(piece.outline) for one in analytic.corners(ring)]
    inner = shapely.MultiPoint([here for _, here, _, angle in corners if angle > math.pi])
    # The beam touches both edges of a corner of 45 degrees 2.41 radii from it.
    near = inner.buffer(2.42 * kerf_mm / 2) if not inner.is_empty else Polygon()
    return bool(more.difference(near).area < 1e-6)


def test_another_path_does_not_leave_the_outline() -> None:
    """A whole kerf outside, on the outline itself, with a chip out of it, or without tips."""
    for piece in cuts.cut_set("fridgeiq", "default", ("laser.kerf=1.5 mm", *PLAIN)):
        whole = analytic.inset_outline(piece.outline, -1.5)
        assert not leaves_the_outline(replace(piece, path=whole), 1.5)
        assert not leaves_the_outline(replace(piece, path=piece.outline), 1.5)
        edge = shapely.LineString(piece.path.exterior.coords[:2])
        chipped = piece.path.difference(edge.interpolate(0.5, normalized=True).buffer(0.1))
        assert not leaves_the_outline(replace(piece, path=chipped), 1.5)
        bevelled = piece.outline.buffer(0.75, join_style="bevel")
        assert not leaves_the_outline(replace(piece, path=bevelled), 1.5)


def corners(area: shapely.Geometry) -> list[int]:
    return sorted(len(ring.coords) for ring in shapely.get_rings(shapely.get_parts(area)))


@given(cell_sets(most=16), st.integers(0, 4000), st.integers(0, 1500))
def test_any_shape_is_cut_or_refused(
    shape: tuple[Lattice, frozenset[Cell]], kerf_um: int, inset_um: int
) -> None:
    """Shapely's own buffer says what a piece bears; near the limit both may be right."""
    (lattice, some), kerf_mm, inset_mm = shape, kerf_um / 1000, inset_um / 1000
    drawn = outline_of(shape, unit_mm=4.0)
    profile = replace(
        load_profile((), PLAIN), unit_mm=4.0, kerf_mm=kerf_mm, laser_inset_mm=inset_mm
    )

    def bears(area: Polygon, distance_mm: float) -> bool:
        verdicts = {
            corners(analytic.inset_outline(area, distance_mm + near)) == corners(area)
            for near in (-0.02, 0.0, 0.02)
        }
        assume(len(verdicts) == 1)
        return verdicts.pop()

    inner = analytic.inset_outline(drawn, inset_mm)
    is_borne = bears(drawn, inset_mm) and bears(inner, -kerf_mm / 2)
    puzzle = PuzzleSet("mine", "Mine", lattice, False, (), (), (), "", "")
    if is_borne:
        piece = draft_cut_piece(puzzle, piece_of(lattice, some), profile)
        assert same(piece.outline, inner)
        assert corners(piece.path) == corners(drawn)
        assert leaves_the_outline(piece, kerf_mm)
    else:
        with pytest.raises(DrawingError, match=r"laser\.(inset|kerf) .* the limit is "):
            draft_cut_piece(puzzle, piece_of(lattice, some), profile)


def test_large_letters_are_as_smooth() -> None:
    puzzle = load_set("fridgeiq")
    profile = load_profile((), ["unit=150 mm", "label.cap_height=100 mm"])
    (piece,) = draft_cut_pieces(puzzle, [puzzle.piece("S")], profile)
    engraved = reduce(shapely.symmetric_difference, map(Polygon, piece.engraving))
    exact = analytic.glyph("S", 100.0).polygon
    left, bottom, right, top = engraved.bounds
    there = affinity.translate(exact, (left + right) / 2, (bottom + top) / 2)
    # The font file is followed with fifty chords on each curve.
    assert engraved.boundary.hausdorff_distance(there.boundary) < CHORD_TOLERANCE_MM + 0.005
    assert sum(len(contour) for contour in piece.engraving) < 300


def test_all_of_a_piece_moves_together() -> None:
    (piece,) = [one for one in cuts.cut_set("fridgeiq", "default", ()) if one.piece == "S"]
    moved = piece.moved(37.0, 30.0, -7.0)
    cos, sin = math.cos(math.radians(37)), math.sin(math.radians(37))

    def at(piece: CutPiece) -> list[list[tuple[float, float]]]:
        rings = [list(piece.outline.exterior.coords), list(piece.path.exterior.coords)]
        return [*rings, *map(list, piece.engraving), [one.centre_mm for one in piece.magnets]]

    for before, after in zip(at(piece), at(moved), strict=True):
        expected = [(cos * x - sin * y + 30, sin * x + cos * y - 7) for x, y in before]
        assert shapely.LineString(after).equals_exact(shapely.LineString(expected), 1e-9)
    assert [one.diameter_mm for one in moved.magnets] == [10.1, 10.1]


# --- holes and refusals ---------------------------------------------------------------------

RING = piece_of(
    LATTICES["square"],
    cells("square", *((r, c) for r in range(3) for c in range(3) if (r, c) != (1, 1))),
)
BAY = piece_of(LATTICES["square"], cells("square", (0, 0), (1, 0), (1, 1), (1, 2), (0, 2)))


def test_holes_shrink_by_the_kerf() -> None:
    profile = load_profile((), ["laser.kerf=0.4 mm", "laser.inset=0.1 mm", *PLAIN])
    (piece,) = draft_cut_pieces(set_of(RING), [RING], profile)
    (hole,), (path,) = piece.outline.interiors, piece.path.interiors
    assert Polygon(hole).area == pytest.approx(20.2**2)
    assert Polygon(path).area == pytest.approx(19.8**2)
    assert Polygon(piece.path.exterior).area == pytest.approx(60.2**2)
    assert leaves_the_outline(piece, 0.4)


@pytest.mark.parametrize("piece", [RING, BAY], ids=["hole", "notch"])
def test_a_hole_or_a_notch_as_narrow_as_the_kerf_is_refused(piece: Piece) -> None:
    profile = load_profile((), ["unit=4 mm", *PLAIN])
    assert draft_cut_pieces(set_of(piece), [piece], replace(profile, kerf_mm=3.98))
    for kerf_mm in (4.0, 5.0, 8.0, 40.0):
        with pytest.raises(InputError, match=r"removes a hole or a notch .* limit is 3\.98 mm"):
            draft_cut_pieces(set_of(piece), [piece], replace(profile, kerf_mm=kerf_mm))


def test_what_cannot_be_cut_is_refused_for_all_pieces_at_once() -> None:
    for name, settings, says in (
        # The other two are two units wide everywhere.
        (
            "iqblock",
            ["unit=4 mm", "laser.inset=2 mm", *PLAIN],
            "pieces 1, 2, 3, 4, 5, 6: laser.inset 2 mm removes an edge or a neck of the piece; the "
            "limit is 1.99 mm; choose a smaller laser.inset or a larger unit",
        ),
        (
            "iqblock",
            ["magnet.diameter=1 mm", "recess.press=0 mm", "laser.kerf=1 mm"],
            "kerf 1 mm removes the hole for a magnet, which is 1 mm across",
        ),
        ("fridgeiq", ["laser.inset=2 mm"], "recess.fit none"),
        ("fridgeiq", ["unit=5 mm", "recess.fit=none"], "label.faces none"),
        ("iqfit", [], "iqfit: its pieces are made of balls; only flat pieces"),
    ):
        puzzle, profile = load_set(name), load_profile((), settings)
        with pytest.raises(InputError, match=re.escape(says)):
            draft_cut_pieces(puzzle, puzzle.pieces, profile)
