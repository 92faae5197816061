"""One cause, one line; and `make`, `check` and `verify` say the same of one folder."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabkit.build.artifacts import Artifacts
from fabkit.build.meshes import check_and_verify
from fabkit.mesh.finding import Finding
from fabkit.mesh.identity import ScannedPart
from fabkit.mesh.mesh import Mesh
from fabkit.mesh.part import Part
from fabkit.model.puzzle import Board, Challenge
from fabkit.profiles.profile_file import load_profile
from fabkit.sets.library import load_set, shipped_names
from fabkit.verify.challenge_results import (
    ChallengeResult,
    challenges_to_solve,
    describe_deviations,
)
from fabkit.verify.reports import CheckReport, causes, check
from fabkit.verify.scan import Scanner, part_name
from tests.conftest import ROOT
from tests.support.built import exported
from tests.support.faults.kits import BARE, kit
from tests.support.trioset import PLAIN

RunJson = Callable[..., Any]

# --- one cause, one line ----------------------------------------------------------------------


def lines(report: CheckReport) -> list[tuple[str, str]]:
    """The rule and the start of the line of each cause."""
    return [(one.rule, str(one)) for one in causes(report)]


def of_kit(bodies: dict[str, Mesh], **limits: Any) -> CheckReport:
    """Pieces held against other limits than they were made with."""
    made = kit(BARE, "MYI", solved=False)
    profile = replace(made.profile, **limits)
    return check(Scanner([*bodies.values()], made.puzzle).scan(20.0), profile, answers=[])


@pytest.fixture
def bodies() -> dict[str, Mesh]:
    return dict(kit(BARE, "MYI", solved=False).bodies)


def test_what_all_pieces_share_is_one_line(bodies: dict[str, Mesh]) -> None:
    assert lines(of_kit(bodies)) == []
    ((_, line),) = lines(of_kit(bodies, thickness_mm=4.2))
    assert line.startswith("thickness: all 3 pieces: ")
    for limits, rule in (({"unit_mm": 25.0}, "unit"), ({}, "gap-min")):
        ((found, _),) = lines(of_kit(bodies, gap_min_mm=0.5, **limits))
        assert found == rule, "gaps follow from the unit"


def test_one_piece_is_named_by_its_file(bodies: dict[str, Mesh]) -> None:
    """Nothing more is reported on an unknown part."""
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
def test_names_that_contradict_the_content_are_reported(
    name: str, contradicts: bool, bodies: dict[str, Mesh]
) -> None:
    report = of_kit({"Y": replace(bodies["Y"], name=name)})
    (finding,) = (one for part in report.parts for one in part.findings if one.rule == "file-name")
    assert finding.ok != contradicts, (part_name(name), finding.message)
    assert ("holds Y" in finding.message) == contradicts


def test_a_file_that_fails_a_rule_often_is_named_once(bodies: dict[str, Mesh]) -> None:
    report = of_kit(bodies)
    one = report.all_parts[0]
    some = [Finding("wall", False, mm, 2.0, "mm", f"it is {mm} mm") for mm in (1.0, 1.1, 1.2) * 2]
    parts = (replace(one, findings=tuple(some)), *report.all_parts[1:])
    ((_, line),) = lines(replace(report, all_parts=parts))
    assert line == f"{one.name}: wall: it is 1.0 mm (in {one.name})"


def test_an_ambiguous_part_is_reported(bodies: dict[str, Mesh]) -> None:
    made = kit(BARE, "MYI", solved=False)
    found = Scanner([*bodies.values()], made.puzzle).scan(20.0)
    one, *others = found.parts
    doubted = replace(one, part=replace(one.part, runner_up=("X", one.part.score - 0.001)))
    report = check(replace(found, parts=(doubted, *others)), made.profile, answers=[])
    ((rule, line),) = lines(report)
    assert (rule, line.split(":")[0]) == ("shape", one.name)
    assert "and X (" in line


def test_a_piece_in_two_formats_is_one(bodies: dict[str, Mesh]) -> None:
    made = kit(BARE, "MYI", solved=False)
    copies = [replace(one, name=f"all.3mf: {key}") for key, one in bodies.items()]
    found = Scanner([*bodies.values(), *copies], made.puzzle).scan(20.0)
    assert sorted(found.copies) == sorted(one.name for one in copies)
    assert len(found.parts) == 3
    again = replace(bodies["Y"], name="again.stl")
    assert Scanner([*bodies.values(), again], made.puzzle).scan(20.0).copies == ()


def test_a_mirrored_piece_is_one_sentence() -> None:
    def answered(name: str, status: str, drawn: str, pieces: str = "SA") -> ChallengeResult:
        return ChallengeResult(
            Challenge(name, frozenset(), tuple(pieces)), status, {}, (), "", drawn
        )

    def named(key: str, *alike: str, mirrored: bool = False) -> ScannedPart:
        body = Mesh(f"{key}.stl", np.zeros((0, 3)), np.zeros((0, 3), int))
        return ScannedPart(
            Part(body, body.vertices), key=key, piece=key, alike=alike, mirrored=mirrored
        )

    answers = [
        answered("one", "solved", "impossible"),
        *(answered(name, "impossible", "solved") for name in ("two", "three")),
        answered("four", "solved", "solved"),
        answered("other", "solved", "impossible", "A"),
    ]
    assert describe_deviations([named("A", "A"), named("S", "S", mirrored=True)], answers) == [
        "S.stl is the mirror image of S in the set's file; with it 1 challenge that is impossible "
        "as drawn can be solved (one), and 2 others no longer (two, three)"
    ]
    assert describe_deviations([named("A", "R")], answers[3:4]) == [
        "A.stl is not A as the set's file draws it; with it no challenge changes its answer"
    ]


# --- make, check and verify -------------------------------------------------------------------

#: Sets of users without a challenge.
OF_USERS = ("hexominoes", "two")
#: Magnets, balls, pegs, texts in a tray, and a set of a user's own: the others are like one of
#: these.
OF_EACH_KIND = ("fridgeiq", "iqfit", "iqstars", "calendar", "two")


def stamps(folder: Path) -> dict[str, int]:
    # Older releases of filelock rewrite the lock's file each time.
    files = [p for p in folder.rglob("*") if p.is_file() and p.name != ".fabkit.lock"]
    return {str(p): p.stat().st_mtime_ns for p in files}


@pytest.fixture
def at_home(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The set of a test's name, in a folder of its own if it is a user's."""
    monkeypatch.chdir(tmp_path)
    if name not in OF_USERS:
        return name
    text = (ROOT / "tests" / "sets" / f"{name}.toml").read_text(encoding="utf-8")
    Path(f"{name}.toml").write_text(text)
    return f"{name}.toml"


def moved_to_origin(cells: frozenset[tuple[int, int]]) -> frozenset[tuple[int, int]]:
    left, low = min(x for x, _ in cells), min(y for _, y in cells)
    return frozenset((x - left, y - low) for x, y in cells)


def test_boards_are_challenges() -> None:
    """Those that the pieces fill; if there are none, all."""
    two = load_set(str(ROOT / "tests/sets/two.toml"))
    assert {one.id: "".join(one.pieces) for one in challenges_to_solve(two)} == {
        "long": "LOJ",
        "wide": "LOJ",
    }
    cells = frozenset((x, y) for x in range(5) for y in range(5))
    large = replace(two, boards=(Board("large", cells),))
    assert [
        one.id for one in challenges_to_solve(replace(large, challenges=challenges_to_solve(two)))
    ] == [
        "long",
        "wide",
    ]
    assert [one.id for one in challenges_to_solve(large)] == ["large"]
    for name in shipped_names():
        puzzle = load_set(name)
        known = {one.id for one in puzzle.challenges}
        more = {one.id for one in challenges_to_solve(puzzle)} - known
        drawn = {
            moved_to_origin(one.region)
            for one in puzzle.challenges
            if len(one.pieces) == len(puzzle.pieces)
        }
        assert more == {
            board.id
            for board in puzzle.boards
            if board.id not in known
            and moved_to_origin(board.cells) not in drawn
            and len(board.cells) - board.open_count == puzzle.area * puzzle.lattice.cells_per_unit
        }


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("two", PLAIN),
        ("tangram", ()),
        ("hexominoes", PLAIN),
    ],
)
@pytest.mark.integration
def test_reports_of_a_folder_agree(
    at_home: str, options: tuple[str, ...], tmp_path: Path, run_json: RunJson
) -> None:
    """Those of `make` are made by `check_and_verify`."""
    puzzle = load_set(at_home)
    folder = tmp_path / "output" / puzzle.name
    shutil.copytree(exported(at_home, *options), folder)
    profile = load_profile([], options[1::2], puzzle.profile_values)
    stl = [f"stl/{path.name}" for path in sorted((folder / "stl").iterdir())]
    made = check_and_verify(
        folder, Artifacts(puzzle, puzzle.pieces, profile), stl, 60.0, True, lambda *_: None
    )
    assert made is not None
    for command, report in zip(("check", "verify"), made, strict=True):
        expected = json.loads(json.dumps(report.document()))
        assert expected["ok"], expected["causes"]
        found = run_json(command, at_home)
        assert found | {"schema": 1, "profile": ""} == expected | {"schema": 1, "profile": ""}
    assert len(expected["challenges"]) == len(challenges_to_solve(puzzle)) > 0


@pytest.mark.every(3)
@pytest.mark.integration
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in OF_EACH_KIND else pytest.mark.long)
        for name in (*OF_USERS, *shipped_names())
    ],
)
def test_a_set_is_made_once_and_make_check_and_verify_agree(
    name: str, at_home: str, run_json: RunJson
) -> None:
    """Also when the profile is no longer beside the meshes, as it is in the test above."""
    made, folder = run_json("make", at_home), Path("output", name)
    assert (made["ok"], made["check"]["ok"], made["verify"]["ok"]) == (True, True, True)
    assert len(made["verify"]["challenges"]) > 0
    for board in (one.id for one in load_set(at_home).boards if not one.optional):
        for one in (board, f"{board}-lid"):
            for file in (f"stl/{one}.stl", f"step/{one}.step", f"3mf/{one}.3mf"):
                assert (folder / file).stat().st_size > 1000
            assert f"dxf/{one}.dxf" not in made["files"]
            assert made["check"]["boards"][one]["ok"]
    before = stamps(folder)
    again = run_json("make", at_home)
    assert (again["written"], again["ok"], again["warnings"]) == (0, True, [])
    assert stamps(folder) == before
    (folder / "profile.toml").unlink()
    checked, verified = run_json("check", at_home), run_json("verify", at_home)
    assert (checked["ok"], verified["ok"]) == (True, True)
    assert verified["challenges"] == made["verify"]["challenges"]
    assert (verified["flips"] is None) == load_set(at_home).flips
    for kind in ("pieces", "boards"):
        assert checked[kind].keys() == made["check"][kind].keys()
