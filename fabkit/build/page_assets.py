"""What a page shows in space: the meshes of a set, and how they lie in each solution."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from fabkit.build.artifacts import Artifacts
from fabkit.build.assembly_layout import boards_of, laid, lumps
from fabkit.build.targets import Progress, silent
from fabkit.mesh.files.glb import GlbPart, write_glb
from fabkit.model.accessory import LID, Accessory
from fabkit.model.entry import Entry
from fabkit.output.render.laying import Motion
from fabkit.output.render.scene import corner_normals

#: Motions are told to so many decimals of a mm, and of a rotation's entries.
_DECIMALS = 6


def glb_models(made_of: Artifacts, progress: Progress = silent) -> dict[str, bytes]:
    """A GLB file of every piece, board and lid by its id. A piece lies there as in its STL file.

    Raises:
        InputError: when the profile does not suit a thing.
        OutsideError: when a library fails.
    """
    found = {}
    for done, thing in enumerate(made_of.things):
        progress(done, len(made_of.things), f"models/{thing.id}.glb")
        parts = [
            GlbPart(one.name, one.colour, one.vertices, one.faces, normals)
            for one in lumps(made_of, thing, Motion())
            for normals in [corner_normals(one.vertices, one.faces)]
        ]
        found[thing.id] = write_glb(parts)
    return found


def models_data(
    made_of: Artifacts, entries: Sequence[Entry], models: Mapping[str, bytes]
) -> dict[str, Any]:
    """What the page's viewer knows besides the challenges.

    Returns:
        ``pieces``, ``boards`` and ``lids``: for each its GLB file, packed as zlib does and in
        base64. ``solutions``: for each entry with a solution the ``board`` that it lies in, if
        any, and for each piece a pair of its matrix, 16 numbers column by column, in mm with z up,
        and the way that it moves when the pieces are shown apart, in mm.
    """
    pieces = {piece.id for piece in made_of.puzzle.pieces}
    lids = {one.id for one in made_of.things if isinstance(one, Accessory) and one.kind == LID}
    boards = models.keys() - pieces - lids
    return {
        "pieces": _packed(models, pieces),
        "boards": _packed(models, boards),
        "lids": _packed(models, lids),
        "solutions": {entry.id: _solution(made_of, entry) for entry in entries if entry.solution},
    }


def models_script(data: Mapping[str, Any]) -> str:
    """The data as a script, which a page can load from a disk.

    Example:
        >>> print(models_script({"pieces": {"A": "Z2xURg=="}}), end="")
        window.FABKIT_MODELS = {"pieces":{"A":"Z2xURg=="}};
    """
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return f"window.FABKIT_MODELS = {text};\n"


def _packed(models: Mapping[str, bytes], ids: Iterable[str]) -> dict[str, str]:
    wanted = set(ids)
    return {
        one: base64.b64encode(zlib.compress(content, 9)).decode()
        for one, content in models.items()
        if one in wanted
    }


def _solution(made_of: Artifacts, entry: Entry) -> dict[str, Any]:
    """How an entry's pieces lie when it is solved."""
    assert entry.solution is not None
    boards = boards_of(made_of.puzzle, entry.region, made_of.profile, entry.halves)
    motions = laid(made_of, entry.region, entry.solution, boards, entry.halves)
    return {
        "board": next((one.id for one in boards if one.kind != LID), None),
        "pieces": {
            piece: [_matrix(motion), _rounded(away_mm)]
            for piece, (motion, away_mm) in motions.items()
        },
    }


def _matrix(motion: Motion) -> list[float]:
    """A motion's matrix, column by column, as WebGL has it."""
    columns = np.column_stack([motion.rows, motion.shift_mm])
    return _rounded(np.vstack([columns, (0.0, 0.0, 0.0, 1.0)]).T.ravel().tolist())


def _rounded(values: Iterable[float]) -> list[float]:
    """Rounded, and whole numbers as such: they are shorter."""
    rounded = [round(value, _DECIMALS) + 0.0 for value in values]
    return [int(value) if value == int(value) else value for value in rounded]
