"""DRAT proofs, checked by the package dratify, which shares nothing with this project."""

from __future__ import annotations

from collections.abc import Iterable

from fabkit.solve.engines.sat import Formula


def refutes(proof: str, clauses: Iterable[tuple[int, ...]]) -> bool:
    """Whether a proof shows that no assignment satisfies all the clauses."""
    import dratify

    kept = tuple(clauses)
    variables = max((abs(literal) for clause in kept for literal in clause), default=0)
    try:
        text = Formula(variables, kept).dimacs()
        return bool(dratify.check_proof(dratify.parse_dimacs(text), proof).ok)
    except ValueError:  # no proof at all
        return False
