"""Slicing one plate: the slicer runs in a folder of its own, and its G-code appears whole."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

from fabkit.core.errors import OutsideError, printable
from fabkit.core.files import outside_failures, temporary_folder
from fabkit.model.profile import Profile
from fabkit.printing.slicer.finding import PRUSA, Slicer
from fabkit.printing.slicer.gcode import read_gcode
from fabkit.printing.slicer.running import Run, run
from fabkit.printing.slicer.settings import print_settings
from fabkit.printing.slicer.verdict import (
    Expected,
    Model,
    Verdict,
    judge,
    read_complaints,
    read_models,
)

#: A plate of 16 pieces takes about five seconds.
LIMIT_S = 600.0

# Names in the slicer's folder. It works in there, so that no odd name of a user's folder reaches
# its command line.
_MODEL, _SETTINGS, _GCODE, _DATA = "plate.3mf", "fabkit.ini", "plate.gcode", "data"
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
) -> Verdict:
    """Slices a plate, reads back what comes of it, and judges it.

    Args:
        slicer: as found; only PrusaSlicer can be used.
        model: the plate's 3MF file.
        gcode: where the G-code goes; it is written also when the verdict is no.
        profile: how the plate is printed.
        expected: what should be in the G-code.
        limit_s: how long the slicer may take, in seconds.

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
    with outside_failures(f"cannot slice {plate}"):
        gcode.parent.mkdir(parents=True, exist_ok=True)
        # Beside its place, so that moving it there is one step.
        with temporary_folder(gcode.parent) as folder:
            shutil.copyfile(model, folder / _MODEL)
            text = print_settings(profile, expected.extruders)
            (folder / _SETTINGS).write_text(text, encoding="utf-8")
            (folder / _DATA).mkdir()
            models = _describe(slicer, folder, plate, limit_s)
            said = _slice(slicer, folder, plate, limit_s)
            _forget_when(folder / _GCODE)
            found = read_gcode(folder / _GCODE, f"{plate}: {_called(slicer)}")
            (folder / _GCODE).replace(gcode)
    complaints = read_complaints(said)
    return judge(plate, slicer, models, complaints, found, expected, profile)


def _describe(slicer: Slicer, folder: Path, plate: str, limit_s: float) -> tuple[Model, ...]:
    """What the slicer says of the objects: it slices open meshes without a word."""
    answer = _run(slicer, ["--info", _MODEL], folder, plate, limit_s)
    models = read_models(answer.said, _MODEL)
    if not models:
        raise OutsideError(
            f"{plate}: {_called(slicer)} tells of no objects; it {answer.how_it_ended()}"
        )
    return models


def _slice(slicer: Slicer, folder: Path, plate: str, limit_s: float) -> str:
    options = ["--load", _SETTINGS, "--dont-arrange", "--loglevel", "2"]
    answer = _run(
        slicer, [*options, "--export-gcode", "-o", _GCODE, _MODEL], folder, plate, limit_s
    )
    if not (folder / _GCODE).is_file():
        raise OutsideError(
            f"{plate}: {_called(slicer)} wrote no G-code; it {answer.how_it_ended()}"
        )
    return answer.said


def _run(slicer: Slicer, words: list[str], folder: Path, plate: str, limit_s: float) -> Run:
    try:
        answer = run([slicer.path, "--datadir", _DATA, *words], folder, limit_s)
    except OutsideError as error:
        raise OutsideError(f"{plate}: {error}") from None
    answer = replace(answer, last=answer.last.replace(_MODEL, plate))
    if answer.code != 0:
        raise OutsideError(f"{plate}: {_called(slicer)} {answer.how_it_ended()}")
    return answer


def _called(slicer: Slicer) -> str:
    return f"{slicer.name} {slicer.version}"


def _forget_when(gcode: Path) -> None:
    """Takes the time out of the first line, in place: blanks at the line's end make up for it."""
    with gcode.open("rb+") as file:
        line = file.readline(_FIRST_LINE)
        kept = _MADE_ON.sub(b"", line).rstrip(b"\r\n")
        if line.endswith(b"\n") and len(kept) < len(line) - 1:
            file.seek(0)
            file.write(kept.ljust(len(line) - 1) + b"\n")
