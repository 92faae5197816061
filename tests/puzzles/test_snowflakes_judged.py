"""What judges catalogs of snowflakes in other tests: it finds planted faults of every kind."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from fabkit.puzzles.snowflakes.catalog import merged
from tests.puzzles.test_snowflakes_command import FRIDGE, Catalog, made, put_sets
from tests.support.snowflakes import alike, catalog_faults, faults, shape_faults

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def catalogs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Catalog]:
    """Good ones to spoil."""
    folder, found = tmp_path_factory.mktemp("catalogs"), {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        put_sets(folder)
        found["fridge"] = made(*FRIDGE)
        for name, more in {"ring": [], "hooks": [], "dots": ["--wandering"]}.items():
            limit = ["--max-half-width", "3"] if more else []
            found[name] = made(str(folder / f"{name}.toml"), *more, *limit)
            found[name]["file"] = str(folder / f"{name}.toml")
    found["fridge"]["file"] = "fridgeiq"
    return found


def test_two_searches_as_one_catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What needs no flip is listed as it was made without, and nothing twice."""
    monkeypatch.chdir(tmp_path)
    put_sets(tmp_path)
    turned = made("hooks.toml", "--no-flips")
    flipped = made("hooks.toml", "--flips")
    more = made("ells.toml", "--flips")
    for one, other in ((turned, flipped), (made("ells.toml", "--no-flips", code=1), more)):
        both = merged(one, other, "fabkit")
        assert catalog_faults(both, f"{both['set']}.toml") == []
        for entry in both["challenges"]:
            entry["flips"] = not entry["flips"]
        assert catalog_faults(both, f"{both['set']}.toml") != []


def shifted(rings: Any, x: float, y: float = 0) -> Any:
    """Rings or lists of them, elsewhere."""
    if isinstance(rings[0], list):
        return [shifted(one, x, y) for one in rings]
    return [rings[0] + x, rings[1] + y]


def first(catalog: Catalog, parity: str = "", rigid: bool = True) -> dict[str, Any]:
    entries = catalog["challenges"]
    return next(
        one for one in entries if one["parity"].startswith(parity) and one["rigid"] is rigid
    )


def bars(entry: dict[str, Any]) -> None:
    """Two bars in place of a shape: symmetric but for the quarter turn."""
    entry["outlines"] = [[[[x, -3], [x + 1, -3], [x + 1, 3], [x, 3]]] for x in (-2, 1)]


def wheel(entry: dict[str, Any]) -> None:
    """A windmill: turns carry it to itself, mirrors do not."""
    entry["outlines"] = [
        [[[0, 0], [0, 1], [-3, 1], [-3, 0]]],
        [[[0, 0], [1, 0], [1, 3], [0, 3]]],
        [[[0, 0], [0, -1], [3, -1], [3, 0]]],
        [[[0, 0], [-1, 0], [-1, -3], [0, -3]]],
    ]


def mirror_m(entry: dict[str, Any]) -> None:
    entry["solution"]["M"] = [[x, 2 - y] for x, y in entry["solution"]["M"]]


def swap(entry: dict[str, Any], one: str, other: str) -> None:
    lying = entry["solution"]
    lying[one], lying[other] = lying[other], lying[one]


def shift(entry: dict[str, Any], piece: str, x: float) -> None:
    entry["solution"][piece] = shifted(entry["solution"][piece], x)


def move(entry: dict[str, Any], x: float) -> None:
    entry["outlines"] = shifted(entry["outlines"], x)


def inside_out(entry: dict[str, Any]) -> None:
    next(rings for rings in entry["outlines"] if len(rings) > 1).reverse()


def fill(entry: dict[str, Any]) -> None:
    next(rings for rings in entry["outlines"] if len(rings) > 1).pop()


#: The catalog, what is done to one of its entries, and the faults that it has then.
SPOILT: list[tuple[str, str, Callable[[dict[str, Any]], Any], list[str]]] = [
    ("fridge", "odd", lambda e: e.pop("count"), ["count is missing"]),
    ("fridge", "odd", lambda e: e.update(count=0), ["has a count below 1, but a solution"]),
    ("fridge", "odd", lambda e: e["solution"].pop("M"), ["M is missing", "the pieces do not make"]),
    ("fridge", "odd", lambda e: e["solution"].update(D=e["solution"]["M"]), ["D is not asked for"]),
    ("fridge", "odd", mirror_m, ["M is not as drawn"]),
    ("fridge", "odd", lambda e: swap(e, "J", "R"), ["J is not as drawn", "R is not as drawn"]),
    ("fridge", "odd", lambda e: shift(e, "M", 1), ["the pieces do not make the shape"]),
    ("fridge", "odd", lambda e: shift(e, "M", -1), ["overlaps"]),
    ("fridge", "odd", lambda e: shift(e, "M", 0.5), ["M does not lie on a grid of this parity"]),
    ("fridge", "odd", lambda e: shift(e, "M", 0.25), ["a piece's corner is no multiple of 1/2"]),
    ("fridge", "odd", lambda e: move(e, 0.25), ["a corner is no multiple of 1/2"]),
    (
        "fridge",
        "odd",
        lambda e: move(e, 0.5),
        ["is not symmetric", "does not lie on a grid of its"],
    ),
    ("fridge", "odd", lambda e: move(e, 1), ["is not symmetric", "has another half-width"]),
    ("fridge", "odd", lambda e: e.update(half_width=2), ["has another half-width"]),
    ("fridge", "odd", lambda e: e.update(id="odd2-0"), ["has another name"]),
    ("fridge", "odd", lambda e: e.update(parity="even"), ["does not lie on a grid of its parity"]),
    ("fridge", "odd", lambda e: e.update(rigid=False), ["does not fall apart"]),
    ("dots", "odd", bars, ["is not symmetric", "has not the pieces' area"]),
    ("dots", "odd", wheel, ["is not symmetric", "has not the pieces' area"]),
    ("hooks", "even", lambda e: e["outlines"].append(e["outlines"][0]), ["two outlines overlap"]),
    ("ring", "even", lambda e: e.update(parity="mixed"), ["is not of mixed parity"]),
    ("ring", "mixed", lambda e: e.update(centre="odd"), ["has another centre"]),
    ("ring", "mixed", lambda e: e["half_width"].reverse(), ["has another half-width"]),
    ("ring", "mixed", lambda e: e["outlines"].pop(), ["has not the pieces' area"]),
    ("ring", "mixed", inside_out, ["an outline is not one outer ring and its holes"]),
    ("ring", "mixed", fill, ["two outlines overlap"]),
]


def test_planted_faults_are_found(catalogs: dict[str, Catalog]) -> None:
    for name, parity, spoil, expected in SPOILT:
        catalog = catalogs[name]
        entry = deepcopy(first(catalog, parity))
        assert faults(entry, catalog["file"], catalog["pieces"]) == []
        spoil(entry)
        found = faults(entry, catalog["file"], catalog["pieces"])
        for words in expected:
            assert any(words in said for said in found), (found, expected)


def test_a_shape_that_falls_apart_is_noticed(catalogs: dict[str, Catalog]) -> None:
    catalog = catalogs["dots"]
    entry = deepcopy(first(catalog, rigid=False))
    assert faults(entry, catalog["file"]) == []
    entry["rigid"] = True
    assert faults(entry, catalog["file"]) == ["is not rigid", "falls apart"]
    del entry["rigid"], entry["solution"]
    assert shape_faults(entry, catalog["file"]) == ["is not rigid"]


def test_pieces_may_be_turned_over_only_if_allowed(catalogs: dict[str, Catalog]) -> None:
    entry = deepcopy(first(catalogs["fridge"]))
    for piece, ring in entry["solution"].items():
        entry["solution"][piece] = [[-x, y] for x, y in ring]
    assert faults(entry, "fridgeiq", "IJMR") == ["R is not as drawn", "M is not as drawn"]
    assert faults({**entry, "flips": True}, "fridgeiq", "IJMR") == []


#: What is done to a whole catalog, and what is said of it.
SPOILT_WHOLE: list[tuple[Callable[[Catalog], Any], str]] = [
    (lambda c: c["challenges"].append(c["challenges"][-1]), "is the same shape as"),
    (lambda c: c["challenges"].reverse(), "not in order"),
    (lambda c: c["challenges"].pop(), "not so many are listed"),
    (lambda c: c["complete"][0].update(candidates=9), "candidates are not the solved"),
    (lambda c: c["complete"][0].update(unions=0), "a step leaves more than there were"),
    (lambda c: c["complete"][0].update(flips=True), "has other moves"),
    (lambda c: c["complete"][0].update(half_width_max=1), "lies beyond what was searched"),
    (lambda c: c["complete"].pop(), "of a parity that was not searched"),
    (lambda c: c["challenges"][0]["solution"].popitem(), "is missing"),
    (lambda c: c["unknown"].append(c["challenges"][0]), "is a name that is there twice"),
]


def test_planted_faults_of_a_catalog_are_found(catalogs: dict[str, Catalog]) -> None:
    for spoil, expected in SPOILT_WHOLE:
        catalog = deepcopy(catalogs["ring"])
        assert catalog_faults(catalog, catalog["file"]) == []
        assert alike(catalog["challenges"]) == []
        spoil(catalog)
        found = catalog_faults(catalog, catalog["file"])
        assert any(expected in said for said in found), (found, expected)
