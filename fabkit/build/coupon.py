"""The fit gauge's files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fabkit.build.artifacts import Artifacts, library_failures
from fabkit.build.export import write_plates
from fabkit.build.targets import Place, Progress, Target, build, silent
from fabkit.core.files import json_text, sha256
from fabkit.model.piece import Piece
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet
from fabkit.printing.fit_coupon.legend import document
from fabkit.printing.fit_coupon.parts import drawings, gauge_parts
from fabkit.printing.fit_coupon.values import GaugePart

#: What tells how to read the gauge.
REPORT = "coupon.json"


@dataclass(frozen=True)
class Coupon:
    """A fit gauge that was written.

    Attributes:
        parts: what it is made of.
        files: what was written, in the folder.
        document: as ``coupon.json`` has it.
    """

    parts: tuple[GaugePart, ...]
    files: tuple[str, ...]
    document: dict[str, Any]


def write_coupon(
    profile: Profile,
    folder: Path,
    progress: Progress = silent,
    puzzle: PuzzleSet | None = None,
    force: bool = False,
) -> Coupon:
    """Writes a fit gauge: a 3MF file and a drawing of each plate, an STL file of each part.

    Args:
        puzzle: the set that it is for; None for a gauge for flat pieces without a board.

    Raises:
        InputError: when the profile allows no gauge, it does not fit the bed, or the folder is
            that of a set.
        OutsideError: when the folder is in use or cannot be written; nothing has changed then.
    """
    single = replace(profile, inlay="none")  # numbers need no second colour

    made: list[GaugePart] = []
    told: dict[str, Any] = {}

    def write(place: Place) -> None:
        paths: dict[str, Path] = {}

        def keep(name: str) -> Path:
            paths[name] = place(name)
            return paths[name]

        made.extend(gauge_parts(single, puzzle))
        pieces = tuple(Piece(one.name, one.text, one.blueprint.colour, ()) for one in made)
        by_name = {one.name: one.blueprint for one in made}
        gauge = replace(drawings(), pieces=pieces)
        made_of = Artifacts(gauge, pieces, single, drawings=by_name)
        with library_failures("the gauge's plate"):
            stem = "coupon" if len(made_of.plates) == 1 else "coupon-{}"  # or it is refused
        for done, piece in enumerate(pieces):
            progress(done, len(pieces), piece.id)
            with library_failures(piece.id):
                made_of.write_stl(piece, keep(f"stl/{piece.id}.stl"))
        with library_failures("the gauge's plate"):
            write_plates(made_of, stem, keep)
        told.update(document(made, single) | ({} if puzzle is None else {"set": puzzle.name}))
        told["files"] = {name: sha256(path) for name, path in paths.items()}
        keep(REPORT).write_bytes(json_text(told).encode())

    names = (REPORT, "stl/", "coupon.3mf", "coupon.svg", "coupon-")
    built = build(folder, drawings(), single, [Target(names, "", write)], force)
    return Coupon(tuple(made), tuple(built.files), told)
