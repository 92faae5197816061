"""`fabkit slice` and `fabkit bom`: what a print takes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabkit.cli.context import FAILURE_EXIT, Printing, WithForce
from fabkit.cli.exports import export_of, warn_of_folder
from fabkit.cli.options import option, seconds
from fabkit.cli.report import Report
from fabkit.core.errors import pluralize
from fabkit.core.units import format_duration, format_mm

if TYPE_CHECKING:
    from fabkit.printing.bom import Bom


def _limit_s(text: str) -> float:
    limit_s = seconds(text)
    if not limit_s:
        raise ValueError("is 0; expected more than 0")
    return limit_s


SLICER = partial(
    option, "--slicer PROGRAM", "The slicer, by name or path (default: the first one found)."
)
TIME_LIMIT = partial(
    option,
    "--time-limit SECONDS",
    "Time limit for slicing one plate (default: 600).",
    600.0,
    _limit_s,
)
CONFIG = partial(
    option,
    "--config FILE",
    "Your printer's settings, as PrusaSlicer exports them (default: generic ones, for checking "
    "only).",
)


class Slice(WithForce, Printing):
    """Slice the plates with PrusaSlicer.

    Reports time, filament and whether each plate can be printed. Only with --config is the G-code
    for your printer. Exit code 1 if a plate cannot be printed, 3 without a slicer.
    """

    slicer: str | None = SLICER()
    limit_s: float = TIME_LIMIT()
    config: Path | None = CONFIG()

    def run(self) -> int:
        from fabkit.build.slicing import slice_set
        from fabkit.printing.slicer.config import read_config
        from fabkit.printing.slicer.program import find_slicer

        report, folder, force = self.report, self.folder, self.force
        config = read_config(self.config, self.profile) if self.config is not None else None
        program = find_slicer(self.slicer)
        done = export_of(self, ["plates"])
        with self.resumable(), report.progress() as progress:
            document, is_new = slice_set(
                folder, self.artifacts, program, self.limit_s, force, config, progress
            )
        warn_of_folder(done, self, ["plates"])
        print_slices(document, is_new, report)
        report.info(f"Wrote {folder / 'gcode'} and {folder / 'slice.json'}")
        report.document(**document)
        return 0 if document["printable"] else FAILURE_EXIT


def print_slices(document: Mapping[str, Any], is_new: bool, report: Report) -> None:
    """Print ``slice.json``: a table of the plates, then why plates cannot be printed."""
    if not is_new:
        report.info("Already up to date: plates unchanged since they were sliced")
    head = ["plate", "objects", "manifold", "layers", "time", "grams", "metres", "pause"]
    rows: list[list[object]] = []
    for plate in document["plates"]:
        manifold = all(sliced_object["manifold"] for sliced_object in plate["objects"])
        row = [plate["file"], len(plate["objects"]), "yes" if manifold else "NO", plate["layers"]]
        row += [format_duration(plate["seconds"]), _value(plate["grams"]), _value(plate["metres"])]
        pauses = ", ".join(format_mm(stop["height_mm"]) for stop in plate["pauses"])
        rows.append([*row, pauses or "none", "yes" if plate["printable"] else "NO"])
    report.table([*head, "printable"], rows)
    for plate in document["plates"]:
        for feature in plate["features"]:
            layers = f"{feature['first_layer']} to {feature['last_layer']}"
            report.detail(f"{plate['file']}: {feature['name']} in layers {layers}")
        report.info(*(f"{plate['file']}: {reason}" for reason in plate["reasons"]))
    plates = pluralize(len(document["plates"]), "plate")
    verdict = "Printable" if document["printable"] else "NOT printable"
    config = document["config"]
    settings = f"the settings of {config['file']}" if config else "generic settings"
    time = format_duration(document["seconds"])
    report.info(f"{verdict}: {plates}, {time}, sliced by {document['slicer']} with {settings}")
    report.info(*document["notes"])


def _value(number: float | None) -> str:
    return "?" if number is None else f"{number:.1f}"


class BillOfMaterials(WithForce, Printing):
    """Write the bill of materials.

    Lists magnets with their poles, filament by colour, the spools to buy, print time and cost in
    bom.csv and bom.json.
    """

    def run(self) -> None:
        from fabkit.build.slicing import write_bom

        report, folder = self.report, self.folder
        bom = write_bom(folder, self.artifacts, self.force)
        print_bom(bom, report)
        report.info(f"Wrote {folder / 'bom.csv'} and {folder / 'bom.json'}")
        report.document(**bom.document())


def print_bom(bom: Bom, report: Report) -> None:
    """Print a bill of materials: a table, then notes."""
    profile = bom.profile
    rows = []
    if bom.magnets:
        count = str(bom.magnets + bom.jig_magnets)
        rows.append([f"magnets {bom.magnet_kind}", count, "", f"{bom.magnets_cost:.2f}"])
    for line in bom.filament:
        name = f"{profile.filament} {line.name} for {' '.join(line.pieces)}"
        rows.append([name, f"{line.grams:.1f} g", f"{line.metres:.2f} m", f"{line.cost:.2f}"])
    rows.append(["total", f"{bom.grams:.1f} g", "", f"{bom.cost:.2f}"])
    report.table([pluralize(len(bom.pieces), "piece"), "count", "length", profile.currency], rows)
    report.info(*filter(None, (bom.packs_text, bom.spools_text)))
    for piece in bom.pieces if profile.polarity == "alternating" else ():
        poles = " ".join(f"{pole}{' (dimple)' if marked else ''}" for pole, marked in piece.magnets)
        report.info(f"{piece.piece}: {poles}")
    if bom.sliced:
        plates = pluralize(bom.sliced.plates, "plate")
        time = format_duration(bom.sliced.seconds)
        report.info(f"{plates}, {time} to print, sliced by {bom.sliced.slicer}")
    report.info(*bom.notes)
