"""The pause at which magnets go into closed cavities, as slicers read it from a 3MF file.

Both families of slicers name the layer *before* which the printer pauses, by the height of its top,
and pause before the first layer whose top is not below that. So the height written here is not the
pause height (the top of the last layer before the magnets) but that of the layer above it: written
as it is, the pause would come one layer too early, with the cavity not yet at its full depth.
"""

from __future__ import annotations

from xml.sax.saxutils import quoteattr

from fabkit.core.units import format_mm
from fabkit.model.layers import layer_top_mm
from fabkit.model.profile import Profile
from fabkit.printing.plate import is_coloured

#: What the printer's display says meanwhile. Printers show ASCII.
MESSAGE = "Insert the magnets"
#: PrusaSlicer's part. Its importer is in ``src/libslic3r/Format/3mf.cpp``.
PRUSA_PART = "Metadata/Prusa_Slicer_custom_gcode_per_print_z.xml"
#: OrcaSlicer's and Bambu Studio's. Theirs is in ``src/libslic3r/Format/bbs_3mf.cpp``.
ORCA_PART = "Metadata/custom_gcode_per_layer.xml"

#: ``CustomGCode::Type::PausePrint`` in the sources of both.
_PAUSE_TYPE = 1
_SAME_MM = 1e-6


def pause_parts(pause_height_mm: float, profile: Profile) -> dict[str, bytes]:
    """The parts of a 3MF file that make slicers pause once.

    PrusaSlicer 2.5 has been tried: with layers of 0.2 mm and a cavity that ends at 4.2 mm it
    prints the layer that ends at 4.2 mm, pauses, and closes the cavity with the one to 4.4 mm.

    OrcaSlicer's part follows its importer and has not been tried. What is known from that source:
    the root is ``custom_gcodes_per_layer``; in it a ``plate`` holds ``plate_info`` with its number
    from 1, a ``layer`` for each stop and the ``mode``; a ``layer`` needs ``top_z``, ``extruder``,
    ``color``, ``type`` and ``extra``. The part is read only when a file's settings are loaded, which
    Bambu Studio does for files whose ``Application`` begins with ``BambuStudio-`` and a version;
    OrcaSlicer knows ``OrcaSlicer-`` too, and no longer asks for it in its importer, but whether its
    window then loads the settings is not known here. All others come in as mere shapes, without
    the pause. fabkit does not pretend to be another program, so there the pause is to be looked
    for, and set by hand before layer `layer_before_pause` + 1 if it is missing.

    Args:
        pause_height_mm: top of the last layer before the magnets go in.
        profile: gives the layers, and whether there is a second colour.

    Returns:
        Content by name of the part; the same for the same arguments.

    Raises:
        ValueError: when no layer ends at the pause height.

    Example:
        >>> from fabkit.model.profilefile import load_profile
        >>> parts = pause_parts(4.2, load_profile(["flippable"]))
        >>> print(parts[PRUSA_PART].decode(), end="")
        <?xml version="1.0" encoding="utf-8"?>
        <custom_gcodes_per_print_z>
        <code print_z="4.4" type="1" extruder="1" color="" extra="Insert the magnets" gcode="M601"/>
        <mode value="SingleExtruder"/>
        </custom_gcodes_per_print_z>
    """
    layer_before_pause(pause_height_mm, profile)
    next_mm = f"{round(pause_height_mm + profile.layer_mm, 6):g}"
    mode = "MultiExtruder" if is_coloured(profile) else "SingleExtruder"
    stop = (
        f'type="{_PAUSE_TYPE}" extruder="1" color="" extra={quoteattr(MESSAGE)} gcode="M601"/>\n'
        f'<mode value="{mode}"/>\n'
    )
    prusa = _document("custom_gcodes_per_print_z", f'<code print_z="{next_mm}" {stop}')
    plate = f'<plate>\n<plate_info id="1"/>\n<layer top_z="{next_mm}" {stop}</plate>\n'
    return {PRUSA_PART: prusa, ORCA_PART: _document("custom_gcodes_per_layer", plate)}


def layer_before_pause(pause_height_mm: float, profile: Profile) -> int:
    """The number, from 1, of the last layer before a pause.

    Raises:
        ValueError: when no layer ends at the pause height.

    Example:
        >>> from fabkit.model.profilefile import load_profile
        >>> layer_before_pause(4.2, load_profile(["flippable"]))
        21
    """
    top_mm = layer_top_mm(profile, pause_height_mm)
    if pause_height_mm <= 0 or abs(top_mm - pause_height_mm) > _SAME_MM:
        raise ValueError(
            f"no layer ends at {format_mm(pause_height_mm)}; the next one that does ends at "
            f"{format_mm(top_mm)}"
        )
    return 1 + round((top_mm - profile.first_layer_mm) / profile.layer_mm)


def _document(root: str, content: str) -> bytes:
    return f'<?xml version="1.0" encoding="utf-8"?>\n<{root}>\n{content}</{root}>\n'.encode()
