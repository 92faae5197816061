"""A small forward checker of DRAT proofs; it shares nothing with the solver that wrote them.

Every line of a proof must be a clause that unit propagation shows to follow (RUP), or one that
can be added without losing all models (RAT, on its first literal). Deleting a clause of a single
literal is passed over, as is usual; that only makes the checks harder.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

Clause = tuple[int, ...]


def refutes(proof: str, clauses: Iterable[Clause]) -> bool:
    """Whether a proof shows that no assignment satisfies all the clauses."""
    store = _Clauses(clauses)
    for line in proof.splitlines():
        words = line.split()
        literals = tuple(map(int, words[words[0] == "d" :]))
        if literals[-1:] != (0,) or 0 in literals[:-1]:
            return False
        clause = literals[:-1]
        if words[0] == "d":
            store.remove(clause)
        elif not (store.implies(clause) or store.allows(clause)):
            return False
        elif not clause:
            return True
        else:
            store.add(clause)
    return False


class _Clauses:
    def __init__(self, clauses: Iterable[Clause]) -> None:
        self.kept: dict[int, Clause] = {}
        self.numbers: dict[frozenset[int], list[int]] = defaultdict(list)
        self.with_literal: dict[int, set[int]] = defaultdict(set)
        self.short: set[int] = set()
        self.watched: dict[int, set[int]] = defaultdict(set)
        self.next = 0
        for clause in clauses:
            self.add(clause)

    def add(self, clause: Clause) -> None:
        clause = tuple(dict.fromkeys(clause))
        number, self.next = self.next, self.next + 1
        self.kept[number] = clause
        self.numbers[frozenset(clause)].append(number)
        for literal in clause:
            self.with_literal[literal].add(number)
        if len(clause) < 2:
            self.short.add(number)
        else:
            for literal in clause[:2]:
                self.watched[literal].add(number)

    def remove(self, clause: Clause) -> None:
        numbers = self.numbers[frozenset(clause)]
        if len(clause) < 2 or not numbers:
            return
        number = numbers.pop()
        for literal in self.kept.pop(number):
            self.with_literal[literal].discard(number)
            self.watched[literal].discard(number)

    def implies(self, clause: Clause) -> bool:
        """Whether denying the clause leads to a contradiction by unit propagation."""
        true: set[int] = set()
        waiting = [-literal for literal in clause]
        for number in self.short:
            if not self.kept[number]:
                return True
            waiting += self.kept[number]
        while waiting:
            literal = waiting.pop()
            if -literal in true:
                return True
            if literal in true:
                continue
            true.add(literal)
            for unit in self._forced(-literal, true):
                if unit == 0:
                    return True
                waiting.append(unit)
        return False

    def _forced(self, false: int, true: set[int]) -> Iterator[int]:
        """What follows from a literal's becoming false; 0 for a contradiction."""
        for number in tuple(self.watched[false]):
            clause = self.kept[number]
            watching = [one for one in clause if number in self.watched[one] and one != false]
            if any(one in true for one in watching):
                continue
            new = next((o for o in clause if -o not in true and o not in watching), None)
            if new is not None:
                self.watched[false].discard(number)
                self.watched[new].add(number)
                continue
            yield watching[0] if -watching[0] not in true else 0

    def allows(self, clause: Clause) -> bool:
        """Whether every resolvent upon the first literal follows."""
        return bool(clause) and all(
            self.implies((*clause, *(one for one in self.kept[number] if one != -clause[0])))
            for number in tuple(self.with_literal[-clause[0]])
        )
