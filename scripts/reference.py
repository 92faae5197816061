"""The pages of ``docs/reference`` generated from the code: commands, file formats, rules.

``scripts/docs`` runs it. With ``--check`` it compares instead of writing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic.fields import FieldInfo

from fabkit.cli.context import FAILURE_EXIT
from fabkit.cli.main import COMMANDS, INTERRUPTED_EXIT, OUTSIDE_EXIT, parser
from fabkit.core.documents import Table, expected_value
from fabkit.core.errors import InputError
from fabkit.core.units import format_degrees, format_mm
from fabkit.mesh.finding import RULE_GROUPS
from fabkit.profiles.profile import ANGLE, CHOICE, LENGTH, SETTINGS, Profile, Setting
from fabkit.profiles.profile_file import (
    layer_groups,
    load_profile,
    preset_names,
    profile_table,
    read_layer,
)
from fabkit.sets.catalog import catalog_records
from fabkit.sets.challenge_tables import (
    ChallengeFile,
    DifficultyTable,
    GivenTable,
    ListFile,
    ResultTable,
)
from fabkit.sets.library import load_set, shipped_names
from fabkit.sets.set_tables import SetFile

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"
#: Options of every command, which are listed once.
_REPORTING = "Reporting"
_EXIT_CODES = {
    0: "done, and the answer is yes",
    FAILURE_EXIT: "done, and the answer is no: a check fails, a challenge has no solution, a "
    "certificate is wrong",
    InputError.exit_code: "bad input or usage; one message names the file, its line, the key, what "
    "was found and what was expected",
    OUTSIDE_EXIT: "something outside failed: the disk is full, a folder is in use, a slicer is "
    "missing",
    INTERRUPTED_EXIT: "stopped by Ctrl-C; nothing is half-written",
}


def pages() -> dict[str, str]:
    """The text of every page, by file name."""
    made = {
        "commands": _commands(),
        "sets": _sets(),
        "profiles": _profiles(),
        "challenges": _challenges(),
        "rules": _rules(),
    }
    note = "<!-- Written by scripts/docs from the code: change the texts there. -->\n\n"
    texts = {name: "\n".join(lines).rstrip() for name, lines in made.items()}
    return {f"{name}.md": f"{note}{text}\n" for name, text in texts.items()}


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table followed by a blank line; nothing if there are no rows."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}", *lines, ""] if lines else []


def _code(text: str) -> str:
    """Code in a table cell, where a bar would end the cell."""
    return f"<code>{text.replace('|', '&#124;')}</code>" if "|" in text else f"`{text}`"


def _cell(text: str | None) -> str:
    """A sentence in a table cell."""
    return (text or "").replace("|", "&#124;")


def _commands() -> Iterator[str]:
    program: Any = parser()
    yield "# Commands\n"
    yield "Run any command with `--help` to list its options. In a clone of the repository run"
    yield "`scripts/fabkit` instead of `fabkit`.\n"
    grouped = {group: [*commands] for group, commands in COMMANDS.items()}
    for name, command in program.commands.items():
        if name not in grouped[command.rich_help_panel]:
            grouped[command.rich_help_panel].append(name)
    for group, names in grouped.items():
        links = ((f"[`{one}`](#{one})", _summary(program.commands[one])) for one in names)
        yield from _table([group, ""], links)
    yield "Every command also takes\n"
    some = next(iter(program.commands.values()))
    yield from _table(["option", "does"], _options(some, _REPORTING))
    yield "The program itself takes\n"
    yield from _table(["option", "does"], _options(program, None))
    yield "## Exit codes\n"
    yield from _table(["code", "means"], ((str(code), text) for code, text in _EXIT_CODES.items()))
    for name in (name for names in grouped.values() for name in names):
        yield from _command(name, program.commands[name])


def _summary(command: Any) -> str:
    return _cell(command.help.split("\n\n")[0])


def _command(name: str, command: Any) -> Iterator[str]:
    """A command, then its subcommands."""
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    spelt = [
        one.metavar if one.required or "[" in one.metavar else f"[{one.metavar}]"
        for one in arguments
    ]
    yield f"## {name}\n"
    yield f"{command.help}\n"
    yield f"```text\nfabkit {' '.join([name, '[OPTIONS]', *spelt])}\n```\n"
    yield from _table(
        ["argument", "is"], ((_code(one.metavar), _cell(one.help)) for one in arguments)
    )
    yield from _table(["option", "does"], _options(command, None))
    for below, one in getattr(command, "commands", {}).items():
        yield from _command(f"{name} {below}", one)


def _options(command: Any, panel: str | None) -> Iterator[tuple[str, str]]:
    """The options of a command that its help lists under a heading."""
    for one in command.params:
        if one.param_type_name == "option" and one.rich_help_panel == panel:
            value = "" if one.is_flag else f" {one.metavar}"
            spelt = [_code(name + value * (name == one.opts[-1])) for name in one.opts]
            yield ", ".join(spelt), _cell(one.help)


def _keys(model: type[Table]) -> list[str]:
    """The keys of a table of a file."""
    rows = []
    for key, field in model.model_fields.items():
        table = _table_of(field)
        expected = (
            f"tables `[[{key}]]`" if get_origin(field.annotation) is list else f"a table `[{key}]`"
        )
        expected = expected if table else expected_value(field)
        about = field.description or ""
        if field.is_required():
            about = f"{about}; required" if about else "required"
        elif field.default not in (None, "", [], "none", "not stated"):
            about += f" (default: {_code(str(field.default).lower())})"
        rows.append((f"`{key}`", _cell(expected), _cell(about)))
    return _table(["key", "value", "meaning"], rows)


def _tables_of(model: type[Table]) -> dict[str, type[Table]]:
    """The tables in a file, each with its header."""
    tables = {}
    for key, field in model.model_fields.items():
        if table := _table_of(field):
            is_list = get_origin(field.annotation) is list
            tables[f"[[{key}]]" if is_list else f"[{key}]"] = table
    return tables


def _table_of(field: FieldInfo) -> type[Table] | None:
    """The model of the tables that a key holds."""
    (kind, *_) = get_args(field.annotation) or (field.annotation,)
    return kind if isinstance(kind, type) and issubclass(kind, Table) else None


def _sets() -> Iterator[str]:
    yield "# Sets\n"
    yield "## Shipped sets\n"
    yield "`fabkit sets` lists them.\n"
    puzzles = [load_set(name) for name in shipped_names()]
    yield from _table(
        [
            "set",
            "title",
            "pieces",
            "boards",
            "challenges",
            "starting positions",
            "snowflakes",
            "lattice",
            "flips",
        ],
        (
            (
                f"`{one.name}`",
                one.title,
                str(len(one.pieces)),
                str(len(one.boards)),
                str(len(one.challenges)),
                str(len(catalog_records(one, "start"))),
                str(len(catalog_records(one, "snowflake"))),
                one.lattice.name + (" (balls)" if one.made_of_balls else ""),
                "yes" if one.flips else "no",
            )
            for one in puzzles
        ),
    )
    yield "## Set files\n"
    yield (
        "A set file is a TOML file with these tables. Unknown keys are refused, and all errors in a"
    )
    yield "file are reported at once. `fabkit schema set` prints the JSON schema for editors.\n"
    for header, model in _tables_of(SetFile).items():
        yield f"### `{header}`\n"
        if model is profile_table():
            yield (
                "How the set is made by default: any keys of a [profile file](profiles.md), which "
                "are applied on the"
            )
            yield "default profile; profiles of `-p`, then values of `-s` override them.\n"
            continue
        yield f"{model.__doc__}\n"
        extra: Any = model.model_config.get("json_schema_extra") or {}
        if one_of := [f"`{key}`" for one in extra.get("oneOf", ()) for key in one["required"]]:
            yield f"Exactly one of {', '.join(one_of[:-1])} and {one_of[-1]} is required.\n"
        if issubclass(model, ChallengeFile):
            yield "It has the keys of a [challenge file](challenges.md), and needs an `id`.\n"
        else:
            yield from _keys(model)


def _challenges() -> Iterator[str]:
    yield "# Challenge files\n"
    yield (
        "A challenge is written with these keys, in TOML or JSON: in a file of its own, as "
        "`[[challenge]]` in a"
    )
    yield (
        "set file, in a [list](#lists), and in a catalog. `fabkit solve SET --file FILE` solves it."
    )
    yield "`fabkit schema challenge` prints the JSON schema.\n"
    yield from _keys(ChallengeFile)
    for header, model in (
        ("[[given]]", GivenTable),
        ("[result]", ResultTable),
        ("[result.difficulty]", DifficultyTable),
    ):
        yield f"## `{header}`\n"
        yield f"{model.__doc__}\n"
        yield from _keys(model)
    yield "## Lists\n"
    yield (
        "Several challenges stand in one file, each with an `id`. `--file` and `--challenges` "
        "accept it wherever"
    )
    yield "they accept a challenge file; `fabkit solve SET ID --file FILE` solves one of them.\n"
    yield '```toml\nset = "iqblock"\n\n[[challenge]]\nid = "first"'
    yield 'given = [{ piece = "0", cells = [[6, 4], [6, 5], [6, 6], [6, 7], [7, 4], [7, 5], [7, 6], [7, 7]] }]\n'  # noqa: E501
    yield '[[challenge]]\nid = "second"\nflips = false\n```\n'
    yield from _keys(ListFile)


def _profiles() -> Iterator[str]:
    default = load_profile()
    yield "# Print profiles\n"
    yield "## Shipped profiles\n"
    yield "`fabkit profiles` lists them.\n"
    yield from _table(
        ["profile", "unit", "thickness", "magnet", "fit", "for"],
        (
            (
                f"`{name}`",
                format_mm(one.unit_mm),
                format_mm(one.thickness_mm),
                f"{one.magnet_diameter_mm:g} x {format_mm(one.magnet_height_mm)}",
                f"`{one.fit}`",
                _cell(one.title),
            )
            for name in preset_names()
            for one in [load_profile([name])]
        ),
    )
    for group, names in layer_groups().items():
        yield f"### {group.capitalize()}\n"
        yield "Layers: choose a profile, then one of these with a further `-p`.\n"
        layers = [read_layer(name) for name in names]
        yield from _table(
            ["layer", "for"], ((f"`{layer['name']}`", _cell(layer["title"])) for layer in layers)
        )
    yield "## Profile files\n"
    yield (
        "A profile file is a TOML file with only the keys that differ; `-p FILE` layers it on the "
        "default,"
    )
    yield (
        "and `-s KEY=VALUE` overrides one of them. `fabkit profiles dump` prints all, `fabkit "
        "schema profile`"
    )
    yield "the JSON schema.\n"
    sections: dict[str, list[Setting]] = {}
    for one in SETTINGS:
        sections.setdefault(one.key.rpartition(".")[0], []).append(one)
    for section, settings in sections.items():
        yield f"### {f'`[{section}]`' if section else 'Keys without a section'}\n"
        rows = (
            (f"`{one.key}`", _range(one), _code(_default(one, default)), _cell(one.description))
            for one in settings
        )
        yield from _table(["key", "value", "default", "meaning"], rows)


def _range(setting: Setting) -> str:
    """The allowed values of a key."""
    if setting.kind == CHOICE:
        return ", ".join(f"`{one}`" for one in setting.limits)
    if not setting.limits:
        return setting.kind
    low, high = (f"{one:,g}" for one in setting.limits)
    return f"{low} to {high}{' mm' * (setting.kind == LENGTH)}{' deg' * (setting.kind == ANGLE)}"


def _default(setting: Setting, profile: Profile) -> str:
    value = getattr(profile, setting.attribute)
    spell: dict[str, Any] = {LENGTH: format_mm, ANGLE: format_degrees}
    return str(spell.get(setting.kind, str)(value))


def _rules() -> Iterator[str]:
    yield "# Rules\n"
    yield (
        "`fabkit check` checks every mesh against these rules; reports and JSON documents use "
        "these names.\n"
    )
    for kind, groups in groupby(RULE_GROUPS.items(), lambda one: one[0].partition(": ")[0]):
        yield f"## {kind.capitalize()}\n"
        rows = (
            ("<br>".join(f"`{name}`: {title}" for name, title in rules.items()), asks)
            for group, rules in groups
            for asks in [group.partition(": ")[2]]
        )
        yield from _table(["rule and what it measures", "it passes if"], rows)


def main(arguments: Sequence[str]) -> int:
    """Write the pages, or report which are out of date; return the exit code."""
    texts = pages()
    old = [name for name, text in texts.items() if not _is_current(FOLDER / name, text)]
    if arguments != ["--check"]:
        for name in old:
            (FOLDER / name).write_text(texts[name], "utf-8")
            print(f"wrote docs/reference/{name}")
        return 0
    for name in old:
        print(f"docs/reference/{name} is out of date; run scripts/docs", file=sys.stderr)
    return 1 if old else 0


def _is_current(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text("utf-8") == text


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
