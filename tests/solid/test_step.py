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
    ("fridgeiq", ("default",), ()),
    ("fridgeiq", ("flippable",), ()),
    ("fridgeiq", ("compact",), ("recess.fit=ribs",)),
    ("iqstars", ("default",), (NO_STUBS, "board.make=none")),
    ("cubimagici", ("default",), ("board.make=none",)),
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


@pytest.fixture(
    scope="session", params=EXPORTS, ids=lambda order: " ".join(sum(order[1:], order[:1]))
)
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


@pytest.mark.every(3)
def test_every_piece_has_a_file_of_one_named_coloured_solid(exported: Exported) -> None:
    names = {path.stem for path in (exported.folder / "step").iterdir()}
    assert names == set(exported.ids)
    for name in names:
        whole = cq.Assembly.importStep(str(exported.folder / "step" / f"{name}.step"))
        (part,) = whole.children
        assert part.name == name
        check_part(part, exported)


@pytest.mark.every(3)
def test_the_file_of_the_set_holds_all_pieces(exported: Exported) -> None:
    whole = cq.Assembly.importStep(str(exported.folder / f"{exported.set_name}.step"))
    assert whole.name == exported.set_name
    assert [part.name for part in whole.children] == exported.ids
    for part in whole.children:
        check_part(part, exported)


@pytest.mark.every(3)
def test_files_open_as_plain_shapes_too(exported: Exported) -> None:
    whole = cq.importers.importStep(str(exported.folder / f"{exported.set_name}.step"))
    solids = whole.solids().vals()
    assert all(solid.isValid() for solid in solids)
    volumes = sorted(solid.Volume() for solid in solids)
    assert volumes == pytest.approx(sorted(exported.volumes_mm3.values()), rel=1e-5)
    for name in exported.ids[:3]:
        one = cq.importers.importStep(str(exported.folder / "step" / f"{name}.step"))
        assert one.solids().size() == 1
        volume = one.solids().vals()[0].Volume()
        assert volume == pytest.approx(exported.volumes_mm3[name], rel=1e-5)


def test_a_wrong_solid_is_told(exported: Exported) -> None:
    path = exported.folder / "step" / f"{exported.ids[0]}.step"
    (part,) = cq.Assembly.importStep(str(path)).children
    check_part(part, exported)
    larger = cq.Assembly(part.obj.scale(1.0001), name=part.name, color=part.color)
    paler = cq.Assembly(part.obj, name=part.name, color=cq.Color("#fefefe"))
    moved = cq.Assembly(part.obj, cq.Location(0.01, 0, 0), part.name, part.color)
    for wrong in (larger, paler, moved):
        with pytest.raises(AssertionError):
            check_part(wrong, exported)


# --- the same bytes again -------------------------------------------------------------------

PRESETS = ("default", "flippable")
#: Both pairs that could be alike, and pieces with one magnet and with two.
PIECES = "BDEILQRU"


def write_all(folder: Path, backwards: bool) -> dict[str, str]:
    """The hashes of STL, STEP and set files, for pieces built and written in either order."""
    puzzle = load_set("fridgeiq")
    pieces = [piece for piece in puzzle.pieces if piece.id in PIECES]
    hashes = {}
    for preset in PRESETS[::-1] if backwards else PRESETS:
        (folder / preset).mkdir(parents=True)
        blueprints = draft_all(puzzle, pieces, load_profile([preset]))
        workshop, parts = Workshop(), {}
        for blueprint in blueprints[::-1] if backwards else blueprints:
            name = blueprint.piece
            parts[name] = NamedSolid(name, blueprint.colour, workshop.build(blueprint))
        for kind in ("step", "stl") if backwards else ("stl", "step"):
            for name, part in parts.items():
                path = folder / preset / f"{name}.{kind}"
                if kind == "step":
                    write_step([part], puzzle.name, path)
                else:
                    write_stl(part.solid, path)
        in_order = [parts[piece.id] for piece in pieces]
        write_step(in_order, puzzle.name, folder / preset / "fridgeiq.step")
    for path in sorted(folder.rglob("*.*")):
        hashes[path.relative_to(folder).as_posix()] = sha256(path.read_bytes()).hexdigest()
    return hashes


def hashes_from_another_process(folder: Path) -> dict[str, str]:
    """The same, backwards, in a process of its own with other hashes of strings."""
    code = (
        "import sys; from pathlib import Path; from tests.solid.test_step import write_all; "
        f"found = write_all(Path({str(folder)!r}), backwards=True); "
        "print(*(f'{name} {hash}' for name, hash in found.items()), sep='\\n')"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return dict(line.split() for line in done.stdout.splitlines())


@pytest.mark.long
def test_the_same_bytes_in_another_order_and_in_another_process(tmp_path: Path) -> None:
    first = write_all(tmp_path / "first", backwards=False)
    assert len(first) == len(PRESETS) * (2 * len(PIECES) + 1)
    assert write_all(tmp_path / "again", backwards=True) == first
    assert hashes_from_another_process(tmp_path / "other") == first
    # Only two pairs of pieces could be alike, E and R or B and Q, and their letters differ.
    assert len(set(first.values())) == len(first)
