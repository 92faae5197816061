"""Challenges, solutions and steps as drawn, held against shapes that are drawn a second way."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from shapely import Polygon, affinity, union_all

from fabkit.model.entry import entry_of
from fabkit.model.puzzle import Challenge, Given
from fabkit.output.challenge import assembly_steps, challenge_sheet, steps_sheet
from fabkit.output.theme import LIGHT
from fabkit.output.typeset import text_width_mm
from fabkit.sets.library import load_set
from fabkit.sets.set_file import read_set
from tests.support.booklets import silhouette
from tests.support.drawings import (
    SVG,
    case,
    of_class,
    page_mm,
    pixels,
    posed_entry,
    rings,
    root_of,
    scale_of,
    shape_of,
    shapes,
    texts,
)
from tests.support.entries import altered

of_every_kind = pytest.mark.parametrize(
    "name",
    [
        "fridgeiq square_01",
        "cubimagici tray",
        "iqfit",
        "mixed",
        *(
            pytest.param(name, marks=pytest.mark.long)
            for name in ("fridgeiq square_10", "iqstars", "odd")
        ),
    ],
)


@of_every_kind
def test_challenge_and_solution_lie_where_they_should(name: str) -> None:
    puzzle, entry = case(name)
    solution = entry.solution or {}
    source = challenge_sheet(puzzle, entry, 20.0, "118 solutions")
    root, scale = root_of(source), scale_of(root_of(source))
    regions, pieces, labels = (shapes(root, one) for one in ("region", "piece", "label"))
    assert regions[0].intersection(regions[1]).area == 0, "the panels lie on each other"
    layouts = [{one.piece: one.cells for one in entry.challenge.given}, solution]
    ids = [[one.id for one in puzzle.pieces if one.id in layout] for layout in layouts]
    (bar,) = of_class(root, "unit")
    assert np.ptp(rings(bar)[0], axis=0)[0] == pytest.approx(20.0 / scale, abs=1e-3)
    wanted = []
    for region, layout, names in zip(regions, layouts, ids, strict=True):
        whole = shape_of(puzzle, entry, entry.challenge.region, 20.0 / scale)
        dx, dy = region.bounds[0] - whole.bounds[0], region.bounds[1] + whole.bounds[3]
        for cells in (entry.challenge.region, *(layout[one] for one in names)):
            upright = shape_of(puzzle, entry, cells, 20.0 / scale)
            down = affinity.scale(upright, 1, -1, origin=(0, 0))
            wanted.append(affinity.translate(down, dx, dy))
        assert region.symmetric_difference(wanted.pop(-1 - len(names))).area < 0.002 * whole.length
    for piece, found in zip(pieces, wanted, strict=True):
        assert piece.symmetric_difference(found).area < 0.002 * found.length
    colours = {one.id: one.colour for one in puzzle.pieces}
    drawn = [path.get("fill") for path in of_class(root, "piece")]
    assert drawn == [colours[one] for names in ids for one in names]
    for piece, label in zip(pieces, labels, strict=True):
        assert piece.contains(label)
        height = label.bounds[3] - label.bounds[1]
        assert piece.exterior.distance(label) >= 0.1 * height
        assert height >= 3
    # Around all pieces is a dark line, and in the middle of it a light one.
    edges, joints = (list(of_class(root, f"{line}-line")) for line in ("edge", "joint"))
    assert [one.get("d") for one in edges] == [one.get("d") for one in joints]
    assert sum(len(rings(one)) for one in edges) >= len(pieces)
    for edge, joint in zip(edges, joints, strict=True):
        assert float(joint.get("stroke-width", "")) < 0.5 * float(edge.get("stroke-width", ""))
    # Nothing leaves the page or lies on the title.
    width, height = page_mm(root)
    assert width <= 300
    title, summary = list(root.iter(f"{SVG}text"))[:2]
    challenge = entry.challenge
    parts = [f"{len(challenge.pieces)} pieces"]
    parts += [f"{len(challenge.given)} given" if challenge.given else ""]
    parts += ["flips allowed" if challenge.flips else "", "118 solutions", entry.level]
    assert summary.text == " · ".join(one for one in parts if one)
    for text in root.iter(f"{SVG}text"):
        size, left = float(text.get("font-size", "")), float(text.get("x", ""))
        assert left + 0.5 * size * len(text.text or "") <= width
        assert float(text.get("y", "")) <= height - 5
    for region in regions:
        left, top, right, bottom = region.bounds
        assert min(left, width - right, height - bottom) >= 9.99
        assert top > float(summary.get("y", "")) + 3 > float(title.get("y", ""))
    shuffled = dict(sorted(solution.items(), key=lambda one: one[0][::-1]))
    again = challenge_sheet(puzzle, altered(entry, solution=shuffled), 20.0, "118 solutions")
    assert again == source


@pytest.mark.parametrize("name", ["mixed", pytest.param("even4-03", marks=pytest.mark.long)])
def test_a_silhouette_has_the_size_that_is_stated_in_its_picture(name: str) -> None:
    """Width, height and area between the middles of its rim, ranges 0.2 mm and 0.5 %."""
    puzzle, entry = case(name)
    alone = altered(entry, solution=None, given=())
    source = challenge_sheet(puzzle, alone, 10.0, theme="light")
    assert scale_of(root_of(source)) == 1
    found, per_mm = pixels(source, 12.0)
    drawn = shape_of(puzzle, entry, entry.challenge.region, 1.0)
    assert silhouette(found, 25.4 * per_mm, LIGHT.silhouette).differs(drawn, 10.0) == []


def test_a_wide_title_ends_on_the_page() -> None:
    """A letter that the font lacks is as wide as it is high."""
    puzzle, entry = case("fridgeiq square_01")
    for title in ("W" * 20, "W" * 60, "DAS GROSSE MÜHLRAD AM BACH", "漢字" * 40):
        for draw in (challenge_sheet, steps_sheet):
            root = root_of(draw(puzzle, altered(entry, title=title), 20.0))
            width, heading = page_mm(root)[0], texts(root)[0]
            assert 10 + text_width_mm(heading, 7.0, bold=True) <= width - 9.99
            assert 10 + 7.0 * sum(letter in "漢字" for letter in heading) <= width - 9.99
            assert width <= 300
            assert heading == f"FridgeIQ · {title}" or (heading.endswith("…") and len(heading) > 35)


def test_a_heading_counts_the_pieces_that_are_used() -> None:
    puzzle, entry = case("fridgeiq square_01")
    root = root_of(challenge_sheet(puzzle, altered(entry, pieces_count=2), 20.0))
    assert any(line.startswith("2 pieces") for line in texts(root))


def test_cells_and_sockets_are_shown_where_they_help() -> None:
    def alone(name: str, given: bool = False, **options: bool) -> list[list[str | None]]:
        puzzle, entry = case(name)
        entry = altered(entry, solution=None, given=entry.challenge.given if given else ())
        source = challenge_sheet(puzzle, entry, 15.0, **options)
        assert texts(root_of(source))[2] == "challenge"
        assert "one solution" not in source
        classes = ("region", "faint-line", "socket", "piece")
        return [[one.get("d") for one in of_class(root_of(source), name)] for name in classes]

    region, cells, sockets, pieces = alone("fridgeiq square_01")
    assert (len(region), cells, sockets, pieces) == (1, [], [], [])
    _, (cells_of_square,), *_ = alone("fridgeiq square_01", grid=True)
    # A square of 3 x 3 has two lines of three edges each way.
    assert (cells_of_square or "").count("M") == 12
    _, cells, _, pieces = alone("iqstars", given=True)
    assert (len(cells), len(pieces)) == (1, len(case("iqstars")[1].challenge.given))
    assert len(alone("iqfit")[2]) == 50


def test_chequered_pieces_show_their_tones_on_one_lattice_and_on_two() -> None:
    """Four times as many cells, half as large: it looks the same."""
    cubi, entry = case("cubimagici tray")
    plain = shapes(root_of(challenge_sheet(cubi, entry, 20.0)), "tone")

    def halved(cells: frozenset[tuple[int, int]]) -> frozenset[tuple[int, int]]:
        corners = list(product((-1, 1), repeat=2))
        return frozenset((2 * x + dx, 2 * y + dy) for x, y in cells for dx, dy in corners)

    halves = altered(
        entry,
        region=halved(entry.challenge.region),
        solution={one: halved(cells) for one, cells in (entry.solution or {}).items()},
        halves=2,
    )
    finer = shapes(root_of(challenge_sheet(cubi, halves, 20.0)), "tone")
    assert len(plain) == len(finer) == len(cubi.pieces)
    assert sum(tone.area for tone in plain) > 0
    for one, other in zip(plain, finer, strict=True):
        assert one.symmetric_difference(other).area < 0.01


ODD = """
piece = [
  { id = "ring", label = "<&>", rows = ["XXX", "X.X", "XXX"] },
  { id = "dot", label = "☃", rows = ["X"] },
  { id = "away", label = "WMW", rows = ["X", "X", "X"] },
]
challenge = [
  { id = "two-parts", outline = [[[0, 0], [3, 0], [3, 3], [0, 3]], [[4, 0], [5, 0], [5, 3], [4, 3]]] },
]
[set]
name = "odd"
title = "<script>alert(1)</script> & \\"friends\\" ]]> that will not end before the page does"
lattice = "square"
moves = "rotations"
"""


def test_names_with_markup_stay_text_and_long_labels_lie_inside(tmp_path: Path) -> None:
    path = tmp_path / "odd.toml"
    path.write_text(ODD, encoding="utf-8")
    puzzle = read_set(path)
    entry = altered(posed_entry(puzzle, "two-parts"), title='"><img src=x> שלום')
    source = challenge_sheet(puzzle, entry, 20.0, "<b>1</b> & \x00 \u202e")
    assert not re.search("<script|<img|<b>|\x00|\u202e", source)
    root = root_of(source)
    lines = texts(root)
    assert lines[0].startswith("<script>alert(1)</script> & ")
    assert '· "><img src=x> שלום' in lines[0]
    assert "<b>1</b> &  " in lines[1]
    assert "☃" in lines
    ring, _, away = shapes(root, "piece")
    for piece, label in zip((ring, away), shapes(root, "label"), strict=True):
        assert piece.contains(label)


# --- steps --------------------------------------------------------------------------------------


@pytest.mark.every(2)
@of_every_kind
def test_each_step_lays_a_piece_beside_others_or_at_the_border(name: str) -> None:
    puzzle, entry = case(name)
    solution = entry.solution or {}
    area = {one: shape_of(puzzle, entry, cells, 1.0) for one, cells in solution.items()}
    border = shape_of(puzzle, entry, entry.challenge.region, 1.0).boundary
    placed = [one.piece for one in entry.challenge.given]
    steps = assembly_steps(puzzle.lattice, entry)
    for step in steps:
        assert list(step.before) == placed
        (new,) = step.new
        there = union_all([area[one] for one in placed]) if placed else Polygon()
        by_pieces = area[new].boundary.intersection(there.buffer(1e-6)).length
        by_border = area[new].boundary.intersection(border.buffer(1e-6)).length
        assert by_pieces > 0.2 or by_border > 0.2
        # The border alone does only where no piece that is left touches one that lies there.
        if placed and by_pieces < 0.2:
            left = [one for one in solution if one not in placed]
            assert all(area[one].intersection(there.buffer(1e-6)).length < 0.3 for one in left)
        elif placed and puzzle.lattice.name == "square":
            # Of those that touch others it touches most, of them and of the border.
            touching = [border, there.boundary]
            lengths = [
                sum(area[one].boundary.intersection(line.buffer(1e-6)).length for line in touching)
                for one in [new, *(one for one in solution if one not in placed)]
                if area[one].boundary.intersection(there.buffer(1e-6)).length > 0.2
            ]
            assert lengths[0] > max(lengths) - 0.01
        placed.append(new)
    assert sorted(placed) == sorted(solution)

    root = root_of(steps_sheet(puzzle, entry, 20.0))
    regions, pieces = shapes(root, "region"), list(of_class(root, "piece"))
    assert len(regions) == len(steps) + 1
    whole = shape_of(puzzle, entry, entry.challenge.region, 20.0 / scale_of(root))
    width, height = page_mm(root)
    assert width <= 300
    for place, one in enumerate(regions):
        assert one.area == pytest.approx(whole.area, rel=1e-3)
        assert all(one.intersection(other).area == 0 for other in regions[:place])
        left, top, right, bottom = one.bounds
        assert min(left, top, width - right, height - bottom) > 9.99
    numbers = [text for text in texts(root) if text.isdigit()]
    assert numbers[: len(steps)] == [str(n) for n in range(1, len(steps) + 1)]
    strong = "0.4" if puzzle.made_of_balls else "1"
    full = [path.get("fill") for path in pieces if path.get("fill-opacity") == strong]
    colour = {piece.id: piece.colour for piece in puzzle.pieces}
    at_the_end = [one.colour for one in puzzle.pieces if one.id in solution]
    assert full == [colour[step.new[0]] for step in steps] + at_the_end
    pale = len(entry.challenge.given) * len(steps) + sum(range(len(steps)))
    assert len(pieces) - len(full) == pale


def test_given_pieces_are_placed_first_and_turned_ones_are_marked() -> None:
    puzzle, entry = case("cubimagici tray")
    given = tuple(Given(one, cells) for one, cells in list((entry.solution or {}).items())[:2])
    steps = assembly_steps(puzzle.lattice, altered(entry, given=given))
    assert steps[0].before == tuple(one.piece for one in given)
    assert len(steps) == len(entry.solution or {}) - 2
    captions = texts(root_of(steps_sheet(puzzle, entry, 20.0)))
    assert any(text.endswith(", turned over") for text in captions)
    turned = texts(root_of(steps_sheet(puzzle, altered(entry, flips=False), 20.0)))
    assert not any("turned over" in text for text in turned)


def test_captions_stay_below_their_panels(tmp_path: Path) -> None:
    """And they name every piece, also those that differ at the ends of their names only."""
    ids = [f"a-rather-long-name-of-bar-{place:02d}" for place in range(30)]
    lines = ['[set]\nname = "many"\nlattice = "square"\nmoves = "rotations"']
    lines += [f'[[piece]]\nid = "{one}"\noutline = [[0,0],[2,0],[2,1],[0,1]]' for one in ids]
    path = tmp_path / "many.toml"
    path.write_text("\n".join(lines))
    puzzle = load_set(str(path))
    places = {one: divmod(place, 5) for place, one in enumerate(ids)}
    cells_at = puzzle.lattice.cells_at
    solution = {
        one: frozenset((*cells_at(row, 2 * column), *cells_at(row, 2 * column + 1)))
        for one, (row, column) in places.items()
    }
    region = frozenset().union(*solution.values())
    entry = entry_of(Challenge("w", region, (), title="W")).with_result(solution=solution)
    root = root_of(steps_sheet(puzzle, entry, 20.0))
    captions = [one for one in root.iter(f"{SVG}text") if "bar" in (one.text or "")]
    assert sorted((one.text or "").rstrip(";") for one in captions) == ids
    lefts = sorted({float(one.get("x", "")) for one in captions})
    for one in captions:
        left = float(one.get("x", ""))
        following = [other for other in lefts if other > left] or [page_mm(root)[0]]
        assert left + text_width_mm(one.text or "", 3.6) < following[0] - 5
