"""STEP files read back in CadQuery: solids, names, colours, volumes; and the same bytes again."""

from __future__ import annotations

import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fabkit.build.artifacts import Artifacts
from fabkit.build.export import export
from fabkit.drawing.draft import draft_all, draft_flat_piece
from fabkit.profiles.profile_file import load_profile
from fabkit.sets.library import load_set
from tests.conftest import ROOT
from tests.support import analytic
from tests.support.prints import NO_PEGS

if TYPE_CHECKING:
    import cadquery as cq


@pytest.mark.in_turn
@pytest.mark.parametrize(
    ("set_name", "presets", "changes"),
    [
        ("iqstars", ("default",), (NO_PEGS, "board.make=none")),
        pytest.param("fridgeiq", ("compact",), ("recess.fit=ribs",), marks=pytest.mark.integration),
        pytest.param("fridgeiq", ("flippable",), (), marks=pytest.mark.long),
        pytest.param("cubimagici", ("default",), ("board.make=none",), marks=pytest.mark.long),
    ],
)
def test_files_hold_named_coloured_solids(
    set_name: str, presets: tuple[str, ...], changes: tuple[str, ...], tmp_path: Path
) -> None:
    """One file for each piece and one for the set; they open as plain shapes, too."""
    import cadquery as cq

    puzzle, profile = load_set(set_name), load_profile(presets, changes)
    done = export(Artifacts(puzzle, puzzle.pieces, profile), ["step"], tmp_path)
    drawings = {one.id: one for one in analytic.drawings(set_name)}
    volumes_mm3 = {}
    for name, drawing in drawings.items():
        glyph = analytic.glyph(drawing.label, done.pieces[name]["cap_height_mm"])
        volumes_mm3[name] = analytic.volume_mm3(drawing, profile, glyph.area_mm2)

    def check(part: cq.Assembly) -> None:
        """One valid solid of the right volume, colour and place."""
        solid, drawing = part.obj, drawings[part.name]
        assert isinstance(solid, cq.Shape)
        assert len(solid.Solids()) == 1
        assert solid.isValid()
        assert solid.Volume() == pytest.approx(volumes_mm3[part.name], rel=1e-5)
        channels = [int(drawing.colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        assert part.color is not None
        assert part.color.toTuple() == pytest.approx((*channels, 1.0), abs=1e-3)
        box = solid.moved(part.loc).BoundingBox()
        left, bottom, right, top = analytic.printed_outline(drawing.outline, profile).bounds
        low, high = (left, bottom, 0), (right, top, profile.thickness_mm)
        assert (box.xmin, box.ymin, box.zmin) == pytest.approx(low, abs=1e-5)
        assert (box.xmax, box.ymax, box.zmax) == pytest.approx(high, abs=1e-5)

    files = {path.stem: path for path in (tmp_path / "step").iterdir()}
    assert set(files) == set(drawings)
    for name in list(drawings)[:4]:
        (part,) = cq.Assembly.importStep(str(files[name])).children
        assert part.name == name
        check(part)
    path = tmp_path / f"{set_name}.step"
    assert "'2000-01-01T00:00:00'" in path.read_text()[:2000]
    whole = cq.Assembly.importStep(str(path))
    assert whole.name == set_name
    assert [part.name for part in whole.children] == list(drawings)
    for part in whole.children:
        check(part)
    solids = cq.importers.importStep(str(path)).solids().vals()
    assert all(solid.isValid() for solid in solids)
    volumes = sorted(solid.Volume() for solid in solids)
    assert volumes == pytest.approx(sorted(volumes_mm3.values()), rel=1e-5)


def write_all(
    folder: Path, backwards: bool, ids: str = "BDEILQRU", presets: tuple[str, ...] = ("default",)
) -> dict[str, str]:
    """The hashes of STL, STEP and set files, for pieces built and written in either order.

    There are both pairs that could be alike, and pieces with one magnet and with two.
    """
    from fabkit.solid.builder import build_solid
    from fabkit.solid.export import NamedSolid, write_step, write_stl

    puzzle = load_set("fridgeiq")
    pieces = [piece for piece in puzzle.pieces if piece.id in ids]
    for preset in presets[::-1] if backwards else presets:
        (folder / preset).mkdir(parents=True)
        drawings = draft_all(puzzle, pieces, load_profile([preset]), draft_flat_piece)
        parts = {}
        for one in drawings[::-1] if backwards else drawings:
            parts[one.piece] = NamedSolid(one.piece, one.colour, build_solid(one))
        for kind in ("step", "stl") if backwards else ("stl", "step"):
            for name, part in parts.items():
                path = folder / preset / f"{name}.{kind}"
                if kind == "step":
                    write_step([part], puzzle.name, path)
                else:
                    write_stl(part.solid, path)
        in_order = [parts[piece.id] for piece in pieces]
        write_step(in_order, puzzle.name, folder / preset / "fridgeiq.step")
    return {
        path.relative_to(folder).as_posix(): sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*.*"))
    }


def test_the_same_bytes_in_another_order(tmp_path: Path) -> None:
    first = write_all(tmp_path / "first", backwards=False, ids="BLQ")
    assert len(first) == len(set(first.values())) == 2 * 3 + 1
    assert write_all(tmp_path / "again", backwards=True, ids="BLQ") == first


@pytest.mark.integration
def test_the_same_bytes_in_another_process(tmp_path: Path) -> None:
    """Backwards, and with other hashes of strings."""
    presets = ("default", "flippable")
    first = write_all(tmp_path / "first", backwards=False, presets=presets)
    code = (
        "import sys; from pathlib import Path; from tests.solid.test_export import write_all; "
        f"found = write_all(Path(sys.argv[1]), backwards=True, presets={presets}); "
        "print(*(f'{name} {hash}' for name, hash in found.items()), sep='\\n')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "other")],
        cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": "1"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert dict(line.split() for line in done.stdout.splitlines()) == first
