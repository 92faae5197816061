"""Solving a set's challenges with the forms scanned from meshes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fabkit.core.errors import join_names, pluralize
from fabkit.core.progress import Progress, counted, no_progress
from fabkit.jobs.run import Pool
from fabkit.mesh.finding import DIGITS, TINY_MM, TINY_MM3
from fabkit.mesh.fitting.assembly import Assembly
from fabkit.mesh.identity import ScannedPart
from fabkit.model.piece import normalize_cells
from fabkit.model.polygon import rings_of_cells
from fabkit.model.puzzle import Challenge, PuzzleSet, rings_to_units
from fabkit.sets.challenges import find_challenge
from fabkit.solve.answer import IMPOSSIBLE, SOLVED, UNKNOWN, solve
from fabkit.solve.each import EachQuery, solve_each
from fabkit.solve.encoding import Layout, to_exact_cover
from fabkit.solve.engines.engine import Budget

#: The maximum number of neighbours of a piece; single precision makes each overlap slightly.
_NEIGHBOURS = 6
#: At most this many members of a family are named.
_MOST_NAMED = 8
#: What to do about a challenge without a solution.
_IF_RIGHT = 'if that is right, state a challenge with answer = "impossible"'


@dataclass(frozen=True, eq=False)
class ChallengeResult:
    """The result of one challenge, solved with scanned pieces.

    Attributes:
        status: ``solved``, ``impossible`` or ``unknown``; ``missing`` if pieces are.
        layout: the solution, the cells of each piece; `assembly` is the solution assembled from the
            meshes.
        status_as_drawn: the status with the pieces as drawn; empty if all pieces are as drawn.
    """

    challenge: Challenge
    status: str
    layout: Layout
    missing: tuple[str, ...] = ()
    engine: str = ""
    status_as_drawn: str = ""
    assembly: Assembly | None = None

    @property
    def expected(self) -> str:
        """The answer that the set states, else the status with the pieces as drawn.

        A challenge that states no answer is expected to have a solution.
        """
        if self.challenge.answer or self.missing:
            return self.challenge.answer or SOLVED
        status = self.status_as_drawn or self.status
        return SOLVED if status == IMPOSSIBLE and self.status == IMPOSSIBLE else status

    @property
    def as_expected(self) -> bool:
        """Whether the status is the expected one; without one in the catalog it may be unknown."""
        is_open = not self.challenge.answer and UNKNOWN in (self.status, self.status_as_drawn)
        return is_open or self.status == self.expected

    @property
    def fits(self) -> bool:
        """Whether the solution can be assembled without overlap, inside its region."""
        assembly = self.assembly
        tiny_mm3 = TINY_MM3 * _NEIGHBOURS * len(self.layout)
        if assembly is None:
            return True
        is_inside = assembly.outside_mm <= TINY_MM
        return assembly.is_measured and assembly.overlap_mm3 <= tiny_mm3 and is_inside

    @property
    def ok(self) -> bool:
        """Whether the status is as expected, and the solution can be assembled."""
        return self.as_expected and self.fits

    @property
    def message(self) -> str:
        """The result in a phrase."""
        status = self.status
        claimed = self.challenge.answer
        if self.missing:
            return f"no answer: {', '.join(self.missing)} missing"
        if not self.as_expected:
            if claimed:
                return f"{status}, but the catalog says {self.expected}"
            if self.status_as_drawn in ("", status):
                return f"{status}, also with the pieces as drawn; {_IF_RIGHT}"
            return f"{status}, but {self.expected} with the pieces as drawn"
        if self.assembly and not self.fits:
            problems = [message for message in self.assembly.messages if " gap " not in message]
            return f"{status}, but {join_names(problems or ['pieces overlap'], 2)}"
        return status

    def document(self, puzzle: PuzzleSet) -> dict[str, Any]:
        """Return the result for JSON."""
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
                piece: rings_to_units(lattice, rings_of_cells(lattice, cells))
                for piece, cells in self.layout.items()
            },
        }


def challenges_to_solve(puzzle: PuzzleSet) -> tuple[Challenge, ...]:
    """The challenges of a set, and its boards as challenges with all pieces, like `fabkit solve`.

    Only boards that are not already a challenge, by name or by cells, and whose area the pieces cover,
    unless there is nothing else to solve.
    """
    cells = sum(len(piece.forms[0].cells) for piece in puzzle.pieces)
    known = {challenge.id for challenge in puzzle.challenges}
    count = len(puzzle.pieces)
    whole = {
        normalize_cells(puzzle.lattice, challenge.region)
        for challenge in puzzle.challenges
        if len(challenge.pieces) == count
    }
    boards = [
        board
        for board in puzzle.boards
        if board.id not in known and normalize_cells(puzzle.lattice, board.cells) not in whole
    ]
    full = [board for board in boards if len(board.cells) - board.open_count == cells]
    if not full and not puzzle.challenges:
        full = [board for board in boards if not board.optional]
    return (*puzzle.challenges, *(find_challenge(puzzle, board.id) for board in full))


def solve_catalog(
    puzzle: PuzzleSet, budget_s: float | None, progress: Progress = no_progress, flips: bool = False
) -> list[ChallengeResult]:
    """Solve every challenge of a set, each within `budget_s` (no limit if None; at most ten seconds if
    the catalog states no answer). `flips` allows turning pieces over even against the rules."""
    known = {piece.id for piece in puzzle.pieces}
    answers = []
    count = len(puzzle.challenges)
    for done, challenge in enumerate(puzzle.challenges):
        counted(progress, done, count, challenge.id)
        missing = tuple(piece for piece in challenge.pieces if piece not in known)
        if missing:
            answers.append(ChallengeResult(challenge, "missing", {}, missing))
            continue
        encoded = to_exact_cover(puzzle, replace(challenge, flips=challenge.flips or flips))
        limits_s = [10.0] if not challenge.answer else []
        limits_s += [] if budget_s is None else [budget_s]
        # Most are solved within a second, faster than infeasibility could be checked.
        answer = solve(encoded, "first", "search", Budget(min([*limits_s, 1.0])))
        if answer.status == UNKNOWN:
            answer = solve(encoded, "first", budget=Budget(min(limits_s, default=None)))
        layout = encoded.decode(answer.solutions[0]) if answer.solutions else {}
        answers.append(ChallengeResult(challenge, answer.status, layout, (), answer.engine))
    progress(1.0, "")
    return answers


@dataclass(frozen=True)
class FamilyResult:
    """The result of a family, each member solved with scanned pieces.

    Attributes:
        impossible: the members without a solution.
        changed: the members whose answer differs with the pieces as drawn.
    """

    family: str
    members: int
    impossible: tuple[str, ...]
    changed: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether every member has the same answer as with the pieces as drawn."""
        return not self.changed

    @property
    def message(self) -> str:
        """The result in a phrase."""
        solved = self.members - len(self.impossible)
        text = f"{self.family}: {solved:,} of {pluralize(self.members, 'member')} solved"
        if self.changed:
            names = join_names(list(self.changed), _MOST_NAMED)
            text += f"; not as with the pieces as drawn: {names}"
        return text


def solve_families(
    puzzle: PuzzleSet, drawn: PuzzleSet, progress: Progress = no_progress
) -> list[FamilyResult]:
    """Solve all members of a set's families, except those that lack a piece.

    Args:
        drawn: the set with the pieces as drawn.
    """
    ids = {piece.id for piece in puzzle.pieces}
    results = []
    for family in puzzle.families:
        if not ids.issuperset(family.pieces):
            continue
        statuses = []
        for pieces in (puzzle, *([drawn] if puzzle.pieces_sha256 != drawn.pieces_sha256 else ())):
            with Pool() as pool:
                query = EachQuery(pieces, family.id, "first")
                statuses.append(
                    {
                        answer.challenge: answer.status
                        for answer in solve_each(query, pool, progress=progress)
                    }
                )
        scanned = statuses[0]
        impossible = tuple(name for name, status in scanned.items() if status != SOLVED)
        changed = tuple(name for name, status in scanned.items() if statuses[-1][name] != status)
        results.append(FamilyResult(family.id, len(scanned), impossible, changed))
    return results


def group_by_message(answers: Iterable[ChallengeResult]) -> dict[str, list[str]]:
    """Group the ids of challenges by the message of their results."""
    ids: dict[str, list[str]] = {}
    for result in answers:
        ids.setdefault(result.message, []).append(result.challenge.id)
    return ids


def describe_deviations(
    parts: Sequence[ScannedPart], answers: Sequence[ChallengeResult]
) -> list[str]:
    """Describe pieces that are not as drawn, with the answers that change.

    One sentence covers the pieces that are mirror images, and one the others.
    """
    sentences = []
    other = [part for part in parts if part.piece and not part.plays_as_drawn]
    mirrored = [part for part in other if part.mirrored and part.piece in part.alike]
    for what, affected in (
        ("the mirror image of {} in the set's file", mirrored),
        ("not {} as the set's file draws {}", [part for part in other if part not in mirrored]),
    ):
        ids = {str(part.piece) for part in affected}
        names = [part.name for part in sorted(affected, key=lambda part: part.key)]
        are, it = ("are", "them") if len(affected) > 1 else ("is", "it")
        solved_anew = [result for result in answers if result.status_as_drawn]
        changed = [result for result in solved_anew if ids & {*result.challenge.pieces}]
        sentence = (
            f"{join_names(names)} {are} {what.format(join_names(sorted(ids)), it)}; with {it} "
        )
        sentences += [sentence + _changes(changed)] if affected else []
    return sentences


def _changes(answers: Sequence[ChallengeResult]) -> str:
    """The changes in the answers to challenges, in words."""
    ids = defaultdict[tuple[str, str], list[str]](list)
    for result in answers:
        ids[result.status_as_drawn, result.status].append(result.challenge.id)
    newly = ids[IMPOSSIBLE, SOLVED]
    lost = ids[SOLVED, IMPOSSIBLE]
    sentences = []
    if newly:
        count = f"{pluralize(len(newly), 'challenge')} that {'are' if len(newly) > 1 else 'is'}"
        sentences.append(f"{count} impossible as drawn can be solved ({join_names(newly)})")
    if lost:
        others = f"{len(lost)} {'others' if len(lost) > 1 else 'other'} no longer"
        count = others if newly else f"{pluralize(len(lost), 'challenge')} can no longer be solved"
        sentences.append(f"{count} ({join_names(lost)})")
    return ", and ".join(sentences) or "no challenge changes its answer"
