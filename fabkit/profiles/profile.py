"""Print profiles: all dimensions that are not in the drawing.

A `Profile` is built from layers (presets, files, ``-s key=value``), later ones taking precedence;
see `fabkit.profiles.profile_file`. Each field defines its key, description and limits, from which
reading, dumping, schemas and messages are derived.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any

#: How a magnet is held. ``none`` omits the recesses.
FITS = ("press", "glue", "ribs", "embedded", "none")
#: Crush ribs in a hole: fewer are not round, many more do not print
#: (gridfinity-rebuilt).
RIB_COUNT = 8
#: Limit for the ribs' share of the hole's circumference: crushed plastic needs space.
MAX_RIB_SHARE = 0.6
#: Where the letter is engraved.
FACES = ("front", "both", "none")
#: Whether the engraving stays open, or a part of a second colour fills it.
INLAYS = ("none", "letter")
#: Which pole of a magnet faces outwards: always the same, alternating, or any.
POLARITIES = ("same", "alternating", "free")
#: Orientation of the lettered face on the bed.
FACINGS = ("up", "down")

#: Shape of a cell of a piece with pegs, seen from above.
CELL_SHAPES = ("hexagon", "disc", "star")
#: Second colour of chequered pieces: ignored, or a separate part in 3MF files.
TONES = ("plain", "inlay")
#: Boards to print: those that belong to the set, all that its file defines, or none.
BOARDS_MADE = ("set", "all", "none")
#: The texts on the cells of a tray: cut into its floor, filled there with the second colour, or
#: omitted.
BOARD_TEXTS = ("engraved", "inlay", "none")
#: Kinds of lids.
LIDS = ("sliding", "snap", "none")
#: The slicer that reads the triangles of parts, and one pause for the whole file.
PRUSASLICER = "prusaslicer"
#: The programs for which 3MF files are written; the last two share one format.
SLICERS = (PRUSASLICER, "orcaslicer", "bambustudio")
#: Whether a plate mixes colours, or all that is on it has one.
PLATE_COLOURS = ("mixed", "single")
#: One filament for each colour.
ALL_FILAMENTS = "all"

#: A setting in millimetres, written with its unit.
LENGTH = "length"
#: A setting in degrees, written with its unit.
ANGLE = "angle"
#: A setting that is one of several words.
CHOICE = "choice"
#: A setting without a unit.
NUMBER = "number"
#: A setting written as ``#rrggbb``.
COLOUR = "colour"
#: A setting that is any short text.
TEXT = "text"
#: A setting that names something of another program; empty for nothing.
NAME = "name"
#: A setting that maps colours to filaments; see `fabkit.profiles.filaments`.
FILAMENTS = "filaments"
#: Sections and keys that do not affect the shape of pieces: checks, layout, costs, other parts.
_NOT_SHAPING = {
    "gap", "printer", "calibration", "plate", "filament", "filaments", "price", "laser", "board",
    "lid", "magnet.grade", "magnet.pack", "label.inlay", "label.colour", "cell.tones",
}  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """One key of a profile file.

    Attributes:
        key: such as ``magnet.diameter``.
        description: for users.
        kind: one of `LENGTH`, `ANGLE`, `CHOICE`, `NUMBER`, `COLOUR`, `TEXT`, `NAME` and
            `FILAMENTS`.
        limits: the least and the greatest number, or the choices.
        attribute: the `Profile` field it fills.
    """

    key: str
    description: str
    kind: str
    limits: tuple[Any, ...]
    attribute: str = ""

    @property
    def affects_shape(self) -> bool:
        """Whether it affects the shape of the pieces."""
        section = self.key.partition(".")[0]
        return self.key == "plate.face" or _NOT_SHAPING.isdisjoint((section, self.key))


def _setting(kind: str, key: str, description: str, *limits: Any) -> Any:
    return field(metadata={"setting": Setting(key, description, kind, limits)})


_mm = partial(_setting, LENGTH)
_degrees = partial(_setting, ANGLE)
_number = partial(_setting, NUMBER)
_choice = partial(_setting, CHOICE)
_text = partial(_setting, TEXT)
_colour = partial(_setting, COLOUR)
_name = partial(_setting, NAME)
_filaments = partial(_setting, FILAMENTS)


@dataclass(frozen=True, kw_only=True)
class Profile:
    """All numbers for printing a set. Lengths are in millimetres.

    Two pieces have a clearance of twice ``inset_mm`` between them.

    Attributes:
        name: those of the presets and files applied, joined by ``+``; ``default`` alone or for
            none.
        title: one-line description.
    """

    name: str
    title: str
    unit_mm: float = _mm("unit", "length of one grid unit", 4, 200)
    thickness_mm: float = _mm("thickness", "thickness of a piece, from back to face", 1, 50)
    inset_mm: float = _mm("inset", "inward offset of each side of the outline", 0, 2)
    tip_flat_mm: float = _mm("tip_flat", "width of the flat to which acute tips are cut", 0.1, 20)
    top_chamfer_mm: float = _mm("top_chamfer", "45-degree chamfer around the lettered face", 0, 5)
    foot_chamfer_mm: float = _mm("foot_chamfer", "45-degree chamfer around the back", 0, 5)
    filaments: str = _filaments(
        "filaments", "filaments that the printer holds: all, a number, or colours with their parts"
    )
    first_layer_mm: float = _mm("layers.first", "height of the printer's first layer", 0.05, 0.6)
    layer_mm: float = _mm("layers.height", "height of the other layers", 0.05, 0.6)
    magnet_diameter_mm: float = _mm("magnet.diameter", "diameter of a magnet", 1, 50)
    magnet_height_mm: float = _mm("magnet.height", "height of a magnet", 0.3, 30)
    fit: str = _choice("recess.fit", "how a magnet is held", *FITS)
    press_mm: float = _mm("recess.press", "added to the magnet's diameter for a press fit", -0.5, 1)
    glue_mm: float = _mm("recess.glue", "added for a glued fit", 0, 2)
    rib_root_mm: float = _mm("recess.rib_root", "added for the root circle of the ribs", 0, 2)
    rib_crest_mm: float = _mm("recess.rib_crest", "added for the crest circle of the ribs", -1, 1)
    rib_width_mm: float = _mm("recess.rib_width", "width of a crush rib at its root", 0.3, 3)
    embedded_mm: float = _mm("recess.embedded", "added for a closed cavity", 0, 2)
    lead_in_mm: float = _mm("recess.lead_in", "45-degree chamfer at a recess's open end", 0, 2)
    release_mm: float = _mm("recess.release", "diameter of the push-out hole; 0 for none", 0, 25)
    air_mm: float = _mm("recess.air", "minimum clearance above a magnet", 0.1, 0.3)
    floor_mm: float = _mm(
        "recess.floor", "plastic between an embedded magnet and the back", 0.2, 10
    )
    roof_mm: float = _mm("recess.roof", "minimum plastic from a recess to the letter", 0.2, 10)
    wall_mm: float = _mm("recess.wall", "minimum wall from a recess to the side", 0.4, 20)
    bed_wall_mm: float = _mm("recess.bed_wall", "minimum wall at the bed, after chamfers", 0.3, 20)
    cap_height_mm: float = _mm("label.cap_height", "height of a capital letter", 1, 100)
    label_depth_mm: float = _mm("label.depth", "depth of the engraving", 0.1, 5)
    stroke_mm: float = _mm("label.stroke", "minimum stroke width of a letter", 0.2, 5)
    label_margin_mm: float = _mm(
        "label.margin", "distance from the letter to the top chamfer", 0, 20
    )
    faces: str = _choice("label.faces", "where the letter is engraved", *FACES)
    mark_hole_mm: float = _mm("mark.hole", "diameter of a mark that is a hole", 3, 50)
    mark_width_mm: float = _mm("mark.width", "width of a mark that is a cross or a dot", 2, 50)
    mark_stroke_mm: float = _mm("mark.stroke", "width of the bars of a cross", 0.8, 20)
    mark_depth_mm: float = _mm("mark.depth", "depth of a cross or a dot", 0.2, 5)
    gap_min_mm: float = _mm("gap.min", "minimum gap between two printed pieces", 0, 2)
    gap_max_mm: float = _mm("gap.max", "maximum gap along a shared edge", 0.01, 10)
    max_bridge_mm: float = _mm("printer.max_bridge", "longest bridge that it can span", 1, 100)
    bed_width_mm: float = _mm("printer.bed_width", "width of the bed", 20, 2000)
    bed_depth_mm: float = _mm("printer.bed_depth", "depth of the bed", 20, 2000)
    bed_height_mm: float = _mm("printer.bed_height", "maximum height of a print", 5, 2000)
    overhang_degrees: float = _degrees(
        "printer.overhang", "steepest overhang, from the vertical", 0, 89
    )
    nozzle_mm: float = _mm("printer.nozzle", "diameter of the nozzle", 0.1, 2)
    slicer: str = _choice("printer.slicer", "program for which 3MF files are written", *SLICERS)
    printer_model: str = _name("printer.model", "model of the printer, as the slicer names it")
    printer_preset: str = _name("printer.preset", "the slicer's preset for the printer")
    process_preset: str = _name("printer.process", "the slicer's preset for the print")
    offset_mm: float = _mm("calibration.offset", "mean outward offset of printed sides", -1, 1)
    offset_sd_mm: float = _mm("calibration.offset_sd", "standard uncertainty of the offset", 0, 1)
    side_sd_mm: float = _mm("calibration.side_sd", "standard deviation of sides; 0: unknown", 0, 1)
    hole_loss_mm: float = _mm("calibration.hole_loss", "how much narrower recesses print", -1, 2)
    hole_sd_mm: float = _mm("calibration.hole_sd", "standard deviation of the hole loss", 0, 1)
    polarity: str = _choice("magnet.polarity", "which pole of a magnet faces outwards", *POLARITIES)
    magnet_pack: float = _number("magnet.pack", "magnets in a pack, as sold", 1, 10_000)
    magnet_grade: str = _text("magnet.grade", "strength grade of the magnets, as sold")
    inlay: str = _choice("label.inlay", "whether a second colour fills the engraving", *INLAYS)
    letter_colour: str = _colour("label.colour", "colour of the inlay")
    facing: str = _choice("plate.face", "which way the face points on the bed", *FACINGS)
    plate_gap_mm: float = _mm("plate.gap", "distance between pieces on a plate", 0, 50)
    plate_edge_mm: float = _mm("plate.edge", "distance from pieces to the edge of the bed", 0, 50)
    plate_colours: str = _choice(
        "plate.colours", "whether plates mix colours or have one each", *PLATE_COLOURS
    )
    tower_mm: float = _mm("plate.tower", "side of the square reserved for a prime tower", 0, 200)
    filament: str = _text("filament.material", "material of the filament")
    filament_preset: str = _name("filament.preset", "the slicer's preset for the filament")
    filament_density: float = _number(
        "filament.density", "density of the filament, in g/cm3", 0.5, 10
    )
    filament_diameter_mm: float = _mm("filament.diameter", "diameter of the filament", 1, 4)
    currency: str = _text("price.currency", "currency of the prices")
    filament_price: float = _number("price.filament", "price of a kilogram of filament", 0, 10_000)
    magnet_price: float = _number("price.magnet", "price of a magnet", 0, 1_000)
    kerf_mm: float = _mm("laser.kerf", "width of the cut of a laser or knife", 0, 2)
    laser_inset_mm: float = _mm("laser.inset", "inward offset of each cut side", 0, 2)
    sheet_width_mm: float = _mm("laser.sheet_width", "width of the sheet", 20, 5000)
    sheet_depth_mm: float = _mm("laser.sheet_depth", "depth of the sheet", 20, 5000)
    sheet_gap_mm: float = _mm("laser.gap", "distance between pieces on a sheet", 0, 50)
    sheet_edge_mm: float = _mm("laser.edge", "distance from pieces to the edge of the sheet", 0, 50)
    ball_mm: float = _mm("ball.diameter", "diameter of a ball", 1, 100)
    link_mm: float = _mm("ball.link", "diameter of the link between two balls", 0.5, 100)
    ball_flat_mm: float = _mm("ball.flat", "height of a ball's centre above the bed", 0.2, 50)
    cell_shape: str = _choice("cell.shape", "shape of the cells of pieces on pegs", *CELL_SHAPES)
    tones: str = _choice("cell.tones", "whether second colours are separate parts", *TONES)
    cell_link_mm: float = _mm("cell.link", "width of the bar between two discs or stars", 0.5, 100)
    peg_mm: float = _mm("peg.diameter", "diameter of the peg below each cell", 1, 100)
    peg_height_mm: float = _mm("peg.height", "height of the pegs; 0 for pieces without", 0, 20)
    boards_made: str = _choice("board.make", "which boards to print", *BOARDS_MADE)
    board_clearance_mm: float = _mm(
        "board.clearance", "clearance from frame to region, per side", 0, 3
    )
    board_floor_mm: float = _mm(
        "board.floor", "thickness of a tray's floor, or below a socket", 0.4, 20
    )
    board_wall_mm: float = _mm("board.wall", "thickness of a board's frame", 1, 50)
    relief_mm: float = _mm("board.relief", "radius of the relief in the corners of a tray", 0, 5)
    notch_mm: float = _mm("board.notch", "width of the finger notch; 0 for none", 0, 60)
    hole_mm: float = _mm("board.hole", "diameter of a hole for a ball", 1, 120)
    channel_mm: float = _mm("board.channel", "clearance beside a link in its channel", 0, 3)
    socket_mm: float = _mm("board.socket", "clearance around a peg in its socket", 0, 3)
    joint_mm: float = _mm(
        "board.joint", "inset of each part of a board in parts that join", 0.02, 0.5
    )
    title_mm: float = _mm("board.title", "cap height of the title; 0 for none", 0, 40)
    title_depth_mm: float = _mm("board.title_depth", "depth of the title's engraving", 0.1, 5)
    board_text: str = _choice("board.text", "texts on the cells of a tray", *BOARD_TEXTS)
    text_depth_mm: float = _mm("board.text_depth", "depth of the texts in a tray's floor", 0.1, 5)
    board_colour: str = _colour("board.colour", "colour of boards, lids and blockers")
    lid: str = _choice("lid.kind", "how the lid closes", *LIDS)
    lid_thickness_mm: float = _mm("lid.thickness", "thickness of the lid", 0.8, 10)
    lid_clearance_mm: float = _mm("lid.clearance", "clearance from lid to board, per side", 0, 2)
    detent_mm: float = _mm("lid.detent", "how far a sliding lid catches; 0 for no bumps", 0, 0.4)
    lid_air_mm: float = _mm("lid.air", "clearance between pieces and lid", 0, 10)
    snap_mm: float = _mm("lid.snap", "how far a hook catches under its ledge", 0.1, 3)
    tongue_mm: float = _mm("lid.tongue", "length of the tongue that bends", 2, 60)
    tongue_thickness_mm: float = _mm("lid.tongue_thickness", "thickness of the tongue", 0.6, 6)

    @property
    def has_recesses(self) -> bool:
        """Whether pieces hold magnets."""
        return self.fit != "none"

    @property
    def has_inlays(self) -> bool:
        """Whether letters, or the texts of trays, are filled with a second colour."""
        return self.inlay != "none" or self.board_text == "inlay"

    @property
    def embedded(self) -> bool:
        """Whether magnets lie in closed cavities."""
        return self.fit == "embedded"


#: Every key of a profile file, in the order of writing.
SETTINGS: tuple[Setting, ...] = tuple(
    replace(field.metadata["setting"], attribute=field.name)
    for field in fields(Profile)
    if field.metadata
)
