"""Reading mesh files that anybody may have made, within bounds: STL, PLY, GLB, 3MF, OBJ and OFF.

trimesh reads them, and what it would get wrong without an error is looked at first. Where that
means to look at every number, the file is read right here: measured with trimesh 5.2, a concave
OBJ or OFF face of area 1 comes back with area 3, negative OBJ numbers count from the file's end, a
3MF as Bambu Studio writes them (components in other parts) has every mesh as often as its part has
meshes, and of 20 x 20 nested components 155 are left.

What a file is, its content says; its ending only helps when that is not clear. No reader opens
another file, and whatever goes wrong becomes one message.
"""

from __future__ import annotations

import io
import json
import logging
import re
import warnings
import zipfile
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from fabkit.core.errors import InputError, cut, many, printable, shown
from fabkit.core.files import read_bytes
from fabkit.mesh.body import Body, Faces, Points, welded
from fabkit.mesh.files.glb import TO_GLTF

#: A larger file is not read, nor one whose parts inflate to more.
MAX_BYTES = 256 * 1024 * 1024
#: In all bodies of a file together, a mesh counted as often as it is used.
MAX_TRIANGLES = 2_000_000
MAX_BODIES = 1000
#: In the file's unit of length, in mm where it states one: a kilometre.
MAX_COORDINATE = 1e6
#: A GLB file with a body of that extent in mm is taken to be in millimetres, not in metres as it says.
MAX_GLB = 5000.0
MAX_LINES = 15_000_000
MAX_LINE = 64 * 1024
#: Of one face; and of all with more than four: cutting them takes longer than reading them.
MAX_CORNERS, MAX_POLYGON_CORNERS = 1000, 500_000
#: Entries of a 3MF file, components in components in an item, and XML elements without triangles.
MAX_ENTRIES, MAX_NESTED, MAX_ELEMENTS = 2000, 32, 100_000

_EXPECTED = "an STL, 3MF, OBJ, PLY, OFF or GLB file"
_COARSER = f"holds more than {MAX_TRIANGLES} triangles; make the mesh coarser"
_LONGEST_NAME = 60
#: Means something to a terminal, a web page, a shell or a file system.
_UNSAFE = re.compile(r"""[\\/:*?"'`<>|&$\[\]{}]""")


# What trimesh has to say of a file is in the message.
logging.getLogger("trimesh").addHandler(logging.NullHandler())


class _WrongError(Exception):
    """What is wrong with a file, and where in it."""

    def __init__(self, message: str, place: str = "") -> None:
        super().__init__(message)
        self.place = place


def read_bodies(path: Path) -> list[Body]:
    """Reads the bodies of a mesh file.

    An STL, PLY or OFF file is one body. An OBJ file has one for each object, or group, or is one;
    a 3MF or GLB file has one for each mesh at each place where it stands.

    Args:
        path: the file.

    Returns:
        At least one body, in the file's order. Those of 3MF and GLB files are in mm with z up,
        others in whatever length the file is in. Each has a name of its own; its triangles have
        the order and the winding of the file, and their outside outside where a place mirrors it.

    Raises:
        InputError: when it cannot be read, is no mesh file, is damaged, or is larger than anything
            that is printed; with the place in it, what was found and what was expected.
    """
    source, most = printable(str(path)), MAX_BYTES
    with suppress(OSError):  # memory is taken for all that is asked for
        most = min(path.stat().st_size, MAX_BYTES) if path.is_file() else MAX_BYTES
    content = read_bytes(path, source, _EXPECTED, most)
    kind = ""
    try:
        if len(content) > MAX_BYTES:
            raise _WrongError(f"is larger than {MAX_BYTES // 1024**2} MiB; make the mesh coarser")
        kind = _kind(content, path.suffix.lower()[1:])
        # numpy ends at the first word that is no number, and only warns.
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            warnings.filterwarnings("error", "string or file could not be read")
            return _sound(path.name, [one for one in _READERS[kind](content) if len(one.faces)])
    except _WrongError as wrong:
        raise InputError.of(source, printable(f"{wrong}"), printable(wrong.place)) from None
    except Exception as error:  # trimesh, zipfile and expat promise nothing about what they raise
        reason = cut(printable(f"{error}"[:200])) or type(error).__name__
        reason = f"it lacks {reason}" if isinstance(error, KeyError) else reason
        said = f"cannot be read as {kind.upper()} ({reason}); export it again"
        raise InputError.of(source, said) from None


_OBJ_VERTEX = re.compile(rb"(?m)^[ \t]*v(?:[ \t]+[-+.0-9]\S*){3}")
_OFF_HEAD = re.compile(rb"(?:\s*+#[^\n]*+\n)*+\s*+(?:ST)?C?N?OFF(?!\w)")


def _kind(content: bytes, suffix: str) -> str:
    """Which of the formats a file is in: how its name usually ends."""
    start = content[: 4 * MAX_LINE]
    is_text = b"\0" not in start[:1024]
    looks = {
        "3mf": content.startswith((b"PK\x03\x04", b"PK\x05\x06")),
        "glb": content.startswith(b"glTF"),
        # What a binary STL's header says is not asked: many begin with "solid", as text does.
        "stl": _stl_size(content) == len(content)
        or (is_text and start.lower().lstrip().startswith(b"solid")),
        "ply": re.match(rb"ply\s", start),
        "off": is_text and _OFF_HEAD.match(start),
        "obj": is_text and _OBJ_VERTEX.search(start),
    }
    for kind, found in looks.items():
        if found:
            return kind
    if content and suffix in _READERS:
        return suffix
    raise _WrongError(f"is {'of no known kind' if content else 'empty'}; expected {_EXPECTED}")


def _sound(file: str, found: Sequence[Body]) -> list[Body]:
    """The bodies under their last names, if there are any and all their corners are somewhere."""
    if not found:
        raise _WrongError("holds no triangles; expected a solid's surface")
    if len(found) > MAX_BODIES:
        raise _WrongError(f"holds more than {MAX_BODIES} bodies; split it into several files")
    if sum(len(body.faces) for body in found) > MAX_TRIANGLES:
        raise _WrongError(_COARSER)
    names = body_names(file, [body.name for body in found])
    bodies = []
    for name, body in zip(names, found, strict=True):
        place, flat = name.partition(": ")[2], body.faces.ravel()
        lost = (flat < 0) | (flat >= len(body.vertices))
        said = f"names a vertex that is none of its {len(body.vertices)}"
        if not lost.any():
            corners = body.vertices[flat]
            lost = np.any(~(np.abs(corners) <= MAX_COORDINATE), axis=1)
            at = ", ".join(f"{value:g}" for value in corners[np.argmax(lost)])
            said = f"has a corner at ({at}); expected numbers of at most {MAX_COORDINATE:.0f}"
        if lost.any():
            triangle = f"triangle {np.argmax(lost) // 3 + 1}"
            raise _WrongError(said, f"{place}, {triangle}" if place else triangle)
        bodies.append(welded(name, body.vertices, body.faces))
    return bodies


def body_names(file: str, names: Sequence[str]) -> list[str]:
    r"""What messages call the bodies of a file.

    Args:
        file: the file's name.
        names: the bodies' names as the file gives them: anything, also nothing.

    Returns:
        One different name for each; only the file's if there is one body. Without control
        characters, path parts and markup.

    Example:
        >>> body_names("a.3mf", ["A", "A", "", "<b>../\n" + "x" * 100])[2:]
        ['a.3mf: body 3', 'a.3mf: _b_.._\\nxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…']
        >>> body_names("a.3mf", ["A", "A"])
        ['a.3mf: A', 'a.3mf: A (2)']
    """
    file = cut(printable(file))
    if len(names) == 1:
        return [file]
    taken: set[str] = set()
    result = []
    for position, name in enumerate(names, start=1):
        clean = _UNSAFE.sub("_", name[: 2 * _LONGEST_NAME].strip())
        wished = cut(printable(clean)) or f"body {position}"
        given, number = wished, 1
        while given in taken:
            number += 1
            given = f"{wished} ({number})"
        taken.add(given)
        result.append(f"{file}: {given}")
    return result


# --- STL: triangles without names or units ---------------------------------------------------

_STL_HEAD = 84
# Every repetition is possessive, so that no text takes more than one look at each character.
# A normal is not used, and some programs write nan into it.
_NUMBER = rb"\s++[-+]?(?:[0-9]++\.?+[0-9]*+|\.[0-9]++)(?:e[-+]?[0-9]++)?+(?!\S)"
_FACET = (
    rb"\s*+facet\s++normal(?:\s++[!-~]++){3}\s++outer\s++loop"
    rb"(?:\s++vertex(?:" + _NUMBER + rb"){3}){3}\s++endloop\s++endfacet(?!\S)"
)
_SOLID = rb"\s*+solid(?!\S)[^\n]*+(?:" + _FACET + rb")*+"
_STL = re.compile(rb"(?:" + _SOLID + rb"\s*+end\s?+solid(?!\S)[^\n]*+)*+\s*+", re.IGNORECASE)
_STL_BEGUN = re.compile(_SOLID + rb"\s*+", re.IGNORECASE)


def _stl_size(content: bytes) -> int:
    """How long a binary STL with its count of triangles is, in bytes."""
    return _STL_HEAD + 50 * int.from_bytes(content[_STL_HEAD - 4 : _STL_HEAD], "little")


def _read_stl(content: bytes) -> Iterator[Body]:
    """All solids of the file are one body."""
    import trimesh

    if len(content) != _stl_size(content):
        content = _plain_stl(content)
    elif len(content) > _stl_size(b"") + 50 * MAX_TRIANGLES:
        raise _WrongError(_COARSER)
    scene = trimesh.load_scene(io.BytesIO(content), file_type="stl", process=False)
    for mesh in scene.geometry.values():
        yield Body("", np.asarray(mesh.vertices, float), np.asarray(mesh.faces))


def _plain_stl(content: bytes) -> bytes:
    """An ASCII STL that is whole, as one solid without a name.

    trimesh leaves out a solid that does not end, without an error, and reads on in names.
    """
    if b"\0" in content[:1024] and len(content) >= _STL_HEAD:
        announced = many((_stl_size(content) - _STL_HEAD) // 50, "triangle")
        raise _WrongError(
            f"is no complete STL file: its header announces {announced}, which take "
            f"{_stl_size(content)} bytes, and it has {len(content)}; export it again"
        )
    whole = _STL.match(content)
    end = whole.end() if whole else 0
    if end < len(content):
        begun = _STL_BEGUN.match(content, end)
        if not begun and not end:
            raise _WrongError(
                "is no STL file: a binary one has a header of 84 bytes, an ASCII one begins with "
                f'"solid"; found {shown(content[:40].decode("latin-1"))}'
            )
        expected = "a facet with three vertices, or endsolid" if begun else "solid, or the end"
        end = begun.end() if begun else end
        line = content.count(b"\n", 0, end) + 1
        found = content[end : end + 200].decode("latin-1").split("\n")[0]
        raise _WrongError(
            f"expected {expected}, found {shown(found) if found else 'its end'}; export it again",
            f"line {line}",
        )
    words = re.sub(rb"solid[^\n]*", b"", content.lower()).replace(b"endloop", b"\nendloop")
    return b"solid\n%s\nendsolid\n" % words.replace(b"vertex", b"\nvertex")


# --- OBJ, OFF and PLY: polygons --------------------------------------------------------------

#: They say how things look, are drawn or are called; none has a volume.
_LOOKS = {"vt", "vn", "vp", "s", "mtllib", "usemtl", "maplib", "usemap", "shadow_obj", "trace_obj"}
_IGNORED = _LOOKS | {"l", "p", "mg", "lod", "bevel", "c_interp", "d_interp", "ctech", "stech"}


def _lines(content: bytes) -> Iterator[tuple[int, list[str]]]:
    """The lines that say something: number and words."""
    if content.count(b"\n") > MAX_LINES:
        raise _WrongError(f"has more than {MAX_LINES} lines; make the mesh coarser")
    begun = b""
    for number, raw in enumerate(io.BytesIO(content.removeprefix(b"\xef\xbb\xbf")), start=1):
        line = begun + raw.rstrip(b"\r\n")
        if len(line) > MAX_LINE:
            raise _WrongError(f"is longer than {MAX_LINE} bytes", f"line {number}")
        begun = line[:-1] + b" " if line.endswith(b"\\") else b""
        words = [] if begun else line.decode("utf-8", "replace").partition("#")[0].split()
        if words:
            yield number, words
    if begun:
        raise _WrongError("the file ends in the middle of a line")


def _read_obj(content: bytes) -> Iterator[Body]:
    """Each object (``o``) is a body; without objects each group (``g``), without either the file."""
    numbers: array[float] = array("d")
    polygons: list[list[int]] = []
    names, owners, label, has_objects = {("", 0): 0}, array("q"), ("", 0), False
    for line, (keyword, *words) in _lines(content):
        try:
            if keyword == "v":
                numbers.extend([float(word) for word in (words + [""] * 3)[:3]])
            elif keyword == "f":
                polygons.append([_corner(word, len(numbers) // 3) for word in words])
                owners.append(names.setdefault(label, len(names)))
            elif keyword == "o":  # those of one name are several; a group goes on
                label, has_objects = (" ".join(words), line), True
            elif keyword == "g" and not has_objects:
                label = (" ".join(words), 0)
            elif keyword not in {"g", *_IGNORED}:
                expected = "expected an OBJ file of polygons, with v, f, o and g"
                raise _WrongError(f"unknown statement {shown(keyword[:200])}; {expected}")
        except _WrongError as wrong:
            raise _WrongError(f"{wrong}", f"line {line}") from None
        except ValueError:
            found = shown(" ".join([keyword, *words])[:200])
            raise _WrongError(f"expected numbers, found {found}", f"line {line}") from None
    if len(names) > MAX_BODIES:
        raise _WrongError(f"holds more than {MAX_BODIES} bodies; split it into several files")
    vertices = np.frombuffer(numbers).reshape(-1, 3)
    faces, which = _triangles(polygons, vertices)
    owner = np.frombuffer(owners, np.int64)[which]
    for (name, _), number in names.items():
        yield Body(name, vertices, faces[owner == number])


def _corner(word: str, so_far: int) -> int:
    """The vertex that a corner such as ``3/1/2`` or ``-1`` names, counted from 0."""
    said = int(word.partition("/")[0])
    if said == 0 or said < -so_far:
        raise _WrongError(f"a face names vertex {said}; the vertices so far are {so_far}")
    return said - 1 if said > 0 else said + so_far


def _read_off(content: bytes) -> Iterator[Body]:
    lines = [words for _, words in _lines(content)]
    head, *counts = lines.pop(0)
    corners, count = (int(word) for word in (counts or lines.pop(0))[:2])
    if not head.endswith("OFF") or min(corners, count) < 0 or len(lines) < corners + count:
        raise _WrongError(
            f"counts {corners} vertices and {count} faces, and has {len(lines)} lines"
        )
    points = np.array([[float(word) for word in words[:3]] for words in lines[:corners]])
    rows = lines[corners : corners + count]
    polygons = [[int(word) for word in row[1 : int(row[0]) + 1]] for row in rows]
    if any(len(polygon) != int(row[0]) for polygon, row in zip(polygons, rows, strict=True)):
        raise _WrongError("a face has fewer corners than it counts")
    yield Body("", points, _triangles(polygons, points)[0])


def _read_ply(content: bytes) -> Iterator[Body]:
    """The polygons as trimesh finds them; after that it cuts them into fans."""
    from trimesh.exchange.ply import load_ply

    elements = load_ply(io.BytesIO(content), skip_materials=True)["metadata"]["_ply_raw"]
    corners, faces = (elements.get(name, {}).get("data") for name in ("vertex", "face"))
    if corners is None or faces is None:
        return
    points = np.column_stack([corners[axis] for axis in "xyz"]).astype(float)
    listed = elements["face"]["properties"]
    key = "vertex_indices" if "vertex_indices" in listed else "vertex_index"
    polygons = faces[key] if isinstance(faces, dict) else faces[key]["f1"]
    for name, found in (("vertex", points), ("face", polygons)):
        if len(found) != elements[name]["length"]:
            announced = many(elements[name]["length"], f"{name} line")
            raise _WrongError(f"announces {announced} and has {len(found)}; export it again")
    yield Body("", points, _triangles(polygons, points)[0])


def _triangles(
    polygons: Sequence[Sequence[int]], vertices: Points
) -> tuple[Faces, NDArray[np.int64]]:
    """Cuts polygons into triangles with the same winding, also those that are not convex.

    The fan from the first corner is taken where all its triangles face the polygon's way: none is
    folded back, and none is a mere line, as with three corners in a row.

    Returns:
        The triangles in the polygons' order, and the position of the polygon of each.

    Example:
        >>> arrow = np.array([[0.0, 0, 0], [2, 1, 0], [0, 2, 0], [1, 1, 0]])
        >>> sorted(map(sorted, _triangles([[0, 1, 2, 3]], arrow)[0].tolist()))
        [[0, 1, 3], [1, 2, 3]]
    """
    sizes = np.array([len(polygon) for polygon in polygons], dtype=np.int64)
    for wrong in sizes[(sizes < 3) | (sizes > MAX_CORNERS)]:
        expected = f"expected 3 to {MAX_CORNERS}; cut it into triangles"
        raise _WrongError(f"has a face with {many(int(wrong), 'corner')}; {expected}")
    if (sizes - 2).sum() > MAX_TRIANGLES or sizes[sizes > 4].sum() > MAX_POLYGON_CORNERS:
        raise _WrongError("holds too many faces, or too large ones; make the mesh coarser")
    found, which = [np.empty((0, 3), np.int64)], [np.empty(0, np.int64)]
    for size in np.unique(sizes):
        rows = np.flatnonzero(sizes == size)
        table = np.array([polygons[row] for row in rows.tolist()], dtype=np.int64)
        outside = table[(table < 0) | (table >= len(vertices))]
        if len(outside):
            said = f"a face names vertex {outside[0]}, counted from 0"
            raise _WrongError(f"{said}; there are {len(vertices)}")
        first = np.broadcast_to(table[:, :1], table[:, 2:].shape)
        fans = np.stack([first, table[:, 1:-1], table[:, 2:]], axis=2)
        a, b, c = np.moveaxis(vertices[fans], -2, 0)
        normals = np.cross(b - a, c - a)
        whole = normals.sum(axis=1)
        folded = ~(np.einsum("ijk,ik->ij", normals, whole) > 0).all(axis=1)
        for row in np.flatnonzero(folded & (size > 3) & np.isfinite(whole).all(axis=1)):
            fans[row] = _cut(table[row], vertices[table[row]], whole[row], fans[row])
        found.append(fans.reshape(-1, 3))
        which.append(np.repeat(rows, size - 2))
    order = np.argsort(np.concatenate(which), kind="stable")
    return np.concatenate(found)[order], np.concatenate(which)[order]


def _cut(polygon: Faces, points: Points, normal: Points, fan: Faces) -> Faces:
    """The triangles of one polygon, seen along the axis on which it is largest."""
    import manifold3d

    axis = int(np.argmax(np.abs(normal)))
    seen = [(1, 2), (2, 0), (0, 1)][axis]
    flat = points[:, seen if normal[axis] > 0 else seen[::-1]]
    found = np.asarray(manifold3d.triangulate([flat]), dtype=np.int64)
    # It promises as much; a polygon without an area may be the exception.
    complete = found.shape == fan.shape and 0 <= found.min() <= found.max() < len(polygon)
    return np.asarray(polygon[found] if complete else fan)


# --- GLB and 3MF: bodies at their places, in a known unit ------------------------------------


def _moved(name: str, vertices: Points, faces: Faces, matrix: NDArray[np.float64]) -> Body:
    """A body brought to its place; the outside of its mirror image is still its outside."""
    turn = matrix[:3, :3]
    turns = np.linalg.det(turn)
    if turns == 0:
        raise _WrongError("a transform flattens a body; expected its size kept")
    points = vertices @ turn.T + matrix[:3, 3]
    return Body(name, points, faces[:, ::-1] if turns < 0 else faces)


#: What a GLB file may need that is no matter of where its corners are.
_ONLY_LOOKS = re.compile(r"KHR_(?:materials|texture|lights)_\w+|EXT_texture_\w+")


def _read_glb(content: bytes) -> Iterator[Body]:
    """Each node with a mesh is a body; the parts of a mesh that look different are one."""
    import trimesh

    tree = json.loads(content[20 : 20 + int.from_bytes(content[12:16], "little")])
    for needed in tree.get("extensionsRequired", ()):
        if not _ONLY_LOOKS.fullmatch(needed):
            raise _WrongError(
                f"needs {shown(needed)}, which fabkit does not read; export plain meshes"
            )
    # trimesh takes the numbers for zero, and leaves the triangles out.
    if any("sparse" in one or "bufferView" not in one for one in tree["accessors"]):
        raise _WrongError(
            "keeps its corners in a way that fabkit does not read; export plain meshes"
        )
    parts = [part for mesh in tree["meshes"] for part in mesh["primitives"]]
    if any(part.get("mode") == 6 for part in parts):
        raise _WrongError("has triangle fans, which fabkit does not read; export plain triangles")
    used = [tree["accessors"][part["attributes"]["POSITION"]]["count"] for part in parts]
    if sum(used) > 3 * MAX_TRIANGLES or max(len(parts), len(tree["nodes"])) > MAX_BODIES:
        raise _WrongError(_COARSER)
    scene = trimesh.load_scene(
        io.BytesIO(content), file_type="glb", process=False, skip_materials=True
    )
    bodies: dict[str, Body] = {}
    for node in reversed(scene.graph.nodes_geometry):  # it goes through them from the last
        matrix, geometry = scene.graph[node]
        mesh, parent = scene.geometry[geometry], str(scene.graph.transforms.parents[node])
        if not hasattr(mesh, "faces"):
            continue  # lines or points
        # trimesh gives each part a node below its mesh's, with a name of no meaning.
        name = parent if node.rpartition("_")[0] == parent else node
        one = _moved(name, mesh.vertices, mesh.faces, np.linalg.inv(TO_GLTF) @ matrix)
        before = bodies.get(name, Body(name, one.vertices[:0], one.faces[:0]))
        vertices = np.concatenate([before.vertices, one.vertices])
        faces = np.concatenate([before.faces, one.faces + len(before.vertices)])
        bodies[name] = Body(name, vertices, faces)
    # Many write millimetres where the format has metres.
    sizes = (np.ptp(body.vertices, axis=0).max() for body in bodies.values())
    too_large = max(sizes, default=0.0) > MAX_GLB
    for body in bodies.values():
        yield Body(body.name, body.vertices / 1000 if too_large else body.vertices, body.faces)


_CORE = "http://schemas.microsoft.com/3dmanufacturing/core/2015/02"
_LINKS = "_rels/.rels"
_LINK_SPACE = "http://schemas.openxmlformats.org/package/2006/relationships"
_READ_SPACES = (f"{{{_CORE}}}", f"{{{_LINK_SPACE}}}")
_VERTEX, _TRIANGLE, _MESH = (f"{{{_CORE}}}{name}" for name in ("vertex", "triangle", "mesh"))
_PRODUCTION = "http://schemas.microsoft.com/3dmanufacturing/production/2015/06"
#: A file that requires another one holds shapes that would be missed, or cannot be read at all.
_UNDERSTOOD = {
    _CORE,
    _PRODUCTION,
    "http://schemas.microsoft.com/3dmanufacturing/material/2015/02",
    "http://schemas.3mf.io/3dmanufacturing/trianglesets/2021/07",
}
_UNITS_MM = {
    "micron": 0.001,
    "millimeter": 1.0,
    "centimeter": 10.0,
    "inch": 25.4,
    "foot": 304.8,
    "meter": 1000.0,
}


class _Model(ElementTree.TreeBuilder):
    """A part's XML as it is read: what the core of the format has, and the corners as numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.meshes: dict[Any, tuple[Points, Faces]] = {}
        self.spaces: dict[str, str] = {}
        self._numbers, self._corners, self._elements = array("d"), array("q"), 0

    def start_ns(self, prefix: str, uri: str) -> None:
        self.spaces[prefix] = uri

    def doctype(self, *_: object) -> None:
        raise _WrongError("has a document type (DOCTYPE), which 3MF forbids")

    def data(self, data: str, /) -> None:
        """Text says nothing here."""

    def start(self, tag: str, values: dict[str, str], /) -> Any:
        if tag == _VERTEX:
            self._numbers.extend([float(values[key]) for key in "xyz"])
        elif tag == _TRIANGLE:
            self._corners.extend([int(values[key]) for key in ("v1", "v2", "v3")])
        elif tag.startswith(_READ_SPACES):
            self._elements += 1
            if self._elements > MAX_ELEMENTS:
                raise _WrongError(f"has more than {MAX_ELEMENTS} elements that are no triangles")
            return super().start(tag, values)
        return None

    def end(self, tag: str, /) -> Any:
        if tag in {_VERTEX, _TRIANGLE} or not tag.startswith(_READ_SPACES):
            return None
        one = super().end(tag)
        if tag == _MESH:
            points = np.frombuffer(self._numbers).reshape(-1, 3)
            self.meshes[one] = points, np.frombuffer(self._corners, np.int64).reshape(-1, 3)
            self._numbers, self._corners = array("d"), array("q")
        return one


class _Package:
    """A 3MF file: models in XML, in a zip archive."""

    def __init__(self, content: bytes) -> None:
        # Each entry of the directory begins with this mark, however many the file says there are.
        if content.count(b"PK\x01\x02") > MAX_ENTRIES:
            raise _WrongError(f"is an archive of more than {MAX_ENTRIES} entries")
        self._zip = zipfile.ZipFile(io.BytesIO(content))
        self._entries = {_folded(one.filename): one for one in self._zip.infolist()}
        self._roots: dict[str, Any] = {}
        self._meshes: dict[Any, tuple[Points, Faces]] = {}
        self._left = MAX_BYTES
        self._bodies = self._triangles = 0

    def bodies(self) -> Iterator[Body]:
        """Each mesh at every place where an item of the build has it."""
        kind = "http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel"
        links = self._part(_LINKS).iterfind("{*}Relationship")
        root = [_folded(one.get("Target", "")) for one in links if one.get("Type") == kind]
        if len(root) != 1:
            raise _WrongError(f"expected one 3D model, found {len(root)}", _LINKS)
        unit = self._part(root[0]).get("unit", "millimeter")
        if unit not in _UNITS_MM:
            known = ", ".join(_UNITS_MM)
            raise _WrongError(f"unknown unit {shown(unit[:200])}; expected one of {known}", root[0])
        to_mm = np.diag([_UNITS_MM[unit]] * 3 + [1.0])
        items = self._part(root[0]).findall("{*}build/{*}item")
        if not items:
            raise _WrongError("has nothing to build; add its objects to the build", root[0])
        for item in items:
            yield from self._placed(root[0], item, to_mm, "", ())

    def _part(self, name: str) -> Any:
        """The root of a part's XML; what parts inflate to is counted, whatever they announce."""
        if name in self._roots:
            return self._roots[name]
        if name not in self._entries:
            raise _WrongError(f"lacks the part {shown(name)}")
        model = _Model()
        parser = ElementTree.XMLParser(target=model)  # noqa: S314 - it has no document type
        try:
            with self._zip.open(self._entries[name]) as stream:
                while chunk := stream.read(1024 * 1024):
                    self._left -= len(chunk)
                    if self._left < 0:
                        raise _WrongError(f"inflates to more than {MAX_BYTES // 1024**2} MiB")
                    parser.feed(chunk)
            root = self._roots[name] = parser.close()
            if root is None:
                raise _WrongError("is XML that is not 3MF")
            for prefix in root.get("requiredextensions", "").split():
                space = model.spaces.get(prefix, prefix)
                if space not in _UNDERSTOOD:
                    needs = f"needs {shown(space[:200])}, which fabkit does not read"
                    raise _WrongError(f"{needs}; export it as a plain mesh")
        except _WrongError as wrong:
            raise _WrongError(f"{wrong}", name) from None
        self._meshes |= model.meshes
        return root

    def _placed(
        self, part: str, used: Any, outer: NDArray[np.float64], name: str, above: tuple[Any, ...]
    ) -> Iterator[Body]:
        """The bodies of an item or a component.

        Each object that is looked at leads to a mesh or to a refusal, and meshes are counted; so
        components that double at every step soon end.
        """
        part = _folded(used.get(f"{{{_PRODUCTION}}}path", part))
        number = used.get("objectid", "")
        place = f"{part}: object {shown(number)}"
        found = [
            one
            for one in self._part(part).iterfind("{*}resources/{*}object")
            if one.get("id") == number
        ]
        if len(found) != 1:
            raise _WrongError(f"expected one object of this number, found {len(found)}", place)
        one, words = found[0], used.get("transform", "1 0 0 0 1 0 0 0 1 0 0 0").split()
        if one in above or len(above) == MAX_NESTED:
            raise _WrongError(f"nests components in a circle, or deeper than {MAX_NESTED}", place)
        if len(words) != 12:
            raise _WrongError(f"a transform has 12 numbers, this one {len(words)}", place)
        rows = np.reshape([float(word) for word in words], (4, 3))
        inner, name = outer @ np.vstack([rows.T, [0, 0, 0, 1]]), one.get("name") or name
        components = one.findall("{*}components/{*}component")
        meshes = one.findall("{*}mesh")
        if len(meshes) + bool(components) != 1:
            raise _WrongError("expected either a mesh or components", place)
        for component in components:
            yield from self._placed(part, component, inner, name, (*above, one))
        for mesh in meshes:
            vertices, faces = self._meshes[mesh]
            self._bodies += 1
            self._triangles += len(faces)
            if self._bodies > MAX_BODIES or self._triangles > MAX_TRIANGLES:
                raise _WrongError(_COARSER)
            yield _moved(name, vertices, faces, inner)


def _folded(name: str) -> str:
    """Names of parts are compared without case, and with or without a slash at the start."""
    return unquote(name).strip("/").casefold()


_READERS: dict[str, Callable[[bytes], Iterator[Body]]] = {
    "stl": _read_stl,
    "obj": _read_obj,
    "off": _read_off,
    "ply": _read_ply,
    "3mf": lambda content: _Package(content).bodies(),
    "glb": _read_glb,
}
