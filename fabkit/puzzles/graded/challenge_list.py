"""What is written of the challenges made: one list for scripts, and each as a file to solve."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fabkit import __version__
from fabkit.core.errors import InputError, many, printable, shown
from fabkit.core.files import (
    NewerSchemaError,
    json_text,
    outside_failures,
    read_json,
    writing,
)
from fabkit.model.library import set_argument
from fabkit.model.puzzle import PuzzleSet, usual_board
from fabkit.puzzles.graded.grading import LEVEL_NAMES, Graded
from fabkit.puzzles.graded.making import ENGINES, Made

LIST, FOLDER = "challenges.json", "challenges"


def document(made: Made) -> dict[str, Any]:
    """The list, ready for JSON; the same for the same seed, on every machine."""
    return {
        "set": made.puzzle.name,
        "made": {
            "command": command(made),
            "version": __version__,
            "seed": made.query.seed,
            "set_sha256": made.puzzle.digest,
        },
        "missing": made.reason or None,
        "levels": {level: len(found) for level, found in made.levels.items()},
        "challenges": [_entry(made, one) for one in made.graded],
    }


def command(made: Made) -> str:
    """The command that makes the same again."""
    query = made.query
    said = ["fabkit challenges", set_argument(made.puzzle), f"--count {query.count}"]
    if query.given is not None:
        said.append(f"--given {query.given}")
    if query.levels != LEVEL_NAMES:
        said.append(f"--difficulty {','.join(query.levels)}")
    if query.board is not None and query.board != usual_board(made.puzzle.boards):
        said.append(f"--board {query.board.id}")
    return " ".join([*said, f"--seed {query.seed}"])


def _entry(made: Made, one: Graded) -> dict[str, Any]:
    candidate, rating = one.candidate, one.rating
    return {
        **_statement(made, one),
        **({"shape": candidate.shape} if candidate.shape else {"minimal": candidate.minimal}),
        "solution": {
            piece: one.posed.drawn(cells)[1] for piece, cells in candidate.solution.items()
        },
        "count": candidate.count,
        "count_up_to_symmetry": 1,
        "unique_by": list(ENGINES),
        "level": rating.level,
        "difficulty": {
            "score": round(rating.score, 3),
            "tries": round(rating.tries, 3),
            "free_moves": round(rating.free_moves, 3),
        },
        "file": file_name(one),
    }


def file_name(one: Graded) -> str:
    """The name of a challenge's file in the folder."""
    return f"{FOLDER}/{one.posed.challenge.id}.toml"


def _statement(made: Made, one: Graded) -> dict[str, Any]:
    """What a challenge file says."""
    challenge, board = one.posed.challenge, made.query.board
    drawn = one.posed.drawn
    region = drawn(challenge.region) if board is None else ("board", board.id)
    said = dict([("id", challenge.id), region, ("pieces", list(challenge.pieces))])
    if board is not None:
        said["given"] = [
            dict([("piece", given.piece), drawn(given.cells)]) for given in challenge.given
        ]
    return said


def _toml(statement: dict[str, Any]) -> str:
    """A challenge file as a person would write it: one line for each key, and each given piece.

    Numbers, ids and lists of them are written alike in TOML and JSON.
    """
    lines = []
    for key, value in statement.items():
        if key == "given" and value:
            rows = (", ".join(f"{name} = {json.dumps(v)}" for name, v in g.items()) for g in value)
            lines += ["given = [", *(f"    {{ {row} }}," for row in rows), "]"]
        else:
            lines.append(f"{key} = {json.dumps(value)}")
    return "\n".join(lines) + "\n"


def title(one: Graded) -> str:
    """A challenge in one line, such as ``junior (4.2): 3 pieces given, none of them to spare``."""
    candidate, given = one.candidate, len(one.candidate.challenge.given)
    spare = ", none of them to spare" if candidate.minimal and given > 1 else ""
    what = f"{many(given, 'piece')} given{spare}"
    if candidate.shape:
        what = f"{candidate.shape} from {', '.join(candidate.challenge.pieces)}"
    return f"{one.rating.level} ({one.rating.score:.1f}): {what}"


def table(made: Made) -> tuple[list[str], list[list[object]]]:
    """The levels, and how many challenges of what sizes they have: a head and rows."""
    on_board = made.query.board is not None
    rows: list[list[object]] = []
    for level, found in made.levels.items():
        scores = [f"{one.rating.score:.1f}" for one in found]
        sizes = [_size(one) for one in found]
        row = [level, len(found), f"{scores[0]}-{scores[-1]}" if found else "-"]
        row.append(f"{min(sizes)}-{max(sizes)}" if found else "-")
        row += [sum(bool(one.candidate.minimal) for one in found)] if on_board else []
        rows.append(row)
    columns = ["given", "minimal"] if on_board else ["pieces"]
    return ["level", "challenges", "scores", *columns], rows


def _size(one: Graded) -> int:
    """How many pieces are given, or chosen."""
    challenge = one.posed.challenge
    return len(challenge.pieces) if one.candidate.shape else len(challenge.given)


def refuse_folder(folder: Path, puzzle: PuzzleSet) -> None:
    """Refuses, before any work is done, a folder into which the list could not be written.

    Raises:
        InputError: when it is a file, or holds the list of another set or of a newer fabkit.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError.of(printable(str(folder)), "is a file; expected a folder")
    with outside_failures(f"cannot read in {printable(str(folder))}"):
        _files_of_list(folder / LIST, puzzle)


def write(folder: Path, made: Made) -> Path:
    """Writes the list and the challenge files; those of a list made before are removed.

    Returns:
        The list's path.

    Raises:
        InputError: as `refuse_folder` does.
        OutsideError: when the folder is in use or cannot be written.
    """
    with writing(folder) as staging:
        before = _files_of_list(folder / LIST, made.puzzle)
        texts = {
            file_name(one): f"# {title(one)}\n{_toml(_statement(made, one))}" for one in made.graded
        }
        texts[LIST] = json_text(document(made))
        for name, text in texts.items():
            staging.path(name).write_bytes(text.encode())
        staging.commit()
        for name in before - texts.keys():
            (folder / name).unlink(missing_ok=True)
    return folder / LIST


def _files_of_list(path: Path, puzzle: PuzzleSet) -> set[str]:
    """The challenge files that a list speaks of; none when it is no list of ours.

    Raises:
        InputError: when it is another set's, or a newer fabkit's.
    """
    try:
        document = read_json(path)
    except NewerSchemaError:
        raise
    except (InputError, FileNotFoundError):
        return set()
    if document.get("set") != puzzle.name:
        message = f"holds challenges of {shown(document.get('set'))}; choose another folder with -o"
        raise InputError.of(printable(str(path)), message)
    listed = document.get("challenges")
    entries = listed if isinstance(listed, list) else []
    files = {str(one.get("file")) for one in entries if isinstance(one, dict)}
    own = {file.name for file in (path.parent / FOLDER).glob("*.toml")}
    return {f"{FOLDER}/{name}" for name in own} & files
