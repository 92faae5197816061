"""The bill of materials of a set, with what a slicer has said of its plates, if one was asked."""

from __future__ import annotations

from pathlib import Path

from fabkit.base.files import json_text
from fabkit.blueprint.draft import draft_all
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet
from fabkit.plan.reports import made_by, stored_reports, write_reports
from fabkit.press.bill import Bill, Sliced, bill_of_materials
from fabkit.press.billtable import bill_csv

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
    blueprints = draft_all(puzzle, puzzle.pieces, profile)
    sliced = sliced_before(folder, puzzle, profile)
    bill = bill_of_materials(puzzle.name, blueprints, profile, sliced)
    texts: dict[str, str | Path] = {
        "bom.csv": bill_csv(bill),
        "bom.json": json_text(bill.document()),
    }
    return bill, write_reports(folder, puzzle, profile, texts)
