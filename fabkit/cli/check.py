"""`fabkit check`: are the meshes printable, and do they fit?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fabkit.cli import meshes, options
from fabkit.cli.context import NO_EXIT, Context, takes
from fabkit.cli.options import argument, option
from fabkit.cli.report import Report
from fabkit.core.errors import InputError, many
from fabkit.model.library import shipped_names

if TYPE_CHECKING:
    from fabkit.mesh.fitting.tolerance import PrinterError
    from fabkit.verify.check import CheckReport
    from fabkit.verify.reports import PartReport

#: No printer is as far off as this.
MOST_ERROR_MM = 2.0


@takes("output", "profiles", "budget_s")
def check(
    context: Context,
    names: Annotated[
        list[str] | None,
        argument(
            "[SET] [FILE]...",
            "The set; then mesh files (STL, 3MF, OBJ) or folders of them (default: output/SET/stl).",
            shipped_names,
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        option(
            "-s --set SET|KEY=VALUE",
            "The set, before mesh files; or override a profile value, as elsewhere.",
        ),
    ] = None,
    side_mm: Annotated[
        float | None,
        option(
            "--printer-error LENGTH",
            'Check that rows still close if each printed side is off by this, such as "0.1mm".',
            read=options.length(MOST_ERROR_MM),
        ),
    ] = None,
    hole_mm: Annotated[
        float | None,
        option(
            "--hole-error LENGTH",
            "How much smaller holes print (default: as --printer-error).",
            read=options.length(MOST_ERROR_MM),
        ),
    ] = None,
) -> int:
    """Check that meshes are printable and fit together.

    Inspects every mesh as a part, then assembles the parts as solutions of the challenges. Exit
    code 1 if anything fails.
    """
    from fabkit.verify.check import check as check_parts

    context.set, files, context.settings = meshes.which(names, settings)
    report, folder = context.report, context.folder
    error = _printer_error(side_mm, hole_mm)
    source, taken, limits = meshes.take_files(context, files, "FILE")
    with report.progress() as progress:
        found = check_parts(taken, limits, context.budget_s, progress, error)
    tell_check(found, report)
    if source.folder is not None or context.output is not None:
        from fabkit.build.reports import check_contents, write_reports

        contents, about = check_contents(found), "stl" if source.folder else ""
        built = write_reports(folder, context.puzzle, limits, contents, about, lenient=True)
        for warning in built.warnings:
            report.warn(warning)
        report.say(f"wrote {folder / 'check.html'} and check.json")
    report.document(found.document())
    return 0 if found.ok else NO_EXIT


def _printer_error(side_mm: float | None, hole_mm: float | None) -> PrinterError | None:
    """The printer's errors; None when they are not asked for."""
    from fabkit.mesh.fitting.tolerance import PrinterError

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
    together = f"{many(len(found.assemblies), 'challenge')} assembled{least}"
    checked = f"{many(len(found.all_parts), 'part')}, {rules} rules, {together}"
    verdict = "passed" if found.ok else "FAILED"
    return f"{verdict}: {checked}; held against profile {found.profile.name}"
