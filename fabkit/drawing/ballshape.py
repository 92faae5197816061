"""The shape of a ball piece as it is printed: balls, links and the bed's plane that cuts them.

The balls and links on the bed are cut by its plane. There a ball leans by some angle from the
vertical. The underside of each link that lies goes down to the bed in two planes that lean by the
same angle and touch the link's circle, so that nothing leans more than the balls do at the bed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from shapely import LineString, Point, Polygon, union_all

#: A point in mm: to the right, to the back, up.
Place = tuple[float, float, float]

#: A quarter of a circle is drawn with so many chords: they are 0.0005 mm off on a 12 mm ball.
_ARC_SEGMENTS = 32
#: What such a polygon's area is short of its circle's, as a factor on the radius.
_FULL_AREA = math.sqrt(math.pi / (2 * _ARC_SEGMENTS * math.sin(math.pi / (2 * _ARC_SEGMENTS))))
#: Sections between two heights at which the shape changes its kind, for a volume (Gauss-Legendre).
_NODES, _WEIGHTS = (values.tolist() for values in np.polynomial.legendre.leggauss(6))
#: A surface is how fast the volume grows with the shape; it is made larger and smaller by this.
_GROWTH_MM = 0.05


@dataclass(frozen=True, kw_only=True)
class BallShape:
    """Balls and links in mm, the bed at height 0.

    Attributes:
        balls_mm: the balls' centres; each lies `flat_mm` above the bed or stands right above one
            that does.
        bonds: pairs of indices into `balls_mm`, joined by a link.
        ball_mm: diameter of the balls.
        link_mm: diameter of the links.
        flat_mm: from the middles of the balls on the bed down to it.
        lean_degrees: how far the balls lean at the bed, from the vertical, and the links below.
    """

    balls_mm: tuple[Place, ...]
    bonds: tuple[tuple[int, int], ...]
    ball_mm: float
    link_mm: float
    flat_mm: float
    lean_degrees: float

    @property
    def top_mm(self) -> float:
        """The height of the highest point."""
        return max(z for _, _, z in self.balls_mm) + self.ball_mm / 2

    @property
    def ridge_mm(self) -> float:
        """How far below the middle of a link the two planes of its underside would meet."""
        return self.link_mm / 2 / math.sin(math.radians(self.lean_degrees))

    def bonds_mm(self) -> Iterator[tuple[Place, Place]]:
        """The ends of each link, the lower one first."""
        for bond in self.bonds:
            low, high = sorted((self.balls_mm[i] for i in bond), key=lambda place: place[2])
            yield low, high

    def half_link_mm(self, above_mm: float) -> float:
        """Half the width of a link that lies.

        Args:
            above_mm: at which height above its middle; below it if less than 0.

        Returns:
            In mm; 0 above and below the link.
        """
        lean, radius = math.radians(self.lean_degrees), self.link_mm / 2
        if above_mm > -radius * math.sin(lean):
            return math.sqrt(max(0.0, radius**2 - above_mm**2))
        return max(0.0, (self.ridge_mm + above_mm) * math.tan(lean))

    def section(self, height_mm: float) -> Polygon:
        """What is cut at a height above the bed, seen from above.

        Args:
            height_mm: from 0 to `top_mm`.

        Returns:
            One polygon, or several where prongs stand apart. Circles are inscribed polygons.
        """
        return self._section(height_mm, 1.0)

    def silhouette(self) -> Polygon:
        """All of it, seen from above."""
        discs = [_disc(x, y, self.ball_mm / 2) for x, y, _ in self.balls_mm]
        return union_all([*discs, *self._bars(self.link_mm / 2)])

    def volume_mm3(self) -> float:
        """The volume, right to 0.03 %: sections are integrated over the height."""
        ball, link, first = self.ball_mm / 2, self.link_mm / 2, self.flat_mm
        turning = first - link * math.sin(math.radians(self.lean_degrees))
        heights = {0.0, turning, first + link}
        for middle in {z for _, _, z in self.balls_mm}:
            # Where an upright link leaves a ball, and where a ball begins and ends.
            waist = math.sqrt(ball**2 - link**2)
            heights |= {middle + way for way in (-ball, -waist, 0.0, waist, ball)}
        cuts = sorted(height for height in heights if height >= 0)
        return math.fsum(
            (high - low)
            / 2
            * weight
            * self._section((low + high + node * (high - low)) / 2, _FULL_AREA).area
            for low, high in pairwise(cuts)
            for node, weight in zip(_NODES, _WEIGHTS, strict=True)
        )

    def area_mm2(self) -> float:
        """The area of the whole surface: how fast the volume grows when all is made larger."""
        larger, smaller = self._grown(_GROWTH_MM), self._grown(-_GROWTH_MM)
        return (larger.volume_mm3() - smaller.volume_mm3()) / (2 * _GROWTH_MM)

    def _grown(self, by_mm: float) -> BallShape:
        return BallShape(
            balls_mm=tuple((x, y, z + by_mm) for x, y, z in self.balls_mm),
            bonds=self.bonds,
            ball_mm=self.ball_mm + 2 * by_mm,
            link_mm=self.link_mm + 2 * by_mm,
            flat_mm=self.flat_mm + by_mm,
            lean_degrees=self.lean_degrees,
        )

    def _section(self, height_mm: float, widened: float) -> Polygon:
        """The section, with the radii of all circles multiplied by a factor."""
        areas = self._bars(self.half_link_mm(height_mm - self.flat_mm))
        for x, y, z in self.balls_mm:
            squared = (self.ball_mm / 2) ** 2 - (height_mm - z) ** 2
            if squared > 0:
                areas.append(_disc(x, y, widened * math.sqrt(squared)))
        for (x, y, low), (_, _, high) in self.bonds_mm():
            if low < height_mm < high:
                areas.append(_disc(x, y, widened * self.link_mm / 2))
        return union_all(areas)

    def _bars(self, half_mm: float) -> list[Polygon]:
        """The links that lie, of some width, seen from above."""
        return [
            LineString([low[:2], high[:2]]).buffer(half_mm, cap_style="flat")
            for low, high in self.bonds_mm()
            if low[2] == high[2] and half_mm > 0
        ]


def _disc(x: float, y: float, radius_mm: float) -> Polygon:
    return Point(x, y).buffer(radius_mm, _ARC_SEGMENTS)
