"""Pieces made of balls as their meshes show them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fabkit.mesh.balls.identify import identify_balls
from fabkit.mesh.balls.inspect import inspect_balls
from fabkit.mesh.balls.part import BallPart
from fabkit.mesh.balls.reading import take_in_balls
from fabkit.mesh.boards.ballassembly import BallTable
from fabkit.mesh.boards.boardrows import board_stacks
from fabkit.mesh.boards.part import BoardPart
from fabkit.mesh.boards.seated import balls_in_board
from fabkit.mesh.body import Body
from fabkit.mesh.finding import DIGITS, Finding
from fabkit.mesh.fitting.assembly import Assembly
from fabkit.mesh.fitting.tolerance import PrinterError, Tolerance, tolerance
from fabkit.model.accessory import HOLES
from fabkit.model.balls import BallError
from fabkit.model.piece import Piece, forms_of_balls
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet
from fabkit.verify.answers import Answered, Progress
from fabkit.verify.boards import board_around
from fabkit.verify.reports import BallReport, PartReport
from fabkit.verify.taken import Taken


@dataclass(frozen=True, eq=False)
class BallsTaken(Taken):
    """The ball pieces of a set as their meshes show them.

    Attributes:
        parts: the parts.
    """

    parts: tuple[BallPart, ...]

    @property
    def names(self) -> list[str]:
        """What messages call each part."""
        return [part.name for part in self.parts]

    def pieces(self) -> dict[str, BallPart]:
        """The part that is each piece, by the piece's id, those that were read."""
        return {
            identity.piece: part
            for part, identity in zip(self.parts, self.identities, strict=True)
            if identity.piece == identity.key and part.shape is not None
        }

    def read_pieces(self) -> dict[str, Piece]:
        """The pieces as they were read, by id, those that can lie flat."""
        found = {}
        for name, part in self.pieces().items():
            assert part.shape is not None
            try:
                forms = forms_of_balls(part.shape)
            except BallError:
                continue
            found[name] = replace(self.puzzle.piece(name), forms=forms, body=part.shape)
        return found

    def words(self, at: int) -> dict[str, object]:
        """How a part was read."""
        part, identity = self.parts[at], self.identities[at]
        told: dict[str, object] = {"piece": identity.piece, "is": identity.words}
        if part.shape is None:
            return told | {"read": False, "why": part.why}
        return told | {
            "read": True,
            "as_drawn": identity.as_drawn,
            "balls": len(part.shape.balls),
            "links": len(part.shape.bonds),
            "unit_mm": round(part.pitch_mm, DIGITS),
            "off_mm": round(part.off_mm, DIGITS),
        }

    def inspect(self, profile: Profile, progress: Progress) -> list[PartReport]:
        """What every rule says of each part."""
        found: list[PartReport] = []
        for done, (part, identity) in enumerate(zip(self.parts, self.identities, strict=True)):
            progress(done, len(self.parts), f"inspecting {identity.key}")
            findings = inspect_balls(part, identity, self.puzzle, profile)
            found.append(BallReport(part, identity, tuple(findings)))
        return found

    def inspect_seated(self, profile: Profile, progress: Progress) -> dict[str, list[Finding]]:
        """What the rules of seats say of each piece, on each board of holes."""
        found: dict[str, list[Finding]] = {}
        pieces = {name: part for name, part in self.pieces().items() if name in self.read_pieces()}
        for board in self.boards:
            if board.kind == HOLES:
                for name, some in balls_in_board(pieces, board, profile, progress).items():
                    found.setdefault(name, []).extend(some)
        return found

    def together(self, profile: Profile) -> list[Finding]:
        """Nothing: how far they keep apart is told of each."""
        return []

    def assemble(
        self, solutions: Sequence[Answered], profile: Profile, progress: Progress
    ) -> list[Assembly]:
        """Puts solutions together from the meshes, in the board where there is one."""
        pieces = self.pieces()
        found = []
        for done, one in enumerate(solutions):
            progress(done, len(solutions), f"putting {one.challenge.id} together")
            region = one.challenge.region
            table = BallTable(pieces, board_around(self.boards, region, HOLES), profile)
            found.append(table.assemble(one.challenge.id, region, one.layout))
        return found

    def tolerance(
        self, solutions: Sequence[Answered], profile: Profile, error: PrinterError
    ) -> Tolerance:
        """What errors make of the room of balls and links in their board.

        Each ball has its own hole, so errors do not add up along rows.
        """
        balls = [diameter for part in self.parts for diameter in part.diameters_mm]
        links = [width for part in self.parts for width in part.links_mm if not math.isnan(width)]
        lattice = self.puzzle.lattice
        stacks = [
            stack
            for board in self.boards
            for stack in board_stacks(
                board,
                lattice,
                error,
                ball_mm=max(balls, default=0.0),
                link_mm=max(links, default=0.0),
            )
        ]
        return tolerance({}, lattice, [], error, boards=stacks)

    def can_be_turned_over(self) -> bool:
        """Never: what would hang in the holes would stand up."""
        return False

    def least_gap_mm(self) -> float | None:
        """Told by the rules of seats."""
        return None


def take_balls(
    bodies: Sequence[Body], boards: tuple[BoardPart, ...], puzzle: PuzzleSet, *units_mm: float
) -> BallsTaken:
    """Reads the meshes of ball pieces back.

    Args:
        bodies: one for each part.
        boards: the boards and lids among the parts.
        puzzle: the set that they should be.
        units_mm: what the distance of neighbouring balls may be.
    """
    parts, length_mm = take_in_balls(bodies, *units_mm)
    identities = tuple(identify_balls(parts, puzzle))
    return BallsTaken(puzzle, identities, boards, length_mm, tuple(parts))
