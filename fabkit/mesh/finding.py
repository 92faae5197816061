"""Findings: the verdict of one rule on one part, with the value, its limit and a sentence.

`rules.toml` lists the rules. Findings, `check.html` and the documentation take their texts from it.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shapely.geometry.base import BaseGeometry

from fabkit.core.units import format_number

#: Slack on lengths for single precision and for chords of curves.
TINY_MM = 5e-4
#: Faces that touch overlap by less than this in single precision.
TINY_MM3 = 1e-3
#: Digits kept of a measured value: rotated meshes differ in the next one.
DIGITS = 3
#: A lower or upper limit, or both.
Limit = float | tuple[float, float] | None

#: Titles of rules, by what a group applies to and requires (``subject: requirement``), and by name.
RULE_GROUPS: dict[str, dict[str, str]] = tomllib.loads(
    Path(__file__).with_name("rules.toml").read_text("utf-8")
)
#: Title and requirement of each rule, by its name, in the order of reports. Rules of one group
#: share the requirement.
RULES = {
    name: (title, group.partition(": ")[2])
    for group, names in RULE_GROUPS.items()
    for name, title in names.items()
}


@dataclass(frozen=True, eq=False)
class Finding:
    """The verdict of one rule.

    Attributes:
        value: what was measured; None when there is nothing to measure.
        limit: a lower or an upper limit, or both.
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
        """Return the finding for JSON, with values rounded so that rotated meshes give the same."""
        digits = {"mm3": 1, "deg": 1}.get(self.unit, DIGITS)
        value = None if self.value is None else round(self.value, digits)
        limit = list(self.limit) if isinstance(self.limit, tuple) else self.limit
        document = vars(self) | {"value": value, "limit": limit}
        return {key: document[key] for key in document if key != "where"}


def check_limits(
    rule: str,
    measured: float | Iterable[tuple[float, BaseGeometry | None]],
    minimum: float = -math.inf,
    maximum: float = math.inf,
    *,
    unit: str = "mm",
    what: str = "",
) -> Iterator[Finding]:
    """Check a value, or the worst of several with their places, against limits.

    Without any value there is no finding; a value that is not finite could not be measured. The
    sentence begins with the rule's title, unless `what` is given.

    Example:
        >>> findings = check_limits("wall", [(2.1, None), (1.2, None)], 2.0)
        >>> [finding.message for finding in findings]
        ['the wall beside the recess is 1.2 mm; expected at least 2 mm']
    """
    if measurements := [(measured, None)] if isinstance(measured, float | int) else list(measured):
        value, where = max(measurements, key=lambda pair: max(minimum - pair[0], pair[0] - maximum))
        what = what or f"the {RULES[rule][0]}"
        suffix = f" {unit}" if unit else ""
        low, high = round(minimum, 6), round(maximum, 6)
        limit: Limit = low if math.isinf(high) else high if math.isinf(low) else (low, high)
        if not math.isfinite(value):
            yield Finding(rule, False, None, limit, unit, f"{what} cannot be measured", where)
            return
        bounds = dict.fromkeys(
            format_number(bound, DIGITS) for bound in (low, high) if math.isfinite(bound)
        )
        least_or_most = "at least " if math.isinf(high) else "at most " if math.isinf(low) else ""
        expected = least_or_most + " to ".join(bounds)
        message = f"{what} is {format_number(value, DIGITS)}{suffix}; expected {expected}{suffix}"
        ok = low - TINY_MM <= value <= high + TINY_MM
        yield Finding(rule, ok, value, limit, unit, message, where)


def count_finding(
    rule: str, value: int, limit: int, what: str, where: BaseGeometry | None = None
) -> Finding:
    """Return the finding on a count that must be exact.

    Example:
        >>> count_finding("shells", 2, 1, "bodies in the mesh").message
        'bodies in the mesh: 2; expected 1'
    """
    ok = value == limit
    message = f"{what}: {value}" + ("" if ok else f"; expected {limit}")
    return Finding(rule, ok, value, limit, "", message, where)
