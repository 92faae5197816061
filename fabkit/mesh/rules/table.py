"""The table of rules, `rules.toml`: README, `check.html` and findings take their texts from it."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from shapely.geometry.base import BaseGeometry

from fabkit.mesh.finding import Finding, at_least, at_most, between


@dataclass(frozen=True)
class Rule:
    """One rule.

    Attributes:
        id: what reports call it.
        kind: what it is about: any ``mesh``, a ``flat piece``, a ``piece on stubs``, a
            ``ball piece``, a ``board``, a ``lid``, or the ``set``.
        title: the same for people, a few words.
        asks: one sentence on what it asks for, alone or with others.
    """

    id: str
    kind: str
    title: str
    asks: str


#: All rules by their ids, in the order in which they are told.
RULES: dict[str, Rule] = {
    name: Rule(name, kind, title, asks)
    for group, names in tomllib.loads(
        Path(__file__).with_name("rules.toml").read_text("utf-8")
    ).items()
    for kind, _, asks in [group.partition(": ")]
    for name, title in names.items()
}


def judged(
    rule: str,
    found: Iterable[tuple[float, BaseGeometry | None]],
    least: float | None = None,
    most: float | None = None,
    *,
    unit: str = "mm",
    what: str = "",
) -> Iterator[Finding]:
    """What a rule says of the worst of several measurements; nothing of none.

    Args:
        rule: its id.
        found: what was measured, and where.
        least, most: what is asked for; one of both may be None.
        unit: of all of these.
        what: the beginning of the sentence, if it is not what the table calls the rule.

    Example:
        >>> [one.message for one in judged("wall", [(2.1, None), (1.2, None)], 2.0)]
        ['the wall beside the recess is 1.2 mm; at least 2 mm is asked for']
    """

    def beyond(one: tuple[float, BaseGeometry | None]) -> float:
        low = -math.inf if least is None else least - one[0]
        return max(low, -math.inf if most is None else one[0] - most)

    least, most = (one if one is None else round(one, 6) for one in (least, most))
    measured = list(found)
    if not measured:
        return
    value, where = max(measured, key=beyond)
    title = RULES[rule].title
    what = what or (title if title.startswith("what") else f"the {title}")
    if least is not None and most is not None:
        yield between(rule, value, (least, most), unit, what, where)
    elif least is not None:
        yield at_least(rule, value, least, unit, what, where)
    elif most is not None:
        yield at_most(rule, value, most, unit, what, where)


def hint_of(rule: str) -> str:
    """What a rule is called and asks for; nothing for one that is not in the table.

    Example:
        >>> hint_of("tip"), hint_of("no-such-rule")
        ('flat of the sharpest tip: Every acute tip has a flat.', '')
    """
    return f"{RULES[rule].title}: {RULES[rule].asks}" if rule in RULES else ""


def readme_table() -> str:
    """The table of the README, in Markdown: a line for the rules that ask for one thing together."""
    names: dict[tuple[str, str], list[str]] = {}
    for rule in RULES.values():
        names.setdefault((rule.kind, rule.asks), []).append(f"`{rule.id}`")
    lines = [f"| {kind} | {', '.join(some)} | {asks} |" for (kind, asks), some in names.items()]
    return "\n".join(["| of | rule | asks |", "| --- | --- | --- |", *lines, ""])
