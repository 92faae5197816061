"""The texts of booklet and page in several languages, which lie beside this file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from fabkit.core.errors import InputError, OutsideError, did_you_mean, shown

#: The languages there are, by their codes of two letters; the first is the usual one.
LANGUAGES = ("en", "de", "it", "fr")


def load_words(part: str, language: str) -> dict[str, str]:
    """The texts of ``booklet`` or ``page`` by key, with places such as ``{title}`` to be filled.

    Raises:
        InputError: when there is no such language.
        OutsideError: when the file with the texts is missing or damaged.

    Example:
        >>> load_words("booklet", "de")["index"]
        'Verzeichnis'
    """
    if language not in LANGUAGES:
        known = ", ".join(LANGUAGES)
        message = f"there are no texts in {shown(language)}; the languages are {known}"
        raise InputError.of("--language", message + did_you_mean(language, LANGUAGES))
    return dict(_read(part, language))


def counted(words: Mapping[str, str], key: str, count: int) -> str:
    """A text about some number of things: ``{key}_one``, or ``{key}_many`` for more or none.

    Example:
        >>> words = {"decimal": ".", "thousands": ","}
        >>> words |= {"pieces_one": "one piece", "pieces_many": "{count} pieces"}
        >>> counted(words, "pieces", 1), counted(words, "pieces", 16)
        ('one piece', '16 pieces')
    """
    return words[f"{key}_one" if count == 1 else f"{key}_many"].format(count=figure(words, count))


def figure(words: Mapping[str, str], value: float) -> str:
    """A number as it is written in a language, with three decimals at most.

    Example:
        >>> words = {"decimal": ",", "thousands": "."}
        >>> figure(words, 2.5), figure(words, 152340)
        ('2,5', '152.340')
    """
    whole, _, rest = f"{value:,.3f}".partition(".")
    rest = rest.rstrip("0")
    return whole.replace(",", words["thousands"]) + (words["decimal"] + rest if rest else "")


@lru_cache(maxsize=16)
def _read(part: str, language: str) -> dict[str, str]:
    path = Path(__file__).parent / "words" / f"{part}.{language}.toml"
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # what is no TOML, or not even text, is a ValueError
        message = f"{path.name}, with the texts in that language, is missing or damaged"
        raise OutsideError(f"{message}; install fabkit again") from None
