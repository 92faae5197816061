"""Reading 3MF files: a package's models, put together as they are to be built.

No library reads them here: the one at hand dies of a long chain of components, and takes
hours over a few that double at every step. It reads what tests have made, beside this.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

import numpy as np

from fabkit.core.errors import InputError, shown
from fabkit.mesh.body import Body, Faces, Points
from fabkit.mesh.files.limits import (
    MAX_BODIES,
    MAX_TRIANGLES,
    refuse_bodies,
    refuse_triangles,
    sound_body,
)
from fabkit.mesh.files.model3mf import Budget, Model, Placed, Transform, read_model
from fabkit.mesh.files.package import Package
from fabkit.mesh.files.xmlpart import Attributes, read_xml

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


@dataclass(frozen=True)
class _Leaf:
    """A mesh at one of its places.

    Attributes:
        name: its object's, or that of the nearest object around it that has one.
        vertices: in the model's unit, before the transform.
        faces: positions in `vertices`.
        transform: shape (4, 4), for points as rows.
        place: of the item in the file.
    """

    name: str
    vertices: Points
    faces: Faces
    transform: Transform
    place: str


class _Assembly:
    """A package's models while they are put together."""

    def __init__(self, package: Package, root: str, source: str) -> None:
        self._package, self._root, self._source = package, root, source
        self._budget = Budget()
        self._models: dict[str, Model] = {}
        self._unit_mm = self._model(root).unit_mm

    def bodies(self) -> list[Body]:
        """Each mesh at each of its places."""
        items = self._model(self._root).build
        if not items:
            raise InputError.of(
                self._source, "has nothing to build; add its objects to the build", self._root
            )
        leaves: list[_Leaf] = []
        triangles = 0
        for number, item in enumerate(items, start=1):
            for leaf in self._leaves(item, f"{self._root}: item {number}"):
                leaves.append(leaf)
                if len(leaves) > MAX_BODIES:
                    refuse_bodies(self._source)
                triangles += len(leaf.faces)
                if triangles > MAX_TRIANGLES:
                    refuse_triangles(self._source)
        return [self._body(leaf) for leaf in leaves]

    def _leaves(self, item: Placed, place: str) -> Iterator[_Leaf]:
        """The meshes of an item.

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
                yield _Leaf(name, found.vertices, found.faces, inner, place)
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

    def _body(self, leaf: _Leaf) -> Body:
        turn, shift = leaf.transform[:3, :3], leaf.transform[3, :3]
        with np.errstate(all="ignore"):
            turns = np.linalg.det(turn)
            vertices = (leaf.vertices @ turn + shift) * self._unit_mm
        if turns == 0:
            raise InputError.of(
                self._source, "a transform flattens an object; expected its size kept", leaf.place
            )
        # The outside of a mirror image is still its outside.
        faces = leaf.faces[:, ::-1] if turns < 0 else leaf.faces
        return sound_body(leaf.name, vertices, faces, self._source, leaf.place)
