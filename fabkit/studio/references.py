"""Names and cells in the tables of a set file, which follow a piece or board that changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from fabkit.model.lattice import Cell, Lattice, Point
from fabkit.model.puzzle import JOIN
from fabkit.sets.family_reader import choice_name
from fabkit.sets.regions import CellNumbering, cells_named
from fabkit.studio.things import Document, as_list, as_table, tables

#: Keys of a challenge that draws its own region, with its own places.
_REGIONS = {"outline", "rows", "frame"}
#: Keys of what is placed on a board.
_PLACED = {"cells", "minus", "outline", "frame"}

Image = Callable[[Point], Point]


def rename_pieces(document: Document, names: Mapping[str, str]) -> None:
    """Rename pieces wherever challenges, families and clues name them."""

    def rename(table: Document, *keys: str) -> None:
        for key in keys:
            if isinstance(name := table.get(key), str):
                table[key] = names.get(name, name)

    for table in tables(document, "challenge", "family"):
        if isinstance(pieces := table.get("pieces"), str | list):
            ids = [names.get(name, name) if isinstance(name, str) else name for name in pieces]
            # In a text, each character is an id.
            is_text = isinstance(pieces, str) and all(len(name) == 1 for name in ids)
            table["pieces"] = "".join(ids) if is_text else ids
        for given in tables(table, "given"):
            rename(given, "piece")
        result = as_table(table.get("result"))
        if solution := as_table(result.get("solution")):
            result["solution"] = {names.get(name, name): solution[name] for name in solution}
    for table in tables(document, "board", "challenge"):
        for clue in tables(table, "clue"):
            rename(clue, "piece", "colour")  # that of a piece


def rename_board(document: Document, before: str, after: str) -> None:
    """Rename a board wherever challenges and families name it."""
    for table in tables(document, "challenge", "family"):
        table.update({key: after for key in ("board", "of") if table.get(key) == before})


def move_cells(
    document: Document, board: str, before: CellNumbering, after: CellNumbering, image: Image
) -> None:
    """Name the same cells on a board that is drawn anew.

    A cell that is no longer on it is named where it would be, which the reader of the file reports.
    """
    lattice = before.lattice
    cut = [{"id": document["cut"].get("board", "board")}] if as_table(document.get("cut")) else []
    boards = [*cut, *tables(document, "board")]
    default = next((table.get("id") for table in boards if not table.get("optional")), None)

    def moved(item: Any) -> Any:
        """Return what names the same cell; a label, which its cell keeps, is that already."""
        part = list[int]()
        if type(item) is int and 0 <= item < len(before.places):
            place = before.places[item]
        elif isinstance(item, list) and len(item) in (2, 3) and {*map(type, item)} == {int}:
            place, part = (item[0] + before.origin[0], item[1] + before.origin[1]), item[2:]
        else:
            return item
        cells = lattice.cells_at(*place)
        if part and not 0 <= part[0] < len(cells):
            return item
        row, column, index = lattice.address(image(cells[part[0] if part else 0]))
        if type(item) is int and (row, column) in after.places:
            return after.places.index((row, column))
        return [*less((row, column), after.origin), index][: 3 if part else 2]

    def moved_value(key: str, value: Any) -> Any:
        if not isinstance(value, list):
            return value
        if key in ("cells", "minus"):
            return [*map(moved, value)]
        return _moved_points(value, lattice.per_unit if key == "outline" else 1, image)

    def on_board(kind: str) -> list[Document]:
        rows = tables(document, kind)
        return [r for r in rows if r.get("board", default) == board and not r.keys() & _REGIONS]

    for challenge in on_board("challenge"):
        for table in (challenge, *tables(challenge, "clue", "given")):
            table |= {key: moved_value(key, table[key]) for key in table.keys() & _PLACED}
        solution = as_table(as_table(challenge.get("result")).get("solution"))
        key = "outline" if lattice.writes_outlines else "cells"
        solution |= {name: moved_value(key, cells) for name, cells in solution.items()}
    for family in on_board("family"):
        names = dict[str, str]()
        for group in filter(as_list, as_list(family.get("groups"))):
            for item in group:
                with suppress(ValueError):
                    names[_name(item, before)] = _name(moved(item), after)
            group[:] = map(moved, group)
        for index, name in enumerate(excluded := as_list(family.get("without"))):
            excluded[index] = JOIN.join(names.get(part, part) for part in str(name).split(JOIN))


def _moved_points(value: Any, unit: int, image: Image) -> Any:
    """Move points of the frame, or corners in grid units of so many, in lists of any depth."""
    if isinstance(value, list) and value and isinstance(value[0], list):
        return [_moved_points(part, unit, image) for part in value]
    with suppress(TypeError, ValueError, OverflowError):
        x, y = (int(coordinate * unit) for coordinate in value)
        moved = image((x, y))
        return [at // unit if at % unit == 0 else at / unit for at in moved]
    return value


def _name(item: Any, numbering: CellNumbering) -> str:
    """Return how the choices of a family that do not go together name a cell."""
    return choice_name(item, numbering, cells_named(item, numbering.lattice, numbering))


def movement(lattice: Lattice, moves: Mapping[Cell, Cell]) -> Image:
    """Return the movement of the lattice that takes cells to others; without cells, none."""
    for symmetry in lattice.symmetries if moves else ():
        steps = {less(symmetry(cell), target) for cell, target in moves.items()}
        if len(steps) == 1:
            step = steps.pop()
            return lambda point: less(symmetry(point), step)
    return lambda point: point


def less(point: Point, other: Point) -> Point:
    """Return the difference of two points."""
    return point[0] - other[0], point[1] - other[1]
