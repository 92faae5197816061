"""Corners of an outline laid on a lattice: where, with which unit and inset, and how well."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabkit.mesh.body import Points
from fabkit.mesh.outlines.edges import Corners
from fabkit.model.lattice import Lattice, Point

#: An inset is between these parts of a grid unit. (Pieces with a large clearance would also lie on
#: a finer lattice, reaching out of it.)
INSETS = (-0.04, 0.12)
#: Before the inset is known a corner is looked for within this part of a grid unit.
CORNER_NEAR = 0.34
#: The snapping to the lattice and the inset are found in turns, at most so many.
_ROUNDS = 4
#: Edges tell what is sought when an error in where they lie grows by no more than this: pieces come
#: to 50, shapes that do not tell (squares) to what their noise is divided by.
_TELLS = 500


def corner_kinds(lattice: Lattice) -> list[Point]:
    """The corners of cells, translations divided out."""
    return sorted(
        {lattice.residue(corner) for cell in lattice.first for corner in lattice.ring(cell)}
    )


@dataclass(frozen=True)
class Fit:
    """How the corners of an outline lie on the lattice.

    Attributes:
        unit: the grid unit.
        origin: where the lattice's origin is.
        inset: by how much, in grid units, edges lie inside the lattice's.
        off: the greatest distance of an edge, in grid units, from where the lattice and the
            inset have it.
        tells: whether the unit was found on the corners.
    """

    unit: float
    origin: tuple[float, float]
    inset: float
    off: float
    tells: bool


def fitted(
    corners: Corners, lattice: Lattice, unit: float, free: bool, most_off: float
) -> list[Fit]:
    """Lays the corners of an outline on the lattice.

    Args:
        corners: of an outline that lies straight on it.
        lattice: the lattice.
        unit: the grid unit, roughly.
        free: finds the unit that is best for these corners, if they tell.
        most_off: how far an edge may be off, in grid units.

    Returns:
        The ways in which they lie on the lattice, so that edges between them run along cells,
        the best first; of those as good the one with the first kind of corner.
    """
    if len(corners.points) < 3:
        return []
    found = [_fitted_at(kind, corners, lattice, unit, free) for kind in corner_kinds(lattice)]
    good = [fit for fit in found if fit is not None and fit.off < most_off]
    return sorted(good, key=lambda fit: round(fit.off, 3))


def _fitted_at(
    kind: Point, corners: Corners, lattice: Lattice, unit: float, free: bool
) -> Fit | None:
    """The same, with the first corner on one kind of corner of the lattice."""
    steps = np.array([math.sqrt(squared) for squared in lattice.step_squared])
    kinds = corner_kinds(lattice)
    frame = (corners.points - corners.points[0]) / (unit * steps) + kind
    for _ in range(2):  # the second time about the middle, not about one corner
        nearest = _nearest_corners(frame, lattice, kinds)
        frame = frame + (nearest - frame).mean(axis=0)
    if np.linalg.norm((frame - nearest) * steps, axis=1).max() > CORNER_NEAR:
        return None
    normals, offsets = corners.normals.reshape(-1, 2), corners.offsets.ravel()
    weights = np.ones(len(offsets))
    columns = [normals[:, 0], normals[:, 1], -weights]
    for _ in range(_ROUNDS):
        places = (corners.normals @ (nearest * steps)[:, :, None]).ravel()
        solved = least_squares([*columns, places], offsets, weights) if free else None
        tells = solved is not None
        if solved is None:
            rest = least_squares(columns, offsets - unit * places, weights)
            if rest is None:
                return None
            solved = np.append(rest, unit)
        x, y, inset, unit = (float(value) for value in solved)
        if unit <= 0 or not INSETS[0] < inset / unit < INSETS[1]:
            return None
        before = nearest
        moved = corners.points + inset * corners.outwards - (x, y)
        nearest = _nearest_corners(moved / (unit * steps), lattice, kinds)
        if (nearest == before).all():
            break
    if not all(_runs_along(lattice, ring) for ring in corners.by_ring(nearest)):
        return None
    off = np.abs(normals @ (x, y) + unit * places - inset - offsets).max() / unit
    return Fit(unit, (x, y), inset / unit, float(off), tells)


def _runs_along(lattice: Lattice, ring: Points) -> bool:
    """Whether a ring of corners, in frame steps, runs along edges of cells."""
    points = [(round(x), round(y)) for x, y in ring.tolist()]
    return all(
        lattice.walk(start, end) for start, end in zip(points, points[1:] + points[:1], strict=True)
    )


def _nearest_corners(frame: Points, lattice: Lattice, kinds: Sequence[Point]) -> Points:
    """The lattice corner nearest to each point, in frame steps."""
    steps = np.array([math.sqrt(squared) for squared in lattice.step_squared])
    (ux, _), (vx, vy) = lattice.basis
    candidates = []
    for x, y in kinds:
        rows = np.round((frame[:, 1] - y) / vy)
        # On a slanting basis the nearest row is not always nearest.
        for more in (-1, 0, 1) if vx else (0,):
            columns = np.round((frame[:, 0] - x - (rows + more) * vx) / ux)
            candidates.append(
                np.column_stack([x + columns * ux + (rows + more) * vx, y + (rows + more) * vy])
            )
    stack = np.array(candidates)
    distance = np.linalg.norm((stack - frame) * steps, axis=2)
    return np.asarray(stack[distance.argmin(axis=0), np.arange(len(frame))])


def least_squares(
    columns: Sequence[NDArray[np.float64]], right: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """The least squares solution; None when the columns do not tell."""
    matrix = np.column_stack(columns) * weights[:, None]
    if len(right) < len(columns) or np.linalg.cond(matrix) > _TELLS:
        return None
    return np.asarray(np.linalg.lstsq(matrix, right * weights, rcond=None)[0])
