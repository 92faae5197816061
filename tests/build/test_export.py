"""The output folder: whole or not at all, rebuilt only where something changed, same bytes."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path

import pytest

from fabkit.build import Export, export
from fabkit.build import export as export_function
from fabkit.cli import main
from fabkit.core.errors import InputError, OutsideError
from fabkit.core.files import LOCK_NAME, folder_lock
from fabkit.model.library import load_set
from fabkit.model.profilefile import dump_profile, load_profile
from tests.conftest import ROOT

PAIR = """
[set]
name = "pair"
lattice = "quarter-square"
moves = "rotations"

[[piece]]
id = "P"
outline = [[0, 0], [2, 0], [2, 1], [0, 1]]

[[piece]]
id = "Q"
outline = [[0, 0], [2, 0], [2, 2], [0, 2]]
"""


def run(folder: Path, set_file: Path, kinds: tuple[str, ...] = ("stl",), **options) -> Export:
    profile = load_profile(options.pop("profiles", ()), options.pop("settings", ()))
    return export(load_set(str(set_file)), profile, kinds, folder, **options)


def written(done: Export) -> list[str]:
    return [name for name, file in done.files.items() if file["written"]]


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != LOCK_NAME
    }


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    path = tmp_path / "pair.toml"
    path.write_text(PAIR)
    return path


def test_manifest_tells_the_truth(pair: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    run(folder, pair, ("stl", "step"))
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["schema"] == 1
    assert manifest["inputs"]["set"] == sha256(pair.read_bytes()).hexdigest()
    for name, entry in manifest["files"].items():
        assert entry["sha256"] == sha256((folder / name).read_bytes()).hexdigest()
    assert sorted(contents(folder)) == sorted(["manifest.json", *manifest["files"]])
    assert sorted(manifest["files"]) == [
        "pair.step", "profile.toml", "step/P.step", "step/Q.step", "stl/P.stl", "stl/Q.stl",
    ]  # fmt: skip


def test_a_second_run_rebuilds_nothing(pair: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    assert written(run(folder, pair)) == ["stl/P.stl", "stl/Q.stl"]
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*.stl")}
    assert written(run(folder, pair)) == []
    assert before == {path: path.stat().st_mtime_ns for path in folder.rglob("*.stl")}
    assert written(run(folder, pair, force=True)) == ["stl/P.stl", "stl/Q.stl"]


def test_only_what_changed_is_rebuilt(pair: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    run(folder, pair)
    pair.write_text(PAIR.replace("[2, 2], [0, 2]", "[2, 2], [1, 1]"))
    assert written(run(folder, pair)) == ["stl/Q.stl"]
    pair.write_text("# only a comment\n" + pair.read_text())
    assert written(run(folder, pair)) == []
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["inputs"]["set"] == sha256(pair.read_bytes()).hexdigest()


def test_a_changed_or_missing_file_is_rebuilt(pair: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    run(folder, pair)
    good = contents(folder)
    (folder / "stl/P.stl").unlink()
    assert written(run(folder, pair)) == ["stl/P.stl"]
    (folder / "stl/Q.stl").write_bytes(b"not what was written")
    with pytest.raises(InputError, match=r"has been changed since: stl/Q\.stl; .* with --force"):
        run(folder, pair)
    assert (folder / "stl/Q.stl").read_bytes() == b"not what was written"
    assert "stl/Q.stl" in written(run(folder, pair, force=True))
    assert contents(folder) == good


def test_another_profile_rebuilds_and_is_told_apart(pair: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    run(folder, pair, ("stl", "step"))
    done = run(folder, pair, ("stl",), profiles=["petg"])
    assert written(done) == ["stl/P.stl", "stl/Q.stl"]
    assert done.warnings == (
        "made from another drawing or profile: 3 files (pair.step, step); export again, or keep "
        "profiles apart with -o",
    )


def test_another_drawing_is_told_apart(pair: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    run(folder, pair, ("stl", "step"))
    pair.write_text(PAIR.replace("[2, 2], [0, 2]", "[2, 2], [1, 1]"))
    (warning,) = run(folder, pair, ("stl",)).warnings
    assert "another drawing or profile: 2 files (pair.step, step)" in warning


def test_a_profile_changed_by_hand_is_kept(pair: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    run(folder, pair)
    edited = (folder / "profile.toml").read_text() + "# my note\n"
    (folder / "profile.toml").write_text(edited)
    (warning,) = run(folder, pair).warnings
    assert warning.startswith("profile.toml had been changed by hand")
    assert (folder / "profile.edited.toml").read_text() == edited
    assert run(folder, pair).warnings == ()


def test_the_manifest_forgets_what_is_gone(pair: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    run(folder, pair, ("stl", "step"))
    (folder / "pair.step").unlink()
    run(folder, pair, ("stl",))
    files = json.loads((folder / "manifest.json").read_text())["files"]
    assert "pair.step" not in files
    assert "step/P.step" in files


def test_files_of_a_removed_piece_are_named(pair: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    run(folder, pair)
    pair.write_text(PAIR[: PAIR.index('[[piece]]\nid = "Q"')])
    assert run(folder, pair).warnings == ("no longer part of the set: stl/Q.stl",)
    assert (folder / "stl/Q.stl").exists()


def test_some_pieces_leave_the_others_alone(pair: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    whole = run(folder, pair, ("step",))
    before = contents(folder)
    some = run(folder, pair, ("step",), piece_ids=["Q"], force=True)
    assert list(some.files) == ["step/Q.step"]
    assert contents(folder) == before
    assert whole.magnets == 2
    assert some.magnets == 1


def export_in_process(folder: Path, set_file: Path, kinds: tuple[str, ...]) -> None:
    run(folder, set_file, kinds)


def test_same_inputs_same_bytes_in_another_process(pair: Path, tmp_path: Path) -> None:
    """Also when the other process wrote other files before, in another order."""
    run(tmp_path / "one", pair, ("step", "stl"))
    context = multiprocessing.get_context("spawn")
    child = context.Process(
        target=export_in_process, args=(tmp_path / "two", pair, ("stl", "step"))
    )
    child.start()
    child.join()
    assert child.exitcode == 0
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_a_folder_in_use_is_refused_at_once(pair: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    with folder_lock(folder):
        code = (
            "import sys; from fabkit.cli import main; "
            f"sys.exit(main(['export-stl', {str(pair)!r}, '-o', {str(folder)!r}]))"
        )
        result = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=False
        )
    assert result.returncode == 3
    assert result.stderr.startswith(f"fabkit: another fabkit is at work in {folder}")
    assert contents(folder) == {}


@pytest.mark.every(3)
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_stopped_run_leaves_nothing_half_written(how: signal.Signals, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    child = subprocess.Popen(
        [sys.executable, "-m", "fabkit", "export-step", "fridgeiq", "-o", str(folder)],
        cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    while not list(folder.glob(".fabkit-*/step/*.step")) and child.poll() is None:
        time.sleep(0.01)
    child.send_signal(how)
    _, errors = child.communicate(timeout=30)
    assert contents_of_final(folder) == {}
    if how is signal.SIGKILL:
        done = export_function(load_set("fridgeiq"), load_profile(), ["stl"], folder, ["D"])
        assert done.written == 1
    else:
        assert child.returncode == 128 + how
        assert errors.splitlines()[-1] == "fabkit: stopped; no file is half-written"
    assert not list(folder.glob(".fabkit-*.part")), "staged files were left behind"


def contents_of_final(folder: Path) -> dict[str, bytes]:
    """What a user would take for results: everything outside the staging folder."""
    return {n: c for n, c in contents(folder).items() if not n.startswith(".fabkit-")}


def test_a_full_disk_changes_nothing(
    pair: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "out"
    run(folder, pair)
    before = contents(folder)
    pair.write_text(PAIR.replace("[2, 1]", "[2, 2]").replace("[0, 1]", "[0, 2]"))

    def full(path: Path, *_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("fabkit.solid.export.write_stl", full)
    with pytest.raises(OutsideError, match="the disk is full; nothing was changed"):
        run(folder, pair)
    assert contents(folder) == before


@pytest.mark.skipif(os.geteuid() != 0 or sys.platform != "linux", reason="needs to mount a tmpfs")
@pytest.mark.parametrize(
    ("command", "size"),
    [
        (["export-stl", "{}"], "64k"),
        (["export-3mf", "{}"], "32k"),
        (["plate", "{}"], "32k"),
        (["export-dxf", "{}"], "32k"),
        (["export-svg", "{}"], "4k"),
        pytest.param(["coupon"], "256k", marks=pytest.mark.long),
        (["make", "{}"], "256k"),
    ],
)
def test_a_really_full_disk(
    command: list[str],
    size: str,
    pair: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("this machine does not let root mount a tmpfs")
    try:
        words = [word.format(pair) for word in command]
        assert main([*words, "-o", str(disk / "out")]) == 3
        assert "the disk is full; nothing was changed" in capfd.readouterr().err
        assert contents(disk / "out") == {}
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_kernel_failure_names_the_file_and_changes_nothing(
    pair: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("BRep_API: command not done")

    monkeypatch.setattr("fabkit.solid.pieces.Workshop.build", fail)
    with pytest.raises(OutsideError, match=r"failed on stl/P.stl: BRep_API: command not done"):
        run(tmp_path / "out", pair)
    assert contents(tmp_path / "out") == {}


def test_an_unwritable_folder_is_refused(pair: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file where the folder should be")
    with pytest.raises(InputError, match="is a file; expected a folder"):
        run(tmp_path / "out", pair)
    with pytest.raises(OutsideError, match="cannot use the folder"):
        run(tmp_path / "out" / "below", pair)


def test_the_folder_of_another_set_is_refused(pair: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    run(folder, pair)
    pair.write_text(PAIR.replace('"pair"', '"other"'))
    with pytest.raises(InputError, match='holds the set "pair", not "other"'):
        run(folder, pair)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("not json", "is not JSON"),
        ('{"schema": 1, "set": "pair", "files": {"stl/P.stl": 3}}', "is not a manifest"),
        ('{"schema": 1, "set": "pair", "files": {"../x": {}}}', "is not a manifest"),
        ('{"schema": 1, "set": "pair", "files": []}', "is not a manifest"),
        ("[]", "expected a JSON object"),
        ("{}", "has no schema number"),
    ],
)
def test_a_broken_manifest_is_refused_until_forced(
    pair: Path, tmp_path: Path, text: str, message: str
) -> None:
    folder = tmp_path / "out"
    run(folder, pair)
    (folder / "manifest.json").write_text(text)
    before = contents(folder)
    with pytest.raises(InputError, match=message):
        run(folder, pair)
    assert contents(folder) == before
    assert written(run(folder, pair, force=True)) == ["stl/P.stl", "stl/Q.stl"]


def test_a_newer_manifest_is_never_overwritten(pair: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    run(folder, pair)
    (folder / "manifest.json").write_text('{"schema": 2}')
    for force in (False, True):
        with pytest.raises(InputError, match="written by a newer fabkit"):
            run(folder, pair, force=force)


def test_what_a_file_needs_stays_with_the_file(pair: Path, tmp_path: Path) -> None:
    """The pause of an STL file is told also after STEP files with another profile."""
    folder = tmp_path / "out"
    run(folder, pair, ("stl",), profiles=["flippable"])
    assert run(folder, pair, ("step",)).pause_heights_mm == []
    again = run(folder, pair, ("stl",), profiles=["flippable"])
    assert again.written == 0
    assert again.pause_heights_mm == [4.2]
    assert (folder / "profile.toml").read_text() == dump_profile(load_profile(["flippable"]))


def test_a_lost_profile_is_written_again(pair: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    run(folder, pair)
    before = contents(folder)
    (folder / "profile.toml").unlink()
    assert written(run(folder, pair)) == []
    assert contents(folder) == before


def test_a_folder_in_a_file_s_place_stops_it_before_anything_moves(
    pair: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    (folder / "stl/Q.stl").mkdir(parents=True)
    with pytest.raises(OutsideError, match=r"stl/Q\.stl is a folder"):
        run(folder, pair)
    assert contents(folder) == {}


def test_an_unreadable_file_is_named(
    pair: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tmp_path / "out", pair)

    def refuse(path: Path) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("fabkit.build.manifest.sha256", refuse)
    with pytest.raises(OutsideError, match=r"cannot read .*stl/P.stl: Permission denied"):
        run(tmp_path / "out", pair)


def test_a_profile_that_does_not_suit_leaves_no_folder(pair: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the largest that fits is"):
        run(tmp_path / "out", pair, settings=["magnet.diameter=18mm"])
    assert not (tmp_path / "out").exists()


def test_the_embedded_fit_reports_its_pause(pair: Path, tmp_path: Path) -> None:
    done = run(tmp_path / "out", pair, profiles=["flippable"])
    assert done.pause_heights_mm == [4.2]
