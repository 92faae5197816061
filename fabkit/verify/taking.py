"""Taking meshes in: what they are, measured on them alone, before anything is held against limits."""

from __future__ import annotations

from collections.abc import Sequence

from fabkit.mesh.boards.reading import is_accessory, read_boards
from fabkit.mesh.body import Body
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
    large = [body for body in ordered if is_accessory(body, puzzle, *units_mm)]
    boards = tuple(read_boards(large, puzzle, *units_mm))
    take_pieces = take_balls if puzzle.made_of_balls else take_flat
    return take_pieces([b for b in ordered if b not in large], boards, puzzle, *units_mm)
