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

#: A limit: at least or at most a number, or between two.
Limit = float | tuple[float, float] | None


@dataclass(frozen=True, eq=False)
class Finding:
    """What one rule, by its id, says.

    Attributes:
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
        digits = {"mm3": 1, "deg": 1}.get(self.unit, DIGITS)
        value = None if self.value is None else round(self.value, digits)
        limit = list(self.limit) if isinstance(self.limit, tuple) else self.limit
        found = vars(self) | {"value": value, "limit": limit}
        return {key: found[key] for key in found if key != "where"}


def between(
    rule: str,
    value: float,
    limit: tuple[float, float],
    unit: str,
    what: str,
    where: BaseGeometry | None = None,
) -> Finding:
    """A finding on a value that must lie between two, one of which may be infinite.

    A value that is not finite could not be measured. What was measured begins the sentence.

    Example:
        >>> between("wall", 1.2, (2.0, math.inf), "mm", "the wall").message
        'the wall is 1.2 mm; at least 2 mm is asked for'
    """
    low, high = round(limit[0], 6), round(limit[1], 6)
    asked: Limit = low if math.isinf(high) else high if math.isinf(low) else (low, high)
    if not math.isfinite(value):
        return Finding(rule, False, None, asked, unit, f"{what} cannot be measured", where)
    bounds = dict.fromkeys(_text(one, unit) for one in (low, high) if math.isfinite(one))
    least_or_most = "at least " if math.isinf(high) else "at most " if math.isinf(low) else ""
    message = f"{what} is {_text(value, unit)}; {least_or_most}{' to '.join(bounds)} is asked for"
    ok = low - TINY_MM <= value <= high + TINY_MM
    return Finding(rule, ok, value, asked, unit, message, where)


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
    return f"{round(value, 3) + 0.0:.3f}".rstrip("0").rstrip(".") + f" {unit}" * bool(unit)
