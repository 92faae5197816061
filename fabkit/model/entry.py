"""Kinds and levels of challenges, and what makes a solution valid."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import replace

from fabkit.model.clues import ClueFilter
from fabkit.model.lattice import Cell, Lattice
from fabkit.model.piece import Form, Piece, is_image
from fabkit.model.polygon import cells_of_rings, rings_of_cells
from fabkit.model.puzzle import MOVES, Challenge, Entry, PuzzleSet

#: Kinds of challenges in listing order: the set's boards, its own challenges, starting positions,
#: and shapes with the symmetry of a square.
KINDS = ("board", "challenge", "start", "snowflake")

#: Prefix for the id of a user's challenge whose name is taken.
OWN_PREFIX = "made-"

#: Levels as printed on the boxes, from easy to hard.
LEVELS = ("starter", "junior", "expert", "master", "wizard")
#: The lowest scores of the second level and those after it, for every set and kind of challenge.
#: They separate the levels of the books of IQ Fit and IQ Stars with the fewest exceptions; but for
#: the last, where the books differ: masters of the one score up to 16, wizards of the other from 9
#: to 13.
LEVEL_SCORES = (5.25, 8.0, 10.0, 13.5)
#: A challenge with more pieces to place is none for starters, whatever its score.
_STARTER_PIECES = 4


def level_of(challenge: Challenge, score: float) -> str:
    """Return the level of a challenge with a score of `fabkit.solve.difficulty`.

    Example:
        >>> from fabkit.sets.library import load_set
        >>> board = load_set("iqfit").whole_board(load_set("iqfit").boards[0])
        >>> level_of(board, 2.0), level_of(board, 9.0)
        ('junior', 'expert')
    """
    free_count = challenge.pieces_used - len(challenge.given)
    level = bisect_right(LEVEL_SCORES, round(score, 3))  # as it is written
    return LEVELS[max(level, 1) if free_count > _STARTER_PIECES else level]


def entry_of(challenge: Challenge, kind: str = "") -> Entry:
    """Return an entry for a challenge, by default a ``start`` if it gives something away."""
    is_start = challenge.given or challenge.clues
    return Entry(challenge, kind or ("start" if is_start else "challenge"))


def subdivide(lattice: Lattice, cells: Iterable[Cell], halves: int = 2) -> frozenset[Cell]:
    """Split each cell into four of the same lattice with units half as long; see `Entry.halves`.

    Works for lattices of squares, whole or quartered: hexagons cannot be subdivided.
    """
    if halves == 1:
        return frozenset(cells)
    quarters = {
        kind: cells_of_rings(lattice, [tuple((2 * x, 2 * y) for x, y in lattice.ring(kind))])
        for kind in lattice.corners
    }
    subdivided = set[Cell]()
    for cell in cells:
        kind = lattice.residue(cell)
        dx, dy = 2 * (cell[0] - kind[0]), 2 * (cell[1] - kind[1])
        subdivided.update((x + dx, y + dy) for x, y in quarters[kind])
    return frozenset(subdivided)


def halved(lattice: Lattice, piece: Piece) -> Piece:
    """Return a piece in units half as long: the cells of its forms are subdivided."""
    parts = (subdivide(lattice, form.cells) for form in piece.forms)
    forms = tuple(Form("", cells, rings_of_cells(lattice, cells)) for cells in parts)
    return replace(piece, forms=forms)


def solution_error(entry: Entry, puzzle: PuzzleSet) -> str:
    """Explain why an entry's solution, of existing pieces, is invalid; empty if it is valid."""
    return next(_solution_errors(entry, puzzle), "")


def _solution_errors(entry: Entry, puzzle: PuzzleSet) -> Iterator[str]:
    """Yield what makes a solution invalid; each check needs those before it to pass."""
    challenge = entry.challenge
    solution = entry.solution
    used = [piece_id for piece_id in challenge.pieces if piece_id in solution]
    if not len(used) == len(solution) == challenge.pieces_used:
        yield "it does not use the pieces of the challenge, each once"
    owners: dict[Cell, str] = {}
    for piece_id in used:
        cells = solution[piece_id]
        piece = puzzle.piece(piece_id)
        piece = piece if entry.halves == 1 else halved(puzzle.lattice, piece)
        if not is_image(puzzle.lattice, piece, cells, challenge.flips):
            moves = MOVES[challenge.flips]
            yield f"piece {piece_id} has another shape under the allowed moves ({moves})"
        if overlapped := next((owners[cell] for cell in sorted(cells) if cell in owners), None):
            yield f"pieces {overlapped} and {piece_id} overlap"
        owners |= dict.fromkeys(cells, piece_id)
    bare = challenge.region - owners.keys()
    if not owners.keys() <= challenge.region or len(bare) != challenge.open_count:
        yield "it does not cover the region exactly"
    for given in challenge.given:
        if solution.get(given.piece) != given.cells:
            yield f"piece {given.piece} is not where it is given"
    for piece_id, cells in solution.items() if challenge.clues else ():
        piece = puzzle.piece(piece_id)
        clues = ClueFilter(puzzle.lattice, piece, challenge.clues, challenge.flips)
        if not clues.allows(cells):
            yield f"piece {piece_id} contradicts a clue"
    if any(not clue.cells.isdisjoint(bare) for clue in challenge.clues):
        yield "it leaves the cell of a clue open"
