"""What `fabkit solve` says: sentences and small pictures for people, a document for scripts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from string import ascii_letters, digits
from typing import Any

from fabkit.cli.report import Report
from fabkit.core.errors import many
from fabkit.model.puzzle import rings_in_units
from fabkit.solve.answer import IMPOSSIBLE, SOLVED, UNKNOWN, Answer, starts
from fabkit.solve.difficulty import Difficulty, difficulty
from fabkit.solve.engines.engine import Effort
from fabkit.solve.posing import Layout, PosedChallenge, outlines

#: How many solutions remain with a piece, by its kind, on some cells.
Counts = Mapping[tuple[int, tuple[int, ...]], int]
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
    options, solved = posed.problem.options, SOLVED if found.solutions else IMPOSSIBLE
    document |= {"status": solved, "count": found.solutions}
    report.say(f"{posed.challenge.id}: {many(found.solutions, 'solution')}")
    placed = {(options[at].kind, options[at].cells): n for at, n in found.placements.items()}
    clues: Counts = {(kind, (cell,)): n for (kind, cell), n in found.clues.items()}
    title = "clues of one cell and the piece that covers it"
    document["placements"] = _tell_counts("starts of one placed piece", placed, posed, report)
    document["clues"] = _tell_counts(title, clues, posed, report)
    report.document(document)
    return 0 if found.solutions else 1


def _tell_counts(
    title: str,
    counts: Counts,
    posed: PosedChallenge,
    report: Report,
) -> dict[str, Any]:
    """Says how many solutions remain with a piece on some cells; returns what scripts are told."""
    possible = [count for count in counts.values() if count]
    report.say(f"{title}: {len(counts)}, of which {len(possible)} have a solution")
    least = min(possible, default=0)
    drawn_as = "cells" if posed.puzzle.lattice.cells_per_unit == 1 else "outline"
    each: list[Any] = []
    best: list[str] = []
    never: list[str] = []
    for (kind, cells), count in counts.items():
        piece = posed.kinds[kind][0]
        (drawn,) = _plain(posed, {piece: frozenset(posed.cells[one] for one in cells)}).values()
        each.append({"piece": piece, drawn_as: drawn, "count": count})
        if count in (0, least):
            (best if count else never).append(f"{piece} {_spelt(drawn)}")
    if best:
        what = "exactly one solution" if least == 1 else f"the fewest, {least} solutions"
        report.say(f"  with {what}: {len(best)}")
        for start in best[:_MOST_LISTED]:
            report.say(f"    {start}")
        if len(best) > _MOST_LISTED:
            report.say(f"    … and {len(best) - _MOST_LISTED} more, with --json")
        if 0 < len(never) <= _MOST_LISTED:
            report.say(f"  impossible: {', '.join(never)}")
    return {
        "total": len(each),
        "possible": len(possible),
        "unique": possible.count(1),
        "fewest": least,
        "each": each,
    }


def _spelt(drawn: list[Any]) -> str:
    """Cells or an outline's corners on one line; holes after a bar."""
    if isinstance(drawn[0][0], tuple):
        return " | ".join(map(_spelt, drawn))
    return " ".join(map(str, drawn))


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
            [tuple(int(x) if x == int(x) else x for x in corner) for corner in ring]
            for ring in rings_in_units(puzzle.lattice, rings)
        ]
        found[piece] = plain[0] if len(plain) == 1 else plain
    return found


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


def _grid(labels: Mapping[tuple[int, int], str], shifted: bool) -> Iterator[str]:
    """Lines of labels; odd rows half a cell to the right when the lattice shifts them."""
    width = max(map(len, labels.values())) + 1
    width += width & 1 if shifted else 0
    rows, cols = sorted({row for row, _ in labels}), sorted({col for _, col in labels})
    for row in range(rows[0], rows[-1] + 1):
        cells = [labels.get((row, col), "·") for col in range(cols[0], cols[-1] + 1)]
        indent = width // 2 if shifted and row & 1 else 0
        yield " " * indent + "".join(cell.ljust(width) for cell in cells).rstrip(" ·")
