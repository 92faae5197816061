"""`fabkit verify`: do the pieces that the meshes really are solve the set's catalog?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import shapely

from fabkit.mesh.anatomy import can_be_turned_over
from fabkit.mesh.finding import DIGITS, TINY_MM, Finding
from fabkit.mesh.fitting.assembly import TINY_MM3, Assembly
from fabkit.mesh.identity import Identity, set_findings
from fabkit.mesh.part import Part
from fabkit.model.polygon import rings_of_cells
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet, rings_in_units
from fabkit.solve.answer import IMPOSSIBLE, SOLVED
from fabkit.verify.answers import Answered, Progress, answer_catalog, read_set
from fabkit.verify.check import assemble
from fabkit.verify.taking import Taken


@dataclass(frozen=True)
class Verified:
    """One challenge, as the meshes answer it.

    Attributes:
        answered: what the solver says.
        assembly: the solution put together from the meshes, if there is one.
    """

    answered: Answered
    assembly: Assembly | None

    @property
    def fits(self) -> bool:
        """Whether the solution goes together without overlap, inside its region."""
        one = self.assembly
        return one is None or (
            one.is_measured and one.overlap_mm3 <= TINY_MM3 and one.outside_mm <= TINY_MM
        )

    @property
    def ok(self) -> bool:
        """Whether the answer is the catalog's, and the solution goes together."""
        return self.answered.ok and self.fits

    @property
    def message(self) -> str:
        """What is to be said of it, in a sentence."""
        answered, expected = self.answered, self.answered.challenge.answer or SOLVED
        if answered.missing:
            return f"not answered: {', '.join(answered.missing)} missing"
        if answered.status != expected:
            return f"{answered.status}, and the catalog says {expected}"
        if not self.fits:
            return f"{answered.status}, but " + "; ".join(
                self.assembly.messages if self.assembly else ()
            )
        return answered.status


@dataclass(frozen=True)
class Flips:
    """What changes when pieces are turned over.

    Attributes:
        possible: whether every part can be: both its faces are alike.
        newly: the challenges that cannot be solved by the rules, and can be then.
        tried: how many such challenges there are.
    """

    possible: bool
    newly: tuple[str, ...]
    tried: int

    @property
    def message(self) -> str:
        """In a sentence."""
        if not self.possible:
            return "pieces cannot be turned over: their faces differ"
        if not self.tried:
            return (
                "pieces can be turned over; no challenge is impossible without, so nothing changes"
            )
        if not self.newly:
            return "pieces can be turned over; what is impossible by the rules stays impossible"
        return f"pieces can be turned over; then {', '.join(self.newly)} can be solved, against the rules"


@dataclass(frozen=True, eq=False)
class VerifyReport:
    """What `verify` found.

    Attributes:
        taken: the parts.
        findings: on the set as a whole.
        challenges: one for each challenge of the catalog.
        flips: what turning pieces over changes; None when the rules allow it anyway.
        least_gap_mm: the gap that two parts keep in whatever solution: each part lies so far
            inside its own outline, and in a solution outlines do not overlap. Below 0 when a
            part reaches out of its outline.
    """

    taken: Taken
    findings: tuple[Finding, ...]
    challenges: tuple[Verified, ...]
    flips: Flips | None
    least_gap_mm: float | None

    @property
    def ok(self) -> bool:
        """Whether the physical set is the puzzle."""
        return all(one.ok for one in self.findings) and all(one.ok for one in self.challenges)

    def document(self) -> dict[str, Any]:
        """For JSON; the same for the same meshes, however they are named, ordered or turned."""
        puzzle = self.taken.puzzle
        pairs = zip(self.taken.parts, self.taken.identities, strict=True)
        shown = sorted(pairs, key=lambda pair: pair[1].key)
        gap = self.least_gap_mm
        return {
            "set": puzzle.name,
            "ok": self.ok,
            "findings": [finding.document() for finding in self.findings],
            "pieces": {one.key: _piece(puzzle, part, one) for part, one in shown},
            "every_solution_gap_mm": None if gap is None else round(gap, DIGITS),
            "challenges": [_challenge(puzzle, one) for one in self.challenges],
            "flips": {
                "possible": self.flips.possible,
                "newly_solved": list(self.flips.newly),
                "message": self.flips.message,
            }
            if self.flips
            else None,
        }


def _piece(puzzle: PuzzleSet, part: Part, identity: Identity) -> dict[str, Any]:
    outline = part.outline
    if outline is None:
        return {"piece": identity.piece, "is": identity.words, "read": False}
    return {
        "piece": identity.piece,
        "is": identity.words,
        "read": True,
        "as_drawn": identity.as_drawn,
        "cells": len(outline.cells),
        "unit_mm": round(outline.unit_mm, DIGITS),
        "inset_mm": round(outline.inset_mm, DIGITS),
        "hausdorff_mm": round(outline.hausdorff_mm, DIGITS),
        "area_off": round(outline.area_off, DIGITS),
    }


def _challenge(puzzle: PuzzleSet, one: Verified) -> dict[str, Any]:
    answered = one.answered
    return {
        "challenge": answered.challenge.id,
        "ok": one.ok,
        "expected": answered.challenge.answer or SOLVED,
        "status": answered.status,
        "engine": answered.engine,
        "message": one.message,
        "overlap_mm3": round(one.assembly.overlap_mm3, DIGITS) if one.assembly else None,
        "solution": {
            piece: rings_in_units(puzzle.lattice, rings_of_cells(puzzle.lattice, cells))
            for piece, cells in answered.layout.items()
        },
    }


def verify(
    taken: Taken,
    profile: Profile,
    budget_s: float | None = None,
    progress: Progress = lambda done, total, name: None,
) -> VerifyReport:
    """Solves the catalog with the outlines read from meshes, and puts every solution together.

    Args:
        taken: the parts.
        profile: for the gaps that messages speak of.
        budget_s: seconds for each challenge.
        progress: told before each challenge.
    """
    puzzle, pieces = taken.puzzle, taken.pieces()
    physical = read_set(puzzle, pieces)
    answers = answer_catalog(physical, budget_s, progress)
    assemblies = {one.challenge: one for one in assemble(taken, answers, profile)}
    verified = [Verified(one, assemblies.get(one.challenge.id)) for one in answers]
    return VerifyReport(
        taken,
        tuple(set_findings(taken.identities, puzzle)),
        tuple(verified),
        None if puzzle.flips else _flips(taken, physical, answers, budget_s),
        _least_gap_mm(pieces),
    )


def _flips(
    taken: Taken, physical: PuzzleSet, answers: Sequence[Answered], budget_s: float | None
) -> Flips:
    possible = all(map(can_be_turned_over, taken.parts, taken.anatomies))
    hard = [one.challenge for one in answers if one.status == IMPOSSIBLE]
    if not possible:
        return Flips(False, (), len(hard))
    turned = answer_catalog(replace(physical, challenges=tuple(hard)), budget_s, flips=True)
    newly = tuple(one.challenge.id for one in turned if one.status == SOLVED)
    return Flips(True, newly, len(hard))


def _least_gap_mm(pieces: Mapping[str, Part]) -> float | None:
    """The gap between two parts in any solution.

    Let each part's outline as seen lie at least c inside its outline as read. Outlines of a
    solution do not overlap, so a straight way from one part to another leaves the first outline
    and enters the second: it is at least as long as the two c together.
    """
    insides = sorted(_inside_mm(part) for part in pieces.values())
    return insides[0] + insides[1] if len(insides) > 1 else None


def _inside_mm(part: Part) -> float:
    assert part.outline is not None
    canonical = part.outline.canonical
    out = part.shadow.difference(canonical)
    if out.area > 0:
        corners = shapely.points(shapely.get_coordinates(out))
        return -float(shapely.distance(corners, canonical).max())
    return float(part.shadow.boundary.distance(canonical.boundary))
