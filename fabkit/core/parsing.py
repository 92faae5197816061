"""Read files, and parse untrusted TOML and JSON, with limits on size and nesting."""

from __future__ import annotations

import json
import os
import re
import tomllib
from pathlib import Path
from typing import Any, NoReturn

from fabkit.core.errors import ExternalError, InputError, escape, quote, truncate

#: Larger files are refused.
MAX_BYTES = 8 * 1024 * 1024

#: Dotted keys with very many parts cost the parser seconds and gigabytes.
_DEEP_KEY = re.compile(r"""(?<![\w"'-])(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){300}""")

#: Half of a character of UTF-16, which no file in UTF-8 holds.
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def shipped_file(path: Path) -> Path:
    """Return the path of a file that comes with fabkit.

    Raises:
        ExternalError: if it is missing.
    """
    if path.is_file():
        return path
    raise ExternalError(f"there is no {escape(str(path))}, which comes with fabkit; reinstall it")


def read_bytes(path: Path, source: str, expected: str, max_bytes: int) -> bytes:
    """Read an untrusted file; ``source`` and ``expected`` are for messages.

    At most ``max_bytes`` + 1 bytes are read, so that the caller can refuse a larger file.

    Raises:
        InputError: when the file does not exist or cannot be read.
    """
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size or max_bytes
            return file.read(min(size, max_bytes) + 1)  # which allocates the size requested
    except FileNotFoundError:
        raise InputError.of(source, "there is no such file") from None
    except IsADirectoryError:
        raise InputError.of(source, f"is a folder; expected {expected}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError.of(source, f"cannot be read: {reason}") from None


def read_text(path: Path, source: str, expected: str, max_bytes: int = MAX_BYTES) -> str:
    """Read a UTF-8 text file of so many bytes at most, without its byte order mark; see
    `read_bytes`.

    Raises:
        InputError: when the file cannot be read, is too large or is not UTF-8.
    """
    content = read_bytes(path, source, expected, max_bytes)
    if len(content) > max_bytes:
        size = f"{max_bytes // 1024**2} MiB"
        raise InputError.of(source, f"is larger than {size}; expected {expected}")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError.of(source, f"is not UTF-8 text (byte {error.start})") from None


def read_toml(path: Path, source: str) -> dict[str, Any]:
    """Read a TOML file; see `read_text` and `parse_toml`."""
    return parse_toml(read_text(path, source, "a TOML file"), source)


def parse_toml(text: str, source: str) -> dict[str, Any]:
    """Parse TOML; raise InputError when it is invalid or nested too deeply."""
    if _DEEP_KEY.search(text):
        raise InputError.of(source, "is nested too deeply")
    if surrogate := _SURROGATE.search(text):  # text from JSON may hold half a character
        raise InputError.of(source, f"is not Unicode text (character {surrogate.start()})")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        reason = re.sub(r"\('([^']*)',\)", r"[\1]", str(error))
        sentence, separator, position = reason.rpartition(" (at ")  # never truncate the position
        if not separator:
            sentence, position = position, ""
        reason = f"{truncate(escape(sentence))}{separator}{position}"
        raise InputError.of(source, f"is not TOML: {reason}") from None
    except RecursionError:
        raise InputError.of(source, "is nested too deeply") from None
    except ValueError:  # an integer with more digits than Python converts
        raise InputError.of(source, "is not TOML: a number has too many digits") from None


def parse_json(text: str, source: str) -> dict[str, Any]:
    """Parse a JSON object as strictly as TOML: no duplicate keys, null, NaN or infinity.

    Raises:
        InputError: when it is not such an object, or nested too deeply.
    """
    document = strict_json(text, source)
    if not isinstance(document, dict):
        raise InputError.of(source, f"expected a JSON object, found {quote(document)}")
    waiting: list[Any] = [document]
    while waiting:
        value = waiting.pop()
        if value is None:
            raise InputError.of(source, "contains null; omit the key instead")
        if isinstance(value, dict | list):
            waiting += value.values() if isinstance(value, dict) else value
    return document


def strict_json(text: str, source: str) -> Any:
    """Parse any JSON value except NaN and infinity; raise InputError for duplicate keys."""
    try:
        return json.loads(text, object_pairs_hook=_each_once, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        place = f"(at line {error.lineno}, column {error.colno})"
        reason = f"{error.msg.removesuffix(' at')} {place}"
    except _RefusedError as refused:
        reason = str(refused)
    except RecursionError:
        raise InputError.of(source, "is nested too deeply") from None
    except ValueError:  # an integer with more digits than Python converts
        reason = "a number has too many digits"
    raise InputError.of(source, f"is not JSON: {reason}")


class _RefusedError(ValueError):
    """Input that Python's parser accepts and fabkit does not."""


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for key, value in pairs:
        if key in table:
            raise _RefusedError(f"the key {quote(key)} is duplicated")
        table[key] = value
    return table


def _refuse_constant(name: str) -> NoReturn:
    raise _RefusedError(f"{truncate(escape(name))} is not a number")
