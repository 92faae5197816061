"""A set as its meshes show it: what every kind of piece can tell."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from fabkit.mesh.boards.part import BoardPart
from fabkit.mesh.finding import Finding
from fabkit.mesh.fitting.assembly import Assembly
from fabkit.mesh.fitting.tolerance import PrinterError, Tolerance
from fabkit.mesh.identity import Identity
from fabkit.model.piece import Piece
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet
from fabkit.verify.answers import Answered, Progress
from fabkit.verify.reports import PartReport


@dataclass(frozen=True, eq=False)
class Taken(ABC):
    """The parts of a set as their meshes show them.

    Attributes:
        puzzle: the set that they should be.
        identities: which piece each part is that may be one.
        boards: the parts that are boards or lids.
        length_mm: the files' unit of length, in mm.
    """

    puzzle: PuzzleSet
    identities: tuple[Identity, ...]
    boards: tuple[BoardPart, ...]
    length_mm: float

    @property
    @abstractmethod
    def names(self) -> Sequence[str]:
        """What messages call each part, in the order of `identities`."""

    @abstractmethod
    def read_pieces(self) -> dict[str, Piece]:
        """The pieces of the set as they were read, with the forms that the meshes show, by id."""

    @abstractmethod
    def words(self, at: int) -> dict[str, object]:
        """What `verify` tells of a part for JSON: how it was read.

        Args:
            at: its place in `identities`.
        """

    @abstractmethod
    def inspect(self, profile: Profile, progress: Progress) -> list[PartReport]:
        """What every rule says of each part that may be a piece."""

    @abstractmethod
    def inspect_seated(self, profile: Profile, progress: Progress) -> dict[str, list[Finding]]:
        """What the rules of seats say of each piece that goes into a board, by the piece's id."""

    @abstractmethod
    def together(self, profile: Profile) -> list[Finding]:
        """What is to be said of all of them together."""

    @abstractmethod
    def assemble(
        self, solutions: Sequence[Answered], profile: Profile, progress: Progress
    ) -> list[Assembly]:
        """Puts solutions together from the meshes."""

    @abstractmethod
    def tolerance(
        self, solutions: Sequence[Answered], profile: Profile, error: PrinterError
    ) -> Tolerance:
        """Whether rows close, and pieces go into their board, as a printer prints them."""

    @abstractmethod
    def can_be_turned_over(self) -> bool:
        """Whether every part can be played on either face."""

    @abstractmethod
    def least_gap_mm(self) -> float | None:
        """The gap that two parts keep in whatever solution; None when it is not known."""
