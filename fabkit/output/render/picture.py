"""From triangles to a PNG file: projection, light, outlines and antialiasing."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fabkit.core.colours import rgb
from fabkit.core.process import return_free_memory
from fabkit.jobs.parallel import Calls
from fabkit.output.render.raster import (
    DepthBuffer,
    GroundLight,
    ShadowMap,
    ground_lighting,
    lamp_direction,
    light_on_ground,
    rasterise,
    shadow_maps,
    to_depth,
)
from fabkit.output.render.scene import (
    Floats,
    ShadedMesh,
    View,
    corner_normals,
    dot,
    face_normals,
    fit_camera,
    normalize,
)

_FINE = 3  # samples per pixel in each direction
_BAND = 32  # rows of pixels that are shaded at a time
_BOUNCE = 0.44  # light from the ground on a face that points straight down
_SHADE = 0.7  # the darkness of a full shadow on the ground
_GLOSS = 0.16  # the plastic's gloss
_SQUARINGS = 5  # the highlight is raised to the 32nd power by squaring five times
_MIN_MARGIN = 0.08  # the minimum margin of a fitted view, as a fraction of its larger side
_PENUMBRA = 1.3  # how much further the soft rim of a shadow reaches than the shadow
#: Outlines run where faces meet at more than this angle, given by its cosine: 32 degrees.
_CREASE = 0.85
_JUMP = 0.004  # outlines run where depths jump by more than this


def render(meshes: Sequence[ShadedMesh], view: View) -> bytes:
    """Render meshes as a PNG file: RGB, or RGBA when the view has no background.

    Equal triangles, and those that differ by less than the CAD kernel's noise, give equal bytes on
    every processor with IEEE 754 sums, products and roots.

    Raises:
        ValueError: when there is nothing to draw.
    """
    if not any(len(mesh.faces) for mesh in meshes):
        raise ValueError("there is nothing to draw")
    return _png(_Scene([mesh.rounded() for mesh in meshes], view).pixels(), not view.background)


def fit_view(meshes: Sequence[ShadedMesh], pixels: int) -> View:
    """Return the view that the meshes fill but for a margin with room for their shadow on the
    ground; the larger side has so many pixels."""
    square = View(pixels, pixels)
    camera = fit_camera(meshes, square)
    corners = np.concatenate([mesh.vertices for mesh in meshes])
    x, y, z = lamp_direction(square)
    above = (corners[:, 2:] - corners[:, 2].min()) / z
    shadow = corners - above * np.array([x, y, z])
    sides = list[float]()
    beyond = 0.0  # how far the shadow reaches beyond the meshes
    axes = zip(camera.project(corners)[:2], camera.project(shadow)[:2], strict=True)
    for mesh_axis, shadow_axis in axes:
        low, high = float(mesh_axis.min()), float(mesh_axis.max())
        sides.append(high - low)
        beyond = max(beyond, low - float(shadow_axis.min()), float(shadow_axis.max()) - high)
    longest = max(sides)
    share = _PENUMBRA * beyond / longest
    margin = max(_MIN_MARGIN, share / (1 + 2 * share))
    width, height = (round(pixels * (1 - (1 - 2 * margin) * (1 - s / longest))) for s in sides)
    return replace(square, width=width, height=height, margin=margin)


class _Scene:
    """All triangles together, projected."""

    def __init__(self, meshes: Sequence[ShadedMesh], view: View) -> None:
        self.view = view
        self.vertices = np.concatenate([mesh.vertices for mesh in meshes]).astype(np.float64)
        starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
        faces = [mesh.faces + start for mesh, start in zip(meshes, starts, strict=False)]
        self.faces = np.concatenate(faces).astype(np.int64)
        counts = [len(mesh.faces) for mesh in meshes]
        self.mesh_of_face = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
        normals = [corner_normals(mesh.vertices, mesh.faces) for mesh in meshes if len(mesh.faces)]
        self.smooth = np.concatenate(normals)
        # By mesh, in linear light.
        self.colours = np.array([_linear(mesh.colour) for mesh in meshes])
        camera = fit_camera(meshes, view)
        x, y = camera.shift
        # The camera, in samples.
        self.fine = replace(camera, scale=camera.scale * _FINE, shift=(x * _FINE, y * _FINE))
        self.projected = self.fine.project(self.vertices)
        self.pixel_mm = 1 / camera.scale
        self.ground: list[GroundLight] = []

    def pixels(self) -> Floats:
        """Return red, green, blue (linear, over the background) and coverage of each pixel."""
        return_free_memory()  # the samples take as much
        size = self.view.width * _FINE, self.view.height * _FINE
        scene = self.vertices, self.faces, self.view, self.pixel_mm
        ground = ground_lighting(*scene) if self.view.ground else None
        buffer = rasterise(*self.projected[:3], self.faces, *size)
        face, ink = buffer.face, self._ink(buffer)
        del buffer
        self.ground = ground.results() if ground else []
        calls = []
        for group in range(_FINE**2):
            down, across = divmod(group, _FINE)
            here = np.s_[down::_FINE, across::_FINE]
            calls.append((self, group, face[here].copy(), ink[here].copy()))
        del face, ink
        return_free_memory()
        pixels = np.zeros((self.view.height, self.view.width, 4))
        samples = Calls(_Scene.samples, calls, [f"sample {group}" for group in range(_FINE**2)])
        del calls
        for part in samples.in_order(ahead=1):
            pixels += np.divide(part, _FINE**2, out=part)
            del part  # it is large
        return pixels

    def samples(self, group: int, face: NDArray[np.int32], inked: NDArray[np.bool_]) -> Floats:
        """Return colour and coverage of one sample of each pixel."""
        whole = ShadedMesh(self.vertices, self.faces, "", "")
        shadows = shadow_maps(whole, self.view, group, _FINE**2)
        down, across = divmod(group, _FINE)
        pixels = np.zeros((*face.shape, 4))
        for top in range(0, self.view.height, _BAND):
            band = np.s_[top : top + _BAND]
            origin = across, top * _FINE + down
            pixels[band] = self._band(face[band], inked[band], origin, shadows)
        return pixels

    def _band(
        self,
        face: NDArray[np.int32],
        inked: NDArray[np.bool_],
        origin: tuple[int, int],
        shadows: Sequence[ShadowMap],
    ) -> Floats:
        """Return colour and coverage of one sample of each pixel of a band of rows; the first
        sample is at `origin`."""
        pixels = np.zeros((*face.shape, 4))
        bare, covered = face < 0, face >= 0
        if self.ground:
            ground_mm = float(self.vertices[:, 2].min())
            points_mm = self.fine.intersect_ground(*_middles(bare, origin), ground_mm)
            pixels[bare, 3] = _SHADE * (1.0 - light_on_ground(self.ground, *points_mm))
        behind = np.array(_linear(self.view.background or "#000000"))
        pixels[..., :3] = behind * (1.0 - pixels[..., 3:])
        points, normals = self._surface(face[covered], *_middles(covered, origin))
        light = _light(points, normals, shadows) + _BOUNCE * (0.5 - 0.5 * normals[:, 2])
        # The specular highlight of the lamp.
        half = normalize(np.array([shadows[0].towards]) + np.array(self.fine.near))[0]
        gloss = np.maximum(dot(normals, half), 0.0)
        for _ in range(_SQUARINGS):
            gloss = gloss * gloss
        gloss = _GLOSS * gloss * shadows[0].visibility(points, normals)
        colour = self.colours[self.mesh_of_face[face[covered]]] * light[:, None] + gloss[:, None]
        darker = 1.0 - self.view.ink * inked[covered]
        pixels[covered, :3] = np.minimum(colour, 1.0) * darker[:, None]
        pixels[covered, 3] = 1.0
        return pixels

    def _surface(self, face: NDArray[np.int32], x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Return the visible surface points at samples, and the normals there."""
        corners = self.faces[face]
        px, py, _, weight = self.projected
        (ax, bx, cx), (ay, by, cy) = ([axis[corners[:, i]] for i in range(3)] for axis in (px, py))
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        second = ((x - ax) * (cy - ay) - (y - ay) * (cx - ax)) / area
        third = ((bx - ax) * (y - ay) - (by - ay) * (x - ax)) / area
        shares = [np.clip(share, 0.0, 1.0) for share in (1.0 - second - third, second, third)]
        shares = [share / weight[corners[:, i]] for i, share in enumerate(shares)]
        total = shares[0] + shares[1] + shares[2]
        points, normals = np.zeros((2, len(face), 3))
        for i, share in enumerate(shares):
            part = (share / total)[:, None]
            points += part * self.vertices[corners[:, i]]
            normals += part * self.smooth[face, i]
        return points, normalize(normals)

    def _ink(self, buffer: DepthBuffer) -> NDArray[np.bool_]:
        """Return the samples on outlines: between meshes, at creases, and at jumps in depth."""
        face = buffer.face
        inked = np.zeros(face.shape, dtype=bool)
        if not self.view.ink:
            return inked
        normals, _ = face_normals(self.vertices, self.faces)
        table = np.concatenate([normals, np.zeros((1, 3))])
        mesh = np.append(self.mesh_of_face, -1)
        for here, there in ((np.s_[:, :-1], np.s_[:, 1:]), (np.s_[:-1, :], np.s_[1:, :])):
            first, second = face[here], face[there]
            rows, columns = np.nonzero(first != second)
            a, b = first[rows, columns], second[rows, columns]
            depths = [to_depth(buffer.steps[side][rows, columns]) for side in (here, there)]
            jump = np.abs(depths[0] - depths[1])
            edge = (mesh[a] != mesh[b]) | (dot(table[a], table[b]) < _CREASE) | (jump > _JUMP)
            for side in (here, there):
                inked[side][rows[edge], columns[edge]] = True
        return inked


def _middles(mask: NDArray[np.bool_], origin: tuple[int, int]) -> tuple[Floats, Floats]:
    """Return the centres of a sample in each masked pixel, in samples; `origin` is the first."""
    row, column = (indices.astype(np.float64) for indices in np.nonzero(mask))
    return column * _FINE + (origin[0] + 0.5), row * _FINE + (origin[1] + 0.5)


def _light(points: Floats, normals: Floats, shadows: Sequence[ShadowMap]) -> Floats:
    """Return the irradiance of surfaces, 1 for an unshaded level one."""
    total = np.zeros(len(points))
    for shadow in shadows:
        slant = dot(normals, shadow.towards)
        lit = np.flatnonzero(slant > 0)
        reached = shadow.visibility(points[lit], normals[lit])
        total[lit] += shadow.power * slant[lit] * reached
    return total


def _linear(colour: str) -> tuple[float, float, float]:
    """Convert a colour to linear light by squaring: close enough, and exact on every machine."""
    red, green, blue = rgb(colour)
    return red * red, green * green, blue * blue


def _png(pixels: Floats, transparent: bool) -> bytes:
    """Encode linear light and coverage as PNG."""
    from PIL import Image

    colour, alpha = pixels[..., :3], pixels[..., 3:]
    if transparent:  # PNG alpha is not premultiplied
        colour = colour / np.where(alpha > 0, alpha, 1.0)
    channels = np.sqrt(np.clip(colour, 0.0, 1.0))
    if transparent:
        channels = np.concatenate([channels, np.clip(alpha, 0.0, 1.0)], axis=2)
    file = io.BytesIO()
    # Pillow's wheels include zlib-ng, which compresses alike on every processor.
    image = Image.fromarray(np.floor(channels * 255 + 0.5).astype(np.uint8))
    image.save(file, "PNG", compress_level=6)
    return file.getvalue()
