"""`fabkit solve`."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from fabkit.cli import drawings, options
from fabkit.cli.report import Report
from fabkit.core.errors import InputError, shown
from fabkit.model.challengeload import find_challenge, known_names, load_challenge
from fabkit.model.library import load_set
from fabkit.model.puzzle import Challenge, PuzzleSet

NO_EXIT = 1
#: So many digits of a limit are more than any list is long; machine words hold no more.
_MOST_DIGITS = 18


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
        str | None,
        typer.Option("--limit", metavar="N", help="With --all: list at most so many."),
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
        str | None,
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
    steps: Annotated[
        str | None,
        typer.Option("--steps", metavar="FILE.svg", help="Draw how it is put together."),
    ] = None,
    theme: drawings.Theme = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> int:
    """Solve a challenge: find, count or list its solutions. Exit code 1 if there is none."""
    from fabkit.cli import answers, proofs
    from fabkit.solve.answer import SOLVED
    from fabkit.solve.answer import solve as answer_to
    from fabkit.solve.engines.engine import Effort
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
                "--steps": steps,
                "--difficulty": difficulty or None,
            }
        )
    begin = time.monotonic()  # reading and preparing are part of the budget
    most, budget_s = _limit(limit), options.seconds(budget)
    report = Report(json, quiet, verbose)
    files = proofs.Files(
        certificate=options.file_path(certificate, "--certificate", ".json"),
        cnf=options.file_path(cnf, "--cnf", ".cnf"),
        svg=options.file_path(svg, "--svg", ".svg"),
        steps=options.file_path(steps, "--steps", ".svg"),
        theme=drawings.theme_of(theme, needs=None if svg or steps else "--svg FILE.svg"),
    )
    if files.certificate and file and files.certificate.resolve() == Path(file).resolve():
        raise InputError.of("--certificate", "names the challenge's own file; choose another")
    puzzle = load_set(set)
    posed = pose(puzzle, _challenge(puzzle, challenge, file), leftover)
    with report.shares("of the search") as told:
        effort = Effort(budget_s, told, begin)
        if question == "starts":
            return answers.tell_starts(posed, effort, report)
        answer = answer_to(posed, question, engine, effort, most)
    rating = answers.rating(posed, answer, budget_s) if difficulty else None
    answers.tell(posed, question, answer, rating, report)
    if difficulty and rating is None:
        report.warn("the difficulty is not known: no try of a person's kind came to an end")
    if json:
        report.document(answers.document(posed, answer, rating))
    # The answer is told before its files are made: a proof may take longer, and fail.
    with report.shares("of the proof") as told:
        written = proofs.write(files, posed, question, answer, Effort(budget_s, told), report)
    for path in written:
        report.say(f"wrote {path}")
    kept = answer.unique if question == "unique" else answer.status == SOLVED
    complete = answer.count is not None or len(answer.solutions) == most
    return 0 if kept and (complete or question not in ("count", "all")) else NO_EXIT


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
    if not file.strip():
        raise InputError.of("--file", "is empty; expected a challenge file")
    if name is not None:
        message = f"is given beside the challenge {shown(name)}; give one of them"
        raise InputError.of("--file", message)
    challenge = load_challenge(Path(file), puzzle)
    if challenge.id in known_names(puzzle):  # its certificate must not pass for the set's own
        return replace(challenge, id=f"file-{challenge.id}")
    return challenge


def _limit(given: str | None) -> int | None:
    """How many solutions to list at most.

    Raises:
        InputError: when it is no whole number above 0.
    """
    if given is None:
        return None
    digits = given.lstrip("0")
    if not (digits and digits.isascii() and digits.isdigit()):
        message = f"expected a whole number such as 10, from 1 on, found {shown(given)}"
        raise InputError.of("--limit", message)
    return int(digits[:_MOST_DIGITS])
