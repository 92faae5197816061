"""The cells inside the outlines of a file, and pieces' images."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import shapely

from fabkit.certify.document import DrawnPiece, FramePoint, Rings
from fabkit.certify.tiling import Keys, Tiling
from fabkit.core.errors import InputError

#: More cells than this is not a puzzle any more.
MAX_CELLS = 10_000
#: What is looked through for the cells inside one outline.
MAX_AROUND = 200_000

Step = tuple[FramePoint, FramePoint]


def cells_inside(tiling: Tiling, rings: Rings, key: str) -> Keys:
    """The cells that an odd number of rings of frame points goes around, sorted.

    Raises:
        InputError: when the rings are not the border of these cells, each step walked once, or
            enclose nothing, or too much.
    """
    drawn = [np.array(ring) * tiling.step for ring in rings]
    points = np.concatenate(drawn)
    (left, low), (right, high) = points.min(axis=0), points.max(axis=0)
    box = np.array([(left, low), (right, low), (left, high), (right, high)])
    keys = tiling.within(box, MAX_AROUND)
    if keys is None:
        raise InputError.of("", "is too large, or far too thin, to be looked through", key)
    centroids, odd = tiling.centroids(keys), np.zeros(len(keys), dtype=bool)
    for line in drawn:
        odd ^= shapely.contains_xy(shapely.Polygon(line), centroids)
    keys = keys[odd]
    if len(keys) > MAX_CELLS:
        raise InputError.of("", f"encloses more than {MAX_CELLS} cells", key)
    border = set[Step]()
    for cell in tiling.frame(tiling.corners(keys)).tolist():
        border.symmetric_difference_update(_steps(cell))
    for ring in rings:
        for step in _steps(ring):
            if step not in border:
                (x, y), (to_x, to_y) = step
                edge = f"from [{x}, {y}] to [{to_x}, {to_y}]"
                raise InputError.of("", f"{edge} is not on the border of the cells inside", key)
            border.remove(step)
    if border or not len(keys):
        raise InputError.of("", "does not lie on the lattice", key)
    return keys


def _steps(corners: Sequence[Iterable[int]]) -> Iterator[Step]:
    """A closed line in its shortest steps between frame points, the same both ways."""
    for (x, y), (to_x, to_y) in zip(corners, (*corners[1:], corners[0]), strict=True):
        count = math.gcd(to_x - x, to_y - y) or 1
        dx, dy = (to_x - x) // count, (to_y - y) // count
        for at in range(count):
            start = (x + at * dx, y + at * dy)
            end = (start[0] + dx, start[1] + dy)
            yield (start, end) if start < end else (end, start)


#: A piece's distinct images, each as the keys of its cells with the translation divided out.
Images = dict[bytes, Keys]


def images_of(tiling: Tiling, piece: DrawnPiece, flips: bool, key: str) -> Images:
    """A piece's distinct images, drawn, turned, and perhaps turned over.

    Raises:
        InputError: when an outline is not drawn along the lattice.
    """
    images: Images = {}
    for index, rings in enumerate(piece.forms):
        form = cells_inside(tiling, rings, f"{key}.forms[{index}]")
        for turn, flip in tiling.moves(flips):
            keys = tiling.to_origin(tiling.carried(form, turn, flip))
            images[keys.tobytes()] = keys
    return images
