"""`fabkit coupon` and `fabkit calibrate`: a test print to measure, and a profile made from it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from fabkit.cli.context import WithForce, WithSettings
from fabkit.cli.options import flag, option
from fabkit.cli.report import Report, to_stderr
from fabkit.core.errors import pluralize
from fabkit.core.staging import write_atomically
from fabkit.core.units import format_mm
from fabkit.sets.library import shipped_names

if TYPE_CHECKING:
    from fabkit.drawing.coupon import CouponPlace
    from fabkit.printing.calibration import Estimate, Measurement

#: The default folder of a coupon.
_FOLDER = Path("output") / "coupon"
#: The default file of a calibrated profile.
_PROFILE = Path("my-printer.toml")
#: The fitted values: their name in the table, factor and unit.
_RESULT_LABELS = {
    "scale_x": ("scale in X", 100, "%"),
    "scale_y": ("scale in Y", 100, "%"),
    "offset": ("outlines grow by", 1, "mm"),
    "foot": ("first layer grows by a further", 1, "mm"),
    "height": ("thickness grows by", 1, "mm"),
    "kerf_x": ("kerf in X", 1, "mm"),
    "kerf_y": ("kerf in Y", 1, "mm"),
}


class Coupon(WithForce, WithSettings):
    """Write a test print to measure, for `fabkit calibrate`.

    Prints in about half an hour. Writes coupon.3mf, with numbered places to measure, coupon.pdf,
    which shows them, and measured.csv to fill in.
    """

    set: str = option(
        "--for SET",
        "Add two pieces of this set, a shipped one or a TOML file (default: fridgeiq).",
        "fridgeiq",
        complete=shipped_names,
    )
    laser: bool = flag(
        "--laser", "For a laser cutter or plotter: a comb of tabs and slots, as SVG and DXF."
    )
    path: Path = option("-o --output DIR", f"Output folder (default: {_FOLDER}).", _FOLDER)

    def run(self) -> None:
        from fabkit.build.coupon import TEMPLATE, write_coupon

        report, folder = self.report, self.path
        with report.progress() as progress:
            made, is_new = write_coupon(
                self.puzzle, self.profile, folder, self.laser, self.force, progress
            )
        models = [str(folder / name) for name in made["files"] if name.endswith((".3mf", ".dxf"))]
        with_pieces = ""
        if made["pieces"]:
            with_pieces = f", with {' and '.join(made['pieces'])} of {self.puzzle.name}"
        if is_new:
            places = pluralize(len(made["places"]), "place")
            report.info(f"Wrote {', '.join(models)}: {places} to measure{with_pieces}")
        else:
            report.info(f"Already up to date: {', '.join(models)}{with_pieces}")
        report.info(f"Print {folder / 'coupon.pdf'} at 100 %: it shows the places to measure")
        calibrate = "fabkit calibrate --laser" if self.laser else "fabkit calibrate"
        report.info(
            f"Fill in {folder / TEMPLATE}, then run: {calibrate} --from {folder / TEMPLATE}"
        )
        report.document(output=str(folder), **made)


class Calibrate(WithSettings):
    """Write a profile that compensates for your printer.

    Fits scale, offset, hole size, first layer and thickness, or a laser's kerf, to the values
    measured on the coupon, with 95 % intervals, and reports outliers. -p names the profile with
    the intended dimensions; use the new profile instead of it.
    """

    measured: list[Path] = option(
        "--from FILE",
        "Measured values: measured.csv of `fabkit coupon`, filled in (repeatable, one per coupon; "
        "default: prompt for them).",
        (),
    )
    laser: bool = flag("--laser", "Calibrate a laser cutter, from the coupon of --laser.")
    path: Path = option("-o --output FILE.toml", f"Output file (default: {_PROFILE}).", _PROFILE)
    force: bool = flag("--force", "Overwrite the profile and the files beside it.")

    def run(self) -> None:
        from fabkit.build.coupon import refuse_calibrated, write_calibration
        from fabkit.drawing.coupon import coupon_places
        from fabkit.printing.calibration import calibrate_profile, fit_machine, read_measurements

        report, intended, path = self.report, self.profile, self.path
        kept = path.with_suffix(".csv")
        if not self.force:
            refuse_calibrated(path, path.with_suffix(".svg"), *(() if self.measured else (kept,)))
        places = coupon_places(intended, self.laser)
        if self.measured:
            readings = read_measurements(self.measured, places)
        else:
            readings = _prompt(places, kept, report)
        machine = fit_machine(readings)
        profile, notes = calibrate_profile(intended, machine, path.stem)
        chart = write_calibration(profile, machine, path, notes)
        for residual in machine.outliers:
            report.warn(
                f"{residual.name} looks wrong and is ignored: it is "
                f"{format_mm(abs(residual.off_mm), 2)} off, and lengths scatter by "
                f"{format_mm(machine.scatter_mm)}; measure it again"
            )
        rows: dict[str, tuple[Estimate, float, str]] = {}
        for name, (label, times, unit) in _RESULT_LABELS.items():
            if name in machine.values:
                rows[label] = machine.values[name], times, unit
        for n in sorted({place.nominal_mm for place in places.values() if place.kind == "hole"}):
            if "hole_constant" in machine.values:
                rows[f"holes of {format_mm(n)} shrink by"] = machine.hole_shrinkage(n), 1, "mm"
        table = []
        for label, (estimate, factor, unit) in rows.items():
            numbers = (estimate.value, *estimate.interval)
            table.append([label, *(f"{factor * number:.3f}" for number in numbers), unit])
        report.table(["error", "value", "from", "to", "unit"], table)
        report.info(
            f"{pluralize(len(readings), 'value')}; 95 % intervals; lengths scatter by "
            f"{format_mm(machine.scatter_mm)} (standard deviation)"
        )
        report.info(*notes)
        report.info(f"Wrote {path} and {chart}; use the profile with -p {path}")
        report.document(
            output=str(path),
            values={
                name: {"value": estimate.value, "from": low, "to": high}
                for name, estimate in machine.values.items()
                for low, high in [estimate.interval]
            },
            scatter_mm=machine.scatter_mm,
            residuals=[vars(residual) for residual in machine.residuals],
            notes=notes,
        )


def _prompt(places: Mapping[int, CouponPlace], kept: Path, report: Report) -> list[Measurement]:
    """Prompt for the values of each place, by its number in the drawing, and save them."""
    from fabkit.build.coupon import measurement_csv
    from fabkit.printing.calibration import mean_measurement, parse_values

    report.info("Type the measured values in mm, separated by spaces; Enter skips, Ctrl-D ends")
    readings = []
    typed: dict[int, str] = {}
    try:
        for place in places.values():
            while True:
                nominal = "" if place.kind == "magnet" else f", {place.nominal_mm:.2f} mm"
                question = f"{place.number:>3}  {place.what}{nominal}: "
                print(question, end="", flush=True, file=sys.stderr)
                try:
                    answer = input()
                    if values := parse_values(answer, place):
                        readings.append(mean_measurement(place, values))
                        typed[place.number] = answer.strip()
                    break
                except ValueError as error:
                    to_stderr(str(error))
    except EOFError:
        to_stderr("")
    if typed:
        write_atomically(kept, measurement_csv(places.values(), typed))
        report.info(f"Wrote the values to {kept}; correct and reuse them with --from {kept}")
    return readings
