"""The models of certificates and of files of impossible shapes: their form, not their truth.

Files are untrusted, so they are validated strictly. In files of shapes every shape is symmetric
under the eight symmetries of the square about a centre, so one cell of each orbit determines it. A
*mixed* shape lies on two lattices, half a unit apart.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    ConfigDict,
    Field,
    PrivateAttr,
    StrictBool,
    StrictInt,
)

from fabkit.core.documents import Table, Text, read_document
from fabkit.core.errors import ErrorList, InputError, escape, quote, truncate
from fabkit.core.formats import SCHEMA_VERSION
from fabkit.core.hashes import json_sha256
from fabkit.core.parsing import read_text, strict_json

#: The key ``kind`` of a certificate.
KIND = "fabkit certificate"
#: The key ``kind`` of a file of impossible shapes.
SHAPES_KIND = "fabkit impossible shapes"
MAX_BYTES = 256 * 1024 * 1024
#: In frame points: beyond the limits of set files.
MAX_COORDINATE = 500_000
MAX_WEIGHT = 1000
#: Limit on symmetries, for counts up to symmetry.
MAX_SYMMETRIES = 1000
#: Half a unit in frame steps: the coordinates of the centre of a square.
HALF_UNITS = {"square": 1, "quarter-square": 3}


Name = Annotated[Text, Field(max_length=200)]
NonNegativeInt = Annotated[StrictInt, Field(ge=0)]
Coordinate = Annotated[StrictInt, Field(ge=-MAX_COORDINATE, le=MAX_COORDINATE)]
FramePoint = tuple[Coordinate, Coordinate]
Ring = Annotated[tuple[FramePoint, ...], Field(min_length=3)]
Rings = Annotated[tuple[Ring, ...], Field(min_length=1)]
#: Items branched on, in preorder; there may be millions, so only the first fault is reported.
Items = Annotated[tuple[NonNegativeInt, ...], Field(fail_fast=True)]
Version = Annotated[StrictInt, Field(ge=SCHEMA_VERSION, le=SCHEMA_VERSION)]


class _Object(Table):
    """An object of a file."""

    model_config = ConfigDict(frozen=True)

    @property
    def raw(self) -> dict[str, Any]:
        """The object as in the file."""
        return self.model_dump(mode="json", exclude_unset=True)


class PieceForms(_Object):
    """A piece with its flat forms, each an outline in frame points.

    `marks` are the outlines of the cells with each mark, `back` those where it is turned over.
    """

    id: Name
    forms: Annotated[tuple[Rings, ...], Field(min_length=1)]
    marks: dict[str, Rings] = Field({})
    back: dict[str, Rings] = Field({})
    colour: Text = ""


Pieces = Annotated[tuple[PieceForms, ...], Field(min_length=1)]


class GivenPiece(_Object):
    """A given piece."""

    piece: Name
    outline: Rings


class ClueStatement(_Object):
    """Cells, and the piece, the mark and the colour that must cover each; empty for any."""

    outline: Rings
    piece: Text = ""
    mark: Text = ""
    colour: Text = ""


class ProblemStatement(_Object):
    """The challenge.

    `flips` allows turning pieces over, `open` is the number of cells that stay open; `pieces_count`
    is the number of pieces used, including given ones; None for all.
    """

    lattice: Literal[
        "square", "quarter-square", "hexagon", "triangle", "kite", "drafter", "triangular"
    ]
    flips: StrictBool
    region: Rings
    pieces: Pieces
    given: tuple[GivenPiece, ...]
    pieces_count: NonNegativeInt = None  # type: ignore[assignment]
    open: NonNegativeInt = 0
    clues: tuple[ClueStatement, ...] = ()


class DecisionClaim(_Object):
    """The claim that there is no solution, or exactly one."""

    answer: Literal["impossible", "unique"]

    @property
    def count(self) -> int:
        """The number of solutions claimed."""
        return int(self.answer == "unique")


class CountClaim(_Object):
    """The claim of a number of solutions: in all, with identical pieces distinguished, and up to
    symmetry (null if not claimed)."""

    answer: Literal["count"]
    count: NonNegativeInt
    count_labelled: NonNegativeInt | None
    count_up_to_symmetry: NonNegativeInt | None


class AreaArgument(_Object):
    """The pieces cannot add up to the region's area."""

    by: Literal["area"]


class ColouringArgument(_Object):
    """The pieces cannot add up to the region's weight, one for each remaining cell."""

    by: Literal["colouring"]
    weights: tuple[Annotated[StrictInt, Field(ge=-MAX_WEIGHT, le=MAX_WEIGHT)], ...]


class TranscriptArgument(_Object):
    """A search that can be replayed.

    Attributes:
        branch_first: the kind at the root, of which one placement of each orbit is tried; None
            if no symmetry is used.
        items: the items branched on, in preorder.
        fixed: for each symmetry but the identity, a search for the solutions that it maps to
            themselves; None unless a count up to symmetry is claimed.
    """

    by: Literal["transcript"]
    branch_first: NonNegativeInt | None
    items: Items
    fixed: Annotated[tuple[Items, ...], Field(max_length=MAX_SYMMETRIES - 1)] | None


class _File(_Object):
    """A whole file; `set` is the name of the set."""

    schema_: Version = Field(alias="schema")
    set: Name
    _source: str = PrivateAttr(default="")

    @property
    def source(self) -> str:
        """The file's name in messages."""
        return self._source

    def _fail(self, key: str, message: str) -> None:
        raise InputError.of(self._source, message, key)

    def _check_ids(self, key: str, pieces: Pieces) -> None:
        ids = [piece.id for piece in pieces]
        for index, name in enumerate(ids):
            if ids.index(name) != index:
                message = f"{quote(name)} is already the id of pieces[{ids.index(name)}]"
                self._fail(f"{key}[{index}].id", message)


class Certificate(_File):
    """A certificate file: a problem, a claim about it, and an argument."""

    kind: Literal["fabkit certificate"]
    challenge: Name
    problem: ProblemStatement
    problem_sha256: Name
    claim: Annotated[DecisionClaim | CountClaim, Field(discriminator="answer")]
    argument: Annotated[
        AreaArgument | ColouringArgument | TranscriptArgument, Field(discriminator="by")
    ]

    @property
    def name(self) -> str:
        """The subject, for messages."""
        return f"{self.set} {self.challenge}"

    def check(self) -> None:
        """Raise `InputError` if parts contradict each other."""
        problem, claim, argument = self.problem, self.claim, self.argument
        self._check_ids("problem.pieces", problem.pieces)
        for index, given in enumerate(problem.given):
            if all(given.piece != piece.id for piece in problem.pieces):
                key = f"problem.given[{index}].piece"
                self._fail(key, f"there is no piece {quote(given.piece)}")
        if problem.pieces_count is not None:
            if not len(problem.given) <= problem.pieces_count <= len(problem.pieces):
                expected = f"expected {len(problem.given)} to {len(problem.pieces)}"
                self._fail("problem.pieces_count", f"is {problem.pieces_count}; {expected}")
            if problem.open:
                self._fail("problem.open", "must be 0 where only some pieces are used")
        if not isinstance(argument, TranscriptArgument):
            if claim.answer != "impossible":
                only = "can only show that a challenge is impossible"
                self._fail("argument", f'"{argument.by}" {only}, not "{claim.answer}"')
            return
        up_to = isinstance(claim, CountClaim) and claim.count_up_to_symmetry is not None
        if (argument.fixed is not None) != up_to:
            needs = "given, since a count" if up_to else "null, since no count"
            self._fail("argument.fixed", f"must be {needs} up to symmetry is claimed")


class ShapeProof(_Object):
    """A shape, and the search that proves it impossible.

    `cells` holds for each centre the centroid of one cell of each orbit; for the rest see
    `TranscriptArgument`.
    """

    cells: Annotated[tuple[tuple[FramePoint, ...], ...], Field(fail_fast=True)]
    branch_first: NonNegativeInt | None
    items: Items

    @property
    def sha256(self) -> str:
        """The hash of the proof."""
        return json_sha256(self.raw)

    @property
    def example_cell(self) -> str:
        """A cell of the shape, for messages."""
        return next(str(list(cell)) for cells in self.cells for cell in cells)


class ImpossibleShapes(_File):
    """A file of shapes that all the pieces together cannot tile.

    `centres` are the centres of symmetry, in frame points: one, or two for one point of the plane,
    each on its own lattice.
    """

    kind: Literal["fabkit impossible shapes"]
    lattice: Literal["square", "quarter-square"]
    flips: StrictBool
    centres: tuple[FramePoint, ...]
    pieces: Pieces
    shapes: Annotated[tuple[ShapeProof, ...], Field(fail_fast=True)]

    @property
    def parity(self) -> str:
        """``even`` about a corner of the grid, ``odd`` about the centre of a square, or ``mixed``."""
        if len(self.centres) == 2:
            return "mixed"
        return "odd" if self.centres[0][0] else "even"

    @property
    def name(self) -> str:
        """The subject, for messages."""
        return self.set

    @property
    def sha256(self) -> str:
        """One hash of all proofs, independent of their order."""
        text = "\n".join(sorted(shape.sha256 for shape in self.shapes))
        return hashlib.sha256(text.encode()).hexdigest()

    def check(self) -> None:
        """Raise `InputError` if parts contradict each other."""
        even, odd = (0, 0), (HALF_UNITS[self.lattice],) * 2
        if self.centres not in ((even,), (odd,), (even, odd)):
            known = f"[{list(even)}], [{list(odd)}] or [{list(even)}, {list(odd)}]"
            stated = quote([list(centre) for centre in self.centres])
            self._fail("centres", f"expected {known}, found {stated}")
        self._check_ids("pieces", self.pieces)
        for index, shape in enumerate(self.shapes):
            key = f"shapes[{index}].cells"
            parts = len(self.centres)
            if len(shape.cells) != parts:
                count = f"has {len(shape.cells)} lists of cells"
                self._fail(key, f"{count}; expected {parts}, one for each centre")
            if not any(shape.cells):
                self._fail(key, "is empty; a shape needs at least one cell")


Proofs = Certificate | ImpossibleShapes


# --- reading ----------------------------------------------------------------------------------------


def read(path: Path) -> Proofs:
    """Read a file of proofs.

    Raises:
        InputError: if it cannot be read, is too large, or is not such a file; with all errors.
    """
    source = escape(str(path))
    text = read_text(path, source, "a certificate", MAX_BYTES)
    return parse(strict_json(text, source), source)


def parse(document: Any, source: str) -> Proofs:
    """Parse the proofs in a JSON document, without verifying them.

    Raises:
        InputError: when it is not as it should be.
    """
    kind = document.get("kind") if isinstance(document, dict) else None
    if kind not in (KIND, SHAPES_KIND):
        message = f'is not a certificate; expected an object with "kind": "{KIND}"'
        raise InputError.of(source, message)
    schema = document.get("schema")
    if type(schema) is int and schema > SCHEMA_VERSION:
        newer = f"schema {truncate(quote(schema))}, this one knows {SCHEMA_VERSION}"
        raise InputError.of(source, f"was written by a newer fabkit ({newer}); update fabkit")
    model: type[Any] = Certificate if kind == KIND else ImpossibleShapes
    errors = ErrorList(source)
    proofs: Any = read_document(model, document, errors)
    errors.raise_if_any()
    proofs._source = source
    proofs.check()
    valid: Proofs = proofs
    return valid
