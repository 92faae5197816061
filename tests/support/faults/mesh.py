"""Faults of the mesh as such: open, folded, doubled or turned inside out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.support.faults.planting import Case, Faces, Planted, Points, point_inside, towards_side
from tests.support.shapes import box, inside_out, moved, together


def missing_triangles(case: Case, _: float) -> Planted:
    gone = case.random.sample(range(len(case.body.faces)), case.random.randint(1, 3))
    return case.mesh(case.body.vertices, np.delete(case.body.faces, gone, axis=0))


def flipped_triangle(case: Case, _: float) -> Planted:
    faces = case.body.faces.copy()
    which = case.random.randrange(len(faces))
    faces[which] = faces[which][::-1]
    return case.mesh(case.body.vertices, faces)


def normals_flipped(case: Case, _: float) -> Planted:
    return case.meshed(inside_out(case.body))


def duplicate_body(case: Case, _: float) -> Planted:
    return case.meshed(together(case.body, case.body))


def copy_beside(case: Case, _: float) -> Planted:
    """A second copy in the same file, clear of the first one: a separate part."""
    away = moved(case.body, case.random.uniform(70, 90), 0.0, 0.0)
    return replace(case.meshed(together(case.body, away)), faulty="")


def second_body(case: Case, _: float) -> Planted:
    """A small box, on the bed beside the piece or in its plastic; both face outwards."""
    size = case.random.uniform(0.3, 1.5)
    where = point_inside(case, 4.2, 5.5, 2.0)
    if case.random.random() < 0.5:
        where = np.array([case.body.vertices[:, 0].max() + 4, where[1], size / 2])
    return case.meshed(together(case.body, box(where - size / 2, where + size / 2)))


def hidden_cavity(case: Case, _: float) -> Planted:
    """A box inside the plastic that faces inwards."""
    where, size = point_inside(case, 4.2, 5.5, 2.0), case.random.uniform(0.3, 1.5)
    return case.meshed(together(case.body, inside_out(box(where - size / 2, where + size / 2))))


def cavity_reaches_out(case: Case, _: float) -> Planted:
    """The closed cavity of a magnet, moved until it breaks through the side."""
    x, y = case.recess.centre_mm
    radius = case.recess.diameters.widest_mm / 2
    vertices = case.body.vertices.copy()
    of_cavity = np.hypot(vertices[:, 0] - x, vertices[:, 1] - y) < radius + 0.01
    of_cavity &= (vertices[:, 2] > 0.5) & (vertices[:, 2] < 4.0)
    there = towards_side(case, (x, y), case.random.uniform(-1.5, -0.5) * radius, radius)
    vertices[of_cavity, :2] += np.subtract(there, (x, y))
    return case.mesh(vertices, case.body.faces)


def duplicate_face(case: Case, _: float) -> Planted:
    face = case.random.choice(case.body.faces.tolist())
    turned = case.random.choice((face, face[::-1], face[1:] + face[:1]))
    return case.mesh(case.body.vertices, np.vstack([case.body.faces, [turned]]))


def face_of_no_extent(case: Case, _: float) -> Planted:
    """A face whose three corners lie on one line, put into an edge so that all stays closed."""
    faces = case.body.faces.tolist()
    vertices = case.body.vertices
    which = case.random.randrange(len(faces))
    a, b, c = faces[which]
    middle = len(vertices)
    faces[which] = [a, middle, c]
    faces += [[middle, b, c], [a, b, middle]]
    return case.mesh(np.vstack([vertices, (vertices[a] + vertices[b]) / 2]), np.array(faces))


def corner_through_wall(case: Case, _: float) -> Planted:
    """A corner of the face, pushed down through the back."""
    faced = np.flatnonzero(case.body.vertices[:, 2] > case.profile.thickness_mm - 0.01)
    which = case.random.choice(faced.tolist())
    below = -case.random.uniform(0.5, 5)

    def push(vertices: Points) -> Points:
        vertices[which, 2] = below
        return vertices

    return case.moved(push)


def half_missing(case: Case, _: float) -> Planted:
    """Every other triangle missing, so that no outline can be seen; or all but one."""
    step = case.random.choice((2, 3, len(case.body.faces)))
    return case.mesh(case.body.vertices, case.body.faces[::step])


def rough(case: Case, size: float) -> Planted:
    """All corners moved at random: faces cut through their neighbours."""
    dice = np.random.default_rng(case.random.randrange(1000))
    return case.moved(lambda vertices: vertices + dice.normal(0, size, vertices.shape))


def flattened(case: Case, _: float) -> Planted:
    return case.moved(lambda vertices: vertices * [1.0, 1.0, 0.0])


def spike_on_face(case: Case, _: float) -> Planted:
    """A spike on the face makes the piece thicker."""
    vertices, faces = case.body.vertices, case.body.faces
    flat = np.flatnonzero((vertices[faces][:, :, 2] > case.profile.thickness_mm - 1e-4).all(axis=1))
    which = int(case.random.choice(flat.tolist()))
    tip = vertices[faces[which]].mean(axis=0)
    tip[2] += case.random.uniform(0.1, 4)
    return case.mesh(*with_tip(vertices, faces, which, tip))


def with_tip(vertices: Points, faces: Faces, which: int, tip: Points) -> tuple[Points, Faces]:
    """A triangle replaced by three that meet in a tip."""
    a, b, c = faces[which]
    new = len(vertices)
    sides = [[a, b, new], [b, c, new], [c, a, new]]
    return np.vstack([vertices, tip]), np.vstack([np.delete(faces, which, axis=0), sides])
