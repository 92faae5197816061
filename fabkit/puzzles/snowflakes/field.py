"""The cells around a centre of symmetry, taken together with their images: a field of orbits.

A snowflake is carried to itself by the eight symmetries of the square about its centre, so it is a
set of whole *orbits* of cells. A field holds the orbits inside one square (or, of mixed parity,
inside two squares on lattices that lie half a unit apart), and what a search must know of them:
how many cells each has, which ones meet, which ones overlap, and which ones lie on a mirror.

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
from fabkit.model.piece import Piece
from fabkit.model.placement import placements

EVEN, ODD, MIXED = "even", "odd", "mixed"
PARITIES = (EVEN, ODD, MIXED)

#: Of a board, in cells; of mixed parity those of the even and the odd board.
HalfWidth = int | tuple[int, int]


def spelt(half_width: HalfWidth) -> str:
    """A half-width in keys and tables.

    Example:
        >>> spelt(4), spelt((15, 14))
        ('4', '15+14')
    """
    return str(half_width) if isinstance(half_width, int) else "+".join(map(str, half_width))


@dataclass(frozen=True)
class Part:
    """A square board about the centre, on one lattice.

    Attributes:
        lattice: of squares, or of their quarters.
        parity: ``even`` when the centre is a corner of the grid, ``odd`` when it is the centre
            of a cell.
        half_width: in cells: an even board is twice as wide, an odd one has one cell more.
    """

    lattice: Lattice
    parity: str
    half_width: int

    @property
    def centre(self) -> Point:
        """The centre of symmetry, in frame steps of the lattice."""
        at = 0 if self.parity == EVEN else self.lattice.per_unit // 2
        return at, at

    @cached_property
    def cells(self) -> frozenset[Cell]:
        """All cells of the board."""
        span = range(-self.half_width, self.half_width + (self.parity == ODD))
        return frozenset(
            cell for y in span for x in span for cell in self.lattice.cells_at(-y - 1, x)
        )

    def around(self, point: Point) -> Point:
        """A frame point as it lies from the centre, in half frame steps."""
        (x, y), (cx, cy) = point, self.centre
        return 2 * (x - cx), 2 * (y - cy)

    def image(self, symmetry: Symmetry, cell: Cell) -> Cell:
        """Where a symmetry about the centre carries a cell."""
        cx, cy = self.centre
        x, y = symmetry((cell[0] - cx, cell[1] - cy))
        return x + cx, y + cy


#: A cell of a field: the number of its part, and the cell in that part's lattice.
FieldCell = tuple[int, Cell]


@dataclass(frozen=True)
class Field:
    """Orbits of cells under the symmetries of the square.

    Attributes:
        parts: one board, or two of different parity.

    Example:
        >>> from fabkit.model.lattice import LATTICES
        >>> field = Field.of(LATTICES["quarter-square"], "even", 1)
        >>> field.weights, field.orbit[:4]
        ((8, 8), (0, 0, 0, 1))
    """

    parts: tuple[Part, ...]

    @classmethod
    def of(cls, lattice: Lattice, parity: str, half_width: HalfWidth) -> Field:
        """The field of a parity; a mixed one may have one half-width for both boards."""
        if parity != MIXED:
            assert isinstance(half_width, int)
            return cls((Part(lattice, parity, half_width),))
        even, odd = half_width if isinstance(half_width, tuple) else (half_width, half_width)
        return cls((Part(lattice, EVEN, even), Part(lattice, ODD, odd)))

    @property
    def lattice(self) -> Lattice:
        """The lattice of all parts, but for where it begins."""
        return self.parts[0].lattice

    @property
    def parity(self) -> str:
        """One of `PARITIES`."""
        return self.parts[0].parity if len(self.parts) == 1 else MIXED

    @property
    def half_width(self) -> HalfWidth:
        """Of its board, or of both: what `Field.of` was told."""
        widths = [part.half_width for part in self.parts]
        return widths[0] if len(widths) == 1 else (widths[0], widths[1])

    @cached_property
    def cells(self) -> tuple[FieldCell, ...]:
        """The cells by number: those of the first part first, and by coordinates."""
        return tuple(
            (at, cell) for at, part in enumerate(self.parts) for cell in sorted(part.cells)
        )

    @cached_property
    def number(self) -> dict[FieldCell, int]:
        """The number of each cell."""
        return {cell: index for index, cell in enumerate(self.cells)}

    @cached_property
    def turned(self) -> tuple[tuple[int, ...], ...]:
        """For each symmetry of the lattice, the number of every cell's image."""
        return tuple(
            tuple(self.number[at, self.parts[at].image(symmetry, cell)] for at, cell in self.cells)
            for symmetry in self.lattice.symmetries
        )

    @cached_property
    def orbits(self) -> tuple[tuple[int, ...], ...]:
        """The orbits, each with the numbers of its cells; from the centre outwards."""
        found = {tuple(sorted(set(images))) for images in zip(*self.turned, strict=True)}
        return tuple(sorted(found, key=self._outwards))

    @cached_property
    def orbit(self) -> tuple[int, ...]:
        """For each cell the number of its orbit."""
        owner = {cell: index for index, orbit in enumerate(self.orbits) for cell in orbit}
        return tuple(owner[cell] for cell in range(len(self.cells)))

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """The number of cells of each orbit."""
        return tuple(map(len, self.orbits))

    def part_of(self, orbit: int) -> int:
        """The number of the part that an orbit belongs to."""
        return self.cells[self.orbits[orbit][0]][0]

    def place(self, cell: int) -> Point:
        """A cell's centroid as it lies from the centre, in half frame steps."""
        at, where = self.cells[cell]
        return self.parts[at].around(where)

    def _outwards(self, orbit: Sequence[int]) -> tuple[int, int, Sequence[int]]:
        return self.cells[orbit[0]][0], self._reach(orbit), orbit

    def _reach(self, orbit: Sequence[int]) -> int:
        """How far from the centre the orbit reaches, in half frame steps."""
        return max(max(map(abs, point)) for point in self._corners(orbit[0]))

    def _corners(self, cell: int) -> list[Point]:
        at, where = self.cells[cell]
        return [self.parts[at].around(corner) for corner in self.lattice.ring(where)]

    @cached_property
    def _split(self) -> tuple[tuple[frozenset[Point], frozenset[Point]], ...]:
        """For each orbit the corners and the middles of the small triangles that make it up.

        Cut along the middles of their edges, the cells of both parts become pieces of one common
        mesh: so two orbits overlap exactly if they share a triangle, and meet exactly if they
        share a corner.
        """
        found = []
        for orbit in self.orbits:
            each = [one for cell in orbit for one in _triangles(self._corners(cell))]
            middles = ((sum(x for x, _ in one), sum(y for _, y in one)) for one in each)
            found.append((frozenset(chain.from_iterable(each)), frozenset(middles)))
        return tuple(found)

    @cached_property
    def near(self) -> tuple[frozenset[int], ...]:
        """For each orbit those it meets, be it in a point, and itself; also across lattices."""
        return _sharing([corners for corners, _ in self._split])

    @cached_property
    def conflicts(self) -> tuple[frozenset[int], ...]:
        """For each orbit the others that it overlaps: they lie on the other lattice."""
        shared = _sharing([middles for _, middles in self._split])
        return tuple(found - {index} for index, found in enumerate(shared))

    @cached_property
    def mirrors(self) -> tuple[frozenset[int], frozenset[int]]:
        """The orbits that meet an axis, and those that meet a diagonal.

        Either kind of mirror is carried to itself by the symmetries, and together these two
        reflections make all eight: a connected set of orbits is carried to itself, as one
        connected shape, exactly if it meets both.
        """
        met = [corners for corners, _ in self._split]
        axis = (n for n, one in enumerate(met) if any(0 in corner for corner in one))
        diagonal = (n for n, one in enumerate(met) if any(abs(x) == abs(y) for x, y in one))
        return frozenset(axis), frozenset(diagonal)

    def half_widths(self, orbits: Iterable[int]) -> tuple[int, ...]:
        """For each part the half-width of the least board that holds its orbits; -1 for none."""
        found = [-1] * len(self.parts)
        unit = 2 * self.lattice.per_unit
        for orbit in orbits:
            at = self.part_of(orbit)
            # An odd board's half-width does not count the half cell at its centre.
            beyond = self._reach(self.orbits[orbit]) - unit // 2 * (self.parts[at].parity == ODD)
            found[at] = max(found[at], -(-beyond // unit))
        return tuple(found)

    def is_rigid(self, orbits: Iterable[int]) -> bool:
        """Whether every connected part of a set of orbits is carried to itself.

        Contact in a point connects. What is not rigid has parts that can move on their own.
        """
        waiting = set(orbits)
        while waiting:
            component, frontier = set[int](), {waiting.pop()}
            while frontier:
                component |= frontier
                frontier = set().union(*(self.near[one] for one in frontier)) & waiting
                waiting -= frontier
            if not all(component & mirror for mirror in self.mirrors):
                return False
        return True

    def placements(self, piece: Piece, flips: bool) -> Iterator[tuple[int, ...]]:
        """Every placement of a piece on any of the parts, as ascending numbers of cells."""
        for at, part in enumerate(self.parts):
            for placement in placements(part.lattice, piece, part.cells, flips):
                yield tuple(sorted(self.number[at, cell] for cell in placement.cells))


def _triangles(corners: Sequence[Point]) -> Iterator[Ring]:
    """A cell cut up: a square into quarters, whose right angle comes last, and these in halves."""
    quarters = [tuple(corners)]
    if len(corners) == 4:
        (x, y), (u, v) = corners[0], corners[2]
        hub = (x + u) // 2, (y + v) // 2
        quarters = [(a, b, hub) for a, b in pairwise((*corners, corners[0]))]
    for a, b, apex in quarters:
        middle = (a[0] + b[0]) // 2, (a[1] + b[1]) // 2
        yield from ((a, middle, apex), (middle, b, apex))


def _sharing(groups: Sequence[frozenset[Point]]) -> tuple[frozenset[int], ...]:
    """For each group of points the numbers of those that share one with it, and its own."""
    owners: dict[Point, set[int]] = defaultdict(set)
    for index, group in enumerate(groups):
        for point in group:
            owners[point].add(index)
    return tuple(
        frozenset({index}.union(*(owners[point] for point in group)))
        for index, group in enumerate(groups)
    )
