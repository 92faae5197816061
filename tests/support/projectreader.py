"""A second reader of 3MF projects: what a user of OrcaSlicer or Bambu Studio gets from a file.

It is written from the rules of their importers (``bbs_3mf.cpp``, ``Plater.cpp``, ``PartPlate.cpp``
in ``libslic3r`` and ``slic3r/GUI``), with nothing but a ZIP and an XML reader, and shares no code
with fabkit's writer.
"""

from __future__ import annotations

import json
import math
import re
import zipfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

_CORE = "{http://schemas.microsoft.com/3dmanufacturing/core/2015/02}"
_MATERIALS = "{http://schemas.microsoft.com/3dmanufacturing/material/2015/02}"
#: Without one of these settings, a file's settings are dropped; with an empty list, the program
#: fails.
_SETTINGS = ("version", "name", "from", "printer_settings_id", "print_settings_id")
_LISTS = ("filament_settings_id", "filament_colour")


@dataclass(frozen=True)
class Part:
    """A volume of an object: its colour for a project (that of its filament) and for a program that
    reads colours only, its filament, and its vertices in the file."""

    name: str
    colour: str
    plain_colour: str
    extruder: int
    vertices: np.ndarray = field(repr=False, compare=False)


@dataclass
class Project:
    """What a program shows.

    Attributes:
        faults: what a user would have to mend by hand.
        plates: by number, the parts on each, by object.
        pauses_mm: by number of the plate, where it pauses: below the top of the layer after it.
        towers: the front left corner of the prime tower on each plate, if the file says so.
    """

    faults: list[str] = field(default_factory=list)
    plates: dict[int, list[tuple[str, tuple[Part, ...]]]] = field(default_factory=dict)
    pauses_mm: dict[int, list[float]] = field(default_factory=dict)
    filaments: list[str] = field(default_factory=list)
    towers: list[tuple[float, float]] = field(default_factory=list)


def read_project(path: Path, program: str, bed_mm: tuple[float, float]) -> Project:
    """Read a file as ``orcaslicer`` or ``bambustudio`` would, for a printer with this bed."""
    project = Project()
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    model = ElementTree.fromstring(parts["3D/3dmodel.model"])
    is_project = _read_settings(project, model, parts, program)
    objects = {node.get("id"): node for node in model.iter(f"{_CORE}object")}
    config = ElementTree.fromstring(parts.get("Metadata/model_settings.config", b"<config/>"))
    if not is_project:
        config = ElementTree.fromstring("<config/>")
    by_id = {}
    for item in model.iter(f"{_CORE}item"):
        object_id = item.get("objectid")
        name, volumes = _volumes(project, objects, config, str(object_id), model, program)
        moved = [float(number) for number in item.get("transform", "0 " * 12).split()[9:]]
        placed = [replace(part, vertices=part.vertices + moved) for part in volumes]
        by_id[object_id] = (name, tuple(placed))
    _read_plates(project, config, by_id, bed_mm)
    gcode = parts.get("Metadata/custom_gcode_per_layer.xml")
    if gcode is not None and is_project:
        for plate in ElementTree.fromstring(gcode).iter("plate"):
            number = int(plate.find("plate_info").get("id"))
            project.pauses_mm[number] = [
                float(layer.get("top_z"))
                for layer in plate.iter("layer")
                if layer.get("type") == "1"
            ]
    return project


def _read_settings(
    project: Project, model: ElementTree.Element, parts: dict[str, bytes], program: str
) -> bool:
    """Whether a program takes plates, extruders and pauses from the file."""
    texts = {node.get("name"): node.text or "" for node in model.iter(f"{_CORE}metadata")}
    application = texts.get("Application", "")
    if not re.match(r"BambuStudio-\d+\.\d+\.\d+", application):
        project.faults.append(f"is of {application!r}: geometry only")
        return False
    text = parts.get("Metadata/project_settings.config")
    settings = json.loads(text) if text else {}
    missing = [key for key in (*_SETTINGS, *_LISTS) if not settings.get(key)]
    if missing:
        project.faults.append(f"has no setting {' '.join(missing)}: no pause")
        return False
    if program == "bambustudio" and not settings.get("printer_model"):
        project.faults.append("names no printer model: geometry only")
        return False
    project.filaments = [colour.lower() for colour in settings["filament_colour"]]
    if len(settings["filament_settings_id"]) != len(project.filaments):
        project.faults.append("has not as many filament presets as colours")
    places = zip(settings.get("wipe_tower_x", []), settings.get("wipe_tower_y", []), strict=True)
    project.towers = [(float(x), float(y)) for x, y in places]
    return True


def _volumes(
    project: Project,
    objects: dict[str | None, ElementTree.Element],
    config: ElementTree.Element,
    object_id: str,
    model: ElementTree.Element,
    program: str,
) -> tuple[str, list[Part]]:
    """The name of an object, and its volumes: one for each mesh below it, never for a part of a
    mesh.
    """
    node = objects[object_id]
    stated = next((each for each in config.iter("object") if each.get("id") == object_id), None)
    settings = {} if stated is None else _metadata(stated)
    part_settings = (
        {} if stated is None else {p.get("id"): _metadata(p) for p in stated.iter("part")}
    )
    ids = [each.get("objectid") for each in node.iter(f"{_CORE}component")] or [object_id]
    volumes = []
    for part_id in ids:
        mesh = objects[part_id]
        points = np.array(
            [[float(vertex.get(axis)) for axis in "xyz"] for vertex in mesh.iter(f"{_CORE}vertex")]
        )
        if stated is not None and part_id not in part_settings:
            project.faults.append(
                f"object {object_id} has no part {part_id}: its name and filament are lost"
            )
        own = part_settings.get(part_id, {})
        extruder = int(own.get("extruder") or settings.get("extruder") or 1)
        if project.filaments and extruder > len(project.filaments):
            project.faults.append(
                f"part {part_id} is printed by filament {extruder}, which is not there"
            )
        colour = project.filaments[extruder - 1] if 0 < extruder <= len(project.filaments) else ""
        plain = _plain_colour(mesh, model, program)
        volumes.append(Part(own.get("name", ""), colour, plain, extruder, points))
    return settings.get("name", ""), volumes


def _plain_colour(mesh: ElementTree.Element, model: ElementTree.Element, program: str) -> str:
    """The colour of a mesh by its colour group: OrcaSlicer keeps the last one of a group, Bambu
    Studio the one that is meant; neither reads base materials."""
    for group in model.iter(f"{_MATERIALS}colorgroup"):
        if group.get("id") == mesh.get("pid"):
            colours = [each.get("color") for each in group]
            index = -1 if program == "orcaslicer" else int(mesh.get("pindex") or 0)
            return str(colours[index])[:7].lower()
    return ""


def _read_plates(
    project: Project,
    config: ElementTree.Element,
    objects: dict[str | None, tuple[str, tuple[Part, ...]]],
    bed_mm: tuple[float, float],
) -> None:
    """Put the objects on their plates; what a plate does not name, or what lies beside it, is a
    fault.
    """
    plates = list(config.iter("plate"))
    columns = math.ceil(math.sqrt(len(plates) or 1))
    left = set(objects)
    for plate in plates:
        number = int(_metadata(plate)["plater_id"])
        row, column = divmod(number - 1, columns)
        corner = np.array([column * 1.2 * bed_mm[0], -row * 1.2 * bed_mm[1]])
        for instance in plate.iter("model_instance"):
            object_id = _metadata(instance)["object_id"]
            if object_id not in left:
                project.faults.append(
                    f"plate {number} names object {object_id}, which is not there"
                )
                continue
            left.remove(object_id)
            name, parts = objects[object_id]
            project.plates.setdefault(number, []).append((name, parts))
            for part in parts:
                places = part.vertices[:, :2] - corner
                below = part.vertices[:, 2].min() < -1e-4
                if (places < 0).any() or (places > np.array(bed_mm)).any() or below:
                    project.faults.append(f"{name} is not on the bed of plate {number}")
    if left:
        names = " ".join(sorted(objects[object_id][0] for object_id in left))
        project.faults.append(f"{len(left)} objects are on no plate: {names}")


def _metadata(node: ElementTree.Element) -> dict[str, str]:
    """The settings that an element itself has."""
    return {each.get("key", ""): each.get("value", "") for each in node.findall("metadata")}


def changed(path: Path, name: str, pattern: str, new: str, to: Path) -> Path:
    """A copy of a file in which a part is changed once; without a pattern, the part is removed."""
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(to, "w") as copy:
        for entry in archive.namelist():
            content = archive.read(entry)
            if entry == name:
                if not pattern:
                    continue
                text, count = re.subn(pattern, new, content.decode(), count=1)
                assert count, (name, pattern)
                content = text.encode()
            copy.writestr(entry, content)
    return to
