"""`fabkit check`: are the meshes printable, do they fit? `fabkit verify`: do they solve the catalog?"""

from __future__ import annotations

import itertools
import math
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fabkit.core.errors import name_some
from fabkit.mesh.features import can_be_turned_over
from fabkit.mesh.finding import DIGITS, Finding, counted
from fabkit.mesh.fitting.assembly import Assembly
from fabkit.mesh.fitting.contacts import Solution
from fabkit.mesh.identity import ReadPart, set_findings
from fabkit.mesh.inspect import SOUND_RULES
from fabkit.mesh.part import inside_mm
from fabkit.model.catalog import shipped_snowflakes
from fabkit.model.profile import Profile
from fabkit.solve.answer import IMPOSSIBLE, SOLVED
from fabkit.verify.answers import Answered, Progress, answer_catalog, by_message, unlike
from fabkit.verify.taking import Taken

if TYPE_CHECKING:
    from fabkit.printing.odds import PrinterError, Tolerance

#: So many files or challenges of one message are named.
_NAMED = 4
#: What follows for all pieces from a grid unit, or a clearance, that is not what it should be.
_FOLLOW = {"unit": {"gap-least", "gap-most", "clearance"}, "clearance": {"gap-least", "gap-most"}}
#: Rules that measure nothing, and so can be failed by a mesh that is not sound as by any other.
_NOT_MEASURED = *SOUND_RULES, "shape", "file-name", "cut-through"
#: Kinds of what pieces do beside each other, by a word of its message.
_KIND = re.compile("overlap|gap|reaches|closed")


@dataclass(frozen=True)
class Cause:
    """What is wrong, once: the rule that fails, and in which files; none when it is the set."""

    rule: str
    message: str
    files: tuple[str, ...] = ()

    def __str__(self) -> str:
        """As it is printed: where, what."""
        where = f"{name_some(self.files, _NAMED)}: " if self.files else ""
        return f"{where}{self.rule}: {self.message}"


@dataclass(frozen=True, eq=False)
class CheckReport:
    """What `check` found.

    Attributes:
        profile: the limits.
        findings: on the set as a whole.
        all_parts: the parts, inspected: pieces in the set's order, then boards and lids.
        answers: to the set's challenges, put together.
        tolerance: the odds of challenges as a printer prints them; None when it is not known.
    """

    taken: Taken
    profile: Profile
    findings: tuple[Finding, ...]
    all_parts: tuple[ReadPart, ...]
    answers: tuple[Answered, ...]
    tolerance: Tolerance | None = None

    @property
    def parts(self) -> tuple[ReadPart, ...]:
        """Those that may be pieces."""
        return tuple(one for one in self.all_parts if one.is_piece)

    @property
    def assemblies(self) -> tuple[Assembly, ...]:
        """One for each challenge that was put together."""
        return tuple(one.assembly for one in self.answers if one.assembly)

    @property
    def ok(self) -> bool:
        """Whether everything keeps every rule."""
        told: list[Any] = [*self.findings, *self.assemblies]
        told += [self.tolerance] if self.tolerance else []
        return all(one.ok for one in told) and not any(one.failed for one in self.all_parts)

    def document(self) -> dict[str, Any]:
        """For JSON; but for the files' names alike for the same meshes, however named or turned."""
        found = {
            "set": self.taken.puzzle.name,
            "ok": self.ok,
            "profile": self.profile.name,
            "causes": [vars(one) | {"files": list(one.files)} for one in causes(self)],
            "findings": [finding.document() for finding in self.findings],
            "pieces": {part.key: part.document() for part in self.parts},
            "boards": {part.key: part.document() for part in self.all_parts if not part.is_piece},
            "assemblies": [one.document() for one in self.assemblies],
        }
        return found | ({"tolerance": self.tolerance.document()} if self.tolerance else {})


def check(
    taken: Taken,
    profile: Profile,
    budget_s: float | None = None,
    progress: Progress = lambda done, total, name: None,
    error: PrinterError | None = None,
    answers: Sequence[Answered] | None = None,
) -> CheckReport:
    """Inspects every part as a profile asks, and puts the parts together as the catalog's solutions
    do: the `answers`, or those found in `budget_s` for each challenge.

    The odds that challenges go together are worked out with the error of a printer, if it is given,
    else with that of a calibrated profile.
    """
    puzzle, limits = taken.puzzle, taken.limits(profile)
    answers = taken.answer(limits, budget_s, progress, answers)
    left = [one.challenge.id for one in answers if not one.is_right]
    named = f" ({', '.join(left)})" if left else ""
    what = f"challenges that were not answered as the catalog says{named}"
    of_set = *set_findings(taken.parts, puzzle), *taken.together()
    findings = *of_set, counted("put-together", len(left), 0, what)
    parts = taken.inspect(limits, progress)
    odds = None
    if error or profile.side_sd_mm:
        from fabkit.printing.odds import PrinterError

        error = error or PrinterError.calibrated(profile)
        odds = _tolerance_of(taken, answers, limits, error, progress)
    return CheckReport(taken, profile, findings, parts, tuple(answers), odds)


def _tolerance_of(
    taken: Taken,
    answers: Sequence[Answered],
    profile: Profile,
    error: PrinterError,
    progress: Progress,
) -> Tolerance:
    """What a printer's errors make of the solutions of a set's challenges, of the snowflakes of its
    catalog, of its boards and magnets.

    Each ball has its own hole, so that of pieces of balls only the seats are looked at.
    """
    from fabkit.printing.odds import clearance_of, odds_of_seats, tolerance

    puzzle, boards = taken.puzzle, [one.part for one in taken.boards]
    pieces = taken.pieces() if taken.flat else {}
    solved = [
        Solution(one.id, one.region, layout, clearance_of(one.region, boards, puzzle.lattice))
        for one, layout in ((answer.challenge, answer.layout) for answer in answers)
        if pieces
    ]
    as_drawn = {one.piece for one in taken.parts if one.as_drawn} & pieces.keys()
    flakes = [
        Solution(one.id, one.region, one.solution or {}, halves=one.halves)
        for one in (shipped_snowflakes(puzzle) if as_drawn else ())
        if {*one.pieces} <= as_drawn
    ]
    stubs = itertools.chain(*(one.stubs.stubs for one in taken.parts if one.stubs))
    widths_mm = (
        [mm for one in taken.balls for mm in one.diameters_mm],
        [mm for one in taken.balls for mm in one.links_mm if not math.isnan(mm)],
        [stub.diameter_mm for stub in stubs],
    )
    widest_mm = [max(some, default=0.0) for some in widths_mm]
    seats = [s for one in boards for s in odds_of_seats(one, puzzle.lattice, error, *widest_mm)]
    bores_mm = () if profile.fit == "ribs" else taken.bores_mm  # ribs are there to be crushed
    magnet_mm = profile.magnet_diameter_mm if taken.flat else 0.0
    return tolerance(
        pieces, puzzle.lattice, solved, error, magnet_mm, bores_mm, seats, flakes, progress
    )


# --- one cause, one line ---------------------------------------------------------------------


def causes(report: CheckReport) -> list[Cause]:
    """What is wrong with a set, one line for each cause.

    A part that is not recognised, or whose mesh is not sound, is told once; so is for the set what
    all pieces have in common. Gaps that follow from the clearance and solutions that follow from a
    piece are left out, nothing that has no cause before it: there is none only when nothing fails.
    """
    of_set = {one.rule: Cause(one.rule, one.message) for one in report.findings if not one.ok}
    failing = defaultdict[str, list[tuple[ReadPart, Finding]]](list)
    for part in report.all_parts:
        is_sound = not any(one.rule in SOUND_RULES for one in part.failed)
        for one in part.failed:
            if is_sound or one.value is not None or one.rule in _NOT_MEASURED:
                failing[one.rule] += [] if _is_unlike(one, part) else [(part, one)]
    pieces, alike = sum(one.piece is not None for one in report.parts), dict[str, Cause]()
    for rule, some in failing.items():
        values = [one.value for part, one in some if part.piece and one.value is not None]
        # Values are one that differ by less than 0.02, or by a hundredth of themselves.
        if 1 < pieces == len(values) and np.ptp(values) <= max(0.02, 0.01 * abs(max(values))):
            alike[rule] = Cause(rule, f"all {pieces} pieces: {some[0][1].message}")
    follow = set().union(*(_FOLLOW[one] for one in _FOLLOW if one in {*of_set, *alike}))
    found = [of_set[rule] for rule in ("lengths", "clearance") if rule in {*of_set} - follow]
    found += [one for rule, one in alike.items() if rule not in follow]
    found += [Cause("shape", one) for one in unlike(report.taken.parts, report.answers)]
    for rule, some in failing.items():
        told = defaultdict[str, list[tuple[str, str]]](list)
        for part, one in some if rule not in {*follow, *alike} else ():
            if not (rule == "board-read" and one.unit and "unit" in alike):
                # Those of one message together, and of one rule when many.
                told[one.message if len(some) <= _NAMED else ""].append((part.name, one.message))
        for files, messages in (zip(*pairs, strict=True) for pairs in told.values()):
            several = f" (in {files[0]})" if len({*messages}) > 1 else ""
            found.append(Cause(rule, messages[0] + several, files))
    found += [of_set[rule] for rule in ("missing", "twice") if rule in of_set]
    # Challenges with another answer than the catalog's, but for those that a cause explains.
    left = [one for one in report.answers if not (one.is_right or one.missing or one.drawn)]
    for message, ids in by_message(left).items():
        found.append(Cause("put-together", f"{name_some(ids, _NAMED)}: {message}"))
    if not (follow or _FOLLOW["clearance"] & {*alike}):
        found += _of_assemblies(report)
    return found or list(of_set.values())


def _is_unlike(finding: Finding, part: ReadPart) -> bool:
    """Whether `unlike` tells it of a piece: another outline, a letter in a mirror as well."""
    in_mirror = {one.rule for one in part.failed if "mirror" in one.message}
    of_letter = {"shape", finding.rule} <= in_mirror and finding.rule.startswith("letter")
    return bool(part.piece) and (of_letter or (finding.rule, finding.value) == ("shape", None))


def _of_assemblies(report: CheckReport) -> Iterator[Cause]:
    """What solutions complain of that no piece was blamed for."""
    blamed = {part.key for part in report.all_parts if part.failed}
    kinds = defaultdict[str, dict[str, list[str]]](dict)
    for one in report.assemblies:
        for message in one.messages:
            if not blamed & {*re.findall(r"[\w-]+", message)}:
                kind = kinds[_KIND.findall(message)[0]]
                kind.setdefault(message, []).append(one.challenge)
    for kind in kinds.values():
        message, ids = next(iter(kind.items()))
        more = f", and {len(kind) - 1} more like that" if len(kind) > 1 else ""
        yield Cause("put-together", f"{message} (in {name_some(ids, 2)}){more}")


# --- does it solve the catalog? -----------------------------------------------------------------


@dataclass(frozen=True)
class Flips:
    """What changes when pieces are turned over: whether all can be, their faces being alike; and
    which challenges, that no solution by the rules has, have one then."""

    possible: bool
    newly_solved: list[str]
    message: str


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
        gap = self.least_gap_mm
        parts = sorted(self.taken.parts, key=lambda one: one.key)
        return {
            "set": self.taken.puzzle.name,
            "ok": self.ok,
            "findings": [finding.document() for finding in self.findings],
            "unlike": unlike(self.taken.parts, self.challenges),
            "pieces": {one.key: one.reading() for one in parts},
            "every_solution_gap_mm": None if gap is None else round(gap, DIGITS),
            "challenges": [one.document(self.taken.puzzle) for one in self.challenges],
            "flips": self.flips and vars(self.flips),
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
    findings = tuple(set_findings(taken.parts, taken.puzzle))
    flips = None if taken.puzzle.flips else _turned_over(taken, answers, budget_s)
    return VerifyReport(taken, findings, tuple(answers), flips)


def _turned_over(taken: Taken, answers: Sequence[Answered], budget_s: float | None) -> Flips:
    # Balls that hang in holes cannot be played on either face.
    if not all(one.features and can_be_turned_over(one.part, one.features) for one in taken.parts):
        return Flips(False, [], "pieces cannot be turned over: their faces differ")
    hard = tuple(one.challenge for one in answers if one.status == IMPOSSIBLE)
    turned = answer_catalog(replace(taken.as_read, challenges=hard), budget_s, flips=True)
    newly = [one.challenge.id for one in turned if one.status == SOLVED]
    told = "what is impossible by the rules stays impossible"
    if not hard:
        told = "no challenge is impossible without, so nothing changes"
    elif newly:
        told = f"then {', '.join(newly)} can be solved, against the rules"
    return Flips(True, newly, f"pieces can be turned over; {told}")


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
