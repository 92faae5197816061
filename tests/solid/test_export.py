"""STEP files read back in CadQuery: solids, names, colours, volumes; and the same bytes again."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import cadquery as cq
import pytest

from fabkit.build import export
from fabkit.drawing.draft import draft_all
from fabkit.model.library import load_set
from fabkit.model.profile import Profile
from fabkit.model.profilefile import load_profile
from fabkit.solid.export import NamedSolid, write_step, write_stl
from fabkit.solid.pieces import Workshop
from tests.conftest import ROOT
from tests.support import analytic
from tests.support.prints import NO_STUBS

EXPORTS = [
    pytest.param(("iqstars", ("default",), (NO_STUBS, "board.make=none"))),
    pytest.param(("fridgeiq", ("compact",), ("recess.fit=ribs",)), marks=pytest.mark.integration),
    pytest.param(("fridgeiq", ("flippable",), ()), marks=pytest.mark.long),
    pytest.param(("cubimagici", ("default",), ("board.make=none",)), marks=pytest.mark.long),
]


@dataclass(frozen=True)
class Exported:
    """A folder of STEP files, and what they must hold."""

    folder: Path
    set_name: str
    profile: Profile
    drawings: list[analytic.Drawing]
    colours: dict[str, str]
    volumes_mm3: dict[str, float]

    @property
    def ids(self) -> list[str]:
        return [drawing.id for drawing in self.drawings]


@pytest.fixture(scope="session", params=EXPORTS, ids=str)
def exported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Exported:
    set_name, presets, changes = request.param
    folder = tmp_path_factory.mktemp("step")
    puzzle, profile = load_set(set_name), load_profile(presets, changes)
    done = export(puzzle, profile, ["step"], folder)
    drawings = analytic.drawings(set_name)
    volumes_mm3 = {}
    for drawing in drawings:
        cap_height_mm = done.pieces[drawing.id]["cap_height_mm"]
        glyph = analytic.glyph(drawing.label, cap_height_mm)
        volumes_mm3[drawing.id] = analytic.volume_mm3(drawing, profile, glyph.area_mm2)
    colours = {drawing.id: drawing.colour for drawing in drawings if drawing.colour}
    return Exported(folder, set_name, profile, drawings, colours, volumes_mm3)


def check_part(part: cq.Assembly, expected: Exported) -> None:
    """One valid solid of the right volume, colour and place."""
    solid = part.obj
    assert isinstance(solid, cq.Shape)
    assert len(solid.Solids()) == 1
    assert solid.isValid()
    assert solid.Volume() == pytest.approx(expected.volumes_mm3[part.name], rel=1e-5)
    colour = expected.colours[part.name]
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    assert part.color is not None
    assert part.color.toTuple() == pytest.approx((*channels, 1.0), abs=1e-3)
    (drawing,) = (one for one in expected.drawings if one.id == part.name)
    box = solid.moved(part.loc).BoundingBox()
    left, bottom, right, top = analytic.printed(drawing.outline, expected.profile).bounds
    assert (box.xmin, box.ymin, box.zmin) == pytest.approx((left, bottom, 0), abs=1e-5)
    top_mm = expected.profile.thickness_mm
    assert (box.xmax, box.ymax, box.zmax) == pytest.approx((right, top, top_mm), abs=1e-5)


def test_files_hold_named_coloured_solids(exported: Exported) -> None:
    """One file for each piece and one for the set; they open as plain shapes, too."""
    files = {path.stem: path for path in (exported.folder / "step").iterdir()}
    assert set(files) == set(exported.ids)
    for name in exported.ids[:4]:
        (part,) = cq.Assembly.importStep(str(files[name])).children
        assert part.name == name
        check_part(part, exported)
    path = str(exported.folder / f"{exported.set_name}.step")
    assert "'2000-01-01T00:00:00'" in Path(path).read_text()[:2000]
    whole = cq.Assembly.importStep(path)
    assert whole.name == exported.set_name
    assert [part.name for part in whole.children] == exported.ids
    for part in whole.children:
        check_part(part, exported)
    solids = cq.importers.importStep(path).solids().vals()
    assert all(solid.isValid() for solid in solids)
    volumes = sorted(solid.Volume() for solid in solids)
    assert volumes == pytest.approx(sorted(exported.volumes_mm3.values()), rel=1e-5)


def write_all(
    folder: Path, backwards: bool, ids: str = "BDEILQRU", presets: tuple[str, ...] = ("default",)
) -> dict[str, str]:
    """The hashes of STL, STEP and set files, for pieces built and written in either order.

    There are both pairs that could be alike, and pieces with one magnet and with two.
    """
    puzzle = load_set("fridgeiq")
    pieces = [piece for piece in puzzle.pieces if piece.id in ids]
    for preset in presets[::-1] if backwards else presets:
        (folder / preset).mkdir(parents=True)
        drawings = draft_all(puzzle, pieces, load_profile([preset]))
        workshop, parts = Workshop(), {}
        for one in drawings[::-1] if backwards else drawings:
            parts[one.piece] = NamedSolid(one.piece, one.colour, workshop.build(one))
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
