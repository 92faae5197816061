"""`fabkit certify`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabkit.cli.context import NO_EXIT, Context, takes
from fabkit.cli.options import argument, option
from fabkit.cli.report import Report
from fabkit.core.errors import many

if TYPE_CHECKING:
    from fabkit.certify import Certificate, ImpossibleShapes, Verdict


@takes()
def certify(
    context: Context,
    file: str = argument("FILE", "A certificate, or a file of impossible shapes.", required=True),
    set: str | None = option("--set SET", "The set that it is about, if not a shipped one."),
) -> int:
    """Independently verify a certificate, without the solver.

    Exit code 0 if it holds, 1 if not.
    """
    from fabkit.certify import Certificate, judge, read

    report, start = context.report, time.monotonic()
    proofs = read(Path(file))
    with report.shares("checked") as told:
        verdict = judge(proofs, set, told)
    if not verdict.holds:
        report.say(f"refused: {proofs.name}: {verdict.reason}")
    if isinstance(proofs, Certificate):
        said = _certificate(proofs, verdict, report)
    else:
        said = _shapes(proofs, verdict, report)
    said |= {"reason": verdict.reason, "nodes": verdict.nodes, "compared": verdict.compared}
    seconds = round(time.monotonic() - start, 3)
    report.document({"file": file, "set": proofs.set, **said, "seconds": seconds})
    return 0 if verdict.holds else NO_EXIT


def _certificate(certificate: Certificate, verdict: Verdict, report: Report) -> dict[str, Any]:
    """Says what holds; returns what scripts are told."""
    problem = certificate.problem
    pieces = [piece.id for piece in problem.pieces]
    if verdict.holds:
        how = f"pieces {' '.join(pieces)}; {_how(certificate, verdict)}"
        report.say(f"holds: {certificate.name} {_claim(certificate)} ({how})")
        _warn(verdict, f"that it is {certificate.name}", report)
        given = f"{many(len(problem.given), 'piece')} given"
        report.detail(f"pieces may {'' if problem.flips else 'not '}be turned over; {given}")
    return {
        "challenge": certificate.challenge,
        "holds": verdict.holds,
        "claim": certificate.claim.plain,
        "pieces": pieces,
        "given": len(problem.given),
        "flips": problem.flips,
        "leftover": problem.leftover,
    }


def _shapes(file: ImpossibleShapes, verdict: Verdict, report: Report) -> dict[str, Any]:
    """Says what holds; returns what scripts are told."""
    pieces, shapes = [piece.id for piece in file.pieces], len(file.shapes)
    if verdict.holds:
        how = f"pieces {' '.join(pieces)}; {many(verdict.nodes, 'branch node')} replayed"
        on = f"any of {many(shapes, 'shape')} of {file.parity} parity"
        report.say(f"holds: {file.set} has no solution on {on} ({how})")
        _warn(verdict, f"that it is about the pieces of {file.set}", report)
        proofs = f"all proofs together: sha256 {file.sha256}"
        report.detail(f"pieces may {'' if file.flips else 'not '}be turned over; {proofs}")
    return {
        "holds": verdict.holds,
        "parity": file.parity,
        "pieces": pieces,
        "flips": file.flips,
        "shapes": shapes,
        "proved": verdict.shapes,
        "certificates_sha256": file.sha256 if verdict.holds else None,
    }


def _warn(verdict: Verdict, what: str, report: Report) -> None:
    if verdict.not_compared:
        only = "so only what the file itself draws is proved, not"
        report.warn(f"{verdict.not_compared}, {only} {what}")


def _claim(certificate: Certificate) -> str:
    """The claim in plain words."""
    from fabkit.certify.document import Counted

    claim, leftover = certificate.claim, certificate.problem.leftover
    some = certificate.problem.pieces_count
    where = "" if some is None else f" with {some} of its pieces"
    if claim.answer == "impossible":
        return f"has no solution{where}{', even with cells left over' if leftover else ''}"
    where += ", with cells left over" if leftover else ""
    if not isinstance(claim, Counted):
        return f"has exactly one solution{where}"
    said = f"has {many(claim.count, 'solution')}{where}"
    if claim.count_labelled not in (None, claim.count):
        said += f", {claim.count_labelled:,} with identical pieces told apart"
    if claim.count_up_to_symmetry is not None:
        said += f", {claim.count_up_to_symmetry:,} up to symmetry"
    return said


def _how(certificate: Certificate, verdict: Verdict) -> str:
    """The argument in plain words."""
    if certificate.argument.by == "area":
        return "the areas do not add up"
    if certificate.argument.by == "colouring":
        return "a colouring does not add up"
    return f"{many(verdict.nodes, 'branch node')} replayed"
