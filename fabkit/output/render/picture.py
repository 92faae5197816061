"""From triangles to a PNG file: seen, lit, inked and smoothed."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fabkit.output.render.raster import Shadow, lights, rasterise
from fabkit.output.render.scene import (
    Floats,
    ShadedMesh,
    View,
    camera,
    corner_normals,
    dot,
    face_normals,
    unit,
)

#: Samples in a pixel, across and down.
_FINE = 3
#: Rows of pixels that are lit at a time.
_BAND = 32
#: Light that comes back from the ground, on a face that looks straight down.
_BOUNCE = 0.44
#: How much of the ground's brightness a full shadow takes.
_SHADE = 0.7
#: The plastic's gloss: its strength. It is raised to the 32nd power by squaring five times.
_GLOSS, _SQUARINGS = 0.16, 5
#: Lines run where faces meet at more than this angle (its cosine: 32 degrees) …
_CREASE = 0.85
#: … and where the depth jumps by more than this, in the depths of the buffer.
_JUMP = 0.004


def render(meshes: Sequence[ShadedMesh], view: View) -> bytes:
    r"""Draws solid things.

    Args:
        meshes: what to draw; at least one, with at least one triangle.
        view: from where, and how large.

    Returns:
        A PNG file, RGB, or RGBA where the view has no background. The same triangles give the
        same bytes; so do triangles that differ by less than a kernel's noise, on every processor
        that adds, multiplies and takes roots as IEEE 754 says.

    Raises:
        ValueError: when there is nothing to draw.

    Example:
        >>> corners = np.array([[0.0, 0, 0], [2, 0, 0], [0, 2, 0], [0, 0, 2]])
        >>> faces = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])
        >>> render([ShadedMesh(corners, faces, "#cc3333", "a corner")], View(32, 20))[:4]
        b'\x89PNG'
    """
    if not any(len(mesh.faces) for mesh in meshes):
        raise ValueError("there is nothing to draw")
    *colour, alpha = _Scene([mesh.rounded() for mesh in meshes], view).pixels()
    return _png(colour, None if view.background else alpha)


class _Scene:
    """All triangles together, and what is seen of them."""

    def __init__(self, meshes: Sequence[ShadedMesh], view: View) -> None:
        self.meshes, self.view = meshes, view
        self.vertices = np.concatenate([mesh.vertices for mesh in meshes]).astype(np.float64)
        starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
        faces = [mesh.faces + start for mesh, start in zip(meshes, starts, strict=False)]
        self.faces = np.concatenate(faces).astype(np.int64)
        counts = [len(mesh.faces) for mesh in meshes]
        self.mesh_of_face = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
        normals = [corner_normals(one.vertices, one.faces) for one in meshes if len(one.faces)]
        self.smooth = np.concatenate(normals)
        # Of each mesh, in linear light.
        self.colours = np.array([_linear(mesh.colour) for mesh in meshes])
        self.ground_mm = float(self.vertices[:, 2].min())
        # The camera, in samples.
        one = camera(meshes, view)
        x, y = one.shift
        self.fine = replace(one, scale=one.scale * _FINE, shift=(x * _FINE, y * _FINE))
        self.seen = self.fine.seen(self.vertices)
        size = view.width * _FINE, view.height * _FINE
        self.buffer = rasterise(*self.seen[:3], self.faces, *size)

    def pixels(self) -> list[Floats]:
        """Red, green, blue (in linear light, over the background) and cover, for each pixel."""
        ink = self._ink()
        found = [np.zeros((self.view.height, self.view.width)) for _ in range(4)]
        groups = lights(self.meshes, self.faces, self.view, _FINE * _FINE)
        for group, shadows in enumerate(groups):
            down, across = divmod(group, _FINE)
            for top in range(0, self.view.height, _BAND):
                rows = slice(top * _FINE + down, (top + _BAND) * _FINE, _FINE)
                face, inked = self.buffer.face[rows, across::_FINE], ink[rows, across::_FINE]
                parts = self._band(face, inked, (top, down, across), shadows)
                for whole, part in zip(found, parts, strict=True):
                    whole[top : top + _BAND] += part / (_FINE * _FINE)
        return found

    def _band(
        self,
        face: NDArray[np.int64],
        inked: NDArray[np.bool_],
        at: tuple[int, int, int],
        shadows: Sequence[Shadow],
    ) -> list[Floats]:
        """Colour and cover of one sample of each pixel of some rows."""
        top, down, across = at
        row, column = np.nonzero(face >= 0)
        hit = face[row, column]
        x, y = _middles(column, row + top, across, down)
        points, normals = self._surface(hit, x, y)
        light = _light(points, normals, shadows)
        light += _BOUNCE * (0.5 - 0.5 * normals[:, 2])
        gloss = self._gloss(points, normals, shadows[0])
        darker = 1.0 - self.view.ink * inked[row, column]
        shade, cover = self._ground(face, at, shadows)
        found = []
        behind = _linear(self.view.background) if self.view.background else (0.0, 0.0, 0.0)
        for channel in range(3):
            part = behind[channel] * (1.0 - shade)
            colour = self.colours[self.mesh_of_face[hit], channel] * light + gloss
            part[row, column] = np.minimum(colour, 1.0) * darker
            found.append(part)
        cover[row, column] = 1.0
        return [*found, cover]

    def _surface(self, face: NDArray[np.int64], x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """The points of triangles that are seen at samples, and the normals there."""
        corners = self.faces[face]
        px, py, _, weight = self.seen
        (ax, bx, cx), (ay, by, cy) = ([one[corners[:, i]] for i in range(3)] for one in (px, py))
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        second = ((x - ax) * (cy - ay) - (y - ay) * (cx - ax)) / area
        third = ((bx - ax) * (y - ay) - (by - ay) * (x - ax)) / area
        shares = [np.clip(one, 0.0, 1.0) for one in (1.0 - second - third, second, third)]
        shares = [share / weight[corners[:, i]] for i, share in enumerate(shares)]
        total = shares[0] + shares[1] + shares[2]
        points = np.zeros((len(face), 3))
        normals = np.zeros((len(face), 3))
        for i, share in enumerate(shares):
            part = (share / total)[:, None]
            points += part * self.vertices[corners[:, i]]
            normals += part * self.smooth[face, i]
        return points, unit(normals)

    def _gloss(self, points: Floats, normals: Floats, lamp: Shadow) -> Floats:
        """What the lamp adds where a surface mirrors it."""
        half = unit(np.array([lamp.towards]) + np.array(self.fine.near))[0]
        gloss = np.maximum(dot(normals, half), 0.0)
        for _ in range(_SQUARINGS):
            gloss = gloss * gloss
        found: Floats = _GLOSS * gloss * lamp.reaches(points, normals)
        return found

    def _ground(
        self, face: NDArray[np.int64], at: tuple[int, int, int], shadows: Sequence[Shadow]
    ) -> tuple[Floats, Floats]:
        """How much the ground is shaded at samples, and how much of the picture that covers."""
        shade = np.zeros(face.shape)
        if not self.view.ground:
            return shade, np.zeros(face.shape)
        top, down, across = at
        row, column = np.nonzero(face < 0)
        x, y = _middles(column, row + top, across, down)
        ground_x, ground_y = self.fine.on_ground(x, y, self.ground_mm)
        points = np.stack([ground_x, ground_y, np.full(len(row), self.ground_mm)], axis=1)
        level = np.zeros_like(points)
        level[:, 2] = 1.0
        full = math.fsum(shadow.power * shadow.towards[2] for shadow in shadows)
        shade[row, column] = _SHADE * (1.0 - _light(points, level, shadows) / full)
        return shade, shade.copy()

    def _ink(self) -> NDArray[np.bool_]:
        """The samples along edges: of meshes, of faces that meet at an angle, and in depth."""
        face = self.buffer.face
        inked = np.zeros(face.shape, dtype=bool)
        if not self.view.ink:
            return inked
        normals, _ = face_normals(self.vertices, self.faces)
        table = np.concatenate([normals, np.zeros((1, 3))])
        mesh = np.concatenate([self.mesh_of_face, np.array([-1], dtype=np.int32)])
        for here, there in ((np.s_[:, :-1], np.s_[:, 1:]), (np.s_[:-1, :], np.s_[1:, :])):
            one, other = face[here], face[there]
            rows, columns = np.nonzero(one != other)
            a, b = one[rows, columns], other[rows, columns]
            jump = np.abs(self.buffer.depth[here] - self.buffer.depth[there])[rows, columns]
            edge = (mesh[a] != mesh[b]) | (dot(table[a], table[b]) < _CREASE) | (jump > _JUMP)
            rows, columns = rows[edge], columns[edge]
            inked[here][rows, columns] = True
            inked[there][rows, columns] = True
        return inked


def _middles(
    column: NDArray[np.int64], row: NDArray[np.int64], across: int, down: int
) -> tuple[Floats, Floats]:
    """The middles of the same sample in several pixels, in samples."""
    x, y = (one.astype(np.float64) * _FINE + 0.5 for one in (column, row))
    return x + across, y + down


def _light(points: Floats, normals: Floats, shadows: Sequence[Shadow]) -> Floats:
    """The light that surfaces take, 1 for a level one that nothing shades."""
    total = np.zeros(len(points))
    for shadow in shadows:
        slant = dot(normals, shadow.towards)
        lit = np.flatnonzero(slant > 0)
        reached = shadow.reaches(points[lit], normals[lit])
        total[lit] += shadow.power * slant[lit] * reached
    return total


def _linear(colour: str) -> tuple[float, float, float]:
    """A colour's linear light, taken for its square: exact on every machine, and near enough."""
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red * red, green * green, blue * blue


def _png(channels: Sequence[Floats], alpha: Floats | None) -> bytes:
    """A PNG file of linear light."""
    from PIL import Image

    # PNG wants the colour before it was covered.
    whole = 1.0 if alpha is None else np.where(alpha > 0, alpha, 1.0)
    planes = [np.sqrt(np.clip(one / whole, 0.0, 1.0)) for one in channels]
    if alpha is not None:
        planes.append(np.clip(alpha, 0.0, 1.0))
    pixels = np.stack([np.floor(one * 255 + 0.5).astype(np.uint8) for one in planes], axis=2)
    file = io.BytesIO()
    # Pillow's wheels bring their own zlib-ng, which packs alike whatever the processor has.
    Image.fromarray(np.ascontiguousarray(pixels)).save(file, "PNG", compress_level=6)
    return file.getvalue()
