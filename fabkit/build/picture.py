"""The picture of a set: its printed meshes, laid together as a solution says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from shapely import Polygon

from fabkit.build.builders import library_failures
from fabkit.build.laid import Away, Layout, boards_of, laid
from fabkit.build.workbench import Workbench
from fabkit.model.accessory import LID, Thing
from fabkit.model.profile import Profile
from fabkit.model.puzzle import Challenge, PuzzleSet
from fabkit.output.render.laying import Motion
from fabkit.output.render.scene import ShadedMesh

if TYPE_CHECKING:
    from fabkit.mesh.body import Body

#: Between a board and the lid that lies beside it, as a part of the board's width.
_BESIDE = 0.08
#: A board this many times as wide as deep has its lid behind it.
_WIDE = 1.25


@dataclass(frozen=True)
class Wish:
    """What a picture shows.

    Attributes:
        board: whether the board is shown, with its lid, if it is made as an object.
        apart: whether the pieces hang apart above it.
    """

    board: bool = True
    apart: bool = False


def assembled(
    puzzle: PuzzleSet,
    challenge: Challenge,
    layout: Layout,
    profile: Profile,
    wish: Wish | None = None,
    bench: Workbench | None = None,
    halves: int = 1,
) -> list[ShadedMesh]:
    """The meshes of a set, laid together.

    Args:
        puzzle: the set.
        challenge: what the solution is of. Its board is shown if its region is one.
        layout: a solution, each piece with its cells.
        profile: how everything is printed.
        wish: what to show; pieces in their board when None.
        bench: where their meshes are made; see `picture_bench`. One of its own when None.
        halves: of the challenge's cells in a unit's length; see `fabkit.model.entry.Entry`.

    Returns:
        What there is to see, in mm: first the board, then its lid, then the pieces with what is
        inlaid in them.

    Raises:
        InputError: when the profile does not suit a piece or the board.
        OutsideError: when a library fails.
    """
    wish = wish or Wish()
    pieces = puzzle.select(list(layout))
    boards = boards_of(puzzle, challenge.region, profile, halves) if wish.board else ()
    bench = bench or picture_bench(puzzle, (*pieces, *boards), profile)
    drawings = bench.blueprints
    found: list[ShadedMesh] = []
    for one in boards:
        motion = Motion()
        if one.kind == LID:
            motion = _beside(drawings[one.board.id].outline, drawings[one.id].outline)
        found += lumps(bench, one, motion)
    away = Away(puzzle.lattice, challenge.region, profile.unit_mm / halves)
    motions = laid(puzzle, layout, boards, drawings, profile.unit_mm, halves)
    for piece in pieces:
        x_mm, y_mm, z_mm = away.of(layout[piece.id]) if wish.apart else (0.0, 0.0, 0.0)
        found += lumps(bench, piece, motions[piece.id].then(x_mm, y_mm, z_mm))
    return found


def picture_bench(
    puzzle: PuzzleSet,
    things: Sequence[Thing],
    profile: Profile,
    has_stl: Callable[[Thing], Path | None] = lambda thing: None,
) -> Workbench:
    """A workbench that makes meshes to look at.

    Chequered pieces show their second colour there, however they are printed.

    Args:
        puzzle: the set.
        things: what will be shown.
        profile: how everything is printed.
        has_stl: see `Workbench`.
    """
    return Workbench(puzzle, things, replace(profile, tones="inlay"), has_stl)


def lumps(bench: Workbench, thing: Thing, motion: Motion) -> Iterator[ShadedMesh]:
    """A thing and what is inlaid in it, each in its colour.

    Args:
        bench: makes their meshes.
        thing: a piece or accessory of the bench.
        motion: where they go.

    Raises:
        InputError: when the profile does not suit the thing.
        OutsideError: when a library fails.
    """
    with library_failures(f"the mesh of {thing.id}"):
        parts = bench.print_of(thing)
    yield _lump(parts.body, parts.colour, thing.id, motion)
    for inlay in parts.inlays:
        yield _lump(inlay.body, inlay.colour, f"{thing.id} {inlay.name}", motion)


def _lump(body: Body, colour: str, name: str, motion: Motion) -> ShadedMesh:
    faces = np.asarray(body.faces, dtype=np.int64)
    return ShadedMesh(motion.of(np.asarray(body.vertices, dtype=np.float64)), faces, colour, name)


def _beside(board: Polygon, lid: Polygon) -> Motion:
    """Where a lid lies: to the right of its board, or behind one that is wide."""
    left, front, right, back = board.bounds
    lid_left, lid_front, lid_right, lid_back = lid.bounds
    wide, deep = right - left, back - front
    if wide > _WIDE * deep:
        across = (left + right - lid_left - lid_right) / 2
        return Motion().then(across, back + _BESIDE * wide - lid_front, 0.0)
    along = (front + back - lid_front - lid_back) / 2
    return Motion().then(right + _BESIDE * wide - lid_left, along, 0.0)
