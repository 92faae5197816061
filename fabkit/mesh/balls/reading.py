"""Taking bodies in as parts that are made of balls: balls, links and pitch from the mesh alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from fabkit.mesh.balls.links import Between
from fabkit.mesh.balls.part import BallPart
from fabkit.mesh.balls.places import Places, find_places
from fabkit.mesh.balls.shapes import least_image, neighbours
from fabkit.mesh.balls.spheres import Ball, find_balls
from fabkit.mesh.body import Body
from fabkit.mesh.part import LENGTHS_MM
from fabkit.model.balls import BallBody

#: A pitch this near to one that is asked for is meant to be that.
_NEAR = 0.05
#: Balls of more than this are no piece of a puzzle; each pair of neighbours takes time.
_MOST_BALLS = 64


@dataclass(frozen=True, eq=False)
class _Seen:
    """What was seen of one body, in its own length."""

    body: Body
    balls: list[Ball]
    places: Places | str


def take_in_balls(bodies: Sequence[Body], *pitches_mm: float) -> tuple[list[BallPart], float]:
    """Reads pieces of balls back from their meshes, whatever way they lie.

    Args:
        bodies: the parts of a set, or some of them.
        pitches_mm: what the distance of neighbouring balls may be, at least one. They decide
            only in which unit of length the files are.

    Returns:
        A part for each body, and the files' unit of length in mm.
    """
    seen = [_seen(body) for body in bodies]
    pitches = [one.places.pitch for one in seen if isinstance(one.places, Places)]
    length_mm = _length_mm(median(pitches), pitches_mm) if pitches else 1.0
    return [_part(one, length_mm) for one in seen], length_mm


def _seen(body: Body) -> _Seen:
    balls = find_balls(body)
    if len(balls) > _MOST_BALLS:
        return _Seen(body, balls, f"there are more than {_MOST_BALLS} balls in it")
    middles = np.array([ball.middle for ball in balls]).reshape(-1, 3)
    return _Seen(body, balls, find_places(middles))


def _length_mm(pitch: float, pitches_mm: Sequence[float]) -> float:
    """The unit of length with which a pitch is nearly what it should be; mm if none is."""
    for length_mm in LENGTHS_MM.values():
        if any(math.isclose(pitch * length_mm, asked, rel_tol=_NEAR) for asked in pitches_mm):
            return length_mm
    return 1.0


def _part(seen: _Seen, length_mm: float) -> BallPart:
    body, places = seen.body, seen.places
    if isinstance(places, str):
        return BallPart(body, body.vertices * length_mm, None, 0.0, (), (), 0.0, places)
    straight = Body(body.name, places.straightened(body.vertices), body.faces)
    between = Between(straight, places.pitch)
    balls = tuple((x, y, z) for x, y, z in places.whole.tolist())
    at = places.whole * places.pitch
    bonds = [pair for pair in neighbours(balls) if between.is_linked(at[pair[0]], at[pair[1]])]
    links = [
        between.link_diameter(at[i], at[j], (seen.balls[i].diameter + seen.balls[j].diameter) / 4)
        for i, j in bonds
    ]
    image = least_image(BallBody(balls, tuple(bonds)))
    vertices = straight.vertices @ np.array(image.rotation, float).T
    vertices += np.array(image.moved) * places.pitch
    return BallPart(
        body,
        vertices * length_mm,
        image.shape,
        places.pitch * length_mm,
        tuple(seen.balls[i].diameter * length_mm for i in image.order),
        tuple(links[i] * length_mm for i in image.bond_order),
        places.off * length_mm,
    )
