"""Convert between outlines and cells of a lattice, in exact integers.

An outline is a list of rings of frame points. `cells_of_rings` and `rings_of_cells` are
inverses of each other: outer rings come out counter-clockwise, holes clockwise, each
beginning at its least corner.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction

from fabkit.core.errors import pluralize
from fabkit.model.lattice import Cell, Lattice, Point, Ring

#: Limit for corners and for cells.
MAX_SIZE = 10_000
#: Limit for coordinates, in grid units.
LARGEST_COORDINATE = 10_000
_MAX_EDGES = 10 * MAX_SIZE


class OutlineError(ValueError):
    """An outline that does not bound cells; the message says where and why."""


def area2(ring: Sequence[Point]) -> int:
    """Return twice the signed area in squared frame steps; positive when counter-clockwise."""
    return sum(x0 * y1 - x1 * y0 for (x0, y0), (x1, y1) in _edges(ring))


def canonical_ring(ring: Sequence[Point]) -> Ring:
    """Return the ring without corners on straight edges, beginning at its least corner."""
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
    """Return the cells inside an outline, by the even-odd rule on their centroids.

    The direction of the rings does not matter; the cells' area equals the outline's exactly.

    Args:
        rings: frame points.
        may_touch: whether the outline may touch itself in single points, as a region may; a
            piece must not, since it would break there.

    Raises:
        OutlineError: when a ring is not closed and simple, is not on the lattice, rings meet
            or overlap, or the outline is larger than `MAX_SIZE`.

    Example:
        >>> from fabkit.model.lattice import LATTICES
        >>> sorted(cells_of_rings(LATTICES["square"], [((0, 0), (4, 0), (4, 2), (0, 2))]))
        [(1, 1), (3, 1)]
    """
    # Check sizes first: four corners can enclose an enormous area.
    enclosed = sum(abs(area2(ring)) for ring in rings) // area2(lattice.ring(lattice.first[0]))
    if enclosed > _MAX_EDGES:
        raise OutlineError(f"encloses more than {MAX_SIZE} cells")
    if sum(_length(ring) for ring in rings) > _MAX_EDGES * lattice.per_unit:
        raise OutlineError(f"is longer than {_MAX_EDGES} units")
    paths = [_walk_around(lattice, ring) for ring in rings]
    _refuse_contacts(lattice, paths, may_touch)
    cells = frozenset(_scan(lattice, paths))
    if len(cells) > MAX_SIZE:
        raise OutlineError(f"encloses more than {MAX_SIZE} cells")
    return cells


def rings_of_cells(lattice: Lattice, cells: Iterable[Cell]) -> tuple[Ring, ...]:
    """Return the outline of a set of cells: outer rings counter-clockwise, holes clockwise.

    Where cells touch in a single point, a ring continues along the same cells. Rings are canonical,
    the one with the least corner comes first.
    """
    inside = {edge for cell in cells for edge in lattice.cell_edges(cell)}
    boundary = {(start, end) for start, end in inside if (end, start) not in inside}
    successors: dict[Point, list[Point]] = defaultdict(list)
    for start, end in boundary:
        successors[start].append(end)
    rings = []
    while boundary:
        before, here = edge = min(boundary)
        ring = []
        while edge in boundary:
            boundary.remove(edge)
            ring.append(edge[0])
            before, here = edge
            edge = (here, _next_corner(before, here, successors[here]))
        rings.append(canonical_ring(ring))
    return tuple(sorted(rings))


def parts_of_cells(lattice: Lattice, cells: AbstractSet[Cell]) -> list[frozenset[Cell]]:
    """Return the edge-connected components of a set of cells.

    The one with the least cell comes first. The outline of each has one outer ring.
    """
    owner = {edge: cell for cell in cells for edge in lattice.cell_edges(cell)}
    waiting = set(cells)
    parts = []
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


def format_point(lattice: Lattice, point: Point) -> str:
    """Format a frame point in grid units."""
    return "({:g}, {:g})".format(*(value / lattice.per_unit for value in point))


def _edges(ring: Sequence[Point]) -> Iterator[tuple[Point, Point]]:
    return zip(ring, (*ring[1:], *ring[:1]), strict=True)


def _vector(start: Point, end: Point) -> Point:
    return end[0] - start[0], end[1] - start[1]


def _length(ring: Sequence[Point]) -> int:
    """Return the ring's length in frame steps, a diagonal step counting one."""
    return sum(max(map(abs, _vector(start, end))) for start, end in _edges(ring))


def _cross(a: Point, b: Point) -> int:
    return a[0] * b[1] - a[1] * b[0]


def _walk_around(lattice: Lattice, ring: Ring) -> list[Point]:
    """Return every corner of a cell that the ring passes, in order."""
    if len(ring) > MAX_SIZE:
        raise OutlineError(f"has {len(ring)} corners; at most {MAX_SIZE} are allowed")
    if len(ring) < 3:
        raise OutlineError(f"has {pluralize(len(ring), 'corner')}; at least 3 are needed")
    path: list[Point] = []
    for start, end in _edges(ring):
        edge = f"the edge from {format_point(lattice, start)} to {format_point(lattice, end)}"
        if start == end:
            raise OutlineError(
                f"the corner {format_point(lattice, start)} is repeated; "
                "list each corner once, the outline closes automatically"
            )
        steps = lattice.walk(start, end)
        if steps is None:
            raise OutlineError(
                f"{edge} does not run along the {lattice.name} lattice; {lattice.edges}"
            )
        path += steps
    return path


def _refuse_contacts(lattice: Lattice, paths: list[list[Point]], may_touch: bool) -> None:
    edges: set[tuple[Point, Point]] = set()
    points: set[Point] = set()
    contacts: set[Point] = set()
    for path in paths:
        for start, end in _edges(path):
            if (start, end) in edges or (end, start) in edges:
                raise OutlineError(
                    f"it runs twice along the edge from {format_point(lattice, start)} "
                    f"to {format_point(lattice, end)}"
                )
            if start in points:
                contacts.add(start)
                if not may_touch:
                    where = format_point(lattice, start)
                    raise OutlineError(f"it touches itself at {where}; a piece's outline must not")
            edges.add((start, end))
            points.add(start)
    if contacts:
        _refuse_crossings(lattice, paths, contacts)


def _refuse_crossings(lattice: Lattice, paths: list[list[Point]], contacts: set[Point]) -> None:
    """Raise if the outline crosses itself, so that its inside is ambiguous; it may touch itself."""
    passes: dict[Point, list[tuple[Fraction, Fraction]]] = defaultdict(list)
    for path in paths:
        for before, here, after in zip(
            (*path[-1:], *path[:-1]), path, (*path[1:], *path[:1]), strict=True
        ):
            if here not in contacts:
                continue
            back, on = _turn(_vector(here, before)), _turn(_vector(here, after))
            for low, high in passes[here]:
                if (low < back < high) != (low < on < high):
                    raise OutlineError(
                        f"it crosses itself at {format_point(lattice, here)}; rings must be "
                        "disjoint, nested (as holes are) or touch at corners"
                    )
            passes[here].append((min(back, on), max(back, on)))


def _scan(lattice: Lattice, paths: list[list[Point]]) -> Iterator[Cell]:
    """Scan rows of centroids: cells are between each odd crossing and the next even one."""
    crossings: dict[int, list[int]] = defaultdict(list)
    for path in paths:
        for a, b in _edges(path):
            (x, low), (end_x, high) = (a, b) if a[1] < b[1] else (b, a)
            for y in range(low, high):  # half open: a corner counts for one of its two edges
                crossings[y].append(x - (end_x - x) * (low - y) // (high - low))  # rounded up
    (ux, _), (vx, vy) = lattice.basis
    for y, row_crossings in crossings.items():
        row_crossings.sort()
        period, height = divmod(y, vy)
        offsets = [kx + period * vx for kx, ky in lattice.corners if ky == height]
        for left, right in zip(row_crossings[::2], row_crossings[1::2], strict=True):
            for offset in offsets:
                yield from ((x, y) for x in range(left + (offset - left) % ux, right, ux))


def _next_corner(before: Point, here: Point, successors: list[Point]) -> Point:
    """Return the next corner that keeps the same cells on the left: first clockwise from behind."""
    if len(successors) == 1:
        return successors[0]
    back = _turn(_vector(here, before))
    return min(successors, key=lambda there: (back - _turn(_vector(here, there))) % 4)


def _turn(vector: Point) -> Fraction:
    """Return a number in 0..4 that grows with the vector's angle (exact, unlike the angle)."""
    x, y = vector
    across = Fraction(x, abs(x) + abs(y))
    return 1 - across if y >= 0 else 3 + across
