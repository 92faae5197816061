"""The steps of an assembly, held against shapes that are drawn a second way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from shapely import Polygon, union_all

from fabkit.model.entry import Entry
from fabkit.model.library import load_set
from fabkit.model.puzzle import Given
from fabkit.output.challenge import assembly_steps, steps_sheet
from fabkit.output.pdf import text_width_mm
from tests.support.drawings import (
    SVG,
    Case,
    case,
    of_class,
    page_mm,
    root_of,
    scale_of,
    shape_of,
    shapes,
    texts,
)

CASES = ("fridgeiq square_10", "cubimagici tray", "iqfit", "iqstars", "odd", "mixed1-3-e119")


@pytest.fixture(scope="module", params=CASES)
def drawn(request: pytest.FixtureRequest) -> Case:
    return case(request.param)


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
