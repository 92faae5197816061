"""Mesh files: good ones give their bodies, whoever wrote them; others give one message that says
what is wrong.

``tests.support.meshfuzz.damaged(NAME, SEED)`` makes a damaged file again.
"""

from __future__ import annotations

import struct
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fabkit.core.errors import InputError
from fabkit.mesh.files.readers import read_meshes
from fabkit.mesh.mesh import Mesh
from tests.support import meshfiles as files
from tests.support.meshfiles import CORNERS, FACES, components, object3mf, package
from tests.support.meshfuzz import SEEDS, damaged, outcome


def read(folder: Path, name: str, content: bytes | str) -> list[Mesh]:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_meshes(path)


def assert_box(body: Mesh, size: tuple[float, ...] = (1, 2, 3)) -> None:
    """It is the box of that size, closed, with its outside outside."""
    assert body.vertices.shape == (8, 3)
    assert body.faces.shape == (12, 3)
    assert np.ptp(body.vertices, axis=0) == pytest.approx(size)
    assert files.volume(body.vertices, body.faces) == pytest.approx(np.prod(size))
    edges = body.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    assert sorted(map(tuple, edges)) == sorted(map(tuple, edges[:, ::-1]))


# --- STL, OFF and PLY -----------------------------------------------------------------------

BOXES = {
    "binary": files.binary_stl(),
    "binary-that-begins-with-solid": files.binary_stl(header=b"solid box\nfacet normal 0 0 1"),
    "ascii": files.ascii_stl(),
    "ascii-capitals": files.ascii_stl().upper().replace("NAN", "nan"),
    "ascii-windows": "\n " + files.ascii_stl().replace("\n", "\r\n"),
    "ascii-two-solids": files.ascii_stl(CORNERS[FACES[:5]]) + files.ascii_stl(CORNERS[FACES[5:]]),
    "ascii-name": files.ascii_stl(
        name="facet vertex endsolid \udcff".encode("utf-8", "replace").decode()
    ),
    "off": files.off(),
    "off-in-one-line": files.off().replace("OFF\n# a box\n", "  OFF "),
    "off-triangles": files.off(polygons=FACES.tolist()),
    "ply": files.ply(),
    "ply-windows": files.ply().replace(b"\n", b"\r\n"),
    "ply-binary": files.ply(binary=True),
    "ply-mixed": files.ply(polygons=[*files.QUADS[:3], *FACES[6:].tolist()]),
    "ply-triangles": files.ply(polygons=FACES.tolist(), binary=True),
}


@pytest.mark.parametrize("content", BOXES.values(), ids=BOXES)
@pytest.mark.parametrize("name", ["box.stl", "box.obj", "box"])
def test_boxes(name: str, content: bytes | str, tmp_path: Path) -> None:
    (body,) = read(tmp_path, name, content)
    assert body.name == name
    assert_box(body)


def test_corners_at_one_place_are_one_and_degenerate_triangles_stay(tmp_path: Path) -> None:
    corners = np.array(
        [[[0.0, 0, 0], [1, 0, 0], [0, 1, 0]], [[-0.0, 0, 0], [0, 0, -0.0], [1, 0, 0]]]
    )
    (body,) = read(tmp_path, "a.stl", files.binary_stl(corners))
    assert body.faces.tolist() == [[0, 1, 2], [0, 0, 1]]
    assert body.vertices.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    assert not np.signbit(body.vertices).any()


@pytest.mark.parametrize("kind", ["stl", "stl_ascii", "obj", "off", "ply", "ply_ascii", "glb"])
def test_what_trimesh_writes(kind: str, tmp_path: Path) -> None:
    import trimesh

    sphere = trimesh.creation.icosphere(subdivisions=3)
    how = {"encoding": "ascii"} if kind == "ply_ascii" else {}
    content = sphere.export(file_type=kind.replace("ply_ascii", "ply"), **how)
    (body,) = read(tmp_path, "ball", content)
    if kind == "glb":  # metres, and y up
        sphere.apply_transform(trimesh.transformations.rotation_matrix(np.pi / 2, (1, 0, 0)))
        sphere.apply_scale(1000)
    assert body.faces.shape == sphere.faces.shape
    assert body.vertices[body.faces] == pytest.approx(
        sphere.triangles, rel=1e-6, abs=1e-4 if kind == "glb" else 1e-6
    )


# --- OBJ ------------------------------------------------------------------------------------

#: Flat L-shapes, with a corner in the middle of a side, in whose fans some triangles lie outside.
L_SHAPE = np.array([[0, 0], [1, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]])
ZIGZAG = np.array([(x, y) for x, y in zip(range(40), [0, 5] * 20, strict=True)] + [(39, 9), (0, 9)])


def prism(outline: np.ndarray) -> tuple[np.ndarray, list[list[int]]]:
    count = len(outline)
    corners = np.vstack([np.column_stack([outline, np.full(count, z)]) for z in (0.0, 1.0)])
    sides = [[i, (i + 1) % count, count + (i + 1) % count, count + i] for i in range(count)]
    return corners, [[*range(count)][::-1], [*range(count, 2 * count)], *sides]


@pytest.mark.parametrize(("outline", "area"), [(L_SHAPE, 3), (ZIGZAG, 9 * 39 - 2.5 * 39)])
@pytest.mark.parametrize("write", [files.obj, files.off, files.ply])
def test_polygons_that_are_not_convex(
    write: Callable[..., bytes | str], outline: np.ndarray, area: float, tmp_path: Path
) -> None:
    (body,) = read(tmp_path, "l", write(*prism(outline)))
    a, b, c = body.vertices[body.faces].swapaxes(0, 1)
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2
    around = np.linalg.norm(np.diff(outline, axis=0, append=outline[:1]), axis=1).sum()
    assert areas.min() > 0
    assert areas.sum() == pytest.approx(2 * area + around), "no triangle lies outside"
    assert files.volume(body.vertices, body.faces) == pytest.approx(area)


OBJ = {
    "plain": (files.obj(), ["a.obj"]),
    "windows": ("\ufeff# by hand\r\n" + files.obj().replace("\n", "\r\n"), ["a.obj"]),
    "continued": (files.obj().replace(" 3/1/1", " \\\n 3/1/1"), ["a.obj"]),
    "faces-first": ("".join(sorted(files.obj().splitlines(True))), ["a.obj"]),
    "objects": (
        f"o A\ng x\n{files.obj()}o A\n{files.obj()}g y\no empty\no "
        f"<b>[red]../../\x1b[1m\n{files.obj()}",
        ["a.obj: A", "a.obj: A (2)", r"a.obj: _b__red_.._.._\x1b_1m"],
    ),
    "groups": (
        "g A b\n" + files.obj(polygons=files.QUADS[:3]) + "g c\n" + files.obj() + "g A b\n"
        + "".join(f"f {' '.join(str(c + 1) for c in quad)}\n" for quad in files.QUADS[3:]),
        ["a.obj: A b", "a.obj: c"],
    ),
    "libraries": (f"mtllib ../../../etc/passwd /dev/zero\nusemtl /x\n{files.obj()}", ["a.obj"]),
}  # fmt: skip


@pytest.mark.parametrize(("content", "names"), OBJ.values(), ids=OBJ)
def test_obj(content: str, names: list[str], tmp_path: Path) -> None:
    bodies = read(tmp_path, "a.obj", content)
    assert [body.name for body in bodies] == names
    for body in bodies:
        assert_box(body)


def test_negative_positions_count_from_where_they_stand(tmp_path: Path) -> None:
    box = files.obj(polygons=())
    faces = "".join(f"f {' '.join(str(c - 8) for c in quad)}\n" for quad in files.QUADS)
    for body in read(tmp_path, "a.obj", f"o A\n{box}{faces}o B\n{box}{faces}"):
        assert_box(body)


def test_no_file_beside_an_obj_is_opened(tmp_path: Path) -> None:
    (tmp_path / "a.mtl").write_text("newmtl m\nmap_Kd a.png\n")
    opened: list[str] = []
    sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == "open" else None)
    read(tmp_path, "a.obj", "mtllib a.mtl\nusemtl m\n" + files.obj())
    assert not [name for name in opened if name.endswith((".mtl", ".png"))]


# --- GLB ------------------------------------------------------------------------------------


def test_glb_is_in_metres_with_y_up_and_its_nodes_are_bodies(tmp_path: Path) -> None:
    nodes = [
        {"name": "A", "mesh": 0, "translation": [0, 0, -1]},
        {"name": "B", "mesh": 0, "scale": [-1, 1, 1]},
        {"name": "nothing"},
    ]
    a, b = read(tmp_path, "a.glb", files.glb(nodes))
    assert (a.name, b.name) == ("a.glb: A", "a.glb: B")
    for body in (a, b):  # each of the two parts of its mesh
        assert_box(body, (1000, 3000, 2000))
    assert a.vertices.min(axis=0).tolist() == [0, -2000, 0]
    assert b.vertices.min(axis=0).tolist() == [-1000, -3000, 0]


def test_glb_of_many_metres_is_in_millimetres(tmp_path: Path) -> None:
    nodes = [{"mesh": 0, "scale": [20, 30, 2]}]
    (body,) = read(tmp_path, "a.glb", files.glb(nodes))
    assert_box(body, (20, 6, 60))


# --- 3MF ------------------------------------------------------------------------------------


def test_units(tmp_path: Path) -> None:
    in_mm = {"micron": 0.001, "millimeter": 1, "centimeter": 10, "inch": 25.4, "foot": 304.8}
    for unit, mm in {**in_mm, "meter": 1000}.items():
        (body,) = read(tmp_path, "a.3mf", package(files.model(unit=unit)))
        assert_box(body, (mm, 2 * mm, 3 * mm))


def test_components_are_placed_and_mirror_images_keep_their_outside(tmp_path: Path) -> None:
    parts = components(
        3,
        'objectid="1" transform="0 1 0 -1 0 0 0 0 1 10 20 30"',
        'objectid="2" transform="-2 0 0 0 1 0 0 0 1 0 0 0"',
    )
    resources = object3mf(1, attributes='name="A"') + object3mf(2) + parts
    build = '<item objectid="3" transform="1 0 0 0 1 0 0 0 1 0 0 5"/><item objectid="1"/>'
    turned, mirrored, plain = read(tmp_path, "a.3mf", package(files.model(resources, build)))
    assert [turned.name, mirrored.name, plain.name] == ["a.3mf: A", "a.3mf: body 2", "a.3mf: A (2)"]
    assert_box(plain)
    assert_box(turned, (2, 1, 3))
    assert turned.vertices.min(axis=0).tolist() == [8, 20, 35]
    assert_box(mirrored, (2, 2, 3))
    assert mirrored.vertices.min(axis=0).tolist() == [-2, 0, 5]


def test_objects_in_other_parts_of_the_package(tmp_path: Path) -> None:
    text = files.model(
        components(7, 'objectid="1" p:path="/3D/Objects/box%201.model"'), '<item objectid="7"/>'
    )
    content = package(text, more=[("3D/Objects/Box 1.model", files.model(build="").encode())])
    (body,) = read(tmp_path, "a.3mf", content)
    assert_box(body)


def test_parts_with_several_objects_as_bambu_studio_writes_them(tmp_path: Path) -> None:
    """trimesh takes all of a part for each of its objects."""
    inside = files.model(object3mf(1, attributes='name="A"') + object3mf(2), "").encode()
    path = 'p:path="/3D/a.model"'
    text = files.model(
        components(7, f'objectid="1" {path}', f'objectid="2" {path}'), '<item objectid="7"/>' * 2
    )
    bodies = read(tmp_path, "a.3mf", package(text, more=[("3D/a.model", inside)]))
    assert len(bodies) == 4
    for body in bodies:
        assert_box(body)


def test_many_components_in_components(tmp_path: Path) -> None:
    """trimesh leaves 155 of these."""
    parts = [components(i, *[f'objectid="{i - 1}"'] * 20) for i in (2, 3)]
    text = files.model(object3mf() + "".join(parts), '<item objectid="3"/>')
    assert len(read(tmp_path, "a.3mf", package(text))) == 400


def test_utf_16_and_names_of_other_alphabets(tmp_path: Path) -> None:
    text = files.model(object3mf(attributes='name="Prüfkörper"'), '<item objectid="1"/>' * 2)
    for content in (
        text.replace("UTF-8", "UTF-16").encode("utf-16"),
        b"\xef\xbb\xbf" + text.encode(),
    ):
        names = [body.name for body in read(tmp_path, "a.3mf", package(content))]
        assert names == ["a.3mf: Prüfkörper", "a.3mf: Prüfkörper (2)"]


# --- what is wrong ---------------------------------------------------------------------------

SHORT = "which take 684 bytes, and it has"
FAR = "expected numbers of at most 1000000"
COARSE = "holds more than 2000000 triangles; make the mesh coarser"
NOTHING = "holds no triangles; expected a solid's surface"
PART, PLACE = "3d/3dmodel.model", '3d/3dmodel.model: object "1"'


def vertex(text: str) -> str:
    return files.ascii_stl().replace("vertex 0 0 3.000000e+00", f"vertex {text}", 1)


def corner(value: float) -> bytes:
    return files.binary_stl()[:96] + struct.pack("<f", value) + files.binary_stl()[100:]


TEXTS: dict[str, tuple[str, bytes | str, str]] = {
    "empty": ("a.stl", b"", "is empty; expected an STL, 3MF, OBJ, PLY, OFF or GLB file"),
    "unknown": ("a.step", "ISO\n", "has an unknown format; expected an STL"),
    "text": ("a.stl", "hello \x1b[31m\n", r'line 1: expected solid or the end, found "hello \x1b[31m"'),
    "truncated": ("a.stl", files.binary_stl()[:-7], f"announces 12 triangles, {SHORT} 677; export it again"),
    "2-gb": ("a.stl", files.binary_stl(count=42_949_672), "announces 42,949,672 triangles, which take 214"),
    "no-triangles": ("a.stl", files.binary_stl(count=0)[:84], NOTHING),
    "nan": ("a.stl", corner(float("nan")), f"triangle 1: has a corner at (nan, 0, 0); {FAR}"),
    "far": ("a.stl", corner(2e6), f"triangle 1: has a corner at (2e+06, 0, 0); {FAR}"),
    "ascii-nan": ("a.stl", vertex("nan 0 0"), f"triangle 1: has a corner at (nan, 0, 0); {FAR}"),
    "ascii-word": ("a.stl", vertex("o 0 0"), 'line 5: expected numbers, found "vertex o 0 0"'),
    "ascii-inf": ("a.stl", vertex("1e999 0 0"), f"triangle 1: has a corner at (inf, 0, 0); {FAR}"),
    "ascii-cut": ("a.stl", files.ascii_stl()[:500], "expected vertex, found the end of the file"),
    "ascii-no-end": ("a.stl", files.ascii_stl().replace("endsolid box", ""), "expected facet or endsolid, found the end of the file"),
    "ascii-second": ("a.stl", files.ascii_stl() + files.ascii_stl()[:-20], "line 171: expected endfacet, found "),
    "ascii-more": ("a.stl", files.ascii_stl() + "more", 'line 87: expected solid or the end, found "more"'),
    "zero": ("a.obj", files.obj() + "f 0 1 2\n", "names vertex -1, counted from 0; there are 8"),
    "beyond": ("a.obj", files.obj() + "f 1 2 9\n", "names vertex 8, counted from 0; there are 8"),
    "negative": ("a.obj", files.obj() + "f -9 1 2\n", "names vertex -1, counted from 0; there are 8"),
    "fraction": ("a.obj", "v 0 0 0\nf 1 1.5 1\n", 'line 2: expected numbers, found "f 1 1.5 1"'),
    "obj-two": ("a.obj", "v 0 0 0\nf 1 1\n", "has a face with 2 corners; expected 3 to 1000"),
    "long-line": ("a.obj", "v 0 0 0\nf " + "1 " * 10_000_000, "line 2: is longer than 65536 bytes"),
    "half-line": ("a.obj", "v 0 0 0\nf 1 \\", r'line 2: expected numbers, found "f 1 \"'),
    "two-numbers": ("a.obj", "v 0 0\n", 'line 1: expected numbers, found "v 0 0"'),
    "obj-nan": ("a.obj", "v 0 0 nan\nf 1 1 1\n", f"triangle 1: has a corner at (0, 0, nan); {FAR}"),
    "no-faces": ("a.obj", "v 0 0 0\n", NOTHING),
    "calls": ("a.obj", "v 0 0 0\ncsh -rm\n", 'line 2: unknown statement "csh"; expected an OBJ file'),
    "many": ("a.obj", "v 0 0 0\n" + "o a\nf 1 1 1\n" * 1001, "holds more than 1000 bodies; split it"),
    "off-cut": ("a.off", files.off()[:-30], "counts 8 vertices and 6 faces, and has 1"),
    "off-beyond": ("a.off", "OFF 1 1 0\n0 0 0\n3 0 0 1\n", "names vertex 1, counted from 0; there are 1"),
    "ply-cut": ("a.ply", files.ply()[:-12], "announces 6 face lines and has 5; export it again"),
    "ply-short": ("a.ply", files.ply(binary=True)[:-4], "cannot be read as PLY (PLY is unexpected length!)"),
    "ply-beyond": ("a.ply", files.ply(polygons=[(0, 1, 8)]), "names vertex 8, counted from 0; there are 8"),
    "ply-points": ("a.ply", files.ply(polygons=[]), NOTHING),
    "glb-cut": ("a.glb", files.glb()[:-10], "cannot be read as GLB (chunk was not expected length!)"),
    "glb-draco": (
        "a.glb",
        files.glb(extensionsRequired=["KHR_draco_mesh_compression"]),
        'needs "KHR_draco_mesh_compression", which fabkit does not read; export plain meshes',
    ),
    "glb-lost": ("a.glb", files.glb(scenes=[{"nodes": []}]), NOTHING),
    "no-zip": ("a.3mf", "solid\0", "cannot be read as 3MF (File is not a zip file); export it again"),
}  # fmt: skip


def refused(folder: Path, name: str, content: bytes | str) -> str:
    """The message about a file, without the folder."""
    with pytest.raises(InputError) as refusal:
        read(folder, name, content)
    assert str(refusal.value).isprintable()
    return str(refusal.value).replace(f"{folder}/", "")


TWELVE, CUBE = "1 0 0 0 1 0 0 0 1 0 0 ", "1 0 0 0 1 0 0 0 1 "
BEAMS = 'requiredextensions="b" xmlns:b="urn:beams" xmlns:p'


def changed(offset: int, value: bytes) -> Callable[[], bytes]:
    """A package whose model is described otherwise in the archive's directory."""

    def make() -> bytes:
        content = bytearray(package())
        at = content.rindex(b"PK\x01\x02") + offset
        content[at : at + len(value)] = value
        return bytes(content)

    return make


def placing(transform: str) -> bytes:
    return package(files.model(build=f'<item objectid="1" transform="{transform}"/>'))


def chain(count: int, times: int = 1) -> bytes:
    """Each object is so many times a component of the next."""
    parts = (components(i, *[f'objectid="{i - 1}"'] * times) for i in range(2, count + 1))
    return package(files.model(object3mf() + "".join(parts), f'<item objectid="{count}"/>'))


def with_mesh(old: str, new: str) -> bytes:
    return package(files.model(object3mf(1, files.mesh().replace(old, new, 1))))


PACKAGES: dict[str, tuple[Callable[[], bytes], str]] = {
    "cut": (lambda: package()[:-30], "cannot be read as 3MF (File is not a zip file); export it again"),
    "no-3mf": (lambda: files.archive([("a.stl", "x")]), "has nothing to build; add its objects"),
    "encrypted": (changed(8, b"\x01"), "cannot be read as 3MF (File "),
    "checksum": (changed(16, b"\0\0"), "cannot be read as 3MF (Bad CRC-32 for file '3D/3dmodel.model')"),
    "entries": (lambda: files.archive([(f"{i}", "") for i in range(2001)]), "is an archive of more than 2000 entries"),
    "no-xml": (lambda: package("none"), "cannot be read as 3MF (syntax error: line 1, column 0)"),
    "cut-xml": (lambda: package(files.model()[:600]), "cannot be read as 3MF (unclosed token: line 1"),
    "other-xml": (lambda: package("<svg/>"), "has nothing to build; add its objects"),
    "entities": (
        lambda: package(files.model(head="<!DOCTYPE m [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;'>]>")),
        f"{PART}: has a document type (DOCTYPE), which 3MF forbids",
    ),
    "external": (lambda: package(files.model(head='<!DOCTYPE m SYSTEM "file:///etc/passwd">')), "has a document type"),
    "unit": (lambda: package(files.model(unit="mile")), f'{PART}: unknown unit "mile"; expected one of micron, mill'),
    "beams": (lambda: package(files.model().replace("xmlns:p", BEAMS)), f'{PART}: needs "urn:beams", which fabkit does'),
    "no-object": (lambda: package(files.model(build='<item objectid="9"/>')), 'object "9": there is no such object'),
    "twice": (lambda: package(files.model(object3mf() * 2)), f'{PART}: has two objects "1"'),
    "hollow": (lambda: package(files.model('<object id="1"/>')), f"{PLACE}: expected either a mesh or components"),
    "two-meshes": (lambda: package(files.model(object3mf(1, files.mesh() * 2))), f"{PART}: has an object with two meshes"),
    "no-triangles": (lambda: package(files.model(object3mf(1, files.mesh(faces=files.FACES[:0])))), NOTHING),
    "index": (lambda: with_mesh('v3="3"', 'v3="8"'), "a face names vertex 8, counted from 0; there are 8"),
    "negative": (lambda: with_mesh('v3="3"', 'v3="-1"'), "a face names vertex -1, counted from 0; there are 8"),
    "lacks": (lambda: with_mesh('v3="3"', ""), "cannot be read as 3MF (it lacks 'v3'); export it again"),
    "nan": (lambda: with_mesh('z="3"', 'z="NaN"'), f"triangle 1: has a corner at (nan, nan, nan); {FAR}"),
    "far": (lambda: with_mesh('z="3"', 'z="1e7"'), f"triangle 1: has a corner at (0, 0, 1e+07); {FAR}"),
    "eleven": (lambda: placing(TWELVE), "cannot be read as 3MF (cannot reshape array of size 11"),
    "flat": (lambda: placing(CUBE.replace("1 0 0 0 1", "1 0 0 1 0") + "0 0 0"), "a transform flattens a body"),
    "circle": (
        lambda: package(files.model(components(1, 'objectid="2"') + components(2, 'objectid="1"'))),
        "cannot be read as 3MF (its parts are nested in a cycle",
    ),
    "chain": (lambda: chain(5000), "cannot be read as 3MF (its parts are nested in a cycle"),
    "doubling": (lambda: chain(30, times=2), "holds more than 1000 bodies; split it"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        *(pytest.param(*one, id=key) for key, one in TEXTS.items()),
        *(pytest.param("a.3mf", *one, id=f"3mf-{key}") for key, one in PACKAGES.items()),
    ],
)
def test_files_that_are_refused(
    name: str,
    content: bytes | str | Callable[[], bytes],
    expected: str,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    message = refused(tmp_path, name, content() if callable(content) else content)
    assert message.startswith(f"{name}: ")
    assert expected in message
    assert capfd.readouterr() == ("", "")


# --- what is large --------------------------------------------------------------------------


def declared(content: bytes, size: int) -> bytes:
    """The archive's last entry says that it inflates to so many bytes."""
    at = content.rindex(b"PK\x01\x02") + 24
    return content[:at] + struct.pack("<I", size) + content[at + 4 :]


def blank() -> bytes:
    return package(files.model(head=" " * 300_000_000))


LARGE: dict[str, tuple[str, Callable[[], bytes | str], str]] = {
    "bomb": ("a.3mf", blank, "inflates to more than 256 MiB"),
    "quiet-bomb": ("a.3mf", lambda: declared(blank(), 2000), "cannot be read as 3MF (Bad CRC-32"),
    "used-often": (
        "a.3mf",
        lambda: package(
            files.model(
                object3mf(1, files.mesh(faces=files.FACES[[0] * 10_000]))
                + components(2, *['objectid="1"'] * 300),
                '<item objectid="2"/>',
            )
        ),
        COARSE,
    ),
    "triangles": (
        "a.stl",
        lambda: bytes(80) + struct.pack("<I", 2_000_001) + bytes(50 * 2_000_001),
        COARSE,
    ),
    "polygons": (
        "a.obj",
        lambda: "v 0 0 0\n" + ("f " + "1 " * 1000 + "\n") * 2010,
        COARSE,
    ),
}  # fmt: skip


@pytest.mark.integration
@pytest.mark.parametrize(("name", "make", "expected"), LARGE.values(), ids=LARGE)
def test_large_ones_take_little_memory(
    name: str, make: Callable[[], bytes | str], expected: str, tmp_path: Path
) -> None:
    content = make()
    tracemalloc.start()
    try:
        assert expected in refused(tmp_path, name, content)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * len(content) + 60_000_000


def test_large_files_are_not_read(tmp_path: Path) -> None:
    with (tmp_path / "a.stl").open("wb") as file:
        file.truncate(300 * 1024**2)
    with pytest.raises(InputError, match=r"a\.stl: is larger than 256 MiB; make the mesh coarser$"):
        read_meshes(tmp_path / "a.stl")


@pytest.mark.parametrize("name", ["none.stl", "folder.3mf"])
def test_what_is_no_file(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder.3mf").mkdir()
    with pytest.raises(InputError, match=r"there is no such file|is a folder; expected an STL"):
        read_meshes(tmp_path / name)


HOW_MANY = [
    40,
    pytest.param(600, marks=pytest.mark.integration),
    pytest.param(20_000, marks=pytest.mark.long),
]


@pytest.mark.parametrize("count", HOW_MANY)
@pytest.mark.parametrize("name", SEEDS)
def test_damaged_files_are_read_or_refused(
    name: str, count: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    found = set()
    for seed in range(count):
        path.write_bytes(damaged(name, seed))
        found.add(outcome(path))
    assert found == {"read", "refused"}
    assert capfd.readouterr() == ("", "")
