"""Writing 3MF files with lib3mf: named, coloured objects at their places. The same objects give the
same bytes."""

from __future__ import annotations

import ctypes
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

import numpy as np

from fabkit.core.errors import OutsideError, printable
from fabkit.mesh.body import Body

#: How a part that some program wants finds its way into the package (lib3mf keeps only such).
_ATTACHED = "http://schemas.openxmlformats.org/package/2006/relationships/mustpreserve"
#: A name space of fabkit's own: every object and item needs an identity that stays the same.
_NAME_SPACE = uuid.UUID("8f0c8a52-6f1d-5d6a-9c41-d5b1f6d0a3e7")
#: What the format itself has words for; all else is fabkit's own.
_KNOWN = ("Title", "Designer", "Description", "Copyright", "LicenseTerms", "Application")
_OWN = "urn:fabkit:puzzles"


@dataclass(frozen=True)
class Solid3mf:
    """A closed mesh of one colour.

    Attributes:
        name: for people.
        colour: ``#rrggbb``.
        body: in mm, where it is to lie.
        extruder: which of the printer's prints it, from 1.
    """

    name: str
    colour: str
    body: Body
    extruder: int = 1


@dataclass(frozen=True)
class Object3mf:
    """What a slicer shows as one object.

    Attributes:
        name: for people.
        solids: one, or several that are printed as one.
    """

    name: str
    solids: tuple[Solid3mf, ...]


@dataclass(frozen=True)
class Package3mf:
    """All that goes into a file.

    Attributes:
        objects: in their order.
        metadata: texts by name.
        thumbnail: a PNG picture; none when empty.
        parts: content by name, for programs that look for it.
    """

    objects: tuple[Object3mf, ...]
    metadata: Mapping[str, str] = field(default_factory=dict)
    thumbnail: bytes = b""
    parts: Mapping[str, bytes] = field(default_factory=dict)


def write_3mf(package: Package3mf) -> bytes:
    """The bytes of a 3MF file.

    Corners are shared within each solid, never between two of them.

    Args:
        package: what goes into it.

    Raises:
        OutsideError: when the library cannot write it.

    Example:
        >>> corners = np.array([[0, 0, 0], [9, 0, 0], [0, 9, 0], [0, 0, 9]], float)
        >>> body = Body("", corners, np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]))
        >>> cone = Object3mf("tip", (Solid3mf("tip", "#e69f00", body),))
        >>> write_3mf(Package3mf((cone,)))[:2]
        b'PK'
    """
    import lib3mf

    with _library_failures():
        wrapper = _loaded(lib3mf)
        model = wrapper.CreateModel()
        model.SetUnit(lib3mf.ModelUnit.MilliMeter)
        _Writing(wrapper, model, lib3mf).put(package)
        return bytes(model.QueryWriter("3mf").WriteToBuffer())


def _loaded(library: Any) -> Any:
    """The library's face; its own part in C may be missing."""
    try:
        return library.get_wrapper()
    except OSError as error:
        reason = printable(str(error))
        raise OutsideError(f"lib3mf cannot be loaded: {reason}; install fabkit again") from None


@contextmanager
def _library_failures() -> Iterator[None]:
    """The library raises one type for all; whatever it says, the file was not made."""
    import lib3mf

    try:
        yield
    except lib3mf.ELib3MFException as error:
        reason = printable(str(error))
        raise OutsideError(f"lib3mf cannot write the 3MF file: {reason}") from None


class _Writing:
    """A model while it is filled."""

    def __init__(self, wrapper: Any, model: Any, library: Any) -> None:
        self._wrapper, self._model, self._lib = wrapper, model, library
        self._count = 0

    def put(self, package: Package3mf) -> None:
        self._model.SetBuildUUID(self._uuid("build"))
        for name, text in package.metadata.items():
            space = "" if name in _KNOWN else _OWN
            self._model.GetMetaDataGroup().AddMetaData(space, name, text, "xs:string", True)
        colours = self._palette(package.objects)
        made = [(self._object(one, colours), one) for one in package.objects]
        for mesh, one in made:
            item = self._model.AddBuildItem(mesh, self._wrapper.GetIdentityTransform())
            item.SetUUID(self._uuid("item"))
            item.SetPartNumber(one.name)
        ids = [mesh.GetResourceID() for mesh, _ in made]
        self._attach(MODEL_CONFIG, model_config(package.objects, ids))
        if package.thumbnail:
            self._model.CreatePackageThumbnailAttachment().ReadFromBuffer(package.thumbnail)
        for name, content in package.parts.items():
            self._attach(name, content)

    def _attach(self, name: str, content: bytes) -> None:
        self._model.AddAttachment(f"/{name}", _ATTACHED).ReadFromBuffer(content)

    def _palette(self, objects: Sequence[Object3mf]) -> dict[str, tuple[int, int]]:
        """A material for each colour: resource and property."""
        group = self._model.AddBaseMaterialGroup()
        solids = [solid for one in objects for solid in one.solids]
        made = {}
        for colour in dict.fromkeys(solid.colour for solid in solids):
            red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
            property_id = group.AddMaterial(
                colour, self._wrapper.RGBAToColor(red, green, blue, 255)
            )
            made[colour] = (group.GetResourceID(), property_id)
        return made

    def _object(self, one: Object3mf, colours: Mapping[str, tuple[int, int]]) -> Any:
        """One mesh of all solids: PrusaSlicer makes an object of each mesh, and of no more.

        Triangles carry the colours where there are several.
        """
        mesh = self._model.AddMeshObject()
        mesh.SetName(one.name)
        mesh.SetUUID(self._uuid("mesh"))
        starts = np.cumsum([0] + [len(solid.body.vertices) for solid in one.solids])
        corners = np.concatenate([solid.body.vertices for solid in one.solids])
        faces = np.concatenate(
            [solid.body.faces + start for solid, start in zip(one.solids, starts, strict=False)]
        )
        position, triangle = self._lib.Position, self._lib.Triangle
        mesh.SetGeometry(
            [position((ctypes.c_float * 3)(*row)) for row in corners.tolist()],
            [triangle((ctypes.c_uint32 * 3)(*row)) for row in faces.tolist()],
        )
        mesh.SetObjectLevelProperty(*colours[one.solids[0].colour])
        if len(one.solids) > 1:
            mesh.SetAllTriangleProperties(
                [
                    self._coloured(colours[solid.colour])
                    for solid in one.solids
                    for _ in solid.body.faces
                ]
            )
        return mesh

    def _coloured(self, colour: tuple[int, int]) -> Any:
        resource, property_id = colour
        found = self._lib.TriangleProperties()
        found.ResourceID = resource
        found.PropertyIDs[:] = [property_id] * 3
        return found

    def _uuid(self, kind: str) -> str:
        """The same for the same place in every file."""
        self._count += 1
        return str(uuid.uuid5(_NAME_SPACE, f"{kind} {self._count}"))


#: Where PrusaSlicer looks for the names and extruders of an object's parts.
MODEL_CONFIG = "Metadata/Slic3r_PE_model.config"


def model_config(objects: Sequence[Object3mf], ids: Sequence[int]) -> bytes:
    """What tells PrusaSlicer which triangles are which part, and which extruder prints them.

    The format is that of PrusaSlicer's own files (tried with 2.5).

    Args:
        objects: as they stand in the file.
        ids: their numbers there.
    """
    config = ElementTree.Element("config")
    for one, number in zip(objects, ids, strict=True):
        whole = ElementTree.SubElement(config, "object", id=str(number), instances_count="1")
        _metadata(whole, "object", name=one.name)
        first = 0
        for solid in one.solids:
            last = first + len(solid.body.faces) - 1
            part = ElementTree.SubElement(whole, "volume", firstid=str(first), lastid=str(last))
            words = {"name": solid.name, "volume_type": "ModelPart", "extruder": solid.extruder}
            _metadata(part, "volume", **words)
            first = last + 1
    ElementTree.indent(config)
    text: str = ElementTree.tostring(config, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'.encode()


def _metadata(parent: ElementTree.Element, kind: str, **words: object) -> None:
    for key, value in words.items():
        ElementTree.SubElement(parent, "metadata", type=kind, key=key, value=str(value))
