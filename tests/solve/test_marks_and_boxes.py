"""Marks, forms and separate boxes: solver and checker agree, and huge groups are not listed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fabkit.cli import main

Capture = pytest.CaptureFixture[str]

#: A plain domino and one with a hole in one of its cells.
DOMINOES = """
[set]
name = "dominoes"
lattice = "square"
moves = "{moves}"
marks = {{ o = "{look}" }}
board = [{{ id = "box", size = [2, 2] }}]
piece = [{pieces}]
"""
MARKED = '{ id = "a", rows = ["Xo"] }'
BEHIND = '{ id = "a", rows = ["XX"], back = ["oX"] }'
OTHER = '{ id = "b", rows = ["XX"] }'


def counted(
    text: str, challenge: dict[str, Any], folder: Path, capsys: Capture
) -> tuple[dict[str, Any], int]:
    """The answer, and the exit code of `certify` about its certificate."""
    head, _, tables = text.partition("board =")
    path = folder / "set.toml"
    path.write_text(f"board ={tables}{head}")
    file = folder / "challenge.json"
    file.write_text(json.dumps(challenge))
    certificate = folder / "certificate.json"
    arguments = ["--file", str(file), "--count", "--certificate", str(certificate), "--json"]
    main(["solve", str(path), *arguments])
    answer = json.loads(capsys.readouterr().out)
    return answer, main(["certify", str(certificate), "--set", str(path), "-q"])


@pytest.mark.parametrize("pieces", [(BEHIND, OTHER), (OTHER, BEHIND)], ids=["first", "last"])
def test_a_mark_on_the_back_alone_tells_pieces_apart(
    pieces: tuple[str, ...], tmp_path: Path, capsys: Capture
) -> None:
    text = DOMINOES.format(moves="rotations and flips", look="cross", pieces=", ".join(pieces))
    challenge = {"clue": [{"cells": [[0, 0]], "mark": "o"}]}
    answer, code = counted(text, challenge, tmp_path, capsys)
    assert (answer["count"], answer["count_labelled"], code) == (2, 2, 0)


def test_equal_shapes_with_other_marks_are_no_mirror_images(
    tmp_path: Path, capsys: Capture
) -> None:
    text = DOMINOES.format(moves="rotations", look="hole", pieces=f"{MARKED}, {OTHER}")
    answer, code = counted(text, {}, tmp_path, capsys)
    assert (answer["count"], answer["count_labelled"], code) == (4, 4, 0)


@pytest.mark.parametrize("end", ["..X", "X.."])
def test_a_clue_may_want_no_mark_on_any_form(end: str, tmp_path: Path, capsys: Capture) -> None:
    """The second form of an L of balls is its mirror image."""
    text = DOMINOES.format(
        moves="rotations",
        look="hole",
        pieces='{ id = "L", balls = [[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0]] }',
    ).replace("size = [2, 2]", f'rows = ["XXX", "{end}"]')
    challenge = {"clue": [{"cells": [[0, 0]], "mark": "plain"}]}
    answer, code = counted(text, challenge, tmp_path, capsys)
    assert (answer["count"], code) == (1, 0)


def test_boxes_with_too_many_symmetries_are_counted_at_once(
    tmp_path: Path, capsys: Capture
) -> None:
    """Fifteen equal boxes change places in 15! ways, none of which is listed."""
    boxes = "XX." * 15
    text = (
        '\n[set]\nname = "boxes"\nlattice = "square"\nmoves = "rotations"\n'
        f'board = [{{ id = "box", rows = ["{boxes}"] }}]\n'
        'piece = [{ id = "D", count = 15, rows = ["XX"] }]\n'
    )
    answer, code = counted(text, {}, tmp_path, capsys)
    assert (answer["count"], answer["count_up_to_symmetry"], code) == (1, None, 0)
    assert main(["solve", str(tmp_path / "set.toml"), "--count"]) == 0
    assert "not counted up to symmetry: the boxes can be moved" in capsys.readouterr().out


def test_pieces_cut_from_a_chequered_board_have_its_colours(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without them, none could cover a dark cell where the colours are a rule."""
    path = tmp_path / "mine.toml"
    head = '[set]\nname = "mine"\nlattice = "square"\nmoves = "rotations"\n'
    counts = {}
    for role in ("decoration", "rule"):
        colours = f'chequer = "#5d3a1a"\nchequer_role = "{role}"\n'
        path.write_text(f'{head}{colours}\n[cut]\nrows = ["AAB", "CBB"]\n')
        assert main(["solve", str(path), "--count", "--json"]) == 0
        counts[role] = json.loads(capsys.readouterr().out)["count"]
    assert counts["rule"] < counts["decoration"]
