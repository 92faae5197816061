"""The drawing of a board with seats: a plate with a blind hole for the stub of each cell."""

from __future__ import annotations

import math

from fabkit.core.units import format_mm
from fabkit.drawing.boards.drawing import BoardBlueprint, Bore, Step
from fabkit.drawing.boards.frame import block
from fabkit.drawing.boards.levels import levels, region_of
from fabkit.drawing.boards.slabs import board_blueprint
from fabkit.drawing.cellshape import LEAST_WALL_MM, cell_centres
from fabkit.drawing.printed import BlueprintError
from fabkit.model.accessory import Accessory
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet


def draft_seats_board(puzzle: PuzzleSet, accessory: Accessory, profile: Profile) -> BoardBlueprint:
    """Drafts a board for pieces that stand on stubs.

    The right way up a piece rests on the plate and its stubs are in the seats, with a little air
    below them. Upside down it stands higher by the stubs, and no lid closes over it.

    Args:
        puzzle: gives the lattice.
        accessory: a board of seats of the set.
        profile: gives every length.

    Returns:
        All measures of the board, in mm. Its title is on its lid only.

    Raises:
        BlueprintError: when the walls between the seats would be too thin.

    Example:
        >>> from fabkit.model.accessory import accessories
        >>> from fabkit.model.library import load_set
        >>> from fabkit.model.profilefile import load_profile
        >>> stars, profile = load_set("iqstars"), load_profile()
        >>> board = draft_seats_board(stars, accessories(stars, profile)[0], profile)
        >>> seats = board.steps[-1].shapes
        >>> len(seats), seats[0].diameter_mm, seats[0].low_mm, seats[0].high_mm
        (26, 10.4, 2.0, 4.2)
    """
    wide_mm = round(profile.stub_mm + 2 * profile.seat_mm, 6)
    _refuse_thin_walls(wide_mm, profile)
    heights = levels(puzzle, profile)
    region = region_of(puzzle, accessory.board, profile)
    made = block(region, heights.rest_mm, heights.top_mm, profile, relieved=False)
    seats = tuple(
        Bore(centre, wide_mm, heights.floor_mm, heights.rest_mm)
        for centre in cell_centres(puzzle.lattice, accessory.board.cells, profile.unit_mm)
    )
    return board_blueprint(accessory, (*made.steps, Step(True, seats)), heights.rest_mm)


def _refuse_thin_walls(wide_mm: float, profile: Profile) -> None:
    most_mm = round(profile.unit_mm - LEAST_WALL_MM, 6)
    if wide_mm > most_mm:
        stub_mm = math.floor((most_mm - 2 * profile.seat_mm) * 100 + 1e-6) / 100
        raise BlueprintError(
            f"a seat for stubs of {format_mm(profile.stub_mm)} with board.seat "
            f"{format_mm(profile.seat_mm)} around is {format_mm(wide_mm)} wide, which leaves less than "
            f"{format_mm(LEAST_WALL_MM)} between two seats; choose a smaller board.seat or a "
            f"stub.diameter of {format_mm(stub_mm)} or less"
        )
