"""Writing solids: STL for printers, STEP for CAD. The same solid gives the same bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import cadquery as cq
import numpy as np

from fabkit.solid.stepfile import repeatable

#: What can be written.
Shape = cq.Shape
#: Chords deviate from curves by at most this much …
STL_TOLERANCE_MM = 0.01
#: … and turn by at most this much (radians): a bore gets 63 facets, and a piece's volume is
#: right to 0.007 %.
STL_ANGLE = 0.1
#: Of a shape with spheres, whose facets are chords both ways: those of a 12 mm ball are within
#: 0.017 mm of it, and a piece of seven has 18 000 facets. The values above would take 34 000.
SPHERE_TOLERANCE_MM, SPHERE_ANGLE = 0.015, 0.14

_HEADER = 80
_FACET = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


@dataclass(frozen=True)
class NamedSolid:
    """A solid with the name and colour it carries in a STEP file."""

    name: str
    colour: str
    solid: Shape


def write_stl(shape: Shape, path: Path) -> None:
    """Writes a binary STL file in mm, finer or coarser as the shape's surfaces ask for."""
    has_spheres = any(face.geomType() == "SPHERE" for face in shape.Faces())
    tolerance_mm, angle = STL_TOLERANCE_MM, STL_ANGLE
    if has_spheres:
        tolerance_mm, angle = SPHERE_TOLERANCE_MM, SPHERE_ANGLE
    # A copy, since the kernel keeps the mesh with the shape and would write it again.
    copy = shape.copy(mesh=False)
    copy.exportStl(str(path), tolerance=tolerance_mm, angularTolerance=angle, relative=False)
    if has_spheres:
        path.write_bytes(_without_empty_facets(path.read_bytes()))


def _without_empty_facets(stl: bytes) -> bytes:
    """A binary STL file without the facets that have two equal corners.

    The kernel writes one at each pole of a sphere, where the side of a patch has no length. The
    two others of its corners are then the ends of one edge of both its neighbours, so that nothing
    opens when it goes.
    """
    facets = np.frombuffer(stl, _FACET, offset=_HEADER + 4)
    corners = facets["corners"]
    empty = (corners == np.roll(corners, 1, axis=1)).all(axis=2).any(axis=1)
    whole = facets[~empty]
    count = len(whole).to_bytes(4, "little")
    return stl[:_HEADER] + count + bytes(whole.tobytes())


def write_step(parts: Sequence[NamedSolid], name: str, path: Path) -> None:
    """Writes a STEP file: an assembly of named, coloured solids, also when it is only one.

    Args:
        parts: with different names.
        name: of the whole; it gets a suffix when a part has the same.
        path: the file.
    """
    while name in {part.name for part in parts}:
        name += "-set"
    whole = cq.Assembly(name=name)
    for part in parts:
        whole.add(part.solid, name=part.name, color=cq.Color(part.colour))
    whole.export(str(path), "STEP")
    text = path.read_text(encoding="utf-8")
    path.write_text(repeatable(text), encoding="utf-8", newline="\n")
