"""The files of a fit coupon, and of the profile it calibrates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabkit.build.export import write_print
from fabkit.build.manifest import report_recipe
from fabkit.build.reports import read_report
from fabkit.build.targets import OutputPath, Target, build, with_json_report
from fabkit.core.errors import InputError, escape
from fabkit.core.formats import csv_text
from fabkit.core.progress import Progress, no_progress
from fabkit.core.staging import write_atomically
from fabkit.model.puzzle import PuzzleSet
from fabkit.profiles.profile import Profile
from fabkit.profiles.profile_file import dump_profile, load_profile

if TYPE_CHECKING:
    from fabkit.drawing.coupon import CouponPart, CouponPlace
    from fabkit.drawing.draft import FlatDrawing
    from fabkit.printing.calibration import MachineFit
    from fabkit.printing.plate import Plate

#: The owner of its folder, and the stem of its files.
_OWNER = "coupon"
#: The position of the two pieces, to the right of the coupon's parts.
_PIECES_MM = 62.0
#: The gap between the two pieces.
_GAP_MM = 3.0
#: The file for measured values.
TEMPLATE = "measured.csv"
#: The report with the nominal values.
REPORT = "coupon.json"


def write_coupon(
    puzzle: PuzzleSet,
    profile: Profile,
    folder: Path,
    laser: bool = False,
    force: bool = False,
    progress: Progress = no_progress,
) -> tuple[dict[str, Any], bool]:
    """Bring a coupon up to date: 3MF and STL files to print, or SVG and DXF files to cut; with
    ``coupon.pdf``, ``measured.csv`` and ``coupon.json``.

    Args:
        puzzle: the set of the two pieces printed with it.

    Returns:
        ``coupon.json``, with the files, pieces and places; and whether they were made now.

    Raises:
        InputError: when the profile does not suit those pieces, the coupon does not fit the bed,
            the folder is that of a set, or contains measured values.
        ExternalError: when the folder is in use or cannot be written; nothing has changed then.
    """
    profile = replace(profile, inlay="none", board_text="engraved", tones="plain", filaments="1")

    def write(output_path: OutputPath) -> dict[str, Any]:
        return _write(puzzle, profile, laser, output_path, progress)

    ends = ("3mf", "svg", "dxf", "pdf")
    names = (TEMPLATE, REPORT, "stl/", *(f"coupon.{suffix}" for suffix in ends))
    recipe = report_recipe(puzzle, profile, "laser" if laser else "print")
    built = build(folder, _OWNER, [Target(names, recipe, with_json_report(REPORT, write))], force)
    return read_report(folder, REPORT), bool(built.made)


def _write(
    puzzle: PuzzleSet, profile: Profile, laser: bool, output_path: OutputPath, progress: Progress
) -> dict[str, Any]:
    """Write the files of a coupon, and return its report."""
    from fabkit.drawing.coupon import coupon_parts, fit_test_pieces, places_in_order
    from fabkit.output.coupon import coupon_sheet
    from fabkit.printing.package3mf import PrintInfo

    parts = coupon_parts(profile, laser)
    pieces = [] if laser else fit_test_pieces(puzzle, profile)
    places = places_in_order(parts)
    plate = _plate(parts, pieces, profile)
    if laser:
        _write_cut(parts[0], output_path)
    else:
        drawings = [*(part.drawing() for part in parts), *pieces]
        info = PrintInfo(_OWNER, "Coupon", len(drawings), puzzle.credit, puzzle.licence)
        write_print(info, drawings, profile, "stl", _OWNER, output_path, progress, [plate])
    title = f"{puzzle.title}, profile {profile.name}"
    output_path("coupon.pdf").write_bytes(coupon_sheet(parts, pieces, title, laser))
    output_path(TEMPLATE).write_bytes(measurement_csv(places).encode())
    return {
        "set": puzzle.name,
        "profile": profile.name,
        "kind": "laser" if laser else "print",
        "magnet_mm": profile.magnet_diameter_mm,
        "pieces": [piece.piece for piece in pieces],
        "places": [
            {
                "number": place.number,
                "part": place.part,
                "what": place.what,
                "nominal_mm": place.nominal_mm,
            }
            for place in places
        ],
    }


def _plate(parts: Sequence[CouponPart], pieces: Sequence[FlatDrawing], profile: Profile) -> Plate:
    """The layout of the coupon, centred on the bed and aligned with its axes.

    Raises:
        InputError: when the bed is too small.
    """
    from shapely import affinity, total_bounds

    from fabkit.printing.nesting.bin import Placement
    from fabkit.printing.plate import Plate, bed_bin

    positions = {part.name: part.origin_mm for part in parts}
    areas = [affinity.translate(part.outline, *part.origin_mm) for part in parts]
    y_mm = 0.0
    for piece in pieces:
        left, low, _, high = piece.outline.bounds
        positions[piece.piece] = (_PIECES_MM - left, y_mm - low)
        areas.append(affinity.translate(piece.outline, *positions[piece.piece]))
        y_mm += high - low + _GAP_MM
    left, low, right, high = total_bounds(areas)
    wide_mm, deep_mm = bed_bin(profile).usable_mm
    if right - left > wide_mm or high - low > deep_mm:
        size = f"{right - left:.0f} x {high - low:.0f} mm"
        raise InputError.of(
            f"profile {profile.name}",
            f"the coupon is {size}, but the bed has room for only {wide_mm:g} x {deep_mm:g} mm; "
            "choose a larger printer.bed_width or printer.bed_depth, or a smaller unit",
        )
    dx, dy = (profile.bed_width_mm - left - right) / 2, (profile.bed_depth_mm - low - high) / 2
    placements = [Placement(name, 0.0, x + dx, y + dy) for name, (x, y) in positions.items()]
    used = sum(area.area for area in areas) / (wide_mm * deep_mm)
    return Plate(1, tuple(placements), None, used)


def measurement_csv(places: Iterable[CouponPlace], typed: Mapping[int, str] | None = None) -> str:
    """The CSV file for measured values, filled in with those already typed, by place number."""
    rows = [
        [place.number, place.what, f"{place.nominal_mm:.2f}", (typed or {}).get(place.number, "")]
        for place in places
    ]
    return csv_text([["number", "what", "nominal mm", "measured"], *rows])


def _write_cut(comb: CouponPart, output_path: OutputPath) -> None:
    from fabkit.output.cutting import sheet_dxf, sheet_svg

    sheet = comb.cut().on_own_sheet()
    output_path("coupon.svg").write_bytes(sheet_svg(*sheet).encode())
    output_path("coupon.dxf").write_bytes(sheet_dxf(*sheet).encode())


def refuse_calibrated(*paths: Path) -> None:
    """Refuse to overwrite a calibrated profile or the files beside it.

    Raises:
        InputError: when one of them is there.
    """
    there = [escape(str(path)) for path in paths if path.exists()]
    if there:
        message = "exist already" if there[1:] else "exists already"
        do = "overwrite with --force, or choose another file with -o"
        raise InputError.of(" and ".join(there), f"{message}; {do}")


def write_calibration(profile: Profile, fit: MachineFit, path: Path, notes: Sequence[str]) -> Path:
    """Write the keys of a calibrated profile that differ from ``default``, and a chart beside it.

    Returns:
        The path of the chart of residuals.

    Raises:
        ExternalError: when the folder cannot be written.
    """
    from fabkit.output.coupon import residual_chart

    head = "".join(f"# {note[0].upper()}{note[1:]}.\n" for note in notes)
    title = f"{profile.name}: {len(fit.residuals)} values"
    chart = path.with_suffix(".svg")
    write_atomically(chart, residual_chart(fit.residuals, title))
    write_atomically(path, head + dump_profile(profile, load_profile()))
    return chart
