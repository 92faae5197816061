"""Building the solid of any drawing, and of the inlay that fills its engraving."""

from __future__ import annotations

import cadquery as cq

from fabkit.drawing.ball import BallDrawing
from fabkit.drawing.boards.csg import BoardDrawing
from fabkit.drawing.draft import FlatDrawing
from fabkit.drawing.magnets import Recess
from fabkit.drawing.part import PartDrawing
from fabkit.solid.boards import build_board
from fabkit.solid.pieces import (
    build_ball_piece,
    chamfered_prism,
    letter_cutters,
    letter_prisms,
    mark_cutter,
    peg_post,
    recess_cutter,
    release_cutters,
)


class SolidBuilder:
    """Builds solids and caches the recess cutters that pieces share."""

    def __init__(self) -> None:
        self._cutters: dict[Recess, cq.Shape] = {}

    def build(self, drawing: PartDrawing) -> cq.Solid:
        """Build the finished solid in the frame of its drawing: lowest at z = 0, x and y as in the
        outline.

        A closed cavity is an inner shell of it.

        Raises:
            RuntimeError: when the kernel returns something that is not one valid solid.
        """
        if isinstance(drawing, BallDrawing):
            return build_ball_piece(drawing)
        if isinstance(drawing, BoardDrawing):
            return build_board(drawing)
        assert isinstance(drawing, FlatDrawing)
        return self._flat_piece(drawing)

    def _flat_piece(self, drawing: FlatDrawing) -> cq.Solid:
        body: cq.Shape = chamfered_prism(drawing)
        if drawing.pegs:
            body = body.fuse(*map(peg_post, drawing.pegs))
        cutters = [self._cutter(recess) for recess in drawing.recesses]
        cutters += [
            cutter.moved(cq.Location(cq.Vector(*recess.centre_mm, 0)))
            for recess in drawing.recesses
            if recess.release
            for cutter in release_cutters(recess.release)
        ]
        cutters += [mark_cutter(recess.mark) for recess in drawing.recesses if recess.mark]
        cutters += letter_cutters(drawing)
        if cutters:
            body = body.cut(*cutters)
        solids = body.Solids()
        if len(solids) != 1 or not solids[0].isValid():
            raise RuntimeError(f"the kernel built no valid solid for piece {drawing.piece}")
        return solids[0]

    def _cutter(self, recess: Recess) -> cq.Shape:
        """Return the recess's cutter; recesses that differ in place only share one."""
        shape = recess.at_origin()
        if shape not in self._cutters:
            self._cutters[shape] = recess_cutter(shape)
        return self._cutters[shape].moved(cq.Location(cq.Vector(*recess.centre_mm, 0)))


def inlay(drawing: PartDrawing) -> cq.Compound:
    """Return what was cut out of a piece for its letter, on one face or both, or of a board for its
    title."""
    assert drawing.label is not None
    if isinstance(drawing, FlatDrawing):
        return cq.Compound.makeCompound(letter_cutters(drawing))
    low_mm, label = drawing.label_low_mm, drawing.label
    return cq.Compound.makeCompound(letter_prisms(label.front, low_mm, low_mm + label.depth_mm))
