"""Declarations of options and arguments, and readers of their values.

A reader takes a text and returns its value, or raises a ValueError with what was found and what was
expected; the parser adds the option's name.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import Any

import typer

from fabkit.core.errors import InputError, did_you_mean, escape, join_or, no_such, quote
from fabkit.core.units import format_mm, parse_length_mm

Reader = Callable[[str], Any]
Names = Callable[[], Iterable[str]]

#: Where the field of a command has its declaration for typer.
DECLARED = "declared"


def option(
    declaration: str,
    help: str,
    default: Any = None,
    read: Reader | None = None,
    complete: Names | None = None,
    panel: str | None = None,
) -> Any:
    """Return the field of a command that is an option.

    Args:
        declaration: its names and metavar, as in the help: ``-o --output DIR``. Messages use the
            first name. ``DIR``, ``FILE``, ``FILE.svg`` and ``SECONDS`` imply a reader.
        help: its description, with the default value where there is one.
        default: its value, such as ``()`` where it is repeatable; ``...`` if it is required.
        read: the reader of other values.
        complete: the values that a shell completes; implied by ``one|two|three``.
        panel: its heading in the help.
    """
    names = [word for word in declaration.split() if word.startswith("-")]
    metavar = " ".join(declaration.split()[len(names) :])
    if metavar.startswith("FILE."):
        read = file(*(f".{ending}" for ending in re.findall(r"\w+", metavar)[1:]))
    read = read or {"DIR": folder, "FILE": path, "SECONDS": seconds}.get(metavar)
    declared = typer.Option(
        *names, help=help, metavar=metavar or None, parser=read,
        autocompletion=_completer(metavar, complete),
        show_default=False, rich_help_panel=panel,
    )  # fmt: skip
    return field(default=default, metadata={DECLARED: declared})


def flag(declaration: str, help: str, panel: str | None = None) -> Any:
    """Return the field of a command that is an option without a value."""
    return option(declaration, help, False, panel=panel)


def argument(metavar: str, help: str, default: Any = None, complete: Names | None = None) -> Any:
    """Return the field of a command that is an argument; see `option`."""
    declared = typer.Argument(
        metavar=metavar, help=help, autocompletion=_completer(metavar, complete), show_default=False
    )
    return field(default=default, metadata={DECLARED: declared})


def _completer(metavar: str, names: Names | None) -> Callable[[str], list[str]] | None:
    if names is None and re.fullmatch(r"[a-z0-9]+(\|[a-z0-9]+)+", metavar):
        names = partial(metavar.split, "|")
    if names is None:
        return None
    return lambda incomplete: [name for name in names() if name.startswith(incomplete)]


def exclusive(options: Mapping[str, object]) -> str:
    """Return the name of the one option that has a value; empty if none has.

    Raises:
        InputError: when several have.
    """
    names = [name for name, value in options.items() if value]
    if len(names) > 1:
        raise InputError.of("", f"{' and '.join(names)} are mutually exclusive; choose one")
    return "".join(names)


def refuse(options: Mapping[str, object], message: str) -> None:
    """Raise an `InputError` if one of these options has a value."""
    for name, value in options.items():
        if value:
            raise InputError.of(name, message)


def read_value(read: Reader, text: str, option: str) -> Any:
    """Read a value; raise an `InputError` that names the option if it is none."""
    try:
        return read(text)
    except ValueError as error:
        raise InputError.of(option, str(error)) from None


def path(text: str, expected: str = "a file") -> Path:
    """Read a path; `expected` describes it in messages."""
    if not text.strip():
        raise ValueError(f"is empty; expected {expected}")
    return Path(text)


def folder(text: str) -> Path:
    """Read the path of a folder to write to, which need not exist."""
    return _without_files(_writable(text, "a folder"))


def file(*endings: str) -> Reader:
    """Return a reader of the path of a file to write, with one of these suffixes."""

    def read(text: str) -> Path:
        target = _writable(text, "a file")
        if target.is_dir() or target.suffix.lower() not in endings:
            fault = "is a folder" if target.is_dir() else f"does not end in {' or '.join(endings)}"
            name = f"{target.stem.strip('.') or 'file'}{endings[0]}"
            example = escape(str(target / name) if target.is_dir() else name)
            raise InputError.of(escape(text), f"{fault}; expected a file such as {example}")
        _without_files(target.parent)
        return target

    return read


def _writable(text: str, expected: str) -> Path:
    if not text.isprintable():
        raise ValueError(f"{quote(text)} contains unprintable characters")
    return path(text, expected)


def _without_files(folder: Path) -> Path:
    """Return a folder; refuse it if its path, or a parent's, is a file."""
    existing = next((parent for parent in (folder, *folder.parents) if parent.exists()), folder)
    if existing.exists() and not existing.is_dir():
        raise ValueError(f"{quote(str(existing))} is a file; expected a folder")
    return folder


def seconds(text: str) -> float:
    """Read a time in seconds, at least 0."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise ValueError(f"expected seconds such as 30 or 0.5, at least 0, found {quote(text)}")
    return value


def whole(minimum: int, maximum: int) -> Reader:
    """Return a reader of whole numbers in a range."""

    def read(text: str) -> int:
        digits = text.lstrip("0") or text[:1]
        plain = digits.isascii() and digits.isdigit() and len(digits) <= len(str(maximum))
        if not (plain and minimum <= int(digits) <= maximum):
            expected = f"a whole number from {minimum} to {maximum}"
            raise ValueError(f"expected {expected}, found {quote(text)}")
        return int(digits)

    return read


def length(most_mm: float) -> Reader:
    """Return a reader of lengths with a unit, from 0 to `most_mm`; values are in millimetres."""

    def read(text: str) -> float:
        value_mm = parse_length_mm(text)
        if not 0 <= value_mm <= most_mm:
            expected = f"0 mm to {format_mm(most_mm)}"
            raise ValueError(f"is {format_mm(value_mm, 6)}; expected {expected}")
        return value_mm

    return read


def some_of(choices: Sequence[str], noun: str) -> Reader:
    """Return a reader of comma-separated names, sorted as the choices; `noun` is for messages."""

    def read(text: str) -> tuple[str, ...]:
        names = [name.strip() for name in text.split(",")]
        for name in names:
            if name not in choices:
                raise ValueError(no_such(noun, name, choices))
        return tuple(name for name in choices if name in names)

    return read


def one_of(choices: Sequence[str]) -> Reader:
    """Return a reader of one of a few names."""

    def read(text: str) -> str:
        if text not in choices:
            message = f"expected {join_or(choices)}, found {quote(text)}"
            raise ValueError(message + did_you_mean(text.lower(), choices))
        return text

    return read
