"""Small problems of every sort, certificates of them, and the truth by trying everything.

The truth shares no code with solver, checker and model: pieces are moved as polygons.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, permutations, product
from math import factorial, prod
from typing import Any

from fabkit.certify.cover import derive_problem
from fabkit.certify.document import parse
from fabkit.certify.verdict import Verdict, verify_content
from fabkit.core.errors import InputError
from fabkit.model.lattice import LATTICES, Cell, Lattice
from fabkit.model.piece import Form, Piece
from fabkit.model.polygon import rings_of_cells
from fabkit.model.puzzle import Challenge, Clue, Given, PuzzleSet, problem_document
from fabkit.solve.certificate import make_certificate
from fabkit.solve.encoding import EncodedChallenge, to_exact_cover
from tests.support.polygons import Look, laid, looks, mirror_image

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
    clues: tuple[Clue, ...] = ()
    minus: Cells = frozenset()
    blocked: bool = False

    @property
    def puzzle(self) -> PuzzleSet:
        marks = {"o": "cross", "x": "dot"}
        return PuzzleSet("mine", "Mine", self.lattice, self.flips, self.pieces, marks=marks)

    @property
    def challenge(self) -> Challenge:
        return Challenge(
            "one",
            self.region,
            tuple(piece.id for piece in self.pieces),
            self.given,
            self.flips,
            pieces_count=self.pieces_count,
            clues=self.clues,
            open_count=self.open_count,
            minus=self.minus,
            blocked=self.blocked,
        )

    @property
    def encoded(self) -> EncodedChallenge:
        return to_exact_cover(self.puzzle, self.challenge)

    @property
    def problem(self) -> Document:
        return problem_document(self.puzzle, self.challenge)

    @cached_property
    def contradicted(self) -> Cells:
        """The cells of given pieces that contradict a clue: nothing can cover them."""
        pieces = {piece.id: piece for piece in self.pieces}
        wrong = (
            given.cells
            for given in self.given
            if given.cells not in self._allowed(pieces[given.piece], given.cells)
        )
        return frozenset(chain.from_iterable(wrong))

    @cached_property
    def remaining(self) -> list[Cell]:
        return sorted(self._free | self.contradicted)

    @cached_property
    def _free(self) -> Cells:
        return self.region.difference(*(given.cells for given in self.given))

    @cached_property
    def _owns(self) -> dict[str, tuple[frozenset[Look], str, str]]:
        """What tells each piece from others: its looks, and what clues name."""
        is_colour_named = any(clue.colour for clue in self.clues)
        named = {clue.piece for clue in self.clues}
        return {
            piece.id: (
                looks(self.lattice, piece, self.flips),
                piece.colour if is_colour_named else "",
                piece.id if piece.id in named else "",
            )
            for piece in self.pieces
        }

    @cached_property
    def kinds(self) -> list[list[Piece]]:
        """Identical pieces, and at last none, for the cells that stay open."""
        placed = {given.piece for given in self.given}
        found: dict[Any, list[Piece]] = {}
        for piece in self.pieces:
            if piece.id not in placed:
                found.setdefault(self._owns[piece.id], []).append(piece)
        return [*found.values(), *([[]] if self.open_count else [])]

    def _allowed(self, piece: Piece, region: Cells) -> set[Cells]:
        """The places of a piece in a region where one of its moves agrees with every clue."""
        places = set()
        for index, form in enumerate(piece.forms):
            for is_flipped, moved in laid(self.lattice, form.cells, region, self.flips):
                marks = () if index else piece.back if is_flipped else piece.marks
                shown = {moved[cell]: mark for cell, mark in marks}
                covered = frozenset(moved.values())
                if all(self._agrees(clue, piece, covered, shown) for clue in self.clues):
                    places.add(covered)
        return places

    @staticmethod
    def _agrees(clue: Clue, piece: Piece, covered: Cells, shown: Mapping[Cell, str]) -> bool:
        if clue.piece == piece.id and not clue.cells <= covered:
            return False
        return all(
            clue.piece in ("", piece.id)
            and clue.colour in ("", piece.colour)
            and clue.mark in ("", shown.get(cell, "plain"))
            for cell in clue.cells & covered
        )

    @cached_property
    def _places(self) -> list[list[Cells]]:
        clued = frozenset(chain.from_iterable(clue.cells for clue in self.clues))
        return [
            [*self._allowed(kind[0], self._free)]
            if kind
            else [frozenset({cell}) for cell in self._free - clued]
            for kind in self.kinds
        ]

    def placed(self, kind: int) -> list[Cells]:
        return self._places[kind]

    @cached_property
    def twins(self) -> Sequence[int]:
        """The kind of each one's mirror images; its own, where the pieces lack some of them."""
        owns = [self._owns[kind[0].id] if kind else (frozenset(), "", "") for kind in self.kinds]
        found = []
        for kind, (its_looks, colour, name) in zip(self.kinds, owns, strict=True):
            image = frozenset(map(mirror_image, its_looks)), colour, name
            twin = owns.index(image) if image in owns else -1
            if self.flips or twin < 0 or len(self.kinds[twin]) != len(kind):
                return range(len(self.kinds))
            found.append(twin)
        return found

    @cached_property
    def group(self) -> list[tuple[int, ...]]:
        """Symmetries as permutations of cells and kinds: all that some of them make together.

        A box turns on its own, or changes places with another; a mirror image is one of all boxes.
        With clues, or several boxes, only those that map places to places are symmetries.
        """
        n, k = len(self.remaining), len(self.kinds)
        itself, twins = tuple(range(n + k)), tuple(n + twin for twin in self.twins)
        found, new = {itself}, [itself]
        makers = [self._moved(pairs) for pairs in self._turns(self.flips)]
        if not self.flips and twins != itself[n:] and n:
            for order in permutations(range(len(self.boxes))):
                ways = [
                    [map_ for to, map_ in self._maps(i, True) if to == j]
                    for i, j in enumerate(order)
                ]
                if all(ways):
                    joined = {cell: at for way in ways for cell, at in way[0].items()}
                    makers.append((*self._moved(joined)[:n], *twins))
                    break
        while new:
            one = new.pop()
            for maker in makers:
                product = tuple(maker[i] for i in one)
                if product not in found:
                    found.add(product)
                    new.append(product)
        if self.clues or len(self.boxes) > 1:
            found = set(filter(self._maps_places_to_places, found))
        return sorted(found)

    def _maps_places_to_places(self, symmetry: Sequence[int]) -> bool:
        n = len(self.remaining)
        image_of = {cell: self.remaining[symmetry[i]] for i, cell in enumerate(self.remaining)}
        places = [set(self.placed(kind)) for kind in range(len(self.kinds))]
        return all(
            {frozenset(map(image_of.__getitem__, place)) for place in here}
            == places[symmetry[n + kind] - n]
            for kind, here in enumerate(places)
        )

    @cached_property
    def boxes(self) -> list[Cells]:
        """What remains of each part of the region that touches no other, even at a corner."""
        parts: list[set[Cell]] = []
        for cell in self.region:
            ring = set(self.lattice.ring(cell))
            near = [part for part in parts if any(ring & set(self.lattice.ring(at)) for at in part)]
            parts = [part for part in parts if part not in near]
            parts.append({cell}.union(*near))
        return [
            frozenset(part) & set(self.remaining) for part in parts if part & set(self.remaining)
        ]

    def _maps(self, box: int, mirrored: bool) -> Iterator[tuple[int, dict[Cell, Cell]]]:
        """Every way to lay a box on one of the same shape, by trying every translation."""
        for index, target in enumerate(self.boxes):
            if len(target) == len(self.boxes[box]):
                for is_mirrored, moved in laid(self.lattice, self.boxes[box], target, mirrored):
                    if is_mirrored == mirrored:
                        yield index, moved

    def _turns(self, flips: bool) -> Iterator[dict[Cell, Cell]]:
        for box in range(len(self.boxes)):
            for mirrored in (False, True)[: 1 + flips]:
                for target, moved in self._maps(box, mirrored):
                    back = {} if target == box else {there: here for here, there in moved.items()}
                    yield moved | back

    def _moved(self, pairs: Mapping[Cell, Cell]) -> tuple[int, ...]:
        n = len(self.remaining)
        places = [self.remaining.index(pairs.get(cell, cell)) for cell in self.remaining]
        return (*places, *range(n, n + len(self.kinds)))

    @cached_property
    def solutions(self) -> set[frozenset[tuple[int, Cells]]]:
        """Every solution as kinds and cells, found by covering the first bare cell in every way."""
        count = len(self.pieces) if self.pieces_count is None else self.pieces_count
        used = count - len(self.given) + self.open_count
        copies = [len(kind) or self.open_count for kind in self.kinds]
        return {solution for solution in self._completed([], copies) if len(solution) == used}

    def _completed(
        self, chosen: list[tuple[int, Cells]], copies: list[int]
    ) -> Iterator[frozenset[tuple[int, Cells]]]:
        """Every way to go on; what is chosen, and the copies left, are changed in place."""
        covered = frozenset[Cell]().union(*(place for _, place in chosen))
        bare = next((cell for cell in self.remaining if cell not in covered), None)
        if bare is None:
            yield frozenset(chosen)
            return
        for kind, places in enumerate(self._places):
            for place in places if copies[kind] else ():
                if bare in place and covered.isdisjoint(place):
                    copies[kind] -= 1
                    chosen.append((kind, place))
                    yield from self._completed(chosen, copies)
                    chosen.pop()
                    copies[kind] += 1

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
_QUARTERS = quarters("a", 0, 1), quarters("b", 0, 1), quarters("c", 0, 1, 2), quarters("d", 0)
_ACROSS = quarters("a", 0, 1, 7), quarters("b", 0, 1, 7), quarters("c", 0, 1)
_ENDS = {"a": (0, 1), "b": (1, 0), "c": (0, 1)}
_BARS = [hexagons(name, (0, 0), end) for name, end in _ENDS.items()]
_BENT_BARS = [hexagons(name, (0, 0), (0, 1), (1, 1)) for name in "abc"]
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
    "quarters": on(1, 2, *_QUARTERS, lattice="quarter-square"),
    "quarters flipped": on(1, 2, *_ACROSS, lattice="quarter-square", flips=True),
    "hexagons": on(2, 3, *_BARS, lattice="hexagon"),
    "hexagons flipped": on(3, 3, *_BENT_BARS, lattice="hexagon", flips=True),
    "does not fit": on(2, 3, flat("square", "a", _LONG), domino("b")),
}

# Two dominoes in a square of two by two: cells 0 to 3, one kind with two copies: item 4.
TWO = on(2, 2, *_DOMINOES[:2])
TWICE = {"answer": "count", "count": 2, "count_labelled": 4, "count_up_to_symmetry": None}
IMPOSSIBLE = {"answer": "impossible"}


# --- certificates
# -----------------------------------------------------------------------------------


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


def disagreements(sketch: Sketch) -> list[str]:
    """Where the checker's derivation differs from the model's."""
    found = derive_problem(parse(stated(sketch, IMPOSSIBLE, {"by": "area"}), "c.json").problem)
    number = {cell: i for i, cell in enumerate(sketch.remaining)}
    options = sorted(
        (kind, tuple(sorted(number[cell] for cell in at)), 1)
        for kind in range(len(sketch.kinds))
        for at in set(sketch.placed(kind))
    )
    both = {
        "cells": (found.cells, len(number)),
        "kinds": (list(found.kinds), [tuple(one.id for one in kind) for kind in sketch.kinds]),
        "options": ([(one.kind, one.cells, one.copies) for one in found.options], options),
        "group": (list(found.group), sketch.group),
    }
    return [name for name, (ours, theirs) in both.items() if ours != theirs]
