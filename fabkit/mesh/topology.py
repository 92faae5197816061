"""How the faces of a body hang together: gaps, turned faces, faces of no extent, and shells.

Nothing here asks where faces lie in space, except for heights, volumes and what is inside what.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabkit.mesh.body import Body, Faces, Points

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


# --- edges --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Sides:
    """The sides of all faces that have three different corners, those of one edge in a row.

    Attributes:
        ends: the corners of each side, the smaller first, shape (k, 2).
        faces: whose side it is, shape (k,).
        rises: whether the face runs along it from the smaller corner to the larger one.
        starts: where the row of each edge begins, shape (edges,).
        counts: how many faces share each edge, shape (edges,).
    """

    ends: Positions
    faces: Positions
    rises: NDArray[np.bool_]
    starts: Positions
    counts: Positions


def _sides(body: Body) -> _Sides:
    whole = np.flatnonzero(_has_three_corners(body.faces))
    # The three sides of a face, each with the corner that follows in the face.
    first = body.faces[whole].ravel()
    second = np.roll(body.faces[whole], -1, axis=1).ravel()
    low, high = np.minimum(first, second), np.maximum(first, second)
    # One key per edge; it fits, since no mesh in memory has more than 2**31 corners.
    keys = low * len(body.vertices) + high
    order = np.argsort(keys, kind="stable")
    _, starts, counts = np.unique(keys[order], return_index=True, return_counts=True)
    return _Sides(
        np.column_stack([low, high])[order],
        np.repeat(whole, 3)[order],
        (first < second)[order],
        starts,
        counts,
    )


def open_edges(body: Body) -> Positions:
    """The edges that are not shared by exactly two faces.

    Faces with two equal corners have no extent and share no edge.

    Args:
        body: in any state.

    Returns:
        The two corners of each edge, the smaller position first, shape (k, 2), sorted.

    Example:
        >>> corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
        >>> open_edges(Body("a face", corners, np.array([[0, 1, 2]]))).tolist()
        [[0, 1], [0, 2], [1, 2]]
    """
    sides = _sides(body)
    return np.asarray(sides.ends[sides.starts[sides.counts != 2]])


def turned_faces(body: Body) -> Positions:
    """The faces that disagree with their neighbours about what is outside.

    Two faces that share an edge with each other alone agree if they run along it in opposite
    directions. If turning some faces over makes all agree, the fewer ones are named; otherwise
    (the surface has one side, like a Moebius strip) all that disagree with a neighbour.
    A body whose faces all face inwards agrees with itself: its volume is below 0.

    Args:
        body: in any state.

    Returns:
        Positions of faces, rising, shape (k,).

    Example:
        >>> corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
        >>> faces = np.array([[0, 2, 1], [0, 1, 3], [1, 3, 2], [2, 0, 3]])
        >>> turned_faces(Body("a tetrahedron", corners, faces)).tolist()
        [2]
    """
    sides, count = _sides(body), len(body.faces)
    paired = sides.starts[sides.counts == 2]
    one, other = sides.faces[paired], sides.faces[paired + 1]
    differ = sides.rises[paired] == sides.rises[paired + 1]
    # Every face stands here twice: as it is, and (behind all these) turned over. What must go
    # together is joined, so that in each part of the surface the faces fall into two parties.
    turned = np.where(differ, count, 0)
    joined = _parts(
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


# --- faces --------------------------------------------------------------------------------


def degenerate_faces(body: Body) -> Positions:
    """The faces of no extent: two corners are one, or all lie on a line (see `FLAT_MM`).

    Args:
        body: in any state.

    Returns:
        Positions of faces, rising, shape (k,).

    Example:
        >>> corners = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1e-4, 0]])
        >>> faces = np.array([[0, 1, 1], [0, 1, 2], [0, 2, 3]])
        >>> degenerate_faces(Body("two of three", corners, faces)).tolist()
        [0, 1]
    """
    # Put so that heights which are no number count as none.
    return np.flatnonzero(~(heights(body) >= FLAT_MM))


def duplicate_faces(body: Body) -> Positions:
    """The faces that have the same three corners as an earlier one, whichever way round.

    Args:
        body: in any state.

    Returns:
        Positions of faces, rising, shape (k,).

    Example:
        >>> faces = np.array([[0, 1, 2], [0, 3, 1], [2, 1, 0], [1, 2, 0]])
        >>> duplicate_faces(Body("two sheets", np.eye(4, 3), faces)).tolist()
        [2, 3]
    """
    _, first = np.unique(np.sort(body.faces, axis=1), axis=0, return_index=True)
    again = np.ones(len(body.faces), dtype=bool)
    again[first] = False
    return np.flatnonzero(again)


def heights(body: Body) -> NDArray[np.float64]:
    """The least height of every face: how far a corner is from its longest side.

    Args:
        body: in any state.

    Returns:
        In mm, shape (m,); 0 for a face whose corners are all at one place.

    Example:
        >>> corners = np.array([[0.0, 0, 0], [4, 0, 0], [0, 3, 0]])
        >>> heights(Body("a face", corners, np.array([[0, 1, 2]]))).tolist()
        [2.4]
    """
    triangles = body.vertices[body.faces]
    sides = np.roll(triangles, -1, axis=1) - triangles
    longest = np.linalg.norm(sides, axis=2).max(axis=1)
    doubled_areas = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)
    # A face without sides has no longest one.
    return np.asarray(doubled_areas / np.where(longest == 0, 1, longest))


def _has_three_corners(faces: Faces) -> NDArray[np.bool_]:
    return np.asarray((faces != np.roll(faces, 1, axis=1)).all(axis=1))


# --- shells -------------------------------------------------------------------------------


def shells(body: Body) -> tuple[Shell, ...]:
    """The parts of a body that hang together by shared edges.

    All faces at an edge hang together, however many they are; faces with two equal corners
    belong to no shell.

    Args:
        body: in any state.

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
    sides = _sides(body)
    same_edge = np.ones(len(sides.faces), dtype=bool)
    same_edge[sides.starts] = False
    after = np.flatnonzero(same_edge)
    part = _parts(len(body.faces), sides.faces[after - 1], sides.faces[after])
    whole = np.flatnonzero(_has_three_corners(body.faces))
    order = whole[np.argsort(part[whole], kind="stable")]
    cuts = np.flatnonzero(np.diff(part[order])) + 1
    found = [
        Shell(faces, signed_volume(body, faces)) for faces in np.split(order, cuts) if len(faces)
    ]
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
    found = np.empty(len(points))
    step = max(1, _PAIRS_AT_ONCE // len(triangles))
    for start in range(0, len(points), step):
        # Coordinates first, then points, then triangles: numpy is quick along long rows.
        near = points[start : start + step].T[:, :, None]
        a, b, c = (np.ascontiguousarray(triangles[:, at].T)[:, None] - near for at in range(3))
        la, lb, lc = (np.sqrt(_dot(v, v)) for v in (a, b, c))
        below = la * lb * lc + _dot(a, b) * lc + _dot(b, c) * la + _dot(c, a) * lb
        angles = 2 * np.arctan2(_dot(a, np.cross(b, c, axis=0)), below)
        found[start : start + step] = angles.sum(axis=1) / (4 * np.pi)
    return found


def _dot(one: Points, other: Points) -> Points:
    return np.asarray(one[0] * other[0] + one[1] * other[1] + one[2] * other[2])


def _parts(count: int, one: Positions, other: Positions) -> Positions:
    """A number for each of `count` things, the same for those that links join.

    Every part is numbered by its least member. In each round the least member so far of a part
    gives way to a lesser one that a link leads to; the parts at least halve in number.
    """
    least = np.arange(count)
    while True:
        a, b = least[one], least[other]
        if np.array_equal(a, b):
            return least
        np.minimum.at(least, np.maximum(a, b), np.minimum(a, b))
        while not np.array_equal(further := least[least], least):
            least = further
