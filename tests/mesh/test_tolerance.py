"""The tolerance stack-up: closed forms, exact distributions, rows of known shapes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from string import ascii_uppercase

import numpy as np
import pytest
import shapely
import trimesh
from hypothesis import given
from hypothesis import strategies as st
from shapely import LineString, Polygon, affinity

from fabkit.core.errors import InputError
from fabkit.mesh.fitting.rows import Row, Solution, loops
from fabkit.mesh.fitting.tolerance import (
    DRAWS,
    SHARE,
    PrinterError,
    Tolerance,
    noise,
    stack,
    tolerance,
)
from fabkit.mesh.part import Outline, Part
from fabkit.model.lattice import LATTICES
from fabkit.model.library import load_set
from fabkit.model.puzzle import in_units
from fabkit.verify.answers import answer_catalog
from fabkit.verify.taking import take
from tests.support.prints import Order, print_set
from tests.support.shapes import body_of

SQUARE = LATTICES["square"]
INSET_MM = 0.12
UNIT_MM = 20.0


# --- parts of known shape -----------------------------------------------------------------


def polyomino(cells: Sequence[tuple[int, int]], inset_mm: float = INSET_MM) -> Part:
    """Unit squares, by column and row from below, as a part that is exactly inset."""
    squares = [shapely.box(x, y, x + 1, y + 1) for x, y in cells]
    whole = shapely.union_all(squares).simplify(0)
    canonical = affinity.scale(whole, UNIT_MM, UNIT_MM, origin=(0, 0))
    area = canonical.buffer(-inset_mm, join_style="mitre")
    body = body_of(trimesh.creation.extrude_polygon(area, 6.0, engine="manifold"), "a polyomino")
    frame = frozenset((2 * x + 1, 2 * y + 1) for x, y in cells)
    outline = Outline(frame, (), UNIT_MM, UNIT_MM, inset_mm, (inset_mm, inset_mm), canonical)
    return Part(body, body.vertices, outline=outline)


def solved(*pieces: Sequence[tuple[int, int]]) -> Solution:
    """Polyominoes called A, B, C … where they are drawn."""
    layout = {
        name: frozenset((2 * x + 1, 2 * y + 1) for x, y in cells)
        for name, cells in zip(ascii_uppercase, pieces, strict=False)
    }
    return Solution("challenge", frozenset().union(*layout.values()), layout)


def parts_of(*pieces: Sequence[tuple[int, int]]) -> dict[str, Part]:
    return {name: polyomino(cells) for name, cells in zip(ascii_uppercase, pieces, strict=False)}


def stack_up(*pieces: Sequence[tuple[int, int]], error_mm: float = 0.1) -> Tolerance:
    return tolerance(parts_of(*pieces), SQUARE, [solved(*pieces)], PrinterError(error_mm))


def squares_in_a_row(count: int) -> list[list[tuple[int, int]]]:
    return [[(x, 0)] for x in range(count)]


def plain_row(sides: int, inset_mm: float = INSET_MM) -> Row:
    length_mm, slack_mm = 10.0 * sides, sides * inset_mm
    place, lengths_mm = ((0.0, 0.0), (length_mm, 0.0)), (length_mm, length_mm - slack_mm, slack_mm)
    return Row("row", ("A",) * (sides // 2), "", 0.0, *place, *lengths_mm, (1.0,) * sides)


# --- closed forms -------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 5, 12])
@pytest.mark.parametrize("error_mm", [0.0, 0.05, 0.12, 0.3])
def test_equal_squares_in_a_row(count: int, error_mm: float) -> None:
    found = stack_up(*squares_in_a_row(count), error_mm=error_mm)
    (only,) = found.stacks
    sides = 2 * count
    assert only.row.pieces == tuple("ABCDEFGHIJKL"[:count])
    assert (only.row.degrees, only.row.within, len(only.row.sides)) == (0.0, "", sides)
    assert only.row.nominal_mm == pytest.approx(count * UNIT_MM)
    assert only.row.plastic_mm == pytest.approx(count * (UNIT_MM - 2 * INSET_MM))
    assert only.row.slack_mm == pytest.approx(sides * INSET_MM)
    assert only.worst_slack_mm == pytest.approx(sides * (INSET_MM - error_mm), abs=1e-6)
    assert only.rattle_mm == pytest.approx(sides * (INSET_MM + error_mm))
    assert only.closes == found.closes == (error_mm <= INSET_MM)
    assert found.worst is not None
    assert found.worst.inset_mm == pytest.approx(error_mm)
    assert (only.row.start_mm, only.row.end_mm) == ((0.0, 10.0), (count * UNIT_MM, 10.0))


def irwin_hall(count: int, total: float) -> float:
    """The chance that so many uniform numbers in 0..1 sum up to at most that."""
    if total <= 0 or total >= count:
        return float(total > 0)
    terms = (
        (-1) ** k * math.comb(count, k) * (total - k) ** count for k in range(math.floor(total) + 1)
    )
    return sum(terms) / math.factorial(count)


@pytest.mark.parametrize("sides", [1, 2, 4, 8, 14])
def test_draws_follow_the_exact_distribution(sides: int) -> None:
    drawn = noise((1.0,) * sides, 3)
    # Dvoretzky, Kiefer and Wolfowitz: farther off than this one time in a million.
    allowed = math.sqrt(math.log(2e6) / (2 * DRAWS))
    for value in np.linspace(-sides, sides, 41):
        exact = irwin_hall(sides, (value + sides) / 2)
        assert abs((drawn <= value).mean() - exact) < allowed
    assert drawn.var() == pytest.approx(sides / 3, rel=0.06)


@pytest.mark.parametrize("sides", [2, 6, 10])
def test_share_and_quantiles_are_exact_within_sampling(sides: int) -> None:
    error_mm = 0.2
    found = stack(plain_row(sides), error_mm, seed=5)

    def below(slack_mm: float) -> float:
        value = (slack_mm / sides - INSET_MM) / error_mm * sides
        return irwin_hall(sides, (value + sides) / 2)

    exact = 1 - below(0.0)
    assert 0.5 < exact < 1
    assert abs(found.share - exact) < 5 * math.sqrt(exact * (1 - exact) / DRAWS)
    for quantile_mm, part in zip(found.quantiles_mm, (0.05, 0.95), strict=True):
        assert abs(below(quantile_mm) - part) < 5 * math.sqrt(0.05 * 0.95 / DRAWS)


def test_seeds_decide_the_draws() -> None:
    row = plain_row(6)
    assert stack(row, 0.2, 1) == stack(row, 0.2, 1)
    assert stack(row, 0.2, 1).quantiles_mm != stack(row, 0.2, 2).quantiles_mm
    sides = (1.0, 2.0, 1.5)
    assert all((noise(some, 1) == noise(sides, 1)).all() for some in itertools.permutations(sides))


@pytest.mark.parametrize("count", [1, 3, 8])
def test_the_likely_inset_is_the_least_that_does(count: int) -> None:
    error_mm = 0.2
    found = stack_up(*squares_in_a_row(count), error_mm=error_mm)
    assert found.likely_longest is not None
    assert found.likely is not None
    inset_mm = found.likely_longest.inset_mm
    for inset, enough in ((inset_mm, True), (inset_mm - 0.01, False)):
        share = stack(plain_row(2 * count, inset), error_mm).share
        assert (share >= SHARE) == enough
    # A column of one square evens nothing out: 1 - sqrt(2 * 0.005) = 0.9 of the error.
    assert found.likely.row == f"challenge {'ABCDEFGH'[count - 1]}" or count == 1
    assert found.likely.inset_mm == pytest.approx(0.18, abs=0.011)


lengths_mm = st.floats(0, 1)


@given(st.integers(1, 9).map(lambda n: 2 * n), lengths_mm, lengths_mm, lengths_mm)
def test_monotone_in_the_error(sides: int, inset_mm: float, one: float, other: float) -> None:
    row = plain_row(sides, inset_mm)
    low, high = (stack(row, error) for error in sorted((one, other)))
    assert low.worst_slack_mm >= high.worst_slack_mm
    assert low.rattle_mm <= high.rattle_mm
    assert low.share >= high.share
    assert low.closes or not high.closes
    for found in (low, high):
        low_mm, high_mm = found.quantiles_mm
        assert found.worst_slack_mm - 1e-9 <= low_mm <= high_mm <= found.rattle_mm + 1e-9
        assert not found.closes or found.share == 1


@given(st.data())
def test_loops_decide_whether_rigid_things_can_lie(data: st.DataObject) -> None:
    """Against Bellman and Ford: gaps are at least 0 for some shifts, or a row is too full."""
    inner = data.draw(st.lists(st.sampled_from("ABCD"), min_size=1, max_size=8))
    names = ["", *[name for name, _ in itertools.groupby(inner)], ""]
    gaps = data.draw(st.lists(st.integers(-2, 3), min_size=len(names) - 1, max_size=len(names) - 1))
    found = list(loops(names))
    assert len(set(found)) == len(found)
    shift = dict.fromkeys(names, 0)
    edges = list(zip(names, names[1:], gaps, strict=False))
    for _ in shift:
        for left, right, gap in edges:
            shift[left] = min(shift[left], shift[right] + gap)
    fits = all(shift[left] <= shift[right] + gap for left, right, gap in edges)
    assert fits == all(sum(gaps[gap] for gap in loop) >= 0 for loop in found)


# --- rows ---------------------------------------------------------------------------------

U = [(0, 0), (1, 0), (2, 0), (0, 1), (2, 1)]


def stretched(part: Part, by_mm: float) -> Part:
    """Longer along x, beyond the middle of its box: a fault that no outline tells."""
    x, y, z = part.vertices.T
    longer = x + by_mm * (x > (x.min() + x.max()) / 2)
    return replace(part, vertices=np.column_stack([longer, y, z]))


def test_a_row_between_the_arms_of_a_piece() -> None:
    solution, good = solved(U, [(1, 1)]), parts_of(U, [(1, 1)])
    found = tolerance(good, SQUARE, [solution], PrinterError(0.0))
    assert found.closes
    assert found.stacks[0].row.pieces == ("A", "B")
    assert found.stacks[0].row.degrees == 90.0
    # The notch is 0.24 mm wider than drawn, and what lies in it 0.24 mm narrower.
    wide = {**good, "B": stretched(good["B"], 0.6)}
    found = tolerance(wide, SQUARE, [solution], PrinterError(0.0))
    assert found.stacks[0].closes
    assert not found.closes
    assert found.worst is not None
    assert found.worst.row == "challenge B in A"
    assert found.worst.inset_mm == pytest.approx(0.15)  # 0.12 mm lie short by 0.12 mm on 4 sides
    # A itself has all the room that it needs around the row.
    assert tolerance(good, SQUARE, [solution], PrinterError(INSET_MM)).closes
    assert not tolerance(good, SQUARE, [solution], PrinterError(INSET_MM + 0.002)).closes


def test_longest_row_of_a_region_in_two_parts_and_with_a_hole() -> None:
    ring = [(0, 0), (1, 0), (2, 0), (2, 1), (2, 2), (1, 2), (0, 2), (0, 1)]
    halves = ring[:4], ring[4:]
    far = [[(x, 7)] for x in range(10, 13)]
    found = stack_up(*halves, *far)
    (only,) = found.stacks
    assert only.row.pieces == ("C", "D", "E")
    assert only.row.nominal_mm == pytest.approx(3 * UNIT_MM)
    assert only.row.start_mm == pytest.approx((200, 150))
    # In the ring a line through the hole meets two rows of one piece each.
    alone = stack_up(*halves)
    assert alone.stacks[0].row.pieces == ("A", "B")
    assert alone.stacks[0].row.degrees == 90.0


def test_of_equal_rows_the_tightest_is_told_and_then_the_first() -> None:
    grid = [[(x, y)] for y in range(3) for x in range(3)]
    assert stack_up(*grid).stacks[0].row.pieces == ("A", "B", "C")
    parts = parts_of(*grid)
    parts["H"] = stretched(parts["H"], 0.1)
    (only,) = tolerance(parts, SQUARE, [solved(*grid)], PrinterError(0.1)).stacks
    assert only.row.pieces == ("G", "H", "I")


def test_cells_that_no_piece_covers_are_room() -> None:
    solution = solved([(0, 0)], [(2, 0)])
    open_ended = replace(solution, region=solution.region | {(3, 1), (7, 1), (1, 5)})
    parts = parts_of([(0, 0)], [(0, 0)])
    (only,) = tolerance(parts, SQUARE, [open_ended], PrinterError(0.1)).stacks
    assert only.row.pieces == ("A", "B")
    assert only.row.slack_mm == pytest.approx(2 * UNIT_MM + 4 * INSET_MM)


def test_nothing_to_stack_up() -> None:
    unsolved = Solution("impossible", frozenset({(1, 1)}), {})
    found = tolerance({}, SQUARE, [unsolved], PrinterError(0.1))
    assert found.ok
    assert (found.stacks, found.worst, found.likely, found.magnets) == ((), None, None, None)


def test_a_part_of_another_shape_is_refused() -> None:
    with pytest.raises(InputError, match=r"A.*does not have the shape"):
        tolerance(parts_of([(0, 0)]), SQUARE, [solved(U)], PrinterError(0.1))


def test_magnets() -> None:
    for bores_mm, hole_mm, squeeze_mm, goes_in in (
        ([10.1], 0.0, (-0.1, -0.1), True),
        ([10.1, 10.05], 0.2, (0.1, 0.15), True),
        ([10.1, 10.0], 0.2, (0.1, 0.2), False),
    ):
        error = PrinterError(0.1, hole_mm)
        found = tolerance({}, SQUARE, [], error, magnet_mm=10.0, bores_mm=bores_mm)
        assert found.magnets is not None
        assert found.magnets.squeeze_mm == pytest.approx(squeeze_mm)
        assert found.ok == found.magnets.goes_in == goes_in
        assert ("loose" in found.magnets.message) == (squeeze_mm[1] < 0)


# --- real exports -------------------------------------------------------------------------


@pytest.mark.integration
@pytest.mark.parametrize("set_name", ["fridgeiq", "iqstars", "iqblock"])
def test_rows_of_real_exports(set_name: str, tmp_path: Path) -> None:
    prints = print_set(set_name, Order((), (f"inset={INSET_MM} mm",)), tmp_path)
    puzzle = load_set(set_name)
    puzzle = replace(puzzle, challenges=puzzle.challenges[::4])
    taken = take([body_of(one.mesh, one.drawing.id) for one in prints], puzzle, UNIT_MM)
    parts, answers = taken.pieces(), answer_catalog(taken.as_read, None)
    solutions = [
        Solution(one.challenge.id, one.challenge.region, one.layout)
        for one in answers
        if one.layout
    ]
    error = PrinterError(0.15)
    found = tolerance(parts, puzzle.lattice, solutions, error)
    assert [one.row.challenge for one in found.stacks] == [s.challenge for s in solutions]
    assert found.inset_mm == pytest.approx(INSET_MM, abs=2e-4)
    for one, solution in zip(found.stacks, solutions, strict=True):
        row = one.row
        line = LineString([row.start_mm, row.end_mm])
        assert row.plastic_mm == pytest.approx(row.nominal_mm - row.slack_mm, abs=1e-9)
        assert row.nominal_mm == pytest.approx(line.length, abs=1e-6)
        # Both ends lie on the region's border, and nothing is open between them.
        rings = [in_units(puzzle.lattice, puzzle.lattice.ring(c)) for c in solution.region]
        cells = [Polygon(np.array(ring) * UNIT_MM) for ring in rings]
        region = shapely.union_all(cells, grid_size=1e-6)
        assert region.buffer(0.01).contains(line)
        assert all(
            region.exterior.distance(shapely.Point(end)) < 0.01
            for end in (row.start_mm, row.end_mm)
        )
        # Whatever was drawn is inset by the same on each side, also where sides slant.
        assert row.slack_mm == pytest.approx(INSET_MM * row.give, abs=0.002)
        assert one.worst_slack_mm == pytest.approx((INSET_MM - 0.15) * row.give, abs=0.002)
        assert len(row.sides) == 2 * len(row.pieces)
    assert found.worst is not None
    assert found.likely_longest is not None
    assert found.likely is not None
    assert found.worst.inset_mm == pytest.approx(0.15)
    assert found.likely_longest.inset_mm <= found.likely.inset_mm <= found.worst.inset_mm
    assert not found.closes
