"""The bill of materials as a table: for spreadsheets, and for the terminal."""

from __future__ import annotations

import csv
import io
from typing import Any

from fabkit.core.errors import many
from fabkit.core.units import format_mm
from fabkit.printing.bill import Bill

_COLUMNS = ("item", "name", "count", "unit", "size", "colour", "price", "cost", "note")
#: How a spreadsheet recognises a formula, which a name or a material must never become.
_FORMULA = ("=", "+", "-", "@")


def bill_csv(bill: Bill) -> str:
    """The bill as a table for spreadsheets: pieces, magnets, filament, total, notes."""
    profile = bill.profile
    rows: list[tuple[Any, ...]] = []
    for piece in bill.pieces:
        size = " x ".join(f"{side:g}" for side in piece.size_mm)
        size += f" x {format_mm(profile.thickness_mm)}"
        poles = " ".join(pole for pole, _ in piece.magnets)
        note = f"poles {poles}" if poles else ""
        rows.append(("piece", piece.piece, 1, "", size, piece.colour, "", "", note))
    if bill.magnets:
        size = f"{profile.magnet_diameter_mm:g} x {format_mm(profile.magnet_height_mm)}"
        price, cost = f"{profile.magnet_price:.2f}", f"{bill.magnets_cost:.2f}"
        rows.append(("magnet", profile.magnet_grade, bill.magnets, "", size, "", price, cost, ""))
    for line in bill.filament:
        price = f"{profile.filament_price:.2f}/kg"
        note = f"{line.metres:.2f} m for {' '.join(line.pieces)}"
        grams, cost = f"{line.grams:.1f}", f"{line.cost:.2f}"
        size = format_mm(profile.filament_diameter_mm)
        rows.append(
            ("filament", profile.filament, grams, "g", size, line.colour, price, cost, note)
        )
    if bill.sliced:
        plates = f"{many(bill.sliced.plates, 'plate')}, says {bill.sliced.slicer}"
        minutes = "" if bill.sliced.seconds is None else round(bill.sliced.seconds / 60)
        rows.append(("print", "", minutes, "min", "", "", "", "", plates))
    rows.append(("total", "", "", profile.currency, "", "", "", f"{bill.cost:.2f}", ""))
    rows += [("note", "", "", "", "", "", "", "", note) for note in bill.notes]
    written = io.StringIO()
    table = csv.writer(written, lineterminator="\n")
    table.writerow(_COLUMNS)
    table.writerows([[_harmless(cell) for cell in row] for row in rows])
    return written.getvalue()


def _harmless(cell: Any) -> Any:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell
