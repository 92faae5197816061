"""Meshes as somebody else would make them: nothing of fabkit's own construction is used here.

Outlines come from the sets' files (`tests.support.analytic`) or from anywhere; shapely and plain
trigonometry shape them, trimesh makes them bodies. Lengths are in mm until the very end.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Polygon, affinity
from shapely.geometry.base import BaseGeometry
from shapely.geometry.polygon import orient

from fabkit.mesh.lattice_fit import FlatFitter
from fabkit.mesh.mesh import Mesh
from fabkit.mesh.part import Outline, Part
from fabkit.model.lattice import LATTICES, Point
from fabkit.model.piece import Form, Piece, is_image
from fabkit.model.polygon import cells_of_rings, rings_of_cells
from fabkit.model.puzzle import PuzzleSet
from tests.support import analytic, meshfiles
from tests.support.lookalikes import LENGTHS, stacked

if TYPE_CHECKING:
    import trimesh

Points = NDArray[np.float64]
#: Chords of a rounded corner.
_CHORDS = 6


@dataclass(frozen=True)
class Make:
    """How a body is made. Lengths in mm."""

    unit: float = 20.0
    inset: float = 0.1
    rounding: float = 0.0  # radius of every corner, also of those that turn inwards
    tip_cut: float = 0.0  # the part of both its edges that a tip below a right angle loses
    thickness: float = 7.0
    chamfers: tuple[float, float] = (0.0, 0.0)  # at back and face, 45 degrees
    fillet: float = 0.0  # rounds the edge of the face instead
    taper: float = 0.0  # by how much the face is smaller than the back, on every side
    magnet: float = 0.0  # diameter of a blind hole in the back
    letter: float = 0.0  # cap height
    letter_font: Callable[[str], BaseGeometry] | None = None  # for cap height 1, if not the shipped
    noise: float = 0.0  # largest error of a corner along each axis
    subdivided: int = 0  # how often every triangle is cut into four


@dataclass(frozen=True)
class Stand:
    """How a body lies in its file."""

    turn: float = 0.0  # degrees about z
    tilt: Points | None = None  # a proper rotation, made before the turn
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)  # where its own comes, in mm
    length: str = "mm"  # the file's unit of length


# --- outlines -----------------------------------------------------------------------------


def offset_outline(outline: Polygon, make: Make) -> Polygon:
    """An outline in grid units, as it is made: scaled, inset, tips cut, corners rounded; in mm."""
    area = affinity.scale(outline, make.unit, make.unit, origin=(0, 0))
    area = orient(area.buffer(-make.inset, join_style="mitre", mitre_limit=20))
    assert isinstance(area, Polygon)
    rings = []
    for ring in (area.exterior, *area.interiors):
        points = np.asarray(ring.coords)[:-1]
        points = _without_tips(points, make.tip_cut) if make.tip_cut else points
        rings.append(_rounded(points, make.rounding) if make.rounding else points)
    return orient(Polygon(rings[0], rings[1:]))


def _corners(points: Points) -> Iterator[tuple[Points, Points, Points]]:
    """Each corner with the one before and the one after it."""
    yield from zip(np.roll(points, 1, axis=0), points, np.roll(points, -1, axis=0), strict=True)


def _turn(before: Points, here: Points, after: Points) -> float:
    """The angle by which a ring turns left at a corner."""
    u, v = complex(*(here - before)), complex(*(after - here))
    return cmath.phase(v / u)


def _without_tips(points: Points, part: float) -> Points:
    found: list[Points] = []
    for before, here, after in _corners(points):
        if _turn(before, here, after) > math.radians(91):
            found += [here + part * (before - here), here + part * (after - here)]
        else:
            found.append(here)
    return np.array(found)


def _rounded(points: Points, radius: float) -> Points:
    """An arc in place of every corner; smaller where an edge has no room for two of them."""
    found: list[Points] = []
    for before, here, after in _corners(points):
        turn = _turn(before, here, after)
        back, on = before - here, after - here
        room = 0.49 * min(np.linalg.norm(back), np.linalg.norm(on))
        reach = min(radius * math.tan(abs(turn) / 2), room)
        start = here + reach * back / np.linalg.norm(back)
        actual = reach / math.tan(abs(turn) / 2)
        inwards = math.copysign(1, turn) * np.array([-(here - before)[1], (here - before)[0]])
        middle = start + actual * inwards / np.linalg.norm(inwards)
        arms = complex(*(start - middle)) * np.exp(1j * np.linspace(0, turn, _CHORDS + 1))
        found += [middle + np.array([arm.real, arm.imag]) for arm in arms]
    return np.array(found)


# --- bodies -------------------------------------------------------------------------------


def build(outline: Polygon, make: Make, label: str = "") -> trimesh.Trimesh:
    """A body in mm, its back on z = 0."""
    import trimesh

    area = offset_outline(outline, make)
    levels = _levels(make)
    if levels == [(0.0, 0.0), (make.thickness, 0.0)]:
        mesh = trimesh.creation.extrude_polygon(area, make.thickness)
    else:
        raw = stacked(area, levels).to_mesh64()
        mesh = trimesh.Trimesh(raw.vert_properties[:, :3], raw.tri_verts)
    middle = shapely.maximum_inscribed_circle(area).coords[0]
    tools = []
    if make.magnet:
        deep = 0.5 * make.thickness
        drill = trimesh.creation.cylinder(make.magnet / 2, 2 * deep, sections=48)
        tools.append(drill.apply_translation([*middle, 0.0]))
    if make.letter and label:
        drawn = (make.letter_font or shipped_font)(label)
        glyph = affinity.scale(drawn, make.letter, make.letter, origin=(0, 0))
        for one in getattr(glyph, "geoms", [glyph]):
            stamp = trimesh.creation.extrude_polygon(one, 2.0)
            tools.append(stamp.apply_translation([*middle, make.thickness - 0.6]))
    if tools:
        mesh = trimesh.boolean.difference([mesh, *tools], engine="manifold")
    for _ in range(make.subdivided):
        mesh = mesh.subdivide()
    if make.noise:
        chance = np.random.default_rng(len(mesh.vertices))
        mesh.vertices += chance.uniform(-make.noise, make.noise, mesh.vertices.shape)
    return mesh


def shipped_font(text: str) -> BaseGeometry:
    """A single character for cap height 1, from the font file."""
    return analytic.glyph(text, 1.0).polygon


def _levels(make: Make) -> list[tuple[float, float]]:
    """Heights and how far inside the outline the body is there."""
    (foot, top), high = make.chamfers, make.thickness
    levels = [(0.0, foot), (foot, 0.0), (high - top, 0.0), (high, top)]
    if make.fillet:
        bows = [math.radians(90 * k / 4) for k in range(5)]
        r = make.fillet
        levels[2:] = [(high - r + r * math.sin(a), r - r * math.cos(a)) for a in bows]
    return list(dict.fromkeys((z, inside + make.taper * z / high) for z, inside in levels))


def shell(mesh: trimesh.Trimesh, stand: Stand | None = None, name: str = "body") -> Mesh:
    """A body as a reader of an STL file would give it: placed, in single precision."""
    import trimesh

    stand = stand or Stand()
    vertices = np.asarray(mesh.vertices)
    if stand.tilt is not None:
        vertices = vertices @ stand.tilt.T
    turn = trimesh.transformations.rotation_matrix(math.radians(stand.turn), (0, 0, 1))
    vertices = vertices @ turn[:3, :3].T
    vertices = (vertices + stand.origin) * LENGTHS[stand.length]
    exact = vertices.astype(np.float32).astype(float)
    merged, where = np.unique(exact, axis=0, return_inverse=True)
    faces = where.reshape(-1)[np.asarray(mesh.faces)]
    a, b, c = faces.T
    return Mesh(name, merged, faces[(a != b) & (b != c) & (c != a)].astype(np.int64))


# --- files --------------------------------------------------------------------------------


def write_stl(path: Path, *bodies: Mesh) -> Path:
    """One STL file; it does not tell where a body ends."""
    triangles = np.concatenate([body.vertices[body.faces] for body in bodies])
    path.write_bytes(meshfiles.binary_stl(triangles))
    return path


# --- by chance ----------------------------------------------------------------------------


def random_make(chance: Random, unit: float, edge: float = 1.0) -> Make:
    """Any construction within the stated limits; `edge` is a set's shortest, in grid units."""
    short = unit * edge
    make = Make(
        unit=unit,
        inset=chance.choice([0.0, chance.uniform(0, 0.02) * short]),
        # Chords stay longer than the noise, or the mesh is folded.
        rounding=chance.choice([0.0, chance.uniform(0.02, 0.1) * short]),
        tip_cut=chance.choice([0.0, chance.uniform(0.05, 0.1)]),
        thickness=unit * chance.choice([0.05, 0.25, 0.35, 0.5, 0.9]),
        subdivided=chance.choice([0, 0, 1]),
        noise=chance.choice([0.0, 0.003]),
    )
    if not make.rounding:
        size = 0.1 * make.thickness
        style = chance.choice(["plain", "chamfers", "fillet", "taper"])
        make = replace(
            make,
            tip_cut=make.tip_cut if style == "plain" else 0.0,
            chamfers=(size / 2, size) if style == "chamfers" else (0.0, 0.0),
            fillet=size if style == "fillet" else 0.0,
            taper=0.005 * unit if style == "taper" else 0.0,
        )
    return make


def random_stand(chance: Random, turned_over: bool = False) -> Stand:
    """Anywhere, any way about z; with ``turned_over`` also tilted in any way."""
    import trimesh

    dice = np.array([chance.random() for _ in range(3)])
    return Stand(
        turn=chance.uniform(0, 360),
        tilt=trimesh.transformations.random_rotation_matrix(dice)[:3, :3] if turned_over else None,
        origin=(chance.uniform(-90, 90), chance.uniform(-90, 90), chance.uniform(-50, 50)),
    )


# --- whole sets, and how well they are read back ----------------------------------------------

SETS = ("fridgeiq", "iqblock", "cubimagici", "iqstars")


def built(set_name: str, make: Make) -> list[Mesh]:
    """Every piece of a set, each somewhere else."""
    chance = Random(0)
    return [
        shell(build(one.outline, make, one.label), random_stand(chance), one.id)
        for one in analytic.drawings(set_name)
    ]


def read(bodies: Sequence[Mesh], puzzle: PuzzleSet, unit_mm: float = 20.0) -> list[Part]:
    return FlatFitter(puzzle).fit(bodies, unit_mm)[0]


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
    """``right``, ``unread``, ``unknown`` (no piece of the set), ``mirrored`` or ``misread``."""
    if part.outline is None:
        return "unread"
    lattice, cells = puzzle.lattice, part.outline.cells
    if is_image(lattice, puzzle.piece(piece), cells, flips=False):
        return "right"
    if is_image(lattice, puzzle.piece(piece), cells, flips=True):
        return "mirrored"
    known = any(is_image(lattice, one, cells, flips=False) for one in puzzle.pieces)
    return "misread" if known else "unknown"


def is_misread(part: Part, puzzle: PuzzleSet, piece: str, make: Make) -> bool:
    """Whether a body is taken for another piece.

    D and I are triangles that differ in size alone. When all bodies that tell the unit are unread,
    one may pass for the other; `check` then finds fault with the unit.
    """
    outcome = verdict(part, puzzle, piece)
    if part.outline and abs(part.outline.unit_mm / make.unit - 1) > 0.05 and piece in "DI":
        return False
    return outcome in ("misread", "mirrored")


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
    "two": {"big": [[(0, 0), (2, 0), (2, 2)]], "small": [[(0, 0), (2, 0), (1, 1)]]},
}
