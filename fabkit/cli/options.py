"""The options that commands share, and what they turn into."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from fabkit.core.errors import InputError, did_you_mean, printable, shown
from fabkit.core.signals import at_stop
from fabkit.core.units import format_mm, parse_length_mm
from fabkit.model.profile import Profile
from fabkit.model.profilefile import load_profile
from fabkit.model.puzzle import PuzzleSet

Set = Annotated[
    str,
    typer.Argument(
        metavar="SET", help="A shipped set (see `fabkit sets`) or the path of a set's TOML file."
    ),
]
ProfileNames = Annotated[
    list[str] | None,
    typer.Option(
        "-p",
        "--profile",
        metavar="NAME|FILE",
        help="A print profile (see `fabkit profiles`) or a TOML file; repeatable, later ones win.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "-s",
        "--set",
        metavar="KEY=VALUE",
        help='One number of the profile, such as "unit=15 mm"; repeatable, has the last word.',
    ),
]
PieceIds = Annotated[
    list[str] | None,
    typer.Option("--piece", metavar="ID", help="Only this piece; repeatable."),
]
Folder = Annotated[
    str | None,
    typer.Option(
        "-o", "--output", metavar="DIR", help="The output folder.", show_default="output/SET"
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Build every file again.")]
Budget = Annotated[
    str | None,
    typer.Option(
        "--budget",
        metavar="SECONDS",
        help="Give up on a challenge after so long.",
        show_default="60",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Print nothing but errors.")]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="Say more.")]


_Default = TypeVar("_Default", int, None)


def output_path(given: str, expected: str, option: str = "-o") -> Path:
    """The path that an option names, usually ``-o``.

    Raises:
        InputError: when it is empty, which would mean the folder one stands in, or cannot be
            shown in a message.
    """
    if not given.strip():
        raise InputError.of(option, f"is empty; expected {expected}")
    if not given.isprintable():
        raise InputError.of(option, f"{shown(given)} holds characters that cannot be printed")
    return Path(given)


def folder_path(given: str, option: str) -> Path:
    """The folder that an option names, which need not be there yet.

    Raises:
        InputError: when it names no folder, or something else is where it should be.
    """
    path = output_path(given, "a folder", option)
    _refuse_file(path, option)
    return path


def _refuse_file(folder: Path, option: str) -> None:
    """Refuses a folder where a file is, or below a file."""
    for one in (folder, *folder.parents):
        if one.exists():
            if not one.is_dir():
                raise InputError.of(option, f"{shown(str(one))} is a file; expected a folder")
            break


def set_folder(given: str | None, puzzle: PuzzleSet) -> Path:
    """The output folder of a set: what ``-o`` names, else ``output/SET``.

    Raises:
        InputError: when that is no folder.
    """
    if given is not None:
        return folder_path(given, "-o")
    folder = Path("output") / puzzle.name
    _refuse_file(folder, "the output folder")
    return folder


def file_path(given: str | None, option: str, *endings: str) -> Path | None:
    """The file that an option names; None when the option is not given.

    Args:
        given: the option's value.
        option: its name, for messages.
        endings: how the file's name may end, since that is what will be in it.

    Raises:
        InputError: when it names no such file.
    """
    if given is None:
        return None
    path = output_path(given, "a file", option)
    if path.is_dir() or path.suffix.lower() not in endings:
        found = "is a folder" if path.is_dir() else f"does not end in {' or '.join(endings)}"
        name = f"{path.stem.strip('.') or 'file'}{endings[0]}"
        example = printable(str(path / name) if path.is_dir() else name)
        raise InputError.of(printable(given), f"{found}; expected a file such as {example}")
    _refuse_file(path.parent, option)
    return path


@contextmanager
def keeping(folder: Path) -> Iterator[None]:
    """For the later steps of a command: what the earlier ones wrote is there when it is stopped."""
    message = (
        f"stopped; what was finished before is kept in {printable(str(folder))}, and the same "
        "command goes on"
    )
    with at_stop(lambda: message):
        yield


def profile_for(puzzle: PuzzleSet, names: list[str] | None, settings: list[str] | None) -> Profile:
    """The effective profile for a set: its own unit yields to what the user asked for."""
    return load_profile(names or (), settings or (), puzzle.unit_mm)


def seconds(
    given: str | None, default: float | None = None, option: str = "--budget"
) -> float | None:
    """The seconds of ``--budget``, or of another option; the default when it is not given.

    Raises:
        InputError: when it is no number of seconds.
    """
    if given is None:
        return default
    try:
        value = float(given)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        message = f"expected seconds such as 30 or 0.5, from 0 on, found {shown(given)}"
        raise InputError.of(option, message)
    return value


def some_of(
    given: str | None, option: str, noun: str, they_are: str, known: Sequence[str]
) -> tuple[str, ...]:
    """The names that an option lists behind commas, in the known order; all when it is not given.

    Args:
        given: the option's value.
        option: its name, for messages.
        noun: what a name is of, such as ``level``.
        they_are: how the known ones are listed, such as ``the levels are``.
        known: all names.

    Raises:
        InputError: when one is not known, or none is named.
    """
    if given is None:
        return tuple(known)
    wanted = [name.strip() for name in given.split(",")]
    for name in wanted:
        if name not in known:
            message = f"there is no {noun} {shown(name)}; {they_are} {', '.join(known)}"
            raise InputError.of(option, message + did_you_mean(name.lower(), known))
    return tuple(name for name in known if name in wanted)


def whole_number(
    given: str | None, option: str, default: _Default, least: int, most: int
) -> int | _Default:
    """The whole number that an option names, or the default when it is not given.

    Raises:
        InputError: when it is none, or out of range.
    """
    if given is None:
        return default
    digits = given.lstrip("0") or given[:1]
    whole = digits.isascii() and digits.isdigit() and len(digits) <= len(str(most))
    if not (whole and least <= int(digits) <= most):
        message = f"expected a whole number from {least} to {most}, found {shown(given)}"
        raise InputError.of(option, message)
    return int(digits)


def length_mm(given: str | None, option: str, most_mm: float) -> float | None:
    """The length that an option names, from 0 to a greatest one; None when it is not given.

    Raises:
        InputError: when it is no such length.
    """
    if given is None:
        return None
    try:
        value_mm = parse_length_mm(given)
    except ValueError as error:
        raise InputError.of(option, str(error)) from None
    if not 0 <= value_mm <= most_mm:
        expected = f"expected 0 mm to {format_mm(most_mm)}"
        raise InputError.of(option, f"is {format_mm(value_mm, 6)}; {expected}")
    return value_mm
