"""Which piece of a set each part of balls is: by its balls and its links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from shapely import MultiPoint
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.balls.lying import Lying
from fabkit.mesh.balls.part import BallPart
from fabkit.mesh.balls.shapes import Difference, difference, least_image, mirror_image
from fabkit.mesh.finding import Finding
from fabkit.mesh.identity import Identity, named
from fabkit.model.balls import BallBody
from fabkit.model.puzzle import PuzzleSet


def identify_balls(parts: Sequence[BallPart], puzzle: PuzzleSet) -> list[Identity]:
    """Finds out which piece of the set each part is.

    Balls and links must both agree, in any of the 24 rotations. Of several parts alike the order
    of their volumes decides, so that names do not depend on the order of files.

    Args:
        parts: in any order.
        puzzle: a set of pieces that are made of balls.

    Returns:
        One identity for each part, with different keys. A part that only the mirror image of a
        piece agrees with is `mirrored`.
    """
    drawn = {piece.id: piece.body for piece in puzzle.pieces if piece.body}
    shapes = {name: least_image(body).shape for name, body in drawn.items()}
    mirrored = {name: least_image(mirror_image(body)).shape for name, body in drawn.items()}
    found = []
    for part in parts:
        alike, turned = (_alike(part.shape, some) for some in (shapes, mirrored))
        found.append(Identity("", None, None, alike or turned, bool(turned) and not alike))
    return named(found, [(round(part.volume_mm3, 2),) for part in parts], puzzle)


def _alike(shape: BallBody | None, shapes: Mapping[str, BallBody]) -> tuple[str, ...]:
    return tuple(name for name, other in shapes.items() if other == shape)


def shape_findings(
    part: BallPart, lying: Lying, identity: Identity, puzzle: PuzzleSet
) -> Iterator[Finding]:
    """Whether a part is a piece of the set; if only links are wrong, which ones.

    Args:
        part: the part.
        lying: how it lies, to show the place.
        identity: which piece it is.
        puzzle: the set.
    """
    alike, where = " and ".join(identity.alike), None
    if part.shape is None:
        message = f"its balls cannot be read: {part.why}"
    elif identity.as_drawn:
        message = f"it has the balls and the links of {alike}"
    elif identity.mirrored:
        message = f"it is the mirror image of {alike}"
    else:
        message = "it has the balls of no piece of the set"
        nearest = _nearest(part.shape, puzzle)
        if nearest:
            message = _words(*nearest)
            where = _places(nearest[1], lying)
    yield Finding("ball-shape", identity.as_drawn, None, None, "", message, where)


def _nearest(shape: BallBody, puzzle: PuzzleSet) -> tuple[str, Difference] | None:
    """The piece that has a shape's balls, and most nearly its links; mirror images come last."""
    found = []
    for piece in puzzle.pieces:
        bodies = (piece.body, mirror_image(piece.body)) if piece.body else ()
        for turned, body in enumerate(bodies):
            differs = difference(shape, body)
            if differs:
                name = f"the mirror image of {piece.id}" if turned else piece.id
                found.append((differs.count, turned, name, differs))
    return min(found, key=lambda one: one[:2])[2:] if found else None


def _words(name: str, differs: Difference) -> str:
    told = []
    for bonds, is_what in ((differs.missing, "missing"), (differs.extra, "too many")):
        for one, other in bonds:
            low, high = sorted((differs.drawn[one], differs.drawn[other]))
            told.append(f"the link {low}-{high} is {is_what}")
    return (
        f"it has the balls of {name}, but {' and '.join(told)} "
        "(balls are counted from 0, as in the set's file)"
    )


def _places(differs: Difference, lying: Lying) -> BaseGeometry:
    balls = sorted({ball for bond in differs.missing + differs.extra for ball in bond})
    return MultiPoint(lying.middles[balls][:, :2]).buffer(1.0)
