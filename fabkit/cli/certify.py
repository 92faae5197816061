"""`fabkit certify`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabkit.cli.context import FAILURE_EXIT, Command
from fabkit.cli.options import argument, option
from fabkit.core.errors import pluralize

if TYPE_CHECKING:
    from fabkit.certify.document import Certificate

#: Sums that prove impossibility, by the kind of argument.
_SUMS = {"area": "the areas do not add up", "colouring": "a colouring does not add up"}


class Certify(Command):
    """Independently verify a certificate, without the solver.

    Exit code 1 if it does not hold.
    """

    file: str = argument("FILE", "A certificate, or a file of impossible shapes.", ...)
    set_name: str | None = option("--set SET", "The set, if it is not a shipped one.")

    def run(self) -> int:
        from fabkit.certify import verify
        from fabkit.certify.document import Certificate, read

        report = self.report
        start = time.monotonic()
        proofs = read(Path(self.file))
        with report.progress("checked") as progress:
            verdict = verify(proofs, self.set_name, progress)
        problem = proofs.problem if isinstance(proofs, Certificate) else proofs
        pieces = [piece.id for piece in problem.pieces]
        turned = "" if problem.flips else "not "
        how = f"{pluralize(verdict.nodes, 'branch node')} replayed"
        fields: dict[str, Any]
        if isinstance(proofs, Certificate):
            given_count = len(proofs.problem.given)
            claim = f"{proofs.name} {_claim(proofs)}"
            about = f"it is {proofs.name}"
            how = _SUMS.get(proofs.argument.by, how)
            more = f"{pluralize(given_count, 'piece')} given"
            fields = {
                "challenge": proofs.challenge,
                "holds": verdict.holds,
                "claim": proofs.claim.raw,
                "pieces": pieces,
                "given": given_count,
                "flips": problem.flips,
                "open": proofs.problem.open,
            }
        else:
            count = len(proofs.shapes)
            shapes = f"{pluralize(count, 'shape')} of {proofs.parity} parity"
            claim = f"{proofs.set} has no solution on any of {shapes}"
            about = f"it is about the pieces of {proofs.set}"
            more = f"all proofs together: sha256 {proofs.sha256}"
            fields = {
                "holds": verdict.holds,
                "parity": proofs.parity,
                "pieces": pieces,
                "flips": problem.flips,
                "shapes": count,
                "proved": verdict.shapes,
                "certificates_sha256": proofs.sha256 if verdict.holds else None,
            }
        if verdict.holds:
            report.info(f"Certified: {claim} (pieces {' '.join(pieces)}; {how})")
            if verdict.not_compared:
                proved = "so only what the file itself draws is proved, not that"
                report.warn(f"{verdict.not_compared}, {proved} {about}")
            report.detail(f"pieces may {turned}be turned over; {more}")
        else:
            report.info(f"REJECTED: {proofs.name}: {verdict.reason}")
        fields |= {"reason": verdict.reason, "nodes": verdict.nodes, "compared": verdict.compared}
        seconds = round(time.monotonic() - start, 3)
        report.document(file=self.file, set=proofs.set, **fields, seconds=seconds)
        return 0 if verdict.holds else FAILURE_EXIT


def _claim(certificate: Certificate) -> str:
    """The claim as a sentence."""
    from fabkit.certify.document import CountClaim

    claim, has_open_cells = certificate.claim, bool(certificate.problem.open)
    count = certificate.problem.pieces_count
    where = "" if count is None else f" with {count} of its pieces"
    if claim.answer == "impossible":
        return f"has no solution{where}{', even with cells left over' if has_open_cells else ''}"
    where += ", with cells left over" if has_open_cells else ""
    if not isinstance(claim, CountClaim):
        return f"has exactly one solution{where}"
    text = f"has {pluralize(claim.count, 'solution')}{where}"
    if claim.count_labelled not in (None, claim.count):
        text += f", {claim.count_labelled:,} with identical pieces distinguished"
    if claim.count_up_to_symmetry is not None:
        text += f", {claim.count_up_to_symmetry:,} up to symmetry"
    return text
