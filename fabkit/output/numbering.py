"""Numbers, titles and stars of challenges, in the order of the booklet and the page."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fabkit.model.catalog import snowflake_numbers
from fabkit.model.entry import KINDS, LEVELS, OWN_PREFIX
from fabkit.model.puzzle import Entry, PuzzleSet
from fabkit.output.typeset import single_line

#: The number of stars of each level.
STARS = {level: count for count, level in enumerate(LEVELS, start=1)}


@dataclass(frozen=True)
class NumberedChallenge:
    """A challenge in the booklet or on the page.

    Attributes:
        number: its place, from 1.
        title: one line of text.
        level: one of `fabkit.model.entry.LEVELS`; empty when not rated.
        stars: the level as a number of stars, from 1; 0 when not rated.
    """

    number: int
    entry: Entry
    title: str
    level: str
    stars: int


def number_challenges(
    puzzle: PuzzleSet, entries: Sequence[Entry], messages: Mapping[str, str]
) -> tuple[NumberedChallenge, ...]:
    """Number the challenges, the easiest first and unrated ones last."""

    def difficulty(entry: Entry) -> tuple[int, float, int]:
        score = math.inf if entry.score is None else entry.score
        return STARS.get(entry.level, len(STARS) + 1), score, KINDS.index(entry.kind)

    ordered = sorted(entries, key=difficulty)
    titles = _titles(puzzle, ordered, messages)
    numbered = []
    for number, (entry, title) in enumerate(zip(ordered, titles, strict=True), start=1):
        level = entry.level if entry.level in STARS else ""
        numbered.append(NumberedChallenge(number, entry, title, level, STARS.get(level, 0)))
    return tuple(numbered)


def _titles(puzzle: PuzzleSet, entries: Sequence[Entry], messages: Mapping[str, str]) -> list[str]:
    """Return the titles of challenges: their own, else one made from kind and number.

    Snowflakes of a set's catalog are numbered by difficulty and keep their numbers in every
    selection.
    """
    numbers = snowflake_numbers(puzzle)
    for entry in entries:
        if entry.kind == "snowflake":
            numbers.setdefault(entry.challenge.id, len(numbers) + 1)

    def by_id(name: str) -> str:
        if name in numbers:
            return messages["snowflake_title"].format(number=numbers[name])
        return title_from_id(name, messages)

    def title(entry: Entry) -> str:
        own = single_line(entry.challenge.name)
        if own and own != entry.challenge.id:
            return own
        name = entry.challenge.id.removeprefix(OWN_PREFIX)
        if name != entry.challenge.id:
            return messages["made_title"].format(title=by_id(name))
        return by_id(entry.challenge.id) + (f": {by_id(entry.of)}" if entry.of else "")

    return [title(entry) for entry in entries]


def title_from_id(name: str, messages: Mapping[str, str]) -> str:
    """Turn a challenge's id into a title; messages ``shape_…`` translate its parts.

    Example:
        >>> messages = {"shape_square": "Quadrat"}
        >>> title_from_id("square_10", messages), title_from_id("rectangle_02_b", messages)
        ('Quadrat 10', 'Rectangle 2 b')
    """
    parts = [part for part in re.split(r"[-_\s]+", single_line(name)) if part]
    words = [messages.get(f"shape_{part.lower()}", part.lstrip("0") or part) for part in parts]
    title = " ".join(words)
    return title[:1].upper() + title[1:]
