"""The filaments that a printer holds, and which of them prints each part of a set.

A set has as many colours as it likes; a printer holds a few. The profile's key ``filaments`` is
``all`` (a filament for each colour), a number (the colours of the set that stand for the others
best are chosen), or a list of colours, each with the ids of the parts it prints, if any: the other
parts get the filament that looks nearest.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain, product

from fabkit.core.colours import contrast_ratio, difference, ink_on
from fabkit.core.documents import COLOUR, Validator
from fabkit.core.errors import InputError, nearest, quote
from fabkit.model.puzzle import LID_SUFFIX, PuzzleSet
from fabkit.profiles.profile import ALL_FILAMENTS, PRUSASLICER, Profile

#: The greatest number of filaments: four units of four.
MAX_FILAMENTS = 16
#: The least contrast of a letter with its piece (WCAG 2.2, for large texts and graphics).
LEAST_CONTRAST = 3.0
#: The cost of a filament on which no other one makes a readable letter: more than any difference.
_UNREADABLE = 10_000.0
#: Between the tower that the slicer purges into and the edge of its corner: 2 mm of brim, and half
#: a line on each side of it.
TOWER_MARGIN_MM = 2.5
#: How much PrusaSlicer purges into the tower for each change of filament: with its defaults 26 mm
#: of a tower 35 mm wide, in a layer of 0.2 mm (measured with 2.5).
_PURGED_MM3 = 185.0
#: The same for OrcaSlicer and Bambu Studio, whose printers purge elsewhere (``prime_volume``).
_PRIMED_MM3 = 45.0
_EXAMPLE = 'such as 4, "all" or ["#ffffff", "#d62728: A B"]'


def parse_filaments(text: str) -> dict[str, tuple[str, ...]]:
    """Return the colours of a list of filaments, and the ids of the parts that each prints; none
    for ``all`` or a number.

    Example:
        >>> parse_filaments("#ffffff, #d62728: A B")
        {'#ffffff': (), '#d62728': ('A', 'B')}
        >>> parse_filaments("4")
        {}
    """
    if "#" not in text:
        return {}
    stated = (entry.partition(":") for entry in text.split(","))
    return {colour.strip(): tuple(ids.split()) for colour, _, ids in stated}


def _read(value: object) -> str:
    """Read the key: a number, ``all``, or colours as a list or separated by commas."""
    if value == ALL_FILAMENTS:
        return ALL_FILAMENTS
    digits = str(value).strip() if isinstance(value, int | str) else ""
    if digits.isdecimal() and not isinstance(value, bool):
        count = int(digits[:9])
        if not 1 <= count <= MAX_FILAMENTS:
            raise ValueError(
                f"is {count}; expected 1 to {MAX_FILAMENTS}, or {quote(ALL_FILAMENTS)}"
            )
        return str(count)
    entries = value.split(",") if isinstance(value, str) and "#" in value else value
    if not isinstance(entries, list) or not entries:
        raise ValueError(f"expected a number, colours or {quote(ALL_FILAMENTS)}, {_EXAMPLE}")
    if len(entries) > MAX_FILAMENTS:
        raise ValueError(f"lists {len(entries)} colours; the greatest number is {MAX_FILAMENTS}")
    read = dict[str, str]()
    for entry in entries:
        colour, _, ids = entry.partition(":") if isinstance(entry, str) else ("", "", "")
        colour = COLOUR.read(colour.strip() or entry)
        if colour in read:
            raise ValueError(f"names {colour} twice; name the parts of a filament together")
        read[colour] = f"{colour}: {' '.join(ids.split())}".rstrip(": ")
    return ", ".join(read.values())


_COLOUR_SCHEMA = {"type": "string", "pattern": "^#[0-9a-fA-F]{6}(:.*)?$"}
#: Reads the value of ``filaments``.
FILAMENTS = Validator(
    _read,
    f"a number, colours or {quote(ALL_FILAMENTS)}",
    {
        "anyOf": [
            {"const": ALL_FILAMENTS},
            {"type": "integer", "minimum": 1, "maximum": MAX_FILAMENTS},
            {"type": "array", "items": _COLOUR_SCHEMA, "minItems": 1, "maxItems": MAX_FILAMENTS},
            {"type": "string"},
        ]
    },
)


@dataclass(frozen=True)
class Filaments:
    """The filaments with which a set is printed.

    Attributes:
        colours: of each, the first being number 1; empty if parts keep their colours, and the
            slicer gets the bodies as extruder 1, whatever their colours, and their inlays as 2 and
            more.
        by_id: the colours of the parts whose filament the profile states.
        letter: the preferred colour of letters.
    """

    colours: tuple[str, ...]
    by_id: Mapping[str, str]
    letter: str

    def body(self, part_id: str, colour: str) -> str:
        """Return the colour in which a part is printed."""
        if not self.colours:
            return colour
        return self.by_id.get(part_id) or min(
            self.colours, key=lambda filament: difference(filament, colour)
        )

    def letter_on(self, below: str) -> str:
        """Return the colour of a letter inlaid in a printed colour: the preferred one if readable
        there, else the one with the most contrast."""

        def preference(filament: str) -> tuple[bool, float]:
            contrast = contrast_ratio(filament, below)
            return filament == self.letter and contrast >= LEAST_CONTRAST, contrast

        return max(self.colours, key=preference) if self.colours else self.letter

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each filament, from 1, by colour."""
        return {colour: number for number, colour in enumerate(self.colours, start=1)}


def filaments_for(puzzle: PuzzleSet, profile: Profile) -> Filaments:
    """Return the filaments with which a set is printed with a profile.

    Raises:
        InputError: when the profile names parts that the set does not have, or one part twice, or
            has fewer than two filaments for letters.
    """
    ids_by_colour = parse_filaments(profile.filaments)
    by_id = {part_id: colour for colour, ids in ids_by_colour.items() for part_id in ids}
    _refuse_unknown(puzzle, profile, [*chain(*ids_by_colour.values())])
    is_all = profile.filaments == ALL_FILAMENTS
    colours = tuple(ids_by_colour)
    if not colours and not (is_all and profile.slicer == PRUSASLICER):
        bodies = _colours_of(puzzle, profile)
        letter = profile.letter_colour if profile.has_inlays else ""
        count = len(bodies) if is_all else int(profile.filaments)
        colours = _choose(tuple(bodies.items()), count, letter, is_all)
    filaments = Filaments(colours, by_id, profile.letter_colour)
    if fault := _fault(puzzle, profile, filaments):
        raise InputError.of(f"profile {profile.name}", fault, "filaments")
    return filaments


def _fault(puzzle: PuzzleSet, profile: Profile, filaments: Filaments) -> str:
    """Return why a set cannot be printed with some filaments; empty if it can."""
    colours = filaments.colours
    if len(colours) > MAX_FILAMENTS:
        return (
            f"would be {len(colours)}, one for each colour, and printers hold at most "
            f"{MAX_FILAMENTS}; choose a number, such as 4"
        )
    is_coloured = profile.has_inlays or profile.tones != "plain"
    if len(colours) == 1 and is_coloured:
        return (
            "is a single colour, and what is inlaid needs a second one; choose 2 or more, or "
            "label.inlay none, board.text engraved and cell.tones plain"
        )
    if not (colours and profile.inlay != "none"):
        return ""
    bodies = (filaments.body(piece.id, piece.colour) for piece in puzzle.pieces)
    unreadable = [
        body for body in bodies if contrast_ratio(filaments.letter_on(body), body) < LEAST_CONTRAST
    ]
    if not unreadable:
        return ""
    lack = f"has no colour in which a letter can be read on {unreadable[0]}"
    return f"{lack}; add a lighter or darker one"


def _refuse_unknown(puzzle: PuzzleSet, profile: Profile, named: Sequence[str]) -> None:
    boards = [board.id + ending for board in puzzle.boards for ending in ("", LID_SUFFIX)]
    known = [*(piece.id for piece in puzzle.pieces), *boards]
    twice = [part_id for part_id, count in Counter(named).items() if count > 1]
    unknown = [part_id for part_id in named if part_id not in known]
    if twice:
        problem = f"names {quote(twice[0])} twice; name each part once"
    elif unknown:
        near = nearest(unknown[0], known)
        advice = f"did you mean {quote(near)}?" if near else f"choose from {' '.join(known)}"
        problem = f"names {quote(unknown[0])}, which {puzzle.name} does not have; {advice}"
    else:
        return
    raise InputError.of(f"profile {profile.name}", problem, "filaments")


def _colours_of(puzzle: PuzzleSet, profile: Profile) -> dict[str, int]:
    """Return the colours of a set's bodies and tones, and how many parts have each."""
    colours = Counter[str]()
    for piece in puzzle.pieces:
        colours[piece.colour] += piece.copies
        if piece.tones and profile.tones != "plain":
            colours[piece.tone] += piece.copies
    if made := puzzle.boards_to_make(profile.boards_made):
        colours[profile.board_colour] += len(made)
    return dict(colours)


@lru_cache(maxsize=64)
def _choose(
    parts_by_colour: tuple[tuple[str, int], ...], count: int, letter: str, all_colours: bool
) -> tuple[str, ...]:
    """Choose filaments among some colours and inks for letters on them: a swap of one for another
    would bring no part nearer to its colour ("partitioning around medoids"; Kaufman and Rousseeuw).

    Args:
        parts_by_colour: the colours, and how many parts have each.
        letter: the preferred colour of letters; empty for no letters.
        all_colours: whether all of the colours are chosen, and the inks in addition.
    """
    bodies = dict(parts_by_colour)
    inks = list[str]()
    if letter:
        readable = [contrast_ratio(letter, body) >= LEAST_CONTRAST for body in bodies]
        inks = [letter] * any(readable)
        inks += [ink_on(body) for body, fits in zip(bodies, readable, strict=True) if not fits]
    candidates = tuple(dict.fromkeys([*bodies, *inks]))
    if all_colours or count >= len(candidates):
        return candidates

    def cost(chosen: Sequence[str]) -> float:
        total = 0.0
        for body, parts in bodies.items():
            filament = min(chosen, key=lambda colour: difference(colour, body))
            total += parts * difference(filament, body)
            if letter and max(contrast_ratio(filament, ink) for ink in chosen) < LEAST_CONTRAST:
                total += _UNREADABLE
        return total

    chosen = list[str]()
    while len(chosen) < count:
        others = [colour for colour in candidates if colour not in chosen]
        chosen.append(min(others, key=lambda colour: cost([*chosen, colour])))
    while (better := min(_swaps(chosen, candidates), key=cost)) and cost(better) < cost(chosen):
        chosen = better
    return tuple(colour for colour in candidates if colour in chosen)


def _swaps(chosen: Sequence[str], candidates: Sequence[str]) -> Iterator[list[str]]:
    """Yield the choices that differ from one by one colour."""
    others = [colour for colour in candidates if colour not in chosen]
    for index, other in product(range(len(chosen)), others):
        yield [*chosen[:index], other, *chosen[index + 1 :]]


def in_own_colours(profile: Profile) -> Profile:
    """Return a profile with which the parts of a set keep their colours, as in pictures."""
    return replace(profile, filaments=ALL_FILAMENTS, slicer=PRUSASLICER)


def filament_count(profile: Profile) -> int:
    """Return the number of filaments that a profile states; 0 for all."""
    stated = parse_filaments(profile.filaments)
    return len(stated) or int(profile.filaments.replace(ALL_FILAMENTS, "0"))


def may_mix_filaments(profile: Profile) -> bool:
    """Return whether parts on one plate may be printed with different filaments."""
    if profile.plate_colours == "single":
        return False
    if profile.filaments == ALL_FILAMENTS:
        return profile.slicer != PRUSASLICER
    return filament_count(profile) > 1


def is_coloured(profile: Profile) -> bool:
    """Return whether a plate has several colours, which takes a tower to purge into."""
    return profile.has_inlays or profile.tones != "plain" or may_mix_filaments(profile)


def tower_side_mm(profile: Profile) -> float:
    """Return the side of the square corner reserved for the tower on a coloured plate: as in the
    profile, or more if all its filaments are purged there in one layer; 0 for none."""
    if profile.filaments == ALL_FILAMENTS and profile.slicer == PRUSASLICER:
        return profile.tower_mm
    changes = (filament_count(profile) or MAX_FILAMENTS) - 1
    purged_mm3 = changes * (_PURGED_MM3 if profile.slicer == PRUSASLICER else _PRIMED_MM3)
    least_mm = math.ceil(2 * TOWER_MARGIN_MM + math.sqrt(purged_mm3 / profile.layer_mm))
    return max(profile.tower_mm, least_mm) if profile.tower_mm else 0.0
