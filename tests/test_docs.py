"""What the README says exists and works: commands, options, files, examples."""

from __future__ import annotations

import ast
import re
import shlex
import tomllib
from pathlib import Path

import pytest
from typer.main import get_command

from fabkit.cli import main
from fabkit.cli.main import app
from fabkit.core.errors import to_install
from fabkit.model.catalog import catalog_entries
from fabkit.model.library import load_set, shipped_names
from fabkit.model.profilefile import load_profile, preset_names
from tests.conftest import ROOT

README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, re.DOTALL)
#: What stands outside of blocks.
TEXT = re.sub(r"```.*?```", "", README, flags=re.DOTALL)
#: Every command that there is, with its options.
COMMANDS_THERE = {
    name: {option for one in command.params for option in (*one.opts, *one.secondary_opts)}
    for name, command in get_command(app).commands.items()
}
#: The options of the program itself.
PROGRAM_OPTIONS = {option for one in get_command(app).params for option in one.opts}
#: Results that one command counts: what the table tells, and the command.
COUNTED = re.findall(
    r"^\|[^|]*\| ([^|]*) \| `(fabkit solve \S+(?: \S+)? --count)`", README, re.MULTILINE
)
#: Every command of every block in order, with what stands behind the hash.
COMMANDS = [
    (command.strip(), comment)
    for kind, text in BLOCKS
    if kind == "sh"
    for line in text.splitlines()
    for command, _, comment in [line.partition("#")]
    if command.startswith("fabkit ")
]
#: Commands of which each takes a second or two; so do these, unless they read what others write.
QUICK = ("sets", "show", "profiles", "solve", "certify", "bom", "export-svg")


def is_quick(command: str) -> bool:
    return command.split()[1] in QUICK and not re.search("output/|proofs/", command)


@pytest.fixture
def examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the README's TOML files, under the names in their first lines."""
    for kind, text in BLOCKS:
        if kind == "toml":
            name = text.splitlines()[0].removeprefix("# ")
            (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_all(commands: list[tuple[str, str]], capsys: pytest.CaptureFixture[str]) -> None:
    """One after the other in one folder, since some read what others wrote."""
    for command, comment in commands:
        expected = 1 if "exit code 1" in comment else 0
        line, _, into = command.partition(" > ")
        capsys.readouterr()
        assert main(shlex.split(line)[1:]) == expected, (command, capsys.readouterr().err)
        if into:
            Path(into).write_text(capsys.readouterr().out)


@pytest.mark.integration
def test_quick_commands_run_in_order(examples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    quick = [one for one in COMMANDS if is_quick(one[0]) and "--count" not in one[0]]
    assert len(quick) > 18
    run_all(quick, capsys)


@pytest.mark.integration
def test_all_commands_run_in_order(examples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    several = [one for one in COMMANDS if "proofs" not in one[0] and "minutes" not in one[1]]
    run_all(several, capsys)


@pytest.mark.long
def test_commands_that_take_minutes(examples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_all([one for one in COMMANDS if "proofs" in one[0] or "minutes" in one[1]], capsys)


def test_extras_are_installed_as_the_texts_say() -> None:
    """From a clone, by names that there are: no index holds fabkit."""
    there = set(
        tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    )
    sources = "".join(path.read_text() for path in (ROOT / "fabkit").rglob("*.py"))
    named = set(re.findall(r"to_install\([\"'](\w+)", sources))
    assert named == {"engines", "cluster"} < there - {"nest"} < there
    for text in (README, sources):
        assert "fabkit-puzzles[" not in text
        for extras in re.findall(r"'\.\[([\w,]+)\]'", text):
            assert set(extras.split(",")) <= there
    installs = re.findall(r"pip install .*?'\.\[[\w,]+\]'", README)
    assert len(installs) == 2
    assert to_install("nest").endswith(
        ("pip install '.[nest]'", ".venv/bin/pip install -e '.[nest]'")
    )


def test_the_counts_in_comments_are_right(capsys: pytest.CaptureFixture[str]) -> None:
    (line, comment) = next(one for one in COMMANDS if "--count" in one[0])
    main(shlex.split(line)[1:])
    assert comment.strip() in capsys.readouterr().out


def test_every_command_and_option_exists() -> None:
    """Whatever is named in the text, outside blocks: `fabkit COMMAND …` with options of its own."""
    assert [name for name in COMMANDS_THERE if not re.search(rf"\b{name}\b", README)] == []
    every = {option for options in COMMANDS_THERE.values() for option in options}
    for quoted in re.findall(r"`([^`\n]+)`", TEXT):
        words = quoted.split()
        options = [word.split("=")[0] for word in words if re.match("--?[a-z]", word)]
        if words[0] == "fabkit" and words[1:]:
            assert words[1] in {*COMMANDS_THERE, *PROGRAM_OPTIONS}, quoted
            assert set(options) <= COMMANDS_THERE.get(words[1], PROGRAM_OPTIONS), quoted
        elif quoted.startswith("-"):
            assert set(options) <= {*every, *PROGRAM_OPTIONS, "--help", "--long"}, quoted


@pytest.mark.parametrize("row", COUNTED, ids=lambda row: shlex.split(row[1])[2])
def test_the_results_are_right(
    row: tuple[str, str], examples: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told, command = row
    assert main(shlex.split(command)[1:]) == 0
    number = re.findall(r"[\d,]+", told)[0]
    assert f": {number} solutions" in capsys.readouterr().out


def test_the_numbers_in_the_text_are_right() -> None:
    fridgeiq = load_set("fridgeiq")
    assert len(fridgeiq.challenges) == 41
    assert "41 box challenges" in README
    assert "21 magnets of 10 x 3 mm" in README
    entries = catalog_entries(fridgeiq)
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


@pytest.mark.parametrize("name", preset_names())
def test_the_profile_table_tells_the_truth(name: str) -> None:
    assert all(f"| `{one}` |" in README for one in shipped_names())
    row = next(line for line in README.splitlines() if line.startswith(f"| `{name}` |"))
    profile = load_profile([name])
    magnet = f"{profile.magnet_diameter_mm:g} x {profile.magnet_height_mm:g} mm"
    for text in (f"{profile.unit_mm:g} mm", f"{profile.thickness_mm:g} mm", magnet):
        assert text in row


def test_files_that_are_named_exist() -> None:
    named = set(re.findall(r"`?((?:scripts|\.ci)/[a-z-]+)", README))
    assert {"scripts/fabkit", "scripts/test"} <= named
    assert all((ROOT / name).exists() for name in named), named
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
        "print the coupon first",
        "output/fridgeiq/stl",
    ):
        assert text in first, text
