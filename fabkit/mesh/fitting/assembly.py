"""Assembling meshes as in a solution, and measuring gaps and overlaps."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.outline import region_mm
from fabkit.drawing.placement import Pose
from fabkit.mesh.finding import DIGITS, TINY_MM, TINY_MM3
from fabkit.mesh.mesh import Points
from fabkit.mesh.part import Part, protrusion_mm
from fabkit.mesh.placement import OrientedPiece, PosedPiece, placements_on, posed, step_mm
from fabkit.mesh.rules.insertion import LIFT_MM, ball_orientations
from fabkit.model.lattice import Cell
from fabkit.model.puzzle import Challenge
from fabkit.profiles.profile import Profile

#: Along a shared edge the gap is measured outside these ends: corners and tips are wider.
_END_ZONE_MM = 3.0
#: The gap is measured up to this far from the edge, where no edge of a sharp corner interferes.
_EDGE_REACH_MM = 0.8 * _END_ZONE_MM
#: The orientations of each part, by its key; and the mesh of the board that holds them, or None,
#: moved so that pieces rest on it at height 0.
BallSetup = tuple[Mapping[str, Sequence[OrientedPiece]], Any]
#: Parts farther apart than this part of a grid unit are not neighbours.
_REACH_UNITS = 0.25


@dataclass(frozen=True)
class Assembly:
    """Measurements on a solution assembled from meshes.

    Attributes:
        overlap_mm3: of all pairs together, and with the board.
        min_gap_mm: the smallest gap between two parts; None if none are side by side.
        max_gap_mm: the largest gap along a shared edge; None if none is long enough.
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
        """Whether all limits are met."""
        return not self.messages

    def document(self) -> dict[str, Any]:
        """The measurements and messages, for JSON."""
        sizes = "min_gap_mm", "max_gap_mm", "overlap_mm3", "outside_mm"
        measured = {size: getattr(self, size) for size in sizes}
        rounded = {size: mm and round(mm, DIGITS) for size, mm in measured.items()}
        messages = list(self.messages)
        return {"challenge": self.challenge, "ok": self.ok, **rounded, "messages": messages}


def assemble(
    challenge: Challenge, layout: Mapping[str, frozenset[Cell]], profile: Profile, setup: BallSetup
) -> Assembly:
    """Assemble meshes as in a solution, and measure gaps and overlaps.

    The gap of two parts is that of their silhouettes, which is never larger than that in space; if
    it is below the limit, the gap in space is measured. A part that can cover its cells in several
    ways is placed in all of them, and the worst counts.

    Raises:
        InputError: when a part cannot cover its cells in the layout.
    """
    sides, board = setup
    placements = [
        placement
        for key, cells in sorted(layout.items())
        for placement in placements_on(sides[key], cells)
    ]
    lattice, unit_mm = placements[0][0].lattice, placements[0][0].unit_mm
    silhouettes = np.array(
        [piece.place(piece.silhouette(), [pose])[0] for piece, pose in placements]
    )
    keys = np.array([piece.key for piece, _ in placements])
    area = region_mm(lattice, challenge.region, unit_mm)
    outside_mm = defaultdict[str, float](float)
    in_board_mm3 = defaultdict[str, float](float)
    for (piece, pose), silhouette in zip(placements, silhouettes, strict=True):
        outside_mm[piece.key] = max(outside_mm[piece.key], protrusion_mm(silhouette, area))
        if board is not None and piece.is_solid:
            overlap_mm3 = (piece.at(pose) ^ board).volume()
            in_board_mm3[piece.key] = max(in_board_mm3[piece.key], overlap_mm3)
    pairs = shapely.STRtree(silhouettes).query(silhouettes, "dwithin", _REACH_UNITS * unit_mm)
    i, j = pairs[:, keys[pairs[0]] < keys[pairs[1]]]
    gaps_mm = shapely.distance(silhouettes[i], silhouettes[j])
    overlaps_mm3 = np.zeros(len(i))
    for pair in np.flatnonzero(gaps_mm < profile.gap_min_mm):
        (piece, pose), (other, other_pose) = placements[i[pair]], placements[j[pair]]
        if piece.is_solid and other.is_solid:
            solid, beside = piece.at(pose), other.at(other_pose)
            overlaps_mm3[pair] = (solid ^ beside).volume()
            # The library searches only up to this distance.
            apart_mm = solid.min_gap(beside, profile.gap_min_mm)
            gaps_mm[pair] = apart_mm if overlaps_mm3[pair] <= TINY_MM3 else 0.0
    edges_mm = _edge_gaps_mm(placements, i, j)
    worst = {(key, "the board"): (mm3, math.inf, -math.inf) for key, mm3 in in_board_mm3.items()}
    for key, other_key in sorted(set(zip(keys[i].tolist(), keys[j].tolist(), strict=True))):
        pairs = (keys[i] == key) & (keys[j] == other_key)
        sizes = overlaps_mm3[pairs].max(), gaps_mm[pairs].min(), edges_mm[pairs].max()
        worst[key, other_key] = sizes
    open_ = sorted({piece.key for piece, _ in placements if not piece.is_solid})
    messages = [f"{key} is not closed; its overlaps cannot be measured" for key in open_]
    for both_keys, sizes in worst.items():
        messages += _pair_problems(" and ".join(both_keys), *sizes, profile)
    messages += [
        f"{key} reaches {reach_mm:.3f} mm out of the region"
        for key, reach_mm in outside_mm.items()
        if reach_mm > TINY_MM
    ]
    return Assembly(
        challenge.id,
        float(sum(overlap_mm3 for overlap_mm3, _, _ in worst.values())),
        min(gaps_mm.tolist(), default=None),
        max(edges_mm[edges_mm >= 0].tolist(), default=None),
        max(outside_mm.values()),
        not open_,
        tuple(messages),
    )


def _pair_problems(
    both: str, overlap_mm3: float, gap_mm: float, edge_mm: float, profile: Profile
) -> Iterator[str]:
    """What is wrong between two parts, or a part and the board."""
    least_mm, most_mm = profile.gap_min_mm, profile.gap_max_mm
    if overlap_mm3 > TINY_MM3:
        yield f"{both} overlap by {overlap_mm3:.3f} mm3"
    elif gap_mm < least_mm - TINY_MM:
        yield f"{both} leave a gap of {gap_mm:.3f} mm; expected at least {least_mm:g} mm"
    if edge_mm > most_mm + TINY_MM:
        expected = f"expected at most {most_mm:g} mm"
        yield f"{both} leave a gap of {edge_mm:.3f} mm along an edge; {expected}"


def ball_setup(parts: Mapping[str, Part], board: Part | None) -> BallSetup:
    """The orientations in which fitted ball pieces lie flat, and the board if it is closed."""
    pitches = [part.balls.pitch_mm for part in parts.values() if part.balls]
    unit_mm = board.unit_mm if board else median(pitches)
    sides = {key: ball_orientations(key, part, unit_mm) for key, part in parts.items()}
    if board is None or not board.aligned.is_solid:
        return sides, None
    return sides, board.aligned.manifold.translate((0, 0, -board.rest_mm - LIFT_MM))


def _edge_gaps_mm(
    placements: Sequence[PosedPiece], i: NDArray[np.int64], j: NDArray[np.int64]
) -> Points:
    """For pairs of placements, the largest gap along the edges that two flat parts share, at
    mid-height; -inf if there are none. It occurs at the ends of the measured segments, or at
    corners beside them."""
    borders = np.array([_border(*placement) for placement in placements])
    shared = shapely.line_merge(shapely.intersection(borders[i], borders[j]))
    lines, pair_of = shapely.get_parts(shapely.simplify(shared, 0), return_index=True)
    points, line_of = shapely.get_coordinates(lines, return_index=True)
    points *= step_mm(placements[0][0].lattice, placements[0][0].unit_mm)
    goes_on = line_of[:-1] == line_of[1:]
    edges = shapely.linestrings(np.stack([points[:-1], points[1:]], axis=1)[goes_on])
    long = shapely.length(edges) > 2 * _END_ZONE_MM
    pair_of = pair_of[line_of[:-1][goes_on][long]]
    ends = shapely.line_interpolate_point(edges[long][:, None], [_END_ZONE_MM, -_END_ZONE_MM])
    stretches = shapely.linestrings(shapely.get_coordinates(ends).reshape(-1, 2, 2))
    beside = shapely.buffer(stretches, _EDGE_REACH_MM, cap_style="flat")
    sections = np.array([piece.place(piece.section, [pose])[0] for piece, pose in placements])
    found_mm = np.full(len(i), -math.inf)
    for near_side, far_side in ((i, j), (j, i)):
        sides, others = sections[near_side[pair_of]], sections[far_side[pair_of]]
        nearest = shapely.shortest_line(shapely.boundary(sides)[:, None], ends)
        gaps_mm = shapely.distance(shapely.get_point(nearest, 0), others[:, None])
        np.maximum.at(found_mm, pair_of, gaps_mm.max(axis=1))
        points, side_of = shapely.get_coordinates(sides, return_index=True)
        corners = shapely.points(points)
        near = shapely.contains(beside[side_of], corners)
        gaps_mm = shapely.distance(corners[near], others[side_of[near]])
        np.maximum.at(found_mm, pair_of[side_of[near]], gaps_mm)
    return found_mm


def _border(piece: OrientedPiece, pose: Pose) -> BaseGeometry:
    """The outline of a flat part as read, in a pose, in frame points; empty for other parts."""
    rings = piece.flat.outline.rings if piece.flat and piece.flat.outline else ()
    return shapely.MultiLineString([posed([*ring, ring[0]], pose) for ring in rings])
