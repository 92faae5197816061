"""Writing 3MF files with lib3mf: named, coloured objects at their places. Equal objects give equal
bytes."""

from __future__ import annotations

import io
import itertools
import uuid
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

import numpy as np

from fabkit.core.errors import ExternalError, escape
from fabkit.core.formats import zip_bytes
from fabkit.mesh.mesh import Mesh

#: Where PrusaSlicer looks for the names and extruders of an object's parts.
MODEL_CONFIG = "Metadata/Slic3r_PE_model.config"
#: Where OrcaSlicer and Bambu Studio look for them, and for the plates.
PLATE_CONFIG = "Metadata/model_settings.config"
#: Metadata names defined by the format; all others are fabkit's own.
_KNOWN = ("Title", "Designer", "Description", "Copyright", "LicenseTerms", "Application")
_OWN = "urn:fabkit:puzzles"


@dataclass(frozen=True)
class Solid3mf:
    """A closed mesh in mm of one colour (``#rrggbb``), and which extruder prints it, from 1."""

    name: str
    colour: str
    mesh: Mesh
    extruder: int = 1


@dataclass(frozen=True)
class Object3mf:
    """One object in a slicer: a solid, or several that are printed as one; on a plate, from 1."""

    name: str
    solids: tuple[Solid3mf, ...]
    plate: int = 1


@dataclass(frozen=True)
class Package3mf:
    """The content of a file.

    Attributes:
        objects: in their places.
        metadata: texts by name.
        thumbnail: a PNG image; empty for none.
        parts: extra parts by name, for specific programs.
        has_components: whether the solids of an object are components with a colour group each, as
            OrcaSlicer and Bambu Studio read them; otherwise they are ranges of triangles of one mesh,
            as PrusaSlicer does (2.5 makes an object of each component).
    """

    objects: tuple[Object3mf, ...]
    metadata: Mapping[str, str] = field(default_factory=dict)
    thumbnail: bytes = b""
    parts: Mapping[str, bytes] = field(default_factory=dict)
    has_components: bool = False


def write_3mf(package: Package3mf) -> bytes:
    """The bytes of a 3MF file. Vertices are shared within each solid, never between solids.

    Raises:
        ExternalError: when the library cannot be loaded, or cannot write it.

    Example:
        >>> write_3mf(Package3mf(()))[:2]
        b'PK'
    """
    import lib3mf

    try:
        wrapper = lib3mf.get_wrapper()
        model = wrapper.CreateModel()
        _fill(model, wrapper, lib3mf, package)
        written = bytes(model.QueryWriter("3mf").WriteToBuffer())
    except OSError as error:  # its binary library is missing
        reason = escape(str(error))
        raise ExternalError(f"lib3mf cannot be loaded: {reason}; reinstall fabkit") from None
    except lib3mf.ELib3MFException as error:
        raise ExternalError(f"lib3mf cannot write the 3MF file: {escape(str(error))}") from None
    # lib3mf compresses fast but poorly; a quarter smaller is worth a second.
    with zipfile.ZipFile(io.BytesIO(written)) as archive:
        return zip_bytes({name: archive.read(name) for name in archive.namelist()})


def _fill(model: Any, wrapper: Any, library: Any, package: Package3mf) -> None:
    from trimesh.util import append_faces

    numbers = itertools.count(1)

    def identity(kind: str) -> str:
        """The UUID of an object or item, the same for the same place in every file."""
        own = uuid.UUID("8f0c8a52-6f1d-5d6a-9c41-d5b1f6d0a3e7")
        return str(uuid.uuid5(own, f"{kind} {next(numbers)}"))

    model.SetUnit(library.ModelUnit.MilliMeter)
    model.SetBuildUUID(identity("build"))
    for name, text in package.metadata.items():
        space = "" if name in _KNOWN else _OWN
        model.GetMetaDataGroup().AddMetaData(space, name, text, "xs:string", True)
    colours = _colours(model, wrapper, library, package)

    def add_mesh(name: str, parts: Sequence[Solid3mf]) -> Any:
        mesh = model.AddMeshObject()
        mesh.SetName(name)
        mesh.SetUUID(identity("mesh"))
        vertices, faces = append_faces(
            [solid.mesh.vertices for solid in parts], [solid.mesh.faces for solid in parts]
        )
        positions = (library.Position * len(vertices)).from_buffer_copy(vertices.astype(np.float32))
        triangles = (library.Triangle * len(faces)).from_buffer_copy(faces.astype(np.uint32))
        mesh.SetGeometry(positions, triangles)
        first = colours[parts[0].colour]
        mesh.SetObjectLevelProperty(first.ResourceID, first.PropertyIDs[0])
        if len(parts) > 1:
            mesh.SetAllTriangleProperties(
                [colours[solid.colour] for solid in parts for _ in solid.mesh.faces]
            )
        return mesh

    written = list[Any]()
    part_ids = list[list[int]]()
    for package_object in package.objects:
        if not package.has_components:
            written.append(add_mesh(package_object.name, package_object.solids))
            continue
        meshes = [add_mesh(solid.name, [solid]) for solid in package_object.solids]
        written.append(whole := model.AddComponentsObject())
        whole.SetName(package_object.name)
        whole.SetUUID(identity("object"))
        for mesh in meshes:
            whole.AddComponent(mesh, wrapper.GetIdentityTransform()).SetUUID(identity("component"))
        part_ids.append([mesh.GetResourceID() for mesh in meshes])
    for written_object, package_object in zip(written, package.objects, strict=True):
        item = model.AddBuildItem(written_object, wrapper.GetIdentityTransform())
        item.SetUUID(identity("item"))
        item.SetPartNumber(package_object.name)
    if package.thumbnail:
        model.CreatePackageThumbnailAttachment().ReadFromBuffer(package.thumbnail)
    ids = [written_object.GetResourceID() for written_object in written]
    if package.has_components:
        config = {PLATE_CONFIG: _plate_config(package.objects, ids, part_ids)}
    else:
        config = {MODEL_CONFIG: _model_config(package.objects, ids)}
    # lib3mf keeps only the parts for other programs that are attached like this.
    attached = "http://schemas.openxmlformats.org/package/2006/relationships/mustpreserve"
    for name, content in (*config.items(), *package.parts.items()):
        model.AddAttachment(f"/{name}", attached).ReadFromBuffer(content)


def _colours(model: Any, wrapper: Any, library: Any, package: Package3mf) -> dict[str, Any]:
    """Add the colours of all solids; return by colour what a mesh or triangle of it refers to."""
    solids = [solid for package_object in package.objects for solid in package_object.solids]
    colours = {}
    group = None if package.has_components else model.AddBaseMaterialGroup()
    for colour in dict.fromkeys(solid.colour for solid in solids):
        properties = colours[colour] = library.TriangleProperties()
        rgb = wrapper.RGBAToColor(*bytes.fromhex(colour[1:]), 255)
        # Of a colour group with several colours, OrcaSlicer reads only the last one.
        of_colour = group or model.AddColorGroup()
        properties.ResourceID = of_colour.GetResourceID()
        number = group.AddMaterial(colour, rgb) if group else of_colour.AddColor(rgb)
        properties.PropertyIDs[:] = [number] * 3
    return colours


def _model_config(objects: Sequence[Object3mf], ids: Sequence[int]) -> bytes:
    """PrusaSlicer's configuration: the triangles and the extruder of each part.

    The format is that of PrusaSlicer's own files (tested with 2.5).
    """
    config = ElementTree.Element("config")
    for package_object, number in zip(objects, ids, strict=True):
        whole = ElementTree.SubElement(config, "object", id=str(number), instances_count="1")
        _add_settings(whole, {"name": package_object.name}, type="object")
        first = 0
        for solid in package_object.solids:
            last = first + len(solid.mesh.faces) - 1
            settings = {"name": solid.name, "volume_type": "ModelPart", "extruder": solid.extruder}
            span = {"firstid": str(first), "lastid": str(last)}
            volume = ElementTree.SubElement(whole, "volume", span)
            _add_settings(volume, settings, type="volume")
            first = last + 1
    return _xml(config)


def _plate_config(
    objects: Sequence[Object3mf], ids: Sequence[int], part_ids: Sequence[Sequence[int]]
) -> bytes:
    """OrcaSlicer's and Bambu Studio's configuration: the extruder of each part, the objects of each plate.

    The format is that of their importer, ``src/libslic3r/Format/bbs_3mf.cpp``.
    """
    config = ElementTree.Element("config")
    for package_object, number, parts in zip(objects, ids, part_ids, strict=True):
        whole = ElementTree.SubElement(config, "object", id=str(number))
        body = package_object.solids[0]
        _add_settings(whole, {"name": package_object.name, "extruder": body.extruder})
        for solid, part_id in zip(package_object.solids, parts, strict=True):
            part = ElementTree.SubElement(whole, "part", id=str(part_id), subtype="normal_part")
            _add_settings(part, {"name": solid.name, "extruder": solid.extruder})
    for number in sorted({package_object.plate for package_object in objects}):
        plate = ElementTree.SubElement(config, "plate")
        _add_settings(plate, {"plater_id": number, "plater_name": "", "locked": "false"})
        for identify, (package_object, object_id) in enumerate(zip(objects, ids, strict=True), 1):
            if package_object.plate == number:
                instance = {"object_id": object_id, "instance_id": 0, "identify_id": identify}
                _add_settings(ElementTree.SubElement(plate, "model_instance"), instance)
    return _xml(config)


def _add_settings(
    parent: ElementTree.Element, settings: Mapping[str, object], **attributes: str
) -> None:
    for key, value in settings.items():
        ElementTree.SubElement(parent, "metadata", attributes, key=key, value=str(value))


def _xml(root: ElementTree.Element) -> bytes:
    ElementTree.indent(root)
    text: str = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'.encode()
