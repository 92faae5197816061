"""Reading the letter that is engraved on a part, with nothing but its shape to go by."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np
from shapely import Polygon, affinity, union_all
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.glyphs import lettering
from fabkit.drawing.outline import BlueprintError
from fabkit.mesh.features import Cavity
from fabkit.mesh.recognise import normal, overlays

#: What an engraving may be when it is no piece's label.
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
#: A letter is read when so much of it and of the font's letter is common to both, and of no other
#: letter but this less; one that is as much like itself when turned looks the same.
_ALIKE, _BETTER = 0.9, 0.02


@dataclass(frozen=True)
class Letter:
    """A letter that was read.

    Attributes:
        likeness: the common part of the letter seen and the font's: 1 when they are the same.
        turns: quarter turns (sixths on a triangular lattice), counter-clockwise, after which
            the font's letter lies as the one seen.
    """

    text: str
    likeness: float
    turns: int
    mirrored: bool


def read_letter(
    labels: Sequence[Cavity], texts: Sequence[str], turns: int, back: bool = False
) -> Letter | None:
    """Which of several labels is engraved on a part's face, or back as seen from there.

    Args:
        labels: the cavities that are letters.
        texts: the labels it may be, at least one.
        turns: in how many ways the part may be turned on its lattice.
        back: reads the back.

    Returns:
        The letter; None when there is none, it is of another font, or two are equally near.
    """
    area = union_all([label.middle for label in labels if label.above != back])
    if area.is_empty:
        return None
    ways = list(product(dict.fromkeys(texts), range(turns), (False, True)))
    glyphs = np.array([_glyph(text, turn / turns, mirrored) for text, turn, mirrored in ways])
    seen = normal(affinity.scale(area, xfact=-1 if back else 1, origin=(0, 0)))
    found = [
        Letter(text, likeness, turn, mirrored)
        for (text, turn, mirrored), likeness in zip(ways, overlays(seen, glyphs), strict=True)
    ]
    # Letters that are their own mirror image, or look the same when turned, are read straight.
    best = min(found, key=lambda one: (-round(one.likeness, 2), one.mirrored, one.turns))
    rival = max((one.likeness for one in found if one.text != best.text), default=0.0)
    return best if best.likeness >= max(_ALIKE, rival + _BETTER) else None


def turns_alike(text: str, turns: int) -> tuple[int, ...]:
    """Of all turns that a lattice has, those that leave a label looking the same.

    Example:
        >>> turns_alike("N", 4), turns_alike("A", 4)
        ((0, 2), (0,))
    """
    glyphs = np.array([_glyph(text, turn / turns, mirrored=False) for turn in range(turns)])
    alike = overlays(glyphs[0], glyphs)
    return tuple(turn for turn in range(turns) if turn == 0 or alike[turn] > 1 - _BETTER)


@lru_cache(maxsize=2048)
def _glyph(text: str, turn: float, mirrored: bool) -> BaseGeometry:
    """The font's letter at area 1, turned by a part of a full turn; empty if the font has none."""
    try:
        area = lettering(text).moved(0.0, 0.0, 1.0, mirrored).polygon()
    except BlueprintError:
        return Polygon()
    return normal(area, -2 * math.pi * turn)
