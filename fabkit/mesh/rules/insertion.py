"""Does a piece go into its board, wherever it may lie, and does the board hold it there?

Every way to lie (each side up, each turn) is tried at every place. Nearly all is settled from
above: between the heights at which it changes a board is an upright prism, a storey, and what lies
in a storey over no part of it does not meet it. What that leaves open is measured on the meshes.
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

from fabkit.drawing.outline import region_mm
from fabkit.mesh.body import Points, moved
from fabkit.mesh.finding import TINY_MM3, Finding, counted
from fabkit.mesh.identity import OnStubs
from fabkit.mesh.laying import Lying, Pose, flat_lying, step_mm
from fabkit.mesh.manifold import cropped
from fabkit.mesh.part import Part
from fabkit.mesh.rules.table import judged
from fabkit.model.balls import flat_poses, turned
from fabkit.model.lattice import LATTICES, Cell, Lattice
from fabkit.model.piece import at_anchor
from fabkit.model.profile import Profile
from fabkit.model.puzzle import in_units

#: Told the number of pieces done, of all, and which comes next.
Progress = Callable[[int, int, str], None]

#: A piece is looked at this much above what it rests on: what readings of heights are good to.
LIFT_MM = 0.005
#: A seated piece may be shifted from stop to stop by this at most: what is loose enough to go in by
#: hand (the clearances of holes, channels and seats) and still stays in its own cells …
PLAY_MM = 0.6
#: … and by this at least: holes come out up to so much too narrow (printing guides), and it must
#: still go in.
LOOSE_MM = 0.3
#: A piece that rests, pushed down by this, enters the board.
PRESS_MM = 0.05
#: A piece that lies upside down is at least this much higher: seen at once, and felt.
PROUD_MM = 1.5
#: Upright ways are looked at in these steps; where a way ends is found to so much.
_STEP_MM, _PRECISION = 0.5, 1e-3


def balls_lying(key: str, part: Part, unit_mm: float) -> tuple[Lying, ...]:
    """The ways in which a ball piece, its balls read, lies flat, turns on the board divided out.

    One for each side that can be up, in the order of `fabkit.model.balls.flat_poses`; the middles
    of its spine's balls at height 0. Where the flat on which it was printed is down, its links rest
    on that, and all of it lies so much lower.

    Raises:
        BallError: when it cannot lie flat.
    """
    assert part.balls is not None
    shape, pitch_mm, square = part.balls.shape, part.balls.pitch_mm, LATTICES["square"]
    found: dict[Any, Lying] = {}
    for pose in flat_poses(shape):
        # What turns about the vertical leave as it is: which way the part's own axes look up.
        if pose.rotation[2] in found:
            continue
        balls = np.array([turned(pose.rotation, ball) for ball in shape.balls])
        seated = balls[:, 2] == balls[min(shape.spine()), 2]
        reference = pitch_mm * balls[seated].mean(axis=0)
        solid = part.straight.manifold.transform(np.column_stack([pose.rotation, np.zeros(3)]))
        # How much less a link of the seated balls reaches down than up, where it was printed flat.
        one, other = next(pair for pair in shape.bonds if seated[[*pair]].all())
        x, y, middle = pitch_mm * (balls[one] + balls[other]) / 2
        link = cropped(solid, (x - 0.2, y - 0.2, x + 0.2, y + 0.2))
        *_, low, _, _, high = link.bounding_box()
        reference[2] += max(0.0, float(high - middle) - float(middle - low))
        cells = at_anchor(square, pose.cells)
        laid = solid.translate((unit_mm * _middle(square, cells) - reference).tolist())
        found[pose.rotation[2]] = Lying(key, square, unit_mm, cells, laid)
    return tuple(found.values())


def stubs_lying(key: str, one: OnStubs, lattice: Lattice, unit_mm: float, over: bool) -> Lying:
    """How a piece with stubs, its outline read, lies on a board of seats, or turned over on it.

    Its plate's back (turned over: its face) is at height 0. See `balls_lying`.
    """
    laid = flat_lying(key, one.whole, lattice)
    move = next(move for move in lattice.symmetries if move.flipped == over)
    cells = frozenset(map(move, laid.cells))
    anchored = at_anchor(lattice, cells)
    shift = unit_mm * _middle(lattice, anchored) - laid.unit_mm * _middle(lattice, cells)
    shift[2] = 0.0 if over else -one.height_mm
    solid = laid.at((move, (0, 0))).translate(shift.tolist())
    return Lying(key, lattice, unit_mm, anchored, solid)


def _middle(lattice: Lattice, cells: frozenset[Cell]) -> Points:
    """The mean of the middles of cells, at height 0, in grid units."""
    return np.array([*np.mean(in_units(lattice, sorted(cells)), axis=0), 0.0])


def pieces_in_board(
    parts: Mapping[str, Part | OnStubs],
    board: Part,
    lattice: Lattice,
    profile: Profile,
    progress: Progress = lambda done, total, name: None,
) -> dict[str, list[Finding]]:
    """What the rules of seats say of pieces that lie flat in a board of holes or seats, by piece.

    A piece that is not solid, or any piece when the board is not, has only `seat-free`, which then
    fails and says why; so has one for which there is no place. Of several pieces `seat-neighbours`
    is told, and of those on stubs `seat-proud`.
    """
    seating = _Seating(board, lattice) if board.straight.is_solid else None
    margins: dict[str, float] = {}
    found: dict[str, list[Finding]] = {}
    for done, (key, part) in enumerate(parts.items()):
        progress(done, len(parts), key)
        over: list[Lying] = []
        if isinstance(part, OnStubs):
            ways = [stubs_lying(key, part, lattice, board.unit_mm, over=False)]
            over = [stubs_lying(key, part, lattice, board.unit_mm, over=True)]
        else:
            ways = list(balls_lying(key, part, board.unit_mm))
        if seating is None or not ways[0].is_solid:
            why = f"{'the board' if seating is None else 'it'} does not bound a volume"
            why = f"whether it lies free in its board cannot be measured: {why}"
            found[key] = [Finding("seat-free", False, None, TINY_MM3, "mm3", why)]
            continue
        margins[key] = min(one.margin_mm for one in ways)
        found[key] = seating.goes_in(ways)
        if len(found[key]) > 1:
            found[key] += seating.held(ways, profile)
            found[key] += [seating.proud(ways[0], one) for one in over]
    for key in margins if len(margins) > 1 else ():
        # A piece that keeps inside its own cells by some margin stays away from every other piece
        # by that margin and the other's own.
        other = min((one for one in margins if one != key), key=lambda one: margins[one])
        gap_mm, what = margins[key] + margins[other], f"the gap to {other}, where it lies nearest,"
        found[key] += judged("seat-neighbours", gap_mm, profile.gap_min_mm, what=what)
    progress(len(parts), len(parts), "")
    return found


class _Seating:
    """A board into which pieces are put; one that was read, and is solid."""

    def __init__(self, board: Part, lattice: Lattice) -> None:
        assert board.board is not None
        self._sections, self._rest_mm = board.sections, board.rest_mm
        self._region = board.board.cells
        area = region_mm(lattice, self._region, board.unit_mm)
        # What lies farther out, such as a title, no piece comes near.
        self._bounds = area.buffer(board.unit_mm, join_style="mitre").bounds
        self._solid = cropped(board.straight.manifold, self._bounds)

    @cached_property
    def _storeys(self) -> list[tuple[float, float, BaseGeometry]]:
        """Its layers, from low to high: between which heights each lies, and it seen from above."""
        around, found = shapely.box(*self._bounds), list[tuple[float, float, BaseGeometry]]()
        for low, high in itertools.pairwise(self._sections.levels()):
            near = min(1e-4, (high - low) / 4)  # beyond what single precision makes of heights
            lower, upper = (self._sections.at(at) & around for at in (low + near, high - near))
            # Where walls lean they are cut so finely that they nearly stand upright.
            leans = (lower ^ upper).area > 0.005 * lower.length
            heights = np.linspace(low, high, math.ceil((high - low) / 0.05) + 1 if leans else 2)
            inner = [self._sections.at(at) & around for at in heights[1:-1].tolist()]
            cuts = shapely.union([lower, *inner], [*inner, upper])
            shapely.prepare(cuts)
            found += zip(heights[:-1].tolist(), heights[1:].tolist(), cuts, strict=True)
        return found

    def goes_in(self, ways: Sequence[Lying]) -> list[Finding]:
        """`seat-free`, and `seat-insert` if there is a place, at all places in all turns."""
        places, turns, barred = 0, 0, list[tuple[float, str]]()
        for lying in ways:
            for _, some in itertools.groupby(lying.poses(self._region), key=lambda pose: pose[0]):
                poses = list(some)
                places, turns = places + len(poses), turns + 1
                for overlap_mm3, pose in self._barred(lying, poses):
                    cells = sorted(map(lying.lattice.row_col, lying.covered(pose)))
                    at = " ".join(f"[{row}, {col}]" for row, col in cells)
                    barred.append((overlap_mm3, f" at {at}"))
        if not places:
            message = "there is no place for it on the board"
            return [Finding("seat-free", False, None, TINY_MM3, "mm3", message)]
        worst_mm3, at = max(barred, key=lambda one: one[0], default=(0.0, ""))
        at = at if worst_mm3 else ""
        free = f"what it has in common with the board{at}, of {places} ways to lie,"
        first = barred[0][1] if barred else ""
        insert = f"turns, of {turns}, in which it cannot be put in straight from above{first}"
        return [
            *judged("seat-free", worst_mm3, most=TINY_MM3, unit="mm3", what=free),
            counted("seat-insert", len(barred), 0, insert),
        ]

    def _barred(self, lying: Lying, poses: Sequence[Pose]) -> list[tuple[float, Pose]]:
        """Of poses of one turn, the first that overlaps with the board, and by how much (mm3); else
        the first to which there is no straight way from above; else none."""
        # A piece that is put in from above passes each storey with all of it that comes to lie
        # there or below. So where that meets nothing, it gets there, and is free where it lies; all
        # others are suspects, looked at the worst first.
        suspect_mm3, everywhere = np.zeros(len(poses)), lying.placed(lying.shadow(), poses)
        for low_mm, high_mm, shadow in self._storeys:
            near = np.flatnonzero(shapely.intersects(shadow, everywhere))
            if len(near):
                below = lying.shadow(high_mm=high_mm - self._rest_mm - LIFT_MM)
                areas = lying.placed(below, [poses[at] for at in near.tolist()])
                suspect_mm3[near] += [_common_mm3(shadow, one, high_mm - low_mm) for one in areas]
        found: list[tuple[float, Pose]] = []
        order = np.argsort(-suspect_mm3, kind="stable")
        for at in order[: np.count_nonzero(suspect_mm3 > TINY_MM3)].tolist():
            solid = lying.at(poses[at], self._rest_mm + LIFT_MM)
            board = self._around(solid)
            overlap_mm3 = float((solid ^ board).volume())
            if overlap_mm3 > TINY_MM3:
                return [(overlap_mm3, poses[at])]
            most_mm = board.bounding_box()[5] - solid.bounding_box()[2]
            ups = np.arange(_STEP_MM, 0.0 if found else most_mm, _STEP_MM).tolist()
            if any(_meet(solid.translate((0.0, 0.0, up)), board) for up in ups):
                found.append((0.0, poses[at]))
        return found

    def _around(self, solid: Any) -> Any:
        """What of the board is around a solid, seen from above: all that it may meet on its way."""
        low, high = np.reshape(solid.bounding_box(), (2, 3))[:, :2].tolist()
        return cropped(self._solid, shapely.box(*low, *high).buffer(1.0).bounds)

    def held(self, ways: Sequence[Lying], profile: Profile) -> list[Finding]:
        """`seat-play`, `-loose`, `-turn` and `-rest`, held worst, mid-board and at the border."""
        plays, middle = [], np.mean(sorted(self._region), axis=0)
        for lying in ways:
            poses = list(lying.poses(self._region))
            off = [math.dist(np.mean(sorted(lying.covered(one)), axis=0), middle) for one in poses]
            for at in {int(np.argmin(off)), int(np.argmax(off))} if poses else ():
                plays.append(self._play(lying, poses[at]))
        shifts = [(mm, None) for play in plays for mm in play[:4]]
        # Meshes for a printer that was measured have so much more play than its prints, at a hole or
        # seat or between straight sides.
        lost_mm = 2 * profile.offset_mm + profile.hole_loss_mm, 4 * profile.offset_mm
        most_mm, least_mm = PLAY_MM + max(lost_mm), LOOSE_MM + min(lost_mm)
        # At the end of four cells that is half of their clearance.
        turn = 3.0 * most_mm / PLAY_MM
        return [
            *judged("seat-play", shifts, most=most_mm),
            *judged("seat-loose", shifts, least_mm),
            *judged("seat-turn", [(one[4], None) for one in plays], most=turn, unit="deg"),
            *judged("seat-rest", [(one[5], None) for one in plays], most=PRESS_MM),
        ]

    def _play(self, lying: Lying, pose: Pose) -> list[float]:
        """How far a piece can be shifted from stop to stop, in four directions, turned about the
        worst of its cells' middles, both seen from above, the piece level; and how far it falls."""
        met = list(self._met(lying, pose, self._rest_mm + LIFT_MM))
        shadows, areas, high_mm = np.array(met, object).reshape(-1, 3).T
        around = lying.placed(lying.shadow(), [pose])[0].envelope.buffer(2.0)
        shadows = shapely.intersection(shadows, around)
        shapely.prepare(shadows)

        def meets(turn: complex, shift: complex) -> bool:
            there = shapely.transform(areas, partial(moved, turn=turn, shift=shift))
            return _common_mm3(shadows, there, high_mm) > TINY_MM3

        def rotated(pivot: complex, way: int, degrees: float) -> bool:
            turn = cmath.rect(1.0, way * math.radians(degrees))
            return meets(turn, pivot - turn * pivot)

        def reach(eighth: int) -> float:
            way = cmath.rect(1.0, math.pi * eighth / 4)
            return _reach(lambda mm: meets(1.0, mm * way), 1.5)

        # Nobody asks by how much more than 1.5 mm, or 15 degrees.
        shifts = [reach(eighth) + reach(eighth + 4) for eighth in range(4)]
        middles = np.array(sorted(lying.covered(pose))) * step_mm(lying.lattice, lying.unit_mm)
        most = 0.0
        for pivot, way in itertools.product([*middles, middles.mean(axis=0)], (1, -1)):
            most = _reach(partial(rotated, complex(*pivot), way), 15.0, free=most)
        return [*shifts, most, -self._low_mm(lying, pose, 0.0, PRESS_MM)]

    def proud(self, upright: Lying, over: Lying) -> Finding:
        """`seat-proud`: how much higher a piece on stubs that is let down lies when it is turned
        over, at least, in any turn and place; than with its stubs down, in the first place."""
        above_mm, lowest_mm = self._sections.high - self._rest_mm, math.inf
        for pose in over.poses(self._region):
            # Most places are like the ones before: there it stops, too, before it gets any lower.
            start_mm = min(above_mm - over.heights_mm[0], lowest_mm - 2 * _PRECISION)
            met = self._met(over, pose, self._rest_mm + start_mm)
            if not any(_common_mm3(*one) > TINY_MM3 for one in met):
                lowest_mm = min(lowest_mm, self._low_mm(over, pose, start_mm, _STEP_MM))
        if math.isinf(lowest_mm):
            why = "there is no place for it upside down"
            return Finding("seat-proud", True, None, PROUD_MM, "mm", why)
        # One whose stubs do not go in stands on them.
        seated, top_mm = next(upright.poses(self._region)), above_mm - upright.heights_mm[0]
        seated_mm = self._low_mm(upright, seated, top_mm, _STEP_MM)
        proud_mm = lowest_mm + over.heights_mm[1] - seated_mm - upright.heights_mm[1]
        return next(judged("seat-proud", proud_mm, PROUD_MM))

    def _met(self, lying: Lying, pose: Pose, at_mm: float) -> Iterator[tuple[Any, Any, float]]:
        """Each storey in which something of a piece at some height lies, what, and how high it is."""
        for low_mm, high_mm, shadow in self._storeys:
            area = lying.shadow(low_mm - at_mm, high_mm - at_mm)
            if not area.is_empty:
                yield shadow, lying.placed(area, [pose])[0], high_mm - low_mm

    def _low_mm(self, lying: Lying, pose: Pose, start_mm: float, step_mm: float) -> float:
        """How high above the board's ``rest_mm`` a piece stays that is let down from some height."""
        solid = lying.at(pose, self._rest_mm + start_mm)
        near, most_mm = self._around(solid), solid.bounding_box()[5] + _STEP_MM
        return start_mm - _reach(
            lambda down: _meet(solid.translate((0.0, 0.0, -down)), near), most_mm, step_mm
        )


def _common_mm3(shadows: Any, areas: Any, high_mm: Any) -> float:
    """At most so much of what stands over areas, in storeys so high, lies in the board."""
    near = np.where(shapely.intersects(shadows, areas), shadows, None)  # which is soon told
    return float(np.nansum(shapely.area(shapely.intersection(near, areas)) * high_mm))


def _meet(one: Any, other: Any) -> bool:
    """Whether two solids have anything in common."""
    return float((one ^ other).volume()) > TINY_MM3


def _reach(
    stops: Callable[[float], bool], most: float, step: float | None = None, free: float = 0.0
) -> float:
    """How far something gets until it stops, at least so far; `most` when it does not."""
    step = step or most / 30
    if stops(free):
        return free
    while not stops(free + step):
        free += step
        if free >= most:
            return most
    barred = free + step
    while barred - free > _PRECISION:
        middle = (free + barred) / 2
        free, barred = (free, middle) if stops(middle) else (middle, barred)
    return free
