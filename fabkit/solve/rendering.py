"""An answer in words, as a document for scripts, and its solutions as pictures of letters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from string import ascii_letters, digits
from typing import Any

from fabkit.core.errors import many
from fabkit.solve.answer import IMPOSSIBLE, UNKNOWN, Answer
from fabkit.solve.difficulty import Difficulty
from fabkit.solve.posing import Layout, PosedChallenge


def verdict(posed: PosedChallenge, question: str, answer: Answer) -> str:
    """What is known, in a sentence."""
    if answer.status == IMPOSSIBLE:
        why = answer.reason or f"{answer.engine} tried everything ({many(answer.nodes, 'node')})"
        return f"impossible: {why}"
    if answer.status == UNKNOWN:
        return "unknown: the budget was spent before a solution was found"
    if question == "unique":
        return _uniqueness(posed, answer)
    if question == "first":
        return "solved"
    return in_words(answer) or "at least one solution, and more may follow"


def _uniqueness(posed: PosedChallenge, answer: Answer) -> str:
    if answer.unique:
        return "the solution is unique"
    if answer.unique is None:
        return "unknown: the budget was spent before a second solution was found or excluded"
    if len(answer.solutions) == 2 and posed.problem.are_images(*answer.solutions):
        moves = "turn or mirror image" if posed.challenge.flips else "turn"
        return f"not unique: the second solution found is a {moves} of the first"
    return "not unique: there are at least two solutions"


def in_words(answer: Answer) -> str:
    """How many solutions there are, as far as that is known; empty when nothing is."""
    if answer.count is None:
        least = answer.count_at_least or 0
        return f"at least {many(least, 'solution')}" if least > 1 else ""
    said = many(answer.count, "solution")
    if answer.count_up_to_symmetry not in (None, answer.count):
        said += f", {answer.count_up_to_symmetry:,} up to symmetry"
    if answer.count_labelled != answer.count:
        said += f" ({answer.count_labelled:,} with identical pieces told apart)"
    return said


def document(posed: PosedChallenge, answer: Answer, rating: Difficulty | None) -> dict[str, Any]:
    """The JSON document of an answer."""
    found: dict[str, Any] = {
        "set": posed.puzzle.name,
        "challenge": posed.challenge.id,
        "status": answer.status,
        "count": answer.count,
        "count_labelled": answer.count_labelled,
        "count_at_least": answer.count_at_least,
        "count_up_to_symmetry": answer.count_up_to_symmetry,
        "unique": answer.unique,
        "engine": answer.engine,
        "nodes": answer.nodes,
        "seconds": round(answer.seconds, 3),
        "reason": answer.reason or None,
        "solutions": [
            {piece: posed.drawn(cells)[1] for piece, cells in posed.layout(solution).items()}
            for solution in answer.solutions
        ],
    }
    if rating is not None:
        found["difficulty"] = {
            "score": round(rating.score, 3),
            "level": rating.level,
            "tries": round(rating.tries, 3),
            "free_moves": round(rating.free_moves, 3),
            "solutions": rating.solutions,
        }
    return found


def picture(posed: PosedChallenge, layout: Layout) -> Iterator[str]:
    """A layout in the terminal, as lines of letters."""
    lattice = posed.puzzle.lattice
    if lattice.cells_per_unit > 1:
        return _quarters(posed, layout)
    labels = {
        lattice.row_col(cell): posed.puzzle.piece(piece).label
        for piece, cells in layout.items()
        for cell in cells
    }
    return _grid(labels, shifted=lattice.name == "triangular")


#: How the quarters of a unit square are drawn, line by line: left, upper, right and lower; as large
#: as fits across a terminal.
_QUARTERS = (("luuuur", "lllrrr", "lddddr"), ("luur", "lddr"), ("ur", "ld"))
_SIDES = {(3, 1): "d", (5, 3): "r", (3, 5): "u", (1, 3): "l"}
_ACROSS = 80


def _quarters(posed: PosedChallenge, layout: Layout) -> Iterator[str]:
    """Lines of letters, one for each piece; dots where the region stays bare."""
    lattice, letters = posed.puzzle.lattice, _letters(posed, layout)
    drawn = dict.fromkeys(posed.challenge.region, "·")
    drawn |= {cell: letters[piece] for piece, cells in layout.items() for cell in cells}
    quarter = {
        (*lattice.row_col(cell), _SIDES[lattice.residue(cell)]): letter
        for cell, letter in drawn.items()
    }
    rows, cols = sorted({row for row, _, _ in quarter}), sorted({col for _, col, _ in quarter})
    width = cols[-1] - cols[0] + 1
    fitting = [way for way in _QUARTERS if len(way[0]) * width <= _ACROSS]
    for row in range(rows[0], rows[-1] + 1):
        for pattern in [*fitting, _QUARTERS[-1]][0]:
            found = (
                quarter.get((row, col, side), " ")
                for col in range(cols[0], cols[-1] + 1)
                for side in pattern
            )
            yield "".join(found).rstrip()
    for piece, letter in letters.items():
        if letter != posed.puzzle.piece(piece).label:
            yield f"{letter} is {piece}"


def _letters(posed: PosedChallenge, layout: Layout) -> dict[str, str]:
    """A letter for each piece: its label's, where that is one of its own."""
    found: dict[str, str] = {}
    for piece in layout:
        wanted = (*posed.puzzle.piece(piece).label, *piece, *ascii_letters, *digits)
        free = [one for one in wanted if one.isprintable() and one not in (*found.values(), " ")]
        found[piece] = [*free, "#"][0]
    return found


def _grid(labels: Mapping[tuple[int, int], str], shifted: bool) -> Iterator[str]:
    """Lines of labels; odd rows half a cell to the right when the lattice shifts them."""
    width = max(map(len, labels.values())) + 1
    width += width & 1 if shifted else 0
    rows, cols = sorted({row for row, _ in labels}), sorted({col for _, col in labels})
    for row in range(rows[0], rows[-1] + 1):
        cells = [labels.get((row, col), "·") for col in range(cols[0], cols[-1] + 1)]
        indent = width // 2 if shifted and row & 1 else 0
        yield " " * indent + "".join(cell.ljust(width) for cell in cells).rstrip(" ·")
