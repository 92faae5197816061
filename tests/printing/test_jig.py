"""The jig that presses magnets in: measured on its mesh, and tried with the meshes of a set's
pieces.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from shapely import Point

from fabkit.cli import main
from fabkit.profiles.layers import MARK_DIAMETER_MM
from fabkit.profiles.profile_file import load_profile
from tests.support import measure
from tests.support.platefiles import with_prusa

if TYPE_CHECKING:
    import manifold3d
    import trimesh

ALTERNATING = ("-s", "magnet.polarity=alternating")
FITS = [("-s", f"recess.fit={fit}") for fit in ("press", "glue", "ribs")]
ORDERS = [*FITS, ("-p", "compact"), ("-p", "petg", *ALTERNATING, "-s", "plate.face=down")]
#: One in the default run, the others with those of integration.
SOME_ORDERS = [
    *(pytest.param(one, marks=pytest.mark.integration) for one in ORDERS[:-1]),
    ORDERS[-1],
]
OUT = {"pair.toml": Path("output/pair"), "fridgeiq": Path("output/fridgeiq")}


def solid(mesh: trimesh.Trimesh) -> manifold3d.Manifold:
    import manifold3d

    found = manifold3d.Manifold(
        manifold3d.Mesh(np.asarray(mesh.vertices, np.float32), np.asarray(mesh.faces, np.uint32))
    )
    assert found.status() == manifold3d.Error.NoError
    return found


def profile_of(order: tuple[str, ...]) -> Any:
    options = [order[at : at + 2] for at in range(0, len(order), 2)]
    chosen = [value for flag, value in options if flag == "-p"]
    return load_profile(chosen, [value for flag, value in options if flag == "-s"])


@pytest.mark.parametrize("order", SOME_ORDERS, ids=" ".join)
@pytest.mark.parametrize(
    "name", ["pair.toml", pytest.param("fridgeiq", marks=pytest.mark.integration)]
)
def test_its_post_enters_every_recess_and_its_collar_stops_with_the_magnet_inserted(
    name: str, order: tuple[str, ...], pair: str, run_json: Callable[..., Any]
) -> None:
    import manifold3d

    profile, out = profile_of(order), OUT[name]
    pieces = run_json("export-stl", name, *order)["pieces"]
    jigs = run_json("jig", name, *order)["jigs"]
    poles = {pole for piece in pieces.values() for pole in piece["poles"]}
    assert {one["pole"] for one in jigs} == poles
    for one in jigs:
        mesh = measure.read_mesh(out / f"jig/{one['name']}.stl")
        assert measure.is_closed(mesh)
        top_mm = float(mesh.bounds[1, 2])
        levels = sorted(z for (z, facing), mm2 in measure.flat_levels(mesh).items() if facing > 0)
        collar_mm, tip_mm = levels[-2:]
        assert tip_mm == pytest.approx(top_mm)
        assert tip_mm - collar_mm == pytest.approx(one["post_height_mm"], abs=1e-4)
        jig = solid(mesh).translate((0, 0, -collar_mm))
        for piece_id, piece in pieces.items():
            body = solid(measure.read_mesh(out / f"stl/{piece_id}.stl"))
            for at_mm, pole in zip(piece["magnets_mm"], piece["poles"], strict=True):
                if pole != one["pole"]:
                    continue
                tool = jig.translate((*at_mm, 0))
                assert (tool ^ body).volume() == pytest.approx(0, abs=1e-3)
                # A little farther its collar meets the back all around the lead-in …
                met = tool.translate((0, 0, 0.05)) ^ body
                assert met.volume() > 0.05 * np.pi * profile.magnet_diameter_mm * 0.3
                # … and there is the magnet at the recess's end, but for less than a layer.
                disc = manifold3d.Manifold.cylinder(
                    profile.magnet_height_mm, profile.magnet_diameter_mm / 2 - 0.1, -1, 64
                ).translate((*at_mm, one["post_height_mm"]))
                assert (disc ^ body).volume() == pytest.approx(0, abs=1e-3)
                assert (disc ^ tool).volume() == pytest.approx(0, abs=1e-3)
                farther = disc.translate((0, 0, profile.layer_mm)) ^ body
                assert farther.volume() > 0
                assert one["post_height_mm"] <= 0.3


@pytest.mark.parametrize("order", FITS, ids=" ".join)
def test_it_measures_what_it_says(
    order: tuple[str, ...], pair: str, run_json: Callable[..., Any]
) -> None:
    profile = profile_of(order)
    north, south = run_json("jig", "pair.toml", *order, *ALTERNATING)["jigs"]
    assert (north["pole"], north["tip"], south["pole"], south["tip"]) == ("N", "S", "S", "N")
    narrow_mm = {"press": 10.1, "glue": 10.5, "ribs": 9.9}[profile.fit]
    for one in (north, south):
        mesh = measure.read_mesh(Path(f"output/pair/jig/{one['name']}.stl"))
        width, depth, height = (mesh.bounds[1] - mesh.bounds[0]).tolist()
        assert [width, depth, height] == pytest.approx(one["size_mm"], abs=0.01)
        post = measure.section(mesh, height - one["post_height_mm"] / 2)
        assert 2 * post.exterior.hausdorff_distance(Point(0, 0)) == pytest.approx(one["post_mm"])
        assert one["post_mm"] == pytest.approx(narrow_mm - 4 * profile.inset_mm)
        # Beside the shaft, into which a magnet goes with room for glue, as much as beside a recess.
        stem = measure.section(mesh, 5.0)
        (shaft,) = measure.holes(stem)
        assert 2 * (shaft.area / np.pi) ** 0.5 == pytest.approx(10.5, abs=0.02)
        assert measure.wall_mm(stem, shaft) >= profile.wall_mm - 0.01
        # The shaft ends half a magnet's diameter, to whole layers, from the tip.
        shaft_top_mm = max(z for (z, facing), _ in measure.flat_levels(mesh).items() if facing < 0)
        assert shaft_top_mm == pytest.approx(one["shaft_depth_mm"])
        assert 5 - 1e-4 <= height - shaft_top_mm < 5 + profile.layer_mm - 1e-4
    # The name is in the tab; behind it, of a south pole, the pieces' mark.
    tab = measure.section(measure.read_mesh(Path("output/pair/jig/jig-S.stl")), 2.873)
    dimple = min(measure.holes(tab), key=lambda hole: hole.centroid.y)
    assert 2 * (dimple.area / np.pi) ** 0.5 == pytest.approx(MARK_DIAMETER_MM, abs=0.02)
    assert sorted(path.name for path in Path("output/pair/jig").iterdir()) == [
        "jig-N.stl", "jig-S.stl", "jig.svg", "plate.3mf", "plate.svg",
    ]  # fmt: skip


def test_a_closed_cavity_gets_its_magnets_from_above(
    pair: str, run_json: Callable[..., Any]
) -> None:
    (one,) = run_json("jig", "-p", "flippable")["jigs"]
    assert (one["pole"], one["tip"], one["post_mm"], one["post_height_mm"]) == ("N", "N", 0, 0)
    (one,) = run_json("jig", "-p", "flippable", "-s", "plate.face=down", "-s", "label.faces=front")[
        "jigs"
    ]
    assert one["tip"] == "S"
    (one,) = run_json("jig", "-s", "magnet.polarity=free")["jigs"]
    assert (one["name"], one["pole"], one["tip"]) == ("jig", "", "")


def test_its_post_is_narrower_by_what_recesses_lose(
    pair: str, run_json: Callable[..., Any]
) -> None:
    """On a printer where holes are known to come out narrower, drawn recesses make up for it."""
    lost = ("-s", "calibration.hole_loss=0.2 mm", "-s", "recess.press=0.3 mm")
    (one,) = run_json("jig", *lost)["jigs"]
    assert one["post_mm"] == 9.7  # as with a recess of 10.1 mm that loses nothing
    out = ("-s", "calibration.offset=0.05 mm", "-s", "inset=0.15 mm", "-s", "gap.min=0.3 mm")
    (one,) = run_json("jig", *lost, *out)["jigs"]
    assert one["post_mm"] == 9.6  # and prints 9.7 mm wide


def test_it_says_how_to_use_it(pair: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["jig", pair]) == 0
    out = capsys.readouterr().out
    assert "jig-N: N pole outwards; a post of 9.7 x 0.2 mm, and a collar of 15.1 mm" in out
    assert "S towards the tip of jig-N" in out
    assert "until the collar rests on the back" in out
    assert "The poles may be the other way round" in out
    assert main(["jig", pair, *ALTERNATING]) == 0
    assert "To find the north pole of a magnet, hang it" in capsys.readouterr().out


@with_prusa
def test_it_can_be_sliced(pair: str, run_json: Callable[..., Any]) -> None:
    run_json("jig", *ALTERNATING)
    model = "output/jig/jig/plate.3mf"
    slicer = subprocess.run(
        ["prusa-slicer", "--info", model], capture_output=True, text=True, check=True
    )
    assert slicer.stdout.count("manifold = yes") == 2
    options = ["--dont-arrange", "--loglevel", "2", "--export-gcode", "-o", "jig.gcode"]
    ran = subprocess.run(
        ["prusa-slicer", *options, model], capture_output=True, text=True, check=True
    )
    assert "warn" not in (ran.stdout + ran.stderr).lower()
