"""`fabkit solve`, and the files that it writes beside its answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from fabkit.cli import drawings, options
from fabkit.cli.context import NO_EXIT, Context, takes
from fabkit.cli.options import argument, flag, option
from fabkit.cli.report import Report
from fabkit.core.errors import InputError, shown
from fabkit.core.files import json_text, write_whole
from fabkit.model.challengeload import find_challenge, known_names, load_challenge
from fabkit.model.puzzle import Challenge, PuzzleSet

if TYPE_CHECKING:
    from fabkit.solve.answer import Answer
    from fabkit.solve.engines.engine import Effort
    from fabkit.solve.posing import PosedChallenge

_ENGINES = ("search", "count", "sat", "cp-sat", "mip")
#: No list is as long.
_MOST_LISTED = 10**9


@takes("set")
def solve(
    context: Context,
    challenge: str | None = argument(
        "CHALLENGE", "A challenge or board (default: the set's first board)."
    ),
    file: Path | None = option("--file FILE", "Solve the challenge in this TOML or JSON file."),
    first: bool = flag("--first", "Find one solution (the default)."),
    count: bool = flag("--count", "Count all solutions."),
    all: bool = flag("--all", "List all solutions."),
    unique: bool = flag("--unique", "Find out whether there is exactly one solution."),
    starts: bool = flag(
        "--starts", "Count the solutions left for every placement and every cell's piece."
    ),
    difficulty: bool = flag("--difficulty", "Rate how hard it is for a person."),
    limit: int | None = option(
        "--limit N",
        "With --all: list at most N solutions.",
        read=options.whole(1, _MOST_LISTED),
    ),
    leftover: bool = flag("--leftover", "Allow cells of the region to stay uncovered."),
    engine: str | None = option(
        "--engine NAME",
        f"{', '.join(_ENGINES[:-1])} or {_ENGINES[-1]} (default: selected automatically).",
        complete=lambda: _ENGINES,
    ),
    budget_s: float | None = option(
        "--budget SECONDS", "Time limit; the answer is then unknown (default: none)."
    ),
    certificate: Path | None = option(
        "--certificate FILE.json",
        "Write a proof of impossibility, uniqueness or the count, for `fabkit certify`.",
    ),
    cnf: Path | None = option(
        "--cnf FILE.cnf",
        "Write a formula for other checkers, and FILE.drat if there is no solution.",
    ),
    svg: Path | None = option("--svg FILE.svg", "Draw the challenge and a solution."),
    steps: Path | None = option("--steps FILE.svg", "Draw a solution step by step."),
    theme: str | None = drawings.THEME,
) -> int:
    """Find, count or list the solutions of a challenge.

    Exit code 1 if there is none; with --unique, if there is not exactly one.
    """
    from fabkit.cli import answers
    from fabkit.solve.answer import SOLVED
    from fabkit.solve.answer import solve as answer_to
    from fabkit.solve.engines.engine import BudgetSpentError, Effort
    from fabkit.solve.posing import pose
    from fabkit.solve.told import document
    from fabkit.solve.transcript import certificate as proof

    questions = {"--first": first, "--count": count, "--all": all, "--unique": unique}
    question = options.exclusive(questions | {"--starts": starts})[2:] or "first"
    if question != "all":
        options.refuse({"--limit": limit}, "says how many solutions --all lists; add --all")
    if question == "starts":
        files = {"--certificate": certificate, "--cnf": cnf, "--svg": svg, "--steps": steps}
        message = "goes with a solution or a count, not with --starts; leave one of them out"
        options.refuse({"--engine": engine, **files, "--difficulty": difficulty}, message)
    if not (svg or steps):
        message = "is the look of a drawing; add --svg FILE.svg, or leave it out"
        options.refuse({"--theme": theme}, message)
    if certificate and file and certificate.resolve() == file.resolve():
        raise InputError.of("--certificate", "names the challenge's own file; choose another")
    report, puzzle = context.report, context.puzzle
    posed = pose(puzzle, _challenge(puzzle, challenge, file), leftover)
    with report.shares("of the search") as told:
        effort = Effort(budget_s, told, context.begin)
        if question == "starts":
            return answers.tell_starts(posed, effort, report)
        answer = answer_to(posed, question, engine, effort, limit)
    rating = answers.rating(posed, answer, budget_s) if difficulty else None
    answers.tell(posed, question, answer, rating, report)
    if difficulty and rating is None:
        report.warn("the difficulty is not known: no try of a person's kind came to an end")
    if context.json:
        report.document(document(posed, answer, rating))
    # The answer is told before its files are made: a proof may take longer, and fail.
    with report.shares("of the proof") as told:
        effort = Effort(budget_s, told)
        written = _draw(context, posed, answer, effort, svg, steps, theme or drawings.AUTO)
        try:
            if cnf is not None:
                written += _write_cnf(cnf, posed, question, answer, effort, report)
            claim = _claim(question, answer)
            if certificate is not None and claim:
                write_whole(certificate, json_text(proof(posed, claim, effort), indent=None))
                written.append(certificate)
            elif certificate is not None:
                report.warn(
                    f"{certificate} was not written: a certificate proves that a challenge is "
                    "impossible, that its solution is unique (--unique), or its count (--count)"
                )
        except BudgetSpentError:
            report.warn("the budget was spent before the proof was complete; it was not written")
    for path in written:
        report.say(f"wrote {path}")
    kept = answer.unique if question == "unique" else answer.status == SOLVED
    complete = answer.count is not None or len(answer.solutions) == limit
    return 0 if kept and (complete or question not in ("count", "all")) else NO_EXIT


def _challenge(puzzle: PuzzleSet, name: str | None, file: Path | None) -> Challenge:
    if file is None:
        return find_challenge(puzzle, name)
    if name is not None:
        message = f"is given beside the challenge {shown(name)}; give one of them"
        raise InputError.of("--file", message)
    challenge = load_challenge(file, puzzle)
    if challenge.id in known_names(puzzle):  # its certificate must not pass for the set's own
        return replace(challenge, id=f"file-{challenge.id}")
    return challenge


def _draw(
    context: Context,
    posed: PosedChallenge,
    answer: Answer,
    effort: Effort,
    svg: Path | None,
    steps: Path | None,
    theme: str,
) -> list[Path]:
    """Writes the drawings that were asked for; returns them."""
    if svg is None and steps is None:
        return []
    from fabkit.model.entry import entry_of
    from fabkit.output.challenge import challenge_sheet, steps_sheet
    from fabkit.solve.answer import SOLVED, solve
    from fabkit.solve.engines.engine import Effort
    from fabkit.solve.told import in_words

    found = answer.solutions
    if answer.status == SOLVED and not found:  # a count lists none
        found = solve(posed, "first", effort=Effort(effort.left_s)).solutions
    solution = posed.layout(found[0]) if found else None
    entry, unit_mm = replace(entry_of(posed.challenge), solution=solution), context.profile.unit_mm
    written = []
    if svg is not None:
        write_whole(svg, challenge_sheet(posed.puzzle, entry, unit_mm, in_words(answer), theme))
        written.append(svg)
    if steps is not None and found:
        write_whole(steps, steps_sheet(posed.puzzle, entry, unit_mm, theme))
        written.append(steps)
    elif steps is not None:
        message = f"{steps} was not written: there is no solution to put together"
        context.report.warn(message)
    return written


def _claim(question: str, answer: Answer) -> str:
    """What of the answer needs a proof; empty when the solution speaks for itself."""
    if answer.status == "impossible":
        return "impossible"
    if question == "unique" and answer.unique:
        return "unique"
    return "count" if question in ("count", "all") and answer.count is not None else ""


def _write_cnf(
    path: Path,
    posed: PosedChallenge,
    question: str,
    answer: Answer,
    effort: Effort,
    report: Report,
) -> list[Path]:
    """The challenge as a formula, and the refutation when it (or a second solution) has one."""
    from fabkit.solve.engines.sat import formula, refutation

    said = formula(posed.problem, answer.solutions if answer.unique else ())
    proved = _claim(question, answer) in ("impossible", "unique")
    proof = refutation(said, effort) if proved else None
    write_whole(path, said.dimacs())
    if answer.status == "unknown" or (question == "unique" and answer.unique is None):
        report.warn("there is no proof beside the formula: the answer is not known")
    if proof is None:
        return [path]
    write_whole(path.with_suffix(".drat"), proof)
    return [path, path.with_suffix(".drat")]
