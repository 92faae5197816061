"""Outlines from a file as shapes in the plane, the cells inside them, and pieces' images."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely

from fabkit.certify.document import DrawnPiece, Ring, Rings
from fabkit.certify.tiling import TOLERANCE, Keys, RefusedError, Tiling, moved
from fabkit.core.errors import InputError

#: More cells than this is not a puzzle any more.
MAX_CELLS = 10_000
#: What all outlines of a certificate together may run, in frame steps, and enclose.
MAX_LENGTH = 1_000_000
MAX_AROUND = 2_000_000
MAX_CELLS_IN_ALL = 200_000


@dataclass(frozen=True)
class Shape:
    """An outline, drawn.

    Attributes:
        polygon: in grid units; several polygons when it falls apart.
        keys: the cells inside, sorted.
    """

    polygon: Any
    keys: Keys


class Draughtsman:
    """Draws a certificate's outlines, and stops where they become too much.

    Args:
        tiling: the lattice they lie on.
    """

    def __init__(self, tiling: Tiling) -> None:
        self.tiling = tiling
        self._length = 0
        self._around = 0
        self._cells = 0

    def draw(self, rings: Rings, key: str) -> Shape:
        """Draws one outline of frame points, by the even-odd rule; rings may touch in points.

        Returns:
            The shape; its area is that of its cells.

        Raises:
            InputError: when it does not run along edges of cells, runs along one twice,
                encloses nothing, or too much.
        """
        # What would take long is judged before it is done: the edges are measured before they
        # are walked, walked before they are drawn, and drawn before cells are looked for.
        self._measure(rings, key)
        _refuse_steps_twice(rings, key)
        polygon = self._polygon(rings)
        self._around += self.tiling.around(polygon)
        if self._around > MAX_AROUND:
            raise InputError.of("", "is too large, or far too thin, to be looked through", key)
        cells_in_area = polygon.area / self.tiling.cell_area
        self._cells += round(cells_in_area)
        if cells_in_area > MAX_CELLS + 0.5 or self._cells > MAX_CELLS_IN_ALL:
            most = MAX_CELLS if cells_in_area > MAX_CELLS + 0.5 else MAX_CELLS_IN_ALL
            whole = "" if most == MAX_CELLS else "with those before, "
            raise InputError.of("", f"{whole}encloses more than {most} cells", key)
        keys = self.tiling.inside(polygon)
        if not len(keys) or abs(len(keys) - cells_in_area) > TOLERANCE:
            found = f"an area of {cells_in_area:g} cells around {len(keys)} centroids"
            raise InputError.of("", f"does not lie on the lattice: {found}", key)
        # Of the same area as its cells, and around each of them: then it is what they cover.
        shapely.prepare(polygon)
        cells = self.tiling.polygons(keys, shrunk=TOLERANCE)
        if not shapely.contains(polygon, cells).all():
            raise InputError.of("", "does not lie on the lattice: it cuts cells", key)
        return Shape(polygon, keys)

    def _measure(self, rings: Rings, key: str) -> None:
        """Refuses edges in wrong directions, and more of them than one could walk."""
        for ring in rings:
            for start, end in _edges(ring):
                dx, dy = end[0] - start[0], end[1] - start[1]
                steps = math.gcd(dx, dy)
                if not steps:
                    raise InputError.of("", f"the corner {list(start)} stands twice in a row", key)
                way = (dx // steps, dy // steps)
                if way not in self.tiling.directions and (-way[0], -way[1]) not in (
                    self.tiling.directions
                ):
                    edge = f"from {list(start)} to {list(end)}"
                    raise InputError.of("", f"{edge} does not run along edges of cells", key)
                self._length += steps
        if self._length > MAX_LENGTH:
            raise InputError.of("", "is too long to be walked around", key)

    def _polygon(self, rings: Rings) -> Any:
        """The points that an odd number of rings goes around."""
        step = np.array(self.tiling.step)
        shapes = [shapely.make_valid(shapely.Polygon(np.array(ring) * step)) for ring in rings]
        while len(shapes) > 1:  # two by two, so that many rings are no slower than long ones
            shapes = [
                shapely.symmetric_difference(*shapes[i : i + 2]) if shapes[i + 1 :] else shapes[i]
                for i in range(0, len(shapes), 2)
            ]
        return shapes[0]


def _edges(ring: Ring) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    return zip(ring, (*ring[1:], ring[0]), strict=True)


def _refuse_steps_twice(rings: Rings, key: str) -> None:
    """An edge between two cells inside, or two outside, bounds nothing."""
    walked: set[int] = set()
    for ring in rings:
        for start, end in _edges(ring):
            # Numbers for the same step both ways: a set of a million numbers is small enough.
            (x, y), (to_x, to_y) = min(start, end), max(start, end)
            count = math.gcd(to_x - x, to_y - y)
            dx, dy = (to_x - x) // count, (to_y - y) // count
            first, pace = _number(x, y) + (dy if dx else 2), _number(dx, dy)
            steps = range(first, first + count * pace, pace)
            if not walked.isdisjoint(steps):
                edge = f"from {list(start)} to {list(end)}"
                raise InputError.of("", f"{edge} runs along an edge a second time", key)
            walked.update(steps)


def _number(x: int, y: int) -> int:
    """A number for each frame point, with room for four directions: up or down, level, upright."""
    return (x * (1 << 22) + y) * 4


#: A piece's distinct images, each as the keys of its cells with the translation divided out.
Images = dict[bytes, Keys]


def images_of(
    tiling: Tiling, piece: DrawnPiece, flips: bool, draughtsman: Draughtsman, key: str
) -> Images:
    """A piece's distinct images, drawn, turned, and perhaps turned over.

    Raises:
        InputError: when an outline is not drawn along the lattice.
    """
    images: Images = {}
    for index, rings in enumerate(piece.forms):
        form = draughtsman.draw(rings, f"{key}.forms[{index}]")
        for turn, flip in tiling.moves(flips):
            keys = _cells_of_image(tiling, form, turn, flip)
            images[keys.tobytes()] = keys
    return images


def _cells_of_image(tiling: Tiling, form: Shape, turn_degrees: int, flip: bool) -> Keys:
    """A form's image is turned as a polygon, and its cells are looked for again."""
    keys = tiling.inside(moved(form.polygon, turn_degrees, flip))
    if len(keys) != len(form.keys):
        raise RefusedError(f"a turn by {turn_degrees} degrees changes how many cells a form has")
    return tiling.to_origin(keys)
