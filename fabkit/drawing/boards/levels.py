"""How high things are in a board: its floor, what pieces rest on, how far up they reach."""

from __future__ import annotations

from dataclasses import dataclass

from shapely.geometry.base import BaseGeometry

from fabkit.drawing.boards.snapping import snap_reach_mm
from fabkit.drawing.region import region_mm
from fabkit.model.accessory import HOLES, SEATS, board_kind
from fabkit.model.layers import layer_top_mm
from fabkit.model.profile import Profile
from fabkit.model.puzzle import Board, PuzzleSet

#: Between a ball one pitch down and what the board stands on.
_BELOW_BALL_MM = 1.0
#: Between a stub and the bottom of its seat, before rounding up to whole layers.
_BELOW_STUB_MM = 0.2


@dataclass(frozen=True)
class Levels:
    """Heights above a board's bottom, all but the last on boundaries of printed layers.

    Attributes:
        floor_mm: the top of a tray's floor, or the bottom of the seats; 0 for holes, which are
            open below.
        rest_mm: on what pieces rest: the tray's floor, the plate around the seats, or the middles
            of seated balls.
        top_mm: up to where pieces reach.
        lid_low_mm: the underside of a lid; None without lids.
    """

    floor_mm: float
    rest_mm: float
    top_mm: float
    lid_low_mm: float | None


def levels(puzzle: PuzzleSet, profile: Profile) -> Levels:
    """The heights of a set's boards.

    The hooks of a snapping lid must not reach the table: where a frame would be too low for them,
    floor and all stand higher.

    Args:
        puzzle: says whether its boards are trays, or have holes or seats.
        profile: gives the lengths.

    Example:
        >>> from fabkit.model.library import load_set
        >>> from fabkit.model.profilefile import load_profile
        >>> levels(load_set("iqblock"), load_profile())
        Levels(floor_mm=2.0, rest_mm=2.0, top_mm=9.0, lid_low_mm=9.4)
        >>> levels(load_set("iqstars"), load_profile())
        Levels(floor_mm=2.0, rest_mm=4.2, top_mm=11.2, lid_low_mm=11.6)
        >>> iqfit = load_set("iqfit")
        >>> levels(iqfit, load_profile((), (), iqfit.unit_mm))
        Levels(floor_mm=0.0, rest_mm=22.0, top_mm=28.0, lid_low_mm=28.4)
    """
    found = _from(puzzle, profile, 0.0)
    if profile.lid == "snap" and found.lid_low_mm is not None:
        lacking = snap_reach_mm(profile) - found.lid_low_mm
        if lacking > 0:
            found = _from(puzzle, profile, lacking)
    return found


def _from(puzzle: PuzzleSet, profile: Profile, raised_mm: float) -> Levels:
    kind = board_kind(puzzle, profile)
    if kind == HOLES:
        half_mm = profile.ball_mm / 2
        needed = profile.unit_mm + half_mm + _BELOW_BALL_MM + raised_mm
        rest = layer_top_mm(profile, needed)
        floor, top = 0.0, rest + half_mm
    else:
        floor = rest = layer_top_mm(profile, profile.board_floor_mm + raised_mm)
        if kind == SEATS:
            rest = layer_top_mm(profile, floor + profile.stub_height_mm + _BELOW_STUB_MM)
        top = rest + profile.thickness_mm
    low = None if profile.lid == "none" else layer_top_mm(profile, top + profile.lid_air_mm)
    return Levels(floor, rest, round(top, 6), low)


def region_of(puzzle: PuzzleSet, board: Board, profile: Profile) -> BaseGeometry:
    """A board's region in mm, in the frame of the lattice.

    Args:
        puzzle: gives the lattice.
        board: gives the cells.
        profile: gives the unit.

    Returns:
        A polygon with its holes; several if the region falls into parts that meet in points.

    Example:
        >>> from fabkit.model.library import load_set
        >>> from fabkit.model.profilefile import load_profile
        >>> iqblock = load_set("iqblock")
        >>> region_of(iqblock, iqblock.boards[0], load_profile()).bounds
        (0.0, -160.0, 160.0, 0.0)
    """
    return region_mm(puzzle.lattice, board.cells, profile.unit_mm)
