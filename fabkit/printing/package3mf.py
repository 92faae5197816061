"""What goes into the 3MF file of a plate, a piece or a set: meshes at their places, names, colours,
where it comes from, a picture, and the pause for the magnets.

Both families of slicers name the layer *before* which the printer pauses, by the height of its top,
and pause before the first layer whose top is not below that. So the height written here is not the
pause height (the top of the last layer before the magnets) but just above it: written as it is, the
pause would come one layer too early, with the cavity not yet at its full depth, and as the top of
the next layer it would come too late where somebody slices the file with thinner layers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray
from shapely import Point, Polygon, affinity

from fabkit import __version__
from fabkit.core.errors import many
from fabkit.core.units import format_mm
from fabkit.drawing.part import PartDrawing
from fabkit.mesh.files.writing3mf import Object3mf, Package3mf
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet
from fabkit.output.png import Patch, thumbnail
from fabkit.printing.nesting.bin import Placement
from fabkit.printing.plate import Plate, is_coloured, layer_before_pause, mesh_rows

#: Between two beds in a file of several plates, as a part of the bed's width; as OrcaSlicer does.
_BETWEEN_BEDS = 0.2

#: Where a mesh's axes and its origin go: four rows of three.
Rows = NDArray[np.float64]


def plates_package(
    puzzle: PuzzleSet,
    plates: Sequence[Plate],
    prints: Mapping[str, Object3mf],
    blueprints: Mapping[str, PartDrawing],
    profile: Profile,
) -> Package3mf:
    """A file of one plate, or of several beside each other.

    Args:
        prints: the meshes of the pieces, by id, each as its drawing lies: back at height 0.
    """
    stride_mm = profile.bed_width_mm * (1 + _BETWEEN_BEDS)
    lying = []
    for index, plate in enumerate(plates):
        for spot in plate.spots:
            rows = np.array(mesh_rows(spot, blueprints[spot.name]))
            rows[3, 0] += index * stride_mm
            lying.append((prints[spot.name], blueprints[spot.name], rows))
    heights = [plate.pause_height_mm for plate in plates if plate.pause_height_mm is not None]
    return _package(puzzle, lying, heights[0] if heights else None, profile)


def extruders(puzzle: PuzzleSet, drawings: Sequence[PartDrawing], profile: Profile) -> int:
    """How many filaments it takes to print some pieces and boards on one plate."""
    toned = {piece.id for piece in puzzle.pieces if piece.tones}
    letters = profile.inlay != "none" and any(one.label is not None for one in drawings)
    tones = profile.tones != "plain" and any(one.piece in toned for one in drawings)
    return 1 + letters + tones


def piece_package(
    puzzle: PuzzleSet, one: Object3mf, blueprint: PartDrawing, profile: Profile
) -> Package3mf:
    """A file of one piece, which lies in the middle of the bed."""
    rows = np.array(mesh_rows(Placement(one.name, 0.0, 0.0, 0.0), blueprint))
    left, bottom, right, top = _patch(blueprint, rows).area.bounds
    rows[3, 0] += (profile.bed_width_mm - left - right) / 2
    rows[3, 1] += (profile.bed_depth_mm - bottom - top) / 2
    return _package(puzzle, [(one, blueprint, rows)], blueprint.pause_height_mm, profile)


def _package(
    puzzle: PuzzleSet,
    lying: Sequence[tuple[Object3mf, PartDrawing, Rows]],
    pause_mm: float | None,
    profile: Profile,
) -> Package3mf:
    """A file of some pieces, each at its place."""
    metadata = {
        "Title": puzzle.title,
        "Description": f"{puzzle.title}: {many(len(puzzle.pieces), 'piece')}. Shapes: {puzzle.credit}",
        "LicenseTerms": puzzle.licence,
        "Application": f"fabkit {__version__}",
        "Set": puzzle.name,
        "Profile": profile.name,
        "Unit": format_mm(profile.unit_mm),
    }
    return Package3mf(
        tuple(_placed(one, rows) for one, _, rows in lying),
        metadata,
        thumbnail([_patch(blueprint, rows) for _, blueprint, rows in lying]),
        {} if pause_mm is None else pause_parts(pause_mm, profile),
    )


def _placed(one: Object3mf, rows: Rows) -> Object3mf:
    bodies = [replace(s.body, vertices=s.body.vertices @ rows[:3] + rows[3]) for s in one.solids]
    solids = zip(one.solids, bodies, strict=True)
    return replace(one, solids=tuple(replace(solid, body=body) for solid, body in solids))


def _patch(blueprint: PartDrawing, rows: Rows) -> Patch:
    """A piece as it is seen from above: with its letter, or lying on it with its recesses."""
    marks: list[Polygon] = []
    if blueprint.facing == "down":
        open_ones = [recess for recess in blueprint.recesses if recess.is_open]
        marks = [Point(r.centre_mm).buffer(r.bores.widest_mm / 2) for r in open_ones]
    elif blueprint.label is not None:
        letter = blueprint.label.front.polygon()
        marks = list(getattr(letter, "geoms", [letter]))
    plane = [*rows[:2, :2].T.flat, *rows[3, :2]]  # as shapely wants it
    outline, *moved = (affinity.affine_transform(one, plane) for one in (blueprint.outline, *marks))
    return Patch(outline, blueprint.colour, tuple(moved))


#: A pause is written so far above the cavity: less than any layer, more than slicers round.
_ABOVE_CAVITY_MM = 0.01
#: What the printer's display says meanwhile. Printers show ASCII.
MESSAGE = "Insert the magnets"
#: PrusaSlicer's part. Its importer is in ``src/libslic3r/Format/3mf.cpp``.
PRUSA_PART = "Metadata/Prusa_Slicer_custom_gcode_per_print_z.xml"
#: OrcaSlicer's and Bambu Studio's. Theirs is in ``src/libslic3r/Format/bbs_3mf.cpp``.
ORCA_PART = "Metadata/custom_gcode_per_layer.xml"


def pause_parts(pause_height_mm: float, profile: Profile) -> dict[str, bytes]:
    """The parts of a 3MF file that make slicers pause once.

    PrusaSlicer 2.5 has been tried: with layers of 0.2 mm and a cavity that ends at 4.2 mm it
    prints the layer that ends at 4.2 mm, pauses, and closes the cavity with the one to 4.4 mm.
    With layers of 0.1, 0.15 or 0.3 mm, too, it prints nothing over the cavity before the pause.

    OrcaSlicer's part follows its importer and has not been tried. It is read only when a file's
    settings are loaded, which Bambu Studio does for files whose ``Application`` begins with
    ``BambuStudio-`` and a version; OrcaSlicer knows ``OrcaSlicer-`` too, and no longer asks for it
    in its importer, but whether its window then loads the settings is not known here. All others
    come in as mere shapes, without the pause. fabkit does not pretend to be another program, so
    there the pause is to be looked for, and set by hand before layer `layer_before_pause` + 1 if
    it is missing.

    Args:
        pause_height_mm: top of the last layer before the magnets go in.
        profile: gives the layers, and whether there is a second colour.

    Raises:
        ValueError: when no layer ends at the pause height.

    Example:
        >>> from fabkit.model.profilefile import load_profile
        >>> parts = pause_parts(4.2, load_profile(["flippable"]))
        >>> print(parts[PRUSA_PART].decode(), end="")
        <?xml version="1.0" encoding="utf-8"?>
        <custom_gcodes_per_print_z>
        <code print_z="4.21" type="1" extruder="1" color="" extra="Insert the magnets" gcode="M601"/>
        <mode value="SingleExtruder"/>
        </custom_gcodes_per_print_z>
    """
    layer_before_pause(pause_height_mm, profile)
    above_mm = f"{round(pause_height_mm + _ABOVE_CAVITY_MM, 6):g}"
    mode = "MultiExtruder" if is_coloured(profile) else "SingleExtruder"
    # Type 1 is ``CustomGCode::Type::PausePrint`` in the sources of both.
    stop = (
        f'type="1" extruder="1" color="" extra={quoteattr(MESSAGE)} gcode="M601"/>\n'
        f'<mode value="{mode}"/>\n'
    )
    prusa = f'<code print_z="{above_mm}" {stop}'
    orca = f'<plate>\n<plate_info id="1"/>\n<layer top_z="{above_mm}" {stop}</plate>\n'
    return {
        part: f'<?xml version="1.0" encoding="utf-8"?>\n<{root}>\n{content}</{root}>\n'.encode()
        for part, root, content in (
            (PRUSA_PART, "custom_gcodes_per_print_z", prusa),
            (ORCA_PART, "custom_gcodes_per_layer", orca),
        )
    }
