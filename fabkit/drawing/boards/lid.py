"""The drawing of a lid, which slides into the frame of its board or snaps on it."""

from __future__ import annotations

import shapely

from fabkit.core.units import format_mm
from fabkit.drawing.boards.drawing import BoardBlueprint
from fabkit.drawing.boards.frame import block
from fabkit.drawing.boards.levels import levels, region_of
from fabkit.drawing.boards.slabs import board_blueprint
from fabkit.drawing.boards.sliding import Sliding
from fabkit.drawing.boards.title import place_title
from fabkit.drawing.printed import BlueprintError
from fabkit.model.accessory import TRAY, Accessory, board_kind
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet

#: What a title must leave of the plate.
_BEHIND_TITLE_MM = 0.6
#: Between the thumb's recess and the title.
_BESIDE_THUMB_MM = 2.0


def draft_lid(puzzle: PuzzleSet, accessory: Accessory, profile: Profile) -> BoardBlueprint:
    """Drafts the lid of a board.

    A sliding lid is printed as it lies in the frame, its title on top. A snapping lid is printed
    upside down, its title mirrored in the plate's bottom.

    Args:
        puzzle: gives lattice, title, and what its boards are.
        accessory: a lid of the set.
        profile: gives every length.

    Returns:
        All measures of the lid, in mm, its middle over the middle of the region.

    Raises:
        BlueprintError: when the profile does not suit it.

    Example:
        >>> from fabkit.model.accessory import accessories
        >>> from fabkit.model.library import load_set
        >>> from fabkit.model.profilefile import load_profile
        >>> iqblock, profile = load_set("iqblock"), load_profile()
        >>> lid = draft_lid(iqblock, accessories(iqblock, profile)[1], profile)
        >>> lid.thickness_mm, lid.label.text, lid.label.cap_height_mm
        (2.0, 'IQ Block', 6.0)
    """
    heights = levels(puzzle, profile)
    region = region_of(puzzle, accessory.board, profile)
    relieved = board_kind(puzzle, profile) == TRAY
    made = block(region, heights.rest_mm, heights.top_mm, profile, relieved)
    if made.lid is None:
        raise BlueprintError("lid.kind is none: there is no lid to draw; choose sliding or snap")
    lid = made.lid
    if profile.title_mm > 0 and lid.thick_mm - profile.title_depth_mm < _BEHIND_TITLE_MM:
        raise BlueprintError(
            f"a title {format_mm(profile.title_depth_mm)} deep leaves less than "
            f"{format_mm(_BEHIND_TITLE_MM)} of a lid of {format_mm(lid.thick_mm)}; choose a smaller "
            "board.title_depth, a thicker lid.thickness or board.title 0 mm"
        )
    steps = made.spot.steps(lid.lid())
    if isinstance(lid, Sliding):
        back = lid.along_mm - (lid.across_mm - lid.top_across_mm)
        front = lid.thumb_area().bounds[3] + _BESIDE_THUMB_MM
        room = made.spot.area(shapely.box(-lid.top_across_mm, front, lid.top_across_mm, back))
        label = place_title(puzzle, room, profile)
        low_mm = round(lid.thick_mm - profile.title_depth_mm, 6)
    else:
        room = made.spot.area(
            shapely.box(-lid.across_mm, -lid.along_mm, lid.across_mm, lid.along_mm)
        )
        label = place_title(puzzle, room, profile, mirrored=True)
        low_mm = 0.0
    return board_blueprint(accessory, steps, 0.0, label, low_mm if label else 0.0)
