"""Certificates: a challenge, a claim about it, and a search tree that proves the claim.

A certificate holds the challenge as plain data, a claim, and an argument; `fabkit certify` reads
nothing else. The usual argument is a *transcript*: the item branched on at every node of a search
tree, in preorder. The replay derives the options of every item itself, so nothing else needs to be
recorded, and a wrong item only makes the replay fail.
"""

from __future__ import annotations

from typing import Any

from fabkit.core.errors import InputError
from fabkit.core.hashes import json_sha256
from fabkit.model.puzzle import problem_document
from fabkit.solve.encoding import EncodedChallenge
from fabkit.solve.engines.engine import Budget
from fabkit.solve.engines.mrv import MrvSearch
from fabkit.solve.engines.search import symmetry_breaking_kind
from fabkit.solve.engines.tree_search import run_in_slices
from fabkit.solve.exact_cover import ExactCoverProblem, burnside, fixed_problem
from fabkit.solve.infeasibility import find_infeasibility

#: Limit on the nodes of a count's transcript: a larger one would be a file of megabytes that takes
#: longer to check than the count took.
MAX_COUNT_NODES = 1_000_000
#: Limit on the nodes of other transcripts; no proof of a shipped challenge comes near it.
MAX_NODES = 25_000_000


def make_certificate(
    encoded: EncodedChallenge, claim: str, budget: Budget | None = None
) -> dict[str, Any]:
    """Return the certificate of a claim as a JSON document.

    Raises:
        InputError: if the claim does not hold, or the transcript grows too long.
        BudgetSpentError: if the time is up.
    """
    budget = budget or Budget()
    statement = problem_document(encoded.puzzle, encoded.challenge)
    encoded = encoded.by_coordinates()
    infeasibility = find_infeasibility(encoded) if claim == "impossible" else None
    stated: dict[str, Any] = {"answer": claim}
    if infeasibility is not None and infeasibility.rule == "area":
        argument: dict[str, Any] = {"by": "area"}
    elif infeasibility is not None and infeasibility.rule == "colouring":
        argument = {"by": "colouring", "weights": list(infeasibility.weights)}
    else:
        name = f"{encoded.puzzle.name} {encoded.challenge.id}"
        argument, count, orbits = _by_transcript(encoded.problem, claim, budget, name)
        if claim == "count":
            stated["count"] = count
            stated["count_labelled"] = encoded.problem.labelled(count)
            stated["count_up_to_symmetry"] = orbits
    budget.report(1.0)
    return {
        "kind": "fabkit certificate",
        "set": encoded.puzzle.name,
        "challenge": encoded.challenge.id,
        "problem": statement,
        "problem_sha256": json_sha256(statement),
        "claim": stated,
        "argument": argument,
    }


def _by_transcript(
    problem: ExactCoverProblem, claim: str, budget: Budget, name: str
) -> tuple[dict[str, Any], int, int | None]:
    """Return the argument, the number of solutions and, for a count, that of their orbits."""
    kind, orbits = symmetry_breaking_kind(problem)
    search = MrvSearch(problem, kind, orbits if kind is not None else None, record_items=True)
    up_to_symmetry = claim == "count" and problem.all_symmetries
    parts = len(problem.symmetries) if up_to_symmetry else 1
    expected = {"impossible": 0, "unique": 1}.get(claim)
    too_many = None if expected is None else expected + 1
    _run_search(search, budget.subtask(0.0, 1 / parts), claim, name, too_many)
    if expected is not None and search.count != expected:
        count_text = {0: "no solution", 1: "a solution"}.get(search.count, "more than one solution")
        raise InputError.of(name, f"has {count_text}, so it is not {claim}")
    argument: dict[str, Any] = {
        "by": "transcript",
        "branch_first": None if kind is None else problem.cell_count + kind,
        "items": search.items,
        "fixed": None,
    }
    if not up_to_symmetry:
        return argument, search.count, None
    counts = []
    argument["fixed"] = []
    for symmetry in range(1, parts):
        # The symmetries are sorted, so the identity comes first.
        fixed = MrvSearch(fixed_problem(problem, symmetry), record_items=True)
        _run_search(fixed, budget.subtask(symmetry / parts, (symmetry + 1) / parts), claim, name)
        counts.append(fixed.count)
        argument["fixed"].append(fixed.items)
    return argument, search.count, burnside(search.count, counts)


def _run_search(
    search: MrvSearch, budget: Budget, claim: str, name: str, limit: int | None = None
) -> None:
    """Search to the end or to `limit` solutions.

    Raises:
        InputError: if it takes too many nodes; the message estimates the size of the tree.
        BudgetSpentError: if the time is up.
    """
    counting = claim == "count"
    over = False
    maximum = MAX_COUNT_NODES if counting else MAX_NODES
    for ended in run_in_slices(search, limit, maximum + 1):
        over = ended
        budget.report(search.progress())
    if not over:
        advice = ", so certify impossibility or uniqueness instead" if counting else ""
        expected = float(f"{search.nodes / max(search.progress(), 1e-12):.1g}")
        raise InputError.of(
            name,
            f"the transcript of its {'count' if counting else 'proof'} would have about "
            f"{expected:,.0f} nodes; a certificate takes at most {maximum:,}{advice}",
        )
    budget.report(1.0)
