"""Output of generated challenges: one list for scripts, and a challenge file for each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fabkit import __version__
from fabkit.core.errors import InputError, escape, pluralize, quote
from fabkit.core.formats import NewerSchemaError, json_text, read_json
from fabkit.core.staging import external_errors, staged_writes
from fabkit.model.entry import LEVELS
from fabkit.model.puzzle import PuzzleSet, default_board
from fabkit.puzzles.graded.generate import UNIQUE_BY, GeneratedChallenges
from fabkit.puzzles.graded.grading import GradedChallenge
from fabkit.sets.challenge_writer import challenge_record, solution_record
from fabkit.sets.library import set_argument

#: The list in the output folder.
LIST = "challenges.json"
#: The folder of the challenge files, beside the list.
FOLDER = "challenges"


def document(generated: GeneratedChallenges) -> dict[str, Any]:
    """Return the list as a JSON document; equal seeds give equal lists on all machines."""
    return {
        "set": generated.puzzle.name,
        "made": {
            "command": command(generated),
            "version": __version__,
            "seed": generated.query.seed,
            "set_sha256": generated.puzzle.digest,
        },
        "levels": {level: len(graded) for level, graded in generated.levels.items()},
        "distinct": generated.distinct,
        "missing": generated.reason or "",
        "challenges": [_record(generated, graded) for graded in generated.graded],
    }


def command(generated: GeneratedChallenges) -> str:
    """Return the command that reproduces the list."""
    query = generated.query
    parts = ["fabkit challenges", set_argument(generated.puzzle), f"--count {query.count}"]
    if query.given is not None:
        parts.append(f"--given {query.given}")
    if query.levels != LEVELS:
        parts.append(f"--difficulty {','.join(query.levels)}")
    if query.of:
        parts.append(f"--of {','.join(query.of)}")
    if query.clues:
        parts.append(f"--clues {query.clues}")
    if (
        not query.of
        and query.board is not None
        and query.board != default_board(generated.puzzle.boards)
    ):
        parts.append(f"--board {query.board.id}")
    return " ".join([*parts, f"--seed {query.seed}"])


def _record(generated: GeneratedChallenges, graded: GradedChallenge) -> dict[str, Any]:
    candidate = graded.candidate
    origin = {"shape": candidate.shape} if candidate.shape else {"minimal": candidate.minimal}
    return {
        **_statement(generated, graded),
        **({"of": candidate.of} if candidate.of else {}),
        "file": file_name(graded),
        "result": {
            "status": "solved",
            "solution": solution_record(candidate.solution, graded.encoded.cells_or_outline),
            "count": candidate.count,
            "count_complete": True,
            "count_up_to_symmetry": 1,
            "unique_by": list(UNIQUE_BY),
            **origin,
            "level": graded.level,
            "difficulty": {
                "score": graded.score,
                "tries": round(graded.rating.tries, 3),
                "free_moves": round(graded.rating.free_moves, 3),
            },
        },
    }


def file_name(graded: GradedChallenge) -> str:
    """Return the name of a challenge's file in the folder."""
    return f"{FOLDER}/{graded.encoded.challenge.id}.toml"


def _statement(generated: GeneratedChallenges, graded: GradedChallenge) -> dict[str, Any]:
    encoded = graded.encoded
    return challenge_record(generated.puzzle, encoded.challenge, encoded.cells_or_outline)


def _toml(statement: dict[str, Any]) -> str:
    """Return a challenge file as TOML with one line for each key, each given piece and each clue.

    Numbers, booleans, ids and lists of them have the same syntax in TOML and JSON.
    """
    lines = []
    for key, value in statement.items():
        if key in ("given", "clue") and value:
            lines.append(f"{key} = [")
            for told in value:
                row = ", ".join(f"{name} = {json.dumps(drawn)}" for name, drawn in told.items())
                lines.append(f"    {{ {row} }},")
            lines.append("]")
        else:
            lines.append(f"{key} = {json.dumps(value)}")
    return "\n".join(lines) + "\n"


def title(graded: GradedChallenge) -> str:
    """Describe a challenge in one line, such as ``junior (4.2): 3 pieces given, all needed``."""
    candidate = graded.candidate
    given = _size(graded)
    all_needed = ", all needed" if candidate.minimal and given > 1 else ""
    base = f" of {candidate.of}" if candidate.of else ""
    told = "piece" if candidate.challenge.given or not candidate.challenge.clues else "cell"
    summary = f"{pluralize(given, told)}{base} given{all_needed}"
    if candidate.shape:
        summary = f"{candidate.shape} from {', '.join(candidate.challenge.pieces)}"
    return f"{graded.level} ({graded.score:.1f}): {summary}"


def level_table(generated: GeneratedChallenges) -> tuple[list[str], list[list[object]]]:
    """Return the head and rows of a table of levels, with numbers and sizes of challenges."""
    on_board = generated.query.board is not None or bool(generated.query.of)
    rows: list[list[object]] = []
    for level, challenges in generated.levels.items():
        scores = [f"{graded.score:.1f}" for graded in challenges]
        sizes = [_size(graded) for graded in challenges]
        row: list[object] = [level, len(challenges)]
        row.append(f"{scores[0]}-{scores[-1]}" if challenges else "-")
        row.append(f"{min(sizes)}-{max(sizes)}" if challenges else "-")
        if on_board:
            row.append(sum(bool(graded.candidate.minimal) for graded in challenges))
        rows.append(row)
    columns = ["given", "minimal"] if on_board else ["pieces"]
    return ["level", "challenges", "scores", *columns], rows


def _size(graded: GradedChallenge) -> int:
    """Return the number of given, or chosen, pieces, or of cells told by clues."""
    challenge = graded.encoded.challenge
    if graded.candidate.shape:
        return len(challenge.pieces)
    return len(challenge.given) or len(challenge.told_cells)


def refuse_folder(folder: Path, puzzle: PuzzleSet) -> None:
    """Refuse, before any work is done, a folder that the list could not be written to.

    Raises:
        InputError: if it is a file, or holds the list of another set or of a newer fabkit.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError.of(escape(str(folder)), "is a file; expected a folder")
    with external_errors(f"cannot read in {escape(str(folder))}"):
        _files_of_list(folder / LIST, puzzle)


def write_list(folder: Path, generated: GeneratedChallenges) -> Path:
    """Write the list and the challenge files; remove those of an older list.

    Returns:
        The list's path.

    Raises:
        InputError: as in `refuse_folder`.
        ExternalError: if the folder is in use or cannot be written.
    """
    with staged_writes(folder) as staging:
        before = _files_of_list(folder / LIST, generated.puzzle)
        texts = {
            file_name(graded): f"# {title(graded)}\n{_toml(_statement(generated, graded))}"
            for graded in generated.graded
        }
        texts[LIST] = json_text(document(generated))
        for name, text in texts.items():
            staging.path(name).write_bytes(text.encode())
        staging.commit()
        for name in before - texts.keys():
            (folder / name).unlink(missing_ok=True)
    return folder / LIST


def _files_of_list(path: Path, puzzle: PuzzleSet) -> set[str]:
    """Return the challenge files of a list; none if it is not one of fabkit's.

    Raises:
        InputError: if it belongs to another set or a newer fabkit.
    """
    try:
        document = read_json(path)
    except NewerSchemaError:
        raise
    except (InputError, FileNotFoundError):
        return set()
    if document.get("set") != puzzle.name:
        message = f"holds challenges of {quote(document.get('set'))}; choose another folder with -o"
        raise InputError.of(escape(str(path)), message)
    listed = document.get("challenges")
    records = listed if isinstance(listed, list) else []
    files = {str(record.get("file")) for record in records if isinstance(record, dict)}
    own = {file.name for file in (path.parent / FOLDER).glob("*.toml")}
    return {f"{FOLDER}/{name}" for name in own} & files
