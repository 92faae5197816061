"""Parse and format lengths and angles. Input is converted once; internally lengths are millimetres
and angles degrees."""

from __future__ import annotations

import math
import re
from fractions import Fraction

from fabkit.core.errors import quote

#: Millimetres per unit.
MM_PER_UNIT = {
    "mm": Fraction(1),
    "cm": Fraction(10),
    "um": Fraction(1, 1000),
    "µm": Fraction(1, 1000),  # the micro sign
    "μm": Fraction(1, 1000),  # the Greek letter mu, which looks the same
    "in": Fraction(254, 10),
}
_NUMBER = r"\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))\s*"
#: A regular expression for a length with its unit.
LENGTH_PATTERN = rf"{_NUMBER}({'|'.join(MM_PER_UNIT)})\s*"
_LONGEST = 40
_DIGITS = 6  # nanometres: values survive a round trip exactly
#: Larger numbers are refused.
MAX_MAGNITUDE = 1e9


def _match(value: object, unit: str) -> tuple[Fraction, str] | None:
    """Split a string into number and unit; None when it is not ``number unit``."""
    if not isinstance(value, str) or len(value) > _LONGEST:
        return None
    match = re.fullmatch(rf"{_NUMBER}({unit})\s*", value)
    return (Fraction(match[1]), match[2]) if match else None


def parse_length_mm(text: object) -> float:
    """Parse a length with its unit into millimetres; ValueError explains what is wrong.

    Example:
        >>> parse_length_mm("20 mm"), parse_length_mm("0.5in"), parse_length_mm("150 um")
        (20.0, 12.7, 0.15)
    """
    is_number = isinstance(text, int | float) and not isinstance(text, bool)
    if is_number and abs(text) <= MAX_MAGNITUDE:  # type: ignore[arg-type]
        raise ValueError(f'a length needs its unit: "{quote(text)} mm" instead of {quote(text)}')
    match = _match(text, "[a-zA-Zµμ]*")
    if match is None:
        raise ValueError(f'expected a length such as "20 mm", found {quote(text)}')
    number, unit = match
    if not unit:
        bare = str(text).strip()
        raise ValueError(f'a length needs its unit: "{bare} mm" instead of "{bare}"')
    if unit not in MM_PER_UNIT:
        units = ", ".join(dict.fromkeys(unit.replace("μ", "µ") for unit in MM_PER_UNIT))
        raise ValueError(f"unknown unit {quote(unit)} in {quote(text)}; known units are {units}")
    return float(round(number * MM_PER_UNIT[unit], _DIGITS))


def format_mm(value_mm: float, digits: int = 3) -> str:
    """Format a length without trailing zeros.

    Example:
        >>> format_mm(20.0), format_mm(0.1), format_mm(1.8249999)
        ('20 mm', '0.1 mm', '1.825 mm')
    """
    if not math.isfinite(value_mm):
        return "no length"
    return f"{format_number(value_mm, digits)} mm"


def parse_degrees(text: object) -> float:
    """Parse an angle with its unit, such as ``45 deg`` or ``52.5°``; see `parse_length_mm`."""
    match = _match(text, "deg|°")
    if match is None:
        raise ValueError(f'expected an angle such as "45 deg", found {quote(text)}')
    return float(round(match[0], _DIGITS))


def format_degrees(value: float) -> str:
    """Format an angle without trailing zeros."""
    return f"{format_number(value)} deg"


def parse_number(value: object) -> float:
    """Parse a number without a unit, given as a number or a string; see `parse_length_mm`."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if abs(value) <= MAX_MAGNITUDE else math.inf * (1 if value > 0 else -1)
    match = _match(value, "")
    if match is None:
        raise ValueError(f"expected a number such as 25 or 0.5, found {quote(value)}")
    return float(round(match[0], _DIGITS))


def format_number(value: float, digits: int = _DIGITS) -> str:
    """Format a number with at most so many digits after its point, without trailing zeros.

    Example:
        >>> format_number(1.25), format_number(100.0), format_number(-0.0001, 3)
        ('1.25', '100', '0')
    """
    text = f"{value:.{digits}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def format_duration(seconds: float | None) -> str:
    """Format a duration; a question mark when unknown.

    Example:
        >>> format_duration(29554), format_duration(95)
        ('8 h 13 min', '2 min')
    """
    if seconds is None:
        return "?"
    if seconds < 60:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
