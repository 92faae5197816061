"""Self-intersections: faces that cut through each other.

Two faces intersect if they have inner points in common and one would have to be moved by more than
`TOUCHING_MM` to separate them, whether they share corners or not (as when folded flat onto each
other). A surface may also pass through a face exactly where two of its own faces meet; then both
intersect that face, although each of them only touches it.

Candidates come from shapely's tree of boxes. A pair is disjoint if, along some axis, one ends where
the other begins (separating axis theorem). It is enough to try a few axes: the normal of either
face, and the cross products of their edges; for coplanar faces, the in-plane normals of their
edges.

Numpy is fast along long rows, so triangles have the shape (3, 3, m),
coordinates first and corners in the middle, vectors (3, m), pairs of positions (2, p).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
import shapely
from numpy.typing import NDArray

from fabkit.mesh.mesh import Mesh, Points
from fabkit.mesh.topology import FLAT_MM, Indices, triangle_heights

#: Faces that reach less than this into each other touch: single precision moves corners by up to
#: 1.3e-5 mm at coordinates of 256 mm, so faces that touched may overlap by up to twice that.
TOUCHING_MM = 3e-5
#: At most this many pairs are reported.
MAX_INTERSECTIONS = 1000
#: Maximum number of pairs whose boxes are compared at once: a few hundred megabytes.
_BOXES_AT_ONCE = 1 << 22
#: So many pairs of triangles are tested at once: a hundred megabytes.
_PAIRS_AT_ONCE = 1 << 17


def self_intersections(mesh: Mesh, touching_mm: float = TOUCHING_MM) -> Indices:
    """Return the pairs of faces that intersect, or overlap in one plane.

    At most `MAX_INTERSECTIONS`, positions of faces, the smaller first, shape (k, 2), sorted. The
    work grows about linearly with the faces, but with the square of those around one corner. Faces
    of no extent (`fabkit.mesh.topology.degenerate_faces`) cross nothing. `touching_mm` is larger
    than `TOUCHING_MM` for a mesh with less exact corners.

    Example:
        >>> corners = [[0.0, 0, 0], [9, 0, 0], [0, 9, 0], [1, 1, -1], [2, 2, -1], [1, 2, 1]]
        >>> pierced = Mesh("a face", np.array(corners), np.array([[0, 1, 2], [3, 4, 5]]))
        >>> self_intersections(pierced).tolist()
        [[0, 1]]
    """
    # Scaled so that the limit becomes `TOUCHING_MM`.
    vertices = mesh.vertices * (TOUCHING_MM / touching_mm)
    tall = triangle_heights(vertices[mesh.faces])
    # Broad faces come first, since rounding tilts their planes least.
    order = np.argsort(-tall, kind="stable")[: np.count_nonzero(tall >= FLAT_MM)]
    faces = mesh.faces[order].T
    triangles = np.ascontiguousarray(np.moveaxis(vertices[faces], 2, 0))
    normals = np.cross(_side(triangles, 0), _side(triangles, 1), axis=0)
    normals /= np.linalg.norm(normals, axis=0)
    crossings = [np.empty((2, 0), dtype=np.int64)]
    edges_inside = [np.empty((5, 0), dtype=np.int64)]
    step = max(32, _BOXES_AT_ONCE // max(1, len(order)))
    for pairs in _near_pairs(triangles, step):
        both_ways = pairs, pairs[::-1]
        # How far the corners of the other face are above the first one's plane, (3, p).
        above = []
        for first, second in both_ways:
            offsets = triangles.take(second, 2) - triangles[:, :1].take(first, 2)
            above.append(_along(offsets, normals.take(first, 1)))
        crossings.append(_intersecting(triangles, normals, pairs, *above))
        edges_inside += [
            _edges_inside(faces, triangles, normals, *each)
            for each in zip(both_ways, above, strict=True)
        ]
        if sum(pairs.shape[1] for pairs in crossings) >= MAX_INTERSECTIONS:
            break
    # A surface passes through if one of its edges lies in a face and it continues on both sides.
    edges = _by_step(edges_inside, step)
    _, edge = np.unique(edges[[0, 2, 3]], axis=1, return_inverse=True)
    sides = [np.bincount(edge.ravel(), edges[4] == up, edges.shape[1]) > 0 for up in (0, 1)]
    passing = edges[:2, (sides[0] & sides[1])[edge.ravel()]]
    crossing = np.concatenate([_by_step(crossings, step), passing], axis=1)
    sorted_faces = order[crossing[:, :MAX_INTERSECTIONS]]
    return np.unique(np.sort(sorted_faces, axis=0).T, axis=0)


def _by_step(batches: Sequence[Indices], step: int) -> Indices:
    """Join batches of pairs, sorted by the step of the broader face, so that the pairs that are
    reported do not depend on how many steps a batch has."""
    joined = np.concatenate(batches, axis=1)
    return joined[:, np.argsort(joined[:2].min(axis=0) // step, kind="stable")]


def _near_pairs(triangles: Points, step: int) -> Iterator[Indices]:
    """Yield all pairs of triangles whose boxes meet, the earlier one first, in batches of shape (2,
    p); the boxes of `step` triangles are compared at once."""
    if not triangles.shape[-1]:
        return
    low, high = triangles.min(axis=1) - TOUCHING_MM, triangles.max(axis=1) + TOUCHING_MM
    # A tree over the two longest sides of the mesh separates them best.
    x, y, z = np.argsort(low.min(axis=1) - high.max(axis=1))
    boxes = shapely.box(low[x], low[y], high[x], high[y])
    tree = shapely.STRtree(boxes)
    batch, size = [np.empty((2, 0), dtype=np.int64)], 0
    for start in range(0, len(boxes), step):
        first, second = tree.query(boxes[start : start + step])
        first += start
        is_near = (low[z, first] <= high[z, second]) & (low[z, second] <= high[z, first])
        is_near &= first < second
        batch.append(np.stack([first[is_near], second[is_near]]))
        size += batch[-1].shape[1]
        if size >= _PAIRS_AT_ONCE:
            yield np.concatenate(batch, axis=1)
            batch, size = batch[:1], 0
    yield np.concatenate(batch, axis=1)


def _intersecting(
    triangles: Points, normals: Points, pairs: Indices, slim_above: Points, broad_above: Points
) -> Indices:
    """Return the pairs, of those given (the broader face first), that have inner points in common:
    tilted against each other, or coplanar."""
    flat = pairs[:, (np.abs(slim_above) <= TOUCHING_MM).all(axis=0)]
    through = [
        (above.min(axis=0) < -TOUCHING_MM) & (above.max(axis=0) > TOUCHING_MM)
        for above in (slim_above, broad_above)
    ]
    tilted = pairs[:, through[0] & through[1]]
    for edge, other_edge in product(range(3), range(3)):
        broad, slim = (triangles.take(pair, 2) for pair in tilted)
        axes = np.cross(_side(broad, edge), _side(slim, other_edge), axis=0)
        tilted = tilted[:, _overlap(broad, slim, axes)]
    for which, edge in product(range(2), range(3)):
        both = [triangles.take(pair, 2) for pair in flat]
        axes = np.cross(normals.take(flat[0], 1), _side(both[which], edge), axis=0)
        flat = flat[:, _overlap(both[0], both[1], axes)]
    return np.concatenate([tilted, flat], axis=1)


def _edges_inside(
    faces: Indices, triangles: Points, normals: Points, pairs: Indices, above: Points
) -> Indices:
    """Return the edges of the second face of each pair that lie inside the first one, shape (5, k).

    The corners of the second face are `above` the first one (3, p). Each column has the two faces,
    the two corners of the edge, the smaller first, and whether the second face goes on above the
    first one or below (1 or 0).
    """
    off = np.abs(above) > TOUCHING_MM
    single = np.flatnonzero(np.count_nonzero(off, axis=0) == 1)
    tips = off[:, single].argmax(axis=0)
    ground, other = pairs[:, single]
    ends = (tips + 1) % 3, (tips + 2) % 3
    corners = np.sort([faces[end, other] for end in ends], axis=0)
    crossings = np.vstack([ground, other, corners, above[tips, single] > 0])
    # An edge is a triangle of zero width.
    edges = np.stack([triangles[:, ends[corner], other] for corner in (0, 1, 1)], axis=1)
    for side in range(4):
        base = triangles.take(crossings[0], 2)
        along = _side(base, side) if side < 3 else _side(edges, 0)
        inside = _overlap(base, edges, np.cross(normals.take(crossings[0], 1), along, axis=0))
        crossings, edges = crossings[:, inside], edges[..., inside]
    return crossings


def _overlap(first: Points, second: Points, axes: Points) -> NDArray[np.bool_]:
    """Return whether the triangles of each pair overlap along an axis; that of parallel edges, of
    length 0, separates nothing."""
    a, b = _along(first, axes), _along(second, axes)
    depth = np.minimum(a.max(axis=0) - b.min(axis=0), b.max(axis=0) - a.min(axis=0))
    return np.asarray(depth >= TOUCHING_MM * np.linalg.norm(axes, axis=0))


def _along(triangles: Points, axes: Points) -> Points:
    """Return the positions of the corners of each triangle along its axis, shape (3, m)."""
    x, y, z = triangles
    return np.asarray(x * axes[0] + y * axes[1] + z * axes[2])


def _side(triangles: Points, corner: int) -> Points:
    """Return the vector from a corner of each triangle to the next one."""
    return np.asarray(triangles[:, (corner + 1) % 3] - triangles[:, corner])
