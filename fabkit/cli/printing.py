"""The commands that write what is printed and cut: files of a kind, plates, the bill, the coupon."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fabkit.cli import options
from fabkit.cli.context import NO_EXIT, PRINTED, Context, takes
from fabkit.cli.options import argument, flag, option
from fabkit.cli.report import Report, to_stderr
from fabkit.core.errors import InputError, many
from fabkit.core.files import read_json, write_whole
from fabkit.core.units import format_duration, format_mm
from fabkit.model.library import shipped_names
from fabkit.model.profile import Profile

if TYPE_CHECKING:
    from fabkit.build import Export
    from fabkit.build.slicing import SliceReport
    from fabkit.drawing.coupon import Place
    from fabkit.printing.bom import Bill
    from fabkit.printing.calibration import Estimate, Reading


#: The help of each export command.
EXPORTS = {
    "stl": "Write an STL file of each piece.\n\nThey are stl/ID.stl, with the back on the bed.",
    "step": "Write STEP files for CAD.\n\nThey are step/ID.step of each piece, and SET.step of all "
    "pieces, named and coloured.",
    "3mf": "Write 3MF files for slicers.\n\nThey are SET.3mf with all pieces laid out on the bed, "
    "named and coloured, and 3mf/ID.3mf of each.",
    "dxf": "Write DXF files for laser cutters.\n\nThey are dxf/ID.dxf of each piece, and all pieces "
    "nested in dxf-sheets/.",
    "svg": "Write SVG files for cutting plotters.\n\nThey are svg/ID.svg of each piece at 1:1, and "
    "all pieces nested in svg-sheets/.",
}


def export_command(kind: str) -> Callable[..., int | None]:
    """The command that writes one kind of file; all take the same options."""

    def command(context: Context) -> None:
        _export(kind, context)

    command.__doc__ = EXPORTS[kind]
    return takes(*PRINTED, "pieces", "force")(command)


def export_of(context: Context, kinds: Sequence[str]) -> Export:
    """Brings kinds of files of a set up to date."""
    from fabkit.build import export

    puzzle, profile, folder = context.puzzle, context.profile, context.folder
    with context.report.progress() as progress:
        return export(puzzle, profile, kinds, folder, context.pieces, context.force, progress)


def _export(kind: str, context: Context) -> None:
    done = export_of(context, [kind])
    tell_export(done, kind.upper(), context.profile, context.report)
    context.report.document(
        {
            "set": context.puzzle.name,
            "output": str(context.folder),
            "profile": context.profile.name,
            "written": done.written,
            "files": done.files,
            "pieces": done.pieces,
            "magnets": done.magnets,
            "pause_heights_mm": done.pause_heights_mm,
            "face_down": list(done.face_down),
            "warnings": list(done.warnings),
        }
    )


def tell_export(
    done: Export, kind: str, profile: Profile, report: Report, warnings: Sequence[str] | None = None
) -> None:
    """Prints what an export did, and what deserves a look."""
    for name, file in done.files.items():
        report.detail(f"{'wrote' if file['written'] else 'kept '} {done.folder / name}")
    unchanged = len(done.files) - done.written
    if done.written == 0:
        files = many(unchanged, f"{kind} file")
        report.say(f"already up to date: {files} in {done.folder}")
    else:
        kept = f", kept {unchanged} that had not changed" if unchanged else ""
        report.say(f"wrote {many(done.written, f'{kind} file')} to {done.folder}{kept}")
    if done.magnets:
        size = f"{profile.magnet_diameter_mm:g} x {format_mm(profile.magnet_height_mm)}"
        holding = sum(bool(one["magnets_mm"]) for one in done.pieces.values())
        pieces, magnets = many(holding, "piece"), many(done.magnets, "magnet")
        report.say(f"{magnets} {size} in {pieces}, {profile.fit} fit")
    if done.face_down:
        pieces = many(len(done.face_down), "piece")
        report.say(
            f"{pieces} to print face down: turn the STL or STEP files over in the slicer; 3MF files "
            "and plates already lie that way"
        )
    for height_mm in done.pause_heights_mm:
        report.say(f"pause the print at {format_mm(height_mm)} and put the magnets in")
    _warn(done, report, warnings)


def _warn(done: Export, report: Report, warnings: Sequence[str] | None = None) -> None:
    found = done.warnings if warnings is None else warnings
    report.warn(*(f"{done.folder}: {warning}" for warning in found))


@takes(*PRINTED, "force")
def plate(context: Context) -> None:
    """Lay the pieces out on as few plates as possible.

    Writes plates/plate-N.3mf, ready to slice, and drawings of them.
    """
    from fabkit.build.export import PLATES

    report, folder = context.report, context.folder
    done = export_of(context, ["plates"])
    found = read_json(folder / PLATES)
    rows = []
    for one in found["plates"]:
        pause_mm = one["pause_height_mm"]
        pause = "none" if pause_mm is None else format_mm(pause_mm)
        rows.append([one["file"], len(one["pieces"]), f"{one['used']:.0%}", pause])
    report.table(["plate", "pieces", "of the bed", "pause"], rows)
    what = "wrote" if done.written else "already up to date:"
    report.say(f"{what} {many(len(found['plates']), 'plate')} in {folder / 'plates'}")
    _warn(done, report)
    found.pop("schema")
    report.document(
        {"output": str(folder), "written": done.written, "warnings": list(done.warnings)} | found
    )


def _limit_s(text: str, name: str) -> float:
    limit_s = options.seconds(text, name)
    if not limit_s:
        raise InputError.of(name, "is 0; expected more than that")
    return limit_s


SLICER = option("--slicer PROGRAM", "The slicer, by name or path (default: the first one found).")
TIME_LIMIT = option(
    "--time-limit SECONDS", "Time limit for slicing one plate (default: 600).", 600.0, _limit_s
)


@takes(*PRINTED, "force")
def slice_plates(context: Context, slicer: str | None = SLICER, limit_s: float = TIME_LIMIT) -> int:
    """Slice the plates with PrusaSlicer.

    Exit code 1 if a plate cannot be printed, 3 without a slicer.
    """
    from fabkit.build.slicing import slice_set
    from fabkit.printing.slicer.finding import find_slicer

    report, puzzle, limits = context.report, context.puzzle, context.profile
    folder, force = context.folder, context.force
    found = find_slicer(slicer)
    done = export_of(context, ["plates"])
    with context.keeping(), report.progress() as progress:
        sliced = slice_set(folder, puzzle, limits, found, limit_s, force, progress)
    _warn(done, report)
    tell_slices(sliced, report)
    report.say(f"wrote {folder / 'gcode'} and slice.json")
    report.document(sliced.document)
    return 0 if sliced.printable else NO_EXIT


def tell_slices(sliced: SliceReport, report: Report) -> None:
    """Prints what a slicer says: a row for each plate, then what speaks against it."""
    document = sliced.document
    if not sliced.is_new:
        report.say("already up to date: the plates have not changed since they were sliced")
    report.table(
        ["plate", "objects", "manifold", "layers", "time", "grams", "metres", "pause", "printable"],
        [
            [
                plate["file"],
                len(plate["objects"]),
                "yes" if all(one["manifold"] for one in plate["objects"]) else "NO",
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
            report.say(f"{plate['file']}: {reason}")
    plates = many(len(document["plates"]), "plate")
    verdict = "printable" if sliced.printable else "NOT printable"
    report.say(
        f"{verdict}: {plates}, {format_duration(document['seconds'])}, says {document['slicer']}"
    )


def _value(number: float | None) -> str:
    return "?" if number is None else f"{number:.1f}"


@takes(*PRINTED, "force")
def bom(context: Context) -> None:
    """Write the bill of materials.

    Lists magnets with their poles, filament, time and cost, in bom.csv and bom.json.
    """
    from fabkit.build.bom import write_bill

    report, folder = context.report, context.folder
    bill = write_bill(folder, context.puzzle, context.profile, context.force)
    tell_bill(bill, report)
    report.say(f"wrote {folder / 'bom.csv'} and bom.json")
    report.document(bill.document())


def tell_bill(bill: Bill, report: Report) -> None:
    """Prints a bill: a table, then what to know."""
    profile = bill.profile
    rows = []
    if bill.magnets:
        rows.append([bill.magnets_words, str(bill.magnets), "", f"{bill.magnets_cost:.2f}"])
    for line in bill.filament:
        name = f"{profile.filament} {line.colour} for {' '.join(line.pieces)}"
        rows.append([name, f"{line.grams:.1f} g", f"{line.metres:.2f} m", f"{line.cost:.2f}"])
    total = f"{bill.cost:.2f}"
    rows.append(["all", f"{bill.grams:.1f} g", "", total])
    report.table([many(len(bill.pieces), "piece"), "count", "length", profile.currency], rows)
    for piece in bill.pieces if profile.polarity == "alternating" else ():
        poles = " ".join(f"{pole}{' (dimple)' if marked else ''}" for pole, marked in piece.magnets)
        report.say(f"{piece.piece}: {poles}")
    if bill.sliced:
        plates, took = many(bill.sliced.plates, "plate"), format_duration(bill.sliced.seconds)
        report.say(f"{plates}, {took} to print, says {bill.sliced.slicer}")
    for note in bill.notes:
        report.say(note)


_FOLDER, _PROFILE = Path("output") / "coupon", Path("my-printer.toml")
LASER = flag("--laser", "For a laser cutter or plotter: a comb of tabs and slots, as SVG and DXF.")


@takes("profiles", "settings", "force")
def coupon(
    context: Context,
    for_set: str = option(
        "--for SET",
        "Print two pieces of this set with it, a shipped one or a TOML file (default: fridgeiq).",
        "fridgeiq",
        complete=shipped_names,
    ),
    laser: bool = LASER,
    folder: Path = option("-o --output DIR", f"Output folder (default: {_FOLDER}).", _FOLDER),
) -> None:
    """Write a coupon: print this first, measure it, and calibrate.

    A print of about 20 minutes with numbered places to measure: coupon.3mf, and coupon.pdf to
    print beside it. Write what you measure into measured.csv, for `fabkit calibrate`.
    """
    from fabkit.build.coupon import TEMPLATE, write_coupon

    context.set = for_set
    report = context.report
    with report.progress() as progress:
        made = write_coupon(context.puzzle, context.profile, folder, laser, context.force, progress)
    models = [str(folder / one) for one in made.files if one.endswith((".3mf", ".dxf"))]
    with_pieces = f", with {' and '.join(made.pieces)} of {context.puzzle.name}" * bool(made.pieces)
    report.say(
        f"wrote {', '.join(models)}: {many(len(made.places), 'place')} to measure{with_pieces}"
    )
    report.say(f"print {folder / 'coupon.pdf'} at 100 %: it shows where to measure what")
    calibrate = "fabkit calibrate --laser" if laser else "fabkit calibrate"
    report.say(f"fill in {folder / TEMPLATE}, then: {calibrate} --from {folder / TEMPLATE}")
    report.document({"output": str(folder)} | made.document)


@takes("profiles", "settings")
def calibrate(
    context: Context,
    measured: list[Path] = option(
        "--from FILE",
        "Values as a CSV file (measured.csv of `fabkit coupon`); repeatable, one of each coupon. "
        "Without it they are asked for.",
        [],
    ),
    laser: bool = flag("--laser", "They are those of the laser's coupon."),
    path: Path = option(
        "-o --output FILE.toml", f"The profile to write (default: {_PROFILE}).", _PROFILE
    ),
    force: bool = flag("--force", "Overwrite the profile, and what is beside it."),
) -> None:
    """Write a profile that makes up for your printer, from what you measured on its coupon.

    Fits scale, offset, holes, first layer and thickness, or a laser's kerf, with 95 % intervals, and
    names values that look wrong. With -p, what prints should come out as; the new profile stands in
    its place.
    """
    from fabkit.build.coupon import CHART, refuse_calibrated, write_calibration
    from fabkit.drawing.coupon import coupon_places
    from fabkit.printing.calibration import calibrated, fit, read_measured

    report, wanted = context.report, context.profile
    kept = path.with_suffix(".csv")
    if not force:
        refuse_calibrated(path, path.with_name(CHART), *(() if measured else (kept,)))
    places = coupon_places(wanted, laser)
    readings = read_measured(measured, places) if measured else _ask(places, kept, report)
    found = fit(readings)
    profile, notes = calibrated(wanted, found, path.stem)
    write_calibration(profile, found, path, notes)
    for one in found.left_out:
        report.warn(
            f"{one.name} looks wrong and is left out: it is {format_mm(abs(one.off_mm), 2)} off, and "
            f"lengths scatter by {format_mm(found.scatter_mm)}; measure it again"
        )
    rows: dict[str, tuple[Estimate, float, str]] = {}
    for name, (means, times, unit) in _MEANS.items():
        if name in found.values:
            rows[means] = found.values[name], times, unit
    for n in sorted({one.nominal_mm for one in places.values() if one.kind == "hole"}):
        if "hole_constant" in found.values:
            rows[f"holes of {format_mm(n)}, narrower by"] = found.hole_loss(n), 1, "mm"
    values = [
        [means, *(f"{times * x:.3f}" for x in (what.value, *what.interval)), unit]
        for means, (what, times, unit) in rows.items()
    ]
    report.table(["the machine", "value", "from", "to", "unit"], values)
    report.say(
        f"{many(len(readings), 'value')}; 95 % intervals; lengths scatter by "
        f"{format_mm(found.scatter_mm)} (standard deviation)"
    )
    for note in notes:
        report.say(note)
    report.say(f"wrote {path} and {path.with_name(CHART)}; use it with -p {path}")
    report.document(
        {
            "output": str(path),
            "values": {
                name: {"value": one.value, "from": one.interval[0], "to": one.interval[1]}
                for name, one in found.values.items()
            },
            "scatter_mm": found.scatter_mm,
            "residuals": [vars(one) for one in found.residuals],
            "notes": notes,
        }
    )


#: What is fitted, for people: what it means, and how it is written.
_MEANS = {
    "scale_x": ("scale in X", 100, "%"),
    "scale_y": ("scale in Y", 100, "%"),
    "offset": ("sides print farther out by", 1, "mm"),
    "foot": ("first layer, still farther out by", 1, "mm"),
    "height": ("thicker by", 1, "mm"),
    "kerf_x": ("kerf in X", 1, "mm"),
    "kerf_y": ("kerf in Y", 1, "mm"),
}


def _ask(places: Mapping[int, Place], kept: Path, report: Report) -> list[Reading]:
    """Asks for the values of each place, by the drawing's numbers, and keeps them in a file."""
    from fabkit.build.coupon import value_list
    from fabkit.printing.calibration import parse_values, reading

    report.say("type what you read in mm, several values with spaces; Enter skips, Ctrl-D ends")
    readings, typed = [], dict[int, str]()
    try:
        for place in places.values():
            while True:
                question = f"{place.number:>3}  {place.what}, {place.nominal_mm:.2f} mm: "
                print(question, end="", flush=True, file=sys.stderr)
                try:
                    words = input()
                    if values := parse_values(words):
                        readings.append(reading(place, values))
                        typed[place.number] = words.strip()
                    break
                except ValueError as error:
                    to_stderr(str(error))
    except EOFError:
        to_stderr("")
    if typed:
        write_whole(kept, value_list(places.values(), typed))
        report.say(f"kept what you typed in {kept}, to correct and use again with --from")
    return readings


@takes("output", "profiles", "settings", "force")
def jig(
    context: Context,
    for_set: str | None = argument(
        "SET", "The set it is for: a shipped one, or a TOML file.", shipped_names
    ),
) -> None:
    """Write a jig that presses magnets in.

    A printed hand tool that holds a magnet by a second one, glued into it, and stops when the
    magnet lies as deep as it should, with the right pole out. Where poles alternate there are two,
    marked N and S.
    """
    from fabkit.build.jig import write_jigs

    context.set = for_set or ""
    report, limits = context.report, context.profile
    puzzle = context.puzzle if for_set else None
    folder = context.folder if for_set else context.output or Path("output") / "jig"
    with report.progress() as progress:
        made = write_jigs(limits, folder, puzzle, context.force, progress)
    for one in made.document["jigs"]:
        shows = f"{one['pole']} shows outwards" if one["pole"] else "either pole shows outwards"
        post = "no post, a flat tip"
        if one["post_mm"]:
            post = f"a post of {one['post_mm']:g} x {format_mm(one['seat_mm'])}"
        report.say(f"{one['name']}: {shows}; {post}, and a collar of {format_mm(one['collar_mm'])}")
    for sentence in made.document["how"]:
        report.say(sentence)
    report.say(f"wrote {many(len(made.document['jigs']), 'jig')} to {folder / 'jig'}")
    report.document({"output": str(folder), "files": list(made.files)} | made.document)
