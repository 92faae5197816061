"""`fabkit page` as users call it: a folder, whole or not at all, and nothing done twice."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from fabkit.build.page import page_folder
from fabkit.cli import main
from tests.support.built import built
from tests.support.pairset import PAIR, objects_of

#: How large the still picture is.
PIXELS = "fabkit.output.render.cover._COVER_PIXELS"


def contents(folder: Path) -> dict[str, str]:
    """Every file in a folder, with its hash."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != ".fabkit.lock"
    }


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy, in the working folder, of a page of the pair with a small picture; its folder."""
    monkeypatch.setattr(PIXELS, 120)

    def make(folder: Path) -> None:
        monkeypatch.chdir(folder)
        Path("pair.toml").write_text(PAIR)
        assert main(["page", "pair.toml", "-q"]) == 0

    shutil.copytree(built("page-pair", make, PAIR), tmp_path / "home")
    monkeypatch.chdir(tmp_path / "home")
    return Path("output/pair/page")


@pytest.fixture
def unpainted(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves out the still picture, which takes seconds: a dot in its place. The page that tests
    share has its own."""
    dot = io.BytesIO()
    Image.new("RGB", (1, 1)).save(dot, "PNG")
    monkeypatch.setattr("fabkit.build.page.cover_picture", lambda *_, **__: dot.getvalue())


def test_everything_is_there_that_the_page_names(made: Path) -> None:
    files = contents(made)
    html = (made / "index.html").read_text()
    named = {part.split('"')[0] for key in ('src="', 'href="') for part in html.split(key)[1:]}
    named = {name for name in named if not name.startswith("#")}
    assert {"files/pair.3mf", "files/pair-stl.zip", "fabkit.css", "play.js"} < named
    for name in (
        *named, "data.js", "models.js", "still.webp", "vendor/three.js", "vendor/three-LICENSE.txt",
        "fonts/OpenSans-Regular.woff", "fonts/OpenSans-LICENSE.txt", "manifest.json",
    ):  # fmt: skip
        assert name in files
    with Image.open(made / "still.webp") as picture:
        assert max(picture.size) == 120
        assert len(picture.getcolors(10_000) or []) > 100
    assert set(objects_of(made / "files/pair.3mf")) == {"P", "Q"}
    manifest = json.loads((made / "manifest.json").read_text())
    for name, entry in manifest["files"].items():
        assert entry["sha256"] == files[name]
    with zipfile.ZipFile(made / "files/pair-stl.zip") as archive:
        assert archive.namelist() == ["P.stl", "Q.stl", "profile.toml"]
        archive.extractall("unpacked")
    assert main(["check", "--set", "pair.toml", "unpacked/P.stl", "unpacked/Q.stl", "-q"]) == 0


def test_nothing_is_done_twice(
    made: Path, run_json: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    files = [path for path in made.rglob("*") if path.is_file() and path.suffix != ".lock"]
    before = [path.stat().st_mtime_ns for path in files]
    document = run_json("page", "pair.toml")
    assert document["written"] == 0
    assert document["challenges"] == ["bar"]
    assert document["page"] == str(made / "index.html")
    assert main(["page", "pair.toml"]) == 0
    out = capsys.readouterr().out
    assert f" in {made}: 1 challenge" in out
    assert f"Open {made / 'index.html'}" in out
    assert [path.stat().st_mtime_ns for path in files] == before


@pytest.mark.parametrize(
    "gone",
    [
        ("files/pair-stl.zip", "data.js"),
        pytest.param(("models.js",), marks=pytest.mark.integration),
    ],
)
def test_what_is_missing_comes_back(
    gone: tuple[str, ...], made: Path, run_json: Callable[..., Any]
) -> None:
    before = contents(made)
    for name in gone:
        (made / name).unlink()
    assert run_json("page", "pair.toml")["written"] == len(gone)
    assert contents(made) == before


@pytest.mark.integration
def test_another_language_is_another_page(
    made: Path, run_json: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What has no words in it is neither made nor written again."""

    def never(*_: object) -> bytes:
        raise AssertionError("made again")

    for name in ("models_data", "cover_picture"):
        monkeypatch.setattr(f"fabkit.build.page.{name}", never)
    before = contents(made)
    document = run_json("page", "pair.toml", "--language", "de")
    assert document["language"] == "de"
    written = {name for name, file in document["files"].items() if file["written"]}
    assert written == {"index.html", "data.js"}
    assert '<html lang="de">' in (made / "index.html").read_text()
    run_json("page", "pair.toml")
    after = contents(made)
    assert after == before
    (made / "models.js").unlink()
    with pytest.raises(AssertionError, match="made again"):
        run_json("page", "pair.toml", "--language", "it")


@pytest.mark.integration
@pytest.mark.usefixtures("unpainted")
def test_what_a_set_no_longer_has_goes(made: Path, run_json: Callable[..., Any]) -> None:
    Path("pair.toml").write_text(PAIR.replace('id = "Q"', 'id = "Z"'))
    run_json("page", "pair.toml")
    with zipfile.ZipFile(made / "files/pair-stl.zip") as archive:
        assert archive.namelist() == ["P.stl", "Z.stl", "profile.toml"]


def test_a_page_has_a_folder_of_its_own(made: Path, tmp_path: Path) -> None:
    """It is not scattered among a set's files, nor among those of others."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty/.hidden").touch()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/index.html").write_text("mine")
    assert main(["export-svg", "pair.toml", "-o", "set", "-q"]) == 0
    for folder, goes_to in (
        (tmp_path / "new", tmp_path / "new"),
        (tmp_path / "empty", tmp_path / "empty"),
        (made, made),
        (tmp_path / "mine", tmp_path / "mine/page"),
        (Path("set"), Path("set/page")),
    ):
        assert page_folder(folder) == goes_to
    before = contents(Path("set"))
    assert main(["page", "pair.toml", "-o", "set", "--only", "none"]) == 2
    assert contents(Path("set")) == before


@pytest.mark.integration
@pytest.mark.usefixtures("unpainted")
def test_what_fabkit_has_not_written_is_left_alone(
    made: Path, run_json: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """What has been changed, and in a folder without a page what was there before; but a file that
    would come out just so is in nobody's way."""
    (made / "fabkit.css").write_text("body { color: red }")
    assert main(["page", "pair.toml"]) == 2
    assert "or has been changed since: fabkit.css; move" in capsys.readouterr().err
    shutil.rmtree(made / "files")
    for name in ("manifest.json", "index.html", "fabkit.css", "models.js", "still.webp"):
        (made / name).unlink()
    for name in ("data.js", "play.js"):
        (made / name).write_text("my own work")
    before = contents(made)
    assert main(["page", "pair.toml"]) == 2
    *progress, message = capsys.readouterr().err.splitlines()
    assert message == (
        f"fabkit: {made}: was not written by fabkit, or has been changed since: data.js, "
        "play.js; move it away, choose another folder with -o, or overwrite it with --force"
    )
    assert all(line[0].isdigit() for line in progress)  # there on a slow machine
    assert contents(made) == before
    run_json("page", "pair.toml", "--force")
    assert (made / "data.js").read_text() != "my own work"


#: What is refused after a look at the set; the rest is in tests/bad.
REFUSED = {
    "--only baz": 'there is no challenge "baz"',
    "--challenges none.toml": "none.toml: there is no such file",
    "--challenges odd.toml --only odd": "odd has no solution",
    "-o odd.toml": '-o: "odd.toml" is a file; expected a folder',
}


@pytest.mark.integration
def test_bad_input(pair: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("odd.toml").write_text("outline = [[0, 0], [6, 0], [6, 1], [0, 1]]\n")
    for options, message in REFUSED.items():
        assert main(["page", pair, *options.split()]) == 2
        last = capsys.readouterr().err.splitlines()[-1]
        assert last.startswith("fabkit: ")
        assert message in last
    assert not Path("output").exists()


@pytest.mark.integration
@pytest.mark.usefixtures("unpainted")
def test_a_board_larger_than_the_bed_is_shown_whole_and_printed_in_parts(
    pair: str, run_json: Callable[..., Any]
) -> None:
    Path(pair).write_text(PAIR + '\n[[board]]\nid = "wall"\nsize = [3, 2]\n')
    small_bed = ["-s", "printer.bed_width=60 mm", "-s", "printer.bed_depth=60 mm"]
    page = run_json("page", pair, *small_bed, "-o", "page")
    assert "wall" in page["challenges"]
    models = (Path("page") / "models.js").read_text()
    assert set(json.loads(models[models.index("{") : -2])["boards"]) == {"wall"}
    with zipfile.ZipFile("page/files/pair-stl.zip") as archive:
        parts = [name for name in archive.namelist() if name.startswith("wall")]
    assert parts == [f"wall{end}.stl" for end in ("-a", "-b", "-c", "-d", "-lid-a", "-lid-b")]


@pytest.mark.integration
@pytest.mark.usefixtures("unpainted")
def test_a_page_with_one_challenge_says_how_to_make_more(run_json: Callable[..., Any]) -> None:
    """Where starting positions can be made: on a board; not where one challenge was asked for."""
    moves = 'moves = "rotations"'
    text = PAIR.replace(moves, f'{moves}\n[[board]]\nid = "tray"\nsize = [2, 3]')
    challenges = text.index("[[challenge]]")
    Path("pair.toml").write_text(text[:challenges])
    (note,) = run_json("page", "pair.toml", "--force")["notes"]
    advice = "`fabkit challenges pair.toml` makes more for the next page"
    assert note == f"there is only one challenge; {advice}"
    assert run_json("page", "pair.toml", "--only", "tray", "--force")["notes"] == []
    Path("pair.toml").write_text(PAIR)
    assert run_json("page", "pair.toml", "--force")["notes"] == []
