"""`fabkit profiles` and `fabkit profiles dump`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from fabkit.cli import options
from fabkit.cli.report import Report
from fabkit.core.units import format_mm
from fabkit.model.profile import SETTINGS, Profile
from fabkit.model.profilefile import dump_profile, load_profile, preset_names

app = typer.Typer(
    help="List the print profiles, or dump the effective one.", invoke_without_command=True
)


@app.callback()
def profiles(
    context: typer.Context,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """List the print profiles; `fabkit profiles dump` prints one as TOML."""
    report = context.obj = Report(json, quiet, verbose)
    if context.invoked_subcommand is not None:
        return
    found = [load_profile([name]) for name in preset_names()]
    if not json:
        report.table(
            ["profile", "unit", "thick", "inset", "magnet", "fit", "what for"],
            [
                [
                    profile.name,
                    format_mm(profile.unit_mm),
                    format_mm(profile.thickness_mm),
                    format_mm(profile.inset_mm),
                    f"{profile.magnet_diameter_mm:g} x {format_mm(profile.magnet_height_mm)}",
                    profile.fit,
                    profile.title,
                ]
                for profile in found
            ],
        )
    report.document({"profiles": [_values(profile) for profile in found]})


@app.command()
def dump(
    context: typer.Context,
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="The profile; default when left out.")
    ] = None,
    profile: options.ProfileNames = None,
    settings: options.Settings = None,
    json: options.Json = False,
) -> None:
    """Print the effective profile as TOML, every number in it: a start for one's own."""
    effective = load_profile([*([] if name is None else [name]), *(profile or ())], settings or ())
    report = Report(json or context.obj.json)
    report.document(_values(effective))
    if not report.json:
        print(dump_profile(effective), end="")


def _values(profile: Profile) -> dict[str, Any]:
    """A profile for scripts: keys as in the TOML file, lengths as numbers in mm, angles in degrees."""
    return {
        "name": profile.name,
        "title": profile.title,
        **{setting.key: getattr(profile, setting.attribute) for setting in SETTINGS},
    }
