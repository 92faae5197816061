"""An entry: a challenge with all that a reader or a player is told of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fabkit.model.lattice import Cell
from fabkit.model.puzzle import Given

#: What kinds of challenges there are, in the order in which they are listed: the set's boards, its
#: own challenges, starting positions, and shapes with the symmetry of a square.
KINDS = ("board", "challenge", "start", "snowflake")


@dataclass(frozen=True)
class Entry:
    """A challenge, and what is known of it.

    Attributes:
        id: its name in commands; unique in its set.
        title: its name for people, any text; the id when it has no other.
        kind: one of `KINDS`.
        region: the cells to cover.
        pieces: ids of the pieces to use, each once.
        given: pieces already placed.
        flips: whether pieces may be turned over.
        halves: cells of the lattice in one of its units' length: 1; or 2 where pieces lie on two
            lattices half a unit apart. Then `region`, `given` and `solution` are cells of the same
            kind of lattice with units half as long, four of them in each cell of a piece.
        status: ``solved``, ``impossible`` or ``unknown``.
        solution: for each piece its cells, given ones included; None when there is none, or none is
            known.
        count: how many solutions are known; None when they were not counted.
        count_complete: whether there are no more.
        level: how hard it is, such as ``junior``; empty when that is not known.
        score: the same as a number; None when it is not known.
    """

    id: str
    title: str
    kind: str
    region: frozenset[Cell]
    pieces: tuple[str, ...]
    given: tuple[Given, ...] = ()
    flips: bool = False
    halves: int = 1
    status: str = "unknown"
    solution: Mapping[str, frozenset[Cell]] | None = None
    count: int | None = None
    count_complete: bool = False
    level: str = ""
    score: float | None = None
