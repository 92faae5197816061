"""`fabkit sets`, `profiles` and `schema`: what comes with fabkit."""

from __future__ import annotations

import json
from typing import Any

import typer

from fabkit.cli.context import Context, takes
from fabkit.cli.options import argument
from fabkit.core.errors import InputError, did_you_mean, shown
from fabkit.core.units import format_mm
from fabkit.model.catalog import catalog_entries
from fabkit.model.library import SCHEMAS, load_set, schema_of, shipped_names
from fabkit.model.profile import SETTINGS, Profile
from fabkit.model.profilefile import dump_profile, load_profile, preset_names
from fabkit.model.puzzle import PuzzleSet


@takes()
def sets(context: Context) -> None:
    """List the shipped sets."""
    report = context.report
    found = [load_set(name) for name in shipped_names()]
    report.table(
        ["set", "title", "pieces", "boards", "challenges", "snowflakes", "lattice", "moves"],
        [
            [
                puzzle.name,
                puzzle.title,
                len(puzzle.pieces),
                len(puzzle.boards),
                len(puzzle.challenges),
                len(catalog_entries(puzzle)),
                puzzle.lattice.name + (" (balls)" if puzzle.made_of_balls else ""),
                "rotations and flips" if puzzle.flips else "rotations",
            ]
            for puzzle in found
        ],
    )
    report.document({"sets": [summary(puzzle) for puzzle in found]})


def summary(puzzle: PuzzleSet) -> dict[str, Any]:
    """What is said of a set, for JSON."""
    return {
        "set": puzzle.name,
        "title": puzzle.title,
        "lattice": puzzle.lattice.name,
        "flips": puzzle.flips,
        "area": puzzle.area,
        "pieces": [piece.id for piece in puzzle.pieces],
        "boards": [board.id for board in puzzle.boards],
        "challenges": [challenge.id for challenge in puzzle.challenges],
        "snowflakes": [entry["id"] for entry in catalog_entries(puzzle)],
    }


@takes()
def profiles(context: Context, called: typer.Context) -> None:
    """List the print profiles, or print one as TOML."""
    called.obj, report = context, context.report
    if called.invoked_subcommand is not None:
        return
    found = [load_profile([name]) for name in preset_names()]
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


@takes("profiles", "settings")
def dump(
    context: Context,
    called: typer.Context,
    name: str | None = argument(
        "NAME", "A shipped profile, or a TOML file (default: `default`).", preset_names
    ),
) -> None:
    """Print the effective profile as TOML: a start for your own."""
    own = [] if name is None else [name]
    effective = load_profile([*own, *context.profiles], context.settings)
    report = called.obj.report if called.obj.json else context.report
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


@takes()
def schema(
    context: Context,
    kind: str = argument("set|profile|challenge", "The kind of file.", required=True),
) -> None:
    """Print the JSON schema of a set, profile or challenge file.

    Editors complete and check a TOML file whose first line names it: `#:schema set.schema.json`.
    """
    if kind not in SCHEMAS:
        message = f"there is no schema {shown(kind)}; there are {', '.join(SCHEMAS)}"
        raise InputError.of("", message + did_you_mean(kind, SCHEMAS))
    print(json.dumps(schema_of(kind), indent=2, ensure_ascii=False))
