"""Small 3MF files for a slicer: boxes, some of them hollow, in one object or several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from fabkit.mesh.files.writing3mf import Object3mf, Package3mf, Solid3mf, write_3mf
from fabkit.mesh.mesh import Mesh

if TYPE_CHECKING:
    import trimesh

#: Marks tests with the real PrusaSlicer.
with_prusa = pytest.mark.needs("prusa-slicer")

Point = tuple[float, float, float]


def box(low: Point, high: Point) -> trimesh.Trimesh:
    import trimesh

    return trimesh.creation.box(bounds=[low, high])


@cache
def hollow() -> trimesh.Trimesh:
    """A box with a closed cavity."""
    import trimesh

    cavity = box((5, 5, 1.0), (15, 15, 4.2))
    turned = trimesh.Trimesh(cavity.vertices, cavity.faces[:, ::-1])
    return trimesh.util.concatenate([box((0, 0, 0), (20, 20, 5.2)), turned])


@dataclass
class Printable:
    """An object: its solids, each for an extruder, and where it lies."""

    name: str
    solids: Sequence[tuple[trimesh.Trimesh, int]]
    place: tuple[float, float] = (50.0, 50.0)


def write_plate(
    path: Path, printables: Sequence[Printable], parts: Mapping[str, bytes] = {}
) -> Path:
    objects = []
    for one in printables:
        bodies = [
            (Mesh("", np.add(mesh.vertices, (*one.place, 0)), np.asarray(mesh.faces)), extruder)
            for mesh, extruder in one.solids
        ]
        solids = tuple(Solid3mf(one.name, "#808080", *each) for each in bodies)
        objects.append(Object3mf(one.name, solids))
    path.write_bytes(write_3mf(Package3mf(tuple(objects), parts=parts)))
    return path
