"""`fabkit verify`: do the pieces that the meshes really are solve the set's catalog?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from fabkit.core.errors import many, name_some
from fabkit.mesh.finding import DIGITS, TINY_MM, Finding
from fabkit.mesh.fitting.assembly import TINY_MM3, Assembly
from fabkit.mesh.identity import set_findings
from fabkit.model.accessory import as_printed
from fabkit.model.polygon import rings_of_cells
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet, rings_in_units
from fabkit.solve.answer import IMPOSSIBLE, SOLVED, UNKNOWN
from fabkit.verify.answers import (
    Answered,
    Progress,
    answer_all,
    answer_catalog,
    read_set,
    unlike,
)
from fabkit.verify.taking import Taken

#: Pieces have no more neighbours than this, each of which single precision lets overlap a little.
_NEIGHBOURS = 6
#: So many challenges or files of one message are named.
_NAMED = 4
#: So many messages on challenges are told.
_MESSAGES = 8


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
        tiny_mm3 = TINY_MM3 * _NEIGHBOURS * len(self.answered.layout)
        return one is None or (
            one.is_measured and one.overlap_mm3 <= tiny_mm3 and one.outside_mm <= TINY_MM
        )

    @property
    def ok(self) -> bool:
        """Whether the answer is the catalog's, and the solution goes together."""
        return self.answered.ok and self.fits

    @property
    def message(self) -> str:
        """What is to be said of it, in a sentence."""
        answered, claimed = self.answered, self.answered.challenge.answer
        if answered.missing:
            return f"not answered: {', '.join(answered.missing)} missing"
        if not answered.ok:
            says = "the catalog says" if claimed else "with the pieces as drawn it is"
            return f"{answered.status}, and {says} {answered.expected}"
        if answered.status != SOLVED and not claimed:
            as_drawn = answered.drawn in ("", answered.status)
            why = ", as with the pieces as drawn" if as_drawn else ""
            return f"{answered.status}{'' if answered.status == UNKNOWN else why}"
        if not self.fits:
            messages = self.assembly.messages if self.assembly else ()
            told = [one for one in messages if " gap " not in one] or ["pieces overlap"]
            return f"{answered.status}, but {name_some(told, 2)}"
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

    @property
    def unlike(self) -> list[str]:
        """What is to be said of pieces that are not as the set's file draws them."""
        files = [part.name for part in self.taken.parts]
        return unlike(self.taken.identities, files, [one.answered for one in self.challenges])

    def document(self) -> dict[str, Any]:
        """For JSON; but for the files' names the same for the same meshes, however they are named,
        ordered or turned."""
        puzzle = self.taken.puzzle
        keys = [(identity.key, at) for at, identity in enumerate(self.taken.identities)]
        gap = self.least_gap_mm
        return {
            "set": puzzle.name,
            "ok": self.ok,
            "findings": [finding.document() for finding in self.findings],
            "unlike": self.unlike,
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
        "expected": answered.expected,
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
    pieces = taken.read_pieces()
    answers = answer_all(puzzle, pieces, taken.identities, budget_s, progress)
    solved, limits = [one for one in answers if one.layout], as_printed(puzzle, profile)
    assemblies = {one.challenge: one for one in taken.assemble(solved, limits, progress)}
    verified = [Verified(one, assemblies.get(one.challenge.id)) for one in answers]
    return VerifyReport(
        taken,
        tuple(set_findings(taken.identities, puzzle)),
        tuple(verified),
        None if puzzle.flips else _flips(taken, read_set(puzzle, pieces), answers, budget_s),
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


def challenge_causes(report: VerifyReport) -> list[str]:
    """What `verify` has to say against the challenges, and of pieces that are not as drawn.

    Args:
        report: what was found.

    Returns:
        One line for each cause; challenges of one message are told together.
    """
    told, taken = [*report.unlike], report.taken
    pairs = zip(taken.parts, taken.identities, strict=True)
    if files := sorted(part.name for part, one in pairs if not one.piece):
        told.append(f"{name_some(files, _NAMED)}: no piece of the set")
    missing = [one.answered for one in report.challenges if one.answered.missing]
    if missing:
        gone = {name for one in missing for name in one.missing}
        names = [piece.id for piece in taken.puzzle.pieces if piece.id in gone]
        ids = name_some([one.challenge.id for one in missing], _NAMED)
        told.append(f"{ids}: not answered: {name_some(names, 2 * _NAMED)} missing")
    found: dict[str, list[str]] = {}
    for one in report.challenges:
        if not (one.ok or one.answered.missing or (one.answered.drawn and not one.answered.ok)):
            found.setdefault(one.message, []).append(one.answered.challenge.id)
    told += [f"{name_some(ids, _NAMED)}: {why}" for why, ids in list(found.items())[:_MESSAGES]]
    if more := list(found.values())[_MESSAGES:]:
        told.append(f"{many(sum(map(len, more)), 'other challenge')} failed; --json lists them")
    return told
