"""Recognising pieces of balls: every piece of the set, in every pose, is held against the mesh.

How far a drawing reaches in each direction is, for any one rotation, a sum in which its pitch, its
radius and its place are plain factors. So a rotation is judged by linear least squares against how
far the mesh reaches, whatever its facets, its unit of length, and what it is inside. The best poses
of all pieces and of their mirror images are laid over the surface, and the one that explains most
of it wins. Then its balls, their lattice and its links are measured.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations, product
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.body import Body, Points
from fabkit.mesh.features import sphere_through
from fabkit.mesh.part import BALLS, Balls, Part, length_mm_of
from fabkit.model.balls import ROTATIONS, BallBody, turned
from fabkit.model.puzzle import PuzzleSet

#: Corners that spread by more than this part of the radius are not all of them on the ball; so
#: many tell a ball reliably.
_SPREAD, _ENOUGH_CORNERS = 0.002, 8


class _Shape(NamedTuple):
    """What a part may be: pieces of the set that are alike, or their mirror image."""

    alike: tuple[str, ...]
    mirrored: bool
    drawn: BallBody

    @property
    def called(self) -> str:
        """In messages."""
        return ("the mirror image of " if self.mirrored else "") + self.alike[0]


class _Pose(NamedTuple):
    """Balls at their places in a mesh: ball ``b`` is at ``origin + pitch * turn @ b``, nearly."""

    drawn: BallBody
    pitch: float
    turn: Points
    origin: Points
    diameters: tuple[float, ...]
    off: float = 0.0  # how far the worst ball's middle lies from its place


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
        shape = found.setdefault(images := _images(drawn), _Shape((), way < 0, drawn))
        if shape.mirrored == (way < 0):
            found[images] = shape._replace(alike=(*shape.alike, name))
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

        self.shapes, self.directions = shapes, _directions(2)
        most = max(len(shape.balls) for shape in shapes)
        # Around their middle; some twice, so that all have as many.
        balls = np.array([np.resize(shape.balls, (most, 3)) for shape in shapes], float)
        self.balls = balls - [[np.mean(shape.balls, axis=0)] for shape in shapes]
        some = np.random.default_rng(0).normal(size=(600, 4))
        self.rotations = Rotation.from_quat(some).as_matrix()
        rows = self.rotations.reshape(-1, 9)
        self.near = np.argsort(-(rows @ rows.T), axis=1)[:, :12]
        looks = self.directions @ self.rotations
        self._reaches = self._plain(np.array([(looks @ b.T).max(axis=2) for b in self.balls]))

    def _plain(self, reach: Points) -> Points:
        """Reach without what a place and a radius account for, its size made 1."""
        around = self.directions
        rest = reach - reach.mean(axis=-1, keepdims=True)
        rest -= 3 / len(around) * (reach @ around) @ around.T
        return np.asarray(rest / np.maximum(np.linalg.norm(rest, axis=-1, keepdims=True), 1e-9))

    def poses(self, vertices: Points) -> list[_Pose]:
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
        found: list[_Pose] = []
        for row in np.argsort(np.median(np.abs(off), axis=1)[:, 0]).tolist():
            shape, turn = self.shapes[which[row]], turns[row]
            pitch, *middle, radius = factors[row, :5].tolist()
            same = (np.trace(turn.T @ one.turn) for one in found if one.drawn is shape)
            new = all(trace < 1 + 2 * math.cos(math.radians(20)) for trace in same)
            if min(pitch, radius) > 0 and new and len(found) < 8:
                origin = middle - pitch * turn @ np.mean(shape.balls, axis=0)
                found.append(_Pose(shape, pitch, turn, origin, (2 * radius,)))
        return found


@lru_cache
def _directions(fine: int) -> Points:
    """Directions of length 1, spread evenly over all, each with its opposite: 42 of 1, 162 of 2."""
    from trimesh.creation import icosphere

    return np.asarray(icosphere(fine).vertices)


def _explained(body: Body, shapes: dict[object, _Shape]) -> tuple[Part, _Pose | None]:
    """A body as its file has it, how well the best shape explains it, and that shape in its pose."""
    from trimesh.sample import sample_surface

    part = Part(body, body.vertices, BALLS)
    tables = _Tables(tuple(shape.drawn for shape in shapes.values()))
    has_extent = len(body.faces) > 0 and np.ptp(body.vertices, axis=0).any()
    poses = tables.poses(body.vertices) if has_extent else []
    if not poses:
        return replace(part, why="it is no piece of the set: it has no extent"), None
    # So many that those on one side of a hollow ball's wall leave no gaps there.
    points = sample_surface(body.as_trimesh, 5000, seed=0)[0]
    overlays = [(_overlay(points, pose), pose) for pose in poses]
    (score, _), best = max(overlays, key=lambda one: one[0])
    # Of those with the same balls the links decide, which are measured.
    own = _images(BallBody(best.drawn.balls, ()))
    others = [
        (shapes[_images(pose.drawn)].called, explained)
        for (explained, _), pose in overlays
        if _images(BallBody(pose.drawn.balls, ())) != own
    ]
    why, placed = _placed(body, best)
    if placed:
        score, outside = _overlay(points, placed)
        why = "" if outside <= 0.01 else "there is more than that in it"  # than specks
    part = replace(part, score=score, second=max(others, key=lambda one: one[1], default=None))
    if not why:
        return part, placed
    nearest = shapes[_images(best.drawn)].called
    why = f"it is no piece of the set: {nearest} comes nearest, but {why}"
    why = why if score >= 0.6 else "it has the balls of no piece of the set"
    return replace(part, why=why), None


def _overlay(points: Points, pose: _Pose) -> tuple[float, float]:
    """How well a pose explains points of a surface, from 0 to 1; and which part lies far outside.

    The share of these that are not outside the union of balls and links, times the share of the
    union's balls which has one of these near. Links are taken for three quarters as thick.
    """
    from scipy.spatial import cKDTree

    at = (points - pose.origin) @ pose.turn / pose.pitch
    balls, bonds = np.array(pose.drawn.balls, float), pose.drawn.bonds
    radius = median(pose.diameters) / 2 / pose.pitch

    def outside(points: Points) -> NDArray[np.float64]:
        in_links = from_middles(points, balls, bonds) - 0.75 * radius
        return np.minimum(from_middles(points, balls, ()) - radius, in_links)

    shown = (balls[:, None] + radius * _directions(1)).reshape(-1, 3)
    near = cKDTree(at).query(shown[outside(shown) > -1e-6])[0] < 0.1
    off = outside(at)
    return float((off < 0.1).mean() * near.mean()), float((off > 0.25).mean())


def from_middles(
    points: Points, places: Points, bonds: Sequence[tuple[int, int]]
) -> NDArray[np.float64]:
    """How far points (n, 3) are from the nearest ball's middle, or line between bonded ones."""
    found = []
    for one, other in [*((i, i) for i in range(len(places))), *bonds]:
        way = places[other] - places[one]
        along = np.clip((points - places[one]) @ way / (float(way @ way) or 1.0), 0.0, 1.0)
        found.append(np.linalg.norm(points - places[one] - along[:, None] * way, axis=1))
    return np.asarray(np.min(found, axis=0))


# --- measured ---------------------------------------------------------------------------------


def _placed(body: Body, about: _Pose) -> tuple[str, _Pose | None]:
    """Balls fitted to the surface near them, and their lattice to these, however facets are
    turned; or why they are not there."""
    from trimesh.registration import procrustes

    wanted, found = np.array(about.drawn.balls, float), []
    middles = about.origin + about.pitch * wanted @ about.turn.T
    away = [np.linalg.norm(body.vertices - middle, axis=1) for middle in middles]
    owners = np.argmin(away, axis=0)[body.faces]
    for at, middle in enumerate(middles):
        ball = _ball(body, (owners == at).any(axis=1), middle, about.diameters[0] / 2)
        if ball is None:
            return f"ball {at} is not at its place", None
        found.append(ball)
    seen = np.array([middle for middle, _ in found])
    matrix, _, _ = procrustes(wanted, seen, reflection=False)
    pitch = float(np.linalg.norm(matrix[:3, 0]))
    turn, origin = matrix[:3, :3] / pitch, matrix[:3, 3]
    off = np.linalg.norm(seen - origin - pitch * wanted @ turn.T, axis=1)
    if off.max() > 0.15 * pitch:
        return f"ball {off.argmax()} is not at its place", None
    diameters = tuple(2 * radius for _, radius in found)
    return "", _Pose(about.drawn, pitch, turn, origin, diameters, float(off.max()))


def _ball(
    body: Body, near: NDArray[np.bool_], middle: Points, radius: float
) -> tuple[Points, float] | None:
    """The sphere on which facets near it lie; None when too little of it is there."""
    mesh, faces = body.as_trimesh, body.faces[near]
    corners, normals, areas = body.vertices[faces], mesh.face_normals[near], mesh.area_faces[near]
    for tolerance in (0.15, 0.08, 0.08):  # of the radius, ever nearer
        off = np.linalg.norm(corners - middle, axis=2) - radius
        away = ((corners[:, 0] - middle) * normals).sum(axis=1)
        on_ball = (np.abs(off) < tolerance * radius).all(axis=1)
        on_ball &= np.abs(away) > 0.9 * radius  # the facet's plane touches it, nearly
        if areas[on_ball].sum() < 0.01 * 4 * math.pi * radius**2:
            return None
        # Where a link or the flat cuts a ball of chords, the new corners lie a little inside it.
        inner = np.setdiff1d(faces[on_ball], faces[~on_ball])
        inner = inner if len(inner) >= _ENOUGH_CORNERS else np.unique(faces[on_ball])
        fitted = _sphere((body.vertices[inner] - middle) / radius)
        if fitted is None:
            return None
        middle, radius = middle + radius * fitted[0], radius * fitted[1]
    return middle, radius


def _sphere(points: Points) -> tuple[Points, float] | None:
    """The sphere on which the outer ones of points lie: others are middles of chords."""
    while True:
        middle, radius, is_told = sphere_through(points)
        if not is_told:
            return None
        off = np.linalg.norm(points - middle, axis=1) - radius
        usual = float(np.median(off))
        most = usual + 3 * float(np.median(np.abs(off - usual))) + _SPREAD * radius
        outer = (off >= usual) & (off <= most)
        if off.std() < _SPREAD * radius or outer.sum() < _ENOUGH_CORNERS:
            return middle, radius
        points = points[outer]


def _measured(
    part: Part, pose: _Pose | None, shapes: dict[object, _Shape], length_mm: float
) -> Part:
    """A part in mm, on the lattice of its balls."""
    if pose is None:
        return replace(part, vertices=part.vertices * length_mm)
    pitch_mm = pose.pitch * length_mm
    diameters_mm = tuple(diameter * length_mm for diameter in pose.diameters)
    part = replace(part, vertices=(part.vertices - pose.origin) @ pose.turn * length_mm)
    links = _link_widths(part, pose.drawn, pitch_mm, median(diameters_mm))
    own = BallBody(pose.drawn.balls, tuple(links))
    # Of pieces that differ by links alone it is the one that has just these.
    same, nearest = shapes.get(_images(own)), shapes[_images(pose.drawn)]
    alike, mirrored = same.alike if same else nearest.alike[:1], (same or nearest).mirrored
    sizes = pitch_mm, diameters_mm, tuple(links.values()), pose.off * length_mm
    return replace(part, balls=Balls(own, *sizes, alike, mirrored, as_linked=same is not None))


def neighbours(shape: BallBody) -> Iterator[tuple[int, int]]:
    """The pairs of balls that lie one pitch apart: the bonded ones as they stand, then others."""
    yield from shape.bonds
    bonded = {frozenset(bond) for bond in shape.bonds}
    for pair in combinations(range(len(shape.balls)), 2):
        if math.dist(*(shape.balls[i] for i in pair)) == 1 and frozenset(pair) not in bonded:
            yield pair


def _link_widths(
    part: Part, drawn: BallBody, pitch_mm: float, ball_mm: float
) -> dict[tuple[int, int], float]:
    """The links that are there, whichever are drawn, each with its least width.

    That is the smallest distance of two parallel lines that hold it, in any of nine cuts where
    balls are still wider: those a quarter of a ball from both middles, and between. A link that
    lies on the bed is cut by the flat there, and is less high than wide.
    """
    found, heights = {}, np.linspace(-1, 1, 9) * (pitch_mm / 2 - ball_mm / 4)
    for pair in neighbours(drawn):
        ends = pitch_mm * np.array([drawn.balls[i] for i in pair], float)
        hulls = cuts_between(part.straight.as_trimesh, ends, heights.tolist())
        if hulls[4].contains(shapely.Point(0, 0)):
            found[pair] = min(map(_width, hulls))
    return found


def cuts_between(mesh: Any, ends: Points, heights: Sequence[float]) -> list[BaseGeometry]:
    """Sections of a `trimesh.Trimesh` across the line between two points, so far from halfway.

    Of each the convex hull of what is nearer to that line than to other places, the line at 0, 0.
    """
    from trimesh.intersections import mesh_multiplane

    way, found = ends[1] - ends[0], []
    sections, _, _ = mesh_multiplane(mesh, ends.mean(axis=0), way, heights)
    for section in sections:
        lines = shapely.linestrings(section)
        near = shapely.distance(lines, shapely.Point(0, 0)) < np.linalg.norm(way) / 2
        found.append(shapely.multilinestrings(lines[near]).convex_hull)
    return found


def _width(hull: BaseGeometry) -> float:
    """The smallest distance of two parallel lines that hold a convex polygon."""
    ring = shapely.get_coordinates(hull)
    if len(ring) < 4:
        return math.inf
    normals = np.diff(ring, axis=0)[:, ::-1] * (-1, 1)
    return float((np.ptp(ring @ normals.T, axis=0) / np.linalg.norm(normals, axis=1)).min())
