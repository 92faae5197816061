"""What the browser shows of a set file while it is drawn: tables, shapes, errors, solutions."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import fields, is_dataclass
from typing import Any

from fabkit.core.errors import ErrorDetail, InputError
from fabkit.core.hashes import json_sha256
from fabkit.core.lines import lines_of
from fabkit.core.progress import Progress
from fabkit.model.puzzle import MOVES, Challenge, PuzzleSet
from fabkit.output.web.drawdata import draw_data
from fabkit.output.web.playdata import flat_list
from fabkit.studio.project import Emit, Project, parsed
from fabkit.studio.things import Drawings, as_table, tables

#: Time limit for the level of a challenge, in seconds.
_RATING_S = 5.0
#: Fields of pieces, boards, challenges and clues on which no solution depends.
_SHOWN = {"title", "answer", "label", "labels", "colour", "tone", "tones", "optional"}


def drawings_of(project: Project) -> Drawings:
    """Return what a set file draws, whether it has errors or not.

    Raises:
        InputError: when it is not TOML.
    """
    document, puzzle = parsed(project.text), None
    with suppress(InputError):
        puzzle = project.puzzle
    return Drawings(document, puzzle)


def read_project(project: Project) -> dict[str, Any]:
    """Read a set file for the browser.

    Returns:
        ``text``; ``faults``, each with its ``key``, ``message`` and ``line``; unless it is not
        TOML, its ``lattice``, ``marks``, whether pieces may be turned over (``flips``), its
        ``things`` (see `Drawings.document_of`), the tables of its ``challenges``, and ``rest``,
        which changes with everything but those; and, without faults, the set's ``shapes`` (see
        `draw_data`) and `questions`.
    """
    answer: dict[str, Any] = {"text": project.text, "faults": [], "things": [], "challenges": []}
    faults: list[ErrorDetail] = []
    try:
        document = parsed(project.text)
        try:
            rest = json_sha256({key: document[key] for key in document if key != "challenge"})
            json.dumps(document, allow_nan=False)
        except (TypeError, ValueError):
            found = "contains a date, or a number that is infinite or not a number"
            raise InputError.of(project.name, f"{found}; no key of a set accepts these") from None
        try:
            puzzle = project.puzzle
            answer |= {"shapes": draw_data(puzzle), "questions": questions(puzzle)}
        except InputError as error:
            faults += error.errors
        drawings = drawings_of(project)
        answer |= {
            "lattice": drawings.lattice.name,
            "marks": drawings.marks,
            "flips": as_table(document.get("set")).get("moves") != MOVES[0],
            "things": [drawings.document_of(thing, faults) for thing in drawings.things],
            "challenges": tables(document, "challenge"),
            "rest": rest,
        }
    except InputError as error:
        faults += error.errors
    answer["faults"] = [
        {
            "key": fault.key,
            "message": fault.message,
            "line": fault.line or lines_of(project.text, [str(fault)])[0] or 1,
        }
        for fault in faults
    ]
    return answer


def questions(puzzle: PuzzleSet) -> dict[str, str]:
    """Return a key by board, challenge and ``family ID``; it changes exactly if answers may."""
    asked: dict[str, Any] = {board.id: puzzle.whole_board(board) for board in puzzle.boards}
    asked |= {challenge.id: challenge for challenge in puzzle.challenges}
    asked |= {f"family {family.id}": family for family in puzzle.families}
    pieces = {piece.id: _plain(piece) for piece in puzzle.pieces}
    # What colours are does not matter, but which pieces have the same.
    named = {piece.colour: piece.id for piece in puzzle.pieces}
    keys = {}
    for name, challenge in asked.items():
        clues = challenge.clues if isinstance(challenge, Challenge) else challenge.board.clues
        used = puzzle.select(challenge.pieces)
        has_colours = any(clue.colour for clue in clues)
        colours = [named.get(part.colour) for part in (*clues, *used) if has_colours]
        parts = [_plain(challenge), [pieces[piece.id] for piece in used], colours]
        keys[name] = json_sha256([puzzle.lattice.name, *parts])
    return keys


def _plain(value: Any) -> Any:
    """Return what solutions depend on as lists for JSON, equal for equal values."""
    if is_dataclass(value):
        parts = [part.name for part in fields(value) if part.name not in _SHOWN]
        return [_plain(getattr(value, name)) for name in parts]
    if isinstance(value, frozenset):
        return sorted(map(_plain, value))
    return [*map(_plain, value)] if isinstance(value, tuple) else value


def solve(
    project: Project, challenge: str = "", *, emit: Emit, progress: Progress
) -> dict[str, Any]:
    """Solve a challenge of the set: find a solution, count all of them, rate it.

    Emits ``solution`` (the flat cells of each piece) as soon as there is one, ``atLeast`` while it
    counts, and ``answer`` with the count before it is rated.

    Args:
        challenge: its name, as `Project.challenge` takes it.

    Returns:
        ``answer``: status, count, count up to symmetry, uniqueness, reason and level.
    """
    from fabkit.model.entry import level_of
    from fabkit.solve.answer import SOLVED
    from fabkit.solve.answer import solve as answer_to
    from fabkit.solve.difficulty import difficulty
    from fabkit.solve.encoding import to_exact_cover
    from fabkit.solve.engines.engine import Budget

    asked = project.challenge(challenge)
    encoded = to_exact_cover(project.puzzle, asked)
    answer = answer_to(encoded, "first", budget=Budget(progress=progress))
    if answer.solutions:
        layout = encoded.decode(answer.solutions[0])
        emit({"solution": {piece: flat_list(sorted(layout[piece])) for piece in layout}})

    emitted_count = 1

    def report_count(share: float, text: str) -> None:
        nonlocal emitted_count
        if budget.count > emitted_count:
            emitted_count = budget.count
            emit({"atLeast": emitted_count})
        progress(share, text)

    if answer.status == SOLVED:
        budget = Budget(progress=report_count)
        answer = answer_to(encoded, "count", budget=budget)
    document: dict[str, Any] = {
        "challenge": asked.id,
        "status": answer.status,
        "count": answer.count,
        "upToSymmetry": answer.count_up_to_symmetry,
        "unique": answer.unique,
        "reason": answer.reason,
        "level": None,
    }
    emit({"answer": document})
    if answer.status == SOLVED:
        rating = difficulty(encoded.problem, answer.count, Budget(_RATING_S, progress))
        document["level"] = rating and level_of(asked, rating.score)
    return {"answer": document}
