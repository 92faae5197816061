"""What the rules of seats say of all pieces of a set, and of the board that holds them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from fabkit.mesh.balls.part import BallPart
from fabkit.mesh.boards.lying import Lying, balls_lying, stubs_lying
from fabkit.mesh.boards.neighbours import Nearest, nearest_neighbours
from fabkit.mesh.boards.part import BoardPart
from fabkit.mesh.boards.proud import proud_finding
from fabkit.mesh.boards.seating import Seating, seat_findings, unseated
from fabkit.mesh.finding import Finding, at_least
from fabkit.mesh.stubs import OnStubs
from fabkit.model.accessory import HOLES, SEATS
from fabkit.model.balls import BallError
from fabkit.model.lattice import LATTICES, Lattice
from fabkit.model.profile import Profile

#: Told the number of pieces done, of all, and which comes next.
Progress = Callable[[int, int, str], None]


def balls_in_board(
    parts: Mapping[str, BallPart],
    board: BoardPart,
    profile: Profile,
    progress: Progress = lambda done, total, name: None,
) -> dict[str, list[Finding]]:
    """What the rules of seats say of pieces that are made of balls.

    Args:
        parts: by the pieces' ids.
        board: a board of holes.
        profile: says how far pieces beside each other must be apart.
        progress: told before each piece.

    Returns:
        For each piece `seat-free`, `seat-insert`, `seat-play`, `seat-loose`, `seat-turn`,
        `seat-rest` and, of several pieces, `seat-neighbours`. A piece that cannot be looked at, or any piece when the board cannot,
        has only the first, which then fails and says why.
    """

    def ways(key: str) -> tuple[Lying, ...]:
        part = parts[key]
        if part.shape is None:
            raise BallError(f"its balls could not be read: {part.why}")
        return balls_lying(key, part, board.unit_mm)

    return _findings(list(parts), ways, board, HOLES, LATTICES["square"], profile, progress)


def stubs_in_board(
    parts: Mapping[str, OnStubs],
    board: BoardPart,
    lattice: Lattice,
    profile: Profile,
    progress: Progress = lambda done, total, name: None,
) -> dict[str, list[Finding]]:
    """What the rules of seats say of pieces on stubs.

    Args:
        parts: by the pieces' ids.
        board: a board of seats.
        lattice: the set's.
        profile: says how far pieces beside each other must be apart.
        progress: told before each piece.

    Returns:
        As of `balls_in_board`, and `seat-proud`.
    """

    def ways(key: str) -> tuple[Lying, ...]:
        if parts[key].whole.outline is None:
            raise BallError("its outline could not be read")
        return (stubs_lying(key, parts[key], lattice, board.unit_mm, over=False),)

    found = _findings(list(parts), ways, board, SEATS, lattice, profile, progress)
    for key, findings in found.items():
        if len(findings) > 1:
            findings.append(proud_finding(parts[key], lattice, board))
    return found


def _findings(
    keys: Sequence[str],
    ways: Callable[[str], tuple[Lying, ...]],
    board: BoardPart,
    kind: str,
    lattice: Lattice,
    profile: Profile,
    progress: Progress,
) -> dict[str, list[Finding]]:
    why = _unfit(board, kind)
    if why:
        return {key: unseated(why) for key in keys}
    seating = Seating(board, lattice)
    lying: dict[str, tuple[Lying, ...]] = {}
    found: dict[str, list[Finding]] = {}
    for done, key in enumerate(keys):
        progress(done, len(keys), key)
        try:
            here = ways(key)
        except BallError as error:
            found[key] = unseated(str(error))
            continue
        if not all(one.is_solid for one in here):
            found[key] = unseated("its mesh does not bound a volume")
            continue
        found[key] = seat_findings(seating, here)
        lying[key] = here
    for key, (other, nearest) in _nearest_of_each(lying, profile.gap_min_mm).items():
        what = f"the gap to {other}, where it lies nearest,"
        if nearest.overlap_mm3:
            what = f"it and {other} overlap by {nearest.overlap_mm3:.3f} mm3: their gap"
        gap_mm = nearest.gap_mm
        found[key].append(at_least("seat-neighbours", gap_mm, profile.gap_min_mm, "mm", what))
    progress(len(keys), len(keys), "")
    return found


def _nearest_of_each(
    lying: Mapping[str, Sequence[Lying]], least_mm: float
) -> dict[str, tuple[str, Nearest]]:
    """For each piece the one that comes nearest to it, and how near; none for a single piece."""
    found: dict[str, tuple[str, Nearest]] = {}
    for pair, nearest in nearest_neighbours(lying, least_mm).items():
        for key, other in (pair, pair[::-1]):
            before = found[key][1].gap_mm if key in found else math.inf
            if nearest.gap_mm < before:
                found[key] = other, nearest
    return found


def _unfit(board: BoardPart, kind: str) -> str:
    """Why nothing can be put into a board; empty when all is well."""
    if board.board is None:
        return f"the board could not be read: {board.why}"
    if board.kind != kind:
        return f"the board is one of {board.kind}, where one of {kind} is needed"
    return "" if board.is_solid else "the board's mesh does not bound a volume"
