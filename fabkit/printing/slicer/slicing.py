"""Slicing one plate: the slicer runs in its own folder, and the G-code file is moved into place whole."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from fabkit.core.errors import ExternalError, escape
from fabkit.core.files import external_errors, temporary_folder
from fabkit.model.profile import Profile
from fabkit.printing.slicer.gcode import read_gcode
from fabkit.printing.slicer.program import ProgramRun, Slicer, run_program
from fabkit.printing.slicer.settings import print_settings
from fabkit.printing.slicer.verdict import (
    ExpectedPrint,
    judge_print,
    parse_mesh_info,
    parse_warnings,
)

#: A plate of 16 pieces takes about five seconds.
TIME_LIMIT_S = 600.0

# Names in the slicer's working folder, so that no odd name of a user's folder reaches its command
# line.
#: The plate.
_MODEL = "plate.3mf"
#: The print configuration.
_SETTINGS = "fabkit.ini"
#: The result.
_GCODE = "plate.gcode"
#: The folder of the slicer's own files.
_DATA = "data"
#: The options that slice the plate.
_SLICE = ("--load", _SETTINGS, "--dont-arrange", "--loglevel", "2", "--export-gcode", "-o", _GCODE)
#: The time stamp in the first line of the G-code; equal inputs should give equal bytes.
_TIMESTAMP = re.compile(rb" on \d{4}-\d\d-\d\d at \d\d:\d\d:\d\d UTC")
_FIRST_LINE = 1_000


def slice_plate(
    slicer: Slicer,
    model: Path,
    gcode: Path,
    profile: Profile,
    expected: ExpectedPrint,
    limit_s: float = TIME_LIMIT_S,
) -> dict[str, Any]:
    """Slice the 3MF file of a plate, read the G-code back and judge it (see `judge_print`).

    The G-code is written whatever the verdict.

    Raises:
        ExternalError: when the slicer cannot be used, crashes, refuses the plate, takes too long or
            writes nothing readable. No G-code is written then.
    """
    if slicer.name != "PrusaSlicer":
        raise ExternalError(
            f"found {slicer.name}, but fabkit slices with PrusaSlicer only: OrcaSlicer and Bambu Studio "
            "need a printer's own presets; install PrusaSlicer, pass it with --slicer, or open the 3MF "
            "file in your slicer"
        )
    plate = escape(model.name)
    who = f"{plate}: {slicer}"
    with external_errors(f"cannot slice {plate}"):
        gcode.parent.mkdir(parents=True, exist_ok=True)
        # In the target's folder, so that the final move is one step.
        with temporary_folder(gcode.parent) as folder:
            shutil.copyfile(model, folder / _MODEL)
            text = print_settings(profile, expected.extruders)
            (folder / _SETTINGS).write_text(text, encoding="utf-8")
            (folder / _DATA).mkdir()

            def ask(*arguments: str) -> ProgramRun:
                try:
                    done = run_program(
                        [slicer.path, "--datadir", _DATA, *arguments, _MODEL], folder, limit_s
                    )
                except ExternalError as error:
                    raise ExternalError(f"{plate}: {error}") from None
                if done.code != 0:
                    raise ExternalError(f"{who} {done.describe_exit().replace(_MODEL, plate)}")
                return done

            # It slices open meshes without a warning, but reports them with --info.
            info = ask("--info")
            models = parse_mesh_info(info.output, _MODEL)
            if not models:
                raise ExternalError(f"{who} reports no objects; it {info.describe_exit()}")
            sliced = ask(*_SLICE)
            if not (folder / _GCODE).is_file():
                raise ExternalError(f"{who} wrote no G-code; it {sliced.describe_exit()}")
            _blank_timestamp(folder / _GCODE)
            printed = read_gcode(folder / _GCODE, who)
            (folder / _GCODE).replace(gcode)
    warnings = parse_warnings(sliced.output)
    return judge_print(plate, slicer, models, warnings, printed, expected, profile)


def _blank_timestamp(gcode: Path) -> None:
    """Blank out the time stamp in the first line, in place, padding the line with spaces."""
    with gcode.open("rb+") as file:
        line = file.readline(_FIRST_LINE)
        kept = _TIMESTAMP.sub(b"", line).rstrip(b"\r\n")
        if line.endswith(b"\n") and len(kept) < len(line) - 1:
            file.seek(0)
            file.write(kept.ljust(len(line) - 1) + b"\n")
