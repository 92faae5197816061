"""Reading mesh files that anybody may have made, within bounds: STL, PLY, GLB, 3MF, OBJ and OFF.

trimesh reads them but for what it gets wrong without an error (measured with 5.2): a concave OBJ or
OFF face of area 1 comes back with area 3, negative OBJ numbers count from the file's end, a 3MF as
Bambu Studio writes them (components in other parts) has every mesh as often as its part has meshes,
and of 20 x 20 nested components 155 are left. No reader opens another file.
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
from itertools import chain, count
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
MAX_LINES = 15_000_000
MAX_LINE = 64 * 1024
#: Of one face; and of all with more than four: cutting them takes longer than reading them.
MAX_CORNERS, MAX_POLYGON_CORNERS = 1000, 500_000
#: Entries of a 3MF file, components in components in an item, and XML elements without triangles.
MAX_ENTRIES, MAX_NESTED, MAX_ELEMENTS = 2000, 32, 100_000

_EXPECTED = "an STL, 3MF, OBJ, PLY, OFF or GLB file"
_COARSER = f"holds more than {MAX_TRIANGLES} triangles; make the mesh coarser"
# What trimesh has to say of a file is in the message.
logging.getLogger("trimesh").addHandler(logging.NullHandler())


class _WrongError(Exception):
    """What is wrong with a file, and where in it."""

    def __init__(self, message: str, place: str = "") -> None:
        super().__init__(message)
        self.place = place


def read_bodies(path: Path) -> list[Body]:
    """Reads the bodies of a mesh file: at least one, in the file's order.

    An STL, PLY or OFF file is one body. An OBJ file has one for each object, or group, or is one;
    a 3MF or GLB file has one for each mesh at each place where it stands. Those two are in mm with
    z up, others in whatever length the file is in. Triangles have the order and the winding of the
    file, but their outside is outside where a place mirrors them.

    Raises:
        InputError: when it cannot be read, is no mesh file, is damaged, or is larger than anything
            that is printed; with the place in it, what was found and what was expected.
    """
    source = printable(str(path))
    content = read_bytes(path, source, _EXPECTED, MAX_BYTES)
    kind = ""
    try:
        if len(content) > MAX_BYTES:
            raise _WrongError(f"is larger than {MAX_BYTES // 1024**2} MiB; make the mesh coarser")
        kind = _kind(content, path.suffix.lower()[1:])
        # numpy ends at the first word that is no number, and only warns.
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            warnings.filterwarnings("error", "string or file could not be read")
            return _sound(cut(printable(path.name)), _READERS[kind](content))
    except _WrongError as wrong:
        raise InputError.of(source, printable(f"{wrong}"), printable(wrong.place)) from None
    except Exception as error:  # trimesh, zipfile and expat promise nothing about what they raise
        reason = cut(printable(f"{error}"[:200])) or type(error).__name__
        reason = f"it lacks {reason}" if isinstance(error, KeyError) else reason
        said = f"cannot be read as {kind.upper()} ({reason}); export it again"
        raise InputError.of(source, said) from None


def _kind(content: bytes, suffix: str) -> str:
    """The format: what the content looks like, or else what the file's name says."""
    start = content[: 4 * MAX_LINE]
    is_text = b"\0" not in start[:1024]
    looks = {
        "3mf": content.startswith((b"PK\x03\x04", b"PK\x05\x06")),
        "glb": content.startswith(b"glTF"),
        # What a binary STL's header says is not asked: many begin with "solid", as text does.
        "stl": _stl_size(content) == len(content)
        or (is_text and start.lower().lstrip().startswith(b"solid")),
        "ply": re.match(rb"ply\s", start),
        "off": is_text and re.match(rb"(?:\s*+#[^\n]*+\n)*\s*+(?:ST)?C?N?OFF(?!\w)", start),
        "obj": is_text and re.search(rb"(?m)^[ \t]*v(?:[ \t]+[-+.0-9]\S*){3}", start),
    }
    kind = next((kind for kind, found in looks.items() if found), suffix)
    if kind not in _READERS or not content:
        raise _WrongError(f"is {'of no known kind' if content else 'empty'}; expected {_EXPECTED}")
    return kind


def _sound(file: str, found: Iterator[Body]) -> list[Body]:
    """The bodies that have triangles under their last names, all corners of them somewhere.

    They are counted while they are read, so that what goes on and on soon ends.
    """
    bodies, triangles = [], 0
    for number, body in enumerate(found, start=1):
        triangles += len(body.faces)
        if number > MAX_BODIES:
            raise _WrongError(f"holds more than {MAX_BODIES} bodies; split it into several files")
        if triangles > MAX_TRIANGLES:
            raise _WrongError(_COARSER)
        bodies += [body] if len(body.faces) else []
    if not bodies:
        raise _WrongError("holds no triangles; expected a solid's surface")
    names = _different([body.name for body in bodies]) if len(bodies) > 1 else [""]
    result = []
    for name, body in zip(names, bodies, strict=True):
        flat = body.faces.ravel()
        lost = (flat < 0) | (flat >= len(body.vertices))
        said = f"names a vertex that is none of its {len(body.vertices)}"
        if not lost.any():
            corners = body.vertices[flat]
            lost = np.any(~(np.abs(corners) <= MAX_COORDINATE), axis=1)
            at = ", ".join(f"{value:g}" for value in corners[np.argmax(lost)])
            said = f"has a corner at ({at}); expected numbers of at most {MAX_COORDINATE:.0f}"
        if lost.any():
            triangle = f"triangle {np.argmax(lost) // 3 + 1}"
            raise _WrongError(said, f"{name}, {triangle}" if name else triangle)
        result.append(welded(f"{file}: {name}" if name else file, body.vertices, body.faces))
    return result


def _different(names: Sequence[str]) -> list[str]:
    """A different name for each, without control characters, path parts and markup."""
    result: list[str] = []
    for position, name in enumerate(names, start=1):
        # What means something to a terminal, a web page, a shell or a file system goes.
        safe = re.sub(r"""[\\/:*?"'`<>|&$\[\]{}]""", "_", name[:200].strip())
        wished = cut(printable(safe)) or f"body {position}"
        others = (f"{wished} ({number})" for number in count(2))
        result.append(next(one for one in chain([wished], others) if one not in result))
    return result


# --- STL: triangles without names or units ---------------------------------------------------

# Characters are repeated possessively, so that no text takes more than one look at each. Groups are
# not (Python before 3.11.5 gets that wrong), but facets by the hundred: each keeps a kB until then.
# A normal is not used, and some programs write nan into it.
_NUMBER = rb"\s++[-+]?(?:[0-9]++\.?+[0-9]*+|\.[0-9]++)(?:e[-+]?[0-9]++)?(?!\S)"
_FACETS = re.compile(
    rb"(?:\s*+facet\s++normal(?:\s++[!-~]++){3}\s++outer\s++loop"
    rb"(?:\s++vertex(?:" + _NUMBER + rb"){3}){3}\s++endloop\s++endfacet(?!\S)){1,100}",
    re.IGNORECASE,
)
_SOLID = re.compile(rb"\s*+solid(?!\S)[^\n]*+", re.IGNORECASE)
_END = re.compile(rb"\s*+end\s?+solid(?!\S)[^\n]*+", re.IGNORECASE)


def _stl_size(content: bytes) -> int:
    """How long a binary STL with its count of triangles is, in bytes."""
    return 84 + 50 * int.from_bytes(content[80:84], "little")


def _read_stl(content: bytes) -> Iterator[Body]:
    """All solids of the file are one body."""
    import trimesh

    if len(content) != _stl_size(content):
        content = _plain_stl(content)
    elif len(content) > 84 + 50 * MAX_TRIANGLES:
        raise _WrongError(_COARSER)
    scene = trimesh.load_scene(io.BytesIO(content), file_type="stl", process=False)
    for mesh in scene.geometry.values():
        yield Body("", np.asarray(mesh.vertices, float), np.asarray(mesh.faces))


def _plain_stl(content: bytes) -> bytes:
    """An ASCII STL that is whole, as one solid without a name.

    trimesh leaves out a solid that does not end, without an error, and reads on in names.
    """
    if b"\0" in content[:1024] and len(content) >= 84:
        size = _stl_size(content)
        raise _WrongError(
            f"is no complete STL file: its header announces {many(size // 50 - 1, 'triangle')}, "
            f"which take {size} bytes, and it has {len(content)}; export it again"
        )
    end, next_ones = 0, [_SOLID]
    while part := next(filter(None, (one.match(content, end) for one in next_ones)), None):
        end = part.end()
        next_ones = [_SOLID] if part.re is _END else [_FACETS, _END]
    end = len(content) - len(content[end:].lstrip())
    is_begun = _END in next_ones
    if end < len(content) or is_begun:
        if not end:
            raise _WrongError(
                "is no STL file: a binary one has a header of 84 bytes, an ASCII one begins with "
                f'"solid"; found {shown(content[:40].decode("latin-1"))}'
            )
        expected = "a facet with three vertices, or endsolid" if is_begun else "solid, or the end"
        line = content.count(b"\n", 0, end) + 1
        found = content[end : end + 200].decode("latin-1").split("\n")[0]
        raise _WrongError(
            f"expected {expected}, found {shown(found) if found else 'its end'}; export it again",
            f"line {line}",
        )
    words = re.sub(rb"solid[^\n]*", b"", content.lower()).replace(b"endloop", b"\nendloop")
    return b"solid\n%s\nendsolid\n" % words.replace(b"vertex", b"\nvertex")


# --- OBJ, OFF and PLY: polygons --------------------------------------------------------------

#: OBJ statements on how things look, are drawn or are called; none has a volume.
_IGNORED = {
    *("vt", "vn", "vp", "s", "mtllib", "usemtl", "maplib", "usemap", "shadow_obj", "trace_obj"),
    *("l", "p", "mg", "lod", "bevel", "c_interp", "d_interp", "ctech", "stech"),
}


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
    corners, end = np.cumsum([int(word) for word in (counts or lines.pop(0))[:2]]).tolist()
    if not head.endswith("OFF") or not 0 <= corners <= end <= len(lines):
        announced = f"{corners} vertices and {end - corners} faces"
        raise _WrongError(f"counts {announced}, and has {len(lines)} lines")
    points = np.array([[float(word) for word in words[:3]] for words in lines[:corners]])
    rows = lines[corners:end]
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
    """Cuts polygons into triangles with the same winding, and says of which polygon each is.

    The fan from the first corner is taken where all its triangles face the polygon's way: none is
    folded back, and none is a mere line, as with three corners in a row.
    """
    sizes = np.array([len(polygon) for polygon in polygons], dtype=np.int64)
    for wrong in sizes[(sizes < 3) | (sizes > MAX_CORNERS)]:
        expected = f"expected 3 to {MAX_CORNERS}; cut it into triangles"
        raise _WrongError(f"has a face with {many(int(wrong), 'corner')}; {expected}")
    if (sizes - 2).sum() > MAX_TRIANGLES or sizes[sizes > 4].sum() > MAX_POLYGON_CORNERS:
        raise _WrongError("holds too many faces, or too large ones; make the mesh coarser")
    starts, of = np.cumsum(sizes - 2) - (sizes - 2), np.repeat(np.arange(len(sizes)), sizes - 2)
    found = np.empty((len(of), 3), np.int64)
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
            cut_up = _cut_up(vertices[table[row]], whole[row])
            # It promises as much; a polygon without an area may be the exception.
            if cut_up.shape == fans[row].shape and 0 <= cut_up.min() <= cut_up.max() < size:
                fans[row] = table[row][cut_up]
        found[starts[rows, None] + np.arange(size - 2)] = fans
    return found, of


def _cut_up(polygon: Points, normal: Points) -> Faces:
    """The triangles of a polygon, seen along the axis on which it is largest."""
    import manifold3d

    axis = int(np.argmax(np.abs(normal)))
    seen = [(1, 2), (2, 0), (0, 1)][axis]
    flat = polygon[:, seen if normal[axis] > 0 else seen[::-1]]
    return np.asarray(manifold3d.triangulate([flat]), dtype=np.int64)


# --- GLB and 3MF: bodies at their places, in a known unit ------------------------------------


def _moved(name: str, vertices: Points, faces: Faces, matrix: NDArray[np.float64]) -> Body:
    """A body brought to its place; the outside of its mirror image is still its outside."""
    turns = np.linalg.det(matrix[:3, :3])
    if turns == 0:
        raise _WrongError("a transform flattens a body; expected its size kept")
    points = vertices @ matrix[:3, :3].T + matrix[:3, 3]
    return Body(name, points, faces[:, ::-1] if turns < 0 else faces)


def _refuse(needed: Collection[str]) -> None:
    for one in needed:
        said = f"needs {shown(one[:200])}, which fabkit does not read"
        raise _WrongError(f"{said}; export plain meshes")


def _read_glb(content: bytes) -> Iterator[Body]:
    """Each node with a mesh is a body; the parts of a mesh that look different are one."""
    import trimesh

    tree = json.loads(content[20 : 20 + int.from_bytes(content[12:16], "little")])
    parts = [part for mesh in tree["meshes"] for part in mesh["primitives"]]
    corners = [tree["accessors"][part["attributes"]["POSITION"]]["count"] for part in parts]
    if sum(corners) > 3 * MAX_TRIANGLES or max(len(parts), len(tree["nodes"])) > MAX_BODIES:
        raise _WrongError(_COARSER)
    # These say nothing of where its corners are.
    looks = re.compile(r"KHR_(?:materials|texture|lights)_\w+|EXT_texture_\w+")
    needed = [one for one in tree.get("extensionsRequired", ()) if not looks.fullmatch(one)]
    # trimesh takes such numbers for zero, and leaves fans and what is compressed out.
    if any("sparse" in one or "bufferView" not in one for one in tree["accessors"]):
        needed.append("sparse accessors")
    if any(part.get("mode") == 6 for part in parts):
        needed.append("triangle fans")
    _refuse(needed)
    scene = trimesh.load_scene(
        io.BytesIO(content), file_type="glb", process=False, skip_materials=True
    )
    found: dict[str, list[Body]] = {}
    for node in reversed(scene.graph.nodes_geometry):  # it goes through them from the last
        matrix, geometry = scene.graph[node]
        mesh, parent = scene.geometry[geometry], str(scene.graph.transforms.parents[node])
        if not hasattr(mesh, "faces"):
            continue  # lines or points
        # trimesh gives each part a node below its mesh's, with a name of no meaning.
        name = parent if node.rpartition("_")[0] == parent else node
        one = _moved(name, mesh.vertices, mesh.faces, np.linalg.inv(TO_GLTF) @ matrix)
        found.setdefault(name, []).append(one)
    # Many write millimetres where the format has metres: nothing is more than 5 m long.
    sizes = [np.ptp(one.vertices, axis=0).max() for some in found.values() for one in some]
    scale = 0.001 if max(sizes, default=0.0) > 5000.0 else 1.0
    for name, some in found.items():
        vertices, faces = trimesh.util.append_faces(
            [one.vertices * scale for one in some], [one.faces for one in some]
        )
        yield Body(name, np.asarray(vertices, float), np.asarray(faces, np.int64))


_LINKS = "_rels/.rels"
_SCHEMAS = "http://schemas.microsoft.com/3dmanufacturing"
_CORE, _PRODUCTION = f"{_SCHEMAS}/core/2015/02", f"{_SCHEMAS}/production/2015/06"
_READ_SPACES = (f"{{{_CORE}}}", "{http://schemas.openxmlformats.org/package/2006/relationships}")
_VERTEX, _TRIANGLE, _MESH = (f"{{{_CORE}}}{name}" for name in ("vertex", "triangle", "mesh"))
#: A file that requires another one holds shapes that would be missed, or cannot be read at all.
_UNDERSTOOD = {
    _CORE,
    _PRODUCTION,
    f"{_SCHEMAS}/material/2015/02",
    "http://schemas.3mf.io/3dmanufacturing/trianglesets/2021/07",
}
_UNITS_MM = {"micron": 0.001, "millimeter": 1.0, "centimeter": 10.0}
_UNITS_MM |= {"inch": 25.4, "foot": 304.8, "meter": 1000.0}


class _Model(ElementTree.TreeBuilder):
    """A part's XML as it is read: what the core of the format has, and the corners as numbers."""

    def __init__(self, meshes: dict[Any, tuple[Points, Faces]]) -> None:
        super().__init__()
        self._meshes, self._elements = meshes, 0
        self.spaces: dict[str, str] = {}
        self._numbers, self._corners = array("d"), array("q")

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
            super().start(tag, values)

    def end(self, tag: str, /) -> Any:
        if tag in {_VERTEX, _TRIANGLE} or not tag.startswith(_READ_SPACES):
            return
        one = super().end(tag)
        if tag == _MESH:
            points = np.frombuffer(self._numbers).reshape(-1, 3)
            self._meshes[one] = points, np.frombuffer(self._corners, np.int64).reshape(-1, 3)
            self._numbers, self._corners = array("d"), array("q")


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

    def bodies(self) -> Iterator[Body]:
        """Each mesh at every place where an item of the build has it."""
        links = self._part(_LINKS).findall(f"{{*}}Relationship[@Type='{_SCHEMAS}/2013/01/3dmodel']")
        models = [_folded(one.get("Target", "")) for one in links]
        part = _only(models, "3D model", _LINKS)
        root = self._part(part)
        unit = root.get("unit", "millimeter")
        if unit not in _UNITS_MM:
            known = ", ".join(_UNITS_MM)
            raise _WrongError(f"unknown unit {shown(unit[:200])}; expected one of {known}", part)
        items = root.findall("{*}build/{*}item")
        if not items:
            raise _WrongError("has nothing to build; add its objects to the build", part)
        for item in items:
            yield from self._placed(part, item, np.diag([_UNITS_MM[unit]] * 3 + [1.0]), "", ())

    def _part(self, name: str) -> Any:
        """The root of a part's XML; what parts inflate to is counted, whatever they announce."""
        if name in self._roots:
            return self._roots[name]
        if name not in self._entries:
            raise _WrongError(f"lacks the part {shown(name)}")
        model = _Model(self._meshes)
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
            prefixes = root.get("requiredextensions", "").split()
            needed = [model.spaces.get(prefix, prefix) for prefix in prefixes]
            _refuse([space for space in needed if space not in _UNDERSTOOD])
        except _WrongError as wrong:
            raise _WrongError(f"{wrong}", name) from None
        return root

    def _placed(
        self, part: str, used: Any, outer: NDArray[np.float64], name: str, above: tuple[Any, ...]
    ) -> Iterator[Body]:
        """The bodies of an item or a component; each leads to a mesh or to a refusal."""
        part = _folded(used.get(f"{{{_PRODUCTION}}}path", part))
        number = used.get("objectid", "")
        place = f"{part}: object {shown(number)}"
        objects = self._part(part).iterfind("{*}resources/{*}object")
        found = [one for one in objects if one.get("id") == number]
        one = _only(found, "object of this number", place)
        if one in above or len(above) == MAX_NESTED:
            raise _WrongError(f"nests components in a circle, or deeper than {MAX_NESTED}", place)
        words = used.get("transform", "1 0 0 0 1 0 0 0 1 0 0 0").split()
        if len(words) != 12:
            raise _WrongError(f"a transform has 12 numbers, this one {len(words)}", place)
        rows = np.reshape([float(word) for word in words], (4, 3))
        inner, name = outer @ np.vstack([rows.T, [0, 0, 0, 1]]), one.get("name") or name
        components, meshes = one.findall("{*}components/{*}component"), one.findall("{*}mesh")
        if len(meshes) + bool(components) != 1:
            raise _WrongError("expected either a mesh or components", place)
        for component in components:
            yield from self._placed(part, component, inner, name, (*above, one))
        for mesh in meshes:
            yield _moved(name, *self._meshes[mesh], inner)


def _only(found: Sequence[Any], what: str, place: str) -> Any:
    if len(found) != 1:
        raise _WrongError(f"expected one {what}, found {len(found)}", place)
    return found[0]


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
