"""Challenges, their solutions and steps as drawn, held against shapes that are drawn a second way."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from shapely import Polygon, union_all

from fabkit.model.entry import Entry
from fabkit.model.library import load_set
from fabkit.model.puzzle import Given
from fabkit.model.setfile import read_set
from fabkit.output.challenge import assembly_steps, challenge_sheet, steps_sheet
from fabkit.output.typeset import text_width_mm
from tests.support.drawings import (
    SVG,
    Case,
    case,
    of_class,
    page_mm,
    posed_entry,
    rings,
    root_of,
    scale_of,
    shape_of,
    shapes,
    texts,
)

CASES = (
    "fridgeiq square_01",
    "cubimagici tray",
    "iqfit",
    "mixed",
    pytest.param("fridgeiq square_10", marks=pytest.mark.long),
    pytest.param("iqstars", marks=pytest.mark.long),
    pytest.param("odd", marks=pytest.mark.long),
)


@pytest.fixture(scope="module", params=CASES)
def drawn(request: pytest.FixtureRequest) -> Case:
    return case(request.param)


def test_the_solution_covers_the_region_once(drawn: Case) -> None:
    puzzle, entry = drawn
    root = root_of(challenge_sheet(puzzle, entry, 20.0))
    regions, pieces = shapes(root, "region"), shapes(root, "piece")
    assert len(regions) == 2
    assert len(pieces) == len(entry.given) + len(entry.solution or {})
    asked, answered = regions
    assert asked.intersection(answered).area == 0, "the panels lie on each other"
    in_solution = pieces[len(entry.given) :]
    assert sum(piece.area for piece in in_solution) == pytest.approx(answered.area, rel=1e-4)
    assert union_all(in_solution).area == pytest.approx(answered.area, rel=1e-4)
    for given in pieces[: len(entry.given)]:
        assert asked.buffer(0.01).contains(given)


def test_every_piece_lies_where_the_solution_says(drawn: Case) -> None:
    puzzle, entry = drawn
    root = root_of(challenge_sheet(puzzle, replace(entry, given=()), 20.0))
    unit_mm = 20.0 / scale_of(root)
    whole = shape_of(puzzle, entry, entry.region, unit_mm)
    _, answered = shapes(root, "region")
    dx, dy = answered.bounds[0] - whole.bounds[0], answered.bounds[1] + whole.bounds[3]
    ids = [piece.id for piece in puzzle.pieces if piece.id in (entry.solution or {})]
    for one, found in zip(ids, shapes(root, "piece"), strict=True):
        wanted = shape_of(puzzle, entry, (entry.solution or {})[one], unit_mm).centroid
        assert found.centroid.x == pytest.approx(wanted.x + dx, abs=0.01)
        assert found.centroid.y == pytest.approx(dy - wanted.y, abs=0.01)


def test_pieces_have_the_colours_of_the_set(drawn: Case) -> None:
    puzzle, entry = drawn
    root = root_of(challenge_sheet(puzzle, entry, 20.0))
    colours = [path.get("fill") for path in of_class(root, "piece")]
    given = {one.piece for one in entry.given}
    expected = [piece.colour for piece in puzzle.pieces if piece.id in given]
    assert colours == expected + [one.colour for one in puzzle.select(list(entry.solution or {}))]


def test_every_label_lies_well_inside_its_piece(drawn: Case) -> None:
    puzzle, entry = drawn
    root = root_of(challenge_sheet(puzzle, entry, 20.0))
    pieces, labels = shapes(root, "piece"), shapes(root, "label")
    for piece, label in zip(pieces, labels, strict=True):
        assert piece.contains(label)
        low, high = label.bounds[1], label.bounds[3]
        assert piece.exterior.distance(label) >= 0.1 * (high - low)
        assert high - low >= 3


def test_nothing_leaves_the_page_or_lies_on_the_title(drawn: Case) -> None:
    puzzle, entry = drawn
    root = root_of(challenge_sheet(puzzle, entry, 20.0, "118 solutions"))
    width, height = page_mm(root)
    assert width <= 300
    title, summary = list(root.iter(f"{SVG}text"))[:2]
    assert "118 solutions" in (summary.text or "")
    for text in root.iter(f"{SVG}text"):
        size, left = float(text.get("font-size", "")), float(text.get("x", ""))
        assert left + 0.5 * size * len(text.text or "") <= width
        assert float(text.get("y", "")) <= height - 5
    for region in shapes(root, "region"):
        left, top, right, bottom = region.bounds
        assert left >= 9.99
        assert right <= width - 9.99
        assert bottom <= height - 10
        assert top > float(summary.get("y", "")) + 3 > float(title.get("y", ""))


@pytest.mark.parametrize("draw", [challenge_sheet, steps_sheet])
@pytest.mark.parametrize(
    "title", ["W" * 20, "W" * 60, "DAS GROSSE MÜHLRAD AM BACH", "漢字" * 8, "漢字" * 40]
)
def test_a_wide_title_ends_on_the_page(title: str, draw: Callable[..., str]) -> None:
    """A letter that the font lacks is as wide as it is high."""
    puzzle, entry = case("fridgeiq square_01")
    root = root_of(draw(puzzle, replace(entry, title=title), 20.0))
    width, _ = page_mm(root)
    said = texts(root)[0]
    assert 10 + text_width_mm(said, 7.0, bold=True) <= width - 9.99
    assert 10 + 7.0 * sum(letter in "漢字" for letter in said) <= width - 9.99
    assert width <= 300
    assert said == f"FridgeIQ · {title}" or (said.endswith("…") and len(said) > 35)


def test_the_same_challenge_gives_the_same_bytes(drawn: Case) -> None:
    puzzle, entry = drawn
    shuffled = dict(sorted((entry.solution or {}).items(), key=lambda one: one[0][::-1]))
    other = replace(entry, solution=shuffled)
    assert challenge_sheet(puzzle, entry, 20.0) == challenge_sheet(puzzle, other, 20.0)


def test_a_challenge_alone_fills_a_page_of_its_own() -> None:
    puzzle, entry = case("iqstars board")
    source = challenge_sheet(puzzle, replace(entry, solution=None), 15.0)
    root = root_of(source)
    assert texts(root)[2] == "challenge"
    assert "one solution" not in source
    (region,) = shapes(root, "region")
    assert region.area == pytest.approx(26 * 15**2 * 3**0.5 / 2, rel=1e-3)


def test_a_shape_is_a_plain_silhouette_unless_cells_are_asked_for() -> None:
    puzzle, entry = case("fridgeiq square_01")
    alone = replace(entry, solution=None)
    plain, with_cells = (
        root_of(challenge_sheet(puzzle, alone, 20.0, grid=grid)) for grid in (False, True)
    )
    assert [one.get("class") for one in of_class(plain, "region")] == ["silhouette region"]
    assert not list(of_class(plain, "faint-line"))
    (cells,) = of_class(with_cells, "faint-line")
    # A square of 3 x 3 has two lines of three edges each way.
    assert len(rings(cells)) == 12
    assert all(len(edge) == 2 for edge in rings(cells))


def test_boards_and_given_pieces_are_shown_with_their_cells_and_seats() -> None:
    puzzle, entry = case("iqstars")
    assert entry.given
    root = root_of(challenge_sheet(puzzle, replace(entry, solution=None), 20.0))
    assert len(shapes(root, "piece")) == len(entry.given)
    assert len(list(of_class(root, "faint-line"))) == 1
    fit, start = case("iqfit")
    root = root_of(challenge_sheet(fit, replace(start, solution=None, given=()), 15.0))
    assert len(list(of_class(root, "seat"))) == 50


def test_chequered_pieces_show_their_tones_on_one_lattice_and_on_two() -> None:
    """Four times as many cells, half as large: it looks the same."""
    cubi, entry = case("cubimagici tray")
    plain = shapes(root_of(challenge_sheet(cubi, entry, 20.0)), "tone")

    def halved(cells: frozenset[tuple[int, int]]) -> frozenset[tuple[int, int]]:
        return frozenset(
            (2 * x + dx, 2 * y + dy) for x, y in cells for dx in (-1, 1) for dy in (-1, 1)
        )

    halves = replace(
        entry,
        region=halved(entry.region),
        solution={one: halved(cells) for one, cells in (entry.solution or {}).items()},
        halves=2,
    )
    finer = shapes(root_of(challenge_sheet(cubi, halves, 20.0)), "tone")
    assert len(plain) == len(finer) == len(cubi.pieces)
    assert sum(tone.area for tone in plain) > 0
    for one, other in zip(plain, finer, strict=True):
        assert one.symmetric_difference(other).area < 0.01


ODD = """
[set]
name = "odd"
title = "<script>alert(1)</script> & \\"friends\\" ]]> that will not end before the page does"
lattice = "square"
moves = "rotations"

[[piece]]
id = "ring"
label = "<&>"
cells = [[0, 0], [0, 1], [0, 2], [1, 0], [1, 2], [2, 0], [2, 1], [2, 2]]

[[piece]]
id = "dot"
label = "☃"
cells = [[0, 0]]

[[piece]]
id = "away"
label = "WMW"
cells = [[0, 0], [1, 0], [2, 0]]

[[challenge]]
id = "two-parts"
cells = [
    [0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2], [2, 0], [2, 1], [2, 2],
    [0, 4], [1, 4], [2, 4],
]
"""


@pytest.fixture
def odd(tmp_path: Path) -> Case:
    path = tmp_path / "odd.toml"
    path.write_text(ODD, encoding="utf-8")
    puzzle = read_set(path)
    return puzzle, posed_entry(puzzle, "two-parts")


def test_names_with_markup_stay_text(odd: Case) -> None:
    puzzle, entry = odd
    titled = replace(entry, title='"><img src=x> שלום')
    source = challenge_sheet(puzzle, titled, 20.0, "<b>1</b> & \x00 \u202e")
    root = root_of(source)
    assert not re.search("<script|<img|<b>|\x00|\u202e", source)
    said = texts(root)
    assert said[0].startswith("<script>alert(1)</script> & ")
    assert '· "><img src=x> שלום' in said[0]
    assert "<b>1</b> &  " in said[1]
    assert "☃" in said


def test_long_labels_and_rings_are_labelled_inside(odd: Case) -> None:
    puzzle, entry = odd
    root = root_of(challenge_sheet(puzzle, entry, 20.0))
    pieces = shapes(root, "piece")
    assert sum(piece.area for piece in pieces) == pytest.approx(shapes(root, "region")[1].area)
    ring, away = pieces[0], pieces[2]
    for piece, label in zip((ring, away), shapes(root, "label"), strict=True):
        assert piece.contains(label)


def test_what_is_known_of_a_challenge_is_said() -> None:
    puzzle, entry = case("even4-03")
    assert texts(root_of(challenge_sheet(puzzle, entry, 20.0)))[1] == (
        f"16 pieces · {entry.count:,} solutions · {entry.level}"
    )
    some = Entry("x", "Some", "start", entry.region, ("A", "R"), flips=True, count=1)
    assert texts(root_of(challenge_sheet(puzzle, some, 20.0)))[:2] == [
        "FridgeIQ · Some",
        "2 pieces · flips allowed · 1 solution or more",
    ]


# --- steps --------------------------------------------------------------------------------------


def test_each_piece_touches_what_lies_there_or_the_border(drawn: Case) -> None:
    puzzle, entry = drawn
    solution = entry.solution or {}
    area = {one: shape_of(puzzle, entry, cells, 1.0) for one, cells in solution.items()}
    border = shape_of(puzzle, entry, entry.region, 1.0).boundary
    given = [one.piece for one in entry.given]
    laid = list(given)
    for step in assembly_steps(puzzle.lattice, entry):
        assert list(step.before) == laid
        (new,) = step.new
        there = union_all([area[one] for one in laid]) if laid else Polygon()
        by_pieces = area[new].boundary.intersection(there.buffer(1e-6)).length
        by_border = area[new].boundary.intersection(border.buffer(1e-6)).length
        assert by_pieces > 0.2 or by_border > 0.2
        # The border alone does only where no piece that is left touches one that lies there.
        if laid and by_pieces < 0.2:
            left = [one for one in solution if one not in laid]
            assert all(area[one].intersection(there.buffer(1e-6)).length < 0.3 for one in left)
        laid.append(new)
    assert sorted(laid) == sorted(solution)


def test_a_panel_for_each_step_and_one_for_the_whole(drawn: Case) -> None:
    puzzle, entry = drawn
    root = root_of(steps_sheet(puzzle, entry, 20.0))
    steps = assembly_steps(puzzle.lattice, entry)
    regions, pieces = shapes(root, "region"), list(of_class(root, "piece"))
    assert len(regions) == len(steps) + 1
    for place, one in enumerate(regions):
        assert all(one.intersection(other).area == 0 for other in regions[:place])
    whole = shape_of(puzzle, entry, entry.region, 20.0 / scale_of(root))
    assert regions[0].area == pytest.approx(whole.area, rel=1e-3)
    numbers = [text for text in texts(root) if text.isdigit()]
    assert numbers[: len(steps)] == [str(n) for n in range(1, len(steps) + 1)]
    strong = "0.4" if puzzle.made_of_balls else "1"
    full = [path.get("fill") for path in pieces if path.get("fill-opacity") == strong]
    colour = {piece.id: piece.colour for piece in puzzle.pieces}
    new = [colour[step.new[0]] for step in steps]
    ids = [piece.id for piece in puzzle.pieces if piece.id in (entry.solution or {})]
    assert full == new + [colour[one] for one in ids]
    pale = len(entry.given) * len(steps) + sum(range(len(steps)))
    assert len(pieces) - len(full) == pale
    width, height = page_mm(root)
    assert width <= 300
    for region in regions:
        left, top, right, bottom = region.bounds
        assert min(left, top, width - right, height - bottom) > 9.99


def test_given_pieces_lie_there_from_the_beginning() -> None:
    puzzle, entry = case("fridgeiq square_10")
    solution = entry.solution or {}
    given = tuple(Given(one, solution[one]) for one in ("D", "A"))
    steps = assembly_steps(puzzle.lattice, replace(entry, given=given))
    assert steps[0].before == ("D", "A")
    assert len(steps) == len(solution) - 2


def test_pieces_that_are_turned_over_are_told() -> None:
    puzzle, entry = case("cubimagici tray")
    said = texts(root_of(steps_sheet(puzzle, entry, 20.0)))
    assert any(text.endswith(", turned over") for text in said)
    turned = texts(root_of(steps_sheet(puzzle, replace(entry, flips=False), 20.0)))
    assert not any("turned over" in text for text in turned)


def test_captions_stay_below_their_panels(tmp_path: Path) -> None:
    """And they name every piece, also those that differ at the ends of their names only."""
    ids = [f"a-rather-long-name-of-bar-{place:02d}" for place in range(30)]
    lines = ['[set]\nname = "many"\nlattice = "square"\nmoves = "rotations"']
    lines += [f'[[piece]]\nid = "{one}"\noutline = [[0,0],[2,0],[2,1],[0,1]]' for one in ids]
    path = tmp_path / "many.toml"
    path.write_text("\n".join(lines))
    puzzle = load_set(str(path))
    unit = puzzle.lattice.per_unit
    solution = {
        one: frozenset(
            (unit * (2 * (place % 5) + side) + unit // 2, unit * (place // 5) + unit // 2)
            for side in (0, 1)
        )
        for place, one in enumerate(ids)
    }
    region = frozenset().union(*solution.values())
    root = root_of(
        steps_sheet(puzzle, Entry("w", "W", "challenge", region, (), solution=solution), 20.0)
    )
    said = [one for one in root.iter(f"{SVG}text") if "bar" in (one.text or "")]
    assert sorted((one.text or "").rstrip(";") for one in said) == ids
    lefts = sorted({float(one.get("x", "")) for one in said})
    for one in said:
        left = float(one.get("x", ""))
        following = [other for other in lefts if other > left] or [page_mm(root)[0]]
        assert left + text_width_mm(one.text or "", 3.6) < following[0] - 5
    floors = [region.bounds[3] for region in shapes(root, "region")]
    for one in said:
        assert not any(0 < floor - float(one.get("y", "")) < 20 for floor in floors)


def test_very_many_pieces_are_laid_several_at_a_time() -> None:
    fridgeiq = load_set("fridgeiq")
    _, entry = case("fridgeiq square_01")
    cells = [
        frozenset((x + 6 * n, y) for x, y in [(3, 1), (5, 3), (3, 5), (1, 3)]) for n in range(60)
    ]
    many = replace(
        entry,
        region=frozenset().union(*cells),
        solution={f"p{n}": one for n, one in enumerate(cells)},
    )
    steps = assembly_steps(fridgeiq.lattice, many)
    assert [len(step.new) for step in steps] == [3] * 20
    assert steps[0].new == ("p0", "p1", "p2")
