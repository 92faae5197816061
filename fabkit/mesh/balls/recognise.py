"""Recognising pieces of balls: every piece of the set, in every pose, is held against the mesh.

How far a drawing reaches in each direction is, for any one rotation, a sum in which its pitch, its
radius and its place are plain factors. So a rotation is judged by linear least squares against how
far the mesh reaches, whatever its facets, its unit of length, and what it is inside. The best poses
of all pieces and of their mirror images are laid over the surface, and the one that explains most
of it wins.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import product
from statistics import median
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabkit.mesh.balls.measure import Pose, from_middles, link_widths, place
from fabkit.mesh.body import Body, Points
from fabkit.mesh.part import BALLS, Balls, Part, length_mm_of
from fabkit.model.balls import ROTATIONS, BallBody, turned
from fabkit.model.puzzle import PuzzleSet

#: How near points of the surface are to the drawing's, in pitches.
_SAME = 0.1


class _Shape(NamedTuple):
    """What a part may be: pieces of the set that are alike, or their mirror image."""

    alike: tuple[str, ...]
    mirrored: bool
    drawn: BallBody

    @property
    def called(self) -> str:
        """In messages."""
        return ("the mirror image of " if self.mirrored else "") + self.alike[0]


def take_in_balls(
    bodies: Sequence[Body], puzzle: PuzzleSet, *pitches_mm: float
) -> tuple[list[Part], float]:
    """Recognises pieces of a set of balls, whatever way they lie, and measures them.

    What the distance of neighbouring balls may be decides only in which unit of length files are.

    Returns:
        A part for each body, and the files' unit of length in mm.
    """
    shapes = _shapes(tuple((piece.id, piece.body) for piece in puzzle.pieces if piece.body))
    found = [_explained(body, shapes) for body in bodies]
    pitches = [pose.pitch for _, pose in found if pose]
    length_mm = length_mm_of(median(pitches), pitches_mm) if pitches else 1.0
    return [_measured(part, pose, shapes, length_mm) for part, pose in found], length_mm


@lru_cache
def _shapes(pieces: tuple[tuple[str, BallBody], ...]) -> dict[object, _Shape]:
    """The different shapes of pieces and their mirror images, by their images."""
    found: dict[object, _Shape] = {}
    for way, (name, body) in product((1, -1), pieces):
        drawn = BallBody(tuple((way * x, y, z) for x, y, z in body.balls), body.bonds)
        shape = found.setdefault(_images(drawn), _Shape((), way < 0, drawn))
        if shape.mirrored == (way < 0):
            found[_images(drawn)] = shape._replace(alike=(*shape.alike, name))
    return found


def _images(shape: BallBody) -> object:
    """All images of a shape: the same for those that can be turned alike."""
    images = set()
    for rotation in ROTATIONS:
        balls = np.array([turned(rotation, ball) for ball in shape.balls])
        places = [tuple(ball) for ball in (balls - balls.min(axis=0)).tolist()]
        bonds = frozenset(frozenset((places[i], places[j])) for i, j in shape.bonds)
        images.add((frozenset(places), bonds))
    return frozenset(images)


@lru_cache
class _Tables:
    """How far shapes reach in every direction, in many rotations."""

    def __init__(self, shapes: tuple[BallBody, ...]) -> None:
        from scipy.spatial.transform import Rotation

        self.shapes = shapes
        most = max(len(shape.balls) for shape in shapes)
        # Around their middle; some twice, so that all have as many.
        balls = np.array([np.resize(shape.balls, (most, 3)) for shape in shapes], float)
        middles = [np.mean(shape.balls, axis=0) for shape in shapes]
        self.balls = balls - np.array(middles)[:, None]
        self.directions = directions = _directions(128)
        some = np.random.default_rng(0).normal(size=(600, 4))
        self.rotations = Rotation.from_quat(some).as_matrix()
        rows = self.rotations.reshape(-1, 9)
        self.near = np.argsort(-(rows @ rows.T), axis=1)[:, :12]
        self._basis, _ = np.linalg.qr(np.column_stack([np.ones(len(directions)), directions]))
        looks = directions @ self.rotations
        self._reaches = self._plain(np.array([(looks @ b.T).max(axis=2) for b in self.balls]))

    def _plain(self, reach: Points) -> Points:
        """Reach without what a place and a radius account for, its size made 1."""
        rest = reach - (reach @ self._basis) @ self._basis.T
        sizes = np.linalg.norm(rest, axis=-1, keepdims=True)
        return np.asarray(rest / np.where(sizes > 0, sizes, 1.0))

    def poses(self, vertices: Points) -> list[Pose]:
        """The poses in which shapes reach as far as a mesh does, the best first."""
        from scipy.spatial.transform import Rotation

        reach = (vertices @ self.directions.T).max(axis=0)
        alike = self._reaches @ self._plain(reach)
        # Of rotations near to each other only the best is tried, of a dozen for each shape.
        alike[alike < alike[:, self.near].max(axis=2)] = -1.0
        tried = np.argsort(-alike, axis=1)[:, :12]
        which = np.repeat(np.arange(len(self.shapes)), tried.shape[1])
        turns, balls = self.rotations[tried.ravel()], self.balls[which]
        # By the method of Gauss and Newton for pitch, place, radius and turn, shape (k, 8).
        around = np.broadcast_to(self.directions, (len(turns), *self.directions.shape))
        ones = np.ones((*around.shape[:2], 1))
        weights, factors = ones, np.full((len(turns), 8), np.ptp(reach) / 4)
        for _ in range(6):
            shown = balls @ turns.transpose(0, 2, 1)
            along = around @ shown.transpose(0, 2, 1)
            outermost = np.take_along_axis(shown, along.argmax(axis=2)[:, :, None], axis=1)
            turning = factors[:, :1, None] * np.cross(outermost, around)
            columns = np.concatenate([along.max(axis=2)[:, :, None], around, ones, turning], axis=2)
            weighted = (columns * weights).transpose(0, 2, 1)
            square = weighted @ columns
            # What a rod's own axis leaves open stays as it is.
            square += 1e-9 * np.trace(square, axis1=1, axis2=2)[:, None, None] * np.eye(8)
            factors = np.linalg.solve(square, weighted @ reach[:, None])[:, :, 0]
            off = reach[:, None] - columns @ factors[:, :, None]
            turns = Rotation.from_rotvec(np.clip(factors[:, 5:], -0.5, 0.5)).as_matrix() @ turns
            # Directions that disagree (those of the flat, say) weigh less.
            weights = 1 / (1 + (off / (0.02 * np.ptp(reach))) ** 2)
        found: list[Pose] = []
        for row in np.argsort(np.median(np.abs(off), axis=1)[:, 0]).tolist():
            shape, turn = self.shapes[which[row]], turns[row]
            pitch, *middle, radius = factors[row, :5].tolist()
            same = (np.trace(turn.T @ one.turn) for one in found if one.drawn is shape)
            new = all(trace < 1 + 2 * math.cos(math.radians(20)) for trace in same)
            if min(pitch, radius) > 0 and new and len(found) < 8:
                origin = middle - pitch * turn @ np.mean(shape.balls, axis=0)
                found.append(Pose(shape, pitch, turn, origin, (2 * radius,)))
        return found


def _directions(count: int) -> Points:
    """Directions of length 1, spread over all."""
    at = np.arange(count) + 0.5
    z, turn = 1 - 2 * at / count, math.pi * (1 + math.sqrt(5)) * at
    wide = np.sqrt(1 - z * z)
    return np.column_stack([wide * np.cos(turn), wide * np.sin(turn), z])


def _explained(body: Body, shapes: dict[object, _Shape]) -> tuple[Part, Pose | None]:
    """A body as its file has it, how well the best shape explains it, and that shape in its pose."""
    from trimesh.sample import sample_surface

    part = Part(body, body.vertices, BALLS)
    size = np.ptp(body.vertices, axis=0).max() if len(body.faces) else 0.0
    tables = _Tables(tuple(shape.drawn for shape in shapes.values()))
    poses = tables.poses(body.vertices) if size > 0 else []
    if not poses:
        return replace(part, why="it is no piece of the set: it has no extent"), None
    points = sample_surface(body.as_trimesh, 5000, seed=0)[0]
    overlays = [(_overlay(points, pose), pose) for pose in poses]
    (score, outside), best = max(overlays, key=lambda one: one[0])
    # Of those with the same balls the links decide, which are measured.
    own = _images(BallBody(best.drawn.balls, ()))
    others = [
        (shapes[_images(pose.drawn)].called, explained)
        for (explained, _), pose in overlays
        if _images(BallBody(pose.drawn.balls, ())) != own
    ]
    placed = place(body, best)
    if isinstance(placed, Pose):
        score, outside = _overlay(points, placed)
    part = replace(part, score=score, second=max(others, key=lambda one: one[1], default=None))
    if isinstance(placed, Pose) and outside <= 0.01:  # nothing but specks
        return part, placed
    why = placed if isinstance(placed, str) else "there is more than that in it"
    called = shapes[_images(best.drawn)].called
    why = f"it is no piece of the set: {called} comes nearest, but {why}"
    unlike = "it has the balls of no piece of the set"
    return replace(part, why=why if score >= 0.6 else unlike), None


def _measured(
    part: Part, pose: Pose | None, shapes: dict[object, _Shape], length_mm: float
) -> Part:
    """A part in mm, on the lattice of its balls."""
    if pose is None:
        return replace(part, vertices=part.vertices * length_mm)
    pitch_mm = pose.pitch * length_mm
    diameters_mm = tuple(diameter * length_mm for diameter in pose.diameters)
    part = replace(part, vertices=(part.vertices - pose.origin) @ pose.turn * length_mm)
    links = link_widths(part.straight.as_trimesh, pose.drawn, pitch_mm, diameters_mm)
    own = BallBody(pose.drawn.balls, tuple(links))
    # Of pieces that differ by links alone it is the one that has just these.
    same, nearest = shapes.get(_images(own)), shapes[_images(pose.drawn)]
    balls = Balls(
        own,
        pitch_mm,
        diameters_mm,
        tuple(links.values()),
        pose.off * length_mm,
        same.alike if same else nearest.alike[:1],
        (same or nearest).mirrored,
        as_linked=same is not None,
    )
    return replace(part, balls=balls)


def _overlay(points: Points, pose: Pose) -> tuple[float, float]:
    """How well a pose explains points of a surface, from 0 to 1; and which part lies far outside.

    The share of these that are not outside the union of balls and links, times the share of the
    union's balls which has one of these near. Links are taken for three quarters as thick.
    """
    from scipy.spatial import cKDTree

    at = (points - pose.origin) @ pose.turn / pose.pitch
    balls, bonds = np.array(pose.drawn.balls, float), pose.drawn.bonds
    radius = median(pose.diameters) / 2 / pose.pitch

    def outside(points: Points) -> NDArray[np.float64]:
        return np.minimum(
            from_middles(points, balls, ()) - radius,
            from_middles(points, balls, bonds) - 0.75 * radius,
        )

    shown = (balls[:, None] + radius * _directions(32)).reshape(-1, 3)
    near = cKDTree(at).query(shown[outside(shown) > -1e-6])[0] < _SAME
    off = outside(at)
    return float((off < _SAME).mean() * near.mean()), float((off > 0.25).mean())
