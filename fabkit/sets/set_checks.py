"""What is wrong with a set as a whole, its parts with each other: functions that yield errors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fabkit.core.errors import ErrorDetail, pluralize, quote
from fabkit.model.blockers import BLOCKER, blockers, place_unlike_blocker
from fabkit.model.lattice import Cell, Lattice
from fabkit.model.piece import Piece, fits_in
from fabkit.model.puzzle import LID_SUFFIX, MOVES, Board, PuzzleSet, area
from fabkit.sets.challenge_checks import unlike_blocker
from fabkit.sets.set_tables import BOARD_KEYS, HeadTable, PieceTable, SetFile


def area_errors(table: HeadTable | PieceTable, drawn: float) -> Iterator[ErrorDetail]:
    """Yield the error that a stated area is not that of the drawings."""
    if table.area is not None and table.area != drawn:
        message = f"is {table.area:g}, but the drawing's area is {drawn:g}"
        yield ErrorDetail(table.key("area"), message)


def unlike_blockers(file: SetFile, puzzle: PuzzleSet) -> Iterator[ErrorDetail]:
    """Yield an error for each family or challenge whose cells the set's blockers do not cover."""
    for blocker in blockers(puzzle, ""):
        cells = blocker.forms[0].cells
        for family_table, family in zip(file.family, puzzle.families, strict=True):
            choices = [label for group in family.groups for label in group if family.blocked]
            places = {label.cells: label.text for label in choices}
            unlike = place_unlike_blocker(puzzle.lattice, cells, places)
            if unlike is not None:
                yield ErrorDetail(family_table.key("groups"), unlike_blocker(places[unlike]))
        for table, challenge in zip(file.challenge, puzzle.challenges, strict=True):
            # The reader of challenges has compared the places of each with its first.
            first = puzzle.lattice.places(challenge.minus)[:1] if challenge.blocked else []
            if place_unlike_blocker(puzzle.lattice, cells, first) is not None:
                yield ErrorDetail(table.key("minus"), unlike_blocker(table.minus[0]))


def small_boards(file: SetFile, puzzle: PuzzleSet) -> Iterator[ErrorDetail]:
    """Yield an error for each board too small for a piece that some challenge uses there."""
    used: dict[frozenset[Cell], set[str]] = {}
    for challenge in puzzle.challenges:
        used.setdefault(challenge.board_cells, set()).update(challenge.pieces)
    for family in puzzle.families:
        used.setdefault(family.board.cells, set()).update(family.pieces)
    for table in file.board:
        board = next(board for board in puzzle.boards if board.id == table.id)
        ids = used.get(board.cells, {piece.id for piece in puzzle.pieces})
        large = [
            piece
            for piece in puzzle.pieces
            if piece.forms and board.cells and piece.id in ids
            if not fits_in(puzzle.lattice, piece, board.cells, puzzle.flips)
        ]
        if large:
            key = next(key for key in BOARD_KEYS if key in table.model_fields_set)
            yield ErrorDetail(table.key(key), _small_board(puzzle, board, large))


def _small_board(puzzle: PuzzleSet, board: Board, large: list[Piece]) -> str:
    """Return the error that some pieces do not fit on a board."""
    lattice = puzzle.lattice
    piece = max(large, key=lambda piece: len(piece.forms[0].cells))
    size = f"{_extent(lattice, piece.forms[0].cells)}, area {area(lattice, piece.forms[0]):g}"
    others = f" (nor do {pluralize(len(large) - 1, 'other')})" if len(large) > 1 else ""
    units = len(board.cells) / lattice.cells_per_unit
    extent = f"{_extent(lattice, board.cells)}, area {units:g}"
    advice = "enlarge the board"
    if not puzzle.flips and fits_in(lattice, piece, board.cells, flips=True):
        moves = f'moves = "{MOVES[1]}"'
        advice = f"it would fit turned over; {advice}, or write {moves} in [set]"
    message = f"piece {quote(piece.id)} ({size}) does not fit on this board ({extent})"
    return f"{message} in any position{others}; {advice}"


def _extent(lattice: Lattice, cells: Iterable[Cell]) -> str:
    """Return rows x columns spanned by the cells."""
    sides = zip(*map(lattice.row_col, cells), strict=True)
    return " x ".join(str(max(side) - min(side) + 1) for side in sides)


def _board_places(file: SetFile, puzzle: PuzzleSet) -> list[tuple[str, str]]:
    """Return the id of each board and the place of its table."""
    cut_boards = puzzle.boards[: len(puzzle.boards) - len(file.board)]
    places = [(board.id, "cut.board") for board in cut_boards]
    return places + [(table.id, table.place) for table in file.board]


def duplicate_part_ids(file: SetFile, puzzle: PuzzleSet) -> Iterator[ErrorDetail]:
    """Yield an error for every duplicate id of a piece, board, lid or blocker."""
    pieces = iter(puzzle.pieces)
    named: list[tuple[str, str, str]] = []
    for table in file.piece:
        origin = f", from its count = {table.count}" if table.count > 1 else ""
        named += [(next(pieces).id, table.place, origin) for _ in range(table.count)]
    named += [(piece.id, file.cut.place_of(piece.id), "") for piece in pieces]
    boards = _board_places(file, puzzle)
    named += [(board_id, place, "") for board_id, place in boards]
    # Boards of the same id are reported once, without their lids.
    lids = {name.lower(): (name, place) for name, place in reversed(boards)}
    named += [(name + LID_SUFFIX, place, ", the id of its lid") for name, place in lids.values()]
    blocked = [table.place for table in file.family if table.blocked]
    blocked += [table.place for table in file.challenge if table.blocked]
    named += [(BLOCKER, place, ", the id of its blockers") for place in blocked[:1]]
    return _duplicate_ids(named)


def duplicate_challenge_ids(file: SetFile) -> Iterator[ErrorDetail]:
    """Yield an error for every duplicate id of a challenge or family."""
    return _duplicate_ids((*named, "") for named in _challenge_places(file))


def _challenge_places(file: SetFile) -> list[tuple[str, str]]:
    """Return the id and the place of each challenge and family."""
    places = [(table.id, table.place) for table in file.challenge]
    return places + [(table.id, table.place) for table in file.family]


def _duplicate_ids(named: Iterable[tuple[str, str, str]]) -> Iterator[ErrorDetail]:
    """Yield every duplicate id, ignoring case; items are (id, table, origin of the id)."""
    first: dict[str, tuple[str, str]] = {}
    for part_id, place, origin in named:
        first_place, first_origin = first.setdefault(part_id.lower(), (place, origin))
        if first_place != place:
            made = f"{quote(part_id)}{origin and origin + ','}"
            message = f"{made} is also the id of {first_place}{first_origin}"
            advice = "choose another: ids become file names, and case is ignored"
            key = place if place.startswith("cut") else f"{place}.id"
            yield ErrorDetail(key, f"{message}; {advice}")


def shared_names(file: SetFile, puzzle: PuzzleSet) -> Iterator[ErrorDetail]:
    """Yield an error for each family with a member that has another's name."""
    by_length: dict[int, list[tuple[str, str]]] = {}
    for name, place in _board_places(file, puzzle) + _challenge_places(file):
        by_length.setdefault(name.count("-"), []).append((name, place))
    for index, (table, family) in enumerate(zip(file.family, puzzle.families, strict=True)):
        advice = f"give the family {'another prefix' if family.prefix else 'a prefix'}"
        dashes = family.name(label for label, *_ in family.groups).count("-")
        for name, place in by_length.get(dashes, []):
            if family.find(name):
                message = f"the member {quote(name)} has the name of {place}, ignoring case"
                yield ErrorDetail(table.key("groups"), f"{message}; {advice}, or rename {place}")
                break
        for other_table, other in zip(file.family[:index], puzzle.families, strict=False):
            if name := family.shared_name(other):
                message = f"the member {quote(name)} is also one of {other_table.place}"
                yield ErrorDetail(table.key("groups"), f"{message}, ignoring case; {advice}")
                break
