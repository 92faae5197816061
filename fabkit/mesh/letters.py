"""Reading the letter that is engraved on a part, with nothing but its shape to go by."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from shapely import affinity, union_all
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.glyphs import lettering
from fabkit.drawing.outline import BlueprintError
from fabkit.mesh.features import Cavity

#: What an engraving may be when it is no piece's label.
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
#: A letter is read when so much of it and of the font's letter is common to both.
_ALIKE = 0.9
#: … and no other letter is as near as this part of it.
_BETTER = 0.02


@dataclass(frozen=True)
class Letter:
    """A letter that was read.

    Attributes:
        text: the label.
        likeness: the common part of the letter seen and the font's: 1 when they are the same.
        turns: quarter turns (sixths on a triangular lattice), counter-clockwise, after which
            the font's letter lies as the one seen.
        mirrored: whether it was seen as in a mirror.
    """

    text: str
    likeness: float
    turns: int
    mirrored: bool


def read_letter(
    labels: Sequence[Cavity], texts: Sequence[str], turns: int, back: bool = False
) -> Letter | None:
    """Which of several labels is engraved on a part.

    Args:
        labels: the cavities that are letters.
        texts: the labels it may be.
        turns: in how many ways the part may be turned on its lattice.
        back: reads the back, as seen from there, instead of the face.

    Returns:
        The letter; None when there is none, it is of another font, or two are equally near.
    """
    area = union_all([label.middle for label in labels if label.above != back])
    if back:
        area = affinity.scale(area, xfact=-1, origin=(0, 0))
    if area.is_empty:
        return None
    found = []
    for text in dict.fromkeys(texts):
        for mirrored in (False, True):
            for turn in range(turns):
                glyph = _glyph(text, mirrored, turn, turns)
                if glyph is not None:
                    found.append(Letter(text, _likeness(area, glyph), turn, mirrored))
    # Letters that are their own mirror image, or look the same when turned, are read straight.
    found.sort(key=lambda one: (-round(one.likeness, 2), one.mirrored, one.turns))
    best = found[0] if found else None
    if best is None or best.likeness < _ALIKE:
        return None
    rivals = [one.likeness for one in found if one.text != best.text]
    return best if max(rivals, default=0.0) < best.likeness - _BETTER else None


def turns_alike(text: str, turns: int) -> tuple[int, ...]:
    """The turns that leave a label looking the same, no turn among them.

    Args:
        text: the label.
        turns: in how many ways a part may be turned on its lattice.

    Example:
        >>> turns_alike("N", 4), turns_alike("A", 4)
        ((0, 2), (0,))
    """
    upright = _glyph(text, False, 0, turns)
    if upright is None:
        return (0,)
    turned = [_glyph(text, False, turn, turns) for turn in range(turns)]
    return tuple(
        turn
        for turn, glyph in enumerate(turned)
        if glyph is not None and _likeness(upright, glyph) > 1 - _BETTER
    )


@lru_cache(maxsize=2048)
def _glyph(text: str, mirrored: bool, turn: int, turns: int) -> BaseGeometry | None:
    """The font's letter, turned; None when the font does not have it."""
    try:
        area = lettering(text).moved(0.0, 0.0, 1.0, mirrored).polygon()
    except BlueprintError:
        return None
    return affinity.rotate(area, 2 * math.pi * turn / turns, origin=(0, 0), use_radians=True)


def _likeness(seen: BaseGeometry, glyph: BaseGeometry) -> float:
    """The common part of two areas, once both have the same centroid and area."""
    scale = math.sqrt(seen.area / glyph.area)
    left, bottom, right, top = glyph.bounds
    wide, high = seen.bounds[2] - seen.bounds[0], seen.bounds[3] - seen.bounds[1]
    if (
        abs(wide - scale * (right - left)) > 0.2 * wide
        or abs(high - scale * (top - bottom)) > 0.2 * high
    ):
        return 0.0
    laid = affinity.affine_transform(glyph, [scale, 0, 0, scale, 0, 0])
    x, y = seen.centroid.x - laid.centroid.x, seen.centroid.y - laid.centroid.y
    laid = affinity.translate(laid, x, y)
    return float(seen.intersection(laid).area / seen.union(laid).area)
