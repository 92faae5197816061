"""Sets as other people print them, made by manifold3d, shapely and trimesh alone.

The one real set of somebody else, FridgeIQ by its author, sets the tone: unit 20 mm, 7 mm thick, no
clearance, all edges rounded with a radius of 7/3 mm, tips of 45 degrees cut back by 3.3 mm, a
recess of 10.0 x 3.5 mm with a lead-in of 10.3 mm in the back, a letter in a round pocket of 12 mm
in the face, lying flat at different places and turns, and his S is the mirror image of the drawn
one.

A `Variant` says in data how a whole set is made; `VARIANTS` is the table of those that are tried.
"""

from __future__ import annotations

import hashlib
import math
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Polygon, affinity
from shapely.geometry.base import BaseGeometry
from shapely.geometry.polygon import orient

from fabkit.model.balls import BallBody
from tests.conftest import ROOT
from tests.support import analytic, ballmeshes, meshfiles
from tests.support.ballmeshes import Sizes
from tests.support.built import built

if TYPE_CHECKING:
    import trimesh
    from manifold3d import Manifold

Points = NDArray[np.float64]
#: One mm in each unit of length that a file may be in.
LENGTHS = {"mm": 1.0, "cm": 0.1, "inch": 1 / 25.4, "m": 0.001, "misread": 25.4}
#: Cap height of a letter, diameter of the round pocket it stands in, and how deep that or a letter
#: goes that is engraved, in mm.
CAP_MM, POCKET_MM, ENGRAVED_MM = 6.5, 12.0, 0.6
#: By how much wider the lead-in of a recess is than the recess itself, on each side.
MOUTH_MM = 0.15

#: What booleans leave that is narrower goes: in single precision it would tear the surface.
_SLIVER_MM = 5e-4


@dataclass(frozen=True)
class Variant:
    """How a set is made, and how its files are written. Lengths in mm.

    Attributes:
        inset: on every side of the outline; half the clearance.
        tip_cut: how far a tip below a right angle is cut back.
        rounding: radius of a ball that reaches every point of a piece.
        chamfers: at the back and at the face, 45 degrees; negative: an elephant's foot.
        taper: by how many degrees the sides lean inwards.
        recess: diameter and depth; none if None.
        letter: ``raised`` or ``sunk`` in a round pocket of the face, ``engraved``, ``inlaid`` as a
            body of its own, ``inside`` (in the floor of the recess), or none.
        hollow: ``closed`` or ``open`` at the back, with walls of 1.6.
        peg: diameter and height of one below each cell; none if None.
        balls: diameters of balls and links, and how far below their middles the bed cuts them off,
            for pieces made of balls, which have nothing of the above but the unit.
        segments: of a full circle.
        edge: longest edge of a triangle after remeshing; 0 as it comes.
        simplified: how far the surface may move when triangles are taken away.
        decimals: of the coordinates; None: single precision.
        noise: largest error of a vertex along each axis.
        length: the file's unit, or ``misread``: mm that an importer took for inches.
        tilted: turned at random in space, else lying flat at different places and turns.
        together: all in one file.
        ending: of the files' names.
        mirrored: ids of the pieces whose outline is mirrored; ``*``: all, with their letters.
    """

    unit: float = 20.0
    thickness: float = 7.0
    inset: float = 0.0
    tip_cut: float = 3.3
    rounding: float = 7 / 3
    chamfers: tuple[float, float] = (0.0, 0.0)
    taper: float = 0.0
    recess: tuple[float, float] | None = (10.0, 3.5)
    letter: str = "raised"
    hollow: str = ""
    peg: tuple[float, float] | None = None
    balls: tuple[float, float, float | None] = (12.0, 9.0, 4.2)
    segments: int = 24
    edge: float = 0.0
    simplified: float = 0.0
    decimals: int | None = None
    noise: float = 0.0
    length: str = "mm"
    tilted: bool = False
    together: bool = False
    ending: str = ".stl"
    mirrored: str = ""


_PLAIN = Variant()
#: What happens to a piece once it is made.
_AFTERWARDS = ["length", "tilted", "together", "ending", "decimals", "noise", "simplified", "edge"]
#: All that are tried, by name.
VARIANTS: dict[str, Variant] = {
    "the author's": Variant(mirrored="S"),
    "rounded by 0.5": Variant(rounding=0.5),
    "rounded by 1": Variant(rounding=1.0),
    "rounded by 1, bare": Variant(rounding=1.0, recess=None, letter=""),
    "rounded by 7/3, bare": Variant(recess=None, letter=""),
    "without a letter": Variant(letter=""),
    "without a recess": Variant(recess=None),
    "letters sunk": Variant(letter="sunk", rounding=1.0),
    "hollow, closed": Variant(hollow="closed"),
    "hollow, open back": Variant(hollow="open", recess=None),
    "hollow, open back, with a recess": Variant(hollow="open"),
    "3 mm thick": Variant(thickness=3.0, rounding=1.0, recess=(10.0, 1.8)),
    "5 mm thick": Variant(thickness=5.0, rounding=1.0, recess=(10.0, 3.0)),
    "10 mm thick": Variant(thickness=10.0),
    "tapered": Variant(taper=3.0, rounding=0.0),
    "with clearance": Variant(inset=0.1, rounding=1.0),
    "with much clearance": Variant(inset=0.25, rounding=0.5),
    "remeshed": Variant(edge=2.5),
    "simplified": Variant(simplified=0.02),
    "3 decimals": Variant(decimals=3),
    "noise of 1 um": Variant(noise=0.001),
    "noise of 5 um": Variant(noise=0.005, edge=4.0),
    "in cm": Variant(length="cm"),
    "in m": Variant(length="m"),
    "in inches": Variant(length="inch"),
    "mm taken for inches": Variant(length="misread"),
    "turned in space": Variant(tilted=True),
    "turned in space, without a letter": Variant(tilted=True, letter=""),
    "turned in space, without a recess": Variant(tilted=True, recess=None),
    "turned in space, in inches, S mirrored": Variant(tilted=True, length="inch", mirrored="S"),
    "all in one file": Variant(together=True),
    "all in one file, turned in space": Variant(together=True, tilted=True),
    "all mirrored": Variant(mirrored="*"),
    "all mirrored, turned in space": Variant(mirrored="*", tilted=True),
    # Five classes more, and a few.
    "chamfered": Variant(rounding=0.0, chamfers=(0.4, 0.8)),
    "elephant's foot": Variant(rounding=0.0, chamfers=(-0.2, 0.4), inset=0.1),
    "like a scan": Variant(edge=0.8, noise=0.005, segments=48),
    "letters inlaid": Variant(letter="inlaid", rounding=1.0),
    "letters in the recess": Variant(letter="inside"),
    "letters engraved": Variant(letter="engraved", rounding=0.0),
    "coarse": Variant(segments=8, simplified=0.2, letter=""),
    "half as large again": Variant(unit=30.0, thickness=10.5, rounding=3.5),
    "sharp tips": Variant(rounding=0.0, tip_cut=0.0),
    "as PLY": Variant(ending=".ply"),
    "as OFF": Variant(ending=".off", tilted=True),
    "as OBJ": Variant(ending=".obj"),
    "as 3MF": Variant(ending=".3mf"),
    "as GLB": Variant(ending=".glb", length="m"),
}
#: Hexagons on pegs, as IQ Stars has them.
ON_PEGS: dict[str, Variant] = {
    name: replace(variant, recess=None, peg=(10.0, 2.0))
    for name, variant in {
        "on pegs": Variant(),
        "rounded by 1": Variant(rounding=1.0),
        "sharp": Variant(rounding=0.0),
        "without a letter": Variant(letter=""),
        "in inches, turned in space": Variant(length="inch", tilted=True),
        "all in one file": Variant(together=True),
        "all mirrored": Variant(mirrored="*"),
    }.items()
}
#: Pieces made of balls, as IQ Fit has them.
OF_BALLS: dict[str, Variant] = {
    name: replace(variant, unit=15.0 * variant.unit / 20)
    for name, variant in {
        "of balls": Variant(),
        "whole balls": Variant(balls=(12.0, 9.0, None)),
        "thin links": Variant(balls=(12.0, 6.0, 4.2)),
        "coarse": Variant(segments=12),
        "remeshed": Variant(edge=2.5),
        "simplified": Variant(simplified=0.02),
        "3 decimals": Variant(decimals=3),
        "noise of 5 um": Variant(noise=0.005),
        "in cm": Variant(length="cm"),
        "in m": Variant(length="m"),
        "in inches, turned in space": Variant(length="inch", tilted=True),
        "mm taken for inches": Variant(length="misread"),
        "all in one file": Variant(together=True, tilted=True),
        "all mirrored": Variant(mirrored="*", tilted=True),
        "half as large again": Variant(unit=30.0, balls=(18.0, 13.5, 6.3)),
    }.items()
}


def lookalike(set_name: str, variant: Variant) -> dict[str, trimesh.Trimesh]:
    """The files of a set made in that way: name, and what is in it."""
    import trimesh

    chance = np.random.default_rng(1)
    meshes = {}
    for number, piece in enumerate(_content(set_name)["piece"]):
        mesh = _written(_solids(set_name, number, _made(variant, piece["id"])), variant, chance)
        if variant.mirrored == "*":
            mesh.apply_transform(np.diag([-1.0, 1.0, 1.0, 1.0]))
        mesh.apply_translation([*-mesh.bounds.mean(axis=0)[:2], 0.0])
        mesh.apply_transform(_placement(variant, number, chance))
        mesh.apply_scale(LENGTHS[variant.length])
        if variant.decimals is not None:
            mesh.vertices = np.round(mesh.vertices, variant.decimals)
        meshes[piece["id"] + variant.ending] = mesh
    if variant.together:
        return {f"all{variant.ending}": trimesh.util.concatenate(list(meshes.values()))}
    return meshes


def lookalike_files(set_name: str, variant: Variant) -> list[Path]:
    """The same on the disk, made once. Callers only read them."""

    def make(folder: Path) -> None:
        for name, mesh in lookalike(set_name, variant).items():
            if name.endswith(".3mf"):
                shape = meshfiles.mesh(mesh.vertices.tolist(), mesh.faces.tolist())
                package = meshfiles.package(meshfiles.model(meshfiles.object3mf(1, shape)))
                (folder / name).write_bytes(package)
            else:
                mesh.export(folder / name)

    source = Path(__file__).read_bytes()
    name = hashlib.sha256(repr(variant).encode()).hexdigest()[:8]
    folder = built(f"alike-{set_name}-{name}", make, source, variant, packages=("core",))
    return sorted(folder.iterdir())


@cache
def _content(set_name: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / "pieces" / f"{set_name}.toml").read_text())


# --- one piece ----------------------------------------------------------------------------


def _made(variant: Variant, piece: str) -> Variant:
    """The part of a variant that shapes the solid of a piece."""
    but = {name: getattr(_PLAIN, name) for name in _AFTERWARDS}
    return replace(variant, mirrored=piece if piece in variant.mirrored else "", **but)


def _solids(set_name: str, number: int, v: Variant) -> tuple[Manifold, ...]:
    """The bodies of one piece, its back on z = 0 and the face above."""
    from manifold3d import CrossSection, Manifold

    piece = _content(set_name)["piece"][number]
    if "balls" in piece:
        shape = BallBody(tuple(map(tuple, piece["balls"])), tuple(map(tuple, piece["bonds"])))
        return (ballmeshes.solid(shape, Sizes(v.unit, *v.balls, v.segments)),)
    drawing = analytic.drawings(set_name)[number]
    way = -1 if v.mirrored else 1
    area = affinity.scale(drawing.outline, way * v.unit, v.unit, origin=(0, 0))
    area = _without_tips(_moved(orient(area), -v.inset), v.tip_cut)
    x, y = shapely.maximum_inscribed_circle(area).coords[0]
    solid, top = _hull(area, v), v.thickness
    for row, column in piece.get("cells", ()) if v.peg else ():
        rod = Manifold.cylinder(v.peg[1] + 1, v.peg[0] / 2, circular_segments=64)
        u = v.unit
        place = (way * u * (column + row % 2 / 2), -u * row * math.sqrt(3) / 2, -v.peg[1])
        solid += rod.translate(place)
    if v.hollow:
        inner = _extruded(
            _moved(area, -1.6 - v.rounding / 2), -1 if v.hollow == "open" else 1.6, top - 1.6
        )
        if v.recess:
            inner -= _extruded(shapely.Point(x, y).buffer(v.recess[0] / 2 + 1.6), -1, top)
        solid -= inner
    if v.recess:
        (wide, deep), wider = v.recess, v.recess[0] / 2 + MOUTH_MM
        ring = [(0, -1), (wider, -1), (wider, 0), (wide / 2, MOUTH_MM), (wide / 2, deep), (0, deep)]
        solid -= Manifold.revolve(CrossSection([ring]), 64).translate((x, y, 0))
    glyph = affinity.translate(analytic.glyph(drawing.label, CAP_MM).polygon, x, y)
    low = top - ENGRAVED_MM
    if v.letter in ("raised", "sunk"):
        solid -= Manifold.cylinder(9, POCKET_MM / 2, circular_segments=48).translate((x, y, low))
    if v.letter == "raised":
        solid += _extruded(glyph, low - 0.1, top - 0.05)
    elif v.letter == "sunk":
        solid -= _extruded(glyph, low - ENGRAVED_MM, top)
    elif v.letter == "engraved":
        solid -= _extruded(glyph, low, top + 1)
    elif v.letter == "inlaid":
        slot = _extruded(glyph.buffer(0.05), low - 0.05, top + 1)
        return (solid - slot, _extruded(glyph, low, top))
    elif v.letter == "inside" and v.recess:
        seen = affinity.scale(glyph, -0.7, 0.7, origin=(x, y))
        solid -= _extruded(seen, v.recess[1] - 1, v.recess[1] + ENGRAVED_MM)
    return (solid,)


def _hull(area: Polygon, v: Variant) -> Manifold:
    """A piece without its details."""
    from manifold3d import Manifold

    high, r = v.thickness, v.rounding
    if r:
        core = _extruded(_moved(area, -r), r, high - r)
        return core.minkowski_sum(Manifold.sphere(r, v.segments))
    foot, edge = v.chamfers
    levels = [(0.0, foot), (abs(foot), 0.0), (high - edge, 0.0), (high, edge)]
    lean = math.tan(math.radians(v.taper))
    return stacked(area, list(dict.fromkeys((z, inside + lean * z) for z, inside in levels)))


def _moved(area: BaseGeometry, distance: float) -> Polygon:
    moved = area.buffer(distance, join_style="mitre", mitre_limit=20)
    assert isinstance(moved, Polygon), "an edge was swallowed"
    return orient(moved)


def _corners(ring: Points) -> Iterator[tuple[Points, Points, Points]]:
    """Each corner, and the directions to the one before and the one after it."""
    before, after = np.roll(ring, 1, axis=0) - ring, np.roll(ring, -1, axis=0) - ring
    for corner, u, v in zip(ring, before, after, strict=True):
        yield corner, u / np.linalg.norm(u), v / np.linalg.norm(v)


def _without_tips(area: Polygon, cut: float) -> Polygon:
    """Each corner below a right angle is cut back by a distance, square to its bisector."""
    found: list[Points] = []
    for corner, u, v in _corners(np.asarray(area.exterior.coords)[:-1]):
        is_tip = u @ v > 0.1 and v[0] * u[1] - v[1] * u[0] > 0
        leg = cut / np.linalg.norm(u + v) * 2
        found += [corner + leg * u, corner + leg * v] if is_tip and cut else [corner]
    return orient(Polygon(found, area.interiors))


def _inside(ring: Points, distance: float) -> Points:
    """A ring moved inwards corner by corner."""
    moved = []
    for corner, u, v in _corners(ring):
        normals = np.array([[u[1], -u[0]], [-v[1], v[0]]])
        moved.append(corner + distance * normals.sum(axis=0) / (1 + normals[0] @ normals[1]))
    return np.array(moved)


def stacked(area: Polygon, levels: list[tuple[float, float]]) -> Manifold:
    """A body between rings that are moved in from level to level: heights, and how far."""
    from manifold3d import CrossSection, Manifold

    ring = np.asarray(area.exterior.coords)[:-1]
    rings = np.array([_inside(ring, inside) for _, inside in levels])
    heights = np.array([z for z, _ in levels])

    def warp(points: Points) -> Points:
        level = np.rint(points[:, 2]).astype(int)
        corner = np.linalg.norm(points[:, None, :2] - ring, axis=2).argmin(axis=1)
        return np.column_stack([rings[level, corner], heights[level]])

    last = len(levels) - 1
    return Manifold.extrude(CrossSection([ring]), last, last - 1).warp_batch(warp)


def _extruded(area: BaseGeometry, low: float, high: float) -> Manifold:
    """A prism over an area that may have parts and holes."""
    from manifold3d import CrossSection, Manifold

    parts = [orient(one) for one in getattr(area, "geoms", [area])]
    rings = [np.asarray(r.coords)[:-1] for p in parts for r in (p.exterior, *p.interiors)]
    return Manifold.extrude(CrossSection(rings), high - low).translate((0, 0, low))


# --- its file -----------------------------------------------------------------------------


def _written(
    solids: tuple[Manifold, ...], v: Variant, chance: np.random.Generator
) -> trimesh.Trimesh:
    """The bodies of a piece as one mesh with as many triangles as asked for."""
    import trimesh

    meshes = []
    for solid in solids:
        clean = solid.simplify(max(v.simplified, 5 * v.noise, _SLIVER_MM))
        raw = (clean.refine_to_length(v.edge) if v.edge else clean).to_mesh64()
        mesh = trimesh.Trimesh(raw.vert_properties[:, :3], raw.tri_verts)
        mesh.merge_vertices(digits_vertex=4)
        mesh.update_faces(mesh.nondegenerate_faces())
        if v.noise:
            mesh.vertices += chance.uniform(-v.noise, v.noise, mesh.vertices.shape)
        meshes.append(mesh)
    return trimesh.util.concatenate(meshes)


def _placement(v: Variant, number: int, chance: np.random.Generator) -> Points:
    """The place of a piece: on a grid, rotated at random about z or in space, lifted or not."""
    import trimesh

    if v.tilted:
        turn = trimesh.transformations.random_rotation_matrix(chance.random(3))
    else:
        turn = trimesh.transformations.rotation_matrix(chance.uniform(0, 7), (0, 0, 1))
    pitch = 7.5 * v.unit
    place = (pitch * (number % 4) + 7.0, pitch * (number // 4) - 11.0, 3.0 * (number % 3))
    return trimesh.transformations.translation_matrix(place) @ turn
