"""Ball pieces worked out a second way: distances from spheres, links and the bed, and a union of
finely cut meshes. Nothing of fabkit's own geometry is used, nor its CAD kernel.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import manifold3d
import numpy as np
from numpy.typing import NDArray

from fabkit.drawing.ball import BallBlueprint, draft_ball
from fabkit.mesh.body import Body
from fabkit.mesh.files.reading import read_bodies
from fabkit.model.balls import BallBody
from fabkit.model.library import load_set
from fabkit.model.piece import Piece
from fabkit.model.profile import Profile
from fabkit.model.profilefile import load_profile
from fabkit.solid.balls import build_balls
from fabkit.solid.export import write_stl

Points = NDArray[np.float64]

IQFIT = load_set("iqfit")
PRESETS = ("default", "compact")
_FINE = 128


@dataclass(frozen=True, eq=False)
class Print:
    """A piece as it was drawn, and as its STL file has it."""

    blueprint: BallBlueprint
    mesh: Body

    @property
    def triangles(self) -> Points:
        """Shape (m, 3, 3)."""
        return self.mesh.vertices[self.mesh.faces]


def profile(preset: str = "default", *settings: str) -> Profile:
    presets = () if preset == "default" else (preset,)
    return load_profile(presets, settings, IQFIT.unit_mm)


def print_ball(piece: Piece, chosen: Profile, path: Path) -> Print:
    blueprint = draft_ball(IQFIT, piece, chosen)
    write_stl(build_balls(blueprint), path)
    (mesh,) = read_bodies(path)
    return Print(blueprint, mesh)


@lru_cache
def printed(preset: str, piece: str, folder: Path) -> Print:
    """One of IQ Fit's pieces; each is built once."""
    return print_ball(IQFIT.piece(piece), profile(preset), folder / f"{preset}-{piece}.stl")


def distances(blueprint: BallBlueprint, points: Points) -> Points:
    """How far points lie outside of a piece (inside if less than 0), exactly so near its surface."""
    radius, link, flat = blueprint.ball_mm / 2, blueprint.link_mm / 2, blueprint.flat_mm
    sine, cosine = flat / radius, np.sqrt(1 - (flat / radius) ** 2)
    balls = np.array(blueprint.balls_mm)
    found = np.full(len(points), np.inf)
    for ball in balls:
        found = np.minimum(found, np.linalg.norm(points - ball, axis=1) - radius)
    for i, j in blueprint.bonds:
        start, end = balls[i], balls[j]
        way = (end - start) / np.linalg.norm(end - start)
        away = points - start
        along = away @ way
        off = np.linalg.norm(away - np.outer(along, way), axis=1)
        outside = off - link
        if way[2] == 0:
            across = np.sqrt(np.maximum(0, off**2 - away[:, 2] ** 2))
            below = away[:, 2] < -sine * off
            outside[below] = (across * cosine - away[:, 2] * sine - link)[below]
        beside = (along >= 0) & (along <= np.linalg.norm(end - start))
        found = np.where(beside, np.minimum(found, outside), found)
    return np.maximum(found, -points[:, 2])


def union(blueprint: BallBlueprint) -> manifold3d.Manifold:
    """The piece as a union of finely cut meshes."""
    radius, link, flat = blueprint.ball_mm / 2, blueprint.link_mm / 2, blueprint.flat_mm
    lean = np.arcsin(flat / radius)
    whole = [manifold3d.Manifold.sphere(radius, _FINE).translate(p) for p in blueprint.balls_mm]
    angles = np.linspace(-lean, np.pi + lean, _FINE)
    drop = np.column_stack([np.cos(angles), np.sin(angles)]) * link
    drop = np.vstack([drop, [0.0, -link / np.sin(lean)]])
    for i, j in blueprint.bonds:
        low, high = sorted((np.array(blueprint.balls_mm[k]) for k in (i, j)), key=lambda p: p[2])
        way = high - low
        length = float(np.linalg.norm(way))
        if way[2]:
            bar = manifold3d.Manifold.cylinder(length, link, circular_segments=_FINE)
        else:
            turn = np.degrees(np.arctan2(way[1], way[0]))
            bar = manifold3d.CrossSection([drop]).extrude(length).rotate((90, 0, turn + 90))
        whole.append(bar.translate(low))
    return manifold3d.Manifold.batch_boolean(whole, manifold3d.OpType.Add).trim_by_plane(
        (0, 0, 1), 0.0
    )


def as_manifold(mesh: Body) -> manifold3d.Manifold:
    return manifold3d.Manifold(manifold3d.Mesh64(mesh.vertices, mesh.faces.astype(np.uint64)))


def leaning_degrees(triangles: Points) -> Points:
    """How far the facets that do not lie on the bed lean outwards, from the vertical."""
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    return np.degrees(np.arcsin(-normals[triangles[:, :, 2].max(axis=1) > 1e-3, 2]))


def random_piece(seed: int) -> tuple[Piece, Profile]:
    """A piece that somebody might draw, and sizes that somebody might choose."""
    rng = random.Random(seed)
    length = rng.randint(4, 6)
    balls = [(x, 0, 0) for x in range(length)]
    bonds = [(i, i + 1) for i in range(length - 1)]
    for _ in range(rng.randint(1, 5)):
        i = rng.randrange(len(balls))
        x, y, z = balls[i]
        dx, dy, dz = rng.choice([(0, 1, 0), (0, -1, 0), (0, 0, 1)])
        there = (x + dx, y + dy, z + dz)
        # Sideways at most one and up at most one, so that the first row stays the longest.
        if z == 0 and abs(there[1]) <= 1 and there not in balls:
            bonds.append((i, len(balls)))
            balls.append(there)
    sizes = replace(profile(), unit_mm=rng.choice([8.0, 15.0, 20.0, 32.0]))
    ball = sizes.unit_mm * rng.uniform(0.6, 0.97)
    sizes = replace(
        sizes,
        ball_mm=round(ball, 2),
        link_mm=round(ball * rng.uniform(0.72, 0.82), 2),
        ball_flat_mm=round(ball / 2 * rng.uniform(0.3, 0.7), 2),
    )
    return Piece("p", "p", "#808080", (), BallBody(tuple(balls), tuple(bonds))), sizes
