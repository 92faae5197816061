"""Push-out holes (`recess.release`): on the meshes of a set, in its bill, and for a printer."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from math import pi
from pathlib import Path
from typing import Any

import pytest
from shapely import Point

from fabkit.drawing.draft import draft_all, draft_flat_piece
from fabkit.profiles.profile_file import load_profile
from fabkit.sets.library import load_set
from tests.support import measure
from tests.support.platefiles import with_prusa

RELEASE = ("-s", "recess.release=2 mm")
ORDERS = [
    (),
    ("-s", "recess.fit=glue", "-s", "plate.face=down"),
    ("-s", "recess.fit=ribs", "-s", "magnet.polarity=alternating"),
    ("-p", "compact"),
]


@pytest.mark.in_turn
@pytest.mark.parametrize("order", ORDERS, ids=" ".join)
def test_a_pin_goes_from_the_face_to_the_magnet(
    order: tuple[str, ...], pair: str, run_json: Callable[..., Any]
) -> None:
    options = [order[at : at + 2] for at in range(0, len(order), 2)]
    settings = [value for flag, value in options if flag == "-s"]
    chosen = [value for flag, value in options if flag == "-p"]
    profile = load_profile(chosen, [*settings, RELEASE[1]])
    puzzle = load_set(pair)
    pieces = run_json("export-stl", pair, *order, *RELEASE)["pieces"]
    for name, piece in pieces.items():
        mesh = measure.read_mesh(Path(f"output/pair/stl/{name}.stl"))
        assert measure.is_closed(mesh)
        drawn = draft_flat_piece(puzzle, puzzle.piece(name), profile)
        (recess,) = drawn.recesses
        assert recess.centre_mm == tuple(piece["magnets_mm"][0])
        middle, top_mm = Point(recess.centre_mm), float(mesh.bounds[1, 2])
        step_mm = profile.layer_mm if profile.facing == "up" else 0.0
        face = measure.section(mesh, top_mm - 0.0137)
        hole, *letters = sorted(measure.holes(face), key=middle.distance)
        assert hole.centroid.distance(middle) < 1e-3
        assert hole.area == pytest.approx(pi, rel=0.01)
        assert min(map(hole.distance, letters)) >= profile.roof_mm - 0.001
        widths = []
        for layer in (0.5, 1.5, 2.5):
            area = measure.section(mesh, recess.high_mm + layer * profile.layer_mm + 0.0037)
            (open_,) = (one for one in measure.holes(area) if one.contains(middle))
            left, low, right, high = open_.bounds
            widths.append((round(right - left, 1), round(high - low, 1)))
            assert open_.contains(Point(recess.centre_mm).buffer(0.99))
        # First a slot from side to side of the recess, then a square, then it is round.
        narrowest_mm = recess.diameters.crest_mm or recess.diameters.widest_mm
        slot = (round(narrowest_mm, 1), 2.0)
        assert widths == [slot if step_mm else (2.0, 2.0), (2.0, 2.0), (2.0, 2.0)]


@pytest.mark.parametrize(
    "preset", ["default", pytest.param("compact", marks=pytest.mark.integration)]
)
def test_letters_keep_away_from_it(preset: str) -> None:
    puzzle = load_set("fridgeiq")
    for wide in (1, 3):
        profile = load_profile([preset], [f"recess.release={wide} mm"])
        for drawn in draft_all(puzzle, puzzle.pieces, profile, draft_flat_piece):
            assert drawn.label
            assert drawn.label.cap_height_mm >= 0.8 * profile.cap_height_mm
            letter = drawn.label.front.polygon()
            assert drawn.face.contains(letter)
            assert drawn.face.exterior.distance(letter) >= profile.label_margin_mm - 1e-6
            for recess in drawn.recesses:
                away_mm = letter.distance(Point(recess.centre_mm)) - wide / 2
                assert away_mm >= profile.roof_mm - 1e-6


@pytest.mark.integration
@pytest.mark.parametrize("order", [(), ("-p", "compact")])
def test_a_set_with_it_passes_check_and_verify_and_only_where_it_is_asked_for(
    order: tuple[str, ...], pair: str, run_json: Callable[..., Any]
) -> None:
    run_json("export-3mf", pair, *order, *RELEASE)
    run_json("export-step", pair, *order, *RELEASE)
    run_json("export-svg", pair, *order, *RELEASE)
    run_json("export-stl", pair, *order, *RELEASE)
    assert run_json("check", pair, *order, *RELEASE)["ok"]
    assert run_json("check", pair)["ok"]  # as the profile beside them says
    assert run_json("verify", pair, *order, *RELEASE)["ok"]
    assert run_json("verify", pair, *order, *RELEASE, "--from", "output/pair/pair.3mf")["ok"]
    assert run_json("bom", pair, *order, *RELEASE)["magnets"]["count"] == 2
    arguments = [pair, *order, "-s", "recess.release=0 mm", "--write-profile", "own.toml"]
    report = run_json("check", *arguments, code=1)
    assert load_profile(["own.toml"]).release_mm == 2
    findings = [one for piece in report["pieces"].values() for one in piece["findings"]]
    failed = {one["rule"] for one in findings if not one["ok"]}
    assert failed == {"release"}


@with_prusa
def test_it_needs_no_supports(pair: str, run_json: Callable[..., Any]) -> None:
    run_json("plate", pair, *RELEASE)
    options = ["--dont-arrange", "--loglevel", "2", "--export-gcode", "-o", "plate.gcode"]
    ran = subprocess.run(
        ["prusa-slicer", *options, "output/pair/plates/plate-1.3mf"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "warn" not in (ran.stdout + ran.stderr).lower()
    assert run_json("slice", pair, *RELEASE)["printable"]
