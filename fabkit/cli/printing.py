"""Commands for printing and cutting: exports, plates, slicing, bill of materials, coupon, jig."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabkit.cli import options
from fabkit.cli.context import FAILURE_EXIT, PRINT_OPTIONS, Context, with_options
from fabkit.cli.options import argument, flag, option
from fabkit.cli.report import Report, to_stderr
from fabkit.core.errors import InputError, pluralize
from fabkit.core.formats import read_json
from fabkit.core.staging import write_atomically
from fabkit.core.units import format_duration, format_mm
from fabkit.sets.library import shipped_names

if TYPE_CHECKING:
    from fabkit.build.targets import BuildResult
    from fabkit.drawing.coupon import CouponPlace
    from fabkit.printing.bom import Bom
    from fabkit.printing.calibration import Estimate, Measurement


def _export_command(kind: str, help: str) -> Callable[..., int | None]:
    """The command that writes one kind of file."""

    def command(context: Context) -> None:
        _export(kind, context)

    command.__doc__ = help
    return with_options(*PRINT_OPTIONS, "pieces", "force")(command)


export_stl = _export_command(
    "stl", "Write an STL file of each piece.\n\nWrites stl/ID.stl, with the back on the bed."
)
export_step = _export_command(
    "step",
    "Write STEP files for CAD.\n\nWrites step/ID.step for each piece, and SET.step with all "
    "pieces, named and coloured.",
)
export_3mf = _export_command(
    "3mf",
    "Write 3MF files for slicers.\n\nWrites SET.3mf with all pieces laid out on the bed, "
    "named and coloured, and 3mf/ID.3mf for each piece.",
)
export_dxf = _export_command(
    "dxf",
    "Write DXF files for laser cutters.\n\nWrites dxf/ID.dxf for each piece, and all pieces "
    "nested on sheets to dxf-sheets/.",
)
export_svg = _export_command(
    "svg",
    "Write SVG files for cutting plotters.\n\nWrites svg/ID.svg for each piece at 1:1, and "
    "all pieces nested on sheets to svg-sheets/.",
)


def export_of(context: Context, kinds: Sequence[str]) -> BuildResult:
    """Bring a set's files of some kinds up to date."""
    from fabkit.build.export import export

    with context.report.progress() as progress:
        return export(context.artifacts, kinds, context.folder, context.force, progress)


def _export(kind: str, context: Context) -> None:
    from fabkit.build.export import face_down, pause_heights_mm

    done = export_of(context, [kind])
    print_export(done, kind.upper(), context)
    warnings = warn_of_folder(done, context, [kind])
    pieces = done.pieces
    context.report.document(
        {
            "set": context.puzzle.name,
            "output": str(context.folder),
            "profile": context.profile.name,
            **done.document(),
            "pieces": pieces,
            "magnets": sum(_magnet_counts(pieces.values())),
            "pause_heights_mm": pause_heights_mm(done),
            "face_down": face_down(context.puzzle, context.profile, done),
            "warnings": warnings,
        }
    )


def _magnet_counts(notes: Iterable[dict[str, Any]]) -> list[int]:
    """The number of magnets of each printed piece, copies among them, from the notes on it."""
    return [
        len(of_piece["magnets_mm"]) for of_piece in notes for _ in range(of_piece.get("copies", 1))
    ]


def print_export(done: BuildResult, kind: str, context: Context) -> None:
    """Print what an export did."""
    from fabkit.build.export import face_down, pause_heights_mm

    report, profile = context.report, context.profile
    for name in done.files:
        report.detail(f"{'Wrote' if name in done.written else 'Kept '} {done.folder / name}")
    unchanged = len(done.files) - len(done.written)
    if not done.written:
        files = pluralize(unchanged, f"{kind} file")
        report.info(f"Already up to date: {files} in {done.folder}")
    else:
        kept = f", kept {unchanged} unchanged" if unchanged else ""
        files = pluralize(len(done.written), f"{kind} file")
        report.info(f"Wrote {files} to {done.folder}{kept} {context.elapsed}")
    counts = _magnet_counts(done.pieces.values())
    if magnets := sum(counts):
        size = f"{profile.magnet_diameter_mm:g} x {format_mm(profile.magnet_height_mm)}"
        pieces = pluralize(sum(map(bool, counts)), "piece")
        report.info(f"{pluralize(magnets, 'magnet')} {size} in {pieces}, {profile.fit} fit")
    if turned := face_down(context.puzzle, profile, done):
        pieces = pluralize(len(turned), "piece")
        report.info(
            f"{pieces} to print face down: turn STL and STEP files over in the slicer; 3MF files and "
            "plates are face down already"
        )
    for height_mm in pause_heights_mm(done):
        report.info(f"Pause the print at {format_mm(height_mm)} and insert the magnets")


def warn_of_folder(done: BuildResult, context: Context, kinds: Sequence[str]) -> list[str]:
    """Print, and return, the warnings on an export and on the folder's other files."""
    from fabkit.build.export import leftovers

    old = leftovers(context.folder, context.puzzle, context.profile, kinds, done.files)
    warnings = [*done.warnings, *old]
    context.report.warn(*(f"{done.folder}: {warning}" for warning in warnings))
    return warnings


@with_options(*PRINT_OPTIONS, "pieces", "force")
def plate(context: Context) -> None:
    """Lay the pieces out on as few plates as possible.

    Writes plates/plate-N.3mf, ready to slice, and drawings of them; with --piece, only those pieces.
    """
    from fabkit.build.export import PLATES

    report, folder = context.report, context.folder
    done = export_of(context, ["plates"])
    report_of_plates = read_json(folder / PLATES)
    rows = []
    for of_plate in report_of_plates["plates"]:
        pause_mm = of_plate["pause_height_mm"]
        pause = "none" if pause_mm is None else format_mm(pause_mm)
        rows.append([of_plate["file"], len(of_plate["pieces"]), f"{of_plate['used']:.0%}", pause])
    report.table(["plate", "pieces", "of the bed", "pause"], rows)
    what = "Wrote" if done.written else "Already up to date:"
    where = f"{'to' if done.written else 'in'} {folder / 'plates'}"
    report.info(f"{what} {pluralize(len(report_of_plates['plates']), 'plate')} {where}")
    warnings = warn_of_folder(done, context, ["plates"])
    report_of_plates.pop("schema")
    report.document(
        {"output": str(folder), "written": len(done.written), "warnings": warnings}
        | report_of_plates
    )


def _limit_s(text: str, name: str) -> float:
    limit_s = options.seconds(text, name)
    if not limit_s:
        raise InputError.of(name, "is 0; expected more than 0")
    return limit_s


SLICER = option("--slicer PROGRAM", "The slicer, by name or path (default: the first one found).")
TIME_LIMIT = option(
    "--time-limit SECONDS", "Time limit for slicing one plate (default: 600).", 600.0, _limit_s
)
CONFIG = option(
    "--config FILE",
    "Your printer's settings, as PrusaSlicer exports them (default: generic ones, for checking only).",
)


@with_options(*PRINT_OPTIONS, "force")
def slice_plates(
    context: Context,
    slicer: str | None = SLICER,
    limit_s: float = TIME_LIMIT,
    config: Path | None = CONFIG,
) -> int:
    """Slice the plates with PrusaSlicer.

    Reports time, filament and whether each plate can be printed. Only with --config is the G-code
    for your printer. Exit code 1 if a plate cannot be printed, 3 without a slicer.
    """
    from fabkit.build.slicing import slice_set
    from fabkit.printing.slicer.config import read_config
    from fabkit.printing.slicer.program import find_slicer

    report, folder, force = context.report, context.folder, context.force
    own = read_config(config, context.profile) if config is not None else None
    program = find_slicer(slicer)
    done = export_of(context, ["plates"])
    with context.resumable(), report.progress() as progress:
        document, is_new = slice_set(
            folder, context.artifacts, program, limit_s, force, own, progress
        )
    warn_of_folder(done, context, ["plates"])
    print_slices(document, is_new, report)
    report.info(f"Wrote {folder / 'gcode'} and {folder / 'slice.json'}")
    report.document(document)
    return 0 if document["printable"] else FAILURE_EXIT


def print_slices(document: Mapping[str, Any], is_new: bool, report: Report) -> None:
    """Print the slicer's report: a table of the plates, then why plates cannot be printed.

    Args:
        document: the contents of ``slice.json``.
        is_new: whether the slicer ran now.
    """
    if not is_new:
        report.info("Already up to date: plates unchanged since they were sliced")
    report.table(
        ["plate", "objects", "manifold", "layers", "time", "grams", "metres", "pause", "printable"],
        [
            [
                plate["file"],
                len(plate["objects"]),
                "yes"
                if all(sliced_object["manifold"] for sliced_object in plate["objects"])
                else "NO",
                plate["layers"],
                format_duration(plate["seconds"]),
                _value(plate["grams"]),
                _value(plate["metres"]),
                ", ".join(format_mm(stop["height_mm"]) for stop in plate["pauses"]) or "none",
                "yes" if plate["printable"] else "NO",
            ]
            for plate in document["plates"]
        ],
    )
    for plate in document["plates"]:
        for feature in plate["features"]:
            layers = f"{feature['first_layer']} to {feature['last_layer']}"
            report.detail(f"{plate['file']}: {feature['name']} in layers {layers}")
        for reason in plate["reasons"]:
            report.info(f"{plate['file']}: {reason}")
    plates = pluralize(len(document["plates"]), "plate")
    verdict = "Printable" if document["printable"] else "NOT printable"
    own = document["config"]
    settings = f"the settings of {own['file']}" if own else "generic settings"
    time = format_duration(document["seconds"])
    report.info(f"{verdict}: {plates}, {time}, sliced by {document['slicer']} with {settings}")
    for note in document["notes"]:
        report.info(note)


def _value(number: float | None) -> str:
    return "?" if number is None else f"{number:.1f}"


@with_options(*PRINT_OPTIONS, "force")
def bom(context: Context) -> None:
    """Write the bill of materials.

    Lists magnets with their poles, filament by colour, the spools to buy, print time and cost in
    bom.csv and bom.json.
    """
    from fabkit.build.slicing import write_bom

    report, folder = context.report, context.folder
    bom = write_bom(folder, context.artifacts, context.force)
    print_bom(bom, report)
    report.info(f"Wrote {folder / 'bom.csv'} and {folder / 'bom.json'}")
    report.document(bom.document())


def print_bom(bom: Bom, report: Report) -> None:
    """Print a bill of materials: a table, then notes."""
    profile = bom.profile
    rows = []
    if bom.magnets:
        count = str(bom.magnets + bom.jig_magnets)
        rows.append([f"magnets {bom.magnet_kind}", count, "", f"{bom.magnets_cost:.2f}"])
    for line in bom.filament:
        name = f"{profile.filament} {line.name} for {' '.join(line.pieces)}"
        rows.append([name, f"{line.grams:.1f} g", f"{line.metres:.2f} m", f"{line.cost:.2f}"])
    total = f"{bom.cost:.2f}"
    rows.append(["total", f"{bom.grams:.1f} g", "", total])
    report.table([pluralize(len(bom.pieces), "piece"), "count", "length", profile.currency], rows)
    for text in filter(None, (bom.packs_text, bom.spools_text)):
        report.info(text)
    for piece in bom.pieces if profile.polarity == "alternating" else ():
        poles = " ".join(f"{pole}{' (dimple)' if marked else ''}" for pole, marked in piece.magnets)
        report.info(f"{piece.piece}: {poles}")
    if bom.sliced:
        plates = pluralize(bom.sliced.plates, "plate")
        time = format_duration(bom.sliced.seconds)
        report.info(f"{plates}, {time} to print, sliced by {bom.sliced.slicer}")
    for note in bom.notes:
        report.info(note)


#: The default folder of a coupon.
_FOLDER = Path("output") / "coupon"
#: The default file of a calibrated profile.
_PROFILE = Path("my-printer.toml")
LASER = flag("--laser", "For a laser cutter or plotter: a comb of tabs and slots, as SVG and DXF.")


@with_options("profiles", "settings", "force")
def coupon(
    context: Context,
    for_set: str = option(
        "--for SET",
        "Add two pieces of this set, a shipped one or a TOML file (default: fridgeiq).",
        "fridgeiq",
        complete=shipped_names,
    ),
    laser: bool = LASER,
    folder: Path = option("-o --output DIR", f"Output folder (default: {_FOLDER}).", _FOLDER),
) -> None:
    """Write a test print to measure, for `fabkit calibrate`.

    Prints in about half an hour. Writes coupon.3mf, with numbered places to measure, coupon.pdf,
    which shows them, and measured.csv to fill in.
    """
    from fabkit.build.coupon import TEMPLATE, write_coupon

    context.set = for_set
    report = context.report
    with report.progress() as progress:
        made, is_new = write_coupon(
            context.puzzle, context.profile, folder, laser, context.force, progress
        )
    models = [str(folder / name) for name in made["files"] if name.endswith((".3mf", ".dxf"))]
    with_pieces = f", with {' and '.join(made['pieces'])} of {context.puzzle.name}" * bool(
        made["pieces"]
    )
    if is_new:
        places = pluralize(len(made["places"]), "place")
        report.info(f"Wrote {', '.join(models)}: {places} to measure{with_pieces}")
    else:
        report.info(f"Already up to date: {', '.join(models)}{with_pieces}")
    report.info(f"Print {folder / 'coupon.pdf'} at 100 %: it shows the places to measure")
    calibrate = "fabkit calibrate --laser" if laser else "fabkit calibrate"
    report.info(f"Fill in {folder / TEMPLATE}, then run: {calibrate} --from {folder / TEMPLATE}")
    report.document({"output": str(folder)} | made)


@with_options("profiles", "settings")
def calibrate(
    context: Context,
    measured: list[Path] = option(
        "--from FILE",
        "Measured values: measured.csv of `fabkit coupon`, filled in (repeatable, one per coupon; "
        "default: prompt for them).",
        [],
    ),
    laser: bool = flag("--laser", "Calibrate a laser cutter, from the coupon of --laser."),
    path: Path = option("-o --output FILE.toml", f"Output file (default: {_PROFILE}).", _PROFILE),
    force: bool = flag("--force", "Overwrite the profile and the files beside it."),
) -> None:
    """Write a profile that compensates for your printer.

    Fits scale, offset, hole size, first layer and thickness, or a laser's kerf, to the values
    measured on the coupon, with 95 % intervals, and reports outliers. -p names the profile with
    the intended dimensions; use the new profile instead of it.
    """
    from fabkit.build.coupon import refuse_calibrated, write_calibration
    from fabkit.drawing.coupon import coupon_places
    from fabkit.printing.calibration import calibrate_profile, fit_machine, read_measurements

    report, wanted = context.report, context.profile
    kept = path.with_suffix(".csv")
    if not force:
        refuse_calibrated(path, path.with_suffix(".svg"), *(() if measured else (kept,)))
    places = coupon_places(wanted, laser)
    readings = read_measurements(measured, places) if measured else _prompt(places, kept, report)
    machine = fit_machine(readings)
    profile, notes = calibrate_profile(wanted, machine, path.stem)
    chart = write_calibration(profile, machine, path, notes)
    for residual in machine.outliers:
        report.warn(
            f"{residual.name} looks wrong and is ignored: it is {format_mm(abs(residual.off_mm), 2)} off, and "
            f"lengths scatter by {format_mm(machine.scatter_mm)}; measure it again"
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
    for note in notes:
        report.info(note)
    report.info(f"Wrote {path} and {chart}; use the profile with -p {path}")
    report.document(
        {
            "output": str(path),
            "values": {
                name: {
                    "value": estimate.value,
                    "from": estimate.interval[0],
                    "to": estimate.interval[1],
                }
                for name, estimate in machine.values.items()
            },
            "scatter_mm": machine.scatter_mm,
            "residuals": [vars(residual) for residual in machine.residuals],
            "notes": notes,
        }
    )


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


@with_options("output", "profiles", "settings", "force")
def jig(
    context: Context,
    for_set: str | None = argument(
        "SET", "A shipped set (see `fabkit sets`) or a TOML file (default: any set).", shipped_names
    ),
) -> None:
    """Write a jig to press magnets in.

    A printed hand tool that holds each magnet with another one, glued in, and presses it to the
    right depth with the right pole outwards. Where poles alternate, there are two, marked N and S.
    """
    from fabkit.build.jig import write_jigs

    context.set = for_set or ""
    report, limits = context.report, context.profile
    puzzle = context.puzzle if for_set else None
    folder = context.folder if for_set else context.output or Path("output") / "jig"
    with report.progress() as progress:
        made, is_new = write_jigs(limits, folder, puzzle, context.force, progress)
    for jig_made in made["jigs"]:
        shows = f"{jig_made['pole']} pole outwards" if jig_made["pole"] else "either pole outwards"
        post = "no post, a flat tip"
        if jig_made["post_mm"]:
            post = f"a post of {jig_made['post_mm']:g} x {format_mm(jig_made['post_height_mm'])}"
        report.info(
            f"{jig_made['name']}: {shows}; {post}, and a collar of {format_mm(jig_made['collar_mm'])}"
        )
    for sentence in made["how"]:
        report.info(sentence)
    jigs = pluralize(len(made["jigs"]), "jig")
    path = folder / "jig"
    report.info(f"Wrote {jigs} to {path}" if is_new else f"Already up to date: {jigs} in {path}")
    report.document({"output": str(folder)} | made)
