"""`fabkit make`: all files for a print, checked and verified."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabkit.cli.check import print_check, print_verify
from fabkit.cli.context import FAILURE_EXIT, Printing, WithBudget, WithForce
from fabkit.cli.exports import export_of, print_export
from fabkit.cli.options import flag
from fabkit.cli.report import Report
from fabkit.cli.slicing import CONFIG, SLICER, TIME_LIMIT, print_slices
from fabkit.core.errors import FabkitError, pluralize
from fabkit.core.units import format_duration

if TYPE_CHECKING:
    from fabkit.build.booklet import BookletFile
    from fabkit.build.targets import BuildResult
    from fabkit.printing.bom import Bom


class Make(WithBudget, WithForce, Printing):
    """Make all files for a print, then check and verify them.

    Exit code 1 if a check fails, or the meshes do not solve the catalog.
    """

    slice_too: bool = flag("--slice", "Also slice the plates (requires PrusaSlicer).")
    slicer: str | None = SLICER()
    limit_s: float = TIME_LIMIT()
    config: Path | None = CONFIG()

    def run(self) -> int:
        from fabkit.build.export import kinds_for, leftovers
        from fabkit.build.slicing import slice_set, write_bom
        from fabkit.jobs.parallel import all_cores
        from fabkit.printing.slicer.config import read_config
        from fabkit.printing.slicer.program import find_slicer

        report, puzzle, profile = self.report, self.puzzle, self.profile
        folder, force = self.folder, self.force
        config = read_config(self.config, profile) if self.config is not None else None
        slices = self.slice_too or config or self.slicer is not None
        program = find_slicer(self.slicer) if slices else None
        kinds = kinds_for(puzzle)
        with all_cores():
            booklet_file = self._begin_booklet()
            done = export_of(self, kinds)
            print_export(done, "output", self)
            report.warn(*(f"{folder}: {warning}" for warning in done.warnings))
            with self.resumable():
                checked, verified = self._reports(done)
                sliced: dict[str, Any] | None = None
                if program is not None:
                    with report.progress() as progress:
                        sliced, is_new = slice_set(
                            folder, self.artifacts, program, self.limit_s, force, config, progress
                        )
                    print_slices(sliced, is_new, report)
                bom = write_bom(folder, self.artifacts, force)
                booklet, notes = _booklet(booklet_file, report)
        report.info(*bom.notes)
        # Those on the folder's other files come at the end, when these are up to date.
        warnings = [*notes, *leftovers(folder, puzzle, profile, kinds)]
        report.warn(*warnings)
        given = [word for name in self.profiles for word in ("-p", name)]
        given += [word for setting in self.settings for word in ("-s", setting)]
        not_made = {"the coupon to calibrate a printer": shlex.join(["fabkit", "coupon", *given])}
        if bom.magnets:
            not_made["the jig for the magnets"] = shlex.join(["fabkit", "jig", self.set, *given])
        ok = bool(checked["ok"] and verified["ok"] and (sliced is None or sliced["printable"]))
        self._print_summary(done.files, checked, verified, bom, booklet is not None)
        others = (f"{name} (`{command}`)" for name, command in not_made.items())
        report.info(f"Not made: {', '.join(others)}")
        if ok:
            report.info(f"Done: {pluralize(len(done.files), 'file')} in {folder} {self.elapsed}")
        else:
            report.info(f"FAILED: see {folder / 'check.html'}")
        report.document(
            set=puzzle.name,
            output=str(folder),
            profile=profile.name,
            ok=ok,
            **done.document(),
            check=checked,
            verify=verified,
            slice=sliced,
            bom=bom.document(),
            booklet=booklet,
            not_made=list(not_made.values()),
            warnings=[*done.warnings, *warnings],
        )
        return 0 if ok else FAILURE_EXIT

    def _reports(self, done: BuildResult) -> list[dict[str, Any]]:
        """The reports of check and verify; those in the folder, if nothing has changed since."""
        from fabkit.build.meshes import check_and_verify
        from fabkit.build.reports import read_report

        report, folder, files = self.report, self.folder, list(done.files)
        arguments = self.artifacts, files, self.budget_s, self.force
        with report.progress() as progress:
            reports = check_and_verify(folder, *arguments, progress)
        if reports is None:
            report.info("Already up to date: check and verify reports")
        else:
            print_check(reports[0], report)
            print_verify(reports[1], report)
        return [read_report(folder, name) for name in ("check.json", "verify.json")]

    def _begin_booklet(self) -> BookletFile:
        """Begin with the booklet while other files are made."""
        from fabkit.build.booklet import BookletFile, BookletOptions
        from fabkit.puzzles.entries import Selection

        options = BookletOptions(Selection(budget_s=self.budget_s))
        file = BookletFile(self.artifacts, self.folder, options, self.force, self.force)
        with suppress(FabkitError, OSError):  # reported when it is the booklet's turn
            file.begin()
        return file

    def _print_summary(
        self, files: Mapping[str, object], checked: Any, verified: Any, bom: Bom, booklet: bool
    ) -> None:
        """Print a table of the folder's contents."""

        def count(ending: str, start: str = "") -> str:
            return str(sum(name.endswith(ending) and name.startswith(start) for name in files))

        def verdict(document: dict[str, Any]) -> str:
            return "passed" if document["ok"] else "FAILED"

        right = sum(challenge["ok"] for challenge in verified["challenges"])
        challenges = pluralize(len(verified["challenges"]), "challenge")
        for family in verified["families"]:
            challenges += f", {family['solved']:,} of {family['members']:,} of {family['family']}"
        rows = [
            ["for printing", f"{count('.stl')} STL, {count('.3mf', '3mf/')} 3MF", "stl/, 3mf/"],
            ["for CAD", f"{count('.step', 'step/')} STEP", "step/"],
            ["whole set", "3MF, STEP", f"{bom.set_name}.3mf, {bom.set_name}.step"],
            ["print plates", count(".3mf", "plates/"), "plates/"],
            [
                "for cutting",
                f"{count('.dxf')} DXF, {count('.svg', 'svg')} SVG",
                "dxf/, svg/, *-sheets/",
            ],
            ["check", verdict(checked), "check.html"],
            ["verify", f"{verdict(verified)}: {right} of {challenges}", "verify.json"],
            ["magnets", bom.magnets_text or "none", "bom.csv"],
            ["filament", f"{bom.grams:.0f} g of {bom.profile.filament}", "bom.csv"],
            ["material", f"{bom.cost:.2f} {bom.profile.currency}", "bom.csv"],
        ]
        if booklet:
            rows.append(["booklet", "PDF", "booklet.pdf"])
        if bom.sliced:
            rows.append(["print time", format_duration(bom.sliced.seconds), "slice.json, gcode/"])
        self.report.table([bom.set_name, "", f"in {self.folder}"], rows)


def _booklet(file: BookletFile, report: Report) -> tuple[dict[str, Any] | None, list[str]]:
    """Bring the booklet up to date; return its part of the document, if any, and warnings."""
    from fabkit.build.booklet import BOOKLET
    from fabkit.puzzles.entries import NothingToShowError

    try:
        with report.progress() as progress:
            made = file.update(progress)
    except NothingToShowError as error:
        report.info(f"No booklet: {error}")
        return None, [f"{BOOKLET} is out of date"] if (file.folder / BOOKLET).exists() else []
    if made is None:
        report.info("Already up to date: booklet")
    return {"file": BOOKLET, "written": made is not None}, list(made.notes) if made else []
