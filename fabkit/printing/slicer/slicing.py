"""Slicing one plate: the slicer runs in its own folder, and the G-code file is moved whole."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fabkit.core.errors import ExternalError, InputError, escape, pluralize
from fabkit.core.progress import Progress, no_progress
from fabkit.core.staging import external_errors, temporary_folder
from fabkit.printing.slicer.config import PrinterConfig
from fabkit.printing.slicer.gcode import read_gcode
from fabkit.printing.slicer.program import ProgramRun, Slicer, run_program
from fabkit.printing.slicer.settings import needed_settings, print_settings
from fabkit.printing.slicer.verdict import (
    Bed,
    ExpectedPrint,
    judge_print,
    parse_mesh_info,
    parse_warnings,
)
from fabkit.profiles.profile import Profile

#: A plate of 16 pieces takes about five seconds.
TIME_LIMIT_S = 600.0

# Names in the slicer's working folder, so that no odd name of a user's folder reaches its command
# line.
#: The plate.
_MODEL = "plate.3mf"
#: The user's print configuration, and fabkit's, which overrides it.
_CONFIG = "config.ini"
_SETTINGS = "fabkit.ini"
#: The result.
_GCODE = "plate.gcode"
#: The folder of the slicer's own files.
_DATA = "data"
#: The options that slice the plate.
_SLICE = ("--dont-arrange", "--loglevel", "2", "--export-gcode", "-o", _GCODE)
#: A line on the slicer's progress, in percent.
_STEP = re.compile(r"(\d{1,3}) => (.{1,100})")
#: What it says of a configuration that it cannot read.
_REFUSAL = re.compile(
    rf'Error while reading config file "{re.escape(_CONFIG)}": (?:Failed .*?": )?(.{{1,200}})'
)
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
    config: PrinterConfig | None = None,
    progress: Progress = no_progress,
) -> dict[str, Any]:
    """Slice the 3MF file of a plate with fabkit's generic settings or the user's own, read the
    G-code back and judge it (see `judge_print`). It is written whatever the verdict.

    Raises:
        InputError: when the configuration has too few extruders, or PrusaSlicer refuses it.
        ExternalError: when the slicer cannot be used, crashes, refuses the plate, takes too long or
            writes nothing readable. No G-code is written then.
    """
    if slicer.name != "PrusaSlicer":
        raise ExternalError(
            f"found {slicer.name}, but fabkit slices with PrusaSlicer only: OrcaSlicer and Bambu "
            "Studio need a printer's own presets; install PrusaSlicer, pass it with --slicer, or "
            "open the 3MF file in your slicer"
        )
    plate = escape(model.name)
    if config is not None and config.nozzles < expected.extruders:
        raise InputError.of(
            escape(config.name),
            f"is for {pluralize(config.nozzles, 'extruder')}, and {plate} needs "
            f"{expected.extruders}; export the settings of a printer that changes filament, or "
            "choose fewer filaments, or set label.inlay none, board.text engraved and cell.tones "
            "plain",
            "nozzle_diameter",
        )
    who = f"{plate}: {slicer}"
    with external_errors(f"cannot slice {plate}"):
        gcode.parent.mkdir(parents=True, exist_ok=True)
        # In the target's folder, so that the final move is one step.
        with temporary_folder(gcode.parent) as folder:
            shutil.copyfile(model, folder / _MODEL)
            settings = print_settings if config is None else needed_settings
            texts = {} if config is None else {_CONFIG: config.text}
            texts[_SETTINGS] = settings(profile, expected.extruders)
            loads: list[str] = []
            for name, text in texts.items():
                (folder / name).write_text(text, encoding="utf-8")
                loads += ["--load", name]
            (folder / _DATA).mkdir()

            def ask(*arguments: str, hear: Callable[[str], None] | None = None) -> ProgramRun:
                command: list[str | Path] = [slicer.path, "--datadir", _DATA, *arguments, _MODEL]
                try:
                    done = run_program(command, folder, limit_s, hear)
                except ExternalError as error:
                    raise ExternalError(f"{plate}: {error}") from None
                refusal = _REFUSAL.search(done.output)
                if refusal and config is not None:
                    message = f"PrusaSlicer refuses it: {escape(refusal[1])}"
                    raise InputError.of(escape(config.name), message)
                if done.code != 0:
                    raise ExternalError(f"{who} {done.describe_exit().replace(_MODEL, plate)}")
                return done

            # It slices open meshes without a warning, but reports them with --info.
            info = ask("--info")
            models = parse_mesh_info(info.output, _MODEL)
            if not models:
                raise ExternalError(f"{who} reports no objects; it {info.describe_exit()}")
            sliced = ask(*loads, *_SLICE, hear=_follow(progress))
            if not (folder / _GCODE).is_file():
                raise ExternalError(f"{who} wrote no G-code; it {sliced.describe_exit()}")
            _blank_timestamp(folder / _GCODE)
            printed = read_gcode(folder / _GCODE, who)
            (folder / _GCODE).replace(gcode)
    warnings = parse_warnings(sliced.output)
    bed = config.bed if config is not None else Bed.of(profile)
    return judge_print(plate, slicer, models, warnings, printed, expected, profile, bed)


def _follow(progress: Progress) -> Callable[[str], None]:
    """Return what reports the slicer's progress; it repeats steps for each object, but the
    share only grows."""
    share = 0.0

    def hear(line: str) -> None:
        nonlocal share
        if step := _STEP.fullmatch(line):
            share = max(share, min(int(step[1]), 100) / 100)
            progress(share, escape(step[2]))

    return hear


def _blank_timestamp(gcode: Path) -> None:
    """Blank out the time stamp in the first line, in place, padding the line with spaces."""
    with gcode.open("rb+") as file:
        line = file.readline(_FIRST_LINE)
        kept = _TIMESTAMP.sub(b"", line).rstrip(b"\r\n")
        if line.endswith(b"\n") and len(kept) < len(line) - 1:
            file.seek(0)
            file.write(kept.ljust(len(line) - 1) + b"\n")
