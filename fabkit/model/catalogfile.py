"""Reading the challenges of a catalog, a shipped one or one that `fabkit snowflakes` wrote.

Each is held against the set: its outlines lie on the lattice, and its solution is one. How many
solutions there are in all, and how hard it is, is taken as it stands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fabkit.core.errors import InputError, shown
from fabkit.core.reading import Reader, Table
from fabkit.model.catalog import catalog_entries, catalog_path
from fabkit.model.drawing import read_outline
from fabkit.model.entry import Entry, Images, challenge_of, wrong_with
from fabkit.model.lattice import Cell
from fabkit.model.numbering import LARGEST_COORDINATE
from fabkit.model.puzzle import Challenge, PuzzleSet

_PARITIES = ("even", "odd", "mixed")
_MOST_OUTLINES, _MOST_SOLUTIONS = 1000, 10**18
#: A higher score, or none, is not told.
_MOST_SCORE = 1e6
#: Coordinates stand in outlines, those in rings, and those in corners.
_DEPTH = 4


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
    reader = Reader(source)
    reading = _Reading(puzzle)
    found = [reading.entry(table) for table in Table(reader, document).tables("challenges")]
    reader.finish()
    return found


class _Reading:
    """One pass over a catalog."""

    def __init__(self, puzzle: PuzzleSet) -> None:
        self._puzzle, self._images = puzzle, Images(puzzle)
        self._ids = set[str]()

    def entry(self, table: Table) -> Entry:
        """One challenge; faults go to the table's reader."""
        name = table.identifier("id")
        if name in self._ids and not table.failed("id"):
            table.fault("id", f"{shown(name)} is there twice")
        self._ids.add(name)
        parity = self._parity(table)
        level, score = read_difficulty(table)
        region = self._region(table, parity)
        solution = self._solution(table, parity)
        entry = Entry(
            id=name,
            title=name,
            kind="snowflake",
            region=region,
            pieces=tuple(piece.id for piece in self._puzzle.pieces if piece.id in solution),
            flips=table.flag("flips", self._puzzle.flips),
            halves=2 if parity == "mixed" else 1,
            parity=parity,
            status="solved",
            solution=solution,
            count=int(table.number("count", 0, _MOST_SOLUTIONS)) or None,
            count_complete=table.flag("count_complete", False),
            level=level,
            score=score,
        )
        # After a fault something is empty, or lies elsewhere, and it has been told.
        if region and solution and all(solution.values()) and not table.failed("parity"):
            fault = wrong_with(entry, self._images)
            if fault:
                table.fault("solution", f"{fault}; make the catalog again")
        return entry

    def _parity(self, table: Table) -> str:
        """How its outlines lie around the centre; balls have no place half a unit away."""
        parity = table.choice("parity", _PARITIES)
        if parity == "mixed" and self._puzzle.made_of_balls:
            expected = 'balls lie on one lattice; expected "even" or "odd"'
            table.fault("parity", f'is "mixed", of pieces half a unit apart, but {expected}')
        return parity

    def _region(self, table: Table, parity: str) -> frozenset[Cell]:
        """The cells of all outlines together."""
        found = set[Cell]()
        outlines = table.array("outlines", _MOST_OUTLINES)
        if not outlines and not table.failed("outlines"):
            table.fault("outlines", "expected one outline or more, found none")
        for index, outline in enumerate(outlines):
            cells = self._cells(table, f"outlines[{index}]", outline, parity)
            if not cells or found & cells:
                if cells:
                    table.fault("outlines", "overlaps one before", f"[{index}]")
                return frozenset()
            found |= cells
        return frozenset(found)

    def _solution(self, table: Table, parity: str) -> dict[str, frozenset[Cell]]:
        """For each piece its cells."""
        stated = table.raw("solution")
        if not isinstance(stated, dict):
            table.fault("solution", f"expected an outline for each piece, found {shown(stated)}")
            return {}
        known = [piece.id for piece in self._puzzle.pieces]
        found = {}
        for piece, outline in stated.items():
            if piece not in known:
                names = ", ".join(known)
                table.fault("solution", f"there is no piece {shown(piece)}; the pieces are {names}")
                return {}
            found[piece] = self._cells(table, f"solution.{piece}", outline, parity)
        return found

    def _cells(self, table: Table, place: str, outline: Any, parity: str) -> frozenset[Cell]:
        """The cells of an outline that is drawn around the centre.

        Of odd parity the centre is the middle of a cell, and the grid half a unit away; mixed
        ones are read in half units.
        """
        scale, shift = {"even": (1, 0), "odd": (1, 0.5), "mixed": (2, 0)}[parity]
        moved = {"outline": _moved(outline, scale, shift, _DEPTH)}
        inner = Table(table.reader, moved, f"{table.path}.{place}")
        return read_outline(inner, self._puzzle.lattice, may_touch=True)


def read_difficulty(table: Table) -> tuple[str, float | None]:
    """Level and score of a challenge in a list or catalog, as far as they are told sensibly.

    Args:
        table: with ``difficulty``: ``score``, and ``level`` there or beside it.

    Example:
        >>> read_difficulty(Table(Reader(""), {"difficulty": {"score": 3.5, "level": "junior"}}))
        ('junior', 3.5)
    """
    rating = table.raw("difficulty")
    rating = rating if isinstance(rating, dict) else {}
    level, score = table.raw("level") or rating.get("level"), rating.get("score")
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
