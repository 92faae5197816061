"""Writing solids: STL for printers, STEP for CAD. The same solid gives the same bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import cadquery as cq

from fabkit.solid.stepfile import repeatable

#: What can be written.
Shape = cq.Shape
#: Chords deviate from curves by at most this much …
STL_TOLERANCE_MM = 0.01
#: … and turn by at most this much (radians): a bore gets 63 facets, and a piece's volume is
#: right to 0.007 %.
STL_ANGLE = 0.1


@dataclass(frozen=True)
class NamedSolid:
    """A solid with the name and colour it carries in a STEP file."""

    name: str
    colour: str
    solid: Shape


def write_stl(shape: Shape, path: Path) -> None:
    """Writes a binary STL file in mm."""
    # A copy, since the kernel keeps the mesh with the shape and would write it again.
    copy = shape.copy(mesh=False)
    copy.exportStl(
        str(path), tolerance=STL_TOLERANCE_MM, angularTolerance=STL_ANGLE, relative=False
    )


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
