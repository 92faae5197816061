"""The cells of many shapes as one board, whose orbits and placements are derived only once.

For each centre, with its own lattice, the board holds the cells of all shapes and their images
under the eight symmetries of the square. A shape is a set of orbits; its placements are those of
the board that touch no other orbit. Cells have the same order on the board as in every shape.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence, Set
from dataclasses import dataclass
from functools import cache

import numpy as np
import shapely
from numpy.typing import NDArray

from fabkit.certify.cover import Kind, enumerate_options, group_identical, number_cells
from fabkit.certify.document import FramePoint, PieceForms
from fabkit.certify.outline import MAX_CELLS, orientations_of
from fabkit.certify.replay import OptionTable
from fabkit.certify.tiling import TOLERANCE, Keys, Tiling
from fabkit.core.errors import InputError

IntArray = NDArray[np.int64]

#: Limits on the sizes of tables: placements by cells or orbits, and cells in placements.
MAX_TABLE_SIZE = 200_000_000
MAX_COVERED = 20_000_000


@dataclass(frozen=True)
class ShapeProblem:
    """The exact cover problem of one shape: the number of its cells, the placements inside it, and
    for each of these whether it is the first of its images about the centre."""

    cells: int
    options: OptionTable
    is_first: NDArray[np.bool_]

    def representatives(self, kind: int) -> dict[int, int]:
        """Return the first placement of each orbit of a kind, for `Replay.count`.

        Allowed moves map tilings to tilings, so if there is a tiling, there is one with the first
        placement of some orbit. Each gets weight 1, a lower bound, since the claim is that there
        are none.
        """
        of_kind = np.asarray(self.options.kinds) == kind
        return dict.fromkeys(np.flatnonzero(of_kind & self.is_first).tolist(), 1)


class Board:
    """The cells of many shapes, and every placement of the pieces among them.

    For each of the one or two centres, `points` has the centroid of at least one cell of
    each orbit.

    Raises:
        InputError: if an outline is not on the lattice, or the problem is too large.
    """

    def __init__(
        self,
        tiling: Tiling,
        centres: Sequence[FramePoint],
        points: Sequence[Collection[FramePoint]],
        pieces: Sequence[PieceForms],
        flips: bool,
    ) -> None:
        kinds = group_identical(
            {
                piece.id: orientations_of(tiling, piece, flips, f"pieces[{index}]")
                for index, piece in enumerate(pieces)
            }
        )
        self.copies = tuple(len(ids) for ids, _ in kinds)
        self._layers = [
            CellLayer.from_centroids(tiling, centre, centroids)
            for centre, centroids in zip(centres, points, strict=True)
        ]
        self._orbits = _renumber([layer.orbits for layer in self._layers])
        self._orbit_count = int(self._orbits.max(initial=-1)) + 1
        self._overlaps = overlapping_orbits(tiling, centres, self._layers)
        self._place(tiling, kinds)
        moves = len(tiling.moves(flips))
        images = _renumber([layer.images[:moves] for layer in self._layers])
        self._is_first = self._first_in_orbit(images)

    def orbit_at(self, layer: int, point: FramePoint) -> int | None:
        """Return the number of a cell's orbit; None if no cell has that centroid."""
        number = self._layers[layer].number_at.get(point)
        if number is None:
            return None
        before = sum(len(earlier.keys) for earlier in self._layers[:layer])
        return int(self._orbits[before + number])

    def has_overlap(self, orbits: Set[int]) -> bool:
        """Return whether any of these orbits overlap; they are then on different lattices."""
        return any(self._overlaps.get(orbit, frozenset()) & orbits for orbit in orbits)

    def problem(self, orbits: Collection[int], key: str) -> ShapeProblem:
        """Return the exact cover problem of a shape.

        Raises:
            InputError: if it is too large.
        """
        present = np.zeros(self._orbit_count + 1, dtype=bool)
        present[list(orbits)] = True
        inside = self._inside(present)
        cells = np.flatnonzero(present[self._orbits])
        count = len(cells)
        if len(inside) * count > MAX_TABLE_SIZE:
            raise InputError.of("", "is too large to check", key)
        number = np.full(len(self._orbits) + 1, count)  # the padding of rows maps past the end
        number[cells] = np.arange(count)
        covers = np.zeros((len(inside), count + 1), dtype=bool)
        covers[np.arange(len(inside))[:, None], number[self._cells[inside]]] = True
        kinds = self._kinds[inside]

        def options_of(item: int) -> list[int]:
            fits = covers[:, item] if item < count else kinds == item - count
            return [*np.flatnonzero(fits).tolist()]

        rows = np.packbits(covers[:, :count], axis=1, bitorder="little")
        bits = [int.from_bytes(row, "little") for row in map(bytes, rows)]
        options = OptionTable(bits, kinds.tolist(), [1] * len(inside), cache(options_of))
        return ShapeProblem(count, options, self._is_first[inside])

    def _place(self, tiling: Tiling, kinds: Sequence[Kind]) -> None:
        """Find all placements and fill their tables, with a row or an entry for each."""
        options: list[tuple[int, tuple[int, ...]]] = []
        before = 0
        for layer in self._layers:
            numbers = layer.numbers + before
            of_layer = enumerate_options(tiling, layer.keys, numbers, kinds, "shapes")
            options += [(option.kind, option.cells) for option in of_layer]
            before += len(layer.keys)
        options.sort()
        widest = max((len(cells) for _, cells in options), default=0)
        words = self._orbit_count // 64 + 1
        if len(options) * widest > MAX_COVERED or len(options) * words * 64 > MAX_TABLE_SIZE:
            raise InputError.of("", "is too large to check", "shapes")
        self._kinds = np.array([kind for kind, _ in options], dtype=np.int64)
        #: The cells; rows are padded with the number after the last cell's.
        self._cells = np.full((len(options), widest), before, dtype=np.int64)
        for row, (_, cells) in enumerate(options):
            self._cells[row, : len(cells)] = cells
        #: The orbits touched, as bits; padding touches an extra orbit that is in no shape.
        self._touched = np.zeros((words, len(options)), dtype=np.uint64)
        orbit_of = np.append(self._orbits, self._orbit_count)
        rows = np.arange(len(options))
        for column in self._cells.T:
            orbits = orbit_of[column]
            self._touched[orbits // 64, rows] |= np.uint64(1) << (orbits % 64).astype(np.uint64)

    def _first_in_orbit(self, images: IntArray) -> NDArray[np.bool_]:
        """Return for each placement whether it is the first of its images."""
        is_first = np.ones(len(self._cells), dtype=bool)
        if not self._cells.size:
            return is_first
        for image in images:
            carried = np.sort(np.append(image, len(image))[self._cells], axis=1)
            # The first different cell decides; if there is none, both are the same placement.
            differences = carried - self._cells
            first = (differences != 0).argmax(axis=1)
            is_first &= differences[np.arange(len(differences)), first] >= 0
        return is_first

    def _inside(self, present: NDArray[np.bool_]) -> IntArray:
        """Return the placements that touch only orbits that are present."""
        absent = ~present
        absent[self._orbit_count] = False
        bits = np.zeros(len(self._touched) * 64, dtype=bool)
        bits[: len(absent)] = absent
        words = np.packbits(bits, bitorder="little").view("<u8")
        outside = np.zeros(self._touched.shape[1], dtype=np.uint64)
        for touched, word in zip(self._touched, words, strict=True):
            outside |= touched & word
        return np.flatnonzero(outside == 0)


@dataclass(frozen=True)
class CellLayer:
    """The board's cells about one centre.

    Attributes:
        keys: sorted keys of the cells.
        numbers: the number of each cell on this layer: by x, then y, of its centroid.
        images: the number of every cell's image, for each of the eight symmetries, rotations first.
        orbits: the number of each cell's orbit on this layer.
        number_at: cell numbers by centroid, in frame points.
    """

    keys: Keys
    numbers: IntArray
    images: IntArray
    orbits: IntArray
    number_at: dict[FramePoint, int]

    @classmethod
    def from_centroids(
        cls, tiling: Tiling, centre: FramePoint, points: Collection[FramePoint]
    ) -> CellLayer:
        """Create the layer of the cells with some centroids, in frame points; skip other points.

        Raises:
            InputError: if there are too many.
        """
        message = f"hold more than {MAX_CELLS} cells about one centre"
        too_many_cells = InputError.of("", message, "shapes")
        if len(points) > MAX_CELLS:
            raise too_many_cells
        centroids = np.array(sorted(points), dtype=np.float64).reshape(-1, 2) * tiling.step
        cells, missing = tiling.find_cells(centroids)
        moves, middle = tiling.moves(flips=True), tuple(np.array(centre) * tiling.step)
        keys = np.unique([tiling.transform(cells[~missing], *move, middle) for move in moves])
        if len(keys) > MAX_CELLS:
            raise too_many_cells
        numbers = number_cells(tiling, keys)
        images = np.empty((len(moves), len(keys)), dtype=np.int64)
        for index, move in enumerate(moves):
            carried = tiling.transform(keys, *move, middle)
            images[index, numbers] = numbers[np.searchsorted(keys, carried)]
        orbits = np.unique(images.min(axis=0), return_inverse=True)[1]
        frame = map(tuple, tiling.to_frame(tiling.centroids(keys)).tolist())
        index_of = dict(zip(frame, numbers.tolist(), strict=True))
        return cls(keys, numbers, images, orbits, index_of)


def overlapping_orbits(
    tiling: Tiling, centres: Sequence[FramePoint], layers: Sequence[CellLayer]
) -> dict[int, frozenset[int]]:
    """Return for each orbit of the first layer those of the second, numbered after the first's,
    that it overlaps, so that they cannot be in one shape. Touching is not overlapping."""
    if len(layers) < 2:
        return {}
    polygons = []
    for centre, layer in zip(centres, layers, strict=True):
        # Shrunk a little, so that cells that only touch do not intersect.
        corners = tiling.corners(layer.keys, shrunk=TOLERANCE)
        polygons.append(shapely.polygons(corners - np.array(centre) * tiling.step))
    here, there = shapely.STRtree(polygons[1]).query(polygons[0], predicate="intersects")
    first, second = (layer.orbits[layer.numbers] for layer in layers)
    later = int(layers[0].orbits.max(initial=-1)) + 1
    overlaps: dict[int, set[int]] = {}
    for orbit, other in {*zip(first[here].tolist(), second[there].tolist(), strict=True)}:
        overlaps.setdefault(orbit, set()).add(later + other)
    return {orbit: frozenset(others) for orbit, others in overlaps.items()}


def _renumber(tables: Sequence[IntArray]) -> IntArray:
    """Make the numbers of the layers, each from 0, consecutive over all layers."""
    starts = np.cumsum([0, *(table.max(initial=-1) + 1 for table in tables)])
    pairs = zip(tables, starts[:-1], strict=True)
    return np.concatenate([table + start for table, start in pairs], axis=-1)
