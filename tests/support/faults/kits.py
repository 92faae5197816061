"""A few good pieces as a set of their own, drawn and printed, for a fault to be planted among."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from fabkit.drawing.draft import FlatDrawing, draft_flat_piece
from fabkit.mesh.files.readers import read_meshes
from fabkit.mesh.mesh import Mesh
from fabkit.model.lattice import Cell, Lattice
from fabkit.model.piece import Piece, orientations
from fabkit.model.puzzle import Challenge, PuzzleSet
from fabkit.profiles.profile import Profile
from fabkit.sets.library import load_set
from tests.support.prints import Order

FRIDGEIQ = load_set("fridgeiq")

PLAIN = Order()
RIBBED = Order((), ("recess.fit=ribs",))
CLOSED = Order((), ("recess.fit=embedded",))
TWO_FACED = Order(("flippable",))
#: The face on the bed. (The floor is such that a pause can be a little off either way.)
FACE_DOWN = Order((), ("recess.fit=embedded", "recess.floor=0.7 mm", "plate.face=down"))
#: South poles are marked: in the back, and in the floors of closed cavities.
MARKED = Order((), ("magnet.polarity=alternating",))
MARKED_ROOMY = Order((), (*MARKED.settings, "magnet.diameter=8 mm"))
MARKED_INSIDE = Order((), (*MARKED.settings, "recess.fit=embedded", "recess.floor=0.8 mm"))
#: Magnets can be pushed out, through holes that begin round where the face is on the bed.
RELEASED = Order((), ("recess.release=2 mm",))
RELEASED_DOWN = Order((), (*RELEASED.settings, "plate.face=down"))
#: Without letters and magnets, for faults of what is left.
BARE = Order((), ("label.faces=none", "recess.fit=none"))
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
#: Pieces whose magnet has more wall around it than it needs.
ROOMY = "MQBYI"
#: Pieces whose letter lies over their magnet.
LETTER_OVER_MAGNET = "AREOMQDJBYI"
WITHOUT_ISLANDS = "ELMTSJNYIU"
#: Good pieces to lie beside the faulty one: two that tell the unit, with simple letters.
COMPANIONS = "MYJTNIA"


@dataclass(frozen=True, eq=False)
class Kit:
    """A few pieces as a set of their own, drawn and printed."""

    order: Order
    puzzle: PuzzleSet
    profile: Profile
    drawings: dict[str, FlatDrawing]
    bodies: dict[str, Mesh]


@lru_cache(maxsize=512)
def _good(order: Order, piece: str, before: str = "") -> tuple[FlatDrawing, Mesh]:
    """A good piece. Those before it in its set decide on its poles where they alternate."""
    whole = FRIDGEIQ
    puzzle = replace(whole, pieces=tuple(whole.piece(one) for one in before + piece))
    drawing = draft_flat_piece(puzzle, puzzle.piece(piece), order.profile())
    return drawing, printed_mesh(drawing, f"{piece}.stl")


@lru_cache(maxsize=512)
def kit(order: Order, pieces: str, solved: bool = True) -> Kit:
    """Some pieces of FridgeIQ with one challenge, which they solve, or with none."""
    whole = FRIDGEIQ
    chosen = tuple(whole.piece(piece) for piece in pieces)
    challenges: tuple[Challenge, ...] = ()
    if solved:
        region = side_by_side(whole.lattice, chosen)
        challenges = (Challenge("together", region, tuple(pieces), answer="solved"),)
    puzzle = replace(whole, pieces=chosen, challenges=challenges)
    marked = order.profile().polarity == "alternating"
    good = {
        piece.id: _good(order, piece.id, "".join(one.id for one in puzzle.pieces[:which] if marked))
        for which, piece in enumerate(puzzle.pieces)
    }
    drawings, bodies = ({key: two[i] for key, two in good.items()} for i in (0, 1))
    return Kit(order, puzzle, order.profile(), drawings, bodies)  # type: ignore[arg-type]


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


def printed_mesh(drawing: FlatDrawing, name: str) -> Mesh:
    """A drawing's mesh, written to a file and read back."""
    from fabkit.solid.builder import build_solid

    return written(build_solid(drawing), name)


def written(solid: Any, name: str = "it.stl") -> Mesh:
    from fabkit.solid.export import write_stl

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        write_stl(solid, path)
        (body,) = read_meshes(path)
    return body
