"""Several pieces at once, with all that is wrong told together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TypeVar

from fabkit.base.errors import Fault, InputError
from fabkit.blueprint.printed import BlueprintError
from fabkit.model.piece import Piece
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet

_Made = TypeVar("_Made")


def every(
    puzzle: PuzzleSet,
    pieces: Sequence[Piece],
    profile: Profile,
    make: Callable[[PuzzleSet, Piece, Profile], _Made],
    purpose: str,
) -> list[_Made]:
    """Makes something of each of some pieces.

    Args:
        puzzle: gives the lattice.
        pieces: some of the set's.
        profile: gives every length.
        make: what to make of one piece.
        purpose: what only flat pieces can be, for the message.

    Returns:
        What was made, in the pieces' order.

    Raises:
        InputError: when a piece is made of balls; or with every piece of which nothing can be made.
            Pieces with the same fault share a line.
    """
    if any(piece.body for piece in pieces):
        raise InputError.of(
            puzzle.name, f"its pieces are made of balls; only flat pieces can be {purpose}"
        )
    made = []
    faults: dict[str, list[str]] = defaultdict(list)
    for piece in pieces:
        try:
            made.append(make(puzzle, piece, profile))
        except BlueprintError as fault:
            faults[str(fault)].append(piece.id)
    if faults:
        raise InputError(
            f"{puzzle.name} with profile {profile.name}",
            [
                Fault(f"piece{'s' * (len(ids) > 1)} {', '.join(ids)}", message)
                for message, ids in faults.items()
            ],
        )
    return made
