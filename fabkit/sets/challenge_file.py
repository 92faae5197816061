"""Read challenges: a file, a table of a set file, a list, or a catalog."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fabkit.core.documents import exactly_one, read_document, read_identifier
from fabkit.core.errors import ErrorList, InputError, escape, quote
from fabkit.core.formats import check_schema
from fabkit.core.lines import located
from fabkit.core.parsing import parse_json, parse_toml, read_text
from fabkit.model.puzzle import Entry, PuzzleSet
from fabkit.sets.challenge_reader import ChallengeReader
from fabkit.sets.challenge_tables import ChallengeFile, ListFile
from fabkit.sets.regions import RegionReader

_LONGEST_ID = 40


def read_challenges(path: Path, puzzle: PuzzleSet) -> list[Entry]:
    """Read a challenge file, a list of challenges, or a catalog; all are TOML or JSON.

    The suffix decides between TOML and JSON; with another suffix it is JSON if it begins with a
    brace. A challenge file without an ``id`` is named after the file.

    Raises:
        InputError: with every error in the file, or when it is that of another set.
    """
    name = escape(str(path))
    content = read_text(path, name, "a challenge file")
    if not content.strip():
        raise InputError.of(name, "is empty; expected a challenge, as TOML or JSON")
    suffix = path.suffix.lower()
    is_json = suffix == ".json" or (suffix != ".toml" and content.lstrip().startswith("{"))
    with located(content, name):
        document = parse_json(content, name) if is_json else parse_toml(content, name)
        if document.keys() & {"challenge", "challenges"}:
            return read_list(document, puzzle, name)
        errors = ErrorList(name)
        table = read_document(ChallengeFile, document, errors)
        reader = ChallengeReader(puzzle, RegionReader(puzzle.lattice, errors))
        entries = [reader.read(table, _safe_id(path.stem))] if table else []
        errors.raise_if_any()
    return entries


def read_list(document: Mapping[str, Any], puzzle: PuzzleSet, source: str) -> list[Entry]:
    """Read the challenges of a list or catalog; `source` is its name in messages.

    Raises:
        InputError: with all errors found, or when it is of another set or of an older form.
    """
    check_schema(document, source)
    if document.get("set", puzzle.name) != puzzle.name:
        message = f"contains challenges of {quote(document['set'])}, not of {quote(puzzle.name)}"
        raise InputError.of(source, message)
    _refuse_older_form(document, puzzle, source)
    return _read_entries(document, puzzle, source)


def read_shipped(records: Sequence[Any], puzzle: PuzzleSet, source: str) -> list[Entry]:
    """Read records of a shipped catalog, whose solutions tests have checked."""
    return _read_entries({"challenges": records}, puzzle, source, proved=True)


def _read_entries(
    document: Mapping[str, Any], puzzle: PuzzleSet, source: str, proved: bool = False
) -> list[Entry]:
    errors = ErrorList(source)
    file = read_document(
        ListFile, {key: document[key] for key in document if key != "schema"}, errors
    )
    entries = list[Entry]()
    if file:
        exactly_one(errors, file, ("challenge", "challenges"), required=True)
        reader = ChallengeReader(puzzle, RegionReader(puzzle.lattice, errors, proved=proved))
        ids = set[str]()
        for table in file.challenge or file.challenges:
            entries.append(reader.read(table))
            if table.id in ids:
                errors.add(table.key("id"), f"{quote(table.id)} is listed twice")
            ids.add(table.id)
    errors.raise_if_any()
    return entries


def _refuse_older_form(document: Mapping[str, Any], puzzle: PuzzleSet, source: str) -> None:
    """Refuse a list or catalog whose results are not in a table of their own.

    Raises:
        InputError: with the command that makes it again.
    """
    older_keys = {"outlines", "solution"}
    records = document.get("challenges")
    records = records if isinstance(records, list) else []
    if any(isinstance(record, dict) and record.keys() & older_keys for record in records):
        made = document.get("made")
        command = made.get("command") if isinstance(made, dict) else None
        command = command or f"fabkit challenges {puzzle.name}"
        raise InputError.of(source, f"is of an older fabkit; make it again with `{command}`")


def _safe_id(stem: str) -> str:
    """Convert a file name to an id: unsafe characters become dashes."""
    safe = re.sub(r"[^A-Za-z0-9_]+", "-", stem).strip("-_")[:_LONGEST_ID] or "challenge"
    try:
        return read_identifier(safe)
    except ValueError:
        return f"challenge-{safe}"
