"""`fabkit sets`, `profiles`, `schema` and `docs`: what comes with fabkit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import typer

from fabkit.cli.context import Command, WithForce, WithSettings
from fabkit.cli.options import argument, flag, option
from fabkit.cli.report import Report
from fabkit.core.errors import InputError, no_such, pluralize
from fabkit.core.units import format_mm
from fabkit.model.puzzle import MOVES, PuzzleSet
from fabkit.profiles.profile import SETTINGS
from fabkit.profiles.profile_file import (
    dump_profile,
    format_values,
    layer_groups,
    layer_names,
    load_profile,
    preset_names,
    read_layer,
)
from fabkit.sets.catalog import catalog_records
from fabkit.sets.library import SCHEMAS, load_set, schema_of, shipped_names


class Sets(Command):
    """List the shipped sets."""

    def run(self) -> None:
        report = self.report
        puzzles = [load_set(name) for name in shipped_names()]
        puzzles.sort(key=lambda puzzle: (puzzle.group or "~", puzzle.name))
        head = ["set", "title", "pieces", "boards", "challenges", "starts", "snowflakes"]
        head += ["lattice", "moves"]
        rows: list[list[object]] = []
        for group, members in groupby(puzzles, lambda puzzle: puzzle.group or "others"):
            rows += [[f"{group}:", *[""] * (len(head) - 1)]]
            rows += [
                [
                    puzzle.name,
                    puzzle.title,
                    len(puzzle.pieces),
                    len(puzzle.boards),
                    len(puzzle.challenges) + sum(map(len, puzzle.families)),
                    len(catalog_records(puzzle, "start")),
                    len(catalog_records(puzzle, "snowflake")),
                    puzzle.lattice.name + (" (balls)" if puzzle.made_of_balls else ""),
                    MOVES[puzzle.flips],
                ]
                for puzzle in members
            ]
        report.table(head, rows)
        if report.json:  # else no catalog need be read again
            report.document(sets=[describe_set(puzzle) for puzzle in puzzles])


def describe_set(puzzle: PuzzleSet) -> dict[str, Any]:
    """A set's description, for JSON."""
    return {
        "set": puzzle.name,
        "title": puzzle.title,
        "group": puzzle.group,
        "lattice": puzzle.lattice.name,
        "flips": puzzle.flips,
        "area": puzzle.area,
        "profile": format_values(puzzle.profile_values),
        "pieces": [piece.id for piece in puzzle.pieces],
        "boards": [board.id for board in puzzle.boards],
        "challenges": [challenge.id for challenge in puzzle.challenges],
        "families": {family.id: len(family) for family in puzzle.families},
        "starts": [entry["id"] for entry in catalog_records(puzzle, "start")],
        "snowflakes": [entry["id"] for entry in catalog_records(puzzle, "snowflake")],
    }


class Profiles(Command):
    """List the print profiles, or print one as TOML."""

    def run(self) -> None:
        report = self.report
        presets = [load_profile([name]) for name in preset_names()]
        report.table(
            ["profile", "unit", "thickness", "inset", "magnet", "fit", "description"],
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
                for profile in presets
            ],
        )
        groups = layer_groups().items()
        layers = {group: [read_layer(name) for name in names] for group, names in groups}
        for group, group_layers in layers.items():
            report.info("")
            rows = [[layer["name"], layer["title"]] for layer in group_layers]
            report.table([group, "layered on a profile with a further -p"], rows)
        report.document(
            profiles=[_values(vars(profile)) for profile in presets],
            layers={
                group: [_values(layer) for layer in group_layers]
                for group, group_layers in layers.items()
            },
        )


class Dump(WithSettings):
    """Print the effective profile as TOML, to start your own."""

    called: typer.Context
    name: str | None = argument(
        "NAME", "A shipped profile, or a TOML file (default: `default`).", complete=layer_names
    )
    set: str = option(
        "--for SET", "Begin with the defaults of this set.", "", complete=shipped_names
    )

    def run(self) -> None:
        layers = [] if self.name is None else [self.name]
        set_values = load_set(self.set).profile_values if self.set else {}
        effective = load_profile([*layers, *self.profiles], self.settings, set_values)
        parent = self.called.parent
        as_json = self.json or bool(parent and parent.params["json"])
        Report(as_json).document(**_values(vars(effective)))
        if not as_json:
            print(dump_profile(effective), end="")


def _values(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a profile or layer, by attributes of `Profile`, for JSON: by keys as in the
    TOML file, lengths in mm, angles in degrees."""
    keys = {setting.attribute: setting.key for setting in SETTINGS}
    by_key = {key: values[attribute] for attribute, key in keys.items() if attribute in values}
    return {"name": values["name"], "title": values["title"], **by_key}


class Schema(Command):
    """Print the JSON schema of a set, profile or challenge file.

    For completion and checks in editors, start a TOML file with `#:schema set.schema.json`.
    """

    kind: str = argument("set|profile|challenge", "The kind of file.", ...)

    def run(self) -> None:
        if self.kind not in SCHEMAS:
            raise InputError.of("", no_such("schema", self.kind, SCHEMAS))
        print(json.dumps(schema_of(self.kind), indent=2, ensure_ascii=False))


class Docs(WithForce):
    """Open the documentation in the browser.

    It works without a network.
    """

    output: Path | None = option(
        "-o --output DIR",
        "Copy it to this folder, such as that of a web server, and open the copy; to a subfolder "
        "if DIR holds other files.",
    )
    no_open: bool = flag("--no-open", "Only print the path, as with --json.")

    def run(self) -> None:
        import webbrowser

        from fabkit.build.docs import DOCS, copy_docs, docs_folder
        from fabkit.build.page import INDEX, page_folder

        report = self.report
        if self.output is None:
            page = docs_folder() / INDEX
            copied = {}
        else:
            made = copy_docs(page_folder(self.output, DOCS), self.force)
            page = made.folder / INDEX
            copied = {"output": str(made.folder), **made.document()}
            if made.written:
                report.info(f"Wrote {pluralize(len(made.written), 'file')} to {made.folder}")
            else:
                report.info(f"Already up to date: documentation in {made.folder}")
        opened = not (self.no_open or report.json) and webbrowser.open(page.resolve().as_uri())
        report.info(f"{'Opened' if opened else 'Open'} {page}")
        report.document(page=str(page), **copied)
