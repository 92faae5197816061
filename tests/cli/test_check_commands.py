"""`check`, `verify` and `make` as users call them, on a set of three pieces."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from fabkit.cli import main
from tests.support.trioset import PLAIN, TRIO, checked_trio, trio_folder

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the set's file and its output, to stand in."""
    shutil.copytree(trio_folder(), tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    return tmp_path / "copy"


@pytest.fixture
def plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Such a folder with meshes that take little time."""
    shutil.copytree(trio_folder(*PLAIN), tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    return tmp_path / "copy"


def report(command: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((checked_trio() / f"output/trio/{command}.json").read_text())
    return found


def run(capsys: Capture, *arguments: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main(list(arguments))
    out, err = capsys.readouterr()
    return code, out, err


def document(capsys: Capture, *arguments: str) -> tuple[int, dict[str, Any]]:
    code, out, _ = run(capsys, *arguments, "--json", "-q")
    return code, json.loads(out)


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
    assert sorted(piece["bbox_mm"][:2]) == pytest.approx([39.8, 59.8], abs=0.001)
    assert piece["bbox_mm"][2] == pytest.approx(7, abs=0.001)
    for finding in piece["findings"]:
        assert finding.keys() == {"rule", "ok", "value", "limit", "unit", "message"}
    (assembly,) = found["assemblies"]
    assert (assembly["challenge"], assembly["ok"]) == ("tray", True)
    assert assembly["min_gap_mm"] == pytest.approx(0.2, abs=0.002)
    assert assembly["max_gap_mm"] == pytest.approx(0.2, abs=0.002)
    assert assembly["overlap_mm3"] == 0


def test_verify_solves_with_what_was_read() -> None:
    found = report("verify")
    statuses = {one["challenge"]: (one["status"], one["ok"]) for one in found["challenges"]}
    assert statuses == {"tray": ("solved", True), "bar": ("impossible", True)}
    assert found["every_solution_gap_mm"] == pytest.approx(0.2, abs=0.002)
    assert not found["flips"]["possible"]


def test_verify_says_when_the_catalog_claims_too_much(plain: Path, capsys: Capture) -> None:
    text = TRIO.replace('answer = "impossible"', 'answer = "solved"')
    (plain / "trio.toml").write_text(text)
    code, out, _ = run(capsys, "verify", "trio.toml")
    assert code == 1
    assert "bar: impossible, and the catalog says solved" in out
    assert "FAILED: 1 of 2 challenges" in out


@pytest.mark.integration
@pytest.mark.every(2)
@pytest.mark.parametrize("command", ["check", "verify"])
def test_nothing_but_meshes_counts(command: str, here: Path, capsys: Capture) -> None:
    """Other names and order, an altered profile and manifest: the same answer."""
    stl = here / "output/trio/stl"
    for number, name in enumerate(("Q", "L", "J"), 1):
        (stl / f"{name}.stl").rename(stl / f"{number}.stl")
    profile = here / "output/trio/profile.toml"
    profile.write_text(profile.read_text().replace('inset = "0.1 mm"', 'inset = "0.4 mm"'))
    (here / "output/trio/manifest.json").write_text('{"schema": 1, "set": "other", "files": {}}')
    code, second = document(capsys, command, "trio.toml")
    assert code == 0
    assert second == report(command)


@pytest.mark.integration
def test_drawings_altered_after_the_export_change_no_answer_of_verify(
    plain: Path, capsys: Capture
) -> None:
    """Letters say which piece is which, and outlines come from the meshes."""
    _, first = document(capsys, "verify", "trio.toml")
    altered = TRIO.replace("[[0, 0], [1, 0], [2, 0], [2, 1]]", "[[0, 0], [0, 1], [0, 2], [0, 3]]")
    assert altered != TRIO
    (plain / "trio.toml").write_text(altered)
    code, second = document(capsys, "verify", "trio.toml")
    assert code == 0
    assert (first["pieces"]["L"].pop("as_drawn"), second["pieces"]["L"].pop("as_drawn")) == (
        True,
        False,
    )
    assert second == first
    code, found = document(capsys, "check", "trio.toml")
    assert code == 1
    failed = [f["rule"] for f in found["pieces"]["L"]["findings"] if not f["ok"]]
    assert failed == ["shape"]


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
        code, out, err = run(capsys, *arguments)
        assert code == 0, (arguments, out, err)
    assert sorted(here.rglob("*")) == before, "meshes from elsewhere leave no files"
    code, _, _ = run(capsys, "check", "--set", "trio.toml", *files, "-o", "reports")
    assert code == 0
    assert (here / "reports/check.html").is_file()


def test_a_missing_piece_fails_both(here: Path, capsys: Capture) -> None:
    """So does a missing lid."""
    (here / "output/trio/stl/Q.stl").unlink()
    (here / "output/trio/stl/tray-lid.stl").unlink()
    code, out, _ = run(capsys, "check", "trio.toml")
    assert code == 1
    assert "pieces of the set that are missing (Q): 1, where 0 is right" in out
    assert "tray.stl: board-lid: lids for the board tray: 0, where 1 is right" in out
    code, out, _ = run(capsys, "verify", "trio.toml")
    assert code == 1
    assert "tray, bar: not answered: Q missing" in out


@pytest.mark.long
def test_the_profile_is_recognised_or_named(here: Path, capsys: Capture) -> None:
    main(["export-stl", "trio.toml", "-q", "-o", "small", "-p", "compact"])
    code, found = document(capsys, "check", "trio.toml", "-o", "small")
    assert (code, found["profile"]) == (0, "compact")
    main(["export-stl", "trio.toml", "-q", "-o", "own", "-s", "recess.fit=glue"])
    code, found = document(capsys, "check", "trio.toml", "-o", "own")
    assert (code, found["profile"]) == (0, "profile"), "the profile beside the meshes"
    code, found = document(capsys, "check", "trio.toml", "-o", "own", "-s", "recess.fit=press")
    assert code == 1
    failed = {f["rule"] for f in found["pieces"]["L"]["findings"] if not f["ok"]}
    assert failed == {"recess-diameter"}
    (here / "own/profile.toml").unlink()
    code, out, err = run(capsys, "check", "trio.toml", "-o", "own")
    assert code == 0, out
    assert "held against profile measured" in out
    assert "made with none of the known profiles" in err


def test_what_a_set_is_made_to_is_measured_and_written(plain: Path, capsys: Capture) -> None:
    (plain / "output/trio/profile.toml").unlink()
    command = ["check", "trio.toml", "--write-profile", "own.toml"]
    code, out, err = run(capsys, *command)
    assert code == 0, out
    assert "made with none of the known profiles" in err
    table = dict(re.findall(r"^(unit|thickness|clearance|recess) +(.*)$", out, re.MULTILINE))
    assert table == {
        "unit": "20 mm", "thickness": "7 mm", "clearance": "0.2 mm", "recess": "none"
    }  # fmt: skip
    code, _, err = run(capsys, *command)
    assert (code, "own.toml: is there already" in err) == (2, True)
    code, found = document(capsys, "check", "trio.toml", "-p", "own.toml", "-s", "lid.kind=none")
    assert (code, found["causes"]) == (0, [])


@pytest.mark.integration
def test_reports_of_other_meshes_are_told(here: Path, capsys: Capture) -> None:
    run(capsys, "check", "trio.toml")
    _, _, err = run(capsys, "export-stl", "trio.toml")
    assert "other meshes" not in err
    _, _, err = run(capsys, "export-stl", "trio.toml", "-s", "thickness=8 mm")
    assert "of other files than are here now: check.html, check.json" in err


@pytest.mark.long
def test_a_printer_that_is_off_may_keep_rows_from_closing(here: Path, capsys: Capture) -> None:
    code, found = document(capsys, "check", "trio.toml", "--printer-error", "0.1mm")
    assert (code, found["tolerance"]["ok"]) == (0, True)
    (row,) = found["tolerance"]["rows"]
    assert row["challenge"] == "tray"
    # Six sides of pieces at 0.05 mm and 0.25 mm twice in the tray bear 0.1 mm on all eight.
    assert found["tolerance"]["worst"]["inset_mm"] == 0.05
    assert "As a printer prints it" in (here / "output/trio/check.html").read_text()
    code, out, _ = run(capsys, "check", "trio.toml", "--printer-error", "0.15mm")
    assert code == 1
    assert "in the worst case not every row closes" in out
    assert "With an inset of 0.12 mm on each side every row closes" in out
    code, found = document(capsys, "check", "trio.toml")
    assert code == 0
    assert "tolerance" not in found


BAD_MESHES = {
    "text.stl": b"this is a letter to my aunt, not a mesh",
    "empty.stl": b"",
    "cut.stl": b"\0" * 80 + (12).to_bytes(4, "little") + b"\0" * 100,
    "claims-2-GB.stl": b"\0" * 80 + (42_000_000).to_bytes(4, "little") + b"\0" * 50,
    "not-a-zip.3mf": b"PK\3\4 but no more",
    "no-faces.obj": b"v 0 0 0\n",
    "output/trio/stl/tray.stl": b"nonsense\n",
}


@pytest.mark.parametrize("command", ["check", "verify"])
def test_bad_meshes_get_one_message(command: str, plain: Path, capsys: Capture) -> None:
    for name, content in BAD_MESHES.items():
        (plain / name).write_bytes(content)
        before = sorted(plain.rglob("*"))
        files = [name] if command == "check" else ["--from", name]
        if name.startswith("output"):  # where the command looks by itself
            files = []
        code, out, err = run(capsys, command, "trio.toml", *files)
        assert (code, out) == (2, ""), name
        assert err.startswith(f"fabkit: {name}: ")
        assert len(err.splitlines()) == 1
        assert sorted(plain.rglob("*")) == before


def test_a_mesh_that_is_no_piece_is_strange(plain: Path, capsys: Capture) -> None:
    """One more file that is a fine mesh: told as strange, and the set still goes together."""
    corners = [(0, 0, 0), (9, 0, 0), (0, 7, 0), (0, 0, 5)]
    lines = [f"v {x} {y} {z}" for x, y, z in corners]
    lines += ["f 1 3 2", "f 1 2 4", "f 2 3 4", "f 3 1 4"]
    (plain / "output/trio/stl/pyramid.obj").write_text("\n".join(lines))
    errors = ["--printer-error", "0.1mm", "--hole-error", "0.3mm"]
    code, found = document(capsys, "check", "trio.toml", *errors)
    assert code == 1
    assert [found["tolerance"][f"{one}_error_mm"] for one in ("side", "hole")] == [0.1, 0.3]
    assert [f["rule"] for f in found["findings"] if not f["ok"]] == ["strange"]
    assert [one["ok"] for one in found["assemblies"]] == [True]
    assert found["pieces"]["L"]["ok"]
