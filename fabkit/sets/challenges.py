"""Find the challenge a command works on: one of the set or its catalog, or one from a file."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

from fabkit.core.errors import (
    InputError,
    did_you_mean,
    escape,
    join_names,
    no_such,
    pluralize,
    quote,
)
from fabkit.model.puzzle import Challenge, Entry, PuzzleSet, default_board
from fabkit.sets.catalog import (
    catalog_path,
    catalog_records,
    record_kind,
    shipped_entry,
    snowflake_names,
    start_names,
)

#: At most this many ids are named in a message.
_MAX_NAMED = 8


def challenge_in_file(path: Path, puzzle: PuzzleSet, name: str | None = None) -> Entry:
    """Return a challenge of a challenge file, a list or a catalog.

    Args:
        name: its id; None for the only challenge of the file.

    Raises:
        InputError: with every error in the file; or when there is no such challenge, or there are
            several and none is named.
    """
    from fabkit.sets.challenge_file import read_challenges

    entries = {entry.challenge.id: entry for entry in read_challenges(path, puzzle)}
    if name is None and len(entries) == 1:
        return next(iter(entries.values()))
    source = escape(str(path))
    if not entries:
        raise InputError.of(source, "holds no challenges; expected one or more")
    if name is None:
        ids = join_names(list(entries), _MAX_NAMED)
        raise InputError.of(source, f"holds {len(entries)} challenges; name one: {ids}")
    if name not in entries:
        raise InputError.of(source, no_such("challenge", name, list(entries), _MAX_NAMED))
    return entries[name]


def one_lattice(entry: Entry, source: str, where: str) -> Challenge:
    """Return the challenge of an entry to solve; its solution is in the file ``where``.

    Raises:
        InputError: when it uses two lattices; engines solve challenges on one.
    """
    if entry.halves == 1:
        return entry.challenge
    message = f"{entry.challenge.id} uses two lattices half a unit apart, but a challenge uses one"
    raise InputError.of(source, f"{message}; its solution is in {where}")


def find_challenge(puzzle: PuzzleSet, name: str | None) -> Challenge:
    """Return a challenge of a set or its catalog by id or title, or a whole board by its id.

    Without a name it is the set's first board that is not optional, or its only challenge if it
    has no such board.

    Raises:
        InputError: when the name is unknown, or missing with several to choose from; it lists some.

    Example:
        >>> from fabkit.sets.library import load_set
        >>> find_challenge(load_set("fridgeiq"), "square_01").pieces
        ('I', 'J', 'M', 'R')
    """
    known = challenge_names(puzzle)
    name = name and resolve_id(puzzle, name)
    if name is None and (board := default_board(puzzle.boards)):
        return puzzle.whole_board(board)
    if name is None and len(puzzle.challenges) == 1:
        return puzzle.challenges[0]
    choices = [*puzzle.challenges, *map(puzzle.whole_board, puzzle.boards)]
    if named := [challenge for challenge in choices if challenge.id == name]:
        return named[0]
    if name is not None and (member := puzzle.find_member(name)):
        return member
    if name is not None and (entry := shipped_entry(puzzle, name)):
        challenge = one_lattice(entry, puzzle.name, catalog_path(puzzle).name)
        return replace(challenge, answer=entry.result.status)
    if not known:
        message = "has no challenge and no board; describe a challenge in a file (--file)"
    elif name is None:
        has_no = "only optional boards" if puzzle.boards else "no board"
        message = f"has {has_no}; name a challenge: {join_names(known, _MAX_NAMED)}"
    else:
        records = catalog_records(puzzle)
        all_ids = [*known, *(record["id"] for record in records)]
        meant = {known_id.lower(): known_id for known_id in all_ids}.get(name.lower(), name)
        kinds = Counter(map(record_kind, records)).items()
        offered = join_names(known, _MAX_NAMED) + "".join(
            f", and {pluralize(count, kind)}" for kind, count in kinds
        )
        message = f"has no challenge {quote(name)}; choose from {offered}"
        near = did_you_mean(meant, all_ids)
        for family in puzzle.families:
            first = next(map(family.name, family.choices()), "")
            message += f", and members of {family.id} such as {first}"
            if nearest := family.nearest(name):
                near = f'; did you mean "{nearest}"?'
            if replace(family, without=()).find(name):
                message = f"has no challenge {quote(name)}, which its family {family.id} excludes"
                break
        message += near
    raise InputError.of(puzzle.name, message)


def resolve_id(puzzle: PuzzleSet, name: str) -> str:
    """Convert an English title from booklet or page to an id; return any other name unchanged.

    Example:
        >>> from fabkit.sets.library import load_set
        >>> fridgeiq = load_set("fridgeiq")
        >>> resolve_id(fridgeiq, "Snowflake Amaryllis"), resolve_id(fridgeiq, "square 1")
        ('even4-2c053f5136', 'square_01')
    """
    ids = [*challenge_names(puzzle), *(record["id"] for record in catalog_records(puzzle))]
    if name in ids:
        return name
    if member := puzzle.find_member(name):
        return member.id
    titles = {flake_id: f"snowflake {name}" for flake_id, name in snowflake_names(puzzle).items()}
    titles |= {known_id: re.sub("[-_]+0*", " ", known_id) for known_id in {*ids} - titles.keys()}
    ids_by_title = {title.lower(): known_id for known_id, title in titles.items()}
    for start_id, start in start_names(puzzle).items():
        title = f"{start.level} {start.number}"
        if start.of:
            title = f"{titles.get(start.of, start.of)}, start {start.letter}".rstrip()
        ids_by_title[title.lower()] = start_id
    return ids_by_title.get(re.sub(r"[-_\s]+", " ", name).lower(), name)


def challenge_names(puzzle: PuzzleSet) -> list[str]:
    """Return the ids that `find_challenge` accepts besides the catalog's, each once."""
    ids = [challenge.id for challenge in puzzle.challenges] + [board.id for board in puzzle.boards]
    return list(dict.fromkeys(ids))
