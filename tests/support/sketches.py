"""Small problems of every sort, certificates of them, and the truth by trying everything."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import factorial, prod
from typing import Any

from fabkit.certify import Verdict, parse, verify_content
from fabkit.core.errors import InputError
from fabkit.model.lattice import LATTICES, Cell, Lattice
from fabkit.model.piece import Form, Piece, normalize_cells, orientations, placements
from fabkit.model.polygon import rings_of_cells
from fabkit.model.puzzle import Challenge, Given, PuzzleSet, problem_document
from fabkit.solve.certificate import make_certificate
from fabkit.solve.encoding import EncodedChallenge, to_exact_cover

Cells = frozenset[Cell]
Document = dict[str, Any]
SQUARE, QUARTER, HEXAGONS = (LATTICES[name] for name in ("square", "quarter-square", "hexagon"))


def cells(lattice: str, *places: tuple[int, int]) -> Cells:
    return frozenset(cell for place in places for cell in LATTICES[lattice].cells_at(*place))


def board(lattice: str, rows: int, cols: int) -> Cells:
    return cells(lattice, *product(range(rows), range(cols)))


def flat(lattice: str, name: str, *forms: Cells) -> Piece:
    drawn = tuple(Form("", form, rings_of_cells(LATTICES[lattice], form)) for form in forms)
    return Piece(name, name, "#e69f00", drawn)


def squares(name: str, *places: tuple[int, int]) -> Piece:
    return flat("square", name, cells("square", *places))


def domino(name: str) -> Piece:
    return squares(name, (0, 0), (0, 1))


def corner(name: str) -> Piece:
    return squares(name, (0, 0), (1, 0), (1, 1))


def ell(name: str) -> Piece:
    return squares(name, (0, 0), (1, 0), (2, 0), (2, 1))


def hexagons(name: str, *places: tuple[int, int]) -> Piece:
    return flat("hexagon", name, cells("hexagon", *places))


def row_of_quarters(*chosen: int) -> Cells:
    """Quarters of a row of squares, four each: N E S W."""
    row = [QUARTER.cells_at(0, col)[k] for col in range(3) for k in (0, 3, 2, 1)]
    return frozenset(row[i] for i in chosen)


def quarters(name: str, *chosen: int) -> Piece:
    return flat("quarter-square", name, row_of_quarters(*chosen))


@dataclass(frozen=True)
class Sketch:
    """A small problem."""

    lattice: Lattice
    region: Cells
    pieces: tuple[Piece, ...]
    flips: bool = False
    open_count: int = 0
    given: tuple[Given, ...] = ()
    pieces_count: int | None = None

    @property
    def puzzle(self) -> PuzzleSet:
        return PuzzleSet("mine", "Mine", self.lattice, self.flips, self.pieces, (), (), "", "")

    @property
    def challenge(self) -> Challenge:
        ids = tuple(piece.id for piece in self.pieces)
        count = self.pieces_count
        return Challenge(
            "one",
            self.region,
            ids,
            self.given,
            self.flips,
            pieces_count=count,
            open_count=self.open_count,
        )

    @property
    def encoded(self) -> EncodedChallenge:
        return to_exact_cover(self.puzzle, self.challenge)

    @property
    def problem(self) -> Document:
        return problem_document(self.puzzle, self.challenge)

    @cached_property
    def remaining(self) -> list[Cell]:
        return sorted(self.region - {cell for given in self.given for cell in given.cells})

    @cached_property
    def kinds(self) -> list[list[Piece]]:
        """Identical pieces, and at last none, for the cells that stay open."""
        placed = {given.piece for given in self.given}
        found: dict[frozenset[Cells], list[Piece]] = {}
        for piece in self.pieces:
            if piece.id not in placed:
                found.setdefault(self._images(piece, self.flips), []).append(piece)
        return [*found.values(), *([[]] if self.open_count else [])]

    def _images(self, piece: Piece, flips: bool) -> frozenset[Cells]:
        return frozenset(image.cells for image in orientations(self.lattice, piece, flips))

    def placed(self, kind: int) -> list[Cells]:
        free = frozenset(self.remaining)
        if not self.kinds[kind]:
            return [frozenset({cell}) for cell in self.remaining]
        piece = self.kinds[kind][0]
        return [one.cells for one in placements(self.lattice, piece, free, self.flips)]

    @cached_property
    def twins(self) -> Sequence[int]:
        """The kind of each one's mirror images; its own, where the pieces lack some of them."""
        flip = self.lattice.moves(True)[-1]
        images = [
            self._images(kind[0], False) if kind else frozenset[Cells]() for kind in self.kinds
        ]
        found = []
        for kind, one in zip(self.kinds, images, strict=True):
            mirrored = frozenset(normalize_cells(self.lattice, map(flip, cells)) for cells in one)
            twin = images.index(mirrored) if mirrored in images else -1
            if self.flips or twin < 0 or len(self.kinds[twin]) != len(kind):
                return range(len(self.kinds))
            found.append(twin)
        return found

    @cached_property
    def group(self) -> list[tuple[int, ...]]:
        """Symmetries as permutations of cells and kinds, by trying every translation."""
        number = {cell: i for i, cell in enumerate(self.remaining)}
        same, twins = (
            [len(number) + k for k in each] for each in (range(len(self.kinds)), self.twins)
        )
        found = set() if number else {tuple(same)}
        for move in self.lattice.moves(self.flips or same != twins):
            images = [move(cell) for cell in self.remaining]
            for target in self.remaining:
                dx, dy = target[0] - images[0][0], target[1] - images[0][1]
                moved = [number.get((x + dx, y + dy)) for x, y in images]
                if self.lattice.residue((dx, dy)) == (0, 0) and None not in moved:
                    found.add((*moved, *(twins if move.flipped else same)))
        return sorted(found)

    @cached_property
    def solutions(self) -> set[frozenset[tuple[int, Cells]]]:
        """Every solution as kinds and cells, found piece by piece."""
        states: set[tuple[frozenset[tuple[int, Cells]], Cells]] = {(frozenset(), frozenset())}
        for kind, pieces in enumerate(self.kinds):
            for _ in pieces:
                more = {
                    (chosen | {(kind, at)}, covered | at)
                    for chosen, covered in states
                    for at in self.placed(kind)
                    if not at & covered
                }
                states = more if self.pieces_count is None else more | states
        count = len(self.pieces) if self.pieces_count is None else self.pieces_count
        used, whole = count - len(self.given), len(self.remaining)
        last = len(self.kinds) - 1
        return {
            chosen | {(last, frozenset({cell})) for cell in self.remaining if cell not in covered}
            for chosen, covered in states
            if len(chosen) == used and len(covered) == whole - self.open_count
        }

    @cached_property
    def truth(self) -> dict[str, int | None]:
        """What a certificate may claim: counts as they lie, with names, and up to symmetry."""
        n, left, classes = len(self.remaining), set(self.solutions), 0
        while left:
            classes, one = classes + 1, left.pop()
            for symmetry in self.group:
                cell = {c: self.remaining[symmetry[i]] for i, c in enumerate(self.remaining)}
                left.discard(
                    frozenset((symmetry[n + k] - n, frozenset(map(cell.get, at))) for k, at in one)
                )
        count, names = len(self.solutions), prod(factorial(len(kind)) for kind in self.kinds)
        unnamed = names > 1 and count and self.pieces_count is not None
        return {
            "count": count,
            "count_labelled": None if unnamed else count * names,
            "count_up_to_symmetry": classes,
        }


def on(rows: int, cols: int, *pieces: Piece, lattice: str = "square", **changes: Any) -> Sketch:
    return Sketch(LATTICES[lattice], board(lattice, rows, cols), pieces, **changes)


_DOMINOES = tuple(map(domino, "abcd"))
_MIRRORED = squares("b", (0, 1), (1, 1), (2, 1), (2, 0))
_SHORT, _LONG, _BLOCK = (board("square", *size) for size in ((1, 2), (1, 4), (2, 2)))
SKETCHES = {
    "copies": on(2, 4, *_DOMINOES),
    "copies and one": on(3, 3, *_DOMINOES[:3], corner("x")),
    "flips": on(3, 4, *map(ell, "abc"), flips=True),
    "flips apart": on(2, 4, ell("a"), _MIRRORED),
    "more of one hand": on(3, 4, ell("a"), ell("c"), _MIRRORED),
    "open cells": on(3, 3, *_DOMINOES[:2], corner("x"), open_count=2),
    "given": on(2, 4, *_DOMINOES, given=(Given("b", cells("square", (0, 1), (1, 1))),)),
    "all given": on(1, 2, domino("a"), given=(Given("a", _SHORT),)),
    "forms": on(2, 3, flat("square", "a", _SHORT, _BLOCK), flat("square", "b", _BLOCK, _SHORT)),
    # A symmetry carries one long form, or two short ones, round on the same cells.
    "forms of two sizes": on(1, 8, *(flat("square", one, _SHORT, _LONG) for one in "abc")),
    "apart and touching": Sketch(
        SQUARE, cells("square", (0, 0), (0, 1), (1, 2), (1, 3), (4, 0), (5, 0)), _DOMINOES[:3]
    ),
    "hole": Sketch(SQUARE, board("square", 3, 3) - cells("square", (1, 1)), _DOMINOES),
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
    "hexagons": on(
        2,
        3,
        *(
            hexagons(one, (0, 0), end)
            for one, end in zip("abc", ((0, 1), (1, 0), (0, 1)), strict=True)
        ),
        lattice="hexagon",
    ),
    "hexagons flipped": on(
        3,
        3,
        *(hexagons(one, (0, 0), (0, 1), (1, 1)) for one in "abc"),
        lattice="hexagon",
        flips=True,
    ),
    "does not fit": on(2, 3, flat("square", "a", _LONG), domino("b")),
}

# Two dominoes in a square of two by two: cells 0 to 3, one kind with two copies: item 4.
TWO = on(2, 2, *_DOMINOES[:2])
TWICE = {"answer": "count", "count": 2, "count_labelled": 4, "count_up_to_symmetry": None}
IMPOSSIBLE = {"answer": "impossible"}


# --- certificates -----------------------------------------------------------------------------------


def checksum(problem: Document) -> str:
    text = json.dumps(problem, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def stated(sketch: Sketch, claim: Document, argument: Document) -> Document:
    """A certificate as requested; it may not hold."""
    return {
        "schema": 1,
        "kind": "fabkit certificate",
        "set": "mine",
        "challenge": "one",
        "problem": sketch.problem,
        "problem_sha256": checksum(sketch.problem),
        "claim": claim,
        "argument": argument,
    }


def by_items(*items: int, branch_first: int | None = None, fixed: Any = None) -> Document:
    return {"by": "transcript", "branch_first": branch_first, "items": list(items), "fixed": fixed}


def written(encoded: EncodedChallenge, claim: str) -> Document:
    """A certificate of the solver, as in its file."""
    return json.loads(json.dumps({"schema": 1, **make_certificate(encoded, claim)}))


def certificate(sketch: Sketch, claim: str = "") -> Document:
    """One of the solver's that holds; of no claim: of what it is."""
    names = {0: "impossible", 1: "unique"}
    return written(sketch.encoded, claim or names.get(len(sketch.solutions), "count"))


def length(document: Document) -> int:
    """The number of items in all transcripts."""
    argument = document["argument"]
    return sum(map(len, [argument.get("items", []), *(argument.get("fixed") or [])]))


def judged(document: Document) -> Verdict:
    """The verdict; malformed counts as refused."""
    try:
        return verify_content(parse(document, "c.json"))
    except InputError as error:
        return Verdict(False, str(error))


def is_true(claim: Document, sketch: Sketch) -> bool:
    """Whether a claim is true of a problem."""
    if claim["answer"] != "count":
        return len(sketch.solutions) == {"impossible": 0, "unique": 1}[claim["answer"]]
    return all(claim[key] == value for key, value in sketch.truth.items())
