"""What a certificate file says, as plain data: read and well formed, but not yet believed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Ring = tuple[tuple[int, int], ...]
Rings = tuple[Ring, ...]

Answer = Literal["impossible", "unique", "count"]


@dataclass(frozen=True)
class DrawnPiece:
    """A piece as the certificate draws it.

    Attributes:
        id: its name, unique in the certificate.
        forms: its flat forms, each an outline of rings in frame points.
    """

    id: str
    forms: tuple[Rings, ...]


@dataclass(frozen=True)
class DrawnGiven:
    """A piece that lies already.

    Attributes:
        piece: its id.
        outline: where it lies, in frame points.
    """

    piece: str
    outline: Rings


@dataclass(frozen=True)
class Problem:
    """The challenge that is spoken of.

    Attributes:
        lattice: the lattice's name.
        flips: whether pieces may be turned over.
        leftover: whether cells of the region may stay uncovered.
        region: its outline.
        pieces: all of them, the given ones too.
        given: the pieces that lie already.
        plain: the same as it stood in the file, for the checksum and for comparing.
    """

    lattice: str
    flips: bool
    leftover: bool
    region: Rings
    pieces: tuple[DrawnPiece, ...]
    given: tuple[DrawnGiven, ...]
    plain: dict[str, Any]


@dataclass(frozen=True)
class Claim:
    """What is said of the problem.

    Attributes:
        answer: ``impossible``, ``unique`` or ``count``.
        count: how many solutions there are as they lie; 0 and 1 for the first two answers.
        labelled: the same with identical pieces told apart; None unless counted.
        up_to_symmetry: the same with symmetric solutions counted once; None when not claimed.
    """

    answer: Answer
    count: int
    labelled: int | None = None
    up_to_symmetry: int | None = None

    @property
    def plain(self) -> dict[str, Any]:
        """The claim as it stands in the file.

        Example:
            >>> Claim("unique", 1).plain
            {'answer': 'unique'}
        """
        if self.answer != "count":
            return {"answer": self.answer}
        return {
            "answer": self.answer,
            "count": self.count,
            "count_labelled": self.labelled,
            "count_up_to_symmetry": self.up_to_symmetry,
        }


@dataclass(frozen=True)
class ByArea:
    """The pieces cannot add up to the region's area."""


@dataclass(frozen=True)
class ByColouring:
    """The pieces cannot add up to the region's weight.

    Attributes:
        weights: one for each remaining cell.
    """

    weights: tuple[int, ...]


@dataclass(frozen=True)
class ByTranscript:
    """A search that can be followed.

    Attributes:
        branch_first: the kind at the root, of which one placement of each orbit is tried; None
            when no symmetry is used.
        items: what was branched on, in preorder.
        fixed: for each symmetry but the identity a search for the solutions that it maps to
            themselves; None unless solutions up to symmetry are claimed.
    """

    branch_first: int | None
    items: tuple[int, ...]
    fixed: tuple[tuple[int, ...], ...] | None = None


Argument = ByArea | ByColouring | ByTranscript


@dataclass(frozen=True)
class Certificate:
    """A certificate file.

    Attributes:
        source: the file, for messages.
        set: label: the set's name.
        challenge: label: the challenge's id.
        problem: what is spoken of.
        problem_sha256: the checksum that the file states.
        claim: what is said.
        argument: why it is so.
    """

    source: str
    set: str
    challenge: str
    problem: Problem
    problem_sha256: str
    claim: Claim
    argument: Argument
