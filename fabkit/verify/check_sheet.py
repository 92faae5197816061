"""What `fabkit check` found, as its page shows it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from shapely import affinity

from fabkit.core.errors import many, name_some
from fabkit.core.units import format_mm
from fabkit.mesh.finding import Finding, Limit
from fabkit.mesh.fitting.assembly import Assembly
from fabkit.mesh.identity import ReadPart
from fabkit.mesh.rules.table import RULES
from fabkit.output.checkpage import CheckSheet, PieceSheet, Row, Section
from fabkit.output.svg import number
from fabkit.verify.check import CheckReport

if TYPE_CHECKING:
    from fabkit.printing.odds import Tolerance

_ASSEMBLY_HEAD = "Challenge", "Least gap", "Greatest gap", "Overlap", "Sticks out", "What is wrong"
_ODDS_HEAD = (
    "Challenge", "Odds", "Weakest contact", "Inset to spare", "In the worst case",
    "Inset for 99 %", "Tightest loop", "Its odds by RSS",
)  # fmt: skip
#: So many of the least likely challenges are named.
_LEAST = 3


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
            *([_odds(report.tolerance)] if report.tolerance else []),
        ),
    )


def _piece(one: ReadPart, turns: int) -> PieceSheet:
    """A part as it is seen from above, turned so that its letter stands upright."""
    part, found, letter = one.part, one.features, one.letter
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
    return Row(cells, finding.ok, where, ": ".join(RULES[finding.rule]))


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


def _odds(found: Tolerance) -> Section:
    """The odds of each challenge, and of each board with seats."""
    rows = [
        Row(
            (
                one.challenge,
                f"{100 * one.odds:.1f} %",
                one.weakest and "{} at ({:.0f}, {:.0f}) mm".format(one.weakest, *one.place_mm),
                _length(one.spare_mm),
                _length(one.worst_mm),
                _length(max(0.0, found.inset_mm - one.likely_mm)) if one.weakest else "",
                "-".join(one.loop),
                f"{100 * one.rss:.1f} %",
            ),
            found.is_enough(one) if number < len(found.every) else None,
        )
        for number, one in enumerate((*found.every, *found.snowflakes))
    ]
    if found.magnets is not None:
        rows.append(Row((found.magnets.message, *[""] * 7), found.magnets.goes_in))
    exact = "A challenge without a tray has to fit its outline exactly as it is drawn."
    words = " ".join([*tolerance_words(found), exact])
    return Section("As a printer prints it", words, _ODDS_HEAD, tuple(rows), "challenge")


def tolerance_words(found: Tolerance) -> list[str]:
    """What the odds of a set are, in sentences."""
    from fabkit.printing.odds import DRAWS, ENOUGH

    enough, told = f"{100 * ENOUGH:g} %", [found.error.words]
    every = sorted(found.every, key=lambda one: (one.odds, one.likely_mm))
    if every:
        few = [f"{one.challenge} in {100 * one.odds:.1f} %" for one in every if one.odds < ENOUGH]
        least = f"; least often {name_some(few, _LEAST)}" if few else ""
        what = "challenges" if found.challenges else "kinds of seats"
        most_mm = found.error.most_mm
        out = "out" if most_mm >= 0 else "in"
        most = f"with all sides {format_mm(abs(most_mm))} too far {out}"
        told += [
            f"{len(every) - len(few)} of {len(every)} {what} go together in at least {enough} of "
            f"{DRAWS:,} simulated sets{least}",
            f"all {what} go together in {100 * found.together:.1f} % of the sets",
            f"in the worst case, {most}, {sum(one.closes for one in every)} of {len(every)} "
            f"{what} go together",
        ]
        if found.snowflakes:
            likely = sum(one.odds >= ENOUGH for one in found.snowflakes)
            told.append(
                f"of the catalog's {len(found.snowflakes)} snowflakes {likely} keep to their outline "
                f"in at least {enough} of the sets; nothing is around them, so that they are not judged"
            )
        if (weak := every[0]).weakest:
            right, up = weak.place_mm
            where = f"{right:.0f} mm from the left and {up:.0f} mm from below"
            told.append(
                f"the weakest contact is between {weak.weakest} in {weak.challenge}, {where}"
            )
    likely_mm, worst_mm = found.inset_for(likely=True), found.inset_for(likely=False)
    if likely_mm is not None and worst_mm is not None:
        told.append(
            f"an inset of {likely_mm:.2f} mm on each side is enough for {enough} in each challenge, "
            f"one of {worst_mm:.2f} mm for the worst case (the meshes have {found.inset_mm:.2f} mm)"
        )
    if found.magnets is not None:
        told.append(found.magnets.message)
    return [f"{one[:1].upper()}{one[1:]}." for one in told]


def _length(length_mm: float | None) -> str:
    return "" if length_mm is None else format_mm(length_mm)
