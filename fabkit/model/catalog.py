"""Catalogs: generated and proved challenges of a set, shipped or from `fabkit snowflakes`.

They contain snowflakes, starting positions on boards or of other challenges, and the numbers of
solutions that take long to count. `fabkit.model.challenge_file` reads their challenges.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from fabkit.core.files import json_sha256, read_json
from fabkit.model.library import shipped_folder
from fabkit.model.puzzle import Challenge, Entry, PuzzleSet, problem_sha256


def catalog_path(puzzle: PuzzleSet) -> Path:
    """Return the path of a set's shipped catalog, which may not exist."""
    return shipped_folder() / "catalogs" / f"{puzzle.name}.json"


def catalog_records(puzzle: PuzzleSet, kind: str = "") -> Sequence[dict[str, Any]]:
    """Return the documents of a set's shipped catalog; none without a catalog.

    A user's file with the name of a shipped set shares its catalog while the pieces are the same, and
    its starting positions while boards and moves are, too.

    Args:
        kind: ``snowflake`` or ``start``; all when empty.
    """
    catalog = _shipped(puzzle)
    starts = catalog.get("made", {}).get("rules_sha256") == rules_sha256(puzzle)
    kinds = {kind} if kind else {"snowflake", "start"}
    kinds -= set() if starts else {"start"}
    records = catalog.get("challenges", ())
    return tuple(record for record in records if record_kind(record) in kinds)


def record_kind(record: Mapping[str, Any]) -> str:
    """Return the kind of a challenge document in a catalog: ``start`` or ``snowflake``."""
    return "snowflake" if "parity" in record else "start"


def snowflake_numbers(puzzle: PuzzleSet) -> dict[str, int]:
    """Number the snowflakes of a shipped catalog by difficulty, for their titles, by id."""
    records = catalog_records(puzzle, "snowflake")
    ranked = sorted(records, key=lambda record: record["result"]["difficulty"]["score"])
    return {record["id"]: number for number, record in enumerate(ranked, start=1)}


def rules_sha256(puzzle: PuzzleSet) -> str:
    """Return the SHA-256 of what starting positions depend on besides pieces: moves and boards."""
    boards = [[board.id, sorted(board.cells)] for board in puzzle.boards]
    rules = [
        [
            board.id,
            board.open_count,
            [[sorted(clue.cells), clue.piece, clue.mark, clue.colour] for clue in board.clues],
        ]
        for board in puzzle.boards
        if board.clues or board.open_count
    ]
    return json_sha256([puzzle.flips, *boards, *rules])


def shipped_count(puzzle: PuzzleSet, challenge: Challenge) -> int | None:
    """Return the number of solutions of one of a set's own challenges that takes long to count.

    None unless its shipped catalog counts a challenge of this id that states the same problem.
    """
    stated = _shipped(puzzle).get("counts", {}).get(challenge.id, {})
    count: int | None = stated.get("count")
    same = count and stated["problem_sha256"] == problem_sha256(puzzle, challenge)
    return count if same else None


def _shipped(puzzle: PuzzleSet) -> dict[str, Any]:
    """Return a set's shipped catalog; empty when there is none for its pieces."""
    path = catalog_path(puzzle)
    catalog = _catalog(path) if path.is_file() else {}
    return catalog if catalog and catalog["made"]["pieces_sha256"] == puzzle.pieces_sha256 else {}


_catalog = lru_cache(maxsize=4)(read_json)


def shipped_entries(puzzle: PuzzleSet, kind: str = "") -> list[Entry]:
    """Return the entries of a set's shipped catalog; see `catalog_records`."""
    return _read(puzzle, catalog_records(puzzle, kind))


def shipped_entry(puzzle: PuzzleSet, name: str) -> Entry | None:
    """Return the entry of a set's shipped catalog with this id; None when it is unknown."""
    entries = _read(puzzle, [record for record in catalog_records(puzzle) if record["id"] == name])
    return entries[0] if entries else None


def _read(puzzle: PuzzleSet, records: Sequence[dict[str, Any]]) -> list[Entry]:
    if not records:
        return []
    from fabkit.model.challenge_file import read_shipped

    return read_shipped(records, puzzle, catalog_path(puzzle).name)
