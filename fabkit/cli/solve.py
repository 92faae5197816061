"""`fabkit solve`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from fabkit.cli import drawings, options
from fabkit.cli.context import NO_EXIT, Context, takes
from fabkit.cli.options import argument, option
from fabkit.core.errors import InputError, shown
from fabkit.model.challengeload import find_challenge, known_names, load_challenge
from fabkit.model.puzzle import Challenge, PuzzleSet

_ENGINES = ("search", "count", "sat", "cp-sat", "mip")
#: So many digits of a limit are more than any list is long; machine words hold no more.
_MOST_DIGITS = 18


def _limit(text: str, name: str) -> int:
    digits = text.lstrip("0")
    if not (digits and digits.isascii() and digits.isdigit()):
        message = f"expected a whole number such as 10, from 1 on, found {shown(text)}"
        raise InputError.of(name, message)
    return int(digits[:_MOST_DIGITS])


@takes("set")
def solve(
    context: Context,
    challenge: Annotated[
        str | None, argument("CHALLENGE", "A challenge or board (default: the set's first board).")
    ] = None,
    file: Annotated[
        Path | None,
        option(
            "--file FILE",
            "Solve the challenge in this TOML or JSON file.",
            read=options.path("a challenge file"),
        ),
    ] = None,
    first: Annotated[bool, option("--first", "Find one solution (the default).")] = False,
    count: Annotated[bool, option("--count", "Count all solutions.")] = False,
    all: Annotated[bool, option("--all", "List all solutions.")] = False,
    unique: Annotated[
        bool, option("--unique", "Find out whether there is exactly one solution.")
    ] = False,
    starts: Annotated[
        bool,
        option("--starts", "Count the solutions left for every placement and every cell's piece."),
    ] = False,
    difficulty: Annotated[
        bool, option("--difficulty", "Rate how hard it is for a person.")
    ] = False,
    limit: Annotated[
        int | None, option("--limit N", "With --all: list at most N solutions.", read=_limit)
    ] = None,
    leftover: Annotated[
        bool, option("--leftover", "Allow cells of the region to stay uncovered.")
    ] = False,
    engine: Annotated[
        str | None,
        option(
            "--engine NAME",
            f"{', '.join(_ENGINES[:-1])} or {_ENGINES[-1]} (default: selected automatically).",
            complete=lambda: _ENGINES,
        ),
    ] = None,
    budget_s: Annotated[
        float | None,
        option("--budget SECONDS", "Time limit; the answer is then unknown (default: none)."),
    ] = None,
    certificate: Annotated[
        Path | None,
        option(
            "--certificate FILE.json",
            "Write a proof of impossibility, uniqueness or the count, for `fabkit certify`.",
        ),
    ] = None,
    cnf: Annotated[
        Path | None,
        option(
            "--cnf FILE.cnf",
            "Write a formula for other checkers, and FILE.drat if there is no solution.",
        ),
    ] = None,
    svg: Annotated[
        Path | None, option("--svg FILE.svg", "Draw the challenge and a solution.")
    ] = None,
    steps: Annotated[
        Path | None, option("--steps FILE.svg", "Draw a solution step by step.")
    ] = None,
    theme: drawings.Theme = None,
) -> int:
    """Find, count or list the solutions of a challenge.

    Exit code 1 if there is none; with --unique, if there is not exactly one.
    """
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
    report, begin, most = context.report, context.begin, limit
    look = drawings.theme_of(theme, needs=None if svg or steps else "--svg FILE.svg")
    files = proofs.Files(certificate=certificate, cnf=cnf, svg=svg, steps=steps, theme=look)
    if certificate and file and certificate.resolve() == file.resolve():
        raise InputError.of("--certificate", "names the challenge's own file; choose another")
    puzzle = context.puzzle
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
    if context.json:
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
    for name, value in values.items():
        if value is not None:
            message = "goes with a solution or a count, not with --starts; leave one of them out"
            raise InputError.of(name, message)


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
