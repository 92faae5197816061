"""3MF files as other programs read them: lib3mf's strict reader, a plain XML parser, trimesh,
fabkit.
"""

from __future__ import annotations

import io
import tomllib
import zipfile
import zlib
from hashlib import sha256
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import shapely
from PIL import Image

from fabkit.core.errors import ExternalError
from fabkit.mesh.files.readers import read_meshes
from fabkit.mesh.files.writing3mf import MODEL_CONFIG, Object3mf, Package3mf, Solid3mf, write_3mf
from fabkit.mesh.mesh import Mesh
from fabkit.output.png import Patch, thumbnail
from tests.conftest import ROOT

CORE = "{http://schemas.microsoft.com/3dmanufacturing/core/2015/02}"


def box(x: float, y: float, z: float, side: float = 10.0) -> Mesh:
    import trimesh

    mesh = trimesh.creation.box((side, side, side)).apply_translation((x, y, z))
    return Mesh("", np.asarray(mesh.vertices, float), np.asarray(mesh.faces, np.int64))


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
    import lib3mf

    model = lib3mf.get_wrapper().CreateModel()
    reader = model.QueryReader("3mf")
    reader.SetStrictModeActive(True)
    reader.ReadFromBuffer(content)
    assert [reader.GetWarning(at) for at in range(reader.GetWarningCount())] == []
    return model


def test_the_strict_reader_has_nothing_to_say() -> None:
    import lib3mf

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
    metadata = {
        group.GetMetaData(at).GetName(): group.GetMetaData(at).GetValue() for at in range(3)
    }
    assert metadata == {
        "Title": 'Two & "boxes" <b>',
        "Application": "fabkit",
        "Profile": "default: PLA",
    }


def test_fabkit_reads_what_it_writes(tmp_path: Path) -> None:
    path = tmp_path / "two.3mf"
    path.write_bytes(write_3mf(two_boxes()))
    bodies = read_meshes(path)
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


def test_what_the_library_refuses_is_reported() -> None:
    corners = np.zeros((3, 3))
    broken = Mesh("", corners, np.array([[0, 1, 9]]))
    with pytest.raises(ExternalError, match="lib3mf cannot write the 3MF file: "):
        write_3mf(Package3mf((Object3mf("A", (Solid3mf("A", "#e69f00", broken),)),)))


def test_it_is_packed_small() -> None:
    """lib3mf packs quickly; a 3MF file of many triangles is a quarter smaller than it makes them."""
    import trimesh

    ball = trimesh.creation.icosphere(4)
    body = Mesh("", np.asarray(ball.vertices, float), np.asarray(ball.faces, np.int64))
    content = write_3mf(Package3mf((Object3mf("A", (Solid3mf("A", "#e69f00", body),)),)))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        (model,) = (one for one in archive.infolist() if one.filename.endswith(".model"))
        least = len(zlib.compress(archive.read(model), 9))
    assert model.compress_size <= least


VENDOR = ROOT / "fabkit/output/web/static/vendor"


def test_the_vendored_script_is_what_was_made() -> None:
    """Its making is tried by ``scripts/vendor-three --check``, which needs the network."""
    vendor = tomllib.loads((VENDOR / "vendor.toml").read_text())
    for name, digest in vendor["sha256"].items():
        assert sha256((VENDOR / name).read_bytes()).hexdigest() == digest
    assert set(vendor["integrity"]) == {f"{name}@{vendor[name]}" for name in ("three", "esbuild")}
    assert "MIT License" in Path(VENDOR / "three-LICENSE.txt").read_text()
