"""The parts of a fit gauge: a few drawings, made with the profile's numbers as any piece is, but for
the one that each part is there to try."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from shapely import affinity

from fabkit.base.errors import InputError
from fabkit.base.units import format_mm
from fabkit.blueprint.draft import Blueprint, draft
from fabkit.blueprint.glyphs import lettering, strokes_are_at_least
from fabkit.blueprint.printed import BlueprintError
from fabkit.model.profile import Profile
from fabkit.model.profilefile import contradictions
from fabkit.model.puzzle import PuzzleSet
from fabkit.model.setfile import read_set
from fabkit.press.gauge.values import KEY_OF_FIT, number, values_mm, with_value

#: The parts that go together, …
MATING = ("plug", "socket")
#: … and the one that holds a magnet.
CHIP = "recess"

_DRAWINGS = Path(__file__).resolve().parent / "gauge.toml"
#: The gauge has its own grid units: the smallest of these at which numbers and magnets fit.
_UNITS_MM = [quarter / 4 for quarter in range(1 * 4, 60 * 4 + 1)]
_CAP_HEIGHTS_MM = [tenth / 10 for tenth in range(10, 1001)]


@dataclass(frozen=True)
class GaugePart:
    """One part of a fit gauge.

    Attributes:
        name: different for each part, such as ``plug-0.10`` or ``recess-minus-0.05``.
        key: of the profile's setting that it tries, such as ``inset`` or ``recess.press``.
        value_mm: what it was made with in place of the profile's own.
        text: the same as it is engraved.
        blueprint: its measures; `Blueprint.piece` is the name.
    """

    name: str
    key: str
    value_mm: float
    text: str
    blueprint: Blueprint


def drawings() -> PuzzleSet:
    """What the gauge is made of, drawn as a set of its own.

    Example:
        >>> [piece.id for piece in drawings().pieces]
        ['plug', 'socket', 'recess']
    """
    return read_set(_DRAWINGS, _DRAWINGS.name)


def gauge_parts(profile: Profile) -> list[GaugePart]:
    """Drafts the fit gauge for a profile.

    Plugs and sockets differ in their inset, and hold no magnets. Chips for one magnet differ in
    the allowance of the profile's own fit (see `KEY_OF_FIT`); with fit ``none`` there are none.
    Everything else is as in the profile's pieces, but that the numbers are always engraved, just
    so large that their strokes are wide enough, that poles are not marked, and that the parts are
    as small as numbers and magnets allow.

    Args:
        profile: to be tuned.

    Returns:
        The parts by setting and value; the plug of each inset comes before its socket. Those of
        one inset share a frame: their canonical outlines meet where they go together.

    Raises:
        InputError: when the profile allows no gauge. It says what to change.

    Example:
        >>> from fabkit.model.profilefile import load_profile
        >>> parts = gauge_parts(load_profile())
        >>> [part.name for part in parts[:3]], [part.text for part in parts if part.name[0] == "r"]
        (['plug-0.00', 'socket-0.00', 'plug-0.05'], ['0.00', '0.05', '0.10', '0.15', '0.20'])
    """
    source = f"fit gauge with profile {profile.name}"
    # Whichever pole shows, it fits the same, so there is none to be marked.
    lettered = _with_numbers(replace(profile, polarity="free"), source)
    drawn = drawings()
    insets = values_mm(lettered, "inset", source)
    wishes = [_Wish(drawn, one, "inset", v) for v in insets for one in MATING]
    parts = _made(wishes, replace(lettered, fit="none"), source)
    if profile.has_recesses:
        key = KEY_OF_FIT[profile.fit]
        wishes = [_Wish(drawn, CHIP, key, v) for v in values_mm(lettered, key, source)]
        parts += _made(wishes, lettered, source)
    return parts


@dataclass(frozen=True)
class _Wish:
    """A part before it has a size."""

    drawn: PuzzleSet
    drawing: str
    key: str
    value_mm: float

    def drafted(self, profile: Profile, unit_mm: float) -> GaugePart:
        """The part, made with its own value in place of the profile's.

        Raises:
            BlueprintError: when number or magnet do not fit.
        """
        text = number(self.value_mm)
        name = f"{self.drawing}-{text.replace('-', 'minus-')}"
        piece = replace(self.drawn.piece(self.drawing), id=name, label=text)
        own = replace(with_value(profile, self.key, self.value_mm), unit_mm=unit_mm)
        return GaugePart(name, self.key, self.value_mm, text, draft(self.drawn, piece, own))

    def can_be_made(self, profile: Profile, unit_mm: float) -> bool:
        """Whether number and magnet fit."""
        try:
            return bool(self.drafted(profile, unit_mm))
        except BlueprintError:
            return False

    def smallest(self, profile: Profile, start: int) -> int:
        """The position in `_UNITS_MM`, from one on, of the smallest unit with which it can be made;
        beyond the last one when there is none."""
        if start == len(_UNITS_MM) or self.can_be_made(profile, _UNITS_MM[start]):
            return start
        return bisect_left(
            _UNITS_MM, True, lo=start, key=lambda unit_mm: self.can_be_made(profile, unit_mm)
        )


def _with_numbers(profile: Profile, source: str) -> Profile:
    """The profile with something engraved: a gauge without numbers tells nothing."""
    if profile.faces != "none":
        return profile
    lettered = replace(profile, faces="front")
    faults = list(contradictions(lettered))
    if faults:
        raise InputError(f"{source}, which needs its numbers engraved", faults)
    return lettered


def _made(wishes: Sequence[_Wish], profile: Profile, source: str) -> list[GaugePart]:
    """The parts, with the smallest grid unit with which all of them can be made."""
    texts = {number(wish.value_mm) for wish in wishes}
    sized = replace(profile, cap_height_mm=_cap_height_mm(texts, profile.stroke_mm))
    index = 0
    for wish in wishes:
        index = wish.smallest(sized, index)
    if index == len(_UNITS_MM):
        raise InputError.of(
            source,
            f"with a grid unit of {format_mm(_UNITS_MM[-1])} its parts are still too small; choose "
            "a smaller magnet.diameter, recess.wall, recess.bed_wall, label.stroke or label.margin",
        )
    return [wish.drafted(sized, _UNITS_MM[index]) for wish in wishes]


def _cap_height_mm(texts: Iterable[str], stroke_mm: float) -> float:
    """The least height at which no stroke of some texts is thinner than asked for."""
    areas = [lettering(text).polygon() for text in sorted(texts)]

    def wide_enough(height_mm: float) -> bool:
        sized = [affinity.scale(area, height_mm, height_mm, origin=(0, 0)) for area in areas]
        return all(strokes_are_at_least(area, stroke_mm) for area in sized)

    return _CAP_HEIGHTS_MM[
        bisect_left(_CAP_HEIGHTS_MM, True, hi=len(_CAP_HEIGHTS_MM) - 1, key=wide_enough)
    ]
