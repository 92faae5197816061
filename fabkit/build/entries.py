"""The challenges that booklet and page show: gathered from wherever they are, solved and rated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fabkit.build.targets import Progress, silent
from fabkit.core.errors import InputError, did_you_mean, name_some, printable, shown
from fabkit.core.files import read_json, sha256
from fabkit.model.catalog import (
    catalog_entries,
    catalog_path,
    read_difficulty,
    read_snowflakes,
    refuse_other_set,
    shipped_snowflakes,
)
from fabkit.model.challengeload import known_names, load_challenge
from fabkit.model.entry import KINDS, Entry, Images, challenge_of, entry_of, wrong_with
from fabkit.model.puzzle import Challenge, PuzzleSet
from fabkit.puzzles.graded.challengelist import LIST
from fabkit.solve.answer import IMPOSSIBLE, SOLVED, solve
from fabkit.solve.difficulty import LEVELS, difficulty
from fabkit.solve.engines.engine import Effort
from fabkit.solve.posing import pose

#: So long, in seconds, a solution of one challenge is sought. What is found does not depend on it:
#: either the search ends before, or it is told that it did not.
BUDGET_S = 60.0
_MOST_NAMED = 8
_LEVEL_NAMES = frozenset(name for name, _ in LEVELS)
#: What of a challenge list is a challenge; the rest is what was found out about it.
_STATED = ("id", "title", "board", "cells", "outline", "pieces", "pieces_count", "given")


class NothingToShowError(InputError):
    """There is no challenge with a solution among those that are wanted."""


@dataclass(frozen=True)
class Selection:
    """Which challenges are wanted.

    Attributes:
        files: challenge files, lists and catalogs; only what they hold. Without any, the set's
            boards and challenges, the list in its output folder, and its shipped catalog.
        only: ids; all challenges when empty.
        budget_s: give up on a challenge after so long; None for no end.
    """

    files: tuple[Path, ...] = ()
    only: tuple[str, ...] = ()
    budget_s: float | None = BUDGET_S

    def said(self, puzzle: PuzzleSet, folder: Path | None) -> list[Any]:
        """What decides which challenges there are, for a hash."""
        read = self.files or ((folder / LIST,) if folder else ()) + (catalog_path(puzzle),)
        hashes = [sha256(path) if path.is_file() else "" for path in read]
        return [list(map(str, self.files)), self.only, self.budget_s, hashes]


def gather(
    puzzle: PuzzleSet,
    wish: Selection | None = None,
    folder: Path | None = None,
    progress: Progress = silent,
) -> list[Entry]:
    """The challenges that are wanted, each with a solution if there is one.

    What comes without a solution is solved and rated here. The same wish gives the same entries,
    unless a budget is spent; the status of those entries is then ``unknown``.

    Args:
        folder: the set's output folder, where a list of challenges may lie.

    Returns:
        Them by kind, in the order in which they are written; also those without a solution, see
        `solved_ones`. Optional boards come only when they are asked for by their names.

    Raises:
        InputError: when a file cannot be read, an id is unknown or there twice, or there is no
            challenge at all.

    Example:
        >>> from fabkit.model.library import load_set
        >>> (entry,) = gather(load_set("iqblock"))
        >>> entry.id, entry.kind, entry.count, entry.level, sorted(entry.solution) == list("01234567")
        ('square', 'board', 48, 'master', True)
    """
    wish = wish or Selection()
    every = _of_files(puzzle, wish.files) if wish.files else _of_set(puzzle, folder, wish.only)
    if not every:
        message = "has no challenge and no board; give a challenge file with --challenges"
        raise NothingToShowError.of(puzzle.name, message)
    refuse_unknown_ids("challenge", wish.only, [one.id for one in every])
    wanted = [one for one in every if one.id in wish.only or not wish.only]
    found, images = [], Images(puzzle)
    for done, stated in enumerate(wanted):
        entry = stated if stated.level in _LEVEL_NAMES else replace(stated, level="")
        progress(done, len(wanted), entry.id)
        found.append(entry if entry.solution else _solved(puzzle, entry, images, wish.budget_s))
    progress(len(wanted), len(wanted), "")
    return sorted(found, key=lambda entry: KINDS.index(entry.kind))


def the_one(
    puzzle: PuzzleSet,
    name: str | None,
    file: Path | None,
    budget_s: float,
    folder: Path,
    progress: Progress,
) -> Entry:
    """The challenge of an id, or the only one of a file.

    Raises:
        InputError: when there is none, or several.
    """
    files, only = () if file is None else (file,), () if name is None else (name,)
    if file is not None and not only:  # which there are is known without solving any
        entries = gather(puzzle, Selection(files, budget_s=0.0), folder)
        if len(entries) > 1:
            ids = name_some([entry.id for entry in entries], _MOST_NAMED)
            message = f"holds {len(entries)} challenges; choose one with --challenge: {ids}"
            raise InputError.of(printable(str(file)), message)
    return gather(puzzle, Selection(files, only, budget_s), folder, progress)[0]


def solved_ones(
    puzzle: PuzzleSet, entries: Iterable[Entry], wish: Selection
) -> tuple[list[Entry], list[str]]:
    """The entries that can be shown, since they have a solution.

    Returns:
        Those with a solution, and what is to be said of the others, in sentences.

    Raises:
        InputError: when one without a solution was asked for by its id, or none has a solution.
    """
    found, lacking, advice = [], [], ["leave it out"]
    for entry in entries:
        if entry.status == SOLVED:
            found.append(entry)
        elif entry.status == IMPOSSIBLE:
            lacking.append(f"{entry.id} has no solution")
        else:
            lacking.append(f"{entry.id} was not solved in the time given")
            advice = ["leave it out", "give more time with --budget"]
    if lacking and wish.only:
        raise InputError.of(puzzle.name, f"{'; '.join(lacking)}; {', or '.join(advice)}")
    if not found:
        message = f"none of its challenges has a solution that is known: {'; '.join(lacking)}"
        raise NothingToShowError.of(puzzle.name, message)
    return found, [f"{lack}; it is left out" for lack in lacking]


def _of_set(puzzle: PuzzleSet, folder: Path | None, only: Sequence[str]) -> list[Entry]:
    """Everything there is of a set; of its optional boards those that are named.

    Where the set itself has a challenge or board of a snowflake's name, that is meant by it, as in
    `fabkit.model.challengeload.find_challenge`.
    """
    entries = own_and_listed(puzzle, folder)
    stated = {one.id for one in puzzle.challenges}
    asked = {_question(entry_of(one)) for one in puzzle.challenges}
    pieces = tuple(piece.id for piece in puzzle.pieces)
    for board in puzzle.boards:
        entry = entry_of(Challenge(board.id, board.cells, pieces, flips=puzzle.flips), "board")
        is_new = entry.id not in stated and _question(entry) not in asked
        if is_new and (board.id in only or not board.optional):
            entries.append(entry)
    own = known_names(puzzle)
    return entries + [one for one in shipped_snowflakes(puzzle) if one.id not in own]


def _of_files(puzzle: PuzzleSet, files: Sequence[Path]) -> list[Entry]:
    """What files hold.

    Raises:
        InputError: when one holds nothing, or an id that another holds.
    """
    found: dict[str, Entry] = {}
    where: dict[str, str] = {}
    for file in files:
        name = printable(str(file))
        entries = _of_file(puzzle, file)
        if not entries:
            raise NothingToShowError.of(name, "holds no challenges; expected one or more")
        for entry in entries:
            if entry.id in found:
                message = f"the challenge {shown(entry.id)} is in {where[entry.id]}, too"
                raise InputError.of(name, f"{message}; give one of the files, or another id")
            found[entry.id], where[entry.id] = entry, name
    return list(found.values())


def _of_file(puzzle: PuzzleSet, file: Path) -> list[Entry]:
    """What a challenge file, a list or a catalog holds."""
    document = listed_in(file)
    if document is None:
        return [_entry(puzzle, load_challenge(file, puzzle))]
    if "complete" not in document:
        return read_list(file, puzzle)
    name = printable(str(file))
    refuse_other_set(document, puzzle, name)
    return read_snowflakes(document, puzzle, name)


def _entry(puzzle: PuzzleSet, challenge: Challenge) -> Entry:
    """A challenge of which nothing is known yet.

    It is of the kind ``board`` if all pieces shall cover one, on which none lies yet.
    """
    uses_all = len(challenge.pieces) == len(puzzle.pieces)
    of_board = any(board.cells == challenge.region for board in puzzle.boards)
    return entry_of(challenge, "board" if uses_all and of_board and not challenge.given else "")


def _question(entry: Entry) -> tuple[object, ...]:
    """What makes two challenges the same but for their names."""
    given = frozenset((one.piece, one.cells) for one in entry.given)
    return entry.region, frozenset(entry.pieces), given, entry.flips


def _solved(puzzle: PuzzleSet, entry: Entry, images: Images, budget_s: float | None) -> Entry:
    """The entry with a solution, their number as far as a short search counts, and its rating.

    The rating is that of `fabkit solve --difficulty`, unless the entry brought one.
    """
    posed = pose(puzzle, challenge_of(entry))
    answer = solve(posed, "first", None, Effort(budget_s))
    if not answer.solutions:
        return replace(entry, status=answer.status)
    solved = replace(entry, status=SOLVED, solution=posed.layout(answer.solutions[0]))
    if fault := wrong_with(solved, images):
        raise AssertionError(f"the solution of {entry.id} is none: {fault}")
    # Without a budget: what a probe finds must not depend on how quick the machine is.
    rating = difficulty(posed.problem)
    if rating is None:
        return solved
    solved = replace(solved, count=rating.solutions, count_complete=rating.complete)
    if entry.level and entry.score is not None:
        return solved
    return replace(solved, level=rating.level, score=round(rating.score, 3))


def own_and_listed(puzzle: PuzzleSet, folder: Path | None) -> list[Entry]:
    """A set's own challenges, and those of the list in its output folder, if there is one.

    Returns:
        Them. A listed one whose id is taken, also by a board or by a snowflake of the shipped
        catalog, has ``made-`` before its id.

    Raises:
        InputError: when the list is broken, or another set's.
    """
    found = [_entry(puzzle, one) for one in puzzle.challenges]
    taken = {*known_names(puzzle), *(entry["id"] for entry in catalog_entries(puzzle))}
    path = folder / LIST if folder else None
    for one in read_list(path, puzzle) if path and path.is_file() else ():
        name = one.id
        while name in taken:
            name = f"made-{name}"
        taken.add(name)
        found.append(replace(one, id=name, title=name if one.title == one.id else one.title))
    return found


def listed_in(path: Path) -> dict[str, Any] | None:
    """What a file says that holds several challenges: a list, or a catalog.

    Returns:
        The document; None when it is something else. What is wrong with it then, reading it as a
        challenge file says.
    """
    if path.suffix.lower() != ".json":
        return None
    try:
        document = read_json(path)
    except (InputError, OSError):
        return None
    return document if "challenges" in document else None


def read_list(path: Path, puzzle: PuzzleSet) -> list[Entry]:
    """The challenges of a list, as `fabkit challenges` writes it, with their difficulty.

    Raises:
        InputError: with all faults of the file, or when it is another set's.
    """
    from fabkit.core.documents import Faults, tables_at
    from fabkit.model.challengefile import ChallengeReader
    from fabkit.model.drawing import Regions

    name = printable(str(path))
    document = read_json(path)
    refuse_other_set(document, puzzle, name)
    faults = Faults(name)
    reader = ChallengeReader(puzzle, Regions(puzzle.lattice, faults))
    found, ids = [], set[str]()
    for place, data in tables_at(document.get("challenges", []), "challenges", faults):
        is_table = isinstance(data, dict)
        stated = {key: data[key] for key in _STATED if key in data} if is_table else data
        challenge = reader.read(stated, place)
        if challenge.id in ids:
            faults.add(f"{place}.id", f"{shown(challenge.id)} is there twice")
        ids.add(challenge.id)
        level, score = read_difficulty(data)
        found.append(replace(_entry(puzzle, challenge), level=level, score=score))
    faults.finish()
    return found


def refuse_unknown_ids(noun: str, ids: Sequence[str], known: Sequence[str]) -> None:
    """Refuses ids that there are not.

    Raises:
        InputError: naming the first that is unknown, and some of the known ones.
    """
    for wanted in ids:
        if wanted not in known:
            message = f"there is no {noun} {shown(wanted)}; there are {name_some(known, 8)}"
            raise InputError.of("", message + did_you_mean(wanted, known))
