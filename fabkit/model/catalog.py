"""Catalogs: generated and proved challenges of a set, shipped or from `fabkit snowflakes`.

They contain snowflakes, starting positions on boards or of other challenges, and the numbers of
solutions that take long to count. Reading verifies each challenge against the set: outlines are on
the lattice, and the solution is valid. Counts and difficulties are trusted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabkit.core.errors import InputError, quote
from fabkit.core.files import json_sha256, read_json
from fabkit.model.entry import (
    DEFAULT_THRESHOLDS,
    LEVELS,
    Entry,
    challenge_of,
    entry_of,
    level_of,
    solution_error,
)
from fabkit.model.lattice import Cell
from fabkit.model.library import shipped_folder
from fabkit.model.polygon import LARGEST_COORDINATE
from fabkit.model.puzzle import Challenge, PuzzleSet, problem_sha256

if TYPE_CHECKING:
    from fabkit.core.documents import ErrorList

_MOST_OUTLINES = 1000
#: Higher scores are ignored.
_MOST_SCORE = 1e6
#: Nesting depth of coordinates: outlines, rings, corners.
_DEPTH = 4


def catalog_path(puzzle: PuzzleSet) -> Path:
    """Return the path of a set's shipped catalog, which may not exist."""
    return shipped_folder() / "catalogs" / f"{puzzle.name}.json"


def catalog_entries(puzzle: PuzzleSet, kind: str = "") -> Sequence[dict[str, Any]]:
    """Return the raw entries of a set's shipped catalog; none without a catalog.

    A user's file with the name of a shipped set shares its catalog while the pieces are the same, and
    its starting positions while boards and moves are, too.

    Args:
        kind: ``snowflake`` or ``start``; all when empty.
    """
    catalog = _shipped(puzzle)
    starts = catalog.get("made", {}).get("rules_sha256") == rules_sha256(puzzle)
    kinds = {kind} if kind else {"snowflake", "start"}
    kinds -= set() if starts else {"start"}
    return tuple(one for one in catalog.get("challenges", ()) if entry_kind(one) in kinds)


def entry_kind(stated: Mapping[str, Any]) -> str:
    """Return the kind of a raw catalog entry: ``start`` or ``snowflake``."""
    return str(stated.get("kind", "snowflake"))


def snowflake_numbers(puzzle: PuzzleSet) -> dict[str, int]:
    """Number the snowflakes of a shipped catalog by difficulty, for their titles, by id."""
    flakes = sorted(
        catalog_entries(puzzle, "snowflake"), key=lambda one: one["difficulty"]["score"]
    )
    return {one["id"]: number for number, one in enumerate(flakes, start=1)}


def rules_sha256(puzzle: PuzzleSet) -> str:
    """Return the SHA-256 of what starting positions depend on besides pieces: moves and boards."""
    boards = [[board.id, sorted(board.cells)] for board in puzzle.boards]
    return json_sha256([puzzle.flips, *boards])


def catalog_thresholds(puzzle: PuzzleSet, kind: str) -> Sequence[float]:
    """Return the level thresholds for a set's challenges of a kind.

    They come from its shipped catalog, where a board counts as a start without given pieces; without
    a catalog, they are `fabkit.model.entry.DEFAULT_THRESHOLDS`.
    """
    levels = _shipped(puzzle).get("levels", {})
    found: Sequence[float] = levels.get("start" if kind == "board" else kind, DEFAULT_THRESHOLDS)
    return found


def shipped_count(puzzle: PuzzleSet, entry: Entry) -> int | None:
    """Return the number of solutions of one of a set's own challenges that takes long to count.

    None unless its shipped catalog counts a challenge of this id that states the same problem.
    """
    stated = _shipped(puzzle).get("counts", {}).get(entry.id, {})
    count: int | None = stated.get("count")
    same = count and stated["problem_sha256"] == problem_sha256(puzzle, challenge_of(entry))
    return count if same else None


def challenge_level(puzzle: PuzzleSet, challenge: Challenge, score: float) -> str:
    """Return the level of any challenge of a set among those of its kind; see `catalog_thresholds`."""
    kind = "challenge"
    if challenge.given or any(board.cells == challenge.region for board in puzzle.boards):
        kind = "start"
    elif any(one["id"] == challenge.id for one in catalog_entries(puzzle, "snowflake")):
        kind = "snowflake"
    return level_of(score, catalog_thresholds(puzzle, kind))


def _shipped(puzzle: PuzzleSet) -> dict[str, Any]:
    """Return a set's shipped catalog; empty when there is none for its pieces."""
    path = catalog_path(puzzle)
    catalog = _catalog(path) if path.is_file() else {}
    return catalog if catalog and catalog["made"]["pieces_sha256"] == puzzle.pieces_sha256 else {}


_catalog = lru_cache(maxsize=4)(read_json)


def shipped_entries(puzzle: PuzzleSet, kind: str = "") -> list[Entry]:
    """Return the validated entries of a set's shipped catalog; see `catalog_entries`."""
    stated = list(catalog_entries(puzzle, kind))
    return read_catalog({"challenges": stated}, puzzle, catalog_path(puzzle).name)


def catalog_entry(puzzle: PuzzleSet, name: str) -> Entry | None:
    """Return the entry of a set's shipped catalog with this id; None when it is unknown."""
    # Validate only this one: all take a second.
    stated = [one for one in catalog_entries(puzzle) if one["id"] == name]
    found = read_catalog({"challenges": stated}, puzzle, catalog_path(puzzle).name)
    return found[0] if found else None


def catalog_challenge(puzzle: PuzzleSet, name: str) -> Challenge | None:
    """Return a challenge of a set's shipped catalog by its id; None when it is unknown.

    Raises:
        InputError: when it uses two lattices, which a challenge file cannot express.
    """
    entry = catalog_entry(puzzle, name)
    if entry is None:
        return None
    if entry.halves == 1:
        return replace(challenge_of(entry), answer=entry.status, title="")
    message = (
        f"{name} uses two lattices half a unit apart, but a challenge uses one; its "
        f"solution is in {catalog_path(puzzle).name}"
    )
    raise InputError.of(puzzle.name, message)


def refuse_other_set(document: Mapping[str, Any], puzzle: PuzzleSet, source: str) -> None:
    """Raise `InputError` when a list or catalog contains challenges of another set."""
    if document.get("set") != puzzle.name:
        message = (
            f"contains challenges of {quote(document.get('set'))}, not of {quote(puzzle.name)}"
        )
        raise InputError.of(source, message)


def read_catalog(document: Mapping[str, Any], puzzle: PuzzleSet, source: str) -> list[Entry]:
    """Validate a catalog from any source and return its entries, each with its solution.

    Raises:
        InputError: with all errors found.
    """
    from fabkit.core.documents import ErrorList, read_tables

    errors = ErrorList(source)
    reading = _CatalogReader(puzzle, errors)
    stated = read_tables(document.get("challenges", []), "challenges", errors)
    found = [reading.entry(place, data) for place, data in stated]
    errors.raise_if_any()
    return found


class _CatalogReader:
    """One pass over a catalog."""

    def __init__(self, puzzle: PuzzleSet, errors: ErrorList) -> None:
        from fabkit.model.challenge_file import ChallengeReader
        from fabkit.model.regions import RegionReader

        self._puzzle, self._errors = puzzle, errors
        self._regions = RegionReader(puzzle.lattice, errors)
        self._reader = ChallengeReader(puzzle, self._regions)
        self._ids = set[str]()

    def entry(self, place: str, data: Any) -> Entry:
        """Read one challenge; errors are recorded."""
        before = self._errors.count
        is_start = isinstance(data, dict) and entry_kind(data) == "start"
        entry = (self._start if is_start else self._snowflake)(place, data)
        if entry.id and entry.id in self._ids:
            self._errors.add(f"{place}.id", f"{quote(entry.id)} is listed twice")
        self._ids.add(entry.id)
        if self._errors.count == before and (error := solution_error(entry, self._puzzle)):
            self._errors.add(f"{place}.solution", f"{error}; regenerate the catalog")
        return entry

    def _start(self, place: str, data: dict[str, Any]) -> Entry:
        """Read a starting position: a challenge as in files, with a solution on the set's lattice."""
        from fabkit.model.challenge_file import CHALLENGE_KEYS, CatalogStart
        from fabkit.model.regions import CellNumbering

        errors = self._errors
        table = CatalogStart.read(data, errors, place)
        challenge = self._reader.read(
            {key: data[key] for key in CHALLENGE_KEYS if key in data}, place
        )
        key = "cells" if self._puzzle.lattice.cells_per_unit == 1 else "outline"
        numbering = CellNumbering(self._puzzle.lattice, challenge.region)

        def cells(value: Any, where: str) -> frozenset[Cell]:
            return self._regions.read(key, value, where, numbering)

        level, score = read_difficulty(data)
        if level not in LEVELS:
            errors.add(
                f"{place}.level", f"expected one of {', '.join(LEVELS)}; regenerate the catalog"
            )
        return replace(
            entry_of(challenge, "start"),
            status="solved",
            solution=self._solution(table.solution, f"{place}.solution", cells),
            count=table.count or None,
            count_complete=table.count_complete,
            level=level,
            score=score,
            of=table.of or "",
        )

    def _snowflake(self, place: str, data: Any) -> Entry:
        from fabkit.model.challenge_file import CatalogSnowflake

        errors = self._errors
        table = CatalogSnowflake.read(data, errors, place)
        parity, name = table.parity or "even", table.id or ""
        if parity == "mixed" and self._puzzle.made_of_balls:
            message = 'is "mixed", of pieces half a unit apart, but balls lie on one lattice'
            errors.add(f"{place}.parity", f'{message}; expected "even" or "odd"')
        level, score = read_difficulty(data)
        solution = self._solution(
            table.solution, f"{place}.solution", lambda value, key: self._cells(value, key, parity)
        )
        return Entry(
            id=name,
            title=name,
            kind="snowflake",
            region=self._region(table.outlines, f"{place}.outlines", parity),
            pieces=tuple(piece.id for piece in self._puzzle.pieces if piece.id in solution),
            flips=self._puzzle.flips if table.flips is None else table.flips,
            halves=2 if parity == "mixed" else 1,
            parity=parity,
            status="solved",
            solution=solution,
            count=table.count or None,
            count_complete=table.count_complete,
            level=level,
            score=score,
        )

    def _region(self, outlines: Any, key: str, parity: str) -> frozenset[Cell]:
        """Return the cells of all outlines together."""
        found = set[Cell]()
        if outlines is None:  # recorded already
            return frozenset()
        if not isinstance(outlines, list) or not 0 < len(outlines) <= _MOST_OUTLINES:
            expected = f"expected a list of 1 to {_MOST_OUTLINES} outlines"
            self._errors.add(key, f"{expected}, found {quote(outlines)}")
            return frozenset()
        for index, outline in enumerate(outlines):
            cells = self._cells(outline, f"{key}[{index}]", parity)
            if found & cells:
                self._errors.add(f"{key}[{index}]", "overlaps an earlier one")
            if not cells or found & cells:
                return frozenset()
            found |= cells
        return frozenset(found)

    def _solution(
        self, stated: Any, key: str, cells: Callable[[Any, str], frozenset[Cell]]
    ) -> dict[str, frozenset[Cell]]:
        """Return the cells of each piece as `cells` reads them; none after an error."""
        known = [piece.id for piece in self._puzzle.pieces]
        if isinstance(stated, dict) and stated.keys() <= set(known):
            return {one: cells(stated[one], f"{key}.{one}") for one in stated}
        if isinstance(stated, dict):
            piece = next(one for one in stated if one not in known)
            message = f"there is no piece {quote(piece)}; the pieces are {', '.join(known)}"
            self._errors.add(key, message)
        elif stated is not None:  # recorded already
            self._errors.add(key, f"expected an outline for each piece, found {quote(stated)}")
        return {}

    def _cells(self, outline: Any, key: str, parity: str) -> frozenset[Cell]:
        """Return the cells of an outline whose origin is the centre.

        With odd parity the centre is the middle of a cell, so the grid is shifted by half a unit; mixed
        outlines are read in half units.
        """
        from fabkit.model.regions import read_outline

        scale, shift = {"even": (1, 0), "odd": (1, 0.5), "mixed": (2, 0)}[parity]
        moved = _moved(outline, scale, shift, _DEPTH)
        return read_outline(moved, self._puzzle.lattice, key, self._errors, may_touch=True)


def read_difficulty(stated: Any) -> tuple[str, float | None]:
    """Return level and score of a challenge in a list or catalog, ignoring invalid ones.

    Example:
        >>> read_difficulty({"difficulty": {"score": 3.5, "level": "junior"}})
        ('junior', 3.5)
    """
    stated = stated if isinstance(stated, dict) else {}
    rating = stated.get("difficulty")
    rating = rating if isinstance(rating, dict) else {}
    level, score = stated.get("level") or rating.get("level"), rating.get("score")
    if not isinstance(score, int | float) or isinstance(score, bool) or abs(score) >= _MOST_SCORE:
        score = None
    return level if isinstance(level, str) else "", score


def _moved(value: Any, scale: int, shift: float, depth: int) -> Any:
    """Scale and shift nested lists of coordinates; anything but numbers is unchanged."""
    if isinstance(value, list) and depth:
        return [_moved(one, scale, shift, depth - 1) for one in value]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and abs(value) <= LARGEST_COORDINATE:  # larger ones are refused later, as written
        return value * scale + shift
    return value
