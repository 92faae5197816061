"""Certificates made the plain way, and solutions counted by trying everything.

Nothing here is shared with `fabkit.certify` or `fabkit.solve`: placements come from
`fabkit.model.placement`, the search is a recursion, and solutions are counted piece by piece,
as sets of placements, not by the rules of transcripts.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, Protocol

from fabkit.model.lattice import LATTICES, Cell, Lattice
from fabkit.model.piece import Form, Piece, orientations
from fabkit.model.placement import placements
from fabkit.model.polygon import rings_of_cells
from fabkit.model.puzzle import Challenge, Given, PuzzleSet, statement

Cells = frozenset[Cell]
Solution = frozenset[tuple[int, Cells]]  # of (kind, cells)
Option = tuple[int, tuple[int, ...], int]  # kind, numbers of cells, copies


def board(lattice: str, rows: int, cols: int) -> Cells:
    places = product(range(rows), range(cols))
    return frozenset(cell for place in places for cell in LATTICES[lattice].cells_at(*place))


def cells(lattice: str, *places: tuple[int, int]) -> Cells:
    return frozenset(cell for place in places for cell in LATTICES[lattice].cells_at(*place))


def flat(lattice: str, name: str, *forms: Cells) -> Piece:
    drawn = tuple(Form("", form, rings_of_cells(LATTICES[lattice], form)) for form in forms)
    return Piece(name, name, "#e69f00", drawn)


@dataclass(frozen=True)
class Sketch:
    """A small problem, from which certificates are made."""

    lattice: Lattice
    region: Cells
    pieces: tuple[Piece, ...]
    flips: bool = False
    leftover: bool = False
    given: tuple[Given, ...] = ()
    pieces_count: int | None = None

    @property
    def problem(self) -> dict[str, Any]:
        puzzle = PuzzleSet("mine", "Mine", self.lattice, self.flips, self.pieces, (), (), "", "")
        ids = tuple(piece.id for piece in self.pieces)
        challenge = Challenge(
            "one", self.region, ids, self.given, self.flips, pieces_count=self.pieces_count
        )
        return statement(puzzle, challenge, self.leftover)

    @property
    def pieces_used(self) -> int:
        count = len(self.pieces) if self.pieces_count is None else self.pieces_count
        return count - len(self.given)

    @cached_property
    def remaining(self) -> list[Cell]:
        taken = {cell for given in self.given for cell in given.cells}
        return sorted(self.region - taken)

    @cached_property
    def kinds(self) -> list[list[Piece]]:
        lying = {given.piece for given in self.given}
        found: dict[frozenset[Cells], list[Piece]] = {}
        for piece in self.pieces:
            if piece.id not in lying:
                images = orientations(self.lattice, piece, self.flips)
                found.setdefault(frozenset(image.cells for image in images), []).append(piece)
        return list(found.values())

    def placed(self, piece: Piece) -> list[Cells]:
        found = placements(self.lattice, piece, frozenset(self.remaining), self.flips)
        return [placement.cells for placement in found]

    @cached_property
    def options(self) -> list[Option]:
        number = {cell: i for i, cell in enumerate(self.remaining)}
        found = {
            (kind, tuple(sorted(number[cell] for cell in placed)), 1)
            for kind, pieces in enumerate(self.kinds)
            for placed in self.placed(pieces[0])
        }
        return sorted(found)

    @cached_property
    def group(self) -> list[tuple[int, ...]]:
        """Symmetries as permutations of cells and kinds, by trying every translation."""
        number = {cell: i for i, cell in enumerate(self.remaining)}
        same = tuple(range(len(number), len(number) + len(self.kinds)))
        twins = self.twins or same
        found = {same} if not number else set()
        for move in self.lattice.moves(self.flips or twins != same):
            images = [move(cell) for cell in self.remaining]
            for target in self.remaining if images else []:
                dx, dy = target[0] - images[0][0], target[1] - images[0][1]
                if self.lattice.residue((dx, dy)) == (0, 0):
                    moved = [number.get((x + dx, y + dy)) for x, y in images]
                    if None not in moved:
                        found.add((*moved, *(twins if move.flipped else same)))
        return sorted(found)

    @cached_property
    def twins(self) -> tuple[int, ...]:
        """The items of the kinds' mirror images, where pieces are not turned over and hold all."""
        outlines = [
            frozenset(self._outlines(piece) for piece in pieces[:1]) for pieces in self.kinds
        ]
        mirrored = [
            frozenset(self._outlines(piece, mirrored=True) for piece in pieces[:1])
            for pieces in self.kinds
        ]
        found = [outlines.index(one) if one in outlines else -1 for one in mirrored]
        sizes = [len(pieces) for pieces in self.kinds]
        if self.flips or any(
            k < 0 or sizes[k] != size for k, size in zip(found, sizes, strict=True)
        ):
            return ()
        return tuple(len(self.remaining) + kind for kind in found)

    def _outlines(self, piece: Piece, mirrored: bool = False) -> frozenset[Cells]:
        """What a piece can cover near the origin: by all turns, or by all that mirror it first."""
        images = set()
        for form in piece.forms:
            for move in self.lattice.moves(True):
                if move.flipped == mirrored:
                    moved = sorted(map(move, form.cells))
                    dx, dy = self.lattice.anchor(moved)
                    images.add(frozenset((x - dx, y - dy) for x, y in moved))
        return frozenset(images)


# --- counting by trying everything ------------------------------------------------------------


def solutions(sketch: Sketch) -> list[Solution]:
    """Every solution as a set of placements, found piece by piece."""
    kind_of = {piece.id: k for k, pieces in enumerate(sketch.kinds) for piece in pieces}
    pieces = [piece for pieces in sketch.kinds for piece in pieces]
    states: set[tuple[Solution, Cells]] = {(frozenset(), frozenset())}
    for piece in pieces:
        where = sketch.placed(piece)
        more = {
            (chosen | {(kind_of[piece.id], placed)}, covered | placed)
            for chosen, covered in states
            for placed in where
            if not placed & covered
        }
        states = more if sketch.pieces_count is None else more | states
    used = sketch.pieces_used
    whole = frozenset(sketch.remaining)
    return sorted(
        (
            chosen
            for chosen, covered in states
            if len(chosen) == used and (sketch.leftover or covered == whole)
        ),
        key=lambda solution: sorted((kind, sorted(placed)) for kind, placed in solution),
    )


def carried(sketch: Sketch, solution: Solution, permutation: Sequence[int]) -> Solution:
    """A solution's image under a symmetry."""
    n = len(sketch.remaining)
    cell = dict(zip(sketch.remaining, (sketch.remaining[i] for i in permutation[:n]), strict=True))
    return frozenset(
        (permutation[n + kind] - n, frozenset(cell[one] for one in at)) for kind, at in solution
    )


def up_to_symmetry(sketch: Sketch) -> int:
    """Solutions in classes, each moved by every symmetry."""
    left, classes = set(solutions(sketch)), 0
    while left:
        classes += 1
        one = next(iter(left))
        for permutation in sketch.group:
            left.discard(carried(sketch, one, permutation))
    return classes


def labelled(sketch: Sketch) -> int:
    """Solutions with identical pieces told apart: in so many orders can copies be named."""
    total = len(solutions(sketch))
    for pieces in sketch.kinds:
        for copies in range(1, len(pieces) + 1):
            total *= copies
    return total


# --- transcripts --------------------------------------------------------------------------------


class Drawn(Protocol):
    """What is searched: a `Sketch`, or a shape of a file of shapes."""

    leftover: bool

    @property
    def remaining(self) -> Sequence[Any]: ...


def transcript(
    sketch: Drawn,
    copies: Sequence[int],
    options: Sequence[Option],
    rng: random.Random,
    first: int | None = None,
    at_root: Sequence[Option] | None = None,
) -> list[int]:
    """The items of a search that branches now on the scarcest item, now on any."""
    n = len(sketch.remaining)
    items: list[int] = []

    def search(covered: frozenset[int], left: list[int], floor: list[int]) -> None:
        if not any(left) and (sketch.leftover or len(covered) == n):
            return

        def children(item: int) -> list[int]:
            return [
                number
                for number, (kind, cover, copies) in enumerate(options)
                if (item in cover or item == n + kind)
                and copies <= left[kind]
                and number >= floor[kind]
                and not covered.intersection(cover)
            ]

        open_items = [n + kind for kind, copies in enumerate(left) if copies]
        open_items += [] if sketch.leftover else sorted(set(range(n)) - covered)
        if first is not None and not items:
            item = first
        elif rng.random() < 0.3:
            item = rng.choice(open_items)
        else:
            item = min(open_items, key=lambda one: len(children(one)))
        chosen = children(item)
        if at_root is not None and not items:
            chosen = [number for number in chosen if options[number] in at_root]
        items.append(item)
        for number in chosen:
            kind, cover, copies = options[number]
            fewer, higher = list(left), list(floor)
            fewer[kind] -= copies
            if item >= n:
                higher[kind] = number + 1
            search(covered.union(cover), fewer, higher)

    search(frozenset(), list(copies), [0] * len(copies))
    return items


def image(sketch: Drawn, option: Option, permutation: Sequence[int]) -> Option:
    (kind, cover, copies), n = option, len(sketch.remaining)
    return permutation[n + kind] - n, tuple(sorted(permutation[cell] for cell in cover)), copies


def representatives(sketch: Sketch, kind: int) -> list[Option]:
    """Of each orbit of a kind's options the least."""
    of_kind = [option for option in sketch.options if option[0] == kind]
    item = len(sketch.remaining) + kind
    group = [g for g in sketch.group if g[item] == item]
    return [option for option in of_kind if option == min(image(sketch, option, g) for g in group)]


def carried_round(sketch: Sketch, permutation: Sequence[int]) -> tuple[list[int], list[Option]]:
    """Orbits of one symmetry on options, if their placements do not overlap; and all copies."""
    n = len(sketch.remaining)
    copies = [0] * len(sketch.kinds)
    for kind, pieces in enumerate(sketch.kinds):
        copies[min(kind, permutation[n + kind] - n)] += len(pieces)
    found, seen = [], set()
    for option in sketch.options:
        if option in seen:
            continue
        orbit = [option]
        while (following := image(sketch, orbit[-1], permutation)) != option:
            orbit.append(following)
        seen.update(orbit)
        covered = [cell for _, cover, _ in orbit for cell in cover]
        if len(set(covered)) == len(covered) and len(orbit) <= copies[option[0]]:
            found.append((option[0], tuple(sorted(covered)), len(orbit)))
    return copies, sorted(found)


# --- certificates --------------------------------------------------------------------------------


def checksum(problem: dict[str, Any]) -> str:
    text = json.dumps(problem, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def stated(sketch: Sketch, claim: dict[str, Any], argument: dict[str, Any]) -> dict[str, Any]:
    """A certificate as it is told to be; it may not hold."""
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


def certificate(
    sketch: Sketch, answer: str = "", reduced: bool = False, up_to: bool = False, seed: int = 0
) -> dict[str, Any]:
    """A certificate that holds, with transcripts.

    Args:
        sketch: the problem.
        answer: what is claimed; empty: what it is, as far as that has a name.
        reduced: whether the root branches on representatives, if a kind allows it.
        up_to: whether solutions up to symmetry are claimed; then it is a count.
        seed: for the branchings.
    """
    rng = random.Random(seed)
    count = len(solutions(sketch))
    answer = answer or ("count" if up_to else {0: "impossible", 1: "unique"}.get(count, "count"))
    claim: dict[str, Any] = {"answer": answer}
    if answer == "count":
        claim |= {
            "count": count,
            "count_labelled": labelled(sketch),
            "count_up_to_symmetry": up_to_symmetry(sketch) if up_to else None,
        }
    n = len(sketch.remaining)
    single = [kind for kind, pieces in enumerate(sketch.kinds) if len(pieces) == 1]
    first = n + rng.choice(single) if reduced and single else None
    at_root = None if first is None else representatives(sketch, first - n)
    argument = {
        "by": "transcript",
        "branch_first": first,
        "items": transcript(
            sketch, [len(one) for one in sketch.kinds], sketch.options, rng, first, at_root
        ),
        "fixed": None,
    }
    if up_to:
        argument["fixed"] = [
            transcript(sketch, *carried_round(sketch, permutation), rng)
            for permutation in sketch.group
            if permutation != tuple(range(n + len(sketch.kinds)))
        ]
    return stated(sketch, claim, argument)
