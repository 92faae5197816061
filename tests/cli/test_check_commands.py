"""`check`, `verify` and `make` as users call them, on a set of three pieces."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabkit.cli import main
from tests.support.meshfiles import obj
from tests.support.trioset import PLAIN, TRIO, checked_trio, trio_folder

Capture = pytest.CaptureFixture[str]
RunJson = Callable[..., Any]


@pytest.fixture
def here(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the set's file and its output, to stand in."""
    shutil.copytree(trio_folder(*getattr(request, "param", ())), tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    return tmp_path / "copy"


#: For meshes that take little time.
plain = pytest.mark.parametrize("here", [PLAIN], indirect=True, ids=["plain"])


def report(command: str) -> Any:
    return json.loads((checked_trio() / f"output/trio/{command}.json").read_text())


def run(capsys: Capture, *arguments: str, code: int = 0) -> tuple[str, str]:
    """What a command says, and what it complains of."""
    capsys.readouterr()
    assert main(list(arguments)) == code, (arguments, capsys.readouterr())
    return capsys.readouterr()


def failed(findings: list[dict[str, Any]]) -> list[str]:
    return [one["rule"] for one in findings if not one["ok"]]


def test_check_passes_and_writes_its_reports() -> None:
    folder = checked_trio()
    out = (folder / "check.txt").read_text()
    assert "passed: 5 parts" in out, "three pieces, a tray and its lid"
    assert "profile default" in out
    assert (folder / "output/trio/check.html").read_text().startswith("<!DOCTYPE html>")
    manifest = json.loads((folder / "output/trio/manifest.json").read_text())
    assert {"check.json", "check.html", "stl/L.stl"} <= manifest["files"].keys()


def test_json_keeps_the_contract() -> None:
    found = report("check")
    assert (found["schema"], found["set"], found["ok"]) == (1, "trio", True)
    assert list(found["pieces"]) == ["L", "J", "Q"]
    piece = found["pieces"]["L"]
    assert {"ok", "watertight", "volume_mm3", "bbox_mm", "findings"} <= piece.keys()
    assert sorted(piece["bbox_mm"]) == pytest.approx([7, 39.8, 59.8], abs=0.001)
    for finding in piece["findings"]:
        assert finding.keys() == {"rule", "ok", "value", "limit", "unit", "message"}
    (assembly,) = found["assemblies"]
    assert (assembly["challenge"], assembly["ok"], assembly["overlap_mm3"]) == ("tray", True, 0)
    for gap in ("min_gap_mm", "max_gap_mm"):
        assert assembly[gap] == pytest.approx(0.2, abs=0.002)


def test_verify_solves_with_what_was_read() -> None:
    found = report("verify")
    statuses = {one["challenge"]: (one["status"], one["ok"]) for one in found["challenges"]}
    assert statuses == {"tray": ("solved", True), "bar": ("impossible", True)}
    assert found["every_solution_gap_mm"] == pytest.approx(0.2, abs=0.002)
    assert not found["flips"]["possible"]


def without_files(found: dict[str, Any]) -> dict[str, Any]:
    """A report but for the names of files."""
    parts = {
        kind: {key: one | {"file": ""} for key, one in found.get(kind, {}).items()}
        for kind in ("pieces", "boards")
    }
    return found | parts


@plain
def test_verify_says_when_the_catalog_claims_too_much(here: Path, capsys: Capture) -> None:
    (here / "trio.toml").write_text(TRIO.replace('"impossible"', '"solved"'))
    out, _ = run(capsys, "verify", "trio.toml", code=1)
    assert "bar: impossible, but the catalog says solved" in out
    assert "FAILED: 1 of 2 challenges" in out
    assert "In every solution, parts are at least 0.200 mm apart" in out


@pytest.mark.integration
@pytest.mark.every(2)
@pytest.mark.parametrize("command", ["check", "verify"])
def test_nothing_but_meshes_counts(command: str, here: Path, run_json: RunJson) -> None:
    """Other names and order, an altered profile and manifest: the same answer."""
    stl = here / "output/trio/stl"
    for number, name in enumerate("QLJ", 1):
        (stl / f"{name}.stl").rename(stl / f"{number}.stl")
    profile = here / "output/trio/profile.toml"
    profile.write_text(profile.read_text().replace('inset = "0.1 mm"', 'inset = "0.4 mm"'))
    (here / "output/trio/manifest.json").write_text('{"schema": 1, "set": "other", "files": {}}')
    found, before = run_json(command, "trio.toml"), report(command)
    assert without_files(found) == without_files(before)


@plain
@pytest.mark.integration
def test_drawings_altered_after_the_export_change_no_answer_of_verify(
    here: Path, run_json: RunJson
) -> None:
    """Letters say which piece is which, and outlines come from the meshes."""
    first = run_json("verify", "trio.toml")
    altered = TRIO.replace("[[0, 0], [1, 0], [2, 0], [2, 1]]", "[[0, 0], [0, 1], [0, 2], [0, 3]]")
    assert altered != TRIO
    (here / "trio.toml").write_text(altered)
    second = run_json("verify", "trio.toml")
    drawn = [one["pieces"]["L"].pop("as_drawn") for one in (first, second)]
    assert second.pop("unlike") != first.pop("unlike")
    assert (drawn, second) == ([True, False], first)
    assert failed(run_json("check", "trio.toml", code=1)["pieces"]["L"]["findings"]) == ["shape"]


@pytest.mark.long
def test_meshes_from_elsewhere(here: Path, capsys: Capture) -> None:
    files = sorted(str(path) for path in (here / "output/trio/stl").iterdir())
    before = sorted(here.rglob("*"))
    for arguments in (
        ["check", "--set", "trio.toml", *files],
        ["check", "trio.toml", *files],
        ["check", "--set", "trio.toml", "output/trio/stl"],
        ["check", "--set", "trio.toml", "output/trio"],
        ["verify", "trio.toml", "--from", "output/trio"],
    ):
        run(capsys, *arguments)
    assert sorted(here.rglob("*")) == before, "meshes from elsewhere leave no files"
    run(capsys, "check", "--set", "trio.toml", *files, "-o", "reports")
    assert (here / "reports/check.html").is_file()


def test_a_missing_piece_fails_both(here: Path, capsys: Capture) -> None:
    """So does a missing lid."""
    for name in ("Q", "tray-lid"):
        (here / f"output/trio/stl/{name}.stl").unlink()
    out, _ = run(capsys, "check", "trio.toml", code=1)
    assert "missing pieces (Q): 1; expected 0" in out
    assert "tray.stl: board-lid: lids for the board tray: 0; expected 1" in out
    out, _ = run(capsys, "verify", "trio.toml", code=1)
    assert "tray, bar: no answer: Q missing" in out
    assert "In every solution" not in out, "there is none"


@pytest.mark.long
def test_the_profile_is_recognised_or_named(here: Path, capsys: Capture, run_json: RunJson) -> None:
    main(["export-stl", "trio.toml", "-q", "-o", "small", "-p", "compact"])
    assert run_json("check", "trio.toml", "-o", "small")["profile"] == "compact"
    main(["export-stl", "trio.toml", "-q", "-o", "own", "-s", "recess.fit=glue"])
    own = ("check", "trio.toml", "-o", "own")
    assert run_json(*own)["profile"] == "profile", "the profile beside the meshes"
    found = run_json(*own, "-s", "recess.fit=press", code=1)
    assert set(failed(found["pieces"]["L"]["findings"])) == {"recess-diameter"}
    (here / "own/profile.toml").unlink()
    out, err = run(capsys, *own)
    assert "profile measured" in out
    assert "match no known profile" in err


@pytest.mark.integration
@plain
def test_what_a_set_is_made_to_is_measured_and_written(
    here: Path, capsys: Capture, run_json: RunJson
) -> None:
    (here / "output/trio/profile.toml").unlink()
    command = ["check", "trio.toml", "--write-profile", "own.toml"]
    out, err = run(capsys, *command)
    assert "match no known profile" in err
    assert dict(re.findall(r"^(unit|thickness|clearance|recess) +(.*)$", out, re.MULTILINE)) == {
        "unit": "20 mm", "thickness": "7 mm", "clearance": "0.2 mm", "recess": "none"
    }  # fmt: skip
    assert "own.toml: exists already" in run(capsys, *command, code=2)[1]
    assert run_json("check", "trio.toml", "-p", "own.toml", "-s", "lid.kind=none")["causes"] == []


@pytest.mark.integration
def test_reports_of_other_meshes_are_noticed(here: Path, capsys: Capture) -> None:
    run(capsys, "check", "trio.toml")
    assert "out of date" not in run(capsys, "export-stl", "trio.toml")[1]
    _, err = run(capsys, "export-stl", "trio.toml", "-s", "thickness=8 mm")
    assert "out of date: check.html, check.json" in err


@pytest.mark.integration
def test_the_forces_of_magnets_are_reported(here: Path, capsys: Capture, run_json: RunJson) -> None:
    """Of the solution that was found: trio's tray is in no catalog."""
    magnetic = run_json("check", "trio.toml")["magnets"]
    assert (magnetic["polarity"], magnetic["gap_mm"], magnetic["solutions"]) == ("same", 0.2, 1)
    assert magnetic["on_steel"]["challenge"] == "tray"
    assert all(magnetic[where]["is_held"] for where in ("on_steel", "in_tray"))  # magnets far apart
    out, _ = run(capsys, "check", "trio.toml")
    assert f"Steel pulls each magnet with {magnetic['pull_n']:.1f} N through 0.2 mm" in out
    assert "<h2>Magnets</h2>" in (here / "output/trio/check.html").read_text()


@pytest.mark.long
def test_a_printer_that_is_off_may_keep_rows_from_closing(
    here: Path, capsys: Capture, run_json: RunJson
) -> None:
    found = run_json("check", "trio.toml", "--printer-error", "0.1mm")["tolerance"]
    (tray,) = found["challenges"]
    assert (found["ok"], tray["challenge"], tray["closes"]) == (True, "tray", True)
    # Six sides of pieces at 0.05 mm and 0.25 mm twice in the tray bear 0.1 mm on all eight.
    assert found["worst_inset_mm"] == 0.05
    assert "As a printer prints it" in (here / "output/trio/check.html").read_text()
    out, _ = run(capsys, "check", "trio.toml", "--printer-error", "0.15mm", code=1)
    assert (
        "In the worst case, with all sides 0.15 mm too far out, 0 of 1 challenges fit together."
        in out
    )
    assert "one of 0.12 mm for the worst case" in out
    assert "tolerance" not in run_json("check", "trio.toml")


@pytest.mark.long
def test_a_calibrated_printer_has_odds(here: Path, capsys: Capture, run_json: RunJson) -> None:
    """They are asked for by the profile; the option has precedence."""
    spread = ["-s", "calibration.side_sd=0.03 mm", "-s", "calibration.offset=0.02 mm"]
    found = run_json("check", "trio.toml", *spread)["tolerance"]
    assert (found["ok"], found["side_sd_mm"], found["together"]) == (True, 0.03, 1.0)
    spread[1] = "calibration.side_sd=0.2 mm"
    out, _ = run(capsys, "check", "trio.toml", *spread, code=1)
    assert "Sides print 0.02 mm too far out and scatter by 0.2 mm, as calibrated." in out
    assert (
        "0 of 1 challenges fit together in at least 99 % of 3,000 simulated sets; least often"
        in out
    )
    assert run_json("check", "trio.toml", *spread, "--printer-error", "0.05 mm")["tolerance"]["ok"]


@plain
@pytest.mark.parametrize("command", ["check", "verify"])
def test_bad_meshes_get_one_message(command: str, here: Path, capsys: Capture) -> None:
    """Named, and found by the command itself. (What else is bad: tests/mesh.)"""
    named = ["--from"] * (command == "verify")
    for name, files in (("no.3mf", [*named, "no.3mf"]), ("output/trio/stl/tray.stl", [])):
        (here / name).write_bytes(b"PK\3\4 but no more")
        before = sorted(here.rglob("*"))
        out, err = run(capsys, command, "trio.toml", *files, code=2)
        assert (out, err.startswith(f"fabkit: {name}: "), len(err.splitlines())) == ("", True, 1)
        assert sorted(here.rglob("*")) == before


@plain
def test_a_mesh_that_is_no_piece_is_unknown(here: Path, run_json: RunJson) -> None:
    """One more file that is a fine mesh: reported as unknown, and the set still assembles."""
    corners = [(0, 0, 0), (9, 0, 0), (0, 7, 0), (0, 0, 5)]
    pyramid = obj(np.array(corners), [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)])
    (here / "output/trio/stl/pyramid.obj").write_text(pyramid)
    errors = ["--printer-error", "0.1mm", "--hole-error", "0.3mm"]
    found = run_json("check", "trio.toml", *errors, code=1)
    assert [found["tolerance"][f"{one}_error_mm"] for one in ("side", "hole")] == [0.1, 0.3]
    assert failed(found["findings"]) == ["unknown-part"]
    assert [one["ok"] for one in found["assemblies"]] == [True]
    assert found["pieces"]["L"]["ok"]
