"""`fabkit verify`: do the pieces that the meshes are solve the catalog?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from fabkit.cli import meshes, options
from fabkit.cli.meshes import BUDGET_S, FAILED_EXIT
from fabkit.cli.report import Report
from fabkit.core.errors import many
from fabkit.model.library import load_set

if TYPE_CHECKING:
    from fabkit.verify.catalog import VerifyReport


def verify(
    set: options.Set,
    source_names: Annotated[
        list[str] | None,
        typer.Option(
            "--from",
            metavar="DIR|FILE",
            help="A folder of meshes, or a mesh file; repeatable.",
            show_default="the STL files in output/SET",
        ),
    ] = None,
    output: options.Folder = None,
    profile: options.ProfileNames = None,
    settings: options.Settings = None,
    budget: options.Budget = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> int:
    """Read meshes back and solve the catalog with what they are. Exit code 1 if it fails."""
    from fabkit.verify.catalog import verify as verify_parts

    report = Report(json, quiet, verbose)
    puzzle = load_set(set)
    asked = options.profile_for(puzzle, profile, settings)
    budget_s = options.seconds(budget, BUDGET_S)
    folder = options.set_folder(output, puzzle)
    named = source_names and meshes.files_named(source_names, "--from")
    source = named or meshes.own_files(folder, set)
    is_named = bool(profile or settings)
    taken, limits = meshes.take_files(source, puzzle, asked, is_named, report)
    with report.progress() as progress:
        found = verify_parts(taken, limits, budget_s, progress)
    tell_verify(found, report)
    if source.folder is not None or output is not None:
        from fabkit.build.reports import write_verify

        for warning in write_verify(folder, found, limits, source.folder is not None):
            report.warn(warning)
        report.say(f"wrote {folder / 'verify.json'}")
    report.document(found.document())
    return 0 if found.ok else FAILED_EXIT


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
