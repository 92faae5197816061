"""Slicing one plate: the slicer runs in a folder of its own, and its G-code appears whole."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from fabkit.core.errors import OutsideError, printable
from fabkit.core.files import outside_failures, temporary_folder
from fabkit.model.profile import Profile
from fabkit.printing.slicer.finding import PRUSA, Slicer
from fabkit.printing.slicer.gcode import read_gcode
from fabkit.printing.slicer.running import Run, run
from fabkit.printing.slicer.settings import print_settings
from fabkit.printing.slicer.verdict import Expected, judge, read_complaints, read_models

#: A plate of 16 pieces takes about five seconds.
LIMIT_S = 600.0

# Names in the slicer's folder. It works in there, so that no odd name of a user's folder reaches
# its command line.
_MODEL, _SETTINGS, _GCODE, _DATA = "plate.3mf", "fabkit.ini", "plate.gcode", "data"
_SLICE = ("--load", _SETTINGS, "--dont-arrange", "--loglevel", "2", "--export-gcode", "-o", _GCODE)
#: The first line of the G-code says when it was made; the same inputs should give the same bytes.
_MADE_ON = re.compile(rb" on \d{4}-\d\d-\d\d at \d\d:\d\d:\d\d UTC")
_FIRST_LINE = 1_000


def slice_plate(
    slicer: Slicer,
    model: Path,
    gcode: Path,
    profile: Profile,
    expected: Expected,
    limit_s: float = LIMIT_S,
) -> dict[str, Any]:
    """Slices a plate, reads back what comes of it, and judges it.

    Args:
        slicer: as found; only PrusaSlicer can be used.
        model: the plate's 3MF file.
        gcode: where the G-code goes; it is written also when the verdict is no.
        profile: how the plate is printed.
        expected: what should be in the G-code.
        limit_s: how long the slicer may take, in seconds.

    Returns:
        See `judge`.

    Raises:
        OutsideError: when the slicer cannot be used, crashes, refuses the plate, takes too long or
            writes nothing that could be read. No G-code appears then.
    """
    if slicer.kind != PRUSA:
        raise OutsideError(
            f"{slicer.name} was found, and fabkit slices with PrusaSlicer only: OrcaSlicer and "
            "Bambu Studio need a printer's own presets; install PrusaSlicer, name it with --slicer, "
            "or open the 3MF file in your slicer by hand"
        )
    plate = printable(model.name)
    who = f"{plate}: {slicer}"
    with outside_failures(f"cannot slice {plate}"):
        gcode.parent.mkdir(parents=True, exist_ok=True)
        # Beside its place, so that moving it there is one step.
        with temporary_folder(gcode.parent) as folder:
            shutil.copyfile(model, folder / _MODEL)
            text = print_settings(profile, expected.extruders)
            (folder / _SETTINGS).write_text(text, encoding="utf-8")
            (folder / _DATA).mkdir()

            def ask(*words: str) -> Run:
                try:
                    done = run([slicer.path, "--datadir", _DATA, *words, _MODEL], folder, limit_s)
                except OutsideError as error:
                    raise OutsideError(f"{plate}: {error}") from None
                if done.code != 0:
                    raise OutsideError(f"{who} {done.how_it_ended().replace(_MODEL, plate)}")
                return done

            # It slices open meshes without a word, but when asked it says which they are.
            told = ask("--info")
            models = read_models(told.said, _MODEL)
            if not models:
                raise OutsideError(f"{who} tells of no objects; it {told.how_it_ended()}")
            sliced = ask(*_SLICE)
            if not (folder / _GCODE).is_file():
                raise OutsideError(f"{who} wrote no G-code; it {sliced.how_it_ended()}")
            _forget_when(folder / _GCODE)
            found = read_gcode(folder / _GCODE, who)
            (folder / _GCODE).replace(gcode)
    complaints = read_complaints(sliced.said)
    return judge(plate, slicer, models, complaints, found, expected, profile)


def _forget_when(gcode: Path) -> None:
    """Takes the time out of the first line, in place: blanks at the line's end make up for it."""
    with gcode.open("rb+") as file:
        line = file.readline(_FIRST_LINE)
        kept = _MADE_ON.sub(b"", line).rstrip(b"\r\n")
        if line.endswith(b"\n") and len(kept) < len(line) - 1:
            file.seek(0)
            file.write(kept.ljust(len(line) - 1) + b"\n")
