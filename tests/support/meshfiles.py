"""Mesh files as bytes, good and bad, made without the code under test."""

from __future__ import annotations

import io
import json
import struct
import warnings
import zipfile
from collections.abc import Iterable, Sequence

import numpy as np

from fabkit.mesh.mesh import Faces, Points

#: A box of 1 x 2 x 3, counter-clockwise seen from outside.
CORNERS = np.array([[x, y, z] for x in (0, 1) for y in (0, 2) for z in (0, 3)], float)
QUADS = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
FACES = np.array([t for a, b, c, d in QUADS for t in ((a, b, c), (a, c, d))])

CORE = "http://schemas.microsoft.com/3dmanufacturing/core/2015/02"
PRODUCTION = "http://schemas.microsoft.com/3dmanufacturing/production/2015/06"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_MODEL = "http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel"
PART = "3D/3dmodel.model"
TYPES = (
    f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="model" ContentType="x"/></Types>'
)


def volume(vertices: Points, faces: Faces) -> float:
    """Of a closed surface; negative when it is inside out."""
    a, b, c = vertices[faces].swapaxes(0, 1)
    return float((a * np.cross(b, c)).sum() / 6)


def binary_stl(
    triangles: np.ndarray = CORNERS[FACES], header: bytes = b"", count: int | None = None
) -> bytes:
    body = b"".join(
        struct.pack("<12fH", 0, 0, 0, *triangle.ravel(), 0) for triangle in np.asarray(triangles)
    )
    declared = len(triangles) if count is None else count
    return header.ljust(80, b"\0") + struct.pack("<I", declared) + body


def ascii_stl(triangles: np.ndarray = CORNERS[FACES], name: str = "box") -> str:
    facets = "".join(
        "  facet normal 0 0 nan\n    outer loop\n"
        + "".join(f"      vertex {x:g} {y:g} {z:e}\n" for x, y, z in triangle)
        + "    endloop\n  endfacet\n"
        for triangle in triangles
    )
    return f"solid {name}\n{facets}endsolid {name}\n"


def obj(corners: Points = CORNERS, polygons: Iterable[Sequence[int]] = QUADS) -> str:
    return "".join(f"v {x:g} {y:g} {z:g}\n" for x, y, z in corners) + "".join(
        f"f {' '.join(f'{corner + 1}/1/1' for corner in polygon)}\n" for polygon in polygons
    )


def off(corners: Points = CORNERS, polygons: Sequence[Sequence[int]] = QUADS) -> str:
    vertices = "".join(f"{x:g} {y:g} {z:g}\n" for x, y, z in corners)
    faces = "".join(f"{len(one)} {' '.join(map(str, one))} 0.5\n" for one in polygons)
    return f"OFF\n# a box\n{len(corners)} {len(polygons)} 12\n{vertices}\n{faces}"


def ply(
    corners: Points = CORNERS, polygons: Sequence[Sequence[int]] = QUADS, binary: bool = False
) -> bytes:
    """With a normal and a colour that nobody wants."""
    head = (
        f"ply\nformat {'binary_little_endian' if binary else 'ascii'} 1.0\ncomment a box\n"
        f"element vertex {len(corners)}\nproperty float x\nproperty float y\nproperty float z\n"
        f"property float nx\nproperty uchar red\nelement face {len(polygons)}\n"
        "property list uchar int vertex_indices\nend_header\n"
    )
    if binary:
        body = b"".join(struct.pack("<4fB", *corner, 0, 9) for corner in corners)
        body += b"".join(struct.pack(f"<B{len(p)}i", len(p), *p) for p in polygons)
        return head.encode() + body
    rows = [f"{x:g} {y:g} {z:g} 0 9\n" for x, y, z in corners]
    rows += [f"{len(one)} {' '.join(map(str, one))}\n" for one in polygons]
    return (head + "".join(rows)).encode()


def glb(
    nodes: Sequence[dict[str, object]] = ({"name": "box", "mesh": 0},), **more: object
) -> bytes:
    """A box of 1 x 2 x 3 metres, its corners once; each side is a part of the mesh."""
    data = CORNERS.astype("<f4").tobytes() + FACES.astype("<u2").tobytes()
    views = [
        {"buffer": 0, "byteOffset": 0, "byteLength": 96},
        {"buffer": 0, "byteOffset": 96, "byteLength": 72},
    ]
    places = {"bufferView": 0, "componentType": 5126, "count": 8, "type": "VEC3"}
    halves = [
        {"bufferView": 1, "componentType": 5123, "count": 18, "type": "SCALAR", "byteOffset": at}
        for at in (0, 36)
    ]
    parts = [{"attributes": {"POSITION": 0}, "indices": one} for one in (1, 2)]
    tree = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": list(range(len(nodes)))}],
        "nodes": list(nodes),
        "meshes": [{"name": "box", "primitives": parts}],
        "accessors": [places, *halves],
        "bufferViews": views,
        "buffers": [{"byteLength": len(data)}],
        **more,
    }
    text = json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    size = 28 + len(text) + len(data)
    head = struct.pack("<4sII", b"glTF", 2, size) + struct.pack("<I4s", len(text), b"JSON")
    return head + text + struct.pack("<I4s", len(data), b"BIN\0") + data


def mesh(corners: Points = CORNERS, faces: Faces = FACES) -> str:
    vertices = "".join(f'<vertex x="{x:.9g}" y="{y:.9g}" z="{z:.9g}"/>' for x, y, z in corners)
    triangles = "".join(f'<triangle v1="{a}" v2="{b}" v3="{c}"/>' for a, b, c in faces)
    return f"<mesh><vertices>{vertices}</vertices><triangles>{triangles}</triangles></mesh>"


def object3mf(number: int = 1, content: str = "", attributes: str = "") -> str:
    return f'<object id="{number}" {attributes}>{content or mesh()}</object>'


def components(number: int, *parts: str) -> str:
    inside = "".join(f"<component {part}/>" for part in parts)
    return object3mf(number, f"<components>{inside}</components>")


def model(
    resources: str = "",
    build: str = '<item objectid="1"/>',
    unit: str = "millimeter",
    head: str = "",
) -> str:
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>{head}<model unit="{unit}" xmlns="{CORE}" '
        f'xmlns:p="{PRODUCTION}"><resources>{resources or object3mf()}</resources>'
        f"<build>{build}</build></model>"
    )


def package(text: str | bytes = "", more: Iterable[tuple[str, bytes]] = ()) -> bytes:
    """A 3MF file with one model part, and other entries behind it."""
    link = f'<Relationship Id="r" Type="{_MODEL}" Target="/{PART}"/>'
    links = f'<Relationships xmlns="{_PACKAGE}/relationships">{link}</Relationships>'
    entries = [("[Content_Types].xml", TYPES), ("_rels/.rels", links)]
    return archive([*entries, (PART, text or model()), *more])


def archive(
    entries: Iterable[tuple[str | zipfile.ZipInfo, str | bytes]], method: int = zipfile.ZIP_DEFLATED
) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of names that are there twice
        for name, content in entries:
            file.writestr(name, content)
    return buffer.getvalue()
