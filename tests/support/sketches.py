"""Small problems of every sort, what the checker says of them, and what is true of them."""

from __future__ import annotations

from typing import Any

from fabkit.certify import Verdict, check, parse
from fabkit.certify import cover as covers
from fabkit.core.errors import InputError
from fabkit.model.lattice import LATTICES
from fabkit.model.piece import Piece
from fabkit.model.puzzle import Given
from tests.support.transcripts import (
    Sketch,
    board,
    cells,
    flat,
    stated,
)

SQUARE, QUARTER, HEXAGONS = (LATTICES[name] for name in ("square", "quarter-square", "triangular"))


def squares(name: str, *places: tuple[int, int]) -> Piece:
    return flat("square", name, cells("square", *places))


def domino(name: str) -> Piece:
    return squares(name, (0, 0), (0, 1))


def corner(name: str) -> Piece:
    return squares(name, (0, 0), (1, 0), (1, 1))


def ell(name: str) -> Piece:
    return squares(name, (0, 0), (1, 0), (2, 0), (2, 1))


def hexagons(name: str, *places: tuple[int, int]) -> Piece:
    return flat("triangular", name, cells("triangular", *places))


def quarters(name: str, *chosen: int) -> Piece:
    """Quarters of a row of squares, four each: N E S W."""
    row = [cell for col in range(3) for cell in QUARTER.cells_at(0, col)]
    return flat("quarter-square", name, frozenset(row[i] for i in chosen))


SKETCHES = {
    "copies": Sketch(SQUARE, board("square", 2, 4), tuple(map(domino, "abcd"))),
    "copies and one": Sketch(SQUARE, board("square", 3, 3), (*map(domino, "abc"), corner("x"))),
    "turned only": Sketch(SQUARE, board("square", 2, 4), (ell("a"), ell("b"))),
    "flips": Sketch(SQUARE, board("square", 3, 4), (*map(ell, "abc"),), flips=True),
    "flips apart": Sketch(
        SQUARE,
        board("square", 2, 4),
        (ell("a"), squares("b", (0, 1), (1, 1), (2, 1), (2, 0))),
    ),
    "leftover": Sketch(
        SQUARE, board("square", 3, 3), (*map(domino, "ab"), corner("x")), leftover=True
    ),
    "given": Sketch(
        SQUARE,
        board("square", 2, 4),
        tuple(map(domino, "abcd")),
        given=(Given("b", cells("square", (0, 1), (1, 1))),),
    ),
    "all given": Sketch(
        SQUARE, board("square", 1, 2), (domino("a"),), given=(Given("a", board("square", 1, 2)),)
    ),
    "forms": Sketch(
        SQUARE,
        board("square", 2, 3),
        (
            flat("square", "a", board("square", 1, 2), board("square", 2, 2)),
            flat("square", "b", board("square", 2, 2), board("square", 1, 2)),
        ),
    ),
    # A symmetry carries one long form, or two short ones, round on the same cells.
    "forms of two sizes": Sketch(
        SQUARE,
        board("square", 1, 8),
        tuple(flat("square", one, board("square", 1, 2), board("square", 1, 4)) for one in "abc"),
    ),
    "apart and touching": Sketch(
        SQUARE,
        cells("square", (0, 0), (0, 1), (1, 2), (1, 3), (4, 0), (5, 0)),
        tuple(map(domino, "abc")),
    ),
    "hole": Sketch(
        SQUARE, board("square", 3, 3) - cells("square", (1, 1)), tuple(map(domino, "abcd"))
    ),
    "quarters": Sketch(
        QUARTER,
        board("quarter-square", 1, 2),
        (quarters("a", 0, 1), quarters("b", 0, 1), quarters("c", 0, 1, 2), quarters("d", 0)),
    ),
    "quarters flipped": Sketch(
        QUARTER,
        board("quarter-square", 1, 2),
        (quarters("a", 0, 1, 7), quarters("b", 0, 1, 7), quarters("c", 0, 1)),
        flips=True,
    ),
    "hexagons": Sketch(
        HEXAGONS,
        board("triangular", 2, 3),
        (
            hexagons("a", (0, 0), (0, 1)),
            hexagons("b", (0, 0), (1, 0)),
            hexagons("c", (0, 0), (0, 1)),
        ),
    ),
    "hexagons flipped": Sketch(
        HEXAGONS,
        board("triangular", 3, 3),
        tuple(hexagons(one, (0, 0), (0, 1), (1, 1)) for one in "abc"),
        flips=True,
    ),
    "does not fit": Sketch(
        SQUARE, board("square", 2, 3), (squares("a", (0, 0), (0, 1), (0, 2), (0, 3)), domino("b"))
    ),
}

IMPOSSIBLE = {"answer": "impossible"}

#: Two dominoes in a square of two by two: cells 0 to 3, one kind with two copies: item 4.
TWO = Sketch(SQUARE, board("square", 2, 2), (domino("a"), domino("b")))
TWICE = {
    "answer": "count",
    "count": 2,
    "count_labelled": 4,
    "count_up_to_symmetry": None,
}


def by_items(*items: int, branch_first: int | None = None, fixed: Any = None) -> dict[str, Any]:
    return {"by": "transcript", "branch_first": branch_first, "items": list(items), "fixed": fixed}


def judged(document: dict[str, Any]) -> Verdict:
    """The verdict; malformed counts as refused."""
    try:
        return check(parse(document, "c.json"))
    except InputError as error:
        return Verdict(False, str(error))


def disagreements(sketch: Sketch) -> list[str]:
    """Where the checker's derivation differs from the model's."""
    document = stated(sketch, IMPOSSIBLE, {"by": "area"})
    found = covers.derive(parse(document, "c.json").problem)
    kinds = [kind.pieces for kind in found.kinds]
    options = [(option.kind, option.cells, option.copies) for option in found.options]
    ours = (found.cells, kinds, options, list(found.group))
    theirs = (
        len(sketch.remaining),
        [tuple(piece.id for piece in pieces) for pieces in sketch.kinds],
        sketch.options,
        sketch.group,
    )
    names = ("cells", "kinds", "options", "group")
    return [name for name, a, b in zip(names, ours, theirs, strict=True) if a != b]
