"""Pieces, their orientations under the allowed moves, and their placements inside a region."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType

from fabkit.model.balls import BallBody, FlatPose, flat_poses
from fabkit.model.lattice import LATTICES, Cell, Lattice, Point, Ring, Symmetry
from fabkit.model.polygon import rings_of_cells

#: The mark of a cell that has none.
PLAIN = "plain"
#: The mark of the cells in the second colour of a chequered set whose colours constrain.
DARK = "dark"
#: The look of a mark that is a hole through the piece, which takes a peg.
HOLE = "hole"
#: The look of a mark that is a cross in the face or back.
CROSS = "cross"
#: The look of a mark that is a round dimple in the face or back.
DOT = "dot"
#: Looks of marks besides colours.
LOOKS = (HOLE, CROSS, DOT)
#: Cells of the second colour: those with an even or odd sum of row and column.
PARITIES = ("even", "odd")


@dataclass(frozen=True)
class Form:
    """A flat shape of a piece: cells of the set's lattice and their outline in frame points.

    ``name`` is empty for a flat piece. Forms of ball pieces are called ``front`` and ``back`` where
    all balls are in one plane; else ``single``, ``double``, … after the number of prongs in the
    board's plane. The outer ring comes first.
    """

    name: str
    cells: frozenset[Cell]
    rings: tuple[Ring, ...]


#: Cells and the marks on them, sorted.
Marks = tuple[tuple[Cell, str], ...]


@dataclass(frozen=True)
class Piece:
    """One physical piece.

    Attributes:
        id: in commands and file names; unique in its set.
        label: the text engraved on it.
        colour: ``#rrggbb``.
        forms: its flat forms; one unless the piece is made of balls.
        body: the balls of a ball piece, else None.
        tones: cells of the first form that have the second colour; none for most pieces.
        tone: that colour, also of marks on the back; empty without any.
        marks: cells of the first form with a mark that constrains where it may be, and the mark.
        back: the same as seen where the piece is turned over, at the places of the same cells.
        copies: how many of it are printed, all from one file.
    """

    id: str
    label: str
    colour: str
    forms: tuple[Form, ...]
    body: BallBody | None = None
    tones: frozenset[Cell] = frozenset()
    tone: str = ""
    marks: Marks = ()
    back: Marks = ()
    copies: int = 1


def forms_of_balls(body: BallBody) -> tuple[Form, ...]:
    """Return the flat forms of a ball piece: its poses on a board up to rotation in the plane.

    Those with the fewest balls in the board's plane come first. A piece whose balls are in one
    plane has one form, or two that are mirror images of each other.

    Raises:
        BallError: when the piece cannot lie flat.
    """
    lattice = LATTICES["square"]
    classes: dict[frozenset[frozenset[Cell]], FlatPose] = {}
    for pose in flat_poses(body):
        turned = frozenset(
            normalize_cells(lattice, map(turn, pose.cells)) for turn in lattice.moves(False)
        )
        classes.setdefault(turned, pose)
    forms: dict[str, Form] = {}
    for pose in sorted(classes.values(), key=lambda pose: len(pose.cells)):
        prongs = len(pose.cells) - len(body.base())
        name = plain = _FORM_NAMES.get(prongs, f"{prongs}-prong")
        if body.normal is not None:
            name = _SIDES[len(forms)]
        while name in forms:
            name = f"{plain}-{int(name.removeprefix(plain)[1:] or 1) + 1}"
        forms[name] = Form(name, pose.cells, rings_of_cells(lattice, pose.cells))
    return tuple(forms.values())


#: Forms of pieces whose balls are in one plane: as drawn, and turned over.
_SIDES = ("front", "back")
#: Forms of other ball pieces, by the number of prongs in the board's plane.
_FORM_NAMES = {0: "spine", 1: "single", 2: "double", 3: "triple"}


def normalize_cells(lattice: Lattice, cells: Iterable[Cell]) -> frozenset[Cell]:
    """Move cells so that the lattice's anchor is at the origin: translations are divided out."""
    image = frozenset(cells)
    dx, dy = lattice.anchor(image)
    return frozenset((x - dx, y - dy) for x, y in image)


def canonical_turn(lattice: Lattice, cells: Collection[Cell]) -> Symmetry:
    """Return the turn that maps a shape to its canonical orientation, the least of its images."""
    turns = lattice.moves(False)
    return min(turns, key=lambda turn: sorted(normalize_cells(lattice, map(turn, cells))))


def moves_onto(
    lattice: Lattice, own: Collection[Cell], cells: Collection[Cell]
) -> list[tuple[Symmetry, Point]]:
    """Return the symmetries that map cells onto others, each with the translation that follows.

    Rotations come first; the list is empty when the shapes differ.

    Example:
        >>> moves = moves_onto(LATTICES["square"], [(1, 1), (3, 1)], [(5, 5), (5, 7)])
        >>> [(move.turns, move.flipped, vector) for move, vector in moves]
        [(1, False, (6, 4)), (3, False, (4, 8)), (1, True, (6, 8)), (3, True, (4, 4))]
    """
    wanted = normalize_cells(lattice, cells)
    to_x, to_y = lattice.anchor(cells)
    moves = []
    for move in lattice.symmetries:
        image = [move(cell) for cell in own]
        if normalize_cells(lattice, image) == wanted:
            from_x, from_y = lattice.anchor(image)
            moves.append((move, (to_x - from_x, to_y - from_y)))
    return moves


@dataclass(frozen=True)
class Orientation:
    """A distinct image of a piece under its allowed moves, up to translation.

    ``form`` is an index into the piece's forms, ``symmetry`` the first one that gives this image.
    """

    lattice_name: str
    form: int
    symmetry: Symmetry
    cells: frozenset[Cell]

    @cached_property
    def rings(self) -> tuple[Ring, ...]:
        """The outline, in frame points."""
        return rings_of_cells(LATTICES[self.lattice_name], self.cells)


def orientations(lattice: Lattice, piece: Piece, flips: bool) -> tuple[Orientation, ...]:
    """Return the distinct orientations of a piece, in the order of forms and symmetries.

    Example:
        >>> from fabkit.sets.library import load_set
        >>> fridgeiq = load_set("fridgeiq")
        >>> [len(orientations(fridgeiq.lattice, fridgeiq.piece(id), False)) for id in "BDN"]
        [2, 4, 4]
    """
    return _orientations(lattice.name, piece.forms, flips)


@lru_cache(maxsize=1024)  # shared by all challenges of a set
def _orientations(
    lattice_name: str, forms: tuple[Form, ...], flips: bool
) -> tuple[Orientation, ...]:
    lattice = LATTICES[lattice_name]
    distinct: dict[frozenset[Cell], Orientation] = {}
    for index, form in enumerate(forms):
        for symmetry in lattice.moves(flips):
            cells = normalize_cells(lattice, map(symmetry, form.cells))
            if cells not in distinct:
                distinct[cells] = Orientation(lattice_name, index, symmetry, cells)
    return tuple(distinct.values())


@dataclass(frozen=True)
class Placement:
    """An orientation of the piece with this id, moved by a frame vector of the lattice."""

    piece: str
    orientation: Orientation
    translation: Point

    @property
    def cells(self) -> frozenset[Cell]:
        """The cells that are covered."""
        dx, dy = self.translation
        return frozenset((x + dx, y + dy) for x, y in self.orientation.cells)

    @property
    def rings(self) -> tuple[Ring, ...]:
        """The outline, in frame points."""
        dx, dy = self.translation
        return tuple(tuple((x + dx, y + dy) for x, y in ring) for ring in self.orientation.rings)


def placements(
    lattice: Lattice, piece: Piece, region: AbstractSet[Cell], flips: bool
) -> Iterator[Placement]:
    """Yield every placement of a piece inside a region once, by orientation, then position."""
    # Each cell of an orientation matches only cells of its own kind.
    by_kind: dict[Point, list[Cell]] = defaultdict(list)
    for cell in sorted(region):
        by_kind[lattice.residue(cell)].append(cell)
    for orientation in orientations(lattice, piece, flips):
        x0, y0 = min(orientation.cells)
        for x, y in by_kind[lattice.residue((x0, y0))]:
            dx, dy = x - x0, y - y0
            if all((cx + dx, cy + dy) in region for cx, cy in orientation.cells):
                yield Placement(piece.id, orientation, (dx, dy))


def fits_in(lattice: Lattice, piece: Piece, region: AbstractSet[Cell], flips: bool) -> bool:
    """Return whether a piece fits in a region, without listing its placements."""
    return any(True for _ in placements(lattice, piece, region, flips))


def is_image(lattice: Lattice, piece: Piece, cells: frozenset[Cell], flips: bool) -> bool:
    """Return whether the cells are one of the piece's forms, turned (or flipped) and moved."""
    if all(len(form.cells) != len(cells) for form in piece.forms):
        return False
    images = (orientation.cells for orientation in orientations(lattice, piece, flips))
    return normalize_cells(lattice, cells) in images


def chequered_cells(lattice: Lattice, cells: frozenset[Cell], parity: str) -> frozenset[Cell]:
    """Return the cells of the second colour, on the square lattice; ``parity`` is in `PARITIES`.

    Rows and columns are counted from the top left of the bounding box of the cells.
    """
    places = {cell: lattice.row_col(cell) for cell in cells}
    origin = sum(min(values) for values in zip(*places.values(), strict=True))
    return frozenset(
        cell
        for cell, (row, col) in places.items()
        if (row + col - origin) % 2 == PARITIES.index(parity)
    )


def marked_at(
    lattice: Lattice, piece: Piece, cells: frozenset[Cell], flips: bool, wanted: Mapping[Cell, str]
) -> Iterator[tuple[Symmetry, Point, Marks]]:
    """Yield the moves that put a piece on cells with the wanted marks, as by `moves_onto`.

    Each comes with the marks that it shows there. Only the first form has marks, others are plain.
    ``wanted`` are marks of some cells, `PLAIN` for none; other cells may show anything.
    """
    for index, form in enumerate(piece.forms):
        sides = ((), ()) if index else (piece.marks, piece.back)
        for move, (dx, dy) in moves_onto(lattice, form.cells, cells):
            if move.flipped and not flips:
                continue
            marks = dict[Cell, str]()
            for cell, mark in sides[move.flipped]:
                x, y = move(cell)
                marks[x + dx, y + dy] = mark
            if all(
                marks.get(cell, PLAIN) == mark for cell, mark in wanted.items() if cell in cells
            ):
                yield move, (dx, dy), tuple(sorted(marks.items()))


def marked_images(
    lattice: Lattice, piece: Piece, flips: bool
) -> frozenset[tuple[frozenset[Cell], Marks]]:
    """Return the distinct images of a piece under its allowed moves, each with its marks.

    Pieces are identical exactly if these are equal.
    """
    return frozenset(
        (orientation.cells, marks)
        for orientation in orientations(lattice, piece, flips)
        for marks in (
            {shown for _, _, shown in marked_at(lattice, piece, orientation.cells, flips, {})}
            if piece.marks or piece.back
            else {()}
        )
    )


def looks_at(
    lattice: Lattice,
    piece: Piece,
    cells: frozenset[Cell],
    looks: Mapping[str, str],
    wanted: Mapping[Cell, str] = MappingProxyType({}),
    flips: bool = True,
) -> dict[Cell, str]:
    """Return what is seen on cells of a placed piece: one of `LOOKS`, or a second colour.

    Of several possible moves the first that shows the wanted marks is used, as for `marked_at`;
    cells without marks are left out. ``looks`` are those of the marks, by letter.
    """
    if not piece.tones and not piece.marks and not piece.back:
        return {}
    for move, (dx, dy), marks in marked_at(lattice, piece, cells, flips, wanted):
        if piece.marks or piece.back:
            return {cell: looks.get(mark, piece.tone) for cell, mark in marks}
        return {(x + dx, y + dy): piece.tone for x, y in map(move, piece.tones)}
    return {}
