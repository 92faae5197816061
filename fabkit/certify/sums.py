"""Arguments that need no search: what the pieces can add up to is not what the region has."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from fabkit.certify.cover import Cover
from fabkit.certify.refusal import RefusedError
from fabkit.core.errors import InputError

#: Sums are bits of one large number; this many may be shifted in all.
MAX_BITS_SHIFTED = 20_000_000_000


def follow_area(cover: Cover) -> None:
    """Follows the argument that the pieces cannot have the region's area.

    Raises:
        RefusedError: when they can.
    """
    sizes = [(kind.sizes, len(kind.pieces)) for kind in cover.kinds]
    least = sum(min(of_kind) * copies for of_kind, copies in sizes)
    if cover.leftover:
        if least <= cover.cells:
            raise RefusedError(f"argument: the pieces need only {least} of {cover.cells} cells")
    elif _attained(sizes, cover.cells):
        raise RefusedError(f"argument: the pieces can cover {cover.cells} cells, as many as remain")


def follow_colouring(cover: Cover, weights: Sequence[int]) -> None:
    """Follows the argument that the pieces cannot cover the region's weight.

    Args:
        cover: the problem.
        weights: one for each remaining cell.

    Raises:
        InputError: when there are too many or too few weights.
        RefusedError: when the pieces can, or cells may stay uncovered.
    """
    place = "argument.weights"
    if len(weights) != cover.cells:
        message = f"has {len(weights)} weights; expected {cover.cells}, one for each cell"
        raise InputError.of("", message, place)
    if cover.leftover:
        raise RefusedError("argument: a colouring shows nothing where cells may stay uncovered")
    values: dict[int, set[int]] = defaultdict(set)
    for option in cover.options:
        values[option.kind].add(sum(weights[cell] for cell in option.cells))
    totals = [(frozenset(values[kind]), copies) for kind, copies in enumerate(cover.copies)]
    if _attained(totals, sum(weights)):
        raise RefusedError(f"{place}: the pieces can cover the weight {sum(weights)} of the region")


def _attained(summands: Iterable[tuple[frozenset[int], int]], total: int) -> bool:
    """Whether a total is a sum that takes one of the values for each copy of each kind.

    Args:
        summands: for each kind its values, and the number of copies.
        total: what they are to add up to.
    """
    sums, shifted, work = 1, 0, 0  # bit b of sums: shifted + b is attained
    for values, copies in summands:
        if not values:
            return False
        for _ in range(copies):
            work += len(values) * (sums.bit_length() + max(values) - min(values))
            if work > MAX_BITS_SHIFTED:
                raise InputError.of("", "adds up too many values to be followed", "argument")
            more = 0
            for value in values:
                more |= sums << (value - min(values))
            sums, shifted = more, shifted + min(values)
    return total >= shifted and bool(sums >> (total - shifted) & 1)
