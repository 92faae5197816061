"""Ball pieces made of spheres, cylinders and wedges by manifold3d, independent of the drawings.

The faults of tests are planted by the arguments. Solids of our own are not used here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fabkit.mesh.mesh import Mesh
from fabkit.model.balls import BallBody
from fabkit.sets.library import load_set

if TYPE_CHECKING:
    from manifold3d import Manifold

Points = NDArray[np.float64]

#: The pieces of IQ Fit as their set draws them.
IQFIT = load_set("iqfit")
IDS = [piece.id for piece in IQFIT.pieces]
BODIES = {piece.id: piece.body for piece in IQFIT.pieces if piece.body}


@dataclass(frozen=True)
class Sizes:
    """What a piece of balls measures, in mm, and how finely it is cut into facets."""

    pitch: float = 15.0
    ball: float = 12.0
    link: float = 9.0
    flat: float | None = 4.2
    segments: int = 32
    #: Which tessellation balls have: ``octahedral``, ``meridians`` or ``icosphere``.
    kind: str = "meridians"
    #: A ball's own diameter, or where it lies instead of at its place, by its index.
    balls: Mapping[int, float] = field(default_factory=dict)
    moved: Mapping[int, tuple[float, float, float]] = field(default_factory=dict)
    #: A link's own diameter, by its index.
    links: Mapping[int, float] = field(default_factory=dict)


#: What the default profile asks for, with the set's own unit.
USUAL = Sizes()
#: What the preset ``compact`` asks for.
COMPACT = Sizes(12.0, 9.6, 7.2, 3.3)


def solid(shape: BallBody, sizes: Sizes) -> Manifold:
    """A piece as it is printed: its lowest plane of balls on the bed, which is at -flat."""
    from manifold3d import Manifold, OpType

    places = np.asarray(shape.balls, float) * sizes.pitch
    for i, by in sizes.moved.items():
        places[i] += by
    low = min(z for _, _, z in shape.balls)
    parts = [
        _ball(sizes.balls.get(i, sizes.ball), sizes).translate(tuple(place))
        for i, place in enumerate(places)
    ]
    for i, (a, b) in enumerate(shape.bonds):
        link = sizes.links.get(i, sizes.link)
        on_bed = shape.balls[a][2] == shape.balls[b][2] == low
        parts.append(_link(places[a], places[b], link, on_bed and sizes.flat is not None, sizes))
    whole = Manifold.batch_boolean(parts, OpType.Add)
    if sizes.flat is not None:
        whole = whole.trim_by_plane((0, 0, 1), low * sizes.pitch - sizes.flat)
    return whole


def _ball(diameter: float, sizes: Sizes) -> Manifold:
    import manifold3d
    from manifold3d import Manifold

    radius = diameter / 2
    if sizes.kind == "octahedral":
        return Manifold.sphere(radius, sizes.segments)
    if sizes.kind == "meridians":
        steps = sizes.segments // 2
        half = [
            (radius * math.sin(math.pi * i / steps), -radius * math.cos(math.pi * i / steps))
            for i in range(steps + 1)
        ]
        return Manifold.revolve(manifold3d.CrossSection([half]), sizes.segments)
    import trimesh

    ico = trimesh.creation.icosphere(subdivisions=3, radius=radius)
    return Manifold(manifold3d.Mesh(ico.vertices.astype(np.float32), ico.faces.astype(np.uint32)))


def _link(start: Points, end: Points, diameter: float, roofed: bool, sizes: Sizes) -> Manifold:
    from manifold3d import CrossSection, Manifold

    axis = end - start
    length = float(np.linalg.norm(axis))
    rod = Manifold.cylinder(length, diameter / 2, circular_segments=sizes.segments)
    if roofed:
        across = diameter / 2 / math.sqrt(2)
        # The wedge below the circle; its x will point down.
        wedge = [(across, -across), (2 * across, 0.0), (across, across), (0.0, 0.0)]
        rod += CrossSection([wedge]).extrude(length)
    z = axis / length
    x = np.array([0.0, 0.0, -1.0]) if abs(z[2]) < 0.5 else np.array([1.0, 0.0, 0.0])
    x -= z * (x @ z)
    x /= np.linalg.norm(x)
    return rod.transform(np.column_stack([x, np.cross(z, x), z, start]))


def block(low: Sequence[float], high: Sequence[float]) -> Manifold:
    """A box between two corners."""
    from manifold3d import Manifold

    return Manifold.cube(tuple(np.subtract(high, low))).translate(tuple(low))


def body_of_solid(whole: Manifold, name: str = "piece.stl") -> Mesh:
    """A solid as an STL file would give it: corners in single precision, equal ones made one."""
    mesh = whole.to_mesh()
    # Corners that should be one, where several surfaces meet, differ by rounding.
    rounded = np.round(np.asarray(mesh.vert_properties[:, :3], float), 4)
    corners = rounded.astype(np.float32)[mesh.tri_verts].reshape(-1, 3)
    vertices, faces = np.unique(corners, axis=0, return_inverse=True)
    faces = faces.reshape(-1, 3)
    apart = (
        (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    )
    return Mesh(name, vertices.astype(float), faces[apart].astype(np.int64))


def made(shape: BallBody, sizes: Sizes = USUAL, name: str = "piece.stl") -> Mesh:
    """A piece as a mesh."""
    return body_of_solid(solid(shape, sizes), name)


def thrown(body: Mesh, seed: int, scale: float = 1.0) -> Mesh:
    """A body turned and moved at random, and scaled, in single precision."""
    rng = np.random.default_rng(seed)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    turn *= np.sign(np.linalg.det(turn))
    vertices = (body.vertices @ turn.T + rng.uniform(-40, 40, 3)) * scale
    return replace(body, vertices=vertices.astype(np.float32).astype(float))


def mirrored(body: Mesh) -> Mesh:
    """A body's mirror image."""
    return replace(body, vertices=body.vertices * [-1.0, 1.0, 1.0], faces=body.faces[:, ::-1])
