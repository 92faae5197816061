"""Read the tables of pieces: how they are drawn, the looks of their marks, their copies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fabkit.core.documents import COLOUR, exactly_one, read_identifier
from fabkit.core.errors import ErrorList, join_names, quote
from fabkit.model.lattice import Cell, Lattice
from fabkit.model.piece import DARK, HOLE, LOOKS, Piece, chequered_cells, moves_onto
from fabkit.model.puzzle import area
from fabkit.sets.regions import RegionReader, flat_form, read_balls
from fabkit.sets.set_checks import area_errors
from fabkit.sets.set_tables import PIECE_KEYS, HeadTable, PieceTable

#: Sixteen default colours, pairwise distinguishable with any colour vision. The CIEDE2000
#: difference of any two is at least 19 for normal and 12 for colour-blind vision (10 is about four
#: times the just noticeable one). Found by a search over colours whose channels are multiples of
#: 17, maximizing the least difference over all four kinds of vision; the first ones differ most.
#: `tests/output/test_theme.py` measures them.
PALETTE = (
    "#0077ee", "#bbaa00", "#990000", "#55eeff", "#770055", "#ff88bb", "#ffddcc", "#006644",
    "#778888", "#bbee77", "#886699", "#cc1155", "#2233aa", "#55bb88", "#aa7722", "#bb99ff",
)  # fmt: skip

#: The letter of a cell without a mark, where a set has marks.
PLAIN_LETTER = "X"
_LONGEST_DEFAULT_LABEL = 2


def read_looks(head: HeadTable, lattice: Lattice, errors: ErrorList) -> dict[str, str]:
    """Return the looks of marks by letter, and check the second colour."""
    if head.chequer and not lattice.is_square:
        message = f"only squares can be chequered, and the lattice is {lattice.name}; leave it out"
        errors.add("set.chequer", message)
    if "chequer_role" in head.model_fields_set and not head.chequer:
        errors.add("set.chequer_role", 'needs a second colour; write chequer = "#5d3a1a"')
    looks = _looks(head, errors)
    if looks and head.chequer:
        errors.add("set.marks", "exclude set.chequer; choose one")
    return looks


def _looks(head: HeadTable, errors: ErrorList) -> dict[str, str]:
    """Return the looks of marks; after an error the letter itself, which no other mark has."""
    looks: dict[str, str] = {}
    marks = head.marks
    if not isinstance(marks, dict):
        errors.add("set.marks", f"expected a table, found {quote(marks)}")
        return looks
    for letter, look in marks.items():
        if len(letter) != 1 or not letter.isalpha() or letter == PLAIN_LETTER:
            expected = f"expected a single letter other than {PLAIN_LETTER}, the plain cell"
            errors.add("set.marks", f"{expected}; found {quote(letter)}")
            continue
        try:
            looks[letter] = look if look in LOOKS else COLOUR.read(look)
        except ValueError:
            looks[letter] = letter
            expected = f'expected {", ".join(LOOKS)} or a colour such as "#5d3a1a"'
            errors.add(f"set.marks.{letter}", f"{expected}, found {quote(look)}")
        if list(looks.values()).count(looks[letter]) > 1:
            message = f"another mark is {quote(look)} as well; choose another look"
            errors.add(f"set.marks.{letter}", message)
    return looks


class PieceReader:
    """Reads pieces; `looks` are those of the set's marks by letter."""

    def __init__(self, head: HeadTable, looks: dict[str, str], regions: RegionReader) -> None:
        self.head = head
        self.looks = looks
        self.regions = regions
        self.lattice = regions.lattice
        self.errors = regions.errors

    def pieces(self, table: PieceTable, index: int) -> list[Piece]:
        """Return the pieces of a table; without forms after an error, to avoid errors from it."""
        errors = self.errors
        label = table.label or default_label(table.id)
        piece = Piece(table.id, label, table.colour or PALETTE[index % len(PALETTE)], ())
        key = exactly_one(errors, table, PIECE_KEYS, required=True)
        if key == "balls":
            piece = self._ball_piece(table, piece)
        elif key:
            where = table.key(key)
            cells = self.regions.read(key, getattr(table, key), where, piece=True)
            form = flat_form(self.lattice, cells, where, errors)
            piece = replace(piece, forms=(form,) if form else ())
        if piece.forms and self.looks:
            piece = self._marked(table, piece)
        elif table.back is not None and not self.head.marks:
            need = 'but the set has no marks; add marks = {o = "hole"} to [set]'
            errors.add(table.key("back"), f"shows marks, {need}")
        piece = self._chequered(table, piece)
        if piece.forms:
            errors.extend(area_errors(table, area(self.lattice, piece.forms[0])))
        if table.bonds is not None and key not in ("balls", ""):
            errors.add(table.key("bonds"), "join balls, and this piece has none")
        ids = copy_ids(table.id, table.count)
        errors.add(table.key("count"), next(filter(None, map(made_id_error, ids)), ""))
        return [replace(piece, id=copy_id) for copy_id in ids]

    def _ball_piece(self, table: PieceTable, piece: Piece) -> Piece:
        key = table.key("balls")
        if not self.lattice.is_square:
            self.errors.add(key, 'lie on the square lattice; write lattice = "square" in [set]')
            return piece
        if self.head.chequer:
            self.errors.add(key, "have one colour, but the set is chequered; omit set.chequer")
        name = f"piece {quote(table.id)}"
        read = read_balls(table.balls, table.bonds, table.place, self.errors, name)
        return replace(piece, forms=read[1], body=read[0]) if read else piece

    def _chequered(self, table: PieceTable, piece: Piece) -> Piece:
        """Add the cells of the second colour, if the set has one."""
        colour = self.head.chequer
        if "chequer" in table.model_fields_set and not colour:
            message = 'needs a second colour; write chequer = "#5d3a1a" in [set]'
            self.errors.add(table.key("chequer"), message)
        if not colour or not piece.forms or piece.body or not self.lattice.is_square:
            return piece
        tones = chequered_cells(self.lattice, piece.forms[0].cells, table.chequer)
        return self.painted(piece, tones)

    def painted(self, piece: Piece, tones: frozenset[Cell]) -> Piece:
        """Give cells of a piece the second colour, which is a mark if it is a rule."""
        piece = replace(piece, tones=tones, tone=self.head.chequer)
        if not self.head.chequer_is_rule:
            return piece
        marks = tuple((cell, DARK) for cell in sorted(tones))
        return replace(piece, marks=marks, back=marks)

    def _marked(self, table: PieceTable, piece: Piece) -> Piece:
        """Add the marks that the letters of its rows are, in front and behind."""
        if table.rows is None:
            if table.back is not None:
                self.errors.add(table.key("back"), "needs rows, which show the front")
            return piece
        front = self._marks_in(table.rows, table.key("rows"))
        back = front
        if table.back is not None:
            key = table.key("back")
            moves = self.lattice.moves(True)
            flip = next(move for move in moves if move.flipped and not move.turns)
            cells = self.regions.read("rows", table.back, key, piece=True)
            if not cells:
                return piece
            marks = self._marks_in(table.back, key)
            shifts = dict(moves_onto(self.lattice, cells, piece.forms[0].cells))
            if flip not in shifts:
                seen = "is not the piece as seen from behind, left and right exchanged"
                self.errors.add(key, f"{seen}; draw the same cells as rows, mirrored")
                return piece
            dx, dy = shifts[flip]
            moved = {flip(cell): mark for cell, mark in marks.items()}
            back = {(x + dx, y + dy): mark for (x, y), mark in moved.items()}
        looks = self.looks
        holes = [{cell for cell in side if looks[side[cell]] == HOLE} for side in (front, back)]
        if holes[0] != holes[1]:
            advice = "but a hole goes through the piece; draw it in both"
            self.errors.add(table.key("back"), f"has other holes than rows, {advice}")
        colours = {looks[mark] for mark in (*front.values(), *back.values())}
        colours = {colour for colour in colours if colour.startswith("#")}
        if len(colours) > 1:
            shown = join_names(sorted(colours))
            message = f"shows marks in {shown}; a piece has at most one colour besides its own"
            self.errors.add(table.key("rows"), message)
        tones = frozenset(cell for cell, mark in front.items() if looks[mark] in colours)
        return replace(
            piece,
            tones=tones,
            tone=min(colours, default=""),
            marks=tuple(sorted(front.items())),
            back=tuple(sorted(back.items())),
        )

    def _marks_in(self, rows: Sequence[str], key: str) -> dict[Cell, str]:
        """Return the marks of cells in rows of text; record letters that mean nothing."""
        letters = self.regions.letters(rows)
        unknown = set(letters.values()) - {PLAIN_LETTER, *self.looks}
        if unknown:
            known = join_names(list(self.looks))
            message = f"is neither {PLAIN_LETTER}, a cell, nor a mark of the set ({known})"
            self.errors.add(key, f"{quote(min(unknown))} {message}")
        return {cell: letter for cell, letter in letters.items() if letter in self.looks}


def copy_ids(name: str, count: int) -> list[str]:
    """Return the ids of the pieces of a table."""
    stem = f"{name}-" if name[-1:].isdigit() else name
    return [f"{stem}{number + 1}" for number in range(count)] if count > 1 else [name]


def default_label(name: str) -> str:
    """Return a short id, or the first letter of a long one."""
    return name if len(name) <= _LONGEST_DEFAULT_LABEL else name[:1].upper()


def made_id_error(part_id: str) -> str:
    """Return the error of an id that is made of other keys; empty if it is valid."""
    try:
        read_identifier(part_id)
    except ValueError as error:
        return f"makes the id {quote(part_id)}: {error}"
    return ""
