"""The files that `fabkit solve` writes beside its answer: drawings, certificates, formulas."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from fabkit.cli.answers import in_words
from fabkit.cli.report import Report
from fabkit.core.files import json_text, write_whole
from fabkit.model.entry import entry_of
from fabkit.model.profilefile import load_profile
from fabkit.solve.answer import IMPOSSIBLE, SOLVED, UNKNOWN, Answer, solve
from fabkit.solve.engines.engine import BudgetSpentError, Effort
from fabkit.solve.posing import PosedChallenge


@dataclass(frozen=True)
class Files:
    """The files that were asked for; None for those that were not.

    Attributes:
        certificate: what `fabkit certify` reads.
        cnf: the formula; its refutation lies beside it and ends in ``.drat``.
        svg: the drawing of the challenge and a solution.
        steps: that of how it is put together.
        theme: the look of both.
    """

    certificate: Path | None
    cnf: Path | None
    svg: Path | None
    steps: Path | None = None
    theme: str = "auto"


def write(
    files: Files,
    posed: PosedChallenge,
    question: str,
    answer: Answer,
    effort: Effort,
    report: Report,
) -> list[Path]:
    """Writes what the answer gives; says which file it does not give, and why.

    Returns:
        The files written.

    Raises:
        InputError: when the certificate of a count would be too long.
        OutsideError: when a file cannot be written.
    """
    written = _draw(files, posed, answer, effort, report)
    try:
        if files.cnf is not None:
            written += _write_cnf(files.cnf, posed, question, answer, effort)
            if answer.status == UNKNOWN or (question == "unique" and answer.unique is None):
                report.warn("there is no proof beside the formula: the answer is not known")
        if files.certificate is not None:
            claim = _claim(question, answer)
            written += _write_certificate(files.certificate, posed, claim, effort, report)
    except BudgetSpentError:
        report.warn("the budget was spent before the proof was complete; it was not written")
    return written


def _draw(
    files: Files, posed: PosedChallenge, answer: Answer, effort: Effort, report: Report
) -> list[Path]:
    """The drawings that were asked for."""
    if files.svg is None and files.steps is None:
        return []
    from fabkit.output.challenge import challenge_sheet, steps_sheet

    found = answer.solutions
    if answer.status == SOLVED and not found:  # a count lists none
        found = solve(posed, "first", effort=Effort(effort.left_s)).solutions
    solution = posed.layout(found[0]) if found else None
    entry = replace(entry_of(posed.challenge), solution=solution)
    unit_mm = load_profile(unit_mm=posed.puzzle.unit_mm).unit_mm
    written = []
    if files.svg is not None:
        drawn = challenge_sheet(posed.puzzle, entry, unit_mm, in_words(answer), files.theme)
        write_whole(files.svg, drawn)
        written.append(files.svg)
    if files.steps is not None and found:
        write_whole(files.steps, steps_sheet(posed.puzzle, entry, unit_mm, files.theme))
        written.append(files.steps)
    elif files.steps is not None:
        report.warn(f"{files.steps} was not written: there is no solution to put together")
    return written


def _claim(question: str, answer: Answer) -> str:
    """What of the answer needs a proof; empty when the solution speaks for itself."""
    if answer.status == IMPOSSIBLE:
        return "impossible"
    if question == "unique" and answer.unique:
        return "unique"
    return "count" if question in ("count", "all") and answer.count is not None else ""


def _write_certificate(
    path: Path, posed: PosedChallenge, claim: str, effort: Effort, report: Report
) -> list[Path]:
    from fabkit.solve.transcript import certificate

    if not claim:
        report.warn(
            f"{path} was not written: a certificate proves that a challenge is impossible, that "
            "its solution is unique (--unique), or its count (--count)"
        )
        return []
    write_whole(path, json_text(certificate(posed, claim, effort), indent=None))
    return [path]


def _write_cnf(
    path: Path, posed: PosedChallenge, question: str, answer: Answer, effort: Effort
) -> list[Path]:
    """The challenge as a formula, and the refutation when it (or a second solution) has one."""
    from fabkit.solve.engines.sat import formula, refutation

    proved = _claim(question, answer) in ("impossible", "unique")
    said = formula(posed.problem, answer.solutions if answer.unique else ())
    proof = refutation(said, effort) if proved else None
    write_whole(path, said.dimacs())
    if proof is None:
        return [path]
    write_whole(path.with_suffix(".drat"), proof)
    return [path, path.with_suffix(".drat")]
