"""`fabkit check`: are the meshes printable, and do they fit each other?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from fabkit.core.errors import many, name_some
from fabkit.mesh.finding import DIGITS, Finding, counted
from fabkit.mesh.fitting.assembly import Assembly
from fabkit.mesh.fitting.tolerance import PrinterError, Tolerance
from fabkit.mesh.identity import set_findings
from fabkit.mesh.inspect import SOUND_RULES, ReadPart
from fabkit.model.accessory import as_printed
from fabkit.model.profile import Profile
from fabkit.verify.answers import Answered, Progress, unlike
from fabkit.verify.taking import Taken

#: So many files or challenges of one message are named.
_NAMED = 4
#: Values of pieces are one that differ by no more than this, or by this part of themselves.
_SAME, _SAME_PART = 0.02, 0.01
#: What follows from a grid unit or a clearance that is not what it should be, for all pieces.
_OF_UNIT = ("gap-least", "gap-most", "clearance")
_OF_GAPS = ("gap-least", "gap-most")
#: Kinds of what pieces do beside each other, by a word of its message.
_KIND = re.compile("overlap|along an edge|gap|reaches|closed")


@dataclass(frozen=True)
class Cause:
    """What is wrong, once.

    Attributes:
        rule: that fails.
        message: one sentence.
        files: in which; none when it is the set.
    """

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
        taken: the parts.
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
        found: dict[str, Any] = {
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
            "assemblies": [_assembly(one) for one in self.assemblies],
        }
        return found | ({"tolerance": self.tolerance.document()} if self.tolerance else {})


def _assembly(one: Assembly) -> dict[str, Any]:
    numbers = {
        name: None if (value := getattr(one, name)) is None else round(value, DIGITS)
        for name in ("min_gap_mm", "max_gap_mm", "overlap_mm3", "outside_mm")
    }
    told = {"challenge": one.challenge, "ok": one.ok}
    return told | numbers | {"messages": list(one.messages)}


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
    answers = taken.answer(limits, budget_s, progress, answers)
    left = [one.challenge.id for one in answers if not one.is_right]
    named = f" ({', '.join(left)})" if left else ""
    what = f"challenges that were not answered as the catalog says{named}"
    return CheckReport(
        taken,
        profile,
        (
            *set_findings(taken.identities, puzzle),
            *taken.together(),
            counted("put-together", len(left), 0, what),
        ),
        taken.inspect(limits, progress),
        tuple(answers),
        taken.tolerance(answers, limits, error) if error else None,
    )


# --- one cause, one line ---------------------------------------------------------------------


def causes(report: CheckReport) -> list[Cause]:
    """What is wrong with a set, one line for each cause.

    A part that is not recognised, or whose mesh is not sound, is told once; what all pieces have
    in common is told once for the set; gaps that follow from the clearance, solutions that follow
    from a piece are left out. Nothing is left out that has no cause before it.

    Args:
        report: what was found.

    Returns:
        None only when nothing fails.
    """
    of_set = {one.rule: one for one in report.findings if not one.ok}
    failing = {
        part.key: [one for one in part.failed if not _follows(one, part)]
        for part in report.all_parts
    }
    alike = dict(_alike(report.parts, failing))
    follows = {*(_OF_UNIT if "unit" in alike else ())}
    follows |= {*(_OF_GAPS if "clearance" in of_set else ())}
    first = [rule for rule in ("lengths", "clearance") if rule in of_set and rule not in follows]
    found = [Cause(rule, of_set[rule].message) for rule in first]
    found += [one for rule, one in alike.items() if rule not in follows]
    found += [Cause("shape", one) for one in unlike(report.taken.parts, report.answers)]
    found += _by_message(
        (part, one)
        for part in report.all_parts
        for one in failing[part.key]
        if one.rule not in {*follows, *alike}
        if not (part.piece and one.rule == "shape" and one.value is None)
        if not (part.piece and _is_mirrored(one, part))
        if not (one.rule == "board-read" and one.unit and "unit" in alike)
    )
    last = [rule for rule in ("missing", "twice") if rule in of_set]
    found += [Cause(rule, of_set[rule].message) for rule in last]
    found += _unanswered(report.answers)
    if not follows and not {*_OF_GAPS} & {*alike}:
        found += _assemblies(report, {part.key for part in report.all_parts if part.failed})
    return found or [Cause(rule, one.message) for rule, one in of_set.items()]


def _follows(finding: Finding, part: ReadPart) -> bool:
    """Whether a finding only says that a mesh that is not sound cannot be measured."""
    is_sound = all(one.ok for one in part.findings if one.rule in SOUND_RULES)
    known = (*SOUND_RULES, "shape", "file-name", "cut-through")
    return not is_sound and finding.value is None and finding.rule not in known


def _is_mirrored(finding: Finding, part: ReadPart) -> bool:
    """Whether a letter is seen as in a mirror, as the outline around it is."""
    outlines = [one for one in part.failed if one.rule == "shape" and "mirror" in one.message]
    return bool(outlines) and finding.rule.startswith("letter") and "mirror" in finding.message


def _alike(
    parts: Sequence[ReadPart], failing: dict[str, list[Finding]]
) -> Iterator[tuple[str, Cause]]:
    """What all recognised pieces fail with the same value, by its rule."""
    pieces = [part for part in parts if part.piece]
    if len(pieces) < 2:
        return
    for rule in dict.fromkeys(one.rule for part in pieces for one in failing[part.key]):
        found = [one for part in pieces for one in failing[part.key] if one.rule == rule]
        values = [one.value for one in found if one.value is not None]
        if not len(pieces) == len(found) == len(values):
            continue
        if max(values) - min(values) <= max(_SAME, _SAME_PART * abs(max(values))):
            message = f"all {len(pieces)} pieces: {found[0].message}"
            yield rule, Cause(rule, message)


def _by_message(found: Iterable[tuple[ReadPart, Finding]]) -> Iterator[Cause]:
    """What fails on single parts: those of one message together, and of one rule when many."""
    found = list(found)
    rules = Counter(one.rule for _, one in found)

    def key(pair: tuple[ReadPart, Finding]) -> tuple[str, str]:
        _, one = pair
        return one.rule, "" if rules[one.rule] > _NAMED else one.message

    order = list(dict.fromkeys(map(key, found)))
    for group, pairs in groupby(sorted(found, key=lambda pair: order.index(key(pair))), key):
        parts, findings = zip(*pairs, strict=True)
        message = findings[0].message
        if len({one.message for one in findings}) > 1:
            message += f" (in {parts[0].name})"
        yield Cause(group[0], message, tuple(part.name for part in parts))


def _unanswered(answers: Sequence[Answered]) -> Iterator[Cause]:
    """Challenges with another answer than the catalog's, but for those that a cause explains."""
    left = [one for one in answers if not (one.is_right or one.missing or one.drawn)]
    for status, some in groupby(sorted(left, key=lambda one: one.status), lambda one: one.status):
        ids = [one.challenge.id for one in some]
        message = f"{status}, and the catalog says otherwise: {name_some(ids, _NAMED)}"
        yield Cause("put-together", f"{many(len(ids), 'challenge')} {message}")


def _assemblies(report: CheckReport, blamed: set[str]) -> Iterator[Cause]:
    """What solutions complain of that no piece was blamed for."""
    kinds: dict[str, dict[str, list[str]]] = {}
    for one in report.assemblies:
        for message in one.messages:
            if not blamed & set(re.findall(r"[\w-]+", message)):
                kind = _KIND.search(message)
                some = kinds.setdefault(kind.group() if kind else "", {})
                some.setdefault(message, []).append(one.challenge)
    for told in kinds.values():
        message, ids = next(iter(told.items()))
        more = f", and {len(told) - 1} more like that" if len(told) > 1 else ""
        yield Cause("put-together", f"{message} (in {name_some(ids, 2)}){more}")
