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
    from fabkit.printing.magnet_forces import MagnetForces
    from fabkit.printing.odds import ToleranceReport

_ASSEMBLY_HEAD = "Challenge", "Smallest gap", "Largest gap", "Overlap", "Outside", "Problems"
_ODDS_HEAD = (
    "Challenge", "Odds", "Weakest contact", "Inset to spare", "In the worst case",
    "Inset for 99 %", "Tightest loop", "Its odds by RSS",
)  # fmt: skip
_MAGNETS_HEAD = "On", "Challenge", "Piece", "Worst push", "Held by friction"
#: The number of least likely challenges named.
_NAMED = 3


def check_sheet(report: CheckReport) -> CheckSheet:
    """The texts and shapes of a report for `fabkit.output.report.check_page`."""
    puzzle = report.scan.puzzle
    return CheckSheet(
        puzzle.title,
        report.profile.name,
        tuple(_row(finding, 0.0) for finding in report.findings),
        tuple(_piece(part, len(puzzle.lattice.moves(False))) for part in report.all_parts),
        (
            _assemblies(report.assemblies, len(report.answers)),
            *([_odds(report.tolerance)] if report.tolerance else []),
            *([_magnets(report.magnets)] if report.magnets else []),
        ),
    )


def _piece(scanned: ScannedPart, turns: int) -> PieceSheet:
    """A part from above, rotated so that its letter is upright."""
    part, features = scanned.part, scanned.features
    recesses, labels = (features.recesses, features.labels) if features else ((), ())
    degrees = -360.0 * scanned.letter.turns / turns if scanned.letter else 0.0
    upright = partial(affinity.rotate, angle=degrees, origin=(0, 0))
    return PieceSheet(
        key=scanned.key,
        title="" if scanned.description == scanned.key else scanned.description,
        source=scanned.name,
        seen=upright(part.silhouette),
        canonical=upright(part.outline.canonical) if part.outline else None,
        recesses=tuple(upright(recess.middle) for recess in recesses),
        letters=tuple(upright(label.middle) for label in labels if label.above),
        rows=tuple(_row(finding, degrees) for finding in scanned.findings),
    )


def _row(finding: Finding, degrees: float) -> Row:
    measured = _number(finding.value, finding.unit)
    cells = finding.rule, finding.message, measured, _number(finding.limit, finding.unit)
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
    for assembly in assemblies:
        gaps = _length(assembly.min_gap_mm), _length(assembly.max_gap_mm)
        overlap, outside = f"{number(assembly.overlap_mm3)} mm3", format_mm(assembly.outside_mm)
        cells = (assembly.challenge, *gaps, overlap, outside, "; ".join(assembly.messages))
        rows.append(Row(cells, assembly.ok))
    intro = (
        f"Solutions of {len(rows)} of the set's {pluralize(challenges, 'challenge')}, assembled "
        "from the meshes."
    )
    if len(rows) < challenges:
        intro += " The others have no solution, ran out of time, or lack pieces."
    return Section("Assembled", intro, _ASSEMBLY_HEAD, tuple(rows), "challenge")


def _odds(report: ToleranceReport) -> Section:
    rows = [
        Row(
            (
                solution.challenge,
                f"{100 * solution.odds:.1f} %",
                solution.weakest
                and "{} at ({:.0f}, {:.0f}) mm".format(solution.weakest, *solution.place_mm),
                _length(solution.spare_mm),
                _length(solution.worst_mm),
                _length(max(0.0, report.inset_mm - solution.likely_mm)) if solution.weakest else "",
                "-".join(solution.loop),
                f"{100 * solution.rss:.1f} %",
            ),
            report.is_enough(solution) if number < len(report.judged) else None,
        )
        for number, solution in enumerate((*report.judged, *report.snowflakes))
    ]
    if report.magnets is not None:
        rows.append(Row((report.magnets.message, *[""] * 7), report.magnets.goes_in))
    exact = "A challenge without a tray must fit its outline exactly as drawn."
    text = " ".join([*odds_sentences(report), exact])
    return Section("As a printer prints it", text, _ODDS_HEAD, tuple(rows), "challenge")


def _magnets(forces: MagnetForces) -> Section:
    pushes = (("thick steel", forces.on_steel), ("a table", forces.in_tray))
    rows = [
        Row(
            (place, push.challenge, push.piece, f"{push.push_n:.2f} N", f"{push.hold_n:.2f} N"),
            None,
        )
        for place, push in pushes
        if push
    ]
    return Section("Magnets", " ".join(forces.sentences), _MAGNETS_HEAD, tuple(rows), "magnet")


def odds_sentences(report: ToleranceReport) -> list[str]:
    """The odds of a set, in sentences."""
    from fabkit.printing.odds import DRAWS, TARGET_ODDS

    enough = f"{100 * TARGET_ODDS:g} %"
    sentences = [report.error.description]
    ranked = sorted(report.judged, key=lambda solution: (solution.odds, solution.likely_mm))
    if ranked:
        rare = [solution for solution in ranked if solution.odds < TARGET_ODDS]
        few = [f"{solution.challenge} in {100 * solution.odds:.1f} %" for solution in rare]
        rarest = f"; least often {join_names(few, _NAMED)}" if few else ""
        what = "challenges" if report.challenges else "kinds of sockets"
        worst_side_mm = report.error.worst_side_mm
        out = "out" if worst_side_mm >= 0 else "in"
        worst_case = f"with all sides {format_mm(abs(worst_side_mm))} too far {out}"
        fitting = sum(solution.closes_worst_case for solution in ranked)
        sentences += [
            f"{len(ranked) - len(few)} of {len(ranked)} {what} fit together in at least {enough} "
            f"of {DRAWS:,} simulated sets{rarest}",
            f"all {what} fit together in {100 * report.set_odds:.1f} % of the sets",
            f"in the worst case, {worst_case}, {fitting} of {len(ranked)} {what} fit together",
        ]
        if report.snowflakes:
            likely = sum(snowflake.odds >= TARGET_ODDS for snowflake in report.snowflakes)
            sentences.append(
                f"{likely} of the catalog's {len(report.snowflakes)} snowflakes stay within their "
                f"outline in at least {enough} of the sets (not judged, since nothing surrounds "
                "them)"
            )
        if ranked[0].weakest:
            right_mm, up_mm = ranked[0].place_mm
            sentences.append(
                f"the weakest contact is between {ranked[0].weakest} in {ranked[0].challenge}, "
                f"{right_mm:.0f} mm from the left and {up_mm:.0f} mm from below"
            )
    likely_mm, worst_mm = report.inset_for(likely=True), report.inset_for(likely=False)
    if likely_mm is not None and worst_mm is not None:
        sentences.append(
            f"an inset of {likely_mm:.2f} mm on each side is enough for {enough} in each "
            f"challenge, one of {worst_mm:.2f} mm for the worst case (the meshes have "
            f"{report.inset_mm:.2f} mm)"
        )
    if report.magnets is not None:
        sentences.append(report.magnets.message)
    return [f"{sentence[:1].upper()}{sentence[1:]}." for sentence in sentences]


def _length(length_mm: float | None) -> str:
    return "" if length_mm is None else format_mm(length_mm)
