"""The texts and shapes of the page of `fabkit check`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from shapely import affinity

from fabkit.core.errors import join_names, pluralize
from fabkit.core.units import format_mm
from fabkit.mesh.finding import RULES, Finding, Limit
from fabkit.mesh.fitting.assembly import Assembly
from fabkit.mesh.identity import ScannedPart
from fabkit.output.report import CheckSheet, PieceSheet, Row, Section
from fabkit.output.svg import number
from fabkit.verify.reports import CheckReport

if TYPE_CHECKING:
    from fabkit.printing.odds import ToleranceReport

_ASSEMBLY_HEAD = "Challenge", "Smallest gap", "Largest gap", "Overlap", "Outside", "Problems"
_ODDS_HEAD = (
    "Challenge", "Odds", "Weakest contact", "Inset to spare", "In the worst case",
    "Inset for 99 %", "Tightest loop", "Its odds by RSS",
)  # fmt: skip
#: The number of least likely challenges named.
_LEAST = 3


def check_sheet(report: CheckReport) -> CheckSheet:
    """The texts and shapes of a report for `fabkit.output.report.check_page`."""
    puzzle = report.scan.puzzle
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


def _piece(one: ScannedPart, turns: int) -> PieceSheet:
    """A part from above, rotated so that its letter is upright."""
    part, found, letter = one.part, one.features, one.letter
    degrees = -360.0 * letter.turns / turns if letter else 0.0
    upright = partial(affinity.rotate, angle=degrees, origin=(0, 0))
    return PieceSheet(
        key=one.key,
        title="" if one.description == one.key else one.description,
        source=one.name,
        seen=upright(part.silhouette),
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
    """A number or two with their unit; empty for None."""
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
        f"Solutions of {len(rows)} of the set's {pluralize(challenges, 'challenge')}, assembled from "
        "the meshes."
    )
    if len(rows) < challenges:
        intro += " The others have no solution, ran out of time, or lack pieces."
    return Section("Assembled", intro, _ASSEMBLY_HEAD, tuple(rows), "challenge")


def _odds(found: ToleranceReport) -> Section:
    """The odds of each challenge and each board with sockets."""
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
            found.is_enough(one) if number < len(found.judged) else None,
        )
        for number, one in enumerate((*found.judged, *found.snowflakes))
    ]
    if found.magnets is not None:
        rows.append(Row((found.magnets.message, *[""] * 7), found.magnets.goes_in))
    exact = "A challenge without a tray must fit its outline exactly as drawn."
    text = " ".join([*odds_sentences(found), exact])
    return Section("As a printer prints it", text, _ODDS_HEAD, tuple(rows), "challenge")


def odds_sentences(found: ToleranceReport) -> list[str]:
    """The odds of a set, in sentences."""
    from fabkit.printing.odds import DRAWS, TARGET_ODDS

    enough, sentences = f"{100 * TARGET_ODDS:g} %", [found.error.description]
    ranked = sorted(found.judged, key=lambda one: (one.odds, one.likely_mm))
    if ranked:
        few = [
            f"{one.challenge} in {100 * one.odds:.1f} %" for one in ranked if one.odds < TARGET_ODDS
        ]
        least = f"; least often {join_names(few, _LEAST)}" if few else ""
        what = "challenges" if found.challenges else "kinds of sockets"
        worst_side_mm = found.error.worst_side_mm
        out = "out" if worst_side_mm >= 0 else "in"
        most = f"with all sides {format_mm(abs(worst_side_mm))} too far {out}"
        sentences += [
            f"{len(ranked) - len(few)} of {len(ranked)} {what} fit together in at least {enough} of "
            f"{DRAWS:,} simulated sets{least}",
            f"all {what} fit together in {100 * found.set_odds:.1f} % of the sets",
            f"in the worst case, {most}, {sum(one.closes_worst_case for one in ranked)} of {len(ranked)} "
            f"{what} fit together",
        ]
        if found.snowflakes:
            likely = sum(one.odds >= TARGET_ODDS for one in found.snowflakes)
            sentences.append(
                f"{likely} of the catalog's {len(found.snowflakes)} snowflakes stay within their outline in at "
                f"least {enough} of the sets (not judged, since nothing surrounds them)"
            )
        if (weak := ranked[0]).weakest:
            right, up = weak.place_mm
            where = f"{right:.0f} mm from the left and {up:.0f} mm from below"
            sentences.append(
                f"the weakest contact is between {weak.weakest} in {weak.challenge}, {where}"
            )
    likely_mm, worst_mm = found.inset_for(likely=True), found.inset_for(likely=False)
    if likely_mm is not None and worst_mm is not None:
        sentences.append(
            f"an inset of {likely_mm:.2f} mm on each side is enough for {enough} in each challenge, "
            f"one of {worst_mm:.2f} mm for the worst case (the meshes have {found.inset_mm:.2f} mm)"
        )
    if found.magnets is not None:
        sentences.append(found.magnets.message)
    return [f"{one[:1].upper()}{one[1:]}." for one in sentences]


def _length(length_mm: float | None) -> str:
    return "" if length_mm is None else format_mm(length_mm)
