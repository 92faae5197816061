"""`fabkit solve`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fabkit.base.errors import InputError, shown
from fabkit.cli import options
from fabkit.cli.report import Report
from fabkit.model.challengeload import find_challenge, load_challenge
from fabkit.model.library import load_set
from fabkit.model.puzzle import Challenge, PuzzleSet

if TYPE_CHECKING:
    from fabkit.solve.engine import Effort

NO_EXIT = 1


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
    from fabkit.cli import answers, proofs
    from fabkit.solve.answer import SOLVED
    from fabkit.solve.answer import solve as answer_to
    from fabkit.solve.posing import pose

    question = _question(
        {"first": first, "count": count, "all": all, "unique": unique, "starts": starts}
    )
    if limit is not None and question != "all":
        raise InputError.of("--limit", "says how many solutions --all lists; add --all")
    if question == "starts":
        _refuse_beside_starts(
            {
                "--engine": engine,
                "--certificate": certificate,
                "--cnf": cnf,
                "--svg": svg,
                "--difficulty": difficulty or None,
            }
        )
    report = Report(json, quiet, verbose)
    files = proofs.Files(
        certificate=options.file_path(certificate, "--certificate", ".json"),
        cnf=options.file_path(cnf, "--cnf", ".cnf"),
        svg=options.file_path(svg, "--svg", ".svg"),
    )
    puzzle = load_set(set)
    posed = pose(puzzle, _challenge(puzzle, challenge, file), leftover)
    with report.shares("of the search") as told:
        effort = _effort(budget, told)
        if question == "starts":
            return answers.tell_starts(posed, effort, report)
        answer = answer_to(posed, question, engine, effort, limit)
    rating = answers.rating(posed, answer) if difficulty else None
    answers.tell(posed, question, answer, rating, report)
    report.document(answers.document(posed, answer, rating))
    # The answer is told before its files are made: a proof may take longer, and fail.
    with report.shares("of the proof") as told:
        written = proofs.write(files, posed, question, answer, _effort(budget, told), report)
    for path in written:
        report.say(f"wrote {path}")
    kept = answer.unique if question == "unique" else answer.status == SOLVED
    complete = question != "count" or answer.count is not None
    return 0 if kept and complete else NO_EXIT


def _question(flags: dict[str, bool]) -> str:
    """Which one question was asked.

    Raises:
        InputError: when there are several.
    """
    asked = [name for name, wanted in flags.items() if wanted]
    if len(asked) > 1:
        named = " and ".join(f"--{name}" for name in asked)
        raise InputError.of("", f"{named} exclude each other; choose one")
    return asked[0] if asked else "first"


def _refuse_beside_starts(values: dict[str, object]) -> None:
    """Refuses the options that ``--starts`` would ignore."""
    for option, value in values.items():
        if value is not None:
            message = "goes with a solution or a count, not with --starts; leave one of them out"
            raise InputError.of(option, message)


def _challenge(puzzle: PuzzleSet, name: str | None, file: str | None) -> Challenge:
    if file is None:
        return find_challenge(puzzle, name)
    if name is not None:
        message = f"is given beside the challenge {shown(name)}; give one of them"
        raise InputError.of("--file", message)
    return load_challenge(Path(file), puzzle)


def _effort(budget_s: float | None, told: Callable[[float], None]) -> Effort:
    """The budget, checked, and whom to tell how far it is.

    Raises:
        InputError: when the budget is no number of seconds.
    """
    from fabkit.solve.engine import Effort

    if budget_s is not None and not 0 <= budget_s < float("inf"):
        raise InputError.of("--budget", f"expected seconds, 0 or more, found {shown(budget_s)}")
    return Effort(budget_s, told)
