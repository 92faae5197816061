"""The cells around a centre of symmetry, grouped into orbits.

A snowflake is symmetric under the eight symmetries of the square about its centre, so it is a set
of whole *orbits* of cells. A field holds the orbits inside one square board (for mixed parity, two
boards on lattices half a unit apart), and the data for a search: the number of cells of each orbit,
which orbits touch, which overlap, and which meet a mirror line.

Positions are measured from the centre in half frame steps, so that they are whole numbers in every
parity: on an even board the centre is a corner of the grid, on an odd one the centre of a cell.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise

from fabkit.model.lattice import Cell, Lattice, Point, Ring, Symmetry
from fabkit.model.piece import Piece, placements

#: The centre is a corner of the grid.
EVEN = "even"
#: The centre is the middle of a cell.
ODD = "odd"
#: Some pieces are on an even board, the others on an odd one.
MIXED = "mixed"
#: In the order of searches and catalogs.
PARITIES = (EVEN, ODD, MIXED)

#: In cells; for mixed parity those of the even and the odd board.
HalfWidth = int | tuple[int, int]


def format_half_width(half_width: HalfWidth) -> str:
    """Format a half-width for keys and tables.

    Example:
        >>> format_half_width(4), format_half_width((15, 14))
        ('4', '15+14')
    """
    return str(half_width) if isinstance(half_width, int) else "+".join(map(str, half_width))


@dataclass(frozen=True)
class CentredBoard:
    """A square board about the centre, on one lattice.

    Attributes:
        lattice: of squares, or of quarter squares.
        parity: `EVEN` or `ODD`.
        half_width: in cells: an even board is twice as wide, an odd one has one more cell.
    """

    lattice: Lattice
    parity: str
    half_width: int

    @property
    def centre(self) -> Point:
        """The centre of symmetry, in frame steps of the lattice."""
        middle = 0 if self.parity == EVEN else self.lattice.per_unit // 2
        return middle, middle

    @cached_property
    def cells(self) -> frozenset[Cell]:
        """All cells of the board."""
        span = range(-self.half_width, self.half_width + (self.parity == ODD))
        return frozenset(c for y in span for x in span for c in self.lattice.cells_at(-y - 1, x))

    def from_centre(self, point: Point) -> Point:
        """Return the position of a frame point relative to the centre, in half frame steps."""
        (x, y), (cx, cy) = point, self.centre
        return 2 * (x - cx), 2 * (y - cy)

    def image(self, symmetry: Symmetry, cell: Cell) -> Cell:
        """Return the image of a cell under a symmetry about the centre."""
        cx, cy = self.centre
        x, y = symmetry((cell[0] - cx, cell[1] - cy))
        return x + cx, y + cy


#: A cell of a field: the number of its board, and the cell in that board's lattice.
FieldCell = tuple[int, Cell]


@dataclass(frozen=True)
class Field:
    """Orbits of cells under the symmetries of the square.

    Attributes:
        boards: one board, or two of different parity.

    Example:
        >>> from fabkit.model.lattice import LATTICES
        >>> field = Field.for_parity(LATTICES["quarter-square"], "even", 1)
        >>> field.orbit_sizes, field.orbit_of[:4]
        ((8, 8), (0, 0, 0, 1))
    """

    boards: tuple[CentredBoard, ...]

    @classmethod
    def for_parity(cls, lattice: Lattice, parity: str, half_width: HalfWidth) -> Field:
        """Create the field of a parity; a mixed one may have one half-width for both boards."""
        if parity != MIXED:
            assert isinstance(half_width, int)
            return cls((CentredBoard(lattice, parity, half_width),))
        even, odd = half_width if isinstance(half_width, tuple) else (half_width, half_width)
        return cls((CentredBoard(lattice, EVEN, even), CentredBoard(lattice, ODD, odd)))

    @property
    def lattice(self) -> Lattice:
        """The lattice of all boards, up to its offset."""
        return self.boards[0].lattice

    @property
    def parity(self) -> str:
        """One of `PARITIES`."""
        return self.boards[0].parity if len(self.boards) == 1 else MIXED

    @property
    def half_width(self) -> HalfWidth:
        """The half-width of its board, or of both, as passed to `Field.for_parity`."""
        widths = [board.half_width for board in self.boards]
        return widths[0] if len(widths) == 1 else (widths[0], widths[1])

    @cached_property
    def cells(self) -> tuple[FieldCell, ...]:
        """The cells in the order of their numbers: by board, then coordinates."""
        return tuple(
            (board_number, cell)
            for board_number, board in enumerate(self.boards)
            for cell in sorted(board.cells)
        )

    @cached_property
    def number_of(self) -> dict[FieldCell, int]:
        """The number of each cell."""
        return {cell: index for index, cell in enumerate(self.cells)}

    @cached_property
    def images(self) -> tuple[tuple[int, ...], ...]:
        """The number of every cell's image, for each symmetry of the lattice."""
        return tuple(
            tuple(
                self.number_of[board_number, self.boards[board_number].image(symmetry, cell)]
                for board_number, cell in self.cells
            )
            for symmetry in self.lattice.symmetries
        )

    @cached_property
    def orbits(self) -> tuple[tuple[int, ...], ...]:
        """The orbits as cell numbers, from the centre outwards."""
        orbits = {tuple(sorted(set(images))) for images in zip(*self.images, strict=True)}
        return tuple(
            sorted(orbits, key=lambda orbit: (self.cells[orbit[0]][0], self._reach(orbit), orbit))
        )

    @cached_property
    def orbit_of(self) -> tuple[int, ...]:
        """The number of each cell's orbit."""
        owner = {cell: index for index, orbit in enumerate(self.orbits) for cell in orbit}
        return tuple(owner[cell] for cell in range(len(self.cells)))

    @cached_property
    def orbit_sizes(self) -> tuple[int, ...]:
        """The number of cells of each orbit."""
        return tuple(map(len, self.orbits))

    def board_of(self, orbit: int) -> int:
        """Return the number of an orbit's board."""
        return self.cells[self.orbits[orbit][0]][0]

    def centroid(self, cell: int) -> Point:
        """Return a cell's centroid relative to the centre, in half frame steps."""
        board_number, point = self.cells[cell]
        return self.boards[board_number].from_centre(point)

    def _reach(self, orbit: Sequence[int]) -> int:
        """Return the greatest distance of an orbit from the centre, in half frame steps."""
        return max(max(map(abs, point)) for point in self._corners(orbit[0]))

    def _corners(self, cell: int) -> list[Point]:
        board_number, point = self.cells[cell]
        return list(map(self.boards[board_number].from_centre, self.lattice.ring(point)))

    @cached_property
    def _split(self) -> tuple[tuple[frozenset[Point], frozenset[Point]], ...]:
        """The corners, and the centres, of the small triangles that make up each orbit.

        Cut at the midpoints of their edges, the cells of both boards form one common mesh: two
        orbits overlap exactly if they share a triangle, and touch exactly if they share a corner.
        """
        splits = []
        for orbit in self.orbits:
            triangles = [triangle for cell in orbit for triangle in _triangles(self._corners(cell))]
            middles = frozenset(
                (ax + bx + cx, ay + by + cy) for (ax, ay), (bx, by), (cx, cy) in triangles
            )
            splits.append((frozenset(chain.from_iterable(triangles)), middles))
        return tuple(splits)

    @cached_property
    def touching(self) -> tuple[frozenset[int], ...]:
        """The orbits that touch each orbit, even in a point or across lattices, and itself."""
        return _sharing([corners for corners, _ in self._split])

    @cached_property
    def conflicts(self) -> tuple[frozenset[int], ...]:
        """The other orbits that overlap each orbit; they are on the other lattice."""
        shared = _sharing([middles for _, middles in self._split])
        return tuple(overlapping - {index} for index, overlapping in enumerate(shared))

    @cached_property
    def mirrors(self) -> tuple[frozenset[int], frozenset[int]]:
        """The orbits that meet an axis, and those that meet a diagonal.

        Symmetries map axes to axes and diagonals to diagonals, and reflections in one of each
        generate all eight: a connected set of cells is symmetric exactly if it meets both.
        """
        corners_of = [corners for corners, _ in self._split]
        orbits = range(len(corners_of))
        return (
            frozenset(o for o in orbits if any(x == 0 or y == 0 for x, y in corners_of[o])),
            frozenset(o for o in orbits if any(abs(x) == abs(y) for x, y in corners_of[o])),
        )

    def half_widths(self, orbits: Iterable[int]) -> tuple[int, ...]:
        """Return the half-widths of the smallest boards that hold some orbits; -1 for none."""
        widths = [-1] * len(self.boards)
        unit = 2 * self.lattice.per_unit
        for orbit in orbits:
            board_number = self.board_of(orbit)
            reach = self._reach(self.orbits[orbit])
            if self.boards[board_number].parity == ODD:
                reach -= unit // 2  # its half-width does not count the half cell at the centre
            widths[board_number] = max(widths[board_number], -(-reach // unit))
        return tuple(widths)

    def is_rigid(self, orbits: Iterable[int]) -> bool:
        """Return whether every connected component of a set of orbits is symmetric.

        Contact in a point connects. A shape that is not rigid has components that can move
        independently.
        """
        waiting = set(orbits)
        while waiting:
            component = set[int]()
            frontier = {waiting.pop()}
            while frontier:
                component |= frontier
                frontier = set().union(*(self.touching[orbit] for orbit in frontier)) & waiting
                waiting -= frontier
            if not all(component & mirror for mirror in self.mirrors):
                return False
        return True

    def placements(self, piece: Piece, flips: bool) -> Iterator[tuple[int, ...]]:
        """Yield every placement of a piece on any board, as ascending cell numbers."""
        for board_number, board in enumerate(self.boards):
            for placement in placements(board.lattice, piece, board.cells, flips):
                yield tuple(sorted(self.number_of[board_number, cell] for cell in placement.cells))


def _triangles(corners: Sequence[Point]) -> Iterator[Ring]:
    """Yield the triangles of a cell: squares are cut into quarters, and these into halves."""
    quarters = [tuple(corners)]
    if len(corners) == 4:
        (x, y), (u, v) = corners[0], corners[2]
        hub = (x + u) // 2, (y + v) // 2
        quarters = [(a, b, hub) for a, b in pairwise((*corners, corners[0]))]
    for a, b, apex in quarters:
        middle = (a[0] + b[0]) // 2, (a[1] + b[1]) // 2
        yield from ((a, middle, apex), (middle, b, apex))


def _sharing(groups: Sequence[frozenset[Point]]) -> tuple[frozenset[int], ...]:
    """Return for each group of points the numbers of groups that share one, including itself."""
    owners: dict[Point, set[int]] = defaultdict(set)
    for index, group in enumerate(groups):
        for point in group:
            owners[point].add(index)
    return tuple(
        frozenset({index}.union(*(owners[point] for point in group)))
        for index, group in enumerate(groups)
    )
