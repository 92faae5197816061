"""Pieces and boards for tests of seats: solids of manifold3d, lying as the readers lay them."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from typing import Any

import manifold3d
import numpy as np

from fabkit.mesh.balls.part import BallPart
from fabkit.mesh.boards.recognise import BoardPart
from fabkit.mesh.finding import Finding
from fabkit.mesh.recognise import take_in
from fabkit.mesh.stubs import OnStubs, on_stubs
from fabkit.model.balls import BallBody
from fabkit.model.lattice import LATTICES, Cell
from fabkit.model.library import load_set
from fabkit.model.puzzle import Board, in_units
from tests.support import boardmeshes
from tests.support.ballmeshes import Sizes, body_of_solid, solid
from tests.support.boardmeshes import hexagons

PITCH_MM, UNIT_MM = 15.0, 20.0
FIT, STARS = load_set("iqfit"), load_set("iqstars")
#: Balls and links as fine as prints have them: chords 0.02 mm inside.
FINE = Sizes(segments=48)


def ball_part(shape: BallBody, sizes: Sizes = FINE) -> BallPart:
    """A piece as the reader would lay it: in no way looked at."""
    body = body_of_solid(solid(shape, sizes))
    return BallPart(body, body.vertices, shape, PITCH_MM, (), (), 0.0)


def piece(name: str, sizes: Sizes = FINE) -> BallPart:
    shape = FIT.piece(name).body
    assert shape is not None
    return ball_part(shape, sizes)


def squares(columns: int, rows: int) -> Board:
    lattice = LATTICES["square"]
    places = itertools.product(range(rows), range(columns))
    return Board("board", frozenset(cell for at in places for cell in lattice.cells_at(*at)))


def holes(columns: int = 5, rows: int = 4, extra: Any = None, **numbers: Any) -> BoardPart:
    """A board of holes; its posts are the height of seated balls."""
    board = squares(columns, rows)
    cells = [((x - 1) // 2, (y - 1) // 2) for x, y in sorted(board.cells)]
    made, frame = boardmeshes.holes_board(cells, **numbers)
    if extra is not None:
        made += extra
    return board_part(made, "holes", board, PITCH_MM, frame.rest_mm)


def board_part(made: Any, kind: str, board: Board, unit_mm: float, rest_mm: float) -> BoardPart:
    body = body_of_solid(made, "board.stl")
    return BoardPart(body, body.vertices, kind, board, unit_mm, rest_mm)


def middles(cells: Collection[Cell]) -> list[tuple[float, float]]:
    places = in_units(LATTICES["triangular"], sorted(cells))
    return [(UNIT_MM * x, UNIT_MM * y) for x, y in places]


def seats(**numbers: Any) -> BoardPart:
    board = STARS.boards[0]
    places = middles(board.cells)
    made, frame = boardmeshes.seats_board(places, hexagons(places), **numbers)
    return board_part(made, "seats", board, UNIT_MM, frame.rest_mm)


def star(name: str, stub_mm: float = 10.0, height_mm: float = 2.0) -> OnStubs:
    """A piece on stubs, read back."""
    places = middles(STARS.piece(name).forms[0].cells)
    area = hexagons(places).buffer(-0.1, join_style="mitre")
    made = boardmeshes.extruded(area, height_mm, height_mm + 7.0)
    for x, y in places:
        made += boardmeshes.bore(x, y, stub_mm, 0.0, height_mm + 1.0)
    (part,) = take_in([body_of_solid(made)], STARS, UNIT_MM).parts
    found = on_stubs(part, STARS.lattice, UNIT_MM)
    assert found is not None
    return found


def block(low: Sequence[float], high: Sequence[float]) -> Any:
    """A box between two corners."""
    size = np.subtract(high, low)
    return manifold3d.Manifold.cube(tuple(size)).translate(tuple(low))


def failing(found: dict[str, Finding]) -> set[str]:
    return {rule for rule, finding in found.items() if not finding.ok}
