"""Accessories: printed parts of a set that are not pieces: boards, trays, lids and blockers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fabkit.model.blockers import blockers
from fabkit.model.piece import Piece
from fabkit.model.polygon import rings_of_cells
from fabkit.model.puzzle import LID_SUFFIX, Board, PuzzleSet, rings_to_units, select_by_id
from fabkit.profiles.filaments import Filaments, filaments_for, is_coloured, tower_side_mm
from fabkit.profiles.profile import Profile

#: An accessory that is a board with a floor and a frame.
TRAY = "tray"
#: An accessory that is a board with holes for balls.
HOLES = "holes"
#: An accessory that is a board with sockets for pegs.
SOCKETS = "sockets"
#: An accessory that covers a board of any kind.
LID = "lid"


@dataclass(frozen=True)
class Accessory:
    """A printed part that is not a piece.

    Attributes:
        id: in commands and file names: the board's, or that with ``-lid``.
        kind: one of ``tray``, ``holes``, ``sockets`` and ``lid``.
        board: the board it is, or covers.
        colour: ``#rrggbb``.
        part: its number, from 1, if it is one of the parts of a board or lid that is larger than
            the bed, and its id ends with a letter; 0 for a whole one.
    """

    id: str
    kind: str
    board: Board
    colour: str
    part: int = 0


#: Any printed part of a set.
Printable = Piece | Accessory


def may_have_pegs(puzzle: PuzzleSet) -> bool:
    """Return whether pieces can have pegs: hexagons that must not be turned over."""
    return puzzle.lattice.is_hexagonal and not puzzle.flips


def has_pegs(puzzle: PuzzleSet, profile: Profile) -> bool:
    """Return whether the set's pieces have pegs, so that only one side can face up.

    Hexagons that must not be turned over do, unless the profile sets the peg height to 0.
    """
    return may_have_pegs(puzzle) and profile.peg_height_mm > 0


def cells_leave_gaps(puzzle: PuzzleSet, profile: Profile) -> bool:
    """Return whether cells leave gaps beyond the clearance, as discs and stars do."""
    return has_pegs(puzzle, profile) and profile.cell_shape != "hexagon"


def profile_as_made(puzzle: PuzzleSet, profile: Profile) -> Profile:
    """Return the profile adapted to the set's pieces: those with pegs are printed face down, hold
    no magnets and have no letter on the back."""
    if not has_pegs(puzzle, profile):
        return profile
    faces = "none" if profile.faces == "none" else "front"
    return replace(profile, fit="none", facing="down", faces=faces)


def board_kind(puzzle: PuzzleSet, profile: Profile) -> str:
    """Return the kind of the set's boards: ``holes``, ``sockets`` or ``tray``."""
    if puzzle.made_of_balls:
        return HOLES
    return SOCKETS if has_pegs(puzzle, profile) else TRAY


def has_texts(kind: str, board: Board | None, profile: Profile) -> bool:
    """Return whether the labels of a board are made: on trays, unless the profile omits them.

    Holes and sockets leave no room for text on their cells.
    """
    labels = board.labels if board and kind == TRAY else ()
    return bool(labels) and profile.board_text != "none"


def accessories(puzzle: PuzzleSet, profile: Profile) -> tuple[Accessory, ...]:
    """Return the boards to print with a profile, each followed by its lid."""
    kind = board_kind(puzzle, profile)
    parts = []
    for board in puzzle.boards_to_make(profile.boards_made):
        parts.append(Accessory(board.id, kind, board, profile.board_colour))
        if profile.lid != "none":
            parts.append(Accessory(board.id + LID_SUFFIX, LID, board, profile.board_colour))
    return tuple(parts)


def printables(
    puzzle: PuzzleSet, profile: Profile, ids: Sequence[str] = ()
) -> tuple[Printable, ...]:
    """Return the pieces, blockers, boards and lids of a set in the colours of their filaments; only
    those with the given ids, if any.

    Raises:
        InputError: naming every unknown id, or the parts that the profile's filaments name wrongly.
    """
    made = accessories(puzzle, profile)
    hint = _omission_hint(puzzle, [part.id for part in made], ids)
    parts: tuple[Printable, ...] = (*puzzle.pieces, *blockers(puzzle, profile.board_colour), *made)
    filaments = filaments_for(puzzle, profile)
    return tuple(
        _in_filament(part, filaments) for part in select_by_id(parts, ids, puzzle.name, hint)
    )


def _in_filament(part: Printable, filaments: Filaments) -> Printable:
    """Return a part in the colours in which it is printed."""
    colour = filaments.body(part.id, part.colour)
    if isinstance(part, Piece) and part.tone:
        return replace(part, colour=colour, tone=filaments.body("", part.tone))
    return replace(part, colour=colour)


def bed_rooms_mm(profile: Profile) -> list[tuple[float, float]]:
    """Return the largest widths and depths that fit the bed, beside a prime tower if any."""
    edges_mm = 2 * profile.plate_edge_mm
    tower_mm = tower_side_mm(profile) if is_coloured(profile) else 0.0
    tower_mm += profile.plate_gap_mm if tower_mm else 0.0
    wide_mm, deep_mm = profile.bed_width_mm - edges_mm, profile.bed_depth_mm - edges_mm
    rooms = [(wide_mm, deep_mm - tower_mm), (wide_mm - tower_mm, deep_mm)]
    return [room for width, depth in rooms for room in ((width, depth), (depth, width))]


def may_exceed_bed(puzzle: PuzzleSet, profile: Profile) -> bool:
    """Return whether a board or lid may exceed the bed: an estimate without a geometry library.

    Example:
        >>> from fabkit.sets.library import load_set
        >>> from fabkit.profiles.profile_file import load_profile
        >>> iqblock = load_set("iqblock")
        >>> small = ["printer.bed_width=180 mm", "printer.bed_depth=180 mm"]
        >>> [may_exceed_bed(iqblock, load_profile((), bed)) for bed in ((), small)]
        [False, True]
    """
    # The opening protrudes most from the region at sharp corners, a lid or a frame by its walls.
    lid_mm = profile.lid_thickness_mm + profile.tongue_thickness_mm + profile.snap_mm
    lid_mm += profile.detent_mm + 4 * profile.lid_clearance_mm
    frame_mm = profile.board_wall_mm + profile.relief_mm + 20 * profile.board_clearance_mm
    around_mm = 2 * (frame_mm + lid_mm)
    for accessory in accessories(puzzle, profile):
        rings = rings_of_cells(puzzle.lattice, accessory.board.cells)
        corners = [corner for ring in rings_to_units(puzzle.lattice, rings) for corner in ring]
        sides = [
            (max(side) - min(side)) * profile.unit_mm + around_mm
            for side in zip(*corners, strict=True)
        ]
        if all(sides[0] > room[0] or sides[1] > room[1] for room in bed_rooms_mm(profile)):
            return True
    return False


def _omission_hint(puzzle: PuzzleSet, made: Sequence[str], ids: Sequence[str]) -> str:
    """Explain which setting omits a requested board or lid."""
    boards = [board.id for board in puzzle.boards]
    if any(part_id in boards and part_id not in made for part_id in ids):
        return '; board.make "all" makes every board of the set'
    lids = [board_id + LID_SUFFIX for board_id in boards]
    if any(part_id in lids and part_id not in made for part_id in ids):
        return '; lid.kind "none" omits all lids, board.make may omit a board and its lid'
    if any(part_id.rpartition("-")[0] in made for part_id in ids):
        return "; only boards and lids that are larger than the printer's bed come in parts"
    return ""
