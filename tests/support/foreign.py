"""Meshes as somebody else would make them: nothing of fabkit's own construction is used here.

Outlines come from the sets' files (`tests.support.analytic`) or from anywhere; shapely and plain
trigonometry shape them, trimesh makes them bodies. Lengths are in mm until the very end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import numpy as np
import shapely
import trimesh
from numpy.typing import NDArray
from shapely import Polygon, affinity
from shapely.geometry.base import BaseGeometry
from shapely.geometry.polygon import orient

from fabkit.mesh.body import Body
from fabkit.mesh.files.reading import read_bodies
from tests.support import analytic, meshfiles

Points = NDArray[np.float64]
#: One mm in each unit of length that a file may be in.
IN_LENGTHS = {"mm": 1.0, "cm": 0.1, "inch": 1 / 25.4, "m": 0.001}
#: Chords of a rounded corner.
_CHORDS = 6


@dataclass(frozen=True)
class Make:
    """How a body is made. Lengths in mm, angles in degrees.

    Attributes:
        unit: the grid unit.
        inset: how far the sides lie inside the outline.
        rounding: radius of every corner, also of those that turn inwards.
        tip_cut: the part of both its edges that a tip of less than a right angle loses.
        thickness: from back to face.
        chamfers: at the back and at the face, 45 degrees.
        fillet: rounds the edge of the face instead, with this radius.
        taper: by how much the face is smaller than the back, on every side.
        magnet: diameter of a blind hole in the back; 0 for none.
        letter: cap height; 0 for none.
        letter_font: what a label looks like, for cap height 1; the shipped font when None.
        noise: largest error of a corner along each axis.
        subdivided: how often every triangle is cut into four.
        mirrored: the left hand for the right one.
    """

    unit: float = 20.0
    inset: float = 0.1
    rounding: float = 0.0
    tip_cut: float = 0.0
    thickness: float = 7.0
    chamfers: tuple[float, float] = (0.0, 0.0)
    fillet: float = 0.0
    taper: float = 0.0
    magnet: float = 0.0
    letter: float = 0.0
    letter_font: Callable[[str], BaseGeometry] | None = None
    noise: float = 0.0
    subdivided: int = 0
    mirrored: bool = False


@dataclass(frozen=True)
class Stand:
    """How a body lies in its file.

    Attributes:
        turn: degrees about z.
        tilt: a proper rotation, made before the turn; lies as it was made when None.
        origin: where the body's own origin comes, in mm.
        length: the file's unit of length.
    """

    turn: float = 0.0
    tilt: Points | None = None
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)
    length: str = "mm"


# --- outlines -----------------------------------------------------------------------------


def printed_outline(outline: Polygon, make: Make) -> Polygon:
    """An outline in grid units, as it is made: scaled, inset, tips cut, corners rounded; in mm."""
    area = affinity.scale(outline, make.unit, make.unit, origin=(0, 0))
    if make.mirrored:
        area = affinity.scale(area, -1, 1, origin=(0, 0))
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
    (ux, uy), (vx, vy) = here - before, after - here
    return math.atan2(ux * vy - uy * vx, ux * vx + uy * vy)


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
        first = start - middle
        for k in range(_CHORDS + 1):
            cos, sin = math.cos(turn * k / _CHORDS), math.sin(turn * k / _CHORDS)
            arm = np.array([cos * first[0] - sin * first[1], sin * first[0] + cos * first[1]])
            found.append(middle + arm)
    return np.array(found)


def moved_in(ring: Points, distance: float) -> Points:
    """A ring's corners, each moved inside so that all edges are; as many as before."""
    moved = []
    for before, here, after in _corners(ring):
        one, other = (here - before), (after - here)
        one, other = one / np.linalg.norm(one), other / np.linalg.norm(other)
        normals = np.array([[-one[1], one[0]], [-other[1], other[0]]])
        across = normals.sum(axis=0)
        moved.append(here + distance * across / (1 + normals[0] @ normals[1]))
    return np.array(moved)


# --- bodies -------------------------------------------------------------------------------


def build(outline: Polygon, make: Make, label: str = "") -> trimesh.Trimesh:
    """A body in mm, its back on z = 0."""
    area = printed_outline(outline, make)
    levels = _levels(make)
    if levels == [(0.0, 0.0), (make.thickness, 0.0)]:
        mesh = trimesh.creation.extrude_polygon(area, make.thickness)
    else:
        mesh = _stacked(area, levels)
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
    tapered = [(z, inside + make.taper * z / high) for z, inside in levels]
    return list(dict.fromkeys(tapered))


def _stacked(area: Polygon, levels: Sequence[tuple[float, float]]) -> trimesh.Trimesh:
    """A body between rings that are moved in from level to level."""
    rings = [np.asarray(ring.coords)[:-1] for ring in (area.exterior, *area.interiors)]
    vertices, faces = [], []
    for ring in rings:
        first = sum(len(one) for one in vertices)
        count = len(ring)
        for z, inside in levels:
            vertices.append(np.column_stack([moved_in(ring, inside), np.full(count, z)]))
        for level in range(len(levels) - 1):
            for i in range(count):
                a, b = first + level * count + i, first + level * count + (i + 1) % count
                faces += [(a, b, b + count), (a, b + count, a + count)]
    for z, inside in (levels[0], levels[-1]):
        flat = Polygon(moved_in(rings[0], inside), [moved_in(one, inside) for one in rings[1:]])
        points, triangles = trimesh.creation.triangulate_polygon(flat, engine="manifold")
        start = sum(len(one) for one in vertices)
        vertices.append(np.column_stack([points, np.full(len(points), z)]))
        order = (0, 1, 2) if z else (2, 1, 0)
        faces += [tuple(start + int(t[k]) for k in order) for t in triangles]
    mesh = trimesh.Trimesh(np.concatenate(vertices), np.array(faces), process=False)
    mesh.merge_vertices(digits_vertex=9)
    return mesh


def shell(mesh: trimesh.Trimesh, stand: Stand | None = None, name: str = "body") -> Body:
    """A body as a reader of an STL file would give it: placed, in single precision."""
    stand = stand or Stand()
    vertices = np.asarray(mesh.vertices)
    if stand.tilt is not None:
        vertices = vertices @ stand.tilt.T
    cos, sin = math.cos(math.radians(stand.turn)), math.sin(math.radians(stand.turn))
    vertices = vertices @ np.array([[cos, sin, 0], [-sin, cos, 0], [0, 0, 1]])
    vertices = (vertices + stand.origin) * IN_LENGTHS[stand.length]
    exact = vertices.astype(np.float32).astype(float)
    merged, where = np.unique(exact, axis=0, return_inverse=True)
    faces = where.reshape(-1)[np.asarray(mesh.faces)]
    a, b, c = faces.T
    return Body(name, merged, faces[(a != b) & (b != c) & (c != a)].astype(np.int64))


def any_rotation(chance: Random) -> Points:
    """A proper rotation, every one as likely."""
    w, x, y, z = (chance.gauss(0, 1) for _ in range(4))
    n = math.sqrt(w * w + x * x + y * y + z * z)
    w, x, y, z = w / n, x / n, y / n, z / n
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


# --- files --------------------------------------------------------------------------------


def write_stl(path: Path, *bodies: Body) -> Path:
    """One STL file; it does not tell where a body ends."""
    path.write_bytes(
        meshfiles.binary_stl(np.concatenate([body.vertices[body.faces] for body in bodies]))
    )
    return path


def write_obj(path: Path, bodies: Sequence[Body], keyword: str = "o") -> Path:
    """One OBJ file with an object (or group) for each body."""
    lines, count = [], 1
    for number, body in enumerate(bodies, start=1):
        lines.append(f"{keyword} thing{number}")
        lines += [f"v {x!r} {y!r} {z!r}" for x, y, z in body.vertices.tolist()]
        lines += [f"f {a + count} {b + count} {c + count}" for a, b, c in body.faces.tolist()]
        count += len(body.vertices)
    path.write_text("\n".join(lines) + "\n", encoding="ascii")
    return path


def write_3mf(path: Path, bodies: Sequence[Body], unit: str = "millimeter") -> Path:
    """One 3MF file, each body an object that is built where it lies."""
    objects, items = [], []
    for number, body in enumerate(bodies, start=1):
        corners = "".join(
            f'<vertex x="{x!r}" y="{y!r}" z="{z!r}"/>' for x, y, z in body.vertices.tolist()
        )
        faces = "".join(
            f'<triangle v1="{a}" v2="{b}" v3="{c}"/>' for a, b, c in body.faces.tolist()
        )
        mesh = f"<mesh><vertices>{corners}</vertices><triangles>{faces}</triangles></mesh>"
        objects.append(meshfiles.object3mf(number, mesh))
        items.append(f'<item objectid="{number}"/>')
    path.write_bytes(meshfiles.package(meshfiles.model("".join(objects), "".join(items), unit)))
    return path


def read_files(*paths: Path) -> list[Body]:
    """All bodies of some files."""
    return [body for path in paths for body in read_bodies(path)]


# --- by chance ----------------------------------------------------------------------------


def random_make(chance: Random, unit: float, edge: float = 1.0) -> Make:
    """Any construction within the limits that `tests.mesh.test_foreign_limits` states.

    Args:
        chance: where it comes from.
        unit: the grid unit.
        edge: the shortest edge of the set's outlines, in grid units.
    """
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
    return Stand(
        turn=chance.uniform(0, 360),
        tilt=any_rotation(chance) if turned_over else None,
        origin=(chance.uniform(-90, 90), chance.uniform(-90, 90), chance.uniform(-50, 50)),
    )
