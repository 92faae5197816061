"""Catalogs: generated and proved challenges of a set, shipped or from `fabkit snowflakes`.

They contain snowflakes, starting positions on boards or of other challenges, and the numbers of
solutions that take long to count. `fabkit.sets.challenge_file` reads their challenges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from fabkit.core.formats import read_json
from fabkit.core.hashes import json_sha256
from fabkit.core.parsing import read_toml
from fabkit.model.puzzle import Challenge, Entry, PuzzleSet, problem_sha256
from fabkit.sets.library import shipped_folder


def catalog_path(puzzle: PuzzleSet) -> Path:
    """Return the path of a set's shipped catalog, which may not exist."""
    return shipped_folder() / "catalogs" / f"{puzzle.name}.json"


def catalog_records(puzzle: PuzzleSet, kind: str = "") -> Sequence[dict[str, Any]]:
    """Return the documents of a set's shipped catalog; none without a catalog.

    A user's file with the name of a shipped set shares its catalog while the pieces are the same,
    and its starting positions while boards and moves are, too.

    Args:
        kind: ``snowflake`` or ``start``; all when empty.
    """
    catalog = _shipped(puzzle)
    kinds = {kind} if kind else {"snowflake", "start"}
    if catalog.get("made", {}).get("rules_sha256") != rules_sha256(puzzle):
        kinds -= {"start"}
    records = catalog.get("challenges", ())
    return tuple(record for record in records if record_kind(record) in kinds)


def record_kind(record: Mapping[str, Any]) -> str:
    """Return the kind of a challenge document in a catalog: ``start`` or ``snowflake``."""
    return "snowflake" if "parity" in record else "start"


def snowflake_names(puzzle: PuzzleSet) -> dict[str, str]:
    """Name the snowflakes of a shipped catalog, for their titles, by id: in the catalog's order,
    with the names of ``catalogs/snowflakes.toml``, and those beyond with numbers.

    Example:
        >>> from fabkit.sets.library import load_set
        >>> list(snowflake_names(load_set("fridgeiq")).items())[0]
        ('even4-0057708264', 'Acacia')
    """
    records = catalog_records(puzzle, "snowflake")
    names: list[str] = _flower_names() if records else []
    numbers = map(str, range(len(names) + 1, len(records) + 1))
    return dict(zip((record["id"] for record in records), [*names, *numbers], strict=False))


@dataclass(frozen=True)
class StartName:
    """What distinguishes a starting position in its title.

    Attributes:
        level: difficulty, and its `number` among the starts of this level on boards, from 1.
        of: the id of the challenge that it belongs to; empty for one on a board.
        letter: distinguishes several starts of the same challenge, by numbers if letters do not
            suffice; empty for the only one.
    """

    level: str
    number: int
    of: str
    letter: str


def name_starts(starts: Iterable[tuple[float, str, str, str]]) -> dict[str, StartName]:
    """Name starting positions, by id, so that none counts twice: of a board by level and number, of
    another challenge by that.

    Args:
        starts: score, id, level and ``of`` of each; see `fabkit.model.puzzle.Entry`.
    """
    ranked = sorted(starts)
    of_challenge = Counter(of for *_, of in ranked)
    seen: Counter[str] = Counter()
    names = {}
    for _, start_id, level, of in ranked:
        group = of or level
        seen[group] += 1
        letter = ""
        if of and of_challenge[of] > 1:
            is_short = of_challenge[of] <= len(ascii_uppercase)
            letter = ascii_uppercase[seen[group] - 1] if is_short else str(seen[group])
        names[start_id] = StartName(level, seen[group], of, letter)
    return names


def start_names(puzzle: PuzzleSet) -> dict[str, StartName]:
    """Name the starting positions of a shipped catalog; see `name_starts`."""
    return name_starts(
        (
            record["result"]["difficulty"]["score"],
            record["id"],
            record["result"]["level"],
            record.get("of", ""),
        )
        for record in catalog_records(puzzle, "start")
    )


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
    record = _shipped(puzzle).get("counts", {}).get(challenge.id, {})
    count: int | None = record.get("count")
    is_same = count and record["problem_sha256"] == problem_sha256(puzzle, challenge)
    return count if is_same else None


def _shipped(puzzle: PuzzleSet) -> dict[str, Any]:
    """Return a set's shipped catalog; empty when there is none for its pieces."""
    path = catalog_path(puzzle)
    catalog = _catalog(path) if path.is_file() else {}
    return catalog if catalog and catalog["made"]["pieces_sha256"] == puzzle.pieces_sha256 else {}


_catalog = lru_cache(maxsize=4)(read_json)


@lru_cache(maxsize=1)
def _flower_names() -> list[str]:
    path = shipped_folder() / "catalogs" / "snowflakes.toml"
    return list(read_toml(path, path.name)["names"])


def shipped_entries(puzzle: PuzzleSet, kind: str = "") -> list[Entry]:
    """Return the entries of a set's shipped catalog; see `catalog_records`."""
    return _read(puzzle, catalog_records(puzzle, kind))


def shipped_entry(puzzle: PuzzleSet, name: str) -> Entry | None:
    """Return the entry of a set's shipped catalog with this id; None when it is unknown."""
    records = [record for record in catalog_records(puzzle) if record["id"] == name]
    return next(iter(_read(puzzle, records)), None)


def _read(puzzle: PuzzleSet, records: Sequence[dict[str, Any]]) -> list[Entry]:
    if not records:
        return []
    from fabkit.sets.challenge_file import read_shipped

    return read_shipped(records, puzzle, catalog_path(puzzle).name)
