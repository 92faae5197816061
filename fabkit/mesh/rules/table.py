"""The table of rules, `rules.toml`: README, help and `check.html` take their texts from it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path


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
    name: Rule(name, group["of"], title, group["text"])
    for group in tomllib.loads(Path(__file__).with_name("rules.toml").read_text("utf-8"))["asks"]
    for name, title in group["rules"].items()
}


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
