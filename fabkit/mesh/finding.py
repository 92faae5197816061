"""A finding: what one rule says of one part, with the number, its limit and a sentence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from shapely.geometry.base import BaseGeometry

#: What single precision and chords of curves may cost, in mm; limits are kept to this.
TINY_MM = 5e-4
#: Less overlap than this (mm3) is what single precision makes of faces that touch.
TINY_MM3 = 1e-3
#: Digits kept of a measured value: turned meshes differ in the next one.
DIGITS = 3
_DIGITS_OF = {"mm3": 1, "deg": 1}

#: A limit: at least or at most a number, or between two.
Limit = float | tuple[float, float] | None


@dataclass(frozen=True, eq=False)
class Finding:
    """What one rule says.

    Attributes:
        rule: its id.
        value: what was measured; None when there is nothing to measure.
        limit: what is asked for: one number, or the least and the greatest.
        unit: of both, such as ``mm``; empty for counts.
        message: one sentence.
        where: the place, seen from above in the part's frame, for a drawing; None for the whole.
    """

    rule: str
    ok: bool
    value: float | None
    limit: Limit
    unit: str
    message: str
    where: BaseGeometry | None = None

    def document(self) -> dict[str, Any]:
        """For JSON; lengths to a tenth of a micrometre, so that turned meshes read the same."""
        digits = _DIGITS_OF.get(self.unit, DIGITS)
        return {
            "rule": self.rule,
            "ok": self.ok,
            "value": None if self.value is None else round(self.value, digits),
            "limit": list(self.limit) if isinstance(self.limit, tuple) else self.limit,
            "unit": self.unit,
            "message": self.message,
        }


def at_least(
    rule: str, value: float, limit: float, unit: str, what: str, where: BaseGeometry | None = None
) -> Finding:
    """A finding on a value that must not be smaller than its limit; `what` begins its sentence.

    A value that is not finite could not be measured.

    Example:
        >>> at_least("wall", 1.2, 2.0, "mm", "the wall").message
        'the wall is 1.2 mm; at least 2 mm is asked for'
    """
    asked = f"at least {_text(limit, unit)}"
    return _measured(rule, value, value >= limit - TINY_MM, limit, asked, unit, what, where)


def at_most(
    rule: str, value: float, limit: float, unit: str, what: str, where: BaseGeometry | None = None
) -> Finding:
    """A finding on a value that must not be larger than its limit; see `at_least`."""
    asked = f"at most {_text(limit, unit)}"
    return _measured(rule, value, value <= limit + TINY_MM, limit, asked, unit, what, where)


def between(
    rule: str,
    value: float,
    limit: tuple[float, float],
    unit: str,
    what: str,
    where: BaseGeometry | None = None,
) -> Finding:
    """A finding on a value that must lie between two; see `at_least`."""
    low, high = limit = round(limit[0], 6), round(limit[1], 6)
    asked = f"{_text(low, unit)} to {_text(high, unit)}" if low != high else _text(low, unit)
    ok = low - TINY_MM <= value <= high + TINY_MM
    return _measured(rule, value, ok, limit, asked, unit, what, where)


def _measured(
    rule: str,
    value: float,
    ok: bool,
    limit: Limit,
    asked: str,
    unit: str,
    what: str,
    where: BaseGeometry | None,
) -> Finding:
    if not math.isfinite(value):
        return Finding(rule, False, None, limit, unit, f"{what} cannot be measured", where)
    message = f"{what} is {_text(value, unit)}; {asked} is asked for"
    return Finding(rule, ok, value, limit, unit, message, where)


def counted(
    rule: str, value: int, limit: int, what: str, where: BaseGeometry | None = None
) -> Finding:
    """A finding on a number of things that must be exact.

    Example:
        >>> counted("shells", 2, 1, "bodies in the mesh").message
        'bodies in the mesh: 2, where 1 is right'
    """
    ok = value == limit
    message = f"{what}: {value}" + ("" if ok else f", where {limit} is right")
    return Finding(rule, ok, value, limit, "", message, where)


def _text(value: float, unit: str) -> str:
    text = f"{round(value, 3) + 0.0:.3f}".rstrip("0").rstrip(".")
    return f"{text} {unit}" if unit else text
