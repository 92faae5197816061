"""`make` as users call it: everything once, and again only what has changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fabkit.cli import main
from tests.support.pairset import PAIR
from tests.support.platefiles import prusa_slicer


def test_make_makes_everything_once(pair: str, said: Callable[..., Any]) -> None:
    document = said("make", pair)
    assert document["ok"]
    out = Path("output/pair")
    for name in (
        "stl/P.stl", "step/P.step", "pair.step", "pair.3mf", "3mf/Q.3mf", "dxf/P.dxf", "svg/P.svg",
        "dxf-sheets/sheet-1.dxf", "svg-sheets/sheet-1.svg", "plates/plate-1.3mf", "check.json",
        "check.html", "verify.json", "bom.csv", "bom.json", "booklet.pdf", "profile.toml",
        "manifest.json",
    ):  # fmt: skip
        assert (out / name).is_file(), name
    manifest = json.loads((out / "manifest.json").read_text())
    there = {p.relative_to(out).as_posix() for p in out.rglob("*") if p.is_file()}
    assert there - {".fabkit.lock", "manifest.json"} == set(manifest["files"])
    for name, entry in manifest["files"].items():
        assert entry["sha256"] == hashlib.sha256((out / name).read_bytes()).hexdigest()
    names = [*manifest["files"], "manifest.json"]
    stamps = {name: (out / name).stat().st_mtime_ns for name in names}
    again = said("make", pair)
    assert again["written"] == 0
    assert [one["booklet"]["written"] for one in (document, again)] == [True, False]
    assert {key: again[key] for key in ("ok", "check", "verify", "bom", "files")} == {
        **{key: document[key] for key in ("ok", "check", "verify", "bom")},
        "files": {n: f | {"written": False} for n, f in document["files"].items()},
    }
    assert stamps == {name: (out / name).stat().st_mtime_ns for name in names}


def test_make_after_a_change_leaves_nothing_to_be_done(pair: str, said: Callable[..., Any]) -> None:
    alone = PAIR[: PAIR.index("[[challenge]]")]
    Path(pair).write_text(alone)
    said("make", pair)
    Path(pair).write_text(alone.replace("[2, 2], [0, 2]", "[2, 2], [1, 1]"))
    document = said("make", pair)
    assert (document["ok"], document["warnings"]) == (True, [])


def test_a_piece_that_is_gone_is_told_and_does_no_harm(pair: str, said: Callable[..., Any]) -> None:
    said("make", pair)
    Path(pair).write_text(PAIR[: PAIR.index('[[piece]]\nid = "Q"')])
    document = said("make", pair)
    assert document["ok"]
    booklet, warning = document["warnings"]
    assert booklet == "booklet.pdf is of the set as it was before"
    assert warning.startswith("no longer part of the set: ")
    assert "stl/Q.stl" in warning


def test_make_checks_again_what_changed(
    pair: str, said: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """Reports of other meshes are not taken for new, and none that somebody changed is lost."""
    said("make", pair)
    report = Path("output/pair/check.json")
    stamp = report.stat().st_mtime_ns
    report.write_text(report.read_text().replace('"ok": true', '"ok": false', 1))
    assert main(["make", pair]) == 2
    assert "has been changed since: check.json; move it away" in capsys.readouterr().err
    report.unlink()
    assert said("make", pair)["ok"]
    assert report.stat().st_mtime_ns != stamp
    assert said("make", pair, "-s", "gap.max=0.15 mm", code=1)["ok"] is False
    assert said("make", pair, "-s", "gap.max=0.15 mm", code=1)["ok"] is False


@prusa_slicer
def test_make_slices_when_asked(pair: str, said: Callable[..., Any]) -> None:
    document = said("make", pair, "--slice")
    assert document["slice"]["printable"]
    assert document["bom"]["print_seconds"] == document["slice"]["seconds"]
