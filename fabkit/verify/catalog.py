"""`fabkit verify`: do the pieces that the meshes really are solve the set's catalog?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from fabkit.mesh.finding import DIGITS, TINY_MM, Finding
from fabkit.mesh.fitting.assembly import TINY_MM3, Assembly
from fabkit.mesh.identity import set_findings
from fabkit.model.accessory import as_printed
from fabkit.model.polygon import rings_of_cells
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet, rings_in_units
from fabkit.solve.answer import IMPOSSIBLE, SOLVED
from fabkit.verify.answers import Answered, Progress, answer_catalog, read_set
from fabkit.verify.taken import Taken


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
        keys = [(identity.key, at) for at, identity in enumerate(self.taken.identities)]
        gap = self.least_gap_mm
        return {
            "set": puzzle.name,
            "ok": self.ok,
            "findings": [finding.document() for finding in self.findings],
            "pieces": {key: self.taken.words(at) for key, at in sorted(keys)},
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
    puzzle = taken.puzzle
    physical = read_set(puzzle, taken.read_pieces())
    answers = answer_catalog(physical, budget_s, progress)
    solved, limits = [one for one in answers if one.layout], as_printed(puzzle, profile)
    assemblies = {one.challenge: one for one in taken.assemble(solved, limits, progress)}
    verified = [Verified(one, assemblies.get(one.challenge.id)) for one in answers]
    return VerifyReport(
        taken,
        tuple(set_findings(taken.identities, puzzle)),
        tuple(verified),
        None if puzzle.flips else _flips(taken, physical, answers, budget_s),
        taken.least_gap_mm(),
    )


def _flips(
    taken: Taken, physical: PuzzleSet, answers: Sequence[Answered], budget_s: float | None
) -> Flips:
    possible = taken.can_be_turned_over()
    hard = [one.challenge for one in answers if one.status == IMPOSSIBLE]
    if not possible:
        return Flips(False, (), len(hard))
    turned = answer_catalog(replace(physical, challenges=tuple(hard)), budget_s, flips=True)
    newly = tuple(one.challenge.id for one in turned if one.status == SOLVED)
    return Flips(True, newly, len(hard))
