"""What the studio makes of a profile: values, errors, solids, plates, sections, files, checks."""

from __future__ import annotations

import base64
import io
import json
import subprocess
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from fabkit.cli import main
from fabkit.model.puzzle import PuzzleSet
from fabkit.profiles.profile_file import layer_names, load_profile
from fabkit.sets.library import load_set
from tests.output.test_page_models import unpacked
from tests.support.pairset import PAIR
from tests.support.studios import RunningStudio, running
from tests.support.trioset import TRIO

FRIDGEIQ: PuzzleSet = load_set("fridgeiq")
PIECES = [piece.id for piece in FRIDGEIQ.pieces]
#: The size of a request for a mesh that is refused.
TOO_LARGE = 64 * 2**20 + 1
TWO_PIECES: dict[str, Any] = {"name": "pair.toml", "text": PAIR}


@pytest.fixture(scope="module")
def fridgeiq(studio: RunningStudio) -> dict[str, Any]:
    return studio.project("fridgeiq")


def with_settings(project: dict[str, Any], *layers: str, **settings: str) -> dict[str, Any]:
    """A project with settings, whose keys have ``__`` for a dot."""
    keys = {key.replace("__", "."): text for key, text in settings.items()}
    return project | {"layers": list(layers), "settings": keys}


def solids(studio: RunningStudio, project: dict[str, Any], first: str = "") -> Any:
    """The faults, the models by id, in the order of their making, and the bill."""
    *events, last = studio.stream("solids", project=project, first=first)
    faults = next(event["faults"] for event in events if "faults" in event)
    models = {event["id"]: event["model"] for event in events if "model" in event}
    return faults, models, last["result"]["bill"]


def corners_mm(model: dict[str, Any]) -> Any:
    """The corners of a model of one part, shape (n, 3)."""
    content = zlib.decompress(base64.b64decode(model["mesh"]))
    return unpacked(content, model["corners"][0], model["triangles"][0])[0]


def heights_mm(model: dict[str, Any]) -> tuple[float, float]:
    """The lowest and the highest corner of a packed model."""
    z_mm = corners_mm(model)[:, 2]
    return float(z_mm.min()), float(z_mm.max())


# --- the profile ------------------------------------------------------------------------------


def test_the_form_has_every_key_with_its_value(studio: RunningStudio, fridgeiq: Any) -> None:
    changed = with_settings(fridgeiq, "compact", thickness="9 mm")
    answer = studio.call("profile", project=changed)
    keys = [setting["key"] for setting in answer["settings"]]
    assert len(keys) == len({*keys}) > 80
    assert keys == [*answer["values"]] == [*answer["reset"]]
    compact = load_profile(["compact"], (), FRIDGEIQ.profile_values)
    assert answer["values"]["thickness"] == "9 mm"
    assert answer["reset"]["thickness"] == f"{compact.thickness_mm:g} mm"
    differing = [key for key in keys if answer["values"][key] != answer["reset"][key]]
    assert differing == ["thickness"]
    names = [name for group in answer["layers"].values() for name in group]
    assert sorted(names) == sorted(layer_names())
    assert answer["faults"] == []


#: Settings, the latest last, and the key that causes the error.
CAUSES = [
    ({"thickness": "3 mm"}, "thickness"),
    ({"thickness": "8 mm", "recess__roof": "9 mm"}, "recess.roof"),
    # Either alone would be possible.
    ({"thickness": "5 mm", "recess__roof": "2 mm"}, "recess.roof"),
    ({"recess__roof": "2 mm", "thickness": "5 mm"}, "thickness"),
    ({"thickness": "thick"}, "thickness"),
    ({"unit": "1 mm", "inset": "0.2 mm"}, "unit"),
    ({"gap__max": "0.01 mm"}, "gap.max"),
    ({"gap__min": "1.5 mm"}, "gap.min"),
    ({"label__faces": "both"}, "label.faces"),
]


@pytest.mark.parametrize(("settings", "key"), CAUSES)
def test_errors_are_at_the_key_that_causes_them(
    studio: RunningStudio, fridgeiq: Any, settings: dict[str, str], key: str
) -> None:
    answer = studio.call("profile", project=with_settings(fridgeiq, **settings))
    assert {fault["key"] for fault in answer["faults"]} == {key}
    for name, text in settings.items():
        assert answer["values"][name.replace("__", ".")] == text


def test_a_contradiction_of_layers_is_at_a_key_that_it_names(
    studio: RunningStudio, fridgeiq: Any
) -> None:
    layer = studio.folder / "own.toml"
    layer.write_text('thickness = "3 mm"\n')
    answer = studio.call("profile", project=with_settings(fridgeiq, str(layer)))
    assert [fault["key"] for fault in answer["faults"]] == ["thickness"]


def test_a_saved_profile_gives_the_same_values(studio: RunningStudio, fridgeiq: Any) -> None:
    changed = with_settings(fridgeiq, "petg", thickness="9 mm", recess__fit="glue")
    file = studio.call("profile-file", project=changed)
    text, path = file["text"], studio.folder / file["name"]
    assert (path.name, file["known"], file["differs"]) == ("fridgeiq-profile.toml", "", False)
    saved = studio.call("save", name=path.name, text=text, known="")
    file = studio.call("profile-file", project=with_settings(fridgeiq, thickness="8 mm"))
    assert (file["known"], file["differs"]) == (saved["digest"], True)
    before = studio.call("profile", project=changed)
    again = studio.call("profile", project=with_settings(fridgeiq, str(path)))
    assert again["values"] == again["reset"] == before["values"]
    assert before["layers"]["profile"][str(path)] == load_profile(["petg"]).title


@pytest.mark.integration
def test_a_profile_file_that_cannot_be_read_is_named_and_can_be_given_up(tmp_path: Path) -> None:
    broken = tmp_path / "broken-profile.toml"
    broken.write_text("thickness = ")
    (tmp_path / "set-profile.toml").write_text(PAIR)
    with running(tmp_path) as studio:
        profile = studio.call("profile", project=TWO_PIECES)
        assert profile["faults"] == []
        assert profile["layers"]["profile"][str(broken)] == "broken-profile.toml"
        assert "set-profile.toml" not in str(profile["layers"])
        chosen = studio.call("profile", project=with_settings(TWO_PIECES, str(broken)))
        assert chosen["layers"] == profile["layers"]
        (fault,) = chosen["faults"]
        assert "broken-profile.toml" in fault["message"]


def test_a_profile_file_of_the_command_can_be_chosen(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text('title = "Mine"\nthickness = "9 mm"\n')
    with running(tmp_path, "-p", "own.toml") as studio:
        (path,) = json.loads(studio.get("start.json")[2])["layers"]
        project = with_settings(TWO_PIECES, path)
        profile = studio.call("profile", project=project)
    assert profile["layers"]["profile"][path] == "Mine"
    assert profile["values"]["thickness"] == "9 mm"


# --- solids -----------------------------------------------------------------------------------


@pytest.mark.integration
def test_all_parts_are_made_the_wanted_one_first(studio: RunningStudio, fridgeiq: Any) -> None:
    faults, models, bill = solids(studio, fridgeiq, first="N")
    assert faults == []
    assert next(iter(models)) == "N"
    assert sorted(models) == sorted(PIECES)
    assert all(heights_mm(model) == (0.0, 7.0) for model in models.values())
    assert bill["parts"] == len(PIECES)


@pytest.mark.integration
def test_thicker_pieces_are_higher_and_cost_more(studio: RunningStudio) -> None:
    _, _, before = solids(studio, TWO_PIECES)
    _, models, bill = solids(studio, with_settings(TWO_PIECES, thickness="10 mm"))
    assert {heights_mm(model) for model in models.values()} == {(0.0, 10.0)}
    assert bill["grams"] > before["grams"]
    assert bill["cost"]["total"] > before["cost"]["total"]


@pytest.mark.integration
def test_a_change_of_a_piece_changes_its_model_only(studio: RunningStudio) -> None:
    _, before, _ = solids(studio, TWO_PIECES)
    text = TWO_PIECES["text"].replace('id = "P"\n', 'id = "P"\nlabel = "Z"\n')
    _, after, _ = solids(studio, TWO_PIECES | {"text": text})
    assert [piece for piece in before if before[piece] != after[piece]] == ["P"]


@pytest.mark.integration
def test_the_bill_is_that_of_the_command(
    studio: RunningStudio, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, _, bill = solids(studio, with_settings(TWO_PIECES, magnet__pack="10"))
    file = tmp_path / "pair.toml"
    file.write_text(PAIR)
    assert main(["bom", str(file), "-s", "magnet.pack=10", "-o", str(tmp_path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    for key in ("cost", "magnets", "notes"):
        assert bill[key] == document[key]


@pytest.mark.needs("prusa-slicer")
def test_the_bill_has_the_print_time_of_the_slicer(tmp_path: Path) -> None:
    (tmp_path / "pair.toml").write_text(PAIR)
    output = tmp_path / "output" / "pair"
    assert main(["slice", str(tmp_path / "pair.toml"), "-o", str(output), "-q"]) == 0
    seconds = json.loads((output / "slice.json").read_text())["seconds"]
    with running(tmp_path) as studio:
        assert solids(studio, TWO_PIECES)[2]["print_seconds"] == seconds > 60
        changed = with_settings(TWO_PIECES, thickness="9 mm")
        assert solids(studio, changed)[2]["print_seconds"] is None


def test_parts_that_do_not_suit_are_told_and_the_others_made(studio: RunningStudio) -> None:
    """The magnet is too wide for the smaller piece."""
    changed = with_settings(TWO_PIECES, thickness="8 mm", magnet__diameter="16 mm")
    faults, models, bill = solids(studio, changed)
    assert {fault["key"] for fault in faults} == {"magnet.diameter"}
    assert {fault["message"].split(":")[0] for fault in faults} == {"P"}
    assert {*models} == {"Q"}
    assert bill is None


def test_an_invalid_profile_makes_nothing(studio: RunningStudio) -> None:
    (last,) = studio.stream("solids", project=with_settings(TWO_PIECES, thickness="3 mm"))
    assert last["error"]["details"]


@pytest.mark.integration
def test_plates_hold_every_copy_inside_the_bed(studio: RunningStudio) -> None:
    text = TRIO.replace('id = "Q"\n', 'id = "Q"\ncount = 2\n')
    project = with_settings({"name": "trio.toml", "text": text}, "mini")
    (*_, last) = studio.stream("plates", project=project)
    _, models, _ = solids(studio, project)
    placed = [part for plate in last["result"]["plates"] for part in plate]
    assert {"L", "J", "Q1", "Q2", "tray"} <= {*models}
    assert sorted(name for name, _ in placed) == sorted(models)
    assert last["result"]["faults"] == []
    width = depth = 180.0  # the bed of a Prusa MINI
    for name, matrix in placed:
        corners = corners_mm(models[name])
        placement = np.array(matrix).reshape(4, 4).T
        on_bed = corners @ placement[:3, :3].T + placement[:3, 3]
        assert (on_bed.min(axis=0) >= (0, 0, -1e-3)).all()
        assert (on_bed.max(axis=0)[:2] <= (width, depth)).all()


def test_a_bed_that_is_too_small_is_told_at_its_key(studio: RunningStudio) -> None:
    changed = with_settings(TWO_PIECES, thickness="8 mm", printer__bed_width="45 mm")
    (*_, last) = studio.stream("plates", project=changed)
    assert {fault["key"] for fault in last["result"]["faults"]} == {"printer.bed_width"}
    assert last["result"]["plates"] == []


@pytest.mark.integration
def test_a_change_while_solids_are_made_keeps_their_process(studio: RunningStudio) -> None:
    """Else the solids that are kept would be lost. Balls take a second each."""
    solids(studio, TWO_PIECES)
    pid = studio.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children")
    before = children.read_text()
    assert before
    long = studio.stream("solids", project=studio.project("iqfit"))
    next(event for event in long if "model" in event)
    _, models, _ = solids(studio, TWO_PIECES)
    assert [*models] == ["P", "Q"]
    assert list(long)[-1] == {"stopped": True}
    assert children.read_text() == before


def test_a_solution_is_put_on_its_board(studio: RunningStudio) -> None:
    (*_, last) = studio.stream("assembled", project=studio.project("iqblock"))
    parts = dict(last["result"]["parts"])
    assert "square" in parts
    assert len(parts) == 1 + len(load_set("iqblock").pieces)
    # All are on the floor of the tray, also those that are turned over, whose matrix turns them
    # down.
    floors = {
        matrix[14] - 7 * (matrix[10] < 0) for name, matrix in parts.items() if name != "square"
    }
    assert floors == {2}


def test_a_set_without_board_or_challenge_has_no_solution(studio: RunningStudio) -> None:
    text = '[set]\nname = "loose"\nlattice = "square"\nmoves = "rotations"\n\n'
    text += '[[piece]]\nid = "A"\nrows = ["XX", "X."]\ncolour = "#336699"\n'
    (*_, last) = studio.stream("assembled", project={"name": "loose.toml", "text": text})
    assert last["result"]["parts"] is None, last


@pytest.mark.in_turn
@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, {"thickness": 7.0, "recess-depth": 3.2, "recess-diameter": 10.1, "lead-in": 0.5}),
        ({"thickness": "9 mm", "magnet__diameter": "8 mm"}, {"thickness": 9.0, "recess-diameter": 8.1}),
        ({"recess__fit": "embedded"}, {"recess-depth": 3.2, "recess-diameter": 10.4, "floor": 0.6}),
        ({"top_chamfer": "0.3 mm"}, {"top-chamfer": 0.3, "foot-chamfer": 0.4}),
        ({"recess__fit": "none"}, {"thickness": 7.0}),
    ],
)  # fmt: skip
def test_sections_are_measured_as_the_profile_says(
    studio: RunningStudio, fridgeiq: Any, settings: dict[str, str], expected: dict[str, float]
) -> None:
    (*_, last) = studio.stream("section", project=with_settings(fridgeiq, **settings), part="B")
    measures = {measure["name"]: measure["mm"] for measure in last["result"]["measures"]}
    assert {name: measures[name] for name in expected} == pytest.approx(expected, abs=0.02)
    assert ("recess-depth" in measures) == (settings.get("recess__fit") != "none")


# --- files ------------------------------------------------------------------------------------


#: The files that were made, by their studio, what they are made from, and their kind.
_made: dict[tuple[str, str, str], tuple[str, bytes]] = {}


def made(studio: RunningStudio, project: dict[str, Any], kind: str) -> tuple[str, bytes]:
    """The name and content of a file that the studio makes; it is made once."""
    key = studio.url, json.dumps(project), kind
    if key not in _made:
        (*_, last) = studio.stream("make", project=project, kind=kind)
        name = last["result"]["name"]
        status, headers, content = studio.get(f"made/{name}?download")
        assert status == 200
        assert "attachment" in headers["content-disposition"]
        _made[key] = Path(name).name, content
    return _made[key]


def names_in(content: bytes) -> set[str]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        return {*archive.namelist()}


@pytest.mark.integration
def test_the_project_file_passes_the_check(studio: RunningStudio, tmp_path: Path) -> None:
    name, content = made(studio, with_settings(TWO_PIECES, thickness="10 mm"), "3mf")
    (tmp_path / name).write_bytes(content)
    (tmp_path / "pair.toml").write_text(PAIR)
    check = ["check", "--set", str(tmp_path / "pair.toml"), str(tmp_path / name), "-q", "-s"]
    assert main([*check, "thickness=10 mm"]) == 0
    assert main([*check, "thickness=9 mm"]) == 1


@pytest.mark.needs("prusa-slicer")
def test_a_slicer_reads_the_project_file(studio: RunningStudio, tmp_path: Path) -> None:
    name, content = made(studio, with_settings(TWO_PIECES, thickness="10 mm"), "3mf")
    (tmp_path / name).write_bytes(content)
    command = ["prusa-slicer", "--info", str(tmp_path / name)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert told.count("manifold = yes") == 2
    assert "manifold = no" not in told


@pytest.mark.integration
def test_meshes_come_in_an_archive_with_their_profile(studio: RunningStudio) -> None:
    name, content = made(studio, TWO_PIECES, "stl")
    assert name == "pair-stl.zip"
    assert names_in(content) == {"P.stl", "Q.stl", "profile.toml"}


@pytest.mark.integration
def test_set_and_profile_can_be_used_with_the_commands(
    studio: RunningStudio, fridgeiq: Any, tmp_path: Path
) -> None:
    _, content = made(studio, with_settings(fridgeiq, thickness="10 mm"), "toml")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(tmp_path)
    assert load_set(str(tmp_path / "fridgeiq.toml")).pieces == FRIDGEIQ.pieces
    assert load_profile([str(tmp_path / "profile.toml")]).thickness_mm == 10


@pytest.mark.integration
def test_a_step_file_is_made(studio: RunningStudio) -> None:
    name, content = made(studio, TWO_PIECES, "step")
    assert name == "pair.step"
    assert content.startswith(b"ISO-10303-21;")


@pytest.mark.integration
def test_booklet_and_page_are_made(studio: RunningStudio) -> None:
    name, content = made(studio, TWO_PIECES, "booklet")
    assert name == "booklet.pdf"
    assert content.startswith(b"%PDF-")
    _, content = made(studio, TWO_PIECES, "page")
    assert {"index.html", "models.js", "play.js", "files/pair.3mf"} <= names_in(content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert max(Image.open(archive.open("still.webp")).size) == 1200


def test_an_unknown_kind_of_file_is_refused(studio: RunningStudio) -> None:
    (last,) = studio.stream("make", project=TWO_PIECES, kind="gcode")
    assert "there is no kind of files" in last["error"]["text"]


# --- meshes from elsewhere --------------------------------------------------------------------


def send(studio: RunningStudio, name: str, content: bytes) -> tuple[int, Any]:
    status, _, body = studio.request("POST", f"{studio.root}meshes/{name}", content)
    return status, body if status == 405 else json.loads(body)


def checked(studio: RunningStudio, project: dict[str, Any], *names: str) -> Any:
    (*_, last) = studio.stream("check", project=project, names=names)
    return last


def test_a_broken_mesh_is_shown(studio: RunningStudio) -> None:
    import trimesh

    box = trimesh.creation.box((20, 20, 7))
    box.update_faces(np.arange(len(box.faces)) > 0)
    assert send(studio, "open.stl", box.export(file_type="stl")) == (200, {})
    report = checked(studio, TWO_PIECES, "open.stl")["result"]
    assert not report["ok"]
    assert any("open.stl: watertight" in cause for cause in report["causes"])
    status, _, page = studio.get(f"made/{report['page']}")
    assert status == 200
    assert b"<svg" in page
    assert b"open.stl" in page


@pytest.mark.integration
def test_the_own_meshes_pass(studio: RunningStudio) -> None:
    _, content = made(studio, TWO_PIECES, "stl")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = [name for name in archive.namelist() if name.endswith(".stl")]
        for name in names:
            assert send(studio, name, archive.read(name))[0] == 200
    report = checked(studio, TWO_PIECES, *names)["result"]
    assert report["ok"], report["causes"]
    assert report["causes"] == []


def test_what_is_no_mesh_is_refused(studio: RunningStudio) -> None:
    assert send(studio, "note.stl", b"no mesh")[0] == 200
    assert "note.stl" in checked(studio, TWO_PIECES, "note.stl")["error"]["text"]


@pytest.mark.parametrize("name", ["%2e%2e%2fout.stl", "..%5cout.stl", ".out.stl", "%00", "x" * 300])
def test_meshes_stay_in_their_folder(studio: RunningStudio, name: str) -> None:
    assert send(studio, name, b"solid x\nendsolid x\n")[0] in (200, 400, 405)  # 405: another path
    folder = studio.folder
    assert not [*folder.glob("*out*"), *folder.parent.glob("*out.stl")]


def test_a_mesh_that_is_too_large_is_refused(studio: RunningStudio) -> None:
    status, answer = send(studio, "large.stl", bytes(TOO_LARGE))
    assert status == 413
    assert "64 MiB" in answer["error"]["text"]
