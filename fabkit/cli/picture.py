"""`fabkit picture`: the assembled set, as it will come from the printer."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabkit.cli.context import NO_EXIT, NOT_IN_TIME, Context, takes
from fabkit.cli.options import flag, option
from fabkit.core.errors import InputError, shown
from fabkit.core.files import write_whole
from fabkit.model.challengeload import find_challenge
from fabkit.model.puzzle import Challenge

if TYPE_CHECKING:
    from fabkit.solve.posing import Layout

_USUAL_SIZE = 1600, 1000


def _size(text: str, name: str) -> tuple[int, int]:
    """Reads width and height in pixels."""
    from fabkit.output.render.scene import LEAST_PIXELS, MOST_PIXELS

    found = re.fullmatch(r"(\d{1,5})x(\d{1,5})", text, re.ASCII)
    width, height = (int(found[1]), int(found[2])) if found else (0, 0)
    if not all(LEAST_PIXELS <= one <= MOST_PIXELS for one in (width, height)):
        message = (
            f"expected WIDTHxHEIGHT such as 1600x1000, each from {LEAST_PIXELS} to {MOST_PIXELS} "
            f"pixels, found {shown(text)}"
        )
        raise InputError.of(name, message)
    return width, height


@takes("set", "profiles", "settings", "budget_s")
def picture(
    context: Context,
    path: Path = option("-o --output FILE.png", "Draw to this file.", ...),
    challenge: str | None = option(
        "--challenge ID",
        "The challenge to solve (default: the set's first board, or the challenge with the "
        "most pieces).",
    ),
    size: Any = option(
        "--size WxH", "Width and height in pixels (default: 1600x1000).", _USUAL_SIZE, read=_size
    ),
    apart: bool = flag("--apart", "Exploded view: pieces above their places."),
    no_board: bool = flag("--no-board", "Omit the board."),
    transparent: bool = flag("--transparent", "Omit the background."),
) -> int:
    """Draw the assembled set from its printed meshes, as a PNG file.

    Exit code 1 if the challenge has no solution.
    """
    from fabkit.build.assembly_layout import assembled
    from fabkit.build.cover_image import usual
    from fabkit.output.render.picture import render
    from fabkit.output.render.scene import View

    width, height = size
    report, puzzle = context.report, context.puzzle
    asked = find_challenge(puzzle, usual(puzzle) if challenge is None else challenge)
    profile = context.profile
    layout = _solution(asked, context)
    if layout is None:
        return NO_EXIT
    lumps = assembled(puzzle, asked, layout, profile, board=not no_board, apart=apart)
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


def _solution(challenge: Challenge, context: Context) -> Layout | None:
    """A solution of the challenge; None, told, when there is none or none was found in time."""
    from fabkit.build.cover_image import faces_up
    from fabkit.solve.answer import IMPOSSIBLE, solve
    from fabkit.solve.engines.engine import Effort
    from fabkit.solve.posing import pose

    report, puzzle, budget_s = context.report, context.puzzle, context.budget_s
    begin = context.begin
    if challenge.flips:
        layout = faces_up(puzzle, challenge, Effort(budget_s, None, begin))
        if layout is not None:
            return layout
    posed = pose(puzzle, challenge)
    with report.shares("of the search") as told:
        answer = solve(posed, "first", None, Effort(budget_s, told, begin))
    if answer.solutions:
        return posed.layout(answer.solutions[0])
    why = "has no solution" if answer.status == IMPOSSIBLE else NOT_IN_TIME
    report.say(f"{challenge.id} {why}; nothing was drawn")
    report.document({"set": puzzle.name, "challenge": challenge.id, "file": None})
    return None
