"""What the checker reads: certificates and files of impossible shapes, well formed but not believed.

A file may be anything, so it is held against models that know every key. In files of shapes every
shape is carried to itself by the eight symmetries of the square about a centre, so one cell of each
orbit says which shape it is. A *mixed* one lies on two lattices, half a unit apart.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    StrictBool,
    StrictInt,
    StrictStr,
    ValidationError,
)

from fabkit.core.errors import Fault, InputError, cut, did_you_mean, nearest, printable, shown
from fabkit.core.files import SCHEMA, read_bytes
from fabkit.core.parsing import strict_json

KIND, SHAPES_KIND = "fabkit certificate", "fabkit impossible shapes"
MAX_BYTES = 256 * 1024 * 1024
#: In frame points: farther out than any set file may draw.
MAX_COORDINATE = 100_000
MAX_WEIGHT = 1000
_MOST_FAULTS = 20
#: Half a unit in frame steps: where the centre is that is the centre of a square.
HALF_UNITS = {"square": 1, "quarter-square": 3}


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError(f"{shown(text)} holds characters that cannot be printed")
    return text


Name = Annotated[StrictStr, Field(min_length=1, max_length=200), AfterValidator(_printable)]
Whole = Annotated[StrictInt, Field(ge=0)]
Coordinate = Annotated[StrictInt, Field(ge=-MAX_COORDINATE, le=MAX_COORDINATE)]
FramePoint = tuple[Coordinate, Coordinate]
Ring = Annotated[tuple[FramePoint, ...], Field(min_length=3)]
Rings = Annotated[tuple[Ring, ...], Field(min_length=1)]
#: What a search branched on, in preorder; there may be millions, and one fault says enough.
Items = Annotated[tuple[Whole, ...], Field(fail_fast=True)]
Version = Annotated[StrictInt, Field(ge=SCHEMA, le=SCHEMA)]


class _Object(BaseModel):
    """An object of a file; it has these keys and no others."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @property
    def plain(self) -> dict[str, Any]:
        """The object as it stands in the file."""
        return self.model_dump(mode="json", exclude_unset=True)


class DrawnPiece(_Object):
    """A piece as the file draws it: its flat forms, each an outline in frame points."""

    id: Name
    forms: Annotated[tuple[Rings, ...], Field(min_length=1)]


Pieces = Annotated[tuple[DrawnPiece, ...], Field(min_length=1)]


class DrawnGiven(_Object):
    """A piece that lies already."""

    piece: Name
    outline: Rings


class Problem(_Object):
    """The challenge that is spoken of.

    `flips` says whether pieces may be turned over, `leftover` whether cells may stay uncovered,
    `pieces_count` how many of the pieces are used, the given ones too; None for all.
    """

    lattice: Literal["square", "quarter-square", "triangular"]
    flips: StrictBool
    leftover: StrictBool
    region: Rings
    pieces: Pieces
    given: tuple[DrawnGiven, ...]
    pieces_count: Whole = None  # type: ignore[assignment]


class NoSolution(_Object):
    """The claim that there is no solution, or exactly one."""

    answer: Literal["impossible", "unique"]

    @property
    def count(self) -> int:
        """How many solutions are claimed."""
        return int(self.answer == "unique")


class Counted(_Object):
    """The claim that there are so many: as they lie, with identical pieces told apart, and with
    symmetric ones counted once (null when not claimed)."""

    answer: Literal["count"]
    count: Whole
    count_labelled: Whole | None
    count_up_to_symmetry: Whole | None


class ByArea(_Object):
    """The pieces cannot add up to the region's area."""

    by: Literal["area"]


class ByColouring(_Object):
    """The pieces cannot add up to the region's weight, one for each remaining cell."""

    by: Literal["colouring"]
    weights: tuple[Annotated[StrictInt, Field(ge=-MAX_WEIGHT, le=MAX_WEIGHT)], ...]


class ByTranscript(_Object):
    """A search that can be followed.

    Attributes:
        branch_first: the kind at the root, of which one placement of each orbit is tried; None
            when no symmetry is used.
        items: what was branched on, in preorder.
        fixed: for each symmetry but the identity a search for the solutions that it maps to
            themselves; None unless solutions up to symmetry are claimed.
    """

    by: Literal["transcript"]
    branch_first: Whole | None
    items: Items
    fixed: Annotated[tuple[Items, ...], Field(max_length=11)] | None


class _File(_Object):
    """A whole file; `set` is the name of the set it speaks of."""

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
                message = f"{shown(name)} is the id of pieces[{ids.index(name)}] already"
                self._fail(f"{key}[{index}].id", message)


class Certificate(_File):
    """A certificate file: a problem, what is claimed of it, and why that is so."""

    kind: Literal["fabkit certificate"]
    challenge: Name
    problem: Problem
    problem_sha256: Name
    claim: Annotated[NoSolution | Counted, Field(discriminator="answer")]
    argument: Annotated[ByArea | ByColouring | ByTranscript, Field(discriminator="by")]

    @property
    def name(self) -> str:
        """What it is about, for messages."""
        return f"{self.set} {self.challenge}"

    def check(self) -> None:
        """Refuses parts that do not belong together, with InputError."""
        problem, claim, argument = self.problem, self.claim, self.argument
        self._check_ids("problem.pieces", problem.pieces)
        for index, given in enumerate(problem.given):
            if all(given.piece != piece.id for piece in problem.pieces):
                key = f"problem.given[{index}].piece"
                self._fail(key, f"there is no piece {shown(given.piece)}")
        if problem.pieces_count is not None:
            if not len(problem.given) <= problem.pieces_count <= len(problem.pieces):
                most = f"expected {len(problem.given)} to {len(problem.pieces)}"
                self._fail("problem.pieces_count", f"is {problem.pieces_count}; {most}")
            if problem.leftover:
                self._fail("problem.leftover", "must be false where only some pieces are used")
        if not isinstance(argument, ByTranscript):
            if claim.answer != "impossible":
                only = "can only show that a challenge is impossible"
                self._fail("argument", f'"{argument.by}" {only}, not "{claim.answer}"')
            return
        up_to = isinstance(claim, Counted) and claim.count_up_to_symmetry is not None
        if (argument.fixed is not None) != up_to:
            needs = "given, since a count" if up_to else "null, since no count"
            self._fail("argument.fixed", f"must be {needs} up to symmetry is claimed")


class ShapeProof(_Object):
    """A shape, and what the search branched on that found no way to tile it.

    `cells` holds for each centre the centroids of some cells, one of each orbit; for the rest see
    `ByTranscript`.
    """

    cells: Annotated[tuple[tuple[FramePoint, ...], ...], Field(fail_fast=True)]
    branch_first: Whole | None
    items: Items

    @property
    def sha256(self) -> str:
        """The hash by which the proof is known."""
        return json_sha256(self.plain)

    @property
    def a_cell(self) -> str:
        """A cell of the shape, for messages."""
        return next(str(list(cell)) for cells in self.cells for cell in cells)


class ImpossibleShapes(_File):
    """A file of impossible shapes, each of which would have to hold all the pieces.

    `centres` are those of the symmetries, in frame points; one, or two that are one point of the
    plane, each on a lattice of its own.
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
        """What it is about, for messages."""
        return self.set

    @property
    def sha256(self) -> str:
        """One hash for all the proofs, whatever their order."""
        text = "\n".join(sorted(shape.sha256 for shape in self.shapes))
        return hashlib.sha256(text.encode()).hexdigest()

    def check(self) -> None:
        """Refuses parts that do not belong together, with InputError."""
        even, odd = (0, 0), (HALF_UNITS[self.lattice],) * 2
        if self.centres not in ((even,), (odd,), (even, odd)):
            known = f"[{list(even)}], [{list(odd)}] or [{list(even)}, {list(odd)}]"
            found = shown([list(centre) for centre in self.centres])
            self._fail("centres", f"expected {known}, found {found}")
        self._check_ids("pieces", self.pieces)
        for index, shape in enumerate(self.shapes):
            key, parts = f"shapes[{index}].cells", len(self.centres)
            if len(shape.cells) != parts:
                found = f"has {len(shape.cells)} lists of cells"
                self._fail(key, f"{found}; expected {parts}, one for each centre")
            if not any(shape.cells):
                self._fail(key, "are none; a shape has at least one")


Proofs = Certificate | ImpossibleShapes


def json_sha256(plain: dict[str, Any]) -> str:
    """The hash of the shortest JSON, with sorted keys."""
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


# --- reading ----------------------------------------------------------------------------------------


def read(path: Path) -> Proofs:
    """Reads a file of proofs.

    Raises:
        InputError: when it cannot be read, is too large, or is none; with every place, what was
            found and what was expected.
    """
    source = printable(str(path))
    content = read_bytes(path, source, "a certificate", MAX_BYTES)
    if len(content) > MAX_BYTES:
        raise InputError.of(source, f"is larger than {MAX_BYTES // 1024**2} MiB")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError.of(source, f"is not UTF-8 text (byte {error.start})") from None
    return parse(strict_json(text, source), source)


def parse(document: Any, source: str) -> Proofs:
    """The proofs that a JSON document holds; whether they hold is for `fabkit.certify.check`.

    Raises:
        InputError: when it is not as it should be.
    """
    kind = document.get("kind") if isinstance(document, dict) else None
    if kind not in (KIND, SHAPES_KIND):
        message = f'is not a certificate; expected an object with "kind": "{KIND}"'
        raise InputError.of(source, message)
    schema = document.get("schema")
    if type(schema) is int and schema > SCHEMA:
        newer = f"schema {cut(shown(schema))}, this one knows {SCHEMA}"
        raise InputError.of(source, f"was written by a newer fabkit ({newer}); update fabkit")
    model = Certificate if kind == KIND else ImpossibleShapes
    try:
        found = model.model_validate(document)
    except ValidationError as error:
        faults = _faults(error.errors(include_url=False))
        more = max(0, len(faults) - _MOST_FAULTS)
        raise InputError(source, faults[:_MOST_FAULTS], more) from None
    found._source = source
    found.check()
    return found


_KEYS = sorted(
    {field.alias or name for model in (Certificate, ImpossibleShapes, Problem, DrawnPiece, DrawnGiven,
     Counted, ByColouring, ByTranscript, ShapeProof) for name, field in model.model_fields.items()}
)  # fmt: skip


def _faults(lines: Sequence[Any]) -> list[Fault]:
    """What pydantic found, in our words, without what only follows from others: a misspelt key is
    not also missing, nor is a list too short whose entries are bad."""
    misspelt = [line["loc"] for line in lines if line["type"] == "extra_forbidden"]
    echoes = {(*loc[:-1], nearest(str(loc[-1]), _KEYS)) for loc in misspelt}
    echoes |= {line["loc"][:depth] for line in lines for depth in range(len(line["loc"]))}
    kept = [one for one in lines if one["loc"] not in echoes]
    return [Fault(_place(one["loc"]), _sentence(one)) for one in kept]


def _place(steps: tuple[int | str, ...]) -> str:
    """A place in the file, such as ``problem.pieces[3].id``."""
    place = ""
    for index, step in enumerate(steps):
        if isinstance(step, int):
            place += f"[{step}]"
        elif index != 1 or steps[0] not in ("argument", "claim"):  # it is the variant's name
            place += ("." if place else "") + cut(printable(step))
    return place


def _sentence(line: Any) -> str:
    """What is wrong."""
    kind, said, value = line["type"], str(line["msg"]), line["input"]
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        return f"unknown key{did_you_mean(str(line['loc'][-1]), _KEYS)}"
    if kind == "value_error":
        return str(line["ctx"]["error"])
    said = said.replace(" after validation", "")
    found = "null" if value is None else shown(value)
    return f"{said[0].lower()}{said[1:]}, found {found}".replace("input should", "should")
