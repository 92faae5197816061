"""Formulas say what the problem says, and their proofs convince a checker from outside."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import assume, given

from fabkit.solve.engines.engine import Budget, BudgetSpentError
from fabkit.solve.engines.sat import refutation, to_cnf
from fabkit.solve.exact_cover import ExactCoverProblem
from tests.support.algorithm_x import AlgorithmX
from tests.support.drat import refutes
from tests.support.problems import dominoes, impossible_rectangle, pigeons, problems


def test_a_formula_as_dimacs() -> None:
    problem = dominoes(4)
    text = to_cnf(problem).dimacs()
    assert text == to_cnf(problem).dimacs()
    header, *rows = [line.split() for line in text.splitlines() if not line.startswith("c ")]
    literals = [abs(int(literal)) for row in rows for literal in row]
    assert header == ["p", "cnf", str(max(literals)), str(len(rows))]
    assert all(row.index("0") == len(row) - 1 for row in rows)
    assert "c 1: kind 0 on cells 0 1\n" in text


@given(problem=problems())
def test_models_of_a_formula_are_the_solutions(problem: ExactCoverProblem) -> None:
    """By the checker's propagation alone: every choice of options that the reference engine takes,
    or not.
    """
    assume(len(problem.options) <= 8)
    solutions = set(AlgorithmX().enumerate(problem, Budget()).solutions)
    clauses = to_cnf(problem).clauses
    chosen = [
        choice
        for size in range(len(problem.options) + 1)
        for choice in combinations(range(len(problem.options)), size)
    ]
    for choice in chosen:
        units = [(p + 1 if p in choice else -p - 1,) for p in range(len(problem.options))]
        assert refutes("0", [*clauses, *units]) == (choice not in solutions)


def test_the_impossible_rectangle_is_refuted() -> None:
    encoded = to_cnf(impossible_rectangle())
    proof = refutation(encoded, Budget())
    assert proof is not None
    assert refutes(proof, encoded.clauses)
    lines = proof.splitlines()
    assert not refutes("\n".join(lines[:-1]), encoded.clauses), "without its end"
    assert not refutes("0\n", encoded.clauses), "its end alone"
    claim = f"{encoded.variables + 1} 0\n-{encoded.variables + 1} 0\n0\n"
    assert not refutes(claim, encoded.clauses), "two claims about nothing"
    assert not refutes("\n".join(lines[::-1]), encoded.clauses), "backwards"
    assert refutation(to_cnf(dominoes(2)), Budget()) is None


def test_a_refutation_is_held_to_its_budget() -> None:
    with pytest.raises(BudgetSpentError):
        refutation(to_cnf(pigeons(14)), Budget(0.3))
