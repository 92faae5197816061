"""The reports of `fabkit check` (are the meshes printable, do they fit?) and `fabkit verify` (do
they solve the catalog?)."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from fabkit.core.errors import InputError, join_names
from fabkit.core.progress import Progress, no_progress
from fabkit.mesh.features import can_be_turned_over
from fabkit.mesh.finding import DIGITS, Finding, count_finding
from fabkit.mesh.fitting.assembly import Assembly
from fabkit.mesh.fitting.contacts import Solution
from fabkit.mesh.identity import ScannedPart, set_findings
from fabkit.mesh.inspect import MESH_RULES
from fabkit.mesh.part import inside_mm
from fabkit.profiles.profile import Profile
from fabkit.sets.catalog import shipped_entries
from fabkit.solve.answer import IMPOSSIBLE, SOLVED
from fabkit.verify.challenge_results import (
    ChallengeResult,
    FamilyResult,
    describe_deviations,
    group_by_message,
    solve_catalog,
    solve_families,
)
from fabkit.verify.scan import ScannedSet

if TYPE_CHECKING:
    from fabkit.drawing.part import PartDrawing
    from fabkit.printing.magnet_forces import MagnetForces
    from fabkit.printing.odds import PrinterError, ToleranceReport

#: The number of files or challenges named in one message.
_NAMED = 4
#: Rules that fail for all pieces as a consequence of a wrong grid unit or clearance.
_FOLLOW = {"unit": {"gap-min", "gap-max", "clearance"}, "clearance": {"gap-min", "gap-max"}}
#: Rules that measure nothing, so that they are meaningful on a faulty mesh, too.
_NOT_MEASURED = *MESH_RULES, "shape", "file-name", "cut-through"
#: Kinds of problems between pieces, by a word of their message.
_KIND = re.compile("overlap|gap|reaches|closed")


@dataclass(frozen=True)
class Cause:
    """A cause of failure: the rule, and the files that fail it; none if the whole set does."""

    rule: str
    message: str
    files: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the line to print: files, rule, message."""
        where = f"{join_names(self.files, _NAMED)}: " if self.files else ""
        return f"{where}{self.rule}: {self.message}"


@dataclass(frozen=True, eq=False)
class CheckReport:
    """The report of `check`.

    Attributes:
        profile: the limits.
        findings: on the set as a whole.
        all_parts: the parts, inspected: pieces in the set's order, then boards and lids.
        answers: the results of the set's challenges, assembled.
        tolerance: the odds of challenges given a printer's errors; None if these are unknown.
        magnets: the forces of the magnets; None without magnets.
    """

    scan: ScannedSet
    profile: Profile
    findings: tuple[Finding, ...]
    all_parts: tuple[ScannedPart, ...]
    answers: tuple[ChallengeResult, ...]
    tolerance: ToleranceReport | None = None
    magnets: MagnetForces | None = None

    @property
    def parts(self) -> tuple[ScannedPart, ...]:
        """The parts that may be pieces."""
        return tuple(part for part in self.all_parts if part.is_piece)

    @property
    def assemblies(self) -> tuple[Assembly, ...]:
        """The assembly of each challenge that was assembled."""
        return tuple(result.assembly for result in self.answers if result.assembly)

    @property
    def ok(self) -> bool:
        """Whether all checks passed."""
        verdicts = [finding.ok for finding in self.findings]
        verdicts += [assembly.ok for assembly in self.assemblies]
        verdicts += [not part.failed for part in self.all_parts]
        return all(verdicts) and (self.tolerance is None or self.tolerance.ok)

    def document(self) -> dict[str, Any]:
        """Return the report for JSON; it does not depend on names or rotations of meshes."""
        document: dict[str, Any] = {
            "set": self.scan.puzzle.name,
            "ok": self.ok,
            "profile": self.profile.name,
            "causes": [vars(cause) | {"files": list(cause.files)} for cause in causes(self)],
            "findings": [finding.document() for finding in self.findings],
            "pieces": {part.key: part.document() for part in self.parts},
            "boards": {part.key: part.document() for part in self.all_parts if not part.is_piece},
            "assemblies": [assembly.document() for assembly in self.assemblies],
            "magnets": self.magnets and self.magnets.document(),
        }
        return document | ({"tolerance": self.tolerance.document()} if self.tolerance else {})


def check(
    scan: ScannedSet,
    profile: Profile,
    budget_s: float | None = None,
    progress: Progress = no_progress,
    error: PrinterError | None = None,
    answers: Sequence[ChallengeResult] | None = None,
    drawings: Mapping[str, PartDrawing] = MappingProxyType({}),
) -> CheckReport:
    """Check every part against a profile, and assemble the solutions of the catalog: the `answers`,
    or those found within `budget_s` for each challenge.

    The odds of challenges are computed from the given printer error, or else from that of a
    calibrated profile. Pieces among the `drawings` are not drafted again.
    """
    sizes = scan.limits(profile)
    answers = scan.solve_and_assemble(sizes, budget_s, progress, answers)
    left = [result.challenge.id for result in answers if not result.as_expected]
    named = f" ({', '.join(left)})" if left else ""
    what = f"challenges whose answer differs from the catalog{named}"
    of_set = *set_findings(scan.parts, scan.as_printed), *scan.scale_findings()
    findings = *of_set, count_finding("assembly", len(left), 0, what)
    parts = scan.inspect(sizes, progress)
    odds = None
    if error or profile.side_sd_mm:
        from fabkit.printing.odds import PrinterError

        error = error or PrinterError.of_profile(profile)
        odds = _tolerance_of(scan, answers, sizes, error, progress)
    forces = _magnet_forces_of(scan, answers, profile, drawings)
    return CheckReport(scan, profile, findings, parts, tuple(answers), odds, forces)


def _magnet_forces_of(
    scan: ScannedSet,
    answers: Sequence[ChallengeResult],
    profile: Profile,
    drawings: Mapping[str, PartDrawing],
) -> MagnetForces | None:
    """Return the magnetic forces between the pieces that are as drawn; None where the profile,
    perhaps measured on meshes from elsewhere, does not suit their drawings."""
    from fabkit.printing.magnet_forces import magnet_forces

    as_drawn = {part.piece for part in scan.parts if part.as_drawn}
    pieces = [piece for piece in scan.puzzle.pieces if piece.id in as_drawn]
    solutions = [(answer.challenge.id, answer.layout, 1) for answer in answers if answer.layout]
    try:
        return magnet_forces(scan.puzzle, pieces, profile, solutions, drawings)
    except InputError:
        return None


def _tolerance_of(
    scan: ScannedSet,
    answers: Sequence[ChallengeResult],
    profile: Profile,
    error: PrinterError,
    progress: Progress,
) -> ToleranceReport:
    """Return the effect of a printer's errors on the solutions of a set's challenges, the
    snowflakes of its catalog, its boards and magnets.

    Each ball has its own hole, so only the sockets matter for ball pieces.
    """
    from fabkit.printing.odds import simulate_tolerances, socket_odds, tray_clearance_mm

    puzzle = scan.puzzle
    boards = [board.part for board in scan.boards]
    pieces = scan.pieces() if scan.flat else {}
    solved = [
        Solution(
            answer.challenge.id,
            answer.challenge.board_cells,
            answer.layout,
            tray_clearance_mm(answer.challenge.board_cells, boards, puzzle.lattice),
        )
        for answer in (answers if pieces else ())
    ]
    as_drawn = {part.piece for part in scan.parts if part.as_drawn} & pieces.keys()
    flakes = [
        Solution(entry.challenge.id, entry.challenge.region, entry.solution, halves=entry.halves)
        for entry in (shipped_entries(puzzle, "snowflake") if as_drawn else ())
        if {*entry.challenge.pieces} <= as_drawn
    ]
    balls_mm = [mm for balls in scan.balls for mm in balls.diameters_mm]
    links_mm = [mm for balls in scan.balls for mm in balls.links_mm if not math.isnan(mm)]
    pegs_mm = [peg.diameter_mm for part in scan.parts if part.pegs for peg in part.pegs.pegs]
    widest_mm = [max(widths_mm, default=0.0) for widths_mm in (balls_mm, links_mm, pegs_mm)]
    sockets = [
        socket
        for board in boards
        for socket in socket_odds(board, puzzle.lattice, error, *widest_mm)
    ]
    recesses_mm = () if profile.fit == "ribs" else scan.recesses_mm  # ribs are meant to be crushed
    magnet_mm = profile.magnet_diameter_mm if scan.flat else 0.0
    magnets = magnet_mm, recesses_mm, profile.fit == "press"
    return simulate_tolerances(
        pieces, puzzle.lattice, solved, error, *magnets, sockets, flakes, progress
    )


def causes(report: CheckReport) -> list[Cause]:
    """Return the causes of failure, one line each.

    A part that is unknown or has a faulty mesh is reported once, and so is a failure that all
    pieces share. Consequences are omitted, such as gaps that follow from the clearance and
    solutions that follow from a piece. There is at least one cause if anything fails.
    """
    failed = [finding for finding in report.findings if not finding.ok]
    of_set = {finding.rule: Cause(finding.rule, finding.message) for finding in failed}
    failing = defaultdict[str, list[tuple[ScannedPart, Finding]]](list)
    for part in report.all_parts:
        is_sound = not any(finding.rule in MESH_RULES for finding in part.failed)
        for finding in part.failed:
            if is_sound or finding.value is not None or finding.rule in _NOT_MEASURED:
                failing[finding.rule] += [] if _is_deviation(finding, part) else [(part, finding)]
    pieces = sum(part.piece is not None for part in report.parts)
    alike = dict[str, Cause]()
    for rule, failures in failing.items():
        of_pieces = [finding.value for part, finding in failures if part.piece]
        values = [value for value in of_pieces if value is not None]
        # Values that differ by less than 0.02, or by 1 %, count as equal.
        if 1 < pieces == len(values) and np.ptp(values) <= max(0.02, 0.01 * abs(max(values))):
            alike[rule] = Cause(rule, f"all {pieces} pieces: {failures[0][1].message}")
    follow = set().union(*(_FOLLOW[rule] for rule in _FOLLOW if rule in {*of_set, *alike}))
    reported = [of_set[rule] for rule in ("length-unit", "clearance") if rule in {*of_set} - follow]
    reported += [cause for rule, cause in alike.items() if rule not in follow]
    deviations = describe_deviations(report.scan.parts, report.answers)
    reported += [Cause("shape", sentence) for sentence in deviations]
    for rule, failures in failing.items():
        grouped = defaultdict[str, list[tuple[str, str]]](list)
        for part, finding in failures if rule not in {*follow, *alike} else ():
            if not (rule == "board-read" and finding.unit and "unit" in alike):
                # Group by message, and by rule if there are many.
                group = finding.message if len(failures) <= _NAMED else ""
                grouped[group].append((part.name, finding.message))
        for pairs in grouped.values():
            files, messages = zip(*pairs, strict=True)
            several = f" (in {files[0]})" if len({*messages}) > 1 else ""
            reported.append(Cause(rule, messages[0] + several, tuple(dict.fromkeys(files))))
    reported += [of_set[rule] for rule in ("missing", "duplicate") if rule in of_set]
    # Challenges whose answer differs from the catalog's, except those that a cause explains.
    left = [
        result
        for result in report.answers
        if not (result.as_expected or result.missing or result.status_as_drawn)
    ]
    for message, ids in group_by_message(left).items():
        reported.append(Cause("assembly", f"{join_names(ids, _NAMED)}: {message}"))
    if not (follow or _FOLLOW["clearance"] & {*alike}):
        reported += _of_assemblies(report)
    return reported or list(of_set.values())


def _is_deviation(finding: Finding, part: ScannedPart) -> bool:
    """Return whether `describe_deviations` already reports this finding: where the outline is
    another piece's, or outline and letter are both mirrored."""
    mirrored = {failed.rule for failed in part.failed if "mirror" in failed.message}
    is_mirrored = {"shape", finding.rule} <= mirrored and finding.rule.startswith("letter")
    is_other = finding.rule == "shape" and finding.value is None
    return bool(part.piece) and (is_mirrored or is_other)


def _of_assemblies(report: CheckReport) -> Iterator[Cause]:
    """Yield the problems of assemblies for which no piece was blamed."""
    blamed = {part.key for part in report.all_parts if part.failed}
    kinds = defaultdict[str, dict[str, list[str]]](dict)
    for assembly in report.assemblies:
        for message in assembly.messages:
            if not blamed & {*re.findall(r"[\w-]+", message)}:
                kind = kinds[_KIND.findall(message)[0]]
                kind.setdefault(message, []).append(assembly.challenge)
    for kind in kinds.values():
        message, ids = next(iter(kind.items()))
        more = f", and {len(kind) - 1} more like it" if len(kind) > 1 else ""
        yield Cause("assembly", f"{message} (in {join_names(ids, 2)}){more}")


@dataclass(frozen=True)
class Flips:
    """The effect of turning pieces over: whether all can be turned over, and which challenges
    without a solution by the rules then have one."""

    possible: bool
    newly_solved: list[str]
    message: str


@dataclass(frozen=True, eq=False)
class VerifyReport:
    """The report of `verify` on the set and on each challenge of the catalog; `flips` is the effect
    of turning pieces over, None if the rules allow it anyway."""

    scan: ScannedSet
    findings: tuple[Finding, ...]
    challenges: tuple[ChallengeResult, ...]
    flips: Flips | None
    families: tuple[FamilyResult, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the scanned set solves the catalog."""
        verdicts = [finding.ok for finding in self.findings]
        verdicts += [family.ok for family in self.families]
        return all(verdicts + [result.ok for result in self.challenges])

    @cached_property
    def minimum_gap_mm(self) -> float | None:
        """The minimum gap of two flat parts in any solution; negative if one exceeds its outline.

        Let each part's silhouette be at least c inside its outline as read. The outlines of a
        solution do not overlap, so a straight line from one part to another leaves the first
        outline and enters the second: its length is at least the sum of both c.
        """
        insides = sorted(
            inside_mm(part.silhouette, part.outline.canonical)
            for part in self.scan.pieces().values()
            if part.outline
        )
        return insides[0] + insides[1] if len(insides) > 1 else None

    def document(self) -> dict[str, Any]:
        """Return the report for JSON; it does not depend on names or rotations of meshes."""
        gap = self.minimum_gap_mm
        parts = sorted(self.scan.parts, key=lambda part: part.key)
        return {
            "set": self.scan.puzzle.name,
            "ok": self.ok,
            "findings": [finding.document() for finding in self.findings],
            "unlike": describe_deviations(self.scan.parts, self.challenges),
            "pieces": {part.key: part.summary() for part in parts},
            "every_solution_gap_mm": None if gap is None else round(gap, DIGITS),
            "challenges": [result.document(self.scan.puzzle) for result in self.challenges],
            "families": [
                {**vars(family), "ok": family.ok, "solved": family.members - len(family.impossible)}
                for family in self.families
            ],
            "flips": self.flips and vars(self.flips),
        }


def verify(
    scan: ScannedSet,
    profile: Profile,
    budget_s: float | None = None,
    progress: Progress = no_progress,
) -> VerifyReport:
    """Solve the catalog with the forms of the meshes, each challenge within `budget_s`, and
    assemble every solution; the profile limits the gaps."""
    answers = scan.solve_and_assemble(scan.limits(profile), budget_s, progress)
    findings = *set_findings(scan.parts, scan.as_printed), *scan.text_findings(profile)
    flips = None if scan.puzzle.flips else _turned_over(scan, answers, budget_s)
    families = solve_families(scan.as_scanned, scan.puzzle, progress)
    return VerifyReport(scan, findings, tuple(answers), flips, tuple(families))


def _turned_over(
    scan: ScannedSet, answers: Sequence[ChallengeResult], budget_s: float | None
) -> Flips:
    # Balls hang in holes, so these pieces cannot be turned over.
    pairs = [(part.part, part.features) for part in scan.parts]
    if not all(features and can_be_turned_over(part, features) for part, features in pairs):
        return Flips(False, [], "pieces cannot be turned over: their faces differ")
    hard = tuple(result.challenge for result in answers if result.status == IMPOSSIBLE)
    turned = solve_catalog(replace(scan.as_scanned, challenges=hard), budget_s, flips=True)
    newly = [result.challenge.id for result in turned if result.status == SOLVED]
    effect = "challenges that the rules make impossible stay impossible"
    if not hard:
        effect = "every challenge can be solved without, so nothing changes"
    elif newly:
        effect = f"then {', '.join(newly)} can be solved, against the rules"
    return Flips(True, newly, f"pieces can be turned over; {effect}")


def challenge_problems(report: VerifyReport) -> list[str]:
    """Return the problems found by `verify`, with challenges and with pieces that are not as drawn:
    one line for each cause, grouped by message."""
    problems = describe_deviations(report.scan.parts, report.challenges)
    answers = report.challenges
    if files := sorted(part.name for part in report.scan.parts if not part.piece):
        problems.append(f"{join_names(files, _NAMED)}: not a piece of the set")
    if gone := {name for result in answers for name in result.missing}:
        names = [piece.id for piece in report.scan.puzzle.pieces if piece.id in gone]
        ids = join_names([result.challenge.id for result in answers if result.missing], _NAMED)
        problems.append(f"{ids}: no answer: {join_names(names, 2 * _NAMED)} missing")
    left = [
        result
        for result in answers
        if not result.missing and (result.as_expected or not result.status_as_drawn)
    ]
    ids_by_message = group_by_message(result for result in left if not result.ok)
    return problems + [f"{join_names(ids, _NAMED)}: {why}" for why, ids in ids_by_message.items()]
