"""A slicer's verdict on the plates of a set, with the G-code beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fabkit.build.export import PLATES
from fabkit.build.manifest import made_by, read_manifest
from fabkit.build.reports import stored, write_contents
from fabkit.build.targets import Place, Progress, Target, build, silent
from fabkit.core.errors import InputError, printable
from fabkit.core.files import json_text, outside_failures, read_json, temporary_folder
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


def sliced_before(folder: Path, puzzle: PuzzleSet, profile: Profile) -> dict[str, Any] | None:
    """What a slicer said of the plates that are in a folder; None when they changed since."""
    manifest = read_manifest(folder, puzzle, force=True)
    is_fresh = _target(puzzle, profile).is_fresh(manifest, folder)
    return stored(folder, REPORT) if is_fresh else None


def _target(
    puzzle: PuzzleSet,
    profile: Profile,
    make: Callable[[Place], None] = lambda place: None,
    prepare: Callable[[], None] = lambda: None,
) -> Target:
    """The files. A slicer never sees prices, and what is cut from a sheet."""
    recipe = made_by(puzzle, profile, "slice", but=("price.", "laser.", "gap."))
    return Target((REPORT, "gcode/"), recipe, make, prepare, about="plates")


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
    contents: dict[str, str | bytes | Path] = {}

    def prepare() -> None:
        documents = []
        blueprints = draft_things(puzzle, things(puzzle, profile), profile)
        drawings = {one.piece: one for one in blueprints}
        plates = _plates(folder)
        for done, plate in enumerate(plates):
            progress(done, len(plates), plate["file"])
            gcode = f"gcode/plate-{plate['number']}.gcode"
            path = contents[gcode] = made / Path(gcode).name
            expected = _expected(plate, puzzle, drawings, profile)
            model = folder / plate["file"]
            verdict = slice_plate(slicer, model, path, profile, expected, limit_s)
            documents.append({"file": plate["file"], "gcode": gcode} | verdict)
        contents[REPORT] = json_text(_document(puzzle, profile, name, documents))

    def write(place: Place) -> None:
        write_contents(contents, place)

    # Another slicer says something else of the same plates.
    target = replace(_target(puzzle, profile, write, prepare), always=True)
    with (
        outside_failures("cannot make a temporary folder"),
        temporary_folder() as made,
    ):
        build(folder, puzzle, profile, [target], force)
    return SliceReport(stored(folder, REPORT), is_new=True)


def _plates(folder: Path) -> list[dict[str, Any]]:
    """The plates in a folder, as fabkit wrote them just before."""
    path = folder / PLATES
    with outside_failures(f"cannot read {printable(str(path))}"):
        plates = read_json(path).get("plates")
    if not isinstance(plates, list):
        raise InputError.of(
            printable(str(path)), "is not what fabkit wrote; --force makes it again"
        )
    return plates


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
    def total(key: str) -> float | None:
        values = [plate[key] for plate in plates]
        return None if None in values else round(sum(values), 3)

    return {
        "set": puzzle.name,
        "profile": profile.name,
        "slicer": slicer,
        "printable": all(plate["printable"] for plate in plates),
        "seconds": total("seconds"),
        "grams": total("grams"),
        "extruder_grams": _extruder_grams(plates),
        "metres": total("metres"),
        "plates": plates,
    }


def _extruder_grams(plates: list[dict[str, Any]]) -> list[float] | None:
    """The filament of each extruder over all plates, in grams; None where it is not known."""
    totals: dict[int, float] = {}
    for plate in plates:
        if not plate["extruders"]:
            return None
        for index, extruder in enumerate(plate["extruders"]):
            if extruder["grams"] is None:
                return None
            totals[index] = totals.get(index, 0.0) + extruder["grams"]
    return [round(grams, 3) for grams in totals.values()]
