"""The two searches for symmetric shapes as tests call them, and who contradicts the oracle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from fabkit.model.piece import Piece, is_image
from fabkit.puzzles.snowflakes.closure import Closure
from fabkit.puzzles.snowflakes.field import Field
from fabkit.puzzles.snowflakes.tiling import IMPOSSIBLE, SOLVED, Tiler
from tests.support.snowflakesbysat import Shape, shapes_by_sat
from tests.support.snowflaketasks import Task, shape_cells

MOST_NODES = 20_000_000


def largest_first(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    return tuple(sorted(pieces, key=lambda piece: -len(piece.forms[0].cells)))


def candidates(
    field: Field, pieces: Iterable[Piece], flips: bool, rigid: bool
) -> dict[tuple[int, ...], np.ndarray]:
    """What the closure leaves, by orbits, with each one's row of words."""
    rows = Closure(field, largest_first(pieces), flips, rigid).candidates().rows
    return {
        tuple(
            orbit for orbit in range(len(field.orbits)) if int(row[orbit // 64]) >> orbit % 64 & 1
        ): np.ascontiguousarray(row[:-1])
        for row in rows
    }


def by_closure(field: Field, pieces: tuple[Piece, ...], flips: bool, rigid: bool) -> list[Shape]:
    tiler, found = Tiler(field, pieces, flips), []
    for orbits, row in candidates(field, pieces, flips, rigid).items():
        attempt = tiler.attempt(row, MOST_NODES)
        assert attempt.verdict in (SOLVED, IMPOSSIBLE)
        if attempt.verdict == SOLVED:
            found.append(Shape(orbits, tuple(sorted(attempt.tiling))))
    return sorted(found)


def tiles(field: Field, pieces: Sequence[Piece], flips: bool, shape: Shape) -> bool:
    """Whether the pieces cover the shape's orbits once each, every piece as it may lie."""
    kinds = Tiler(field, tuple(pieces), flips).kinds
    covered = sorted(cell for _, cells in shape.tiling for cell in cells)
    return (
        Counter(kind for kind, _ in shape.tiling) == dict(enumerate(map(len, kinds)))
        and covered == sorted(cell for orbit in shape.orbits for cell in field.orbits[orbit])
        and all(
            len({field.cells[number][0] for number in numbers}) == 1
            and is_image(
                field.lattice,
                kinds[kind][0],
                frozenset(field.cells[number][1] for number in numbers),
                flips,
            )
            for kind, numbers in shape.tiling
        )
    )


SEARCHES: tuple[Callable[[Field, tuple[Piece, ...], bool, bool], list[Shape]], ...] = (
    by_closure,
    shapes_by_sat,
)


def wrong(task: Task, rigid: bool) -> set[str]:
    """The searches that the oracle contradicts, or whose tilings are none, or that repeat."""
    field, pieces, flips = task.field, task.pieces, task.flips
    expected, found = task.board.find(task.drawn, flips, rigid), set()
    for search in SEARCHES:
        shapes = search(field, pieces, flips, rigid)
        if (
            sorted(shape.orbits for shape in shapes) != [shape.orbits for shape in shapes]
            or len(shapes) != len(expected)
            or {shape_cells(field, shape.orbits) for shape in shapes} != expected
            or not all(tiles(field, pieces, flips, shape) for shape in shapes)
        ):
            found.add(search.__name__)
    return found
