"""The challenges of a booklet in their order: numbers, titles for people, stars."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fabkit.model.entry import KINDS, Entry
from fabkit.model.puzzle import PuzzleSet
from fabkit.output.board import extent
from fabkit.output.typeset import printed


@dataclass(frozen=True)
class Item:
    """A challenge of a booklet.

    Attributes:
        number: its place in the booklet, from 1.
        entry: what it is.
        title: what it is called there; one line of text.
        level: how hard it is, one of those of `stars_of`; empty when that is not known.
        stars: the same as a number of stars, from 1; 0 when it is not known.
    """

    number: int
    entry: Entry
    title: str
    level: str
    stars: int


def items_of(
    puzzle: PuzzleSet, entries: Sequence[Entry], words: Mapping[str, str]
) -> tuple[Item, ...]:
    """The challenges of a booklet, the easiest first and those without a rating last.

    Args:
        puzzle: the set.
        entries: its challenges.
        words: the booklet's texts.
    """
    stars = stars_of()
    rated = sorted(
        enumerate(entries),
        key=lambda one: (
            stars.get(one[1].level, len(stars) + 1),
            math.inf if one[1].score is None else one[1].score,
            KINDS.index(one[1].kind),
            one[0],
        ),
    )
    ordered = [entry for _, entry in rated]
    titles = _titles(puzzle, ordered, words)
    return tuple(
        Item(
            number, entry, title, entry.level if entry.level in stars else "",
            stars.get(entry.level, 0),
        )
        for number, (entry, title) in enumerate(zip(ordered, titles, strict=True), start=1)
    )  # fmt: skip


def stars_of() -> dict[str, int]:
    """How many stars each level has.

    Example:
        >>> stars_of()
        {'starter': 1, 'junior': 2, 'expert': 3, 'master': 4, 'wizard': 5}
    """
    from fabkit.solve.difficulty import LEVELS

    return {name: count for count, (name, _) in enumerate(LEVELS, start=1)}


def _titles(puzzle: PuzzleSet, entries: Sequence[Entry], words: Mapping[str, str]) -> list[str]:
    """What challenges are called: by their own titles, or after their ids."""
    seen: Counter[str] = Counter()
    titles = []
    for entry in entries:
        seen[entry.kind] += 1
        own = printed(entry.title)
        if own and own != entry.id:
            titles.append(own)
        elif entry.kind == "snowflake":
            titles.append(_snowflake(puzzle, entry, seen["snowflake"], words))
        else:
            titles.append(readable(entry.id, words))
    return titles


def _snowflake(puzzle: PuzzleSet, entry: Entry, number: int, words: Mapping[str, str]) -> str:
    """The title of a symmetric shape: which of them it is, its kind and size in grid units."""
    _, _, wide, high = extent(puzzle.lattice, entry.region)
    size = f"{wide / entry.halves:g} × {high / entry.halves:g}"
    kind = f"{words[f'parity_{entry.parity}']}, {size}" if entry.parity else size
    return words["snowflake_title"].format(number=number, kind=kind)


def readable(name: str, words: Mapping[str, str]) -> str:
    """A challenge's id as a title.

    Args:
        name: the id.
        words: the booklet's texts; those called ``shape_…`` replace what they are called after.

    Example:
        >>> words = {"shape_square": "Quadrat"}
        >>> readable("square_10", words), readable("rectangle_02_b", words)
        ('Quadrat 10', 'Rectangle 2 b')
    """
    parts = [part for part in re.split(r"[-_\s]+", printed(name)) if part]
    said = [words.get(f"shape_{part.lower()}", part.lstrip("0") or part) for part in parts]
    title = " ".join(said)
    return title[:1].upper() + title[1:]


def in_order(text: str) -> list[tuple[int, int, str]]:
    """By what titles are sorted as people expect it: 2 before 10, capitals like small letters.

    Example:
        >>> sorted(["Square 10", "square 2"], key=in_order)
        ['square 2', 'Square 10']
    """
    parts = re.findall(r"[0-9]+|[^0-9]+", text)
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part.casefold()) for part in parts]
