"""From a certificate, or a file of impossible shapes, to a verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fabkit.certify.board import Board
from fabkit.certify.cover import Cover, Option, derive
from fabkit.certify.document import (
    ByArea,
    ByColouring,
    ByTranscript,
    Certificate,
    Counted,
    ImpossibleShapes,
    Proofs,
    ShapeProof,
    json_sha256,
)
from fabkit.certify.labels import compare
from fabkit.certify.replay import Choices, Replay, follow_area, follow_colouring, kind_at_root
from fabkit.certify.tiling import TILINGS, RefusedError
from fabkit.core.errors import InputError, many, shown

#: Is called with the share of the work that is done, from 0 to 1.
Progress = Callable[[float], None]
#: The options that a root may choose, and how many each stands for; None for all, each for itself.
Weights = Mapping[int, int] | None


@dataclass(frozen=True)
class Verdict:
    """What became of a file: `reason` says why it is refused.

    Attributes:
        holds: whether everything it says is proved.
        nodes: how many branchings were followed.
        compared: whether what it draws was compared with the set, or the challenge, it names.
        not_compared: why it was not; empty when it was, and is the same.
        shapes: of a file of shapes, how many are proved.
    """

    holds: bool
    reason: str | None = None
    nodes: int = 0
    compared: bool = False
    not_compared: str = ""
    shapes: int = 0


def judge(
    file: Proofs, set_name: str | None = None, progress: Progress = lambda share: None
) -> Verdict:
    """Judges a file, and whether it speaks of what its labels name, in the set of `set_name`.

    `progress` is told the share that is done, never less than before. Another set, or challenge,
    is refused at once.

    Raises:
        InputError: as `check` does, or when there is no such set.
    """
    try:
        not_compared = compare(file, set_name)
    except RefusedError as refusal:
        return Verdict(False, str(refusal), compared=True)
    return replace(check(file, progress), compared=not not_compared, not_compared=not_compared)


def check(file: Proofs, progress: Progress = lambda share: None) -> Verdict:
    """Judges a file by what it draws, deriving everything anew. `judge` also compares labels.

    Raises:
        InputError: when an outline is not drawn along its lattice, numbers do not fit the
            problem in kind or count, or the problem is too large.
    """
    counted = _Counted(file, progress)
    try:
        if isinstance(file, ImpossibleShapes):
            _follow_shapes(file, counted)
        else:
            _follow(file, counted)
    except RefusedError as refusal:
        return Verdict(False, str(refusal), counted.nodes, shapes=counted.shapes)
    except InputError as error:  # the steps do not know the file's name
        raise InputError(file.source, error.faults) from None
    progress(1.0)
    return Verdict(True, None, counted.nodes, shapes=counted.shapes)


class _Counted:
    """Counts the items read over several transcripts, and tells their share of all."""

    def __init__(self, file: Proofs, progress: Progress) -> None:
        self.nodes = self.shapes = self._before = self._begun = 0
        self._progress = progress
        transcripts: list[Sequence[int]] = []
        if isinstance(file, ImpossibleShapes):
            transcripts = [shape.items for shape in file.shapes]
        elif isinstance(file.argument, ByTranscript):
            transcripts = [file.argument.items, *(file.argument.fixed or ())]
        # A transcript takes about as long to set up as some items take to be read.
        self._all = 1 + sum(len(items) + 1 for items in transcripts)

    def follow(
        self, replay: Replay, items: Sequence[int], place: str, at_root: Weights = None
    ) -> int:
        """Follows one more transcript; returns how many solutions it counts."""
        self._before, self._begun = self.nodes, self._begun + 1
        return replay.count(items, place, self._told, at_root)

    def _told(self, read: int) -> None:
        self.nodes = self._before + read
        self._progress((self.nodes + self._begun - 1) / self._all)


# --- certificates -----------------------------------------------------------------------------------


def _follow(certificate: Certificate, counted: _Counted) -> None:
    found, stated = json_sha256(certificate.problem.plain), certificate.problem_sha256
    if stated != found:
        stated = stated if len(stated) == len(found) else shown(stated)
        raise RefusedError(f"problem_sha256 is {stated}, the problem's is {found}")
    cover, argument = derive(certificate.problem), certificate.argument
    if isinstance(argument, ByArea):
        follow_area(cover)
    elif isinstance(argument, ByColouring):
        follow_colouring(cover, argument.weights)
    else:
        _follow_transcript(certificate, argument, cover, counted)


def _follow_transcript(
    certificate: Certificate, argument: ByTranscript, cover: Cover, counted: _Counted
) -> None:
    symmetries, claim = cover.group[1:], certificate.claim  # the least permutation is the identity
    if argument.fixed is not None and len(argument.fixed) != len(symmetries):
        found, expected = many(len(argument.fixed), "transcript"), len(symmetries)
        message = f"has {found}; expected {expected}, one for each symmetry but the identity"
        raise InputError.of("", message, "argument.fixed")
    at_root = _representatives(argument, cover)
    count = counted.follow(_replay(cover), argument.items, "items", at_root)
    _refuse_other("count", count, claim.count)
    if not isinstance(claim, Counted):
        return
    _refuse_other("count_labelled", cover.labelled(count), claim.count_labelled)
    if argument.fixed is None or claim.count_up_to_symmetry is None:
        return
    total = count
    for index, (items, symmetry) in enumerate(zip(argument.fixed, symmetries, strict=True)):
        replay = _replay(cover, *_carried_round(cover, symmetry))
        total += counted.follow(replay, items, f"fixed[{index}]")
    orbits, rest = divmod(total, len(cover.group))
    if rest:
        raise RefusedError(f"fixed: {total} is not a multiple of {len(cover.group)}")
    _refuse_other("count_up_to_symmetry", orbits, claim.count_up_to_symmetry)


def _replay(
    cover: Cover, copies: tuple[int, ...] | None = None, options: Sequence[Option] | None = None
) -> Replay:
    """The replay of a cover problem; or of other options, orbits of its own."""
    choices = Choices.of(cover, cover.options if options is None else options)
    copies = cover.copies if copies is None else copies
    return Replay(cover.cells, copies, choices, cover.leftover, cover.pieces_count)


def _refuse_other(name: str, found: int | None, claimed: int | None) -> None:
    if found != claimed:
        counts, claims = ("null" if one is None else shown(one) for one in (found, claimed))
        raise RefusedError(f"claim.{name}: counts {counts}, claims {claims}")


def _representatives(argument: ByTranscript, cover: Cover) -> dict[int, int] | None:
    """The options that stand for their orbits at the root, with the orbits' sizes.

    Every solution holds one placement of the kind, and a symmetry that keeps the kind carries
    solutions to solutions: so each placement of an orbit is in equally many.
    """
    first = argument.branch_first
    if first is None:
        return None
    if cover.pieces_count is not None:
        raise RefusedError(f"branch_first: kind {shown(first)} need not be used")
    kind_at_root(first, argument.items, cover.cells, cover.copies)
    images = [cover.images(symmetry) for symmetry in cover.group if symmetry[first] == first]
    return {min(orbit): len(orbit) for orbit in cover.orbits(images)}


def _carried_round(cover: Cover, symmetry: tuple[int, ...]) -> tuple[tuple[int, ...], list[Option]]:
    """What a symmetry maps to itself: orbits of placements that do not overlap.

    Two orbits may cover the same cells; they stay two, the one of fewer copies first. Where
    a mirror makes one kind of another, the first of the two has the copies of both. Beside the
    orbits it returns how many copies there are of each kind.
    """
    copies = [0] * len(cover.kinds)
    for kind, twin in enumerate(symmetry[cover.cells :]):
        copies[min(kind, twin - cover.cells)] += cover.copies[kind]
    found = []
    for orbit in cover.orbits([cover.images(symmetry)]):
        options = [cover.options[number] for number in sorted(orbit)]
        kind = options[0].kind
        cells = sorted(cell for option in options for cell in option.cells)
        if len(set(cells)) == len(cells) and len(options) <= copies[kind]:
            found.append(Option(kind, tuple(cells), len(options)))
    return tuple(copies), sorted(found, key=lambda one: (one.kind, one.cells, one.copies))


# --- files of impossible shapes ---------------------------------------------------------------------


def _follow_shapes(file: ImpossibleShapes, counted: _Counted) -> None:
    """Follows the proofs of all shapes.

    A mixed shape whose two parts overlap is refused: it is no shape, and nothing is said of it.
    """
    points = [
        {cell for shape in file.shapes for cell in shape.cells[at]}
        for at in range(len(file.centres))
    ]
    board = Board(TILINGS[file.lattice], file.centres, points, file.pieces, file.flips)
    for index, (shape, orbits) in enumerate(zip(file.shapes, _orbits(file, board), strict=True)):
        nodes = counted.nodes
        try:
            _follow_shape(shape, board, orbits, f"shapes[{index}]", counted)
        except RefusedError as refusal:
            counted.nodes = nodes  # those of a proof that fails are not counted
            where = f"shapes[{index}] (with the cell {shape.a_cell})"
            raise RefusedError(f"{where}: {refusal}") from None
        counted.shapes += 1


def _orbits(file: ImpossibleShapes, board: Board) -> list[frozenset[int]]:
    """The orbits of each shape; no orbit stands twice in one, and no shape twice in the file."""
    first: dict[frozenset[int], int] = {}
    for index, shape in enumerate(file.shapes):
        owner: dict[int, str] = {}
        for place, sheet, cell in _cells(shape):
            key = f"shapes[{index}].{place}"
            orbit = board.orbit_at(sheet, cell)
            if orbit is None:
                raise InputError.of("", f"{list(cell)} is not the centroid of a cell", key)
            if owner.setdefault(orbit, place) != place:
                message = f"{list(cell)} is in the orbit of {owner[orbit]} already"
                raise InputError.of("", message, key)
        orbits = frozenset(owner)
        if first.setdefault(orbits, index) != index:
            raise InputError.of("", f"is shapes[{first[orbits]}] again", f"shapes[{index}]")
    return list(first)


def _cells(shape: ShapeProof) -> Iterator[tuple[str, int, tuple[int, int]]]:
    for sheet, cells in enumerate(shape.cells):
        for at, cell in enumerate(cells):
            yield f"cells[{sheet}][{at}]", sheet, cell


def _follow_shape(
    shape: ShapeProof, board: Board, orbits: frozenset[int], key: str, counted: _Counted
) -> None:
    if board.overlap(orbits):
        raise RefusedError("cells of the two lattices overlap")
    problem = board.problem(orbits, key)
    at_root = None
    if shape.branch_first is not None:
        kind = kind_at_root(shape.branch_first, shape.items, problem.cells, board.copies)
        at_root = problem.representatives(kind)
    replay = Replay(problem.cells, board.copies, problem.choices)
    if counted.follow(replay, shape.items, "items", at_root):
        raise RefusedError("its pieces can be laid so: the transcript leads to a solution")
