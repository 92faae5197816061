"""Print profiles: all dimensions that are not in the drawing.

A `Profile` is built from layers (presets, files, ``-s key=value``), later ones taking precedence;
see `fabkit.model.profile_file`. Each field defines its key, description and limits, from which reading,
dumping, schemas and messages are derived.
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
#: Kinds of lids.
LIDS = ("sliding", "snap", "none")

#: Types of settings, which determine the notation.
LENGTH, ANGLE, CHOICE, NUMBER, COLOUR, TEXT = (
    "length", "angle", "choice", "number", "colour", "text",
)  # fmt: skip
#: Sections and keys that do not affect the shape of pieces: checks, layout, costs, other parts.
_NOT_SHAPING = {
    "gap", "printer", "calibration", "plate", "filament", "price", "laser", "board", "lid",
    "magnet.grade", "label.inlay", "label.colour", "cell.tones",
}  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """One key of a profile file.

    Attributes:
        key: such as ``magnet.diameter``.
        about: description for users.
        kind: one of `LENGTH`, `ANGLE`, `CHOICE`, `NUMBER`, `COLOUR` and `TEXT`.
        limits: the least and the greatest number, or the choices.
        attribute: the `Profile` field it fills.
    """

    key: str
    about: str
    kind: str
    limits: tuple[Any, ...]
    attribute: str = ""

    @property
    def affects_shape(self) -> bool:
        """Whether it affects the shape of the pieces."""
        section = self.key.partition(".")[0]
        return self.key == "plate.face" or _NOT_SHAPING.isdisjoint((section, self.key))


def _setting(kind: str, key: str, about: str, *limits: Any) -> Any:
    return field(metadata={"setting": Setting(key, about, kind, limits)})


_mm, _degrees, _number, _choice, _text, _colour = (
    partial(_setting, kind) for kind in (LENGTH, ANGLE, NUMBER, CHOICE, TEXT, COLOUR)
)


@dataclass(frozen=True, kw_only=True)
class Profile:
    """All numbers for printing a set. Lengths are in millimetres.

    Two pieces have a clearance of twice ``inset_mm`` between them.

    Attributes:
        name: of the last preset or file applied.
        title: one-line description.
    """

    name: str
    title: str
    unit_mm: float = _mm("unit", "length of one grid unit", 4, 200)
    thickness_mm: float = _mm("thickness", "of a piece, from back to face", 1, 50)
    inset_mm: float = _mm("inset", "how far each side stays inside the outline", 0, 2)
    tip_flat_mm: float = _mm("tip_flat", "width of the flat to which acute tips are cut", 0.1, 20)
    top_chamfer_mm: float = _mm("top_chamfer", "45-degree chamfer around the lettered face", 0, 5)
    foot_chamfer_mm: float = _mm("foot_chamfer", "the same around the back", 0, 5)
    first_layer_mm: float = _mm("layers.first", "height of the printer's first layer", 0.05, 0.6)
    layer_mm: float = _mm("layers.height", "height of the other layers", 0.05, 0.6)
    magnet_diameter_mm: float = _mm("magnet.diameter", "diameter of a magnet", 1, 50)
    magnet_height_mm: float = _mm("magnet.height", "height of a magnet", 0.3, 30)
    fit: str = _choice("recess.fit", "how a magnet is held", *FITS)
    press_mm: float = _mm("recess.press", "added to the magnet's diameter for a press fit", -0.5, 1)
    glue_mm: float = _mm("recess.glue", "added for a glued fit", 0, 2)
    rib_root_mm: float = _mm("recess.rib_root", "added for the bore between crush ribs", 0, 2)
    rib_crest_mm: float = _mm(
        "recess.rib_crest", "added for the ribs' crests; negative: taken off", -1, 1
    )
    rib_width_mm: float = _mm("recess.rib_width", "width of a crush rib at its root", 0.3, 3)
    embedded_mm: float = _mm("recess.embedded", "added for a closed cavity", 0, 2)
    lead_in_mm: float = _mm("recess.lead_in", "45-degree chamfer at a recess's open end", 0, 2)
    release_mm: float = _mm("recess.release", "hole to push a magnet out by; 0 for none", 0, 25)
    air_mm: float = _mm("recess.air", "least room over a magnet", 0.1, 0.3)
    floor_mm: float = _mm("recess.floor", "between an embedded magnet and the back", 0.2, 10)
    roof_mm: float = _mm("recess.roof", "least plastic from a recess to the letter", 0.2, 10)
    wall_mm: float = _mm("recess.wall", "least wall from a recess to the side", 0.4, 20)
    bed_wall_mm: float = _mm("recess.bed_wall", "the same at the bed, after chamfers", 0.3, 20)
    cap_height_mm: float = _mm("label.cap_height", "height of a capital letter", 1, 100)
    label_depth_mm: float = _mm("label.depth", "depth of the engraving", 0.1, 5)
    stroke_mm: float = _mm("label.stroke", "least width of a letter's strokes", 0.2, 5)
    label_margin_mm: float = _mm("label.margin", "from the letter to the top chamfer", 0, 20)
    faces: str = _choice("label.faces", "where the letter is engraved", *FACES)
    gap_min_mm: float = _mm("gap.min", "least gap between two printed pieces of a challenge", 0, 2)
    gap_max_mm: float = _mm("gap.max", "greatest gap along a shared edge", 0.01, 10)
    max_bridge_mm: float = _mm("printer.max_bridge", "widest ceiling that it can span", 1, 100)
    bed_width_mm: float = _mm("printer.bed_width", "width of the printer's bed", 20, 2000)
    bed_depth_mm: float = _mm("printer.bed_depth", "depth of the printer's bed", 20, 2000)
    bed_height_mm: float = _mm("printer.bed_height", "up to which it prints", 5, 2000)
    overhang_degrees: float = _degrees("printer.overhang", "steepest, from the vertical", 0, 89)
    nozzle_mm: float = _mm("printer.nozzle", "width of the printer's nozzle", 0.1, 2)
    offset_mm: float = _mm("calibration.offset", "how far out sides print, on average", -1, 1)
    offset_sd_mm: float = _mm("calibration.offset_sd", "standard uncertainty of that", 0, 1)
    side_sd_mm: float = _mm("calibration.side_sd", "scatter of single sides; 0: unknown", 0, 1)
    hole_loss_mm: float = _mm("calibration.hole_loss", "how much narrower recesses print", -1, 2)
    hole_sd_mm: float = _mm("calibration.hole_sd", "scatter of that", 0, 1)
    polarity: str = _choice("magnet.polarity", "which pole of a magnet shows outwards", *POLARITIES)
    magnet_grade: str = _text("magnet.grade", "how strong a magnet is, as it is sold")
    inlay: str = _choice("label.inlay", "whether a second colour fills the engraving", *INLAYS)
    letter_colour: str = _colour("label.colour", "of the filling of the engraving")
    facing: str = _choice("plate.face", "which way a piece lies on the bed", *FACINGS)
    plate_gap_mm: float = _mm("plate.gap", "between two pieces on a plate", 0, 50)
    plate_edge_mm: float = _mm("plate.edge", "between a piece and the edge of the bed", 0, 50)
    tower_mm: float = _mm("plate.tower", "side of the square kept for a prime tower", 0, 200)
    filament: str = _text("filament.material", "what it is made of")
    filament_density: float = _number("filament.density", "in g/cm3", 0.5, 10)
    filament_diameter_mm: float = _mm("filament.diameter", "of the filament", 1, 4)
    currency: str = _text("price.currency", "of the prices")
    filament_price: float = _number("price.filament", "of a kilogram", 0, 10_000)
    magnet_price: float = _number("price.magnet", "of one magnet", 0, 1_000)
    kerf_mm: float = _mm("laser.kerf", "width of what a laser or knife takes away", 0, 2)
    laser_inset_mm: float = _mm("laser.inset", "how far a cut piece stays inside the outline", 0, 2)
    sheet_width_mm: float = _mm("laser.sheet_width", "width of the sheet for cutting", 20, 5000)
    sheet_depth_mm: float = _mm("laser.sheet_depth", "depth of that sheet", 20, 5000)
    sheet_gap_mm: float = _mm("laser.gap", "between two pieces on a sheet", 0, 50)
    sheet_edge_mm: float = _mm("laser.edge", "between a piece and the edge of a sheet", 0, 50)
    ball_mm: float = _mm("ball.diameter", "diameter of a ball", 1, 100)
    link_mm: float = _mm("ball.link", "diameter of the link between two balls", 0.5, 100)
    ball_flat_mm: float = _mm("ball.flat", "from a ball's middle down to the bed", 0.2, 50)
    cell_shape: str = _choice("cell.shape", "look of a cell of a piece with pegs", *CELL_SHAPES)
    tones: str = _choice("cell.tones", "whether second colours are parts apart", *TONES)
    cell_link_mm: float = _mm("cell.link", "width of the bar between two discs or stars", 0.5, 100)
    peg_mm: float = _mm("peg.diameter", "diameter of the peg below each cell", 1, 100)
    peg_height_mm: float = _mm("peg.height", "of that; 0 for pieces without pegs", 0, 20)
    boards_made: str = _choice("board.make", "of which boards an object is made", *BOARDS_MADE)
    board_clearance_mm: float = _mm("board.clearance", "from frame to region, per side", 0, 3)
    board_floor_mm: float = _mm("board.floor", "of a tray's floor, or below a socket", 0.4, 20)
    board_wall_mm: float = _mm("board.wall", "thickness of a board's frame", 1, 50)
    relief_mm: float = _mm("board.relief", "radius of the relief in the corners of a tray", 0, 5)
    notch_mm: float = _mm("board.notch", "width of the notch for a finger; 0 for none", 0, 60)
    hole_mm: float = _mm("board.hole", "diameter of a hole for a ball", 1, 120)
    channel_mm: float = _mm("board.channel", "between a link and the side of its channel", 0, 3)
    socket_mm: float = _mm("board.socket", "between a peg and its socket, per side", 0, 3)
    title_mm: float = _mm("board.title", "cap height of the title; 0 for none", 0, 40)
    title_depth_mm: float = _mm("board.title_depth", "depth of its engraving", 0.1, 5)
    board_colour: str = _colour("board.colour", "of boards and lids")
    lid: str = _choice("lid.kind", "how a board is closed", *LIDS)
    lid_thickness_mm: float = _mm("lid.thickness", "of the lid", 0.8, 10)
    lid_clearance_mm: float = _mm("lid.clearance", "from a lid to its board, per side", 0, 2)
    lid_air_mm: float = _mm("lid.air", "between the pieces and the lid", 0, 10)
    snap_mm: float = _mm("lid.snap", "how far a hook catches under its ledge", 0.1, 3)
    tongue_mm: float = _mm("lid.tongue", "of the tongue that bends when it snaps", 2, 60)
    tongue_thickness_mm: float = _mm("lid.tongue_thickness", "of that tongue", 0.6, 6)

    @property
    def has_recesses(self) -> bool:
        """Whether pieces hold magnets."""
        return self.fit != "none"

    @property
    def embedded(self) -> bool:
        """Whether magnets lie in closed cavities."""
        return self.fit == "embedded"


#: Every key of a profile file, in the order of writing.
SETTINGS: tuple[Setting, ...] = tuple(
    replace(one.metadata["setting"], attribute=one.name) for one in fields(Profile) if one.metadata
)
