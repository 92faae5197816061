"""Reading STL files, binary and ASCII: triangles without names or units.

No library reads them here: whoever checks that a file's size fits its count, or that each of its
words stands where the format has it, has already read it.
"""

from __future__ import annotations

import re
from array import array

import numpy as np

from fabkit.core.errors import InputError, many, shown
from fabkit.mesh.body import Body
from fabkit.mesh.files.limits import MAX_TRIANGLES, decimals, refuse_triangles, sound_body

_HEADER = 80
_HEAD = _HEADER + 4
_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])

# Every repetition is possessive, so that no text takes more than one look at each character.
# A normal is not used, and some programs write nan into it.
_WORD = r"\s++\S{1,40}+"
_VERTEX = r"\s++vertex\s++(\S{1,40}+)\s++(\S{1,40}+)\s++(\S{1,40}+)"
_FACET = re.compile(
    rf"\s*+facet\s++normal{_WORD * 3}\s++outer\s++loop{_VERTEX * 3}\s++endloop\s++endfacet(?!\S)",
    re.ASCII | re.IGNORECASE,
)
_SOLID = re.compile(r"\s*+solid(?!\S)[^\n]*+", re.ASCII | re.IGNORECASE)
_END = re.compile(r"\s*+end\s?+solid(?!\S)[^\n]*+", re.ASCII | re.IGNORECASE)
_SPACE = re.compile(r"\s*+", re.ASCII)


def is_binary_stl(content: bytes) -> bool:
    """Whether a file is exactly as long as a binary STL with its count of triangles would be.

    What the header says is not asked: many begin with ``solid``, as ASCII files do.
    """
    return len(content) >= _HEAD and len(content) == _HEAD + _counted(content) * _TRIANGLE.itemsize


def is_ascii_stl(content: bytes) -> bool:
    """Whether a file begins as an ASCII STL does: with ``solid``, and as text."""
    start = content[:1024].lower().lstrip()
    return start.startswith(b"solid") and b"\0" not in start


def read_stl(content: bytes, source: str) -> Body:
    """Reads an STL file; all its solids are one body.

    Args:
        content: the file's bytes.
        source: its name in messages.

    Returns:
        The body, without a name.

    Raises:
        InputError: when it is no STL file, incomplete or too large.
    """
    if is_binary_stl(content):
        return _read_binary(content, source)
    if is_ascii_stl(content):
        return _read_ascii(content.decode("latin-1"), source)
    if len(content) < _HEAD or b"\0" not in content[:1024]:
        raise InputError.of(
            source,
            "is no STL file: a binary one has a header of 84 bytes, an ASCII one begins with "
            f'"solid"; found {shown(content[:40].decode("latin-1"))}',
        )
    triangles = _counted(content)
    raise InputError.of(
        source,
        f"is no complete STL file: its header announces {many(triangles, 'triangle')}, which take "
        f"{_HEAD + triangles * _TRIANGLE.itemsize} bytes, and it has {len(content)}; export it again",
    )


def _counted(content: bytes) -> int:
    return int.from_bytes(content[_HEADER:_HEAD], "little")


def _read_binary(content: bytes, source: str) -> Body:
    if _counted(content) > MAX_TRIANGLES:
        refuse_triangles(source)
    corners = np.frombuffer(content, _TRIANGLE, offset=_HEAD)["corners"]
    with np.errstate(invalid="ignore"):  # not every NaN can be widened silently
        wide = corners.astype(np.float64)
    return _body(wide.reshape(-1, 3), source)


def _read_ascii(text: str, source: str) -> Body:
    numbers: array[float] = array("d")
    position = 0
    while solid := _SOLID.match(text, position):
        position = solid.end()
        while facet := _FACET.match(text, position):
            place = f"triangle {len(numbers) // 9 + 1}"
            numbers.extend(decimals(facet.groups(), source, place))
            if len(numbers) > 9 * MAX_TRIANGLES:
                refuse_triangles(source)
            position = facet.end()
        end = _END.match(text, position)
        if end is None:
            raise _unexpected(text, position, "a facet with three vertices, or endsolid", source)
        position = end.end()
    if _after_space(text, position) < len(text):
        raise _unexpected(text, position, "solid, or the end of the file", source)
    return _body(np.frombuffer(numbers).reshape(-1, 3), source)


def _unexpected(text: str, position: int, expected: str, source: str) -> InputError:
    start = _after_space(text, position)
    if start == len(text):
        return InputError.of(source, f"ends too early; expected {expected}; export it again")
    found = shown(text[start : start + 200].splitlines()[0])
    line = text.count("\n", 0, start) + 1
    return InputError.of(source, f"expected {expected}, found {found}", f"line {line}")


def _after_space(text: str, position: int) -> int:
    space = _SPACE.match(text, position)
    return space.end() if space else position


def _body(corners: np.ndarray[tuple[int, int], np.dtype[np.float64]], source: str) -> Body:
    return sound_body("", corners, np.arange(len(corners)).reshape(-1, 3), source)
