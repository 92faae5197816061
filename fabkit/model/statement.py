"""What a certificate speaks of: a challenge as plain data, with everything that decides it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fabkit.model.lattice import Ring
from fabkit.model.piece import Piece
from fabkit.model.polygon import rings_of_cells
from fabkit.model.puzzle import Challenge, PuzzleSet


def statement(puzzle: PuzzleSet, challenge: Challenge, leftover: bool = False) -> dict[str, Any]:
    """A challenge with its pieces drawn out, ready for JSON.

    All corners are integer frame points of the lattice (see `fabkit.model.lattice`), outlines
    are lists of rings under the even-odd rule.

    Args:
        puzzle: the set.
        challenge: one of its challenges, or one read from a file.
        leftover: whether cells of the region may stay uncovered.

    Returns:
        ``lattice``, ``flips``, ``leftover``, ``region`` (rings), ``pieces`` (``id`` and
        ``forms``, each a list of rings), ``given`` (``piece`` and ``outline``), and
        ``pieces_count``, where only so many are used.

    Example:
        >>> from fabkit.model.library import load_set
        >>> fridgeiq = load_set("fridgeiq")
        >>> said = statement(fridgeiq, fridgeiq.challenges[0])
        >>> said["lattice"], [piece["id"] for piece in said["pieces"]]
        ('quarter-square', ['R', 'M', 'J', 'I'])
    """
    lattice = puzzle.lattice
    said: dict[str, Any] = {
        "lattice": lattice.name,
        "flips": challenge.flips,
        "leftover": leftover,
        "region": _plain(rings_of_cells(lattice, challenge.region)),
        "pieces": [drawn(piece) for piece in puzzle.select(challenge.pieces)],
        "given": [
            {"piece": given.piece, "outline": _plain(rings_of_cells(lattice, given.cells))}
            for given in challenge.given
        ],
    }
    if challenge.pieces_count is not None:
        said["pieces_count"] = challenge.pieces_count
    return said


def drawn(piece: Piece) -> dict[str, Any]:
    """A piece drawn out, ready for JSON: its ``id`` and its ``forms``, each a list of rings.

    Example:
        >>> from fabkit.model.library import load_set
        >>> drawn(load_set("fridgeiq").piece("D"))
        {'id': 'D', 'forms': [[[[0, 0], [12, 0], [6, 6]]]]}
    """
    return {"id": piece.id, "forms": [_plain(form.rings) for form in piece.forms]}


def _plain(rings: Iterable[Ring]) -> list[list[list[int]]]:
    return [[[x, y] for x, y in ring] for ring in rings]
