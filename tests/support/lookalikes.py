"""Sets as other people print them, made by manifold3d, shapely and trimesh alone.

The one real set of somebody else, FridgeIQ by its author, sets the tone: unit 20 mm, 7 mm thick, no
clearance, all edges rounded with a radius of 7/3 mm, tips of 45 degrees cut back by 3.3 mm, a
recess of 10.0 x 3.5 mm with a mouth of 10.3 mm in the back, a letter in a round pocket of 12 mm in
the face, lying flat at different places and turns, and his S is the mirror image of the drawn one.

A `Variant` says in data how a whole set is made; `VARIANTS` is the table of those that are tried.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import shapely
import trimesh
from manifold3d import CrossSection, Manifold
from numpy.typing import NDArray
from shapely import Polygon, affinity
from shapely.geometry.base import BaseGeometry
from shapely.geometry.polygon import orient

from tests.support import analytic
from tests.support.built import built

Points = NDArray[np.float64]
#: One mm in each unit of length that a file may be in.
LENGTHS = {"mm": 1.0, "cm": 0.1, "inch": 1 / 25.4, "m": 0.001, "misread": 25.4}
#: Cap height of a letter, diameter and depth of the round pocket it stands in, and how deep a
#: letter goes that is engraved, in mm.
CAP_MM, POCKET_MM, POCKET_DEPTH_MM, ENGRAVED_MM = 7.0, 12.0, 0.6, 0.6
#: By how much wider the mouth of a recess is than the recess itself, on each side.
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
        true: ids of the rules that find fault with this variant, and rightly.
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
    true: frozenset[str] = frozenset()


#: All that are tried, by name.
VARIANTS: dict[str, Variant] = {
    "the author's": Variant(mirrored="S"),
    "rounded by 0.5": Variant(rounding=0.5),
    "rounded by 1": Variant(rounding=1.0),
    "rounded by 1, bare": Variant(rounding=1.0, recess=None, letter=""),
    "rounded by 7/3, bare": Variant(recess=None, letter=""),
    "without a letter": Variant(letter=""),
    "without a recess": Variant(recess=None),
    "letters sunk": Variant(letter="sunk"),
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
    "simplified": Variant(simplified=0.05),
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


def lookalike(set_name: str, variant: Variant) -> dict[str, trimesh.Trimesh]:
    """The files of a set made in that way: name, and what is in it."""
    chance = np.random.default_rng(1)
    meshes = {}
    for number, drawing in enumerate(analytic.drawings(set_name)):
        if drawing.id in variant.mirrored:
            turned_over = affinity.scale(drawing.outline, -1, 1, origin=(0, 0))
            drawing = replace(drawing, outline=orient(turned_over))  # noqa: PLW2901
        mesh = _written(_solid(drawing, _made(variant)), variant, chance)
        if variant.mirrored == "*":
            mesh.apply_transform(np.diag([-1.0, 1.0, 1.0, 1.0]))
        mesh.apply_transform(_placement(variant, number, chance))
        mesh.apply_scale(LENGTHS[variant.length])
        if variant.decimals is not None:
            mesh.vertices = np.round(mesh.vertices, variant.decimals)
        meshes[drawing.id + variant.ending] = mesh
    if variant.together:
        return {f"all{variant.ending}": trimesh.util.concatenate(list(meshes.values()))}
    return meshes


def lookalike_files(set_name: str, variant: Variant) -> list[Path]:
    """The same on the disk, made once. Callers only read them."""

    def make(folder: Path) -> None:
        for name, mesh in lookalike(set_name, variant).items():
            mesh.export(folder / name)

    source = Path(__file__).read_bytes()
    made = {key: value for key, value in asdict(variant).items() if key != "true"}
    name = hashlib.sha256(repr(made).encode()).hexdigest()[:8]
    folder = built(f"alike-{set_name}-{name}", make, source, made, rooms=("core",))
    return sorted(folder.iterdir())


# --- one piece ----------------------------------------------------------------------------


def _made(variant: Variant) -> Variant:
    """The part of a variant that shapes a solid."""
    kept = ("length", "tilted", "together", "ending", "mirrored", "true", "decimals", "noise")
    plain = Variant()
    return replace(variant, **{key: getattr(plain, key) for key in kept})


@lru_cache(maxsize=64)
def _solid(drawing: analytic.Drawing, v: Variant) -> tuple[Manifold, ...]:
    """The bodies of one piece, its back on z = 0 and the face above."""
    area = affinity.scale(drawing.outline, v.unit, v.unit, origin=(0, 0))
    area = _without_tips(orient(_moved(area, -v.inset)), v.tip_cut)
    x, y = shapely.maximum_inscribed_circle(area).coords[0]
    solid = _hull(area, v)
    glyph = affinity.translate(analytic.glyph(drawing.label, CAP_MM).polygon, x, y)
    top = v.thickness
    post = (
        _extruded(shapely.Point(x, y).buffer(v.recess[0] / 2 + 1.6), 0, top) if v.recess else None
    )
    if v.hollow:
        low = -1.0 if v.hollow == "open" else 1.6
        inner = _extruded(_moved(area, -1.6 - v.rounding / 2), low, top - 1.6)
        solid -= inner - post if post else inner
    if v.recess:
        (wide, deep), wider = v.recess, v.recess[0] / 2 + MOUTH_MM
        ring = [(0, -1), (wider, -1), (wider, 0), (wide / 2, MOUTH_MM), (wide / 2, deep), (0, deep)]
        solid -= Manifold.revolve(CrossSection([ring]), 64).translate((x, y, 0))
    pocket = Manifold.cylinder(9, POCKET_MM / 2, circular_segments=48)
    pocket = pocket.translate((x, y, top - POCKET_DEPTH_MM))
    letter = _extruded(glyph, top - ENGRAVED_MM, top)
    if v.letter in ("raised", "sunk"):
        solid -= pocket
    if v.letter == "raised":
        return (solid + letter.translate((0, 0, -0.05)),)
    if v.letter == "sunk":
        return (solid - letter.translate((0, 0, -POCKET_DEPTH_MM)),)
    if v.letter == "engraved":
        return (solid - _extruded(glyph, top - ENGRAVED_MM, top + 1),)
    if v.letter == "inlaid":
        slot = _extruded(glyph.buffer(0.05), top - ENGRAVED_MM - 0.05, top + 1)
        return (solid - slot, letter)
    if v.letter == "inside" and v.recess:
        seen = affinity.scale(glyph, -0.7, 0.7, origin=(x, y))
        return (solid - _extruded(seen, v.recess[1] - 1, v.recess[1] + ENGRAVED_MM),)
    return (solid,)


def _hull(area: Polygon, v: Variant) -> Manifold:
    """A piece without its details."""
    high, r = v.thickness, v.rounding
    if r:
        core = _extruded(_moved(area, -r), r, high - r)
        return core.minkowski_sum(Manifold.sphere(r, v.segments))
    foot, edge = v.chamfers
    levels = [(0.0, foot), (abs(foot), 0.0), (high - edge, 0.0), (high, edge)]
    lean = math.tan(math.radians(v.taper))
    return _stacked(area, list(dict.fromkeys((z, inside + lean * z) for z, inside in levels)))


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
        across = normals.sum(axis=0)
        moved.append(corner + distance * across / (1 + normals[0] @ normals[1]))
    return np.array(moved)


def _stacked(area: Polygon, levels: list[tuple[float, float]]) -> Manifold:
    """A body between rings that are moved in from level to level: heights, and how far."""
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
    parts = [orient(one) for one in getattr(area, "geoms", [area])]
    rings = [np.asarray(r.coords)[:-1] for p in parts for r in (p.exterior, *p.interiors)]
    return Manifold.extrude(CrossSection(rings), high - low).translate((0, 0, low))


# --- its file -----------------------------------------------------------------------------


def _written(
    solids: tuple[Manifold, ...], v: Variant, chance: np.random.Generator
) -> trimesh.Trimesh:
    """The bodies of a piece as one mesh with as many triangles as asked for."""
    meshes = []
    for solid in solids:
        clean = solid.simplify(max(v.simplified, _SLIVER_MM))
        raw = (clean.refine_to_length(v.edge) if v.edge else clean).to_mesh64()
        mesh = trimesh.Trimesh(raw.vert_properties[:, :3], raw.tri_verts)
        if v.noise:
            mesh.vertices += chance.uniform(-v.noise, v.noise, mesh.vertices.shape)
        meshes.append(mesh)
    return trimesh.util.concatenate(meshes)


def _placement(v: Variant, number: int, chance: np.random.Generator) -> Points:
    """Where a piece lies: on a grid, turned at random about z or in space, lifted or not."""
    if v.tilted:
        turn = trimesh.transformations.random_rotation_matrix(chance.random(3))
    else:
        turn = trimesh.transformations.rotation_matrix(chance.uniform(0, 7), (0, 0, 1))
    pitch = 5.0 * v.unit
    place = (pitch * (number % 4) + 7.0, pitch * (number // 4) - 11.0, 3.0 * (number % 3))
    return trimesh.transformations.translation_matrix(place) @ turn
