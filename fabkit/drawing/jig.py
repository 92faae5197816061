"""The jig that presses magnets in: a stem with a post that enters a recess to the depth of the magnet
below the back, and a collar around the post that stops it there.

A second magnet of the same kind, the counter-magnet, is glued into the stem with the opposite pole
towards the tip and holds the magnet. So a magnet sticks to it only with the correct pole outwards. The
jig is printed upright, tip up, with its name on a tab.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from shapely import box

from fabkit.core.units import format_mm
from fabkit.drawing.boards.csg import BoardDrawing, Cylinder, Prism, Step, board_drawing
from fabkit.drawing.label import place_label
from fabkit.drawing.magnets import recess_diameters
from fabkit.drawing.outline import DrawingError
from fabkit.model.puzzle import Board
from fabkit.profiles.accessory import Accessory
from fabkit.profiles.layers import (
    MARK_DIAMETER_MM,
    MARK_LAYERS,
    layer_bottom_mm,
    layer_top_mm,
    recess_span,
)
from fabkit.profiles.profile import Profile

#: The pole on the other side of a magnet; empty (either) stays empty.
OPPOSITE_POLE = {"N": "S", "S": "N", "": ""}
#: The kind of a jig, as `Accessory.kind`.
JIG = "jig"
#: Minimum height of a stem, for two fingers.
_STEM_MM = 15.0
#: Thickness of a stem's tab.
_TAB_MM = 3.0
#: Plastic between both magnets, in diameters. Two of 10 x 3 mm (N35) then attract each other with
#: 2.3 N, a seventh of the force in contact and 130 times their weight: enough to carry a magnet, and
#: little enough that its recess keeps it.
_APART = 0.5


@dataclass(frozen=True)
class Jig:
    """One jig and its dimensions.

    Attributes:
        pole: the outward pole of the magnets it presses in; empty for either.
        tip: the counter-magnet's pole towards the tip; empty for either.
        post_mm: diameter of the post; 0 for a jig without one.
        post_height_mm: height of the post: the depth of the magnet below the back, or below the top of
            the print.
        collar_mm: outer diameter of the collar.
        shaft_mm: diameter of the hole for the counter-magnet.
        shaft_depth_mm: depth of this hole from the lower end.
        drawing: in print orientation, its post up.
    """

    pole: str
    tip: str
    post_mm: float
    post_height_mm: float
    collar_mm: float
    shaft_mm: float
    shaft_depth_mm: float
    drawing: BoardDrawing


def draft_jigs(poles: Sequence[str], profile: Profile) -> list[Jig]:
    """Draft a jig for each pole: ``N``, ``S``, or empty for either.

    For open recesses, the post presses the magnet down to the recess's end, to whole layers of the
    jig's print. With closed cavities the print pauses while they are open above and the magnet falls
    in, so the jig has no post and can be pushed aside.

    Raises:
        DrawingError: when the profile has no magnets, or they are too small or large for a jig.

    Example:
        >>> from fabkit.profiles.profile_file import load_profile
        >>> (jig,) = draft_jigs(["N"], load_profile())
        >>> jig.drawing.piece, jig.tip, jig.post_mm, jig.post_height_mm, jig.collar_mm
        ('jig-N', 'S', 9.7, 0.2, 15.1)
    """
    if not profile.has_recesses:
        raise DrawingError(
            "recess.fit is none, so there are no magnets to press in; choose press, glue, ribs or "
            "embedded"
        )
    return [_draft(pole, profile) for pole in poles]


def _draft(pole: str, profile: Profile) -> Jig:
    diameters = recess_diameters(profile)
    magnet_mm = profile.magnet_diameter_mm
    post_mm = post_height_mm = 0.0
    if not profile.embedded:
        # As between two pieces, except that only the post's side prints too far out.
        beside_mm = max(2 * profile.inset_mm, profile.gap_min_mm) - profile.offset_mm
        post_mm = round(diameters.narrowest_mm - profile.hole_loss_mm - 2 * beside_mm, 3)
        if post_mm < 2 * profile.nozzle_mm:
            raise DrawingError(
                f"its post would be {format_mm(max(0.0, post_mm))} wide, for a recess of "
                f"{format_mm(diameters.narrowest_mm)}, and {format_mm(2 * profile.nozzle_mm)} (two lines of the "
                "nozzle) is the minimum; choose a larger magnet.diameter or a smaller inset"
            )
        deep_mm = recess_span(profile).depth_mm - profile.magnet_height_mm
        post_height_mm = round(int(deep_mm / profile.layer_mm + 1e-6) * profile.layer_mm, 6)
    shaft_mm = round(magnet_mm + profile.glue_mm, 6)
    if shaft_mm > profile.max_bridge_mm:
        raise DrawingError(
            f"the end of its hole for a magnet is a ceiling of {format_mm(shaft_mm)}, and "
            f"printer.max_bridge is {format_mm(profile.max_bridge_mm)}; choose a smaller magnet, or "
            "a larger max_bridge if your printer spans that"
        )
    hole_mm = max(shaft_mm, diameters.widest_mm + 2 * profile.lead_in_mm)
    collar_mm = round(hole_mm + 2 * profile.wall_mm, 6)
    apart_mm = _APART * magnet_mm
    high_mm = max(_STEM_MM, apart_mm + profile.magnet_height_mm + profile.layer_mm)
    high_mm = layer_top_mm(profile, high_mm)
    shaft_depth_mm = layer_bottom_mm(profile, high_mm + post_height_mm - apart_mm)
    post = list[Cylinder]()
    if post_height_mm:
        post.append(Cylinder((0, 0), post_mm, high_mm, round(high_mm + post_height_mm, 6)))
    shaft = Cylinder((0, 0), shaft_mm, 0.0, shaft_depth_mm)
    # At a pause with the back on the bed, the magnet's other pole faces the jig.
    is_from_face = profile.embedded and profile.facing == "up"
    return Jig(
        pole,
        tip=pole if is_from_face else OPPOSITE_POLE[pole],
        post_mm=post[0].diameter_mm if post else 0.0,
        post_height_mm=post_height_mm,
        collar_mm=collar_mm,
        shaft_mm=shaft_mm,
        shaft_depth_mm=shaft_depth_mm,
        drawing=_drawing(pole, Cylinder((0, 0), collar_mm, 0.0, high_mm), post, shaft, profile),
    )


def _drawing(
    pole: str, stem: Cylinder, post: Sequence[Cylinder], shaft: Cylinder, profile: Profile
) -> BoardDrawing:
    """Draw a stem with its post and shaft, and a tab with the pole's name, marked as on the pieces."""
    is_marked = pole == "S" and profile.polarity == "alternating"
    radius_mm = stem.diameter_mm / 2
    tab_mm = layer_top_mm(profile, _TAB_MM)
    side_mm = max(radius_mm, profile.cap_height_mm + profile.label_margin_mm)
    room = box(-side_mm, -radius_mm - 2 * side_mm, side_mm, -radius_mm)
    left, low, right, _ = room.bounds
    cuts = [shaft]
    label = None
    depth_mm = min(profile.label_depth_mm, tab_mm / 2)
    if pole:
        lettered = replace(profile, faces="front", label_depth_mm=depth_mm)
        label = place_label(pole, room, room.centroid, lettered)
    if is_marked:
        low -= 3 * MARK_DIAMETER_MM
        centre_mm = (0.0, low + 1.5 * MARK_DIAMETER_MM)
        deep_mm = MARK_LAYERS * profile.layer_mm
        cuts.append(Cylinder(centre_mm, MARK_DIAMETER_MM, round(tab_mm - deep_mm, 6), tab_mm))
    tab = Prism(box(left, low, right, 0), 0.0, tab_mm)
    name = f"{JIG}-{pole}" if pole else JIG
    accessory = Accessory(name, JIG, Board(name, frozenset()), profile.board_colour)
    steps = [Step(False, (stem, tab)), Step(False, tuple(post)), Step(True, tuple(cuts))]
    used = tuple(step for step in steps if step.shapes)
    return board_drawing(accessory, used, stem.high_mm, label, round(tab_mm - depth_mm, 6))
