"""The contents of a 3MF file of a plate, a piece or a set: placed meshes, names, colours,
filaments, plates, metadata, a picture, and the pause for the magnets.

A file is for PrusaSlicer, or for OrcaSlicer and Bambu Studio (`Profile.slicer`): PrusaSlicer takes
the triangles of a mesh apart, the others the components of an object; see
`Package3mf.has_components`. The latter read plates, extruders and pauses only in a file that names
Bambu Studio as its application, as OrcaSlicer's own files do, and that brings settings of its own.
These are the fewest that their importers ask for (``src/libslic3r/Format/bbs_3mf.cpp``,
``src/slic3r/GUI/Plater.cpp``): the names of presets, and the filaments' colours. Everything else
comes from the user's presets.

Both families of slicers specify a pause by the height of the top of the layer *after* it, and pause
before the first layer whose top is not below that. So the height written here is just above the
pause height (the top of the last layer before the magnets): the pause height itself would pause one
layer too early, with the cavity not yet at its full depth, and the top of the next layer would
pause too late if the file is sliced with thinner layers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from xml.sax.saxutils import quoteattr

from shapely import Point, Polygon

from fabkit import __version__
from fabkit.core.errors import pluralize
from fabkit.core.units import format_mm
from fabkit.drawing.draft import tone_areas
from fabkit.drawing.part import PartDrawing
from fabkit.drawing.placement import Matrix, placed_from_above, translated
from fabkit.mesh.files.writing3mf import Object3mf, Package3mf
from fabkit.model.puzzle import PuzzleSet
from fabkit.output.png import Patch, thumbnail
from fabkit.printing.nesting.bin import Placement
from fabkit.printing.plate import Plate, layer_before_pause, mesh_transform
from fabkit.printing.slicer.settings import tower_place_mm
from fabkit.profiles.filaments import filaments_for, is_coloured
from fabkit.profiles.profile import PRUSASLICER, Profile

#: Between two beds in a file of several plates, as a part of the bed's size; as OrcaSlicer does
#: (``LOGICAL_PART_PLATE_GAP`` in ``src/slic3r/GUI/PartPlate.hpp``).
_BETWEEN_BEDS = 0.2
#: What a file names as its application so that OrcaSlicer and Bambu Studio read it as a
#: project. This version is that of OrcaSlicer's own files, and older than all that are in use:
#: none warns of it.
_AS_PROJECT = "BambuStudio-01.10.01.50"
#: Their settings.
PROJECT_PART = "Metadata/project_settings.config"
#: Where newer versions of PrusaSlicer than the tested 2.5 look for the place of the prime tower.
TOWER_PART = "Metadata/Prusa_Slicer_wipe_tower_information.xml"


@dataclass(frozen=True)
class PrintInfo:
    """What 3MF files say of the set or tool in them.

    Attributes:
        name: the set's id, or the tool's.
        pieces: how many there are in all.
        credit: where the shapes come from.
        filaments: the colours of those that the printer holds, the first being extruder 1; empty if
            parts keep their colours.
    """

    name: str
    title: str
    pieces: int
    credit: str = "none"
    licence: str = "not stated"
    filaments: tuple[str, ...] = ()

    @classmethod
    def of(cls, puzzle: PuzzleSet, profile: Profile) -> PrintInfo:
        """Return that of a set."""
        count, colours = len(puzzle.pieces), filaments_for(puzzle, profile).colours
        return cls(puzzle.name, puzzle.title, count, puzzle.credit, puzzle.licence, colours)


def plates_package(
    info: PrintInfo,
    plates: Sequence[Plate],
    prints: Mapping[str, Object3mf],
    drawings: Mapping[str, PartDrawing],
    profile: Profile,
) -> Package3mf:
    """Return the package of one plate, or of several beside each other.

    The `prints`, by id, are in the frames of their drawings.
    """
    columns = len(plates) if profile.slicer == PRUSASLICER else math.ceil(math.sqrt(len(plates)))
    placed = []
    for index, plate in enumerate(plates):
        row, column = divmod(index, columns)
        x_mm = column * profile.bed_width_mm * (1 + _BETWEEN_BEDS)
        y_mm = -row * profile.bed_depth_mm * (1 + _BETWEEN_BEDS)
        for placement in plate.placements:
            drawing = drawings[placement.name]
            matrix = translated(mesh_transform(placement, drawing), x_mm, y_mm, 0.0)
            on_plate = replace(prints[placement.name], plate=index + 1)
            placed.append((on_plate, drawing, matrix))
    return _package(info, placed, [plate.pause_height_mm for plate in plates], profile)


def extruder_count(puzzle: PuzzleSet, drawings: Sequence[PartDrawing], profile: Profile) -> int:
    """Return the number of filaments needed to print pieces and boards on one plate."""
    if colours := filaments_for(puzzle, profile).colours:
        return len(colours)
    toned = {
        piece.id
        for piece in puzzle.pieces
        if any(not area.is_empty for area in tone_areas(puzzle, piece, profile.unit_mm))
    }
    letters = any(drawing.label is not None and drawing.label.inlaid for drawing in drawings)
    tones = profile.tones != "plain" and any(drawing.piece in toned for drawing in drawings)
    return 1 + letters + tones


def piece_package(
    info: PrintInfo, piece: Object3mf, drawing: PartDrawing, profile: Profile
) -> Package3mf:
    """Return the package of one piece in the middle of the bed."""
    matrix = mesh_transform(Placement(piece.name, 0.0, 0.0, 0.0), drawing)
    left, bottom, right, top = _patch(drawing, matrix).area.bounds
    x_mm = (profile.bed_width_mm - left - right) / 2
    y_mm = (profile.bed_depth_mm - bottom - top) / 2
    placed = [(piece, drawing, translated(matrix, x_mm, y_mm, 0.0))]
    return _package(info, placed, [drawing.pause_height_mm], profile)


def _package(
    info: PrintInfo,
    placed: Sequence[tuple[Object3mf, PartDrawing, Matrix]],
    pauses_mm: Sequence[float | None],
    profile: Profile,
) -> Package3mf:
    """Return the package of placed parts; `pauses_mm` has the pause of each plate, or None."""
    as_project = profile.slicer != PRUSASLICER
    metadata = {
        "Title": info.title,
        "Description": f"{info.title}: {pluralize(info.pieces, 'piece')}. Shapes: {info.credit}",
        "LicenseTerms": info.licence,
        "Application": _AS_PROJECT if as_project else f"fabkit {__version__}",
        "Set": info.name,
        "Profile": profile.name,
        "Unit": format_mm(profile.unit_mm),
    }
    if as_project:
        metadata["Generator"] = f"fabkit {__version__}"
    objects = tuple(_placed(piece, matrix) for piece, _, matrix in placed)
    parts = pause_parts(pauses_mm, profile)
    if as_project:
        filaments = info.filaments or (objects[0].solids[0].colour,)
        parts[PROJECT_PART] = _project_settings(filaments, len(pauses_mm), profile)
    elif is_coloured(profile) and (tower := tower_place_mm(profile)):
        position = f'position_x="{tower[0]:g}" position_y="{tower[1]:g}" rotation_deg="0"'
        parts[TOWER_PART] = f'{_XML}<wipe_tower_information bed_idx="0" {position}/>\n'.encode()
    patches = [_patch(drawing, matrix) for _, drawing, matrix in placed]
    return Package3mf(objects, metadata, thumbnail(patches), parts, as_project)


def _project_settings(filaments: Sequence[str], plates: int, profile: Profile) -> bytes:
    """Return the settings of a project for OrcaSlicer and Bambu Studio."""
    settings: dict[str, object] = {
        "version": _AS_PROJECT.partition("-")[2],
        "name": "project_settings",
        "from": "project",
        "printer_model": profile.printer_model,
        "printer_settings_id": profile.printer_preset,
        "print_settings_id": profile.process_preset,
        "filament_settings_id": [profile.filament_preset] * len(filaments),
        "filament_colour": [colour.upper() for colour in filaments],
    }
    if is_coloured(profile) and (tower := tower_place_mm(profile)):
        settings["wipe_tower_x"] = [f"{tower[0]:g}"] * plates
        settings["wipe_tower_y"] = [f"{tower[1]:g}"] * plates
    return json.dumps(settings, indent=4).encode()


def _placed(piece: Object3mf, matrix: Matrix) -> Object3mf:
    solids = []
    for solid in piece.solids:
        vertices = solid.mesh.vertices @ matrix[:, :3].T + matrix[:, 3]
        solids.append(replace(solid, mesh=replace(solid.mesh, vertices=vertices)))
    return replace(piece, solids=tuple(solids))


def _patch(drawing: PartDrawing, matrix: Matrix) -> Patch:
    """Return a piece seen from above: with its letter or, if it is face down, its recesses."""
    marks: list[Polygon] = []
    ink = ""
    if drawing.facing == "down":
        open_recesses = [recess for recess in drawing.recesses if recess.is_open]
        marks = [Point(r.centre_mm).buffer(r.diameters.widest_mm / 2) for r in open_recesses]
    elif drawing.label is not None:
        letter = drawing.label.front.polygon()
        marks = list(getattr(letter, "geoms", [letter]))
        ink = drawing.letter_colour
    outline, *moved = (placed_from_above(shape, matrix) for shape in (drawing.outline, *marks))
    return Patch(outline, drawing.colour, tuple(moved), ink)


#: Height of a written pause above the cavity: less than any layer, more than slicers' rounding.
_ABOVE_CAVITY_MM = 0.01
#: Message on the printer's display during the pause, in ASCII.
PAUSE_MESSAGE = "Insert the magnets"
#: PrusaSlicer's part. Its importer is in ``src/libslic3r/Format/3mf.cpp``.
PRUSA_PART = "Metadata/Prusa_Slicer_custom_gcode_per_print_z.xml"
#: OrcaSlicer's and Bambu Studio's. Theirs is in ``src/libslic3r/Format/bbs_3mf.cpp``.
ORCA_PART = "Metadata/custom_gcode_per_layer.xml"


_XML = '<?xml version="1.0" encoding="utf-8"?>\n'


def pause_parts(pauses_mm: Sequence[float | None], profile: Profile) -> dict[str, bytes]:
    """Return the parts of a 3MF file that make slicers pause at a height of each plate, if any.

    Tested with PrusaSlicer 2.5: with layers of 0.2 mm and a cavity that ends at 4.2 mm it prints
    the layer that ends at 4.2 mm, pauses, and closes the cavity with the layer to 4.4 mm. With
    layers of 0.1, 0.15 or 0.3 mm it also prints nothing over the cavity before the pause. Its part
    has no plates: it has the first pause.

    OrcaSlicer's part follows its importer, which takes the G-code of the pause from the printer's
    preset, and has not been tried in the program.

    Raises:
        ValueError: when no layer ends at a pause height.

    Example:
        >>> from fabkit.profiles.profile_file import load_profile
        >>> parts = pause_parts([4.2], load_profile(["flippable"]))
        >>> print(parts[PRUSA_PART].decode(), end="")
        <?xml version="1.0" encoding="utf-8"?>
        <custom_gcodes_per_print_z>
        <code print_z="4.21" type="1" extruder="1" color="" extra="Insert the magnets" gcode="M601"/>
        <mode value="SingleExtruder"/>
        </custom_gcodes_per_print_z>
    """  # noqa: E501
    mode = "MultiExtruder" if is_coloured(profile) else "SingleExtruder"
    # Type 1 is ``CustomGCode::Type::PausePrint`` in the sources of both.
    stop = (
        f'type="1" extruder="1" color="" extra={quoteattr(PAUSE_MESSAGE)} gcode="M601"/>\n'
        f'<mode value="{mode}"/>\n'
    )
    tops_mm = {}
    for plate, pause_mm in enumerate(pauses_mm, start=1):
        if pause_mm is not None:
            layer_before_pause(pause_mm, profile)
            tops_mm[plate] = f"{round(pause_mm + _ABOVE_CAVITY_MM, 6):g}"
    if not tops_mm:
        return {}
    prusa = f'<code print_z="{next(iter(tops_mm.values()))}" {stop}'
    orca = "".join(
        f'<plate>\n<plate_info id="{plate}"/>\n<layer top_z="{top_mm}" {stop}</plate>\n'
        for plate, top_mm in tops_mm.items()
    )
    roots = {PRUSA_PART: "custom_gcodes_per_print_z", ORCA_PART: "custom_gcodes_per_layer"}
    contents = {PRUSA_PART: prusa, ORCA_PART: orca}
    return {
        part: f"{_XML}<{root}>\n{contents[part]}</{root}>\n".encode()
        for part, root in roots.items()
    }
