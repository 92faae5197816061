"""How much a mesh file may hold, and the checks that every format shares."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from fabkit.core.errors import InputError, cut, printable, shown
from fabkit.mesh.body import Body, Faces, Points

#: A larger file is not read. Two million triangles take 100 MB as a binary STL.
MAX_BYTES = 256 * 1024 * 1024
#: In all bodies of a file together, a component counted as often as it is used.
MAX_TRIANGLES = 2_000_000
#: In a whole OBJ or 3MF file: as many as that many triangles can use.
MAX_VERTICES = 3 * MAX_TRIANGLES
MAX_BODIES = 1000
#: In the file's unit of length, in mm where it states one: a kilometre.
MAX_COORDINATE = 1e6

#: Python's float() also reads nan, inf, 1_000 and the digits of other alphabets.
_NOT_IN_NUMBERS = re.compile(r"[^0-9eE+.\-]", re.ASCII)
_WHOLE = re.compile(r"[+-]?[0-9]{1,15}", re.ASCII)
_LONGEST_NAME = 60
#: Means something to a terminal, a web page, a shell or a file system.
_UNSAFE = re.compile(r"""[\\/:*?"'`<>|&$\[\]{}]""")


def refuse_triangles(source: str) -> NoReturn:
    """Refuses a file with too many triangles."""
    raise InputError.of(source, f"holds more than {MAX_TRIANGLES} triangles; make the mesh coarser")


def refuse_vertices(source: str) -> NoReturn:
    """Refuses a file with too many vertices."""
    raise InputError.of(source, f"holds more than {MAX_VERTICES} vertices; make the mesh coarser")


def refuse_bodies(source: str) -> NoReturn:
    """Refuses a file with too many bodies."""
    raise InputError.of(source, f"holds more than {MAX_BODIES} bodies; split it into several files")


def decimals(texts: Sequence[str], source: str, place: str) -> list[float]:
    """Numbers as mesh files write them, all finite in form.

    Args:
        texts: one number each.
        source: the file's name in messages.
        place: where they stand.

    Returns:
        Their values; infinite where they are too large for a computer, which `sound_body` tells.

    Raises:
        InputError: at the first that is no number.

    Example:
        >>> decimals(["-1", ".5", "2e1"], "a.obj", "line 1")
        [-1.0, 0.5, 20.0]
        >>> decimals(["nan"], "a.obj", "line 1")
        Traceback (most recent call last):
        ...
        fabkit.core.errors.InputError: a.obj: line 1: expected a number, found "nan"
    """
    if not _NOT_IN_NUMBERS.search("".join(texts)):
        try:
            return [float(text) for text in texts]
        except ValueError:
            pass  # told below
    wrong = next(text for text in texts if not _is_decimal(text))
    raise InputError.of(source, f"expected a number, found {shown(wrong[:200])}", place)


def _is_decimal(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return not _NOT_IN_NUMBERS.search(text)


def whole(text: str, source: str, place: str) -> int:
    """A whole number of at most fifteen digits.

    Raises:
        InputError: when it is none.

    Example:
        >>> whole("-12", "a.obj", "line 1")
        -12
    """
    if not _WHOLE.fullmatch(text):
        raise InputError.of(source, f"expected a whole number, found {shown(text[:200])}", place)
    return int(text)


def sound_body(name: str, vertices: Points, faces: Faces, source: str, place: str = "") -> Body:
    """A body whose corners at exactly the same place are one.

    Degenerate triangles stay, in the order and with the winding of the file. Vertices that no
    triangle uses go; the others come in the order in which triangles first use them.

    Args:
        name: of the body.
        vertices: shape (n, 3), any values.
        faces: shape (m, 3), positions in `vertices`.
        source: the file's name in messages.
        place: the body's place in the file; may be empty.

    Returns:
        The body.

    Raises:
        InputError: when there is no triangle, or a corner lies too far out or nowhere.

    Example:
        >>> corners = np.array([[0, 0, 0], [1, 0, 0], [-0.0, 0, 0], [0, 1, 0], [9, 9, 9]])
        >>> sound_body("a", corners, np.array([[0, 1, 3], [2, 3, 1]]), "a.obj").faces.tolist()
        [[0, 1, 2], [0, 2, 1]]
    """
    if not len(faces):
        raise InputError.of(source, "holds no triangles", place)
    flat = faces.ravel()
    corners = vertices + 0.0  # which makes -0.0 the 0.0 that it equals
    outside = np.asarray(~((corners >= -MAX_COORDINATE) & (corners <= MAX_COORDINATE)).all(axis=1))
    if outside.any() and outside[flat].any():
        wrong = int(np.argmax(outside[flat]))
        found = ", ".join(f"{value:g}" for value in corners[flat[wrong]])
        raise InputError.of(
            source,
            f"a corner is at ({found}); expected numbers from {-MAX_COORDINATE:.0f} to "
            f"{MAX_COORDINATE:.0f}",
            ", ".join(filter(None, (place, f"triangle {wrong // 3 + 1}"))),
        )
    order = np.lexsort(corners.T)
    is_new = np.zeros(len(order), dtype=bool)
    is_new[:1] = True
    for column in corners.T:
        ranked = column[order]
        is_new[1:] |= ranked[1:] != ranked[:-1]
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.cumsum(is_new) - 1
    welded = places[flat]
    first = np.full(int(is_new.sum()), -1)  # where each is first used
    first[welded[::-1]] = np.arange(len(flat))[::-1]
    used = np.flatnonzero(first >= 0)
    by_use = used[np.argsort(first[used])]
    renumbered = np.empty(len(first), dtype=np.int64)
    renumbered[by_use] = np.arange(len(by_use))
    kept = corners[order[is_new][by_use]]
    return Body(name, kept, renumbered[welded].reshape(-1, 3))


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
