"""Print profiles: every millimetre that is not in the drawing.

A `Profile` is built from layers (presets, files, ``-s key=value``), later ones winning; see
`fabkit.model.profilefile`. Each field's metadata says how it is written in a file and what is
sane, so that reading, dumping and the messages all come from here.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

#: How a magnet is held. ``none`` leaves the recesses out.
FITS = ("press", "glue", "ribs", "embedded", "none")
#: Crush ribs in a bore: fewer are not round, many more do not print (gridfinity-rebuilt).
RIB_COUNT = 8
#: Part of the bore's circumference that the ribs may take, so that they can be crushed aside.
MAX_RIB_SHARE = 0.6
#: Where the letter is engraved.
FACES = ("front", "both", "none")
#: What becomes of the engraving: it stays, or a part of a second colour fills it.
INLAYS = ("none", "letter")
#: Which pole of a magnet shows outwards: the same everywhere, either in turn, or whichever.
POLARITIES = ("same", "alternating", "free")
#: Which way a piece lies on the bed: its lettered face up, or down.
FACINGS = ("up", "down")

#: What a cell of a piece with stubs looks like from above.
CELL_SHAPES = ("hexagon", "disc", "star")
#: What becomes of the second colour of chequered pieces: nothing, or a part of its own in 3MF files.
TONES = ("plain", "inlay")
#: Of which boards an object is made: those that belong to the set, all that its file draws, or none.
BOARDS_MADE = ("set", "all", "none")
#: How a board is closed.
LIDS = ("sliding", "snap", "none")

#: What a setting is, and so how it is written in a file.
LENGTH, ANGLE, CHOICE, NUMBER, COLOUR, TEXT = (
    "length",
    "angle",
    "choice",
    "number",
    "colour",
    "text",
)


def _mm(key: str, low_mm: float, high_mm: float, shapes: bool = True) -> Any:
    """A length that is written as ``key = "20 mm"``."""
    return _setting(key, LENGTH, shapes, low=low_mm, high=high_mm)


def _degrees(key: str, low: float, high: float, shapes: bool = True) -> Any:
    """An angle that is written as ``key = "45 deg"``."""
    return _setting(key, ANGLE, shapes, low=low, high=high)


def _choice(key: str, choices: tuple[str, ...], shapes: bool = True) -> Any:
    """One of a few words."""
    return _setting(key, CHOICE, shapes, choices=choices)


def _number(key: str, low: float, high: float) -> Any:
    """A number without a unit."""
    return _setting(key, NUMBER, shapes=False, low=low, high=high)


def _setting(key: str, kind: str, shapes: bool, **more: Any) -> Any:
    return field(metadata={"key": key, "kind": kind, "shapes": shapes, **more})


@dataclass(frozen=True, kw_only=True)
class Profile:
    """All numbers for printing a set. Lengths are in millimetres, sizes of magnets diameters.

    Attributes:
        name: of the last preset or file that it was built from.
        title: one line for people.
        unit_mm: length of one grid unit.
        thickness_mm: of a piece, from back to face.
        inset_mm: how far each side stays inside the canonical outline; the clearance between
            two pieces is twice that.
        tip_flat_mm: width of the flat to which acute tips are cut.
        top_chamfer_mm: 45-degree chamfer around the lettered face.
        foot_chamfer_mm: the same around the back, against the elephant foot.
        first_layer_mm: height of the printer's first layer.
        layer_mm: height of the other layers.
        magnet_diameter_mm: of one magnet.
        magnet_height_mm: of one magnet.
        fit: how a magnet is held, one of `FITS`.
        press_mm: added to the magnet's diameter for a press fit.
        glue_mm: added for a glued fit.
        rib_root_mm: added for the bore between crush ribs.
        rib_crest_mm: added (negative: taken off) for the circle that the ribs' crests touch.
        rib_width_mm: width of a crush rib at its root.
        embedded_mm: added for a closed cavity.
        mouth_mm: 45-degree chamfer at an open recess's mouth.
        air_mm: the least room over a magnet, before rounding to whole layers.
        floor_mm: plastic between an embedded magnet and the back.
        roof_mm: the least plastic between a recess and the bottom of the letter.
        wall_mm: the least wall between a recess's widest bore and the side of the piece.
        bed_wall_mm: the least wall at the bed, after mouth and foot chamfers.
        cap_height_mm: height of a capital letter.
        label_depth_mm: depth of the engraving.
        stroke_mm: the least width of a letter's strokes.
        label_margin_mm: room between the letter and the top chamfer.
        faces: where the letter is engraved, one of `FACES`.
        gap_min_mm: the least gap between two printed pieces that lie as a challenge asks.
        gap_max_mm: the greatest gap along an edge that two such pieces share.
        max_bridge_mm: the widest ceiling that the printer can span.
        bed_width_mm: of the printer's bed.
        bed_depth_mm: of the printer's bed.
        bed_height_mm: up to which it prints.
        overhang_degrees: the steepest overhang it prints, from the vertical.
        nozzle_mm: width of the printer's nozzle.
        polarity: which pole of a magnet shows outwards, one of `POLARITIES`.
        magnet_grade: how strong a magnet is, as it is sold.
        inlay: whether the engraving is filled with a second colour, one of `INLAYS`.
        letter_colour: of that filling, ``#rrggbb``.
        facing: which way a piece lies on the bed, one of `FACINGS`.
        plate_gap_mm: between two pieces on a plate.
        plate_edge_mm: between a piece and the edge of the bed.
        tower_mm: side of the square that is kept free for a prime tower, with two colours.
        filament: what it is made of.
        filament_density: of that, in g/cm3.
        filament_diameter_mm: of the filament.
        currency: of the prices.
        filament_price: of a kilogram.
        magnet_price: of one magnet.
        kerf_mm: width of what a laser or knife takes away; half of it on each side of a cut.
        laser_inset_mm: how far each side of a cut piece stays inside the canonical outline.
        sheet_width_mm: of the sheet that pieces are cut from.
        sheet_depth_mm: of the sheet that pieces are cut from.
        sheet_gap_mm: between two pieces on a sheet.
        sheet_edge_mm: between a piece and the edge of a sheet.
        ball_mm: diameter of a ball of a piece that is made of balls.
        link_mm: diameter of the link between two of them.
        ball_flat_mm: from the middle of a ball down to the flat on which it is printed.
        cell_shape: what a cell of a piece with stubs looks like, one of `CELL_SHAPES`.
        tones: whether cells of a second colour are parts of their own, one of `TONES`.
        cell_link_mm: width of the bar between two discs or stars.
        stub_mm: diameter of the stub below each cell.
        stub_height_mm: of that; 0 for pieces without stubs.
        boards_made: of which boards an object is made, one of `BOARDS_MADE`.
        board_clearance_mm: between a board's frame and the outline of its region, per side.
        board_floor_mm: thickness of a tray's floor, and of what is below a seat.
        board_wall_mm: thickness of a board's frame.
        relief_mm: radius of the relief in the corners of a tray.
        notch_mm: width of the notch for a finger; 0 for none.
        hole_mm: diameter of a hole for a ball.
        channel_mm: between a link and the side of its channel.
        seat_mm: between a stub and its seat, per side.
        title_mm: cap height of the title; 0 for none.
        title_depth_mm: depth of its engraving.
        board_colour: of boards and lids, ``#rrggbb``.
        lid: how a board is closed, one of `LIDS`.
        lid_thickness_mm: of the lid.
        lid_clearance_mm: between a lid and what it slides or snaps on, per side.
        lid_air_mm: between the pieces and the lid.
        snap_mm: how far the hook of a snapping lid catches under its ledge.
        tongue_mm: length of the tongue that bends when the lid snaps.
        tongue_thickness_mm: of that.
    """

    name: str
    title: str
    unit_mm: float = _mm("unit", 4, 200)
    thickness_mm: float = _mm("thickness", 1, 50)
    inset_mm: float = _mm("inset", 0, 2)
    tip_flat_mm: float = _mm("tip_flat", 0.1, 20)
    top_chamfer_mm: float = _mm("top_chamfer", 0, 5)
    foot_chamfer_mm: float = _mm("foot_chamfer", 0, 5)
    first_layer_mm: float = _mm("layers.first", 0.05, 0.6)
    layer_mm: float = _mm("layers.height", 0.05, 0.6)
    magnet_diameter_mm: float = _mm("magnet.diameter", 1, 50)
    magnet_height_mm: float = _mm("magnet.height", 0.3, 30)
    fit: str = _choice("recess.fit", FITS)
    press_mm: float = _mm("recess.press", -0.5, 1)
    glue_mm: float = _mm("recess.glue", 0, 2)
    rib_root_mm: float = _mm("recess.rib_root", 0, 2)
    rib_crest_mm: float = _mm("recess.rib_crest", -1, 1)
    rib_width_mm: float = _mm("recess.rib_width", 0.3, 3)
    embedded_mm: float = _mm("recess.embedded", 0, 2)
    mouth_mm: float = _mm("recess.mouth", 0, 2)
    air_mm: float = _mm("recess.air", 0.1, 0.3)
    floor_mm: float = _mm("recess.floor", 0.2, 10)
    roof_mm: float = _mm("recess.roof", 0.2, 10)
    wall_mm: float = _mm("recess.wall", 0.4, 20)
    bed_wall_mm: float = _mm("recess.bed_wall", 0.3, 20)
    cap_height_mm: float = _mm("label.cap_height", 1, 100)
    label_depth_mm: float = _mm("label.depth", 0.1, 5)
    stroke_mm: float = _mm("label.stroke", 0.2, 5)
    label_margin_mm: float = _mm("label.margin", 0, 20)
    faces: str = _choice("label.faces", FACES)
    gap_min_mm: float = _mm("gap.min", 0, 2, shapes=False)
    gap_max_mm: float = _mm("gap.max", 0.01, 10, shapes=False)
    max_bridge_mm: float = _mm("printer.max_bridge", 1, 100, shapes=False)
    bed_width_mm: float = _mm("printer.bed_width", 20, 2000, shapes=False)
    bed_depth_mm: float = _mm("printer.bed_depth", 20, 2000, shapes=False)
    bed_height_mm: float = _mm("printer.bed_height", 5, 2000, shapes=False)
    overhang_degrees: float = _degrees("printer.overhang", 0, 89, shapes=False)

    nozzle_mm: float = _mm("printer.nozzle", 0.1, 2, shapes=False)
    polarity: str = _choice("magnet.polarity", POLARITIES)
    magnet_grade: str = _setting("magnet.grade", TEXT, shapes=False)
    inlay: str = _choice("label.inlay", INLAYS, shapes=False)
    letter_colour: str = _setting("label.colour", COLOUR, shapes=False)
    facing: str = _choice("plate.face", FACINGS)
    plate_gap_mm: float = _mm("plate.gap", 0, 50, shapes=False)
    plate_edge_mm: float = _mm("plate.edge", 0, 50, shapes=False)
    tower_mm: float = _mm("plate.tower", 0, 200, shapes=False)
    filament: str = _setting("filament.material", TEXT, shapes=False)
    filament_density: float = _number("filament.density", 0.5, 10)
    filament_diameter_mm: float = _mm("filament.diameter", 1, 4, shapes=False)
    currency: str = _setting("price.currency", TEXT, shapes=False)
    filament_price: float = _number("price.filament", 0, 10_000)
    magnet_price: float = _number("price.magnet", 0, 1_000)
    kerf_mm: float = _mm("laser.kerf", 0, 2, shapes=False)
    laser_inset_mm: float = _mm("laser.inset", 0, 2, shapes=False)
    sheet_width_mm: float = _mm("laser.sheet_width", 20, 5000, shapes=False)
    sheet_depth_mm: float = _mm("laser.sheet_depth", 20, 5000, shapes=False)
    sheet_gap_mm: float = _mm("laser.gap", 0, 50, shapes=False)
    sheet_edge_mm: float = _mm("laser.edge", 0, 50, shapes=False)

    ball_mm: float = _mm("ball.diameter", 1, 100)
    link_mm: float = _mm("ball.link", 0.5, 100)
    ball_flat_mm: float = _mm("ball.flat", 0.2, 50)
    cell_shape: str = _choice("cell.shape", CELL_SHAPES)
    tones: str = _choice("cell.tones", TONES, shapes=False)
    cell_link_mm: float = _mm("cell.link", 0.5, 100)
    stub_mm: float = _mm("stub.diameter", 1, 100)
    stub_height_mm: float = _mm("stub.height", 0, 20)
    boards_made: str = _choice("board.make", BOARDS_MADE, shapes=False)
    board_clearance_mm: float = _mm("board.clearance", 0, 3, shapes=False)
    board_floor_mm: float = _mm("board.floor", 0.4, 20, shapes=False)
    board_wall_mm: float = _mm("board.wall", 1, 50, shapes=False)
    relief_mm: float = _mm("board.relief", 0, 5, shapes=False)
    notch_mm: float = _mm("board.notch", 0, 60, shapes=False)
    hole_mm: float = _mm("board.hole", 1, 120, shapes=False)
    channel_mm: float = _mm("board.channel", 0, 3, shapes=False)
    seat_mm: float = _mm("board.seat", 0, 3, shapes=False)
    title_mm: float = _mm("board.title", 0, 40, shapes=False)
    title_depth_mm: float = _mm("board.title_depth", 0.1, 5, shapes=False)
    board_colour: str = _setting("board.colour", COLOUR, shapes=False)
    lid: str = _choice("lid.kind", LIDS, shapes=False)
    lid_thickness_mm: float = _mm("lid.thickness", 0.8, 10, shapes=False)
    lid_clearance_mm: float = _mm("lid.clearance", 0, 2, shapes=False)
    lid_air_mm: float = _mm("lid.air", 0, 10, shapes=False)
    snap_mm: float = _mm("lid.snap", 0.1, 3, shapes=False)
    tongue_mm: float = _mm("lid.tongue", 2, 60, shapes=False)
    tongue_thickness_mm: float = _mm("lid.tongue_thickness", 0.6, 6, shapes=False)

    @property
    def has_recesses(self) -> bool:
        """Whether pieces hold magnets."""
        return self.fit != "none"

    @property
    def embedded(self) -> bool:
        """Whether magnets lie in closed cavities."""
        return self.fit == "embedded"


@dataclass(frozen=True)
class Setting:
    """One key of a profile file.

    Attributes:
        key: as written, such as ``magnet.diameter``.
        attribute: the `Profile` field it fills.
        kind: one of `LENGTH`, `ANGLE`, `CHOICE`, `NUMBER`, `COLOUR` and `TEXT`.
        shapes: whether it shapes the pieces. The others say what is checked, how pieces are
            laid out, and what they cost.
        choices: the allowed words of a choice.
        low: the least sane number.
        high: the greatest sane number.
    """

    key: str
    attribute: str
    kind: str
    shapes: bool
    choices: tuple[str, ...] = ()
    low: float = 0.0
    high: float = 0.0


#: Every key of a profile file, in the order in which they are written.
SETTINGS: tuple[Setting, ...] = tuple(
    Setting(attribute=f.name, **f.metadata) for f in fields(Profile) if f.metadata
)
