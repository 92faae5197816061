"""Boards, trays and lids among the parts of a set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fabkit.mesh.boards.inspect import inspect_board
from fabkit.mesh.boards.part import BoardPart
from fabkit.model.accessory import LID, LID_ENDING
from fabkit.model.lattice import Cell
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet
from fabkit.verify.answers import Progress
from fabkit.verify.reports import BoardReport


def inspect_boards(
    boards: Sequence[BoardPart], puzzle: PuzzleSet, profile: Profile, progress: Progress
) -> list[BoardReport]:
    """What every rule says of each board and lid.

    Args:
        boards: those that were read.
        puzzle: the set.
        profile: what is asked for.
        progress: told before each.

    Returns:
        One report for each, with different keys, in the order of the set's boards.
    """
    found: list[BoardReport] = []
    taken: dict[str, int] = {}
    order = {board.id: number for number, board in enumerate(puzzle.boards)}
    ranked = sorted(boards, key=lambda one: (_place(one, order), one.kind == LID))
    for done, part in enumerate(ranked):
        stem = _called(part)
        taken[stem] = taken.get(stem, 0) + 1
        key = stem if taken[stem] == 1 and part.board else f"{stem}-{taken[stem]}"
        progress(done, len(ranked), f"inspecting {key}")
        findings = inspect_board(part, boards, puzzle, profile)
        found.append(BoardReport(key, part, tuple(findings)))
    return found


def board_around(
    boards: Iterable[BoardPart], region: frozenset[Cell], kind: str
) -> BoardPart | None:
    """The board of some kind that has all cells of a region; None when there is none."""
    fitting = [one for one in boards if one.kind == kind and one.board]
    return next((one for one in fitting if one.board and region <= one.board.cells), None)


def _place(part: BoardPart, order: dict[str, int]) -> int:
    return order.get(part.board.id, len(order)) if part.board else len(order)


def _called(part: BoardPart) -> str:
    """Its name in reports, but for a number."""
    if part.board is None:
        return "unknown-board"
    return part.board.id + (LID_ENDING if part.kind == LID else "")
