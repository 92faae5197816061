"""Accessories: what is printed with a set and is no piece of it: boards, trays and lids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fabkit.core.errors import InputError, shown
from fabkit.model.lattice import LATTICES
from fabkit.model.piece import Piece
from fabkit.model.profile import Profile
from fabkit.model.puzzle import Board, PuzzleSet

#: What an accessory is: a tray with a floor, a board of holes for balls, a board of seats for
#: stubs, or a lid for one of these.
TRAY, HOLES, SEATS, LID = "tray", "holes", "seats", "lid"
#: What a lid's id ends with, behind that of its board.
LID_ENDING = "-lid"


@dataclass(frozen=True)
class Accessory:
    """One physical thing of a set that is no piece.

    Attributes:
        id: its name in commands and file names: the board's, or that with ``-lid``.
        kind: one of ``tray``, ``holes``, ``seats`` and ``lid``.
        board: the board that it is, or covers.
        colour: ``#rrggbb``.
    """

    id: str
    kind: str
    board: Board
    colour: str


#: Whatever a set prints.
Thing = Piece | Accessory


def may_have_stubs(puzzle: PuzzleSet) -> bool:
    """Whether the set's pieces may stand on stubs: hexagons that may not be turned over."""
    return puzzle.lattice is LATTICES["triangular"] and not puzzle.flips


def has_stubs(puzzle: PuzzleSet, profile: Profile) -> bool:
    """Whether the set's pieces stand on stubs, so that they can only lie one way up.

    Those of the triangular lattice do that may not be turned over, unless the profile has stubs
    of no height.
    """
    return may_have_stubs(puzzle) and profile.stub_height_mm > 0


def keeps_own_gaps(puzzle: PuzzleSet, profile: Profile) -> bool:
    """Whether pieces leave gaps between them besides the clearance, as discs and stars do."""
    return has_stubs(puzzle, profile) and profile.cell_shape != "hexagon"


def as_printed(puzzle: PuzzleSet, profile: Profile) -> Profile:
    """The profile as the set's pieces are made with it.

    Those on stubs are printed face down, hold no magnets and have no letter on their back. All
    others are made as the profile says.
    """
    if not has_stubs(puzzle, profile):
        return profile
    faces = "none" if profile.faces == "none" else "front"
    return replace(profile, fit="none", facing="down", faces=faces)


def board_kind(puzzle: PuzzleSet, profile: Profile) -> str:
    """What a board of the set is: ``holes``, ``seats`` or ``tray``."""
    if puzzle.made_of_balls:
        return HOLES
    return SEATS if has_stubs(puzzle, profile) else TRAY


def accessories(puzzle: PuzzleSet, profile: Profile) -> tuple[Accessory, ...]:
    """The boards of a set that are made as objects, as the profile says, each followed by its lid."""
    if profile.boards_made == "none":
        return ()
    kind, found = board_kind(puzzle, profile), []
    for board in puzzle.boards:
        if board.optional and profile.boards_made != "all":
            continue
        found.append(Accessory(board.id, kind, board, profile.board_colour))
        if profile.lid != "none":
            found.append(Accessory(board.id + LID_ENDING, LID, board, profile.board_colour))
    return tuple(found)


def things(puzzle: PuzzleSet, profile: Profile, ids: Sequence[str] = ()) -> tuple[Thing, ...]:
    """What a set prints: its pieces, then its accessories; only those of some ids, if there are any.

    Raises:
        InputError: naming every id that is unknown.
    """
    every: tuple[Thing, ...] = (*puzzle.pieces, *accessories(puzzle, profile))
    known = [one.id for one in every]
    unknown = [shown(one) for one in dict.fromkeys(ids) if one not in known]
    if unknown:
        message = f"has no piece {' and no '.join(unknown)}; there are {', '.join(known)}"
        raise InputError.of(puzzle.name, message + _how_made(puzzle, profile, ids))
    return tuple(one for one in every if one.id in ids or not ids)


def _how_made(puzzle: PuzzleSet, profile: Profile, ids: Sequence[str]) -> str:
    """What of the profile leaves out a board or lid that the set could have."""
    boards = [one.id for one in puzzle.boards]
    made = [one.id for one in accessories(puzzle, profile)]
    if any(one in boards and one not in made for one in ids):
        return '; board.make "all" makes every board of the set'
    lids = [one + LID_ENDING for one in boards]
    if any(one in lids and one not in made for one in ids):
        return '; a board has a lid unless lid.kind is "none", or board.make leaves it out'
    return ""
