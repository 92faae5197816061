"""Sheets for laser cutters and cutting plotters: a set's pieces on as few sheets as possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fabkit.core.errors import InputError
from fabkit.core.units import format_mm
from fabkit.drawing.laser import CutPiece
from fabkit.printing.nesting.bin import Bin, with_copies, without_copy_number
from fabkit.printing.nesting.nest import nest
from fabkit.profiles.profile import Profile


@dataclass(frozen=True)
class CutSheet:
    """One sheet and the pieces that are cut from it, moved to their positions."""

    number: int
    width_mm: float
    depth_mm: float
    placed: tuple[CutPiece, ...]


def nest_cut_sheets(pieces: Sequence[CutPiece], profile: Profile) -> list[CutSheet]:
    """Nest pieces on sheets, rotated but not turned over.

    ``laser.gap`` and ``laser.edge`` are distances of the paths, half a kerf outside the pieces, so
    neighbouring cuts do not meet even without a gap. No piece is placed in the hole of another,
    which might fall out before the piece is cut.

    Raises:
        InputError: when a piece is larger than a sheet.
    """
    sheet_bin = Bin(
        profile.sheet_width_mm,
        profile.sheet_depth_mm,
        profile.sheet_gap_mm,
        profile.sheet_edge_mm,
        advice="choose a larger laser.sheet_width or laser.sheet_depth, a smaller laser.edge or "
        "unit",
    )
    paths = {piece.piece: piece.path for piece in pieces}
    copies = {piece.piece: piece.copies for piece in pieces}
    try:
        nested = nest(with_copies(paths, copies), sheet_bin)
    except InputError as error:
        size = f"{format_mm(sheet_bin.width_mm)} x {format_mm(sheet_bin.depth_mm)}"
        raise InputError(f"profile {profile.name}, sheets of {size}", error.errors) from None
    sheets = []
    for number, placements in enumerate(nested, start=1):
        placed = tuple(
            piece.moved(pose.degrees, pose.x_mm, pose.y_mm)
            for piece in pieces
            for pose in placements
            if without_copy_number(pose.name) == piece.piece
        )
        sheets.append(CutSheet(number, sheet_bin.width_mm, sheet_bin.depth_mm, placed))
    return sheets
