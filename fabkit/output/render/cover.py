"""The picture that represents a set: its challenge, solution and rendering."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fabkit.model.entry import KINDS
from fabkit.model.puzzle import Challenge, Entry, PuzzleSet, default_board, to_units
from fabkit.profiles.profile import Profile
from fabkit.solve.encoding import Layout, to_exact_cover
from fabkit.solve.engines.engine import Budget
from fabkit.solve.engines.search import Search, estimate_nodes
from fabkit.solve.infeasibility import find_infeasibility

if TYPE_CHECKING:
    from fabkit.output.render.assembly import Parts
    from fabkit.profiles.accessory import Printable

#: The larger side of a cover's picture, in pixels.
_COVER_PIXELS = 1200
#: The approximate time limit for a solution without turned pieces. Some are found at once, or
#: never.
_FACES_S = 5.0


def cover_challenge(puzzle: PuzzleSet, challenges: Sequence[Challenge]) -> Challenge:
    """Return the challenge with the most pieces; of several, the one closest to a square.

    Example:
        >>> from fabkit.sets.library import load_set
        >>> fridgeiq = load_set("fridgeiq")
        >>> cover_challenge(fridgeiq, fridgeiq.challenges).id
        'rectangle_10_b'
    """
    largest_count = max(len(challenge.pieces) for challenge in challenges)
    large = [challenge for challenge in challenges if len(challenge.pieces) == largest_count]
    return min(large, key=lambda challenge: _aspect_ratio(puzzle, challenge))


def default_challenge(puzzle: PuzzleSet) -> str | None:
    """The id of the challenge to show by default; None for the set's first board."""
    if default_board(puzzle.boards) is not None or not puzzle.challenges:
        return None
    solvable = [challenge for challenge in puzzle.challenges if challenge.answer != "impossible"]
    return cover_challenge(puzzle, solvable or puzzle.challenges).id


def solve_face_up(
    puzzle: PuzzleSet, challenge: Challenge, budget: Budget | None = None
) -> Layout | None:
    """A solution without turned pieces, so that all labels are visible.

    Returns:
        None when a short search finds none; the result does not depend on the machine.

    Example:
        >>> from fabkit.sets.challenges import find_challenge
        >>> from fabkit.sets.library import load_set
        >>> block = load_set("iqblock")
        >>> len(solve_face_up(block, find_challenge(block, "square")))
        8
    """
    encoded = to_exact_cover(puzzle, replace(challenge, flips=False))
    if find_infeasibility(encoded) is not None:
        return None
    search = Search(estimate_nodes(encoded.problem, _FACES_S))
    answer = search.first(encoded.problem, budget or Budget())
    return encoded.decode(answer.solutions[0]) if answer.solutions else None


def cover_picture(
    puzzle: PuzzleSet,
    entries: Sequence[Entry],
    profile: Profile,
    pictured: Callable[[Sequence[Printable]], Parts],
    background: str | None = "#ffffff",
) -> bytes:
    """The cover picture of a set: one of its challenges, assembled from the printed meshes,
    over a background (``#rrggbb``), or over none; `pictured` is that of `assembled`.

    Returns:
        A PNG file.

    Raises:
        InputError: when the profile does not suit a piece or the board.
        ExternalError: when a library fails.
    """
    from fabkit.output.render.assembly import assembled
    from fabkit.output.render.picture import fit_view, render

    kind = min((entry.kind for entry in entries), key=KINDS.index)
    of_kind = {entry.challenge.id: entry for entry in entries if entry.kind == kind}
    challenge = cover_challenge(puzzle, [entry.challenge for entry in of_kind.values()])
    entry = of_kind[challenge.id]
    # Challenges on two lattices have stored solutions.
    layout = solve_face_up(puzzle, challenge) if challenge.flips and entry.halves == 1 else None
    layout = layout or dict(entry.solution)
    meshes = assembled(puzzle, challenge, layout, profile, pictured, halves=entry.halves)
    return render(meshes, replace(fit_view(meshes, _COVER_PIXELS), background=background))


def _aspect_ratio(puzzle: PuzzleSet, challenge: Challenge) -> float:
    """The ratio of the longer to the shorter side of the region's bounding box."""
    xs, ys = zip(*to_units(puzzle.lattice, sorted(challenge.board_cells)), strict=True)
    wide, deep = max(xs) - min(xs) + 1, max(ys) - min(ys) + 1
    return float(max(wide / deep, deep / wide))
