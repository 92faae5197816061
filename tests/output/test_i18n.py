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


def places(text: str) -> list[str]:
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name)


@pytest.mark.parametrize("part", PARTS)
def test_every_language_says_the_same_in_letters_that_the_fonts_have(part: str) -> None:
    fonts = [TTFont(font_file(bold)).getBestCmap().keys() for bold in (False, True)]
    english = load_words(part, "en")
    for language in LANGUAGES:
        words = load_words(part, language)
        assert {key: places(text) for key, text in words.items()} == {
            key: places(text) for key, text in english.items()
        }
        for key, text in words.items():
            assert all(set(map(ord, text)) <= known for known in fonts), key
            assert text.strip() == text or key == "thousands", key
            assert "\n" not in text, key
            # A sentence that is the same in two languages was forgotten.
            assert language == "en" or len(text.split()) <= 3 or text != english[key], key


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


def test_numbers_are_written_as_in_the_language() -> None:
    shown = {"en": "1,234,567.5", "de": "1.234.567,5", "it": "1.234.567,5", "fr": "1 234 567,5"}
    for language, text in shown.items():
        words = load_words("booklet", language)
        assert figure(words, 1234567.5).replace("\N{NO-BREAK SPACE}", " ") == text
        assert figure(words, 3) == "3"
        for key in ("pieces", "challenges", "solutions"):
            assert counted(words, key, 1) != counted(words, key, 2).replace("2", "1")
            assert counted(words, key, 0) == counted(words, key, 2).replace("2", "0")
        words["index"] = "changed"
        assert load_words("booklet", language)["index"] != "changed"
