"""Fitting boards and lids: every explanation of a mesh is tried, and the best wins.

A mesh may rest on any of its largest flat faces, either way up. For each orientation, three
explanations are scored from 0 to 1: its round holes as those over a board's cells; its floor,
within walls, as a board's region; and its plate as a lid over a region. The best wins.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Polygon, affinity
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.outline import SNAP_MM, region_mm
from fabkit.mesh.features import FittedCircle, fit_circle
from fabkit.mesh.mesh import Mesh, Points, aligned_to_axes, area_vectors, moved
from fabkit.mesh.part import Part
from fabkit.mesh.section import DOWN, UP, Sections, filled, holes_in, polygons_by_size
from fabkit.model.lattice import Lattice
from fabkit.model.puzzle import Board, PuzzleSet, rings_to_units, to_units
from fabkit.profiles.accessory import HOLES, LID, SOCKETS, TRAY

#: Level faces, and round holes, count from this area (mm2).
_LEAST_MM2 = 2.0
#: A hole belongs to a cell when its middle is within this part of a grid unit.
_NEAR_UNITS = 0.3
#: A tray's walls are at most this far (mm) from its region; beyond is a notch.
_REACH_MM = 3.2

#: A lid may be printed this much (mm) smaller than it is drawn.
_SMALLER_MM = 2.0

#: A board, a candidate for its grid unit, and its region with this unit.
_Region = tuple[Board, float, BaseGeometry]


class BoardFitter:
    """Fits meshes to the boards and lids of a set."""

    def __init__(self, puzzle: PuzzleSet) -> None:
        self._puzzle = puzzle
        self._regions: dict[tuple[str, float], tuple[BaseGeometry, BaseGeometry]] = {}

    @cached_property
    def _pieces(self) -> Points:
        """The sides of the rectangles around the pieces, in grid units."""
        outer = [form.rings[:1] for piece in self._puzzle.pieces for form in piece.forms]
        outlines = [np.array(rings_to_units(self._puzzle.lattice, rings)[0]) for rings in outer]
        return np.array([_sides(aligned_to_axes(outline)[0]) for outline in outlines])

    def fit(self, meshes: Sequence[Mesh], *units_mm: float, length_mm: float = 1.0) -> list[Part]:
        """Fit each mesh to a board or lid: one part for each, in the given order.

        A symmetric board is oriented so that more of it is at the back (y up), then to the right, so
        that its orientation does not depend on the file. Boards of one shape are indistinguishable:
        several meshes are assigned to different ones, as long as there are any.

        The set's grid unit may be any of `units_mm`, the likeliest first; round holes determine it by
        themselves. `length_mm` is the unit of length of the meshes' files. A part that is not a board
        has a `reason`.
        """
        puzzle = self._puzzle
        parts: list[Part] = []
        for mesh in meshes:
            explained: list[Part] = []
            ways = itertools.product(mesh.orientations.likely(), ([1, 1, 1], [1, -1, -1]))
            both_ways = (aligned_to_axes(way.vertices * np.array(over)) for way, over in ways)
            candidates = [
                (Part(mesh, points * length_mm), self._covered_regions(hull, units_mm, length_mm))
                for points, hull in both_ways
            ]
            for (part, regions), explain in itertools.product(candidates, (_fit_holes, _fit_trays)):
                is_certain = any(explanation.score > 0.9 for explanation in explained)
                if regions and not is_certain:
                    explained += explain(part, puzzle, regions)
            explained = explained or list(_fit_lids(candidates[:2]))
            if explained:
                parts.append(_best(explained, {_identity(part) for part in parts if part.board}))
                continue
            names = ", ".join(board.id for board in puzzle.boards)
            units = " or ".join(f"{unit_mm:g} mm" for unit_mm in dict.fromkeys(units_mm))
            why = (
                "neither its round holes, nor its floor within walls, nor its plate as a lid match a "
                f"board of {puzzle.name} ({names}) with a unit of {units}"
            )
            parts.append(Part(mesh, mesh.vertices * length_mm, "", reason=why))
        return parts

    def is_board_sized(self, mesh: Mesh, *units_mm: float, length_mm: float = 1.0) -> bool:
        """Whether a mesh, in any orientation, is too large to be anything but a board or lid.

        As a plate it covers a board's region, and its bounding box is not that of a piece: if the
        grid unit has several candidates, a piece can be as large as a board with a smaller unit.
        `length_mm` is the unit of length of the mesh's file.
        """
        if not len(mesh.faces):
            return False
        regions = [self._region(board, min(units_mm))[0] for board in self._puzzle.boards]
        # Nothing covers more than the square of the diagonal of its bounding box.
        most_mm2 = np.square(np.ptp(mesh.vertices, axis=0) * length_mm).sum()
        if all(region.area > most_mm2 for region in regions):
            return False
        units = np.reshape(units_mm, (-1, 1, 1))
        # A small board with deep holes has its largest face on a side.
        for _, hull in mesh.orientations.upright:
            smaller_mm = self._pieces * units - _sides(shapely.get_coordinates(hull) * length_mm)
            # Balls and discs do not fill their cells.
            fits = (smaller_mm > -0.5) & (smaller_mm < 0.3 * units)
            if not fits.all(axis=2).any() and self._covered_regions(hull, units_mm, length_mm):
                return True
        return False

    def _covered_regions(
        self, hull: BaseGeometry, units_mm: Sequence[float], length_mm: float
    ) -> list[_Region]:
        """The regions that the convex hull of a mesh in its file covers, centred, in any quarter
        turn."""
        # Not the bounding box: a triangle covers half of a square.
        wider = affinity.scale(hull, length_mm, length_mm, origin=(0, 0)).buffer(_SMALLER_MM / 2)
        hulls = [affinity.rotate(wider, 90 * turns, origin=(0, 0)) for turns in range(4)]
        regions = []
        for board, unit_mm in itertools.product(self._puzzle.boards, dict.fromkeys(units_mm)):
            region, outline = self._region(board, unit_mm)
            if shapely.area(shapely.intersection(hulls, outline)).max() > 0.97 * outline.area:
                regions.append((board, unit_mm, region))
        return regions

    def _region(self, board: Board, unit_mm: float) -> tuple[BaseGeometry, BaseGeometry]:
        """A board's region with a grid unit, and its convex hull, centred."""
        if (board.id, unit_mm) not in self._regions:
            region = region_mm(self._puzzle.lattice, board.cells, unit_mm)
            _, hull = aligned_to_axes(shapely.get_coordinates(region.convex_hull))
            self._regions[board.id, unit_mm] = region, hull
        return self._regions[board.id, unit_mm]


def _identity(part: Part) -> tuple[str, bool]:
    """The id of the board, and whether it is the lid."""
    assert part.board is not None
    return part.board.id, part.kind == LID


def _best(explanations: Sequence[Part], used: Collection[tuple[str, bool]]) -> Part:
    """The best explanation: of equal boards an unused one, its centroid farthest back."""
    # Boards of one shape are equally good.
    best_score = max(part.score for part in explanations) - 1e-6
    equal = [part for part in explanations if part.score >= best_score]
    best = min(equal, key=lambda part: _identity(part) in used)
    # A notch may change a tray's floor slightly; one cell more or less is another orientation.
    cells = best.board.cells if best.board else ()
    tolerance = min(0.03, 1 / len(cells)) if best.kind == TRAY else 1e-6
    alike = [
        part
        for part in explanations
        if _identity(part) == _identity(best) and abs(part.unit_mm - best.unit_mm) < 1e-6
        if part.kind == best.kind and part.score > best.score - tolerance
    ]
    x, y, _ = np.array([explanation.aligned.as_trimesh.centroid for explanation in alike]).T
    back = y > y.max() - 2e-4  # mm; beyond this one is certainly farther back
    chosen = alike[int((back & (x > x[back].max() - 2e-4)).argmax())]
    others = [(_identity(part)[0], part.score) for part in explanations if part.board != best.board]
    runner_up = max(others, key=lambda other: other[1], default=None)
    names = tuple(dict.fromkeys(_identity(part)[0] for part in equal if part.kind == best.kind))
    return replace(chosen, score=best.score, runner_up=runner_up, alike=names)


def _sides(points: Points) -> Points:
    """The longer and the shorter side of the rectangle around points, seen from above."""
    return np.sort(np.ptp(points[:, :2], axis=0))[::-1]


# --- levels and lines ---------------------------------------------------------------------


class ZRange(NamedTuple):
    """The range between two neighbouring heights with level faces."""

    low_mm: float
    middle_mm: float
    high_mm: float


def z_ranges(sections: Sections) -> list[ZRange]:
    """The ranges between heights with level faces, ascending, from the lowest to the highest point."""
    levels = {height for (height, _), area in sections.flats().items() if area > _LEAST_MM2}
    pairs = itertools.pairwise(sorted(levels | {sections.low, sections.high}))
    return [ZRange(low, (low + high) / 2, high) for low, high in pairs if high - low > 0.15]


def surface_heights(mesh: Mesh, points: Points) -> list[list[float]]:
    """The heights, ascending, where vertical lines through points (…, 2) cross a surface."""
    normals = area_vectors(mesh.vertices, mesh.faces)
    leans = normals[:, 2] != 0
    normals, corners = normals[leans], mesh.vertices[mesh.faces[leans]]
    # Slightly offset, so that lines seldom meet an edge of the mesh.
    places = np.reshape(points, (-1, 2)) + np.array([1.7e-5, 0.9e-5])
    tree = shapely.STRtree(shapely.polygons(corners[:, :, :2]))
    line, face = tree.query(shapely.points(places), predicate="intersects")
    first, across = corners[face, 0], normals[face]
    rise = ((places[line] - first[:, :2]) * across[:, :2]).sum(axis=1) / across[:, 2]
    return [np.sort((first[:, 2] - rise)[line == index]).tolist() for index in range(len(places))]


def top_heights(mesh: Mesh, points: Points) -> Points:
    """The height of a mesh at several points; 0, the bed, where there is none."""
    return np.array([heights[-1] if heights else 0.0 for heights in surface_heights(mesh, points)])


def raycast(
    section: BaseGeometry, starts: Points, directions: Points, reach_mm: float
) -> tuple[Points, Points]:
    """Cast rays in a section: where each first enters material.

    Returns the distance to that point and the length inside, both of shape (n,) in mm; infinite for
    rays that meet none.
    """
    lines = shapely.linestrings(np.stack([starts, starts + reach_mm * directions], axis=1))
    cuts, line = shapely.get_parts(shapely.intersection(lines, section), return_index=True)
    cuts, line = cuts[shapely.length(cuts) > 0], line[shapely.length(cuts) > 0]
    away = shapely.distance(shapely.points(starts[line]), cuts)
    start, length = np.full((2, len(starts)), np.inf)
    np.minimum.at(start, line, away)
    first = away == start[line]
    length[line[first]] = shapely.length(cuts[first])
    return start, length


def edge_samples(region: BaseGeometry, shortest_mm: float = 0.0) -> tuple[Points, Points]:
    """Sample the edges of a region about every millimetre, away from their ends; not the shortest edges.

    The points and, as unit vectors, the outward directions there; both of shape (n, 2).
    """
    points, outwards = [np.empty((0, 2))], [np.empty((0, 2))]
    for ring in shapely.get_rings(shapely.get_parts(shapely.orient_polygons(region))):
        for start, end in itertools.pairwise(shapely.get_coordinates(ring)):
            length = float(np.linalg.norm(end - start))
            if length < shortest_mm:
                continue
            zone = min(3.0, 0.3 * length)  # nothing is measured near corners
            count = max(2, round(length - 2 * zone) + 1)
            along = (end - start) / length
            points.append(start + np.linspace(zone, length - zone, count)[:, None] * along)
            # Material of the region lies to the left of its rings.
            outwards.append(np.tile([along[1], -along[0]], (count, 1)))
    return np.concatenate(points), np.concatenate(outwards)


def wall_distances(section: BaseGeometry, points: Points, outwards: Points) -> Points:
    """The distance from each of a region's `edge_samples` straight out to a wall of a section.

    Negative if the wall is inside the region, infinite if none is within `_REACH_MM`.
    """
    starts = points - _REACH_MM * outwards
    return raycast(section, starts, outwards, 2 * _REACH_MM)[0] - _REACH_MM


# --- boards with round holes, trays, lids -------------------------------------------------


def round_holes(section: BaseGeometry) -> list[FittedCircle]:
    """The round holes of a section."""
    holes = [hole for hole in holes_in(section) if not hole.interiors and hole.area > _LEAST_MM2]
    circles = map(fit_circle, holes)
    pairs = zip(circles, holes, strict=True)
    return [circle for circle, hole in pairs if hole.area > 0.93 * math.pi / 4 * circle.outer_mm**2]


def centres_of(circles: Sequence[FittedCircle]) -> Points:
    """The centres of circles, shape (n, 2)."""
    return np.reshape([(circle.x_mm, circle.y_mm) for circle in circles], (-1, 2))


def cell_centres_mm(lattice: Lattice, board: Board, unit_mm: float) -> Points:
    """The middles of a board's cells, shape (n, 2), in the order of the cells."""
    return np.array(to_units(lattice, sorted(board.cells))) * unit_mm


def hole_at(circles: Sequence[FittedCircle], middle: Points, unit_mm: float) -> FittedCircle | None:
    """The round hole of the cell with this middle, shape (2,); None if there is none."""
    away = np.linalg.norm(centres_of(circles) - middle, axis=1)
    near = away.min(initial=math.inf) <= _NEAR_UNITS * unit_mm
    return circles[int(away.argmin())] if near else None


def post_heights_mm(part: Part, lattice: Lattice) -> Points:
    """The heights of the posts between the holes of a board, at the corners of its cells."""
    assert part.board is not None
    middles = cell_centres_mm(lattice, part.board, part.unit_mm)[:, None]
    rings = np.array([to_units(lattice, lattice.ring(cell)) for cell in sorted(part.board.cells)])
    # Near the corners, neither in a hole nor in a channel.
    return top_heights(part.aligned, middles + 0.9 * (rings * part.unit_mm - middles))


def _fit_holes(standing: Part, puzzle: PuzzleSet, _: Sequence[_Region]) -> Iterator[Part]:
    """Fit a board of holes or sockets, if it is the right way up."""
    lattice, levels = puzzle.lattice, z_ranges(standing.sections)
    for slab in levels:
        circles = round_holes(standing.sections.at(slab.middle_mm))
        places = centres_of(circles)
        matches = [
            (board, match)
            for board, turns in itertools.product(puzzle.boards, range(4))
            if (match := _match_cells(places, lattice, board, turns))
        ]
        if not matches:
            continue
        # Sockets are blind, and open above; holes go through, round from the bottom.
        top_mm = float(np.median(top_heights(standing.aligned, places)))
        if top_mm > slab.middle_mm or (top_mm == 0 and slab is not levels[0]):
            return
        kind = SOCKETS if top_mm else HOLES
        for board, (score, scale, shift) in matches:
            turn = abs(scale) / scale
            vertices = moved(standing.vertices, turn, -shift * turn)
            part = Part(standing.mesh, vertices, kind, board=board, unit_mm=abs(scale), score=score)
            yield replace(part, rest_mm=float(np.median(post_heights_mm(part, lattice))))
        return


def _match_cells(
    places: Points, lattice: Lattice, board: Board, quarter_turns: int
) -> tuple[float, complex, complex] | None:
    """Match holes to cells, if they are a board's. Also return the map from cells, in grid units,
    to the holes: the factor (rotation and unit) and the shift."""
    holes = places @ [1, 1j]
    cells = cell_centres_mm(lattice, board, 1.0) @ [1, 1j]
    # Most have to match.
    if min(len(holes), len(cells)) < 2 or not 0.6 <= len(holes) / len(cells) <= 1 / 0.6:
        return None
    unit = float(np.median(np.sort(np.abs(holes[:, None] - holes), axis=1)[:, 1]))
    scale = unit * 1j**-quarter_turns
    shift = _box_middle(holes) - _box_middle(scale * cells)
    for _ in range(3):
        away = np.abs(holes[:, None] - (scale * cells + shift))
        nearest, off = away.argmin(axis=1), away.min(axis=1)
        near = off < _NEAR_UNITS * unit
        if near.sum() < 0.6 * len(cells):
            return None
        # Outliers do not determine the lattice.
        usual = near & (off <= max(0.02, 4 * float(np.median(off[near]))))
        columns = np.column_stack([cells[nearest[usual]], np.ones(usual.sum())])
        scale, shift = map(complex, np.linalg.lstsq(columns, holes[usual], rcond=None)[0])
    matched = len(set(nearest[near].tolist()))
    score = matched / (len(cells) + len(holes) - matched)
    return (score, scale, shift) if abs(scale) > unit / 2 else None


def _box_middle(points: NDArray[Any]) -> complex:
    x, y = points.real, points.imag
    return complex((x.min() + x.max()) / 2, (y.min() + y.max()) / 2)


def _fit_trays(standing: Part, _: PuzzleSet, regions: Sequence[_Region]) -> list[Part]:
    """Fit a tray, if it is the right way up, by its largest matching floor."""
    sections, areas = standing.sections, standing.sections.flats()
    floors = [slab for slab in z_ranges(sections)[1:] if (slab.low_mm, UP) in areas]
    for slab in sorted(floors, key=lambda slab_range: -areas[slab_range.low_mm, UP]):
        # The letters of a title are small parts; texts engraved in the floor belong to it.
        faces = polygons_by_size(sections.flat(slab.low_mm, UP))
        floor = shapely.union_all([face for face in faces if face.area > faces[0].area / 10])
        lower = [height for height, facing in areas if facing == UP and height < slab.low_mm]
        texts = shapely.union_all([sections.flat(height, UP) for height in lower])
        engraved = floor | (texts & filled(floor))
        # Just above the floor: higher up, walls may be inclined.
        cut = sections.at(0.7 * slab.low_mm + 0.3 * slab.high_mm)
        turned = itertools.product(regions, range(4))
        trays = [
            _tray(standing, engraved if region[0].labels else floor, cut, region, turns)
            for region, turns in turned
        ]
        if any(trays):
            return [replace(tray, rest_mm=slab.low_mm) for tray in trays if tray]
    return []


def _tray(
    standing: Part, floor: BaseGeometry, cut: BaseGeometry, place: _Region, quarter_turns: int
) -> Part | None:
    """A tray placed on its region; None if the floor does not match or has no walls around it."""
    board, unit_mm, region = place
    floor = affinity.rotate(floor, 90 * quarter_turns, origin=(0, 0))
    cut = affinity.rotate(cut, 90 * quarter_turns, origin=(0, 0))
    # A notch may reach to the floor on one side, so align one of two opposite sides with the
    # region's, or the middle between them.
    low, high = np.reshape(region.bounds, (2, 2)) - np.reshape(floor.bounds, (2, 2))
    shifts = itertools.product(*zip((low + high) / 2, low, high, strict=True))

    def mismatch(shift: tuple[float, float]) -> float:
        shifted = affinity.translate(floor, *shift)
        return round(
            float(shifted.symmetric_difference(region, grid_size=SNAP_MM).area / region.area), 9
        )

    score, start = min((mismatch(shift), shift) for shift in shifts)
    if score > 0.15:
        return None
    shift, along = np.array(start), edge_samples(region)
    directions, which = np.unique(along[1].round(6), axis=0, return_inverse=True)
    for _ in range(3):
        away = wall_distances(affinity.translate(cut, *shift), *along)
        near = np.isfinite(away)
        if near.mean() < 0.5:  # the share of its outline with walls
            return None
        # Walls all around are at an even distance from the region, along most of each side.
        sides = np.unique(which[near])
        middles = [np.median(away[near & (which.ravel() == side)]) for side in sides]
        columns = np.column_stack([np.ones(len(sides)), directions[sides]])
        shift -= np.linalg.lstsq(columns, np.array(middles), rcond=None)[0][1:]
    vertices = moved(standing.vertices, 1j**quarter_turns, complex(*shift))
    return Part(standing.mesh, vertices, TRAY, board=board, unit_mm=unit_mm, score=1 - score)


def _fit_lids(candidates: Sequence[tuple[Part, Sequence[_Region]]]) -> Iterator[Part]:
    """Fit a plate that covers a region, its larger face down; scored by the share it covers."""
    if not candidates:
        return
    standing, regions = max(candidates, key=lambda pair: pair[0].sections.flat(0.0, DOWN).area)
    lowest = z_ranges(standing.sections)[:1]
    plate = standing.sections.at(lowest[0].middle_mm) if lowest else Polygon()
    if plate.area == 0 or plate.area < 0.7 * plate.convex_hull.area:
        return
    for board, unit_mm, region in regions:
        low, high = np.reshape(region.bounds, (2, 2))
        wide, deep = high - low
        sides = _sides(standing.vertices)
        if (np.sort(high - low)[::-1] > sides + _SMALLER_MM).any():
            continue
        score = min(1.0, wide * deep / float(sides.prod()))
        for turn in range(4):
            # The lid of a region that is wider than deep is wider than deep, too.
            if abs(wide - deep) < 1e-6 or (turn % 2 == 0) == (wide > deep):
                vertices = moved(standing.vertices, 1j**turn, complex(*(low + high) / 2))
                yield Part(standing.mesh, vertices, LID, board=board, unit_mm=unit_mm, score=score)
