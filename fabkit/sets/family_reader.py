"""Read the tables of families: challenges that differ in one cell of each group."""

from __future__ import annotations

from math import prod
from typing import Any

from fabkit.core.documents import read_word
from fabkit.core.errors import quote
from fabkit.model.lattice import Cell
from fabkit.model.puzzle import JOIN, Family, Label, default_board
from fabkit.sets.parts_reader import PartsReader
from fabkit.sets.regions import CellNumbering, cells_named
from fabkit.sets.set_tables import FamilyTable

#: Limit on the members of a family.
_MOST_MEMBERS = 1_000_000


def read_family(table: FamilyTable, parts: PartsReader) -> Family | None:
    """Return a family of challenges; None after an error."""
    errors, puzzle = parts.errors, parts.puzzle
    errors_before = errors.count
    pieces = parts.piece_ids(table.pieces, table.key("pieces"))
    board = default_board(puzzle.boards)
    if table.board is not None:
        board = parts.board(table.board, table.key("board"))
    elif board is None:
        errors.add(table.place, "chooses cells of a board, and there is none; add a [[board]]")
    key = table.key("groups")
    if not isinstance(table.groups, list) or not table.groups:
        errors.add(key, f"expected a list of groups of cells, found {quote(table.groups)}")
    if board is None or errors.count > errors_before:
        return None
    numbering = parts.numbering(board)
    groups = [
        _group(group, f"{key}[{index}]", numbering, parts)
        for index, group in enumerate(table.groups)
    ]
    members = prod(len(set(labels)) for labels in groups)
    if members > _MOST_MEMBERS:
        limit = f"at most {_MOST_MEMBERS:,} are allowed; use smaller groups"
        errors.add(key, f"make {members:,} challenges; {limit}")
    texts = {label.text for labels in groups for label in labels}
    for index, name in enumerate(table.without if errors.count == errors_before else ()):
        if unknown := [text for text in name.split(JOIN) if text not in texts]:
            message = f"{quote(unknown[0])} is not in a group; expected names joined by dashes"
            errors.add(f"{table.key('without')}[{index}]", message)
    if errors.count > errors_before:
        return None
    without = tuple(frozenset(name.split(JOIN)) for name in table.without)
    family = Family(
        table.id, table.title or table.id, board, tuple(groups), pieces, puzzle.flips, table.prefix,
        table.blocked, without,
    )  # fmt: skip
    if board.cells and next(family.choices(), None) is None:
        advice = "name more cells, or less in without"
        message = "allow no member: every combination repeats a cell or is excluded"
        errors.add(key, f"{message}; {advice}")
    return family


def _group(group: Any, key: str, numbering: CellNumbering, parts: PartsReader) -> tuple[Label, ...]:
    """Return the choices of a group; see `choice_name`."""
    names = group.split() if isinstance(group, str) else group
    if not isinstance(names, list) or not names:
        expected = "expected labels in a string, or a list of cells"
        parts.errors.add(key, f"{expected}, found {quote(group)}")
        return ()
    labels: list[Label] = []
    labels_by_text: dict[str, Label] = {}
    for name in names:
        try:
            label = _choice(name, numbering)
            text = label.text.lower()
            if numbering.cells and labels_by_text.setdefault(text, label) != label:
                message = f"{quote(label.text)} is also the name of another choice, ignoring case"
                advice = "write equal choices alike, and others by a cell's label or [row, column]"
                raise ValueError(f"{message}; {advice}")
            labels.append(label)
        except ValueError as error:
            parts.errors.add(key, str(error))
            if isinstance(name, str) and not numbering.labels:  # as all others
                break
    return tuple(labels)


def _choice(name: Any, numbering: CellNumbering) -> Label:
    """Return a choice of a group.

    Raises:
        ValueError: with a message, when it is no cell of the board, or has no name.
    """
    cells = cells_named(name, numbering.lattice, numbering)
    if numbering.cells and not cells <= numbering.cells:
        raise ValueError(f"{quote(name)} is not on the board")
    if isinstance(name, str) and "-" in name:
        advice = "a dash joins the names of choices; write [row, column]"
        raise ValueError(f"{quote(name)} cannot be in a name, where {advice}")
    if isinstance(name, str):  # other texts are only printed on the board
        read_word(name)
    return Label(choice_name(name, numbering, cells), cells)


def choice_name(name: Any, numbering: CellNumbering, cells: frozenset[Cell]) -> str:
    """Return a label, or ``r2c3`` for ``[2, 3]`` and ``r2c3k1`` for ``[2, 3, 1]``."""
    if isinstance(name, str):
        return name
    row, col = numbering.place(cells) if cells else (0, 0)
    part = f"k{name[2]}" if isinstance(name, list) and len(name) == 3 else ""
    return f"r{row}c{col}{part}"
