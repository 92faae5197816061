"""Rules on pieces of balls: each notices the fault that is planted for it, and sound ones pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from fabkit.mesh.balls.recognise import identify_balls, take_in_balls
from fabkit.mesh.balls.rules import inspect_balls
from fabkit.mesh.body import Body
from fabkit.mesh.finding import Finding
from fabkit.model.balls import BallBody
from fabkit.model.profilefile import load_profile
from fabkit.model.puzzle import PuzzleSet
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

PINK = BODIES["pink"]
#: Enough of the set for planted faults.
FEW = replace(IQFIT, pieces=tuple(IQFIT.piece(name) for name in ("pink", "sky", "blue")))
#: Of balls beside each other without a link.
NO_GAP = {"blue", "lime", "navy", "orange", "red"}


def findings(
    body: Body,
    settings: tuple[str, ...] = (),
    presets: tuple[str, ...] = (),
    puzzle: PuzzleSet = FEW,
) -> dict[str, Finding]:
    profile = load_profile(presets, settings, IQFIT.unit_mm)
    parts, _ = take_in_balls([body], puzzle, profile.unit_mm)
    found = inspect_balls(parts[0], identify_balls(parts, puzzle)[0], puzzle, profile)
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
    assert broken(moved) == broken(still) | {"ball-lies"}
    # Whether it fits the bed is tried for a few turns only, which differ.
    for rule in set(still) - {"ball-lies", "ball-shape", "bed"}:
        assert moved[rule].value == pytest.approx(still[rule].value, abs=2e-3, rel=1e-4), rule


# --- planted faults -----------------------------------------------------------------------


def without_link(at: int) -> BallBody:
    return BallBody(PINK.balls, PINK.bonds[:at] + PINK.bonds[at + 1 :])


def pink(**sizes: object) -> Body:
    return made(PINK, Sizes(**{"segments": 24, **sizes}))  # type: ignore[arg-type]


def with_box(low: tuple[float, float, float], high: tuple[float, float, float]) -> Body:
    return body_of_solid(solid(PINK, USUAL) + block(low, high))


def with_faces(change: Callable[[np.ndarray], np.ndarray]) -> Body:
    return replace(body := pink(), faces=change(body.faces))


EXTRA = BallBody(PINK.balls, (*PINK.bonds, (4, 5)))
HOUSE = BallBody(((0, 0, 0), (1, 0, 0), (2, 0, 0), (1, 1, 0)), ((0, 1), (1, 2), (1, 3)))
#: Faults, the rules that must notice each (no other rule may), and what one of them says.
FAULTS: list[tuple[Callable[[], Body], str, str]] = [
    (lambda: pink(links={2: 8.7}), "ball-link", "8.55 mm"),
    (lambda: pink(links={5: 8.7}), "ball-link", "at least 8.9 mm"),
    (lambda: made(without_link(3)), "ball-shape shells", "of pink, but the link 0-4 is missing"),
    (lambda: made(without_link(5)), "ball-shape shells", "of pink, but the link 1-6 is missing"),
    (lambda: made(EXTRA), "ball-shape", "the balls of pink, but the link 4-5 is too many"),
    (lambda: pink(balls={6: 11.7}), "ball-diameter", "11.7 mm"),
    (lambda: pink(balls={4: 11.9}), "ball-diameter", "11.9 mm"),
    (lambda: pink(balls={6: 12.3}), "ball-diameter ball-stray", "12.3 mm"),
    (lambda: pink(moved={6: (0, 0, 0.3)}), "ball-read ball-stray", ""),
    (lambda: mirrored(pink()), "ball-shape", "it is the mirror image of pink"),
    (lambda: made(HOUSE), "ball-shape", "it has the balls of no piece of the set"),
    (lambda: pink(moved={6: (0, 5, 0)}), "ball-shape", "pink comes nearest, but ball 6 is not"),
    (lambda: shapes.box((0, 0, 0), (30, 20, 7)), "ball-shape", "the balls of no piece of the set"),
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
]


def names_a_rule(at: int) -> bool:
    """Whether a fault's rules are named by none of those before it."""
    return FAULTS[at][1] not in [rules for _, rules, _ in FAULTS[:at]]


@pytest.mark.parametrize(
    "at",
    [
        pytest.param(at, marks=() if names_a_rule(at) else pytest.mark.integration)
        for at in range(len(FAULTS))
    ],
)
def test_a_planted_fault_is_noticed_by_its_rules_alone(at: int) -> None:
    plant, rules, words = FAULTS[at]
    found = findings(plant())
    assert broken(found) >= set(rules.split())
    # A web that is no link overhangs, as do facets beside a flat that is too low.
    assert broken(found) <= {*rules.split(), "overhang"}
    assert any(words in found[rule].message for rule in rules.split())


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
    assert "it has no single longest straight row" in found.message


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
