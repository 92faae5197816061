"""Sets as other people print them: every piece is recognised, and nothing false is reported."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from shapely import Polygon, affinity

from tests.support import analytic
from tests.support.lookalikes import OF_BALLS, ON_PEGS, VARIANTS, Variant, lookalike_files

#: Of a million triangles.
LONG = ("like a scan",)
#: Not of hexagons: a ball of 8 sides rounds these unlike, and what is torn is rightly reported.
NO_HEXAGONS = ("coarse", "with much clearance")
#: The other flat sets, on pegs and without.
OTHERS = [
    pytest.param(set_name, variant, id=f"{set_name}, {name}")
    for set_name, table in (("iqblock", VARIANTS), ("iqstars", VARIANTS), ("iqstars", ON_PEGS))
    for name, variant in table.items()
    if name not in LONG and (set_name == "iqblock" or name not in NO_HEXAGONS)
]
#: What takes longest waits for --long.
FRIDGEIQ = [pytest.param(name, marks=[pytest.mark.long] * (name in LONG)) for name in VARIANTS]
RunJson = Callable[..., Any]


def expected(v: Variant) -> set[str]:
    """The rules that such a set rightly breaks, held against what it is made to."""
    found = {
        "clearance": v.inset == 0,
        "length-unit": v.length != "mm",
        "orientation": v.tilted or v.ending == ".glb",  # where y is up
        "overhang": v.rounding,
        "self-intersection": v.noise or v.unit > 20 or v.simplified > 0.05,  # of folded slivers
        "dent": v.simplified > 0.05,
        "recess-diameter": v.simplified > 0.05 or v.letter == "inside",
        "recess-empty": v.letter == "inside",
        "bed-contact": v.rounding > 2 or v.hollow == "open",
        "bridge": v.hollow,
        "cavities": v.hollow == "closed",
        "wall": v.hollow or v.rounding > 2,
        "top-chamfer": v.rounding > 2,  # where the letter's pocket reaches the rounding
        "label-margin": v.rounding > 2,
        "roof": v.thickness < 7 or v.letter == "sunk",
        "tip": v.tip_cut == 0,
        "shells": v.letter == "inlaid",
        "letter": v.mirrored == "*",  # seen as in a mirror
        "shape": v.mirrored,
        "assembly": v.mirrored,
        "missing": v.mirrored == "*",
        "duplicate": v.mirrored == "*",
        "file-name": v.mirrored == "*",
    }
    return {rule for rule, is_broken in found.items() if is_broken}


def shapes(set_name: str) -> dict[str, tuple[list[str], list[str]]]:
    """For each flat piece the ids of all that it looks like, and that its mirror image looks like."""
    drawn = {
        one.id: affinity.translate(one.outline, *(-x for x in one.outline.centroid.coords[0]))
        for one in analytic.drawings(set_name)
    }

    def alike(area: Polygon) -> list[str]:
        turned = [affinity.rotate(area, 30 * k, origin=(0, 0)) for k in range(12)]
        return [
            key
            for key, one in drawn.items()
            if any(one.symmetric_difference(other).area < 1e-6 for other in turned)
        ]

    over = {key: affinity.scale(area, -1, 1, origin=(0, 0)) for key, area in drawn.items()}
    return {key: (alike(area), alike(over[key])) for key, area in drawn.items()}


@pytest.mark.integration
@pytest.mark.every(12)
@pytest.mark.parametrize("name", FRIDGEIQ)
def test_fridgeiq_by_others(name: str, run_json: RunJson) -> None:
    check_flat("fridgeiq", VARIANTS[name], run_json)


@pytest.mark.integration
@pytest.mark.every(20)
@pytest.mark.parametrize(("set_name", "variant"), OTHERS)
def test_other_flat_sets_by_others(set_name: str, variant: Variant, run_json: RunJson) -> None:
    check_flat(set_name, variant, run_json)


@pytest.mark.integration
@pytest.mark.every(3)
@pytest.mark.parametrize("name", OF_BALLS)
def test_iqfit_by_others(name: str, run_json: RunJson) -> None:
    variant = OF_BALLS[name]
    _, width_mm, flat_mm = variant.balls
    link_mm = width_mm * math.cos(math.pi / variant.segments)
    expected = {
        "length-unit": variant.length != "mm",
        "ball-orientation": variant.tilted,
        "ball-shape": variant.mirrored,
        "ball-flat": flat_mm is None,
        "overhang": flat_mm is None or width_mm < 9,
        "ball-link": link_mm < 8.9,
        "ball-pitch": variant.unit != 15,
        "ball-diameter": variant.unit != 15,
        "ball-stray": variant.unit != 15,
    }
    files = [str(path) for path in lookalike_files("iqfit", variant)]
    document = run_json("check", "--set", "iqfit", *files, code=1 if any(expected.values()) else 0)
    parts = document["pieces"]
    assert len(parts) == 10
    assert sorted(parts) == sorted(one["piece"] for one in parts.values())
    found = [*document["findings"], *(one for part in parts.values() for one in part["findings"])]
    assert {one["rule"] for one in found if not one["ok"]} == {k for k, v in expected.items() if v}


def check_flat(set_name: str, variant: Variant, run_json: RunJson) -> None:
    files = [str(path) for path in lookalike_files(set_name, variant)]
    document = run_json("check", "--set", set_name, *files, code=1)
    parts, looks = document["pieces"], shapes(set_name)
    assert len(parts) == len(looks)
    pegless = set_name == "iqstars" and not variant.peg
    right = expected(variant) | ({"peg-count"} if pegless else set())
    for key, part in parts.items():
        broken = {one["rule"] for one in part["findings"] if not one["ok"]}
        assert broken <= right, (key, broken - right)
        if variant.together:
            continue
        made = Path(part["file"]).stem
        own, over = looks[made]
        is_mirrored = variant.mirrored == "*" or made in variant.mirrored
        assert part["piece"] in (own + over if is_mirrored else own)
        assert ("shape" in broken) == (is_mirrored and over != own), made
    broken = {one["rule"] for one in document["findings"] if not one["ok"]}
    assert broken <= right, broken - right
