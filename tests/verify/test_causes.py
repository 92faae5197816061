"""One cause, one line; and `make`, `check` and `verify` say the same of one folder."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabkit.build.meshes import check_and_verify
from fabkit.cli import main
from fabkit.mesh.body import Body
from fabkit.mesh.identity import Identity
from fabkit.model.library import load_set, shipped_names
from fabkit.model.profilefile import load_profile
from fabkit.model.puzzle import Board, Challenge
from fabkit.verify.answers import Answered, asked, unlike
from fabkit.verify.check import CheckReport, causes, check
from fabkit.verify.taking import stem_of, take
from tests.conftest import ROOT
from tests.support.built import exported
from tests.support.faults.kits import BARE, kit
from tests.support.trioset import PLAIN

# --- one cause, one line ----------------------------------------------------------------------


def lines(report: CheckReport) -> list[tuple[str, str]]:
    """The rule and the start of the line of each cause."""
    return [(one.rule, str(one)) for one in causes(report)]


def of_kit(bodies: dict[str, Body], **limits: Any) -> CheckReport:
    """Pieces held against other limits than they were made with."""
    made = kit(BARE, "MYI", solved=False)
    profile = replace(made.profile, **limits)
    return check(take([*bodies.values()], made.puzzle, 20.0), profile, answers=[])


@pytest.fixture
def bodies() -> dict[str, Body]:
    return dict(kit(BARE, "MYI", solved=False).bodies)


def test_what_all_pieces_share_is_one_line(bodies: dict[str, Body]) -> None:
    assert lines(of_kit(bodies)) == []
    found = lines(of_kit(bodies, thickness_mm=4.2))
    assert len(found) == 1
    assert found[0][1].startswith("thickness: all 3 pieces: ")
    found = lines(of_kit(bodies, unit_mm=25.0, gap_min_mm=0.5))
    assert [rule for rule, _ in found] == ["unit"], "gaps follow from the unit"
    found = lines(of_kit(bodies, gap_min_mm=0.5))
    assert [rule for rule, _ in found] == ["gap-least"]


def test_one_piece_is_named_by_its_file(bodies: dict[str, Body]) -> None:
    """Of a strange part nothing more is told, whatever it would measure."""
    sides = bodies["Y"].vertices[bodies["Y"].faces][:, :, 2].std(axis=1)
    cut = replace(bodies["Y"], faces=np.delete(bodies["Y"].faces, sides.argmax(), axis=0))
    (rule, line), *_ = lines(of_kit(bodies | {"Y": cut}))
    assert (rule, line.split(":")[0]) == ("watertight", "Y.stl")
    bodies["Y"] = replace(bodies["M"], name="any.stl", vertices=bodies["M"].vertices * [1, 1.3, 1])
    assert [line.partition(":")[0] for _, line in lines(of_kit(bodies, thickness_mm=4.2))] == [
        "thickness", "any.stl", "missing"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "contradicts"),
    [("I.stl", True), ("m.STL", True), ("all.3mf: I", True)]
    + [(name, False) for name in ("Y.stl", "1.stl", "piece-I.stl", "I.stl (2)", "all.3mf: Y")],
)
def test_names_that_contradict_what_is_inside_are_told(
    name: str, contradicts: bool, bodies: dict[str, Body]
) -> None:
    report = of_kit({"Y": replace(bodies["Y"], name=name)})
    (told,) = (one for part in report.parts for one in part.findings if one.rule == "file-name")
    assert told.ok != contradicts, (stem_of(name), told.message)
    assert ("holds Y" in told.message) == contradicts


def test_a_piece_in_two_formats_is_one(bodies: dict[str, Body]) -> None:
    made = kit(BARE, "MYI", solved=False)
    copies = [replace(one, name=f"all.3mf: {key}") for key, one in bodies.items()]
    found = take([*bodies.values(), *copies], made.puzzle, 20.0)
    assert sorted(found.copies) == sorted(one.name for one in copies)
    assert len(found.parts) == 3
    again = replace(bodies["Y"], name="again.stl")
    assert take([*bodies.values(), again], made.puzzle, 20.0).copies == ()


def test_a_mirrored_piece_is_one_sentence() -> None:
    def answered(name: str, status: str, drawn: str, pieces: str = "SA") -> Answered:
        return Answered(Challenge(name, frozenset(), tuple(pieces)), status, {}, (), "", drawn)

    s = Identity("S", "S", None, ("S",), mirrored=True)
    a = Identity("A", "A", None, ("A",), mirrored=False)
    answers = [
        answered("one", "solved", "impossible"),
        answered("two", "impossible", "solved"),
        answered("three", "impossible", "solved"),
        answered("four", "solved", "solved"),
        answered("other", "solved", "impossible", "A"),
    ]
    assert unlike([a, s], ["A.stl", "S.stl"], answers) == [
        "S.stl is the mirror image of S in the set's file; with it 1 challenge that is impossible "
        "as drawn can be solved (one), and 2 others no longer (two, three)"
    ]
    (other,) = unlike([replace(a, alike=("R",))], ["A.stl"], answers[3:4])
    assert (
        other
        == "A.stl is not A as the set's file draws it; with it no challenge has another answer"
    )


# --- make, check and verify -------------------------------------------------------------------


TRIANGLES = {
    "A": [[0, 0], [4, 0], [2, 2]], "B": [[0, 0], [2, 2], [0, 4]], "C": [[2, 0], [4, 0], [4, 2]],
    "D": [[0, 0], [1, 1], [0, 2]], "E": [[0, 0], [2, 0], [1, 1]],
    "F": [[1, 0], [2, 1], [1, 2], [0, 1]], "G": [[0, 0], [1, -1], [1, 1], [0, 2]],
}  # fmt: skip
HEXOMINOES = {
    "A": ["XXXXXX"], "B": ["XXX", "XXX"], "C": ["XXXXX", "X...."], "D": ["XXXX", "XX.."],
    "E": ["XXXX", "X..X"], "F": ["XXXX", ".XX."],
}  # fmt: skip
TETRAHEXES = {
    "I": [[0, 0], [0, 1], [0, 2], [0, 3]], "J": [[0, 0], [0, 1], [0, 2], [1, 2]],
    "K": [[0, 0], [0, 1], [0, 2], [1, 1]], "O": [[0, 0], [0, 1], [1, 0], [1, 1]],
    "S": [[0, 0], [0, 1], [1, 1], [1, 2]], "U": [[0, 0], [0, 2], [1, 0], [1, 1]],
    "Y": [[0, 1], [1, 0], [1, 1], [2, 1]],
}  # fmt: skip


def set_file(name: str, lattice: str, unit: int, boards: dict[str, Any], pieces: Any) -> str:
    key = {"square": "rows", "quarter-square": "outline", "triangular": "cells"}[lattice]
    head = f'name = "{name}", lattice = "{lattice}", moves = "rotations and flips"'
    shape = "rows" if lattice == "triangular" else "size"
    boxes = [f'{{ id = "{one}", {shape} = {size} }}' for one, size in boards.items()]
    drawn = [f'{{ id = "{one}", {key} = {json.dumps(form)} }}' for one, form in pieces.items()]
    return (
        f'set = {{ {head}, unit = "{unit} mm" }}\nboard = [{", ".join(boxes)}]\n'
        f"piece = [{', '.join(drawn)}]\n"
    )


def pentominoes() -> str:
    """As the README draws them."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (found,) = re.findall(r"```toml\n# pentominoes.toml\n(.*?)```", text, re.DOTALL)
    return str(found)


#: Sets of users without a challenge, by name.
SETS = {
    "tangram": set_file("tangram", "quarter-square", 20, {"square": [4, 4]}, TRIANGLES),
    "pentominoes": pentominoes(),
    "hexominoes": set_file("hexominoes", "square", 15, {"box": [6, 6]}, HEXOMINOES),
    "tetrahexes": set_file("tetrahexes", "triangular", 20, {"box": [7, 7, 7, 7]}, TETRAHEXES),
    "two": set_file(
        "two", "square", 20, {"long": [2, 6], "wide": [3, 4]},
        {"L": ["XXX", "X.."], "O": ["XX", "XX"], "J": ["XXX", "..X"]},
    ),
}  # fmt: skip


def test_boards_are_challenges(tmp_path: Path) -> None:
    """Those that the pieces fill; if none, those that there are."""
    (tmp_path / "two.toml").write_text(SETS["two"])
    two = load_set(str(tmp_path / "two.toml"))
    assert [(one.id, one.pieces) for one in asked(two)] == [
        ("long", ("L", "O", "J")),
        ("wide", ("L", "O", "J")),
    ]
    cells = frozenset((x, y) for x in range(5) for y in range(5))
    large = replace(two, boards=(Board("large", cells),))
    assert [one.id for one in asked(replace(large, challenges=asked(two)))] == ["long", "wide"]
    assert [one.id for one in asked(large)] == ["large"]
    for name in shipped_names():
        puzzle = load_set(name)
        assert asked(puzzle) == puzzle.challenges, "their boards are challenges, or too small"


def told(set_name: str, capsys: pytest.CaptureFixture[str], *options: str) -> list[Any]:
    """What `check` and `verify` say, as their JSON documents."""
    documents = []
    for command in ("check", "verify"):
        capsys.readouterr()
        code = main([command, set_name, "--json", "-q", *options])
        documents.append(json.loads(capsys.readouterr().out))
        assert code == (0 if documents[-1]["ok"] else 1)
    return documents


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("two", PLAIN),
        pytest.param("tangram", (), marks=pytest.mark.integration),
        pytest.param("hexominoes", PLAIN, marks=pytest.mark.integration),
    ],
)
def test_reports_of_a_folder_agree(
    name: str,
    options: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Those of `make` are made by `check_and_verify`."""
    monkeypatch.chdir(tmp_path)
    Path(f"{name}.toml").write_text(SETS[name])
    puzzle = load_set(f"{name}.toml")
    folder = tmp_path / "output" / name
    shutil.copytree(exported(f"{name}.toml", *options), folder)
    profile = load_profile([], options[1::2], puzzle.unit_mm)
    stl = [f"stl/{path.name}" for path in sorted((folder / "stl").iterdir())]
    made = check_and_verify(folder, puzzle, profile, stl, 60.0, True, lambda *_: None)
    assert made is not None
    expected = [json.loads(json.dumps(one.document())) for one in made]
    assert all(one["ok"] for one in expected), expected[0]["causes"]
    assert len(expected[1]["challenges"]) == len(asked(puzzle)) > 0
    found = told(f"{name}.toml", capsys)
    for one, other in zip(found, expected, strict=True):
        assert one | {"schema": 1, "profile": ""} == other | {"schema": 1, "profile": ""}


@pytest.mark.integration
@pytest.mark.parametrize("name", [*SETS, *shipped_names()])
def test_make_check_and_verify_agree(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Also when the profile is no longer beside the meshes."""
    monkeypatch.chdir(tmp_path)
    if name in SETS:
        Path(f"{name}.toml").write_text(SETS[name])
    set_name = f"{name}.toml" if name in SETS else name
    assert main(["make", set_name, "--json", "-q"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert len(made["verify"]["challenges"]) > 0
    for there in (True, False):
        if not there:
            Path(f"output/{name}/profile.toml").unlink()
        checked, verified = told(set_name, capsys)
        assert (checked["ok"], verified["ok"]) == (True, True)
        assert verified["challenges"] == made["verify"]["challenges"]
        assert checked["pieces"].keys() == made["check"]["pieces"].keys()
        assert checked["boards"].keys() == made["check"]["boards"].keys()
