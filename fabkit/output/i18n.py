"""Messages of the booklet and the page in several languages, from the folder ``messages``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from fabkit.core.errors import InputError, no_such
from fabkit.core.parsing import shipped_file
from fabkit.profiles.profile import SETTINGS

#: The supported languages by their two-letter codes; the first is the default.
LANGUAGES = ("en", "de", "it", "fr")


def load_messages(part: str, language: str) -> dict[str, str]:
    """Load the messages of ``booklet``, ``page`` or ``studio`` by key, with placeholders such as
    ``{title}``; or of ``settings``, what each key of a profile sets, in English by
    `fabkit.profiles.profile`.

    Raises:
        InputError: when the language is not supported.
    """
    if language not in LANGUAGES:
        raise InputError.of("--language", no_such("language", language, LANGUAGES))
    if part == "settings" and language == LANGUAGES[0]:
        return {setting.key: setting.description for setting in SETTINGS}
    path = shipped_file(Path(__file__).parent / "messages" / f"{part}.{language}.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))


def format_count(messages: Mapping[str, str], key: str, count: int) -> str:
    """Format the message for a count of things; see `plural_form`.

    Example:
        >>> messages = {"decimal": ".", "thousands": ","}
        >>> messages |= {"pieces_one": "one piece", "pieces_many": "{count} pieces"}
        >>> format_count(messages, "pieces", 1), format_count(messages, "pieces", 16)
        ('one piece', '16 pieces')
    """
    return plural_form(messages, key, count).format(count=format_number(messages, count))


def plural_form(messages: Mapping[str, str], key: str, count: int) -> str:
    """Return the message ``{key}_one`` for a count of 1 and ``{key}_many`` for any other."""
    return messages[f"{key}_one" if count == 1 else f"{key}_many"]


def format_number(messages: Mapping[str, str], value: float) -> str:
    """Format a number in the style of a language, with three decimals at most.

    Example:
        >>> messages = {"decimal": ",", "thousands": "."}
        >>> format_number(messages, 2.5), format_number(messages, 152340)
        ('2,5', '152.340')
    """
    whole, _, rest = f"{value:,.3f}".partition(".")
    rest = rest.rstrip("0")
    return whole.replace(",", messages["thousands"]) + (messages["decimal"] + rest if rest else "")
