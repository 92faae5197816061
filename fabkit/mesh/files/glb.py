"""Writing GLB files, for pages and viewers: glTF 2.0 in one file, through trimesh.

glTF's lengths are metres and its y points up. The corners are the very numbers of the STL file, and
every node's matrix brings them there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabkit.mesh.body import Faces, Points

#: From mm with z up to metres with y up: x stays, y comes towards the viewer.
TO_GLTF = np.array(
    [[0.001, 0.0, 0.0, 0.0], [0.0, 0.0, 0.001, 0.0], [0.0, -0.001, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
)


@dataclass(frozen=True, eq=False)
class GlbPart:
    """What has one colour (``#rrggbb``) under a name of its own: corners in mm with z up.

    Attributes:
        normals: unit vectors at the corners of the triangles, shape (m, 3, 3); those of a triangle
            without area, which is left out, are 0. Where those at a corner differ, the corner is
            split and an edge shows.
    """

    name: str
    colour: str
    vertices: Points
    faces: Faces
    normals: NDArray[np.float64]


def write_glb(parts: Sequence[GlbPart]) -> bytes:
    """A GLB file in which each part is a mesh of its own. The same parts give the same bytes.

    Example:
        >>> corners = np.array([[0.0, 0, 0], [2, 0, 0], [0, 2, 0]])
        >>> up = np.tile([0.0, 0, 1], (1, 3, 1))
        >>> write_glb([GlbPart("A", "#e69f00", corners, np.array([[0, 1, 2]]), up)])[:4]
        b'glTF'
    """
    from trimesh import Scene, Trimesh
    from trimesh.exchange.gltf import export_glb
    from trimesh.visual import TextureVisuals
    from trimesh.visual.material import PBRMaterial

    scene = Scene()
    for part in parts:
        # Triangles without area look nowhere; normals that agree to 3 decimals are one.
        looks = np.all(np.any(part.normals, axis=2), axis=1)
        normals = np.round(part.normals[looks].reshape(-1, 3), 3) + 0.0
        keys = np.column_stack([part.faces[looks].ravel(), normals])
        corners, which = np.unique(keys, axis=0, return_inverse=True)
        vertices, faces = part.vertices[corners[:, 0].astype(int)], which.reshape(-1, 3)
        mesh = Trimesh(vertices, faces, vertex_normals=corners[:, 1:], process=False)
        # The material is called like its colour, which trimesh would round to 8 bits; plastic is
        # no metal, and half-way from a mirror to chalk.
        material = PBRMaterial(part.colour, metallicFactor=0.0, roughnessFactor=0.6)
        mesh.visual = TextureVisuals(material=material)
        scene.add_geometry(mesh, node_name=part.name, geom_name=part.name, transform=TO_GLTF)
    content: bytes = export_glb(scene, include_normals=True, tree_postprocessor=_finish)
    return content


def _finish(tree: dict[str, Any]) -> None:
    """Says who made the file, and gives the materials their exact colours, in linear light."""
    tree["asset"]["generator"] = "fabkit"
    for material in tree["materials"]:
        colour = np.array([*bytes.fromhex(material["name"][1:])]) / 255
        # From sRGB to light (IEC 61966-2-1).
        light = np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)
        material["pbrMetallicRoughness"]["baseColorFactor"] = [*light.round(6).tolist(), 1.0]
