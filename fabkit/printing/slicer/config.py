"""A user's own print configuration, as PrusaSlicer exports it (File > Export > Export Config)."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabkit.core.errors import ErrorList, InputError, escape, quote
from fabkit.core.parsing import read_text
from fabkit.core.units import format_mm
from fabkit.printing.slicer.settings import parse_settings
from fabkit.printing.slicer.verdict import Bed
from fabkit.profiles.profile import Profile

#: Larger files are no configuration.
_MAX_BYTES = 1024 * 1024
#: Keys that every exported configuration has.
_NEEDED = ("layer_height", "first_layer_height", "nozzle_diameter", "bed_shape", "max_print_height")
#: Layers of these heights (mm) are the same.
_SAME_MM = 1e-4
_EXPECTED = (
    "a configuration exported by PrusaSlicer for one printer (File > Export > Export Config)"
)
#: The heights that depths and pauses are rounded to, and the profile's keys and attributes of them.
_LAYERS = {
    "layer_height": ("layers.height", "layer_mm"),
    "first_layer_height": ("layers.first", "first_layer_mm"),
}
#: What a filament of the profile is called in a configuration: the first of each list counts.
_FILAMENT = {
    "filament_density": "filament_density",
    "filament_diameter": "filament_diameter_mm",
    "filament_cost": "filament_price",
}


@dataclass(frozen=True)
class PrinterConfig:
    """A print configuration.

    Attributes:
        name: the name of its file, for people.
        text: what PrusaSlicer loads.
        bed: of its printer.
        nozzles: number of extruders.
        filament: density, diameter, price and material of the first filament, where stated, by
            attributes of `Profile`.
    """

    name: str
    text: str
    bed: Bed
    nozzles: int
    filament: dict[str, Any]

    def document(self) -> dict[str, Any]:
        """Return what reports record of it."""
        sha256 = hashlib.sha256(self.text.encode()).hexdigest()
        return {"file": self.name, "sha256": sha256, "filament": self.filament}


def read_config(path: Path, profile: Profile) -> PrinterConfig:
    """Read a configuration, to slice plates with the layers of a profile.

    Raises:
        InputError: when it cannot be read, is none, is a bundle of several, or has other layers.
    """
    source = escape(str(path))
    text = read_text(path, source, _EXPECTED, _MAX_BYTES)
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("["):
            raise InputError.of(
                source, f"line {number} begins a section, {quote(line)}, as in a bundle of several "
                f"configurations; expected {_EXPECTED}"
            )  # fmt: skip
        if line.strip() and not line.startswith(("#", ";")) and "=" not in line:
            raise InputError.of(
                source, f"line {number} is {quote(line)}; expected key = value, as in {_EXPECTED}"
            )
    values = parse_settings(text)
    if (technology := values.get("printer_technology", "FFF")) != "FFF":
        message = f"is {quote(technology)}; expected FFF, a printer of filament"
        raise InputError.of(source, message, "printer_technology")
    if missing := [key for key in _NEEDED if key not in values]:
        raise InputError.of(source, f"has no {', '.join(missing)}; expected {_EXPECTED}")
    return _Reader(source, values).config(path.name, text, profile)


class _Reader:
    """Reads the values that fabkit needs, and collects all errors."""

    def __init__(self, source: str, values: dict[str, str]) -> None:
        self._values = values
        self._errors = ErrorList(source)

    def config(self, name: str, text: str, profile: Profile) -> PrinterConfig:
        for key, (profile_key, attribute) in _LAYERS.items():
            height_mm, own_mm = self._number(key), getattr(profile, attribute)
            if abs(height_mm - own_mm) > _SAME_MM:
                self._errors.add(
                    key,
                    f"is {format_mm(height_mm, 3)}, and the profile has layers of {format_mm(own_mm, 3)}, "
                    f'to which depths and pauses are rounded; add -s "{profile_key}={height_mm:g} mm"',
                )
        bed = Bed(self._corners(), self._number("max_print_height"), escape(name))
        nozzles = len(self._values["nozzle_diameter"].split(","))
        filament: dict[str, Any] = {
            attribute: value
            for key, attribute in _FILAMENT.items()
            if key in self._values and (value := self._number(key)) > 0
        }
        if material := self._values.get("filament_type", "").split(";")[0]:
            filament["filament"] = escape(material)[:40]
        self._errors.raise_if_any()
        return PrinterConfig(name, text, bed, nozzles, filament)

    def _number(self, key: str) -> float:
        """Return the first number of a list; NaN after an error."""
        text = self._values[key].split(",")[0]
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not 0 <= number < math.inf:
            self._errors.add(key, f"is {quote(text)}; expected a number, 0 or more")
            return math.nan
        return number

    def _corners(self) -> tuple[tuple[float, float], ...]:
        text = self._values["bed_shape"]
        try:
            corners = [tuple(map(float, corner.split("x"))) for corner in text.split(",")]
        except ValueError:
            corners = []
        if len(corners) < 3 or any(len(corner) != 2 for corner in corners):
            self._errors.add(
                "bed_shape", f"is {quote(text)}; expected corners such as 0x0,250x0,250x210,0x210"
            )
        return tuple((corner[0], corner[-1]) for corner in corners)
