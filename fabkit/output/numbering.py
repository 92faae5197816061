"""Numbers, titles and stars of challenges, in the order of the booklet and the page."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fabkit.model.entry import KINDS, LEVELS, OWN_PREFIX
from fabkit.model.puzzle import Entry, PuzzleSet
from fabkit.output.i18n import load_messages
from fabkit.output.typeset import single_line
from fabkit.sets.catalog import name_starts, snowflake_names, start_names

#: The number of stars of each level.
STARS = {level: count for count, level in enumerate(LEVELS, start=1)}
#: The ids of generated starting positions.
_GENERATED = re.compile(rf"(?:{OWN_PREFIX})*(?:start|clue)-\d+")


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
    titles = titles_of(puzzle, ordered, messages)
    numbered = []
    for number, (entry, title) in enumerate(zip(ordered, titles, strict=True), start=1):
        level = entry.level if entry.level in STARS else ""
        numbered.append(NumberedChallenge(number, entry, title, level, STARS.get(level, 0)))
    return tuple(numbered)


def title_of(puzzle: PuzzleSet, entry: Entry, others: Iterable[Entry] = ()) -> str:
    """Return the English title of a challenge, for tables.

    Args:
        others: those with which a challenge that the user generated is numbered.

    Example:
        >>> from fabkit.sets.catalog import shipped_entry
        >>> from fabkit.sets.library import load_set
        >>> fridgeiq = load_set("fridgeiq")
        >>> title_of(fridgeiq, shipped_entry(fridgeiq, "even4-0057708264"))
        'Snowflake Acacia'
    """
    entries = [entry, *(other for other in others if other.challenge.id != entry.challenge.id)]
    return titles_of(puzzle, entries, load_messages("booklet", "en"))[0]


def titles_of(
    puzzle: PuzzleSet, entries: Sequence[Entry], messages: Mapping[str, str]
) -> list[str]:
    """Return the titles of challenges: their own, else one made from kind, name and number.

    Challenges of a set's catalog keep their titles in every selection.
    """
    flakes = snowflake_names(puzzle)
    for entry in entries:
        if entry.kind == "snowflake":
            flakes.setdefault(entry.challenge.id, str(len(flakes) + 1))
    starts = start_names(puzzle)
    # Those that the user generated are numbered apart.
    generated = name_starts(
        (entry.score or 0.0, entry.challenge.id, entry.level, entry.of)
        for entry in entries
        if entry.challenge.id not in starts and _GENERATED.fullmatch(entry.challenge.id)
    )
    are_apart = bool(starts)
    starts |= generated

    def by_id(name: str) -> str:
        if name in flakes:
            return messages["snowflake_title"].format(name=flakes[name])
        start = starts.get(name)
        if start and start.of:
            shape = by_id(start.of)
            return messages["start_title"].format(title=shape, letter=start.letter).rstrip()
        if start and start.level in STARS:
            return f"{messages[f'level_{start.level}']} {start.number}"
        return title_from_id(name.removeprefix(OWN_PREFIX), messages)

    def title(entry: Entry) -> str:
        challenge = entry.challenge
        own = single_line(challenge.name)
        if own and own != challenge.id:
            return own
        text = by_id(challenge.id)
        is_own = challenge.id.startswith(OWN_PREFIX) or (are_apart and challenge.id in generated)
        return messages["made_title"].format(title=text) if is_own else text

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
