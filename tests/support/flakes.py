"""Shapes made of orbits, built independently: by the model's placements, and by trying all."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fabkit.certify.document import parse
from fabkit.certify.verdict import Verdict, verify_content
from fabkit.core.errors import InputError
from fabkit.model.lattice import LATTICES, Cell, Lattice
from fabkit.model.piece import Piece, orientations, placements
from fabkit.puzzles.snowflakes.field import Field

Document = dict[str, Any]
FieldCell = tuple[int, Cell]


@dataclass(frozen=True)
class Flake:
    """A shape about one or two centres, the pieces, and the rules."""

    lattice: Lattice
    centres: tuple[Cell, ...]
    cells: frozenset[FieldCell]
    pieces: tuple[Piece, ...]
    flips: bool

    @cached_property
    def remaining(self) -> list[FieldCell]:
        return sorted(self.cells)

    @cached_property
    def kinds(self) -> list[list[Piece]]:
        found: dict[frozenset[Any], list[Piece]] = {}
        for piece in self.pieces:
            images = orientations(self.lattice, piece, self.flips)
            found.setdefault(frozenset(image.cells for image in images), []).append(piece)
        return list(found.values())

    @cached_property
    def options(self) -> list[tuple[int, tuple[int, ...]]]:
        number = {cell: i for i, cell in enumerate(self.remaining)}
        found = []
        for part in range(len(self.centres)):
            region = frozenset(cell for at, cell in self.cells if at == part)
            for kind, (piece, *_) in enumerate(self.kinds):
                for placed in placements(self.lattice, piece, region, self.flips):
                    found.append((kind, tuple(sorted(number[part, cell] for cell in placed.cells))))
        return sorted(found)

    def carried(self, symmetry: Callable[[Cell], Cell], cell: FieldCell) -> FieldCell:
        part, (x, y) = cell
        cx, cy = self.centres[part]
        u, v = symmetry((x - cx, y - cy))
        return part, (u + cx, v + cy)

    def orbit(self, cell: FieldCell) -> frozenset[FieldCell]:
        return frozenset(self.carried(symmetry, cell) for symmetry in self.lattice.symmetries)

    def proof(self, rng: random.Random, reduced: bool) -> Document:
        """What a search branches on, now on the scarcest item, now on any."""
        n, number = len(self.remaining), {cell: i for i, cell in enumerate(self.remaining)}
        single = [kind for kind, pieces in enumerate(self.kinds) if len(pieces) == 1]
        first = n + rng.choice(single) if reduced and single else None
        chosen: list[list[list[int]]] = [[] for _ in self.centres]
        for orbit in sorted({self.orbit(cell) for cell in self.cells}, key=sorted):
            part, cell = rng.choice(sorted(orbit))
            chosen[part].append(list(cell))
        group = [
            [number[self.carried(move, cell)] for cell in self.remaining]
            for move in self.lattice.moves(self.flips)
        ]
        items: list[int] = []

        def is_least(kind: int, covered: tuple[int, ...]) -> bool:
            return all(covered <= tuple(sorted(one[cell] for cell in covered)) for one in group)

        def search(bare: frozenset[int], left: list[int], floors: list[int]) -> None:
            if not any(left) and not bare:
                return

            def children(item: int) -> list[int]:
                return [
                    at
                    for at, (kind, covered) in enumerate(self.options)
                    if (item in covered or item == n + kind)
                    and left[kind]
                    and at >= floors[kind]
                    and bare.issuperset(covered)
                    and (items or first is None or is_least(kind, covered))
                ]

            choices = [*sorted(bare), *(n + kind for kind, copies in enumerate(left) if copies)]
            item = min(choices, key=lambda one: len(children(one)))
            if first is not None and not items:
                item = first
            elif rng.random() < 0.3:
                item = rng.choice(choices)
            below = children(item)
            items.append(item)
            for at in below:
                kind, covered = self.options[at]
                fewer, higher = list(left), list(floors)
                fewer[kind] -= 1
                if item >= n:
                    higher[kind] = at + 1
                search(bare.difference(covered), fewer, higher)

        search(frozenset(range(n)), [len(one) for one in self.kinds], [0] * len(self.kinds))
        return {"cells": chosen, "branch_first": first, "items": items}

    @cached_property
    def tilable(self) -> bool:
        def fits(free: frozenset[int], left: tuple[int, ...]) -> bool:
            if not free:
                return not any(left)
            return any(
                left[kind]
                and free.issuperset(covered)
                and fits(free - set(covered), (*left[:kind], left[kind] - 1, *left[kind + 1 :]))
                for kind, covered in self.options
                if min(free) in covered
            )

        return fits(frozenset(range(len(self.cells))), tuple(map(len, self.kinds)))


def filed(flake: Flake, *shapes: Document) -> Document:
    return {
        "schema": 1,
        "kind": "fabkit impossible shapes",
        "set": "mine",
        "lattice": flake.lattice.name,
        "flips": flake.flips,
        "centres": [list(centre) for centre in flake.centres],
        "pieces": [
            {
                "id": piece.id,
                "forms": [[list(map(list, ring)) for ring in form.rings] for form in piece.forms],
            }
            for piece in flake.pieces
        ],
        "shapes": list(shapes),
    }


def verdict_on(document: Document) -> Verdict | str:
    """The verdict; or the message, where the file is not even well formed."""
    try:
        return verify_content(parse(document, "s.json"))
    except InputError as error:
        return str(error)


def reason(document: Document) -> str:
    verdict = verdict_on(document)
    return verdict if isinstance(verdict, str) else str(verdict.reason)


def square_flake(parity: str, orbits: list[int], *pieces: Piece, flips: bool = False) -> Flake:
    """A flake of squares."""
    return flake_of(Field.for_parity(LATTICES["square"], parity, 3), orbits, pieces, flips)


def flake_of(field: Field, orbits: list[int], pieces: tuple[Piece, ...], flips: bool) -> Flake:
    cells = frozenset(field.cells[cell] for orbit in orbits for cell in field.orbits[orbit])
    return Flake(field.lattice, tuple(part.centre for part in field.boards), cells, pieces, flips)
