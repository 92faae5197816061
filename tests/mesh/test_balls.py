"""Pieces of balls are recognised and measured from meshes alone, and their rules notice planted
faults.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from fabkit.drawing.ball import draft_ball_piece
from fabkit.mesh.ball_fit import BallFitter
from fabkit.mesh.finding import Finding
from fabkit.mesh.identity import identify
from fabkit.mesh.mesh import Mesh
from fabkit.mesh.part import Balls, Part
from fabkit.mesh.rules.ball import inspect_balls
from fabkit.model.balls import BallBody
from fabkit.model.piece import forms_of_balls
from fabkit.model.puzzle import PuzzleSet
from fabkit.profiles.profile_file import load_profile
from fabkit.solve.answer import solve
from fabkit.solve.encoding import to_exact_cover
from tests.support import shapes
from tests.support.ballmeshes import (
    BODIES,
    COMPACT,
    IDS,
    IQFIT,
    USUAL,
    Sizes,
    block,
    body_of_solid,
    made,
    mirrored,
    solid,
    thrown,
)
from tests.support.faults.kits import written

COARSE = Sizes(segments=24)


def read(body: Mesh, sizes: Sizes = COARSE) -> Part:
    (part,), _ = BallFitter(IQFIT).fit([body], sizes.pitch)
    return part


def bonds(shape: BallBody | None) -> set[frozenset[int]]:
    return {frozenset(bond) for bond in shape.bonds} if shape else set()


def balls_of(part: Part) -> Balls:
    assert part.balls, part.reason
    return part.balls


def assert_is(part: Part, name: str, is_mirrored: bool = False) -> None:
    balls = balls_of(part)
    # Navy is its own mirror image; all others are not.
    assert (balls.alike, balls.mirrored) == ((name,), is_mirrored and name != "navy")
    assert bonds(balls.shape) == bonds(BODIES[name])
    assert part.score > 0.9
    assert part.margin > 0.15


def assert_measured(part: Part, sizes: Sizes) -> None:
    balls = balls_of(part)
    assert balls.pitch_mm == pytest.approx(sizes.pitch, abs=2e-3)
    assert balls.off_mm < 2e-3
    assert balls.diameters_mm == pytest.approx([sizes.ball] * len(balls.diameters_mm), abs=5e-3)
    on_bed = sizes.link / 2 + min(sizes.link / 2, sizes.flat or sizes.link)
    chord = sizes.link * (1 - np.cos(np.pi / sizes.segments))
    for link in balls.links_mm:
        assert min(abs(link - right) for right in (sizes.link, on_bed)) <= chord + 1e-3


@pytest.mark.every(5)
@pytest.mark.parametrize(
    ("at", "sizes"),
    enumerate(
        [
            Sizes(),
            COARSE,
            Sizes(segments=12),
            Sizes(segments=12, kind="octahedral"),
            Sizes(segments=100, kind="octahedral"),
            Sizes(kind="icosphere"),
            COMPACT,
            Sizes(flat=None),
            Sizes(pitch=20.0, ball=19.0, link=8.0, flat=8.0),
            Sizes(pitch=20.0, ball=10.0, link=4.0, flat=3.5),
        ]
    ),
    ids=str,
)
def test_pieces_of_all_sizes_are_recognised_and_measured(at: int, sizes: Sizes) -> None:
    name = IDS[at]
    body = made(BODIES[name], sizes)
    part = read(thrown(mirrored(body) if at % 2 else body, at), sizes)
    assert_is(part, name, bool(at % 2))
    assert_measured(part, sizes)


def hollowed(body: Mesh, flat: float) -> Mesh:
    name = body.name
    wall = Sizes(ball=9.6, link=6.6, flat=flat, segments=24)
    return body_of_solid(solid(BODIES[name], COARSE) - solid(BODIES[name], wall), name)


def subdivided(body: Mesh) -> Mesh:
    mesh = body.as_trimesh.subdivide()
    return Mesh(body.name, np.array(mesh.vertices), np.array(mesh.faces, np.int64))


def shaken(body: Mesh, by_mm: float = 0.005) -> Mesh:
    noise = np.random.default_rng(0).normal(0, by_mm, body.vertices.shape)
    return replace(body, vertices=body.vertices + noise)


#: What happens to meshes on their way, and by how much balls may then be off, in mm.
CHANGES: dict[str, tuple[Callable[[Mesh], Mesh], float]] = {
    "noise": (shaken, 0.02),
    "3 decimals": (lambda b: replace(b, vertices=b.vertices.round(3)), 2e-3),
    "remeshed": (subdivided, 0.05),
    "remeshed with noise": (lambda b: shaken(subdivided(b)), 0.05),
    "simplified": (
        lambda b: body_of_solid(solid(BODIES[b.name], Sizes(segments=64)).simplify(0.1), b.name),
        0.01,
    ),
    "hollow": (lambda b: hollowed(b, 3.0), 2e-3),
    "hollow and open below": (lambda b: hollowed(b, 9.0), 2e-3),
    "with holes": (lambda b: replace(b, faces=np.delete(b.faces, np.s_[::17], axis=0)), 5e-3),
    "facets turned over": (
        lambda b: replace(b, faces=np.vstack([b.faces[::2], b.faces[1::2, ::-1]])),
        2e-3,
    ),
}


@pytest.mark.every(15)
@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("change", CHANGES)
def test_changed_meshes_are_recognised(change: str, name: str) -> None:
    made_so, off_mm = CHANGES[change]
    is_mirrored = name < "m"
    body = made_so(made(BODIES[name], COARSE, name))
    part = read(thrown(mirrored(body) if is_mirrored else body, len(change + name)))
    assert_is(part, name, is_mirrored)
    balls = balls_of(part)
    assert balls.pitch_mm == pytest.approx(15.0, abs=off_mm)
    assert balls.off_mm < off_mm
    assert balls.diameters_mm == pytest.approx([12.0] * len(balls.diameters_mm), abs=off_mm)


@pytest.mark.integration
def test_a_set_is_recognised_whatever_its_order_and_unit() -> None:
    bodies = [
        thrown(made(shape, Sizes(segments=12)), seed, scale=1 / 25.4)
        for seed, shape in enumerate(BODIES.values())
    ]
    parts, length_mm = BallFitter(IQFIT).fit(bodies[::-1], 12.0, 15.0)
    identities = identify(parts, [None] * len(parts), IQFIT)
    assert length_mm == 25.4
    assert [(one.key, one.alike) for one in identities] == [(name, (name,)) for name in IDS[::-1]]
    assert all(one.as_drawn for one in identities)
    assert all(part.margin > 0.15 for part in parts)


def test_other_pieces_than_those_of_iq_fit() -> None:
    """One ball that six links leave; two that differ by a link alone; and two that are alike."""
    star = ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1), (0, 0, 0))
    ring = ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0))
    shapes = {
        "star": BallBody(star, tuple((i, 6) for i in range(6))),
        "open": BallBody(ring, ((0, 1), (1, 2), (2, 3))),
        "ring": BallBody(ring, ((0, 1), (1, 2), (2, 3), (3, 0))),
        "twin": BallBody(((0, 0, 5), (0, 1, 5), (0, 0, 4), (0, 1, 4)), ((1, 0), (0, 2), (3, 2))),
    }
    pieces = tuple(replace(IQFIT.pieces[0], id=name, body=body) for name, body in shapes.items())
    puzzle = replace(IQFIT, pieces=pieces)
    bodies = [thrown(made(body, Sizes(flat=None)), 2) for body in shapes.values()]
    identities = identify(BallFitter(puzzle).fit(bodies, 15.0)[0], [None] * 4, puzzle)
    assert sorted(one.key for one in identities) == sorted(shapes)
    alike = [one.alike for one in identities]
    assert alike == [("star",), ("open", "twin"), ("ring",), ("open", "twin")]
    assert all(one.as_drawn for one in identities)


@pytest.mark.integration
def test_what_was_read_fills_the_board_as_often_as_the_rules_say() -> None:
    from fabkit.solid.builder import build_solid

    pieces, profile = [], load_profile(set_values=IQFIT.profile_values)
    for seed, piece in enumerate(IQFIT.pieces):
        part = read(thrown(written(build_solid(draft_ball_piece(IQFIT, piece, profile))), seed))
        shape = balls_of(part).shape
        pieces.append(replace(piece, body=shape, forms=forms_of_balls(shape)))
    puzzle = replace(IQFIT, pieces=tuple(pieces))
    assert solve(to_exact_cover(puzzle, puzzle.challenges[0]), "count").count == 301_350


PINK = BODIES["pink"]
#: Enough of the set for planted faults.
FEW = replace(IQFIT, pieces=tuple(IQFIT.piece(name) for name in ("pink", "sky", "blue")))
#: Of balls beside each other without a link.
NO_GAP = {"blue", "lime", "navy", "orange", "red"}


def findings(
    body: Mesh,
    settings: tuple[str, ...] = (),
    presets: tuple[str, ...] = (),
    puzzle: PuzzleSet = FEW,
) -> dict[str, Finding]:
    profile = load_profile(presets, settings, IQFIT.profile_values)
    parts, _ = BallFitter(puzzle).fit([body], profile.unit_mm)
    found = inspect_balls(parts[0], identify(parts, [None], puzzle)[0], puzzle, profile)
    assert len({one.rule for one in found}) == len(found), "each rule says one thing"
    return {one.rule: one for one in found}


def broken(found: dict[str, Finding]) -> set[str]:
    return {rule for rule, one in found.items() if not one.ok}


# --- sound pieces -------------------------------------------------------------------------

#: Facets of coarse balls lean by some degrees more than the ball beside its flat does.
LEANING = ("printer.overhang=49 deg",)
SOUND = [(name, USUAL, (), ()) for name in IDS] + [
    ("pink", COMPACT, (), ("compact",)),
    *(("pink", Sizes(segments=24, kind=kind), LEANING, ()) for kind in ("octahedral", "icosphere")),
]


@pytest.mark.every(4)
@pytest.mark.parametrize(("name", "sizes", "settings", "presets"), SOUND)
def test_sound_pieces_break_no_rule(
    name: str, sizes: Sizes, settings: tuple[str, ...], presets: tuple[str, ...]
) -> None:
    found = findings(made(BODIES[name], sizes), settings, presets, IQFIT)
    assert broken(found) == set()
    assert ("ball-gap" in found) == (name not in NO_GAP)


def test_a_turned_mesh_is_judged_as_it_is_printed() -> None:
    still, moved = findings(pink()), findings(thrown(pink(), 0))
    assert broken(moved) == broken(still) | {"ball-orientation"}
    # Whether it fits the bed is tried for a few turns only, which differ.
    for rule in set(still) - {"ball-orientation", "ball-shape", "build-volume"}:
        assert moved[rule].value == pytest.approx(still[rule].value, abs=2e-3, rel=1e-4), rule


# --- planted faults -----------------------------------------------------------------------


def without_link(at: int) -> BallBody:
    return BallBody(PINK.balls, PINK.bonds[:at] + PINK.bonds[at + 1 :])


def pink(**sizes: object) -> Mesh:
    return made(PINK, Sizes(**{"segments": 24, **sizes}))  # type: ignore[arg-type]


def with_box(low: tuple[float, float, float], high: tuple[float, float, float]) -> Mesh:
    return body_of_solid(solid(PINK, USUAL) + block(low, high))


def with_slit(low: tuple[float, float, float], high: tuple[float, float, float]) -> Mesh:
    return body_of_solid(solid(PINK, USUAL) - block(low, high))


def with_faces(change: Callable[[np.ndarray], np.ndarray]) -> Mesh:
    return replace(body := pink(), faces=change(body.faces))


EXTRA = BallBody(PINK.balls, (*PINK.bonds, (4, 5)))
HOUSE = BallBody(((0, 0, 0), (1, 0, 0), (2, 0, 0), (1, 1, 0)), ((0, 1), (1, 2), (1, 3)))
#: Faults, the rules that must notice each (no other rule may), and what one of them says.
FAULTS: list[tuple[Callable[[], Mesh], str, str]] = [
    (lambda: pink(links={2: 8.7}), "ball-link", "8.55 mm"),
    (lambda: pink(links={5: 8.7}), "ball-link", "at least 8.9 mm"),
    (lambda: made(without_link(3)), "ball-shape shells", "of pink, but the link 0-4 is missing"),
    (lambda: made(without_link(5)), "ball-shape shells", "of pink, but the link 1-6 is missing"),
    (lambda: made(EXTRA), "ball-shape", "the balls of pink, but the link 4-5 is extra"),
    (lambda: pink(balls={6: 11.7}), "ball-diameter", "11.7 mm"),
    (lambda: pink(balls={4: 11.9}), "ball-diameter", "11.9 mm"),
    (lambda: pink(balls={6: 12.3}), "ball-diameter ball-stray", "12.3 mm"),
    (lambda: pink(moved={6: (0, 0, 0.3)}), "ball-read ball-stray", ""),
    (lambda: mirrored(pink()), "ball-shape", "it is the mirror image of pink"),
    (lambda: made(HOUSE), "ball-shape", "no piece of the set has such balls"),
    (lambda: pink(moved={6: (0, 5, 0)}), "ball-shape", "pink is closest, but ball 6 is not"),
    (
        lambda: shapes.box((0, 0, 0), (30, 20, 7)),
        "ball-shape",
        "no piece of the set has such balls",
    ),
    (lambda: pink(flat=None), "ball-flat overhang", ""),
    (lambda: pink(flat=4.8), "ball-flat overhang", ""),
    (lambda: pink(pitch=14.9), "ball-pitch ball-gap", "14.9 mm"),
    (lambda: with_faces(lambda f: f[:, ::-1]), "shells cavities volume overhang", "inside out"),
    (
        lambda: with_faces(lambda faces: np.vstack([faces, faces[700:703]])),
        "watertight degenerate self-intersection",
        "",
    ),
    (lambda: with_faces(lambda faces: np.delete(faces, 700, axis=0)), "watertight", ""),
    (lambda: with_faces(lambda f: np.vstack([f[:40, ::-1], f[40:]])), "winding", ""),
    (lambda: with_box((-7.8, -2, -4.2), (-4, 2, 0)), "ball-stray ball-cells", ""),
    (lambda: with_box((0, 17, -4.2), (15, 18.5, 4.2)), "ball-gap", "is 0 mm"),
    (lambda: with_slit((7.4, -9, -3), (7.5, 3, 9)), "ball-slit ball-link", "middle of a link is"),
    (lambda: with_slit((-9, 1, -3), (4, 1.1, 9)), "ball-slit", "middle of a link is"),
]


def names_a_rule(at: int) -> bool:
    """Whether a fault's rules are named by none of those before it."""
    return FAULTS[at][1] not in [rules for _, rules, _ in FAULTS[:at]]


@pytest.mark.in_turn
@pytest.mark.parametrize(
    "at",
    [
        pytest.param(at, marks=() if names_a_rule(at) else pytest.mark.integration)
        for at in range(len(FAULTS))
    ],
)
def test_a_planted_fault_is_noticed_by_its_rules_alone(at: int) -> None:
    plant, rules, text = FAULTS[at]
    found = findings(plant())
    assert broken(found) >= set(rules.split())
    # A web that is no link overhangs, as do facets beside a flat that is too low.
    assert broken(found) <= {*rules.split(), "overhang"}
    assert any(text in found[rule].message for rule in rules.split())


def test_a_fault_is_shown_where_it_is() -> None:
    found = findings(pink(balls={6: 11.7}, links={5: 8.5}))
    ball, link = found["ball-diameter"].where, found["ball-link"].where
    assert ball is not None
    assert link is not None
    # As it lies, it may be turned by quarters: the ball stands over the spine's second one.
    assert link.contains(ball.centroid)


def test_a_piece_that_cannot_lie_flat_is_no_piece() -> None:
    found = findings(made(without_link(1)))["ball-cells"]
    assert not found.ok
    assert "no single longest straight row" in found.message


def test_balls_too_wide_for_their_cells() -> None:
    sizes = Sizes(pitch=15.0, ball=14.96, link=9.0, flat=5.2)
    settings = ("ball.diameter=14.96 mm", "ball.flat=5.2 mm", "gap.min=0.1 mm")
    body = made(BODIES["blue"], sizes)
    found = findings(body, settings)
    assert {"ball-cells"} <= broken(found) <= {"ball-cells", "overhang"}
    assert found["ball-cells"].value == pytest.approx(0.02, abs=2e-3)
    assert findings(body, (*settings[:2], "gap.min=0.02 mm"))["ball-cells"].ok


def test_a_ball_may_be_off_by_the_tolerance_and_no_more() -> None:
    for balls, ok in (({0: 12.045, 1: 11.955}, True), ({0: 12.055}, False)):
        assert findings(pink(balls=balls))["ball-diameter"].ok == ok
