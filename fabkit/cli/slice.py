"""`fabkit slice`: what a real slicer says of the plates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from fabkit.build import export
from fabkit.cli import options
from fabkit.cli.meshes import FAILED_EXIT
from fabkit.cli.report import Report
from fabkit.core.errors import InputError, many
from fabkit.core.units import format_duration, format_mm
from fabkit.model.library import load_set

if TYPE_CHECKING:
    from fabkit.build.slicing import SliceReport

SlicerPath = Annotated[
    str | None,
    typer.Option(
        "--slicer",
        metavar="PROGRAM",
        help="The slicer: a name on the PATH or a path.",
        show_default="the first that is found",
    ),
]
TimeLimit = Annotated[
    str | None,
    typer.Option(
        "--time-limit",
        metavar="SECONDS",
        help="Stop the slicer when one plate takes so long.",
        show_default="600",
    ),
]


def slice_plates(
    set: options.Set,
    output: options.Folder = None,
    profile: options.ProfileNames = None,
    settings: options.Settings = None,
    slicer: SlicerPath = None,
    time_limit: TimeLimit = None,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> int:
    """Slice the plates with PrusaSlicer. Exit code 1 if one cannot be printed, 3 without a slicer."""
    from fabkit.build.slicing import slice_set
    from fabkit.printing.slicer.finding import find_slicer

    report = Report(json, quiet, verbose)
    puzzle = load_set(set)
    limits = options.profile_for(puzzle, profile, settings)
    limit_s = limit_seconds(time_limit)
    folder = options.set_folder(output, puzzle)
    found = find_slicer(slicer)
    with report.progress() as progress:
        done = export(puzzle, limits, ["plates"], folder, (), force, progress)
    with options.keeping(folder), report.progress() as progress:
        sliced = slice_set(folder, puzzle, limits, found, limit_s, force, progress)
    for warning in (*done.warnings, *sliced.warnings):
        report.warn(f"{folder}: {warning}")
    tell_slices(sliced, report)
    report.say(f"G-code lies in {folder / 'gcode'}, what was found in {folder / 'slice.json'}")
    report.document(sliced.document)
    return 0 if sliced.printable else FAILED_EXIT


def limit_seconds(given: str | None) -> float:
    """The seconds of ``--time-limit``.

    Raises:
        InputError: when they are no number above 0.
    """
    from fabkit.printing.slicer.slicing import LIMIT_S

    limit_s = options.seconds(given, LIMIT_S, "--time-limit")
    if not limit_s:
        raise InputError.of("--time-limit", "is 0; expected more than that")
    return limit_s


def tell_slices(sliced: SliceReport, report: Report) -> None:
    """Prints what a slicer says: a row for each plate, then what speaks against it."""
    document = sliced.document
    if not sliced.is_new:
        report.say("nothing to do: the plates have not changed since they were sliced")
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
