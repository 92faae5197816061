"""What the tables of a set file call by the name of a piece or a board, or by a place on a board: it
follows when that gets another name, or when the board is drawn anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from fabkit.model.lattice import Cell, Lattice, Point
from fabkit.model.regions import CellNumbering, cells_named
from fabkit.model.set_file import choice_name
from fabkit.studio.things import Document, as_list, as_table, tables

#: Keys of a challenge that draws its own region, with its own places.
_REGIONS = {"outline", "rows", "frame"}

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
        return _moved(item, before, after, image)

    def moved_points(value: Any, unit: int) -> Any:
        """Move corners in grid units, or points of the frame, in lists of any depth."""
        if not isinstance(value, list) or not value:
            return value
        if isinstance(value[0], list):
            return [moved_points(part, unit) for part in value]
        with suppress(TypeError, ValueError, OverflowError):
            x, y = (int(coordinate * unit) for coordinate in value)
            return [_quotient(coordinate, unit) for coordinate in image((x, y))]
        return value

    readings: dict[str, Callable[[Any], Any]] = {
        "cells": lambda items: [*map(moved, items)],
        "outline": lambda value: moved_points(value, lattice.per_unit),
        "frame": lambda value: moved_points(value, 1),
    }
    readings["minus"] = readings["cells"]

    def move(table: Document, *keys: str) -> None:
        table.update({key: readings[key](table[key]) for key in keys if as_list(table.get(key))})

    def move_all(table: Document, key: str) -> None:
        for part in tables(table, key):
            move(part, "cells", "outline", "frame")

    for table in tables(document, "challenge"):
        if table.get("board", default) == board and not table.keys() & _REGIONS:
            move(table, "cells", "minus")
            move_all(table, "clue")
            move_all(table, "given")
            solution = as_table(as_table(table.get("result")).get("solution"))
            for name, cells in solution.items():
                key = "outline" if lattice.writes_outlines else "cells"
                solution[name] = readings[key](cells) if isinstance(cells, list) else cells
    for table in tables(document, "family"):
        if table.get("board", default) != board:
            continue
        names = dict[str, str]()
        for index, group in enumerate(as_list(table.get("groups"))):
            for item in as_list(group):
                with suppress(ValueError):
                    names[_name(item, before)] = _name(moved(item), after)
            table["groups"][index] = [*map(moved, group)] if isinstance(group, list) else group
        if "without" in table:
            table["without"] = [
                "-".join(names.get(part, part) for part in str(name).split("-"))
                for name in as_list(table["without"])
            ]


def _moved(item: Any, before: CellNumbering, after: CellNumbering, image: Image) -> Any:
    """Return what names the same cell on the board that is drawn anew."""
    lattice = before.lattice
    is_number = type(item) is int
    place: list[int] = item
    if is_number and 0 <= item < len(before.places):
        place = [at - start for at, start in zip(before.places[item], before.origin, strict=True)]
    elif not is_address(item):
        return item  # a label, which its cell keeps
    (row, column), part = (
        (at + start for at, start in zip(place, before.origin, strict=False)),
        place[2:],
    )
    cells: tuple[Cell, ...] = lattice.cells_at(row, column)
    if part and not 0 <= part[0] < len(cells):
        return item
    *target, index = lattice.address(image(cells[part[0] if part else 0]))
    if is_number and tuple(target) in after.places:
        return after.places.index((target[0], target[1]))
    named = [at - start for at, start in zip(target, after.origin, strict=True)]
    return [*named, index] if part else named


def is_address(value: object) -> bool:
    """Return whether a value of a file names a cell by its row and column."""
    return (
        isinstance(value, list)
        and len(value) in (2, 3)
        and all(type(part) is int for part in value)
    )


def _name(item: Any, numbering: CellNumbering) -> str:
    """Return how the choices of a family that do not go together name a cell."""
    return choice_name(item, numbering, cells_named(item, numbering.lattice, numbering))


def _quotient(value: int, unit: int) -> float:
    return value // unit if value % unit == 0 else value / unit


def movement(lattice: Lattice, moves: Mapping[Cell, Cell]) -> Image:
    """Return the movement of the lattice that takes cells to others; without cells, none."""
    for symmetry in lattice.symmetries if moves else ():
        steps = {
            (to[0] - at[0], to[1] - at[1]) for to, at in ((moves[c], symmetry(c)) for c in moves)
        }
        if len(steps) == 1:
            ((dx, dy),) = steps
            return lambda point, s=symmetry: (s(point)[0] + dx, s(point)[1] + dy)  # type: ignore[misc]
    return lambda point: point
