"""Subset challenges, looked at with shapely and counted by other engines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from shapely import Polygon, union_all
from shapely.affinity import rotate, translate

from fabkit.core.errors import InputError
from fabkit.model.lattice import LATTICES, Cell
from fabkit.model.polygon import rings_of_cells
from fabkit.model.puzzle import Challenge, PuzzleSet, rings_to_units
from fabkit.puzzles.graded.grading import Candidate
from fabkit.puzzles.graded.subsets import (
    SubsetChallenges,
    basic_shapes,
    refuse_unsuitable,
    shape_cells,
)
from fabkit.sets.library import load_set
from fabkit.solve.answer import solve
from fabkit.solve.encoding import to_exact_cover
from fabkit.solve.engines.engine import Budget
from tests.support.algorithm_x import AlgorithmX

DOMINOES = """
set = { name = "mine", lattice = "square", moves = "rotations and flips" }
piece = [
  { id = "A", rows = ["XX"] },
  { id = "B", rows = ["XX"] },
  { id = "V", rows = ["X.", "XX"] },
  { id = "L", rows = ["X.", "X.", "XX"] },
  { id = "I", rows = ["XXX"] },
  { id = "P", rows = ["XX", "XX", "X."] },
]
"""


def take(source: Iterator[Candidate | None], count: int) -> list[Candidate]:
    """The candidates among so many attempts."""
    return [candidate for candidate, _ in zip(source, range(count), strict=False) if candidate]


def polygon(puzzle: PuzzleSet, cells: frozenset[Cell]) -> Polygon:
    outer, *holes = rings_to_units(puzzle.lattice, rings_of_cells(puzzle.lattice, cells))
    return Polygon(outer, holes)


def placed_at_origin(shape: Polygon) -> Polygon:
    return translate(shape, -shape.bounds[0], -shape.bounds[1])


def is_turned(one: Polygon, other: Polygon) -> bool:
    turned = (placed_at_origin(rotate(one, 90 * quarter, origin=(0, 0))) for quarter in range(4))
    return any(each.symmetric_difference(placed_at_origin(other)).area < 1e-9 for each in turned)


SHAPES = ["square of 3 x 3", "rectangle of 4 x 2", "rectangle of 5 x 2", "rectangle of 4 x 3",
          "triangle with legs of 4", "triangle with legs of 5", "triangle with a base of 6"]  # fmt: skip


def test_the_pieces_make_the_shape_in_one_way() -> None:
    """Counted by the frontier; the orbits by Burnside's lemma, not by looking at images. No two are
    alike and none comes with the set: E and R are one shape, and so are B and Q."""
    puzzle = load_set("fridgeiq")
    sources = SubsetChallenges(puzzle).sources(11)
    found = {name: take(sources[name], 60) for name in SHAPES}
    outlines = {piece.id: polygon(puzzle, piece.forms[0].cells) for piece in puzzle.pieces}
    assert sum(map(len, found.values())) >= 20
    alike, letters = str.maketrans("EB", "RQ"), set[tuple[str, str]]()
    shipped = [
        (polygon(puzzle, one.region), sorted("".join(one.pieces).translate(alike)))
        for one in puzzle.challenges
    ]
    for name, candidates in found.items():
        for place, candidate in enumerate(candidates):
            region = polygon(puzzle, candidate.challenge.region)
            parts = {p: polygon(puzzle, cells) for p, cells in candidate.solution.items()}
            assert set(parts) == set(candidate.challenge.pieces)
            assert len(parts) >= 3
            assert sum(part.area for part in parts.values()) == region.area
            assert union_all(list(parts.values())).symmetric_difference(region).area < 1e-9
            assert all(is_turned(outlines[piece], part) for piece, part in parts.items())
            assert candidate.shape == name
            corners = len(region.simplify(0).exterior.coords) - 1
            assert corners == (3 if name.startswith("triangle") else 4)
            if place < 6:
                answer = solve(to_exact_cover(puzzle, candidate.challenge), "count", "count")
                assert (answer.count, answer.count_up_to_symmetry) == (candidate.count, 1)
            chosen = sorted("".join(parts).translate(alike))
            assert (name, "".join(chosen)) not in letters
            letters.add((name, "".join(chosen)))
            assert not any(chosen == theirs and is_turned(region, one) for one, theirs in shipped)


def test_a_small_set_is_searched_to_its_end(tmp_path: Path) -> None:
    """Every choice of pieces with one solution up to symmetry is found, and no other."""
    path = tmp_path / "mine.toml"
    path.write_text(DOMINOES)
    puzzle = load_set(str(path))
    sources = SubsetChallenges(puzzle).sources(1)
    assert "triangle with legs of 4" not in sources
    wholes = {name: [c for c in source if c] for name, source in sources.items()}
    assert sum(map(len, wholes.values())) >= 3
    checked = 0
    for name, corners in basic_shapes(puzzle.lattice, puzzle.area).items():
        region = shape_cells(puzzle.lattice, corners)
        chosen = {tuple(sorted(c.challenge.pieces)) for c in wholes.get(name, [])}
        for bits in range(1, 64):
            pieces = tuple(p.id for place, p in enumerate(puzzle.pieces) if bits >> place & 1)
            if len(pieces) < 3 or ("B" in pieces and "A" not in pieces):
                continue
            if len(region) != sum(len(p.forms[0].cells) for p in puzzle.select(pieces)):
                continue
            encoded = to_exact_cover(puzzle, Challenge("", region, pieces, flips=True))
            solutions = AlgorithmX().enumerate(encoded.problem, Budget()).solutions
            orbits = {
                min(
                    tuple(sorted(image[one] for one in solution))
                    for image in encoded.problem.images
                )
                for solution in solutions
            }
            assert (tuple(sorted(pieces)) in chosen) == (len(orbits) == 1)
            checked += 1
    assert checked >= 20


def test_shapes_lie_on_their_lattice() -> None:
    for name in ("square", "quarter-square"):
        lattice = LATTICES[name]
        shapes = basic_shapes(lattice, 30)
        for corners in shapes.values():
            covered = len(shape_cells(lattice, corners)) / lattice.cells_per_unit
            assert Polygon(corners).area == covered <= 30
        assert any(one.startswith("triangle") for one in shapes) == (name != "square")


def test_sets_of_hexagons_and_balls_are_not_suited() -> None:
    for name in ("iqstars", "iqfit"):
        with pytest.raises(InputError, match="has no board, and its pieces are"):
            refuse_unsuitable(load_set(name))
    refuse_unsuitable(load_set("fridgeiq"))


def test_a_seed_gives_the_same_candidates() -> None:
    def first(seed: int) -> list[object]:
        source = SubsetChallenges(load_set("fridgeiq")).sources(seed)["rectangle of 4 x 2"]
        return [candidate.challenge.pieces for candidate in take(source, 20)]

    assert first(3) == first(3)
    assert first(3) != first(4)
