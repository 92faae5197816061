"""Which faces of a small body cross, in exact arithmetic: the reference for the fast way."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import combinations, pairwise, product

from fabkit.mesh.mesh import Mesh

Place = tuple[Fraction, ...]
Triangle = tuple[Place, ...]


def minus(a: Place, b: Place) -> Place:
    return tuple(x - y for x, y in zip(a, b, strict=True))


def dot(a: Place, b: Place) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def cross(a: Place, b: Place) -> Place:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def normal_of(face: Triangle) -> Place:
    return cross(minus(face[1], face[0]), minus(face[2], face[0]))


def clipped(ring: list[Place], start: Place, inward: Place) -> list[Place]:
    """The part of a convex ring (or a way) on one side of a plane."""
    kept = []
    for a, b in pairwise([*ring, ring[0]]):
        at_a, at_b = dot(minus(a, start), inward), dot(minus(b, start), inward)
        if at_a >= 0:
            kept.append(a)
        if at_a * at_b < 0:
            part = at_a / (at_a - at_b)
            kept.append(tuple(x + part * (y - x) for x, y in zip(a, b, strict=True)))
    return kept


def within(ring: list[Place], face: Triangle) -> list[Place]:
    """The part of a ring in a face's plane that lies in the face."""
    up = normal_of(face)
    for a, b in pairwise([*face, face[0]]):
        ring = clipped(ring, a, cross(up, minus(b, a))) if ring else ring
    return ring


def is_inner(place: Place, face: Triangle) -> bool:
    up = normal_of(face)
    return all(
        dot(minus(place, a), cross(up, minus(b, a))) > 0 for a, b in pairwise([*face, face[0]])
    )


def middle(places: list[Place]) -> Place:
    return tuple(sum(axis, Fraction(0)) / len(places) for axis in zip(*places, strict=True))


def share_inner_points(one: Triangle, other: Triangle) -> bool:
    """Whether two faces have inner points in common, by cutting the one with the other."""
    up = normal_of(one)
    if not any(up) or not any(normal_of(other)):
        return False
    above = [dot(minus(corner, one[0]), up) for corner in other]
    if not any(above):
        shared = within(list(other), one)
        return len(shared) > 2 and any(
            any(normal_of((a, b, c))) for a, b, c in combinations(shared, 3)
        )
    if min(above) >= 0 or max(above) <= 0:
        return False
    # Two cuts leave the way along which the other goes through the plane of the one.
    segment = clipped(clipped(list(other), one[0], up), one[0], tuple(-x for x in up))
    shared = within(segment, one)
    if len(set(shared)) < 2:
        return False
    return is_inner(middle(list(set(shared))), one)


def goes_through_at_an_edge(face: Triangle, edge: list[Place], tips: list[Place]) -> bool:
    """Whether an edge lies inside a face, and has its own faces on both sides of it."""
    up = normal_of(face)
    above = [dot(minus(tip, face[0]), up) for tip in tips]
    if any(dot(minus(end, face[0]), up) for end in edge) or not min(above) < 0 < max(above):
        return False
    shared = list(set(within(edge, face)))
    return len(shared) > 1 and is_inner(middle(shared), face)


def exactly(body: Mesh) -> list[list[int]]:
    places = [tuple(map(Fraction, place)) for place in body.vertices.tolist()]
    faces = [tuple(places[corner] for corner in face) for face in body.faces.tolist()]
    found = {
        (i, j)
        for (i, one), (j, other) in combinations(enumerate(faces), 2)
        if share_inner_points(one, other)
    }
    tips: dict[tuple[int, ...], dict[int, Place]] = defaultdict(dict)
    for i, face in enumerate(body.faces.tolist()):
        if any(normal_of(faces[i])):
            for tip in face:
                tips[tuple(sorted({*face} - {tip}))][i] = places[tip]
    for (i, face), (edge, of_faces) in product(enumerate(faces), tips.items()):
        off = {j: tip for j, tip in of_faces.items() if dot(minus(tip, face[0]), normal_of(face))}
        if off and goes_through_at_an_edge(face, [places[e] for e in edge], [*off.values()]):
            found |= {(min(i, j), max(i, j)) for j in off}
    return [list(pair) for pair in sorted(found)]
