"""Flat pieces as their meshes show them, also those that stand on stubs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from fabkit.mesh.anatomy import Anatomy, anatomy, can_be_turned_over
from fabkit.mesh.boards.boardrows import board_stacks, clearance_of
from fabkit.mesh.boards.part import BoardPart
from fabkit.mesh.boards.seated import stubs_in_board
from fabkit.mesh.body import Body
from fabkit.mesh.cavities import circle_of
from fabkit.mesh.finding import DIGITS, Finding
from fabkit.mesh.fitting.assembly import Assembly, Table
from fabkit.mesh.fitting.tolerance import PrinterError, Solution, Tolerance, tolerance
from fabkit.mesh.identity import identify
from fabkit.mesh.inspect import in_common, inspect
from fabkit.mesh.part import Part, Parts, take_in
from fabkit.mesh.rules.outline import Common
from fabkit.mesh.seen import inside_mm
from fabkit.mesh.stubs import OnStubs, stub_findings, take_in_on_stubs
from fabkit.model.accessory import SEATS, has_stubs, keeps_own_gaps, may_have_stubs
from fabkit.model.piece import Piece
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet
from fabkit.verify.answers import Answered, Progress, canonical_form
from fabkit.verify.reports import FlatReport, PartReport
from fabkit.verify.taken import Taken

#: A set whose parts are inset less than this (mm) has no clearance at all.
_NO_CLEARANCE_MM = 0.005


@dataclass(frozen=True, eq=False)
class FlatTaken(Taken):
    """The flat pieces of a set as their meshes show them.

    Attributes:
        read: the parts, and the files' unit of length.
        anatomies: what is open in each.
        stubs: for each what stands on stubs; its part in `read` is only the plate above them.
    """

    read: Parts
    anatomies: tuple[Anatomy, ...]
    stubs: tuple[OnStubs | None, ...]

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts."""
        return self.read.parts

    @property
    def names(self) -> list[str]:
        """What messages call each part."""
        return [part.name for part in self.parts]

    @cached_property
    def common(self) -> Common | None:
        """What the parts have in common."""
        return in_common(self.parts)

    def pieces(self) -> dict[str, Part]:
        """The part that is each piece, by the piece's id, those whose outline was read."""
        return {
            identity.piece: part
            for part, identity in zip(self.parts, self.identities, strict=True)
            if identity.piece == identity.key and part.outline is not None
        }

    def read_pieces(self) -> dict[str, Piece]:
        """The pieces as they were read, by id."""
        return {name: read_piece(self.puzzle, name, part) for name, part in self.pieces().items()}

    def words(self, at: int) -> dict[str, object]:
        """How a part was read."""
        part, identity = self.parts[at], self.identities[at]
        outline = part.outline
        told: dict[str, object] = {"piece": identity.piece, "is": identity.words}
        if outline is None:
            return told | {"read": False}
        return told | {
            "read": True,
            "as_drawn": identity.as_drawn,
            "cells": len(outline.cells),
            "unit_mm": round(outline.unit_mm, DIGITS),
            "inset_mm": round(outline.inset_mm, DIGITS),
            "hausdorff_mm": round(outline.hausdorff_mm, DIGITS),
            "area_off": round(outline.area_off, DIGITS),
        }

    def inspect(self, profile: Profile, progress: Progress) -> list[PartReport]:
        """What every rule says of each part."""
        found: list[PartReport] = []
        profile = self._with_own_gaps(profile)
        for done, (part, open_, identity) in enumerate(
            zip(self.parts, self.anatomies, self.identities, strict=True)
        ):
            progress(done, len(self.parts), f"inspecting {identity.key}")
            findings = inspect(part, open_, identity, self.common, self.puzzle, profile)
            if has_stubs(self.puzzle, profile):
                findings += stub_findings(self.stubs[done], self.puzzle.lattice, profile)
            found.append(FlatReport(part, open_, identity, tuple(findings)))
        return found

    def inspect_seated(self, profile: Profile, progress: Progress) -> dict[str, list[Finding]]:
        """What the rules of seats say of each piece on stubs, on each board of seats."""
        wholes = {
            identity.piece: one
            for identity, one in zip(self.identities, self.stubs, strict=True)
            if one and one.whole.outline and identity.piece == identity.key
        }
        found: dict[str, list[Finding]] = {}
        for board in self.boards:
            if board.kind == SEATS:
                lattice = self.puzzle.lattice
                for name, some in stubs_in_board(wholes, board, lattice, profile, progress).items():
                    found.setdefault(name, []).extend(some)
        return found

    def _with_own_gaps(self, profile: Profile) -> Profile:
        """The limits, but for the gaps that the cells' own shapes leave."""
        is_open = keeps_own_gaps(self.puzzle, profile)
        return replace(profile, gap_max_mm=profile.unit_mm) if is_open else profile

    def together(self, profile: Profile) -> list[Finding]:
        """The clearance that they leave each other."""
        if self.common is None:
            return []
        inset_mm = self.common.inset_mm
        ok = inset_mm > _NO_CLEARANCE_MM
        message = f"the clearance between two parts is {2 * inset_mm:.3f} mm"
        if not ok:
            message += ": these parts have none, and will not go together once printed"
        return [Finding("clearance", ok, 2 * inset_mm, 2 * _NO_CLEARANCE_MM, "mm", message)]

    def assemble(
        self, solutions: Sequence[Answered], profile: Profile, progress: Progress
    ) -> list[Assembly]:
        """Puts solutions together from the meshes."""
        table = Table(self.pieces(), self.puzzle.lattice, self._with_own_gaps(profile))
        return [
            table.assemble(one.challenge.id, one.challenge.region, one.layout) for one in solutions
        ]

    def tolerance(
        self, solutions: Sequence[Answered], profile: Profile, error: PrinterError
    ) -> Tolerance:
        """The stack-up of all rows, with the bores as they are in the meshes."""
        lattice = self.puzzle.lattice
        solved = [
            Solution(
                one.challenge.id,
                one.challenge.region,
                one.layout,
                clearance_of(one.challenge.region, self.boards, lattice),
            )
            for one in solutions
        ]
        widest_mm = max(
            (stub.diameter_mm for one in self.stubs if one for stub in one.stubs), default=0.0
        )
        seats = [
            stack
            for board in self.boards
            for stack in board_stacks(board, lattice, error, stub_mm=widest_mm)
        ]
        bores = [
            circle_of(hole.middle).diameter_mm
            for one in self.anatomies
            for hole in one.recesses
            if profile.fit != "ribs"  # which are there to be crushed
        ]
        magnet_mm = profile.magnet_diameter_mm
        return tolerance(self.pieces(), lattice, solved, error, magnet_mm, bores, boards=seats)

    def can_be_turned_over(self) -> bool:
        """Whether every part can be played on either face."""
        return all(map(can_be_turned_over, self.parts, self.anatomies))

    def least_gap_mm(self) -> float | None:
        """The gap between two parts in any solution; see `least_gap_mm`."""
        return least_gap_mm(self.pieces())


def take_flat(
    bodies: Sequence[Body], boards: tuple[BoardPart, ...], puzzle: PuzzleSet, *units_mm: float
) -> FlatTaken:
    """Reads the meshes of flat pieces back.

    Args:
        bodies: one for each part.
        boards: the boards and lids among the parts.
        puzzle: the set that they should be.
        units_mm: what the grid unit may be; see `fabkit.mesh.part.take_in`.
    """
    stubs: tuple[OnStubs | None, ...] = tuple(None for _ in bodies)
    if may_have_stubs(puzzle):
        read, stubs = take_in_on_stubs(bodies, puzzle, *units_mm)
    else:
        read = take_in(bodies, puzzle, *units_mm)
    anatomies = tuple(anatomy(part) for part in read.parts)
    identities = tuple(identify(read.parts, anatomies, puzzle))
    return FlatTaken(puzzle, identities, boards, read.length_mm, read, anatomies, stubs)


def read_piece(puzzle: PuzzleSet, name: str, part: Part) -> Piece:
    """A piece with the form that its mesh shows.

    Args:
        puzzle: the set.
        name: the piece's id.
        part: with its outline read.
    """
    assert part.outline is not None
    form = canonical_form(puzzle.lattice, part.outline.cells)
    return replace(puzzle.piece(name), forms=(form,), tones=frozenset())


def least_gap_mm(pieces: Mapping[str, Part]) -> float | None:
    """The gap between two parts in any solution; below 0 when a part reaches out of its outline.

    Let each part's outline as seen lie at least c inside its outline as read. Outlines of a
    solution do not overlap, so a straight way from one part to another leaves the first outline
    and enters the second: it is at least as long as the two c together.
    """
    insides = sorted(
        inside_mm(part.shadow, part.outline.canonical) for part in pieces.values() if part.outline
    )
    return insides[0] + insides[1] if len(insides) > 1 else None
