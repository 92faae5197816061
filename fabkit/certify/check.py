"""From a certificate to a verdict."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, replace

from fabkit.certify.certificate import (
    ByArea,
    ByColouring,
    ByTranscript,
    Certificate,
    Claim,
    Problem,
)
from fabkit.certify.cover import Cover, Option, derive
from fabkit.certify.labels import compare
from fabkit.certify.refusal import RefusedError
from fabkit.certify.replay import Choices, Replay, kind_at_root
from fabkit.certify.sums import follow_area, follow_colouring
from fabkit.core.errors import InputError, many, shown

#: Is called with the share of the work that is done, from 0 to 1.
Progress = Callable[[float], None]


@dataclass(frozen=True)
class Verdict:
    """What became of a certificate.

    Attributes:
        holds: whether everything it says is proved.
        reason: why it is refused; None when it holds.
        nodes: how many branchings were followed.
        not_compared: why the problem was not compared with the challenge that the labels name;
            empty when it was, and is the same.
        compared: whether it was.
    """

    holds: bool
    reason: str | None = None
    nodes: int = 0
    compared: bool = False
    not_compared: str = ""


def check(certificate: Certificate, progress: Progress = lambda share: None) -> Verdict:
    """Judges a certificate, deriving everything anew.

    Args:
        certificate: as it was read.
        progress: is told the share that is done, never less than before.

    Returns:
        The verdict. That the labels name this problem is not judged here: see
        `fabkit.certify.labels.compare`.

    Raises:
        InputError: when an outline is not drawn along its lattice, numbers do not fit the
            problem in kind or count, or the problem is too large.
    """
    counted = _Counted(certificate.argument, progress)
    try:
        _refuse_checksum(certificate)
        cover = derive(certificate.problem)
        _follow(certificate, cover, counted)
    except RefusedError as refusal:
        return Verdict(False, str(refusal), counted.nodes)
    except InputError as error:  # the steps do not know the file's name
        raise InputError(certificate.source, error.faults) from None
    progress(1.0)
    return Verdict(True, None, counted.nodes)


def judge(
    certificate: Certificate, set_name: str | None = None, progress: Progress = lambda share: None
) -> Verdict:
    """Judges a certificate, and whether it speaks of the challenge that its labels name.

    Args:
        certificate: as it was read.
        set_name: the set to look in, shipped or a file; None: the one that the label names.
        progress: is told the share that is done, never less than before.

    Returns:
        The verdict; refused at once when that challenge is another.

    Raises:
        InputError: as `check` does, or when there is no such set.
    """
    try:
        not_compared = compare(certificate, set_name)
    except RefusedError as refusal:
        return Verdict(False, str(refusal), compared=True)
    verdict = check(certificate, progress)
    return replace(verdict, compared=not not_compared, not_compared=not_compared)


class _Counted:
    """Counts the items read over several transcripts, and tells their share of all."""

    def __init__(self, argument: object, progress: Progress) -> None:
        self.nodes = 0
        self._before = 0
        self._progress = progress
        self._all = 1
        if isinstance(argument, ByTranscript):
            self._all += len(argument.items) + sum(map(len, argument.fixed or ()))

    def told(self, read: int) -> None:
        """So many items of this transcript are read."""
        self.nodes = self._before + read
        self._progress(self.nodes / self._all)

    def next(self) -> None:
        """The next transcript begins."""
        self._before = self.nodes


def problem_sha256(problem: Problem) -> str:
    """The checksum of a problem: of its JSON with sorted keys and no spaces."""
    text = json.dumps(problem.plain, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _refuse_checksum(certificate: Certificate) -> None:
    found = problem_sha256(certificate.problem)
    if certificate.problem_sha256 != found:
        stated = certificate.problem_sha256
        stated = stated if len(stated) == len(found) else shown(stated)
        raise RefusedError(f"problem_sha256 is {stated}, the problem's is {found}")


def _follow(certificate: Certificate, cover: Cover, counted: _Counted) -> None:
    argument = certificate.argument
    if isinstance(argument, ByArea):
        follow_area(cover)
    elif isinstance(argument, ByColouring):
        follow_colouring(cover, argument.weights)
    else:
        _follow_transcript(certificate.claim, argument, cover, counted)


def _follow_transcript(
    claim: Claim, argument: ByTranscript, cover: Cover, counted: _Counted
) -> None:
    symmetries = cover.group[1:]  # without the identity, which is the least permutation
    if argument.fixed is not None and len(argument.fixed) != len(symmetries):
        found, expected = many(len(argument.fixed), "transcript"), len(symmetries)
        message = f"has {found}; expected {expected}, one for each symmetry but the identity"
        raise InputError.of("", message, "argument.fixed")
    at_root = _representatives(argument, cover)
    replay = Replay.of(cover, cover.options)
    count = replay.count(argument.items, "items", counted.told, at_root)
    _compare("count", count, claim.count)
    if claim.labelled is not None:
        _compare("count_labelled", count * cover.labellings, claim.labelled)
    if argument.fixed is None or claim.up_to_symmetry is None:
        return
    total = count
    for index, (items, symmetry) in enumerate(zip(argument.fixed, symmetries, strict=True)):
        counted.next()
        copies, options = _carried_round(cover, symmetry)
        fixed = Replay(cover.cells, copies, cover.leftover, Choices.of(cover, options))
        total += fixed.count(items, f"fixed[{index}]", counted.told)
    orbits, rest = divmod(total, len(cover.group))
    if rest:
        raise RefusedError(f"fixed: {total} is not a multiple of {len(cover.group)}")
    _compare("count_up_to_symmetry", orbits, claim.up_to_symmetry)


def _compare(name: str, found: int, claimed: int) -> None:
    if found != claimed:
        raise RefusedError(f"claim.{name}: counts {shown(found)}, claims {shown(claimed)}")


def _representatives(argument: ByTranscript, cover: Cover) -> dict[int, int] | None:
    """The options that stand for their orbits at the root, with the orbits' sizes.

    Every solution holds one placement of the kind, and a symmetry carries solutions to
    solutions: so each placement of an orbit is in equally many.
    """
    first = argument.branch_first
    if first is None:
        return None
    kind_at_root(first, argument.items, cover.cells, cover.copies)
    images = [cover.images(symmetry) for symmetry in cover.group if symmetry[first] == first]
    return {min(orbit): len(orbit) for orbit in cover.orbits(images)}


def _carried_round(cover: Cover, symmetry: tuple[int, ...]) -> tuple[tuple[int, ...], list[Option]]:
    """What a symmetry maps to itself: orbits of placements that do not overlap.

    Two orbits may cover the same cells; they stay two, the one of fewer copies first. Where
    a mirror makes one kind of another, the first of the two has the copies of both.

    Returns:
        How many copies there are of each kind, and the orbits.
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
