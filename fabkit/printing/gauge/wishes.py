"""What a gauge's parts are before they have a size, and how large they become."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from shapely import affinity

from fabkit.core.errors import Fault, InputError
from fabkit.core.units import format_mm
from fabkit.drawing.drawn import Drawn
from fabkit.drawing.glyphs import lettering, strokes_are_at_least
from fabkit.drawing.printed import BlueprintError
from fabkit.model.profile import Profile
from fabkit.printing.gauge.values import number, with_value

#: The gauge has its own grid units: the smallest of these at which numbers and magnets fit.
_UNITS_MM = [quarter / 4 for quarter in range(1 * 4, 60 * 4 + 1)]
#: What does not fit with this one does not fit with any.
LARGEST_UNIT_MM = _UNITS_MM[-1]
_CAP_HEIGHTS_MM = [tenth / 10 for tenth in range(10, 1001)]


@dataclass(frozen=True)
class GaugePart:
    """One part of a fit gauge.

    Attributes:
        name: different for each part, such as ``plug-0.10`` or ``recess-minus-0.05``.
        key: of the profile's setting that it tries, such as ``inset`` or ``recess.press``.
        value_mm: what it was made with in place of the profile's own; None for a part without a
            number, which is laid into all those that have one.
        text: the same as it is engraved; empty without.
        blueprint: its measures; `Drawn.piece` is the name.
    """

    name: str
    key: str
    value_mm: float | None
    text: str
    blueprint: Drawn


@dataclass(frozen=True)
class Wish:
    """A part before it has a size.

    Attributes:
        drawing: what its name begins with.
        key: of the setting that it tries.
        value_mm: what it tries; None for a part without a number.
        draw: drafts it with a profile, whose value and unit are its own by then. It is given the
            part's name and the text to engrave.
    """

    drawing: str
    key: str
    value_mm: float | None
    draw: Callable[[Profile, str, str], Drawn]

    @property
    def text(self) -> str:
        """What is engraved; empty for a part without a number."""
        return "" if self.value_mm is None else number(self.value_mm)

    def drafted(self, profile: Profile, unit_mm: float) -> GaugePart:
        """The part, made with its own value in place of the profile's.

        Args:
            profile: gives every other length.
            unit_mm: the gauge's own grid unit.

        Raises:
            BlueprintError: when it cannot be made like that.
        """
        name, own = self.drawing, replace(profile, unit_mm=unit_mm)
        if self.value_mm is not None:
            name = f"{self.drawing}-{self.text.replace('-', 'minus-')}"
            own = with_value(own, self.key, self.value_mm)
        drawn = self.draw(own, name, self.text)
        return GaugePart(name, self.key, self.value_mm, self.text, drawn)

    def _can_be_made(self, profile: Profile, unit_mm: float) -> bool:
        """Whether number and magnet fit."""
        try:
            return bool(self.drafted(profile, unit_mm))
        except BlueprintError:
            return False

    def smallest(self, profile: Profile, start: int) -> int:
        """The position in `_UNITS_MM`, from one on, of the smallest unit with which it can be made;
        beyond the last one when there is none."""
        if start == len(_UNITS_MM) or self._can_be_made(profile, _UNITS_MM[start]):
            return start
        return bisect_left(
            _UNITS_MM, True, lo=start, key=lambda unit_mm: self._can_be_made(profile, unit_mm)
        )


def made(wishes: Sequence[Wish], profile: Profile, source: str) -> list[GaugePart]:
    """The parts, with the smallest grid unit with which all of them can be made.

    Args:
        wishes: of one setting.
        profile: gives every length but cap height and unit.
        source: what messages call the gauge.

    Raises:
        InputError: when there is no such unit.
    """
    sized = _with_cap_height(wishes, profile)
    index = 0
    for wish in wishes:
        index = wish.smallest(sized, index)
    if index == len(_UNITS_MM):
        raise InputError.of(
            source,
            f"with a grid unit of {format_mm(LARGEST_UNIT_MM)} its parts are still too small; choose "
            "a smaller magnet.diameter, recess.wall, recess.bed_wall, label.stroke or label.margin",
        )
    return [wish.drafted(sized, _UNITS_MM[index]) for wish in wishes]


def made_with_unit(
    wishes: Sequence[Wish], profile: Profile, unit_mm: float, source: str
) -> list[GaugePart]:
    """The parts, with a grid unit that is given.

    Args:
        wishes: of one setting.
        profile: gives every length but cap height and unit.
        unit_mm: the grid unit.
        source: what messages call the gauge.

    Raises:
        InputError: with every part that cannot be made.
    """
    sized = _with_cap_height(wishes, profile)
    parts, faults = [], []
    for wish in wishes:
        try:
            parts.append(wish.drafted(sized, unit_mm))
        except BlueprintError as fault:
            faults.append(Fault(wish.drawing, str(fault)))
    if faults:
        raise InputError(source, list(dict.fromkeys(faults)))
    return parts


def _with_cap_height(wishes: Sequence[Wish], profile: Profile) -> Profile:
    texts = {wish.text for wish in wishes} - {""}
    return replace(profile, cap_height_mm=_cap_height_mm(texts, profile.stroke_mm))


def _cap_height_mm(texts: Iterable[str], stroke_mm: float) -> float:
    """The least height at which no stroke of some texts is thinner than asked for."""
    areas = [lettering(text).polygon() for text in sorted(texts)]

    def wide_enough(height_mm: float) -> bool:
        sized = [affinity.scale(area, height_mm, height_mm, origin=(0, 0)) for area in areas]
        return all(strokes_are_at_least(area, stroke_mm) for area in sized)

    return _CAP_HEIGHTS_MM[
        bisect_left(_CAP_HEIGHTS_MM, True, hi=len(_CAP_HEIGHTS_MM) - 1, key=wide_enough)
    ]
