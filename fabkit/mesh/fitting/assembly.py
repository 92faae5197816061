"""Putting meshes together as a solution does, and measuring how they lie beside each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import Any

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.outline import region_mm
from fabkit.mesh.boards.lying import LIFT_MM, balls_lying
from fabkit.mesh.finding import DIGITS, TINY_MM, TINY_MM3
from fabkit.mesh.laying import Lying, Way, moved, step_mm, ways_onto
from fabkit.mesh.part import Part, reach_out_mm
from fabkit.model.lattice import Cell
from fabkit.model.profile import Profile

#: Along a shared edge the gap is measured outside these ends: corners and tips are wider.
END_ZONE_MM = 3.0
#: Gaps are looked for up to this part of a grid unit …
_REACH_UNITS = 0.25
#: … and along edges up to this, so that no other edge of a sharp corner comes into the way.
_EDGE_REACH_MM = 0.8 * END_ZONE_MM


@dataclass(frozen=True)
class Assembly:
    """What was measured on a solution put together from meshes.

    Attributes:
        overlap_mm3: of all pairs together, and with the board.
        min_gap_mm: the least gap between two parts; None when there are no two beside each other.
        max_gap_mm: the greatest gap along a shared edge; None when none is long enough.
        outside_mm: how far a part reaches out of the region.
        is_measured: whether all parts bound a volume, so that overlaps could be measured.
        messages: what is wrong, a sentence for each pair and part.
    """

    challenge: str
    overlap_mm3: float
    min_gap_mm: float | None
    max_gap_mm: float | None
    outside_mm: float
    is_measured: bool
    messages: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether all of it keeps the limits."""
        return not self.messages

    def document(self) -> dict[str, Any]:
        """For JSON."""
        names = "min_gap_mm", "max_gap_mm", "overlap_mm3", "outside_mm"
        values = {name: getattr(self, name) for name in names}
        return {
            "challenge": self.challenge,
            "ok": self.ok,
            **{name: value and round(value, DIGITS) for name, value in values.items()},
            "messages": list(self.messages),
        }


@dataclass(frozen=True)
class _Beside:
    """Two parts beside each other: their common volume and least distance, and the greatest one
    along the edges that they share (None when they share none that is long enough)."""

    overlap_mm3: float
    gap_mm: float
    edge_gap_mm: float | None


@dataclass(frozen=True, eq=False)
class Table:
    """Where meshes are put together. How two of them lie beside each other is measured once.

    The gap of two parts is that of what is seen of them from above, which is never larger than that
    in space; where it is less than what is asked for, that in space is measured. A part that can
    cover its cells in several ways is put there in all of them, and the worst is told.

    Attributes:
        sides: for each part the ways in which it can lie.
        profile: the least and the greatest gap.
        board: the mesh of the board that holds them, moved so that what rests on it is at height 0.
    """

    sides: Mapping[str, Sequence[Lying]]
    profile: Profile
    board: Any = None
    _beside: dict[tuple[object, ...], _Beside] = field(default_factory=dict)
    _in_board: dict[Way, float] = field(default_factory=dict)

    def assemble(
        self, challenge: str, region: frozenset[Cell], layout: Mapping[str, frozenset[Cell]]
    ) -> Assembly:
        """Puts one solution together: in a region, parts by their keys on cells.

        Raises:
            InputError: when a part cannot cover the cells that the layout says.
        """
        ways = [
            way
            for key, cells in sorted(layout.items())
            for way in ways_onto(self.sides[key], cells)
        ]
        if not ways:
            return Assembly(challenge, 0.0, None, None, 0.0, True, ())
        first = ways[0][0]
        seen = [lying.placed(lying.shadow(), pose) for lying, pose in ways]
        near = shapely.STRtree(seen).query(
            seen, predicate="dwithin", distance=_REACH_UNITS * first.unit_mm
        )
        beside: dict[tuple[str, str], list[_Beside]] = defaultdict(list)
        for i, j in sorted(near.T.tolist()):
            pair = ways[i][0].key, ways[j][0].key
            if pair[0] < pair[1]:
                beside[pair].append(self._measured(ways[i], seen[i], ways[j], seen[j]))
        area = region_mm(first.lattice, region, first.unit_mm)
        roomy = area.buffer(TINY_MM)
        shapely.prepare(roomy)
        outside: dict[str, float] = defaultdict(float)
        in_board: dict[str, float] = defaultdict(float)
        for (lying, pose), shadow in zip(ways, seen, strict=True):
            reach_mm = 0.0 if roomy.covers(shadow) else reach_out_mm(shadow, area)
            outside[lying.key] = max(outside[lying.key], reach_mm)
            in_board[lying.key] = max(in_board[lying.key], self._board_mm3((lying, pose)))
        open_ = sorted({lying.key for lying, _ in ways if not lying.is_solid})
        overlaps_mm3 = [max(one.overlap_mm3 for one in some) for some in beside.values()]
        every = [one for some in beside.values() for one in some]
        edges_mm = [one.edge_gap_mm for one in every if one.edge_gap_mm is not None]
        messages = [f"{key} is not closed: overlaps with it cannot be measured" for key in open_]
        messages += [
            f"{key} and the board overlap by {overlap_mm3:.3f} mm3"
            for key, overlap_mm3 in in_board.items()
            if overlap_mm3 > TINY_MM3
        ]
        for pair, some in sorted(beside.items()):
            messages += self._complaints(*pair, some)
        messages += [
            f"{key} reaches {reach_mm:.3f} mm out of the region"
            for key, reach_mm in outside.items()
            if reach_mm > TINY_MM
        ]
        return Assembly(
            challenge=challenge,
            overlap_mm3=sum(in_board.values()) + sum(overlaps_mm3),
            min_gap_mm=min((one.gap_mm for one in every), default=None),
            max_gap_mm=max(edges_mm, default=None),
            outside_mm=max(outside.values()),
            is_measured=not open_,
            messages=tuple(messages),
        )

    def _measured(self, one: Way, here: BaseGeometry, other: Way, there: BaseGeometry) -> _Beside:
        """How two parts lie beside each other, given what is seen of them from above."""
        key = one[0], other[0], *_relative(one, other)
        if key not in self._beside:
            gap_mm, overlap_mm3 = float(here.distance(there)), 0.0
            least_mm = self.profile.gap_min_mm
            if gap_mm < least_mm and one[0].is_solid and other[0].is_solid:
                first, second = (lying.at(pose) for lying, pose in (one, other))
                overlap_mm3 = max(0.0, float((first ^ second).volume()))
                # The library looks no farther than it must.
                apart = overlap_mm3 <= TINY_MM3
                gap_mm = float(first.min_gap(second, least_mm)) if apart else 0.0
            self._beside[key] = _Beside(overlap_mm3, gap_mm, _edge_gap_mm(one, other))
        return self._beside[key]

    def _board_mm3(self, way: Way) -> float:
        """What a part and the board have in common."""
        if self.board is None or not way[0].is_solid:
            return 0.0
        if way not in self._in_board:
            self._in_board[way] = max(0.0, float((way[0].at(way[1]) ^ self.board).volume()))
        return self._in_board[way]

    def _complaints(self, one: str, other: str, ways: Sequence[_Beside]) -> Iterator[str]:
        """What is wrong with two parts, in the worst of the ways in which they can lie."""
        least_mm, most_mm = self.profile.gap_min_mm, self.profile.gap_max_mm
        overlap_mm3 = max(way.overlap_mm3 for way in ways)
        gap_mm = min(way.gap_mm for way in ways)
        edge_gap_mm = max(way.edge_gap_mm or 0.0 for way in ways)
        leave = f"{one} and {other} leave a gap of"
        if overlap_mm3 > TINY_MM3:
            yield f"{one} and {other} overlap by {overlap_mm3:.3f} mm3"
        elif gap_mm < least_mm - TINY_MM:
            yield f"{leave} {gap_mm:.3f} mm; at least {least_mm:g} mm is asked for"
        if edge_gap_mm > most_mm + TINY_MM:
            yield f"{leave} {edge_gap_mm:.3f} mm along an edge; at most {most_mm:g} mm is asked for"


def ball_table(parts: Mapping[str, Part], board: Part | None, profile: Profile) -> Table:
    """Where ball pieces, their balls read, are put together: lying flat, in a board if there is one."""
    pitches = [part.balls.pitch_mm for part in parts.values() if part.balls]
    unit_mm = board.unit_mm if board else median(pitches or [profile.unit_mm])
    sides = {key: balls_lying(key, part, unit_mm) for key, part in parts.items()}
    if board is None or not board.is_solid:
        return Table(sides, profile)
    return Table(sides, profile, board.manifold.translate((0, 0, -board.rest_mm - LIFT_MM)))


def _relative(one: Way, other: Way) -> tuple[float, ...]:
    """The second part's pose as seen from the first."""
    first, second = (lying.matrix(pose) for lying, pose in (one, other))
    turn = first[:, :3].T
    offset = turn @ (second[:, 3] - first[:, 3])
    return tuple(np.round(np.column_stack([turn @ second[:, :3], offset]), 6).ravel().tolist())


def _edge_gap_mm(*ways: Way) -> float | None:
    """The greatest gap along the edges that two flat parts share, at mid-height.

    It is found at the ends of the measured stretches, or at a corner of a side.
    """
    borders = [
        shapely.multilinestrings(
            [moved([*ring, ring[0]], pose) for ring in lying.flat.outline.rings]
        )
        for lying, pose in ways
        if lying.flat and lying.flat.outline
    ]
    if len(borders) < 2:
        return None
    shared = shapely.line_merge(shapely.intersection(*borders)).simplify(0)
    step = step_mm(ways[0][0].lattice, ways[0][0].unit_mm)
    edges = [
        pair
        for line in shapely.get_parts(shared)
        for pair in pairwise(shapely.get_coordinates(line) * step)
    ]
    start, end = np.moveaxis(np.reshape(edges, (-1, 2, 2)), 1, 0)
    long = np.linalg.norm(end - start, axis=1)
    some = long > 2 * END_ZONE_MM
    if not some.any():
        return None
    start, end, along = start[some], end[some], ((end - start) / long[:, None])[some]
    ends = np.concatenate([start + END_ZONE_MM * along, end - END_ZONE_MM * along])
    sections = [lying.placed(lying.section, pose) for lying, pose in ways]
    most_mm = 0.0
    for side, area in (sections, sections[::-1]):
        nearest = shapely.shortest_line(shapely.points(ends), side.boundary)
        corners = shapely.get_coordinates(side)
        off = corners[:, None] - start
        place = (off * along).sum(axis=2)
        beside = np.abs(off[..., 0] * along[:, 1] - off[..., 1] * along[:, 0]) < _EDGE_REACH_MM
        beside &= (place > END_ZONE_MM) & (place < long[some] - END_ZONE_MM)
        places = [shapely.get_coordinates(nearest)[1::2], corners[beside.any(axis=1)]]
        gaps = shapely.distance(shapely.points(np.concatenate(places)), area)
        # A side that is not seen near its edge is at least that far away.
        missing = shapely.length(nearest)
        most_mm = max(most_mm, gaps.max(), missing[missing > _EDGE_REACH_MM].max(initial=0.0))
    return float(most_mm)
