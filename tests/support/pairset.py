"""A set of two pieces for tests of commands, and its 3MF files as lib3mf's strict reader has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

PAIR = """
[set]
name = "pair"
title = "Two & <more>"
licence = "CC BY 4.0"
source = "drawn by hand"
lattice = "quarter-square"
moves = "rotations"

[[piece]]
id = "P"
colour = "#e69f00"
outline = [[0, 0], [2, 0], [2, 1], [0, 1]]

[[piece]]
id = "Q"
colour = "#0072b2"
outline = [[0, 0], [2, 0], [2, 2], [0, 2]]

[[challenge]]
id = "bar"
outline = [[0, 0], [3, 0], [3, 2], [0, 2]]
"""


def model_of(path: Path) -> Any:
    import lib3mf

    model = lib3mf.get_wrapper().CreateModel()
    reader = model.QueryReader("3mf")
    reader.SetStrictModeActive(True)
    reader.ReadFromFile(str(path))
    assert reader.GetWarningCount() == 0
    return model


def objects_of(path: Path) -> dict[str, str]:
    """The names and colours of a file's objects."""
    model, found = model_of(path), {}
    meshes = model.GetMeshObjects()
    while meshes.MoveNext():
        mesh = meshes.GetCurrentMeshObject()
        assert mesh.IsManifoldAndOriented()
        resource, property_id, has_one = mesh.GetObjectLevelProperty()
        assert has_one
        colour = model.GetBaseMaterialGroupByID(resource).GetDisplayColor(property_id)
        found[mesh.GetName()] = f"#{colour.Red:02x}{colour.Green:02x}{colour.Blue:02x}"
    return found
