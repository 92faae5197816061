"""Rendering of answers: as sentences, as a JSON document, and solutions as pictures of letters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import ascii_letters, digits
from typing import Any

from fabkit.core.errors import pluralize
from fabkit.model.entry import level_of
from fabkit.model.lattice import Cell, Lattice
from fabkit.solve.answer import IMPOSSIBLE, UNKNOWN, Answer
from fabkit.solve.difficulty import Difficulty
from fabkit.solve.encoding import EncodedChallenge, Layout


def verdict(encoded: EncodedChallenge, question: str, answer: Answer) -> str:
    """Return the result as one sentence."""
    if answer.status == IMPOSSIBLE:
        if answer.reason:
            return f"no solution: {answer.reason}"
        return f"no solution ({answer.engine} exhausted, {pluralize(answer.nodes, 'node')})"
    if answer.status == UNKNOWN:
        return "unknown: time limit reached before a solution was found"
    if question == "unique":
        return _uniqueness(encoded, answer)
    if question == "first":
        return "solved"
    return count_text(answer, encoded) or "at least one solution; there may be more"


def _uniqueness(encoded: EncodedChallenge, answer: Answer) -> str:
    if answer.unique:
        return "exactly one solution"
    if answer.unique is None:
        return "unknown: time limit reached before a second solution was found or ruled out"
    if len(answer.solutions) == 2 and encoded.problem.are_images(*answer.solutions):
        cells = encoded.problem.cell_count
        symmetries = encoded.problem.symmetries
        mirrors = len({symmetry[cells:] for symmetry in symmetries}) > 1  # they swap kinds
        moves = "rotation or reflection" if encoded.challenge.flips or mirrors else "rotation"
        if encoded.box_count > 1:
            moves = "movement of boxes"
        within = ", within the free cells" if encoded.challenge.given else ""
        return f"not unique: the second solution is a {moves} of the first{within}"
    return "not unique: there are at least two solutions"


def count_text(answer: Answer, encoded: EncodedChallenge | None = None) -> str:
    """Return the number of solutions as text, empty when nothing is known; with the challenge, the
    text says how several boxes count."""
    if answer.count is None:
        minimum = answer.count_at_least or 0
        return f"at least {pluralize(minimum, 'solution')}" if minimum > 1 else ""
    text = pluralize(answer.count, "solution")
    if answer.count_up_to_symmetry not in (None, answer.count):
        text += f", {answer.count_up_to_symmetry:,} up to symmetry"
    if encoded is not None and not encoded.problem.all_symmetries:
        reason = "the boxes can be moved and exchanged in too many ways"
        text += f", not counted up to symmetry: {reason}"
    if answer.count_labelled not in (None, answer.count):
        text += f" ({answer.count_labelled:,} with identical pieces distinguished)"
    return text


def document(
    encoded: EncodedChallenge, answer: Answer, rating: Difficulty | None
) -> dict[str, Any]:
    """Return the JSON document of an answer."""
    document: dict[str, Any] = {
        "set": encoded.puzzle.name,
        "challenge": encoded.challenge.id,
        **vars(answer),
        "seconds": round(answer.seconds, 3),
        "reason": answer.reason or None,
        "solutions": [
            {
                piece: encoded.cells_or_outline(cells)[1]
                for piece, cells in encoded.decode(solution).items()
            }
            for solution in answer.solutions
        ],
    }
    if rating is not None:
        document["difficulty"] = {
            "score": round(rating.score, 3),
            "level": level_of(encoded.challenge, rating.score),
            "tries": round(rating.tries, 3),
            "free_moves": round(rating.free_moves, 3),
            "solutions": rating.solutions,
        }
    return document


def text_picture(encoded: EncodedChallenge, layout: Layout) -> list[str]:
    """Return a layout as lines of letters for the terminal, one letter for each piece, dots for
    uncovered cells. A legend follows if a letter is neither a piece's label nor its id."""
    lattice = encoded.puzzle.lattice
    letters = _letters(encoded, layout)
    picture = dict.fromkeys(encoded.challenge.region, "·")
    picture |= {cell: letters[piece] for piece, cells in layout.items() for cell in cells}
    return _lines(lattice, picture) + [
        f"{letter} is {piece}"
        for piece, letter in letters.items()
        if letter not in (encoded.puzzle.piece(piece).label, piece)
    ]


#: The width of a terminal.
TERMINAL_COLUMNS = 80


def _lines(lattice: Lattice, picture: Mapping[Cell, str]) -> list[str]:
    """Return the picture of cells; odd rows of a staggered lattice are half a cell to the right."""
    letters = {lattice.address(cell): letter for cell, letter in picture.items()}
    rows, cols = _span([row for row, _, _ in letters]), _span([col for _, col, _ in letters])
    patterns = lattice.pictures
    fitting = [pattern for pattern in patterns if len(pattern[0]) * len(cols) <= TERMINAL_COLUMNS]
    pattern = [*fitting, patterns[-1]][0]
    shift = " " * (len(pattern[0]) // 2)
    lines = []
    for row in rows:
        indent = shift if lattice.is_staggered and row & 1 else ""
        for line in pattern:
            text = "".join(
                " " if digit == " " else letters.get((row, col, int(digit, 16)), " ")
                for col in cols
                for digit in line
            )
            lines.append((indent + text).rstrip())
    return lines


def _span(numbers: Sequence[int]) -> range:
    return range(min(numbers), max(numbers) + 1)


def _letters(encoded: EncodedChallenge, layout: Layout) -> dict[str, str]:
    """Return a letter for each piece: its id if that is one letter, else one of its label."""
    letters = {piece: piece if len(piece) == 1 else "" for piece in layout}
    for piece in (piece for piece, letter in letters.items() if not letter):
        candidates = (*encoded.puzzle.piece(piece).label, *piece, *ascii_letters, *digits)
        used = {*letters.values(), " "}
        free = (letter for letter in candidates if letter.isprintable() and letter not in used)
        letters[piece] = next(free, "#")
    return letters
