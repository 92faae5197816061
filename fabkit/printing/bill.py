"""The bill of materials: what a set takes, what it costs, and what to know before it is printed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fabkit.core.units import format_mm
from fabkit.drawing.drawn import Drawn
from fabkit.model.profile import Profile
from fabkit.printing.estimate import letter_mm3, printed_mm3
from fabkit.printing.pauses import layer_before_pause

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
        piece: its id.
        colour: ``#rrggbb``.
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
        colour: ``#rrggbb``.
        pieces: what is printed with it: ids, ``letters`` or ``tones``.
        grams: how much.
        metres: how much.
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
        set_name: the set.
        profile: how it is printed.
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
    blueprints: Sequence[Drawn],
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

    Example:
        >>> from fabkit.drawing.draft import draft_all
        >>> from fabkit.model.library import load_set
        >>> from fabkit.model.profilefile import load_profile
        >>> fridgeiq, profile = load_set("fridgeiq"), load_profile()
        >>> bill = bill_of_materials("fridgeiq", draft_all(fridgeiq, fridgeiq.pieces, profile), profile)
        >>> bill.magnets, bill.magnets_cost
        (21, 4.2)
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


def _piece_line(blueprint: Drawn, profile: Profile, tones: tuple[str, float] | None) -> PieceLine:
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
