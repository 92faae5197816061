"""GLB files read by hand, as glTF 2.0 says, with all that is wrong with them."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

#: Component types: how numpy calls them. And how many numbers an element has.
_TYPES = {5121: "<u1", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_WIDTHS = {"SCALAR": 1, "VEC3": 3}


@dataclass(frozen=True)
class Mesh:
    """A mesh of the file: its corners as they are drawn, and as points in metres with y up."""

    name: str
    points: np.ndarray
    drawn: np.ndarray
    normals: np.ndarray
    faces: np.ndarray
    material: dict[str, Any]

    @property
    def volume(self) -> float:
        a, b, c = (self.points[self.faces[:, i]].astype(np.float64) for i in range(3))
        return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)


def parts_of(content: bytes) -> tuple[dict[str, Any], bytes]:
    """The JSON document and the binary part, once all lengths are right."""
    *head, size, kind = struct.unpack_from("<4sIII4s", content)
    more, other = struct.unpack_from("<I4s", content, 20 + size)
    assert (head, kind, other) == ([b"glTF", 2, len(content)], b"JSON", b"BIN\0")
    assert (size % 4, 28 + size + more) == (0, len(content))
    return json.loads(content[20 : 20 + size]), content[28 + size :]


def read_glb(content: bytes) -> list[Mesh]:
    """The meshes of a file in which nothing is wrong."""
    tree, binary = parts_of(content)
    assert tree["asset"]["version"] == "2.0"
    assert [one["byteLength"] for one in tree["buffers"]] == [len(binary)]
    values = [_values(tree, one, binary) for one in tree["accessors"]]
    waiting, found = list(tree["scenes"][tree["scene"]]["nodes"]), []
    while waiting:
        node = tree["nodes"][waiting.pop(0)]
        waiting += node.get("children", [])
        primitives = tree["meshes"][node["mesh"]]["primitives"] if "mesh" in node else []
        for primitive in primitives:
            drawn, normals = (values[primitive["attributes"][k]] for k in ("POSITION", "NORMAL"))
            faces = values[primitive["indices"]].reshape(-1, 3)
            assert primitive.get("mode", 4) == 4
            assert faces.max() < len(drawn) == len(normals)
            assert np.abs(np.linalg.norm(normals, axis=1) - 1).max() < 1e-5
            matrix = np.array(node["matrix"]).reshape(4, 4).T
            points = drawn.astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
            material = tree["materials"][primitive["material"]]
            found.append(Mesh(node["name"], points, drawn, normals, faces, material))
    return found


def _values(tree: dict[str, Any], accessor: dict[str, Any], binary: bytes) -> np.ndarray:
    """What an accessor tells, held against its own bounds."""
    view = tree["bufferViews"][accessor["bufferView"]]
    begin = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
    kind, width = np.dtype(_TYPES[accessor["componentType"]]), _WIDTHS[accessor["type"]]
    size = accessor["count"] * width * kind.itemsize
    assert begin % 4 == 0
    assert size <= view["byteLength"]
    assert begin + size <= len(binary)
    values = np.frombuffer(binary, kind, accessor["count"] * width, begin).reshape(-1, width)
    for key, bound in (("min", values.min(axis=0)), ("max", values.max(axis=0))):
        assert accessor.get(key, bound.tolist()) == bound.tolist(), f"{key} is wrong"
    return values
