"""Compare a file with the set and the challenge that it names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fabkit.certify.document import ImpossibleShapes, PieceForms, Proofs
from fabkit.certify.tiling import ProofError
from fabkit.core.errors import quote
from fabkit.model.puzzle import Challenge, PuzzleSet, piece_document, problem_document
from fabkit.sets.catalog import shipped_entry
from fabkit.sets.library import load_set, shipped_names


def compare_labels(file: Proofs, set_name: str | None) -> str:
    """Compare the contents of a file with the set and the challenge that its labels name.

    `set_name` is a shipped set or a set file; None means the set named in the file.

    Returns:
        Why they could not be compared; empty if they were and are equal.

    Raises:
        InputError: if there is no such set, or its file has errors.
        ProofError: if they differ.
    """
    if set_name is None and file.set not in shipped_names():
        return f"there is no shipped set {quote(file.set)}"
    puzzle = load_set(file.set if set_name is None else set_name)
    if file.set != puzzle.name:
        raise ProofError(f"is about the set {quote(file.set)}, not about {puzzle.name}")
    if isinstance(file, ImpossibleShapes):
        _compare_pieces(puzzle, file.lattice, file.pieces)
        return ""
    meant = _named(puzzle, file.challenge)
    stated = file.problem.raw
    # On the command line as many cells may stay open as the pieces leave, if that is one number.
    with_open_cells = [
        replace(challenge, open_count=spare_count)
        for challenge in meant
        if (spare_count := puzzle.cells_to_spare(challenge)) is not None
    ]
    if any(problem_document(puzzle, challenge) == stated for challenge in meant + with_open_cells):
        return ""
    if meant:
        name = f"{file.challenge} of {puzzle.name}"
        raise ProofError(f"differs from the challenge {name} that is {_where(puzzle)}")
    _compare_pieces(puzzle, file.problem.lattice, file.problem.pieces)
    # The user's own lists also call their starts start-001, so a difference is only a warning.
    entry = shipped_entry(puzzle, file.challenge)
    if entry is None:
        return f"{puzzle.name} has no challenge {quote(file.challenge)}"
    # Certificates do not support challenges on two lattices.
    if entry.halves == 1 and problem_document(puzzle, entry.challenge) == stated:
        return ""
    return f"the shipped {file.challenge} of {puzzle.name} is a different challenge"


def _compare_pieces(puzzle: PuzzleSet, lattice: str, pieces: Sequence[PieceForms]) -> None:
    if lattice != puzzle.lattice.name:
        lattice_name = f"{puzzle.lattice.name}, not {lattice}"
        raise ProofError(f"the lattice of {puzzle.name} is {lattice_name}")
    documents = {
        piece.id: piece_document(puzzle.lattice, piece) | {"colour": piece.colour}
        for piece in puzzle.pieces
    }
    for piece in pieces:
        name = quote(piece.id)
        if piece.id not in documents:
            raise ProofError(f"{puzzle.name} has no piece {name}")
        meant = documents[piece.id]
        if {"colour": meant["colour"], **piece.raw} != meant:
            where = _where(puzzle)
            raise ProofError(f"differs from the piece {name} of {puzzle.name} that is {where}")


def _where(puzzle: PuzzleSet) -> str:
    return "shipped" if puzzle.name in shipped_names() else f"in {puzzle.source}"


def _named(puzzle: PuzzleSet, name: str) -> list[Challenge]:
    """Return the challenges of that name: of the set, all pieces on a board, of a family."""
    boards = [puzzle.whole_board(board) for board in puzzle.boards if board.id == name]
    member = puzzle.find_member(name)
    stated = [challenge for challenge in puzzle.challenges if challenge.id == name]
    return [*stated, *boards, *([member] if member else [])]
