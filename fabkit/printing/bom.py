"""The bill of materials: the parts and material of a set, their cost, and notes before printing.

Without a slicer's report the plastic is estimated, see `fabkit.mesh.plastic`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

from fabkit.core.colours import difference
from fabkit.core.errors import pluralize
from fabkit.core.formats import csv_text
from fabkit.core.units import format_mm
from fabkit.drawing.part import PartDrawing
from fabkit.mesh.mesh import Mesh
from fabkit.mesh.plastic import printed_mm3
from fabkit.printing.magnet_forces import MagnetForces
from fabkit.printing.plate import layer_before_pause
from fabkit.printing.slicer.settings import filling_for
from fabkit.profiles.profile import Profile

#: Filament on one spool.
_SPOOL_G = 1000.0
#: Filament of a sample, or left at the end of a spool.
_SAMPLE_G = 30.0
#: The maximum number of colours named beside the number of spools.
_MAX_NAMED = 4
#: Common filament colours by name.
# fmt: off
COLOURS = {
    "white": "#ffffff", "ivory": "#ece6d2", "light grey": "#c4c6c8", "grey": "#84898c",
    "dark grey": "#4a4d50", "black": "#111111", "peach": "#ffd8c4", "brown": "#a06a2c",
    "dark brown": "#5c3a21", "yellow": "#ffdc3c", "olive": "#b0a414", "orange": "#f08010",
    "red": "#dc0a28", "dark red": "#960a0a", "pink": "#ff8cbc", "magenta": "#e0287c",
    "plum": "#780a58", "lavender": "#b89cf8", "purple": "#7650a8", "mauve": "#886898",
    "dark blue": "#1c309c", "blue": "#1078e8", "light blue": "#74c8ec", "cyan": "#4ce8f8",
    "turquoise": "#20a8a0", "mint": "#58bc90", "light green": "#b4e478", "green": "#40aa60",
    "dark green": "#0e6c40",
}
# fmt: on


def colour_name(colour: str) -> str:
    """Return the name of the filament colour that looks nearest to a colour (``#rrggbb``).

    Example:
        >>> colour_name("#2233aa"), colour_name("#e9e4d4")
        ('dark blue', 'ivory')
    """
    return min(COLOURS, key=lambda name: difference(colour, COLOURS[name]))


def letter_mm3(drawing: PartDrawing) -> float:
    """Return the volume of an engraving, on one face or both, in mm3."""
    label = drawing.label
    if label is None:
        return 0.0
    sides = [side for side in (label.front, label.back) if side is not None]
    return float(sum(side.polygon().area for side in sides) * label.depth_mm)


#: For everyone who makes, gives away or sells a set with magnets.
MAGNET_WARNING = (
    "Magnets are dangerous when swallowed: two of them attract each other through the gut and can "
    "kill. Keep them, and pieces from which they might fall, away from children; see a doctor at "
    "once if one may have been swallowed."
)
GLUE_NOTE = (
    "Glue each magnet into its cavity (a drop of cyanoacrylate): the steel nozzle lifts loose "
    "magnets as it passes over them."
)
#: How to find a pole.
FIND_POLE = (
    "To find the north pole of a magnet, hang it on edge from a long thread, away from steel: the "
    "face that turns towards north is its north pole. Mark it with a pen: the face of another "
    "magnet that sticks to it is a south pole."
)
#: Where poles face in open recesses.
_OPEN = "towards the back"
#: Where poles face in closed cavities.
_CLOSED = "upwards, as you see it when the print pauses"


@dataclass(frozen=True)
class PieceLine:
    """One piece.

    Attributes:
        size_mm: its width, depth and height, as it lies in its file.
        printed_mm3: the plastic in it, estimated.
        letter_mm3: that of a letter in a second colour.
        letter_colour: that colour.
        tones_mm3: that of its cells in a second colour.
        tone: that colour.
        magnets: for each, from left to right, the pole that faces outwards (``N``, ``S``, or empty
            for either) and whether a dimple marks it.
        count: how many of it are printed; all else is that of a single one.
    """

    piece: str
    colour: str
    size_mm: tuple[float, float, float]
    printed_mm3: float
    letter_mm3: float
    letter_colour: str
    tones_mm3: float
    tone: str
    magnets: tuple[tuple[str, bool], ...]
    count: int = 1


@dataclass(frozen=True)
class FilamentLine:
    """The filament of one colour.

    Attributes:
        name: name of the colour; pieces whose colours share a name share a spool.
        colour: the first piece's, ``#rrggbb``.
        pieces: what is printed with it: ids, ``letters`` or ``tones``.
        cost: at the profile's price.
    """

    name: str
    colour: str
    pieces: tuple[str, ...]
    grams: float
    metres: float
    cost: float

    @property
    def spools(self) -> int:
        """The minimum number of spools to buy."""
        return max(1, math.ceil(self.grams / _SPOOL_G))


@dataclass(frozen=True)
class SliceTotals:
    """A slicer's totals over all plates.

    Attributes:
        slicer: name and version.
        seconds: print time; None if not reported.
        grams: weight of each filament, including everything printed besides the pieces; None if not
            reported.
    """

    slicer: str
    seconds: float | None
    grams: tuple[float, ...] | None
    plates: int


@dataclass(frozen=True)
class Bom:
    """The bill of materials of a set.

    Attributes:
        pieces: in the set's order.
        filament: one line for each name of a colour.
        sliced: a slicer's totals; None if the plates were not sliced and filament is estimated.
        pause_height_mm: where the printer pauses; None without a pause.
        set_note: on the set's own defaults of the profile; empty for none.
        forces: of the magnets; None without magnets.
    """

    set_name: str
    profile: Profile
    pieces: tuple[PieceLine, ...]
    filament: tuple[FilamentLine, ...]
    sliced: SliceTotals | None
    pause_height_mm: float | None
    set_note: str = ""
    forces: MagnetForces | None = None

    @property
    def has_slicer_weight(self) -> bool:
        """Whether a slicer reported the weight of the filament."""
        return self.sliced is not None and self.sliced.grams is not None

    @property
    def magnets(self) -> int:
        """Number of magnets in the set."""
        return sum(piece.count * len(piece.magnets) for piece in self.pieces)

    @property
    def magnets_size(self) -> str:
        """Diameter and height of each magnet, as text."""
        height = format_mm(self.profile.magnet_height_mm)
        return f"{self.profile.magnet_diameter_mm:g} x {height}"

    @property
    def magnets_text(self) -> str:
        """Number and kind of the magnets, as text; empty for none."""
        return f"{pluralize(self.magnets, 'magnet')} {self.magnet_kind}" if self.magnets else ""

    @property
    def magnet_kind(self) -> str:
        """Grade and size of each magnet, as text."""
        return f"{self.profile.magnet_grade}, {self.magnets_size}"

    @property
    def jig_magnets(self) -> int:
        """Number of magnets for the jigs: one for each pole that faces outwards."""
        return len({pole for piece in self.pieces for pole, _ in piece.magnets})

    @property
    def packs(self) -> int:
        """Number of packs of magnets to buy, for pieces and jigs."""
        return math.ceil((self.magnets + self.jig_magnets) / self.profile.magnet_pack)

    @property
    def packs_text(self) -> str:
        """The packs of magnets to buy, as text; empty for none."""
        pack = self.profile.magnet_pack
        jigs = "the jig" if self.jig_magnets == 1 else f"the {self.jig_magnets} jigs"
        needed = f"{self.magnets} + {self.jig_magnets} for {jigs}"
        packs = f"{pluralize(self.packs, 'pack')} of {pack:g}" if pack > 1 else "sold singly"
        total = self.magnets + self.jig_magnets
        return f"{needed} = {pluralize(total, 'magnet')}: {packs}" if self.magnets else ""

    @property
    def magnets_cost(self) -> float:
        """Cost of the magnets in pieces and jigs."""
        return round((self.magnets + self.jig_magnets) * self.profile.magnet_price, 2)

    @property
    def filament_cost(self) -> float:
        """Cost of the filament."""
        return round(sum(line.cost for line in self.filament), 2)

    @property
    def cost(self) -> float:
        """Cost of magnets and filament."""
        return round(self.magnets_cost + self.filament_cost, 2)

    @property
    def grams(self) -> float:
        """Weight of the filament."""
        return round(sum(line.grams for line in self.filament), 1)

    @property
    def spools(self) -> int:
        """The minimum number of spools to buy."""
        return sum(line.spools for line in self.filament)

    @property
    def spools_text(self) -> str:
        """Number of spools by colour, as text; many colours are not named once more."""
        colours = ", ".join(
            line.name if line.spools == 1 else f"{line.spools} {line.name}"
            for line in self.filament
        )
        if self.spools == len(self.filament) > _MAX_NAMED:
            colours = "one of each colour"
        return f"at least {pluralize(self.spools, 'spool')} of 1 kg: {colours}"

    @property
    def notes(self) -> list[str]:
        """Notes in sentences; the magnet warning comes first."""
        notes = []
        if self.magnets:
            notes = [MAGNET_WARNING, *_polarity_notes(self.profile)]
            notes += self.forces.sentences if self.forces else []
        if self.pause_height_mm is not None:
            layer = layer_before_pause(self.pause_height_mm, self.profile)
            notes += [
                f"The print pauses at {format_mm(self.pause_height_mm)}, after layer {layer}: put "
                "the magnets in, then resume the print.",
                GLUE_NOTE,
            ]
        coloured = [piece.piece for piece in self.pieces if piece.letter_mm3 or piece.tones_mm3]
        if coloured:
            notes.append(
                f"{pluralize(len(coloured), 'piece')} in two colours: the printer must change "
                "filament within a layer; otherwise set label.inlay none and cell.tones plain."
            )
        fewest = math.ceil(self.grams / _SPOOL_G)
        if self.spools > max(1, fewest) and not coloured:
            grams = sorted(line.grams for line in self.filament)
            leftovers = f"{grams[0]:.1f} to {grams[-1]:.1f} g of each do, as samples or leftovers; "
            notes.append(
                f"Colours are a suggestion: {leftovers if grams[-1] <= _SAMPLE_G else ''}in a "
                f"single colour, the set needs only {pluralize(max(1, fewest), 'spool')}."
            )
        if not self.has_slicer_weight:
            notes.append(
                "Filament is estimated from the meshes, to about 5 % of what PrusaSlicer needs "
                "with fabkit's settings, without a prime tower; run `fabkit slice` for a slicer's "
                "numbers, including the print time."
            )
        if self.set_note:
            notes.append(f"{self.set_note[0].upper()}{self.set_note[1:]}.")
        return notes

    def document(self) -> dict[str, Any]:
        """Return the bill of materials for JSON."""
        profile, sliced = self.profile, self.sliced
        pause_mm = self.pause_height_mm
        return {
            "set": self.set_name,
            "profile": profile.name,
            "pieces": [
                {
                    "piece": piece.piece,
                    "count": piece.count,
                    "colour": piece.colour,
                    "size_mm": piece.size_mm,
                    "plastic_mm3": round(piece.printed_mm3 + piece.letter_mm3 + piece.tones_mm3, 1),
                    "magnets": [
                        {"pole": pole or None, "marked": mark} for pole, mark in piece.magnets
                    ],
                }
                for piece in self.pieces
            ],
            "magnets": {
                "count": self.magnets,
                "for_jigs": self.jig_magnets,
                "pack": int(profile.magnet_pack),
                "packs": self.packs,
                "diameter_mm": profile.magnet_diameter_mm,
                "height_mm": profile.magnet_height_mm,
                "grade": profile.magnet_grade,
                "fit": profile.fit,
                "polarity": profile.polarity,
                "price": profile.magnet_price,
                "cost": self.magnets_cost,
                "forces": self.forces.document() if self.forces else None,
            },
            "filament": [
                {"material": profile.filament} | asdict(line) | {"spools": line.spools}
                for line in self.filament
            ],
            "spools": {"least": self.spools, "grams_each": _SPOOL_G},
            "estimated": not self.has_slicer_weight,
            "slicer": sliced.slicer if sliced else None,
            "plates": sliced.plates if sliced else None,
            "print_seconds": sliced.seconds if sliced else None,
            "pause": None
            if pause_mm is None
            else {"height_mm": pause_mm, "after_layer": layer_before_pause(pause_mm, profile)},
            "cost": {
                "currency": profile.currency,
                "filament": self.filament_cost,
                "magnets": self.magnets_cost,
                "total": self.cost,
            },
            "notes": self.notes,
        }


def make_bom(
    set_name: str,
    drawings: Sequence[PartDrawing],
    meshes: Mapping[str, Mesh],
    profile: Profile,
    sliced: SliceTotals | None = None,
    tones: Mapping[str, tuple[str, float]] | None = None,
    set_note: str = "",
    filaments: Sequence[str] = (),
    forces: MagnetForces | None = None,
) -> Bom:
    """Make the bill of materials of a set.

    Args:
        meshes: the solids, by id; a letter is not part of them.
        sliced: a slicer's totals; its grams are shared among the pieces' colours in proportion to
            the estimate.
        tones: for each piece printed in two colours, the second colour and its volume in mm3.
        set_note: on the set's own defaults of the profile; empty for none.
        filaments: the colours of those that the printer holds; see
            `fabkit.profiles.filaments.Filaments`.
        forces: see `fabkit.printing.magnet_forces.magnet_forces`.
    """
    pieces = tuple(
        _piece_line(drawing, meshes[drawing.piece], profile, (tones or {}).get(drawing.piece))
        for drawing in drawings
    )
    pauses_mm = (drawing.pause_height_mm for drawing in drawings)
    return Bom(
        set_name,
        profile,
        pieces,
        tuple(_filament(pieces, profile, sliced, filaments)),
        sliced,
        next((pause_mm for pause_mm in pauses_mm if pause_mm is not None), None),
        set_note,
        forces,
    )


def _piece_line(
    drawing: PartDrawing, mesh: Mesh, profile: Profile, tones: tuple[str, float] | None
) -> PieceLine:
    width_mm, depth_mm, height_mm = np.ptp(mesh.vertices, axis=0).round(3).tolist()
    tone, tones_mm3 = tones or ("", 0.0)
    return PieceLine(
        drawing.piece,
        drawing.colour,
        (width_mm, depth_mm, height_mm),
        printed_mm3(mesh, filling_for(profile), drawing.facing) - tones_mm3,
        letter_mm3(drawing) if drawing.letter_colour else 0.0,
        drawing.letter_colour,
        tones_mm3,
        tone,
        tuple((recess.pole, recess.mark is not None) for recess in drawing.recesses),
        drawing.copies,
    )


def _filament(
    pieces: Sequence[PieceLine],
    profile: Profile,
    sliced: SliceTotals | None,
    filaments: Sequence[str],
) -> Iterator[FilamentLine]:
    """Yield a line for each colour name in the order of the pieces; letters and tones come last."""
    bodies = [(piece.colour, piece.piece, piece.count * piece.printed_mm3) for piece in pieces]
    letters = [(piece.letter_colour, "letters", piece.count * piece.letter_mm3) for piece in pieces]
    tones = [(piece.tone, "tones", piece.count * piece.tones_mm3) for piece in pieces]
    inlays = [[part for part in parts if part[2]] for parts in (letters, tones)]
    # What each extruder prints: bodies in all colours, then an inlay each; or what has its colour.
    prints = [bodies, *filter(None, inlays)]
    if filaments:
        parts = [part for of_extruder in prints for part in of_extruder]
        prints = [[part for part in parts if part[0] == filament] for filament in filaments]
    reported = (sliced.grams if sliced else None) or ()
    lines: dict[str, tuple[str, list[str], list[float]]] = {}
    for colour, *_ in bodies:
        lines.setdefault(colour_name(colour), (colour, [], []))
    for group, reported_grams in zip_longest(prints, reported[: len(prints)]):
        estimated = sum(volume for _, _, volume in group) * profile.filament_density / 1000
        # Scales the estimate to the slicer's weight, if reported.
        factor = reported_grams / estimated if reported_grams is not None and estimated else 1.0
        for colour, printed, volume in group:
            _, used_for, all_mm3 = lines.setdefault(colour_name(colour), (colour, [], []))
            used_for += [printed] * (printed not in used_for)
            all_mm3.append(volume * factor)
    for name, (colour, used_for, all_mm3) in lines.items():
        grams = math.fsum(all_mm3) * profile.filament_density / 1000
        metres = math.fsum(all_mm3) / (math.pi * profile.filament_diameter_mm**2 / 4) / 1000
        cost = grams / 1000 * profile.filament_price
        yield FilamentLine(
            name, colour, tuple(used_for), round(grams, 2), round(metres, 3), round(cost, 4)
        )


def _polarity_notes(profile: Profile) -> list[str]:
    side = _CLOSED if profile.embedded else _OPEN
    if profile.polarity == "same":
        return [
            f"Polarity: insert every magnet with the same pole {side}. Neighbours then repel each "
            "other, and pieces stack; which pole it is does not matter."
        ]
    if profile.polarity == "alternating":
        return [
            f"Polarity: north faces {side} in unmarked recesses, south in recesses marked by a "
            "dimple; the pieces below list theirs from left to right, seen from the lettered face. "
            "Unlike neighbours attract each other, like ones repel.",
            FIND_POLE,
        ]
    return [
        "Polarity: insert the magnets either way round. Like neighbours repel each other, unlike "
        "ones attract; pieces may not stack."
    ]


_COLUMNS = ("item", "name", "count", "unit", "size", "colour", "price", "cost", "note")
#: A cell that starts with one of these is a formula for a spreadsheet; names and materials are not.
_FORMULA = ("=", "+", "-", "@")


def bom_csv(bom: Bom) -> str:
    """Return the bill of materials as CSV: pieces, magnets, filament, total, notes."""
    profile = bom.profile
    rows: list[tuple[object, ...]] = []
    for piece in bom.pieces:
        size = f"{' x '.join(f'{round(side, 2):g}' for side in piece.size_mm)} mm"
        poles = " ".join(pole for pole, _ in piece.magnets)
        note = f"poles {poles}" if poles else ""
        rows.append(("piece", piece.piece, piece.count, "", size, piece.colour, "", "", note))
    if bom.magnets:
        grade, count = profile.magnet_grade, bom.magnets + bom.jig_magnets
        price, cost = f"{profile.magnet_price:.2f}", f"{bom.magnets_cost:.2f}"
        rows.append(("magnet", grade, count, "", bom.magnets_size, "", price, cost, bom.packs_text))
    filament, diameter = profile.filament, format_mm(profile.filament_diameter_mm)
    price = f"{profile.filament_price:.2f}/kg"
    for line in bom.filament:
        grams, cost = f"{line.grams:.1f}", f"{line.cost:.2f}"
        note = f"{line.metres:.2f} m for {' '.join(line.pieces)}"
        rows.append(("filament", filament, grams, "g", diameter, line.name, price, cost, note))
    rows.append(("spools", filament, bom.spools, "1 kg", "", "", "", "", bom.spools_text))
    if bom.sliced:
        note = f"{pluralize(bom.sliced.plates, 'plate')}, according to {bom.sliced.slicer}"
        minutes = "" if bom.sliced.seconds is None else round(bom.sliced.seconds / 60)
        rows.append(("print", "", minutes, "min", "", "", "", "", note))
    rows.append(("total", "", "", profile.currency, "", "", "", f"{bom.cost:.2f}", ""))
    rows += [("note", *[""] * 7, note) for note in bom.notes]

    def escaped(cell: object) -> object:
        return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell

    return csv_text([_COLUMNS, *(list(map(escaped, row)) for row in rows)])
