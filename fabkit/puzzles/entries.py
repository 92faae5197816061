"""The challenges of booklets and pages: gathered from all sources, solved and rated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fabkit.core.errors import InputError, escape, no_such, quote
from fabkit.core.hashes import sha256
from fabkit.core.progress import Progress, no_progress
from fabkit.jobs.parallel import Calls
from fabkit.model.entry import KINDS, OWN_PREFIX, entry_of, level_of, solution_error
from fabkit.model.puzzle import Challenge, Entry, PuzzleSet
from fabkit.puzzles.graded.challenge_list import LIST
from fabkit.sets.catalog import catalog_path, catalog_records, shipped_count, shipped_entries
from fabkit.sets.challenge_file import read_challenges
from fabkit.sets.challenges import challenge_in_file, challenge_names, find_challenge, resolve_id
from fabkit.solve.answer import IMPOSSIBLE, SOLVED, solve
from fabkit.solve.difficulty import difficulty
from fabkit.solve.encoding import to_exact_cover
from fabkit.solve.engines.engine import Budget

#: The time limit for solving a challenge, in seconds. It does not affect the solution: a search
#: that exceeds it is reported.
BUDGET_S = 60.0


class NothingToShowError(InputError):
    """No selected challenge has a solution."""


@dataclass(frozen=True)
class Selection:
    """A selection of challenges.

    Attributes:
        files: challenge files, lists and catalogs; only what they hold. Without any, the set's
            boards and challenges, the list in its output folder, and its shipped catalog.
        only: ids; all challenges when empty.
        budget_s: time limit per challenge; None for none.
    """

    files: tuple[Path, ...] = ()
    only: tuple[str, ...] = ()
    budget_s: float | None = BUDGET_S

    def fingerprint(self, puzzle: PuzzleSet, folder: Path | None) -> list[Any]:
        """Return the values that determine the challenges, for a hash."""
        paths = self.files or (*((folder / LIST,) if folder else ()), catalog_path(puzzle))
        hashes = [sha256(path) if path.is_file() else "" for path in paths]
        return [list(map(str, self.files)), self.only, self.budget_s, hashes]


def gather(
    puzzle: PuzzleSet,
    selection: Selection | None = None,
    folder: Path | None = None,
    progress: Progress = no_progress,
) -> list[Entry]:
    """Gather the selected challenges, each with a solution if there is one.

    Challenges without a solution are solved and rated here. Equal selections give equal entries,
    unless the time limit is reached; the status of an entry is then ``unknown``.

    Args:
        folder: the set's output folder, which may contain a list of challenges.

    Returns:
        The challenges by kind, in file order; also those without a solution, see `select_solved`.
        Optional boards are included only if requested by name.

    Raises:
        InputError: when a file cannot be read, an id is unknown or duplicate, or there is no
            challenge at all.

    Example:
        >>> from fabkit.sets.library import load_set
        >>> entry, *starts = gather(load_set("iqblock"))
        >>> entry.challenge.id, entry.kind, entry.result.count, entry.level, "".join(entry.solution)
        ('square', 'board', 48, 'wizard', '01234567')
        >>> starts[6].challenge.id, starts[6].kind, starts[6].result.count, starts[6].level
        ('start-007', 'start', 1, 'starter')
    """
    return begin_gathering(puzzle, selection or Selection(), folder)(progress)


def begin_gathering(
    puzzle: PuzzleSet, selection: Selection, folder: Path | None
) -> Callable[[Progress], list[Entry]]:
    """Begin to `gather` on other cores; returns what returns the challenges."""
    files = selection.files
    only = [resolve_id(puzzle, name) for name in selection.only]
    all_entries = _of_files(puzzle, files) if files else _of_set(puzzle, folder, only)
    if not all_entries:
        message = "has no challenge and no board; give a challenge file with --challenges"
        raise NothingToShowError.of(puzzle.name, message)
    ids = [entry.challenge.id for entry in all_entries]
    for name in {*only} - {*ids} if puzzle.families and not files else ():
        find_challenge(puzzle, name)  # its message names members, which are not listed here
    refuse_unknown_ids(only, ids)
    entries = [entry for entry in all_entries if entry.challenge.id in only or not only]
    finish = _solved(puzzle, entries, selection.budget_s)
    return lambda progress: sorted(finish(progress), key=lambda entry: KINDS.index(entry.kind))


def find_entry(
    puzzle: PuzzleSet,
    name: str | None,
    file: Path | None,
    budget_s: float,
    folder: Path,
    progress: Progress,
) -> Entry:
    """Find the challenge of an id, or the only one of a file.

    Raises:
        InputError: when there is none, or several.
    """
    if file is not None:
        return _solved(puzzle, [challenge_in_file(file, puzzle, name)], budget_s)(progress)[0]
    only = () if name is None else (name,)
    return gather(puzzle, Selection((), only, budget_s), folder, progress)[0]


def select_solved(
    puzzle: PuzzleSet, entries: Iterable[Entry], selection: Selection
) -> tuple[list[Entry], list[str]]:
    """Return the entries with a solution, and warnings on the others.

    Raises:
        InputError: when one without a solution was requested by its id, or none has a solution.
    """
    solved, lacks = [], []
    advice = "omit it"
    for entry in entries:
        if entry.result.status == SOLVED:
            solved.append(entry)
        elif entry.result.status == IMPOSSIBLE:
            lacks.append(f"{entry.challenge.id} has no solution")
        else:
            lacks.append(f"{entry.challenge.id} was not solved within the time limit")
            advice = "omit it, or raise --budget"
    if lacks and selection.only:
        raise InputError.of(puzzle.name, f"{'; '.join(lacks)}; {advice}")
    if not solved:
        message = f"no challenge has a known solution: {'; '.join(lacks)}"
        raise NothingToShowError.of(puzzle.name, message)
    return solved, [f"{lack}; skipped" for lack in lacks]


def _of_set(puzzle: PuzzleSet, folder: Path | None, only: Sequence[str]) -> list[Entry]:
    """Return all challenges of a set, and its boards; optional boards only by name.

    A name of both the set and the catalog means that of the set, as in
    `fabkit.sets.challenges.find_challenge`.
    """
    entries = stated_and_generated(puzzle, folder)
    ids = {challenge.id for challenge in puzzle.challenges}
    questions = {question(challenge) for challenge in puzzle.challenges}
    for board in puzzle.boards:
        challenge = puzzle.whole_board(board)
        is_new = challenge.id not in ids and question(challenge) not in questions
        if is_new and (board.id in only or not board.optional):
            entries.append(entry_of(challenge, "board"))
    members = [puzzle.find_member(name) for name in only]
    entries += [entry_of(member, puzzle.kind_of(member)) for member in members if member]
    names = challenge_names(puzzle)
    return entries + [entry for entry in shipped_entries(puzzle) if entry.challenge.id not in names]


def _of_files(puzzle: PuzzleSet, files: Sequence[Path]) -> list[Entry]:
    """Read the challenges of files; raise InputError when one is empty, or an id is in two."""
    entries: list[Entry] = []
    sources: dict[str, str] = {}
    for file in files:
        source = escape(str(file))
        entries_of_file = read_challenges(file, puzzle)
        if not entries_of_file:
            raise NothingToShowError.of(source, "holds no challenges; expected one or more")
        for name in (entry.challenge.id for entry in entries_of_file):
            if name in sources:
                message = f"the challenge {quote(name)} is also in {sources[name]}"
                remedy = "give only one of the files, or change the id"
                raise InputError.of(source, f"{message}; {remedy}")
            sources[name] = source
        entries += entries_of_file
    return entries


def question(challenge: Challenge) -> tuple[object, ...]:
    """Return the content of a challenge, without its name."""
    given = frozenset((given.piece, given.cells) for given in challenge.given)
    return (
        challenge.region,
        frozenset(challenge.pieces),
        given,
        challenge.flips,
        challenge.pieces_count,
        challenge.open_count,
        frozenset(challenge.clues),
    )


def _solved(
    puzzle: PuzzleSet, entries: Sequence[Entry], budget_s: float | None
) -> Callable[[Progress], list[Entry]]:
    """Begin to solve entries; return what returns them with levels, and solutions if any."""
    unsolved = [entry for entry in entries if not entry.solution]
    calls = Calls(
        _solve,
        [(puzzle, entry, budget_s) for entry in unsolved],
        [entry.challenge.id for entry in unsolved],
    )

    def finish(progress: Progress) -> list[Entry]:
        solved = iter(calls.results(progress))
        return [entry if entry.solution else next(solved) for entry in entries]

    return finish


def _solve(puzzle: PuzzleSet, entry: Entry, budget_s: float | None) -> Entry:
    """Return the entry with a solution, the number of solutions, and a rating.

    Solutions are counted by a short search; if it ends early, the shipped catalog may have the
    number. The rating is that of `fabkit solve --difficulty`, unless the entry has its own.
    """
    encoded = to_exact_cover(puzzle, entry.challenge)
    answer = solve(encoded, "first", None, Budget(budget_s))
    if not answer.solutions:
        return entry.with_result(status=answer.status)
    solved = entry.with_result(status=SOLVED, solution=encoded.decode(answer.solutions[0]))
    if fault := solution_error(solved, puzzle):
        raise AssertionError(f"the solution of {entry.challenge.id} is invalid: {fault}")
    # Without a budget: the result must not depend on the speed of the machine.
    rating = difficulty(encoded.problem)
    if rating is None:
        return solved
    count = rating.solutions if rating.complete else shipped_count(puzzle, entry.challenge)
    solved = solved.with_result(count=count or rating.solutions, count_complete=count is not None)
    score = round(rating.score, 3) if entry.score is None else entry.score
    return replace(solved, level=level_of(entry.challenge, score), score=score)


def stated_and_generated(puzzle: PuzzleSet, folder: Path | None) -> list[Entry]:
    """Return the challenges stated in a set, and those generated into its output folder.

    If the id of a listed one is taken, also by a board or a snowflake of the shipped catalog, it
    gets the prefix ``made-``.

    Raises:
        InputError: when the list is damaged, or that of another set.
    """
    by_challenge = {entry.challenge: entry for entry in puzzle.entries}
    entries = [
        by_challenge.get(challenge) or entry_of(challenge, puzzle.kind_of(challenge))
        for challenge in puzzle.challenges
    ]
    used = {*challenge_names(puzzle), *(record["id"] for record in catalog_records(puzzle))}
    path = folder / LIST if folder else None
    for entry in read_challenges(path, puzzle) if path and path.is_file() else ():
        name = entry.challenge.id
        while name in used:
            name = OWN_PREFIX + name
        used.add(name)
        entries.append(replace(entry, challenge=replace(entry.challenge, id=name)))
    return entries


def refuse_unknown_ids(ids: Sequence[str], known_ids: Sequence[str]) -> None:
    """Raise an InputError that names the first unknown id of a challenge, and some known ones."""
    if unknown_ids := [name for name in ids if name not in known_ids]:
        raise InputError.of("", no_such("challenge", unknown_ids[0], known_ids, 8))
