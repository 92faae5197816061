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
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import median
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabkit.mesh.balls.measure import Placed, link_widths, nearest_rotation, place, to_lines
from fabkit.mesh.body import Body, Points
from fabkit.mesh.part import BALLS, Balls, Part, length_mm_of
from fabkit.model.balls import ROTATIONS, BallBody, turned
from fabkit.model.puzzle import PuzzleSet

#: Directions in which reach is looked at, and rotations that are tried, spread over all.
_DIRECTIONS, _ROTATIONS = 128, 600
#: Of so many rotations near to each other only the best is tried, of so many for each shape.
_NEAR_ROTATIONS, _BEST_ROTATIONS = 12, 16
#: They are made better in so many steps; then the best of all in so many more, in which directions
#: that disagree by this part of the mesh's size (those of the flat, say) weigh less.
_STEPS, _BEST, _MORE_STEPS, _DISAGREES = 3, 48, 4, 0.02
#: So many poses are laid over the surface; two of one shape differ by more than this (radians).
_OVERLAID, _OTHER_POSE = 8, math.radians(20)
#: Points of the surface that are looked at; how near they are to the drawing's, in pitches.
_POINTS, _SAME = 2000, 0.1
#: A piece has nothing but specks (this part of its surface) farther outside than this, in pitches.
_SPECKS, _OUTSIDE = 0.01, 0.25
#: What explains less than this is not like it at all.
_NOTHING_LIKE = 0.6


class _Shape(NamedTuple):
    """What a part may be: pieces of the set that are alike, or their mirror image."""

    alike: tuple[str, ...]
    mirrored: bool
    drawn: BallBody

    @property
    def called(self) -> str:
        """In messages."""
        return ("the mirror image of " if self.mirrored else "") + self.alike[0]


@dataclass(frozen=True, eq=False)
class _Pose:
    """A shape in a pose: ball ``b`` is at ``origin + pitch * turn @ b``, in the file's length."""

    shape: _Shape
    turn: Points
    pitch: float
    origin: Points
    radius: float


def take_in_balls(
    bodies: Sequence[Body], puzzle: PuzzleSet, *pitches_mm: float
) -> tuple[list[Part], float]:
    """Recognises pieces of balls, whatever way they lie, and measures them.

    Args:
        bodies: the parts of a set, or some of them.
        puzzle: the set, its pieces made of balls.
        pitches_mm: what the distance of neighbouring balls may be, at least one. They decide
            only in which unit of length the files are.

    Returns:
        A part for each body, and the files' unit of length in mm.
    """
    shapes = _shapes(tuple((piece.id, piece.body) for piece in puzzle.pieces if piece.body))
    parts = [_part(body, shapes) for body in bodies]
    pitches = [part.balls.pitch_mm for part in parts if part.balls]
    length_mm = length_mm_of(median(pitches), pitches_mm) if pitches else 1.0
    return [_scaled(part, length_mm) for part in parts], length_mm


def _scaled(part: Part, length_mm: float) -> Part:
    balls = part.balls and replace(
        part.balls,
        pitch_mm=part.balls.pitch_mm * length_mm,
        diameters_mm=tuple(diameter * length_mm for diameter in part.balls.diameters_mm),
        links_mm=tuple(width * length_mm for width in part.balls.links_mm),
        off_mm=part.balls.off_mm * length_mm,
    )
    return replace(part, vertices=part.vertices * length_mm, balls=balls)


# --- shapes -------------------------------------------------------------------------------


@lru_cache
def _shapes(pieces: tuple[tuple[str, BallBody], ...]) -> dict[object, _Shape]:
    """The different shapes of pieces and their mirror images, by their images."""
    found: dict[object, _Shape] = {}
    for mirrored in (False, True):
        for name, body in pieces:
            drawn = mirror_image(body) if mirrored else body
            shape = found.setdefault(_images(drawn), _Shape((), mirrored, drawn))
            if shape.mirrored == mirrored:
                found[_images(drawn)] = shape._replace(alike=(*shape.alike, name))
    return found


def mirror_image(shape: BallBody) -> BallBody:
    """A shape as a mirror shows it.

    Example:
        >>> mirror_image(BallBody(((0, 0, 0), (1, 0, 0)), ((0, 1),))).balls
        ((0, 0, 0), (-1, 0, 0))
    """
    return BallBody(tuple((-x, y, z) for x, y, z in shape.balls), shape.bonds)


def _images(shape: BallBody) -> object:
    """All images of a shape: the same for those that can be turned alike."""
    images = set()
    for rotation in ROTATIONS:
        balls = np.array([turned(rotation, ball) for ball in shape.balls])
        places = [tuple(ball) for ball in (balls - balls.min(axis=0)).tolist()]
        bonds = frozenset(frozenset((places[i], places[j])) for i, j in shape.bonds)
        images.add((frozenset(places), bonds))
    return frozenset(images)


# --- by reach -----------------------------------------------------------------------------


@lru_cache
class _Tables:
    """How far shapes reach in every direction, in many rotations.

    Attributes:
        shapes: the shapes.
        balls: theirs around their middle, shape (s, b, 3); some twice, so that all have as many.
        directions: spread over all, shape (n, 3).
        rotations: the same, shape (r, 3, 3).
        near: the rotations nearest to each, shape (r, k).
    """

    def __init__(self, shapes: tuple[_Shape, ...]) -> None:
        self.shapes = shapes
        most = max(len(shape.drawn.balls) for shape in shapes)
        balls = np.array([np.resize(shape.drawn.balls, (most, 3)) for shape in shapes], float)
        middles = [np.mean(shape.drawn.balls, axis=0) for shape in shapes]
        self.balls = balls - np.array(middles)[:, None]
        self.directions = directions = _directions(_DIRECTIONS)
        some = np.random.default_rng(0).normal(size=(_ROTATIONS, 3, 3))
        self.rotations = nearest_rotation(some)
        rows = self.rotations.reshape(-1, 9)
        self.near = np.argsort(-(rows @ rows.T), axis=1)[:, :_NEAR_ROTATIONS]
        self._basis, _ = np.linalg.qr(np.column_stack([np.ones(len(directions)), directions]))
        looks = directions @ self.rotations
        self._reaches = self._plain(np.array([(looks @ b.T).max(axis=2) for b in self.balls]))

    def _plain(self, reach: Points) -> Points:
        """Reach without what a place and a radius account for, its size made 1."""
        rest = reach - (reach @ self._basis) @ self._basis.T
        sizes = np.linalg.norm(rest, axis=-1, keepdims=True)
        return np.asarray(rest / np.where(sizes > 0, sizes, 1.0))

    def poses(self, vertices: Points) -> list[_Pose]:
        """The poses in which shapes reach as far as a mesh does, the best first."""
        reach = (vertices @ self.directions.T).max(axis=0)
        alike = self._reaches @ self._plain(reach)
        alike[alike < alike[:, self.near].max(axis=2)] = -1.0
        tried = np.argsort(-alike, axis=1)[:, :_BEST_ROTATIONS]
        which = np.repeat(np.arange(len(self.shapes)), tried.shape[1])
        turns = self.rotations[tried.ravel()]
        _, turns, off = self._fitted(reach, self.balls[which], turns, _STEPS)
        best = np.argsort(off)[:_BEST]
        which, turns = which[best], turns[best]
        factors, turns, off = self._fitted(
            reach, self.balls[which], turns, _MORE_STEPS, _DISAGREES * float(np.ptp(reach))
        )
        found: list[_Pose] = []
        for row in np.argsort(off).tolist():
            shape, turn = self.shapes[which[row]], turns[row]
            pitch, *middle, radius = factors[row, :5].tolist()
            same = (np.trace(turn.T @ one.turn) for one in found if one.shape is shape)
            new = all(trace < 1 + 2 * math.cos(_OTHER_POSE) for trace in same)
            if min(pitch, radius) > 0 and new and len(found) < _OVERLAID:
                origin = middle - pitch * turn @ np.mean(shape.drawn.balls, axis=0)
                found.append(_Pose(shape, turn, pitch, origin, radius))
        return found

    def _fitted(
        self,
        reach: Points,
        balls: Points,
        turns: Points,
        steps: int,
        disagrees: float = math.inf,
    ) -> tuple[Points, Points, NDArray[np.float64]]:
        """Rotations made better, all at once, by the method of Gauss and Newton.

        Args:
            reach: in each direction.
            balls: around their middle, shape (k, b, 3).
            turns: shape (k, 3, 3).
            steps: so often.
            disagrees: directions that are so far off weigh half as much.

        Returns:
            Pitch, place, radius and last turn, shape (k, 8); rotations; how far they are off.
        """
        around = np.broadcast_to(self.directions, (len(turns), *self.directions.shape))
        weights, off = np.ones(around.shape[:2]), np.zeros(around.shape[:2])
        factors = np.full((len(turns), 8), np.ptp(reach) / 4)
        for _ in range(steps):
            shown = balls @ turns.transpose(0, 2, 1)
            along = around @ shown.transpose(0, 2, 1)
            outermost = np.take_along_axis(shown, along.argmax(axis=2)[:, :, None], axis=1)
            turning = factors[:, :1, None] * np.cross(outermost, around)
            ones = np.ones((*along.shape[:2], 1))
            columns = np.concatenate([along.max(axis=2)[:, :, None], around, ones, turning], axis=2)
            weighted = (columns * weights[:, :, None]).transpose(0, 2, 1)
            square = weighted @ columns
            # What a rod's own axis leaves open stays as it is.
            square += 1e-9 * np.trace(square, axis1=1, axis2=2)[:, None, None] * np.eye(8)
            factors = np.linalg.solve(square, weighted @ reach[:, None])[:, :, 0]
            off = reach - (columns @ factors[:, :, None])[:, :, 0]
            axes = np.clip(factors[:, 5:], -0.5, 0.5)[:, None]
            moved = np.cross(axes, turns.transpose(0, 2, 1)).transpose(0, 2, 1)
            turns = nearest_rotation(turns + moved)
            weights = 1 / (1 + (off / disagrees) ** 2)
        return factors, turns, np.median(np.abs(off), axis=1)


def _directions(count: int) -> Points:
    """Directions of length 1, spread over all."""
    at = np.arange(count) + 0.5
    z, turn = 1 - 2 * at / count, math.pi * (1 + math.sqrt(5)) * at
    wide = np.sqrt(1 - z * z)
    return np.column_stack([wide * np.cos(turn), wide * np.sin(turn), z])


# --- by surface ---------------------------------------------------------------------------


def _part(body: Body, shapes: dict[object, _Shape]) -> Part:
    """A body as the shape that explains it best, in the file's own length."""
    unread = Part(body, body.vertices, BALLS)
    nothing = "it is no piece of the set: "
    size = np.ptp(body.vertices, axis=0).max() if len(body.faces) else 0.0
    poses = _Tables(tuple(shapes.values())).poses(body.vertices) if size > 0 else []
    if not poses:
        return replace(unread, why=nothing + "it has no extent")
    points = _points_on(body)
    scores, outsides = zip(*(_overlay(points, pose) for pose in poses), strict=True)
    at = int(np.argmax(scores))
    best, score, outside = poses[at], scores[at], outsides[at]
    shape, drawn = best.shape, best.shape.drawn
    # Of those with the same balls the links decide, which are measured.
    own = _images(BallBody(drawn.balls, ()))
    others = [
        (one, pose.shape)
        for one, pose in zip(scores, poses, strict=True)
        if _images(BallBody(pose.shape.drawn.balls, ())) != own
    ]
    second = max(others, key=lambda one: one[0], default=None)
    placed = place(body, drawn, best.origin, best.pitch * best.turn, best.radius)
    if isinstance(placed, Placed):
        radius = median(placed.diameters) / 2
        best = _Pose(shape, placed.turn.T, placed.pitch, placed.origin, radius)
        score, outside = _overlay(points, best)
    unread = replace(unread, score=score, second=(second[1].called, second[0]) if second else None)
    if not isinstance(placed, Placed) or outside > _SPECKS:
        why = placed if isinstance(placed, str) else "there is more than that in it"
        why = f"{nothing}{shape.called} comes nearest, but {why}"
        if score < _NOTHING_LIKE:
            why = "it has the balls of no piece of the set"
        return replace(unread, why=why)
    vertices = (body.vertices - placed.origin) @ placed.turn.T
    links = link_widths(vertices[body.faces], drawn, placed)
    shown = BallBody(drawn.balls, tuple(links))
    # Of pieces that differ by links alone it is the one that has just these.
    same = shapes.get(_images(shown))
    balls = Balls(
        shown,
        placed.pitch,
        placed.diameters,
        tuple(links.values()),
        placed.off,
        same.alike if same else shape.alike[:1],
        same.mirrored if same else shape.mirrored,
        as_linked=same is not None,
    )
    return replace(unread, vertices=vertices, balls=balls)


def _points_on(body: Body) -> Points:
    """Points spread over a body's surface, always the same ones."""
    corners = body.vertices[body.faces]
    crossed = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    heaped = np.cumsum(np.linalg.norm(crossed, axis=1))
    which = np.searchsorted(heaped, (np.arange(_POINTS) + 0.5) / _POINTS * heaped[-1])
    cuts = np.sort(np.random.default_rng(0).random((_POINTS, 2)), axis=1)
    shares = np.diff(cuts, axis=1, prepend=0.0, append=1.0)
    return np.asarray((corners[which] * shares[:, :, None]).sum(axis=1))


def _overlay(points: Points, pose: _Pose) -> tuple[float, float]:
    """How well a pose explains points of a surface, from 0 to 1; and how many lie far outside.

    The share of these that are not outside the union of balls and links, times the share of that
    union's own points which have one of these near.
    """
    from scipy.spatial import cKDTree

    at = (points - pose.origin) @ pose.turn / pose.pitch
    balls, radius = np.array(pose.shape.drawn.balls, float), pose.radius / pose.pitch
    starts, ends = (balls[[bond[i] for bond in pose.shape.drawn.bonds]] for i in (0, 1))
    middles, ways = (starts + ends) / 2, ends - starts
    # A link is as thick as what is around its middle; where nothing is, as such links are.
    away = at[:, None] - middles
    along = (away * ways).sum(axis=2)
    across = np.sqrt(np.maximum((away**2).sum(axis=2) - along**2, 0.0))
    there = across[(np.abs(along) < _SAME) & (across < radius)]
    link = float(np.median(there)) if len(there) else 0.75 * radius

    def outside(points: Points) -> NDArray[np.float64]:
        to_balls, to_links = to_lines(points, balls, balls), to_lines(points, starts, ends)
        return np.asarray(np.minimum(to_balls - radius, to_links - link))

    looks = _directions(32)
    rings = looks - (ways @ looks.T)[:, :, None] * ways[:, None]
    rings /= np.linalg.norm(rings, axis=2, keepdims=True)
    shown = [balls[:, None] + radius * looks, middles[:, None] + link * rings]
    union = np.vstack([one.reshape(-1, 3) for one in shown])
    near = cKDTree(at).query(union[outside(union) > -1e-6])[0] < _SAME
    off = outside(at)
    return float((off < _SAME).mean() * near.mean()), float((off > _OUTSIDE).mean())
