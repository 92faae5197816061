"""Fitting ball pieces: every piece of the set, in every pose, is compared with the mesh.

For any rotation, the support function of a drawing (its extent in each direction) is linear in its
pitch, radius and position. So a rotation is fitted to the support function of the mesh by linear
least squares, whatever its facets, unit of length and interior. The best poses of all pieces and
their mirror images are scored on the surface, and the one that explains most of it wins. Then its
balls, their lattice and its links are measured.
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

from fabkit.mesh.features import fit_sphere
from fabkit.mesh.mesh import Mesh, Points
from fabkit.mesh.part import BALLS, Balls, Part, length_unit_mm
from fabkit.model.balls import ROTATIONS, BallBody, rotate_ball
from fabkit.model.puzzle import PuzzleSet

#: Vertices that spread by more than this part of the radius are not all on the ball.
_SPREAD = 0.002
#: So many vertices determine a ball reliably.
_ENOUGH_CORNERS = 8


class _TargetShape(NamedTuple):
    """A candidate: equal pieces of the set, or their mirror image."""

    alike: tuple[str, ...]
    mirrored: bool
    body: BallBody

    @property
    def description(self) -> str:
        """What a message calls it."""
        return ("the mirror image of " if self.mirrored else "") + self.alike[0]


class _Pose(NamedTuple):
    """Balls at their places in a mesh: ball ``b`` is at ``origin + pitch * turn @ b``, nearly."""

    body: BallBody
    pitch: float
    turn: Points
    origin: Points
    diameters: tuple[float, ...]
    off: float = 0.0  # distance of the worst ball's centre from its place


class BallFitter:
    """The fit of meshes to the ball pieces of a set, in any orientation; each is measured once."""

    def __init__(self, puzzle: PuzzleSet) -> None:
        bodies = [(piece.id, piece.body) for piece in puzzle.pieces if piece.body]
        self._shapes = _target_shapes(tuple(bodies))
        self._poses: dict[Mesh, tuple[Part, _Pose | None]] = {}

    def fit(self, meshes: Sequence[Mesh], *pitches_mm: float) -> tuple[list[Part], float]:
        """Return a part for each mesh, and the files' unit of length in mm, which the candidates
        `pitches_mm` for the distance of neighbouring balls determine."""
        for mesh in meshes:
            if mesh not in self._poses:
                self._poses[mesh] = _best_pose(mesh, self._shapes)
        fits = [self._poses[mesh] for mesh in meshes]
        pitches = [pose.pitch for _, pose in fits if pose]
        length_mm = length_unit_mm(median(pitches), pitches_mm) if pitches else 1.0
        return [_part(part, pose, self._shapes, length_mm) for part, pose in fits], length_mm


@lru_cache
def _target_shapes(pieces: tuple[tuple[str, BallBody], ...]) -> dict[object, _TargetShape]:
    """Return the different shapes of pieces and their mirror images, by their rotated images."""
    shapes: dict[object, _TargetShape] = {}
    for sign, (name, piece) in product((1, -1), pieces):
        body = BallBody(tuple((sign * x, y, z) for x, y, z in piece.balls), piece.bonds)
        shape = shapes.setdefault(images := _images(body), _TargetShape((), sign < 0, body))
        if shape.mirrored == (sign < 0):
            shapes[images] = shape._replace(alike=(*shape.alike, name))
    return shapes


def _images(shape: BallBody) -> object:
    """Return all rotated images of a shape, equal for shapes that differ by a rotation."""
    images = set()
    for rotation in ROTATIONS:
        balls = np.array([rotate_ball(rotation, ball) for ball in shape.balls])
        places = [tuple(ball) for ball in (balls - balls.min(axis=0)).tolist()]
        bonds = frozenset(frozenset((places[i], places[j])) for i, j in shape.bonds)
        images.add((frozenset(places), bonds))
    return frozenset(images)


@lru_cache
class _PoseTable:
    """Support functions of shapes in many rotations."""

    def __init__(self, shapes: tuple[BallBody, ...]) -> None:
        from scipy.spatial.transform import Rotation

        self.shapes = shapes
        self.directions = _directions(2)
        ball_count = max(len(shape.balls) for shape in shapes)
        # Relative to their centroid; padded with repetitions to equal length.
        balls = np.array([np.resize(shape.balls, (ball_count, 3)) for shape in shapes], float)
        self.balls = balls - [[np.mean(shape.balls, axis=0)] for shape in shapes]
        quaternions = np.random.default_rng(0).normal(size=(600, 4))
        self.rotations = Rotation.from_quat(quaternions).as_matrix()
        rows = self.rotations.reshape(-1, 9)
        self.near = np.argsort(-(rows @ rows.T), axis=1)[:, :12]
        turned = self.directions @ self.rotations
        self._reaches = self._plain(np.array([(turned @ b.T).max(axis=2) for b in self.balls]))

    def _plain(self, reach: Points) -> Points:
        """Return a support function without the share of position and radius, scaled to 1."""
        around = self.directions
        shape = reach - reach.mean(axis=-1, keepdims=True)
        shape -= 3 / len(around) * (reach @ around) @ around.T
        return np.asarray(shape / np.maximum(np.linalg.norm(shape, axis=-1, keepdims=True), 1e-9))

    def poses(self, vertices: Points) -> list[_Pose]:
        """Return the poses of shapes that match the support function of a mesh, the best first."""
        from scipy.spatial.transform import Rotation

        reach = (vertices @ self.directions.T).max(axis=0)
        alike = self._reaches @ self._plain(reach)
        # Try only the best of similar rotations, and at most a dozen for each shape.
        alike[alike < alike[:, self.near].max(axis=2)] = -1.0
        best = np.argsort(-alike, axis=1)[:, :12]
        which = np.repeat(np.arange(len(self.shapes)), best.shape[1])
        turns = self.rotations[best.ravel()]
        balls = self.balls[which]
        # Gauss-Newton for pitch, position, radius and rotation, shape (k, 8).
        around = np.broadcast_to(self.directions, (len(turns), *self.directions.shape))
        weights = ones = np.ones((*around.shape[:2], 1))
        factors = np.full((len(turns), 8), np.ptp(reach) / 4)
        for _ in range(10):
            rotated = balls @ turns.transpose(0, 2, 1)
            along = around @ rotated.transpose(0, 2, 1)
            outermost = np.take_along_axis(rotated, along.argmax(axis=2)[:, :, None], axis=1)
            turning = factors[:, :1, None] * np.cross(outermost, around)
            columns = np.concatenate([along.max(axis=2)[:, :, None], around, ones, turning], axis=2)
            weighted = (columns * weights).transpose(0, 2, 1)
            square = weighted @ columns
            # A rotation about a rod's own axis is undetermined and stays unchanged.
            square += 1e-9 * np.trace(square, axis1=1, axis2=2)[:, None, None] * np.eye(8)
            factors = np.linalg.solve(square, weighted @ reach[:, None])[:, :, 0]
            off = reach[:, None] - columns @ factors[:, :, None]
            turns = Rotation.from_rotvec(np.clip(factors[:, 5:], -0.5, 0.5)).as_matrix() @ turns
            # Outliers (such as the directions of the flat) get less weight.
            weights = 1 / (1 + (off / (0.02 * np.ptp(reach))) ** 2)
        poses: list[_Pose] = []
        for row in np.argsort(np.median(np.abs(off), axis=1)[:, 0]).tolist():
            shape, turn = self.shapes[which[row]], turns[row]
            pitch, *middle, radius = factors[row, :5].tolist()
            same = (np.trace(turn.T @ pose.turn) for pose in poses if pose.body is shape)
            new = all(trace < 1 + 2 * math.cos(math.radians(20)) for trace in same)
            if min(pitch, radius) > 0 and new and len(poses) < 8:
                origin = middle - pitch * turn @ np.mean(shape.balls, axis=0)
                poses.append(_Pose(shape, pitch, turn, origin, (2 * radius,)))
        return poses


@lru_cache
def _directions(fine: int) -> Points:
    """Return evenly spread unit vectors, each with its opposite: 42 for 1, 162 for 2."""
    from trimesh.creation import icosphere

    return np.asarray(icosphere(fine).vertices)


def _best_pose(mesh: Mesh, shapes: dict[object, _TargetShape]) -> tuple[Part, _Pose | None]:
    """Return the mesh as in its file, the score of the best shape, and that shape in its pose."""
    from trimesh.sample import sample_surface

    part = Part(mesh, mesh.vertices, BALLS)
    tables = _PoseTable(tuple(shape.body for shape in shapes.values()))
    has_extent = len(mesh.faces) > 0 and np.ptp(mesh.vertices, axis=0).any()
    poses = tables.poses(mesh.vertices) if has_extent else []
    if not poses:
        return replace(part, reason="it is not a piece of the set: it has no extent"), None
    # Enough that the points on one side of a hollow ball's wall leave no gaps.
    points = sample_surface(mesh.as_trimesh, 5000, seed=0)[0]
    overlays = [(_score(points, pose), pose) for pose in poses]
    (score, _), best = max(overlays, key=lambda overlay: overlay[0])
    # Among shapes with equal balls, the measured links decide.
    balls = _images(BallBody(best.body.balls, ()))
    others = [
        (shapes[_images(pose.body)].description, explained)
        for (explained, _), pose in overlays
        if _images(BallBody(pose.body.balls, ())) != balls
    ]
    why, refined = _refined(mesh, best)
    if refined:
        score, outside = _score(points, refined)
        why = "" if outside <= 0.01 else "it has additional material"  # than specks
    runner_up = max(others, key=lambda rival: rival[1], default=None)
    part = replace(part, score=score, runner_up=runner_up)
    if not why:
        return part, refined
    nearest = shapes[_images(best.body)].description
    why = f"it is not a piece of the set: {nearest} is closest, but {why}"
    why = why if score >= 0.6 else "no piece of the set has such balls"
    return replace(part, reason=why), None


def _score(points: Points, pose: _Pose) -> tuple[float, float]:
    """Score a pose against points of a surface, from 0 to 1; also return the share far outside.

    The score is the share of points that are not outside the union of balls and links, times the
    share of balls with a point nearby. Links count as three quarters as thick.
    """
    from scipy.spatial import cKDTree

    positions = (points - pose.origin) @ pose.turn / pose.pitch
    balls = np.array(pose.body.balls, float)
    radius = median(pose.diameters) / 2 / pose.pitch

    def outside(points: Points) -> NDArray[np.float64]:
        in_links = distance_to_skeleton(points, balls, pose.body.bonds) - 0.75 * radius
        return np.minimum(distance_to_skeleton(points, balls, ()) - radius, in_links)

    ball_points = (balls[:, None] + radius * _directions(1)).reshape(-1, 3)
    met = cKDTree(positions).query(ball_points[outside(ball_points) > -1e-6])[0] < 0.1
    off = outside(positions)
    # As a share of the radius: else balls halfway along links of twice the pitch would pass for
    # links.
    return float((off < min(0.1, 0.2 * radius)).mean() * met.mean()), float((off > 0.25).mean())


def distance_to_skeleton(
    points: Points, places: Points, bonds: Sequence[tuple[int, int]]
) -> NDArray[np.float64]:
    """Return the distances of points (n, 3) from the nearest ball's middle or link's axis."""
    distances = []
    for start, end in [*((i, i) for i in range(len(places))), *bonds]:
        axis = places[end] - places[start]
        along = np.clip((points - places[start]) @ axis / (float(axis @ axis) or 1.0), 0.0, 1.0)
        distances.append(np.linalg.norm(points - places[start] - along[:, None] * axis, axis=1))
    return np.asarray(np.min(distances, axis=0))


def _refined(mesh: Mesh, rough: _Pose) -> tuple[str, _Pose | None]:
    """Fit balls to the surface near them, and the lattice to the balls; or return why this fails.

    The result does not depend on the tessellation.
    """
    from trimesh.registration import procrustes

    drawn = np.array(rough.body.balls, float)
    expected = rough.origin + rough.pitch * drawn @ rough.turn.T
    away = [np.linalg.norm(mesh.vertices - middle, axis=1) for middle in expected]
    owners = np.argmin(away, axis=0)[mesh.faces]
    balls = []
    for index, middle in enumerate(expected):
        ball = _fit_ball(mesh, (owners == index).any(axis=1), middle, rough.diameters[0] / 2)
        if ball is None:
            return f"ball {index} is not at its place", None
        balls.append(ball)
    fitted, diameters = np.array([middle for middle, _ in balls]), [2 * r for _, r in balls]
    matrix, _, _ = procrustes(*_with_roll(mesh, rough.body, drawn, fitted), reflection=False)
    pitch = float(np.linalg.norm(matrix[:3, 0]))
    turn, origin = matrix[:3, :3] / pitch, matrix[:3, 3]
    off = np.linalg.norm(fitted - origin - pitch * drawn @ turn.T, axis=1)
    if off.max() > 0.15 * pitch:
        return f"ball {off.argmax()} is not at its place", None
    return "", _Pose(rough.body, pitch, turn, origin, tuple(diameters), float(off.max()))


def _with_roll(mesh: Mesh, body: BallBody, drawn: Points, fitted: Points) -> tuple[Points, Points]:
    """Add a point beside a straight row of balls, whose roll they leave open: its flat is below."""
    row = fitted[-1] - fitted[0]
    if body.normal is None or np.linalg.matrix_rank(drawn - drawn[0]) > 1:
        return drawn, fitted
    lean = mesh.as_trimesh.center_mass - fitted.mean(axis=0)
    lean -= row * (lean @ row) / (row @ row)
    scale = np.linalg.norm(row) / np.linalg.norm(drawn[-1] - drawn[0])
    above = fitted[0] + scale * lean / max(np.linalg.norm(lean), 1e-9)
    return np.vstack([drawn, drawn[0] + np.eye(3)[body.normal]]), np.vstack([fitted, above])


def _fit_ball(
    mesh: Mesh, is_near: NDArray[np.bool_], middle: Points, radius: float
) -> tuple[Points, float] | None:
    """Fit a sphere to the facets near it; None if too little of it is there."""
    faces = mesh.faces[is_near]
    corners = mesh.vertices[faces]
    areas = mesh.as_trimesh.area_faces[is_near]
    normals = mesh.as_trimesh.face_normals[is_near]
    for tolerance in (0.15, 0.08, 0.08):  # of the radius, closer each time
        off = np.linalg.norm(corners - middle, axis=2) - radius
        away = ((corners[:, 0] - middle) * normals).sum(axis=1)
        on_ball = (np.abs(off) < tolerance * radius).all(axis=1)
        on_ball &= np.abs(away) > 0.9 * radius  # the facet's plane is nearly tangent to it
        if areas[on_ball].sum() < 0.01 * 4 * math.pi * radius**2:
            return None
        # Where a link or the flat cuts a faceted ball, the new corners are slightly inside it.
        inner = np.setdiff1d(faces[on_ball], faces[~on_ball])
        inner = inner if len(inner) >= _ENOUGH_CORNERS else np.unique(faces[on_ball])
        fitted = _fit_outer_sphere((mesh.vertices[inner] - middle) / radius)
        if fitted is None:
            return None
        middle, radius = middle + radius * fitted[0], radius * fitted[1]
    return middle, radius


def _fit_outer_sphere(points: Points) -> tuple[Points, float] | None:
    """Fit a sphere to the outer points; the others are midpoints of chords."""
    while True:
        middle, radius, is_determined = fit_sphere(points)
        if not is_determined:
            return None
        off = np.linalg.norm(points - middle, axis=1) - radius
        usual = float(np.median(off))
        upper = usual + 3 * float(np.median(np.abs(off - usual))) + _SPREAD * radius
        outer = (off >= usual) & (off <= upper)
        if off.std() < _SPREAD * radius or outer.sum() < _ENOUGH_CORNERS:
            return middle, radius
        points = points[outer]


def _part(
    part: Part, pose: _Pose | None, shapes: dict[object, _TargetShape], length_mm: float
) -> Part:
    """Return a part in mm, on the lattice of its balls."""
    if pose is None:
        return replace(part, vertices=part.vertices * length_mm)
    pitch_mm = pose.pitch * length_mm
    diameters_mm = tuple(diameter * length_mm for diameter in pose.diameters)
    part = replace(part, vertices=(part.vertices - pose.origin) @ pose.turn * length_mm)
    links = _link_widths(part, pose.body, pitch_mm, median(diameters_mm))
    shape = BallBody(pose.body.balls, tuple(links))
    # Among pieces that differ only in links, take the one with exactly these.
    same = shapes.get(_images(shape))
    nearest = same or shapes[_images(pose.body)]
    balls = Balls(
        shape=shape,
        pitch_mm=pitch_mm,
        diameters_mm=diameters_mm,
        links_mm=tuple(links.values()),
        off_mm=pose.off * length_mm,
        alike=nearest.alike if same else nearest.alike[:1],
        mirrored=nearest.mirrored,
        as_linked=same is not None,
    )
    return replace(part, balls=balls)


def adjacent_pairs(shape: BallBody) -> Iterator[tuple[int, int]]:
    """Yield the pairs of balls one pitch apart: the bonded ones in their order, then others."""
    yield from shape.bonds
    bonded = {frozenset(bond) for bond in shape.bonds}
    for pair in combinations(range(len(shape.balls)), 2):
        if math.dist(*(shape.balls[i] for i in pair)) == 1 and frozenset(pair) not in bonded:
            yield pair


def _link_widths(
    part: Part, body: BallBody, pitch_mm: float, ball_mm: float
) -> dict[tuple[int, int], float]:
    """Return the links found, drawn or not, each with its smallest width.

    The width is the smallest distance of two parallel lines around it, in any of nine sections
    where balls are still wider: from a quarter of a ball from both centres to halfway between. A
    link on the bed is cut by the flat, so it is less high than wide.
    """
    widths = {}
    heights = np.linspace(-1, 1, 9) * (pitch_mm / 2 - ball_mm / 4)
    for pair in adjacent_pairs(body):
        ends = pitch_mm * np.array([body.balls[i] for i in pair], float)
        hulls = cross_sections(part.aligned.as_trimesh, ends, heights.tolist())
        if hulls[4].contains(shapely.Point(0, 0)):
            widths[pair] = min(map(_width, hulls))
    return widths


def cross_sections(mesh: Any, ends: Points, heights: Sequence[float]) -> list[BaseGeometry]:
    """Return sections of a `trimesh.Trimesh` across the line between two points, off halfway.

    Each is the convex hull of the part nearer to that line, at (0, 0), than to other balls.
    """
    from trimesh.intersections import mesh_multiplane

    hulls, axis = [], ends[1] - ends[0]
    sections, _, _ = mesh_multiplane(mesh, ends.mean(axis=0), axis, heights)
    for section in sections:
        lines = shapely.linestrings(section)
        is_near = shapely.distance(lines, shapely.Point(0, 0)) < np.linalg.norm(axis) / 2
        hulls.append(shapely.multilinestrings(lines[is_near]).convex_hull)
    return hulls


def _width(hull: BaseGeometry) -> float:
    """Return the smallest distance of two parallel lines around a convex polygon."""
    ring = shapely.get_coordinates(hull)
    if len(ring) < 4:
        return math.inf
    normals = np.diff(ring, axis=0)[:, ::-1] * (-1, 1)
    return float((np.ptp(ring @ normals.T, axis=0) / np.linalg.norm(normals, axis=1)).min())
