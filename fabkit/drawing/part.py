"""What every drawing in millimetres says, be it of a flat piece, a ball piece or a board; many at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from shapely import Polygon

from fabkit.core.errors import Fault, InputError
from fabkit.drawing.label import Label
from fabkit.drawing.magnets import Recess
from fabkit.drawing.outline import BlueprintError
from fabkit.model.accessory import Thing
from fabkit.model.layers import height_as_printed_mm
from fabkit.model.piece import Piece
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet


@dataclass(frozen=True, kw_only=True)
class PartDrawing:
    """One part to print, in mm, as it lies in its files: the lowest point at height 0.

    Attributes:
        colour: ``#rrggbb``.
        outline: all of it seen from above.
        foot: its flat bottom seen from above.
        face: its flat top seen from above.
        label: the letter or title, if any.
        facing: which way its top looks on the bed, ``up`` or ``down``.
    """

    piece: str
    colour: str
    outline: Polygon
    foot: Polygon
    thickness_mm: float
    face: Polygon = Polygon()  # noqa: RUF009 (it does not change)
    recesses: tuple[Recess, ...] = ()
    label: Label | None = None
    facing: str = "up"

    @property
    def label_low_mm(self) -> float:
        """Height of the lower end of the letter in the face; the face's without a letter."""
        return self.thickness_mm - (self.label.depth_mm if self.label else 0.0)

    @property
    def pause_height_mm(self) -> float | None:
        """How high above the bed the print is when it pauses for the magnet.

        All layers below are printed, the magnet goes in, and the next layer closes the cavity.
        None when the recess is open or absent.
        """
        closed = next((recess for recess in self.recesses if not recess.is_open), None)
        if closed is None:
            return None
        end_mm = closed.low_mm if self.facing == "down" else closed.high_mm
        return height_as_printed_mm(self.facing, end_mm, self.thickness_mm)


_Made = TypeVar("_Made")
_One = TypeVar("_One", bound=Thing)


def draft_each(
    puzzle: PuzzleSet,
    things: Sequence[_One],
    profile: Profile,
    make: Callable[[PuzzleSet, _One, Profile], _Made],
    purpose: str = "",
) -> list[_Made]:
    """Makes something of each of some pieces, boards or lids of a set.

    Raises:
        InputError: when a piece is made of balls and the purpose is one for flat ones alone; or with
            everything of which nothing can be made. Things with the same fault share a line.
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
        where = []
        for some in faults.values():
            kind = "piece" if all(isinstance(one, Piece) for one in some) else "board"
            ids = ", ".join(one.id for one in some)
            where.append(f"{kind}s {ids}" if len(some) > 1 else f"{kind} {ids}")
        source = f"{puzzle.name} with profile {profile.name}"
        raise InputError(source, list(map(Fault, where, faults)))
    return made
