"""Solving a set's challenges with the outlines that were read from meshes, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fabkit.core.errors import many, name_some
from fabkit.mesh.finding import DIGITS, TINY_MM, TINY_MM3
from fabkit.mesh.fitting.assembly import Assembly
from fabkit.mesh.identity import ReadPart
from fabkit.model.challengeload import find_challenge
from fabkit.model.polygon import rings_of_cells
from fabkit.model.puzzle import Challenge, PuzzleSet, rings_in_units
from fabkit.solve.answer import IMPOSSIBLE, SOLVED, UNKNOWN, solve
from fabkit.solve.engines.engine import Effort
from fabkit.solve.posing import Layout, pose

#: Told the number of challenges done, of all, and which comes next.
Progress = Callable[[int, int, str], None]
#: Pieces have no more neighbours than this, each of which single precision lets overlap a little.
_NEIGHBOURS = 6


@dataclass(frozen=True, eq=False)
class Answered:
    """What meshes answer to one challenge.

    Attributes:
        status: ``solved``, ``impossible`` or ``unknown``; ``missing`` when pieces for it are.
        layout: the solution, for each piece its cells, put together from the meshes as `assembly`.
        drawn: the answer with the pieces as the set's file draws them; empty when all pieces are.
    """

    challenge: Challenge
    status: str
    layout: Layout
    missing: tuple[str, ...] = ()
    engine: str = ""
    drawn: str = ""
    assembly: Assembly | None = None

    @property
    def expected(self) -> str:
        """What the catalog says, else what the pieces as drawn answer."""
        return self.challenge.answer or (SOLVED if self.missing else self.drawn or self.status)

    @property
    def is_right(self) -> bool:
        """Whether this is what the catalog says; what it does not say may stay unknown."""
        is_open = not self.challenge.answer and UNKNOWN in (self.status, self.drawn)
        return is_open or self.status == self.expected

    @property
    def fits(self) -> bool:
        """Whether the solution goes together without overlap, inside its region."""
        one, tiny_mm3 = self.assembly, TINY_MM3 * _NEIGHBOURS * len(self.layout)
        return one is None or (
            one.is_measured and one.overlap_mm3 <= tiny_mm3 and one.outside_mm <= TINY_MM
        )

    @property
    def ok(self) -> bool:
        """Whether the answer is the catalog's, and the solution goes together."""
        return self.is_right and self.fits

    @property
    def message(self) -> str:
        """What is to be said of it, in a sentence."""
        status, claimed = self.status, self.challenge.answer
        if self.missing:
            return f"not answered: {', '.join(self.missing)} missing"
        if not self.is_right:
            says = "the catalog says" if claimed else "with the pieces as drawn it is"
            return f"{status}, and {says} {self.expected}"
        if status == IMPOSSIBLE and not claimed and self.drawn in ("", status):
            return f"{status}, as with the pieces as drawn"
        if self.assembly and not self.fits:
            told = [one for one in self.assembly.messages if " gap " not in one]
            return f"{status}, but {name_some(told or ['pieces overlap'], 2)}"
        return status

    def document(self, puzzle: PuzzleSet) -> dict[str, Any]:
        """For JSON."""
        lattice = puzzle.lattice
        return {
            "challenge": self.challenge.id,
            "ok": self.ok,
            "expected": self.expected,
            "status": self.status,
            "engine": self.engine,
            "message": self.message,
            "overlap_mm3": round(self.assembly.overlap_mm3, DIGITS) if self.assembly else None,
            "solution": {
                piece: rings_in_units(lattice, rings_of_cells(lattice, cells))
                for piece, cells in self.layout.items()
            },
        }


def asked(puzzle: PuzzleSet) -> tuple[Challenge, ...]:
    """The challenges of a set, then its boards with all pieces as `fabkit solve` takes them: those
    that are no challenge anyhow and that the pieces can cover by their area, unless there is
    nothing else."""
    cells = sum(len(piece.forms[0].cells) for piece in puzzle.pieces)
    known = {one.id for one in puzzle.challenges}
    whole = {one.region for one in puzzle.challenges if len(one.pieces) == len(puzzle.pieces)}
    boards = [one for one in puzzle.boards if one.id not in known and one.cells not in whole]
    full = [one for one in boards if len(one.cells) == cells]
    full = full or ([] if puzzle.challenges else boards)
    return (*puzzle.challenges, *(find_challenge(puzzle, one.id) for one in full))


def answer_catalog(
    puzzle: PuzzleSet,
    budget_s: float | None,
    progress: Progress = lambda done, total, name: None,
    flips: bool = False,
) -> list[Answered]:
    """Solves every challenge of a set with the pieces that it has, each in so many seconds (without
    end when None; ten at most where no answer is claimed); with `flips` whatever the rules say."""
    known, answers, count = {piece.id for piece in puzzle.pieces}, [], len(puzzle.challenges)
    for done, challenge in enumerate(puzzle.challenges):
        progress(done, count, challenge.id)
        missing = tuple(piece for piece in challenge.pieces if piece not in known)
        if missing:
            answers.append(Answered(challenge, "missing", {}, missing))
            continue
        posed = pose(puzzle, replace(challenge, flips=challenge.flips or flips))
        limits_s = [10.0] if not challenge.answer else []
        limits_s += [] if budget_s is None else [budget_s]
        # Most are solved in a second, sooner than it could be ruled out that they are impossible.
        answer = solve(posed, "first", "search", Effort(min([*limits_s, 1.0])))
        if answer.status == UNKNOWN:
            answer = solve(posed, "first", effort=Effort(min(limits_s, default=None)))
        layout = posed.layout(answer.solutions[0]) if answer.solutions else {}
        answers.append(Answered(challenge, answer.status, layout, (), answer.engine))
    progress(count, count, "")
    return answers


def by_message(answers: Iterable[Answered]) -> dict[str, list[str]]:
    """What is to be said of answers, each message with the challenges' ids."""
    found: dict[str, list[str]] = {}
    for one in answers:
        found.setdefault(one.message, []).append(one.challenge.id)
    return found


def unlike(parts: Sequence[ReadPart], answers: Sequence[Answered]) -> list[str]:
    """One sentence on the pieces that are mirror images, one on others that are not as drawn, and
    what that changes in the answers; none when there are none."""
    found = []
    other = [one for one in parts if one.piece and not one.as_drawn]
    mirrored = [one for one in other if one.mirrored and one.piece in one.alike]
    for what, some in (
        ("the mirror image of {} in the set's file", mirrored),
        ("not {} as the set's file draws {}", [one for one in other if one not in mirrored]),
    ):
        ids = {str(one.piece) for one in some}
        names = [one.name for one in sorted(some, key=lambda one: one.key)]
        are, it = ("are", "them") if len(some) > 1 else ("is", "it")
        changed = [one for one in answers if one.drawn and ids & {*one.challenge.pieces}]
        told = f"{name_some(names)} {are} {what.format(name_some(sorted(ids)), it)}; with {it} "
        found += [told + _changes(changed)] if some else []
    return found


def _changes(answers: Sequence[Answered]) -> str:
    """What pieces change in the answers to their challenges, in words."""
    newly, lost = (
        [one.challenge.id for one in answers if (one.status, one.drawn) == change]
        for change in ((SOLVED, IMPOSSIBLE), (IMPOSSIBLE, SOLVED))
    )
    told = []
    if newly:
        count = f"{many(len(newly), 'challenge')} that {'are' if len(newly) > 1 else 'is'}"
        told.append(f"{count} impossible as drawn can be solved ({name_some(newly)})")
    if lost:
        others = f"{len(lost)} {'others' if len(lost) > 1 else 'other'} no longer"
        count = others if newly else f"{many(len(lost), 'challenge')} can no longer be solved"
        told.append(f"{count} ({name_some(lost)})")
    return ", and ".join(told) or "no challenge has another answer"
