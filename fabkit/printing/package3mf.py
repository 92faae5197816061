"""The contents of a 3MF file of a plate, a piece or a set: placed meshes, names, colours, metadata, a
picture, and the pause for the magnets.

Both families of slicers specify a pause by the height of the top of the layer *after* it, and pause
before the first layer whose top is not below that. So the height written here is just above the pause
height (the top of the last layer before the magnets): the pause height itself would pause one layer too
early, with the cavity not yet at its full depth, and the top of the next layer would pause too late if
the file is sliced with thinner layers.
"""

from __future__ import annotations

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
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet
from fabkit.output.png import Patch, thumbnail
from fabkit.printing.nesting.bin import Placement
from fabkit.printing.plate import Plate, is_coloured, layer_before_pause, mesh_transform

#: Between two beds in a file of several plates, as a part of the bed's width; as OrcaSlicer does.
_BETWEEN_BEDS = 0.2


@dataclass(frozen=True)
class PrintInfo:
    """What 3MF files say of the set or tool in them.

    Attributes:
        name: the set's id, or the tool's.
        pieces: how many there are in all.
        credit: where the shapes come from.
        licence: terms of use.
    """

    name: str
    title: str
    pieces: int
    credit: str = "none"
    licence: str = "not stated"

    @classmethod
    def of(cls, puzzle: PuzzleSet) -> PrintInfo:
        """Return that of a set."""
        return cls(puzzle.name, puzzle.title, len(puzzle.pieces), puzzle.credit, puzzle.licence)


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
    stride_mm = profile.bed_width_mm * (1 + _BETWEEN_BEDS)
    placed = []
    for index, plate in enumerate(plates):
        for placement in plate.placements:
            drawing = drawings[placement.name]
            matrix = translated(mesh_transform(placement, drawing), index * stride_mm, 0.0, 0.0)
            placed.append((prints[placement.name], drawing, matrix))
    heights = [plate.pause_height_mm for plate in plates if plate.pause_height_mm is not None]
    return _package(info, placed, heights[0] if heights else None, profile)


def extruder_count(puzzle: PuzzleSet, drawings: Sequence[PartDrawing], profile: Profile) -> int:
    """Return the number of filaments needed to print pieces and boards on one plate."""
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
    return _package(info, placed, drawing.pause_height_mm, profile)


def _package(
    info: PrintInfo,
    placed: Sequence[tuple[Object3mf, PartDrawing, Matrix]],
    pause_mm: float | None,
    profile: Profile,
) -> Package3mf:
    metadata = {
        "Title": info.title,
        "Description": f"{info.title}: {pluralize(info.pieces, 'piece')}. Shapes: {info.credit}",
        "LicenseTerms": info.licence,
        "Application": f"fabkit {__version__}",
        "Set": info.name,
        "Profile": profile.name,
        "Unit": format_mm(profile.unit_mm),
    }
    return Package3mf(
        tuple(_placed(piece, matrix) for piece, _, matrix in placed),
        metadata,
        thumbnail([_patch(drawing, matrix) for _, drawing, matrix in placed]),
        {} if pause_mm is None else pause_parts(pause_mm, profile),
    )


def _placed(piece: Object3mf, matrix: Matrix) -> Object3mf:
    solids = []
    for solid in piece.solids:
        vertices = solid.mesh.vertices @ matrix[:, :3].T + matrix[:, 3]
        solids.append(replace(solid, mesh=replace(solid.mesh, vertices=vertices)))
    return replace(piece, solids=tuple(solids))


def _patch(drawing: PartDrawing, matrix: Matrix) -> Patch:
    """Return a piece seen from above: with its letter or, if it is face down, its recesses."""
    marks: list[Polygon] = []
    if drawing.facing == "down":
        open_recesses = [recess for recess in drawing.recesses if recess.is_open]
        marks = [Point(r.centre_mm).buffer(r.diameters.widest_mm / 2) for r in open_recesses]
    elif drawing.label is not None:
        letter = drawing.label.front.polygon()
        marks = list(getattr(letter, "geoms", [letter]))
    outline, *moved = (placed_from_above(shape, matrix) for shape in (drawing.outline, *marks))
    return Patch(outline, drawing.colour, tuple(moved))


#: Height of a written pause above the cavity: less than any layer, more than slicers' rounding.
_ABOVE_CAVITY_MM = 0.01
#: Message on the printer's display during the pause, in ASCII.
PAUSE_MESSAGE = "Insert the magnets"
#: PrusaSlicer's part. Its importer is in ``src/libslic3r/Format/3mf.cpp``.
PRUSA_PART = "Metadata/Prusa_Slicer_custom_gcode_per_print_z.xml"
#: OrcaSlicer's and Bambu Studio's. Theirs is in ``src/libslic3r/Format/bbs_3mf.cpp``.
ORCA_PART = "Metadata/custom_gcode_per_layer.xml"


def pause_parts(pause_height_mm: float, profile: Profile) -> dict[str, bytes]:
    """Return the parts of a 3MF file that make slicers pause once.

    Tested with PrusaSlicer 2.5: with layers of 0.2 mm and a cavity that ends at 4.2 mm it prints the
    layer that ends at 4.2 mm, pauses, and closes the cavity with the layer to 4.4 mm. With layers of
    0.1, 0.15 or 0.3 mm it also prints nothing over the cavity before the pause.

    OrcaSlicer's part follows its importer and has not been tested. It is read only when a file's
    settings are loaded, which Bambu Studio does for files whose ``Application`` begins with
    ``BambuStudio-`` and a version; OrcaSlicer also accepts ``OrcaSlicer-``, and its importer no longer
    requires it, but it is unknown whether its user interface then loads the settings. All other files
    are imported as shapes without the pause. fabkit does not pretend to be another program, so check
    the pause there, and if it is missing set it by hand before layer `layer_before_pause` + 1.

    Raises:
        ValueError: when no layer ends at the pause height.

    Example:
        >>> from fabkit.model.profile_file import load_profile
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
        f'type="1" extruder="1" color="" extra={quoteattr(PAUSE_MESSAGE)} gcode="M601"/>\n'
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
