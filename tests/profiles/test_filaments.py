"""Filaments: which of a few colours stands for each of a set, and letters that can be read."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path

import pytest

from fabkit.cli.main import main
from fabkit.core.colours import contrast_ratio, difference
from fabkit.core.errors import InputError
from fabkit.model.piece import Piece
from fabkit.profiles.accessory import printables
from fabkit.profiles.filaments import filaments_for
from fabkit.profiles.profile_file import dump_profile, load_profile, preset_names, read_layer
from fabkit.sets.library import load_set, shipped_names

FRIDGEIQ = load_set("fridgeiq")


def cost(colours: list[str], chosen: tuple[str, ...]) -> float:
    return sum(min(difference(colour, filament) for filament in chosen) for colour in colours)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_the_chosen_colours_are_nearly_the_best(count: int) -> None:
    profile = load_profile((), [f"filaments={count}", "board.make=none"])
    chosen = filaments_for(FRIDGEIQ, profile).colours
    assert len(chosen) == count
    colours = [piece.colour for piece in FRIDGEIQ.pieces for _ in range(piece.copies)]
    every = itertools.combinations(dict.fromkeys(colours), count)
    best = min(cost(colours, combination) for combination in every)
    assert cost(colours, chosen) <= 1.02 * best


@pytest.mark.in_turn
@pytest.mark.parametrize("count", ["2", "3", "4", "8", "16"])
@pytest.mark.parametrize("name", shipped_names())
def test_letters_can_be_read_on_every_piece(name: str, count: str) -> None:
    puzzle = load_set(name)
    values = puzzle.profile_values
    profile = load_profile((), [f"filaments={count}", "label.inlay=letter"], values)
    filaments = filaments_for(puzzle, profile)
    assert 2 <= len(filaments.colours) <= int(count)
    for part in printables(puzzle, profile):
        assert part.colour in filaments.colours
        letter = filaments.letter_on(part.colour)
        assert letter in filaments.colours
        assert contrast_ratio(letter, part.colour) >= 3


def test_every_colour_has_a_filament_in_a_project() -> None:
    """All of the set, and white and black for the letters; but not more than a printer can hold."""
    puzzle = load_set("cubimagici")
    options = ["filaments=all", "label.inlay=letter", "board.make=none"]
    filaments = filaments_for(puzzle, load_profile(["a1mini"], options))
    colours = tuple(dict.fromkeys(piece.colour for piece in puzzle.pieces))
    assert filaments.colours[: len(colours)] == colours
    assert set(filaments.colours[len(colours) :]) <= {"#ffffff", "#000000"}
    plain = load_profile(["a1mini"], ["filaments=all", "board.make=none"])
    assert len(filaments_for(FRIDGEIQ, plain).colours) == 16
    with pytest.raises(InputError, match="would be 18, one for each colour"):
        filaments_for(FRIDGEIQ, load_profile(["a1mini"], options))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["filaments=1", "cell.tones=inlay"], "is a single colour"),
        (["filaments=#ffffff, #fefefe", "label.inlay=letter"], "can be read on #f"),
    ],
)
def test_filaments_that_cannot_show_what_is_inlaid(options: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        filaments_for(load_set("cubimagici"), load_profile((), options))


def test_printers_replace_each_other() -> None:
    """A printer states all that any of them states."""
    keys = [set(read_layer(name)) for name in preset_names("printers")]
    assert all(stated == keys[0] for stated in keys)
    last = load_profile(["p1s", "mk4s"])
    assert replace(last, name="", title="") == replace(load_profile(["mk4s"]), name="", title="")
    assert load_profile(["a1mini", "default"]).name == "default"


def test_without_filaments_parts_keep_their_colours() -> None:
    profile = load_profile()
    assert filaments_for(FRIDGEIQ, profile).colours == ()
    pieces = [part for part in printables(FRIDGEIQ, profile) if isinstance(part, Piece)]
    assert [piece.colour for piece in pieces] == [piece.colour for piece in FRIDGEIQ.pieces]


def test_a_list_names_parts_and_the_others_get_the_nearest_colour(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('filaments = ["#FF0000: A B", "#00ff00", "#0000ff:T"]')
    profile = load_profile([str(file)])
    assert profile.filaments == "#ff0000: A B, #00ff00, #0000ff: T"
    file.write_text(dump_profile(profile))
    assert load_profile([str(file)]).filaments == profile.filaments
    colours = {part.id: part.colour for part in printables(FRIDGEIQ, profile)}
    assert (colours["A"], colours["B"], colours["T"]) == ("#ff0000", "#ff0000", "#0000ff")
    for piece in FRIDGEIQ.pieces:
        if piece.id not in ("A", "B", "T"):
            nearest = min(
                ("#ff0000", "#00ff00", "#0000ff"), key=lambda c: difference(c, piece.colour)
            )
            assert colours[piece.id] == nearest


@pytest.mark.integration
def test_plates_of_one_colour_each(tmp_path: Path) -> None:
    options = ["-s", "filaments=3", "-s", "plate.colours=single", "-q"]
    options += ["-s", "recess.fit=none", "-s", "label.faces=none"]
    assert main(["plate", "fridgeiq", "-o", str(tmp_path), "-p", "mini", *options]) == 0
    plates = json.loads((tmp_path / "plates" / "plates.json").read_text())
    assert plates["tower_mm"] == 0
    colours = [{piece["colour"] for piece in plate["pieces"]} for plate in plates["plates"]]
    assert len(colours) == 3
    assert all(len(of_plate) == 1 for of_plate in colours)
    assert len(set().union(*colours)) == 3
    assert sum(len(plate["pieces"]) for plate in plates["plates"]) == 16


@pytest.mark.integration
def test_plates_of_chosen_pieces(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["plate", "fridgeiq", "-o", str(tmp_path), "--json"]
    assert main([*command, "--piece", "A", "--piece", "B"]) == 0
    some = json.loads(capsys.readouterr().out)
    assert sorted(piece["piece"] for piece in some["plates"][0]["pieces"]) == ["A", "B"]
    assert some["warnings"] == []
    assert main([*command, "--piece", "A", "--piece", "B"]) == 0
    assert json.loads(capsys.readouterr().out)["written"] == 0
    assert main(command) == 0
    every = json.loads(capsys.readouterr().out)
    assert len(every["plates"][0]["pieces"]) == 16


@pytest.mark.integration
def test_pictures_keep_the_colours_of_the_set(tmp_path: Path) -> None:
    """Also of chequered pieces on a printer with a single filament."""
    pictures = []
    for options in ([], ["-p", "ender3"]):
        path = tmp_path / f"{len(options)}.png"
        command = ["picture", "cubimagici", "-o", str(path), "-q", "--size", "160x120"]
        assert main([*command, *options]) == 0
        pictures.append(path.read_bytes())
    assert pictures[0] == pictures[1]
