"""`fabkit make`: everything for a print, and the proof that it is right."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from fabkit.build import Export, export, kinds_for
from fabkit.build.manifest import left_behind, read_manifest
from fabkit.cli import meshes
from fabkit.cli.bom import magnets_words
from fabkit.cli.check import tell_check
from fabkit.cli.context import NO_EXIT, PRINTED, Context, takes
from fabkit.cli.export import tell_export
from fabkit.cli.options import option
from fabkit.cli.report import Report
from fabkit.cli.slice import SlicerPath, TimeLimit, tell_slices
from fabkit.cli.verify import tell_verify
from fabkit.core.errors import many, printable
from fabkit.core.units import format_duration

if TYPE_CHECKING:
    from fabkit.printing.bom import Bill

#: What the two reports are called.
_REPORTS = ("check.json", "verify.json")


@takes(*PRINTED, "force", "budget_s")
def make(
    context: Context,
    slice_too: Annotated[
        bool, option("--slice", "Also slice the plates (needs PrusaSlicer).")
    ] = False,
    slicer: SlicerPath = None,
    limit_s: TimeLimit = 600.0,
) -> int:
    """Make all files for a print, then check and verify them.

    Exit code 1 if the set fails.
    """
    from fabkit.build.billing import write_bill
    from fabkit.build.slicing import slice_set
    from fabkit.printing.slicer.finding import find_slicer

    report, puzzle, limits = context.report, context.puzzle, context.profile
    folder, force = context.folder, context.force
    found = find_slicer(slicer) if slice_too or slicer is not None else None
    with report.progress() as progress:
        done = export(puzzle, limits, kinds_for(puzzle), folder, (), force, progress)
    # What is told of the folder's other files is told at the end, when they are up to date.
    done = replace(done, left=())
    tell_export(done, "output", limits, report)
    with context.keeping():
        reports, warnings = _reports(context, done)
        sliced = None
        if found is not None:
            with report.progress() as progress:
                sliced = slice_set(folder, puzzle, limits, found, limit_s, force, progress)
            tell_slices(sliced, report)
            warnings += sliced.warnings
        bill, more = write_bill(folder, puzzle, limits)
        booklet, notes = _booklet(context)
    for note in bill.notes:
        report.say(note)
    manifest = read_manifest(folder, puzzle, force=True)
    warnings += [*more, *notes, *left_behind(puzzle, limits, manifest, folder)]
    for warning in warnings:
        report.warn(warning)
    checked, verified = (reports[name] for name in _REPORTS)
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
            "warnings": [*done.warnings, *warnings],
        }
    )
    return 0 if ok else NO_EXIT


def _reports(context: Context, done: Export) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """The reports of check and verify: those of before, if nothing has changed since."""
    from fabkit.build.reports import files_now, made_by, stored_reports

    report, folder, puzzle = context.report, context.folder, context.puzzle
    profile, budget_s = context.profile, context.budget_s
    key = made_by(puzzle, profile, f"{budget_s}", but=("price.", "laser.", "filament."))
    stored = None if context.force else stored_reports(folder, puzzle, _REPORTS, key)
    if stored is not None:
        report.say("already up to date: checked and verified before")
        return stored, []
    from fabkit.build.reports import write_check, write_verify
    from fabkit.verify.catalog import verify
    from fabkit.verify.check import check

    about = files_now(folder, puzzle, _REPORTS[0])
    # The files of this set as it is now: there may be others, of pieces that it had.
    made = tuple(folder / name for name in done.files if name.startswith("stl/"))
    source = meshes.Source(made, folder, printable(str(folder / "stl")))
    taken = meshes.take_with(source, context, [profile])
    with report.progress() as progress:
        verified = verify(taken, profile, budget_s, progress)
        answers = [one.answered for one in verified.challenges]  # solved once, for both
        checked = check(taken, profile, budget_s, progress, answers=answers)
    tell_check(checked, report)
    tell_verify(verified, report)
    warnings = write_check(folder, checked, made_by=key, about=about)
    warnings += write_verify(folder, verified, profile, made_by=key, about=about)
    return {"check.json": checked.document(), "verify.json": verified.document()}, warnings


def _booklet(context: Context) -> tuple[dict[str, Any] | None, list[str]]:
    """Brings the booklet up to date.

    Returns:
        Its file and whether it was written now, or None when there is nothing to show in one; and
        what deserves a look.
    """
    from fabkit.build import booklet as making
    from fabkit.build.entries import NothingToShowError
    from fabkit.build.reports import is_current

    report, folder, puzzle = context.report, context.folder, context.puzzle
    profile, budget_s = context.profile, context.budget_s
    key = making.booklet_key(puzzle, profile, folder, budget_s)
    if not context.force and is_current(folder, puzzle, making.BOOKLET, key):
        report.say("already up to date: the booklet")
        return {"file": making.BOOKLET, "written": False}, []
    wish = making.Wish(budget_s=budget_s)
    try:
        with report.progress() as progress:
            made = making.make_booklet(puzzle, profile, folder, wish, progress)
    except NothingToShowError as error:
        report.say(f"no booklet: {error}")
        old = (folder / making.BOOKLET).exists()
        return None, [f"{making.BOOKLET} is of the set as it was before"] if old else []
    notes = making.write_booklet(folder, puzzle, profile, made, key)
    return {"file": making.BOOKLET, "written": True}, [*made.notes, *notes]


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
        ["magnets", magnets_words(bill) or "none", "bom.csv"],
        ["filament", f"{bill.grams:.0f} g of {bill.profile.filament}", "bom.csv"],
        ["material", f"{bill.cost:.2f} {bill.profile.currency}", "bom.csv"],
    ]
    if booklet:
        rows.append(["booklet", "PDF", "booklet.pdf"])
    if bill.sliced:
        rows.append(["time to print", format_duration(bill.sliced.seconds), "slice.json, gcode/"])
    report.table([bill.set_name, "", f"in {folder}"], rows)
