"""What a print takes, as PrusaSlicer sums it up in comments at the end of its G-code."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

from fabkit.core.errors import shown

_MOST_EXTRUDERS = 256
_TIME = re.compile(r"(?:(\d{1,6})d ?)?(?:(\d{1,6})h ?)?(?:(\d{1,6})m ?)?(?:(\d{1,9})s)?")
_SECONDS = (86_400, 3_600, 60, 1)


@dataclass(frozen=True)
class Summary:
    """What a print takes. None for what the file does not say.

    Attributes:
        seconds: the estimated printing time.
        metres: of filament, for each extruder.
        grams: for each extruder.
        total_grams: of all, with what is purged.
    """

    seconds: int | None = None
    metres: tuple[float, ...] | None = None
    grams: tuple[float, ...] | None = None
    total_grams: float | None = None

    def with_line(self, line: str) -> Summary:
        """This, with what a line says; itself when the line says nothing of the kind.

        Raises:
            ValueError: when it does, and makes no sense.

        Example:
            >>> Summary().with_line("; estimated printing time (normal mode) = 1h 2m 3s").seconds
            3723
        """
        key, equals, value = line.partition(" = ")
        if not equals:
            return self
        if key == "; estimated printing time (normal mode)":
            return replace(self, seconds=_seconds(value))
        if key == "; filament used [mm]":
            return replace(self, metres=tuple(one / 1000 for one in _numbers(value)))
        if key == "; filament used [g]":
            return replace(self, grams=_numbers(value))
        if key == "; total filament used [g]":
            return replace(self, total_grams=_numbers(value)[0])
        return self


def _seconds(text: str) -> int:
    found = _TIME.fullmatch(text.strip()[:60])
    if found is None or not any(found.groups()):
        raise ValueError(f'expected a time such as "1h 2m 3s", found {shown(text[:200])}')
    return sum(int(count or 0) * of for count, of in zip(found.groups(), _SECONDS, strict=True))


def _numbers(text: str) -> tuple[float, ...]:
    try:
        values = tuple(float(word) for word in text.split(",", _MOST_EXTRUDERS)[:_MOST_EXTRUDERS])
    except ValueError:
        values = (math.nan,)
    if not all(0 <= value < math.inf for value in values):
        raise ValueError(f"expected amounts, found {shown(text[:200])}")
    return values
