"""`fabkit plate`: the pieces laid out on the printer's bed."""

from __future__ import annotations

from fabkit.build import export
from fabkit.cli.context import PRINTED, Context, takes
from fabkit.core.errors import many
from fabkit.core.files import read_json
from fabkit.core.units import format_mm


@takes(*PRINTED, "force")
def plate(context: Context) -> None:
    """Lay the pieces out on as few plates as possible.

    Writes plates/plate-N.3mf, ready to slice, and drawings of them.
    """
    from fabkit.build.export import PLATES

    report, folder = context.report, context.folder
    with report.progress() as progress:
        done = export(
            context.puzzle, context.profile, ["plates"], folder, (), context.force, progress
        )
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
    what = "wrote" if done.written else "already up to date:"
    report.say(f"{what} {many(len(found['plates']), 'plate')} in {folder / 'plates'}")
    for warning in done.warnings:
        report.warn(f"{folder}: {warning}")
    found.pop("schema")
    report.document(
        {"output": str(folder), "written": done.written, "warnings": list(done.warnings)} | found
    )
