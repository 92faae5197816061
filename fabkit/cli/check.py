"""`fabkit check` and `fabkit verify`: checks of meshes, alone and as a puzzle."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from fabkit.cli import options
from fabkit.cli.context import (
    FAILURE_EXIT,
    SETTINGS_HELP,
    Command,
    Printing,
    WithBudget,
    WithForce,
    WithOutput,
    WithProfiles,
)
from fabkit.cli.options import argument, length, option, read_value
from fabkit.cli.report import Report
from fabkit.core.errors import InputError, escape, join_names, pluralize, quote
from fabkit.core.staging import external_errors, write_atomically
from fabkit.profiles.profile import SETTINGS, Profile
from fabkit.profiles.profile_file import dump_profile
from fabkit.sets.library import shipped_names

if TYPE_CHECKING:
    from fabkit.mesh.identity import ScannedPart
    from fabkit.verify.reports import CheckReport, VerifyReport
    from fabkit.verify.scan import ScannedSet

#: The suffixes of mesh files.
MESH_SUFFIXES = (".stl", ".3mf", ".obj", ".ply", ".off", ".glb")
_MESH = partial(options.path, expected="a mesh file")
#: The largest error of a printer, in mm.
MAX_ERROR_MM = 2.0


def split_arguments(names: Sequence[str], sets: Sequence[str]) -> tuple[str, list[str]]:
    """Return set and the mesh files of `fabkit check`."""
    files = list(names)
    keys = {setting.key for setting in SETTINGS}
    for set_name in sets:
        if set_name.partition("=")[0].strip() in keys:
            message = f"is the set here; override a profile value with -s {quote(set_name)}"
            raise InputError.of("--set", message)
    if sets and len(sets) > 1:
        raise InputError.of("--set", f"names two sets, {quote(sets[0])} and {quote(sets[1])}")
    if not sets and not files:
        shipped = ", ".join(shipped_names())
        raise InputError.of("", f"name a set; choose from {shipped}, or give a set's TOML file")
    return sets[0] if sets else files.pop(0), files


def _files(command: Command, paths: Sequence[Path]) -> list[Path]:
    """Return the mesh files of a command, also those in folders; by default the set's own STL
    files.
    """
    if not paths:
        stl = command.folder / "stl"
        if meshes := _meshes_in(stl):
            return meshes
        make = f"`fabkit export-stl {escape(command.set)}`"
        message = f"no STL files found; run {make}, or give mesh files"
        raise InputError.of(escape(str(stl)), message)
    files: dict[Path, None] = {}
    for path in paths:
        inside = _meshes_in(path) or _meshes_in(path / "stl") if path.is_dir() else [path]
        if not inside:
            kinds = ", ".join(f"*{ending}" for ending in MESH_SUFFIXES)
            raise InputError.of(escape(str(path)), f"is a folder without mesh files ({kinds})")
        files |= dict.fromkeys(inside)
    return list(files)


def _meshes_in(folder: Path) -> list[Path]:
    with external_errors(f"cannot read {escape(str(folder))}"):
        inside = sorted(folder.iterdir()) if folder.is_dir() else []
    meshes = [
        path for path in inside if path.suffix.lower() in MESH_SUFFIXES and path.name[0] != "."
    ]
    return [path for path in meshes if path.is_file()]


def _load_scan(command: Command, paths: Sequence[Path]) -> tuple[ScannedSet, Profile]:
    """Read meshes, by default the set's own, and choose the profile to check them against.

    That is the profile of the command, else the one beside the meshes or the shipped one that
    matches them.
    """
    from fabkit.build.meshes import load_scan
    from fabkit.verify.scan import MEASURED

    requested = command.profile
    files = _files(command, paths)
    with command.report.progress() as progress:
        is_chosen = bool(command.profiles or command.settings)
        scan, profile = load_scan(files, command.puzzle, requested, progress, is_chosen)
    if scan.copies:
        command.report.info(
            f"{pluralize(len(scan.copies), 'part')} in files of two formats, checked once: "
            + join_names(scan.copies)
        )
    if profile.name == MEASURED:
        command.report.warn(
            "the meshes match no known profile; they are checked against their own dimensions. "
            "Choose a profile with -p"
        )
    return scan, profile


def _finish(
    command: Command, result: CheckReport | VerifyReport, is_own: bool, contents: dict[str, str]
) -> int:
    """Write the reports on a set's own files, and on other files with ``-o``."""
    report = command.report
    if is_own or command.output is not None:
        from fabkit.build.reports import write_reports

        folder = command.folder
        about = "stl" if is_own else ""
        owner = command.puzzle.name
        built = write_reports(folder, owner, contents, about, command.force, lenient=True)
        report.warn(*built.warnings)
        report.info(f"Wrote {' and '.join(str(folder / name) for name in sorted(contents))}")
    report.document(**result.document())
    return 0 if result.ok else FAILURE_EXIT


class Check(WithForce, WithBudget, WithProfiles, WithOutput):
    """Check that meshes are printable and fit together.

    Inspects every mesh, then assembles them as solutions of the challenges. With a profile of
    `fabkit calibrate`, or with --printer-error, also computes the odds that each challenge can be
    assembled as printed.

    Exit code 1 if anything fails: also if the odds of a challenge are below 99 % (calibrated
    profile), or if it cannot be assembled in the worst case (--printer-error).
    """

    names: list[str] = argument(
        "[SET] [FILE]...",
        "A shipped set or a TOML file; then mesh files (STL, 3MF, OBJ, PLY, OFF, GLB) or folders "
        "of them (default: output/SET/stl).",
        (),
        complete=shipped_names,
    )
    sets: list[str] = option(
        "--set SET", "The set, if all arguments are mesh files.", (), complete=shipped_names
    )
    settings: list[str] = option("-s KEY=VALUE", SETTINGS_HELP, ())
    side_mm: float | None = option(
        "--printer-error LENGTH",
        'Maximum error of each printed side, such as "0.1mm" (default: as calibrated).',
        read=length(MAX_ERROR_MM),
    )
    hole_mm: float | None = option(
        "--hole-error LENGTH",
        "Maximum shrinkage of holes (default: as --printer-error).",
        read=length(MAX_ERROR_MM),
    )
    write_profile: Path | None = option(
        "--write-profile FILE.toml",
        "Write the dimensions measured on the meshes as a print profile.",
    )

    def run(self) -> int:
        from fabkit.build.reports import check_contents
        from fabkit.jobs.parallel import all_cores
        from fabkit.verify.reports import check as check_parts
        from fabkit.verify.scan import MEASURED

        self.set, names = split_arguments(self.names, self.sets)
        files = [read_value(_MESH, name, "FILE") for name in names]
        report, hole_mm, write_profile = self.report, self.hole_mm, self.write_profile
        error = None
        if self.side_mm is not None:
            from fabkit.printing.odds import PrinterError

            error = PrinterError(self.side_mm, self.side_mm if hole_mm is None else hole_mm)
        elif hole_mm is not None:
            raise InputError.of("--hole-error", "requires --printer-error; add it")
        if write_profile is not None and write_profile.exists() and not self.force:
            message = "exists already; choose another name, or overwrite it with --force"
            raise InputError.of(escape(str(write_profile)), message)
        with all_cores():
            scan, profile = _load_scan(self, files)
            if profile.name == MEASURED or write_profile is not None:
                self._print_measured(scan)
            with report.progress() as progress:
                result = check_parts(scan, profile, self.budget_s, progress, error)
        print_check(result, report)
        return _finish(self, result, not files, check_contents(result))

    def _print_measured(self, scan: ScannedSet) -> None:
        """Print the measured dimensions of a set, and write them to a profile if asked to."""
        if scan.sizes is None:
            self.report.warn("no flat piece could be read, so its dimensions are unknown")
            return
        self.report.table(["made to", ""], scan.sizes.rows())
        if (path := self.write_profile) is not None:
            write_atomically(path, dump_profile(scan.measured_profile(self.profile)))
            self.report.info(f"Wrote {path}; check meshes against it with -p {path}")


#: Tables of more parts list only failed ones, at most this many.
_MAX_ROWS = 18
#: The maximum number of lines on failures.
_MAX_LINES = 16


def print_check(result: CheckReport, report: Report) -> None:
    """Print a report: a table, one line for each cause, and the verdict."""
    from fabkit.verify.reports import causes

    columns = ("gap-min", "wall", "recess-diameter", "recess-depth")
    parts = result.all_parts
    if len(parts) > _MAX_ROWS:
        parts = tuple(part for part in parts if part.failed)[:_MAX_ROWS]
    rows = []
    for part in parts:
        fails = join_names(list(dict.fromkeys(finding.rule for finding in part.failed)), 2) or "-"
        rows.append([part.name, part.description, *(_value(part, rule) for rule in columns), fails])
    if rows:
        report.table(["part", "piece", "gap", "wall", "recess", "depth", "failures"], rows)
    if report.verbose:
        _print_findings(result, report)
    else:
        _print_lines([str(cause) for cause in causes(result)], report)
    if result.tolerance is not None:
        from fabkit.verify.check_sheet import odds_sentences

        report.info(*odds_sentences(result.tolerance))
    report.info(*result.magnets.sentences if result.magnets else ())
    rules = sum(len(part.findings) for part in result.all_parts)
    gaps_mm = [fit.min_gap_mm for fit in result.assemblies if fit.min_gap_mm is not None]
    smallest = f", smallest gap {min(gaps_mm):.3f} mm" if gaps_mm else ""
    together = f"{pluralize(len(result.assemblies), 'challenge')} assembled{smallest}"
    checked = f"{pluralize(len(result.all_parts), 'part')}, {rules} rules, {together}"
    verdict = "All checks passed" if result.ok else "FAILED"
    report.info(f"{verdict}: {checked}; profile {result.profile.name}")


def _print_lines(lines: Sequence[str], report: Report) -> None:
    """Print the first lines on failures."""
    report.info(*lines[:_MAX_LINES])
    if len(lines) > _MAX_LINES:
        report.info(f"… and {len(lines) - _MAX_LINES} more lines; see -v, --json or check.html")


def _print_findings(result: CheckReport, report: Report) -> None:
    """Print every finding."""
    for part in result.all_parts:
        for finding in part.findings:
            report.info(f"{part.name}: {finding.rule}: {finding.message}")
    report.info(*(f"{finding.rule}: {finding.message}" for finding in result.findings))
    for assembly in result.assemblies:
        report.info(*(f"{assembly.challenge}: {message}" for message in assembly.messages))


def _value(part: ScannedPart, rule: str) -> str:
    values = [finding.value for finding in part.findings if finding.rule == rule]
    return f"{round(values[0], 2) + 0.0:.2f}" if values and values[0] is not None else ""


class Verify(WithForce, WithBudget, Printing):
    """Read meshes back and solve the catalog with their outlines.

    Exit code 1 if a challenge's answer differs from the catalog.
    """

    sources: list[Path] = option(
        "--from DIR|FILE",
        "A mesh file or a folder of them (repeatable; default: output/SET/stl).",
        (),
        read=_MESH,
    )

    def run(self) -> int:
        from fabkit.build.reports import verify_contents
        from fabkit.jobs.parallel import all_cores
        from fabkit.verify.reports import verify as verify_parts

        report = self.report
        with all_cores():
            scan, profile = _load_scan(self, self.sources)
            with report.progress() as progress:
                result = verify_parts(scan, profile, self.budget_s, progress)
        print_verify(result, report)
        return _finish(self, result, not self.sources, verify_contents(result))


def print_verify(result: VerifyReport, report: Report) -> None:
    """Print a report: failures and the verdict."""
    from fabkit.solve.answer import SOLVED
    from fabkit.verify.reports import challenge_problems

    for part in sorted(result.scan.parts, key=lambda part: part.key):
        report.detail(f"{part.name} is {part.description}")
    for finding in result.findings:
        if finding.rule != "unknown-part":  # listed with the files' names
            show = report.detail if finding.ok else report.info
            show(f"{finding.rule}: {finding.message}")
    _print_lines(challenge_problems(result), report)
    for answer in result.challenges:
        is_news = answer.ok and answer.challenge.answer != answer.status
        show = report.info if is_news else report.detail
        show(f"{answer.challenge.id}: {answer.message}")
    report.info(*(family.message for family in result.families))
    if result.flips is not None:
        report.info(result.flips.message)
    any_solved = any(answer.status == SOLVED for answer in result.challenges)
    if any_solved and result.minimum_gap_mm is not None and result.minimum_gap_mm > 0:
        report.info(
            f"In every solution, parts are at least {result.minimum_gap_mm:.3f} mm apart: each is "
            "within its own outline"
        )
    right = sum(answer.ok for answer in result.challenges)
    verdict = "Verified" if result.ok else "FAILED"
    parts = pluralize(len(result.scan.parts), "part")
    summary = f"{right} of {pluralize(len(result.challenges), 'challenge')} agree with the catalog"
    if not result.challenges:
        summary = "no challenge and no board to solve"
    report.info(f"{verdict}: {summary}, from {parts}")
