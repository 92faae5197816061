"""Strict reading of TOML: every key is asked for by name, every fault is kept, none is fatal.

A `Reader` belongs to one file. It hands out `Table`s; each ``take`` method returns a usable
value even when the file holds a bad one, so that one pass finds all faults. `Reader.finish`
then raises them together.
"""

from __future__ import annotations

import difflib
import math
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from fabkit.base.errors import Fault, InputError, printable, shown
from fabkit.base.units import format_mm, parse_length_mm

#: A set or profile larger than this is not a drawing any more.
MAX_BYTES = 8 * 1024 * 1024
_MAX_FAULTS = 50

_T = TypeVar("_T")
_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
_RESERVED = {"con", "prn", "aux", "nul"} | {f"{p}{n}" for p in ("com", "lpt") for n in range(10)}


class Reader:
    """Collects the faults of one source.

    Attributes:
        source: the name that messages begin with.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self._faults: list[Fault] = []

    def fault(self, key: str, message: str) -> None:
        """Notes a fault and goes on."""
        self._faults.append(Fault(key, message))

    def finish(self) -> None:
        """Raises `InputError` with every fault noted so far, if any."""
        if not self._faults:
            return
        faults = self._faults[:_MAX_FAULTS]
        if len(self._faults) > len(faults):
            faults.append(Fault("", f"… and {len(self._faults) - len(faults)} more"))
        raise InputError(self.source, faults)

    @property
    def sound(self) -> bool:
        """Whether no fault has been noted."""
        return not self._faults


class Table:
    """One TOML table, read key by key.

    Args:
        reader: where faults go.
        data: the table's content.
        path: its place in the file, such as ``piece[3]``; empty at the top.
    """

    def __init__(self, reader: Reader, data: Mapping[str, Any], path: str = "") -> None:
        self.reader = reader
        self.path = path
        self._data = data
        self._known: list[str] = []

    def key(self, name: str) -> str:
        """The full path of a key, for messages."""
        return f"{self.path}.{name}" if self.path else name

    def fault(self, name: str, message: str) -> None:
        """Notes a fault at one of this table's keys."""
        self.reader.fault(self.key(name) if name else self.path, message)

    def has(self, name: str) -> bool:
        """Whether the key is present. Marks it as known."""
        if name not in self._known:
            self._known.append(name)
        return name in self._data

    def raw(self, name: str) -> Any:
        """The key's value as TOML gave it, or None."""
        return self._data.get(name) if self.has(name) else None

    def text(self, name: str, default: str | None = None, longest: int = 200) -> str:
        """A string; required when ``default`` is None."""
        if not self.has(name):
            return self._missing(name, "a text", default, "")
        value = self._data[name]
        if not isinstance(value, str):
            return self._wrong(name, "a text", value, default or "")
        if len(value) > longest:
            self.fault(name, f"is {len(value)} characters long; at most {longest} are allowed")
            return default or ""
        if not value.strip() and default is None:
            self.fault(name, "is empty")
        return value

    def choice(self, name: str, choices: Iterable[str], default: str | None = None) -> str:
        """A string that is one of ``choices``."""
        allowed = list(choices)
        if default is None and not self.has(name):
            self.fault(name, f"is missing; expected {_or(allowed)}")
            return allowed[0]
        value = self.text(name, default)
        if value and value not in allowed:
            self.fault(name, f"{shown(value)} is not known{_suggestion(value, allowed)}")
            return default or allowed[0]
        return value or allowed[0]

    def flag(self, name: str, default: bool) -> bool:
        """``true`` or ``false``."""
        if not self.has(name):
            return default
        value = self._data[name]
        return (
            value if isinstance(value, bool) else self._wrong(name, "true or false", value, default)
        )

    def integer(self, name: str, low: int, high: int, default: int | None = None) -> int:
        """A whole number in ``low..high``."""
        if not self.has(name):
            return self._missing(name, "a whole number", default, low)
        value = self._data[name]
        if isinstance(value, bool) or not isinstance(value, int):
            return self._wrong(name, "a whole number", value, low)
        if not low <= value <= high:
            self.fault(name, f"is {shown(value)}; expected {low} to {high}")
            return low
        return value

    def number(self, name: str, low: float, high: float, default: float | None = None) -> float:
        """A finite number in ``low..high``."""
        if not self.has(name):
            return self._missing(name, "a number", default, low)
        value = self._data[name]
        if isinstance(value, bool) or not isinstance(value, int | float):
            return self._wrong(name, "a number", value, low)
        if not math.isfinite(value) or not low <= value <= high:
            self.fault(name, f"is {shown(value)}; expected {low:g} to {high:g}")
            return low
        return float(value)

    def array(self, name: str, longest: int) -> list[Any]:
        """A list of at most ``longest`` items; empty when the key is absent."""
        if not self.has(name):
            return []
        value = self._data[name]
        if not isinstance(value, list):
            return self._wrong(name, "a list", value, [])
        if len(value) > longest:
            self.fault(name, f"has {len(value)} items; at most {longest} are allowed")
            return []
        return value

    def table(self, name: str) -> Table:
        """A sub-table; an empty one when the key is absent."""
        value = self._data.get(name, {}) if self.has(name) else {}
        if not isinstance(value, dict):
            value = self._wrong(name, f"a table [{name}]", value, {})
        return Table(self.reader, value, self.key(name))

    def tables(self, name: str, longest: int = 10_000) -> list[Table]:
        """The tables of an array ``[[name]]``."""
        found = []
        for index, value in enumerate(self.array(name, longest)):
            if isinstance(value, dict):
                found.append(Table(self.reader, value, f"{self.key(name)}[{index}]"))
            else:
                self.reader.fault(
                    f"{self.key(name)}[{index}]",
                    f"expected a table [[{name}]], found {shown(value)}",
                )
        return found

    def length_mm(self, name: str, low_mm: float, high_mm: float) -> float | None:
        """A length with its unit, such as ``"20 mm"``; None when absent or wrong."""
        if not self.has(name):
            return None
        try:
            value = parse_length_mm(self._data[name])
        except ValueError as error:
            self.fault(name, str(error))
            return None
        if not low_mm <= value <= high_mm:
            low, high = format_mm(low_mm), format_mm(high_mm)
            self.fault(name, f"is {format_mm(value, 6)}; expected {low} to {high}")
            return None
        return value

    def identifier(self, name: str) -> str:
        """A text that is safe as a file name on every system; empty after a fault."""
        value = self.text(name)
        if value and (not _IDENTIFIER.fullmatch(value) or value.lower() in _RESERVED):
            self.fault(
                name,
                f"{shown(value)} is not safe as a file name; use up to 40 letters, digits, - and _",
            )
            return ""
        return value

    def one_of(self, names: Sequence[str], required: bool = True) -> str:
        """Which of several keys is there; it may only be one. Empty when none is."""
        there = [name for name in names if self.has(name)]
        if len(there) > 1 or (required and not there):
            found = " and ".join(there) or "none"
            self.fault(
                there[-1] if there else "", f"expected one of {', '.join(names)}; found {found}"
            )
        return there[0] if there else ""

    def refuse_unknown(self) -> None:
        """Notes every key that nobody asked for, with the nearest known one."""
        for name in self._data:
            if name not in self._known:
                self.reader.fault(
                    self.key(printable(name)), f"unknown key{_suggestion(name, self._known)}"
                )

    def _missing(self, name: str, expected: str, default: _T | None, neutral: _T) -> _T:
        if default is None:
            self.fault(name, f"is missing; expected {expected}")
            return neutral
        return default

    def _wrong(self, name: str, expected: str, found: object, neutral: _T) -> _T:
        self.fault(name, f"expected {expected}, found {shown(found)}")
        return neutral


def _or(choices: Sequence[str]) -> str:
    """The choices as ``"a", "b" or "c"``."""
    quoted = [f'"{choice}"' for choice in choices]
    return " or ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)


def _suggestion(name: str, known: Iterable[str]) -> str:
    known = list(known)
    near = difflib.get_close_matches(name[:80], known, n=1, cutoff=0.6)
    if near:
        return f'; did you mean "{near[0]}"?'
    return f"; known are {', '.join(known)}" if known else ""


def read_toml(path: Path, source: str | None = None) -> dict[str, Any]:
    """Reads a TOML file that may be anything.

    Args:
        path: the file.
        source: the name for messages; the path itself when None.

    Returns:
        The document as plain dictionaries, lists and values.

    Raises:
        InputError: when the file cannot be read, is too large, is not UTF-8 or is not TOML.
    """
    name = source or printable(str(path))
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise InputError.of(name, "there is no such file") from None
    except IsADirectoryError:
        raise InputError.of(name, "is a folder; expected a TOML file") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError.of(name, f"cannot be read: {reason}") from None
    if len(content) > MAX_BYTES:
        raise InputError.of(
            name, f"is larger than {MAX_BYTES // 1024**2} MiB; expected a TOML file"
        )
    try:
        return tomllib.loads(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise InputError.of(name, f"is not UTF-8 text (byte {error.start})") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError.of(name, f"is not TOML: {printable(str(error))}") from None
    except RecursionError:
        raise InputError.of(name, "is nested too deeply") from None
    except ValueError:  # an integer of more digits than Python will convert
        raise InputError.of(name, "is not TOML: a number has too many digits") from None
