"""What every drawing in millimetres says, be it of a flat piece, a ball piece or a board; many at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from shapely import Polygon

from fabkit.core.errors import Fault, InputError
from fabkit.drawing.label import Label
from fabkit.drawing.magnets import Recess
from fabkit.drawing.outline import BlueprintError
from fabkit.model.accessory import Thing
from fabkit.model.piece import Piece
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet


class Drawn(Protocol):
    """One thing to print, in mm, as it lies in its files: the lowest point at height 0.

    Attributes:
        piece: its id.
        colour: ``#rrggbb``.
        outline: all of it seen from above.
        face: its flat top seen from above.
        foot: its flat bottom seen from above.
        thickness_mm: its height.
        recesses: pockets for magnets.
        label: the letter or title, if any.
        label_low_mm: height of the lower end of its engraving (that of the face, with two of them).
        facing: which way its top looks on the bed, ``up`` or ``down``.
        pause_height_mm: where the print pauses for magnets; None for no pause.
    """

    @property
    def piece(self) -> str: ...  # noqa: D102
    @property
    def colour(self) -> str: ...  # noqa: D102
    @property
    def outline(self) -> Polygon: ...  # noqa: D102
    @property
    def face(self) -> Polygon: ...  # noqa: D102
    @property
    def foot(self) -> Polygon: ...  # noqa: D102
    @property
    def thickness_mm(self) -> float: ...  # noqa: D102
    @property
    def recesses(self) -> tuple[Recess, ...]: ...  # noqa: D102
    @property
    def label(self) -> Label | None: ...  # noqa: D102
    @property
    def label_low_mm(self) -> float: ...  # noqa: D102
    @property
    def facing(self) -> str: ...  # noqa: D102
    @property
    def pause_height_mm(self) -> float | None: ...  # noqa: D102


_Made = TypeVar("_Made")
_One = TypeVar("_One", bound=Thing)


def every(
    puzzle: PuzzleSet,
    things: Sequence[_One],
    profile: Profile,
    make: Callable[[PuzzleSet, _One, Profile], _Made],
    purpose: str = "",
) -> list[_Made]:
    """Makes something of each of some pieces, boards or lids.

    Args:
        puzzle: gives the lattice.
        things: some of the set's.
        profile: gives every length.
        make: what to make of one.
        purpose: what only flat pieces can be, for the message; empty if anything can.

    Returns:
        What was made, in their order.

    Raises:
        InputError: when a piece is made of balls and only flat ones will do; or with everything
            of which nothing can be made. Things with the same fault share a line.
    """
    if purpose and any(isinstance(one, Piece) and one.body for one in things):
        raise InputError.of(
            puzzle.name, f"its pieces are made of balls; only flat pieces can be {purpose}"
        )
    made = []
    faults: dict[str, list[_One]] = defaultdict(list)
    for one in things:
        try:
            made.append(make(puzzle, one, profile))
        except BlueprintError as fault:
            faults[str(fault)].append(one)
    if faults:
        raise InputError(
            f"{puzzle.name} with profile {profile.name}",
            [
                Fault(f"{_kind(faulty)} {', '.join(one.id for one in faulty)}", message)
                for message, faulty in faults.items()
            ],
        )
    return made


def _kind(some: Sequence[Thing]) -> str:
    """What things are called."""
    if all(isinstance(one, Piece) for one in some):
        return "piece" if len(some) == 1 else "pieces"
    return "board" if len(some) == 1 else "boards"
