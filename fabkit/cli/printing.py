"""The commands that write what is printed and cut: files of a kind, plates, the bill, the gauge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fabkit.cli import options
from fabkit.cli.context import NO_EXIT, PRINTED, Context, takes
from fabkit.cli.options import argument, option
from fabkit.cli.report import Report
from fabkit.core.errors import InputError, many
from fabkit.core.files import read_json
from fabkit.core.units import format_duration, format_mm
from fabkit.model.library import shipped_names
from fabkit.model.profile import Profile

if TYPE_CHECKING:
    from fabkit.build import Export
    from fabkit.build.slicing import SliceReport
    from fabkit.printing.bom import Bill


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


_FOLDER = Path("output") / "coupon"


@takes("profiles", "settings", "force")
def coupon(
    context: Context,
    for_set: str | None = option(
        "--for SET",
        "Also calibrate the board of this set: a shipped one, or a TOML file.",
        complete=shipped_names,
    ),
    folder: Path = option("-o --output DIR", f"Output folder (default: {_FOLDER}).", _FOLDER),
) -> None:
    """Write a fit gauge: print this first.

    A small print that calibrates two values for your printer: the inset of pieces, and the width
    of recesses for magnets. With --for SET also how wide the holes, channels or seats of that set's
    board are, or how much wider its tray is than the pieces.
    """
    from fabkit.build.coupon import write_coupon

    context.set = for_set or ""
    report, limits = context.report, context.profile
    puzzle = None if for_set is None else context.puzzle
    with report.progress() as progress:
        made = write_coupon(limits, folder, progress, puzzle, context.force)
    for one in made.document["settings"]:
        numbers = ", ".join(dict.fromkeys(p["engraved"] for p in one["parts"] if p["engraved"]))
        report.say(f"{one['key']} (now {format_mm(one['own_mm'])}): {numbers}")
        report.say(f"  {one['how']}")
        report.detail(f"  {one['farther']}")
    pauses = {part.blueprint.pause_height_mm for part in made.parts}
    for height_mm in sorted(height for height in pauses if height is not None):
        report.say(f"the print pauses at {format_mm(height_mm)}: put the magnets in")
    models = ", ".join(str(folder / name) for name in made.files if name.endswith(".3mf"))
    report.say(f"wrote {models}: {many(len(made.parts), 'part')}; each also in {folder / 'stl'}")
    report.document({"output": str(folder), "files": list(made.files)} | made.document)


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
