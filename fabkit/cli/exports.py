"""The commands that export a set: `fabkit export-stl` and its likes, and `fabkit plate`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from fabkit.cli.context import Command, Printing, WithForce, WithPieces
from fabkit.core.errors import pluralize
from fabkit.core.formats import read_json
from fabkit.core.units import format_mm

if TYPE_CHECKING:
    from fabkit.build.targets import BuildResult


def export_of(command: Command, kinds: Sequence[str]) -> BuildResult:
    """Bring a set's files of some kinds up to date."""
    from fabkit.build.export import export

    with command.report.progress() as progress:
        return export(command.artifacts, kinds, command.folder, command.force, progress)


class _Export(WithForce, WithPieces, Printing):
    """A command that writes files of one kind."""

    kind: ClassVar[str]

    def run(self) -> None:
        from fabkit.build.export import face_down, pause_heights_mm

        done = export_of(self, [self.kind])
        print_export(done, self.kind.upper(), self)
        warnings = warn_of_folder(done, self, [self.kind])
        pieces = done.pieces
        self.report.document(
            set=self.puzzle.name,
            output=str(self.folder),
            profile=self.profile.name,
            **done.document(),
            pieces=pieces,
            magnets=sum(_magnet_counts(pieces.values())),
            pause_heights_mm=pause_heights_mm(done),
            face_down=face_down(self.puzzle, self.profile, done),
            warnings=warnings,
        )


class ExportStl(_Export):
    """Write an STL file of each piece.

    Writes stl/ID.stl, with the back on the bed.
    """

    kind = "stl"


class ExportStep(_Export):
    """Write STEP files for CAD.

    Writes step/ID.step for each piece, and SET.step with all pieces, named and coloured.
    """

    kind = "step"


class Export3mf(_Export):
    """Write 3MF files for slicers.

    Writes SET.3mf with all pieces laid out on the bed, named and coloured, and 3mf/ID.3mf for each
    piece.
    """

    kind = "3mf"


class ExportDxf(_Export):
    """Write DXF files for laser cutters.

    Writes dxf/ID.dxf for each piece, and all pieces nested on sheets to dxf-sheets/.
    """

    kind = "dxf"


class ExportSvg(_Export):
    """Write SVG files for cutting plotters.

    Writes svg/ID.svg for each piece at 1:1, and all pieces nested on sheets to svg-sheets/.
    """

    kind = "svg"


def _magnet_counts(notes: Iterable[dict[str, Any]]) -> list[int]:
    """Return the number of magnets of each printed piece and copy, from the notes on it."""
    return [len(note["magnets_mm"]) for note in notes for _ in range(note.get("copies", 1))]


def print_export(done: BuildResult, kind: str, command: Command) -> None:
    """Print what an export did."""
    from fabkit.build.export import face_down, pause_heights_mm

    report, profile = command.report, command.profile
    for name in done.files:
        report.detail(f"{'Wrote' if name in done.written else 'Kept '} {done.folder / name}")
    unchanged = len(done.files) - len(done.written)
    if not done.written:
        files = pluralize(unchanged, f"{kind} file")
        report.info(f"Already up to date: {files} in {done.folder}")
    else:
        kept = f", kept {unchanged} unchanged" if unchanged else ""
        files = pluralize(len(done.written), f"{kind} file")
        report.info(f"Wrote {files} to {done.folder}{kept} {command.elapsed}")
    counts = _magnet_counts(done.pieces.values())
    if magnets := sum(counts):
        size = f"{profile.magnet_diameter_mm:g} x {format_mm(profile.magnet_height_mm)}"
        pieces = pluralize(sum(map(bool, counts)), "piece")
        report.info(f"{pluralize(magnets, 'magnet')} {size} in {pieces}, {profile.fit} fit")
    if turned := face_down(command.puzzle, profile, done):
        report.info(
            f"{pluralize(len(turned), 'piece')} to print face down: turn STL and STEP files over "
            "in the slicer; 3MF files and plates are face down already"
        )
    for height_mm in pause_heights_mm(done):
        report.info(f"Pause the print at {format_mm(height_mm)} and insert the magnets")


def warn_of_folder(done: BuildResult, command: Command, kinds: Sequence[str]) -> list[str]:
    """Print, and return, the warnings on an export and on the folder's other files."""
    from fabkit.build.export import leftovers

    old = leftovers(command.folder, command.puzzle, command.profile, kinds, done.files)
    warnings = [*done.warnings, *old]
    command.report.warn(*(f"{done.folder}: {warning}" for warning in warnings))
    return warnings


class Plate(WithForce, WithPieces, Printing):
    """Lay the pieces out on as few plates as possible.

    Writes plates/plate-N.3mf, ready to slice, and drawings of them; with --piece, only those
    pieces.
    """

    def run(self) -> None:
        from fabkit.build.export import PLATES

        report, folder = self.report, self.folder
        done = export_of(self, ["plates"])
        report_of_plates = read_json(folder / PLATES)
        rows = []
        for of_plate in report_of_plates["plates"]:
            pause_mm = of_plate["pause_height_mm"]
            pause = "none" if pause_mm is None else format_mm(pause_mm)
            rows.append(
                [of_plate["file"], len(of_plate["pieces"]), f"{of_plate['used']:.0%}", pause]
            )
        report.table(["plate", "pieces", "of the bed", "pause"], rows)
        plates = pluralize(len(rows), "plate")
        report.wrote(plates, folder / "plates", bool(done.written))
        warnings = warn_of_folder(done, self, ["plates"])
        report_of_plates.pop("schema")
        report.document(
            output=str(folder), written=len(done.written), warnings=warnings, **report_of_plates
        )
