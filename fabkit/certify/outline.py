"""The cells inside the outlines of a file, and the orientations of pieces."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import shapely

from fabkit.certify.document import FramePoint, PieceForms, Rings
from fabkit.certify.tiling import Keys, Tiling
from fabkit.core.errors import InputError

#: Limit on the cells inside one outline.
MAX_CELLS = 10_000
#: Limit on the cells tested for one outline.
MAX_AROUND = 200_000

Edge = tuple[FramePoint, FramePoint]


def cells_inside(tiling: Tiling, rings: Rings, key: str) -> Keys:
    """Return the sorted cells that are inside an odd number of rings of frame points.

    Raises:
        InputError: if the rings are not the border of these cells, with each edge once, or enclose
            no cells, or too many.
    """
    lines = [np.array(ring) * tiling.step for ring in rings]
    points = np.concatenate(lines)
    (left, low), (right, high) = points.min(axis=0), points.max(axis=0)
    box = np.array([(left, low), (right, low), (left, high), (right, high)])
    keys = tiling.cells_in_box(box, MAX_AROUND)
    if keys is None:
        raise InputError.of("", "is too large or too thin to check", key)
    centroids = tiling.centroids(keys)
    odd = np.zeros(len(keys), dtype=bool)
    for line in lines:
        odd ^= shapely.contains_xy(shapely.Polygon(line), centroids)
    keys = keys[odd]
    if len(keys) > MAX_CELLS:
        raise InputError.of("", f"encloses more than {MAX_CELLS} cells", key)
    border = set[Edge]()
    for cell in tiling.to_frame(tiling.corners(keys)).tolist():
        border.symmetric_difference_update(_unit_edges(cell))
    for ring in rings:
        for step in _unit_edges(ring):
            if step not in border:
                (x, y), (to_x, to_y) = step
                edge = f"from [{x}, {y}] to [{to_x}, {to_y}]"
                raise InputError.of("", f"{edge} is not on the border of the cells inside", key)
            border.remove(step)
    if border or not len(keys):
        raise InputError.of("", "is not on the lattice", key)
    return keys


def _unit_edges(corners: Sequence[Iterable[int]]) -> Iterator[Edge]:
    """Yield the shortest edges between frame points along a ring, regardless of direction."""
    for (x, y), (to_x, to_y) in zip(corners, (*corners[1:], corners[0]), strict=True):
        count = math.gcd(to_x - x, to_y - y) or 1
        dx, dy = (to_x - x) // count, (to_y - y) // count
        for step in range(count):
            start = (x + step * dx, y + step * dy)
            end = (start[0] + dx, start[1] + dy)
            yield (start, end) if start < end else (end, start)


#: A piece's distinct orientations, each as the keys of its cells, moved to the origin.
Orientations = dict[bytes, Keys]


def orientations_of(tiling: Tiling, piece: PieceForms, flips: bool, key: str) -> Orientations:
    """Return a piece's distinct orientations; raise `InputError` if one is not on the lattice."""
    orientations: Orientations = {}
    for index, rings in enumerate(piece.forms):
        form = cells_inside(tiling, rings, f"{key}.forms[{index}]")
        for move in tiling.moves(flips):
            keys = tiling.to_origin(tiling.transform(form, *move))
            orientations[keys.tobytes()] = keys
    return orientations
