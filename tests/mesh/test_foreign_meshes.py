"""Meshes that others made are read back: pieces built in another way, in any unit and position."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
import trimesh
from shapely import affinity

from fabkit.mesh.anatomy import anatomy
from fabkit.mesh.identity import identify
from fabkit.mesh.part import take_in
from fabkit.model.library import load_set
from fabkit.model.piece import is_image
from fabkit.verify.taking import take
from tests.support import analytic, foreign
from tests.support.foreign import Make, Stand
from tests.support.foreignsets import (
    SETS,
    USER_SETS,
    built,
    is_turned,
    outline_of,
    own_bodies,
    polygon_of,
    read,
    strange_bodies,
    user_set,
    verdict,
)

# --- sets that others made ------------------------------------------------------------------


SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 30))]
#: Only the first by default.
SOME_SETS = [
    "cubimagici",
    *(pytest.param(o, marks=pytest.mark.integration) for o in SETS if o != "cubimagici"),
]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("set_name", SOME_SETS)
def test_sets_made_elsewhere_are_read_back(set_name: str, seed: int) -> None:
    chance = Random(f"{set_name} {seed}")
    puzzle, drawings = load_set(set_name), analytic.drawings(set_name)
    unit = chance.choice([8.0, 12.0, 20.0, 25.4, chance.uniform(8, 60)])
    length = chance.choice(list(foreign.IN_LENGTHS))
    edge = 1 / math.sqrt(3) if set_name == "iqstars" else 1.0
    common = foreign.random_make(chance, unit, edge)
    turned_over = chance.random() < 0.5
    makes = []
    for _ in drawings:
        own = foreign.random_make(chance, unit, edge)
        own = replace(own, inset=common.inset, thickness=common.thickness)
        if own.chamfers != (0.0, 0.0) or own.fillet:
            own = replace(own, chamfers=(0.0, 0.02 * unit), fillet=0.0)
        # Something must tell the face from the back of what lies in any way.
        makes.append(replace(own, magnet=0.3 * unit if turned_over else 0.0))
    bodies = [
        foreign.shell(
            foreign.build(one.outline, make),
            replace(foreign.random_stand(chance, turned_over), length=length),
        )
        for one, make in zip(drawings, makes, strict=True)
    ]
    found = take_in(bodies, puzzle, unit)
    assert found.length_mm == pytest.approx(1 / foreign.IN_LENGTHS[length])
    for part, one, make in zip(found.parts, drawings, makes, strict=True):
        outline = outline_of(part)
        where = f"{one.id} {make}"
        assert is_turned(outline, one.outline), where
        assert is_image(puzzle.lattice, puzzle.piece(one.id), outline.cells, flips=False), where
        # Edges waver by 2e-4 of the outline's extent, and by the noise; sides lean.
        tiny = 3e-4 * unit + 2 * make.noise + 0.2 * make.taper
        assert outline.unit_mm == pytest.approx(unit, rel=1e-3), where
        assert outline.inset_mm == pytest.approx(make.inset, abs=tiny), where
        seen = foreign.printed_outline(one.outline, make)
        sharp = affinity.scale(one.outline, unit, unit, origin=(0, 0))
        off = seen.hausdorff_distance(sharp)
        assert outline.hausdorff_mm == pytest.approx(off, abs=3 * tiny), where
        area_off = seen.area / sharp.area - 1
        slack = tiny * sharp.length / sharp.area
        assert outline.area_off == pytest.approx(area_off, abs=slack), where
        assert part.thickness_mm == pytest.approx(make.thickness, abs=3 * tiny), where


@pytest.mark.integration
@pytest.mark.parametrize("set_name", SETS)
def test_pieces_without_letters_are_told_by_their_outlines(set_name: str) -> None:
    puzzle = load_set(set_name)
    bodies = built(set_name, Make(unit=20, rounding=1, tip_cut=0.1, magnet=6), seed=3)
    parts = read(bodies, puzzle)
    identities = identify(parts, [anatomy(part) for part in parts], puzzle)
    assert sorted(one.key for one in identities) == sorted(one.id for one in puzzle.pieces)
    for piece, identity in zip(puzzle.pieces, identities, strict=True):
        assert piece.id in identity.alike
        assert not identity.mirrored
        assert identity.letter is None
    words = {identity.words for identity in identities}
    if set_name == "fridgeiq":
        assert {"same shape as R and E", "same shape as Q and B", "U"} <= words


@pytest.mark.integration
@pytest.mark.parametrize("first", [0, pytest.param(5, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    ("magnet", "letter"),
    [(6.0, 0.0), (0.0, 6.0), pytest.param(6.0, 6.0, marks=pytest.mark.long)],
)
def test_chirality_is_kept_however_a_body_lies(magnet: float, letter: float, first: int) -> None:
    """A magnet's hole or a letter tells the face from the back in every position."""
    puzzle, drawings = load_set("fridgeiq"), analytic.drawings("fridgeiq")
    make = Make(magnet=magnet, letter=letter)
    tilts = [
        trimesh.transformations.rotation_matrix(math.radians(degrees), axis)[:3, :3]
        for degrees in (0, 90, 180, 270)
        for axis in ((1, 0, 0), (0, 1, 0), (1, 1, 0), (0.3, -0.5, 0.8))
    ]
    bodies = [
        foreign.shell(
            foreign.build(one.outline, make, one.label), Stand(tilt=tilts[(first + i) % 16])
        )
        for i, one in enumerate(drawings)
    ]
    for part, one in zip(read(bodies, puzzle), drawings, strict=True):
        assert verdict(part, puzzle, one.id) == "right", one.id


@pytest.mark.integration
def test_mirrored_bodies_are_told_as_mirrored() -> None:
    puzzle, make = load_set("fridgeiq"), Make(magnet=6.0, mirrored=True)
    parts = read(built("fridgeiq", make), puzzle)
    identities = identify(parts, [anatomy(part) for part in parts], puzzle)
    for piece, identity in zip(puzzle.pieces, identities, strict=True):
        assert piece.id in identity.alike or not identity.mirrored  # the mirror image of another
        assert identity.mirrored == (piece.id in "LOTSNU")


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "kind", ["stl", "obj", pytest.param("groups", marks=pytest.mark.long), "3mf"]
)
def test_files_with_several_bodies(kind: str, tmp_path: Path) -> None:
    puzzle, drawings = load_set("cubimagici"), analytic.drawings("cubimagici")
    bodies = [
        foreign.shell(
            foreign.build(one.outline, Make(rounding=0.5, inset=0.15)),
            Stand(turn=17.0 * i, origin=(130.0 * (i % 4), 130.0 * (i // 4), 3.0), length="cm"),
        )
        for i, one in enumerate(drawings)
    ]
    path = tmp_path / f"plate.{kind}"
    if kind == "stl":
        foreign.write_stl(path, *bodies)
    elif kind == "3mf":
        foreign.write_3mf(path, bodies, unit="centimeter")
    else:
        foreign.write_obj(path, bodies, keyword="o" if kind == "obj" else "g")
    taken = take(foreign.read_files(path), puzzle, 20.0)
    assert sorted(one.key for one in taken.identities) == sorted(one.id for one in drawings)
    assert taken.read.length_mm == (1.0 if kind == "3mf" else 10.0)
    assert taken.common is not None
    assert taken.common.inset_mm == pytest.approx(0.15, abs=1e-3)


# --- sets of one's own ----------------------------------------------------------------------


@pytest.mark.every(8)
@pytest.mark.parametrize("inset", [0.4, pytest.param(0.12, marks=pytest.mark.long), 0.0])
@pytest.mark.parametrize("name", USER_SETS)
def test_sets_of_ones_own(name: str, inset: float) -> None:
    puzzle = user_set("quarter-square", USER_SETS[name])
    # What is expected of the unit must not matter for a whole set.
    for make, expected in ((Make(inset=inset, rounding=0.8), 28.0), (Make(33.0, inset), 7.0)):
        for part in read(own_bodies(name, make), puzzle, expected):
            outline = outline_of(part)
            assert is_turned(outline, polygon_of(USER_SETS[name][part.name]))
            assert outline.unit_mm == pytest.approx(make.unit, rel=5e-4)
            assert outline.inset_mm == pytest.approx(inset, abs=1e-2)


@pytest.mark.integration
@pytest.mark.parametrize("set_name", SETS)
def test_strange_bodies_are_told_and_spoil_nothing(set_name: str) -> None:
    puzzle = load_set(set_name)
    taken = take([*strange_bodies(), *built(set_name, Make(rounding=0.5))], puzzle, 20.0)
    keys = sorted(identity.key for identity in taken.identities)
    strange = [f"unknown-{number}" for number in range(1, 6)]
    assert keys == sorted([*strange, *(piece.id for piece in puzzle.pieces)])
    for part, identity in zip(taken.parts, taken.identities, strict=True):
        assert (part.outline is None) == (identity.piece is None)
        if part.outline:
            assert part.outline.unit_mm == pytest.approx(20, rel=1e-3)
