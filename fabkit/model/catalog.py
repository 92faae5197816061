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
    """The challenges of a set's shipped catalog; none when it has no catalog.

    A file of one's own that is called like a shipped set has its catalog as long as the pieces
    are the same.

    Example:
        >>> from fabkit.model.library import load_set
        >>> len(catalog_entries(load_set("iqfit")))
        0
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
    """The challenges of a set's shipped catalog; none when it has no catalog.

    Example:
        >>> from fabkit.model.library import load_set
        >>> shipped_snowflakes(load_set("iqfit"))
        []
    """
    return _read_shipped(catalog_entries(puzzle), puzzle)


def catalog_challenge(puzzle: PuzzleSet, name: str) -> Challenge | None:
    """A challenge of a set's shipped catalog by its id; None when there is none of that name.

    Raises:
        InputError: when it lies on two lattices, which no challenge file can say.

    Example:
        >>> from fabkit.model.library import load_set
        >>> fridgeiq = load_set("fridgeiq")
        >>> name = catalog_entries(fridgeiq)[0]["id"]
        >>> catalog_challenge(fridgeiq, name).answer, catalog_challenge(fridgeiq, "square_01")
        ('solved', None)
    """
    # Only this one is read: all of them take a second.
    stated = [one for one in catalog_entries(puzzle) if one["id"] == name]
    for entry in _read_shipped(stated, puzzle):
        if entry.halves == 1:
            return replace(challenge_of(entry), answer=entry.status, title="")
        message = (
            f"{name} lies on two lattices half a unit apart, and a challenge on one; its "
            f"solution is in {catalog_path(puzzle).name}"
        )
        raise InputError.of(puzzle.name, message)
    return None


def _read_shipped(stated: Sequence[Mapping[str, Any]], puzzle: PuzzleSet) -> list[Entry]:
    """Some challenges of a set's shipped catalog."""
    return read_snowflakes({"challenges": list(stated)}, puzzle, catalog_path(puzzle).name)


def refuse_other_set(document: Mapping[str, Any], puzzle: PuzzleSet, source: str) -> None:
    """Refuses a list or catalog of another set.

    Args:
        document: what it says.
        puzzle: the set whose challenges are wanted.
        source: the file's name in messages.

    Raises:
        InputError: when it is another's.
    """
    if document.get("set") != puzzle.name:
        message = f"holds challenges of {shown(document.get('set'))}, not of {shown(puzzle.name)}"
        raise InputError.of(source, message)


def read_snowflakes(document: Mapping[str, Any], puzzle: PuzzleSet, source: str) -> list[Entry]:
    """The challenges that a catalog lists, each with its solution.

    Args:
        document: the catalog, from anywhere; its ``challenges`` are read.
        puzzle: the set whose pieces they speak of.
        source: the file's name in messages.

    Raises:
        InputError: with all faults that were found.
    """
    from fabkit.core.documents import Faults, tables_at

    faults = Faults(source)
    reading = _Reading(puzzle, faults)
    found = [
        reading.entry(place, data) for place, data in tables_at(document, "challenges", faults)
    ]
    faults.finish()
    return found


class _Reading:
    """One pass over a catalog."""

    def __init__(self, puzzle: PuzzleSet, faults: Faults) -> None:
        self._puzzle, self._images, self._faults = puzzle, Images(puzzle), faults
        self._ids = set[str]()

    def entry(self, place: str, data: Mapping[str, Any]) -> Entry:
        """One challenge; faults are noted."""
        from fabkit.model.challengefile import CatalogEntry

        faults, before = self._faults, self._faults.count
        table = CatalogEntry.read(data, faults, place)
        if table.id in self._ids:
            faults.add(f"{place}.id", f"{shown(table.id)} is there twice")
        self._ids.add(table.id or "")
        if table.parity == "mixed" and self._puzzle.made_of_balls:
            expected = 'balls lie on one lattice; expected "even" or "odd"'
            faults.add(
                f"{place}.parity", f'is "mixed", of pieces half a unit apart, but {expected}'
            )
        level, score = read_difficulty(data)
        parity = table.parity or "even"
        region = self._region(table.outlines, f"{place}.outlines", parity)
        solution = self._solution(table.solution, f"{place}.solution", parity)
        entry = Entry(
            id=table.id or "",
            title=table.id or "",
            kind="snowflake",
            region=region,
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
            if not cells or found & cells:
                if cells:
                    self._faults.add(f"{key}[{index}]", "overlaps one before")
                return frozenset()
            found |= cells
        return frozenset(found)

    def _solution(self, stated: Any, key: str, parity: str) -> dict[str, frozenset[Cell]]:
        """For each piece its cells."""
        known = [piece.id for piece in self._puzzle.pieces]
        if stated is None:  # which is noted
            return {}
        if not isinstance(stated, dict):
            self._faults.add(key, f"expected an outline for each piece, found {shown(stated)}")
            return {}
        for piece in stated:
            if piece not in known:
                names = ", ".join(known)
                message = f"there is no piece {shown(piece)}; the pieces are {names}"
                self._faults.add(key, message)
                return {}
        return {
            piece: self._cells(outline, f"{key}.{piece}", parity)
            for piece, outline in stated.items()
        }

    def _cells(self, outline: Any, key: str, parity: str) -> frozenset[Cell]:
        """The cells of an outline that is drawn around the centre.

        Of odd parity the centre is the middle of a cell, and the grid half a unit away; mixed
        ones are read in half units.
        """
        from fabkit.model.drawing import read_outline

        scale, shift = {"even": (1, 0), "odd": (1, 0.5), "mixed": (2, 0)}[parity]
        moved = _moved(outline, scale, shift, _DEPTH)
        return read_outline(moved, self._puzzle.lattice, key, self._faults, may_touch=True)


def read_difficulty(stated: Mapping[str, Any]) -> tuple[str, float | None]:
    """Level and score of a challenge in a list or catalog, as far as they are told sensibly.

    Args:
        stated: with ``difficulty``: ``score``, and ``level`` there or beside it.

    Example:
        >>> read_difficulty({"difficulty": {"score": 3.5, "level": "junior"}})
        ('junior', 3.5)
    """
    rating = stated.get("difficulty")
    rating = rating if isinstance(rating, dict) else {}
    level, score = stated.get("level") or rating.get("level"), rating.get("score")
    return level if isinstance(level, str) else "", _score(score)


def _score(value: object) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return float(value) if abs(value) < _MOST_SCORE else None


def _moved(value: Any, scale: int, shift: float, depth: int) -> Any:
    """Nested lists of coordinates, moved; whatever is no number stays as it is."""
    if isinstance(value, list) and depth:
        return [_moved(one, scale, shift, depth - 1) for one in value]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and abs(value) <= LARGEST_COORDINATE:  # a larger one is refused as it is
        return value * scale + shift
    return value
