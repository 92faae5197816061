"""What the browser shows of a set file while it is drawn: its tables, its shapes, its errors, its
solutions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fabkit.core.errors import InputError
from fabkit.core.lines import lines_of
from fabkit.core.parsing import parse_toml
from fabkit.core.progress import Progress
from fabkit.output.web.drawdata import draw_data
from fabkit.output.web.playdata import flat_list
from fabkit.sets.set_text import edit_text
from fabkit.studio.project import Emit, Project

if TYPE_CHECKING:
    from fabkit.solve.encoding import EncodedChallenge

#: Time limit for the level of a challenge, in seconds.
_RATING_S = 5.0


def read_project(project: Project, document: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Read a set file for the browser.

    Args:
        document: what the file is to contain instead; comments and order of the text are kept.

    Returns:
        ``text``; ``document``, the parsed text, null if it is not TOML; ``faults``, each with its
        ``key``, ``message`` and ``line``; and, without faults, the set's ``shapes``: see `draw_data`.
    """
    text = project.text if document is None else edit_text(project.text, document)
    answer: dict[str, Any] = {"text": text, "document": None, "faults": []}
    try:
        document = parse_toml(text, project.name)
        try:
            json.dumps(document, allow_nan=False)
        except (TypeError, ValueError):
            message = (
                "contains a date, or a number that is infinite or not a number; no key of a set "
                "accepts these"
            )
            raise InputError.of(project.name, message) from None
        answer["document"] = document
        answer["shapes"] = draw_data(Project(project.name, text, project.folder).puzzle)
    except InputError as error:
        lines = lines_of(text, [str(detail) for detail in error.errors])
        answer["faults"] = [
            {"key": detail.key, "message": detail.message, "line": line or 1}
            for detail, line in zip(error.errors, lines, strict=True)
        ]
    return answer


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
        emit({"solution": _solution(encoded, answer.solutions[0])})

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


def _solution(encoded: EncodedChallenge, solution: Sequence[int]) -> dict[str, list[int]]:
    return {piece: flat_list(sorted(cells)) for piece, cells in encoded.decode(solution).items()}
