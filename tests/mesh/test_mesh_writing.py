"""3MF and GLB files as other programs read them: lib3mf's strict reader, a plain XML parser, trimesh, fabkit."""

from __future__ import annotations

import io
import tomllib
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import lib3mf
import numpy as np
import pytest
import shapely
import trimesh
from PIL import Image

from fabkit.build.assembly_layout import picture_artifacts
from fabkit.build.page_assets import glb_models
from fabkit.core.errors import OutsideError
from fabkit.mesh.body import Body
from fabkit.mesh.files.glb import GlbPart, write_glb
from fabkit.mesh.files.reading import read_bodies
from fabkit.mesh.files.writing3mf import MODEL_CONFIG, Object3mf, Package3mf, Solid3mf, write_3mf
from fabkit.model.library import load_set
from fabkit.model.profilefile import load_profile
from fabkit.output.png import Patch, thumbnail
from fabkit.output.render.scene import corner_normals
from tests.conftest import ROOT
from tests.support.glbfiles import read_glb

CORE = "{http://schemas.microsoft.com/3dmanufacturing/core/2015/02}"


def box(x: float, y: float, z: float, side: float = 10.0) -> Body:
    mesh = trimesh.creation.box((side, side, side)).apply_translation((x, y, z))
    return Body("", np.asarray(mesh.vertices, float), np.asarray(mesh.faces, np.int64))


def two_boxes() -> Package3mf:
    """One object of one colour, one of two solids that touch."""
    plain = Object3mf("A", (Solid3mf("A", "#e69f00", box(5, 5, 5)),))
    letters = (
        Solid3mf("B & <co>", "#0072b2", box(25, 5, 5)),
        Solid3mf("B letter", "#ffffff", box(25, 5, 15), extruder=2),
    )
    picture = thumbnail([Patch(shapely.box(0, 0, 20, 10), "#e69f00")])
    return Package3mf(
        (plain, Object3mf("B & <co>", letters)),
        {"Title": 'Two & "boxes" <b>', "Application": "fabkit", "Profile": "default: PLA"},
        picture,
        {"Metadata/some.xml": b"<some/>"},
    )


def model_of(content: bytes) -> Any:
    model = lib3mf.get_wrapper().CreateModel()
    reader = model.QueryReader("3mf")
    reader.SetStrictModeActive(True)
    reader.ReadFromBuffer(content)
    assert [reader.GetWarning(at) for at in range(reader.GetWarningCount())] == []
    return model


def test_the_strict_reader_has_nothing_to_say() -> None:
    model = model_of(write_3mf(two_boxes()))
    assert model.GetUnit() == lib3mf.ModelUnit.MilliMeter
    meshes = model.GetMeshObjects()
    found = []
    while meshes.MoveNext():
        mesh = meshes.GetCurrentMeshObject()
        assert mesh.IsManifoldAndOriented()
        found.append((mesh.GetName(), mesh.GetVertexCount(), mesh.GetTriangleCount()))
    assert found == [("A", 8, 12), ("B & <co>", 16, 24)]
    assert model.GetBuildItems().Count() == 2


def test_colours_and_metadata_survive() -> None:
    model = model_of(write_3mf(two_boxes()))
    colours = {}
    meshes = model.GetMeshObjects()
    while meshes.MoveNext():
        mesh = meshes.GetCurrentMeshObject()
        for triangle in range(mesh.GetTriangleCount()):
            one = mesh.GetTriangleProperties(triangle)
            group = model.GetBaseMaterialGroupByID(one.ResourceID)
            colour = group.GetDisplayColor(one.PropertyIDs[0])
            text = f"#{colour.Red:02x}{colour.Green:02x}{colour.Blue:02x}"
            colours.setdefault(mesh.GetName(), {}).setdefault(text, 0)
            colours[mesh.GetName()][text] += 1
    assert colours == {"A": {"#e69f00": 12}, "B & <co>": {"#0072b2": 12, "#ffffff": 12}}
    group = model.GetMetaDataGroup()
    told = {group.GetMetaData(at).GetName(): group.GetMetaData(at).GetValue() for at in range(3)}
    assert told == {
        "Title": 'Two & "boxes" <b>',
        "Application": "fabkit",
        "Profile": "default: PLA",
    }


def test_fabkit_reads_what_it_writes(tmp_path: Path) -> None:
    path = tmp_path / "two.3mf"
    path.write_bytes(write_3mf(two_boxes()))
    bodies = read_bodies(path)
    assert [body.name for body in bodies] == ["two.3mf: A", "two.3mf: B _ _co_"]
    assert bodies[0].vertices.min() == 0


def test_the_package_holds_the_picture_and_what_slicers_look_for() -> None:
    archive = zipfile.ZipFile(io.BytesIO(write_3mf(two_boxes())))
    assert archive.testzip() is None
    assert archive.read("Metadata/some.xml") == b"<some/>"
    (name,) = [name for name in archive.namelist() if name.endswith(".png")]
    picture = Image.open(io.BytesIO(archive.read(name)))
    assert picture.size == (256, 256)
    assert picture.getpixel((128, 128)) == (0xE6, 0x9F, 0x00, 255)
    assert picture.getpixel((2, 2))[3] == 0
    relations = archive.read("_rels/.rels").decode()
    assert "metadata/thumbnail" in relations
    root = ElementTree.fromstring(archive.read(MODEL_CONFIG))
    model = ElementTree.fromstring(archive.read("3D/3dmodel.model"))
    ids = [one.get("id") for one in model.iter(f"{CORE}object")]
    assert [one.get("id") for one in root] == ids
    ranges = [(v.get("firstid"), v.get("lastid")) for v in root.iter("volume")]
    assert ranges == [("0", "11"), ("0", "11"), ("12", "23")]
    names = [m.get("value") for m in root.iter("metadata") if m.get("key") == "name"]
    assert names == ["A", "A", "B & <co>", "B & <co>", "B letter"]
    extruders = [m.get("value") for m in root.iter("metadata") if m.get("key") == "extruder"]
    assert extruders == ["1", "1", "2"]


def test_what_the_library_refuses_is_told() -> None:
    corners = np.zeros((3, 3))
    broken = Body("", corners, np.array([[0, 1, 9]]))
    with pytest.raises(OutsideError, match="lib3mf cannot write the 3MF file: "):
        write_3mf(Package3mf((Object3mf("A", (Solid3mf("A", "#e69f00", broken),)),)))


# --- GLB ------------------------------------------------------------------------------------

VENDOR = ROOT / "fabkit/output/web/static/vendor"


def part(mesh: trimesh.Trimesh, name: str = "A", colour: str = "#e69f00") -> GlbPart:
    vertices, faces = np.asarray(mesh.vertices, float), np.asarray(mesh.faces, np.int64)
    return GlbPart(name, colour, vertices, faces, corner_normals(vertices, faces))


@pytest.fixture(scope="module")
def chequered() -> tuple[Body, bytes]:
    """A piece of two colours: its mesh as it is printed in one, and its GLB file."""
    cubi = load_set("cubimagici")
    profile = load_profile((), (), cubi.unit_mm)
    bench = picture_artifacts(cubi, cubi.select(["p3"]), profile)
    return bench.body(cubi.piece("p3")), glb_models(bench)["p3"]


def test_a_piece_has_the_measures_of_its_stl_file(chequered: tuple[Body, bytes]) -> None:
    body, content = chequered
    whole, tones = read_glb(content)
    assert (whole.name, tones.name) == ("p3", "p3 tones")
    drawn = np.concatenate([whole.drawn, tones.drawn])
    for bound in (np.min, np.max):  # the very numbers, in mm with z up
        assert bound(drawn, axis=0) == pytest.approx(bound(body.vertices, axis=0), abs=1e-6)
    moved = body.vertices[:, [0, 2, 1]] * [1, 1, -1] / 1000
    points = np.concatenate([whole.points, tones.points])
    for bound in (np.min, np.max):
        assert bound(points, axis=0) == pytest.approx(bound(moved, axis=0), abs=1e-8)
    volume = trimesh.Trimesh(body.vertices, body.faces).volume
    assert (whole.volume + tones.volume) * 1e9 == pytest.approx(volume, rel=1e-4)


def test_trimesh_reads_the_same(chequered: tuple[Body, bytes]) -> None:
    body, content = chequered
    scene = trimesh.load_scene(io.BytesIO(content), file_type="glb")
    assert set(scene.geometry) == {"p3", "p3 tones"}
    low, high = scene.bounds
    size = np.ptp(body.vertices, axis=0)[[0, 2, 1]] / 1000
    assert (high - low).tolist() == pytest.approx(size.tolist(), abs=1e-8)


def test_colours_are_linear_and_plastic(chequered: tuple[Body, bytes]) -> None:
    cubi = load_set("cubimagici")
    piece = cubi.piece("p3")
    for mesh, colour in zip(read_glb(chequered[1]), (piece.colour, piece.tone), strict=True):
        found = mesh.material["pbrMetallicRoughness"]
        assert found["metallicFactor"] == 0
        for value, at in zip(found["baseColorFactor"], (1, 3, 5), strict=False):
            srgb = 1.055 * value ** (1 / 2.4) - 0.055 if value > 0.0031308 else 12.92 * value
            assert round(255 * srgb) == int(colour[at : at + 2], 16)
        assert found["baseColorFactor"][3] == 1


def test_flat_faces_are_flat() -> None:
    (mesh,) = read_glb(write_glb([part(trimesh.creation.box((10, 20, 30)))]))
    assert len(mesh.drawn) == 24  # each of the corners three times
    a, b, c = (mesh.drawn[mesh.faces[:, i]] for i in range(3))
    flat = np.cross(b - a, c - a)
    flat /= np.linalg.norm(flat, axis=1)[:, None]
    for corner in range(3):
        assert mesh.normals[mesh.faces[:, corner]] == pytest.approx(flat, abs=1e-6)


def test_what_is_round_is_smooth() -> None:
    tube = trimesh.creation.cylinder(radius=5, height=8, sections=64)
    (mesh,) = read_glb(write_glb([part(tube)]))
    side = np.abs(mesh.normals[:, 2]) < 0.5
    radial = mesh.drawn[side, :2] / 5
    # Flat facets would be off by half of a 64th of a turn: 0.049.
    assert mesh.normals[side, :2] == pytest.approx(radial, abs=0.02)
    assert (np.abs(mesh.normals[~side, 2]) > 0.999).all()
    # Each corner of the rims once for the side and once for the end, and the ends' middles.
    assert len(mesh.drawn) == 4 * 64 + 2


def test_triangles_without_area_are_left_out() -> None:
    box = trimesh.creation.box((1, 2, 3))
    corner = int(box.faces[0, 0])
    spoilt = trimesh.Trimesh(box.vertices, [*box.faces, [corner] * 3], process=False)
    (mesh,) = read_glb(write_glb([part(spoilt)]))
    assert len(mesh.faces) == 12


def test_names_may_be_anything() -> None:
    box = trimesh.creation.box((1, 1, 1))
    names = ['B "</script>', "ä\u202e"]
    found = read_glb(write_glb([part(box, names[0]), part(box, names[1], "#0072b2")]))
    assert [mesh.name for mesh in found] == names


def test_the_vendored_script_is_what_was_made() -> None:
    """Its making is tried by ``scripts/vendor-three --check``, which needs the network."""
    vendor = tomllib.loads((VENDOR / "vendor.toml").read_text())
    for name, digest in vendor["sha256"].items():
        assert sha256((VENDOR / name).read_bytes()).hexdigest() == digest
    assert set(vendor["integrity"]) == {f"{name}@{vendor[name]}" for name in ("three", "esbuild")}
    assert "MIT License" in Path(VENDOR / "three-LICENSE.txt").read_text()
