"""Verify a certificate, or a file of impossible shapes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fabkit.certify.board import Board
from fabkit.certify.cover import CoverProblem, Option, derive_problem
from fabkit.certify.document import (
    AreaArgument,
    Certificate,
    ColouringArgument,
    CountClaim,
    ImpossibleShapes,
    Proofs,
    ShapeProof,
    TranscriptArgument,
)
from fabkit.certify.labels import compare_labels
from fabkit.certify.replay import OptionTable, Replay, check_area, check_colouring, root_kind
from fabkit.certify.tiling import TILINGS, ProofError
from fabkit.core.errors import InputError, pluralize, quote
from fabkit.core.hashes import json_sha256
from fabkit.core.progress import Progress, no_progress

#: The options allowed at the root, with their multiplicities; None for all, with multiplicity 1.
Weights = Mapping[int, int] | None


@dataclass(frozen=True)
class Verdict:
    """The result of verifying a file; `reason` says why it is refused.

    Attributes:
        holds: whether every claim of the file is proved.
        nodes: number of branchings replayed.
        compared: whether its contents were compared with the set or challenge it names.
        not_compared: why not; empty if they were compared and are equal.
        shapes: number of shapes proved, in a file of shapes.
    """

    holds: bool
    reason: str | None = None
    nodes: int = 0
    compared: bool = False
    not_compared: str = ""
    shapes: int = 0


def verify(file: Proofs, set_name: str | None = None, progress: Progress = no_progress) -> Verdict:
    """Verify a file, and that it is about the challenge it names, in the set `set_name`.

    `progress` is called with the share done, which never decreases. A file about another set or
    challenge is refused at once.

    Raises:
        InputError: as in `verify_content`, or if there is no such set.
    """
    try:
        not_compared = compare_labels(file, set_name)
    except ProofError as refusal:
        return Verdict(False, str(refusal), compared=True)
    return replace(
        verify_content(file, progress), compared=not not_compared, not_compared=not_compared
    )


def verify_content(file: Proofs, progress: Progress = no_progress) -> Verdict:
    """Verify the contents of a file, deriving everything again; `verify` also compares labels.

    Raises:
        InputError: if an outline is not on its lattice, numbers do not fit the problem in kind or
            count, or the problem is too large.
    """
    counter = _TranscriptCounter(file, progress)
    try:
        if isinstance(file, ImpossibleShapes):
            _check_shapes(file, counter)
        else:
            _check_certificate(file, counter)
    except ProofError as refusal:
        return Verdict(False, str(refusal), counter.nodes, shapes=counter.shapes)
    except InputError as error:  # add the file's name
        raise InputError(file.source, error.errors) from None
    progress(1.0, "")
    return Verdict(True, None, counter.nodes, shapes=counter.shapes)


class _TranscriptCounter:
    """Counts the items read over all transcripts, and reports progress."""

    def __init__(self, file: Proofs, progress: Progress) -> None:
        self.nodes = self.shapes = self._before = self._begun = 0
        self._progress = progress
        transcripts: list[Sequence[int]] = []
        if isinstance(file, ImpossibleShapes):
            transcripts = [shape.items for shape in file.shapes]
        elif isinstance(file.argument, TranscriptArgument):
            transcripts = [file.argument.items, *(file.argument.fixed or ())]
        # Setting up a transcript counts as one item.
        self._all = 1 + sum(len(items) + 1 for items in transcripts)

    def replay(
        self, replay: Replay, items: Sequence[int], place: str, at_root: Weights = None
    ) -> int:
        """Replay one more transcript; return the number of solutions it counts."""
        self._before, self._begun = self.nodes, self._begun + 1
        return replay.count(items, place, self._on_progress, at_root)

    def _on_progress(self, read: int) -> None:
        self.nodes = self._before + read
        self._progress((self.nodes + self._begun - 1) / self._all, "")


# --- certificates -----------------------------------------------------------------------------------


def _check_certificate(certificate: Certificate, counter: _TranscriptCounter) -> None:
    problem_hash = json_sha256(certificate.problem.raw)
    stated = certificate.problem_sha256
    if stated != problem_hash:
        stated = stated if len(stated) == len(problem_hash) else quote(stated)
        raise ProofError(f"problem_sha256 is {stated}, but the problem's hash is {problem_hash}")
    cover = derive_problem(certificate.problem)
    argument = certificate.argument
    if isinstance(argument, AreaArgument):
        check_area(cover)
    elif isinstance(argument, ColouringArgument):
        check_colouring(cover, argument.weights)
    else:
        _check_transcript(certificate, argument, cover, counter)


def _check_transcript(
    certificate: Certificate,
    argument: TranscriptArgument,
    cover: CoverProblem,
    counter: _TranscriptCounter,
) -> None:
    symmetries = cover.group[1:]  # the group is sorted, so the identity comes first
    claim = certificate.claim
    if argument.fixed is not None and not cover.is_whole_group:
        raise ProofError("claim.count_up_to_symmetry: the boxes have too many symmetries to count")
    if argument.fixed is not None and len(argument.fixed) != len(symmetries):
        transcripts = pluralize(len(argument.fixed), "transcript")
        expected = len(symmetries)
        message = f"has {transcripts}; expected {expected}, one for each symmetry but the identity"
        raise InputError.of("", message, "argument.fixed")
    at_root = _representatives(argument, cover)
    count = counter.replay(_replay(cover), argument.items, "items", at_root)
    _require_equal("count", count, claim.count)
    if not isinstance(claim, CountClaim):
        return
    _require_equal("count_labelled", cover.labelled(count), claim.count_labelled)
    if argument.fixed is None or claim.count_up_to_symmetry is None:
        return
    total = count
    for index, (items, symmetry) in enumerate(zip(argument.fixed, symmetries, strict=True)):
        replay = _replay(cover, *_fixed_options(cover, symmetry))
        total += counter.replay(replay, items, f"fixed[{index}]")
    orbits, rest = divmod(total, len(cover.group))
    if rest:
        raise ProofError(f"fixed: {total} is not a multiple of {len(cover.group)}")
    _require_equal("count_up_to_symmetry", orbits, claim.count_up_to_symmetry)


def _replay(
    cover: CoverProblem,
    copies: tuple[int, ...] | None = None,
    options: Sequence[Option] | None = None,
) -> Replay:
    """Create the replay of a cover problem, or of other options for it (orbits of its own)."""
    choices = OptionTable.of(cover, cover.options if options is None else options)
    copies = cover.copies if copies is None else copies
    return Replay(cover.cells, copies, choices, cover.pieces_count)


def _require_equal(name: str, proved: int | None, claimed: int | None) -> None:
    if proved != claimed:
        counts, claims = ("null" if count is None else quote(count) for count in (proved, claimed))
        raise ProofError(f"claim.{name}: claims {claims}, but the proof gives {counts}")


def _representatives(argument: TranscriptArgument, cover: CoverProblem) -> dict[int, int] | None:
    """Return the options that represent their orbits at the root, with the orbits' sizes.

    Every solution has one placement of the kind, and a symmetry that fixes the kind maps solutions
    to solutions, so all placements in an orbit are in equally many solutions.
    """
    first = argument.branch_first
    if first is None:
        return None
    if cover.pieces_count is not None:
        raise ProofError(f"branch_first: kind {quote(first)} need not be used")
    root_kind(first, argument.items, cover.cells, cover.copies)
    images = [cover.images(symmetry) for symmetry in cover.group if symmetry[first] == first]
    return {min(orbit): len(orbit) for orbit in cover.orbits(images)}


def _fixed_options(
    cover: CoverProblem, symmetry: tuple[int, ...]
) -> tuple[tuple[int, ...], list[Option]]:
    """Return the copies of each kind, and the orbits of disjoint placements under a symmetry.

    Two orbits may cover the same cells; both are kept, the one with fewer copies first. If a
    reflection maps one kind to another, the first of the two has the copies of both.
    """
    copies = [0] * len(cover.kinds)
    for kind, twin in enumerate(symmetry[cover.cells :]):
        copies[min(kind, twin - cover.cells)] += cover.copies[kind]
    orbit_options = []
    for orbit in cover.orbits([cover.images(symmetry)]):
        options = [cover.options[number] for number in sorted(orbit)]
        kind = options[0].kind
        cells = sorted(cell for option in options for cell in option.cells)
        if len(set(cells)) == len(cells) and len(options) <= copies[kind]:
            orbit_options.append(Option(kind, tuple(cells), len(options)))
    return tuple(copies), sorted(
        orbit_options, key=lambda option: (option.kind, option.cells, option.copies)
    )


# --- files of impossible shapes ---------------------------------------------------------------------


def _check_shapes(file: ImpossibleShapes, counter: _TranscriptCounter) -> None:
    """Check the proofs of all shapes.

    A mixed shape whose two parts overlap is refused, since it is not a shape.
    """
    points = [
        {cell for shape in file.shapes for cell in shape.cells[layer]}
        for layer in range(len(file.centres))
    ]
    board = Board(TILINGS[file.lattice], file.centres, points, file.pieces, file.flips)
    for index, (shape, orbits) in enumerate(zip(file.shapes, _orbits(file, board), strict=True)):
        nodes = counter.nodes
        try:
            _check_shape(shape, board, orbits, f"shapes[{index}]", counter)
        except ProofError as refusal:
            counter.nodes = nodes  # the nodes of a failed proof do not count
            where = f"shapes[{index}] (with the cell {shape.example_cell})"
            raise ProofError(f"{where}: {refusal}") from None
        counter.shapes += 1


def _orbits(file: ImpossibleShapes, board: Board) -> list[frozenset[int]]:
    """Return the orbits of each shape; refuse repeated orbits in a shape, and repeated shapes."""
    first: dict[frozenset[int], int] = {}
    for index, shape in enumerate(file.shapes):
        owner: dict[int, str] = {}
        for place, layer, cell in _cells(shape):
            key = f"shapes[{index}].{place}"
            orbit = board.orbit_at(layer, cell)
            if orbit is None:
                raise InputError.of("", f"{list(cell)} is not the centroid of a cell", key)
            if owner.setdefault(orbit, place) != place:
                message = f"{list(cell)} is already in the orbit of {owner[orbit]}"
                raise InputError.of("", message, key)
        orbits = frozenset(owner)
        if first.setdefault(orbits, index) != index:
            raise InputError.of("", f"repeats shapes[{first[orbits]}]", f"shapes[{index}]")
    return list(first)


def _cells(shape: ShapeProof) -> Iterator[tuple[str, int, tuple[int, int]]]:
    for layer, cells in enumerate(shape.cells):
        for index, cell in enumerate(cells):
            yield f"cells[{layer}][{index}]", layer, cell


def _check_shape(
    shape: ShapeProof, board: Board, orbits: frozenset[int], key: str, counter: _TranscriptCounter
) -> None:
    if board.has_overlap(orbits):
        raise ProofError("cells of the two lattices overlap")
    problem = board.problem(orbits, key)
    at_root = None
    if shape.branch_first is not None:
        kind = root_kind(shape.branch_first, shape.items, problem.cells, board.copies)
        at_root = problem.representatives(kind)
    replay = Replay(problem.cells, board.copies, problem.options)
    if counter.replay(replay, shape.items, "items", at_root):
        raise ProofError("the pieces tile this shape: the transcript leads to a solution")
