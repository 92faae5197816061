"""Building the solid of any drawing, and of the inlay that fills its engraving."""

from __future__ import annotations

import cadquery as cq

from fabkit.drawing.ball import BallDrawing
from fabkit.drawing.boards.csg import BoardDrawing
from fabkit.drawing.draft import FlatDrawing
from fabkit.drawing.part import PartDrawing
from fabkit.solid.boards import build_board
from fabkit.solid.pieces import (
    build_ball_piece,
    cell_mark_cutters,
    chamfered_prism,
    letter_cutters,
    mark_cutter,
    peg_post,
    recess_cutter,
    release_cutters,
)


def build_solid(drawing: PartDrawing) -> cq.Solid:
    """Build the finished solid in the frame of its drawing, lowest at z = 0.

    A closed cavity is an inner shell of it.

    Raises:
        RuntimeError: when the kernel returns something that is not one valid solid.
    """
    if isinstance(drawing, BallDrawing):
        body = build_ball_piece(drawing)
    elif isinstance(drawing, BoardDrawing):
        body = build_board(drawing)
    else:
        assert isinstance(drawing, FlatDrawing)
        body = _flat_piece(drawing)
    solids = body.Solids()
    if len(solids) != 1 or not solids[0].isValid():
        raise RuntimeError(f"the kernel built no valid solid for {drawing.piece}")
    return solids[0]


def _flat_piece(drawing: FlatDrawing) -> cq.Shape:
    body: cq.Shape = chamfered_prism(drawing)
    if drawing.pegs:
        body = body.fuse(*map(peg_post, drawing.pegs))
    # Recesses that differ in place only share a cutter.
    pockets = [(recess, recess_cutter(recess.at_origin())) for recess in drawing.recesses]
    releases = [(recess, recess.release) for recess in drawing.recesses if recess.release]
    holes = [(recess, cutter) for recess, hole in releases for cutter in release_cutters(hole)]
    cutters = [
        cutter.moved(cq.Location(cq.Vector(*recess.centre_mm, 0)))
        for recess, cutter in (*pockets, *holes)
    ]
    cutters += [mark_cutter(recess.mark) for recess in drawing.recesses if recess.mark]
    cutters += [cutter for mark in drawing.marks for cutter in cell_mark_cutters(mark)]
    cutters += letter_cutters(drawing)
    return body.cut(*cutters) if cutters else body


def inlay(drawing: PartDrawing) -> cq.Compound:
    """Return the material cut out of a piece for its letter, or of a board for its title."""
    return cq.Compound.makeCompound(letter_cutters(drawing))
