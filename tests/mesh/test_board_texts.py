"""Texts in the floor of a tray, read back from its mesh, and blockers: faults planted one by one."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from fabkit.build.artifacts import Artifacts
from fabkit.core.errors import InputError
from fabkit.drawing.boards.csg import BoardDrawing
from fabkit.drawing.draft import draft_all, draft_printable
from fabkit.drawing.glyphs import strokes_are_at_least
from fabkit.mesh.board_fit import BoardFitter
from fabkit.mesh.files.readers import read_meshes
from fabkit.mesh.finding import Finding
from fabkit.mesh.mesh import Mesh
from fabkit.mesh.rules.board import inspect_board
from fabkit.model.blockers import BLOCKER
from fabkit.model.puzzle import Label, PuzzleSet
from fabkit.printing.bom import make_bom
from fabkit.printing.plate import arrange_plates
from fabkit.profiles.accessory import accessories, printables
from fabkit.profiles.profile_file import load_profile
from fabkit.sets.library import load_set
from fabkit.verify.reports import check, verify
from fabkit.verify.scan import Scanner

#: A tray of four texts, on which a roll of two dice puts blockers.
SET = """
[set]
name = "four"
lattice = "square"
moves = "rotations"
[[board]]
id = "tray"
size = [3, 2]
labels = ["14 15", "6 9", "Jan May"]
open = 2
[[family]]
id = "roll"
groups = ["14 15", "6 9"]
blocked = true
[[piece]]
id = "L"
rows = ["X.", "XX"]
[[piece]]
id = "I"
rows = ["X"]
"""
NO_LID = "lid.kind=none", "recess.fit=none"


@cache
def four() -> PuzzleSet:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "four.toml"
        path.write_text(SET)
        return load_set(str(path))


def mesh_of(drawing: BoardDrawing) -> Mesh:
    from fabkit.solid.builder import build_solid
    from fabkit.solid.export import write_stl

    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{drawing.piece}.stl"
        write_stl(build_solid(drawing), path)
        (mesh,) = read_meshes(path)
    return mesh


def tray(labels: tuple[Label, ...] | None = None, *settings: str) -> BoardDrawing:
    """The drawing of the tray with other labels."""
    puzzle, profile = four(), load_profile((), (*NO_LID, *settings))
    accessory = accessories(puzzle, profile)[0]
    if labels is not None:
        accessory = replace(accessory, board=replace(accessory.board, labels=labels))
    drawing = draft_printable(puzzle, accessory, profile)
    assert isinstance(drawing, BoardDrawing)
    return drawing


def failed(drawing: BoardDrawing) -> dict[str, Finding]:
    """The failed findings on the tray of a drawing."""
    puzzle = four()
    (part,) = BoardFitter(puzzle).fit([mesh_of(drawing)], 20.0)
    findings = inspect_board(part, [part], puzzle, load_profile((), NO_LID))
    assert {"board-texts"} <= {finding.rule for finding in findings}
    return {finding.rule: finding for finding in findings if not finding.ok}


def exchanged(first: str, second: str) -> tuple[Label, ...]:
    names = {first: second, second: first}
    return tuple(
        Label(names.get(label.text, label.text), label.cells) for label in four().boards[0].labels
    )


def test_a_tray_as_drawn_has_its_texts_with_strokes_that_can_be_printed() -> None:
    drawing = tray()
    assert failed(drawing) == {}
    assert drawing.label is not None
    # In capitals, since the strokes of small letters are too thin at this size.
    assert drawing.label.text == "14 15 6 9 JAN MAY"
    assert strokes_are_at_least(drawing.label.front.polygon(), 0.8)
    assert drawing.label_low_mm == pytest.approx(1.4)


@pytest.mark.integration
def test_faults_of_texts_are_found_and_named() -> None:
    finding = failed(tray(exchanged("14", "15")))["board-texts"]
    assert finding.value == 4
    assert "15 is on the cell of 14, 14 is on the cell of 15" in finding.message
    assert finding.where is not None
    assert finding.where.area == pytest.approx(2 * 20**2)
    assert "9 is on the cell of 6" in failed(tray(exchanged("6", "9")))["board-texts"].message
    without = tuple(label for label in four().boards[0].labels if label.text != "May")
    assert "May is missing" in failed(tray(without))["board-texts"].message
    shallow = failed(tray(None, "board.text_depth=0.4 mm"))
    assert {*shallow} == {"board-text-depth"}


@pytest.mark.integration
def test_a_mirrored_text_and_thin_strokes_are_found() -> None:
    drawing = tray()
    label = drawing.label
    assert label is not None
    middle_x, middle_y = label.centre_mm
    centred = label.front.moved(-middle_x, -middle_y)
    mirrored = centred.moved(middle_x, middle_y, mirrored=True)
    finding = failed(replace(drawing, label=replace(label, front=mirrored)))["board-texts"]
    assert "mirror image" in finding.message
    # Smaller letters at the same places of the middle two cells have thin strokes.
    thin = centred.moved(middle_x, middle_y, 0.8)
    assert "board-text-stroke" in failed(replace(drawing, label=replace(label, front=thin)))


def test_a_tray_without_texts_has_one_plain_finding() -> None:
    wrong = failed(replace(tray(None, "board.text=none", "board.title=0 mm"), label=None))
    assert {*wrong} == {"board-texts"}
    assert wrong["board-texts"].message == (
        "no text can be read in the floor; expected 6, each on its cell"
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (("board.floor=1 mm",), "leave less than 0.6 mm of a floor of 1 mm; choose a smaller"),
        (("unit=10 mm",), 'the text "JAN" must be 4.9 mm high to have strokes of label.stroke 0.8'),
    ],
)
def test_texts_that_cannot_be_made_are_refused(settings: tuple[str, ...], message: str) -> None:
    puzzle, profile = four(), load_profile((), (*NO_LID, *settings))
    with pytest.raises(InputError, match="board tray") as caught:
        draft_all(puzzle, accessories(puzzle, profile), profile, draft_printable)
    assert message in str(caught.value)


@pytest.mark.integration
def test_a_blocker_is_printed_as_often_as_a_roll_needs_it() -> None:
    puzzle, profile = four(), load_profile((), NO_LID)
    parts = printables(puzzle, profile)
    assert [part.id for part in parts] == ["L", "I", BLOCKER, "tray"]
    artifacts = Artifacts(puzzle, parts, profile)
    (plate,) = arrange_plates(list(artifacts.drawings.values()), profile)
    names = [placement.name for placement in plate.placements]
    assert sorted(names) == ["I", "L", BLOCKER, BLOCKER, "tray"]
    drawings = list(artifacts.drawings.values())
    bom = make_bom(
        puzzle.name, drawings, {part.id: artifacts.mesh(part) for part in parts}, profile
    )
    assert [(line.piece, line.count) for line in bom.pieces if line.count > 1] == [(BLOCKER, 2)]


def test_check_and_verify_find_a_wide_blocker_a_missing_one_and_a_wrong_text() -> None:
    from fabkit.solid.builder import build_solid
    from fabkit.solid.export import write_stl

    puzzle, profile = four(), load_profile((), NO_LID)
    wide = replace(profile, inset_mm=-0.05)
    drawings = {
        part.id: draft_printable(puzzle, part, wide if part.id == BLOCKER else profile)
        for part in printables(puzzle, profile)
    }
    with TemporaryDirectory() as folder:
        meshes = []
        for name, drawing in drawings.items():
            path = Path(folder) / f"{name}.stl"
            write_stl(build_solid(tray(exchanged("6", "9")) if name == "tray" else drawing), path)
            meshes += read_meshes(path)
    scan = Scanner(meshes, puzzle).scan(20.0)
    report = check(scan, profile)
    rules = {part.key: {finding.rule for finding in part.failed} for part in report.all_parts}
    assert rules == {"L": set(), "I": set(), BLOCKER: rules[BLOCKER], "tray": {"board-texts"}}
    assert "gap-min" in rules[BLOCKER]
    wrong = [finding for finding in verify(scan, profile).findings if not finding.ok]
    assert [finding.rule for finding in wrong] == ["board-texts"]
    without = [mesh for mesh in meshes if BLOCKER not in mesh.name]
    report_without = verify(Scanner(without, puzzle).scan(20.0), profile)
    missing = [finding.message for finding in report_without.findings if finding.rule == "missing"]
    assert missing == ["missing pieces (blocker): 1; expected 0"]
