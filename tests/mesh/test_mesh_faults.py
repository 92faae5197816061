"""The checks of meshes can fail: planted faults are named, each by its rule, good prints never."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest

from fabkit.mesh.files.reading import read_bodies
from fabkit.model.library import load_set
from fabkit.verify.check import CheckReport, check
from fabkit.verify.taking import take
from tests.support import analytic, measure
from tests.support.checks import lettered_faces
from tests.support.faults.catalogue import FAULTS
from tests.support.faults.harmless import HARMLESS
from tests.support.faults.kits import PLAIN, RIBBED, TWO_FACED, kit
from tests.support.faults.planting import Case, Fault, Planted
from tests.support.measure import DOWN, UP
from tests.support.prints import NO_STUBS, Order, Print, print_set

LIMITED = [fault for fault in FAULTS if fault.limited]
BEYOND, WITHIN = 1.1, 0.9


def failed(report: CheckReport, planted: Planted, fault: Fault) -> list[str]:
    """What is reported where the fault must be named: rules, or messages of assemblies."""
    if fault.at == "set":
        return [finding.rule for finding in report.findings if not finding.ok]
    if fault.at == "assembly":
        return [message for one in report.assemblies for message in one.messages]
    return [
        finding.rule
        for one in report.parts
        for finding in one.failed
        if one.part.name == planted.faulty
    ]


def everything(report: CheckReport) -> list[str]:
    """All that is reported."""
    found = [
        f"set: {finding.rule}: {finding.message}" for finding in report.findings if not finding.ok
    ]
    for one in report.parts:
        found += [f"{one.part.name}: {finding.rule}: {finding.message}" for finding in one.failed]
    return [*found, *(message for one in report.assemblies for message in one.messages)]


def unjustly_blamed(report: CheckReport, planted: Planted) -> list[str]:
    return [
        f"{one.part.name}: {finding.message}"
        for one in report.parts
        for finding in one.failed
        if one.part.name != planted.faulty
    ]


def assert_named(fault: Fault, planted: Planted) -> CheckReport:
    report = planted.report()
    found = failed(report, planted, fault)
    if fault.at == "assembly":
        assert any(fault.rule in message for message in found), everything(report)
    else:
        assert fault.rule in found, everything(report)
    if fault.at == "part" and not fault.blames:
        assert unjustly_blamed(report, planted) == []
    return report


# --- planted faults -----------------------------------------------------------------------


#: Where there is a limit, what is a tenth beyond it is named by default, and more with --long.
CLEAR = [
    pytest.param(fault, id=str(fault), marks=pytest.mark.long if fault.limited else ())
    for fault in FAULTS
]


@pytest.mark.every(2)
@pytest.mark.parametrize("fault", CLEAR)
def test_a_clear_fault_is_named(fault: Fault) -> None:
    assert_named(fault, fault.clearly(seed=0))


# Both in one test, for which the same good pieces are printed once.
@pytest.mark.every(3)
@pytest.mark.parametrize("fault", LIMITED, ids=str)
def test_a_tenth_beyond_its_limit_a_fault_is_named_alone_and_a_tenth_within_nothing(
    fault: Fault,
) -> None:
    planted = fault.planted(BEYOND, seed=0)
    report = assert_named(fault, planted)
    if fault.at == "part" and not fault.blames:
        assert set(failed(report, planted, fault)) == {fault.rule, *fault.also}
    assert everything(fault.planted(WITHIN, seed=0).report()) == []


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 7))
@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_faults_are_named_wherever_they_are(fault: Fault, seed: int) -> None:
    assert_named(fault, fault.clearly(seed))
    if fault.limited:
        assert_named(fault, fault.planted(BEYOND, seed))
        assert everything(fault.planted(WITHIN, seed).report()) == []


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_faults_are_named_on_every_piece(fault: Fault) -> None:
    for seed, piece in enumerate(fault.pieces):
        assert_named(fault, fault.clearly(seed, piece))
        if fault.limited:
            assert_named(fault, fault.planted(BEYOND, seed, piece))
    for seed, piece in enumerate(fault.at_limit or fault.pieces if fault.limited else ""):
        assert everything(fault.planted(WITHIN, seed, piece).report()) == []


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_faults_are_named_in_the_whole_set(fault: Fault) -> None:
    # A large piece does not fit the bed that is made for a small one.
    if fault.rule != "bed":
        assert_named(fault, fault.clearly(7, whole=True))
        if fault.limited:
            assert_named(fault, fault.planted(BEYOND, 7, whole=True))
            assert everything(fault.planted(WITHIN, 7, whole=True).report()) == []


@pytest.mark.parametrize("piece", ["L", pytest.param("D", marks=pytest.mark.long)])
@pytest.mark.parametrize(("name", "plant"), HARMLESS, ids=[name for name, _ in HARMLESS])
def test_what_is_no_fault_is_not_reported(
    name: str, plant: Callable[[Case, float], Planted], piece: str
) -> None:
    case = Case(kit(PLAIN, piece + "MY"), piece, Random(f"{name} {piece}"))
    assert everything(plant(case, 1.0).report()) == []


def test_the_overlap_of_a_piece_that_is_too_large_is_measured() -> None:
    """Two sides that each reach 0.05 mm too far overlap by that along all that they share."""
    (fault,) = [one for one in FAULTS if one.name == "grown into each other"]
    planted = fault.planted(2.5, 0, "B")
    (assembly,) = planted.report().assemblies
    assert assembly.overlap_mm3 > 0
    shared = 2 * 20.0
    least, most = (0.05 * length * 5.9 for length in (0.5 * shared, 3 * shared))
    assert least < assembly.overlap_mm3 < most


@pytest.mark.parametrize("order", [PLAIN, RIBBED, TWO_FACED], ids=str)
def test_every_rule_has_a_fault(order: Order) -> None:
    """What is said of good prints, which keep every rule, names all the rules that there are."""
    good = kit(order, "QMY")
    report = check(take([*good.bodies.values()], good.puzzle, good.profile.unit_mm), good.profile)
    assert everything(report) == []
    rules = {finding.rule for one in report.parts for finding in one.findings}
    rules |= {finding.rule for finding in report.findings}
    assert rules <= {fault.rule for fault in FAULTS}


def test_kinds_of_faults_have_different_names() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 25


# --- good prints --------------------------------------------------------------------------

#: With a few challenges put together: the first by default, the second with --long.
USUAL = [("fridgeiq", PLAIN), ("fridgeiq", RIBBED)]
FEW = 3
#: Measured with --long, with all challenges.
SETS = [
    *USUAL,
    *(("fridgeiq", order) for order in (Order(("compact",)), Order(("petg",)), TWO_FACED)),
    ("iqstars", Order((), (NO_STUBS,))),
]
PRINTS = [
    *(
        pytest.param(*one, FEW, id=f"{one[0]} {one[1]} {FEW}", marks=marks)
        for one, marks in zip(USUAL, ([], [pytest.mark.long]), strict=True)
    ),
    *(
        pytest.param(*one, None, id=f"{one[0]} {one[1]} all", marks=pytest.mark.long)
        for one in SETS
    ),
]


@pytest.mark.parametrize(("set_name", "order", "count"), PRINTS)
def test_good_prints_have_no_faults_and_measure_what_they_are(
    set_name: str, order: Order, count: int | None, tmp_path: Path
) -> None:
    whole = load_set(set_name)
    puzzle = replace(whole, challenges=whole.challenges[:count])
    prints = print_set(set_name, order, tmp_path)
    bodies = [body for path in sorted(tmp_path.glob("*.stl")) for body in read_bodies(path)]
    report = check(take(bodies, puzzle, order.profile().unit_mm), order.profile())
    assert everything(report) == []
    assert report.ok
    found = {one.identity.piece: one for one in report.parts}
    assert found.keys() == {one.drawing.id for one in prints}
    for one in prints:
        part = found[one.drawing.id]
        values = {finding.rule: finding.value for finding in part.findings}
        for rule, (value, tolerance) in expected(one, values).items():
            assert values[rule] == pytest.approx(value, abs=tolerance), (one.drawing.id, rule)


def expected(one: Print, values: dict[str, float | None]) -> dict[str, tuple[float, float]]:
    """What the rules should measure, with how far they may be off: gauged on the print."""
    profile, mesh = one.profile, one.mesh
    top_mm = profile.thickness_mm
    right = {
        "volume": (float(mesh.volume), 0.01 + 1e-5 * float(mesh.volume)),
        "thickness": (float(np.ptp(mesh.vertices[:, 2])), 1e-3),
        "unit": (profile.unit_mm, 1e-3),
        "gap-least": (2 * profile.inset_mm, 2e-3),
        "gap-most": (2 * profile.inset_mm, 2e-3),
        "top-chamfer": (chamfer_mm(one, top_mm, UP), 1e-3),
        "foot-chamfer": (chamfer_mm(one, 0.0, DOWN), 1e-3),
    }
    levels = measure.flat_levels(mesh)
    right["flat-back"] = levels[0.0, DOWN] / one.outline.area, 1e-3
    for height_mm, facing, inwards in lettered_faces(profile)[:1]:
        floors = [z for z, faces in levels if faces == facing and 0 < (z - height_mm) * inwards < 1]
        right["label-depth"] = abs(floors[0] - height_mm), 1e-3
    if "tip" in values:
        right["tip"] = flat_of_sharpest_tip_mm(one), 0.01
    if one.magnets:
        right |= recesses(one)
    return right


def chamfer_mm(one: Print, height_mm: float, facing: int) -> float:
    flat = measure.filled(measure.flat_part(one.mesh, height_mm, facing))
    seen = measure.filled(one.section(one.profile.thickness_mm / 2 + 0.0137))
    return float(seen.exterior.distance(flat.exterior))


def flat_of_sharpest_tip_mm(one: Print) -> float:
    """The shortest side between two obtuse angles: what was cut across a tip."""
    middle = measure.filled(one.section(one.profile.thickness_mm / 2 + 0.0137)).simplify(1e-3)
    points = measure.corners(middle.exterior)
    return min(math.dist(a, b) for a, b in zip(points, np.roll(points, -1, axis=0), strict=True))


def recesses(one: Print) -> dict[str, tuple[float, float]]:
    profile, mesh = one.profile, one.mesh
    low_mm, high_mm = analytic.recess_heights_mm(profile)
    levels = measure.flat_levels(mesh)
    end = min((z for z, facing in levels if facing == DOWN and z > 1.5))
    begin = max((z for z, facing in levels if facing == UP and z < 2.0), default=0.0)
    if not profile.embedded:
        begin = 0.0
    # Just above the mouth its cone takes away the ribs, where the wall may be thinnest.
    heights = [low_mm + profile.mouth_mm + 0.0037, low_mm + 0.6 * (high_mm - low_mm) + 0.0137]
    walls = []
    for section in map(one.section, heights):
        bores = measure.holes(section)
        walls += [measure.wall_mm(section, bore) for bore in bores]
        walls += [bores[0].distance(other) for other in bores[1:]]
    right = {"recess-depth": (end - begin, 1e-3), "wall": (min(walls), 0.01)}
    if profile.fit == "ribs":
        ribs = measure.ribs_of(bores[0])
        right["recess-diameter"] = ribs.root.diameter_mm, 5e-3
        right["rib-crest"] = ribs.crest.diameter_mm, 5e-3
    else:
        circle = measure.fit_circle(measure.corners(bores[0].exterior))
        right["recess-diameter"] = circle.diameter_mm, 5e-3
    if not profile.embedded:
        foot = measure.flat_part(mesh, 0.0, DOWN)
        holes = measure.holes(foot)
        # The rule cuts 0.01 mm above the bed, where chamfer and mouth leave twice that more,
        # and in a concave corner 2.4 times.
        right["bed-wall"] = min(measure.wall_mm(foot, hole) for hole in holes), 0.025
        rim = measure.fit_circle(measure.corners(holes[0].exterior))
        bore_mm = right["recess-diameter"][0]
        right["mouth"] = (rim.diameter_mm - bore_mm) / 2, 5e-3
    return right
