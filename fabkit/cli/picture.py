"""`fabkit picture`: a rendering of the assembled set."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabkit.cli.context import FAILURE_EXIT, OUT_OF_TIME, OfSet, WithBudget, WithSettings
from fabkit.cli.options import flag, option
from fabkit.core.errors import quote
from fabkit.core.staging import write_atomically
from fabkit.model.puzzle import Challenge
from fabkit.sets.challenges import find_challenge

if TYPE_CHECKING:
    from fabkit.solve.encoding import Layout


def _size(text: str) -> tuple[int, int]:
    """Read a width and height in pixels."""
    from fabkit.output.render.scene import MAX_PIXELS, MIN_PIXELS

    match = re.fullmatch(r"(\d{1,5})x(\d{1,5})", text, re.ASCII)
    width, height = (int(match[1]), int(match[2])) if match else (0, 0)
    if not all(MIN_PIXELS <= pixels <= MAX_PIXELS for pixels in (width, height)):
        raise ValueError(
            f"expected WIDTHxHEIGHT such as 1600x1000, each from {MIN_PIXELS} to {MAX_PIXELS} "
            f"pixels, found {quote(text)}"
        )
    return width, height


class Picture(WithBudget, WithSettings, OfSet):
    """Render the assembled set from its meshes, as a PNG file.

    Without a solution, the pieces lie in front of the board, and the exit code is 1.
    """

    path: Path = option("-o --output FILE.png", "Output file.", ...)
    challenge: str | None = option(
        "--challenge ID",
        "The challenge to assemble (default: the set's first board, or the challenge with the "
        "most pieces).",
    )
    size: Any = option(
        "--size WxH", "Width and height in pixels (default: 1600x1000).", (1600, 1000), read=_size
    )
    exploded: bool = flag("--apart", "Exploded view, with the pieces above their places.")
    no_board: bool = flag("--no-board", "Omit the board.")
    transparent: bool = flag("--transparent", "Omit the background.")

    def run(self) -> int:
        from fabkit.build.artifacts import Artifacts
        from fabkit.jobs.parallel import all_cores
        from fabkit.output.render.assembly import assembled, lay_out_in_front
        from fabkit.output.render.cover import default_challenge
        from fabkit.output.render.picture import render
        from fabkit.output.render.scene import View

        width, height = self.size
        report, puzzle = self.report, self.puzzle
        name = default_challenge(puzzle) if self.challenge is None else self.challenge
        chosen = find_challenge(puzzle, name)
        profile = self.profile
        solution = self._solution(chosen)
        layout = solution or lay_out_in_front(puzzle, chosen)
        pictured = partial(Artifacts(puzzle, (), profile).pictured, warn=report.warn)
        board, exploded = not self.no_board, self.exploded
        meshes = assembled(
            puzzle, chosen, layout, profile, pictured, board=board, exploded=exploded
        )
        view = View(width, height, background=None if self.transparent else "#ffffff")
        with all_cores():
            write_atomically(self.path, render(meshes, view))
        report.info(f"Wrote {self.path}: {chosen.id} of {puzzle.title}")
        report.document(
            set=puzzle.name,
            challenge=chosen.id,
            file=str(self.path),
            width=width,
            height=height,
            shown=[mesh.name for mesh in meshes],
            triangles=sum(len(mesh.faces) for mesh in meshes),
        )
        return 0 if solution else FAILURE_EXIT

    def _solution(self, challenge: Challenge) -> Layout | None:
        """Return a solution of the challenge; if there is none, or none in time, report that."""
        from fabkit.output.render.cover import solve_face_up
        from fabkit.solve.answer import IMPOSSIBLE, solve
        from fabkit.solve.encoding import to_exact_cover
        from fabkit.solve.engines.engine import Budget

        report, puzzle, budget_s = self.report, self.puzzle, self.budget_s
        begin = self.begin
        if challenge.flips:
            layout = solve_face_up(puzzle, challenge, Budget(budget_s, started=begin))
            if layout is not None:
                return layout
        encoded = to_exact_cover(puzzle, challenge)
        with report.progress("of the search") as progress:
            answer = solve(encoded, "first", None, Budget(budget_s, progress, begin))
        if answer.solutions:
            return encoded.decode(answer.solutions[0])
        why = "has no solution" if answer.status == IMPOSSIBLE else OUT_OF_TIME
        report.info(f"{challenge.id} {why}; its pieces lie in front")
        return None
