"""Whether a certificate speaks of the challenge, or the set, whose name it bears."""

from __future__ import annotations

from fabkit.certify.certificate import Certificate
from fabkit.certify.refusal import RefusedError
from fabkit.certify.shapes import ImpossibleShapes
from fabkit.core.errors import shown
from fabkit.model.library import load_set, shipped_names
from fabkit.model.puzzle import Challenge, PuzzleSet
from fabkit.model.statement import drawn, statement


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
    puzzle = _set_named(certificate.set, set_name)
    if puzzle is None:
        return f"there is no shipped set {shown(certificate.set)}"
    meant = _named(puzzle, certificate.challenge)
    if not meant:
        return f"{puzzle.name} has no challenge {shown(certificate.challenge)}"
    leftover = certificate.problem.leftover
    if any(statement(puzzle, one, leftover) == certificate.problem.plain for one in meant):
        return ""
    name = f"{certificate.challenge} of {puzzle.name}"
    raise RefusedError(f"is not the challenge {name} that is {_where(puzzle)}")


def compare_pieces(file: ImpossibleShapes, set_name: str | None = None) -> str:
    """Compares the pieces of a file of shapes with those of the set that its label names.

    Args:
        file: as it was read.
        set_name: the set to look in, shipped or a file; None: the one that the label names.

    Returns:
        Why they could not be compared; empty when they could, and are the same.

    Raises:
        InputError: when there is no set ``set_name``, or its file has faults.
        RefusedError: when one is another, or the set has none of that id.
    """
    puzzle = _set_named(file.set, set_name)
    if puzzle is None:
        return f"there is no shipped set {shown(file.set)}"
    if file.lattice != puzzle.lattice.name:
        found = f"{puzzle.lattice.name}, not {file.lattice}"
        raise RefusedError(f"the lattice of {puzzle.name} is {found}")
    forms = {piece.id: drawn(piece)["forms"] for piece in puzzle.pieces}
    for piece in file.plain:
        name = shown(piece["id"])
        if piece["id"] not in forms:
            raise RefusedError(f"{puzzle.name} has no piece {name}")
        if piece["forms"] != forms[piece["id"]]:
            where = _where(puzzle)
            raise RefusedError(f"is not about the piece {name} of {puzzle.name} that is {where}")
    return ""


def _set_named(label: str, set_name: str | None) -> PuzzleSet | None:
    """The set to compare with; None when none is named but by a label that is not shipped."""
    if set_name is None and label not in shipped_names():
        return None
    return load_set(label if set_name is None else set_name)


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
