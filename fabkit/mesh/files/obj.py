"""Reading OBJ files: vertices, polygons, objects and groups. No file beside it is ever opened.

No library reads them here: those at hand cut polygons into fans whether or not they are
convex, count negative positions from the end of the file, and skip what they do not know.
"""

from __future__ import annotations

import io
import re
from array import array
from collections.abc import Iterator
from typing import NoReturn

import numpy as np

from fabkit.core.errors import InputError, shown
from fabkit.mesh.body import Body
from fabkit.mesh.files.limits import (
    MAX_BODIES,
    MAX_COORDINATE,
    MAX_TRIANGLES,
    MAX_VERTICES,
    decimals,
    refuse_bodies,
    refuse_triangles,
    refuse_vertices,
    sound_body,
    whole,
)
from fabkit.mesh.files.polygons import triangulated

MAX_LINE = 64 * 1024
MAX_LINES = 15_000_000
MAX_CORNERS = 1000
#: Corners in polygons of more than four: cutting them takes longer than reading them.
MAX_POLYGON_CORNERS = 500_000

#: They say how things look, are drawn or are called; none has a volume.
_LOOKS = {"vt", "vn", "vp", "s", "mtllib", "usemtl", "maplib", "usemap", "shadow_obj", "trace_obj"}
_IGNORED = _LOOKS | {"l", "p", "mg", "lod", "bevel", "c_interp", "d_interp", "ctech", "stech"}
_LONGEST_NAME = 200
_VERTEX_LINE = re.compile(
    rb"^[ \t]*v[ \t]+[-+.0-9]\S*[ \t]+[-+.0-9]\S*[ \t]+[-+.0-9]", re.MULTILINE
)


def is_obj(content: bytes) -> bool:
    """Whether a file is text with a vertex in its first part."""
    start = content[: 4 * MAX_LINE]
    return b"\0" not in start and _VERTEX_LINE.search(start) is not None


def read_obj(content: bytes, source: str) -> list[Body]:
    """Reads an OBJ file.

    Each object (``o``) is a body; in a file without objects each group (``g``) is one, and in a
    file without either all of it.

    Args:
        content: the file's bytes.
        source: its name in messages.

    Returns:
        The bodies that have triangles, with the names that the file gives them.

    Raises:
        InputError: when it is no OBJ file, or holds too much, with the line.
    """
    if content.count(b"\n") > MAX_LINES:
        raise InputError.of(source, f"has more than {MAX_LINES} lines; make the mesh coarser")
    drawing = _Drawing(source)
    for line, keyword, words in _lines(content, source):
        drawing.read(line, keyword, words)
    return drawing.bodies()


def _lines(content: bytes, source: str) -> Iterator[tuple[int, str, list[str]]]:
    """The lines that say something: number, keyword and other words."""
    stream = io.BytesIO(content.removeprefix(b"\xef\xbb\xbf"))
    number, begun = 0, b""
    while raw := stream.readline(MAX_LINE + 1):
        number += 1
        raw = begun + raw.rstrip(b"\r\n")
        if len(raw) > MAX_LINE:
            raise InputError.of(source, f"is longer than {MAX_LINE} bytes", f"line {number}")
        begun = b""
        if raw.endswith(b"\\"):
            begun = raw[:-1] + b" "
            continue
        words = raw.decode("utf-8", "replace").partition("#")[0].split()
        if words:
            yield number, words[0], words[1:]
    if begun:
        raise InputError.of(source, "the file ends in the middle of a statement", f"line {number}")


class _Drawing:
    """What has been read of a file so far."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._coordinates: array[float] = array("d")
        self._triangles = self._polygon_corners = 0
        #: The object and the group that the next face belongs to. One without faces gets no number.
        self._object, self._group = _Named(), _Named()
        self._has_objects = False
        #: By the count of corners: all corners, and for each face its line, object and group.
        self._corners: dict[int, array[int]] = {}
        self._origins: dict[int, array[int]] = {}

    def read(self, line: int, keyword: str, words: list[str]) -> None:
        """Takes in one line."""
        if keyword == "v":
            self._vertex(words, f"line {line}")
        elif keyword == "f":
            self._face(words, line)
        elif keyword == "o":
            self._has_objects = True
            self._object.call(" ".join(words), again=False)
        elif keyword == "g":
            self._group.call(" ".join(words), again=True)
        elif keyword not in _IGNORED:
            raise InputError.of(
                self._source,
                f"unknown statement {shown(keyword[:200])}; expected an OBJ file of polygons, "
                "with v, f, o and g",
                f"line {line}",
            )

    def _vertex(self, words: list[str], place: str) -> None:
        if len(words) < 3:
            raise InputError.of(
                self._source, f"expected three coordinates, found {len(words)}", place
            )
        point = decimals(words[:3], self._source, place)
        if max(map(abs, point)) > MAX_COORDINATE:
            raise InputError.of(
                self._source,
                f"expected coordinates from {-MAX_COORDINATE:.0f} to {MAX_COORDINATE:.0f}, "
                f"found {shown(max(words[:3], key=lambda word: abs(float(word))))}",
                place,
            )
        self._coordinates.extend(point)
        if len(self._coordinates) > 3 * MAX_VERTICES:
            refuse_vertices(self._source)

    def _face(self, words: list[str], line: int) -> None:
        size = len(words)
        if not 3 <= size <= MAX_CORNERS:
            raise InputError.of(
                self._source,
                f"a face has 3 to {MAX_CORNERS} corners, this one {size}"
                + ("; cut it into triangles" if size > 3 else ""),
                f"line {line}",
            )
        self._triangles += size - 2
        if self._triangles > MAX_TRIANGLES:
            refuse_triangles(self._source)
        self._polygon_corners += size if size > 4 else 0
        if self._polygon_corners > MAX_POLYGON_CORNERS:
            raise InputError.of(
                self._source, "holds too many large polygons; cut its faces into triangles"
            )
        corners = self._corners.setdefault(size, array("q"))
        corners.extend([self._position(word, line) for word in words])
        group = 0 if self._has_objects else self._group.number(self._source)
        origin = (line, self._object.number(self._source), group)
        self._origins.setdefault(size, array("q")).extend(origin)

    def _position(self, word: str, line: int) -> int:
        """The vertex that a corner such as ``3/1/2`` or ``-1`` names, counted from 0."""
        place = f"line {line}"
        said = whole(word.partition("/")[0], self._source, place)
        position = said - 1 if said > 0 else said + len(self._coordinates) // 3
        if said == 0 or position < 0:
            self._refuse_position(said, place)
        return position

    def _refuse_position(self, said: int, place: str) -> NoReturn:
        count = len(self._coordinates) // 3
        raise InputError.of(
            self._source, f"a face names vertex {said}; the vertices so far are {count}", place
        )

    def bodies(self) -> list[Body]:
        """The bodies, in the order in which their first faces come."""
        if not self._triangles:
            raise InputError.of(self._source, "holds no faces; expected a solid's surface")
        vertices = np.frombuffer(self._coordinates).reshape(-1, 3)
        named = self._object if self._has_objects else self._group
        column = 1 if self._has_objects else 2
        parts, lines, owners = [], [], []
        for size, corners in sorted(self._corners.items()):
            polygons = np.frombuffer(corners, np.int64).reshape(-1, size)
            origins = np.frombuffer(self._origins[size], np.int64).reshape(-1, 3)
            beyond = (polygons >= len(vertices)).any(axis=1)
            if beyond.any():
                first = int(np.argmax(beyond))
                self._refuse_position(int(polygons[first].max()) + 1, f"line {origins[first, 0]}")
            parts.append(triangulated(polygons, vertices).reshape(-1, 3))
            lines.append(np.repeat(origins[:, 0], size - 2))
            owners.append(np.repeat(origins[:, column], size - 2))
        order = np.argsort(np.concatenate(lines), kind="stable")
        faces, owner = np.concatenate(parts)[order], np.concatenate(owners)[order]
        return [
            sound_body(name, vertices, faces[owner == number], self._source)
            for number, name in enumerate(named.names)
        ]


class _Named:
    """The objects, or the groups, of a file: a name that holds until the next one."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._numbers: dict[str, int] = {}
        self._name = ""
        self._current: int | None = None

    def call(self, name: str, again: bool) -> None:
        """Begins one; with ``again`` it is the earlier one with the same name, if any."""
        self._name = name[:_LONGEST_NAME]
        self._current = self._numbers.get(self._name) if again else None

    def number(self, source: str) -> int:
        """The current one's number; it gets one with its first face."""
        if self._current is None:
            self._current = len(self.names)
            self._numbers[self._name] = self._current
            self.names.append(self._name)
            if len(self.names) > MAX_BODIES:
                refuse_bodies(source)
        return self._current
