"""Sizes: what is so large that it can only be a board or lid, and what is as large as a region."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fabkit.mesh.boards.standing import straightened, ways_up
from fabkit.mesh.body import Body, Points
from fabkit.model.lattice import Ring
from fabkit.model.polygon import rings_of_cells
from fabkit.model.puzzle import Board, PuzzleSet, rings_in_units

#: A lid may be smaller than its region by this (mm), as one that is printed small is.
_SMALLER_MM = 2.0
#: A board is larger than its region by a wall on both sides, 1 mm each at the least.
_LARGER_MM = 2.0
#: A piece is no larger than its cells by this (mm), and no smaller by this part of a grid unit:
#: balls and discs do not fill theirs.
_OVERSIZE_MM, _UNDERSIZE = 0.5, 0.3
#: A body that stands on edge is narrower than a board by this, as parts of their lengths.
_NARROWER = 0.5


def is_accessory(body: Body, puzzle: PuzzleSet, *units_mm: float, length_mm: float = 1.0) -> bool:
    """Whether a body is so large that it can only be a board or lid.

    The rectangle around it, seen as a plate, covers that around a board's region, and that around
    every piece is smaller. A board that is no larger than a piece of its set (one for a single
    piece) cannot be told by its size; then whatever is larger than the region by a wall, 1 mm all
    around, is the board or its lid. Where the unit may be one of several, a piece can be as large as
    a board with a smaller unit: what has the box of a piece is no board.

    Args:
        body: of any name, lying in any way.
        puzzle: the set.
        units_mm: what the grid unit may be, at least one.
        length_mm: the unit of length of the body's file.

    Example:
        >>> from fabkit.model.library import load_set
        >>> corners = np.array([[x, y, z] for x in (0, 165) for y in (0, 3) for z in (0, 166)], float)
        >>> quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        >>> lid = Body("A.stl", corners, np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]))
        >>> is_accessory(lid, load_set("iqblock"), 20.0), is_accessory(lid, load_set("iqblock"), 25.0)
        (True, False)
    """
    forms = [form for piece in puzzle.pieces for form in piece.forms]
    pieces = [_sides(straightened(_points(puzzle, form.rings))) for form in forms]
    regions = [_region_sides(puzzle, board) for board in puzzle.boards]
    # A small board with deep holes has its largest face on a side.
    for way in ways_up(body)[::2]:
        size = _sides(way) * length_mm
        large = {unit_mm for unit_mm in units_mm if _is_large(size, regions, pieces, unit_mm)}
        if large and not any(
            _has_box(size, piece, unit_mm) for unit_mm in {*units_mm} - large for piece in pieces
        ):
            return True
    return False


def _is_large(
    size: Points, regions: Sequence[Points], pieces: Sequence[Points], unit_mm: float
) -> bool:
    """Whether something is as large as a board with this unit, and larger than every piece."""
    for region in regions:
        can_be_piece = any((piece >= region - 1e-9).all() for piece in pieces)
        more_mm = _LARGER_MM if can_be_piece else -_SMALLER_MM
        if (size >= region * unit_mm + more_mm).all():
            return True
    return False


def _has_box(size: Points, piece: Points, unit_mm: float) -> bool:
    """Whether something is as large as a piece with this unit, or a little smaller."""
    spare = piece * unit_mm - size
    return bool((spare > -_OVERSIZE_MM).all() and (spare < _UNDERSIZE * unit_mm).all())


def like_a_region(vertices: Points, puzzle: PuzzleSet) -> bool:
    """Whether a standing body is not far narrower than the boards of the set, as one on edge is.

    Args:
        vertices: its corners as it stands, shape (n, 3).
        puzzle: the set.
    """
    long, short = _sides(vertices)
    return any(
        short / long > _NARROWER * width / length
        for length, width in (_region_sides(puzzle, board) for board in puzzle.boards)
    )


def spare_mm(vertices: Points, puzzle: PuzzleSet, board: Board, unit_mm: float) -> float | None:
    """How much larger a lid is than a region, along and across together.

    Args:
        vertices: the lid's corners as it stands, shape (n, 3), in mm.
        puzzle: the set.
        board: whose region it is.
        unit_mm: the grid unit.

    Returns:
        None when the lid does not cover the region.
    """
    spare = _sides(vertices) - _region_sides(puzzle, board) * unit_mm
    return float(spare.sum()) if (spare > -_SMALLER_MM).all() else None


def _region_sides(puzzle: PuzzleSet, board: Board) -> Points:
    """The longer and the shorter side of a board's region in grid units."""
    return _sides(_points(puzzle, rings_of_cells(puzzle.lattice, board.cells)))


def _sides(points: Points) -> Points:
    """The longer and the shorter side of the rectangle around points, seen from above."""
    return np.sort(np.ptp(points[:, :2], axis=0))[::-1]


def _points(puzzle: PuzzleSet, rings: Sequence[Ring]) -> Points:
    """The corners of rings in grid units, at height 0, shape (n, 3)."""
    return np.array([(*p, 0.0) for ring in rings_in_units(puzzle.lattice, rings) for p in ring])
