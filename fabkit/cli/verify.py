"""`fabkit verify`: do the pieces that the meshes are solve the catalog?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fabkit.cli import meshes
from fabkit.cli.context import NO_EXIT, PRINTED, Context, takes
from fabkit.cli.options import option
from fabkit.cli.report import Report
from fabkit.core.errors import many

if TYPE_CHECKING:
    from fabkit.verify.catalog import VerifyReport


@takes(*PRINTED, "budget_s")
def verify(
    context: Context,
    source_names: Annotated[
        list[str] | None,
        option(
            "--from DIR|FILE",
            "A folder of meshes, or a mesh file; repeatable (default: output/SET/stl).",
        ),
    ] = None,
) -> int:
    """Read meshes back and solve the catalog with their outlines.

    Exit code 1 if a challenge is not answered as the catalog says.
    """
    from fabkit.verify.catalog import verify as verify_parts

    report, folder = context.report, context.folder
    source, taken, limits = meshes.take_files(context, source_names or [], "--from")
    with report.progress() as progress:
        found = verify_parts(taken, limits, context.budget_s, progress)
    tell_verify(found, report)
    if source.folder is not None or context.output is not None:
        from fabkit.build.reports import verify_contents, write_reports

        contents, about = verify_contents(found), "stl" if source.folder else ""
        built = write_reports(folder, context.puzzle, limits, contents, about, lenient=True)
        for warning in built.warnings:
            report.warn(warning)
        report.say(f"wrote {folder / 'verify.json'}")
    report.document(found.document())
    return 0 if found.ok else NO_EXIT


def tell_verify(found: VerifyReport, report: Report) -> None:
    """Prints a report: what is not as it should be, and the verdict."""
    taken = found.taken
    for at, identity in sorted(enumerate(taken.identities), key=lambda one: one[1].key):
        read = bool(taken.words(at)["read"])
        report.detail(f"{taken.names[at]} is {identity.words}{'' if read else ', not read'}")
        if read and identity.piece and not identity.as_drawn:
            mirror = " but its mirror image" if identity.mirrored else ""
            report.warn(f"{identity.key} has not the outline that the set's file draws{mirror}")
    for finding in found.findings:
        tell = report.detail if finding.ok else report.say
        tell(f"{finding.rule}: {finding.message}")
    for one in found.challenges:
        tell = report.detail if one.ok else report.say
        tell(f"{one.answered.challenge.id}: {one.message}")
    if found.flips is not None:
        report.say(found.flips.message)
    if found.least_gap_mm is not None and found.least_gap_mm > 0:
        report.say(
            f"in any solution two parts keep {found.least_gap_mm:.3f} mm apart: each lies inside "
            "its own outline"
        )
    right = sum(one.ok for one in found.challenges)
    verdict = "verified" if found.ok else "FAILED"
    parts = many(len(found.taken.identities), "part")
    asked = many(len(found.challenges), "challenge")
    report.say(f"{verdict}: {right} of {asked} answered as the catalog says, from {parts}")
