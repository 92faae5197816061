"""`fabkit check`: are the meshes printable, and do they fit each other?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fabkit.core.errors import name_some
from fabkit.mesh.finding import Finding, counted
from fabkit.mesh.fitting.assembly import Assembly
from fabkit.mesh.fitting.tolerance import PrinterError, Tolerance
from fabkit.mesh.identity import set_findings
from fabkit.mesh.inspect import SOUND_RULES, ReadPart
from fabkit.model.accessory import as_printed
from fabkit.model.profile import Profile
from fabkit.verify.answers import Answered, Progress, by_message, unlike
from fabkit.verify.taking import Taken

#: So many files or challenges of one message are named.
_NAMED = 4
#: Values of pieces are one that differ by no more than this, or by this part of themselves.
_SAME, _SAME_PART = 0.02, 0.01
#: What follows for all pieces from a grid unit, or a clearance, that is not what it should be.
_FOLLOW = {"unit": {"gap-least", "gap-most", "clearance"}, "clearance": {"gap-least", "gap-most"}}
#: What is told of the set, before and after what is told of its parts.
_FIRST, _LAST = ("lengths", "clearance"), ("missing", "twice")
#: Kinds of what pieces do beside each other, by a word of its message.
_KIND = re.compile("overlap|along an edge|gap|reaches|closed")


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
        tolerance: whether rows close as a printer prints them; None when that was not asked.
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
        return (
            all(one.ok for one in self.findings)
            and not any(one.failed for one in self.all_parts)
            and all(one.ok for one in self.assemblies)
            and (self.tolerance is None or self.tolerance.ok)
        )

    def document(self) -> dict[str, Any]:
        """For JSON; but for the files' names the same for the same meshes, however they are named,
        ordered or turned."""
        found = {
            "set": self.taken.puzzle.name,
            "ok": self.ok,
            "profile": self.profile.name,
            "causes": [
                {"rule": one.rule, "files": list(one.files), "message": one.message}
                for one in causes(self)
            ],
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
    """Inspects every part, and puts the parts together as the catalog's solutions do.

    Args:
        taken: the parts.
        profile: what is asked for.
        budget_s: for solving each challenge.
        progress: told what is being done.
        error: of the printer, to ask whether rows still close.
        answers: where they are known already, as by `verify`.
    """
    puzzle, limits = taken.puzzle, as_printed(taken.puzzle, profile)
    answers = taken.answer(limits, budget_s, progress, answers)
    left = [one.challenge.id for one in answers if not one.is_right]
    named = f" ({', '.join(left)})" if left else ""
    what = f"challenges that were not answered as the catalog says{named}"
    together = counted("put-together", len(left), 0, what)
    return CheckReport(
        taken,
        profile,
        (*set_findings(taken.identities, puzzle), *taken.together(), together),
        taken.inspect(limits, progress),
        tuple(answers),
        taken.tolerance(answers, limits, error) if error else None,
    )


# --- one cause, one line ---------------------------------------------------------------------


def causes(report: CheckReport) -> list[Cause]:
    """What is wrong with a set, one line for each cause.

    A part that is not recognised, or whose mesh is not sound, is told once; so is for the set what
    all pieces have in common. Gaps that follow from the clearance and solutions that follow from a
    piece are left out, nothing that has no cause before it: there is none only when nothing fails.
    """
    of_set = {one.rule: Cause(one.rule, one.message) for one in report.findings if not one.ok}
    failing = [
        (part, one)
        for part in report.all_parts
        for one in part.failed
        if not _is_unmeasured(one, part)
    ]
    alike = _alike([pair for pair in failing if pair[0].piece], report.parts)
    known = {*of_set, *alike}
    follow = {rule for cause in known & {*_FOLLOW} for rule in _FOLLOW[cause]}
    found = [of_set[rule] for rule in _FIRST if rule in of_set and rule not in follow]
    found += [one for rule, one in alike.items() if rule not in follow]
    found += [Cause("shape", one) for one in unlike(report.taken.parts, report.answers)]
    found += _by_message(
        (part, one)
        for part, one in failing
        if one.rule not in {*follow, *alike}
        if not (part.piece and _is_told(one, part))
        if not (one.rule == "board-read" and one.unit and "unit" in alike)
    )
    found += [of_set[rule] for rule in _LAST if rule in of_set]
    # Challenges with another answer than the catalog's, but for those that a cause explains.
    left = [one for one in report.answers if not (one.is_right or one.missing or one.drawn)]
    for message, ids in by_message(left).items():
        found.append(Cause("put-together", f"{name_some(ids, _NAMED)}: {message}"))
    if not follow and not _FOLLOW["clearance"] & {*alike}:
        found += _assemblies(report)
    return found or list(of_set.values())


def _is_unmeasured(finding: Finding, part: ReadPart) -> bool:
    """Whether a finding only says that a mesh that is not sound cannot be measured."""
    is_sound = all(one.ok for one in part.findings if one.rule in SOUND_RULES)
    known = (*SOUND_RULES, "shape", "file-name", "cut-through")
    return not is_sound and finding.value is None and finding.rule not in known


def _is_told(finding: Finding, part: ReadPart) -> bool:
    """Whether `unlike` tells it of a piece: another outline, a letter in a mirror as well."""
    of_letter = finding.rule.startswith("letter") and "mirror" in finding.message
    is_mirrored = any(one.rule == "shape" and "mirror" in one.message for one in part.failed)
    return (finding.rule == "shape" and finding.value is None) or (of_letter and is_mirrored)


def _alike(
    failing: Sequence[tuple[ReadPart, Finding]], parts: Sequence[ReadPart]
) -> dict[str, Cause]:
    """What all recognised pieces fail with the same value, by its rule."""
    pieces, found = sum(one.piece is not None for one in parts), dict[str, Cause]()
    for rule in dict.fromkeys(one.rule for _, one in failing) if pieces > 1 else ():
        same = [one for _, one in failing if one.rule == rule]
        values = [one.value for one in same if one.value is not None]
        if not pieces == len(same) == len(values):
            continue
        if max(values) - min(values) <= max(_SAME, _SAME_PART * abs(max(values))):
            found[rule] = Cause(rule, f"all {pieces} pieces: {same[0].message}")
    return found


def _by_message(failing: Iterable[tuple[ReadPart, Finding]]) -> Iterator[Cause]:
    """What fails on single parts: those of one message together, and of one rule when many."""
    failing = list(failing)
    rules = Counter(one.rule for _, one in failing)
    groups: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for part, one in failing:
        key = one.rule, "" if rules[one.rule] > _NAMED else one.message
        groups.setdefault(key, []).append((part.name, one.message))
    for (rule, _), told in groups.items():
        files, messages = zip(*told, strict=True)
        several = f" (in {files[0]})" if len({*messages}) > 1 else ""
        yield Cause(rule, messages[0] + several, files)


def _assemblies(report: CheckReport) -> Iterator[Cause]:
    """What solutions complain of that no piece was blamed for."""
    blamed = {part.key for part in report.all_parts if part.failed}
    kinds: dict[str, dict[str, list[str]]] = {}
    for one in report.assemblies:
        for message in one.messages:
            if not blamed & set(re.findall(r"[\w-]+", message)):
                kind = next(filter(None, _KIND.findall(message)), "")
                kinds.setdefault(kind, {}).setdefault(message, []).append(one.challenge)
    for told in kinds.values():
        message, ids = next(iter(told.items()))
        more = f", and {len(told) - 1} more like that" if len(told) > 1 else ""
        yield Cause("put-together", f"{message} (in {name_some(ids, 2)}){more}")
