"""Symmetric shapes by SAT: a second way to find them, against which tests hold the closure.

It shares the field with it, the geometry of cells, and nothing of the search.

One variable stands for each orbit of cells (the shape holds it), one for each placement of a piece
(the piece lies there). The clauses say what a snowflake is, and a SAT solver finds models; each shape
found is ruled out by its orbits, so that it counts once however many tilings it has.

That every part must reach both mirrors takes too many clauses to say beforehand. So it is said of
the models that break it, when they come: an orbit that is cut off from a mirror by orbits that are
not in the shape needs one of those.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from pysat.solvers import Solver

from fabkit.model.piece import Piece
from fabkit.puzzles.snowflakes.field import Field
from fabkit.solve.engines.sat import Clause, Writer
from fabkit.solve.posing import alike


@dataclass(frozen=True, order=True)
class Shape:
    """A symmetric shape, and how the pieces make it: of each placement its kind and its cells."""

    orbits: tuple[int, ...]
    tiling: tuple[tuple[int, tuple[int, ...]], ...]


@dataclass(frozen=True)
class BySat:
    """The search for the shapes of a field.

    Attributes:
        field: where the pieces lie.
        pieces: flat ones, of one form each.
        flips: whether they may be turned over.
        rigid: whether only rigid shapes count.
        outermost: whether only shapes count that reach the edge of every part's board, so that
            boards of growing size have each shape once; one after the other, they take less time
            together than the largest board at once.
    """

    field: Field
    pieces: tuple[Piece, ...]
    flips: bool = False
    rigid: bool = True
    outermost: bool = False

    @cached_property
    def kinds(self) -> tuple[tuple[Piece, ...], ...]:
        """The pieces, identical ones together."""
        return tuple(tuple(kind) for kind in alike(self.field.lattice, self.pieces, self.flips))

    @cached_property
    def placements(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """Every placement on the field as its kind and its cells."""
        return tuple(
            (kind, cells)
            for kind, each in enumerate(self.kinds)
            for cells in self.field.placements(each[0], self.flips)
        )

    def search(self) -> list[Shape]:
        """All shapes, by their orbits."""
        return sorted(map(self._shape, self._models()))

    def _models(self) -> Iterator[list[int]]:
        """Of each shape the variables that are true, orbits first."""
        clauses = self.clauses
        if () in clauses:  # which solvers take badly
            return
        orbits = len(self.field.orbits)
        # Glucose is three times as quick here as CaDiCaL, with clauses added on and on.
        with Solver("glucose4", bootstrap_with=clauses) as solver:
            while solver.solve():
                model = [literal for literal in solver.get_model() if literal > 0]
                inside = [variable for variable in model if variable <= orbits]
                broken = self.missing_links(inside)
                for clause in broken or [tuple(-variable for variable in inside)]:
                    solver.add_clause(list(clause))
                if not broken:
                    yield model
                    if not inside:  # the only one there is
                        return

    def _shape(self, model: Sequence[int]) -> Shape:
        count = len(self.field.orbits)
        orbits = tuple(variable - 1 for variable in model if variable <= count)
        last = count + len(self.placements)
        chosen = (self.placements[v - count - 1] for v in model if count < v <= last)
        return Shape(orbits, tuple(sorted(chosen)))

    @property
    def clauses(self) -> list[Clause]:
        """What a shape is, but for its links: orbits first, then `placements`, then helpers."""
        orbits = len(self.field.orbits)
        writer = Writer(orbits + len(self.placements))
        by_cell: list[list[int]] = [[] for _ in self.field.cells]
        by_kind: list[list[int]] = [[] for _ in self.kinds]
        for variable, (kind, cells) in enumerate(self.placements, orbits + 1):
            by_kind[kind].append(variable)
            for cell in cells:
                by_cell[cell].append(variable)
            for orbit in {self.field.orbit[cell] for cell in cells}:
                writer.add((-variable, orbit + 1))
        for cell, variables in enumerate(by_cell):
            writer.add((-(self.field.orbit[cell] + 1), *variables))
            writer.at_most_one(variables)
        for copies, variables in zip(self.kinds, by_kind, strict=True):
            writer.exactly(len(copies), dict.fromkeys(variables, 1))
        self._say_one_representative(writer, by_kind)
        self._say_area(writer)
        self._say_where(writer)
        return writer.clauses

    def _say_area(self, writer: Writer) -> None:
        """The orbits have as many cells as the pieces: implied, but it helps."""
        area = sum(len(piece.forms[0].cells) for piece in self.pieces)
        unit = math.gcd(area, *self.field.weights)
        weights = {orbit: weight // unit for orbit, weight in enumerate(self.field.weights, 1)}
        writer.exactly(area // unit, weights)

    def _say_where(self, writer: Writer) -> None:
        """Parts do not overlap, none is empty, each reaches as far as is asked, and the mirrors."""
        field = self.field
        by_part, edges = defaultdict[int, list[int]](list), defaultdict[int, list[int]](list)
        for orbit, others in enumerate(field.conflicts):
            part = field.part_of(orbit)
            by_part[part].append(orbit + 1)
            if field.half_widths([orbit])[part] == field.parts[part].half_width:
                edges[part].append(orbit + 1)
            for other in others:
                if orbit < other:
                    writer.add((-(orbit + 1), -(other + 1)))
        for part in range(len(field.parts)):
            writer.at_least_one(by_part[part])
            if self.outermost:
                writer.at_least_one(edges[part])
        if not self.rigid:
            return
        for mirror in field.mirrors:
            writer.at_least_one([orbit + 1 for orbit in sorted(mirror)])
            for orbit, near in enumerate(field.near):
                if orbit not in mirror:
                    writer.add((-(orbit + 1), *(o + 1 for o in sorted(near - {orbit}))))

    def _say_one_representative(self, writer: Writer, by_kind: Sequence[Sequence[int]]) -> None:
        """Of one kind without copies, one placement for all of its images.

        A move that the pieces may make carries tilings to tilings of the same shape, so that one
        of the tilings has the kind in the least of its places. A large piece helps most.
        """
        single = [kind for kind, each in enumerate(self.kinds) if len(each) == 1]
        if not single:
            return
        largest = max(single, key=lambda kind: len(self.kinds[kind][0].forms[0].cells))
        moves = [
            turned
            for turned, symmetry in zip(
                self.field.turned, self.field.lattice.symmetries, strict=True
            )
            if self.flips or not symmetry.flipped
        ]

        def is_least(variable: int) -> bool:
            cells = self.placements[variable - len(self.field.orbits) - 1][1]
            return all(cells <= tuple(sorted(move[cell] for cell in cells)) for move in moves)

        for variable in by_kind[largest]:
            if not is_least(variable):
                writer.add((-variable,))

    def missing_links(self, model: list[int]) -> list[Clause]:
        """Clauses that a model breaks since some part of it does not reach a mirror.

        For each orbit of such a part, that it is not in the shape or one of the orbits around the
        part is: no way leads from it to the mirror but through those.
        """
        near, inside = self.field.near, {variable - 1 for variable in model}
        clauses, waiting = list[Clause](), set(inside)
        while self.rigid and waiting:
            component, frontier = set[int](), {waiting.pop()}
            while frontier:
                component |= frontier
                frontier = {other for one in frontier for other in near[one]} & waiting
                waiting -= frontier
            if all(component & mirror for mirror in self.field.mirrors):
                continue
            around = sorted({other for one in component for other in near[one]} - component)
            clauses += [(-(one + 1), *(other + 1 for other in around)) for one in component]
        return clauses


def shapes_by_sat(
    field: Field, pieces: tuple[Piece, ...], flips: bool = False, rigid: bool = True
) -> list[Shape]:
    """All symmetric shapes of a field that use every piece once, each with one of its tilings."""
    return BySat(field, pieces, flips, rigid).search()
