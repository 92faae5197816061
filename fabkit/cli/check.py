"""`fabkit check` and `fabkit verify`: what meshes are, and whether they do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fabkit.cli import options
from fabkit.cli.context import NO_EXIT, PRINTED, Context, takes
from fabkit.cli.options import argument, option
from fabkit.cli.report import Report
from fabkit.core.errors import InputError, many, name_some, printable, shown
from fabkit.core.files import outside_failures, write_whole
from fabkit.model.library import shipped_names
from fabkit.model.profile import SETTINGS, Profile
from fabkit.model.profilefile import dump_profile

if TYPE_CHECKING:
    from fabkit.mesh.identity import ReadPart
    from fabkit.verify.check import CheckReport, VerifyReport
    from fabkit.verify.taking import Taken

#: How names of mesh files end.
ENDINGS = (".stl", ".3mf", ".obj", ".ply", ".off", ".glb")
_PROFILE_FILE = options.file(".toml")
#: No printer is as far off as this.
MOST_ERROR_MM = 2.0


def which(
    names: Sequence[str] | None, settings: Sequence[str] | None
) -> tuple[str, list[str], list[str]]:
    """Which set, which files and which settings a command line names.

    ``--set`` is the name of two options: what is ``KEY=VALUE`` is a setting, all else a set.

    Raises:
        InputError: when no set is named, or two are.

    Example:
        >>> which(["fridgeiq"], ["unit=15 mm"])
        ('fridgeiq', [], ['unit=15 mm'])
        >>> which(["1.stl", "2.stl"], ["fridgeiq"])
        ('fridgeiq', ['1.stl', '2.stl'], [])
    """
    files, given = list(names or ()), list(settings or ())
    keys = {setting.key for setting in SETTINGS}
    sets = [one for one in given if one.partition("=")[0].strip() not in keys]
    sets = [one for one in sets if "=" not in one or one.endswith(".toml")]
    if len(sets) > 1:
        raise InputError.of("--set", f"names two sets, {shown(sets[0])} and {shown(sets[1])}")
    if not sets and not files:
        known = ", ".join(shipped_names())
        raise InputError.of("", f"name a set; shipped are {known}, or give a set's TOML file")
    set_name = sets[0] if sets else files.pop(0)
    return set_name, files, [one for one in given if one not in sets]


def _files(context: Context, names: Sequence[str], option: str) -> list[Path]:
    """The mesh files and folders of mesh files that a command names, else the set's own STL files.

    Raises:
        InputError: when there are none, or a folder holds none.
    """
    if not names:
        stl = context.folder / "stl"
        if not (own := _meshes_in(stl)):
            make = f"`fabkit export-stl {printable(context.set)}`"
            message = f"there are no STL files; make them with {make}, or name mesh files"
            raise InputError.of(printable(str(stl)), message)
        return own
    files: dict[Path, None] = {}
    for name in names:
        path = options.path("a mesh file")(name, option)
        inside = _meshes_in(path) or _meshes_in(path / "stl") if path.is_dir() else [path]
        if not inside:
            kinds = ", ".join(f"*{ending}" for ending in ENDINGS)
            raise InputError.of(printable(name), f"is a folder without mesh files ({kinds})")
        files |= dict.fromkeys(inside)
    return list(files)


def _meshes_in(folder: Path) -> list[Path]:
    with outside_failures(f"cannot read {printable(str(folder))}"):
        inside = sorted(folder.iterdir()) if folder.is_dir() else []
    meshes = [one for one in inside if one.suffix.lower() in ENDINGS and one.name[0] != "."]
    return [one for one in meshes if one.is_file()]


def _take(context: Context, names: Sequence[str], option: str) -> tuple[Taken, Profile]:
    """Reads meshes, the set's own when none are named, and finds out what to hold them against.

    That is the profile that the command names. Without one the meshes tell whether they were made
    with the profile beside them, or with which of the shipped ones.

    Raises:
        InputError: when a file is no mesh, or there is none.
        OutsideError: when a file cannot be read.
    """
    from fabkit.build.meshes import take
    from fabkit.verify.taking import MEASURED

    profile = context.profile
    files = _files(context, names, option)
    with context.report.progress() as progress:
        known = bool(context.profiles or context.settings)
        taken, limits = take(files, context.puzzle, profile, progress, known)
    if taken.copies:
        context.report.say(
            f"{many(len(taken.copies), 'part')} in files of two formats, looked at once: "
            + name_some(taken.copies)
        )
    if limits.name == MEASURED:
        context.report.warn(
            "the meshes were made with none of the known profiles; they are held against what "
            "they show themselves. Name the right one with -p"
        )
    return taken, limits


def _finish(
    context: Context,
    found: CheckReport | VerifyReport,
    limits: Profile,
    is_own: bool,
    contents: dict[str, str],
) -> int:
    """Writes the reports on a set's own files, and others if ``-o`` asks for them."""
    report = context.report
    if is_own or context.output is not None:
        from fabkit.build.reports import write_reports

        folder, about = context.folder, "stl" if is_own else ""
        built = write_reports(
            folder, context.puzzle, limits, contents, about, context.force, lenient=True
        )
        report.warn(*built.warnings)
        report.say(f"wrote {folder / ' and '.join(sorted(contents))}")
    report.document(found.document())
    return 0 if found.ok else NO_EXIT


@takes("output", "profiles", "budget_s", "force")
def check(
    context: Context,
    names: list[str] | None = argument(
        "[SET] [FILE]...",
        "The set; then mesh files (STL, 3MF, OBJ, PLY, OFF, GLB) or folders of them (default: output/SET/stl).",
        shipped_names,
    ),
    settings: list[str] | None = option(
        "-s --set SET|KEY=VALUE",
        "The set, before mesh files; or override a profile value, as elsewhere.",
    ),
    side_mm: float | None = option(
        "--printer-error LENGTH",
        'How far off each printed side may be, such as "0.1mm" (default: as calibrated).',
        read=options.length(MOST_ERROR_MM),
    ),
    hole_mm: float | None = option(
        "--hole-error LENGTH",
        "How much smaller holes print (default: as --printer-error).",
        read=options.length(MOST_ERROR_MM),
    ),
    write_profile: Path | None = option(
        "--write-profile FILE.toml",
        "Write what the set is made to, as measured on its meshes, as a print profile.",
        read=_PROFILE_FILE,
    ),
) -> int:
    """Check that meshes are printable and fit together.

    Inspects every mesh as a part, then assembles the parts as solutions of the challenges. With a
    profile of `fabkit calibrate`, or with --printer-error, it also works out how likely each
    challenge goes together as the printer prints it.

    Exit code 1 if anything fails: also a challenge with odds below 99 % with a calibrated profile,
    or that does not go together in the worst case with --printer-error.
    """
    from fabkit.build.reports import check_contents
    from fabkit.verify.check import check as check_parts
    from fabkit.verify.taking import MEASURED

    context.set, files, context.settings = which(names, settings)
    report, error = context.report, None
    if side_mm is not None:
        from fabkit.printing.odds import PrinterError

        error = PrinterError(side_mm, side_mm if hole_mm is None else hole_mm)
    elif hole_mm is not None:
        raise InputError.of("--hole-error", "goes with --printer-error; give that, too")
    if write_profile is not None and write_profile.exists() and not context.force:
        message = "is there already; choose another name, or overwrite it with --force"
        raise InputError.of(printable(str(write_profile)), message)
    taken, limits = _take(context, files, "FILE")
    if limits.name == MEASURED or write_profile is not None:
        _tell_made(context, taken, write_profile)
    with report.progress() as progress:
        found = check_parts(taken, limits, context.budget_s, progress, error)
    tell_check(found, report)
    return _finish(context, found, limits, not files, check_contents(found))


def _tell_made(context: Context, taken: Taken, path: Path | None) -> None:
    """Prints what a set is made to, and writes it as a profile if a file is named."""
    if taken.made is None:
        context.report.warn(
            "no flat piece could be read, so that it is not known what it is made to"
        )
        return
    context.report.table(["made to", ""], taken.made.rows())
    if path is not None:
        write_whole(path, dump_profile(taken.shown(context.profile)))
        context.report.say(f"wrote {path}; hold meshes against it with -p {path}")


#: Tables of more parts than this list only those that fail, and no more than this.
_MOST_ROWS = 18
#: More lines than this on what is wrong are no summary.
_MOST_LINES = 16


def tell_check(found: CheckReport, report: Report) -> None:
    """Prints a report: the table, then one line for each cause, then the verdict."""
    from fabkit.verify.check import causes

    shown = ("gap-least", "wall", "recess-diameter", "recess-depth")
    parts = found.all_parts
    if len(parts) > _MOST_ROWS:
        parts = tuple(part for part in parts if part.failed)[:_MOST_ROWS]
    rows = []
    for part in parts:
        fails = name_some([finding.rule for finding in part.failed], 2) or "-"
        rows.append([part.name, part.words, *(_value(part, rule) for rule in shown), fails])
    if rows:
        report.table(["part", "is", "gap", "wall", "bore", "depth", "fails"], rows)
    if report.verbose:
        _tell_all(found, report)
    else:
        _tell_lines([str(one) for one in causes(found)], report)
    if found.tolerance is not None:
        from fabkit.verify.page import tolerance_words

        for sentence in tolerance_words(found.tolerance):
            report.say(sentence)
    rules = sum(len(part.findings) for part in found.all_parts)
    gaps = [one.min_gap_mm for one in found.assemblies if one.min_gap_mm is not None]
    least = f", least gap {min(gaps):.3f} mm" if gaps else ""
    together = f"{many(len(found.assemblies), 'challenge')} assembled{least}"
    checked = f"{many(len(found.all_parts), 'part')}, {rules} rules, {together}"
    verdict = "passed" if found.ok else "FAILED"
    report.say(f"{verdict}: {checked}; held against profile {found.profile.name}")


def _tell_lines(lines: Sequence[str], report: Report) -> None:
    """Prints what is wrong, the first lines of very many."""
    for line in lines[:_MOST_LINES]:
        report.say(line)
    if len(lines) > _MOST_LINES:
        more = f"{len(lines) - _MOST_LINES} more lines: -v, --json or check.html have all of them"
        report.say(f"… and {more}")


def _tell_all(found: CheckReport, report: Report) -> None:
    """Prints every finding."""
    for part in found.all_parts:
        for finding in part.findings:
            report.say(f"{part.name}: {finding.rule}: {finding.message}")
    for finding in found.findings:
        report.say(f"{finding.rule}: {finding.message}")
    for assembly in found.assemblies:
        for message in assembly.messages:
            report.say(f"{assembly.challenge}: {message}")


def _value(part: ReadPart, rule: str) -> str:
    values = [finding.value for finding in part.findings if finding.rule == rule]
    return f"{round(values[0], 2) + 0.0:.2f}" if values and values[0] is not None else ""


@takes(*PRINTED, "budget_s", "force")
def verify(
    context: Context,
    source_names: list[str] | None = option(
        "--from DIR|FILE",
        "A folder of meshes, or a mesh file; repeatable (default: output/SET/stl).",
    ),
) -> int:
    """Read meshes back and solve the catalog with their outlines.

    Exit code 1 if a challenge is not answered as the catalog says.
    """
    from fabkit.build.reports import verify_contents
    from fabkit.verify.check import verify as verify_parts

    report = context.report
    taken, limits = _take(context, source_names or [], "--from")
    with report.progress() as progress:
        found = verify_parts(taken, limits, context.budget_s, progress)
    tell_verify(found, report)
    return _finish(context, found, limits, not source_names, verify_contents(found))


def tell_verify(found: VerifyReport, report: Report) -> None:
    """Prints a report: what is not as it should be, and the verdict."""
    from fabkit.verify.check import challenge_causes

    for part in sorted(found.taken.parts, key=lambda one: one.key):
        report.detail(f"{part.name} is {part.words}")
    for finding in found.findings:
        if finding.rule != "strange":  # told with the files' names
            report.finding(finding.ok, f"{finding.rule}: {finding.message}")
    _tell_lines(challenge_causes(found), report)
    for one in found.challenges:
        if one.ok and one.challenge.answer != one.status:
            report.say(f"{one.challenge.id}: {one.message}")
        else:
            report.detail(f"{one.challenge.id}: {one.message}")
    if found.flips is not None:
        report.say(found.flips.message)
    if found.least_gap_mm is not None and found.least_gap_mm > 0:
        report.say(
            f"in any solution two parts keep {found.least_gap_mm:.3f} mm apart: each lies inside "
            "its own outline"
        )
    right = sum(one.ok for one in found.challenges)
    verdict = "verified" if found.ok else "FAILED"
    parts = many(len(found.taken.parts), "part")
    asked = f"{right} of {many(len(found.challenges), 'challenge')} answered as the catalog says"
    if not found.challenges:
        asked = "the set has no challenge and no board to solve"
    report.say(f"{verdict}: {asked}, from {parts}")
