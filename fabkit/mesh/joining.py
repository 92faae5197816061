"""Boards and lids in parts: recognised by their drawings, and assembled.

A part is placed by those of its sides that are sides of the whole board, not by its dovetails, so
that these show whether the parts fit.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import shapely
from shapely import Polygon
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.boards.csg import BoardDrawing, ranges_mm, section_at
from fabkit.mesh.mesh import Mesh, Points, aligned_to_axes, moved
from fabkit.mesh.part import Part

#: A part's sides and height differ from its drawing by at most this much (mm).
_SIZE_OFF_MM = 1.0
#: The cross-sections of a part differ from its drawing by at most this share of their area.
_AREA_OFF = 0.03


@dataclass(frozen=True, eq=False)
class JoinedBoard:
    """A board or lid that is printed in parts, as read.

    Attributes:
        parts: those that were recognised, placed on the board as drawn.
        missing: the ids of the others.
    """

    parts: tuple[Part, ...]
    missing: tuple[str, ...]

    @property
    def mesh(self) -> Mesh:
        """The meshes of all parts, placed, as a single one."""
        from trimesh.util import append_faces

        meshes = [part.aligned for part in self.parts]
        vertices, faces = append_faces([x.vertices for x in meshes], [x.faces for x in meshes])
        name = ", ".join(mesh.name for mesh in meshes)
        return Mesh(name, np.asarray(vertices, float), np.asarray(faces, np.int64))


def join_boards(
    meshes: Sequence[Mesh], boards: Sequence[Sequence[BoardDrawing]]
) -> list[JoinedBoard]:
    """Return the boards and lids that have parts among meshes, by the drawings of these."""
    free, joined = list(meshes), []
    for drawings in boards:
        parts, missing = [], []
        whole = shapely.union_all([drawing.outline for drawing in drawings]).bounds
        for drawing in drawings:
            matches = [match for mesh in free if (match := _match(mesh, drawing, whole))]
            if matches:
                best = max(matches, key=lambda part: part.score)
                free.remove(best.mesh)
                parts.append(best)
            else:
                missing.append(drawing.piece)
        if parts:
            joined.append(JoinedBoard(tuple(parts), tuple(missing)))
    return joined


def _match(mesh: Mesh, drawing: BoardDrawing, whole: tuple[float, ...]) -> Part | None:
    """Return a mesh placed as the part of a drawing; None if it is another one."""
    low, high = np.reshape(drawing.outline.bounds, (2, 2))
    size = np.append(high - low, drawing.thickness_mm)
    middles_mm = [sum(ends) / 2 for ends in ranges_mm(drawing.steps)]
    sections = [(mm, section_at(drawing.steps, mm)) for mm in middles_mm]
    sections = [(mm, area - _engraved(drawing, mm)) for mm, area in sections if area.area]
    best = None
    for points, _ in mesh.orientations.upright:
        if (np.abs(np.sort(np.ptp(points, axis=0)) - np.sort(size)) > _SIZE_OFF_MM).any():
            continue
        for side, turns in itertools.product(([1, 1, 1], [1, -1, -1]), range(4)):
            upright, _ = aligned_to_axes(points * np.array(side))
            vertices = moved(upright, 1j**turns)
            if (np.abs(np.ptp(vertices, axis=0) - size) > _SIZE_OFF_MM).any():
                continue
            vertices += [*_shift(vertices, low, high, whole), 0.0]
            part = Part(mesh, vertices)
            off = max(
                section.symmetric_difference(part.sections.at(mm)).area / section.area
                for mm, section in sections
            )
            if off < _AREA_OFF and (best is None or 1 - off > best.score):
                best = replace(part, score=1 - off)
    return best


def _engraved(drawing: BoardDrawing, height_mm: float) -> BaseGeometry:
    """Return what the title or texts of a board take away at a height."""
    label, low_mm = drawing.label, drawing.label_low_mm
    if label is None or not low_mm < height_mm < low_mm + label.depth_mm:
        return Polygon()
    return label.front.polygon()


def _shift(vertices: Points, low: Points, high: Points, whole: tuple[float, ...]) -> Points:
    """Return the shift that places a part by its sides at the edge of the whole board."""
    to_low = low - vertices[:, :2].min(axis=0)
    to_high = high - vertices[:, :2].max(axis=0)
    is_low = np.abs(low - whole[:2]) < _SIZE_OFF_MM
    is_high = np.abs(high - whole[2:]) < _SIZE_OFF_MM
    middle = (to_low + to_high) / 2
    shift = np.where(is_low == is_high, middle, np.where(is_low, to_low, to_high))
    return np.asarray(shift, dtype=np.float64)
