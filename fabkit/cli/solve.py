"""`fabkit solve`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fabkit.base.errors import InputError, shown
from fabkit.base.files import json_text, write_whole
from fabkit.cli import options
from fabkit.cli.report import Report
from fabkit.model.challengeload import find_challenge, load_challenge
from fabkit.model.library import load_set
from fabkit.model.puzzle import Challenge, PuzzleSet

if TYPE_CHECKING:
    from fabkit.plan.export import Progress
    from fabkit.solve.answer import Answer
    from fabkit.solve.engine import Effort
    from fabkit.solve.posing import PosedChallenge

NO_EXIT = 1
#: What a file is made of, when the answer gives it.
_Content = Callable[[], str]


def solve(
    set: options.Set,
    challenge: Annotated[
        str | None,
        typer.Argument(
            metavar="CHALLENGE",
            help="A challenge or a board of the set.",
            show_default="the set's first board",
        ),
    ] = None,
    file: Annotated[
        str | None,
        typer.Option("--file", metavar="FILE", help="Solve the challenge in this TOML or JSON."),
    ] = None,
    first: Annotated[bool, typer.Option("--first", help="Find one solution (the default).")] = (
        False
    ),
    count: Annotated[bool, typer.Option("--count", help="Count all solutions.")] = False,
    all: Annotated[bool, typer.Option("--all", help="List all solutions.")] = False,
    unique: Annotated[
        bool, typer.Option("--unique", help="Find out whether there is exactly one solution.")
    ] = False,
    starts: Annotated[
        bool,
        typer.Option(
            "--starts", help="Count the solutions left for every placement and every cell's piece."
        ),
    ] = False,
    difficulty: Annotated[
        bool, typer.Option("--difficulty", help="Rate how hard it is for a person.")
    ] = False,
    limit: Annotated[
        int | None,
        typer.Option("--limit", min=1, metavar="N", help="With --all: list at most so many."),
    ] = None,
    leftover: Annotated[
        bool, typer.Option("--leftover", help="Cells of the region may stay uncovered.")
    ] = False,
    engine: Annotated[
        str | None,
        typer.Option(
            "--engine",
            metavar="NAME",
            help="search, count, sat, cp-sat, mip or oracle.",
            show_default="chosen",
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            "--budget",
            metavar="SECONDS",
            help="Give up after so long; the answer is then unknown.",
        ),
    ] = None,
    certificate: Annotated[
        str | None,
        typer.Option(
            "--certificate",
            metavar="FILE",
            help="Write a proof of impossibility, uniqueness or the count, for `fabkit certify`.",
        ),
    ] = None,
    cnf: Annotated[
        str | None,
        typer.Option(
            "--cnf",
            metavar="FILE.cnf",
            help="Write the challenge for other checkers, and FILE.drat when it is impossible.",
        ),
    ] = None,
    svg: Annotated[
        str | None,
        typer.Option("--svg", metavar="FILE.svg", help="Draw the challenge and a solution."),
    ] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> int:
    """Solve a challenge: find, count or list its solutions. Exit code 1 if there is none."""
    from fabkit.cli import answers
    from fabkit.solve.answer import SOLVED
    from fabkit.solve.answer import solve as answer_to
    from fabkit.solve.posing import pose

    flags = {"first": first, "count": count, "all": all, "unique": unique, "starts": starts}
    question = _question(flags, limit, engine if starts else None)
    report = Report(json, quiet, verbose)
    targets = {
        "certificate": options.file_path(certificate, "--certificate", ".json"),
        "cnf": options.file_path(cnf, "--cnf", ".cnf"),
        "svg": options.file_path(svg, "--svg", ".svg"),
    }
    puzzle = load_set(set)
    posed = pose(puzzle, _challenge(puzzle, challenge, file), leftover)
    with report.progress() as told:
        effort = _effort(budget, told)
        if question == "starts":
            return answers.tell_starts(posed, effort, report)
        answer = answer_to(posed, question, engine, effort, limit)
    rating = answers.rating(posed, answer) if difficulty else None
    written = []
    for kind, path in targets.items():
        if path is not None:
            written += _write(kind, path, posed, question, answer, _effort(budget, told), report)
    answers.tell(posed, question, answer, rating, report)
    for path in written:
        report.say(f"wrote {path}")
    report.document(answers.document(posed, answer, rating))
    kept = answer.unique if question == "unique" else answer.status == SOLVED
    complete = question != "count" or answer.count is not None
    return 0 if kept and complete else NO_EXIT


def _question(flags: dict[str, bool], limit: int | None, engine_of_starts: str | None) -> str:
    """Which one question was asked.

    Raises:
        InputError: when there are several, or an option belongs to another question.
    """
    asked = [name for name, wanted in flags.items() if wanted]
    if len(asked) > 1:
        named = " and ".join(f"--{name}" for name in asked)
        raise InputError.of("", f"{named} exclude each other; choose one")
    question = asked[0] if asked else "first"
    if limit is not None and question != "all":
        raise InputError.of("--limit", "says how many solutions --all lists; add --all")
    if engine_of_starts is not None:
        raise InputError.of("--engine", "--starts lists all solutions with search; leave it out")
    return question


def _challenge(puzzle: PuzzleSet, name: str | None, file: str | None) -> Challenge:
    if file is None:
        return find_challenge(puzzle, name)
    if name is not None:
        message = f"is given beside the challenge {shown(name)}; give one of them"
        raise InputError.of("--file", message)
    return load_challenge(Path(file), puzzle)


def _effort(budget_s: float | None, told: Progress) -> Effort:
    """The budget, checked, and the progress bar.

    Raises:
        InputError: when the budget is no number of seconds.
    """
    from fabkit.solve.engine import Effort

    if budget_s is not None and not 0 <= budget_s < float("inf"):
        raise InputError.of("--budget", f"expected seconds, 0 or more, found {shown(budget_s)}")
    return Effort(budget_s, lambda share: told(int(100 * share), 100, "per cent of the search"))


def _write(
    kind: str,
    path: Path,
    posed: PosedChallenge,
    question: str,
    answer: Answer,
    effort: Effort,
    report: Report,
) -> list[Path]:
    """Writes one of the files that were asked for, if the answer gives it.

    Returns:
        The files written.
    """
    if kind == "certificate":
        return _write_certificate(path, posed, question, answer, effort, report)
    if kind == "cnf":
        return _write_cnf(path, posed, question, answer, effort)
    from fabkit.cli import answers
    from fabkit.sheet.challenge import challenge_sheet

    layout = posed.layout(answer.solutions[0]) if answer.solutions else None
    count = answers.in_words(answer)
    write_whole(path, challenge_sheet(posed.puzzle, posed.challenge, layout, count))
    return [path]


def _write_certificate(
    path: Path,
    posed: PosedChallenge,
    question: str,
    answer: Answer,
    effort: Effort,
    report: Report,
) -> list[Path]:
    from fabkit.solve.answer import IMPOSSIBLE
    from fabkit.solve.engine import BudgetSpentError
    from fabkit.solve.transcript import certificate

    if answer.status == IMPOSSIBLE:
        claim = "impossible"
    elif question == "unique" and answer.unique:
        claim = "unique"
    elif question in ("count", "all") and answer.count is not None:
        claim = "count"
    else:
        report.warn(
            f"{path} was not written: a certificate proves that a challenge is impossible, that "
            "its solution is unique (--unique), or its count (--count)"
        )
        return []
    try:
        document = certificate(posed, claim, effort)
    except BudgetSpentError:
        report.warn(f"{path} was not written: the budget was spent before the proof was complete")
        return []
    write_whole(path, json_text(document, indent=None))
    return [path]


def _write_cnf(
    path: Path, posed: PosedChallenge, question: str, answer: Answer, effort: Effort
) -> list[Path]:
    """The challenge as a formula, and the refutation when it (or a second solution) has one."""
    from fabkit.solve.answer import IMPOSSIBLE
    from fabkit.solve.formula import formula, refutation

    proved = question == "unique" and answer.unique
    said = formula(posed.problem, answer.solutions if proved else ())
    write_whole(path, said.dimacs())
    if not proved and answer.status != IMPOSSIBLE:
        return [path]
    proof = refutation(said, effort)
    assert proof is not None, "the formula has a solution"
    write_whole(path.with_suffix(".drat"), proof)
    return [path, path.with_suffix(".drat")]
