"""Does a piece go into its board, wherever it may lie, and does the board hold it there?

Every way to lie (each side up, each turn) is tried at every place of the board. Nearly all is
settled from above: between the heights at which it changes a board is an upright prism, a storey,
and what lies in a storey over no part of it does not meet it. That proves that a piece is free
where it lies, and that it gets there straight from above. What that leaves open is measured on the
meshes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import shapely
from shapely import affinity
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.outline import region_mm
from fabkit.mesh.boards.lying import LIFT_MM, balls_lying, stubs_lying
from fabkit.mesh.finding import TINY_MM3, Finding, at_least, at_most, counted
from fabkit.mesh.laying import Lying, Pose, step_mm
from fabkit.mesh.manifold import cropped
from fabkit.mesh.part import Part
from fabkit.mesh.stubs import OnStubs
from fabkit.model.lattice import Lattice
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
#: Upright ways are looked at in these steps; where a way ends is found to so much.
_STEP_MM, _PRECISION = 0.5, 1e-3
#: Nobody asks by how much more than this a piece can be shifted (mm) or turned (degrees).
_MOST_MM, _MOST_DEGREES = 1.5, 15.0
#: Corners this near to a height are at it: what single precision makes of heights.
_SAME_MM = 1e-4


class _Storey(NamedTuple):
    """A layer of a board between two heights, seen from above."""

    low_mm: float
    high_mm: float
    shadow: BaseGeometry

    def met_mm3(self, area: BaseGeometry) -> float:
        """At most so much of what stands over an area, in this storey, lies in the board."""
        if not shapely.intersects(self.shadow, area):
            return 0.0
        return float(self.shadow.intersection(area).area) * (self.high_mm - self.low_mm)


class Play(NamedTuple):
    """How a seated piece is held: most and least from stop to stop, its turn (about the worst of
    its cells' middles), and its fall onto what it rests on."""

    shift_mm: float
    least_mm: float
    turn_degrees: float
    sink_mm: float


class Seating:
    """A board into which pieces are put; one that was read, and is solid."""

    def __init__(self, board: Part, lattice: Lattice) -> None:
        assert board.board is not None
        self._board, self._rest_mm = board, board.rest_mm
        self._region = board.board.cells
        area = region_mm(lattice, self._region, board.unit_mm)
        # What lies farther out, such as a title, no piece comes near.
        self._bounds = area.buffer(board.unit_mm, join_style="mitre").bounds
        self._solid = cropped(board.manifold, self._bounds)

    @cached_property
    def _storeys(self) -> list[_Storey]:
        """From low to high; where walls lean they are cut so finely that they nearly stand upright."""
        sections, around = self._board.sections, shapely.box(*self._bounds)
        found: list[_Storey] = []
        for low, high in itertools.pairwise(sections.levels()):
            near = min(_SAME_MM, (high - low) / 4)
            lower, upper = (sections.at(at) & around for at in (low + near, high - near))
            leans = _lean_mm2(lower, upper) > 0
            count = math.ceil((high - low) / 0.05) if leans else 1
            heights = np.linspace(low, high, count + 1).tolist()
            cuts = [lower, *(sections.at(at) & around for at in heights[1:-1]), upper]
            pairs = zip(itertools.pairwise(heights), itertools.pairwise(cuts), strict=True)
            for (start, end), (below, above) in pairs:
                layer = _Storey(start, end, below | above)
                if found and _lean_mm2(found[-1].shadow, layer.shadow) <= 0:
                    last = found.pop()
                    layer = _Storey(last.low_mm, end, last.shadow | layer.shadow)
                found.append(layer)
        for one in found:
            shapely.prepare(one.shadow)
        return found

    # --- does it go in -------------------------------------------------------------------

    def goes_in(self, ways: Sequence[Lying]) -> list[Finding]:
        """`seat-free` and `seat-insert` of a piece, at every place in every turn of its ways to lie.

        Only the first, which fails, when there is no place for it.
        """
        places, turns = 0, 0
        overlap_mm3, at, barred = 0.0, "", list[str]()
        for lying in ways:
            for _, some in itertools.groupby(lying.poses(self._region), key=lambda pose: pose[0]):
                poses = list(some)
                places, turns = places + len(poses), turns + 1
                worst_mm3, pose = self._worst(lying, poses)
                if pose:
                    barred.append(_where(lying, pose))
                if worst_mm3 > overlap_mm3:
                    overlap_mm3, at = worst_mm3, barred[-1]
        if not places:
            message = "there is no place for it on the board"
            return [Finding("seat-free", False, None, TINY_MM3, "mm3", message)]
        free = f"what it has in common with the board{at}, of {places} ways to lie,"
        insert = f"turns, of {turns}, in which it cannot be put in straight from above"
        return [
            at_most("seat-free", overlap_mm3, TINY_MM3, "mm3", free),
            counted("seat-insert", len(barred), 0, "".join([insert, *barred[:1]])),
        ]

    def _worst(self, lying: Lying, poses: Sequence[Pose]) -> tuple[float, Pose | None]:
        """Of poses of one turn, the first that overlaps with the board, and by how much (mm3).

        Else the first to which there is no straight way from above; else none.
        """
        barred = None
        for pose in self._suspects(lying, poses):
            solid = lying.at(pose, self._rest_mm + LIFT_MM)
            near = self._around(solid)
            overlap_mm3 = float((solid ^ near).volume())
            if overlap_mm3 > TINY_MM3:
                return overlap_mm3, pose
            if barred is None:
                ups = np.arange(
                    _STEP_MM, near.bounding_box()[5] - solid.bounding_box()[2], _STEP_MM
                )
                if any(_meet(solid.translate((0.0, 0.0, up)), near) for up in ups.tolist()):
                    barred = pose
        return 0.0, barred

    def _suspects(self, lying: Lying, poses: Sequence[Pose]) -> list[Pose]:
        """The poses, of one turn, whose way in is not proven to be free, the worst first.

        A piece that is put in from above passes each storey with all of it that comes to lie
        there or below. So where that meets nothing, it gets there, and is free where it lies.
        """
        barred, everywhere = np.zeros(len(poses)), lying.placed_all(lying.shadow(), poses)
        for storey in self._storeys:
            near = np.flatnonzero(shapely.intersects(storey.shadow, everywhere))
            if len(near):
                below = lying.shadow(high_mm=storey.high_mm - self._rest_mm - LIFT_MM)
                areas = lying.placed_all(below, [poses[at] for at in near.tolist()])
                barred[near] += [storey.met_mm3(area) for area in areas]
        order = np.argsort(-barred, kind="stable").tolist()
        return [poses[at] for at in order if barred[at] > TINY_MM3]

    def _around(self, solid: Any) -> Any:
        """What of the board is around a solid, seen from above: all that it may meet on its way."""
        low, high = np.reshape(solid.bounding_box(), (2, 3))[:, :2].tolist()
        return cropped(self._solid, shapely.box(*low, *high).buffer(1.0).bounds)

    # --- is it held ----------------------------------------------------------------------

    def held(self, ways: Sequence[Lying]) -> list[Finding]:
        """`seat-play`, `-loose`, `-turn` and `-rest` where a piece is held worst.

        It is looked at mid-board and at the border.
        """
        found, middle = [], np.mean(sorted(self._region), axis=0)
        for lying in ways:
            poses = list(lying.poses(self._region))
            off = [math.dist(np.mean(sorted(lying.covered(one)), axis=0), middle) for one in poses]
            for at in {int(np.argmin(off)), int(np.argmax(off))} if poses else ():
                found.append(self.play(lying, poses[at]))
        shift, _, turn, sink = np.max(found, axis=0).tolist()
        least = min(one.least_mm for one in found)
        return [
            at_most("seat-play", shift, PLAY_MM, "mm", "its play, side to side,"),
            at_least("seat-loose", least, LOOSE_MM, "mm", "its least play, side to side,"),
            at_most("seat-turn", turn, TURN_DEGREES, "deg", "how far its seat lets it turn"),
            at_most("seat-rest", sink, PRESS_MM, "mm", "its height above what it rests on"),
        ]

    def play(self, lying: Lying, pose: Pose) -> Play:
        """How a piece is held in one place.

        Shifts and turns are looked at from above, storey by storey, the piece level all the time.
        """
        here, around = [], lying.placed(lying.shadow(), pose).envelope.buffer(2.0)
        for storey, area in self._met(lying, pose, self._rest_mm + LIFT_MM):
            near = storey.shadow.intersection(around)
            shapely.prepare(near)
            here.append((storey._replace(shadow=near), area))

        def meets(moved: Callable[[BaseGeometry], BaseGeometry]) -> bool:
            return _is_met((storey, moved(area)) for storey, area in here)

        def shift_mm(angle: float) -> float:
            x, y = math.cos(angle), math.sin(angle)
            return _reach(
                lambda way: meets(lambda area: affinity.translate(area, way * x, way * y)),
                _MOST_MM,
            )

        lines = (math.pi * line / 4 for line in range(4))
        shifts_mm = [shift_mm(angle) + shift_mm(angle + math.pi) for angle in lines]
        middles = np.array(sorted(lying.covered(pose))) * step_mm(lying.lattice, lying.unit_mm)
        most = 0.0
        for pivot, way in itertools.product([*middles, middles.mean(axis=0)], (1, -1)):
            centre = tuple(pivot)
            most = _reach(
                lambda angle, way=way, centre=centre: meets(  # type: ignore[misc]
                    lambda area: affinity.rotate(area, way * angle, origin=centre)
                ),
                _MOST_DEGREES,
                free=most,
            )
        return Play(max(shifts_mm), min(shifts_mm), most, -self._low_mm(lying, pose, 0.0, PRESS_MM))

    # --- how low it comes ----------------------------------------------------------------

    def proud_mm(self, upright: Lying, over: Lying) -> float:
        """How much higher the top of a piece on stubs lies when it is turned over.

        The piece is let down onto the board until it meets it: first with its stubs down, in the
        first place; then turned over, in every turn and every place that its cells allow. The least
        difference counts; infinite when there is no place for it, or none upside down.
        """
        seated = next(upright.poses(self._region), None)
        if seated is None:
            return math.inf
        above_mm = self._board.sections.high - self._rest_mm
        first_mm = above_mm - over.heights_mm[0]
        lowest_mm = math.inf
        for pose in over.poses(self._region):
            # Most places are like the ones before: there it stops, too, before it gets any lower.
            start_mm = min(first_mm, lowest_mm - 2 * _PRECISION)
            if not _is_met(self._met(over, pose, self._rest_mm + start_mm)):
                lowest_mm = min(lowest_mm, self._low_mm(over, pose, start_mm, _STEP_MM))
        # One whose stubs do not go in stands on them.
        top_mm = above_mm - upright.heights_mm[0]
        seated_mm = self._low_mm(upright, seated, top_mm, _STEP_MM)
        return lowest_mm + over.heights_mm[1] - seated_mm - upright.heights_mm[1]

    def _met(
        self, lying: Lying, pose: Pose, at_mm: float
    ) -> Iterator[tuple[_Storey, BaseGeometry]]:
        """Each storey in which something of a piece lies, and what, for one at some height."""
        for storey in self._storeys:
            area = lying.shadow(storey.low_mm - at_mm, storey.high_mm - at_mm)
            if not area.is_empty:
                yield storey, lying.placed(area, pose)

    def _low_mm(self, lying: Lying, pose: Pose, start_mm: float, step_mm: float) -> float:
        """How high above the board's ``rest_mm`` a piece stays that is let down from some height.

        One that falls through the board is let down until all of it is below.
        """
        solid = lying.at(pose, self._rest_mm + start_mm)
        near, most_mm = self._around(solid), solid.bounding_box()[5] + _STEP_MM
        return start_mm - _reach(
            lambda down: _meet(solid.translate((0.0, 0.0, -down)), near), most_mm, step_mm
        )


def _lean_mm2(lower: BaseGeometry, upper: BaseGeometry) -> float:
    """How much more two cuts differ than those of walls that nearly stand upright (to 5 um)."""
    return float((lower ^ upper).area) - 0.005 * float(lower.length)


def _is_met(layers: Iterable[tuple[_Storey, BaseGeometry]]) -> bool:
    """Whether what lies in storeys may have a volume in common with the board."""
    met = (storey.met_mm3(area) for storey, area in layers)
    return any(total > TINY_MM3 for total in itertools.accumulate(met))


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


def _where(lying: Lying, pose: Pose) -> str:
    cells = sorted(map(lying.lattice.row_col, lying.covered(pose)))
    return f" at {' '.join(f'[{row}, {col}]' for row, col in cells)}"


# --- what the rules say -------------------------------------------------------------------


def pieces_in_board(
    parts: Mapping[str, Part | OnStubs],
    board: Part,
    lattice: Lattice,
    profile: Profile,
    progress: Progress = lambda done, total, name: None,
) -> dict[str, list[Finding]]:
    """What the rules of seats say of pieces that lie flat in a board of holes or seats.

    Returns:
        For each piece, by its id, `seat-free`, `seat-insert`, `seat-play`, `seat-loose`,
        `seat-turn`, `seat-rest`, of several pieces `seat-neighbours`, and of a piece on stubs
        `seat-proud`. A piece that is not solid, or any piece when the board is not, has only the
        first, which then fails and says why; so has one for which there is no place.
    """
    seating = Seating(board, lattice) if board.is_solid else None
    margins: dict[str, float] = {}
    found: dict[str, list[Finding]] = {}
    for done, (key, part) in enumerate(parts.items()):
        progress(done, len(parts), key)
        over: list[Lying] = []
        if isinstance(part, OnStubs):
            both = (stubs_lying(key, part, lattice, board.unit_mm, way) for way in (False, True))
            ways, over = ([one] for one in both)
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
            found[key] += seating.held(ways)
            for one in over:
                proud_mm = seating.proud_mm(ways[0], one)
                what = "how much higher it lies upside down"
                finding = at_least("seat-proud", proud_mm, PROUD_MM, "mm", what)
                if math.isinf(proud_mm):
                    why = "there is no place for it upside down"
                    finding = replace(finding, ok=True, message=why)
                found[key].append(finding)
    for key in margins if len(margins) > 1 else ():
        # A piece that keeps inside its own cells by some margin stays away from every other piece
        # by that margin and the other's own.
        other = min((one for one in margins if one != key), key=lambda one: margins[one])
        gap_mm = margins[key] + margins[other]
        what = f"the gap to {other}, where it lies nearest,"
        found[key].append(at_least("seat-neighbours", gap_mm, profile.gap_min_mm, "mm", what))
    progress(len(parts), len(parts), "")
    return found
