"""The drawing of a tray: a floor, and a frame around the region that pieces fill."""

from __future__ import annotations

from fabkit.drawing.boards.drawing import BoardBlueprint
from fabkit.drawing.boards.frame import block
from fabkit.drawing.boards.levels import levels, region_of
from fabkit.drawing.boards.slabs import board_blueprint
from fabkit.drawing.boards.title import place_title
from fabkit.model.accessory import Accessory
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet

#: What a title must leave of the floor.
_BELOW_TITLE_MM = 0.6


def draft_tray(puzzle: PuzzleSet, accessory: Accessory, profile: Profile) -> BoardBlueprint:
    """Drafts a tray.

    Its title is on its lid. Without lids it is in the floor, if that is thick enough.

    Args:
        puzzle: gives lattice and title.
        accessory: a tray of the set.
        profile: gives every length.

    Returns:
        All measures of the tray, in mm.

    Raises:
        BlueprintError: when the profile does not suit it.

    Example:
        >>> from fabkit.model.accessory import accessories
        >>> from fabkit.model.library import load_set
        >>> from fabkit.model.profilefile import load_profile
        >>> iqblock, profile = load_set("iqblock"), load_profile()
        >>> tray = draft_tray(iqblock, accessories(iqblock, profile)[0], profile)
        >>> tray.rest_mm, tray.thickness_mm, tray.label
        (2.0, 11.8, None)
    """
    heights = levels(puzzle, profile)
    region = region_of(puzzle, accessory.board, profile)
    made = block(region, heights.rest_mm, heights.top_mm, profile, relieved=True)
    label, low_mm = None, round(heights.rest_mm - profile.title_depth_mm, 6)
    if made.lid is None and low_mm >= _BELOW_TITLE_MM:
        label = place_title(puzzle, region, profile)
    return board_blueprint(accessory, made.steps, heights.rest_mm, label, low_mm if label else 0.0)
