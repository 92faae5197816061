"""Texts, open cells, blockers, clues and marks, as they are drawn on boards and pieces."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from xml.etree import ElementTree

import pytest
from shapely import Point, affinity, union_all
from shapely.geometry.base import BaseGeometry

from fabkit.model.puzzle import Entry, PuzzleSet
from fabkit.output.challenge import challenge_sheet
from fabkit.output.web.playdata import play_data
from fabkit.puzzles.entries import Selection, gather
from fabkit.sets.library import load_set
from tests.conftest import ROOT
from tests.support.drawings import Case, of_class, root_of, scale_of, shape_of, shapes

SETS = ROOT / "tests" / "sets"


def drawn(name: str, *only: str) -> tuple[PuzzleSet, Entry, ElementTree.Element]:
    """A sheet with a challenge, by default the only one of a set, and its solution."""
    puzzle = load_set(name)
    (entry,) = gather(puzzle, Selection(only=only))
    return puzzle, entry, root_of(challenge_sheet(puzzle, entry, 20.0))


def cells_on_page(
    case: Case, root: ElementTree.Element, cells: Iterable[Any], panel: int = 0
) -> BaseGeometry:
    """Cells where they are in one of the two panels, drawn a second way."""
    puzzle, entry = case
    unit_mm = 20.0 / scale_of(root)
    region = shapes(root, "region")[panel]
    whole = shape_of(puzzle, entry, entry.challenge.board_cells, unit_mm)
    dx, dy = region.bounds[0] - whole.bounds[0], region.bounds[1] + whole.bounds[3]
    upright = shape_of(puzzle, entry, cells, unit_mm)
    return affinity.translate(affinity.scale(upright, 1, -1, origin=(0, 0)), dx, dy)


def circles(root: ElementTree.Element, name: str) -> list[tuple[Point, str]]:
    """Centres and colours (of area or line) of circles of a class."""
    found = [one for one in of_class(root, name) if one.tag.endswith("circle")]
    centres = [Point(float(one.get("cx", "")), float(one.get("cy", ""))) for one in found]
    colours = [one.get("stroke") or one.get("fill", "") for one in found]
    return list(zip(centres, colours, strict=True))


def test_a_date_leaves_its_cells_open_and_every_cell_has_its_text() -> None:
    puzzle, entry, root = drawn("calendar", "jan-25")
    (board,) = puzzle.boards
    open_cells = shapes(root, "open")
    for panel, area in enumerate(open_cells):
        wanted = cells_on_page((puzzle, entry), root, entry.challenge.minus, panel)
        assert area.symmetric_difference(wanted).area < 0.05
    written = shapes(root, "board-text")
    assert len(written) == 2 * len(board.labels)
    for number, text in enumerate(written):
        label = board.labels[number % len(board.labels)]
        panel = number // len(board.labels)
        cell = cells_on_page((puzzle, entry), root, label.cells, panel)
        assert cell.buffer(-0.5).contains(text), label.text
    # Two digits are wider than one, at one height.
    heights = {round(text.bounds[3] - text.bounds[1], 1) for text in written[12:43]}
    assert max(heights) - min(heights) < 0.3


def test_a_roll_has_a_blocker_on_each_cell_it_names() -> None:
    puzzle, entry, root = drawn("dicesquare", "roll-A1-A2-C3-E1-A4-E4-F1")
    blockers = shapes(root, "blocker")
    assert len(blockers) == 2 * 7
    wanted = cells_on_page((puzzle, entry), root, entry.challenge.minus)
    area = union_all(blockers[:7])
    assert wanted.contains(area)
    assert 0.6 * wanted.area < area.area < 0.8 * wanted.area


def test_dots_show_the_colours_that_cover_their_cells() -> None:
    puzzle, entry, root = drawn("iqstars", "clue-030")
    dots = circles(root, "clue")
    told = [(cell, clue.colour) for clue in entry.challenge.clues for cell in sorted(clue.cells)]
    assert len(dots) == len(told) > 1
    for (centre, colour), (cell, wanted) in zip(dots, told, strict=True):
        assert colour == wanted
        assert centre.distance(cells_on_page((puzzle, entry), root, [cell]).centroid) < 1e-2
        owner = next(piece for piece, cells in entry.solution.items() if cell in cells)
        assert puzzle.piece(owner).colour == colour


def test_a_piece_that_must_cover_cells_is_named_there(tmp_path: Any) -> None:
    challenge = tmp_path / "two.toml"
    challenge.write_text(
        'id = "two"\nboard = "board"\n[[clue]]\ncells = [[0, 0], [0, 1]]\npiece = "orange"\n'
    )
    puzzle = load_set("iqstars")
    (entry,) = gather(puzzle, Selection(files=(challenge,)))
    root = root_of(challenge_sheet(puzzle, entry, 20.0))
    dots = circles(root, "clue")
    assert [colour for _, colour in dots] == [puzzle.piece("orange").colour] * 2
    texts = [one.text for one in of_class(root, "clue") if one.text and one.text.strip()]
    assert texts == [puzzle.piece("orange").label] * 2


def test_painted_squares_of_pieces_lie_on_those_of_the_board() -> None:
    puzzle, entry, root = drawn(str(SETS / "chequer.toml"), "square")
    painted = union_all(shapes(root, "painted"))
    tones = union_all(shapes(root, "tone"))
    dark = frozenset().union(*(clue.cells for clue in entry.challenge.clues if clue.mark == "dark"))
    both = [cells_on_page((puzzle, entry), root, dark, panel) for panel in (0, 1)]
    assert painted.symmetric_difference(union_all(both)).area < 1e-3
    assert tones.symmetric_difference(both[1]).area < 1e-3


@pytest.mark.parametrize("only", ["two-pegs-1", "two-pegs-2", "two-pegs-3"])
def test_holes_of_the_right_colour_lie_where_pegs_are(only: str) -> None:
    puzzle, entry, root = drawn(str(SETS / "pegs.toml"), only)
    marks = circles(root, "mark")
    pegs = marks[: len(entry.challenge.clues)]
    for (centre, colour), clue in zip(pegs, entry.challenge.clues, strict=True):
        first = cells_on_page((puzzle, entry), root, clue.cells).centroid
        assert centre.distance(first) < 1e-2
        assert colour == clue.colour
        second = cells_on_page((puzzle, entry), root, clue.cells, 1).centroid
        assert min(second.distance(hole) for hole, _ in marks[len(pegs) :]) < 1e-2


def test_a_piece_that_fits_either_way_lies_as_its_clue_demands(tmp_path: Any) -> None:
    """A domino with a hole at one end covers its two cells in two ways."""
    file = tmp_path / "ends.toml"
    file.write_text(
        'set = { name = "ends", lattice = "square", moves = "rotations", marks = { o = "hole" } }\n'
        'board = [{ id = "bar", size = [1, 2], clue = [{ cells = [[0, 1]], mark = "o" }] }]\n'
        'piece = [{ id = "D", rows = ["oX"] }]\n'
    )
    puzzle, entry, root = drawn(str(file))
    (told, _), (hole, _) = circles(root, "mark")
    asked = entry.challenge.clues[0].cells
    assert told.distance(cells_on_page((puzzle, entry), root, asked).centroid) < 1e-2
    assert hole.distance(cells_on_page((puzzle, entry), root, asked, 1).centroid) < 1e-2


def test_a_side_without_marks_is_drawn_without_any(tmp_path: Any) -> None:
    """Where the back has no cross, the piece turned over has none, on the same cells."""
    file = tmp_path / "cross.toml"
    file.write_text(
        'set = { name = "cross", lattice = "square", moves = "rotations and flips", '
        'marks = { x = "cross" } }\n'
        'board = [{ id = "bar", size = [1, 4], clue = [{ cells = [[0, 0], [0, 1], [0, 2], [0, 3]], '
        'mark = "plain" }] }]\n'
        'piece = [{ id = "I", rows = ["xXXX"], back = ["XXXX"] }]\n'
    )
    puzzle, _, root = drawn(str(file))
    assert len([*of_class(root, "mark")]) == 4  # a dash on each cell of the board, and no cross
    (piece,) = play_data(puzzle, [], 20.0)["pieces"]
    for orientation in piece["orientations"]:
        marks = orientation.get("marks", {}).values()
        assert 2 * len(orientation.get("looks", [])) == sum(map(len, marks))


def test_blockers_stay_inside_triangles(tmp_path: Any) -> None:
    file = tmp_path / "tri.toml"
    file.write_text(
        'set = { name = "tri", lattice = "triangle", moves = "rotations" }\n'
        'board = [{ id = "t", rows = [".X.", "XXX"] }]\n'
        'piece = [{ id = "bar", rows = ["XXX"] }]\n'
        '[[challenge]]\nid = "c"\nboard = "t"\nminus = [0]\nblocked = true\n'
    )
    puzzle = load_set(str(file))
    (entry,) = gather(puzzle, Selection(only=("c",)))
    root = root_of(challenge_sheet(puzzle, entry, 20.0))
    blockers = shapes(root, "blocker")
    wanted = cells_on_page((puzzle, entry), root, entry.challenge.minus)
    assert wanted.contains(blockers[0])
    assert blockers[0].area > 0.6 * wanted.area
