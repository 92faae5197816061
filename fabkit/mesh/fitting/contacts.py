"""Contacts between the pieces of a solution, and with the region's border.

A segment of a drawn edge that two pieces share separates them across it, and so does a corner of
one that is drawn on a straight side of the other. At the border, the other side is the wall of a
tray, a clearance farther out, or a border exactly where it is drawn. The room is measured on the
meshes at mid-height, once for each drawn side and corner of a piece. Corners that meet corners are
not contacts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.mesh import Points
from fabkit.mesh.placement import OrientedPiece, placements_on, posed, step_mm
from fabkit.model.lattice import Cell, Lattice, Point
from fabkit.model.piece import canonical_turn
from fabkit.model.polygon import rings_of_cells

#: A side is measured this far (mm) from its ends, where corners are rounded and other sides begin.
_END_MM = 3.0
#: The distance from the ends is at most this part of the side.
_END_PART = 0.25
#: A side is measured this part of that distance outwards, where no other side interferes.
_OUT_PART = 0.8
#: Less of a normal than this is rounding.
_PARALLEL = 1e-6
#: A drawn side: the piece (empty for the region), and its index there.
Side = tuple[str, int]


@dataclass(frozen=True)
class Solution:
    """One solution of a challenge, or of a board.

    Attributes:
        region: the cells to cover; those that no piece covers are room.
        layout: for each piece the cells that it covers.
        clearance_mm: from the region to the walls of its tray, as measured; None without one.
        halves: cells in a unit's length, 2 where pieces lie half a unit apart; see
            `fabkit.model.puzzle.Entry`.
    """

    challenge: str
    region: frozenset[Cell]
    layout: Mapping[str, frozenset[Cell]]
    clearance_mm: float | None = None
    halves: int = 1


class Contact(NamedTuple):
    """A contact of a piece with another one or the border.

    Attributes:
        pieces: the piece, and the other one; empty for the border.
        sides: each side on which the room depends, and by how much it shrinks when that moves out
            by 1; of the region, those of its tray.
        normal: from the piece outwards, of length 1.
        room_mm: between the two as measured, each where it is drawn.
        place_mm: where they meet, from the lower left corner of the region's box.
    """

    pieces: tuple[str, str]
    sides: tuple[tuple[Side, float], ...]
    normal: tuple[float, float]
    room_mm: float
    place_mm: tuple[float, float]


class PieceInsets:
    """A flat piece, and the insets of its sides and corners from the drawing."""

    def __init__(self, piece: OrientedPiece) -> None:
        self.piece = piece
        # Rotated meshes number their sides the same way.
        turn = canonical_turn(piece.lattice, piece.cells)
        self.ends = sorted(_sides(piece.lattice, piece.cells), key=lambda ends: [*map(turn, ends)])
        step = step_mm(piece.lattice, piece.unit_mm)
        self._ends_mm: Points = np.array(self.ends) * step
        self._normals = _normals(self._ends_mm)
        self.inside_mm = _inside_mm(piece.section, self._ends_mm, self._normals)
        self._corners_mm: dict[tuple[int, int, float, float], float] = {}

    def ends_at(self, cells: frozenset[Cell]) -> list[tuple[Point, Point]]:
        """Return the ends of each side where the piece covers these cells, what is inside on the
        left; raise `InputError` if it does not have that shape."""
        _, pose = placements_on([self.piece], cells)[0]
        sides = (posed(ends, pose) for ends in self.ends)
        return [(b, a) if pose[0].flipped else (a, b) for a, b in sides]

    def corner_mm(self, first: int, second: int, along: Sequence[float]) -> float:
        """Return the inset of the corner of two sides, along a combination of their normals."""
        key = first, second, round(along[0], 6), round(along[1], 6)
        if key not in self._corners_mm:
            (corner,) = {*self.ends[first]} & {*self.ends[second]}
            middle = np.array(corner) * step_mm(self.piece.lattice, self.piece.unit_mm)
            lengths = np.linalg.norm(np.diff(self._ends_mm[[first, second]], axis=1), axis=-1)
            near_mm = min(_END_MM, _END_PART * float(lengths.min()))
            nearby = self.piece.section.intersection(shapely.Point(middle).buffer(near_mm))
            out = np.array(along) @ self._normals[[first, second]]
            inside = (middle - shapely.get_coordinates(nearby)) @ out
            self._corners_mm[key] = float(inside.min(initial=near_mm))
        return self._corners_mm[key]


def contacts(
    lattice: Lattice, solution: Solution, pieces: Mapping[str, PieceInsets]
) -> list[Contact]:
    """Return the contacts of a solution's pieces, also with the border, once per pair of sides.

    Raises:
        InputError: when a piece does not have the shape that the layout asks for.
    """
    ends_of = {key: pieces[key].ends_at(cells) for key, cells in sorted(solution.layout.items())}
    inside_mm = {key: pieces[key].inside_mm for key in ends_of}
    step = step_mm(lattice, pieces[next(iter(ends_of))].piece.unit_mm)
    # The outside of the region is treated like a piece without a name, its inside on the left, too.
    ends_of[""] = [(end, start) for start, end in _sides(lattice, solution.region)]
    inside_mm[""] = np.full(len(ends_of[""]), solution.clearance_mm or 0.0)
    lowest = np.min([start for start, _ in ends_of[""]], axis=0)
    normals = {key: _normals(np.array(ends) * step) for key, ends in ends_of.items()}
    owners: dict[tuple[Point, Point], Side] = {}
    corners: list[tuple[str, int, int]] = []
    # The sides that pass straight through a point, or meet there at less than a half turn.
    passing: dict[Point, list[Side]] = defaultdict(list)
    for key, ends in ends_of.items():
        begins = {start: number for number, (start, _) in enumerate(ends)}
        for number, (start, end) in enumerate(ends):
            edges = list(pairwise([*(lattice.walk(start, end) or ()), end]))
            owners.update(dict.fromkeys(edges, (key, number)))
            for point, _ in edges[1:]:
                passing[point].append((key, number))
            after = begins[end]
            if np.linalg.det(normals[key][[number, after]]) < 0:
                passing[end] += [(key, number), (key, after)]
            elif key:
                corners.append((key, number, after))

    def contact(
        piece: str, levers: Sequence[tuple[int, float]], own_mm: float, other: Side, point: Any
    ) -> Contact:
        key, number = other
        sides = [((piece, side), lever) for side, lever in levers]
        sides += [(other, 1.0)] if key or solution.clearance_mm is not None else []
        normal = (-normals[key][number]).tolist()
        point_mm = ((np.array(point) - lowest) * step).tolist()
        room_mm = own_mm + float(inside_mm[key][number])
        return Contact((piece, key), tuple(sides), tuple(normal), room_mm, tuple(point_mm))

    edge_contacts: dict[frozenset[Side], Contact] = {}
    for (start, end), (key, number) in owners.items():
        other = owners.get((end, start))
        if other is not None and (both := frozenset([(key, number), other])) not in edge_contacts:
            middle, own_mm = np.add(start, end) / 2, float(inside_mm[key][number])
            edge_contacts[both] = contact(key, [(number, 1.0)], own_mm, other, middle)
    at_corners = []
    for key, first, second in corners:
        corner = ends_of[key][first][1]
        for other in passing[corner]:
            against = -normals[other[0]][other[1]]
            along = np.linalg.solve(normals[key][[first, second]].T, against).tolist()
            # If the corner points towards that side, and none of its sides runs along it.
            if other[0] != key and min(along) > _PARALLEL:
                own_mm = pieces[key].corner_mm(first, second, along)
                levers = [(first, along[0]), (second, along[1])]
                at_corners.append(contact(key, levers, own_mm, other, corner))
    return [*edge_contacts.values(), *at_corners]


def _normals(ends: Points) -> Points:
    """Return the outward unit normals of sides."""
    along = ends[:, 1] - ends[:, 0]
    return np.asarray(along[:, ::-1] * [1, -1] / np.linalg.norm(along, axis=1)[:, None])


def _sides(lattice: Lattice, cells: frozenset[Cell]) -> list[tuple[Point, Point]]:
    """Return the ends of the straight sides of an area, with the area on the left."""
    rings = rings_of_cells(lattice, cells)
    return [ends for ring in rings for ends in zip(ring, (*ring[1:], ring[0]), strict=True)]


def _inside_mm(section: BaseGeometry, ends: Points, out: Points) -> Points:
    """Return the insets of a piece's section at mid-height from each of its drawn sides."""
    start, end = ends[:, 0], ends[:, 1]
    length = np.linalg.norm(end - start, axis=1)[:, None]
    along, cut = (end - start) / length, np.minimum(_END_MM, _END_PART * length)
    corners = [start + cut * along, end - cut * along]
    deep, far = -cut * out, _OUT_PART * cut * out
    boxes = np.stack([corners[0] + deep, corners[1] + deep, corners[1] + far, corners[0] + far], 1)
    nearby = shapely.intersection(section, shapely.polygons(boxes))
    places, side = shapely.get_coordinates(nearby, return_index=True)
    inside: Points = cut[:, 0].copy()  # where nothing is visible
    np.minimum.at(inside, side, ((start[side] - places) * out[side]).sum(axis=1))
    return inside
