"""`fabkit make`: everything for a print, and the proof that it is right."""

from __future__ import annotations

from fabkit.base.errors import many
from fabkit.cli import meshes, options
from fabkit.cli.check import tell_check
from fabkit.cli.export import tell_export
from fabkit.cli.meshes import FAILED_EXIT
from fabkit.cli.report import Report
from fabkit.cli.verify import tell_verify
from fabkit.model.library import load_set
from fabkit.plan import KINDS, export


def make(
    set: options.Set,
    output: options.Folder = None,
    profile: options.ProfileNames = None,
    settings: options.Settings = None,
    force: options.Force = False,
    budget: options.Budget = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> int:
    """Make everything for a print, then check and verify it. Exit code 1 if that fails."""
    from fabkit.verify.catalog import verify
    from fabkit.verify.check import check

    report = Report(json, quiet, verbose)
    puzzle = load_set(set)
    limits = options.profile_for(puzzle, profile, settings)
    budget_s = options.seconds(budget, meshes.BUDGET_S)
    folder = options.set_folder(output, puzzle)
    with report.progress() as progress:
        done = export(puzzle, limits, KINDS, folder, (), force, progress)
    tell_export(done, "STL and STEP", limits, report)
    source = meshes.own_files(folder, set)
    taken = meshes.take_with(source, puzzle, [limits], report)
    with report.progress() as progress:
        verified = verify(taken, limits, budget_s, progress)
        answers = [one.answered for one in verified.challenges]  # solved once, for both
        checked = check(taken, limits, budget_s, progress, answers=answers)
    tell_check(checked, report)
    tell_verify(verified, report)

    from fabkit.plan.reports import write_check, write_verify

    warnings = [
        *write_check(folder, checked, on_own=True),
        *write_verify(folder, verified, limits, on_own=True),
    ]
    for warning in warnings:
        report.warn(warning)
    ok = checked.ok and verified.ok
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
            "check": checked.document(),
            "verify": verified.document(),
            "warnings": [*done.warnings, *warnings],
        }
    )
    return 0 if ok else FAILED_EXIT
