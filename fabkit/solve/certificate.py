"""Certificates: what to check, and the branching that proves it.

A certificate carries the challenge as plain data, a claim, and an argument; `fabkit certify`
reads nothing else. The usual argument is a *transcript*: the item branched on at every node of
a search tree, in preorder. Whoever replays it knows the options of every item himself, so
nothing else need be written down, and a wrong item only makes the replay fail.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fabkit.core.errors import InputError
from fabkit.core.files import json_sha256
from fabkit.model.puzzle import statement
from fabkit.solve.engines.engine import Effort
from fabkit.solve.engines.search import FewestWalk, in_slices, symmetric_start
from fabkit.solve.obstacles import obstacle
from fabkit.solve.posing import PosedChallenge
from fabkit.solve.problem import ExactCoverProblem, Option, fixed_problem, up_to_symmetry

#: A count's transcript with more nodes than this is refused: it would be a file of megabytes
#: that takes longer to check than the count took to make.
MOST_COUNT_NODES = 1_000_000
#: What the checker reads at most. No proof of a shipped challenge comes near it.
MOST_NODES = 25_000_000


def certificate(posed: PosedChallenge, claim: str, effort: Effort | None = None) -> dict[str, Any]:
    """The document, ready for JSON, that certifies a claim.

    Raises:
        InputError: when the claim does not hold, or a count's transcript grows too long.
        BudgetSpentError: when the time is over.
    """
    effort = effort or Effort()
    said = statement(posed.puzzle, posed.challenge, posed.problem.leftover)
    numbered, number = _numbered(posed)
    found = obstacle(posed) if claim == "impossible" else None
    stated: dict[str, Any] = {"answer": claim}
    if found is not None and found.rule == "area":
        argument: dict[str, Any] = {"by": "area"}
    elif found is not None and found.rule == "colouring":
        order = sorted(range(len(number)), key=number.__getitem__)
        argument = {"by": "colouring", "weights": [found.weights[cell] for cell in order]}
    else:
        name = f"{posed.puzzle.name} {posed.challenge.id}"
        argument, count, orbits = _by_transcript(numbered, claim, effort, name)
        if claim == "count":
            stated["count"] = count
            stated["count_labelled"] = numbered.labelled(count)
            stated["count_up_to_symmetry"] = orbits
    effort.tell(1.0)
    return {
        "kind": "fabkit certificate",
        "set": posed.puzzle.name,
        "challenge": posed.challenge.id,
        "problem": said,
        "problem_sha256": json_sha256(said),
        "claim": stated,
        "argument": argument,
    }


def _numbered(posed: PosedChallenge) -> tuple[ExactCoverProblem, list[int]]:
    """The problem with a certificate's numbers: cells sorted by (x, y), options by these.

    Returns:
        The problem, and for each of its old cells the new number.
    """
    old = posed.problem
    order = sorted(range(old.cell_count), key=lambda cell: posed.cells[cell])
    number = [0] * old.cell_count
    for new, cell in enumerate(order):
        number[cell] = new
    options = sorted(
        Option(one.kind, tuple(sorted(number[cell] for cell in one.cells)), one.copies)
        for one in old.options
    )
    symmetries = [
        (*(number[symmetry[cell]] for cell in order), *symmetry[old.cell_count :])
        for symmetry in old.symmetries
    ]
    problem = replace(old, options=tuple(options), symmetries=tuple(sorted(symmetries)))
    return problem, number


def _by_transcript(
    problem: ExactCoverProblem, claim: str, effort: Effort, name: str
) -> tuple[dict[str, Any], int, int | None]:
    """The argument, with the number of solutions and (of a count) of their orbits."""
    kind, orbits = symmetric_start(problem)
    walk = FewestWalk(problem, kind, orbits if kind is not None else None, noting=True)
    parts = len(problem.symmetries) if claim == "count" else 1
    expected = {"impossible": 0, "unique": 1}.get(claim)
    too_many = None if expected is None else expected + 1
    _walk_all(walk, effort.part(0.0, 1 / parts), claim, name, too_many)
    if expected is not None and walk.count != expected:
        found = {0: "no solution", 1: "a solution"}.get(walk.count, "more than one solution")
        raise InputError.of(name, f"has {found}, so it is not {claim}")
    argument: dict[str, Any] = {
        "by": "transcript",
        "branch_first": None if kind is None else problem.cell_count + kind,
        "items": walk.items,
        "fixed": None,
    }
    if claim != "count":
        return argument, walk.count, None
    counts, argument["fixed"] = [], []
    for symmetry in range(1, parts):
        # The symmetries are sorted, so the identity comes first.
        fixed = FewestWalk(fixed_problem(problem, symmetry), noting=True)
        _walk_all(fixed, effort.part(symmetry / parts, (symmetry + 1) / parts), claim, name)
        counts.append(fixed.count)
        argument["fixed"].append(fixed.items)
    return argument, walk.count, up_to_symmetry(walk.count, counts)


def _walk_all(
    walk: FewestWalk, effort: Effort, claim: str, name: str, limit: int | None = None
) -> None:
    """Walks to the end or to so many solutions, unless it takes more nodes than allowed.

    Raises:
        InputError: then; the message says how large the tree is expected to be.
        BudgetSpentError: when the time is over.
    """
    counting, over = claim == "count", False
    most = MOST_COUNT_NODES if counting else MOST_NODES
    for ended in in_slices(walk, limit, most + 1):
        over = ended
        effort.tell(walk.share())
    if not over:
        advice = ", so certify impossibility or uniqueness instead" if counting else ""
        expected = float(f"{walk.nodes / max(walk.share(), 1e-12):.1g}")
        raise InputError.of(
            name,
            f"the transcript of its {'count' if counting else 'proof'} would have about "
            f"{expected:,.0f} nodes; a certificate takes {most:,} at most{advice}",
        )
    effort.tell(1.0)
