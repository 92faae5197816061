"""Reading 3MF files: a package's models, put together as they are to be built.

No library reads them here: the one at hand dies of a long chain of components, and takes
hours over a few that double at every step. It reads what tests have made, beside this.
"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import unquote

import numpy as np

from fabkit.base.errors import InputError, shown
from fabkit.mesh.body import Body
from fabkit.mesh.limits import (
    MAX_BODIES,
    MAX_TRIANGLES,
    refuse_bodies,
    refuse_triangles,
    sound_body,
)
from fabkit.mesh.model3mf import Budget, Model, Object, Placed, Transform, read_model
from fabkit.mesh.package import Package
from fabkit.mesh.xmlpart import Attributes, read_xml

#: Components in components in an item.
MAX_NESTED = 32

_RELATIONSHIPS = "http://schemas.openxmlformats.org/package/2006/relationships"
_MODEL = "http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel"
_ROOT = "_rels/.rels"


def is_archive(content: bytes) -> bool:
    """Whether a file begins as a zip archive does, which a 3MF file is."""
    return content.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def read_3mf(content: bytes, source: str) -> list[Body]:
    """Reads a 3MF file.

    Each mesh is a body at every place where an item of the build has it. Objects of any type are
    taken, and such as are not to be built left out.

    Args:
        content: the file's bytes.
        source: its name in messages.

    Returns:
        The bodies, in mm, with the names that the file gives to their objects.

    Raises:
        InputError: when it is no 3MF file, or holds too much, with the place.
    """
    package = Package(content, source)
    root = _root_model(package, source)
    return _Assembly(package, root, source).bodies()


def _root_model(package: Package, source: str) -> str:
    """The part with which a package begins, as its relationships say."""
    if _ROOT not in package:
        raise InputError.of(source, f"is a zip archive and no 3MF file: it lacks {_ROOT}")
    found: list[Attributes] = []

    def note(attributes: Attributes) -> None:
        if attributes.get("Type") == _MODEL:
            found.append(attributes)

    root, one = f"{_RELATIONSHIPS} Relationships", f"{_RELATIONSHIPS} Relationship"
    read_xml(package, _ROOT, source, {("", root): lambda _: None, (root, one): note})
    if len(found) != 1:
        raise InputError.of(source, f"expected one 3D model, found {len(found)}", _ROOT)
    if found[0].get("TargetMode", "Internal") != "Internal":
        raise InputError.of(
            source, "its 3D model is outside of the file; expected it inside", _ROOT
        )
    return _known(package, found[0].get("Target", ""), source, _ROOT)


def _known(package: Package, target: str, source: str, place: str) -> str:
    """The name of a part, which is only ever looked for in the package."""
    part = unquote(target[:1000]).strip("/")
    if part not in package or part.casefold() == _ROOT:
        raise InputError.of(
            source, f"names the part {shown(target[:200])}, which the file lacks", place
        )
    return part


class _Assembly:
    """A package's models while they are put together."""

    def __init__(self, package: Package, root: str, source: str) -> None:
        self._package, self._root, self._source = package, root, source
        self._budget = Budget()
        self._models: dict[str, Model] = {}
        self._unit_mm = self._model(root).unit_mm
        self._triangles = 0

    def bodies(self) -> list[Body]:
        """Each mesh at each of its places."""
        items = self._model(self._root).build
        if not items:
            raise InputError.of(
                self._source, "has nothing to build; add its objects to the build", self._root
            )
        result: list[Body] = []
        for number, item in enumerate(items, start=1):
            place = f"{self._root}: item {number}"
            for name, mesh, transform in self._leaves(item, place):
                if len(result) == MAX_BODIES:
                    refuse_bodies(self._source)
                result.append(self._body(name, mesh, transform, place))
        return result

    def _leaves(self, item: Placed, place: str) -> Iterator[tuple[str, Object, Transform]]:
        """The meshes of an item: the nearest name, the object, where it is.

        Each object that is looked at leads to a mesh or to a refusal, and meshes are counted; so
        components that double at every step soon end.
        """
        above: tuple[tuple[str, int], ...] = ()
        waiting = [(self._root, item, np.eye(4), "", above)]
        while waiting:
            part, placed, outer, name, above = waiting.pop()
            part = _known(self._package, placed.part, self._source, place) if placed.part else part
            found = self._model(part).objects.get(placed.object)
            key = (part.casefold(), placed.object)
            if found is None:
                raise InputError.of(
                    self._source, f"there is no object {placed.object} in {shown(part)}", place
                )
            if key in above:
                raise InputError.of(
                    self._source, f"object {placed.object} is a component of itself", place
                )
            if len(above) == MAX_NESTED:
                raise InputError.of(
                    self._source, f"nests components deeper than {MAX_NESTED}", place
                )
            with np.errstate(all="ignore"):  # what gets too large is told by its corners
                inner = np.column_stack([placed.transform, [0.0, 0.0, 0.0, 1.0]]) @ outer
            name = found.name or name
            if found.faces is not None:
                yield name, found, inner
            for component in reversed(found.components):
                waiting.append((part, component, inner, name, (*above, key)))

    def _model(self, part: str) -> Model:
        key = part.casefold()
        if key not in self._models:
            model = read_model(self._package, part, self._source, self._budget)
            if self._models and model.unit_mm != self._unit_mm:
                raise InputError.of(
                    self._source, "has another unit than the model that it belongs to", part
                )
            self._models[key] = model
        return self._models[key]

    def _body(self, name: str, mesh: Object, transform: Transform, place: str) -> Body:
        faces = np.empty((0, 3), np.int64) if mesh.faces is None else mesh.faces
        self._triangles += len(faces)
        if self._triangles > MAX_TRIANGLES:
            refuse_triangles(self._source)
        with np.errstate(all="ignore"):
            turns = np.linalg.det(transform[:3, :3])
            vertices = (mesh.vertices @ transform[:3, :3] + transform[3, :3]) * self._unit_mm
        if turns == 0:
            raise InputError.of(
                self._source, "a transform flattens an object; expected its size kept", place
            )
        if turns < 0:  # a mirror image, whose outside is still the outside
            faces = faces[:, ::-1]
        return sound_body(name, vertices, faces, self._source, place)
