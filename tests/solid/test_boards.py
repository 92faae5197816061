"""The boards and lids that fabkit makes, exported, thrown about and judged on their meshes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from fabkit.drawing.draft import draft_things
from fabkit.mesh.boards.inspect import inspect_board
from fabkit.mesh.boards.reading import read_boards
from fabkit.mesh.body import Body
from fabkit.mesh.files.reading import read_bodies
from fabkit.model.accessory import accessories
from fabkit.model.library import load_set
from fabkit.model.profilefile import load_profile
from tests.support.boardmeshes import thrown


def exported(name: str, layers: Sequence[str], settings: Sequence[str], folder: Path) -> list[Body]:
    from fabkit.solid.export import write_stl
    from fabkit.solid.making import Maker

    puzzle = load_set(name)
    profile = load_profile(layers, settings, puzzle.unit_mm)
    bodies = []
    for drawing in draft_things(puzzle, accessories(puzzle, profile), profile):
        write_stl(Maker().build(drawing), folder / "x.stl")
        bodies += read_bodies(folder / "x.stl")
    return bodies


@pytest.mark.parametrize(
    ("name", "layers", "settings"),
    [
        ("iqstars", (), ("lid.kind=snap",)),
        pytest.param("iqfit", (), (), marks=pytest.mark.integration),
        pytest.param("cubimagici", ("petg",), (), marks=pytest.mark.integration),
        pytest.param("iqblock", (), ("lid.kind=none",), marks=pytest.mark.long),
        pytest.param("iqfit", (), ("lid.kind=snap",), marks=pytest.mark.long),
        pytest.param("iqstars", ("compact",), (), marks=pytest.mark.long),
        pytest.param("cubimagici", ("compact",), ("lid.kind=snap",), marks=pytest.mark.long),
    ],
)
def test_exported_boards_have_no_faults(
    name: str, layers: tuple[str, ...], settings: tuple[str, ...], tmp_path: Path
) -> None:
    bodies = exported(name, layers, settings, tmp_path)
    puzzle = load_set(name)
    profile = load_profile(layers, settings, puzzle.unit_mm)
    parts = read_boards([thrown(body, 9) for body in bodies], puzzle, profile.unit_mm)
    assert [part.kind == "lid" for part in parts] == [False, True][: len(parts)]
    wrong = [
        (one.rule, one.message)
        for part in parts
        for one in inspect_board(part, parts, puzzle, profile)
        if not one.ok
    ]
    assert wrong == []
