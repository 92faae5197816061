"""What is no fault: a good piece anywhere on the bed, its mesh cut or ordered otherwise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from fabkit.mesh.body import Body
from tests.support.faults.place import turned
from tests.support.faults.planting import Case, Planted


def elsewhere(case: Case, _: float) -> Planted:
    """Anywhere on the bed, or above it."""
    away = [case.random.uniform(-400, 400) for _ in range(3)]
    return case.moved(lambda vertices: vertices + away)


def turned_on_bed(case: Case, _: float) -> Planted:
    return turned(case, (2, case.random.uniform(0, 360)))


def cut_smaller(case: Case, _: float) -> Planted:
    """Every triangle cut into four."""
    vertices, faces = case.body.vertices, case.body.faces
    edges = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    single, which = np.unique(edges, axis=0, return_inverse=True)
    ab, bc, ca = (which.reshape(-1, 3) + len(vertices)).T
    a, b, c = faces.T
    cut = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
    middles = vertices[single].mean(axis=1)
    return case.mesh(
        np.vstack([vertices, middles]), np.concatenate([np.column_stack(one) for one in cut])
    )


def noisy(case: Case, _: float) -> Planted:
    """Every corner off by 0.1 micrometres, as a modeller's own precision leaves it."""
    dice = np.random.default_rng(case.random.randrange(1000))
    return case.moved(lambda vertices: vertices + dice.uniform(-1e-4, 1e-4, vertices.shape))


def three_decimals(case: Case, _: float) -> Planted:
    return case.moved(lambda vertices: np.round(vertices, 3))


def shuffled(case: Case, _: float) -> Planted:
    """Faces, corners and files in any order, by any names."""
    planted = case.planted(case.body)
    dice = np.random.default_rng(case.random.randrange(1000))
    bodies = []
    for number, body in enumerate(planted.bodies):
        order = dice.permutation(len(body.vertices))
        faces = np.argsort(order)[dice.permutation(body.faces)]
        faces = np.roll(faces, int(dice.integers(3)), axis=1)
        bodies.append(Body(f"{number}.obj", body.vertices[order], faces))
    case.random.shuffle(bodies)
    return replace(planted, bodies=tuple(bodies))


#: Planted one after the other; the last changes all that lie there.
HARMLESS: dict[str, Callable[[Case, float], Planted]] = {
    "elsewhere": elsewhere,
    "turned on the bed": turned_on_bed,
    "cut into smaller triangles": cut_smaller,
    "noise of 0.1 micrometres": noisy,
    "coordinates of three decimals": three_decimals,
    "shuffled and renamed": shuffled,
}
