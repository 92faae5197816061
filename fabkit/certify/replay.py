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
    """The options in order, as parallel sequences.

    Attributes:
        masks: the cells covered, as bits.
        kinds: the number of the kind.
        copies_used: the number of copies used.
        options_of: returns the ascending numbers of the options at an item; called often.
    """

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
        self._cells, self._copies = cells, copies
        self._pieces_count = pieces_count
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
        place: str,
        on_progress: Callable[[int], None] = lambda read: None,
        at_root: Mapping[int, int] | None = None,
    ) -> int:
        """Replay a transcript and return the number of solutions.

        Args:
            items: the items branched on, in preorder.
            place: the transcript's place in the certificate, for messages.
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
            if self._is_leaf(state):
                solutions += 0 if state.todo else state.weight
                continue
            if read == len(items):
                raise ProofError(f"{place}: the transcript ends while a branch is open")
            item = items[read]
            self._refuse_item(item, state, f"{place}[{read}]")
            weights = at_root if read == 0 else None
            waiting.append(self._all_below(state, item, weights))
            read += 1
            if read % _PACE == 0:
                on_progress(read)
        if read < len(items):
            raise ProofError(f"{place}[{read}]: extra items after the complete tree")
        on_progress(read)
        return solutions

    def _is_leaf(self, state: _State) -> bool:
        """Return whether nothing is left to do, or to cover if pieces need not be used."""
        covered = state.blocked & self._all_cells == self._all_cells
        if state.todo:
            return covered and self._pieces_count is not None
        return covered

    def _refuse_item(self, item: int, state: _State, place: str) -> None:
        """Refuse an item that cannot be branched on, or proves nothing."""
        cells, last = self._cells, self._cells + len(self._copies) - 1
        is_cell = item < cells
        why = ""
        if item > last:
            known = f"cells are 0 to {cells - 1}, kinds {cells} to {last}"
            raise ProofError(f"{place}: there is no item {quote(item)}; {known}")
        if not is_cell and self._pieces_count is not None:
            why = f"branches on kind {item}, which need not be used"
        elif state.blocked >> item & 1:
            why = f"cell {item} is already covered" if is_cell else f"kind {item} has no copy left"
        if why:
            raise ProofError(f"{place}: {why}")

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
        kind = self._kinds[number]
        left = state.left
        floors = state.floors
        copies = left[kind] - self._copies_used[number]
        # The kind's bit is set once its last copy is placed.
        mask = self._masks[number] if not copies else self._masks[number] & self._all_cells
        left = (*left[:kind], copies, *left[kind + 1 :])
        if item >= self._cells:  # copies are chosen in increasing order, to count each set once
            floors = (*floors[:kind], number + 1, *floors[kind + 1 :])
        blocked = state.blocked | mask
        return _State(blocked, state.todo - self._copies_used[number], left, floors, state.weight)


def check_area(cover: CoverProblem) -> None:
    """Check the argument that the pieces cannot have the region's area.

    Raises:
        ProofError: if they can.
    """
    values = _values(cover, [1] * cover.cells)
    if _is_attainable(values, cover.cells, cover.pieces_count):
        raise ProofError(f"argument: the pieces can cover {cover.cells} cells, as many as remain")


def check_colouring(cover: CoverProblem, weights: Sequence[int]) -> None:
    """Check the argument that the pieces cannot cover the region's weight.

    Raises:
        InputError: if there are too many or too few weights.
        ProofError: if the pieces can.
    """
    place = "argument.weights"
    if len(weights) != cover.cells:
        message = f"has {len(weights)} weights; expected {cover.cells}, one for each cell"
        raise InputError.of("", message, place)
    if _is_attainable(_values(cover, weights), sum(weights), cover.pieces_count):
        raise ProofError(f"{place}: the pieces can cover the weight {sum(weights)} of the region")


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
    rest = total - selected * low
    return rest >= 0 and bool(sums.get(selected, 0) >> rest & 1)
