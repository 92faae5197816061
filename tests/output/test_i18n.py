"""The texts of booklet and page: every language says the same, in letters that the fonts have."""

from __future__ import annotations

import shutil
import string
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont

from fabkit.core.errors import InputError, OutsideError
from fabkit.output import i18n as module
from fabkit.output.i18n import LANGUAGES, counted, figure, load_words
from fabkit.output.theme import font_file

FOLDER = Path(module.__file__).parent / "words"
PARTS = sorted({path.name.split(".")[0] for path in FOLDER.glob("*.toml")})
OTHERS = [(part, language) for part in PARTS for language in LANGUAGES[1:]]


def places(text: str) -> list[str]:
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name)


def differences(one: dict[str, str], other: dict[str, str]) -> list[str]:
    """Keys that only one has, and those whose places are not the same."""
    found = sorted(one.keys() ^ other.keys())
    both = sorted(one.keys() & other.keys())
    return found + [key for key in both if places(one[key]) != places(other[key])]


@pytest.mark.parametrize(("part", "language"), OTHERS)
def test_languages_have_the_same_keys_and_places(part: str, language: str) -> None:
    assert differences(load_words(part, "en"), load_words(part, language)) == []


@pytest.mark.parametrize(("part", "language"), OTHERS)
def test_texts_are_translated(part: str, language: str) -> None:
    """A sentence that is the same in two languages was forgotten."""
    english, other = load_words(part, "en"), load_words(part, language)
    long = {key: text for key, text in english.items() if len(text.split()) > 3}
    assert [key for key, text in long.items() if other[key] == text] == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("part", PARTS)
def test_texts_are_one_line_of_letters_that_the_fonts_have(part: str, language: str) -> None:
    known = set.intersection(*(set(TTFont(font_file(b)).getBestCmap()) for b in (False, True)))
    for key, text in load_words(part, language).items():
        assert {char for char in text if ord(char) not in known} == set(), key
        assert text.strip() == text or key == "thousands", key
        assert "\n" not in text, key


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        load_words("booklet", "es\x1b")
    assert str(caught.value) == (
        r'--language: there are no texts in "es\x1b"; the languages are en, de, it, fr'
    )


def test_missing_and_damaged_texts_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(FOLDER, tmp_path / "words")
    (tmp_path / "words" / "booklet.it.toml").unlink()
    (tmp_path / "words" / "booklet.de.toml").write_bytes(b"= no TOML")
    (tmp_path / "words" / "page.de.toml").write_bytes(b"how = '\xff'")
    monkeypatch.setattr(module, "__file__", str(tmp_path / "words.py"))
    module._read.cache_clear()
    try:
        with pytest.raises(OutsideError, match=r"booklet\.it\.toml.*install fabkit again"):
            load_words("booklet", "it")
        for part in ("booklet", "page"):
            with pytest.raises(OutsideError, match=rf"^{part}\.de\.toml, .* damaged; install"):
                load_words(part, "de")
        assert load_words("booklet", "fr")
    finally:
        module._read.cache_clear()


def test_what_is_handed_out_can_be_changed_without_harm() -> None:
    load_words("booklet", "en")["index"] = "changed"
    assert load_words("booklet", "en")["index"] == "Index"


@pytest.mark.parametrize(
    ("language", "shown"),
    [("en", "1,234,567.5"), ("de", "1.234.567,5"), ("it", "1.234.567,5"), ("fr", "1 234 567,5")],
)
def test_numbers_are_written_as_in_the_language(language: str, shown: str) -> None:
    words = load_words("booklet", language)
    assert figure(words, 1234567.5).replace("\N{NO-BREAK SPACE}", " ") == shown
    assert figure(words, 3) == "3"


@pytest.mark.parametrize("language", LANGUAGES)
def test_one_and_many_are_told_apart(language: str) -> None:
    words = load_words("booklet", language)
    for key in ("pieces", "challenges", "solutions"):
        assert counted(words, key, 1) != counted(words, key, 2).replace("2", "1")
        assert counted(words, key, 0) == counted(words, key, 2).replace("2", "0")
