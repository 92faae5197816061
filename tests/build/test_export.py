"""The output folder: whole or not at all, made again only where something changed, same bytes."""

from __future__ import annotations

import json
import pickle
import shutil
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from fabkit.build import manifest as manifests
from fabkit.build.artifacts import Artifacts
from fabkit.build.export import export as export_files
from fabkit.build.export import targets_for
from fabkit.cli import main
from fabkit.core.staging import LOCK_NAME, folder_lock
from fabkit.jobs.parallel import all_cores
from fabkit.printing.nesting.polygon_nest import is_available
from fabkit.profiles.accessory import profile_as_made
from fabkit.profiles.profile_file import dump_profile, load_profile
from fabkit.sets.library import load_set
from tests.conftest import ROOT
from tests.support.built import built
from tests.support.built import exported as exported_set
from tests.support.pairset import PAIR

RunJson = Callable[..., Any]
OUT = Path("out")
SVG = {"svg/P.svg", "svg/Q.svg", "svg-sheets/sheet-1.svg"}


@pytest.fixture(autouse=True)
def _here(pair: str) -> None:
    """Stands in a folder with the set of two pieces."""


def redraw(old: str = "[2, 2], [0, 2]", new: str = "[2, 2], [1, 1]") -> None:
    text = Path("pair.toml").read_text()
    assert old in text
    Path("pair.toml").write_text(text.replace(old, new))


def contents(folder: Path = OUT) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != LOCK_NAME
    }


def stamps() -> dict[Path, int]:
    return {p: p.stat().st_mtime_ns for p in OUT.rglob("*") if p.is_file() and p.name != LOCK_NAME}


def manifest() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((OUT / "manifest.json").read_text())
    return found


@pytest.fixture
def export(run_json: RunJson) -> RunJson:
    def run(kind: str = "svg", *more: str, code: int = 0) -> Any:
        return run_json(f"export-{kind}", "pair.toml", "-o", "out", *more, code=code)

    return run


@pytest.fixture
def exported() -> None:
    """The folder as `export-svg` leaves it, shared by the tests that change it afterwards."""

    def make(folder: Path) -> None:
        assert main(["export-svg", "pair.toml", "-q", "-o", str(folder / "out")]) == 0

    shutil.copytree(built("pair-svg", make, PAIR) / "out", OUT)


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Runs an export that is refused, and changes nothing; returns its one message."""

    def run(*more: str, kind: str = "svg", out: str = "out", code: int = 2) -> str:
        before = contents()
        capsys.readouterr()
        assert main([f"export-{kind}", "pair.toml", "-o", out, "-q", *more]) == code
        err = capsys.readouterr().err
        assert (err.startswith("fabkit: "), err.count("\n")) == (True, 1), err
        assert contents() == before
        assert not list(OUT.glob(".fabkit-*.part"))
        return err

    return run


def written(document: Any) -> set[str]:
    return {name for name, file in document["files"].items() if file["written"]}


# --- what is made again ---------------------------------------------------------------------------


def test_manifest_tells_the_truth(export: RunJson) -> None:
    export("stl")
    document = export("step")
    found = manifest()
    assert found["schema"] == 1
    assert found["inputs"]["set"] == sha256(Path("pair.toml").read_bytes()).hexdigest()
    for name, entry in found["files"].items():
        assert entry["sha256"] == sha256((OUT / name).read_bytes()).hexdigest()
    assert sorted(contents()) == sorted(["manifest.json", *found["files"]])
    assert sorted(found["files"]) == [
        "pair.step", "profile.toml", "step/P.step", "step/Q.step", "stl/P.stl", "stl/Q.stl",
    ]  # fmt: skip
    assert (document["magnets"], document["pause_heights_mm"]) == (2, [])
    before = contents()
    some = export("step", "--piece", "Q", "--force")
    assert (list(some["files"]), some["magnets"]) == (["step/Q.step"], 1)
    assert contents() == before  # the others are left alone, and the bytes are the same


def test_what_is_printed_face_down_is_listed(
    export: RunJson, capsys: pytest.CaptureFixture[str]
) -> None:
    """3MF files lie as they are printed; STL files lie as drawn, and the command says so."""
    assert export("stl")["face_down"] == []
    down = ["--piece", "Q", "-s", "plate.face=down"]
    assert export("3mf", *down)["face_down"] == []
    assert export("stl", *down)["face_down"] == ["Q"]
    assert main(["export-stl", "pair.toml", *down]) == 0
    output = capsys.readouterr().out
    assert "1 piece to print face down: turn STL and STEP files over in the slicer" in output
    assert profile_as_made(load_set("iqstars"), load_profile()).facing == "down"


def test_what_a_file_needs_stays_with_the_file(export: RunJson) -> None:
    """The pause of an STL file is reported also after STEP files with another profile."""
    assert export("stl", "-p", "flippable")["pause_heights_mm"] == [4.2]
    assert export("step", "--piece", "P")["pause_heights_mm"] == []
    again = export("stl", "-p", "flippable")
    assert (again["written"], again["pause_heights_mm"]) == (0, [4.2])
    text = dump_profile(load_profile(["flippable"]))
    assert (OUT / "profile.toml").read_text() == f"# flippable\n{text}"
    # Of files that are made together one may be gone, also from the manifest.
    small = ["-s", "laser.sheet_width=60 mm", "-s", "laser.sheet_depth=60 mm"]
    sheet = OUT / "svg-sheets/sheet-2.svg"
    for forgotten in (False, True):
        export("svg", *small)
        sheet.unlink()
        if forgotten:
            export("dxf", *small, "--force")
        assert written(export("svg", *small)) == {"svg-sheets/sheet-2.svg"}


@pytest.mark.usefixtures("exported")
@pytest.mark.parametrize(
    ("change", "options", "expected"),
    [
        (lambda: None, [], set()),
        (lambda: None, ["--force"], SVG),
        (redraw, [], {"svg/Q.svg", "svg-sheets/sheet-1.svg"}),
        (lambda: redraw("[set]", "# only a comment\n[set]"), [], set()),
        ((OUT / "svg/P.svg").unlink, [], {"svg/P.svg"}),
        ((OUT / "svg-sheets/sheet-1.svg").unlink, [], {"svg-sheets/sheet-1.svg"}),
        ((OUT / "profile.toml").unlink, [], set()),
        (lambda: None, ["-s", "laser.kerf=0.3 mm"], SVG),
        (lambda: None, ["-s", "price.filament=99"], set()),
    ],
)
def test_only_what_must_be_is_made_again(
    change: Callable[[], Any], options: list[str], expected: set[str], export: RunJson
) -> None:
    good, before = contents(), stamps()
    change()
    assert written(export("svg", *options)) == expected
    kept = {path: stamp for path, stamp in stamps().items() if path.suffix == ".svg"}
    fresh = {path for path, stamp in kept.items() if before.get(path) != stamp}
    assert fresh == {OUT / name for name in expected}
    assert manifest()["inputs"]["set"] == sha256(Path("pair.toml").read_bytes()).hexdigest()
    if not options and change is not redraw:
        assert contents().keys() == good.keys()
        assert {n: c for n, c in contents().items() if n != "manifest.json"} == {
            n: c for n, c in good.items() if n != "manifest.json"
        }
    assert (export("svg", *options)["written"] if options != ["--force"] else 0) == 0


@pytest.mark.usefixtures("exported")
def test_other_code_makes_everything_again(
    export: RunJson, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, files = manifest()["files"], stamps()
    module = sys.modules["fabkit.build.export"]  # its name in the package is the function's
    monkeypatch.setattr(module, "generator_digest", lambda *_: "another version")
    assert written(export()) == set()  # it comes out just so, and is not touched
    after = manifest()["files"]
    assert {name for name in after if after[name]["recipe"] != before[name]["recipe"]} == SVG
    assert {path for path, stamp in stamps().items() if files[path] != stamp} == {
        OUT / "manifest.json"
    }


# --- warnings -------------------------------------------------------------------------------------


@pytest.mark.usefixtures("exported")
@pytest.mark.parametrize(
    ("change", "options", "warning"),
    [
        (
            lambda: None,
            ["-s", "laser.kerf=0.3 mm"],
            "made from another drawing or profile: 3 files (svg, svg-sheets); export again, or "
            "keep profiles apart with -o",
        ),
        (redraw, [], "another drawing or profile: 2 files (svg, svg-sheets)"),
        (
            lambda: Path("pair.toml").write_text(PAIR[: PAIR.index('[[piece]]\nid = "Q"')]),
            [],
            "no longer part of the set: svg/Q",
        ),
        (
            lambda: (OUT / "profile.toml").write_text("# mine"),
            [],
            f"profile.toml was edited; your version is kept: use it with -p "
            f"{OUT / 'profile.edited.toml'}",
        ),
    ],
)
def test_what_deserves_a_look_is_a_warning(
    change: Callable[[], Any], options: list[str], warning: str, export: RunJson
) -> None:
    change()
    edited = (OUT / "profile.toml").read_text()
    found = export("dxf", *options)["warnings"]
    assert any(warning in one for one in found), found
    if "was edited" in warning:
        assert (OUT / "profile.edited.toml").read_text() == edited
        assert export("dxf", *options)["warnings"] == []
    assert (OUT / "svg/Q.svg").exists()


# --- what is refused, and changes nothing ---------------------------------------------------------


def test_files_of_others_are_not_written_over(export: RunJson, refused: Callable[..., str]) -> None:
    """Neither one that fabkit has not written, nor one that somebody has changed since."""
    (OUT / "svg").mkdir(parents=True)
    for name in ("svg/Q.svg", "svg/P.svg"):
        (OUT / name).write_text("mine")
        assert refused() == (
            f"fabkit: out: was not written by fabkit, or has been changed since: {name}; move it "
            "away, choose another folder with -o, or overwrite it with --force\n"
        )
        assert written(export("svg", "--force")) == SVG
    (OUT / "svg-sheets/sheet-2.svg").write_text("mine")
    sheets = ["-s", "laser.sheet_width=60 mm", "-s", "laser.sheet_depth=60 mm"]
    assert "since: svg-sheets/sheet-2.svg; " in refused(*sheets)
    Path("mine").write_bytes((OUT / "svg/P.svg").read_bytes())
    (OUT / "manifest.json").unlink()
    assert "P.svg, svg/Q.svg" in refused()


def test_nothing_is_written_through_a_link(export: RunJson, refused: Callable[..., str]) -> None:
    Path("elsewhere").mkdir()
    OUT.mkdir()
    for name in ("svg", "svg-sheets"):
        (OUT / name).symlink_to("../elsewhere")
        for force in ([], ["--force"]):
            assert f"out/{name}: is a symbolic link" in refused(*force)
        (OUT / name).unlink()
    assert not list(Path("elsewhere").iterdir())
    export()


def test_what_stands_in_the_way(
    export: RunJson,
    refused: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("file").write_text("mine")
    assert "is a file; expected a folder" in refused(out="file")
    long = "x" * 300
    for name in (long, f"{long}/below"):
        assert "the name is too long; choose a shorter one" in refused(out=name)
    assert main(["show", "pair.toml", "-o", f"{long}.svg"]) == 2
    assert main(["show", f"{long}.toml"]) == 2
    capsys.readouterr()
    assert "the largest that fits is" in refused("-s", "magnet.diameter=18mm", kind="stl")
    assert not OUT.exists()
    (OUT / "svg/Q.svg").mkdir(parents=True)
    assert "svg/Q.svg is a folder" in refused(code=3)
    (OUT / "svg/Q.svg").rmdir()
    with folder_lock(OUT):
        assert refused(code=3).startswith("fabkit: another fabkit process is using out")
    export()
    with monkeypatch.context() as patch:
        patch.setattr("fabkit.build.manifest.sha256", failing(PermissionError(13, "Not yours")))
        assert "cannot read out/svg/P.svg: Not yours" in refused(code=3)
    redraw('"pair"', '"other"')
    assert 'out: holds the set "pair", not "other"; choose another folder' in refused()


def failing(error: Exception) -> Callable[..., None]:
    def fail(*_: object) -> None:
        raise error

    return fail


@pytest.mark.usefixtures("exported")
def test_failures_change_nothing(
    export: RunJson, refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    redraw()
    full, broken = OSError(28, "No space left"), RuntimeError("BRep_API: command not done")
    with monkeypatch.context() as patch:
        patch.setattr("fabkit.output.cutting.sheet_svg", failing(full))
        assert "the disk is full; nothing was changed" in refused(code=3)
    with monkeypatch.context() as patch:
        patch.setattr("fabkit.solid.builder.build_solid", failing(broken))
        message = refused(kind="stl", code=3)
        assert "failed on stl/P.stl: BRep_API: command not done; nothing was changed" in message


BROKEN_MANIFESTS = {
    "not json": "is not JSON",
    "[]": "expected a JSON object",
    "{}": "has no schema number",
    '{"schema": 1, "set": "pair", "files": []}': "(files: ",
    '{"schema": 1, "set": "pair", "files": {"svg/P.svg": 3}}': "(files.svg/P.svg: ",
    '{"schema": 1, "set": "pair", "files": {"../x": {}}}': "(files.../x",
    '{"schema": 2}': "written by a newer fabkit",
}


@pytest.mark.usefixtures("exported")
def test_a_broken_manifest_is_refused_until_forced(
    export: RunJson, refused: Callable[..., str]
) -> None:
    for text, message in BROKEN_MANIFESTS.items():
        (OUT / "manifest.json").write_text(text)
        assert message in refused()
        if "2" in text:
            assert message in refused("--force")  # a newer one is never overwritten
    (OUT / "manifest.json").write_text("{}")
    assert written(export("svg", "--force")) == SVG


# --- several processes ----------------------------------------------------------------------------


@pytest.mark.usefixtures("exported")
def test_what_a_killed_process_has_left_goes(export: RunJson) -> None:
    """Also when nothing is to be done; but not while another process is at work."""
    part = OUT / ".fabkit-1234.part"
    (part / "svg").mkdir(parents=True)
    (part / "svg/P.svg").write_text("half")
    with folder_lock(OUT):
        assert export()["written"] == 0
        assert part.exists()
    assert export()["written"] == 0
    assert not part.exists()


class Meanwhile:
    """A file; while it is sent to a worker, another one is written."""

    def __init__(self, files: dict[str, Any]) -> None:
        self.files = files

    def __reduce__(self) -> tuple[type, tuple[str]]:
        self.files[f"more {len(self.files)}"] = Path("more.stl")
        return Path, ("one.stl",)


def test_files_are_the_same_on_two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both nest as fabkit does, since the worker does."""
    monkeypatch.setattr("fabkit.printing.nesting.nest.is_available", is_available)
    monkeypatch.setattr("fabkit.jobs.parallel.core_count", lambda: 2)
    pair = load_set("pair.toml")
    profile = load_profile([], (), pair.profile_values)

    def export_to(folder: Path) -> None:
        export_files(Artifacts(pair, pair.pieces, profile), ["stl", "3mf", "dxf"], folder)

    export_to(Path("alone"))
    with all_cores():
        export_to(OUT)
    assert contents() == contents(Path("alone"))
    assert {"dxf-sheets/sheet-1.dxf", "pair.3mf"} <= contents().keys()


def test_artifacts_are_sent_to_a_worker_while_files_are_written() -> None:
    artifacts = Artifacts(load_set("fridgeiq"), (), load_profile())
    artifacts.stl.update({name: Meanwhile(artifacts.stl) for name in "AR"})
    assert pickle.loads(pickle.dumps(artifacts)).stl == {"A": Path("one.stl"), "R": Path("one.stl")}


@pytest.mark.integration
def test_plates_are_made_when_a_worker_lays_them_out_and_meshes_are_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("fabkit.jobs.parallel.core_count", lambda: 2)
    fridgeiq, profile = load_set("fridgeiq"), load_profile()
    files = {path.stem: path for path in (exported_set("fridgeiq") / "stl").iterdir()}
    artifacts = Artifacts(fridgeiq, fridgeiq.pieces, profile)
    artifacts.stl.update(files)
    (plates,) = targets_for(artifacts, ["plates"])
    with all_cores():
        plates.prepare()
        plates.begin()
        OUT.joinpath("plates").mkdir(parents=True)
        plates.make(lambda name, **_: OUT / name)
    assert "plates/plate-1.3mf" in contents()


@pytest.mark.parametrize("name", ["drawing/coupon.toml", "drawing/outline.py", "drawing/new.css"])
def test_files_are_made_again_when_a_file_of_the_program_changes(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also tables and templates; not when Python or numba has compiled something beside them."""
    package = tmp_path / "fabkit"
    shutil.copytree(ROOT / "fabkit" / "drawing", package / "drawing")
    monkeypatch.setattr(manifests, "__file__", str(package / "build" / "manifest.py"))

    def digest() -> str:
        manifests._package_digest.cache_clear()
        manifests.generator_digest.cache_clear()
        return manifests.generator_digest(("drawing",), ())

    before = digest()
    (package / "drawing" / "kernel.nbi").write_bytes(b"compiled")
    assert digest() == before
    with (package / name).open("a") as file:
        file.write("\n# changed\n")
    assert digest() != before
    monkeypatch.undo()
    digest()
