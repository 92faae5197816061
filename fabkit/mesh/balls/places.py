"""The cubic lattice on which the middles of a piece's balls lie."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabkit.mesh.body import Points

#: Distances that differ by no more than this part are those of neighbours.
_NEIGHBOUR = 0.15
#: A ball farther off its place than this part of the pitch lies on no lattice.
_OFF_PITCH = 0.15


@dataclass(frozen=True, eq=False)
class Places:
    """Where balls lie on a cubic lattice.

    Attributes:
        whole: the place of each ball, in pitches, shape (n, 3).
        pitch: the distance of neighbours.
        turn: the rotation from the body's axes to the lattice's, shape (3, 3), determinant 1.
        origin: the body's point at the place 0, 0, 0.
        off: how far the worst ball's middle lies from its place.
    """

    whole: NDArray[np.int64]
    pitch: float
    turn: Points
    origin: Points
    off: float

    def straightened(self, points: Points) -> Points:
        """Points of the body on the lattice's axes, in the body's length."""
        return np.asarray((points - self.origin) @ self.turn.T)


def find_places(middles: Points) -> Places | str:
    """Finds the lattice on which the middles of balls lie, one pitch apart and in one piece.

    Args:
        middles: of the balls, shape (n, 3).

    Returns:
        Their places, or why they have none.

    Example:
        >>> found = find_places(np.array([[0.0, 0, 0], [0, 15, 0], [0, 15, 15]]))
        >>> found.whole.tolist(), round(found.pitch, 6)
        ([[0, 0, 0], [1, 0, 0], [1, 1, 0]], 15.0)
        >>> find_places(np.array([[0.0, 0, 0], [0, 15, 0], [0, 27, 0], [9, 9, 0]]))
        'its balls do not lie on a cubic lattice'
    """
    if len(middles) < 2:
        return "there are not two balls in it" if len(middles) else "there is no ball in it"
    steps = middles[None, :] - middles[:, None]
    distances = np.linalg.norm(steps, axis=2)
    pitch = float(distances[distances > 0].min())
    near = (distances > 0) & (distances < (1 + _NEIGHBOUR) * pitch)
    axes = _axes(steps[near] / distances[near][:, None])
    whole = _walked(steps @ axes.T / pitch, near)
    if whole is None or len(np.unique(whole, axis=0)) < len(whole):
        return "its balls do not lie on a cubic lattice"
    places = _fitted(middles, whole, axes)
    if places.off > _OFF_PITCH * places.pitch:
        return "its balls do not lie on a cubic lattice"
    return places


def _axes(directions: Points) -> Points:
    """Three axes at right angles, as rows, the first of them along a step between neighbours."""
    first = directions[0]
    across = directions[np.abs(directions @ first) < 0.5]
    second = across[0] if len(across) else np.eye(3)[np.abs(first).argmin()]
    second = second - first * (second @ first)
    second /= np.linalg.norm(second)
    return np.array([first, second, np.cross(first, second)])


def _walked(steps: Points, near: NDArray[np.bool_]) -> NDArray[np.int64] | None:
    """The places of balls, counted along steps between neighbours; None if one is not reached.

    So that small errors of the axes do not add up. Steps that are no steps of the lattice lead
    nowhere.
    """
    whole = np.zeros((len(near), 3), dtype=np.int64)
    reached, waiting = {0}, [0]
    while waiting:
        i = waiting.pop()
        for j in np.flatnonzero(near[i]).tolist():
            step = np.rint(steps[i, j]).astype(np.int64)
            if j not in reached and np.abs(step).sum() == 1:
                whole[j] = whole[i] + step
                reached.add(j)
                waiting.append(j)
    return whole - whole[0] if len(reached) == len(near) else None


def _fitted(middles: Points, whole: NDArray[np.int64], axes: Points) -> Places:
    """Pitch, rotation and origin that bring places nearest to middles, by least squares.

    After Umeyama, Least-squares estimation of transformation parameters (1991).
    """
    wanted = whole - whole.mean(axis=0)
    seen = (middles - middles.mean(axis=0)) @ axes.T
    left, sizes, right = np.linalg.svd(wanted.T @ seen)
    signs = np.array([1.0, 1.0, np.sign(np.linalg.det(left @ right))])
    turn = (left * signs) @ right @ axes
    pitch = float((sizes * signs).sum() / (wanted**2).sum())
    origin = middles.mean(axis=0) - pitch * whole.mean(axis=0) @ turn
    off = np.linalg.norm(middles - origin - pitch * whole @ turn, axis=1).max()
    return Places(whole, pitch, turn, origin, float(off))
