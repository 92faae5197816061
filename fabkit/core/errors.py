"""What can go wrong, as data: who is at fault decides the exit code, a fault says where.

Only ``fabkit.cli`` turns these into text on a terminal and an exit code.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_SHOWN_LENGTH = 60
_SHOWN_DEPTH = 4
_MAX_NAMED = 40


def shown(value: object) -> str:
    r"""A value from outside as it may appear in a message: as TOML writes it, short, printable.

    Example:
        >>> shown("red\x1b[31m"), shown([True, 2.5, ["a"]])
        ('"red\\x1b[31m"', '[true, 2.5, ["a"]]')
    """
    if isinstance(value, str):
        return f'"{cut(printable(value))}"'
    return cut(printable(_as_toml(value, _SHOWN_DEPTH)))


def _as_toml(value: object, depth: int) -> str:
    if isinstance(value, bool | str):
        return str(value).lower() if isinstance(value, bool) else f'"{value}"'
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        return "a list of tables"
    if isinstance(value, list):
        items = (_as_toml(item, depth - 1) for item in value[:_SHOWN_LENGTH])
        return f"[{', '.join(items) if depth else '…'}]"
    try:
        return str(value)
    except ValueError:  # an integer of more digits than Python will print
        return "a number of thousands of digits"


def printable(text: str) -> str:
    """Text without line breaks, control characters or direction marks; as long as it was."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def cut(text: str) -> str:
    """Text of at most 60 characters."""
    return text if len(text) <= _SHOWN_LENGTH else text[: _SHOWN_LENGTH - 1] + "…"


def many(count: int, noun: str) -> str:
    """A count with its noun, and commas between thousands.

    Example:
        >>> many(1, "magnet"), many(2100, "magnet")
        ('1 magnet', '2,100 magnets')
    """
    return f"{count} {noun}" if count == 1 else f"{count:,} {noun}s"


def name_some(names: Sequence[str], most: int = _MAX_NAMED) -> str:
    """The names in a row; of very many only the first.

    Example:
        >>> name_some(["A", "B", "C"], most=2)
        'A, B and 1 more'
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def to_install(extra: str) -> str:
    """How one of fabkit's extras is installed, for messages."""
    # `scripts/fabkit` runs in an environment of its own, which holds the checkout itself.
    pip = ".venv/bin/pip install -e" if Path(sys.prefix).name == ".venv" else "pip install"
    return f"in a clone of fabkit: {pip} '.[{extra}]'"


def nearest(name: str, known: Sequence[str]) -> str:
    """The known name that was probably meant: one that begins so, or looks alike; or none."""
    beginning = [one for one in known if len(name) > 2 and one.startswith(name)]
    ending = [one for one in known if one.endswith(f".{name}")]
    alike = difflib.get_close_matches(name[:80], known, n=1, cutoff=0.6)
    return [*beginning, *(ending if len(ending) == 1 else []), *alike, ""][0]


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """A question to add to a message, or nothing when no known name is near."""
    near = nearest(name, known)
    return f'; did you mean "{near}"?' if near else ""


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong, and where: ``piece[3].outline``, or empty for the whole source."""

    key: str
    message: str

    def __str__(self) -> str:
        return f"{self.key}: {self.message}" if self.key else self.message


class FabkitError(Exception):
    """Every error that fabkit raises on purpose. ``exit_code`` is the command's."""

    exit_code = 1


class InputError(FabkitError):
    """The input is wrong: a file, a value, an argument. Carries all faults found.

    Attributes:
        source: the file or option at fault, such as ``mine.toml``; may be empty.
        faults: at least one, in the order in which they were found.
        unkept: how many more there were.
    """

    exit_code = 2

    def __init__(self, source: str, faults: Iterable[Fault], unkept: int = 0) -> None:
        self.source = source
        self.faults = tuple(faults)
        self.unkept = unkept
        super().__init__(self.render())

    def __reduce__(self) -> tuple[Any, ...]:  # from another process
        return type(self), (self.source, self.faults, self.unkept)

    @classmethod
    def of(cls, source: str, message: str, key: str = "") -> InputError:
        """An error with a single fault."""
        return cls(source, [Fault(key, message)])

    def render(self) -> str:
        """The whole message: one line for one fault, a list for several."""
        prefix, count = f"{self.source}: " if self.source else "", len(self.faults) + self.unkept
        if count == 1:
            return f"{prefix}{self.faults[0]}"
        lines = [f"{prefix}{count} faults", *(f"  {fault}" for fault in self.faults)]
        lines += [f"  … and {self.unkept} more"] if self.unkept else []
        return "\n".join(lines)


class OutsideError(FabkitError):
    """Something outside failed: a full disk, a folder in use, a missing program."""

    exit_code = 3
