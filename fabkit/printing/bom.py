"""The bill of materials: what a set takes, what it costs, and what to know before it is printed.

Until a slicer has been asked, the plastic is estimated: skins and walls solid, the rest filled as
the shipped print configuration says.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shapely import Point, union_all
from shapely.geometry.base import BaseGeometry

from fabkit.core.errors import many
from fabkit.core.units import format_mm
from fabkit.drawing.ball import BallBlueprint
from fabkit.drawing.boards.steps import BoardBlueprint
from fabkit.drawing.draft import Blueprint
from fabkit.drawing.magnets import Recess
from fabkit.drawing.outline import chamfered
from fabkit.drawing.part import PartDrawing
from fabkit.model.profile import Profile
from fabkit.printing.plate import layer_before_pause
from fabkit.printing.slicer.settings import print_settings

#: How wide a line is, as a part of the nozzle (PrusaSlicer's own choice).
_LINE_OF_NOZZLE = 1.125
_ARC_SEGMENTS = 64


@dataclass(frozen=True)
class Fill:
    """How the inside of a print is filled.

    Attributes:
        wall_mm: thickness of the walls.
        top_mm: thickness of the skin on top, and over hollows.
        bottom_mm: the same below.
        share: of the inside that is plastic, from 0 to 1.
    """

    wall_mm: float
    top_mm: float
    bottom_mm: float
    share: float


def fill_for(profile: Profile) -> Fill:
    """How the shipped print configuration fills, with the profile's layers and nozzle."""
    lines = (line.partition(" = ") for line in print_settings(profile, 1).splitlines())
    settings = {key: value for key, _, value in lines}

    def skin_mm(side: str) -> float:
        layers = int(settings[f"{side}_solid_layers"])
        thinnest_mm = float(settings[f"{side}_solid_min_thickness"])
        return max(layers * profile.layer_mm, thinnest_mm)

    return Fill(
        wall_mm=int(settings["perimeters"]) * _LINE_OF_NOZZLE * profile.nozzle_mm,
        top_mm=skin_mm("top"),
        bottom_mm=skin_mm("bottom"),
        share=float(settings["fill_density"].rstrip("%")) / 100,
    )


def solid_mm3(drawing: PartDrawing) -> float:
    """The volume of a piece or board, in mm3, less its letter or title.

    Of a flat piece it is that of the prism less chamfers and recesses, with its stubs. Chamfers are
    integrated by Simpson's rule, which is exact for sections that grow with the square of the
    height. Ribs are left out.
    """
    if isinstance(drawing, Blueprint):
        whole_mm3 = _prism_mm3(drawing)
    else:
        whole_mm3 = _as_drawn(drawing).solid_mm3
    return float(whole_mm3 - letter_mm3(drawing))


def letter_mm3(drawing: PartDrawing) -> float:
    """The volume of an engraving, on one face or both, in mm3."""
    label = drawing.label
    if label is None:
        return 0.0
    sides = [side for side in (label.front, label.back) if side is not None]
    return float(sum(side.polygon().area for side in sides) * label.depth_mm)


def printed_mm3(drawing: PartDrawing, profile: Profile) -> float:
    """The plastic in a printed piece or board, in mm3.

    Above and below a recess there are skins as on the piece's own faces, and a wall around it. On a
    ball piece everything counts as solid that is nearer to its surface than a wall is thick, and on
    a board what is nearer than a skin. PrusaSlicer takes 2 to 6 % less for IQ Fit's pieces.
    """
    fill, whole_mm3 = fill_for(profile), solid_mm3(drawing)
    if isinstance(drawing, Blueprint):
        loose_mm3 = _loose_mm3(drawing, fill)
    else:
        # A board is mostly level plates, and its faces are as thick as skins.
        skin_mm = (fill.top_mm + fill.bottom_mm) / 2
        shell_mm = skin_mm if isinstance(drawing, BoardBlueprint) else fill.wall_mm
        loose_mm3 = max(0.0, whole_mm3 - shell_mm * _as_drawn(drawing).surface_mm2)
    return float(whole_mm3 - (1 - fill.share) * loose_mm3)


def _as_drawn(drawing: PartDrawing) -> BallBlueprint | BoardBlueprint:
    """A drawing that says itself what its volume and surface are."""
    if not isinstance(drawing, BallBlueprint | BoardBlueprint):
        raise TypeError(f"no volume is known of a {type(drawing).__name__}")
    return drawing


def _prism_mm3(blueprint: Blueprint) -> float:
    outline = blueprint.outline
    volume = outline.area * (blueprint.thickness_mm - blueprint.back_mm)
    for chamfer_mm in (blueprint.top_chamfer_mm, blueprint.foot_chamfer_mm):
        if chamfer_mm:
            middle, inner = chamfered(outline, chamfer_mm / 2), chamfered(outline, chamfer_mm)
            volume -= chamfer_mm * (5 * outline.area - 4 * middle.area - inner.area) / 6
    volume += sum(stub.volume_mm3 for stub in blueprint.stubs)
    return float(volume - sum(_recess_mm3(recess) for recess in blueprint.recesses))


def _loose_mm3(blueprint: Blueprint, fill: Fill) -> float:
    """What lies inside of walls and skins; a stub's inside goes on into the piece's."""
    skins_mm = fill.top_mm + fill.bottom_mm
    inside = blueprint.outline.buffer(-fill.wall_mm, join_style="mitre")
    recesses = [(recess, _disc(recess, fill.wall_mm)) for recess in blueprint.recesses]
    free = inside.difference(union_all([disc for _, disc in recesses]))
    loose_mm3 = free.area * max(0.0, blueprint.thickness_mm - blueprint.back_mm - skins_mm)
    for recess, disc in recesses:
        above_mm = blueprint.thickness_mm - recess.high_mm
        room_mm = sum(max(0.0, height - skins_mm) for height in (above_mm, recess.low_mm))
        loose_mm3 += inside.intersection(disc).area * room_mm
    for stub in blueprint.stubs:
        inner_mm = max(0.0, stub.diameter_mm / 2 - fill.wall_mm)
        loose_mm3 += math.pi * inner_mm**2 * stub.height_mm
    return float(loose_mm3)


def _disc(recess: Recess, wall_mm: float) -> BaseGeometry:
    return Point(recess.centre_mm).buffer(recess.bores.widest_mm / 2 + wall_mm, _ARC_SEGMENTS)


def _recess_mm3(recess: Recess) -> float:
    """The volume of a bore and of the cone at its mouth."""
    radius_mm, mouth_mm = recess.bores.widest_mm / 2, recess.mouth_mm
    depth_mm = recess.high_mm - recess.low_mm
    cone_mm3 = (
        mouth_mm
        * (radius_mm**2 + radius_mm * (radius_mm + mouth_mm) + (radius_mm + mouth_mm) ** 2)
        / 3
    )
    return math.pi * (cone_mm3 + radius_mm**2 * (depth_mm - mouth_mm))


#: What everybody must know who makes, gives or sells a set with magnets.
DANGER = (
    "Magnets are dangerous when swallowed: two of them attract each other through the gut and can "
    "kill. Keep them, and pieces from which they might fall, away from children; see a doctor at "
    "once if one may have been swallowed."
)
GLUE = (
    "Glue each magnet in its cavity (a drop of cyanoacrylate): the steel of a nozzle that passes over "
    "it lifts a loose one."
)
_OPEN, _CLOSED = "towards the back", "upwards, as you see it when the print pauses"


@dataclass(frozen=True)
class PieceLine:
    """One piece.

    Attributes:
        size_mm: width and height of its outline.
        printed_mm3: the plastic in it, estimated.
        letter_mm3: that of a letter in a second colour.
        tones_mm3: that of its cells in a second colour.
        tone: that colour.
        magnets: for each the pole that shows outwards (``N``, ``S``, or empty for either) and
            whether a dimple marks it, from left to right.
    """

    piece: str
    colour: str
    size_mm: tuple[float, float]
    printed_mm3: float
    letter_mm3: float
    tones_mm3: float
    tone: str
    magnets: tuple[tuple[str, bool], ...]


@dataclass(frozen=True)
class FilamentLine:
    """The filament of one colour.

    Attributes:
        pieces: what is printed with it: ids, ``letters`` or ``tones``.
        cost: at the profile's price.
    """

    colour: str
    pieces: tuple[str, ...]
    grams: float
    metres: float
    cost: float


@dataclass(frozen=True)
class Sliced:
    """What a slicer said of all plates.

    Attributes:
        slicer: its name and version.
        seconds: how long they take to print; None when it did not say.
        grams: what they take of each filament, with all that is printed besides the pieces; None
            when it did not say.
        plates: how many they are.
    """

    slicer: str
    seconds: float | None
    grams: tuple[float, ...] | None
    plates: int


@dataclass(frozen=True)
class Bill:
    """All of it.

    Attributes:
        pieces: in the set's order.
        filament: one line for each colour.
        sliced: what a slicer said; None when none was asked, and then filament is estimated.
        pause_height_mm: where the printer pauses; None when it does not.
    """

    set_name: str
    profile: Profile
    pieces: tuple[PieceLine, ...]
    filament: tuple[FilamentLine, ...]
    sliced: Sliced | None
    pause_height_mm: float | None

    @property
    def is_weighed(self) -> bool:
        """Whether a slicer said how much filament it takes."""
        return self.sliced is not None and self.sliced.grams is not None

    @property
    def magnets(self) -> int:
        """How many magnets the set takes."""
        return sum(len(piece.magnets) for piece in self.pieces)

    @property
    def magnets_cost(self) -> float:
        """What they cost."""
        return round(self.magnets * self.profile.magnet_price, 2)

    @property
    def filament_cost(self) -> float:
        """What the filament costs."""
        return round(sum(line.cost for line in self.filament), 2)

    @property
    def cost(self) -> float:
        """What the material costs."""
        return round(self.magnets_cost + self.filament_cost, 2)

    @property
    def grams(self) -> float:
        """How much filament it takes."""
        return round(sum(line.grams for line in self.filament), 1)

    @property
    def notes(self) -> list[str]:
        """What to know, in sentences; the danger comes first."""
        notes = []
        if self.magnets:
            notes = [DANGER, *_polarity_notes(self.profile)]
        if self.pause_height_mm is not None:
            layer = layer_before_pause(self.pause_height_mm, self.profile)
            notes += [
                f"The print pauses at {format_mm(self.pause_height_mm)}, after layer {layer}: put the "
                "magnets in, then let it go on.",
                GLUE,
            ]
        if not self.is_weighed:
            notes.append(
                "Filament is estimated from the pieces' shape, to about a tenth; `fabkit slice` asks a "
                "slicer, which also tells the time."
            )
        return notes

    def document(self) -> dict[str, Any]:
        """The bill as JSON holds it."""
        profile, sliced = self.profile, self.sliced
        pause_mm = self.pause_height_mm
        return {
            "set": self.set_name,
            "profile": profile.name,
            "pieces": [_piece_document(piece) for piece in self.pieces],
            "magnets": {
                "count": self.magnets,
                "diameter_mm": profile.magnet_diameter_mm,
                "height_mm": profile.magnet_height_mm,
                "grade": profile.magnet_grade,
                "fit": profile.fit,
                "polarity": profile.polarity,
                "price": profile.magnet_price,
                "cost": self.magnets_cost,
            },
            "filament": [
                {
                    "material": profile.filament,
                    "colour": line.colour,
                    "pieces": list(line.pieces),
                    "grams": line.grams,
                    "metres": line.metres,
                    "cost": line.cost,
                }
                for line in self.filament
            ],
            "estimated": not self.is_weighed,
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


def bill_of_materials(
    set_name: str,
    blueprints: Sequence[PartDrawing],
    profile: Profile,
    sliced: Sliced | None = None,
    tones: Mapping[str, tuple[str, float]] | None = None,
) -> Bill:
    """Works out what a set takes.

    Args:
        set_name: the set.
        blueprints: its pieces.
        profile: how they are printed, and what things cost.
        sliced: what a slicer said of the plates; its grams are shared out among the pieces' colours
            as the estimate has it.
        tones: for pieces that are printed in two colours the second one, and how much of it they
            take in mm3.
    """
    pieces = tuple(_piece_line(one, profile, (tones or {}).get(one.piece)) for one in blueprints)
    pauses = [one.pause_height_mm for one in blueprints if one.pause_height_mm is not None]
    return Bill(
        set_name,
        profile,
        pieces,
        tuple(_filament(pieces, profile, sliced)),
        sliced,
        pauses[0] if pauses else None,
    )


def _piece_line(
    blueprint: PartDrawing, profile: Profile, tones: tuple[str, float] | None
) -> PieceLine:
    left, bottom, right, top = blueprint.outline.bounds
    tone, tones_mm3 = tones or ("", 0.0)
    return PieceLine(
        blueprint.piece,
        blueprint.colour,
        (round(right - left, 3), round(top - bottom, 3)),
        printed_mm3(blueprint, profile) - tones_mm3,
        letter_mm3(blueprint) if profile.inlay == "letter" else 0.0,
        tones_mm3,
        tone,
        tuple((recess.pole, recess.mark is not None) for recess in blueprint.recesses),
    )


def _filament(
    pieces: Sequence[PieceLine], profile: Profile, sliced: Sliced | None
) -> list[FilamentLine]:
    """A line for each colour of the pieces, in the order in which they come; letters last."""
    printed: dict[str, list[PieceLine]] = {}
    for piece in pieces:
        printed.setdefault(piece.colour, []).append(piece)
    of_pieces_mm3 = sum(piece.printed_mm3 for piece in pieces)
    said = sliced.grams if sliced and sliced.grams else ()
    factor = _factor(said[:1], of_pieces_mm3, profile)
    lines = []
    for colour, same in printed.items():
        volume_mm3 = sum(piece.printed_mm3 for piece in same) * factor
        names = tuple(piece.piece for piece in same)
        lines.append(_filament_line(colour, names, volume_mm3, profile))
    letters_mm3 = sum(piece.letter_mm3 for piece in pieces)
    toned = [piece for piece in pieces if piece.tones_mm3]
    inlays = [
        ("letters", profile.letter_colour, letters_mm3),
        ("tones", toned[0].tone if toned else "", sum(piece.tones_mm3 for piece in toned)),
    ]
    there = [inlay for inlay in inlays if inlay[2]]
    for extruder, (name, colour, estimated_mm3) in enumerate(there, 1):
        volume_mm3 = estimated_mm3 * _factor(said[extruder:][:1], estimated_mm3, profile)
        lines.append(_filament_line(colour, (name,), volume_mm3, profile))
    return lines


def _factor(said_grams: Sequence[float], estimated_mm3: float, profile: Profile) -> float:
    """By how much an estimate is to be multiplied so that it is what a slicer said, if it did."""
    grams = estimated_mm3 * profile.filament_density / 1000
    return said_grams[0] / grams if said_grams and grams else 1.0


def _filament_line(
    colour: str, pieces: tuple[str, ...], volume_mm3: float, profile: Profile
) -> FilamentLine:
    grams = volume_mm3 * profile.filament_density / 1000
    metres = volume_mm3 / (math.pi * profile.filament_diameter_mm**2 / 4) / 1000
    cost = grams / 1000 * profile.filament_price
    return FilamentLine(colour, pieces, round(grams, 2), round(metres, 3), round(cost, 4))


def _polarity_notes(profile: Profile) -> list[str]:
    side = _CLOSED if profile.embedded else _OPEN
    if profile.polarity == "same":
        return [f"Polarity: put every magnet in with the same pole {side}."]
    if profile.polarity == "alternating":
        return [
            f"Polarity: north shows {side} in unmarked recesses, south where a dimple marks it; the "
            "pieces below name each from left to right, seen from the letter."
        ]
    return ["Polarity: put the magnets in as they come."]


def _piece_document(piece: PieceLine) -> dict[str, Any]:
    return {
        "piece": piece.piece,
        "colour": piece.colour,
        "size_mm": list(piece.size_mm),
        "plastic_mm3": round(piece.printed_mm3 + piece.letter_mm3 + piece.tones_mm3, 1),
        "magnets": [{"pole": pole or None, "marked": marked} for pole, marked in piece.magnets],
    }


_COLUMNS = ("item", "name", "count", "unit", "size", "colour", "price", "cost", "note")
#: How a spreadsheet recognises a formula, which a name or a material must never become.
_FORMULA = ("=", "+", "-", "@")


def bill_csv(bill: Bill) -> str:
    """The bill as a table for spreadsheets: pieces, magnets, filament, total, notes."""
    profile = bill.profile
    rows: list[tuple[Any, ...]] = []
    for piece in bill.pieces:
        size = " x ".join(f"{side:g}" for side in piece.size_mm)
        size += f" x {format_mm(profile.thickness_mm)}"
        poles = " ".join(pole for pole, _ in piece.magnets)
        note = f"poles {poles}" if poles else ""
        rows.append(("piece", piece.piece, 1, "", size, piece.colour, "", "", note))
    if bill.magnets:
        size = f"{profile.magnet_diameter_mm:g} x {format_mm(profile.magnet_height_mm)}"
        price, cost = f"{profile.magnet_price:.2f}", f"{bill.magnets_cost:.2f}"
        rows.append(("magnet", profile.magnet_grade, bill.magnets, "", size, "", price, cost, ""))
    for line in bill.filament:
        price = f"{profile.filament_price:.2f}/kg"
        note = f"{line.metres:.2f} m for {' '.join(line.pieces)}"
        grams, cost = f"{line.grams:.1f}", f"{line.cost:.2f}"
        size = format_mm(profile.filament_diameter_mm)
        rows.append(
            ("filament", profile.filament, grams, "g", size, line.colour, price, cost, note)
        )
    if bill.sliced:
        plates = f"{many(bill.sliced.plates, 'plate')}, says {bill.sliced.slicer}"
        minutes = "" if bill.sliced.seconds is None else round(bill.sliced.seconds / 60)
        rows.append(("print", "", minutes, "min", "", "", "", "", plates))
    rows.append(("total", "", "", profile.currency, "", "", "", f"{bill.cost:.2f}", ""))
    rows += [("note", "", "", "", "", "", "", "", note) for note in bill.notes]
    written = io.StringIO()
    table = csv.writer(written, lineterminator="\n")
    table.writerow(_COLUMNS)
    table.writerows([[_harmless(cell) for cell in row] for row in rows])
    return written.getvalue()


def _harmless(cell: Any) -> Any:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell
