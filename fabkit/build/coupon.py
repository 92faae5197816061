"""The fit gauge's files: made from the same workbench as a set's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fabkit.build.builders import library_failures
from fabkit.build.export import Progress
from fabkit.build.manifest import MANIFEST, Entry, remove_unchanged
from fabkit.build.workbench import Workbench
from fabkit.core.errors import InputError, printable
from fabkit.core.files import (
    Staging,
    folder_lock,
    json_text,
    outside_failures,
    read_json,
    sha256,
)
from fabkit.mesh.files.writing3mf import write_3mf
from fabkit.model.piece import Piece
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet
from fabkit.printing.fit_coupon.legend import document
from fabkit.printing.fit_coupon.parts import drawings, gauge_parts
from fabkit.printing.fit_coupon.values import GaugePart
from fabkit.printing.package import plates_package
from fabkit.printing.plate import Plate, plate_drawing
from fabkit.solid.export import write_stl

#: What tells how to read the gauge, and which files are its own.
REPORT = "coupon.json"
_OWN_FILE = re.compile(r"coupon(-\d+)?\.(3mf|svg)|stl/[a-z]+(-[a-z0-9.-]+)?\.stl")


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
    profile: Profile,
    folder: Path,
    progress: Progress = lambda done, total, name: None,
    puzzle: PuzzleSet | None = None,
) -> Coupon:
    """Writes a fit gauge: a 3MF file and a drawing of each plate, an STL file of each part.

    Args:
        profile: to be tuned.
        folder: where it goes; made when needed.
        progress: told before each part.
        puzzle: the set that it is for; None for a gauge for flat pieces without a board.

    Returns:
        What was written.

    Raises:
        InputError: when the profile allows no gauge, or it does not fit the bed.
        OutsideError: when the folder is in use or cannot be written; nothing has changed then.
    """
    if (folder / MANIFEST).exists():
        found = "holds the files of a set, among which a gauge would get lost"
        raise InputError.of(printable(str(folder)), f"{found}; choose another folder with -o")
    single = replace(profile, inlay="none")  # numbers need no second colour
    parts = gauge_parts(single, puzzle)
    bench = _bench(parts, single)
    with library_failures("the gauge's plate"):
        plates = bench.plates
    paths: dict[str, Path] = {}
    told = document(parts, single) | ({} if puzzle is None else {"set": puzzle.name})
    with (
        folder_lock(folder),
        outside_failures(f"cannot write in {printable(str(folder))}"),
        Staging(folder) as staging,
    ):

        def place(name: str) -> Path:
            paths[name] = staging.path(name)
            return paths[name]

        by_name = {one.id: one for one in bench.things}
        for done, piece in enumerate(bench.things):
            progress(done, len(parts), piece.id)
            with library_failures(piece.id):
                write_stl(bench.solid(piece), place(f"stl/{piece.id}.stl"))
        for plate in plates:
            name = "coupon" if len(plates) == 1 else f"coupon-{plate.number}"
            with library_failures(f"{name}.3mf"):
                prints = {spot.name: bench.print_of(by_name[spot.name]) for spot in plate.spots}
                package = plates_package(bench.puzzle, [plate], prints, bench.blueprints, single)
                place(f"{name}.3mf").write_bytes(write_3mf(package))
            drawing = plate_drawing(bench.puzzle, plates, plate, bench.blueprints, single)
            place(f"{name}.svg").write_text(drawing, encoding="utf-8", newline="\n")
        before = _files_of_before(folder)
        told["files"] = {name: sha256(path) for name, path in paths.items()}
        place(REPORT).write_text(json_text(told), encoding="utf-8", newline="\n")
        staging.commit()
        # Parts of another gauge must not be mixed up with these.
        remove_unchanged(folder, before.keys() - paths.keys(), before)
    return Coupon(tuple(parts), tuple(plates), tuple(paths), told)


def _files_of_before(folder: Path) -> dict[str, Entry]:
    """The files of the gauge that is in the folder now, as a manifest would have them."""
    try:
        files = read_json(folder / REPORT).get("files")
    except (InputError, OSError):
        return {}
    names = files if isinstance(files, dict) else {}
    return {name: {"sha256": names[name]} for name in names if _OWN_FILE.fullmatch(name)}


def _bench(parts: Sequence[GaugePart], profile: Profile) -> Workbench:
    """A workbench on which the parts lie as pieces of a set."""
    pieces = tuple(Piece(one.name, one.text, one.blueprint.colour, ()) for one in parts)
    blueprints = {part.name: part.blueprint for part in parts}
    return Workbench(replace(drawings(), pieces=pieces), pieces, profile, blueprints=blueprints)
