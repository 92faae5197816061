"""The table of rules, `rules.toml`: README, `check.html` and findings take their texts from it."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

from shapely.geometry.base import BaseGeometry

from fabkit.mesh.finding import Finding, between

_GROUPS = tomllib.loads(Path(__file__).with_name("rules.toml").read_text("utf-8"))


#: All rules by their ids, in the order in which they are told: what each is called, in a few words,
#: and what it asks for, alone or with others.
RULES = {
    name: (title, group.partition(": ")[2])
    for group, names in _GROUPS.items()
    for name, title in names.items()
}


def judged(
    rule: str,
    found: float | Iterable[tuple[float, BaseGeometry | None]],
    least: float = -math.inf,
    most: float = math.inf,
    *,
    unit: str = "mm",
    what: str = "",
) -> Iterator[Finding]:
    """What a rule says of a measurement, or the worst of several and its place; nothing of none.

    It is to be at least or at most so much, or between both. The sentence begins with what the
    table calls the rule, if with nothing else.

    Example:
        >>> [one.message for one in judged("wall", [(2.1, None), (1.2, None)], 2.0)]
        ['the wall beside the recess is 1.2 mm; at least 2 mm is asked for']
    """
    if measured := [(found, None)] if isinstance(found, float | int) else list(found):
        value, where = max(measured, key=lambda one: max(least - one[0], one[0] - most))
        title, _ = RULES[rule]
        what = what or (title if title.startswith("what") else f"the {title}")
        yield between(rule, value, (least, most), unit, what, where)


def readme_table() -> str:
    """The table of the README, in Markdown: a line for the rules that ask for one thing together."""
    lines = [
        f"| {kind} | {', '.join(f'`{name}`' for name in names)} | {asks} |"
        for group, names in _GROUPS.items()
        for kind, _, asks in [group.partition(": ")]
    ]
    return "\n".join(["| of | rule | asks |", "| --- | --- | --- |", *lines, ""])
