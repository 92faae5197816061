"""Damaged mesh files, each made again by its seed."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

from fabkit.core.errors import InputError
from fabkit.mesh.files.readers import read_meshes
from tests.support import meshfiles as files

_NUMBER = re.compile(rb"-?[0-9]+(?:\.[0-9]+)?")
_CHUNK = re.compile(rb"<[^<>]{0,200}>|[^\n]{0,80}+\n")
_ODD = [
    *b"-1 0 1 2 7 8 9 -9 1e9 1e400 -1e-400 nan inf -0.0 1e308 4294967295 2147483648".split(),
    *b"0x1 1_0 +-1 . 99999999999999999999 -9223372036854775808".split(),
    *(b"", b"9" * 5000, "٣".encode()),
]

_ITEMS = '<item objectid="3" transform="1 0 0 0 1 0 0 0 1 9 8 7"/><item objectid="1"/>'
_PARTS = ('objectid="1"', 'objectid="2" transform="-1 0 0 0 2 0 0 0 1 0 0 5"')
_MODEL = files.model(
    files.object3mf(1, attributes='name="A"') + files.object3mf(2) + files.components(3, *_PARTS),
    _ITEMS,
)
_OBJECTS = f"mtllib a.mtl\no A\n{files.obj()}o B\ng x\nusemtl m\nf 1 2 3 4\nf -1 -2 -3 -4 -5\n"
SEEDS = {
    "binary.stl": files.binary_stl(header=b"solid box"),
    "ascii.stl": (files.ascii_stl() * 2).encode(),
    "objects.obj": _OBJECTS.encode(),
    "box.off": files.off().encode(),
    "ascii.ply": files.ply(),
    "binary.ply": files.ply(binary=True),
    "scene.glb": files.glb(),
    "archive.3mf": files.package(_MODEL, more=[("Metadata/a.png", bytes(range(256)))]),
    "model.3mf": _MODEL.encode(),
}


def damaged(name: str, seed: int) -> bytes:
    """A file with a few changes; those of ``model.3mf`` are inside a sound archive."""
    rng = random.Random(f"{name} {seed}")
    content = bytearray(SEEDS[name])
    for _ in range(rng.choice([1, 1, 2, 3, 8])):
        rng.choice(CHANGES)(rng, content)
    return files.package(bytes(content) or b" ") if name == "model.3mf" else bytes(content)


def flip(rng: random.Random, content: bytearray) -> None:
    if content:
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)


def put_bytes(rng: random.Random, content: bytearray) -> None:
    start = rng.randrange(len(content) + 1)
    size = rng.choice([1, 2, 4])
    content[start : start + size] = rng.choice([b"\0", b"\xff", b"\x7f", rng.randbytes(1)]) * size


def truncate(rng: random.Random, content: bytearray) -> None:
    del content[rng.randrange(len(content) + 1) :]


def move_piece(rng: random.Random, content: bytearray) -> None:
    """Takes a piece out, or puts it, once or often, somewhere."""
    start = rng.randrange(len(content) + 1)
    stop = start + rng.randrange(1, 200)
    piece = bytes(content[start:stop]) * rng.choice([0, 1, 1, 2, 300])
    if rng.random() < 0.5:
        del content[start:stop]
    place = rng.randrange(len(content) + 1)
    content[place:place] = piece


def swap(parts: re.Pattern[bytes], odd: bool) -> Callable[[random.Random, bytearray], None]:
    """Something odd over a number, or one line or tag over another."""

    def change(rng: random.Random, content: bytearray) -> None:
        found = [match.span() for match in parts.finditer(bytes(content))]
        if found:
            (start, stop), (a, b) = rng.choice(found), rng.choice(found)
            content[start:stop] = rng.choice(_ODD) if odd else content[a:b]

    return change


_NUMBERS = swap(_NUMBER, odd=True)
CHANGES = (flip, put_bytes, truncate, move_piece, _NUMBERS, _NUMBERS, swap(_CHUNK, odd=False))


def outcome(path: Path) -> str:
    """``read`` or ``refused``; anything else ends the process."""
    try:
        bodies = read_meshes(path)
    except InputError as error:
        message = str(error)
    else:
        for body in bodies:
            assert body.faces.min() == 0
            assert body.faces.max() == len(body.vertices) - 1
        return "read" if bodies else "nothing"
    assert message.startswith(f"{path}: ")
    assert message.isprintable()
    assert len(message) < len(str(path)) + 400
    return "refused"
