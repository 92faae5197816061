"""The shipped catalog of snowflakes: every entry checked again, and all of it made again."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from fabkit.core.errors import InputError
from fabkit.sets.catalog import catalog_records, shipped_entries
from fabkit.sets.challenge_file import read_list
from fabkit.sets.challenges import find_challenge
from fabkit.sets.library import load_set
from fabkit.solve.answer import solve
from fabkit.solve.encoding import to_exact_cover
from fabkit.solve.engines.engine import Budget, get_engine
from tests.conftest import ROOT
from tests.support.catalogs import catalog_of, snowflakes_of
from tests.support.snowflakes import drawn, faults

FRIDGEIQ = load_set("fridgeiq")
#: From the search with two engines: how far they reach, turned only, and with flips.
KNOWN = [("even", 15, 48, 78), ("odd", 14, 40, 56), ("mixed", [15, 14], 8, 12)]


@pytest.mark.parametrize("step", [12, pytest.param(1, marks=pytest.mark.integration)])
def test_every_entry_is_a_snowflake(step: int) -> None:
    entries = snowflakes_of("fridgeiq")
    for entry in entries:
        result = entry["result"]
        assert result["rigid"]
        assert result["count"] >= 1
        assert result["count_complete"]
        assert result["difficulty"]["score"] > 0
    for entry in entries[::step]:
        assert faults(drawn(entry, "fridgeiq"), "fridgeiq") == [], entry["id"]


def test_there_are_as_many_as_are_known_up_to_the_bound() -> None:
    """More than the published list, which has 74 rigid ones of one parity, without flips."""
    catalog, entries = catalog_of("fridgeiq"), snowflakes_of("fridgeiq")
    counts = Counter((entry["parity"], entry["flips"]) for entry in entries)
    for parity, width, turned, flipped in KNOWN:
        assert counts[parity, False] == turned
        assert counts[parity, False] + counts[parity, True] == flipped
        searches = [one for one in catalog["complete"] if one["parity"] == parity]
        assert sorted(one["flips"] for one in searches) == [False, True]
        for one in searches:
            assert one["half_width_max"] == width
            assert "every rigid shape there is on" in one["argument"]
            assert one["candidates"] == one["solved"] + sum(one["impossible"].values())
    assert catalog["unknown"] == []
    # Each is carried to itself by every symmetry, so the same shape is the same cells.
    shapes = {json.dumps([entry["parity"], sorted(entry["frame"])]) for entry in entries}
    assert len(shapes) == len({entry["id"] for entry in entries}) == len(entries)


@pytest.mark.parametrize(
    ("was", "now", "holds"),
    [
        ('title = "FridgeIQ"', 'title = "Mine"', True),
        ('moves = "rotations"', 'moves = "rotations and flips"', True),
        ("[[0, 0], [2, 0], [1, 1]]", "[[0, 0], [2, 0], [0, 2]]", False),
        ('"A"', '"Z"', False),
        ('name = "fridgeiq"', 'name = "mine"', False),
    ],
)
def test_a_copy_has_it_while_its_pieces_are_the_same(
    was: str, now: str, holds: bool, tmp_path: Path
) -> None:
    text = (ROOT / "pieces/fridgeiq.toml").read_text().partition("[[challenge]]")[0]
    assert was in text
    copy = tmp_path / "mine.toml"
    copy.write_text(text.replace(was, now).replace("area = 40\n", "", 1))
    entries = catalog_records(load_set(str(copy)), "snowflake")
    assert len(entries) == (len(snowflakes_of("fridgeiq")) if holds else 0)


# --- as challenges
# -----------------------------------------------------------------------------------


def of_one_parity() -> list[dict[str, Any]]:
    return [entry for entry in snowflakes_of("fridgeiq") if entry["parity"] != "mixed"]


@pytest.mark.integration
def test_the_counts_are_those_of_another_engine() -> None:
    """Posed as challenges of their own, from their outlines."""
    counted = [
        entry
        for entry in of_one_parity()
        if entry["result"]["count_complete"] and not entry["flips"]
    ]
    for entry in sorted(counted, key=lambda entry: entry["result"]["count"])[::36]:
        encoded = to_exact_cover(FRIDGEIQ, find_challenge(FRIDGEIQ, entry["id"]))
        assert encoded.problem.cell_count == 160
        found = get_engine("count").count(encoded.problem, Budget())
        assert (found.count, found.complete) == (entry["result"]["count"], True)


@pytest.mark.parametrize("count", [1, pytest.param(None, id="all", marks=pytest.mark.long)])
def test_they_are_solved_as_challenges(count: int | None) -> None:
    for entry in of_one_parity()[:count]:
        challenge = find_challenge(FRIDGEIQ, entry["id"])
        assert challenge.flips == entry["flips"]
        assert solve(to_exact_cover(FRIDGEIQ, challenge)).status == "solved"


def test_a_mixed_one_is_no_challenge_on_one_lattice() -> None:
    mixed = next(entry["id"] for entry in snowflakes_of("fridgeiq") if entry["parity"] == "mixed")
    with pytest.raises(InputError, match="uses two lattices half a unit apart"):
        find_challenge(FRIDGEIQ, mixed)


def test_every_solution_is_held_against_the_set() -> None:
    """Reading as a file of a user proves what a shipped catalog takes for granted."""
    catalog = catalog_of("fridgeiq")
    assert read_list(catalog, FRIDGEIQ, "fridgeiq.json") == shipped_entries(FRIDGEIQ)
    broken = deepcopy(catalog)
    solution = broken["challenges"][0]["result"]["solution"]
    solution["A"] = solution["B"]
    with pytest.raises(InputError, match=r"challenges\[0\]\.result\.solution: piece A has"):
        read_list(broken, FRIDGEIQ, "fridgeiq.json")


# --- made again
# --------------------------------------------------------------------------------------


@pytest.mark.every(2)
@pytest.mark.long
@pytest.mark.parametrize("flips", [False, True])
def test_it_is_made_again_from_nothing(flips: bool, tmp_path: Path) -> None:
    """Without counting, which takes longest; the shipped one is not there to be read."""
    moves = "--flips" if flips else "--no-flips"
    hidden = (
        "import fabkit.sets.catalog as c; c.catalog_path = None; "
        "from fabkit.cli import main; raise SystemExit(main())"
    )
    arguments = ["snowflakes", "fridgeiq", moves, "--count-budget", "0", "-o", str(tmp_path), "-q"]
    subprocess.run([sys.executable, "-c", hidden, *arguments], check=True, timeout=1200)
    made = json.loads((tmp_path / "snowflakes.json").read_text())
    entries = snowflakes_of("fridgeiq")
    turned = {entry["id"] for entry in entries if not entry["flips"]}
    shipped = {entry["id"]: entry for entry in entries if flips or not entry["flips"]}
    assert {entry["id"] for entry in made["challenges"]} == set(shipped)
    for entry in made["challenges"]:
        same = shipped[entry["id"]]
        for key in ("parity", "half_width", "frame"):
            assert entry[key] == same[key]
        # Without flips another solution comes first.
        keys = ["rigid", "solution"] if not flips or entry["id"] not in turned else ["rigid"]
        assert [entry["result"][key] for key in keys] == [same["result"][key] for key in keys]
    searches = catalog_of("fridgeiq")["complete"]
    assert made["complete"] == [one for one in searches if one["flips"] == flips]
