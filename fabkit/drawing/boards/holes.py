"""The drawing of a board for balls: a bore at every cell, and channels for the links between."""

from __future__ import annotations

from shapely import LineString

from fabkit.core.units import format_mm
from fabkit.drawing.boards.drawing import BoardBlueprint, Bore, Prism, Step
from fabkit.drawing.boards.frame import block
from fabkit.drawing.boards.levels import levels, region_of
from fabkit.drawing.boards.slabs import board_blueprint
from fabkit.drawing.cellshape import LEAST_WALL_MM, cell_centres, neighbours
from fabkit.drawing.printed import BlueprintError
from fabkit.model.accessory import Accessory
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet


def draft_holes_board(puzzle: PuzzleSet, accessory: Accessory, profile: Profile) -> BoardBlueprint:
    """Drafts a board for pieces that are made of balls.

    The balls of a piece that lies on it have their middles at the height of the posts' tops. Their
    links rest on the floors of channels, which keep the piece from sliding and turning; a ball one
    pitch further down hangs in its bore, which is open below. Between the bores there are walls, so
    that only a piece whose hanging balls are not joined below can be put in.

    Args:
        puzzle: gives the lattice.
        accessory: a board of holes of the set, of whole squares.
        profile: gives every length.

    Returns:
        All measures of the board, in mm. Its title is on its lid only.

    Raises:
        BlueprintError: when balls would not go into the bores, could leave them along a channel,
            or when a wall or post between them would be too thin.

    Example:
        >>> from fabkit.model.accessory import accessories
        >>> from fabkit.model.library import load_set
        >>> from fabkit.model.profilefile import load_profile
        >>> iqfit = load_set("iqfit")
        >>> profile = load_profile((), (), iqfit.unit_mm)
        >>> board = draft_holes_board(iqfit, accessories(iqfit, profile)[0], profile)
        >>> bores, channels = board.steps[-1].shapes[:50], board.steps[-1].shapes[50:]
        >>> bores[0].diameter_mm, len(channels), channels[0].low_mm, board.rest_mm
        (12.5, 85, 17.5, 22.0)
    """
    wide_mm = round(profile.link_mm + 2 * profile.channel_mm, 6)
    _refuse_bad_holes(profile)
    _refuse_bad_channels(wide_mm, profile)
    heights = levels(puzzle, profile)
    region = region_of(puzzle, accessory.board, profile)
    made = block(region, heights.rest_mm, heights.top_mm, profile, relieved=False)
    centres = cell_centres(puzzle.lattice, accessory.board.cells, profile.unit_mm)
    floor_mm = round(heights.rest_mm - profile.link_mm / 2, 6)
    bores = [Bore(one, profile.hole_mm, 0.0, heights.rest_mm) for one in centres]
    channels = [
        # From middle to middle: the ends are within the bores.
        Prism(LineString(pair).buffer(wide_mm / 2, cap_style="flat"), floor_mm, heights.rest_mm)
        for pair in neighbours(centres, profile.unit_mm)
    ]
    steps = (*made.steps, Step(True, (*bores, *channels)))
    return board_blueprint(accessory, steps, heights.rest_mm)


def _refuse_bad_holes(profile: Profile) -> None:
    """Bores larger than balls, with walls between them."""
    hole_mm, most_mm = profile.hole_mm, round(profile.unit_mm - LEAST_WALL_MM, 6)
    if not profile.ball_mm < hole_mm <= most_mm:
        raise BlueprintError(
            f"board.hole is {format_mm(hole_mm)}; expected more than the ball's "
            f"{format_mm(profile.ball_mm)}, and {format_mm(most_mm)} at the most, which leaves "
            f"{format_mm(LEAST_WALL_MM)} between two holes; choose another board.hole, a smaller "
            "ball.diameter or a larger unit"
        )


def _refuse_bad_channels(wide_mm: float, profile: Profile) -> None:
    """Channels that let no ball through, with posts between them."""
    # A ball that is sunk to its middle is as wide as it can be at the channel's upper edge.
    too_wide_mm, posts_mm = profile.ball_mm, round(profile.unit_mm - LEAST_WALL_MM, 6)
    if too_wide_mm <= wide_mm:
        keeps = "holds no ball back"
    elif posts_mm < wide_mm:
        keeps = f"leaves less than {format_mm(LEAST_WALL_MM)} of the posts between channels"
    else:
        return
    most_mm = min(too_wide_mm, posts_mm) - 2 * profile.channel_mm
    raise BlueprintError(
        f"a channel for links of {format_mm(profile.link_mm)} with board.channel "
        f"{format_mm(profile.channel_mm)} on either side is {format_mm(wide_mm)} wide, which {keeps}; "
        f"choose a smaller board.channel or a ball.link below {format_mm(most_mm)}"
    )
