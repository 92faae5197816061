"""`fabkit export-stl` and `fabkit export-step`: one command for each kind of file."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fabkit.build import Export, export
from fabkit.cli.context import PRINTED, Context, takes
from fabkit.cli.report import Report
from fabkit.core.errors import many
from fabkit.core.units import format_mm
from fabkit.model.profile import Profile

#: The help of each export command.
EXPORTS = {
    "stl": "Write an STL file of each piece.\n\nThey are stl/ID.stl, with the back on the bed.",
    "step": "Write STEP files for CAD.\n\nThey are step/ID.step of each piece, and SET.step of all "
    "pieces, named and coloured.",
    "3mf": "Write 3MF files for slicers.\n\nThey are SET.3mf with all pieces laid out on the bed, "
    "named and coloured, and 3mf/ID.3mf of each.",
    "dxf": "Write DXF files for laser cutters.\n\nThey are dxf/ID.dxf of each piece, and all pieces "
    "nested in dxf-sheets/.",
    "svg": "Write SVG files for cutting plotters.\n\nThey are svg/ID.svg of each piece at 1:1, and "
    "all pieces nested in svg-sheets/.",
}


def export_command(kind: str) -> Callable[..., int | None]:
    """The command that writes one kind of file; all take the same options."""

    def command(context: Context) -> None:
        _export(kind, context)

    command.__doc__ = EXPORTS[kind]
    return takes(*PRINTED, "pieces", "force")(command)


def _export(kind: str, context: Context) -> None:
    report, puzzle, profile = context.report, context.puzzle, context.profile
    folder = context.folder
    with report.progress() as progress:
        done = export(puzzle, profile, [kind], folder, context.pieces, context.force, progress)
    tell_export(done, kind.upper(), profile, report)
    report.document(
        {
            "set": puzzle.name,
            "output": str(folder),
            "profile": profile.name,
            "written": done.written,
            "files": done.files,
            "pieces": done.pieces,
            "magnets": done.magnets,
            "pause_heights_mm": done.pause_heights_mm,
            "warnings": list(done.warnings),
        }
    )


def tell_export(
    done: Export, kind: str, profile: Profile, report: Report, warnings: Sequence[str] | None = None
) -> None:
    """Prints what an export did, and what deserves a look."""
    for name, file in done.files.items():
        report.detail(f"{'wrote' if file['written'] else 'kept '} {done.folder / name}")
    unchanged = len(done.files) - done.written
    if done.written == 0:
        files = many(unchanged, f"{kind} file")
        report.say(f"already up to date: {files} in {done.folder}")
    else:
        kept = f", kept {unchanged} that had not changed" if unchanged else ""
        report.say(f"wrote {many(done.written, f'{kind} file')} to {done.folder}{kept}")
    if done.magnets:
        size = f"{profile.magnet_diameter_mm:g} x {format_mm(profile.magnet_height_mm)}"
        holding = sum(bool(one["magnets_mm"]) for one in done.pieces.values())
        pieces, magnets = many(holding, "piece"), many(done.magnets, "magnet")
        report.say(f"{magnets} {size} in {pieces}, {profile.fit} fit")
    for height_mm in done.pause_heights_mm:
        report.say(f"pause the print at {format_mm(height_mm)} and put the magnets in")
    for warning in done.warnings if warnings is None else warnings:
        report.warn(f"{done.folder}: {warning}")
