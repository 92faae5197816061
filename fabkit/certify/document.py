"""What the checker reads: certificates and files of impossible shapes, well formed but not believed.

A file may be anything, so it is held against models that know every key, within bounds on memory
and time. In files of shapes every shape is carried to itself by the eight symmetries of the square
about a centre, so one cell of each orbit says which shape it is. A *mixed* one lies on two
lattices, half a unit apart.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
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
MAX_BYTES = 512 * 1024 * 1024
#: Python spends some forty bytes on a number, and more on a list; so both are counted first.
MAX_NUMBERS = 30_000_000
MAX_LISTS = 2_000_000
MAX_PIECES = 1000
MAX_FORMS = 2000
MAX_RINGS = 2000
MAX_CORNERS = 200_000
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
Id = Annotated[StrictStr, Field(min_length=1, max_length=40), AfterValidator(_printable)]
Whole = Annotated[StrictInt, Field(ge=0)]
Coordinate = Annotated[StrictInt, Field(ge=-MAX_COORDINATE, le=MAX_COORDINATE)]
FramePoint = tuple[Coordinate, Coordinate]
Ring = Annotated[tuple[FramePoint, ...], Field(min_length=3, max_length=MAX_CORNERS)]
Rings = Annotated[tuple[Ring, ...], Field(min_length=1, max_length=MAX_RINGS)]
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

    id: Id
    forms: Annotated[tuple[Rings, ...], Field(min_length=1, max_length=MAX_FORMS)]


Pieces = Annotated[tuple[DrawnPiece, ...], Field(min_length=1, max_length=MAX_PIECES)]


class DrawnGiven(_Object):
    """A piece that lies already."""

    piece: Id
    outline: Rings


class Problem(_Object):
    """The challenge that is spoken of.

    Attributes:
        lattice: the lattice's name.
        flips: whether pieces may be turned over.
        leftover: whether cells of the region may stay uncovered.
        region: its outline.
        pieces: all of them, the given ones too.
        given: the pieces that lie already.
        pieces_count: how many pieces are used; None for all.
    """

    lattice: Literal["square", "quarter-square", "triangular"]
    flips: StrictBool
    leftover: StrictBool
    region: Rings
    pieces: Pieces
    given: Annotated[tuple[DrawnGiven, ...], Field(max_length=MAX_PIECES)]
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

    def _check_pieces(self, key: str, pieces: Pieces, more: Iterable[Rings] = ()) -> None:
        """Refuses ids that are not the pieces' own, and too much that is drawn."""
        first: dict[str, int] = {}
        for index, piece in enumerate(pieces):
            if first.setdefault(piece.id, index) != index:
                message = f"{shown(piece.id)} is the id of pieces[{first[piece.id]}] already"
                self._fail(f"{key}[{index}].id", message)
        forms = [form for piece in pieces for form in piece.forms]
        if len(forms) > MAX_FORMS:
            self._fail(key, f"have {len(forms)} forms; expected at most {MAX_FORMS}")
        corners = sum(len(ring) for rings in (*forms, *more) for ring in rings)
        if corners > MAX_CORNERS:
            self._fail(key, f"have {corners} corners; expected at most {MAX_CORNERS}")


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
        """Refuses parts that do not belong together.

        Raises:
            InputError: when there are some.
        """
        problem, claim, argument = self.problem, self.claim, self.argument
        outlines = (problem.region, *(given.outline for given in problem.given))
        self._check_pieces("problem.pieces", problem.pieces, outlines)
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

    Attributes:
        cells: for each centre the centroids of some cells, one of each orbit.
        branch_first: the kind at the root, of which one placement of each orbit is tried; None
            when all are.
        items: what was branched on, in preorder.
    """

    cells: Annotated[tuple[tuple[FramePoint, ...], ...], Field(fail_fast=True)]
    branch_first: Whole | None
    items: Items

    @property
    def sha256(self) -> str:
        """The hash by which the proof is known."""
        return _json_sha256(self.plain)

    @property
    def a_cell(self) -> str:
        """A cell of the shape, for messages."""
        return next(str(list(cell)) for cells in self.cells for cell in cells)


class ImpossibleShapes(_File):
    """A file of impossible shapes.

    Attributes:
        lattice: of squares, or of their quarters.
        flips: whether pieces may be turned over.
        centres: of the symmetries, in frame points; one, or two that are one point of the plane,
            each on a lattice of its own.
        pieces: all of which every shape would have to hold.
        shapes: the proofs.
    """

    kind: Literal["fabkit impossible shapes"]
    lattice: Literal["square", "quarter-square"]
    flips: StrictBool
    centres: tuple[FramePoint, ...]
    pieces: Pieces
    shapes: Annotated[tuple[ShapeProof, ...], Field(max_length=MAX_LISTS, fail_fast=True)]

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
        return _sha256("\n".join(sorted(shape.sha256 for shape in self.shapes)))

    def check(self) -> None:
        """Refuses parts that do not belong together.

        Raises:
            InputError: when there are some.
        """
        even, odd = (0, 0), (HALF_UNITS[self.lattice],) * 2
        if self.centres not in ((even,), (odd,), (even, odd)):
            known = f"[{list(even)}], [{list(odd)}] or [{list(even)}, {list(odd)}]"
            found = shown([list(centre) for centre in self.centres])
            self._fail("centres", f"expected {known}, found {found}")
        self._check_pieces("pieces", self.pieces)
        for index, shape in enumerate(self.shapes):
            key, parts = f"shapes[{index}].cells", len(self.centres)
            if len(shape.cells) != parts:
                found = f"has {len(shape.cells)} lists of cells"
                self._fail(key, f"{found}; expected {parts}, one for each centre")
            if not any(shape.cells):
                self._fail(key, "are none; a shape has at least one")


Proofs = Certificate | ImpossibleShapes


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _json_sha256(plain: dict[str, Any]) -> str:
    """The hash of the shortest JSON, with sorted keys."""
    return _sha256(json.dumps(plain, sort_keys=True, separators=(",", ":")))


def problem_sha256(problem: Problem) -> str:
    """The checksum of a problem."""
    return _json_sha256(problem.plain)


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
    if content.count(b",") > MAX_NUMBERS:
        raise InputError.of(source, f"holds more than {MAX_NUMBERS} numbers")
    if content.count(b"[") + content.count(b"{") > MAX_LISTS:
        raise InputError.of(source, f"holds more than {MAX_LISTS} lists")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError.of(source, f"is not UTF-8 text (byte {error.start})") from None
    return parse(strict_json(text, source), source)


def parse(document: Any, source: str) -> Proofs:
    """The proofs that a JSON document holds; whether they hold is for `fabkit.certify.check`.

    Raises:
        InputError: when it is not as it should be.

    Example:
        >>> parse({
        ...     "schema": 1, "kind": SHAPES_KIND, "set": "mine", "lattice": "square",
        ...     "flips": False, "centres": [[1, 1]], "shapes": [],
        ...     "pieces": [{"id": "a", "forms": [[[[0, 0], [2, 0], [2, 2], [0, 2]]]]}],
        ... }, "mine.json").parity
        'odd'
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
        lines = _without_echoes(error.errors(include_url=False))
        faults = [Fault(_place(line["loc"]), _sentence(line)) for line in lines[:_MOST_FAULTS]]
        raise InputError(source, faults, max(0, len(lines) - _MOST_FAULTS)) from None
    found._source = source
    found.check()
    return found


#: Pydantic names the variant of a claim or an argument; a file does not.
_VARIANTS = {
    "argument": ("area", "colouring", "transcript"),
    "claim": ("impossible", "unique", "count"),
}
_TYPES = {
    "int_type": "a whole number",
    "bool_type": "true or false",
    "string_type": "a text",
    "tuple_type": "a list",
    "model_type": "an object",
    "model_attributes_type": "an object",
}
_KEYS = sorted(
    {field.alias or name for model in (Certificate, ImpossibleShapes, Problem, DrawnPiece, DrawnGiven,
     Counted, ByColouring, ByTranscript, ShapeProof) for name, field in model.model_fields.items()}
)  # fmt: skip


def _without_echoes(lines: Sequence[Any]) -> list[Any]:
    """Faults without those that only follow from others: a misspelt key is not also missing, nor
    is a list too short whose entries are bad."""
    around = {line["loc"][:depth] for line in lines for depth in range(len(line["loc"]))}
    meant = {
        (*line["loc"][:-1], nearest(str(line["loc"][-1]), _KEYS))
        for line in lines
        if line["type"] == "extra_forbidden"
    }
    echoes = around | meant
    return [one for one in lines if one["type"] == "extra_forbidden" or one["loc"] not in echoes]


def _place(steps: tuple[int | str, ...]) -> str:
    """A place in the file, such as ``problem.pieces[3].id``."""
    place = ""
    for index, step in enumerate(steps):
        if isinstance(step, int):
            place += f"[{step}]"
        elif not (index and step in _VARIANTS.get(str(steps[index - 1]), ())):
            place += ("." if place else "") + cut(printable(step))
    return place


def _sentence(line: Any) -> str:
    """What is wrong, from what pydantic found."""
    kind, value, context = line["type"], line["input"], line.get("ctx", {})
    found = "an object" if isinstance(value, dict) else shown(value)
    if isinstance(value, list) and len(value) > 4:
        found = f"a list of {len(value)}"
    if "tag" in context or value is None:
        found = shown(context["tag"]) if "tag" in context else "null"
    choices = str(context.get("expected") or context.get("expected_tags")).replace("'", '"')
    choices = " or ".join(choices.rsplit(", ", 1)) if " or " not in choices else choices
    size = context.get("actual_length") or len(value if isinstance(value, str) else "")
    known = [key for key in _KEYS if key != line["loc"][-1]]
    hint = did_you_mean(str(line["loc"][-1]), known)
    least, most = context.get("min_length"), context.get("max_length")
    sentences = {
        **{type_: f"expected {what}, found {found}" for type_, what in _TYPES.items()},
        "missing": "is missing",
        "extra_forbidden": f"unknown key{hint}",
        "literal_error": f"expected {choices}, found {found}",
        "union_tag_invalid": f"expected {choices}, found {found}",
        "union_tag_not_found": f"lacks {context.get('discriminator')}",
        "greater_than_equal": f"is {found}; expected at least {context.get('ge')}",
        "less_than_equal": f"is {found}; expected at most {context.get('le')}",
        "too_short": f"has {size} entries; expected at least {least}",
        "too_long": f"has {size} entries; expected at most {most}",
        "string_too_short": f"has {size} characters; expected at least {least}",
        "string_too_long": f"has {size} characters; expected at most {most}",
        "string_unicode": f"{found} holds characters that cannot be printed",
        "value_error": str(context.get("error")),
    }
    return sentences.get(kind, str(line["msg"]))
