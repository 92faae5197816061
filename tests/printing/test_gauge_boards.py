"""The gauge's parts for boards: what is engraved on each is what it measures, on its mesh."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabkit.cli import main
from fabkit.core.errors import InputError
from fabkit.drawing.boards.steps import Bore
from fabkit.mesh.body import Body
from fabkit.model.library import load_set
from fabkit.model.profile import Profile
from fabkit.model.profilefile import load_profile
from fabkit.printing.fit_coupon.legend import document, readings
from fabkit.printing.fit_coupon.parts import gauge_parts
from fabkit.printing.fit_coupon.values import GaugePart, setting
from tests.support import boardgauging, gauging, measure
from tests.support.gauging import Printed
from tests.support.prints import Order

#: The default run has boards and stubs in tests of commands and of whole sets.
pytestmark = pytest.mark.long

#: What is in the gauge for each set: settings, and what is laid into the parts that try them.
BALLS = {"board.hole": "bar", "board.channel": "bar"}
STUBS = {"board.seat": "stub"}
TRAYS = {"board.clearance": "square"}
KEYS = {"iqfit": BALLS, "iqstars": STUBS, "iqblock": TRAYS}
DEFAULT = Order()
OTHERS = [
    ("iqfit", Order(("compact",))),
    ("iqfit", Order((), ("layers.height=0.15 mm", "layers.first=0.25 mm"))),
    ("iqfit", Order(("petg",), ("label.depth=1.2 mm", "label.stroke=1 mm"))),
    ("iqstars", Order(("compact",))),
    ("iqstars", Order((), ("cell.shape=disc", "foot_chamfer=0 mm"))),
    ("iqstars", Order((), ("cell.shape=star", "layers.height=0.15 mm"))),
    ("iqblock", Order(("compact",))),
    ("iqblock", Order(("flippable",), ("board.floor=0.4 mm",))),
    ("iqblock", Order((), ("board.relief=0 mm", "inset=0.05 mm", "lid.kind=snap"))),
    ("iqblock", Order((), ("plate.face=down", "recess.fit=none", "board.clearance=0.4 mm"))),
    ("iqstars", Order((), ("stub.height=0 mm",))),
]
ORDERS = [pytest.param(name, DEFAULT, id=name) for name in KEYS]
ORDERS += [pytest.param(n, o, id=f"{n} {o}", marks=pytest.mark.long) for n, o in OTHERS]


def profile_of(set_name: str, order: Order) -> Profile:
    return load_profile(order.presets, order.settings, load_set(set_name).unit_mm)


@cache
def parts_of(set_name: str, order: Order = DEFAULT) -> tuple[GaugePart, ...]:
    every = gauge_parts(profile_of(set_name, order), load_set(set_name))
    return tuple(one for one in every if one.key.startswith("board."))


def printed(set_name: str, folder: Path, *names: str, order: Order = DEFAULT) -> list[Printed]:
    by_name = {one.name: one for one in parts_of(set_name, order)}
    return gauging.print_parts([by_name[name] for name in names], folder)


def with_number(one: GaugePart, other: GaugePart) -> GaugePart:
    """A part, engraved with another's number."""
    return replace(one, blueprint=replace(one.blueprint, label=other.blueprint.label))


def mislabelled(set_name: str, name: str, other: str, folder: Path) -> Printed:
    by_name = {one.name: one for one in parts_of(set_name)}
    [wrong] = gauging.print_parts([with_number(by_name[name], by_name[other])], folder)
    return wrong


FAULTS: dict[str, Callable[[Printed, Printed, Profile], list[str]]] = {
    "ring": boardgauging.faults_of_ring,
    "block": boardgauging.faults_of_block,
    "plate": boardgauging.faults_of_plate,
    "tray": boardgauging.faults_of_tray,
}


# --- what is engraved is what is measured -------------------------------------------------


@pytest.mark.every(4)
@pytest.mark.parametrize(("set_name", "order"), ORDERS)
def test_every_part_measures_what_is_engraved_on_it(
    set_name: str, order: Order, tmp_path: Path
) -> None:
    profile, parts = profile_of(set_name, order), parts_of(set_name, order)
    prints = gauging.print_parts(list(parts), tmp_path)
    [laid, *tried] = prints
    assert laid.drawing in {"bar", "stub", "square"}
    numbers = [boardgauging.engraved(one, profile.label_depth_mm) for one in tried]
    assert numbers == [one.text for one in parts if one.text]
    assert len(numbers) == (10 if laid.drawing == "bar" else 5)
    faults = [fault for one in tried for fault in FAULTS[one.drawing](one, laid, profile)]
    plain = replace(profile, fit="none")
    faults += [fault for one in prints for fault in gauging.unsound(one, plain)]
    assert faults == []
    assert all(measure.is_closed(one.mesh) for one in prints)


@pytest.mark.parametrize("text", ["0.10", "0.30"])
def test_a_bar_has_so_much_room_in_its_block(text: str, tmp_path: Path) -> None:
    """Told by laying one mesh into the other, and pushing it to the side."""
    bar, block = printed("iqfit", tmp_path, "bar", f"block-{text}")
    room_mm = min(float(text), 0.25)  # the balls have 0.25 mm in their holes
    free, held = (
        [boardgauging.seated_overlap_mm3(block, bar, way * shift_mm) for way in (-1, 1)]
        for shift_mm in (room_mm - 0.02, room_mm + 0.04)
    )
    assert max(free) < 1e-3
    assert min(held) > 0.01


def test_floors_of_channels_are_on_layers(tmp_path: Path) -> None:
    """As in a board: blocks are lower by whole layers."""
    order = Order((), ("layers.height=0.15 mm", "layers.first=0.25 mm", "ball.link=8.7 mm"))
    profile = profile_of("iqfit", order)
    [block] = printed("iqfit", tmp_path, "block-0.20", order=order)
    assert (block.thickness_mm - 0.25) / 0.15 == pytest.approx(
        round((block.thickness_mm - 0.25) / 0.15), abs=1e-3
    )
    assert block.thickness_mm >= profile.ball_mm / 2 + 1
    assert block.thickness_mm < profile.ball_mm / 2 + 1.5


# --- planted faults -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("set_name", "name", "other", "laid", "message"),
    [
        ("iqfit", "ring-12.50", "ring-12.60", "bar", "bore 12.500 instead of 12.600"),
        ("iqfit", "block-0.20", "block-0.25", "bar", "room beside the link 0.20. instead of 0.250"),
        ("iqstars", "plate-0.20", "plate-0.15", "stub", "room around the stub 0.200 instead of 0.15"),
        ("iqblock", "tray-0.25", "tray-0.30", "square", "room along x 0.250 instead of 0.300"),
    ],
)  # fmt: skip
def test_a_part_with_its_neighbours_number_is_noticed(
    set_name: str, name: str, other: str, laid: str, message: str, tmp_path: Path
) -> None:
    [piece] = printed(set_name, tmp_path, laid)
    wrong = mislabelled(set_name, name, other, tmp_path)
    faults = FAULTS[wrong.drawing](wrong, piece, profile_of(set_name, DEFAULT))
    assert any(re.search(message, fault) for fault in faults), faults


@pytest.mark.parametrize(
    ("set_name", "name", "laid", "changed", "message"),
    [
        ("iqfit", "ring-12.50", "bar", "ball.diameter=12.1 mm", "ball 1[12].* instead of 12.1"),
        ("iqfit", "block-0.20", "bar", "ball.link=8.9 mm", "link (9|8.99).* instead of 8.9"),
        ("iqfit", "block-0.20", "bar", "board.hole=12.6 mm", "hole 12.500 instead of 12.6"),
        (
            "iqfit",
            "block-0.20",
            "bar",
            "unit=15.1 mm",
            "pitch of the bar 1(5|4.99).* instead of 15.1",
        ),
        ("iqstars", "plate-0.20", "stub", "stub.diameter=9.9 mm", "stub 10.000 instead of 9.9"),
        ("iqstars", "plate-0.20", "stub", "stub.height=2.2 mm", "height 2.000 instead of 2.2"),
        ("iqblock", "tray-0.25", "square", "inset=0.15 mm", "room along y 0.200 instead of 0.25"),
    ],
)
def test_a_part_of_another_profile_is_noticed(
    set_name: str, name: str, laid: str, changed: str, message: str, tmp_path: Path
) -> None:
    piece, one = printed(set_name, tmp_path, laid, name)
    faults = FAULTS[one.drawing](one, piece, profile_of(set_name, Order((), (changed,))))
    assert any(re.search(message, fault) for fault in faults), faults


def test_a_shallow_seat_is_noticed(tmp_path: Path) -> None:
    """A plate whose seat ends as high as the stub would reach."""
    [plate] = [one for one in parts_of("iqstars") if one.name == "plate-0.20"]
    [*before, last] = plate.blueprint.steps
    seats = tuple(replace(one, low_mm=2.2) if isinstance(one, Bore) else one for one in last.shapes)
    drawn = replace(plate.blueprint, steps=(*before, replace(last, shapes=seats)))
    [stub] = printed("iqstars", tmp_path, "stub")
    [shallow] = gauging.print_parts([replace(plate, blueprint=drawn)], tmp_path)
    faults = boardgauging.faults_of_plate(shallow, stub, profile_of("iqstars", DEFAULT))
    assert faults == ["plate-0.20: the seat is 2.000 deep"]


def test_a_tray_without_reliefs_still_takes_a_square_that_is_small_enough(tmp_path: Path) -> None:
    square, tray = printed("iqblock", tmp_path, "square", "tray-0.15")
    profile = profile_of("iqblock", DEFAULT)
    assert boardgauging.faults_of_tray(tray, square, profile) == []
    square.mesh.vertices = square.mesh.vertices * [1.05, 1.05, 1]
    assert "tray-0.15: the square does not go in" in boardgauging.faults_of_tray(
        tray, square, profile
    )


def test_an_open_mesh_is_noticed(tmp_path: Path) -> None:
    [ring] = printed("iqfit", tmp_path, "ring-12.50")
    profile = profile_of("iqfit", DEFAULT)
    assert gauging.unsound(ring, profile) == []
    body = Body(ring.body.name, ring.body.vertices, ring.body.faces[1:])
    assert gauging.unsound(replace(ring, body=body), profile)


def test_a_bar_that_does_not_fit_is_noticed(tmp_path: Path) -> None:
    """The bar of 12 mm balls is too long for the block of another pitch."""
    [bar] = printed("iqfit", tmp_path, "bar")
    [block] = printed("iqfit", tmp_path, "block-0.20", order=Order((), ("unit=17 mm",)))
    assert boardgauging.seated_overlap_mm3(block, bar, 0.0) > 1
    faults = boardgauging.faults_of_block(block, bar, profile_of("iqfit", DEFAULT))
    assert len(faults) == 1
    assert faults[0].startswith("block-0.20: pitch 17.000 instead of")


# --- what is in a gauge -------------------------------------------------------------------


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("set_name", "order", "keys"),
    [
        ("iqfit", DEFAULT, [*BALLS]),
        ("iqstars", DEFAULT, ["inset", *STUBS]),
        ("iqblock", DEFAULT, ["inset", "recess.press", *TRAYS]),
        ("cubimagici", Order((), ("recess.fit=none",)), ["inset", *TRAYS]),
        ("iqstars", Order((), ("stub.height=0 mm",)), ["inset", "recess.press", *TRAYS]),
        ("iqblock", Order((), ("board.make=none",)), ["inset", "recess.press"]),
        ("fridgeiq", DEFAULT, ["inset", "recess.press"]),
        ("fridgeiq", Order((), ("board.make=all",)), ["inset", "recess.press", *TRAYS]),
    ],
    ids=str,
)
def test_a_gauge_tries_what_a_set_needs(set_name: str, order: Order, keys: list[str]) -> None:
    parts = gauge_parts(profile_of(set_name, order), load_set(set_name))
    assert list(dict.fromkeys(one.key for one in parts)) == keys
    assert len({one.name for one in parts}) == len(parts)


def test_a_gauge_for_no_set_has_no_parts_for_boards() -> None:
    assert gauge_parts(load_profile()) == gauge_parts(load_profile(), load_set("fridgeiq"))


@pytest.mark.parametrize("set_name", KEYS)
def test_what_is_engraved_can_be_typed_into_the_profile(set_name: str) -> None:
    for one in parts_of(set_name):
        if one.text:
            typed = load_profile((), [f"{one.key}={one.text} mm"])
            assert getattr(typed, setting(one.key).attribute) == one.value_mm


@pytest.mark.parametrize("set_name", KEYS)
def test_the_legend_tells_of_every_part_what_to_type(set_name: str) -> None:
    profile, parts = profile_of(set_name, DEFAULT), parts_of(set_name)
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


@pytest.mark.parametrize("set_name", KEYS)
def test_parts_are_small(set_name: str) -> None:
    assert sum(one.blueprint.outline.area for one in parts_of(set_name)) < 9000
    assert max(one.blueprint.thickness_mm for one in parts_of(set_name)) < 11


def test_the_same_profile_gives_the_same_bytes(tmp_path: Path) -> None:
    again = gauge_parts(profile_of("iqfit", DEFAULT), load_set("iqfit"))
    assert again == list(parts_of("iqfit"))
    contents = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        folder.mkdir()
        printed("iqfit", folder, "bar", "block-0.20")
        contents.append({path.name: path.read_bytes() for path in sorted(folder.iterdir())})
    assert contents[0] == contents[1]
    assert sorted(contents[0]) == ["bar.stl", "block-0.20.stl"]


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
        (
            "iqstars",
            ["stub.height=12 mm"],
            "stub: stub.height is 12 mm; expected 0.4 mm, which are 2 layers, to 10 mm, the stub's "
            "diameter, or 0 mm for pieces without stubs",
        ),
        (
            "iqblock",
            ["board.relief=0.3 mm"],
            "tray: board.relief 0.3 mm does not reach the corners of the opening, up to 0.35 mm from "
            "those of the pieces; choose 0.4 mm or more, 0 mm for none, or a smaller board.clearance",
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


@pytest.mark.long
def test_another_gauge_takes_the_place_of_one_for_a_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["coupon", "--for", "iqfit", "-o", "gauge"]) == 0
    before = {path.stem for path in Path("gauge/stl").iterdir()}
    assert main(["coupon", "--for", "iqstars", "-o", "gauge"]) == 0
    out = capsys.readouterr()
    assert "board.seat (now 0.2 mm): 0.10, 0.15, 0.20, 0.25, 0.30" in out.out + out.err
    after = {path.stem for path in Path("gauge/stl").iterdir()}
    assert "bar" in before
    assert "stub" in after
    assert after.isdisjoint(before)


def test_an_unknown_set_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["coupon", "--for", "iqfitt"]) == 2
    assert 'there is no set "iqfitt"' in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
