"""Challenges and solutions on a page, at any scale."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from fabkit.drawing.outline import PointMm
from fabkit.model.entry import Entry
from fabkit.model.lattice import Cell, Lattice
from fabkit.model.polygon import rings_of_cells
from fabkit.model.puzzle import PuzzleSet, in_units
from fabkit.output.board import BoardDrawing
from fabkit.output.canvas import Canvas
from fabkit.output.look import LIGHT, Theme

#: A scale of one to this is easy to reckon with.
_EASY = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200)


def extent(lattice: Lattice, cells: Collection[Cell]) -> tuple[float, float, float, float]:
    """Left, bottom, width and height of some cells, in grid units.

    Example:
        >>> from fabkit.model.library import load_set
        >>> block = load_set("iqblock")
        >>> extent(block.lattice, block.boards[0].cells)
        (0.0, -8.0, 8.0, 8.0)
    """
    corners = [point for ring in rings_of_cells(lattice, cells) for point in ring]
    xs, ys = zip(*in_units(lattice, corners), strict=True)
    return min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)


def size_mm(puzzle: PuzzleSet, entry: Entry, unit_mm: float) -> tuple[float, float]:
    """Width and height of a challenge's region.

    Args:
        puzzle: the set.
        entry: the challenge.
        unit_mm: length of a grid unit of the pieces.
    """
    _, _, wide, high = extent(puzzle.lattice, entry.region)
    return wide * unit_mm / entry.halves, high * unit_mm / entry.halves


def easy_scale(size: tuple[float, float], room: tuple[float, float]) -> float:
    """One to what something is drawn so that it fits.

    Args:
        size: its width and height at full size.
        room: width and height of the room there is.

    Returns:
        The least easy number; a less easy one when even 1 : 200 is too large.

    Example:
        >>> easy_scale((160, 160), (60, 50))
        4
    """
    least = max(want / there for want, there in zip(size, room, strict=True))
    return next((scale for scale in _EASY if scale >= least - 1e-6), least)


def board_at(
    canvas: Canvas,
    puzzle: PuzzleSet,
    entry: Entry,
    unit_mm: float,
    corner: PointMm,
    theme: Theme = LIGHT,
    written: bool = False,
) -> BoardDrawing:
    """The lattice of a challenge, where its region's lower left corner is at a place.

    Args:
        canvas: where to draw.
        puzzle: the set.
        entry: the challenge.
        unit_mm: length of a grid unit of the pieces on the page.
        corner: where that corner comes to lie.
        theme: the colours.
        written: whether labels are text instead of areas.
    """
    left, bottom, _, _ = extent(puzzle.lattice, entry.region)
    cell_mm = unit_mm / entry.halves
    origin = corner[0] - left * cell_mm, corner[1] - bottom * cell_mm
    balls = puzzle.made_of_balls
    return BoardDrawing(
        canvas, puzzle.lattice, unit_mm, origin, balls, theme, entry.halves, written
    )


def draw_challenge(
    board: BoardDrawing, puzzle: PuzzleSet, entry: Entry, grid: bool = False
) -> None:
    """What is to be covered, with the pieces that are given.

    A plain silhouette, unless there is more to see: a board of the set shows its cells or seats,
    and so does a region on which pieces lie already.

    Args:
        board: where to draw; see `board_at`.
        puzzle: the set.
        entry: the challenge.
        grid: whether cells are shown in any case.
    """
    if grid or entry.given or any(one.cells == entry.region for one in puzzle.boards):
        board.region(entry.region)
    else:
        board.silhouette(entry.region)
    draw_pieces(board, puzzle, {given.piece: given.cells for given in entry.given})
    board.rim(entry.region)


def draw_solution(board: BoardDrawing, puzzle: PuzzleSet, entry: Entry) -> None:
    """A challenge's solution, with all of its pieces; see `draw_challenge`."""
    board.region(entry.region)
    draw_pieces(board, puzzle, entry.solution or {})
    board.rim(entry.region)


def draw_pieces(
    board: BoardDrawing,
    puzzle: PuzzleSet,
    layout: Mapping[str, frozenset[Cell]],
    pale: bool = False,
) -> None:
    """Pieces where they lie, in the set's order.

    Args:
        board: where to draw; see `board_at`.
        puzzle: the set.
        layout: each piece with its cells.
        pale: whether they only show what lies there already.
    """
    lying = [(piece, layout[piece.id]) for piece in puzzle.pieces if piece.id in layout]
    board.pieces(lying, pale)
