"""Where the labels of pieces go, and what they look like."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache

import shapely
from shapely import MultiLineString, affinity
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.glyphs import lettering
from fabkit.drawing.outline import BlueprintError, PointMm
from fabkit.output.canvas import Canvas
from fabkit.output.theme import CAPITAL

#: A label takes this much more room than it fills, where there is a choice.
_ROOMY = 1.4
#: Of the room there is a label fills at most this part.
_MOST_OF_ROOM = 0.8
_MOST_PLACES = 2000
#: About the width of a character that has no outline, when capitals are 1 mm high.
_CHARACTER_MM = 0.9


@lru_cache(maxsize=512)
def label_shape(label: str) -> BaseGeometry | None:
    """A label with capitals 1 mm high, its middle at the origin; None if it cannot be engraved.

    Example:
        >>> round(label_shape("H").bounds[3], 6), label_shape("☃")
        (0.5, None)
    """
    try:
        return lettering(label).polygon()
    except BlueprintError:
        return None


def label_place(
    label: str,
    places: Sequence[PointMm],
    rooms_mm: Sequence[float],
    balance: PointMm,
    most_mm: float,
) -> tuple[PointMm, float]:
    """Where a label stands in its piece, and how high its capitals are.

    Of all places that are as far from the edge as it likes to be it is the one nearest to the
    balance, and the farthest from the edge if none is.

    Args:
        places: where its middle may be.
        rooms_mm: how far each of them is from the edge.
        balance: the middle of the piece.
        most_mm: how high capitals may be.

    Example:
        >>> label_place("I", [(0, 0), (4, 0)], [1, 9], (0, 0), 5.0)
        ((4, 0), 5.0)
    """
    shape = label_shape(label)
    right, top = shape.bounds[2:] if shape is not None else (_CHARACTER_MM / 2 * len(label), 0.5)
    reach = math.hypot(right, top)  # half of the diagonal, at a height of 1 mm
    wanted_mm = most_mm * reach * _ROOMY
    place, room_mm = min(
        zip(places, rooms_mm, strict=True),
        key=lambda one: (
            -round(min(one[1], wanted_mm), 6),
            round(math.dist(one[0], balance), 6),
            one,
        ),
    )
    return place, min(most_mm, _MOST_OF_ROOM * room_mm / reach)


def ends_and_middles(edges: Iterable[Sequence[PointMm]]) -> list[PointMm]:
    """The ends of the edges of whole rings and what is halfway: where labels may stand, too.

    Example:
        >>> ends_and_middles([[(0, 0), (4, 0)], [(4, 0), (0, 0)]])
        [(0, 0), (2.0, 0.0), (4, 0)]
    """
    lines = [(start, end) for start, end in edges]
    middles = {((ax + bx) / 2, (ay + by) / 2) for (ax, ay), (bx, by) in lines}
    return sorted({start for start, _ in lines} | middles)


def rooms(
    places: Sequence[PointMm], rings: Sequence[Sequence[PointMm]]
) -> tuple[list[PointMm], list[float]]:
    """How far places inside an outline are from it; of very many places only some.

    Example:
        >>> rooms([(1, 1)], [[(0, 0), (4, 0), (4, 4), (0, 4)]])
        ([(1, 1)], [1.0])
    """
    some = list(places[:: 1 + len(places) // _MOST_PLACES])
    edge = MultiLineString([[*ring, ring[0]] for ring in rings])
    return some, shapely.distance(shapely.points(some), edge).tolist()


def label_at(label: str, place: PointMm, height_mm: float) -> BaseGeometry | None:
    """A label's area where it stands; None when it has no outline."""
    shape = label_shape(label)
    if shape is None:
        return None
    return affinity.affine_transform(shape, [height_mm, 0, 0, height_mm, *place])


def write_label(canvas: Canvas, label: str, place: PointMm, height_mm: float, **style: str) -> None:
    """A label as text, its middle at a place."""
    base, size_mm = place[1] - height_mm / 2, height_mm / CAPITAL
    canvas.text(place[0], base, label, size_mm, **style, text_anchor="middle")
