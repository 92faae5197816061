"""`fabkit coupon`: the fit gauge."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from fabkit.cli.context import Context, takes
from fabkit.cli.options import option
from fabkit.core.errors import many
from fabkit.core.units import format_mm
from fabkit.model.library import shipped_names

_FOLDER = Path("output") / "coupon"


@takes("profiles", "settings", "force")
def coupon(
    context: Context,
    for_set: Annotated[
        str | None,
        option(
            "--for SET",
            "Also calibrate the board of this set: a shipped one, or a TOML file.",
            complete=shipped_names,
        ),
    ] = None,
    folder: Annotated[
        Path, option("-o --output DIR", f"Output folder (default: {_FOLDER}).")
    ] = _FOLDER,
) -> None:
    """Write a fit gauge: print this first.

    A small print that calibrates two values for your printer: the inset of pieces, and the width
    of recesses for magnets. With --for SET also how wide the holes, channels or seats of that set's
    board are, or how much wider its tray is than the pieces.
    """
    from fabkit.build.coupon import write_coupon
    from fabkit.printing.fit_coupon.legend import readings

    context.set = for_set or ""
    report, limits = context.report, context.profile
    puzzle = None if for_set is None else context.puzzle
    with report.progress() as progress:
        made = write_coupon(limits, folder, progress, puzzle, context.force)
    for reading in readings(made.parts, limits):
        numbers = ", ".join(reading.numbers)
        report.say(f"{reading.key} (now {format_mm(reading.own_mm)}): {numbers}")
        report.say(f"  {reading.how}")
        report.detail(f"  {reading.farther}")
    pauses = {part.blueprint.pause_height_mm for part in made.parts}
    for height_mm in sorted(height for height in pauses if height is not None):
        report.say(f"the print pauses at {format_mm(height_mm)}: put the magnets in")
    models = ", ".join(str(folder / name) for name in made.files if name.endswith(".3mf"))
    report.say(f"wrote {models}: {many(len(made.parts), 'part')}; each also in {folder / 'stl'}")
    report.document({"output": str(folder), "files": list(made.files)} | made.document)
