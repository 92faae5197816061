"""Do magnets still go into bores that the printer makes smaller?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fabkit.mesh.finding import TINY_MM
from fabkit.mesh.fitting.stack import rounded

#: PLA yields when it is stretched by more than this part (printed flat, ASTM D638, Stratasys'
#: data sheet); the rim of a bore is stretched by squeeze over diameter at most.
MAX_STRETCH = 0.015


@dataclass(frozen=True)
class MagnetFit:
    """How magnets go into the bores.

    Attributes:
        bore_mm: the least and the greatest diameter, once printed.
        squeeze_mm: by how much the magnet is wider, least and greatest; negative where it is
            loose.
        goes_in: whether it goes into the narrowest bore.
        message: a sentence.
    """

    bore_mm: tuple[float, float]
    squeeze_mm: tuple[float, float]
    goes_in: bool
    message: str

    def document(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "goes_in": self.goes_in,
            "bore_mm": [rounded(width) for width in self.bore_mm],
            "squeeze_mm": [rounded(squeeze) for squeeze in self.squeeze_mm],
            "message": self.message,
        }


def magnet_fit(bores_mm: Sequence[float], magnet_mm: float, hole_mm: float) -> MagnetFit:
    """How magnets go into bores that come out smaller than their meshes.

    Args:
        bores_mm: the diameters as measured; at least one.
        magnet_mm: the magnets' diameter.
        hole_mm: by how much a hole comes out smaller.

    Example:
        >>> magnet_fit([10.1, 10.1], 10.0, 0.2).message
        'bores come out 9.9 mm wide: the magnets are squeezed by up to 0.1 mm and go in'
        >>> magnet_fit([10.1], 10.0, 0.3).goes_in
        False
    """
    bore_mm = min(bores_mm) - hole_mm, max(bores_mm) - hole_mm
    squeeze_mm = magnet_mm - bore_mm[1], magnet_mm - bore_mm[0]
    limit_mm = MAX_STRETCH * magnet_mm
    goes_in = squeeze_mm[1] < limit_mm + TINY_MM
    low, high = (f"{width_mm:.2f}".rstrip("0").rstrip(".") for width_mm in bore_mm)
    message = f"bores come out {low if low == high else f'{low} to {high}'} mm wide: "
    if not goes_in:
        message += (
            f"the magnets, squeezed by up to {squeeze_mm[1]:.2g} mm, do not go in without "
            f"splitting the plastic, which gives {limit_mm:.2g} mm"
        )
    elif squeeze_mm[1] > TINY_MM:
        message += f"the magnets are squeezed by up to {squeeze_mm[1]:.2g} mm and go in"
    elif -squeeze_mm[0] > TINY_MM:
        message += f"the magnets go in, loose by up to {-squeeze_mm[0]:.2g} mm"
    else:
        message += "the magnets just go in"
    return MagnetFit(bore_mm, squeeze_mm, goes_in, message)
