"""Sheets for laser cutters and cutting plotters: the pieces of a set laid on as few as can be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fabkit.core.errors import InputError
from fabkit.core.units import format_mm
from fabkit.drawing.cut import CutPiece
from fabkit.model.profile import Profile
from fabkit.printing.nesting.bin import Bin
from fabkit.printing.nesting.nest import nest


@dataclass(frozen=True)
class CutSheet:
    """One sheet and what is cut from it.

    Attributes:
        placed: the pieces where they lie on it, in the order in which they were given.
    """

    number: int
    width_mm: float
    depth_mm: float
    placed: tuple[CutPiece, ...]


def cut_sheets(
    pieces: Sequence[CutPiece], profile: Profile, engine: str = "auto"
) -> list[CutSheet]:
    """Lays pieces on sheets. They may be turned, not turned over.

    What keeps ``laser.gap`` and ``laser.edge`` are the paths, half a kerf outside of the pieces:
    a cut reaches another half beyond its path, which is what a neighbour's path keeps for it
    even without a gap. No piece lies in the hole of another, with which it might fall out before
    it is cut.

    Raises:
        InputError: when a piece is larger than a sheet.
    """
    room = Bin(
        profile.sheet_width_mm,
        profile.sheet_depth_mm,
        profile.sheet_gap_mm,
        profile.sheet_edge_mm,
        advice="choose a larger laser.sheet_width or laser.sheet_depth, a smaller laser.edge or unit",
    )
    try:
        sheets = nest({piece.piece: piece.path for piece in pieces}, room, engine)
    except InputError as error:
        size = f"{format_mm(room.width_mm)} x {format_mm(room.depth_mm)}"
        raise InputError(f"profile {profile.name}, sheets of {size}", error.faults) from None
    found = []
    for number, spots in enumerate(sheets, start=1):
        at = {spot.name: (spot.degrees, spot.x_mm, spot.y_mm) for spot in spots}
        placed = tuple(piece.moved(*at[piece.piece]) for piece in pieces if piece.piece in at)
        found.append(CutSheet(number, room.width_mm, room.depth_mm, placed))
    return found
