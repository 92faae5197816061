"""Solving a catalog with the outlines that were read from meshes, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from fabkit.model.lattice import Cell, Lattice
from fabkit.model.piece import Form, Piece, at_anchor
from fabkit.model.polygon import rings_of_cells
from fabkit.model.puzzle import Challenge, PuzzleSet
from fabkit.solve.answer import SOLVED, solve
from fabkit.solve.engines.engine import Effort
from fabkit.solve.posing import Layout, pose

#: Told the number of challenges done, of all, and which comes next.
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Answered:
    """What meshes answer to one challenge.

    Attributes:
        challenge: the challenge.
        status: ``solved``, ``impossible`` or ``unknown``; ``missing`` when pieces for it are.
        layout: the solution, for each piece its cells; empty without one.
        missing: the pieces that are missing.
        engine: what decided.
    """

    challenge: Challenge
    status: str
    layout: Layout
    missing: tuple[str, ...] = ()
    engine: str = ""

    @property
    def ok(self) -> bool:
        """Whether this is what the catalog says."""
        return self.status == (self.challenge.answer or SOLVED)


def read_set(puzzle: PuzzleSet, pieces: Mapping[str, Piece]) -> PuzzleSet:
    """The set with the pieces that meshes are, in place of those that its file draws.

    Args:
        puzzle: gives the challenges and the pieces' order.
        pieces: those that were read, by id.
    """
    read = tuple(pieces[piece.id] for piece in puzzle.pieces if piece.id in pieces)
    return replace(puzzle, pieces=read)


def canonical_form(lattice: Lattice, cells: frozenset[Cell]) -> Form:
    """A shape, turned to its least image: solutions do not depend on how a mesh lay."""
    images = [at_anchor(lattice, map(move, cells)) for move in lattice.moves(False)]
    least = min(images, key=sorted)
    return Form("", least, rings_of_cells(lattice, least))


def answer_catalog(
    puzzle: PuzzleSet,
    budget_s: float | None,
    progress: Progress = lambda done, total, name: None,
    flips: bool = False,
) -> list[Answered]:
    """Solves every challenge of a set.

    Args:
        puzzle: a set as `read_set` gives it.
        budget_s: seconds for each challenge; without end when None.
        progress: told before each challenge.
        flips: allows pieces to be turned over, whatever the rules say.
    """
    known = {piece.id for piece in puzzle.pieces}
    answers = []
    for done, challenge in enumerate(puzzle.challenges):
        progress(done, len(puzzle.challenges), challenge.id)
        missing = tuple(piece for piece in challenge.pieces if piece not in known)
        asked = replace(challenge, flips=challenge.flips or flips)
        if missing:
            answers.append(Answered(challenge, "missing", {}, missing))
            continue
        posed = pose(puzzle, asked)
        answer = solve(posed, "first", effort=Effort(budget_s))
        layout = posed.layout(answer.solutions[0]) if answer.solutions else {}
        answers.append(Answered(challenge, answer.status, layout, (), answer.engine))
    progress(len(puzzle.challenges), len(puzzle.challenges), "")
    return answers
