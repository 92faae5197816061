"""Proofs that shapes are impossible, one short one for each of tens of thousands.

A search on its own proves what it finds by what it branched on: see `fabkit.certify`. Here that is
kept for every candidate, with one cell of each of its orbits to say which one it is. What all of them
share (the pieces, the centres) stands once at the head of a file of many, which `fabkit certify`
checks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

from fabkit.model.piece import Piece
from fabkit.model.puzzle import drawn
from fabkit.puzzles.snowflakes.field import Field
from fabkit.puzzles.snowflakes.tiling import Tiler

KIND = "fabkit impossible shapes"


def proof(
    tiler: Tiler, orbits: Sequence[int], first: int | None, items: Sequence[int]
) -> dict[str, Any]:
    """The proof that a candidate is impossible, ready for JSON.

    Args:
        tiler: that tried it.
        orbits: the candidate's.
        first: the kind branched on first, of which one placement of each orbit was tried; None
            when all were.
        items: what was branched on, in preorder: the candidate's cells in the field's order, then
            the kinds.

    Returns:
        ``cells`` (for each part one cell of each orbit, in frame steps), ``branch_first`` (an
        item) and ``items``.

    Example:
        >>> from fabkit.model.library import load_set
        >>> fridgeiq = load_set("fridgeiq")
        >>> field = Field.of(fridgeiq.lattice, "odd", 1)
        >>> proof(Tiler(field, fridgeiq.select("D")), [0], None, [0])
        {'cells': [[[1, 3]]], 'branch_first': None, 'items': [0]}
    """
    field = tiler.field
    cells: list[list[list[int]]] = [[] for _ in field.parts]
    for orbit in orbits:
        at, cell = field.cells[field.orbits[orbit][0]]
        cells[at].append(list(cell))
    size = sum(field.weights[orbit] for orbit in orbits)
    return {
        "cells": cells,
        "branch_first": None if first is None else size + first,
        "items": list(items),
    }


def combined_sha256(hashes: Iterable[str]) -> str:
    """One hash for many proofs, whatever their order."""
    return hashlib.sha256("\n".join(sorted(hashes)).encode()).hexdigest()


def impossible_shapes(
    set_name: str,
    field: Field,
    pieces: Sequence[Piece],
    flips: bool,
    shapes: Sequence[dict[str, Any]],
) -> dict[str, Any]:
    """A file of many proofs.

    Args:
        set_name: a label.
        field: whose parts and centres the proofs speak of; how large it is does not matter.
        pieces: all of which every shape would have to hold.
        flips: whether they may be turned over.
        shapes: the proofs.
    """
    return {
        "kind": KIND,
        "set": set_name,
        "lattice": field.lattice.name,
        "flips": flips,
        "centres": [list(part.centre) for part in field.parts],
        "pieces": [drawn(piece) for piece in pieces],
        "shapes": list(shapes),
    }
