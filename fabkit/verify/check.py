"""`fabkit check`: are the meshes printable, and do they fit each other?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fabkit.mesh.finding import DIGITS, Finding, counted
from fabkit.mesh.fitting.assembly import Assembly
from fabkit.mesh.fitting.tolerance import PrinterError, Tolerance
from fabkit.mesh.identity import set_findings
from fabkit.mesh.part import LENGTHS_MM
from fabkit.model.accessory import as_printed
from fabkit.model.profile import Profile
from fabkit.verify.answers import Answered, Progress, answer_catalog, read_set
from fabkit.verify.boards import inspect_boards
from fabkit.verify.reports import BoardReport, PartReport
from fabkit.verify.taken import Taken


@dataclass(frozen=True, eq=False)
class CheckReport:
    """What `check` found.

    Attributes:
        taken: the parts.
        profile: the limits.
        findings: on the set as a whole.
        parts: one for each part that may be a piece, in the set's order.
        boards: one for each board and lid.
        assemblies: one for each challenge that was put together.
        tolerance: whether rows close as a printer prints them; None when that was not asked.
    """

    taken: Taken
    profile: Profile
    findings: tuple[Finding, ...]
    parts: tuple[PartReport, ...]
    boards: tuple[BoardReport, ...]
    assemblies: tuple[Assembly, ...]
    tolerance: Tolerance | None = None

    @property
    def all_parts(self) -> tuple[PartReport, ...]:
        """The pieces, then the boards."""
        return (*self.parts, *self.boards)

    @property
    def ok(self) -> bool:
        """Whether everything keeps every rule."""
        return (
            all(finding.ok for finding in self.findings)
            and all(part.ok for part in self.all_parts)
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
            "pieces": {part.key: part.document() for part in self.parts},
            "boards": {part.key: part.document() for part in self.boards},
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
    puzzle, limits = taken.puzzle, as_printed(taken.puzzle, profile)
    parts = taken.inspect(limits, progress)
    seated = taken.inspect_seated(limits, progress)
    parts = [part.with_findings(seated.get(part.piece or "", [])) for part in parts]
    order = {piece.id: number for number, piece in enumerate(puzzle.pieces)}
    parts.sort(key=lambda one: (order.get(one.piece or "", len(order)), one.key))
    if answers is None:
        answers = answer_catalog(read_set(puzzle, taken.read_pieces()), budget_s, progress)
    solved = [one for one in answers if one.layout]
    return CheckReport(
        taken,
        profile,
        (*_set_findings(taken, profile), _together(answers)),
        tuple(parts),
        tuple(inspect_boards(taken.boards, puzzle, limits, progress)),
        tuple(taken.assemble(solved, limits, progress)),
        taken.tolerance(solved, limits, error) if error else None,
    )


def _together(answers: Sequence[Answered]) -> Finding:
    """Whether all challenges that have a solution were put together."""
    left = [one.challenge.id for one in answers if not one.ok]
    named = f" ({', '.join(left)})" if left else ""
    what = f"challenges that were not answered as the catalog says{named}"
    return counted("put-together", len(left), 0, what)


def _set_findings(taken: Taken, profile: Profile) -> list[Finding]:
    found = set_findings(taken.identities, taken.puzzle)
    name = next(name for name, mm in LENGTHS_MM.items() if mm == taken.length_mm)
    message = f"lengths in the files are in {name}"
    if name != "mm":
        message += "; slicers take them for mm: scale the files"
    found.append(Finding("lengths", name == "mm", taken.length_mm, 1.0, "mm", message))
    return [*found, *taken.together(profile)]
