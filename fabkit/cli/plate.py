"""`fabkit plate`: the pieces laid out on the printer's bed."""

from __future__ import annotations

from fabkit.build import export
from fabkit.cli import options
from fabkit.cli.report import Report
from fabkit.core.errors import many
from fabkit.core.files import read_json
from fabkit.core.units import format_mm
from fabkit.model.library import load_set


def plate(
    set: options.Set,
    output: options.Folder = None,
    profile: options.ProfileNames = None,
    settings: options.Settings = None,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Lay the pieces out on as few print plates as can be: plates/plate-N.3mf, ready to slice."""
    from fabkit.build.builders import PLATES

    report = Report(json, quiet, verbose)
    puzzle = load_set(set)
    limits = options.profile_for(puzzle, profile, settings)
    folder = options.set_folder(output, puzzle)
    with report.progress() as progress:
        done = export(puzzle, limits, ["plates"], folder, (), force, progress)
    found = read_json(folder / PLATES)
    report.table(
        ["plate", "pieces", "of the bed", "pause"],
        [
            [
                one["file"],
                str(len(one["pieces"])),
                f"{one['used']:.0%}",
                "none" if one["pause_height_mm"] is None else format_mm(one["pause_height_mm"]),
            ]
            for one in found["plates"]
        ],
    )
    what = "wrote" if done.written else "nothing to do: up to date are"
    report.say(f"{what} {many(len(found['plates']), 'plate')} in {folder / 'plates'}")
    for warning in done.warnings:
        report.warn(f"{folder}: {warning}")
    found.pop("schema")
    report.document(
        {"output": str(folder), "written": done.written, "warnings": list(done.warnings)} | found
    )
