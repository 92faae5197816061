"""Checking arguments: sums that do not add up, and transcripts.

A transcript lists the items branched on in a search tree, in preorder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from fabkit.certify.cover import CoverProblem, Option
from fabkit.certify.tiling import ProofError
from fabkit.core.errors import InputError, quote

#: Number of items read between two progress reports.
_PACE = 2048


def root_kind(first: int, items: Sequence[int], cells: int, copies: Sequence[int]) -> int:
    """Return the number of the kind at the root, of which one placement of each orbit is tried.

    `first` is its item; items of kinds come after those of cells.

    Raises:
        ProofError: if the item is not a kind with one copy, or the root branches on another.
    """
    kind = first - cells
    if not 0 <= kind < len(copies):
        raise ProofError(f"branch_first: {quote(first)} is not the number of a kind")
    if copies[kind] != 1:
        raise ProofError(f"branch_first: kind {first} has {copies[kind]} copies; it must have one")
    if items and items[0] != first:
        raise ProofError(f"items[0]: branches on {quote(items[0])}, not on branch_first {first}")
    return kind


class _State(NamedTuple):
    """A node of the tree.

    Attributes:
        blocked: covered cells as bits, and above them the kinds of which no copy is left.
        todo: number of pieces left.
        left: number of copies left of each kind.
        floors: the first option of each kind that may still be chosen.
        weight: multiplicity of the solutions below.
    """

    blocked: int
    todo: int
    left: tuple[int, ...]
    floors: tuple[int, ...]
    weight: int


class OptionTable(NamedTuple):
    """The options in order, as parallel sequences: the cells covered, as bits, the number of the
    kind, and the number of copies used; `options_of` returns the ascending numbers of those at an
    item, and is called often."""

    masks: Sequence[int]
    kinds: Sequence[int]
    copies_used: Sequence[int]
    options_of: Callable[[int], Sequence[int]]

    @classmethod
    def of(cls, cover: CoverProblem, options: Sequence[Option]) -> OptionTable:
        """Create the table of some options of a cover problem."""
        options_of: list[list[int]] = [[] for _ in range(cover.cells + len(cover.kinds))]
        for number, option in enumerate(options):
            for item in (*option.cells, cover.cells + option.kind):
                options_of[item].append(number)
        masks = [sum(1 << cell for cell in option.cells) for option in options]
        kinds = [option.kind for option in options]
        copies_used = [option.copies for option in options]
        return cls(masks, kinds, copies_used, options_of.__getitem__)


class Replay:
    """An exact cover problem, and the rules by which transcripts of its search are read.

    Of each kind there are so many `copies`; with `pieces_count` so many pieces are used, else all.
    """

    def __init__(
        self,
        cells: int,
        copies: tuple[int, ...],
        choices: OptionTable,
        pieces_count: int | None = None,
    ) -> None:
        self._cells, self._copies, self._pieces_count = cells, copies, pieces_count
        masks, self._kinds, self._copies_used, self._options_of = choices
        self._all_cells = (1 << cells) - 1
        #: An option's cells, and the bit of its kind.
        pairs = zip(masks, self._kinds, strict=True)
        self._masks = [mask | 1 << (cells + kind) for mask, kind in pairs]
        #: Where every piece is used and has no copy, blocked kinds say all: nothing is counted.
        self._counts = max(copies, default=0) > 1 or pieces_count is not None

    def count(
        self,
        items: Sequence[int],
        path: str,
        on_progress: Callable[[int], None] = lambda read: None,
        at_root: Mapping[int, int] | None = None,
    ) -> int:
        """Replay a transcript and return the number of solutions.

        Args:
            items: the items branched on, in preorder.
            path: the transcript's path in the certificate, for messages.
            on_progress: called now and then with the number of items read.
            at_root: the options allowed at the root, with their multiplicities; None for all, with
                multiplicity 1.

        Raises:
            ProofError: if the transcript breaks a rule, ends early, or is too long.
        """
        todo = sum(self._copies) if self._pieces_count is None else self._pieces_count
        root = _State(0, todo, self._copies, (0,) * len(self._copies), 1)
        # A stack of open branches, so that a deep tree needs no deep recursion; each yields its
        # states one by one, so that a wide tree needs no memory.
        waiting: list[Iterator[_State]] = [iter((root,))]
        solutions = read = 0
        while waiting:
            state = next(waiting[-1], None)
            if state is None:
                waiting.pop()
                continue
            covered = state.blocked & self._all_cells == self._all_cells
            if covered and (not state.todo or self._pieces_count is not None):
                solutions += 0 if state.todo else state.weight
                continue
            if read == len(items):
                raise ProofError(f"{path}: the transcript ends while a branch is open")
            item = items[read]
            self._refuse_item(item, state, f"{path}[{read}]")
            waiting.append(self._all_below(state, item, at_root if read == 0 else None))
            read += 1
            if read % _PACE == 0:
                on_progress(read)
        if read < len(items):
            raise ProofError(f"{path}[{read}]: extra items after the complete tree")
        on_progress(read)
        return solutions

    def _refuse_item(self, item: int, state: _State, path: str) -> None:
        """Refuse an item that cannot be branched on, or proves nothing."""
        cells, last = self._cells, self._cells + len(self._copies) - 1
        is_cell = item < cells
        if item > last:
            items = f"cells are 0 to {cells - 1}, kinds {cells} to {last}"
            raise ProofError(f"{path}: there is no item {quote(item)}; {items}")
        if not is_cell and self._pieces_count is not None:
            raise ProofError(f"{path}: branches on kind {item}, which need not be used")
        if state.blocked >> item & 1:
            why = f"cell {item} is already covered" if is_cell else f"kind {item} has no copy left"
            raise ProofError(f"{path}: {why}")

    def _choices(self, item: int, state: _State) -> list[int]:
        """Return the options at an item that still fit, in order."""
        masks, blocked = self._masks, state.blocked
        fitting = [number for number in self._options_of(item) if not masks[number] & blocked]
        if not self._counts:
            return fitting
        return [
            number
            for number in fitting
            if number >= state.floors[kind := self._kinds[number]]
            and self._copies_used[number] <= min(state.left[kind], state.todo)
        ]

    def _all_below(
        self, state: _State, item: int, weights: Mapping[int, int] | None
    ) -> Iterator[_State]:
        """Yield the states below an item; with weights, only for options that have one."""
        for number in self._choices(item, state):
            below = self._below(state, item, number)
            if weights is None:
                yield below
            elif number in weights:
                yield below._replace(weight=weights[number])

    def _below(self, state: _State, item: int, number: int) -> _State:
        """Return the state after choosing an option at an item."""
        if not self._counts:
            blocked = state.blocked | self._masks[number]
            return _State(blocked, state.todo - 1, state.left, state.floors, state.weight)
        kind, used = self._kinds[number], self._copies_used[number]
        left, floors = state.left, state.floors
        copies = left[kind] - used
        # The kind's bit is set once its last copy is placed.
        mask = self._masks[number] if not copies else self._masks[number] & self._all_cells
        left = (*left[:kind], copies, *left[kind + 1 :])
        if item >= self._cells:  # copies are chosen in increasing order, to count each set once
            floors = (*floors[:kind], number + 1, *floors[kind + 1 :])
        return _State(state.blocked | mask, state.todo - used, left, floors, state.weight)


def check_area(cover: CoverProblem) -> None:
    """Check the argument that the pieces cannot have the region's area.

    Raises:
        ProofError: if they can.
    """
    if _is_attainable(_values(cover, [1] * cover.cells), cover.cells, cover.pieces_count):
        raise ProofError(f"argument: the pieces can cover {cover.cells} cells, as many as remain")


def check_colouring(cover: CoverProblem, weights: Sequence[int]) -> None:
    """Check the argument that the pieces cannot cover the region's weight.

    Raises:
        InputError: if there are too many or too few weights.
        ProofError: if the pieces can.
    """
    path, total = "argument.weights", sum(weights)
    if len(weights) != cover.cells:
        message = f"has {len(weights)} weights; expected {cover.cells}, one for each cell"
        raise InputError.of("", message, path)
    if _is_attainable(_values(cover, weights), total, cover.pieces_count):
        raise ProofError(f"{path}: the pieces can cover the weight {total} of the region")


def _values(cover: CoverProblem, weights: Sequence[int]) -> list[tuple[set[int], int]]:
    """Return for each kind the weights that one copy can cover, and the number of copies."""
    values: list[set[int]] = [set() for _ in cover.kinds]
    for option in cover.options:
        values[option.kind].add(sum(weights[cell] for cell in option.cells))
    return list(zip(values, cover.copies, strict=True))


def _is_attainable(
    summands: Sequence[tuple[set[int], int]], total: int, pieces_count: int | None
) -> bool:
    """Return whether a total is the sum of one value for each copy of each kind.

    With `pieces_count`, any selection of that many copies is used; else all.
    """
    selected = sum(copies for _, copies in summands) if pieces_count is None else pieces_count
    low = min((value for values, _ in summands for value in values), default=0)
    # By number of copies used: the sums of values, each minus the lowest, as bits.
    sums = {0: 1}
    for values, copies in summands:
        for _ in range(copies):
            more = {} if pieces_count is None else dict(sums)
            for used, bits in sums.items():
                for value in values if used < selected else ():
                    more[used + 1] = more.get(used + 1, 0) | bits << (value - low)
            sums = more
    above = total - selected * low
    return above >= 0 and bool(sums.get(selected, 0) >> above & 1)
