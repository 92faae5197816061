"""What other tables of a set file say about a piece or a board follows when it is drawn anew or gets
another name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fabkit.model.lattice import LATTICES, Cell
from fabkit.model.puzzle import PuzzleSet
from fabkit.sets.set_file import read_set
from tests.studio.test_draw import opened
from tests.support import browser
from tests.support.studios import RunningStudio

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = browser.needed

PIECES = """\
[set]
name = "named"
lattice = "LATTICE"
moves = "rotations"
marks = { o = "hole" }

[[piece]]
id = "A"
rows = ["XX"]
colour = "#112233"

[[piece]]
id = "B"
rows = ["Xo", "XX"]
"""
TRAY = """
[[board]]
id = "tray"
size = [4, 4]
labels = ["a b c d", ". . . .", ". . . .", ". . . ."]
clue = [{ cells = [8], mark = "plain" }]
"""
#: Places by row and column, by number and by label; on the board that is named, and on the default one.
NAMED = """
[[family]]
id = "holes"
groups = ["a b", [[3, 0], 14]]
without = ["a-r3c2"]
pieces = ["B"]

[[challenge]]
id = "first"
board = "tray"
pieces = "AB"
minus = [15, "d"]
given = [{ piece = "A", cells = [[1, 1], [1, 2]] }]
clue = [{ cells = [[2, 0]], piece = "B" }, { cells = [4], colour = "A" }]

[[challenge]]
id = "second"
cells = [[0, 0], [0, 1], [1, 0], [1, 1], 8, 9]
pieces = ["A", "B"]

[[challenge]]
id = "elsewhere"
rows = ["XXXXXX"]
pieces = "A"
given = [{ piece = "A", cells = [[0, 1], [0, 2]] }]
"""


def read(text: str) -> PuzzleSet:
    return read_set(Path("named.toml"), text=text)


def cells_named(puzzle: PuzzleSet) -> list[frozenset[Cell]]:
    """All cells that a set names relative to its board, in the order of the file."""
    clues = [clue.cells for board in puzzle.boards for clue in board.clues]
    for challenge in puzzle.challenges[:2]:
        clues += [challenge.minus, *(given.cells for given in challenge.given)]
        clues += [clue.cells for clue in challenge.clues]
    cells = [
        label.cells for family in puzzle.families for group in family.groups for label in group
    ]
    return [*clues, *cells, puzzle.challenges[1].region]


def step_between(before: frozenset[Cell], after: frozenset[Cell]) -> tuple[int, int]:
    """The translation by which all cells are still there, which is the only one."""
    first = min(before)
    steps = {
        (x - first[0], y - first[1])
        for x, y in after
        if shifted(before, (x - first[0], y - first[1])) <= after
    }
    (step,) = steps
    return step


def shifted(cells: frozenset[Cell], step: tuple[int, int]) -> frozenset[Cell]:
    return frozenset((x + step[0], y + step[1]) for x, y in cells)


@pytest.mark.parametrize("name", LATTICES)
def test_places_stay_on_their_cells_of_a_board_that_grows(
    chromium: Browser, studio: RunningStudio, name: str
) -> None:
    lattice = LATTICES[name]
    text = PIECES + TRAY + NAMED
    if lattice.is_divided:
        text = text.replace("cells = [[2, 0]]", "cells = [[2, 0, 1]]")
    text = text.replace("LATTICE", name)
    before = read(text)
    with opened(chromium, studio, text, "board-0") as sheet:
        sheet.brush("X")
        places = [(-1, 1), (1, -1)]
        for place in places:
            sheet.stroke((*place, 0) if lattice.is_divided else place)
            after = read(sheet.text)
            step = step_between(before.boards[0].cells, after.boards[0].cells)
            assert cells_named(after) == [shifted(cells, step) for cells in cells_named(before)]
        challenge = sheet.document["challenge"][0]
        assert "d" in challenge["minus"]
        assert challenge["clue"][1]["cells"] == [6]
        elsewhere = sheet.document["challenge"][2]
        assert elsewhere["given"] == [{"piece": "A", "cells": [[0, 1], [0, 2]]}]
        choices = [label.text for group in after.families[0].groups for label in group]
        (excluded,) = after.families[0].without
        assert excluded == {"a", choices[-1]}
        for _ in places:
            sheet.page.locator("[data-do=undo]").click()
            sheet.settle()
        assert sheet.text == text


BOARD = """
[[board]]
id = "tray"
rows = ["XXX", "XXX"]

[[challenge]]
id = "given"
board = "tray"
given = [{ piece = "A", cells = [[0, 0], [0, 1]] }]
minus = [[1, 2]]
"""


def test_places_turn_with_their_board(chromium: Browser, studio: RunningStudio) -> None:
    text = PIECES.replace("LATTICE", "square") + BOARD
    with opened(chromium, studio, text, "board-0") as sheet:
        sheet.page.locator('[data-brush="move"]').click()
        sheet.stroke((0, 0), (1, 1))
        assert sheet.document["challenge"] == [
            {"id": "given", "board": "tray", "given": [{"piece": "A", "cells": [[0, 0], [0, 1]]}], "minus": [[1, 2]]}
        ]  # fmt: skip
        sheet.page.keyboard.press("r")  # clockwise
        (challenge,) = sheet.document["challenge"]
        assert challenge["given"] == [{"piece": "A", "cells": [[0, 1], [1, 1]]}]
        assert challenge["minus"] == [[2, 0]]


def test_outlines_move_with_their_board(chromium: Browser, studio: RunningStudio) -> None:
    text = PIECES.replace("LATTICE", "quarter-square") + BOARD.replace(
        'rows = ["XXX", "XXX"]', "outline = [[0, 0], [3, 0], [3, 2], [0, 2]]"
    ).replace("cells = [[0, 0], [0, 1]]", "outline = [[0, 1], [2, 1], [2, 2], [0, 2]]")
    with opened(chromium, studio, text, "board-0") as sheet:
        sheet.brush("X")
        sheet.stroke((-2, -1, 3))
        (challenge,) = sheet.document["challenge"]
        assert challenge["given"][0]["outline"] == [[1, -1], [3, -1], [3, 0], [1, 0]]
        assert challenge["minus"] == [[1, 3]]
        given = read(sheet.text).challenges[0].given[0].cells
        assert len(given) == 8
        assert given <= read(sheet.text).boards[0].cells


def test_a_lost_place_is_reported_and_comes_back(chromium: Browser, studio: RunningStudio) -> None:
    text = PIECES.replace("LATTICE", "square") + BOARD
    with opened(chromium, studio, text, "board-0") as sheet:
        sheet.page.locator('[data-brush="erase"]').click()
        sheet.stroke((0, 0), (0, 2))
        (challenge,) = sheet.document["challenge"]
        assert challenge["given"] == [{"piece": "A", "cells": [[-1, 0], [-1, 1]]}]
        assert challenge["minus"] == [[0, 2]]
        fault = sheet.page.locator(".text-view .faults", has_text="is not among the cells to cover")
        assert "[-1, 0]" in fault.inner_text()
        sheet.brush("X")
        sheet.stroke((0, 0), (0, 2))
        assert sheet.document["challenge"][0]["given"] == [
            {"piece": "A", "cells": [[0, 0], [0, 1]]}
        ]


def test_places_follow_the_letters_that_make_the_board(
    chromium: Browser, studio: RunningStudio
) -> None:
    text = """[set]
name = "named"
lattice = "square"
moves = "rotations"

[cut]
rows = ["AAB", "CCB"]

[[challenge]]
id = "given"
given = [{ piece = "A", cells = [[0, 0], [0, 1]] }, { piece = "B", cells = [[0, 2], [1, 2]] }]
"""
    with opened(chromium, studio, text, "cut-0") as sheet:
        sheet.brush("C")
        sheet.stroke((0, -1), (1, -1))
        (challenge,) = sheet.document["challenge"]
        assert [given["cells"] for given in challenge["given"]] == [
            [[0, 1], [0, 2]],
            [[0, 3], [1, 3]],
        ]
        assert not sheet.page.locator(".text-view .faults li").count()


def test_names_follow_their_piece_and_board(chromium: Browser, studio: RunningStudio) -> None:
    result = """
[challenge.result.solution]
A = [[0, 0], [0, 1]]
"""
    text = PIECES.replace("LATTICE", "square") + TRAY + NAMED + result
    with opened(chromium, studio, text, "piece-0") as sheet:

        def rename(name: str) -> None:
            field = sheet.page.locator('[data-brush="field-draw_id"]')
            field.fill(name)
            field.press("Enter")
            sheet.settle()

        def named() -> list[Any]:
            first, second, elsewhere = sheet.document["challenge"]
            return [
                first["pieces"],
                first["given"][0]["piece"],
                first["clue"][1]["colour"],
                second["pieces"],
                elsewhere["pieces"],
                list(elsewhere["result"]["solution"]),
            ]

        rename("b")  # but for its case, the other's name
        assert sheet.document["piece"][0]["id"] == "A"
        assert "Choose another name" in sheet.page.locator(".draw-middle .faults").inner_text()
        rename("C")
        assert named() == ["CB", "C", "C", ["C", "B"], "C", ["C"]]
        assert not sheet.page.locator(".draw-middle .faults li").count()
        rename("bar")
        assert named() == [["bar", "B"], "bar", "bar", ["bar", "B"], ["bar"], ["bar"]]
        challenges = sheet.document["challenge"]
        count = sheet.page.locator('[data-brush="field-draw_count"]')
        for number, piece in (("2", "bar1"), ("1", "bar")):
            count.fill(number)
            count.press("Enter")
            sheet.settle()
            assert named()[1] == piece
            assert "bar2" not in str(sheet.document["challenge"])
        assert sheet.document["challenge"] == challenges
        sheet.page.locator('[data-id="piece-1"]').click()
        rename("D")
        assert sheet.document["challenge"][0]["clue"][0]["piece"] == "D"
        assert sheet.document["family"][0]["pieces"] == ["D"]
        sheet.page.locator('[data-id="board-0"]').click()
        rename("box")
        assert sheet.document["challenge"][0]["board"] == "box"
