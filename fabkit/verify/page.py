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

_ASSEMBLY_HEAD = (
    "Challenge",
    "Least gap",
    "Greatest gap",
    "Overlap",
    "Sticks out",
    "What is wrong",
)
_STACK_HEAD = ("Longest row", "Slack as drawn", "Worst case", "Rattles up to", "Prints that close")


def check_sheet(report: CheckReport) -> CheckSheet:
    """What the page shows of a report, for `fabkit.output.checkpage.check_page`.

    Args:
        report: what was found.

    Returns:
        All texts and shapes; each piece turned so that its letter stands upright.
    """
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
        recesses=tuple(upright(recess.middle) for recess in found.recesses) if found else (),
        letters=tuple(upright(label.middle) for label in found.labels if label.above)
        if found
        else (),
        rows=tuple(_row(finding, degrees) for finding in one.findings),
    )


def _row(finding: Finding, degrees: float) -> Row:
    where = finding.where
    value, limit = (_number(one, finding.unit) for one in (finding.value, finding.limit))
    return Row(
        (finding.rule, finding.message, value, limit),
        finding.ok,
        None if where is None else affinity.rotate(where, degrees, origin=(0, 0)),
        hint_of(finding.rule),
    )


def _number(limit: Limit, unit: str) -> str:
    """A number or two with their unit; nothing for none."""
    if limit is None:
        return ""
    ends = limit if isinstance(limit, tuple) else (limit,)
    return f"{' to '.join(number(end) for end in ends)} {unit}".strip()


def _assemblies(assemblies: tuple[Assembly, ...], challenges: int) -> Section:
    rows = [
        Row(
            (
                one.challenge,
                _length(one.min_gap_mm),
                _length(one.max_gap_mm),
                f"{number(one.overlap_mm3)} mm3",
                format_mm(one.outside_mm),
                "; ".join(one.messages),
            ),
            one.ok,
        )
        for one in assemblies
    ]
    intro = (
        f"Solutions of {len(rows)} of the set's {many(challenges, 'challenge')}, assembled from "
        "the meshes."
    )
    if len(rows) < challenges:
        intro += " The others have no solution, none was found in time, or pieces are missing."
    return Section("Assembled", intro, _ASSEMBLY_HEAD, tuple(rows), "challenge")


def _stack_up(found: Tolerance) -> Section:
    """The longest row of each challenge, and which inset to choose."""
    rows = [
        Row(
            (
                stack.name,
                _length(stack.row.slack_mm),
                _length(stack.worst_slack_mm),
                _length(stack.rattle_mm),
                f"{stack.share:.1%}",
            ),
            stack.closes,
        )
        for stack in found.stacks
    ]
    if not found.closes:
        words = ("some row does not close in the worst case", "", "", "", "")
        rows.insert(0, Row(words, False))
    if found.magnets is not None:
        rows.append(Row((found.magnets.message, "", "", "", ""), found.magnets.goes_in))
    return Section(
        "As a printer prints it", " ".join(tolerance_words(found)), _STACK_HEAD, tuple(rows), "row"
    )


def tolerance_words(found: Tolerance) -> list[str]:
    """What a stack-up says, in sentences.

    Args:
        found: the stack-up.
    """
    error_mm = found.error.side_mm
    told = [
        f"Every side may be off by {format_mm(error_mm)}: "
        + ("every row still closes." if found.closes else "in the worst case not every row closes.")
    ]
    advice = [one for one in (found.worst, found.likely) if one is not None]
    told += [f"{one.message[:1].upper()}{one.message[1:]}." for one in advice]
    if found.stacks:
        loose = max(found.stacks, key=lambda stack: stack.rattle_mm)
        told.append(
            f"The loosest of the longest rows, {loose.name}, rattles by up to {format_mm(loose.rattle_mm)}."
        )
    if found.magnets is not None:
        told.append(f"{found.magnets.message[:1].upper()}{found.magnets.message[1:]}.")
    return told


def _length(length_mm: float | None) -> str:
    return "" if length_mm is None else format_mm(length_mm)
