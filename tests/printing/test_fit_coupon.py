"""The fit gauge: what is engraved on each part is what the part measures, on its mesh."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
import shapely

from fabkit.cli import main
from fabkit.core.errors import InputError
from fabkit.model.accessory import as_printed
from fabkit.model.library import load_set
from fabkit.model.profile import Profile
from fabkit.model.profilefile import load_profile
from fabkit.printing.fit_coupon.legend import document, readings
from fabkit.printing.fit_coupon.parts import board_parts, gauge_parts
from fabkit.printing.fit_coupon.values import KEY_OF_FIT, STEPS, GaugePart, setting, values_mm
from tests.support import boardgauging, gauging, measure
from tests.support.gauging import Printed
from tests.support.prints import Order

FITS = (*KEY_OF_FIT, "none")
QUICK = [Order()]
OTHERS = [
    Order(("flippable",)),
    *(Order(("petg",), (f"recess.fit={fit}",)) for fit in FITS),
    Order(("flippable",), ("recess.fit=ribs", "label.faces=front")),
    Order((), ("label.faces=none",)),
    Order((), ("magnet.diameter=4 mm", "recess.fit=ribs", "recess.rib_width=0.5 mm")),
    Order((), ("plate.face=down", "magnet.polarity=alternating")),
    Order((), ("top_chamfer=2 mm", "foot_chamfer=1.5 mm", "tip_flat=0.5 mm")),
]
#: The default run makes one number of each of the parts.
SOME = re.compile(
    r"(bar|stub|square|plug-0.10|socket-0.10|recess-0.15|.*-12.60|(block|plate)-0.20|tray-0.25)$"
)
ORDERS = [pytest.param(Order(), SOME, id="some")]
ORDERS += [
    pytest.param(
        one,
        re.compile(""),
        id=str(one),
        marks=pytest.mark.long if i % 8 else pytest.mark.integration,
    )
    for i, one in enumerate([*QUICK, *OTHERS])
]


@cache
def parts_of(order: Order) -> tuple[GaugePart, ...]:
    return tuple(gauge_parts(order.profile()))


def part(name: str, order: Order = QUICK[0]) -> GaugePart:
    [found] = [one for one in parts_of(order) if one.name == name]
    return found


@cache
def printed_part(part: GaugePart) -> Printed:
    with TemporaryDirectory() as folder:
        [made] = gauging.print_parts([part], Path(folder))
    return made


def with_number(one: GaugePart, other: GaugePart) -> GaugePart:
    """A part, engraved with another's number."""
    return replace(one, blueprint=replace(one.blueprint, label=other.blueprint.label))


# --- what is engraved is what is measured -------------------------------------------------


@pytest.mark.parametrize(("order", "which"), ORDERS)
def test_parts_measure_what_is_engraved_on_them(order: Order, which: re.Pattern[str]) -> None:
    profile = order.profile()
    parts = [one for one in parts_of(order) if which.match(one.name)]
    if profile.faces == "none":
        profile = replace(profile, faces="front")
    printed = [printed_part(one) for one in parts]
    numbers = [gauging.engraved(one, profile.label_depth_mm) for one in printed]
    assert numbers == [one.text for one in parts]
    plugs, sockets, chips = (
        [one for one in printed if one.drawing == drawing]
        for drawing in ("plug", "socket", "recess")
    )
    each = 5 if len(parts) > 3 else 1
    assert len(plugs) == len(sockets) == each
    assert len(chips) == (each if profile.has_recesses else 0)
    faults = [fault for one in printed for fault in gauging.faults_of_form(one, profile)]
    for plug, socket in zip(plugs, sockets, strict=True):
        faults += gauging.faults_of_pair(plug, socket, profile.label_depth_mm)
    faults += [fault for chip in chips for fault in gauging.faults_of_chip(chip, profile)]
    faults += [fault for one in printed for fault in gauging.unsound(one, profile)]
    assert faults == []
    assert all(measure.is_closed(one.mesh) for one in printed)


# --- planted faults -----------------------------------------------------------------------


def test_a_pair_with_its_neighbours_number_is_noticed() -> None:
    right = [printed_part(part(f"{one}-0.10")) for one in ("plug", "socket")]
    wrong = [
        printed_part(with_number(part(f"{one}-0.10"), part(f"{one}-0.15")))
        for one in ("plug", "socket")
    ]
    for pair, numbers in (
        ((wrong[0], right[1]), "0.15 does not belong to 0.10"),
        ((right[0], wrong[1]), "0.10 does not belong to 0.15"),
    ):
        assert gauging.faults_of_pair(*pair, 0.6) == [numbers]
    faults = gauging.faults_of_pair(*wrong, 0.6)
    assert len(faults) == gauging.MATING_EDGES + 1
    assert faults[0] == "0.15: the gap is 0.200 to 0.200"


def test_a_chip_of_another_number_or_profile_is_noticed() -> None:
    wrong = with_number(part("recess-0.15"), part("recess-0.10"))
    faults = gauging.faults_of_chip(printed_part(wrong), load_profile())
    assert faults == ["0.10: bore 10.150 instead of 10.100"]
    for changed, fault in (
        ("recess.mouth=0.45 mm", "0.15: mouth 11.150 instead of 11.050"),
        ("magnet.height=2.8 mm", "0.15: ceiling 3.200 instead of 3.000"),
        ("recess.wall=2.4 mm", "0.15: a wall of 2."),
    ):
        chip = printed_part(part("recess-0.15"))
        [found] = gauging.faults_of_chip(chip, load_profile((), [changed]))
        assert found.startswith(fault)


# --- drawings -----------------------------------------------------------------------------


def test_plug_and_socket_fill_one_shape_between_them() -> None:
    pair = [part("plug-0.10"), part("socket-0.10")]
    assert gauging.overlap_mm2(pair) == pytest.approx(0, abs=1e-9)
    together = shapely.union_all([one.blueprint.canonical for one in pair])
    assert not together.interiors
    assert together.convex_hull.area == pytest.approx(together.area)


# --- values -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("order", "key", "values"),
    [
        (Order(), "inset", [0.00, 0.05, 0.10, 0.15, 0.20]),
        (Order(("petg",)), "inset", [0.02, 0.07, 0.12, 0.17, 0.22]),
        (Order((), ("inset=0 mm",)), "inset", [0.00, 0.05, 0.10, 0.15, 0.20]),
        (Order((), ("inset=0.125 mm",)), "inset", [0.03, 0.08, 0.13, 0.18, 0.23]),
        (Order((), ("inset=2 mm",)), "inset", [1.80, 1.85, 1.90, 1.95, 2.00]),
        (Order((), ("inset=0.5 mm", "unit=4 mm")), "inset", [0.30, 0.35, 0.40, 0.45, 0.50]),
        (Order(), "recess.press", [0.00, 0.05, 0.10, 0.15, 0.20]),
        (Order(("petg",)), "recess.press", [0.05, 0.10, 0.15, 0.20, 0.25]),
        (Order((), ("recess.press=-0.1 mm",)), "recess.press", [-0.2, -0.15, -0.1, -0.05, 0.0]),
        (Order((), ("recess.press=-0.5 mm",)), "recess.press", [-0.5, -0.45, -0.4, -0.35, -0.3]),
        (Order((), ("recess.fit=glue",)), "recess.glue", [0.3, 0.4, 0.5, 0.6, 0.7]),
        (Order((), ("recess.fit=ribs",)), "recess.rib_crest", [-0.3, -0.2, -0.1, 0.0, 0.1]),
        (Order(("flippable",)), "recess.embedded", [0.2, 0.3, 0.4, 0.5, 0.6]),
    ],
    ids=str,
)
def test_values_are_whole_hundredths_around_the_profiles_own(
    order: Order, key: str, values: list[float]
) -> None:
    found = values_mm(order.profile(), key, "the gauge")
    assert found == values
    assert all(math.copysign(1, value) > 0 for value in found if value == 0)


FIT_ORDERS = [
    pytest.param(
        fit,
        Order((), (f"recess.fit={fit}",) if fit != "press" else ()),
        marks=[] if fit == "press" else pytest.mark.integration,
    )
    for fit in FITS
]


@pytest.mark.parametrize(("fit", "order"), FIT_ORDERS)
def test_what_is_engraved_can_be_typed_into_the_profile(fit: str, order: Order) -> None:
    parts = parts_of(order)
    assert {one.key for one in parts} == {"inset"} | ({KEY_OF_FIT[fit]} if fit != "none" else set())
    assert len({one.name for one in parts}) == len(parts)
    for one in parts:
        typed = load_profile((), [*order.settings, f"{one.key}={one.text} mm"])
        assert getattr(typed, setting(one.key).attribute) == one.value_mm


# --- refusals -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            ["label.faces=none", "thickness=4.2 mm"],
            "fit gauge with profile default, which needs its numbers engraved: recess: above a "
            "recess that ends at 3.2 mm the thickness 4.2 mm leaves 0.4 mm below the letter, and "
            "recess.roof asks for 0.6 mm; choose a thinner magnet, a shallower letter or a thicker "
            "piece",
        ),
        (
            ["recess.fit=ribs", "magnet.height=1 mm", "recess.mouth=1 mm", "recess.rib_root=0.28 mm"],
            "fit gauge with profile default: recess.rib_crest: it tries 5 values around -0.10 mm, and "
            "this profile can have 4 of them; with -0.20 mm, recess.mouth: 1 mm, with the 0.24 mm of "
            "the ribs, is deeper than the recess, 1.2 mm; choose a smaller mouth",
        ),
        (
            ["magnet.diameter=50 mm", "recess.bed_wall=20 mm", "foot_chamfer=5 mm", "thickness=20 mm"],
            "fit gauge with profile default: with a grid unit of 60 mm its parts are still "
            "too small; choose a smaller magnet.diameter, recess.wall, recess.bed_wall, label.stroke "
            "or label.margin",
        ),
    ],
)  # fmt: skip
def test_a_profile_that_allows_no_gauge_is_refused(settings: list[str], message: str) -> None:
    with pytest.raises(InputError) as refusal:
        gauge_parts(load_profile((), settings))
    assert str(refusal.value) == message


# --- the same again, and the legend -------------------------------------------------------


@pytest.mark.parametrize(("fit", "order"), FIT_ORDERS)
def test_the_legend_tells_of_every_part_what_to_type(fit: str, order: Order) -> None:
    profile, parts = order.profile(), list(parts_of(order))
    told = json.loads(json.dumps(document(parts, profile)))
    assert told["profile"] == "default"
    assert [one["name"] for key in told["settings"] for one in key["parts"]] == [
        one.name for one in parts
    ]
    for reading in readings(parts, profile):
        assert reading.key in STEPS
        assert f"type its number as {reading.key}." in reading.how
        assert reading.own_mm in {one.value_mm for one in reading.parts}
    inset, *others = told["settings"]
    assert (inset["key"], inset["own_mm"], len(inset["parts"])) == ("inset", 0.1, 10)
    assert [one["key"] for one in others] == [KEY_OF_FIT[one] for one in KEY_OF_FIT if one == fit]
    assert inset["parts"][0] == {
        "name": "plug-0.00",
        "engraved": "0.00",
        "value_mm": 0.0,
        "size_mm": [18.75, 15.0, 7.0],
    }


#: What is in the gauge for each set: settings, and what is laid into the parts that try them.
BALLS = {"board.hole": "bar", "board.channel": "bar"}
STUBS = {"board.seat": "stub"}
TRAYS = {"board.clearance": "square"}
KEYS = {"iqfit": BALLS, "iqstars": STUBS, "iqblock": TRAYS}
DEFAULT = Order()
BOARD_OTHERS = [
    ("iqfit", Order((), ("layers.height=0.15 mm", "layers.first=0.25 mm"))),
    ("iqfit", Order(("petg",), ("label.depth=1.2 mm", "label.stroke=1 mm"))),
    ("iqstars", Order((), ("cell.shape=disc", "foot_chamfer=0 mm"))),
    ("iqblock", Order(("flippable",), ("board.floor=0.4 mm",))),
    ("iqblock", Order((), ("plate.face=down", "recess.fit=none", "board.clearance=0.4 mm"))),
]
BOARD_ORDERS = [pytest.param(name, DEFAULT, SOME, id=f"some {name}") for name in KEYS]
BOARD_ORDERS += [
    pytest.param(
        name,
        order,
        re.compile(""),
        id=f"{name} {order}",
        marks=pytest.mark.long if i > 2 else pytest.mark.integration,
    )
    for i, (name, order) in enumerate([*((name, DEFAULT) for name in KEYS), *BOARD_OTHERS])
]


def profile_of(set_name: str, order: Order) -> Profile:
    return load_profile(order.presets, order.settings, load_set(set_name).unit_mm)


@cache
def gauge_of(set_name: str, order: Order) -> tuple[GaugePart, ...]:
    return tuple(gauge_parts(profile_of(set_name, order), load_set(set_name)))


@cache
def board_parts_of(set_name: str, order: Order = DEFAULT) -> dict[str, GaugePart]:
    puzzle = load_set(set_name)
    parts = board_parts(puzzle, as_printed(puzzle, profile_of(set_name, order)), set_name)
    return {one.name: one for one in parts}


FAULTS: dict[str, Callable[[Printed, Printed, Profile], list[str]]] = {
    "ring": boardgauging.faults_of_ring,
    "block": boardgauging.faults_of_block,
    "plate": boardgauging.faults_of_plate,
    "tray": boardgauging.faults_of_tray,
}


# --- what is engraved is what is measured -------------------------------------------------


@pytest.mark.parametrize(("set_name", "order", "which"), BOARD_ORDERS)
def test_parts_for_boards_measure_what_is_engraved_on_them(
    set_name: str, order: Order, which: re.Pattern[str]
) -> None:
    profile = profile_of(set_name, order)
    parts = [one for name, one in board_parts_of(set_name, order).items() if which.match(name)]
    prints = [printed_part(one) for one in parts]
    [laid, *tried] = prints
    assert laid.drawing in {"bar", "stub", "square"}
    numbers = [boardgauging.engraved(one, profile.label_depth_mm) for one in tried]
    assert numbers == [one.text for one in parts if one.text]
    each = 5 if len(parts) > 3 else 1
    assert len(numbers) == (2 * each if laid.drawing == "bar" else each)
    faults = [fault for one in tried for fault in FAULTS[one.drawing](one, laid, profile)]
    plain = replace(profile, fit="none")
    faults += [fault for one in prints for fault in gauging.unsound(one, plain)]
    assert faults == []
    assert all(measure.is_closed(one.mesh) for one in prints)


# --- planted faults -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("set_name", "name", "other", "laid", "message"),
    [
        ("iqfit", "ring-12.50", "ring-12.60", "bar", "bore 12.500 instead of 12.600"),
        pytest.param(
            "iqfit", "block-0.20", "block-0.25", "bar", "room beside the link 0.20. instead of 0.250",
            marks=pytest.mark.integration,
        ),
        pytest.param(
            "iqstars", "plate-0.20", "plate-0.15", "stub", "room around the stub 0.200 instead of 0.15",
            marks=pytest.mark.integration,
        ),
        pytest.param(
            "iqblock", "tray-0.25", "tray-0.30", "square", "room along x 0.250 instead of 0.300",
            marks=pytest.mark.integration,
        ),
    ],
)  # fmt: skip
def test_a_part_with_its_neighbours_number_is_noticed(
    set_name: str, name: str, other: str, laid: str, message: str
) -> None:
    parts = board_parts_of(set_name)
    wrong = printed_part(with_number(parts[name], parts[other]))
    faults = FAULTS[wrong.drawing](wrong, printed_part(parts[laid]), profile_of(set_name, DEFAULT))
    assert any(re.search(message, fault) for fault in faults), faults


@pytest.mark.parametrize(
    ("set_name", "name", "laid", "changed", "message"),
    [
        ("iqfit", "ring-12.60", "bar", "ball.diameter=12.1 mm", "ball 1[12].* instead of 12.1"),
        ("iqfit", "block-0.20", "bar", "ball.link=8.9 mm", "link (9|8.99).* instead of 8.9"),
        ("iqfit", "block-0.20", "bar", "board.hole=12.6 mm", "hole 12.500 instead of 12.6"),
        ("iqfit", "block-0.20", "bar", "unit=15.1 mm", "pitch of the bar 1(5|4.99).* 15.1"),
        ("iqstars", "plate-0.20", "stub", "stub.diameter=9.9 mm", "stub 10.000 instead of 9.9"),
        ("iqstars", "plate-0.20", "stub", "stub.height=2.2 mm", "height 2.000 instead of 2.2"),
        ("iqblock", "tray-0.25", "square", "inset=0.15 mm", "room along y 0.200 instead of 0.25"),
    ],
)
def test_a_part_of_another_profile_is_noticed(
    set_name: str, name: str, laid: str, changed: str, message: str
) -> None:
    one, piece = (printed_part(board_parts_of(set_name)[key]) for key in (name, laid))
    faults = FAULTS[one.drawing](one, piece, profile_of(set_name, Order((), (changed,))))
    assert any(re.search(message, fault) for fault in faults), faults


# --- what is in a gauge -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("set_name", "settings", "keys"),
    [
        ("iqfit", (), [*BALLS]),
        *(
            pytest.param(*one, marks=pytest.mark.integration)
            for one in (
                ("iqblock", (), ["inset", "recess.press", *TRAYS]),
                ("iqstars", (), ["inset", *STUBS]),
                ("iqstars", ("stub.height=0 mm",), ["inset", "recess.press", *TRAYS]),
                ("cubimagici", ("recess.fit=none",), ["inset", *TRAYS]),
                ("iqblock", ("board.make=none",), ["inset", "recess.press"]),
                ("fridgeiq", (), ["inset", "recess.press"]),
                ("fridgeiq", ("board.make=all",), ["inset", "recess.press", *TRAYS]),
            )
        ),
    ],
)
def test_a_gauge_tries_what_a_set_needs(
    set_name: str, settings: tuple[str, ...], keys: list[str]
) -> None:
    parts = gauge_of(set_name, Order((), settings))
    assert list(dict.fromkeys(one.key for one in parts)) == keys
    assert len({one.name for one in parts}) == len(parts)
    boards = [one for one in parts if one.key.startswith("board.")]
    assert boards == [*board_parts_of(set_name, Order((), settings)).values()] or not boards


@pytest.mark.parametrize("set_name", KEYS)
def test_the_legend_of_board_parts(set_name: str) -> None:
    profile, parts = profile_of(set_name, DEFAULT), [*board_parts_of(set_name).values()]
    told = json.loads(json.dumps(document(parts, profile)))
    assert [one["key"] for one in told["settings"]] == [*KEYS[set_name]]
    for reading in readings(parts, profile):
        laid = KEYS[set_name][reading.key]
        assert f"the {laid}" in reading.how or f"its {laid}" in reading.how
        assert f"type its number as {reading.key}." in reading.how
        assert reading.own_mm in {one.value_mm for one in reading.parts}
        assert len(reading.numbers) == 5
    first = told["settings"][0]["parts"][0]
    assert (first["engraved"], first["value_mm"]) == ("", None)


# --- refusals -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("set_name", "settings", "message"),
    [
        (
            "iqfit",
            ["board.make=none"],
            "there is nothing to try: pieces of balls have no fit but that in their board, and none "
            "is made; draw a [[board]] in the set's file, or choose board.make all",
        ),
        (
            "iqfit",
            ["board.hole=12 mm"],
            "ring: board.hole is 12 mm; expected more than the ball's 12 mm, and 14.2 mm at the "
            "most, which leaves 0.8 mm between two holes; choose another board.hole, a smaller "
            "ball.diameter or a larger unit",
        ),
        (
            "iqfit",
            ["ball.flat=5 mm"],
            "bar: balls of 12 mm with their middles 5 mm above the bed would lean 56.4 deg from the "
            "vertical there, and printer.overhang is 45 deg; choose a ball.flat of 4.242 mm or less, "
            "or larger balls",
        ),
        (
            "iqfit",
            ["ball.diameter=14 mm", "board.hole=14.2 mm"],
            "board.hole: it tries 5 values around 14.20 mm, and this profile can have 2 of them; with "
            "14.30 mm, board.hole is 14.3 mm; expected more than the ball's 14 mm, and 14.2 mm at the "
            "most, which leaves 0.8 mm between two holes; choose another board.hole, a smaller "
            "ball.diameter or a larger unit",
        ),
    ],
)  # fmt: skip
def test_a_profile_that_suits_no_board_is_refused(
    set_name: str, settings: list[str], message: str
) -> None:
    with pytest.raises(InputError) as refusal:
        gauge_parts(profile_of(set_name, Order((), tuple(settings))), load_set(set_name))
    assert str(refusal.value) == f"fit gauge for {set_name} with profile default: {message}"


# --- the command --------------------------------------------------------------------------


@pytest.mark.integration
def test_the_command_writes_a_gauge_for_a_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["coupon", "--for", "iqfit", "-o", "gauge", "--json"]) == 0
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert told["set"] == "iqfit"
    names = {part["name"] for one in told["settings"] for part in one["parts"]}
    assert {path.stem for path in Path("gauge/stl").iterdir()} == names
    assert {"coupon.3mf", "coupon.svg"} <= set(told["files"])
    bounds = np.array([measure.read_mesh(path).bounds for path in Path("gauge/stl").iterdir()])
    assert np.abs(bounds[:, 0, 2]).max() < 1e-6


def test_an_unknown_set_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["coupon", "--for", "iqfitt"]) == 2
    assert 'there is no set "iqfitt"' in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
