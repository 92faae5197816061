"""An entry: a challenge with all that a reader or a player is told of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fabkit.model.lattice import Cell, Lattice
from fabkit.model.piece import at_anchor, orientations
from fabkit.model.polygon import cells_of_rings
from fabkit.model.puzzle import Challenge, Given, PuzzleSet

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
        pieces: ids of the pieces to use, each at most once.
        given: pieces already placed.
        flips: whether pieces may be turned over.
        halves: cells of the lattice in one of its units' length: 1; or 2 where pieces lie on two
            lattices half a unit apart. Then `region`, `given` and `solution` are cells of the same
            kind of lattice with units half as long, four of them in each cell of a piece.
        parity: of a snowflake, where its centre is: ``even`` at a corner of the grid, ``odd`` in the
            middle of a square, ``mixed`` for pieces on two lattices; empty for anything else.
        status: ``solved``, ``impossible`` or ``unknown``.
        solution: for each piece its cells, given ones included; None when there is none, or none is
            known.
        count: how many solutions are known; None when they were not counted.
        count_complete: whether there are no more.
        level: how hard it is, such as ``junior``; empty when that is not known.
        score: the same as a number; None when it is not known.
        pieces_count: see `fabkit.model.puzzle.Challenge`.
    """

    id: str
    title: str
    kind: str
    region: frozenset[Cell]
    pieces: tuple[str, ...]
    given: tuple[Given, ...] = ()
    flips: bool = False
    halves: int = 1
    parity: str = ""
    status: str = "unknown"
    solution: Mapping[str, frozenset[Cell]] | None = None
    count: int | None = None
    count_complete: bool = False
    level: str = ""
    score: float | None = None
    pieces_count: int | None = None


def entry_of(challenge: Challenge, kind: str = "") -> Entry:
    """A challenge of which nothing more is known.

    Args:
        challenge: what is asked.
        kind: one of `KINDS`; when empty, a starting position if pieces lie there, else a challenge.

    Example:
        >>> from fabkit.model.library import load_set
        >>> square = load_set("fridgeiq").challenges[0]
        >>> entry_of(square).kind, entry_of(square).title == square.id
        ('challenge', True)
    """
    return Entry(
        id=challenge.id,
        title=challenge.title or challenge.id,
        kind=kind or ("start" if challenge.given else "challenge"),
        region=challenge.region,
        pieces=challenge.pieces,
        given=challenge.given,
        flips=challenge.flips,
        pieces_count=challenge.pieces_count,
    )


def challenge_of(entry: Entry) -> Challenge:
    """What an entry asks, in cells of its own units; see `Entry.halves`.

    Example:
        >>> from fabkit.model.library import load_set
        >>> square = load_set("fridgeiq").challenges[0]
        >>> challenge_of(entry_of(square)).region == square.region
        True
    """
    return Challenge(
        entry.id,
        entry.region,
        entry.pieces,
        entry.given,
        entry.flips,
        title=entry.title,
        pieces_count=entry.pieces_count,
    )


def in_halves(lattice: Lattice, cells: Iterable[Cell]) -> frozenset[Cell]:
    """Cells as cells of the same lattice with units half as long: four for each.

    Args:
        lattice: one of squares, whole or cut; hexagons are not made of smaller ones.
        cells: any of its cells.

    Raises:
        ValueError: when the lattice is the triangular one.

    Example:
        >>> from fabkit.model.lattice import LATTICES
        >>> sorted(in_halves(LATTICES["square"], [(1, -1)]))
        [(1, -3), (1, -1), (3, -3), (3, -1)]
    """
    of_kind = {
        kind: cells_of_rings(lattice, [tuple((2 * x, 2 * y) for x, y in lattice.ring(kind))])
        for kind in lattice.corners
    }
    found = set[Cell]()
    for cell in cells:
        kind = lattice.residue(cell)
        dx, dy = 2 * (cell[0] - kind[0]), 2 * (cell[1] - kind[1])
        found.update((x + dx, y + dy) for x, y in of_kind[kind])
    return frozenset(found)


class Images:
    """The images of a set's pieces under its moves, each worked out once.

    Example:
        >>> from fabkit.model.library import load_set
        >>> fridgeiq = load_set("fridgeiq")
        >>> images, q = Images(fridgeiq), fridgeiq.piece("Q").forms[0].cells
        >>> small = in_halves(fridgeiq.lattice, q)
        >>> images.has("Q", q), images.has("Q", small), images.has("Q", small, halves=2)
        (True, False, True)
    """

    def __init__(self, puzzle: PuzzleSet) -> None:
        self._puzzle = puzzle
        self._pieces = {piece.id: piece for piece in puzzle.pieces}
        self._known: dict[tuple[str, bool, int], frozenset[frozenset[Cell]]] = {}

    def has(
        self, piece_id: str, cells: frozenset[Cell], flips: bool = False, halves: int = 1
    ) -> bool:
        """Whether cells are a piece, turned (or turned over) and moved; see `Entry.halves`."""
        if not cells:
            return False
        key = piece_id, flips, halves
        if key not in self._known:
            self._known[key] = frozenset(self._images(*key))
        return at_anchor(self._puzzle.lattice, cells) in self._known[key]

    def _images(self, piece_id: str, flips: bool, halves: int) -> Iterable[frozenset[Cell]]:
        lattice = self._puzzle.lattice
        for one in orientations(lattice, self._pieces[piece_id], flips):
            cells = one.cells if halves == 1 else in_halves(lattice, one.cells)
            yield at_anchor(lattice, cells)


def wrong_with(entry: Entry, images: Images) -> str:
    """Why an entry's solution is none, in a sentence; empty when it is one.

    Args:
        entry: with a solution, of pieces that there are.
        images: of the set's pieces.

    Example:
        >>> from fabkit.model.library import load_set
        >>> fridgeiq = load_set("fridgeiq")
        >>> q = fridgeiq.piece("Q").forms[0].cells
        >>> one = Entry("one", "One", "challenge", q, ("Q",), solution={"Q": q})
        >>> wrong_with(one, Images(fridgeiq))
        ''
        >>> two = Entry("two", "Two", "challenge", q, ("Q", "B"), solution={"Q": q, "B": q})
        >>> wrong_with(two, Images(fridgeiq))
        'pieces Q and B overlap'
    """
    solution = entry.solution or {}
    used = [piece_id for piece_id in entry.pieces if piece_id in solution]
    if not len(used) == len(solution) == (entry.pieces_count or len(entry.pieces)):
        return "it does not use the pieces of the challenge, each once"
    owners: dict[Cell, str] = {}
    for piece_id in used:
        cells = solution[piece_id]
        if not images.has(piece_id, cells, entry.flips, entry.halves):
            moves = "turns and flips" if entry.flips else "turns"
            return f"piece {piece_id} has another shape under the moves allowed ({moves})"
        if overlapped := next((owners[cell] for cell in sorted(cells) if cell in owners), None):
            return f"pieces {overlapped} and {piece_id} overlap"
        owners |= dict.fromkeys(cells, piece_id)
    if owners.keys() != entry.region:
        return "it does not cover the region exactly"
    if moved := [one.piece for one in entry.given if solution.get(one.piece) != one.cells]:
        return f"piece {moved[0]} lies elsewhere than it is given"
    return ""
