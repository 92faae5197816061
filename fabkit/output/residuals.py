"""The drawing of a calibration: how far each value lies from what the machine's law expects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fabkit.output.svg import Drawing

_ROW_MM, _HEAD_MM, _LEFT_MM, _WIDE_MM, _MARGIN_MM = 5.0, 22.0, 52.0, 110.0, 8.0
_WRONG = "#d55e00"


@dataclass(frozen=True)
class Residual:
    """A value's residual: what was measured less what was to be expected, in mm.

    Attributes:
        half_mm: half its 95 % interval.
        left_out: whether it looks wrong, and nothing was fitted to it.
    """

    name: str
    off_mm: float
    half_mm: float
    left_out: bool


def residual_chart(residuals: Sequence[Residual], title: str) -> str:
    """A row for each value: its residual as a dot, its 95 % interval as a bar; what was left out in
    red, at the edge if it is farther off. An SVG document in mm."""
    largest = max(abs(one.off_mm) + one.half_mm for one in residuals if not one.left_out)
    step = next(one for one in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1) if 4 * one >= largest)
    span = max(step, -(-largest // step) * step)
    height = _HEAD_MM + _ROW_MM * (len(residuals) + 1) + _MARGIN_MM
    drawing = Drawing(_LEFT_MM + _WIDE_MM + 2 * _MARGIN_MM, height, title)
    theme = drawing.theme

    def x_of(off_mm: float) -> float:
        return _LEFT_MM + _WIDE_MM / 2 * (1 + min(1.04, max(-1.04, off_mm / span)))

    drawing.text(_MARGIN_MM, height - 10, title, 4.6, class_="title")
    words = "measured less expected, in mm, with 95 % intervals"
    drawing.text(_MARGIN_MM, height - 16, words, 3.2, class_="quiet")
    bottom, top = _MARGIN_MM + _ROW_MM, height - _HEAD_MM
    marks = [round(step * one, 3) for one in range(-round(span / step), round(span / step) + 1)]
    for mark in marks:
        role = "faint" if mark else "quiet"
        ends = [(x_of(mark), bottom), (x_of(mark), top)]
        drawing.line(ends, stroke_width="0.25", **theme.lined(role))
        drawing.text(x_of(mark), bottom - 4, f"{mark:g}", 3.0, text_anchor="middle")
    for row, one in enumerate(residuals):
        y, off, wrong = top - _ROW_MM * (row + 0.5), one.off_mm, one.left_out
        drawing.text(_MARGIN_MM, y - 1.1, one.name, 3.2, **({"fill": _WRONG} if wrong else {}))
        lined = {"stroke": _WRONG} if wrong else theme.lined("ink")
        filled = {"fill": _WRONG} if wrong else theme.filled("ink")
        drawing.line(
            [(x_of(off - one.half_mm), y), (x_of(off + one.half_mm), y)],
            stroke_width="0.4",
            **lined,
        )
        drawing.circle(x_of(off), y, 0.9, **filled)
        if wrong:
            at = (x_of(off) - 2, y + 1) if off > 0 else (x_of(off) + 2, y + 1)
            anchor = "end" if off > 0 else "start"
            drawing.text(*at, f"{off:+.2f}, left out", 3.0, text_anchor=anchor, fill=_WRONG)
    return drawing.source()
