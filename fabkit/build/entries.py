"""The challenges of booklets and pages: gathered from all sources, solved and rated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from fabkit.core.errors import InputError, escape, join_names, no_such, quote
from fabkit.core.files import read_json, sha256
from fabkit.core.progress import Progress, no_progress
from fabkit.model.catalog import (
    catalog_entries,
    catalog_path,
    catalog_thresholds,
    read_catalog,
    read_difficulty,
    refuse_other_set,
    shipped_count,
    shipped_entries,
)
from fabkit.model.challenges import challenge_names, load_challenge, resolve_id
from fabkit.model.entry import (
    DEFAULT_THRESHOLDS,
    KINDS,
    LEVELS,
    OWN_PREFIX,
    Entry,
    challenge_of,
    entry_of,
    level_of,
    level_thresholds,
    solution_error,
)
from fabkit.model.puzzle import Challenge, PuzzleSet
from fabkit.puzzles.graded.challenge_list import LIST
from fabkit.solve.answer import IMPOSSIBLE, SOLVED, solve
from fabkit.solve.difficulty import difficulty
from fabkit.solve.encoding import to_exact_cover
from fabkit.solve.engines.engine import Budget

#: The time limit for solving a challenge, in seconds. It does not affect the solution: a search that
#: exceeds it is reported.
BUDGET_S = 60.0
_MAX_NAMED = 8
#: Levels are by rank for at least this many challenges of a kind.
_FEWEST_RANKED = 2 * len(LEVELS)


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
        """The values that determine the challenges, for a hash."""
        read = self.files or ((folder / LIST,) if folder else ()) + (catalog_path(puzzle),)
        hashes = [sha256(path) if path.is_file() else "" for path in read]
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
        >>> from fabkit.model.library import load_set
        >>> entry, *starts = gather(load_set("iqblock"))
        >>> entry.id, entry.kind, entry.count, entry.level, sorted(entry.solution) == list("01234567")
        ('square', 'board', 48, 'wizard', True)
        >>> starts[6].id, starts[6].kind, starts[6].count, starts[6].level
        ('start-007', 'start', 1, 'starter')
    """
    selection = selection or Selection()
    files, only = selection.files, [resolve_id(puzzle, name) for name in selection.only]
    all_entries = _of_files(puzzle, files) if files else _of_set(puzzle, folder, only)
    if not all_entries:
        message = "has no challenge and no board; give a challenge file with --challenges"
        raise NothingToShowError.of(puzzle.name, message)
    refuse_unknown_ids("challenge", only, [one.id for one in all_entries])
    wanted = [one for one in all_entries if one.id in only or not only]
    found = []
    for done, stated in enumerate(wanted):
        entry = stated if stated.level in LEVELS else replace(stated, level="")
        progress(done, len(wanted), entry.id)
        found.append(entry if entry.solution else _solved(puzzle, entry, selection.budget_s))
    progress(len(wanted), len(wanted), "")
    return sorted(_levelled(puzzle, found), key=lambda entry: KINDS.index(entry.kind))


def _levelled(puzzle: PuzzleSet, entries: Sequence[Entry]) -> list[Entry]:
    """The entries, each rated one with its level: its own, else by the shipped catalog's thresholds
    for its kind; in a set without a catalog, by its rank among the entries."""

    @cache
    def cuts(kind: str) -> Sequence[float]:
        known = catalog_thresholds(puzzle, kind)
        scores = [one.score for one in entries if one.kind == kind and one.score]
        is_ranked = known is DEFAULT_THRESHOLDS and len(scores) >= _FEWEST_RANKED
        return level_thresholds(scores) if is_ranked else known

    return [
        entry
        if entry.level or entry.score is None
        else replace(entry, level=level_of(entry.score, cuts(entry.kind)))
        for entry in entries
    ]


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
    if file is not None and name is None:
        found = sorted(read_challenges(puzzle, file), key=lambda entry: KINDS.index(entry.kind))
        if len(found) > 1:
            ids = join_names([entry.id for entry in found], _MAX_NAMED)
            message = f"holds {len(found)} challenges; choose one with --challenge: {ids}"
            raise InputError.of(escape(str(file)), message)
    files, only = () if file is None else (file,), () if name is None else (name,)
    return gather(puzzle, Selection(files, only, budget_s), folder, progress)[0]


def select_solved(
    puzzle: PuzzleSet, entries: Iterable[Entry], selection: Selection
) -> tuple[list[Entry], list[str]]:
    """Select the entries with a solution.

    Returns:
        Those with a solution, and warnings on the others.

    Raises:
        InputError: when one without a solution was requested by its id, or none has a solution.
    """
    found, lacking, advice = [], [], ["omit it"]
    for entry in entries:
        if entry.status == SOLVED:
            found.append(entry)
        elif entry.status == IMPOSSIBLE:
            lacking.append(f"{entry.id} has no solution")
        else:
            lacking.append(f"{entry.id} was not solved within the time limit")
            advice = ["omit it", "raise --budget"]
    if lacking and selection.only:
        raise InputError.of(puzzle.name, f"{'; '.join(lacking)}; {', or '.join(advice)}")
    if not found:
        message = f"no challenge has a known solution: {'; '.join(lacking)}"
        raise NothingToShowError.of(puzzle.name, message)
    return found, [f"{lack}; skipped" for lack in lacking]


def _of_set(puzzle: PuzzleSet, folder: Path | None, only: Sequence[str]) -> list[Entry]:
    """All challenges of a set, and its boards; optional boards only by name.

    A name of both the set and the catalog means that of the set, as in
    `fabkit.model.challenges.find_challenge`.
    """
    entries = stated_and_generated(puzzle, folder)
    stated = {one.id for one in puzzle.challenges}
    questions = {_question(entry_of(one)) for one in puzzle.challenges}
    for board in puzzle.boards:
        entry = entry_of(puzzle.whole_board(board), "board")
        is_new = entry.id not in stated and _question(entry) not in questions
        if is_new and (board.id in only or not board.optional):
            entries.append(entry)
    own = challenge_names(puzzle)
    return entries + [one for one in shipped_entries(puzzle) if one.id not in own]


def _of_files(puzzle: PuzzleSet, files: Sequence[Path]) -> list[Entry]:
    """Read the challenges of files.

    Raises:
        InputError: when one is empty, or an id is in two files.
    """
    found: dict[str, Entry] = {}
    where: dict[str, str] = {}
    for file in files:
        name = escape(str(file))
        entries = read_challenges(puzzle, file)
        if not entries:
            raise NothingToShowError.of(name, "holds no challenges; expected one or more")
        for entry in entries:
            if entry.id in found:
                message = f"the challenge {quote(entry.id)} is also in {where[entry.id]}"
                raise InputError.of(
                    name, f"{message}; give only one of the files, or change the id"
                )
            found[entry.id], where[entry.id] = entry, name
    return list(found.values())


def read_challenges(puzzle: PuzzleSet, file: Path) -> list[Entry]:
    """Read a challenge file, a list as `fabkit challenges` writes it, or a catalog.

    Raises:
        InputError: with all errors in the file, or when it is that of another set.
    """
    try:
        document = read_json(file) if file.suffix.lower() == ".json" else {}
    except (InputError, OSError):
        document = {}
    if "challenges" not in document:  # a challenge file, whose reader reports its errors
        return [_entry(puzzle, load_challenge(file, puzzle))]
    if "complete" not in document:
        return _read_list(file, puzzle)
    name = escape(str(file))
    refuse_other_set(document, puzzle, name)
    return read_catalog(document, puzzle, name)


def _entry(puzzle: PuzzleSet, challenge: Challenge) -> Entry:
    """A challenge without a solution or rating.

    Its kind is ``board`` if all pieces are to fill an empty board.
    """
    uses_all = len(challenge.pieces) == len(puzzle.pieces)
    of_board = any(board.cells == challenge.region for board in puzzle.boards)
    return entry_of(challenge, "board" if uses_all and of_board and not challenge.given else "")


def _question(entry: Entry) -> tuple[object, ...]:
    """The content of a challenge, without its name."""
    given = frozenset((one.piece, one.cells) for one in entry.given)
    return entry.region, frozenset(entry.pieces), given, entry.flips


def _solved(puzzle: PuzzleSet, entry: Entry, budget_s: float | None) -> Entry:
    """The entry with a solution, the number of solutions, and a rating.

    Solutions are counted by a short search; if it ends early, the shipped catalog may have the number.

    The rating is that of `fabkit solve --difficulty`, unless the entry has its own.
    """
    encoded = to_exact_cover(puzzle, challenge_of(entry))
    answer = solve(encoded, "first", None, Budget(budget_s))
    if not answer.solutions:
        return replace(entry, status=answer.status)
    solved = replace(entry, status=SOLVED, solution=encoded.decode(answer.solutions[0]))
    if fault := solution_error(solved, puzzle):
        raise AssertionError(f"the solution of {entry.id} is invalid: {fault}")
    # Without a budget: the result must not depend on the speed of the machine.
    rating = difficulty(encoded.problem)
    if rating is None:
        return solved
    count = rating.solutions if rating.complete else shipped_count(puzzle, entry)
    solved = replace(solved, count=count or rating.solutions, count_complete=count is not None)
    if entry.level and entry.score is not None:
        return solved
    return replace(solved, level="", score=round(rating.score, 3))


def stated_and_generated(puzzle: PuzzleSet, folder: Path | None) -> list[Entry]:
    """The challenges stated in a set, and those generated into its output folder.

    Returns:
        The challenges. If the id of a listed one is taken, also by a board or a snowflake of the
        shipped catalog, it gets the prefix ``made-``.

    Raises:
        InputError: when the list is damaged, or that of another set.
    """
    found = [_entry(puzzle, one) for one in puzzle.challenges]
    used = {*challenge_names(puzzle), *(entry["id"] for entry in catalog_entries(puzzle))}
    path = folder / LIST if folder else None
    for one in _read_list(path, puzzle) if path and path.is_file() else ():
        name = one.id
        while name in used:
            name = OWN_PREFIX + name
        used.add(name)
        found.append(replace(one, id=name, title=name if one.title == one.id else one.title))
    return found


def _read_list(path: Path, puzzle: PuzzleSet) -> list[Entry]:
    """The challenges of a list, as `fabkit challenges` writes it, with their difficulty.

    Raises:
        InputError: with all errors in the file, or when it is that of another set.
    """
    from fabkit.core.documents import ErrorList, read_tables
    from fabkit.model.challenge_file import CHALLENGE_KEYS, ChallengeReader
    from fabkit.model.regions import RegionReader

    name = escape(str(path))
    document = read_json(path)
    refuse_other_set(document, puzzle, name)
    faults = ErrorList(name)
    reader = ChallengeReader(puzzle, RegionReader(puzzle.lattice, faults))
    found, ids = [], set[str]()
    for place, data in read_tables(document.get("challenges", []), "challenges", faults):
        is_table = isinstance(data, dict)
        stated = {key: data[key] for key in CHALLENGE_KEYS if key in data} if is_table else data
        challenge = reader.read(stated, place)
        if challenge.id in ids:
            faults.add(f"{place}.id", f"{quote(challenge.id)} is listed twice")
        ids.add(challenge.id)
        level, score = read_difficulty(data)
        found.append(replace(_entry(puzzle, challenge), level=level, score=score))
    faults.raise_if_any()
    return found


def refuse_unknown_ids(noun: str, ids: Sequence[str], known: Sequence[str]) -> None:
    """Refuse unknown ids.

    Raises:
        InputError: naming the first that is unknown, and some of the known ones.
    """
    for wanted in ids:
        if wanted not in known:
            raise InputError.of("", no_such(noun, wanted, known, 8))
