"""One model part of a 3MF package: its objects, and what it asks to build."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from fabkit.core.errors import InputError, shown
from fabkit.mesh.body import Faces, Points
from fabkit.mesh.files.limits import (
    MAX_TRIANGLES,
    MAX_VERTICES,
    decimals,
    refuse_triangles,
    refuse_vertices,
    whole,
)
from fabkit.mesh.files.package import Package
from fabkit.mesh.files.xmlpart import Attributes, read_xml

MAX_OBJECTS = 10_000
#: Components and build items together.
MAX_PLACED = 20_000

CORE = "http://schemas.microsoft.com/3dmanufacturing/core/2015/02"
PRODUCTION = "http://schemas.microsoft.com/3dmanufacturing/production/2015/06"
#: A file that requires another one holds shapes that would be missed, or cannot be read at all.
_UNDERSTOOD = {
    CORE,
    PRODUCTION,
    "http://schemas.microsoft.com/3dmanufacturing/material/2015/02",
    "http://schemas.3mf.io/3dmanufacturing/trianglesets/2021/07",
}
_UNITS_MM = {
    "micron": 0.001,
    "millimeter": 1.0,
    "centimeter": 10.0,
    "inch": 25.4,
    "foot": 304.8,
    "meter": 1000.0,
}
_LONGEST_NAME = 200

#: Three rows by which a point is multiplied, and one that is added.
Transform = NDArray[np.float64]
IDENTITY: Transform = np.vstack([np.eye(3), np.zeros(3)])


@dataclass(frozen=True)
class Placed:
    """An object at a place: a component of another one, or an item to build.

    Attributes:
        part: the model part in which the object is; empty for the one that places it.
        object: its number there.
        transform: shape (4, 3), for points as rows.
    """

    part: str
    object: int
    transform: Transform


@dataclass
class Object:
    """A resource with a shape: a mesh, or components.

    Attributes:
        name: as the file gives it; may be empty.
        vertices: of its mesh, in the model's unit.
        faces: of its mesh, all positions in `vertices`; None without a mesh.
        components: none if there is a mesh.
    """

    name: str
    vertices: Points = field(default_factory=lambda: np.empty((0, 3)))
    faces: Faces | None = None
    components: list[Placed] = field(default_factory=list)


@dataclass
class Budget:
    """What has been read of a package so far, over all its parts."""

    objects: int = 0
    placed: int = 0
    triangles: int = 0
    vertices: int = 0


@dataclass
class Model:
    """What a model part says.

    Attributes:
        unit_mm: its unit of length.
        objects: by their numbers.
        build: what is to be built.
    """

    unit_mm: float = 1.0
    objects: dict[int, Object] = field(default_factory=dict)
    build: list[Placed] = field(default_factory=list)


def read_model(package: Package, part: str, source: str, budget: Budget) -> Model:
    """Reads one model part.

    Args:
        package: where it is.
        part: its name.
        source: the file's name in messages.
        budget: counts on.

    Returns:
        What it says; that components name objects is left to check.

    Raises:
        InputError: at the first thing that is wrong, with its place.
    """
    reader = _ModelReader(part, source, budget)
    begin = {
        (parent and f"{CORE} {parent}", f"{CORE} {name}"): handler
        for parent, name, handler in (
            ("", "model", reader.begin_model),
            ("model", "resources", reader.pass_),
            ("resources", "object", reader.begin_object),
            ("object", "mesh", reader.begin_mesh),
            ("mesh", "vertices", reader.pass_),
            ("vertices", "vertex", reader.vertex),
            ("mesh", "triangles", reader.pass_),
            ("triangles", "triangle", reader.triangle),
            ("object", "components", reader.pass_),
            ("components", "component", reader.component),
            ("model", "build", reader.pass_),
            ("build", "item", reader.item),
        )
    }
    end = {f"{CORE} mesh": reader.end_mesh, f"{CORE} object": reader.end_object}
    read_xml(package, part, source, begin, end, reader.namespace)
    return reader.model


class _ModelReader:
    """Builds a `Model` from its elements, which come in the file's order."""

    def __init__(self, part: str, source: str, budget: Budget) -> None:
        self._part, self._source, self._budget = part, source, budget
        self.model = Model()
        self._namespaces: dict[str, str] = {}
        self._object = Object("")
        self._place = part
        self._coordinates: array[float] = array("d")
        self._corners: array[int] = array("q")

    def namespace(self, prefix: str, name: str) -> None:
        self._namespaces.setdefault(prefix, name)

    def pass_(self, attributes: Attributes) -> None:
        """An element that only holds others."""

    def begin_model(self, attributes: Attributes) -> None:
        unit = attributes.get("unit", "millimeter")
        if unit not in _UNITS_MM:
            known = ", ".join(_UNITS_MM)
            self._refuse(f"unknown unit {shown(unit[:200])}; expected one of {known}")
        self.model.unit_mm = _UNITS_MM[unit]
        for prefix in attributes.get("requiredextensions", "").split():
            if self._namespaces.get(prefix) not in _UNDERSTOOD:
                name = self._namespaces.get(prefix, prefix)
                self._refuse(
                    f"needs an extension of 3MF that fabkit does not read, {shown(name[:200])}; "
                    "export it as a plain mesh"
                )

    def begin_object(self, attributes: Attributes) -> None:
        self._place = self._part
        number = whole(self._attribute(attributes, "id"), self._source, self._part)
        self._place = f"{self._part}: object {number}"
        self._budget.objects += 1
        if self._budget.objects > MAX_OBJECTS:
            raise InputError.of(self._source, f"holds more than {MAX_OBJECTS} objects")
        if number in self.model.objects:
            self._refuse("there are two objects with this number")
        self._object = Object(attributes.get("name", "")[:_LONGEST_NAME])
        self.model.objects[number] = self._object

    def begin_mesh(self, attributes: Attributes) -> None:
        if self._object.faces is not None:
            self._refuse("has two meshes")
        self._coordinates, self._corners = array("d"), array("q")

    def vertex(self, attributes: Attributes) -> None:
        try:
            texts = [attributes["x"], attributes["y"], attributes["z"]]
        except KeyError as error:
            self._lacks("a vertex", error.args[0])
        place = f"{self._place}, vertex {len(self._coordinates) // 3 + 1}"
        self._coordinates.extend(decimals(texts, self._source, place))
        self._budget.vertices += 1
        if self._budget.vertices > MAX_VERTICES:
            refuse_vertices(self._source)

    def triangle(self, attributes: Attributes) -> None:
        try:
            texts = (attributes["v1"], attributes["v2"], attributes["v3"])
        except KeyError as error:
            self._lacks("a triangle", error.args[0])
        place = f"{self._place}, triangle {len(self._corners) // 3 + 1}"
        self._corners.extend([whole(text, self._source, place) for text in texts])
        self._budget.triangles += 1
        if self._budget.triangles > MAX_TRIANGLES:
            refuse_triangles(self._source)

    def end_mesh(self) -> None:
        self._object.vertices = np.frombuffer(self._coordinates).reshape(-1, 3)
        self._object.faces = faces = np.frombuffer(self._corners, np.int64).reshape(-1, 3)
        if not len(faces):
            self._refuse("its mesh has no triangles")
        count = len(self._object.vertices)
        wrong = ((faces < 0) | (faces >= count)).any(axis=1)
        if wrong.any():
            index = int(np.argmax(wrong))
            corners = ", ".join(map(str, faces[index]))
            raise InputError.of(
                self._source,
                f"names vertices {corners}; there are {count}, counted from 0",
                f"{self._place}, triangle {index + 1}",
            )

    def component(self, attributes: Attributes) -> None:
        self._object.components.append(self._placed(attributes))

    def item(self, attributes: Attributes) -> None:
        self._place = f"{self._part}: item {len(self.model.build) + 1}"
        self.model.build.append(self._placed(attributes))

    def end_object(self) -> None:
        if (self._object.faces is None) == (not self._object.components):
            self._refuse("expected either a mesh or components")

    def _placed(self, attributes: Attributes) -> Placed:
        self._budget.placed += 1
        if self._budget.placed > MAX_PLACED:
            raise InputError.of(self._source, f"holds more than {MAX_PLACED} components and items")
        number = whole(self._attribute(attributes, "objectid"), self._source, self._place)
        text = attributes.get("transform")
        transform = IDENTITY if text is None else self._transform(text)
        return Placed(attributes.get(f"{PRODUCTION} path", ""), number, transform)

    def _transform(self, text: str) -> Transform:
        words = text.split()
        if len(words) != 12:
            self._refuse(f"a transform has 12 numbers, this one {len(words)}")
        transform = np.array(decimals(words, self._source, self._place)).reshape(4, 3)
        if not np.isfinite(transform).all():
            self._refuse("a transform has a number that is too large for a computer")
        return transform

    def _attribute(self, attributes: Attributes, name: str) -> str:
        if name not in attributes:
            self._lacks("it", name)
        return attributes[name]

    def _lacks(self, what: str, name: str) -> NoReturn:
        self._refuse(f'{what} lacks "{name}"')

    def _refuse(self, message: str) -> NoReturn:
        raise InputError.of(self._source, message, self._place)
