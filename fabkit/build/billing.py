"""The bill of materials of a set, with what a slicer has said of its plates, if one was asked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fabkit.build.reports import made_by, stored_reports, write_reports
from fabkit.core.files import json_text
from fabkit.drawing.draft import draft_things, tones
from fabkit.drawing.part import Drawn
from fabkit.model.accessory import things
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet
from fabkit.printing.bom import Bill, Sliced, bill_csv, bill_of_materials

#: The keys of a profile that a slicer never sees.
NOT_SLICED = ("price.", "laser.", "gap.")


def slice_key(puzzle: PuzzleSet, profile: Profile) -> str:
    """By what ``slice.json`` is known to speak of a set printed so."""
    return made_by(puzzle, profile, "slice", but=NOT_SLICED)


def sliced_before(folder: Path, puzzle: PuzzleSet, profile: Profile) -> Sliced | None:
    """What a slicer said of the plates that are in a folder; None when they changed since."""
    stored = stored_reports(folder, puzzle, ["slice.json"], slice_key(puzzle, profile))
    if stored is None or not stored["slice.json"]["printable"]:
        return None
    found = stored["slice.json"]
    return Sliced(
        found["slicer"],
        found["seconds"],
        tuple(found["extruder_grams"]) if found["extruder_grams"] else None,
        len(found["plates"]),
    )


def write_bill(folder: Path, puzzle: PuzzleSet, profile: Profile) -> tuple[Bill, list[str]]:
    """Works out the bill of materials, and writes ``bom.csv`` and ``bom.json``.

    Args:
        folder: the output folder.
        puzzle: the set.
        profile: how it is printed, and what things cost.

    Returns:
        The bill, and what deserves a look.

    Raises:
        InputError: when the profile does not suit the pieces.
        OutsideError: when the folder cannot be written.
    """
    blueprints = draft_things(puzzle, things(puzzle, profile), profile)
    sliced = sliced_before(folder, puzzle, profile)
    bill = bill_of_materials(
        puzzle.name, blueprints, profile, sliced, _second_colours(puzzle, blueprints, profile)
    )
    texts: dict[str, str | Path] = {
        "bom.csv": bill_csv(bill),
        "bom.json": json_text(bill.document()),
    }
    return bill, write_reports(folder, puzzle, profile, texts)


def _second_colours(
    puzzle: PuzzleSet, drawings: Sequence[Drawn], profile: Profile
) -> dict[str, tuple[str, float]]:
    """The second colour of each piece that is printed with one, and how much of it in mm3."""
    if profile.tones == "plain":
        return {}
    pieces = {piece.id: piece for piece in puzzle.pieces if piece.tones}
    found = {}
    for drawing in drawings:
        if piece := pieces.get(drawing.piece):
            tiles = tones(puzzle.lattice, piece, drawing, profile)
            area_mm2 = tiles.area.intersection(drawing.face).area
            found[piece.id] = piece.tone, area_mm2 * (tiles.high_mm - tiles.low_mm)
    return found
