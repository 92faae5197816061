"""Drafting whatever a set prints: flat pieces, ball pieces, boards, trays and lids."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fabkit.drawing.ball import draft_ball
from fabkit.drawing.boards.drawing import BoardBlueprint
from fabkit.drawing.boards.holes import draft_holes_board
from fabkit.drawing.boards.lid import draft_lid
from fabkit.drawing.boards.seats import draft_seats_board
from fabkit.drawing.boards.tray import draft_tray
from fabkit.drawing.draft import draft
from fabkit.drawing.drawn import Drawn
from fabkit.drawing.every import every
from fabkit.model.accessory import HOLES, LID, SEATS, TRAY, Accessory, Thing
from fabkit.model.piece import Piece
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet

_ACCESSORIES: dict[str, Callable[[PuzzleSet, Accessory, Profile], BoardBlueprint]] = {
    TRAY: draft_tray,
    HOLES: draft_holes_board,
    SEATS: draft_seats_board,
    LID: draft_lid,
}


def draft_thing(puzzle: PuzzleSet, thing: Thing, profile: Profile) -> Drawn:
    """Drafts a piece or an accessory.

    Args:
        puzzle: the set.
        thing: one of its pieces or accessories.
        profile: gives every length.

    Raises:
        BlueprintError: when the profile does not suit it.

    Example:
        >>> from fabkit.model.accessory import things
        >>> from fabkit.model.library import load_set
        >>> from fabkit.model.profilefile import load_profile
        >>> block, profile = load_set("iqblock"), load_profile()
        >>> [draft_thing(block, one, profile).piece for one in things(block, profile)[7:]]
        ['7', 'square', 'square-lid']
    """
    if isinstance(thing, Piece):
        return draft_ball(puzzle, thing, profile) if thing.body else draft(puzzle, thing, profile)
    return _ACCESSORIES[thing.kind](puzzle, thing, profile)


def draft_things(puzzle: PuzzleSet, things: Sequence[Thing], profile: Profile) -> list[Drawn]:
    """Drafts several pieces and accessories.

    Args:
        puzzle: the set.
        things: some of its pieces and accessories.
        profile: gives every length.

    Returns:
        One drawing for each, in their order.

    Raises:
        InputError: with everything that the profile does not suit. Things with the same fault
            share a line.
    """
    return every(puzzle, things, profile, draft_thing)
