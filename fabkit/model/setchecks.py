"""What must hold between the pieces and boards of a set: names of files, and room."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fabkit.core.errors import many, shown
from fabkit.core.reading import Reader, Table
from fabkit.model.accessory import LID_ENDING
from fabkit.model.lattice import Cell, Lattice
from fabkit.model.piece import Piece, orientations
from fabkit.model.puzzle import Board, area


def refuse_same_ids(reader: Reader, kind: str, ids: Sequence[str]) -> None:
    """Notes every id that stands twice in one kind of table.

    Args:
        reader: where faults go.
        kind: ``piece``, ``board`` or ``challenge``.
        ids: in the file's order.
    """
    first: dict[str, int] = {}
    for index, one in enumerate(ids):
        same = first.setdefault(one.lower(), index)
        if one and same != index:
            reader.fault(
                f"{kind}[{index}].id",
                f"{shown(one)} is also the id of {kind}[{same}]; upper and lower case count as "
                "the same, since ids name files",
            )


def refuse_same_files(reader: Reader, pieces: Sequence[Piece], boards: Sequence[Board]) -> None:
    """Notes every board whose files, or whose lid's, would be those of a piece or another board."""
    owners = {board.id.lower(): f"board[{i}]" for i, board in enumerate(boards)}
    owners |= {piece.id.lower(): f"piece[{i}]" for i, piece in enumerate(pieces)}
    for index, board in enumerate(boards):
        place, lid = f"board[{index}]", board.id + LID_ENDING
        other = owners.get(board.id.lower(), place)
        if board.id and other.startswith("piece"):
            reader.fault(
                f"{place}.id",
                f"{shown(board.id)} is also the id of {other}; both name files in the same folder "
                "(upper and lower case count as the same), so call the board something else",
            )
        if board.id and lid.lower() in owners:
            reader.fault(
                f"{place}.id",
                f"the board's lid is called {shown(lid)}, and so is {owners[lid.lower()]}; both "
                "name files in the same folder, so call one something else",
            )


def refuse_small_board(
    table: Table, key: str, board: Board, lattice: Lattice, pieces: Sequence[Piece], flips: bool
) -> None:
    """Notes a board on which some piece cannot lie.

    Args:
        table: the board's.
        key: where the board is drawn in it.
        board: without faults.
        lattice: the set's.
        pieces: those without faults.
        flips: whether they may be turned over.
    """
    large = [piece for piece in pieces if not lies_on(lattice, piece, board.cells, flips)]
    if not large:
        return
    piece = max(large, key=lambda one: len(one.forms[0].cells))
    size = f"{_extent(lattice, piece.forms[0].cells)}, area {area(lattice, piece.forms[0]):g}"
    others = f", nor do {many(len(large) - 1, 'other')}" if len(large) > 1 else ""
    whole = f"{_extent(lattice, board.cells)}, area {len(board.cells) / lattice.cells_per_unit:g}"
    advice = "draw the board larger"
    if not flips and lies_on(lattice, piece, board.cells, flips=True):
        advice = f'turned over it would; {advice}, or write moves = "rotations and flips" in [set]'
    table.fault(
        key,
        f"piece {shown(piece.id)} ({size}) does not lie on this board ({whole}) in any position"
        f"{others}; {advice}",
    )


def lies_on(lattice: Lattice, piece: Piece, region: frozenset[Cell], flips: bool) -> bool:
    """Whether a piece can lie in a region at all.

    `placements` finds every place, which may be millions where this asks for one.

    Args:
        lattice: the set's.
        piece: with at least one form.
        region: the cells that may be covered.
        flips: whether mirror images may be used.

    Example:
        >>> from fabkit.model.library import load_set
        >>> cubi = load_set("cubimagici")
        >>> three = frozenset(c for r in range(3) for k in range(3) for c in cubi.lattice.cells_at(r, k))
        >>> [piece.id for piece in cubi.pieces if not lies_on(cubi.lattice, piece, three, True)]
        ['p1', 'p2', 'p9']
    """
    return any(
        _has_room(lattice, orientation.cells, region)
        for orientation in orientations(lattice, piece, flips)
        if len(orientation.cells) <= len(region)
    )


def _has_room(lattice: Lattice, cells: frozenset[Cell], region: frozenset[Cell]) -> bool:
    """Whether some translation of the cells lies in the region; the first one will do."""
    x0, y0 = min(cells)
    kind = lattice.residue((x0, y0))
    return any(
        all((x + left - x0, y + low - y0) in region for x, y in cells)
        for left, low in region
        if lattice.residue((left, low)) == kind
    )


def _extent(lattice: Lattice, cells: Iterable[Cell]) -> str:
    """Rows x columns that some cells take up."""
    sides = zip(*map(lattice.row_col, cells), strict=True)
    return " x ".join(str(max(side) - min(side) + 1) for side in sides)
