"""A slicer's verdict on the plates of a set, with the G-code beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from fabkit.build.export import PLATES
from fabkit.build.manifest import made_by, read_manifest
from fabkit.build.reports import stored
from fabkit.build.targets import Place, Progress, Target, build, silent
from fabkit.core.errors import InputError, printable
from fabkit.core.files import json_text
from fabkit.drawing.draft import draft_things
from fabkit.drawing.part import PartDrawing
from fabkit.model.accessory import things
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet
from fabkit.printing.package import extruders
from fabkit.printing.slicer.finding import Slicer
from fabkit.printing.slicer.slicing import LIMIT_S, slice_plate
from fabkit.printing.slicer.verdict import Expected, features_of

REPORT = "slice.json"


@dataclass(frozen=True)
class SliceReport:
    """What a slicer makes of a set.

    Attributes:
        document: as ``slice.json`` has it.
        is_new: whether the slicer ran now; else nothing had changed since it did.
    """

    document: dict[str, Any]
    is_new: bool

    @property
    def printable(self) -> bool:
        """Whether every plate can be printed."""
        return bool(self.document["printable"])


def _target(puzzle: PuzzleSet, profile: Profile) -> Target:
    """The files. A slicer never sees prices, and what is cut from a sheet."""
    recipe = made_by(puzzle, profile, "slice", but=("price.", "laser.", "gap."))
    return Target((REPORT, "gcode/"), recipe, lambda place: None, about="plates")


def sliced_before(folder: Path, puzzle: PuzzleSet, profile: Profile) -> dict[str, Any] | None:
    """What a slicer said of the plates that are in a folder; None when they changed since."""
    manifest = read_manifest(folder, puzzle, force=True)
    is_fresh = _target(puzzle, profile).is_fresh(manifest, folder)
    return stored(folder, REPORT) if is_fresh else None


def slice_set(
    folder: Path,
    puzzle: PuzzleSet,
    profile: Profile,
    slicer: Slicer,
    limit_s: float = LIMIT_S,
    force: bool = False,
    progress: Progress = silent,
) -> SliceReport:
    """Slices the plates that are in a folder, and writes ``slice.json`` and ``gcode/``.

    Args:
        folder: the output folder, with plates that are up to date.
        limit_s: how long it may take for one plate, in seconds.
        force: slices again what has not changed since.

    Raises:
        OutsideError: when the slicer fails, or the folder cannot be written. Nothing changes then.
    """
    before, name = sliced_before(folder, puzzle, profile), str(slicer)
    if before and before["slicer"] == name and not force:
        return SliceReport(before, is_new=False)

    def make(place: Place) -> None:
        drawn = draft_things(puzzle, things(puzzle, profile), profile)
        drawings, documents = {one.piece: one for one in drawn}, []
        plates = stored(folder, PLATES).get("plates")
        if not isinstance(plates, list):
            message = "is not what fabkit wrote; --force makes it again"
            raise InputError.of(printable(str(folder / PLATES)), message)
        for done, plate in enumerate(plates):
            progress(done, len(plates), plate["file"])
            gcode = f"gcode/plate-{plate['number']}.gcode"
            expected = _expected(plate, puzzle, drawings, profile)
            model = folder / plate["file"]
            verdict = slice_plate(slicer, model, place(gcode), profile, expected, limit_s)
            documents.append({"file": plate["file"], "gcode": gcode} | verdict)
        report = json_text(_document(puzzle, profile, name, documents))
        place(REPORT).write_bytes(report.encode())

    # Another slicer says something else of the same plates.
    target = replace(_target(puzzle, profile), make=make, always=True)
    build(folder, puzzle, profile, [target], force)
    return SliceReport(stored(folder, REPORT), is_new=True)


def _expected(
    plate: Mapping[str, Any],
    puzzle: PuzzleSet,
    blueprints: Mapping[str, PartDrawing],
    profile: Profile,
) -> Expected:
    names = tuple(piece["piece"] for piece in plate["pieces"])
    drawings = [blueprints[name] for name in names]
    return Expected(
        objects=names,
        pause_height_mm=plate["pause_height_mm"],
        extruders=extruders(puzzle, drawings, profile),
        features=features_of(drawings),
    )


def _document(
    puzzle: PuzzleSet, profile: Profile, slicer: str, plates: list[dict[str, Any]]
) -> dict[str, Any]:
    def total(values: list[float | None]) -> float | None:
        return None if None in values else round(sum(filter(None, values)), 3)

    grams = [[one["grams"] for one in plate["extruders"]] for plate in plates]
    of_each = [total(list(one)) for one in zip_longest(*grams, fillvalue=0.0)]
    return {
        "set": puzzle.name,
        "profile": profile.name,
        "slicer": slicer,
        "printable": all(plate["printable"] for plate in plates),
        "seconds": total([plate["seconds"] for plate in plates]),
        "grams": total([plate["grams"] for plate in plates]),
        "extruder_grams": None if None in of_each or [] in grams else of_each,
        "metres": total([plate["metres"] for plate in plates]),
        "plates": plates,
    }
