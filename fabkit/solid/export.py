"""Writing solids: STL for printers, STEP for CAD. The same solid gives the same bytes.

Three things in the kernel's STEP files differ between runs: the time, a count of all
parts that the process has written so far, and the order of the colours at the end of the file (by
memory address). `write_step` removes them.
"""

from __future__ import annotations

import errno
import itertools
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import cadquery as cq
import numpy as np

#: The shapes that can be written.
Shape = cq.Shape
#: Chords deviate from curves by at most this much: a piece's volume is right to 0.007 %.
STL_TOLERANCE_MM = 0.01
#: Chords turn by at most this angle (radians): a recess gets 63 facets.
STL_ANGLE = 0.1
#: The tolerance of a shape with spheres, whose facets are chords both ways: those of a 12 mm ball
#: are within 0.017 mm of it, and a piece of seven has 18 000 facets. The values above would take 34
#: 000.
SPHERE_TOLERANCE_MM = 0.015
#: The angle (radians) of chords on a shape with spheres.
SPHERE_ANGLE = 0.14

_HEADER = 80
_FACET = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


@dataclass(frozen=True)
class NamedSolid:
    """A solid with the name and colour it carries in a STEP file."""

    name: str
    colour: str
    solid: Shape


def write_stl(shape: Shape, path: Path) -> None:
    """Write a binary STL file in mm, with a tolerance that depends on the shape's surfaces.

    Raises:
        OSError: when the disk is full, which the kernel does not report.
    """
    has_spheres = any(face.geomType() == "SPHERE" for face in shape.Faces())
    tolerance_mm, angle = STL_TOLERANCE_MM, STL_ANGLE
    if has_spheres:
        tolerance_mm, angle = SPHERE_TOLERANCE_MM, SPHERE_ANGLE
    # A copy, since the kernel keeps the mesh with the shape and would write it again.
    copy = shape.copy(mesh=False)
    copy.exportStl(str(path), tolerance=tolerance_mm, angularTolerance=angle, relative=False)
    stl = path.read_bytes()
    if len(stl) != _HEADER + 4 + _FACET.itemsize * int.from_bytes(stl[_HEADER:][:4], "little"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    if has_spheres:
        path.write_bytes(_without_empty_facets(stl))


def _without_empty_facets(stl: bytes) -> bytes:
    """Remove the facets with two equal corners from a binary STL file.

    The kernel writes one at each pole of a sphere, where the side of a patch has no length. Its
    other two corners bound the same edge of both neighbours, so removing it opens nothing.
    """
    facets = np.frombuffer(stl, _FACET, offset=_HEADER + 4)
    corners = facets["corners"]
    empty = (corners == np.roll(corners, 1, axis=1)).all(axis=2).any(axis=1)
    whole = facets[~empty]
    return stl[:_HEADER] + len(whole).to_bytes(4, "little") + bytes(whole.tobytes())


def write_step(parts: Sequence[NamedSolid], name: str, path: Path) -> None:
    """Write a STEP file: an assembly of solids with different names, even for a single solid; its
    own name gets a suffix when a part has the same."""
    while name in {part.name for part in parts}:
        name += "-set"
    whole = cq.Assembly(name=name)
    for part in parts:
        whole.add(part.solid, name=part.name, color=cq.Color(part.colour))
    whole.export(str(path), "STEP")
    text = _TIME_STAMP.sub(_TIMELESS, path.read_text(encoding="utf-8"), count=1)
    numbers = itertools.count(1)
    text = _OCCURRENCE.sub(lambda match: f"{match[1]}'{next(numbers)}'", text)
    path.write_text(_sort_styles(text), encoding="utf-8", newline="\n")


_TIME_STAMP = re.compile(r"(FILE_NAME\('[^']*',)'[^']*'")
_TIMELESS = r"\1'2000-01-01T00:00:00'"
_OCCURRENCE = re.compile(r"(NEXT_ASSEMBLY_USAGE_OCCURRENCE\()'\d+'")
_ENTITY = re.compile(r"#(\d+) = (.*?);\n", re.DOTALL)
_REFERENCE = re.compile(r"#(\d+)")
_STYLES = "MECHANICAL_DESIGN_GEOMETRIC_PRESENTATION_REPRESENTATION"


def _sort_styles(step: str) -> str:
    """Renumber the styles, which come last, in the order of the geometry they colour."""
    first = re.search(rf"#(\d+) = {_STYLES}", step)
    if first is None:
        return step
    start, end = first.start(), step.index("ENDSEC;", first.start())
    lowest = int(first[1])
    matches = _ENTITY.finditer(step, start, end)
    entities = {int(match[1]): re.sub(r"\n\s*", "", match[2]) for match in matches}

    def below(entity: int) -> list[int]:
        """Return the styles that an entity is made of, in order, itself first."""
        parts = [int(n) for n in _REFERENCE.findall(entities[entity]) if int(n) >= lowest]
        return [entity, *(part for child in parts for part in below(child))]

    def coloured(entity: int) -> int:
        """Return the geometry that a group of styles belongs to; the kernel keeps that in order."""
        texts = [entities[part] for part in below(entity)]
        return min(int(n) for text in texts for n in _REFERENCE.findall(text) if int(n) < lowest)

    groups = [number for number, text in entities.items() if text.startswith(_STYLES)]
    order = dict.fromkeys(part for group in sorted(groups, key=coloured) for part in below(group))
    renamed = {old: new for new, old in enumerate(order, start=lowest)}

    def renumbered(text: str) -> str:
        return _REFERENCE.sub(lambda match: f"#{renamed.get(int(match[1]), int(match[1]))}", text)

    lines = (f"#{renamed[old]} = {renumbered(entities[old])};\n" for old in order)
    return step[:start] + "".join(lines) + step[end:]
