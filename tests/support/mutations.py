"""Documents as a careless editor, a script or a failing disk would change them."""

from __future__ import annotations

import random
import tomllib
from copy import deepcopy
from datetime import date
from typing import Any

import tomli_w

# What no TOML value is meant to be, somewhere.
STRANGE = (
    True,
    0,
    -1,
    10**9,
    10**400,
    -(10**400),
    0.5,
    -0.0,
    1e308,
    float("nan"),
    float("inf"),
    "",
    " ",
    "A",
    "../x",
    "\x1b[31m\u202e\0",
    "x" * 3000,
    date(2024, 2, 29),
    [],
    [[]],
    [[0, 0]],
    [[0.25, float("nan")], [10**400, True]],
    ["A", "A"],
    {},
    {"id": "A"},
    [{}],
    [{"id": {}}],
)


def places_in(value: Any) -> list[tuple[Any, Any]]:
    """Every place in a TOML document, as a container and a key or index in it."""
    keys = list(value) if isinstance(value, dict) else range(len(value))
    found = [(value, key) for key in keys]
    for key in keys:
        if isinstance(value[key], dict | list):
            found += places_in(value[key])
    return found


def change_value(document: dict[str, Any], rng: random.Random) -> None:
    """Puts something else at one place of a document, or moves, doubles or removes what is there."""
    container, key = rng.choice(places_in(document))
    way = rng.choice(["replace", "replace", "borrow", "remove", "rename", "double", "bury"])
    if way == "replace":
        container[key] = rng.choice(STRANGE)
    elif way == "borrow":
        other, place = rng.choice(places_in(document))
        container[key] = deepcopy(other[place])
    elif way == "bury":
        for _ in range(rng.choice([1, 2, 50])):
            container[key] = [container[key]]
    elif way == "double" and isinstance(container, list):
        container.append(container[key])
    elif way == "rename" and isinstance(container, dict):
        container[str(key) + rng.choice("sX_. \n")] = container.pop(key)
    else:
        del container[key]


def change_bytes(content: bytes, rng: random.Random) -> bytes:
    """Overwrites some bytes of a file, or takes out, doubles or cuts off a part of it."""
    changed = bytearray(content)
    at = rng.randrange(len(changed))
    way = rng.choice(["overwrite", "remove", "double", "cut"])
    if way == "overwrite":
        for _ in range(rng.randint(1, 4)):
            changed[rng.randrange(len(changed))] = rng.choice([*b"0123456789.-[]{}\"'=\n", 0, 255])
    elif way == "cut":
        del changed[at:]
    else:
        part = changed[at : at + rng.randint(1, 40)]
        changed[at : at + len(part)] = part * 2 if way == "double" else b""
    return bytes(changed)


def mutated(content: bytes, rng: random.Random) -> bytes:
    if rng.random() < 0.4:
        return change_bytes(content, rng)
    document = tomllib.loads(content.decode())
    for _ in range(rng.randint(1, 3)):
        change_value(document, rng)
    return tomli_w.dumps(document).encode()
