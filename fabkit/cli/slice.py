"""`fabkit slice`: what a real slicer says of the plates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fabkit.build import export
from fabkit.cli import options
from fabkit.cli.context import NO_EXIT, PRINTED, Context, takes
from fabkit.cli.options import option
from fabkit.cli.report import Report
from fabkit.core.errors import InputError, many
from fabkit.core.units import format_duration, format_mm

if TYPE_CHECKING:
    from fabkit.build.slicing import SliceReport


def _limit_s(text: str, name: str) -> float:
    limit_s = options.seconds(text, name)
    if not limit_s:
        raise InputError.of(name, "is 0; expected more than that")
    return limit_s


SlicerPath = Annotated[
    str | None,
    option("--slicer PROGRAM", "The slicer, by name or path (default: the first one found)."),
]
TimeLimit = Annotated[
    float,
    option(
        "--time-limit SECONDS", "Time limit for slicing one plate (default: 600).", read=_limit_s
    ),
]


@takes(*PRINTED, "force")
def slice_plates(context: Context, slicer: SlicerPath = None, limit_s: TimeLimit = 600.0) -> int:
    """Slice the plates with PrusaSlicer.

    Exit code 1 if a plate cannot be printed, 3 without a slicer.
    """
    from fabkit.build.slicing import slice_set
    from fabkit.printing.slicer.finding import find_slicer

    report, puzzle, limits = context.report, context.puzzle, context.profile
    folder, force = context.folder, context.force
    found = find_slicer(slicer)
    with report.progress() as progress:
        done = export(puzzle, limits, ["plates"], folder, (), force, progress)
    with context.keeping(), report.progress() as progress:
        sliced = slice_set(folder, puzzle, limits, found, limit_s, force, progress)
    for warning in done.warnings:
        report.warn(f"{folder}: {warning}")
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
                str(len(plate["objects"])),
                "yes" if all(one["manifold"] for one in plate["objects"]) else "NO",
                str(plate["layers"]),
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
            report.detail(f"{plate['file']}: {_feature(feature)}")
        for reason in plate["reasons"]:
            report.say(f"{plate['file']}: {reason}")
    plates = many(len(document["plates"]), "plate")
    verdict = "printable" if sliced.printable else "NOT printable"
    report.say(
        f"{verdict}: {plates}, {format_duration(document['seconds'])}, says {document['slicer']}"
    )


def _value(number: float | None) -> str:
    return "?" if number is None else f"{number:.1f}"


def _feature(feature: dict[str, object]) -> str:
    return f"{feature['name']} in layers {feature['first_layer']} to {feature['last_layer']}"
