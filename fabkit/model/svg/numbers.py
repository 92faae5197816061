"""Numbers and lengths as SVG writes them."""

from __future__ import annotations

import re

from fabkit.core.errors import shown
from fabkit.model.svg.fault import SvgError

#: A number of SVG, without ``nan`` and ``inf``, which it does not know either.
NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
#: No sane drawing has larger ones.
LARGEST = 1e7
#: Millimetres in one of each absolute unit of CSS; a plain number is in pixels.
MM_PER_UNIT = {
    "": 25.4 / 96,
    "px": 25.4 / 96,
    "mm": 1.0,
    "cm": 10.0,
    "q": 0.25,
    "in": 25.4,
    "pt": 25.4 / 72,
    "pc": 25.4 / 6,
}

_LENGTH = re.compile(rf"\s*({NUMBER})\s*([A-Za-z%]*)\s*")
_NEXT = re.compile(rf"\s*,?\s*({NUMBER})")


def number(text: str) -> float:
    """A number that `NUMBER` matches.

    Raises:
        SvgError: when it is larger than any drawing.
    """
    value = float(text)
    if not abs(value) <= LARGEST:
        raise SvgError(f"holds the number {shown(text)}, which is too large")
    return value


def numbers(text: str) -> list[float]:
    """All numbers of a list with commas or blanks.

    Raises:
        SvgError: when there is something else in it.

    Example:
        >>> numbers("0,0 -1.5e1-2")
        [0.0, 0.0, -15.0, -2.0]
    """
    found, position = [], 0
    while match := _NEXT.match(text, position):
        found.append(number(match[1]))
        position = match.end()
    if text[position:].strip():
        rest = shown(text[position : position + 20].strip())
        raise SvgError(f"holds {rest} where numbers are expected")
    return found


def length_mm(text: str) -> float | None:
    """A length on paper; None when it depends on something else, as ``100%`` does.

    Raises:
        SvgError: when it is no length at all.

    Example:
        >>> length_mm("60mm"), length_mm("96"), length_mm("100%")
        (60.0, 25.4, None)
    """
    match = _LENGTH.fullmatch(text)
    if match is None:
        raise SvgError(f"holds {shown(text)} where a length such as 60mm is expected")
    per_unit = MM_PER_UNIT.get(match[2].lower())
    return None if per_unit is None else number(match[1]) * per_unit


def user_units(text: str) -> float:
    """A coordinate in user units, of which a plain number is one.

    Raises:
        SvgError: when it is none, or depends on something else.

    Example:
        >>> user_units("12"), round(user_units("25.4mm"), 9)
        (12.0, 96.0)
    """
    length = length_mm(text)
    if length is None:
        raise SvgError(f"holds {shown(text)} where a number is expected")
    return length / MM_PER_UNIT[""]
