"""How to read a fit gauge: which part tells what, for a table and for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fabkit.model.profile import Profile
from fabkit.printing.fit_coupon.values import GaugePart, own_mm

_HOW = {
    "inset": (
        "Lay each plug into the socket of the same number, from above, as pieces are laid. The "
        "plug that slides into its socket without force and without rattling: type its number as "
        "inset."
    ),
    "recess.press": (
        "Push a magnet into each chip from the back, the widest first. The first one that needs a "
        "firm push, and keeps its magnet when it is knocked on the table: type its number as "
        "recess.press."
    ),
    "recess.glue": (
        "Lay a magnet into each chip from the back, the narrowest first. The first one into which "
        "it falls by itself, with a thin gap all around for the glue: type its number as "
        "recess.glue."
    ),
    "recess.rib_crest": (
        "Push a magnet into each chip from the back, the widest first. The first one in which the "
        "ribs give way to a firm push, and which keeps its magnet when it is knocked on the table: "
        "type its number as recess.rib_crest."
    ),
    "recess.embedded": (
        "When the print pauses, lay a magnet into each chip, and take out again what stands out: "
        "the nozzle would hit it. The narrowest one into which it falls by itself and lies flat: "
        "type its number as recess.embedded."
    ),
    "board.hole": (
        "Hold the bar upright and let one of its balls down into each ring, the narrowest first. "
        "The first ring that the ball passes by its own weight: type its number as board.hole."
    ),
    "board.channel": (
        "Lay the bar into each block, the narrowest channel first. The first one into which it "
        "falls by itself, so that its link rests on the channel's floor, and in which it does not "
        "rattle: type its number as board.channel. If its balls stick in the holes, find board.hole "
        "first, and print another gauge with it."
    ),
    "board.seat": (
        "Set the piece with its stub into each plate, the narrowest first. The first one into which "
        "the stub goes without force, and out of which it falls when you turn both over: type its "
        "number as board.seat."
    ),
    "board.clearance": (
        "Lay the square into each tray, the narrowest first. The first one into which it falls by "
        "itself, and in which it does not rattle: type its number as board.clearance. The square has "
        "the profile's inset: if you choose another inset, print the trays again with it."
    ),
}


def document(parts: Sequence[GaugePart], profile: Profile) -> dict[str, Any]:
    """What a gauge tells, for JSON.

    Returns:
        ``profile`` (its name) and ``settings``: for each ``key``, ``own_mm`` (what the profile has
        now), ``how`` (what to do with the parts, and what to type), ``farther`` (what to do when
        none fits) and ``parts``, each with ``name``, ``engraved``, ``value_mm`` and ``size_mm``
        (width, depth, height). Parts without a number have an empty text and no value.
    """
    settings = []
    for key in dict.fromkeys(part.key for part in parts):
        some = [part for part in parts if part.key == key]
        numbers = [part.text for part in some if part.text]
        farther = (
            f"When all from {numbers[0]} to {numbers[-1]} are too tight, or all too loose, print a "
            f'gauge around the nearest: -s "{key}={numbers[-1]} mm".'
        )
        settings.append(
            {
                "key": key,
                "own_mm": own_mm(profile, key),
                "how": _HOW[key],
                "farther": farther,
                "parts": [_part(part) for part in some],
            }
        )
    return {"profile": profile.name, "settings": settings}


def _part(part: GaugePart) -> dict[str, Any]:
    left, bottom, right, top = part.blueprint.outline.bounds
    return {
        "name": part.name,
        "engraved": part.text,
        "value_mm": part.value_mm,
        "size_mm": [round(right - left, 3), round(top - bottom, 3), part.blueprint.thickness_mm],
    }
