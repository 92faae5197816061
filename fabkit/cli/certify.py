"""`fabkit certify`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from fabkit.cli.context import NO_EXIT, Context, takes
from fabkit.cli.options import argument, option
from fabkit.cli.report import Report
from fabkit.core.errors import many, printable

if TYPE_CHECKING:
    from fabkit.certify import Certificate, ImpossibleShapes, ShapesVerdict, Verdict


@takes()
def certify(
    context: Context,
    file: Annotated[str, argument("FILE", "A certificate, or a file of impossible shapes.")],
    set: Annotated[
        str | None, option("--set SET", "The set that it is about, if not a shipped one.")
    ] = None,
) -> int:
    """Independently verify a certificate, without the solver.

    Exit code 0 if it holds, 1 if not.
    """
    from fabkit.certify import certificate_of, is_of_shapes, read_document, shapes_of

    report = context.report
    start, source = time.monotonic(), printable(file)
    document = read_document(Path(file))
    if is_of_shapes(document):
        holds, said = _certify_shapes(shapes_of(document, source), set, report)
    else:
        holds, said = _certify_one(certificate_of(document, source), set, report)
    seconds = round(time.monotonic() - start, 3)
    report.document({"file": file, **said, "seconds": seconds})
    return 0 if holds else NO_EXIT


def _certify_one(
    certificate: Certificate, set_name: str | None, report: Report
) -> tuple[bool, dict[str, Any]]:
    """Judges a certificate; returns whether it holds, and what scripts are told of it."""
    from fabkit.certify import judge

    with report.shares("checked") as told:
        verdict = judge(certificate, set_name, told)
    _tell(certificate, verdict, report)
    return verdict.holds, {
        "set": certificate.set,
        "challenge": certificate.challenge,
        "holds": verdict.holds,
        "claim": certificate.claim.plain,
        "pieces": [piece.id for piece in certificate.problem.pieces],
        "given": len(certificate.problem.given),
        "flips": certificate.problem.flips,
        "leftover": certificate.problem.leftover,
        "reason": verdict.reason,
        "nodes": verdict.nodes,
        "compared": verdict.compared,
    }


def _certify_shapes(
    file: ImpossibleShapes, set_name: str | None, report: Report
) -> tuple[bool, dict[str, Any]]:
    """Judges a file of impossible shapes; returns whether it holds, and what scripts are told."""
    from fabkit.certify import judge_shapes

    with report.shares("checked") as told:
        verdict = judge_shapes(file, set_name, told)
    _tell_shapes(file, verdict, report)
    return verdict.holds, {
        "set": file.set,
        "holds": verdict.holds,
        "parity": file.parity,
        "pieces": [piece.id for piece in file.pieces],
        "flips": file.flips,
        "shapes": len(file.shapes),
        "proved": verdict.shapes,
        "certificates_sha256": file.sha256 if verdict.holds else None,
        "reason": verdict.reason,
        "nodes": verdict.nodes,
        "compared": verdict.compared,
    }


def _tell_shapes(file: ImpossibleShapes, verdict: ShapesVerdict, report: Report) -> None:
    if not verdict.holds:
        report.say(f"refused: {file.set}: {verdict.reason}")
        return
    pieces = " ".join(piece.id for piece in file.pieces)
    nodes = many(verdict.nodes, "branch node")
    shapes = many(len(file.shapes), "shape")
    report.say(
        f"holds: {file.set} has no solution on any of {shapes} of {file.parity} parity "
        f"(pieces {pieces}; {nodes} replayed)"
    )
    if verdict.not_compared:
        report.warn(
            f"{verdict.not_compared}, so only what the file itself draws is proved, not that it "
            f"is about the pieces of {file.set}"
        )
    flips = "may" if file.flips else "may not"
    report.detail(f"pieces {flips} be turned over; all proofs together: sha256 {file.sha256}")


def _tell(certificate: Certificate, verdict: Verdict, report: Report) -> None:
    name = f"{certificate.set} {certificate.challenge}"
    if not verdict.holds:
        report.say(f"refused: {name}: {verdict.reason}")
        return
    pieces = " ".join(piece.id for piece in certificate.problem.pieces)
    report.say(
        f"holds: {name} {_said(certificate)} (pieces {pieces}; {_how(certificate, verdict)})"
    )
    if verdict.not_compared:
        report.warn(
            f"{verdict.not_compared}, so only what the file itself draws is proved, not that it "
            f"is {name}"
        )
    flips = "may" if certificate.problem.flips else "may not"
    given = many(len(certificate.problem.given), "piece")
    report.detail(f"pieces {flips} be turned over; {given} given")


def _said(certificate: Certificate) -> str:
    """The claim in plain words."""
    claim, open_cells = certificate.claim, certificate.problem.leftover
    where = ", even with cells left over" if open_cells else ""
    if claim.answer == "impossible":
        return f"has no solution{where}"
    where = ", with cells left over" if open_cells else ""
    if claim.answer == "unique":
        return f"has exactly one solution{where}"
    said = f"has {many(claim.count, 'solution')}{where}"
    if claim.labelled != claim.count:
        said += f", {claim.labelled:,} with identical pieces told apart"
    if claim.up_to_symmetry is not None:
        said += f", {claim.up_to_symmetry:,} up to symmetry"
    return said


def _how(certificate: Certificate, verdict: Verdict) -> str:
    """The argument in plain words."""
    from fabkit.certify.certificate import ByArea, ByColouring

    if isinstance(certificate.argument, ByArea):
        return "the areas do not add up"
    if isinstance(certificate.argument, ByColouring):
        return "a colouring does not add up"
    return f"{many(verdict.nodes, 'branch node')} replayed"
