"""`fabkit verify`: do the pieces that the meshes really are solve the set's catalog?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from fabkit.core.errors import name_some
from fabkit.mesh.features import can_be_turned_over
from fabkit.mesh.finding import DIGITS, Finding
from fabkit.mesh.identity import set_findings
from fabkit.mesh.part import inside_mm
from fabkit.model.profile import Profile
from fabkit.solve.answer import IMPOSSIBLE, SOLVED
from fabkit.verify.answers import Answered, Progress, answer_catalog, by_message, unlike
from fabkit.verify.taking import Taken

#: So many challenges or files of one message are named.
_NAMED = 4


@dataclass(frozen=True)
class Flips:
    """What changes when pieces are turned over.

    Attributes:
        possible: whether every part can be: both its faces are alike.
        newly: of the `tried` challenges, which no solution by the rules has, those that have one then.
    """

    possible: bool
    newly: tuple[str, ...]
    tried: int

    @property
    def message(self) -> str:
        """In a sentence."""
        if not self.possible:
            return "pieces cannot be turned over: their faces differ"
        told = "what is impossible by the rules stays impossible"
        if not self.tried:
            told = "no challenge is impossible without, so nothing changes"
        elif self.newly:
            told = f"then {', '.join(self.newly)} can be solved, against the rules"
        return f"pieces can be turned over; {told}"


@dataclass(frozen=True, eq=False)
class VerifyReport:
    """What `verify` found, on the set and on each challenge of the catalog; `flips` is what turning
    pieces over changes, None when the rules allow it anyway."""

    taken: Taken
    findings: tuple[Finding, ...]
    challenges: tuple[Answered, ...]
    flips: Flips | None

    @property
    def ok(self) -> bool:
        """Whether the physical set is the puzzle."""
        return all(one.ok for one in self.findings) and all(one.ok for one in self.challenges)

    @cached_property
    def least_gap_mm(self) -> float | None:
        """The gap that two flat parts keep in any solution; below 0 when one reaches out.

        Let each part's outline as seen lie at least c inside its outline as read. Outlines of a
        solution do not overlap, so a straight way from one part to another leaves the first and
        enters the second: it is at least as long as the two c together.
        """
        insides = sorted(
            inside_mm(part.shadow, part.outline.canonical)
            for part in self.taken.pieces().values()
            if part.outline
        )
        return insides[0] + insides[1] if len(insides) > 1 else None

    def document(self) -> dict[str, Any]:
        """For JSON; but for the files' names alike for the same meshes, however named or turned."""
        gap, flips = self.least_gap_mm, self.flips
        parts = sorted(self.taken.parts, key=lambda one: one.key)
        return {
            "set": self.taken.puzzle.name,
            "ok": self.ok,
            "findings": [finding.document() for finding in self.findings],
            "unlike": unlike(self.taken.parts, self.challenges),
            "pieces": {one.key: one.reading() for one in parts},
            "every_solution_gap_mm": None if gap is None else round(gap, DIGITS),
            "challenges": [one.document(self.taken.puzzle) for one in self.challenges],
            "flips": flips
            and {
                "possible": flips.possible,
                "newly_solved": list(flips.newly),
                "message": flips.message,
            },
        }


def verify(
    taken: Taken,
    profile: Profile,
    budget_s: float | None = None,
    progress: Progress = lambda done, total, name: None,
) -> VerifyReport:
    """Solves the catalog with the outlines read from meshes, each challenge in `budget_s`, and puts
    every solution together; of gaps it says what a profile asks for."""
    answers = taken.answer(taken.limits(profile), budget_s, progress)
    return VerifyReport(
        taken,
        tuple(set_findings(taken.identities, taken.puzzle)),
        tuple(answers),
        None if taken.puzzle.flips else _flips(taken, answers, budget_s),
    )


def _flips(taken: Taken, answers: Sequence[Answered], budget_s: float | None) -> Flips:
    # Balls that hang in holes cannot be played on either face.
    possible = all(
        one.features and can_be_turned_over(one.part, one.features) for one in taken.parts
    )
    hard = tuple(one.challenge for one in answers if one.status == IMPOSSIBLE)
    physical = replace(taken.as_read, challenges=hard)
    turned = answer_catalog(physical, budget_s, flips=True) if possible else []
    newly = tuple(one.challenge.id for one in turned if one.status == SOLVED)
    return Flips(possible, newly, len(hard))


def challenge_causes(report: VerifyReport) -> list[str]:
    """What `verify` has to say against the challenges, and of pieces that are not as drawn: one line
    for each cause, those of one message together."""
    told, answers = unlike(report.taken.parts, report.challenges), report.challenges
    if files := sorted(one.name for one in report.taken.parts if not one.piece):
        told.append(f"{name_some(files, _NAMED)}: no piece of the set")
    if gone := {name for one in answers for name in one.missing}:
        names = [piece.id for piece in report.taken.puzzle.pieces if piece.id in gone]
        ids = name_some([one.challenge.id for one in answers if one.missing], _NAMED)
        told.append(f"{ids}: not answered: {name_some(names, 2 * _NAMED)} missing")
    left = [one for one in answers if not one.missing and (one.is_right or not one.drawn)]
    found = by_message(one for one in left if not one.ok)
    return told + [f"{name_some(ids, _NAMED)}: {why}" for why, ids in found.items()]
