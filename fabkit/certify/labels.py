"""Whether a file speaks of the set, and the challenge, whose names it bears."""

from __future__ import annotations

from collections.abc import Sequence

from fabkit.certify.document import DrawnPiece, ImpossibleShapes, Proofs
from fabkit.certify.tiling import RefusedError
from fabkit.core.errors import shown
from fabkit.model.library import load_set, shipped_names
from fabkit.model.puzzle import Challenge, PuzzleSet, drawn, statement


def compare(file: Proofs, set_name: str | None) -> str:
    """Compares what a file draws with the set, and the challenge, that its labels name.

    The set is looked for as `set_name`, shipped or a file; None: as the label names it.

    Returns:
        Why they could not be compared; empty when they could, and are the same.

    Raises:
        InputError: when there is no such set, or its file has faults.
        RefusedError: when they differ.
    """
    if set_name is None and file.set not in shipped_names():
        return f"there is no shipped set {shown(file.set)}"
    puzzle = load_set(file.set if set_name is None else set_name)
    if file.set != puzzle.name:
        raise RefusedError(f"is about the set {shown(file.set)}, not about {puzzle.name}")
    if isinstance(file, ImpossibleShapes):
        _compare_pieces(puzzle, file.lattice, file.pieces)
        return ""
    meant = _named(puzzle, file.challenge)
    said, leftover = file.problem.plain, file.problem.leftover
    if any(statement(puzzle, one, leftover) == said for one in meant):
        return ""
    if meant:
        name = f"{file.challenge} of {puzzle.name}"
        raise RefusedError(f"is not the challenge {name} that is {_where(puzzle)}")
    _compare_pieces(puzzle, file.problem.lattice, file.problem.pieces)
    return f"{puzzle.name} has no challenge {shown(file.challenge)}"


def _compare_pieces(puzzle: PuzzleSet, lattice: str, pieces: Sequence[DrawnPiece]) -> None:
    """Refuses pieces that are none of a set's."""
    if lattice != puzzle.lattice.name:
        found = f"{puzzle.lattice.name}, not {lattice}"
        raise RefusedError(f"the lattice of {puzzle.name} is {found}")
    forms = {piece.id: drawn(piece)["forms"] for piece in puzzle.pieces}
    for piece in pieces:
        name = shown(piece.id)
        if piece.id not in forms:
            raise RefusedError(f"{puzzle.name} has no piece {name}")
        if piece.plain["forms"] != forms[piece.id]:
            where = _where(puzzle)
            raise RefusedError(f"is not about the piece {name} of {puzzle.name} that is {where}")


def _where(puzzle: PuzzleSet) -> str:
    return "shipped" if puzzle.name in shipped_names() else f"in {puzzle.source}"


def _named(puzzle: PuzzleSet, name: str) -> list[Challenge]:
    """The challenge of that name; and the board, for all pieces by the set's own rules."""
    all_pieces = tuple(piece.id for piece in puzzle.pieces)
    boards = [
        Challenge(board.id, board.cells, all_pieces, flips=puzzle.flips)
        for board in puzzle.boards
        if board.id == name
    ]
    return [one for one in puzzle.challenges if one.id == name] + boards
