"""What a file of impossible shapes says: one proof for each of many, read but not yet believed.

Every shape is carried to itself by the eight symmetries of the square about a centre, so one cell
of each orbit says which shape it is. A *mixed* one lies on two lattices, half a unit apart.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from fabkit.certify.certificate import DrawnPiece
from fabkit.certify.node import Node
from fabkit.certify.reading import (
    MAX_COORDINATE,
    MAX_LISTS,
    fields_of_file,
    is_frame_point,
    pieces_of,
    refuse_corners,
)
from fabkit.core.errors import shown

KIND = "fabkit impossible shapes"
#: Half a unit in frame steps: where the centre is that is the centre of a square.
HALF_UNITS = {"square": 1, "quarter-square": 3}

FramePoint = tuple[int, int]


@dataclass(frozen=True)
class ShapeProof:
    """A shape, and what the search branched on that found no way to tile it.

    Attributes:
        cells: for each centre the centroids of some cells, one of each orbit.
        branch_first: the kind at the root, of which one placement of each orbit is tried; None
            when all are.
        items: what was branched on, in preorder.
        sha256: the hash by which the proof is known.
    """

    cells: tuple[tuple[FramePoint, ...], ...]
    branch_first: int | None
    items: tuple[int, ...]
    sha256: str

    @property
    def a_cell(self) -> str:
        """A cell of the shape, for messages."""
        return next(str(list(cell)) for cells in self.cells for cell in cells)


@dataclass(frozen=True)
class ImpossibleShapes:
    """A file of impossible shapes.

    Attributes:
        source: the file, for messages.
        set: label: the set's name.
        lattice: of squares, or of their quarters.
        flips: whether pieces may be turned over.
        centres: of the symmetries, in frame points; one, or two that are one point of the plane,
            each on a lattice of its own.
        pieces: all of which every shape would have to hold.
        plain: the pieces as they stood in the file.
        shapes: the proofs.
    """

    source: str
    set: str
    lattice: str
    flips: bool
    centres: tuple[FramePoint, ...]
    pieces: tuple[DrawnPiece, ...]
    plain: list[dict[str, Any]]
    shapes: tuple[ShapeProof, ...]

    @property
    def parity(self) -> str:
        """``even`` about a corner of the grid, ``odd`` about the centre of a square, or ``mixed``.

        Example:
            >>> shapes_of({
            ...     "schema": 1, "kind": KIND, "set": "mine", "lattice": "square", "flips": False,
            ...     "centres": [[1, 1]], "shapes": [],
            ...     "pieces": [{"id": "a", "forms": [[[[0, 0], [2, 0], [2, 2], [0, 2]]]]}],
            ... }, "mine.json").parity
            'odd'
        """
        if len(self.centres) == 2:
            return "mixed"
        return "odd" if self.centres[0][0] else "even"

    @property
    def sha256(self) -> str:
        """One hash for all the proofs, whatever their order."""
        return _sha256("\n".join(sorted(shape.sha256 for shape in self.shapes)))


def is_of_shapes(document: Any) -> bool:
    """Whether a JSON document says that it is a file of impossible shapes.

    Example:
        >>> is_of_shapes({"kind": "fabkit impossible shapes"}), is_of_shapes([])
        (True, False)
    """
    return isinstance(document, dict) and document.get("kind") == KIND


def shapes_of(document: Any, source: str) -> ImpossibleShapes:
    """The impossible shapes that a JSON document holds.

    Args:
        document: what `fabkit.certify.reading.read_document` gave.
        source: its name in messages.

    Returns:
        The shapes, well formed; whether the proofs hold is for `fabkit.certify.impossible`.

    Raises:
        InputError: at the first place that is not as it should be.
    """
    top = Node(source, "", document)
    if not is_of_shapes(document):
        top.fail(f'holds no impossible shapes; expected an object with "kind": "{KIND}"')
    fields = fields_of_file(top, "set", "lattice", "flips", "centres", "pieces", "shapes")
    lattice = fields["lattice"].choice(*HALF_UNITS)
    centres = _centres(fields["centres"], HALF_UNITS[lattice])
    pieces = pieces_of(fields["pieces"])
    refuse_corners(top, (form for piece in pieces for form in piece.forms))
    shapes = fields["shapes"].entries("shapes", 0, MAX_LISTS)
    return ImpossibleShapes(
        source=source,
        set=fields["set"].text(),
        lattice=lattice,
        flips=fields["flips"].flag(),
        centres=centres,
        pieces=pieces,
        plain=fields["pieces"].value,
        shapes=tuple(_shape(one, len(centres)) for one in shapes),
    )


def _centres(node: Node, half: int) -> tuple[FramePoint, ...]:
    even, odd = [0, 0], [half, half]
    plain = node.value
    known = ([even], [odd], [even, odd])
    if plain not in known or any(type(at) is not int for centre in plain for at in centre):
        node.fail(f"expected {known[0]}, {known[1]} or {known[2]}, found {shown(plain)}")
    return tuple((x, y) for x, y in plain)


def _shape(node: Node, centres: int) -> ShapeProof:
    fields = node.fields("cells", "branch_first", "items")
    parts = fields["cells"].entries("lists of cells, one for each centre", centres, centres)
    cells = tuple(map(_cells, parts))
    if not any(cells):
        fields["cells"].fail("are none; a shape has at least one")
    first = fields["branch_first"]
    return ShapeProof(
        cells,
        None if first.value is None else first.whole(0),
        fields["items"].wholes(0),
        _sha256(json.dumps(node.value, sort_keys=True, separators=(",", ":"))),
    )


def _cells(node: Node) -> tuple[FramePoint, ...]:
    """There may be a million cells in all, so no node is made of each that is right."""
    if not isinstance(node.value, list):
        node.expected("a list of cells")
    if not all(map(is_frame_point, node.value)):
        _refuse_cells(node.entries("cells", 0, len(node.value)))
    return tuple((x, y) for x, y in node.value)


def _refuse_cells(entries: Iterable[Node]) -> None:
    limits = f"from {-MAX_COORDINATE} to {MAX_COORDINATE}"
    for cell in entries:
        if not is_frame_point(cell.value):
            cell.expected(f"a cell [x, y] of whole numbers {limits}")


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
