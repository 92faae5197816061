"""Colours (``#rrggbb``): their channels, contrast and difference."""

from __future__ import annotations

from colorsys import rgb_to_hls

#: The names of colours around the wheel: up to which hue in degrees each goes, and what it is
#: called when it is dark, as it is, and when it is light.
HUES = (
    (15, "red", "red", "pink"),
    (44, "brown", "orange", "beige"),
    (68, "olive", "yellow", "yellow"),
    (165, "green", "green", "green"),
    (195, "turquoise", "turquoise", "turquoise"),
    (245, "blue", "blue", "blue"),
    (322, "purple", "purple", "purple"),
    (345, "red", "pink", "pink"),
    (360, "red", "red", "pink"),
)
#: The lightness up to which a colour is dark, and from which it is light.
_DARK, _PALE = 0.45, 0.72
#: The difference between the channels below which a colour has no hue.
_GREYISH = 0.1
#: The lightness from which a colour without a hue is grey, and white.
_GREY, _WHITE = 0.15, 0.85


def rgb(colour: str) -> tuple[float, ...]:
    """Return the channels of ``#rrggbb``, from 0 to 1."""
    return tuple(channel / 255 for channel in bytes.fromhex(colour[1:]))


def contrast_ratio(first: str, second: str) -> float:
    """Return the contrast ratio of two colours (``#rrggbb``), from 1 to 21 (WCAG 2.2).

    Example:
        >>> contrast_ratio("#ffffff", "#000000")
        21.0
    """
    low, high = sorted((_luminance(first), _luminance(second)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    """Return the relative luminance of an sRGB colour, from 0 to 1 (WCAG 2.2)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def ink_on(colour: str) -> str:
    """Return black or white, whichever contrasts more with a colour (``#rrggbb``).

    Example:
        >>> ink_on("#f0e442"), ink_on("#0072b2")
        ('#000000', '#ffffff')
    """
    return max(("#000000", "#ffffff"), key=lambda ink: contrast_ratio(ink, colour))


def difference(first: str, second: str) -> float:
    """Return how different two colours look, from 0 to about 765: the "redmean" distance, which
    weighs the channels by the mean of red (CompuPhase, "Colour metric").

    Example:
        >>> difference("#dc0a28", "#960a0a") < difference("#dc0a28", "#1078e8")
        True
    """
    (r, g, b), (red, green, blue) = (bytes.fromhex(colour[1:]) for colour in (first, second))
    weight = (r + red) / 512
    squares = (2 + weight) * (r - red) ** 2, 4 * (g - green) ** 2, (3 - weight) * (b - blue) ** 2
    return float(sum(squares) ** 0.5)


def basic_colour(colour: str) -> str:
    """Return the basic name of a colour (``#rrggbb``), one of `HUES`, black, grey or white.

    Example:
        >>> [basic_colour(colour) for colour in ("#0072b2", "#f0e442", "#aa7722", "#778888")]
        ['blue', 'yellow', 'brown', 'grey']
    """
    channels = rgb(colour)
    hue, lightness, _ = rgb_to_hls(*channels)
    if max(channels) - min(channels) < _GREYISH:
        return "black" if lightness < _GREY else "grey" if lightness < _WHITE else "white"
    names = next(names for limit, *names in HUES if 360 * hue <= limit)
    return names[(lightness >= _DARK) + (lightness >= _PALE)]
