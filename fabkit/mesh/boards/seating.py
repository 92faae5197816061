"""Does a piece go into its board, wherever it may lie, and does the board hold it there?

Every way to lie (each side up, each turn) is tried at every place of the board. Nearly all are
settled from above: between the heights at which it changes a board is an upright prism, a storey,
and what lies in a storey over no part of it does not meet it. That proves that a piece is free
where it lies, and that it gets there straight from above. What that leaves open is measured on the
meshes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import shapely
from shapely import affinity
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.boards.lying import LIFT_MM, Lying, area_of, balls_lying, stubs_lying
from fabkit.mesh.finding import Finding, at_least, at_most, counted
from fabkit.mesh.fitting.assembly import TINY_MM3
from fabkit.mesh.fitting.laying import Pose, step_mm
from fabkit.mesh.manifold import cropped
from fabkit.mesh.part import Part
from fabkit.mesh.section import Sections
from fabkit.mesh.stubs import OnStubs
from fabkit.model.accessory import HOLES, SEATS
from fabkit.model.balls import BallError
from fabkit.model.lattice import LATTICES, Lattice
from fabkit.model.profile import Profile

#: Told the number of pieces done, of all, and which comes next.
Progress = Callable[[int, int, str], None]

#: A seated piece may be shifted by this from stop to stop: what is loose enough to go in by hand
#: (the clearances of holes, channels and seats) and still stays in its own cells.
PLAY_MM = 0.6
#: It may be shifted by this at least: holes come out up to so much too narrow (numbers of printing
#: guides), and it must still go in.
LOOSE_MM = 0.3
#: It may be turned by this: at the end of four cells that is half of their clearance.
TURN_DEGREES = 3.0
#: A piece that rests, pushed down by this, enters the board.
PRESS_MM = 0.05
#: A piece that lies upside down is at least this much higher: seen at once, and felt.
PROUD_MM = 1.5
#: Where a way is looked for step by step, by this at a time; rests are then found to so much.
_STEP_MM, _PRECISION = 0.5, 1e-3
#: Board around a piece that it may meet on its way in, and when it is shifted or turned.
_AROUND_MM, _NEAR_MM = 1.0, 2.0
#: Directions in which a piece is shifted, to both sides of each.
_LINES = 4
#: Nobody asks by how much more than this a piece can be shifted (mm) or turned (degrees); it is
#: tried in so many steps. One that finds no rest is let down so far.
_MOST_MM, _MOST_DEGREES, _STEPS, _MOST_DROP_MM = 1.5, 15.0, 30, 5.0
#: What has this area (mm2) in common with a layer of a board has a volume in common with it.
_STANDS_MM2 = 10.0
#: Corners this near to a height are at it: what single precision makes of heights.
_SAME_MM = 1e-4
#: Storeys whose walls lean are halved down to this height, unless the walls are off their upright
#: shadow by less than this, on average.
_FINEST_MM, _UPRIGHT_MM = 0.05, 0.005


class Storey(NamedTuple):
    """A layer of a board between two heights, seen from above."""

    low_mm: float
    high_mm: float
    shadow: BaseGeometry

    def met_mm3(self, area: BaseGeometry) -> float:
        """At most so much of what stands over an area, in this storey, lies in the board."""
        if not shapely.intersects(self.shadow, area):
            return 0.0
        return float(self.shadow.intersection(area).area) * (self.high_mm - self.low_mm)


def storeys_of(sections: Sections, around: BaseGeometry) -> list[Storey]:
    """The storeys of a board, over an area, from low to high.

    Where its walls lean they are halved, until they nearly stand upright.
    """
    found: list[Storey] = []
    for low_mm, high_mm in itertools.pairwise(sections.levels()):
        for one in _storeys_between(sections, around, low_mm, high_mm):
            if found and _lean_mm2(found[-1].shadow, one.shadow) <= 0:
                both = found[-1].shadow.union(one.shadow)
                found[-1] = Storey(found[-1].low_mm, one.high_mm, both)
            else:
                found.append(one)
    for one in found:
        shapely.prepare(one.shadow)
    return found


def _storeys_between(
    sections: Sections, around: BaseGeometry, low_mm: float, high_mm: float
) -> Iterator[Storey]:
    near_mm = min(_SAME_MM, (high_mm - low_mm) / 4)
    lower, upper = (sections.at(at) & around for at in (low_mm + near_mm, high_mm - near_mm))
    if high_mm - low_mm <= _FINEST_MM or _lean_mm2(lower, upper) <= 0:
        yield Storey(low_mm, high_mm, lower | upper)
        return
    middle_mm = (low_mm + high_mm) / 2
    yield from _storeys_between(sections, around, low_mm, middle_mm)
    yield from _storeys_between(sections, around, middle_mm, high_mm)


def _lean_mm2(lower: BaseGeometry, upper: BaseGeometry) -> float:
    """How much more two cuts differ than those of walls that nearly stand upright."""
    return float((lower ^ upper).area) - _UPRIGHT_MM * float(lower.length)


@dataclass(frozen=True)
class Placed:
    """A piece at all the places of one way to lie and one turn.

    Attributes:
        places: how many there are.
        overlap_mm3: what it has in common with the board at the worst one that was measured.
        is_barred: whether at one of them it cannot be put in straight from above.
        at: the worst place, for a message; empty when all is well.
    """

    places: int
    overlap_mm3: float = 0.0
    is_barred: bool = False
    at: str = ""


@dataclass(frozen=True)
class Play:
    """How a seated piece is held.

    Attributes:
        shift_mm: from one stop to the opposite one, in the direction in which that is most.
        least_mm: the same in the direction in which it is least.
        turn_degrees: from its place to the farther stop, about the worst of its cells' middles.
        sink_mm: how far it is above what it rests on.
    """

    shift_mm: float
    least_mm: float
    turn_degrees: float
    sink_mm: float


class Seating:
    """A board into which pieces are put.

    Args:
        board: a board that was read, and is solid.
        lattice: its lattice.
    """

    def __init__(self, board: Part, lattice: Lattice) -> None:
        assert board.board is not None
        self.board = board
        self.region = board.board.cells
        area = area_of(lattice, self.region, board.unit_mm)
        # What lies farther out, such as a title, no piece comes near.
        self._bounds = area.buffer(board.unit_mm, join_style="mitre").bounds
        self.solid = cropped(board.manifold, self._bounds)

    @cached_property
    def _storeys(self) -> list[Storey]:
        return storeys_of(self.board.sections, shapely.box(*self._bounds))

    # --- does it go in -------------------------------------------------------------------

    def placed(self, lying: Lying) -> list[Placed]:
        """A piece at every place of the board, one result for each turn that has any."""
        poses = lying.poses(self.region)
        turns = itertools.groupby(poses, key=lambda pose: pose[0])
        return [self._placed(lying, list(some)) for _, some in turns]

    def _placed(self, lying: Lying, poses: Sequence[Pose]) -> Placed:
        barred = None
        for pose in self._suspects(lying, poses):
            solid = lying.at(pose, self.board.rest_mm + LIFT_MM)
            near = self._around(solid.bounding_box(), _AROUND_MM)
            overlap_mm3 = float((solid ^ near).volume())
            if overlap_mm3 > TINY_MM3:
                return Placed(len(poses), overlap_mm3, True, _where(lying, pose))
            if barred is None and _is_barred(solid, near):
                barred = pose
        return Placed(len(poses), 0.0, barred is not None, _where(lying, barred) if barred else "")

    def _around(self, box: Sequence[float], more_mm: float) -> Any:
        """What of the board is around a box of six numbers, seen from above."""
        left, low, _, right, high, _ = box
        around = (left - more_mm, low - more_mm, right + more_mm, high + more_mm)
        return cropped(self.solid, around)

    def _suspects(self, lying: Lying, poses: Sequence[Pose]) -> list[Pose]:
        """The poses, of one turn, whose way in is not proven to be free, the worst first.

        A piece that is put in from above passes each storey with all of it that comes to lie
        there or below. So where that meets nothing, it gets there, and is free where it lies.
        """
        barred, everywhere = np.zeros(len(poses)), lying.placed_all(lying.shadow(), poses)
        for storey in self._storeys:
            near = np.flatnonzero(shapely.intersects(storey.shadow, everywhere))
            if len(near):
                below = lying.shadow(high_mm=storey.high_mm - self.board.rest_mm - LIFT_MM)
                areas = lying.placed_all(below, [poses[at] for at in near.tolist()])
                barred[near] += [storey.met_mm3(area) for area in areas]
        order = np.argsort(-barred, kind="stable").tolist()
        return [poses[at] for at in order if barred[at] > TINY_MM3]

    # --- is it held ----------------------------------------------------------------------

    def held(self, ways: Sequence[Lying]) -> Play:
        """How a seated piece is held where it is held worst: mid-board and at the border."""
        found = [self.play(lying, pose) for lying in ways for pose in self._far_places(lying)]
        return Play(
            max(one.shift_mm for one in found),
            min(one.least_mm for one in found),
            max(one.turn_degrees for one in found),
            max(one.sink_mm for one in found),
        )

    def _far_places(self, lying: Lying) -> list[Pose]:
        poses = list(lying.poses(self.region))
        middle = np.mean(sorted(self.region), axis=0)
        middles = [np.mean(sorted(lying.covered(pose)), axis=0) for pose in poses]
        away = [float(np.hypot(*(one - middle))) for one in middles]
        return [poses[int(np.argmin(away))], poses[int(np.argmax(away))]] if poses else []

    def play(self, lying: Lying, pose: Pose) -> Play:
        """How a piece is held in one place.

        Shifts and turns are looked at from above, storey by storey, the piece level all the time.
        The rest is measured by volumes.
        """
        solid = lying.at(pose, self.board.rest_mm)
        near = self._around(solid.bounding_box(), _NEAR_MM)
        here = list(self._met(lying, pose))

        def meets(moved: Callable[[BaseGeometry], BaseGeometry]) -> bool:
            depth_mm3 = 0.0
            for storey, area in here:
                depth_mm3 += storey.met_mm3(moved(area))
                if depth_mm3 > TINY_MM3:
                    return True
            return False

        def shift_mm(angle: float) -> float:
            x, y = math.cos(angle), math.sin(angle)
            return _reach(
                lambda way: meets(lambda area: affinity.translate(area, way * x, way * y)), _MOST_MM
            )

        lines = [math.pi * line / _LINES for line in range(_LINES)]
        shifts_mm = [shift_mm(angle) + shift_mm(angle + math.pi) for angle in lines]
        middles = np.array(sorted(lying.covered(pose))) * step_mm(lying.lattice, lying.unit_mm)
        most = 0.0
        for pivot, way in itertools.product([*middles, middles.mean(axis=0)], (1, -1)):

            def stops(angle: float, pivot: Any = tuple(pivot), way: int = way) -> bool:
                return meets(lambda area: affinity.rotate(area, way * angle, origin=pivot))

            if not stops(most):
                most = max(most, _reach(stops, _MOST_DEGREES, most))

        def enters(down_mm: float) -> bool:
            return float((solid.translate((0.0, 0.0, -down_mm)) ^ near).volume()) > TINY_MM3

        rests = enters(PRESS_MM)
        sink_mm = _reach(enters, PRESS_MM) if rests else _reach(enters, _MOST_DROP_MM, PRESS_MM)
        return Play(max(shifts_mm), min(shifts_mm), most, sink_mm)

    def _met(self, lying: Lying, pose: Pose) -> Iterator[tuple[Storey, BaseGeometry]]:
        """Each storey that a piece lies in, what is near it, with what of the piece lies there."""
        down_mm = self.board.rest_mm + LIFT_MM
        around = lying.placed(lying.shadow(), pose).envelope.buffer(_NEAR_MM)
        for storey in self._storeys:
            area = lying.shadow(storey.low_mm - down_mm, storey.high_mm - down_mm)
            shadow = storey.shadow.intersection(around)
            if not area.is_empty and not shadow.is_empty:
                shapely.prepare(shadow)
                yield storey._replace(shadow=shadow), lying.placed(area, pose)

    # --- upside down ---------------------------------------------------------------------

    def proud_mm(self, upright: Lying, over: Lying) -> float:
        """How much higher the top of a piece on stubs lies when it is turned over.

        The piece is let down onto the board until it meets it: first with its stubs down, in the
        first place; then turned over, in every turn and every place that its cells allow.

        Returns:
            The least difference over all places; infinite when there is no place for it, or none
            upside down.
        """
        first = next(upright.poses(self.region), None)
        if first is None:
            return math.inf
        lowest_mm = math.inf
        for pose in over.poses(self.region):
            # Most places are like the ones before: there it stops, too, before it gets any lower.
            if math.isinf(lowest_mm) or not self._meets(over, pose, lowest_mm - 2 * _PRECISION):
                lowest_mm = min(lowest_mm, self._lowest_mm(over, pose))
        seated_mm = self._lowest_mm(upright, first) + upright.heights_mm[1]
        return lowest_mm + over.heights_mm[1] - seated_mm

    def _lowest_mm(self, lying: Lying, pose: Pose) -> float:
        """How high above the board's ``rest_mm`` a piece stays when it is let down from above.

        One that falls through the board is let down until all of it is below.
        """
        bottom, top = lying.heights_mm
        free = self.board.sections.high - self.board.rest_mm - bottom
        most = free + self.board.rest_mm + top + _STEP_MM
        steps = math.ceil(most / _STEP_MM)
        return free - _reach(lambda down: self._meets(lying, pose, free - down), most, steps=steps)

    def _meets(self, lying: Lying, pose: Pose, height_mm: float) -> bool:
        """Whether a piece, so high above the board's ``rest_mm``, has anything in common with it."""
        bottom_mm = lying.heights_mm[0]
        at_mm = self.board.rest_mm + height_mm + bottom_mm + _PRECISION / 2
        foot = lying.placed(lying.shadow(high_mm=bottom_mm + _PRECISION), pose)
        # Where it stands on much of the board there is no need to look closer.
        below = (one.shadow for one in self._storeys if one.low_mm <= at_mm < one.high_mm)
        if any(shadow.intersection(foot).area > _STANDS_MM2 for shadow in below):
            return True
        solid = lying.at(pose, self.board.rest_mm + height_mm)
        return float((solid ^ self.solid).volume()) > TINY_MM3


def _reach(
    stops: Callable[[float], bool], most: float, free: float = 0.0, steps: int = _STEPS
) -> float:
    """How far something gets from where it is until it stops; `most` when it does not."""
    if free == 0.0 and stops(0.0):
        return 0.0
    step = most / steps
    while not stops(free + step):
        free += step
        if free >= most:
            return most
    barred = free + step
    while barred - free > _PRECISION:
        middle = (free + barred) / 2
        free, barred = (free, middle) if stops(middle) else (middle, barred)
    return free


def _is_barred(solid: Any, near: Any) -> bool:
    """Whether a piece meets the board somewhere on its way straight up."""
    *_, bottom, _, _, _ = solid.bounding_box()
    *_, top = near.bounding_box()
    ups = np.arange(_STEP_MM, top - bottom, _STEP_MM).tolist()
    return any(float((solid.translate((0.0, 0.0, up)) ^ near).volume()) > TINY_MM3 for up in ups)


def _where(lying: Lying, pose: Pose) -> str:
    cells = sorted(map(lying.lattice.row_col, lying.covered(pose)))
    return f" at {' '.join(f'[{row}, {col}]' for row, col in cells)}"


# --- what the rules say -------------------------------------------------------------------


def balls_in_board(
    parts: Mapping[str, Part],
    board: Part,
    profile: Profile,
    progress: Progress = lambda done, total, name: None,
) -> dict[str, list[Finding]]:
    """What the rules of seats say of pieces that are made of balls.

    Args:
        parts: by the pieces' ids.
        board: a board of holes.
        profile: says how far pieces beside each other must be apart.
        progress: told before each piece.

    Returns:
        For each piece `seat-free`, `seat-insert`, `seat-play`, `seat-loose`, `seat-turn`,
        `seat-rest` and, of several pieces, `seat-neighbours`. A piece that cannot be looked at, or any piece when the board cannot,
        has only the first, which then fails and says why.
    """

    def ways(key: str) -> tuple[Lying, ...]:
        part = parts[key]
        if part.balls is None:
            raise BallError(f"its balls could not be read: {part.why}")
        return balls_lying(key, part, board.unit_mm)

    return _findings(list(parts), ways, board, HOLES, LATTICES["square"], profile, progress)[0]


def stubs_in_board(
    parts: Mapping[str, OnStubs],
    board: Part,
    lattice: Lattice,
    profile: Profile,
    progress: Progress = lambda done, total, name: None,
) -> dict[str, list[Finding]]:
    """What the rules of seats say of pieces on stubs; see `balls_in_board`.

    Returns:
        The same, on a board of seats, and `seat-proud`.
    """

    def ways(key: str) -> tuple[Lying, ...]:
        if parts[key].whole.outline is None:
            raise BallError("its outline could not be read")
        return (stubs_lying(key, parts[key], lattice, board.unit_mm, over=False),)

    found, seating = _findings(list(parts), ways, board, SEATS, lattice, profile, progress)
    for key, findings in found.items():
        if seating and len(findings) > 1:
            over = stubs_lying(key, parts[key], lattice, board.unit_mm, over=True)
            proud = seating.proud_mm(ways(key)[0], over)
            what = "how much higher it lies upside down"
            none = Finding(
                "seat-proud", True, None, PROUD_MM, "mm", "there is no place for it upside down"
            )
            finding = at_least("seat-proud", proud, PROUD_MM, "mm", what)
            findings.append(none if math.isinf(proud) else finding)
    return found


def _findings(
    keys: Sequence[str],
    ways: Callable[[str], tuple[Lying, ...]],
    board: Part,
    kind: str,
    lattice: Lattice,
    profile: Profile,
    progress: Progress,
) -> tuple[dict[str, list[Finding]], Seating | None]:
    why = _unfit(board, kind)
    if why:
        return {key: _unseated(why) for key in keys}, None
    seating = Seating(board, lattice)
    margins: dict[str, float] = {}
    found: dict[str, list[Finding]] = {}
    for done, key in enumerate(keys):
        progress(done, len(keys), key)
        try:
            here = ways(key)
        except BallError as error:
            found[key] = _unseated(str(error))
            continue
        if not all(one.is_solid for one in here):
            found[key] = _unseated("its mesh does not bound a volume")
            continue
        found[key] = seat_findings(seating, here)
        margins[key] = min(one.margin_mm for one in here)
    for key in margins if len(margins) > 1 else ():
        # A piece that keeps inside its own cells by some margin stays away from every other piece
        # by that margin and the other's own.
        other = min((one for one in margins if one != key), key=lambda one: margins[one])
        gap_mm = margins[key] + margins[other]
        what = f"the gap to {other}, where it lies nearest,"
        found[key].append(at_least("seat-neighbours", gap_mm, profile.gap_min_mm, "mm", what))
    progress(len(keys), len(keys), "")
    return found, seating


def seat_findings(seating: Seating, ways: Sequence[Lying]) -> list[Finding]:
    """What the rules of seats say of one piece.

    Args:
        seating: its board.
        ways: the ways in which it can lie, turns divided out; at least one.

    Returns:
        `seat-free`, `seat-insert`, `seat-play`, `seat-loose`, `seat-turn` and `seat-rest`; only the
        first when there is no place for it.
    """
    found = [placed for lying in ways for placed in seating.placed(lying)]
    places = sum(placed.places for placed in found)
    if not places:
        message = "there is no place for it on the board"
        return [Finding("seat-free", False, None, TINY_MM3, "mm3", message)]
    worst = max(found, key=lambda one: one.overlap_mm3)
    free = f"what it has in common with the board{worst.at}, of {places} ways to lie,"
    barred = [one for one in found if one.is_barred]
    insert = f"turns, of {len(found)}, in which it cannot be put in straight from above"
    insert += barred[0].at if barred else ""
    held = seating.held(ways)
    loose, turn = "its least play, side to side,", "how far its seat lets it turn"
    rest = "its height above what it rests on"
    return [
        at_most("seat-free", worst.overlap_mm3, TINY_MM3, "mm3", free),
        counted("seat-insert", len(barred), 0, insert),
        at_most("seat-play", held.shift_mm, PLAY_MM, "mm", "its play, side to side,"),
        at_least("seat-loose", held.least_mm, LOOSE_MM, "mm", loose),
        at_most("seat-turn", held.turn_degrees, TURN_DEGREES, "deg", turn),
        at_most("seat-rest", held.sink_mm, PRESS_MM, "mm", rest),
    ]


def _unseated(why: str) -> list[Finding]:
    """The finding on a piece or board that cannot be looked at."""
    message = f"whether it lies free in its board cannot be measured: {why}"
    return [Finding("seat-free", False, None, TINY_MM3, "mm3", message)]


def _unfit(board: Part, kind: str) -> str:
    """Why nothing can be put into a board; empty when all is well."""
    if board.board is None:
        return f"the board could not be read: {board.why}"
    if board.kind != kind:
        return f"the board is one of {board.kind}, where one of {kind} is needed"
    return "" if board.is_solid else "the board's mesh does not bound a volume"
