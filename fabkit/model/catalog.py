"""The shipped catalogs: challenges of a set that were generated, and proved, by fabkit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from fabkit.base.errors import InputError
from fabkit.base.files import read_json
from fabkit.model.lattice import Cell, Lattice, Ring
from fabkit.model.library import shipped_folder
from fabkit.model.polygon import cells_of_rings
from fabkit.model.puzzle import Challenge, PuzzleSet


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


def catalog_challenge(puzzle: PuzzleSet, name: str) -> Challenge | None:
    """A challenge of a set's shipped catalog by its id; None when there is none of that name.

    Raises:
        InputError: when it lies on two lattices, which no challenge file can say.
    """
    for entry in catalog_entries(puzzle):
        if entry["id"] == name:
            if entry["parity"] == "mixed":
                message = (
                    f"{name} lies on two lattices half a unit apart, and a challenge on one; its "
                    f"solution is in {catalog_path(puzzle).name}"
                )
                raise InputError.of(puzzle.name, message)
            region = frozenset(_cells(puzzle.lattice, entry))
            pieces = tuple(entry["solution"])
            return Challenge(name, region, pieces, (), entry["flips"], "solved")
    return None


def _cells(lattice: Lattice, entry: dict[str, Any]) -> Iterator[Cell]:
    """The cells of an entry's outlines, which are drawn around its centre.

    Of odd parity the centre is the middle of a cell, and the grid half a unit away.
    """
    offset = lattice.per_unit // 2 if entry["parity"] == "odd" else 0
    for outline in entry["outlines"]:
        rings: list[Ring] = [
            tuple(
                (round(x * lattice.per_unit) + offset, round(y * lattice.per_unit) + offset)
                for x, y in ring
            )
            for ring in outline
        ]
        yield from cells_of_rings(lattice, rings, may_touch=True)
