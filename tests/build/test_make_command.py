"""`make` as users call it: everything once, and again only what has changed."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fabkit.cli import main
from fabkit.drawing import draft
from fabkit.mesh.rules import label
from fabkit.output.booklet import book
from fabkit.printing import magnet_forces
from tests.support.built import built
from tests.support.pairset import PAIR
from tests.support.platefiles import with_prusa

OUT = Path("output/pair")


@pytest.fixture
def first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_json: Callable[..., Any]) -> Any:
    """The document of `make` for the pair; runs in its folder."""

    def make(folder: Path) -> None:
        monkeypatch.chdir(folder)
        Path("pair.toml").write_text(PAIR)
        Path("first.json").write_text(json.dumps(run_json("make", "pair.toml")))

    shutil.copytree(built("made-pair", make, PAIR), tmp_path / "home")
    monkeypatch.chdir(tmp_path / "home")
    return json.loads(Path("first.json").read_text())


@pytest.mark.integration
def test_files_are_the_same_on_any_number_of_cores(
    first: Any, run_json: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """First they were made on one."""
    monkeypatch.setattr("fabkit.jobs.parallel.core_count", lambda: 3)
    assert run_json("make", "pair.toml", "-o", "on-3")["files"] == first["files"]
    for path in OUT.rglob("*"):
        if path.is_file():
            other = "on-3" / path.relative_to(OUT)
            assert path.read_bytes() == other.read_bytes(), other


def test_make_makes_everything_once(first: Any, run_json: Callable[..., Any]) -> None:
    assert (first["ok"], first["warnings"]) == (True, [])
    assert first["not_made"] == ["fabkit coupon", "fabkit jig pair.toml"]
    for name in (
        "stl/P.stl", "step/P.step", "pair.step", "pair.3mf", "3mf/Q.3mf", "dxf/P.dxf", "svg/P.svg",
        "dxf-sheets/sheet-1.dxf", "svg-sheets/sheet-1.svg", "plates/plate-1.3mf", "check.json",
        "check.html", "verify.json", "bom.csv", "bom.json", "booklet.pdf", "profile.toml",
        "manifest.json",
    ):  # fmt: skip
        assert (OUT / name).is_file(), name
    manifest = json.loads((OUT / "manifest.json").read_text())
    there = {p.relative_to(OUT).as_posix() for p in OUT.rglob("*") if p.is_file()}
    assert there - {".fabkit.lock", "manifest.json"} == set(manifest["files"])
    for name, entry in manifest["files"].items():
        assert entry["sha256"] == hashlib.sha256((OUT / name).read_bytes()).hexdigest()
    names = [*manifest["files"], "manifest.json"]
    stamps = {name: (OUT / name).stat().st_mtime_ns for name in names}
    again = run_json("make", "pair.toml")
    assert again["written"] == 0
    assert [one["booklet"]["written"] for one in (first, again)] == [True, False]
    assert {key: again[key] for key in ("ok", "check", "verify", "bom", "files")} == {
        **{key: first[key] for key in ("ok", "check", "verify", "bom")},
        "files": {n: f | {"written": False} for n, f in first["files"].items()},
    }
    assert stamps == {name: (OUT / name).stat().st_mtime_ns for name in names}


def test_make_drafts_each_piece_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drafted: list[str] = []

    def counted(puzzle: Any, piece: Any, profile: Any) -> Any:
        drafted.append(piece.id)
        return draft_flat_piece(puzzle, piece, profile)

    draft_flat_piece = draft.draft_flat_piece
    for module in (draft, book, magnet_forces):
        monkeypatch.setattr(module, "draft_flat_piece", counted)
    monkeypatch.setattr(label, "draft_flat_piece", draft_flat_piece)  # for letters, without magnets
    monkeypatch.setattr("fabkit.jobs.parallel.core_count", lambda: 1)
    monkeypatch.chdir(tmp_path)
    Path("pair.toml").write_text(PAIR)
    assert main(["make", "pair.toml", "-q"]) == 0
    assert sorted(drafted) == ["P", "Q"]


@pytest.mark.integration
@pytest.mark.usefixtures("first")
def test_make_after_a_change_leaves_nothing_to_be_done(run_json: Callable[..., Any]) -> None:
    """A piece that is gone is reported, and does no harm."""
    alone = PAIR[: PAIR.index("[[challenge]]")].replace("[2, 2], [0, 2]", "[2, 2], [1, 1]")
    Path("pair.toml").write_text(alone)
    document = run_json("make", "pair.toml")
    assert (document["ok"], document["booklet"]) == (True, None)
    assert document["warnings"] == ["booklet.pdf is out of date"]
    assert {n for n, f in document["files"].items() if not f["written"]} == {
        "stl/P.stl", "step/P.step", "3mf/P.3mf", "dxf/P.dxf", "svg/P.svg",
    }  # fmt: skip
    Path("pair.toml").write_text(PAIR[: PAIR.index('[[piece]]\nid = "Q"')])
    _, warning = run_json("make", "pair.toml")["warnings"]
    assert warning.startswith("no longer part of the set: ")
    assert "stl/Q.stl" in warning


@pytest.mark.integration
@pytest.mark.usefixtures("first")
def test_make_checks_again_what_changed(
    run_json: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """Reports of other meshes are not taken for new, and none that somebody changed is lost."""
    report = OUT / "check.json"
    stamp = report.stat().st_mtime_ns
    report.write_text(report.read_text().replace('"ok": true', '"ok": false', 1))
    assert main(["make", "pair.toml"]) == 2
    assert "has been changed since: check.json; move it away" in capsys.readouterr().err
    report.unlink()
    assert run_json("make", "pair.toml")["ok"]
    assert report.stat().st_mtime_ns != stamp
    assert not run_json("make", "pair.toml", "-s", "gap.max=0.15 mm", code=1)["ok"]


@with_prusa
@pytest.mark.usefixtures("first")
def test_make_slices_when_asked(run_json: Callable[..., Any]) -> None:
    document = run_json("make", "pair.toml", "--slice")
    assert document["slice"]["printable"]
    assert document["bom"]["print_seconds"] == document["slice"]["seconds"]
