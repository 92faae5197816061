"""Insertion of pieces into their board: whether they fit at every place, and with how much play.

Every orientation and rotation is tried at every place. Nearly all are decided in silhouette: between
the heights at which it changes, a board is a vertical prism, and a piece whose silhouette there does
not intersect the prism does not touch it. The rest is measured on the meshes.
"""

from __future__ import annotations

import cmath
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from fabkit.core.progress import Progress, counted, no_progress
from fabkit.drawing.outline import region_mm
from fabkit.drawing.placement import Pose
from fabkit.mesh.finding import TINY_MM3, Finding, check_limits, count_finding
from fabkit.mesh.identity import PeggedPart
from fabkit.mesh.manifold import crop
from fabkit.mesh.mesh import Points, moved
from fabkit.mesh.part import Part
from fabkit.mesh.placement import OrientedPiece, flat_piece, step_mm
from fabkit.model.balls import flat_poses, rotate_ball
from fabkit.model.lattice import LATTICES, Cell, Lattice
from fabkit.model.piece import normalize_cells
from fabkit.model.puzzle import to_units
from fabkit.profiles.profile import Profile

#: A piece is examined this much above its support: the precision of measured heights.
LIFT_MM = 0.005
#: An inserted piece may be shifted from stop to stop by this at most: loose enough to go in by hand
#: (the clearances of holes, channels and sockets), yet staying in its own cells.
MAX_PLAY_MM = 0.6
#: The minimum of this play: holes come out up to this much too narrow (printing guides), and the
#: piece must still go in.
MIN_PLAY_MM = 0.3
#: A resting piece that is pushed down by this must enter the board.
PRESS_MM = 0.05
#: An upside-down piece is at least this much higher, so that it is easily seen and felt.
MIN_PROTRUSION_MM = 1.5
#: Step of vertical paths.
_STEP_MM = 0.5
#: The end of a path is found to this precision.
_PRECISION = 1e-3


def ball_orientations(key: str, part: Part, unit_mm: float) -> tuple[OrientedPiece, ...]:
    """The orientations in which a fitted ball piece lies flat, up to rotation on the board.

    One for each side that can be up, in the order of `fabkit.model.balls.flat_poses`; the middles
    of its base's balls at height 0. If its printed flat is down, its links rest on the flat, and
    the whole piece is lower by as much.

    Raises:
        BallError: when it cannot lie flat.
    """
    assert part.balls is not None
    shape, pitch_mm, square = part.balls.shape, part.balls.pitch_mm, LATTICES["square"]
    orientations: dict[Any, OrientedPiece] = {}
    for pose in flat_poses(shape):
        # Invariant under rotation about the vertical: the upward components of the part's axes.
        if pose.rotation[2] in orientations:
            continue
        balls = np.array([rotate_ball(pose.rotation, ball) for ball in shape.balls])
        inserted = balls[:, 2] == balls[min(shape.base()), 2]
        reference = pitch_mm * balls[inserted].mean(axis=0)
        solid = part.aligned.manifold.transform(np.column_stack([pose.rotation, np.zeros(3)]))
        # The difference of a link's extent downwards and upwards, due to its printed flat.
        first, second = next(pair for pair in shape.bonds if inserted[[*pair]].all())
        x, y, middle = pitch_mm * (balls[first] + balls[second]) / 2
        link = crop(solid, (x - 0.2, y - 0.2, x + 0.2, y + 0.2))
        *_, low, _, _, high = link.bounding_box()
        reference[2] += max(0.0, float(high - middle) - float(middle - low))
        cells = normalize_cells(square, pose.cells)
        placed = solid.translate((unit_mm * _middle(square, cells) - reference).tolist())
        orientations[pose.rotation[2]] = OrientedPiece(key, square, unit_mm, cells, placed)
    return tuple(orientations.values())


def peg_orientation(
    key: str, pegged: PeggedPart, lattice: Lattice, unit_mm: float, over: bool
) -> OrientedPiece:
    """A fitted piece with pegs, as placed on a board of sockets, or turned over on it.

    Its plate's back (turned over: its face) is at height 0. See `ball_orientations`.
    """
    flat = flat_piece(key, pegged.whole, lattice)
    move = next(move for move in lattice.symmetries if move.flipped == over)
    cells = frozenset(map(move, flat.cells))
    anchored = normalize_cells(lattice, cells)
    shift = unit_mm * _middle(lattice, anchored) - flat.unit_mm * _middle(lattice, cells)
    shift[2] = 0.0 if over else -pegged.height_mm
    solid = flat.at((move, (0, 0))).translate(shift.tolist())
    return OrientedPiece(key, lattice, unit_mm, anchored, solid)


def _middle(lattice: Lattice, cells: frozenset[Cell]) -> Points:
    """The mean of the middles of cells, at height 0, in grid units."""
    return np.array([*np.mean(to_units(lattice, sorted(cells)), axis=0), 0.0])


def insertion_findings(
    parts: Mapping[str, Part | PeggedPart],
    board: Part,
    lattice: Lattice,
    profile: Profile,
    progress: Progress = no_progress,
) -> dict[str, list[Finding]]:
    """Findings on pieces inserted flat into a board of holes or sockets, by piece.

    A piece that is not solid, or any piece when the board is not, has only `socket-free`, which
    then fails and says why; the same holds for a piece without any place. Several pieces also get
    `socket-neighbours`, and those on pegs `socket-protrusion`.
    """
    insertion = _Insertion(board, lattice) if board.aligned.is_solid else None
    margins: dict[str, float] = {}
    findings: dict[str, list[Finding]] = {}
    for done, (key, part) in enumerate(parts.items()):
        counted(progress, done, len(parts), key)
        over: list[OrientedPiece] = []
        if isinstance(part, PeggedPart):
            orientations = [peg_orientation(key, part, lattice, board.unit_mm, over=False)]
            over = [peg_orientation(key, part, lattice, board.unit_mm, over=True)]
        else:
            orientations = list(ball_orientations(key, part, board.unit_mm))
        if insertion is None or not orientations[0].is_solid:
            why = f"{'the board' if insertion is None else 'it'} does not bound a volume"
            why = f"its overlap with the board cannot be measured: {why}"
            findings[key] = [Finding("socket-free", False, None, TINY_MM3, "mm3", why)]
            continue
        margins[key] = min(orientation.margin_mm for orientation in orientations)
        findings[key] = insertion.fit_findings(orientations)
        if len(findings[key]) > 1:
            findings[key] += insertion.play_findings(orientations, profile)
            findings[key] += [insertion.protrusion_finding(orientations[0], x) for x in over]
    for key in margins if len(margins) > 1 else ():
        # A piece that is inside its own cells by some margin is apart from every other piece by the
        # sum of both margins.
        other_margins = {other: margin for other, margin in margins.items() if other != key}
        nearest = min(other_margins, key=lambda other: margins[other])
        gap_mm = margins[key] + margins[nearest]
        what = f"the gap to {nearest}, the nearest neighbour,"
        findings[key] += check_limits("socket-neighbours", gap_mm, profile.gap_min_mm, what=what)
    progress(1.0, "")
    return findings


class _Insertion:
    """A fitted, solid board into which pieces are inserted."""

    def __init__(self, board: Part, lattice: Lattice) -> None:
        assert board.board is not None
        self._sections, self._rest_mm = board.sections, board.rest_mm
        self._region = board.board.cells
        area = region_mm(lattice, self._region, board.unit_mm)
        # Ignore what is farther out, such as a title: no piece comes near it.
        self._bounds = area.buffer(board.unit_mm, join_style="mitre").bounds
        self._solid = crop(board.aligned.manifold, self._bounds)

    @cached_property
    def _prisms(self) -> list[tuple[float, float, BaseGeometry]]:
        """Its layers, from low to high: the heights between which each is, and its silhouette."""
        around = shapely.box(*self._bounds)
        prisms: list[tuple[float, float, BaseGeometry]] = []
        for low, high in itertools.pairwise(self._sections.levels()):
            near = min(1e-4, (high - low) / 4)  # beyond what single precision makes of heights
            lower = self._sections.at(low + near) & around
            upper = self._sections.at(high - near) & around
            # Inclined walls are sliced so finely that they are nearly vertical.
            leans = (lower ^ upper).area > 0.005 * lower.length
            heights = np.linspace(low, high, math.ceil((high - low) / 0.05) + 1 if leans else 2)
            inner = [self._sections.at(height) & around for height in heights[1:-1].tolist()]
            cuts = shapely.union([lower, *inner], [*inner, upper])
            shapely.prepare(cuts)
            prisms += zip(heights[:-1].tolist(), heights[1:].tolist(), cuts, strict=True)
        return prisms

    def fit_findings(self, orientations: Sequence[OrientedPiece]) -> list[Finding]:
        """`socket-free`, and `socket-insert` if there is a place, at all places in all
        rotations."""
        places = turns = 0
        blocked: list[tuple[float, str]] = []
        for piece in orientations:
            by_rotation = itertools.groupby(piece.poses(self._region), key=lambda pose: pose[0])
            for _, group in by_rotation:
                poses = list(group)
                places += len(poses)
                turns += 1
                for overlap_mm3, pose in self._blocked(piece, poses):
                    cells = sorted(map(piece.lattice.row_col, piece.covered(pose)))
                    place = " ".join(f"[{row}, {col}]" for row, col in cells)
                    blocked.append((overlap_mm3, f" at {place}"))
        if not places:
            message = "there is no place for it on the board"
            return [Finding("socket-free", False, None, TINY_MM3, "mm3", message)]
        worst_mm3, place = max(blocked, key=lambda overlap: overlap[0], default=(0.0, ""))
        place = place if worst_mm3 else ""
        free = f"the overlap with the board{place} ({places} placements tried)"
        first = blocked[0][1] if blocked else ""
        insert = f"rotations, of {turns}, in which it cannot be inserted straight from above{first}"
        return [
            *check_limits("socket-free", worst_mm3, maximum=TINY_MM3, unit="mm3", what=free),
            count_finding("socket-insert", len(blocked), 0, insert),
        ]

    def _blocked(self, piece: OrientedPiece, poses: Sequence[Pose]) -> list[tuple[float, Pose]]:
        """Among poses of one rotation, the first that overlaps the board, and the overlap (mm3);
        else the first that cannot be reached straight from above; else none."""
        # A piece inserted from above passes each prism with everything that ends up there or below.
        # If that meets nothing, the piece gets in and is free in its place; all others are
        # candidates for overlaps, examined worst first.
        suspect_mm3 = np.zeros(len(poses))
        everywhere = piece.place(piece.silhouette(), poses)
        for low_mm, high_mm, silhouette in self._prisms:
            near = np.flatnonzero(shapely.intersects(silhouette, everywhere))
            if len(near):
                below = piece.silhouette(high_mm=high_mm - self._rest_mm - LIFT_MM)
                areas = piece.place(below, [poses[index] for index in near.tolist()])
                suspect_mm3[near] += [
                    _common_mm3(silhouette, area, high_mm - low_mm) for area in areas
                ]
        unreachable: list[tuple[float, Pose]] = []
        order = np.argsort(-suspect_mm3, kind="stable")
        for index in order[: np.count_nonzero(suspect_mm3 > TINY_MM3)].tolist():
            solid = piece.at(poses[index], self._rest_mm + LIFT_MM)
            board = self._around(solid)
            overlap_mm3 = float((solid ^ board).volume())
            if overlap_mm3 > TINY_MM3:
                return [(overlap_mm3, poses[index])]
            most_mm = board.bounding_box()[5] - solid.bounding_box()[2]
            ups = np.arange(_STEP_MM, 0.0 if unreachable else most_mm, _STEP_MM).tolist()
            if any(_intersect(solid.translate((0.0, 0.0, up)), board) for up in ups):
                unreachable.append((0.0, poses[index]))
        return unreachable

    def _around(self, solid: Any) -> Any:
        """The board around a solid, seen from above: everything it may touch on its way down."""
        low, high = np.reshape(solid.bounding_box(), (2, 3))[:, :2].tolist()
        return crop(self._solid, shapely.box(*low, *high).buffer(1.0).bounds)

    def play_findings(
        self, orientations: Sequence[OrientedPiece], profile: Profile
    ) -> list[Finding]:
        """`socket-play`, `-loose`, `-turn` and `-rest`: the worst, mid-board and at the border."""
        plays = []
        middle = np.mean(sorted(self._region), axis=0)
        for piece in orientations:
            poses = list(piece.poses(self._region))
            means = [np.mean(sorted(piece.covered(pose)), axis=0) for pose in poses]
            off = [math.dist(mean, middle) for mean in means]
            for index in {int(np.argmin(off)), int(np.argmax(off))} if poses else ():
                plays.append(self._play(piece, poses[index]))
        shifts = [(mm, None) for play in plays for mm in play[:4]]
        # Meshes for a calibrated printer have this much more play than its prints, at a hole or
        # socket or between straight sides.
        lost_mm = 2 * profile.offset_mm + profile.hole_loss_mm, 4 * profile.offset_mm
        maximum_mm = MAX_PLAY_MM + max(lost_mm)
        # At the end of four cells that is half of their clearance.
        turn = 3.0 * maximum_mm / MAX_PLAY_MM
        turns = [(play[4], None) for play in plays]
        drops = [(play[5], None) for play in plays]
        return [
            *check_limits("socket-play", shifts, maximum=maximum_mm),
            *check_limits("socket-loose", shifts, MIN_PLAY_MM + min(lost_mm)),
            *check_limits("socket-turn", turns, maximum=turn, unit="deg"),
            *check_limits("socket-rest", drops, maximum=PRESS_MM),
        ]

    def _play(self, piece: OrientedPiece, pose: Pose) -> list[float]:
        """The play of a level piece, seen from above: from stop to stop in four directions, and in
        rotation about the worst of its cells' middles; and how far it drops."""
        met = list(self._overlaps(piece, pose, self._rest_mm + LIFT_MM))
        silhouettes, areas, high_mm = np.array(met, object).reshape(-1, 3).T
        around = piece.place(piece.silhouette(), [pose])[0].envelope.buffer(2.0)
        silhouettes = shapely.intersection(silhouettes, around)
        shapely.prepare(silhouettes)

        def meets(turn: complex, shift: complex) -> bool:
            moved_areas = shapely.transform(areas, partial(moved, turn=turn, shift=shift))
            return _common_mm3(silhouettes, moved_areas, high_mm) > TINY_MM3

        def rotated(pivot: complex, sign: int, degrees: float) -> bool:
            turn = cmath.rect(1.0, sign * math.radians(degrees))
            return meets(turn, pivot - turn * pivot)

        def reach(eighth: int) -> float:
            direction = cmath.rect(1.0, math.pi * eighth / 4)
            return _travel(lambda mm: meets(1.0, mm * direction), 1.5)

        # More than 1.5 mm or 15 degrees is not measured.
        shifts = [reach(eighth) + reach(eighth + 4) for eighth in range(4)]
        middles = np.array(sorted(piece.covered(pose))) * step_mm(piece.lattice, piece.unit_mm)
        turn_degrees = 0.0
        for pivot, sign in itertools.product([*middles, middles.mean(axis=0)], (1, -1)):
            turn_degrees = _travel(partial(rotated, complex(*pivot), sign), 15.0, free=turn_degrees)
        return [*shifts, turn_degrees, -self._rest_height_mm(piece, pose, 0.0, PRESS_MM)]

    def protrusion_finding(self, upright: OrientedPiece, over: OrientedPiece) -> Finding:
        """`socket-protrusion`: by how much a piece on pegs rests higher when it is turned over, at
        least, in any rotation and place, compared with pegs down in the first place."""
        above_mm = self._sections.high - self._rest_mm
        lowest_mm = math.inf
        for pose in over.poses(self._region):
            # Most places are like earlier ones, where it stops before it gets any lower.
            start_mm = min(above_mm - over.heights_mm[0], lowest_mm - 2 * _PRECISION)
            met = self._overlaps(over, pose, self._rest_mm + start_mm)
            if not any(_common_mm3(*prism) > TINY_MM3 for prism in met):
                lowest_mm = min(lowest_mm, self._rest_height_mm(over, pose, start_mm, _STEP_MM))
        if math.isinf(lowest_mm):
            why = "there is no place for it upside down"
            return Finding("socket-protrusion", True, None, MIN_PROTRUSION_MM, "mm", why)
        # A piece whose pegs do not go in rests on them.
        inserted = next(upright.poses(self._region))
        top_mm = above_mm - upright.heights_mm[0]
        inserted_mm = self._rest_height_mm(upright, inserted, top_mm, _STEP_MM)
        protrusion_mm = lowest_mm + over.heights_mm[1] - inserted_mm - upright.heights_mm[1]
        return next(check_limits("socket-protrusion", protrusion_mm, MIN_PROTRUSION_MM))

    def _overlaps(
        self, piece: OrientedPiece, pose: Pose, at_mm: float
    ) -> Iterator[tuple[Any, Any, float]]:
        """The prisms that a piece at some height extends over, its silhouette in each, and their
        heights."""
        for low_mm, high_mm, silhouette in self._prisms:
            area = piece.silhouette(low_mm - at_mm, high_mm - at_mm)
            if not area.is_empty:
                yield silhouette, piece.place(area, [pose])[0], high_mm - low_mm

    def _rest_height_mm(
        self, piece: OrientedPiece, pose: Pose, start_mm: float, step_mm: float
    ) -> float:
        """The height above the board's ``rest_mm`` at which a piece lowered from some height stops."""
        solid = piece.at(pose, self._rest_mm + start_mm)
        near = self._around(solid)

        def stops(down_mm: float) -> bool:
            return _intersect(solid.translate((0.0, 0.0, -down_mm)), near)

        return start_mm - _travel(stops, solid.bounding_box()[5] + _STEP_MM, step_mm)


def _common_mm3(silhouettes: Any, areas: Any, high_mm: Any) -> float:
    """An upper bound of the overlap with the board: areas in prisms of some height."""
    near = np.where(shapely.intersects(silhouettes, areas), silhouettes, None)  # a quick test
    return float(np.nansum(shapely.area(shapely.intersection(near, areas)) * high_mm))


def _intersect(solid: Any, other: Any) -> bool:
    """Whether two solids overlap."""
    return float((solid ^ other).volume()) > TINY_MM3


def _travel(
    stops: Callable[[float], bool], limit: float, step: float | None = None, free: float = 0.0
) -> float:
    """The travel of a motion until it stops, at least `free`; `limit` if it does not stop."""
    step = step or limit / 30
    if stops(free):
        return free
    while not stops(free + step):
        free += step
        if free >= limit:
            return limit
    blocked = free + step
    while blocked - free > _PRECISION:
        middle = (free + blocked) / 2
        free, blocked = (free, middle) if stops(middle) else (middle, blocked)
    return free
