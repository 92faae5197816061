"""Starting positions: those of a set's own challenges, and lists that `fabkit challenges` wrote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fabkit.core.errors import InputError, did_you_mean, printable, shown
from fabkit.core.files import read_json
from fabkit.model.catalog import catalog_entries, read_difficulty, refuse_other_set
from fabkit.model.challengeload import known_names
from fabkit.model.puzzle import Challenge, PuzzleSet
from fabkit.puzzles.graded.challengelist import LIST

#: What of a challenge list is a challenge; the rest is what was found out about it.
_STATED = ("id", "title", "board", "cells", "outline", "pieces", "pieces_count", "given")
_MOST_NAMED = 8


@dataclass(frozen=True)
class Start:
    """A challenge from wherever it comes, with what is known of its difficulty."""

    challenge: Challenge
    level: str = ""
    score: float | None = None


def own_and_listed(puzzle: PuzzleSet, folder: Path | None) -> list[Start]:
    """A set's own challenges, and those of the list in its output folder, if there is one.

    Args:
        puzzle: the set.
        folder: the output folder; None to leave it out.

    Returns:
        Them. A listed one whose id is taken, also by a board or by a snowflake of the shipped
        catalog, has ``made-`` before its id.

    Raises:
        InputError: when the list is broken, or another set's.
    """
    found = [Start(one) for one in puzzle.challenges]
    taken = {*known_names(puzzle), *(entry["id"] for entry in catalog_entries(puzzle))}
    path = folder / LIST if folder else None
    for one in read_list(path, puzzle) if path and path.is_file() else ():
        name = one.challenge.id
        while name in taken:
            name = f"made-{name}"
        taken.add(name)
        found.append(replace(one, challenge=replace(one.challenge, id=name)))
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


def read_list(path: Path, puzzle: PuzzleSet) -> list[Start]:
    """The challenges of a list, as `fabkit challenges` writes it.

    Raises:
        InputError: with all faults of the file, or when it is another set's.
    """
    from fabkit.core.documents import Faults, tables_at
    from fabkit.model.challengefile import Surroundings, read_challenge

    name = printable(str(path))
    document = read_json(path)
    refuse_other_set(document, puzzle, name)
    faults = Faults(name)
    around = Surroundings.of(puzzle, faults)
    found, ids = [], set[str]()
    for place, data in tables_at(document, "challenges", faults):
        stated = {key: value for key, value in data.items() if key in _STATED}
        challenge = read_challenge(stated, around, place)
        if challenge.id in ids:
            faults.add(f"{place}.id", f"{shown(challenge.id)} is there twice")
        ids.add(challenge.id)
        found.append(Start(challenge, *read_difficulty(data)))
    faults.finish()
    return found


def refuse_unknown_ids(noun: str, ids: Sequence[str], known: Sequence[str]) -> None:
    """Refuses ids that there are not.

    Args:
        noun: what they are of, such as ``challenge``.
        ids: those asked for.
        known: all there are.

    Raises:
        InputError: naming the first that is unknown, and some of the known ones.
    """
    for wanted in ids:
        if wanted not in known:
            more = f" and {len(known) - _MOST_NAMED} more" if len(known) > _MOST_NAMED else ""
            some = ", ".join(known[:_MOST_NAMED]) + more
            message = f"there is no {noun} {shown(wanted)}; there are {some}"
            raise InputError.of("", message + did_you_mean(wanted, known))
