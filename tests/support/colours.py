"""How colours look to eyes of all kinds, worked out without fabkit.

Colour-blind vision after Machado, Oliveira and Fernandes, "A Physiologically-based Model for
Simulation of Color Vision Deficiency" (2009), severity 1.0, in linear RGB; differences as CIEDE2000
(Sharma, Wu and Dalal 2005), in CIELAB under D65; contrast as WCAG 2.2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


def _matrix(text: str) -> Vector:
    return np.array([float(one) for one in text.split()]).reshape(3, 3)


VISIONS: dict[str, Vector] = {
    "usual": np.eye(3),
    "protanopia": _matrix(
        "0.152286 1.052583 -0.204868 0.114503 0.786281 0.099216 -0.003882 -0.048116 1.051998"
    ),
    "deuteranopia": _matrix(
        "0.367322 0.860646 -0.227968 0.280085 0.672501 0.047413 -0.011820 0.042940 0.968881"
    ),
    "tritanopia": _matrix(
        "1.255528 -0.076749 -0.178779 -0.078411 0.930809 0.147602 0.004733 0.691367 0.303900"
    ),
}
_TO_XYZ = _matrix(
    "0.4124564 0.3575761 0.1804375 0.2126729 0.7151522 0.0721750 0.0193339 0.1191920 0.9503041"
)
_WHITE = np.array([0.95047, 1.0, 1.08883])


def linear(colour: str) -> Vector:
    """``#rrggbb`` as light."""
    channels = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def seen(colour: str, vision: str) -> Vector:
    """The light that makes the same impression on usual eyes as a colour does on others."""
    return np.clip(VISIONS[vision] @ linear(colour), 0, 1)


def contrast_ratio(one: Vector, other: Vector) -> float:
    """Of two lights, from 1 to 21."""
    low, high = sorted(float(_TO_XYZ[1] @ light) for light in (one, other))
    return (high + 0.05) / (low + 0.05)


def lab(light: Vector) -> Vector:
    """A light in CIELAB."""
    share = _TO_XYZ @ light / _WHITE
    f = np.where(share > 216 / 24389, np.cbrt(share), (24389 / 27 * share + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def difference(one: Vector, other: Vector) -> float:
    """The difference of two colours in CIELAB by CIEDE2000."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    g = 0.5 * (1 - np.sqrt(mean**7 / (mean**7 + 25.0**7)))
    c1, c2 = np.hypot(a1 * (1 + g), b1), np.hypot(a2 * (1 + g), b2)
    h1, h2 = (np.degrees(np.arctan2(b, a * (1 + g))) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = 0.0 if c1 * c2 == 0 else (h2 - h1 + 180) % 360 - 180
    dl, dc = l2 - l1, c2 - c1
    dh = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn / 2))
    lm, cm = (l1 + l2) / 2, (c1 + c2) / 2
    hm = h1 + h2 if c1 * c2 == 0 else (h1 + turn / 2) % 360
    t = (
        1
        - 0.17 * np.cos(np.radians(hm - 30))
        + 0.24 * np.cos(np.radians(2 * hm))
        + 0.32 * np.cos(np.radians(3 * hm + 6))
        - 0.20 * np.cos(np.radians(4 * hm - 63))
    )
    sl = 1 + 0.015 * (lm - 50) ** 2 / np.sqrt(20 + (lm - 50) ** 2)
    sc, sh = 1 + 0.045 * cm, 1 + 0.015 * cm * t
    around = 60 * np.exp(-(((hm - 275) / 25) ** 2))
    rt = -2 * np.sqrt(cm**7 / (cm**7 + 25.0**7)) * np.sin(np.radians(around))
    parts = (dl / sl) ** 2 + (dc / sc) ** 2 + (dh / sh) ** 2 + rt * dc / sc * dh / sh
    return float(np.sqrt(parts))
