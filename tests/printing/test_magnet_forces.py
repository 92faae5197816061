"""The forces between magnets: against magpylib, published tables, and signs that everyone can
check.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fabkit.drawing.jig import draft_jigs
from fabkit.model.piece import placements
from fabkit.model.puzzle import Given
from fabkit.printing.magnet_forces import Disc, MagnetForces, magnet_forces, magnet_gap_mm
from fabkit.profiles.profile import POLARITIES
from fabkit.profiles.profile_file import load_profile
from fabkit.sets.challenges import find_challenge
from fabkit.sets.library import load_set
from fabkit.solve.answer import solve
from fabkit.solve.encoding import to_exact_cover

FACTS = json.loads((Path(__file__).parents[1] / "facts" / "magnets.json").read_text())
FRIDGEIQ = load_set("fridgeiq")
DISC = Disc.of_profile(load_profile())


@pytest.mark.parametrize("pair", FACTS["pairs"]["forces"])
def test_forces_are_those_of_another_library(pair: list[float]) -> None:
    diameter_mm, height_mm, remanence_t, aside_mm, up_mm, *expected_n = pair
    forces_n = Disc(diameter_mm, height_mm, remanence_t).forces_n(aside_mm, up_mm)
    assert forces_n == pytest.approx(expected_n, rel=0.001, abs=1e-4)


@pytest.mark.parametrize("table", ["catalog", "calculator"])
def test_pull_on_steel_is_that_of_published_tables(table: str) -> None:
    discs = FACTS["pull_n"][table]["discs"]
    for diameter_mm, height_mm, grade, published_n in discs:
        pull_n = Disc.of_grade(diameter_mm, height_mm, grade).pull_n(0.0)
        assert pull_n == pytest.approx(published_n, rel=0.1), (diameter_mm, height_mm, grade)


def test_pull_through_a_gap_is_that_of_finite_elements() -> None:
    facts = FACTS["finite_elements"]
    disc = Disc(facts["diameter_mm"], facts["height_mm"], facts["remanence_t"])
    # The model steel is smooth, and the magnet bare: an image at twice the gap, no coating.
    image_mm = disc.height_mm + 2 * facts["gap_mm"]
    assert -disc.forces_n(0.0, image_mm)[1] == pytest.approx(facts["pull_n"], rel=0.1)


@pytest.mark.parametrize(("grade", "limits"), FACTS["remanence_t"]["ranges"].items())
def test_a_grade_states_the_remanence(grade: str, limits: list[float]) -> None:
    least, greatest = limits
    assert least <= Disc.of_grade(10, 3, f"{grade}SH").remanence_t <= greatest
    assert Disc.of_grade(10, 3, "as sold") == Disc.of_grade(10, 3, "N35")


def test_far_apart_magnets_are_dipoles() -> None:
    moment = DISC.remanence_t / (4e-7 * math.pi) * math.pi / 4 * 0.01**2 * 0.003
    dipole_n = 3 * 4e-7 * math.pi * moment**2 / (4 * math.pi * 0.08**4)
    assert DISC.push_n(80.0) == pytest.approx(dipole_n, rel=0.02)


def test_like_poles_repel_side_by_side_and_attract_in_a_stack() -> None:
    aside_n, _ = DISC.forces_n(16.0, 0.0)
    _, up_n = DISC.forces_n(0.0, 8.0)
    assert aside_n > 0 > up_n


def test_steel_doubles_the_push_between_neighbours() -> None:
    assert 1.3 < DISC.push_n(16.0, 0.2) / DISC.push_n(16.0) < 2


def test_a_jig_carries_a_magnet_and_lets_a_recess_keep_it() -> None:
    profile = load_profile()
    (jig,) = draft_jigs(["N"], profile)
    # From the end of the shaft to the tip: the plastic between both magnets.
    apart_mm = jig.drawing.thickness_mm - jig.shaft_depth_mm
    _, up_n = DISC.forces_n(0.0, profile.magnet_height_mm + apart_mm)
    assert -up_n == pytest.approx(2.3, abs=0.15)
    assert 100 < -up_n / DISC.weight_n < 150
    assert 6 < DISC.pull_n(0.0) / -up_n < 7.5
    # Its tip shows the other pole than the magnet, so that a magnet sticks only the right way
    # round.
    assert {jig.pole, jig.tip} == {"N", "S"}


def forces(*settings: str) -> MagnetForces:
    found = magnet_forces(FRIDGEIQ, FRIDGEIQ.pieces, load_profile((), settings))
    assert found is not None
    return found


@pytest.mark.integration
def test_the_same_pole_everywhere_pushes_least() -> None:
    pushed = {polarity: forces(f"magnet.polarity={polarity}") for polarity in POLARITIES}
    steel_n = {
        polarity: found.on_steel.push_n for polarity, found in pushed.items() if found.on_steel
    }
    assert load_profile().polarity == min(steel_n, key=lambda polarity: steel_n[polarity]) == "same"
    assert max(steel_n, key=lambda polarity: steel_n[polarity]) == "free"
    for found in pushed.values():
        assert found.solutions == 246
        assert found.on_steel
        assert found.on_steel.is_held
        assert found.in_tray
        assert not found.in_tray.is_held


@pytest.mark.integration
def test_plastic_below_a_magnet_takes_its_pull() -> None:
    thin = forces("recess.fit=embedded", "recess.floor=0.6 mm")
    thick = forces("recess.fit=embedded", "recess.floor=2.4 mm")
    assert (thin.gap_mm, thick.gap_mm) == (0.6, 2.4)
    assert thin.pull_n > 2 * thick.pull_n
    assert thick.on_steel
    assert not thick.on_steel.is_held
    assert any("does NOT hold it" in sentence for sentence in thick.sentences)


DOMINOES = """
[set]
name = "dominoes"
lattice = "square"
moves = "rotations"
[[piece]]
id = "A"
rows = ["AA"]
[[piece]]
id = "B"
rows = ["BB"]
[[piece]]
id = "C"
rows = ["CC"]
"""


@pytest.mark.parametrize(
    ("polarity", "middle", "outer"),
    [("same", 0, 1 + 1 / 16), ("alternating", 0, 1 - 1 / 16), ("free", 2, 1 + 1 / 16)],
)
def test_a_net_push_is_the_sum_over_all_other_magnets(
    polarity: str, middle: float, outer: float, tmp_path: Path
) -> None:
    """Three dominoes, one above another, a magnet in the middle of each: about dipoles."""
    (tmp_path / "dominoes.toml").write_text(DOMINOES)
    puzzle = load_set(str(tmp_path / "dominoes.toml"))
    profile = load_profile((), [f"magnet.polarity={polarity}", "unit=30 mm"])
    _, (up_x, up_y) = puzzle.lattice.basis
    layout = {
        piece.id: frozenset((x + row * up_x, y + row * up_y) for x, y in piece.forms[0].cells)
        for row, piece in enumerate(puzzle.pieces)
    }
    found = magnet_forces(puzzle, puzzle.pieces, profile, [("tower", layout, 1)])
    assert found
    assert found.in_tray
    assert found.on_steel
    net_n = max(middle, outer) * DISC.push_n(30.0)
    assert found.in_tray.push_n == pytest.approx(net_n, rel=0.02)
    assert (found.in_tray.piece == "B") == (middle > outer)


def test_sets_without_magnets_have_no_forces() -> None:
    for name in ("iqblock", "iqfit", "iqstars"):
        puzzle = load_set(name)
        profile = load_profile((), (), puzzle.profile_values)
        assert magnet_forces(puzzle, puzzle.pieces, profile) is None


def test_a_recess_is_deeper_than_its_magnet() -> None:
    assert magnet_gap_mm(load_profile()) == 0.2
    turned = replace(load_profile(["flippable"]), facing="down")
    assert magnet_gap_mm(turned) >= turned.floor_mm
    assert np.isfinite(DISC.pull_n(magnet_gap_mm(turned)))


@pytest.mark.integration
def test_the_docs_state_the_worst_push_in_square_10() -> None:
    """In ten solutions with the smallest piece at each of its places: like the docs' table."""
    square = find_challenge(FRIDGEIQ, "square_10")
    solutions = []
    for place in placements(FRIDGEIQ.lattice, FRIDGEIQ.piece("D"), square.region, False):
        encoded = to_exact_cover(FRIDGEIQ, replace(square, given=(Given("D", place.cells),)))
        for solution in solve(encoded, "all", limit=10).solutions:
            solutions.append(("square_10", encoded.decode(solution), 1))
    assert len(solutions) == 1120
    text = (Path(__file__).parents[2] / "docs/how-to/embedded-magnets.md").read_text()
    rows = re.findall(r"\| `(\w+)`[^|]* \| ([0-9.]+) N \| ([0-9.]+) N \|", text)
    assert [polarity for polarity, _, _ in rows] == ["same", "alternating", "free"]
    # The set's other solutions are no less extreme: only these count here.
    bare = replace(FRIDGEIQ, name="bare", entries=())
    for polarity, steel_n, tray_n in rows:
        profile = load_profile((), [f"magnet.polarity={polarity}"])
        found = magnet_forces(bare, bare.pieces, profile, solutions)
        assert found
        assert found.on_steel
        assert found.in_tray
        assert f"{found.on_steel.push_n:.2f}" == steel_n
        assert f"{found.in_tray.push_n:.2f}" == tray_n
        assert f"{found.pull_n:.1f} N on each magnet" in text
        assert f"friction holds {found.on_steel.hold_n:.1f} N" in text
        assert f"friction holds only {found.in_tray.hold_n:.2f} N" in text


@pytest.mark.integration
def test_a_grade_that_is_none_of_neodymium_is_said() -> None:
    puzzle = load_set("fridgeiq")
    forces = magnet_forces(puzzle, puzzle.pieces, load_profile((), ["magnet.grade=Y30"]))
    assert forces is not None
    assert any(
        'N35: magnet.grade "Y30" is not a grade' in sentence for sentence in forces.sentences
    )
    usual = magnet_forces(puzzle, puzzle.pieces, load_profile())
    assert usual is not None
    assert not any("is not a grade" in sentence for sentence in usual.sentences)
