"""Parsing JSON that a person or a script wrote, as strictly as TOML is."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from fabkit.core.errors import InputError, cut, printable, shown


def parse_json(text: str, source: str) -> dict[str, Any]:
    """Parses a JSON object: no key twice, no null, no NaN, no infinity.

    Args:
        text: of the whole file.
        source: its name in messages.

    Returns:
        The document as plain dictionaries, lists and values.

    Raises:
        InputError: when it is not such an object, or nested too deeply.

    Example:
        >>> parse_json('{"pieces": "IJMR"}', "mine.json")
        {'pieces': 'IJMR'}
        >>> parse_json('{"pieces": "IJ", "pieces": "MR"}', "mine.json")
        Traceback (most recent call last):
        ...
        fabkit.core.errors.InputError: mine.json: is not JSON: the key "pieces" stands twice
    """
    document = strict_json(text, source)
    if not isinstance(document, dict):
        raise InputError.of(source, f"expected a JSON object, found {shown(document)}")
    if _holds_null(document):
        raise InputError.of(source, "holds null, which says nothing here; leave the key out")
    return document


def strict_json(text: str, source: str) -> Any:
    """Parses any JSON value: no key twice, no NaN, no infinity.

    Args:
        text: of the whole file.
        source: its name in messages.

    Raises:
        InputError: when it is not such a value, or nested too deeply.

    Example:
        >>> strict_json("[1, null]", "mine.json")
        [1, None]
    """
    try:
        return json.loads(text, object_pairs_hook=_each_once, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        place = f"(at line {error.lineno}, column {error.colno})"
        reason = error.msg.removesuffix(" at")
        raise InputError.of(source, f"is not JSON: {reason} {place}") from None
    except _RefusedError as refused:
        raise InputError.of(source, f"is not JSON: {refused}") from None
    except RecursionError:
        raise InputError.of(source, "is nested too deeply") from None
    except ValueError:  # an integer of more digits than Python will convert
        raise InputError.of(source, "is not JSON: a number has too many digits") from None


class _RefusedError(ValueError):
    """Something that Python's parser would let pass."""


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _RefusedError(f"the key {shown(key)} stands twice")
        found[key] = value
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise _RefusedError(f"{cut(printable(name))} is not a number")


def _holds_null(document: dict[str, Any]) -> bool:
    waiting: list[Any] = [document]
    while waiting:
        value = waiting.pop()
        if value is None:
            return True
        if isinstance(value, dict | list):
            waiting += value.values() if isinstance(value, dict) else value
    return False
