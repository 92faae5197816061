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
from fabkit.core.files import zip_bytes
from fabkit.mesh.mesh import Mesh

#: Where PrusaSlicer looks for the names and extruders of an object's parts.
MODEL_CONFIG = "Metadata/Slic3r_PE_model.config"
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
    """One object in a slicer: a solid, or several that are printed as one."""

    name: str
    solids: tuple[Solid3mf, ...]


@dataclass(frozen=True)
class Package3mf:
    """The content of a file: objects in their places, texts by name, a PNG thumbnail or none
    (``b""``), and extra parts by name for specific programs."""

    objects: tuple[Object3mf, ...]
    metadata: Mapping[str, str] = field(default_factory=dict)
    thumbnail: bytes = b""
    parts: Mapping[str, bytes] = field(default_factory=dict)


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
    group = model.AddBaseMaterialGroup()
    colours = {}
    solids = [solid for package_object in package.objects for solid in package_object.solids]
    for colour in dict.fromkeys(solid.colour for solid in solids):
        properties = colours[colour] = library.TriangleProperties()
        properties.ResourceID = group.GetResourceID()
        rgb = wrapper.RGBAToColor(*bytes.fromhex(colour[1:]), 255)
        properties.PropertyIDs[:] = [group.AddMaterial(colour, rgb)] * 3
    meshes = []
    for package_object in package.objects:
        # PrusaSlicer makes one object of each mesh.
        meshes.append(mesh := model.AddMeshObject())
        mesh.SetName(package_object.name)
        mesh.SetUUID(identity("mesh"))
        vertices, faces = append_faces(
            [solid.mesh.vertices for solid in package_object.solids],
            [solid.mesh.faces for solid in package_object.solids],
        )
        positions = (library.Position * len(vertices)).from_buffer_copy(vertices.astype(np.float32))
        triangles = (library.Triangle * len(faces)).from_buffer_copy(faces.astype(np.uint32))
        mesh.SetGeometry(positions, triangles)
        first = colours[package_object.solids[0].colour]
        mesh.SetObjectLevelProperty(first.ResourceID, first.PropertyIDs[0])
        if len(package_object.solids) > 1:
            mesh.SetAllTriangleProperties(
                [colours[solid.colour] for solid in package_object.solids for _ in solid.mesh.faces]
            )
    for mesh, package_object in zip(meshes, package.objects, strict=True):
        item = model.AddBuildItem(mesh, wrapper.GetIdentityTransform())
        item.SetUUID(identity("item"))
        item.SetPartNumber(package_object.name)
    if package.thumbnail:
        model.CreatePackageThumbnailAttachment().ReadFromBuffer(package.thumbnail)
    config = _model_config(package.objects, [mesh.GetResourceID() for mesh in meshes])
    # lib3mf keeps only the parts for other programs that are attached like this.
    attached = "http://schemas.openxmlformats.org/package/2006/relationships/mustpreserve"
    for name, content in ((MODEL_CONFIG, config), *package.parts.items()):
        model.AddAttachment(f"/{name}", attached).ReadFromBuffer(content)


def _model_config(objects: Sequence[Object3mf], ids: Sequence[int]) -> bytes:
    """PrusaSlicer's configuration: the triangles and the extruder of each part.

    The format is that of PrusaSlicer's own files (tested with 2.5).
    """
    config = ElementTree.Element("config")

    def add(
        parent: ElementTree.Element, kind: str, settings: dict[str, object], **ids: object
    ) -> Any:
        added = ElementTree.SubElement(parent, kind, {key: str(ids[key]) for key in ids})
        for key, value in settings.items():
            ElementTree.SubElement(added, "metadata", type=kind, key=key, value=str(value))
        return added

    for package_object, number in zip(objects, ids, strict=True):
        names: dict[str, object] = {"name": package_object.name}
        whole = add(config, "object", names, id=number, instances_count=1)
        first = 0
        for solid in package_object.solids:
            last = first + len(solid.mesh.faces) - 1
            settings = {"name": solid.name, "volume_type": "ModelPart", "extruder": solid.extruder}
            add(whole, "volume", settings, firstid=first, lastid=last)
            first = last + 1
    ElementTree.indent(config)
    text: str = ElementTree.tostring(config, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'.encode()
