"""Published numbers of solutions on the lattices of hexagons and their parts, counted and
certified.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import compress
from math import prod
from pathlib import Path

import pytest
import shapely

from fabkit.certify.document import parse
from fabkit.certify.verdict import verify_content
from fabkit.cli.main import main
from fabkit.core.formats import json_text
from fabkit.model.lattice import LATTICES, Cell, Lattice
from fabkit.model.puzzle import Challenge, PuzzleSet, to_units
from fabkit.sets.library import load_set
from fabkit.solve.answer import solve
from fabkit.solve.certificate import make_certificate
from fabkit.solve.encoding import to_exact_cover
from tests.support.published import known_counts
from tests.support.sketches import Sketch, flat

#: The corners of a hexagon; the second coordinate in units of the square root of 3.
_SIXTHS = [(1, 0), (0.5, 0.5), (-0.5, 0.5), (-1, 0), (-0.5, -0.5), (0.5, -0.5)]

TETRAHEXES = known_counts("tetrahexes")
#: These take a second or two; one of each lattice is counted in every run.
QUICK = {("hexiamonds", "parallelogram"), *(("tetrahexes", board) for board in TETRAHEXES)}
PUBLISHED = [
    pytest.param(name, board, count, marks=[pytest.mark.integration] * ((name, board) not in QUICK))
    for name in ("hexiamonds", "tetrahexes")
    for board, count in known_counts(name).items()
]


@pytest.mark.in_turn
@pytest.mark.parametrize(("name", "board", "count"), PUBLISHED)
def test_counts_are_those_published_and_certified(
    name: str, board: str, count: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    certificate = str(tmp_path / "certificate.json")
    arguments = ["solve", name, board, "--count", "--certificate", certificate]
    assert main(arguments) == (0 if count else 1)
    found = capsys.readouterr().out
    assert f"{count} up to symmetry" in found if count else "no solution" in found
    assert main(["certify", certificate]) == 0
    found = capsys.readouterr().out
    assert f"{count} up to symmetry" in found if count else "has no solution" in found


def cells_inside(lattice: Lattice, shape: shapely.Geometry) -> frozenset[Cell]:
    """The cells whose centroids are in a drawing."""
    left, low, right, high = shape.bounds
    rows = range(round(-1.2 * high) - 2, round(-1.2 * low) + 3)
    cols = range(round(left) * 2 - 4, round(right) * 2 + 5)
    around = [cell for row in rows for col in cols for cell in lattice.cells_at(row, col)]
    inside = shapely.contains_xy(shape, to_units(lattice, around))
    return frozenset(compress(around, inside))


def divided(coarse: Lattice, fine: Lattice, cells: Iterable[Cell]) -> frozenset[Cell]:
    """The cells of a finer lattice inside cells."""
    rings = [to_units(coarse, coarse.ring(cell)) for cell in cells]
    return cells_inside(fine, shapely.union_all([*map(shapely.Polygon, rings)]))


@pytest.mark.parametrize("fine", ["kite", "drafter"])
@pytest.mark.parametrize(
    ("name", "board"),
    [
        pytest.param("hexiamonds", "rhombus", marks=pytest.mark.integration),
        ("tetrahexes", "parallelogram"),
    ],
)
def test_the_same_puzzle_in_kites_and_drafters_has_as_many_solutions(
    name: str, board: str, fine: str
) -> None:
    """Pieces of whole triangles or hexagons have the same placements, whatever these are cut into."""
    coarse = load_set(name)
    split = LATTICES[fine]
    pieces = [
        flat(fine, piece.id, divided(coarse.lattice, split, piece.forms[0].cells))
        for piece in coarse.pieces
    ]
    (region,) = (one.cells for one in coarse.boards if one.id == board)
    puzzle = PuzzleSet("mine", "Mine", split, True, tuple(pieces))
    ids = tuple(piece.id for piece in pieces)
    challenge = Challenge("one", divided(coarse.lattice, split, region), ids, flips=True)
    encoded = to_exact_cover(puzzle, challenge)
    answer = solve(encoded, "count")
    assert answer.count_up_to_symmetry == known_counts(name)[board]
    certificate = json_text({"schema": 1, **make_certificate(encoded, "count")})
    assert verify_content(parse(json.loads(certificate), "mine.json")).holds


@pytest.mark.parametrize("side", [1, 2])
def test_lozenges_fill_a_hexagon_as_macmahon_counted(side: int) -> None:
    """Percy MacMahon, Combinatory Analysis (1916): the plane partitions in a box of a x b x c."""
    lattice = LATTICES["triangle"]
    corner = lattice.ring(lattice.first[0])[0]  # where six triangles meet
    ((x, y),) = to_units(lattice, [corner])
    points = [(x + side * dx, y + side * dy * 3**0.5) for dx, dy in _SIXTHS]
    region = cells_inside(lattice, shapely.Polygon(points))
    pair = frozenset({*lattice.cells_at(0, 0), *lattice.cells_at(0, 1)})
    pieces = tuple(flat("triangle", f"L{number}", pair) for number in range(len(region) // 2))
    encoded = Sketch(lattice, region, pieces).encoded
    box = range(1, side + 1)
    expected = prod(i + j + k - 1 for i in box for j in box for k in box)
    expected //= prod(i + j + k - 2 for i in box for j in box for k in box)
    assert solve(encoded, "count").count == expected
