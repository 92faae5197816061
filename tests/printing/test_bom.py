"""The bill of materials: counts and sums worked out again, and what a spreadsheet makes of it."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from fabkit.build.artifacts import Artifacts
from fabkit.drawing.draft import FlatDrawing, draft_all, draft_printable
from fabkit.mesh.mesh import Mesh
from fabkit.printing.bom import (
    MAGNET_WARNING,
    Bom,
    SliceTotals,
    bom_csv,
    make_bom,
)
from fabkit.profiles.profile import Profile
from fabkit.profiles.profile_file import load_profile
from fabkit.sets.library import load_set, shipped_names

INLAY = "label.inlay=letter"
FRIDGEIQ = load_set("fridgeiq")


@cache
def drafted(profile: Profile) -> list[FlatDrawing]:
    return draft_all(FRIDGEIQ, FRIDGEIQ.pieces, profile, draft_printable)


@cache
def meshes(profile: Profile) -> dict[str, Mesh]:
    artifacts = Artifacts(FRIDGEIQ, FRIDGEIQ.pieces, profile)
    return {piece.id: artifacts.mesh(piece) for piece in FRIDGEIQ.pieces}


def bom_of(profile: Profile, sliced: SliceTotals | None = None) -> Bom:
    return make_bom("fridgeiq", drafted(profile), meshes(load_profile()), profile, sliced)


def rows(found: Bom) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(bom_csv(found))))


#: Filament that PrusaSlicer 2.5 needs for each shipped set, by `fabkit slice`, in grams.
SLICED_G = {
    "tangram": 83.59, "iqfit": 255.0, "balls12": 265.23, "cubimagici": 213.71, "iqblock": 267.6,
    "fridgeiq": 76.87, "hexiamonds": 164.11, "iqstars": 139.49, "calendar": 171.28,
    "dicesquare": 165.25, "pentominoes": 289.98, "tetrahexes": 144.76,
}  # fmt: skip


def test_every_shipped_set_was_sliced() -> None:
    assert SLICED_G.keys() == set(shipped_names())


@pytest.mark.in_turn
@pytest.mark.parametrize("name", SLICED_G)
def test_the_estimate_of_a_shipped_set(
    name: str, tmp_path: Path, run_json: Callable[..., Any]
) -> None:
    document = run_json("bom", name, "-o", str(tmp_path))
    assert document["estimated"]
    assert sum(line["grams"] for line in document["filament"]) == pytest.approx(
        SLICED_G[name], rel=0.02
    )


def test_counts_and_sums() -> None:
    profile = load_profile((), ["price.filament=20", "price.magnet=0.25"])
    found = bom_of(profile)
    assert (len(found.pieces), found.magnets, found.magnets_cost) == (16, 21, 5.5)
    assert found.grams == pytest.approx(SLICED_G["fridgeiq"], rel=0.02)
    assert found.cost == pytest.approx(5.5 + found.grams * 20 / 1000, abs=0.01)
    grams = sum(piece.printed_mm3 for piece in found.pieces) / 1000 * 1.24
    assert sum(line.grams for line in found.filament) == pytest.approx(grams, rel=0.002)
    for line in found.filament:
        cm3 = line.metres * 100 * math.pi * (0.175 / 2) ** 2
        assert cm3 * 1.24 == pytest.approx(line.grams, rel=0.01)
    table = rows(found)
    assert [row["item"] for row in table].count("piece") == 16
    (magnets,) = [row for row in table if row["item"] == "magnet"]
    assert (magnets["count"], magnets["cost"], magnets["name"]) == ("22", "5.50", "N35")
    (total,) = [row for row in table if row["item"] == "total"]
    assert float(total["cost"]) == found.cost
    assert next(row["note"] for row in table if row["item"] == "note") == MAGNET_WARNING
    bare = bom_of(load_profile((), ["recess.fit=none"]))
    assert (bare.magnets, bare.cost) == (0, bare.filament_cost)
    assert MAGNET_WARNING not in bare.notes
    assert all(row["item"] != "magnet" for row in rows(bare))


def test_a_letter_in_a_second_colour_has_its_own_line() -> None:
    plain, found = bom_of(load_profile()), bom_of(load_profile((), ["label.inlay=letter"]))
    assert len(found.filament) == len(plain.filament) + 1
    letters = found.filament[-1]
    assert (letters.colour, letters.pieces) == ("#ffffff", ("letters",))
    assert 0 < letters.grams < 2


def test_filament_is_bought_by_the_names_of_colours() -> None:
    """Twins in colour share a spool; every other one needs its own, and a heavy one two."""
    drawings = drafted(load_profile())
    twins = [replace(one, colour=("#0077ee", "#1078e8")[i % 2]) for i, one in enumerate(drawings)]
    twins[0] = replace(twins[0], colour="#dd0033")
    found = make_bom("fridgeiq", twins, meshes(load_profile()), load_profile())
    assert [(one.name, one.spools) for one in found.filament] == [("red", 1), ("blue", 1)]
    assert len(found.filament[1].pieces) == 15
    assert found.spools_text == "at least 2 spools of 1 kg: red, blue"
    assert (
        "Colours are a suggestion: in a single colour, the set needs only 1 spool." in found.notes
    )
    # Of sixteen colours a few grams each are enough, which nobody buys by the kilogram.
    many = bom_of(load_profile())
    assert many.spools_text == "at least 16 spools of 1 kg: one of each colour"
    (note,) = [note for note in many.notes if "a suggestion" in note]
    assert "2.2 to 7.3 g of each do, as samples or leftovers; in a single colour" in note
    (row,) = [row for row in rows(found) if row["item"] == "spools"]
    assert (row["count"], row["note"]) == ("2", found.spools_text)
    assert found.document()["spools"]["least"] == 2
    assert found.document()["filament"][1]["name"] == "blue"
    heavy = make_bom(
        "fridgeiq",
        twins,
        meshes(load_profile()),
        load_profile(),
        SliceTotals("PrusaSlicer", 1.0, (1500.0,), 9),
    )
    assert [one.spools for one in heavy.filament] == [1, 2]
    # Letters share the spool of what has their colour; pieces in two colours are noted.
    white = [replace(one, colour="#fefefe") for one in drafted(load_profile((), [INLAY]))]
    inlaid = make_bom("fridgeiq", white, meshes(load_profile()), load_profile((), [INLAY]))
    assert [(one.name, one.pieces[-1]) for one in inlaid.filament] == [("white", "letters")]
    assert any("16 pieces in two colours" in note for note in inlaid.notes)


def test_a_slicer_has_the_last_word_on_grams() -> None:
    sliced = SliceTotals("PrusaSlicer 2.5.0", 3600.0, (100.0,), 2)
    found = bom_of(load_profile(), sliced)
    assert found.grams == pytest.approx(100.0, abs=0.1)
    assert found.document()["print_seconds"] == 3600.0
    assert not any("estimated" in note for note in found.notes)
    (row,) = [row for row in rows(found) if row["item"] == "print"]
    fields = (row["count"], row["unit"], row["note"])
    assert fields == ("60", "min", "2 plates, according to PrusaSlicer 2.5.0")
    # One that keeps its grams to itself is asked for the time only.
    silent = bom_of(load_profile(), SliceTotals("PrusaSlicer 2.5.0", None, None, 1))
    assert silent.grams == bom_of(load_profile()).grams
    assert any("estimated" in note for note in silent.notes)
    # Each extruder has its own grams.
    two = bom_of(
        load_profile((), ["label.inlay=letter"]),
        SliceTotals("PrusaSlicer 2.5.0", 60.0, (100.0, 5.0), 1),
    )
    assert two.filament[-1].grams == pytest.approx(5.0)
    assert sum(line.grams for line in two.filament[:-1]) == pytest.approx(100.0, abs=0.1)


def test_the_pause_and_the_glue_are_listed() -> None:
    found = bom_of(load_profile(["flippable"]))
    assert found.document()["pause"] == {"height_mm": 4.2, "after_layer": 21}
    assert any("pauses at 4.2 mm, after layer 21" in note for note in found.notes)
    assert any("lifts loose magnets" in note for note in found.notes)
    assert bom_of(load_profile()).document()["pause"] is None


@pytest.mark.parametrize(
    ("polarity", "text"),
    [("same", "same pole"), ("alternating", "dimple"), ("free", "either way round")],
)
def test_polarity_is_noted(polarity: str, text: str) -> None:
    found = bom_of(load_profile((), [f"magnet.polarity={polarity}"]))
    assert any(note.startswith("Polarity:") and text in note for note in found.notes)
    poles = [pole for piece in found.pieces for pole, _ in piece.magnets]
    marked = [mark for piece in found.pieces for _, mark in piece.magnets]
    if polarity == "alternating":
        assert abs(poles.count("N") - poles.count("S")) <= 1
        assert marked == [pole == "S" for pole in poles]
    else:
        assert set(poles) == ({"N"} if polarity == "same" else {""})
        assert not any(marked)


def test_sizes_are_those_of_the_meshes() -> None:
    """A tray that is higher than the pieces, for example."""
    tall = {
        name: Mesh(name, mesh.vertices * [1, 1, 3], mesh.faces)
        for name, mesh in meshes(load_profile()).items()
    }
    bom = make_bom("fridgeiq", drafted(load_profile()), tall, load_profile())
    assert bom.pieces[0].size_mm == (38.55, 39.8, 21.0)
    assert next(row["size"] for row in rows(bom)) == "38.55 x 39.8 x 21 mm"


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ([], "21 + 1 for the jig = 22 magnets: 3 packs of 10"),
        (["magnet.pack=22"], "21 + 1 for the jig = 22 magnets: 1 pack of 22"),
        (["magnet.pack=21"], "21 + 1 for the jig = 22 magnets: 2 packs of 21"),
        (["magnet.pack=1"], "21 + 1 for the jig = 22 magnets: sold singly"),
        (["magnet.polarity=alternating"], "21 + 2 for the 2 jigs = 23 magnets: 3 packs of 10"),
        (["recess.fit=none"], ""),
    ],
)
def test_magnets_are_bought_in_packs_with_those_of_the_jigs(settings: list[str], text: str) -> None:
    bom = bom_of(load_profile((), settings))
    assert bom.packs_text == text
    notes = [row["note"] for row in rows(bom) if row["item"] == "magnet"]
    assert notes == ([text] if text else [])


def test_a_spreadsheet_finds_no_formula() -> None:
    profile = replace(load_profile(), filament="=HYPERLINK(1)", magnet_grade="+N35")
    table = rows(bom_of(profile))
    cells = [cell for row in table for cell in row.values()]
    assert not any(cell.startswith(("=", "+", "-", "@")) for cell in cells)
    assert "'=HYPERLINK(1)" in cells


@pytest.mark.integration
def test_the_command(tmp_path: Path, run_json: Callable[..., Any]) -> None:
    document = run_json("bom", "fridgeiq", "-o", str(tmp_path))
    assert document == json.loads((tmp_path / "bom.json").read_text())
    assert document["magnets"]["count"] == 21
    assert (document["magnets"]["for_jigs"], document["magnets"]["packs"]) == (1, 3)
    magnetic = document["magnets"]["forces"]
    assert magnetic["on_steel"]["is_held"]
    assert not magnetic["in_tray"]["is_held"]
    assert any(f"{magnetic['pull_n']:.1f} N" in note for note in document["notes"])
    first = (tmp_path / "bom.csv").read_bytes()
    run_json("bom", "fridgeiq", "-o", str(tmp_path))
    assert (tmp_path / "bom.csv").read_bytes() == first
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert {"bom.csv", "bom.json"} <= manifest["files"].keys()
