"""Closing a board with its lid: where the lid comes to lie, and what it meets on its way there.

A plain lid slides in, one with tongues is turned over and pressed down. Both are moved in steps of
half a millimetre, and at each step the volume is measured that lid and board both take.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fabkit.mesh.boards.circles import slabs
from fabkit.mesh.boards.part import BoardPart
from fabkit.mesh.section import UP, Sections, parts

#: The steps of a lid's way.
STEP_MM = 0.5
#: A lid lies this much (mm) above what it lies on: single precision makes faces that touch overlap.
_ABOVE_MM = 0.005
#: Level faces from this area (mm2) can bear a lid.
_BEARS_MM2 = 10.0
#: A lid has tongues when less than this part of its plate is there halfway up.
_TONGUES = 0.5
#: So far a lid is pushed to find out on which side its way is open.
_PUSH_MM = 5.0
#: So far below the lid the board matters to it, and the hooks' way.
_BELOW_MM = 1.0
#: Lids are lifted by so much to find out in which way they are held.
_TRIED_MM = 2.0
#: The rim of a lid is wider than its plate is thick by this, in mm: its edges may lean.
_RIM_MM = 2.0
#: Four ways along the table.
_WAYS = ((0, -1), (0, 1), (-1, 0), (1, 0))
#: Overlaps of less volume (mm3) are those of single precision.
TINY_MM3 = 0.01


@dataclass(frozen=True)
class Tongue:
    """A tongue of a snapping lid.

    Attributes:
        thickness_mm: of it, halfway to its hook.
        length_mm: from the plate to the tip of its hook.
        hook_mm: how far the hook stands off it.
    """

    thickness_mm: float
    length_mm: float
    hook_mm: float


class Closing:
    """A lid on its board.

    Args:
        board: a board that could be read, no lid.
        lid: that belongs to it.
        lid_low_mm: about how high the lid's underside should lie.
    """

    def __init__(self, board: BoardPart, lid: BoardPart, lid_low_mm: float) -> None:
        self.board = board
        self.lid = lid
        self._about_mm = lid_low_mm

    @cached_property
    def snaps(self) -> bool:
        """Whether the lid has tongues, and is pressed on."""
        return has_tongues(self.lid)

    @cached_property
    def plate_mm(self) -> float:
        """Thickness of the lid's plate."""
        return plate_mm(self.lid)

    @cached_property
    def seat_mm(self) -> float:
        """How high the lid's underside lies: on the level face that is nearest to where it should."""
        flats = self.board.sections.flats()
        levels = [
            height
            for (height, facing), area in flats.items()
            if facing == UP and area > _BEARS_MM2 and height > self.board.rest_mm + _BELOW_MM
        ]
        return min(levels, key=lambda height: abs(height - self._about_mm), default=math.nan)

    @cached_property
    def seated(self) -> Any:
        """The lid as it lies on the board, turned as suits it best."""
        turned = [self._turned(turns) for turns in range(4)]
        overlaps = [self.overlap_mm3(lid) for lid in turned]
        if min(overlaps) > TINY_MM3:
            return turned[overlaps.index(min(overlaps))]
        # Some lids lie on their board in several ways; they are held in one of them.
        free = [lid for lid, one in zip(turned, overlaps, strict=True) if one <= TINY_MM3]
        return max(free, key=lambda lid: self._lifted_mm3(lid, _TRIED_MM))

    @cached_property
    def _plain(self) -> Any:
        """The lid with its middle filled: a title makes every step slow, and meets nothing."""
        import manifold3d

        low, high = self.lid.vertices.min(axis=0), self.lid.vertices.max(axis=0)
        inset = self.plate_mm + _RIM_MM
        size = [*(high - low)[:2] - 2 * inset, self.plate_mm]
        if min(size) <= 0:
            return self.lid.manifold
        filling = manifold3d.Manifold.cube(tuple(map(float, size)))
        return self.lid.manifold + filling.translate((*(low[:2] + inset).tolist(), 0.0))

    def _turned(self, turns: int) -> Any:
        """The lid on its seat, its middle over that of the region, after some quarter turns."""
        x, y, _ = ((self.lid.vertices.min(axis=0) + self.lid.vertices.max(axis=0)) / 2).tolist()
        lid = self._plain.translate((-x, -y, 0.0))
        if self.snaps:
            lid = lid.rotate((180.0, 0.0, 0.0)).translate((0.0, 0.0, self.plate_mm))
        return lid.rotate((0.0, 0.0, 90.0 * turns)).translate((x, y, self.seat_mm + _ABOVE_MM))

    @cached_property
    def _near(self) -> Any:
        """What of the board a lid can meet."""
        low = self.seat_mm - _BELOW_MM
        if self.snaps:
            low = min(low, self.seat_mm + self.plate_mm - self.lid.sections.high - _BELOW_MM)
        return self.board.manifold.trim_by_plane((0.0, 0.0, 1.0), low)

    def overlap_mm3(self, lid: Any) -> float:
        """The volume that board and lid both take, the lid lying anywhere."""
        return max(0.0, float((self._near ^ lid).volume()))

    def lifted_mm3(self, lift_mm: float) -> float:
        """The greatest overlap of a lid that is lifted straight up, up to a height.

        Args:
            lift_mm: the height.
        """
        return self._lifted_mm3(self.seated, lift_mm)

    def _lifted_mm3(self, lid: Any, lift_mm: float) -> float:
        lifts = np.arange(STEP_MM, lift_mm + STEP_MM / 2, STEP_MM)
        return max(self.overlap_mm3(lid.translate((0.0, 0.0, up))) for up in lifts)

    @cached_property
    def way(self) -> tuple[int, int]:
        """Along x and y: the side to which the lid slides out with least in its way."""
        pushed = {
            way: self.overlap_mm3(self.seated.translate((way[0] * _PUSH_MM, way[1] * _PUSH_MM, 0)))
            for way in _WAYS
        }
        return min(pushed, key=lambda way: pushed[way])

    def sliding(self) -> Iterator[tuple[float, float]]:
        """How far a sliding lid is out, in mm, and the overlap there, until it is out."""
        dx, dy = self.way
        far = float(np.ptp(self.board.vertices[:, 0 if dx else 1]))
        for out in np.arange(STEP_MM, far + STEP_MM, STEP_MM):
            moved = self.seated.translate((dx * out, dy * out, 0.0))
            yield float(out), self.overlap_mm3(moved)

    def pressing(self) -> Iterator[tuple[float, float, float]]:
        """How high a snapping lid is above its seat, what its plate overlaps, how far hooks bend.

        The plate's overlap is in mm3. Hooks bend by as much, in mm, as they reach into the frame.
        """
        low = self.seat_mm + _ABOVE_MM
        plate = self.seated.trim_by_plane((0.0, 0.0, 1.0), low)
        tongues = self.seated.trim_by_plane((0.0, 0.0, -1.0), -low)
        far = self.lid.sections.high - self.plate_mm + STEP_MM
        for up in np.arange(far, 0.0, -STEP_MM):
            both = self._near ^ tongues.translate((0.0, 0.0, up))
            bent = max((_depth_mm(one) for one in both.decompose()), default=0.0)
            yield float(up), self.overlap_mm3(plate.translate((0.0, 0.0, up))), bent


def _depth_mm(overlap: Any) -> float:
    """How deep an overlap is along the table: the shorter side of its box; 0 for next to nothing."""
    if float(overlap.volume()) < TINY_MM3:
        return 0.0
    x0, y0, _, x1, y1, _ = overlap.bounding_box()
    return float(min(x1 - x0, y1 - y0))


def plate_mm(lid: BoardPart) -> float:
    """The thickness of a lid's plate: up to its largest level face that looks up."""
    flats = lid.sections.flats()
    tops = {height: area for (height, facing), area in flats.items() if facing == UP}
    return max(tops, key=lambda height: tops[height], default=lid.sections.high)


def has_tongues(lid: BoardPart) -> bool:
    """Whether a lid snaps on: most of it is not there halfway up."""
    middle = lid.sections.at(lid.sections.high / 2)
    low = lid.sections.at(slabs(lid.sections)[0].middle_mm)
    return bool(middle.area < _TONGUES * low.area)


def tongues_of(lid: BoardPart) -> list[Tongue]:
    """The tongues of a lid that lies plate down.

    A tongue is followed upwards: where its section is widest its hook has its tip.
    """
    plate = plate_mm(lid)
    sections: Sections = lid.sections
    heights = [height for height in sections.levels() if height > plate]
    found = []
    # Halfway up the tongue is plain, hooks are at its end.
    for tongue in parts(sections.at(plate + (sections.high - plate) / 3)):
        x0, y0, x1, y1 = tongue.bounds
        across = 0 if x1 - x0 < y1 - y0 else 1
        thickness = min(x1 - x0, y1 - y0)
        widths = {}
        for height in heights:
            # A cut at the height of corners is that just above it.
            near = [one for one in parts(sections.at(height)) if one.intersects(tongue)]
            if near:
                box = near[0].bounds
                widths[height] = box[across + 2] - box[across]
        widest = max(widths.values(), default=thickness)
        tip = min((h for h, wide in widths.items() if wide > widest - 0.01), default=sections.high)
        found.append(Tongue(thickness, tip - plate, widest - thickness))
    return found
