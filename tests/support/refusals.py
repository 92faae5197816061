"""Mesh files that are refused: the message, and that it took little memory."""

from __future__ import annotations

import re
import tracemalloc
from pathlib import Path

import pytest

from fabkit.core.errors import InputError
from fabkit.mesh.files.reading import read_bodies

#: What may be taken beside four times the file.
SPARE_BYTES = 30_000_000

#: The end of what is said of a corner that is too far out.
FAR = "expected numbers from -1000000 to 1000000"
_SIZES = re.compile(r"from [0-9]+ to [0-9]+ bytes")


def message(folder: Path, name: str, content: bytes | str) -> str:
    """What is said of a file, without the folder; sizes of archives depend on the compressor."""
    data = content if isinstance(content, bytes) else content.encode()
    path = folder / name
    path.write_bytes(data)
    tracemalloc.start()
    try:
        with pytest.raises(InputError) as refusal:
            read_bodies(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * len(data) + SPARE_BYTES
    said = str(refusal.value).replace(f"{folder}/", "")
    assert not re.search(r"[\n\x1b]", said)
    return _SIZES.sub("from A to B bytes", said)
