"""All cells of many shapes as one board: its orbits, and the placements, are derived only once.

The board holds for each centre, on a lattice of its own, the cells of all shapes, and with each
cell its images under the eight symmetries of the square about that centre. A shape is some of its
orbits; what can be laid there are those of the board's placements that touch no other orbit.
Numbers ascend on the board as they do in every shape, so that what is sorted stays so.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import shapely
from numpy.typing import NDArray

from fabkit.certify.cover import Kind, kinds_of, numbers_of, options_in
from fabkit.certify.document import DrawnPiece, FramePoint
from fabkit.certify.outline import MAX_CELLS, images_of
from fabkit.certify.replay import Choices
from fabkit.certify.tiling import TOLERANCE, Keys, Tiling
from fabkit.core.errors import InputError

Numbers = NDArray[np.int64]

#: Bounds on tables: of placements by cells or orbits, and of cells that they cover.
MAX_IN_A_TABLE = 200_000_000
MAX_COVERED = 20_000_000


@dataclass(frozen=True)
class Problem:
    """Whether the pieces tile one shape, as an exact cover problem.

    `cells` is how many the shape has, `choices` the placements inside it; `least` says for each
    whether none of its images about the centre comes before it.
    """

    cells: int
    choices: Choices
    least: NDArray[np.bool_]

    def representatives(self, kind: int) -> dict[int, int]:
        """One placement of each orbit of a kind's, the least, for `Replay.count`.

        The moves that pieces may make carry tilings to tilings, and placements that fit to such:
        so if there is a tiling, then one with the least placement of some orbit. It stands for at
        least one, which is enough where none is claimed.
        """
        of_kind = np.asarray(self.choices.kinds) == kind
        return dict.fromkeys(np.flatnonzero(of_kind & self.least).tolist(), 1)


class Board:
    """The cells of many shapes, and every placement of the pieces among them.

    Args:
        tiling: the lattice.
        centres: one or two.
        points: for each centre the centroids of cells, at least one of each orbit.
        pieces: as the file draws them.
        flips: whether they may be turned over.

    Raises:
        InputError: when an outline is not drawn along the lattice, or all is too large.
    """

    def __init__(
        self,
        tiling: Tiling,
        centres: Sequence[FramePoint],
        points: Sequence[Collection[FramePoint]],
        pieces: Sequence[DrawnPiece],
        flips: bool,
    ) -> None:
        kinds = kinds_of(
            {
                piece.id: images_of(tiling, piece, flips, f"pieces[{index}]")
                for index, piece in enumerate(pieces)
            }
        )
        self.copies = tuple(len(ids) for ids, _ in kinds)
        self._sheets = [
            Sheet.around(tiling, centre, some) for centre, some in zip(centres, points, strict=True)
        ]
        self._orbits = _in_a_row([sheet.orbits for sheet in self._sheets])
        self._orbit_count = int(self._orbits.max(initial=-1)) + 1
        self._overlaps = overlaps(tiling, centres, self._sheets)
        self._place(tiling, kinds)
        moves = len(tiling.moves(flips))
        self._least = self._are_least(_in_a_row([sheet.images[:moves] for sheet in self._sheets]))

    def orbit_at(self, sheet: int, point: FramePoint) -> int | None:
        """The number of a cell's orbit; None when no cell has that centroid."""
        number = self._sheets[sheet].number_at.get(point)
        if number is None:
            return None
        before = sum(len(earlier.keys) for earlier in self._sheets[:sheet])
        return int(self._orbits[before + number])

    def overlap(self, orbits: Collection[int]) -> bool:
        """Whether some of these orbits overlap; they then lie on different lattices."""
        return any(
            not self._overlaps.get(orbit, frozenset()).isdisjoint(orbits) for orbit in orbits
        )

    def problem(self, orbits: Collection[int], key: str) -> Problem:
        """The exact cover problem of a shape.

        Raises:
            InputError: when it is too large.
        """
        present = np.zeros(self._orbit_count + 1, dtype=bool)
        present[list(orbits)] = True
        inside = self._inside(present)
        cells = np.flatnonzero(present[self._orbits])
        count = len(cells)
        if len(inside) * count > MAX_IN_A_TABLE:
            raise InputError.of("", "is too large to be checked", key)
        number = np.full(len(self._orbits) + 1, count)  # past the end, where rows are filled up
        number[cells] = np.arange(count)
        covers = np.zeros((len(inside), count + 1), dtype=bool)
        covers[np.arange(len(inside))[:, None], number[self._cells[inside]]] = True
        kinds = self._kinds[inside]

        def at(item: int) -> list[int]:
            fits = covers[:, item] if item < count else kinds == item - count
            found: list[int] = np.flatnonzero(fits).tolist()
            return found

        rows = np.packbits(covers[:, :count], axis=1, bitorder="little")
        bits = [int.from_bytes(row, "little") for row in map(bytes, rows)]
        choices = Choices(bits, kinds.tolist(), [1] * len(inside), cache(at))
        return Problem(count, choices, self._least[inside])

    def _place(self, tiling: Tiling, kinds: Sequence[Kind]) -> None:
        """Finds every placement, and writes the tables of them: a row or an entry for each."""
        found: list[tuple[int, tuple[int, ...]]] = []
        before = 0
        for sheet in self._sheets:
            numbers = sheet.numbers + before
            for option in options_in(tiling, sheet.keys, numbers, kinds, "shapes"):
                found.append((option.kind, option.cells))
            before += len(sheet.keys)
        found.sort()
        widest = max((len(cells) for _, cells in found), default=0)
        words = self._orbit_count // 64 + 1
        if len(found) * widest > MAX_COVERED or len(found) * words * 64 > MAX_IN_A_TABLE:
            raise InputError.of("", "is too large to be checked", "shapes")
        self._kinds = np.array([kind for kind, _ in found], dtype=np.int64)
        #: The cells, each row filled up with the number after the last cell's.
        self._cells = np.full((len(found), widest), before, dtype=np.int64)
        for row, (_, cells) in enumerate(found):
            self._cells[row, : len(cells)] = cells
        #: The orbits touched, as bits; filling up touches one that is in no shape, and no matter.
        self._touched = np.zeros((words, len(found)), dtype=np.uint64)
        orbit_of = np.append(self._orbits, self._orbit_count)
        rows = np.arange(len(found))
        for column in self._cells.T:
            orbits = orbit_of[column]
            self._touched[orbits // 64, rows] |= np.uint64(1) << (orbits % 64).astype(np.uint64)

    def _are_least(self, images: Numbers) -> NDArray[np.bool_]:
        """For each placement whether no move makes an earlier one of it."""
        least = np.ones(len(self._cells), dtype=bool)
        if not self._cells.size:
            return least
        for image in images:
            carried = np.sort(np.append(image, len(image))[self._cells], axis=1)
            # The first cell that differs decides; where none does, both are the same placement.
            differences = carried - self._cells
            first = (differences != 0).argmax(axis=1)
            least &= differences[np.arange(len(differences)), first] >= 0
        return least

    def _inside(self, present: NDArray[np.bool_]) -> Numbers:
        """The placements that touch only orbits that are present."""
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
        """The sheet of the cells with some centroids, in frame points; points of none are left out.

        Raises:
            InputError: when there are too many.
        """
        if len(points) > MAX_CELLS:
            raise _too_many_cells()
        places = np.array(sorted(points), dtype=np.float64).reshape(-1, 2) * tiling.step
        found, missing = tiling.looked_up(places)
        seeds = found[~missing]
        moves, middle = tiling.moves(flips=True), tuple(np.array(centre) * tiling.step)
        keys = np.unique([tiling.carried(seeds, *move, middle) for move in moves])
        if len(keys) > MAX_CELLS:
            raise _too_many_cells()
        numbers = numbers_of(tiling, keys)
        images = np.empty((len(moves), len(keys)), dtype=np.int64)
        for index, move in enumerate(moves):
            carried = tiling.carried(keys, *move, middle)
            images[index, numbers] = numbers[np.searchsorted(keys, carried)]
        orbits = np.unique(images.min(axis=0), return_inverse=True)[1]
        frame = map(tuple, tiling.frame(tiling.centroids(keys)).tolist())
        at = dict(zip(frame, numbers.tolist(), strict=True))
        return cls(keys, numbers, images, orbits, at)


def _too_many_cells() -> InputError:
    return InputError.of("", f"hold more than {MAX_CELLS} cells about one centre", "shapes")


def overlaps(
    tiling: Tiling, centres: Sequence[FramePoint], sheets: Sequence[Sheet]
) -> dict[int, frozenset[int]]:
    """The orbits of two lattices, about one point of the plane, that cannot be in one shape.

    Returns:
        For each orbit about the first centre those about the second that it overlaps, numbered
        after the first's. Where they only touch, they do not.
    """
    if len(sheets) < 2:
        return {}
    drawn = []
    for centre, sheet in zip(centres, sheets, strict=True):
        # Cells that only touch come apart when they shrink a little.
        corners = tiling.corners(sheet.keys, shrunk=TOLERANCE)
        drawn.append(shapely.polygons(corners - np.array(centre) * tiling.step))
    here, there = shapely.STRtree(drawn[1]).query(drawn[0], predicate="intersects")
    first, second = (sheet.orbits[sheet.numbers] for sheet in sheets)
    later = int(sheets[0].orbits.max(initial=-1)) + 1
    found: dict[int, set[int]] = {}
    for one, other in {*zip(first[here].tolist(), second[there].tolist(), strict=True)}:
        found.setdefault(one, set()).add(later + other)
    return {orbit: frozenset(others) for orbit, others in found.items()}


def _in_a_row(tables: Sequence[Numbers]) -> Numbers:
    """Numbers that count on each sheet from 0, made to count on over all sheets."""
    found, before = [], 0
    for table in tables:
        found.append(table + before)
        before += int(table.max(initial=-1)) + 1
    return np.concatenate(found, axis=-1)
