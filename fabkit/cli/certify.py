"""`fabkit certify`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabkit.cli.context import NO_EXIT, Context, takes
from fabkit.cli.options import argument, option
from fabkit.core.errors import many

if TYPE_CHECKING:
    from fabkit.certify import Certificate

#: What a sum shows, by the kind of argument.
_SUMS = {"area": "the areas do not add up", "colouring": "a colouring does not add up"}


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
    stated = proofs.problem if isinstance(proofs, Certificate) else proofs
    pieces, turned = [piece.id for piece in stated.pieces], "" if stated.flips else "not "
    how = f"{many(verdict.nodes, 'branch node')} replayed"
    said: dict[str, Any]
    if isinstance(proofs, Certificate):
        given = len(proofs.problem.given)
        claim, about = f"{proofs.name} {_claim(proofs)}", f"it is {proofs.name}"
        how, more = _SUMS.get(proofs.argument.by, how), f"{many(given, 'piece')} given"
        said = {
            "challenge": proofs.challenge,
            "holds": verdict.holds,
            "claim": proofs.claim.plain,
            "pieces": pieces,
            "given": given,
            "flips": stated.flips,
            "leftover": proofs.problem.leftover,
        }
    else:
        count = len(proofs.shapes)
        shapes = f"{many(count, 'shape')} of {proofs.parity} parity"
        claim, about = f"{proofs.set} has no solution on any of {shapes}", "it is about the pieces"
        about, more = f"{about} of {proofs.set}", f"all proofs together: sha256 {proofs.sha256}"
        said = {
            "holds": verdict.holds,
            "parity": proofs.parity,
            "pieces": pieces,
            "flips": stated.flips,
            "shapes": count,
            "proved": verdict.shapes,
            "certificates_sha256": proofs.sha256 if verdict.holds else None,
        }
    if verdict.holds:
        report.say(f"holds: {claim} (pieces {' '.join(pieces)}; {how})")
        if verdict.not_compared:
            only = "so only what the file itself draws is proved, not that"
            report.warn(f"{verdict.not_compared}, {only} {about}")
        report.detail(f"pieces may {turned}be turned over; {more}")
    else:
        report.say(f"refused: {proofs.name}: {verdict.reason}")
    said |= {"reason": verdict.reason, "nodes": verdict.nodes, "compared": verdict.compared}
    seconds = round(time.monotonic() - start, 3)
    report.document({"file": file, "set": proofs.set, **said, "seconds": seconds})
    return 0 if verdict.holds else NO_EXIT


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
