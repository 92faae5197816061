"""Readers of untrusted mesh files, within bounds: STL, PLY, GLB, 3MF, OBJ and OFF.

trimesh (5.2) reads PLY and GLB. It misreads the others without an error: a truncated ASCII STL is
empty, a concave OBJ or OFF face of area 1 comes back with area 3, a 3MF as Bambu Studio writes them
(components in other parts) has every mesh as often as its part has meshes. lib3mf (2.5) refuses a
whole 3MF for one degenerate triangle, and CadQuery's for a missing content type, and follows
doubled components endlessly. No reader opens another file.
"""

from __future__ import annotations

import io
import json
import logging
import re
import warnings
import zipfile
from array import array
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count, groupby, islice
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from fabkit.core.errors import InputError, escape, pluralize, quote, truncate
from fabkit.core.parsing import read_bytes
from fabkit.mesh.manifold import joined
from fabkit.mesh.mesh import Faces, Mesh, Points, area_vectors, welded
from fabkit.mesh.topology import Shell, shells

#: From mm with z up to glTF's metres with y up: x stays, y comes towards the viewer.
_TO_GLTF = np.array(
    [[0.001, 0.0, 0.0, 0.0], [0.0, 0.0, 0.001, 0.0], [0.0, -0.001, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
)
#: Limit on the size of a file, and of its parts when inflated.
MAX_BYTES = 256 * 1024 * 1024
#: Limit for all bodies of a file together; a mesh counts as often as it is used.
MAX_TRIANGLES = 2_000_000
MAX_BODIES = 1000
#: In the file's unit of length, or in mm if it states one: a kilometre.
MAX_COORDINATE = 1e6
MAX_LINE = 64 * 1024
#: Corners of one face: triangulation takes quadratic time.
MAX_CORNERS = 1000
#: Entries of a 3MF file.
MAX_ENTRIES = 2000
#: XML elements of a 3MF file, triangles not counted.
MAX_ELEMENTS = 100_000

_EXPECTED = "an STL, 3MF, OBJ, PLY, OFF or GLB file"
_COARSER = f"holds more than {MAX_TRIANGLES} triangles; make the mesh coarser"
# Messages cover what trimesh logs about a file.
logging.getLogger("trimesh").addHandler(logging.NullHandler())


class _MeshFileError(Exception):
    """The fault of a file, and its place, if known."""


def read_meshes(path: Path) -> list[Mesh]:
    """Read the meshes of a file: at least one, in the file's order.

    An STL, PLY or OFF file is one body. An OBJ file has one for each object, or for each group, or
    is one; a 3MF or GLB file has one for each instance of a mesh. Those two are in mm with z up,
    others in the file's own unit of length. Triangles keep the order and the winding of the file,
    except that mirrored instances are flipped to face outwards.

    Raises:
        InputError: when it cannot be read, is not a mesh file, is damaged, or is larger than any
            print; with the place, what was found and what was expected.
    """
    source = escape(str(path))
    content = read_bytes(path, source, _EXPECTED, MAX_BYTES)
    kind = ""
    try:
        if len(content) > MAX_BYTES:
            raise _MeshFileError(
                f"is larger than {MAX_BYTES // 1024**2} MiB; make the mesh coarser"
            )
        kind = _kind(content, path.suffix.lower()[1:])
        # numpy stops at the first word that is not a number, and only warns.
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            warnings.filterwarnings("error", "string or file could not be read")
            return _sound(truncate(escape(path.name)), _READERS[kind](content))
    except _MeshFileError as wrong:
        raise InputError.of(source, *map(escape, wrong.args)) from None
    except Exception as error:  # trimesh, zipfile and expat promise nothing about what they raise
        reason = truncate(escape(f"{error}"[:200])) or type(error).__name__
        if isinstance(error, RecursionError):
            reason = "its parts are nested in a cycle, or too deeply"
        reason = f"it lacks {reason}" if isinstance(error, KeyError) else reason
        message = f"cannot be read as {kind.upper()} ({reason}); export it again"
        raise InputError.of(source, message) from None


def _kind(content: bytes, suffix: str) -> str:
    """Return the format, detected by content or else by the file's suffix."""
    start = content[: 4 * MAX_LINE]
    is_text = b"\0" not in start[:1024]
    matches = {
        "3mf": content.startswith((b"PK\x03\x04", b"PK\x05\x06")),
        "glb": content.startswith(b"glTF"),
        # The header of a binary STL is ignored: many begin with "solid", as text does.
        "stl": _stl_size(content) == len(content)
        or (is_text and re.match(rb"(?i)\s*+solid(?!\S)", start)),
        "ply": re.match(rb"ply\s", start),
        "off": is_text and re.match(rb"(?:\s*+#[^\n]*+\n)*\s*+(?:ST)?C?N?OFF(?!\w)", start),
        "obj": is_text and re.search(rb"(?m)^[ \t]*v(?:[ \t]+[-+.0-9]\S*){3}", start),
    }
    kind = next((kind for kind, matched in matches.items() if matched), suffix)
    if kind not in _READERS or not content:
        fault = "has an unknown format" if content else "is empty"
        raise _MeshFileError(f"{fault}; expected {_EXPECTED}")
    return kind


def _sound(file: str, bodies_read: Iterator[Mesh]) -> list[Mesh]:
    """Return the bodies that have triangles, with unique names, after checking that all corners are
    finite; counted while they are read, so that endless input stops early."""
    bodies, triangles = list[Mesh](), 0
    for number, body in enumerate(bodies_read, start=1):
        triangles += len(body.faces)
        if number > MAX_BODIES:
            raise _MeshFileError(
                f"holds more than {MAX_BODIES} bodies; split it into several files"
            )
        if triangles > MAX_TRIANGLES:
            raise _MeshFileError(_COARSER)
        corners = body.vertices[body.faces.ravel()]
        far = np.flatnonzero(~(np.abs(corners) <= MAX_COORDINATE).all(axis=1))
        if len(far):
            corner = ", ".join(f"{value:g}" for value in corners[far[0]])
            message = (
                f"has a corner at ({corner}); expected numbers of at most {MAX_COORDINATE:.0f}"
            )
            triangle = f"triangle {far[0] // 3 + 1}"
            raise _MeshFileError(message, f"{body.name}, {triangle}" if body.name else triangle)
        bodies += [welded(body.name, body.vertices, body.faces)] if len(body.faces) else []
    if not bodies:
        raise _MeshFileError("holds no triangles; expected a solid's surface")
    if len(bodies) == 1:
        return [replace(bodies[0], name=file)]
    names = _different([body.name for body in bodies])
    return [replace(body, name=f"{file}: {name}") for body, name in zip(bodies, names, strict=True)]


def _different(names: Sequence[str]) -> list[str]:
    """Return unique names, without control characters, path separators and markup."""
    result: list[str] = []
    for position, name in enumerate(names, start=1):
        # Remove characters that are special in terminals, web pages, shells or file systems.
        safe = re.sub(r"""[\\/:*?"'`<>|&$\[\]{}]""", "_", name[:200].strip())
        wished = truncate(escape(safe)) or f"body {position}"
        others = (f"{wished} ({number})" for number in count(2))
        result.append(next(name for name in chain([wished], others) if name not in result))
    return result


def _check_corners(
    corners: NDArray[np.int64], vertices: Points, lines: NDArray[np.int64] | None = None
) -> None:
    outside = np.flatnonzero((corners < 0) | (corners >= len(vertices)))
    for first in outside[:1]:
        message = f"a face names vertex {corners[first]}, counted from 0; there are {len(vertices)}"
        raise _MeshFileError(message, "" if lines is None else f"line {lines[first]}")


def _lines(content: bytes) -> Iterator[tuple[int, list[str]]]:
    """Yield the non-empty lines of a text: number and words."""
    for number, line in enumerate(io.BytesIO(content.removeprefix(b"\xef\xbb\xbf")), start=1):
        if len(line) > MAX_LINE:
            raise _MeshFileError(f"is longer than {MAX_LINE} bytes", f"line {number}")
        if words := line.decode("utf-8", "replace").partition("#")[0].split():
            yield number, words


_FACET = ("facet or endsolid", "outer", "vertex", "vertex", "vertex", "endloop", "endfacet")


def _stl_size(content: bytes) -> int:
    """Return the size in bytes of a binary STL with its count of triangles."""
    return 84 + 50 * int.from_bytes(content[80:84], "little")


def _read_stl(content: bytes) -> Iterator[Mesh]:
    """Yield the solids of the file as one body, without normals: some programs write nan."""
    size = _stl_size(content)
    if len(content) == size:
        if size > 84 + 50 * MAX_TRIANGLES:
            raise _MeshFileError(_COARSER)
        facets = np.frombuffer(content, "3<f4, 9<f4, <u2", offset=84)
        points = facets["f1"].reshape(-1, 3).astype(float)
    elif b"\0" in content[:1024]:
        raise _MeshFileError(
            "is not a complete STL file: its header announces "
            f"{pluralize(size // 50 - 1, 'triangle')}, which take {size} bytes, and it has "
            f"{len(content)}; export it again"
        )
    else:
        points = _ascii_corners(content)
    yield Mesh("", points, np.arange(len(points)).reshape(-1, 3))


def _ascii_corners(content: bytes) -> Points:
    """Return the corners of all facets of a complete ASCII STL."""
    numbers, step = array("d"), -1  # the position in a facet, or outside a solid
    lines = _lines(re.sub(b"(?i)end solid", b"endsolid", content))
    for line, words in chain(lines, [(0, ["the end"])]):
        keyword = words[0].lower()
        expected = _FACET[step] if step >= 0 else "solid or the end"
        if keyword not in expected.split(" or "):
            text = quote(" ".join(words)[:200]) if line else "the end of the file"
            message = f"expected {expected}, found {text}; export it again"
            raise _MeshFileError(message, f"line {line}" if line else "")
        if keyword == "vertex":
            numbers.extend(_numbers(line, [*words, "", ""][:4]))
        step = -1 if keyword == "endsolid" else (step + 1) % len(_FACET)
    return np.array(numbers).reshape(-1, 3)


def _numbers(line: int, words: Sequence[str], how: Callable[[str], Any] = float) -> list[Any]:
    """Return the numbers after the first word of a line."""
    try:
        return [how(word) for word in words[1:]]
    except ValueError:
        text = quote(" ".join(words)[:200].strip())
        raise _MeshFileError(f"expected numbers, found {text}", f"line {line}") from None


#: OBJ statements on appearance, drawing or names; none affects the solid.
_IGNORED = {
    *("vt", "vn", "vp", "s", "mtllib", "usemtl", "maplib", "usemap", "shadow_obj", "trace_obj"),
    *("l", "p", "mg", "lod", "bevel", "c_interp", "d_interp", "ctech", "stech", "g"),
}


def _read_obj(content: bytes) -> Iterator[Mesh]:
    """Yield a body for each object (``o``), without them for each group (``g``), or the file."""
    numbers, label, has_objects = array("d"), ("", 0), False
    polygons: dict[tuple[str, int], dict[int, list[int]]] = {}  # by object or group, by line
    for line, words in _lines(re.sub(rb"\\\r?\n", b" ", content)):
        keyword, name = words[0], " ".join(words[1:])
        if keyword == "v":
            numbers.extend(_numbers(line, [*words, "", ""][:4]))
        elif keyword == "f":
            first = len(numbers) // 3  # negative indices count back from here
            corners = _numbers(line, words, lambda word: int(word.partition("/")[0]))
            polygon = [corner - 1 if corner >= 0 else corner + first for corner in corners]
            polygons.setdefault(label, {})[line] = polygon
        elif keyword == "o":  # objects with equal names are separate; a group continues
            label = (name, line)
            has_objects = True
        elif keyword == "g" and not has_objects:
            label = (name, 0)
        elif keyword not in _IGNORED:
            message = f"unknown statement {quote(keyword[:200])}; expected an OBJ file of polygons"
            raise _MeshFileError(f"{message}, with v, f, o and g", f"line {line}")
    vertices = np.array(numbers).reshape(-1, 3)
    for (name, _), polygon_lines in polygons.items():
        faces = _triangles([*polygon_lines.values()], vertices, [*polygon_lines])
        yield Mesh(name, vertices, faces)


def _read_off(content: bytes) -> Iterator[Mesh]:
    lines = [words for _, words in _lines(content)]
    corners, faces = map(int, (lines.pop(0)[1:] or lines.pop(0))[:2])
    if corners + faces > len(lines):
        counts = f"{corners} vertices and {faces} faces"
        raise _MeshFileError(f"counts {counts}, and has {len(lines)} lines")
    points = np.array([words[:3] for words in lines[:corners]], dtype=float)
    rows = lines[corners : corners + faces]
    polygons = [[int(word) for word in row[1 : int(row[0]) + 1]] for row in rows]
    yield Mesh("", points, _triangles(polygons, points))


def _read_ply(content: bytes) -> Iterator[Mesh]:
    """Yield the polygons as trimesh finds them; after that it cuts them into fans."""
    from trimesh.exchange.ply import load_ply

    elements = load_ply(io.BytesIO(content), skip_materials=True)["metadata"]["_ply_raw"]
    corners, faces = (elements.get(name, {}).get("data") for name in ("vertex", "face"))
    if corners is None or faces is None:
        return
    points = np.column_stack([corners[axis] for axis in "xyz"]).astype(float)
    listed = elements["face"]["properties"]
    key = "vertex_indices" if "vertex_indices" in listed else "vertex_index"
    polygons = faces[key] if isinstance(faces, dict) else faces[key]["f1"]
    for name, rows in (("vertex", points), ("face", polygons)):
        if len(rows) != elements[name]["length"]:
            announced = pluralize(elements[name]["length"], f"{name} line")
            raise _MeshFileError(f"announces {announced} and has {len(rows)}; export it again")
    yield Mesh("", points, _triangles(polygons, points))


def _triangles(
    polygons: Sequence[Sequence[int]], vertices: Points, lines: Sequence[int] = ()
) -> Faces:
    """Triangulate polygons, from lines of a text, with the same winding.

    The fan from the first corner is used if all its triangles face the same way as the polygon:
    none is folded back, and none is degenerate, as with three corners in a row.
    """
    sizes = np.array([len(polygon) for polygon in polygons], dtype=np.int64)
    for wrong in sizes[(sizes < 3) | (sizes > MAX_CORNERS)]:
        expected = f"expected 3 to {MAX_CORNERS}; cut it into triangles"
        raise _MeshFileError(f"has a face with {pluralize(int(wrong), 'corner')}; {expected}")
    if (sizes - 2).sum() > MAX_TRIANGLES:
        raise _MeshFileError(_COARSER)
    corners = np.fromiter(chain.from_iterable(polygons), np.int64)
    _check_corners(corners, vertices, np.repeat(lines, sizes) if lines else None)
    # The offsets of the corners and triangles of each polygon.
    starts, first = np.cumsum(sizes) - sizes, np.cumsum(sizes - 2) - (sizes - 2)
    polygon_of = np.repeat(np.arange(len(sizes)), sizes - 2)  # of each triangle
    second = starts[polygon_of] + 1 + np.arange(len(polygon_of)) - first[polygon_of]
    faces: Faces = corners[np.column_stack([starts[polygon_of], second, second + 1])]
    normals = area_vectors(vertices, faces)
    whole = np.add.reduceat(normals, first) if len(first) else normals
    faces_away = ~(np.einsum("ij,ij->i", normals, whole[polygon_of]) > 0)
    folded = polygon_of[faces_away & (sizes[polygon_of] > 3)]
    for row in np.unique(folded[np.isfinite(whole[folded]).all(axis=1)]):
        polygon = corners[starts[row] :][: sizes[row]]
        cut_up = _cut_up(vertices[polygon], whole[row])
        # Guaranteed, except perhaps for a polygon without area.
        if len(cut_up) == sizes[row] - 2:
            faces[first[row] :][: len(cut_up)] = polygon[cut_up]
    return faces


def _cut_up(polygon: Points, normal: Points) -> Faces:
    """Triangulate a polygon, projected along the axis where its area is largest."""
    import manifold3d

    axis = int(np.argmax(np.abs(normal)))
    axes = [(1, 2), (2, 0), (0, 1)][axis]
    flat = polygon[:, axes if normal[axis] > 0 else axes[::-1]]
    return np.asarray(manifold3d.triangulate([flat]), dtype=np.int64)


def _moved(name: str, vertices: Points, faces: Faces, matrix: NDArray[np.float64]) -> Mesh:
    """Transform a mesh; a mirroring transform also flips the winding."""
    turns = np.linalg.det(matrix[:3, :3])
    if turns == 0:
        raise _MeshFileError("a transform flattens a body; expected one that keeps its size")
    points = vertices @ matrix[:3, :3].T + matrix[:3, 3]
    return Mesh(name, points, faces[:, ::-1] if turns < 0 else faces)


def _refuse(needed: Collection[str], part: str = "") -> None:
    for extension in needed:
        message = f"needs {quote(extension[:200])}, which fabkit does not read"
        raise _MeshFileError(f"{message}; export plain meshes", part)


def _read_glb(content: bytes) -> Iterator[Mesh]:
    """Yield a body for each node with a mesh, whose parts may differ in material."""
    import trimesh
    from trimesh.util import append_faces

    tree = json.loads(content[20 : 20 + int.from_bytes(content[12:16], "little")])
    # trimesh omits compressed data; these extensions do not affect positions.
    cosmetic = re.compile(r"KHR_(?:materials|texture|lights)_\w+|EXT_texture_\w+")
    required = tree.get("extensionsRequired", ())
    _refuse([extension for extension in required if not cosmetic.fullmatch(extension)])
    file = io.BytesIO(content)
    scene = trimesh.load_scene(file, file_type="glb", process=False, skip_materials=True)
    # Many files have millimetres where the format has metres: nothing is over 5 m long.
    scale = 0.001 if scene.scale > 5.0 else 1.0
    to_mm = np.diag([scale, scale, scale, 1.0]) @ np.linalg.inv(_TO_GLTF)

    def name_of(node: str) -> str:
        # trimesh gives each part a node below that of its mesh, with a meaningless name.
        parent = str(scene.graph.transforms.parents[node])
        return parent if node.rpartition("_")[0] == parent else node

    # It visits the nodes in reverse; lines and points have no faces.
    placed = [(node, *scene.graph[node]) for node in reversed(scene.graph.nodes_geometry)]
    solids = [node for node in placed if hasattr(scene.geometry[node[2]], "faces")]
    for name, nodes in groupby(solids, lambda node: name_of(node[0])):
        shapes = [(scene.geometry[key], to_mm @ transform) for _, transform, key in nodes]
        parts = [_moved("", shape.vertices, shape.faces, matrix) for shape, matrix in shapes]
        points = [part.vertices for part in parts]
        vertices, faces = append_faces(points, [part.faces for part in parts])
        yield Mesh(name, np.asarray(vertices, float), np.asarray(faces, np.int64))


_SCHEMAS = "http://schemas.microsoft.com/3dmanufacturing"
_CORE = f"{_SCHEMAS}/core/2015/02"
_PRODUCTION = f"{_SCHEMAS}/production/2015/06"
_VERTEX = f"{{{_CORE}}}vertex"
_TRIANGLE = f"{{{_CORE}}}triangle"
#: A file that requires another extension has shapes that would be missed, or is unreadable.
_UNDERSTOOD = {
    _CORE,
    _PRODUCTION,
    f"{_SCHEMAS}/material/2015/02",
    "http://schemas.3mf.io/3dmanufacturing/trianglesets/2021/07",
}
_UNITS_MM = {"micron": 0.001, "millimeter": 1.0, "centimeter": 10.0}
_UNITS_MM |= {"inch": 25.4, "foot": 304.8, "meter": 1000.0}


@dataclass(eq=False)
class _Object:
    """An object of a 3MF file: components or a mesh."""

    name: str = ""
    components: list[dict[str, str]] = field(default_factory=list)
    numbers: array[float] = field(default_factory=lambda: array("d"))
    corners: array[int] = field(default_factory=lambda: array("q"))


class _Package:
    """A 3MF file: models in XML, in a zip archive."""

    def __init__(self, content: bytes) -> None:
        self._objects: dict[tuple[str, str], _Object] = {}
        self._items: list[tuple[float, dict[str, str]]] = []
        self._part, self._object, self._elements = "", _Object(), 0
        # Each directory entry begins with this signature, whatever count the file states.
        if content.count(b"PK\x01\x02") > MAX_ENTRIES:
            raise _MeshFileError(f"is an archive of more than {MAX_ENTRIES} entries")
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            models = [member for member in members if member.filename.lower().endswith(".model")]
            # zipfile inflates an entry to at most the size that it states.
            if sum(member.file_size for member in models) > MAX_BYTES:
                raise _MeshFileError(f"inflates to more than {MAX_BYTES // 1024**2} MiB")
            for member in models:
                self._part = _folded(member.filename)
                self._spaces: dict[str, str] = {}
                parser = ElementTree.XMLParser(target=self)  # noqa: S314 - it has no document type
                with archive.open(member) as stream:
                    while chunk := stream.read(1024 * 1024):
                        parser.feed(chunk)
                parser.close()

    def doctype(self, *_: object) -> None:
        raise _MeshFileError("has a document type (DOCTYPE), which 3MF forbids", self._part)

    def start_ns(self, prefix: str, uri: str) -> None:
        self._spaces[prefix] = uri

    def start(self, tag: str, values: dict[str, str]) -> None:
        """Take an element of the XML from the parser."""
        if tag == _VERTEX:
            self._object.numbers.extend([float(values[key]) for key in "xyz"])
            return
        if tag == _TRIANGLE:
            self._object.corners.extend([int(values[key]) for key in ("v1", "v2", "v3")])
            return
        self._elements += tag.startswith(f"{{{_CORE}}}")
        if self._elements > MAX_ELEMENTS:
            raise _MeshFileError(f"has more than {MAX_ELEMENTS} elements other than triangles")
        match tag.removeprefix(f"{{{_CORE}}}"):
            case "model":
                prefixes = values.get("requiredextensions", "").split()
                needed = [self._spaces.get(prefix, prefix) for prefix in prefixes]
                _refuse([space for space in needed if space not in _UNDERSTOOD], self._part)
                self._unit = values.get("unit", "millimeter")
                if self._unit not in _UNITS_MM:
                    message = f"unknown unit {quote(self._unit[:200])}; expected one of"
                    raise _MeshFileError(f"{message} {', '.join(_UNITS_MM)}", self._part)
            case "object":
                self._object = _Object(values.get("name", ""))
                key = self._part, values["id"]
                if self._objects.setdefault(key, self._object) is not self._object:
                    raise _MeshFileError(f"has two objects {quote(values['id'])}", self._part)
            case "mesh" if self._object.numbers:
                raise _MeshFileError("has an object with two meshes", self._part)
            case "component":
                self._object.components.append({"path": self._part, **values})
            case "item":
                self._items.append((_UNITS_MM[self._unit], {"path": self._part, **values}))

    def bodies(self) -> Iterator[Mesh]:
        """Yield each instance of a mesh in the build's items, without what fills its engravings."""
        if not self._items:
            raise _MeshFileError("has nothing to build; add its objects to the build")
        for unit_mm, item in self._items:
            placed = self._placed(item, np.diag([unit_mm] * 3 + [1.0]), "")
            # Doubled components are endless: what follows these is read one by one.
            meshes = list(islice(placed, _MOST_COMPONENTS))
            yield from _without_inlays(meshes) if len(meshes) < _MOST_COMPONENTS else meshes
            yield from placed

    @staticmethod
    def _key(used: dict[str, str]) -> tuple[str, str]:
        """Return the part and the id of the object that an item or a component names."""
        return _folded(used.get(f"{{{_PRODUCTION}}}path", used["path"])), used["objectid"]

    def _placed(self, used: dict[str, str], outer: Points, name: str) -> Iterator[Mesh]:
        """Yield the bodies of an item or a component; each leads to a mesh or an error.

        Cyclic components end at Python's recursion limit.
        """
        key = self._key(used)
        body = self._objects.get(key)
        if not body or bool(body.components) == bool(body.numbers):
            message = "expected either a mesh or components" if body else "there is no such object"
            raise _MeshFileError(message, f"{key[0]}: object {quote(key[1])}")
        words = used.get("transform", "1 0 0 0 1 0 0 0 1 0 0 0").split()
        rows = np.array(words, dtype=float).reshape(4, 3)
        matrix = outer @ np.vstack([rows.T, [0, 0, 0, 1]])
        name = body.name or name
        for component in body.components:
            yield from self._placed(component, matrix, name)
        if body.numbers:
            vertices = np.array(body.numbers).reshape(-1, 3)
            corners = np.array(body.corners, int)
            _check_corners(corners, vertices)
            yield _moved(name, vertices, corners.reshape(-1, 3), matrix)


#: An item with more components than this is no piece with inlays.
_MOST_COMPONENTS = 10
#: What is inlaid is at most this part of the height around it.
_MOST_HEIGHT = 0.5
#: It has at least this many vertices in common with its pocket.
_LEAST_SHARED = 3
#: Letters keep farther than this (mm) from the sides of a piece.
_INSIDE_MM = 0.01


def _without_inlays(meshes: Sequence[Mesh]) -> Iterator[Mesh]:
    """Yield the meshes of an item, without inlays (components of their own, or surfaces of the
    same mesh): letters leave their engravings open, and tiles that reach the sides become one with
    the piece."""
    surfaces = [(mesh, shell) for mesh in meshes for shell in shells(mesh)]
    if len(surfaces) < 2:
        yield from meshes
        return
    body, largest = max(surfaces, key=lambda surface: abs(surface[1].volume_mm3))
    around = body.vertices[np.unique(body.faces[largest.faces])]
    low, high = around.min(axis=0), around.max(axis=0)
    corners = set(map(tuple, around.tolist()))

    def role(mesh: Mesh, shell: Shell) -> str:
        """Return what a surface is: ``letter`` or ``tile`` of a second colour, or ``body``."""
        points = mesh.vertices[np.unique(mesh.faces[shell.faces])]
        below, above = points.min(axis=0), points.max(axis=0)
        is_flat = above[2] - below[2] <= _MOST_HEIGHT * (high[2] - low[2])
        is_within = (low - _INSIDE_MM <= below).all() and (above <= high + _INSIDE_MM).all()
        if not (is_flat and is_within and shell.volume_mm3 > 0):
            return "body"
        if sum(point in corners for point in map(tuple, points.tolist())) < _LEAST_SHARED:
            return "body"
        is_inside = (below > low + _INSIDE_MM) & (above < high - _INSIDE_MM)
        return "letter" if is_inside[:2].all() else "tile"

    roles = [(mesh, shell.faces, role(mesh, shell)) for mesh, shell in surfaces]
    tiles = [
        welded(mesh.name, mesh.vertices, mesh.faces[faces])
        for mesh, faces, its_role in roles
        if its_role == "tile"
    ]
    for mesh in meshes:
        of_mesh = [(faces, its_role) for other, faces, its_role in roles if other is mesh]
        kept = [faces for faces, its_role in of_mesh if its_role == "body"]
        if len(kept) == len(of_mesh) and not (mesh is body and tiles):
            yield mesh
        elif kept:
            bare = welded(mesh.name, mesh.vertices, mesh.faces[np.sort(np.concatenate(kept))])
            yield joined([bare, *tiles]) if mesh is body else bare


def _folded(name: str) -> str:
    """Return the name of a part as it is compared: without case, and slashes around it."""
    return unquote(name).strip("/").casefold()


_READERS: dict[str, Callable[[bytes], Iterator[Mesh]]] = {
    "stl": _read_stl,
    "obj": _read_obj,
    "off": _read_off,
    "ply": _read_ply,
    "3mf": lambda content: _Package(content).bodies(),
    "glb": _read_glb,
}
#: The endings of files with meshes.
ENDINGS = tuple(f".{kind}" for kind in _READERS)
