"""Documents held against models: every key is known, every fault of a file comes out at once.

A `Table` is a pydantic model of one table of a TOML or JSON file; its fields are annotated with a
`Check`, which also says what an editor may offer (`json_schema`). `Table.read` notes what is wrong
in a `Faults` and returns the table as far as it is sound, so that whoever goes on with its values
finds the other faults in the same pass. One mistake makes one fault: ask `Table.failed` first.

Only reading needs pydantic, so this is imported where files are read.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self, get_args

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler, PrivateAttr, ValidationError
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
#: Tables of one kind in a file.
MOST_TABLES = 10_000
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
_WINDOWS_NAMES = {"con", "prn", "aux", "nul"} | {
    f"{p}{n}" for p in ("com", "lpt") for n in range(10)
}

_Place = tuple[int | str, ...]


class Faults:
    """The faults of one file, as they are found. The first fifty are kept, the others counted.

    Attributes:
        source: the name that messages begin with.
        count: how many there are.
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


def text(longest: int = 200) -> Check:
    """A printable string that says something."""

    def read(value: object) -> str:
        if not isinstance(value, str):
            raise ValueError(f"expected a text, found {shown(value)}")
        if len(value) > longest:
            raise ValueError(f"is {len(value)} characters long; at most {longest} are allowed")
        if not value.strip():
            raise ValueError("is empty")
        if not value.isprintable():
            raise ValueError(f"{shown(value)} holds characters that cannot be printed")
        return value

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
        if not isinstance(value, str):
            raise ValueError(f"expected {expected}, found {shown(value)}")
        if value not in choices:
            near = nearest(value, choices)
            hint = f'did you mean "{near}"?' if near else f"expected {expected}"
            raise ValueError(f"{shown(value)} is not known; {hint}")
        return value

    return Check(read, expected, {"enum": list(choices)})


def whole(low: int, high: int) -> Check:
    """A whole number in ``low..high``."""

    def read(value: object) -> int:
        if type(value) is not int:
            raise ValueError(f"expected a whole number, found {shown(value)}")
        if not low <= value <= high:
            raise ValueError(f"is {shown(value)}; expected {low} to {high}")
        return value

    return Check(read, "a whole number", {"type": "integer", "minimum": low, "maximum": high})


def number(low: int, high: int) -> Check:
    """A number in ``low..high``."""

    def read(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"expected a number, found {shown(value)}")
        if not low <= value <= high:
            raise ValueError(f"is {shown(value)}; expected {low} to {high}")
        return float(value)

    return Check(read, "a number", {"type": "number", "minimum": low, "maximum": high})


def length_mm(low_mm: float, high_mm: float) -> Check:
    """A length with its unit, such as ``"20 mm"``, in millimetres.

    Example:
        >>> length_mm(4, 200).read("2 cm")
        20.0
        >>> length_mm(4, 200).read("1 mm")
        Traceback (most recent call last):
        ...
        ValueError: is 1 mm; expected 4 mm to 200 mm
    """
    schema = {"type": "string", "pattern": rf"^{LENGTH}$"}
    return _measure(
        parse_length_mm, partial(format_mm, digits=6), "a length", schema, low_mm, high_mm
    )


def degrees(low: float, high: float) -> Check:
    """An angle with its unit, such as ``"45 deg"``."""
    schema = {"type": "string", "pattern": r"^\s*[+-]?[0-9.]+\s*(deg|°)\s*$"}
    return _measure(parse_degrees, format_degrees, "an angle", schema, low, high)


def decimal(low: float, high: float) -> Check:
    """A number, which ``-s`` gives as a text."""
    schema = {"type": "number", "minimum": low, "maximum": high}
    return _measure(parse_number, format_number, "a number", schema, low, high)


def _measure(
    parse: Callable[[object], float],
    spell: Callable[[float], str],
    expected: str,
    schema: Mapping[str, Any],
    low: float,
    high: float,
) -> Check:
    def read(value: object) -> float:
        found = parse(value)
        if not low <= found <= high:
            written = spell(found) if abs(found) < LARGEST else cut(printable(str(value).strip()))
            raise ValueError(f"is {written}; expected {spell(low)} to {spell(high)}")
        return found

    return Check(read, expected, schema)


def _read_flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"expected true or false, found {shown(value)}")
    return value


def _read_colour(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"expected a text, found {shown(value)}")
    if not _COLOUR.fullmatch(value):
        raise ValueError(f'expected a colour such as "#e69f00", found {shown(value)}')
    return value.lower()


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
COLOUR = Check(
    _read_colour,
    "a colour",
    {"type": "string", "format": "color", "pattern": f"^{_COLOUR.pattern}$"},
)
IDENTIFIER = Check(
    read_identifier, "a text", {"type": "string", "pattern": f"^{_IDENTIFIER.pattern}$"}
)


class Table(BaseModel):
    """One table of a file: the keys that it may have, and no others."""

    model_config = ConfigDict(extra="forbid")
    _failed: frozenset[str] = PrivateAttr(default=frozenset())

    @classmethod
    def read(
        cls, data: Mapping[str, Any], faults: Faults, place: str = "", elsewhere: Sequence[str] = ()
    ) -> Self:
        """The table, as far as it is sound; a key with a fault has its default, or None.

        Args:
            data: what the file says.
            faults: where faults go.
            place: the table's place in the file; empty at the top.
            elsewhere: full keys of other tables that an unknown one may have meant.
        """
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            lines = error.errors(include_url=False)
        meant = cls._note(lines, faults, place, elsewhere)
        return cls._sound(data, [line["loc"] for line in lines], meant)

    def failed(self, *names: str) -> bool:
        """Whether one of these keys has a fault that is noted already."""
        return not self._failed.isdisjoint(names)

    @classmethod
    def _note(
        cls, lines: Sequence[Any], faults: Faults, place: str, elsewhere: Sequence[str]
    ) -> set[_Place]:
        """Notes what pydantic found, in our words. A misspelt key is not also a missing one.

        Returns:
            The keys that were meant by misspelt ones.
        """
        meant = set[_Place]()
        notes: list[tuple[_Place, str]] = []
        for line in lines:
            loc, kind, value = line["loc"], line["type"], line["input"]
            owner = cls._at(loc[:-1])
            header = _spelt(place, [step for step in loc if isinstance(step, str)])
            if kind == "extra_forbidden":
                known = list(owner.model_fields)
                near = nearest(str(loc[-1]), known) or nearest(str(loc[-1]), elsewhere)
                meant |= {(*loc[:-1], near)} if near else set()
                hint = f'did you mean "{near}"?' if near else f"known are {name_some(known)}"
                message = f"unknown key; {hint}"
            elif kind == "missing":
                message = f"is missing; expected {owner._expected(loc[-1])}"
            elif kind == "value_error":
                message = str(line["ctx"]["error"])
            elif kind == "too_long":
                most, found = line["ctx"]["max_length"], line["ctx"]["actual_length"]
                message = f"has {found} items; at most {most} are allowed"
            elif kind == "list_type":
                message = f"expected tables [[{header}]] in double brackets, found {shown(value)}"
            else:
                header = f"[{header}]" if isinstance(loc[-1], int) else header
                message = f"expected a table [{header}], found {shown(value)}"
            notes.append((loc, message))
        for loc, message in notes:
            if loc not in meant:
                faults.add(_spelt(place, loc), message)
        return meant

    @classmethod
    def _expected(cls, name: object) -> str:
        """What should stand at a key that is missing."""
        field = cls.model_fields[str(name)]
        checks = [one.expected for one in field.metadata if isinstance(one, Check)]
        return [*checks, field.description or f"a table [{name}]"][0]

    @classmethod
    def _at(cls, loc: _Place) -> type[Table]:
        """The model of the table at a place inside this one."""
        model: type[Table] = cls
        for step in loc:
            if isinstance(step, str):
                model = model._nested(step) or model
        return model

    @classmethod
    def _nested(cls, name: str) -> type[Table] | None:
        """The model of the tables at a key, if there are tables."""
        field = cls.model_fields.get(name)
        waiting: list[Any] = [field.annotation] if field else []
        while waiting:
            one = waiting.pop()
            if inspect.isclass(one) and issubclass(one, Table):
                return one
            waiting += get_args(one)
        return None

    @classmethod
    def _sound(cls, data: Any, wrong: Iterable[_Place], meant: Iterable[_Place]) -> Self:
        """The table without what has a fault; blank, when it is no table.

        Args:
            data: what the file says.
            wrong: places in it.
            meant: places that misspelt keys stand for.
        """
        required = [name for name, field in cls.model_fields.items() if field.is_required()]
        table = cls.model_construct(**dict.fromkeys(required))
        if not isinstance(data, dict):
            table._failed = frozenset(cls.model_fields)
            return table
        unsaid = {*required, *(str(place[0]) for place in meant if len(place) == 1)} - data.keys()
        table._failed = frozenset({*unsaid, *(str(place[0]) for place in wrong)})
        for name in cls.model_fields.keys() & data.keys():
            value, model = data[name], cls._nested(name)
            below, meant_below = _inside(wrong, name), _inside(meant, name)
            if not below:
                cls.__pydantic_validator__.validate_assignment(table, name, value)
            elif model and all(below) and isinstance(value, dict):
                setattr(table, name, model._sound(value, below, meant_below))
            elif model and all(below):
                sound = [
                    model._sound(one, _inside(below, i), _inside(meant_below, i))
                    for i, one in enumerate(value)
                ]
                setattr(table, name, sound)
        return table


def _inside(places: Iterable[_Place], step: int | str) -> list[_Place]:
    """The rests of the places that begin with a step."""
    return [place[1:] for place in places if place[0] == step]


def _spelt(place: str, loc: Sequence[int | str]) -> str:
    """A place in a file, with keys quoted where TOML would quote them."""
    for step in loc:
        if isinstance(step, int):
            place += f"[{step}]"
        else:
            key = step if _BARE_KEY.fullmatch(step) else json.dumps(cut(step), ensure_ascii=False)
            place += ("." if place else "") + cut(printable(key))
    return place


def tables_at(document: Mapping[str, Any], name: str, faults: Faults) -> list[tuple[str, Any]]:
    """The tables of a list in a document of which the rest is not read, each with its place."""
    found, value = [], document.get(name, [])
    if not isinstance(value, list):
        faults.add(name, f"expected tables [[{name}]] in double brackets, found {shown(value)}")
    elif len(value) > MOST_TABLES:
        faults.add(name, f"has {len(value)} items; at most {MOST_TABLES} are allowed")
    else:
        for index, one in enumerate(value):
            if isinstance(one, dict):
                found.append((f"{name}[{index}]", one))
            else:
                message = f"expected a table [[{name}]], found {shown(one)}"
                faults.add(f"{name}[{index}]", message)
    return found


def one_of(faults: Faults, place: str, table: Table, names: Sequence[str], required: bool) -> str:
    """Which of several keys a table has; it may only be one. Empty when none is sound.

    Args:
        faults: where faults go.
        place: the table's.
        table: where they are looked for.
        names: the keys.
        required: whether it is a fault when none is there.
    """
    there = [name for name in names if name in table.model_fields_set]
    expected = f"expected one of {', '.join(names)}; found"
    if len(there) > 1:
        key = f"{place}.{there[-1]}" if place else there[-1]
        faults.add(key, f"{expected} {' and '.join(there)}")
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
    if isinstance(node, dict):
        return {
            key: _plain(value)
            for key, value in node.items()
            if not (key == "title" and isinstance(value, str))
            and not (key == "default" and value in (None, []))
        }
    return [_plain(one) for one in node] if isinstance(node, list) else node
