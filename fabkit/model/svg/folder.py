"""The SVG files beside a set file."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path, PurePosixPath

from fabkit.core.errors import InputError, shown
from fabkit.core.files import read_bytes
from fabkit.model.lattice import Cell, Lattice
from fabkit.model.svg.document import Element, chosen_shape, parse_svg
from fabkit.model.svg.fault import SvgError
from fabkit.model.svg.pathdata import lines_of
from fabkit.model.svg.snapping import CornerMm, cells_on_lattice
from fabkit.model.svg.transform import applied, page, transform_of

#: A larger file is no drawing of a piece.
MAX_BYTES = 4 * 1024 * 1024
#: A path that ends so near to its beginning, in mm, needs no Z.
_CLOSED_MM = 1e-3


class SvgFolder:
    """Reads shapes from SVG files in a folder or below it, each file once.

    Args:
        folder: where the set file is.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._contents: dict[str, bytes] = {}
        self._drawings: dict[str, Element | SvgError] = {}

    @property
    def digests(self) -> list[str]:
        """Name and SHA-256 of each file that was read, in alphabetical order."""
        return [
            f"{name} {hashlib.sha256(content).hexdigest()}"
            for name, content in sorted(self._contents.items())
        ]

    def cells(
        self, wanted: str, lattice: Lattice, unit_mm: float, may_touch: bool
    ) -> frozenset[Cell]:
        """The cells inside a shape, which is drawn at 1:1.

        Args:
            wanted: ``FILE.svg`` for the file's only shape, or ``FILE.svg#ID``.
            lattice: square or quarter-square.
            unit_mm: length of a grid unit.
            may_touch: whether the outline may meet itself in single points.

        Raises:
            SvgError: when there is no such file or shape, or it is no outline on the lattice.
        """
        name, _, shape_id = wanted.partition("#")
        try:
            way = chosen_shape(self._drawing(name), shape_id)
            rings = _rings_mm(way)
            try:
                return cells_on_lattice(lattice, rings, unit_mm, may_touch)
            except SvgError as fault:
                raise SvgError(f"{way[-1].place}: {fault}{_hint(way[0])}") from None
        except SvgError as fault:
            raise SvgError(f"{name or shown(wanted)}: {fault}") from None

    def _drawing(self, name: str) -> Element:
        """A file's outermost element."""
        if name not in self._drawings:
            try:
                self._contents[name] = self._read(name)
                self._drawings[name] = parse_svg(self._contents[name])
            except SvgError as fault:
                self._drawings[name] = fault
        drawing = self._drawings[name]
        if isinstance(drawing, SvgError):
            raise drawing
        return drawing

    def _read(self, name: str) -> bytes:
        path = self._path(name)
        try:
            content = read_bytes(path, name, "an SVG file", MAX_BYTES)
        except InputError as error:
            raise SvgError(error.faults[0].message) from None
        if len(content) > MAX_BYTES:
            raise SvgError(f"is larger than {MAX_BYTES // 1024**2} MiB")
        return content

    def _path(self, name: str) -> Path:
        """The file of that name, if it lies in the folder or below it, and is a file."""
        parts = PurePosixPath(name)
        if not name.lower().endswith(".svg"):
            raise SvgError("expected the name of an SVG file, such as shapes.svg or shapes.svg#A")
        if parts.is_absolute() or ".." in parts.parts or "\\" in name or ":" in name:
            raise SvgError(_ELSEWHERE)
        path = self._folder / name
        try:
            real = path.resolve()
            if not real.is_relative_to(self._folder.resolve()):
                raise SvgError(f"is a link that leads elsewhere; {_HERE}")
            if not real.exists():
                raise SvgError(f"there is no such file; {_HERE}")
            if not real.is_file():
                raise SvgError("is no file; expected an SVG file")
        except (OSError, RuntimeError) as error:  # a name too long, links in a circle
            raise SvgError(f"cannot be read: {shown(str(error))}") from None
        return path


_HERE = "SVG files lie beside the set file, or in a folder below"
_ELSEWHERE = f"leads elsewhere; {_HERE}, and are named with / between folders"


def _hint(top: Element) -> str:
    """What is often meant otherwise: a drawing with a size in mm, but in pixels."""
    return "" if "viewBox" in top.attributes else "; without a viewBox it is drawn in 1/96 inches"


def _rings_mm(way: list[Element]) -> list[list[CornerMm]]:
    """The rings of a shape in mm, from the page's top left, y up."""
    shape = way[-1]
    try:
        to_paper = page(way[0])
    except SvgError as fault:
        way[0].refuse(str(fault))
    to_user = transform_of(way[1:])
    rings = []
    for line in lines_of(shape):
        corners = [applied(to_paper, *applied(to_user, x, y)) for x, y in line.corners]
        first, last = corners[0], corners[-1]
        returns = len(corners) > 1 and math.dist(first, last) <= _CLOSED_MM
        if not line.closed and not returns:
            shape.refuse("is open: its last corner is not its first; close it with Z")
        rings.append([(x, 0 - y) for x, y in (corners[:-1] if returns else corners)])
    return rings
