"""Rules on lids: whether one lies on its board, gets there, stays there, and bears the bending.

A plain lid slides in, one with tongues is turned over and pressed down. Both are moved in steps of
half a millimetre, and at each step the volume is measured that lid and board both take.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from fabkit.drawing.boards.lids import MAX_STRAIN
from fabkit.mesh.boards.recognise import slabs
from fabkit.mesh.finding import Finding, at_least, at_most, counted
from fabkit.mesh.part import Part
from fabkit.mesh.section import UP, parts
from fabkit.model.accessory import HOLES, LID
from fabkit.model.profile import Profile

#: A lid that is held cannot be lifted by this, in mm, or it overlaps with its board by so many mm3.
_LIFT_MM, _HELD_MM3 = 2.0, 1.0
#: A hook bends by no more than the profile's catch and this, in mm.
_TOLERANCE_MM = 0.02
#: The steps of a lid's way; and so far it is pushed to find out on which side its way is open.
_STEP_MM, _PUSH_MM = 0.5, 5.0
#: A lid lies this much (mm) above what it lies on: single precision makes faces that touch overlap.
_ABOVE_MM = 0.005
#: Level faces from this area (mm2) can bear a lid.
_BEARS_MM2 = 10.0
#: A lid has tongues when less than this part of its plate is there halfway up.
_TONGUES = 0.5
#: So far below the lid the board matters to it, and the hooks' way.
_BELOW_MM = 1.0
#: The rim of a lid is wider than its plate is thick by this, in mm: its edges may lean.
_RIM_MM = 2.0
#: Four ways along the table.
_WAYS = ((0, -1), (0, 1), (-1, 0), (1, 0))
#: Overlaps of less volume (mm3) are those of single precision.
_TINY_MM3 = 0.01


def partners(part: Part, parts: Sequence[Part]) -> list[Part]:
    """The lids of a board, or the boards of a lid, among some parts of the same files."""
    return [
        other
        for other in parts
        if other.board is not None
        and part.board is not None
        and other.board.id == part.board.id
        and (other.kind == LID) != (part.kind == LID)
    ]


def partner_findings(part: Part, parts: Sequence[Part], profile: Profile) -> Iterator[Finding]:
    """Whether a board that could be read has its lid among some parts, and a lid its board."""
    assert part.board is not None
    count = len(partners(part, parts))
    if part.kind == LID:
        yield counted("lid-board", count, 1, f"boards {part.board.id} for this lid")
    elif profile.lid != "none":
        yield counted("board-lid", count, 1, f"lids for the board {part.board.id}")


def lid_findings(lid: Part, board: Part, lid_low_mm: float, profile: Profile) -> Iterator[Finding]:
    """All findings on a lid with its board.

    Args:
        lid: the lid.
        board: its board.
        lid_low_mm: how high the lid's underside should lie above the table.
        profile: what is asked for.
    """
    closing = _Closing(board, lid, lid_low_mm)
    why = ""
    if not (lid.is_solid and board.is_solid):
        why = "board and lid cannot be put together: one of them is not closed"
    elif math.isnan(closing.seat_mm):
        why = "the board has no level face above its pieces on which a lid could lie"
    if why:
        yield Finding("lid-fits", False, None, _TINY_MM3, "mm3", why)
        return
    # There is room for the pieces, and some air, below the lid.
    pieces = profile.ball_mm / 2 if board.kind == HOLES else profile.thickness_mm
    air = closing.seat_mm - board.rest_mm - pieces
    least = profile.lid_air_mm - closing.noise_mm
    yield at_least("board-height", air, least, "mm", "the air between pieces and lid")
    overlap = closing.overlap_mm3(closing.seated)
    yield at_most("lid-fits", overlap, _TINY_MM3, "mm3", "the overlap of lid and board")
    yield from _pressed(closing, profile) if closing.snaps else _slid(closing)
    what = f"the overlap with the board when the lid is lifted by up to {_LIFT_MM:g} mm"
    held = closing.lifted_mm3(closing.seated)
    yield at_least("lid-held", held, _HELD_MM3, "mm3", what)


def _slid(closing: _Closing) -> Iterator[Finding]:
    """A sliding lid meets nothing on its way."""
    out, most = max(closing.sliding(), key=lambda one: one[1])
    what = f"the overlap of lid and board on its way, {out:g} mm before its end,"
    yield at_most("lid-path", most, _TINY_MM3, "mm3", what)


def _pressed(closing: _Closing, profile: Profile) -> Iterator[Finding]:
    """Of a snapping lid only hooks meet the board, and they bend no farther than they may.

    Their strain is 1.5 t y / l^2 of each tongue (Bayer, Snap-fit joints for plastics), as measured.
    """
    steps = list(closing.pressing())
    plate, bent = (max(some) for some in zip(*steps, strict=True))
    limit = profile.snap_mm + _TOLERANCE_MM
    if plate > _TINY_MM3:
        message = f"on the lid's way down its plate overlaps the board by {plate:.3f} mm3"
        yield Finding("lid-path", False, plate, _TINY_MM3, "mm3", message)
    else:
        yield at_most("lid-path", bent, limit, "mm", "how far a hook bends on the lid's way down")
    strains = [1.5 * thick * bent / max(long, 1e-9) ** 2 for thick, long in closing.tongues()]
    what = "the part by which a tongue's plastic is stretched"
    yield at_most("lid-strain", max(strains, default=0.0), MAX_STRAIN, "", what)


class _Closing:
    """A lid on its board, which could be read; its underside should lie about so high."""

    def __init__(self, board: Part, lid: Part, lid_low_mm: float) -> None:
        self.board, self.lid, self._about_mm = board, lid, lid_low_mm
        self.noise_mm = 2 * (board.sections.noise_mm + lid.sections.noise_mm)

    @cached_property
    def snaps(self) -> bool:
        """Whether the lid has tongues, and is pressed on: most of it is not there halfway up."""
        sections = self.lid.sections
        low = sections.at(slabs(sections)[0].middle_mm)
        return bool(sections.at(sections.high / 2).area < _TONGUES * low.area)

    @cached_property
    def plate_mm(self) -> float:
        """Thickness of the lid's plate: up to its largest level face that looks up."""
        tops = {
            height: area
            for (height, facing), area in self.lid.sections.flats().items()
            if facing == UP
        }
        return max(tops, key=lambda height: tops[height], default=self.lid.sections.high)

    @cached_property
    def seat_mm(self) -> float:
        """How high the lid's underside lies: on the level face that is nearest to where it should."""
        levels = [
            height
            for (height, facing), area in self.board.sections.flats().items()
            if facing == UP and area > _BEARS_MM2 and height > self.board.rest_mm + _BELOW_MM
        ]
        return min(levels, key=lambda height: abs(height - self._about_mm), default=math.nan)

    @cached_property
    def seated(self) -> Any:
        """The lid as it lies on the board, turned as suits it best."""
        turned = [self._turned(turns) for turns in range(4)]
        overlaps = [self.overlap_mm3(lid) for lid in turned]
        if min(overlaps) > _TINY_MM3:
            return turned[overlaps.index(min(overlaps))]
        # Some lids lie on their board in several ways; they are held in one of them.
        free = [lid for lid, one in zip(turned, overlaps, strict=True) if one <= _TINY_MM3]
        return max(free, key=self.lifted_mm3) if len(free) > 1 else free[0]

    @cached_property
    def _plain(self) -> Any:
        """The lid as it lies, its middle over the origin and filled: a title meets nothing."""
        import manifold3d

        low, high = self.lid.vertices.min(axis=0), self.lid.vertices.max(axis=0)
        size = [*((high - low)[:2] - 2 * (self.plate_mm + _RIM_MM)).tolist(), self.plate_mm]
        x, y, _ = ((low + high) / 2).tolist()
        lid = self.lid.manifold.translate((-x, -y, 0.0))
        if min(size) > 0:
            filling = manifold3d.Manifold.cube(size, center=True)
            lid = lid + filling.translate((0.0, 0.0, self.plate_mm / 2))
        if self.snaps:
            lid = lid.rotate((180.0, 0.0, 0.0)).translate((0.0, 0.0, self.plate_mm))
        return lid.translate((0.0, 0.0, self.seat_mm + _ABOVE_MM + self.noise_mm))

    def _turned(self, turns: int) -> Any:
        """The lid on its seat, its middle over that of the region, after some quarter turns."""
        x, y = ((self.lid.vertices.min(axis=0) + self.lid.vertices.max(axis=0)) / 2)[:2].tolist()
        return self._plain.rotate((0.0, 0.0, 90.0 * turns)).translate((x, y, 0.0))

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

    def lifted_mm3(self, lid: Any) -> float:
        """The greatest overlap of a lid that is lifted straight up."""
        lifts = np.arange(_STEP_MM, _LIFT_MM + _STEP_MM / 2, _STEP_MM)
        return max(self.overlap_mm3(lid.translate((0.0, 0.0, up))) for up in lifts)

    def sliding(self) -> Iterator[tuple[float, float]]:
        """How far a sliding lid is out, in mm, and the overlap there, until it is out.

        It slides to the side on which it meets least.
        """

        def overlap_mm3(way: tuple[int, int], out: float) -> float:
            return self.overlap_mm3(self.seated.translate((way[0] * out, way[1] * out, 0.0)))

        way = min(_WAYS, key=lambda way: overlap_mm3(way, _PUSH_MM))
        far = float(np.ptp(self.board.vertices[:, 0 if way[0] else 1]))
        for out in np.arange(_STEP_MM, far + _STEP_MM, _STEP_MM):
            yield float(out), overlap_mm3(way, float(out))

    def pressing(self) -> Iterator[tuple[float, float]]:
        """What a snapping lid's plate overlaps (mm3) on its way down, and how far hooks bend (mm).

        Hooks bend by as much as they reach into the frame.
        """
        low = self.seat_mm + _ABOVE_MM + self.noise_mm
        plate = self.seated.trim_by_plane((0.0, 0.0, 1.0), low)
        tongues = self.seated.trim_by_plane((0.0, 0.0, -1.0), -low)
        far = self.lid.sections.high - self.plate_mm + _STEP_MM
        for up in np.arange(far, 0.0, -_STEP_MM):
            both = self._near ^ tongues.translate((0.0, 0.0, up))
            bent = max((_depth_mm(one) for one in both.decompose()), default=0.0)
            yield self.overlap_mm3(plate.translate((0.0, 0.0, up))), bent

    def tongues(self) -> Iterator[tuple[float, float]]:
        """The thickness of each tongue, and its length from the plate to the tip of its hook.

        A tongue is followed upwards: where its section is widest its hook has its tip.
        """
        sections, plate = self.lid.sections, self.plate_mm
        # Halfway up the tongue is plain, hooks are at its end.
        for tongue in parts(sections.at(plate + (sections.high - plate) / 3)):
            x0, y0, x1, y1 = tongue.bounds
            across, widths = 0 if x1 - x0 < y1 - y0 else 1, {}
            for height in sections.levels():
                # A cut at the height of corners is that just above it.
                near = parts(sections.at(height)) if height > plate else []
                box = next((one.bounds for one in near if one.intersects(tongue)), None)
                if box:
                    widths[height] = box[across + 2] - box[across]
            widest = max(widths.values(), default=0.0)
            tips = (height for height, wide in widths.items() if wide > widest - 0.01)
            yield min(x1 - x0, y1 - y0), min(tips, default=sections.high) - plate


def _depth_mm(overlap: Any) -> float:
    """How deep an overlap is along the table: the shorter side of its box; 0 for next to nothing."""
    if float(overlap.volume()) < _TINY_MM3:
        return 0.0
    x0, y0, _, x1, y1, _ = overlap.bounding_box()
    return float(min(x1 - x0, y1 - y0))
