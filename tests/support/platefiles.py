"""Small 3MF files for a slicer, made by hand: boxes, some of them hollow, in one object or several."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest

#: For tests with the real PrusaSlicer.
prusa_slicer = pytest.mark.skipif(
    shutil.which("prusa-slicer") is None, reason="prusa-slicer is not installed"
)

Point = tuple[float, float, float]
Mesh = tuple[list[Point], list[tuple[int, int, int]]]

CORE = "http://schemas.microsoft.com/3dmanufacturing/core/2015/02"
PRUSA = "http://schemas.slic3r.org/3mf/2017/06"
_TYPES = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<Types xmlns="http://schemas.openxmlformats.org/package'
    '/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-'
    'package.relationships+xml"/><Default Extension="model" ContentType="application/vnd.ms-package.'
    '3dmanufacturing-3dmodel+xml"/></Types>'
)
_RELATIONSHIPS = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<Relationships xmlns="http://schemas.openxmlformats.org'
    '/package/2006/relationships"><Relationship Target="/3D/3dmodel.model" Id="r" Type="http://'
    'schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel"/></Relationships>'
)


def box(low: Point, high: Point) -> Mesh:
    """A closed box."""
    points = [
        (x, y, z) for z in (low[2], high[2]) for y in (low[1], high[1]) for x in (low[0], high[0])
    ]
    corners = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    return points, [t for a, b, c, d in corners for t in ((a, b, c), (a, c, d))]


def hollow(mesh: Mesh, cavity: Mesh) -> Mesh:
    """A body with a closed cavity."""
    points, faces = cavity
    return joined(mesh, (points, [(a, c, b) for a, b, c in faces]))


def joined(*meshes: Mesh) -> Mesh:
    """Several bodies in one mesh."""
    points: list[Point] = []
    faces: list[tuple[int, int, int]] = []
    for more, triangles in meshes:
        faces += [(a + len(points), b + len(points), c + len(points)) for a, b, c in triangles]
        points += more
    return points, faces


def opened(mesh: Mesh) -> Mesh:
    """A mesh without one of its triangles."""
    return mesh[0], mesh[1][1:]


@dataclass
class Thing:
    """An object: its solids, each for an extruder, and where it lies."""

    name: str
    solids: Sequence[tuple[Mesh, int]]
    places: Sequence[tuple[float, float]] = ((50.0, 50.0),)


def write_plate(path: Path, things: Sequence[Thing], parts: Mapping[str, bytes] = {}) -> Path:
    """Writes a 3MF file as PrusaSlicer likes it."""
    objects, items, settings = "", "", ""
    for number, thing in enumerate(things, start=1):
        points, faces = joined(*(mesh for mesh, _ in thing.solids))
        vertices = "".join(f'<vertex x="{x}" y="{y}" z="{z}"/>' for x, y, z in points)
        triangles = "".join(f'<triangle v1="{a}" v2="{b}" v3="{c}"/>' for a, b, c in faces)
        objects += (
            f'<object id="{number}" name={quoteattr(thing.name)} type="model"><mesh><vertices>'
            f"{vertices}</vertices><triangles>{triangles}</triangles></mesh></object>"
        )
        for x, y in thing.places:
            items += f'<item objectid="{number}" transform="1 0 0 0 1 0 0 0 1 {x} {y} 0"/>'
        settings += f'<object id="{number}" instances_count="{len(thing.places)}">'
        settings += f'<metadata type="object" key="name" value={quoteattr(thing.name)}/>'
        first = 0
        for mesh, extruder in thing.solids:
            last = first + len(mesh[1]) - 1
            settings += (
                f'<volume firstid="{first}" lastid="{last}">'
                '<metadata type="volume" key="volume_type" value="ModelPart"/>'
                f'<metadata type="volume" key="extruder" value="{extruder}"/></volume>'
            )
            first = last + 1
        settings += "</object>"
    model = (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<model unit="millimeter" xmlns="{CORE}" '
        f'xmlns:slic3rpe="{PRUSA}"><metadata name="slic3rpe:Version3mf">1</metadata>'
        f"<resources>{objects}</resources><build>{items}</build></model>"
    )
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("[Content_Types].xml", _TYPES)
        package.writestr("_rels/.rels", _RELATIONSHIPS)
        package.writestr("3D/3dmodel.model", model)
        package.writestr("Metadata/Slic3r_PE_model.config", f"<config>{settings}</config>")
        for name, content in parts.items():
            package.writestr(name, content)
    return path
