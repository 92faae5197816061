"""How the faces of a body hang together: gaps, turned faces, faces of no extent, and shells.

Nothing here asks where faces lie in space, except for heights, volumes and what is inside what.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabkit.mesh.body import Body, Points
from fabkit.mesh.manifold import is_solid

#: Positions of faces or corners.
Positions = NDArray[np.int64]

#: A face less high than this has its corners on one line. Rounding to the single precision of an
#: STL file puts a corner onto a line or leaves it much farther away (the steps are 2e-6 mm at
#: 16 mm), and the flattest slivers of our own exports, which are legitimate, are 6e-5 mm high.
FLAT_MM = 1e-6
#: Pairs of a point and a face that are looked at together: as many as a processor has at hand.
_PAIRS_AT_ONCE = 1 << 13
#: Pairs of a point and a face that one question may cost: a few seconds.
_MOST_PAIRS = 1 << 24


# --- edges --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Sides:
    """The sides of all faces that have three different corners.

    Attributes:
        faces: whose side it is, shape (k,).
        rises: whether the face runs along it from its smaller corner to the larger one.
        edge: which edge it is, shape (k,), a position in `ends`.
        ends: the two corners of each edge, the smaller first, shape (edges, 2).
        counts: how many faces share each edge, shape (edges,).
    """

    faces: Positions
    rises: NDArray[np.bool_]
    edge: Positions
    ends: Positions
    counts: Positions


def _sides(body: Body) -> _Sides:
    from trimesh.geometry import faces_to_edges
    from trimesh.grouping import unique_rows

    has_three = (body.faces != np.roll(body.faces, 1, axis=1)).all(axis=1)
    edges, of = faces_to_edges(body.faces[has_three], return_index=True)
    ends = np.sort(edges, axis=1)
    first, edge = unique_rows(ends)
    faces = np.flatnonzero(has_three)[of]
    return _Sides(faces, edges[:, 0] < edges[:, 1], edge, ends[first], np.bincount(edge))


def open_edges(body: Body) -> Positions:
    """The edges that are not shared by exactly two faces.

    Faces with two equal corners have no extent and share no edge.

    Returns:
        The two corners of each edge, the smaller position first, shape (k, 2), sorted.

    Example:
        >>> corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
        >>> open_edges(Body("a face", corners, np.array([[0, 1, 2]]))).tolist()
        [[0, 1], [0, 2], [1, 2]]
    """
    sides = _sides(body)
    return np.unique(sides.ends[sides.counts != 2], axis=0)


def turned_faces(body: Body) -> Positions:
    """The faces that disagree with their neighbours about what is outside.

    Two faces that share an edge with each other alone agree if they run along it in opposite
    directions. If turning some faces over makes all agree, the fewer ones are named; otherwise
    (the surface has one side, like a Moebius strip) all that disagree with a neighbour.
    A body whose faces all face inwards agrees with itself: its volume is below 0.

    Returns:
        Positions of faces, rising, shape (k,).

    Example:
        >>> corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
        >>> faces = np.array([[0, 2, 1], [0, 1, 3], [1, 3, 2], [2, 0, 3]])
        >>> turned_faces(Body("a tetrahedron", corners, faces)).tolist()
        [2]
    """
    sides, count = _sides(body), len(body.faces)
    paired = sides.counts[sides.edge] == 2
    by_edge = np.flatnonzero(paired)[np.argsort(sides.edge[paired], kind="stable")].reshape(-1, 2)
    one, other = sides.faces[by_edge].T
    differ = np.equal(*sides.rises[by_edge].T)
    if not differ.any():
        return np.empty(0, dtype=np.int64)
    # Every face stands here twice: as it is, and (behind all these) turned over. What must go
    # together is joined, so that in each part of the surface the faces fall into two parties.
    turned = np.where(differ, count, 0)
    joined = _labels(
        2 * count,
        np.concatenate([one, one + count]),
        np.concatenate([other + turned, other + (count - turned)]),
    )
    as_is, over = joined[:count], joined[count:]
    sizes = np.bincount(as_is, minlength=2 * count)
    fewer = (sizes[as_is] < sizes[over]) | ((sizes[as_is] == sizes[over]) & (as_is > over))
    disagreeing = np.zeros(count, dtype=bool)
    disagreeing[one[differ]] = disagreeing[other[differ]] = True
    return np.flatnonzero(np.where(as_is == over, disagreeing, fewer))


def _labels(count: int, one: Positions, other: Positions) -> Positions:
    """A number for each of `count` things, the same for those that links join."""
    from trimesh.graph import connected_component_labels

    return np.asarray(connected_component_labels(np.column_stack([one, other]), count))


# --- faces --------------------------------------------------------------------------------


def degenerate_faces(body: Body) -> Positions:
    """The faces of no extent: two corners are one, or all lie on a line (see `FLAT_MM`).

    Returns:
        Positions of faces, rising, shape (k,).

    Example:
        >>> corners = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1e-4, 0]])
        >>> faces = np.array([[0, 1, 1], [0, 1, 2], [0, 2, 3]])
        >>> degenerate_faces(Body("two of three", corners, faces)).tolist()
        [0, 1]
    """
    # Put so that heights which are no number count as none.
    return np.flatnonzero(~(heights(body.vertices[body.faces]) >= FLAT_MM))


def duplicate_faces(body: Body) -> Positions:
    """The faces that have the same three corners as an earlier one, whichever way round.

    Returns:
        Positions of faces, rising, shape (k,).

    Example:
        >>> faces = np.array([[0, 1, 2], [0, 3, 1], [2, 1, 0], [1, 2, 0]])
        >>> duplicate_faces(Body("two sheets", np.eye(4, 3), faces)).tolist()
        [2, 3]
    """
    return np.flatnonzero(~body.as_trimesh.unique_faces())


def heights(triangles: Points) -> NDArray[np.float64]:
    """The least height of triangles (m, 3, 3): how far a corner is from the longest side.

    Returns:
        In mm, shape (m,); 0 for a face whose corners are all at one place.

    Example:
        >>> heights(np.array([[[0.0, 0, 0], [4, 0, 0], [0, 3, 0]]])).tolist()
        [2.4]
    """
    sides = np.roll(triangles, -1, axis=1) - triangles
    longest = np.linalg.norm(sides, axis=2).max(axis=1)
    doubled_areas = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)
    # A face without sides has no longest one.
    return np.asarray(doubled_areas / np.where(longest == 0, 1, longest))


# --- shells -------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Shell:
    """Faces that hang together by shared edges.

    Attributes:
        faces: their positions in the body's faces, rising.
        volume_mm3: what they bound: above 0 if they face outwards, below 0 if inwards, as those
            of a cavity do. For a shell with open edges it is a rough figure.
    """

    faces: Positions
    volume_mm3: float


def shells(body: Body) -> tuple[Shell, ...]:
    """The parts of a body that hang together by shared edges.

    All faces at an edge hang together, however many they are; faces with two equal corners
    belong to no shell.

    Returns:
        The largest first, by volume with the sign left out, so that the outermost shell comes
        before its cavities even if all are turned inside out.

    Example:
        >>> corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
        >>> faces = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
        >>> large, small = shells(Body(
        ...     "a hollow tetrahedron",
        ...     np.concatenate([3 * corners, corners + 0.1]),
        ...     np.concatenate([faces, faces[:, ::-1] + 4]),
        ... ))
        >>> round(large.volume_mm3, 6), round(small.volume_mm3, 6)
        (4.5, -0.166667)
    """
    sides, count = _sides(body), len(body.faces)
    if not len(sides.faces):
        return ()
    # Faces are joined with their edges, and so with each other.
    part = _labels(count + len(sides.ends), sides.faces, count + sides.edge)
    whole = np.unique(sides.faces)
    order = whole[np.argsort(part[whole], kind="stable")]
    groups = np.split(order, np.flatnonzero(np.diff(part[order])) + 1)
    groups.sort(key=lambda faces: int(faces[0]))
    found = [Shell(faces, signed_volume(body, faces)) for faces in groups]
    return tuple(sorted(found, key=lambda shell: -abs(shell.volume_mm3)))


def signed_volume(body: Body, faces: Positions | None = None) -> float:
    """The volume that faces bound.

    Args:
        body: whose faces they are.
        faces: positions of faces; all if not given.

    Returns:
        In mm³: above 0 if the faces face outwards, below 0 if inwards. For faces that leave gaps
        it is a rough figure, measured from the middle of their box.

    Example:
        >>> corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 6]])
        >>> faces = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
        >>> round(signed_volume(Body("a tetrahedron", corners, faces)), 9)
        1.0
        >>> round(signed_volume(Body("inside out", corners, faces[:, ::-1])), 9)
        -1.0
    """
    triangles = body.vertices[body.faces if faces is None else body.faces[faces]]
    if not len(triangles):
        return 0.0
    places = triangles.reshape(-1, 3)
    # Far from the origin, the volumes below would be differences of large numbers.
    a, b, c = np.moveaxis(triangles - (places.min(axis=0) + places.max(axis=0)) / 2, 1, 0)
    return float((a * np.cross(b, c)).sum() / 6)


def encloses(body: Body, outer: Shell, inner: Shell) -> bool:
    """Whether one shell lies inside another, as a cavity lies inside its body.

    All corners of the inner one that are not corners of the outer one, too, must lie inside; of
    very large shells, a spread of them is looked at. That says all if the faces of the two do not
    cross, which is for `fabkit.mesh.crossing` to find out. A corner that touches a face
    of the outer shell counts as inside or outside as rounding has it.

    Args:
        body: whose shells they are.
        outer: facing outwards or inwards; gaps do no harm while they are seen from the inner
            shell in less than half of all directions.
        inner: the same.

    Returns:
        Whether it does; a shell does not enclose itself.

    Example:
        >>> corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
        >>> faces = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
        >>> body = Body(
        ...     "a hollow tetrahedron",
        ...     np.concatenate([6 * corners, corners + 0.5]),
        ...     np.concatenate([faces, faces[:, ::-1] + 4]),
        ... )
        >>> large, small = shells(body)
        >>> encloses(body, large, small), encloses(body, small, large)
        (True, False)
    """
    around = body.vertices[body.faces[outer.faces]]
    corners = body.vertices[np.setdiff1d(body.faces[inner.faces], body.faces[outer.faces])]
    if not len(corners):
        return False
    low, high = around.min(axis=(0, 1)), around.max(axis=(0, 1))
    if not bool(((low <= corners) & (corners <= high)).all()):
        return False
    spread = corners[:: 1 + len(corners) * len(around) // _MOST_PAIRS]
    return bool((np.abs(_winding_numbers(around, spread)) > 0.5).all())


def _winding_numbers(triangles: Points, points: Points) -> NDArray[np.float64]:
    """How often triangles (m, 3, 3) wind around each point: 1 or -1 inside, 0 outside.

    By van Oosterom and Strackee's formula for the solid angle of a triangle.
    """
    found = []
    for some in np.array_split(points, 1 + len(points) * len(triangles) // _PAIRS_AT_ONCE):
        # Coordinates first, then points, then triangles: numpy is quick along long rows.
        a, b, c = (triangles[:, at].T[:, None] - some.T[:, :, None] for at in range(3))
        la, lb, lc = (np.sqrt((side**2).sum(axis=0)) for side in (a, b, c))
        ab, bc, ca = (a * b).sum(axis=0), (b * c).sum(axis=0), (c * a).sum(axis=0)
        over = (a * np.cross(b, c, axis=0)).sum(axis=0)
        below = la * lb * lc + ab * lc + bc * la + ca * lb
        found.append(np.arctan2(over, below).sum(axis=1) / (2 * np.pi))
    return np.concatenate(found)


# --- several parts in one mesh ------------------------------------------------------------

#: A shell is a part of its own from this part of the largest one's volume; less is a fault in it.
_A_PART = 0.05
#: Solids whose common part is smaller than this part of the smaller one only touch.
_TOUCHING = 1e-6
#: A mesh of more shells than this is no plate.
_MOST_SHELLS = 300


def separate(body: Body) -> list[Body]:
    """The parts of a mesh that lie apart from each other, each with its cavities.

    Shells stay together when one lies in the other, as a cavity does, or both take some room, which
    is a fault of one part.

    Returns:
        The body itself when it is one part; else one body for each part, from left to right.

    Example:
        >>> corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
        >>> faces = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
        >>> two = Body("two", np.vstack([corners, corners + 5]), np.vstack([faces, faces + 4]))
        >>> [one.name for one in separate(two)]
        ['two (1)', 'two (2)']
    """
    found = shells(body)
    if not 1 < len(found) <= _MOST_SHELLS:
        return [body]
    corners = [body.vertices[body.faces[shell.faces].ravel()] for shell in found]
    low = np.array([some.min(axis=0) for some in corners])
    high = np.array([some.max(axis=0) for some in corners])
    meet = np.asarray((low[:, None] <= high).all(axis=2) & (low <= high[:, None]).all(axis=2))
    sizes = np.array([abs(shell.volume_mm3) for shell in found])
    for one, other in np.argwhere(np.triu(meet, 1)).tolist():
        if sizes[[one, other]].min() > _A_PART * sizes.max() or found[other].volume_mm3 < 0:
            meet[one, other] = meet[other, one] = _hang_together(body, found[one], found[other])
    group = _labels(len(found), *np.nonzero(meet))
    groups = [np.flatnonzero(group == number) for number in range(group.max() + 1)]
    if len(groups) < 2 or any(sizes[some].max() <= _A_PART * sizes.max() for some in groups):
        return [body]
    groups.sort(key=lambda some: tuple(low[some[0]].tolist()))
    parts = []
    for number, some in enumerate(groups, 1):
        chosen = np.sort(np.concatenate([found[at].faces for at in some]))
        parts.append(_some_faces(body, chosen, f"{body.name} ({number})"))
    return parts


def _some_faces(body: Body, chosen: Positions, name: str) -> Body:
    """A body of some faces, with only the corners that they use."""
    used, faces = np.unique(body.faces[chosen], return_inverse=True)
    return Body(name, body.vertices[used], faces.reshape(-1, 3))


def _hang_together(body: Body, one: Shell, other: Shell) -> bool:
    """Whether of two shells, the larger first, one lies in the other, or both take some room.

    So they do when one of them is open, which leaves it open.
    """
    if encloses(body, one, other):
        return True
    bodies = [_some_faces(body, np.sort(some.faces), body.name) for some in (one, other)]
    if other.volume_mm3 < 0:  # a cavity that reaches out, or a part that is inside out
        bodies[1] = Body(body.name, bodies[1].vertices, bodies[1].faces[:, ::-1])
    solids = [some.manifold for some in bodies]
    if not all(map(is_solid, solids)):
        return True
    return bool((solids[0] ^ solids[1]).volume() > _TOUCHING * abs(other.volume_mm3))
