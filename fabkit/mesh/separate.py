"""Taking files apart that hold several parts in one mesh, such as a whole plate in one STL file."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fabkit.mesh.body import Body, Points
from fabkit.mesh.topology import Shell, shells

#: A shell is a part of its own from this part of the largest one's volume; less is a fault in it.
_A_PART = 0.05
#: A mesh of more shells than this is no plate.
_MOST_SHELLS = 300


def separate(body: Body) -> list[Body]:
    """The parts of a mesh that lie apart from each other, each with its cavities.

    Shells whose boxes overlap stay together: one may be a cavity of the other, or a fault.

    Args:
        body: a mesh of one part or several.

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
    if len(found) > _MOST_SHELLS:
        return [body]
    large = max((abs(shell.volume_mm3) for shell in found), default=0.0)
    boxes = [_box(body, shell) for shell in found]
    groups: list[list[int]] = []
    for one in range(len(found)):
        touching = [g for g in groups if any(_meet(boxes[one], boxes[other]) for other in g)]
        groups = [g for g in groups if g not in touching]
        groups.append([one, *(other for group in touching for other in group)])
    parts = [g for g in groups if max(abs(found[i].volume_mm3) for i in g) > _A_PART * large]
    if len(parts) < 2 or len(parts) < len(groups):
        return [body]
    parts.sort(key=lambda group: tuple(boxes[group[0]][0].tolist()))
    return [
        _body(body, np.concatenate([found[i].faces for i in group]), f"{body.name} ({number})")
        for number, group in enumerate(parts, 1)
    ]


def _box(body: Body, shell: Shell) -> tuple[Points, Points]:
    corners = body.vertices[body.faces[shell.faces].ravel()]
    return corners.min(axis=0), corners.max(axis=0)


def _meet(one: tuple[Points, Points], other: tuple[Points, Points]) -> bool:
    (low, high), (lower, higher) = one, other
    return bool((low <= higher).all() and (lower <= high).all())


def _body(body: Body, positions: NDArray[np.int64], name: str) -> Body:
    """Some of a body's faces, with only the corners that they use."""
    used, faces = np.unique(body.faces[np.sort(positions)], return_inverse=True)
    return Body(name, body.vertices[used], faces.reshape(-1, 3))
