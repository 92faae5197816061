"""The data of a drawing: what the pieces and boards of a set look like, and the lattices to draw on."""

from __future__ import annotations

from typing import Any

from fabkit.core.colours import ink_on
from fabkit.model.lattice import LATTICES, Lattice
from fabkit.model.puzzle import PuzzleSet, default_board
from fabkit.output.web.playdata import flat_list, lattice_data


def draw_data(puzzle: PuzzleSet) -> dict[str, Any]:
    """Return the ``pieces``, ``boards`` and ids of ``challenges`` of a set, its ``families`` with what
    the names of their members consist of, and the ``area`` of its pieces.

    Areas are in units of area: squares, hexagons, triangles.
    """
    board = default_board(puzzle.boards)
    return {
        "area": puzzle.area,
        "pieces": [
            {
                "id": piece.id,
                "label": piece.label,
                "colour": piece.colour,
                "ink": ink_on(piece.colour),
            }
            for piece in puzzle.pieces
        ],
        "boards": [
            {
                "id": drawn.id,
                "area": len(drawn.cells) / puzzle.lattice.cells_per_unit,
                "open": drawn.open_count / puzzle.lattice.cells_per_unit,
                "default": drawn is board,
            }
            for drawn in puzzle.boards
        ],
        "challenges": [challenge.id for challenge in puzzle.challenges],
        "families": [
            {
                "id": family.id,
                "prefix": family.prefix,
                "groups": [
                    list(dict.fromkeys(label.text for label in group)) for group in family.groups
                ],
            }
            for family in puzzle.families
        ],
    }


def lattices_to_draw_on() -> list[dict[str, Any]]:
    """Return all lattices: those of the play page (`lattice_data`), with the cells of one period by
    column, and the symmetries as doubled matrices."""
    return [
        lattice_data(lattice, {1})
        | {
            "columns": _columns(lattice),
            "symmetries": [
                {"turns": symmetry.turns, "flipped": symmetry.flipped, "doubled": symmetry.doubled}
                for symmetry in lattice.symmetries
            ],
        }
        for lattice in LATTICES.values()
    ]


def _columns(lattice: Lattice) -> list[list[int]]:
    """Return the cells of one period in row 0, by column: counter-clockwise from the top."""
    return [flat_list(lattice.cells_at(0, column)) for column in range(len(lattice.columns))]
