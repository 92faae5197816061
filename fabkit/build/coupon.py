"""The files of a coupon, and of what it calibrates."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shapely import affinity, total_bounds

from fabkit.build.artifacts import Artifacts, library_failures
from fabkit.build.export import write_print
from fabkit.build.targets import Place as PlaceFile
from fabkit.build.targets import Progress, Target, build, silent, with_report
from fabkit.core.errors import InputError, printable
from fabkit.core.files import write_whole
from fabkit.drawing.coupon import CouponPart, Place, coupon_parts, in_order, paired_pieces
from fabkit.drawing.draft import Blueprint
from fabkit.model.piece import Piece
from fabkit.model.profile import Profile
from fabkit.model.profilefile import dump_profile, load_profile
from fabkit.model.puzzle import PuzzleSet
from fabkit.output.couponsheet import coupon_sheet
from fabkit.output.residuals import residual_chart
from fabkit.printing.calibration import Fit
from fabkit.printing.nesting.bin import Placement
from fabkit.printing.plate import Plate

#: How far to the right the two pieces lie, and how far apart.
_PIECES_MM, _GAP_MM = 62.0, 3.0
#: What a coupon's values are written into, and what it measures.
TEMPLATE, REPORT = "measured.csv", "coupon.json"


@dataclass(frozen=True)
class Coupon:
    """A coupon that was written.

    Attributes:
        pieces: the two real ones on its plate.
        files: what was written, in the folder.
        document: as ``coupon.json`` has it.
    """

    places: tuple[Place, ...]
    pieces: tuple[str, ...]
    files: tuple[str, ...]
    document: dict[str, Any]


def write_coupon(
    puzzle: PuzzleSet,
    profile: Profile,
    folder: Path,
    laser: bool = False,
    force: bool = False,
    progress: Progress = silent,
) -> Coupon:
    """Writes a coupon: a 3MF file and STL files to print, or SVG and DXF to cut; and in any case
    ``coupon.pdf``, ``measured.csv`` and ``coupon.json``.

    Args:
        puzzle: the set two of whose pieces are printed with it.

    Raises:
        InputError: when the profile does not suit those pieces, the coupon does not fit the bed,
            the folder is that of a set, or it holds values that somebody has filled in.
        OutsideError: when the folder is in use or cannot be written; nothing has changed then.
    """
    profile = replace(profile, inlay="none", tones="plain")
    parts = coupon_parts(profile, laser)
    pieces = [] if laser else paired_pieces(puzzle, profile)
    places = in_order(parts)
    plate = _plate(parts, pieces, profile)
    document: dict[str, Any] = {
        "set": puzzle.name,
        "profile": profile.name,
        "kind": "laser" if laser else "print",
        "magnet_mm": profile.magnet_diameter_mm,
        "pieces": [one.piece for one in pieces],
        "places": [
            {"number": one.number, "part": one.part, "what": one.what, "nominal_mm": one.nominal_mm}
            for one in places
        ],
    }
    of_coupon = replace(puzzle, name="coupon", title="Coupon", boards=(), challenges=())

    def write(place: PlaceFile) -> None:
        with library_failures("the coupon"):
            if laser:
                _write_cut(parts[0], place)
            else:
                drawings = [*(one.blueprint() for one in parts), *pieces]
                _write_print(of_coupon, drawings, plate, profile, place, progress)
            title = f"{puzzle.title}, profile {profile.name}"
            place("coupon.pdf").write_bytes(coupon_sheet(parts, pieces, title, laser))
        place(TEMPLATE).write_bytes(value_list(places).encode())

    ends = ("3mf", "svg", "dxf", "pdf")
    names = (TEMPLATE, REPORT, "stl/", *(f"coupon.{one}" for one in ends))
    built = build(
        folder, of_coupon, profile, [Target(names, "", with_report(REPORT, document, write))], force
    )
    return Coupon(tuple(places), tuple(one.piece for one in pieces), tuple(built.files), document)


def _plate(parts: Sequence[CouponPart], pieces: Sequence[Blueprint], profile: Profile) -> Plate:
    """Everything as it lies on the bed, in its middle; what is measured along X lies along X.

    Raises:
        InputError: when the bed is too small.
    """
    spots = {one.name: one.lies_mm for one in parts}
    areas = [affinity.translate(one.outline, *one.lies_mm) for one in parts]
    y_mm = 0.0
    for one in pieces:
        left, low, _, high = one.outline.bounds
        spots[one.piece] = (_PIECES_MM - left, y_mm - low)
        areas.append(affinity.translate(one.outline, *spots[one.piece]))
        y_mm += high - low + _GAP_MM
    left, low, right, high = total_bounds(areas)
    free = [
        side - 2 * profile.plate_edge_mm for side in (profile.bed_width_mm, profile.bed_depth_mm)
    ]
    if right - left > free[0] or high - low > free[1]:
        size = f"{right - left:.0f} x {high - low:.0f} mm"
        raise InputError.of(
            f"profile {profile.name}",
            f"the coupon takes {size}, and the bed has room for {free[0]:g} x {free[1]:g} mm; choose "
            "a larger printer.bed_width or printer.bed_depth, or a smaller unit",
        )
    dx, dy = (profile.bed_width_mm - left - right) / 2, (profile.bed_depth_mm - low - high) / 2
    lying = [Placement(name, 0.0, x + dx, y + dy) for name, (x, y) in spots.items()]
    used = sum(one.area for one in areas) / (free[0] * free[1])
    return Plate(1, tuple(lying), None, used)


def value_list(places: Iterable[Place], typed: Mapping[int, str] | None = None) -> str:
    """The list to fill in, as CSV; filled in with what was typed at some numbers."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["number", "what", "nominal mm", "measured"])
    rows.writerows(
        [one.number, one.what, f"{one.nominal_mm:.2f}", (typed or {}).get(one.number, "")]
        for one in places
    )
    return text.getvalue()


def _write_print(
    puzzle: PuzzleSet,
    drawings: Sequence[Blueprint],
    plate: Plate,
    profile: Profile,
    place: PlaceFile,
    progress: Progress,
) -> None:
    things = tuple(Piece(one.piece, one.piece, one.colour, ()) for one in drawings)
    by_name = {one.piece: one for one in drawings}
    made_of = Artifacts(replace(puzzle, pieces=things), things, profile, drawings=by_name)
    made_of.plates = [plate]
    write_print(made_of, "stl", "coupon", place, progress)


def _write_cut(comb: CouponPart, place: PlaceFile) -> None:
    from fabkit.output.cutting import piece_dxf, piece_svg

    piece = comb.cut()
    place("coupon.svg").write_bytes(piece_svg(piece).encode())
    place("coupon.dxf").write_bytes(piece_dxf(piece).encode())


#: Drawn beside a calibrated profile.
CHART = "calibration.svg"


def refuse_calibrated(*paths: Path) -> None:
    """Refuses to write over a calibrated profile, or what stands beside one.

    Raises:
        InputError: when one of them is there.
    """
    there = [printable(str(one)) for one in paths if one.exists()]
    if there:
        message = "are there already" if there[1:] else "is there already"
        do = "write over with --force, or into another folder with -o"
        raise InputError.of(" and ".join(there), f"{message}; {do}")


def write_calibration(profile: Profile, fit: Fit, path: Path, notes: Sequence[str]) -> None:
    """Writes a calibrated profile, as far as it is not ``default``, and `CHART` beside it.

    Raises:
        OutsideError: when the folder cannot be written.
    """
    head = "".join(f"# {note[0].upper()}{note[1:]}.\n" for note in notes)
    title = f"{profile.name}: {len(fit.residuals)} values"
    write_whole(path.with_name(CHART), residual_chart(fit.residuals, title))
    write_whole(path, head + dump_profile(profile, load_profile()))
