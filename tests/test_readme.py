"""What the README says exists and works: commands, options, files, examples."""

from __future__ import annotations

import ast
import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

from fabkit.cli import main
from fabkit.cli.main import app
from fabkit.core.files import json_text
from fabkit.model.catalog import catalog_entries
from fabkit.model.challengeload import find_challenge
from fabkit.model.library import load_set, shipped_names
from fabkit.model.profilefile import load_profile, preset_names
from fabkit.solve.posing import pose
from fabkit.solve.transcript import certificate
from tests.conftest import ROOT

PROOF = json_text(
    certificate(pose(load_set("iqstars"), find_challenge(load_set("iqstars"), None)), "count")
)
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, re.DOTALL)


#: Commands of which each takes a second or two.
QUICK = ("sets", "show", "profiles", "solve", "certify", "bom", "booklet", "export-svg")
#: What stands outside of blocks.
TEXT = re.sub(r"```.*?```", "", README, flags=re.DOTALL)
#: Every command that there is, with its options.
COMMANDS_THERE = {
    name: {option for one in command.params for option in one.opts}
    for name, command in get_command(app).commands.items()
}
#: Results that one command counts: what the table tells, and the command.
COUNTED = re.findall(
    r"^\|[^|]*\| ([^|]*) \| `(fabkit solve \S+(?: \S+)? --count)`", README, re.MULTILINE
)


#: The lines of each block of commands, with what stands behind the hash.
COMMANDS = [
    [
        (command.strip(), comment)
        for line in text.splitlines()
        for command, _, comment in [line.partition("#")]
        if command.strip()
    ]
    for kind, text in BLOCKS
    if kind == "sh"
]


@pytest.fixture
def examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the README's TOML files, under the names in their first lines."""
    for kind, text in BLOCKS:
        if kind == "toml":
            name = text.splitlines()[0].removeprefix("# ")
            (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def taking_its_time(block: list[tuple[str, str]]) -> object:
    """A block of commands; as a long test where the README says that it takes minutes.

    Slow are half a minute, and exports, searches and what is read back from meshes: they have tests of their own.
    """
    if any("takes minutes" in comment for _, comment in block):
        return pytest.param(block, marks=pytest.mark.long)
    slow = any("takes half a minute" in comment for _, comment in block)
    slow = slow or any(line.split()[1] not in QUICK for line, _ in block)
    return pytest.param(block, marks=pytest.mark.long) if slow else block


@pytest.mark.parametrize(
    "block", [taking_its_time(b) for b in COMMANDS if b[0][0].startswith("fabkit")]
)
def test_every_command_runs(
    block: list[tuple[str, str]], examples: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One after the other, since some read what others wrote."""
    (examples / "proof.json").write_text(PROOF)
    for line, comment in block:
        expected = 1 if "exit code 1" in comment else 0
        assert main(shlex.split(line)[1:]) == expected, (line, capsys.readouterr().err)


def test_the_counts_in_comments_are_right(capsys: pytest.CaptureFixture[str]) -> None:
    (line, comment) = next(one for block in COMMANDS for one in block if "--count" in one[0])
    main(shlex.split(line)[1:])
    assert comment.strip() in capsys.readouterr().out


def test_every_script_exists() -> None:
    named = set(re.findall(r"`?((?:scripts|\.ci)/[a-z-]+)", README))
    assert {"scripts/fabkit", "scripts/test"} <= named
    assert all((ROOT / name).exists() for name in named), named


def test_every_command_has_its_place_in_the_text() -> None:
    for name in COMMANDS_THERE:
        assert re.search(rf"\b{name}\b", README), name


def test_every_command_and_option_exists() -> None:
    """Whatever is named in the text, outside blocks: `fabkit COMMAND …` with options of its own."""
    every = {option for options in COMMANDS_THERE.values() for option in options}
    for quoted in re.findall(r"`([^`\n]+)`", TEXT):
        words = quoted.split()
        options = [word.split("=")[0] for word in words if re.match("--?[a-z]", word)]
        if words[0] == "fabkit" and words[1:]:
            assert words[1] in {*COMMANDS_THERE, "--version"}, quoted
            assert set(options) <= COMMANDS_THERE.get(words[1], every), quoted
        elif quoted.startswith("-"):
            assert set(options) <= {*every, "--help", "--long"}, quoted


@pytest.mark.parametrize("row", COUNTED, ids=lambda row: shlex.split(row[1])[2])
def test_the_results_are_right(
    row: tuple[str, str], examples: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told, command = row
    assert main(shlex.split(command)[1:]) == 0
    number = re.findall(r"[\d,]+", told)[0]
    assert f": {number} solutions" in capsys.readouterr().out


def test_the_catalog_is_as_large_as_the_text_says() -> None:
    entries = catalog_entries(load_set("fridgeiq"))
    turned = sum(not entry["flips"] for entry in entries)
    assert f"| {turned}, and no other on the infinite plane" in README
    assert f"| {len(entries)}, and no other |" in README


@pytest.mark.parametrize("text", [text for kind, text in BLOCKS if kind == "python"])
def test_every_notebook_shows_something(text: str) -> None:
    """Each line that is an expression shows itself, as the last line of a cell would."""
    names: dict[str, object] = {}
    shown = 0
    for line in ast.parse(text).body:
        if isinstance(line, ast.Expr):
            value = eval(compile(ast.Expression(line.value), "README", "eval"), names)
            assert value._repr_svg_().startswith("<svg")
            shown += 1
        else:
            exec(compile(ast.Module([line], []), "README", "exec"), names)
    assert shown


def test_tables_name_every_set_and_profile() -> None:
    for name in [*shipped_names(), *preset_names()]:
        assert f"| `{name}` |" in README


@pytest.mark.parametrize("name", preset_names())
def test_the_profile_table_tells_the_truth(name: str) -> None:
    row = next(line for line in README.splitlines() if line.startswith(f"| `{name}` |"))
    profile = load_profile([name])
    magnet = f"{profile.magnet_diameter_mm:g} x {profile.magnet_height_mm:g} mm"
    for text in (f"{profile.unit_mm:g} mm", f"{profile.thickness_mm:g} mm", magnet):
        assert text in row


def test_the_numbers_in_the_text_are_right() -> None:
    fridgeiq = load_set("fridgeiq")
    assert len(fridgeiq.challenges) == 41
    assert "41 box challenges" in README
    assert "21 magnets of 10 x 3 mm" in README


def test_pictures_and_rooms_exist() -> None:
    for path in re.findall(r"\]\((output/[^)]+)\)", README):
        assert (ROOT / path).is_file(), path
    for room in re.findall(r"\| `(fabkit/[a-z.]+|pieces)` \|", README):
        assert (ROOT / room).exists(), room


def test_the_first_screen_has_what_it_must() -> None:
    first = "\n".join(README.splitlines()[:45])
    for text in (
        "scripts/fabkit export-stl fridgeiq",
        "scripts/test",
        "output/gallery/snowflake.png",
        "dangerous when swallowed",
        "No print has been made by this project",
        "print the gauge first",
        "output/fridgeiq/stl",
    ):
        assert text in first, text
