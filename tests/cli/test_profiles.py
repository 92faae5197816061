"""Profiles: layers, units, and what cannot be together."""

from __future__ import annotations

import contextlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabkit.core.errors import InputError
from fabkit.core.units import format_mm, parse_length_mm
from fabkit.model.profile import SETTINGS
from fabkit.model.profilefile import dump_profile, load_profile, preset_names


def test_presets_are_what_they_are_said_to_be() -> None:
    default, compact, flippable = (load_profile([n]) for n in ("default", "compact", "flippable"))
    assert (default.unit_mm, default.thickness_mm, default.inset_mm) == (20, 7, 0.1)
    assert (default.magnet_diameter_mm, default.magnet_height_mm, default.fit) == (10, 3, "press")
    assert (default.tip_flat_mm, default.top_chamfer_mm, default.foot_chamfer_mm) == (1.2, 0.6, 0.4)
    assert (default.mouth_mm, default.wall_mm, default.bed_wall_mm) == (0.5, 2, 0.7)
    assert (compact.unit_mm, compact.thickness_mm) == (12, 5)
    assert (compact.magnet_diameter_mm, compact.magnet_height_mm) == (6, 2)
    assert (compact.wall_mm, compact.cap_height_mm) == (1.5, 5)
    assert (flippable.thickness_mm, flippable.fit, flippable.faces) == (5.2, "embedded", "both")
    assert flippable.top_chamfer_mm == flippable.foot_chamfer_mm
    assert flippable.label_depth_mm == 0.4


def test_default_sets_every_key() -> None:
    default = load_profile()
    assert all(getattr(default, setting.attribute) is not None for setting in SETTINGS)
    assert load_profile(["default"]) == default


@pytest.mark.parametrize("name", preset_names())
def test_a_dump_reads_back_as_itself(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("profile") / f"{name}.toml"
    profile = load_profile([name], ["inset=0.137 mm"])
    path.write_text(dump_profile(profile))
    assert load_profile([str(path)]) == profile


def test_a_set_s_unit_lies_between_default_and_choice() -> None:
    assert load_profile(unit_mm=33).unit_mm == 33
    assert load_profile(["compact"], unit_mm=33).unit_mm == 12
    assert load_profile(["petg"], unit_mm=33).unit_mm == 33


@given(st.decimals(min_value=0, max_value=10_000, places=3))
def test_lengths_survive_writing_and_reading(value: object) -> None:
    assert parse_length_mm(format_mm(float(value), 6)) == pytest.approx(float(value))


@pytest.mark.parametrize(
    ("text", "mm"), [("1in", 25.4), ("2 cm", 20), ("150 um", 0.15), (" .5 mm ", 0.5), ("-1mm", -1)]
)
def test_units(text: str, mm: float) -> None:
    assert parse_length_mm(text) == pytest.approx(mm)


@pytest.mark.parametrize("text", ["", "mm", "1", "1 m m", "nan mm", "1e3 mm", "1 furlong", 3, None])
def test_what_is_no_length(text: object) -> None:
    with pytest.raises(ValueError, match=r"length|unit"):
        parse_length_mm(text)


@given(st.text(max_size=60))
def test_any_text_is_a_length_or_a_clear_refusal(text: str) -> None:
    with contextlib.suppress(ValueError):  # and nothing else
        assert math.isfinite(parse_length_mm(text))


def test_all_contradictions_come_together() -> None:
    with pytest.raises(InputError) as caught:
        load_profile([], ["label.faces=both", "thickness=2 mm", "label.depth=1 mm"])
    assert {fault.key for fault in caught.value.faults} == {"label.faces", "label.depth", "recess"}
