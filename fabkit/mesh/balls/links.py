"""What is between neighbouring balls: a link and how thick it is, or a gap and how wide it is."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
import shapely
from shapely import Point
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.body import Body, Points
from fabkit.mesh.section import Sections, parts
from fabkit.mesh.topology import Shell, encloses

#: Links are cut at so many places …
_CUTS = 9
#: … between the places this part of the radius away from both balls' middles. There a ball is
#: still wider than a link.
_FROM_MIDDLE = 0.5


class Between:
    """Measures between neighbouring balls of one body, along any of its axes.

    Args:
        body: straight on the lattice of its balls.
        pitch: the distance of neighbours.
    """

    def __init__(self, body: Body, pitch: float) -> None:
        self._body = body
        self._pitch = pitch
        self._along: dict[int, Sections] = {}

    def is_linked(self, one: Points, other: Points) -> bool:
        """Whether the middle between two balls' middles is inside the body, gaps in it or not."""
        count = len(self._body.faces)
        speck = len(self._body.vertices)
        with_speck = Body(
            self._body.name,
            np.vstack([self._body.vertices, (one + other) / 2]),
            np.vstack([self._body.faces, [[speck, speck, speck]]]),
        )
        return encloses(with_speck, self._shell, Shell(np.array([count]), 0.0))

    @cached_property
    def _shell(self) -> Shell:
        return Shell(np.arange(len(self._body.faces)), 0.0)

    def link_diameter(self, one: Points, other: Points, radius: float) -> float:
        """The least width of a link: the smallest distance of two parallel lines that hold it.

        A link that lies on the bed is cut by the flat there, and is less high than wide.

        Args:
            one: a ball's middle.
            other: its neighbour's.
            radius: of both balls, about.

        Returns:
            The least over cuts all along the link; not a number when none of them closes.
        """
        axis = int(np.abs(other - one).argmax())
        low, high = sorted((float(one[axis]), float(other[axis])))
        place = Point(np.delete((one + other) / 2, axis))
        widths = []
        for height in np.linspace(low + _FROM_MIDDLE * radius, high - _FROM_MIDDLE * radius, _CUTS):
            around = [
                part
                for part in parts(self._sections(axis).at(float(height)))
                if part.contains(place)
            ]
            widths += [least_width(part) for part in around[:1]]
        return min(widths, default=math.nan)

    def gap(self, one: Points, other: Points) -> float:
        """How far two balls are apart that no link joins.

        Looked at is all between their middles that is nearer to them than to other places.

        Args:
            one: a ball's middle.
            other: its neighbour's.

        Returns:
            The width of what is empty around the middle between them, across their line; 0 when
            something is there.
        """
        axis = int(np.abs(other - one).argmax())
        middle = (one + other) / 2
        across = np.delete(middle, axis)
        half = self._pitch / 2
        square = shapely.box(*(across - half), *(across + half))
        if self._sections(axis).at(float(middle[axis])).intersects(square):
            return 0.0
        off = self._body.vertices - middle
        beside = (np.abs(np.delete(off, axis, axis=1)) < half).all(axis=1)
        heights = off[beside & (np.abs(off[:, axis]) < half), axis]
        return float(
            heights[heights > 0].min(initial=half) - heights[heights <= 0].max(initial=-half)
        )

    def _sections(self, axis: int) -> Sections:
        """Cuts across an axis, which show the other two in their order."""
        if axis not in self._along:
            order = [i for i in range(3) if i != axis] + [axis]
            self._along[axis] = Sections(self._body.vertices[:, order], self._body.faces)
        return self._along[axis]


def least_width(area: BaseGeometry) -> float:
    """The smallest distance of two parallel lines that hold an area.

    Example:
        >>> least_width(shapely.box(0, 0, 4, 3))
        3.0
    """
    ring = np.asarray(area.convex_hull.exterior.coords)[:, :2]
    sides = np.diff(ring, axis=0)
    lengths = np.linalg.norm(sides, axis=1)
    normals = np.column_stack([-sides[:, 1], sides[:, 0]])[lengths > 0] / lengths[lengths > 0, None]
    return float(np.ptp(ring @ normals.T, axis=0).min())
