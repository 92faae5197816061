"""The cells about a centre of symmetry, and the orbits that they make up."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import MultiPoint, get_coordinates

from fabkit.certify.cover import numbers_of
from fabkit.certify.outline import MAX_CELLS
from fabkit.certify.shapes import FramePoint
from fabkit.certify.tiling import TOLERANCE, Keys, Tiling, moved
from fabkit.core.errors import InputError

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Sheet:
    """The board's cells about one centre.

    Attributes:
        keys: the cells, sorted by key.
        numbers: for each its number on this sheet: by x, then y, of its centroid.
        images: for each of the eight symmetries, rotations first, the number of every cell's image.
        orbits: for each cell, by number, its orbit's number on this sheet.
        number_at: the number of the cell with a centroid, in frame points.
    """

    keys: Keys
    numbers: Numbers
    images: Numbers
    orbits: Numbers
    number_at: dict[FramePoint, int]

    @classmethod
    def around(cls, tiling: Tiling, centre: FramePoint, points: Collection[FramePoint]) -> Sheet:
        """The sheet that holds some cells.

        Args:
            tiling: the lattice.
            centre: of the symmetries, in frame points.
            points: the centroids of the cells; those of none are left out.

        Raises:
            InputError: when there are too many.
        """
        if len(points) > MAX_CELLS:
            raise _too_many_cells()
        places = np.array(sorted(points), dtype=np.float64).reshape(-1, 2) * tiling.step
        found, missing = tiling.looked_up(places)
        seeds = found[~missing]
        moves = tiling.moves(flips=True)
        keys = np.unique([_image(tiling, seeds, centre, *move) for move in moves])
        if len(keys) > MAX_CELLS:
            raise _too_many_cells()
        numbers = numbers_of(tiling, keys)
        images = np.empty((len(moves), len(keys)), dtype=np.int64)
        for index, move in enumerate(moves):
            carried = _image(tiling, keys, centre, *move)
            images[index, numbers] = numbers[np.searchsorted(keys, carried)]
        orbits = np.unique(images.min(axis=0), return_inverse=True)[1]
        at = dict(zip(tiling.frame(tiling.centroids(keys)), numbers.tolist(), strict=True))
        return cls(keys, numbers, images, orbits, at)


def _too_many_cells() -> InputError:
    return InputError.of("", f"hold more than {MAX_CELLS} cells about one centre", "shapes")


def _image(tiling: Tiling, keys: Keys, centre: FramePoint, turn: int, flip: bool) -> Keys:
    """Where a symmetry about the centre carries cells."""
    if not len(keys):
        return keys
    middle = np.array(centre) * tiling.step
    points = MultiPoint(tiling.centroids(keys) - middle)
    return tiling.keys_at(get_coordinates(moved(points, turn, flip)) + middle)


def overlaps(
    tiling: Tiling, centres: Sequence[FramePoint], sheets: Sequence[Sheet]
) -> dict[int, frozenset[int]]:
    """The orbits of two lattices that cannot be in one shape.

    Args:
        tiling: the lattice, but for where it begins.
        centres: one or two, which are the same point of the plane.
        sheets: for each centre its own.

    Returns:
        For each orbit about the first centre those about the second that it overlaps, numbered
        after the first's. Where they only touch, they do not.
    """
    if len(sheets) < 2:
        return {}
    drawn = []
    for centre, sheet in zip(centres, sheets, strict=True):
        # Cells that only touch come apart when they shrink a little.
        polygons = tiling.polygons(sheet.keys, shrunk=TOLERANCE)
        middle = np.array(centre) * tiling.step
        drawn.append(shapely.transform(polygons, lambda points, by=middle: points - by))
    here, there = shapely.STRtree(drawn[1]).query(drawn[0], predicate="intersects")
    first, second = (sheet.orbits[sheet.numbers] for sheet in sheets)
    later = int(sheets[0].orbits.max(initial=-1)) + 1
    found: dict[int, set[int]] = {}
    for one, other in {*zip(first[here].tolist(), second[there].tolist(), strict=True)}:
        found.setdefault(one, set()).add(later + other)
    return {orbit: frozenset(others) for orbit, others in found.items()}
