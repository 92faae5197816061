"""The boards and lids that fabkit makes, exported, thrown about and judged on their meshes."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabkit.drawing.draft import draft_things
from fabkit.mesh.boards.recognise import read_boards
from fabkit.mesh.boards.rules import inspect_board
from fabkit.mesh.files.reading import read_bodies
from fabkit.model.accessory import accessories
from fabkit.model.library import load_set
from fabkit.model.profilefile import load_profile
from fabkit.solid.export import write_stl
from fabkit.solid.making import Maker
from tests.support.ballmeshes import thrown


@pytest.mark.integration
@pytest.mark.parametrize(
    ("name", "layers", "settings"),
    [
        ("iqstars", (), ("lid.kind=snap",)),
        ("iqfit", (), ()),
        ("cubimagici", ("petg",), ()),
        pytest.param("iqblock", (), ("lid.kind=none",), marks=pytest.mark.long),
        pytest.param("iqfit", (), ("lid.kind=snap",), marks=pytest.mark.long),
        pytest.param("iqstars", ("compact",), (), marks=pytest.mark.long),
        pytest.param("cubimagici", ("compact",), ("lid.kind=snap",), marks=pytest.mark.long),
    ],
)
def test_exported_boards_have_no_faults(
    name: str, layers: tuple[str, ...], settings: tuple[str, ...], tmp_path: Path
) -> None:
    puzzle = load_set(name)
    profile = load_profile(layers, settings, puzzle.unit_mm)
    bodies = []
    for drawing in draft_things(puzzle, accessories(puzzle, profile), profile):
        write_stl(Maker().build(drawing), tmp_path / "x.stl")
        bodies += read_bodies(tmp_path / "x.stl")
    parts = read_boards([thrown(body, 9) for body in bodies], puzzle, profile.unit_mm)
    assert [part.kind == "lid" for part in parts] == [False, True][: len(parts)]
    found = [one for part in parts for one in inspect_board(part, parts, puzzle, profile)]
    assert [(one.rule, one.message) for one in found if not one.ok] == []
