"""The commands by which the studio edits a set file, and what else of it follows them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fabkit.core.errors import InputError
from fabkit.core.parsing import parse_toml
from fabkit.model.lattice import LATTICES, Cell
from fabkit.model.puzzle import PuzzleSet
from fabkit.studio.commands import edit
from fabkit.studio.drawing import questions, read_project
from fabkit.studio.project import Project, parsed, set_or_error
from fabkit.studio.references import less

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
#: Places by row and column, by number and by label; on the board that is named, and on the default
#: one.
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


class File:
    """A set file that is open in the studio; one of its things is on the sheet."""

    def __init__(self, text: str, key: str = "board-0") -> None:
        self.project = Project("named.toml", text, Path())
        kind, index = key.split("-")
        self.thing = {"kind": kind, "index": int(index)}
        self.step = (0, 0)

    @property
    def document(self) -> Any:
        return parse_toml(self.project.text, "")

    @property
    def answer(self) -> dict[str, Any]:
        return read_project(self.project)

    @property
    def drawn(self) -> dict[Cell, str]:
        """The cells on the sheet, with their letters."""
        things = self.answer["things"]
        (thing,) = (thing for thing in things if self.thing.items() <= thing.items())
        points = zip(thing["cells"][::2], thing["cells"][1::2], strict=True)
        cells = ((x + self.step[0], y + self.step[1]) for x, y in points)
        return dict(zip(cells, thing["letters"], strict=True))

    def do(self, command: str, **arguments: Any) -> dict[str, Any]:
        """Edit the file; return the outcome."""
        if command in ("draw", "stamp", "rename", "set", "remove"):
            arguments = {"thing": self.thing, **arguments}
        if command in ("draw", "stamp"):
            arguments = {"step": self.step, **arguments}
        answer = edit(self.project, command, arguments)
        self.project = replace(self.project, text=answer.get("text", self.project.text))
        outcome: dict[str, Any] = answer["outcome"]
        self.step = outcome.get("step", self.step)
        return outcome

    def draw(self, drawn: dict[Cell, str], moves: Iterable[tuple[Cell, Cell]] = ()) -> Any:
        cells, letters = [*drawn], [*drawn.values()]
        return self.do("draw", cells=cells, letters=letters, moves=[*moves])

    def paint(self, letter: str, *cells: Cell) -> Any:
        """Paint cells of the sheet; erase them without a letter."""
        drawn = self.drawn | dict.fromkeys(cells, letter)
        return self.draw({cell: drawn[cell] for cell in drawn if drawn[cell]})

    def move(self, image: Callable[[Cell], Cell]) -> None:
        """Move all that is on the sheet."""
        moves = {cell: image(cell) for cell in self.drawn}
        drawn = {moves[cell]: letter for cell, letter in self.drawn.items()}
        self.draw(drawn, moves.items())


def cells_named(puzzle: PuzzleSet) -> list[frozenset[Cell]]:
    """All cells that a set names relative to its board, in the order of the file."""
    clues = [clue.cells for board in puzzle.boards for clue in board.clues]
    for challenge in puzzle.challenges[:2]:
        clues += [challenge.minus, *(given.cells for given in challenge.given)]
        clues += [clue.cells for clue in challenge.clues]
    clues += [label.cells for group in puzzle.families[0].groups for label in group]
    return [*clues, puzzle.challenges[1].region]


def step_between(before: frozenset[Cell], after: frozenset[Cell]) -> tuple[int, int]:
    """The translation by which all cells are still there, which is the only one."""
    steps = [less(cell, min(before)) for cell in after]
    (step,) = (step for step in steps if shifted(before, step) <= after)
    return step


def shifted(cells: frozenset[Cell], step: tuple[int, int]) -> frozenset[Cell]:
    return frozenset((x + step[0], y + step[1]) for x, y in cells)


def at(lattice: str, row: int, column: int) -> Cell:
    return LATTICES[lattice].cells_at(row, column)[0]


def clockwise(cell: Cell) -> Cell:
    return cell[1], -cell[0]


@pytest.mark.parametrize("name", LATTICES)
def test_places_stay_on_their_cells_of_a_board_that_grows(name: str) -> None:
    text = PIECES + TRAY + NAMED
    if LATTICES[name].is_divided:
        text = text.replace("cells = [[2, 0]]", "cells = [[2, 0, 1]]")
    file = File(text.replace("LATTICE", name))
    before = file.project.puzzle
    for row, column in [(-1, 1), (1, -1)]:
        file.paint("X", at(name, row, column))
        after = file.project.puzzle
        step = step_between(before.boards[0].cells, after.boards[0].cells)
        assert cells_named(after) == [shifted(cells, step) for cells in cells_named(before)]
    first, _, elsewhere = file.document["challenge"]
    assert "d" in first["minus"]
    assert first["clue"][1]["cells"] == [6]
    assert elsewhere["given"] == [{"piece": "A", "cells": [[0, 1], [0, 2]]}]
    choices = [label.text for group in after.families[0].groups for label in group]
    (excluded,) = after.families[0].without
    assert excluded == {"a", choices[-1]}


BOARD = """
[[board]]
id = "tray"
rows = ["XXX", "XX."]
labels = ["1 2 3", "4 5"]
clue = [{ cells = [[1, 1]], piece = "A" }]

[[challenge]]
id = "given"
board = "tray"
given = [{ piece = "A", cells = [[0, 0], [0, 1]] }]
minus = [[0, 2]]
"""
SQUARE = PIECES.replace("LATTICE", "square")


def test_places_texts_and_clues_turn_with_their_board() -> None:
    file = File(SQUARE + BOARD)
    file.move(lambda cell: (cell[0] + 2, cell[1] - 2))
    assert file.project.text == SQUARE + BOARD
    file.move(clockwise)
    (board,), (challenge,) = file.document["board"], file.document["challenge"]
    assert (board["rows"], board["labels"]) == (["XX", "XX", ".X"], ["4 1", "5 2", "3"])
    assert board["clue"] == [{"cells": [[1, 0]], "piece": "A"}]
    assert challenge["given"] == [{"piece": "A", "cells": [[0, 1], [1, 1]]}]
    assert challenge["minus"] == [[2, 1]]


def test_outlines_move_with_their_board() -> None:
    board = 'id = "tray"\noutline = [[0, 0], [3, 0], [3, 2], [0, 2]]'
    given = "piece = 'A', outline = [[0, 1], [2, 1], [2, 2], [0, 2]]"
    text = PIECES.replace("LATTICE", "quarter-square") + (
        f"[[board]]\n{board}\n[[challenge]]\nid = 'given'\ngiven = [{{ {given} }}]\nminus = [[1, "
        "2]]\n"
    )
    file = File(text)
    file.paint("X", LATTICES["quarter-square"].cells_at(-2, -1)[3])
    (challenge,) = file.document["challenge"]
    assert challenge["given"][0]["outline"] == [[1, -1], [3, -1], [3, 0], [1, 0]]
    assert challenge["minus"] == [[1, 3]]
    given_cells = File(file.project.text).project.puzzle.challenges[0].given[0].cells
    assert len(given_cells) == 8
    assert given_cells <= file.project.puzzle.boards[0].cells


def test_a_lost_place_is_reported_and_comes_back() -> None:
    file = File(SQUARE + BOARD)
    row = [at("square", 0, column) for column in range(3)]
    file.paint("", *row)
    (challenge,) = file.document["challenge"]
    assert challenge["given"] == [{"piece": "A", "cells": [[-1, 0], [-1, 1]]}]
    messages = [fault["message"] for fault in file.answer["faults"]]
    assert any("[-1, 0] is not among the cells to cover" in message for message in messages)
    file.paint("X", *row)
    assert file.document["challenge"][0]["given"] == [{"piece": "A", "cells": [[0, 0], [0, 1]]}]


def test_places_follow_the_letters_that_make_the_board() -> None:
    given = '{ piece = "A", cells = [[0, 0], [0, 1]] }, { piece = "B", cells = [[0, 2], [1, 2]] }'
    head = SQUARE.partition("[[piece]]")[0].replace('marks = { o = "hole" }\n', "")
    cut = f'[cut]\nrows = ["AAB", "CCB"]\n[[challenge]]\nid = "given"\ngiven = [{given}]\n'
    file = File(head + cut, "cut-0")
    file.paint("C", at("square", 0, -1), at("square", 1, -1))
    (challenge,) = file.document["challenge"]
    cells = [[[0, 1], [0, 2]], [[0, 3], [1, 3]]]
    assert [given["cells"] for given in challenge["given"]] == cells
    assert file.document["cut"]["rows"] == ["CAAB", "CCCB"]
    assert file.answer["faults"] == []


def test_names_follow_their_piece_and_board() -> None:
    result = "\n[challenge.result.solution]\nA = [[0, 0], [0, 1]]\n"
    file = File(SQUARE + TRAY + NAMED + result, "piece-0")

    def named() -> list[Any]:
        first, second, elsewhere = file.document["challenge"]
        return [
            first["pieces"],
            first["given"][0]["piece"],
            first["clue"][1]["colour"],
            second["pieces"],
            elsewhere["pieces"],
            list(elsewhere["result"]["solution"]),
        ]

    # But for its case, the other's name.
    assert file.do("rename", name="b") == {"refusal": "draw_name_taken"}
    assert file.document["piece"][0]["id"] == "A"
    file.do("rename", name="C")
    assert named() == ["CB", "C", "C", ["C", "B"], "C", ["C"]]
    file.do("rename", name="bar")
    assert named() == [["bar", "B"], "bar", "bar", ["bar", "B"], ["bar"], ["bar"]]
    challenges = file.document["challenge"]
    for number, piece in ((2, "bar1"), (1, "bar")):
        file.do("set", key="count", value=number)
        assert named()[1] == piece
        assert "bar2" not in str(file.document["challenge"])
    assert file.document["challenge"] == challenges
    file.thing = {"kind": "piece", "index": 1}
    file.do("rename", name="D")
    assert file.document["challenge"][0]["clue"][0]["piece"] == "D"
    assert file.document["family"][0]["pieces"] == ["D"]
    file.thing = {"kind": "board", "index": 0}
    file.do("rename", name="box")
    assert file.document["challenge"][0]["board"] == "box"


# --- the other commands -----------------------------------------------------------------------


def test_texts_and_clues_are_stamped_and_taken_away() -> None:
    file = File(SQUARE + BOARD)
    for word in ("Z", "9", "9"):
        file.do("stamp", cell=at("square", 1, 0), stamped=word)
    for row, column in [(0, 0), (1, 0), (0, 0)]:
        file.do("stamp", cell=at("square", row, column), stamped={"piece": "A"})
    file.do("stamp", cell=at("square", 1, 1), stamped={"mark": "o"})
    (board,) = file.document["board"]
    assert board["labels"] == ["1 2 3", ". 5"]
    assert board["clue"] == [{"cells": [[1, 0]], "piece": "A"}, {"cells": [[1, 1]], "mark": "o"}]


def test_tables_are_added_and_removed() -> None:
    file = File("", "cut-0")
    file.draw({at("square", 5, 7): "A"})
    assert file.document["cut"] == {"rows": ["A"]}
    assert file.document["set"]["name"] == "named"
    assert file.do("add", kind="piece") == {"thing": {"kind": "piece", "index": 0}}
    assert file.do("add", kind="board") == {"thing": {"kind": "board", "index": 0}}
    assert file.document["piece"] == [{"id": "B", "rows": ["X"]}]
    assert file.document["board"] == [{"id": "board-2", "size": [4, 4]}]
    assert file.do("mark", look="hole") == {"letter": "h"}
    file.do("flips", flips=False)
    assert file.document["set"]["moves"] == "rotations"
    file.do("set", key="colour", letter="A", value="#112233")
    assert file.document["cut"]["colours"] == {"A": "#112233"}
    for table in ({"id": "c", "open": 1}, {"id": "c", "open": 2}):
        file.do("challenge", name="c", table=table)
    assert file.document["challenge"] == [{"id": "c", "open": 2}]
    file.do("challenge", name="c")
    file.do("remove")
    assert file.document.keys() == {"set", "piece", "board"}


def test_texts_that_have_errors_elsewhere_keep_all_they_have() -> None:
    file = File("# mine\n" + SQUARE.replace('"Xo", "XX"', '"Xo", "X?"') + BOARD)
    file.paint("X", at("square", 1, 2))
    (board,) = file.document["board"]
    assert (board["labels"], len(board["clue"])) == (["1 2 3", "4 5 ."], 1)
    assert file.project.text.startswith("# mine\n")
    assert file.drawn.keys() >= {at("square", 1, 2)}


@pytest.mark.parametrize(
    ("command", "arguments", "message"),
    [
        ("drow", {}, 'there is no command "drow"; .* did you mean "draw"'),
        ("remove", {"thing": {"kind": "set", "index": 0}}, "request: thing.kind: Input should be"),
        ("add", {"kind": "cut"}, "request: kind: Input should be"),
        ("draw", {"cells": [(0, 0)], "letters": ["A"], "moves": []}, "expected cells of the lat"),
    ],
)
def test_commands_that_cannot_be_are_refused(
    command: str, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        File(SQUARE + TRAY).do(command, **arguments)


# --- reading ----------------------------------------------------------------------------------


@pytest.mark.parametrize("row", ['"Xo"', '"X?"'], ids=["sound", "with an error"])
def test_a_stroke_is_parsed_once_and_read_once(row: str) -> None:
    file = File(SQUARE.replace('"Xo"', row) + TRAY)
    file.answer  # noqa: B018 - as when it is opened
    before = parsed.cache_info().misses, set_or_error.cache_info().misses
    cell = at("square", -1, 0)
    drawn = dict.fromkeys([cell, *(at("square", 0, column) for column in range(4))], "X")
    file.draw(drawn)
    file.answer  # noqa: B018 - what other calls read is kept, also its errors
    after = parsed.cache_info().misses, set_or_error.cache_info().misses
    assert [now - then for now, then in zip(after, before, strict=True)] == [1, 1]


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ('name = "named"', 'name = "other"', ""),
        ('"#112233"', '"#445566"', ""),
        ('"#112233"', '"#bbaa00"', "first"),  # that of the other piece
        ('id = "tray"', 'id = "tray"\nopen = 2', "tray family holes"),  # the first has two by name
        ('". . . ."', '"x . . ."', ""),
        ('pieces = "AB"', 'pieces = "AB"\ntitle = "One"', ""),
        ('pieces = "AB"', 'pieces = "AB"\nflips = true', "first"),
        ('rows = ["Xo", "XX"]', 'rows = ["XX", "Xo"]', "tray first second family holes"),
        ("without", "blocked = true\nwithout", "family holes"),
    ],
)
def test_a_key_changes_exactly_if_the_answer_may(old: str, new: str, changed: str) -> None:
    text = SQUARE + TRAY + NAMED
    before, after = (questions(File(t).project.puzzle) for t in (text, text.replace(old, new, 1)))
    assert " ".join(name for name in before if before[name] != after[name]) == changed
