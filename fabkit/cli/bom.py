"""`fabkit bom`: what a set takes, and what it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabkit.cli.context import PRINTED, Context, takes
from fabkit.cli.report import Report
from fabkit.core.errors import many
from fabkit.core.units import format_duration, format_mm

if TYPE_CHECKING:
    from fabkit.printing.bom import Bill


@takes(*PRINTED, "force")
def bom(context: Context) -> None:
    """Write the bill of materials.

    Lists magnets with their poles, filament, time and cost, in bom.csv and bom.json.
    """
    from fabkit.build.bom import write_bill

    report, folder = context.report, context.folder
    bill = write_bill(folder, context.puzzle, context.profile, context.force)
    tell_bill(bill, report)
    report.say(f"wrote {folder / 'bom.csv'} and bom.json")
    report.document(bill.document())


def tell_bill(bill: Bill, report: Report) -> None:
    """Prints a bill: a table, then what to know."""
    profile = bill.profile
    rows = []
    if bill.magnets:
        rows.append([magnets_words(bill), str(bill.magnets), "", f"{bill.magnets_cost:.2f}"])
    for line in bill.filament:
        name = f"{profile.filament} {line.colour} for {' '.join(line.pieces)}"
        rows.append([name, f"{line.grams:.1f} g", f"{line.metres:.2f} m", f"{line.cost:.2f}"])
    total = f"{bill.cost:.2f}"
    rows.append(["all", f"{bill.grams:.1f} g", "", total])
    report.table([many(len(bill.pieces), "piece"), "count", "length", profile.currency], rows)
    for piece in bill.pieces if profile.polarity == "alternating" else ():
        poles = " ".join(f"{pole}{' (dimple)' if marked else ''}" for pole, marked in piece.magnets)
        report.say(f"{piece.piece}: {poles}")
    if bill.sliced:
        plates, took = many(bill.sliced.plates, "plate"), format_duration(bill.sliced.seconds)
        report.say(f"{plates}, {took} to print, says {bill.sliced.slicer}")
    for note in bill.notes:
        report.say(note)


def magnets_words(bill: Bill) -> str:
    """How many magnets of what kind a set takes, in words; empty for none."""
    if not bill.magnets:
        return ""
    profile = bill.profile
    size = f"{profile.magnet_diameter_mm:g} x {format_mm(profile.magnet_height_mm)}"
    return f"{many(bill.magnets, 'magnet')} {profile.magnet_grade}, {size}"
