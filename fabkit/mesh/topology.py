"""Topology of a mesh: open edges, flipped, degenerate and duplicate faces, and shells."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabkit.mesh.mesh import Mesh, Points, welded

#: Indices of faces or vertices.
Indices = NDArray[np.int64]

#: A face with a smaller height counts as degenerate. An STL file's single precision (steps of
#: 2e-6 mm at 16 mm) moves its corners onto one line or much farther away; legitimate slivers are
#: 6e-5 mm high.
FLAT_MM = 1e-6
#: A shell is a separate part from this share of the largest one's volume; a smaller one is a fault.
_A_PART = 0.05
#: Solids only touch if they overlap by less than this share of the smaller one.
_TOUCHING = 1e-6
#: A mesh with more shells than this is not a plate.
_MOST_SHELLS = 300


def _half_edges(mesh: Mesh) -> tuple[Indices, Indices, NDArray[np.bool_]]:
    """Return the half-edges of all faces that have three different corners, sorted by edge: the
    number of the edge (its smaller corner times the number of corners, plus its larger one), the
    face it belongs to, and whether this runs along it from the smaller to the larger corner."""
    has_three = np.flatnonzero((mesh.faces != np.roll(mesh.faces, 1, axis=1)).all(axis=1))
    start = mesh.faces[has_three]
    end = np.roll(start, -1, axis=1)
    edges = (np.minimum(start, end) * len(mesh.vertices) + np.maximum(start, end)).ravel()
    order = np.argsort(edges, kind="stable")
    return edges[order], has_three[order // 3], (start < end).ravel()[order]


def open_edges(mesh: Mesh) -> Indices:
    """Return the edges that are not shared by exactly two faces: their two corners, sorted, (k, 2);
    faces with two equal corners have none."""
    edges, counts = np.unique(_half_edges(mesh)[0], return_counts=True)
    return np.column_stack(np.divmod(edges[counts != 2], len(mesh.vertices)))


def flipped_faces(mesh: Mesh) -> Indices:
    """Return the faces whose orientation is inconsistent with their neighbours'.

    Two faces that share an edge with each other alone agree if they run along it in opposite
    directions. If flipping some faces makes all agree, the smaller group is returned; otherwise (a
    one-sided surface, like a Moebius strip) all that disagree with a neighbour. A mesh whose faces
    all face inwards is consistent: its volume is negative.
    """
    edges, faces, rises = _half_edges(mesh)
    count = len(mesh.faces)
    _, first, shared_by = np.unique(edges, return_index=True, return_counts=True)
    first = first[shared_by == 2]
    first_face, second_face = faces[first], faces[first + 1]
    differ = rises[first] == rises[first + 1]
    if not differ.any():
        return np.empty(0, dtype=np.int64)
    # Every face has two nodes, as it is and flipped. Consistent nodes are joined, so that in each
    # component the faces fall into two classes.
    turned = second_face + np.where(differ, count, 0)
    as_is_links = np.column_stack([first_face, turned])
    over_links = np.column_stack([first_face + count, (turned + count) % (2 * count)])
    joined = component_labels(2 * count, np.concatenate([as_is_links, over_links]))
    as_is, flipped = joined[:count], joined[count:]
    sizes = np.bincount(as_is, minlength=2 * count)
    fewer = (sizes[as_is] < sizes[flipped]) | ((sizes[as_is] == sizes[flipped]) & (as_is > flipped))
    disagreeing = np.isin(np.arange(count), [first_face[differ], second_face[differ]])
    return np.flatnonzero(np.where(as_is == flipped, disagreeing, fewer))


def component_labels(count: int, links: Indices) -> Indices:
    """Return component labels of `count` nodes that are joined by links, shape (k, 2).

    Example:
        >>> component_labels(4, np.array([[0, 2], [2, 3]])).tolist()
        [0, 1, 0, 0]
    """
    # Not by trimesh, which takes a third of a second to import.
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(links), dtype=bool), links.T), shape=(count, count))
    return np.asarray(connected_components(graph, directed=False)[1])


def degenerate_faces(mesh: Mesh) -> Indices:
    """Return the faces without area: two corners coincide, or all are on a line (see `FLAT_MM`)."""
    # Written so that a height of nan counts as degenerate.
    return np.flatnonzero(~(triangle_heights(mesh.vertices[mesh.faces]) >= FLAT_MM))


def duplicate_faces(mesh: Mesh) -> Indices:
    """Return the faces with the same three corners as an earlier one, in either orientation."""
    corners = np.sort(mesh.faces, axis=1)
    order = np.lexsort(corners.T)
    is_again = (np.diff(corners[order], axis=0) == 0).all(axis=1)
    return np.sort(order[1:][is_again])


def triangle_heights(triangles: Points) -> NDArray[np.float64]:
    """Return the smallest heights of triangles (m, 3, 3), shape (m,): the distance of a corner from
    the longest side; 0 if all corners coincide.

    Example:
        >>> triangle_heights(np.array([[[0.0, 0, 0], [4, 0, 0], [0, 3, 0]]])).tolist()
        [2.4]
    """
    sides = np.roll(triangles, -1, axis=1) - triangles
    longest = np.linalg.norm(sides, axis=2).max(axis=1)
    doubled_areas = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)
    return np.asarray(doubled_areas / np.where(longest == 0, 1, longest))


class Shell(NamedTuple):
    """Faces (indices, ascending) connected by shared edges, and their `signed_volume`."""

    faces: Indices
    volume_mm3: float


def shells(mesh: Mesh) -> tuple[Shell, ...]:
    """Return the components of a mesh that are connected by edges, however many faces share an
    edge, the largest absolute volume first. Faces with two equal corners belong to none."""
    edges, faces, _ = _half_edges(mesh)
    shared = np.flatnonzero(edges[1:] == edges[:-1])
    links = np.column_stack([faces[shared], faces[shared + 1]])
    faces = np.unique(faces)
    labels = component_labels(len(mesh.faces), links)[faces]
    order = np.argsort(labels, kind="stable")
    groups = np.split(faces[order], np.flatnonzero(np.diff(labels[order])) + 1)
    components = [Shell(group, signed_volume(mesh, group)) for group in groups if len(group)]
    return tuple(sorted(components, key=lambda shell: -abs(shell.volume_mm3)))


def signed_volume(mesh: Mesh, faces: Indices | slice = slice(None)) -> float:
    """Return the volume bounded by faces (all if none are given), in mm³.

    It is positive if they face outwards, negative if inwards, like those of a cavity. If the faces
    leave gaps it is only approximate, measured from the centre of their bounding box.
    """
    triangles = mesh.vertices[mesh.faces[faces]]
    if not len(triangles):
        return 0.0
    # Far from the origin, the volumes below would be differences of large numbers.
    middle = (triangles.min(axis=(0, 1)) + triangles.max(axis=(0, 1))) / 2
    a, b, c = np.moveaxis(triangles - middle, 1, 0)
    return float((a * np.cross(b, c)).sum() / 6)


def encloses(mesh: Mesh, outer: Shell, inner: Shell) -> bool:
    """Return whether one shell is inside another, as a cavity is inside its body; either may face
    inwards. An open shell counts as inside, since that cannot be decided."""
    inner_mm3 = abs(inner.volume_mm3)
    if inner_mm3 >= abs(outer.volume_mm3):
        return False
    outside_mm3 = inner_mm3 - _common_mm3(_outward(mesh, outer), _outward(mesh, inner))
    return outside_mm3 < _TOUCHING * inner_mm3


def _outward(mesh: Mesh, shell: Shell) -> Mesh:
    """Return a shell of a mesh, facing outwards."""
    faces = mesh.faces[shell.faces][:, :: 1 if shell.volume_mm3 > 0 else -1]
    return welded("", mesh.vertices, faces)


def _common_mm3(first: Mesh, second: Mesh) -> float:
    """Return the overlap of two shells; infinite if one is open and it is unknown."""
    if not (first.is_solid and second.is_solid):
        return math.inf
    return float((first.manifold ^ second.manifold).volume())


def split_components(mesh: Mesh) -> list[Mesh]:
    """Split a mesh into its separate parts, each with its cavities.

    Shells that overlap stay together, such as a body and its cavity, or faulty shells of one part.
    Parts are sorted from left to right; a mesh that is one part is returned unchanged.

    Example:
        >>> corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
        >>> faces = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
        >>> two = Mesh("two", np.vstack([corners, corners + 5]), np.vstack([faces, faces + 4]))
        >>> [part.name for part in split_components(two)]
        ['two (1)', 'two (2)']
    """
    components = shells(mesh)
    if not 1 < len(components) <= _MOST_SHELLS:
        return [mesh]
    sizes = np.array([abs(shell.volume_mm3) for shell in components])
    outward = [_outward(mesh, shell) for shell in components]
    low = np.array([component.vertices.min(axis=0) for component in outward])
    high = np.array([component.vertices.max(axis=0) for component in outward])
    meet = np.asarray((low[:, None] <= high).all(axis=2) & (low <= high[:, None]).all(axis=2))
    for large, small in np.argwhere(np.triu(meet, 1)).tolist():
        if sizes[small] > _A_PART * sizes[0] or components[small].volume_mm3 < 0:
            common_mm3 = _common_mm3(outward[large], outward[small])
            meet[large, small] = meet[small, large] = common_mm3 > _TOUCHING * sizes[small]
    group = component_labels(len(components), np.argwhere(meet))
    groups = [np.flatnonzero(group == number) for number in range(group.max() + 1)]
    if len(groups) < 2 or any(sizes[members[0]] <= _A_PART * sizes[0] for members in groups):
        return [mesh]
    groups.sort(key=lambda members: tuple(low[members[0]].tolist()))
    parts = []
    for number, members in enumerate(groups, 1):
        faces = np.sort(np.concatenate([components[index].faces for index in members]))
        parts.append(welded(f"{mesh.name} ({number})", mesh.vertices, mesh.faces[faces]))
    return parts
