"""`fabkit check`: are the meshes printable, and do they fit?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from fabkit.cli import meshes, options
from fabkit.cli.meshes import BUDGET_S, FAILED_EXIT
from fabkit.cli.report import Report
from fabkit.core.errors import InputError, many
from fabkit.model.library import load_set

if TYPE_CHECKING:
    from fabkit.mesh.fitting.tolerance import PrinterError
    from fabkit.verify.check import CheckReport
    from fabkit.verify.reports import PartReport

#: No printer is as far off as this.
MOST_ERROR_MM = 2.0


def check(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SET] [FILE]...",
            help="The set; then mesh files (STL, 3MF, OBJ) or folders of them.",
            show_default="the STL files in output/SET",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "-s",
            "--set",
            metavar="SET|KEY=VALUE",
            help="The set, before mesh files; or one number of the profile, as elsewhere.",
        ),
    ] = None,
    output: options.Folder = None,
    profile: options.ProfileNames = None,
    printer_error: Annotated[
        str | None,
        typer.Option(
            "--printer-error",
            metavar="LENGTH",
            help='How far each printed side may be off, such as "0.1mm": do rows still close?',
        ),
    ] = None,
    hole_error: Annotated[
        str | None,
        typer.Option(
            "--hole-error",
            metavar="LENGTH",
            help="How much smaller holes print.",
            show_default="as --printer-error",
        ),
    ] = None,
    budget: options.Budget = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> int:
    """Inspect meshes as parts, and put them together. Exit code 1 if anything fails."""
    from fabkit.verify.check import check as check_parts

    report = Report(json, quiet, verbose)
    set_name, files, changes = meshes.which(names, settings)
    puzzle = load_set(set_name)
    asked = options.profile_for(puzzle, profile, changes)
    error, budget_s = _printer_error(printer_error, hole_error), options.seconds(budget, BUDGET_S)
    folder = options.set_folder(output, puzzle)
    source = meshes.files_named(files, "FILE") if files else meshes.own_files(folder, set_name)
    is_named = bool(profile or changes)
    taken, limits = meshes.take_files(source, puzzle, asked, is_named, report)
    with report.progress() as progress:
        found = check_parts(taken, limits, budget_s, progress, error)
    tell_check(found, report)
    if source.folder is not None or output is not None:
        from fabkit.build.reports import write_check

        for warning in write_check(folder, found, source.folder is not None):
            report.warn(warning)
        report.say(f"wrote {folder / 'check.html'} and check.json")
    report.document(found.document())
    return 0 if found.ok else FAILED_EXIT


def _printer_error(side: str | None, hole: str | None) -> PrinterError | None:
    """The printer's errors; None when they are not asked for."""
    from fabkit.mesh.fitting.tolerance import PrinterError

    side_mm = options.length_mm(side, "--printer-error", MOST_ERROR_MM)
    hole_mm = options.length_mm(hole, "--hole-error", MOST_ERROR_MM)
    if side_mm is None:
        if hole_mm is not None:
            raise InputError.of("--hole-error", "goes with --printer-error; give that, too")
        return None
    return PrinterError(side_mm, side_mm if hole_mm is None else hole_mm)


def tell_check(found: CheckReport, report: Report) -> None:
    """Prints a report: the table, then what fails, then the verdict."""
    report.table(
        ["part", "is", "gap", "wall", "bore", "depth", "fails"],
        [
            [
                part.name,
                part.words,
                *(_value(part, rule) for rule in ("gap-least", "wall", "recess-diameter")),
                _value(part, "recess-depth"),
                ", ".join(finding.rule for finding in part.failed) or "-",
            ]
            for part in found.all_parts
        ],
    )
    for part in found.all_parts:
        for finding in part.findings:
            tell = report.say if not finding.ok else report.detail
            tell(f"{part.key}: {finding.rule}: {finding.message}")
    for finding in found.findings:
        tell = report.say if not finding.ok else report.detail
        tell(f"{finding.rule}: {finding.message}")
    for assembly in found.assemblies:
        for message in assembly.messages:
            report.say(f"{assembly.challenge}: {message}")
    if found.tolerance is not None:
        from fabkit.verify.page import tolerance_words

        for sentence in tolerance_words(found.tolerance):
            report.say(sentence)
    report.say(_summary(found))


def _value(part: PartReport, rule: str) -> str:
    values = [finding.value for finding in part.findings if finding.rule == rule]
    return f"{values[0]:.2f}" if values and values[0] is not None else ""


def _summary(found: CheckReport) -> str:
    rules = sum(len(part.findings) for part in found.all_parts)
    gaps = [one.min_gap_mm for one in found.assemblies if one.min_gap_mm is not None]
    least = f", least gap {min(gaps):.3f} mm" if gaps else ""
    together = f"{many(len(found.assemblies), 'challenge')} put together{least}"
    checked = f"{many(len(found.all_parts), 'part')}, {rules} rules, {together}"
    verdict = "passed" if found.ok else "FAILED"
    return f"{verdict}: {checked}; held against profile {found.profile.name}"
