"""What a set is shown with: which of its challenges, which solution, and the picture of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from fabkit.model.entry import KINDS, Entry, challenge_of
from fabkit.model.profile import Profile
from fabkit.model.puzzle import Challenge, PuzzleSet, in_units, usual_board
from fabkit.solve.engines.engine import Effort
from fabkit.solve.engines.search import Search, nodes_in
from fabkit.solve.obstacles import obstacle
from fabkit.solve.posing import Layout, pose

if TYPE_CHECKING:
    from fabkit.output.render.scene import ShadedMesh, View

#: The larger side of a cover's picture, in pixels.
_COVER_PIXELS = 1200
#: The part of it that stays free at each edge.
_COVER_MARGIN = 0.08
#: So long, about, a solution is sought in which no piece is turned over. Some solve at once, or
#: never.
_FACES_S = 5.0

_Asked = TypeVar("_Asked", Challenge, Entry)


def showpiece(puzzle: PuzzleSet, among: Sequence[_Asked]) -> _Asked:
    """The challenge with most pieces; of several the squarest.

    Example:
        >>> from fabkit.model.library import load_set
        >>> fridgeiq = load_set("fridgeiq")
        >>> showpiece(fridgeiq, fridgeiq.challenges).id
        'rectangle_10_b'
    """
    most = max(len(one.pieces) for one in among)
    large = [one for one in among if len(one.pieces) == most]
    return min(large, key=lambda one: _slimness(puzzle, one))


def usual(puzzle: PuzzleSet) -> str | None:
    """None for the usual board; without one the challenge that shows most."""
    if usual_board(puzzle.boards) is not None or not puzzle.challenges:
        return None
    solvable = [one for one in puzzle.challenges if one.answer != "impossible"]
    return showpiece(puzzle, solvable or puzzle.challenges).id


def faces_up(
    puzzle: PuzzleSet, challenge: Challenge, effort: Effort | None = None
) -> Layout | None:
    """A solution in which no piece is turned over, so that all show their letters.

    Returns:
        None when a short search finds none; what it finds is the same on every machine.

    Example:
        >>> from fabkit.model.challengeload import find_challenge
        >>> from fabkit.model.library import load_set
        >>> block = load_set("iqblock")
        >>> len(faces_up(block, find_challenge(block, "square")))
        8
    """
    posed = pose(puzzle, replace(challenge, flips=False))
    if obstacle(posed) is not None:
        return None
    search = Search(nodes_in(posed.problem, _FACES_S))
    found = search.first(posed.problem, effort or Effort())
    return posed.layout(found.solutions[0]) if found.solutions else None


def cover_picture(
    puzzle: PuzzleSet,
    entries: Sequence[Entry],
    profile: Profile,
    find_stl: Callable[[], Mapping[str, Path]] = dict,
) -> bytes:
    """The picture of a set for a cover: one of its challenges, solved with what is printed.

    Returns:
        A PNG file.

    Raises:
        InputError: when the profile does not suit a piece or the board.
        OutsideError: when a library fails.
    """
    from fabkit.build.assembly_layout import assembled
    from fabkit.output.render.picture import render

    kind = min((one.kind for one in entries), key=KINDS.index)
    entry = showpiece(puzzle, [one for one in entries if one.kind == kind])
    challenge = challenge_of(entry)
    # Pieces on two lattices are nothing to seek: such a solution comes with its challenge.
    layout = faces_up(puzzle, challenge) if entry.flips and entry.halves == 1 else None
    layout = layout or dict(entry.solution or {})
    lumps = assembled(puzzle, challenge, layout, profile, find_stl, halves=entry.halves)
    return render(lumps, _snug(lumps))


def _snug(lumps: Sequence[ShadedMesh]) -> View:
    """A view about as wide and as high as what it shows, with room for shadows."""
    from fabkit.output.render.scene import View, camera

    square = View(_COVER_PIXELS, _COVER_PIXELS, margin=_COVER_MARGIN)
    eye = camera(lumps, square)
    seen = [eye.seen(lump.vertices) for lump in lumps]
    free = [
        _COVER_PIXELS
        - max(float(one[axis].max()) for one in seen)
        + min(float(one[axis].min()) for one in seen)
        for axis in (0, 1)
    ]
    width, height = (round(_COVER_PIXELS - one + min(free)) for one in free)
    return replace(square, width=width, height=height)


def _slimness(puzzle: PuzzleSet, one: Challenge | Entry) -> float:
    """How many times as long as wide the region's box is."""
    xs, ys = zip(*in_units(puzzle.lattice, sorted(one.region)), strict=True)
    wide, deep = max(xs) - min(xs) + 1, max(ys) - min(ys) + 1
    return float(max(wide / deep, deep / wide))
