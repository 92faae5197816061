"""What `fabkit check` found, as its page shows it."""

from __future__ import annotations

from functools import partial

from shapely import affinity

from fabkit.core.errors import many
from fabkit.core.units import format_mm
from fabkit.mesh.finding import Finding, Limit
from fabkit.mesh.fitting.assembly import Assembly
from fabkit.mesh.fitting.tolerance import Tolerance
from fabkit.mesh.inspect import ReadPart
from fabkit.mesh.rules.table import hint_of
from fabkit.output.checkpage import CheckSheet, PieceSheet, Row, Section
from fabkit.output.svg import number
from fabkit.verify.check import CheckReport

_ASSEMBLY_HEAD = "Challenge", "Least gap", "Greatest gap", "Overlap", "Sticks out", "What is wrong"
_STACK_HEAD = ("Longest row", "Slack as drawn", "Worst case", "Rattles up to", "Prints that close")


def check_sheet(report: CheckReport) -> CheckSheet:
    """What the page of `fabkit.output.checkpage.check_page` shows of a report: texts and shapes."""
    puzzle = report.taken.puzzle
    return CheckSheet(
        puzzle.title,
        report.profile.name,
        tuple(_row(finding, 0.0) for finding in report.findings),
        tuple(_piece(one, len(puzzle.lattice.moves(False))) for one in report.all_parts),
        (
            _assemblies(report.assemblies, len(report.answers)),
            *([_stack_up(report.tolerance)] if report.tolerance else []),
        ),
    )


def _piece(one: ReadPart, turns: int) -> PieceSheet:
    """A part as it is seen from above, turned so that its letter stands upright."""
    part, found, letter = one.part, one.features, one.identity.letter
    degrees = -360.0 * letter.turns / turns if letter else 0.0
    upright = partial(affinity.rotate, angle=degrees, origin=(0, 0))
    return PieceSheet(
        key=one.key,
        title="" if one.words == one.key else one.words,
        source=one.name,
        seen=upright(part.shadow),
        canonical=upright(part.outline.canonical) if part.outline else None,
        recesses=tuple(upright(one.middle) for one in (found.recesses if found else ())),
        letters=tuple(upright(one.middle) for one in (found.labels if found else ()) if one.above),
        rows=tuple(_row(finding, degrees) for finding in one.findings),
    )


def _row(finding: Finding, degrees: float) -> Row:
    value, limit = (_number(one, finding.unit) for one in (finding.value, finding.limit))
    cells = finding.rule, finding.message, value, limit
    where = finding.where and affinity.rotate(finding.where, degrees, origin=(0, 0))
    return Row(cells, finding.ok, where, hint_of(finding.rule))


def _number(limit: Limit, unit: str) -> str:
    """A number or two with their unit; nothing for none."""
    if limit is None:
        return ""
    ends = limit if isinstance(limit, tuple) else (limit,)
    return f"{' to '.join(number(end) for end in ends)} {unit}".strip()


def _assemblies(assemblies: tuple[Assembly, ...], challenges: int) -> Section:
    rows = []
    for one in assemblies:
        gaps = _length(one.min_gap_mm), _length(one.max_gap_mm)
        overlap, outside = f"{number(one.overlap_mm3)} mm3", format_mm(one.outside_mm)
        cells = (one.challenge, *gaps, overlap, outside, "; ".join(one.messages))
        rows.append(Row(cells, one.ok))
    intro = (
        f"Solutions of {len(rows)} of the set's {many(challenges, 'challenge')}, assembled from "
        "the meshes."
    )
    if len(rows) < challenges:
        intro += " The others have no solution, none was found in time, or pieces are missing."
    return Section("Assembled", intro, _ASSEMBLY_HEAD, tuple(rows), "challenge")


def _stack_up(found: Tolerance) -> Section:
    """The longest row of each challenge, and which inset to choose."""
    rows = []
    if not found.closes:
        rows.append(Row(("some row does not close in the worst case", "", "", "", ""), False))
    for stack in found.stacks:
        lengths = map(_length, (stack.row.slack_mm, stack.worst_slack_mm, stack.rattle_mm))
        rows.append(Row((stack.row.name, *lengths, f"{stack.share:.1%}"), stack.closes))
    if found.magnets is not None:
        rows.append(Row((found.magnets.message, "", "", "", ""), found.magnets.goes_in))
    return Section(
        "As a printer prints it", " ".join(tolerance_words(found)), _STACK_HEAD, tuple(rows), "row"
    )


def tolerance_words(found: Tolerance) -> list[str]:
    """What a stack-up says, in sentences."""
    closes = "every row still closes" if found.closes else "in the worst case not every row closes"
    told = [f"every side may be off by {format_mm(found.error.side_mm)}: {closes}"]
    told += [one.message for one in (found.worst, found.likely) if one is not None]
    if found.stacks:
        loose = max(found.stacks, key=lambda stack: stack.rattle_mm)
        rattles = f"rattles by up to {format_mm(loose.rattle_mm)}"
        told.append(f"the loosest of the longest rows, {loose.row.name}, {rattles}")
    if found.magnets is not None:
        told.append(found.magnets.message)
    return [f"{one[:1].upper()}{one[1:]}." for one in told]


def _length(length_mm: float | None) -> str:
    return "" if length_mm is None else format_mm(length_mm)
