"""Cheap checks that prove a challenge infeasible, each with a reason that people can follow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fabkit.core.errors import join_or
from fabkit.model.clues import contradictory_given
from fabkit.model.lattice import Cell, Lattice
from fabkit.solve.encoding import EncodedChallenge
from fabkit.solve.exact_cover import BoolArray, ExactCoverProblem

_MAX_LISTED = 8
_LEFTOVER = "with --leftover cells may stay uncovered"


@dataclass(frozen=True)
class Infeasibility:
    """Why there is no solution, as a sentence.

    `rule` is ``given``, ``area``, ``piece``, ``cell`` or ``colouring``; for the last,
    `weights` has one number for each cell of the problem. `advice` is what `fabkit solve` can
    do about it, or empty.
    """

    rule: str
    reason: str
    weights: tuple[int, ...] = ()
    advice: str = ""


def find_infeasibility(encoded: EncodedChallenge) -> Infeasibility | None:
    """Return the first reason found why a challenge is infeasible; None if no check shows one."""
    for given in contradictory_given(encoded.puzzle, encoded.challenge):
        return Infeasibility("given", f"the given piece {given.piece} contradicts a clue")
    return _area(encoded) or _without_placement(encoded) or _colouring(encoded)


def _area(encoded: EncodedChallenge) -> Infeasibility | None:
    problem = encoded.problem
    sums = _bits(_reached(problem, encoded.sizes))
    free = problem.cell_count
    if free in sums:
        return None
    per_unit = encoded.puzzle.lattice.cells_per_unit  # people count whole squares
    area = f"{free / per_unit:g}"
    noun = encoded.puzzle.lattice.unit_noun
    noun = f"free {noun}" if encoded.challenge.given else noun
    region = f"the region has {area} {noun if free == per_unit else noun + 's'}"
    open_count = encoded.challenge.open_count
    areas = [(covered - open_count) / per_unit for covered in sums]
    if open_count:
        region += f", of which {open_count} {'stay' if open_count > 1 else 'stays'} open"
    chosen = "" if problem.pieces_count is None else f"{problem.pieces_count} of "
    reason = f"{region}, but {chosen}the pieces cover {_join_numbers(areas)}"
    is_larger = bool(sums) and sums[-1] < free and problem.pieces_count is None and not open_count
    return Infeasibility("area", reason, advice=_LEFTOVER if is_larger else "")


def _reached(problem: ExactCoverProblem, amounts: Sequence[Iterable[int]]) -> int:
    """Return the sums of one amount of each piece used, as a bit set; `amounts` are by kind."""
    sums = problem.sums([{(1, amount) for amount in kind} for kind in amounts])
    return sums.get(problem.pieces_used, 0)


def _without_placement(encoded: EncodedChallenge) -> Infeasibility | None:
    """Look for a piece that fits nowhere, or a cell that no placement covers."""
    problem = encoded.problem
    clues = " in agreement with the clues" if encoded.challenge.clues else ""
    if problem.pieces_count is None and not all(problem.by_kind):
        name = next(iter(encoded.kinds[problem.by_kind.index(())]), "")
        reason = f"piece {name} fits nowhere in the region" if name else "no cell can stay open"
        return Infeasibility("piece", f"{reason}{clues}")
    if not all(problem.by_cell):
        row, col = encoded.row_col(encoded.cells[problem.by_cell.index(())])
        reason = f"no piece can cover the cell in row {row}, column {col}"
        return Infeasibility("cell", f"{reason}{clues}")
    return None


def _colouring(encoded: EncodedChallenge) -> Infeasibility | None:
    """Look for a colouring in which the pieces cannot cover the region's coloured cells."""
    problem = encoded.problem
    if not problem.options:
        return None
    cells = np.array([cell for option in problem.options for cell in option.cells])
    starts = np.cumsum([0, *(len(option.cells) for option in problem.options[:-1])])
    kinds = [np.array(kind, dtype=np.int64) for kind in problem.by_kind]
    for name, coloured in _colourings(encoded.puzzle.lattice, encoded.cells):
        values = np.add.reduceat(coloured[cells].astype(np.int64), starts)
        total = _reached(problem, [set(values[kind].tolist()) for kind in kinds])
        weights = tuple(coloured.astype(int).tolist())
        if not total >> sum(weights) & 1:
            region = f"the region has {sum(weights)} coloured cells"
            pieces = f"the pieces can cover {_join_numbers(_bits(total))}"
            return Infeasibility("colouring", f"colouring {name}: {region}, but {pieces}", weights)
    return None


def _colourings(lattice: Lattice, cells: Sequence[Cell]) -> Iterator[tuple[str, BoolArray]]:
    """Yield periodic colourings with names: chessboard, stripes, diagonals, and quarters."""
    row, col = np.array([lattice.row_col(cell) for cell in cells]).T
    if lattice.is_staggered:  # columns zigzag; this makes them straight lines
        col = col - (row >> 1)
    row, col = row - row.min(), col - col.min()
    residues = [lattice.residue(cell) for cell in cells]
    rules = [
        ("every second row", 2, 1, 0),
        ("every second column", 2, 0, 1),
        ("the cells like a chessboard", 2, 1, 1),
        ("every third row", 3, 1, 0),
        ("every third column", 3, 0, 1),
        ("every third diagonal", 3, 1, 1),
        ("every third falling diagonal", 3, 1, 2),
        ("every fourth diagonal", 4, 1, 1),
        ("every fourth falling diagonal", 4, 1, 3),
    ]
    groups = {"": set(residues)}
    for group_name, indices in lattice.groups.items():
        kinds = {lattice.residue(lattice.first[index]) for index in indices}
        groups[f"of these the {group_name}"] = kinds & set(residues)
    for note, group in groups.items():
        counts = np.array([residue in group for residue in residues])
        for name, modulus, down, across in [("all cells", 1, 0, 0), *rules] if note else rules:
            phase = (down * row + across * col) % modulus
            for part in range(modulus if modulus > 2 else 1):
                yield ", ".join(filter(None, (name, note))), counts & (phase == part)


def _bits(total: int) -> list[int]:
    return [number for number in range(total.bit_length()) if total >> number & 1]


def _join_numbers(numbers: Sequence[float]) -> str:
    """Join numbers with commas and "or"; many are abbreviated to a range."""
    if not numbers:
        return "nothing"
    if len(numbers) > _MAX_LISTED:
        return f"{numbers[0]:g} to {numbers[-1]:g} (not every number)"
    return join_or([f"{number:g}" for number in numbers])
