"""Reading a certificate file that may be anything, within bounds on memory and time."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

from fabkit.certify.certificate import (
    Answer,
    Argument,
    ByArea,
    ByColouring,
    ByTranscript,
    Certificate,
    Claim,
    DrawnGiven,
    DrawnPiece,
    Problem,
    Ring,
    Rings,
)
from fabkit.certify.node import Node
from fabkit.core.errors import InputError, cut, printable, shown
from fabkit.core.files import SCHEMA, read_bytes
from fabkit.core.parsing import strict_json

KIND = "fabkit certificate"
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


def read_certificate(path: Path) -> Certificate:
    """Reads a certificate file.

    Args:
        path: the file.

    Returns:
        The certificate, well formed; whether it holds is for `fabkit.certify.check.check`.

    Raises:
        InputError: when it cannot be read, is too large, or is not a certificate; with the
            place, what was found and what was expected.
    """
    return certificate_of(read_document(path), printable(str(path)))


def read_document(path: Path) -> Any:
    """Reads a file of proofs of any kind, as far as it is JSON.

    Args:
        path: the file.

    Returns:
        What `certificate_of` and `fabkit.certify.shapes.shapes_of` take.

    Raises:
        InputError: when it cannot be read, is too large, or is not JSON.
    """
    source = printable(str(path))
    return document_of(read_bytes(path, source, "a certificate", MAX_BYTES), source)


def document_of(content: bytes, source: str) -> Any:
    """Parses JSON strictly: no key twice, no NaN, no infinity, no document beyond measure.

    Args:
        content: the file's bytes.
        source: its name in messages.

    Returns:
        The document as plain dictionaries, lists and values.

    Raises:
        InputError: when it is not JSON, or too large.
    """
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
    return strict_json(text, source)


def certificate_of(document: Any, source: str) -> Certificate:
    """The certificate that a JSON document holds.

    Args:
        document: what `document_of` gave, or the same made in memory.
        source: its name in messages.

    Returns:
        The certificate.

    Raises:
        InputError: at the first place that is not as it should be.
    """
    top = Node(source, "", document)
    if not isinstance(document, dict) or document.get("kind") != KIND:
        top.fail(f'is not a certificate; expected an object with "kind": "{KIND}"')
    fields = fields_of_file(
        top, "set", "challenge", "problem", "problem_sha256", "claim", "argument"
    )
    claim = _claim(fields["claim"])
    return Certificate(
        source=source,
        set=fields["set"].text(),
        challenge=fields["challenge"].text(),
        problem=_problem(fields["problem"]),
        problem_sha256=fields["problem_sha256"].text(),
        claim=claim,
        argument=_argument(fields["argument"], claim),
    )


def fields_of_file(top: Node, *names: str) -> dict[str, Node]:
    """The fields of a whole file, beside those that every file has, which are checked here.

    Args:
        top: the file's object.
        names: of the others.

    Raises:
        InputError: when a newer fabkit wrote it, a field is missing, or there is another.
    """
    schema = top.value.get("schema")
    if type(schema) is int and schema > SCHEMA:
        newer = f"schema {cut(shown(schema))}, this one knows {SCHEMA}"
        top.fail(f"was written by a newer fabkit ({newer}); update fabkit")
    fields = top.fields("schema", "kind", *names)
    fields["schema"].whole(SCHEMA, SCHEMA)
    return fields


def pieces_of(node: Node) -> tuple[DrawnPiece, ...]:
    """The pieces of a list, each with an id of its own, in bounds on forms.

    Raises:
        InputError: at the first place that is not as it should be.
    """
    pieces = tuple(map(_piece, node.entries("pieces", 1, MAX_PIECES)))
    first: dict[str, int] = {}
    for index, piece in enumerate(pieces):
        if first.setdefault(piece.id, index) != index:
            twice = Node(node.source, f"{node.key}[{index}].id", piece.id)
            twice.fail(f"{shown(piece.id)} is the id of pieces[{first[piece.id]}] already")
    forms = sum(len(piece.forms) for piece in pieces)
    if forms > MAX_FORMS:
        node.fail(f"have {forms} forms; expected at most {MAX_FORMS}")
    return pieces


def refuse_corners(node: Node, outlines: Iterable[Rings]) -> None:
    """Refuses outlines that have too many corners in all."""
    corners = sum(len(ring) for rings in outlines for ring in rings)
    if corners > MAX_CORNERS:
        node.fail(f"has {corners} corners; expected at most {MAX_CORNERS}")


def _problem(node: Node) -> Problem:
    fields = node.fields("lattice", "flips", "leftover", "region", "pieces", "given")
    pieces = pieces_of(fields["pieces"])
    ids = {piece.id for piece in pieces}
    problem = Problem(
        lattice=fields["lattice"].choice("square", "quarter-square", "triangular"),
        flips=fields["flips"].flag(),
        leftover=fields["leftover"].flag(),
        region=_rings(fields["region"]),
        pieces=pieces,
        given=tuple(_given(one, ids) for one in fields["given"].entries("pieces", 0, MAX_PIECES)),
        plain=node.value,
    )
    outlines = [form for piece in pieces for form in piece.forms]
    refuse_corners(node, [*outlines, problem.region, *(given.outline for given in problem.given)])
    return problem


def _piece(node: Node) -> DrawnPiece:
    fields = node.fields("id", "forms")
    forms = fields["forms"].entries("forms", 1, MAX_FORMS)
    return DrawnPiece(fields["id"].text(longest=40), tuple(map(_rings, forms)))


def _given(node: Node, pieces: set[str]) -> DrawnGiven:
    fields = node.fields("piece", "outline")
    piece = fields["piece"].text(longest=40)
    if piece not in pieces:
        fields["piece"].fail(f"there is no piece {shown(piece)}")
    return DrawnGiven(piece, _rings(fields["outline"]))


def _rings(node: Node) -> Rings:
    return tuple(map(_ring, node.entries("rings", 1, MAX_RINGS)))


def _ring(node: Node) -> Ring:
    corners = []
    for corner in node.entries("corners", 3, MAX_CORNERS):
        point = corner.value
        if not is_frame_point(point):
            limits = f"from {-MAX_COORDINATE} to {MAX_COORDINATE}"
            corner.expected(f"a corner [x, y] of whole numbers {limits}")
        corners.append((point[0], point[1]))
    return tuple(corners)


def is_frame_point(value: object) -> bool:
    """Whether a value is a list ``[x, y]`` of coordinates."""
    return isinstance(value, list) and len(value) == 2 and all(map(_is_coordinate, value))


def _is_coordinate(value: object) -> bool:
    return type(value) is int and abs(value) <= MAX_COORDINATE


def _claim(node: Node) -> Claim:
    said = node.value.get("answer") if isinstance(node.value, dict) else None
    if said != "count":
        answer = node.fields("answer")["answer"].choice("impossible", "unique", "count")
        return Claim(cast(Answer, answer), count=0 if answer == "impossible" else 1)
    fields = node.fields("answer", "count", "count_labelled", "count_up_to_symmetry")
    upto = fields["count_up_to_symmetry"]
    return Claim(
        "count",
        fields["count"].whole(0),
        fields["count_labelled"].whole(0),
        None if upto.value is None else upto.whole(0),
    )


def _argument(node: Node, claim: Claim) -> Argument:
    way = node.value.get("by") if isinstance(node.value, dict) else None
    if way in ("area", "colouring") and claim.answer != "impossible":
        node.fail(f'"{way}" can only show that a challenge is impossible, not "{claim.answer}"')
    if way == "area":
        node.fields("by")
        return ByArea()
    if way == "colouring":
        return ByColouring(node.fields("by", "weights")["weights"].wholes(-MAX_WEIGHT, MAX_WEIGHT))
    fields = node.fields("by", "branch_first", "items", "fixed")
    fields["by"].choice("area", "colouring", "transcript")
    first, fixed = fields["branch_first"], fields["fixed"]
    if (fixed.value is None) != (claim.up_to_symmetry is None):
        needs = "null, since no count" if claim.up_to_symmetry is None else "given, since a count"
        fixed.fail(f"must be {needs} up to symmetry is claimed")
    return ByTranscript(
        None if first.value is None else first.whole(0),
        fields["items"].wholes(0),
        None
        if fixed.value is None
        else tuple(one.wholes(0) for one in fixed.entries("transcripts", 0, 11)),
    )
