"""Marks of cells: where they are drawn, how they are cut from a sheet and out of solids."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from shapely import Point, Polygon

from fabkit.build.artifacts import Artifacts
from fabkit.cli import main
from fabkit.drawing.draft import FlatDrawing, draft_all, draft_flat_piece
from fabkit.drawing.laser import draft_cut_pieces
from fabkit.drawing.marks import mark_places
from fabkit.mesh.topology import signed_volume
from fabkit.model.lattice import LATTICES, Lattice
from fabkit.model.piece import CROSS, HOLE
from fabkit.output.cutting import sheet_svg
from fabkit.profiles.profile_file import load_profile
from fabkit.sets.library import load_set

SETS = Path(__file__).parents[1] / "sets"
NO_MAGNETS = "recess.fit=none"


def drafted(*settings: str) -> list[FlatDrawing]:
    puzzle = load_set(str(SETS / "pegs.toml"))
    return draft_all(puzzle, puzzle.pieces, load_profile((), settings), draft_flat_piece)


@pytest.mark.parametrize("lattice", LATTICES.values(), ids=str)
def test_a_mark_is_in_the_middle_of_all_cells_of_its_place(lattice: Lattice) -> None:
    """The middle of a square's quarters is that of the square, also in rows that are shifted."""
    for row, col in ((0, 0), (1, 2), (-3, 1)):
        cells = lattice.cells_at(row, col)
        ((centre, of_place),) = mark_places(lattice, cells, 1.0).items()
        assert of_place == frozenset(cells)
        sx, sy = (math.sqrt(squared) for squared in lattice.step_squared)
        x = sum(x for x, _ in cells) / len(cells) * sx
        y = sum(y for _, y in cells) / len(cells) * sy
        assert centre == pytest.approx((x, y), abs=1e-5)


@pytest.mark.parametrize(
    "settings", [(), ("recess.release=2 mm",), ("magnet.polarity=alternating",), (NO_MAGNETS,)]
)
def test_letters_and_magnets_keep_away_from_marks(settings: tuple[str, ...]) -> None:
    profile = load_profile((), settings)
    for drawing in drafted(*settings):
        assert drawing.label is not None
        letter = drawing.label.front.polygon()
        for mark in drawing.marks:
            assert mark.area.distance(letter) >= profile.label_margin_mm - 1e-3
            for recess in drawing.recesses:
                for centre, diameter_mm in recess.circles:
                    assert mark.area.distance(Point(centre)) > diameter_mm / 2
                wall_mm = (
                    mark.area.distance(Point(recess.centre_mm)) - recess.diameters.widest_mm / 2
                )
                assert wall_mm >= profile.wall_mm - 1e-3


def test_crosses_are_on_the_sides_that_the_file_draws_and_holes_go_through() -> None:
    marks = {drawing.piece: drawing.marks for drawing in drafted(NO_MAGNETS)}
    spans = {
        piece: sorted((mark.look, mark.low_mm, mark.high_mm) for mark in of_piece)
        for piece, of_piece in marks.items()
    }
    assert spans["L"] == [(CROSS, 6.4, 7.0), (HOLE, 0.0, 7.0)]
    assert spans["Y"] == [(CROSS, 0.0, 0.6), (CROSS, 6.4, 7.0), (HOLE, 0.0, 7.0)]
    # As seen from behind, left and right are exchanged, not top and bottom.
    behind = next(mark for mark in marks["Y"] if mark.look == CROSS and mark.low_mm == 0)
    assert behind.centre_mm == (30.0, -10.0)


def test_marks_take_their_volume_out_of_solids() -> None:
    volumes = []
    for settings in ((NO_MAGNETS, "mark.hole=6 mm"), (NO_MAGNETS, "mark.hole=8 mm")):
        profile = load_profile((), [*settings, "label.faces=none"])
        puzzle = load_set(str(SETS / "pegs.toml"))
        pieces = puzzle.select(["V"])
        volumes.append(signed_volume(Artifacts(puzzle, pieces, profile).mesh(pieces[0])))
    ring_mm2 = math.pi * (4**2 - 3**2)
    assert volumes[0] - volumes[1] == pytest.approx(2 * 7 * ring_mm2, rel=5e-3)


def test_holes_are_cut_before_outlines_and_crosses_engraved() -> None:
    puzzle = load_set(str(SETS / "pegs.toml"))
    profile = load_profile((), [NO_MAGNETS, "label.faces=none", "laser.kerf=0.2 mm"])
    for piece in draft_cut_pieces(puzzle, puzzle.select(["L", "Y"]), profile):
        assert [hole.diameter_mm for hole in piece.holes] == [5.8]
        (cross,) = map(Polygon, piece.engraving)  # only the front is engraved
        assert cross.area == pytest.approx(2 * 6 * 1.2 - 1.2**2)
        svg = sheet_svg(*piece.on_own_sheet())
        cut = svg[svg.index('"CUT"') :]
        assert "<circle" in cut[: cut.index("<path")]
        turned = piece.moved(90, 0, 0)
        assert turned.holes[0].centre_mm == pytest.approx(
            (-piece.holes[0].centre_mm[1], piece.holes[0].centre_mm[0])
        )


def test_squares_of_a_colour_that_is_a_rule_are_on_face_and_back() -> None:
    puzzle = load_set(str(SETS / "chequer.toml"))
    profile = load_profile((), [NO_MAGNETS, "label.faces=none", "cell.tones=inlay"])
    for piece in puzzle.select(["L", "P"]):
        solids = Artifacts(puzzle, [piece], profile).print_of(piece).solids
        assert [solid.name for solid in solids] == [piece.id, f"{piece.id} tones"]
        heights = solids[1].mesh.vertices[:, 2]
        assert {round(height, 3) for height in heights} >= {0.0, 0.6, 6.4, 7.0}
        whole = signed_volume(
            Artifacts(puzzle, [piece], load_profile((), [NO_MAGNETS, "label.faces=none"])).mesh(
                piece
            )
        )
        assert sum(signed_volume(solid.mesh) for solid in solids) == pytest.approx(whole, rel=1e-5)


@pytest.mark.every(2)
@pytest.mark.integration
@pytest.mark.parametrize("name", ["pegs", "chequer"])
def test_a_folder_with_marks_is_made_checked_and_verified(name: str, tmp_path: Path) -> None:
    set_file = str(SETS / f"{name}.toml")
    for command in ("make", "check", "verify"):
        assert main([command, set_file, "-o", str(tmp_path), "-q"]) == 0
