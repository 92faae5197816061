"""A part that is made of balls: a body in millimetres, straight on the lattice of its balls."""

from __future__ import annotations

from dataclasses import dataclass

from fabkit.mesh.straight import StraightBody
from fabkit.model.balls import BallBody


@dataclass(frozen=True, eq=False)
class BallPart(StraightBody):
    """A body as a part that is made of balls.

    Attributes:
        body: as the file has it.
        vertices: its corners in mm, shape (n, 3), turned and moved so that the balls of `shape` lie
            at their places times the pitch. As in the file when it is no piece of the set.
        shape: its balls, placed as the set's file (or the mirror) has them, and as bonds the links
            that are there: those of the file in its order, then others. None when it is no piece.
        pitch_mm: the distance of neighbouring balls; 0 when it is no piece.
        diameters_mm: of the balls, in the order of ``shape.balls``.
        links_mm: the least width of each link, in the order of ``shape.bonds``; those that lie on
            the bed are cut by the flat, and so less high than wide.
        off_mm: how far the worst ball's middle lies from its place.
        why: why it is no piece of the set; empty when it is one.
        alike: the pieces that explain it best: if it is a piece of the set, those with its balls.
        mirrored: whether their mirror image does.
        as_linked: whether its links are theirs, too.
        score: how well they agree with its surface, from 0 to 1.
        runner_up: the same of the next best piece or mirror image.
    """

    shape: BallBody | None
    pitch_mm: float
    diameters_mm: tuple[float, ...]
    links_mm: tuple[float, ...]
    off_mm: float
    why: str = ""
    alike: tuple[str, ...] = ()
    mirrored: bool = False
    as_linked: bool = True
    score: float = 0.0
    runner_up: float = 0.0
