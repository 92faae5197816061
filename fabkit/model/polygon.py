"""Outlines and cells of a lattice, each computed from the other, in exact integers.

An outline is a list of rings of frame points. `cells_of_rings` and `rings_of_cells` are
inverses of each other: outer rings come out counter-clockwise, holes clockwise, each
beginning at its least corner.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction

from fabkit.model.lattice import Cell, Lattice, Point, Ring

#: More corners or cells than this is not a puzzle any more.
MAX_SIZE = 10_000
#: Nothing is drawn farther out, in grid units.
LARGEST_COORDINATE = 10_000
_MAX_EDGES = 10 * MAX_SIZE


class OutlineError(ValueError):
    """An outline that bounds no cells; the sentence says where and why."""


def area2(ring: Sequence[Point]) -> int:
    """Twice the signed area in squared frame steps; positive when counter-clockwise."""
    return sum(x0 * y1 - x1 * y0 for (x0, y0), (x1, y1) in _edges(ring))


def canonical_ring(ring: Sequence[Point]) -> Ring:
    """The same ring without corners on straight edges, beginning at its least corner."""
    bends = [
        point
        for before, point, after in zip(
            (*ring[-1:], *ring[:-1]), ring, (*ring[1:], *ring[:1]), strict=True
        )
        if _cross(_vector(before, point), _vector(point, after)) != 0
    ]
    start = bends.index(min(bends))
    return tuple(bends[start:] + bends[:start])


def cells_of_rings(
    lattice: Lattice, rings: Sequence[Ring], may_touch: bool = False
) -> frozenset[Cell]:
    """The cells inside an outline, by the even-odd rule on their centroids.

    The direction of the rings does not matter; the cells' area equals the outline's exactly.

    Args:
        lattice: where the outline lies.
        rings: frame points.
        may_touch: whether the outline may meet itself in single points, as a region may; a
            piece may not, since it would hang together by nothing.

    Raises:
        OutlineError: when a ring is not closed and simple, is not on the lattice, rings meet
            or overlap, or the outline is larger than `MAX_SIZE`.

    Example:
        >>> from fabkit.model.lattice import LATTICES
        >>> sorted(cells_of_rings(LATTICES["square"], [((0, 0), (4, 0), (4, 2), (0, 2))]))
        [(1, 1), (3, 1)]
    """
    # Sizes are judged before anything is walked: four corners can enclose a continent.
    enclosed = sum(abs(area2(ring)) for ring in rings) // lattice.cell_area2
    if enclosed > _MAX_EDGES:
        raise OutlineError(f"encloses more than {MAX_SIZE} cells")
    if sum(_length(ring) for ring in rings) > _MAX_EDGES * lattice.per_unit:
        raise OutlineError(f"is longer than {_MAX_EDGES} units")
    paths = [_walk_around(lattice, ring) for ring in rings]
    _refuse_meetings(lattice, paths, may_touch)
    cells = frozenset(_scan(lattice, paths))
    if len(cells) > MAX_SIZE:
        raise OutlineError(f"encloses more than {MAX_SIZE} cells")
    return cells


def rings_of_cells(lattice: Lattice, cells: Iterable[Cell]) -> tuple[Ring, ...]:
    """The outline of a set of cells: outer rings counter-clockwise, holes clockwise.

    Where the cells meet in a single point, a ring stays with the cells it came along. Rings are
    canonical, the one with the least corner comes first.
    """
    inside = {edge for cell in cells for edge in lattice.cell_edges(cell)}
    boundary = {(start, end) for start, end in inside if (end, start) not in inside}
    ways_on: dict[Point, list[Point]] = defaultdict(list)
    for start, end in boundary:
        ways_on[start].append(end)
    rings = []
    while boundary:
        before, here = edge = min(boundary)
        ring = []
        while edge in boundary:
            boundary.remove(edge)
            ring.append(edge[0])
            before, here = edge
            edge = (here, _hugging(before, here, ways_on[here]))
        rings.append(canonical_ring(ring))
    return tuple(sorted(rings))


def parts_of_cells(lattice: Lattice, cells: AbstractSet[Cell]) -> list[frozenset[Cell]]:
    """The parts into which cells fall when only shared edges hold them together.

    The one with the least cell comes first. The outline of each has one outer ring.
    """
    owner = {edge: cell for cell in cells for edge in lattice.cell_edges(cell)}
    waiting, parts = set(cells), []
    while waiting:
        part = set[Cell]()
        frontier = [waiting.pop()]
        while frontier:
            part.add(frontier[-1])
            for start, end in lattice.cell_edges(frontier.pop()):
                neighbour = owner.get((end, start))
                if neighbour in waiting:
                    waiting.remove(neighbour)
                    frontier.append(neighbour)
        parts.append(frozenset(part))
    return sorted(parts, key=min)


def spelt(lattice: Lattice, point: Point) -> str:
    """A frame point as a person writes it."""
    return "({:g}, {:g})".format(*(value / lattice.per_unit for value in point))


def _edges(ring: Sequence[Point]) -> Iterator[tuple[Point, Point]]:
    return zip(ring, (*ring[1:], *ring[:1]), strict=True)


def _vector(start: Point, end: Point) -> Point:
    return end[0] - start[0], end[1] - start[1]


def _length(ring: Sequence[Point]) -> int:
    """The ring's length in frame steps, a diagonal step counting one."""
    return sum(max(map(abs, _vector(start, end))) for start, end in _edges(ring))


def _cross(a: Point, b: Point) -> int:
    return a[0] * b[1] - a[1] * b[0]


def _walk_around(lattice: Lattice, ring: Ring) -> list[Point]:
    """Every corner of a cell that the ring passes, in order."""
    if len(ring) > MAX_SIZE:
        raise OutlineError(f"has {len(ring)} corners; at most {MAX_SIZE} are allowed")
    if len(ring) < 3:
        corners = "1 corner" if len(ring) == 1 else f"{len(ring)} corners"
        raise OutlineError(f"has {corners}; at least 3 are needed")
    path: list[Point] = []
    for start, end in _edges(ring):
        edge = f"the edge from {spelt(lattice, start)} to {spelt(lattice, end)}"
        if start == end:
            raise OutlineError(
                f"the corner {spelt(lattice, start)} stands twice in a row; "
                "each corner is listed once, and the outline closes by itself"
            )
        steps = lattice.walk(start, end)
        if steps is None:
            raise OutlineError(
                f"{edge} does not run along the {lattice.name} lattice; {_EDGES_ARE[lattice.name]}"
            )
        path += steps
    return path


_EDGES_ARE = {
    "square": "edges go straight across or up, between whole numbers",
    "quarter-square": "edges follow grid lines between whole numbers, or diagonals of squares",
    "triangular": "edges are sides of hexagons",
}


def _refuse_meetings(lattice: Lattice, paths: list[list[Point]], may_touch: bool) -> None:
    edges: set[tuple[Point, Point]] = set()
    points: set[Point] = set()
    meetings: set[Point] = set()
    for path in paths:
        for start, end in _edges(path):
            if (start, end) in edges or (end, start) in edges:
                raise OutlineError(
                    f"it runs twice along the edge from {spelt(lattice, start)} "
                    f"to {spelt(lattice, end)}"
                )
            if start in points and not may_touch:
                raise OutlineError(
                    f"it meets itself at {spelt(lattice, start)}; a piece's outline passes no "
                    "point twice"
                )
            if start in points:
                meetings.add(start)
            edges.add((start, end))
            points.add(start)
    if meetings:
        _refuse_crossings(lattice, paths, meetings)


def _refuse_crossings(lattice: Lattice, paths: list[list[Point]], meetings: set[Point]) -> None:
    """Where an outline meets itself it may touch, but a crossing leaves unclear what is inside."""
    passes: dict[Point, list[tuple[Fraction, Fraction]]] = defaultdict(list)
    for path in paths:
        for before, here, after in zip(
            (*path[-1:], *path[:-1]), path, (*path[1:], *path[:1]), strict=True
        ):
            if here not in meetings:
                continue
            back, on = _turn(_vector(here, before)), _turn(_vector(here, after))
            for low, high in passes[here]:
                if (low < back < high) != (low < on < high):
                    raise OutlineError(
                        f"it crosses itself at {spelt(lattice, here)}; outlines lie apart, touch "
                        "in corners, or lie inside each other as holes do"
                    )
            passes[here].append((min(back, on), max(back, on)))


def _scan(lattice: Lattice, paths: list[list[Point]]) -> Iterator[Cell]:
    """Row by row of centroids: between each odd and the following even crossing lie cells."""
    crossings: dict[int, list[int]] = defaultdict(list)
    for path in paths:
        for a, b in _edges(path):
            (x, low), (_, high) = (a, b) if a[1] < b[1] else (b, a)
            slope = (b[0] - a[0]) // (b[1] - a[1]) if a[1] != b[1] else 0
            for y in range(low, high):  # half open: a corner counts for one of its two edges
                crossings[y].append(x + slope * (y - low))
    (ux, _), (vx, vy) = lattice.basis
    for y, row_crossings in crossings.items():
        row_crossings.sort()
        period, height = divmod(y, vy)
        offsets = [kx + period * vx for kx, ky in lattice.corners if ky == height]
        for left, right in zip(row_crossings[::2], row_crossings[1::2], strict=True):
            for offset in offsets:
                yield from ((x, y) for x in range(left + (offset - left) % ux, right, ux))


def _hugging(before: Point, here: Point, ways_on: list[Point]) -> Point:
    """The way on that keeps to the cells on the left: first clockwise from the way back."""
    if len(ways_on) == 1:
        return ways_on[0]
    back = _turn(_vector(here, before))
    return min(ways_on, key=lambda there: (back - _turn(_vector(here, there))) % 4)


def _turn(vector: Point) -> Fraction:
    """A number in 0..4 that grows with the vector's angle (exact, unlike the angle itself)."""
    x, y = vector
    across = Fraction(x, abs(x) + abs(y))
    return 1 - across if y >= 0 else 3 + across
