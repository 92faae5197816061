"""Challenges and solutions drawn with shapely, and what is wrong with a drawn solution.

Pieces and regions are drawn from the set files, which are read here a second time; solutions
are what `rings_of_cells` makes of them. No cell of a lattice is believed.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, reduce
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from shapely import affinity, box

from fabkit.model.lattice import LATTICES, Cell, Ring
from fabkit.model.polygon import rings_of_cells
from fabkit.model.puzzle import to_units
from fabkit.solve.encoding import EncodedChallenge
from fabkit.solve.engines.engine import Solution
from tests.conftest import ROOT

Shape = Any  # shapely has no types
#: An area that rounding may leave.
NOTHING = 1e-9


@dataclass(frozen=True)
class Drawing:
    """A challenge as it is drawn."""

    region: Shape  # what is to be covered
    forms: dict[str, list[Shape]]  # of every piece the flat forms that it can show
    turn_degrees: int  # by multiples of this the forms may be turned,
    flips: bool  # and mirrored
    given: dict[str, Shape] = field(default_factory=dict)
    open_area: float = 0.0  # of the region, in grid units


# --- judging ----------------------------------------------------------------------------------


def faults(drawing: Drawing, placed: dict[str, Shape]) -> list[str]:
    """What is wrong with a solution."""
    found = [f"{piece} is missing" for piece in drawing.forms if piece not in placed]
    found += [f"{piece} is not asked for" for piece in placed if piece not in drawing.forms]
    for piece, shape in placed.items():
        forms = drawing.forms.get(piece, [])
        if not any(congruent(one, shape, drawing.turn_degrees, drawing.flips) for one in forms):
            found.append(f"{piece} is not as drawn")
    for piece, shape in drawing.given.items():
        if piece in placed and placed[piece].symmetric_difference(shape).area > NOTHING:
            found.append(f"{piece} does not lie where it was given")
    names, shapes = list(placed), np.array(list(placed.values()))
    one, other = np.triu_indices(len(shapes), 1)
    common = shapely.area(shapely.intersection(shapes[one], shapes[other]))
    for pair in np.flatnonzero(common > NOTHING):
        found.append(f"{names[one[pair]]} overlaps {names[other[pair]]}")
    whole = shapely.union_all(shapes)
    if whole.difference(drawing.region).area > NOTHING:
        found.append("the region is left")
    if abs(drawing.region.difference(whole).area - drawing.open_area) > NOTHING:
        found.append("the region is not covered")
    return found


@cache
def congruent(form: Shape, shape: Shape, turn_degrees: int, flips: bool) -> bool:
    """Whether a form, turned and perhaps mirrored, can be moved onto a shape."""
    for mirror, turn in product((1, -1) if flips else (1,), range(0, 360, turn_degrees)):
        image = affinity.rotate(affinity.scale(form, xfact=mirror), turn)
        (left, low, *_), (to_left, to_low, *_) = image.bounds, shape.bounds
        moved = affinity.translate(image, to_left - left, to_low - low)
        if moved.symmetric_difference(shape).area < NOTHING:
            return True
    return False


@cache
def even_odd(lattice: str, rings: tuple[Ring, ...]) -> Shape:
    """The shape that the rings describe."""
    shapes = [shapely.Polygon(to_units(LATTICES[lattice], ring)) for ring in rings]
    return reduce(shapely.symmetric_difference, map(shapely.make_valid, shapes))


def placed_shapes(encoded: EncodedChallenge, solution: Solution) -> dict[str, Shape]:
    lattice, layout = encoded.puzzle.lattice, encoded.decode(solution)
    drawn = {piece: rings_of_cells(lattice, cells) for piece, cells in layout.items()}
    return {piece: even_odd(lattice.name, rings) for piece, rings in drawn.items()}


# --- drawing ----------------------------------------------------------------------------------


def unit(lattice: str, row: int, col: int) -> Shape:
    """The unit square, or the hexagon, in a row and a column."""
    if lattice in SQUARES:
        return box(col, -row - 1, col + 1, -row)
    if lattice == "triangle":
        base, tip = (-row - 1, -row) if (row + col) % 2 == 0 else (-row, -row - 1)
        corners = [(col / 2 - 0.5, base), (col / 2 + 0.5, base), (col / 2, tip)]
        return shapely.Polygon([(x, y * math.sqrt(3) / 2) for x, y in corners])
    return hexagon(col + row % 2 / 2, -row * math.sqrt(3) / 2)


#: The lattices of squares; the others are those of hexagons and their parts.
SQUARES = ("square", "quarter-square")


def hexagon(x: float, y: float) -> Shape:
    corners = [math.radians(angle) for angle in range(30, 390, 60)]
    size = 1 / math.sqrt(3)
    return shapely.Polygon([(x + size * math.cos(a), y + size * math.sin(a)) for a in corners])


def together(shapes: Iterable[Shape]) -> Shape:
    return shapely.union_all(list(shapes))


def drawn(table: dict[str, Any], lattice: str) -> Shape:
    """What a table of a set file draws as outline, cells, size or rows."""
    if "outline" in table:
        rings = table["outline"]
        rings = rings if isinstance(rings[0][0], list) else [rings]
        return reduce(shapely.symmetric_difference, map(shapely.Polygon, rings))
    rows = table.get("rows") or ([table["size"][1]] * table["size"][0] if "size" in table else [])
    places = table.get("cells") or [
        (row, col)
        for row, text in enumerate(["X" * row if isinstance(row, int) else row for row in rows])
        for col, letter in enumerate(text)
        if letter.isalpha()
    ]
    return together(unit(lattice, row, col) for row, col in places)


def forms(table: dict[str, Any], lattice: str) -> list[Shape]:
    if "balls" not in table:
        return [drawn(table, lattice)]
    return flat_forms(np.array(table["balls"]), {frozenset(bond) for bond in table["bonds"]})


def flat_forms(balls: np.ndarray, bonds: set[frozenset[int]]) -> list[Shape]:
    """Seen from above: the longest row of balls lies flat, and no ball stands up."""
    place = {tuple(ball): index for index, ball in enumerate(balls.tolist())}
    rows: list[list[int]] = []
    for first, step in product(range(len(balls)), np.eye(3, dtype=int)):
        row = [first]
        while frozenset((row[-1], place.get(tuple((balls[row[-1]] + step).tolist())))) in bonds:
            row.append(place[tuple((balls[row[-1]] + step).tolist())])
        rows.append(row)
    spine = max(rows, key=len)
    found = []
    for axes, signs in product(permutations(np.eye(3, dtype=int)), product((1, -1), repeat=3)):
        turn = np.array(axes) * np.array(signs)[:, None]
        heights = (balls @ turn)[:, 2] - (balls @ turn)[spine[0], 2]
        flat = not heights[spine].any() and set(heights.tolist()) <= {0, -1}
        if flat and round(np.linalg.det(turn)) == 1:
            seen = (balls @ turn)[heights == 0, :2].tolist()
            found.append(together(box(x, y, x + 1, y + 1) for x, y in seen))
    return found


@cache
def file_of(name: str) -> dict[str, Any]:
    path = Path(name) if name.endswith(".toml") else ROOT / "pieces" / f"{name}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def asked(name: str, where: str, pieces: Sequence[str] = (), **changes: Any) -> Drawing:
    """The drawing of a challenge or a board of a set file."""
    document = file_of(name)
    head = document["set"]
    tables = [*document.get("challenge", []), *document.get("board", [])]
    table = next(one for one in tables if one["id"] == where)
    around = next((one for one in tables if one["id"] == where and "board" not in one), table)
    assert table.get("board", where) == where
    pieces = pieces or table.get("pieces") or [piece["id"] for piece in document["piece"]]
    shapes = {
        piece["id"]: forms(piece, head["lattice"])
        for piece in document["piece"]
        if piece["id"] in pieces
    }
    drawing = Drawing(
        drawn(around, head["lattice"]),
        shapes,
        90 if head["lattice"] in SQUARES else 60,
        head["moves"] == "rotations and flips",
    )
    return replace(drawing, **changes)


def cell_drawn(lattice: str, cell: Cell) -> Shape:
    """The cell around a centroid, which is given in frame steps of the lattice."""
    if lattice not in SQUARES:
        return part_of_hexagon(lattice, cell[0] / 24, cell[1] / 24 / math.sqrt(3))
    size = 2 if lattice == "square" else 6
    (col, x), (row, y) = divmod(cell[0], size), divmod(cell[1], size)
    if lattice == "square":
        return box(col, row, col + 1, row + 1)
    (across, up), (mx, my) = np.sign((x - 3, y - 3)) / 2, (col + 0.5, row + 0.5)
    corners = [(mx + across + side * up, my + up - side * across) for side in (1, -1)]
    return shapely.Polygon([(mx, my), *corners])


def part_of_hexagon(lattice: str, x: float, y: float) -> Shape:
    """The hexagon, triangle, kite or drafter around a centroid."""
    height, near = math.sqrt(3) / 2, range(-2, 3)
    row, col = round(y / height), round(x)
    centres = [(col + c + r / 2, (row + r) * height) for r in near for c in near]
    centres = [(cx + row / 2 % 1, cy) for cx, cy in centres]
    centres.sort(key=lambda centre: math.dist(centre, (x, y)))
    if lattice == "hexagon":
        return hexagon(*centres[0])
    if lattice == "triangle":
        return shapely.Polygon(centres[:3])
    (cx, cy), radius = centres[0], 1 / math.sqrt(3)
    angle = math.degrees(math.atan2(y - cy, x - cx))
    corner, side = 30 + 60 * round((angle - 30) / 60), 60 * round(angle / 60)
    ends = [(radius, corner), (0.5, side)]
    if lattice == "kite":
        ends = [(0.5, angle - 30), (radius, angle), (0.5, angle + 30)]
    around = [(far, math.radians(turn)) for far, turn in ends]
    return shapely.Polygon(
        [(cx, cy), *((cx + far * math.cos(a), cy + far * math.sin(a)) for far, a in around)]
    )


def drawn_from_cells(encoded: EncodedChallenge) -> Drawing:
    lattice = encoded.puzzle.lattice.name

    def shape(cells: Iterable[Cell]) -> Shape:
        return together(cell_drawn(lattice, cell) for cell in cells)

    region = shape(encoded.challenge.region)
    return Drawing(
        region,
        {piece.id: [shape(form.cells) for form in piece.forms] for piece in encoded.puzzle.pieces},
        90 if lattice in SQUARES else 60,
        encoded.challenge.flips,
        open_area=region.area * (encoded.challenge.open_count / len(encoded.challenge.region)),
    )
