"""The 3D data of a page: simplified meshes, and the placements of each orientation."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping
from typing import Annotated, TypedDict

import numpy as np
from numpy.typing import NDArray

from fabkit.core.errors import library_failures
from fabkit.core.progress import Progress, counted, no_progress
from fabkit.drawing.boards.csg import BoardDrawing
from fabkit.drawing.placement import Matrix
from fabkit.mesh.mesh import Faces, Mesh, Points
from fabkit.model.lattice import Cell
from fabkit.model.orientations import PieceOrientations
from fabkit.model.piece import PLAIN, Piece
from fabkit.output.render.assembly import Parts, placement_on
from fabkit.output.render.scene import corner_normals, face_normals
from fabkit.output.web.playdata import Flat, flat_list
from fabkit.profiles.accessory import LID, Accessory, Printable

#: The maximum deviation of displayed from printed meshes.
_COARSE_MM = 0.07
#: The steps per mm of the grid that corners of displayed meshes are on.
_STEPS = 64
#: The whole number that represents 1 in a normal: the largest in a signed byte.
_NORMAL = 127
#: Decimals of transforms: of their shifts in mm, and of the entries of their rotations.
_DECIMALS = 6
#: Bytes of a whole number in a packed mesh.
_BYTES = 3


class ModelData(TypedDict):
    """A model: its parts' colours and numbers of corners and triangles; see `pack_mesh`."""

    colours: list[str]
    corners: list[int]
    triangles: list[int]
    mesh: str


# For each orientation in the play data the matrix that places it so at height 0: 16 numbers column
# by column, in mm with z up; null if there is none.
class _PieceModelData(ModelData):
    orientations: Annotated[list[list[float] | None], "number[][]"]


# The height at which pieces rest in it.
class _BoardModelData(ModelData):
    cells: Flat
    rest: float


class ModelsData(TypedDict):
    """What a page shows in 3D, by id."""

    pieces: dict[str, _PieceModelData]
    boards: dict[str, _BoardModelData]
    lids: dict[str, ModelData]


def models_data(artifacts: Parts, progress: Progress = no_progress) -> ModelsData:
    """Return the data of the page's 3D viewer.

    Raises:
        InputError: when the profile does not suit a printable.
        ExternalError: when a library fails.
    """
    models: ModelsData = {"pieces": {}, "boards": {}, "lids": {}}
    for done, printable in enumerate(artifacts.printables):
        counted(progress, done, len(artifacts.printables), printable.id)
        model = viewer_model(artifacts, printable)
        if isinstance(printable, Piece):
            oriented = PieceOrientations(artifacts.puzzle.lattice, printable, flips=True)
            matrices = [
                _matrix(artifacts, printable, orientation.cells, dict(marks))
                for orientation, marks in zip(oriented.all, oriented.marks, strict=True)
            ]
            models["pieces"][printable.id] = {**model, "orientations": matrices}
        elif isinstance(printable, Accessory) and printable.kind == LID:
            models["lids"][printable.id] = model
        else:
            drawing = artifacts.drawings[printable.id]
            assert isinstance(drawing, BoardDrawing)
            cells = flat_list(sorted(printable.board.cells))
            models["boards"][printable.id] = {**model, "rest": drawing.rest_mm, "cells": cells}
    return models


def _matrix(
    artifacts: Parts, piece: Piece, cells: frozenset[Cell], marks: Mapping[Cell, str]
) -> list[float] | None:
    """Return the matrix of a placement; None for a mirror image of balls, which has none."""
    has_marks = piece.marks or piece.back
    shown = {cell: marks.get(cell, PLAIN) for cell in cells} if has_marks else {}
    try:
        placement = placement_on(artifacts, piece, cells, wanted=shown)
    except ValueError:
        return None
    return viewer_matrix(placement)


def viewer_matrix(placement: Matrix) -> list[float]:
    """Return a placement's matrix, column by column, as in WebGL; whole numbers as integers."""
    matrix = np.vstack([placement, (0.0, 0.0, 0.0, 1.0)]).T.ravel()
    rounded = (round(value, _DECIMALS) + 0.0 for value in matrix.tolist())
    return [int(value) if value == int(value) else value for value in rounded]


def viewer_model(artifacts: Parts, printable: Printable) -> ModelData:
    """Return the model of a printable for the 3D viewer, placed as in its STL file.

    Raises:
        ExternalError: when a library fails.
    """
    with library_failures(lambda: f"the model of {printable.id}"):
        solids = artifacts.print_of(printable).solids
        parts = [pack_mesh(part.mesh) for part in solids]
    content = zlib.compress(b"".join(part for part, _, _ in parts), 9)
    return {
        "colours": [part.colour for part in solids],
        "corners": [corners for _, corners, _ in parts],
        "triangles": [triangles for _, _, triangles in parts],
        "mesh": base64.b64encode(content).decode(),
    }


def pack_mesh(mesh: Mesh) -> tuple[bytes, int, int]:
    """Pack a mesh, simplified for viewing, into bytes that compress well.

    Returns:
        Its bytes, and the numbers of its corners and triangles. The bytes encode x of all corners,
        then y, then z, in 64ths of a mm, each as the difference from the one before; x, y and z of
        the normals, one byte each; and the corners of the triangles, each as the distance below the
        next new index. Integers are zigzag-encoded; the lowest bytes of all of them come first,
        then the middle ones, then the highest.
    """
    coarse = mesh.manifold.simplify(_COARSE_MM).to_mesh64()
    vertices = np.asarray(coarse.vert_properties)[:, :3]
    faces = np.asarray(coarse.tri_verts).astype(np.int64)
    if not len(faces):  # a mesh without closed parts
        vertices, faces = mesh.vertices, mesh.faces
    normals = np.rint(_normals(mesh, vertices, faces) * _NORMAL)
    keys = np.column_stack([faces.ravel(), normals]).astype(np.int64)
    corners, first, which = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)  # in the order of their first use
    corners = corners[order]
    which = np.argsort(order)[which.ravel()]
    places = np.rint(vertices[corners[:, 0]] * _STEPS).astype(np.int64)
    new = np.maximum.accumulate(np.append(-1, which))[:-1] + 1
    content = [*(_bytes(np.diff(axis, prepend=0)) for axis in places.T)]
    content += [corners[:, 1:].T.astype(np.int8).tobytes(), _bytes(new - which)]
    return b"".join(content), len(corners), len(faces)


def _bytes(numbers: NDArray[np.int64]) -> bytes:
    """Return whole numbers, byte by byte; see `pack_mesh`."""
    folded = (numbers << 1 ^ numbers >> 63).astype("<u4")
    return folded.view(np.uint8).reshape(-1, 4)[:, :_BYTES].T.tobytes()


def _normals(mesh: Mesh, vertices: Points, faces: Faces) -> Points:
    """Return the normals at the corners of a simplified mesh, shape (3 m, 3): among the original
    ones at each place, the one closest to the triangle's."""
    from scipy.spatial import cKDTree

    fine = corner_normals(mesh.vertices, mesh.faces).reshape(-1, 3)
    corners = mesh.faces.ravel()
    by_vertex = np.argsort(corners, kind="stable")
    counts = np.bincount(corners)
    nearest = cKDTree(mesh.vertices).query(vertices)[1][faces.ravel()]
    neighbours = counts[nearest]
    ends = np.cumsum(neighbours)
    corner_of = np.repeat(np.arange(len(nearest)), neighbours)
    starts = (np.cumsum(counts) - counts)[nearest] - (ends - neighbours)
    normal_of = by_vertex[np.repeat(starts, neighbours) + np.arange(len(corner_of))]
    directions = face_normals(vertices, faces)[0][corner_of // 3]
    cosines = (fine[normal_of] * directions).sum(axis=1)
    return np.asarray(fine[normal_of[np.lexsort((cosines, corner_of))[ends - 1]]])
