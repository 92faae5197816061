"""What is no fault: a good piece anywhere on the bed, its mesh cut or ordered otherwise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from fabkit.mesh.mesh import Mesh
from tests.support.faults.place import turned
from tests.support.faults.planting import Case, Planted


def elsewhere(case: Case, _: float) -> Planted:
    return case.moved(lambda vertices: vertices + [case.random.uniform(-400, 400) for _ in "xyz"])


def cut_smaller(case: Case, _: float) -> Planted:
    """Every triangle cut into four."""
    import trimesh

    return case.mesh(*trimesh.remesh.subdivide(case.body.vertices, case.body.faces))


def noisy(case: Case, _: float) -> Planted:
    """Every corner off by 0.1 micrometres, as a modeller's own precision leaves it."""
    dice = np.random.default_rng(case.random.randrange(1000))
    return case.moved(lambda vertices: vertices + dice.uniform(-1e-4, 1e-4, vertices.shape))


def shuffled(case: Case, _: float) -> Planted:
    """Faces, corners and files in any order, by any names."""
    planted = case.planted(case.body)
    dice = np.random.default_rng(case.random.randrange(1000))
    bodies = []
    for number, body in enumerate(planted.bodies):
        order = dice.permutation(len(body.vertices))
        faces = np.argsort(order)[dice.permutation(body.faces)]
        faces = np.roll(faces, int(dice.integers(3)), axis=1)
        bodies.append(Mesh(f"{number}.obj", body.vertices[order], faces))
    case.random.shuffle(bodies)
    return replace(planted, bodies=tuple(bodies))


#: Planted one after the other; the last changes all that lie there.
HARMLESS: dict[str, Callable[[Case, float], Planted]] = {
    "elsewhere": elsewhere,
    "turned on the bed": lambda case, _: turned(case, (2, case.random.uniform(0, 360))),
    "cut into smaller triangles": cut_smaller,
    "noise of 0.1 micrometres": noisy,
    "coordinates of three decimals": lambda case, _: case.moved(lambda vertices: vertices.round(3)),
    "shuffled and renamed": shuffled,
}
