"""Formulas say what the problem says, and their proofs convince a checker from outside."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import assume, given

from fabkit.solve.engines.engine import BudgetSpentError, Effort
from fabkit.solve.engines.sat import formula, refutation
from fabkit.solve.problem import ExactCoverProblem
from tests.support.drat import refutes
from tests.support.oracle import Oracle
from tests.support.problems import dominoes, impossible_rectangle, pigeons, problems


def test_a_formula_as_dimacs() -> None:
    problem = dominoes(4)
    text = formula(problem).dimacs()
    assert text == formula(problem).dimacs()
    header, *rows = [line.split() for line in text.splitlines() if not line.startswith("c ")]
    literals = [abs(int(literal)) for row in rows for literal in row]
    assert header == ["p", "cnf", str(max(literals)), str(len(rows))]
    assert all(row.index("0") == len(row) - 1 for row in rows)
    assert "c 1: kind 0 on cells 0 1\n" in text


@given(problem=problems())
def test_models_of_a_formula_are_the_solutions(problem: ExactCoverProblem) -> None:
    """By the checker's propagation alone: every choice of options that the oracle takes, or not."""
    assume(len(problem.options) <= 8)
    solutions = set(Oracle().enumerate(problem, Effort()).solutions)
    clauses = formula(problem).clauses
    chosen = [
        choice
        for size in range(len(problem.options) + 1)
        for choice in combinations(range(len(problem.options)), size)
    ]
    for choice in chosen:
        units = [(p + 1 if p in choice else -p - 1,) for p in range(len(problem.options))]
        assert refutes("0", [*clauses, *units]) == (choice not in solutions)


def test_the_impossible_rectangle_is_refuted() -> None:
    posed = formula(impossible_rectangle())
    proof = refutation(posed, Effort())
    assert proof is not None
    assert refutes(proof, posed.clauses)
    lines = proof.splitlines()
    assert not refutes("\n".join(lines[:-1]), posed.clauses), "without its end"
    assert not refutes("0\n", posed.clauses), "its end alone"
    claim = f"{posed.variables + 1} 0\n-{posed.variables + 1} 0\n0\n"
    assert not refutes(claim, posed.clauses), "two claims about nothing"
    assert not refutes("\n".join(lines[::-1]), posed.clauses), "backwards"
    assert refutation(formula(dominoes(2)), Effort()) is None


def test_a_refutation_is_held_to_its_budget() -> None:
    with pytest.raises(BudgetSpentError):
        refutation(formula(pigeons(14)), Effort(0.3))
