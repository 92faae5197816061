"""Documents held against models: every key is known, every fault of a file comes out at once.

A `Table` is a pydantic model of one table of a TOML or JSON file; its fields are annotated with a
`Check`, which also says what an editor may offer (`json_schema`). `Table.read` notes what is wrong
in a `Faults` and returns the table as far as it is sound, so that whoever goes on with its values
finds the other faults in the same pass. One mistake makes one fault: ask `Table.failed` first.

Only reading needs pydantic, so this is imported where files are read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self, get_args

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler, PrivateAttr
from pydantic_core import core_schema

from fabkit.core.errors import Fault, InputError, cut, name_some, nearest, printable, shown
from fabkit.core.units import (
    LARGEST,
    LENGTH,
    format_degrees,
    format_mm,
    format_number,
    parse_degrees,
    parse_length_mm,
    parse_number,
)

_MAX_FAULTS = 50
_MOST_TABLES = 10_000
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
_WINDOWS_NAMES = {"con", "prn", "aux", "nul"} | {
    f"{p}{n}" for p in ("com", "lpt") for n in range(10)
}


class Faults:
    """The faults of one file, as they are found. The first fifty are kept, the others counted.

    ``source`` is the name that messages begin with.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.count = 0
        self._kept: list[Fault] = []

    def add(self, key: str, message: str) -> None:
        """Notes a fault at a place such as ``piece[3].outline`` and goes on."""
        self.count += 1
        if len(self._kept) < _MAX_FAULTS:
            self._kept.append(Fault(key, message))

    def finish(self) -> None:
        """Raises `InputError` with every fault noted so far, if any."""
        if self.count:
            raise InputError(self.source, self._kept, self.count - len(self._kept))


@dataclass(frozen=True)
class Check:
    """How a key's value is read: the annotation of a field of a `Table`.

    Attributes:
        read: takes what the file says and returns the value, or raises ValueError with a sentence.
        expected: what a file should say, for messages.
        schema: the same as JSON schema.
    """

    read: Callable[[Any], Any]
    expected: str
    schema: Mapping[str, Any]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return dict(self.schema)


def anything(expected: str, **schema: Any) -> Check:
    """A value that is judged later, by someone who knows more than its key."""
    return Check(lambda value: value, expected, schema)


def _a_text(value: object, expected: str = "a text") -> str:
    if not isinstance(value, str):
        raise ValueError(f"expected {expected}, found {shown(value)}")
    return value


def text(longest: int = 200) -> Check:
    """A printable string that says something."""

    def read(value: object) -> str:
        found = _a_text(value)
        if len(found) > longest:
            raise ValueError(f"is {len(found)} characters long; at most {longest} are allowed")
        if not found.strip():
            raise ValueError("is empty")
        if not found.isprintable():
            raise ValueError(f"{shown(found)} holds characters that cannot be printed")
        return found

    return Check(read, "a text", {"type": "string", "minLength": 1, "maxLength": longest})


def choice(*choices: str) -> Check:
    """One of a few words.

    Example:
        >>> choice("square", "triangular").read("squar")
        Traceback (most recent call last):
        ...
        ValueError: "squar" is not known; did you mean "square"?
    """
    quoted = [f'"{one}"' for one in choices]
    expected = " or ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)

    def read(value: object) -> str:
        found = _a_text(value, expected)
        if found not in choices:
            near = nearest(found, choices)
            hint = f'did you mean "{near}"?' if near else f"expected {expected}"
            raise ValueError(f"{shown(found)} is not known; {hint}")
        return found

    return Check(read, expected, {"enum": list(choices)})


def _measure(
    parse: Callable[[object], Any],
    spell: Callable[[Any], str],
    expected: str,
    low: float,
    high: float,
    **schema: Any,
) -> Check:
    """What can be parsed, and lies between two bounds; those of a number stand in its schema."""

    def read(value: object) -> Any:
        found = parse(value)
        if not low <= found <= high:
            written = spell(found) if abs(found) < LARGEST else shown(value)
            raise ValueError(f"is {written}; expected {spell(low)} to {spell(high)}")
        return found

    bounds = {} if "pattern" in schema else {"minimum": low, "maximum": high}
    return Check(read, expected, schema | bounds)


def whole(low: int, high: int) -> Check:
    """A whole number in ``low..high``."""

    def parse(value: object) -> object:
        if type(value) is not int:
            raise ValueError(f"expected a whole number, found {shown(value)}")
        return value

    return _measure(parse, str, "a whole number", low, high, type="integer")


def number(low: int, high: int) -> Check:
    """A number in ``low..high``."""

    def parse(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"expected a number, found {shown(value)}")
        return parse_number(value)

    return _measure(parse, format_number, "a number", low, high, type="number")


def decimal(low: float, high: float) -> Check:
    """A number, which ``-s`` gives as a text."""
    return _measure(parse_number, format_number, "a number", low, high, type="number")


def length_mm(low_mm: float, high_mm: float) -> Check:
    """A length with its unit, such as ``"20 mm"``, in millimetres."""
    spell, pattern = partial(format_mm, digits=6), rf"^{LENGTH}$"
    return _measure(
        parse_length_mm, spell, "a length", low_mm, high_mm, type="string", pattern=pattern
    )


def degrees(low: float, high: float) -> Check:
    """An angle with its unit, such as ``"45 deg"``."""
    pattern = r"^\s*[+-]?[0-9.]+\s*(deg|°)\s*$"
    return _measure(
        parse_degrees, format_degrees, "an angle", low, high, type="string", pattern=pattern
    )


def _read_flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"expected true or false, found {shown(value)}")
    return value


def _read_colour(value: object) -> str:
    if not _COLOUR.fullmatch(_a_text(value)):
        raise ValueError(f'expected a colour such as "#e69f00", found {shown(value)}')
    return str(value).lower()


def read_identifier(value: object) -> str:
    """A text that is safe as a file name on every system; ValueError says why it is not."""
    if not isinstance(value, str) or not value.strip():
        return str(text().read(value))  # which says what is wrong
    if not _IDENTIFIER.fullmatch(value):
        rule = "use up to 40 of A-Z, a-z, 0-9, - and _, beginning with a letter or digit"
        raise ValueError(f"{shown(value)} is not safe as a file name; {rule}")
    if value.lower() in _WINDOWS_NAMES:
        raise ValueError(f"{shown(value)} is a name that Windows keeps for itself; choose another")
    return value


FLAG = Check(_read_flag, "true or false", {"type": "boolean"})
_COLOUR_SCHEMA = {"type": "string", "format": "color", "pattern": f"^{_COLOUR.pattern}$"}
COLOUR = Check(_read_colour, "a colour", _COLOUR_SCHEMA)
_IDENTIFIER_SCHEMA = {"type": "string", "pattern": f"^{_IDENTIFIER.pattern}$"}
IDENTIFIER = Check(read_identifier, "a text", _IDENTIFIER_SCHEMA)


class Table(BaseModel):
    """One table of a file: the keys that it may have, and no others."""

    model_config = ConfigDict(extra="forbid")
    _failed: set[str] = PrivateAttr(default_factory=set)

    @classmethod
    def read(
        cls, data: Any, faults: Faults, place: str = "", elsewhere: Sequence[str] = ()
    ) -> Self:
        """The table, as far as it is sound; a key with a fault has its default, or None.

        A misspelt key is not also a missing one; it may have meant one of ``elsewhere``, full keys of
        other tables. ``place`` is the table's in the file.
        """
        fields = cls.model_fields
        table = cls.model_construct(**{key: None for key in fields if fields[key].is_required()})
        if not isinstance(data, dict):
            header = f"[{_header(place)}]" if place.endswith("]") else _header(place)
            faults.add(place, f"expected a table {header}, found {shown(data)}")
            table._failed = {*fields}
            return table
        for key in data if cls.model_config["extra"] == "forbid" else ():
            if key not in fields:
                near = nearest(key, list(fields)) or nearest(key, elsewhere)
                hint = f'did you mean "{near}"?' if near else f"known are {name_some([*fields])}"
                faults.add(_below(place, key), f"unknown key; {hint}")
                table._failed |= {near} - data.keys()
        for key, field in fields.items():
            where, before = _below(place, key), faults.count
            check = next((one for one in field.metadata if isinstance(one, Check)), None)
            if key not in data:
                if field.is_required() and key not in table._failed:
                    expected = check.expected if check else field.description
                    faults.add(where, f"is missing; expected {expected}")
            elif check is None:
                kinds = get_args(field.annotation)
                most = [one.max_length for one in field.metadata if hasattr(one, "max_length")]
                stated = tables_at(data[key], where, faults, *most) if kinds else ()
                model: Any = kinds[0] if kinds else field.annotation
                found = [model.read(one, faults, at) for at, one in stated]
                setattr(table, key, found if kinds else model.read(data[key], faults, where))
            else:
                try:
                    setattr(table, key, check.read(data[key]))
                except ValueError as fault:
                    faults.add(where, str(fault))
            if faults.count > before:
                table._failed.add(key)
        return table

    def failed(self, *names: str) -> bool:
        """Whether one of these keys has a fault that is noted already."""
        return not self._failed.isdisjoint(names)


def tables_at(
    value: Any, place: str, faults: Faults, most: int = _MOST_TABLES
) -> list[tuple[str, Any]]:
    """What stands in a list of tables, each with its place in the file."""
    if not isinstance(value, list):
        faults.add(
            place, f"expected tables [{_header(place)}] in double brackets, found {shown(value)}"
        )
    elif len(value) > most:
        faults.add(place, f"has {len(value)} items; at most {most} are allowed")
    else:
        return [(f"{place}[{index}]", one) for index, one in enumerate(value)]
    return []


def _header(place: str) -> str:
    """What stands above a table, in single brackets."""
    return "[" + re.sub(r"\[\d+\]", "", place) + "]"


def _below(place: str, key: str) -> str:
    """The place of a key, which is quoted where TOML would quote it."""
    if not _BARE_KEY.fullmatch(key):
        key = json.dumps(cut(key), ensure_ascii=False)
    return place + ("." if place else "") + cut(printable(key))


def one_of(faults: Faults, place: str, table: Table, names: Sequence[str], required: bool) -> str:
    """Which of several keys a table has; it may only be one. Empty when none is sound."""
    there = [name for name in names if name in table.model_fields_set]
    expected = f"expected one of {', '.join(names)}; found"
    if len(there) > 1:
        faults.add(_below(place, there[-1]), f"{expected} {' and '.join(there)}")
        return ""
    if required and not there and not table.failed(*names):
        faults.add(place, f"{expected} none")
    return there[0] if there else ""


def json_schema(model: type[Table], title: str) -> dict[str, Any]:
    """What editors need to complete and check a file: a JSON schema of its model."""
    schema = _plain(model.model_json_schema())
    return {"$schema": "http://json-schema.org/draft-07/schema#", "title": title, **schema}


def _plain(node: Any) -> Any:
    """A schema without what only repeats the keys: titles, and defaults that say nothing."""
    if isinstance(node, list):
        return [_plain(one) for one in node]
    if not isinstance(node, dict):
        return node
    return {
        key: _plain(value)
        for key, value in node.items()
        if not (key == "title" and isinstance(value, str))
        and not (key == "default" and value in (None, []))
    }
