"""Putting meshes together as a solution does, and measuring how they lie beside each other."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import Any

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.outline import region_mm
from fabkit.mesh.boards.seating import LIFT_MM, balls_lying
from fabkit.mesh.finding import DIGITS, TINY_MM, TINY_MM3
from fabkit.mesh.laying import Lying, Way, moved, step_mm, ways_onto
from fabkit.mesh.part import Part, reach_out_mm
from fabkit.model.lattice import Cell
from fabkit.model.profile import Profile

#: Along a shared edge the gap is measured outside these ends (corners and tips are wider) …
END_ZONE_MM = 3.0
#: … up to this far from it, so that no other edge of a sharp corner comes into the way.
_EDGE_REACH_MM = 0.8 * END_ZONE_MM
#: Parts farther apart than this part of a grid unit do not lie beside each other.
_REACH_UNITS = 0.25


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
        values = ((name, getattr(self, name)) for name in names)
        return {
            "challenge": self.challenge,
            "ok": self.ok,
            **{name: value and round(value, DIGITS) for name, value in values},
            "messages": list(self.messages),
        }


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
    _known: dict[object, tuple[float, float, float]] = field(default_factory=dict)

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
        any_part = ways[0][0]
        seen = [lying.placed(lying.shadow(), pose) for lying, pose in ways]
        area = region_mm(any_part.lattice, region, any_part.unit_mm)
        outside, in_board = defaultdict[str, float](float), defaultdict[str, float](float)
        for (lying, pose), shadow in zip(ways, seen, strict=True):
            outside[lying.key] = max(outside[lying.key], reach_out_mm(shadow, area))
            if self.board is not None and lying.is_solid:
                overlap_mm3 = float((lying.at(pose) ^ self.board).volume())
                in_board[lying.key] = max(in_board[lying.key], overlap_mm3)
        beside = defaultdict[tuple[str, str], list[tuple[float, float, float]]](list)
        reach_mm = _REACH_UNITS * any_part.unit_mm
        for i, j in shapely.STRtree(seen).query(seen, "dwithin", reach_mm).T:
            if ways[i][0].key < ways[j][0].key:
                pair = ways[i][0].key, ways[j][0].key
                beside[pair].append(self._measured(ways[i], seen[i], ways[j], seen[j]))
        least_mm, most_mm = self.profile.gap_min_mm, self.profile.gap_max_mm
        open_ = sorted({lying.key for lying, _ in ways if not lying.is_solid})
        messages = [f"{key} is not closed: overlaps with it cannot be measured" for key in open_]
        messages += [
            f"{key} and the board overlap by {overlap_mm3:.3f} mm3"
            for key, overlap_mm3 in in_board.items()
            if overlap_mm3 > TINY_MM3
        ]
        overlaps_mm3, gaps_mm, edges_mm = [*in_board.values()], list[float](), list[float]()
        for (one, other), some in sorted(beside.items()):
            overlap_mm3, near_mm, edge_mm = map(max, zip(*some, strict=True))
            overlaps_mm3.append(overlap_mm3)
            gaps_mm.append(-near_mm)
            edges_mm.append(edge_mm)
            leave = f"{one} and {other} leave a gap of"
            if overlap_mm3 > TINY_MM3:
                messages.append(f"{one} and {other} overlap by {overlap_mm3:.3f} mm3")
            elif -near_mm < least_mm - TINY_MM:
                asked = f"at least {least_mm:g} mm is asked for"
                messages.append(f"{leave} {-near_mm:.3f} mm; {asked}")
            if edge_mm > most_mm + TINY_MM:
                asked = f"at most {most_mm:g} mm is asked for"
                messages.append(f"{leave} {edge_mm:.3f} mm along an edge; {asked}")
        messages += [
            f"{key} reaches {reach_mm:.3f} mm out of the region"
            for key, reach_mm in outside.items()
            if reach_mm > TINY_MM
        ]
        return Assembly(
            challenge=challenge,
            overlap_mm3=sum(overlaps_mm3),
            min_gap_mm=min(gaps_mm, default=None),
            max_gap_mm=max((edge_mm for edge_mm in edges_mm if edge_mm >= 0), default=None),
            outside_mm=max(outside.values()),
            is_measured=not open_,
            messages=tuple(messages),
        )

    def _measured(
        self, one: Way, here: BaseGeometry, other: Way, there: BaseGeometry
    ) -> tuple[float, float, float]:
        """Of two parts, given as they are seen from above, each the more the worse: their common
        volume in mm3, less their least gap, and their greatest gap along shared edges, both in mm."""
        first, second = (lying.matrix(pose) for lying, pose in (one, other))
        back = first[:, :3].T  # the second part as it lies beside the first
        relative = back @ np.column_stack([second[:, :3], second[:, 3] - first[:, 3]])
        key = one[0], other[0], (np.round(relative, 6) + 0.0).tobytes()
        if key not in self._known:
            gap_mm, overlap_mm3, least_mm = here.distance(there), 0.0, self.profile.gap_min_mm
            if gap_mm < least_mm and one[0].is_solid and other[0].is_solid:
                solid, beside = (lying.at(pose) for lying, pose in (one, other))
                overlap_mm3 = (solid ^ beside).volume()
                # The library looks no farther than it must.
                gap_mm = solid.min_gap(beside, least_mm) if overlap_mm3 <= TINY_MM3 else 0.0
            self._known[key] = max(0.0, overlap_mm3), -gap_mm, _edge_gap_mm(one, other)
        return self._known[key]


def ball_table(parts: Mapping[str, Part], board: Part | None, profile: Profile) -> Table:
    """Where ball pieces, their balls read, are put together: flat, in a board if there is one."""
    pitches = [part.balls.pitch_mm for part in parts.values() if part.balls]
    unit_mm = board.unit_mm if board else median(pitches or [profile.unit_mm])
    sides = {key: balls_lying(key, part, unit_mm) for key, part in parts.items()}
    if board is None or not board.is_solid:
        return Table(sides, profile)
    return Table(sides, profile, board.manifold.translate((0, 0, -board.rest_mm - LIFT_MM)))


def _edge_gap_mm(*ways: Way) -> float:
    """The greatest gap along the edges that two flat parts share, at mid-height; -inf for none.

    It is found at the ends of the measured stretches, or at a corner of a side beside one.
    """
    borders = [
        shapely.MultiLineString(
            [moved([*ring, ring[0]], pose) for ring in lying.flat.outline.rings]
        )
        for lying, pose in ways
        if lying.flat and lying.flat.outline
    ]
    if len(borders) < 2:
        return -math.inf
    shared = shapely.line_merge(shapely.intersection(*borders)).simplify(0)
    step = step_mm(ways[0][0].lattice, ways[0][0].unit_mm)
    edges = [
        shapely.LineString(edge)
        for line in shapely.get_parts(shared)
        for edge in pairwise(shapely.get_coordinates(line) * step)
    ]
    long = np.array([edge for edge in edges if edge.length > 2 * END_ZONE_MM])
    if not len(long):
        return -math.inf
    ends = shapely.line_interpolate_point(long[:, None], [END_ZONE_MM, -END_ZONE_MM])
    stretches = shapely.multilinestrings(shapely.get_coordinates(ends).reshape(-1, 2, 2))
    beside = shapely.buffer(stretches, _EDGE_REACH_MM, cap_style="flat")
    sections = [lying.placed(lying.section, pose) for lying, pose in ways]
    gaps_mm = []
    for side, other in (sections, sections[::-1]):
        nearest = shapely.shortest_line(side.boundary, ends.ravel())
        corners = shapely.points(shapely.get_coordinates(side))
        places = shapely.get_point(nearest, 0), corners[shapely.contains(beside, corners)]
        gaps_mm.append(shapely.distance(np.concatenate(places), other).max())
    return float(max(gaps_mm))
