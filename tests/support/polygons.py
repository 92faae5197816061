"""Pieces moved as polygons in the plane: the reference for orientations, placements and marks.

A move turns the corners of cells by real angles. Of the lattice only the corners of its cells and
the length of a frame step are used, not its symmetries or translations.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import cache

from fabkit.model.lattice import LATTICES, Cell, Lattice, Point
from fabkit.model.piece import Piece

#: A cell: its lowest corner (by x, then y), and its corners relative to that.
Polygon = tuple[Point, frozenset[Point]]
#: A piece as it may lie, moved to the origin: its cells, each with its mark or an empty text.
Look = frozenset[tuple[Polygon, str]]


def polygon(corners: Iterable[Point]) -> Polygon:
    corners = list(corners)
    left, low = min(corners)
    return (left, low), frozenset((x - left, y - low) for x, y in corners)


@cache
def _turned(lattice_name: str, cell: Cell, degrees: int, is_flipped: bool) -> Polygon:
    """A cell turned around the origin, mirrored first or not."""
    lattice = LATTICES[lattice_name]
    step_x, step_y = map(math.sqrt, lattice.step_squared)
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    corners = []
    for x, y in lattice.ring(cell):
        right, up = x * step_x * (-1 if is_flipped else 1), y * step_y
        corner = (right * cos - up * sin) / step_x, (right * sin + up * cos) / step_y
        corners.append((round(corner[0]), round(corner[1])))
        assert math.dist(corner, corners[-1]) < 1e-6
    return polygon(corners)


def _moves(lattice: Lattice, flips: bool) -> Iterator[tuple[int, bool]]:
    """Angles in degrees, and whether to mirror first."""
    # Squares have equal steps along x and y, hexagons and their parts do not.
    angle = 90 if len(set(lattice.step_squared)) == 1 else 60
    for is_flipped in (False, True)[: 1 + flips]:
        for degrees in range(0, 360, angle):
            yield degrees, is_flipped


def laid(
    lattice: Lattice, cells: Iterable[Cell], region: Iterable[Cell], flips: bool
) -> Iterator[tuple[bool, dict[Cell, Cell]]]:
    """Every way to lay cells on those of a region: whether they are mirrored, and where each comes."""
    cell_of = {polygon(lattice.ring(cell)): cell for cell in region}
    order = sorted(cells)
    for degrees, is_flipped in _moves(lattice, flips):
        image = [_turned(lattice.name, cell, degrees, is_flipped) for cell in order]
        (from_x, from_y), shape = image[0]
        for (to_x, to_y), other_shape in cell_of:
            if shape != other_shape:
                continue
            targets = []
            for (x, y), corners in image:
                target = cell_of.get(((x + to_x - from_x, y + to_y - from_y), corners))
                if target is None:
                    break
                targets.append(target)
            else:
                yield is_flipped, dict(zip(order, targets, strict=True))


def looks(lattice: Lattice, piece: Piece, flips: bool) -> frozenset[Look]:
    """How a piece may lie, with the marks that it shows; only its first form has marks."""
    images = set()
    for index, form in enumerate(piece.forms):
        for degrees, is_flipped in _moves(lattice, flips):
            marks = {} if index else dict(piece.back if is_flipped else piece.marks)
            images.add(
                _at_origin(
                    (_turned(lattice.name, cell, degrees, is_flipped), marks.get(cell, ""))
                    for cell in form.cells
                )
            )
    return frozenset(images)


def mirror_image(look: Look) -> Look:
    """A look in a mirror."""
    return _at_origin(
        (polygon((-left - x, low + y) for x, y in corners), mark)
        for ((left, low), corners), mark in look
    )


def _at_origin(cells: Iterable[tuple[Polygon, str]]) -> Look:
    cells = list(cells)
    left, low = min(corner for (corner, _), _ in cells)
    return frozenset((((x - left, y - low), corners), mark) for ((x, y), corners), mark in cells)
