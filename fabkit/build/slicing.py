"""The slicer's report on the plates of a set, and the bill of materials that builds on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from fabkit.build.artifacts import Artifacts
from fabkit.build.export import PLATES, plate_for_prusaslicer
from fabkit.build.manifest import read_manifest, report_recipe
from fabkit.build.reports import read_report, write_reports
from fabkit.build.targets import OutputPath, Target, build
from fabkit.core.errors import InputError, escape, library_failures
from fabkit.core.formats import json_text
from fabkit.core.progress import Progress, counted, no_progress
from fabkit.core.staging import temporary_folder
from fabkit.drawing.draft import tone_areas
from fabkit.drawing.part import PartDrawing
from fabkit.model.piece import Piece
from fabkit.model.puzzle import PuzzleSet
from fabkit.printing.bom import Bom, SliceTotals, bom_csv, make_bom
from fabkit.printing.magnet_forces import magnet_forces
from fabkit.printing.package3mf import extruder_count
from fabkit.printing.slicer.config import PrinterConfig
from fabkit.printing.slicer.program import Slicer
from fabkit.printing.slicer.slicing import TIME_LIMIT_S, slice_plate
from fabkit.printing.slicer.verdict import ExpectedPrint, features_of
from fabkit.profiles.accessory import Printable
from fabkit.profiles.filaments import filaments_for
from fabkit.profiles.profile import PRUSASLICER, Profile
from fabkit.profiles.profile_file import set_note

REPORT = "slice.json"
#: For G-code without the user's own settings.
GENERIC_NOTE = (
    "This G-code is for checking and must not be printed: its settings are not those of your "
    "printer. Export yours with PrusaSlicer (File > Export > Export Config), and slice with "
    "--config FILE.ini."
)


def _target(puzzle: PuzzleSet, profile: Profile) -> Target:
    """The target, which does not depend on prices and cutting."""
    recipe = report_recipe(puzzle, profile, "slice", exclude_keys=("price.", "laser.", "gap."))
    return Target((REPORT, "gcode/"), recipe, lambda output_path: None, about="plates")


def sliced_before(folder: Path, puzzle: PuzzleSet, profile: Profile) -> dict[str, Any] | None:
    """The slicer's report on the plates in a folder; None if they changed since."""
    manifest = read_manifest(folder, puzzle.name, force=True)
    is_current = _target(puzzle, profile).is_current(manifest, folder)
    return read_report(folder, REPORT) if is_current else None


def slice_set(
    folder: Path,
    artifacts: Artifacts,
    slicer: Slicer,
    limit_s: float = TIME_LIMIT_S,
    force: bool = False,
    config: PrinterConfig | None = None,
    progress: Progress = no_progress,
) -> tuple[dict[str, Any], bool]:
    """Slice the plates in a folder; writes ``slice.json`` and ``gcode/``.

    Args:
        folder: the output folder, with up-to-date plates.
        limit_s: time limit for one plate, in seconds.
        force: also slice unchanged plates again.
        config: the user's own settings; fabkit's generic ones by default.

    Returns:
        The contents of ``slice.json``, and whether the slicer ran now; otherwise nothing had
        changed since its last run.

    Raises:
        InputError: when the configuration does not suit the plates.
        ExternalError: when the slicer fails, or the folder cannot be written. Nothing changes then.
    """
    puzzle, profile = artifacts.puzzle, artifacts.profile
    before = sliced_before(folder, puzzle, profile)
    program = {"slicer": str(slicer), "config": config.document() if config else None}
    if before and before.items() >= program.items() and not force:
        return before, False

    def make(output_path: OutputPath) -> None:
        drawings = artifacts.drawings
        documents = []
        plates = read_report(folder, PLATES).get("plates")
        if not isinstance(plates, list):
            message = "has been changed; rebuild it with --force"
            raise InputError.of(escape(str(folder / PLATES)), message)
        for done, plate in enumerate(plates):

            def follow(
                share: float, step: str, done: int = done, file: str = plate["file"]
            ) -> None:
                progress((done + share) / len(plates), f"{done}/{len(plates)} {file}: {step}")

            counted(progress, done, len(plates), plate["file"])
            gcode = f"gcode/plate-{plate['number']}.gcode"
            expected = _expected(plate, puzzle, drawings, profile)
            model, target = folder / plate["file"], output_path(gcode)
            with temporary_folder() as work_folder:
                if profile.slicer != PRUSASLICER:
                    model = work_folder / model.name
                    model.write_bytes(plate_for_prusaslicer(artifacts, plate))
                verdict = slice_plate(
                    slicer, model, target, profile, expected, limit_s, config, follow
                )
            documents.append({"file": plate["file"], "gcode": gcode} | verdict)
        report = json_text(_document(puzzle, profile, program, documents))
        output_path(REPORT).write_bytes(report.encode())

    # Another slicer's report differs for the same plates.
    target = replace(_target(puzzle, profile), make=make, always=True)
    build(folder, puzzle.name, [target], force)
    return read_report(folder, REPORT), True


def _expected(
    plate: Mapping[str, Any],
    puzzle: PuzzleSet,
    drawings: Mapping[str, PartDrawing],
    profile: Profile,
) -> ExpectedPrint:
    names = tuple(piece["piece"] for piece in plate["pieces"])
    drafted = [drawings[name] for name in names]
    extruders = extruder_count(puzzle, drafted, profile)
    return ExpectedPrint(names, plate["pause_height_mm"], extruders, features_of(drafted))


def _document(
    puzzle: PuzzleSet, profile: Profile, program: dict[str, Any], plates: list[dict[str, Any]]
) -> dict[str, Any]:
    def total(values: list[float | None]) -> float | None:
        return None if None in values else round(sum(filter(None, values)), 3)

    grams = [[extruder["grams"] for extruder in plate["extruders"]] for plate in plates]
    of_each = [total(list(of_piece)) for of_piece in zip_longest(*grams, fillvalue=0.0)]
    return {
        "set": puzzle.name,
        "profile": profile.name,
        **program,
        "printable": all(plate["printable"] for plate in plates),
        "seconds": total([plate["seconds"] for plate in plates]),
        "grams": total([plate["grams"] for plate in plates]),
        "extruder_grams": None if None in of_each or [] in grams else of_each,
        "metres": total([plate["metres"] for plate in plates]),
        "plates": plates,
        "notes": [] if program["config"] else [GENERIC_NOTE],
    }


def write_bom(folder: Path, artifacts: Artifacts, force: bool = False) -> Bom:
    """Write the bill of materials as ``bom.csv`` and ``bom.json``.

    Sizes and volumes are those of the meshes, which are built unless the folder has them.

    Raises:
        InputError: when the profile does not suit the pieces, or a file is not fabkit's.
        ExternalError: when the folder cannot be written.
    """
    bom = bom_in(folder, artifacts)
    texts = {"bom.csv": bom_csv(bom), "bom.json": json_text(bom.document())}
    write_reports(folder, artifacts.puzzle.name, texts, force=force)
    return bom


def bom_in(folder: Path, artifacts: Artifacts) -> Bom:
    """Make the bill of materials of everything that a set prints, by the slicer's report on the
    plates in a folder, if it is up to date.

    Raises:
        InputError: when the profile does not suit the pieces, or a file is not fabkit's.
    """
    puzzle, profile = artifacts.puzzle, artifacts.profile
    report = sliced_before(folder, puzzle, profile)
    sliced = None
    if report and report["printable"]:
        grams = tuple(report["extruder_grams"]) if report["extruder_grams"] else None
        config = report["config"]
        name = f"{report['slicer']} with {config['file'] if config else 'generic settings'}"
        sliced = SliceTotals(name, report["seconds"], grams, len(report["plates"]))
        profile = replace(profile, **config["filament"] if config else {})
    by_id = artifacts.drawings
    drawings = list(by_id.values())
    with library_failures(lambda: "the bill of materials"):
        meshes = {printable.id: artifacts.mesh(printable) for printable in artifacts.printables}
    colours = _second_colours(puzzle, artifacts.printables, drawings, profile)
    note = set_note(puzzle.profile_values, profile)
    filaments = filaments_for(puzzle, profile).colours
    forces = magnet_forces(puzzle, puzzle.pieces, profile, drawings=by_id)
    return make_bom(
        puzzle.name, drawings, meshes, profile, sliced, colours, note, filaments, forces
    )


def _second_colours(
    puzzle: PuzzleSet, made: Sequence[Printable], drawings: Sequence[PartDrawing], profile: Profile
) -> dict[str, tuple[str, float]]:
    """The second colour of each piece that has one, and its volume in mm3."""
    if profile.tones == "plain":
        return {}
    pieces = {part.id: part for part in made if isinstance(part, Piece)}
    second_colours = {}
    for drawing in drawings:
        if piece := pieces.get(drawing.piece):
            areas = tone_areas(puzzle, piece, profile.unit_mm)
            faces = drawing.face, drawing.foot
            shown = [area & face for area, face in zip(areas, faces, strict=True)]
            if area_mm2 := sum(area.area for area in shown):
                second_colours[piece.id] = piece.tone, area_mm2 * profile.label_depth_mm
    return second_colours
