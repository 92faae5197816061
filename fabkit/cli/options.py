"""How options are declared, and how what follows them is read: one message for each mistake.

A reader takes the text behind an option and the option's name; it returns a value, or raises an
`InputError` that says what was found and what was expected.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import typer

from fabkit.core.errors import InputError, did_you_mean, printable, shown
from fabkit.core.units import format_mm, parse_length_mm

Reader = Callable[[str, str], Any]


def option(
    spelt: str,
    help: str,
    default: Any = None,
    read: Reader | None = None,
    complete: Callable[[], Iterable[str]] | None = None,
    panel: str | None = None,
) -> Any:
    """An option of a command, as the default of its parameter; its help says what it is without.

    Args:
        spelt: its names and what stands for its value, as in the help: ``-o --output DIR``.
            Messages use the first name. Behind ``DIR``, ``FILE``, ``FILE.svg`` or ``SECONDS`` such
            a value is read.
        help: what it does.
        default: its value when it is not given.
        read: turns any other text into a value.
        complete: the values that a shell proposes; those of ``one|two|three`` are known.
        panel: the heading in the help below which it stands.
    """
    names = [word for word in spelt.split() if word.startswith("-")]
    metavar = " ".join(spelt.split()[len(names) :])
    if metavar.startswith("FILE."):
        read = file(*(f".{ending}" for ending in re.findall(r"\w+", metavar)[1:]))
    read = read or {"DIR": folder, "FILE": path("a file"), "SECONDS": seconds}.get(metavar)

    def parse(value: Any) -> Any:
        return read(value, names[0]) if read and isinstance(value, str) else value

    return typer.Option(
        default,
        *names,
        help=help,
        metavar=metavar or None,
        parser=parse if read else None,
        autocompletion=_completer(metavar, complete),
        show_default=False,
        rich_help_panel=panel,
    )


def flag(spelt: str, help: str, panel: str | None = None) -> Any:
    """An option without a value."""
    return option(spelt, help, False, panel=panel)


def argument(
    metavar: str,
    help: str,
    complete: Callable[[], Iterable[str]] | None = None,
    required: bool = False,
) -> Any:
    """An argument of a command, as the default of its parameter; its help says what it is without."""
    completer = _completer(metavar, complete)
    default = ... if required else None
    return typer.Argument(
        default, metavar=metavar, help=help, autocompletion=completer, show_default=False
    )


def _completer(
    metavar: str, known: Callable[[], Iterable[str]] | None
) -> Callable[[str], list[str]] | None:
    if known is None and re.fullmatch(r"[a-z0-9]+(\|[a-z0-9]+)+", metavar):
        known = partial(metavar.split, "|")
    if known is None:
        return None
    return lambda incomplete: [name for name in known() if name.startswith(incomplete)]


def exclusive(given: Mapping[str, object]) -> str:
    """The option that is given of some; empty when none is.

    Raises:
        InputError: when several are.
    """
    names = [name for name, value in given.items() if value]
    if len(names) > 1:
        raise InputError.of("", f"{' and '.join(names)} exclude each other; choose one")
    return "".join(names)


def refuse(given: Mapping[str, object], message: str) -> None:
    """Refuses options that are of no use here."""
    for name, value in given.items():
        if value:
            raise InputError.of(name, message)


def path(expected: str) -> Reader:
    """Reads the path of something that is there; `expected` says of what, in messages."""

    def read(text: str, option: str) -> Path:
        if not text.strip():
            raise InputError.of(option, f"is empty; expected {expected}")
        return Path(text)

    return read


def folder(text: str, option: str) -> Path:
    """Reads the path of a folder to write to, which need not be there yet."""
    found = _writable("a folder", text, option)
    refuse_file(found, option)
    return found


def file(*endings: str) -> Reader:
    """Reads the path of a file to write, whose name has one of some endings."""

    def read(text: str, option: str) -> Path:
        found = _writable("a file", text, option)
        if found.is_dir() or found.suffix.lower() not in endings:
            wrong = "is a folder" if found.is_dir() else f"does not end in {' or '.join(endings)}"
            name = f"{found.stem.strip('.') or 'file'}{endings[0]}"
            example = printable(str(found / name) if found.is_dir() else name)
            raise InputError.of(printable(text), f"{wrong}; expected a file such as {example}")
        refuse_file(found.parent, option)
        return found

    return read


def _writable(expected: str, text: str, option: str) -> Path:
    if not text.isprintable():
        raise InputError.of(option, f"{shown(text)} holds characters that cannot be printed")
    found: Path = path(expected)(text, option)
    return found


def refuse_file(folder: Path, option: str) -> None:
    """Refuses a folder where a file is, or below a file."""
    there = next((one for one in (folder, *folder.parents) if one.exists()), None)
    if there is not None and not there.is_dir():
        raise InputError.of(option, f"{shown(str(there))} is a file; expected a folder")


def seconds(text: str, option: str) -> float:
    """Reads a time in seconds, from 0 on."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        message = f"expected seconds such as 30 or 0.5, from 0 on, found {shown(text)}"
        raise InputError.of(option, message)
    return value


def whole(least: int, most: int) -> Reader:
    """Reads a whole number between two others."""

    def read(text: str, option: str) -> int:
        digits = text.lstrip("0") or text[:1]
        plain = digits.isascii() and digits.isdigit() and len(digits) <= len(str(most))
        if not (plain and least <= int(digits) <= most):
            message = f"expected a whole number from {least} to {most}, found {shown(text)}"
            raise InputError.of(option, message)
        return int(digits)

    return read


def length(most_mm: float) -> Reader:
    """Reads a length with its unit, from 0 to a greatest one, as millimetres."""

    def read(text: str, option: str) -> float:
        try:
            value_mm = parse_length_mm(text)
        except ValueError as error:
            raise InputError.of(option, str(error)) from None
        if not 0 <= value_mm <= most_mm:
            expected = f"expected 0 mm to {format_mm(most_mm)}"
            raise InputError.of(option, f"is {format_mm(value_mm, 6)}; {expected}")
        return value_mm

    return read


def some_of(known: Sequence[str], noun: str, they_are: str) -> Reader:
    """Reads names between commas, each a noun's such as ``level``, in their known order."""

    def read(text: str, option: str) -> tuple[str, ...]:
        wanted = [name.strip() for name in text.split(",")]
        for name in wanted:
            if name not in known:
                message = f"there is no {noun} {shown(name)}; {they_are} {', '.join(known)}"
                raise InputError.of(option, message + did_you_mean(name.lower(), known))
        return tuple(name for name in known if name in wanted)

    return read


def one_of(known: Sequence[str]) -> Reader:
    """Reads one of a few names."""

    def read(text: str, option: str) -> str:
        if text not in known:
            message = f"expected {', '.join(known[:-1])} or {known[-1]}, found {shown(text)}"
            raise InputError.of(option, message + did_you_mean(text.lower(), known))
        return text

    return read
