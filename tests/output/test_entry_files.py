"""Entries from files: catalogs, lists and challenge files, and what is wrong with them."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from fabkit.build.entries import Selection, gather
from fabkit.cli import main
from fabkit.core.errors import InputError
from fabkit.model.library import load_set
from tests.conftest import ROOT
from tests.output.test_entries import FEW, FRIDGEIQ, SAID
from tests.support.built import built
from tests.support.drawings import snowflakes


def catalog(tmp_path: Path, change: Callable[[list[dict[str, Any]]], Any] | None = None) -> Path:
    """A catalog of a few snowflakes, changed."""
    entries = deepcopy([SAID[name] for name in FEW])
    if change is not None:
        change(entries)
    path = tmp_path / "snowflakes.json"
    head = {"schema": 1, "set": "fridgeiq", "complete": [], "unknown": []}
    path.write_text(json.dumps(head | {"challenges": entries}))
    return path


def test_a_catalog_file_is_read(tmp_path: Path) -> None:
    entries = gather(FRIDGEIQ, Selection(files=(catalog(tmp_path),)))
    assert entries == [one for one in snowflakes() if one.id in FEW]


def swap(entry: dict[str, Any], one: str, other: str) -> None:
    solution = entry["solution"]
    solution[one], solution[other] = solution[other], solution[one]


def shifted(entry: dict[str, Any], piece: str) -> None:
    entry["solution"][piece] = [[x + 1, y] for x, y in entry["solution"][piece]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda e: swap(e[0], "A", "L"),
            r"challenges\[0\]\.solution: piece [AL] has another shape",
        ),
        (lambda e: shifted(e[1], "Q"), r"challenges\[1\]\.solution: pieces . and . overlap"),
        (lambda e: shifted(e[2], "B"), r"challenges\[2\]\.solution: pieces . and . overlap"),
        (lambda e: e[0]["solution"].pop("U"), r"solution: it does not cover the region exactly"),
        (lambda e: e[0]["solution"].update(Z=[[0, 0], [1, 0], [1, 1]]), 'there is no piece "Z"'),
        (lambda e: e[0].update(solution=[1]), "expected an outline for each piece"),
        (lambda e: e[0].update(outlines=[]), "expected a list of 1 to 1000 outlines"),
        (
            lambda e: e[0].update(outlines=e[0]["outlines"] * 2),
            r"outlines\[1\]: overlaps one before",
        ),
        (lambda e: e[0]["outlines"][0][0].append([9, 0]), r"outlines\[0\]: .*the edge"),
        (lambda e: e[0]["solution"].update(A=[[0, 0], [1e400, 0], [1, 1]]), "finite numbers"),
        (lambda e: e[0]["solution"].update(A=[[0, 0], [10**400, 0], [1, 1]]), "finite numbers"),
        (
            lambda e: e[0]["solution"].update(A=[[0, 0], [0.25, 0], [1, 1]]),
            "whole numbers or halves",
        ),
        (lambda e: e[0]["solution"].update(A=[[[[[[[1]]]]]]]), r"solution\.A ring 0"),
        (lambda e: e[0].update(id="../up"), "not safe as a file name"),
        (lambda e: e[0].update(id=e[1]["id"]), "is there twice"),
        (lambda e: e[0].update(parity="odder"), 'did you mean "odd"'),
        (lambda e: e[0].update(count=-1), r"challenges\[0\]\.count: is -1"),
        (lambda e: e[0].update(flips="yes"), "expected true or false"),
        (lambda e: e.append(5), r"challenges.*\[3\]: expected a table"),
        (lambda e: e.clear(), "holds no challenges"),
    ],
)
def test_a_wrong_catalog_is_refused(
    change: Callable[[list[dict[str, Any]]], Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=message):
        gather(FRIDGEIQ, Selection(files=(catalog(tmp_path, change),)))


def test_a_mirrored_solution_needs_flips(tmp_path: Path) -> None:
    def mirror(entries: list[dict[str, Any]]) -> None:
        for piece, ring in entries[0]["solution"].items():
            entries[0]["solution"][piece] = [[-x, y] for x, y in ring]

    def allow(entries: list[dict[str, Any]]) -> None:
        mirror(entries)
        entries[0]["flips"] = True

    with pytest.raises(InputError, match=r"has another shape under the moves allowed \(turns\)"):
        gather(FRIDGEIQ, Selection(files=(catalog(tmp_path, mirror),)))
    assert gather(FRIDGEIQ, Selection(files=(catalog(tmp_path, allow),)))[0].flips


def test_a_strange_rating_is_none(tmp_path: Path) -> None:
    def strange(entries: list[dict[str, Any]]) -> None:
        entries[0]["difficulty"] = {"level": "<b>", "score": "9"}
        entries[1]["difficulty"] = {"level": ["master"], "score": 1e300}
        entries[2]["difficulty"] = None

    found = gather(FRIDGEIQ, Selection(files=(catalog(tmp_path, strange),)))
    assert [(one.level, one.score) for one in found] == [("", None)] * 3


def start(tmp_path: Path, name: str, given: str = "[0, 4], [0, 5], [0, 6], [1, 4]") -> Path:
    path = tmp_path / name
    path.write_text(f'title = "Mine"\ngiven = [{{ piece = "yellow", cells = [{given}] }}]\n')
    return path


@pytest.fixture(scope="module")
def made_list() -> str:
    """A list of three starting positions of IQ Stars, as the command writes it."""

    def make(folder: Path) -> None:
        assert main(["challenges", "iqstars", "--count", "3", "-o", str(folder), "-q"]) == 0

    return (built("starts-iqstars", make) / "challenges.json").read_text()


def test_challenge_files_and_lists_are_read_together(made_list: str, tmp_path: Path) -> None:
    stars = load_set("iqstars")
    (tmp_path / "challenges.json").write_text(made_list)
    files = (start(tmp_path, "mine.toml"), tmp_path / "challenges.json")
    entries = gather(stars, Selection(files=files))
    assert [(one.id, one.title, one.kind) for one in entries] == [
        ("mine", "Mine", "start"),
        *((f"start-00{n}", f"start-00{n}", "start") for n in (1, 2, 3)),
    ]
    said = json.loads(made_list)["challenges"]
    assert [(one.level, one.score) for one in entries[1:]] == [
        (one["level"], one["difficulty"]["score"]) for one in said
    ]
    assert {(one.count, one.count_complete) for one in entries[1:]} == {(1, True)}
    for one in entries:
        assert one.solution is not None
        assert [one.solution[given.piece] for given in one.given] == [g.cells for g in one.given]


def test_the_list_in_the_output_folder_counts(made_list: str, tmp_path: Path) -> None:
    def ids(folder: Path) -> list[str]:
        return [one.id for one in gather(load_set("iqstars"), folder=folder)]

    path, starts = tmp_path / "challenges.json", ["start-001", "start-002"]
    path.write_text(made_list)
    assert ids(tmp_path) == ["board", *starts, "start-003"]
    assert ids(tmp_path / "no") == ["board"]
    path.write_text(made_list.replace('"start-003"', '"board"'))
    assert ids(tmp_path) == ["board", *starts, "made-board"]


BARS = """
[set]
name = "bars"
lattice = "square"
moves = "rotations"

[[piece]]
id = "A"
outline = [[0, 0], [2, 0], [2, 1], [0, 1]]

[[piece]]
id = "B"
outline = [[0, 0], [1, 0], [1, 1], [0, 1]]

[[board]]
id = "tray"
outline = [[0, 0], [1, 0], [1, 3], [0, 3]]

[[challenge]]
id = "a"
outline = [[0, 0], [3, 0], [3, 1], [0, 1]]
"""


def listed(folder: Path, set_name: str, pieces: dict[str, str]) -> Path:
    """A list with a challenge for each of the ids: to cover a piece's own outline."""
    outlines = {"A": [[0, 0], [2, 0], [2, 1], [0, 1]], "B": [[0, 0], [1, 0], [1, 1], [0, 1]]}
    outlines["Q"] = [[0, 0], [2, 0], [2, 2], [0, 2]]
    challenges = [
        {"id": name, "outline": outlines[piece], "pieces": [piece]}
        for name, piece in pieces.items()
    ]
    folder.mkdir(parents=True)
    said = {"schema": 1, "set": set_name, "challenges": challenges}
    (folder / "challenges.json").write_text(json.dumps(said))
    return folder


def test_no_two_challenges_have_one_id(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also not with a name that a listed one was given, or that of a board."""
    monkeypatch.chdir(tmp_path)
    Path("bars.toml").write_text(BARS)
    folder = listed(tmp_path / "output/bars", "bars", {"a": "A", "made-a": "B", "tray": "B"})
    entries = gather(load_set("bars.toml"), folder=folder)
    assert [(one.id, one.kind, len(one.pieces)) for one in entries] == [
        ("tray", "board", 2),
        ("a", "challenge", 2),
        ("made-a", "challenge", 1),
        ("made-made-a", "challenge", 1),
        ("made-tray", "challenge", 1),
    ]
    assert main(["show", "bars.toml", "--challenge", "made-a"]) == 0
    assert "made-a" in capsys.readouterr().out


def test_a_board_keeps_its_name_beside_a_listed_one_that_asks_the_same(tmp_path: Path) -> None:
    path = tmp_path / "bars.toml"
    path.write_text(BARS)
    said = {"id": "tray", "outline": [[0, 0], [1, 0], [1, 3], [0, 3]], "pieces": ["A", "B"]}
    document = {"schema": 1, "set": "bars", "challenges": [said]}
    (tmp_path / "challenges.json").write_text(json.dumps(document))
    found = gather(load_set(str(path)), folder=tmp_path)
    assert [one.id for one in found if one.kind == "board"] == ["made-tray", "tray"]


def test_a_snowflake_s_id_is_its_own(tmp_path: Path) -> None:
    flake = FEW[0]
    folder = listed(tmp_path / "out", "fridgeiq", {flake: "Q"})
    wish = Selection(only=(flake, f"made-{flake}"))
    assert [(one.id, one.kind) for one in gather(FRIDGEIQ, wish, folder)] == [
        (f"made-{flake}", "challenge"),
        (flake, "snowflake"),
    ]
    # What a set says of itself comes before its catalog, as for `fabkit solve`.
    path = tmp_path / "mine.toml"
    text = (ROOT / "pieces/fridgeiq.toml").read_text()
    path.write_text(text.replace('id = "square_01"', f'id = "{flake}"'))
    (own,) = gather(load_set(str(path)), Selection(only=(flake,)))
    assert (own.kind, len(own.pieces)) == ("challenge", 4)


def test_balls_lie_on_one_lattice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fit = load_set("iqfit")
    piece = fit.pieces[0]
    per_unit = fit.lattice.per_unit
    ring = [[x / per_unit, y / per_unit] for x, y in piece.forms[0].rings[0]]
    entry = {"id": "m", "parity": "mixed", "outlines": [[ring]], "solution": {piece.id: [ring]}}
    document = {"schema": 1, "set": "iqfit", "complete": [], "challenges": [entry | {"count": 1}]}
    path = tmp_path / "mixed.json"
    path.write_text(json.dumps(document))
    assert main(["booklet", "iqfit", "--challenges", str(path), "-o", "mine.pdf"]) == 2
    assert capsys.readouterr().err == (
        f'fabkit: {path}: challenges[0].parity: is "mixed", of pieces half a unit apart, but balls '
        'lie on one lattice; expected "even" or "odd"\n'
    )


def test_files_that_do_not_do_are_refused(tmp_path: Path) -> None:
    stars, block = load_set("iqstars"), load_set("iqblock")
    mine, again = start(tmp_path, "mine.toml"), tmp_path / "again"
    again.mkdir()
    with pytest.raises(InputError, match=r'"mine" is in .*mine\.toml, too; give one of the files'):
        gather(stars, Selection(files=(mine, start(again, "mine.toml"))))
    with pytest.raises(InputError, match="there is no such file"):
        gather(stars, Selection(files=(tmp_path / "none.json",)))
    with pytest.raises(InputError, match="is a folder"):
        gather(stars, Selection(files=(again,)))
    with pytest.raises(InputError, match='holds challenges of "fridgeiq", not of "iqblock"'):
        gather(block, Selection(files=(catalog(tmp_path),)))
    odd = tmp_path / "odd.json"
    odd.write_text('{"schema": 1, "set": "iqstars", "challenges": 5}')
    with pytest.raises(InputError, match=r"expected tables \[\[challenges\]\]"):
        gather(stars, Selection(files=(odd,)))
