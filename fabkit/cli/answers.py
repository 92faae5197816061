"""What `fabkit solve` says: sentences and small pictures for people, a document for scripts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_letters, digits
from typing import Any

from fabkit.cli.report import Report
from fabkit.core.errors import many
from fabkit.model.lattice import Lattice, Ring
from fabkit.model.polygon import rings_of_cells, spelt
from fabkit.model.puzzle import in_units
from fabkit.solve.answer import IMPOSSIBLE, SOLVED, UNKNOWN, Answer, starts
from fabkit.solve.difficulty import Difficulty, difficulty
from fabkit.solve.engines.engine import Effort
from fabkit.solve.posing import Layout, PosedChallenge, outlines

_MOST_SHOWN = 3
_MOST_LISTED = 10


def tell(
    posed: PosedChallenge, question: str, answer: Answer, rating: Difficulty | None, report: Report
) -> None:
    """Says what was found."""
    if not report.json:
        for solution in answer.solutions[:_MOST_SHOWN]:
            _draw(posed, posed.layout(solution), report)
        if len(answer.solutions) > _MOST_SHOWN:
            report.say(f"… and {len(answer.solutions) - _MOST_SHOWN} more, with --json")
    report.say(f"{posed.challenge.id}: {_verdict(posed, question, answer)}")
    if rating is not None:
        report.say(
            f"difficulty {rating.score:.1f} ({rating.level}): {rating.tries:.0f} tries, "
            f"{rating.free_moves:.1f} free moves on the way"
        )
    unit = "state" if answer.engine == "count" else "node"
    report.detail(f"engine {answer.engine}, {many(answer.nodes, unit)}, {answer.seconds:.2f} s")


def _verdict(posed: PosedChallenge, question: str, answer: Answer) -> str:
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
        "solutions": [_plain(posed, posed.layout(solution)) for solution in answer.solutions],
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


def rating(posed: PosedChallenge, answer: Answer, budget_s: float | None) -> Difficulty | None:
    """How hard the challenge is; None when it has no solution, or none is found in time."""
    if answer.status == IMPOSSIBLE:
        return None
    return difficulty(posed.problem, answer.count, Effort(budget_s))


def tell_starts(posed: PosedChallenge, effort: Effort, report: Report) -> int:
    """Says how many solutions every start leaves; returns the exit code."""
    found = starts(posed, effort)
    document: dict[str, Any] = {"set": posed.puzzle.name, "challenge": posed.challenge.id}
    if found is None:
        report.say(f"{posed.challenge.id}: unknown: the budget was spent before all was counted")
        report.document({**document, "status": UNKNOWN, "count": None})
        return 1
    options = posed.problem.options
    counts: dict[str, list[_Start]] = {
        "placements": [
            _Start(posed, options[position].kind, options[position].cells, count)
            for position, count in found.placements.items()
        ],
        "clues": [
            _Start(posed, kind, (cell,), count) for (kind, cell), count in found.clues.items()
        ],
    }
    titles = {
        "placements": "starts of one placed piece",
        "clues": "clues of one cell and the piece that covers it",
    }
    report.say(f"{posed.challenge.id}: {many(found.solutions, 'solution')}")
    for name, each in counts.items():
        _tell_counts(titles[name], each, report)
    document["status"] = SOLVED if found.solutions else IMPOSSIBLE
    document["count"] = found.solutions
    report.document({**document, **{n: _starts_document(each) for n, each in counts.items()}})
    return 0 if found.solutions else 1


@dataclass(frozen=True)
class _Start:
    """A piece on some cells, and how many solutions that leaves."""

    posed: PosedChallenge
    kind: int
    cells: tuple[int, ...]
    count: int

    @property
    def piece(self) -> str:
        return self.posed.kinds[self.kind][0]

    def __str__(self) -> str:
        cells = frozenset(self.posed.cells[cell] for cell in self.cells)
        lattice = self.posed.puzzle.lattice
        if lattice.cells_per_unit > 1:
            return f"{self.piece} {_corners(rings_of_cells(lattice, cells), lattice)}"
        places = (f"[{row}, {col}]" for row, col in sorted(map(self.posed.row_col, cells)))
        return f"{self.piece} {' '.join(places)}"

    def document(self) -> dict[str, Any]:
        """For JSON, drawn as solutions are."""
        layout = {self.piece: frozenset(self.posed.cells[cell] for cell in self.cells)}
        drawn = _plain(self.posed, layout)[self.piece]
        key = "cells" if self.posed.puzzle.lattice.cells_per_unit == 1 else "outline"
        return {"piece": self.piece, key: drawn, "count": self.count}


def _tell_counts(title: str, each: Sequence[_Start], report: Report) -> None:
    possible = [start.count for start in each if start.count]
    report.say(f"{title}: {len(each)}, of which {len(possible)} have a solution")
    if not possible:
        return
    least = min(possible)
    best = [start for start in each if start.count == least]
    what = "exactly one solution" if least == 1 else f"the fewest, {least} solutions"
    report.say(f"  with {what}: {len(best)}")
    for start in best[:_MOST_LISTED]:
        report.say(f"    {start}")
    if len(best) > _MOST_LISTED:
        report.say(f"    … and {len(best) - _MOST_LISTED} more, with --json")
    never = [start for start in each if not start.count]
    if 0 < len(never) <= _MOST_LISTED:
        report.say(f"  impossible: {', '.join(map(str, never))}")


def _starts_document(each: Sequence[_Start]) -> dict[str, Any]:
    possible = [start.count for start in each if start.count]
    return {
        "total": len(each),
        "possible": len(possible),
        "unique": possible.count(1),
        "fewest": min(possible, default=0),
        "each": [start.document() for start in each],
    }


def _plain(posed: PosedChallenge, layout: Layout) -> dict[str, Any]:
    """A layout for JSON: outlines in grid units where pieces are drawn so, cells elsewhere."""
    puzzle = posed.puzzle
    if puzzle.lattice.cells_per_unit == 1:
        return {
            piece: sorted(list(posed.row_col(cell)) for cell in cells)
            for piece, cells in layout.items()
        }
    found: dict[str, Any] = {}
    for piece, rings in outlines(puzzle, layout).items():
        plain = [
            [[_number(x), _number(y)] for x, y in in_units(puzzle.lattice, ring)] for ring in rings
        ]
        found[piece] = plain[0] if len(plain) == 1 else plain
    return found


def _number(value: float) -> float | int:
    return int(value) if value == int(value) else value


def _draw(posed: PosedChallenge, layout: Layout, report: Report) -> None:
    """A layout in the terminal, as a picture of letters."""
    lattice = posed.puzzle.lattice
    if lattice.cells_per_unit > 1:
        lines = _quarters(posed, layout)
    else:
        labels = {
            lattice.row_col(cell): posed.puzzle.piece(piece).label
            for piece, cells in layout.items()
            for cell in cells
        }
        lines = _grid(labels, shifted=lattice.name == "triangular")
    for line in lines:
        report.say(line)
    report.say("")


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


def _corners(rings: Sequence[Ring], lattice: Lattice) -> str:
    """An outline's corners in grid units; holes after a bar."""
    return " | ".join(" ".join(spelt(lattice, corner) for corner in ring) for ring in rings)


def _grid(labels: Mapping[tuple[int, int], str], shifted: bool) -> Iterator[str]:
    """Lines of labels; odd rows half a cell to the right when the lattice shifts them."""
    width = max(map(len, labels.values())) + 1
    width += width & 1 if shifted else 0
    rows, cols = sorted({row for row, _ in labels}), sorted({col for _, col in labels})
    for row in range(rows[0], rows[-1] + 1):
        cells = [labels.get((row, col), "·") for col in range(cols[0], cols[-1] + 1)]
        indent = width // 2 if shifted and row & 1 else 0
        yield " " * indent + "".join(cell.ljust(width) for cell in cells).rstrip(" ·")
