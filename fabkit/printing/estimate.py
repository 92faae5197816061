"""How much plastic a piece or board takes when nobody has sliced it yet: skins and walls solid, the rest filled
as the shipped print configuration says."""

from __future__ import annotations

import math
from dataclasses import dataclass

from shapely import Point, union_all
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.ball import BallBlueprint
from fabkit.drawing.boards.drawing import BoardBlueprint
from fabkit.drawing.draft import Blueprint
from fabkit.drawing.drawn import Drawn
from fabkit.drawing.printed import chamfered
from fabkit.drawing.recess import Recess
from fabkit.model.profile import Profile
from fabkit.printing.slicer.settings import print_settings

#: How wide a line is, as a part of the nozzle (PrusaSlicer's own choice).
_LINE_OF_NOZZLE = 1.125
_ARC_SEGMENTS = 64


@dataclass(frozen=True)
class Fill:
    """How the inside of a print is filled.

    Attributes:
        wall_mm: thickness of the walls.
        top_mm: thickness of the skin on top, and over hollows.
        bottom_mm: the same below.
        share: of the inside that is plastic, from 0 to 1.
    """

    wall_mm: float
    top_mm: float
    bottom_mm: float
    share: float


def fill_for(profile: Profile) -> Fill:
    """How the shipped print configuration fills, with the profile's layers and nozzle.

    Example:
        >>> from fabkit.model.profilefile import load_profile
        >>> fill_for(load_profile()).share
        0.2
    """
    lines = (line.partition(" = ") for line in print_settings(profile, 1).splitlines())
    settings = {key: value for key, _, value in lines}

    def skin_mm(side: str) -> float:
        layers = int(settings[f"{side}_solid_layers"])
        thinnest_mm = float(settings[f"{side}_solid_min_thickness"])
        return max(layers * profile.layer_mm, thinnest_mm)

    return Fill(
        wall_mm=int(settings["perimeters"]) * _LINE_OF_NOZZLE * profile.nozzle_mm,
        top_mm=skin_mm("top"),
        bottom_mm=skin_mm("bottom"),
        share=float(settings["fill_density"].rstrip("%")) / 100,
    )


def solid_mm3(drawing: Drawn) -> float:
    """The volume of a piece or board, in mm3, less its letter or title.

    Of a flat piece it is that of the prism less chamfers and recesses, with its stubs. Chamfers are
    integrated by Simpson's rule, which is exact for sections that grow with the square of the
    height. Ribs are left out.

    Args:
        drawing: of a flat piece, a ball piece or a board.
    """
    if isinstance(drawing, Blueprint):
        whole_mm3 = _prism_mm3(drawing)
    else:
        whole_mm3 = _as_drawn(drawing).solid_mm3
    return float(whole_mm3 - letter_mm3(drawing))


def letter_mm3(drawing: Drawn) -> float:
    """The volume of an engraving, on one face or both, in mm3."""
    label = drawing.label
    if label is None:
        return 0.0
    sides = [side for side in (label.front, label.back) if side is not None]
    return float(sum(side.polygon().area for side in sides) * label.depth_mm)


def printed_mm3(drawing: Drawn, profile: Profile) -> float:
    """The plastic in a printed piece or board, in mm3.

    Above and below a recess there are skins as on the piece's own faces, and a wall around it. On a
    ball piece everything counts as solid that is nearer to its surface than a wall is thick, and on
    a board what is nearer than a skin. PrusaSlicer takes 2 to 6 % less for IQ Fit's pieces.

    Args:
        drawing: of a flat piece, a ball piece or a board.
        profile: as it is printed.

    Example:
        >>> from fabkit.drawing.draft import draft
        >>> from fabkit.model.library import load_set
        >>> from fabkit.model.profilefile import load_profile
        >>> fridgeiq = load_set("fridgeiq")
        >>> profile = load_profile()
        >>> piece = draft(fridgeiq, fridgeiq.piece("D"), profile)
        >>> printed_mm3(piece, profile) < solid_mm3(piece)
        True
    """
    fill, whole_mm3 = fill_for(profile), solid_mm3(drawing)
    if isinstance(drawing, Blueprint):
        loose_mm3 = _loose_mm3(drawing, fill)
    else:
        # A board is mostly level plates, and its faces are as thick as skins.
        skin_mm = (fill.top_mm + fill.bottom_mm) / 2
        shell_mm = skin_mm if isinstance(drawing, BoardBlueprint) else fill.wall_mm
        loose_mm3 = max(0.0, whole_mm3 - shell_mm * _as_drawn(drawing).surface_mm2)
    return float(whole_mm3 - (1 - fill.share) * loose_mm3)


def _as_drawn(drawing: Drawn) -> BallBlueprint | BoardBlueprint:
    """A drawing that says itself what its volume and surface are."""
    if not isinstance(drawing, BallBlueprint | BoardBlueprint):
        raise TypeError(f"no volume is known of a {type(drawing).__name__}")
    return drawing


def _prism_mm3(blueprint: Blueprint) -> float:
    outline = blueprint.outline
    volume = outline.area * (blueprint.thickness_mm - blueprint.back_mm)
    for chamfer_mm in (blueprint.top_chamfer_mm, blueprint.foot_chamfer_mm):
        if chamfer_mm:
            middle, inner = chamfered(outline, chamfer_mm / 2), chamfered(outline, chamfer_mm)
            volume -= chamfer_mm * (5 * outline.area - 4 * middle.area - inner.area) / 6
    volume += sum(stub.volume_mm3 for stub in blueprint.stubs)
    return float(volume - sum(_recess_mm3(recess) for recess in blueprint.recesses))


def _loose_mm3(blueprint: Blueprint, fill: Fill) -> float:
    """What lies inside of walls and skins; a stub's inside goes on into the piece's."""
    skins_mm = fill.top_mm + fill.bottom_mm
    inside = blueprint.outline.buffer(-fill.wall_mm, join_style="mitre")
    recesses = [(recess, _disc(recess, fill.wall_mm)) for recess in blueprint.recesses]
    free = inside.difference(union_all([disc for _, disc in recesses]))
    loose_mm3 = free.area * max(0.0, blueprint.thickness_mm - blueprint.back_mm - skins_mm)
    for recess, disc in recesses:
        above_mm = blueprint.thickness_mm - recess.high_mm
        room_mm = sum(max(0.0, height - skins_mm) for height in (above_mm, recess.low_mm))
        loose_mm3 += inside.intersection(disc).area * room_mm
    for stub in blueprint.stubs:
        inner_mm = max(0.0, stub.diameter_mm / 2 - fill.wall_mm)
        loose_mm3 += math.pi * inner_mm**2 * stub.height_mm
    return float(loose_mm3)


def _disc(recess: Recess, wall_mm: float) -> BaseGeometry:
    return Point(recess.centre_mm).buffer(recess.bores.widest_mm / 2 + wall_mm, _ARC_SEGMENTS)


def _recess_mm3(recess: Recess) -> float:
    """The volume of a bore and of the cone at its mouth."""
    radius_mm, mouth_mm = recess.bores.widest_mm / 2, recess.mouth_mm
    depth_mm = recess.high_mm - recess.low_mm
    cone_mm3 = (
        mouth_mm
        * (radius_mm**2 + radius_mm * (radius_mm + mouth_mm) + (radius_mm + mouth_mm) ** 2)
        / 3
    )
    return math.pi * (cone_mm3 + radius_mm**2 * (depth_mm - mouth_mm))
