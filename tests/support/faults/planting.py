"""A kind of fault, and how it is planted on one piece that lies beside two good ones.

The three are a set of their own, with one challenge that they solve, so that `check` has nothing
to complain of but the fault. Faults that have a limit are planted with a size relative to it: at
1.1 a tenth beyond it, at 0.9 a tenth within. What is planted is a mesh, or the drawing that a
mesh is built from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray
from shapely import Point, Polygon

from fabkit.drawing.draft import FlatDrawing
from fabkit.drawing.label import Label
from fabkit.drawing.magnets import Recess, RecessDiameters
from fabkit.drawing.outline import chamfer_outline, offset_outline
from fabkit.mesh.mesh import Mesh, welded
from fabkit.model.puzzle import PuzzleSet
from fabkit.profiles.profile import Profile
from fabkit.verify.challenge_results import ChallengeResult
from fabkit.verify.reports import CheckReport, check
from fabkit.verify.scan import Scanner
from tests.support.faults.kits import ALL, BARE, COMPANIONS, PLAIN, Kit, kit, printed_mesh
from tests.support.prints import Order

Points = NDArray[np.float64]
Faces = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Planted:
    """Meshes with a fault, and what they are to be held against."""

    puzzle: PuzzleSet
    profile: Profile
    bodies: tuple[Mesh, ...]
    #: The name of the faulty body; empty when the fault is the set's.
    faulty: str

    def report(self, answers: Sequence[ChallengeResult] | None = None) -> CheckReport:
        scanned = Scanner(self.bodies, self.puzzle).scan(self.profile.unit_mm)
        return check(scanned, self.profile, answers=answers)


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
    def drawing(self) -> FlatDrawing:
        return self.kit.drawings[self.piece]

    @property
    def body(self) -> Mesh:
        return self.kit.bodies[self.piece]

    @property
    def recess(self) -> Recess:
        return self.drawing.recesses[0]

    @property
    def label(self) -> Label:
        assert self.drawing.label is not None
        return self.drawing.label

    @property
    def name(self) -> str:
        return self.body.name

    @property
    def others(self) -> list[Mesh]:
        return [body for piece, body in self.kit.bodies.items() if piece != self.piece]

    def sign(self) -> int:
        return self.random.choice((-1, 1))

    def planted(
        self, *bodies: Mesh, faulty: str | None = None, profile: Profile | None = None
    ) -> Planted:
        """Some bodies in place of the piece's own."""
        return Planted(
            self.kit.puzzle,
            profile or self.profile,
            (*self.others, *bodies),
            self.name if faulty is None else faulty,
        )

    def meshed(self, body: Mesh) -> Planted:
        return self.mesh(body.vertices, body.faces)

    def mesh(self, vertices: Points, faces: Faces) -> Planted:
        """Another mesh in place of the piece's own."""
        return self.planted(welded(self.name, vertices, faces))

    def moved(self, change: Callable[[Points], Points]) -> Planted:
        """The piece's mesh with its corners moved."""
        return self.mesh(change(self.body.vertices.copy()), self.body.faces)

    def rebuilt(self, **changes: Any) -> Planted:
        """The mesh of a changed drawing."""
        return self.planted(printed_mesh(replace(self.drawing, **changes), self.name))

    def with_recess(self, which: int | None = None, **changes: Any) -> Planted:
        """With one recess changed, at random if none is named."""
        recesses = list(self.drawing.recesses)
        which = self.random.randrange(len(recesses)) if which is None else which
        recesses[which] = replace(recesses[which], **changes)
        return self.rebuilt(recesses=tuple(recesses))

    def with_diameters(self, wider_mm: float = 0.0, higher_mm: float = 0.0) -> Planted:
        diameters = self.recess.diameters
        crest = None if diameters.crest_mm is None else diameters.crest_mm + higher_mm
        return self.with_recess(diameters=RecessDiameters(diameters.widest_mm + wider_mm, crest))

    def with_letter(self, scale: float = 1.0, mirrored: bool = False) -> Planted:
        """With the letter scaled or mirrored in its place."""
        x, y = self.label.centre_mm
        letter = self.label.front.moved(-x, -y).moved(x, y, scale, mirrored)
        return self.rebuilt(label=replace(self.label, front=letter))

    def outlined(self, outline: Polygon) -> Planted:
        """With another outline, and its chamfers around that."""
        return self.rebuilt(
            outline=outline,
            face=chamfer_outline(outline, self.profile.top_chamfer_mm),
            foot=chamfer_outline(outline, self.profile.foot_chamfer_mm),
        )

    def drafted(self, **changes: float) -> Planted:
        """With the outline that another profile gives, recesses and letter where they were."""
        return self.outlined(
            offset_outline(self.drawing.canonical, replace(self.profile, **changes))
        )


@dataclass(frozen=True)
class Fault:
    """A kind of fault."""

    name: str
    rule: str  # that must name it: its id, or words of an assembly's message
    plant: Callable[[Case, float], Planted]  # with a size; 1 is the limit, if there is one
    pieces: str = ALL  # on which it can be planted
    order: Order | Callable[[float], Order] = PLAIN
    clear: tuple[float, float] = (0.0, 0.0)  # between these sizes it is clearly a fault
    limited: bool = False  # whether a size of 0.9 need not be reported at all
    at: str = "part"  # where it must be named: also "set", or "assembly"
    blames: bool = False  # whether the other pieces may be blamed, too
    at_limit: str = ""  # pieces on which it can be planted at its limit, if not on all
    #: Good pieces beside it. Of a few an unknown one may decide what the unit is taken for.
    company: int = 2
    adds: bool = False  # whether the fault is a part beside the piece, which is good

    def __str__(self) -> str:
        return self.name

    @property
    def shares(self) -> bool:
        """Whether it can be planted on one of many pieces of a set without harm to the others."""
        return self.at == "part" and not self.blames and self.company == 2 and not self.adds

    def planted(self, size: float, seed: int, piece: str | None = None) -> Planted:
        """The fault with that size, at a seeded place on a seeded piece, or on this one."""
        random = Random(f"{self.name} {seed}")
        near = self.limited and abs(size - 1) < 0.15
        chosen = random.choice((near and self.at_limit) or self.pieces)
        piece = piece or chosen
        order = self.ordered(size)
        beside = [one for one in COMPANIONS if one != piece][: self.company]
        return self.plant(Case(kit(order, piece + "".join(beside)), piece, random), size)

    def ordered(self, size: float) -> Order:
        """What the pieces are printed with."""
        return self.order if isinstance(self.order, Order) else self.order(size)

    def clearly(self, seed: int, piece: str | None = None) -> Planted:
        """The fault with a seeded size that is clearly too much."""
        return self.planted(Random(f"size of {self.name} {seed}").uniform(*self.clear), seed, piece)


def limit(
    name: str, rule: str, plant: Any, low: float, high: float, *on: Any, **more: Any
) -> Fault:
    """A fault with a limit, clearly one between two sizes; on which pieces, and their order."""
    return Fault(name, rule, plant, *on, clear=(low, high), limited=True, **more)


#: So many pieces of a set may be faulty, for the others to tell the unit.
MOST_FAULTY = 8
#: The pieces, first those that are read soonest: with few corners in their letters.
QUICK = "YMEITLAJNDRUOBQS"


def in_one_set(
    faults: Sequence[Fault], size: float, good: int = 2, bare: bool = False
) -> Iterator[tuple[Planted, dict[str, Fault]]]:
    """Faults that share on several pieces of one set, as few sets as that takes.

    Those with a limit have that size. So many good pieces lie beside them. Pieces may be bare
    where letter and magnets play no part. With each set: which fault the body of a name has.
    """
    left = list(faults)
    while left:
        order = simplest(left[0], size, bare)
        on_piece: dict[str, Fault] = {}
        for fault in left:
            pieces = (fault.limited and fault.at_limit) or fault.pieces
            free = [one for one in QUICK if one in pieces and one not in on_piece]
            if simplest(fault, size, bare) == order and free and len(on_piece) < MOST_FAULTY + bare:
                on_piece[free[0]] = fault
        left = [fault for fault in left if fault not in on_piece.values()]
        others = [one for one in QUICK if one not in on_piece][:good]
        made = kit(order, "".join([*on_piece, *others]), solved=False)
        bodies = dict(made.bodies)
        for piece, fault in on_piece.items():
            case = Case(made, piece, Random(fault.name))
            low, high = (size, size) if fault.limited else fault.clear
            planted = fault.plant(case, case.random.uniform(low, high))
            (bodies[piece],) = planted.bodies[len(case.others) :]
        named = {made.bodies[piece].name: fault for piece, fault in on_piece.items()}
        yield Planted(made.puzzle, made.profile, tuple(bodies.values()), ""), named


def simplest(fault: Fault, size: float, bare: bool) -> Order:
    """What a fault's piece is printed with: bare where letter and magnets play no part."""
    order = fault.ordered(size)
    room = fault.plant.__module__.rpartition(".")[2]
    return BARE if bare and order == PLAIN and room in ("mesh", "outline", "place") else order


def beyond(limit: float, size: float) -> float:
    """A value for a least one: a size of 1.1 is a tenth below it, 0.9 a tenth above."""
    return limit * max(0.0, 2 - size)


def point_inside(case: Case, low_mm: float, high_mm: float, clear_mm: float) -> Points:
    """A place in solid plastic: away from the sides, and between two heights."""
    room = case.drawing.outline.buffer(-clear_mm)
    left, bottom, right, top = room.bounds
    while True:
        x, y = case.random.uniform(left, right), case.random.uniform(bottom, top)
        if room.contains(Point(x, y)):
            return np.array([x, y, case.random.uniform(low_mm, high_mm)])


def towards_side(
    case: Case, start: tuple[float, float], wall_mm: float, radius: float
) -> tuple[float, float]:
    """Where a disc is, moved some way until it leaves that much wall; below 0 it sticks out."""
    outline = case.drawing.outline
    angle = case.random.uniform(0, 2 * math.pi)
    low, high = 0.0, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        there = Point(start[0] + middle * math.cos(angle), start[1] + middle * math.sin(angle))
        wall = outline.exterior.distance(there) * (1 if outline.contains(there) else -1) - radius
        low, high = (middle, high) if wall > wall_mm else (low, middle)
    return round(start[0] + low * math.cos(angle), 4), round(start[1] + low * math.sin(angle), 4)


def as_it_is(case: Case, _: float) -> Planted:
    return case.planted(case.body)
