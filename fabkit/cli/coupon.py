"""`fabkit coupon`: the fit gauge."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fabkit.cli import options
from fabkit.cli.report import Report
from fabkit.core.errors import many
from fabkit.core.units import format_mm
from fabkit.model.library import load_set
from fabkit.model.profilefile import load_profile

_FOLDER = Path("output") / "coupon"


def coupon(
    for_set: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="SET",
            help="Try what this set needs, its board too: a shipped set or a set's TOML file.",
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="DIR",
            help="The output folder.",
            show_default=str(_FOLDER),
        ),
    ] = None,
    profile: options.ProfileNames = None,
    settings: options.Settings = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Write a fit gauge: one small print that tells your printer's inset and recess allowance.

    With --for SET it tries what that set needs: also how wide the holes, channels or seats of its
    board are, or how much wider its tray is than the pieces in it.
    """
    report = Report(json, quiet, verbose)
    puzzle = None if for_set is None else load_set(for_set)
    if puzzle is None:
        limits = load_profile(profile or (), settings or ())
    else:
        limits = options.profile_for(puzzle, profile, settings)
    folder = _FOLDER if output is None else options.folder_path(output, "-o")

    from fabkit.build.coupon import write_coupon
    from fabkit.printing.fit_coupon.legend import readings

    with report.progress() as progress:
        made = write_coupon(limits, folder, progress, puzzle)
    for reading in readings(made.parts, limits):
        numbers = ", ".join(reading.numbers)
        report.say(f"{reading.key} (now {format_mm(reading.own_mm)}): {numbers}")
        report.say(f"  {reading.how}")
        report.detail(f"  {reading.farther}")
    pauses = {part.blueprint.pause_height_mm for part in made.parts}
    for height_mm in sorted(height for height in pauses if height is not None):
        report.say(f"the print pauses at {format_mm(height_mm)}: put the magnets in")
    models = ", ".join(str(folder / name) for name in made.files if name.endswith(".3mf"))
    report.say(f"wrote {models}: {many(len(made.parts), 'part')}; each also in {folder / 'stl'}")
    report.document({"output": str(folder), "files": list(made.files)} | made.document)
