"""Rules on lids: whether one lies on its board, gets there, stays there, and bears the bending."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from fabkit.drawing.boards.lids import MAX_STRAIN
from fabkit.mesh.boards.closing import TINY_MM3, Closing, tongues_of
from fabkit.mesh.boards.part import BoardPart
from fabkit.mesh.finding import Finding, at_least, at_most, counted
from fabkit.model.accessory import HOLES, LID
from fabkit.model.profile import Profile

#: A lid that is held cannot be lifted by this, in mm, …
_LIFT_MM = 2.0
#: … or it overlaps with its board by so many mm3.
_HELD_MM3 = 1.0
#: A hook bends by no more than the profile's catch and this, in mm.
_TOLERANCE_MM = 0.02


def partners(part: BoardPart, parts: Sequence[BoardPart]) -> list[BoardPart]:
    """The lids of a board, or the boards of a lid, among some parts.

    Args:
        part: the board or lid.
        parts: of the same files, itself among them.
    """
    return [
        other
        for other in parts
        if other is not part
        and other.board is not None
        and part.board is not None
        and other.board.id == part.board.id
        and (other.kind == LID) != (part.kind == LID)
    ]


def partner_findings(
    part: BoardPart, parts: Sequence[BoardPart], profile: Profile
) -> Iterator[Finding]:
    """Whether a board has its lid, and a lid its board.

    Args:
        part: one that could be read.
        parts: of the same files.
        profile: whether there are lids.
    """
    assert part.board is not None
    count = len(partners(part, parts))
    if part.kind == LID:
        yield counted("lid-board", count, 1, f"boards {part.board.id} for this lid")
    elif profile.lid != "none":
        yield counted("board-lid", count, 1, f"lids for the board {part.board.id}")


def lid_findings(
    lid: BoardPart, board: BoardPart, lid_low_mm: float, profile: Profile
) -> Iterator[Finding]:
    """All findings on a lid with its board.

    Args:
        lid: the lid.
        board: its board.
        lid_low_mm: how high the lid's underside should lie above the table.
        profile: what is asked for.
    """
    if not (lid.is_solid and board.is_solid):
        message = "board and lid cannot be put together: one of them is not closed"
        yield Finding("lid-fits", False, None, TINY_MM3, "mm3", message)
        return
    closing = Closing(board, lid, lid_low_mm)
    if math.isnan(closing.seat_mm):
        message = "the board has no level face above its pieces on which a lid could lie"
        yield Finding("lid-fits", False, None, TINY_MM3, "mm3", message)
        return
    yield _height(closing, profile)
    overlap = closing.overlap_mm3(closing.seated)
    what = "the overlap of lid and board"
    yield at_most("lid-fits", overlap, TINY_MM3, "mm3", what)
    yield from _snapping(closing, profile) if closing.snaps else _sliding(closing)
    what = f"the overlap with the board when the lid is lifted by up to {_LIFT_MM:g} mm"
    yield at_least("lid-held", closing.lifted_mm3(_LIFT_MM), _HELD_MM3, "mm3", what)


def _height(closing: Closing, profile: Profile) -> Finding:
    """There is room for the pieces, and some air, below the lid."""
    board = closing.board
    pieces = profile.ball_mm / 2 if board.kind == HOLES else profile.thickness_mm
    air = closing.seat_mm - board.rest_mm - pieces
    what = "the air between pieces and lid"
    return at_least("board-height", air, profile.lid_air_mm, "mm", what)


def _sliding(closing: Closing) -> Iterator[Finding]:
    """A sliding lid meets nothing on its way."""
    out, most = max(closing.sliding(), key=lambda one: one[1])
    what = f"the overlap of lid and board on its way, {out:g} mm before its end,"
    yield at_most("lid-path", most, TINY_MM3, "mm3", what)


def _snapping(closing: Closing, profile: Profile) -> Iterator[Finding]:
    """Of a snapping lid only hooks meet the board, and they bend no farther than they may."""
    steps = list(closing.pressing())
    plate = max(overlap for _, overlap, _ in steps)
    bent = max(bend for _, _, bend in steps)
    limit = profile.snap_mm + _TOLERANCE_MM
    what = "how far a hook bends on the lid's way down"
    if plate > TINY_MM3:
        message = f"on the lid's way down its plate overlaps the board by {plate:.3f} mm3"
        yield Finding("lid-path", False, plate, TINY_MM3, "mm3", message)
    else:
        yield at_most("lid-path", bent, limit, "mm", what)
    yield _strain(closing.lid, bent)


def _strain(lid: BoardPart, bent_mm: float) -> Finding:
    """1.5 t y / l^2 of each tongue (Bayer, Snap-fit joints for plastics), as measured.

    Args:
        lid: with tongues.
        bent_mm: y, how far their ends give way.
    """
    strains = [
        1.5 * one.thickness_mm * bent_mm / max(one.length_mm, 1e-9) ** 2 for one in tongues_of(lid)
    ]
    what = "the part by which a tongue's plastic is stretched"
    return at_most("lid-strain", max(strains, default=0.0), MAX_STRAIN, "", what)
