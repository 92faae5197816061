"""Bodies for tests: known shapes, printed pieces, and the moves that a file may have gone through."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from fabkit.drawing.draft import draft_flat_piece
from fabkit.mesh.mesh import Mesh, Points
from fabkit.sets.library import load_set
from tests.support.faults import kits
from tests.support.prints import Order

if TYPE_CHECKING:
    import trimesh

#: Pieces with slivers, ribs, pockets and cavities, letters with counters.
PRINTED = [
    ("fridgeiq", "B", Order((), ("recess.fit=embedded",))),
    ("fridgeiq", "U", Order((), ("recess.fit=ribs",))),
    ("fridgeiq", "S", Order(("flippable",))),
    ("iqblock", "4", Order()),
    ("iqstars", "indigo", Order(("compact",))),
]


def body_of(mesh: trimesh.Trimesh, name: str = "a body") -> Mesh:
    return Mesh(name, np.array(mesh.vertices, dtype=float), np.array(mesh.faces, dtype=np.int64))


def mesh_of(body: Mesh) -> trimesh.Trimesh:
    import trimesh

    return trimesh.Trimesh(body.vertices, body.faces)


@lru_cache
def printed_mesh(set_name: str, piece_id: str, order: Order) -> Mesh:
    puzzle = load_set(set_name)
    return kits.printed_mesh(
        draft_flat_piece(puzzle, puzzle.piece(piece_id), order.profile()), f"{piece_id}.stl"
    )


def box(low: ArrayLike, high: ArrayLike) -> Mesh:
    import trimesh

    return body_of(trimesh.creation.box(bounds=(low, high)))


def ball(radius_mm: float = 5.0, fineness: int = 2) -> Mesh:
    import trimesh

    return body_of(trimesh.creation.icosphere(fineness, radius_mm))


def torus(major_mm: float, minor_mm: float, *sections: int) -> Mesh:
    import trimesh

    return body_of(trimesh.creation.torus(major_mm, minor_mm, *sections))


def cylinder(radius_mm: float, height_mm: float, sections: int) -> Mesh:
    import trimesh

    return body_of(trimesh.creation.cylinder(radius_mm, height_mm, sections=sections))


def grid_box(cells: tuple[int, int, int], inside_out: bool = False) -> Mesh:
    """A box of 1 mm cells, with a corner wherever cells meet on its surface."""
    corners: dict[tuple[int, ...], int] = {}
    faces = []
    for axis, size in enumerate(cells):
        across, along = (axis + 1) % 3, (axis + 2) % 3
        for level in (0, size):
            for i, j in np.ndindex(cells[across], cells[along]):
                ring = []
                for u, v in ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)):
                    place = {axis: level, across: u, along: v}
                    ring.append(corners.setdefault(tuple(map(place.get, range(3))), len(corners)))
                step = 1 if (level > 0) != inside_out else -1
                faces += [[ring[0], ring[1], ring[2]][::step], [ring[0], ring[2], ring[3]][::step]]
    return Mesh("a box", np.array(list(corners), dtype=float), np.array(faces, dtype=np.int64))


def together(*bodies: Mesh) -> Mesh:
    """One body with the shells of all; no corner is made one with another."""
    before = np.cumsum([0] + [len(body.vertices) for body in bodies])
    return Mesh(
        "many",
        np.concatenate([body.vertices for body in bodies]),
        np.concatenate([b.faces + start for b, start in zip(bodies, before, strict=False)]),
    )


def merged(body: Mesh) -> Mesh:
    """Corners at the same place made one."""
    places, renumbered = np.unique(body.vertices, axis=0, return_inverse=True)
    return Mesh(body.name, places, renumbered.reshape(-1)[body.faces])


def with_faces(body: Mesh, faces: np.ndarray) -> Mesh:
    return Mesh(body.name, body.vertices, faces)


def with_corners(body: Mesh, vertices: Points) -> Mesh:
    return Mesh(body.name, vertices, body.faces)


def moved(body: Mesh, *by_mm: float) -> Mesh:
    return with_corners(body, body.vertices + by_mm)


def inside_out(body: Mesh) -> Mesh:
    return with_faces(body, body.faces[:, ::-1].copy())


def tumbled(body: Mesh, seed: int, away_mm: float = 200.0) -> Mesh:
    """Turned any way, carried off to coordinates of up to `away_mm`, and rounded as in a file."""
    random = np.random.default_rng(seed)
    turn, _ = np.linalg.qr(random.normal(size=(3, 3)))
    turn *= np.sign(np.linalg.det(turn))
    centred = (body.vertices - body.vertices.mean(axis=0)) @ turn.T
    shift = random.uniform(-1, 1, 3) * (away_mm - np.abs(centred).max())
    return with_corners(body, (centred + shift).astype(np.float32).astype(float))
