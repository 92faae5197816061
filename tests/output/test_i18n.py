"""The texts of booklet and page: every language says the same, in letters that the fonts have."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont

from fabkit.core.errors import ExternalError, InputError
from fabkit.output import i18n as module
from fabkit.output.i18n import LANGUAGES, format_count, format_number, load_messages
from fabkit.output.theme import font_path

FOLDER = Path(module.__file__).parent / "messages"
PARTS = sorted({path.name.split(".")[0] for path in FOLDER.glob("*.toml")})


def places(text: str) -> list[str]:
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name)


@pytest.mark.parametrize("part", PARTS)
def test_every_language_says_the_same_in_letters_that_the_fonts_have(part: str) -> None:
    fonts = [TTFont(font_path(bold)).getBestCmap().keys() for bold in (False, True)]
    english = load_messages(part, "en")
    for language in LANGUAGES:
        messages = load_messages(part, language)
        assert {key: places(text) for key, text in messages.items()} == {
            key: places(text) for key, text in english.items()
        }
        for key, text in messages.items():
            assert all(set(map(ord, text)) <= known for known in fonts), key
            assert text.strip() == text or key == "thousands", key
            assert "\n" not in text, key
            # A sentence that is the same in two languages was forgotten.
            assert language == "en" or len(text.split()) <= 3 or text != english[key], key


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        load_messages("booklet", "es\x1b")
    assert str(caught.value) == (
        r'--language: there is no language "es\x1b"; choose from en, de, it, fr'
    )


def test_numbers_are_written_as_in_the_language() -> None:
    expected = {"en": "1,234,567.5", "de": "1.234.567,5", "it": "1.234.567,5", "fr": "1 234 567,5"}
    for language, text in expected.items():
        messages = load_messages("booklet", language)
        assert format_number(messages, 1234567.5).replace("\N{NO-BREAK SPACE}", " ") == text
        assert format_number(messages, 3) == "3"
        for key in ("pieces", "challenges", "solutions"):
            assert format_count(messages, key, 1) != format_count(messages, key, 2).replace(
                "2", "1"
            )
            assert format_count(messages, key, 0) == format_count(messages, key, 2).replace(
                "2", "0"
            )
        messages["page"] = "changed"
        assert load_messages("booklet", language)["page"] != "changed"


def test_missing_messages_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "__file__", str(tmp_path / "i18n.py"))
    with pytest.raises(ExternalError, match=r"no .*booklet\.it\.toml.*reinstall it$"):
        load_messages("booklet", "it")
