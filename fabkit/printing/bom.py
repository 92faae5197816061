"""The bill of materials: what a set takes, what it costs, and what to know before it is printed.

Until a slicer has been asked, the plastic is estimated: skins and walls solid, the rest filled as
the shipped print configuration says.
"""

from __future__ import annotations

import csv
import io
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from typing import Any

from shapely import Point

from fabkit.core.errors import many
from fabkit.core.units import format_mm
from fabkit.drawing.ball import BallBlueprint
from fabkit.drawing.boards.steps import BoardBlueprint
from fabkit.drawing.draft import Blueprint
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
    """How the inside of a print is filled: the thickness of walls, of the skins on top and below,
    and how much of what is between them is plastic, from 0 to 1."""

    wall_mm: float
    top_mm: float
    bottom_mm: float
    share: float


def fill_for(profile: Profile) -> Fill:
    """How the shipped print configuration fills, with the profile's layers and nozzle."""
    lines = (line.partition(" = ") for line in print_settings(profile, 1).splitlines())
    settings = {key: value for key, _, value in lines}
    top_mm, bottom_mm = (
        max(
            int(settings[f"{side}_solid_layers"]) * profile.layer_mm,
            float(settings[f"{side}_solid_min_thickness"]),
        )
        for side in ("top", "bottom")
    )
    wall_mm = int(settings["perimeters"]) * _LINE_OF_NOZZLE * profile.nozzle_mm
    return Fill(wall_mm, top_mm, bottom_mm, float(settings["fill_density"].rstrip("%")) / 100)


def solid_mm3(drawing: PartDrawing) -> float:
    """The volume of a piece or board, in mm3, less its letter or title.

    Of a flat piece it is that of the prism less chamfers and recesses, with its stubs. Chamfers are
    integrated by Simpson's rule, which is exact for sections that grow with the square of the
    height. Ribs are left out.
    """
    if not isinstance(drawing, Blueprint):
        assert isinstance(drawing, BallBlueprint | BoardBlueprint)
        return drawing.solid_mm3 - letter_mm3(drawing)
    outline = drawing.outline
    volume = outline.area * (drawing.thickness_mm - drawing.back_mm)
    for chamfer_mm in (drawing.top_chamfer_mm, drawing.foot_chamfer_mm):
        if chamfer_mm:
            middle, inner = chamfered(outline, chamfer_mm / 2), chamfered(outline, chamfer_mm)
            volume -= chamfer_mm * (5 * outline.area - 4 * middle.area - inner.area) / 6
    volume += sum(stub.volume_mm3 for stub in drawing.stubs)
    for recess in drawing.recesses:  # a bore and the cone at its mouth
        radius_mm, mouth_mm = recess.bores.widest_mm / 2, recess.mouth_mm
        wide_mm, deep_mm = radius_mm + mouth_mm, recess.high_mm - recess.low_mm - mouth_mm
        cone = mouth_mm * (radius_mm**2 + radius_mm * wide_mm + wide_mm**2) / 3
        volume -= math.pi * (cone + radius_mm**2 * deep_mm)
        volume -= recess.release.volume_mm3 if recess.release else 0.0
    return float(volume - letter_mm3(drawing))


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
        assert isinstance(drawing, BallBlueprint | BoardBlueprint)
        # A board is mostly level plates, and its faces are as thick as skins.
        skin_mm = (fill.top_mm + fill.bottom_mm) / 2
        shell_mm = skin_mm if isinstance(drawing, BoardBlueprint) else fill.wall_mm
        loose_mm3 = max(0.0, whole_mm3 - shell_mm * drawing.surface_mm2)
    return float(whole_mm3 - (1 - fill.share) * loose_mm3)


def _loose_mm3(blueprint: Blueprint, fill: Fill) -> float:
    """What lies inside of walls and skins; a stub's inside goes on into the piece's."""
    skins_mm = fill.top_mm + fill.bottom_mm
    inside = blueprint.outline.buffer(-fill.wall_mm, join_style="mitre")
    height_mm = max(0.0, blueprint.thickness_mm - blueprint.back_mm - skins_mm)
    free, loose_mm3 = inside, 0.0
    for recess in blueprint.recesses:
        wide_mm = recess.bores.widest_mm / 2 + fill.wall_mm
        disc = Point(recess.centre_mm).buffer(wide_mm, _ARC_SEGMENTS)
        above_mm = blueprint.thickness_mm - recess.high_mm
        room_mm = sum(max(0.0, height - skins_mm) for height in (above_mm, recess.low_mm))
        loose_mm3 += inside.intersection(disc).area * room_mm
        free = free.difference(disc)
    loose_mm3 += free.area * height_mm
    for stub in blueprint.stubs:
        inner_mm = max(0.0, stub.diameter_mm / 2 - fill.wall_mm)
        loose_mm3 += math.pi * inner_mm**2 * stub.height_mm
    return float(loose_mm3)


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
    def magnets_size(self) -> str:
        """How large each is."""
        height = format_mm(self.profile.magnet_height_mm)
        return f"{self.profile.magnet_diameter_mm:g} x {height}"

    @property
    def magnets_words(self) -> str:
        """How many of what kind; empty for none."""
        kind = f"{self.profile.magnet_grade}, {self.magnets_size}"
        return f"{many(self.magnets, 'magnet')} {kind}" if self.magnets else ""

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
            "pieces": [
                {
                    "piece": one.piece,
                    "colour": one.colour,
                    "size_mm": one.size_mm,
                    "plastic_mm3": round(one.printed_mm3 + one.letter_mm3 + one.tones_mm3, 1),
                    "magnets": [
                        {"pole": pole or None, "marked": mark} for pole, mark in one.magnets
                    ],
                }
                for one in self.pieces
            ],
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
            "filament": [{"material": profile.filament} | asdict(line) for line in self.filament],
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
) -> Iterator[FilamentLine]:
    """A line for each colour of the pieces, in the order in which they come; letters last."""
    volumes: dict[str, float] = defaultdict(float)
    names: dict[str, list[str]] = defaultdict(list)
    for piece in pieces:
        volumes[piece.colour] += piece.printed_mm3
        names[piece.colour].append(piece.piece)
    tones = [piece for piece in pieces if piece.tones_mm3]
    inlays = [
        (profile.letter_colour, "letters", sum(piece.letter_mm3 for piece in pieces)),
        (tones[0].tone if tones else "", "tones", sum(piece.tones_mm3 for piece in tones)),
    ]
    # What each extruder prints: the pieces in all their colours, then an inlay each.
    prints = [[(colour, tuple(names[colour]), volumes[colour]) for colour in volumes]]
    prints += [[(colour, (name,), volume)] for colour, name, volume in inlays if volume]
    said = (sliced.grams if sliced else None) or ()
    for printed, said_grams in zip_longest(prints, said[: len(prints)]):
        estimated = sum(volume for _, _, volume in printed) * profile.filament_density / 1000
        # By how much an estimate is to be multiplied so that it is what the slicer said, if it did.
        factor = said_grams / estimated if said_grams is not None and estimated else 1.0
        for colour, some, volume in printed:
            grams = volume * factor * profile.filament_density / 1000
            metres = volume * factor / (math.pi * profile.filament_diameter_mm**2 / 4) / 1000
            cost = grams / 1000 * profile.filament_price
            yield FilamentLine(colour, some, round(grams, 2), round(metres, 3), round(cost, 4))


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


_COLUMNS = ("item", "name", "count", "unit", "size", "colour", "price", "cost", "note")
#: How a spreadsheet recognises a formula, which a name or a material must never become.
_FORMULA = ("=", "+", "-", "@")


def bill_csv(bill: Bill) -> str:
    """The bill as a table for spreadsheets: pieces, magnets, filament, total, notes."""
    profile = bill.profile
    rows: list[dict[str, object]] = []
    for piece in bill.pieces:
        size = " x ".join(f"{side:g}" for side in piece.size_mm)
        size += f" x {format_mm(profile.thickness_mm)}"
        poles = " ".join(pole for pole, _ in piece.magnets)
        row = {"item": "piece", "name": piece.piece, "count": 1, "size": size}
        rows.append(row | {"colour": piece.colour, "note": f"poles {poles}" if poles else ""})
    if bill.magnets:
        row = {"item": "magnet", "name": profile.magnet_grade, "count": bill.magnets}
        row["size"] = bill.magnets_size
        price, cost = f"{profile.magnet_price:.2f}", f"{bill.magnets_cost:.2f}"
        rows.append(row | {"price": price, "cost": cost})
    for line in bill.filament:
        row = {"item": "filament", "name": profile.filament, "count": f"{line.grams:.1f}"}
        row |= {"unit": "g", "size": format_mm(profile.filament_diameter_mm), "colour": line.colour}
        row |= {"price": f"{profile.filament_price:.2f}/kg", "cost": f"{line.cost:.2f}"}
        rows.append(row | {"note": f"{line.metres:.2f} m for {' '.join(line.pieces)}"})
    if bill.sliced:
        plates = f"{many(bill.sliced.plates, 'plate')}, says {bill.sliced.slicer}"
        minutes = "" if bill.sliced.seconds is None else round(bill.sliced.seconds / 60)
        rows.append({"item": "print", "count": minutes, "unit": "min", "note": plates})
    rows.append({"item": "total", "unit": profile.currency, "cost": f"{bill.cost:.2f}"})
    rows += [{"item": "note", "note": note} for note in bill.notes]
    written = io.StringIO()
    table = csv.DictWriter(written, _COLUMNS, restval="", lineterminator="\n")
    table.writeheader()
    table.writerows({key: _harmless(cell) for key, cell in row.items()} for row in rows)
    return written.getvalue()


def _harmless(cell: Any) -> Any:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell
