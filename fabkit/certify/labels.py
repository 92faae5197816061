"""Whether a certificate speaks of the challenge whose name it bears."""

from __future__ import annotations

from fabkit.base.errors import shown
from fabkit.certify.certificate import Certificate
from fabkit.certify.refusal import RefusedError
from fabkit.model.library import load_set, shipped_names
from fabkit.model.puzzle import Challenge, PuzzleSet
from fabkit.model.statement import statement


def compare(certificate: Certificate, set_name: str | None = None) -> str:
    """Compares a certificate's problem with the challenge that its labels name.

    Args:
        certificate: as it was read.
        set_name: the set to look in, shipped or a file; None: the one that the label names.

    Returns:
        Why they could not be compared; empty when they could, and are the same.

    Raises:
        InputError: when there is no set ``set_name``, or its file has faults.
        RefusedError: when it is another.
    """
    if set_name is None and certificate.set not in shipped_names():
        return f"there is no shipped set {shown(certificate.set)}"
    puzzle = load_set(certificate.set if set_name is None else set_name)
    meant = _named(puzzle, certificate.challenge)
    if not meant:
        return f"{puzzle.name} has no challenge {shown(certificate.challenge)}"
    leftover = certificate.problem.leftover
    if any(statement(puzzle, one, leftover) == certificate.problem.plain for one in meant):
        return ""
    where = "shipped" if puzzle.name in shipped_names() else f"in {puzzle.source}"
    name = f"{certificate.challenge} of {puzzle.name}"
    raise RefusedError(f"is not the challenge {name} that is {where}")


def _named(puzzle: PuzzleSet, name: str) -> list[Challenge]:
    """The challenge of that name; and the board, for all pieces by the set's own rules."""
    all_pieces = tuple(piece.id for piece in puzzle.pieces)
    boards = [
        Challenge(board.id, board.cells, all_pieces, flips=puzzle.flips)
        for board in puzzle.boards
        if board.id == name
    ]
    return [one for one in puzzle.challenges if one.id == name] + boards
