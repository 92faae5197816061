"""Certificates changed in one way: what is accepted afterwards must still be true."""

from __future__ import annotations

import random
from typing import Any

Document = dict[str, Any]


def change_item(document: Document, rng: random.Random) -> None:
    items = some_items(document, rng)
    highest = max(items, default=0) + 2
    if items:
        items[rng.randrange(len(items))] = rng.randrange(highest)


def drop_item(document: Document, rng: random.Random) -> None:
    items = some_items(document, rng)
    if items:
        items.pop(rng.randrange(len(items)))


def add_item(document: Document, rng: random.Random) -> None:
    items = some_items(document, rng)
    items.insert(rng.randint(0, len(items)), rng.choice([*items, 0, 1]))


def drop_branch(document: Document, rng: random.Random) -> None:
    items = some_items(document, rng)
    start = rng.randrange(len(items) + 1)
    del items[start : start + rng.randint(1, 8)]


def add_branch(document: Document, rng: random.Random) -> None:
    items = some_items(document, rng)
    start = rng.randrange(len(items) + 1)
    items[start:start] = items[start : start + rng.randint(1, 8)]


def swap_items(document: Document, rng: random.Random) -> None:
    items = some_items(document, rng)
    if items:
        one, other = rng.randrange(len(items)), rng.randrange(len(items))
        items[one], items[other] = items[other], items[one]


def drop_the_end(document: Document, rng: random.Random) -> None:
    items = some_items(document, rng)
    if items:
        del items[-rng.randint(1, min(8, len(items))) :]


def some_items(document: Document, rng: random.Random) -> list[int]:
    argument = document["argument"]
    return rng.choice([argument.get("items", []), *(argument.get("fixed") or [])])


def another_claim(document: Document, rng: random.Random) -> None:
    claim = document["claim"]
    numbers = [key for key in claim if key != "answer"]
    if numbers:
        number = rng.choice([key for key in numbers if claim[key] is not None])
        claim[number] += rng.choice([-1, 1, 2, 10**30, claim["count"]])
    else:
        claim["answer"] = "impossible" if claim["answer"] == "unique" else "unique"


def no_count(document: Document, rng: random.Random) -> None:
    """Another answer from the transcript of a count."""
    document["claim"] = {"answer": rng.choice(["unique", "impossible"])}
    if "fixed" in document["argument"]:
        document["argument"]["fixed"] = None


def swap_fixed(document: Document, rng: random.Random) -> None:
    fixed = document["argument"].get("fixed") or []
    if rng.random() < 0.3 and fixed:
        fixed.pop(rng.randrange(len(fixed)))
    elif fixed:
        one, other = rng.randrange(len(fixed)), rng.randrange(len(fixed))
        fixed[one], fixed[other] = fixed[other], fixed[one]


def another_start(document: Document, rng: random.Random) -> None:
    argument = document["argument"]
    if "items" in argument:
        near = [item + step for item in argument["items"][:1] for step in (-1, 0, 1)]
        argument["branch_first"] = rng.choice([None, *near, *argument["items"][:5]])


def other_weights(document: Document, rng: random.Random) -> None:
    weights = document["argument"].get("weights", [])
    for _ in range(rng.randint(1, 3) if weights else 0):
        weights[rng.randrange(len(weights))] += rng.choice([-1, 1])


ITEMS = (change_item, drop_item, add_item, drop_branch, add_branch, swap_items, drop_the_end)
CHANGES = (*ITEMS, another_claim, no_count, swap_fixed, another_start, other_weights)
