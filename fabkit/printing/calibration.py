"""Calibrating a machine: read the measurements of a coupon, fit the machine's errors, and make the
profile that compensates for them.

A length L that is drawn n long comes out as

=========  ==================================================================
outside    L = s n + 2 o, with the scale s of its axis and the offset o of a side
inside     L = s n - 2 o
hole       L = s n - 2 o - a - b / n
foot       L = s n + 2 o + 2 f, with the spread f of the first layer
thickness  L = n + z
tab, slot  L = s n - k and s n + k, with the kerf k of its axis
=========  ==================================================================

A line of plastic laid in a circle is pulled inwards and covers less on its outside than on its
inside, both in proportion to its curvature, 2 / n. So holes lose ``b / n`` in addition to the
constant ``a``, caused by the slicer's chords and the seam.

The model is linear in its parameters, so generalised least squares give their intervals. Each side
scatters, and so do the readings of a calliper. Every length or diameter has two sides, so all have
the same variance; but lengths that end at the same side are correlated, and treating them as
independent gives intervals that are too short (83 % for the offset instead of 95 %).
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabkit.core.errors import ErrorList, InputError, escape, join_names, quote
from fabkit.core.parsing import read_text
from fabkit.core.units import format_mm
from fabkit.drawing.boards.lids import sliding_lid
from fabkit.drawing.coupon import RUNG_STEP_MM, RUNGS, CouponPlace, rung_mm
from fabkit.drawing.outline import DrawingError
from fabkit.output.coupon import Residual
from fabkit.profiles.profile import Profile
from fabkit.profiles.profile_file import contradictions

#: Confidence of the intervals.
_CONFIDENCE = 0.95
#: A value is an outlier if chance puts one so far off in a smaller share of coupons.
_CHANCE = 0.005
#: Maximum share of outliers.
_MAX_OUTLIERS = 0.2
#: Minimum number of values beyond the number of parameters.
_MIN_SPARE = 4
#: Maximum plausible scatter.
_MAX_SCATTER_MM = 0.15
#: Maximum difference between readings of one place.
_MAX_APART_MM = 0.5
#: Variance of a calliper's reading relative to that of a side: readings to 0.02 mm, sides to 0.03.
_CALLIPER_VARIANCE = 0.5
_INCH_MM = 25.4
#: Longer lists are refused.
_MAX_VALUES = 10_000

#: The parameters to fit, as far as they were measured.
NAMES = (
    "scale_x", "scale_y", "offset", "hole_constant", "hole_curvature", "foot", "height", "kerf_x",
    "kerf_y",
)  # fmt: skip

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Measurement:
    """The mean of all readings at one place of a coupon."""

    place: CouponPlace
    value_mm: float
    coupon: int = 1

    @property
    def name(self) -> str:
        """The name for messages."""
        coupon = f" of coupon {self.coupon}" if self.coupon > 1 else ""
        return f"{self.place.number}{coupon} ({self.place.what})"


@dataclass(frozen=True)
class Estimate:
    """A fitted value with its standard error and half its 95 % interval."""

    value: float
    error: float
    half: float

    @property
    def interval(self) -> tuple[float, float]:
        """The ends of its 95 % interval."""
        return self.value - self.half, self.value + self.half


@dataclass(frozen=True)
class MachineFit:
    """The fitted errors of a machine.

    Attributes:
        values: by name: ``scale_x``, ``scale_y``; ``offset``, ``hole_constant``, ``hole_curvature``
            (mm²), ``foot`` and ``height`` as far as they were measured; or ``kerf_x`` and
            ``kerf_y``. Lengths are in mm.
        scatter_mm: standard deviation of a length.
        residuals: of all measurements, in order, including outliers.
        covariance: of the values, in their order.
        quantile: factor from a standard error to half a 95 % interval.
        held_mm: diameter as drawn of the widest recess that held a magnet, by trial, or None.
    """

    values: dict[str, Estimate]
    scatter_mm: float
    residuals: tuple[Residual, ...]
    covariance: Vector
    quantile: float
    held_mm: float | None = None

    @property
    def outliers(self) -> list[Residual]:
        """The measurements that were left out of the fit."""
        return [residual for residual in self.residuals if residual.left_out]

    def estimate(self, parts: Mapping[str, float]) -> Estimate:
        """Return a linear combination of values, with its own interval."""
        row = np.array([parts.get(name, 0.0) for name in self.values])
        value = sum(parts[name] * self.values[name].value for name in parts)
        error = math.sqrt(max(0.0, float(row @ self.covariance @ row)))
        return Estimate(value, error, self.quantile * error)

    def hole_shrinkage(self, diameter_mm: float) -> Estimate:
        """Return how much narrower than drawn a hole comes out, apart from the scale."""
        parts = {"offset": 2.0}
        if "hole_constant" in self.values:
            parts |= {"hole_constant": 1.0, "hole_curvature": 1 / diameter_mm}
        return self.estimate(parts)


# --- reading measurements -----------------------------------------------------------------


def read_measurements(
    paths: Sequence[Path], places: Mapping[int, CouponPlace]
) -> list[Measurement]:
    """Read the measurements of coupons, each a CSV file as `fabkit coupon` writes it.

    Several readings of a place go in further columns, or in one column separated by spaces. Columns
    may be separated by semicolons, and lengths may have decimal commas.

    Raises:
        InputError: when a file is not such a list; all errors of a file at once.
    """
    readings = []
    for coupon, path in enumerate(paths, start=1):
        source = escape(str(path))
        text = read_text(path, source, "a list of values as `fabkit coupon` writes it")
        mark = max(";,\t", key=(text.splitlines() or [""])[0].count)
        rows = list(csv.reader(text.splitlines(), delimiter=mark))[:_MAX_VALUES]
        errors = ErrorList(source)
        values: dict[int, list[float]] = {}
        if not rows or [title.strip().lower() for title in rows[0][:2]] != ["number", "what"]:
            expected = "number,what,nominal mm,measured"
            raise InputError.of(source, f'expected "{expected}" in its first line')
        for line, row in enumerate(rows[1:], start=2):
            if not any(cell.strip() for cell in row):
                continue
            try:
                gauge = _place(row, places, source)
                if mark == "," and len(row) == 5 and row[3].isdecimal() and row[4].isdecimal():
                    raise ValueError(
                        f"{row[3]},{row[4]} may be one length or two; write {row[3]}.{row[4]}, or "
                        "put semicolons between columns"
                    )
                read = values.setdefault(gauge.number, [])
                for cell in row[3:]:
                    read += parse_values(cell, gauge)
            except ValueError as error:
                errors.add(f"line {line}", str(error))
        errors.raise_if_any()
        for number, lengths_mm in values.items():
            if lengths_mm:
                try:
                    readings.append(mean_measurement(places[number], lengths_mm, coupon))
                except ValueError as error:
                    raise InputError.of(source, str(error)) from None
    return readings


def mean_measurement(gauge: CouponPlace, values: Sequence[float], coupon: int = 1) -> Measurement:
    """Return the mean of one or several readings at a place.

    Raises:
        ValueError: when the values are too far from each other.
    """
    low, high = min(values), max(values)
    if high - low > _MAX_APART_MM:
        raise ValueError(f"{gauge.number}: {low:g} and {high:g} mm at one place; measure it again")
    return Measurement(gauge, sum(values) / len(values), coupon)


def _place(row: Sequence[str], places: Mapping[int, CouponPlace], source: str) -> CouponPlace:
    """Return the place of a line; raise a ValueError if there is no such number, and an InputError
    if the list is that of another coupon."""
    number = row[0].strip()
    if not number.isdecimal() or int(number) not in places:
        numbers = join_names([str(number) for number in places])
        raise ValueError(f"there is no place {quote(number)}; choose from {numbers}")
    gauge = places[int(number)]
    nominal = (row[2] if len(row) > 2 else "").replace(",", ".").strip()
    if row[1].strip() != gauge.what or nominal != f"{gauge.nominal_mm:.2f}":
        raise InputError.of(
            source,
            f"belongs to another coupon: {number} is {quote(f'{row[1].strip()}, {nominal} mm')} "
            f"there, and {quote(f'{gauge.what}, {gauge.nominal_mm:.2f} mm')} here; name the "
            "profile that the coupon was made with, and add --laser for one that was cut",
        )
    return gauge


def parse_values(text: str, gauge: CouponPlace) -> list[float]:
    """Parse the readings at a place in a text, in mm, separated by spaces; for a magnet, letters of
    recesses, whose diameters as drawn are returned.

    Raises:
        ValueError: when one is not a reading.

    Example:
        >>> from fabkit.drawing.coupon import coupon_places
        >>> from fabkit.profiles.profile_file import load_profile
        >>> places = coupon_places(load_profile())
        >>> parse_values("20.02 19,98 mm", places[10]), parse_values("", places[10])
        ([20.02, 19.98], [])
        >>> parse_values("d", places[80])
        [10.15]
    """
    readings_mm: list[float] = []
    for word in text.strip().removesuffix("mm").split():
        if gauge.kind == "magnet":
            if word.upper() not in [*RUNGS]:
                letters = f"{', '.join(RUNGS[:-1])} or {RUNGS[-1]}"
                raise ValueError(f"expected the letter of a recess, {letters}, found {quote(word)}")
            readings_mm.append(rung_mm(gauge, word.upper()))
            continue
        try:
            readings_mm.append(float(word.replace(",", ".")))
        except ValueError:
            readings_mm.append(0.0)
        if not 0 < readings_mm[-1] < 1000:
            raise ValueError(f"expected a length in mm such as 20.05, found {quote(word)}")
    return readings_mm


# --- fitting the machine ------------------------------------------------------------------


def fit_machine(readings: Sequence[Measurement]) -> MachineFit:
    """Fit a machine's errors to measurements by generalised least squares.

    Raises:
        InputError: when there are too few values, or they are implausible: in inches, or so
            scattered that they contradict each other.
    """
    from scipy import stats

    held_mm = [reading.value_mm for reading in readings if reading.place.kind == "magnet"]
    readings = [reading for reading in readings if reading.place.kind != "magnet"]
    _refuse_inches(readings)
    names, design = _design(readings)
    off = np.array([reading.value_mm - reading.place.nominal_mm for reading in readings])
    kept, solution, cross, variance = _without_outliers(design, off, _correlations(readings))
    residuals = off - design @ solution
    outliers = ~np.isin(np.arange(len(readings)), kept)
    scatter_mm = math.sqrt(variance)
    if scatter_mm > _MAX_SCATTER_MM or outliers.sum() > _MAX_OUTLIERS * len(readings):
        order = np.argsort(-np.abs(residuals))[:3]
        worst_ones = ", ".join(
            f"{readings[i].name} is {format_mm(abs(residuals[i]), 2)} off" for i in order
        )
        raise InputError.of(
            "the values",
            f"contradict each other more than a calliper or printer explains: {worst_ones}; "
            "measure again and enter each value at its number",
        )
    quantile = float(stats.t.ppf((1 + _CONFIDENCE) / 2, len(kept) - len(names)))
    unsure = np.einsum("ij,jk,ik->i", design, cross, design)
    halves = quantile * scatter_mm * np.sqrt(np.maximum(1 - np.where(outliers, -1, 1) * unsure, 0))
    covariance: Vector = np.asarray(variance * cross, np.float64)
    values = solution + np.array([float(name.startswith("scale")) for name in names])
    errors = np.sqrt(np.diag(covariance))
    estimates = map(Estimate, values.tolist(), errors.tolist(), (quantile * errors).tolist())
    places = [reading.name for reading in readings]
    return MachineFit(
        dict(zip(names, estimates, strict=True)),
        scatter_mm,
        tuple(map(Residual, places, residuals.tolist(), halves.tolist(), outliers.tolist())),
        covariance,
        quantile,
        float(np.mean(held_mm)) if held_mm else None,
    )


def _without_outliers(
    design: Vector, off: Vector, correlations: Vector
) -> tuple[NDArray[np.int64], Vector, Vector, float]:
    """Remove outliers one at a time: values whose studentised residual from a fit without them is
    too large to be chance (Bonferroni's bound over all values).

    Returns the indices of the others, the solution, its covariance relative to the variance of a
    value, and that variance.
    """
    from scipy import stats

    kept: NDArray[np.int64] = np.arange(len(off))
    while True:
        rows, values, spare = design[kept], off[kept], len(kept) - design.shape[1]
        weights = np.linalg.inv(correlations[np.ix_(kept, kept)])
        cross = np.asarray(np.linalg.inv(rows.T @ weights @ rows), np.float64)
        solution = cross @ rows.T @ weights @ values
        # Without a value, the sum of squares is less by its pull squared over its own part.
        projection = weights - weights @ rows @ cross @ rows.T @ weights
        pulls = projection @ values
        leverage = np.maximum(np.diag(projection), 1e-9)
        variance = max(0.0, float(values @ pulls)) / spare
        without = np.maximum(variance * spare - pulls**2 / leverage, 1e-12) / (spare - 1)
        studentised = np.abs(pulls) / np.sqrt(leverage * without)
        worst = int(np.argmax(studentised))
        chance = 2 * stats.t.sf(studentised[worst], spare - 1) * len(kept)
        if chance > _CHANCE or spare - 1 < _MIN_SPARE:
            return kept, solution, cross, variance
        kept = np.delete(kept, worst)


def _design(readings: Sequence[Measurement]) -> tuple[list[str], Vector]:
    """Return the parameters, and the design matrix of the deviations from nominal; raise an
    InputError if these values do not determine all parameters."""
    rows = [_terms(reading.place) for reading in readings]
    names = [name for name in NAMES if any(name in row for row in rows)]
    design = np.array([[row.get(name, 0.0) for name in names] for row in rows])
    enough = len(readings) >= len(names) + _MIN_SPARE and names[:2] == ["scale_x", "scale_y"]
    if enough and np.linalg.matrix_rank(design) == len(names):
        return names, design
    message = "do not determine all parameters" if enough else f"are too few: {len(readings)}"
    remedy = (
        "tabs and slots of several sizes in X and in Y"
        if any(reading.place.kind in ("tab", "gap") for reading in readings)
        else "outside and inside lengths of several sizes in X and in Y, and of holes two "
        "diameters or none"
    )
    raise InputError.of("the values", f"{message}; measure {remedy}")


def _terms(gauge: CouponPlace) -> dict[str, float]:
    """Return the factor of each parameter in the deviation from nominal at a place."""
    n = gauge.nominal_mm
    scale = f"scale_{gauge.axis}"
    return {
        "step": {scale: n, "offset": 2.0},
        "slot": {scale: n, "offset": -2.0},
        "hole": {scale: n, "offset": -2.0, "hole_constant": -1.0, "hole_curvature": -1 / n},
        "foot": {scale: n, "offset": 2.0, "foot": 2.0},
        "height": {"height": 1.0},
        "tab": {scale: n, f"kerf_{gauge.axis}": -1.0},
        "gap": {scale: n, f"kerf_{gauge.axis}": 1.0},
    }[gauge.kind]


def _correlations(readings: Sequence[Measurement]) -> Vector:
    """Return the correlations of measurements: those that end at the same side share its error."""
    ends = dict[tuple[object, ...], Vector]()
    for row, reading in enumerate(readings):
        gauge = reading.place
        axis = "xyz".index(gauge.axis)
        outwards = -1 if gauge.kind in ("slot", "gap", "hole") else 1
        feature = gauge.number if gauge.kind in ("hole", "height") else gauge.kind == "foot"
        for end in [point_mm[axis] for point_mm in gauge.line_mm] or "+-":
            side = (reading.coupon, gauge.part, axis, feature, end)
            ends.setdefault(side, np.zeros(len(readings)))[row] = outwards
    shared = np.array([*ends.values()])
    both: Vector = shared.T @ shared + _CALLIPER_VARIANCE * np.eye(len(readings))
    return both / (2 + _CALLIPER_VARIANCE)


def _refuse_inches(readings: Sequence[Measurement]) -> None:
    ratios = [reading.place.nominal_mm / reading.value_mm for reading in readings]
    if readings and abs(float(np.median(ratios)) / _INCH_MM - 1) < 0.1:
        reading = readings[0]
        raise InputError.of(
            "the values",
            f"look like inches ({reading.value_mm:g} at {reading.name}, which is "
            f"{reading.place.nominal_mm:g} mm); switch the calliper to mm, or multiply them by "
            "25.4",
        )


# --- the compensating profile -------------------------------------------------------------

#: How much wider than a magnet a printed hole is that holds it: the middle of 0 to -0.05 mm.
_PRESSED_MM = -0.025
#: Standard deviation of a magnet's diameter; makers state 0.1 mm as the most.
_MAGNET_SD_MM = 0.03
#: The tightest such hole.
_TIGHTEST_MM = -0.06
#: Number of standard deviations of a hole's width that one hole in forty exceeds.
_SPREAD_SD = 2.0


def calibrate_profile(profile: Profile, fit: MachineFit, name: str) -> tuple[Profile, list[str]]:
    """Return a profile that compensates for a machine's errors, and notes for the slicer.

    The given profile has the intended dimensions; the new one is called `name`.

    Raises:
        InputError: when the profile is already calibrated, or the errors cannot be compensated.
    """
    is_cut = "kerf_x" in fit.values
    if profile.side_sd_mm and not is_cut:
        raise InputError.of(
            f"profile {profile.name}",
            "is already calibrated; pass the profile with the intended dimensions",
        )
    made = replace(profile, name=name, title=f"{profile.title}; calibrated"[:200])
    changed, notes = (_for_cutter if is_cut else _for_printer)(made, fit)
    faults = list(contradictions(changed))
    if faults:
        raise InputError(f"profile {profile.name}, calibrated", faults)
    return changed, notes


def _for_cutter(profile: Profile, fit: MachineFit) -> tuple[Profile, list[str]]:
    along, across = fit.values["kerf_x"], fit.values["kerf_y"]
    kerf_mm = round((along.value + across.value) / 2, 3)
    if kerf_mm < 0:
        raise InputError.of(
            "the values",
            f"imply a kerf of {format_mm(kerf_mm)}: tabs came out wider, and slots narrower, than "
            "drawn; cut the coupon without kerf compensation, and enter each value at its number",
        )
    notes = _scale_notes(fit, "the laser's software")
    apart = fit.estimate({"kerf_x": 1.0, "kerf_y": -1.0})
    if abs(apart.value) > apart.half:
        notes.append(
            f"the kerf is {format_mm(along.value)} in X and {format_mm(across.value)} in Y: the "
            f"profile uses the mean, so sides are up to {format_mm(abs(apart.value) / 4)} off; "
            "check the beam's focus and the belts"
        )
    return replace(profile, kerf_mm=kerf_mm), notes


def _for_printer(profile: Profile, fit: MachineFit) -> tuple[Profile, list[str]]:
    out_mm = fit.values["offset"].value
    notes = _scale_notes(fit, "the slicer")
    if profile.inset_mm + out_mm < 0:
        notes.append(
            f"sides print {format_mm(-out_mm)} too far in, which an inset of "
            f"{format_mm(profile.inset_mm)} cannot compensate: set the slicer's XY compensation to "
            f"{format_mm(-profile.inset_mm - out_mm)}, and calibrate again"
        )
    if fit.held_mm is not None:
        drawn = format_mm(fit.held_mm)
        notes.append(f"a magnet was held by a recess drawn {drawn} wide: the press fit follows it")
    if "hole_constant" not in fit.values:
        notes.append("no holes were measured: recesses, holes for balls and sockets are unchanged")
    height = fit.values.get("height")
    if height and abs(height.value) > height.half:
        excess, remedy = ("thick", "down") if height.value > 0 else ("thin", "up")
        notes.append(
            f"adjust in the slicer: parts are {format_mm(abs(height.value))} too {excess}; move "
            f"the first layer {remedy} by that (Z offset)"
        )
    made = replace(profile, **_compensated_sizes(profile, fit))
    while made.lid == "sliding" and _slips_out(made) and made.lid_thickness_mm < 10 - made.layer_mm:
        made = replace(made, lid_thickness_mm=round(made.lid_thickness_mm + made.layer_mm, 6))
    if made.lid_thickness_mm > profile.lid_thickness_mm:
        notes.append(
            f"lids are {format_mm(made.lid_thickness_mm)} thick (lid.thickness), so that the frame "
            "holds them with more clearance"
        )
    loss = _press_loss_mm(profile, fit)
    made = replace(
        made,
        offset_mm=round(out_mm, 4),
        offset_sd_mm=round(fit.values["offset"].error, 4),
        side_sd_mm=max(0.0001, round(fit.scatter_mm / math.sqrt(2), 4)),
        hole_loss_mm=round(loss[0], 4) if loss else 0.0,
        hole_sd_mm=round(math.hypot(fit.scatter_mm, loss[1]), 4) if loss else 0.0,
    )
    return made, notes


def _press_loss_mm(profile: Profile, fit: MachineFit) -> tuple[float, float] | None:
    """Return how much narrower than drawn a recess prints, for a magnet of the profile's diameter,
    and the standard error; None if nothing is known.

    The widest recess that held a magnet is narrower than it by half a step on average, more or less
    by what a recess scatters. The fitted law knows the mean of many holes, but the magnet only by
    its nominal diameter. Both are weighted by their errors.
    """
    law = None
    if "hole_constant" in fit.values:
        hole = fit.hole_shrinkage(profile.magnet_diameter_mm + profile.press_mm)
        law = hole.value, hole.error
    if fit.held_mm is None:
        return law
    nominal_mm = profile.magnet_diameter_mm
    trial_mm = fit.held_mm + RUNG_STEP_MM / 2 - nominal_mm
    trial_sd_mm = math.hypot(RUNG_STEP_MM / math.sqrt(12), fit.scatter_mm)
    if law is None:
        return trial_mm, trial_sd_mm
    widest_mm = nominal_mm + profile.press_mm + len(RUNGS) // 2 * RUNG_STEP_MM
    if fit.held_mm > widest_mm - RUNG_STEP_MM / 2 and law[0] > trial_mm:
        return law  # still wider recesses might have held it
    law_mm, law_sd_mm = law[0], math.hypot(law[1], _MAGNET_SD_MM)
    trial_weight, law_weight = trial_sd_mm**-2, law_sd_mm**-2
    both = trial_weight + law_weight
    return (trial_weight * trial_mm + law_weight * law_mm) / both, both**-0.5


def _compensated_sizes(profile: Profile, fit: MachineFit) -> dict[str, Any]:
    """Return the sizes of a profile, wider where the machine prints narrower, and vice versa."""
    out_mm = fit.values["offset"].value
    inset_mm = max(0.0, profile.inset_mm + out_mm)
    wider_mm = {
        "inset_mm": inset_mm - profile.inset_mm,
        # The gap between two meshes is larger than between two prints.
        "gap_min_mm": 2 * (inset_mm - profile.inset_mm),
        "gap_max_mm": 2 * (inset_mm - profile.inset_mm),
        # The flat of a tip grows as its corners, of 112.5 degrees each, move out.
        "tip_flat_mm": -2 * out_mm * math.tan(math.radians(33.75)),
        # Bumps and hooks reach farther into the frame as both grow.
        "detent_mm": -2 * out_mm if profile.detent_mm else 0.0,
    }
    wider_mm |= dict.fromkeys(("ball_mm", "link_mm", "peg_mm", "cell_link_mm"), -2 * out_mm)
    wider_mm |= {"snap_mm": -2 * out_mm, "board_clearance_mm": out_mm, "joint_mm": out_mm}
    wider_mm |= {"channel_mm": 2 * out_mm, "lid_clearance_mm": 2 * out_mm}
    if "hole_constant" in fit.values:
        for key in ("glue_mm", "rib_root_mm", "rib_crest_mm", "embedded_mm"):
            drawn_mm = profile.magnet_diameter_mm + getattr(profile, key)
            wider_mm[key] = fit.hole_shrinkage(drawn_mm).value
        wider_mm["hole_mm"] = fit.hole_shrinkage(profile.hole_mm).value
        socket_mm = fit.hole_shrinkage(profile.peg_mm + 2 * profile.socket_mm).value
        wider_mm["socket_mm"] = out_mm + socket_mm / 2
    if loss := _press_loss_mm(profile, fit):
        loss_mm, loss_sd_mm = loss
        # Narrower than the magnet by twice the spread of the holes, within bounds: few have play.
        spread_mm = math.hypot(fit.scatter_mm, loss_sd_mm)
        press_mm = max(_TIGHTEST_MM, min(_PRESSED_MM, -_SPREAD_SD * spread_mm))
        # In other profiles a press fit relies on holes that print narrow; these do not.
        press_mm = min(profile.press_mm, press_mm)
        wider_mm["press_mm"] = press_mm + loss_mm - profile.press_mm
    minimum_mm = {"tip_flat_mm": 0.1, "gap_max_mm": 0.01, "press_mm": -0.5, "rib_crest_mm": -1.0}
    minimum_mm |= {"detent_mm": 0.01 if profile.detent_mm else 0.0, "snap_mm": 0.1}
    values: dict[str, Any] = {
        key: round(max(minimum_mm.get(key, 0.0), getattr(profile, key) + more), 3)
        for key, more in wider_mm.items()
    }
    if "foot" in fit.values:
        # At the top of the first layer the chamfer is less deep by that layer's height.
        needed_mm = fit.values["foot"].value + profile.first_layer_mm
        values["foot_chamfer_mm"] = max(
            profile.foot_chamfer_mm, round(math.ceil(needed_mm / 0.05 - 1e-6) * 0.05, 2)
        )
    return values


def _slips_out(profile: Profile) -> bool:
    """Return whether the frame would not reach far enough over a sliding lid."""
    try:
        sliding_lid(profile.unit_mm, profile.unit_mm, profile)
    except DrawingError:
        return True
    return False


def _scale_notes(fit: MachineFit, program: str) -> list[str]:
    percents = [f"{axis} {100 / fit.values[f'scale_{axis.lower()}'].value:.2f} %" for axis in "XY"]
    return [f"adjust in {program}: scale {' and '.join(percents)}"]
