"""The exact cover problem of a certificate, derived from its outlines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from math import factorial, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabkit.certify.clues import Permission, Traits, looks_of, mirrored, place_clues
from fabkit.certify.document import MAX_SYMMETRIES, ProblemStatement
from fabkit.certify.outline import Orientations, cells_inside
from fabkit.certify.tiling import TILINGS, TOLERANCE, Keys, ProofError, Tiling
from fabkit.core.errors import InputError, quote

#: Limits on options, on the cells in them, and on cell tests while they are found.
MAX_OPTIONS = 200_000
MAX_CELLS_IN_OPTIONS = 5_000_000
MAX_CELL_TESTS = 1_000_000_000

#: Limit on the images of options under all symmetries that are counted up to.
MAX_IMAGES = 5_000_000
#: The symmetries of a single box are never too many.
_FEW_SYMMETRIES = 12

Permutation = tuple[int, ...]


#: The ids of identical pieces, with their orientations.
Kind = tuple[tuple[str, ...], Orientations]
#: Returns the translations of a kind's orientation that are allowed, of those inside the region.
Allowed = Callable[[int, Keys, Keys], Keys]


@dataclass(frozen=True)
class Option:
    """One placement, or an orbit of several under a symmetry: the number of the kind, from 0, the
    sorted numbers of the cells, and the number of pieces."""

    kind: int
    cells: tuple[int, ...]
    copies: int = 1


@dataclass(frozen=True)
class CoverProblem:
    """The region and the pieces without the given ones, and all placements.

    Attributes:
        cells: how many there are, as of `pieces_count` and `open`.
        kinds: the ids of the pieces, identical ones together.
        options: sorted by kind, then cells.
        group: the symmetries of the region, sorted, the identity first; each permutes the cells,
            then the kinds.
        pieces_count: the pieces used; None for all.
        open: the cells that stay open; a last kind without names stands for them.
        is_whole_group: whether `group` has all symmetries; else only those of the whole region.
    """

    cells: int
    kinds: tuple[tuple[str, ...], ...]
    options: tuple[Option, ...]
    group: tuple[Permutation, ...]
    pieces_count: int | None = None
    open: int = 0
    is_whole_group: bool = True

    @property
    def copies(self) -> tuple[int, ...]:
        """The number of pieces of each kind, or of cells that stay open."""
        return tuple(len(pieces) or self.open for pieces in self.kinds)

    def labelled(self, count: int) -> int | None:
        """Convert a count of solutions to one with identical pieces distinguished, if it can be."""
        if count and self.pieces_count is not None and max(self.copies, default=0) > 1:
            return None
        return count * prod(factorial(len(pieces)) for pieces in self.kinds)

    def images(self, permutation: Permutation) -> list[int]:
        """Return the number of every option's image under a symmetry.

        Raises:
            ProofError: if the image is not an option, so that it is not a symmetry.
        """
        images = []
        for option in self.options:
            cells = tuple(sorted(permutation[cell] for cell in option.cells))
            kind = permutation[self.cells + option.kind] - self.cells
            number = self._numbers.get((kind, cells))
            if number is None:
                raise ProofError("a symmetry of the region does not map options to options")
            images.append(number)
        return images

    @cached_property
    def _numbers(self) -> dict[tuple[int, tuple[int, ...]], int]:
        return {(option.kind, option.cells): i for i, option in enumerate(self.options)}

    def with_kept_symmetries(self) -> CoverProblem:
        """Return the problem with only those symmetries that map options to options."""
        kept = []
        for permutation in self.group:
            with suppress(ProofError):
                self.images(permutation)
                kept.append(permutation)
        return replace(self, group=tuple(kept))

    def orbits(self, images: Sequence[Sequence[int]]) -> list[frozenset[int]]:
        """Return the orbits of options under symmetries, as sets of option numbers."""
        orbits = []
        seen = set[int]()
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


def derive_problem(problem: ProblemStatement) -> CoverProblem:
    """Derive the cover problem that remains once the given pieces are placed.

    The cells of a given piece that contradicts a clue remain, and nothing covers them.

    Raises:
        InputError: if an outline is not on the lattice, or the problem is too large.
        ProofError: if a given piece is not placed correctly.
    """
    tiling = TILINGS[problem.lattice]
    region = cells_inside(tiling, problem.region, "problem.region")
    clues = place_clues(tiling, problem.clues, region)
    images, permissions = {}, {}
    for index, piece in enumerate(problem.pieces):
        looks = looks_of(tiling, piece, problem.flips, f"problem.pieces[{index}]")
        names = sorted({orientation for orientation, _ in looks})
        images[piece.id] = {name: np.frombuffer(name, dtype=np.int64) for name in names}
        permissions[piece.id] = Permission(piece, looks, clues)
    given, bare = _given_cells(problem, tiling, region, images, permissions)
    remaining = region[~np.isin(region, given) | np.isin(region, bare)]
    numbers = number_cells(tiling, remaining)
    is_free = ~np.isin(remaining, bare)
    for piece_id in {given.piece for given in problem.given}:
        del images[piece_id], permissions[piece_id]
    kinds = group_identical(images, permissions)

    def allowed(kind: int, image: Keys, shifts: Keys) -> Keys:
        return permissions[kinds[kind][0][0]].allowed(image, shifts)

    free_cells = remaining[is_free], numbers[is_free]
    options = tuple(enumerate_options(tiling, *free_cells, kinds, "problem", allowed))
    kind_names = [pieces for pieces, _ in kinds]
    traits = [permissions[pieces[0]].traits for pieces in kind_names]
    if problem.open:
        with_clues = np.concatenate([np.empty(0, dtype=np.int64), *(keys for keys, _ in clues)])
        may_be_open = numbers[is_free & ~np.isin(remaining, with_clues)]
        options += tuple(Option(len(kinds), (cell,)) for cell in sorted(may_be_open.tolist()))
        kind_names.append(())
        traits.append((frozenset(), "", ""))
    pieces_count = problem.pieces_count
    cover = CoverProblem(
        cells=len(remaining),
        kinds=tuple(kind_names),
        options=options,
        group=(),
        pieces_count=None if pieces_count is None else pieces_count - len(problem.given),
        open=problem.open,
    )
    boxes = _boxes(tiling, region, remaining)
    same = tuple(range(cover.cells, cover.cells + len(traits)))
    mirror = same if problem.flips else _mirror_kinds(tiling, traits, kind_names, cover.cells)
    limit = max(_FEW_SYMMETRIES, min(MAX_SYMMETRIES, MAX_IMAGES // max(1, len(options))))
    for parts in (boxes, [remaining] if len(remaining) else []):
        group = _symmetry_group(tiling, parts, remaining, numbers, problem.flips, (same, mirror))
        if len(group) <= limit:
            break
    cover = replace(cover, group=group, is_whole_group=parts is boxes)
    return cover.with_kept_symmetries() if problem.clues or len(boxes) > 1 else cover


def _given_cells(
    problem: ProblemStatement,
    tiling: Tiling,
    region: Keys,
    images: dict[str, Orientations],
    permissions: dict[str, Permission],
) -> tuple[Keys, Keys]:
    """Return the cells of the given pieces, and of those among them that contradict a clue."""
    earlier: list[tuple[str, Keys]] = []
    contradicting = [np.empty(0, dtype=np.int64)]
    for index, given in enumerate(problem.given):
        path = f"given[{index}]"
        keys = cells_inside(tiling, given.outline, f"problem.{path}.outline")
        image = tiling.to_origin(keys)
        if image.tobytes() not in images[given.piece]:
            raise ProofError(f"{path} is not an allowed orientation of piece {quote(given.piece)}")
        if not np.isin(keys, region).all():
            raise ProofError(f"{path} lies partly outside the region")
        if not len(permissions[given.piece].allowed(image, keys[:1] - image[:1])):
            contradicting.append(keys)
        for before, (piece, others) in enumerate(earlier):
            if piece == given.piece:
                raise ProofError(f"{path} repeats piece {quote(piece)} of given[{before}]")
            if np.isin(keys, others).any():
                raise ProofError(f"given[{before}] overlaps {path}")
        earlier.append((given.piece, keys))
    given_keys = [np.empty(0, dtype=np.int64), *(keys for _, keys in earlier)]
    return np.concatenate(given_keys), np.concatenate(contradicting)


def number_cells(tiling: Tiling, remaining: Keys) -> NDArray[np.int64]:
    """Number cells (sorted by key) by x, then y, of the centroid in frame points."""
    x, y = tiling.to_frame(tiling.centroids(remaining)).T
    numbers = np.empty(len(remaining), dtype=np.int64)
    numbers[np.lexsort((y, x))] = np.arange(len(remaining))
    return numbers


def group_identical(
    images: dict[str, Orientations], permissions: dict[str, Permission] | None = None
) -> list[Kind]:
    """Group pieces with the same orientations into kinds, in order of their first pieces.

    With permissions, those that differ in marks, or in what clues name, differ.
    """
    alike: dict[Any, list[str]] = {}
    for piece, its_images in images.items():
        traits = permissions[piece].traits if permissions else None
        alike.setdefault((frozenset(its_images), traits), []).append(piece)
    return [(tuple(pieces), images[pieces[0]]) for pieces in alike.values()]


def enumerate_options(
    tiling: Tiling,
    remaining: Keys,
    numbers: NDArray[np.int64],
    kinds: Sequence[Kind],
    key: str,
    allowed: Allowed = lambda kind, image, shifts: shifts,
) -> Iterator[Option]:
    """Yield every option on cells sorted by key, in order of kind, then cells.

    Raises:
        InputError: if there are too many.
    """
    tests = options = cells = 0
    for kind, (_, images) in enumerate(kinds):
        covers: list[tuple[int, ...]] = []
        for image in images.values():
            tests += len(image) * len(remaining)
            if tests > MAX_CELL_TESTS:
                raise InputError.of("", "is too large to check", key)
            shifts = allowed(kind, image, _shifts(tiling, remaining, image))
            options += len(shifts)
            cells += len(shifts) * len(image)
            if options > MAX_OPTIONS or cells > MAX_CELLS_IN_OPTIONS:
                size = f"more than {MAX_OPTIONS} options, or {MAX_CELLS_IN_OPTIONS} cells in them"
                raise InputError.of("", f"is too large to check: {size}", key)
            indices = np.searchsorted(remaining, shifts[:, None] + image)
            covers.extend(map(tuple, np.sort(numbers[indices], axis=1).tolist()))
        yield from (Option(kind, cover) for cover in sorted(covers))


def _shifts(tiling: Tiling, remaining: Keys, image: Keys) -> Keys:
    """Return the translations, as key offsets, that move an orientation into the region."""
    shifts: Keys = remaining - image[0]
    shifts = shifts[shifts % len(tiling.cells) == 0]
    for key in image:
        shifts = shifts[np.isin(shifts + key, remaining)]
    return shifts


def _symmetry_group(
    tiling: Tiling,
    boxes: Sequence[Keys],
    remaining: Keys,
    numbers: NDArray[np.int64],
    flips: bool,
    kind_images: tuple[Permutation, Permutation],
) -> tuple[Permutation, ...]:
    """Return the permutations that move each box onto a box, of the same shape, by an allowed move.

    The images of the kinds are those under rotations, and under reflections; if they differ, a
    reflection reflects all boxes. No more are returned than one above `MAX_SYMMETRIES`.
    """
    same, mirror = kind_images
    permutations = set()
    number_of = dict(zip(remaining.tolist(), numbers.tolist(), strict=True))
    for reflected in (False, True) if mirror != same and boxes else (False,):
        moves = [move for move in tiling.moves(flips or reflected) if flips or move[1] == reflected]
        # Partial permutations, grown box by box: the boxes that are taken, and the cells' images.
        states: list[tuple[frozenset[int], dict[int, int]]] = [(frozenset(), {})]
        for box in boxes:
            grown = []
            for target, others in enumerate(boxes):
                images = {
                    tuple(image.tolist())
                    for turn, flip in moves
                    if (image := _moved_onto(tiling, box, others, turn, flip)) is not None
                }
                for taken, moved in states if images else ():
                    if target not in taken:
                        for keys in images:
                            pairs = zip(box.tolist(), keys, strict=True)
                            more = {number_of[key]: number_of[to] for key, to in pairs}
                            grown.append((taken | {target}, moved | more))
            states = grown[: MAX_SYMMETRIES + 1]
        moved_kinds = mirror if reflected else same
        permutations |= {
            (*(moved[index] for index in range(len(remaining))), *moved_kinds)
            for _, moved in states
        }
    return tuple(sorted(permutations))


def _moved_onto(tiling: Tiling, box: Keys, target: Keys, turn: int, flip: bool) -> Keys | None:
    """Return the keys of a box moved onto another of the same shape; None if it has another."""
    image = tiling.transform(box, turn, flip)
    # The translation must map the first cell to the first cell.
    shift = target.min() - image.min()
    image = image + shift
    fits = len(box) == len(target) and shift % len(tiling.cells) == 0
    return image if fits and (np.sort(image) == np.sort(target)).all() else None


def _boxes(tiling: Tiling, region: Keys, remaining: Keys) -> list[Keys]:
    """Return the remaining cells of each part of the region that touches no other part."""
    corners = [
        {(round(x / TOLERANCE), round(y / TOLERANCE)) for x, y in cell}
        for cell in tiling.corners(region).tolist()
    ]
    owner: dict[tuple[int, int], int] = {}
    label = list(range(len(region)))
    for index, points in enumerate(corners):
        touched = {label[owner[point]] for point in points if point in owner}
        label = [index if old in touched else old for old in label]
        owner |= dict.fromkeys(points, index)
    parts = [region[np.array(label) == number] for number in dict.fromkeys(label)]
    return [box for part in parts if len(box := remaining[np.isin(remaining, part)])]


def _mirror_kinds(
    tiling: Tiling, traits: Sequence[Traits], names: Sequence[tuple[str, ...]], cells: int
) -> tuple[int, ...]:
    """Return the kinds of the pieces' mirror images, marks included, as items.

    If the mirror image of a kind is missing, or has another number of copies, each kind is its own:
    there are then no reflections.
    """
    number = {kind_traits: index for index, kind_traits in enumerate(traits)}
    twins = []
    for pieces, (looks, colour, piece_id) in zip(names, traits, strict=True):
        flipped = frozenset(mirrored(tiling, look) for look in looks)
        twin = number.get((flipped, colour, piece_id))
        if twin is None or len(names[twin]) != len(pieces):
            return tuple(range(cells, cells + len(traits)))
        twins.append(cells + twin)
    return tuple(twins)
