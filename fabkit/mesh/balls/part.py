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
            at their places times the pitch. As in the file when it could not be read.
        shape: its balls, at whole places, and its links as bonds; turned to the least of its 24
            images, so that it does not depend on how the body lay. None when it could not be read.
        pitch_mm: the distance of neighbouring balls; 0 when it could not be read.
        diameters_mm: of the balls, in the order of ``shape.balls``.
        links_mm: the least width of each link, in the order of ``shape.bonds``; those that lie on
            the bed are cut by the flat, and so less high than wide. Not a number for a link of which
            no cut closes, in a mesh with gaps.
        off_mm: how far the worst ball's middle lies from its place.
        why: why it could not be read; empty when it could.
    """

    shape: BallBody | None
    pitch_mm: float
    diameters_mm: tuple[float, ...]
    links_mm: tuple[float, ...]
    off_mm: float
    why: str = ""
