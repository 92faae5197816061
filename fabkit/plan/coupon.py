"""The fit gauge's files: made from the same workbench as a set's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fabkit.base.errors import printable
from fabkit.base.files import Staging, folder_lock, json_text, outside_failures
from fabkit.mesh.files.writing3mf import write_3mf
from fabkit.model.profile import Profile
from fabkit.plan.builders import kernel_failures
from fabkit.plan.export import Progress
from fabkit.plan.workbench import Workbench
from fabkit.press.gauge.legend import document
from fabkit.press.gauge.parts import GaugePart, drawings, gauge_parts
from fabkit.press.package import plates_package
from fabkit.press.plate import Plate, plate_drawing
from fabkit.solid.export import write_stl


@dataclass(frozen=True)
class Coupon:
    """A fit gauge that was written.

    Attributes:
        parts: what it is made of.
        plates: where they lie; one, unless the bed is small.
        files: what was written, in the folder.
        document: as ``coupon.json`` has it.
    """

    parts: tuple[GaugePart, ...]
    plates: tuple[Plate, ...]
    files: tuple[str, ...]
    document: dict[str, Any]


def write_coupon(
    profile: Profile, folder: Path, progress: Progress = lambda done, total, name: None
) -> Coupon:
    """Writes a fit gauge: a 3MF file and a drawing of each plate, an STL file of each part.

    Args:
        profile: to be tuned.
        folder: where it goes; made when needed.
        progress: told before each part.

    Returns:
        What was written.

    Raises:
        InputError: when the profile allows no gauge, or it does not fit the bed.
        OutsideError: when the folder is in use or cannot be written; nothing has changed then.
    """
    single = replace(profile, inlay="none")  # numbers need no second colour
    parts = gauge_parts(single)
    bench = _bench(parts, single)
    plates = bench.plates
    files: list[str] = []
    told = document(parts, single)
    with (
        folder_lock(folder),
        outside_failures(f"cannot write in {printable(str(folder))}"),
        Staging(folder) as staging,
    ):

        def place(name: str) -> Path:
            files.append(name)
            return staging.path(name)

        for done, piece in enumerate(bench.pieces):
            progress(done, len(parts), piece.id)
            with kernel_failures(piece.id):
                write_stl(bench.solid(piece), place(f"stl/{piece.id}.stl"))
        prints = {piece.id: bench.print_of(piece) for piece in bench.pieces}
        for plate in plates:
            name = "coupon" if len(plates) == 1 else f"coupon-{plate.number}"
            package = plates_package(bench.puzzle, [plate], prints, bench.blueprints, single)
            place(f"{name}.3mf").write_bytes(write_3mf(package))
            drawing = plate_drawing(bench.puzzle, plates, plate, bench.blueprints, single)
            place(f"{name}.svg").write_text(drawing, encoding="utf-8", newline="\n")
        place("coupon.json").write_text(json_text(told), encoding="utf-8", newline="\n")
        staging.commit()
    return Coupon(tuple(parts), tuple(plates), tuple(files), told)


def _bench(parts: Sequence[GaugePart], profile: Profile) -> Workbench:
    """A workbench on which the parts lie as pieces of a set."""
    drawn = drawings()
    pieces = tuple(
        replace(drawn.pieces[0], id=part.name, label=part.text, colour=part.blueprint.colour)
        for part in parts
    )
    blueprints = {part.name: part.blueprint for part in parts}
    return Workbench(replace(drawn, pieces=pieces), pieces, profile, blueprints=blueprints)
