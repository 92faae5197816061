"""JSON schemas: shipped as the command prints them, and of one mind with the readers."""

from __future__ import annotations

import json
import random
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import tomli_w

from fabkit.cli import main
from fabkit.core.errors import InputError
from fabkit.profiles.profile_file import load_profile
from fabkit.sets.challenge_file import read_challenges
from fabkit.sets.challenge_tables import ChallengeFile
from fabkit.sets.library import SCHEMAS, load_set, schema_of, shipped_folder, shipped_names
from fabkit.sets.set_file import read_set
from tests.conftest import ROOT
from tests.support.docpages import PAGES
from tests.support.mutations import mutated
from tests.test_bad import text_of

if TYPE_CHECKING:
    from jsonschema import Draft7Validator

PRESETS = ROOT / "fabkit" / "profiles" / "presets"
FILES = {kind: shipped_folder() / "schema" / f"{kind}.schema.json" for kind in SCHEMAS}
FILES["profile"] = PRESETS / "profile.schema.json"


@cache
def validator(kind: str) -> Draft7Validator:
    from jsonschema import Draft7Validator

    return Draft7Validator(schema_of(kind))


def faults(kind: str, text: str) -> list[str]:
    """What the schema has against a TOML file."""
    return [error.message for error in validator(kind).iter_errors(tomllib.loads(text))]


@pytest.mark.parametrize("kind", SCHEMAS)
def test_the_shipped_schemas_are_what_the_command_prints(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from jsonschema import Draft7Validator

    assert main(["schema", kind]) == 0
    output = capsys.readouterr().out
    again = f"fabkit schema {kind} > {FILES[kind]}"
    assert FILES[kind].read_text(encoding="utf-8") == output, again
    Draft7Validator.check_schema(json.loads(output))
    if kind == "profile":
        magnet = json.loads(output)["$defs"]["magnet"]["properties"]
        assert magnet["diameter"]["description"] == "diameter of a magnet"


def test_every_shipped_file_names_its_schema_and_keeps_to_it() -> None:
    shipped = [(shipped_folder() / f"{name}.toml", "set") for name in shipped_names()]
    shipped += [(path, "profile") for path in PRESETS.rglob("*.toml")]
    for path, kind in shipped:
        text = path.read_text(encoding="utf-8")
        named = text.splitlines()[0].removeprefix("#:schema ")
        assert (path.parent / named).samefile(FILES[kind])
        assert faults(kind, text) == [], path.name


def test_every_file_in_the_docs_keeps_to_its_schema_and_is_read(tmp_path: Path) -> None:
    kinds, path = set(), tmp_path / "mine.toml"
    blocks = (one for page in PAGES for one in page.blocks)
    for text in (text for kind, text in blocks if kind == "toml"):
        document = tomllib.loads(text)
        keys = document.keys()
        path.write_text(text)
        if isinstance(document.get("set"), str):  # a list
            assert read_challenges(path, load_set(document["set"]))
            for challenge in document["challenge"]:
                assert faults("challenge", tomli_w.dumps(challenge)) == []
            continue
        of_challenge = keys & ChallengeFile.model_fields.keys()
        kind = "set" if "set" in keys else "challenge" if of_challenge else "profile"
        assert faults(kind, text) == []
        if kind != "challenge":  # which `tests/test_docs.py` solves
            load_set(str(path)) if kind == "set" else load_profile([str(path)])
        kinds.add(kind)
    assert kinds == set(SCHEMAS)


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("set", "key-misspelt-in-piece drawn-twice drawn-not-at-all lattice-abbreviated area-is-a-text "
                "label-too-long id-with-slash count-zero unit-without-unit board-size-huge "
                "set-missing "
                "cut-without-rows cut-cells-and-rows cut-colour-unknown"),
        ("profile", "choice-unknown length-without-unit length-as-number key-misspelt table-is-a-text"),
        ("challenge", "iqblock-flips-is-a-text iqblock-pieces-count-zero iqblock-key-misspelt"),
    ],
)  # fmt: skip
def test_editors_see_what_needs_no_geometry(kind: str, names: str) -> None:
    unseen = [name for name in names.split() if not faults(kind, text_of(kind, name))]
    assert unseen == []


def test_the_schema_is_no_stricter_than_the_reader(tmp_path: Path) -> None:
    content, path = (shipped_folder() / "iqstars.toml").read_bytes(), tmp_path / "mutated.toml"
    read = 0
    for seed in range(60):
        path.write_bytes(mutated(content, random.Random(f"schema {seed}")))
        try:
            read_set(path)
        except InputError:
            continue
        read += 1
        assert faults("set", path.read_text(encoding="utf-8")) == [], seed
    assert read
