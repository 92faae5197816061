"""The list of all kinds of faults, each with the rule that must name it."""

from __future__ import annotations

from tests.support.faults import kits, letters, marks, mesh, outline, place, recesses, sets, solids
from tests.support.faults.planting import Fault, as_it_is, limit
from tests.support.prints import Order

_THIN = Order((), ("thickness=4.45 mm",))
#: With limits so wide that only the one rule can tell.
_WIDE = Order((), ("recess.wall=1.2 mm", "label.stroke=0.2 mm", "gap.max=5 mm"))
#: Letters that are hardly larger than strokes and islands need, so that little less is too thin.
_BOLD = Order((), ("label.stroke=1.5 mm",))
_SMALL = Order((), (*_WIDE.settings, "label.cap_height=3.9 mm", "printer.nozzle=0.6 mm"))
_NO_CHAMFERS = Order((), ("top_chamfer=0 mm", "foot_chamfer=0 mm"))

FAULTS: list[Fault] = [
    # The mesh as such.
    Fault("missing triangles", "watertight", mesh.missing_triangles),
    Fault("one triangle flipped", "winding", mesh.flipped_triangle),
    Fault("all normals flipped", "volume", mesh.normals_flipped),
    Fault("body there twice", "degenerate", mesh.duplicate_body),
    Fault("second body in the file", "shells", mesh.second_body),
    Fault("second copy beside it in the file", "duplicate", mesh.copy_beside, at="set"),
    Fault("inward shell where none belongs", "cavities", mesh.hidden_cavity),
    Fault("cavity reaches out", "cavities", mesh.cavity_reaches_out, order=kits.CLOSED),
    Fault("face there twice", "degenerate", mesh.duplicate_face),
    Fault("face of no extent", "degenerate", mesh.face_of_no_extent),
    Fault("corner pushed through the wall", "self-intersection", mesh.corner_through_wall),
    Fault("most triangles missing", "watertight", mesh.half_missing, company=6),
    Fault("rough", "self-intersection", mesh.rough, clear=(0.02, 5), company=6),
    Fault("flattened", "volume", mesh.flattened, company=6),
    Fault("spike on the face", "even-face", mesh.spike_on_face),
    # Scale and place.
    limit("scaled", "unit", place.scaled_alike, 4, 15, at_limit=kits.ROOMY),
    limit("scaled in height", "thickness", place.scaled_up, 1.4, 10),
    limit("tilted", "orientation", place.tilted, 2, 25),
    Fault("on its face", "orientation", place.on_its_face),
    # Which piece it is.
    Fault("mirrored mesh", "shape", place.mirrored_mesh, kits.CHIRAL),
    Fault(
        "mirrored without a letter",
        "shape",
        place.mirrored_mesh,
        kits.CHIRAL_ALONE,
        kits.UNLETTERED,
    ),
    Fault("swapped piece", "missing", sets.swapped_piece, at="set"),
    Fault("swapped files", "file-name", sets.swapped_files, blames=True),
    Fault("wrong letter", "shape", letters.wrong_letter, "RELOTSQDJBNIU"),
    Fault("mirrored letter", "letter", letters.mirrored_letter, kits.CHIRAL_LETTERS),
    limit("blunt tips", "dent", outline.blunt_tip, 1.5, 9, kits.TIPPED),
    # So much is cut off the tips that sides are open there, beyond the ends that are left out.
    Fault("tips cut off", "read-back", outline.tips_cut_off, kits.TIPPED, clear=(1.1, 1.3)),
    # Outline.
    limit("thickness off", "thickness", outline.thicker, 2, 20),
    limit("top chamfer off", "top-chamfer", outline.top_chamfered, 2, 5),
    limit("foot chamfer off", "foot-chamfer", outline.foot_chamfered, 2, 6),
    Fault("no top chamfer", "top-chamfer", outline.no_chamfer),
    limit("chamfer too wide along one side", "top-chamfer", outline.chamfer_wide_at_side, 1.5, 3),
    limit("tip not cut", "tip", outline.sharp_tip, 3, 7, kits.TIPPED),
    Fault("sharp tip", "tip", outline.sharp_tip, kits.TIPPED, _NO_CHAMFERS, (12, 22)),
    limit("grown", "gap-min", outline.grown, 1.3, 3),
    # Where there is no room to spare the wall beside the magnet gets too thin as well.
    limit("shrunk", "gap-max", outline.shrunk, 1.3, 2.3, at_limit=kits.ROOMY),
    Fault("one side moved out", "gap-min", outline.edge_moved, clear=(0.5, 1.2)),
    Fault("one side moved in", "gap-max", outline.edge_moved_in, clear=(0.8, 1.2)),
    limit("little rests on the bed", "bed-contact", as_it_is, 1.1, 1.1, "D", outline.little_rest),
    # Recesses.
    limit(
        "recess of another width",
        "recess-diameter",
        recesses.diameter_off,
        2,
        8,
        at_limit=kits.ROOMY,
    ),
    limit(
        "ribbed recess too wide",
        "recess-diameter",
        recesses.diameter_off,
        2,
        8,
        order=kits.RIBBED,
        at_limit=kits.ROOMY,
    ),
    limit("oval recess", "recess-diameter", recesses.oval_recess, 2, 8, at_limit=kits.ROOMY),
    Fault("tapered recess", "recess-diameter", recesses.tapered_recess, clear=(4, 16)),
    limit("crests off", "rib-crest", recesses.crest_off, 2, 8, order=kits.RIBBED),
    Fault("no ribs", "rib-crest", recesses.ribs_missing, order=kits.RIBBED),
    limit("recess of another depth", "recess-depth", recesses.depth_off, 1.5, 10),
    limit("lead-in of another width", "lead-in", recesses.lead_in_off, 2, 9),
    Fault("no lead-in", "lead-in", lambda case, _: case.with_recess(lead_in_mm=0.0)),
    limit("off centre", "wall", recesses.thin_wall, 1.2, 1.9, kits.ROOMY),
    limit("two recesses too near", "wall", recesses.recesses_near, 1.2, 1.45, "TS"),
    Fault("open at the side", "wall", recesses.open_at_side),
    limit("off centre at the bed", "bed-wall", recesses.thin_bed_wall, 1.3, 2, kits.ROOMY, _WIDE),
    Fault("no recess", "recess-count", lambda case, _: case.rebuilt(recesses=())),
    Fault("one recess for two", "recess-count", recesses.one_recess_less, kits.LONG),
    Fault("two recesses for one", "recess-count", recesses.one_recess_more, "QB"),
    Fault(
        "no hole to push a magnet out",
        "release",
        lambda case, _: case.with_recess(release=None),
        order=kits.RELEASED,
    ),
    Fault(
        "needless hole to push a magnet out",
        "release",
        recesses.needless_release,
        order=kits.UNLETTERED,
    ),
    limit(
        "push-out hole of another width",
        "release-diameter",
        recesses.release_off,
        2,
        8,
        order=kits.RELEASED,
        at_limit=kits.ROOMY,
    ),
    limit(
        "push-out hole off its place",
        "release-place",
        recesses.release_astray,
        2,
        8,
        order=kits.RELEASED_DOWN,
        at_limit=kits.ROOMY,
    ),
    limit(
        "letter at the push-out hole",
        "roof",
        letters.letter_at_release,
        1.2,
        1.9,
        kits.ROOMY,
        kits.RELEASED,
    ),
    Fault("spike in a recess", "recess-empty", recesses.spike_in_recess),
    Fault(
        "closed where it should be open",
        "recess-open",
        lambda case, _: case.with_recess(low_mm=0.6, high_mm=3.8, lead_in_mm=0.0),
    ),
    Fault(
        "open where it should be closed",
        "recess-closed",
        lambda case, _: case.with_recess(low_mm=0.0),
        order=kits.CLOSED,
    ),
    limit("pause off a layer", "pause-height", recesses.pause_off, 2, 8, order=kits.CLOSED),
    limit(
        "pause off a layer, face down",
        "pause-height",
        recesses.pause_off,
        2,
        8,
        order=kits.FACE_DOWN,
    ),
    limit("floor too thin", "floor", recesses.thin_floor, 1.2, 1.9, order=kits.CLOSED),
    limit("roof too thin", "roof", recesses.thin_roof, 1.2, 1.9, kits.LETTER_OVER_MAGNET, _THIN),
    Fault("recess into the letter", "cut-through", recesses.into_letter, "EMJYI"),
    Fault(
        "recess through the piece",
        "cut-through",
        lambda case, _: case.with_recess(high_mm=case.profile.thickness_mm),
        order=kits.UNLETTERED,
    ),
    *marks.FAULTS,
    *solids.FAULTS,
    # Letters.
    Fault("letter cut through", "cut-through", letters.letter_cut_through, kits.WITHOUT_ISLANDS),
    limit("letter of another depth", "label-depth", letters.letter_depth_off, 2, 9),
    limit("thin strokes", "label-stroke", letters.thin_strokes, 1.2, 1.7, "ELOTSQD", _BOLD),
    limit("narrow island", "label-island", letters.narrow_island, 1.2, 1.6, "AB", _SMALL),
    Fault("letter at half size", "label-size", lambda case, _: case.with_letter(scale=0.5)),
    Fault("turned letter", "label-turn", letters.turned, "RELTSDJNAMYBU"),
    limit("letter at the rim", "label-margin", letters.letter_at_rim, 1.2, 1.9),
    Fault("no letter", "label-face", lambda case, _: case.rebuilt(label=None)),
    Fault(
        "mirrored letter on the back",
        "letter-back",
        letters.mirrored_on_back,
        kits.CHIRAL_LETTERS,
        kits.TWO_FACED,
    ),
    Fault("no letter on the back", "label-back", letters.no_letter_on_back, order=kits.TWO_FACED),
    Fault(
        "letter where none belongs", "label-face", letters.needless_letter, order=kits.UNLETTERED
    ),
    # Printing.
    limit("steep overhang", "overhang", outline.steep_foot, 1.2, 1.8),
    limit(
        "steep overhang, face down", "overhang", outline.steep_top, 1.2, 1.8, order=kits.FACE_DOWN
    ),
    limit("wide ceiling", "bridge", sets.wide_ceiling, 1.2, 5, blames=True),
    limit("low printer", "build-volume", sets.low_printer, 1.2, 5, blames=True),
    limit("small bed", "build-volume", sets.small_bed, 1.2, 3, "BQ", blames=True),
    # Sets.
    Fault("a challenge that should not be", "assembly", sets.claimed_impossible, at="set"),
    Fault("a piece missing", "missing", lambda case, _: case.planted(faulty=""), at="set"),
    Fault("a piece twice", "duplicate", sets.duplicate_piece, at="set"),
    Fault("an unknown part", "unknown-part", sets.unknown_part, at="set"),
    Fault("an unknown part cannot be read", "read-back", sets.unknown_part, adds=True),
    Fault("a piece of another set", "unknown-part", sets.foreign_part, at="set"),
    Fault("another set's outline", "shape", sets.foreign_part, adds=True),
    Fault("files in another length", "length-unit", sets.other_lengths, at="set"),
    Fault("one file in inches", "read-back", place.in_inches, company=6),
    limit(
        "no clearance",
        "clearance",
        lambda case, _: case.planted(case.body, faulty=""),
        1.2,
        2,
        "B",
        sets.no_clearance,
        at="set",
    ),
    # Put together.
    limit("grown, assembled", "leave a gap of", outline.grown, 1.3, 1.8, at="assembly"),
    Fault("grown into each other", "overlap by", outline.grown, clear=(2.2, 4), at="assembly"),
    limit("grown out of the region", "out of the region", outline.grown, 1.3, 4, at="assembly"),
    limit(
        "shrunk, assembled", "along an edge", outline.shrunk, 1.3, 2.3, kits.ROOMY, at="assembly"
    ),
]
