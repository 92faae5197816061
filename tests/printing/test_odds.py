"""The odds that a challenge fits together: closed forms, and sets that are printed and assembled."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
import shapely
from numpy.typing import NDArray
from shapely import Polygon, affinity
from shapely.geometry.base import BaseGeometry

from fabkit.core.errors import InputError
from fabkit.mesh.fitting.contacts import Solution
from fabkit.mesh.part import Outline, Part
from fabkit.model.lattice import LATTICES, Cell, Lattice
from fabkit.model.polygon import rings_of_cells
from fabkit.model.puzzle import to_units
from fabkit.printing.dual_simplex import maximize
from fabkit.printing.odds import DRAWS, Odds, PrinterError, simulate_tolerances
from tests.support.shapes import body_of

SQUARE = LATTICES["square"]
INSET_MM, UNIT_MM = 0.12, 20.0
Shape = Sequence[tuple[int, int]]
Floats = NDArray[np.float64]
Insets = float | Sequence[float] | Floats


# --- parts of known shape -----------------------------------------------------------------


def corners_mm(lattice: Lattice, cells: frozenset[Cell]) -> Floats:
    """Of an area without holes, counter-clockwise; side k begins at corner k."""
    (ring,) = rings_of_cells(lattice, cells)
    return np.array(to_units(lattice, ring)) * UNIT_MM


def inset(corners: Floats, insets_mm: Floats) -> Polygon:
    """The polygon whose sides are moved inwards, each by its own."""
    along = np.roll(corners, -1, axis=0) - corners
    inwards = np.column_stack([-along[:, 1], along[:, 0]]) / np.linalg.norm(along, axis=1)[:, None]
    rooms = (inwards * corners).sum(axis=1) + insets_mm
    pairs = np.stack([np.roll(inwards, 1, axis=0), inwards], axis=1)
    sides = np.column_stack([np.roll(rooms, 1), rooms])
    return Polygon(np.linalg.solve(pairs, sides[:, :, None])[:, :, 0])


def part_of(lattice: Lattice, cells: frozenset[Cell], insets_mm: Insets) -> Part:
    import trimesh

    corners = corners_mm(lattice, cells)
    each_mm = np.broadcast_to(np.asarray(insets_mm, float), len(corners))
    area, mean_mm = inset(corners, each_mm), float(np.mean(each_mm))
    body = body_of(trimesh.creation.extrude_polygon(area, 6.0, engine="manifold"), "a piece")
    rings = rings_of_cells(lattice, cells)
    span = float(np.min(each_mm)), float(np.max(each_mm))
    outline = Outline(cells, rings, UNIT_MM, UNIT_MM, mean_mm, span, Polygon(corners))
    return Part(body, body.vertices, outline=outline)


def squares(shape: Shape) -> frozenset[Cell]:
    return frozenset((2 * x + 1, 2 * y + 1) for x, y in shape)


def solved(*shapes: Shape, clearance_mm: float | None = None) -> Solution:
    """Polyominoes called A, B, C … where they are drawn."""
    layout = dict(zip("ABCDEFGHIJKL", map(squares, shapes), strict=False))
    region = frozenset().union(*layout.values())
    return Solution("challenge", region, layout, clearance_mm)


def odds_of(solution: Solution, error: PrinterError, **insets_mm: Insets) -> Odds:
    parts = {
        key: part_of(SQUARE, cells, insets_mm.get(key, INSET_MM))
        for key, cells in solution.layout.items()
    }
    (only,) = simulate_tolerances(parts, SQUARE, [solution], error).challenges
    return only


def row(count: int) -> list[Shape]:
    return [[(x, 0)] for x in range(count)]


def uniform(side_mm: float) -> PrinterError:
    return PrinterError(side_mm)


# --- closed forms -------------------------------------------------------------------------


def irwin_hall(count: int, total: float) -> float:
    """The chance that so many uniform numbers in 0..1 sum up to at most that."""
    if total <= 0 or total >= count:
        return float(total > 0)
    terms = (
        (-1) ** k * math.comb(count, k) * (total - k) ** count for k in range(math.floor(total) + 1)
    )
    return sum(terms) / math.factorial(count)


@pytest.mark.parametrize(("clearance_mm", "sides"), [(None, 0), (0.25, 2)])
@pytest.mark.parametrize("count", [1, 3, 6])
def test_squares_in_a_row(count: int, sides: int, clearance_mm: float | None) -> None:
    """Along the row with its n sides, and across each square, between border or tray."""
    solution, e_mm = solved(*row(count), clearance_mm=clearance_mm), 0.15
    found, clear_mm = odds_of(solution, uniform(e_mm)), clearance_mm or 0.0
    loops = [(2 * count, 1), (2, count)]
    spare = [INSET_MM + 2 * clear_mm / n for n, _ in loops]
    worst = [(n * INSET_MM + 2 * clear_mm - (n + sides) * e_mm) / n for n, _ in loops]
    assert found.spare_mm == pytest.approx(min(spare), abs=1e-5)
    assert found.worst_mm == pytest.approx(min(worst), abs=1e-5)
    if clearance_mm is None:
        # No two loops have a side in common.
        each = [irwin_hall(n, (n * INSET_MM / e_mm + n) / 2) ** times for n, times in loops]
        exact = math.prod(each) if count > 1 else each[0] ** 2
        assert found.odds == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / DRAWS))
        mean_mm, sd_mm = found.rss_mm
        assert mean_mm == pytest.approx(INSET_MM, abs=1e-5)
        assert sd_mm == pytest.approx(
            e_mm / math.sqrt(3) / math.sqrt(2 * len(found.loop)), abs=1e-5
        )


def test_a_calibrated_printer() -> None:
    """One offset for all, which no number of sides evens out."""
    error = PrinterError(offset_mm=0.05, offset_sd_mm=0.03, side_sd_mm=0.02)
    found = odds_of(solved(*row(1)), error)
    sd_mm = math.hypot(0.03, 0.02 / math.sqrt(2))
    assert found.rss_mm == pytest.approx((0.07, sd_mm), abs=1e-5)
    assert found.worst_mm == pytest.approx(0.07 - 3 * math.hypot(0.03, 0.02), abs=1e-5)
    assert found.rss == pytest.approx(0.5 * math.erfc(-0.07 / sd_mm / math.sqrt(2)), abs=1e-4)
    # Across and along are both to fit together.
    assert 2 * found.rss - 1 - 0.01 < found.odds < found.rss + 0.01


def test_seeds_and_order_do_not_matter() -> None:
    solution = solved([(0, 0)], [(1, 0)], [(0, 1), (1, 1)])
    swapped = replace(solution, layout=dict(reversed(solution.layout.items())))
    assert (
        odds_of(solution, uniform(0.15)).assembles == odds_of(swapped, uniform(0.15)).assembles
    ).all()


# --- graphs of contacts ---------------------------------------------------------------------

U = [(0, 0), (1, 0), (2, 0), (0, 1), (2, 1)]


def test_a_piece_between_the_arms_of_another() -> None:
    """A is rigid: a piece between its arms has the notch to itself, whatever surrounds it."""
    solution = solved(U, [(1, 1)])
    assert odds_of(solution, uniform(INSET_MM)).closes_worst_case
    assert not odds_of(solution, uniform(INSET_MM + 0.002)).closes_worst_case
    wide = odds_of(solution, uniform(0.0), B=-0.02)  # which itself is wider than the notch by 0.04
    assert wide.spare_mm == pytest.approx((INSET_MM - 0.02) / 2)
    wide = odds_of(solution, uniform(0.0), B=[INSET_MM, -0.13, INSET_MM, -0.13])
    assert wide.spare_mm == pytest.approx(-0.005)
    assert (wide.odds, wide.weakest, wide.loop) == (0.0, "A and B", ("A", "B"))
    assert wide.place_mm in ((20.0, 30.0), (40.0, 30.0))


def test_the_tightest_row_decides_and_is_named() -> None:
    grid = [[(x, y)] for y in range(3) for x in range(3)]
    found = odds_of(solved(*grid), uniform(0.1), H=0.02)
    assert found.spare_mm == pytest.approx((4 * INSET_MM + 2 * 0.02) / 6)
    assert "H" in found.loop
    assert "H" in found.weakest.split(" and ")


def test_cells_that_no_piece_covers_are_room() -> None:
    solution = solved([(0, 0)], [(2, 0)])
    open_ended = replace(solution, region=solution.region | squares([(1, 0), (0, 1), (2, 1)]))
    found = odds_of(open_ended, uniform(0.3))
    assert (found.odds, found.weakest, found.loop) == (1.0, "", ())
    assert found.spare_mm > 1
    alone = Solution(
        "alone", squares([(x, y) for x in range(3) for y in range(3)]), solved([(1, 1)]).layout
    )
    assert odds_of(alone, uniform(0.3)).odds == 1.0


def test_what_all_sets_have_in_common() -> None:
    """The same printed pieces are in all challenges."""
    one, other = solved([(0, 0)], [(1, 0)]), solved([(0, 0)], [(0, 1)])
    parts = {key: part_of(SQUARE, cells, INSET_MM) for key, cells in one.layout.items()}
    both = simulate_tolerances(parts, SQUARE, [one, one, other], uniform(0.2))
    first, again, _ = (odds.odds for odds in both.challenges)
    assert first == again
    assert max(0.0, first + both.challenges[2].odds - 1) < both.set_odds < first


def test_the_inset_for_99_percent_does_what_it_says() -> None:
    solution, error = solved(*row(4)), PrinterError(side_sd_mm=0.07)
    found = odds_of(solution, error)
    needed_mm = INSET_MM - found.likely_mm
    again = odds_of(solution, error, **dict.fromkeys("ABCD", needed_mm))
    assert found.odds < 0.98
    assert again.odds == pytest.approx(0.99, abs=1e-3)


def test_snowflakes_are_listed_and_not_judged() -> None:
    """Also those of pieces on two lattices half a unit apart, in cells half as long."""
    pair = solved([(0, 0)], [(1, 0)])
    parts = {key: part_of(SQUARE, cells, 0.02) for key, cells in pair.layout.items()}
    halves = {
        "A": squares([(0, 0), (1, 0), (0, 1), (1, 1)]),
        "B": squares([(2, 1), (3, 1), (2, 2), (3, 2)]),
    }
    flake = Solution("flake", halves["A"] | halves["B"], halves, halves=2)
    found = simulate_tolerances(parts, SQUARE, [], PrinterError(0.1), snowflakes=[flake])
    assert found.ok
    (told_of,) = found.snowflakes
    assert not told_of.closes_worst_case
    assert told_of.spare_mm == pytest.approx(0.02, abs=1e-5)
    assert told_of.odds < 0.9


def test_nothing_to_assemble_and_parts_of_another_shape() -> None:
    found = simulate_tolerances(
        {}, SQUARE, [Solution("impossible", squares([(0, 0)]), {})], uniform(0.1)
    )
    assert (found.ok, found.challenges, found.inset_for(True), found.magnets) == (
        True,
        (),
        None,
        None,
    )
    with pytest.raises(InputError, match=r"A.*does not have the shape"):
        simulate_tolerances(
            {"A": part_of(SQUARE, squares([(0, 0)]), 0.1)}, SQUARE, [solved(U)], uniform(0.1)
        )


def test_magnets() -> None:
    for recesses_mm, hole_mm, interference_mm, goes_in in (
        ([10.1], 0.0, (-0.1, -0.1), True),
        ([10.1, 10.05], 0.2, (0.1, 0.15), True),
        ([10.1, 10.0], 0.2, (0.1, 0.2), False),
    ):
        for error in (PrinterError(0.1, hole_mm), PrinterError(0, hole_mm - 0.03, hole_sd_mm=0.01)):
            found = simulate_tolerances(
                {}, SQUARE, [], error, magnet_mm=10.0, recesses_mm=recesses_mm
            )
            assert found.magnets is not None
            assert found.magnets.interference_mm == pytest.approx(interference_mm)
            assert found.ok == found.magnets.goes_in == goes_in
            assert ("of play" in found.magnets.message) == (interference_mm[1] < 0)


@pytest.mark.parametrize(
    ("recess_mm", "pressed", "goes_in"),
    [(10.17, True, True), (10.23, True, False), (10.5, False, True), (10.5, True, False)],
)
def test_a_pressed_magnet_with_play_in_a_known_hole_fails(
    recess_mm: float, pressed: bool, goes_in: bool
) -> None:
    """The printer is calibrated: its holes print 0.2 mm narrower. Glue needs its clearance."""
    known = PrinterError(0, 0.2, side_sd_mm=0.01, hole_sd_mm=0.01)
    found = simulate_tolerances(
        {}, SQUARE, [], known, magnet_mm=10.0, recesses_mm=[recess_mm], pressed=pressed
    )
    assert found.magnets is not None
    assert found.ok == found.magnets.goes_in == goes_in
    assert ("fall out" in found.magnets.message) == (not goes_in)
    # The width of a hole that nobody measured is not known.
    guessed = simulate_tolerances(
        {}, SQUARE, [], PrinterError(0.1), magnet_mm=10.0, recesses_mm=[recess_mm], pressed=pressed
    )
    assert guessed.ok


# --- printed and assembled -----------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A rectangle, or a patch of hexagons, cut into pieces at random; their sides lie at random."""

    lattice: Lattice
    layout: dict[str, frozenset[Cell]]
    insets_mm: dict[str, Floats]
    clearance_mm: float | None
    error: PrinterError

    @property
    def region(self) -> frozenset[Cell]:
        return frozenset().union(*self.layout.values())

    def odds(self) -> float:
        parts = {
            key: part_of(self.lattice, cells, self.insets_mm[key])
            for key, cells in self.layout.items()
        }
        solution = Solution("case", self.region, self.layout, self.clearance_mm)
        return simulate_tolerances(parts, self.lattice, [solution], self.error).challenges[0].odds


def cut_up(
    lattice: Lattice, region: list[Cell], pieces: int, rng: np.random.Generator
) -> list[set[Cell]]:
    """A region as pieces that grow at random from as many cells, without holes."""
    while True:
        starts = rng.choice(len(region), pieces, replace=False)
        found = [{region[start]} for start in starts]
        left = set(region).difference(*found)
        while left:
            cell = sorted(left)[rng.integers(len(left))]
            edges = {(end, start) for start, end in lattice.cell_edges(cell)}
            beside = [
                piece for piece in found if any(edges & {*lattice.cell_edges(one)} for one in piece)
            ]
            if beside:
                beside[rng.integers(len(beside))].add(cell)
                left.remove(cell)
        if all(len(rings_of_cells(lattice, one)) == 1 for one in found):
            return found


def counter_clockwise(cell: Cell) -> int:
    """The place of a quarter in its square: bottom, right, top, left; 0 for a whole cell."""
    quarters = [(3, 1), (5, 3), (3, 5), (1, 3)]
    x, y = cell[0] % 6, cell[1] % 6
    return quarters.index((x, y)) if (x, y) in quarters else 0


def case_of(seed: int) -> Case:
    """One with odds between 5 % and 99 %."""
    rng = np.random.default_rng([77, seed])
    lattice = LATTICES[("square", "quarter-square", "hexagon")[seed % 3]]
    size = (3, 3) if lattice.name != "quarter-square" else (2, 2)
    # Row by row, and from the bottom of a square counter-clockwise: the cases depend on the order.
    cells = [
        cell
        for row, col in np.ndindex(size)
        for cell in sorted(lattice.cells_at(row, col), key=counter_clockwise)
    ]
    layout = {
        key: frozenset(piece)
        for key, piece in zip("ABCDE", cut_up(lattice, cells, 3 + seed % 3, rng), strict=False)
    }
    insets_mm = {
        key: rng.uniform(0.08, 0.16, len(corners_mm(lattice, one))) for key, one in layout.items()
    }
    clearance_mm = (None, 0.1)[seed // 3 % 2]
    for scale in rng.permutation(np.linspace(0.05, 0.25, 9)):
        error = (
            PrinterError(float(scale)),
            PrinterError(0, 0, 0.3 * scale, 0.2 * scale, 0.5 * scale),
        )[seed // 6 % 2]
        case = Case(lattice, layout, insets_mm, clearance_mm, error)
        if 0.05 < case.odds() < 0.99:
            return case
    raise AssertionError(seed)


def shared(here: Floats, there: Floats) -> Iterator[tuple[int, int, Floats]]:
    """The sides along which two outlines lie, with the normal of the first one's."""
    for i, j in np.ndindex(len(here), len(there)):
        first, second = here[[i, (i + 1) % len(here)]], there[[j, (j + 1) % len(there)]]
        along = first[1] - first[0]
        beside = shapely.LineString(second).buffer(1e-6)
        if shapely.LineString(first).intersection(beside).length > 1e-3:
            yield i, j, np.array([along[1], -along[0]]) / np.linalg.norm(along)


def apart(one: Polygon, other: BaseGeometry) -> tuple[Floats, float]:
    """In which direction, across a side of either, two areas overlap least; and how far."""
    common = shapely.get_coordinates(one.intersection(other))
    sides = np.concatenate(
        [np.diff(shapely.get_coordinates(ring), axis=0) for ring in shapely.get_rings([one, other])]
    )
    normals = sides[:, ::-1] * [1, -1] / np.linalg.norm(sides, axis=1)[:, None]
    normals = np.concatenate([normals, -normals])
    # What is pushed must be the one that is deepest on this side.
    away = common.mean(axis=0) - np.array(one.representative_point().coords[0])
    depths = np.ptp(common @ normals.T, axis=0) + 1e3 * (normals @ away < 0)
    least = int(depths.argmin())
    return normals[least], float(depths[least])


def goes_together(bodies: dict[str, Polygon], rows: list[Floats], rooms: list[float]) -> bool:
    """Whether pieces can be shifted so that nothing overlaps; "" is what is around them.

    Shifts that keep what is drawn side by side apart are found first, small ones; where corners
    still overlap, they are pushed apart.
    """
    import scipy.optimize

    size = 2 * (len(bodies) - 1)
    for _ in range(25):
        found = scipy.optimize.linprog(
            np.ones(2 * size), A_ub=np.hstack([rows, -np.array(rows)]), b_ub=rooms
        )
        if found.x is None:
            return False
        shifts = np.append(found.x[:size] - found.x[size:], [0, 0]).reshape(-1, 2)
        placed = [
            affinity.translate(body, *shift)
            for body, shift in zip(bodies.values(), shifts, strict=True)
        ]
        clear = True
        for i, j in itertools.combinations(range(len(placed)), 2):
            if placed[i].intersection(placed[j]).area > 1e-5:
                out, depth_mm = apart(placed[i], placed[j])
                row = np.zeros(size + 2)
                row[2 * i : 2 * i + 2], row[2 * j : 2 * j + 2] = out, -out
                rows, clear = [*rows, row[:size]], False
                rooms = [*rooms, float(out @ (shifts[i] - shifts[j])) - depth_mm]
        if clear:
            return True
    return False


def share_assembled(case: Case, sets: int, seed: int) -> float:
    """The share of printed sets that somebody can lay into the region, each piece shifted a little."""
    rng, error = np.random.default_rng([99, seed]), case.error
    drawn = {key: corners_mm(case.lattice, cells) for key, cells in case.layout.items()}
    drawn[""] = corners_mm(case.lattice, case.region)
    keys, around = [*drawn], shapely.box(-500, -500, 500, 500)
    beside = [
        (one, i, other, j, out)
        for one, other in itertools.combinations(keys, 2)
        for i, j, out in shared(drawn[one], drawn[other])
    ]
    rows = []
    for one, _, other, _, out in beside:
        row = np.zeros(2 * len(keys))
        row[2 * keys.index(one) :][:2] = out
        row[2 * keys.index(other) :][:2] = -out
        rows.append(row[:-2])
    together = 0
    for _ in range(sets):
        common = rng.normal(error.offset_mm, error.offset_sd_mm)
        insets_mm = {}
        for key, corners in drawn.items():
            off = common + rng.normal(0, error.side_sd_mm, len(corners))
            off += rng.uniform(-error.side_mm, error.side_mm, len(corners))
            insets_mm[key] = case.insets_mm[key] - off if key else off - (case.clearance_mm or 0)
        if case.clearance_mm is None:
            insets_mm[""] = np.zeros(len(drawn[""]))
        bodies = {key: inset(corners, insets_mm[key]) for key, corners in drawn.items()}
        bodies[""] = around.difference(bodies[""])
        rooms = [
            insets_mm[one][i] + insets_mm[other][j] * (1 if other else -1)
            for one, i, other, j, _ in beside
        ]
        together += goes_together(bodies, rows, rooms)
    return together / sets


def agree(seed: int, sets: int) -> None:
    case = case_of(seed)
    odds, share = case.odds(), share_assembled(case, sets, seed)
    spread = math.sqrt(odds * (1 - odds) * (1 / sets + 1 / DRAWS))
    assert abs(share - odds) < 3.5 * spread, (seed, odds, share, spread)


@pytest.mark.in_turn
@pytest.mark.parametrize(("seed", "sets"), [(0, 150), (7, 300), (11, 150)])
def test_simulated_sets_assemble_as_often_as_predicted(seed: int, sets: int) -> None:
    agree(seed, sets)


@pytest.mark.every(4)
@pytest.mark.integration
@pytest.mark.parametrize("seed", range(30))
def test_more_simulated_sets_do(seed: int) -> None:
    agree(seed, 1000)


@pytest.mark.parametrize("seed", range(20))
def test_the_dual_simplex_method_agrees_with_another_solver(seed: int) -> None:
    from scipy.optimize import linprog

    rng = np.random.default_rng(seed)
    rows, size = int(rng.integers(1, 30)), int(rng.integers(1, 8))
    matrix = np.vstack([rng.normal(size=(rows, size)).round(1), np.eye(size)])
    columns = np.tile(np.arange(size), (rows + size, 1))
    aim = rng.uniform(0.1, 1, size)
    rooms = np.hstack([rng.uniform(0, 3, (5, rows)), rng.uniform(1, 10, (5, size))])
    vertices, weights = maximize(aim, columns, matrix, rooms)
    for vertex, weight, room in zip(vertices, weights, rooms, strict=True):
        expected = linprog(-aim, A_ub=matrix, b_ub=room, bounds=(None, None))
        assert aim @ vertex == pytest.approx(-expected.fun)
        assert (matrix @ vertex <= room + 1e-8).all()
        assert weight.min() > -1e-9
        np.testing.assert_allclose(weight @ matrix, aim, atol=1e-9)
