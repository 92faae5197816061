"""Meshes that others made are read back: pieces built in another way, in any unit and position.

What is still read, and asserted here (in parts of the grid unit; FridgeIQ, set by set as a whole):

==================  ==========================================================================
rounding            every corner with a radius of 0.15
tips                of 45 degrees, cut back by a tenth of both their edges
inset               0 to 0.04 on each side; outwards down to -0.03
noise               corners off by 0.001 along each axis
leaning sides       3 degrees
thickness           from 0.01 to 4; rectangles that lie on a side are told by the other pieces
==================  ==========================================================================

Beyond that a body is read right, or told as unread or as no piece of the set; never as another
piece. (Two pieces that are one triangle in two sizes can be exchanged when nothing else is read.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
import shapely
import trimesh
from hypothesis import example, given, settings
from hypothesis import strategies as st
from shapely import Polygon, affinity
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.anatomy import anatomy
from fabkit.mesh.body import Body
from fabkit.mesh.identity import identify
from fabkit.mesh.letters import Letter, read_letter
from fabkit.mesh.part import Outline, Part, take_in
from fabkit.model.library import load_set
from fabkit.model.piece import Form, Piece, is_image
from fabkit.model.puzzle import PuzzleSet
from fabkit.verify.answers import answer_catalog, read_set
from fabkit.verify.check import check
from fabkit.verify.taking import take
from tests import analytic, foreign
from tests.foreign import Make, Stand
from tests.prints import Order, print_set

SETS = ("fridgeiq", "iqblock", "cubimagici", "iqstars")
#: The limits stated above, for a unit of 20 mm.
ROUNDING_MM, TIP_CUT, INSET_MM, NOISE_MM, LEAN_DEGREES = 3.0, 0.1, 0.8, 0.02, 3.0


def drawn(set_name: str) -> dict[str, analytic.Drawing]:
    return {one.id: one for one in analytic.drawings(set_name)}


def built(set_name: str, make: Make, seed: int = 0, **stand: Any) -> list[Body]:
    """Every piece of a set, each somewhere else."""
    chance = Random(seed)
    return [
        foreign.shell(
            foreign.build(one.outline, make, one.label),
            replace(foreign.random_stand(chance), **stand),
            f"{chance.random()}",
        )
        for one in analytic.drawings(set_name)
    ]


def read(bodies: Sequence[Body], puzzle: PuzzleSet, unit_mm: float = 20.0) -> list[Part]:
    return list(take_in(bodies, puzzle, unit_mm).parts)


def outline_of(part: Part) -> Outline:
    assert part.outline is not None, part.name
    return part.outline


def is_turned(outline: Outline, shape: Polygon) -> bool:
    """Whether an outline is a shape in grid units, turned about, not over: compared as areas."""
    seen = affinity.scale(outline.canonical, 1 / outline.unit_mm, 1 / outline.unit_mm)
    x, y = seen.centroid.coords[0]
    seen = affinity.translate(seen, -x, -y)
    x, y = shape.centroid.coords[0]
    shape = affinity.translate(shape, -x, -y)
    turned = (affinity.rotate(shape, 30 * k, origin=(0, 0)) for k in range(12))
    return any(seen.symmetric_difference(one).area < 1e-6 for one in turned)


def verdict(part: Part, puzzle: PuzzleSet, piece: str) -> str:
    """``right``, ``unread``, ``strange`` (no piece of the set), ``mirrored`` or ``misread``."""
    if part.outline is None:
        return "unread"
    lattice, cells = puzzle.lattice, part.outline.cells
    if is_image(lattice, puzzle.piece(piece), cells, flips=False):
        return "right"
    if is_image(lattice, puzzle.piece(piece), cells, flips=True):
        return "mirrored"
    known = any(is_image(lattice, one, cells, flips=False) for one in puzzle.pieces)
    return "misread" if known else "strange"


def verdicts(set_name: str, make: Make, **stand: Any) -> list[str]:
    puzzle = load_set(set_name)
    parts = read(built(set_name, make, **stand), puzzle, make.unit)
    return [verdict(part, puzzle, one.id) for part, one in zip(parts, puzzle.pieces, strict=True)]


# --- sets that others made ------------------------------------------------------------------


SEEDS = [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 30))]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("set_name", SETS)
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


@pytest.mark.parametrize(("magnet", "letter"), [(6.0, 0.0), (0.0, 6.0), (6.0, 6.0)])
def test_chirality_is_kept_however_a_body_lies(magnet: float, letter: float) -> None:
    """A magnet's hole or a letter tells the face from the back in every position."""
    puzzle, drawings = load_set("fridgeiq"), analytic.drawings("fridgeiq")
    make = Make(magnet=magnet, letter=letter)
    tilts = [
        trimesh.transformations.rotation_matrix(math.radians(degrees), axis)[:3, :3]
        for degrees in (0, 90, 180, 270)
        for axis in ((1, 0, 0), (0, 1, 0), (1, 1, 0), (0.3, -0.5, 0.8))
    ]
    for first in (0, 5):
        bodies = [
            foreign.shell(
                foreign.build(one.outline, make, one.label), Stand(tilt=tilts[(first + i) % 16])
            )
            for i, one in enumerate(drawings)
        ]
        for part, one in zip(read(bodies, puzzle), drawings, strict=True):
            assert verdict(part, puzzle, one.id) == "right", (first, one.id)


def test_mirrored_bodies_are_told_as_mirrored() -> None:
    puzzle, make = load_set("fridgeiq"), Make(magnet=6.0, mirrored=True)
    parts = read(built("fridgeiq", make), puzzle)
    identities = identify(parts, [anatomy(part) for part in parts], puzzle)
    for piece, identity in zip(puzzle.pieces, identities, strict=True):
        assert piece.id in identity.alike or not identity.mirrored  # the mirror image of another
        assert identity.mirrored == (piece.id in "LOTSNU")


@pytest.mark.parametrize("kind", ["stl", "obj", "groups", "3mf"])
def test_files_with_several_bodies(kind: str, tmp_path: Path) -> None:
    puzzle, drawings = load_set("fridgeiq"), analytic.drawings("fridgeiq")
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


@pytest.mark.parametrize("inset", [0.0, 0.1])
def test_sets_without_clearance_are_told(inset: float) -> None:
    puzzle = replace(load_set("fridgeiq"), challenges=())
    report = check(take(built("fridgeiq", Make(inset=inset)), puzzle, 20.0), Order().profile())
    (finding,) = [one for one in report.findings if one.rule == "clearance"]
    assert finding.ok == (inset > 0)
    assert finding.value == pytest.approx(2 * inset, abs=1e-3)
    assert all(part.part.outline for part in report.parts)


# --- sets of one's own ----------------------------------------------------------------------


RING = [[(0, 0), (3, 0), (3, 3), (0, 3)], [(1, 1), (1, 2), (2, 2), (2, 1)]]
USER_SETS = {
    "holes": {
        "ring": RING,
        "eye": [[(0, 0), (3, 0), (3, 2), (0, 2)], [(1, 1), (1.5, 1.5), (2, 1), (1.5, 0.5)]],
        "two holes": [
            [(0, 0), (5, 0), (5, 3), (0, 3)],
            [(1, 1), (1, 2), (2, 2), (2, 1)],
            [(3, 1), (3, 2), (4, 2), (4, 1)],
        ],
        "bar": [[(0, 0), (4, 0), (4, 1), (0, 1)]],
    },
    "middles of squares": {
        "quarter": [[(0, 0), (1, 0), (0.5, 0.5)]],
        "diamond": [[(0.5, 0.5), (1, 1), (0.5, 1.5), (0, 1)]],
        "fish": [[(0, 0), (1, 0), (1.5, 0.5), (1, 1), (0, 1), (0.5, 0.5)]],
        "arrow": [[(0, 0), (2, 0), (2, 1), (1.5, 0.5), (1, 1), (0.5, 0.5), (0, 1)]],
    },
    "on a coarser lattice": {
        "square": [[(1, 0), (2, 1), (1, 2), (0, 1)]],
        "oblong": [[(1, 0), (3, 2), (2, 3), (0, 1)]],
        "roof": [[(0, 0), (2, 0), (1, 1)]],
        "angle": [[(1, 0), (3, 2), (2, 3), (1, 2), (0, 3), (-1, 2)]],
    },
    "even": {
        "square": [[(0, 0), (2, 0), (2, 2), (0, 2)]],
        "oblong": [[(0, 0), (4, 0), (4, 2), (0, 2)]],
        "angle": [[(0, 0), (4, 0), (4, 2), (2, 2), (2, 4), (0, 4)]],
        "roof": [[(0, 0), (4, 0), (2, 2)]],
    },
    "two": {
        "big": [[(0, 0), (2, 0), (2, 2)]],
        "small": [[(0, 0), (2, 0), (1, 1)]],
    },
}


def own_bodies(puzzle_name: str, make: Make, copies: int = 1, seed: int = 0) -> list[Body]:
    chance = Random(seed)
    return [
        foreign.shell(
            foreign.build(foreign.polygon_of(rings), make), foreign.random_stand(chance), name
        )
        for name, rings in USER_SETS[puzzle_name].items()
        for _ in range(copies)
    ]


@pytest.mark.parametrize("inset", [0.0, 0.12, 0.4])
@pytest.mark.parametrize("name", USER_SETS)
def test_sets_of_ones_own(name: str, inset: float) -> None:
    puzzle = foreign.user_set("quarter-square", USER_SETS[name])
    # What is expected of the unit must not matter for a whole set.
    for make, expected in ((Make(inset=inset, rounding=0.8), 28.0), (Make(33.0, inset), 7.0)):
        for part in read(own_bodies(name, make), puzzle, expected):
            outline = outline_of(part)
            assert is_turned(outline, foreign.polygon_of(USER_SETS[name][part.name]))
            assert outline.unit_mm == pytest.approx(make.unit, rel=5e-4)
            assert outline.inset_mm == pytest.approx(inset, abs=1e-2)


@pytest.mark.parametrize("name", USER_SETS)
def test_every_piece_twice(name: str) -> None:
    puzzle = foreign.user_set("quarter-square", USER_SETS[name])
    taken = take(own_bodies(name, Make(), copies=2), puzzle, 20.0)
    expected = [key for piece in USER_SETS[name] for key in (piece, f"{piece}-2")]
    assert sorted(one.key for one in taken.identities) == sorted(expected)


@pytest.mark.parametrize("set_name", SETS)
def test_a_piece_alone_is_read_with_the_expected_unit(set_name: str) -> None:
    """One piece may lie on several lattices; the unit that is expected decides."""
    puzzle = load_set(set_name)
    length = "mm" if set_name == "iqblock" else "inch"
    for piece, body in zip(puzzle.pieces, built(set_name, Make(), length=length), strict=True):
        (part,) = read([body], puzzle)
        assert verdict(part, puzzle, piece.id) == "right", piece.id
        assert outline_of(part).unit_mm == pytest.approx(20, rel=1e-4)


def test_any_two_pieces() -> None:
    puzzle = load_set("fridgeiq")
    bodies = built("fridgeiq", Make())
    for i in range(16):
        for k in {(5 * i + 3) % 16} - {i}:
            for part, at in zip(read([bodies[i], bodies[k]], puzzle), (i, k), strict=True):
                assert verdict(part, puzzle, puzzle.pieces[at].id) == "right", (i, k)


def strange_bodies() -> list[Body]:
    pentagon = Polygon([(0, 0), (37, 3), (45, 31), (17, 52), (-9, 26)])
    return [
        foreign.shell(trimesh.creation.cylinder(18.3, 7.0, sections=90), name="disc"),
        foreign.shell(trimesh.creation.icosphere(2, 21.0), name="ball"),
        foreign.shell(trimesh.creation.extrude_polygon(pentagon, 7.0), name="pentagon"),
        foreign.shell(trimesh.creation.torus(20, 5), name="torus"),
        foreign.shell(trimesh.creation.extrude_polygon(Polygon([(0, 0), (31, 4), (9, 27)]), 7.0)),
    ]


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


def test_strange_bodies_alone_are_not_read() -> None:
    puzzle = load_set("fridgeiq")
    assert all(identity.piece is None for identity in take(strange_bodies(), puzzle, 20).identities)


# --- limits ---------------------------------------------------------------------------------


def brief(make: Make) -> str:
    """What is special about a construction."""
    plain = vars(Make())
    return " ".join(f"{key}={value}" for key, value in vars(make).items() if value != plain[key])


AT_THE_LIMIT = [
    Make(rounding=ROUNDING_MM),
    Make(tip_cut=TIP_CUT, inset=0.0),
    Make(tip_cut=TIP_CUT, rounding=1.0),
    Make(inset=INSET_MM),
    Make(inset=-0.6),
    Make(noise=NOISE_MM),
    Make(noise=NOISE_MM, subdivided=2),
    Make(taper=7.0 * math.tan(math.radians(LEAN_DEGREES))),
    Make(thickness=0.2),
    Make(thickness=80.0),
]


@pytest.mark.parametrize("make", AT_THE_LIMIT, ids=brief)
@pytest.mark.parametrize("set_name", SETS)
def test_at_the_limit_all_is_read(set_name: str, make: Make) -> None:
    if set_name == "iqstars" and make.inset == INSET_MM:
        make = replace(make, inset=INSET_MM / math.sqrt(3))
    assert set(verdicts(set_name, make)) == {"right"}


BEYOND = [
    *(Make(rounding=radius) for radius in (5.3, 7.1)),
    *(Make(tip_cut=part) for part in (0.17, 0.23, 0.31)),
    *(Make(inset=inset) for inset in (1.3, 1.9, 2.7, 3.3)),
    *(Make(noise=noise) for noise in (0.4, 1.3)),
    *(Make(taper=taper) for taper in (0.7, 1.6)),
]


@pytest.mark.parametrize("make", BEYOND, ids=brief)
@pytest.mark.parametrize(
    "set_name", ["fridgeiq", *(pytest.param(one, marks=pytest.mark.slow) for one in SETS[1:])]
)
def test_beyond_the_limit_nothing_is_misread(set_name: str, make: Make) -> None:
    puzzle = load_set(set_name)
    for part, piece in zip(read(built(set_name, make), puzzle), puzzle.pieces, strict=True):
        assert not is_misread(part, puzzle, piece.id, make), piece.id


def is_misread(part: Part, puzzle: PuzzleSet, piece: str, make: Make) -> bool:
    """Whether a body is taken for another piece.

    D and I are triangles that differ in size alone. When all bodies that tell the unit are unread,
    one may pass for the other; `check` then finds fault with the unit.
    """
    said = verdict(part, puzzle, piece)
    if part.outline and abs(part.outline.unit_mm / make.unit - 1) > 0.05 and piece in "DI":
        return False
    return said in ("misread", "mirrored")


def test_far_beyond_the_limit_nothing_is_read() -> None:
    for make in (Make(rounding=9.0), Make(inset=4.1)):
        found = verdicts("fridgeiq", make)
        assert found.count("right") < 16
        assert "unread" in found


sizes = st.floats(0, 1, width=16)


@given(
    rounding=sizes,
    tip_cut=sizes,
    inset=sizes,
    noise=sizes,
    thickness=sizes,
    some=st.lists(st.sampled_from("ARLOMTSQDJNYIU"), min_size=1, max_size=6, unique=True),
)
@example(rounding=0.5, tip_cut=0.0, inset=0.5, noise=0.0, thickness=0.0, some=["A", "I"])
@settings(max_examples=15, deadline=None, derandomize=True)
def test_whatever_is_read_is_right(
    rounding: float, tip_cut: float, inset: float, noise: float, thickness: float, some: list[str]
) -> None:
    never_misread(rounding, tip_cut, inset, noise, thickness, some)


@pytest.mark.slow
@given(
    rounding=sizes,
    tip_cut=sizes,
    inset=sizes,
    noise=sizes,
    thickness=sizes,
    some=st.lists(st.sampled_from("ARLOMTSQDJNYIU"), min_size=1, max_size=6, unique=True),
)
@settings(max_examples=150, deadline=None)
def test_whatever_is_read_is_right_at_length(
    rounding: float, tip_cut: float, inset: float, noise: float, thickness: float, some: list[str]
) -> None:
    never_misread(rounding, tip_cut, inset, noise, thickness, some)


def never_misread(
    rounding: float, tip_cut: float, inset: float, noise: float, thickness: float, some: list[str]
) -> None:
    """Sizes from 0 to 1 reach to twice their limits."""
    make = Make(
        rounding=2 * ROUNDING_MM * rounding,
        tip_cut=2 * TIP_CUT * tip_cut,
        inset=2 * INSET_MM * inset,
        noise=2 * NOISE_MM * noise,
        thickness=1 + 29 * thickness,
    )
    puzzle, drawings, chance = load_set("fridgeiq"), drawn("fridgeiq"), Random(1)
    bodies = [
        foreign.shell(foreign.build(drawings[one].outline, make), foreign.random_stand(chance), one)
        for one in some
    ]
    for part in read(bodies, puzzle):
        assert not is_misread(part, puzzle, part.name, make), part.name


# --- nothing but the meshes -----------------------------------------------------------------


CHALLENGES = ("square_01", "square_02", "triangle_01", "rectangle_02_b")


def some_challenges(puzzle: PuzzleSet) -> PuzzleSet:
    chosen = tuple(one for one in puzzle.challenges if one.id in CHALLENGES)
    return replace(puzzle, challenges=chosen)


def results(bodies: Sequence[Body], puzzle: PuzzleSet, order: Order) -> tuple[Any, Any]:
    """What `check` says, and the answers to the challenges."""
    taken = take(bodies, puzzle, 20.0)
    answers = answer_catalog(read_set(puzzle, taken.pieces()), 60.0)
    return check(taken, order.profile()).document(), [
        (one.challenge.id, one.status, one.missing) for one in answers
    ]


def differences(one: Any, other: Any, place: str = "") -> list[str]:
    """Where two documents differ by more than 0.002 in a number, or in anything else."""
    if isinstance(one, dict) and isinstance(other, dict):
        if one.keys() != other.keys():
            return [f"{place}: {sorted(one)} and {sorted(other)}"]
        return [d for key in one for d in differences(one[key], other[key], f"{place}/{key}")]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = enumerate(zip(one, other, strict=True))
        return [d for i, (a, b) in pairs for d in differences(a, b, f"{place}/{i}")]
    if isinstance(one, float) and isinstance(other, float):
        return [] if abs(one - other) <= 0.002 + 1e-9 else [f"{place}: {one} and {other}"]
    if place.endswith("/message"):
        return []  # says the numbers again
    return [] if one == other else [f"{place}: {one} and {other}"]


def turned(body: Body, degrees: float) -> Body:
    """Turned about z, moved, and written and read again in single precision."""
    mesh = trimesh.Trimesh(body.vertices, body.faces, process=False)
    return foreign.shell(mesh, Stand(turn=degrees, origin=(31.7, -12.4, 0.0)))


@pytest.mark.parametrize("preset", ["default", "flippable"])
def test_only_the_meshes_count(preset: str, tmp_path: Path) -> None:
    order = Order((preset,))
    print_set("fridgeiq", order, tmp_path)
    paths = sorted(tmp_path.glob("*.stl"))
    puzzle = some_challenges(load_set("fridgeiq"))
    bodies = foreign.read_files(*paths)
    document, answers = results(bodies, puzzle, order)
    assert document["ok"]
    assert len(answers) == len(CHALLENGES)

    # Shuffled, renamed, turned about z and written again in single precision.
    chance = Random(7)
    shuffled = chance.sample(bodies, len(bodies))
    files = [
        foreign.write_stl(tmp_path / f"{n}.stl", turned(body, chance.uniform(0, 360)))
        for n, body in enumerate(shuffled, start=1)
    ]
    other, others = results(foreign.read_files(*files), puzzle, order)
    assert differences(document, other) == []
    assert answers == others

    # With other drawings in the library: the letters say which piece is which, the meshes what
    # they look like.
    other, others = results(bodies, altered(puzzle), order)
    assert answers == others
    assert not other["ok"]
    unlike = {
        key
        for key, part in other["pieces"].items()
        for finding in part["findings"]
        if finding["rule"] == "shape" and not finding["ok"]
    }
    assert unlike == {"A", "N", "M", "I"}
    # No value that was measured differs; who has which outline does.
    wrong = [one.partition(":")[0] for one in differences(document, other)]
    assert {one.rpartition("/")[2] for one in wrong} <= {"ok", "is"}


def altered(puzzle: PuzzleSet) -> PuzzleSet:
    """A and N exchanged; M and I with outlines of no piece."""
    forms: dict[str, tuple[Form, ...]] = {
        "A": puzzle.piece("N").forms,
        "N": puzzle.piece("A").forms,
    }
    strange = foreign.user_set(
        "quarter-square",
        {"M": [[(0, 0), (3, 0), (3, 3), (0, 3)]], "I": [[(0, 0), (5, 0), (5, 1), (0, 1)]]},
    )
    forms |= {piece.id: piece.forms for piece in strange.pieces}

    def change(piece: Piece) -> Piece:
        return replace(piece, forms=forms.get(piece.id, piece.forms))

    return replace(puzzle, pieces=tuple(map(change, puzzle.pieces)))


# --- letters --------------------------------------------------------------------------------


SHIPPED = sorted({one.label for name in SETS for one in analytic.drawings(name)})
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
DIGITS = "0123456789"


def lettered(label: str, turn: int, mirrored: bool = False, font: str = "shipped") -> Part:
    """A square with a letter on its face, lying on a lattice of squares."""
    fonts: dict[str, Callable[[str], BaseGeometry]] = {
        "shipped": foreign.shipped_font,
        "blocks": lambda text: shapely.box(-0.3, -0.5, 0.3, 0.5).difference(
            shapely.box(-0.1, -0.5, 0.1, 0.1 * (ord(text) % 5))
        ),
        "disc": lambda text: shapely.Point(0, 0).buffer(0.4),
        "ring": lambda text: (
            shapely.Point(0, 0).buffer(0.5).difference(shapely.Point(0, 0).buffer(0.4))
        ),
        "thin": lambda text: foreign.shipped_font(text).buffer(-0.055),
    }

    def draw(text: str) -> BaseGeometry:
        glyph = affinity.rotate(fonts[font](text), 90 * turn, origin=(0, 0))
        return affinity.scale(glyph, -1, 1, origin=(0, 0)) if mirrored else glyph

    make = Make(letter=9.0, letter_font=draw, magnet=8.0)
    mesh = foreign.build(shapely.box(0, 0, 2, 1), make, label)
    (part,) = read([foreign.shell(mesh)], load_set("cubimagici"))
    return part


def letter_on(part: Part, texts: str) -> Letter | None:
    found = anatomy(part)
    assert len(found.recesses) == 1
    return read_letter(found.labels, list(texts), 4)


@pytest.mark.parametrize("texts", [ALPHABET, DIGITS], ids=["letters", "digits"])
@pytest.mark.parametrize(
    "more", [0, *(pytest.param(turn, marks=pytest.mark.slow) for turn in (1, 2, 3))]
)
def test_every_letter_is_read_however_it_is_turned(texts: str, more: int) -> None:
    for number, text in enumerate(texts):
        letter = letter_on(lettered(text, (number + more) % 4), texts)
        if letter is None:
            assert text in LOOK_ALIKE
            continue
        assert letter.text == text
        assert not letter.mirrored
        assert letter.likeness > 0.97


#: Look the same as another letter or digit when they are turned, and are told by no shape.
LOOK_ALIKE = ""


def test_shipped_sets_use_these_letters() -> None:
    assert set(SHIPPED) <= set(ALPHABET + DIGITS)


def test_letters_in_a_mirror_are_told() -> None:
    for text in "BCDEFGJKLNPQRSZ":
        letter = letter_on(lettered(text, 0, mirrored=True), text)
        assert letter is not None, text
        assert letter.mirrored, text


@pytest.mark.parametrize("font", ["blocks", "disc", "ring"])
def test_other_engravings_are_no_letter(font: str) -> None:
    for text in "AOI5":
        assert letter_on(lettered(text, 1, font=font), ALPHABET) is None, text


def test_letters_of_another_weight_are_never_another_letter() -> None:
    for text in ALPHABET[::3]:
        letter = letter_on(lettered(text, 0, font="thin"), ALPHABET)
        assert letter is None or letter.text == text, text


def test_without_a_letter_there_is_none() -> None:
    (part,) = read(
        [foreign.shell(foreign.build(shapely.box(0, 0, 2, 1), Make(magnet=8)))],
        load_set("cubimagici"),
    )
    assert letter_on(part, ALPHABET) is None
