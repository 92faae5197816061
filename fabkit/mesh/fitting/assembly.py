"""Putting meshes together as a solution does, and measuring how they lie beside each other."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.outline import region_mm
from fabkit.mesh.body import Points
from fabkit.mesh.finding import TINY_MM
from fabkit.mesh.fitting.laying import Laid, Pose
from fabkit.mesh.part import Part, reach_out_mm
from fabkit.model.lattice import Cell, Lattice, Point, Symmetry
from fabkit.model.profile import Profile

#: Along a shared edge the gap is measured outside these ends: corners and tips are wider.
END_ZONE_MM = 3.0
#: Gaps are looked for up to this part of a grid unit.
_REACH_UNITS = 0.25
#: … and along edges up to this, so that no other edge of a sharp corner comes into the way.
_EDGE_REACH_MM = 0.8 * END_ZONE_MM
#: Gaps that differ by less are one: more is in the last digit of single precision.
_SAME_GAP_MM = 1e-5
#: Less overlap than this (mm3) is what single precision makes of faces that touch.
TINY_MM3 = 1e-3


@dataclass(frozen=True)
class Beside:
    """Two parts beside each other.

    Attributes:
        overlap_mm3: the volume that both take.
        gap_mm: the least distance between them; what is far apart counts as one reach.
        edge_gaps_mm: the least and the greatest distance along the edges that they share; None
            when they share none that is long enough.
    """

    overlap_mm3: float
    gap_mm: float
    edge_gaps_mm: tuple[float, float] | None


@dataclass(frozen=True)
class Assembly:
    """What was measured on a solution put together from meshes.

    Attributes:
        challenge: its id.
        ok: whether all of it keeps the limits.
        overlap_mm3: the overlap of all pairs together.
        min_gap_mm: the least gap between two parts; None when there is only one part.
        max_gap_mm: the greatest gap along a shared edge; None when none is long enough.
        outside_mm: how far a part reaches out of the region.
        is_measured: whether all parts bound a volume, so that overlaps could be measured.
        messages: what is wrong, a sentence for each pair and part.
    """

    challenge: str
    ok: bool
    overlap_mm3: float
    min_gap_mm: float | None
    max_gap_mm: float | None
    outside_mm: float
    is_measured: bool
    messages: tuple[str, ...]


class Table:
    """Where meshes are put together. How two of them lie beside each other is measured once.

    Args:
        parts: by their keys; each with its outline read.
        lattice: the set's.
        profile: the least and the greatest gap.
    """

    def __init__(self, parts: Mapping[str, Part], lattice: Lattice, profile: Profile) -> None:
        self.profile = profile
        self._lattice = lattice
        self._laid = {key: Laid(key, part, lattice) for key, part in parts.items()}
        self._beside: dict[tuple[str, str, Pose], Beside] = {}

    def assemble(
        self, challenge: str, region: frozenset[Cell], layout: Mapping[str, frozenset[Cell]]
    ) -> Assembly:
        """Puts one solution together.

        Args:
            challenge: its id.
            region: the cells to cover.
            layout: for each part the cells that it covers.

        Returns:
            What was measured.
        """
        poses = {key: self._laid[key].poses(cells) for key, cells in layout.items()}
        found: dict[tuple[str, str], Beside] = {}
        keys = sorted(layout)
        unit_mm = self._laid[keys[0]].outline.unit_mm if keys else 0.0
        area = region_mm(self._lattice, region, unit_mm)
        roomy = area.buffer(TINY_MM)
        shapely.prepare(roomy)
        boxes = {key: self._laid[key].shadow_at(poses[key][0]).bounds for key in keys}
        for i, one in enumerate(keys):
            for other in keys[i + 1 :]:
                if _near(boxes[one], boxes[other], _reach_mm(self._laid[one])):
                    found[one, other] = self._measured(one, other, poses)
        outside = {
            key: max(
                0.0
                if roomy.covers(shadow := self._laid[key].shadow_at(pose))
                else reach_out_mm(shadow, area)
                for pose in poses[key]
            )
            for key in keys
        }
        messages = [
            *(
                f"{key} is not closed: overlaps with it cannot be measured"
                for key in keys
                if not self._laid[key].part.is_solid
            ),
            *self._complaints(found),
            *_sticking_out(outside),
        ]
        gaps = [beside.gap_mm for beside in found.values()]
        most = [beside.edge_gaps_mm[1] for beside in found.values() if beside.edge_gaps_mm]
        return Assembly(
            challenge=challenge,
            ok=not messages,
            overlap_mm3=sum(beside.overlap_mm3 for beside in found.values()),
            min_gap_mm=min(gaps, default=None),
            max_gap_mm=max(most, default=None),
            outside_mm=max(outside.values(), default=0.0),
            is_measured=all(self._laid[key].part.is_solid for key in keys),
            messages=tuple(messages),
        )

    def _measured(self, one: str, other: str, poses: Mapping[str, Sequence[Pose]]) -> Beside:
        """The worst of all ways in which two parts can lie: symmetric ones may be turned."""
        found = []
        for here, there in itertools.product(poses[one], poses[other]):
            relative = _relative(self._lattice, here, there)
            if (one, other, relative) not in self._beside:
                pair = self._laid[one], self._laid[other]
                self._beside[one, other, relative] = _measure(*pair, relative, self._lattice)
            found.append(self._beside[one, other, relative])
        edges = [beside.edge_gaps_mm for beside in found if beside.edge_gaps_mm]
        return Beside(
            max(beside.overlap_mm3 for beside in found),
            min(beside.gap_mm for beside in found),
            (min(low for low, _ in edges), max(high for _, high in edges)) if edges else None,
        )

    def _complaints(self, found: Mapping[tuple[str, str], Beside]) -> list[str]:
        least_mm, most_mm = self.profile.gap_min_mm, self.profile.gap_max_mm
        messages = []
        for (one, other), beside in found.items():
            pair = f"{one} and {other}"
            if beside.overlap_mm3 > TINY_MM3:
                messages.append(f"{pair} overlap by {beside.overlap_mm3:.3f} mm3")
            elif beside.gap_mm < least_mm - TINY_MM:
                gap = f"leave a gap of {beside.gap_mm:.3f} mm"
                messages.append(f"{pair} {gap}; at least {least_mm:g} mm is asked for")
            if beside.edge_gaps_mm and beside.edge_gaps_mm[1] > most_mm + TINY_MM:
                gap = f"leave a gap of {beside.edge_gaps_mm[1]:.3f} mm along an edge"
                messages.append(f"{pair} {gap}; at most {most_mm:g} mm is asked for")
        return messages


def _sticking_out(outside: Mapping[str, float]) -> list[str]:
    return [
        f"{key} reaches {reach_mm:.3f} mm out of the region"
        for key, reach_mm in outside.items()
        if reach_mm > TINY_MM
    ]


def _relative(lattice: Lattice, one: Pose, other: Pose) -> Pose:
    """The second pose as seen from the first part."""
    (first, (ax, ay)), (second, (bx, by)) = one, other
    back = next(move for move in lattice.symmetries if _is_inverse(lattice, first, move))
    cell = [back(second(point)) for point in _PROBES]
    both = next(move for move in lattice.symmetries if [move(point) for point in _PROBES] == cell)
    return both, back((bx - ax, by - ay))


#: Frame points that tell moves apart; even, since sixths of a turn halve.
_PROBES = ((12, 0), (0, 12))


def _is_inverse(lattice: Lattice, one: Symmetry, other: Symmetry) -> bool:
    return all(other(one(point)) == point for point in _PROBES)


def _reach_mm(laid: Laid) -> float:
    """Up to where gaps are looked for."""
    return _REACH_UNITS * laid.outline.unit_mm


def _measure(one: Laid, other: Laid, relative: Pose, lattice: Lattice) -> Beside:
    there, reach_mm = other.placed(other.section, relative), _reach_mm(one)
    edge_gaps = _edge_gaps(one, other, there, relative, lattice)
    # Cuts are nowhere nearer to each other than the parts, and what is seen from above is nowhere
    # farther apart: mostly both are the same, and nothing is left to measure in space.
    most_mm = min(one.section.distance(there), reach_mm)
    if not (one.part.is_solid and other.part.is_solid):
        # There is no volume to speak of, which the assembly tells; their outlines still lie apart.
        return Beside(0.0, most_mm, edge_gaps)
    if one.is_below_shadow and other.is_below_shadow:
        least_mm = one.part.shadow.distance(other.shadow_at(relative))
        if least_mm > most_mm - _SAME_GAP_MM and least_mm > 0:
            return Beside(0.0, most_mm, edge_gaps)
    moved = other.part.manifold.transform(other.matrix(relative))
    overlap_mm3 = max(0.0, float((one.part.manifold ^ moved).volume()))
    if overlap_mm3 > TINY_MM3:
        return Beside(overlap_mm3, 0.0, edge_gaps)
    # The library looks no farther than it must.
    gap_mm = float(one.part.manifold.min_gap(moved, most_mm + TINY_MM))
    return Beside(overlap_mm3, min(gap_mm, most_mm), edge_gaps)


def _edge_gaps(
    one: Laid, other: Laid, there: BaseGeometry, relative: Pose, lattice: Lattice
) -> tuple[float, float] | None:
    """The least and the greatest gap along shared edges, normal to them, at mid-height."""
    move, (dx, dy) = relative
    cells = frozenset((x + dx, y + dy) for x, y in map(move, other.outline.cells))
    gaps: list[float] = []
    for start, end in _shared_edges(lattice, one.outline.cells, cells):
        a, b = np.array(start) * one.step_mm, np.array(end) * one.step_mm
        length = float(np.linalg.norm(b - a))
        if length <= 2 * END_ZONE_MM:
            continue
        along = (b - a) / length
        # The first part lies to the left of its own edges, so outwards is to the right.
        outwards = np.array([along[1], -along[0]])
        gaps += _gaps_between(one.section, there, a, along, outwards, length)
    return (min(gaps), max(gaps)) if gaps else None


def _gaps_between(
    here: BaseGeometry,
    there: BaseGeometry,
    start: Points,
    along: Points,
    outwards: Points,
    length: float,
) -> list[float]:
    """Gaps at the ends of the measured stretch and at every corner of an outline beside it."""
    reach_mm = _EDGE_REACH_MM
    stops = {END_ZONE_MM, length / 2, length - END_ZONE_MM}
    for area in (here, there):
        corners = shapely.get_coordinates(area) - start
        near = np.abs(corners @ outwards) < reach_mm
        places = (corners @ along)[near]
        stops |= {float(s) for s in places if END_ZONE_MM < s < length - END_ZONE_MM}
    points = start + np.array(sorted(stops))[:, None] * along
    rays = shapely.linestrings(
        np.stack([points - reach_mm * outwards, points + reach_mm * outwards], axis=1)
    )
    ends = []
    for area, sign in ((here, 1.0), (there, -1.0)):
        coordinates, which = shapely.get_coordinates(
            shapely.intersection(rays, area), return_index=True
        )
        out = np.full(len(points), -reach_mm)
        np.maximum.at(out, which, sign * ((coordinates - points[which]) @ outwards))
        ends.append(out)
    return [float(gap) for gap in -(ends[0] + ends[1])]


def _shared_edges(
    lattice: Lattice, one: frozenset[Cell], other: frozenset[Cell]
) -> list[tuple[Point, Point]]:
    """The stretches of border between two sets of cells, the first one on their left."""
    border = {edge for cell in one for edge in lattice.cell_edges(cell)}
    border &= {(end, start) for cell in other for start, end in lattice.cell_edges(cell)}
    stretches = []
    while border:
        start, end = edge = min(border)
        border.remove(edge)
        vector = end[0] - start[0], end[1] - start[1]
        for forwards in (True, False):
            while True:
                x, y = end if forwards else start
                step = vector if forwards else (-vector[0], -vector[1])
                following = ((x, y), (x + step[0], y + step[1]))
                following = following if forwards else following[::-1]
                if following not in border:
                    break
                border.remove(following)
                start, end = (start, following[1]) if forwards else (following[0], end)
        stretches.append((start, end))
    return stretches


def _near(one: Sequence[float], other: Sequence[float], reach_mm: float) -> bool:
    return (
        one[0] - reach_mm < other[2]
        and other[0] - reach_mm < one[2]
        and one[1] - reach_mm < other[3]
        and other[1] - reach_mm < one[3]
    )
