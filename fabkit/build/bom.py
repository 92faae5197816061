"""The bill of materials of a set, with what a slicer has said of its plates, if one was asked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fabkit.build.reports import write_reports
from fabkit.build.slicing import sliced_before
from fabkit.core.files import json_text
from fabkit.drawing.draft import draft_things, tones
from fabkit.drawing.part import PartDrawing
from fabkit.model.accessory import things
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet
from fabkit.printing.bom import Bill, Sliced, bill_csv, bill_of_materials


def write_bill(folder: Path, puzzle: PuzzleSet, profile: Profile, force: bool = False) -> Bill:
    """Works out the bill of materials, and writes ``bom.csv`` and ``bom.json``.

    Raises:
        InputError: when the profile does not suit the pieces, or a file is not fabkit's.
        OutsideError: when the folder cannot be written.
    """
    drawings = draft_things(puzzle, things(puzzle, profile), profile)
    found = sliced_before(folder, puzzle, profile)
    sliced = None
    if found and found["printable"]:
        grams = tuple(found["extruder_grams"]) if found["extruder_grams"] else None
        sliced = Sliced(found["slicer"], found["seconds"], grams, len(found["plates"]))
    colours = _second_colours(puzzle, drawings, profile)
    bill = bill_of_materials(puzzle.name, drawings, profile, sliced, colours)
    texts = {"bom.csv": bill_csv(bill), "bom.json": json_text(bill.document())}
    write_reports(folder, puzzle, profile, texts, force=force)
    return bill


def _second_colours(
    puzzle: PuzzleSet, drawings: Sequence[PartDrawing], profile: Profile
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
