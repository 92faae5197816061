"""`fabkit make`: everything for a print, and the proof that it is right."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabkit.cli.check import tell_check, tell_verify
from fabkit.cli.context import NO_EXIT, PRINTED, Context, takes
from fabkit.cli.options import flag
from fabkit.cli.printing import (
    SLICER,
    TIME_LIMIT,
    export_of,
    tell_export,
    tell_slices,
)
from fabkit.cli.report import Report
from fabkit.core.errors import many
from fabkit.core.units import format_duration

if TYPE_CHECKING:
    from fabkit.build import Export
    from fabkit.printing.bom import Bill


@takes(*PRINTED, "force", "budget_s")
def make(
    context: Context,
    slice_too: bool = flag("--slice", "Also slice the plates (needs PrusaSlicer)."),
    slicer: str | None = SLICER,
    limit_s: float = TIME_LIMIT,
) -> int:
    """Make all files for a print, then check and verify them.

    Exit code 1 if the set fails.
    """
    from fabkit.build import kinds_for
    from fabkit.build.bom import write_bill
    from fabkit.build.slicing import slice_set
    from fabkit.printing.slicer.finding import find_slicer

    report, puzzle, limits = context.report, context.puzzle, context.profile
    folder, force = context.folder, context.force
    found = find_slicer(slicer) if slice_too or slicer is not None else None
    done = export_of(context, kinds_for(puzzle))
    # What is told of the folder's other files is told at the end, when they are up to date.
    tell_export(done, "output", limits, report, done.edited)
    with context.keeping():
        checked, verified = _reports(context, done)
        sliced = None
        if found is not None:
            with report.progress() as progress:
                sliced = slice_set(folder, puzzle, limits, found, limit_s, force, progress)
            tell_slices(sliced, report)
        bill = write_bill(folder, puzzle, limits, force)
        booklet, notes = _booklet(context)
    for note in bill.notes:
        report.say(note)
    warnings = [*notes, *done.left_behind()]
    report.warn(*warnings)
    ok = bool(checked["ok"] and verified["ok"] and (sliced is None or sliced.printable))
    _summary(folder, list(done.files), checked, verified, bill, booklet is not None, report)
    if ok:
        report.say(f"done: {folder} holds {many(len(done.files), 'file')} that go together")
    else:
        report.say(f"NOT done: the set failed; see {folder / 'check.html'}")
    report.document(
        {
            "set": puzzle.name,
            "output": str(folder),
            "profile": limits.name,
            "ok": ok,
            "written": done.written,
            "files": done.files,
            "check": checked,
            "verify": verified,
            "slice": sliced.document if sliced else None,
            "bom": bill.document(),
            "booklet": booklet,
            "warnings": [*done.edited, *warnings],
        }
    )
    return 0 if ok else NO_EXIT


def _reports(context: Context, done: Export) -> list[dict[str, Any]]:
    """The reports of check and verify: those of before, if nothing has changed since."""
    from fabkit.build.meshes import check_and_verify
    from fabkit.build.reports import stored

    report, folder, files = context.report, context.folder, list(done.files)
    asked = context.puzzle, context.profile, files, context.budget_s, context.force
    with report.progress() as progress:
        found = check_and_verify(folder, *asked, progress)
    if found is None:
        report.say("already up to date: checked and verified before")
    else:
        tell_check(found[0], report)
        tell_verify(found[1], report)
    return [stored(folder, name) for name in ("check.json", "verify.json")]


def _booklet(context: Context) -> tuple[dict[str, Any] | None, list[str]]:
    """Brings the booklet up to date.

    Returns:
        Its file and whether it was written now, or None when there is nothing to show in one; and
        what deserves a look.
    """
    from fabkit.build.booklet import BOOKLET, BookletOptions, write_booklet
    from fabkit.build.entries import NothingToShowError, Selection

    report, folder, force = context.report, context.folder, context.force
    wanted = BookletOptions(Selection(budget_s=context.budget_s))
    try:
        with report.progress() as progress:
            made = write_booklet(
                context.puzzle, context.profile, folder, wanted, force, force, progress
            )
    except NothingToShowError as error:
        report.say(f"no booklet: {error}")
        old = (folder / BOOKLET).exists()
        return None, [f"{BOOKLET} is of the set as it was before"] if old else []
    if made is None:
        report.say("already up to date: the booklet")
    return {"file": BOOKLET, "written": made is not None}, list(made.notes) if made else []


def _summary(
    folder: Path,
    files: list[str],
    checked: dict[str, Any],
    verified: dict[str, Any],
    bill: Bill,
    booklet: bool,
    report: Report,
) -> None:
    """One table of all that there is now."""

    def count(ending: str, start: str = "") -> str:
        return str(sum(name.endswith(ending) and name.startswith(start) for name in files))

    def verdict(document: dict[str, Any]) -> str:
        return "passed" if document["ok"] else "FAILED"

    right = sum(one["ok"] for one in verified["challenges"])
    asked = many(len(verified["challenges"]), "challenge")
    rows = [
        ["pieces to print", f"{count('.stl')} STL, {count('.3mf', '3mf/')} 3MF", "stl/, 3mf/"],
        ["pieces for CAD", f"{count('.step', 'step/')} STEP", "step/"],
        ["the whole set", "3MF, STEP", f"{bill.set_name}.3mf, {bill.set_name}.step"],
        ["print plates", count(".3mf", "plates/"), "plates/"],
        ["to cut", f"{count('.dxf')} DXF, {count('.svg', 'svg')} SVG", "dxf/, svg/, *-sheets/"],
        ["check", verdict(checked), "check.html"],
        ["verify", f"{verdict(verified)}: {right} of {asked}", "verify.json"],
        ["magnets", bill.magnets_words or "none", "bom.csv"],
        ["filament", f"{bill.grams:.0f} g of {bill.profile.filament}", "bom.csv"],
        ["material", f"{bill.cost:.2f} {bill.profile.currency}", "bom.csv"],
    ]
    if booklet:
        rows.append(["booklet", "PDF", "booklet.pdf"])
    if bill.sliced:
        rows.append(["time to print", format_duration(bill.sliced.seconds), "slice.json, gcode/"])
    report.table([bill.set_name, "", f"in {folder}"], rows)
