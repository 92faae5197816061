"""The commands: what they print, what scripts get, and the exit codes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fabkit import __version__
from fabkit.cli import main
from fabkit.cli.main import parser
from fabkit.profiles.profile_file import layer_groups, layer_names, load_profile, preset_names
from fabkit.sets.library import load_set, shipped_names

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")


def out(capsys: Capture, *arguments: str) -> str:
    assert main(arguments) == 0
    return capsys.readouterr().out


def test_version(capsys: Capture) -> None:
    assert out(capsys, "--version") == f"fabkit {__version__}\n"


COMMANDS = parser().commands
MINE = """name = "mine"
lattice = "square"
moves = "rotations"
[[piece]]
id = "I"
cells = [[0, 0], [0, 1]]
"""


def test_help_names_every_command_in_its_group(capsys: Capture) -> None:
    text = out(capsys, "--help")
    for command in COMMANDS:
        assert re.search(rf"^│ {command} +[A-Z][^│]*[.a-z,] +│$", text, re.MULTILINE), command
    groups = "Options Design Look Make Print Check Solve Challenges Play"
    assert re.findall(r"^╭─ (\w+) ─", text, re.MULTILINE) == groups.split()


@pytest.mark.parametrize("command", [*COMMANDS, "profiles dump"])
def test_help_is_plain_text_of_80_columns(command: str, capsys: Capture) -> None:
    text = out(capsys, *command.split(), "--help")
    assert max(map(len, text.splitlines())) <= 80
    assert not re.search(r"<\w+>|[{}]|\(chosen\)|\bTEXT\b|\[default", text), text
    assert re.search(rf"Usage: fabkit {command} \[OPTIONS\]", text)


@pytest.mark.parametrize(
    ("words", "proposed"),
    [
        ("solve f", ["fridgeiq"]),
        ("show iqfit -p c", ["compact", "core-one"]),
        ("solve iqfit --engine c", ["count", "cp-sat"]),
        ("exp", [f"export-{kind}" for kind in ("stl", "step", "3mf", "dxf", "svg")]),
        ("bom fridgeiq --fo", ["--force"]),
    ],
)
def test_a_shell_completes(
    words: str, proposed: list[str], capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_FABKIT_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", f"fabkit {words}")
    monkeypatch.setenv("COMP_CWORD", str(len(words.split())))
    with pytest.raises(SystemExit) as end:
        main([])
    assert end.value.code == 0
    assert capsys.readouterr().out.split() == proposed


def test_no_arguments_print_help(capsys: Capture) -> None:
    assert main([]) == 2
    captured = capsys.readouterr()
    assert "export-stl" in captured.out + captured.err


def test_sets_lists_every_shipped_set(capsys: Capture) -> None:
    lines = out(capsys, "sets").splitlines()
    named = [line.split()[0] for line in lines[1:] if not line.endswith(":")]
    assert sorted(named) == shipped_names()
    assert "calendars and dice:" in lines
    fridgeiq = next(line for line in lines if line.startswith("fridgeiq"))
    assert fridgeiq.split()[1:5] == ["FridgeIQ", "16", "2", "41"]


@pytest.mark.in_turn
@pytest.mark.parametrize("name", shipped_names())
def test_show_draws_every_set(name: str, capsys: Capture, tmp_path: Path) -> None:
    assert "Wrote new/pieces.svg" in out(capsys, "show", name, "-o", "new/pieces.svg")
    assert (tmp_path / "new/pieces.svg").read_text().startswith("<svg")
    document = json.loads(out(capsys, "show", name, "--json"))
    assert [row["piece"] for row in document["pieces"]] == [p.id for p in load_set(name).pieces]
    assert all(area > 0 for row in document["pieces"] for area in row["area"])


def test_profiles_lists_every_preset(capsys: Capture) -> None:
    first_words = [line.split()[0] for line in out(capsys, "profiles").splitlines() if line]
    groups = [word for group, names in layer_groups().items() for word in (group, *names)]
    assert first_words == ["profile", *preset_names(), *groups]
    document = json.loads(out(capsys, "profiles", "--json"))
    assert document["profiles"][0]["magnet.diameter"] == 10
    layers = {layer["name"]: layer for layer in document["layers"]["magnets"]}
    assert layers["magnet-8x3"] == {
        "name": "magnet-8x3",
        "title": "magnet 8 x 3 mm",
        "magnet.diameter": 8,
        "magnet.height": 3,
    }


def test_magnets_are_named_for_their_size() -> None:
    for name in preset_names("magnets"):
        profile = load_profile(["petg", name])
        assert name == f"magnet-{profile.magnet_diameter_mm:g}x{profile.magnet_height_mm:g}"
        assert profile.press_mm == load_profile(["petg"]).press_mm


@pytest.mark.every(2)
@pytest.mark.parametrize("name", layer_names())
def test_a_dumped_profile_is_the_same_profile(name: str, capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(out(capsys, "profiles", "dump", name))
    named = json.loads(out(capsys, "profiles", "dump", name, "--json"))
    read = json.loads(out(capsys, "profiles", "dump", "mine.toml", "--json"))
    assert {**named, "name": ""} == {**read, "name": ""}


def test_later_profiles_and_settings_win(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "thin.toml").write_text('thickness = "4.6 mm"\n')
    arguments = ["-p", "compact", "-p", "thin.toml", "-s", "unit=0.5in", "-s", "unit=13 mm"]
    document = json.loads(out(capsys, "profiles", "dump", *arguments, "--json"))
    assert document["unit"] == 13
    assert document["thickness"] == 4.6
    assert document["magnet.diameter"] == 6
    assert document["name"] == "compact+thin"
    assert document["title"].startswith(f"{load_profile(['compact']).title} + thin; changed: ")


MADE_THIN = """
[set]
name = "mine"
lattice = "square"
moves = "rotations"

[profile]
unit = "16 mm"
thickness = "4 mm"
recess.fit = "none"

[[piece]]
id = "A"
rows = ["XX"]
"""


def test_profiles_and_settings_override_how_a_set_is_made(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "thick.toml").write_text('thickness = "9 mm"\n')
    (tmp_path / "mine.toml").write_text(MADE_THIN)

    def made(*arguments: str) -> list[Any]:
        command = ["profiles", "dump", "--for", "mine.toml", "--json"]
        document = json.loads(out(capsys, *command, *arguments))
        return [document[key] for key in ("unit", "thickness", "recess.fit")]

    assert made() == [16, 4, "none"]
    assert made("-p", "thick.toml") == [16, 9, "none"]
    glued = made("-p", "thick.toml", "-s", "thickness=8 mm", "-s", "recess.fit=glue")
    assert glued == [16, 8, "glue"]
    assert made("default") == [20, 7, "press"]
    show = ["show", "mine.toml", "--json"]
    stated = {"unit": "16 mm", "thickness": "4 mm", "recess.fit": "none"}
    assert json.loads(out(capsys, *show))["profile"] == stated


def test_tray_games_have_no_magnets_and_say_how_to_have_them(capsys: Capture) -> None:
    for name in ("iqblock", "cubimagici"):
        assert "for magnets, add -s recess.fit=press" in out(capsys, "show", name)
    piece = ("export-stl", "iqblock", "--piece", "0")
    assert "magnet" not in out(capsys, *piece)
    assert "10 x 3 mm in 1 piece, press fit" in out(capsys, *piece, "-s", "recess.fit=press")


def test_export_says_what_it_did(capsys: Capture, tmp_path: Path) -> None:
    text = out(capsys, "export-stl", "fridgeiq", "--piece", "D", "--piece", "L")
    wrote, magnets = text.splitlines()
    assert re.fullmatch(r"Wrote 2 STL files to output/fridgeiq \(\d+\.\d s\)", wrote)
    assert magnets == "3 magnets 10 x 3 mm in 2 pieces, press fit"
    assert (tmp_path / "output/fridgeiq/stl/L.stl").exists()
    text = out(capsys, "export-stl", "fridgeiq", "--piece", "D", "-v")
    assert text.startswith("Kept  output/fridgeiq/stl/D.stl\nAlready up to date: 1 STL file in")
    assert out(capsys, "export-stl", "fridgeiq", "--piece", "D", "-q") == ""


def test_export_as_json_keeps_standard_output_clean(capsys: Capture) -> None:
    assert main(["export-stl", "fridgeiq", "--piece", "D", "-p", "flippable", "--json"]) == 0
    captured = capsys.readouterr()
    document = json.loads(captured.out)
    assert document["files"]["stl/D.stl"]["written"] is True
    assert document["pieces"]["D"]["pause_height_mm"] == 4.2
    assert document["pause_heights_mm"] == [4.2]
    assert "Pause the print at 4.2 mm" in captured.err


def test_the_set_s_own_unit_yields_to_the_user(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(f'[set]\nunit = "25 mm"\n{MINE}')
    assert "unit 25 mm" in out(capsys, "show", "mine.toml")
    assert "unit 12 mm" in out(capsys, "show", "mine.toml", "-p", "compact")
    assert "unit 30 mm" in out(capsys, "show", "mine.toml", "-s", "unit=30 mm")


#: A start on the board of IQ Block.
START = '{"given": [{"piece": "0", "cells": [0, 1, 2, 3, 8, 9, 10, 11]}]}'


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["picture", "iqblock", "-o", "taken/a.png"], 2, '-o: "taken" is a file; expected a folder'),
        (["cards", "iqblock", "--file", "start.json", "-o", "taken"], 2, '-o: "taken" is a file; expected a folder'),
        (["cards", "iqblock", "../start", "--file", "start.json"], 2, 'there is no challenge "../start"; choose from start; did you mean "start"?'),
        (["cards", "iqblock", "[red]x[/red]", "--file", "start.json"], 2, 'there is no challenge "[red]x[/red]"; choose from start'),
        (["cards", "mine.toml"], 2, "mine: has no starting positions; name a challenge"),
        (["picture", "mine.toml", "-o", "a.png"], 2, "mine: has no challenge and no board; describe a challenge in a file (--file)"),
    ],
)  # fmt: skip
def test_what_pictures_and_cards_cannot_be_made_of(
    arguments: list[str], code: int, message: str, capsys: Capture, tmp_path: Path
) -> None:
    (tmp_path / "taken").touch()
    (tmp_path / "start.json").write_text(START)
    (tmp_path / "mine.toml").write_text(f"[set]\n{MINE}")
    before = sorted(tmp_path.rglob("*"))
    assert main(arguments) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"fabkit: {message}")
    assert captured.err.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device /dev/full")
def test_output_that_cannot_be_written_is_reported() -> None:
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            [sys.executable, "-m", "fabkit", "sets"],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert result.returncode == 3
    assert result.stderr == "fabkit: cannot write the output: the disk is full\n"


@pytest.mark.every(4)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device /dev/full")
@pytest.mark.parametrize("where", ["2>/dev/full", "2>&-", ">&-", "2>&1 >/dev/null | true"])
def test_work_is_done_even_if_nobody_can_read_of_it(where: str, tmp_path: Path) -> None:
    command = f"{sys.executable} -m fabkit export-svg fridgeiq --piece D {where}"
    assert subprocess.run(["bash", "-c", command], capture_output=True, check=False).returncode == 0
    assert (tmp_path / "output/fridgeiq/manifest.json").exists()


def test_a_title_that_the_terminal_cannot_show_is_spelt_out(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(f'[set]\ntitle = "Größe"\n{MINE}', encoding="utf-8")
    result = subprocess.run(
        [sys.executable, "-m", "fabkit", "show", "mine.toml"],
        capture_output=True, text=True, check=True, env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert r"Gr\xf6\xdfe: 1 piece" in result.stdout


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = f"{sys.executable} -m fabkit sets | true"
    result = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0
    assert result.stderr == ""
