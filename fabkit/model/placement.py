"""Placements: every way in which a piece lies inside a region."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from fabkit.model.lattice import Cell, Lattice, Point, Ring
from fabkit.model.piece import Orientation, Piece, orientations


@dataclass(frozen=True)
class Placement:
    """An orientation of the piece of that id, moved by a frame vector of the lattice."""

    piece: str
    orientation: Orientation
    translation: Point

    @property
    def cells(self) -> frozenset[Cell]:
        """The cells that are covered."""
        dx, dy = self.translation
        return frozenset((x + dx, y + dy) for x, y in self.orientation.cells)

    @property
    def rings(self) -> tuple[Ring, ...]:
        """The outline, in frame points."""
        dx, dy = self.translation
        return tuple(tuple((x + dx, y + dy) for x, y in ring) for ring in self.orientation.rings)


def placements(
    lattice: Lattice, piece: Piece, region: AbstractSet[Cell], flips: bool
) -> list[Placement]:
    """Every placement of a piece inside a region, each exactly once, by orientation, then place."""
    return list(_placements(lattice, piece, region, flips))


def lies_on(lattice: Lattice, piece: Piece, region: AbstractSet[Cell], flips: bool) -> bool:
    """Whether a piece can lie in a region at all; there may be millions of ways."""
    return any(True for _ in _placements(lattice, piece, region, flips))


def _placements(
    lattice: Lattice, piece: Piece, region: AbstractSet[Cell], flips: bool
) -> Iterator[Placement]:
    # One cell of the orientation can only lie on region cells of its own kind.
    by_kind: dict[Point, list[Cell]] = defaultdict(list)
    for cell in sorted(region):
        by_kind[lattice.residue(cell)].append(cell)
    for orientation in orientations(lattice, piece, flips):
        x0, y0 = min(orientation.cells)
        for x, y in by_kind[lattice.residue((x0, y0))]:
            dx, dy = x - x0, y - y0
            if all((cx + dx, cy + dy) in region for cx, cy in orientation.cells):
                yield Placement(piece.id, orientation, (dx, dy))
