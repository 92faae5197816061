"""Find the challenge a command works on: one of the set or its catalog, or one from a file."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from fabkit.core.errors import InputError, did_you_mean, escape, join_names, pluralize, quote
from fabkit.core.parsing import parse_json, parse_toml, read_text
from fabkit.model.catalog import catalog_challenge, catalog_entries, entry_kind, snowflake_numbers
from fabkit.model.puzzle import Challenge, PuzzleSet, default_board

_MAX_NAMED = 8
_LONGEST_ID = 40


def load_challenge(path: Path, puzzle: PuzzleSet) -> Challenge:
    """Read a challenge file for a set.

    The suffix decides between JSON and TOML; with another suffix it is JSON if it begins with a brace.
    Without an ``id``, the challenge is named after the file.

    Raises:
        InputError: with every error in the file.
    """
    from fabkit.core.documents import ErrorList
    from fabkit.model.challenge_file import ChallengeReader
    from fabkit.model.regions import RegionReader

    name = escape(str(path))
    text = read_text(path, name, "a challenge file")
    if not text.strip():
        raise InputError.of(name, "is empty; expected a challenge, as TOML or JSON")
    ending = path.suffix.lower()
    is_json = ending == ".json" or (ending != ".toml" and text.lstrip().startswith("{"))
    document = parse_json(text, name) if is_json else parse_toml(text, name)
    errors = ErrorList(name)
    reader = ChallengeReader(puzzle, RegionReader(puzzle.lattice, errors))
    challenge = reader.read(document, name=_safe_id(path.stem))
    errors.raise_if_any()
    return challenge


def find_challenge(puzzle: PuzzleSet, name: str | None) -> Challenge:
    """Return a challenge of a set or its catalog by id or title, or a whole board by its id.

    Without a name it is the set's first board that is not optional, or its only challenge if it
    has no such board.

    Raises:
        InputError: when the name is unknown, or missing with several to choose from; it lists some.

    Example:
        >>> from fabkit.model.library import load_set
        >>> find_challenge(load_set("fridgeiq"), "square_01").pieces
        ('I', 'J', 'M', 'R')
    """
    known, name = challenge_names(puzzle), name and resolve_id(puzzle, name)
    if name is None and (board := default_board(puzzle.boards)):
        return puzzle.whole_board(board)
    if name is None and len(puzzle.challenges) == 1:
        return puzzle.challenges[0]
    for challenge in puzzle.challenges:
        if challenge.id == name:
            return challenge
    for board in puzzle.boards:
        if board.id == name:
            return puzzle.whole_board(board)
    if name is not None and (shipped := catalog_challenge(puzzle, name)):
        return shipped
    if not known:
        message = "has no challenge and no board; describe a challenge in a file (--file)"
    elif name is None:
        has_no = "only optional boards" if puzzle.boards else "no board"
        message = f"has {has_no}; name a challenge: {join_names(known, _MAX_NAMED)}"
    else:
        made = catalog_entries(puzzle)
        all_ids = [*known, *(one["id"] for one in made)]
        meant = {one.lower(): one for one in all_ids}.get(name.lower(), name)
        kinds = Counter(map(entry_kind, made)).items()
        there = join_names(known, _MAX_NAMED) + "".join(
            f", and {pluralize(n, kind)}" for kind, n in kinds
        )
        message = f"has no challenge {quote(name)}; choose from {there}"
        message += did_you_mean(meant, all_ids)
    raise InputError.of(puzzle.name, message)


def resolve_id(puzzle: PuzzleSet, name: str) -> str:
    """Convert an English title from booklet or page to an id; return any other name unchanged.

    Example:
        >>> from fabkit.model.library import load_set
        >>> fridgeiq = load_set("fridgeiq")
        >>> resolve_id(fridgeiq, "Start 7: Triangle 4"), resolve_id(fridgeiq, "square 1")
        ('start-007', 'square_01')
    """
    ids = [*challenge_names(puzzle), *(one["id"] for one in catalog_entries(puzzle))]
    if name in ids:
        return name
    titles = {f"snowflake {number}": one for one, number in snowflake_numbers(puzzle).items()}
    titles |= {re.sub("[-_]+0*", " ", one).lower(): one for one in ids}
    return titles.get(re.sub(r"[-_\s]+", " ", name.partition(":")[0]).lower(), name)


def challenge_names(puzzle: PuzzleSet) -> list[str]:
    """Return the ids that `find_challenge` accepts besides the catalog's, each once."""
    ids = [challenge.id for challenge in puzzle.challenges] + [board.id for board in puzzle.boards]
    return list(dict.fromkeys(ids))


def _safe_id(stem: str) -> str:
    """Convert a file name to an id: unsafe characters become dashes."""
    from fabkit.core.documents import read_identifier

    safe = re.sub(r"[^A-Za-z0-9_]+", "-", stem).strip("-_")[:_LONGEST_ID] or "challenge"
    try:
        return read_identifier(safe)
    except ValueError:
        return f"challenge-{safe}"
