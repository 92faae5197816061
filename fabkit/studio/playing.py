"""Challenges in the studio: those of a set with their levels, their page, and new ones."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import count as numbers
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from fabkit.core.documents import choice
from fabkit.core.formats import json_text
from fabkit.core.hashes import digest
from fabkit.core.progress import Progress
from fabkit.core.staging import write_atomically
from fabkit.model.entry import LEVELS
from fabkit.puzzles.graded import CLUE_KINDS
from fabkit.studio.project import Emit, Project

if TYPE_CHECKING:
    from fabkit.model.puzzle import Entry
    from fabkit.puzzles.graded.generate import GeneratedChallenges

#: The most challenges to ask for at once; the command makes more.
_MAX_COUNT = 200
#: The longest time limit, in seconds.
_MAX_S = 3600


def challenges(
    project: Project, more: Sequence[dict[str, Any]] = (), *, emit: Emit, progress: Progress
) -> dict[str, Any]:
    """Gather and rate the challenges that booklet and page of a set show, and make the page.

    Args:
        more: documents of challenges that are not in the set, to play them.

    Returns:
        See `_listing`; also ``notes`` on challenges without a solution, which are left out.
    """
    from fabkit.jobs.parallel import all_cores
    from fabkit.puzzles.entries import Selection, gather, select_solved
    from fabkit.sets.challenge_file import read_list

    puzzle = project.puzzle
    with all_cores():
        entries = gather(puzzle, progress=progress)
    if more:
        entries += read_list({"challenges": list(more)}, puzzle, "challenges")
    solved, notes = select_solved(puzzle, entries, Selection())
    return _listing(project, solved) | {"notes": notes}


def generate(
    project: Project,
    count: Annotated[int, Field(ge=1, le=_MAX_COUNT)],
    levels: Sequence[Annotated[str, choice(*LEVELS)]],
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 1,
    given: str | None = None,
    clues: Annotated[str, choice("", *CLUE_KINDS)] = "",
    board: str | None = None,
    of: str | None = None,
    seconds: Annotated[float, Field(gt=0, le=_MAX_S)] = 60.0,
    *,
    emit: Emit,
    progress: Progress,
) -> dict[str, Any]:
    """Generate challenges as `fabkit challenges` does, whose options describe the arguments.

    Challenges of the set keep their ids; others get ids that are free there.

    Returns:
        ``challenges``, their documents by id; ``missing``, the reason why there are fewer than
        requested; and, if there are any, see `_listing`.
    """
    from fabkit.puzzles.graded import challenge_list
    from fabkit.puzzles.graded.generate import generate as find_challenges
    from fabkit.puzzles.graded.generate import read_query
    from fabkit.sets.challenge_file import read_list

    started = time.monotonic()
    puzzle = project.puzzle
    query = read_query(puzzle, count, given, clues, levels, seed, board, of)
    generated = _renamed(find_challenges(puzzle, query, seconds, progress, started))
    documents = json.loads(json_text(challenge_list.document(generated)))["challenges"]
    for document in documents:
        del document["file"]  # which the command writes
    by_id = {document["id"]: document for document in documents}
    result = {"challenges": by_id, "missing": generated.reason}
    if not documents:
        return result
    return result | _listing(project, read_list({"challenges": documents}, puzzle, "challenges"))


def _renamed(generated: GeneratedChallenges) -> GeneratedChallenges:
    """Return the challenges with the ids of equal ones in the set, or else with free ids."""
    from fabkit.puzzles.entries import question
    from fabkit.sets.catalog import catalog_records
    from fabkit.sets.challenges import challenge_names

    puzzle = generated.puzzle
    known = {question(challenge): challenge.id for challenge in puzzle.challenges}
    used = {*challenge_names(puzzle), *(record["id"] for record in catalog_records(puzzle))}
    graded = []
    for challenge in generated.graded:
        stated = challenge.encoded.challenge
        prefix, _, digits = stated.id.rpartition("-")
        free = (f"{prefix}-{number:0{len(digits)}}" for number in numbers(int(digits)))
        name = known.get(question(stated)) or next(name for name in free if name not in used)
        used.add(name)
        encoded = replace(challenge.encoded, challenge=replace(stated, id=name))
        graded.append(replace(challenge, encoded=encoded))
    return replace(generated, graded=tuple(graded))


def _listing(project: Project, entries: Sequence[Entry]) -> dict[str, Any]:
    """Make the page of some challenges, without 3D and downloads.

    Returns:
        ``page``, its path among the made files, beside which its ``data.js`` describes the
        challenges; and ``facts`` by id: number of ``solutions``, whether that is ``complete``, and
        ``score``.
    """
    from fabkit.output.web.document import page_files

    files = page_files(project.puzzle, entries, project.profile.unit_mm, viewer=False)
    parts = [part for path, content in files.items() for part in (path, content)]
    folder = f"play/{digest(*parts)[:16]}"
    for path, content in files.items():
        write_atomically(project.room / folder / path, content)
    facts = {
        entry.challenge.id: {
            "solutions": entry.result.count,
            "complete": entry.result.count_complete,
            "score": entry.score,
        }
        for entry in entries
    }
    return {"page": f"{folder}/index.html", "facts": facts}
