"""`fabkit picture`: the assembled set, as it will come from the printer."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Annotated

import typer

from fabkit.cli import options
from fabkit.cli.report import Report
from fabkit.core.errors import InputError, shown
from fabkit.core.files import write_whole
from fabkit.model.challengefile import usual_board
from fabkit.model.challengeload import find_challenge
from fabkit.model.library import load_set
from fabkit.model.puzzle import Challenge, PuzzleSet

if TYPE_CHECKING:
    from fabkit.solve.posing import Layout

NO_EXIT = 1
_SIZE = "1600x1000"
_BUDGET_S = 60.0


def picture(
    set: options.Set,
    output: Annotated[
        str,
        typer.Option("-o", "--output", metavar="FILE.png", help="Draw into this file."),
    ],
    challenge: Annotated[
        str | None,
        typer.Option(
            "--challenge",
            metavar="ID",
            help="The challenge that is solved.",
            show_default="the set's first board, or the challenge of most pieces",
        ),
    ] = None,
    size: Annotated[
        str, typer.Option("--size", metavar="WxH", help="Width and height in pixels.")
    ] = _SIZE,
    apart: Annotated[
        bool, typer.Option("--apart", help="Show the pieces apart, above their places.")
    ] = False,
    no_board: Annotated[bool, typer.Option("--no-board", help="Only the pieces.")] = False,
    transparent: Annotated[
        bool, typer.Option("--transparent", help="Leave the background out.")
    ] = False,
    profile: options.ProfileNames = None,
    settings: options.Settings = None,
    budget: options.Budget = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> int:
    """Draw the set put together, in its board, from the meshes that are printed. A PNG file."""
    from fabkit.build.picture import Wish, assembled
    from fabkit.output.render.picture import render
    from fabkit.output.render.scene import View

    begin = time.monotonic()
    report = Report(json, quiet, verbose)
    path = options.file_path(output, "-o", ".png")
    assert path is not None
    width, height = _size(size)
    puzzle = load_set(set)
    asked = find_challenge(puzzle, _usual(puzzle) if challenge is None else challenge)
    effective = options.profile_for(puzzle, profile, settings)
    layout = _solution(puzzle, asked, options.seconds(budget, _BUDGET_S), begin, report)
    if layout is None:
        return NO_EXIT
    lumps = assembled(puzzle, asked, layout, effective, Wish(not no_board, apart))
    view = View(width, height, background=None if transparent else "#ffffff")
    write_whole(path, render(lumps, view))
    report.say(f"drew {asked.id} of {puzzle.title} in {path}")
    report.document(
        {
            "set": puzzle.name,
            "challenge": asked.id,
            "file": str(path),
            "width": width,
            "height": height,
            "shown": [lump.name for lump in lumps],
            "triangles": sum(len(lump.faces) for lump in lumps),
        }
    )
    return 0


def _usual(puzzle: PuzzleSet) -> str | None:
    """None for the usual board; without one the challenge that shows most."""
    from fabkit.build.showpiece import showpiece

    if usual_board(puzzle.boards) is not None or not puzzle.challenges:
        return None
    solvable = [one for one in puzzle.challenges if one.answer != "impossible"]
    return showpiece(puzzle, solvable or puzzle.challenges).id


def _size(given: str) -> tuple[int, int]:
    """Width and height in pixels.

    Raises:
        InputError: when they are not, or are of no use.
    """
    from fabkit.output.render.scene import LEAST_PIXELS, MOST_PIXELS

    found = re.fullmatch(r"(\d{1,5})x(\d{1,5})", given, re.ASCII)
    width, height = (int(found[1]), int(found[2])) if found else (0, 0)
    if not all(LEAST_PIXELS <= one <= MOST_PIXELS for one in (width, height)):
        message = (
            f"expected WIDTHxHEIGHT such as {_SIZE}, each from {LEAST_PIXELS} to {MOST_PIXELS} "
            f"pixels, found {shown(given)}"
        )
        raise InputError.of("--size", message)
    return width, height


def _solution(
    puzzle: PuzzleSet,
    challenge: Challenge,
    budget_s: float | None,
    begin: float,
    report: Report,
) -> Layout | None:
    """A solution of the challenge; None, told, when there is none or none was found in time."""
    from fabkit.build.showpiece import faces_up
    from fabkit.solve.answer import IMPOSSIBLE, solve
    from fabkit.solve.engines.engine import Effort
    from fabkit.solve.posing import pose

    if challenge.flips:
        layout = faces_up(puzzle, challenge, Effort(budget_s, None, begin))
        if layout is not None:
            return layout
    posed = pose(puzzle, challenge)
    with report.shares("of the search") as told:
        answer = solve(posed, "first", None, Effort(budget_s, told, begin))
    if answer.solutions:
        return posed.layout(answer.solutions[0])
    why = "has no solution" if answer.status == IMPOSSIBLE else "was not solved in time (--budget)"
    report.say(f"{challenge.id} {why}; nothing was drawn")
    report.document({"set": puzzle.name, "challenge": challenge.id, "file": None})
    return None
