"""Whole sets as somebody else would make them, and how well they are read back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

import trimesh
from shapely import Polygon, affinity

from fabkit.mesh.body import Body
from fabkit.mesh.part import Outline, Part
from fabkit.mesh.recognise import take_in
from fabkit.model.lattice import LATTICES, Point
from fabkit.model.piece import Form, Piece, is_image
from fabkit.model.polygon import cells_of_rings, rings_of_cells
from fabkit.model.puzzle import PuzzleSet
from tests.support import analytic, foreign
from tests.support.foreign import Make

SETS = ("fridgeiq", "iqblock", "cubimagici", "iqstars")


def built(set_name: str, make: Make) -> list[Body]:
    """Every piece of a set, each somewhere else."""
    chance = Random(0)
    return [
        foreign.shell(
            foreign.build(one.outline, make, one.label), foreign.random_stand(chance), one.id
        )
        for one in analytic.drawings(set_name)
    ]


def read(bodies: Sequence[Body], puzzle: PuzzleSet, unit_mm: float = 20.0) -> list[Part]:
    return list(take_in(bodies, puzzle, unit_mm).parts)


def outline_of(part: Part) -> Outline:
    assert part.outline is not None, part.name
    return part.outline


def is_turned(outline: Outline, shape: Polygon) -> bool:
    """Whether an outline is a shape in grid units, turned about, not over: compared as areas."""
    seen = affinity.scale(outline.canonical, 1 / outline.unit_mm, 1 / outline.unit_mm)
    seen, shape = (affinity.translate(a, -a.centroid.x, -a.centroid.y) for a in (seen, shape))
    turned = (affinity.rotate(shape, 30 * k, origin=(0, 0)) for k in range(12))
    return any(seen.symmetric_difference(one).area < 1e-6 for one in turned)


def verdict(part: Part, puzzle: PuzzleSet, piece: str) -> str:
    """``right``, ``unread``, ``strange`` (no piece of the set), ``mirrored`` or ``misread``."""
    if part.outline is None:
        return "unread"
    lattice, cells = puzzle.lattice, part.outline.cells
    if is_image(lattice, puzzle.piece(piece), cells, flips=False):
        return "right"
    if is_image(lattice, puzzle.piece(piece), cells, flips=True):
        return "mirrored"
    known = any(is_image(lattice, one, cells, flips=False) for one in puzzle.pieces)
    return "misread" if known else "strange"


def is_misread(part: Part, puzzle: PuzzleSet, piece: str, make: Make) -> bool:
    """Whether a body is taken for another piece.

    D and I are triangles that differ in size alone. When all bodies that tell the unit are unread,
    one may pass for the other; `check` then finds fault with the unit.
    """
    said = verdict(part, puzzle, piece)
    if part.outline and abs(part.outline.unit_mm / make.unit - 1) > 0.05 and piece in "DI":
        return False
    return said in ("misread", "mirrored")


def user_set(outlines: Mapping[str, Sequence[Sequence[tuple[float, float]]]]) -> PuzzleSet:
    """A set of somebody's own on quarter squares: for each piece its rings in grid units."""
    lattice = LATTICES["quarter-square"]
    pieces = []
    for name, drawn in outlines.items():
        rings: list[tuple[Point, ...]] = [
            tuple((round(x * lattice.per_unit), round(y * lattice.per_unit)) for x, y in ring)
            for ring in drawn
        ]
        cells = cells_of_rings(lattice, rings)
        form = Form("", cells, rings_of_cells(lattice, cells))
        pieces.append(Piece(name, name, "#888888", (form,)))
    return PuzzleSet("mine", "Mine", lattice, False, tuple(pieces), (), (), "mine.toml", "")


USER_SETS = {
    "holes": {
        "ring": [[(0, 0), (3, 0), (3, 3), (0, 3)], [(1, 1), (1, 2), (2, 2), (2, 1)]],
        "eye": [[(0, 0), (3, 0), (3, 2), (0, 2)], [(1, 1), (1.5, 1.5), (2, 1), (1.5, 0.5)]],
        "two holes": [
            [(0, 0), (5, 0), (5, 3), (0, 3)],
            [(1, 1), (1, 2), (2, 2), (2, 1)],
            [(3, 1), (3, 2), (4, 2), (4, 1)],
        ],
        "bar": [[(0, 0), (4, 0), (4, 1), (0, 1)]],
    },
    "middles of squares": {
        "quarter": [[(0, 0), (1, 0), (0.5, 0.5)]],
        "diamond": [[(0.5, 0.5), (1, 1), (0.5, 1.5), (0, 1)]],
        "fish": [[(0, 0), (1, 0), (1.5, 0.5), (1, 1), (0, 1), (0.5, 0.5)]],
        "arrow": [[(0, 0), (2, 0), (2, 1), (1.5, 0.5), (1, 1), (0.5, 0.5), (0, 1)]],
    },
    "on a coarser lattice": {
        "square": [[(1, 0), (2, 1), (1, 2), (0, 1)]],
        "oblong": [[(1, 0), (3, 2), (2, 3), (0, 1)]],
        "roof": [[(0, 0), (2, 0), (1, 1)]],
        "angle": [[(1, 0), (3, 2), (2, 3), (1, 2), (0, 3), (-1, 2)]],
    },
    "even": {
        "square": [[(0, 0), (2, 0), (2, 2), (0, 2)]],
        "oblong": [[(0, 0), (4, 0), (4, 2), (0, 2)]],
        "angle": [[(0, 0), (4, 0), (4, 2), (2, 2), (2, 4), (0, 4)]],
        "roof": [[(0, 0), (4, 0), (2, 2)]],
    },
    "two": {
        "big": [[(0, 0), (2, 0), (2, 2)]],
        "small": [[(0, 0), (2, 0), (1, 1)]],
    },
}


def strange_bodies() -> list[Body]:
    pentagon = Polygon([(0, 0), (37, 3), (45, 31), (17, 52), (-9, 26)])
    return [
        foreign.shell(trimesh.creation.cylinder(18.3, 7.0, sections=90), name="disc"),
        foreign.shell(trimesh.creation.icosphere(2, 21.0), name="ball"),
        foreign.shell(trimesh.creation.extrude_polygon(pentagon, 7.0), name="pentagon"),
        foreign.shell(trimesh.creation.torus(20, 5), name="torus"),
        foreign.shell(trimesh.creation.extrude_polygon(Polygon([(0, 0), (31, 4), (9, 27)]), 7.0)),
    ]
