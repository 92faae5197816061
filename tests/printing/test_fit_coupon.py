"""The fit gauge: what is engraved on each part is what the part measures, on its mesh."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import shapely

from fabkit.cli import main
from fabkit.core.errors import InputError
from fabkit.model.accessory import as_printed
from fabkit.model.library import load_set
from fabkit.model.profile import Profile
from fabkit.model.profilefile import load_profile
from fabkit.printing.fit_coupon.legend import document
from fabkit.printing.fit_coupon.parts import board_parts, gauge_parts
from fabkit.printing.fit_coupon.values import KEY_OF_FIT, GaugePart, own_mm, values_mm
from tests.support import measure
from tests.support.gauging import Printed, engraved, faults, printed
from tests.support.pairset import objects_of

Order = tuple[str, ...]
#: Which settings are tried of each board, and what is laid into the parts that try them.
BALLS = {"board.hole": "bar", "board.channel": "bar"}
STUBS = {"board.seat": "stub"}
TRAYS = {"board.clearance": "square"}
KEYS = {"": {}, "iqfit": BALLS, "iqstars": STUBS, "iqblock": TRAYS}


def profile_of(set_name: str, order: Order = ()) -> Profile:
    """Presets, and settings that change them."""
    presets = [one for one in order if "=" not in one]
    settings = [one for one in order if "=" in one]
    return load_profile(presets, settings, load_set(set_name).unit_mm if set_name else None)


@cache
def parts_of(set_name: str, order: Order = ()) -> dict[str, GaugePart]:
    """The parts for flat pieces, or those for the board of a set, by name."""
    profile, puzzle = profile_of(set_name, order), load_set(set_name) if set_name else None
    if puzzle is None:
        parts = gauge_parts(profile)
    else:
        parts = board_parts(puzzle, as_printed(puzzle, profile), set_name)
    assert len({one.name for one in parts}) == len(parts)
    return {one.name: one for one in parts}


def judged(part: GaugePart, parts: dict[str, GaugePart], profile: Profile) -> list[str]:
    """The faults of a part, with what is laid into it."""
    fellow = f"plug-{part.text}" if part.name.startswith("socket") else next(iter(parts))
    return faults(printed(part), printed(parts[fellow]), profile)


# --- what is engraved is what is measured -------------------------------------------------

#: The default run makes one number of each of the parts, those for balls with the command below.
SOME = re.compile(r"(plug-0.10|socket-0.10|recess-0.15|plate-0.20|tray-0.25)$")
INTEGRATION: list[tuple[str, Order]] = [
    *((name, ()) for name in KEYS),
    ("", ("petg", "recess.fit=glue")),
    ("", ("flippable", "recess.fit=ribs", "label.faces=front")),
]
LONG: list[tuple[str, Order]] = [
    *(("", ("petg", f"recess.fit={fit}")) for fit in ("press", "ribs", "embedded", "none")),
    ("", ("label.faces=none", "plate.face=down", "magnet.polarity=alternating")),
    ("", ("top_chamfer=2 mm", "foot_chamfer=1.5 mm", "tip_flat=0.5 mm")),
    ("iqfit", ("petg", "label.depth=1.2 mm", "label.stroke=1 mm", "layers.height=0.15 mm")),
    ("iqstars", ("cell.shape=disc", "foot_chamfer=0 mm")),
    ("iqblock", ("flippable", "board.floor=0.4 mm", "board.clearance=0.4 mm")),
]
ORDERS = [pytest.param(name, (), SOME, id=f"some {name}") for name in KEYS if name != "iqfit"]
ORDERS += [
    pytest.param(name, order, re.compile(""), id=f"{name} {' '.join(order)}", marks=mark)
    for mark, orders in ((pytest.mark.integration, INTEGRATION), (pytest.mark.long, LONG))
    for name, order in orders
]


@pytest.mark.parametrize(("set_name", "order", "which"), ORDERS)
def test_parts_measure_what_is_engraved_on_them(
    set_name: str, order: Order, which: re.Pattern[str]
) -> None:
    profile, parts = profile_of(set_name, order), parts_of(set_name, order)
    if profile.faces == "none":
        profile = replace(profile, faces="front")
    numbered = [one for one in parts.values() if one.text and which.match(one.name)]
    for one in numbered:
        assert engraved(printed(one), profile.label_depth_mm) == one.text
        assert judged(one, parts, profile) == []
        assert measure.is_closed(printed(one).mesh)
    counts = {"": 2 + profile.has_recesses, "iqfit": 2}
    assert len(numbered) == counts.get(set_name, 1) * (1 if which is SOME else 5)


WRONG = [
    ("", "plug-0.10 socket-0.15", "number of the plug 0.100 instead of 0.150"),
    ("", "recess-0.15 magnet.height=2.8 mm", "ceiling 3.200 instead of 3.000"),
    ("", "recess-0.15 recess.wall=2.4 mm", "wall 2.* instead of 2.400"),
    ("iqfit", "ring-12.50 ring-12.60", "bore 12.500 instead of 12.600"),
    ("iqfit", "block-0.20 block-0.25", "room beside the link 0.20. instead of 0.250"),
    ("iqfit", "ring-12.60 ball.diameter=12.1 mm", "ball 1[12].* instead of 12.1"),
    ("iqfit", "block-0.20 ball.link=8.9 mm", "link (9|8.99).* instead of 8.9"),
    ("iqfit", "block-0.20 board.hole=12.6 mm", "hole 12.500 instead of 12.6"),
    ("iqfit", "block-0.20 unit=15.1 mm", "pitch of the bar 1(5|4.99).* 15.1"),
    ("iqstars", "plate-0.20 plate-0.15", "room around the stub 0.200 instead of 0.15"),
    ("iqstars", "plate-0.20 stub.diameter=9.9 mm", "stub 10.000 instead of 9.9"),
    ("iqstars", "plate-0.20 stub.height=2.2 mm", "height 2.000 instead of 2.2"),
    ("iqblock", "tray-0.25 tray-0.30", "room along x 0.250 instead of 0.300"),
    ("iqblock", "tray-0.25 inset=0.15 mm", "room along y 0.200 instead of 0.25"),
]


@pytest.mark.parametrize(
    ("set_name", "name", "message"),
    [
        ("", "recess-0.15 recess-0.10", "bore 10.150 instead of 10.100"),
        ("", "recess-0.15 recess.mouth=0.45 mm", "mouth 11.150 instead of 11.050"),
        *(pytest.param(*one, marks=pytest.mark.integration) for one in WRONG),
    ],
)
def test_what_is_wrong_with_a_part_is_noticed(set_name: str, name: str, message: str) -> None:
    """A part with another's number, or made with another profile."""
    name, _, wrong = name.partition(" ")
    parts = parts_of(set_name)
    part, profile = parts[name], profile_of(set_name, (wrong,) if "=" in wrong else ())
    if wrong.startswith("socket"):
        parts = {f"plug-{parts[wrong].text}": part}
        part = parts_of("")[wrong]
    elif "=" not in wrong:
        blueprint = replace(part.blueprint, label=parts[wrong].blueprint.label)
        part = replace(part, blueprint=blueprint)
    found = judged(part, parts, profile)
    assert any(re.search(message, fault) for fault in found), found


def test_plug_and_socket_fill_one_shape_between_them() -> None:
    plug, socket = (parts_of("")[f"{one}-0.10"].blueprint.canonical for one in ("plug", "socket"))
    together = plug | socket
    assert together.area == pytest.approx(plug.area + socket.area)
    assert not together.interiors
    assert together.area == pytest.approx(shapely.convex_hull(together).area)


# --- values -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("order", "key", "values"),
    [
        ((), "inset", [0.00, 0.05, 0.10, 0.15, 0.20]),
        (("petg",), "inset", [0.02, 0.07, 0.12, 0.17, 0.22]),
        (("inset=0 mm",), "inset", [0.00, 0.05, 0.10, 0.15, 0.20]),
        (("inset=0.125 mm",), "inset", [0.03, 0.08, 0.13, 0.18, 0.23]),
        (("inset=2 mm",), "inset", [1.80, 1.85, 1.90, 1.95, 2.00]),
        (("inset=0.5 mm", "unit=4 mm"), "inset", [0.30, 0.35, 0.40, 0.45, 0.50]),
        (("recess.press=-0.1 mm",), "recess.press", [-0.2, -0.15, -0.1, -0.05, 0.0]),
        (("recess.press=-0.5 mm",), "recess.press", [-0.5, -0.45, -0.4, -0.35, -0.3]),
        (("recess.fit=glue",), "recess.glue", [0.3, 0.4, 0.5, 0.6, 0.7]),
        (("recess.fit=ribs",), "recess.rib_crest", [-0.3, -0.2, -0.1, 0.0, 0.1]),
        (("flippable",), "recess.embedded", [0.2, 0.3, 0.4, 0.5, 0.6]),
    ],
    ids=str,
)
def test_values_are_whole_hundredths_around_the_profiles_own(
    order: Order, key: str, values: list[float]
) -> None:
    found = values_mm(profile_of("", order), key, "the gauge")
    assert found == values
    assert all(math.copysign(1, value) > 0 for value in found if value == 0)


# --- what is in a gauge, and its legend ---------------------------------------------------


def legend(parts: list[GaugePart], profile: Profile) -> list[str]:
    """The keys that the legend tells of; for each what to type, which the profile takes."""
    told = json.loads(json.dumps(document(parts, profile)))
    assert told["profile"] == profile.name
    names = [one["name"] for setting in told["settings"] for one in setting["parts"]]
    assert names == [one.name for one in parts]
    for setting in told["settings"]:
        key = setting["key"]
        assert f"type its number as {key}." in setting["how"]
        values = {one["engraved"]: one["value_mm"] for one in setting["parts"]}
        assert setting["own_mm"] == own_mm(profile, key)
        assert setting["own_mm"] in values.values()
        numbers = {text: value for text, value in values.items() if text}
        assert len(numbers) == 5
        for text, value_mm in numbers.items():
            assert text in setting["farther"] or 0 < [*numbers].index(text) < 4
            assert own_mm(load_profile((), [f"{key}={text} mm"]), key) == value_mm
        laid = {**BALLS, **STUBS, **TRAYS}.get(key, "")
        assert re.search(rf"(the|its) {laid}", setting["how"])
    return [setting["key"] for setting in told["settings"]]


@pytest.mark.parametrize("set_name", KEYS)
def test_the_legend_tells_of_every_part_what_to_type(set_name: str) -> None:
    parts = [*parts_of(set_name).values()]
    keys = legend(parts, profile_of(set_name))
    assert keys == ([*KEYS[set_name]] or ["inset", "recess.press"])
    if not set_name:
        plug = {"name": "plug-0.00", "engraved": "0.00", "value_mm": 0.0, "size_mm": [18.75, 15, 7]}
        assert document(parts, load_profile())["settings"][0]["parts"][0] == plug


@pytest.mark.parametrize(
    ("set_name", "order", "keys"),
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
                ("fridgeiq", ("board.make=all",), ["inset", "recess.press", *TRAYS]),
                *(("fridgeiq", (f"recess.fit={f}",), ["inset", k]) for f, k in KEY_OF_FIT.items()),
            )
        ),
    ],
)
def test_a_gauge_tries_what_a_set_needs(set_name: str, order: Order, keys: list[str]) -> None:
    profile = profile_of(set_name, order)
    assert legend(gauge_parts(profile, load_set(set_name)), profile) == keys


# --- refusals -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("set_name", "order", "message"),
    [
        (
            "",
            ("label.faces=none", "thickness=4.2 mm"),
            ", which needs its numbers engraved: recess: above a recess that ends at 3.2 mm the "
            "thickness 4.2 mm leaves 0.4 mm below the letter, and recess.roof asks for 0.6 mm; ",
        ),
        (
            "",
            ("recess.fit=ribs", "magnet.height=1 mm", "recess.mouth=1 mm", "recess.rib_root=0.28 mm"),
            ": recess.rib_crest: it tries 5 values around -0.10 mm, and this profile can have 4 of "
            "them; with -0.20 mm, recess.mouth: 1 mm, with the 0.24 mm of the ribs, is deeper ",
        ),
        (
            "",
            ("magnet.diameter=50 mm", "recess.bed_wall=20 mm", "foot_chamfer=5 mm", "thickness=20 mm"),
            ": with a grid unit of 60 mm its parts are still too small; choose a smaller ",
        ),
        ("iqfit", ("board.make=none",), ": there is nothing to try: pieces of balls have no fit but "),
        ("iqfit", ("board.hole=12 mm",), ": ring: board.hole is 12 mm; expected more than the ball's "),
        ("iqfit", ("ball.flat=5 mm",), ": bar: balls of 12 mm with their middles 5 mm above the bed "),
        (
            "iqfit",
            ("ball.diameter=14 mm", "board.hole=14.2 mm"),
            ": board.hole: it tries 5 values around 14.20 mm, and this profile can have 2 of them; "
            "with 14.30 mm, board.hole is 14.3 mm; expected more than the ball's 14 mm, and ",
        ),
    ],
)  # fmt: skip
def test_a_profile_that_allows_no_gauge_is_refused(
    set_name: str, order: Order, message: str
) -> None:
    with pytest.raises(InputError) as refusal:
        gauge_parts(profile_of(set_name, order), load_set(set_name) if set_name else None)
    gauge = f"fit gauge for {set_name}" if set_name else "fit gauge"
    assert str(refusal.value).startswith(f"{gauge} with profile default{message}")


# --- the command --------------------------------------------------------------------------


def test_the_command_writes_a_gauge_for_a_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["coupon", "--for", "iqfitt"]) == 2
    assert 'there is no set "iqfitt"' in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
    assert main(["coupon", "--for", "iqfit", "-o", "gauge", "--json"]) == 0
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert told["set"] == "iqfit"
    saved = json.loads(Path("gauge/coupon.json").read_text())
    assert saved["settings"] == told["settings"]
    names = {part["name"] for one in told["settings"] for part in one["parts"]}
    assert {path.stem for path in Path("gauge/stl").iterdir()} == names
    assert set(objects_of(Path("gauge/coupon.3mf"))) == names
    assert Path("gauge/coupon.svg").read_text().startswith("<svg")
    parts = {
        name: Printed(name, measure.read_mesh(Path(f"gauge/stl/{name}.stl"))) for name in names
    }
    assert all(abs(one.mesh.bounds[0, 2]) < 1e-6 for one in parts.values())
    for name in ("ring-12.60", "block-0.20"):
        assert engraved(parts[name], 0.6) == name.partition("-")[2]
        assert faults(parts[name], parts["bar"], profile_of("iqfit")) == []
