"""Validate TOML and JSON documents: unknown keys are refused, all errors are reported at once.

A `Table` is a pydantic model of one table of a file. Its fields have pydantic's types, a
`Validator` for values that fabkit parses, such as lengths, or a `Shape`; all of them also make the
JSON schema for editors (`json_schema`). `read_document` validates a file and records pydantic's
errors, in the words of fabkit, in an `ErrorList`; later checks add theirs.

Only reading needs pydantic, so this module is imported where files are read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from types import MappingProxyType, UnionType
from typing import Annotated, Any, TypeVar, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    PrivateAttr,
    StrictStr,
    TypeAdapter,
    ValidationError,
)
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, core_schema

from fabkit.core.errors import (
    ErrorDetail,
    ErrorList,
    escape,
    join_names,
    join_or,
    nearest,
    quote,
    truncate,
)
from fabkit.core.units import (
    LENGTH_PATTERN,
    MAX_MAGNITUDE,
    format_degrees,
    format_mm,
    format_number,
    parse_degrees,
    parse_length_mm,
    parse_number,
)

#: What messages call the types of values.
_TYPE_NAMES = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a string",
    list: "a list",
    dict: "a table",
}
#: What pydantic's errors of a wrong type ask for.
_EXPECTED = {
    **{f"{kind.__name__}_type": name for kind, name in _TYPE_NAMES.items()},
    "string_type": "a string",
    "model_attributes_type": "a table",
    "dict_type": "a table",
    "tuple_type": "a list",
}
_OUT_OF_RANGE = ("greater_than_equal", "less_than_equal", "finite_number")
_INDEX = re.compile(r"\[\d+\]")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
_WINDOWS_NAMES = {"con", "prn", "aux", "nul"} | {
    f"{p}{n}" for p in ("com", "lpt") for n in range(10)
}


@dataclass(frozen=True)
class Validator:
    """Reads a key's value: the annotation of a field of a `Table`.

    Attributes:
        read: converts the parsed value, or raises ValueError with a message.
        expected: what messages ask for, such as ``a string``.
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


@dataclass(frozen=True)
class Shape:
    """Accepts any value, which a later step with more context validates.

    Attributes:
        expected: what messages ask for, such as ``cells``.
        type: what the JSON schema allows.
    """

    expected: str
    type: Any = Any

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> core_schema.CoreSchema:
        return core_schema.any_schema()

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return TypeAdapter(self.type).json_schema()


def _printable(string: str) -> str:
    if not string.strip():
        raise ValueError("is empty")
    if not string.isprintable():
        raise ValueError(f"{quote(string)} contains unprintable characters")
    return string


def optional_text(longest: int) -> Validator:
    """Read a string that is empty, or neither blank nor longer than a number of characters."""

    def read(value: object) -> str:
        if not isinstance(value, str):
            raise ValueError(f"expected a text, found {quote(value)}")
        if len(value) > longest:
            raise ValueError(f"is {len(value)} characters long; at most {longest} are allowed")
        return value and _printable(value)

    return Validator(read, "a text", {"type": "string", "maxLength": longest})


#: A string that is not blank and holds no control characters.
Text = Annotated[StrictStr, Field(min_length=1), AfterValidator(_printable)]


def choice(*choices: str, renamed: Mapping[str, str] | None = None) -> Validator:
    """Read one of several strings; `renamed` maps former ones, which are also read, to these.

    Example:
        >>> choice("square", "hexagon").read("squar")
        Traceback (most recent call last):
        ...
        ValueError: "squar" is not a valid value; did you mean "square"?
    """
    expected = join_or([f'"{option}"' for option in choices])

    def read(value: object) -> str:
        if not isinstance(value, str):
            raise ValueError(f"expected {expected}, found {quote(value)}")
        value = (renamed or {}).get(value, value)
        if value not in choices:
            match = nearest(value, choices)
            hint = f'did you mean "{match}"?' if match else f"expected {expected}"
            raise ValueError(f"{quote(value)} is not a valid value; {hint}")
        return value

    return Validator(read, expected, {"enum": list(choices)})


def _measure(
    parse: Callable[[object], Any],
    format_value: Callable[[Any], str],
    expected: str,
    low: float,
    high: float,
    **schema: Any,
) -> Validator:
    """Read what ``parse`` accepts, within two bounds; those of a number are in its schema."""

    def read(value: object) -> Any:
        number = parse(value)
        if not low <= number <= high:
            written = format_value(number) if abs(number) < MAX_MAGNITUDE else quote(value)
            raise ValueError(f"is {written}; expected {format_value(low)} to {format_value(high)}")
        return number

    bounds = {} if "pattern" in schema else {"minimum": low, "maximum": high}
    return Validator(read, expected, schema | bounds)


def decimal(low: float, high: float) -> Validator:
    """Read a number, also from a string, as ``-s`` gives it."""
    return _measure(parse_number, format_number, "a number", low, high, type="number")


def length_mm(low_mm: float, high_mm: float) -> Validator:
    """Read a length with its unit, such as ``"20 mm"``, in millimetres."""
    pattern, to_text = rf"^{LENGTH_PATTERN}$", partial(format_mm, digits=6)
    return _measure(
        parse_length_mm, to_text, "a length", low_mm, high_mm, type="string", pattern=pattern
    )


def degrees(low: float, high: float) -> Validator:
    """Read an angle with its unit, such as ``"45 deg"``."""
    pattern = r"^\s*[+-]?[0-9.]+\s*(deg|°)\s*$"
    return _measure(
        parse_degrees, format_degrees, "an angle", low, high, type="string", pattern=pattern
    )


def _read_colour(value: object) -> str:
    if not isinstance(value, str) or not _COLOUR.fullmatch(value):
        raise ValueError(f'expected a colour such as "#e69f00", found {quote(value)}')
    return value.lower()


def read_identifier(value: object) -> str:
    """Read a string that is a safe file name on every system; ValueError explains why it is not."""
    if not isinstance(value, str):
        raise ValueError(f"expected a string, found {quote(value)}")
    if not value.strip():
        raise ValueError("is empty")
    if not _IDENTIFIER.fullmatch(value):
        rule = "use up to 40 of A-Z, a-z, 0-9, - and _, beginning with a letter or digit"
        raise ValueError(f"{quote(value)} is not safe as a file name; {rule}")
    _refuse_reserved(value)
    return value


def read_word(value: str) -> str:
    """Read a word that a safe file name may contain, in any language; ValueError explains why it is
    not.

    Example:
        >>> read_word("Mär")
        'Mär'
        >>> read_word("a/b")
        Traceback (most recent call last):
        ValueError: "a/b" is not safe in a file name; use letters, digits and _, beginning with a letter or digit
    """  # noqa: E501
    # Other characters that Unicode counts as letters or digits, such as superscripts, are not safe.
    is_safe = all(char.isalpha() or char.isdecimal() or char == "_" for char in value)
    if not is_safe or not value or value[0] == "_":
        rule = "use letters, digits and _, beginning with a letter or digit"
        raise ValueError(f"{quote(value)} is not safe in a file name; {rule}")
    _refuse_reserved(value)
    return value


def _refuse_reserved(name: str) -> None:
    if name.lower() in _WINDOWS_NAMES:
        raise ValueError(f"{quote(name)} is a reserved name on Windows; choose another")


_COLOUR_SCHEMA = {"type": "string", "format": "color", "pattern": f"^{_COLOUR.pattern}$"}
COLOUR = Validator(_read_colour, "a colour", _COLOUR_SCHEMA)
_IDENTIFIER_SCHEMA = {"type": "string", "pattern": f"^{_IDENTIFIER.pattern}$"}
IDENTIFIER = Validator(read_identifier, "a string", _IDENTIFIER_SCHEMA)


class Table(BaseModel):
    """One table of a file with its allowed keys."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, defer_build=True)
    _place: str = PrivateAttr(default="")

    @property
    def place(self) -> str:
        """Place in the file, such as ``piece[3]``; empty for the file itself."""
        return self._place

    def key(self, name: str) -> str:
        """Return the place of one of its keys."""
        return f"{self._place}.{name}" if self._place else name


_File = TypeVar("_File", bound=Table)


def read_document(
    model: type[_File],
    document: Mapping[str, Any],
    errors: ErrorList,
    elsewhere: Sequence[str] = (),
    renamed: Mapping[str, str] = MappingProxyType({}),
) -> _File | None:
    """Validate a parsed file and record all its errors.

    Args:
        model: of the whole file.
        document: its parsed content.
        errors: collects the errors.
        elsewhere: full keys of other tables, one of which an unknown key may have meant.
        renamed: full keys of earlier versions, and their new names.

    Returns:
        The file, whose lists of tables hold only those without an error, for further checks; None
        after an error outside of these lists.
    """
    unsound = set[tuple[int | str, ...]]()
    try:
        file = model.model_validate(document)
    except ValidationError as error:
        lines = error.errors(include_url=False)
        for detail in _details(model, lines, elsewhere, renamed):
            errors.add(detail.key, detail.message)
        unsound = {line["loc"][:2] for line in lines}
        lists = {key: value for key, value in document.items() if isinstance(value, list)}
        sound_lists = {
            key: [row for index, row in enumerate(rows) if (key, index) not in unsound]
            for key, rows in lists.items()
        }
        try:
            file = model.model_validate({**document, **sound_lists})
        except ValidationError:
            return None
    _set_places(file, unsound)
    return file


def _set_places(table: Table, unsound: Container[tuple[int | str, ...]] = ()) -> None:
    """Set the places of tables in a table and its lists, without those at unsound places."""
    for key in table.model_fields_set:
        rows = getattr(table, key)
        if isinstance(rows, Table):
            rows._place = table.key(key)
            _set_places(rows)
        elif isinstance(rows, list) and rows and isinstance(rows[0], Table):
            indices = (index for index in count() if (key, index) not in unsound)
            for row, index in zip(rows, indices, strict=False):
                row._place = f"{table.key(key)}[{index}]"
                _set_places(row)


def _details(
    model: type[Table],
    lines: Sequence[ErrorDetails],
    elsewhere: Sequence[str],
    renamed: Mapping[str, str],
) -> list[ErrorDetail]:
    """Translate pydantic's errors, without those implied by others: a misspelt key is not missing
    as well, and a list with wrong items is not too short as well."""
    details = dict[tuple[int | str, ...], ErrorDetail]()
    implied = {line["loc"][:depth] for line in lines for depth in range(len(line["loc"]))}
    for line in lines:
        if line["type"] == "extra_forbidden":
            *steps, name = line["loc"]
            table_place, tables, _ = _locate(model, steps)
            keys = [*_fields(tables)]
            place = _below(table_place, str(name))
            match = nearest(str(name), keys) or nearest(str(name), elsewhere)
            message = unknown_key(place, match, keys, renamed)
            implied |= {(*steps, match)} - {line["loc"]}
        else:
            place, tables, field = _locate(model, line["loc"])
            message = _message(line, place, tables, field)
        details[line["loc"]] = ErrorDetail(place, message)
    return [detail for loc, detail in details.items() if loc == () or loc not in implied]


def _locate(
    model: type[BaseModel], loc: Iterable[int | str]
) -> tuple[str, Sequence[type[BaseModel]], FieldInfo | None]:
    """Return a location's path in the file, the models of tables there, and its field."""
    place = ""
    tables = [model]
    field: FieldInfo | None = None
    for step in loc:
        if isinstance(step, int):
            place += f"[{step}]"
        elif field and field.discriminator:  # the step names the variant
            field = None
        else:
            place = _below(place, step)
            field = _fields(tables).get(step)  # None for a name that the file chooses
            tables = _models_in(field.annotation) if field else []
    return place, tables, field


def _fields(models: Sequence[type[BaseModel]]) -> dict[str, FieldInfo]:
    """Return the fields of models by their keys in files."""
    return {
        field.alias or name: field for model in models for name, field in model.model_fields.items()
    }


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    """Return the models in a type such as ``list[PieceTable]``."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models_in(part)]


def _message(
    line: ErrorDetails, place: str, tables: Sequence[type[BaseModel]], field: FieldInfo | None
) -> str:
    """Return the message for one of pydantic's errors but an unknown key."""
    kind, value, context = line["type"], line["input"], line.get("ctx", {})
    header = _INDEX.sub("", place)
    bounds = [
        bound
        for constraint in (field.metadata if field else ())
        for bound in (getattr(constraint, "ge", None), getattr(constraint, "le", None))
        if bound is not None
    ]
    expected = _EXPECTED.get(kind, "")
    if kind == "missing":
        expected = expected_value(field) if field else ""
        return f"is missing; expected {expected}" if expected else "is missing"
    if kind == "value_error":
        return str(context["error"])
    if kind == "string_too_short":
        return "is empty"
    if kind in ("string_too_long", "too_long") and (tables or isinstance(value, str)):
        size = f"has {len(value)} items" if tables else f"is {len(value)} characters long"
        return f"{size}; at most {context['max_length']} are allowed"
    if kind in _OUT_OF_RANGE and len({*bounds}) == 2:
        return f"is {quote(value)}; expected {bounds[0]} to {bounds[1]}"
    if kind == "model_type":
        expected = f"a table [[{header}]]" if place.endswith("]") else f"a table [{header}]"
    elif kind == "list_type" and tables:
        expected = f"tables [[{header}]] in double brackets"
    elif kind == "literal_error":
        expected = context["expected"].replace("'", '"')
    message = line["msg"].replace(" after validation", "").replace("Input should", "should")
    sentence = f"expected {expected}" if expected else f"{message[0].lower()}{message[1:]}"
    return f"{sentence}, found {'null' if value is None else quote(value)}"


def expected_value(field: FieldInfo) -> str:
    """Return what a key holds, such as ``a string``; for a table its description."""
    checks = [check.expected for check in field.metadata if isinstance(check, Validator | Shape)]
    kind = get_origin(field.annotation) or field.annotation
    choices = get_args(field.annotation) if kind is UnionType else ()
    kinds = [getattr(choice, "__origin__", choice) for choice in (*choices, kind)]
    names = [_TYPE_NAMES.get(kind, "") for kind in kinds]
    return next(filter(None, (*checks, *names, field.description)), "")


def unknown_key(key: str, match: str, keys: Sequence[str], renamed: Mapping[str, str]) -> str:
    """Return the message for an unknown key: its new name, the nearest known key, or all keys."""
    if key in renamed:
        return f'unknown key; it is now called "{renamed[key]}"'
    hint = f'did you mean "{match}"?' if match else f"known keys are {join_names(keys)}"
    return f"unknown key; {hint}"


def _below(place: str, key: str) -> str:
    """Return the place of a key, quoted where TOML would quote it."""
    if not _BARE_KEY.fullmatch(key):
        key = json.dumps(truncate(key), ensure_ascii=False)
    return place + ("." if place else "") + truncate(escape(key))


def exactly_one(errors: ErrorList, table: Table, names: Sequence[str], required: bool) -> str:
    """Return which of several exclusive keys a table has; empty after an error."""
    keys = [name for name in names if name in table.model_fields_set]
    expected = f"expected one of {', '.join(names)}; found"
    if len(keys) > 1:
        errors.add(table.key(keys[-1]), f"{expected} {' and '.join(keys)}")
        return ""
    if required and not keys:
        errors.add(table.place, f"{expected} none")
    return keys[0] if keys else ""


def json_schema(model: type[Table], title: str) -> dict[str, Any]:
    """Return the JSON schema of a model, for completion and validation in editors."""
    schema = _plain(model.model_json_schema())
    return {"$schema": "http://json-schema.org/draft-07/schema#", "title": title, **schema}


def _plain(node: Any) -> Any:
    """Drop titles that repeat keys, defaults that are None or empty, and null, which TOML lacks."""
    if isinstance(node, float) and node.is_integer():
        return int(node)  # some versions of pydantic write 1 as 1.0
    if isinstance(node, list):
        return [_plain(child) for child in node if child != {"type": "null"}]
    if not isinstance(node, dict):
        return node
    schema = {
        key: _plain(value)
        for key, value in node.items()
        if not (key == "title" and isinstance(value, str))
        and not (key == "default" and value in (None, []))
    }
    if isinstance(choices := schema.get("anyOf"), list) and len(choices) == 1:
        del schema["anyOf"]
        schema = choices[0] | schema
    return schema
