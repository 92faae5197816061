"""All models of a formula by what they say of some variables, with clauses added on the way.

Some conditions take too many clauses to write them all down, such as that a drawing hangs
together. So the solver looks for a model first, a function says which clauses the model breaks, and
the search goes on with them. It all happens in a process of its own.

The solver is Glucose: where one search goes on and on with clauses added, it is three times as
quick as CaDiCaL, measured on snowflakes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Sequence
from importlib import import_module
from typing import Any

from fabkit.solve.engines.apart import answers, library
from fabkit.solve.engines.engine import Effort
from fabkit.solve.engines.formula import Clause, Formula

#: Glucose 4.1, as PySAT calls it.
GLUCOSE = "glucose4"

#: Told something that JSON can hold and the positive ones among the variables shown, it returns
#: clauses that the model breaks; none when the model may stand. At the top of its module.
Refine = Callable[[Any, list[int]], Sequence[Clause]]


def models(
    formula: Formula, shown: int, effort: Effort, refine: Refine | None = None, given: Any = None
) -> Generator[tuple[int, ...], None, int]:
    """Finds every choice of the first variables that a model goes with; close it to end it.

    Args:
        formula: no model's choice may contain another's (all are as large, say), since a choice
            found is ruled out with everything that contains it.
        shown: models that agree on the variables up to this one are taken for one.
        effort: asked many times a second whether the search may go on.
        refine: called with every model; the clauses that it returns hold from then on.
        given: what else `refine` is told.

    Yields:
        Of each model the variables shown that are true, then the others that are.

    Returns:
        How many models were refused by `refine`.

    Raises:
        BudgetSpentError: when the time is over.
        OutsideError: when PySAT is missing or breaks down.

    Example:
        >>> one_of_two = Formula(2, ((1, 2), (-1, -2)))
        >>> sorted(models(one_of_two, 2, Effort()))
        [(1,), (2,)]
    """
    if () in formula.clauses:  # which solvers take badly
        return 0
    called = None if refine is None else (refine.__module__, refine.__name__)
    task = {"clauses": formula.clauses, "shown": shown, "refine": called, "given": given}
    refused = 0
    with contextlib.closing(answers(_seek, task, effort)) as replies:
        for reply in replies:
            if isinstance(reply, int):
                refused = reply
            else:
                yield tuple(reply)
    return refused


def _seek(task: Any, answer: Callable[[Any], None]) -> None:
    """Finds the models in the child: the answers are their variables, the last the refusals."""
    with library("sat", "PySAT", "python-sat"):
        from pysat.solvers import Solver
    refine: Refine | None = None
    if task["refine"] is not None:
        module, name = task["refine"]
        refine = getattr(import_module(module), name)
    refused = 0
    with Solver(GLUCOSE, bootstrap_with=task["clauses"]) as solver:
        while solver.solve():
            model = [literal for literal in solver.get_model() if literal > 0]
            shown = [variable for variable in model if variable <= task["shown"]]
            broken = refine(task["given"], shown) if refine is not None else ()
            for clause in broken:
                solver.add_clause(list(clause))
            if broken:
                refused += 1
                continue
            answer(model)
            if not shown:  # the only one there is
                break
            solver.add_clause([-variable for variable in shown])
    answer(refused)
