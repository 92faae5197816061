"""A piece: drawn once, in one or more flat forms, with the label and colour it is printed in."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache

from fabkit.model.balls import BallBody, FlatPose, flat_poses
from fabkit.model.lattice import LATTICES, Cell, Lattice, Point, Ring, Symmetry
from fabkit.model.polygon import rings_of_cells

#: Which cells have the second colour: those whose row and column have an even or an odd sum.
PARITIES = ("even", "odd")


@dataclass(frozen=True)
class Form:
    """A flat shape that a piece can show: cells of the set's lattice, and the outline around them.

    ``name`` is empty for a flat piece; of ball pieces it is ``single``, ``double``, … after the
    number of prongs in the board's plane. The outer ring comes first, in frame points.
    """

    name: str
    cells: frozenset[Cell]
    rings: tuple[Ring, ...]


@dataclass(frozen=True)
class Piece:
    """One physical piece.

    Attributes:
        id: its name in commands and file names; unique in its set.
        label: what is engraved on it.
        colour: ``#rrggbb``.
        forms: its flat forms; one unless the piece is made of balls.
        body: the balls of a ball piece, else None.
        tones: the cells of the first form that have a second colour; none of most pieces.
        tone: that colour; empty without tones.
    """

    id: str
    label: str
    colour: str
    forms: tuple[Form, ...]
    body: BallBody | None = None
    tones: frozenset[Cell] = frozenset()
    tone: str = ""


def forms_of_balls(body: BallBody) -> tuple[Form, ...]:
    """The flat forms of a ball piece: its poses on a board, turns on the board divided out.

    Those with fewest balls in the board's plane come first.

    Raises:
        BallError: when the piece cannot lie flat.
    """
    lattice = LATTICES["square"]
    classes: dict[frozenset[frozenset[Cell]], FlatPose] = {}
    for pose in flat_poses(body):
        turned = frozenset(
            at_anchor(lattice, map(turn, pose.cells)) for turn in lattice.moves(False)
        )
        classes.setdefault(turned, pose)
    forms: dict[str, Form] = {}
    for pose in sorted(classes.values(), key=lambda pose: len(pose.cells)):
        prongs = len(pose.cells) - len(body.spine())
        name = plain = _FORM_NAMES.get(prongs, f"{prongs}-prong")
        while name in forms:
            name = f"{plain}-{int(name.removeprefix(plain)[1:] or 1) + 1}"
        forms[name] = Form(name, pose.cells, rings_of_cells(lattice, pose.cells))
    return tuple(forms.values())


_FORM_NAMES = {0: "spine", 1: "single", 2: "double", 3: "triple"}


def at_anchor(lattice: Lattice, cells: Iterable[Cell]) -> frozenset[Cell]:
    """Cells moved so that the lattice's anchor is at the origin: translations divided out."""
    image = frozenset(cells)
    dx, dy = lattice.anchor(image)
    return frozenset((x - dx, y - dy) for x, y in image)


def least_turn(lattice: Lattice, cells: Collection[Cell]) -> Symmetry:
    """The turn after which a shape lies alike however it lay: that to the least of its images."""
    turns = lattice.moves(False)
    return min(turns, key=lambda turn: sorted(at_anchor(lattice, map(turn, cells))))


def moves_onto(
    lattice: Lattice, own: Collection[Cell], cells: Collection[Cell]
) -> list[tuple[Symmetry, Point]]:
    """The moves that carry some cells onto others, each with the frame vector that follows it.

    Rotations come first; there are none when the cells have another shape.

    Example:
        >>> moves = moves_onto(LATTICES["square"], [(1, 1), (3, 1)], [(5, 5), (5, 7)])
        >>> [(move.turns, move.flipped, vector) for move, vector in moves]
        [(1, False, (6, 4)), (3, False, (4, 8)), (1, True, (6, 8)), (3, True, (4, 4))]
    """
    wanted, (to_x, to_y) = at_anchor(lattice, cells), lattice.anchor(cells)
    found = []
    for move in lattice.symmetries:
        image = [move(cell) for cell in own]
        if at_anchor(lattice, image) == wanted:
            from_x, from_y = lattice.anchor(image)
            found.append((move, (to_x - from_x, to_y - from_y)))
    return found


@dataclass(frozen=True)
class Orientation:
    """A distinct image of a piece under its allowed moves, translations divided out.

    ``form`` is an index into the piece's forms, ``symmetry`` the first move that gives this image.
    """

    form: int
    symmetry: Symmetry
    cells: frozenset[Cell]
    rings: tuple[Ring, ...]


def orientations(lattice: Lattice, piece: Piece, flips: bool) -> tuple[Orientation, ...]:
    """The distinct images of a piece, in the order of forms and moves.

    Example:
        >>> from fabkit.model.library import load_set
        >>> fridgeiq = load_set("fridgeiq")
        >>> [len(orientations(fridgeiq.lattice, fridgeiq.piece(id), False)) for id in "BDN"]
        [2, 4, 4]
    """
    return _orientations(lattice.name, piece.forms, flips)


@lru_cache(maxsize=1024)  # a set asks for the same ones in each of its challenges
def _orientations(
    lattice_name: str, forms: tuple[Form, ...], flips: bool
) -> tuple[Orientation, ...]:
    lattice = LATTICES[lattice_name]
    found: dict[frozenset[Cell], Orientation] = {}
    for index, form in enumerate(forms):
        for symmetry in lattice.moves(flips):
            cells = at_anchor(lattice, map(symmetry, form.cells))
            if cells not in found:
                rings = rings_of_cells(lattice, cells)
                found[cells] = Orientation(index, symmetry, cells, rings)
    return tuple(found.values())


def is_image(lattice: Lattice, piece: Piece, cells: frozenset[Cell], flips: bool) -> bool:
    """Whether the cells are one of the piece's forms, turned (or flipped) and moved."""
    if all(len(form.cells) != len(cells) for form in piece.forms):
        return False
    images = (orientation.cells for orientation in orientations(lattice, piece, flips))
    return at_anchor(lattice, cells) in images


def toned_cells(lattice: Lattice, cells: frozenset[Cell], parity: str) -> frozenset[Cell]:
    """The cells of the second colour, on the square lattice; ``parity`` is one of `PARITIES`.

    Rows and columns are counted from the top left of the piece's drawing, which is the corner of
    what it covers, however it is drawn.
    """
    places = {cell: lattice.row_col(cell) for cell in cells}
    origin = sum(min(values) for values in zip(*places.values(), strict=True))
    return frozenset(
        cell
        for cell, (row, col) in places.items()
        if (row + col - origin) % 2 == PARITIES.index(parity)
    )


def tones_on(lattice: Lattice, piece: Piece, cells: frozenset[Cell]) -> frozenset[Cell]:
    """Which cells have the second colour, where a piece lies with its first form, however moved.

    Where several moves lead there, the first is taken; there are none if the piece has one colour.
    """
    if not piece.tones:
        return frozenset()
    for move, (dx, dy) in moves_onto(lattice, piece.forms[0].cells, cells):
        return frozenset((x + dx, y + dy) for x, y in map(move, piece.tones))
    return frozenset()
