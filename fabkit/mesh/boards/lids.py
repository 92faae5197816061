"""Rules on lids: whether one lies on its board, gets there, stays there, and bears the bending.

A plain lid slides in, one with tongues is turned over and pressed down. Both are moved in steps of
half a millimetre, and at each step the volume is measured that lid and board both take.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from fabkit.drawing.boards.lids import MAX_STRAIN
from fabkit.mesh.boards.recognise import slabs
from fabkit.mesh.finding import Finding, at_least, at_most, counted
from fabkit.mesh.part import Part
from fabkit.mesh.section import UP, parts
from fabkit.model.accessory import HOLES, LID
from fabkit.model.profile import Profile

#: A lid that is held cannot be lifted by this, in mm.
_LIFT_MM = 2.0
#: The steps of a lid's way.
_STEP_MM = 0.5
#: A lid lies this much (mm) above what it lies on: single precision makes faces that touch overlap.
_ABOVE_MM = 0.005
#: So far below the lid the board matters to it, and the hooks' way.
_BELOW_MM = 1.0
#: Overlaps of less volume (mm3) are those of single precision.
_TINY_MM3 = 0.01


def partners(part: Part, parts: Sequence[Part]) -> list[Part]:
    """The lids of a board, or the boards of a lid, among some parts of the same files."""
    return [
        other
        for other in parts
        if other.board == part.board is not None and (other.kind == LID) != (part.kind == LID)
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
    """All findings on a lid with its board, its underside to lie so high above the table."""
    seats = [
        height
        for (height, facing), area in board.sections.flats().items()
        if facing == UP and area > 10 and height > board.rest_mm + _BELOW_MM
    ]
    is_solid = lid.is_solid and board.is_solid
    if not seats or not is_solid:
        why = "the board has no level face above its pieces on which a lid could lie"
        why = why if is_solid else "board and lid cannot be put together: one of them is not closed"
        yield Finding("lid-fits", False, None, _TINY_MM3, "mm3", why)
        return
    seat_mm = min(seats, key=lambda height: abs(height - lid_low_mm))
    closing = _Closing(board, lid, seat_mm)
    # There is room for the pieces, and some air, below the lid.
    pieces = profile.ball_mm / 2 if board.kind == HOLES else profile.thickness_mm
    air, least = seat_mm - board.rest_mm - pieces, profile.lid_air_mm - closing.noise_mm
    yield at_least("board-height", air, least, "mm", "the air between pieces and lid")
    overlap = closing.overlap_mm3(closing.seated)
    yield at_most("lid-fits", overlap, _TINY_MM3, "mm3", "the overlap of lid and board")
    yield from closing.pressed(profile) if closing.snaps else closing.slid()
    what = f"the overlap with the board when the lid is lifted by up to {_LIFT_MM:g} mm"
    held = closing.lifted_mm3(closing.seated)
    yield at_least("lid-held", held, 1.0, "mm3", what)


class _Closing:
    """A lid on its board, its underside so high, turned as suits it best.

    Attributes:
        plate_mm: thickness of the lid's plate: up to its largest level face that looks up.
        snaps: whether it has tongues, and is pressed on: most of it is not there halfway up.
        seated: the lid as it lies on the board, filled: a title meets nothing.
        noise_mm: how far noise may have moved both.
    """

    def __init__(self, board: Part, lid: Part, seat_mm: float) -> None:
        import manifold3d

        self.board, self.lid, sections = board, lid, lid.sections
        self.noise_mm = 2 * (board.sections.noise_mm + sections.noise_mm)
        tops = [(area, at) for (at, facing), area in sections.flats().items() if facing == UP]
        self.plate_mm = max(tops, default=(0.0, sections.high))[1]
        plain = sections.at(slabs(sections)[0].middle_mm)
        self.snaps = bool(sections.at(sections.high / 2).area < plain.area / 2)
        low_mm = min(0.0, self.plate_mm - sections.high) if self.snaps else 0.0
        self._near = board.manifold.trim_by_plane((0, 0, 1), seat_mm + low_mm - _BELOW_MM)
        self._low_mm = seat_mm + _ABOVE_MM + self.noise_mm

        low, high = lid.vertices.min(axis=0), lid.vertices.max(axis=0)
        x, y, _ = ((low + high) / 2).tolist()
        # Its rim is wider than its plate is thick: edges may lean.
        size = [*((high - low)[:2] - 2 * (self.plate_mm + 2)).tolist(), self.plate_mm]
        solid = lid.manifold.translate((-x, -y, 0.0))
        if min(size) > 0:
            filling = manifold3d.Manifold.cube(size, center=True)
            solid = solid + filling.translate((0.0, 0.0, self.plate_mm / 2))
        if self.snaps:
            solid = solid.rotate((180.0, 0.0, 0.0)).translate((0.0, 0.0, self.plate_mm))
        turned = [
            solid.rotate((0.0, 0.0, 90.0 * turns)).translate((x, y, self._low_mm))
            for turns in range(4)
        ]
        overlaps = list(map(self.overlap_mm3, turned))
        # Some lids lie on their board in several ways; they are held in one of them.
        free = [one for one, overlap in zip(turned, overlaps, strict=True) if overlap <= _TINY_MM3]
        self.seated = max(free or [turned[int(np.argmin(overlaps))]], key=self.lifted_mm3)

    def overlap_mm3(self, lid: Any, *way_mm: float) -> float:
        """The volume that board and lid both take, the lid moved along x, y, z."""
        return max(0.0, float((self._near ^ lid.translate(way_mm or (0, 0, 0))).volume()))

    def lifted_mm3(self, lid: Any) -> float:
        """The greatest overlap of a lid that is lifted straight up."""
        lifts = np.arange(_STEP_MM, _LIFT_MM + _STEP_MM / 2, _STEP_MM)
        return max(self.overlap_mm3(lid, 0, 0, up) for up in lifts)

    def slid(self) -> Iterator[Finding]:
        """A sliding lid meets nothing on its way to the side on which it meets least."""
        sides = ((0, -1), (0, 1), (-1, 0), (1, 0))
        x, y = min(sides, key=lambda way: self.overlap_mm3(self.seated, 5 * way[0], 5 * way[1], 0))
        far = float(np.ptp(self.board.vertices[:, 0 if x else 1]))
        steps = np.arange(_STEP_MM, far + _STEP_MM, _STEP_MM).tolist()
        overlaps = [self.overlap_mm3(self.seated, x * out, y * out, 0) for out in steps]
        out = steps[int(np.argmax(overlaps))]
        what = f"the overlap of lid and board on its way, {out:g} mm before its end,"
        yield at_most("lid-path", max(overlaps), _TINY_MM3, "mm3", what)

    def pressed(self, profile: Profile) -> Iterator[Finding]:
        """Of a snapping lid only hooks meet the board, and they bend no farther than they may.

        They bend by as much as they reach into the frame. Their strain is 1.5 t y / l^2 of each
        tongue (Bayer, Snap-fit joints for plastics), as measured.
        """
        plate = self.seated.trim_by_plane((0.0, 0.0, 1.0), self._low_mm)
        tongues = self.seated.trim_by_plane((0.0, 0.0, -1.0), -self._low_mm)
        far = self.lid.sections.high - self.plate_mm + _STEP_MM
        bent_mm, most_mm3 = 0.0, 0.0
        for up in np.arange(far, 0.0, -_STEP_MM):
            most_mm3 = max(most_mm3, self.overlap_mm3(plate, 0, 0, up))
            for hook in (self._near ^ tongues.translate((0.0, 0.0, up))).decompose():
                if hook.volume() >= _TINY_MM3:
                    x0, y0, _, x1, y1, _ = hook.bounding_box()
                    bent_mm = max(bent_mm, min(x1 - x0, y1 - y0))
        limit, what = profile.snap_mm + 0.02, "how far a hook bends on the lid's way down"
        if most_mm3 > _TINY_MM3:
            message = f"on the lid's way down its plate overlaps the board by {most_mm3:.3f} mm3"
            yield Finding("lid-path", False, most_mm3, _TINY_MM3, "mm3", message)
        else:
            yield at_most("lid-path", bent_mm, limit, "mm", what)
        strains = [1.5 * thick * bent_mm / max(long, 1e-9) ** 2 for thick, long in self._tongues()]
        what = "the part by which a tongue's plastic is stretched"
        yield at_most("lid-strain", max(strains, default=0.0), MAX_STRAIN, "", what)

    def _tongues(self) -> Iterator[tuple[float, float]]:
        """The thickness of each tongue, and its length from the plate to the tip of its hook.

        A tongue is followed upwards: where its section is widest its hook has its tip.
        """
        sections, plate = self.lid.sections, self.plate_mm
        # Cuts at the height of corners are those just above them.
        cuts = {
            height: parts(sections.at(height)) for height in sections.levels() if height > plate
        }
        # Halfway up the tongue is plain, hooks are at its end.
        for tongue in parts(sections.at(plate + (sections.high - plate) / 3)):
            size = np.ptp(np.reshape(tongue.bounds, (2, 2)), axis=0)
            across, widths = int(size.argmin()), {}
            for height, cut in cuts.items():
                box = next((one.bounds for one in cut if one.intersects(tongue)), None)
                if box:
                    widths[height] = box[across + 2] - box[across]
            widest = max(widths.values(), default=0.0)
            tips = (height for height, wide in widths.items() if wide > widest - 0.01)
            yield float(size.min()), min(tips, default=sections.high) - plate
