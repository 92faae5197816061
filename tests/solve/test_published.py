"""What others have published of clues, dates and dice, asked on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fabkit.cli import main
from fabkit.sets.library import load_set
from tests.conftest import ROOT
from tests.support.published import facts, known_counts

Capture = pytest.CaptureFixture[str]

CALENDAR = str(ROOT / "tests" / "sets" / "calendar.toml")
#: Row and column of each socket of IQ Stars by its number.
SOCKETS = [[row, col] for row, length in enumerate((7, 6, 7, 6)) for col in range(length)]
SINGLE_STARS = [fact for fact in facts("iqstars-book")["all"] if fact["single_stars"]]
ROLLS = facts("dicesquare")["counts"]


def answer_to(capsys: Capture, *arguments: str) -> dict[str, Any]:
    main(["solve", *arguments, "--json"])
    return json.loads(capsys.readouterr().out)


def with_stars(file: Path, kind: str, stars: list[tuple[str, int]]) -> list[str]:
    """The arguments for a challenge that states the piece or the colour on each of some cells."""
    iqstars = load_set("iqstars")
    stated = {
        "piece": {piece.id: {"piece": piece.id} for piece in iqstars.pieces},
        "colour of a piece": {piece.id: {"colour": piece.id} for piece in iqstars.pieces},
        "colour": {piece.id: {"colour": piece.colour} for piece in iqstars.pieces},
    }[kind]
    clues = [{"cells": [number], **stated[piece]} for piece, number in stars]
    file.write_text(json.dumps({"board": "board", "clue": clues}))
    return ["iqstars", "--file", str(file)]


@pytest.mark.parametrize("kind", ["piece", "colour of a piece", "colour"])
def test_single_stars_lead_to_the_published_solution_only(
    kind: str, tmp_path: Path, capsys: Capture
) -> None:
    assert len(SINGLE_STARS) == 8
    certificate = str(tmp_path / "certificate.json")
    for fact in SINGLE_STARS:
        asked = with_stars(tmp_path / f"stars-{fact['number']}.json", kind, fact["single_stars"])
        answer = answer_to(capsys, *asked, "--all")
        assert [answer["count"], answer["unique"]] == [fact["n_solutions"], True]
        (solution,) = answer["solutions"]
        assert {piece: sorted(cells) for piece, cells in solution.items()} == {
            piece: sorted(SOCKETS[number] for number in numbers)
            for piece, numbers in fact["solution"].items()
        }
        assert answer_to(capsys, *asked, "--unique", "--certificate", certificate)["unique"]
        assert main(["certify", certificate, "-q"]) == 0
        capsys.readouterr()


def test_no_single_star_is_enough(tmp_path: Path, capsys: Capture) -> None:
    """The cell where none can be, and the one that leaves the fewest solutions."""
    stated = facts("known-counts")["iqstars"]["single_star_clue"]
    (impossible,) = stated["impossible"]
    (fewest,) = stated["attained_by"]
    for star, count in ((impossible, 0), (fewest, stated["min_fillings"])):
        for kind in ("piece", "colour"):
            asked = with_stars(tmp_path / "star.json", kind, [(star["colour"], star["cell"])])
            assert answer_to(capsys, *asked, "--count")["count"] == count


def test_stars_of_all_colours_on_one_cell_share_all_fillings(
    tmp_path: Path, capsys: Capture
) -> None:
    fillings = 0
    for piece in load_set("iqstars").pieces:
        asked = with_stars(tmp_path / "star.json", "colour", [(piece.id, 9)])
        fillings += answer_to(capsys, *asked, "--count")["count"]
    assert fillings == known_counts("iqstars")["complete_fillings"]


@pytest.mark.parametrize(
    "rolls", [ROLLS[::5], pytest.param(ROLLS, marks=pytest.mark.integration)], ids=["some", "all"]
)
def test_rolls_have_the_published_numbers_of_solutions(
    rolls: list[tuple[list[str], int]], tmp_path: Path, capsys: Capture
) -> None:
    certificate = str(tmp_path / "certificate.json")
    for cells, count in rolls:
        asked = ["dicesquare", "-".join(["roll", *cells]), "--count"]
        is_short = count == min(count for _, count in rolls)
        proof = ["--certificate", certificate] if is_short else []
        assert answer_to(capsys, *asked, *proof)["count"] == count
    assert main(["certify", certificate, "-q"]) == 0


def test_the_dice_are_those_published() -> None:
    published = facts("dicesquare")
    (family,) = load_set("dicesquare").families
    assert [[face.text for face in die] for die in family.groups] == published["dice"]
    assert len(family) == published["rolls"]


def test_counts_of_dates_are_certified(tmp_path: Path, capsys: Capture) -> None:
    counts = facts("calendar")["counts"]
    certificate = str(tmp_path / "certificate.json")
    for date in ("oct-6", "jan-25", "feb-29"):
        asked = [CALENDAR, date, "--count", "--certificate", certificate]
        assert answer_to(capsys, *asked)["count"] == counts[date]
        assert main(["certify", certificate, "--set", CALENDAR, "-q"]) == 0
        capsys.readouterr()
