"""`fabkit check`: are the meshes printable, and do they fit each other?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fabkit.mesh.anatomy import Anatomy
from fabkit.mesh.cavities import circle_of
from fabkit.mesh.finding import DIGITS, Finding, counted
from fabkit.mesh.fitting.assembly import Assembly, Table
from fabkit.mesh.fitting.tolerance import PrinterError, Solution, Tolerance, tolerance
from fabkit.mesh.identity import Identity, set_findings
from fabkit.mesh.inspect import inspect
from fabkit.mesh.part import LENGTHS_MM, Part
from fabkit.model.profile import Profile
from fabkit.verify.answers import Answered, Progress, answer_catalog, read_set
from fabkit.verify.taking import Taken

#: A set whose parts are inset less than this (mm) has no clearance at all.
_NO_CLEARANCE_MM = 0.005


@dataclass(frozen=True, eq=False)
class PartReport:
    """What was found on one part.

    Attributes:
        part: the part.
        anatomy: what is open in it.
        identity: which piece it is.
        findings: of every rule.
    """

    part: Part
    anatomy: Anatomy
    identity: Identity
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether it keeps every rule."""
        return all(finding.ok for finding in self.findings)

    @property
    def failed(self) -> list[Finding]:
        """The findings of the rules that it does not keep."""
        return [finding for finding in self.findings if not finding.ok]

    def document(self) -> dict[str, Any]:
        """For JSON."""
        tight = next(finding for finding in self.findings if finding.rule == "watertight")
        outline = self.part.outline
        return {
            "ok": self.ok,
            "piece": self.identity.piece,
            "is": self.identity.words,
            "watertight": tight.ok,
            "volume_mm3": round(self.part.volume_mm3, DIGITS),
            "bbox_mm": [round(size, DIGITS) for size in self.part.size_mm],
            "unit_mm": round(outline.unit_mm, DIGITS) if outline else None,
            "inset_mm": round(outline.inset_mm, DIGITS) if outline else None,
            "hausdorff_mm": round(outline.hausdorff_mm, DIGITS) if outline else None,
            "findings": [finding.document() for finding in self.findings],
        }


@dataclass(frozen=True, eq=False)
class CheckReport:
    """What `check` found.

    Attributes:
        taken: the parts.
        profile: the limits.
        findings: on the set as a whole.
        parts: one for each part, in the set's order.
        assemblies: one for each challenge that was put together.
        tolerance: whether rows close as a printer prints them; None when that was not asked.
    """

    taken: Taken
    profile: Profile
    findings: tuple[Finding, ...]
    parts: tuple[PartReport, ...]
    assemblies: tuple[Assembly, ...]
    tolerance: Tolerance | None = None

    @property
    def ok(self) -> bool:
        """Whether everything keeps every rule."""
        return (
            all(finding.ok for finding in self.findings)
            and all(part.ok for part in self.parts)
            and all(assembly.ok for assembly in self.assemblies)
            and (self.tolerance is None or self.tolerance.ok)
        )

    def document(self) -> dict[str, Any]:
        """For JSON; the same for the same meshes, however they are named, ordered or turned."""
        found: dict[str, Any] = {
            "set": self.taken.puzzle.name,
            "ok": self.ok,
            "profile": self.profile.name,
            "findings": [finding.document() for finding in self.findings],
            "pieces": {part.identity.key: part.document() for part in self.parts},
            "assemblies": [_assembly(one) for one in self.assemblies],
        }
        if self.tolerance is not None:
            found["tolerance"] = self.tolerance.document()
        return found


def _assembly(one: Assembly) -> dict[str, Any]:
    def shown(value: float | None) -> float | None:
        return None if value is None else round(value, DIGITS)

    return {
        "challenge": one.challenge,
        "ok": one.ok,
        "min_gap_mm": shown(one.min_gap_mm),
        "max_gap_mm": shown(one.max_gap_mm),
        "overlap_mm3": shown(one.overlap_mm3),
        "outside_mm": shown(one.outside_mm),
        "messages": list(one.messages),
    }


def check(
    taken: Taken,
    profile: Profile,
    budget_s: float | None = None,
    progress: Progress = lambda done, total, name: None,
    error: PrinterError | None = None,
    answers: Sequence[Answered] | None = None,
) -> CheckReport:
    """Inspects every part, and puts the parts together as the catalog's solutions do.

    Args:
        taken: the parts.
        profile: what is asked for.
        budget_s: seconds for solving each challenge.
        progress: told what is being done.
        error: of the printer, to ask whether rows still close.
        answers: of the catalog, where they are known already, as by `verify`.
    """
    puzzle = taken.puzzle
    parts = []
    for done, (part, anatomy, identity) in enumerate(
        zip(taken.parts, taken.anatomies, taken.identities, strict=True)
    ):
        progress(done, len(taken.parts), f"inspecting {identity.key}")
        found = inspect(part, anatomy, identity, taken.common, puzzle, profile)
        parts.append(PartReport(part, anatomy, identity, tuple(found)))
    order = {piece.id: number for number, piece in enumerate(puzzle.pieces)}
    parts.sort(key=lambda one: (order.get(one.identity.piece or "", len(order)), one.identity.key))
    if answers is None:
        answers = answer_catalog(read_set(puzzle, taken.pieces()), budget_s, progress)
    return CheckReport(
        taken,
        profile,
        (*_set_findings(taken), _together(answers)),
        tuple(parts),
        tuple(assemble(taken, answers, profile)),
        _tolerance(taken, answers, profile, error) if error else None,
    )


def _tolerance(
    taken: Taken, answers: Sequence[Answered], profile: Profile, error: PrinterError
) -> Tolerance:
    """The stack-up of all rows, with the bores as they are in the meshes."""
    solved = [
        Solution(one.challenge.id, one.challenge.region, one.layout)
        for one in answers
        if one.layout
    ]
    bores = [
        circle_of(hole.middle).diameter_mm
        for one in taken.anatomies
        for hole in one.recesses
        if profile.fit != "ribs"  # which are there to be crushed
    ]
    lattice, magnet_mm = taken.puzzle.lattice, profile.magnet_diameter_mm
    return tolerance(taken.pieces(), lattice, solved, error, magnet_mm, bores)


def assemble(taken: Taken, answers: Sequence[Answered], profile: Profile) -> list[Assembly]:
    """Puts every solution together from the meshes."""
    table = Table(taken.pieces(), taken.puzzle.lattice, profile)
    return [
        table.assemble(answered.challenge.id, answered.challenge.region, answered.layout)
        for answered in answers
        if answered.layout
    ]


def _together(answers: Sequence[Answered]) -> Finding:
    """Whether all challenges that have a solution were put together."""
    left = [one.challenge.id for one in answers if not one.ok]
    named = f" ({', '.join(left)})" if left else ""
    what = f"challenges that were not answered as the catalog says{named}"
    return counted("put-together", len(left), 0, what)


def _set_findings(taken: Taken) -> list[Finding]:
    found = set_findings(taken.identities, taken.puzzle)
    name = next(name for name, mm in LENGTHS_MM.items() if mm == taken.read.length_mm)
    message = f"lengths in the files are in {name}"
    if name != "mm":
        message += "; slicers take them for mm: scale the files"
    found.append(Finding("lengths", name == "mm", taken.read.length_mm, 1.0, "mm", message))
    if taken.common is not None:
        inset_mm = taken.common.inset_mm
        ok = inset_mm > _NO_CLEARANCE_MM
        message = f"the clearance between two parts is {2 * inset_mm:.3f} mm"
        if not ok:
            message += ": these parts have none, and will not go together once printed"
        found.append(Finding("clearance", ok, 2 * inset_mm, 2 * _NO_CLEARANCE_MM, "mm", message))
    return found
