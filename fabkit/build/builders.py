"""How each kind of file is made from what lies on the workbench."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabkit.build.targets import Target
from fabkit.build.workbench import Workbench
from fabkit.core.errors import FabkitError, OutsideError, printable
from fabkit.core.files import json_text

if TYPE_CHECKING:
    from fabkit.drawing.cut import CutPiece
    from fabkit.drawing.part import Drawn

#: Where the file of a name in the output folder is to be written.
Place = Callable[[str], Path]

#: What lies on each plate, for scripts and for `fabkit slice`.
PLATES = "plates/plates.json"


def prepare(target: Target, bench: Workbench) -> None:
    """Works out what may be refused, before any file is touched.

    Raises:
        InputError: when the profile does not suit the pieces.
        OutsideError: when a library fails.
    """
    with library_failures(target.name):
        if target.kind in ("dxf", "svg"):
            bench.cuts  # noqa: B018
            if target.is_group:
                bench.sheets  # noqa: B018
            return
        bench.blueprints  # noqa: B018
        if target.kind == "plates" or (target.kind == "3mf" and target.is_whole):
            bench.plates  # noqa: B018


def build(target: Target, bench: Workbench, place: Place) -> dict[str, Any]:
    """Makes a file, or the files of a group.

    Args:
        target: what to make.
        bench: what it is made of.
        place: where its files go.

    Returns:
        What people and scripts want to know of each piece in it.

    Raises:
        OutsideError: when the CAD kernel or a library fails.
    """
    with library_failures(target.name):
        _BUILDERS[target.kind](target, bench, place)
    if target.kind in ("dxf", "svg"):
        return {}
    return {one.id: _describe(bench.blueprints[one.id]) for one in target.things}


def _stl(target: Target, bench: Workbench, place: Place) -> None:
    from fabkit.solid.export import write_stl

    write_stl(bench.solid(target.things[0]), place(target.name))


def _step(target: Target, bench: Workbench, place: Place) -> None:
    from fabkit.solid.export import NamedSolid, write_step

    parts = [NamedSolid(one.id, one.colour, bench.solid(one)) for one in target.things]
    write_step(parts, bench.puzzle.name, place(target.name))


def _3mf(target: Target, bench: Workbench, place: Place) -> None:
    """All pieces on their plates; or one alone, in the middle of the bed."""
    from fabkit.mesh.files.writing3mf import write_3mf
    from fabkit.printing.package import piece_package, plates_package

    prints = {one.id: bench.print_of(one) for one in target.things}
    if target.is_whole:
        package = plates_package(
            bench.puzzle, bench.plates, prints, bench.blueprints, bench.profile
        )
    else:
        (one,) = target.things
        package = piece_package(
            bench.puzzle, prints[one.id], bench.blueprints[one.id], bench.profile
        )
    place(target.name).write_bytes(write_3mf(package))


def _plates(target: Target, bench: Workbench, place: Place) -> None:
    from fabkit.mesh.files.writing3mf import write_3mf
    from fabkit.printing.package import plates_package
    from fabkit.printing.plate import plate_document, plate_drawing

    prints = {one.id: bench.print_of(one) for one in target.things}
    for plate in bench.plates:
        package = plates_package(bench.puzzle, [plate], prints, bench.blueprints, bench.profile)
        place(f"plates/plate-{plate.number}.3mf").write_bytes(write_3mf(package))
        drawing = plate_drawing(bench.puzzle, bench.plates, plate, bench.blueprints, bench.profile)
        _write_text(place(f"plates/plate-{plate.number}.svg"), drawing)
    document = plate_document(bench.puzzle, bench.plates, bench.blueprints, bench.profile)
    _write_text(place(PLATES), json_text(document))


def _dxf(target: Target, bench: Workbench, place: Place) -> None:
    from fabkit.output.cutting import piece_dxf, sheet_dxf

    _cut(target, bench, place, piece_dxf, sheet_dxf)


def _svg(target: Target, bench: Workbench, place: Place) -> None:
    from fabkit.output.cutting import piece_svg, sheet_svg

    _cut(target, bench, place, piece_svg, sheet_svg)


def _cut(
    target: Target,
    bench: Workbench,
    place: Place,
    of_piece: Callable[[CutPiece], str],
    of_sheet: Callable[[Sequence[CutPiece], float, float], str],
) -> None:
    """One piece, or all of them on sheets, as a kind of file has them."""
    if not target.is_group:
        _write_text(place(target.name), of_piece(bench.cuts[target.things[0].id]))
        return
    for sheet in bench.sheets:
        path = place(f"{target.name}/sheet-{sheet.number}.{target.kind}")
        _write_text(path, of_sheet(sheet.placed, sheet.width_mm, sheet.depth_mm))


_Builder = Callable[[Target, Workbench, Place], None]
_BUILDERS: dict[str, _Builder] = {
    "stl": _stl,
    "step": _step,
    "3mf": _3mf,
    "plates": _plates,
    "dxf": _dxf,
    "svg": _svg,
}


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def _describe(blueprint: Drawn) -> dict[str, Any]:
    """What people and scripts want to know of a piece beside its files."""
    return {
        "magnets_mm": [list(recess.centre_mm) for recess in blueprint.recesses],
        "poles": [recess.pole for recess in blueprint.recesses],
        "pause_height_mm": blueprint.pause_height_mm,
        "cap_height_mm": blueprint.label.cap_height_mm if blueprint.label else None,
    }


@contextlib.contextmanager
def library_failures(name: str) -> Iterator[None]:
    """Libraries raise types of their own; whatever they say, the file was not made.

    Args:
        name: of the file, for the message.

    Raises:
        OutsideError: in place of what a library raises.
    """
    try:
        yield
    except (FabkitError, OSError, KeyboardInterrupt, MemoryError):
        raise
    except ImportError as error:
        reason = printable(str(error))
        raise OutsideError(
            f"cannot make {name}: {reason}; install fabkit again, nothing was changed"
        ) from error
    except Exception as error:
        reason = printable(str(error)) or type(error).__name__
        raise OutsideError(
            f"the CAD kernel or another library failed on {name}: {reason}; nothing was changed. Try "
            "another chamfer or label, and please report the set and profile"
        ) from error
