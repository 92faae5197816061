"""The boards and lids that fabkit makes, exported, thrown about and judged on their meshes."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabkit.drawing.draft import draft_all, draft_printable
from fabkit.mesh.board_fit import BoardFitter
from fabkit.mesh.files.readers import read_meshes
from fabkit.mesh.rules.board import inspect_board
from fabkit.profiles.accessory import accessories
from fabkit.profiles.profile_file import load_profile
from fabkit.sets.library import load_set
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
    from fabkit.solid.builder import build_solid
    from fabkit.solid.export import write_stl

    puzzle = load_set(name)
    profile = load_profile(layers, settings, puzzle.profile_values)
    bodies = []
    for drawing in draft_all(puzzle, accessories(puzzle, profile), profile, draft_printable):
        write_stl(build_solid(drawing), tmp_path / "x.stl")
        bodies += read_meshes(tmp_path / "x.stl")
    parts = BoardFitter(puzzle).fit([thrown(body, 9) for body in bodies], profile.unit_mm)
    assert [part.kind == "lid" for part in parts] == [False, True][: len(parts)]
    found = [one for part in parts for one in inspect_board(part, parts, puzzle, profile)]
    assert [(one.rule, one.message) for one in found if not one.ok] == []
