"""Declarations of options and arguments, and readers of their values.

A reader takes an option's text and name; it returns a value, or raises an `InputError` with what
was found and what was expected.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import typer

from fabkit.core.errors import InputError, did_you_mean, escape, join_or, no_such, quote
from fabkit.core.units import format_mm, parse_length_mm

Reader = Callable[[str, str], Any]


def option(
    declaration: str,
    help: str,
    default: Any = None,
    read: Reader | None = None,
    complete: Callable[[], Iterable[str]] | None = None,
    panel: str | None = None,
) -> Any:
    """An option of a command, as the default of its parameter.

    Args:
        declaration: its names and metavar, as in the help: ``-o --output DIR``. Messages use the first
            name. ``DIR``, ``FILE``, ``FILE.svg`` and ``SECONDS`` imply a reader.
        help: its description, with the default value where there is one.
        read: the reader of other values.
        complete: the values that a shell completes; implied by ``one|two|three``.
        panel: its heading in the help.
    """
    names = [word for word in declaration.split() if word.startswith("-")]
    metavar = " ".join(declaration.split()[len(names) :])
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


def flag(declaration: str, help: str, panel: str | None = None) -> Any:
    """An option without a value."""
    return option(declaration, help, False, panel=panel)


def argument(
    metavar: str,
    help: str,
    complete: Callable[[], Iterable[str]] | None = None,
    required: bool = False,
) -> Any:
    """An argument of a command, as the default of its parameter."""
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
    """Return the name of the one option that is given; empty if none is.

    Raises:
        InputError: when several are given.
    """
    names = [name for name, value in given.items() if value]
    if len(names) > 1:
        raise InputError.of("", f"{' and '.join(names)} are mutually exclusive; choose one")
    return "".join(names)


def refuse(given: Mapping[str, object], message: str) -> None:
    """Raise an `InputError` if one of these options is given."""
    for name, value in given.items():
        if value:
            raise InputError.of(name, message)


def path(expected: str) -> Reader:
    """A reader of a path; `expected` describes it in messages."""

    def read(text: str, option: str) -> Path:
        if not text.strip():
            raise InputError.of(option, f"is empty; expected {expected}")
        return Path(text)

    return read


def folder(text: str, option: str) -> Path:
    """Read the path of a folder to write to, which need not exist."""
    path_given = _writable("a folder", text, option)
    refuse_file(path_given, option)
    return path_given


def file(*endings: str) -> Reader:
    """A reader of the path of a file to write, with one of these suffixes."""

    def read(text: str, option: str) -> Path:
        path_given = _writable("a file", text, option)
        if path_given.is_dir() or path_given.suffix.lower() not in endings:
            wrong = (
                "is a folder" if path_given.is_dir() else f"does not end in {' or '.join(endings)}"
            )
            name = f"{path_given.stem.strip('.') or 'file'}{endings[0]}"
            example = escape(str(path_given / name) if path_given.is_dir() else name)
            raise InputError.of(escape(text), f"{wrong}; expected a file such as {example}")
        refuse_file(path_given.parent, option)
        return path_given

    return read


def _writable(expected: str, text: str, option: str) -> Path:
    if not text.isprintable():
        raise InputError.of(option, f"{quote(text)} contains unprintable characters")
    path_given: Path = path(expected)(text, option)
    return path_given


def refuse_file(folder: Path, option: str) -> None:
    """Refuse a folder if its path, or a parent's, is a file."""
    there = next((parent for parent in (folder, *folder.parents) if parent.exists()), None)
    if there is not None and not there.is_dir():
        raise InputError.of(option, f"{quote(str(there))} is a file; expected a folder")


def seconds(text: str, option: str) -> float:
    """Read a time in seconds, at least 0."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        message = f"expected seconds such as 30 or 0.5, at least 0, found {quote(text)}"
        raise InputError.of(option, message)
    return value


def whole(minimum: int, maximum: int) -> Reader:
    """A reader of whole numbers in a range."""

    def read(text: str, option: str) -> int:
        digits = text.lstrip("0") or text[:1]
        plain = digits.isascii() and digits.isdigit() and len(digits) <= len(str(maximum))
        if not (plain and minimum <= int(digits) <= maximum):
            message = f"expected a whole number from {minimum} to {maximum}, found {quote(text)}"
            raise InputError.of(option, message)
        return int(digits)

    return read


def length(most_mm: float) -> Reader:
    """A reader of lengths with a unit, from 0 to `most_mm`; values are in millimetres."""

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


def some_of(known: Sequence[str], noun: str) -> Reader:
    """A reader of comma-separated names, returned in their known order; `noun` is for messages."""

    def read(text: str, option: str) -> tuple[str, ...]:
        wanted = [name.strip() for name in text.split(",")]
        for name in wanted:
            if name not in known:
                raise InputError.of(option, no_such(noun, name, known))
        return tuple(name for name in known if name in wanted)

    return read


def one_of(known: Sequence[str]) -> Reader:
    """A reader of one of a few names."""

    def read(text: str, option: str) -> str:
        if text not in known:
            message = f"expected {join_or(known)}, found {quote(text)}"
            raise InputError.of(option, message + did_you_mean(text.lower(), known))
        return text

    return read
