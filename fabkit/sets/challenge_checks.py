"""What is wrong with a challenge, as messages; empty if nothing is."""

from __future__ import annotations

from collections.abc import Set

from fabkit.core.errors import pluralize, quote
from fabkit.model.blockers import blockers, place_unlike_blocker
from fabkit.model.lattice import Cell
from fabkit.model.puzzle import PuzzleSet
from fabkit.sets.regions import CellNumbering


def unlike_blocker(place: object) -> str:
    """Return the error that a blocker has another shape than a place."""
    message = f"the cells at {quote(place)} have another shape than the first that are blocked"
    return f"{message}, and all blockers of a set are equal; name cells of one shape"


def blocking_error(puzzle: PuzzleSet, minus: frozenset[Cell], numbering: CellNumbering) -> str:
    """Return whether the blockers of the set, which are all equal, do not cover some cells."""
    places = puzzle.lattice.places(minus)
    of_set = [blocker.forms[0].cells for blocker in blockers(puzzle, "")]
    unlike = place_unlike_blocker(puzzle.lattice, [*of_set, *places][0], places)
    return "" if unlike is None else unlike_blocker(list(numbering.place(unlike)))


def open_error(count: int, region: Set[Cell], pieces_count: int | None) -> str:
    """Return what is wrong with the number of cells that stay open; of no region, the least."""
    if count < 0 or (region and count >= len(region)):
        limit = f" to {len(region) - 1}, as the region has {pluralize(len(region), 'cell')}"
        return f"is {quote(count)}; expected 0{limit if region else ' or more'}"
    if count and pieces_count is not None:
        return "leaves cells open, but pieces_count fills the region; omit one"
    return ""


def count_error(count: int, pieces: int, given: int) -> str:
    """Return what is wrong with the number of pieces that fill the region."""
    if not 1 <= count <= pieces:
        expected = f"expected 1 to {pieces}, as {pluralize(pieces, 'piece')} may be used"
        return f"is {quote(count)}; {expected}"
    return f"is {count}, but {pluralize(given, 'piece')} are given" if count < given else ""
