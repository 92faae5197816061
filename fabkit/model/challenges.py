"""The challenge that a command is about: one of a set's own, or one from a file."""

from __future__ import annotations

import re
from pathlib import Path

from fabkit.core.errors import InputError, did_you_mean, name_some, printable, shown
from fabkit.core.parsing import parse_json, parse_toml, read_text
from fabkit.model.catalog import catalog_challenge
from fabkit.model.puzzle import Board, Challenge, PuzzleSet, usual_board

_MAX_NAMED = 8
_LONGEST_ID = 40


def load_challenge(path: Path, puzzle: PuzzleSet) -> Challenge:
    """Reads a challenge file of a set.

    It is JSON or TOML, as its name ends; with another ending it is JSON if it begins with a
    brace. Without an ``id`` of its own the challenge is called like the file.

    Raises:
        InputError: with every fault of the file.
    """
    from fabkit.core.documents import Faults
    from fabkit.model.challengefile import ChallengeReader
    from fabkit.model.drawing import Regions

    name = printable(str(path))
    text = read_text(path, name, "a challenge file")
    if not text.strip():
        raise InputError.of(name, "is empty; expected a challenge, as TOML or JSON")
    ending = path.suffix.lower()
    is_json = ending == ".json" or (ending != ".toml" and text.lstrip().startswith("{"))
    document = parse_json(text, name) if is_json else parse_toml(text, name)
    faults = Faults(name)
    reader = ChallengeReader(puzzle, Regions(puzzle.lattice, faults))
    challenge = reader.read(document, name=_safe_id(path.stem))
    faults.finish()
    return challenge


def find_challenge(puzzle: PuzzleSet, name: str | None) -> Challenge:
    """A challenge of a set or of its catalog by its id, or all pieces on a board by the board's.

    Without a name it is the set's first board that is not optional, or its only challenge if it
    has no such board.

    Raises:
        InputError: when there is none of that name, or no name was given and there are several
            to choose from; it lists some.

    Example:
        >>> from fabkit.model.library import load_set
        >>> find_challenge(load_set("fridgeiq"), "square_01").pieces
        ('I', 'J', 'M', 'R')
    """
    known = known_names(puzzle)
    if name is None and (board := usual_board(puzzle.boards)):
        return _whole_board(puzzle, board)
    if name is None and len(puzzle.challenges) == 1:
        return puzzle.challenges[0]
    for challenge in puzzle.challenges:
        if challenge.id == name:
            return challenge
    for board in puzzle.boards:
        if board.id == name:
            return _whole_board(puzzle, board)
    made = catalog_challenge(puzzle, name) if name is not None else None
    if made is not None:
        return made
    if not known:
        message = "has no challenge and no board; describe a challenge in a file (--file)"
    elif name is None:
        has_no = "no board but optional ones" if puzzle.boards else "no board"
        message = f"has {has_no}; name a challenge: {name_some(known, _MAX_NAMED)}"
    else:
        meant = {one.lower(): one for one in known}.get(name.lower(), name)
        are = "are" if len(known) > 1 else "is only"
        message = f"has no challenge {shown(name)}; there {are} {name_some(known, _MAX_NAMED)}"
        message += did_you_mean(meant, known)
    raise InputError.of(puzzle.name, message)


def _whole_board(puzzle: PuzzleSet, board: Board) -> Challenge:
    pieces = tuple(piece.id for piece in puzzle.pieces)
    return Challenge(board.id, board.cells, pieces, flips=puzzle.flips)


def known_names(puzzle: PuzzleSet) -> list[str]:
    """What `find_challenge` knows besides the catalog, each once."""
    ids = [challenge.id for challenge in puzzle.challenges] + [board.id for board in puzzle.boards]
    return list(dict.fromkeys(ids))


def _safe_id(stem: str) -> str:
    """A file's name as an id: what is not safe in a file name becomes a dash."""
    from fabkit.core.documents import read_identifier

    safe = re.sub(r"[^A-Za-z0-9_]+", "-", stem).strip("-_")[:_LONGEST_ID] or "challenge"
    try:
        return read_identifier(safe)
    except ValueError:
        return f"challenge-{safe}"
