"""Strict reading of TOML: every key is asked for by name, every fault is kept, none is fatal.

A `Reader` belongs to one file. It hands out `Table`s; each method that takes a value returns a
usable one even when the file holds a bad one, so that one pass finds all faults.
`Reader.finish` then raises them together. One mistake makes one fault: who goes on with a
value asks `Table.failed` first, and a key that is missing because it is misspelt is only told
as misspelt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from fabkit.core.errors import Fault, InputError, cut, name_some, nearest, printable, shown
from fabkit.core.units import (
    format_degrees,
    format_mm,
    format_number,
    parse_degrees,
    parse_length_mm,
    parse_number,
)

_MAX_FAULTS = 50

_T = TypeVar("_T")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
_COLOUR = re.compile(r"#[0-9a-f]{6}")
_INDEX = re.compile(r"\[[0-9]+\]")
_WINDOWS_NAMES = {"con", "prn", "aux", "nul"} | {
    f"{p}{n}" for p in ("com", "lpt") for n in range(10)
}


class Reader:
    """Collects the faults of one source.

    Attributes:
        source: the name that messages begin with.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self._faults: list[Fault] = []
        self._unkept = 0

    def fault(self, key: str, message: str) -> Fault:
        """Notes a fault and goes on. Only the first fifty are kept, the others counted."""
        fault = Fault(key, message)
        if len(self._faults) < _MAX_FAULTS:
            self._faults.append(fault)
        else:
            self._unkept += 1
        return fault

    def withdraw(self, fault: Fault) -> None:
        """Takes back a fault that another one explains better."""
        self._faults = [kept for kept in self._faults if kept is not fault]

    def finish(self) -> None:
        """Raises `InputError` with every fault noted so far, if any."""
        if self._faults:
            raise InputError(self.source, self._faults, self._unkept)

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
        dotted: whether names may hold dots, as those of ``-s key=value`` do.

    Example:
        >>> table = Table(Reader("mine.toml"), {"titel": "Mine"})
        >>> table.text("title")
        ''
        >>> table.refuse_unknown()
        >>> table.reader.finish()
        Traceback (most recent call last):
        ...
        fabkit.core.errors.InputError: mine.toml: titel: unknown key; did you mean "title"?
    """

    def __init__(
        self, reader: Reader, data: Mapping[str, Any], path: str = "", dotted: bool = False
    ) -> None:
        self.reader = reader
        self.path = path
        self._data = data
        self._dotted = dotted
        self._known: list[str] = []
        self._failed: set[str] = set()
        self._missing: dict[str, Fault] = {}

    def key(self, name: str) -> str:
        """The full path of a key, for messages; quoted where TOML would quote it."""
        parts = name.split(".") if self._dotted else [name]
        if not all(map(_BARE_KEY.fullmatch, parts)) and not (self._dotted and name):
            name = json.dumps(cut(name), ensure_ascii=False)
        name = cut(printable(name))
        return f"{self.path}.{name}" if self.path else name

    def fault(self, name: str, message: str, place: str = "") -> None:
        """Notes a fault at one of this table's keys, or at the table (empty name).

        Args:
            name: the key.
            message: what is wrong.
            place: where inside the key's value, such as ``[3]``.
        """
        self._failed.add(name)
        self.reader.fault(self.key(name) + place if name else self.path, message)

    def lacks(self, names: Sequence[str], message: str) -> None:
        """Notes that none of these keys is there; withdrawn if one turns out to be misspelt."""
        where = self.key(names[0]) if len(names) == 1 else self.path
        fault = self.reader.fault(where, message)
        self._failed.update(names)
        self._missing |= dict.fromkeys(names, fault)

    def failed(self, name: str) -> bool:
        """Whether a fault was noted at this key."""
        return name in self._failed

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
            return self._absent(name, "a text", default, "")
        value = self._data[name]
        if not isinstance(value, str):
            return self._wrong(name, "a text", value, default or "")
        if len(value) > longest:
            self.fault(name, f"is {len(value)} characters long; at most {longest} are allowed")
            return default or ""
        if not value.strip():
            self.fault(name, "is empty")
        elif not value.isprintable():
            self.fault(name, f"{shown(value)} holds characters that cannot be printed")
        return value

    def choice(self, name: str, choices: Iterable[str], default: str | None = None) -> str:
        """A string that is one of ``choices``."""
        allowed = list(choices)
        expected = _or(allowed)
        if not self.has(name):
            return self._absent(name, expected, default, allowed[0])
        value = self._data[name]
        if not isinstance(value, str):
            return self._wrong(name, expected, value, allowed[0])
        if value not in allowed:
            near = nearest(value, allowed)
            hint = f'did you mean "{near}"?' if near else f"expected {expected}"
            self.fault(name, f"{shown(value)} is not known; {hint}")
            return allowed[0]
        return value

    def flag(self, name: str, default: bool) -> bool:
        """``true`` or ``false``."""
        value = self._data[name] if self.has(name) else default
        return (
            value if isinstance(value, bool) else self._wrong(name, "true or false", value, default)
        )

    def number(self, name: str, low: int, high: int) -> float:
        """A required number in ``low..high``."""
        if not self.has(name):
            return self._absent(name, "a number", None, low)
        value = self._data[name]
        if isinstance(value, bool) or not isinstance(value, int | float):
            return self._wrong(name, "a number", value, low)
        if not low <= value <= high:
            self.fault(name, f"is {shown(value)}; expected {low} to {high}")
            return low
        return float(value)

    def length_mm(self, name: str, low_mm: float, high_mm: float) -> float | None:
        """A length with its unit, such as ``"20 mm"``; None when absent or wrong."""
        return self._measure(name, low_mm, high_mm, parse_length_mm, partial(format_mm, digits=6))

    def degrees(self, name: str, low: float, high: float) -> float | None:
        """An angle with its unit, such as ``"45 deg"``; None when absent or wrong."""
        return self._measure(name, low, high, parse_degrees, format_degrees)

    def decimal(self, name: str, low: float, high: float) -> float | None:
        """A number, which ``-s`` gives as a text; None when absent or wrong."""
        return self._measure(name, low, high, parse_number, format_number)

    def colour(self, name: str, default: str | None = None) -> str:
        """A colour such as ``"#e69f00"``, in small letters; required when ``default`` is None."""
        colour = self.text(name, default).lower()
        if not _COLOUR.fullmatch(colour) and not self.failed(name):
            self.fault(name, f'expected a colour such as "#e69f00", found {shown(colour)}')
        return colour

    def _measure(
        self,
        name: str,
        low: float,
        high: float,
        parse: Callable[[object], float],
        text: Callable[[float], str],
    ) -> float | None:
        if not self.has(name):
            return None
        try:
            value = parse(self._data[name])
        except ValueError as error:
            self.fault(name, str(error))
            return None
        if not low <= value <= high:
            self.fault(name, f"is {text(value)}; expected {text(low)} to {text(high)}")
            return None
        return value

    def identifier(self, name: str) -> str:
        """A text that is safe as a file name on every system."""
        value = self._data[name] if self.has(name) else None
        if not isinstance(value, str) or not value.strip():
            return self.text(name)  # which says what is wrong
        if not _IDENTIFIER.fullmatch(value):
            rule = "use up to 40 of A-Z, a-z, 0-9, - and _, beginning with a letter or digit"
            self.fault(name, f"{shown(value)} is not safe as a file name; {rule}")
        elif value.lower() in _WINDOWS_NAMES:
            self.fault(
                name, f"{shown(value)} is a name that Windows keeps for itself; choose another"
            )
        return value

    def one_of(self, names: Sequence[str], required: bool = True) -> str:
        """Which of several keys is there; it may only be one. Empty when none is."""
        there = [name for name in names if self.has(name)]
        expected = f"expected one of {', '.join(names)}; found"
        if len(there) > 1:
            self.fault(there[-1], f"{expected} {' and '.join(there)}")
        elif required and not there:
            self.lacks(names, f"{expected} none")
        return there[0] if there else ""

    def array(self, name: str, longest: int) -> list[Any]:
        """A list of at most ``longest`` items; empty when the key is absent."""
        value = self._data[name] if self.has(name) else []
        if not isinstance(value, list):
            return self._wrong(name, "a list", value, [])
        if len(value) > longest:
            self.fault(name, f"has {len(value)} items; at most {longest} are allowed")
            return []
        return value

    def table(self, name: str) -> Table:
        """A sub-table; an empty one when the key is absent."""
        value = self._data[name] if self.has(name) else {}
        if not isinstance(value, dict):
            value = self._wrong(name, f"a table [{name}]", value, {})
        return Table(self.reader, value, self.key(name))

    def tables(self, name: str, longest: int = 10_000) -> list[Table]:
        """The tables of an array ``[[name]]``."""
        header = f"[[{_INDEX.sub('', self.key(name))}]]"
        if self.has(name) and not isinstance(self._data[name], list):
            self._wrong(name, f"tables {header} in double brackets", self._data[name], None)
            return []
        found = []
        for index, value in enumerate(self.array(name, longest)):
            if isinstance(value, dict):
                found.append(Table(self.reader, value, f"{self.key(name)}[{index}]"))
            else:
                self.fault(name, f"expected a table {header}, found {shown(value)}", f"[{index}]")
        return found

    def only(self, names: Sequence[str]) -> Table:
        """The same table, as if it had no other keys than these."""
        kept = {name: value for name, value in self._data.items() if name in names}
        return Table(self.reader, kept, self.path)

    def refuse_unknown(self, elsewhere: Sequence[str] = ()) -> None:
        """Notes every key that nobody asked for, with the nearest known one.

        Args:
            elsewhere: full keys of other tables that may have been meant.
        """
        for name in self._data:
            if name in self._known:
                continue
            near = nearest(name, self._known) or nearest(name, elsewhere)
            if near in self._missing:
                self.reader.withdraw(self._missing[near])
            hint = f'did you mean "{near}"?' if near else f"known are {name_some(self._known)}"
            self.reader.fault(self.key(name), f"unknown key; {hint}")

    def _absent(self, name: str, expected: str, default: _T | None, neutral: _T) -> _T:
        if default is None:
            self.lacks([name], f"is missing; expected {expected}")
            return neutral
        return default

    def _wrong(self, name: str, expected: str, found: object, neutral: _T) -> _T:
        self.fault(name, f"expected {expected}, found {shown(found)}")
        return neutral


def _or(choices: Sequence[str]) -> str:
    """The choices as ``"a", "b" or "c"``."""
    quoted = [f'"{choice}"' for choice in choices]
    return " or ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)
