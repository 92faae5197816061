"""Taking meshes in: what they are, measured on them alone, before anything is held against limits."""

from __future__ import annotations

from collections.abc import Sequence

from fabkit.mesh.boards.reading import read_boards
from fabkit.mesh.boards.sizes import is_accessory
from fabkit.mesh.body import Body
from fabkit.mesh.part import LENGTHS_MM
from fabkit.mesh.separate import separate
from fabkit.model.puzzle import PuzzleSet
from fabkit.verify.balls import take_balls
from fabkit.verify.flat import take_flat
from fabkit.verify.taken import Taken


def take(bodies: Sequence[Body], puzzle: PuzzleSet, *units_mm: float) -> Taken:
    """Reads meshes back.

    Args:
        bodies: of some files, in any order; one that holds parts apart is taken apart.
        puzzle: the set that they should be.
        units_mm: what the grid unit may be; see `fabkit.mesh.part.take_in`.
    """
    apart = [part for body in bodies for part in separate(body)]
    # The order of files must not show in any result, not even in rounding.
    ordered = sorted(apart, key=lambda body: (len(body.faces), len(body.vertices), body.name))
    found = _taken(ordered, puzzle, units_mm, 1.0)
    if not puzzle.boards or _tells(found, 1.0):
        return found
    # Pieces tell the files' unit of length. Boards do not, and what is taken for one depends on it.
    lengths_mm = [length_mm for length_mm in LENGTHS_MM.values() if length_mm != 1.0]
    others = (_taken(ordered, puzzle, units_mm, length_mm) for length_mm in lengths_mm)
    pairs = zip(others, lengths_mm, strict=True)
    return next((one for one, length_mm in pairs if _tells(one, length_mm)), found)


def _tells(found: Taken, length_mm: float) -> bool:
    """Whether there are pieces, and they tell this unit of length."""
    return found.length_mm == length_mm and any(one.piece for one in found.identities)


def _taken(
    bodies: Sequence[Body], puzzle: PuzzleSet, units_mm: Sequence[float], length_mm: float
) -> Taken:
    """Reads meshes back, boards in this unit of length and pieces in what they tell."""
    large = [one for one in bodies if is_accessory(one, puzzle, *units_mm, length_mm=length_mm)]
    boards = tuple(read_boards(large, puzzle, *units_mm, length_mm=length_mm))
    take_pieces = take_balls if puzzle.made_of_balls else take_flat
    return take_pieces([one for one in bodies if one not in large], boards, puzzle, *units_mm)
