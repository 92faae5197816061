"""Catalogs: challenges of a set that were generated and proved, shipped or by `fabkit snowflakes`.

Each is held against the set: its outlines lie on the lattice, and its solution is one. How many
solutions there are in all, and how hard it is, is taken as it stands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabkit.core.errors import InputError, shown
from fabkit.core.files import read_json
from fabkit.model.entry import Entry, Images, challenge_of, wrong_with
from fabkit.model.lattice import Cell
from fabkit.model.library import shipped_folder
from fabkit.model.polygon import LARGEST_COORDINATE
from fabkit.model.puzzle import Challenge, PuzzleSet

if TYPE_CHECKING:
    from fabkit.core.documents import Faults

_MOST_OUTLINES = 1000
#: A higher score, or none, is not told.
_MOST_SCORE = 1e6
#: Coordinates stand in outlines, those in rings, and those in corners.
_DEPTH = 4


def catalog_path(puzzle: PuzzleSet) -> Path:
    """Where the shipped catalog of a set is, if it has one."""
    return shipped_folder() / "catalogs" / f"{puzzle.name}.json"


def catalog_entries(puzzle: PuzzleSet) -> Sequence[dict[str, Any]]:
    """The challenges of a set's shipped catalog, as it says them; none when it has no catalog.

    A file of one's own that is called like a shipped set has its catalog as long as the pieces
    are the same.
    """
    path = catalog_path(puzzle)
    if not path.is_file():
        return ()
    catalog = _catalog(path)
    made_for_these = catalog["made"]["pieces_sha256"] == puzzle.pieces_sha256
    return tuple(catalog["challenges"]) if made_for_these else ()


@lru_cache(maxsize=4)
def _catalog(path: Path) -> dict[str, Any]:
    return read_json(path)


def shipped_snowflakes(puzzle: PuzzleSet) -> list[Entry]:
    """The challenges of a set's shipped catalog, read; none when it has no catalog."""
    stated = list(catalog_entries(puzzle))
    return read_snowflakes({"challenges": stated}, puzzle, catalog_path(puzzle).name)


def catalog_challenge(puzzle: PuzzleSet, name: str) -> Challenge | None:
    """A challenge of a set's shipped catalog by its id; None when there is none of that name.

    Raises:
        InputError: when it lies on two lattices, which no challenge file can say.
    """
    # Only this one is read: all of them take a second.
    stated = [one for one in catalog_entries(puzzle) if one["id"] == name]
    for entry in read_snowflakes({"challenges": stated}, puzzle, catalog_path(puzzle).name):
        if entry.halves == 1:
            return replace(challenge_of(entry), answer=entry.status, title="")
        message = (
            f"{name} lies on two lattices half a unit apart, and a challenge on one; its "
            f"solution is in {catalog_path(puzzle).name}"
        )
        raise InputError.of(puzzle.name, message)
    return None


def refuse_other_set(document: Mapping[str, Any], puzzle: PuzzleSet, source: str) -> None:
    """Raises `InputError` when a list or catalog holds challenges of another set."""
    if document.get("set") != puzzle.name:
        message = f"holds challenges of {shown(document.get('set'))}, not of {shown(puzzle.name)}"
        raise InputError.of(source, message)


def read_snowflakes(document: Mapping[str, Any], puzzle: PuzzleSet, source: str) -> list[Entry]:
    """The challenges that a catalog from anywhere lists for a set, each with its solution.

    Raises:
        InputError: with all faults that were found.
    """
    from fabkit.core.documents import Faults, tables_at

    faults = Faults(source)
    reading = _Reading(puzzle, faults)
    stated = tables_at(document.get("challenges", []), "challenges", faults)
    found = [reading.entry(place, data) for place, data in stated]
    faults.finish()
    return found


class _Reading:
    """One pass over a catalog."""

    def __init__(self, puzzle: PuzzleSet, faults: Faults) -> None:
        self._puzzle, self._images, self._faults = puzzle, Images(puzzle), faults
        self._ids = set[str]()

    def entry(self, place: str, data: Any) -> Entry:
        """One challenge; faults are noted."""
        from fabkit.model.challengefile import CatalogEntry

        faults, before = self._faults, self._faults.count
        table = CatalogEntry.read(data, faults, place)
        parity, name = table.parity or "even", table.id or ""
        if table.id in self._ids:
            faults.add(f"{place}.id", f"{shown(table.id)} is there twice")
        self._ids.add(name)
        if parity == "mixed" and self._puzzle.made_of_balls:
            message = 'is "mixed", of pieces half a unit apart, but balls lie on one lattice'
            faults.add(f"{place}.parity", f'{message}; expected "even" or "odd"')
        level, score = read_difficulty(data)
        solution = self._solution(table.solution, f"{place}.solution", parity)
        entry = Entry(
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
        if faults.count == before and (fault := wrong_with(entry, self._images)):
            faults.add(f"{place}.solution", f"{fault}; make the catalog again")
        return entry

    def _region(self, outlines: Any, key: str, parity: str) -> frozenset[Cell]:
        """The cells of all outlines together."""
        found = set[Cell]()
        if outlines is None:  # which is noted
            return frozenset()
        if not isinstance(outlines, list) or not 0 < len(outlines) <= _MOST_OUTLINES:
            expected = f"expected a list of 1 to {_MOST_OUTLINES} outlines"
            self._faults.add(key, f"{expected}, found {shown(outlines)}")
            return frozenset()
        for index, outline in enumerate(outlines):
            cells = self._cells(outline, f"{key}[{index}]", parity)
            if found & cells:
                self._faults.add(f"{key}[{index}]", "overlaps one before")
            if not cells or found & cells:
                return frozenset()
            found |= cells
        return frozenset(found)

    def _solution(self, stated: Any, key: str, parity: str) -> dict[str, frozenset[Cell]]:
        """For each piece its cells; none after a fault."""
        known = [piece.id for piece in self._puzzle.pieces]
        if isinstance(stated, dict) and stated.keys() <= set(known):
            return {one: self._cells(stated[one], f"{key}.{one}", parity) for one in stated}
        if isinstance(stated, dict):
            piece = next(one for one in stated if one not in known)
            message = f"there is no piece {shown(piece)}; the pieces are {', '.join(known)}"
            self._faults.add(key, message)
        elif stated is not None:  # which is noted
            self._faults.add(key, f"expected an outline for each piece, found {shown(stated)}")
        return {}

    def _cells(self, outline: Any, key: str, parity: str) -> frozenset[Cell]:
        """The cells of an outline that is drawn around the centre.

        Of odd parity the centre is the middle of a cell, and the grid half a unit away; mixed
        ones are read in half units.
        """
        from fabkit.model.drawing import read_outline

        scale, shift = {"even": (1, 0), "odd": (1, 0.5), "mixed": (2, 0)}[parity]
        moved = _moved(outline, scale, shift, _DEPTH)
        return read_outline(moved, self._puzzle.lattice, key, self._faults, may_touch=True)


def read_difficulty(stated: Any) -> tuple[str, float | None]:
    """Level and score of a challenge in a list or catalog, as far as they are told sensibly.

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
    """Nested lists of coordinates, moved; whatever is no number stays as it is."""
    if isinstance(value, list) and depth:
        return [_moved(one, scale, shift, depth - 1) for one in value]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and abs(value) <= LARGEST_COORDINATE:  # a larger one is refused as it is
        return value * scale + shift
    return value
