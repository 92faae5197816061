"""Which values a gauge tries, the profile's own in the middle and those around it; and how large the
parts become that try them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal
from functools import cache, partial
from typing import Any

from shapely import affinity

from fabkit.core.errors import Fault, InputError
from fabkit.core.units import format_mm
from fabkit.drawing.glyphs import lettering, strokes_are_at_least
from fabkit.drawing.outline import BlueprintError
from fabkit.drawing.part import PartDrawing
from fabkit.model.profile import SETTINGS, Profile
from fabkit.model.profilefile import contradictions

#: How many values a gauge tries of each setting.
COUNT = 5
#: The settings that a gauge can tell, and by how much its parts differ, in hundredths of a mm.
#: Glue fills what a bore is too wide, ribs give way, and a magnet falls into a closed cavity:
#: there coarser steps reach farther. A hole's number is its diameter, the others are for each side.
STEPS = {
    "inset": 5,
    "recess.press": 5,
    "recess.glue": 10,
    "recess.rib_crest": 10,
    "recess.embedded": 10,
    "board.hole": 10,
    "board.channel": 5,
    "board.seat": 5,
    "board.clearance": 5,
}
#: The setting that decides how tight a magnet sits, by fit. Of crush ribs it is the crests'.
KEY_OF_FIT = {
    "press": "recess.press",
    "glue": "recess.glue",
    "ribs": "recess.rib_crest",
    "embedded": "recess.embedded",
}


_SETTING = {one.key: one for one in SETTINGS}


def own_mm(profile: Profile, key: str) -> float:
    """A length of a profile, by its key in a profile file."""
    return float(getattr(profile, _SETTING[key].attribute))


def with_value(profile: Profile, key: str, value_mm: float) -> Profile:
    """The profile with another value of one of its lengths.

    Example:
        >>> from fabkit.model.profilefile import load_profile
        >>> own_mm(with_value(load_profile(), "recess.press", 0.15), "recess.press")
        0.15
    """
    changed: dict[str, Any] = {_SETTING[key].attribute: value_mm}
    return replace(profile, **changed)


def values_mm(
    profile: Profile,
    key: str,
    source: str,
    refused: Callable[[Profile], Iterable[Fault]] = contradictions,
) -> list[float]:
    """The values that a gauge tries of one setting: `COUNT` of them, whole hundredths of a mm.

    They are those nearest to the profile's own that the profile could have in its place, so they
    are not always centred: no inset is negative.

    Args:
        profile: to be tuned.
        key: of `STEPS`.
        source: what messages call the gauge.
        refused: why a profile cannot be had; none of its own as it is.

    Returns:
        Different values, from low to high. The profile's own is among them, rounded to
        hundredths.

    Raises:
        InputError: when the profile could have fewer values than that; it says why.

    Example:
        >>> from fabkit.model.profilefile import load_profile
        >>> values_mm(load_profile(), "inset", "the gauge")
        [0.0, 0.05, 0.1, 0.15, 0.2]
    """
    own = int((Decimal(str(own_mm(profile, key))) * 100).quantize(Decimal(1), ROUND_HALF_UP))
    around = (own + STEPS[key] * k for k in range(1 - COUNT, COUNT))
    (low_mm, high_mm), allowed, refusal = _SETTING[key].limits, [], ""
    for value_mm in (value / 100 for value in sorted(around, key=lambda v: (abs(v - own), v))):
        fault: Fault | None = Fault(key, f"expected {format_mm(low_mm)} to {format_mm(high_mm)}")
        if low_mm <= value_mm <= high_mm:
            fault = next(iter(refused(with_value(profile, key, value_mm))), None)
        if fault is None:
            allowed.append(value_mm)
        else:
            refusal = refusal or f"with {number(value_mm)} mm, {fault}"
        if len(allowed) == COUNT:
            return sorted(allowed)
    raise InputError.of(
        source,
        f"it tries {COUNT} values around {number(own / 100)} mm, and this profile can have "
        f"{len(allowed)} of them; {refusal}",
        key,
    )


def number(value_mm: float) -> str:
    """A value as it is engraved, and typed into the profile.

    Example:
        >>> number(0.1), number(-0.05), number(0.0)
        ('0.10', '-0.05', '0.00')
    """
    return f"{value_mm:.2f}"


#: The gauge has its own grid units: the smallest of these at which numbers and magnets fit.
_UNITS_MM = [quarter / 4 for quarter in range(1 * 4, 60 * 4 + 1)]
#: What does not fit with this one does not fit with any.
LARGEST_UNIT_MM = _UNITS_MM[-1]
_CAP_HEIGHTS_MM = [tenth / 10 for tenth in range(10, 1001)]


@dataclass(frozen=True)
class GaugePart:
    """One part of a fit gauge.

    Attributes:
        name: different for each part, such as ``plug-0.10`` or ``recess-minus-0.05``.
        key: of the profile's setting that it tries, such as ``inset`` or ``recess.press``.
        value_mm: what it was made with in place of the profile's own; None for a part without a
            number, which is laid into all those that have one.
        text: the same as it is engraved; empty without.
    """

    name: str
    key: str
    value_mm: float | None
    text: str
    blueprint: PartDrawing


@dataclass(frozen=True)
class PartSpec:
    """A part before it has a size.

    Attributes:
        drawing: what its name begins with.
        key: of the setting that it tries.
        value_mm: what it tries; None for a part without a number.
        draw: drafts it with a profile, whose value and unit are its own by then. It is given the
            part's name and the text to engrave.
    """

    drawing: str
    key: str
    value_mm: float | None
    draw: Callable[[Profile, str, str], PartDrawing]

    @property
    def text(self) -> str:
        """What is engraved; empty for a part without a number."""
        return "" if self.value_mm is None else number(self.value_mm)

    def drafted(self, profile: Profile, unit_mm: float) -> GaugePart:
        """The part, made with its own value in place of the profile's.

        Raises:
            BlueprintError: when it cannot be made like that.
        """
        name, own = self.drawing, replace(profile, unit_mm=unit_mm)
        if self.value_mm is not None:
            name = f"{self.drawing}-{self.text.replace('-', 'minus-')}"
            own = with_value(own, self.key, self.value_mm)
        drawn = self.draw(own, name, self.text)
        return GaugePart(name, self.key, self.value_mm, self.text, drawn)


def made(
    specs: Sequence[PartSpec], profile: Profile, source: str, unit_mm: float | None = None
) -> list[GaugePart]:
    """The parts, with a grid unit that is given, or the smallest with which all can be made.

    Raises:
        InputError: with every part that cannot be made, or when there is no such unit.
    """
    characters = {character for spec in specs for character in spec.text}
    heights_mm = [_cap_height_mm(one, profile.stroke_mm) for one in characters]
    sized = replace(profile, cap_height_mm=max(heights_mm))

    def can_be_made(spec: PartSpec, unit_mm: float) -> bool:
        try:
            return bool(spec.drafted(sized, unit_mm))
        except BlueprintError:
            return False

    if unit_mm is None:
        index = 0
        for spec in specs:
            if not can_be_made(spec, _UNITS_MM[index]):
                suits = partial(can_be_made, spec)
                index = bisect_left(_UNITS_MM, True, lo=index + 1, key=suits)
            if index == len(_UNITS_MM):
                raise InputError.of(
                    source,
                    f"with a grid unit of {format_mm(LARGEST_UNIT_MM)} its parts are still too small; "
                    "choose a smaller magnet.diameter, recess.wall, recess.bed_wall, label.stroke or "
                    "label.margin",
                )
        unit_mm = _UNITS_MM[index]
    parts, faults = [], []
    for spec in specs:
        try:
            parts.append(spec.drafted(sized, unit_mm))
        except BlueprintError as fault:
            faults.append(Fault(spec.drawing, str(fault)))
    if faults:
        raise InputError(source, list(dict.fromkeys(faults)))
    return parts


@cache
def _cap_height_mm(character: str, stroke_mm: float) -> float:
    """The least height at which no stroke of a character is thinner than asked for."""
    area = lettering(character).polygon()

    def wide_enough(height_mm: float) -> bool:
        sized = affinity.scale(area, height_mm, height_mm, origin=(0, 0))
        return strokes_are_at_least(sized, stroke_mm)

    return _CAP_HEIGHTS_MM[
        bisect_left(_CAP_HEIGHTS_MM, True, hi=len(_CAP_HEIGHTS_MM) - 1, key=wide_enough)
    ]
