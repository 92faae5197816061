"""A print configuration for PrusaSlicer: fabkit's own settings, and those of a profile."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path

from fabkit.mesh.plastic import Filling
from fabkit.profiles.filaments import TOWER_MARGIN_MM, tower_side_mm
from fabkit.profiles.profile import Profile

#: The settings common to all profiles.
_BASE = Path(__file__).with_name("fabkit.ini")
#: For the first layer and the others, nozzle and then bed, in degrees Celsius: as in PrusaSlicer's
#: own presets for Prusa's printers. With any other material the G-code leaves temperatures alone.
_TEMPERATURES = {
    "PLA": (215, 210, 60, 60),
    "PETG": (230, 240, 85, 90),
    "ABS": (255, 255, 100, 110),
    "ASA": (260, 260, 105, 110),
}
_TEMPERATURE_KEYS = (
    "first_layer_temperature",
    "temperature",
    "first_layer_bed_temperature",
    "bed_temperature",
)
#: The values allowed in a configuration without quotes.
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9+_-]{0,19}")
#: A narrower tower cannot be purged into.
_MIN_TOWER_MM = 15.0
#: The greatest number of filaments for which PrusaSlicer 2.5 lays a tower: with three or more the moves
#: in it differ from run to run, and some lead to infinity.
_MAX_TOWER_FILAMENTS = 2


def print_settings(profile: Profile, extruders: int) -> str:
    """The text of a configuration that PrusaSlicer loads: lines of ``key = value``.

    Of duplicate keys the last one counts. All extruders share one nozzle.

    Example:
        >>> from fabkit.profiles.profile_file import load_profile
        >>> lines = print_settings(load_profile(), 2).splitlines()
        >>> [line for line in lines if line.startswith(("bed_shape", "filament_d"))]
        ['bed_shape = 0x0,250x0,250x210,0x210', 'filament_diameter = 1.75,1.75', \
'filament_density = 1.24,1.24']
    """
    width, depth = f"{profile.bed_width_mm:g}", f"{profile.bed_depth_mm:g}"
    values = {
        "layer_height": f"{profile.layer_mm:g}",
        "first_layer_height": f"{profile.first_layer_mm:g}",
        "bed_shape": f"0x0,{width}x0,{width}x{depth},0x{depth}",
        "max_print_height": f"{profile.bed_height_mm:g}",
        "single_extruder_multi_material": str(int(extruders > 1)),
    }
    degrees = _TEMPERATURES.get(profile.filament.upper(), (0, 0, 0, 0))
    of_each = {
        "nozzle_diameter": f"{profile.nozzle_mm:g}",
        "filament_diameter": f"{profile.filament_diameter_mm:g}",
        "filament_density": f"{profile.filament_density:g}",
        **dict(zip(_TEMPERATURE_KEYS, map(str, degrees), strict=True)),
    }
    values |= {key: ",".join([text] * extruders) for key, text in of_each.items()}
    if _PLAIN.fullmatch(profile.filament):
        values["filament_type"] = ";".join([profile.filament] * extruders)
    if extruders > 1:
        place = _tower_place(profile) if extruders <= _MAX_TOWER_FILAMENTS else {}
        values |= {"wipe_tower": str(int(bool(place)))} | place
    return f"{_BASE.read_text(encoding='utf-8')}\n# What the profile says.\n{_lines(values)}"


def needed_settings(profile: Profile, extruders: int) -> str:
    """The settings that fabkit needs on top of a user's configuration.

    Plates print layer by layer, a tower is in the reserved corner, and the G-code names the objects.
    No program of the user's runs on it.
    """
    values = {"gcode_label_objects": "1", "complete_objects": "0", "post_process": ""}
    if extruders > 1:
        values |= _tower_place(profile)
    return _lines(values)


def _lines(values: Mapping[str, str]) -> str:
    return "".join(f"{key} = {value}\n" for key, value in values.items())


def parse_settings(text: str) -> dict[str, str]:
    r"""Return the values in a configuration by key.

    Example:
        >>> parse_settings("# mine\nnotes =\nperimeters = 3\n")
        {'notes': '', 'perimeters': '3'}
    """
    lines = (line.partition("=") for line in text.splitlines() if not line.startswith(("#", ";")))
    return {key.strip(): value.strip() for key, equals, value in lines if equals}


def filling_for(profile: Profile) -> Filling:
    """Return how PrusaSlicer fills parts with this configuration."""
    settings = parse_settings(print_settings(profile, 1))

    def solid_layers(side: str) -> int:
        thickness_mm = float(settings[f"{side}_solid_min_thickness"])
        minimum = math.ceil(round(thickness_mm / profile.layer_mm, 6))
        return max(int(settings[f"{side}_solid_layers"]), minimum)

    return Filling(
        first_layer_mm=profile.first_layer_mm,
        layer_mm=profile.layer_mm,
        nozzle_mm=profile.nozzle_mm,
        walls=int(settings["perimeters"]),
        top=solid_layers("top"),
        bottom=solid_layers("bottom"),
        share=float(settings["fill_density"].rstrip("%")) / 100,
        overlap=float(settings["infill_overlap"].rstrip("%")) / 100,
        least_mm2=float(settings["solid_infill_below_area"]),
    )


def _tower_place(profile: Profile) -> dict[str, str]:
    """The position of the tower: in the reserved corner, if there is one."""
    place_mm = tower_place_mm(profile)
    if place_mm is None:
        return {}
    return {
        "wipe_tower_x": f"{place_mm[0]:g}",
        "wipe_tower_y": f"{place_mm[1]:g}",
        "wipe_tower_width": f"{tower_side_mm(profile) - 2 * TOWER_MARGIN_MM:g}",
    }


def tower_place_mm(profile: Profile) -> tuple[float, float] | None:
    """The front left corner of the tower in the reserved corner of the bed; None if that is too small."""
    side_mm = tower_side_mm(profile)
    if side_mm - 2 * TOWER_MARGIN_MM < _MIN_TOWER_MM:
        return None
    from_edge_mm = profile.plate_edge_mm + side_mm - TOWER_MARGIN_MM
    return profile.bed_width_mm - from_edge_mm, profile.bed_depth_mm - from_edge_mm
