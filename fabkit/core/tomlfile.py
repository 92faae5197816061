"""Opening a TOML file that may be anything."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from fabkit.core.errors import InputError, cut, printable
from fabkit.core.files import read_bytes

#: A set or profile larger than this is not a drawing any more.
MAX_BYTES = 8 * 1024 * 1024

#: Keys of very many parts, on which the parser would spend seconds and gigabytes.
_DEEP_KEY = re.compile(r"""(?<![\w"'-])(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){300}""")


def read_toml(path: Path, source: str) -> dict[str, Any]:
    """Reads a TOML file.

    Args:
        path: the file.
        source: its name in messages.

    Returns:
        The document as plain dictionaries, lists and values.

    Raises:
        InputError: when the file cannot be read, is too large, is not UTF-8 or is not TOML.
    """
    return parse_toml(read_text(path, source, "a TOML file"), source)


def read_text(path: Path, source: str, expected: str) -> str:
    """Reads a text file that a person wrote.

    Args:
        path: the file.
        source: its name in messages.
        expected: what it should be, for messages, such as ``"a TOML file"``.

    Returns:
        Its text, without a byte order mark.

    Raises:
        InputError: when the file cannot be read, is too large or is not UTF-8.
    """
    content = read_bytes(path, source, expected, MAX_BYTES)
    if len(content) > MAX_BYTES:
        size = f"{MAX_BYTES // 1024**2} MiB"
        raise InputError.of(source, f"is larger than {size}; expected {expected}")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError.of(source, f"is not UTF-8 text (byte {error.start})") from None


def parse_toml(text: str, source: str) -> dict[str, Any]:
    """Parses TOML that may be anything.

    Args:
        text: of the whole file.
        source: its name in messages.

    Returns:
        The document as plain dictionaries, lists and values.

    Raises:
        InputError: when it is not TOML, or nested too deeply.

    Example:
        >>> parse_toml("pieces = 'IJMR'", "mine.toml")
        {'pieces': 'IJMR'}
    """
    if _DEEP_KEY.search(text):
        raise InputError.of(source, "is nested too deeply")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        reason = re.sub(r"\('([^']*)',\)", r"[\1]", str(error))
        raise InputError.of(source, f"is not TOML: {_reason(reason)}") from None
    except RecursionError:
        raise InputError.of(source, "is nested too deeply") from None
    except ValueError:  # an integer of more digits than Python will convert
        raise InputError.of(source, "is not TOML: a number has too many digits") from None


def _reason(reason: str) -> str:
    """The parser's reason: the sentence cut, the place in the file kept."""
    sentence, at, place = reason.rpartition(" (at ")
    return f"{cut(printable(sentence))}{at}{place}" if at else cut(printable(reason))
