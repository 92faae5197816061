"""The list of all kinds of faults, each with the rule that must name it."""

from __future__ import annotations

from tests.support.faults import letters, marks, mesh, outline, place, recesses, sets
from tests.support.faults.kits import (
    CHIRAL,
    CHIRAL_ALONE,
    CHIRAL_LETTERS,
    CLOSED,
    FACE_DOWN,
    LETTER_OVER_MAGNET,
    LONG,
    RIBBED,
    ROOMY,
    TELLING,
    TIPPED,
    TWO_FACED,
    UNLETTERED,
    WITH_ISLANDS,
    WITHOUT_ISLANDS,
)
from tests.support.faults.planting import Fault, as_it_is
from tests.support.prints import Order

_THIN = Order((), ("thickness=4.45 mm",))
#: With limits so wide that only the one rule can tell.
_WIDE = Order((), ("recess.wall=1.2 mm", "label.stroke=0.2 mm", "gap.max=5 mm"))
_NO_CHAMFERS = Order((), ("top_chamfer=0 mm", "foot_chamfer=0 mm"))

FAULTS: list[Fault] = [
    # The mesh as such.
    Fault("missing triangles", "watertight", mesh.missing_triangles),
    Fault("one triangle flipped", "winding", mesh.flipped_triangle),
    Fault("all normals flipped", "volume", mesh.inside_out),
    Fault("body there twice", "degenerate", mesh.same_twice),
    Fault("second copy in the file", "shells", mesh.copy_into),
    Fault("second copy beside it in the file", "twice", mesh.copy_beside, at="set"),
    Fault("second body in the file", "shells", mesh.second_body),
    Fault("inward shell where none belongs", "cavities", mesh.hidden_cavity),
    Fault("cavity reaches out", "cavities", mesh.cavity_reaches_out, order=CLOSED),
    Fault("face there twice", "degenerate", mesh.duplicate_face),
    Fault("face of no extent", "degenerate", mesh.face_of_no_extent),
    Fault("face of two corners", "degenerate", mesh.face_of_two_corners),
    Fault("corner pushed through the wall", "self-intersection", mesh.corner_through_wall),
    Fault("spike through the piece", "self-intersection", mesh.spike_through_piece, company=6),
    Fault("most triangles missing", "watertight", mesh.half_missing, company=6),
    Fault("rough", "self-intersection", mesh.rough, clear=(0.02, 5), company=6),
    Fault("flattened", "volume", mesh.flattened, company=6),
    Fault("spike on the face", "thickness", mesh.spike_on_face),
    # Scale and place.
    Fault("scaled", "unit", place.scaled_alike, clear=(4, 15), limited=True, at_limit=ROOMY),
    Fault(
        "scaled flat",
        "unit",
        place.scaled_flat,
        TELLING,
        clear=(4, 15),
        limited=True,
        at_limit="MQBY",
    ),
    Fault("scaled in height", "thickness", place.scaled_up, clear=(1.4, 10), limited=True),
    Fault("tilted", "lies-on-back", place.tilted, clear=(2, 25), limited=True),
    Fault("on its face", "lies-on-back", place.on_its_face),
    Fault("on its side", "lies-on-back", place.on_its_side),
    # Which piece it is.
    Fault("mirrored mesh", "shape", place.mirrored_mesh, CHIRAL),
    Fault("mirrored outline", "shape", place.mirrored_outline, CHIRAL),
    Fault("mirrored without a letter", "shape", place.mirrored_mesh, CHIRAL_ALONE, UNLETTERED),
    Fault("swapped piece", "missing", sets.swapped_piece, at="set"),
    Fault("wrong letter", "shape", letters.wrong_letter, "RELOTSQDJBNIU"),
    Fault("mirrored letter", "letter", letters.mirrored_letter, CHIRAL_LETTERS),
    # So much is cut off the tips that sides are open there, beyond the ends that are left out.
    Fault("blunt tips", "read-back", outline.blunt_tip, TIPPED, _WIDE, (1.1, 1.3), True),
    # Outline.
    Fault("thickness off", "thickness", outline.thicker, clear=(2, 20), limited=True),
    Fault("top chamfer off", "top-chamfer", outline.top_chamfered, clear=(2, 5), limited=True),
    Fault("foot chamfer off", "foot-chamfer", outline.foot_chamfered, clear=(2, 6), limited=True),
    Fault("no top chamfer", "top-chamfer", outline.no_chamfer),
    Fault("no foot chamfer", "foot-chamfer", outline.no_foot_chamfer),
    Fault(
        "chamfer too wide along one side",
        "top-chamfer",
        outline.chamfer_wide_at_side,
        clear=(1.5, 3),
        limited=True,
    ),
    Fault("tip not cut", "tip", outline.sharp_tip, TIPPED, clear=(3, 7), limited=True),
    Fault("sharp tip", "tip", outline.sharp_tip, TIPPED, _NO_CHAMFERS, (12, 22)),
    Fault("grown", "gap-least", outline.grown, clear=(1.3, 3), limited=True),
    # Where there is no room to spare the wall beside the magnet gets too thin as well.
    Fault(
        "shrunk",
        "gap-most",
        outline.shrunk,
        clear=(1.3, 2.3),
        limited=True,
        at_limit=ROOMY,
    ),
    Fault("one side moved out", "gap-least", outline.edge_moved_out, clear=(0.5, 1.2)),
    Fault("one side moved in", "gap-most", outline.edge_moved_in, clear=(0.8, 1.2)),
    Fault(
        "little rests on the bed", "flat-back", as_it_is, "D", outline.little_rest, (1.1, 1.1), True
    ),
    # Recesses.
    Fault(
        "bore of another width",
        "recess-diameter",
        recesses.bore_off,
        clear=(2, 8),
        limited=True,
        at_limit=ROOMY,
    ),
    Fault("bore 0.3 mm too wide", "recess-diameter", recesses.bore_wide, clear=(6, 6)),
    Fault(
        "bore with ribs too wide",
        "recess-diameter",
        recesses.bore_off,
        order=RIBBED,
        clear=(2, 8),
        limited=True,
        at_limit=ROOMY,
    ),
    Fault(
        "oval bore", "recess-round", recesses.oval_bore, clear=(2, 8), limited=True, at_limit=ROOMY
    ),
    Fault("tapered bore", "recess-diameter", recesses.tapered_bore, clear=(4, 16)),
    Fault("crests off", "rib-crest", recesses.crest_off, order=RIBBED, clear=(2, 8), limited=True),
    Fault(
        "ribs too high", "rib-crest", recesses.ribs_high, order=RIBBED, clear=(2, 16), limited=True
    ),
    Fault("no ribs", "rib-crest", recesses.ribs_missing, order=RIBBED),
    Fault(
        "recess of another depth", "recess-depth", recesses.depth_off, clear=(1.5, 10), limited=True
    ),
    Fault("recess too deep", "recess-depth", recesses.too_deep, clear=(1.5, 15), limited=True),
    Fault("mouth of another width", "mouth", recesses.mouth_off, clear=(2, 9), limited=True),
    Fault("no mouth", "mouth", recesses.no_mouth),
    Fault("off centre", "wall", recesses.thin_wall, ROOMY, clear=(1.2, 1.9), limited=True),
    Fault(
        "two recesses too near",
        "wall",
        recesses.recesses_near,
        "TS",
        clear=(1.2, 1.45),
        limited=True,
    ),
    Fault("open at the side", "wall", recesses.open_at_side),
    Fault(
        "off centre at the bed",
        "bed-wall",
        recesses.thin_bed_wall,
        ROOMY,
        _WIDE,
        (1.3, 2),
        True,
    ),
    Fault("no recess", "recess-count", recesses.no_recess),
    Fault("one recess for two", "recess-count", recesses.one_recess_less, LONG),
    Fault("two recesses for one", "recess-count", recesses.one_recess_more, "QB"),
    Fault("spike in a recess", "recess-empty", recesses.spike_in_recess),
    Fault("closed where it should be open", "recess-open", recesses.closed_recess),
    Fault("open where it should be closed", "recess-closed", recesses.open_recess, order=CLOSED),
    Fault(
        "pause off a layer",
        "pause-height",
        recesses.pause_off,
        order=CLOSED,
        clear=(2, 8),
        limited=True,
    ),
    Fault(
        "pause off a layer, face down",
        "pause-height",
        recesses.pause_off,
        order=FACE_DOWN,
        clear=(2, 8),
        limited=True,
    ),
    Fault(
        "floor too thin", "floor", recesses.thin_floor, order=CLOSED, clear=(1.2, 1.9), limited=True
    ),
    Fault("roof too thin", "roof", recesses.thin_roof, LETTER_OVER_MAGNET, _THIN, (1.2, 1.9), True),
    Fault("recess into the letter", "cut-through", recesses.into_letter, "EMJYI"),
    Fault("recess through the piece", "cut-through", recesses.through_the_piece, order=UNLETTERED),
    *marks.FAULTS,
    # Letters.
    Fault("letter cut through", "cut-through", letters.letter_cut_through, WITHOUT_ISLANDS),
    Fault(
        "letter of another depth",
        "label-depth",
        letters.letter_depth_off,
        clear=(2, 9),
        limited=True,
    ),
    Fault("thin strokes", "label-stroke", letters.thin_strokes, clear=(1.2, 1.7), limited=True),
    Fault(
        "narrow island",
        "label-island",
        letters.narrow_island,
        WITH_ISLANDS,
        _WIDE,
        (1.2, 1.6),
        True,
    ),
    Fault(
        "letter at the rim", "label-margin", letters.letter_at_rim, clear=(1.2, 1.9), limited=True
    ),
    Fault("no letter", "label-face", letters.no_letter),
    Fault(
        "mirrored letter on the back",
        "letter-back",
        letters.mirrored_on_back,
        CHIRAL_LETTERS,
        order=TWO_FACED,
    ),
    Fault("no letter on the back", "label-back", letters.no_letter_on_back, order=TWO_FACED),
    Fault("letter where none belongs", "label-face", letters.needless_letter, order=UNLETTERED),
    # Printing.
    Fault("steep overhang", "overhang", outline.steep_foot, clear=(1.2, 1.8), limited=True),
    Fault(
        "steep overhang, face down",
        "overhang",
        outline.steep_top,
        order=FACE_DOWN,
        clear=(1.2, 1.8),
        limited=True,
    ),
    Fault(
        "wide ceiling, face down",
        "bridge",
        sets.wide_ceiling,
        order=FACE_DOWN,
        clear=(1.2, 5),
        limited=True,
        blames=True,
    ),
    Fault("wide ceiling", "bridge", sets.wide_ceiling, clear=(1.2, 5), limited=True, blames=True),
    Fault("low printer", "bed", sets.low_printer, clear=(1.2, 5), limited=True, blames=True),
    Fault("small bed", "bed", sets.small_bed, "BQ", clear=(1.2, 3), limited=True, blames=True),
    # Sets.
    Fault("a challenge that should not be", "put-together", sets.claimed_impossible, at="set"),
    Fault("a piece missing", "missing", sets.piece_missing, at="set"),
    Fault("a piece twice", "twice", sets.piece_twice, at="set"),
    Fault("a strange part", "strange", sets.strange_part, at="set"),
    Fault("a strange part cannot be read", "read-back", sets.strange_part, adds=True),
    Fault("a piece of another set", "strange", sets.foreign_part, at="set"),
    Fault("another set's outline", "shape", sets.foreign_part, adds=True),
    Fault("files in another length", "lengths", sets.other_lengths, at="set"),
    Fault("one file in inches", "read-back", sets.one_in_inches, company=6),
    Fault(
        "no clearance",
        "clearance",
        sets.whole_set_as_it_is,
        "B",
        sets.no_clearance,
        (1.2, 2),
        True,
        at="set",
    ),
    # Put together.
    Fault(
        "grown, put together",
        "leave a gap of",
        outline.grown,
        clear=(1.3, 1.8),
        limited=True,
        at="assembly",
    ),
    Fault("grown into each other", "overlap by", outline.grown, clear=(2.2, 4), at="assembly"),
    Fault(
        "grown out of the region",
        "out of the region",
        outline.grown,
        clear=(1.3, 4),
        limited=True,
        at="assembly",
    ),
    Fault(
        "shrunk, put together",
        "along an edge",
        outline.shrunk,
        ROOMY,
        clear=(1.3, 2.3),
        limited=True,
        at="assembly",
    ),
]
