"""Reading mesh files that anybody may have made: STL, 3MF and OBJ, within bounds.

What a file is, its content says; its ending only helps when that is not clear. No reader
opens another file, and none leaves the process: see the formats' own modules for how.
"""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

from fabkit.core.errors import InputError, printable
from fabkit.core.files import read_bytes
from fabkit.mesh.body import Body
from fabkit.mesh.files.limits import MAX_BYTES, body_names
from fabkit.mesh.files.obj import is_obj, read_obj
from fabkit.mesh.files.stl import is_ascii_stl, is_binary_stl, read_stl
from fabkit.mesh.files.threemf import is_archive, read_3mf

_EXPECTED = "an STL, 3MF or OBJ file"


def read_bodies(path: Path) -> list[Body]:
    """Reads the bodies of a mesh file.

    An STL file is one body. An OBJ file has one for each object, or group, or is one; a 3MF file
    has one for each mesh at each place where it is to be built.

    Args:
        path: the file.

    Returns:
        At least one body, in the file's order. Those of a 3MF file are in mm, others in whatever
        length the file is in. Each has a name of its own.

    Raises:
        InputError: when it cannot be read, is no mesh file, is damaged, or is larger than anything
            that is printed; with the place in it, what was found and what was expected.
    """
    source = printable(str(path))
    size = _size(path)
    # Not more is asked for than there is, since memory is taken for all of it.
    wanted = MAX_BYTES if size is None else min(size, MAX_BYTES)
    content = b"" if (size or 0) > MAX_BYTES else read_bytes(path, source, _EXPECTED, wanted)
    if max(size or 0, len(content)) > MAX_BYTES:
        raise InputError.of(
            source, f"is larger than {MAX_BYTES // 1024**2} MiB; make the mesh coarser"
        )
    bodies = _read(content, path.suffix.lower(), source)
    names = body_names(path.name, [body.name for body in bodies])
    return [replace(body, name=name) for body, name in zip(bodies, names, strict=True)]


def _size(path: Path) -> int | None:
    """A file's size on the disk; None for a pipe, or where opening it will tell what is wrong."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def _read(content: bytes, suffix: str, source: str) -> list[Body]:
    if not content:
        raise InputError.of(source, f"is empty; expected {_EXPECTED}")
    if is_archive(content):
        return read_3mf(content, source)
    if is_binary_stl(content) or is_ascii_stl(content):
        return [read_stl(content, source)]
    if is_obj(content):
        return read_obj(content, source)
    if suffix == ".stl":
        return [read_stl(content, source)]
    if suffix == ".obj":
        return read_obj(content, source)
    if suffix == ".3mf":
        raise InputError.of(source, "is no 3MF file: it is no zip archive")
    raise InputError.of(source, f"is of no known kind; expected {_EXPECTED}")
