"""Which values a gauge tries: the profile's own in the middle, and those around it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from fabkit.core.errors import Fault, InputError
from fabkit.core.units import format_mm
from fabkit.model.profile import SETTINGS, Profile, Setting
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


def setting(key: str) -> Setting:
    """The setting of a profile file that has this key.

    Example:
        >>> setting("recess.press").attribute
        'press_mm'
    """
    return next(one for one in SETTINGS if one.key == key)


def with_value(profile: Profile, key: str, value_mm: float) -> Profile:
    """The profile with another value of one of its lengths.

    Example:
        >>> from fabkit.model.profilefile import load_profile
        >>> with_value(load_profile(), "recess.press", 0.15).press_mm
        0.15
    """
    changed: dict[str, Any] = {setting(key).attribute: value_mm}
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
        >>> values_mm(load_profile((), ["inset=0.08 mm"]), "inset", "the gauge")
        [0.03, 0.08, 0.13, 0.18, 0.23]
    """
    own = _hundredths(getattr(profile, setting(key).attribute))
    around = sorted(
        (own + STEPS[key] * k for k in range(1 - COUNT, COUNT)), key=lambda v: (abs(v - own), v)
    )
    faults = {value: list(_faults(profile, key, value / 100, refused)) for value in around}
    allowed = [value for value in around if not faults[value]]
    if len(allowed) < COUNT:
        nearest = next(value for value in around if faults[value])
        raise InputError.of(
            source,
            f"it tries {COUNT} values around {number(own / 100)} mm, and this profile can have "
            f"{len(allowed)} of them; with {number(nearest / 100)} mm, {faults[nearest][0]}",
            key,
        )
    return [value / 100 for value in sorted(allowed[:COUNT])]


def number(value_mm: float) -> str:
    """A value as it is engraved, and typed into the profile.

    Example:
        >>> number(0.1), number(-0.05), number(0.0)
        ('0.10', '-0.05', '0.00')
    """
    return f"{value_mm:.2f}"


def _hundredths(value_mm: float) -> int:
    return int((Decimal(str(value_mm)) * 100).quantize(Decimal(1), ROUND_HALF_UP))


def _faults(
    profile: Profile, key: str, value_mm: float, refused: Callable[[Profile], Iterable[Fault]]
) -> Iterator[Fault]:
    """Why the profile could not have another value."""
    asked = setting(key)
    if not asked.low <= value_mm <= asked.high:
        yield Fault(key, f"expected {format_mm(asked.low)} to {format_mm(asked.high)}")
        return
    yield from refused(with_value(profile, key, value_mm))
