"""`fabkit export-stl` and `fabkit export-step`: one command for each kind of file."""

from __future__ import annotations

from collections.abc import Callable

from fabkit.build import Export, export
from fabkit.cli import options
from fabkit.cli.report import Report
from fabkit.core.errors import many
from fabkit.core.units import format_mm
from fabkit.model.library import load_set
from fabkit.model.profile import Profile

#: What each export command says of itself.
EXPORTS = {
    "stl": "Write an STL file of each piece: stl/ID.stl, to print with the back on the bed.",
    "step": (
        "Write STEP files for CAD: step/ID.step of each piece, SET.step of all, named and coloured."
    ),
    "3mf": (
        "Write 3MF files for slicers: SET.3mf with all pieces laid out on the bed, 3mf/ID.3mf of each."
    ),
    "dxf": "Write DXF files for laser cutters: dxf/ID.dxf of each piece, nested in dxf-sheets/.",
    "svg": (
        "Write SVG files at 1:1 for cutting plotters: svg/ID.svg of each piece, nested in svg-sheets/."
    ),
}


def export_command(kind: str) -> Callable[..., None]:
    """The command that writes one kind of file; all take the same options."""

    def command(
        set: options.Set,
        output: options.Folder = None,
        piece: options.PieceIds = None,
        profile: options.ProfileNames = None,
        settings: options.Settings = None,
        force: options.Force = False,
        json: options.Json = False,
        quiet: options.Quiet = False,
        verbose: options.Verbose = False,
    ) -> None:
        report = Report(json, quiet, verbose)
        _export(kind, set, output, piece, profile, settings, force, report)

    command.__doc__ = EXPORTS[kind]
    return command


def _export(
    kind: str,
    set_name: str,
    output: str | None,
    piece_ids: list[str] | None,
    profile_names: list[str] | None,
    settings: list[str] | None,
    force: bool,
    report: Report,
) -> None:
    puzzle = load_set(set_name)
    profile = options.profile_for(puzzle, profile_names, settings)
    folder = options.set_folder(output, puzzle)
    with report.progress() as progress:
        done = export(puzzle, profile, [kind], folder, piece_ids or (), force, progress)
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


def tell_export(done: Export, kind: str, profile: Profile, report: Report) -> None:
    """Prints what an export did."""
    for name, file in done.files.items():
        report.detail(f"{'wrote' if file['written'] else 'kept '} {done.folder / name}")
    unchanged = len(done.files) - done.written
    if done.written == 0:
        files = many(unchanged, f"{kind} file")
        report.say(f"nothing to do: {files} in {done.folder} up to date")
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
    for warning in done.warnings:
        report.warn(f"{done.folder}: {warning}")
