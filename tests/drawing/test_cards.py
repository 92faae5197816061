"""Challenge cards: the sizes that are drawn and printed, measured on the files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import shapely
from shapely import affinity, union_all

from fabkit.build.cards import cards_for, starting_positions
from fabkit.cli import main
from fabkit.core.errors import InputError
from fabkit.drawing.boards.csg import section_at
from fabkit.drawing.boards.draft import draft_card
from fabkit.drawing.outline import DrawingError
from fabkit.mesh.files.readers import read_meshes
from fabkit.mesh.section import Sections
from fabkit.model.piece import placements
from fabkit.model.puzzle import Board, Challenge, Clue, Given, PuzzleSet
from fabkit.output.card import SHEET_MM, Card, card_sheets, card_svg
from fabkit.profiles.profile import Profile
from fabkit.profiles.profile_file import load_profile
from fabkit.sets.library import load_set
from tests.conftest import ROOT
from tests.support.drawings import SVG, of_class, page_mm, rings, root_of, texts
from tests.support.drawings import area_of as path_area
from tests.support.pictures import cell_drawn


def started(puzzle: PuzzleSet, pieces: int = 2, name: str = "start-001") -> Challenge:
    """A board with some pieces where they can lie."""
    board, given, occupied = puzzle.boards[0], [], set[Any]()
    for piece in puzzle.pieces[:pieces]:
        fitting = list(placements(puzzle.lattice, piece, board.cells - occupied, puzzle.flips))
        cells = fitting[len(fitting) // 3].cells
        given.append(Given(piece.id, cells))
        occupied |= cells
    ids = tuple(piece.id for piece in puzzle.pieces)
    return Challenge(name, board.cells, ids, tuple(given), puzzle.flips)


def card_of(puzzle: PuzzleSet, **more: Any) -> Card:
    return Card(started(puzzle), puzzle.boards[0], 7, "junior", 4.21, **more)


def profile_of(puzzle: PuzzleSet, *settings: str) -> Profile:
    return load_profile((), settings, puzzle.profile_values)


def area_of(puzzle: PuzzleSet, cells: Any, unit_mm: float) -> Any:
    """Cells in mm, drawn a second way."""
    shape = union_all([cell_drawn(puzzle.lattice.name, cell) for cell in cells])
    return affinity.scale(shape, unit_mm, unit_mm, origin=(0, 0))


# --- on paper -----------------------------------------------------------------------------------


def paths(source: str, name: str) -> list[ElementTree.Element]:
    return [one for one in of_class(root_of(source), name) if one.tag == f"{SVG}path"]


def drawn(path: ElementTree.Element) -> Any:
    """What a path fills, with y upwards from the page's top."""
    return affinity.scale(path_area(path), 1, -1, origin=(0, 0))


@pytest.mark.in_turn
@pytest.mark.parametrize("name", ["cubimagici", "iqstars", "iqfit"])
def test_a_card_shows_the_board_and_the_given_pieces_at_their_size(name: str) -> None:
    puzzle = load_set(name)
    profile, card = profile_of(puzzle), card_of(puzzle)
    source = card_svg(puzzle, card, profile)
    root = root_of(source)
    width, height = page_mm(root)
    assert root.get("width") == f"{width:g}mm"
    (region,) = paths(source, "region")
    found, wanted = drawn(region), area_of(puzzle, card.board.cells, profile.unit_mm)
    shift = np.subtract(found.bounds[:2], wanted.bounds[:2])
    assert found.symmetric_difference(affinity.translate(wanted, *shift)).area < 0.3
    assert shapely.box(0, -height, width, 0).contains_properly(found)
    assert found.bounds[3] == pytest.approx(-21, abs=0.01)  # below the title
    given_paths = paths(source, "piece")[:2]
    for given, path in zip(card.challenge.given, given_paths, strict=True):
        assert path.get("fill") == puzzle.piece(given.piece).colour
        expected = affinity.translate(area_of(puzzle, given.cells, profile.unit_mm), *shift)
        assert drawn(path).symmetric_difference(expected).area < 0.3
    assert len(paths(source, "label")) == len(puzzle.pieces)


@pytest.mark.parametrize(
    ("name", "unit", "rows"),
    [("cubimagici", "20mm", 1), ("iqstars", "25mm", 1), ("pentominoes", "8mm", 2)],
)
def test_a_card_shows_the_pieces_to_place_small_below_the_board(
    name: str, unit: str, rows: int
) -> None:
    puzzle = load_set(name)
    profile, card = profile_of(puzzle, f"unit={unit}"), card_of(puzzle)
    source = card_svg(puzzle, card, profile)
    board = drawn(paths(source, "region")[0])
    height = page_mm(root_of(source))[1]
    small = paths(source, "piece")[2:]
    shapes = [drawn(path) for path in small]
    given = {given.piece for given in card.challenge.given}
    pieces = {piece.id: piece for piece in puzzle.pieces if piece.id not in given}
    assert len(small) == len(puzzle.pieces) - 2
    for piece, path, shape in zip(pieces.values(), small, shapes, strict=True):
        assert path.get("fill") == piece.colour
        expected = area_of(puzzle, piece.forms[0].cells, 3.0)
        moved = affinity.translate(expected, *np.subtract(shape.bounds[:2], expected.bounds[:2]))
        assert shape.symmetric_difference(moved).area < 0.05
        assert shape.bounds[1] + height > 15  # above the scale
        assert shape.bounds[3] < board.bounds[1] - 2.9
        assert 5.9 < shape.bounds[0] < shape.bounds[2] < page_mm(root_of(source))[0] - 5.9
    assert len({round(shape.bounds[1], 2) for shape in shapes}) == rows
    for place, shape in enumerate(shapes):
        assert all(shape.distance(other) > 0.1 for other in shapes[:place])


def test_a_card_says_which_it_is_and_carries_a_scale() -> None:
    puzzle = load_set("iqstars")
    source = card_svg(puzzle, card_of(puzzle), profile_of(puzzle))
    text = " ".join(texts(root_of(source)))
    parts = ("7 · IQ Stars", "start-001 · junior · 5 pieces to place", "50 mm", "100%")
    assert all(part in text for part in parts), text
    assert "4.2" not in text
    stars = [star.get("fill") for star in paths(source, "star")]
    assert stars == ["#b8860b"] * 2 + ["none"] * 3
    unrated = replace(card_of(puzzle), level="", score=None)
    assert paths(card_svg(puzzle, unrated, profile_of(puzzle)), "star") == []
    some = replace(card_of(puzzle).challenge, pieces_count=4)
    source = card_svg(puzzle, replace(card_of(puzzle), challenge=some), profile_of(puzzle))
    assert "2 pieces to place" in " ".join(texts(root_of(source)))
    (bar,) = paths(source, "scale")
    assert np.ptp([x for line in rings(bar) for x, _ in line]) == 50.0


@pytest.mark.parametrize(("name", "each"), [("iqblock", 1), ("iqfit", 2)])
def test_sheets_hold_whole_cards_that_lie_apart(name: str, each: int) -> None:
    puzzle = load_set(name)
    cards = [Card(started(puzzle, 2, f"start-{n}"), puzzle.boards[0], n) for n in range(1, 6)]
    sheets = card_sheets(puzzle, cards, profile_of(puzzle))
    counts = []
    for sheet in sheets:
        size = page_mm(root_of(sheet))
        assert sorted(size) == sorted(SHEET_MM)
        page = shapely.box(5, -size[1] + 5, size[0] - 5, -5).buffer(1e-3)
        boxes = [drawn(path) for path in paths(sheet, "card")]
        counts.append(len(boxes))
        for place, box in enumerate(boxes):
            assert page.contains(box)
            assert all(box.distance(other) > 3.9 for other in boxes[:place])
    assert (len(counts), sum(counts)) == (-(-5 // each), 5)


def test_cards_larger_than_a_sheet_are_on_none() -> None:
    puzzle = load_set("iqblock")
    assert card_sheets(puzzle, [card_of(puzzle)], profile_of(puzzle, "unit=40mm")) == []


# --- templates ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["cubimagici", "iqstars"])
def test_a_template_fits_its_board_and_its_lines_follow_the_given_pieces(name: str) -> None:
    puzzle = load_set(name)
    profile, card = profile_of(puzzle), card_of(puzzle)
    drawing = draft_card(puzzle, card.board, card.challenge, profile)
    region, plate = (
        area_of(puzzle, card.board.cells, profile.unit_mm),
        section_at(drawing.steps, 0.5),
    )
    if name == "cubimagici":
        opening = region.buffer(profile.board_clearance_mm, join_style="mitre")
        assert opening.contains(plate)
        assert opening.exterior.distance(plate) == pytest.approx(0.3)
        assert not opening.contains(plate.buffer(0.31, join_style="mitre"))
    else:
        assert plate.symmetric_difference(region).area < 1e-3
    assert (drawing.kind, drawing.rest_mm, drawing.thickness_mm) == ("card", 1.0, 1.6)
    raised = section_at(drawing.steps, 1.3)
    given = [area_of(puzzle, one.cells, profile.unit_mm) for one in card.challenge.given]
    for area in given:
        line = raised.intersection(area)
        assert line.geom_type == "Polygon"
        assert area.exterior.distance(line) == pytest.approx(0.2, abs=1e-6)
        # As wide as it should be: a slightly thinner disc gets around inside, a wider one nowhere.
        assert not line.buffer(-0.39).is_empty
        assert line.buffer(-0.41).area < 0.01 * line.area
    free = card.board.cells.difference(*(one.cells for one in card.challenge.given))
    assert len(shapely.get_parts(raised.difference(union_all(given)))) == len(free)


def test_a_template_shows_blockers_and_a_dot_on_free_cells_alone() -> None:
    puzzle = load_set("dicesquare")
    profile, board = profile_of(puzzle), puzzle.boards[0]
    corner = area_of(puzzle, puzzle.lattice.cells_at(0, 0), profile.unit_mm)
    tops = []
    for name in ("roll-A1-A2-C3-E1-A4-E4-F1", "roll-D2-B2-D3-E1-A4-F4-F1"):
        member = puzzle.find_member(name)
        assert member is not None
        raised = section_at(draft_card(puzzle, board, member, profile).steps, 1.3)
        tops.append(raised)
        assert len(shapely.get_parts(raised)) == len(board.cells)
        for cells, width in ((member.minus, corner.bounds[2] - 2), (member.region, 1.6)):
            for cell in cells:
                area = area_of(puzzle, [cell], profile.unit_mm)
                mark = raised.intersection(area)
                sides = np.subtract(mark.bounds[2:], mark.bounds[:2])
                assert sides == pytest.approx((width, width), abs=1e-6)
                assert mark.centroid.distance(area.centroid) < 1e-6
        opened = replace(member, blocked=False)
        raised = section_at(draft_card(puzzle, board, opened, profile).steps, 1.3)
        assert not raised.intersects(area_of(puzzle, member.minus, profile.unit_mm))
        assert len(shapely.get_parts(raised)) == len(member.region)
    assert tops[0].symmetric_difference(tops[1]).area > 100


def test_a_template_has_rings_on_the_cells_of_its_own_clues() -> None:
    puzzle = load_set("iqstars")
    profile, board = profile_of(puzzle), puzzle.boards[0]
    told, of_board, *_ = sorted(board.cells)
    board = replace(board, clues=(Clue(frozenset({of_board}), colour="#112233"),))
    clues = (*board.clues, Clue(frozenset({told}), piece=puzzle.pieces[0].id))
    challenge = replace(puzzle.whole_board(board), clues=clues)
    raised = section_at(draft_card(puzzle, board, challenge, profile).steps, 1.3)
    for cell in board.cells:
        mark = raised.intersection(area_of(puzzle, [cell], profile.unit_mm))
        if cell == told:
            ring = mark
        else:
            assert mark.bounds[2] - mark.bounds[0] == pytest.approx(1.6)
    # Its line is as wide as those of given pieces.
    (inside,) = ring.interiors
    assert ring.exterior.distance(inside) == pytest.approx(0.8, abs=0.01)
    # Where it has no room, there is a dot, as on other cells.
    small = draft_card(puzzle, board, challenge, profile_of(puzzle, "unit=4mm"))
    (raised,) = (step.shapes for step in small.steps[1:])
    assert len(raised) == len(board.cells)


def test_a_template_too_small_for_its_lines_is_refused() -> None:
    puzzle = load_set("fridgeiq")
    lattice = puzzle.lattice
    cells = frozenset(c for row in range(4) for col in range(4) for c in lattice.cells_at(row, col))
    quarter = frozenset(lattice.cells_at(0, 0)[:1])
    board = Board("box", cells)
    start = Challenge("start", cells, ("D",), (Given("D", quarter),))
    with pytest.raises(DrawingError, match=r"line of 0\.8 mm .* piece D fills it; choose a la"):
        draft_card(puzzle, board, start, profile_of(puzzle, "unit=4mm"))
    two = frozenset({*lattice.cells_at(0, 0), *lattice.cells_at(1, 1)})
    with pytest.raises(DrawingError, match="has 2 parts"):
        draft_card(puzzle, Board("two", two), Challenge("start", two, ("D",)), profile_of(puzzle))


# --- files --------------------------------------------------------------------------------------


def entry(puzzle: PuzzleSet, name: str) -> dict[str, Any]:
    """A challenge as a list has it."""
    start, rows = started(puzzle, 2, name), puzzle.lattice.row_col
    return {
        "id": name,
        "board": puzzle.boards[0].id,
        "pieces": list(start.pieces),
        "given": [
            {"piece": one.piece, "cells": sorted(list(rows(cell)) for cell in one.cells)}
            for one in start.given
        ],
        "result": {"level": "expert", "difficulty": {"score": 6.789, "tries": 1.0}},
    }


def listed(folder: Path, puzzle: PuzzleSet, *entries: dict[str, Any], **more: Any) -> Path:
    path = folder / "challenges.json"
    document = {"schema": 1, "set": puzzle.name, "challenges": list(entries)}
    path.write_text(json.dumps(document | more))
    return path


@pytest.fixture
def block(tmp_path: Path) -> tuple[PuzzleSet, Path]:
    puzzle = load_set("iqblock")
    return puzzle, listed(tmp_path, puzzle, entry(puzzle, "start-001"), entry(puzzle, "start-002"))


@pytest.mark.integration
def test_cards_are_written_and_their_templates_measure(
    block: tuple[PuzzleSet, Path], tmp_path: Path, run_json: Callable[..., Any]
) -> None:
    puzzle, _ = block
    found = run_json("cards", "iqblock", "made-start-002", "-o", str(tmp_path))
    assert [(one["id"], one["level"], one["score"]) for one in found["cards"]] == [
        ("made-start-002", "junior", 6.789)
    ]
    names = ["cards/made-start-002.svg", "cards/cards-1.svg", "cards/made-start-002.stl"]
    assert found["files"] == names
    (body,) = read_meshes(tmp_path / names[2])
    start, profile = started(puzzle, 2, "made-start-002"), profile_of(puzzle)
    drawing = draft_card(puzzle, puzzle.boards[0], start, profile)
    assert (body.vertices.min(axis=0)[2], body.vertices.max(axis=0)[2]) == pytest.approx((0, 1.6))
    sections = Sections(body)
    for height in (0.25, 0.75, 1.3):
        cut, wanted = sections.at(height), section_at(drawing.steps, height)
        assert cut.symmetric_difference(wanted).area < 0.003 * wanted.area
    before = {name: (tmp_path / name).read_bytes() for name in names}
    run_json("cards", "iqblock", "made-start-002", "-o", str(tmp_path))
    assert {name: (tmp_path / name).read_bytes() for name in names} == before


def test_paper_alone_is_for_as_many_as_are_wanted(
    block: tuple[PuzzleSet, Path], tmp_path: Path, run_json: Callable[..., Any]
) -> None:
    out = tmp_path / "out"
    ask = ("cards", "iqblock", "--file", str(block[1]), "--no-templates", "-o", str(out))
    assert len(run_json(*ask)["cards"]) == 2
    names = ["cards-1.svg", "cards-2.svg", "start-001.svg", "start-002.svg"]
    assert sorted(one.name for one in (out / "cards").iterdir()) == names
    assert [one["id"] for one in run_json(*ask, "--count", "1")["cards"]] == ["start-001"]


def test_a_challenge_file_makes_a_card(tmp_path: Path, run_json: Callable[..., Any]) -> None:
    path = tmp_path / "mine <b>.toml"
    path.write_text('given = [{ piece = "yellow", cells = [[0, 4], [0, 5], [0, 6], [1, 4]] }]')
    found = run_json("cards", "iqstars", "--file", str(path), "--no-templates", "-o", str(tmp_path))
    (card,) = found["cards"]
    assert (card["id"], card["level"], card["given"]) == ("mine-b", None, ["yellow"])
    assert (tmp_path / "cards" / "mine-b.svg").is_file()


@pytest.mark.parametrize("name", ["iqblock", "fridgeiq"])
def test_a_catalog_is_read_like_a_list(tmp_path: Path, name: str) -> None:
    catalog = ROOT / "pieces" / "catalogs" / f"{name}.json"
    ids = [one["id"] for one in json.loads(catalog.read_text())["challenges"] if one.get("given")]
    found = starting_positions(load_set(name), catalog, tmp_path)
    assert [one.challenge.id for one in found] == ids != []


def test_titles_are_no_markup(tmp_path: Path) -> None:
    text = (ROOT / "pieces" / "iqblock.toml").read_text(encoding="utf-8")
    title = "<script>alert(1)</script> & more"
    path = tmp_path / "mine.toml"
    path.write_text(re.sub(r"\ntitle = .*", f'\ntitle = "{title}"', text, count=1))
    puzzle = load_set(str(path))
    source = card_svg(puzzle, card_of(puzzle), profile_of(puzzle))
    assert "<script" not in source
    assert title in texts(root_of(source))[0]


def test_a_list_is_read_with_all_its_faults(tmp_path: Path) -> None:
    puzzle = load_set("iqblock")
    one, unknown = entry(puzzle, "start-001"), entry(puzzle, "start-002") | {"board": "nowhere"}
    for entries, head, says in (
        ([one | {"id": "../evil"}], {}, r"challenges\[0\]\.id|challenge\[.*id"),
        ([one, one, unknown], {}, "(?s)is listed twice.*nowhere"),
        ([one], {"set": "iqfit"}, 'contains challenges of "iqfit", not of "iqblock"'),
    ):
        path = listed(tmp_path, puzzle, *entries, **head)
        with pytest.raises(InputError, match=says):
            starting_positions(puzzle, path, tmp_path)


def test_any_challenge_has_a_card(tmp_path: Path, run_json: Callable[..., Any]) -> None:
    """Also one without given pieces, one that fills no board, and the starts of a set without one."""
    block = load_set("iqblock")
    path = tmp_path / "corner.json"
    corner = [0, 1, 2, 3, 8, 9, 10, 11]
    path.write_text(json.dumps({"cells": corner, "given": [{"piece": "0", "cells": corner}]}))
    (card,) = cards_for(block, (), path, tmp_path)
    assert (card.board.id, card.board.cells) == ("corner", card.challenge.region)
    plain = ["--no-templates", "-o", str(tmp_path / "out")]
    for name, given in (("square_01", []), ("start-001", ["I"])):
        (card,) = run_json("cards", "fridgeiq", name, *plain)["cards"]
        assert (card["id"], card["board"], card["given"]) == (name, name, given)
    found = run_json("cards", "fridgeiq", "--count", "8", *plain)
    assert [one["id"] for one in found["cards"]] == [f"start-00{n}" for n in range(1, 9)]
    assert (tmp_path / "out/cards/start-008.svg").is_file()


def test_cards_without_a_possible_template_are_named(
    tmp_path: Path, run_json: Callable[..., Any]
) -> None:
    found = run_json("cards", "fridgeiq", "start-021", "start-024", "-o", str(tmp_path))
    assert found["warnings"][-1] == (
        "start-024: no raised template, since the region has 2 parts that meet in points at most, "
        "so that no single plate fits it"
    )
    assert [path.name for path in (tmp_path / "cards").glob("*.stl")] == ["start-021.stl"]


def test_a_list_beside_the_sets_own_starts_keeps_names_apart(tmp_path: Path) -> None:
    text = (ROOT / "pieces" / "iqstars.toml").read_text(encoding="utf-8")
    own = '\n[[challenge]]\nid = "start-001"\ngiven = [{ piece = "red", cells = [0, 1, 7, 8] }]\n'
    path = tmp_path / "mine.toml"
    path.write_text(text.replace('"iqstars"', '"mine"') + own)
    puzzle = load_set(str(path))
    listed(tmp_path, puzzle, entry(puzzle, "start-001"))
    found = starting_positions(puzzle, None, tmp_path)
    assert [one.challenge.id for one in found] == ["start-001", "made-start-001"]


def test_who_has_no_starting_positions_is_told_how_to_get_some(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shipped = (ROOT / "pieces" / "iqblock.toml").read_text()
    Path("own.toml").write_text(shipped.replace('name = "iqblock"', 'name = "own"'))
    assert main(["cards", "own.toml", "-o", "out"]) == 2
    assert (
        "has no starting positions; generate some with `fabkit challenges own.toml`"
        in capsys.readouterr().err
    )
    assert not Path("out").exists()
