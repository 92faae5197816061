"""The exact cover problem that a certificate speaks of, derived from its outlines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import factorial, prod

import numpy as np
from numpy.typing import NDArray

from fabkit.certify.document import Problem
from fabkit.certify.outline import Images, cells_inside, images_of
from fabkit.certify.tiling import TILINGS, Keys, RefusedError, Tiling
from fabkit.core.errors import InputError, shown

#: Bounds on options, on the cells in them, and on looks at cells while they are found.
MAX_OPTIONS = 200_000
MAX_CELLS_IN_OPTIONS = 5_000_000
MAX_LOOKS = 1_000_000_000

Permutation = tuple[int, ...]


#: The ids of pieces that can do the same, with their images.
Kind = tuple[tuple[str, ...], Images]


@dataclass(frozen=True)
class Option:
    """What a choice covers: one placement, or several that a symmetry carries round.

    Attributes:
        kind: the number of the kind, from 0.
        cells: the numbers of the cells, sorted.
        copies: how many pieces lie there.
    """

    kind: int
    cells: tuple[int, ...]
    copies: int = 1


@dataclass(frozen=True)
class Cover:
    """The remaining region, the remaining pieces, and every way to lay one into it.

    Attributes:
        cells: how many cells remain.
        kinds: the ids of the remaining pieces, those that can do the same together.
        options: sorted by kind, then cells.
        group: the symmetries of the remaining region, sorted, the identity first; each permutes
            the cells, then the kinds.
        leftover: whether cells may stay uncovered.
        pieces_count: how many of the remaining pieces are used; None for all.
    """

    cells: int
    kinds: tuple[tuple[str, ...], ...]
    options: tuple[Option, ...]
    group: tuple[Permutation, ...]
    leftover: bool
    pieces_count: int | None = None

    @property
    def copies(self) -> tuple[int, ...]:
        """How many pieces there are of each kind."""
        return tuple(map(len, self.kinds))

    def labelled(self, count: int) -> int | None:
        """How many of so many solutions there are with identical pieces told apart, if it follows."""
        if count and self.pieces_count is not None and max(self.copies, default=0) > 1:
            return None
        return count * prod(factorial(copies) for copies in self.copies)

    def images(self, permutation: Permutation) -> list[int]:
        """For each option the number of the option that a symmetry makes of it.

        Raises:
            RefusedError: when there is none: then it is no symmetry.
        """
        images = []
        for option in self.options:
            cells = tuple(sorted(permutation[cell] for cell in option.cells))
            kind = permutation[self.cells + option.kind] - self.cells
            number = self._numbers.get((kind, cells))
            if number is None:
                raise RefusedError("a symmetry of the region does not carry options to options")
            images.append(number)
        return images

    @cached_property
    def _numbers(self) -> dict[tuple[int, tuple[int, ...]], int]:
        return {(option.kind, option.cells): i for i, option in enumerate(self.options)}

    def orbits(self, images: Sequence[Sequence[int]]) -> list[frozenset[int]]:
        """The options that symmetries carry into each other, each orbit once.

        Returns:
            Sets of option numbers, by their least.
        """
        orbits, seen = [], set[int]()
        for start in range(len(self.options)):
            if start in seen:
                continue
            orbit, waiting = {start}, [start]
            while waiting:
                here = waiting.pop()
                new = {image[here] for image in images} - orbit
                orbit |= new
                waiting += new
            seen |= orbit
            orbits.append(frozenset(orbit))
        return orbits


def derive(problem: Problem) -> Cover:
    """The cells, kinds, options and symmetries that remain once the given pieces lie.

    Raises:
        InputError: when an outline is not drawn along the lattice, or all is too large.
        RefusedError: when a given piece does not lie as it must.
    """
    tiling = TILINGS[problem.lattice]
    region = cells_inside(tiling, problem.region, "problem.region")
    images = {
        piece.id: images_of(tiling, piece, problem.flips, f"problem.pieces[{i}]")
        for i, piece in enumerate(problem.pieces)
    }
    remaining = region[~np.isin(region, _taken(problem, tiling, region, images))]
    numbers = numbers_of(tiling, remaining)
    lying = {given.piece for given in problem.given}
    kinds = kinds_of({one: images[one] for one in images if one not in lying})
    some = problem.pieces_count
    return Cover(
        cells=len(remaining),
        kinds=tuple(pieces for pieces, _ in kinds),
        options=tuple(options_in(tiling, remaining, numbers, kinds, "problem")),
        group=_group(tiling, remaining, numbers, problem.flips, kinds),
        leftover=problem.leftover,
        pieces_count=None if some is None else some - len(problem.given),
    )


def _taken(problem: Problem, tiling: Tiling, region: Keys, images: dict[str, Images]) -> Keys:
    """The cells of the given pieces."""
    lying: list[tuple[str, Keys]] = []
    for index, given in enumerate(problem.given):
        place = f"given[{index}]"
        keys = cells_inside(tiling, given.outline, f"problem.{place}.outline")
        if tiling.to_origin(keys).tobytes() not in images[given.piece]:
            raise RefusedError(f"{place} is not piece {shown(given.piece)} as it may be moved")
        if not np.isin(keys, region).all():
            raise RefusedError(f"{place} lies partly outside the region")
        for before, (piece, others) in enumerate(lying):
            if piece == given.piece:
                raise RefusedError(f"{place} is piece {shown(piece)} again, as given[{before}] is")
            if np.isin(keys, others).any():
                raise RefusedError(f"given[{before}] overlaps {place}")
        lying.append((given.piece, keys))
    return np.concatenate([np.empty(0, dtype=np.int64), *(keys for _, keys in lying)])


def numbers_of(tiling: Tiling, remaining: Keys) -> NDArray[np.int64]:
    """The numbers of cells sorted by key: by x, then y, of the centroid in frame points."""
    x, y = tiling.frame(tiling.centroids(remaining)).T
    numbers = np.empty(len(remaining), dtype=np.int64)
    numbers[np.lexsort((y, x))] = np.arange(len(remaining))
    return numbers


def kinds_of(images: dict[str, Images]) -> list[Kind]:
    """Pieces with the same images are one kind; in order of their first pieces."""
    alike: dict[frozenset[bytes], list[str]] = {}
    for piece, its_images in images.items():
        alike.setdefault(frozenset(its_images), []).append(piece)
    return [(tuple(pieces), images[pieces[0]]) for pieces in alike.values()]


def options_in(
    tiling: Tiling, remaining: Keys, numbers: NDArray[np.int64], kinds: Sequence[Kind], key: str
) -> Iterator[Option]:
    """Every option among cells that are sorted by key, in order: by kind, then cells.

    Raises:
        InputError: when there are too many.
    """
    looks = options = cells = 0
    for kind, (_, images) in enumerate(kinds):
        found: list[tuple[int, ...]] = []
        for image in images.values():
            looks += len(image) * len(remaining)
            if looks > MAX_LOOKS:
                raise InputError.of("", "is too large to be checked", key)
            shifts = _shifts(tiling, remaining, image)
            options, cells = options + len(shifts), cells + len(shifts) * len(image)
            if options > MAX_OPTIONS or cells > MAX_CELLS_IN_OPTIONS:
                most = f"more than {MAX_OPTIONS} options, or {MAX_CELLS_IN_OPTIONS} cells in them"
                raise InputError.of("", f"is too large to be checked: {most}", key)
            places = np.searchsorted(remaining, shifts[:, None] + image[None, :])
            found.extend(map(tuple, np.sort(numbers[places], axis=1).tolist()))
        yield from (Option(kind, one) for one in sorted(found))


def _shifts(tiling: Tiling, remaining: Keys, image: Keys) -> Keys:
    """The translations, as numbers added to keys, that carry an image into the region."""
    shifts: Keys = remaining - image[0]
    shifts = shifts[shifts % len(tiling.cells) == 0]
    for key in image:
        shifts = shifts[np.isin(shifts + key, remaining)]
    return shifts


def _group(
    tiling: Tiling,
    remaining: Keys,
    numbers: NDArray[np.int64],
    flips: bool,
    kinds: Sequence[Kind],
) -> tuple[Permutation, ...]:
    """The moves that, with a translation after, carry the remaining region to itself."""
    same = tuple(range(len(remaining), len(remaining) + len(kinds)))
    if not len(remaining):
        return (same,)
    mirror = same if flips else _twins(tiling, kinds, len(remaining))
    found = set()
    for turn, flip in tiling.moves(flips or mirror != same):
        image = tiling.carried(remaining, turn, flip)
        # Only this can be the translation: what carries the least cell to the least cell.
        shift = remaining[0] - image.min()
        image += shift
        if shift % len(tiling.cells) == 0 and (np.sort(image) == remaining).all():
            permutation = np.empty_like(numbers)
            permutation[numbers] = numbers[np.searchsorted(remaining, image)]
            found.add((*permutation.tolist(), *(mirror if flip else same)))
    return tuple(sorted(found))


def _twins(tiling: Tiling, kinds: Sequence[Kind], cells: int) -> tuple[int, ...]:
    """The kinds of the pieces' mirror images, numbered after the cells.

    Where the pieces do not hold them all, as often as the pieces, each kind is its own: pieces
    that may not be turned over then have no mirrors.
    """
    number = {frozenset(images): index for index, (_, images) in enumerate(kinds)}
    twins = []
    for pieces, images in kinds:
        mirrored = (tiling.to_origin(tiling.carried(one, 0, True)) for one in images.values())
        twin = number.get(frozenset(image.tobytes() for image in mirrored))
        if twin is None or len(kinds[twin][0]) != len(pieces):
            return tuple(range(cells, cells + len(kinds)))
        twins.append(cells + twin)
    return tuple(twins)
