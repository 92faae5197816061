"""The shipped catalogs: challenges of a set that were generated, and proved, by fabkit."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from fabkit.core.files import read_json
from fabkit.model.library import shipped_folder
from fabkit.model.puzzle import PuzzleSet


def catalog_path(puzzle: PuzzleSet) -> Path:
    """Where the shipped catalog of a set is, if it has one."""
    return shipped_folder() / "catalogs" / f"{puzzle.name}.json"


def catalog_entries(puzzle: PuzzleSet) -> Sequence[dict[str, Any]]:
    """The challenges of a set's shipped catalog; none when it has no catalog.

    A file of one's own that is called like a shipped set has its catalog as long as the pieces
    are the same.

    Example:
        >>> from fabkit.model.library import load_set
        >>> len(catalog_entries(load_set("iqfit")))
        0
    """
    path = catalog_path(puzzle)
    if not path.is_file():
        return ()
    catalog = _catalog(path)
    made_for_these = catalog["made"]["pieces_sha256"] == puzzle.pieces_sha256
    return tuple(catalog["challenges"]) if made_for_these else ()


@lru_cache(maxsize=4)
def _catalog(path: Path) -> dict[str, Any]:
    return read_json(path)
