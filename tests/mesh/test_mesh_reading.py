"""Good mesh files give their bodies, whoever wrote them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import trimesh

from fabkit.mesh.body import Body
from fabkit.mesh.files.reading import read_bodies
from tests.support import meshfiles as files
from tests.support.meshfiles import CORNERS, FACES, components, object3mf, package


def read(folder: Path, name: str, content: bytes | str) -> list[Body]:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_bodies(path)


def assert_box(body: Body, size: tuple[float, ...] = (1, 2, 3)) -> None:
    """It is the box of that size, closed, with its outside outside."""
    assert body.vertices.shape == (8, 3)
    assert body.faces.shape == (12, 3)
    assert np.ptp(body.vertices, axis=0) == pytest.approx(size)
    assert files.volume(body.vertices, body.faces) == pytest.approx(np.prod(size))
    edges = body.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    assert sorted(map(tuple, edges)) == sorted(map(tuple, edges[:, ::-1]))


# --- STL ------------------------------------------------------------------------------------

STL = {
    "binary": files.binary_stl(),
    "binary-that-begins-with-solid": files.binary_stl(header=b"solid box\nfacet normal 0 0 1"),
    "ascii": files.ascii_stl(),
    "ascii-capitals": files.ascii_stl().upper().replace("NAN", "nan"),
    "ascii-windows": "\n " + files.ascii_stl().replace("\n", "\r\n"),
    "ascii-two-solids": files.ascii_stl(CORNERS[FACES[:5]]) + files.ascii_stl(CORNERS[FACES[5:]]),
    "ascii-name": files.ascii_stl(
        name="facet vertex endsolid \udcff".encode("utf-8", "replace").decode()
    ),
}


@pytest.mark.parametrize("content", STL.values(), ids=STL)
@pytest.mark.parametrize("name", ["box.stl", "box.obj", "box"])
def test_stl(name: str, content: bytes | str, tmp_path: Path) -> None:
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
        f"o A\ng x\n{files.obj()}o A\n{files.obj()}g y\no empty\no <b>[red]../../\x1b[1m\n{files.obj()}",
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


# --- OFF, PLY and GLB ------------------------------------------------------------------------

BOXES = {
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
def test_off_and_ply(content: bytes | str, tmp_path: Path) -> None:
    (body,) = read(tmp_path, "box", content)
    assert_box(body)


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


@pytest.mark.parametrize(
    ("unit", "mm"),
    [
        ("micron", 0.001),
        ("millimeter", 1),
        ("centimeter", 10),
        ("inch", 25.4),
        ("foot", 304.8),
        ("meter", 1000),
    ],
)
def test_units(unit: str, mm: float, tmp_path: Path) -> None:
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
