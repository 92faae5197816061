"""A board, tray or lid: a body in millimetres, lying where its region is."""

from __future__ import annotations

from dataclasses import dataclass

from fabkit.mesh.straight import StraightBody
from fabkit.model.puzzle import Board


@dataclass(frozen=True, eq=False)
class BoardPart(StraightBody):
    """A body as a board or lid.

    Attributes:
        body: as the file has it.
        vertices: its corners in mm, shape (n, 3), lowest at height 0. Of a board x and y are those
            of the lattice's frame times the unit, so that its region lies where the set draws it;
            a lid lies with the middle of its box over the middle of the region, plate down.
        kind: ``tray``, ``holes``, ``seats`` or ``lid``; empty when it could not be read.
        board: the board that it is, or that a lid belongs to; None when it could not be read.
        unit_mm: the grid unit as measured; the profile's for a tray or lid, which do not show it.
        rest_mm: on what height pieces rest: a tray's floor, the plate around seats, or the
            middles of seated balls (the top of the posts); 0 for a lid.
        why: why it could not be read; empty when it could.
    """

    kind: str
    board: Board | None
    unit_mm: float
    rest_mm: float
    why: str = ""
