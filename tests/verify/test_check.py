"""The checks of meshes can fail: each rule names its fault and no other, good prints have none."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from random import Random

import numpy as np
import pytest
import shapely
from shapely import Point, Polygon

from fabkit.build.artifacts import Artifacts
from fabkit.mesh.finding import RULES
from fabkit.printing.magnet_forces import magnet_gap_mm
from fabkit.profiles.accessory import printables
from fabkit.profiles.profile_file import load_profile
from fabkit.sets.library import load_set
from fabkit.verify.reports import CheckReport, check
from tests.support import analytic, measure
from tests.support.checks import fit_circle, lettered_faces, thinnest_wall_mm
from tests.support.faults import solids
from tests.support.faults.catalogue import FAULTS
from tests.support.faults.harmless import HARMLESS
from tests.support.faults.kits import ALL, PLAIN, RIBBED, TWO_FACED, kit
from tests.support.faults.planting import Case, Fault, Planted, in_one_set
from tests.support.measure import DOWN, UP
from tests.support.prints import NO_PEGS, Order, Print
from tests.support.scans import printed_set, scanned

BEYOND, WITHIN = 1.1, 0.9
INTEGRATION = pytest.mark.integration


def first_of_each_rule() -> Iterator[Fault]:
    """For each rule one fault, with a limit where there is one; a lead-in errs both ways."""
    seen = set()
    for fault in sorted(FAULTS, key=lambda one: not one.limited):
        if fault.rule not in seen or fault.name == "no lead-in":
            seen.add(fault.rule)
            yield fault


ONE_EACH = list(first_of_each_rule())
OTHERS = [fault for fault in FAULTS if fault not in ONE_EACH]


def everything(report: CheckReport) -> list[str]:
    """All that is reported: on the set, its parts, and their assemblies."""
    found = [("set", finding) for finding in report.findings if not finding.ok]
    found += [(one.name, finding) for one in report.parts for finding in one.failed]
    return [f"{name}: {finding.rule}: {finding.message}" for name, finding in found] + [
        f"assembly: {message}" for one in report.assemblies for message in one.messages
    ]


def reported(fault: Fault, planted: Planted) -> CheckReport:
    """The report; parts are not assembled where the fault is to be named on one alone."""
    return planted.report(answers=[] if fault.at == "part" else None)


def assert_named(fault: Fault, planted: Planted) -> None:
    report = reported(fault, planted)
    starts = f"{planted.faulty if fault.at == 'part' else fault.at}: "
    starts += "" if fault.at == "assembly" else f"{fault.rule}: "
    found = everything(report)
    assert any(one.startswith(starts) and fault.rule in one for one in found), found
    if fault.at == "part" and not fault.blames:
        assert {one.part.name for one in report.parts if one.failed} == {planted.faulty}, found


# --- planted faults -----------------------------------------------------------------------


def assert_each_named(planted: Planted, on_piece: Mapping[str, Fault], alone: bool) -> None:
    """Each fault on its piece, alone if it has a limit, and nothing on other pieces."""
    report = planted.report(answers=[])
    broken = {one.name: {finding.rule for finding in one.failed} for one in report.parts}
    for name, fault in on_piece.items():
        found = broken[name]
        assert fault.rule in found, (fault.name, name, everything(report))
        if alone and fault.limited:
            assert found == {fault.rule}, (fault.name, name)
    assert {name for name, rules in broken.items() if rules} == set(on_piece)


SHARED = [one for one in ONE_EACH if one.shares]
PLAINS = [one for one in SHARED if one.ordered(BEYOND) == PLAIN]
ORDERS = [one for one in SHARED if one not in PLAINS]
#: Faults that are planted in few sets, each on a piece of its own; the first two by default.
TOGETHER = {
    "limits": [one for one in PLAINS if one.limited],
    "plain": [one for one in PLAINS if not one.limited],
    "orders": ORDERS,
    "others": [one for one in OTHERS if one.shares],
}


@pytest.mark.parametrize(
    "which", [*[*TOGETHER][:2], *(pytest.param(one, marks=INTEGRATION) for one in [*TOGETHER][2:])]
)
def test_each_rule_names_its_fault_beyond_its_limit_and_says_nothing_within(which: str) -> None:
    """One fault with an order of its own is held within its limit by the long tests."""
    faults = TOGETHER[which]
    bare = faults[0] in ONE_EACH
    for planted, on_piece in in_one_set(faults, BEYOND, 1 if bare else 2, bare):
        assert_each_named(planted, on_piece, alone=True)
    orders = [one.ordered(BEYOND) for one in faults]
    within = [one for one in faults if one.limited and orders.count(one.ordered(BEYOND)) > 1]
    for planted, _ in in_one_set(within, WITHIN, 0 if bare else 2, bare):
        assert everything(planted.report(answers=[])) == []


@pytest.mark.in_turn
@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(
            one, id=one.name, marks=() if one in ONE_EACH and one.at != "assembly" else INTEGRATION
        )
        for one in FAULTS
        if not one.shares
    ],
)
def test_faults_of_sets_and_printers_are_named(fault: Fault) -> None:
    assert_named(fault, fault.planted(BEYOND, 0) if fault.limited else fault.clearly(0))
    if fault.limited:
        assert everything(reported(fault, fault.planted(WITHIN, 0))) == []


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_faults_are_named_wherever_they_are(fault: Fault) -> None:
    for seed in range(7):
        pieces = fault.pieces if seed == 0 else [None]
        for piece in pieces:
            assert_named(fault, fault.clearly(seed, piece))
            if fault.limited:
                assert_named(fault, fault.planted(BEYOND, seed, piece))
        for piece in (fault.at_limit or pieces) if fault.limited else ():
            assert everything(fault.planted(WITHIN, seed, piece).report()) == []


#: Faults of form, and of letters: the whole set has them, each piece one.
OF_FORM = [*solids.FAULTS, *(one for one in FAULTS if one.rule in ("label-size", "label-turn"))]


@pytest.mark.integration
@pytest.mark.parametrize(
    "faults",
    [
        pytest.param(OF_FORM, id="one after the other"),
        *(pytest.param([one], id=one.name, marks=INTEGRATION) for one in OF_FORM),
    ],
)
def test_faults_of_form_are_named_sixteen_at_a_time(faults: list[Fault]) -> None:
    """On every piece of the set a fault that it can have: no good piece says what is right."""
    made = kit(PLAIN, ALL, solved=False)
    on_piece, bodies, left = {}, dict(made.bodies), itertools.cycle(faults)
    for piece in sorted(ALL, key=lambda one: sum(one in fault.pieces for fault in faults)):
        case = Case(made, piece, Random(piece))
        for fault in itertools.islice(left, len(faults)):
            if piece in fault.pieces:
                on_piece[case.name] = fault
                bodies[piece] = fault.plant(case, sum(fault.clear) / 2).bodies[-1]
                break
    planted = Planted(made.puzzle, made.profile, tuple(bodies.values()), "")
    assert_each_named(planted, on_piece, alone=False)


def test_a_slit_is_reported_with_its_place_and_its_size() -> None:
    fault = next(fault for fault in solids.FAULTS if fault.name == "slit within a side")
    lines = everything(reported(fault, fault.clearly(0, "B")))
    message = next(line for line in lines if ": dent: " in line)
    at = r"at x -?[\d.]+, y -?[\d.]+, z -?[\d.]+ in the file"
    assert re.search(rf"slit in the outline \({at}; 0\.10 mm wide, [\d.]+ mm long\)", message)


@pytest.mark.parametrize("piece", ["L", pytest.param("D", marks=pytest.mark.long)])
def test_what_is_no_fault_is_not_reported(piece: str) -> None:
    """A piece elsewhere, one turned, one of smaller triangles, noise; all shuffled and renamed."""
    made = kit(PLAIN, piece + "MY")
    planted = Case(made, piece, Random(piece)).planted(made.bodies[piece])
    for one, (name, change) in zip((piece, *"MYYM", piece), HARMLESS.items(), strict=True):
        bodies = {body.name.removesuffix(".stl"): body for body in planted.bodies}
        planted = change(Case(replace(made, bodies=bodies), one, Random(name)), 1.0)
    assert everything(planted.report()) == []


# --- the rules that there are ---------------------------------------------------------------

#: Rules on what only some sets have.
OF_BOARDS = {
    one
    for one in RULES
    if one.startswith(("ball-", "board-", "cell-mark", "joint-", "lid-", "socket-", "peg-"))
}


def rules_of(report: CheckReport) -> set[str]:
    """What is asked of good prints."""
    assert everything(report) == []
    parts = [finding for part in report.all_parts for finding in part.findings]
    assert all(finding.ok for finding in parts)
    return {finding.rule for finding in (*report.findings, *parts)}


def test_every_rule_has_a_fault_and_stands_in_the_table() -> None:
    """The report on good prints, which keep every rule, names all the rules that there are."""
    rules = set()
    more = ("recess.fit=ribs", "magnet.polarity=alternating", "recess.release=2 mm")
    ribbed = Order((), more)
    for order, pieces in ((PLAIN, "QMY"), (TWO_FACED, "M"), (ribbed, "L")):
        good = kit(order, pieces)
        rules |= rules_of(Planted(good.puzzle, good.profile, (*good.bodies.values(),), "").report())
    assert rules <= {fault.rule for fault in FAULTS}
    assert RULES.keys() - OF_BOARDS == rules


@pytest.mark.integration
def test_the_table_has_every_rule_of_boards() -> None:
    rules = set()
    for name, settings in (("iqfit", []), ("iqstars", []), ("iqblock", ["lid.kind=snap"])):
        puzzle = load_set(name)
        profile = load_profile([], settings, puzzle.profile_values)
        wanted = printables(puzzle, profile)
        bodies = map(Artifacts(puzzle, wanted, profile).mesh, wanted)
        rules |= rules_of(Planted(puzzle, profile, tuple(bodies), "").report())
    # These sets have no marks, no texts on their boards, and boards in one part.
    others = {rule for rule in RULES if rule.startswith(("cell-mark", "board-text", "joint-"))}
    assert OF_BOARDS - others <= rules <= RULES.keys()


# --- good prints --------------------------------------------------------------------------

#: By default some pieces, with --integration the set and three challenges, with --long all.
ORDERED = (PLAIN, RIBBED, Order(("compact",)), Order(("petg",)), TWO_FACED)
GOOD = [*(("fridgeiq", one) for one in ORDERED), ("iqstars", Order((), (NO_PEGS,)))]


@pytest.mark.parametrize(
    ("set_name", "order", "count", "pieces"),
    [
        (*GOOD[0], 0, "DLQT"),
        *(pytest.param(*one, 3, "", marks=INTEGRATION) for one in GOOD[:2]),
        *(pytest.param(*one, None, "", marks=pytest.mark.long) for one in GOOD),
    ],
    ids=str,
)
def test_good_prints_have_no_faults_and_measure_what_they_are(
    set_name: str, order: Order, count: int | None, pieces: str
) -> None:
    found = scanned(set_name, order, pieces)
    puzzle = replace(found.puzzle, challenges=found.puzzle.challenges[:count])
    report = check(replace(found, puzzle=puzzle), order.profile())
    assert everything(report) == []
    assert report.ok
    assert report.magnets
    assert report.magnets.gap_mm == magnet_gap_mm(order.profile())
    parts = {one.piece: one for one in report.parts}
    prints = printed_set(set_name, order, pieces)
    assert parts.keys() == {one.drawing.id for one in prints}
    for one in prints[::4] if count else prints:
        part = parts[one.drawing.id]
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
        "gap-min": (2 * profile.inset_mm, 2e-3),
        "gap-max": (2 * profile.inset_mm, 2e-3),
        "top-chamfer": (chamfer_mm(one, top_mm, UP), 1e-3),
        "foot-chamfer": (chamfer_mm(one, 0.0, DOWN), 1e-3),
    }
    levels = measure.flat_levels(mesh)
    right["bed-contact"] = levels[0.0, DOWN] / one.outline.area, 1e-3
    for height_mm, facing, inwards in lettered_faces(profile)[:1]:
        floors = [z for z, faces in levels if faces == facing and 0 < (z - height_mm) * inwards < 1]
        right["label-depth"] = abs(floors[0] - height_mm), 1e-3
    if "tip" in values:
        right["tip"] = flat_of_sharpest_tip_mm(one), 0.01
    if one.magnets:
        right |= recesses(one)
    return right


def seen(one: Print) -> Polygon:
    return measure.filled(one.section(one.profile.thickness_mm / 2 + 0.0137))


def chamfer_mm(one: Print, height_mm: float, facing: int) -> float:
    flat = measure.filled(measure.flat_part(one.mesh, height_mm, facing))
    return float(seen(one).exterior.distance(flat.exterior))


def flat_of_sharpest_tip_mm(one: Print) -> float:
    """The shortest side between two obtuse angles: what was cut across a tip."""
    points = measure.corners(seen(one).simplify(1e-3).exterior)
    return min(math.dist(a, b) for a, b in zip(points, np.roll(points, -1, axis=0), strict=True))


def recesses(one: Print) -> dict[str, tuple[float, float]]:
    profile, mesh = one.profile, one.mesh
    low_mm, high_mm = analytic.recess_heights_mm(profile)
    levels = measure.flat_levels(mesh)
    end = min((z for z, facing in levels if facing == DOWN and z > 1.5))
    tops = [z for z, facing in levels if facing == UP and z < 2.0 and profile.embedded]
    begin = max(tops, default=0.0)
    # Just above the lead-in its cone takes away the ribs, where the wall may be thinnest.
    heights = [low_mm + profile.lead_in_mm + 0.0037, low_mm + 0.6 * (high_mm - low_mm) + 0.0137]
    cuts = [one.section(height_mm) for height_mm in heights]
    pockets = measure.holes(cuts[-1])
    wall_mm = min(map(thinnest_wall_mm, cuts))
    right = {"recess-depth": (end - begin, 1e-3), "wall": (wall_mm, 0.01)}
    if profile.fit == "ribs":
        ribs = measure.ribs_of(pockets[0])
        right["recess-diameter"] = ribs.root.diameter_mm, 5e-3
        right["rib-crest"] = ribs.crest.diameter_mm, 5e-3
    else:
        middle = fit_circle(pockets[0])
        goes_in = 2 * pockets[0].exterior.distance(Point(middle.x_mm, middle.y_mm))
        right["recess-diameter"] = float(goes_in), 5e-3
    if not profile.embedded:
        foot = measure.flat_part(mesh, 0.0, DOWN)
        holes = measure.holes(foot)
        # The rule cuts 0.01 mm above the bed, where chamfer and lead-in leave twice that more,
        # and in a concave corner 2.4 times.
        right["bed-wall"] = min(measure.wall_mm(foot, hole) for hole in holes), 0.025
        recess_mm = float(2 * shapely.minimum_bounding_radius(pockets[0]))
        right["lead-in"] = (fit_circle(holes[0]).diameter_mm - recess_mm) / 2, 5e-3
    return right
