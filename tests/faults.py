"""A catalogue of faults to plant in printed pieces, each with the rule that must name it.

A fault is planted on one piece that lies beside two good ones: the three are a set of their own,
with one challenge that they solve, so that `check` has nothing to complain of but the fault.
Faults that have a limit are planted with a size relative to it: at 1.1 a tenth beyond it, at 0.9
a tenth within. What is planted is a mesh, or the blueprint that a mesh is built from.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray
from shapely import Point, Polygon, affinity, maximum_inscribed_circle
from shapely.geometry.base import BaseGeometry

from fabkit.blueprint.draft import Blueprint, draft
from fabkit.blueprint.label import Label, place_label
from fabkit.blueprint.printed import (
    canonical_outline,
    chamfered,
    printed_outline,
)
from fabkit.blueprint.recess import Bores, Recess
from fabkit.mesh.body import Body
from fabkit.mesh.files.limits import sound_body
from fabkit.mesh.files.reading import read_bodies
from fabkit.model.lattice import Cell, Lattice
from fabkit.model.library import load_set
from fabkit.model.piece import Form, Piece, orientations
from fabkit.model.polygon import rings_of_cells
from fabkit.model.profile import Profile
from fabkit.model.puzzle import Challenge, PuzzleSet
from fabkit.solid.body import Workshop
from fabkit.solid.export import write_stl
from fabkit.verify.check import CheckReport, check
from fabkit.verify.taking import take
from tests import measure
from tests.prints import Order

Points = NDArray[np.float64]
Faces = NDArray[np.int64]

PLAIN = Order()
RIBBED = Order((), ("recess.fit=ribs",))
CLOSED = Order((), ("recess.fit=embedded",))
TWO_FACED = Order(("flippable",))
UNLETTERED = Order((), ("label.faces=none",))

ALL = "ARELOMTSQDJBNYIU"
#: Pieces that are not their own mirror image …
CHIRAL = "ARELOMTSNYU"
#: … nor that of another piece of the set.
CHIRAL_ALONE = "LOTSNU"
#: Letters that do not look the same in a mirror, turned or not.
CHIRAL_LETTERS = "RLSQJN"
#: Pieces with an angle of 45 degrees, whose tip is cut.
TIPPED = "ARELOMTSDYI"
LONG = "LTSNU"
SHORT = "AREOMQDJBYI"
#: Pieces whose magnet has more wall around it than it needs.
ROOMY = "MQBYI"
#: Pieces whose letter lies over their magnet.
LETTER_OVER_MAGNET = "AREOMQDJBYI"
#: Pieces whose shape tells the unit from the clearance: in a triangle both move all three edges.
TELLING = "ARELOMTSQJBNYU"
WITH_ISLANDS = "ARODQB"
WITHOUT_ISLANDS = "ELMTSJNYIU"
#: Good pieces to lie beside the faulty one: two that tell the unit, with simple letters.
COMPANIONS = "MYJTNIA"


# --- sets of three ------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Kit:
    """A few pieces as a set of their own, drawn and printed."""

    order: Order
    puzzle: PuzzleSet
    profile: Profile
    blueprints: dict[str, Blueprint]
    bodies: dict[str, Body]


@lru_cache
def _workshop() -> Workshop:
    return Workshop()


@lru_cache(maxsize=512)
def _good(order: Order, piece: str) -> tuple[Blueprint, Body]:
    puzzle = load_set("fridgeiq")
    blueprint = draft(puzzle, puzzle.piece(piece), order.profile())
    return blueprint, printed(blueprint, f"{piece}.stl")


@lru_cache(maxsize=512)
def kit(order: Order, pieces: str) -> Kit:
    """Some pieces of FridgeIQ with one challenge, which they solve; or all with all of its own."""
    whole = load_set("fridgeiq")
    chosen = tuple(whole.piece(piece) for piece in pieces)
    puzzle = whole
    if len(chosen) < len(whole.pieces):
        region = side_by_side(whole.lattice, chosen)
        challenge = Challenge("together", region, tuple(pieces), answer="solved")
        puzzle = replace(whole, pieces=chosen, challenges=(challenge,))
    good = {piece: _good(order, piece) for piece in pieces}
    return Kit(
        order,
        puzzle,
        order.profile(),
        {piece: blueprint for piece, (blueprint, _) in good.items()},
        {piece: body for piece, (_, body) in good.items()},
    )


def side_by_side(lattice: Lattice, pieces: Sequence[Piece]) -> frozenset[Cell]:
    """Pieces laid down one after the other, each so that it shares most edges with the others."""
    first, *others = pieces
    region = first.forms[0].cells
    (ux, _), (vx, vy) = lattice.basis
    for piece in others:
        moved = [
            frozenset((x + ux * i + vx * j, y + vy * j) for x, y in image.cells)
            for image in orientations(lattice, piece, flips=False)
            for i in range(-3, 4)
            for j in range(-3, 4)
        ]
        free = [one for one in moved if not one & region]
        region |= max(free, key=lambda one: (_shared(lattice, one, region), sorted(one)))
    return region


def _shared(lattice: Lattice, one: frozenset[Cell], other: frozenset[Cell]) -> int:
    edges = {edge for cell in other for edge in lattice.cell_edges(cell)}
    return sum((b, a) in edges for cell in one for a, b in lattice.cell_edges(cell))


def printed(blueprint: Blueprint, name: str) -> Body:
    """A blueprint's mesh, written to a file and read back."""
    return written(_workshop().build(blueprint), name)


def written(solid: Any, name: str) -> Body:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        write_stl(solid, path)
        (body,) = read_bodies(path)
    return body


# --- planting -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Planted:
    """Meshes with a fault, and what they are to be held against."""

    puzzle: PuzzleSet
    profile: Profile
    bodies: tuple[Body, ...]
    #: The name of the faulty body; empty when the fault is the set's.
    faulty: str

    def report(self) -> CheckReport:
        taken = take(self.bodies, self.puzzle, self.profile.unit_mm)
        return check(taken, self.profile)


@dataclass(frozen=True, eq=False)
class Case:
    """A good kit, the piece to plant a fault on, and the dice."""

    kit: Kit
    piece: str
    random: Random

    @property
    def profile(self) -> Profile:
        return self.kit.profile

    @property
    def blueprint(self) -> Blueprint:
        return self.kit.blueprints[self.piece]

    @property
    def body(self) -> Body:
        return self.kit.bodies[self.piece]

    @property
    def recess(self) -> Recess:
        return self.blueprint.recesses[0]

    @property
    def label(self) -> Label:
        assert self.blueprint.label is not None
        return self.blueprint.label

    @property
    def name(self) -> str:
        return self.body.name

    @property
    def others(self) -> list[Body]:
        return [body for piece, body in self.kit.bodies.items() if piece != self.piece]

    def sign(self) -> int:
        return self.random.choice((-1, 1))

    def planted(
        self, *bodies: Body, faulty: str | None = None, profile: Profile | None = None
    ) -> Planted:
        """Some bodies in place of the piece's own."""
        return Planted(
            self.kit.puzzle,
            profile or self.profile,
            (*self.others, *bodies),
            self.name if faulty is None else faulty,
        )

    def mesh(self, vertices: Points, faces: Faces) -> Planted:
        """Another mesh in place of the piece's own."""
        return self.planted(sound_body(self.name, vertices, faces, self.name))

    def moved(self, change: Callable[[Points], Points]) -> Planted:
        """The piece's mesh with its corners moved."""
        return self.mesh(change(self.body.vertices.copy()), self.body.faces)

    def rebuilt(self, **changes: Any) -> Planted:
        """The mesh of a changed blueprint."""
        return self.planted(printed(replace(self.blueprint, **changes), self.name))

    def with_recess(self, which: int | None = None, **changes: Any) -> Planted:
        """With one recess changed, at random if not said which."""
        recesses = list(self.blueprint.recesses)
        which = self.random.randrange(len(recesses)) if which is None else which
        recesses[which] = replace(recesses[which], **changes)
        return self.rebuilt(recesses=tuple(recesses))

    def with_bores(self, wider_mm: float = 0.0, higher_mm: float = 0.0) -> Planted:
        bores = self.recess.bores
        crest = None if bores.crest_mm is None else bores.crest_mm + higher_mm
        return self.with_recess(bores=Bores(bores.widest_mm + wider_mm, crest))

    def with_letter(self, scale: float = 1.0, mirrored: bool = False, **changes: Any) -> Planted:
        """With the letter scaled or mirrored in its place."""
        x, y = self.label.centre_mm
        letter = self.label.front.moved(-x, -y).moved(x, y, scale, mirrored)
        return self.rebuilt(label=replace(self.label, front=letter, **changes))

    def outlined(self, outline: Polygon, **changes: Any) -> Planted:
        """With another outline, and its chamfers around that."""
        return self.rebuilt(
            outline=outline,
            face=chamfered(outline, self.profile.top_chamfer_mm),
            foot=chamfered(outline, self.profile.foot_chamfer_mm),
            **changes,
        )

    def drafted(self, **changes: float) -> Planted:
        """With the outline that another profile gives, recesses and letter where they were."""
        return self.outlined(
            printed_outline(self.blueprint.canonical, replace(self.profile, **changes))
        )


@dataclass(frozen=True)
class Fault:
    """A kind of fault.

    Attributes:
        name: for people.
        rule: which must name it: a rule's id, or words of an assembly's message.
        plant: plants it with a size; 1 is the limit for those that have one.
        pieces: on which it can be planted.
        order: what the pieces are printed with.
        clear: between which sizes it is clearly a fault; None for those without a size.
        limited: whether it has a limit, so that nothing at all may be said of a size of 0.9.
        at: where it must be named: on the part, among the set's findings, or where the parts
            are put together.
        also: the other rules that rightly name it, too, at a size of 1.1.
        blames: whether the other pieces may be blamed, too.
        at_limit: the pieces on which it can be planted at its limit, if not on all.
        company: how many good pieces lie beside it. Of a few a strange one may decide what the
            grid unit is taken for, and all the others are wrong.
    """

    name: str
    rule: str
    plant: Callable[[Case, float], Planted]
    pieces: str = ALL
    order: Order | Callable[[float], Order] = PLAIN
    clear: tuple[float, float] | None = None
    limited: bool = False
    at: str = "part"
    also: tuple[str, ...] = ()
    blames: bool = False
    at_limit: str = ""
    company: int = 2

    def __str__(self) -> str:
        return self.name

    def planted(
        self, size: float, seed: int, piece: str | None = None, whole: bool = False
    ) -> Planted:
        """The fault with that size, at a seeded place on a seeded piece.

        Args:
            size: relative to the limit; without meaning for faults that have no size.
            seed: decides on the piece and the place.
            piece: on this one.
            whole: in the whole set, not beside two other pieces.
        """
        random = Random(f"{self.name} {seed}")
        near = self.limited and abs(size - 1) < 0.15
        chosen = random.choice((near and self.at_limit) or self.pieces)
        piece = piece or chosen
        order = self.order if isinstance(self.order, Order) else self.order(size)
        beside = [one for one in COMPANIONS if one != piece][: self.company]
        pieces = ALL if whole else piece + "".join(beside)
        return self.plant(Case(kit(order, pieces), piece, random), size)

    def clearly(self, seed: int, piece: str | None = None, whole: bool = False) -> Planted:
        """The fault with a seeded size that is clearly too much."""
        low, high = self.clear or (0.0, 0.0)
        size = Random(f"size of {self.name} {seed}").uniform(low, high)
        return self.planted(size, seed, piece, whole)


def beyond(limit: float, size: float) -> float:
    """A value for a least one: a size of 1.1 is a tenth below it, 0.9 a tenth above."""
    return limit * max(0.0, 2 - size)


# --- the mesh as such ---------------------------------------------------------------------


def missing_triangles(case: Case, _: float) -> Planted:
    gone = case.random.sample(range(len(case.body.faces)), case.random.randint(1, 3))
    return case.mesh(case.body.vertices, np.delete(case.body.faces, gone, axis=0))


def flipped_triangle(case: Case, _: float) -> Planted:
    faces = case.body.faces.copy()
    which = case.random.randrange(len(faces))
    faces[which] = faces[which][::-1]
    return case.mesh(case.body.vertices, faces)


def inside_out(case: Case, _: float) -> Planted:
    return case.mesh(case.body.vertices, case.body.faces[:, ::-1])


def together(*meshes: tuple[Points, Faces]) -> tuple[Points, Faces]:
    """Several meshes as one."""
    before = np.cumsum([0, *(len(vertices) for vertices, _ in meshes)])
    return (
        np.concatenate([vertices for vertices, _ in meshes]),
        np.concatenate([faces + b for (_, faces), b in zip(meshes, before, strict=False)]),
    )


def same_twice(case: Case, _: float) -> Planted:
    own = case.body.vertices, case.body.faces
    return case.mesh(*together(own, own))


def copy_into(case: Case, _: float) -> Planted:
    """A second copy in the same file, a little beside the first one."""
    size = np.ptp(case.body.vertices, axis=0)
    away = case.body.vertices + size * [case.random.uniform(0.05, 0.9) for _ in range(3)]
    return case.mesh(*together((case.body.vertices, case.body.faces), (away, case.body.faces)))


def copy_beside(case: Case, _: float) -> Planted:
    """A second copy in the same file, clear of the first one: a part of its own."""
    away = case.body.vertices + np.array([case.random.uniform(70, 90), 0.0, 0.0])
    meshes = (case.body.vertices, case.body.faces), (away, case.body.faces)
    return replace(case.mesh(*together(*meshes)), faulty="")


def box_mesh(middle: Iterable[float], size: float) -> tuple[Points, Faces]:
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float) - 0.5
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = np.array([face for a, b, c, d in quads for face in ((a, b, c), (a, c, d))])
    return corners * size + np.asarray(tuple(middle)), faces


def point_inside(case: Case, low_mm: float, high_mm: float, clear_mm: float) -> Points:
    """A place in solid plastic: away from the sides, and between two heights."""
    room = case.blueprint.outline.buffer(-clear_mm)
    left, bottom, right, top = room.bounds
    while True:
        x, y = case.random.uniform(left, right), case.random.uniform(bottom, top)
        if room.contains(Point(x, y)):
            return np.array([x, y, case.random.uniform(low_mm, high_mm)])


def second_body(case: Case, _: float) -> Planted:
    """A small box, on the bed beside the piece or in its plastic; both face outwards."""
    size = case.random.uniform(0.3, 1.5)
    where = point_inside(case, 4.2, 5.5, 2.0)
    if case.random.random() < 0.5:
        where = np.array([case.body.vertices[:, 0].max() + 4, where[1], size / 2])
    box = box_mesh(where, size)
    return case.mesh(*together((case.body.vertices, case.body.faces), box))


def hidden_cavity(case: Case, _: float) -> Planted:
    """A box inside the plastic that faces inwards."""
    vertices, faces = box_mesh(point_inside(case, 4.2, 5.5, 2.0), case.random.uniform(0.3, 1.5))
    own = case.body.vertices, case.body.faces
    return case.mesh(*together(own, (vertices, faces[:, ::-1])))


def cavity_reaches_out(case: Case, _: float) -> Planted:
    """The closed cavity of a magnet, moved until it breaks through the side."""
    x, y = case.recess.centre_mm
    radius = case.recess.bores.widest_mm / 2
    vertices = case.body.vertices.copy()
    of_cavity = np.hypot(vertices[:, 0] - x, vertices[:, 1] - y) < radius + 0.01
    of_cavity &= (vertices[:, 2] > 0.5) & (vertices[:, 2] < 4.0)
    there = towards_side(case, (x, y), case.random.uniform(-1.5, -0.5) * radius, radius)
    vertices[of_cavity, :2] += np.subtract(there, (x, y))
    return case.mesh(vertices, case.body.faces)


def duplicate_face(case: Case, _: float) -> Planted:
    face = case.random.choice(case.body.faces.tolist())
    turned = case.random.choice((face, face[::-1], face[1:] + face[:1]))
    return case.mesh(case.body.vertices, np.vstack([case.body.faces, [turned]]))


def face_of_no_extent(case: Case, _: float) -> Planted:
    """A face whose three corners lie on one line, put into an edge so that all stays closed."""
    faces = case.body.faces.tolist()
    vertices = case.body.vertices
    which = case.random.randrange(len(faces))
    a, b, c = faces[which]
    middle = len(vertices)
    faces[which] = [a, middle, c]
    faces += [[middle, b, c], [a, b, middle]]
    return case.mesh(np.vstack([vertices, (vertices[a] + vertices[b]) / 2]), np.array(faces))


def face_of_two_corners(case: Case, _: float) -> Planted:
    a, b, _c = case.random.choice(case.body.faces.tolist())
    return case.mesh(case.body.vertices, np.vstack([case.body.faces, [[a, a, b]]]))


def corner_through_wall(case: Case, _: float) -> Planted:
    """A corner of the face, pushed down through the back."""
    top = case.profile.thickness_mm
    faced = np.flatnonzero(case.body.vertices[:, 2] > top - 0.01)
    which = case.random.choice(faced.tolist())
    below = -case.random.uniform(0.5, 5)

    def push(vertices: Points) -> Points:
        vertices[which, 2] = below
        return vertices

    return case.moved(push)


def spike_through_piece(case: Case, _: float) -> Planted:
    """The middle of a side's triangle, pulled through the piece and out at the other side."""
    vertices, faces = case.body.vertices, case.body.faces
    which = case.random.choice(side_faces(case))
    a, b, c = faces[which]
    normal = np.cross(vertices[b] - vertices[a], vertices[c] - vertices[a])
    tip = vertices[[a, b, c]].mean(axis=0) - normal / np.linalg.norm(normal) * 90
    return case.mesh(*with_tip(vertices, faces, which, tip))


def half_missing(case: Case, _: float) -> Planted:
    """Every other triangle missing, so that no outline can be seen; or all but one."""
    step = case.random.choice((2, 3, len(case.body.faces)))
    return case.mesh(case.body.vertices, case.body.faces[::step])


def rough(case: Case, size: float) -> Planted:
    """All corners moved at random: faces cut through their neighbours."""
    dice = np.random.default_rng(case.random.randrange(1000))
    return case.moved(lambda vertices: vertices + dice.normal(0, size, vertices.shape))


def flattened(case: Case, _: float) -> Planted:
    return case.moved(lambda vertices: vertices * [1.0, 1.0, 0.0])


def spike_on_face(case: Case, _: float) -> Planted:
    """A spike on the face makes the piece thicker."""
    vertices, faces = case.body.vertices, case.body.faces
    flat = np.flatnonzero((vertices[faces][:, :, 2] > case.profile.thickness_mm - 1e-4).all(axis=1))
    which = int(case.random.choice(flat.tolist()))
    tip = vertices[faces[which]].mean(axis=0)
    tip[2] += case.random.uniform(0.1, 4)
    return case.mesh(*with_tip(vertices, faces, which, tip))


def side_faces(case: Case) -> list[int]:
    """The triangles of the outline's upright sides."""
    corners = case.body.vertices[case.body.faces]
    low, high = (
        case.profile.foot_chamfer_mm,
        case.profile.thickness_mm - case.profile.top_chamfer_mm,
    )
    rim = np.isclose(corners[:, :, 2], low, atol=1e-3) | np.isclose(
        corners[:, :, 2], high, atol=1e-3
    )
    tall = np.ptp(corners[:, :, 2], axis=1) > high - low - 1e-2
    return [int(i) for i in np.flatnonzero(rim.all(axis=1) & tall)]


def with_tip(vertices: Points, faces: Faces, which: int, tip: Points) -> tuple[Points, Faces]:
    """A triangle replaced by three that meet in a tip."""
    a, b, c = faces[which]
    new = len(vertices)
    sides = [[a, b, new], [b, c, new], [c, a, new]]
    return np.vstack([vertices, tip]), np.vstack([np.delete(faces, which, axis=0), sides])


# --- scale and place ----------------------------------------------------------------------


def scaled(case: Case, size: float, axes: Sequence[float]) -> Planted:
    return case.moved(lambda vertices: vertices * (1 + size * np.asarray(axes)))


def scaled_alike(case: Case, size: float) -> Planted:
    return scaled(case, size * 0.002 * case.sign(), (1, 1, 1))


def scaled_flat(case: Case, size: float) -> Planted:
    return scaled(case, size * 0.002 * case.sign(), (1, 1, 0))


def scaled_up(case: Case, size: float) -> Planted:
    return scaled(case, size * case.sign() * 0.05 / case.profile.thickness_mm, (0, 0, 1))


def turned_by(axis: int, degrees: float) -> Points:
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    i, j = (axis + 1) % 3, (axis + 2) % 3
    matrix = np.eye(3)
    matrix[i, i] = matrix[j, j] = cos
    matrix[i, j], matrix[j, i] = -sin, sin
    return matrix


def turned(case: Case, *steps: tuple[int, float]) -> Planted:
    def turn(vertices: Points) -> Points:
        for axis, degrees in steps:
            vertices = vertices @ turned_by(axis, degrees).T
        return vertices

    return case.moved(turn)


def tilted(case: Case, size: float) -> Planted:
    return turned(case, (2, case.random.uniform(0, 360)), (0, 0.1 * size))


def on_its_face(case: Case, _: float) -> Planted:
    return turned(case, (2, case.random.uniform(0, 360)), (0, 180))


def on_its_side(case: Case, _: float) -> Planted:
    return turned(
        case, (2, case.random.uniform(0, 360)), (case.random.randrange(2), 90 * case.sign())
    )


def mirrored_mesh(case: Case, _: float) -> Planted:
    vertices = case.body.vertices * [-1.0, 1.0, 1.0]
    return case.mesh(vertices, case.body.faces[:, ::-1])


def mirrored_outline(case: Case, _: float) -> Planted:
    """The mirror image of the piece, with its letter the right way round."""

    def mirror(area: Polygon) -> Polygon:
        return affinity.scale(area, xfact=-1, origin=(0, 0)).reverse()

    one, (x, _y) = case.blueprint, case.label.centre_mm
    recesses = [replace(r, centre_mm=(-r.centre_mm[0], r.centre_mm[1])) for r in one.recesses]
    return case.rebuilt(
        outline=mirror(one.outline),
        face=mirror(one.face),
        foot=mirror(one.foot),
        recesses=tuple(recesses),
        label=replace(case.label, front=case.label.front.moved(-2 * x, 0.0)),
    )


# --- outline ------------------------------------------------------------------------------


def thicker(case: Case, size: float) -> Planted:
    thickness = case.profile.thickness_mm + 0.05 * size * case.sign()
    return case.rebuilt(thickness_mm=thickness)


def top_chamfered(case: Case, size: float) -> Planted:
    chamfer = case.profile.top_chamfer_mm + 0.05 * size * case.sign()
    return case.rebuilt(face=chamfered(case.blueprint.outline, chamfer), top_chamfer_mm=chamfer)


def foot_chamfered(case: Case, size: float) -> Planted:
    chamfer = case.profile.foot_chamfer_mm + 0.05 * size * case.sign()
    return case.rebuilt(foot=chamfered(case.blueprint.outline, chamfer), foot_chamfer_mm=chamfer)


def no_chamfer(case: Case, _: float) -> Planted:
    return case.rebuilt(face=case.blueprint.outline, top_chamfer_mm=0.0)


def no_foot_chamfer(case: Case, _: float) -> Planted:
    return case.rebuilt(foot=case.blueprint.outline, foot_chamfer_mm=0.0)


def steep_foot(case: Case, size: float) -> Planted:
    """The foot chamfer's width as asked for, its height less: it leans out more."""
    lean = min(85.0, 46 * size)
    return case.rebuilt(foot_chamfer_mm=case.profile.foot_chamfer_mm / math.tan(math.radians(lean)))


def sharp_tip(case: Case, size: float) -> Planted:
    return case.drafted(tip_flat_mm=max(0.1, case.profile.tip_flat_mm - 0.05 * size))


def blunt_tip(case: Case, size: float) -> Planted:
    """Tips cut so far that the outline is no more the piece's: 0.2 units are the limit."""
    flat = 2 * math.tan(math.radians(22.5)) * (4.0 * size - tip_inset(case.profile))
    return case.drafted(tip_flat_mm=flat)


def tip_inset(profile: Profile) -> float:
    """How far a 45-degree tip lies inside the drawn one for the clearance alone."""
    return profile.inset_mm / math.sin(math.radians(22.5))


def grown(case: Case, size: float) -> Planted:
    """All sides moved out; a tenth of a millimetre is left of the gap at the limit."""
    return case.drafted(inset_mm=case.profile.inset_mm - 0.1 * size)


def shrunk(case: Case, size: float) -> Planted:
    return case.drafted(inset_mm=case.profile.inset_mm + 0.3 * size)


def edge_moved(case: Case, out_mm: float) -> Planted:
    """One long side of the drawing moved, before clearance and tips."""
    ring = [np.array(point) for point in case.blueprint.canonical.exterior.coords[:-1]]
    count = len(ring)
    lengths = [float(np.linalg.norm(ring[i] - ring[i - 1])) for i in range(count)]
    which = case.random.choice([i for i in range(count) if lengths[i] > 0.45 * max(lengths)])
    (dx, dy), moved = ring[which] - ring[which - 1], list(ring)
    normal = np.array([dy, -dx]) / lengths[which]
    # Each end of the side slides along the neighbouring side.
    for end, behind in ((which - 1, which - 2), (which, (which + 1) % count)):
        along = ring[end] - ring[behind]
        moved[end] = ring[end] + along * (out_mm / float(along @ normal))
    drawn = Polygon([tuple(point) for point in moved])
    return case.outlined(printed_outline(drawn, case.profile))


def edge_moved_out(case: Case, size: float) -> Planted:
    return edge_moved(case, size)


def edge_moved_in(case: Case, size: float) -> Planted:
    return edge_moved(case, -size)


def little_rest(size: float) -> Order:
    """Magnets so large that little is left of a triangle's back: 45 % of its outline, or 55 %."""
    magnet_mm = 8.48 if size < 1 else 10.77
    return Order(
        (),
        (
            f"magnet.diameter={magnet_mm} mm",
            "tip_flat=2 mm",
            "foot_chamfer=1.2 mm",
            "recess.wall=0.5 mm",
            "recess.bed_wall=0.3 mm",
        ),
    )


def as_it_is(case: Case, _: float) -> Planted:
    return case.planted(case.body)


# --- recesses -----------------------------------------------------------------------------


def bore_off(case: Case, size: float) -> Planted:
    return case.with_bores(wider_mm=0.05 * size * case.sign())


def bore_wide(case: Case, size: float) -> Planted:
    return case.with_bores(wider_mm=0.05 * size)


def crest_off(case: Case, size: float) -> Planted:
    return case.with_bores(higher_mm=0.05 * size * case.sign())


def ribs_high(case: Case, size: float) -> Planted:
    return case.with_bores(higher_mm=-0.05 * size)


def ribs_missing(case: Case, _: float) -> Planted:
    bores = case.recess.bores
    recesses = [replace(one, bores=Bores(bores.widest_mm, None)) for one in case.blueprint.recesses]
    return case.rebuilt(recesses=tuple(recesses))


def oval_bore(case: Case, size: float) -> Planted:
    """The corners of one recess, stretched one way and pressed together the other."""
    x, y = case.random.choice(case.blueprint.recesses).centre_mm
    angle = case.random.uniform(0, math.pi)
    along = np.array([math.cos(angle), math.sin(angle)])
    part = 0.1 * size / 2 / case.recess.bores.widest_mm

    def stretch(vertices: Points) -> Points:
        away = vertices[:, :2] - (x, y)
        radius = case.recess.bores.widest_mm / 2 + case.recess.mouth_mm + 0.01
        near = (np.hypot(*away.T) < radius) & (vertices[:, 2] < case.recess.high_mm + 0.01)
        far = (away @ along)[:, None] * along
        change = part * far - part * (away - far)
        vertices[near, :2] += change[near]
        return vertices

    return case.moved(stretch)


def tapered_bore(case: Case, size: float) -> Planted:
    """One recess narrower at its upper end, or wider, than it should be."""
    x, y = case.random.choice(case.blueprint.recesses).centre_mm
    part = 0.05 * size / case.recess.bores.widest_mm * case.sign()

    def taper(vertices: Points) -> Points:
        away = vertices[:, :2] - (x, y)
        end = np.hypot(*away.T) < case.recess.bores.widest_mm / 2 + 0.01
        end &= np.abs(vertices[:, 2] - case.recess.high_mm) < 0.01
        vertices[end, :2] += part * away[end]
        return vertices

    return case.moved(taper)


def depth_off(case: Case, size: float) -> Planted:
    return case.with_recess(high_mm=case.recess.high_mm + 0.1 * size * case.sign())


def too_deep(case: Case, size: float) -> Planted:
    return case.with_recess(high_mm=case.recess.high_mm + 0.1 * size)


def mouth_off(case: Case, size: float) -> Planted:
    return case.with_recess(mouth_mm=case.recess.mouth_mm + 0.05 * size * case.sign())


def no_mouth(case: Case, _: float) -> Planted:
    return case.with_recess(mouth_mm=0.0)


def off_centre(case: Case, wall_mm: float) -> Planted:
    """One recess moved straight towards a side until that much wall is left."""
    which = case.random.randrange(len(case.blueprint.recesses))
    x, y = case.blueprint.recesses[which].centre_mm
    there = towards_side(case, (x, y), wall_mm, case.recess.bores.widest_mm / 2)
    return case.with_recess(which, centre_mm=there)


def towards_side(
    case: Case, start: tuple[float, float], wall_mm: float, radius: float
) -> tuple[float, float]:
    """Where a disc is, moved some way until it leaves that much wall; below 0 it sticks out."""
    outline = case.blueprint.outline
    angle = case.random.uniform(0, 2 * math.pi)
    low, high = 0.0, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        there = Point(start[0] + middle * math.cos(angle), start[1] + middle * math.sin(angle))
        inside = outline.contains(there)
        wall = outline.exterior.distance(there) * (1 if inside else -1) - radius
        low, high = (middle, high) if wall > wall_mm else (low, middle)
    return round(start[0] + low * math.cos(angle), 4), round(start[1] + low * math.sin(angle), 4)


def thin_wall(case: Case, size: float) -> Planted:
    return off_centre(case, beyond(case.profile.wall_mm, size))


def open_at_side(case: Case, _: float) -> Planted:
    return off_centre(case, -case.random.uniform(0.3, 4.0))


def thin_bed_wall(case: Case, size: float) -> Planted:
    """The wall at the bed is the one beside the bore less mouth and foot chamfer."""
    least = beyond(case.profile.bed_wall_mm, size)
    return off_centre(case, least + case.profile.mouth_mm + case.profile.foot_chamfer_mm)


def recesses_near(case: Case, size: float) -> Planted:
    """Two magnets with too thin a wall between them: one of them moved towards the other."""
    first, second = case.blueprint.recesses
    way = np.subtract(second.centre_mm, first.centre_mm)
    apart = case.recess.bores.widest_mm + beyond(case.profile.wall_mm, size)
    centre = np.asarray(first.centre_mm) + way / np.linalg.norm(way) * apart
    return case.with_recess(1, centre_mm=tuple(centre.round(4).tolist()))


def no_recess(case: Case, _: float) -> Planted:
    return case.rebuilt(recesses=())


def one_recess_less(case: Case, _: float) -> Planted:
    return case.rebuilt(recesses=(case.random.choice(case.blueprint.recesses),))


def one_recess_more(case: Case, _: float) -> Planted:
    """A second one in a piece that gets one, with all its walls."""
    x, y = case.recess.centre_mm
    while True:
        second = point_inside(case, 0, 0, case.recess.bores.widest_mm / 2 + 2.01)[:2]
        if math.dist(second, (x, y)) > case.recess.bores.widest_mm + 2.01:
            other = replace(case.recess, centre_mm=tuple(second.round(3).tolist()))
            return case.rebuilt(recesses=(case.recess, other))


def closed_recess(case: Case, _: float) -> Planted:
    return case.with_recess(low_mm=0.6, high_mm=3.8, mouth_mm=0.0)


def open_recess(case: Case, _: float) -> Planted:
    """A cavity that should be closed, open at the back."""
    return case.with_recess(low_mm=0.0)


def pause_off(case: Case, size: float) -> Planted:
    return case.with_recess(high_mm=case.recess.high_mm + 0.02 * size * case.sign())


def thin_floor(case: Case, size: float) -> Planted:
    """Only the floor: the cavity is the more high for it, within what its height may be off."""
    return case.with_recess(low_mm=beyond(0.6, size))


def thin_roof(case: Case, size: float) -> Planted:
    """Less between recess and letter: both are a little deeper, each within its limit."""
    less = case.profile.thickness_mm - 0.6 - 3.2 - beyond(case.profile.roof_mm, size)
    recess = replace(case.recess, high_mm=case.recess.high_mm + 0.75 * less)
    label = replace(case.label, depth_mm=case.label.depth_mm + 0.25 * less)
    return case.rebuilt(recesses=(recess,), label=label)


def into_letter(case: Case, _: float) -> Planted:
    """A recess so deep that it opens into the letter."""
    top = case.profile.thickness_mm - case.profile.label_depth_mm
    return case.with_recess(high_mm=top + case.random.uniform(0.05, 0.4))


def through_the_piece(case: Case, _: float) -> Planted:
    return case.with_recess(high_mm=case.profile.thickness_mm)


# --- letters ------------------------------------------------------------------------------


def letter_cut_through(case: Case, _: float) -> Planted:
    return case.rebuilt(label=replace(case.label, depth_mm=case.profile.thickness_mm))


def letter_depth_off(case: Case, size: float) -> Planted:
    depth = case.profile.label_depth_mm + 0.05 * size * case.sign()
    return case.rebuilt(label=replace(case.label, depth_mm=depth))


def thin_strokes(case: Case, size: float) -> Planted:
    """A smaller letter; 2 % of a stroke may be lost in chords."""
    stroke = stroke_mm(case.label.front.polygon())
    return case.with_letter(scale=max(0.05, beyond(0.98 * case.profile.stroke_mm, size)) / stroke)


def stroke_mm(letter: BaseGeometry) -> float:
    """The thinnest stroke; the gauge is told what it is to find, to tell strokes from corners."""
    low, high = 0.5, 3.0
    for _ in range(9):
        middle = (low + high) / 2
        found = measure.thinnest_stroke_mm(letter, middle) >= middle
        low, high = (middle, high) if found else (low, middle)
    return low


def narrow_island(case: Case, size: float) -> Planted:
    letter = case.label.front.polygon()
    islands = [Polygon(ring) for part in measure.parts(letter) for ring in part.interiors]
    width = min(2 * maximum_inscribed_circle(island).length for island in islands)
    return case.with_letter(scale=max(0.1, beyond(0.4, size)) / width)


def mirrored_letter(case: Case, _: float) -> Planted:
    return case.with_letter(mirrored=True)


def no_letter(case: Case, _: float) -> Planted:
    return case.rebuilt(label=None)


def no_letter_on_back(case: Case, _: float) -> Planted:
    return case.rebuilt(label=replace(case.label, back=None))


def needless_letter(case: Case, _: float) -> Planted:
    return case.rebuilt(label=other_label(case, case.piece))


def other_label(case: Case, text: str) -> Label:
    lettered = replace(case.profile, faces="front")
    label = place_label(text, case.blueprint.face, case.blueprint.outline.centroid, lettered)
    assert label is not None
    return label


def wrong_letter(case: Case, _: float) -> Planted:
    """That of another piece of the set, which has another outline."""
    other = case.random.choice([piece for piece in case.kit.bodies if piece != case.piece])
    return case.rebuilt(label=other_label(case, other))


# --- printing -----------------------------------------------------------------------------


def wide_ceiling(case: Case, size: float) -> Planted:
    """The piece as it is, for a printer that can span less."""
    span = case.recess.bores.widest_mm / size
    return case.planted(case.body, profile=replace(case.profile, max_bridge_mm=span))


def low_printer(case: Case, size: float) -> Planted:
    height = case.profile.thickness_mm / size
    return case.planted(case.body, profile=replace(case.profile, bed_height_mm=height))


def small_bed(case: Case, size: float) -> Planted:
    """A bed of the shape of the piece, which fits it best as it lies; turned at random."""
    width, depth = np.ptp(case.body.vertices[:, :2], axis=0) / size
    if case.sign() > 0:
        width, depth = depth, width
    profile = replace(case.profile, bed_width_mm=float(width), bed_depth_mm=float(depth))
    return case.planted(case.body, profile=profile)


# --- sets ---------------------------------------------------------------------------------


def swapped_piece(case: Case, _: float) -> Planted:
    """The mesh of another piece in the file of this one."""
    other = case.random.choice(case.others)
    return case.planted(replace(other, name=case.name), faulty="")


def piece_missing(case: Case, _: float) -> Planted:
    return case.planted(faulty="")


def piece_twice(case: Case, _: float) -> Planted:
    again = replace(
        case.body, name="again.stl", vertices=case.body.vertices + np.array([100.0, 0.0, 0.0])
    )
    return case.planted(case.body, again, faulty="")


def prism(case: Case, outline: Polygon, name: str) -> Body:
    """A piece of another outline, without letter and magnet."""
    profile = case.profile
    blueprint = replace(
        case.blueprint,
        canonical=outline,
        outline=outline,
        face=chamfered(outline, profile.top_chamfer_mm),
        foot=chamfered(outline, profile.foot_chamfer_mm),
        recesses=(),
        label=None,
    )
    return printed(blueprint, name)


def strange_outline(case: Case) -> Polygon:
    """A disc or a polygon with some angle at the lattice, of any size."""
    corners = case.random.choice((5, 7, 60))
    radius, turn = case.random.uniform(8, 30), case.random.uniform(0, 6)
    return Polygon(
        [
            (radius * math.cos(turn + a), radius * math.sin(turn + a))
            for a in (2 * math.pi * k / corners for k in range(corners))
        ]
    )


def strange_part(case: Case, _: float) -> Planted:
    return case.planted(case.body, prism(case, strange_outline(case), "odd.stl"), faulty="odd.stl")


def foreign_piece(case: Case) -> Polygon:
    """The outline of a piece that FridgeIQ does not have."""
    lattice = case.kit.puzzle.lattice
    squares = case.random.choice(
        (
            [(0, 0)],
            [(0, 0), (0, 1), (0, 2)],
            [(0, 0), (0, 1), (1, 0), (1, 1)],
            [(0, 0), (0, 1), (0, 2), (1, 1)],
        )
    )
    cells = frozenset(cell for row, col in squares for cell in lattice.cells_at(row, col))
    rings = rings_of_cells(lattice, cells)
    piece = Piece("X", "X", "#000000", (Form("", cells, rings),))
    canonical = canonical_outline(lattice, piece.forms[0].rings, case.profile.unit_mm)
    return printed_outline(canonical, case.profile)


def foreign_part(case: Case, _: float) -> Planted:
    return case.planted(case.body, prism(case, foreign_piece(case), "odd.stl"), faulty="odd.stl")


def other_lengths(case: Case, _: float) -> Planted:
    """All files in inches, centimetres or metres."""
    length = case.random.choice((25.4, 10.0, 1000.0))
    planted = case.planted(case.body, faulty="")
    bodies = [replace(body, vertices=body.vertices / length) for body in planted.bodies]
    return replace(planted, bodies=tuple(bodies))


def one_in_inches(case: Case, _: float) -> Planted:
    return case.moved(lambda vertices: vertices / 25.4)


def no_clearance(size: float) -> Order:
    """Sides that hardly keep inside the drawing; no gap is asked for."""
    return Order((), (f"inset={beyond(0.005, size):.6f} mm", "gap.min=0 mm"))


def whole_set_as_it_is(case: Case, _: float) -> Planted:
    return case.planted(case.body, faulty="")


# --- what is no fault ---------------------------------------------------------------------


def elsewhere(case: Case, _: float) -> Planted:
    """Anywhere on the bed, or above it."""
    away = [case.random.uniform(-400, 400) for _ in range(3)]
    return case.moved(lambda vertices: vertices + away)


def turned_on_bed(case: Case, _: float) -> Planted:
    return turned(case, (2, case.random.uniform(0, 360)))


def cut_smaller(case: Case, _: float) -> Planted:
    """Every triangle cut into four."""
    vertices, faces = case.body.vertices, case.body.faces
    edges = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    single, which = np.unique(edges, axis=0, return_inverse=True)
    ab, bc, ca = (which.reshape(-1, 3) + len(vertices)).T
    a, b, c = faces.T
    cut = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
    middles = vertices[single].mean(axis=1)
    return case.mesh(
        np.vstack([vertices, middles]), np.concatenate([np.column_stack(one) for one in cut])
    )


def shuffled(case: Case, _: float) -> Planted:
    """Faces, corners and files in any order, by any names."""
    planted = case.planted(case.body)
    dice = np.random.default_rng(case.random.randrange(1000))
    bodies = []
    for number, body in enumerate(planted.bodies):
        order = dice.permutation(len(body.vertices))
        faces = np.argsort(order)[dice.permutation(body.faces)]
        faces = np.roll(faces, int(dice.integers(3)), axis=1)
        bodies.append(Body(f"{number}.obj", body.vertices[order], faces))
    case.random.shuffle(bodies)
    return replace(planted, bodies=tuple(bodies))


HARMLESS: list[tuple[str, Callable[[Case, float], Planted]]] = [
    ("as it is", as_it_is),
    ("elsewhere", elsewhere),
    ("turned on the bed", turned_on_bed),
    ("cut into smaller triangles", cut_smaller),
    ("shuffled and renamed", shuffled),
]


# --- the catalogue ------------------------------------------------------------------------

_THIN = Order((), ("thickness=4.45 mm",))
_LOW_WALL = Order((), ("recess.wall=1.2 mm",))
_FINE = Order((), ("label.stroke=0.2 mm",))
_WIDE_GAPS = Order((), ("gap.max=5 mm",))
_NO_CHAMFERS = Order((), ("top_chamfer=0 mm", "foot_chamfer=0 mm"))

FAULTS: list[Fault] = [
    # The mesh as such.
    Fault("missing triangles", "watertight", missing_triangles),
    Fault("one triangle flipped", "winding", flipped_triangle),
    Fault("all normals flipped", "volume", inside_out),
    Fault("body there twice", "degenerate", same_twice),
    Fault("second copy in the file", "shells", copy_into),
    Fault("second copy beside it in the file", "twice", copy_beside, at="set"),
    Fault("second body in the file", "shells", second_body),
    Fault("inward shell where none belongs", "cavities", hidden_cavity),
    Fault("cavity reaches out", "cavities", cavity_reaches_out, order=CLOSED),
    Fault("face there twice", "degenerate", duplicate_face),
    Fault("face of no extent", "degenerate", face_of_no_extent),
    Fault("face of two corners", "degenerate", face_of_two_corners),
    Fault("corner pushed through the wall", "self-intersection", corner_through_wall),
    Fault("spike through the piece", "self-intersection", spike_through_piece, company=6),
    Fault("most triangles missing", "watertight", half_missing, company=6),
    Fault("rough", "self-intersection", rough, clear=(0.02, 5), company=6),
    Fault("flattened", "volume", flattened, company=6),
    Fault("spike on the face", "thickness", spike_on_face),
    # Scale and place.
    Fault("scaled", "unit", scaled_alike, clear=(4, 15), limited=True, at_limit=ROOMY),
    Fault(
        "scaled flat", "unit", scaled_flat, TELLING, clear=(4, 15), limited=True, at_limit="MQBY"
    ),
    Fault("scaled in height", "thickness", scaled_up, clear=(1.4, 10), limited=True),
    Fault("tilted", "lies-on-back", tilted, clear=(2, 25), limited=True),
    Fault("on its face", "lies-on-back", on_its_face),
    Fault("on its side", "lies-on-back", on_its_side),
    # Which piece it is.
    Fault("mirrored mesh", "shape", mirrored_mesh, CHIRAL),
    Fault("mirrored outline", "shape", mirrored_outline, CHIRAL),
    Fault("mirrored without a letter", "shape", mirrored_mesh, CHIRAL_ALONE, UNLETTERED),
    Fault("swapped piece", "missing", swapped_piece, at="set"),
    Fault("wrong letter", "shape", wrong_letter, "RELOTSQDJBNIU"),
    Fault("mirrored letter", "letter", mirrored_letter, CHIRAL_LETTERS),
    # So much is cut off the tips that sides are open there, beyond the ends that are left out.
    Fault("blunt tips", "read-back", blunt_tip, TIPPED, _WIDE_GAPS, (1.1, 1.3), True),
    # Outline.
    Fault("thickness off", "thickness", thicker, clear=(2, 20), limited=True),
    Fault("top chamfer off", "top-chamfer", top_chamfered, clear=(2, 5), limited=True),
    Fault("foot chamfer off", "foot-chamfer", foot_chamfered, clear=(2, 6), limited=True),
    Fault("no top chamfer", "top-chamfer", no_chamfer),
    Fault("no foot chamfer", "foot-chamfer", no_foot_chamfer),
    Fault("tip not cut", "tip", sharp_tip, TIPPED, clear=(3, 7), limited=True),
    Fault("sharp tip", "tip", sharp_tip, TIPPED, _NO_CHAMFERS, (12, 22)),
    Fault("grown", "gap-least", grown, clear=(1.3, 3), limited=True, also=("gap-most",)),
    # Where there is no room to spare the wall beside the magnet gets too thin as well.
    Fault(
        "shrunk",
        "gap-most",
        shrunk,
        clear=(1.3, 2.3),
        limited=True,
        at_limit=ROOMY,
        also=("gap-least",),
    ),
    Fault("one side moved out", "gap-least", edge_moved_out, clear=(0.5, 1.2)),
    Fault("one side moved in", "gap-most", edge_moved_in, clear=(0.8, 1.2)),
    Fault("little rests on the bed", "flat-back", as_it_is, "D", little_rest, (1.1, 1.1), True),
    # Recesses.
    Fault(
        "bore of another width",
        "recess-diameter",
        bore_off,
        clear=(2, 8),
        limited=True,
        at_limit=ROOMY,
    ),
    Fault("bore 0.3 mm too wide", "recess-diameter", bore_wide, clear=(6, 6)),
    Fault(
        "bore with ribs too wide",
        "recess-diameter",
        bore_off,
        order=RIBBED,
        clear=(2, 8),
        limited=True,
        at_limit=ROOMY,
    ),
    Fault("oval bore", "recess-round", oval_bore, clear=(2, 8), limited=True, at_limit=ROOMY),
    Fault("tapered bore", "recess-diameter", tapered_bore, clear=(4, 16)),
    Fault("crests off", "rib-crest", crest_off, order=RIBBED, clear=(2, 8), limited=True),
    Fault("ribs too high", "rib-crest", ribs_high, order=RIBBED, clear=(2, 16), limited=True),
    Fault("no ribs", "rib-crest", ribs_missing, order=RIBBED),
    Fault("recess of another depth", "recess-depth", depth_off, clear=(1.5, 10), limited=True),
    Fault("recess too deep", "recess-depth", too_deep, clear=(1.5, 15), limited=True),
    Fault("mouth of another width", "mouth", mouth_off, clear=(2, 9), limited=True),
    Fault("no mouth", "mouth", no_mouth),
    Fault("off centre", "wall", thin_wall, ROOMY, clear=(1.2, 1.9), limited=True),
    Fault("two recesses too near", "wall", recesses_near, "TS", clear=(1.2, 1.45), limited=True),
    Fault("open at the side", "wall", open_at_side),
    Fault("off centre at the bed", "bed-wall", thin_bed_wall, ROOMY, _LOW_WALL, (1.3, 2), True),
    Fault("no recess", "recess-count", no_recess),
    Fault("one recess for two", "recess-count", one_recess_less, LONG),
    Fault("two recesses for one", "recess-count", one_recess_more, "QB"),
    Fault("closed where it should be open", "recess-open", closed_recess),
    Fault("open where it should be closed", "recess-closed", open_recess, order=CLOSED),
    Fault("pause off a layer", "pause-height", pause_off, order=CLOSED, clear=(2, 8), limited=True),
    Fault("floor too thin", "floor", thin_floor, order=CLOSED, clear=(1.2, 1.9), limited=True),
    Fault("roof too thin", "roof", thin_roof, LETTER_OVER_MAGNET, _THIN, (1.2, 1.9), True),
    Fault("recess into the letter", "cut-through", into_letter, "EMJYI"),
    Fault("recess through the piece", "cut-through", through_the_piece, order=UNLETTERED),
    # Letters.
    Fault("letter cut through", "cut-through", letter_cut_through, WITHOUT_ISLANDS),
    Fault("letter of another depth", "label-depth", letter_depth_off, clear=(2, 9), limited=True),
    Fault("thin strokes", "label-stroke", thin_strokes, clear=(1.2, 1.7), limited=True),
    Fault("narrow island", "label-island", narrow_island, WITH_ISLANDS, _FINE, (1.2, 1.6), True),
    Fault("no letter", "label-face", no_letter),
    Fault("no letter on the back", "label-back", no_letter_on_back, order=TWO_FACED),
    Fault("letter where none belongs", "label-face", needless_letter, order=UNLETTERED),
    # Printing.
    Fault("steep overhang", "overhang", steep_foot, clear=(1.2, 1.8), limited=True),
    Fault("wide ceiling", "bridge", wide_ceiling, clear=(1.2, 5), limited=True, blames=True),
    Fault("low printer", "bed", low_printer, clear=(1.2, 5), limited=True, blames=True),
    Fault("small bed", "bed", small_bed, "BQ", clear=(1.2, 3), limited=True, blames=True),
    # Sets.
    Fault("a piece missing", "missing", piece_missing, at="set"),
    Fault("a piece twice", "twice", piece_twice, at="set"),
    Fault("a strange part", "strange", strange_part, at="set"),
    Fault("a strange part cannot be read", "read-back", strange_part),
    Fault("a piece of another set", "strange", foreign_part, at="set"),
    Fault("another set's outline", "shape", foreign_part),
    Fault("files in another length", "lengths", other_lengths, at="set"),
    Fault("one file in inches", "read-back", one_in_inches, company=6),
    Fault(
        "no clearance", "clearance", whole_set_as_it_is, "B", no_clearance, (1.2, 2), True, at="set"
    ),
    # Put together.
    Fault(
        "grown, put together",
        "leave a gap of",
        grown,
        clear=(1.3, 1.8),
        limited=True,
        at="assembly",
    ),
    Fault("grown into each other", "overlap by", grown, clear=(2.2, 4), at="assembly"),
    Fault(
        "grown out of the region",
        "out of the region",
        grown,
        clear=(1.3, 4),
        limited=True,
        at="assembly",
    ),
    Fault(
        "shrunk, put together",
        "along an edge",
        shrunk,
        ROOMY,
        clear=(1.3, 2.3),
        limited=True,
        at="assembly",
    ),
]
