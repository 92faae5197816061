"""The data of a drawing: how the pieces and boards of a set look, and the lattices to draw on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, TypedDict

from fabkit.core.colours import ink_on
from fabkit.model.lattice import LATTICES
from fabkit.model.puzzle import JOIN, PuzzleSet, default_board
from fabkit.output.web.playdata import Flat, LatticeData, flat_list, lattice_data


class _DrawnPieceData(TypedDict):
    id: str
    label: str
    colour: str
    ink: str


class _DrawnBoardData(TypedDict):
    id: str
    area: float
    open: float
    default: bool


class _DrawnFamilyData(TypedDict):
    id: str
    prefix: str
    join: str
    groups: list[list[str]]


class ShapesData(TypedDict):
    """How the pieces and boards of a set look, the ids of its challenges, and the area of its
    pieces, in squares, hexagons or triangles."""

    area: float
    pieces: list[_DrawnPieceData]
    boards: list[_DrawnBoardData]
    challenges: list[str]
    families: list[_DrawnFamilyData]


class _SymmetryData(TypedDict):
    turns: int
    flipped: bool
    doubled: Annotated[Sequence[int], "number[]"]


class DrawingLatticeData(LatticeData):
    """A lattice, with one period's cells in row 0 by column, counter-clockwise from the top."""

    columns: list[Flat]
    symmetries: list[_SymmetryData]


def draw_data(puzzle: PuzzleSet) -> ShapesData:
    """Return what the pieces and boards of a set look like."""
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
                "join": JOIN,
                "groups": [
                    list(dict.fromkeys(label.text for label in group)) for group in family.groups
                ],
            }
            for family in puzzle.families
        ],
    }


def lattices_to_draw_on() -> list[DrawingLatticeData]:
    """Return all lattices."""
    return [
        {
            **lattice_data(lattice, {1}),
            "columns": [
                flat_list(lattice.cells_at(0, column)) for column in range(len(lattice.columns))
            ],
            "symmetries": [
                {"turns": symmetry.turns, "flipped": symmetry.flipped, "doubled": symmetry.doubled}
                for symmetry in lattice.symmetries
            ],
        }
        for lattice in LATTICES.values()
    ]
