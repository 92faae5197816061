"""Entries with other contents, whichever part of them holds it."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from fabkit.model.puzzle import Challenge, Entry, Result


def altered(entry: Entry, **changes: Any) -> Entry:
    """An entry with other attributes of its own, of its challenge or of its result."""
    parts: list[dict[str, Any]] = []
    for part in (Challenge, Result):
        names = {field.name for field in fields(part)} & changes.keys()
        parts.append({name: changes.pop(name) for name in names})
    of_challenge, of_result = parts
    challenge = replace(entry.challenge, **of_challenge)
    return replace(entry, challenge=challenge, **changes).with_result(**of_result)
