"""The fit gauge: what is engraved on each part is what the part measures, on its mesh."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import shapely

from fabkit.core.errors import InputError
from fabkit.mesh.body import Body
from fabkit.model.profilefile import load_profile
from fabkit.printing.fit_coupon.legend import document, readings
from fabkit.printing.fit_coupon.parts import gauge_parts
from fabkit.printing.fit_coupon.values import KEY_OF_FIT, STEPS, GaugePart, setting, values_mm
from tests.support import gauging, measure
from tests.support.prints import Order

FITS = (*KEY_OF_FIT, "none")
#: Recesses that are open at the back leave only the front for a number.
OPEN = [Order(("flippable",), (f"recess.fit={fit}", "label.faces=front")) for fit in FITS[:3]]
QUICK = [Order()]
OTHERS = [
    Order(("flippable",)),
    *(Order((), (f"recess.fit={fit}",)) for fit in FITS[1:]),
    *(Order((preset,), (f"recess.fit={fit}",)) for preset in ("compact", "petg") for fit in FITS),
    *OPEN,
    Order(("flippable",), ("recess.fit=none",)),
    Order((), ("label.faces=none",)),
    Order((), ("magnet.diameter=20 mm", "recess.fit=glue")),
    Order((), ("magnet.diameter=4 mm", "recess.fit=ribs", "recess.rib_width=0.5 mm")),
    Order((), ("inset=0 mm", "top_chamfer=0 mm", "foot_chamfer=0 mm", "recess.mouth=0 mm")),
    Order((), ("plate.face=down", "magnet.polarity=alternating")),
    Order((), ("top_chamfer=2 mm", "foot_chamfer=1.5 mm", "tip_flat=0.5 mm")),
]
ORDERS = [pytest.param(order, id=str(order)) for order in QUICK]
ORDERS += [pytest.param(one, id=str(one), marks=pytest.mark.long) for one in OTHERS]


@cache
def parts_of(order: Order) -> tuple[GaugePart, ...]:
    return tuple(gauge_parts(order.profile()))


def part(name: str, order: Order = QUICK[0]) -> GaugePart:
    [found] = [one for one in parts_of(order) if one.name == name]
    return found


def with_number(one: GaugePart, other: GaugePart) -> GaugePart:
    """A part, engraved with another's number."""
    return replace(one, blueprint=replace(one.blueprint, label=other.blueprint.label))


# --- what is engraved is what is measured -------------------------------------------------


@pytest.mark.every(5)
@pytest.mark.parametrize("order", ORDERS)
def test_every_part_measures_what_is_engraved_on_it(order: Order, tmp_path: Path) -> None:
    profile, parts = order.profile(), list(parts_of(order))
    if profile.faces == "none":
        profile = replace(profile, faces="front")
    printed = gauging.print_parts(parts, tmp_path)
    numbers = [gauging.engraved(one, profile.label_depth_mm) for one in printed]
    assert numbers == [one.text for one in parts]
    plugs, sockets, chips = (
        [one for one in printed if one.drawing == drawing]
        for drawing in ("plug", "socket", "recess")
    )
    assert len(plugs) == len(sockets) == 5
    assert len(chips) == (5 if profile.has_recesses else 0)
    faults = [fault for one in printed for fault in gauging.faults_of_form(one, profile)]
    for plug, socket in zip(plugs, sockets, strict=True):
        faults += gauging.faults_of_pair(plug, socket, profile.label_depth_mm)
    faults += [fault for chip in chips for fault in gauging.faults_of_chip(chip, profile)]
    faults += [fault for one in printed for fault in gauging.unsound(one, profile)]
    assert faults == []
    assert all(measure.is_closed(one.mesh) for one in printed)


# --- planted faults -----------------------------------------------------------------------


@pytest.mark.parametrize("which", [0, 1, 2])
def test_a_pair_with_its_neighbours_number_is_noticed(which: int, tmp_path: Path) -> None:
    pair, neighbours = ([part(f"plug-{text}"), part(f"socket-{text}")] for text in ("0.10", "0.15"))
    wrong = [
        with_number(one, other) if which in (i, 2) else one
        for i, (one, other) in enumerate(zip(pair, neighbours, strict=True))
    ]
    plug, socket = gauging.print_parts(wrong, tmp_path)
    faults = gauging.faults_of_pair(plug, socket, 0.6)
    if which == 2:
        assert len(faults) == gauging.MATING_EDGES + 1
        assert faults[0] == "0.15: the gap is 0.200 to 0.200"
    else:
        assert faults == [f"{'0.15' if which == 0 else '0.10'} does not belong to "
                          f"{'0.10' if which == 0 else '0.15'}"]  # fmt: skip


def test_a_plug_that_is_not_its_sockets_is_noticed(tmp_path: Path) -> None:
    wrong = with_number(part("plug-0.05"), part("plug-0.10"))
    plug, socket = gauging.print_parts([wrong, part("socket-0.10")], tmp_path)
    faults = gauging.faults_of_pair(plug, socket, 0.6)
    assert faults[0] == "0.10: the gap is 0.150 to 0.150"


def test_one_edge_that_is_off_is_noticed(tmp_path: Path) -> None:
    plug, socket = gauging.print_parts([part("plug-0.10"), part("socket-0.10")], tmp_path)
    assert gauging.faults_of_pair(plug, socket, 0.6) == []
    plug.mesh.vertices = plug.mesh.vertices + np.array([0.02, 0.0, 0.0])
    faults = gauging.faults_of_pair(plug, socket, 0.6)
    assert faults[:2] == ["0.10: the gap is 0.220 to 0.220", "0.10: the gap is 0.214 to 0.214"]


def test_a_chip_with_its_neighbours_number_is_noticed(tmp_path: Path) -> None:
    wrong = with_number(part("recess-0.10"), part("recess-0.15"))
    [chip] = gauging.print_parts([wrong], tmp_path)
    assert gauging.faults_of_chip(chip, load_profile()) == ["0.15: bore 10.100 instead of 10.150"]


@pytest.mark.parametrize(
    ("setting", "fault"),
    [
        ("recess.mouth=0.45 mm", "0.10: mouth 11.100 instead of 11.000"),
        ("magnet.height=2.8 mm", "0.10: ceiling 3.200 instead of 3.000"),
        ("recess.wall=2.4 mm", "0.10: a wall of 2."),
    ],
)
def test_a_chip_of_another_profile_is_noticed(setting: str, fault: str, tmp_path: Path) -> None:
    [chip] = gauging.print_parts([part("recess-0.10")], tmp_path)
    [found] = gauging.faults_of_chip(chip, load_profile((), [setting]))
    assert found.startswith(fault)


def test_a_part_of_another_form_is_noticed(tmp_path: Path) -> None:
    [chip] = gauging.print_parts([part("recess-0.10")], tmp_path)
    other = load_profile((), ["thickness=7.2 mm", "foot_chamfer=0.5 mm"])
    assert gauging.faults_of_form(chip, other) == [
        "recess-0.10: thickness 7.000 instead of 7.200",
        "recess-0.10: chamfer 0.400 instead of 0.500",
    ]


def test_an_open_mesh_is_noticed(tmp_path: Path) -> None:
    [plug] = gauging.print_parts([part("plug-0.10")], tmp_path)
    assert gauging.unsound(plug, load_profile()) == []
    body = Body(plug.body.name, plug.body.vertices, plug.body.faces[1:])
    assert gauging.unsound(replace(plug, body=body), load_profile())


def test_a_number_that_is_mirrored_is_not_read(tmp_path: Path) -> None:
    [plug] = gauging.print_parts([part("plug-0.15")], tmp_path)
    plug.mesh.vertices = plug.mesh.vertices * [-1, 1, 1]
    plug.mesh.invert()
    with pytest.raises(AssertionError, match="no character of the font"):
        gauging.engraved(plug, 0.6)


# --- drawings -----------------------------------------------------------------------------


def test_plug_and_socket_fill_one_shape_between_them() -> None:
    pair = [part("plug-0.10"), part("socket-0.10")]
    assert gauging.overlap_mm2(pair) == pytest.approx(0, abs=1e-9)
    together = shapely.union_all([one.blueprint.canonical for one in pair])
    assert not together.interiors
    assert together.convex_hull.area == pytest.approx(together.area)


@pytest.mark.parametrize("name", ["plug-0.00", "socket-0.00", "recess-0.00"])
def test_no_corner_is_cut_to_a_tip_flat(name: str) -> None:
    blueprint = part(name).blueprint
    assert len(blueprint.outline.exterior.coords) == len(blueprint.canonical.exterior.coords)


@pytest.mark.parametrize("order", QUICK, ids=str)
def test_a_gauge_is_small(order: Order) -> None:
    """The default profile's fills 18 cells of a FridgeIQ board, and half of that set is 20."""
    parts = parts_of(order)
    assert sum(one.blueprint.outline.area for one in parts) < 4000
    assert max(max(one.blueprint.outline.bounds) for one in parts) < 25


@pytest.mark.every(3)
@pytest.mark.parametrize("diameter_mm", [2, 20, 50])
def test_a_chip_is_as_large_as_its_magnet_asks(diameter_mm: int) -> None:
    settings = [f"magnet.diameter={diameter_mm} mm", "recess.fit=press"]
    chips = [one for one in gauge_parts(load_profile((), settings)) if one.key == "recess.press"]
    for chip in chips:
        [recess] = chip.blueprint.recesses
        bore = shapely.Point(recess.centre_mm).buffer(recess.bores.widest_mm / 2)
        walls = chip.blueprint.outline.exterior.distance(bore)
        assert walls >= 2.0
        assert walls < 2.3 or diameter_mm < 10  # there the numbers decide


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


def test_crests_stay_inside_the_roots() -> None:
    profile = load_profile((), ["recess.fit=ribs", "recess.rib_root=0.1 mm"])
    assert values_mm(profile, "recess.rib_crest", "") == [-0.4, -0.3, -0.2, -0.1, 0.0]


@pytest.mark.every(3)
@pytest.mark.parametrize("fit", FITS)
def test_what_is_engraved_can_be_typed_into_the_profile(fit: str) -> None:
    order = Order((), (f"recess.fit={fit}",))
    parts = parts_of(order)
    assert {one.key for one in parts} == {"inset"} | ({KEY_OF_FIT[fit]} if fit != "none" else set())
    assert len({one.name for one in parts}) == len(parts)
    for one in parts:
        typed = load_profile((), [*order.settings, f"{one.key}={one.text} mm"])
        assert getattr(typed, setting(one.key).attribute) == one.value_mm


def test_names_tell_values_of_either_sign_apart() -> None:
    names = [one.name for one in parts_of(Order((), ("recess.fit=ribs",)))[10:]]
    assert names == [
        "recess-minus-0.30",
        "recess-minus-0.20",
        "recess-minus-0.10",
        "recess-0.00",
        "recess-0.10",
    ]


def test_a_profile_without_letters_has_its_numbers() -> None:
    parts = gauge_parts(load_profile((), ["label.faces=none"]))
    assert parts == list(parts_of(QUICK[0]))


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


def test_the_same_profile_gives_the_same_bytes(tmp_path: Path) -> None:
    parts = gauge_parts(load_profile())
    assert parts == list(parts_of(QUICK[0]))
    some = [parts[4], parts[5], parts[12]]
    contents = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        folder.mkdir()
        gauging.print_parts(some, folder)
        contents.append({path.name: path.read_bytes() for path in sorted(folder.iterdir())})
    assert contents[0] == contents[1]
    assert sorted(contents[0]) == ["plug-0.10.stl", "recess-0.10.stl", "socket-0.10.stl"]


@pytest.mark.parametrize("fit", FITS)
def test_the_legend_tells_of_every_part_what_to_type(fit: str) -> None:
    order = Order((), (f"recess.fit={fit}",))
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
